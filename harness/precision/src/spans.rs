//! Certified evaluation of formulas by interval arithmetic on ranks, with certified enclosures of
//! real numbers.
//!
//! Unlike plain interval arithmetic, each operation is evaluated exactly at points, and its range
//! over a box is searched for ([`extremes`]), so that the hull of one operation is sharp unless the
//! search's budget ends. Dependencies between operations are not followed: an intermediate result
//! that is used twice is treated as two independent ones (the dependency problem of interval
//! arithmetic). A variable that a formula binds (`Node::Let`) is the exception.

use crate::{
    algebra::Algebra,
    environment::Environment,
    extremes::{Ask, BUDGET, COARSE_BUDGET, Operation, briefly, corners, extremes, surely},
    formula::{Formula, Node, NodeId},
    real::{Real, neighbours, round},
    show,
    span::{Span, Stop},
    trace::Trace,
};
use assay_float::{Dyadic, Enclosure, Rank};
use smallvec::SmallVec;
use std::{cell::Cell, cmp::Ordering};

/// Values that the next operation of a formula may read: a few disjoint spans in ascending order.
/// The zero to which a denormal may be flushed is a span of its own, and so are the results for
/// that zero; values between the spans are not members.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    parts: SmallVec<[Span; 2]>,
}

impl Reading {
    /// Greatest number of spans. The closest ones are joined if there are more.
    const PARTS: usize = 16;

    /// Greatest number of members that are evaluated one by one.
    const MEMBERS: i64 = 12;

    /// Least span that contains all members.
    pub(crate) fn hull(&self) -> Span {
        Span { lo: self.parts[0].lo, hi: self.parts[self.parts.len() - 1].hi }
    }

    fn union(spans: impl IntoIterator<Item = Span>) -> Reading {
        let mut sorted: SmallVec<[Span; 8]> = spans.into_iter().collect();
        if sorted.len() > 1 {
            sorted.sort_unstable_by_key(|s| s.lo);
        }
        let mut parts: SmallVec<[Span; 2]> = SmallVec::new();
        for span in sorted {
            match parts.last_mut() {
                Some(last) if span.lo <= last.hi + 1 => last.hi = last.hi.max(span.hi),
                _ => parts.push(span),
            }
        }
        while parts.len() > Reading::PARTS {
            let nearest = (1..parts.len()).min_by_key(|&i| parts[i].lo - parts[i - 1].hi).expect("several parts");
            parts[nearest - 1].hi = parts[nearest].hi;
            parts.remove(nearest);
        }
        Reading { parts }
    }

    /// The same set with each member as a span of its own, if there are few. Results may lie
    /// farther apart than their operands, and the values between them are not members.
    fn members(&self) -> Reading {
        let more = |count: i64, span: &Span| count.saturating_add(span.hi.saturating_sub(span.lo)).saturating_add(1);
        if self.parts.iter().fold(0, more) > Reading::MEMBERS {
            return self.clone();
        }
        Reading { parts: self.parts.iter().flat_map(|span| (span.lo..=span.hi).map(Span::point)).collect() }
    }

    fn map(&self, f: impl Fn(Span) -> Span) -> Reading {
        Reading::union(self.parts.iter().map(|&span| f(span)))
    }
}

impl From<Span> for Reading {
    fn from(span: Span) -> Reading {
        Reading { parts: SmallVec::from_elem(span, 1) }
    }
}

/// Union of an operation's ranges over every choice of one span for each operand.
fn over_parts(operands: &[&Reading], range: impl Fn(&[Span]) -> Result<Span, Stop>) -> Result<Reading, Stop> {
    let mut choice: SmallVec<[usize; 8]> = SmallVec::from_elem(0, operands.len());
    let mut found: SmallVec<[Span; 8]> = SmallVec::new();
    loop {
        let spans: SmallVec<[Span; 8]> = choice.iter().zip(operands).map(|(&k, o)| o.parts[k]).collect();
        found.push(range(&spans)?);
        let Some(next) = (0..choice.len()).find(|&i| choice[i] + 1 < operands[i].parts.len()) else {
            return Ok(Reading::union(found));
        };
        choice[..next].fill(0);
        choice[next] += 1;
    }
}

const OVERFLOW: Stop = Stop::Anything("an intermediate may overflow, and infinities are assumed not to occur");

/// Evaluator of formulas in spans: the least and the greatest value that each operation may return.
pub(crate) struct Spans<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) trace: &'a Trace,
}

