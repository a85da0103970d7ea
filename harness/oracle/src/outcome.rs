//! Outcome of a run.

use crate::executed_blocks::ExecutedBlocks;
use crate::modification_order::AtomicStep;
use crate::{Place, Slot};
use assay_float::{Format, Rank, RankRange, Set};
use std::collections::BTreeMap;
use std::ops::Range;

/// Outcome of a run: memory as sets of permitted values, and the faults of the shader.
///
/// If there are faults, the shader has undefined behaviour for these inputs, and no result of a
/// device is wrong.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The bound buffers after the dispatch.
    pub memory: BTreeMap<Slot, Memory>,
    /// Undefined behaviour of the shader, in the order in which it was met.
    pub faults: Vec<Fault>,
    /// Number of faults, kept or not.
    pub fault_count: u64,
    /// Benign races, which [`Dispatch::benign_races`](crate::Dispatch::benign_races) permits: the
    /// first one of each instruction.
    pub benign_races: Vec<Fault>,
    /// End of the faulty accesses beyond each buffer and texel buffer, in bytes: the size with
    /// which these would be in bounds. An access by address counts for the last buffer that begins
    /// before it.
    pub reach: BTreeMap<Slot, u64>,
    /// Size of the first mip level with which the faulty accesses to each image would be in bounds,
    /// in texels along each axis. Accesses to other levels, to missing layers, and at negative
    /// coordinates do not count.
    pub image_reach: BTreeMap<Slot, [u32; 3]>,
    /// True if an access through a physical pointer may lie outside of all buffers, because its
    /// address is undetermined or because it is uncertain that the access is executed. A driver may
    /// crash on it.
    pub open_address: bool,
    /// Undefined behaviour that the shader may have, in the order in which it was met: each kind at
    /// each instruction once.
    pub possible_faults: Vec<PossibleFault>,
    /// The first branch or selection that an invocation certainly executed, and whose condition is computed
    /// from a value that was never written.
    pub uninitialized: Option<UninitializedDecision>,
    /// Causes of undetermined values, to which [`Expected::Undetermined`] refers. Some of them may
    /// affect no memory.
    pub causes: Vec<Cause>,
    /// Instructions executed, counted once for each invocation.
    pub instructions: u64,
    /// Work of all workgroups, each time that they were run, in the unit of
    /// [`Limits::work_per_group`](crate::Limits::work_per_group).
    pub work: u64,
    /// The executed code, for [`Program::coverage`](crate::Program::coverage).
    pub executed: ExecutedBlocks,
    /// Number of branches of which both sides were followed.
    pub forks: u64,
    /// Locations whose atomics have no modification order with the values that they found by
    /// [`AtomicOrder::Recorded`](crate::AtomicOrder::Recorded).
    pub disorder: Vec<Disorder>,
    /// Operands of atomics by [`AtomicOrder::Recorded`](crate::AtomicOrder::Recorded) that
    /// are not permitted.
    pub wrong_operands: Vec<WrongOperand>,
}

impl Outcome {
    /// Returns true if a value is undetermined because it depends on the order of invocations.
    pub fn depends_on_order(&self) -> bool {
        self.causes.iter().any(|cause| cause.kind == CauseKind::Order)
    }

    /// Returns true if a value is undetermined because it depends on the subgroup layout.
    pub fn depends_on_layout(&self) -> bool {
        self.causes.iter().any(|cause| cause.kind == CauseKind::SubgroupLayout)
    }
}

/// A branch or selection that depends on `OpUndef` or on unwritten memory: on any value, which no rule forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UninitializedDecision {
    /// The branch or `OpSelect`.
    pub branch: Place,
    /// The instruction that read the value; that of the branch for `OpUndef`.
    pub value: Place,
}

/// Atomics whose recorded values have no modification order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The first of the atomics.
    pub at: Place,
    /// The buffer or image; `None` of workgroup memory.
    pub slot: Option<Slot>,
    /// Offset in bytes.
    pub offset: u64,
    /// Width in bits.
    pub width: u32,
    /// The value before all of them.
    pub first: u64,
    /// The values that they found and left.
    pub steps: Vec<AtomicStep>,
    /// Values of the atomic stores.
    pub stores: Vec<u64>,
}

