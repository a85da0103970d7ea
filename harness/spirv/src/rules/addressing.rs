//! Addressing and memory models, and physical pointers.

use super::facts::Facts;
use super::{On, Rule, Severity};
use crate::grammar::{Kind, V1_4};
use crate::module::{Instruction, Section, Type};
use crate::tables::{AddressingModel, Capability, Decoration, MemoryAccess, MemoryModel, Op, StorageClass};

impl Facts<'_> {
    /// The memory model.
    pub(super) fn memory_model(&self) -> Option<MemoryModel> {
        MemoryModel::from_word(self.module.section(Section::MemoryModel).next()?.operand(1)?)
    }

    /// Whether the rules on physical pointers hold.
    fn is_physical(&self) -> bool {
        self.addressing_model == Some(AddressingModel::PhysicalStorageBuffer64)
    }
}

/// The memory operands of an instruction: the mask, and the alignment that it states.
fn alignments(facts: &Facts, instruction: Instruction) -> Vec<(MemoryAccess, Option<u32>)> {
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

/// The pointers of a memory instruction that are physical, with the operand number of each.
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
        says: "the addressing model is Logical or PhysicalStorageBuffer64",
        severity: Severity::Error,
        on: On::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            use AddressingModel::{Logical, PhysicalStorageBuffer64};
            if let Some(model) = facts.addressing_model.filter(|m| !matches!(m, Logical | PhysicalStorageBuffer64)) {
                found.at(instruction, format!("addressing model {model}, expected Logical or PhysicalStorageBuffer64"));
            }
        }),
    },
    Rule {
        name: "memory-model",
        id: "vulkan-environment-for-spirv, Capabilities: memory models come with capabilities that Vulkan lists",
        says: "the memory model is GLSL450, Simple or Vulkan",
        severity: Severity::Error,
        on: On::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            if facts.memory_model() == Some(MemoryModel::OpenCL) {
                found.at(instruction, "memory model OpenCL, expected GLSL450 or Vulkan");
            }
        }),
    },
    Rule {
        name: "pointer-chain-class",
        id: "VUID-StandaloneSpirv-Base-07650",
        says: "OpPtrAccessChain starts in Workgroup, StorageBuffer or PhysicalStorageBuffer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            use StorageClass::{PhysicalStorageBuffer, StorageBuffer, Workgroup};
            let Some((class, _)) = facts.pointer(base(instruction)) else { return };
            if !matches!(class, Workgroup | StorageBuffer | PhysicalStorageBuffer) {
                found.at(instruction, format!("OpPtrAccessChain into {class}"));
            }
        }),
    },
    Rule {
        name: "pointer-chain-workgroup",
        id: "VUID-StandaloneSpirv-Base-07651",
        says: "OpPtrAccessChain in Workgroup needs VariablePointers",
        severity: Severity::Error,
        on: On::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            let workgroup = facts.pointer(base(instruction)).is_some_and(|(class, _)| class == StorageClass::Workgroup);
            if workgroup && !facts.has(Capability::VariablePointers) {
                found.at(instruction, "OpPtrAccessChain into Workgroup without VariablePointers");
            }
        }),
    },
    Rule {
        name: "pointer-chain-buffer",
        id: "VUID-StandaloneSpirv-Base-07652",
        says: "OpPtrAccessChain in StorageBuffer needs variable pointers",
        severity: Severity::Error,
        on: On::Instructions(&[Op::PtrAccessChain, Op::UntypedPtrAccessChainKHR], |facts, instruction, found| {
            let buffer =
                facts.pointer(base(instruction)).is_some_and(|(class, _)| class == StorageClass::StorageBuffer);
            if buffer && !facts.has(Capability::VariablePointersStorageBuffer) {
                found.at(instruction, "OpPtrAccessChain into StorageBuffer without VariablePointersStorageBuffer");
            }
        }),
    },
    Rule {
        name: "physical-aligned",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708",
        says: "an access through a physical pointer states its alignment",
        severity: Severity::Error,
        on: On::Instructions(ACCESSES, |facts, instruction, found| {
            if !facts.is_physical() || physical_pointers(facts, instruction) == 0 {
                return;
            }
            let aligned = alignments(facts, instruction).iter().any(|(mask, _)| mask.contains(MemoryAccess::ALIGNED));
            if !aligned {
                found.at(instruction, "an access through a physical pointer without Aligned");
            }
        }),
    },
    Rule {
        name: "pointer-availability",
        id: "SPIR-V specification, Memory Operands: MakePointerAvailable and MakePointerVisible require NonPrivatePointer, and are for instructions that write and that read; OpCopyMemory: the first of two masks is of the target",
        says: "accesses make available what they write and visible what they read, through pointers that are not private",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::Load, Op::Store, Op::CopyMemory, Op::CopyMemorySized],
            |facts, instruction, found| {
                let makes = MemoryAccess(MemoryAccess::MAKE_POINTER_AVAILABLE.0 | MemoryAccess::MAKE_POINTER_VISIBLE.0);
                let masks = alignments(facts, instruction);
                for (place, (mask, _)) in masks.iter().enumerate() {
                    // One mask of a copy is that of both sides, of two the first is that of the target.
                    let wrong = match (instruction.op, masks.len(), place) {
                        (Some(Op::Load), ..) | (Some(Op::CopyMemory | Op::CopyMemorySized), 2, 1) => {
                            MemoryAccess::MAKE_POINTER_AVAILABLE
                        }
                        (Some(Op::Store), ..) | (_, 2, 0) => MemoryAccess::MAKE_POINTER_VISIBLE,
                        _ => MemoryAccess(0),
                    };
                    if mask.intersects(wrong) {
                        let op = instruction.name();
                        let wrong = "that makes available what it reads, or visible what it writes";
                        found.at(instruction, format!("{op} {wrong}"));
                    } else if mask.intersects(makes) && !mask.contains(MemoryAccess::NON_PRIVATE_POINTER) {
                        found.at(instruction, "MakePointerAvailable or MakePointerVisible without NonPrivatePointer");
                    }
                }
            },
        ),
    },
    Rule {
        name: "copy-masks",
        id: "SPIR-V specification, OpCopyMemory and OpCopyMemorySized: before version 1.4, at most one memory operands mask",
        says: "copies have one mask of memory operands before SPIR-V 1.4",
        severity: Severity::Error,
        on: On::Instructions(&[Op::CopyMemory, Op::CopyMemorySized], |facts, instruction, found| {
            let version = facts.module.version();
            if version < V1_4 && alignments(facts, instruction).len() > 1 {
                found.at(
                    instruction,
                    format!("two masks of memory operands in SPIR-V {version}, expected 1.4 or newer"),
                );
            }
        }),
    },
    Rule {
        name: "coherent-model",
        id: "SPIR-V specification, Decoration, Coherent and Volatile: they are not allowed if the declared memory model is Vulkan",
        says: "nothing is decorated Coherent or Volatile in the Vulkan memory model",
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::Coherent, Decoration::Volatile], |facts, _, decorated, found| {
            if let Some(decoration) = decorated.decoration.filter(|_| facts.memory_model() == Some(MemoryModel::Vulkan))
            {
                found.at(decorated.instruction, format!("{decoration} in the Vulkan memory model"));
            }
        }),
    },
    Rule {
        name: "alignment-power",
        id: "SPIR-V specification, Memory Operands, Aligned: the value must be a power of two",
        says: "a stated alignment is a power of two",
        severity: Severity::Error,
        on: On::Instructions(ACCESSES, |facts, instruction, found| {
            let stated = alignments(facts, instruction).into_iter();
            let mut stated =
                stated.filter(|(mask, _)| mask.contains(MemoryAccess::ALIGNED)).filter_map(|(_, value)| value);
            if let Some(odd) = stated.find(|value| !value.is_power_of_two()) {
                found.at(instruction, format!("Aligned {odd}, which is no power of two"));
            }
        }),
    },
    Rule {
        name: "physical-alignment",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314",
        says: "the alignment is a multiple of the largest number's size",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Load, Op::Store], |facts, instruction, found| {
            if !facts.is_physical() {
                return;
            }
            let Some((StorageClass::PhysicalStorageBuffer, Some(ty))) = facts.pointer(instruction.operand(0)) else {
                return;
            };
            let largest = u32::from(facts.contents(ty).largest);
            let stated = alignments(facts, instruction).first().and_then(|(_, alignment)| *alignment);
            if let Some(stated) = stated.filter(|s| largest > 0 && !s.is_multiple_of(largest)) {
                found.at(instruction, format!("alignment {stated}, expected a multiple of {largest}"));
            }
        }),
    },
    Rule {
        name: "physical-convert-width",
        id: "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710",
        says: "physical pointers convert from and to 64-bit integers",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ConvertUToPtr, Op::ConvertPtrToU], |facts, instruction, found| {
            let integer = match instruction.op {
                Some(Op::ConvertUToPtr) => instruction.operand(0).and_then(|word| facts.module.type_of(word)),
                _ => instruction.result_type().and_then(|word| facts.module.type_declared(word)),
            };
            let wide = integer.is_none_or(|ty| matches!(facts.module.ty(ty), Type::Int { width: 64, .. }));
            if facts.is_physical() && !wide {
                found.at(instruction, "a physical pointer converted from or to an integer of other than 64 bits");
            }
        }),
    },
    Rule {
        name: "copy-size",
        id: "VUID-RuntimeSpirv-Size-11165",
        says: "OpCopyMemorySized copies multiples of 4 bytes, of 2 with 16-bit storage, any number with 8-bit storage",
        severity: Severity::Error,
        on: On::Instructions(&[Op::CopyMemorySized], |facts, instruction, found| {
            let Some(size) = instruction.operand(2).and_then(|word| facts.module.constant_int(word)) else { return };
            // Whether narrow storage is enabled for both classes is left open: any such capability excuses.
            let unit = if NARROW_8.iter().any(|capability| facts.has(*capability)) {
                1
            } else if NARROW_16.iter().any(|capability| facts.has(*capability)) {
                2
            } else {
                4
            };
            if size % unit != 0 {
                found.at(instruction, format!("{size} bytes are copied, which is no multiple of {unit}"));
            }
        }),
    },
    Rule {
        name: "forward-pointer-class",
        id: "VUID-StandaloneSpirv-OpTypeForwardPointer-04711",
        says: "pointers declared forward are physical",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeForwardPointer], |_, instruction, found| {
            if instruction.operand(1) != Some(StorageClass::PhysicalStorageBuffer.word()) {
                found.at(instruction, "OpTypeForwardPointer of a class other than PhysicalStorageBuffer");
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
