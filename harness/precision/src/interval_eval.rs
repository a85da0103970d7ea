//! Certified evaluation of formulas by interval arithmetic on ranks, with certified enclosures of
//! real numbers.
//!
//! Unlike plain interval arithmetic, each operation is evaluated exactly at points, and its range
//! over a box is searched for ([`extremes`]), so that the hull of one operation is sharp unless the
//! search's budget ends. Dependencies between operations are not followed: an intermediate result
//! that is used twice is treated as two independent ones (the dependency problem of interval
//! arithmetic). A variable that a formula binds (`Node::Let`) is the exception.

use crate::{
    derivation::Derivation,
    display,
    environment::Environment,
    evaluator::{Evaluator, Sign},
    formula::{Formula, Node, NodeId},
    range_bounds::{
        BUDGET, COARSE_BUDGET, Operation, RangeQuestion, corners, decide_range, extremes, try_decide_range,
    },
    rank_interval::{RankInterval, Stop},
    real_op::RealOp,
    real_range::{neighbours, round},
};
use assay_float::{Dyadic, Enclosure, F32, Format, Rank};
use smallvec::SmallVec;
use std::{cell::Cell, cmp::Ordering};

/// Values that the next operation of a formula may read: a few disjoint intervals in ascending
/// order. The zero to which a denormal may be flushed is an interval of its own, and so are the
/// results for that zero; values between the intervals are not members.
#[derive(Clone, Debug)]
pub(crate) struct IntervalSet {
    intervals: SmallVec<[RankInterval; 2]>,
}

impl IntervalSet {
    /// Greatest number of intervals. The closest ones are joined if there are more.
    const MAX_INTERVALS: usize = 16;

    /// Greatest number of members that are evaluated one by one.
    const MAX_MEMBERS: u64 = 12;

    /// Least interval that contains all members.
    pub(crate) fn hull(&self) -> RankInterval {
        RankInterval { lo: self.intervals[0].lo, hi: self.intervals[self.intervals.len() - 1].hi }
    }

    fn union(intervals: impl IntoIterator<Item = RankInterval>) -> IntervalSet {
        let mut sorted: SmallVec<[RankInterval; 8]> = intervals.into_iter().collect();
        if sorted.len() > 1 {
            sorted.sort_unstable_by_key(|s| s.lo);
        }
        let mut intervals: SmallVec<[RankInterval; 2]> = SmallVec::new();
        for interval in sorted {
            match intervals.last_mut() {
                Some(last) if interval.lo <= last.hi.saturating_add(1) => last.hi = last.hi.max(interval.hi),
                _ => intervals.push(interval),
            }
        }
        while intervals.len() > IntervalSet::MAX_INTERVALS {
            let gap = |i: usize| intervals[i].lo.abs_diff(intervals[i - 1].hi);
            let nearest = (1..intervals.len()).min_by_key(|&i| gap(i)).expect("several intervals");
            intervals[nearest - 1].hi = intervals[nearest].hi;
            intervals.remove(nearest);
        }
        IntervalSet { intervals }
    }

    /// The same set with each member as an interval of its own, if there are few. Results may lie
    /// farther apart than their operands, and the values between them are not members.
    fn members(&self) -> IntervalSet {
        let more = |count: u64, interval: &RankInterval| count.saturating_add(interval.width()).saturating_add(1);
        if self.intervals.iter().fold(0, more) > IntervalSet::MAX_MEMBERS {
            return self.clone();
        }
        IntervalSet {
            intervals: self
                .intervals
                .iter()
                .flat_map(|interval| (interval.lo..=interval.hi).map(RankInterval::point))
                .collect(),
        }
    }

    /// Returns true if a member other than zero is also a member of `other`. The zeros to which
    /// denormals may be flushed do not count.
    fn has_common_value(&self, other: &IntervalSet) -> bool {
        self.nonzero().any(|a| other.nonzero().any(|b| a.lo <= b.hi && b.lo <= a.hi))
    }

    /// The members below zero and above zero.
    fn nonzero(&self) -> impl Iterator<Item = RankInterval> {
        const ZERO: RankInterval = RankInterval::ZERO;
        let sides = |at: &RankInterval| {
            let below = RankInterval { lo: at.lo, hi: at.hi.min(ZERO.lo - 1) };
            let above = RankInterval { lo: at.lo.max(ZERO.hi + 1), hi: at.hi };
            [below, above].into_iter().filter(|side| side.lo <= side.hi)
        };
        self.intervals.iter().flat_map(sides)
    }

