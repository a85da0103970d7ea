//! Counters of work, which the limits of a run are compared with.

/// Units of work in a millisecond, the unit of the cost of searches.
const SEARCH_WORK: u64 = 1 << 16;

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
    /// Executed blocks.
    pub(crate) blocks: u64,
    /// Blocks that were executed for invocations which took both sides of a branch.
    pub(crate) undecided_blocks: u64,
    /// Branches that the order of atomics decides.
    pub(crate) decided_by_order: u64,
    /// Units of work; see [`Limits::work_per_group`](crate::Limits::work_per_group).
    pub(crate) units: u64,
    /// Cost of searches over sets; see [`Limits::searches`](crate::Limits::searches).
    pub(crate) searches: u64,
    /// Cost of the enclosures in their place.
    pub(crate) enclosures: u64,
    /// Number of formulas that were evaluated for known operands.
    pub(crate) evaluations: u64,
}

impl WorkCounters {
    /// Begins a workgroup.
    pub(super) fn begin_group(&mut self) {
        self.earlier = self.total();
        self.group = GroupWork::default();
    }

    /// Adds the work of a run of other workgroups.
    pub(super) fn add(&mut self, other: &WorkCounters) {
        self.endless |= other.endless;
        self.instructions += other.instructions;
        self.earlier += other.total();
    }

    /// Returns the units of all workgroups, with those of searches and enclosures.
    pub(super) fn total(&self) -> u64 {
        let GroupWork { units, searches, enclosures, .. } = self.group;
        self.earlier + units + (searches + enclosures) * SEARCH_WORK
    }
}
