//! Scope and memory semantics operands of instructions.

use super::Facts;
use assay_spirv::grammar::{self, InstructionClass, Kind};
use assay_spirv::module::{Instruction, Type};
use assay_spirv::tables::{Op, Scope};

/// Purpose of an `IdScope` operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeRole {
    Execution,
    Memory,
    Group,
    Clock,
    CooperativeMatrix,
}

/// Constant scope and memory semantics operands of an instruction, in operand order.
#[derive(Debug, Default)]
pub(super) struct ScopeOperands {
    pub(super) scopes: Vec<(ScopeRole, Scope)>,
    pub(super) semantics: Vec<u32>,
    /// Defect of the first operand that is not a valid scope or memory semantics.
    pub(super) invalid: Option<InvalidOperand>,
}

/// Defect of a scope or memory semantics operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidOperand {
    /// The operand is not a 32-bit integer.
    Type,
    /// The operand is not a constant.
    NotConstant,
    /// The operand is a specialization constant.
    Specialized,
    /// The operand is a constant that is not a scope.
    UnknownScope(i64),
}

/// Returns whether an instruction may have scope or memory semantics operands.
pub(super) fn may_have_scope_operands(row: &grammar::Instruction) -> bool {
    let direct = row.operands.iter().any(|o| matches!(o.kind, Kind::IdScope | Kind::IdMemorySemantics));
    direct || matches!(row.op, Op::Load | Op::Store | Op::CopyMemory | Op::ImageRead | Op::ImageWrite)
}

impl ScopeOperands {
    /// Returns whether a scope operand with this role has this value.
    pub(super) fn has_scope(&self, role: ScopeRole, scope: Scope) -> bool {
        self.scopes.contains(&(role, scope))
    }

    /// Returns whether one of the memory semantics satisfies `test`.
    pub(super) fn any_semantics(&self, test: impl Fn(u32) -> bool) -> bool {
        self.semantics.iter().any(|semantics| test(*semantics))
    }

    /// Reads the operands of an instruction. Returns whether it has a scope or memory semantics
    /// operand, constant or not.
    pub(super) fn read(&mut self, facts: &Facts, instruction: Instruction) -> bool {
        self.scopes.clear();
        self.semantics.clear();
        self.invalid = None;
        let Some(op) = instruction.op else { return false };
        // Number of words up to which these instructions have no scope among their memory or image
        // operands, which is the usual case.
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
                self.invalid = self.invalid.or(Some(InvalidOperand::Type));
                return;
            }
            // The scope of a cooperative matrix may be a specialization constant.
            let made = facts.module.definition_of(word).and_then(|made| made.op);
            let matrix = op.info().class == InstructionClass::TypeDeclaration;
            if !matrix && matches!(made, Some(Op::SpecConstant | Op::SpecConstantOp)) {
                self.invalid = self.invalid.or(Some(InvalidOperand::Specialized));
            }
            let Some(value) = facts.module.constant_int(word) else {
                // The value of an operation on specialization constants is not checked.
                self.invalid = self.invalid.or(Some(InvalidOperand::NotConstant).filter(|_| !facts.is_constant(word)));
                return;
            };
            // The signedness of the constant is irrelevant.
            let bits = value as u32;
            if operand.kind == Kind::IdMemorySemantics {
                self.semantics.push(bits);
            } else if let Some(scope) = Scope::from_word(bits) {
                self.scopes.push((role(op, first), scope));
            } else {
                self.invalid = self.invalid.or(Some(InvalidOperand::UnknownScope(value)));
            }
        });
        has
    }
}

/// Role of a scope operand. The first scope of a barrier is its execution scope.
fn role(op: Op, first: bool) -> ScopeRole {
    match op {
        Op::ReadClockKHR => ScopeRole::Clock,
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => ScopeRole::CooperativeMatrix,
        Op::ControlBarrier | Op::ControlBarrierArriveEXT | Op::ControlBarrierWaitEXT if first => ScopeRole::Execution,
        _ if matches!(op.info().class, InstructionClass::NonUniform | InstructionClass::Group) => ScopeRole::Group,
        _ => ScopeRole::Memory,
    }
}
