//! What logical pointers may go through, without and with variable pointers (2.16.1).

use std::collections::BTreeSet;

use super::contents::Contents;
use super::facts::Facts;
use super::{On, Rule, Severity};
use crate::module::{Instruction, Type, TypeId};
use crate::reflect::explicit;
use crate::tables::{AddressingModel, Capability, Decoration, Op, StorageClass};

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
    explicit::held(facts.module, [ty]).into_iter().any(|held| logical(facts, held).is_some())
}

fn has_variable_pointers(facts: &Facts) -> bool {
    facts.has(Capability::VariablePointersStorageBuffer) || facts.has(Capability::VariablePointers)
}

/// Instructions whose result is a variable pointer where it is a logical pointer.
const MAKES_VARIABLE: &[Op] = &[Op::Select, Op::Phi, Op::FunctionCall, Op::PtrAccessChain, Op::Load, Op::ConstantNull];

/// Instructions whose result points to the same object as their base, or to a part of it.
fn is_step(op: Op) -> bool {
    matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::CopyObject)
}

/// Whether a logical pointer is a variable pointer. Parameters, which are what calls pass, are left open.
fn is_variable(facts: &Facts, word: u32) -> bool {
    let mut seen = BTreeSet::new();
    let mut at = facts.module.definition_of_word(word);
    while let Some(instruction) = at.filter(|instruction| seen.insert(instruction.index)) {
        match instruction.op {
            Some(op) if MAKES_VARIABLE.contains(&op) => return made(facts, instruction).is_some(),
            Some(op) if is_step(op) => {
                at = instruction.operand(0).and_then(|base| facts.module.definition_of_word(base));
            }
            _ => return false,
        }
    }
    false
}

/// The instructions that a pointer comes through, itself first: chains, copies, choices, and where these end. No more than
/// a thousand: what follows is left open.
fn sources<'a>(facts: &Facts<'a>, word: u32) -> Vec<Instruction<'a>> {
    let (mut waiting, mut seen, mut found) = (vec![word], BTreeSet::new(), Vec::new());
    while let Some(word) = waiting.pop().filter(|_| seen.len() < 1_000) {
        if !seen.insert(word) {
            continue;
        }
        let Some(instruction) = facts.module.definition_of_word(word) else { continue };
        match instruction.op {
            Some(op) if is_step(op) => waiting.extend(instruction.operand(0)),
            Some(Op::Select) => waiting.extend(instruction.operands().iter().skip(1)),
            Some(Op::Phi) => waiting.extend(instruction.operands().iter().step_by(2)),
            _ => {}
        }
        found.push(instruction);
    }
    found
}

/// Whether an access chain leads into a matrix: to a column, or to a component of one.
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

/// What a pointer must not point to where it may not lead into a matrix.
fn matrix_behind(facts: &Facts, word: u32, pointee: TypeId) -> Option<&'static str> {
    if facts.contents(pointee).any(Contents::MATRIX) {
        return Some("a matrix");
    }
    let parts = sources(facts, word).into_iter().any(|source| enters_matrix(facts, source));
    parts.then_some("a part of a matrix")
}

