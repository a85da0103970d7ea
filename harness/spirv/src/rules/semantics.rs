//! Memory semantics, and where atomics may point.

use super::ops::{ATOMICS, ORDERED};
use super::{On, Rule, Severity};
use crate::tables::{MemorySemantics, Op, StorageClass};

const ACQUIRE: u32 = MemorySemantics::ACQUIRE.0;
const RELEASE: u32 = MemorySemantics::RELEASE.0;
const ACQUIRE_RELEASE: u32 = MemorySemantics::ACQUIRE_RELEASE.0;
const SEQUENTIALLY_CONSISTENT: u32 = MemorySemantics::SEQUENTIALLY_CONSISTENT.0;
/// All bits that order memory.
pub(super) const ORDERS: u32 = ACQUIRE | RELEASE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT;
/// The orders that Vulkan has beside relaxed.
const VULKAN_ORDERS: u32 = ACQUIRE | RELEASE | ACQUIRE_RELEASE;
/// The storage class bits that Vulkan has.
const CLASSES: u32 = MemorySemantics::UNIFORM_MEMORY.0
    | MemorySemantics::WORKGROUP_MEMORY.0
    | MemorySemantics::IMAGE_MEMORY.0
    | MemorySemantics::OUTPUT_MEMORY.0;
const MAKE_AVAILABLE: u32 = MemorySemantics::MAKE_AVAILABLE.0;
const MAKE_VISIBLE: u32 = MemorySemantics::MAKE_VISIBLE.0;
const VOLATILE: u32 = MemorySemantics::VOLATILE.0;

