//! The scopes and memory semantics that instructions state.

use super::Facts;
use crate::grammar::{self, Class, Kind};
use crate::module::{Instruction, Type};
use crate::tables::{Op, Scope};

/// What an `IdScope` operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeRole {
    Execution,
    Memory,
    Group,
    Clock,
    CooperativeMatrix,
}

/// The scopes and the memory semantics of an instruction that are constants, in the order of its operands.
#[derive(Debug, Default)]
pub(super) struct Stated {
    pub(super) scopes: Vec<(ScopeRole, Scope)>,
    pub(super) semantics: Vec<u32>,
    /// The first operand that is neither a scope nor semantics, whatever else it is.
    pub(super) odd: Option<Odd>,
}

/// What is wrong with an operand that has to be a scope or memory semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// It is no 32-bit integer.
    Type,
    /// It is no constant.
    Variable,
    /// It is a specialization constant.
    Specialized,
    /// It is a constant without a meaning.
    Value(i64),
}

/// Whether an instruction may have scopes or memory semantics.
pub(super) fn may_state(row: &grammar::Instruction) -> bool {
    let direct = row.operands.iter().any(|o| matches!(o.kind, Kind::IdScope | Kind::IdMemorySemantics));
    direct || matches!(row.op, Op::Load | Op::Store | Op::CopyMemory | Op::ImageRead | Op::ImageWrite)
}

impl Stated {
    /// Whether an operand for this role is that scope.
    pub(super) fn is(&self, role: ScopeRole, scope: Scope) -> bool {
        self.scopes.contains(&(role, scope))
    }

    /// Whether some memory semantics are as `test` says.
    pub(super) fn orders(&self, test: impl Fn(u32) -> bool) -> bool {
        self.semantics.iter().any(|semantics| test(*semantics))
    }

    /// Reads an instruction. Whether it has such operands, constants or not.
    pub(super) fn read(&mut self, facts: &Facts, instruction: Instruction) -> bool {
        self.scopes.clear();
        self.semantics.clear();
        self.odd = None;
        let Some(op) = instruction.op else { return false };
        // Scopes among memory and image operands, which most instructions do without.
        let plain = match op {
            Op::Load => 4,
            Op::Store | Op::CopyMemory => 3,
            Op::ImageRead => 5,
            Op::ImageWrite => 4,
            _ => 0,
        };
        if instruction.words.len() <= plain {
            return false;
        }
        let mut has = false;
        let _newer = facts.module.operands(instruction, |operand| {
            if !matches!(operand.kind, Kind::IdScope | Kind::IdMemorySemantics) {
                return;
            }
            let first = !std::mem::replace(&mut has, true);
            let word = instruction.words[operand.at];
            let ty = facts.module.type_of(word).map(|ty| facts.module.ty(ty));
            if !matches!(ty, Some(Type::Int { width: 32, .. })) {
                self.odd = self.odd.or(Some(Odd::Type));
                return;
            }
            // The scope of a cooperative matrix is any constant.
            let made = facts.module.definition_of_word(word).and_then(|made| made.op);
            let matrix = op.info().class == Class::TypeDeclaration;
            if !matrix && matches!(made, Some(Op::SpecConstant | Op::SpecConstantOp)) {
                self.odd = self.odd.or(Some(Odd::Specialized));
            }
            let Some(value) = facts.module.constant_int(word) else {
                // The value of an operation on specialization constants is left open.
                self.odd = self.odd.or(Some(Odd::Variable).filter(|_| !facts.is_constant(word)));
                return;
            };
            // Signed or not, the bits count.
            let bits = value as u32;
            if operand.kind == Kind::IdMemorySemantics {
                self.semantics.push(bits);
            } else if let Some(scope) = Scope::from_word(bits) {
                self.scopes.push((role(op, first), scope));
            } else {
                self.odd = self.odd.or(Some(Odd::Value(value)));
            }
        });
        has
    }
}

/// What a scope operand is for; barriers have that for execution first.
fn role(op: Op, first: bool) -> ScopeRole {
    match op {
        Op::ReadClockKHR => ScopeRole::Clock,
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => ScopeRole::CooperativeMatrix,
        Op::ControlBarrier | Op::ControlBarrierArriveEXT | Op::ControlBarrierWaitEXT if first => ScopeRole::Execution,
        _ if matches!(op.info().class, Class::NonUniform | Class::Group) => ScopeRole::Group,
        _ => ScopeRole::Memory,
    }
}
