//! Arbitrary-precision enclosures, rounded to nearest, against CORE-MATH, whose functions are
//! correctly rounded.

use crate::common::{FUNCTIONS, Random, big, in_domain, special};
use assay_float::{BigEnclosure, Enclosure, F32, F64, Format, Function, Rank, Undecided};

/// Rank of the exact value rounded to nearest, with as much precision as that takes.
fn nearest(format: Format, ask: impl Fn(u32) -> Result<BigEnclosure, Undecided>) -> Option<Rank> {
    [96, 192, 400, 1_200, 2_500].into_iter().find_map(|bits| ask(bits).ok()?.nearest_rank(format).ok())
}

fn double(function: Function, x: f64) -> f64 {
    match function {
        Function::Sqrt => x.sqrt(),
        Function::InverseSqrt => core_math::rsqrt(x),
        Function::Exp => core_math::exp(x),
        Function::Exp2 => core_math::exp2(x),
        Function::Ln => core_math::log(x),
        Function::Log2 => core_math::log2(x),
        Function::Sin => core_math::sin(x),
        Function::Cos => core_math::cos(x),
        Function::Tan => core_math::tan(x),
        Function::Asin => core_math::asin(x),
        Function::Acos => core_math::acos(x),
        Function::Atan => core_math::atan(x),
        Function::Sinh => core_math::sinh(x),
        Function::Cosh => core_math::cosh(x),
        Function::Tanh => core_math::tanh(x),
        Function::Asinh => core_math::asinh(x),
        Function::Acosh => core_math::acosh(x),
        Function::Atanh => core_math::atanh(x),
    }
}

fn single(function: Function, x: f32) -> f32 {
    match function {
        Function::Sqrt => x.sqrt(),
        Function::InverseSqrt => core_math::rsqrtf(x),
        Function::Exp => core_math::expf(x),
        Function::Exp2 => core_math::exp2f(x),
        Function::Ln => core_math::logf(x),
        Function::Log2 => core_math::log2f(x),
        Function::Sin => core_math::sinf(x),
        Function::Cos => core_math::cosf(x),
        Function::Tan => core_math::tanf(x),
        Function::Asin => core_math::asinf(x),
        Function::Acos => core_math::acosf(x),
        Function::Atan => core_math::atanf(x),
        Function::Sinh => core_math::sinhf(x),
        Function::Cosh => core_math::coshf(x),
        Function::Tanh => core_math::tanhf(x),
        Function::Asinh => core_math::asinhf(x),
        Function::Acosh => core_math::acoshf(x),
        Function::Atanh => core_math::atanhf(x),
    }
}

/// Treats the zeros as equal: the sign of a zero argument is not modelled.
fn same(format: Format, expected: u64, got: Option<Rank>) -> bool {
    got.is_some_and(|rank| {
        let bits = format.bits(rank);
        bits == expected || format.is_zero(bits) && format.is_zero(expected)
    })
}

fn check_double(function: Function, x: f64) {
    let got = nearest(F64, |bits| big(x, bits).function(function));
    let expected = double(function, x);
    assert!(same(F64, expected.to_bits(), got), "{function:?}({x:e}) is {expected:e}, not {got:?}");
}

#[test]
fn doubles() {
    let mut random = Random::new(10);
    for function in FUNCTIONS {
        special(function).into_iter().for_each(|x| check_double(function, x));
        (0..12_000).for_each(|_| check_double(function, random.argument(function)));
    }
}

#[test]
fn singles() {
    for (i, function) in FUNCTIONS.into_iter().enumerate() {
        // A stride coprime to the number of patterns, from different starts: every binade of both
        // signs.
        for bits in (i as u32..=u32::MAX).step_by(50_021) {
            let x = f32::from_bits(bits);
            if !x.is_finite() || !in_domain(function, x.into()) {
                continue;
            }
            let got = nearest(F32, |bits| big(x.into(), bits).function(function));
            let expected = single(function, x);
            assert!(same(F32, expected.to_bits().into(), got), "{function:?}({x:e}) is {expected:e}, not {got:?}");
        }
    }
}

#[test]
fn angles_and_powers() {
    let mut random = Random::new(11);
    for i in 0..30_000 {
        let exponents = [2, 10, 100, 1000][i % 4];
        let (mut y, mut x) = (random.wide(exponents), random.wide(exponents));
        if i % 3 == 0 {
            (y, x) = (f64::from(y as f32), f64::from(x as f32));
        }
        if !y.is_finite() || !x.is_finite() || y == 0.0 || x == 0.0 {
            continue;
        }
        let got = nearest(F64, |bits| big(y, bits).atan2(&big(x, bits)));
        assert!(same(F64, core_math::atan2(y, x).to_bits(), got), "atan2({y:e}, {x:e}) is not {got:?}");

        let base = if i % 5 == 0 { (random.below(1 << 12) as f64 + 1.0) / 64.0 } else { x.abs() };
        let power = if i % 7 == 0 { random.below(200) as f64 / 8.0 - 9.0 } else { y };
        let got = nearest(F64, |bits| big(base, bits).pow(&big(power, bits)));
        let expected = core_math::pow(base, power);
        assert!(same(F64, expected.to_bits(), got), "{base:e}^{power:e} is {expected:e}, not {got:?}");
    }
}