/// Operation that is correctly rounded wherever it occurs.
#[derive(Clone, Copy, Debug)]
enum Elementary {
    Add,
    Mul,
}

/// Question for the range of an elementary operation on two values. The second answer is true if
/// the exact result is below the smallest normal value in magnitude but may be rounded up to it,
/// where flushing is permitted.
struct Rounded<'a> {
    operation: Elementary,
    values: [Dyadic; 2],
    env: &'a Environment,
}

impl Ask for Rounded<'_> {
    type Answer = (Span, bool);

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<(Span, bool), Stop> {
        let [a, b] = self.values.map(|value| R::exact(value, precision));
        let exact = match self.operation {
            Elementary::Add => a.add(&b),
            Elementary::Mul => a.mul(&b),
        };
        let span = round(&exact, self.env, self.env.rounding, precision)?;
        let edge = self.env.format.min_normal();
        let tiny = self.env.flush_inside && (span.lo == edge || span.hi == -1 - edge) && {
            let normal = R::exact(Dyadic::pow2(self.env.format.min_normal_exponent()), precision);
            exact.abs().compare(&normal)? == Ordering::Less
        };
        Ok((span, tiny))
    }
}

/// Question for the neighbours of pi/180, or of its reciprocal.
struct Degree<'a> {
    inverse: bool,
    env: &'a Environment,
}

impl Ask for Degree<'_> {
    type Answer = Span;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Span, Stop> {
        let (pi, degrees) = (R::pi(precision), R::exact(Dyadic::int(180), precision));
        let value = if self.inverse { degrees.div(&pi)? } else { pi.div(&degrees)? };
        Ok(Span { lo: value.floor_rank(self.env.format)?, hi: value.ceil_rank(self.env.format)? })
    }
}

impl Spans<'_> {
    /// Number of boxes that the search for the extremes of an operation may halve.
    fn budget(&self) -> usize {
        if self.env.coarse || self.env.rule != self.env.format { COARSE_BUDGET } else { BUDGET }
    }

    /// 1 or -1 for an infinity, 0 for a finite rank.
    fn infinite(&self, rank: Rank) -> i32 {
        i32::from(rank >= self.env.format.infinity()) - i32::from(rank <= self.env.format.neg_infinity())
    }

    /// Range of a correctly rounded operation, which is monotone in each operand. `infinite`
    /// returns the sign of the infinite result for operands that are not both finite.
    fn rounded(
        &self,
        a: &Reading,
        b: &Reading,
        operation: Elementary,
        infinite: impl Fn(Rank, Rank) -> Result<i32, Stop>,
    ) -> Result<Reading, Stop> {
        let format = self.env.format;
        // A result below the smallest normal value counts as denormal even if it is rounded up to
        // that. The corner closest to zero shows whether there is one.
        let rounded_up = Cell::new(false);
        let range = |spans: &[Span]| {
            corners(spans, |ranks| {
                if self.infinite(ranks[0]) != 0 || self.infinite(ranks[1]) != 0 {
                    let sign = infinite(ranks[0], ranks[1])?;
                    return Ok(Span::point(if sign < 0 { format.neg_infinity() } else { format.infinity() }));
                }
                let values = [ranks[0], ranks[1]].map(|rank| format.value_of_rank(rank));
                let (span, tiny) = surely(&Rounded { operation, values, env: self.env })?;
                rounded_up.set(rounded_up.get() || tiny);
                Ok(span)
            })
        };
        let found = over_parts(&[&a.members(), &b.members()], range)?;
        let zero = rounded_up.get().then_some(Span::ZERO);
        self.settled(Reading::union(found.parts.into_iter().chain(zero)))
    }

    /// Applies flushing, and stops at an overflow where infinities are assumed not to occur.
    fn settled(&self, range: Reading) -> Result<Reading, Stop> {
        if self.env.not_inf && range.hull().has_infinity(self.env.format) {
            return Err(OVERFLOW);
        }
        Ok(self.flushed(range))
    }

    fn flushed(&self, range: Reading) -> Reading {
        let has_zero = range.parts.iter().any(|s| s.has_zero());
        if !self.env.flush_inside || has_zero || !range.parts.iter().any(|s| s.has_denormal(self.env.format)) {
            return range;
        }
        Reading::union(range.parts.into_iter().chain([Span::ZERO]))
    }

    /// Value as an operation may read it: with zero if it is denormal and may be flushed.
    pub(crate) fn uses(&self, span: Span) -> Reading {
        self.flushed(span.into())
    }

    /// Stops at an operand that may be infinite: operations with a bound of their own have no
    /// stated precision for it.
    fn finite(&self, operands: &[Reading]) -> Result<(), Stop> {
        match operands.iter().any(|o| o.hull().has_infinity(self.env.format)) {
            true => Err(Stop::Anything("an intermediate may be infinite, and the next operation may make a NaN of it")),
            false => Ok(()),
        }
    }
}

