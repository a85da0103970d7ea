//! Logical pointers and variable pointers (SPIR-V specification, 2.16.1).

use std::collections::BTreeSet;

use super::analysis::facts::Facts;
use super::analysis::type_contents::TypeContents;
use super::{Check, Rule, Severity};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::reflect::explicit_layout;
use assay_spirv::tables::{AddressingModel, Capability, Decoration, Op, StorageClass};

/// Storage class of a type that is a logical pointer. `None` for other types.
fn logical_class(facts: &Facts, ty: TypeId) -> Option<StorageClass> {
    let known =
        matches!(facts.addressing_model, Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64));
    match *facts.module.ty(ty) {
        Type::Pointer { class, .. } if known && class != StorageClass::PhysicalStorageBuffer => Some(class),
        _ => None,
    }
}

fn logical_result_class(facts: &Facts, instruction: Instruction) -> Option<StorageClass> {
    logical_class(facts, facts.module.type_declared(instruction.result_type()?)?)
}

/// Returns whether a type is or contains a logical pointer.
fn holds_pointer(facts: &Facts, ty: TypeId) -> bool {
    explicit_layout::contained_types(facts.module, [ty]).into_iter().any(|held| logical_class(facts, held).is_some())
}

fn has_variable_pointers(facts: &Facts) -> bool {
    facts.has(Capability::VariablePointersStorageBuffer) || facts.has(Capability::VariablePointers)
}

/// Instructions whose result, if it is a logical pointer, is a variable pointer.
const VARIABLE_POINTER_OPS: &[Op] =
    &[Op::Select, Op::Phi, Op::FunctionCall, Op::PtrAccessChain, Op::Load, Op::ConstantNull];

/// Returns whether the result of an instruction points to the object of its base, or to a part of
/// it.
fn is_step(op: Op) -> bool {
    matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::CopyObject)
}

/// Returns whether a logical pointer is a variable pointer. Function parameters are not followed to
/// the calls.
fn is_variable_pointer(facts: &Facts, word: u32) -> bool {
    let mut seen = BTreeSet::new();
    let mut at = facts.module.definition_of(word);
    while let Some(instruction) = at.filter(|instruction| seen.insert(instruction.index)) {
        match instruction.op {
            Some(op) if VARIABLE_POINTER_OPS.contains(&op) => {
                return logical_result_class(facts, instruction).is_some();
            }
            Some(op) if is_step(op) => {
                at = instruction.operand(0).and_then(|base| facts.module.definition_of(base));
            }
            _ => return false,
        }
    }
    false
}

/// Instructions that a pointer is derived through, itself first: access chains, copies, selections,
/// phis, and the definitions at which these end. At most 1,000; pointers beyond are not followed.
fn sources<'a>(facts: &Facts<'a>, word: u32) -> Vec<Instruction<'a>> {
    let (mut pending, mut seen, mut found) = (vec![word], BTreeSet::new(), Vec::new());
    while let Some(word) = pending.pop().filter(|_| seen.len() < 1_000) {
        if !seen.insert(word) {
            continue;
        }
        let Some(instruction) = facts.module.definition_of(word) else { continue };
        match instruction.op {
            Some(op) if is_step(op) => pending.extend(instruction.operand(0)),
            Some(Op::Select) => pending.extend(instruction.operands().iter().skip(1)),
            Some(Op::Phi) => pending.extend(instruction.operands().iter().step_by(2)),
            _ => {}
        }
        found.push(instruction);
    }
    found
}

/// Returns whether an access chain leads to a matrix column or to a component of one.
fn enters_matrix(facts: &Facts, chain: Instruction) -> bool {
    let indices = match chain.op {
        Some(Op::AccessChain | Op::InBoundsAccessChain) => 1,
        Some(Op::PtrAccessChain) => 2,
        _ => return false,
    };
    let mut at = facts.pointer(chain.operand(0)).and_then(|(_, pointee)| pointee);
    for index in chain.operands().iter().skip(indices) {
        let Some(ty) = at else { return false };
        at = match *facts.module.ty(ty) {
            Type::Matrix { .. } => return true,
            Type::Array { element, .. } | Type::RuntimeArray { element } => Some(element),
            Type::Struct { .. } => {
                let member = facts.module.constant_int(*index).and_then(|index| usize::try_from(index).ok());
                member.and_then(|member| facts.module.members(ty).get(member).copied())
            }
            _ => None,
        };
    }
    false
}

/// Describes the matrix, or the part of one, that a pointer points to.
fn matrix_pointee(facts: &Facts, word: u32, pointee: TypeId) -> Option<&'static str> {
    if facts.contents(pointee).any(TypeContents::MATRIX) {
        return Some("a matrix");
    }
    let parts = sources(facts, word).into_iter().any(|source| enters_matrix(facts, source));
    parts.then_some("a part of a matrix")
}

