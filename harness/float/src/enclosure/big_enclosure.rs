//! Enclosures of arbitrary precision.

mod fixed;
pub(crate) mod num;
mod num_arith;
mod num_functions;
mod num_pow;

use super::{
    decimal::decimal,
    function_range::{RangeConstants, function_range},
    interval::{End, Interval, Number},
    rank_rounding::{FormatPosition, common_rank, member_ranks},
};
use crate::{Dyadic, Enclosure, Format, Function, Rank, Undecided};
use num::{LIMIT, Neighbours, Num};
use std::cmp::Ordering;

/// Interval whose ends are dyadic numbers of at most `precision` bits (longer only if they are
/// given exactly).
///
/// Magnitudes above `2^(2^40)`, or below its reciprocal, are enclosed by unbounded intervals or by
/// intervals that exclude only zero. The enclosure property holds in every case.
#[derive(Clone, Debug)]
pub struct BigEnclosure {
    range: Interval<Num>,
    precision: u32,
}

impl Number for Num {
    type Context = u32;

    fn zero() -> Num {
        Num::zero()
    }

    fn sign(&self) -> Ordering {
        Num::sign(self)
    }

    fn negated(&self) -> Num {
        self.neg()
    }

    fn add(&self, other: &Num, precision: u32) -> (Num, Num) {
        num_arith::add(self, other, precision).into()
    }

    fn mul(&self, other: &Num, precision: u32) -> (Num, Num) {
        num_arith::mul(self, other, precision).into()
    }

    fn div(&self, other: &Num, precision: u32) -> (Num, Num) {
        num_arith::div(self, other, precision).into()
    }
}

impl BigEnclosure {
    fn point(value: Num, precision: u32) -> BigEnclosure {
        BigEnclosure { range: Interval::point(value), precision }
    }

    fn from_rounded(value: Neighbours, precision: u32) -> BigEnclosure {
        BigEnclosure { range: Interval::around(value.into()), precision }
    }

    fn common_precision(&self, other: &BigEnclosure) -> u32 {
        self.precision.max(other.precision)
    }

    fn is_zero(&self) -> bool {
        self.range.is_point() && self.range.lo.value.is_zero()
    }

    fn is_one(&self) -> bool {
        self.range.is_point() && self.range.lo.value == Num::one()
    }

    fn remainder(&self, y: &BigEnclosure, floored: bool) -> Result<BigEnclosure, Undecided> {
        let divisor = &y.range.lo.value;
        if !self.is_point() || !y.is_point() || divisor.is_zero() {
            return Err(Undecided);
        }
        let precision = self.common_precision(y);
        let rest = num_arith::rem_trunc(&self.range.lo.value, divisor);
        let value = if floored && !rest.is_zero() && rest.negative != divisor.negative {
            num_arith::add(&rest, divisor, precision)
        } else {
            num_arith::fit(&rest, precision)
        };
        Ok(BigEnclosure::from_rounded(value, precision))
    }
}

/// The end as an enclosure; a symbol represents a range of numbers.
fn alone(end: &Num, precision: u32) -> BigEnclosure {
    if !end.is_symbol() {
        return BigEnclosure::point(end.clone(), precision);
    }
    let edge = if end.is_huge() { Num::pow2(LIMIT - 1) } else { Num::pow2(-LIMIT - 1) };
    let edge = Num { negative: end.negative, ..edge };
    let ends = if *end < edge { (end.clone(), edge) } else { (edge, end.clone()) };
    BigEnclosure { range: Interval::around(ends), precision }
}

impl Enclosure for BigEnclosure {
    type Precision = u32;

    fn exact(value: Dyadic, precision: u32) -> BigEnclosure {
        BigEnclosure::point(Num::from_dyadic(value), precision)
    }

    fn pi(precision: u32) -> BigEnclosure {
        BigEnclosure::from_rounded(fixed::pi_around(precision), precision)
    }

    fn lower(&self) -> BigEnclosure {
        alone(&self.range.lo.value, self.precision)
    }

    fn upper(&self) -> BigEnclosure {
        alone(&self.range.hi.value, self.precision)
    }

    fn hull(&self, other: &BigEnclosure) -> BigEnclosure {
        BigEnclosure { range: self.range.hull(&other.range), precision: self.common_precision(other) }
    }

    fn is_point(&self) -> bool {
        self.range.is_point()
    }

    fn neg(&self) -> BigEnclosure {
        BigEnclosure { range: self.range.neg(), precision: self.precision }
    }

    fn abs(&self) -> BigEnclosure {
        BigEnclosure { range: self.range.abs(), precision: self.precision }
    }

    fn add(&self, other: &BigEnclosure) -> BigEnclosure {
        let precision = self.common_precision(other);
        BigEnclosure { range: self.range.add(&other.range, precision), precision }
    }

    fn sub(&self, other: &BigEnclosure) -> BigEnclosure {
        let precision = self.common_precision(other);
        BigEnclosure { range: self.range.sub(&other.range, precision), precision }
    }

