//! Functions of one number: each returns both neighbours of the exact value, or an interval of a
//! few units.

use super::{
    fixed::{self, FixedPoint, until_certain},
    num::{LIMIT, Neighbours, Num},
    num_arith::{add, div, fit, mul, sqrt},
};
use crate::{Function, Undecided, enclosure::interval::Interval};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive};

/// Bits beyond the precision at which the kernels start, whose errors are some dozens of units.
const GUARD: i64 = 12;
/// Bits beyond the precision for functions that interval arithmetic composes of others.
const COMPOSED: u32 = 12;
/// Exponentials of arguments from `2^SATURATION` on return the symbols.
const SATURATION: i64 = 37;

/// Domain of the composed functions.
type Range = Interval<Num>;

fn over(value: Neighbours) -> Range {
    Range::around(value.into())
}

fn rounded(value: Range) -> Neighbours {
    Neighbours { lo: value.lo.value, hi: value.hi.value }
}

fn whole(value: i64) -> Range {
    Range::point(Num::int(value))
}

/// Square root of a range without negative members.
fn sqrt_over(x: &Range, precision: u32) -> Range {
    if x.is_point() {
        return over(sqrt(&x.lo.value, precision));
    }
    over(Neighbours { lo: sqrt(&x.lo.value, precision).lo, hi: sqrt(&x.hi.value, precision).hi })
}

/// The function of one finite number.
pub(super) fn at(function: Function, x: &Num, precision: u32) -> Result<Neighbours, Undecided> {
    let magnitude_cmp_one = x.abs().cmp(&Num::one());
    Ok(match function {
        Function::Sqrt if x.negative => return Err(Undecided),
        Function::InverseSqrt | Function::Ln | Function::Log2 if x.sign().is_le() => return Err(Undecided),
        Function::Asin | Function::Acos if magnitude_cmp_one.is_gt() => return Err(Undecided),
        Function::Acosh if x.negative || magnitude_cmp_one.is_lt() => return Err(Undecided),
        Function::Atanh if magnitude_cmp_one.is_ge() => return Err(Undecided),
        Function::Sin | Function::Cos | Function::Tan if x.abs() > Num::int(4) => return Err(Undecided),
        Function::Sqrt => sqrt(x, precision),
        Function::InverseSqrt => inverse_sqrt(x, precision),
        Function::Exp => exp(x, precision),
        Function::Exp2 => exp2(x, precision),
        Function::Ln => ln(x, precision),
        Function::Log2 => log2(x, precision),
        Function::Sin => odd(x, precision, -1, sin),
        Function::Cos => cos(x, precision),
        Function::Tan => odd(x, precision, 1, tan),
        Function::Asin => odd(x, precision, 1, asin),
        Function::Acos => acos(x, precision)?,
        Function::Atan => odd(x, precision, -1, |x, p| angle(x, &Num::one(), p)),
        Function::Sinh => odd(x, precision, 1, sinh),
        Function::Cosh => cosh(x, precision),
        Function::Tanh => odd(x, precision, -1, tanh),
        Function::Asinh => odd(x, precision, -1, asinh),
        Function::Acosh => acosh(x, precision),
        Function::Atanh => odd(x, precision, 1, atanh),
    })
}

/// Odd function with `|f(x) / x - 1| <= x^2 / 2` near zero, where the difference has the sign
/// `side`, from its values at positive numbers. If `x^2` is below the precision, the result is the
/// interval from `x` to its neighbour on that side.
fn odd(x: &Num, precision: u32, side: i32, positive: impl Fn(&Num, u32) -> Neighbours) -> Neighbours {
    if x.is_zero() {
        return Neighbours::exact(Num::zero());
    }
    let magnitude = x.abs();
    let result = if 2 * x.top() < -i64::from(precision) {
        nudge(&magnitude, precision, side)
    } else {
        positive(&magnitude, precision)
    };
    if x.negative { result.neg() } else { result }
}