/// A recorded operand of an atomic instruction that is not permitted.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongOperand {
    /// The instruction.
    pub at: Place,
    /// The invocation, as [`AtomicHistory::insert`](crate::AtomicHistory::insert) counts them.
    pub invocation: u64,
    /// The buffer or image that it accessed; `None` of workgroup memory.
    pub slot: Option<Slot>,
    /// Offset in bytes.
    pub offset: u64,
    /// Width in bits.
    pub width: u32,
    /// Value that it found.
    pub found: u64,
    /// Operand that it received.
    pub bits: u64,
    /// Permitted operands.
    pub expected: Expected,
    /// True if a lenient reading permits it.
    pub standing: Standing,
}

/// Memory after a dispatch: its bytes, and the permitted sets of values that are not determined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cells: Vec<Cell>,
    /// The bytes that some invocation wrote or may have written, ascending.
    pub(crate) written: Vec<Range<usize>>,
    /// Set if not all workgroups were run: bytes that these did not write are undetermined.
    pub(crate) partial: bool,
}

/// A value in memory with more than one permitted bit pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Offset of its first byte.
    pub offset: u64,
    /// Width in bits: 8, 16, 32 or 64.
    pub width: u32,
    /// The permitted set in the usual reading.
    pub expected: Expected,
    /// The permitted set in the lenient reading, if it is larger.
    pub lenient: Option<Box<Expected>>,
}

/// Permitted contents of memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// These bits.
    Exact(u64),
    /// One of these bit patterns (ascending).
    OneOf(Vec<u64>),
    /// A float of this set.
    Float {
        /// Its format.
        format: Format,
        /// The set.
        set: Set,
    },
    /// Undetermined; the number is an index into [`Outcome::causes`].
    Undetermined(u32),
}

/// Relation of a bit pattern to a permitted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Permitted.
    Within,
    /// Permitted in the lenient reading only.
    Lenient,
    /// Not permitted.
    Outside,
    /// Undetermined; the number, if there is one, is an index into [`Outcome::causes`].
    Open(Option<u32>),
}

impl Expected {
    /// Compares bits with this set and with the set of the lenient reading.
    pub fn judge(&self, lenient: Option<&Expected>, bits: u64) -> Standing {
        match (self, self.permits(bits)) {
            (_, Some(true)) => Standing::Within,
            (Expected::Undetermined(cause), _) => Standing::Open(Some(*cause)),
            (_, None) => Standing::Open(None),
            (_, Some(false)) => match lenient.map(|lenient| lenient.judge(None, bits)) {
                Some(Standing::Within | Standing::Lenient) => Standing::Lenient,
                Some(Standing::Outside) | None => Standing::Outside,
                // A reading that requires nothing neither permits nor refuses.
                Some(open @ Standing::Open(_)) => open,
            },
        }
    }

    /// Returns true if a value of this width can be wrong: some pattern is not permitted, and the
    /// lenient reading does not leave it undetermined.
    pub fn can_be_wrong(&self, lenient: Option<&Expected>, width: u32) -> bool {
        self.excludes_some(width) && !lenient.is_some_and(Expected::is_open)
    }

    /// Returns true if the value is undetermined, or any pattern is permitted.
    pub fn is_open(&self) -> bool {
        match self {
            Expected::Exact(_) | Expected::OneOf(_) => false,
            Expected::Float { set, .. } => set.is_anything(),
            Expected::Undetermined(_) => true,
        }
    }

    /// Returns true if the set permits a factor of two, or another sign: it has more normal numbers
    /// than there are from one power of two to the next.
    pub fn is_wide(&self) -> bool {
        let Expected::Float { format, set } = self else { return false };
        let normal = format.min_normal();
        let numbers = |lo: Rank, hi: Rank| hi.saturating_sub(lo).saturating_add(1).max(0);
        let both = |r: &RankRange| numbers(r.lo.max(normal), r.hi).saturating_add(numbers(r.lo, r.hi.min(-normal)));
        set.ranges().iter().map(both).fold(0, Rank::saturating_add) > normal
    }

    fn excludes_some(&self, width: u32) -> bool {
        match self {
            Expected::Exact(_) => true,
            // No list is as long as there are patterns of more bits.
            Expected::OneOf(patterns) => width > 32 || (patterns.len() as u64) < 1 << width,
            Expected::Float { format, set } => {
                // The ranks past the largest finite numbers are NaNs in a format without
                // infinities.
                let (lo, hi) = match format.has_infinity() {
                    true => (format.neg_infinity(), format.infinity()),
                    false => (format.neg_infinity() + 1, format.max_finite()),
                };
                let every_number = || set.ranges().iter().any(|range| range.lo <= lo && hi <= range.hi);
                !(set.is_anything() || set.has_nan() && every_number())
            }
            Expected::Undetermined(_) => false,
        }
    }

