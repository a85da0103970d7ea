//! Diagnostics of a run: causes and faults.

use crate::error::Place;
use crate::outcome::{
    Cause, CauseKind, Fault, FaultKind, FaultMemory, IndicesBeyond, PossibleFault, UninitializedDecision,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The cause of memory that was neither written nor read yet.
pub(crate) const UNREAD: u32 = u32::MAX;

/// The causes and faults of a run.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) causes: Vec<Cause>,
    numbers: HashMap<Cause, u32>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) fault_count: u64,
    /// The first benign race of each instruction, up to the limit of faults.
    pub(crate) benign_races: Vec<Fault>,
    /// End of the accesses beyond each memory object, in bytes.
    pub(crate) reach: BTreeMap<usize, u64>,
    /// Size of the first mip level of each image that holds the accesses beyond it, in texels.
    pub(crate) image_reach: BTreeMap<usize, [u32; 3]>,
    /// Set if an access through a physical pointer may lie outside of all buffers.
    pub(crate) open_address: bool,
    /// As [`Outcome::uninitialized`](crate::Outcome::uninitialized).
    pub(crate) uninitialized: Option<UninitializedDecision>,
    /// Undefined behaviour of lanes that may not execute the instruction, or whose operands are
    /// undetermined.
    pub(crate) possible_faults: Vec<PossibleFault>,
    known_possible: HashSet<PossibleFault>,
    /// Kinds and places of the kept faults.
    kept: HashSet<(FaultKind, Place)>,
}

impl Log {
    /// The number of a cause.
    pub(crate) fn cause(&mut self, kind: CauseKind, at: Place) -> u32 {
        let cause = Cause { kind, at };
        *self.numbers.entry(cause).or_insert_with(|| {
            self.causes.push(cause);
            self.causes.len() as u32 - 1
        })
    }

    /// The kind of the cause with this number.
    pub(crate) fn kind(&self, cause: u32) -> CauseKind {
        self.causes.get(cause as usize).map_or(CauseKind::Uninitialized, |cause| cause.kind)
    }

    /// Merges the diagnostics of workgroups that ran concurrently and come after these. `before` is
    /// the number of faults that they started with. Returns the numbers of their causes in this
    /// log.
    pub(crate) fn join(&mut self, other: Log, before: u64, limit: usize) -> Vec<u32> {
        self.fault_count += other.fault_count - before;
        for fault in other.faults {
            if let Some(indices) = fault.indices.filter(|_| self.kept.contains(&(fault.kind, fault.at))) {
                self.note_indices(fault.kind, fault.at, indices);
            } else if self.faults.len() < limit && self.kept.insert((fault.kind, fault.at)) {
                self.faults.push(fault);
            }
        }
        for race in other.benign_races {
            if self.keeps_benign(race.at, limit) {
                self.benign_races.push(race);
            }
        }
        other.reach.into_iter().for_each(|(object, end)| self.note_reach(object, end));
        other.image_reach.into_iter().for_each(|(object, size)| self.note_image_reach(object, size));
        self.open_address |= other.open_address;
        self.uninitialized = self.uninitialized.or(other.uninitialized);
        other.possible_faults.into_iter().for_each(|fault| self.note_possible_fault(fault));
        other.causes.iter().map(|cause| self.cause(cause.kind, cause.at)).collect()
    }

    /// Notes a branch whose condition has a cause, if that is a value that was never written.
    pub(crate) fn note_decision(&mut self, branch: Place, cause: u32) {
        if self.uninitialized.is_none() && self.kind(cause) == CauseKind::Uninitialized {
            // `OpUndef` has no place.
            let value = self.causes.get(cause as usize).map_or(branch, |cause| cause.at);
            self.uninitialized = Some(UninitializedDecision { branch, value });
        }
    }

    /// Notes undefined behaviour that the shader may have.
    pub(crate) fn note_possible_fault(&mut self, fault: PossibleFault) {
        if self.known_possible.insert(fault) {
            self.possible_faults.push(fault);
        }
    }

    /// Notes the end of an access beyond a memory object.
    pub(crate) fn note_reach(&mut self, object: usize, end: u64) {
        let known = self.reach.entry(object).or_default();
        *known = (*known).max(end);
    }

    /// Notes the size of an image that holds an access beyond it.
    pub(crate) fn note_image_reach(&mut self, object: usize, size: [u32; 3]) {
        let known = self.image_reach.entry(object).or_default();
        *known = std::array::from_fn(|axis| known[axis].max(size[axis]));
    }

    /// Counts a fault. The first one of a kind at a place is kept, up to `limit`.
    pub(crate) fn fault(
        &mut self,
        kind: FaultKind,
        at: Place,
        invocation: [u32; 3],
        limit: usize,
        (memory, detail): (Option<FaultMemory>, impl FnOnce() -> String),
    ) {
        self.fault_count += 1;
        if self.keeps(kind, at, limit) {
            self.kept.insert((kind, at));
            let detail = detail();
            let (undefined, writes, indices) = (None, None, None);
            self.faults.push(Fault { kind, at, invocation, memory, detail, undefined, writes, indices });
        }
    }

    /// Notes indices beyond an array at the place of a kept fault.
    pub(crate) fn note_indices(&mut self, kind: FaultKind, at: Place, indices: IndicesBeyond) {
        if let Some(fault) = self.faults.iter_mut().find(|fault| fault.kind == kind && fault.at == at) {
            fault.indices.get_or_insert(indices).widen(indices);
        }
    }

    /// True if the next benign race at a place is kept.
    pub(crate) fn keeps_benign(&self, at: Place, limit: usize) -> bool {
        self.benign_races.len() < limit && self.benign_races.iter().all(|race| race.at != at)
    }

    /// True if the next fault of a kind at a place is kept.
    pub(crate) fn keeps(&self, kind: FaultKind, at: Place, limit: usize) -> bool {
        self.faults.len() < limit && !self.kept.contains(&(kind, at))
    }
}
