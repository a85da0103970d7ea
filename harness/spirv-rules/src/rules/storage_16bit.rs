//! Uses of 16-bit values without `Int16` and `Float16`: the 16-bit storage capabilities only permit
//! moving and converting them.

use super::analysis::facts::Facts;
use super::{Check, Rule, Severity};
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Capability, Op};

/// Returns whether a type is a 16-bit number without its arithmetic capability, or a vector, matrix
/// or array of such numbers. Other 16-bit encodings belong to other extensions.
fn is_storage_only(facts: &Facts, ty: TypeId) -> bool {
    match *facts.module.ty(ty) {
        Type::Int { width: 16, .. } => !facts.has(Capability::Int16),
        Type::Float { width: 16, encoding: None } => {
            !facts.has(Capability::Float16) && !facts.has(Capability::Float16Buffer)
        }
        Type::Vector { component: inner, .. }
        | Type::Matrix { column: inner, .. }
        | Type::Array { element: inner, .. } => is_storage_only(facts, inner),
        _ => false,
    }
}

/// Returns whether an instruction computes with its operands rather than moving them or converting
/// their width. Atomics and integer dot products have capabilities of their own.
fn computes(op: Op) -> bool {
    match op.info().class {
        InstructionClass::Arithmetic => !op.name().contains("Dot") || op == Op::Dot,
        InstructionClass::Bit | InstructionClass::RelationalAndLogical | InstructionClass::Derivative => true,
        InstructionClass::Conversion => !matches!(op, Op::FConvert | Op::SConvert | Op::UConvert),
        InstructionClass::ConstantCreation => true,
        _ => op == Op::Undef,
    }
}

pub(super) static RULES: &[Rule] = &[Rule {
    name: "narrow-arithmetic",
    id: "SPIR-V specification, 2.16.1 Universal Validation Rules: StorageBuffer16BitAccess and the similar capabilities do not generally add 16-bit operations",
    requirement: "without Int16 or Float16, 16-bit values must only be moved and width-converted, and must not be constants",
    severity: Severity::Error,
    check: Check::AllInstructions(|facts, instruction, found| {
        let Some(op) = instruction.op else { return };
        if !facts.has_narrow_type || !computes(op) {
            return;
        }
        let made = instruction.result_type().and_then(|word| facts.module.type_declared(word));
        let moved = |ty: Option<TypeId>| ty.is_some_and(|ty| is_storage_only(facts, ty));
        if moved(made) || uses(facts, instruction, |ty| is_storage_only(facts, ty)) {
            found.report(instruction, format!("{op} of 16-bit values without capability Int16 or Float16"));
        }
    }),
}];

fn uses(facts: &Facts, instruction: Instruction, test: impl Fn(TypeId) -> bool) -> bool {
    let mut found = false;
    facts.module.uses(instruction, |word| found |= facts.module.type_of(word).is_some_and(&test));
    found
}
