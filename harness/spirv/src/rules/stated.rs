//! The scopes and memory semantics that instructions state.

use super::Facts;
use crate::grammar::{Class, Kind};
use crate::module::Instruction;
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
            let value = facts.module.constant_int(instruction.words[operand.at]);
            let Some(value) = value.and_then(|v| u32::try_from(v).ok()) else { return };
            if operand.kind == Kind::IdMemorySemantics {
                self.semantics.push(value);
            } else {
                self.scopes.extend(Scope::from_word(value).map(|scope| (role(op, first), scope)));
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
