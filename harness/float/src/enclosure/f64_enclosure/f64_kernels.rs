//! Elementary functions in plain `f64` arithmetic, with the same bits on every machine, for
//! [`super::F64Enclosure`] and for the filters that decide many results at once.
//!
//! Only `+ - * /`, `sqrt`, comparisons and integer operations on the bits are used, all of which
//! IEEE 754 and Rust define exactly: neither the host's libm nor a fused multiply-add. The methods
//! are standard (Muller, *Elementary Functions*, 3rd edition; the reductions of the logarithm and
//! of sine and cosine are those of FDLIBM): additive argument reduction by constants in two or
//! three parts (Cody & Waite, *Software Manual for the Elementary Functions*, 1980) and
//! near-minimax (Chebyshev) polynomials with coefficients rounded to `f64`. Each polynomial states
//! its relative error, including that of its coefficients.
//!
//! # Error bound
//!
//! With `u = 2^-53`, every function here has a relative error of at most [`ERROR_BOUND`] `= 8 u` on
//! the stated domain. The comments state the accumulated errors. They are first-order sums with
//! some room, not a formal proof. `examples/certify.rs` measures every function for all 2^32 `f32`
//! inputs against correctly rounded ones and fails above the bound.
//!
//! # Limits
//!
//! The measurement covers `f32` inputs only; for other `f64` inputs the bound rests on the
//! derivations.

/// Bound on the relative error of every kernel on its domain: `8 * 2^-53`.
pub const ERROR_BOUND: f64 = 8.0 / 9_007_199_254_740_992.0;

/// `1.5 * 2^52`. Adding and subtracting it rounds magnitudes below 2^51 to integers; the low bits
/// of the sum are that integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

const LN2: f64 = std::f64::consts::LN_2;
/// Leading 42 bits of ln 2, so that the product with an exponent is exact.
const LN2_HI: f64 = 0.693_147_180_559_890_3;
const LN2_LO: f64 = 5.497_923_018_708_371e-14;
const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// Half of pi in three parts. The first two have 33 bits, so that their products with small
/// integers are exact.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
const HALF_PI_LO: f64 = 6.123_233_995_736_766e-17;
const QUARTER_PI_LO: f64 = 3.061_616_997_868_383e-17;
const PI_LO: f64 = 1.224_646_799_147_353_2e-16;

/// tan(pi / 8) and its reciprocal, at which the arc tangent changes its reduction.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;
const COT_EIGHTH: f64 = 2.414_213_562_373_095;

/// `(e^r - 1 - r) / r^2` for |r| <= ln(2) / 2; contributes 2^-55.7 relative to e^r.
const EXP: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_032e-8,
];

/// `(2 atanh(s) - 2 s) / s^3` in s^2 for |s| <= 3 - 2 sqrt(2); contributes 2^-57.5.
const LN: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_993_8,
    0.285_714_286_260_310_65,
    0.222_222_111_257_228_1,
    0.181_828_897_861_910_42,
    0.153_316_996_335_438_58,
    0.146_167_211_798_618_16,
];

/// `(sin r - r) / r^3` in r^2 for |r| <= pi / 4; contributes 2^-55.3.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_330_946,
    -0.000_198_412_698_367_549_7,
    2.755_731_610_068_303e-6,
    -2.505_113_145_542_794_6e-8,
    1.591_810_123_027_412e-10,
];

/// `(cos r - 1 + r^2 / 2) / r^4` in r^2 for |r| <= pi / 4; contributes 2^-59.
const COS: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_739_5,
    2.480_158_729_876_343_3e-5,
    -2.755_731_727_056_032_6e-7,
    2.087_614_602_468_974_7e-9,
    -1.138_261_486_855_632_5e-11,
];

/// `(atan u - u) / u^3` in u^2 for |u| <= tan(pi / 8); contributes 2^-56.8.
const ATAN: [f64; 11] = [
    -0.333_333_333_333_333_3,
    0.199_999_999_999_955_13,
    -0.142_857_142_846_648_2,
    0.111_111_110_151_176_26,
    -0.090_909_045_724_873_47,
    0.076_921_830_598_941_14,
    -0.066_645_096_032_553_86,
    0.058_581_328_944_279_22,
    -0.050_853_659_223_442_48,
    0.039_229_237_138_359_43,
    -0.019_173_922_285_547_93,
];

/// `(sinh x - x) / x^3` in x^2 for |x| <= 1/2; contributes 2^-58.5.
const SINH: [f64; 6] = [
    0.166_666_666_666_666_66,
    0.008_333_333_333_333_36,
    0.000_198_412_698_411_467_95,
    2.755_731_943_387_212e-6,
    2.505_194_658_020_753_4e-8,
    1.611_651_953_508_199_9e-10,
];

#[inline(always)]
fn horner<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum * x + coefficients[i];
    }
    sum
}

/// Integer nearest to a number below 2^51 in magnitude, as a number and as an integer.
#[inline(always)]
fn nearest_integer(x: f64) -> (f64, i64) {
    let shifted = x + ROUNDER;
    (shifted - ROUNDER, shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64)
}

