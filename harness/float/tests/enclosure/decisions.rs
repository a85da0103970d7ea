//! Every kind of enclosure makes the same decisions, the property on which verdicts rest. These
//! tests are about open ends.

use crate::common::{FUNCTIONS, Random, big, dyadic, fast};
use assay_float::{
    BF16, BigEnclosure, Dyadic, Enclosure, F8_E4M3, F8_E5M2, F16, F32, F64, F64Enclosure, Format, Function, Rank,
    Undecided,
};

const FORMATS: [Format; 6] = [F8_E4M3, F8_E5M2, F16, BF16, F32, F64];

/// A random formula.
enum Formula {
    Value(f64),
    Function(Function, Box<Formula>),
    Binary(u64, Box<Formula>, Box<Formula>),
}

impl Formula {
    fn random(random: &mut Random, depth: u32, values: &[f64]) -> Formula {
        if depth == 0 || random.below(5) == 0 {
            return Formula::Value(values[random.below(values.len() as u64) as usize]);
        }
        if random.below(4) == 0 {
            let function = FUNCTIONS[random.below(18) as usize];
            return Formula::Function(function, Box::new(Formula::random(random, depth - 1, values)));
        }
        let operation = random.below(12);
        let left = Box::new(Formula::random(random, depth - 1, values));
        Formula::Binary(operation, left, Box::new(Formula::random(random, depth - 1, values)))
    }

    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<R, Undecided> {
        match self {
            Formula::Value(value) => Ok(R::exact(dyadic(*value), precision)),
            Formula::Function(function, x) => x.evaluate::<R>(precision)?.function(*function),
            Formula::Binary(operation, x, y) => {
                let (x, y): (R, R) = (x.evaluate(precision)?, y.evaluate(precision)?);
                Ok(match operation {
                    0 | 1 => x.add(&y),
                    2 | 3 => x.sub(&y),
                    4 => x.mul(&y),
                    5 => x.div(&y)?,
                    6 => x.min(&y),
                    7 => x.max(&y),
                    8 => x.abs().neg(),
                    9 => x.abs().pow(&y)?,
                    10 => x.atan2(&y)?,
                    _ => x.hull(&y),
                })
            }
        }
    }
}

/// Answers to all questions about a number.
fn answers<R: Enclosure>(value: &R, precision: R::Precision) -> Vec<Result<Rank, Undecided>> {
    let mut all = vec![value.binade().map(Rank::from)];
    for format in FORMATS {
        all.extend([value.ceil_rank(format), value.floor_rank(format), value.nearest_rank(format)]);
    }
    for constant in [Dyadic::ZERO, Dyadic::ONE, Dyadic::int(-1), Dyadic::pow2(-24), Dyadic::new(false, 3, -1)] {
        all.push(value.compare(&R::exact(constant, precision)).map(|order| order as Rank));
    }
    all
}

#[test]
fn decisions_agree() {
    let mut random = Random::new(40);
    let (mut decided, mut fine) = (0u64, 0u64);
    for _ in 0..60_000 {
        // Few values, so that they coincide often, and many that are special or minute.
        let mut values =
            vec![0.0, 1.0, -1.0, 0.5, 2.0, 2f64.powi(-100), -2f64.powi(-140), 1.0 + 2f64.powi(-23), 65_504.0, 448.0];
        for _ in 0..4 {
            values.push(f64::from(random.wide(12) as f32));
            values.push(f64::from(f32::from_bits(random.bits() as u32)));
            values.push(random.wide(300));
        }
        values.retain(|value| value.is_finite());
        let formula = Formula::random(&mut random, 3, &values);
        // The reference: enough precision for sums of doubles.
        let Ok(reference) = formula.evaluate::<BigEnclosure>(1_000) else { continue };
        let expected = answers(&reference, 1_000);
        fine += expected.iter().filter(|answer| answer.is_ok()).count() as u64;
        let check = |got: Vec<Result<Rank, Undecided>>, kind: &str, value: &dyn std::fmt::Debug| {
            for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
                if let (Ok(got), Ok(expected)) = (got, expected) {
                    assert_eq!(got, expected, "question {i}, {kind}: {value:?} against {reference:?}");
                }
            }
            got.iter().filter(|answer| answer.is_ok()).count() as u64
        };
        if let Ok(value) = formula.evaluate::<F64Enclosure>(()) {
            decided += check(answers(&value, ()), "fast", &value);
            assert!(!value.is_point() || reference.is_point(), "{value:?} is not exact: {reference:?}");
        }
        if let Ok(value) = formula.evaluate::<BigEnclosure>(96) {
            check(answers(&value, 96), "96 bits", &value);
            assert!(!value.is_point() || reference.is_point(), "{value:?} is not exact: {reference:?}");
        }
    }
    // Doubles decide nearly everything about numbers in the range of the formats.
    assert!(decided * 100 > fine * 85, "{decided} of {fine}");
}

