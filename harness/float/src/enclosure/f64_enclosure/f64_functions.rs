//! Enclosures of the functions of one `f64`: the kernels' results, widened by their error bound.
//!
//! Let `v` be the result of a kernel for the exact value `f`, `u = 2^-53`. The kernels satisfy
//! `|v - f| <= 8 u |f|` ([`f64_kernels::ERROR_BOUND`]), hence `|v - f| <= 8 u / (1 - 8 u) |v|`. The
//! ends, `v` less and plus `10 u |v|`, contain `f`: the additional `2 u |v|` cover the second-order
//! term and the roundings of the ends. Exact cases and arguments at which a function differs from
//! `x` or from one by less than an ulp are treated separately, so that the enclosure never crosses
//! a value that the function does not attain.

use super::{
    f64_arith::{self, Ends},
    f64_kernels,
};
use crate::{Function, Undecided};

/// Relative widening of a kernel's result: the kernels' bound, and `2 u` for the rounding of the
/// ends.
const WIDEN: f64 = f64_kernels::ERROR_BOUND + f64::EPSILON;
/// Exponentials of arguments below this magnitude are not distinguished from the neighbours of one:
/// denormals would invalidate the bounds.
const SMALL: f64 = f64::from_bits((1023 - 960) << 52);
/// Bound on results of exponentials beyond e^690 or 2^1000, less than either.
const GREAT: f64 = f64::from_bits((1023 + 990) << 52);

/// Ends around a kernel's result.
#[inline]
fn widened(value: f64) -> Ends {
    let slack = value.abs() * WIDEN + f64::MIN_POSITIVE;
    (value - slack, value + slack)
}

/// Ends around a kernel's result, limited by certain bounds of the function.
#[inline]
fn within(value: f64, lo: f64, hi: f64) -> Ends {
    let (a, b) = widened(value);
    (a.max(lo), b.min(hi))
}

/// Interval just above or just below one.
#[inline]
fn beside_one(above: bool) -> Ends {
    if above { (1.0, 1.0f64.next_up()) } else { (1.0f64.next_down(), 1.0) }
}

/// Enclosure of an odd function `x (1 + t)` with `|t| <= x^2 / 2` near zero. `t` is positive if
/// `grows`, otherwise negative.
#[inline]
fn odd(x: f64, grows: bool, kernel: fn(f64) -> f64) -> Ends {
    if x == 0.0 {
        return (0.0, 0.0);
    }
    let magnitude = x.abs();
    let (lo, hi) = if magnitude < 1e-8 {
        // x^2 / 2 is below 2^-53: the value lies between x and its neighbour.
        if grows { (magnitude, magnitude.next_up()) } else { (magnitude.next_down(), magnitude) }
    } else {
        let (lo, hi) = widened(kernel(magnitude));
        if grows { (lo.max(magnitude), hi) } else { (lo, hi.min(magnitude)) }
    };
    if x < 0.0 { (-hi, -lo) } else { (lo, hi) }
}

/// Enclosure of an exponential function from its kernel, which is valid for `least <= x <=
/// greatest`.
#[inline]
fn exponential(x: f64, least: f64, greatest: f64, kernel: fn(f64) -> f64) -> Ends {
    if x > greatest {
        (GREAT, f64::INFINITY)
    } else if x < least {
        (0.0, 1.0 / GREAT)
    } else if x.abs() < SMALL {
        beside_one(x > 0.0)
    } else if x > 0.0 {
        within(kernel(x), 1.0, f64::INFINITY)
    } else {
        within(kernel(x), 0.0, 1.0)
    }
}

/// Enclosure of a logarithm from its kernel.
#[inline]
fn logarithm(x: f64, kernel: fn(f64) -> f64) -> Ends {
    if x == f64::INFINITY {
        // The lesser of the two logarithms of the largest double, rounded down.
        return (709.0, f64::INFINITY);
    }
    if x < f64::MIN_POSITIVE {
        // Scaled to the normal range; the product is exact.
        const POWER: f64 = f64::from_bits((1023 + 100) << 52);
        let (lo, hi) = widened(kernel(x * POWER));
        let (less, more) = widened(kernel(POWER));
        return (f64_arith::add(lo, -more).0, f64_arith::add(hi, -less).1);
    }
    widened(kernel(x))
}

