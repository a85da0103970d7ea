//! The least and the greatest value that an operation may return over boxes of operands.

use crate::span::{Span, Stop};
use assay_float::{Big, Enclosure, Fast, Question, Rank, Undecided, decide};
use smallvec::{SmallVec, smallvec};

/// A question to certified enclosures that may have no answer in numbers.
pub(crate) trait Ask {
    type Answer: PartialEq;

    /// The answer; [`Stop::Undecided`] asks for more precision.
    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Stop>;
}

/// The answer, with as many bits as it takes. Each operation of a formula asks on its own, so that one hard case does not make the
/// others slow.
pub(crate) fn surely<A: Ask>(ask: &A) -> Result<A::Answer, Stop> {
    struct Sure<'a, A>(&'a A);
    impl<A: Ask> Question for Sure<'_, A> {
        type Answer = Result<A::Answer, Stop>;

        fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided> {
            match self.0.ask::<R>(precision) {
                Err(Stop::Undecided) => Err(Undecided),
                answer => Ok(answer),
            }
        }
    }
    decide(&Sure(ask))
}

/// The answer, if `f64` or some more bits show it: for covers of boxes, which no precision decides where the box is too large.
/// `finely`: not in `f64`, whose answer may be too wide to be of use.
pub(crate) fn briefly<A: Ask>(ask: &A, finely: bool) -> Result<A::Answer, Stop> {
    const PRECISIONS: [u32; 2] = [200, 600];
    let mut answer = if finely { Err(Stop::Undecided) } else { ask.ask::<Fast>(()) };
    for bits in PRECISIONS {
        if answer != Err(Stop::Undecided) {
            break;
        }
        answer = ask.ask::<Big>(bits);
    }
    answer
}

/// An operation on values of one format.
pub(crate) trait Operation {
    /// Exactly what may be returned for these operands.
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop>;

    /// A range that covers what may be returned for any operands in these spans; as narrow as may be if `finely`.
    fn cover(&self, operands: &[Span], finely: bool) -> Result<Span, Stop>;
}

/// How many boxes are looked into, for one operand that is a range; a quarter for two, and so on.
pub(crate) const BUDGET: usize = 256;
/// The same where bounds count the ulp of a narrower format than that of the values (the lenient reading of 64 bits): spans are
/// then some 2^29 values wide, and a search that goes down to single ones takes minutes where formulas are nested.
pub(crate) const COARSE_BUDGET: usize = 2;

type Box = SmallVec<[Span; 4]>;

/// The hull of what may be returned for operands in these spans: exactly the least and the greatest permitted value.
///
/// Bounds in ulp jump where the result passes a power of two, and an inherited bound varies from operand to operand, so
/// that the extremes need not lie at the corners. Branch and bound finds them all the same: a box is dropped when its cover adds
/// nothing to what single points have already shown, and halved otherwise. Almost always the corners settle it.
///
/// After `budget` boxes the covers of those left over count as found: the result is then a little wide rather than too
/// narrow. That happens where several operands range over all that lies between a denormal and the zero it may be flushed to.
pub(crate) fn extremes(operation: &impl Operation, operands: &[Span], budget: usize) -> Result<Span, Stop> {
    let (found, complete) = search(operation, operands, budget, false)?;
    // In f64 an error of 3 + 2 * 2^-100 ulp is a little more than 3, for which no box is small enough.
    let (found, _) =
        if complete || budget < BUDGET { (found, true) } else { search(operation, operands, budget, true)? };
    Ok(found)
}

/// The search: what was found, and whether that is all there is.
fn search(operation: &impl Operation, operands: &[Span], budget: usize, finely: bool) -> Result<(Span, bool), Stop> {
    let mut found = corners(operands, |point| operation.point(point))?;
    let mut boxes: SmallVec<[Box; 16]> = smallvec![Box::from_slice(operands)];
    let free = operands.iter().filter(|s| !s.is_point()).count();
    let mut budget = budget / (free * free).max(1);
    let mut complete = true;
    while let Some(current) = boxes.pop() {
        // Of spans of one or two values the corners are all there is.
        let Some(widest) = widest(&current).filter(|&w| current[w].hi - current[w].lo > 1) else { continue };
        let cover = match operation.cover(&current, finely) {
            // Of the halves there may be more to say.
            Err(Stop::Undecided) if budget > 0 => Span { lo: Rank::MIN, hi: Rank::MAX },
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
        let Span { lo, hi } = current[widest];
        let middle = lo + (hi - lo) / 2;
        for half in [Span { lo, hi: middle }, Span { lo: middle + 1, hi }] {
            let mut part = current.clone();
            part[widest] = half;
            found = found.hull(corners(&part, |point| operation.point(point))?);
            boxes.push(part);
        }
    }
    Ok((found, complete))
}

/// The hull of an operation over the corners of a box: its range, if the operation is monotone in each operand.
pub(crate) fn corners(operands: &[Span], mut point: impl FnMut(&[Rank]) -> Result<Span, Stop>) -> Result<Span, Stop> {
    let mut operand: SmallVec<[Rank; 4]> = operands.iter().map(|s| s.lo).collect();
    let mut found = point(&operand)?;
    loop {
        // Count through the corners like through binary numbers, skipping operands of one value.
        let mut next = 0;
        loop {
            let Some(span) = operands.get(next) else { return Ok(found) };
            if span.lo != span.hi && operand[next] == span.lo {
                operand[next] = span.hi;
                break;
            }
            operand[next] = span.lo;
            next += 1;
        }
        found = found.hull(point(&operand)?);
    }
}

/// The operand with the most values; none if each has only one.
fn widest(operands: &[Span]) -> Option<usize> {
    let (index, span) = operands.iter().enumerate().max_by_key(|(_, s)| s.hi - s.lo)?;
    (span.lo != span.hi).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with dips that no corner shows.
    struct Sawtooth;

    impl Operation for Sawtooth {
        fn point(&self, x: &[Rank]) -> Result<Span, Stop> {
            let value = x[0] + x[1];
            let slack = 1 << (value.max(1).ilog2() / 2);
            Ok(Span { lo: value - slack, hi: value + slack })
        }

        fn cover(&self, x: &[Span], _: bool) -> Result<Span, Stop> {
            let (lo, hi) = (x[0].lo + x[1].lo, x[0].hi + x[1].hi);
            let slack = 1 << (hi.max(1).ilog2() / 2);
            Ok(Span { lo: lo - slack, hi: hi + slack })
        }
    }

    #[test]
    fn extremes_equal_those_of_an_enumeration() {
        for a in 0..40 {
            for b in 0..20 {
                let spans = [Span { lo: a, hi: a + b }, Span { lo: 3 * a, hi: 3 * a + b / 3 }];
                let mut all: Option<Span> = None;
                for x in spans[0].lo..=spans[0].hi {
                    for y in spans[1].lo..=spans[1].hi {
                        let one = Sawtooth.point(&[x, y]).unwrap();
                        all = Some(all.map_or(one, |s| s.hull(one)));
                    }
                }
                assert_eq!(extremes(&Sawtooth, &spans, BUDGET).ok(), all);
            }
        }
    }
}
