//! Fast path: instructions computed with hardware arithmetic where operands and results are
//! ordinary. The result is exactly the permitted set of the precision table.
//!
//! Everything else is left to the table: NaNs, infinities, a denormal that may be read as a zero
//! outside its range, relaxed precision, 64-bit floats, bfloat16.

use crate::residual::{RoundedReal, value};
use crate::ty::{Fmt, Kind};
use assay_float::Rank;
use assay_precision::{Call, Division, Environment, Flush, Op, Rounding, Scalar};

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Sub,
    Mul,
    Div,
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

/// An instruction on the fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPath {
    pub(crate) action: Action,
    /// Format of the operands, and of the result if it is a float.
    pub(crate) from: Fmt,
    pub(crate) to: Fmt,
    env: Environment,
}

/// A range of ranks.
pub(crate) type Range = (Rank, Rank);

/// A permitted set: a range, and both zeros if `zeros` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PermittedRange {
    pub(crate) range: Range,
    pub(crate) zeros: bool,
    /// Set if the lenient reading leaves the whole result unchecked: it may overflow while NotInf
    /// is assumed.
    pub(crate) overflows: bool,
}

impl FastPath {
    /// The fast path of a call; `None` if it has none.
    pub(crate) fn new(call: &Call, env: Environment, operands: &[Kind], results: &[Kind]) -> Option<FastPath> {
        let action = match call.op {
            Op::FAdd => Action::Add,
            Op::FSub => Action::Sub,
            Op::FMul => Action::Mul,
            Op::FDiv => Action::Div,
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
        // 64-bit floats have two readings everywhere, and bfloat16 has its own rounding.
        let ordinary = |fmt| matches!(fmt, Fmt::F16 | Fmt::F32);
        let scalars = call.operand_slots().all(|s| matches!(s, Scalar::Float(_)));
        let fits = scalars && ordinary(from) && ordinary(to) && !call.modes.relaxed;
        fits.then_some(FastPath { action, from, to, env })
    }

    /// Returns true for a range of operands that the fast path covers: finite, and if operands are
    /// flushed and the range has denormals, with both zeros.
    #[inline]
    fn takes(&self, (lo, hi): Range) -> bool {
        let format = self.from.format();
        let finite = lo > format.neg_infinity() && hi < format.infinity();
        finite && (!self.env.flush_operands || !meets_denormals(self.from, (lo, hi)) || (lo <= -1 && hi >= 0))
    }

    /// Returns true for a comparison.
    pub(crate) fn compares(&self) -> bool {
        matches!(
            self.action,
            Action::Less
                | Action::LessEqual
                | Action::Greater
                | Action::GreaterEqual
                | Action::Equal
                | Action::NotEqual
        )
    }

    /// The possible results (false, true) of a comparison. `same`: both operands are one value.
    #[inline]
    pub(crate) fn compare(&self, a: Range, b: Range, same: bool) -> Option<(bool, bool)> {
        if !self.takes(a) || !self.takes(b) {
            return None;
        }
        // Both zeros are one value.
        let place = |rank: Rank| rank + Rank::from(rank < 0);
        let (al, ah, bl, bh) = (place(a.0), place(a.1), place(b.0), place(b.1));
        // Each use of a denormal may be flushed independently.
        let same = same && !(self.env.flush_operands && meets_denormals(self.from, a));
        let (less, equal, greater) = if same { (false, true, false) } else { (al < bh, al <= bh && bl <= ah, ah > bl) };
        self.of_order(less, equal, greater)
    }

    /// The possible results (false, true) of comparing a difference in this range with zero.
    pub(crate) fn compare_difference(&self, (lo, hi): Range) -> Option<(bool, bool)> {
        let small = self.env.flush_operands && meets_denormals(self.from, (lo, hi));
        self.of_order(lo < -1, small || (lo <= 0 && hi >= -1), hi > 0)
    }

    /// The possible results (false, true) of a comparison whose operands may be in these orders.
    /// `None` if the action is not a comparison.
    fn of_order(&self, less: bool, equal: bool, greater: bool) -> Option<(bool, bool)> {
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

    /// The permitted results of an operation on operands in these ranges; `None` if the fast path
    /// does not cover them. `same`: the first two operands are one value.
    #[inline]
    pub(crate) fn apply(&self, x: &[Range], same: bool) -> Option<PermittedRange> {
        if !x.iter().all(|range| self.takes(*range)) {
            return None;
        }
        let flushes = self.env.flush_operands && x.iter().any(|range| meets_denormals(self.from, *range));
        let same = same && !flushes;
        let chooses = matches!(self.action, Action::Min | Action::Max | Action::Clamp);
        // If several operands may compare as zeros, one of two readings of the text permits more.
        if chooses && flushes && x.iter().filter(|range| meets_small(self.from, **range)).count() > 1 {
            return None;
        }
        let number = |rank| value(self.from, rank);
        let range = match (self.action, x) {
            (Action::Add, [a, b]) if !same => {
                self.rounded(RoundedReal::sum(number(a.0), number(b.0)), RoundedReal::sum(number(a.1), number(b.1)))
            }
            (Action::Add, [a, _]) => {
                self.rounded(RoundedReal::exact(number(a.0) * 2.0), RoundedReal::exact(number(a.1) * 2.0))
            }
            (Action::Sub, [_, _]) if same => (0, 0),
            (Action::Sub, [a, b]) => {
                self.rounded(RoundedReal::sum(number(a.0), -number(b.1)), RoundedReal::sum(number(a.1), -number(b.0)))
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
                self.rounded(RoundedReal::product(lo, 1.0), RoundedReal::product(hi, 1.0))
            }
            (Action::Div, [a, b]) => self.quotient(*a, *b)?,
            (Action::Neg, [a]) => (-1 - a.1, -1 - a.0),
            (Action::Abs, [a]) if a.0 >= 0 => *a,
            (Action::Abs, [a]) if a.1 < 0 => (-1 - a.1, -1 - a.0),
            (Action::Abs, [a]) => (0, a.1.max(-1 - a.0)),
            (Action::Min, [a, b]) => (a.0.min(b.0), a.1.min(b.1)),
            (Action::Max, [a, b]) => (a.0.max(b.0), a.1.max(b.1)),
            (Action::Clamp, [x, lo, hi]) if lo.1 <= hi.0 => (x.0.max(lo.0).min(hi.0), x.1.max(lo.1).min(hi.1)),
            (Action::Convert, [a]) => self.rounded(RoundedReal::exact(number(a.0)), RoundedReal::exact(number(a.1))),
            _ => return None,
        };
        self.finish(range)
    }

    /// The values within the error bound of a quotient. `None` unless the quotient lies within one
    /// binade of normal numbers, and `f64` tells the ends of the range apart from values of the
    /// format.
    fn quotient(&self, a: Range, b: Range) -> Option<Range> {
        let number = |rank| value(self.from, rank);
        let (al, ah, bl, bh) = (number(a.0), number(a.1), number(b.0), number(b.1));
        let rule = Division::of(self.env.half_column());
        // The divisors for which the bound is stated. Zero is not among them.
        let limit = 2f64.powi(rule.exponent);
        let inside = |x: f64| (limit.recip()..=limit).contains(&x.abs());
        if !inside(bl) || !inside(bh) || bl.is_sign_negative() != bh.is_sign_negative() || al == 0.0 || ah == 0.0 {
            return None;
        }
        let corners = [al / bl, al / bh, ah / bl, ah / bh];
        let lo = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponent = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let format = self.to.format();
        let binade = exponent(lo);
        let normal = format.min_normal_exponent() + 2..format.max_exponent() - 1;
        let one_sign = lo.is_sign_negative() == hi.is_sign_negative();
        // At a power of two the ulp is that of the binade below.
        let powers = [lo, hi].iter().any(|x| x.to_bits() << 12 == 0);
        if !one_sign || binade != exponent(hi) || !normal.contains(&binade) || powers {
            return None;
        }
        let unit = 2f64.powi(format.ulp_exponent(binade));
        let (low, high) = (lo - rule.ulps * unit, hi + rule.ulps * unit);
        // Ends in units of half an ulp, which is the ulp of the binade below where an end reaches
        // it.
        let clear = |x: f64| {
            let places = x / (unit / 2.0);
            (places - places.round()).abs() > 1e-6
        };
        if !clear(low) || !clear(high) {
            return None;
        }
        Some((RoundedReal::exact(low).neighbours(self.to).1, RoundedReal::exact(high).neighbours(self.to).0))
    }

    /// The permitted values of a result between two numbers.
    pub(crate) fn between(&self, lo: f64, hi: f64) -> Range {
        self.rounded(RoundedReal::exact(lo), RoundedReal::exact(hi))
    }

    /// The permitted values of a result between two real numbers.
    #[inline]
    fn rounded(&self, lo: RoundedReal, hi: RoundedReal) -> Range {
        let (low, high) = (lo.neighbours(self.to), hi.neighbours(self.to));
        match self.env.rounding {
            Rounding::Undeclared => (low.0, high.1),
            Rounding::Rte => (self.nearest(lo, low), self.nearest(hi, high)),
            Rounding::Rtz => (toward_zero(low), toward_zero(high)),
        }
    }

    fn nearest(&self, x: RoundedReal, (below, above): Range) -> Rank {
        if below == above {
            return below;
        }
        let format = self.to.format();
        let end = |rank: Rank| {
            // Infinity is rounded to as if it were the next value.
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
        match (x.value.partial_cmp(&middle), x.residual) {
            (Some(std::cmp::Ordering::Less), _) => below,
            (Some(std::cmp::Ordering::Greater), _) => above,
            (_, residual) if residual < 0.0 => below,
            (_, residual) if residual > 0.0 => above,
            _ => even,
        }
    }

    /// Applies flushes and the sign of zero to a result; `None` if the permitted set is not a range
    /// with optional zeros.
    #[inline]
    pub(crate) fn finish(&self, (mut lo, mut hi): Range) -> Option<PermittedRange> {
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
                // Zero next to the least denormal makes one range.
                Flush::May if lo == 1 => lo = -1,
                Flush::May if hi == -2 => hi = 0,
                Flush::May => zeros = true,
            }
        } else if self.env.rounding != Rounding::Undeclared && (lo == edge || hi == -1 - edge) {
            // The exact value may be below the smallest normal number.
            return None;
        }
        let infinite = lo <= format.neg_infinity() || hi >= format.infinity();
        Some(PermittedRange { range: (lo, hi), zeros, overflows: infinite && self.env.not_inf })
    }

    /// Returns true if denormal results must be flushed.
    pub(crate) fn flushes(&self) -> bool {
        self.env.flush_results == Flush::Must
    }

    /// Relative error of one operation, and its absolute error by underflow or a flush, as
    /// [`crate::expr_bound::ExprBound::error`] takes them.
    pub(crate) fn errors(&self) -> (f64, f64) {
        errors(self.to, &self.env)
    }

    /// See [`roundings_of_division`].
    pub(crate) fn roundings_of_division(&self) -> u32 {
        roundings_of_division(self.to, &self.env)
    }

    /// Returns true if a product fused with a sum may give a result that the two operations in a
    /// row cannot give.
    pub(crate) fn fusing_matters(&self) -> bool {
        self.env.rounding != Rounding::Undeclared || self.env.flush_results == Flush::Must
    }
}

/// Relative error of one correctly rounded operation, and its absolute error by underflow or a
/// flush.
///
/// The relative error is `2^-fraction_bits`, or half of that for rounding to nearest (RTE). The
/// absolute error is the least denormal, or the smallest normal number if results may be flushed.
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

/// The relative error of a division.
pub(crate) fn error_of_division(fmt: Fmt, env: &Environment) -> f64 {
    Division::of(env.half_column()).ulps * 2f64.powi(-(fmt.format().fraction_bits as i32))
}

/// The least number of roundings whose relative errors add up to at least that of a division.
pub(crate) fn roundings_of_division(fmt: Fmt, env: &Environment) -> u32 {
    (error_of_division(fmt, env) / errors(fmt, env).0).ceil() as u32
}

fn toward_zero((below, above): Range) -> Rank {
    if above <= -1 { above } else { below }
}

/// Returns true if a denormal or a zero is in a range.
pub(crate) fn meets_small(fmt: Fmt, (lo, hi): Range) -> bool {
    (lo <= 0 && hi >= -1) || meets_denormals(fmt, (lo, hi))
}

/// Returns true if a range has non-zero members below the smallest normal number.
#[inline]
pub(crate) fn meets_denormals(fmt: Fmt, (lo, hi): Range) -> bool {
    let edge = fmt.format().min_normal();
    (lo < edge && hi >= 1) || (hi > -1 - edge && lo <= -2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_precision::{Modes, Operand, Shape};

    /// The fast path gives the permitted set of the table, bit by bit.
    #[test]
    fn agrees_with_the_table() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 32
        };
        let modes = ["default", "RoundingModeRTE", "RoundingModeRTZ", "DenormPreserve", "DenormFlushToZero"];
        let modes = modes.map(|name| Modes::default().with(name).unwrap_or_default());
        let ops = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FMin, Op::FMax, Op::FAbs, Op::FNegate, Op::FClamp];
        let mut compared = 0;
        for fmt in [Fmt::F32, Fmt::F16] {
            for (op, modes) in ops.iter().flat_map(|op| modes.iter().map(move |modes| (*op, *modes))) {
                let format = fmt.format();
                let call = Call::new(op, Scalar::Float(format), Shape::Scalar, None, modes).expect("a call");
                let reference = call.reference();
                let n = call.operands.len();
                let kinds = vec![Kind::Float(fmt); n];
                let fast_path = FastPath::new(&call, reference.environment(0), &kinds, &kinds[..1]).expect("direct");
                for _ in 0..400 {
                    // Often near each other and near one, sometimes anything.
                    let mut bits = || {
                        let near = format.rank_of_one() as u64 + random() % (8 << format.fraction_bits);
                        let any = if random().is_multiple_of(4) { random() & format.mask() } else { near };
                        any ^ if random().is_multiple_of(2) { format.sign_mask() } else { 0 }
                    };
                    let x: Vec<u64> = (0..n).map(|_| bits()).collect();
                    if x.iter().any(|bits| format.is_nan(*bits)) {
                        continue;
                    }
                    let ranges: Vec<Range> = x.iter().map(|b| (format.rank(*b), format.rank(*b))).collect();
                    let Some(found) = fast_path.apply(&ranges, false) else { continue };
                    let expected = reference.permitted(0, &x);
                    let mut set = assay_float::Set::range(found.range.0, found.range.1);
                    if found.zeros {
                        set.insert(assay_float::RankRange::new(-1, 0));
                    }
                    assert_eq!(set, expected.usual, "{op} of {x:x?} in {modes}");
                    assert_eq!(
                        found.overflows,
                        expected.lenient.is_some_and(|l| l.set.is_anything()),
                        "{op} of {x:x?}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 20_000, "{compared}");
    }

    /// Over ranges, the fast path contains the permitted set of the table.
    #[test]
    fn ranges_contain_what_the_table_permits() {
        let mut state = 9u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let format = assay_float::F32;
        for op in [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FMin] {
            let call = Call::new(op, Scalar::Float(format), Shape::Scalar, None, Modes::default()).expect("a call");
            let reference = call.reference();
            let kinds = [Kind::Float(Fmt::F32); 2];
            let fast_path = FastPath::new(&call, reference.environment(0), &kinds, &kinds[..1]).expect("direct");
            for _ in 0..200 {
                let mut range = || {
                    let lo = format.rank_of_one() + (random() % (1 << 26)) as i64;
                    let range = (lo, lo + (random() % 300) as i64);
                    if random().is_multiple_of(2) { (-1 - range.1, -1 - range.0) } else { range }
                };
                let x = [range(), range()];
                let Some(found) = fast_path.apply(&x, false) else { continue };
                let sets = x.map(|(lo, hi)| Operand::Set(assay_float::Set::range(lo, hi)));
                let expected = reference.permitted_for_sets(0, &sets).permitted.usual.hull().expect("numbers");
                let within = found.range.0 <= expected.lo && expected.hi <= found.range.1;
                assert!(within || found.zeros, "{op} of {x:?}: {found:?}, {expected:?}");
            }
        }
    }
}