    fn map(&self, f: impl Fn(RankInterval) -> RankInterval) -> IntervalSet {
        IntervalSet::union(self.intervals.iter().map(|&interval| f(interval)))
    }
}

impl From<RankInterval> for IntervalSet {
    fn from(interval: RankInterval) -> IntervalSet {
        IntervalSet { intervals: SmallVec::from_elem(interval, 1) }
    }
}

/// Union of an operation's ranges over every choice of one interval for each operand.
fn union_over_intervals(
    operands: &[&IntervalSet],
    range: impl Fn(&[RankInterval]) -> Result<RankInterval, Stop>,
) -> Result<IntervalSet, Stop> {
    let mut choice: SmallVec<[usize; 8]> = SmallVec::from_elem(0, operands.len());
    let mut found: SmallVec<[RankInterval; 8]> = SmallVec::new();
    loop {
        let intervals: SmallVec<[RankInterval; 8]> =
            choice.iter().zip(operands).map(|(&k, o)| o.intervals[k]).collect();
        found.push(range(&intervals)?);
        let Some(next) = (0..choice.len()).find(|&i| choice[i] + 1 < operands[i].intervals.len()) else {
            return Ok(IntervalSet::union(found));
        };
        choice[..next].fill(0);
        choice[next] += 1;
    }
}

const OVERFLOW: Stop = Stop::Anything("an intermediate may overflow, and infinities are assumed not to occur");

/// Evaluator of formulas in intervals: the least and the greatest value that each operation may
/// return.
pub(crate) struct IntervalEvaluator<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) derivation: &'a Derivation,
}

/// Operation that is correctly rounded wherever it occurs.
#[derive(Clone, Copy, Debug)]
enum RoundedOperation {
    Add,
    Mul,
}

/// Question for the range of an elementary operation on two values. The second answer is true if
/// the exact result is below the smallest normal value in magnitude but may be rounded up to it,
/// where flushing is permitted.
struct RoundedQuestion<'a> {
    operation: RoundedOperation,
    values: [Dyadic; 2],
    env: &'a Environment,
}

impl RangeQuestion for RoundedQuestion<'_> {
    type Answer = (RankInterval, bool);

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<(RankInterval, bool), Stop> {
        let [a, b] = self.values.map(|value| R::exact(value, precision));
        let exact = match self.operation {
            RoundedOperation::Add => a.add(&b),
            RoundedOperation::Mul => a.mul(&b),
        };
        let interval = round(&exact, self.env, self.env.rounding, precision)?;
        let edge = self.env.format.min_normal();
        let tiny = self.env.flush_inside && (interval.lo == edge || interval.hi == -1 - edge) && {
            let normal = R::exact(Dyadic::pow2(self.env.format.min_normal_exponent()), precision);
            exact.abs().compare(&normal)? == Ordering::Less
        };
        Ok((interval, tiny))
    }
}

/// Question for the neighbours of pi/180, or of its reciprocal.
struct DegreeQuestion<'a> {
    inverse: bool,
    env: &'a Environment,
}

impl RangeQuestion for DegreeQuestion<'_> {
    type Answer = RankInterval;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<RankInterval, Stop> {
        let (pi, degrees) = (R::pi(precision), R::exact(Dyadic::int(180), precision));
        let value = if self.inverse { degrees.div(&pi)? } else { pi.div(&degrees)? };
        Ok(RankInterval { lo: value.floor_rank(self.env.format)?, hi: value.ceil_rank(self.env.format)? })
    }
}

