//! Memory semantics, and the storage classes of atomics.

use super::opcode_groups::{ATOMICS, WITH_MEMORY_SEMANTICS};
use super::{Check, Rule, Severity};
use assay_spirv::tables::{MemorySemantics, Op, StorageClass};

const ACQUIRE: u32 = MemorySemantics::ACQUIRE.0;
const RELEASE: u32 = MemorySemantics::RELEASE.0;
const ACQUIRE_RELEASE: u32 = MemorySemantics::ACQUIRE_RELEASE.0;
const SEQUENTIALLY_CONSISTENT: u32 = MemorySemantics::SEQUENTIALLY_CONSISTENT.0;
/// All memory order bits.
pub(super) const ORDERS: u32 = ACQUIRE | RELEASE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT;
/// Memory order bits that Vulkan permits.
const VULKAN_ORDERS: u32 = ACQUIRE | RELEASE | ACQUIRE_RELEASE;
/// Storage class bits that Vulkan permits.
const CLASSES: u32 = MemorySemantics::UNIFORM_MEMORY.0
    | MemorySemantics::WORKGROUP_MEMORY.0
    | MemorySemantics::IMAGE_MEMORY.0
    | MemorySemantics::OUTPUT_MEMORY.0;
const MAKE_AVAILABLE: u32 = MemorySemantics::MAKE_AVAILABLE.0;
const MAKE_VISIBLE: u32 = MemorySemantics::MAKE_VISIBLE.0;
const VOLATILE: u32 = MemorySemantics::VOLATILE.0;

