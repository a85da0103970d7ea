//! Tests of the arbitrary-precision enclosures: against themselves at other precisions, against an
//! independent library, over intervals, at the ends of their range, and in exact cases.

use crate::common::{FUNCTIONS, Random, big, bits_of, dyadic, in_domain, special, within};
use assay_float::{BigEnclosure, Dyadic, Enclosure, F32, Function, Undecided};
use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use std::cmp::Ordering;

fn check_nested(text: &str, ask: impl Fn(u32) -> Result<BigEnclosure, Undecided>) {
    let (coarse, fine) = (ask(96).unwrap(), ask(400).unwrap());
    assert!(within(&fine, &coarse), "{text}: {fine:?} is not within {coarse:?}");
    assert!(!coarse.is_point() || fine.is_point(), "{text} is exact at 96 bits only");
}

#[test]
fn more_bits_nest_and_are_worth_it() {
    let mut random = Random::new(30);
    for function in FUNCTIONS {
        let arguments: Vec<f64> = (0..1_200).map(|_| random.argument(function)).chain(special(function)).collect();
        for x in arguments {
            check_nested(&format!("{function:?}({x:e})"), |bits| big(x, bits).function(function));
            let value = big(x, 400).function(function).unwrap();
            // Far beyond the range of doubles the ends are giant powers of two.
            if value.binade().is_ok_and(|e| e.abs() < 1 << 20) || value.is_point() {
                assert!(bits_of(&value) >= 396.0, "{function:?}({x:e}) has {} bits", bits_of(&value));
            }
        }
    }
}

#[test]
fn binary_operations_nest() {
    let mut random = Random::new(31);
    for i in 0..6_000 {
        let exponents = [4, 100, 1000][i % 3];
        let (x, y) = (random.wide(exponents), random.wide(exponents));
        if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
            continue;
        }
        let text = format!("{x:e}, {y:e}");
        check_nested(&text, |bits| Ok(big(x, bits).add(&big(y, bits))));
        check_nested(&text, |bits| Ok(big(x, bits).mul(&big(y, bits))));
        check_nested(&text, |bits| big(x, bits).div(&big(y, bits)));
        check_nested(&text, |bits| big(x, bits).atan2(&big(y, bits)));
        check_nested(&text, |bits| big(x.abs(), bits).pow(&big(y, bits)));
        check_nested(&text, |bits| big(x, bits).rem_trunc(&big(y, bits)));
        check_nested(&text, |bits| big(x, bits).rem_floor(&big(y, bits)));
        // The identity that defines the remainders holds exactly if the quotient is short.
        let (bx, by) = (big(x, 3_000), big(y, 3_000));
        let turns = (x / y).trunc();
        if turns.abs() < 1e15 {
            let rest = bx.rem_trunc(&by).unwrap();
            let identity = bx.sub(&rest).div(&by).unwrap();
            assert!(identity.is_point() && rest.is_point());
            assert!((identity.approximate() - turns).abs() <= 1.0, "{text}");
            assert_eq!(rest.abs().compare(&by.abs()), Ok(Ordering::Less));
            let floored = bx.rem_floor(&by).unwrap();
            let zero = big(0.0, 96);
            let sign = floored.compare(&zero).unwrap();
            assert!(sign == Ordering::Equal || sign == by.compare(&zero).unwrap());
            assert!(bx.sub(&floored).div(&by).unwrap().is_point());
        }
    }
}

/// Exact value of a number of the other library.
fn from_astro(value: &BigFloat) -> Option<BigEnclosure> {
    let (words, _, sign, exponent, _) = value.as_raw_parts()?;
    let mut sum = BigEnclosure::exact(Dyadic::ZERO, 600);
    for (i, &word) in words.iter().rev().enumerate() {
        let scale = exponent - 64 * (i as i32 + 1);
        sum = sum.add(&BigEnclosure::exact(Dyadic::new(sign == Sign::Neg, word, scale), 600));
    }
    Some(sum)
}

/// Returns true if the other library's result, accurate to `bits`, can be the enclosed number.
fn agrees(ours: &BigEnclosure, theirs: &BigFloat, bits: i32) -> bool {
    let Some(theirs) = from_astro(theirs) else { return false };
    let slack = BigEnclosure::exact(Dyadic::pow2(-bits), 600);
    let slack = theirs.abs().mul(&slack);
    let around = theirs.sub(&slack).hull(&theirs.add(&slack));
    ours.compare(&around).map_or(true, Ordering::is_eq)
}

