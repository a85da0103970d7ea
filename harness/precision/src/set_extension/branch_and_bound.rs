//! Real functions and formulas over boxes: the least and the greatest permitted value by branch and
//! bound.
//!
//! The method is that of [`crate::range_bounds`], for whole instructions. It differs in the order
//! of the search, which is breadth-first here, and in that it reports whether the search was
//! complete ([`Tightness`]).

use super::{Effort, OperandPart, SetEvaluation, Tightness, partition};
use crate::{
    environment::Environment,
    formula::Formula,
    range_bounds::{RangeQuestion, corners, try_decide_range},
    rank_interval::{RankInterval, Stop},
    real_op::RealOp,
    result_slot::ResultRule,
};
use assay_float::{Enclosure, Rank, RankRange, Set};
use smallvec::SmallVec;
use std::{cell::Cell, collections::VecDeque};

type RankBox = SmallVec<[RankInterval; 8]>;

/// Number of boxes that are halved before the covers of the others are accepted.
const REAL_BUDGET: usize = 160;
/// The same budget for formulas if no operand is a range; it halves with every operand that is one.
const FORMULA_BUDGET: usize = 32;
/// Values by which a cover may exceed the known results to be computed finely.
const FINE: Rank = 4;
/// Greatest number of ranges for which corners are visited; there are too many corners otherwise.
const CORNERS: usize = 3;