/// Strength of a memory order: relaxed 0, acquire or release 1, both 2, sequentially consistent 3.
fn strength(semantics: u32) -> u32 {
    match semantics & ORDERS {
        0 => 0,
        ACQUIRE | RELEASE => 1,
        ACQUIRE_RELEASE => 2,
        _ => 3,
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "one-memory-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10865",
        requirement: "memory semantics must have at most one memory order bit",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            if operands.any_semantics(|s| (s & VULKAN_ORDERS).count_ones() > 1) {
                found.report(instruction, "several memory order bits, expected at most one");
            }
        }),
    },
    Rule {
        name: "no-sequential-consistency",
        id: "VUID-StandaloneSpirv-MemorySemantics-10866",
        requirement: "memory semantics must not include SequentiallyConsistent",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & SEQUENTIALLY_CONSISTENT != 0) {
                found.report(instruction, "memory order SequentiallyConsistent, expected at most AcquireRelease");
            }
        }),
    },
    Rule {
        name: "atomic-store-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10867",
        requirement: "memory semantics of OpAtomicStore must not include Acquire or AcquireRelease",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicStore], |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & (ACQUIRE | ACQUIRE_RELEASE) != 0) {
                found.report(instruction, "OpAtomicStore with Acquire or AcquireRelease, expected Release or no order");
            }
        }),
    },
    Rule {
        name: "atomic-load-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10868",
        requirement: "memory semantics of OpAtomicLoad must not include Release or AcquireRelease",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicLoad], |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & (RELEASE | ACQUIRE_RELEASE) != 0) {
                found.report(instruction, "OpAtomicLoad with Release or AcquireRelease, expected Acquire or no order");
            }
        }),
    },
    Rule {
        name: "memory-barrier-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10869",
        requirement: "memory semantics of OpMemoryBarrier must include a memory order",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::MemoryBarrier], |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & ORDERS == 0) {
                found.report(
                    instruction,
                    "OpMemoryBarrier without a memory order, expected Acquire, Release or AcquireRelease",
                );
            }
        }),
    },
    Rule {
        name: "order-needs-class",
        id: "VUID-StandaloneSpirv-MemorySemantics-10870",
        requirement: "memory semantics with a memory order must include a storage class bit",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & VULKAN_ORDERS != 0 && s & CLASSES == 0) {
                found.report(
                    instruction,
                    "memory order without UniformMemory, WorkgroupMemory, ImageMemory or OutputMemory",
                );
            }
        }),
    },
    Rule {
        name: "class-needs-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10871",
        requirement: "memory semantics with a storage class bit must include a memory order",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            // OpMemoryBarrier without an order is checked by memory-barrier-order.
            let barrier = instruction.op == Some(Op::MemoryBarrier);
            if !barrier && operands.any_semantics(|s| s & ORDERS == 0 && s & CLASSES != 0) {
                found.report(
                    instruction,
                    "storage class bits without a memory order, expected Acquire, Release or AcquireRelease",
                );
            }
        }),
    },
    Rule {
        name: "make-available-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10872",
        requirement: "memory semantics with MakeAvailable must include Release or AcquireRelease",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            let wrong = |s: u32| s & MAKE_AVAILABLE != 0 && s & (RELEASE | ACQUIRE_RELEASE) == 0;
            if operands.any_semantics(wrong) {
                found.report(instruction, "MakeAvailable without Release or AcquireRelease");
            }
        }),
    },
    Rule {
        name: "make-visible-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10873",
        requirement: "memory semantics with MakeVisible must include Acquire or AcquireRelease",
        severity: Severity::Error,
        check: Check::Scoped(WITH_MEMORY_SEMANTICS, |_, instruction, operands, found| {
            let wrong = |s: u32| s & MAKE_VISIBLE != 0 && s & (ACQUIRE | ACQUIRE_RELEASE) == 0;
            if operands.any_semantics(wrong) {
                found.report(instruction, "MakeVisible without Acquire or AcquireRelease");
            }
        }),
    },
    Rule {
        name: "volatile-barrier",
        id: "VUID-StandaloneSpirv-MemorySemantics-13551",
        requirement: "memory semantics of a barrier must not include Volatile",
        severity: Severity::Error,
        check: Check::Scoped(
            &[Op::ControlBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT, Op::MemoryBarrier],
            |_, instruction, operands, found| {
                if operands.any_semantics(|s| s & VOLATILE != 0) {
                    found.report(instruction, "barrier with Volatile semantics");
                }
            },
        ),
    },
    Rule {
        name: "arrive-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-13556",
        requirement: "the memory order of OpControlBarrierArriveEXT must be Release or none",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::ControlBarrierArriveEXT], |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & ORDERS & !RELEASE != 0) {
                found.report(instruction, "OpControlBarrierArriveEXT with a memory order other than Release");
            }
        }),
    },
    Rule {
        name: "wait-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-13557",
        requirement: "the memory order of OpControlBarrierWaitEXT must be Acquire or none",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::ControlBarrierWaitEXT], |_, instruction, operands, found| {
            if operands.any_semantics(|s| s & ORDERS & !ACQUIRE != 0) {
                found.report(instruction, "OpControlBarrierWaitEXT with a memory order other than Acquire");
            }
        }),
    },
    Rule {
        name: "unequal-release",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10875",
        requirement: "Unequal semantics of OpAtomicCompareExchange must not include Release or AcquireRelease",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicCompareExchange], |_, instruction, operands, found| {
            if let [_, unequal] = operands.semantics[..]
                && unequal & (RELEASE | ACQUIRE_RELEASE) != 0
            {
                found.report(
                    instruction,
                    "Unequal semantics with Release or AcquireRelease, expected Acquire or no order",
                );
            }
        }),
    },
    Rule {
        name: "unequal-strength",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10876",
        requirement: "the memory order in Unequal must not be stronger than that in Equal",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicCompareExchange], |_, instruction, operands, found| {
            if let [equal, unequal] = operands.semantics[..] {
                // Unequal semantics with Release are checked by unequal-release. Neither of Acquire
                // and Release is stronger than the other.
                if unequal & RELEASE == 0 && strength(unequal) > strength(equal) {
                    found.report(instruction, "memory order of Unequal is stronger than that of Equal");
                }
            }
        }),
    },
    Rule {
        name: "unequal-classes",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10877",
        requirement: "Unequal must not include a storage class bit that Equal lacks",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicCompareExchange], |_, instruction, operands, found| {
            if let [equal, unequal] = operands.semantics[..]
                && unequal & CLASSES & !equal != 0
            {
                found.report(instruction, "Unequal has a storage class bit that Equal lacks");
            }
        }),
    },
    Rule {
        name: "unequal-visible",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10878",
        requirement: "Unequal must not include MakeVisible unless Equal does",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicCompareExchange], |_, instruction, operands, found| {
            if let [equal, unequal] = operands.semantics[..]
                && unequal & MAKE_VISIBLE & !equal != 0
            {
                found.report(instruction, "Unequal has MakeVisible, which Equal lacks");
            }
        }),
    },
    Rule {
        name: "unequal-volatile",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10879",
        requirement: "Equal and Unequal must both include Volatile, or neither",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::AtomicCompareExchange], |_, instruction, operands, found| {
            if let [equal, unequal] = operands.semantics[..]
                && (unequal ^ equal) & VOLATILE != 0
            {
                found.report(instruction, "Volatile in only one of Equal and Unequal");
            }
        }),
    },
    Rule {
        name: "atomic-storage-class",
        id: "VUID-StandaloneSpirv-None-04686",
        requirement: "Pointer of an atomic instruction must point into Uniform, Workgroup, Image, StorageBuffer, PhysicalStorageBuffer or TaskPayloadWorkgroupEXT",
        severity: Severity::Error,
        check: Check::Instructions(ATOMICS, |facts, instruction, found| {
            use StorageClass::{
                Image, PhysicalStorageBuffer, StorageBuffer, TaskPayloadWorkgroupEXT, Uniform, Workgroup,
            };
            let Some((class, _)) = facts.pointer(instruction.operand(0)) else { return };
            if !matches!(
                class,
                Uniform | Workgroup | Image | StorageBuffer | PhysicalStorageBuffer | TaskPayloadWorkgroupEXT
            ) {
                found.report(instruction, format!("atomic on a pointer into {class}, which does not support atomics"));
            }
        }),
    },
];
