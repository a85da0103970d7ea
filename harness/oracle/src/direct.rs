//! Instructions that are done in hardware arithmetic where operands and results are ordinary: exactly what the precision
//! table permits, only faster. Whatever is not ordinary (NaNs, infinities, denormals that a flush would leave alone with a
//! zero, relaxed precision, ..) is left to the table.

use crate::round::{Real, value};
use crate::ty::{Fmt, Kind};
use assay_float::Rank;
use assay_precision::{Call, Environment, Flush, Op, Rounding, Scalar};

/// What the instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Sub,
    Mul,
    Neg,
    Abs,
    Min,
    Max,
    Clamp,
    Convert,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// An instruction that is done directly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    pub(crate) action: Action,
    /// Format of the operands, and of the result if it is a float.
    pub(crate) from: Fmt,
    pub(crate) to: Fmt,
    env: Environment,
}

/// A range of ranks.
pub(crate) type Range = (Rank, Rank);

/// What is permitted: a range, and whether both zeros are beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranged {
    pub(crate) range: Range,
    pub(crate) zeros: bool,
    /// Whether the lenient reading leaves the whole result unchecked: it may overflow while NotInf is assumed.
    pub(crate) overflows: bool,
}

impl Direct {
    /// How the call is done directly, if it can be.
    pub(crate) fn new(call: &Call, env: Environment, operands: &[Kind], results: &[Kind]) -> Option<Direct> {
        let action = match call.op {
            Op::FAdd => Action::Add,
            Op::FSub => Action::Sub,
            Op::FMul => Action::Mul,
            Op::FNegate => Action::Neg,
            Op::FAbs => Action::Abs,
            Op::FMin | Op::NMin => Action::Min,
            Op::FMax | Op::NMax => Action::Max,
            Op::FClamp | Op::NClamp => Action::Clamp,
            Op::FConvert => Action::Convert,
            Op::FOrdLessThan | Op::FUnordLessThan => Action::Less,
            Op::FOrdLessThanEqual | Op::FUnordLessThanEqual => Action::LessEqual,
            Op::FOrdGreaterThan | Op::FUnordGreaterThan => Action::Greater,
            Op::FOrdGreaterThanEqual | Op::FUnordGreaterThanEqual => Action::GreaterEqual,
            Op::FOrdEqual | Op::FUnordEqual => Action::Equal,
            Op::FOrdNotEqual | Op::FUnordNotEqual => Action::NotEqual,
            _ => return None,
        };
        let Kind::Float(from) = *operands.first()? else { return None };
        let to = match results.first()? {
            Kind::Float(fmt) => *fmt,
            _ => from,
        };
        // 64-bit has two readings everywhere; bfloat16 its own rounding.
        let ordinary = |fmt| matches!(fmt, Fmt::F16 | Fmt::F32);
        let scalars = call.operand_slots().all(|s| matches!(s, Scalar::Float(_)));
        let fits = scalars && ordinary(from) && ordinary(to) && !call.modes.relaxed;
        fits.then_some(Direct { action, from, to, env })
    }

    /// Whether a range of operands can be worked with: finite, and with its denormals also the zeros that they may be read as.
    #[inline]
    fn takes(&self, (lo, hi): Range) -> bool {
        let format = self.from.format();
        let finite = lo > format.neg_infinity() && hi < format.infinity();
        finite && (!self.env.flush_operands || !meets_denormals(self.from, (lo, hi)) || (lo <= -1 && hi >= 0))
    }

    /// The boolean results that a comparison may have: false, true. `same`: both operands are one value.
    #[inline]
    pub(crate) fn compare(&self, a: Range, b: Range, same: bool) -> Option<(bool, bool)> {
        if !self.takes(a) || !self.takes(b) {
            return None;
        }
        // Both zeros are one value.
        let place = |rank: Rank| rank + Rank::from(rank < 0);
        let (al, ah, bl, bh) = (place(a.0), place(a.1), place(b.0), place(b.1));
        // Each use of a denormal may be flushed on its own.
        let same = same && !(self.env.flush_operands && meets_denormals(self.from, a));
        let (less, equal, greater) = if same { (false, true, false) } else { (al < bh, al <= bh && bl <= ah, ah > bl) };
        Some(match self.action {
            Action::Less => (equal || greater, less),
            Action::LessEqual => (greater, less || equal),
            Action::Greater => (equal || less, greater),
            Action::GreaterEqual => (less, greater || equal),
            Action::Equal => (less || greater, equal),
            Action::NotEqual => (equal, less || greater),
            _ => return None,
        })
    }

