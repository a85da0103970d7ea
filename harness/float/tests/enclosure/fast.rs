//! The `f64` enclosures contain the arbitrary-precision ones.

use crate::common::{FUNCTIONS, Random, big, dyadic, ends, fast, in_domain, meets_fast, special};
use assay_float::{Dyadic, Enclosure, F16, Function};

/// Precision of the enclosures with which `F64Enclosure` is compared.
const BITS: u32 = 160;

fn check(function: Function, x: f64) {
    let outer = fast(x).function(function);
    let inner = big(x, BITS).function(function).unwrap_or_else(|_| panic!("{function:?}({x:e})"));
    // Fast may be undecided only close to the ends of its range.
    let Ok(outer) = outer else {
        panic!("{function:?}({x:e}) is undecided");
    };
    assert!(meets_fast(&inner, &outer), "{function:?}({x:e}): {inner:?} is outside {outer:?}");
    assert!(!outer.is_point() || inner.is_point(), "{function:?}({x:e}) is not exact, yet {outer:?}");
    let (lo, hi) = ends(&outer);
    let moderate = lo.is_finite() && hi.is_finite() && lo.abs() > 1e-280 && lo.abs() < 1e280;
    if moderate {
        assert!((hi - lo) / lo.abs() <= 24.0 * 2f64.powi(-53), "{function:?}({x:e}) is wide: {outer:?}");
    }
    // The exact cases agree where doubles can represent them with room for error terms.
    if inner.is_point() && moderate && (x == 0.0 || x.abs() > 1e-270) {
        let value = inner.approximate();
        assert!(
            outer.is_point() || inner.compare(&big(value, 64)) != Ok(std::cmp::Ordering::Equal),
            "{function:?}({x:e})"
        );
    }
}

#[test]
fn functions_at_special_arguments() {
    for function in FUNCTIONS {
        special(function).into_iter().for_each(|x| check(function, x));
    }
}

#[test]
fn functions_at_random_arguments() {
    let mut random = Random::new(1);
    for function in FUNCTIONS {
        for _ in 0..15_000 {
            check(function, random.argument(function));
        }
    }
}

#[test]
fn functions_at_every_half() {
    for bits in (0..0x1_0000).filter(|&bits| F16.is_finite(bits)) {
        let x = F16.to_f64(bits);
        for function in FUNCTIONS.into_iter().filter(|&f| in_domain(f, x)) {
            let outer = fast(x).function(function).unwrap();
            let inner = big(x, 96).function(function).unwrap();
            assert!(meets_fast(&inner, &outer), "{function:?}({x:e}): {inner:?} is outside {outer:?}");
            // 2^x is no longer a double from 2^1023 on.
            assert!(inner.is_point() == outer.is_point() || x.abs() > 1022.0, "{function:?}({x:e})");
        }
    }
}

#[test]
fn arithmetic_is_as_tight_as_doubles_allow() {
    let mut random = Random::new(2);
    for i in 0..120_000 {
        let exponents = [4, 60, 500, 1000][i % 4];
        let (x, y) = (random.wide(exponents), random.wide(exponents));
        // The operands are often related, so that sums cancel and quotients are exact.
        let y = [y, x, x * 3.0, -x.next_up(), x * y, y][random.below(6) as usize];
        if !y.is_finite() || y == 0.0 {
            continue;
        }
        let (fx, fy, bx, by) = (fast(x), fast(y), big(x, 2_500), big(y, 2_500));
        let pairs = [
            (fx.add(&fy), bx.add(&by)),
            (fx.sub(&fy), bx.sub(&by)),
            (fx.mul(&fy), bx.mul(&by)),
            (fx.div(&fy).unwrap(), bx.div(&by).unwrap()),
            (fx.rem_trunc(&fy).unwrap(), bx.rem_trunc(&by).unwrap()),
            (fx.rem_floor(&fy).unwrap(), bx.rem_floor(&by).unwrap()),
            (fx.min(&fy), bx.min(&by)),
            (fx.max(&fy), bx.max(&by)),
        ];
        for (n, (outer, inner)) in pairs.into_iter().enumerate() {
            assert!(meets_fast(&inner, &outer), "operation {n} of {x:e}, {y:e}: {inner:?} is outside {outer:?}");
            assert!(!outer.is_point() || inner.is_point(), "operation {n} of {x:e}, {y:e}: {outer:?} is not exact");
            let (lo, hi) = ends(&outer);
            let value = inner.approximate();
            // The error-free transformations are valid in this range.
            if [x, y, value].into_iter().all(|v| (1e-270..1e290).contains(&v.abs())) {
                assert!(hi <= lo.next_up(), "operation {n} of {x:e}, {y:e} is wide");
            }
            if inner.is_point() && [x, y, value].into_iter().all(|v| (1e-270..1e290).contains(&v.abs())) {
                let exact = inner.compare(&big(value, 64)) == Ok(std::cmp::Ordering::Equal);
                assert_eq!(outer.is_point(), exact, "operation {n} of {x:e}, {y:e}");
            }
        }
    }
}

