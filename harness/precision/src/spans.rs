//! The certain evaluation of formulas: spans of ranks around certified enclosures.

use crate::{
    algebra::Algebra,
    environment::Environment,
    extremes::{Operation, corners, extremes},
    formula::{Formula, Node, NodeId},
    real::{Real, round},
    show,
    span::{Span, Stop},
    trace::Trace,
};
use assay_float::{Dyadic, Enclosure, Rank};
use smallvec::SmallVec;

const OVERFLOW: Stop = Stop::Anything("an intermediate may overflow, and infinities are assumed not to occur");

/// Evaluates formulas in spans: exactly the least and the greatest value that each operation may give.
pub(crate) struct Spans<'a, R: Enclosure> {
    pub(crate) env: &'a Environment,
    pub(crate) precision: R::Precision,
    pub(crate) trace: &'a Trace,
}

impl<R: Enclosure> Spans<'_, R> {
    fn value(&self, rank: Rank) -> R {
        R::exact(self.env.format.value_of_rank(rank), self.precision)
    }

    /// The neighbours of a real number.
    fn neighbours(&self, value: &R) -> Result<Span, Stop> {
        Ok(Span { lo: value.floor_rank(self.env.format)?, hi: value.ceil_rank(self.env.format)? })
    }

    /// 1 or -1 for an infinity, 0 for a finite rank.
    fn infinite(&self, rank: Rank) -> i32 {
        i32::from(rank >= self.env.format.infinity()) - i32::from(rank <= self.env.format.neg_infinity())
    }

    /// A correctly rounded operation, monotone in each operand; `infinite` gives the sign of the infinity that it makes of operands
    /// that are not both finite.
    fn rounded(
        &self,
        a: Span,
        b: Span,
        operation: impl Fn(&R, &R) -> R,
        infinite: impl Fn(Rank, Rank) -> Result<i32, Stop>,
    ) -> Result<Span, Stop> {
        let format = self.env.format;
        let span = corners(&[a, b], |ranks| {
            if self.infinite(ranks[0]) != 0 || self.infinite(ranks[1]) != 0 {
                let sign = infinite(ranks[0], ranks[1])?;
                return Ok(Span::point(if sign < 0 { format.neg_infinity() } else { format.infinity() }));
            }
            let exact = operation(&self.value(ranks[0]), &self.value(ranks[1]));
            Ok(round(&exact, self.env, self.env.rounding, self.precision)?)
        })?;
        self.settled(span)
    }

    /// Flushed where it may be, and not overflown where that is assumed not to happen.
    fn settled(&self, span: Span) -> Result<Span, Stop> {
        if self.env.not_inf && span.has_infinity(self.env.format) {
            return Err(OVERFLOW);
        }
        Ok(self.uses(span))
    }

    /// A value as an operation may read it.
    pub(crate) fn uses(&self, span: Span) -> Span {
        if self.env.flush_inside { span.flushed(self.env.format) } else { span }
    }

    /// Stops where an operand may be infinite: the operations with a bound of their own state nothing then.
    fn finite(&self, spans: &[Span]) -> Result<(), Stop> {
        match spans.iter().any(|s| s.has_infinity(self.env.format)) {
            true => Err(Stop::Anything("an intermediate may be infinite, and the next operation may make a NaN of it")),
            false => Ok(()),
        }
    }
}

