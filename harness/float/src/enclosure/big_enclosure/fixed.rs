//! Fixed-point kernels: elementary functions of integers over a power of two, each with a proven
//! bound on its error.
//!
//! A *unit* is `2^-scale`. A right shift or division of non-negative integers truncates, which
//! costs less than one unit, always downward. The bounds below add these up. The methods are those
//! of Brent & Zimmermann, *Modern Computer Arithmetic*, chapter 4: Taylor series with argument
//! reduction by halving and repeated squaring or doubling (Brent, "Fast multiple-precision
//! evaluation of elementary functions", JACM 23, 1976), and one correction step from an `f64` seed
//! for the inverse functions.

use super::num::{Direction, Neighbours, Num};
use crate::enclosure::f64_enclosure::f64_kernels;
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::{cell::RefCell, collections::HashMap};

/// Number that lies within `error` units of `value`.
#[derive(Clone, Debug)]
pub(super) struct FixedPoint {
    pub(super) value: BigInt,
    pub(super) error: u64,
    pub(super) scale: i64,
}

impl FixedPoint {
    pub(super) fn new(value: impl Into<BigInt>, error: u64, scale: i64) -> FixedPoint {
        FixedPoint { value: value.into(), error, scale }
    }

    /// Number of certain leading bits; negative if the sign is uncertain.
    pub(super) fn certain_bits(&self) -> i64 {
        self.value.bits() as i64 - i64::from(64 - self.error.leading_zeros())
    }

    /// Interval that it represents, with ends of `precision` bits.
    pub(super) fn enclose(&self, precision: u32) -> Neighbours {
        let lo = Num::round_int(&(&self.value - self.error), -self.scale, precision, Direction::Down);
        let hi = Num::round_int(&(&self.value + self.error), -self.scale, precision, Direction::Up);
        Neighbours { lo, hi }
    }
}