/// Interval from a positive x to `x (1 ± 2^-precision)`, on the given side.
fn nudge(x: &Num, precision: u32, side: i32) -> Neighbours {
    let step = Num { negative: side < 0, ..Num::pow2(-i64::from(precision)) };
    // Exact, because one more bit is available.
    let edge = add(&Num::one(), &step, precision + 1).lo;
    let moved = mul(x, &edge, precision);
    let x = fit(x, precision);
    if side < 0 { Neighbours { lo: moved.lo, hi: x.hi } } else { Neighbours { lo: x.lo, hi: moved.hi } }
}

fn inverse_sqrt(x: &Num, precision: u32) -> Neighbours {
    let root = sqrt(x, precision + COMPOSED);
    let one = Num::one();
    if root.lo == root.hi {
        return div(&one, &root.lo, precision);
    }
    Neighbours { lo: div(&one, &root.hi, precision).lo, hi: div(&one, &root.lo, precision).hi }
}

/// `2^turns * e^(r / 2^scale)` for `0 <= r < 2^scale` known within `error` units.
fn exponential(r: &num_bigint::BigUint, error: u64, turns: i64, scale: i64) -> FixedPoint {
    // An error of the argument is multiplied by at most e.
    FixedPoint::new(fixed::exp(r, scale), 2 + 3 * error, scale - turns)
}

/// `x = turns * ln 2 + r`: `turns`, and `r` with 0 <= r < 1 at the scale, within 4 units. `|x| <
/// 2^SATURATION`.
fn reduce(x: &Num, scale: i64) -> (i64, num_bigint::BigUint) {
    // The error of ln 2 is multiplied by the turns.
    let extra = x.top().max(0) + 3;
    let value = x.to_fixed(scale + extra);
    let ln2 = BigInt::from(fixed::ln2(scale + extra));
    let mut turns = (x.to_f64() * std::f64::consts::LOG2_E).floor() as i64;
    let mut rest = value - &ln2 * turns;
    while rest.is_negative() {
        rest += &ln2;
        turns -= 1;
    }
    while rest > ln2 {
        rest -= &ln2;
        turns += 1;
    }
    (turns, (rest >> extra).to_biguint().expect("not negative"))
}

/// Interval just above or below one, where the distance is below the precision.
fn beside_one(precision: u32, side: i32) -> Neighbours {
    nudge(&Num::one(), precision, side)
}

/// Interval beyond all exponents: more than `2^(2^36)`, or less than its reciprocal but not zero.
fn saturated(up: bool) -> Neighbours {
    let edge = 1i64 << (SATURATION - 1);
    if up {
        Neighbours { lo: Num::pow2(edge), hi: Num::huge() }
    } else {
        Neighbours { lo: Num::tiny(), hi: Num::pow2(-edge) }
    }
}

fn sign_side(x: &Num) -> i32 {
    if x.negative { -1 } else { 1 }
}

pub(super) fn exp(x: &Num, precision: u32) -> Neighbours {
    if x.is_zero() {
        return Neighbours::exact(Num::one());
    }
    if x.top() > SATURATION {
        return saturated(!x.negative);
    }
    // |e^x - 1| < 2 |x| for |x| < 1.
    if x.top() < -i64::from(precision) - 1 {
        return beside_one(precision, sign_side(x));
    }
    let scale = i64::from(precision) + GUARD;
    let (turns, r) = reduce(x, scale);
    exponential(&r, 4, turns, scale).enclose(precision)
}

fn exp2(x: &Num, precision: u32) -> Neighbours {
    if x.top() > SATURATION && !x.is_zero() {
        return saturated(!x.negative);
    }
    if let Some(integer) = x.to_i64() {
        return Neighbours::exact(Num::pow2(integer));
    }
    // |2^x - 1| < 2 |x| for |x| < 1.
    if x.top() < -i64::from(precision) - 1 {
        return beside_one(precision, sign_side(x));
    }
    let scale = i64::from(precision) + GUARD;
    let value = x.to_fixed(scale);
    let turns = &value >> scale;
    let fraction = value - (&turns << scale);
    let r = (fraction.magnitude() * fixed::ln2(scale)) >> scale;
    // x is cut by one unit, ln 2 is 2 short, and the product is cut: 4 units.
    exponential(&r, 4, turns.to_i64().expect("below the saturation"), scale).enclose(precision)
}

