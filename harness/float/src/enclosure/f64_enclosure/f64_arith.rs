//! Directed `f64` arithmetic: each operation returns both neighbours of the exact result, equal if
//! the result is exact.
//!
//! The sign of the rounding error comes from error-free transformations: TwoSum (Knuth) for sums,
//! and Dekker's product with Veltkamp's splitting (Dekker, "A floating-point technique for
//! extending the available precision", Numerische Mathematik 18, 1971) for products, quotients and
//! roots. The remainder `a - q b` of a correctly rounded quotient and the remainder `a - r^2` of a
//! correctly rounded root are doubles themselves (Boldo & Daumas, "Representable correcting terms
//! for possibly underflowing floating point operations", ARITH-16, 2003). Where a transformation
//! could overflow or underflow, both neighbours of the rounded result are returned and exactness is
//! not claimed.

/// Results below this magnitude may have a rounding error that is not representable.
const SMALL: f64 = f64::from_bits((1023 - 900) << 52);
/// Operands above this magnitude may overflow when they are split.
const LARGE: f64 = f64::from_bits((1023 + 990) << 52);

/// Lower and upper end.
pub(super) type Ends = (f64, f64);

/// The exact result between the rounded one and a neighbour, by the sign of the error.
#[inline]
fn around(rounded: f64, error: f64) -> Ends {
    if error == 0.0 {
        (rounded, rounded)
    } else if error > 0.0 {
        (rounded, rounded.next_up())
    } else {
        (rounded.next_down(), rounded)
    }
}

/// Both neighbours of a rounded result that may err in either direction.
#[inline]
pub(super) fn widen(rounded: f64) -> Ends {
    (rounded.next_down(), rounded.next_up())
}

/// Sum. Operands may be infinite, as ends of unbounded intervals, but not of opposite signs.
#[inline]
pub(super) fn add(a: f64, b: f64) -> Ends {
    let sum = a + b;
    if !sum.is_finite() {
        return unbounded(sum);
    }
    // TwoSum. A sum of doubles cannot underflow. An overflow inside leaves a NaN or an infinity.
    let t = sum - a;
    let error = (a - (sum - t)) + (b - t);
    if error.is_finite() { around(sum, error) } else { widen(sum) }
}

/// Product. Zero times an infinite end is zero.
#[inline]
pub(super) fn mul(a: f64, b: f64) -> Ends {
    if a == 0.0 || b == 0.0 {
        return (0.0, 0.0);
    }
    let product = a * b;
    if !product.is_finite() {
        return unbounded(product);
    }
    if product.abs() < SMALL || a.abs() > LARGE || b.abs() > LARGE {
        return inexact(product, (a < 0.0) != (b < 0.0));
    }
    around(product, product_error(a, b, product))
}

/// Quotient by a divisor that is not zero.
#[inline]
pub(super) fn div(a: f64, b: f64) -> Ends {
    if a == 0.0 {
        return (0.0, 0.0);
    }
    let quotient = a / b;
    if !quotient.is_finite() {
        return unbounded(quotient);
    }
    let out = |x: f64| x.abs() > LARGE || x.abs() < SMALL;
    if out(quotient) || out(a) || out(b) {
        return inexact(quotient, (a < 0.0) != (b < 0.0));
    }
    // a - quotient * b: the first difference is exact, because its operands are neighbours.
    let product = quotient * b;
    let rest = (a - product) - product_error(quotient, b, product);
    around(quotient, if b < 0.0 { -rest } else { rest })
}

/// Square root of a number that is not negative.
#[inline]
pub(super) fn sqrt(a: f64) -> Ends {
    if a == 0.0 {
        return (0.0, 0.0);
    }
    let root = a.sqrt();
    if !root.is_finite() {
        return unbounded(root);
    }
    // The root is never large; its square must not round to infinity.
    if !(SMALL..f64::MAX / 2.0).contains(&a) {
        return widen(root);
    }
    let square = root * root;
    around(root, (a - square) - product_error(root, root, square))
}

/// `a * b - product`, exactly (Dekker's product), if nothing underflows or overflows.
#[inline]
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    // Halves of at most 26 bits each.
    let split = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
}

/// Ends around an overflowed result, or around a result with an infinite operand.
#[inline]
pub(super) fn unbounded(rounded: f64) -> Ends {
    if rounded > 0.0 { (f64::MAX, f64::INFINITY) } else { (f64::NEG_INFINITY, -f64::MAX) }
}

/// Ends around a result of known sign and unknown error; zero separates the signs.
#[inline]
fn inexact(rounded: f64, negative: bool) -> Ends {
    let (lo, hi) = widen(rounded);
    if negative { (lo, hi.min(0.0)) } else { (lo.max(0.0), hi) }
}
