//! Instruction set of the interpreter. Registers hold scalars, one column of lanes each.

use crate::ty::{Kind, Leaf};
use assay_spirv::kernel_call::HandleKind;
use assay_spirv::tables::{Dim, Op, Scope};
use assay_texture::GatherMode;

/// A register: one scalar of a value, for every lane.
pub(crate) type Reg = u32;

/// An operation on integers and booleans: a function of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    Neg,
    Not,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Sar,
    Eq,
    Ne,
    ULt,
    ULe,
    UGt,
    UGe,
    SLt,
    SLe,
    SGt,
    SGe,
    BitInsert,
    BitSExtract,
    BitUExtract,
    BitReverse,
    BitCount,
    Carry,
    Borrow,
    UMulHigh,
    SMulHigh,
    /// Zero-extends from `width` bits, or truncates to the result's width.
    ZeroExtend,
    /// Sign-extends from `width` bits, or truncates to the result's width.
    SignExtend,
    SAbs,
    SSign,
    UMin,
    UMax,
    SMin,
    SMax,
    UClamp,
    SClamp,
    FindILsb,
    FindSMsb,
    FindUMsb,
    /// Saturating sums.
    UAddSat,
    SAddSat,
    /// Sums and products that have no value if the result does not fit. The first factor of the
    /// last product is signed, the second is not.
    UAddExact,
    SAddExact,
    UMulExact,
    SMulExact,
    SUMulExact,
    /// Distance of two pointers in units of a number of bytes.
    Apart,
    /// An operation with undefined behaviour if the exact result does not fit.
    NoWrap(Arithmetic, WrapDecorations),
}

/// The operations that may be decorated not to wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Neg,
    Add,
    Sub,
    Mul,
    Shl,
    Abs,
}

/// The ranges that the result must fit: signed numbers (`NoSignedWrap`), unsigned numbers
/// (`NoUnsignedWrap`), or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WrapDecorations {
    pub(crate) signed: bool,
    pub(crate) unsigned: bool,
}

/// An index of an access chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) index: Reg,
    pub(crate) width: u8,
    /// Distance of two elements in bytes or registers; in objects if the index selects a
    /// descriptor.
    pub(crate) stride: u64,
    /// Number of elements, if the type states it.
    pub(crate) count: Option<u64>,
    /// Set for device addresses, which are 64-bit numbers.
    pub(crate) address: bool,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Add,
    Sub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
}

impl AtomicOp {
    /// The operation of an atomic instruction; increments and decrements add and subtract one.
    /// `None` for other instructions.
    pub(crate) fn of(op: Op) -> Option<AtomicOp> {
        Some(match op {
            Op::AtomicLoad => AtomicOp::Load,
            Op::AtomicStore => AtomicOp::Store,
            Op::AtomicExchange => AtomicOp::Exchange,
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => AtomicOp::CompareExchange,
            Op::AtomicIIncrement | Op::AtomicIAdd => AtomicOp::Add,
            Op::AtomicIDecrement | Op::AtomicISub => AtomicOp::Sub,
            Op::AtomicSMin => AtomicOp::SMin,
            Op::AtomicUMin => AtomicOp::UMin,
            Op::AtomicSMax => AtomicOp::SMax,
            Op::AtomicUMax => AtomicOp::UMax,
            Op::AtomicAnd => AtomicOp::And,
            Op::AtomicOr => AtomicOp::Or,
            Op::AtomicXor => AtomicOp::Xor,
            Op::AtomicFAddEXT => AtomicOp::FAdd,
            Op::AtomicFMinEXT => AtomicOp::FMin,
            Op::AtomicFMaxEXT => AtomicOp::FMax,
            _ => return None,
        })
    }
}

/// Scope and semantics of a barrier or an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The word of the memory scope.
    pub(crate) scope: u32,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    /// Set for acquire or release semantics without making memory available or visible, where the
    /// memory model requires the module to ask for that.
    pub(crate) partial: bool,
    /// Set if buffers (`UniformMemory`), images and workgroup memory, respectively, are ordered.
    pub(crate) buffers: bool,
    pub(crate) images: bool,
    pub(crate) workgroup: bool,
}