/// `e^x - 1` for a positive x of at most `2^SATURATION`, with relative accuracy.
fn expm1(x: &Num, precision: u32) -> Neighbours {
    if x.top() > 1 {
        let e = exp(x, precision + 4);
        let minus_one = Num::int(-1);
        return Neighbours { lo: add(&e.lo, &minus_one, precision).lo, hi: add(&e.hi, &minus_one, precision).hi };
    }
    until_certain(precision, i64::from(precision) + GUARD - x.top().min(0), |scale| {
        let (turns, r) = reduce(x, scale);
        // 2^turns e^r with 0 <= turns <= 2 (x < 2).
        let e = exponential(&r, 4, 0, scale);
        FixedPoint::new((e.value << turns) - (BigInt::one() << scale), e.error << turns, scale)
    })
}

/// `ln(1 + d)` for `|d| < 2^-10`, with relative accuracy.
fn ln_1p_small(d: &Num, precision: u32) -> Neighbours {
    if d.is_zero() {
        return Neighbours::exact(Num::zero());
    }
    // |ln(1 + d) / d - 1| <= |d| for |d| < 1/2, below one for positive d.
    if d.top() < -i64::from(precision) {
        let result = nudge(&d.abs(), precision, -sign_side(d));
        return if d.negative { result.neg() } else { result };
    }
    // 2 atanh(z) with z = d / (2 + d). d is cut by one unit.
    until_certain(precision, i64::from(precision) + GUARD - d.top(), |scale| {
        let d = d.to_fixed(scale);
        let denominator = (BigInt::one() << (scale + 1)) + &d;
        let (half, error) = fixed::arc(&((d << scale) / denominator), scale, false);
        FixedPoint::new(half << 1u32, 2 * (error + 3), scale)
    })
}

/// `ln(1 + d)` over an interval of numbers that are not negative.
fn ln_1p_over(d: &Range, precision: u32) -> Neighbours {
    let end = |d: &Num, up: bool| {
        if d.is_zero() || d.top() <= -10 {
            return ln_1p_small(d, precision);
        }
        // Rounding the sum costs less than 2^-20 of a unit, because the result is at least 2^-11.
        let sum = add(&Num::one(), d, precision + 32);
        ln_exact(if up { &sum.hi } else { &sum.lo }, precision)
    };
    let (lo, hi) = (&d.lo.value, &d.hi.value);
    if d.is_point() && lo.top() <= -10 {
        return end(lo, false);
    }
    Neighbours { lo: end(lo, false).lo, hi: end(hi, true).hi }
}

/// Splits a positive x into `m 2^e` with m in [0.75, 1.5).
fn split(x: &Num) -> (Num, i64) {
    let e = x.top() - 1;
    let m = x.scale(-e);
    if m >= Num::exact(false, 3u32.into(), -1) { (m.scale(-1), e + 1) } else { (m, e) }
}

fn ln(x: &Num, precision: u32) -> Neighbours {
    let (m, e) = split(x);
    if e == 0 {
        // Exact: the difference is not longer than m.
        let d = add(&m, &Num::int(-1), m.mantissa.bits() as u32 + 1).lo;
        if d.is_zero() || d.top() <= -10 {
            return ln_1p_small(&d, precision);
        }
    }
    ln_exact(x, precision)
}

/// `ln x` for a positive x that is not within `2^-11` of one.
fn ln_exact(x: &Num, precision: u32) -> Neighbours {
    let (m, e) = split(x);
    let extra = i64::from(64 - e.unsigned_abs().leading_zeros());
    until_certain(precision, (i64::from(precision) + GUARD).max(64), |scale| {
        let m = m.to_fixed(scale);
        let ln_m = fixed::ln_reduced(m.magnitude(), scale);
        // e ln 2, within one unit for the error of ln 2 and one for the truncation.
        let turns = (BigInt::from(fixed::ln2(scale + extra + 1)) * e) >> (extra + 1);
        FixedPoint::new(ln_m.value + turns, ln_m.error + 2, scale)
    })
}