/// How strong an order is: relaxed, one-sided, two-sided, total.
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
        says: "memory semantics have at most one order bit",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            if stated.orders(|s| (s & VULKAN_ORDERS).count_ones() > 1) {
                found.at(instruction, "memory semantics with several orders, expected at most one");
            }
        }),
    },
    Rule {
        name: "no-sequential-consistency",
        id: "VUID-StandaloneSpirv-MemorySemantics-10866",
        says: "SequentiallyConsistent is not used",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            if stated.orders(|s| s & SEQUENTIALLY_CONSISTENT != 0) {
                found.at(instruction, "memory order SequentiallyConsistent, expected AcquireRelease at most");
            }
        }),
    },
    Rule {
        name: "atomic-store-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10867",
        says: "OpAtomicStore does not acquire",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicStore], |_, instruction, stated, found| {
            if stated.orders(|s| s & (ACQUIRE | ACQUIRE_RELEASE) != 0) {
                found.at(instruction, "OpAtomicStore that acquires, expected Release or relaxed");
            }
        }),
    },
    Rule {
        name: "atomic-load-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10868",
        says: "OpAtomicLoad does not release",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicLoad], |_, instruction, stated, found| {
            if stated.orders(|s| s & (RELEASE | ACQUIRE_RELEASE) != 0) {
                found.at(instruction, "OpAtomicLoad that releases, expected Acquire or relaxed");
            }
        }),
    },
    Rule {
        name: "memory-barrier-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10869",
        says: "OpMemoryBarrier is not relaxed",
        severity: Severity::Error,
        on: On::Stated(&[Op::MemoryBarrier], |_, instruction, stated, found| {
            if stated.orders(|s| s & ORDERS == 0) {
                found.at(instruction, "OpMemoryBarrier without an order, expected Acquire, Release or AcquireRelease");
            }
        }),
    },
    Rule {
        name: "order-needs-class",
        id: "VUID-StandaloneSpirv-MemorySemantics-10870",
        says: "a memory order comes with a storage class",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            if stated.orders(|s| s & VULKAN_ORDERS != 0 && s & CLASSES == 0) {
                found.at(
                    instruction,
                    "a memory order without UniformMemory, WorkgroupMemory, ImageMemory or OutputMemory",
                );
            }
        }),
    },
    Rule {
        name: "class-needs-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10871",
        says: "a storage class comes with a memory order",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            // A barrier without an order at all is told by its own rule.
            let barrier = instruction.op == Some(Op::MemoryBarrier);
            if !barrier && stated.orders(|s| s & ORDERS == 0 && s & CLASSES != 0) {
                found.at(
                    instruction,
                    "storage classes without a memory order, expected Acquire, Release or AcquireRelease",
                );
            }
        }),
    },
    Rule {
        name: "make-available-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10872",
        says: "MakeAvailable comes with Release or AcquireRelease",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            let wrong = |s: u32| s & MAKE_AVAILABLE != 0 && s & (RELEASE | ACQUIRE_RELEASE) == 0;
            if stated.orders(wrong) {
                found.at(instruction, "MakeAvailable without Release or AcquireRelease");
            }
        }),
    },
    Rule {
        name: "make-visible-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-10873",
        says: "MakeVisible comes with Acquire or AcquireRelease",
        severity: Severity::Error,
        on: On::Stated(ORDERED, |_, instruction, stated, found| {
            let wrong = |s: u32| s & MAKE_VISIBLE != 0 && s & (ACQUIRE | ACQUIRE_RELEASE) == 0;
            if stated.orders(wrong) {
                found.at(instruction, "MakeVisible without Acquire or AcquireRelease");
            }
        }),
    },
    Rule {
        name: "volatile-barrier",
        id: "VUID-StandaloneSpirv-MemorySemantics-13551",
        says: "barriers are not Volatile",
        severity: Severity::Error,
        on: On::Stated(
            &[Op::ControlBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT, Op::MemoryBarrier],
            |_, instruction, stated, found| {
                if stated.orders(|s| s & VOLATILE != 0) {
                    found.at(instruction, "a barrier with Volatile semantics");
                }
            },
        ),
    },
    Rule {
        name: "arrive-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-13556",
        says: "OpControlBarrierArriveEXT only releases",
        severity: Severity::Error,
        on: On::Stated(&[Op::ControlBarrierArriveEXT], |_, instruction, stated, found| {
            if stated.orders(|s| s & ORDERS & !RELEASE != 0) {
                found.at(instruction, "OpControlBarrierArriveEXT with another order than Release");
            }
        }),
    },
    Rule {
        name: "wait-order",
        id: "VUID-StandaloneSpirv-MemorySemantics-13557",
        says: "OpControlBarrierWaitEXT only acquires",
        severity: Severity::Error,
        on: On::Stated(&[Op::ControlBarrierWaitEXT], |_, instruction, stated, found| {
            if stated.orders(|s| s & ORDERS & !ACQUIRE != 0) {
                found.at(instruction, "OpControlBarrierWaitEXT with another order than Acquire");
            }
        }),
    },
    Rule {
        name: "unequal-release",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10875",
        says: "a failed compare-exchange does not release",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicCompareExchange], |_, instruction, stated, found| {
            if let [_, unequal] = stated.semantics[..]
                && unequal & (RELEASE | ACQUIRE_RELEASE) != 0
            {
                found.at(instruction, "unequal semantics that release, expected Acquire or relaxed");
            }
        }),
    },
    Rule {
        name: "unequal-strength",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10876",
        says: "a failed compare-exchange orders no stronger than a successful one",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicCompareExchange], |_, instruction, stated, found| {
            if let [equal, unequal] = stated.semantics[..] {
                // Unequal semantics that release are told by their own rule; of Acquire and Release neither is stronger.
                if unequal & RELEASE == 0 && strength(unequal) > strength(equal) {
                    found.at(instruction, "unequal semantics with a stronger order than the equal ones");
                }
            }
        }),
    },
    Rule {
        name: "unequal-classes",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10877",
        says: "a failed compare-exchange names no storage class that a successful one does not",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicCompareExchange], |_, instruction, stated, found| {
            if let [equal, unequal] = stated.semantics[..]
                && unequal & CLASSES & !equal != 0
            {
                found.at(instruction, "unequal semantics with a storage class that the equal ones lack");
            }
        }),
    },
    Rule {
        name: "unequal-visible",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10878",
        says: "a failed compare-exchange makes visible only if a successful one does",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicCompareExchange], |_, instruction, stated, found| {
            if let [equal, unequal] = stated.semantics[..]
                && unequal & MAKE_VISIBLE & !equal != 0
            {
                found.at(instruction, "unequal semantics with MakeVisible, which the equal ones lack");
            }
        }),
    },
    Rule {
        name: "unequal-volatile",
        id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10879",
        says: "both semantics of a compare-exchange are Volatile or neither is",
        severity: Severity::Error,
        on: On::Stated(&[Op::AtomicCompareExchange], |_, instruction, stated, found| {
            if let [equal, unequal] = stated.semantics[..]
                && (unequal ^ equal) & VOLATILE != 0
            {
                found.at(instruction, "Volatile in one of the two semantics only");
            }
        }),
    },
    Rule {
        name: "atomic-storage-class",
        id: "VUID-StandaloneSpirv-None-04686",
        says: "atomics point into Uniform, Workgroup, Image, StorageBuffer, PhysicalStorageBuffer or TaskPayloadWorkgroupEXT",
        severity: Severity::Error,
        on: On::Instructions(ATOMICS, |facts, instruction, found| {
            use StorageClass::{
                Image, PhysicalStorageBuffer, StorageBuffer, TaskPayloadWorkgroupEXT, Uniform, Workgroup,
            };
            let Some((class, _)) = facts.pointer(instruction.operand(0)) else { return };
            if !matches!(
                class,
                Uniform | Workgroup | Image | StorageBuffer | PhysicalStorageBuffer | TaskPayloadWorkgroupEXT
            ) {
                found.at(instruction, format!("an atomic on a pointer into {class}, where Vulkan has none"));
            }
        }),
    },
];
