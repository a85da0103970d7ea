//! Enclosures in `f64`: the first attempt at every question.

mod f64_arith;
mod f64_functions;
pub mod f64_kernels;

use super::{
    big_enclosure::num::Num,
    decimal::decimal,
    function_range::{RangeConstants, function_range},
    interval::{End, Interval, Number},
    rank_rounding::{FormatPosition, common_rank, member_ranks},
};
use crate::{Dyadic, Enclosure, Format, Function, Rank, Undecided};
use f64_arith::Ends;
use std::cmp::Ordering;

/// Interval with `f64` ends. `lo` is not `+inf` and `hi` is not `-inf`; an infinite end means
/// "unbounded".
///
/// The basic operations round each end outward only if they are inexact. The functions have a
/// relative width of about 2^-49: twice [`f64_kernels::ERROR_BOUND`] and a rounding.
#[derive(Clone, Copy, Debug)]
pub struct F64Enclosure {
    range: Interval<f64>,
}

impl Number for f64 {
    type Context = ();

    #[inline]
    fn zero() -> f64 {
        0.0
    }

    #[inline]
    fn sign(&self) -> Ordering {
        self.partial_cmp(&0.0).expect("no end is a NaN")
    }

    #[inline]
    fn negated(&self) -> f64 {
        -self
    }

    #[inline]
    fn add(&self, other: &f64, (): ()) -> Ends {
        f64_arith::add(*self, *other)
    }

    #[inline]
    fn mul(&self, other: &f64, (): ()) -> Ends {
        f64_arith::mul(*self, *other)
    }

    #[inline]
    fn div(&self, other: &f64, (): ()) -> Ends {
        f64_arith::div(*self, *other)
    }
}

impl F64Enclosure {
    #[inline]
    fn around(ends: Ends) -> F64Enclosure {
        F64Enclosure { range: Interval::around(ends) }
    }

    #[inline]
    fn point(value: f64) -> F64Enclosure {
        F64Enclosure { range: Interval::point(value) }
    }

    /// The value of an interval that is a point.
    #[inline]
    fn value(&self) -> Option<f64> {
        self.range.is_point().then_some(self.range.lo.value)
    }
}

/// Enclosure of pi: the double below it and its successor.
const PI: Ends = (std::f64::consts::PI, f64::from_bits(std::f64::consts::PI.to_bits() + 1));

/// The end as an enclosure; an infinite end represents a range of numbers.
fn alone(end: f64) -> F64Enclosure {
    if end.is_finite() { F64Enclosure::point(end) } else { F64Enclosure::around(f64_arith::unbounded(end)) }
}

impl Enclosure for F64Enclosure {
    type Precision = ();

    #[inline]
    fn exact(value: Dyadic, (): ()) -> F64Enclosure {
        if let Some(value) = value.to_f64_exact() {
            return F64Enclosure::point(value);
        }
        // More than 53 bits, or outside the normal range.
        let format = crate::F64;
        let place = FormatPosition::of_num(&Num::from_dyadic(value), format);
        let end = |rank: Rank| f64::from_bits(format.bits(rank));
        F64Enclosure::around((end(place.floor()), end(place.ceil())))
    }

    #[inline]
    fn pi((): ()) -> F64Enclosure {
        F64Enclosure::around(PI)
    }

    #[inline]
    fn lower(&self) -> F64Enclosure {
        alone(self.range.lo.value)
    }

    #[inline]
    fn upper(&self) -> F64Enclosure {
        alone(self.range.hi.value)
    }