#[test]
fn an_independent_library_agrees() {
    const THEIRS: usize = 256;
    let rm = RoundingMode::ToEven;
    let mut cc = Consts::new().unwrap();
    let mut random = Random::new(32);
    for function in FUNCTIONS {
        for i in 0..250 {
            // Two doubles make an argument of up to 120 bits.
            let head = if i % 2 == 0 { random.wide(6) } else { random.argument(function) };
            let tail = head * random.unit() * 2f64.powi(-60);
            if !(1e-60..600.0).contains(&head.abs())
                || !in_domain(function, head + 1e-9 * head)
                || !in_domain(function, head)
            {
                continue;
            }
            let ours = big(head, 200).add(&big(tail, 200));
            assert!(ours.is_point());
            let x = BigFloat::from_f64(head, THEIRS).add(&BigFloat::from_f64(tail, THEIRS), THEIRS, RoundingMode::None);
            let Ok(ours) = ours.function(function) else { continue };
            let theirs = match function {
                Function::Sqrt => x.sqrt(THEIRS, rm),
                Function::InverseSqrt => x.sqrt(THEIRS + 64, rm).reciprocal(THEIRS, rm),
                Function::Exp => x.exp(THEIRS, rm, &mut cc),
                Function::Exp2 => BigFloat::from_f64(2.0, THEIRS).pow(&x, THEIRS, rm, &mut cc),
                Function::Ln => x.ln(THEIRS, rm, &mut cc),
                Function::Log2 => x.log2(THEIRS, rm, &mut cc),
                Function::Sin => x.sin(THEIRS, rm, &mut cc),
                Function::Cos => x.cos(THEIRS, rm, &mut cc),
                Function::Tan => x.tan(THEIRS, rm, &mut cc),
                Function::Asin => x.asin(THEIRS, rm, &mut cc),
                Function::Acos => x.acos(THEIRS, rm, &mut cc),
                Function::Atan => x.atan(THEIRS, rm, &mut cc),
                Function::Sinh => x.sinh(THEIRS, rm, &mut cc),
                Function::Cosh => x.cosh(THEIRS, rm, &mut cc),
                Function::Tanh => x.tanh(THEIRS, rm, &mut cc),
                Function::Asinh => x.asinh(THEIRS, rm, &mut cc),
                Function::Acosh => x.acosh(THEIRS, rm, &mut cc),
                Function::Atanh => x.atanh(THEIRS, rm, &mut cc),
            };
            assert!(agrees(&ours, &theirs, 250), "{function:?}({head:e} + {tail:e}): {ours:?} against {theirs}");
        }
    }
    for _ in 0..250 {
        let (x, y) = (random.wide(6).abs(), random.wide(6));
        let ours = big(x, 200).pow(&big(y, 200)).unwrap();
        let theirs = BigFloat::from_f64(x, THEIRS).pow(&BigFloat::from_f64(y, THEIRS), THEIRS, rm, &mut cc);
        assert!(agrees(&ours, &theirs, 250), "{x:e}^{y:e}: {ours:?} against {theirs}");
        let ours = big(y, 200).atan2(&big(x, 200)).unwrap();
        let quotient = BigFloat::from_f64(y, THEIRS).div(&BigFloat::from_f64(x, THEIRS), THEIRS + 64, rm);
        let theirs = quotient.atan(THEIRS, rm, &mut cc);
        assert!(agrees(&ours, &theirs, 250), "atan2({y:e}, {x:e}): {ours:?} against {theirs}");
    }
    let pi = cc.pi(THEIRS, rm);
    assert!(agrees(&BigEnclosure::pi(200), &pi, 250));
}

/// A member of [a, b], sometimes close to an end.
fn member(random: &mut Random, a: f64, b: f64) -> f64 {
    let t = [random.unit(), 0.0, 1.0, random.unit() * 1e-3][random.below(4) as usize];
    (a + (b - a) * t).clamp(a.min(b), a.max(b))
}

#[test]
fn intervals_hold_the_images_of_their_members() {
    let mut random = Random::new(33);
    for function in FUNCTIONS {
        for i in 0..700 {
            let a = random.argument(function);
            let b = if i % 2 == 0 { random.argument(function) } else { a + a.abs() * random.unit() * 0.1 };
            if !b.is_finite() || !in_domain(function, b) {
                continue;
            }
            let interval = big(a, 96).hull(&big(b, 96));
            let Ok(image) = interval.function(function) else { continue };
            for _ in 0..3 {
                let x = member(&mut random, a, b);
                let value = big(x, 200).function(function).unwrap();
                assert!(within(&value, &image), "{function:?}({x:e}), {x:e} in {interval:?}, is not in {image:?}");
            }
        }
    }
}

