//! Real functions and formulas over boxes: the least and the greatest permitted value by branch and
//! bound.
//!
//! The method is that of [`crate::extremes`], for whole instructions. It differs in the order of
//! the search, which is breadth-first here, and in that it reports whether the search was complete
//! ([`Tightness`]).

use super::{Effort, Part, Tightness, Walk, parts};
use crate::{
    environment::Environment,
    evaluate::Kernel,
    extremes::{Ask, briefly, corners},
    formula::Formula,
    real::Real,
    span::{Span, Stop},
};
use assay_float::{Enclosure, Rank, RankRange, Set};
use smallvec::SmallVec;
use std::{cell::Cell, collections::VecDeque};

type Box = SmallVec<[Span; 8]>;

/// Number of boxes that are halved before the covers of the others are accepted.
const REAL_BUDGET: usize = 160;
/// The same budget for formulas if no operand is a range; it halves with every operand that is one.
const FORMULA_BUDGET: usize = 32;
/// Greatest number of ranges for which corners are visited; there are too many corners otherwise.
const CORNERS: usize = 3;

impl Walk<'_> {
    /// Permitted results of a function with a bound of its own over one part of each operand.
    pub(super) fn real(&self, real: Real, choice: &[Part]) -> Set {
        let slot = self.slot;
        let special = choice.iter().zip(&slot.inputs).any(|(part, &(_, scalar))| part.is_special(scalar));
        let by_zero = real == Real::Div && matches!(choice[1], Part::Range(span) if span.has_zero());
        if special || by_zero {
            return self.classes(choice);
        }
        let operands = spans(choice);
        let tiny = Cell::new(false);
        let point = |ranks: &[Rank]| self.point(ranks, &tiny);
        let found = match real {
            Real::Add
            | Real::Sub
            | Real::Mul
            | Real::Fma
            | Real::Difference
            | Real::FromInt
            | Real::Convert
            | Real::PackHalf
            | Real::Dot
            | Real::Ldexp => corners(&operands, point),
            // Correctly rounded, and monotone between integers.
            Real::Fract if self.is_of_one_whole(operands[0]) => corners(&operands, point),
            Real::Fract => {
                self.loosen(Tightness::Enclosure);
                tiny.set(true);
                Ok(Span { lo: -1, hi: slot.env.format.rank_of_one() })
            }
            Real::Div
            | Real::Unpack
            | Real::Width
            | Real::Exp
            | Real::Exp2
            | Real::Log
            | Real::Log2
            | Real::InverseSqrt
            | Real::Sin
            | Real::Cos
            | Real::Atan
            | Real::Atan2 => self.search(&operands, REAL_BUDGET, point, |spans| self.real_cover(real, spans)),
        };
        self.finished(found, tiny.get(), &operands)
    }

    /// Permitted results of an inherited precision over one part of each operand.
    pub(super) fn formula(&self, formula: &Formula, choice: &[Part]) -> Set {
        let slot = self.slot;
        if choice.contains(&Part::Nan) {
            return Set::anything();
        }
        if choice.iter().zip(&slot.inputs).any(|(part, &(_, scalar))| part.is_special(scalar)) {
            return self.unknown();
        }
        let operands = spans(choice);
        let tiny = Cell::new(false);
        let point = |ranks: &[Rank]| self.point(ranks, &tiny);
        let free = operands.iter().filter(|s| s.lo != s.hi).count();
        let found =
            self.search(&operands, FORMULA_BUDGET >> free.min(5), point, |spans| self.formula_cover(formula, spans));
        // Only single points show which results are tiny.
        let near = |span: &Span| {
            let edge = slot.env.format.min_normal();
            span.lo <= edge && span.hi >= -1 - edge
        };
        let tiny = tiny.get() || found.as_ref().is_ok_and(near);
        self.finished(found, tiny, &operands)
    }

    /// Permitted results where only class, sign and range of the operands matter: the corners show
    /// all of them.
    fn classes(&self, choice: &[Part]) -> Set {
        let mut found = Set::empty();
        let span = |part: &Part| match part {
            Part::Nan => Span::point(0),
            Part::Range(span) => *span,
        };
        let all: Box = choice.iter().map(span).collect();
        let _ = corners(&all, |ranks| {
            let single = |(&rank, part): (&Rank, &Part)| match part {
                Part::Nan => Part::Nan,
                Part::Range(_) => Part::Range(Span::point(rank)),
            };
            let corner: SmallVec<[Part; 8]> = ranks.iter().zip(choice).map(single).collect();
            found.union_with(&self.single(&corner));
            Ok(Span::ZERO)
        });
        found
    }

    /// Permitted results at one point, before the environment is applied.
    fn point(&self, ranks: &[Rank], tiny: &Cell<bool>) -> Result<Span, Stop> {
        let x: SmallVec<[u64; 8]> =
            ranks.iter().zip(&self.slot.inputs).map(|(&rank, &(_, scalar))| parts::bits(rank, scalar)).collect();
        let (set, is_tiny) = self.run.unfinished(&x)?;
        tiny.set(tiny.get() || is_tiny);
        let hull = set.hull().ok_or(Stop::Anything("no number is permitted"))?;
        Ok(Span { lo: hull.lo, hi: hull.hi })
    }

    /// Applies the environment to the hull of the permitted results over a box.
    fn finished(&self, found: Result<Span, Stop>, tiny: bool, operands: &[Span]) -> Set {
        let format = self.slot.env.format;
        match found {
            Ok(span) => {
                let mut set = Set::range(span.lo, span.hi);
                // The flush of Ldexp that the instruction set names, at the least exponent.
                if matches!(self.slot.kernel, Kernel::Real(Real::Ldexp)) {
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
        operands: &[Span],
        budget: usize,
        point: impl Fn(&[Rank]) -> Result<Span, Stop>,
        cover: impl Fn(&[Span]) -> Result<Span, Stop>,
    ) -> Result<Span, Stop> {
        let free = operands.iter().filter(|s| s.lo != s.hi).count();
        let mut found = if free <= CORNERS { Some(corners(operands, &point)?) } else { None };
        let mut boxes: VecDeque<Box> = VecDeque::from([Box::from_slice(operands)]);
        let mut budget = budget;
        while let Some(current) = boxes.pop_front() {
            let (widest, span) =
                current.iter().copied().enumerate().max_by_key(|(_, s)| s.hi - s.lo).expect("an operand");
            if span.hi - span.lo <= 1 && found.is_some() {
                continue;
            }
            let cover = cover(&current);
            if let (Some(known), Ok(cover)) = (found, &cover)
                && known.lo <= cover.lo
                && cover.hi <= known.hi
            {
                continue;
            }
            let suffices = self.effort == Effort::Enclose && adds_little(found, &cover);
            if budget == 0 || suffices || span.hi == span.lo {
                self.loosen(Tightness::Enclosure);
                match cover {
                    Ok(cover) => found = Some(found.map_or(cover, |f| f.hull(cover))),
                    Err(stop) => return Err(stop),
                }
                continue;
            }
            budget -= 1;
            let middle = span.lo + (span.hi - span.lo) / 2;
            for half in [Span { lo: span.lo, hi: middle }, Span { lo: middle + 1, hi: span.hi }] {
                let mut part = current.clone();
                part[widest] = half;
                if let Some(known) = found {
                    found = Some(known.hull(corners(&part, &point)?));
                }
                boxes.push_back(part);
            }
        }
        found.ok_or(Stop::Undecided)
    }

    /// Certified cover of a function over a box.
    fn real_cover(&self, real: Real, spans: &[Span]) -> Result<Span, Stop> {
        let covered = briefly(&Covered { walk: self, real, spans }, false)?;
        // Atan2 may lie on either side of its cut.
        match real {
            Real::Atan2 => Ok(self.both_sides(spans, covered)),
            _ => Ok(covered),
        }
    }

    /// Cover of Atan2, with its mirror image if the operands lie on the cut.
    fn both_sides(&self, spans: &[Span], covered: Span) -> Span {
        if spans[0].has_zero() && spans[1].lo < -1 { covered.hull(covered.neg()) } else { covered }
    }

    /// Real numbers that the spans contain.
    fn reals<R: Enclosure>(&self, spans: &[Span], precision: R::Precision) -> SmallVec<[R; 8]> {
        let bits = |end: fn(&Span) -> Rank| -> SmallVec<[u64; 8]> {
            spans.iter().zip(&self.slot.inputs).map(|(span, &(_, scalar))| parts::bits(end(span), scalar)).collect()
        };
        let (low, high) = (bits(|s| s.lo), bits(|s| s.hi));
        (0..spans.len())
            .map(|i| {
                let end = |x: &[u64]| R::exact(self.slot.value(x, i), precision);
                if low[i] == high[i] { end(&low) } else { end(&low).hull(&end(&high)) }
            })
            .collect()
    }

    /// Certified cover of a formula over a box.
    fn formula_cover(&self, formula: &Formula, spans: &[Span]) -> Result<Span, Stop> {
        // A box with a cover that is too wide is halved anyway.
        let env = Environment { coarse: true, ..self.run.reading() };
        let span = formula.cover(spans, &env, false)?;
        if span.has_infinity(env.format) {
            // Single values show whether a formula overflows, and what that permits.
            return Err(Stop::Anything("a formula may overflow for some members"));
        }
        Ok(span)
    }

    /// Returns true if all members have the same floor.
    fn is_of_one_whole(&self, span: Span) -> bool {
        let floor = |rank: Rank| self.slot.env.format.value_of_rank(rank).floor();
        floor(span.lo) == floor(span.hi)
    }
}

/// Returns true if a cover adds little to the known range at each end: at most four values and an
/// eighth of the range.
fn adds_little(known: Option<Span>, cover: &Result<Span, Stop>) -> bool {
    let (Some(known), Ok(cover)) = (known, cover) else { return false };
    let little = 4 + known.hi.abs_diff(known.lo) / 8;
    let beyond = |from: Rank, to: Rank| to > from && to.abs_diff(from) > little;
    !beyond(cover.lo, known.lo) && !beyond(known.hi, cover.hi)
}

/// Question for the cover of a function over a box.
struct Covered<'a> {
    walk: &'a Walk<'a>,
    real: Real,
    spans: &'a [Span],
}

impl Ask for Covered<'_> {
    type Answer = Span;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Span, Stop> {
        self.real.cover(&self.walk.reals::<R>(self.spans, precision), &self.walk.run.reading(), precision)
    }
}

fn spans(choice: &[Part]) -> Box {
    let span = |part: &Part| match part {
        Part::Range(span) => Some(*span),
        Part::Nan => None,
    };
    choice.iter().filter_map(span).collect()
}
