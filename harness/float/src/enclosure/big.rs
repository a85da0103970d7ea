//! Enclosures with as many bits as it takes.

mod arith;
mod fixed;
mod functions;
pub(crate) mod num;
mod pow;

use super::{
    decimal::decimal,
    image::{Landmarks, image},
    rank::Place,
};
use crate::{Dyadic, Enclosure, Format, Function, Rank, Undecided};
use num::{Direction, LIMIT, Num, Rounded};
use std::cmp::Ordering;

/// An interval whose ends are dyadic numbers of at most `precision` bits (longer only where given exactly).
///
/// Magnitudes beyond `2^(2^40)`, or below its reciprocal, are enclosed by unbounded intervals or ones that exclude only
/// zero; nothing is ever said that does not hold.
#[derive(Clone, Debug)]
pub struct Big {
    lo: Num,
    hi: Num,
    precision: u32,
}

impl Big {
    fn point(value: Num, precision: u32) -> Big {
        Big { lo: value.clone(), hi: value, precision }
    }

    fn from_rounded(value: Rounded, precision: u32) -> Big {
        Big { lo: value.lo, hi: value.hi, precision }
    }

    /// The enclosure of one finite `f64`.
    pub(crate) fn from_fast(lo: f64, hi: f64) -> (Num, Num) {
        let end = |x: f64| match Dyadic::from_f64(x) {
            Some(value) => Num::from_dyadic(value),
            None if x < 0.0 => Num::huge().neg(),
            None => Num::huge(),
        };
        (end(lo), end(hi))
    }

    fn common_precision(&self, other: &Big) -> u32 {
        self.precision.max(other.precision)
    }

    fn is_zero(&self) -> bool {
        self.lo.is_zero() && self.hi.is_zero()
    }

    fn is_one(&self) -> bool {
        self.lo == self.hi && self.lo == Num::one()
    }

    /// `[low, high]` from the ends of two interval operations at once, or of one if the operands are points.
    fn directed(
        operation: fn(&Num, &Num, u32) -> Rounded,
        low: (&Num, &Num),
        high: (&Num, &Num),
        precision: u32,
    ) -> Big {
        if low == high {
            return Big::from_rounded(operation(low.0, low.1, precision), precision);
        }
        let lo = operation(low.0, low.1, precision).end(Direction::Down);
        let hi = operation(high.0, high.1, precision).end(Direction::Up);
        Big { lo, hi, precision }
    }

    fn add_at(&self, other: &Big, precision: u32) -> Big {
        Big::directed(arith::add, (&self.lo, &other.lo), (&self.hi, &other.hi), precision)
    }

    fn sub_at(&self, other: &Big, precision: u32) -> Big {
        self.add_at(&other.neg(), precision)
    }

    fn mul_at(&self, other: &Big, precision: u32) -> Big {
        let (a, b) = (self, other);
        let mul = |low: (&Num, &Num), high: (&Num, &Num)| Big::directed(arith::mul, low, high, precision);
        // "Not negative" and "not positive" count zero ends as either: zero times anything is zero.
        let (a_pos, a_neg) = (a.lo.sign().is_ge(), a.hi.sign().is_le());
        let (b_pos, b_neg) = (b.lo.sign().is_ge(), b.hi.sign().is_le());
        match (a_pos, a_neg, b_pos, b_neg) {
            (true, _, true, _) => mul((&a.lo, &b.lo), (&a.hi, &b.hi)),
            (true, _, _, true) => mul((&a.hi, &b.lo), (&a.lo, &b.hi)),
            (_, true, true, _) => mul((&a.lo, &b.hi), (&a.hi, &b.lo)),
            (_, true, _, true) => mul((&a.hi, &b.hi), (&a.lo, &b.lo)),
            (true, ..) => mul((&a.hi, &b.lo), (&a.hi, &b.hi)),
            (_, true, ..) => mul((&a.lo, &b.hi), (&a.lo, &b.lo)),
            (_, _, true, _) => mul((&a.lo, &b.hi), (&a.hi, &b.hi)),
            (_, _, _, true) => mul((&a.hi, &b.lo), (&a.lo, &b.lo)),
            _ => mul((&a.lo, &b.hi), (&a.lo, &b.lo)).union(&mul((&a.hi, &b.lo), (&a.hi, &b.hi)), precision),
        }
    }

