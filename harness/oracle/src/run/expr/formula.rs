//! Rearranging formulas of inherited precision with the chains of their operands: `smoothstep(0.1,
//! 1.0, 2.0 * x - 1.0)` may subtract 1.1 from `2.0 * x`.
//!
//! Only the lenient reading lets an instruction be rearranged inside. "The mathematical properties
//! governing the expressions" speaks of expressions, while the formula only defines an error.

use crate::expr_bound::{ExpansionLimit, ExprBound};
use crate::fast_path;
use crate::float_op::{FloatOp, Reading};
use crate::inst::Reg;
use crate::residual::value;
use crate::run::Run;
use crate::run::float::{flush_threshold, rearranged};
use crate::run::work::ExtensionTime;
use crate::ty::Fmt;
use assay_float::Rank;
use assay_precision::{Environment, ExpressionDomain, Rounding};
use smallvec::SmallVec;

/// The rearrangements of a result could not be bounded.
pub(in crate::run) struct Unbounded;

impl Run<'_> {
    /// The bound of a result whose formula is rearranged with the expressions of its operands and
    /// with later uses, and true if an operand is itself computed. `None` if the formula is
    /// evaluated on its own. `leaf`: the bound of the result as it is computed.
    pub(in crate::run) fn rearranged_formula(
        &mut self,
        float_op: &FloatOp,
        slot: usize,
        operands: &[Reg],
        lane: usize,
        leaf: ExprBound,
    ) -> Result<Option<(ExprBound, bool)>, Unbounded> {
        let Some(fmt) = float_op.fmt() else { return Ok(None) };
        if !float_op.freedom.transforms || float_op.call.modes.relaxed || !float_op.reference.is_rearrangeable(slot) {
            return Ok(None);
        }
        let computed = operands.iter().any(|reg| self.is_computed(*reg, lane));
        if self.reading == Reading::Usual {
            self.readings_differ |= computed;
            return Ok(Some((ExprBound { truncated: true, ..leaf }, false)));
        }
        if computed && self.effort(ExtensionTime::REARRANGEMENT).is_none() {
            return Err(Unbounded);
        }
        let env = self.environment(float_op, slot);
        let (errors, roundings) = (fast_path::errors(fmt, &env), fast_path::roundings_of_division(fmt, &env));
        let apart: SmallVec<[ExprBound; 8]> = operands.iter().map(|reg| self.bound(*reg, lane, fmt)).collect();
        match float_op.reference.expression(
            slot,
            &BoundEvaluator { fmt, errors, roundings, expansion_limit: self.expansion_limit(fmt) },
            &apart,
        ) {
            // An inherited bound is symmetric about the exact result, so the width is added on
            // either side.
            Some(bound) if bound.is_leaf() && computed => {
                let more = bound.hi - bound.lo;
                Ok(Some((ExprBound::leaf(bound.lo - more, bound.hi + more), true)))
            }
            Some(bound) if !bound.is_leaf() => Ok(Some((bound, computed))),
            None if computed => Err(Unbounded),
            _ => Ok(None),
        }
    }

    /// The environment of a result in the reading of this run. The text does not say whether
    /// formulas round as declared: in the lenient reading they round either way.
    pub(in crate::run) fn environment(&mut self, float_op: &FloatOp, slot: usize) -> Environment {
        let env = float_op.reference.environment(slot);
        let doubted = env.rounding != Rounding::Undeclared && float_op.reference.is_rearrangeable(slot);
        match self.reading {
            Reading::Lenient if doubted => Environment { rounding: Rounding::Undeclared, ..env },
            Reading::Lenient => env,
            Reading::Usual => {
                self.readings_differ |= doubted;
                env
            }
        }
    }

    /// The limit up to which this run's reading multiplies products out.
    pub(in crate::run) fn expansion_limit(&self, fmt: Fmt) -> ExpansionLimit {
        match self.reading {
            Reading::Usual => ExpansionLimit::USUAL,
            Reading::Lenient => ExpansionLimit::lenient(fmt.format().fraction_bits),
        }
    }
}

/// Evaluator of formulas over expression bounds.
struct BoundEvaluator {
    fmt: Fmt,
    errors: (f64, f64),
    /// Number of roundings that a division counts as.
    roundings: u32,
    expansion_limit: ExpansionLimit,
}

impl ExpressionDomain for BoundEvaluator {
    type Expression = ExprBound;

    fn constant(&self, value: f64) -> ExprBound {
        ExprBound::constant(value)
    }

    fn between(&self, lo: Rank, hi: Rank) -> ExprBound {
        ExprBound::leaf(value(self.fmt, lo), value(self.fmt, hi))
    }

    fn add(&self, a: &ExprBound, b: &ExprBound) -> ExprBound {
        a.add(*b, false)
    }

    fn mul(&self, a: &ExprBound, b: &ExprBound) -> Option<ExprBound> {
        a.checked_mul(*b, self.expansion_limit)
    }

    fn div(&self, a: &ExprBound, b: &ExprBound) -> Option<ExprBound> {
        let whole = self.computed_ranks(b).map(|(lo, hi)| self.between(lo, hi))?;
        if a.quotient_is_too_long(b, self.expansion_limit) { None } else { a.over(b, &whole, self.roundings) }
    }

    fn neg(&self, a: &ExprBound) -> ExprBound {
        a.neg()
    }

    fn either(&self, a: &ExprBound, b: &ExprBound) -> ExprBound {
        a.either(*b)
    }

    fn computed_ranks(&self, a: &ExprBound) -> Option<(Rank, Rank)> {
        let (lo, hi) = rearranged(*a, self.fmt, self.errors)?;
        let flushed = a.may_be_below(flush_threshold(self.fmt));
        Some(if flushed { (lo.min(-1), hi.max(0)) } else { (lo, hi) })
    }
}
