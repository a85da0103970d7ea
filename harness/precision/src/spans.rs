//! The certain evaluation of formulas: spans of ranks around certified enclosures.

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

/// What the next operation of a formula may find: values in a few disjoint spans, ascending. A zero that a denormal may be flushed
/// to stands apart from it, and so does what comes of that zero: what lies between is no member.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    parts: SmallVec<[Span; 2]>,
}

impl Reading {
    /// How many spans are kept apart; of more the nearest are joined.
    const PARTS: usize = 16;

    /// Up to how many members are taken one by one where each has a result of its own.
    const MEMBERS: i64 = 12;

    /// The least span that holds all members.
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

    /// The same with each member by itself, if they are few: results that are further apart than their operands leave room between them
    /// that is no member.
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

/// The union of an operation's ranges over every choice of a part of each operand.
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

/// Evaluates formulas in spans: exactly the least and the greatest value that each operation may give.
pub(crate) struct Spans<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) trace: &'a Trace,
}

/// An operation that is correctly rounded wherever it stands.
#[derive(Clone, Copy, Debug)]
enum Elementary {
    Add,
    Mul,
}

/// An elementary operation on two values: what it may give, and whether the exact result is non-zero and below the smallest normal.
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

/// The neighbours of pi/180, or of its inverse.
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
    /// How many boxes are looked into for the extremes of an operation.
    fn budget(&self) -> usize {
        if self.env.coarse || self.env.rule != self.env.format { COARSE_BUDGET } else { BUDGET }
    }

    /// 1 or -1 for an infinity, 0 for a finite rank.
    fn infinite(&self, rank: Rank) -> i32 {
        i32::from(rank >= self.env.format.infinity()) - i32::from(rank <= self.env.format.neg_infinity())
    }

    /// A correctly rounded operation, monotone in each operand; `infinite` gives the sign of the infinity that it makes of operands
    /// that are not both finite.
    fn rounded(
        &self,
        a: &Reading,
        b: &Reading,
        operation: Elementary,
        infinite: impl Fn(Rank, Rank) -> Result<i32, Stop>,
    ) -> Result<Reading, Stop> {
        let format = self.env.format;
        // A result below the smallest normal counts as denormal though it is rounded up to that; the corner nearest to zero shows it.
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

    /// Flushed where it may be, and not overflown where that is assumed not to happen.
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

    /// A value as an operation may read it.
    pub(crate) fn uses(&self, span: Span) -> Reading {
        self.flushed(span.into())
    }

    /// Stops where an operand may be infinite: the operations with a bound of their own state nothing then.
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
        // A NaN may arise from members within, not only at the corners.
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
            // Zero apart, where the formula leads through an infinity.
            if hi <= 0 {
                Ok(Span::ZERO)
            } else {
                Ok(Span::ZERO.hull(extremes(&operation, &[Span { lo: 1, hi }], self.budget())?))
            }
        };
        over_parts(&operands.iter().collect::<SmallVec<[&Reading; 8]>>(), range)
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
        // Of none, anything: the formula is not evaluated then.
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

/// An operation with a bound of its own, within a formula.
struct RealOperation<'a> {
    real: Real,
    env: &'a Environment,
}

/// What an operation may give for operands in spans: exactly, for spans of one value, or a cover.
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

/// An operation whose bound is inherited, within another formula.
struct InheritedOperation<'a> {
    formula: &'a Formula,
    env: &'a Environment,
}

impl Operation for InheritedOperation<'_> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        let spans: SmallVec<[Span; 8]> = operands.iter().map(|&r| Span::point(r)).collect();
        match self.formula.span(&spans, self.env) {
            // An operand like any other for the next operation, which may make a NaN of it.
            Err(Stop::AnyNumber(_)) => Ok(Span::all(self.env.format)),
            found => found,
        }
    }

    fn cover(&self, operands: &[Span], finely: bool) -> Result<Span, Stop> {
        self.formula.cover(operands, self.env, finely)
    }
}