/// `value * 2^k` for -1022 <= k <= 1023 and a value near one.
#[inline(always)]
fn scale_normal(value: f64, k: i64) -> f64 {
    // Wraps for the garbage of a NaN; the product with a NaN remains a NaN.
    value * f64::from_bits((k.wrapping_add(1023) as u64) << 52)
}

/// `value * 2^k` for -2044 <= k <= 2046, with one rounding if the result is normal.
#[inline(always)]
fn scale(value: f64, k: i64) -> f64 {
    let half = k >> 1;
    let power = |k: i64| f64::from_bits(((1023 + k) as u64) << 52);
    value * power(half) * power(k - half)
}

/// `e^r` for |r| <= 0.347.
///
/// The error of r, at most 2^-54, counts in full. The sum `r + r^2 P` adds at most 2^-54 and the
/// final addition rounds once more. Relative to a result of at least `e^-0.347 > 0.70` the total is
/// at most 2.5 u.
#[inline(always)]
fn exp_reduced(r: f64) -> f64 {
    1.0 + (r + r * r * horner(&EXP, r))
}

/// Exponential function; domain [-708, 709.7].
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (k, shift) = nearest_integer(x * LOG2_E);
    // The first difference is exact.
    scale(exp_reduced((x - k * LN2_HI) - k * LN2_LO), shift)
}

/// Exponential function where neither the result nor its reciprocal is extreme; domain [-700, 700].
/// The same bits as [`exp`].
#[inline(always)]
pub fn exp_moderate(x: f64) -> f64 {
    let (k, shift) = nearest_integer(x * LOG2_E);
    scale_normal(exp_reduced((x - k * LN2_HI) - k * LN2_LO), shift)
}

/// `2^x` where neither the result nor its reciprocal is extreme; domain [-1000, 1000]. The same
/// bits as [`exp2`].
#[inline(always)]
pub fn exp2_moderate(x: f64) -> f64 {
    let (k, shift) = nearest_integer(x);
    scale_normal(exp_reduced((x - k) * LN2), shift)
}

/// `2^x`; domain [-1022, 1023.9].
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let (k, shift) = nearest_integer(x);
    scale(exp_reduced((x - k) * LN2), shift)
}

/// Splits a positive normal number into `(f, k)` with `x = (1 + f) 2^k` and 1 + f in [sqrt(1/2),
/// sqrt(2)).
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    // The exponent field as a number, by way of the low bits of 2^52, because vector instructions
    // lack a conversion from 64-bit integers.
    let k = f64::from_bits(0x4330_0000_0000_0000 | bits >> 52) - (4_503_599_627_370_496.0 + 1023.0);
    (f64::from_bits((bits & 0x000f_ffff_ffff_ffff) + ROOT_HALF) - 1.0, k)
}

/// `k ln 2 + ln(1 + f)`, by `ln(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R(s)))` with `s = f / (2 + f)`
/// (FDLIBM's reduction).
///
/// The term subtracted from f is below 0.21 |f| and has a relative error of at most 4 u: with the
/// last rounding at most 2 u in all.
#[inline(always)]
fn ln_reduced(f: f64, k: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * horner(&LN, z);
    let half_square = 0.5 * f * f;
    k * LN2_HI - ((half_square - (s * (half_square + rest) + k * LN2_LO)) - f)
}

/// Natural logarithm of a positive normal number.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let (f, k) = split(x);
    ln_reduced(f, k)
}

/// `ln(1 + d)` for d > -1. Close to zero the sum is not formed; elsewhere its rounding error, u, is
/// small against a result above 0.34.
#[inline(always)]
pub fn ln_1p(d: f64) -> f64 {
    let (f, k) = if -0.292 < d && d < 0.414 { (d, 0.0) } else { split(1.0 + d) };
    ln_reduced(f, k)
}

/// Binary logarithm of a positive normal number. The product has a relative error of at most 4 u;
/// it is at most 1/2, and the result is at least 1/2 if k is not zero.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let (f, k) = split(x);
    k + ln_reduced(f, 0.0) * LOG2_E
}

/// Sine and cosine; domain [-4, 4]. The argument is reduced to about 2^-100 by three parts of half
/// of pi, and its low part enters both polynomials: 1.5 u.
#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    let (q, quadrant) = nearest_integer(x * std::f64::consts::FRAC_2_PI);
    // Exact, as is the product of the second part. The error of the second difference is kept.
    let a = x - q * HALF_PI[0];
    let b = q * HALF_PI[1];
    let h = a - b;
    let t = a - h;
    let error = (a - (h + t)) + (t - b);
    let low = error - q * HALF_PI[2];
    let r = h + low;
    let r_low = (h - r) + low;

    let z = r * r;
    let half = 0.5 * z;
    let w = 1.0 - half;
    let sin = r + (z * r * horner(&SIN, z) + r_low * w);
    let cos = w + (((1.0 - w) - half) + (z * z * horner(&COS, z) - r * r_low));
    // By quadrant: (sin, cos), (cos, -sin), (-sin, -cos), (-cos, sin). Without branches, for
    // vectors.
    let quadrant = quadrant as u64;
    let (first, second) = if quadrant & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let signed = |value: f64, negative: u64| f64::from_bits(value.to_bits() ^ (negative & 2) << 62);
    (signed(first, quadrant), signed(second, quadrant.wrapping_add(1)))
}