impl IntervalEvaluator<'_> {
    /// Number of boxes that the search for the extremes of an operation may halve.
    fn budget(&self) -> usize {
        if self.env.coarse || self.env.bound_format != self.env.format { COARSE_BUDGET } else { BUDGET }
    }

    /// 1 or -1 for an infinity, 0 for a finite rank.
    fn infinite(&self, rank: Rank) -> i32 {
        i32::from(rank >= self.env.format.infinity()) - i32::from(rank <= self.env.format.neg_infinity())
    }

    /// Range of a correctly rounded operation, which is monotone in each operand. `infinite`
    /// returns the sign of the infinite result for operands that are not both finite.
    fn rounded(
        &self,
        a: &IntervalSet,
        b: &IntervalSet,
        operation: RoundedOperation,
        infinite: impl Fn(Rank, Rank) -> Result<i32, Stop>,
    ) -> Result<IntervalSet, Stop> {
        let format = self.env.format;
        // A result below the smallest normal value counts as denormal even if it is rounded up to
        // that. The corner closest to zero shows whether there is one.
        let rounded_up = Cell::new(false);
        let range = |intervals: &[RankInterval]| {
            corners(intervals, |ranks| {
                if self.infinite(ranks[0]) != 0 || self.infinite(ranks[1]) != 0 {
                    let sign = infinite(ranks[0], ranks[1])?;
                    return Ok(RankInterval::point(if sign < 0 { format.neg_infinity() } else { format.infinity() }));
                }
                let values = [ranks[0], ranks[1]].map(|rank| format.value_of_rank(rank));
                let (interval, tiny) = decide_range(&RoundedQuestion { operation, values, env: self.env })?;
                rounded_up.set(rounded_up.get() || tiny);
                Ok(interval)
            })
        };
        let found = union_over_intervals(&[&a.members(), &b.members()], range)?;
        let zero = rounded_up.get().then_some(RankInterval::ZERO);
        self.as_intermediate(IntervalSet::union(found.intervals.into_iter().chain(zero)))
    }

    /// Applies flushing, and stops at an overflow where infinities are assumed not to occur.
    fn as_intermediate(&self, range: IntervalSet) -> Result<IntervalSet, Stop> {
        if self.env.not_inf && range.hull().has_infinity(self.env.format) {
            return Err(OVERFLOW);
        }
        Ok(self.flushed(range))
    }

    fn flushed(&self, range: IntervalSet) -> IntervalSet {
        let has_zero = range.intervals.iter().any(|s| s.has_zero());
        if !self.env.flush_inside || has_zero || !range.intervals.iter().any(|s| s.has_denormal(self.env.format)) {
            return range;
        }
        IntervalSet::union(range.intervals.into_iter().chain([RankInterval::ZERO]))
    }

    /// Value as an operation may read it: with zero if it is denormal and may be flushed.
    pub(crate) fn values_in_use(&self, interval: RankInterval) -> IntervalSet {
        self.flushed(interval.into())
    }

    /// Range of a real operation whose results are in the environment `results`.
    pub(crate) fn real_in(
        &self,
        real: RealOp,
        operands: &[IntervalSet],
        results: &Environment,
    ) -> Result<IntervalSet, Stop> {
        self.finite(operands)?;
        let operation = RealOperation { real, env: self.env, results };
        union_over_intervals(&operands.iter().collect::<SmallVec<[&IntervalSet; 8]>>(), |intervals| {
            extremes(&operation, intervals, self.budget())
        })
    }

    /// Stops at an operand that may be infinite: operations with a bound of their own have no
    /// stated precision for it.
    fn finite(&self, operands: &[IntervalSet]) -> Result<(), Stop> {
        match operands.iter().any(|o| o.hull().has_infinity(self.env.format)) {
            true => Err(Stop::Anything("an intermediate may be infinite, and the next operation may make a NaN of it")),
            false => Ok(()),
        }
    }
}