impl Order {
    /// Returns true if it orders memory at all, among the invocations of its scope.
    pub(crate) fn orders(self) -> bool {
        self.acquire || self.release || self.partial
    }

    /// Returns true if it orders memory among the invocations of a workgroup, or more.
    pub(crate) fn orders_group(self) -> bool {
        self.orders_device() || self.orders() && Scope::from_word(self.scope) == Some(Scope::Workgroup)
    }

    /// Returns true if it orders memory among the invocations of a subgroup only.
    pub(crate) fn is_of_subgroups(self) -> bool {
        self.orders() && Scope::from_word(self.scope) == Some(Scope::Subgroup)
    }

    /// Returns true if it orders memory beyond a workgroup.
    pub(crate) fn orders_device(self) -> bool {
        let far = [Scope::Device, Scope::QueueFamily, Scope::CrossDevice];
        self.orders() && Scope::from_word(self.scope).is_some_and(|scope| far.contains(&scope))
    }
}

/// The other invocations of a subgroup that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// The invocations before it, and itself if `own` is set.
    Before {
        own: bool,
    },
    /// The invocations of its cluster of this size.
    Cluster(u32),
}

/// The operation that folds the values of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Add,
    Mul,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FMin,
    FMax,
    /// An operation without a stated precision.
    Measured,
}

/// A subgroup operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubgroupOp {
    Elect,
    All,
    Any,
    AllEqual,
    Broadcast,
    BroadcastFirst,
    Ballot,
    InverseBallot,
    BallotBitExtract,
    BallotBitCount {
        reach: Reach,
    },
    BallotFindLsb,
    BallotFindMsb,
    Shuffle,
    /// A shuffle with an index that all invocations must share.
    ReadInvocation,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// Rotation in clusters of a size, or of the whole subgroup.
    Rotate {
        cluster: Option<u32>,
    },
    QuadBroadcast,
    QuadSwap {
        direction: u32,
    },
    Fold {
        fold: Fold,
        reach: Reach,
    },
}

/// The kind of result of a subgroup instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubgroupResultKind {
    One,
    Ballot,
    /// The value of one invocation.
    Copy,
    /// A value computed from those of several invocations, of their type.
    Value,
}

impl SubgroupOp {
    fn result_kind(self) -> SubgroupResultKind {
        match self {
            SubgroupOp::Elect | SubgroupOp::All | SubgroupOp::Any | SubgroupOp::AllEqual => SubgroupResultKind::One,
            SubgroupOp::InverseBallot | SubgroupOp::BallotBitExtract | SubgroupOp::BallotBitCount { .. } => {
                SubgroupResultKind::One
            }
            SubgroupOp::BallotFindLsb | SubgroupOp::BallotFindMsb => SubgroupResultKind::One,
            SubgroupOp::Ballot => SubgroupResultKind::Ballot,
            SubgroupOp::Broadcast
            | SubgroupOp::BroadcastFirst
            | SubgroupOp::Shuffle
            | SubgroupOp::ReadInvocation
            | SubgroupOp::ShuffleXor
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::Rotate { .. }
            | SubgroupOp::QuadBroadcast
            | SubgroupOp::QuadSwap { .. } => SubgroupResultKind::Copy,
            SubgroupOp::Fold { .. } => SubgroupResultKind::Value,
        }
    }

    /// Number of scalars of the result for a value of `n` scalars.
    pub(crate) fn results(self, n: u32) -> u32 {
        match self.result_kind() {
            SubgroupResultKind::One => 1,
            SubgroupResultKind::Ballot => 4,
            SubgroupResultKind::Copy | SubgroupResultKind::Value => n,
        }
    }

    /// Returns true if the result is the value of one invocation.
    pub(crate) fn is_copy(self) -> bool {
        self.result_kind() == SubgroupResultKind::Copy
    }
}

/// Image operands of an access to a texel without a sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TexelOperands {
    /// Absent for the first level.
    pub(crate) level: Option<Reg>,
    /// Added to the coordinates: first register and number of registers.
    pub(crate) offset: Option<(Reg, u32)>,
    /// Present if the image is multisampled.
    pub(crate) sample: Option<Reg>,
}

