//! Permitted ranges of inherited precision: of a formula and those equivalent to it.
//!
//! "Inherited From" (Vulkan): let `x` be the infinitely precise result, `Fmin` and `Fmax` the least
//! and the greatest result of any formula that associativity, commutativity and distributivity make
//! of the stated one, each operation with the error that its own rule permits, and `E = max(|x -
//! Fmin|, |x - Fmax|)`. Every value in `[x - E, x + E]` is permitted.

use crate::{
    derivation::Derivation,
    display,
    environment::Environment,
    formula::{ExactDefinition, Formula, Node, NodeId},
    interval_eval::{IntervalEvaluator, IntervalSet},
    range_bounds::{RangeQuestion, decide_range, try_decide_range},
    rank_interval::{RankInterval, Stop},
    real_op::RealOp,
    real_range::{PointBound, overflow, within},
};
use assay_float::{Dyadic, Enclosure, Function, Rank, Undecided};
use smallvec::SmallVec;
use std::cmp::Ordering;

impl Formula {
    /// Hull of the results of the equivalent formulas for operands in these intervals, including
    /// infinities.
    fn hull(
        &self,
        operands: &[RankInterval],
        env: &Environment,
        derivation: &Derivation,
    ) -> Result<RankInterval, Stop> {
        let evaluator = IntervalEvaluator { env, derivation };
        let uses: SmallVec<[IntervalSet; 8]> =
            operands.iter().map(|&interval| evaluator.values_in_use(interval)).collect();
        Ok(self.range(&evaluator, &uses)?.hull())
    }

    /// `F`: hull of the results of the equivalent formulas for operands in these intervals, if all
    /// are finite.
    pub(crate) fn finite_hull(
        &self,
        operands: &[RankInterval],
        env: &Environment,
        derivation: &Derivation,
    ) -> Result<RankInterval, Stop> {
        let found = self.hull(operands, env, derivation)?;
        if found.has_infinity(env.format) {
            return Err(match env.not_inf {
                true => Stop::Anything("a formula may overflow, and infinities are assumed not to occur"),
                false => Stop::AnyNumber("a formula may give an infinity"),
            });
        }
        derivation.note(|| format!("{}: F = {}", self.words, display::interval(found, env.format)));
        Ok(found)
    }

    /// Permitted results for operands with exactly these values; `found` is the hull of the
    /// formulas' results for them.
    pub(crate) fn around<R: Enclosure>(
        &self,
        x: &[R],
        found: RankInterval,
        env: &Environment,
        precision: R::Precision,
        derivation: &Derivation,
    ) -> Result<PointBound<R>, Stop> {
        let exact = self.exact(x, env, precision)?;
        let value = |rank: Rank| R::exact(env.format.value_of_rank(rank), precision);
        let (least, greatest) = (value(found.lo), value(found.hi));
        let (below, above) = (exact.sub(&least).abs(), exact.sub(&greatest).abs());
        let twice = exact.add(&exact);
        // [x - E, x + E]: the end on the side of the farther extreme is that extreme itself. If F
        // is a single value, the two distances are equal and no precision tells them apart: the
        // value is then the end on its side of x.
        let least_is_end = match found.is_point() {
            true => exact.compare(&least)? == Ordering::Greater,
            false => below.compare(&above)? == Ordering::Greater,
        };
        let (lo, hi, least, greatest) = if least_is_end {
            let greatest = twice.sub(&least);
            (found.lo, greatest.floor_rank(env.format)?, least, greatest)
        } else {
            let least = twice.sub(&greatest);
            (least.ceil_rank(env.format)?, found.hi, least, greatest)
        };
        // A zero represents both zeros.
        let (lo, hi) = (if lo == 0 { -1 } else { lo }, if hi == -1 { 0 } else { hi });
        let mut interval = overflow(lo, hi, &least, &greatest, env)?;
        let mut bound = below.max(&above);
        if let Some(absolute) = self.absolute::<R>(precision)? {
            // Both are ranges about the exact result, so that their hull is the wider one.
            interval = interval.hull(within(exact.clone(), absolute.clone(), false, env, precision)?.interval);
            bound = bound.max(&absolute);
        }
        derivation.note(|| {
            format!(
                "E = max(|exact - Fmin|, |exact - Fmax|) = {}; any value in [exact - E, exact + E]",
                bound.decimal(6)
            )
        });
        Ok(PointBound { interval, bound, exact })
    }

    /// Permitted results for operands that are intervals of one rank each.
    pub(crate) fn point_interval(&self, operands: &[RankInterval], env: &Environment) -> Result<RankInterval, Stop> {
        let found = self.finite_hull(operands, env, &Derivation::disabled())?;
        decide_range(&InheritedQuestion { formula: self, operands, found, env, cover: false })
    }

    /// Superset of the permitted results for all operands in these intervals.
    pub(crate) fn cover(
        &self,
        operands: &[RankInterval],
        env: &Environment,
        finely: bool,
    ) -> Result<RankInterval, Stop> {
        let found = self.hull(operands, env, &Derivation::disabled())?;
        if found.has_infinity(env.format) {
            // Only single values show whether it overflows.
            return Ok(RankInterval::all(env.format));
        }
        try_decide_range(&InheritedQuestion { formula: self, operands, found, env, cover: true }, finely)
    }

