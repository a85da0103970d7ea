//! Least and greatest value that an operation may return over a box of operands, by branch and
//! bound.
//!
//! The search is interval branch and bound (Moore, Kearfott & Cloud, *Introduction to Interval
//! Analysis*, 2009, chapters 5 and 6; Hansen & Walster, *Global Optimization Using Interval
//! Analysis*): single points bound the range from inside, certified covers of boxes from outside. A
//! box whose cover adds nothing to the points is dropped, every other one is halved along its
//! widest operand. Boxes are discrete here, so that the search ends by itself: an operand of at
//! most two values has only corners.

use crate::rank_interval::{RankInterval, Stop};
use assay_float::{BigEnclosure, Enclosure, EnclosureQuery, F64Enclosure, Rank, Undecided, decide};
use smallvec::{SmallVec, smallvec};

/// Question to certified enclosures whose answer may be that there is no range.
pub(crate) trait RangeQuestion {
    type Answer: PartialEq;

    /// Answers with the given precision; [`Stop::Undecided`] requests more.
    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Stop>;
}

/// Answer to the question with as much precision as it takes (Ziv's strategy, see [`decide`]). Each
/// operation of a formula asks separately, so that one hard case does not slow the others.
pub(crate) fn decide_range<A: RangeQuestion>(ask: &A) -> Result<A::Answer, Stop> {
    struct DecideRange<'a, A>(&'a A);
    impl<A: RangeQuestion> EnclosureQuery for DecideRange<'_, A> {
        type Answer = Result<A::Answer, Stop>;

        fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided> {
            match self.0.ask::<R>(precision) {
                Err(Stop::Undecided) => Err(Undecided),
                answer => Ok(answer),
            }
        }
    }
    decide(&DecideRange(ask))
}

/// Answer to the question if `f64` or a few hundred bits decide it. This serves for covers of
/// boxes: if the box is too large, no precision decides. With `finely`, `f64` is skipped, because
/// its answer may be too wide to be of use.
pub(crate) fn try_decide_range<A: RangeQuestion>(ask: &A, finely: bool) -> Result<A::Answer, Stop> {
    const PRECISIONS: [u32; 2] = [200, 600];
    let mut answer = if finely { Err(Stop::Undecided) } else { ask.ask::<F64Enclosure>(()) };
    for bits in PRECISIONS {
        if answer != Err(Stop::Undecided) {
            break;
        }
        answer = ask.ask::<BigEnclosure>(bits);
    }
    answer
}

/// Operation on values of one format.
pub(crate) trait Operation {
    /// Exact range of the permitted results for these operands.
    fn point(&self, operands: &[Rank]) -> Result<RankInterval, Stop>;

    /// Range that contains the permitted results for all operands in these intervals; a narrower
    /// one with `finely`.
    fn cover(&self, operands: &[RankInterval], finely: bool) -> Result<RankInterval, Stop>;
}

/// Number of boxes that are halved if one operand is a range. With `n` ranges it is divided by
/// `n^2`.
pub(crate) const BUDGET: usize = 256;
/// The same budget where bounds count the ulp of a format narrower than that of the values (the
/// lenient reading of 64 bits). Spans are then about 2^29 values wide, and a search down to single
/// values takes minutes if formulas are nested.
pub(crate) const COARSE_BUDGET: usize = 2;

type RankBox = SmallVec<[RankInterval; 4]>;

/// Hull of the permitted results over a box: exactly the least and the greatest, if the search is
/// complete.
///
/// Bounds in ulp jump where the result passes a power of two, and an inherited bound varies from
/// operand to operand, so that the extremes need not lie at the corners. In almost all cases the
/// corners suffice.
///
/// # Limits
///
/// After `budget` boxes, the covers of the remaining ones are added to the hull: the result is then
/// too wide rather than too narrow. This happens where several operands range over all values
/// between a denormal and the zero it may be flushed to.
pub(crate) fn extremes(
    operation: &impl Operation,
    operands: &[RankInterval],
    budget: usize,
) -> Result<RankInterval, Stop> {
    let (found, complete) = search(operation, operands, budget, false)?;
    // In `f64`, an error of 3 + 2 * 2^-100 ulp is rounded up to slightly more than 3, for which no
    // box is small enough.
    let (found, _) =
        if complete || budget < BUDGET { (found, true) } else { search(operation, operands, budget, true)? };
    Ok(found)
}