#[test]
fn intervals_hold_the_images_of_their_members() {
    let mut random = Random::new(3);
    for function in FUNCTIONS {
        for _ in 0..4_000 {
            let (a, b) = (random.argument(function), random.argument(function));
            let interval = fast(a).hull(&fast(b));
            let Ok(image) = interval.function(function) else { continue };
            for _ in 0..4 {
                let member = if a.is_sign_positive() && b.is_sign_positive() && random.below(2) == 0 {
                    (a.sqrt() * b.sqrt()).clamp(a.min(b), a.max(b))
                } else {
                    (a + (b - a) * random.unit()).clamp(a.min(b), a.max(b))
                };
                let value = big(member, 96).function(function).unwrap();
                assert!(meets_fast(&value, &image), "{function:?} of {member:e} in {interval:?} is not in {image:?}");
            }
        }
    }
}

#[test]
fn arithmetic_of_intervals_holds_the_results_of_members() {
    let mut random = Random::new(4);
    for _ in 0..20_000 {
        let [a, b, c, d] = std::array::from_fn(|_| if random.below(8) == 0 { 0.0 } else { random.wide(3) });
        let (x, y) = (fast(a).hull(&fast(b)), fast(c).hull(&fast(d)));
        let pick = |random: &mut Random, a: f64, b: f64| (a + (b - a) * random.unit()).clamp(a.min(b), a.max(b));
        let (p, q) = (pick(&mut random, a, b), pick(&mut random, c, d));
        let (bp, bq) = (big(p, BITS), big(q, BITS));
        assert!(meets_fast(&bp.add(&bq), &x.add(&y)));
        assert!(meets_fast(&bp.sub(&bq), &x.sub(&y)));
        assert!(meets_fast(&bp.mul(&bq), &x.mul(&y)));
        assert!(meets_fast(&bp.abs(), &x.abs()) && meets_fast(&bp.neg(), &x.neg()));
        if let Ok(quotient) = x.div(&y) {
            assert!(meets_fast(&bp.div(&bq).unwrap(), &quotient));
        }
        if let Ok(angle) = x.atan2(&y) {
            assert!(meets_fast(&bp.atan2(&bq).unwrap(), &angle), "{p} {q} {x:?} {y:?} {angle:?}");
        }
        if let Ok(power) = x.pow(&y) {
            assert!(meets_fast(&bp.pow(&bq).unwrap(), &power), "{p} {q} {x:?} {y:?} {power:?}");
        }
    }
}

#[test]
fn angles_and_powers() {
    let mut random = Random::new(5);
    for i in 0..20_000 {
        let exponents = [3, 30, 300, 1000][i % 4];
        let zero_one = |random: &mut Random, x: f64| [x, x, x, 0.0, 1.0, -1.0][random.below(6) as usize];
        let (a, b) = (random.wide(exponents), random.wide(exponents));
        let (y, x) = (zero_one(&mut random, a), zero_one(&mut random, b));
        if y != 0.0 || x != 0.0 {
            let (outer, inner) = (fast(y).atan2(&fast(x)).unwrap(), big(y, BITS).atan2(&big(x, BITS)).unwrap());
            assert!(meets_fast(&inner, &outer), "atan2({y:e}, {x:e}): {inner:?} is outside {outer:?}");
            assert_eq!(outer.is_point(), inner.is_point(), "atan2({y:e}, {x:e})");
        }
        let base = if random.below(3) == 0 { random.below(200) as f64 / 8.0 } else { x.abs() };
        let power = if random.below(3) == 0 { random.below(100) as f64 / 8.0 - 4.0 } else { y };
        if base > 0.0 {
            let (outer, inner) =
                (fast(base).pow(&fast(power)).unwrap(), big(base, BITS).pow(&big(power, BITS)).unwrap());
            assert!(meets_fast(&inner, &outer), "{base:e}^{power:e}: {inner:?} is outside {outer:?}");
            assert!(!outer.is_point() || inner.is_point(), "{base:e}^{power:e}: {outer:?} is not exact");
        }
    }
}

#[test]
fn constants_that_are_no_doubles_are_enclosed() {
    for value in [
        Dyadic::new(false, u64::MAX, 0),
        Dyadic::new(true, u64::MAX, -1200),
        Dyadic::new(false, 3, 2000),
        Dyadic::pow2(-1080),
    ] {
        let outer = assay_float::F64Enclosure::exact(value, ());
        assert!(
            !outer.is_point() && meets_fast(&assay_float::BigEnclosure::exact(value, 64), &outer),
            "{value:?} {outer:?}"
        );
    }
    assert!(assay_float::F64Enclosure::exact(dyadic(5e-324), ()).is_point());
    assert!(meets_fast(&assay_float::BigEnclosure::pi(100), &assay_float::F64Enclosure::pi(())));
}
