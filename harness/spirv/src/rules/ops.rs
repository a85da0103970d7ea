//! Groups of instructions that several rules are about.

use crate::tables::Op;

/// Atomic instructions that combine what they find with an integer.
pub(super) const ATOMIC_INTEGERS: &[Op] = &[
    Op::AtomicIAdd,
    Op::AtomicISub,
    Op::AtomicSMin,
    Op::AtomicUMin,
    Op::AtomicSMax,
    Op::AtomicUMax,
    Op::AtomicAnd,
    Op::AtomicOr,
    Op::AtomicXor,
];

const OTHER_CHANGES: &[Op] = &[
    Op::AtomicStore,
    Op::AtomicExchange,
    Op::AtomicCompareExchange,
    Op::AtomicIIncrement,
    Op::AtomicIDecrement,
    Op::AtomicFAddEXT,
    Op::AtomicFMinEXT,
    Op::AtomicFMaxEXT,
];

/// Atomic instructions that may change what they point to.
pub(super) const ATOMIC_CHANGES: &[Op] =
    &joined::<{ ATOMIC_INTEGERS.len() + OTHER_CHANGES.len() }>(ATOMIC_INTEGERS, OTHER_CHANGES);

/// Atomic instructions, whose first operand after the result is a pointer.
pub(super) const ATOMICS: &[Op] = &joined::<{ 1 + ATOMIC_CHANGES.len() }>(&[Op::AtomicLoad], ATOMIC_CHANGES);

const BARRIERS: &[Op] =
    &[Op::ControlBarrier, Op::MemoryBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT];

/// Instructions with memory semantics.
pub(super) const ORDERED: &[Op] = &joined::<{ ATOMICS.len() + BARRIERS.len() }>(ATOMICS, BARRIERS);

/// The instructions of two groups; `N` is how many they are together.
pub(super) const fn joined<const N: usize>(some: &[Op], others: &[Op]) -> [Op; N] {
    let mut all = [Op::Nop; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < some.len() { some[i] } else { others[i - some.len()] };
        i += 1;
    }
    all
}
