//! Instructions of inherited precision over sets of operands, where the table's search for extremes
//! would take too long.
//!
//! Sums of products are enclosed as any other expression (see [`crate::bound`]). Lengths have bounds
//! of their own (see [`super::vector_length`]), which also serve for known operands once the evaluations
//! of the formula exceed their budget.

use super::build::formula_bound;
use super::vector_length::{Length, Lengths};
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::expr_bound::ExprBound;
use crate::fast_path::{self, Range};
use crate::float_op::{FloatOp, Reading, SignedProduct};
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::run::Run;
use crate::run::float::rearranged;
use crate::ty::{Fmt, Kind};
use assay_precision::{Flush, Op, Specification};
use smallvec::SmallVec;

impl Run<'_> {
    /// The result of such an instruction; `None` if it is left to the table.
    pub(in crate::run) fn inherited(
        &mut self,
        float_op: &FloatOp,
        slot: usize,
        operands: &[Reg],
        lane: usize,
    ) -> Option<(AbstractValue, u64)> {
        let Kind::Float(fmt @ (Fmt::F16 | Fmt::F32)) = float_op.results[slot] else { return None };
        let exact = |reg: &Reg| *self.columns[*reg as usize].value(lane) == AbstractValue::Bits;
        // WGSL normalises by a quotient, which the table evaluates.
        let other = float_op.call.specification == Specification::Wgsl && float_op.call.op == Op::Normalize;
        if !is_long(float_op.call.op) || other {
            return None;
        }
        let known = operands.iter().all(exact);
        if known && (!is_length(float_op.call.op) || self.may_evaluate()) {
            return None;
        }
        let env = self.environment(float_op, slot);
        if float_op.call.modes.relaxed || env.flush_results == Flush::Must {
            return (!known).then(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        }
        let errors = fast_path::errors(fmt, &env);
        let n = float_op.widths[0] as usize;
        let leaf = |k: usize| ExprBound { id: k as u32 + 1, ..self.leaf(operands[k], lane, fmt) };
        let range = match float_op.call.op {
            op if is_length(op) => {
                let lengths = Lengths::new(fmt, &env);
                let ranges: SmallVec<[(f64, f64); 8]> = (0..operands.len()).map(leaf).map(|x| (x.lo, x.hi)).collect();
                match float_op.call.op {
                    Op::Normalize => lengths.direction(&ranges, slot),
                    Op::Length => self.rooted(lengths.length(&ranges)),
                    _ => self.rooted(lengths.distance(&ranges[..n], &ranges[n..])),
                }
            }
            Op::Reflect => {
                let leaves: SmallVec<[ExprBound; 8]> = (0..operands.len()).map(leaf).collect();
                formula_bound(float_op.call.op, slot, &leaves, self.expansion_limit(fmt))
                    .and_then(|bound| rearranged(bound, fmt, errors))
            }
            // A sum of products, with its factors as they are computed.
            _ => float_op.chain(slot).and_then(|chain| {
                let terms = chain.iter().map(|SignedProduct { factor: a, other: b, negative }| {
                    let term = b.map_or_else(|| leaf(*a), |b| leaf(*a).mul(leaf(b)));
                    if *negative { term.neg() } else { term }
                });
                let bound = terms.reduce(|a, b| a.add(b, false))?;
                rearranged(bound, fmt, errors)
            }),
        };
        let Some((lo, hi)) = range else {
            return (!known).then(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        };
        Some(AbstractValue::of_floats(near_zeros(fmt, (lo, hi))))
    }

    /// A length in the reading of this run. The root of zero has two readings.
    fn rooted(&mut self, length: Option<Length>) -> Option<Range> {
        let Length { range, may_be_of_zero } = length?;
        self.readings_differ |= may_be_of_zero;
        (!may_be_of_zero || self.reading == Reading::Usual).then_some(range)
    }

    /// Counts an evaluation of a formula for known operands; false if the budget is used up.
    fn may_evaluate(&mut self) -> bool {
        self.work.group.evaluations += 1;
        // The number of searches is the limit here as well. An evaluation takes a tenth of the
        // time.
        self.work.group.evaluations <= self.limits.searches / self.group_count().max(1)
    }
}

/// A range, with the zeros that a flush may add.
fn near_zeros(fmt: Fmt, (lo, hi): Range) -> FloatSet {
    let zeros = fast_path::meets_denormals(fmt, (lo, hi)) || (lo <= 0 && hi >= -1);
    FloatSet { zeros, ..FloatSet::range(fmt, lo, hi) }
}

/// Returns true for instructions with a bound of their own in [`super::vector_length`].
fn is_length(op: Op) -> bool {
    matches!(op, Op::Length | Op::Distance | Op::Normalize)
}

/// Returns true for instructions with so many operands that there are too many combinations of
/// them.
fn is_long(op: Op) -> bool {
    matches!(
        op,
        Op::Length
            | Op::Distance
            | Op::Normalize
            | Op::Cross
            | Op::Reflect
            | Op::Refract
            | Op::FaceForward
            | Op::Dot
            | Op::MatrixTimesVector
            | Op::VectorTimesMatrix
            | Op::Fma
    )
}
