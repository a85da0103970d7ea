//! Enclosures of arbitrary precision.

mod arith;
mod fixed;
mod functions;
pub(crate) mod num;
mod pow;

use super::{
    decimal::decimal,
    image::{Landmarks, image},
    interval::{End, Interval, Number},
    rank::{Place, common_rank, member_ranks},
};
use crate::{Dyadic, Enclosure, Format, Function, Rank, Undecided};
use num::{LIMIT, Num, Rounded};
use std::cmp::Ordering;

/// Interval whose ends are dyadic numbers of at most `precision` bits (longer only if they are
/// given exactly).
///
/// Magnitudes above `2^(2^40)`, or below its reciprocal, are enclosed by unbounded intervals or by
/// intervals that exclude only zero. The enclosure property holds in every case.
#[derive(Clone, Debug)]
pub struct Big {
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
        arith::add(self, other, precision).into()
    }

    fn mul(&self, other: &Num, precision: u32) -> (Num, Num) {
        arith::mul(self, other, precision).into()
    }

    fn div(&self, other: &Num, precision: u32) -> (Num, Num) {
        arith::div(self, other, precision).into()
    }
}

impl Big {
    fn point(value: Num, precision: u32) -> Big {
        Big { range: Interval::point(value), precision }
    }

    fn from_rounded(value: Rounded, precision: u32) -> Big {
        Big { range: Interval::around(value.into()), precision }
    }

    fn common_precision(&self, other: &Big) -> u32 {
        self.precision.max(other.precision)
    }

    fn is_zero(&self) -> bool {
        self.range.is_point() && self.range.lo.value.is_zero()
    }

    fn is_one(&self) -> bool {
        self.range.is_point() && self.range.lo.value == Num::one()
    }

    fn remainder(&self, y: &Big, floored: bool) -> Result<Big, Undecided> {
        let divisor = &y.range.lo.value;
        if !self.is_point() || !y.is_point() || divisor.is_zero() {
            return Err(Undecided);
        }
        let precision = self.common_precision(y);
        let rest = arith::rem_trunc(&self.range.lo.value, divisor);
        let value = if floored && !rest.is_zero() && rest.negative != divisor.negative {
            arith::add(&rest, divisor, precision)
        } else {
            arith::fit(&rest, precision)
        };
        Ok(Big::from_rounded(value, precision))
    }
}

/// The end as an enclosure; a symbol represents a range of numbers.
fn alone(end: &Num, precision: u32) -> Big {
    if !end.is_symbol() {
        return Big::point(end.clone(), precision);
    }
    let edge = if end.is_huge() { Num::pow2(LIMIT - 1) } else { Num::pow2(-LIMIT - 1) };
    let edge = Num { negative: end.negative, ..edge };
    let ends = if *end < edge { (end.clone(), edge) } else { (edge, end.clone()) };
    Big { range: Interval::around(ends), precision }
}

impl Enclosure for Big {
    type Precision = u32;

    fn exact(value: Dyadic, precision: u32) -> Big {
        Big::point(Num::from_dyadic(value), precision)
    }

    fn pi(precision: u32) -> Big {
        Big::from_rounded(fixed::pi_around(precision), precision)
    }

    fn lower(&self) -> Big {
        alone(&self.range.lo.value, self.precision)
    }

    fn upper(&self) -> Big {
        alone(&self.range.hi.value, self.precision)
    }

    fn hull(&self, other: &Big) -> Big {
        Big { range: self.range.hull(&other.range), precision: self.common_precision(other) }
    }

    fn is_point(&self) -> bool {
        self.range.is_point()
    }

    fn neg(&self) -> Big {
        Big { range: self.range.neg(), precision: self.precision }
    }

    fn abs(&self) -> Big {
        Big { range: self.range.abs(), precision: self.precision }
    }

    fn add(&self, other: &Big) -> Big {
        let precision = self.common_precision(other);
        Big { range: self.range.add(&other.range, precision), precision }
    }