/// Evaluates at growing scales until the result has `precision` certain bits, which is relative
/// accuracy close to zeros. The number must not be zero.
pub(super) fn until_certain(precision: u32, scale: i64, evaluate: impl Fn(i64) -> FixedPoint) -> Neighbours {
    let wanted = i64::from(precision) + 2;
    let mut scale = scale;
    let mut result = evaluate(scale);
    // Each round adds the missing bits. The limit only keeps a defect from looping; the interval is
    // an enclosure anyway.
    for _ in 0..40 {
        let missing = wanted - result.certain_bits();
        if missing <= 0 {
            break;
        }
        scale += missing + 8;
        result = evaluate(scale);
    }
    result.enclose(precision)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Constant {
    Pi,
    Ln2,
}

thread_local! {
    /// Constants by scale, in steps of 64 bits.
    static CONSTANTS: RefCell<HashMap<(Constant, u64), BigUint>> = RefCell::default();
}

/// Pi, at most 2 units below the exact value.
pub(super) fn pi(scale: i64) -> BigUint {
    constant(Constant::Pi, scale)
}

/// Enclosure of pi with ends of that many bits.
pub(super) fn pi_around(precision: u32) -> Neighbours {
    let scale = i64::from(precision) + 8;
    FixedPoint::new(pi(scale), 2, scale).enclose(precision)
}

/// Natural logarithm of 2, at most 2 units below the exact value.
pub(super) fn ln2(scale: i64) -> BigUint {
    constant(Constant::Ln2, scale)
}

/// Constant from the cache. Its own error is below one unit of the cached scale, and truncation
/// costs another.
fn constant(which: Constant, scale: i64) -> BigUint {
    let scale = scale as u64;
    let step = scale / 64 + 1;
    CONSTANTS.with_borrow_mut(|cache| {
        let stored = cache.entry((which, step)).or_insert_with(|| {
            // 64 guard bits absorb the errors of the series: fewer than 2^40 terms with less than 8
            // * 20 units each.
            let work = step * 64 + 64;
            let value = match which {
                // Machin: pi = 16 atan(1/5) - 4 atan(1/239).
                Constant::Pi => arc_series(5, work, true) * 16u32 - arc_series(239, work, true) * 4u32,
                // ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749).
                Constant::Ln2 => {
                    arc_series(26, work, false) * 18u32 + arc_series(8749, work, false) * 8u32
                        - arc_series(4801, work, false) * 2u32
                }
            };
            // Subtracts 2^48 units of the working scale, 2^-16 of a unit of the cached scale, which
            // makes the value a lower bound.
            (value - (BigUint::one() << 48u32)) >> 64u32
        });
        &*stored >> (step * 64 - scale)
    })
}

/// `atan(1/n)` (alternating) or `atanh(1/n)` by its series, within two units for each term.
fn arc_series(n: u32, scale: u64, alternating: bool) -> BigUint {
    let square = n * n;
    let mut power = (BigUint::one() << scale) / n;
    let (mut plus, mut minus) = (power.clone(), BigUint::zero());
    let mut odd = 1u32;
    while !power.is_zero() {
        power /= square;
        odd += 2;
        let term = &power / odd;
        if alternating && odd % 4 == 3 { minus += term } else { plus += term }
    }
    plus - minus
}

/// Bit length of a number of terms, which includes a margin.
fn bit_length(n: u64) -> u64 {
    u64::from(64 - n.leading_zeros())
}

/// `e^(r / 2^scale)` for `0 <= r < 2^scale`, at most 2 units below the exact value.
///
/// Method: Taylor series of `t = r / 2^s`, then `s` squarings. Derivation, in units of the working
/// scale `W = scale + g`:
///
/// * Each of `n` Taylor terms is at most 2 units short and the tail at most 4, so that the sum is
///   short by at most `2n + 4`. With `n < 2^b`, `b >= 3`, that is below `2^(b + 2)`.
/// * `s` squarings multiply the shortfall by at most `e * 2^s`: each `y -> y^2` doubles it and
///   multiplies it by `y`, and the `y` multiply to `e^r < e`. Their truncations add at most `e *
///   2^s`. The total is below `2^(s + b + 4)`.
/// * `g = s + b + 5` makes this half a unit of the result, to which the final truncation adds one.
pub(super) fn exp(r: &BigUint, scale: i64) -> BigUint {
    let scale = scale as u64;
    let s = scale.isqrt().max(4);
    let b = bit_length(2 * scale / s + 64);
    let g = s + b + 5;
    let work = scale + g;
    let t = r << (g - s);
    let mut sum = BigUint::one() << work;
    let mut term = t.clone();
    let mut i = 1u32;
    while !term.is_zero() {
        sum += &term;
        i += 1;
        term = ((term * &t) >> work) / i;
    }
    for _ in 0..s {
        sum = (&sum * &sum) >> work;
    }
    sum >> g
}

/// Sine and cosine of `r / 2^scale` for `0 <= r < 2^scale`, each within 2 units.
///
/// Method: Taylor series of `t = r / 2^s`, then `s` doublings of the angle. Derivation, in units of
/// the working scale `scale + g`:
///
/// * Both series err by at most `2n + 6 <= 2^(b + 2)` units.
/// * Doubling, `s' = 2 s c` and `c' = 1 - 2 s^2` with angles below 1/2 before, multiplies the
///   larger error by less than 3 and adds less than 3. After `s` steps the error is below `4^s *
///   2^(b + 2)`.
/// * `g = 2s + b + 4` makes this a quarter of a unit of the result, to which the final truncation
///   adds one.
pub(super) fn sin_cos(r: &BigUint, scale: i64) -> (BigUint, BigUint) {
    let scale = scale as u64;
    let s = (scale.isqrt() / 4).max(2);
    let b = bit_length(2 * scale / s + 64);
    let g = 2 * s + b + 4;
    let work = scale + g;
    let one = BigUint::one() << work;
    let t = r << (g - s);
    let square = (&t * &t) >> work;
    let series = |first: BigUint, mut divisor: u32| {
        let (mut plus, mut minus) = (first.clone(), BigUint::zero());
        let mut term = first;
        let mut negative = true;
        loop {
            term = ((term * &square) >> work) / (divisor * (divisor + 1));
            if term.is_zero() {
                // The exact value is not negative, but the truncated sums may cross by some units.
                return if plus > minus { plus - minus } else { BigUint::zero() };
            }
            if negative {
                minus += &term
            } else {
                plus += &term
            }
            negative = !negative;
            divisor += 2;
        }
    };
    let (mut sin, mut cos) = (series(t.clone(), 2), series(one.clone(), 1));
    for _ in 0..s {
        let square = (&sin * &sin) >> (work - 1);
        sin = (sin * cos) >> (work - 1);
        cos = if one > square { &one - square } else { BigUint::zero() };
    }
    (sin >> g, cos >> g)
}

/// Sine and cosine of `x / 2^scale` with `|x| <= 5 * 2^scale` known within `error` units: each
/// within `error + 2 q + 2` units, where `q <= 4` is the number of quarter turns that are
/// subtracted.
///
/// The shortfall of half of pi is at most 2 units, and [`sin_cos`] errs by at most 2 units.
pub(super) fn sin_cos_reduced(x: &BigInt, error: u64, scale: i64) -> (FixedPoint, FixedPoint) {
    let half_pi = pi(scale) >> 1u32;
    let magnitude = x.magnitude();
    let eighth = &half_pi >> 1u32;
    let quarters = ((magnitude + &eighth) / &half_pi).to_u32().expect("the argument is small");
    let rest = BigInt::from(magnitude.clone()) - BigInt::from(half_pi * quarters);
    let (sin, cos) = sin_cos(rest.magnitude(), scale);
    let sin = BigInt::from_biguint(if rest.is_negative() { Sign::Minus } else { Sign::Plus }, sin);
    let cos = BigInt::from(cos);
    let (sin, cos) = match quarters % 4 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    let sin = if x.is_negative() { -sin } else { sin };
    let error = error + 2 * u64::from(quarters) + 2;
    (FixedPoint::new(sin, error, scale), FixedPoint::new(cos, error, scale))
}

/// `atan(z / 2^scale)` (alternating) or `atanh(z / 2^scale)` for `|z| <= 2^scale / 4`: the value
/// and a bound on its error. Each term errs by at most 2 units and the tail by at most 2.
pub(super) fn arc(z: &BigInt, scale: i64, alternating: bool) -> (BigInt, u64) {
    let square = (z.magnitude() * z.magnitude()) >> scale;
    let mut power = z.magnitude().clone();
    let (mut plus, mut minus) = (power.clone(), BigUint::zero());
    let mut odd = 1u32;
    loop {
        power = (power * &square) >> scale;
        if power.is_zero() {
            break;
        }
        odd += 2;
        let term = &power / odd;
        if alternating && odd % 4 == 3 { minus += term } else { plus += term }
    }
    let sum = BigInt::from(plus) - BigInt::from(minus);
    (if z.is_negative() { -sum } else { sum }, u64::from(odd) + 4)
}

/// Number of fraction bits of a seed from `f64`.
const SEED_BITS: i64 = 50;

fn seed(value: f64, scale: i64) -> BigInt {
    BigInt::from((value * (1u64 << SEED_BITS) as f64) as i64) << (scale - SEED_BITS)
}

/// `ln(m / 2^scale)` for m in [0.7, 1.6] known within one unit.
///
/// Method: one correction of a seed. Let the seed `y` be an `f64` approximation, which is exact by
/// definition, and `E = e^|y|`. Then `ln m = y + 2 atanh(z)`, where `z = (m - E) / (m + E)` or `(m
/// E - 1) / (m E + 1)` is about 2^-50. The numerators are within 6 units, and so are the
/// denominators, which exceed 1.4: z is within 6 units. The quality of the seed affects the number
/// of terms, never the result.
pub(super) fn ln_reduced(m: &BigUint, scale: i64) -> FixedPoint {
    let approximate = (m >> (scale as u64 - 60)).to_u64().expect("m is below 2") as f64 / (1u64 << 60) as f64;
    let y = seed(f64_kernels::ln(approximate), scale);
    let e = exp(y.magnitude(), scale);
    let (numerator, denominator) = if y.is_negative() {
        let product = BigInt::from((m * e) >> scale);
        let one = BigInt::one() << scale;
        (&product - &one, product + one)
    } else {
        let (m, e) = (BigInt::from(m.clone()), BigInt::from(e));
        (&m - &e, m + e)
    };
    let z = (numerator << scale) / denominator;
    let (half, error) = arc(&z, scale, false);
    FixedPoint::new(y + (half << 1u32), 2 * (6 + error), scale)
}

/// Angle of the point (x, y), the larger coordinate in [2^(scale - 1), 2^scale], both known within
/// one unit.
///
/// Method: one correction of a seed `a` from `f64` with its sine and cosine (within 10 units): the
/// angle is `a + atan(d)` with `d = (y cos a - x sin a) / (x cos a + y sin a)`. Numerator and
/// denominator are within 2 * (10 + 1 + 1) units, and the denominator is at least 0.49: d is within
/// 50 units.
pub(super) fn angle(y: &BigInt, x: &BigInt, scale: i64) -> FixedPoint {
    debug_assert!(scale >= 64);
    let top = |v: &BigInt| (v >> (scale - 60)).to_i64().expect("below 2") as f64;
    let a = seed(f64_kernels::atan2(top(y), top(x)), scale);
    let (sin, cos) = sin_cos_reduced(&a, 0, scale);
    let numerator = y * &cos.value - x * &sin.value;
    let denominator: BigInt = (x * &cos.value + y * &sin.value) >> scale;
    let d = numerator / denominator;
    let (rest, error) = arc(&d, scale, true);
    FixedPoint::new(a + rest, 50 + error, scale)
}