    fn div_at(&self, other: &Big, precision: u32) -> Result<Big, Undecided> {
        let (a, b) = (self, other);
        let div = |low: (&Num, &Num), high: (&Num, &Num)| Ok(Big::directed(arith::div, low, high, precision));
        match (b.lo.sign(), b.hi.sign()) {
            (Ordering::Greater, _) if a.lo.sign().is_ge() => div((&a.lo, &b.hi), (&a.hi, &b.lo)),
            (Ordering::Greater, _) if a.hi.sign().is_le() => div((&a.lo, &b.lo), (&a.hi, &b.hi)),
            (Ordering::Greater, _) => div((&a.lo, &b.lo), (&a.hi, &b.lo)),
            (_, Ordering::Less) => self.neg().div_at(&other.neg(), precision),
            _ => Err(Undecided),
        }
    }

    /// The root of an interval without negative members.
    fn sqrt_at(&self, precision: u32) -> Big {
        if self.lo == self.hi {
            return Big::from_rounded(arith::sqrt(&self.lo, precision), precision);
        }
        Big { lo: arith::sqrt(&self.lo, precision).lo, hi: arith::sqrt(&self.hi, precision).hi, precision }
    }

    fn union(&self, other: &Big, precision: u32) -> Big {
        Big { lo: (&self.lo).min(&other.lo).clone(), hi: (&self.hi).max(&other.hi).clone(), precision }
    }

    /// The rank that both ends give.
    fn rank(&self, format: Format, rank: fn(Place) -> Rank) -> Result<Rank, Undecided> {
        let low = rank(Place::of_num(&self.lo, format));
        if self.lo == self.hi || low == rank(Place::of_num(&self.hi, format)) { Ok(low) } else { Err(Undecided) }
    }

    fn remainder(&self, y: &Big, floored: bool) -> Result<Big, Undecided> {
        if !self.is_point() || !y.is_point() || y.lo.is_zero() {
            return Err(Undecided);
        }
        let precision = self.common_precision(y);
        let rest = arith::rem_trunc(&self.lo, &y.lo);
        let value = if floored && !rest.is_zero() && rest.negative != y.lo.negative {
            arith::add(&rest, &y.lo, precision)
        } else {
            arith::fit(&rest, precision)
        };
        Ok(Big::from_rounded(value, precision))
    }
}

/// An interval around the end alone: a symbol stands for a range of numbers.
fn alone(end: &Num, precision: u32) -> Big {
    if !end.is_symbol() {
        return Big::point(end.clone(), precision);
    }
    let edge = if end.is_huge() { Num::pow2(LIMIT - 1) } else { Num::pow2(-LIMIT - 1) };
    match (end.negative, end.is_huge()) {
        (true, true) => Big { lo: end.clone(), hi: edge.neg(), precision },
        (true, false) => Big { lo: edge.neg(), hi: end.clone(), precision },
        (false, true) => Big { lo: edge, hi: end.clone(), precision },
        (false, false) => Big { lo: end.clone(), hi: edge, precision },
    }
}

impl Enclosure for Big {
    type Precision = u32;

    fn exact(value: Dyadic, precision: u32) -> Big {
        Big::point(Num::from_dyadic(value), precision)
    }

    fn pi(precision: u32) -> Big {
        let scale = i64::from(precision) + 8;
        Big::from_rounded(fixed::Fixed::new(fixed::pi(scale), 2, scale).enclose(precision), precision)
    }

    fn lower(&self) -> Big {
        alone(&self.lo, self.precision)
    }

    fn upper(&self) -> Big {
        alone(&self.hi, self.precision)
    }

    fn hull(&self, other: &Big) -> Big {
        self.union(other, self.common_precision(other))
    }

    fn is_point(&self) -> bool {
        self.lo == self.hi
    }

    fn neg(&self) -> Big {
        Big { lo: self.hi.neg(), hi: self.lo.neg(), precision: self.precision }
    }

    fn abs(&self) -> Big {
        match (self.lo.sign().is_ge(), self.hi.sign().is_le()) {
            (true, _) => self.clone(),
            (_, true) => self.neg(),
            _ => Big { lo: Num::zero(), hi: self.lo.neg().max(self.hi.clone()), precision: self.precision },
        }
    }

    fn add(&self, other: &Big) -> Big {
        self.add_at(other, self.common_precision(other))
    }