fn log2(x: &Num, precision: u32) -> Neighbours {
    if x.is_pow2() {
        return fit(&Num::int(x.exponent), precision);
    }
    let inner = precision + COMPOSED;
    let (m, e) = split(x);
    let ln_m = over(ln(&m, inner));
    let ln2 = over(FixedPoint::new(fixed::ln2(inner.into()), 2, inner.into()).enclose(inner));
    let quotient = ln_m.div(&ln2, inner).expect("a positive divisor");
    let sum = quotient.add(&Range::point(Num::int(e)), precision);
    rounded(sum)
}

/// Sine of a positive x up to 4.
fn sin(x: &Num, precision: u32) -> Neighbours {
    let start = i64::from(precision) + GUARD - x.top().min(0);
    until_certain(precision, start, |scale| fixed::sin_cos_reduced(&x.to_fixed(scale), 1, scale).0)
}

fn cos(x: &Num, precision: u32) -> Neighbours {
    if x.is_zero() {
        return Neighbours::exact(Num::one());
    }
    // 0 < 1 - cos x < x^2 / 2.
    if 2 * x.top() < -i64::from(precision) {
        return beside_one(precision, -1);
    }
    until_certain(precision, i64::from(precision) + GUARD, |scale| {
        fixed::sin_cos_reduced(&x.to_fixed(scale), 1, scale).1
    })
}

/// Tangent of a positive x up to 4.
fn tan(x: &Num, precision: u32) -> Neighbours {
    let start = i64::from(precision) + GUARD - x.top().min(0);
    until_certain(precision, start, |scale| {
        let (s, c) = fixed::sin_cos_reduced(&x.to_fixed(scale), 1, scale);
        if c.certain_bits() <= 4 {
            // Too close to the pole to divide: nothing is certain at this scale.
            return FixedPoint::new(0, u64::MAX, scale);
        }
        let c_low = c.value.magnitude() >> 1u32;
        // With c known to a few bits, |tan - s/c| <= (|es| + |tan| |ec|) / |c - ec| and |s| <= 1:
        // the error is at most 2 (es + ec 2^scale / |c|) 2^scale / |c| units, computed from half of
        // c, and one for the truncation.
        let quotient = (s.value << scale) / c.value;
        let ratio = (BigInt::one() << scale) / BigInt::from(c_low);
        let error: BigInt = (&ratio + 1) * (&ratio + 1) * (s.error + c.error) * 2 + 2;
        // Fewer units if necessary, because an error is a u64.
        let drop = error.bits().saturating_sub(60);
        let error = (error >> drop).to_u64().expect("cut to 60 bits") + 2;
        FixedPoint::new(quotient >> drop, error, scale - drop as i64)
    })
}

/// Angle of the point (x, y), not both zero, in (-pi, pi].
pub(super) fn angle(y: &Num, x: &Num, precision: u32) -> Neighbours {
    if y.negative {
        return angle(&y.neg(), x, precision).neg();
    }
    if y.is_zero() && !x.negative {
        return Neighbours::exact(Num::zero());
    }
    // Close to the positive x axis the angle is y/x (1 - t) with 0 < t < (y/x)^2 / 3.
    if !x.negative && !x.is_zero() && 2 * (y.top() - x.top() + 1) < -i64::from(precision) {
        let ratio = div(y, x, precision + 2);
        let low = nudge(&ratio.lo, precision + 2, -1).lo;
        let hull = Neighbours { lo: low, hi: ratio.hi };
        return Neighbours { lo: fit(&hull.lo, precision).lo, hi: fit(&hull.hi, precision).hi };
    }
    let top = match (x.is_zero(), y.is_zero()) {
        (true, _) => y.top(),
        (_, true) => x.top(),
        _ => x.top().max(y.top()),
    };
    // Close to the positive x axis the angle is as small as the quotient.
    let small = if x.negative || x.is_zero() { 0 } else { (x.top() - y.top()).max(0) };
    let start = (i64::from(precision) + GUARD + small).max(64);
    until_certain(precision, start, |scale| fixed::angle(&y.to_fixed(scale - top), &x.to_fixed(scale - top), scale))
}

