//! One instruction on concrete types in a concrete environment.

use crate::{
    Environment, Modes, Op, OperandRegion, Scalar, Specification, Type,
    classify::classify,
    derivation::Derivation,
    evaluate::{self, ResultSlot},
    relaxed,
    table::{self, Accuracy},
    undefined_operands,
};
use assay_float::{BF16, Set};
use std::fmt;

/// One instruction on concrete types, with the floating-point environment that its module declares.
///
/// Operands and results are flat lists of scalars ("slots"): the components of all operands in
/// order, with matrices column by column. For instructions with several results (`ModfStruct`:
/// fraction, whole; `FrexpStruct`: significand, exponent; atomics: value returned, value left in
/// memory) they are the components of all results in order. The parts of a packed word count as a
/// vector, low bits first (halves for `PackHalf2x16`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The instruction.
    pub op: Op,
    /// Types of the results: two for `Modf`, `ModfStruct`, `Frexp`, `FrexpStruct` and atomics,
    /// otherwise one.
    pub results: Vec<Type>,
    /// Types of the operands.
    pub operands: Vec<Type>,
    /// The declared environment.
    pub modes: Modes,
    /// Specification by which results are judged.
    pub specification: Specification,
}

/// Error: the instruction cannot be called in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The table does not have the instruction for this type.
    #[error("{op} of {scalar} is not in Assay's table; it takes {accepted}{}", not_of_bfloat16(*.scalar))]
    Scalar {
        /// The instruction.
        op: Op,
        /// The requested type.
        scalar: Scalar,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The instruction does not exist in this shape.
    #[error("{op} does not take the shape {shape}; it takes {accepted}")]
    Shape {
        /// The instruction.
        op: Op,
        /// The requested shape.
        shape: Shape,
        /// Accepted shapes, as a list.
        accepted: String,
    },
    /// The type that a conversion converts from is missing.
    #[error("{op} needs the type that it converts from; it takes {accepted}")]
    From {
        /// The instruction.
        op: Op,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The table does not have the conversion from this type.
    #[error("{op} of {from} to {to} is not in Assay's table; to another type it takes {accepted}")]
    Source {
        /// The instruction.
        op: Op,
        /// Type to convert from.
        from: Scalar,
        /// Type to convert to.
        to: Scalar,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The module decorates an instruction that may not have the decoration.
    #[error("{mode} decorates no {op} to {to}, only {accepted}")]
    Decorated {
        /// The instruction.
        op: Op,
        /// Type of its result.
        to: Scalar,
        /// The decoration.
        mode: &'static str,
        /// Instructions that may have the decoration.
        accepted: &'static str,
    },
    /// The number of operand scalars is wrong.
    #[error("{op} takes {expected} operand scalars here ({types}), not {given}")]
    Operands {
        /// The instruction.
        op: Op,
        /// Number of operand scalars that the instruction takes.
        expected: usize,
        /// Their types.
        types: String,
        /// Given number.
        given: usize,
    },
}

/// The reason why an instruction does not take bfloat16, if that is the type (SPV_KHR_bfloat16,
/// "Validation Rules").
fn not_of_bfloat16(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Float(BF16) => {
            "; SPV_KHR_bfloat16 permits no arithmetic but OpDot, cooperative matrices and conversions"
        }
        _ => "",
    }
}

/// Shape of an instruction's widest operand, from which the types of all others follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Scalars.
    Scalar,
    /// Vectors of 2, 3 or 4 components.
    Vector(u32),
    /// Matrices with 2, 3 or 4 columns and rows.
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

/// Class of a result that is not permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureClass {
    /// Right for denormal operands read as zero, which the environment forbids.
    FlushedIn,
    /// A zero in place of a denormal result that had to be kept.
    FlushedOut,
    /// A denormal result that had to be flushed.
    KeptDenormal,
    /// The neighbour of the exact result that the declared rounding mode does not give.
    RoundingDirection,
    /// The wrong sign of a zero.
    SignOfZero,
    /// A NaN instead of a number, or a number instead of a NaN.
    Nan,
    /// An infinity instead of a finite number, or a finite number instead of an infinity.
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
    /// Error divided by the permitted error: 0 is exact, 1 the limit, more is a failure. Infinite
    /// if no error is permitted (a "correct result") and there is one. `None` if the result is
    /// unchecked or is not a number.
    pub margin: Option<f64>,
    /// Class of the failure, for `QualityWarning` and `Fail`.
    pub class: Option<FailureClass>,
}

/// One step of a derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Nesting: 0 for the instruction itself, deeper for the operations of a formula.
    pub depth: usize,
    /// Change of the set, and its reason.
    pub text: String,
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
    /// Scalar type of every operand slot, in order.
    pub fn operand_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.operands.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

    /// Scalar type of every result slot, in order.
    pub fn result_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.results.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

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
        Reference { slots: evaluate::slots(self) }
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
        let words = table::words(self);
        match self.reference().slots.first() {
            Some(slot) if slot.relaxed => format!("{words}; RelaxedPrecision: {}", relaxed::words(slot)),
            _ => words,
        }
    }

    /// Anchor of the clause in the text of the specification.
    pub fn clause(&self) -> &'static str {
        table::clause(self)
    }

    /// Execution modes that the instruction must respect, by the lists of "Precision and Operation of
    /// SPIR-V Instructions" that name it.
    pub fn lists(&self) -> Vec<&'static str> {
        let lists = table::of(self.op).lists;
        let named = [
            ("DenormFlushToZero", lists.flush),
            ("DenormPreserve", lists.preserve),
            ("SignedZeroInfNanPreserve", lists.special),
        ];
        named.into_iter().filter(|(_, is_named)| *is_named).map(|(mode, _)| mode).collect()
    }

    /// Returns true if the specification states no precision. Results of such instructions are
    /// reported as measured and never fail.
    pub fn is_measured_only(&self) -> bool {
        matches!(table::accuracy(self), Accuracy::Measured)
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
