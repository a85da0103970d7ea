//! One instruction on concrete types in a concrete environment.

use crate::{
    Environment, Modes, Op, Rules, Scalar, Type,
    classify::classify,
    domain,
    evaluate::{self, Slot},
    table::{self, Accuracy},
    trace::Trace,
};
use assay_float::Set;
use std::fmt;

/// One instruction on concrete types, with the floating-point environment that its module declares.
///
/// Operands and results are flat lists of scalars ("slots"): the components of all operands in order, matrices column by
/// column; for instructions with several results (`ModfStruct`: fraction, whole; `FrexpStruct`: significand,
/// exponent; atomics: value returned, value left in memory) the components of all results in order. What the Pack
/// instructions pack into a word counts as a vector of its parts, low bits first (halves for `PackHalf2x16`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The instruction.
    pub op: Op,
    /// Types of the results; one but for `Modf`, `ModfStruct`, `Frexp`, `FrexpStruct` and atomics, which have two.
    pub results: Vec<Type>,
    /// Types of the operands.
    pub operands: Vec<Type>,
    /// The environment.
    pub modes: Modes,
    /// Whose text judges the results.
    pub rules: Rules,
}

/// Why an instruction cannot be called like that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The table does not have the instruction for this type.
    #[error("{op} of {scalar} is not in Assay's table; it takes {accepted}")]
    Scalar {
        /// The instruction.
        op: Op,
        /// The type asked for.
        scalar: Scalar,
        /// What it takes, as a list.
        accepted: String,
    },
    /// The instruction does not exist in this shape.
    #[error("{op} does not take the shape {shape}; it takes {accepted}")]
    Shape {
        /// The instruction.
        op: Op,
        /// The shape asked for.
        shape: Shape,
        /// What it takes, as a list.
        accepted: String,
    },
    /// A conversion was asked for without the type that it converts from.
    #[error("{op} needs the type that it converts from; it takes {accepted}")]
    From {
        /// The instruction.
        op: Op,
        /// What it takes, as a list.
        accepted: String,
    },
    /// A conversion was asked for from a type that the table does not have for it.
    #[error("{op} of {from} to {to} is not in Assay's table; to another type it takes {accepted}")]
    Source {
        /// The instruction.
        op: Op,
        /// The type to convert from.
        from: Scalar,
        /// The type to convert to.
        to: Scalar,
        /// What it takes, as a list.
        accepted: String,
    },
    /// The module decorates an instruction that may not have the decoration.
    #[error("{mode} decorates no {op} to {to}, only {accepted}")]
    Decorated {
        /// The instruction.
        op: Op,
        /// The type of its result.
        to: Scalar,
        /// The decoration.
        mode: &'static str,
        /// What may have it.
        accepted: &'static str,
    },
    /// The number of operand scalars is wrong.
    #[error("{op} takes {expected} operand scalars here ({types}), not {given}")]
    Operands {
        /// The instruction.
        op: Op,
        /// How many it takes.
        expected: usize,
        /// Their types.
        types: String,
        /// How many were given.
        given: usize,
    },
}

/// The shape of an instruction's widest operand, from which the types of all others follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Scalars.
    Scalar,
    /// Vectors of 2, 3 or 4 components.
    Vector(u32),
    /// Matrices of so many columns and rows, each 2, 3 or 4.
    Matrix {
        /// Columns.
        columns: u32,
        /// Rows.
        rows: u32,
    },
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Scalar => f.write_str("scalar"),
            Shape::Vector(n) => write!(f, "vec{n}"),
            Shape::Matrix { columns, rows } => write!(f, "mat{columns}x{rows}"),
        }
    }
}

/// What an instruction may return for concrete operands, for one result scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// The usual reading of the text.
    pub usual: Set,
    /// The lenient reading, a superset, where the row has two.
    pub lenient: Option<Lenient>,
}

/// A lenient reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lenient {
    /// What it permits.
    pub set: Set,
    /// The doubt, in words.
    pub doubt: &'static str,
}

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing is required here; not checked.
    Unchecked,
    /// In the permitted set.
    Pass,
    /// Outside the usual reading, within a lenient one.
    QualityWarning,
    /// Outside every reading.
    Fail,
}

/// How a result that is not permitted is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureClass {
    /// What is right for denormal operands read as zero, which this environment forbids.
    FlushedIn,
    /// A zero in place of a denormal result that had to be kept.
    FlushedOut,
    /// A denormal result that had to be flushed.
    KeptDenormal,
    /// The other neighbour of a correctly rounded result than the declared rounding mode gives.
    RoundingDirection,
    /// The wrong sign of a zero.
    SignOfZero,
    /// A NaN where a number is due, or a number where a NaN is.
    Nan,
    /// An infinity where a finite number is due, or the other way round.
    Overflow,
    /// At most 16 representable values outside the permitted set.
    FewUlp,
    /// None of these.
    Wild,
}

/// The verdict on one result scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Error over bound: 0 is exact, 1 the limit, more is a failure; infinite where no error is permitted (a "correct result") and
    /// there is one. `None` where the result is unchecked or is not a number.
    pub margin: Option<f64>,
    /// How it is wrong, for `QualityWarning` and `Fail`.
    pub class: Option<FailureClass>,
}