#[test]
fn arithmetic_of_intervals_holds_the_results_of_members() {
    let mut random = Random::new(34);
    for _ in 0..6_000 {
        let [a, b, c, d] = std::array::from_fn(|_| if random.below(8) == 0 { 0.0 } else { random.wide(3) });
        let (x, y) = (big(a, 96).hull(&big(b, 96)), big(c, 96).hull(&big(d, 96)));
        let (p, q) = (member(&mut random, a, b), member(&mut random, c, d));
        let (bp, bq) = (big(p, 300), big(q, 300));
        assert!(within(&bp.add(&bq), &x.add(&y)) && within(&bp.sub(&bq), &x.sub(&y)));
        assert!(within(&bp.mul(&bq), &x.mul(&y)), "{p} {q} {x:?} {y:?}");
        assert!(within(&bp.min(&bq), &x.min(&y)) && within(&bp.max(&bq), &x.max(&y)));
        assert!(within(&bp.abs(), &x.abs()) && within(&bp.neg(), &x.neg()));
        if let Ok(quotient) = x.div(&y) {
            assert!(within(&bp.div(&bq).unwrap(), &quotient));
        }
        if let Ok(angle) = x.atan2(&y) {
            assert!(within(&bp.atan2(&bq).unwrap(), &angle), "{p} {q} {x:?} {y:?} {angle:?}");
        }
        if let Ok(power) = x.pow(&y) {
            assert!(within(&bp.pow(&bq).unwrap(), &power), "{p} {q} {x:?} {y:?} {power:?}");
        }
    }
}

/// Returns true if the result is exactly that value.
fn is(result: Result<BigEnclosure, Undecided>, value: f64) -> bool {
    result.is_ok_and(|result| result.is_point() && result.compare(&big(value, 96)) == Ok(Ordering::Equal))
}

#[test]
fn exact_cases_are_points() {
    use Function::*;
    let at = |function, x: f64| big(x, 96).function(function);
    for function in [Sqrt, Sin, Tan, Asin, Atan, Sinh, Tanh, Asinh, Atanh] {
        assert!(is(at(function, 0.0), 0.0), "{function:?}(0)");
    }
    for function in [Exp, Exp2, Cos, Cosh] {
        assert!(is(at(function, 0.0), 1.0), "{function:?}(0)");
    }
    for function in [Ln, Log2, Acos, Acosh] {
        assert!(is(at(function, 1.0), 0.0), "{function:?}(1)");
    }
    for n in -1000..1000 {
        let power = BigEnclosure::exact(Dyadic::pow2(n), 96);
        assert!(is(power.function(Log2), n.into()));
        assert_eq!(at(Exp2, n.into()).unwrap().compare(&power), Ok(Ordering::Equal));
        assert_eq!(power.function(Sqrt).unwrap().is_point(), n % 2 == 0);
        assert_eq!(power.function(InverseSqrt).unwrap().is_point(), n % 2 == 0);
    }
    for n in 2..2_000 {
        let n = f64::from(n);
        assert!(is(at(Sqrt, n * n), n) && is(at(Sqrt, n * n / 4.0), n / 2.0));
        assert_eq!(at(Sqrt, n).unwrap().is_point(), n.sqrt().fract() == 0.0);
        let square = big(n * n, 96);
        assert_eq!(square.function(InverseSqrt).unwrap().is_point(), (n as u64).is_power_of_two());
        for function in [Exp, Ln, Atan, Sinh, Cosh, Tanh, Asinh, Acosh] {
            assert!(
                !at(function, n).unwrap().is_point() && !at(function, n * 2f64.powi(-50) + 1.0).unwrap().is_point()
            );
        }
        for function in [Exp, Exp2, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Atanh] {
            assert!(!at(function, n * 2f64.powi(-400)).unwrap().is_point(), "{function:?}({n} * 2^-400)");
            assert!(!at(function, -n / 2_001.0).unwrap().is_point(), "{function:?}(-{n} / 2001)");
        }
    }
    assert!(is(big(6.0, 96).div(&big(3.0, 96)), 2.0) && !big(1.0, 96).div(&big(3.0, 96)).unwrap().is_point());
    assert!(is(big(0.0, 96).atan2(&big(2.0, 96)), 0.0) && !big(0.0, 96).atan2(&big(-2.0, 96)).unwrap().is_point());
    // A sum is a point if it fits the precision.
    let (huge, small) = (BigEnclosure::exact(Dyadic::pow2(300), 96), big(1.0, 96));
    assert!(!huge.add(&small).is_point());
    assert!(BigEnclosure::exact(Dyadic::pow2(300), 400).add(&small).is_point());
}

