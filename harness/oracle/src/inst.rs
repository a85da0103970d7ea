//! The interpreter's own instructions: registers of scalars, one column of lanes each.

use crate::error::Place;
use crate::ty::{Kind, Leaf};
use assay_spirv::kernel::HandleKind;
use assay_spirv::sampling::GatherMode;
use assay_spirv::tables::{Dim, Op, Scope};

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
    /// Of `width` bits, zero-extended or cut to the result's.
    ZeroExtend,
    /// Of `width` bits, sign-extended or cut to the result's.
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
    /// Sums that stay at the ends of the range.
    UAddSat,
    SAddSat,
    /// Sums and products that have no value where they do not fit; of the last product the first factor is signed, the second is not.
    UAddExact,
    SAddExact,
    UMulExact,
    SMulExact,
    SUMulExact,
    /// How many of so many bytes lie between two pointers.
    Apart,
    /// Undefined behaviour where the exact result does not fit.
    NoWrap(Arithmetic, Fits),
}

/// What may be decorated not to wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Neg,
    Add,
    Sub,
    Mul,
    Shl,
    Abs,
}

/// What the result of an operation fits: signed numbers (`NoSignedWrap`), unsigned ones (`NoUnsignedWrap`), or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fits {
    pub(crate) signed: bool,
    pub(crate) unsigned: bool,
}

/// An index of an access chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) index: Reg,
    pub(crate) width: u8,
    /// Bytes or registers from one element to the next; objects where it selects a descriptor.
    pub(crate) stride: u64,
    /// How many elements there are, where the type says so.
    pub(crate) count: Option<u64>,
}

/// The read, changed and written value of an atomic operation.
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
    /// What an atomic instruction does; an increment and a decrement add and subtract one. `None` of others.
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

/// Scopes and semantics of a barrier or an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The word of the memory scope.
    pub(crate) scope: u32,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    /// Whether it is one of these, but makes nothing available or visible, where that has to be said.
    pub(crate) partial: bool,
    /// Whether it orders buffers (`UniformMemory`), images and workgroup memory.
    pub(crate) buffers: bool,
    pub(crate) images: bool,
    pub(crate) workgroup: bool,
}

impl Order {
    /// Whether it orders memory at all, among the invocations of its scope.
    pub(crate) fn orders(self) -> bool {
        self.acquire || self.release || self.partial
    }

    /// Whether it orders memory among the invocations of a workgroup, or more.
    pub(crate) fn orders_group(self) -> bool {
        self.orders_device() || self.orders() && Scope::from_word(self.scope) == Some(Scope::Workgroup)
    }

    /// Whether it orders memory among the invocations of a subgroup only.
    pub(crate) fn is_of_subgroups(self) -> bool {
        self.orders() && Scope::from_word(self.scope) == Some(Scope::Subgroup)
    }

    /// Whether it orders memory beyond a workgroup.
    pub(crate) fn orders_device(self) -> bool {
        let far = [Scope::Device, Scope::QueueFamily, Scope::CrossDevice];
        self.orders() && Scope::from_word(self.scope).is_some_and(|scope| far.contains(&scope))
    }
}

/// Which other invocations of a subgroup count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// Those before it, and itself or not.
    Before {
        own: bool,
    },
    /// Those of its cluster of so many.
    Cluster(u32),
}

/// What values of a subgroup are folded with.
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
    /// No precision is stated.
    Measured,
}

/// What a subgroup does together.
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
    /// A shuffle whose index all have in common.
    ReadInvocation,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// In clusters of a size, or all of the subgroup.
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

/// What a subgroup instruction makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Makes {
    One,
    Ballot,
    /// The value of an invocation.
    Copy,
    /// Of the values of several, one like them.
    Value,
}

impl SubgroupOp {
    fn makes(self) -> Makes {
        match self {
            SubgroupOp::Elect | SubgroupOp::All | SubgroupOp::Any | SubgroupOp::AllEqual => Makes::One,
            SubgroupOp::InverseBallot | SubgroupOp::BallotBitExtract | SubgroupOp::BallotBitCount { .. } => Makes::One,
            SubgroupOp::BallotFindLsb | SubgroupOp::BallotFindMsb => Makes::One,
            SubgroupOp::Ballot => Makes::Ballot,
            SubgroupOp::Broadcast
            | SubgroupOp::BroadcastFirst
            | SubgroupOp::Shuffle
            | SubgroupOp::ReadInvocation
            | SubgroupOp::ShuffleXor
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::Rotate { .. }
            | SubgroupOp::QuadBroadcast
            | SubgroupOp::QuadSwap { .. } => Makes::Copy,
            SubgroupOp::Fold { .. } => Makes::Value,
        }
    }

