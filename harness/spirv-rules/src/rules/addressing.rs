//! Addressing and memory models, and physical pointers.

use super::analysis::facts::Facts;
use super::{Check, Rule, Severity};
use assay_spirv::grammar::{Kind, Version};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{AddressingModel, Capability, Decoration, MemoryAccess, MemoryModel, Op, StorageClass};

impl Facts<'_> {
    /// Memory model that the module declares.
    pub(super) fn memory_model(&self) -> Option<MemoryModel> {
        MemoryModel::from_word(self.module.section(Section::MemoryModel).next()?.operand(1)?)
    }

    /// Returns whether the rules for `PhysicalStorageBuffer64` addressing apply.
    fn has_physical_addressing(&self) -> bool {
        self.addressing_model == Some(AddressingModel::PhysicalStorageBuffer64)
    }
}

/// Memory operands of an instruction: each mask, with the alignment literal that follows it.
fn memory_operands(facts: &Facts, instruction: Instruction) -> Vec<(MemoryAccess, Option<u32>)> {
    let mut found: Vec<(MemoryAccess, Option<u32>)> = Vec::new();
    let _newer = facts.module.operands(instruction, |operand| match operand.kind {
        Kind::MemoryAccess => found.push((MemoryAccess(instruction.words[operand.at]), None)),
        Kind::LiteralInteger => {
            if let Some((_, alignment)) = found.last_mut() {
                *alignment = Some(instruction.words[operand.at]);
            }
        }
        _ => {}
    });
    found
}

/// Number of operands of a memory instruction that are physical pointers.
fn physical_pointers(facts: &Facts, instruction: Instruction) -> usize {
    let count = if matches!(instruction.op, Some(Op::CopyMemory | Op::CopyMemorySized)) { 2 } else { 1 };
    let pointers = instruction.operands().iter().take(count);
    let is_physical = |word: &&u32| {
        facts.pointer(Some(**word)).is_some_and(|(class, _)| class == StorageClass::PhysicalStorageBuffer)
    };
    pointers.filter(is_physical).count()
}

/// Instructions with memory operands.
const ACCESSES: &[Op] = &[
    Op::Load,
    Op::Store,
    Op::CopyMemory,
    Op::CopyMemorySized,
    Op::CooperativeMatrixLoadKHR,
    Op::CooperativeMatrixStoreKHR,
];

/// Capabilities of 8-bit storage.
const NARROW_8: [Capability; 4] = [
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
];

