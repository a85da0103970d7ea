//! Counters of work, which the limits of a run are compared with.

use assay_precision::Effort;

/// Units of work in a microsecond.
const WORK_PER_MICROSECOND: u64 = 1 << 6;

/// Units of work between two checks of the time limit.
const WORK_BETWEEN_TIME_CHECKS: u64 = 1 << 12;

/// Units of work of a register that is copied and joined again.
const COPY_WORK: u64 = 2;

/// Estimated time of a set extension, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtensionTime {
    /// With [`Effort::Search`].
    pub(super) search: u64,
    /// With [`Effort::Enclose`].
    pub(super) enclosure: u64,
    /// With [`Effort::Cover`].
    pub(super) cover: u64,
}

impl ExtensionTime {
    /// Time in which a formula is bounded with the expressions of its operands. The length of a vector of three
    /// components takes this long; shorter formulas take a tenth.
    pub(super) const REARRANGEMENT: ExtensionTime = ExtensionTime { search: 100, enclosure: 100, cover: 100 };

    /// Returns the time over several boxes of operand parts for each effort.
    pub(super) fn over(self, boxes: impl Fn(Effort) -> u64) -> ExtensionTime {
        ExtensionTime {
            search: self.search.saturating_mul(boxes(Effort::Search)),
            enclosure: self.enclosure.saturating_mul(boxes(Effort::Enclose)),
            cover: self.cover.saturating_mul(boxes(Effort::Cover)),
        }
    }
}

/// Shares of [`Limits::searches`](crate::Limits::searches) that covers may take: they are what is
/// left before a result becomes undetermined.
const COVER_SHARES: u64 = 8;

/// Work of a run.
#[derive(Debug, Default)]
pub(crate) struct WorkCounters {
    /// Instructions, counted once for each invocation.
    pub(crate) instructions: u64,
    /// Set if a workgroup counted as endless. That is a fault, after which the others need not run.
    pub(crate) endless: bool,
    /// Work of the current workgroup.
    pub(crate) group: GroupWork,
    /// Units of the workgroups before this one.
    earlier: u64,
}

/// Work of a workgroup.
#[derive(Debug, Default)]
pub(crate) struct GroupWork {
    /// Faults of the workgroups before this one.
    pub(crate) earlier_faults: u64,
    /// Executed blocks.
    pub(crate) blocks: u64,
    /// Blocks that were executed for invocations which took both sides of a branch.
    pub(crate) undecided_blocks: u64,
    /// Branches that the order of atomics decides.
    pub(crate) decided_by_order: u64,
    /// Units of work; see [`Limits::work_per_group`](crate::Limits::work_per_group).
    pub(crate) units: u64,
    /// Registers copied for invocations that take both sides of a branch. They count as work of the
    /// run only: a workgroup is not given up for them.
    pub(crate) copied: u64,
    /// Estimated time of searches, enclosures and covers over sets, in microseconds.
    extensions: [u64; 3],
    /// Number of formulas that were evaluated for known operands.
    pub(crate) evaluations: u64,
    /// Total at which the time limit is to be checked again.
    next_time_check: u64,
}

impl GroupWork {
    /// Returns the units of the workgroup, with those of copies and of set extensions.
    pub(super) fn total(&self) -> u64 {
        self.units + COPY_WORK * self.copied + self.extensions.iter().sum::<u64>() * WORK_PER_MICROSECOND
    }

    /// Returns true now and then, for a check of the time limit: the clock takes as long as a small block.
    pub(super) fn is_time_check_due(&mut self) -> bool {
        let total = self.total();
        let is_due = total >= self.next_time_check;
        if is_due {
            self.next_time_check = total + WORK_BETWEEN_TIME_CHECKS;
        }
        is_due
    }

    /// Returns the greatest effort that the limit leaves for a set extension, and counts its time;
    /// `None` if the limit is used up.
    ///
    /// `share` is the limit of a workgroup in milliseconds
    /// ([`Limits::searches`](crate::Limits::searches)). Searches may take one share, enclosures
    /// another, and covers [`COVER_SHARES`].
    pub(super) fn effort(&mut self, time: ExtensionTime, share: u64) -> Option<Effort> {
        let efforts = [
            (Effort::Search, time.search, 1),
            (Effort::Enclose, time.enclosure, 1),
            (Effort::Cover, time.cover, COVER_SHARES),
        ];
        for ((effort, time, shares), spent) in efforts.into_iter().zip(&mut self.extensions) {
            if *spent + time <= share.saturating_mul(1000 * shares) {
                *spent += time;
                return Some(effort);
            }
        }
        None
    }
}

impl WorkCounters {
    /// Begins a workgroup after a number of faults.
    pub(super) fn begin_group(&mut self, earlier_faults: u64) {
        self.earlier = self.total();
        self.group = GroupWork { earlier_faults, ..GroupWork::default() };
    }

    /// Adds units of work that no workgroup of this run did.
    pub(super) fn add_units(&mut self, units: u64) {
        self.earlier += units;
    }

    /// Adds the work of a run of other workgroups.
    pub(super) fn add(&mut self, other: &WorkCounters) {
        self.endless |= other.endless;
        self.instructions += other.instructions;
        self.earlier += other.total();
    }

    /// Returns the units of all workgroups, with those of set extensions.
    pub(super) fn total(&self) -> u64 {
        self.earlier + self.group.total()
    }
}
