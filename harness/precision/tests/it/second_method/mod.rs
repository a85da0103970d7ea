//! Independent reference for the permitted sets: a plain, slow evaluation of the text, compared
//! with the table's.
//!
//! It shares only the names of instructions, modes and formats, and the container of sets. Every
//! intermediate of a formula is enumerated (a selection where there are more than 70,000 values:
//! ends, neighbourhoods of zero and of powers of two, a spread), a rewriter writes out every
//! formula that the laws reach, real functions are `astro-float`'s at 192 bits and more, and
//! everything else is exact integer arithmetic.
//!
//! `comparisons.rs` has the comparisons of each instruction.
//! `ASSAY_FULL=1 cargo test -p assay-precision --release second_method` takes every input of 16 bits
//! rather than some.

mod arithmetic;
mod compare;
mod comparisons;
mod conditional;
mod conversions;
mod environment;
mod float8;
mod formulas;
mod functions;
mod inherited;
mod integers;
mod lists;
mod minmax;
mod num;
mod packing;
mod rewrite;
mod rules;
mod samples;
mod steps;
mod values;

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};
use assay_precision::{Modes, Op, Scalar, Shape};
use compare::{MODES, PreparedCall, Tally, scalar, share, stride};
use comparisons::{Comparison, Test, comparisons};
use num::{Rat, infinity};
use samples::Random;

/// Makes the comparisons of a test.
fn run(test: Test) {
    for &op in Op::ALL {
        for comparison in comparisons(op).into_iter().filter(|c| c.test == test) {
            for &scalar in &comparison.scalars {
                let sources = comparison.sources.iter().filter(|&&from| from != scalar).map(|&from| Some(from));
                let sources = if comparison.sources.is_empty() { vec![None] } else { sources.collect() };
                sources.into_iter().for_each(|from| comparison.make(op, scalar, from));
            }
        }
    }
}

#[test]
fn halves_of_discrete_instructions() {
    run(Test::HalvesOfDiscreteInstructions);
}

#[test]
fn halves_of_functions_with_a_stated_bound() {
    run(Test::HalvesOfFunctionsWithAStatedBound);
}

#[test]
fn halves_of_short_formulas() {
    run(Test::HalvesOfShortFormulas);
}

#[test]
fn halves_of_hyperbolic_functions() {
    run(Test::HalvesOfHyperbolicFunctions);
}

#[test]
fn halves_of_inverse_hyperbolic_functions() {
    run(Test::HalvesOfInverseHyperbolicFunctions);
}

#[test]
fn halves_of_long_formulas() {
    run(Test::HalvesOfLongFormulas);
}

#[test]
fn instructions_on_integers() {
    run(Test::Integers);
}

#[test]
fn packed_words() {
    run(Test::PackedWords);
}

#[test]
fn samples_of_arithmetic() {
    run(Test::SamplesOfArithmetic);
}

#[test]
fn samples_of_conversions() {
    run(Test::SamplesOfConversions);
}

#[test]
fn samples_across_invocations() {
    run(Test::SamplesAcrossInvocations);
}

#[test]
fn samples_of_functions_and_formulas_of_scalars() {
    run(Test::SamplesOfFunctionsAndFormulasOfScalars);
}

#[test]
fn samples_of_vectors_and_matrices() {
    run(Test::SamplesOfVectorsAndMatrices);
}

#[test]
fn nothing_is_required_without_a_stated_precision() {
    run(Test::UnstatedPrecision);
}

/// Each comparison is also made by the test that it names.
#[test]
fn every_instruction_is_compared() {
    for &op in Op::ALL {
        assert!(!comparisons(op).is_empty(), "{op} is compared by nothing; add it to `comparisons`");
        for Comparison { test, .. } in comparisons(op) {
            assert!(include_str!("mod.rs").contains(&format!("\n    run(Test::{test:?});")), "no test runs {test:?}");
        }
    }
}

/// A formula with a single value, at an irrational distance from the exact result on both sides,
/// which the reference once could not decide; an exact result by way of a quotient that is not
/// representable; and differences with only a few possible values, where the values between would
/// reach further.
#[test]
fn exact_cases_are_decided() {
    for (op, names, x) in [
        (Op::Radians, &["RoundingModeRTE"][..], 0x3f77),
        (Op::Degrees, &["RoundingModeRTZ"], 0x04f2),
        (Op::Cosh, &["RoundingModeRTE"], 0x149b),
        (Op::Normalize, &[], 0x4200),
        (Op::Normalize, &["RoundingModeRTE"], 0xc200),
        (Op::Asin, &[], 0x3aee),
        (Op::Asinh, &[], 0xb9ef),
        (Op::Asinh, &["RoundingModeRTZ"], 0xb9f1),
    ] {
        let mut tally = Tally::default();
        tally.compare(&scalar(op, F16, names), &[x]);
        tally.done(op.name());
    }
}

/// Conversions to float8 in every environment, decorated and undecorated.
fn to_float8(op: Op, to: Format, from: Scalar) -> Vec<PreparedCall> {
    let modes = MODES.iter().map(|names| compare::modes(names));
    let both = modes.flat_map(|modes| [false, true].map(|saturated| Modes { saturated, ..modes }));
    both.map(|modes| PreparedCall::new(op, Scalar::Float(to), Shape::Scalar, Some(from), modes)).collect()
}