/// Capabilities of 16-bit storage.
const NARROW_16: [Capability; 5] = [
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::StorageInputOutput16,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "addressing-model",
        id: "VUID-StandaloneSpirv-None-04635",
        requirement: "the addressing model must be Logical or PhysicalStorageBuffer64",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            use AddressingModel::{Logical, PhysicalStorageBuffer64};
            if let Some(model) = facts.addressing_model.filter(|m| !matches!(m, Logical | PhysicalStorageBuffer64)) {
                found.report(
                    instruction,
                    format!("addressing model {model}, expected Logical or PhysicalStorageBuffer64"),
                );
            }
        }),
    },
    Rule {
        name: "memory-model",
        id: "vulkan-environment-for-spirv, Capabilities: the capability of the memory model must be listed",
        requirement: "the memory model must be Simple, GLSL450 or Vulkan",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            if facts.memory_model() == Some(MemoryModel::OpenCL) {
                found.report(instruction, "memory model OpenCL, expected GLSL450 or Vulkan");
            }
        }),
    },
    Rule {
        name: "pointer-chain-class",
        id: "VUID-StandaloneSpirv-Base-07650",
        requirement: "Base of OpPtrAccessChain must point into Workgroup, StorageBuffer or PhysicalStorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            use StorageClass::{PhysicalStorageBuffer, StorageBuffer, Workgroup};
            let Some((class, _)) = facts.pointer(base(instruction)) else { return };
            if !matches!(class, Workgroup | StorageBuffer | PhysicalStorageBuffer) {
                found.report(
                    instruction,
                    format!(
                        "OpPtrAccessChain into {class}, expected Workgroup, StorageBuffer or PhysicalStorageBuffer"
                    ),
                );
            }
        }),
    },
    Rule {
        name: "pointer-chain-workgroup",
        id: "VUID-StandaloneSpirv-Base-07651",
        requirement: "OpPtrAccessChain with a Base in Workgroup requires VariablePointers",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            let workgroup = facts.pointer(base(instruction)).is_some_and(|(class, _)| class == StorageClass::Workgroup);
            if workgroup && !facts.has(Capability::VariablePointers) {
                found.report(instruction, "OpPtrAccessChain into Workgroup without capability VariablePointers");
            }
        }),
    },
    Rule {
        name: "pointer-chain-buffer",
        id: "VUID-StandaloneSpirv-Base-07652",
        requirement: "OpPtrAccessChain with a Base in StorageBuffer requires VariablePointers or VariablePointersStorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            let buffer =
                facts.pointer(base(instruction)).is_some_and(|(class, _)| class == StorageClass::StorageBuffer);
            if buffer && !facts.has(Capability::VariablePointersStorageBuffer) {
                found.report(
                    instruction,
                    "OpPtrAccessChain into StorageBuffer without capability VariablePointersStorageBuffer",
                );
            }
        }),
    },
    Rule {
        name: "physical-aligned",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708",
        requirement: "an access through a PhysicalStorageBuffer pointer must have Aligned",
        severity: Severity::Error,
        check: Check::Instructions(ACCESSES, |facts, instruction, found| {
            if !facts.has_physical_addressing() || physical_pointers(facts, instruction) == 0 {
                return;
            }
            let aligned =
                memory_operands(facts, instruction).iter().any(|(mask, _)| mask.contains(MemoryAccess::ALIGNED));
            if !aligned {
                found.report(instruction, "access through a physical pointer without Aligned");
            }
        }),
    },
    Rule {
        name: "pointer-availability",
        id: "SPIR-V specification, Memory Operands: MakePointerAvailable and MakePointerVisible require NonPrivatePointer, and must only be used for writes and reads respectively; OpCopyMemory: the first of two masks applies to Target",
        requirement: "MakePointerAvailable must only be used for writes and MakePointerVisible only for reads, both with NonPrivatePointer",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::Load, Op::Store, Op::CopyMemory, Op::CopyMemorySized],
            |facts, instruction, found| {
                let makes = MemoryAccess(MemoryAccess::MAKE_POINTER_AVAILABLE.0 | MemoryAccess::MAKE_POINTER_VISIBLE.0);
                let masks = memory_operands(facts, instruction);
                for (place, (mask, _)) in masks.iter().enumerate() {
                    // A single mask of a copy applies to both sides; of two masks, the first
                    // applies to the target.
                    let wrong = match (instruction.op, masks.len(), place) {
                        (Some(Op::Load), ..) | (Some(Op::CopyMemory | Op::CopyMemorySized), 2, 1) => {
                            MemoryAccess::MAKE_POINTER_AVAILABLE
                        }
                        (Some(Op::Store), ..) | (_, 2, 0) => MemoryAccess::MAKE_POINTER_VISIBLE,
                        _ => MemoryAccess(0),
                    };
                    if mask.intersects(wrong) {
                        let op = instruction.name();
                        let wrong = "with MakePointerAvailable for a read or MakePointerVisible for a write";
                        found.report(instruction, format!("{op} {wrong}"));
                    } else if mask.intersects(makes) && !mask.contains(MemoryAccess::NON_PRIVATE_POINTER) {
                        found.report(
                            instruction,
                            "MakePointerAvailable or MakePointerVisible without NonPrivatePointer",
                        );
                    }
                }
            },
        ),
    },
    Rule {
        name: "copy-masks",
        id: "SPIR-V specification, OpCopyMemory and OpCopyMemorySized: before version 1.4, at most one memory operands mask",
        requirement: "before SPIR-V 1.4, a copy must have at most one memory operands mask",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::CopyMemory, Op::CopyMemorySized], |facts, instruction, found| {
            let version = facts.module.version();
            if version < Version::v1(4) && memory_operands(facts, instruction).len() > 1 {
                found.report(
                    instruction,
                    format!("two memory operands masks in SPIR-V {version}, expected 1.4 or newer"),
                );
            }
        }),
    },
    Rule {
        name: "coherent-model",
        id: "SPIR-V specification, Decoration, Coherent and Volatile: they are not allowed if the declared memory model is Vulkan",
        requirement: "in the Vulkan memory model, Coherent and Volatile decorations must not be used",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Coherent, Decoration::Volatile], |facts, _, decorated, found| {
            if let Some(decoration) = decorated.decoration.filter(|_| facts.memory_model() == Some(MemoryModel::Vulkan))
            {
                found.report(decorated.instruction, format!("{decoration} in the Vulkan memory model"));
            }
        }),
    },
    Rule {
        name: "alignment-power",
        id: "SPIR-V specification, Memory Operands, Aligned: the value must be a power of two",
        requirement: "the literal of Aligned must be a power of two",
        severity: Severity::Error,
        check: Check::Instructions(ACCESSES, |facts, instruction, found| {
            let stated = memory_operands(facts, instruction).into_iter();
            let mut stated =
                stated.filter(|(mask, _)| mask.contains(MemoryAccess::ALIGNED)).filter_map(|(_, value)| value);
            if let Some(odd) = stated.find(|value| !value.is_power_of_two()) {
                found.report(instruction, format!("Aligned {odd}, expected a power of two"));
            }
        }),
    },
    Rule {
        name: "physical-alignment",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314",
        requirement: "the literal of Aligned for a PhysicalStorageBuffer pointer must be a multiple of the size of the pointee's largest scalar",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Load, Op::Store], |facts, instruction, found| {
            if !facts.has_physical_addressing() {
                return;
            }
            let Some((StorageClass::PhysicalStorageBuffer, Some(ty))) = facts.pointer(instruction.operand(0)) else {
                return;
            };
            let largest = u32::from(facts.contents(ty).largest);
            let stated = memory_operands(facts, instruction).first().and_then(|(_, alignment)| *alignment);
            if let Some(stated) = stated.filter(|s| largest > 0 && !s.is_multiple_of(largest)) {
                found.report(instruction, format!("Aligned {stated}, expected a multiple of {largest}"));
            }
        }),
    },
    Rule {
        name: "physical-convert-width",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710",
        requirement: "OpConvertUToPtr and OpConvertPtrToU must convert from and to 64-bit integers",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ConvertUToPtr, Op::ConvertPtrToU], |facts, instruction, found| {
            let integer = match instruction.op {
                Some(Op::ConvertUToPtr) => instruction.operand(0).and_then(|word| facts.module.type_of(word)),
                _ => instruction.result_type().and_then(|word| facts.module.type_declared(word)),
            };
            let wide = integer.is_none_or(|ty| matches!(facts.module.ty(ty), Type::Int { width: 64, .. }));
            if facts.has_physical_addressing() && !wide {
                found.report(
                    instruction,
                    "conversion of a physical pointer from or to an integer that does not have 64 bits",
                );
            }
        }),
    },
    Rule {
        name: "copy-size",
        id: "VUID-RuntimeSpirv-Size-11165",
        requirement: "Size of OpCopyMemorySized must be a multiple of 4, with 16-bit storage of 2, with 8-bit storage of 1",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::CopyMemorySized], |facts, instruction, found| {
            let Some(size) = instruction.operand(2).and_then(|word| facts.module.constant_int(word)) else { return };
            // The capabilities are not matched to the storage classes of source and target: any of
            // them relaxes the unit.
            let unit = if NARROW_8.iter().any(|capability| facts.has(*capability)) {
                1
            } else if NARROW_16.iter().any(|capability| facts.has(*capability)) {
                2
            } else {
                4
            };
            if size % unit != 0 {
                found.report(instruction, format!("Size {size}, expected a multiple of {unit}"));
            }
        }),
    },
    Rule {
        name: "forward-pointer-class",
        id: "VUID-StandaloneSpirv-OpTypeForwardPointer-04711",
        requirement: "OpTypeForwardPointer must have Storage Class PhysicalStorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeForwardPointer], |_, instruction, found| {
            if instruction.operand(1) != Some(StorageClass::PhysicalStorageBuffer.word()) {
                found.report(instruction, "OpTypeForwardPointer into a storage class other than PhysicalStorageBuffer");
            }
        }),
    },
];

fn base(instruction: Instruction) -> Option<u32> {
    match instruction.op {
        Some(Op::UntypedPtrAccessChainKHR) => instruction.operand(1),
        _ => instruction.operand(0),
    }
}