    /// What an operation on operands of these ranges may return. `same`: the first two are one value.
    #[inline]
    pub(crate) fn apply(&self, x: &[Range], same: bool) -> Option<Ranged> {
        if !x.iter().all(|range| self.takes(*range)) {
            return None;
        }
        let flushes = self.env.flush_operands && x.iter().any(|range| meets_denormals(self.from, *range));
        let same = same && !flushes;
        let number = |rank| value(self.from, rank);
        let range = match (self.action, x) {
            (Action::Add, [a, b]) if !same => {
                self.rounded(Real::sum(number(a.0), number(b.0)), Real::sum(number(a.1), number(b.1)))
            }
            (Action::Add, [a, _]) => self.rounded(Real::exact(number(a.0) * 2.0), Real::exact(number(a.1) * 2.0)),
            (Action::Sub, [_, _]) if same => (0, 0),
            (Action::Sub, [a, b]) => {
                self.rounded(Real::sum(number(a.0), -number(b.1)), Real::sum(number(a.1), -number(b.0)))
            }
            (Action::Mul, [a, b]) => {
                let (al, ah, bl, bh) = (number(a.0), number(a.1), number(b.0), number(b.1));
                let corners = [al * bl, al * bh, ah * bl, ah * bh];
                let mut lo = corners.iter().copied().fold(f64::INFINITY, f64::min);
                let mut hi = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if same {
                    let straddles = al <= 0.0 && ah >= 0.0;
                    lo = if straddles { 0.0 } else { (al * al).min(ah * ah) };
                    hi = (al * al).max(ah * ah);
                }
                self.rounded(Real::product(lo, 1.0), Real::product(hi, 1.0))
            }
            (Action::Neg, [a]) => (-1 - a.1, -1 - a.0),
            (Action::Abs, [a]) if a.0 >= 0 => *a,
            (Action::Abs, [a]) if a.1 < 0 => (-1 - a.1, -1 - a.0),
            (Action::Abs, [a]) => (0, a.1.max(-1 - a.0)),
            (Action::Min, [a, b]) => (a.0.min(b.0), a.1.min(b.1)),
            (Action::Max, [a, b]) => (a.0.max(b.0), a.1.max(b.1)),
            (Action::Clamp, [x, lo, hi]) if lo.1 <= hi.0 => (x.0.max(lo.0).min(hi.0), x.1.max(lo.1).min(hi.1)),
            (Action::Convert, [a]) => self.rounded(Real::exact(number(a.0)), Real::exact(number(a.1))),
            _ => return None,
        };
        self.finish(range)
    }

    /// The permitted values of a result between two real numbers.
    #[inline]
    fn rounded(&self, lo: Real, hi: Real) -> Range {
        let (low, high) = (lo.neighbours(self.to), hi.neighbours(self.to));
        match self.env.rounding {
            Rounding::Undeclared => (low.0, high.1),
            Rounding::Rte => (self.nearest(lo, low), self.nearest(hi, high)),
            Rounding::Rtz => (toward_zero(low), toward_zero(high)),
        }
    }

    fn nearest(&self, x: Real, (below, above): Range) -> Rank {
        if below == above {
            return below;
        }
        let format = self.to.format();
        let end = |rank: Rank| {
            // Infinity is where the next value would be.
            if rank == format.infinity() {
                2f64.powi(format.max_exponent() + 1)
            } else if rank == format.neg_infinity() {
                -(2f64.powi(format.max_exponent() + 1))
            } else {
                value(self.to, rank)
            }
        };
        let middle = f64::midpoint(end(below), end(above));
        let even = if (below ^ Rank::from(below < 0)) & 1 == 0 { below } else { above };
        match (x.value.partial_cmp(&middle), x.rest) {
            (Some(std::cmp::Ordering::Less), _) => below,
            (Some(std::cmp::Ordering::Greater), _) => above,
            (_, rest) if rest < 0.0 => below,
            (_, rest) if rest > 0.0 => above,
            _ => even,
        }
    }

    /// Applies what the environment does to results; `None` where it takes more than a range.
    #[inline]
    pub(crate) fn finish(&self, (mut lo, mut hi): Range) -> Option<Ranged> {
        let format = self.to.format();
        let edge = format.min_normal();
        let holds_zero = lo <= 0 && hi >= -1;
        if holds_zero {
            if !self.env.nsz && (lo == 0 || hi == -1) {
                return None;
            }
            (lo, hi) = (lo.min(-1), hi.max(0));
        }
        let mut zeros = false;
        if meets_denormals(self.to, (lo, hi)) {
            match self.env.flush_results {
                Flush::Never => {}
                Flush::Must => return None,
                Flush::May if holds_zero => {}
                // A zero beside the least denormal makes one range.
                Flush::May if lo == 1 => lo = -1,
                Flush::May if hi == -2 => hi = 0,
                Flush::May => zeros = true,
            }
        } else if self.env.rounding != Rounding::Undeclared && (lo == edge || hi == -1 - edge) {
            // The exact value may be below the smallest normal.
            return None;
        }
        let infinite = lo <= format.neg_infinity() || hi >= format.infinity();
        Some(Ranged { range: (lo, hi), zeros, overflows: infinite && self.env.not_inf })
    }

    /// Relative error of one operation, and what it may lose to underflow or a flush: see [`crate::form::Form::error`].
    pub(crate) fn errors(&self) -> (f64, f64) {
        errors(self.to, &self.env)
    }

    /// Whether results of rearranged operations may lie outside what they are one after another even where only a product
    /// is added to something.
    pub(crate) fn fusing_matters(&self) -> bool {
        self.env.rounding != Rounding::Undeclared || self.env.flush_results == Flush::Must
    }
}

/// Relative error of one correctly rounded operation, and what it may lose to underflow or a flush.
pub(crate) fn errors(fmt: Fmt, env: &Environment) -> (f64, f64) {
    let format = fmt.format();
    let halved = i32::from(env.rounding == Rounding::Rte);
    let unit = 2f64.powi(-(format.fraction_bits as i32) - halved);
    let lost = match env.flush_results {
        Flush::Never => 2f64.powi(format.quantum()),
        Flush::May | Flush::Must => 2f64.powi(format.min_normal_exponent()),
    };
    (unit, lost)
}

fn toward_zero((below, above): Range) -> Rank {
    if above <= -1 { above } else { below }
}

/// Whether a range has non-zero members below the smallest normal.
#[inline]
pub(crate) fn meets_denormals(fmt: Fmt, (lo, hi): Range) -> bool {
    let edge = fmt.format().min_normal();
    (lo < edge && hi >= 1) || (hi > -1 - edge && lo <= -2)
}