/// Value of the function for one number, or its limit at an infinite end.
pub(super) fn at(function: Function, x: f64) -> Result<Ends, Undecided> {
    const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
    let outside = match function {
        Function::Sqrt => x < 0.0,
        Function::InverseSqrt | Function::Ln | Function::Log2 => x <= 0.0,
        Function::Asin | Function::Acos => x.abs() > 1.0,
        Function::Acosh => x < 1.0,
        Function::Atanh => x.abs() >= 1.0,
        Function::Sin | Function::Cos | Function::Tan => x.abs() > 4.0,
        Function::Exp
        | Function::Exp2
        | Function::Atan
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh
        | Function::Asinh => false,
    };
    if outside {
        return Err(Undecided);
    }
    Ok(match function {
        Function::Sqrt => f64_arith::sqrt(x),
        Function::InverseSqrt => {
            let root = f64_arith::sqrt(x);
            (f64_arith::div(1.0, root.1).0, f64_arith::div(1.0, root.0).1)
        }
        Function::Exp if x == 0.0 => (1.0, 1.0),
        Function::Exp => exponential(x, -690.0, 690.0, f64_kernels::exp),
        Function::Exp2 => {
            let integer = x as i32;
            if f64::from(integer) == x && (-1022..=1023).contains(&integer) {
                let power = f64::from_bits(((1023 + integer) as u64) << 52);
                (power, power)
            } else {
                exponential(x, -1000.0, 1000.0, f64_kernels::exp2)
            }
        }
        Function::Ln if x == 1.0 => (0.0, 0.0),
        Function::Ln => logarithm(x, f64_kernels::ln),
        Function::Log2 => {
            // Normal powers of two have an integer as binary logarithm.
            let bits = x.to_bits();
            if bits << 12 == 0 && x.is_normal() {
                let exponent = (bits >> 52) as f64 - 1023.0;
                (exponent, exponent)
            } else {
                logarithm(x, f64_kernels::log2)
            }
        }
        Function::Sin => odd(x, false, f64_kernels::sin),
        Function::Cos if x == 0.0 => (1.0, 1.0),
        Function::Cos if x.abs() < 1e-8 => beside_one(false),
        Function::Cos => within(f64_kernels::cos(x), -1.0, 1.0),
        Function::Tan if x.abs() < 1.5 => odd(x, true, f64_kernels::tan),
        Function::Tan => widened(f64_kernels::tan(x)),
        Function::Asin => odd(x, true, f64_kernels::asin),
        Function::Acos if x == 1.0 => (0.0, 0.0),
        Function::Acos => widened(f64_kernels::acos(x)),
        Function::Atan if x.is_infinite() => widened(HALF_PI.copysign(x)),
        Function::Atan => odd(x, false, f64_kernels::atan),
        Function::Sinh if x.abs() > 690.0 => {
            if x > 0.0 {
                (GREAT / 4.0, f64::INFINITY)
            } else {
                (f64::NEG_INFINITY, -GREAT / 4.0)
            }
        }
        Function::Sinh => odd(x, true, f64_kernels::sinh),
        Function::Cosh if x == 0.0 => (1.0, 1.0),
        Function::Cosh if x.abs() < 1e-8 => beside_one(true),
        Function::Cosh if x.abs() > 690.0 => (GREAT / 4.0, f64::INFINITY),
        Function::Cosh => within(f64_kernels::cosh(x), 1.0, f64::INFINITY),
        Function::Tanh if x.abs() > 300.0 => {
            let (lo, hi) = beside_one(false);
            if x > 0.0 { (lo, hi) } else { (-hi, -lo) }
        }
        Function::Tanh => {
            let (lo, hi) = odd(x, false, f64_kernels::tanh);
            (lo.max(-1.0), hi.min(1.0))
        }
        Function::Asinh if x.is_infinite() => {
            if x > 0.0 {
                (709.0, x)
            } else {
                (x, -709.0)
            }
        }
        Function::Asinh => odd(x, false, f64_kernels::asinh),
        Function::Acosh if x == 1.0 => (0.0, 0.0),
        Function::Acosh if x == f64::INFINITY => (709.0, x),
        Function::Acosh => widened(f64_kernels::acosh(x)),
        Function::Atanh => odd(x, true, f64_kernels::atanh),
    })
}

/// Angle of the point (x, y), where both are finite, not both are zero, and y is not negative.
pub(super) fn angle(y: f64, x: f64) -> Ends {
    if y == 0.0 && x > 0.0 {
        return (0.0, 0.0);
    }
    // The angle is t (1 - s) with the quotient t and 0 < s < t^2 / 3, far below 2^-53. The quotient
    // may be close to the denormals.
    if x > 0.0 && y / x < 1e-9 {
        let (lo, hi) = f64_arith::div(y, x);
        return (lo.next_down().max(0.0), hi);
    }
    widened(f64_kernels::atan2(y, x))
}

/// `base^exponent` if that is exactly a double of moderate size. The base is positive and finite.
pub(super) fn exact_power(base: f64, exponent: f64) -> Option<f64> {
    // Results with an odd part: the odd root of the base is at least 3, so that powers beyond 33 do
    // not fit 53 bits.
    let split = |x: f64| {
        let bits = x.to_bits();
        let fraction = bits & 0x000f_ffff_ffff_ffff | 1 << 52;
        let zeros = fraction.trailing_zeros();
        (fraction >> zeros, ((bits >> 52) & 0x7ff) as i64 - 1075 + i64::from(zeros))
    };
    if !base.is_normal() || !exponent.is_normal() {
        return None;
    }
    let ((mut root, mut shift), (odd, scale)) = (split(base), split(exponent));
    if !(-6..=12).contains(&scale) && root != 1 || !(-12..=12).contains(&scale) || odd > 1 << 12 {
        return None;
    }
    for _ in scale..0 {
        if shift % 2 != 0 {
            return None;
        }
        shift /= 2;
        // Exact: an integer below 2^53 that is a square has an exact root in f64.
        let candidate = (root as f64).sqrt() as u64;
        if candidate * candidate != root {
            return None;
        }
        root = candidate;
    }
    let power = odd << scale.max(0);
    let mut mantissa = 1u64;
    if root != 1 {
        if exponent < 0.0 || power > 33 {
            return None;
        }
        for _ in 0..power {
            mantissa = mantissa.checked_mul(root).filter(|&m| m < 1 << 53)?;
        }
    }
    let shift = shift * power as i64 * if exponent < 0.0 { -1 } else { 1 };
    (-900..=900).contains(&shift).then(|| mantissa as f64 * f64::from_bits(((1023 + shift) as u64) << 52))
}