    /// Scalars of its result, of a value of `n`.
    pub(crate) fn results(self, n: u32) -> u32 {
        match self.makes() {
            Makes::One => 1,
            Makes::Ballot => 4,
            Makes::Copy | Makes::Value => n,
        }
    }

    /// Whether it gives the value of an invocation.
    pub(crate) fn is_copy(self) -> bool {
        self.makes() == Makes::Copy
    }
}

/// What is asked of an image.
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

/// Which level of an image is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// The one that this level of detail means.
    Lod(Reg),
    /// It follows from derivatives, whose precision is not stated.
    Gradient,
}

/// What is added to the coordinates of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offsets {
    None,
    /// The same for every texel: register and how many.
    One(Reg, u32),
    /// `ConstOffsets`: x and y of each of four texels.
    Four(Reg),
}

/// How texels become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookUpKind {
    Sample(Level),
    Gather { component: Option<Reg>, mode: GatherMode },
}

/// Texels looked up through a sampler.
#[derive(Clone, Debug)]
pub(crate) struct LookUp {
    pub(crate) dst: Reg,
    pub(crate) n: u32,
    pub(crate) image: Reg,
    /// Floats; of arrays the last is the layer. Of cubes the first three are a direction.
    pub(crate) coordinates: (Reg, u32),
    pub(crate) arrayed: bool,
    /// What the coordinates and the reference are divided by.
    pub(crate) divisor: Option<Reg>,
    /// What texels are compared with.
    pub(crate) reference: Option<Reg>,
    pub(crate) offsets: Offsets,
    pub(crate) kind: LookUpKind,
}

/// An instruction. `n` counts scalars; registers of one value follow each other.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    /// `dst[i] = op(args[0][i], ..)`, each of `width` bits, the result cut to `out` bits. An argument whose bit is set in
    /// `scalar` is the same for every `i`. `relaxed`: the 32 bits of the operands may be 16 or more.
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
    /// `dst[i] = src[i]`. `load`: what nothing has written is noticed.
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
    /// Bits of `n` scalars of `from` bits as scalars of `to` bits, low first.
    Recast {
        dst: Reg,
        src: Reg,
        n: u32,
        from: u8,
        to: u8,
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
    /// Nothing has written these registers.
    Undef {
        dst: Reg,
        n: u32,
    },
    /// These registers of 32 bits may lose precision: `RelaxedPrecision`. What is in them is taken for that kind.
    Relax {
        kind: Kind,
        dst: Reg,
        n: u32,
    },
    /// Nothing is known of these registers that is more than one value: filtered texels of relaxed precision.
    Filtered {
        dst: Reg,
        n: u32,
    },
    /// Floats as operations of WGSL pass them on that need not keep all of them: see [`Program::of_wgsl`](crate::Program::of_wgsl).
    Pass {
        dst: Reg,
        n: u32,
        /// Whether zeros may come with either sign for certain.
        signs: bool,
    },
    /// These registers hold a constant.
    Set {
        dst: Reg,
        bits: Box<[u64]>,
    },
    /// A pointer: `base + constant + sum of the terms`.
    Chain {
        dst: Reg,
        base: Reg,
        constant: u64,
        terms: Box<[Term]>,
    },
    /// What pointers are compared by: the same for two that point at the same, whatever variables they came from.
    Location {
        dst: Reg,
        pointer: Reg,
    },
    /// From lane-local registers that a pointer names.
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
    /// From memory objects.
    Load {
        dst: Reg,
        pointer: Reg,
        leaves: Box<[Leaf]>,
        physical: Option<u32>,
        /// Whether it is private in the sense of the Vulkan memory model.
        private: bool,
    },
    Store {
        pointer: Reg,
        src: Reg,
        leaves: Box<[Leaf]>,
        physical: Option<u32>,
        private: bool,
    },
    /// The length of the run-time array that begins `offset` bytes behind the pointer.
    Length {
        dst: Reg,
        pointer: Reg,
        offset: u64,
        stride: u64,
    },
    Atomic {
        op: AtomicOp,
        kind: Kind,
        /// Of a sum of floats.
        site: Option<u32>,
        dst: Option<Reg>,
        pointer: Reg,
        args: [Reg; 2],
        order: Order,
        physical: bool,
    },
    /// `OpControlBarrier` of that execution scope.
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
    /// A texel: `n` scalars. `coordinates` has so many integers, the layer last; `level` where it is not the first.
    ImageRead {
        dst: Reg,
        n: u32,
        image: Reg,
        coordinates: (Reg, u32),
        level: Option<Reg>,
        /// Added to the coordinates: register and how many.
        offset: Option<(Reg, u32)>,
    },
    ImageWrite {
        image: Reg,
        coordinates: (Reg, u32),
        texel: (Reg, u32),
    },
    /// What a handle names; of images, a view of that dimensionality, of an array or not.
    Handle {
        dst: Reg,
        handle: Reg,
        kind: HandleKind,
        shape: Option<(Dim, bool)>,
    },
    /// An image together with a sampler of another descriptor.
    SampledImage {
        dst: Reg,
        image: Reg,
        sampler: Reg,
    },
    /// Texels looked up through a sampler.
    LookUp(Box<LookUp>),
    ImageQuery {
        dst: Reg,
        n: u32,
        image: Reg,
        query: ImageQuery,
    },
    /// A pointer to a texel.
    TexelPointer {
        dst: Reg,
        image: Reg,
        coordinates: (Reg, u32),
    },
    /// `value` has `n` scalars; `second` is an index or distance.
    Subgroup {
        op: SubgroupOp,
        dst: Reg,
        value: Reg,
        n: u32,
        second: Reg,
    },
    /// A floating-point operation: see [`crate::site::Site`].
    Float {
        site: u32,
        dst: Reg,
        args: Box<[Reg]>,
    },
}