/// The search. Returns the hull, and true if the hull is exact.
fn search(
    operation: &impl Operation,
    operands: &[RankInterval],
    budget: usize,
    finely: bool,
) -> Result<(RankInterval, bool), Stop> {
    let mut found = corners(operands, |point| operation.point(point))?;
    let mut boxes: SmallVec<[RankBox; 16]> = smallvec![RankBox::from_slice(operands)];
    let free = operands.iter().filter(|s| !s.is_point()).count();
    let mut budget = budget / (free * free).max(1);
    let mut complete = true;
    while let Some(current) = boxes.pop() {
        // Spans of one or two values consist of their corners.
        let Some(widest) = widest(&current).filter(|&w| current[w].width() > 1) else { continue };
        let cover = match operation.cover(&current, finely) {
            // The halves may have a cover.
            Err(Stop::Undecided) if budget > 0 => RankInterval { lo: Rank::MIN, hi: Rank::MAX },
            Err(Stop::Undecided) => return Err(Stop::Anything("no bound is found for the range of an intermediate")),
            cover => cover?,
        };
        if found.lo <= cover.lo && cover.hi <= found.hi {
            continue;
        }
        if budget == 0 {
            complete = false;
            found = found.hull(cover);
            continue;
        }
        budget -= 1;
        let [lower, upper] = current[widest].halves();
        for (half, cut) in [(lower, lower.hi), (upper, upper.lo)] {
            let mut part = current.clone();
            // The other corners are corners of the whole box.
            part[widest] = RankInterval::point(cut);
            found = found.hull(corners(&part, |point| operation.point(point))?);
            part[widest] = half;
            boxes.push(part);
        }
    }
    Ok((found, complete))
}

/// Hull of an operation over the corners of a box: its range, if the operation is monotone in each
/// operand.
pub(crate) fn corners(
    operands: &[RankInterval],
    mut point: impl FnMut(&[Rank]) -> Result<RankInterval, Stop>,
) -> Result<RankInterval, Stop> {
    let mut operand: SmallVec<[Rank; 4]> = operands.iter().map(|s| s.lo).collect();
    let mut found = point(&operand)?;
    loop {
        // Counts through the corners as through binary numbers, without the operands of one value.
        let mut next = 0;
        loop {
            let Some(interval) = operands.get(next) else { return Ok(found) };
            if interval.lo != interval.hi && operand[next] == interval.lo {
                operand[next] = interval.hi;
                break;
            }
            operand[next] = interval.lo;
            next += 1;
        }
        found = found.hull(point(&operand)?);
    }
}

/// Index of the operand with the most values. `None` if each has only one.
fn widest(operands: &[RankInterval]) -> Option<usize> {
    let (index, interval) = operands.iter().enumerate().max_by_key(|(_, s)| s.width())?;
    (interval.lo != interval.hi).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Function with dips that no corner shows.
    struct Sawtooth;

    impl Operation for Sawtooth {
        fn point(&self, x: &[Rank]) -> Result<RankInterval, Stop> {
            let value = x[0] + x[1];
            let slack = 1 << (value.max(1).ilog2() / 2);
            Ok(RankInterval { lo: value - slack, hi: value + slack })
        }

        fn cover(&self, x: &[RankInterval], _: bool) -> Result<RankInterval, Stop> {
            let (lo, hi) = (x[0].lo + x[1].lo, x[0].hi + x[1].hi);
            let slack = 1 << (hi.max(1).ilog2() / 2);
            Ok(RankInterval { lo: lo - slack, hi: hi + slack })
        }
    }

    #[test]
    fn extremes_equal_those_of_an_enumeration() {
        for a in 0..40 {
            for b in 0..20 {
                let intervals = [RankInterval { lo: a, hi: a + b }, RankInterval { lo: 3 * a, hi: 3 * a + b / 3 }];
                let mut all: Option<RankInterval> = None;
                for x in intervals[0].lo..=intervals[0].hi {
                    for y in intervals[1].lo..=intervals[1].hi {
                        let one = Sawtooth.point(&[x, y]).unwrap();
                        all = Some(all.map_or(one, |s| s.hull(one)));
                    }
                }
                assert_eq!(extremes(&Sawtooth, &intervals, BUDGET).ok(), all);
            }
        }
    }
}