/// `sqrt((1 - x) (1 + x))` for |x| <= 1.
fn complement(x: &Num, precision: u32) -> Neighbours {
    let one = Num::one();
    // Exact unless the sum is extremely long, and an enclosure then.
    let (minus, plus) = (add(&one, &x.neg(), 2 * precision + 128), add(&one, x, 2 * precision + 128));
    let product = over(minus).mul(&over(plus), precision);
    rounded(sqrt_over(&product, precision))
}

/// Arc sine of a positive x up to one.
fn asin(x: &Num, precision: u32) -> Neighbours {
    let c = complement(x, precision + COMPOSED);
    if c.lo == c.hi {
        return angle(x, &c.lo, precision);
    }
    // Decreasing in the cosine.
    Neighbours { lo: angle(x, &c.hi, precision).lo, hi: angle(x, &c.lo, precision).hi }
}

fn acos(x: &Num, precision: u32) -> Result<Neighbours, Undecided> {
    if *x == Num::one() {
        return Ok(Neighbours::exact(Num::zero()));
    }
    let s = complement(x, precision + COMPOSED);
    if s.lo == s.hi {
        return Ok(angle(&s.lo, x, precision));
    }
    let (low, high) = (angle(&s.lo, x, precision), angle(&s.hi, x, precision));
    // Increasing in the sine for positive x, decreasing for negative x.
    Ok(if x.negative { Neighbours { lo: high.lo, hi: low.hi } } else { Neighbours { lo: low.lo, hi: high.hi } })
}

/// `(m + m / (m + 1)) / 2` with `m = e^x - 1`, for positive x.
fn sinh(x: &Num, precision: u32) -> Neighbours {
    if x.top() > SATURATION {
        return saturated(true);
    }
    let p = precision + COMPOSED;
    let m = over(expm1(x, p));
    let quotient = m.div(&m.add(&whole(1), p), p).expect("a positive divisor");
    rounded(m.add(&quotient, p).mul(&Range::point(Num::pow2(-1)), precision))
}

fn cosh(x: &Num, precision: u32) -> Neighbours {
    if x.is_zero() {
        return Neighbours::exact(Num::one());
    }
    if x.top() > SATURATION {
        return saturated(true);
    }
    // 0 < cosh x - 1 < x^2 for |x| < 1.
    if 2 * x.top() < -i64::from(precision) {
        return beside_one(precision, 1);
    }
    let p = precision + COMPOSED;
    let e = over(exp(&x.abs(), p));
    let inverse = whole(1).div(&e, p).expect("a positive divisor");
    rounded(e.add(&inverse, p).mul(&Range::point(Num::pow2(-1)), precision))
}

/// `m / (m + 2)` with `m = e^(2x) - 1`, for positive x.
fn tanh(x: &Num, precision: u32) -> Neighbours {
    // 1 - tanh x < 2 e^(-2x), and e^(2x) > 2^(2x): below 2^-precision from 2x > precision + 1 on.
    if x.top() > 33 || x.top() > 0 && *x > Num::int(i64::from(precision) / 2 + 1) {
        return beside_one(precision, -1);
    }
    let p = precision + COMPOSED;
    let m = over(expm1(&x.scale(1), p));
    // One minus the complement, which is accurate where the result is close to one.
    if x.top() > 0 {
        let rest = whole(2).div(&m.add(&whole(2), p), p).expect("a positive divisor");
        return rounded(whole(1).sub(&rest, precision));
    }
    rounded(m.div(&m.add(&whole(2), p), precision).expect("a positive divisor"))
}

