//! Causes and faults.

use crate::error::Place;
use crate::outcome::{Cause, CauseKind, Fault, FaultKind};
use std::collections::{HashMap, HashSet};

/// The cause of what nothing has written and nobody has read yet.
pub(crate) const UNREAD: u32 = u32::MAX;

/// What is remembered of a run beside memory.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) causes: Vec<Cause>,
    numbers: HashMap<Cause, u32>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) fault_count: u64,
    /// Kinds and places of which a fault is kept.
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

    /// What kind of cause a number is.
    pub(crate) fn kind(&self, cause: u32) -> CauseKind {
        self.causes.get(cause as usize).map_or(CauseKind::Uninitialized, |cause| cause.kind)
    }

    /// Takes in what is remembered of workgroups that ran apart and come after these. `before` is how many faults they began with.
    /// Gives the numbers here of their causes.
    pub(crate) fn join(&mut self, other: Log, before: u64, limit: usize) -> Vec<u32> {
        self.fault_count += other.fault_count - before;
        for fault in other.faults {
            if self.faults.len() < limit && self.kept.insert((fault.kind, fault.at)) {
                self.faults.push(fault);
            }
        }
        other.causes.iter().map(|cause| self.cause(cause.kind, cause.at)).collect()
    }

    /// Notes a fault; the first of a kind at a place is kept in words.
    pub(crate) fn fault(
        &mut self,
        kind: FaultKind,
        at: Place,
        invocation: [u32; 3],
        limit: usize,
        detail: impl FnOnce() -> String,
    ) {
        self.fault_count += 1;
        if self.faults.len() < limit && self.kept.insert((kind, at)) {
            self.faults.push(Fault { kind, at, invocation, detail: detail() });
        }
    }
}
