//! Atomic histories: the values that atomic instructions found on a device.

use assay_spirv::module::InstructionIndex;
use std::collections::HashMap;
use std::sync::Arc;

/// Order of the atomics that the invocations of a dispatch execute without order among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AtomicOrder {
    /// Each order that the memory model permits. Results that depend on it are undetermined.
    #[default]
    Any,
    /// An order that explains the atomic history of one run.
    Recorded(Arc<AtomicHistory>),
    /// For atomics on integers, the order in which the oracle interprets them, which the memory model
    /// permits: that of one possible device.
    Interpreted,
}

/// The atomic history of one dispatch: the values that atomic instructions on integers found, and
/// their operands, as an instrumented shader recorded them.
///
/// With it ([`AtomicOrder::Recorded`]), results that depend on the order of invocations are those of
/// an order that explains the history. The oracle also checks that there is one ([`Outcome::disorder`](crate::Outcome::disorder)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtomicHistory {
    executions: HashMap<(InstructionIndex, u64), Vec<AtomicExecution>>,
}

/// One execution of an atomic instruction by an invocation. Bits are right-aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicExecution {
    /// The bits that it found.
    pub found: u64,
    /// Its operand Value, if that is recorded.
    pub operand: Option<u64>,
}

impl AtomicHistory {
    /// Sets all executions of an instruction by an invocation, in order. Invocations are numbered
    /// by workgroups along x, then y, then z, and within a workgroup by local indices.
    pub fn insert(&mut self, instruction: InstructionIndex, invocation: u64, executions: Vec<AtomicExecution>) {
        self.executions.insert((instruction, invocation), executions);
    }

    /// The execution number `time`, from 0, of an instruction by an invocation.
    pub(crate) fn get(&self, instruction: InstructionIndex, invocation: u64, time: usize) -> Option<AtomicExecution> {
        self.executions.get(&(instruction, invocation))?.get(time).copied()
    }
}
