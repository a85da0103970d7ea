//! Enclosures in `f64`: the first attempt at every question.

mod arith;
mod functions;
pub(crate) mod kernels;

use super::{
    decimal::decimal,
    image::{Landmarks, image},
    rank::Place,
};
use crate::{Big, Dyadic, Enclosure, Format, Function, Rank, Undecided};
use arith::Ends;
use std::cmp::Ordering;

/// An interval with `f64` ends: `lo` is not `+inf`, `hi` is not `-inf`, and an infinite end means "unbounded".
///
/// The basic operations round each end outward only if they are inexact; the functions are good to about 2^-50.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    lo: f64,
    hi: f64,
}

impl Fast {
    fn new((lo, hi): Ends) -> Fast {
        debug_assert!(lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY);
        Fast { lo, hi }
    }

    /// Ends of an operation on both pairs, evaluated once if they are the same.
    #[inline]
    fn directed(operation: fn(f64, f64) -> Ends, low: (f64, f64), high: (f64, f64)) -> Fast {
        let first = operation(low.0, low.1);
        if low == high { Fast::new(first) } else { Fast::new((first.0, operation(high.0, high.1).1)) }
    }

    /// The rank that both ends give.
    #[inline]
    fn rank(&self, format: Format, rank: fn(Place) -> Rank) -> Result<Rank, Undecided> {
        let low = rank(Place::of_f64(self.lo, format));
        if self.lo == self.hi || low == rank(Place::of_f64(self.hi, format)) { Ok(low) } else { Err(Undecided) }
    }
}

/// Ends around pi: the double below it, and its successor.
const PI: Ends = (std::f64::consts::PI, f64::from_bits(std::f64::consts::PI.to_bits() + 1));

/// An interval around the end alone: an infinite one stands for a range of numbers.
fn alone(end: f64) -> Fast {
    if end.is_finite() { Fast { lo: end, hi: end } } else { Fast::new(arith::unbounded(end)) }
}

impl Enclosure for Fast {
    type Precision = ();

    #[inline]
    fn exact(value: Dyadic, _: ()) -> Fast {
        if let Some(value) = value.to_f64_exact() {
            return Fast { lo: value, hi: value };
        }
        // More than 53 bits, or outside the normal range.
        let format = crate::F64;
        let end = |rank: Rank| {
            let bits = format.bits(rank);
            f64::from_bits(bits)
        };
        let number = Big::exact(value, 64);
        let (floor, ceil) = (number.floor_rank(format), number.ceil_rank(format));
        match (floor, ceil) {
            (Ok(floor), Ok(ceil)) => Fast::new((end(floor), end(ceil))),
            _ => Fast::new(functions::everything()),
        }
    }

    #[inline]
    fn pi((): ()) -> Fast {
        Fast { lo: PI.0, hi: PI.1 }
    }

    #[inline]
    fn lower(&self) -> Fast {
        alone(self.lo)
    }

    #[inline]
    fn upper(&self) -> Fast {
        alone(self.hi)
    }

