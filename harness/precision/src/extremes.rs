//! The least and the greatest value that an operation may return over boxes of operands.

use crate::span::{Span, Stop};
use assay_float::Rank;
use smallvec::{SmallVec, smallvec};

/// An operation on values of one format.
pub(crate) trait Operation {
    /// Exactly what may be returned for these operands.
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop>;

    /// A range that covers what may be returned for any operands in these spans.
    fn cover(&self, operands: &[Span]) -> Result<Span, Stop>;
}

/// How many boxes are looked into, for one operand that is a range; a quarter for two, and so on.
const BUDGET: usize = 256;

type Box = SmallVec<[Span; 4]>;

/// The hull of what may be returned for operands in these spans: exactly the least and the greatest permitted value.
///
/// Bounds in ulp jump where the result passes a power of two, and an inherited bound varies from operand to operand, so
/// that the extremes need not lie at the corners. Branch and bound finds them all the same: a box is dropped when its cover adds
/// nothing to what single points have already shown, and halved otherwise. Almost always the corners settle it.
///
/// After [`BUDGET`] boxes the covers of those left over count as found: the result is then a little wide rather than too
/// narrow. That happens where several operands range over all that lies between a denormal and the zero it may be flushed to.
pub(crate) fn extremes(operation: &impl Operation, operands: &[Span]) -> Result<Span, Stop> {
    let mut found = corners(operands, |point| operation.point(point))?;
    let mut boxes: SmallVec<[Box; 16]> = smallvec![Box::from_slice(operands)];
    let free = operands.iter().filter(|s| !s.is_point()).count();
    let mut budget = BUDGET / (free * free).max(1);
    while let Some(current) = boxes.pop() {
        // Of spans of one or two values the corners are all there is.
        let Some(widest) = widest(&current).filter(|&w| current[w].hi - current[w].lo > 1) else { continue };
        let cover = operation.cover(&current)?;
        if budget == 0 {
            found = found.hull(cover);
            continue;
        }
        budget -= 1;
        if found.lo <= cover.lo && cover.hi <= found.hi {
            continue;
        }
        let Span { lo, hi } = current[widest];
        let middle = lo + (hi - lo) / 2;
        for half in [Span { lo, hi: middle }, Span { lo: middle + 1, hi }] {
            let mut part = current.clone();
            part[widest] = half;
            found = found.hull(corners(&part, |point| operation.point(point))?);
            boxes.push(part);
        }
    }
    Ok(found)
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

        fn cover(&self, x: &[Span]) -> Result<Span, Stop> {
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
                assert_eq!(extremes(&Sawtooth, &spans).ok(), all);
            }
        }
    }
}
