//! What logical pointers may go through, without and with variable pointers (2.16.1).

use super::facts::Facts;
use super::{On, Rule};
use crate::module::{Instruction, Type, TypeId};
use crate::tables::{AddressingModel, Capability, Op, StorageClass};

/// The storage class of a logical pointer type.
fn logical(facts: &Facts, ty: TypeId) -> Option<StorageClass> {
    let known =
        matches!(facts.addressing_model, Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64));
    match *facts.module.ty(ty) {
        Type::Pointer { class, .. } if known && class != StorageClass::PhysicalStorageBuffer => Some(class),
        _ => None,
    }
}

fn made(facts: &Facts, instruction: Instruction) -> Option<StorageClass> {
    logical(facts, facts.module.type_declared(instruction.result_type()?)?)
}

/// Whether a type is or contains a logical pointer.
fn holds_pointer(facts: &Facts, ty: TypeId) -> bool {
    // What a type is made of is declared before it, which ends the search.
    match *facts.module.ty(ty) {
        Type::Array { element, .. } | Type::RuntimeArray { element } => holds_pointer(facts, element),
        Type::Struct { .. } => facts.module.members(ty).iter().any(|member| holds_pointer(facts, *member)),
        _ => logical(facts, ty).is_some(),
    }
}

fn has_variable_pointers(facts: &Facts) -> bool {
    facts.has(Capability::VariablePointersStorageBuffer) || facts.has(Capability::VariablePointers)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "pointer-result",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: without variable pointers it is invalid for a pointer to be the Result <id> of any instruction other than",
        says: "without variable pointers no logical pointer is selected, merged, loaded, returned or null",
        on: On::Instructions(
            &[Op::Select, Op::Phi, Op::Load, Op::FunctionCall, Op::ConstantNull, Op::Undef, Op::CompositeExtract],
            |facts, instruction, found| {
                if let Some(class) = made(facts, instruction).filter(|_| !has_variable_pointers(facts)) {
                    let op = instruction.op.map_or("", |op| op.name());
                    found.at(instruction, format!("{op} makes a pointer into {class} without variable pointers"));
                }
            },
        ),
    },
    Rule {
        name: "pointer-in-variable",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: OpVariable must not allocate an object whose type is or contains a logical pointer type; with variable pointers in Function and Private",
        says: "variables hold logical pointers with variable pointers only, in Function and Private",
        on: On::Instructions(&[Op::Variable], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some((class, Some(held))) = ty.and_then(|ty| facts.module.pointer(ty)) else { return };
            let allowed =
                has_variable_pointers(facts) && matches!(class, StorageClass::Function | StorageClass::Private);
            if logical(facts, ty.unwrap_or(held)).is_some() && !allowed && holds_pointer(facts, held) {
                found.at(instruction, format!("a variable in {class} that holds a logical pointer"));
            }
        }),
    },
    Rule {
        name: "pointer-comparison",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: OpPtrEqual and OpPtrNotEqual can be used only if the Storage Class is StorageBuffer, or Workgroup with VariablePointers; no PhysicalStorageBuffer",
        says: "pointers are compared with variable pointers only, those into the classes that these are for",
        on: On::Instructions(&[Op::PtrEqual, Op::PtrNotEqual, Op::PtrDiff], |facts, instruction, found| {
            let Some((class, _)) = facts.pointer(instruction.operand(0)) else { return };
            let allowed = match class {
                StorageClass::StorageBuffer => has_variable_pointers(facts),
                StorageClass::Workgroup => facts.has(Capability::VariablePointers),
                StorageClass::PhysicalStorageBuffer
                | StorageClass::Uniform
                | StorageClass::Function
                | StorageClass::Private
                | StorageClass::Input
                | StorageClass::Output
                | StorageClass::PushConstant
                | StorageClass::UniformConstant => false,
                _ => true,
            };
            if !allowed && !facts.has(Capability::Addresses) {
                let op = instruction.op.map_or("", |op| op.name());
                found.at(instruction, format!("{op} of pointers into {class}, which variable pointers are not for"));
            }
        }),
    },
];