    /// Returns true if the bits are permitted; `None` if the value is undetermined.
    pub fn permits(&self, bits: u64) -> Option<bool> {
        match self {
            Expected::Exact(exact) => Some(*exact == bits),
            Expected::OneOf(patterns) => Some(patterns.contains(&bits)),
            Expected::Float { set, .. } if set.is_anything() => None,
            Expected::Float { format, set } => Some(set.contains(*format, bits)),
            Expected::Undetermined(_) => None,
        }
    }
}

impl Memory {
    /// The bytes. Inside a [`Cell`] they are one permitted value, or zero where none is known.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns true if the contents of these bytes are known: all workgroups were run, or those
    /// that were run ([`Dispatch::only`](crate::Dispatch::only)) have written all of the bytes.
    pub fn is_known(&self, offset: u64, size: u64) -> bool {
        if !self.partial {
            return true;
        }
        let after = self.written.partition_point(|range| range.start as u64 <= offset);
        let range = after.checked_sub(1).map(|at| &self.written[at]);
        range.is_some_and(|range| offset + size <= range.end as u64)
    }

    /// Returns true if an invocation wrote or may have written any of these bytes. A store of the
    /// value that was there is a write. Memory with unknown content counts as written.
    pub fn is_written(&self, offset: u64, size: u64) -> bool {
        let at = self.written.partition_point(|range| range.end as u64 <= offset);
        self.written.get(at).is_some_and(|range| (range.start as u64) < offset + size)
    }

    /// Returns the end of the last byte that an invocation wrote or may have written; zero if there
    /// is none.
    pub fn written_end(&self) -> u64 {
        self.written.last().map_or(0, |range| range.end as u64)
    }

    /// The values with more than one permitted pattern, by offset, none overlapping another.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cell that covers a byte, if one does.
    pub fn cell_at(&self, offset: u64) -> Option<&Cell> {
        let after = self.cells.partition_point(|cell| cell.offset <= offset);
        let cell = self.cells.get(after.checked_sub(1)?)?;
        (offset < cell.offset + u64::from(cell.width / 8)).then_some(cell)
    }
}

/// Undefined behaviour of the shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Instruction at which it occurs.
    pub at: Place,
    /// The invocation, by its global id.
    pub invocation: [u32; 3],
    /// Memory that it accesses; `None` if that is not known, or no memory is accessed.
    pub memory: Option<FaultMemory>,
    /// Details in words: index and bound, the other invocation of a race, and so on.
    pub detail: String,
    /// Instruction that made the undefined value on which a decision depends, if it is known.
    pub undefined: Option<Place>,
    /// Of a data race, if this access writes and if the other one does.
    pub writes: Option<[bool; 2]>,
    /// The indices of all accesses at this place, if the first is beyond an array of fixed length.
    pub indices: Option<IndicesBeyond>,
}

/// Indices beyond an array of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndicesBeyond {
    /// Smallest index.
    pub smallest: i64,
    /// Largest index.
    pub largest: i64,
    /// Number of elements of the array.
    pub length: u64,
}

impl IndicesBeyond {
    /// Returns whether each index is that of the element after the last, or each that before the first.
    pub fn are_off_by_one(&self) -> bool {
        let IndicesBeyond { smallest, largest, length } = *self;
        smallest == largest && (largest == -1 || u64::try_from(largest) == Ok(length))
    }

    /// Includes other indices.
    pub fn widen(&mut self, other: IndicesBeyond) {
        (self.smallest, self.largest) = (self.smallest.min(other.smallest), self.largest.max(other.largest));
    }
}

impl Fault {
    /// End of the details of a race for which a barrier lacks the semantics of the memory.
    pub(crate) const ORDERS_OTHER_MEMORY: &str = "the barrier between the two orders accesses to other memory alone";

    /// Returns whether it is a race between two accesses with a barrier that orders accesses to other
    /// memory alone.
    pub fn lacks_semantics(&self) -> bool {
        self.kind == FaultKind::DataRace && self.detail.ends_with(Fault::ORDERS_OTHER_MEMORY)
    }
}