/// One step of a derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Nesting: 0 for the instruction itself, deeper for the operations of a formula.
    pub depth: usize,
    /// What was done to the set, and why.
    pub text: String,
}

/// The permitted set of one result scalar, derived.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The infinitely precise result in decimal, or what there is in its place ("not defined").
    pub exact: String,
    /// The rule in words, from the table.
    pub rule: String,
    /// The clause of the specification: an anchor of its text.
    pub clause: &'static str,
    /// The steps from the exact value to the set.
    pub steps: Vec<Step>,
    /// The set.
    pub permitted: Permitted,
    /// The verdict on the bits that were got, if any were given.
    pub judgement: Option<Judgement>,
}

impl Call {
    /// The scalar type of every operand slot, in order.
    pub fn operand_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.operands.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

    /// The scalar type of every result slot, in order.
    pub fn result_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.results.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

    /// Whether the operands have defined *behaviour* (float to integer out of range has not): if not, they must never
    /// be sent to a device.
    pub fn is_defined(&self, operands: &[u64]) -> bool {
        if self.rules == Rules::Wgsl {
            // It has no undefined behaviour in expressions: what is not defined is an indeterminate value.
            return true;
        }
        let result = self.results[0].scalar;
        let mut slots = self.operand_slots().zip(operands);
        slots.all(|(operand, &bits)| !domain::is_undefined_behaviour(self.op, result, operand, bits))
    }

    /// The call, prepared for evaluating it many times.
    pub fn reference(&self) -> Reference {
        Reference { slots: evaluate::slots(self) }
    }

    /// Per result slot, what may be returned for these operands.
    ///
    /// # Panics
    /// If the number of operand scalars is not that of [`Call::operand_slots`].
    pub fn permitted(&self, operands: &[u64]) -> Vec<Permitted> {
        let reference = self.reference();
        (0..reference.slots.len()).map(|slot| reference.permitted(slot, operands)).collect()
    }

    /// Per result slot, the verdict on the bits that a device returned.
    ///
    /// # Panics
    /// As [`Call::permitted`], for operands and results.
    pub fn judge(&self, operands: &[u64], got: &[u64]) -> Vec<Judgement> {
        let reference = self.reference();
        got.iter().enumerate().map(|(slot, &bits)| reference.judge(slot, operands, bits)).collect()
    }

    /// Per result slot, the derivation of the set, with the verdict on `got` if given.
    ///
    /// # Panics
    /// As [`Call::judge`].
    pub fn explain(&self, operands: &[u64], got: Option<&[u64]>) -> Vec<Explanation> {
        let reference = self.reference();
        (0..reference.slots.len())
            .map(|slot| {
                let trace = Trace::on();
                let outcome = reference.slots[slot].evaluate(operands, None, false, &trace);
                Explanation {
                    exact: outcome.exact.unwrap_or_else(|| "not a matter of real numbers here".into()),
                    rule: self.rule(),
                    clause: self.clause(),
                    steps: trace.into_steps(),
                    permitted: reference.permitted(slot, operands),
                    judgement: got.map(|got| reference.judge(slot, operands, got[slot])),
                }
            })
            .collect()
    }

    /// The rule in words, from the table.
    pub fn rule(&self) -> String {
        table::words(self)
    }

    /// The clause of the specification: an anchor of its text.
    pub fn clause(&self) -> &'static str {
        table::clause(self)
    }

    /// Whether the specification states a precision at all; results of other instructions are reported as measured and
    /// never fail.
    pub fn is_measured_only(&self) -> bool {
        matches!(table::accuracy(self), Accuracy::Measured)
    }
}

/// A call, prepared for evaluating it many times.
#[derive(Clone, Debug)]
pub struct Reference {
    pub(crate) slots: Vec<Slot>,
}

impl Reference {
    /// What the modes and the row's lists allow where this result slot is evaluated (the usual reading).
    pub fn environment(&self, slot: usize) -> Environment {
        self.slots[slot].env
    }

    /// What may be returned in a result slot for these operands.
    ///
    /// # Panics
    /// If there are fewer operand scalars than [`Call::operand_slots`] says.
    pub fn permitted(&self, slot: usize, operands: &[u64]) -> Permitted {
        let usual = self.slots[slot].evaluate(operands, None, false, &Trace::off()).set;
        let lenient = self.lenient(slot, operands).filter(|l| l.set != usual);
        Permitted { usual, lenient }
    }

    /// The lenient reading, whether or not it permits more.
    fn lenient(&self, slot: usize, operands: &[u64]) -> Option<Lenient> {
        let part = &self.slots[slot];
        if let Some((other, doubt)) = part.leniently() {
            let outcome = other.evaluate(operands, None, true, &Trace::off());
            return Some(Lenient { set: outcome.set, doubt: outcome.doubt.unwrap_or(doubt) });
        }
        let outcome = part.evaluate(operands, None, true, &Trace::off());
        Some(Lenient { set: outcome.set, doubt: outcome.doubt? })
    }

    /// The verdict on the bits that a device returned in a result slot.
    ///
    /// # Panics
    /// As [`Reference::permitted`].
    pub fn judge(&self, slot: usize, operands: &[u64], got: u64) -> Judgement {
        let part = &self.slots[slot];
        let outcome = part.evaluate(operands, Some(got), false, &Trace::off());
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
