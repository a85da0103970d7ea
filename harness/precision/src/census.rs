//! Checking many results at once, and counting what comes out.

use crate::{Call, FailureClass, Verdict};
use std::collections::BTreeMap;

/// One slot of many invocations, in the layout of the device's buffers.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Scalars of up to 32 bits, right-aligned in a word each.
    Words(&'a [u32]),
    /// 64-bit scalars.
    Wide(&'a [u64]),
}

impl Column<'_> {
    /// The bits of one invocation.
    pub fn get(self, index: usize) -> u64 {
        match self {
            Column::Words(words) => u64::from(words[index]),
            Column::Wide(words) => words[index],
        }
    }

    /// How many invocations.
    pub fn len(self) -> usize {
        match self {
            Column::Words(words) => words.len(),
            Column::Wide(words) => words.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One result with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Bits of all operand slots.
    pub operands: Vec<u64>,
    /// The result slot.
    pub slot: usize,
    /// The bits that the device returned there.
    pub got: u64,
    /// Error over bound, if it is a number.
    pub margin: Option<f64>,
}

/// What came out of checking many results: every one counted, the worst and the first few of each class kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// Invocations checked.
    pub inputs: u64,
    /// Result scalars by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Inputs (not scalars) with at least one failing scalar.
    pub failing_inputs: u64,
    /// Inputs with at least one quality warning and no failure.
    pub warning_inputs: u64,
    /// Failing and warning scalars by class.
    pub classes: BTreeMap<(Verdict, FailureClass), u64>,
    /// The worst of each class, at most [`Census::EXAMPLES`] each, worst first.
    pub examples: BTreeMap<(Verdict, FailureClass), Vec<Sample>>,
    /// The result with the greatest margin.
    pub worst: Option<Sample>,
}

impl Census {
    /// How many examples of a class are kept.
    pub const EXAMPLES: usize = 8;

    /// Adds what another part of the same case found.
    pub fn merge(&mut self, other: &Census) {
        let _ = other;
        todo!()
    }
}

/// Checks results of one call in bulk. Cheap to share between threads.
#[derive(Debug)]
pub struct Checker {
    call: Call,
}

impl Checker {
    /// A checker for one call.
    pub fn new(call: Call) -> Checker {
        Checker { call }
    }

    /// The call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Checks every invocation: one column per operand slot, one per result slot, all of the same length.
    ///
    /// # Panics
    /// If the numbers or lengths of the columns are wrong.
    pub fn check(&self, operands: &[Column<'_>], results: &[Column<'_>], census: &mut Census) {
        let _ = (operands, results, census);
        todo!()
    }
}
