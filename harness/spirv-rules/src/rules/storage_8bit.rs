//! Rules of `SPV_KHR_8bit_storage`: uses of 8-bit values without `Int8`.

use super::analysis::facts::Facts;
use super::analysis::type_contents::TypeContents;
use super::{Check, Rule, Severity};
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Capability, Op, StorageClass};

/// Returns whether a type is or contains 8-bit integers. 8-bit floats belong to another extension.
fn holds_bytes(facts: &Facts, ty: TypeId) -> bool {
    facts.contents(ty).any(TypeContents::BYTE)
}

fn width_of(facts: &Facts, word: Option<u32>) -> Option<u32> {
    facts.width(facts.module.type_of(word?)?)
}

/// Returns whether 8-bit types are unrestricted: `Int8` (or `Kernel`) lifts every limit of the
/// extension.
fn permits_bytes(facts: &Facts) -> bool {
    facts.has(Capability::Int8) || facts.has(Capability::Kernel)
}

/// Width of an instruction's result.
fn result_width(facts: &Facts, instruction: Instruction) -> Option<u32> {
    facts.width(facts.module.type_declared(instruction.result_type()?)?)
}

/// Returns whether an instruction may have 8-bit operands or results without `Int8`. `OpUndef` is
/// checked by byte-constants.
fn moves_bytes(op: Op) -> bool {
    matches!(op, Op::Load | Op::Store | Op::CopyObject | Op::UConvert | Op::SConvert | Op::Undef)
}