/// Undefined behaviour that a shader may have: it is uncertain that the instruction is executed, its
/// operands are undetermined, or the code from there on was not interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PossibleFault {
    /// Kind of fault; `None` for code that was not interpreted, which may have any.
    pub kind: Option<FaultKind>,
    /// The instruction, or the first one that was not interpreted.
    pub at: Place,
}

/// Memory of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultMemory {
    /// A byte of a buffer or image, counted from its beginning.
    Binding(Slot, i64),
    /// Workgroup memory.
    Workgroup,
    /// The push constants.
    Push,
}

/// Kinds of undefined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// An access beyond a buffer, array, vector or matrix.
    OutOfBounds,
    /// Two invocations access the same memory, one of them writing, without synchronisation.
    DataRace,
    /// An unwritten value decides a branch or an address.
    Uninitialized,
    /// An integer division or remainder by zero, or of the least value by -1.
    Division,
    /// An integer operation decorated `NoSignedWrap` or `NoUnsignedWrap` wraps.
    Wrap,
    /// A float that does not fit the integer that it is converted to.
    Conversion,
    /// A barrier that not all invocations of its scope reach together.
    DivergentBarrier,
    /// More blocks executed than the limit allows.
    Endless,
    /// A loop that never ends: a state of the workgroup repeats.
    Repetition,
    /// `OpUnreachable` was reached.
    Unreachable,
    /// A value that is undefined by the rules (poison, a shift too far, ..) decides a branch or an
    /// address.
    UndefinedDecision,
    /// A physical pointer that is not aligned as its access states or does not point into a buffer,
    /// or the difference of pointers into different arrays.
    Pointer,
    /// A handle without an object, or for an image of another dimensionality
    /// (`SPV_INTEL_bindless_images`).
    Handle,
    /// A run-time rule of the specification; the detail names its VUID.
    Rule,
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FaultKind::OutOfBounds => "out of bounds",
            FaultKind::DataRace => "data race",
            FaultKind::Uninitialized => "a branch or index depends on an uninitialised value",
            FaultKind::Division => "integer division",
            FaultKind::Wrap => "integer wrap",
            FaultKind::Conversion => "conversion out of range",
            FaultKind::DivergentBarrier => "barrier in divergent control flow",
            FaultKind::Endless | FaultKind::Repetition => "endless loop",
            FaultKind::Unreachable => "OpUnreachable reached",
            FaultKind::UndefinedDecision => "a branch or index depends on an undefined value",
            FaultKind::Pointer => "bad pointer",
            FaultKind::Handle => "undefined handle",
            FaultKind::Rule => "rule violated",
        })
    }
}

/// The cause of an undetermined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause {
    /// Kind of cause.
    pub kind: CauseKind,
    /// The instruction at which the value became undetermined.
    pub at: Place,
}

/// Kinds of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CauseKind {
    /// The value is undefined by the rules of the instruction: a shift too far, a bit field beyond
    /// its word, poison.
    Unspecified,
    /// The specification requires nothing of this floating-point result, for all or some of the
    /// permitted operands: no stated precision, outside the domain, a NaN or an infinity that is
    /// assumed not to occur.
    NoRequirement,
    /// `OpUndef`, or unwritten memory.
    Uninitialized,
    /// It depends on the order of invocations, as the results of atomics may.
    Order,
    /// It depends on the layout of invocations in subgroups, or on the size of subgroups.
    SubgroupLayout,
    /// It depends on where invocations of a subgroup that diverged reconverge.
    Reconvergence,
    /// It depends on an access beyond the end of a buffer or image, whose effect robustness leaves
    /// open.
    Robustness,
    /// It comes after undefined behaviour of the shader.
    Fault,
    /// The rules determine a set that this interpreter does not compute.
    Precision,
    /// An undecided branch whose alternatives exceed the budget.
    Budget,
    /// The time limit of the interpretation ([`Limits::time`](crate::Limits::time)).
    Time,
    /// A possible data race, which atomics or barriers may or may not exclude.
    PossibleRace,
    /// Atomics by which workgroups that were not run may influence it.
    Sample,
}

impl CauseKind {
    /// Returns true if the specification leaves the value open, rather than a limit of this
    /// interpreter.
    pub fn is_of_the_text(self) -> bool {
        match self {
            CauseKind::Unspecified
            | CauseKind::NoRequirement
            | CauseKind::Uninitialized
            | CauseKind::Robustness
            | CauseKind::Fault => true,
            CauseKind::Order
            | CauseKind::SubgroupLayout
            | CauseKind::Reconvergence
            | CauseKind::Precision
            | CauseKind::Budget
            | CauseKind::Time
            | CauseKind::PossibleRace
            | CauseKind::Sample => false,
        }
    }
}