    fn sub(&self, other: &Big) -> Big {
        let precision = self.common_precision(other);
        Big { range: self.range.sub(&other.range, precision), precision }
    }

    fn mul(&self, other: &Big) -> Big {
        let precision = self.common_precision(other);
        Big { range: self.range.mul(&other.range, precision), precision }
    }

    fn div(&self, other: &Big) -> Result<Big, Undecided> {
        let precision = self.common_precision(other);
        let range = self.range.div(&other.range, precision).ok_or(Undecided)?;
        Ok(Big { range, precision })
    }

    fn min(&self, other: &Big) -> Big {
        Big { range: self.range.min(&other.range), precision: self.common_precision(other) }
    }

    fn max(&self, other: &Big) -> Big {
        Big { range: self.range.max(&other.range), precision: self.common_precision(other) }
    }

    fn function(&self, function: Function) -> Result<Big, Undecided> {
        let precision = self.precision;
        let landmarks = || {
            let pi = fixed::pi_around(precision);
            Landmarks { one: Num::one(), half_pi: (pi.lo.scale(-1), pi.hi.scale(-1)), pi: pi.into() }
        };
        let at = |x: &Num| {
            let value = if x.is_symbol() {
                functions::at_symbol(function, x, precision)
            } else {
                functions::at(function, x, precision)
            };
            value.map(Into::into)
        };
        Ok(Big { range: image(function, &self.range, landmarks, at)?, precision })
    }

    fn atan2(&self, x: &Big) -> Result<Big, Undecided> {
        let (y, x, precision) = (&self.range, &x.range, self.common_precision(x));
        let corners = [(&y.lo, &x.lo), (&y.lo, &x.hi), (&y.hi, &x.lo), (&y.hi, &x.hi)];
        // Angles with a symbol as coordinate are undecided; their limits are not implemented.
        let symbols = corners.iter().any(|(y, x)| y.value.is_symbol() || x.value.is_symbol());
        let cut = y.lo.value.negative && x.lo.value.negative;
        if symbols || y.meets_zero() && (x.meets_zero() || cut) {
            return Err(Undecided);
        }
        let angle = |y: &End<Num>, x: &End<Num>| {
            let mut angle = Interval::around(functions::angle(&y.value, &x.value, precision).into());
            angle.lo.open |= y.open;
            angle.hi.open |= y.open;
            angle
        };
        let first = angle(&y.lo, &x.lo);
        if y.is_point() && x.is_point() {
            return Ok(Big { range: first, precision });
        }
        // The extreme angles of a box that neither contains the origin nor crosses the cut are at
        // its corners.
        let range = corners[1..].iter().fold(first, |hull, (y, x)| hull.hull(&angle(y, x)));
        Ok(Big { range, precision })
    }

    fn pow(&self, exponent: &Big) -> Result<Big, Undecided> {
        pow::pow(self, exponent, self.common_precision(exponent))
    }

    fn rem_trunc(&self, y: &Big) -> Result<Big, Undecided> {
        self.remainder(y, false)
    }

    fn rem_floor(&self, y: &Big) -> Result<Big, Undecided> {
        self.remainder(y, true)
    }

    fn compare(&self, other: &Big) -> Result<Ordering, Undecided> {
        self.range.compare(&other.range).ok_or(Undecided)
    }

    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| Place::of_num(x, format), Place::ceil)
    }

    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| Place::of_num(x, format), Place::floor)
    }

    fn member_ranks(&self, format: Format) -> (Rank, Rank) {
        member_ranks(&self.range, |x| Place::of_num(x, format))
    }

    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided> {
        common_rank(&self.range, |x| Place::of_num(x, format), Place::nearest)
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
                let sum = arith::add(lo, hi, self.precision).lo;
                if sum.is_symbol() { sum.to_f64() } else { sum.scale(-1).to_f64() }
            }
        }
    }

    fn decimal(&self, digits: usize) -> String {
        decimal(&self.range.lo.value, &self.range.hi.value, digits)
    }
}