/// Type of the value that an instruction loads, stores or copies in memory.
fn moved_type(facts: &Facts, op: Op, instruction: Instruction) -> Option<TypeId> {
    match op {
        Op::Load => facts.module.type_declared(instruction.result_type()?),
        Op::Store => facts.module.type_of(instruction.operand(1)?),
        Op::CopyMemory | Op::CopyMemorySized => facts.pointer(instruction.operand(0))?.1,
        _ => None,
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "byte-constants",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: StorageBuffer8BitAccess and the similar capabilities do not generally add 8-bit operations; OpLoad can load 8-bit scalars and vectors",
        requirement: "without Int8, 8-bit values must not be constants or undefined, and only 8-bit scalars and vectors may be loaded, stored or copied in memory",
        severity: Severity::Error,
        check: Check::AllInstructions(|facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            if !facts.has_byte_type || permits_bytes(facts) {
                return;
            }
            let declared = |word| facts.module.type_declared(word);
            let broken = if op == Op::Undef || op.info().class == InstructionClass::ConstantCreation {
                instruction.result_type().and_then(declared).is_some_and(|ty| holds_bytes(facts, ty))
            } else {
                moved_type(facts, op, instruction).is_some_and(|ty| {
                    let whole = matches!(facts.module.ty(ty), Type::Int { .. } | Type::Vector { .. });
                    holds_bytes(facts, ty) && !(whole && matches!(op, Op::Load | Op::Store))
                })
            };
            if broken {
                found.report(instruction, format!("{op} of 8-bit values without capability Int8"));
            }
        }),
    },
    Rule {
        name: "byte-arithmetic",
        id: "SPV_KHR_8bit_storage: other uses of 8-bit types are not enabled",
        requirement: "without Int8, 8-bit values must only be loaded, stored, copied, accessed and width-converted",
        severity: Severity::Error,
        check: Check::AllInstructions(|facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            if !facts.has_byte_type
                || permits_bytes(facts)
                || facts.module.function_at(instruction.index).is_none()
                || moves_bytes(op)
            {
                return;
            }
            // OpBitcast is a conversion instruction, but it does not convert; `spirv-val` rejects
            // it.
            let converts = matches!(op, Op::ConvertFToU | Op::ConvertFToS | Op::ConvertSToF | Op::ConvertUToF);
            let bytes = |word: u32| facts.module.type_of(word).is_some_and(|ty| holds_bytes(facts, ty));
            let result = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let made = result.is_some_and(|ty| holds_bytes(facts, ty));
            // A conversion from or to a 16 or 64-bit type is enabled by the capability of that
            // type.
            let other = if made { width_of(facts, instruction.operand(0)) } else { result_width(facts, instruction) };
            let enabled = match other {
                Some(16) => facts.has(Capability::Int16) || facts.has(Capability::Float16),
                Some(64) => facts.has(Capability::Int64) || facts.has(Capability::Float64),
                _ => false,
            };
            if converts && enabled {
                return;
            }
            if made || facts.module.id_operands(instruction).into_iter().any(bytes) {
                found.report(instruction, format!("{op} on 8-bit values without capability Int8"));
            }
        }),
    },
    Rule {
        name: "byte-storage-buffer",
        id: "SPV_KHR_8bit_storage, StorageBuffer8BitAccess",
        requirement: "8-bit values in StorageBuffer and PhysicalStorageBuffer require StorageBuffer8BitAccess",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            let Some((class, Some(ty))) = pointer(facts, instruction) else { return };
            let buffer = matches!(class, StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer);
            if buffer
                && holds_bytes(facts, ty)
                && !permits_bytes(facts)
                && !facts.has(Capability::StorageBuffer8BitAccess)
            {
                found
                    .report(instruction, "8-bit values in a storage buffer without capability StorageBuffer8BitAccess");
            }
        }),
    },
    Rule {
        name: "byte-uniform",
        id: "SPV_KHR_8bit_storage, UniformAndStorageBuffer8BitAccess",
        requirement: "8-bit values in Uniform require UniformAndStorageBuffer8BitAccess",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            let Some((StorageClass::Uniform, Some(ty))) = pointer(facts, instruction) else { return };
            let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
            let buffer = facts.type_has(element, assay_spirv::tables::Decoration::BufferBlock)
                && facts.has(Capability::StorageBuffer8BitAccess);
            let block = matches!(facts.module.ty(element), Type::Struct { .. });
            if block
                && !buffer
                && holds_bytes(facts, ty)
                && !permits_bytes(facts)
                && !facts.has(Capability::UniformAndStorageBuffer8BitAccess)
            {
                found.report(
                    instruction,
                    "8-bit values in Uniform without capability UniformAndStorageBuffer8BitAccess",
                );
            }
        }),
    },
    Rule {
        name: "byte-push-constant",
        id: "SPV_KHR_8bit_storage, StoragePushConstant8",
        requirement: "8-bit values in PushConstant require StoragePushConstant8",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            let Some((StorageClass::PushConstant, Some(ty))) = pointer(facts, instruction) else { return };
            if holds_bytes(facts, ty) && !permits_bytes(facts) && !facts.has(Capability::StoragePushConstant8) {
                found.report(instruction, "8-bit values in PushConstant without capability StoragePushConstant8");
            }
        }),
    },
    Rule {
        name: "byte-private",
        id: "SPV_KHR_8bit_storage: only members of structures in StorageBuffer, Uniform and PushConstant",
        requirement: "without Int8, only buffers, push constants and, with WorkgroupMemoryExplicitLayout8BitAccessKHR, Workgroup variables may contain 8-bit values",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            use StorageClass::{PhysicalStorageBuffer, PushConstant, StorageBuffer, Uniform, Workgroup};
            let Some((class, Some(ty))) = pointer(facts, instruction) else { return };
            let workgroup = class == Workgroup && facts.has(Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR);
            let memory = matches!(class, PhysicalStorageBuffer | PushConstant | StorageBuffer | Uniform) || workgroup;
            if !memory && holds_bytes(facts, ty) && !permits_bytes(facts) {
                found.report(instruction, format!("8-bit values in {class} without capability Int8"));
            }
        }),
    },
];

/// Storage class and pointee that a pointer type declares.
fn pointer(facts: &Facts, instruction: Instruction) -> Option<(StorageClass, Option<TypeId>)> {
    facts.module.pointer(facts.module.type_declared(instruction.result()?)?)
}