/// Doubles decide operations on single-precision numbers, however far apart these are.
#[test]
fn single_precision_arithmetic_needs_no_more() {
    let mut random = Random::new(41);
    for _ in 0..100_000 {
        let [x, y] = std::array::from_fn(|_| f64::from(f32::from_bits(random.bits() as u32)));
        if !x.is_finite() || !y.is_finite() || y == 0.0 {
            continue;
        }
        let (a, b) = (fast(x), fast(y));
        for value in [a.add(&b), a.sub(&b), a.mul(&b), a.div(&b).unwrap()] {
            assert!(value.ceil_rank(F32).is_ok() && value.floor_rank(F32).is_ok(), "{x:e} {y:e} {value:?}");
            assert!(value.nearest_rank(F32).is_ok(), "{x:e} {y:e} {value:?}");
        }
    }
}

/// Functions close to the value that they have at zero, with a bound added.
#[test]
fn minute_arguments_are_decided_at_once() {
    for k in [30, 60, 100, 149] {
        let x = 2f64.powi(-k);
        for (sign, function) in [1.0, -1.0]
            .into_iter()
            .flat_map(|s| [Function::Exp, Function::Exp2, Function::Cos, Function::Cosh].map(|f| (s, f)))
        {
            let value = fast(sign * x).function(function).unwrap();
            let bound = fast(3.0 * 2f64.powi(-23));
            let above = value.compare(&fast(1.0)).unwrap().is_gt();
            assert_eq!(above, function == Function::Cosh || (sign > 0.0 && function != Function::Cos));
            for value in [value.sub(&bound), value.add(&bound), value] {
                let reference = big(sign * x, 400).function(function).unwrap();
                let (floor, ceil) = (value.floor_rank(F32), value.ceil_rank(F32));
                assert!(floor.is_ok() && ceil.is_ok() && floor != ceil, "{function:?}({x:e}) {value:?} {reference:?}");
            }
        }
        for function in [Function::Sin, Function::Tan, Function::Atan, Function::Asinh, Function::Atanh, Function::Tanh]
        {
            let value = fast(x).function(function).unwrap();
            assert!(value.ceil_rank(F32).is_ok() && value.floor_rank(F32).is_ok(), "{function:?}({x:e}) {value:?}");
        }
    }
    let one = fast(1.0);
    assert!(big(1e30, 96).function(Function::Tanh).unwrap().compare(&big(1.0, 96)).is_ok_and(|order| order.is_lt()));
    assert!(fast(1e30).function(Function::Tanh).unwrap().compare(&one).is_ok_and(|order| order.is_lt()));
    // A product that underflows keeps its sign.
    let minute = fast(1e-300).mul(&fast(-1e-300));
    assert_eq!((minute.nearest_rank(F32), minute.ceil_rank(F64), minute.floor_rank(F64)), (Ok(-1), Ok(-1), Ok(-2)));
}
