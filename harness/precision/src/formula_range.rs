//! Permitted ranges of inherited precision: of a formula and those equivalent to it.
//!
//! "Inherited From" (Vulkan): let `x` be the infinitely precise result, `Fmin` and `Fmax` the least
//! and the greatest result of any formula that associativity, commutativity and distributivity make
//! of the stated one, each operation with the error that its own rule permits, and `E = max(|x -
//! Fmin|, |x - Fmax|)`. Every value in `[x - E, x + E]` is permitted.
//!
//! The rules of the operations "define a range of permitted values", of which `Fmin` and `Fmax` are
//! the ends. Every operation returns a value of the format, and so the last one does: this is the
//! usual reading. Its bound in ulp is a range of real numbers, whose ends lie less than one value
//! farther out: this is the lenient reading ([`Environment::real_ends`]). Intermediate results are
//! values of the format in both.

use crate::{
    Specification,
    derivation::Derivation,
    display,
    environment::Environment,
    formula::{ExactDefinition, Formula, Node, NodeId},
    interval_eval::{IntervalEvaluator, IntervalSet},
    range_bounds::{RangeQuestion, decide_range, try_decide_range},
    rank_interval::{RankInterval, Stop},
    real_op::{Bound, RealOp},
    real_range::{PointBound, overflow, within},
};
use assay_float::{Dyadic, Enclosure, F64, Function, Rank, Undecided};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Results of the equivalent formulas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormulaRange {
    /// Their hull in the format.
    pub(crate) values: RankInterval,
    /// Ends of the real range of the last operation, in the reading of
    /// [`Environment::real_ends`]. They are values of binary64 inside the range.
    ends: Option<[Dyadic; 2]>,
}

impl Formula {
    /// Returns true if the last operation has a bound in real numbers, so that the ends of its range
    /// need not be values of the format. Binary64 has a lenient reading of its own.
    pub(crate) fn has_real_ends(&self, env: &Environment) -> bool {
        let Node::Real(real, _) = &self.nodes[self.root] else { return false };
        let is_rounded = matches!(real.bound(env.specification, env.half_column()), Bound::Rounded | Bound::Either);
        env.specification == Specification::Vulkan && env.format != F64 && !is_rounded
    }

    /// Ends of the real range of the last operation.
    fn real_ends(&self, evaluator: &IntervalEvaluator<'_>, uses: &[IntervalSet]) -> Result<Option<[Dyadic; 2]>, Stop> {
        let env = evaluator.env;
        let Node::Real(real, operands) = &self.nodes[self.root] else { return Ok(None) };
        if !env.real_ends || !self.has_real_ends(env) {
            return Ok(None);
        }
        let operands = self.ranges_of(evaluator, uses, operands)?;
        let wide = Environment { format: F64, ..*env };
        let RankInterval { lo, hi } = evaluator.real_in(*real, &operands, &wide)?.hull();
        Ok(Some([lo, hi].map(|rank| F64.value_of_rank(rank))))
    }

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
    ) -> Result<FormulaRange, Stop> {
        let found = self.hull(operands, env, derivation)?;
        if found.has_infinity(env.format) {
            return Err(match env.not_inf {
                true => Stop::Anything("a formula may overflow, and infinities are assumed not to occur"),
                false => Stop::AnyNumber("a formula may give an infinity"),
            });
        }
        derivation.note(|| format!("{}: F = {}", self.words, display::interval(found, env.format)));
        let evaluator = IntervalEvaluator { env, derivation: &Derivation::disabled() };
        let uses: SmallVec<[IntervalSet; 8]> =
            operands.iter().map(|&interval| evaluator.values_in_use(interval)).collect();
        Ok(FormulaRange { values: found, ends: self.real_ends(&evaluator, &uses)? })
    }

    /// Permitted results for operands with exactly these values; `found` is the hull of the
    /// formulas' results for them.
    pub(crate) fn around<R: Enclosure>(
        &self,
        x: &[R],
        found: FormulaRange,
        env: &Environment,
        precision: R::Precision,
        derivation: &Derivation,
    ) -> Result<PointBound<R>, Stop> {
        let exact = self.exact(x, env, precision)?;
        let value = |rank: Rank| R::exact(env.format.value_of_rank(rank), precision);
        let FormulaRange { values, ends } = found;
        let (mut least, mut greatest) = (value(values.lo), value(values.hi));
        if let Some([lo, hi]) = ends.map(|ends| ends.map(|end| R::exact(end, precision))) {
            (least, greatest) = (least.min(&lo), greatest.max(&hi));
        }
        let (below, above) = (exact.sub(&least).abs(), exact.sub(&greatest).abs());
        let twice = exact.add(&exact);
        // [x - E, x + E]: the end on the side of the farther extreme is that extreme itself. If F
        // is a single value, the two distances are equal and no precision tells them apart: the
        // value is then the end on its side of x.
        let least_is_end = match values.is_point() && ends.is_none() {
            true => exact.compare(&least)? == Ordering::Greater,
            false => below.compare(&above)? == Ordering::Greater,
        };
        let (lo, hi, least, greatest) = if least_is_end {
            // No value lies between an end and the values of the format.
            let greatest = twice.sub(&least);
            (values.lo, greatest.floor_rank(env.format)?, least, greatest)
        } else {
            let least = twice.sub(&greatest);
            (least.ceil_rank(env.format)?, values.hi, least, greatest)
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
        // The values next to the hull lie beyond its real ends.
        let beyond = i64::from(env.real_ends);
        let values = RankInterval { lo: found.lo - beyond, hi: found.hi + beyond };
        if values.has_infinity(env.format) {
            return Ok(RankInterval::all(env.format));
        }
        let found = FormulaRange { values, ends: None };
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
    found: FormulaRange,
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
        let f: R = found.values.reals(format, precision);
        let mut error = exact.upper().sub(&f.lower()).abs().max(&f.upper().sub(&exact.lower()).abs()).upper();
        if let Some(absolute) = formula.absolute::<R>(precision)? {
            error = error.max(&absolute).upper();
        }
        let least = exact.lower().sub(&error).lower();
        let greatest = exact.upper().add(&error).upper();
        Ok(overflow(least.ceil_rank(format)?, greatest.floor_rank(format)?, &least, &greatest, env)?)
    }
}