impl std::fmt::Display for CauseKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CauseKind::Unspecified => "an undefined value",
            CauseKind::NoRequirement => {
                "the specification places no requirement on this result for some permitted operands"
            }
            CauseKind::Uninitialized => "this value was never written",
            CauseKind::Order => "depends on the order of invocations",
            CauseKind::SubgroupLayout => "depends on the subgroup layout, which is unknown",
            CauseKind::Reconvergence => "depends on where diverged invocations reconverge",
            CauseKind::Robustness => "robustness leaves the result of an out-of-bounds access open",
            CauseKind::Fault => "follows undefined behaviour of the shader",
            CauseKind::Precision => {
                "several results are permitted, and Assay does not track them through this instruction"
            }
            CauseKind::Budget => "depends on an undecided branch with more alternatives than Assay follows",
            CauseKind::Time => "was not interpreted within the time limit, which --patience raises",
            CauseKind::PossibleRace => {
                "a possible data race: Assay does not follow the order that atomics or barriers may give"
            }
            CauseKind::Sample => "depends on invocations outside the interpreted subset",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lenient_reading_that_requires_nothing_leaves_a_value_open() {
        let usual = Expected::Exact(1);
        let also = Expected::OneOf(vec![1, 2]);
        let nothing = Expected::Undetermined(3);
        assert_eq!(usual.judge(Some(&also), 1), Standing::Within);
        assert_eq!(usual.judge(Some(&also), 2), Standing::Lenient);
        assert_eq!(usual.judge(Some(&also), 4), Standing::Outside);
        assert_eq!(usual.judge(None, 2), Standing::Outside);
        assert_eq!(usual.judge(Some(&nothing), 2), Standing::Open(Some(3)));
        assert_eq!(nothing.judge(None, 2), Standing::Open(Some(3)));
        let anything = Expected::Float { format: assay_float::F32, set: Set::anything() };
        assert_eq!(usual.judge(Some(&anything), 2), Standing::Open(None));
        assert_eq!(anything.judge(Some(&usual), 1), Standing::Open(None));
    }

    #[test]
    fn only_a_set_that_excludes_a_pattern_can_be_missed() {
        let float = |format: Format, set: Set| Expected::Float { format, set };
        let full = |format: Format| match format.has_infinity() {
            true => Set::range(format.neg_infinity(), format.infinity()),
            false => Set::range(format.neg_infinity() + 1, format.max_finite()),
        };
        let with_nan = |mut set: Set| {
            set.insert_nan();
            set
        };
        for format in [assay_float::F32, assay_float::F8_E4M3] {
            let width = format.width;
            assert!(float(format, full(format)).can_be_wrong(None, width));
            assert!(!float(format, with_nan(full(format))).can_be_wrong(None, width));
            assert!(!float(format, Set::anything()).can_be_wrong(None, width));
            assert!(float(format, with_nan(Set::range(-1, 0))).can_be_wrong(None, width));
        }
        assert!(Expected::Exact(0).can_be_wrong(None, 8) && !Expected::Undetermined(0).can_be_wrong(None, 8));
        assert!(!Expected::OneOf((0..256).collect()).can_be_wrong(None, 8));
        assert!(Expected::OneOf((0..255).collect()).can_be_wrong(None, 8));
        assert!(Expected::OneOf((0..256).collect()).can_be_wrong(None, 64));
        assert!(!Expected::Exact(0).can_be_wrong(Some(&Expected::Undetermined(0)), 8));
    }

    #[test]
    fn bytes_that_were_written_are_told_from_others() {
        let memory = Memory { bytes: vec![0; 16], written: vec![4..8, 10..11], ..Memory::default() };
        let written: Vec<u64> = (0..16).filter(|byte| memory.is_written(*byte, 1)).collect();
        assert_eq!(written, [4, 5, 6, 7, 10]);
        assert!(memory.is_written(0, 5) && memory.is_written(8, 4) && !memory.is_written(0, 4));
        assert!(memory.is_known(0, 16));
        let partial = Memory { partial: true, ..memory };
        assert!(partial.is_known(4, 4) && !partial.is_known(4, 5) && !partial.is_known(0, 4));
    }
}
