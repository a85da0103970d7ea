//! In which order invocations change what they share.

use assay_spirv::module::Index;
use std::collections::HashMap;
use std::sync::Arc;

/// Which order of atomic operations without order is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InvocationOrder {
    /// Any: what depends on it is not determined.
    #[default]
    Any,
    /// One that explains what atomic instructions found on a device. Whether there can have been such an order is looked at, too:
    /// [`Outcome::disorder`](crate::Outcome::disorder).
    Observed(Arc<Observed>),
    /// That in which they are interpreted: what one device might do.
    AsInterpreted,
}

/// What atomic instructions on integers found on a device in one dispatch, as a variant of the shader recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    executions: HashMap<(Index, u64), Vec<u64>>,
}

impl Observed {
    /// Takes in all executions of an instruction by an invocation, one after the other: the bits that each found, right-aligned.
    /// Invocations are counted by workgroups along x, then y, then z, and in these by local indices.
    pub fn insert(&mut self, instruction: Index, invocation: u64, bits: Vec<u64>) {
        self.executions.insert((instruction, invocation), bits);
    }

    /// What an instruction found when an invocation executed it for the `time`th time, from 0.
    pub(crate) fn get(&self, instruction: Index, invocation: u64, time: usize) -> Option<u64> {
        self.executions.get(&(instruction, invocation))?.get(time).copied()
    }
}
