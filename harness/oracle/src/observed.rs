//! What atomic instructions found on a device: an order of invocations that there was.

use assay_spirv::module::Index;
use std::collections::HashMap;

/// What atomic instructions on integers found on a device in one dispatch, and the values that they were given, as a variant of the shader
/// recorded it. With it ([`Dispatch::observed`](crate::Dispatch::observed)) what depends on the order of invocations is what it is in an
/// order that explains that, and whether there can have been one is looked at ([`Outcome::disorder`](crate::Outcome::disorder)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    executions: HashMap<(Index, u64), Vec<Execution>>,
}

/// One execution of an atomic instruction by an invocation. Bits are right-aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What it found.
    pub found: u64,
    /// Its operand Value, where that is recorded.
    pub given: Option<u64>,
}

impl Observed {
    /// Takes in all executions of an instruction by an invocation, one after the other. Invocations are counted by workgroups along x, then
    /// y, then z, and in these by local indices.
    pub fn insert(&mut self, instruction: Index, invocation: u64, executions: Vec<Execution>) {
        self.executions.insert((instruction, invocation), executions);
    }

    /// What is known of an instruction when an invocation executed it for the `time`th time, from 0.
    pub(crate) fn get(&self, instruction: Index, invocation: u64, time: usize) -> Option<Execution> {
        self.executions.get(&(instruction, invocation))?.get(time).copied()
    }
}