impl Evaluator for IntervalEvaluator<'_> {
    type Range = IntervalSet;

    fn constant(&self, value: Dyadic) -> Result<IntervalSet, Stop> {
        Ok(neighbours(value, self.env.format).into())
    }

    fn radians_per_degree(&self) -> Result<IntervalSet, Stop> {
        decide_range(&DegreeQuestion { inverse: false, env: self.env }).map(IntervalSet::from)
    }

    fn degrees_per_radian(&self) -> Result<IntervalSet, Stop> {
        decide_range(&DegreeQuestion { inverse: true, env: self.env }).map(IntervalSet::from)
    }

    fn add(&self, a: &IntervalSet, b: &IntervalSet) -> Result<IntervalSet, Stop> {
        self.rounded(a, b, RoundedOperation::Add, |a, b| match (self.infinite(a), self.infinite(b)) {
            (1, -1) | (-1, 1) => Err(Stop::Anything("infinities of opposite sign may meet, which makes a NaN")),
            (p, q) => Ok(p + q),
        })
    }

    fn mul(&self, a: &IntervalSet, b: &IntervalSet) -> Result<IntervalSet, Stop> {
        // Members inside the ranges may produce a NaN, not only the corners.
        let meet = |p: &IntervalSet, q: &IntervalSet| {
            p.hull().has_infinity(self.env.format) && q.intervals.iter().any(|s| s.has_zero())
        };
        if meet(a, b) || meet(b, a) {
            return Err(Stop::Anything("an infinity may meet a zero, which makes a NaN"));
        }
        let sign = |rank: Rank| if rank < 0 { -1 } else { 1 };
        self.rounded(a, b, RoundedOperation::Mul, |a, b| Ok(sign(a) * sign(b)))
    }

    fn neg(&self, a: &IntervalSet) -> IntervalSet {
        a.map(RankInterval::neg)
    }

    fn equality(&self, a: &IntervalSet, b: &IntervalSet) -> Option<Sign> {
        match self.env.equal_operands.then(|| (a.has_common_value(b), a.has_common_value(&self.neg(b))))? {
            (true, false) => Some(Sign::Same),
            (false, true) => Some(Sign::Opposite),
            (true, true) => Some(Sign::Either),
            (false, false) => [a, b].iter().all(|set| set.nonzero().next().is_none()).then_some(Sign::Same),
        }
    }

    fn hull(&self, a: &IntervalSet, b: &IntervalSet) -> IntervalSet {
        IntervalSet::union(a.intervals.iter().chain(&b.intervals).copied())
    }

    fn real(&self, real: RealOp, operands: &[IntervalSet]) -> Result<IntervalSet, Stop> {
        self.real_in(real, operands, self.env)
    }

    fn inherited(&self, formula: &Formula, operands: &[IntervalSet]) -> Result<IntervalSet, Stop> {
        self.finite(operands)?;
        let operation = InheritedOperation { formula, env: self.env };
        let range = |intervals: &[RankInterval]| {
            if !formula.zero_is_zero || !intervals[0].has_zero() {
                return extremes(&operation, intervals, self.budget());
            }
            if self.env.zero_unspecified {
                return Err(Stop::Anything("the formula of the square root divides by zero"));
            }
            let RankInterval { lo, hi } = intervals[0];
            if lo < -1 {
                return Err(Stop::Anything("the operand may be below zero, where the function is not defined"));
            }
            // Zero is treated separately, because the formula leads through an infinity there.
            if hi <= 0 {
                Ok(RankInterval::ZERO)
            } else {
                Ok(RankInterval::ZERO.hull(extremes(&operation, &[RankInterval { lo: 1, hi }], self.budget())?))
            }
        };
        union_over_intervals(&operands.iter().collect::<SmallVec<[&IntervalSet; 8]>>(), range)
    }

    fn bind(&self, value: &IntervalSet, body: &Formula) -> Result<IntervalSet, Stop> {
        if self.env.separate_uses {
            return body.range(self, std::slice::from_ref(value));
        }
        let operation = BoundOperation { body, env: self.env };
        union_over_intervals(&[value], |intervals| extremes(&operation, intervals, self.budget()))
    }

    fn integral(&self, operand: &IntervalSet, toward_zero: bool) -> Result<IntervalSet, Stop> {
        self.finite(std::slice::from_ref(operand))?;
        let format = self.env.format;
        union_over_intervals(&[operand], |intervals| {
            corners(intervals, |ranks| {
                let value = format.value_of_rank(ranks[0]);
                Ok(neighbours(if toward_zero { value.trunc() } else { value.floor() }, format))
            })
        })
    }

    fn clamp_to_unit(&self, operand: &IntervalSet) -> Result<IntervalSet, Stop> {
        let one = self.env.format.rank_of_one();
        Ok(operand.map(|RankInterval { lo, hi }| RankInterval { lo: lo.clamp(-1, one), hi: hi.clamp(0, one) }))
    }

    fn not_negative(&self, operand: &IntervalSet) -> Result<IntervalSet, Stop> {
        let kept = operand.intervals.iter().filter(|s| s.hi >= -1);
        let kept: SmallVec<[RankInterval; 8]> =
            kept.map(|s| RankInterval { lo: s.lo.max(-1), hi: s.hi.max(0) }).collect();
        // If there is no such member, the result does not matter: the formula is not evaluated
        // then.
        Ok(if kept.is_empty() { RankInterval::ZERO.into() } else { IntervalSet::union(kept) })
    }

    fn select(
        &self,
        condition: &IntervalSet,
        negative: impl FnOnce() -> Result<IntervalSet, Stop>,
        otherwise: impl FnOnce() -> Result<IntervalSet, Stop>,
    ) -> Result<IntervalSet, Stop> {
        let condition = condition.hull();
        match (condition.lo < -1, condition.hi >= -1) {
            (true, true) => Ok(self.hull(&negative()?, &otherwise()?)),
            (true, false) => negative(),
            (false, _) => otherwise(),
        }
    }

    fn settle(&self, formula: &Formula, node: NodeId, found: IntervalSet) -> Result<IntervalSet, Stop> {
        let as_intermediate = self.as_intermediate(found)?;
        if !matches!(formula.nodes[node], Node::Operand(_) | Node::Constant(_)) {
            self.derivation.note(|| {
                format!(
                    "{} gives {}",
                    formula.describe(node),
                    display::interval(as_intermediate.hull(), self.env.format)
                )
            });
        }
        Ok(as_intermediate)
    }

    fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        self.derivation.nested(f)
    }
}