impl TexelOperands {
    /// The ranges of registers that it names.
    pub(crate) fn registers(&self) -> impl Iterator<Item = (Reg, u32)> {
        let single = self.level.into_iter().chain(self.sample).map(|reg| (reg, 1));
        single.chain(self.offset)
    }
}

/// A query of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageQuery {
    /// Its size at a level, or at the first one.
    Size {
        lod: Option<Reg>,
        arrayed: bool,
    },
    Levels,
    Samples,
}

/// The level of an image that is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// The level given by this level of detail.
    Lod(Reg),
    /// Given by derivatives, whose precision is not stated.
    Gradient,
}

/// The offset added to the coordinates of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offsets {
    None,
    /// Value of every texel: first register, and number of registers.
    One(Reg, u32),
    /// `ConstOffsets`: x and y of each of four texels.
    Four(Reg),
}

/// The way in which texels become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookUpKind {
    Sample(Level),
    Gather { component: Option<Reg>, mode: GatherMode },
}

/// A lookup of texels through a sampler.
#[derive(Clone, Debug)]
pub(crate) struct LookUp {
    pub(crate) dst: Reg,
    pub(crate) n: u32,
    pub(crate) image: Reg,
    /// First register and number of floats. For arrays the last is the layer; for cubes the first
    /// three are a direction.
    pub(crate) coordinates: (Reg, u32),
    pub(crate) arrayed: bool,
    /// The divisor of the coordinates and the reference.
    pub(crate) divisor: Option<Reg>,
    /// The reference of a depth comparison.
    pub(crate) reference: Option<Reg>,
    pub(crate) offsets: Offsets,
    pub(crate) kind: LookUpKind,
}