    #[inline]
    fn hull(&self, other: &Fast) -> Fast {
        Fast { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    #[inline]
    fn is_point(&self) -> bool {
        self.lo == self.hi
    }

    #[inline]
    fn neg(&self) -> Fast {
        Fast { lo: -self.hi, hi: -self.lo }
    }

    #[inline]
    fn abs(&self) -> Fast {
        if self.lo >= 0.0 {
            *self
        } else if self.hi <= 0.0 {
            self.neg()
        } else {
            Fast { lo: 0.0, hi: self.hi.max(-self.lo) }
        }
    }

    #[inline]
    fn add(&self, other: &Fast) -> Fast {
        Fast::directed(arith::add, (self.lo, other.lo), (self.hi, other.hi))
    }

    #[inline]
    fn sub(&self, other: &Fast) -> Fast {
        Fast::directed(arith::add, (self.lo, -other.hi), (self.hi, -other.lo))
    }

    #[inline]
    fn mul(&self, other: &Fast) -> Fast {
        let (a, b) = (self, other);
        let mul = |low: (f64, f64), high: (f64, f64)| Fast::directed(arith::mul, low, high);
        let (a_pos, a_neg, b_pos, b_neg) = (a.lo >= 0.0, a.hi <= 0.0, b.lo >= 0.0, b.hi <= 0.0);
        match (a_pos, a_neg, b_pos, b_neg) {
            (true, _, true, _) => mul((a.lo, b.lo), (a.hi, b.hi)),
            (true, _, _, true) => mul((a.hi, b.lo), (a.lo, b.hi)),
            (_, true, true, _) => mul((a.lo, b.hi), (a.hi, b.lo)),
            (_, true, _, true) => mul((a.hi, b.hi), (a.lo, b.lo)),
            (true, ..) => mul((a.hi, b.lo), (a.hi, b.hi)),
            (_, true, ..) => mul((a.lo, b.hi), (a.lo, b.lo)),
            (_, _, true, _) => mul((a.lo, b.hi), (a.hi, b.hi)),
            (_, _, _, true) => mul((a.hi, b.lo), (a.lo, b.lo)),
            _ => mul((a.lo, b.hi), (a.lo, b.lo)).hull(&mul((a.hi, b.lo), (a.hi, b.hi))),
        }
    }

    #[inline]
    fn div(&self, other: &Fast) -> Result<Fast, Undecided> {
        let (a, b) = (self, other);
        let div = |low: (f64, f64), high: (f64, f64)| Ok(Fast::directed(arith::div, low, high));
        if b.hi < 0.0 {
            return self.neg().div(&other.neg());
        }
        if b.lo <= 0.0 {
            return Err(Undecided);
        }
        if a.lo >= 0.0 {
            div((a.lo, b.hi), (a.hi, b.lo))
        } else if a.hi <= 0.0 {
            div((a.lo, b.lo), (a.hi, b.hi))
        } else {
            div((a.lo, b.lo), (a.hi, b.lo))
        }
    }

    #[inline]
    fn min(&self, other: &Fast) -> Fast {
        Fast { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    #[inline]
    fn max(&self, other: &Fast) -> Fast {
        Fast { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    fn function(&self, function: Function) -> Result<Fast, Undecided> {
        let landmarks = || Landmarks {
            zero: 0.0,
            one: 1.0,
            minus_one: -1.0,
            half_pi: (PI.0 / 2.0, PI.1 / 2.0),
            pi: PI,
            neg: |x: &f64| -x,
        };
        image(function, &self.lo, &self.hi, landmarks, |&x| functions::at(function, x)).map(Fast::new)
    }

    fn atan2(&self, x: &Fast) -> Result<Fast, Undecided> {
        let y = self;
        let finite = [y.lo, y.hi, x.lo, x.hi].into_iter().all(f64::is_finite);
        let holds_zero = |v: &Fast| v.lo <= 0.0 && v.hi >= 0.0;
        let cut = holds_zero(y) && (holds_zero(x) || (x.lo < 0.0 && y.lo < 0.0));
        if !finite || cut {
            return Err(Undecided);
        }
        let angle = |y: f64, x: f64| {
            if y < 0.0 {
                let (lo, hi) = functions::angle(-y, x);
                Fast::new((-hi, -lo))
            } else {
                Fast::new(functions::angle(y, x))
            }
        };
        let first = angle(y.lo, x.lo);
        if y.is_point() && x.is_point() {
            return Ok(first);
        }
        // The extreme angles of a box that neither holds the origin nor crosses the cut are at corners.
        Ok(first.hull(&angle(y.lo, x.hi)).hull(&angle(y.hi, x.lo)).hull(&angle(y.hi, x.hi)))
    }

    fn pow(&self, exponent: &Fast) -> Result<Fast, Undecided> {
        if self.lo <= 0.0 {
            return Err(Undecided);
        }
        if (self.lo == 1.0 && self.hi == 1.0) || (exponent.lo == 0.0 && exponent.hi == 0.0) {
            return Ok(Fast { lo: 1.0, hi: 1.0 });
        }
        if self.is_point()
            && exponent.is_point()
            && let Some(power) = functions::exact_power(self.lo, exponent.lo)
        {
            return Ok(Fast { lo: power, hi: power });
        }
        let product = Fast::new(functions::ln_over(self.lo, self.hi)).mul(exponent);
        Ok(Fast::new(functions::exp_over(product.lo, product.hi)))
    }

    fn rem_trunc(&self, y: &Fast) -> Result<Fast, Undecided> {
        if !self.is_point() || !y.is_point() || y.lo == 0.0 {
            return Err(Undecided);
        }
        // The remainder of two doubles is a double.
        Ok(alone(self.lo % y.lo))
    }

    fn rem_floor(&self, y: &Fast) -> Result<Fast, Undecided> {
        let rest = self.rem_trunc(y)?;
        let turns = rest.lo != 0.0 && (rest.lo < 0.0) != (y.lo < 0.0);
        Ok(if turns { rest.add(y) } else { rest })
    }

    #[inline]
    fn compare(&self, other: &Fast) -> Result<Ordering, Undecided> {
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

    #[inline]
    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::ceil)
    }

    #[inline]
    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::floor)
    }

    #[inline]
    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided> {
        self.rank(format, Place::nearest)
    }

    fn binade(&self) -> Result<i32, Undecided> {
        // The exponent of the number's predecessor, by which powers of two belong to the binade below.
        let of = |x: f64| {
            let bits = x.abs().to_bits() - 1;
            let field = (bits >> 52) as i32;
            if field == 0 { bits.checked_ilog2().map_or(-1075, |top| top as i32 - 1074) } else { field - 1023 }
        };
        if !(self.lo > 0.0 || self.hi < 0.0) || !(self.lo.is_finite() && self.hi.is_finite()) {
            return Err(Undecided);
        }
        let binade = of(self.lo);
        if binade == of(self.hi) { Ok(binade) } else { Err(Undecided) }
    }

    fn approximate(&self) -> f64 {
        match (self.lo.is_finite(), self.hi.is_finite()) {
            (false, false) => 0.0,
            (true, false) => self.lo,
            (false, true) => self.hi,
            (true, true) if self.lo == self.hi => self.lo,
            (true, true) => 0.5 * self.lo + 0.5 * self.hi,
        }
    }

    fn decimal(&self, digits: usize) -> String {
        let (lo, hi) = Big::from_fast(self.lo, self.hi);
        decimal(&lo, &hi, digits)
    }
}