/// Operands up to 2 to the power of minus this are next to zero.
const NEXT_TO_ZERO: i32 = 40;

/// Operation with a bound of its own inside a formula.
struct RealOperation<'a> {
    real: RealOp,
    /// Environment of the operands.
    env: &'a Environment,
    results: &'a Environment,
}

/// Question for the range of an operation over intervals: exact for intervals of one value,
/// otherwise a cover.
struct RealQuestion<'a> {
    operation: &'a RealOperation<'a>,
    intervals: &'a [RankInterval],
    cover: bool,
}

impl RangeQuestion for RealQuestion<'_> {
    type Answer = RankInterval;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<RankInterval, Stop> {
        let RealOperation { real, env, results } = *self.operation;
        let x: SmallVec<[R; 3]> = self.intervals.iter().map(|s| s.reals(env.format, precision)).collect();
        if self.cover { real.cover(&x, results, precision) } else { Ok(real.point(&x, results, precision)?.interval) }
    }
}

impl RealOperation<'_> {
    /// Returns the operand whose permitted results are those of every operand in an interval: that of an
    /// exponential next to zero.
    ///
    /// For `0 < |x| <= 2^-40` the exact result is `1 + d`, where `d` has the sign of `x` and `|d| < 2^-39`.
    /// The ends of its bound, `1 + d` plus or minus `n + 2|x|` ulp, differ from `1` plus or minus `n` ulp
    /// by as little, since an ulp is at most `2^-10`, and in the same direction. Those and the results
    /// near 1 are multiples of `2^-24`, so that only the sign of `x` decides which results are permitted.
    /// In `f64` the sign of `d` is lost from about `2^-53`, but not at `2^-40`.
    fn stands_for(&self, operand: RankInterval) -> Option<Rank> {
        let RealOperation { real, env, results } = *self;
        let is_coarse = |format: Format| format.fraction_bits <= F32.fraction_bits && format.fraction_bits >= 10;
        let is_exponential = matches!(real, RealOp::Exp | RealOp::Exp2);
        if !is_exponential || !is_coarse(results.format) || !is_coarse(results.bound_format) {
            return None;
        }
        let exponent = u64::try_from(env.format.bias() - NEXT_TO_ZERO).ok().filter(|exponent| *exponent > 0)?;
        let tiny = env.format.rank(exponent << env.format.fraction_bits);
        match operand {
            RankInterval { lo: 1.., hi } if hi <= tiny => Some(tiny),
            RankInterval { lo, hi: ..=-2 } if lo >= -1 - tiny => Some(-1 - tiny),
            _ => None,
        }
    }
}

impl Operation for RealOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<RankInterval, Stop> {
        let standing = |rank: Rank| RankInterval::point(self.stands_for(RankInterval::point(rank)).unwrap_or(rank));
        let intervals: SmallVec<[RankInterval; 3]> = operands.iter().map(|&rank| standing(rank)).collect();
        decide_range(&RealQuestion { operation: self, intervals: &intervals, cover: false })
    }

    fn cover(&self, operands: &[RankInterval], finely: bool) -> Result<RankInterval, Stop> {
        if let Some(rank) = self.stands_for(operands[0]) {
            return self.point(&[rank]);
        }
        try_decide_range(&RealQuestion { operation: self, intervals: operands, cover: true }, finely)
    }
}

