//! Powers.

use super::{
    BigEnclosure,
    num::{LIMIT, Num},
    num_arith::small_power,
};
use crate::{Enclosure, Function, Undecided};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive};

/// Bits beyond the precision for the logarithm: for exponents of up to 2^40 that matter, and guard
/// bits.
const COMPOSED: u32 = 56;

/// `base^exponent` for a positive base.
pub(super) fn pow(base: &BigEnclosure, exponent: &BigEnclosure, precision: u32) -> Result<BigEnclosure, Undecided> {
    if base.range.lo.value.sign().is_le() {
        return Err(Undecided);
    }
    if base.is_one() || exponent.is_zero() {
        return Ok(BigEnclosure::point(Num::one(), precision));
    }
    if base.is_point()
        && exponent.is_point()
        && let Some(value) = exact(&base.range.lo.value, &exponent.range.lo.value, precision)
    {
        return Ok(BigEnclosure::point(value, precision));
    }
    let inner = precision + COMPOSED;
    let log = BigEnclosure { precision: inner, ..base.clone() }.function(Function::Ln)?;
    let product = log.mul(exponent);
    BigEnclosure { precision, ..product }.function(Function::Exp)
}

/// The power, if it has at most `precision` bits. With `base = m 2^e` and `exponent = a / 2^q` (m
/// and a odd) it is dyadic only if `2^q` divides e, m is a perfect `2^q`-th power, and m = 1 unless
/// a is positive.
fn exact(base: &Num, exponent: &Num, precision: u32) -> Option<Num> {
    let (mut root, mut shift) = (base.mantissa.clone(), base.exponent);
    let mut power = exponent.mantissa.clone();
    if exponent.exponent >= 0 {
        // Beyond this the result saturates or is too long.
        if exponent.top() > 64 {
            return None;
        }
        power <<= exponent.exponent as u64;
    } else {
        // The base is not one, so that the loop is short: m is at least 3^(2^q), or e at least 2^q.
        for _ in exponent.exponent..0 {
            if shift % 2 != 0 {
                return None;
            }
            shift /= 2;
            root = perfect_root(root)?;
        }
    }
    let mantissa = match (root.is_one(), exponent.negative) {
        (true, _) => root,
        (false, true) => return None,
        (false, false) => small_power(&root, power.to_u64()?, precision)?,
    };
    let sign = if exponent.negative { -1 } else { 1 };
    let shift: BigInt = BigInt::from(power) * (sign * shift);
    // Beyond the limits the general method saturates.
    let shift = shift.to_i64().filter(|shift| shift.abs() < LIMIT - i64::from(precision))?;
    Some(Num::exact(false, mantissa, shift))
}

fn perfect_root(n: BigUint) -> Option<BigUint> {
    if n.is_one() {
        return Some(n);
    }
    // An odd square is 1 mod 8.
    if n.iter_u32_digits().next()? % 8 != 1 {
        return None;
    }
    let root = n.sqrt();
    (&root * &root == n).then_some(root)
}