    /// Results for infinite operands that are not assumed away.
    pub(crate) fn overflown(&self, operands: &[RankInterval], env: &Environment) -> Stop {
        let operands: SmallVec<[IntervalSet; 8]> = operands.iter().map(|&interval| interval.into()).collect();
        match self.range(&IntervalEvaluator { env, derivation: &Derivation::disabled() }, &operands) {
            Ok(range) if range.hull().has_infinity(env.format) => Stop::AnyNumber("a formula may give an infinity"),
            Ok(_) => Stop::Anything("an operand is infinite"),
            Err(stop) => stop,
        }
    }

    /// Absolute error that is permitted in addition to the formulas'.
    fn absolute<R: Enclosure>(&self, precision: R::Precision) -> Result<Option<R>, Undecided> {
        let Some((digits, exponent)) = self.absolute else { return Ok(None) };
        let ten = 10i64.pow(exponent);
        Ok(Some(R::exact(Dyadic::int(digits), precision).div(&R::exact(Dyadic::int(ten), precision))?))
    }

    /// Infinitely precise result.
    fn exact<R: Enclosure>(&self, x: &[R], env: &Environment, precision: R::Precision) -> Result<R, Stop> {
        Ok(match self.definition {
            ExactDefinition::Formula => self.exact_node(self.root, x, env, precision)?,
            ExactDefinition::Function(function) => x[0].function(function)?,
            ExactDefinition::RemTrunc => x[0].rem_trunc(&x[1])?,
            ExactDefinition::RemFloor => x[0].rem_floor(&x[1])?,
            ExactDefinition::Pow => x[0].pow(&x[1])?,
            ExactDefinition::Normalized(component) => {
                let zero = R::exact(Dyadic::ZERO, precision);
                let square = x.iter().fold(zero, |sum, x| sum.add(&x.mul(x)));
                x[component].div(&square.function(Function::Sqrt)?)?
            }
        })
    }

    fn exact_node<R: Enclosure>(
        &self,
        id: NodeId,
        x: &[R],
        env: &Environment,
        precision: R::Precision,
    ) -> Result<R, Stop> {
        let node = |id: NodeId| self.exact_node(id, x, env, precision);
        let constant = |value| R::exact(value, precision);
        Ok(match &self.nodes[id] {
            Node::Operand(i) => x[*i].clone(),
            Node::Constant(value) => constant(*value),
            Node::RadiansPerDegree => R::pi(precision).div(&constant(Dyadic::int(180)))?,
            Node::DegreesPerRadian => constant(Dyadic::int(180)).div(&R::pi(precision))?,
            Node::Sum(sum) => sum.exact(node, constant)?,
            Node::Real(real, operands) => {
                let operands: SmallVec<[R; 3]> = operands.iter().map(|&o| node(o)).collect::<Result<_, _>>()?;
                match real {
                    // The range of divisors limits the precision, not the meaning.
                    RealOp::Div => operands[0].div(&operands[1])?,
                    _ => real.exact(&operands, env, precision)?,
                }
            }
            Node::Inherited(formula, operands) => {
                let operands: SmallVec<[R; 8]> = operands.iter().map(|&o| node(o)).collect::<Result<_, _>>()?;
                formula.exact(&operands, env, precision)?
            }
            Node::ClampToUnit(operand) => node(*operand)?.max(&constant(Dyadic::ZERO)).min(&constant(Dyadic::ONE)),
            Node::Select { condition, negative, otherwise } => {
                let below = node(*condition)?.compare(&constant(Dyadic::ZERO))? == Ordering::Less;
                node(if below { *negative } else { *otherwise })?
            }
            Node::NotNegative(operand) => node(*operand)?,
            Node::Either(formulas) => node(formulas[0])?,
            Node::Let(value, body) => body.exact(&[node(*value)?], env, precision)?,
            Node::Floor(_) | Node::Trunc(_) => unreachable!("remainders have a definition of their own"),
        })
    }
}

/// Question for the permitted results around the exact result; `found` is the hull of the formulas'
/// results.
struct InheritedQuestion<'a> {
    formula: &'a Formula,
    operands: &'a [RankInterval],
    found: RankInterval,
    env: &'a Environment,
    /// Set if the operands are not single values.
    cover: bool,
}

impl RangeQuestion for InheritedQuestion<'_> {
    type Answer = RankInterval;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<RankInterval, Stop> {
        let InheritedQuestion { formula, found, env, .. } = *self;
        let format = env.format;
        let x: SmallVec<[R; 8]> = self.operands.iter().map(|s| s.reals(format, precision)).collect();
        if !self.cover {
            return Ok(formula.around(&x, found, env, precision, &Derivation::disabled())?.interval);
        }
        let exact = formula.exact(&x, env, precision)?;
        let f: R = found.reals(format, precision);
        let mut error = exact.upper().sub(&f.lower()).abs().max(&f.upper().sub(&exact.lower()).abs()).upper();
        if let Some(absolute) = formula.absolute::<R>(precision)? {
            error = error.max(&absolute).upper();
        }
        let least = exact.lower().sub(&error).lower();
        let greatest = exact.upper().add(&error).upper();
        Ok(overflow(least.ceil_rank(format)?, greatest.floor_rank(format)?, &least, &greatest, env)?)
    }
}