/// An instruction. `n` counts scalars. The registers of one value are consecutive.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    /// `dst[i] = op(args[0][i], ..)`, each operand of `width` bits, the result truncated to `out`
    /// bits. An argument whose bit is set in `scalar` is the same for every `i`. `relaxed`: the
    /// operation may use any width from 16 to 32 bits.
    Int {
        op: IntOp,
        width: u8,
        out: u8,
        n: u16,
        dst: Reg,
        args: [Reg; 4],
        scalar: u8,
        relaxed: bool,
    },
    /// `dst[i] = src[i]`. `load`: unwritten memory gets its cause here.
    Copy {
        dst: Reg,
        src: Reg,
        n: u32,
        load: bool,
    },
    /// `dst[i] = cond[i * step] ? a[i] : b[i]`.
    Select {
        dst: Reg,
        cond: Reg,
        step: u32,
        a: Reg,
        b: Reg,
        n: u32,
    },
    /// Reinterprets `n` scalars of `from` bits as scalars of `to` bits, low bits first. `cast`: an
    /// `OpBitcast`, which by the letter of the text need not keep all floats; see
    /// [`Copies::Assume`](crate::Copies::Assume).
    Recast {
        dst: Reg,
        src: Reg,
        n: u32,
        from: u8,
        to: u8,
        cast: bool,
    },
    /// `dst = src[index]`.
    Extract {
        dst: Reg,
        src: Reg,
        n: u32,
        index: Reg,
    },
    /// `dst[i] = i == index ? value : src[i]`.
    Insert {
        dst: Reg,
        src: Reg,
        n: u32,
        value: Reg,
        index: Reg,
    },
    /// Makes the registers uninitialised.
    Undef {
        dst: Reg,
        n: u32,
    },
    /// Lets 32-bit registers, interpreted as `kind`, lose precision: `RelaxedPrecision`.
    Relax {
        kind: Kind,
        dst: Reg,
        n: u32,
    },
    /// Makes registers with more than one possible value unknown: filtered texels of relaxed
    /// precision.
    Filtered {
        dst: Reg,
        n: u32,
    },
    /// Applies the rules for floats that operations of WGSL pass on and need not preserve: see
    /// [`Program::of_wgsl`](crate::Program::of_wgsl).
    Pass {
        dst: Reg,
        n: u32,
        /// Set if zeros may take either sign in both readings.
        signs: bool,
    },
    /// Sets registers to a constant.
    Set {
        dst: Reg,
        bits: Box<[u64]>,
    },
    /// Computes a pointer: `base + constant + sum of the terms`.
    Chain {
        dst: Reg,
        base: Reg,
        constant: u64,
        terms: Box<[Term]>,
    },
    /// The canonical form of a pointer for comparisons: equal for pointers to one location,
    /// whatever variables they came from.
    Location {
        dst: Reg,
        pointer: Reg,
    },
    /// Loads from lane-local registers that a pointer names.
    LocalLoad {
        dst: Reg,
        pointer: Reg,
        n: u32,
    },
    LocalStore {
        pointer: Reg,
        src: Reg,
        n: u32,
    },
    /// Loads from memory objects.
    Load {
        dst: Reg,
        pointer: Reg,
        leaves: Box<[Leaf]>,
        physical: Option<u32>,
        /// Set if the access is private in the sense of the Vulkan memory model.
        private: bool,
    },
    Store {
        pointer: Reg,
        src: Reg,
        leaves: Box<[Leaf]>,
        physical: Option<u32>,
        private: bool,
    },
    /// The length of the run-time array that begins `offset` bytes after the pointer.
    Length {
        dst: Reg,
        pointer: Reg,
        offset: u64,
        stride: u64,
    },
    Atomic {
        op: AtomicOp,
        kind: Kind,
        /// The floating-point instruction of a sum of floats.
        float_op: Option<u32>,
        dst: Option<Reg>,
        pointer: Reg,
        args: [Reg; 2],
        order: Order,
        physical: bool,
        /// Set for an operation on integers that may use any width from 16 to 32 bits.
        relaxed: bool,
    },
    /// `OpControlBarrier` with this execution scope.
    Barrier {
        scope: u32,
        order: Order,
    },
    /// `OpAssumeTrueKHR`.
    Assume {
        condition: Reg,
    },
    /// `OpMemoryBarrier`.
    Fence {
        order: Order,
    },
    Call {
        function: u32,
        args: Box<[(Reg, Reg, u32)]>,
    },
    /// Reads a texel of `n` scalars. `coordinates`: first register and number of integers, the
    /// layer last.
    ImageRead {
        dst: Reg,
        n: u32,
        image: Reg,
        coordinates: (Reg, u32),
        operands: TexelOperands,
    },
    /// Writes a texel. `sample`: present if the image is multisampled.
    ImageWrite {
        image: Reg,
        coordinates: (Reg, u32),
        texel: (Reg, u32),
        sample: Option<Reg>,
    },
    /// The object that a handle names. `shape`: for images, the dimensionality of the view, and
    /// true if it is arrayed.
    Handle {
        dst: Reg,
        handle: Reg,
        kind: HandleKind,
        shape: Option<(Dim, bool)>,
    },
    /// Combines an image with a sampler of another descriptor.
    SampledImage {
        dst: Reg,
        image: Reg,
        sampler: Reg,
    },
    /// Looks up texels through a sampler.
    LookUp(Box<LookUp>),
    ImageQuery {
        dst: Reg,
        n: u32,
        image: Reg,
        query: ImageQuery,
    },
    /// A pointer to a texel. `sample`: present if the image is multisampled.
    TexelPointer {
        dst: Reg,
        image: Reg,
        coordinates: (Reg, u32),
        sample: Option<Reg>,
    },
    /// A subgroup operation. `value` has `n` scalars; `second` is an index or distance.
    Subgroup {
        op: SubgroupOp,
        dst: Reg,
        value: Reg,
        n: u32,
        second: Reg,
    },
    /// A floating-point operation; see [`crate::float_op::FloatOp`].
    Float {
        float_op: u32,
        dst: Reg,
        args: Box<[Reg]>,
    },
}

impl Inst {
    /// Number of scalars that the instruction copies for each lane.
    pub(crate) fn copied_scalars(&self) -> u64 {
        match self {
            Inst::Copy { n, .. }
            | Inst::Select { n, .. }
            | Inst::Insert { n, .. }
            | Inst::Undef { n, .. }
            | Inst::LocalLoad { n, .. }
            | Inst::LocalStore { n, .. } => u64::from(*n),
            Inst::Set { bits, .. } => bits.len() as u64,
            Inst::Load { leaves, .. } | Inst::Store { leaves, .. } => leaves.len() as u64,
            _ => 0,
        }
    }
}