/// Every operand in some environments (in all with `ASSAY_FULL`), whose number is coprime to the
/// step.
#[test]
fn all_halves_and_bfloat16_convert_to_float8() {
    for (to, from) in [F8_E4M3, F8_E5M2].into_iter().flat_map(|to| [(to, F16), (to, BF16)]) {
        let calls = to_float8(Op::FConvert, to, Scalar::Float(from));
        let mut tally = Tally::default();
        for x in 0..=0xffff {
            let first = x as usize % stride(29);
            calls.iter().skip(first).step_by(stride(29)).for_each(|call| tally.compare_readings(call, &[x]));
        }
        tally.done(&format!("{} from {}", to.name, from.name));
    }
}

/// Every value of float8, midpoints of two values, the first values past the largest by half an ulp
/// and by one, and the neighbours of each.
#[test]
fn boundaries_of_float8() {
    for to in [F8_E4M3, F8_E5M2] {
        let (mut values, next) = float8::magnitudes(to).clone();
        values.push(next);
        let halves = values.windows(2).map(|pair| pair[0].plus(&pair[1]).shift(-1)).collect::<Vec<_>>();
        for from in [F16, BF16, F32, F64] {
            let mut operands = samples::specials(from);
            for value in values.iter().chain(&halves) {
                let at = value.down(from).cast_unsigned();
                operands.extend([at.saturating_sub(1), at, at + 1].into_iter().flat_map(|x| [x, x | from.sign_mask()]));
            }
            // NaNs of several payloads.
            let nan = infinity(from).cast_unsigned();
            operands.extend([nan | 1, nan | 5, from.mask(), from.magnitude_mask(), from.sign_mask() | nan | 3]);
            let mut tally = Tally::default();
            for (k, call) in to_float8(Op::FConvert, to, Scalar::Float(from)).iter().enumerate() {
                let some = operands.iter().skip(k % stride(3)).step_by(stride(3));
                some.for_each(|&x| tally.compare_readings(call, &[x]));
            }
            tally.done(&format!("{} from {}", to.name, from.name));
        }
        let other = if to == F8_E4M3 { F8_E5M2 } else { F8_E4M3 };
        let mut tally = Tally::default();
        for call in to_float8(Op::FConvert, to, Scalar::Float(other)) {
            (0..=0xff).for_each(|x| tally.compare_readings(&call, &[x]));
        }
        for (op, width, signed) in
            [(Op::ConvertSToF, 8, true), (Op::ConvertSToF, 32, true), (Op::ConvertUToF, 64, false)]
        {
            let int = Scalar::Int { width, signed };
            let mut operands = samples::integers(width);
            operands.extend([447, 448, 449, 463, 464, 465, 479, 480, 481, 57_344, 61_440, 65_535, 65_536]);
            operands.retain(|&x| width == 64 || x >> width == 0);
            for call in to_float8(op, to, int) {
                operands.iter().for_each(|x| tally.compare_readings(&call, &[*x]));
            }
        }
        tally.done(&format!("{} from {} and integers", to.name, other.name));
    }
}

/// The neighbours of each number in the middle between two normalised integers.
#[test]
fn boundaries_of_packed_integers() {
    for (op, width, largest) in [
        (Op::PackSnorm4x8, 8, 127),
        (Op::PackUnorm4x8, 8, 255),
        (Op::PackSnorm2x16, 16, 32_767),
        (Op::PackUnorm2x16, 16, 65_535),
    ] {
        let mut tally = Tally::default();
        let step = stride(if width == 8 { 11 } else { 997 });
        for (k, names) in MODES.iter().enumerate() {
            let call = scalar(op, F32, names);
            for n in (k % step..largest as usize).step_by(step) {
                let middle = Rat::scaled(2 * n as i64 + 1, -1).over(&Rat::int(largest)).down(F32).cast_unsigned();
                let near = [middle - 1, middle, middle + 1, middle + 2];
                for operands in near.chunks(32 / width) {
                    tally.compare(&call, operands);
                    tally.compare(&call, &operands.iter().map(|x| x | F32.sign_mask()).collect::<Vec<_>>());
                }
            }
        }
        tally.done(op.name());
    }
}

/// Both readings of `OpDot`. Those of bfloat16 are rounded once, and by the formula.
#[test]
fn samples_of_dot_products() {
    let mut random = Random(0x243f_6a88_85a3_08d3);
    let mut tally = Tally::default();
    for format in [BF16, F16, F32] {
        let known = samples::specials(format);
        let sign = 1 << (format.width - 1);
        for n in [2, 3, 4] {
            let shape = Shape::Vector(n);
            for names in MODES {
                let call = PreparedCall::new(Op::Dot, Scalar::Float(format), shape, None, compare::modes(names));
                let n = n as usize;
                for _ in 0..share(if n == 2 { 2_000 } else { 200 }) {
                    let mut x: Vec<u64> = (0..2 * n).map(|_| random.float(format, &known)).collect();
                    match random.below(4) {
                        // Products that nearly cancel.
                        0 => (x[1], x[n + 1]) = (x[0] ^ sign, x[n].wrapping_add(random.below(3))),
                        // Equal and opposite factors.
                        1 => (1..n).for_each(|i| x[n + i] = x[n] ^ (random.below(2) * sign)),
                        2 => x[n + 1] = x[random.below(2) as usize * n],
                        _ => {}
                    }
                    tally.compare_readings(&call, &x);
                }
            }
        }
    }
    tally.done("OpDot");
}