/// Whether a pointer is physical, and to a matrix or an array of matrices.
fn physical_matrix(facts: &Facts, word: u32) -> bool {
    let Some((StorageClass::PhysicalStorageBuffer, Some(pointee))) = facts.pointer(Some(word)) else { return false };
    let (element, _) = crate::reflect::elements(facts.module, pointee);
    matches!(facts.module.ty(element), Type::Matrix { .. })
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "variable-pointer-class",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must point to StorageBuffer, or to Workgroup if VariablePointers is declared",
        says: "variable pointers point into StorageBuffer, with VariablePointers into Workgroup too",
        // Where OpPtrAccessChain may start is told by its own rules.
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::Select, Op::Phi, Op::Load, Op::FunctionCall, Op::ConstantNull],
            |facts, instruction, found| {
                let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
                let typed = ty.and_then(|ty| facts.module.pointer(ty)).is_some_and(|(_, pointee)| pointee.is_some());
                let Some(class) = made(facts, instruction).filter(|_| typed && has_variable_pointers(facts)) else {
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
                    found.at(instruction, format!("{op} makes a variable pointer into {class}, {expected}"));
                }
            },
        ),
    },
    Rule {
        name: "variable-pointer-structure",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: without VariablePointers, a variable pointer must be selected from pointers pointing into the same structure or be OpConstantNull",
        says: "without VariablePointers a pointer is chosen from those into one buffer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Select, Op::Phi], |facts, instruction, found| {
            let chooses = made(facts, instruction) == Some(StorageClass::StorageBuffer)
                && has_variable_pointers(facts)
                && !facts.has(Capability::VariablePointers);
            let Some(word) = instruction.result().filter(|_| chooses) else { return };
            // What calls pass and loads give is left open, and so is which element of an array of buffers it is.
            let all = sources(facts, word).into_iter().filter(|source| source.op == Some(Op::Variable));
            let names: Vec<_> = all.filter_map(|variable| variable.result()).map(|word| facts.name(word)).collect();
            if let [one, other, ..] = &names[..] {
                let message = format!("a pointer into {one} or {other} without capability VariablePointers");
                found.at(instruction, message);
            }
        }),
    },
    Rule {
        name: "variable-pointer-length",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must not be an operand to an OpArrayLength instruction",
        says: "OpArrayLength is asked of no variable pointer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ArrayLength], |facts, instruction, found| {
            if instruction.operand(0).is_some_and(|word| is_variable(facts, word)) {
                found.at(instruction, "OpArrayLength of a variable pointer");
            }
        }),
    },
    Rule {
        name: "variable-pointer-object",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a variable pointer must not point to an array of blocks, to an object that is or contains an OpTypeMatrix, or to a column or a component of one",
        says: "variable pointers point to no matrix, nothing in one or around one, and to no array of blocks",
        severity: Severity::Error,
        on: On::Instructions(MAKES_VARIABLE, |facts, instruction, found| {
            let Some(word) = instruction.result().filter(|_| made(facts, instruction).is_some()) else { return };
            let Some((_, Some(pointee))) = facts.pointer(Some(word)) else { return };
            let is_block = |ty| facts.type_has(ty, Decoration::Block) || facts.type_has(ty, Decoration::BufferBlock);
            let blocks = match *facts.module.ty(pointee) {
                Type::Array { element, .. } | Type::RuntimeArray { element } => is_block(element),
                _ => false,
            };
            let wrong = if blocks { Some("an array of blocks") } else { matrix_behind(facts, word, pointee) };
            if let Some(wrong) = wrong {
                let op = instruction.name();
                found.at(instruction, format!("{op} makes a variable pointer to {wrong}"));
            }
        }),
    },
    Rule {
        name: "physical-matrix",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a physical pointer to a matrix must be the result of access chains from a structure, and only be used to load and store",
        says: "physical pointers to matrices come by access chains, and only load and store",
        severity: Severity::Error,
        on: On::Instructions(
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
                if operands.any(|word| physical_matrix(facts, *word)) {
                    found.at(
                        instruction,
                        format!("{op} through a physical pointer to a matrix, expected loads and stores"),
                    );
                } else if instruction.result().is_some_and(|word| physical_matrix(facts, word)) {
                    found.at(
                        instruction,
                        format!("{op} makes a physical pointer to a matrix, expected an access chain"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "pointer-chain-stride",
        id: "SPIR-V specification, OpPtrAccessChain: if the storage class of Base requires an explicit layout then its type must be decorated with ArrayStride; OpPtrDiff: Operand 1 must be a valid Base operand of OpPtrAccessChain",
        says: "pointers that are stepped or subtracted in memory with a layout have an ArrayStride",
        severity: Severity::Error,
        on: On::Instructions(&[Op::PtrAccessChain, Op::PtrDiff], |facts, instruction, found| {
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_of(word)) else { return };
            let Some((class, Some(_))) = facts.module.pointer(ty) else { return };
            if explicit::is_explicit(class) && !facts.type_has(ty, Decoration::ArrayStride) {
                let op = instruction.name();
                found.at(instruction, format!("{op} of a pointer into {class} whose type has no ArrayStride"));
            }
        }),
    },
    Rule {
        name: "call-pointer-class",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: any pointer operand to an OpFunctionCall must point into UniformConstant, Function, Private, Workgroup or AtomicCounter, with variable pointers StorageBuffer too",
        says: "pointers that calls pass are into UniformConstant, Function, Private and Workgroup, with variable pointers into StorageBuffer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::FunctionCall], |facts, instruction, found| {
            use StorageClass::{Input, Output, PushConstant, StorageBuffer, Uniform};
            // Classes of extensions are left to these.
            let refused = |class: &StorageClass| match class {
                StorageBuffer => !has_variable_pointers(facts),
                Input | Output | PushConstant | Uniform => true,
                _ => false,
            };
            let arguments = instruction.operands().iter().skip(1).filter_map(|word| facts.module.type_of(*word));
            if let Some(class) = arguments.filter_map(|ty| logical(facts, ty)).find(refused) {
                found.at(instruction, format!("a pointer into {class} is an argument"));
            }
        }),
    },
    Rule {
        name: "pointer-result",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: without variable pointers it is invalid for a pointer to be the Result <id> of any instruction other than",
        says: "without variable pointers no logical pointer is selected, merged, loaded, returned or null",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::Select, Op::Phi, Op::Load, Op::FunctionCall, Op::ConstantNull, Op::Undef, Op::CompositeExtract],
            |facts, instruction, found| {
                if let Some(class) = made(facts, instruction).filter(|_| !has_variable_pointers(facts)) {
                    let op = instruction.name();
                    found.at(instruction, format!("{op} makes a pointer into {class} without variable pointers"));
                }
            },
        ),
    },
    Rule {
        name: "pointer-in-variable",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: OpVariable must not allocate an object whose type is or contains a logical pointer type; with variable pointers in Function and Private",
        says: "variables hold logical pointers with variable pointers only, in Function and Private",
        severity: Severity::Error,
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
        severity: Severity::Error,
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
                let op = instruction.name();
                found.at(instruction, format!("{op} of pointers into {class}, which variable pointers are not for"));
            }
        }),
    },
];