#[test]
fn exact_powers_are_points() {
    let pow = |x: f64, y: f64| big(x, 96).pow(&big(y, 96));
    assert!(is(pow(2.0, 10.0), 1024.0) && is(pow(2.0, -3.0), 0.125) && is(pow(0.25, -1.5), 8.0));
    assert!(
        is(pow(4.0, 0.5), 2.0) && is(pow(81.0, 0.25), 3.0) && is(pow(81.0, 0.75), 27.0) && is(pow(2.25, 1.5), 3.375)
    );
    assert!(
        is(pow(3.0, 4.0), 81.0) && is(pow(1.5, 2.0), 2.25) && is(pow(1.0, 1e300), 1.0) && is(pow(1e-300, 0.0), 1.0)
    );
    assert!(is(pow(7.0, 1.0), 7.0) && is(pow(256.0, 0.125), 2.0) && is(pow(16.0, 0.25), 2.0));
    for (x, y) in [(2.0, 0.5), (3.0, -1.0), (8.0, 0.5), (5.0, 0.25), (9.0, -0.5), (1.0000001, 3e7), (3.0, 0.1)] {
        assert!(!pow(x, y).unwrap().is_point(), "{x}^{y}");
    }
    assert!(!pow(3.0, 100.0).unwrap().is_point());
    assert!(big(3.0, 400).pow(&big(100.0, 400)).unwrap().is_point());
    assert!(pow(0.0, 1.0).is_err() && pow(-2.0, 2.0).is_err());
    let mut random = Random::new(35);
    for _ in 0..2_000 {
        let (x, n) = (random.below(40) as f64 / 4.0 + 0.25, random.below(10));
        assert!(is(pow(x, n as f64), x.powi(n as i32)), "{x}^{n}");
    }
}

#[test]
fn enormous_and_minute_numbers_saturate_soundly() {
    let giant = BigEnclosure::exact(Dyadic::new(false, u64::MAX, 1000), 96);
    let minute = BigEnclosure::exact(Dyadic::new(false, u64::MAX, -1200), 96);
    let (one, zero) = (big(1.0, 96), big(0.0, 96));
    for x in [BigEnclosure::exact(Dyadic::pow2(140), 96), big(f64::MAX, 96), giant.clone()] {
        for function in [Function::Exp, Function::Exp2, Function::Sinh, Function::Cosh] {
            let up = x.function(function).unwrap();
            assert_eq!(up.lower().compare(&BigEnclosure::exact(Dyadic::pow2(20_000), 96)), Ok(Ordering::Greater));
            assert_eq!(up.nearest_rank(F32), Ok(F32.infinity()));
            assert_eq!((up.ceil_rank(F32), up.floor_rank(F32)), (Ok(F32.infinity()), Ok(F32.max_finite())));
        }
        for function in [Function::Exp, Function::Exp2] {
            let down = x.neg().function(function).unwrap();
            assert_eq!(down.compare(&zero), Ok(Ordering::Greater));
            assert_eq!(down.compare(&BigEnclosure::exact(Dyadic::pow2(-20_000), 96)), Ok(Ordering::Less));
            let ranks = (down.ceil_rank(F32), down.floor_rank(F32), down.nearest_rank(F32));
            assert_eq!(ranks, (Ok(1), Ok(0), Ok(0)));
            let negative = down.neg();
            let ranks = (negative.ceil_rank(F32), negative.floor_rank(F32), negative.nearest_rank(F32));
            assert_eq!(ranks, (Ok(-1), Ok(-2), Ok(-1)));
            // Arithmetic continues with these results.
            assert_eq!(one.div(&down).unwrap().compare(&giant), Ok(Ordering::Greater));
            assert_eq!(down.mul(&down).compare(&zero), Ok(Ordering::Greater));
            assert!(within(&one, &one.add(&down)) && within(&one, &one.sub(&down)));
            assert_eq!(down.function(Function::Sqrt).unwrap().compare(&minute), Ok(Ordering::Less));
            let inverse = down.function(Function::InverseSqrt).unwrap();
            assert_eq!(inverse.compare(&giant), Ok(Ordering::Greater));
            let log = down.function(Function::Ln).unwrap();
            assert_eq!(log.compare(&big(-1e9, 96)), Ok(Ordering::Less));
            let odd = down.function(Function::Tanh).unwrap();
            assert_eq!((odd.compare(&zero), odd.compare(&minute)), (Ok(Ordering::Greater), Ok(Ordering::Less)));
        }
        let up = x.function(Function::Exp).unwrap();
        let tanh = up.function(Function::Tanh).unwrap();
        assert!(tanh.ceil_rank(F32) == one.ceil_rank(F32) && tanh.compare(&one) != Ok(Ordering::Greater));
        assert_eq!(up.function(Function::Atan).unwrap().compare(&big(1.57, 96)), Ok(Ordering::Greater));
        assert_eq!(up.mul(&up.neg()).compare(&zero), Ok(Ordering::Less));
        assert_eq!(up.sub(&up).compare(&zero), Err(Undecided));
        assert!(is(Ok(up.mul(&zero)), 0.0));
        assert_eq!(up.add(&one).compare(&giant), Ok(Ordering::Greater));
    }
    let power = big(1.5, 96).pow(&big(1e300, 96)).unwrap();
    assert_eq!(power.nearest_rank(F32), Ok(F32.infinity()));
    let power = big(1.5, 96).pow(&big(-1e300, 96)).unwrap();
    assert_eq!((power.nearest_rank(F32), power.ceil_rank(F32)), (Ok(0), Ok(1)));
    let power = big(2.0, 96).pow(&big(1e300, 96)).unwrap();
    assert_eq!(power.floor_rank(F32), Ok(F32.max_finite()));
    // Remainders with gaps that must not be aligned.
    let rest = big(f64::MAX, 96).rem_trunc(&big(3e-300, 96)).unwrap();
    assert!(rest.is_point() && rest.compare(&big(3e-300, 96)) == Ok(Ordering::Less));
    let rest = big(-1e-300, 96).rem_floor(&big(1e300, 96)).unwrap();
    assert!(!rest.is_point() && rest.compare(&big(1e300, 96)) != Ok(Ordering::Greater));
}