impl SetEvaluation<'_> {
    /// Permitted results of a function with a bound of its own over one part of each operand.
    pub(super) fn real(&self, real: RealOp, choice: &[OperandPart]) -> Set {
        let slot = self.slot;
        let special = choice.iter().zip(&slot.inputs).any(|(part, &(_, scalar))| part.is_special(scalar));
        let by_zero = real == RealOp::Div && matches!(choice[1], OperandPart::Range(interval) if interval.has_zero());
        if special || by_zero {
            return self.classes(choice);
        }
        let operands = intervals(choice);
        let tiny = Cell::new(false);
        let point = |ranks: &[Rank]| self.point(ranks, &tiny);
        let found = match real {
            RealOp::Add
            | RealOp::Sub
            | RealOp::Mul
            | RealOp::Fma
            | RealOp::Difference
            | RealOp::FromInt
            | RealOp::Convert
            | RealOp::PackHalf
            | RealOp::Dot
            | RealOp::Ldexp => corners(&operands, point),
            // Correctly rounded, and monotone between integers.
            RealOp::Fract if self.is_of_one_whole(operands[0]) => corners(&operands, point),
            RealOp::Fract => {
                self.loosen(Tightness::Enclosure);
                tiny.set(true);
                Ok(RankInterval { lo: -1, hi: slot.env.format.rank_of_one() })
            }
            RealOp::Div
            | RealOp::Unpack
            | RealOp::Width
            | RealOp::Exp
            | RealOp::Exp2
            | RealOp::Log
            | RealOp::Log2
            | RealOp::InverseSqrt
            | RealOp::Sin
            | RealOp::Cos
            | RealOp::Atan
            | RealOp::Atan2 => {
                self.search(&operands, REAL_BUDGET, point, |intervals, known| self.real_cover(real, intervals, known))
            }
        };
        self.finished(found, tiny.get(), &operands)
    }

    /// Permitted results of an inherited precision over one part of each operand.
    pub(super) fn formula(&self, formula: &Formula, choice: &[OperandPart]) -> Set {
        let slot = self.slot;
        if choice.contains(&OperandPart::Nan) {
            return Set::anything();
        }
        if choice.iter().zip(&slot.inputs).any(|(part, &(_, scalar))| part.is_special(scalar)) {
            return self.unknown();
        }
        let operands = intervals(choice);
        // Only single points show which results are tiny.
        let near = |interval: &RankInterval| {
            let edge = slot.env.format.min_normal();
            interval.lo <= edge && interval.hi >= -1 - edge
        };
        if self.effort == Effort::Cover
            && let Ok(cover) = self.formula_cover(formula, &operands)
        {
            self.loosen(Tightness::Enclosure);
            return self.finished(Ok(cover), near(&cover), &operands);
        }
        let tiny = Cell::new(false);
        let point = |ranks: &[Rank]| self.point(ranks, &tiny);
        let free = operands.iter().filter(|s| s.lo != s.hi).count();
        let found = self.search(&operands, FORMULA_BUDGET >> free.min(5), point, |intervals, _| {
            self.formula_cover(formula, intervals)
        });
        let tiny = tiny.get() || found.as_ref().is_ok_and(near);
        self.finished(found, tiny, &operands)
    }

    /// Permitted results where only class, sign and range of the operands matter: the corners show
    /// all of them.
    fn classes(&self, choice: &[OperandPart]) -> Set {
        let mut found = Set::empty();
        let interval = |part: &OperandPart| match part {
            OperandPart::Nan => RankInterval::point(0),
            OperandPart::Range(interval) => *interval,
        };
        let all: RankBox = choice.iter().map(interval).collect();
        let _ = corners(&all, |ranks| {
            let single = |(&rank, part): (&Rank, &OperandPart)| match part {
                OperandPart::Nan => OperandPart::Nan,
                OperandPart::Range(_) => OperandPart::Range(RankInterval::point(rank)),
            };
            let corner: SmallVec<[OperandPart; 8]> = ranks.iter().zip(choice).map(single).collect();
            found.union_with(&self.single(&corner));
            Ok(RankInterval::ZERO)
        });
        found
    }

    /// Permitted results at one point, before the environment is applied.
    fn point(&self, ranks: &[Rank], tiny: &Cell<bool>) -> Result<RankInterval, Stop> {
        let x: SmallVec<[u64; 8]> =
            ranks.iter().zip(&self.slot.inputs).map(|(&rank, &(_, scalar))| partition::bits(rank, scalar)).collect();
        let (set, is_tiny) = self.evaluation.rule_results(&x)?;
        tiny.set(tiny.get() || is_tiny);
        let hull = set.hull().ok_or(Stop::Anything("no number is permitted"))?;
        Ok(RankInterval { lo: hull.lo, hi: hull.hi })
    }

    /// Applies the environment to the hull of the permitted results over a box.
    fn finished(&self, found: Result<RankInterval, Stop>, tiny: bool, operands: &[RankInterval]) -> Set {
        let format = self.slot.env.format;
        match found {
            Ok(interval) => {
                let mut set = Set::range(interval.lo, interval.hi);
                // The flush of Ldexp that the instruction set names, at the least exponent.
                if matches!(self.slot.rule, ResultRule::Real(RealOp::Ldexp)) {
                    let exponent = |rank: Rank| (rank as u32).cast_signed();
                    if exponent(operands[1].lo) < format.min_normal_exponent() {
                        set.insert(RankRange::new(-1, 0));
                    }
                }
                self.finished_hull(set, tiny)
            }
            Err(Stop::AnyNumber(_)) => Set::range(format.neg_infinity(), format.infinity()),
            Err(Stop::Anything(_)) => Set::anything(),
            Err(Stop::Undecided) => self.unknown(),
        }
    }

    /// Branch and bound: the hull of the results at single points, and of the covers of the boxes
    /// that remain when the budget is spent.
    ///
    /// Boxes are visited in the order of their size (breadth first), so that the remaining ones are
    /// about equally fine everywhere.
    fn search(
        &self,
        operands: &[RankInterval],
        budget: usize,
        point: impl Fn(&[Rank]) -> Result<RankInterval, Stop>,
        cover: impl Fn(&[RankInterval], Option<RankInterval>) -> Result<RankInterval, Stop>,
    ) -> Result<RankInterval, Stop> {
        let free = operands.iter().filter(|s| s.lo != s.hi).count();
        let mut found = if free <= CORNERS { Some(corners(operands, &point)?) } else { None };
        let mut boxes: VecDeque<RankBox> = VecDeque::from([RankBox::from_slice(operands)]);
        let mut budget = budget;
        while let Some(current) = boxes.pop_front() {
            let (widest, interval) =
                current.iter().copied().enumerate().max_by_key(|(_, s)| s.width()).expect("an operand");
            if interval.width() <= 1 && found.is_some() {
                continue;
            }
            let cover = cover(&current, found);
            if let (Some(known), Ok(cover)) = (found, &cover)
                && known.lo <= cover.lo
                && cover.hi <= known.hi
            {
                continue;
            }
            let suffices = self.effort == Effort::Enclose && adds_little(found, &cover);
            if budget == 0 || suffices || interval.hi == interval.lo {
                self.loosen(Tightness::Enclosure);
                match cover {
                    Ok(cover) => found = Some(found.map_or(cover, |f| f.hull(cover))),
                    Err(stop) => return Err(stop),
                }
                continue;
            }
            budget -= 1;
            let [lower, upper] = interval.halves();
            for (half, cut) in [(lower, lower.hi), (upper, upper.lo)] {
                let mut part = current.clone();
                if let Some(known) = found {
                    // The other corners are corners of the whole box.
                    part[widest] = RankInterval::point(cut);
                    found = Some(known.hull(corners(&part, &point)?));
                }
                part[widest] = half;
                boxes.push_back(part);
            }
        }
        found.ok_or(Stop::Undecided)
    }

    /// Certified cover of a function over a box. It is computed finely if the first one hardly
    /// exceeds the known results: in `f64`, an error of 3 + 2 * 2^-100 ulp is rounded up to
    /// slightly more than 3, for which no box is small enough.
    fn real_cover(
        &self,
        real: RealOp,
        intervals: &[RankInterval],
        known: Option<RankInterval>,
    ) -> Result<RankInterval, Stop> {
        let question = CoverQuestion { sets: self, real, intervals };
        let mut covered = try_decide_range(&question, false)?;
        let exceeds = |known: RankInterval| {
            let beyond = (known.lo - covered.lo).max(covered.hi - known.hi);
            self.effort == Effort::Search && (1..=FINE).contains(&beyond)
        };
        if known.is_some_and(exceeds) {
            covered = try_decide_range(&question, true)?;
        }
        // Atan2 may lie on either side of its cut.
        match real {
            RealOp::Atan2 => Ok(self.both_sides(intervals, covered)),
            _ => Ok(covered),
        }
    }

    /// Cover of Atan2, with its mirror image if the operands lie on the cut.
    fn both_sides(&self, intervals: &[RankInterval], covered: RankInterval) -> RankInterval {
        if intervals[0].has_zero() && intervals[1].lo < -1 { covered.hull(covered.neg()) } else { covered }
    }

    /// Real numbers that the intervals contain.
    fn reals<R: Enclosure>(&self, intervals: &[RankInterval], precision: R::Precision) -> SmallVec<[R; 8]> {
        let bits = |end: fn(&RankInterval) -> Rank| -> SmallVec<[u64; 8]> {
            intervals
                .iter()
                .zip(&self.slot.inputs)
                .map(|(interval, &(_, scalar))| partition::bits(end(interval), scalar))
                .collect()
        };
        let (low, high) = (bits(|s| s.lo), bits(|s| s.hi));
        (0..intervals.len())
            .map(|i| {
                let end = |x: &[u64]| R::exact(self.slot.value(x, i), precision);
                if low[i] == high[i] { end(&low) } else { end(&low).hull(&end(&high)) }
            })
            .collect()
    }

    /// Certified cover of a formula over a box.
    fn formula_cover(&self, formula: &Formula, intervals: &[RankInterval]) -> Result<RankInterval, Stop> {
        // A box with a cover that is too wide is halved anyway.
        let env = Environment { coarse: true, ..self.evaluation.environment() };
        let interval = formula.cover(intervals, &env, false)?;
        if interval.has_infinity(env.format) {
            // Single values show whether a formula overflows, and what that permits.
            return Err(Stop::Anything("a formula may overflow for some members"));
        }
        Ok(interval)
    }

    /// Returns true if all members have the same floor.
    fn is_of_one_whole(&self, interval: RankInterval) -> bool {
        let floor = |rank: Rank| self.slot.env.format.value_of_rank(rank).floor();
        floor(interval.lo) == floor(interval.hi)
    }
}

/// Returns true if a cover adds little to the known range at each end: at most four values and an
/// eighth of the range.
fn adds_little(known: Option<RankInterval>, cover: &Result<RankInterval, Stop>) -> bool {
    let (Some(known), Ok(cover)) = (known, cover) else { return false };
    let little = 4 + known.hi.abs_diff(known.lo) / 8;
    let beyond = |from: Rank, to: Rank| to > from && to.abs_diff(from) > little;
    !beyond(cover.lo, known.lo) && !beyond(known.hi, cover.hi)
}

/// Question for the cover of a function over a box.
struct CoverQuestion<'a> {
    sets: &'a SetEvaluation<'a>,
    real: RealOp,
    intervals: &'a [RankInterval],
}

impl RangeQuestion for CoverQuestion<'_> {
    type Answer = RankInterval;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<RankInterval, Stop> {
        self.real.cover(
            &self.sets.reals::<R>(self.intervals, precision),
            &self.sets.evaluation.environment(),
            precision,
        )
    }
}

fn intervals(choice: &[OperandPart]) -> RankBox {
    let interval = |part: &OperandPart| match part {
        OperandPart::Range(interval) => Some(*interval),
        OperandPart::Nan => None,
    };
    choice.iter().filter_map(interval).collect()
}