/// Formula of a variable that has one value in all its uses.
struct BoundOperation<'a> {
    body: &'a Formula,
    env: &'a Environment,
}

impl BoundOperation<'_> {
    fn range(&self, value: RankInterval) -> Result<RankInterval, Stop> {
        let intervals = IntervalEvaluator { env: self.env, derivation: &Derivation::disabled() };
        Ok(self.body.range(&intervals, &[value.into()])?.hull())
    }
}

impl Operation for BoundOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<RankInterval, Stop> {
        self.range(RankInterval::point(operands[0]))
    }

    /// Evaluates the formula with independent uses of the variable: a superset of the results with
    /// one value.
    fn cover(&self, operands: &[RankInterval], _: bool) -> Result<RankInterval, Stop> {
        self.range(operands[0])
    }
}

/// Operation with an inherited bound inside another formula.
struct InheritedOperation<'a> {
    formula: &'a Formula,
    env: &'a Environment,
}

impl Operation for InheritedOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<RankInterval, Stop> {
        let intervals: SmallVec<[RankInterval; 8]> = operands.iter().map(|&r| RankInterval::point(r)).collect();
        match self.formula.point_interval(&intervals, self.env) {
            // For the next operation this is an operand like any other, which may make a NaN of it.
            Err(Stop::AnyNumber(_)) => Ok(RankInterval::all(self.env.format)),
            found => found,
        }
    }

    fn cover(&self, operands: &[RankInterval], finely: bool) -> Result<RankInterval, Stop> {
        self.formula.cover(operands, self.env, finely)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Modes, lists::Lists};
    use assay_float::{F16, F64};

    /// One operand stands for all others next to zero of its sign: their permitted results are the same.
    #[test]
    fn exponentials_of_all_operands_next_to_zero_permit_the_same() {
        let usual = Environment::new(&Modes::default(), Lists::default(), F32, F32);
        let half = Environment { format: F16, bound_format: F16, ..usual };
        let relaxed = usual.with_bound_format(F16);
        let tiny = F32.rank(u64::from(2f32.powi(-NEXT_TO_ZERO).to_bits()));
        for results in [&usual, &half, &relaxed] {
            for real in [RealOp::Exp, RealOp::Exp2] {
                let operation = RealOperation { real, env: &usual, results };
                let itself = |rank: Rank| {
                    let intervals = [RankInterval::point(rank)];
                    decide_range(&RealQuestion { operation: &operation, intervals: &intervals, cover: false })
                };
                let magnitudes = [1, 2, 1 << 20, 1 << 23, tiny / 2, tiny - (1 << 23) - 1, tiny - 1, tiny];
                for rank in magnitudes.into_iter().flat_map(|rank| [rank, -1 - rank]) {
                    assert_eq!(operation.point(&[rank]).ok(), itself(rank).ok(), "{real:?} {rank}");
                    let standing = operation.stands_for(RankInterval::point(rank));
                    assert_eq!(standing, Some(if rank > 0 { tiny } else { -1 - tiny }), "{rank}");
                }
                assert_ne!(operation.point(&[1]).ok(), operation.point(&[-2]).ok());
                for other in [RankInterval { lo: 0, hi: tiny }, RankInterval { lo: -1, hi: -1 }] {
                    assert_eq!(operation.stands_for(other), None);
                }
                assert_eq!(operation.stands_for(RankInterval::point(tiny + 1)), None);
            }
        }
    }

    /// The gap between the ends of binary64 exceeds the greatest rank; it must not be closed first.
    #[test]
    fn the_closest_intervals_are_joined() {
        let end = F64.infinity();
        let points = (0..IntervalSet::MAX_INTERVALS as i64).map(|i| RankInterval::point(end - 10 * i));
        let set = IntervalSet::union(points.chain([RankInterval::point(-1 - end)]));
        assert_eq!(set.intervals.len(), IntervalSet::MAX_INTERVALS);
        assert_eq!(set.intervals[0], RankInterval::point(-1 - end));
        assert!(set.intervals.iter().all(|interval| interval.width() <= 10));
        let all = RankInterval { lo: -1 - end, hi: end };
        let [low, high] = all.halves();
        assert_eq!((low.lo, low.hi + 1, high.hi), (all.lo, high.lo, all.hi));
        assert!(low.width().abs_diff(high.width()) <= 1);
    }
}