#[test]
fn functions_are_undecided_outside_their_domains() {
    let at = |function, x: f64| big(x, 96).function(function);
    use Function::*;
    let beyond =
        [(Sqrt, -1.0), (InverseSqrt, 0.0), (InverseSqrt, -1.0), (Ln, 0.0), (Ln, -1.0), (Log2, 0.0), (Log2, -2.0)];
    let outside =
        [(Asin, 1.5), (Acos, -1.0000001), (Acosh, 0.99), (Acosh, -2.0), (Atanh, 1.0), (Atanh, -1.0), (Atanh, 7.0)];
    for (function, x) in beyond.into_iter().chain(outside).chain([(Sin, 4.1), (Cos, -5.0), (Tan, 1e9)]) {
        assert!(at(function, x).is_err(), "{function:?}({x})");
        assert!(crate::common::fast(x).function(function).is_err(), "{function:?}({x})");
    }
    let straddling = big(1.5, 96).hull(&big(1.6, 96));
    assert!(
        straddling.function(Tan).is_err() && straddling.function(Sin).unwrap().upper().compare(&big(1.0, 96)).is_ok()
    );
    let zero = big(0.0, 96);
    assert!(zero.atan2(&zero).is_err() && big(1.0, 96).div(&zero).is_err());
    assert!(big(1.0, 96).rem_trunc(&zero).is_err() && straddling.rem_floor(&big(1.0, 96)).is_err());
    let cut = big(-1.0, 96).hull(&big(1.0, 96));
    assert!(cut.atan2(&big(-1.0, 96)).is_err() && cut.atan2(&big(1.0, 96)).is_ok());
    assert!(zero.hull(&big(1.0, 96)).atan2(&big(-1.0, 96)).is_ok());
}

#[test]
fn text_shows_certain_digits() {
    assert_eq!(BigEnclosure::pi(96).decimal(20), "3.1415926535897932385");
    assert_eq!(assay_float::F64Enclosure::pi(()).decimal(30), "3.14159265358979");
    assert_eq!(big(0.1, 96).decimal(5), "0.1");
    assert_eq!(BigEnclosure::exact(dyadic(1024.0), 96).function(Function::Log2).unwrap().decimal(9), "10");
    assert_eq!(big(1.0, 200).div(&big(3.0, 200)).unwrap().decimal(12), "0.333333333333");
    assert_eq!(big(2.0, 96).function(Function::Exp).unwrap().approximate(), core_math::exp(2.0));
}