/// Sine; domain [-4, 4].
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    sin_cos(x).0
}

/// Cosine; domain [-4, 4].
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    sin_cos(x).1
}

/// Tangent; domain [-4, 4]. Two functions and a division: 4 u.
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    let (sin, cos) = sin_cos(x);
    sin / cos
}

/// Angle of the point (x, y), where both are finite, not both are zero, and their quotient is in
/// the normal range. The reduced argument has an error of at most 3 u if it is added to pi / 4 and
/// of at most 1 u otherwise; the polynomial and the sums add 2 u.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (ay, ax) = (y.abs(), x.abs());
    // A power of two that keeps the sum from overflowing and the quotient from underflowing if both
    // coordinates are extreme.
    let large = if ay > ax { ay } else { ax };
    let power = if large > 1e290 {
        f64::from_bits((1023 - 664) << 52)
    } else if large < 1e-290 {
        f64::from_bits((1023 + 664) << 52)
    } else {
        1.0
    };
    let (ay, ax) = (ay * power, ax * power);
    let (small, middle) = (ay <= TAN_EIGHTH * ax, ay <= COT_EIGHTH * ax);
    let pick = |a: f64, b: f64, c: f64| {
        if small {
            a
        } else if middle {
            b
        } else {
            c
        }
    };
    let (numerator, denominator) = (pick(ay, ay - ax, -ax), pick(ax, ay + ax, ay));
    let base = pick(0.0, std::f64::consts::FRAC_PI_4, std::f64::consts::FRAC_PI_2);
    let base_low = pick(0.0, QUARTER_PI_LO, HALF_PI_LO);
    let u = numerator / denominator;
    let z = u * u;
    let angle = base + (u + (u * z * horner(&ATAN, z) + base_low));
    let angle = if x < 0.0 { std::f64::consts::PI - (angle - PI_LO) } else { angle };
    if y < 0.0 { -angle } else { angle }
}

/// Arc tangent of a finite number.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

/// Arc sine; domain [-1, 1]. The complement has an error of at most 2.5 u, which counts at most in
/// full; the angle adds 4 u.
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    atan2(x, ((1.0 - x) * (1.0 + x)).sqrt())
}

/// Arc cosine; domain [-1, 1). The error is that of [`asin`].
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    atan2(((1.0 - x) * (1.0 + x)).sqrt(), x)
}

/// Hyperbolic sine for |x| <= 1/2: `x + x^3 P`, where the second term is below 0.05 x: 1.2 u.
#[inline(always)]
fn sinh_small(x: f64) -> f64 {
    let z = x * x;
    x + x * z * horner(&SINH, z)
}

/// Hyperbolic sine; domain [-709, 709]. Beyond 1/2 the difference is at least 0.65 of the larger
/// term: 5 u.
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    if x.abs() <= 0.5 {
        return sinh_small(x);
    }
    let e = exp(x);
    0.5 * e - 0.5 / e
}

/// Hyperbolic cosine; domain [-708, 708]: 4 u.
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let e = exp(x.abs());
    0.5 * e + 0.5 / e
}

/// Hyperbolic tangent; domain [-350, 350]: 5 u. Beyond 1/2 it is one minus a complement below 0.54,
/// otherwise `s / sqrt(1 + s^2)` with the hyperbolic sine `s`.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    let result = if magnitude <= 0.5 {
        let s = sinh_small(magnitude);
        s / (1.0 + s * s).sqrt()
    } else {
        1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0)
    };
    if x < 0.0 { -result } else { result }
}

/// `ln(2 x)` for the inverse functions at large x.
#[inline(always)]
fn ln_twice(x: f64) -> f64 {
    let (f, k) = split(x);
    ln_reduced(f, k + 1.0)
}

/// Bound above which the inverse functions are `ln(2 x)` to within 2^-60.
const LARGE: f64 = 1_073_741_824.0;

/// Inverse hyperbolic sine, as `ln(1 + d)` with an error of d of at most 4 u: 7 u.
#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let result = if magnitude > LARGE {
        ln_twice(magnitude)
    } else {
        let square = magnitude * magnitude;
        ln_1p(magnitude + square / (1.0 + (1.0 + square).sqrt()))
    };
    if x < 0.0 { -result } else { result }
}

/// Inverse hyperbolic cosine; domain x > 1. The error is that of [`asinh`].
#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    if x > LARGE {
        return ln_twice(x);
    }
    let t = x - 1.0;
    ln_1p(t + (t * (t + 2.0)).sqrt())
}

/// Inverse hyperbolic tangent; domain (-1, 1): 5 u.
#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    let result = 0.5 * ln_1p(2.0 * magnitude / (1.0 - magnitude));
    if x < 0.0 { -result } else { result }
}
