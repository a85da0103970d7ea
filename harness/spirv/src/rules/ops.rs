//! Groups of instructions that several rules are about.

use crate::tables::Op;

/// Opcodes and execution modes from here on are those of extensions, which may change what the core says of them.
pub(super) const FIRST_OF_EXTENSIONS: u32 = 4096;

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

/// Samples whose level of detail is implicit.
pub(super) const IMPLICIT_LOD: &[Op] = &[
    Op::ImageSampleImplicitLod,
    Op::ImageSampleDrefImplicitLod,
    Op::ImageSampleProjImplicitLod,
    Op::ImageSampleProjDrefImplicitLod,
    Op::ImageSparseSampleImplicitLod,
    Op::ImageSparseSampleDrefImplicitLod,
    Op::ImageSparseSampleProjImplicitLod,
    Op::ImageSparseSampleProjDrefImplicitLod,
];

/// Samples whose level of detail is an operand.
pub(super) const EXPLICIT_LOD: &[Op] = &[
    Op::ImageSampleExplicitLod,
    Op::ImageSampleDrefExplicitLod,
    Op::ImageSampleProjExplicitLod,
    Op::ImageSampleProjDrefExplicitLod,
    Op::ImageSparseSampleExplicitLod,
    Op::ImageSparseSampleDrefExplicitLod,
    Op::ImageSparseSampleProjExplicitLod,
    Op::ImageSparseSampleProjDrefExplicitLod,
];

/// Gathers.
pub(crate) const GATHERS: &[Op] =
    &[Op::ImageGather, Op::ImageDrefGather, Op::ImageSparseGather, Op::ImageSparseDrefGather, Op::ImageGatherQCOM];

/// Fetches, reads and writes of texels.
pub(super) const TEXELS: &[Op] =
    &[Op::ImageFetch, Op::ImageSparseFetch, Op::ImageRead, Op::ImageSparseRead, Op::ImageWrite];

/// Instructions that take image operands, behind an image or a sampled image.
pub(super) const WITH_IMAGE_OPERANDS: &[Op] =
    &joined::<{ IMPLICIT_LOD.len() + EXPLICIT_LOD.len() + GATHERS.len() + TEXELS.len() }>(
        &joined::<{ IMPLICIT_LOD.len() + EXPLICIT_LOD.len() }>(IMPLICIT_LOD, EXPLICIT_LOD),
        &joined::<{ GATHERS.len() + TEXELS.len() }>(GATHERS, TEXELS),
    );

/// Instructions that access the texels of an image.
pub(super) const IMAGE_ACCESSES: &[Op] =
    &joined::<{ WITH_IMAGE_OPERANDS.len() + 1 }>(WITH_IMAGE_OPERANDS, &[Op::ImageTexelPointer]);

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