    fn sub(&self, other: &Big) -> Big {
        self.sub_at(other, self.common_precision(other))
    }

    fn mul(&self, other: &Big) -> Big {
        self.mul_at(other, self.common_precision(other))
    }

    fn div(&self, other: &Big) -> Result<Big, Undecided> {
        self.div_at(other, self.common_precision(other))
    }

    fn min(&self, other: &Big) -> Big {
        let precision = self.common_precision(other);
        Big { lo: (&self.lo).min(&other.lo).clone(), hi: (&self.hi).min(&other.hi).clone(), precision }
    }

    fn max(&self, other: &Big) -> Big {
        let precision = self.common_precision(other);
        Big { lo: (&self.lo).max(&other.lo).clone(), hi: (&self.hi).max(&other.hi).clone(), precision }
    }

    fn function(&self, function: Function) -> Result<Big, Undecided> {
        let precision = self.precision;
        let landmarks = || {
            let pi = Big::pi(precision);
            Landmarks {
                zero: Num::zero(),
                one: Num::one(),
                minus_one: Num::int(-1),
                half_pi: (pi.lo.scale(-1), pi.hi.scale(-1)),
                pi: (pi.lo, pi.hi),
                neg: Num::neg,
            }
        };
        let at = |x: &Num| {
            let value = if x.is_symbol() {
                functions::at_symbol(function, x, precision)
            } else {
                functions::at(function, x, precision)
            }?;
            Ok((value.lo, value.hi))
        };
        let (lo, hi) = image(function, &self.lo, &self.hi, landmarks, at)?;
        Ok(Big { lo, hi, precision })
    }

    fn atan2(&self, x: &Big) -> Result<Big, Undecided> {
        let (y, precision) = (self, self.common_precision(x));
        if y.is_point() && x.is_point() {
            if y.is_zero() && x.is_zero() {
                return Err(Undecided);
            }
            return Ok(Big::from_rounded(functions::angle(&y.lo, &x.lo, precision), precision));
        }
        // The extreme angles of a box that neither holds the origin nor crosses the cut are at corners.
        let holds_zero = |v: &Big| v.lo.sign().is_le() && v.hi.sign().is_ge();
        if holds_zero(y) && (holds_zero(x) || (x.lo.negative && y.lo.negative)) {
            return Err(Undecided);
        }
        // A symbol as a coordinate: a limit that the angle has there is not worth the code.
        if [&y.lo, &y.hi, &x.lo, &x.hi].into_iter().any(Num::is_symbol) {
            return Err(Undecided);
        }
        let angle = |y: &Num, x: &Num| Big::from_rounded(functions::angle(y, x, precision), precision);
        let corners = [angle(&y.lo, &x.lo), angle(&y.lo, &x.hi), angle(&y.hi, &x.lo), angle(&y.hi, &x.hi)];
        let [first, rest @ ..] = corners;
        Ok(rest.iter().fold(first, |hull, corner| hull.union(corner, precision)))
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
        if self.hi < other.lo {
            Ok(Ordering::Less)
        } else if self.lo > other.hi {
            Ok(Ordering::Greater)
        } else if self.is_point() && other.is_point() {
            Ok(Ordering::Equal)
        } else {
            Err(Undecided)
        }
    }

    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::ceil)
    }

    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::floor)
    }

    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::nearest)
    }

    fn binade(&self) -> Result<i32, Undecided> {
        let of = |end: &Num| if end.is_pow2() { end.exponent - 1 } else { end.top() - 1 };
        let same_sign = self.lo.sign() == self.hi.sign() && !self.lo.is_zero();
        if !same_sign || of(&self.lo) != of(&self.hi) {
            return Err(Undecided);
        }
        i32::try_from(of(&self.lo)).map_err(|_| Undecided)
    }

    fn approximate(&self) -> f64 {
        match (self.lo.is_huge(), self.hi.is_huge()) {
            (true, true) => 0.0,
            (true, false) => self.hi.to_f64(),
            (false, true) => self.lo.to_f64(),
            (false, false) => {
                let sum = arith::add(&self.lo, &self.hi, self.precision).lo;
                if sum.is_symbol() { sum.to_f64() } else { sum.scale(-1).to_f64() }
            }
        }
    }

    fn decimal(&self, digits: usize) -> String {
        decimal(&self.lo, &self.hi, digits)
    }
}
