//! Directed arithmetic on [`Num`]: each operation returns both neighbours of the exact result.

use super::num::{LIMIT, Neighbours, Num, round};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use std::cmp::Ordering;

/// Bits that are kept beyond the precision before truncation, so that the sticky remainder lies
/// below the rounded bits.
const GUARD: i64 = 3;

/// Sum. A symbol behaves like the end that it represents: `HUGE` absorbs the other operand, `TINY`
/// is absorbed by everything but zero.
pub(super) fn add(a: &Num, b: &Num, precision: u32) -> Neighbours {
    if a.is_huge() || b.is_zero() || (b.is_tiny() && !a.is_zero()) {
        return fit(a, precision);
    }
    if b.is_huge() || a.is_zero() || a.is_tiny() {
        return fit(b, precision);
    }
    let (a, b) = if a.top() >= b.top() { (a, b) } else { (b, a) };
    // Digits below this one only affect the result as a sticky bit.
    let floor = a.exponent.min(a.top() - i64::from(precision) - GUARD);
    if b.top() <= floor {
        let aligned = &a.mantissa << (a.exponent - floor) as u64;
        // |b| is less than one unit: the magnitude lies between `aligned` and one of its neighbours.
        let mantissa = if a.negative == b.negative { aligned } else { aligned - 1u32 };
        return round(a.negative, mantissa, floor, true, precision);
    }
    let exponent = a.exponent.min(b.exponent);
    let x = &a.mantissa << (a.exponent - exponent) as u64;
    let y = &b.mantissa << (b.exponent - exponent) as u64;
    if a.negative == b.negative {
        return round(a.negative, x + y, exponent, false, precision);
    }
    match x.cmp(&y) {
        Ordering::Less => round(b.negative, y - x, exponent, false, precision),
        _ => round(a.negative, x - y, exponent, false, precision),
    }
}

/// Product. Zero times anything is zero.
pub(super) fn mul(a: &Num, b: &Num, precision: u32) -> Neighbours {
    if a.is_zero() || b.is_zero() {
        return Neighbours::exact(Num::zero());
    }
    let negative = a.negative != b.negative;
    if a.is_symbol() || b.is_symbol() {
        return symbol(negative, a.is_huge() || !a.is_tiny() && b.is_huge());
    }
    let mantissa = if a.is_pow2() {
        b.mantissa.clone()
    } else if b.is_pow2() {
        a.mantissa.clone()
    } else {
        &a.mantissa * &b.mantissa
    };
    round(negative, mantissa, a.exponent + b.exponent, false, precision)
}

/// Quotient by a `b` that is not zero.
pub(super) fn div(a: &Num, b: &Num, precision: u32) -> Neighbours {
    if a.is_zero() {
        return Neighbours::exact(Num::zero());
    }
    let negative = a.negative != b.negative;
    if a.is_symbol() || b.is_symbol() {
        return symbol(negative, a.is_huge() || !a.is_tiny() && b.is_tiny());
    }
    if b.is_pow2() {
        return round(negative, a.mantissa.clone(), a.exponent - b.exponent, false, precision);
    }
    let wanted = i64::from(precision) + GUARD + b.mantissa.bits() as i64 - a.mantissa.bits() as i64;
    let shift = wanted.max(0);
    let dividend = &a.mantissa << shift as u64;
    let quotient = &dividend / &b.mantissa;
    let exact = &quotient * &b.mantissa == dividend;
    round(negative, quotient, a.exponent - b.exponent - shift, !exact, precision)
}

/// Square root of a number that is not negative.
pub(super) fn sqrt(a: &Num, precision: u32) -> Neighbours {
    if a.is_zero() || a.is_symbol() {
        return Neighbours::exact(a.clone());
    }
    let wanted = (2 * (i64::from(precision) + GUARD) - a.mantissa.bits() as i64).max(0);
    // The remaining exponent must be even.
    let shift = wanted + (a.exponent - wanted).rem_euclid(2);
    let radicand = &a.mantissa << shift as u64;
    let root = radicand.sqrt();
    let exact = &root * &root == radicand;
    round(false, root, (a.exponent - shift) / 2, !exact, precision)
}

/// `x - y * trunc(x / y)` for finite numbers, `y` not zero; exact.
pub(super) fn rem_trunc(x: &Num, y: &Num) -> Num {
    if x.is_zero() || x.top() < y.top() {
        return x.clone();
    }
    if x.exponent >= y.exponent {
        let gap = (x.exponent - y.exponent) as u64;
        if gap < 512 {
            return Num::exact(x.negative, (&x.mantissa << gap) % &y.mantissa, y.exponent);
        }
        // Modular exponentiation, because the gap may be far too wide to align.
        let two = BigUint::from(2u32);
        let power = if y.is_pow2() { BigUint::zero() } else { two.modpow(&gap.into(), &y.mantissa) };
        return Num::exact(x.negative, (&x.mantissa * power) % &y.mantissa, y.exponent);
    }
    // top(x) >= top(y), so this shift is less than the length of x.
    let divisor = &y.mantissa << (y.exponent - x.exponent) as u64;
    Num::exact(x.negative, &x.mantissa % divisor, x.exponent)
}

/// `base^power` for an odd base and a power of at least 1, if it has at most `precision` bits.
pub(super) fn small_power(base: &BigUint, power: u64, precision: u32) -> Option<BigUint> {
    if base.is_one() {
        return Some(base.clone());
    }
    // base^power has more than (bits - 1) * power bits.
    let least = u128::from(base.bits() - 1) * u128::from(power);
    if least > u128::from(precision) {
        return None;
    }
    let result = base.pow(u32::try_from(power).ok()?);
    (result.bits() <= u64::from(precision)).then_some(result)
}

/// The number, rounded to the precision.
pub(super) fn fit(a: &Num, precision: u32) -> Neighbours {
    if a.is_zero() || a.is_symbol() || a.mantissa.bits() <= u64::from(precision) {
        return Neighbours::exact(a.clone());
    }
    round(a.negative, a.mantissa.clone(), a.exponent, false, precision)
}

/// Product or quotient with a symbol, as a lower and as an upper end.
fn symbol(negative: bool, huge: bool) -> Neighbours {
    let (toward, away) = if huge { (Num::pow2(LIMIT - 1), Num::huge()) } else { (Num::tiny(), Num::pow2(-LIMIT - 1)) };
    if negative { Neighbours { lo: away.neg(), hi: toward.neg() } } else { Neighbours { lo: toward, hi: away } }
}
