//! Permitted results, verdicts and derivations of a call.

use crate::{
    Call, Environment, OperandRegion, Specification, call_rule,
    classify::{FailureClass, classify},
    derivation::{Derivation, Step},
    relaxed,
    result_slot::{self, ResultSlot},
    undefined_operands,
};
use assay_float::Set;

/// Permitted results of an instruction for concrete operands, for one result scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// The usual reading of the text.
    pub usual: Set,
    /// The lenient reading, a superset, if the row has two readings.
    pub lenient: Option<Lenient>,
}

/// A lenient reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lenient {
    /// Permitted set.
    pub set: Set,
    /// The doubt, in words.
    pub doubt: &'static str,
}

/// Verdict on a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing is required, so that the result is not checked.
    Unchecked,
    /// In the permitted set.
    Pass,
    /// Outside the usual reading, within a lenient one.
    QualityWarning,
    /// Outside every reading.
    Fail,
}

/// The verdict on one result scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Error divided by the permitted error: 0 is exact, 1 the limit, more is a failure. Infinite
    /// if no error is permitted (a "correct result") and there is one. `None` if the result is
    /// unchecked or is not a number.
    pub margin: Option<f64>,
    /// Class of the failure, for `QualityWarning` and `Fail`.
    pub class: Option<FailureClass>,
}

/// Permitted set of one result scalar, with its derivation.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Infinitely precise result in decimal, or a statement in its place ("not defined").
    pub exact: String,
    /// The rule in words, from the table.
    pub rule: String,
    /// Anchor of the clause in the text of the specification.
    pub clause: &'static str,
    /// Steps from the exact value to the set.
    pub steps: Vec<Step>,
    /// Permitted set.
    pub permitted: Permitted,
    /// Verdict on the given result, if there is one.
    pub judgement: Option<Judgement>,
}

impl Call {
    /// Returns true if the *behaviour* is defined for the operands. It is undefined for a
    /// conversion from float to integer out of range; such operands must never be sent to a device.
    pub fn is_defined(&self, operands: &[u64]) -> bool {
        if self.specification == Specification::Wgsl {
            // WGSL has no undefined behaviour in expressions: an undefined value is an
            // indeterminate value.
            return true;
        }
        let result = self.results[0].scalar;
        let mut slots = self.operand_slots().zip(operands);
        slots.all(|(operand, &bits)| !undefined_operands::is_undefined_behaviour(self.op, result, operand, bits))
    }

    /// Prepares the call for many evaluations.
    pub fn reference(&self) -> Reference {
        Reference { slots: result_slot::slots(self) }
    }

    /// Permitted results for these operands, for each result slot.
    ///
    /// # Panics
    /// Panics unless the number of operand scalars is that of [`Call::operand_slots`].
    pub fn permitted(&self, operands: &[u64]) -> Vec<Permitted> {
        let reference = self.reference();
        (0..reference.slots.len()).map(|slot| reference.permitted(slot, operands)).collect()
    }

    /// Verdict on the bits that a device returned, for each result slot.
    ///
    /// # Panics
    /// As [`Call::permitted`], for operands and results.
    pub fn judge(&self, operands: &[u64], got: &[u64]) -> Vec<Judgement> {
        let reference = self.reference();
        got.iter().enumerate().map(|(slot, &bits)| reference.judge(slot, operands, bits)).collect()
    }

    /// Derivation of the set for each result slot, with the verdict on `got` if it is given.
    ///
    /// # Panics
    /// As [`Call::judge`].
    pub fn explain(&self, operands: &[u64], got: Option<&[u64]>) -> Vec<Explanation> {
        let reference = self.reference();
        (0..reference.slots.len())
            .map(|slot| {
                let derivation = Derivation::recording();
                let outcome = reference.slots[slot].evaluate(operands, None, false, &derivation);
                let without = || reference.slots[slot].without_exact_value(&outcome.set).to_owned();
                Explanation {
                    exact: outcome.exact.unwrap_or_else(without),
                    rule: self.rule(),
                    clause: self.clause(),
                    steps: derivation.into_steps(),
                    permitted: reference.permitted(slot, operands),
                    judgement: got.map(|got| reference.judge(slot, operands, got[slot])),
                }
            })
            .collect()
    }

    /// Rule in words, from the table, with the effect of `RelaxedPrecision`.
    pub fn rule(&self) -> String {
        let words = call_rule::words(self);
        match self.reference().slots.first() {
            Some(slot) if slot.relaxed => format!("{words}; RelaxedPrecision: {}", relaxed::words(slot)),
            _ => words,
        }
    }
}

/// Call that is prepared for many evaluations.
#[derive(Clone, Debug)]
pub struct Reference {
    pub(crate) slots: Vec<ResultSlot>,
}

impl Reference {
    /// Environment in which this result slot is evaluated, in the usual reading.
    pub fn environment(&self, slot: usize) -> Environment {
        self.slots[slot].env
    }

    /// Permitted results in a result slot for these operands.
    ///
    /// # Panics
    /// Panics if there are fewer operand scalars than [`Call::operand_slots`] lists.
    pub fn permitted(&self, slot: usize, operands: &[u64]) -> Permitted {
        let usual = self.slots[slot].evaluate(operands, None, false, &Derivation::disabled()).set;
        let lenient = self.lenient(slot, operands).filter(|l| l.set != usual);
        Permitted { usual, lenient }
    }

    /// The lenient reading, even if it permits no more than the usual one.
    fn lenient(&self, slot: usize, operands: &[u64]) -> Option<Lenient> {
        let part = &self.slots[slot];
        if let Some((other, doubt)) = part.lenient_slot() {
            let outcome = other.evaluate(operands, None, true, &Derivation::disabled());
            return Some(Lenient { set: outcome.set, doubt: outcome.doubt.unwrap_or(doubt) });
        }
        let outcome = part.evaluate(operands, None, true, &Derivation::disabled());
        Some(Lenient { set: outcome.set, doubt: outcome.doubt? })
    }

    /// Region of the operands that a result slot depends on.
    ///
    /// # Panics
    /// As [`Reference::permitted`].
    pub fn operand_region(&self, slot: usize, operands: &[u64]) -> OperandRegion {
        OperandRegion::of(self.slots[slot].inputs.iter().map(|&(at, scalar)| (scalar, operands[at])))
    }

    /// Verdict on the bits that a device returned in a result slot.
    ///
    /// # Panics
    /// As [`Reference::permitted`].
    pub fn judge(&self, slot: usize, operands: &[u64], got: u64) -> Judgement {
        let part = &self.slots[slot];
        let outcome = part.evaluate(operands, Some(got), false, &Derivation::disabled());
        if outcome.set.is_anything() {
            return Judgement { verdict: Verdict::Unchecked, margin: None, class: None };
        }
        if part.holds(&outcome.set, got) {
            return Judgement { verdict: Verdict::Pass, margin: outcome.margin, class: None };
        }
        let class = Some(classify(part, operands, &outcome.set, got));
        let warned = self.lenient(slot, operands).is_some_and(|l| part.holds(&l.set, got));
        let verdict = if warned { Verdict::QualityWarning } else { Verdict::Fail };
        Judgement { verdict, margin: outcome.margin, class }
    }
}