/// A jump to a block of the function, with the phi values that it brings.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) block: u32,
    /// Destination, source, scalars.
    pub(crate) phis: Box<[(Reg, Reg, u32)]>,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Jump(Edge),
    If { condition: Reg, then: Edge, other: Edge },
    Switch { selector: Reg, cases: Box<[(u64, u32)]>, edges: Box<[Edge]> },
    Return { value: Option<Reg> },
    Unreachable,
}

/// A block; blocks of a function are in the order in which lanes that wait are served.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) code: std::ops::Range<u32>,
    pub(crate) end: End,
    /// The instruction that ends it.
    pub(crate) at: Place,
    /// The innermost construct around it, by its number in the function.
    pub(crate) construct: Option<u32>,
}

/// A construct of structured control flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Construct {
    /// The block at which it ends, unless nothing reaches that.
    pub(crate) merge: Option<u32>,
    /// The construct around it, by its number in the function.
    pub(crate) parent: Option<u32>,
    /// The block whose last instruction begins it, of a selection; a loop begins with the whole of its header.
    pub(crate) header: Option<u32>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) blocks: Vec<Block>,
    /// Its constructs, outer ones first.
    pub(crate) constructs: Vec<Construct>,
    /// Where its result goes.
    pub(crate) result: Reg,
    pub(crate) result_scalars: u32,
}

impl Function {
    /// Whether a block is inside a construct.
    pub(crate) fn is_inside(&self, block: u32, construct: u32) -> bool {
        let parent = |inner: &u32| self.constructs.get(*inner as usize).and_then(|inner| inner.parent);
        let innermost = self.blocks.get(block as usize).and_then(|block| block.construct);
        std::iter::successors(innermost, parent).any(|around| around == construct)
    }

    /// The innermost construct that was entered before a block was.
    pub(crate) fn entered_before(&self, block: u32) -> Option<u32> {
        let innermost = self.blocks.get(block as usize)?.construct?;
        match self.constructs.get(innermost as usize) {
            Some(construct) if construct.header == Some(block) => construct.parent,
            _ => Some(innermost),
        }
    }

    /// Whether a construct ends at a block.
    pub(crate) fn ends_at(&self, construct: u32, block: u32) -> bool {
        self.constructs.get(construct as usize).is_some_and(|construct| construct.merge == Some(block))
    }
}