impl Algebra for Spans<'_> {
    type Range = Reading;

    fn constant(&self, value: Dyadic) -> Result<Reading, Stop> {
        Ok(neighbours(value, self.env.format).into())
    }

    fn radians_per_degree(&self) -> Result<Reading, Stop> {
        surely(&Degree { inverse: false, env: self.env }).map(Reading::from)
    }

    fn degrees_per_radian(&self) -> Result<Reading, Stop> {
        surely(&Degree { inverse: true, env: self.env }).map(Reading::from)
    }

    fn add(&self, a: &Reading, b: &Reading) -> Result<Reading, Stop> {
        self.rounded(a, b, Elementary::Add, |a, b| match (self.infinite(a), self.infinite(b)) {
            (1, -1) | (-1, 1) => Err(Stop::Anything("infinities of opposite sign may meet, which makes a NaN")),
            (p, q) => Ok(p + q),
        })
    }

    fn mul(&self, a: &Reading, b: &Reading) -> Result<Reading, Stop> {
        // Members inside the ranges may produce a NaN, not only the corners.
        let meet =
            |p: &Reading, q: &Reading| p.hull().has_infinity(self.env.format) && q.parts.iter().any(|s| s.has_zero());
        if meet(a, b) || meet(b, a) {
            return Err(Stop::Anything("an infinity may meet a zero, which makes a NaN"));
        }
        let sign = |rank: Rank| if rank < 0 { -1 } else { 1 };
        self.rounded(a, b, Elementary::Mul, |a, b| Ok(sign(a) * sign(b)))
    }

    fn neg(&self, a: &Reading) -> Reading {
        a.map(Span::neg)
    }

    fn hull(&self, a: &Reading, b: &Reading) -> Reading {
        Reading::union(a.parts.iter().chain(&b.parts).copied())
    }

    fn real(&self, real: Real, operands: &[Reading]) -> Result<Reading, Stop> {
        self.finite(operands)?;
        let operation = RealOperation { real, env: self.env };
        over_parts(&operands.iter().collect::<SmallVec<[&Reading; 8]>>(), |spans| {
            extremes(&operation, spans, self.budget())
        })
    }

    fn inherited(&self, formula: &Formula, operands: &[Reading]) -> Result<Reading, Stop> {
        self.finite(operands)?;
        let operation = InheritedOperation { formula, env: self.env };
        let range = |spans: &[Span]| {
            if !formula.zero_is_zero || !spans[0].has_zero() {
                return extremes(&operation, spans, self.budget());
            }
            if self.env.zero_unspecified {
                return Err(Stop::Anything("the formula of the square root divides by zero"));
            }
            let Span { lo, hi } = spans[0];
            if lo < -1 {
                return Err(Stop::Anything("the operand may be below zero, where the function is not defined"));
            }
            // Zero is treated separately, because the formula leads through an infinity there.
            if hi <= 0 {
                Ok(Span::ZERO)
            } else {
                Ok(Span::ZERO.hull(extremes(&operation, &[Span { lo: 1, hi }], self.budget())?))
            }
        };
        over_parts(&operands.iter().collect::<SmallVec<[&Reading; 8]>>(), range)
    }

    fn bind(&self, value: &Reading, body: &Formula) -> Result<Reading, Stop> {
        if self.env.separate_uses {
            return body.range(self, std::slice::from_ref(value));
        }
        let operation = BoundOperation { body, env: self.env };
        over_parts(&[value], |spans| extremes(&operation, spans, self.budget()))
    }

    fn integral(&self, operand: &Reading, toward_zero: bool) -> Result<Reading, Stop> {
        self.finite(std::slice::from_ref(operand))?;
        let format = self.env.format;
        over_parts(&[operand], |spans| {
            corners(spans, |ranks| {
                let value = format.value_of_rank(ranks[0]);
                Ok(neighbours(if toward_zero { value.trunc() } else { value.floor() }, format))
            })
        })
    }

    fn clamp_to_unit(&self, operand: &Reading) -> Result<Reading, Stop> {
        let one = self.env.format.rank_of_one();
        Ok(operand.map(|Span { lo, hi }| Span { lo: lo.clamp(-1, one), hi: hi.clamp(0, one) }))
    }

    fn not_negative(&self, operand: &Reading) -> Result<Reading, Stop> {
        let kept = operand.parts.iter().filter(|s| s.hi >= -1);
        let kept: SmallVec<[Span; 8]> = kept.map(|s| Span { lo: s.lo.max(-1), hi: s.hi.max(0) }).collect();
        // If there is no such member, the result does not matter: the formula is not evaluated
        // then.
        Ok(if kept.is_empty() { Span::ZERO.into() } else { Reading::union(kept) })
    }

    fn select(
        &self,
        condition: &Reading,
        negative: impl FnOnce() -> Result<Reading, Stop>,
        otherwise: impl FnOnce() -> Result<Reading, Stop>,
    ) -> Result<Reading, Stop> {
        let condition = condition.hull();
        match (condition.lo < -1, condition.hi >= -1) {
            (true, true) => Ok(self.hull(&negative()?, &otherwise()?)),
            (true, false) => negative(),
            (false, _) => otherwise(),
        }
    }

    fn settle(&self, formula: &Formula, node: NodeId, found: Reading) -> Result<Reading, Stop> {
        let settled = self.settled(found)?;
        if !matches!(formula.nodes[node], Node::Operand(_) | Node::Constant(_)) {
            self.trace
                .note(|| format!("{} gives {}", formula.describe(node), show::span(settled.hull(), self.env.format)));
        }
        Ok(settled)
    }

    fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        self.trace.nested(f)
    }
}