/// `ln(1 + x + x^2 / (1 + sqrt(1 + x^2)))` for positive x.
fn asinh(x: &Num, precision: u32) -> Neighbours {
    let p = precision + COMPOSED;
    if x.top() > LIMIT / 4 {
        return far_ln(x, precision);
    }
    let point = Range::point(x.clone());
    let square = point.mul(&point, p);
    let root = sqrt_over(&square.add(&whole(1), p), p);
    let quotient = square.div(&root.add(&whole(1), p), p).expect("a positive divisor");
    ln_1p_over(&point.add(&quotient, p), precision)
}

/// `ln(1 + t + sqrt(t (t + 2)))` with `t = x - 1`.
fn acosh(x: &Num, precision: u32) -> Neighbours {
    if *x == Num::one() {
        return Neighbours::exact(Num::zero());
    }
    let p = precision + COMPOSED;
    if x.top() > LIMIT / 4 {
        return far_ln(x, precision);
    }
    let t = over(add(x, &Num::int(-1), 2 * p + 128));
    let root = sqrt_over(&t.mul(&t.add(&whole(2), p), p), p);
    ln_1p_over(&t.add(&root, p), precision)
}

/// `ln(2x)` for an enormous x, from which asinh and acosh differ by at most `1 / x^2`.
fn far_ln(x: &Num, precision: u32) -> Neighbours {
    let l = over(ln(&x.scale(1), precision + 4));
    let slack = over(Neighbours { lo: Num::pow2(-LIMIT / 4).neg(), hi: Num::pow2(-LIMIT / 4) });
    rounded(l.add(&slack, precision))
}

/// `ln(1 + 2x / (1 - x)) / 2` for x in (0, 1).
fn atanh(x: &Num, precision: u32) -> Neighbours {
    let p = precision + COMPOSED;
    let rest = over(add(&Num::one(), &x.neg(), 2 * p + 128));
    let d = Range::point(x.scale(1)).div(&rest, p).expect("a positive divisor");
    let l = ln_1p_over(&d, precision);
    Neighbours { lo: l.lo.scale(-1), hi: l.hi.scale(-1) }
}

/// Limit of a function at an end that is a symbol, as a lower end and as an upper end.
pub(super) fn at_symbol(function: Function, x: &Num, precision: u32) -> Result<Neighbours, Undecided> {
    if x.is_tiny() {
        let near_zero = at(function, &Num::zero(), precision);
        return match near_zero {
            // Odd functions and the root keep the sign.
            Ok(value) if value.lo.is_zero() && value.hi.is_zero() => Ok(Neighbours::exact(x.clone())),
            Ok(value) => Ok(value),
            Err(Undecided) if x.negative => Err(Undecided),
            Err(Undecided) => match function {
                Function::InverseSqrt => Ok(Neighbours::exact(Num::huge())),
                Function::Ln | Function::Log2 => Ok(Neighbours::exact(Num::huge().neg())),
                _ => Err(Undecided),
            },
        };
    }
    let half_pi = || angle(&Num { negative: x.negative, ..Num::one() }, &Num::zero(), precision);
    match function {
        Function::Sqrt | Function::Ln | Function::Log2 | Function::Acosh if !x.negative => {
            Ok(Neighbours::exact(x.clone()))
        }
        Function::InverseSqrt if !x.negative => Ok(Neighbours::exact(Num::tiny())),
        Function::Exp | Function::Exp2 if x.negative => Ok(Neighbours::exact(Num::tiny())),
        Function::Exp | Function::Exp2 | Function::Sinh | Function::Asinh => Ok(Neighbours::exact(x.clone())),
        Function::Cosh => Ok(Neighbours::exact(Num::huge())),
        Function::Atan => Ok(half_pi()),
        Function::Tanh => Ok(Neighbours::exact(Num { negative: x.negative, ..Num::one() })),
        _ => Err(Undecided),
    }
}