impl<R: Enclosure> Algebra for Spans<'_, R> {
    type Range = Span;

    fn constant(&self, value: Dyadic) -> Result<Span, Stop> {
        self.neighbours(&R::exact(value, self.precision))
    }

    fn radians_per_degree(&self) -> Result<Span, Stop> {
        self.neighbours(&R::pi(self.precision).div(&R::exact(Dyadic::int(180), self.precision))?)
    }

    fn degrees_per_radian(&self) -> Result<Span, Stop> {
        self.neighbours(&R::exact(Dyadic::int(180), self.precision).div(&R::pi(self.precision))?)
    }

    fn add(&self, a: &Span, b: &Span) -> Result<Span, Stop> {
        self.rounded(
            *a,
            *b,
            |x, y| x.add(y),
            |a, b| match (self.infinite(a), self.infinite(b)) {
                (1, -1) | (-1, 1) => Err(Stop::Anything("infinities of opposite sign may meet, which makes a NaN")),
                (p, q) => Ok(p + q),
            },
        )
    }

    fn mul(&self, a: &Span, b: &Span) -> Result<Span, Stop> {
        // A NaN may arise from members within, not only at the corners.
        let meet = |p: &Span, q: &Span| p.has_infinity(self.env.format) && q.has_zero();
        if meet(a, b) || meet(b, a) {
            return Err(Stop::Anything("an infinity may meet a zero, which makes a NaN"));
        }
        let sign = |rank: Rank| if rank < 0 { -1 } else { 1 };
        self.rounded(*a, *b, |x, y| x.mul(y), |a, b| Ok(sign(a) * sign(b)))
    }

    fn neg(&self, a: &Span) -> Span {
        a.neg()
    }

    fn hull(&self, a: &Span, b: &Span) -> Span {
        a.hull(*b)
    }

    fn real(&self, real: Real, operands: &[Span]) -> Result<Span, Stop> {
        self.finite(operands)?;
        extremes(&RealOperation::<R> { real, env: self.env, precision: self.precision }, operands)
    }

    fn inherited(&self, formula: &Formula, operands: &[Span]) -> Result<Span, Stop> {
        self.finite(operands)?;
        let operation = InheritedOperation::<R> { formula, env: self.env, precision: self.precision };
        if !formula.zero_is_zero || !operands[0].has_zero() {
            return extremes(&operation, operands);
        }
        if self.env.zero_unspecified {
            return Err(Stop::Anything("the formula of the square root divides by zero"));
        }
        let Span { lo, hi } = operands[0];
        if lo < -1 {
            return Err(Stop::Anything("the operand may be below zero, where the function is not defined"));
        }
        // Zero apart, where the formula leads through an infinity.
        if hi <= 0 { Ok(Span::ZERO) } else { Ok(Span::ZERO.hull(extremes(&operation, &[Span { lo: 1, hi }])?)) }
    }

    fn integral(&self, operand: &Span, toward_zero: bool) -> Result<Span, Stop> {
        self.finite(&[*operand])?;
        let format = self.env.format;
        corners(&[*operand], |ranks| {
            let value = format.value_of_rank(ranks[0]);
            self.neighbours(&R::exact(if toward_zero { value.trunc() } else { value.floor() }, self.precision))
        })
    }

    fn clamp_to_unit(&self, operand: &Span) -> Result<Span, Stop> {
        let one = self.env.format.rank_of_one();
        Ok(Span { lo: operand.lo.clamp(-1, one), hi: operand.hi.clamp(0, one) })
    }

    fn not_negative(&self, operand: &Span) -> Result<Span, Stop> {
        Ok(Span { lo: operand.lo.max(-1), hi: operand.hi.max(0) })
    }

    fn select(
        &self,
        condition: &Span,
        negative: impl FnOnce() -> Result<Span, Stop>,
        otherwise: impl FnOnce() -> Result<Span, Stop>,
    ) -> Result<Span, Stop> {
        match (condition.lo < -1, condition.hi >= -1) {
            (true, true) => Ok(negative()?.hull(otherwise()?)),
            (true, false) => negative(),
            (false, _) => otherwise(),
        }
    }

    fn settle(&self, formula: &Formula, node: NodeId, span: Span) -> Result<Span, Stop> {
        let settled = self.settled(span)?;
        if !matches!(formula.nodes[node], Node::Operand(_) | Node::Constant(_)) {
            self.trace.note(|| format!("{} gives {}", formula.describe(node), show::span(settled, self.env.format)));
        }
        Ok(settled)
    }

    fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        self.trace.nested(f)
    }
}

/// An operation with a bound of its own, within a formula.
struct RealOperation<'a, R: Enclosure> {
    real: Real,
    env: &'a Environment,
    precision: R::Precision,
}

impl<R: Enclosure> Operation for RealOperation<'_, R> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        let x: SmallVec<[R; 3]> =
            operands.iter().map(|&r| R::exact(self.env.format.value_of_rank(r), self.precision)).collect();
        Ok(self.real.point(&x, self.env, self.precision)?.span)
    }

    fn cover(&self, operands: &[Span]) -> Result<Span, Stop> {
        let x: SmallVec<[R; 3]> = operands.iter().map(|s| s.reals(self.env.format, self.precision)).collect();
        self.real.cover(&x, self.env, self.precision)
    }
}

/// An operation whose bound is inherited, within another formula.
struct InheritedOperation<'a, R: Enclosure> {
    formula: &'a Formula,
    env: &'a Environment,
    precision: R::Precision,
}

impl<R: Enclosure> Operation for InheritedOperation<'_, R> {
    fn point(&self, operands: &[Rank]) -> Result<Span, Stop> {
        let Self { env, precision, .. } = *self;
        let x: SmallVec<[R; 8]> = operands.iter().map(|&r| R::exact(env.format.value_of_rank(r), precision)).collect();
        let spans: SmallVec<[Span; 8]> = operands.iter().map(|&r| Span::point(r)).collect();
        Ok(self.formula.point(&x, &spans, env, precision, &Trace::off())?.span)
    }

    fn cover(&self, operands: &[Span]) -> Result<Span, Stop> {
        self.formula.cover::<R>(operands, self.env, self.precision)
    }
}