/// Returns whether a pointer is physical and points to a matrix or to an array of matrices.
fn is_physical_matrix_pointer(facts: &Facts, word: u32) -> bool {
    let Some((StorageClass::PhysicalStorageBuffer, Some(pointee))) = facts.pointer(Some(word)) else { return false };
    let (element, _) = assay_spirv::reflect::elements(facts.module, pointee);
    matches!(facts.module.ty(element), Type::Matrix { .. })
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "variable-pointer-class",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must point to StorageBuffer, or to Workgroup if VariablePointers is declared",
        requirement: "a variable pointer must point into StorageBuffer, or with VariablePointers into Workgroup",
        // OpPtrAccessChain is checked by the pointer-chain rules.
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::Select, Op::Phi, Op::Load, Op::FunctionCall, Op::ConstantNull],
            |facts, instruction, found| {
                let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
                let typed = ty.and_then(|ty| facts.module.pointer(ty)).is_some_and(|(_, pointee)| pointee.is_some());
                let Some(class) =
                    logical_result_class(facts, instruction).filter(|_| typed && has_variable_pointers(facts))
                else {
                    return;
                };
                let workgroup = class == StorageClass::Workgroup && facts.has(Capability::VariablePointers);
                if class != StorageClass::StorageBuffer && !workgroup {
                    let op = instruction.name();
                    let expected = if class == StorageClass::Workgroup {
                        "expected capability VariablePointers"
                    } else {
                        "expected StorageBuffer or Workgroup"
                    };
                    found.report(
                        instruction,
                        format!("the result of {op} is a variable pointer into {class}, {expected}"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "variable-pointer-structure",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: without VariablePointers, a variable pointer must be selected from pointers pointing into the same structure or be OpConstantNull",
        requirement: "without VariablePointers, a variable pointer must be selected from pointers into the same structure or be OpConstantNull",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Select, Op::Phi], |facts, instruction, found| {
            let chooses = logical_result_class(facts, instruction) == Some(StorageClass::StorageBuffer)
                && has_variable_pointers(facts)
                && !facts.has(Capability::VariablePointers);
            let Some(word) = instruction.result().filter(|_| chooses) else { return };
            // Arguments of calls and results of loads are not followed, nor are elements of an
            // array of buffers told apart.
            let all = sources(facts, word).into_iter().filter(|source| source.op == Some(Op::Variable));
            let names: Vec<_> = all.filter_map(|variable| variable.result()).map(|word| facts.name(word)).collect();
            if let [one, other, ..] = &names[..] {
                let message = format!("pointer into {one} or {other} without capability VariablePointers");
                found.report(instruction, message);
            }
        }),
    },
    Rule {
        name: "variable-pointer-length",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must not be an operand to an OpArrayLength instruction",
        requirement: "a variable pointer must not be an operand of OpArrayLength",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ArrayLength], |facts, instruction, found| {
            if instruction.operand(0).is_some_and(|word| is_variable_pointer(facts, word)) {
                found.report(instruction, "OpArrayLength of a variable pointer");
            }
        }),
    },
    Rule {
        name: "variable-pointer-object",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must not point to an array of blocks, to an object that is or contains an OpTypeMatrix, or to a column or a component of one",
        requirement: "a variable pointer must not point to an array of blocks, to an object that is or contains a matrix, or to a part of a matrix",
        severity: Severity::Error,
        check: Check::Instructions(VARIABLE_POINTER_OPS, |facts, instruction, found| {
            let Some(word) = instruction.result().filter(|_| logical_result_class(facts, instruction).is_some()) else {
                return;
            };
            let Some((_, Some(pointee))) = facts.pointer(Some(word)) else { return };
            let is_block = |ty| facts.type_has(ty, Decoration::Block) || facts.type_has(ty, Decoration::BufferBlock);
            let blocks = match *facts.module.ty(pointee) {
                Type::Array { element, .. } | Type::RuntimeArray { element } => is_block(element),
                _ => false,
            };
            let wrong = if blocks { Some("an array of blocks") } else { matrix_pointee(facts, word, pointee) };
            if let Some(wrong) = wrong {
                let op = instruction.name();
                found.report(instruction, format!("the result of {op} is a variable pointer to {wrong}"));
            }
        }),
    },
    Rule {
        name: "physical-matrix",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a physical pointer to a matrix must be the result of access chains from a structure, and only be used to load and store",
        requirement: "a physical pointer to a matrix must be the result of access chains from a structure, and only be used to load and store",
        severity: Severity::Error,
        check: Check::Instructions(
            &[
                Op::Select,
                Op::Phi,
                Op::Load,
                Op::FunctionCall,
                Op::FunctionParameter,
                Op::ConvertUToPtr,
                Op::Bitcast,
                Op::CopyMemory,
            ],
            |facts, instruction, found| {
                let op = instruction.name();
                let copied = instruction.op == Some(Op::CopyMemory);
                let mut operands = instruction.operands().iter().take(if copied { 2 } else { 0 });
                if operands.any(|word| is_physical_matrix_pointer(facts, *word)) {
                    found.report(
                        instruction,
                        format!("{op} with a physical pointer to a matrix, expected OpLoad or OpStore"),
                    );
                } else if instruction.result().is_some_and(|word| is_physical_matrix_pointer(facts, word)) {
                    found.report(
                        instruction,
                        format!("the result of {op} is a physical pointer to a matrix, expected an access chain"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "pointer-chain-stride",
        id: "SPIR-V specification, OpPtrAccessChain: if the storage class of Base requires an explicit layout then its type must be decorated with ArrayStride; OpPtrDiff: Operand 1 must be a valid Base operand of OpPtrAccessChain",
        requirement: "if the storage class of OpPtrAccessChain's Base or of OpPtrDiff's operand requires an explicit layout, the pointer type must have ArrayStride",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::PtrAccessChain, Op::PtrDiff], |facts, instruction, found| {
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_of(word)) else { return };
            let Some((class, Some(_))) = facts.module.pointer(ty) else { return };
            if explicit_layout::is_explicit(class) && !facts.type_has(ty, Decoration::ArrayStride) {
                let op = instruction.name();
                found.report(instruction, format!("{op} on a pointer into {class} whose type has no ArrayStride"));
            }
        }),
    },
    Rule {
        name: "call-pointer-class",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: any pointer operand to an OpFunctionCall must point into UniformConstant, Function, Private, Workgroup or AtomicCounter, with variable pointers StorageBuffer too",
        requirement: "a pointer argument of OpFunctionCall must point into UniformConstant, Function, Private or Workgroup, or with variable pointers into StorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::FunctionCall], |facts, instruction, found| {
            use StorageClass::{Input, Output, PushConstant, StorageBuffer, Uniform};
            // Storage classes of extensions are left to the extensions.
            let refused = |class: &StorageClass| match class {
                StorageBuffer => !has_variable_pointers(facts),
                Input | Output | PushConstant | Uniform => true,
                _ => false,
            };
            let arguments = instruction.operands().iter().skip(1).filter_map(|word| facts.module.type_of(*word));
            if let Some(class) = arguments.filter_map(|ty| logical_class(facts, ty)).find(refused) {
                found.report(instruction, format!("argument is a pointer into {class}"));
            }
        }),
    },
    Rule {
        name: "pointer-result",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: without variable pointers it is invalid for a pointer to be the Result <id> of any instruction other than",
        requirement: "without variable pointers, a logical pointer must not be the result of OpSelect, OpPhi, OpLoad, OpFunctionCall, OpConstantNull, OpUndef or OpCompositeExtract",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::Select, Op::Phi, Op::Load, Op::FunctionCall, Op::ConstantNull, Op::Undef, Op::CompositeExtract],
            |facts, instruction, found| {
                if let Some(class) = logical_result_class(facts, instruction).filter(|_| !has_variable_pointers(facts))
                {
                    let op = instruction.name();
                    found.report(
                        instruction,
                        format!("the result of {op} is a pointer into {class}, which requires variable pointers"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "pointer-in-variable",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: OpVariable must not allocate an object whose type is or contains a logical pointer type; with variable pointers in Function and Private",
        requirement: "a variable must not contain a logical pointer, except with variable pointers in Function and Private",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some((class, Some(held))) = ty.and_then(|ty| facts.module.pointer(ty)) else { return };
            let allowed =
                has_variable_pointers(facts) && matches!(class, StorageClass::Function | StorageClass::Private);
            if logical_class(facts, ty.unwrap_or(held)).is_some() && !allowed && holds_pointer(facts, held) {
                found.report(instruction, format!("variable in {class} contains a logical pointer"));
            }
        }),
    },
    Rule {
        name: "pointer-comparison",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: OpPtrEqual and OpPtrNotEqual can be used only if the Storage Class is StorageBuffer, or Workgroup with VariablePointers; no PhysicalStorageBuffer",
        requirement: "OpPtrEqual, OpPtrNotEqual and OpPtrDiff require variable pointers and operands that point into StorageBuffer, or with VariablePointers into Workgroup",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::PtrEqual, Op::PtrNotEqual, Op::PtrDiff], |facts, instruction, found| {
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
                let op = instruction.name();
                found.report(
                    instruction,
                    format!("{op} on pointers into {class}, which the declared capabilities do not permit"),
                );
            }
        }),
    },
];
