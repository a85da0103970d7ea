//! Groups of opcodes that several rules refer to.

use assay_spirv::tables::Op;

/// First opcode and execution mode of extensions, which may change requirements of the core
/// specification.
pub(super) const FIRST_EXTENSION_NUMBER: u32 = 4096;

/// Atomic read-modify-write instructions with an integer operand.
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

const OTHER_ATOMIC_WRITES: &[Op] = &[
    Op::AtomicStore,
    Op::AtomicExchange,
    Op::AtomicCompareExchange,
    Op::AtomicIIncrement,
    Op::AtomicIDecrement,
    Op::AtomicFAddEXT,
    Op::AtomicFMinEXT,
    Op::AtomicFMaxEXT,
];

/// Atomic instructions that may modify memory.
pub(super) const ATOMIC_WRITES: &[Op] =
    &joined::<{ ATOMIC_INTEGERS.len() + OTHER_ATOMIC_WRITES.len() }>(ATOMIC_INTEGERS, OTHER_ATOMIC_WRITES);

/// Atomic instructions. Their first operand after the result is a pointer.
pub(super) const ATOMICS: &[Op] = &joined::<{ 1 + ATOMIC_WRITES.len() }>(&[Op::AtomicLoad], ATOMIC_WRITES);

const BARRIERS: &[Op] =
    &[Op::ControlBarrier, Op::MemoryBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT];

/// Instructions with memory semantics.
pub(super) const WITH_MEMORY_SEMANTICS: &[Op] = &joined::<{ ATOMICS.len() + BARRIERS.len() }>(ATOMICS, BARRIERS);

/// Sampling instructions with an implicit level of detail.
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

/// Sampling instructions with an explicit level of detail.
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

/// Gather instructions.
pub(crate) const GATHERS: &[Op] =
    &[Op::ImageGather, Op::ImageDrefGather, Op::ImageSparseGather, Op::ImageSparseDrefGather, Op::ImageGatherQCOM];

/// Texel fetches, reads and writes.
pub(super) const TEXELS: &[Op] =
    &[Op::ImageFetch, Op::ImageSparseFetch, Op::ImageRead, Op::ImageSparseRead, Op::ImageWrite];

/// Instructions with image operands. Their first operand is an image or a sampled image.
pub(super) const WITH_IMAGE_OPERANDS: &[Op] =
    &joined::<{ IMPLICIT_LOD.len() + EXPLICIT_LOD.len() + GATHERS.len() + TEXELS.len() }>(
        &joined::<{ IMPLICIT_LOD.len() + EXPLICIT_LOD.len() }>(IMPLICIT_LOD, EXPLICIT_LOD),
        &joined::<{ GATHERS.len() + TEXELS.len() }>(GATHERS, TEXELS),
    );

/// Instructions that access the texels of an image.
pub(super) const IMAGE_ACCESSES: &[Op] =
    &joined::<{ WITH_IMAGE_OPERANDS.len() + 1 }>(WITH_IMAGE_OPERANDS, &[Op::ImageTexelPointer]);

/// Concatenates two groups. `N` is the total number of opcodes.
pub(super) const fn joined<const N: usize>(some: &[Op], others: &[Op]) -> [Op; N] {
    let mut all = [Op::Nop; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < some.len() { some[i] } else { others[i - some.len()] };
        i += 1;
    }
    all
}
