//! Powers.

use super::{
    Big,
    arith::small_power,
    functions::{exp_over, ln_over},
    num::{LIMIT, Num},
};
use crate::Undecided;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};

/// Bits beyond the precision for the logarithm: exponents of up to 2^40 that matter, and guard bits.
const COMPOSED: u32 = 56;

/// `base^exponent` for a positive base.
pub(super) fn pow(base: &Big, exponent: &Big, precision: u32) -> Result<Big, Undecided> {
    if base.lo.sign().is_le() {
        return Err(Undecided);
    }
    if base.is_one() || exponent.is_zero() {
        return Ok(Big::point(Num::one(), precision));
    }
    if base.lo == base.hi
        && exponent.lo == exponent.hi
        && let Some(value) = exact(&base.lo, &exponent.lo, precision)
    {
        return Ok(Big::point(value, precision));
    }
    let inner = precision + COMPOSED;
    let product = ln_over(base, inner).mul_at(exponent, inner);
    Ok(exp_over(&product, precision))
}

/// The power, if it has at most `precision` bits. With base = m 2^e and exponent = a / 2^q (m, a odd) it is dyadic only
/// if 2^q divides e, m is a perfect 2^q-th power, and m = 1 unless a is positive.
fn exact(base: &Num, exponent: &Num, precision: u32) -> Option<Num> {
    let odd = exponent.mantissa.to_u64()?;
    let (mut root, mut shift, mut power) = (base.mantissa.clone(), base.exponent, odd);
    if exponent.exponent >= 0 {
        let gap = u32::try_from(exponent.exponent).ok().filter(|&gap| gap < odd.leading_zeros())?;
        power = odd << gap;
    } else {
        // At least 3^(2^q) otherwise: the loop is short.
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
        (false, false) => small_power(&root, power, precision)?,
    };
    let shift = i128::from(shift) * i128::from(power) * if exponent.negative { -1 } else { 1 };
    // Beyond the limits the general way saturates.
    let shift = i64::try_from(shift).ok().filter(|shift| shift.abs() < LIMIT - i64::from(precision))?;
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