/// Operation with a bound of its own inside a formula.
struct RealOperation<'a> {
    real: Real,
    env: &'a Environment,
}

/// Question for the range of an operation over spans: exact for spans of one value, otherwise a
/// cover.
struct RealAsked<'a> {
    operation: &'a RealOperation<'a>,
    spans: &'a [Span],
    cover: bool,
}

impl Ask for RealAsked<'_> {
    type Answer = Span;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Span, Stop> {
        let RealOperation { real, env } = *self.operation;
        let x: SmallVec<[R; 3]> = self.spans.iter().map(|s| s.reals(env.format, precision)).collect();
        if self.cover { real.cover(&x, env, precision) } else { Ok(real.point(&x, env, precision)?.span) }
    }
}

impl Operation for RealOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        let spans: SmallVec<[Span; 3]> = operands.iter().map(|&rank| Span::point(rank)).collect();
        surely(&RealAsked { operation: self, spans: &spans, cover: false })
    }

    fn cover(&self, operands: &[Span], finely: bool) -> Result<Span, Stop> {
        briefly(&RealAsked { operation: self, spans: operands, cover: true }, finely)
    }
}

/// Formula of a variable that has one value in all its uses.
struct BoundOperation<'a> {
    body: &'a Formula,
    env: &'a Environment,
}

impl BoundOperation<'_> {
    fn range(&self, value: Span) -> Result<Span, Stop> {
        let spans = Spans { env: self.env, trace: &Trace::off() };
        Ok(self.body.range(&spans, &[value.into()])?.hull())
    }
}

impl Operation for BoundOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        self.range(Span::point(operands[0]))
    }

    /// Evaluates the formula with independent uses of the variable: a superset of the results with
    /// one value.
    fn cover(&self, operands: &[Span], _: bool) -> Result<Span, Stop> {
        self.range(operands[0])
    }
}

/// Operation with an inherited bound inside another formula.
struct InheritedOperation<'a> {
    formula: &'a Formula,
    env: &'a Environment,
}

impl Operation for InheritedOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        let spans: SmallVec<[Span; 8]> = operands.iter().map(|&r| Span::point(r)).collect();
        match self.formula.span(&spans, self.env) {
            // For the next operation this is an operand like any other, which may make a NaN of it.
            Err(Stop::AnyNumber(_)) => Ok(Span::all(self.env.format)),
            found => found,
        }
    }

    fn cover(&self, operands: &[Span], finely: bool) -> Result<Span, Stop> {
        self.formula.cover(operands, self.env, finely)
    }
}