    #[inline]
    fn hull(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.hull(&other.range) }
    }

    #[inline]
    fn is_point(&self) -> bool {
        self.range.is_point()
    }

    #[inline]
    fn neg(&self) -> F64Enclosure {
        F64Enclosure { range: self.range.neg() }
    }

    #[inline]
    fn abs(&self) -> F64Enclosure {
        F64Enclosure { range: self.range.abs() }
    }

    #[inline]
    fn add(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.add(&other.range, ()) }
    }

    #[inline]
    fn sub(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.sub(&other.range, ()) }
    }

    #[inline]
    fn mul(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.mul(&other.range, ()) }
    }

    #[inline]
    fn div(&self, other: &F64Enclosure) -> Result<F64Enclosure, Undecided> {
        self.range.div(&other.range, ()).map(|range| F64Enclosure { range }).ok_or(Undecided)
    }

    #[inline]
    fn min(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.min(&other.range) }
    }

    #[inline]
    fn max(&self, other: &F64Enclosure) -> F64Enclosure {
        F64Enclosure { range: self.range.max(&other.range) }
    }

    fn function(&self, function: Function) -> Result<F64Enclosure, Undecided> {
        let landmarks = || RangeConstants { one: 1.0, half_pi: (PI.0 / 2.0, PI.1 / 2.0), pi: PI };
        let range = function_range(function, &self.range, landmarks, |&x| f64_functions::at(function, x))?;
        Ok(F64Enclosure { range })
    }

    fn atan2(&self, x: &F64Enclosure) -> Result<F64Enclosure, Undecided> {
        let (y, x) = (&self.range, &x.range);
        let finite = [&y.lo, &y.hi, &x.lo, &x.hi].into_iter().all(|end| end.value.is_finite());
        let cut = y.lo.value < 0.0 && x.lo.value < 0.0;
        if !finite || y.meets_zero() && (x.meets_zero() || cut) {
            return Err(Undecided);
        }
        let angle = |y: &End<f64>, x: &End<f64>| {
            let angle = Interval::around(f64_functions::angle(y.value.abs(), x.value));
            let mut angle = if y.value < 0.0 { angle.neg() } else { angle };
            angle.lo.open |= y.open;
            angle.hi.open |= y.open;
            angle
        };
        let first = angle(&y.lo, &x.lo);
        if y.is_point() && x.is_point() {
            return Ok(F64Enclosure { range: first });
        }
        // The extreme angles of a box that neither contains the origin nor crosses the cut are at
        // its corners.
        let range = first.hull(&angle(&y.lo, &x.hi)).hull(&angle(&y.hi, &x.lo)).hull(&angle(&y.hi, &x.hi));
        Ok(F64Enclosure { range })
    }

    fn pow(&self, exponent: &F64Enclosure) -> Result<F64Enclosure, Undecided> {
        if self.range.lo.value <= 0.0 {
            return Err(Undecided);
        }
        let (base, power) = (self.value(), exponent.value());
        if base == Some(1.0) || power == Some(0.0) {
            return Ok(F64Enclosure::point(1.0));
        }
        if let Some(power) = base.zip(power).and_then(|(base, power)| f64_functions::exact_power(base, power)) {
            return Ok(F64Enclosure::point(power));
        }
        self.function(Function::Ln)?.mul(exponent).function(Function::Exp)
    }

    fn rem_trunc(&self, y: &F64Enclosure) -> Result<F64Enclosure, Undecided> {
        match (self.value(), y.value()) {
            // The remainder of two doubles is a double.
            (Some(x), Some(y)) if y != 0.0 => Ok(F64Enclosure::point(x % y)),
            _ => Err(Undecided),
        }
    }

    fn rem_floor(&self, y: &F64Enclosure) -> Result<F64Enclosure, Undecided> {
        let rest = self.rem_trunc(y)?;
        let signs = (rest.range.lo.value.sign(), y.range.lo.value.sign());
        Ok(if signs.0.is_eq() || signs.0 == signs.1 { rest } else { rest.add(y) })
    }

    #[inline]
    fn compare(&self, other: &F64Enclosure) -> Result<Ordering, Undecided> {
        self.range.compare(&other.range).ok_or(Undecided)
    }

    #[inline]
    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |&x| FormatPosition::of_f64(x, format), FormatPosition::ceil)
    }

    #[inline]
    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |&x| FormatPosition::of_f64(x, format), FormatPosition::floor)
    }

    #[inline]
    fn member_ranks(&self, format: Format) -> (Rank, Rank) {
        member_ranks(&self.range, |&x| FormatPosition::of_f64(x, format))
    }

    #[inline]
    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |&x| FormatPosition::of_f64(x, format), FormatPosition::nearest)
    }

    fn binade(&self) -> Result<i32, Undecided> {
        let Interval { lo, hi } = self.range.abs();
        // A power of two belongs to the binade below it, which is that of its predecessor. Numbers
        // just above it belong to its own binade.
        let below = |x: f64, above: bool| {
            let bits = if above { x.to_bits() } else { x.to_bits() - 1 };
            let field = (bits >> 52) as i32;
            if field == 0 { bits.checked_ilog2().map_or(-1075, |top| top as i32 - 1074) } else { field - 1023 }
        };
        if lo.value == 0.0 || !hi.value.is_finite() {
            return Err(Undecided);
        }
        let binade = below(lo.value, lo.open);
        if binade == below(hi.value, false) { Ok(binade) } else { Err(Undecided) }
    }

    fn approximate(&self) -> f64 {
        let (lo, hi) = (self.range.lo.value, self.range.hi.value);
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => 0.0,
            (true, false) => lo,
            (false, true) => hi,
            (true, true) if lo == hi => lo,
            (true, true) => 0.5 * lo + 0.5 * hi,
        }
    }

    fn decimal(&self, digits: usize) -> String {
        decimal(&Num::from_f64(self.range.lo.value), &Num::from_f64(self.range.hi.value), digits)
    }
}