    fn mul(&self, other: &BigEnclosure) -> BigEnclosure {
        let precision = self.common_precision(other);
        BigEnclosure { range: self.range.mul(&other.range, precision), precision }
    }

    fn div(&self, other: &BigEnclosure) -> Result<BigEnclosure, Undecided> {
        let precision = self.common_precision(other);
        let range = self.range.div(&other.range, precision).ok_or(Undecided)?;
        Ok(BigEnclosure { range, precision })
    }

    fn min(&self, other: &BigEnclosure) -> BigEnclosure {
        BigEnclosure { range: self.range.min(&other.range), precision: self.common_precision(other) }
    }

    fn max(&self, other: &BigEnclosure) -> BigEnclosure {
        BigEnclosure { range: self.range.max(&other.range), precision: self.common_precision(other) }
    }

    fn function(&self, function: Function) -> Result<BigEnclosure, Undecided> {
        let precision = self.precision;
        let landmarks = || {
            let pi = fixed::pi_around(precision);
            RangeConstants { one: Num::one(), half_pi: (pi.lo.scale(-1), pi.hi.scale(-1)), pi: pi.into() }
        };
        let at = |x: &Num| {
            let value = if x.is_symbol() {
                num_functions::at_symbol(function, x, precision)
            } else {
                num_functions::at(function, x, precision)
            };
            value.map(Into::into)
        };
        Ok(BigEnclosure { range: function_range(function, &self.range, landmarks, at)?, precision })
    }

    fn atan2(&self, x: &BigEnclosure) -> Result<BigEnclosure, Undecided> {
        let (y, x, precision) = (&self.range, &x.range, self.common_precision(x));
        let corners = [(&y.lo, &x.lo), (&y.lo, &x.hi), (&y.hi, &x.lo), (&y.hi, &x.hi)];
        // Angles with a symbol as coordinate are undecided; their limits are not implemented.
        let symbols = corners.iter().any(|(y, x)| y.value.is_symbol() || x.value.is_symbol());
        let cut = y.lo.value.negative && x.lo.value.negative;
        if symbols || y.meets_zero() && (x.meets_zero() || cut) {
            return Err(Undecided);
        }
        let angle = |y: &End<Num>, x: &End<Num>| {
            let mut angle = Interval::around(num_functions::angle(&y.value, &x.value, precision).into());
            angle.lo.open |= y.open;
            angle.hi.open |= y.open;
            angle
        };
        let first = angle(&y.lo, &x.lo);
        if y.is_point() && x.is_point() {
            return Ok(BigEnclosure { range: first, precision });
        }
        // The extreme angles of a box that neither contains the origin nor crosses the cut are at
        // its corners.
        let range = corners[1..].iter().fold(first, |hull, (y, x)| hull.hull(&angle(y, x)));
        Ok(BigEnclosure { range, precision })
    }

    fn pow(&self, exponent: &BigEnclosure) -> Result<BigEnclosure, Undecided> {
        num_pow::pow(self, exponent, self.common_precision(exponent))
    }

    fn rem_trunc(&self, y: &BigEnclosure) -> Result<BigEnclosure, Undecided> {
        self.remainder(y, false)
    }

    fn rem_floor(&self, y: &BigEnclosure) -> Result<BigEnclosure, Undecided> {
        self.remainder(y, true)
    }

    fn compare(&self, other: &BigEnclosure) -> Result<Ordering, Undecided> {
        self.range.compare(&other.range).ok_or(Undecided)
    }

    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| FormatPosition::of_num(x, format), FormatPosition::ceil)
    }

    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| FormatPosition::of_num(x, format), FormatPosition::floor)
    }

    fn member_ranks(&self, format: Format) -> (Rank, Rank) {
        member_ranks(&self.range, |x| FormatPosition::of_num(x, format))
    }

    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| FormatPosition::of_num(x, format), FormatPosition::nearest)
    }

    fn binade(&self) -> Result<i32, Undecided> {
        let magnitude = self.range.abs();
        let (lo, hi) = (&magnitude.lo, &magnitude.hi);
        // A power of two belongs to the binade below it; numbers just above it belong to the next.
        let below = |x: &Num, above: bool| if x.is_pow2() && !above { x.exponent - 1 } else { x.top() - 1 };
        if lo.value.is_zero() || below(&lo.value, lo.open) != below(&hi.value, false) {
            return Err(Undecided);
        }
        i32::try_from(below(&lo.value, lo.open)).map_err(|_| Undecided)
    }

    fn approximate(&self) -> f64 {
        let (lo, hi) = (&self.range.lo.value, &self.range.hi.value);
        match (lo.is_huge(), hi.is_huge()) {
            (true, true) => 0.0,
            (true, false) => hi.to_f64(),
            (false, true) => lo.to_f64(),
            (false, false) => {
                let sum = num_arith::add(lo, hi, self.precision).lo;
                if sum.is_symbol() { sum.to_f64() } else { sum.scale(-1).to_f64() }
            }
        }
    }

    fn decimal(&self, digits: usize) -> String {
        decimal(&self.range.lo.value, &self.range.hi.value, digits)
    }
}
