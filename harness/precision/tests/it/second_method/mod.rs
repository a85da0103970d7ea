//! Independent reference for the permitted sets: a plain, slow evaluation of the text, compared
//! with the table's.
//!
//! It shares only the names of instructions, modes and formats, and the container of sets. Every
//! intermediate of a formula is enumerated (a selection where there are more than 70,000 values:
//! ends, neighbourhoods of zero and of powers of two, a spread), a rewriter writes out every
//! formula that the laws reach, real functions are `astro-float`'s at 192 bits and more, and
//! everything else is exact integer arithmetic.
//!
//! `ASSAY_FULL=1 cargo test -p assay-precision --release second_method` evaluates every
//! input of the half-precision unary instructions rather than some.

mod arithmetic;
mod compare;
mod conditional;
mod conversions;
mod environment;
mod float8;
mod formulas;
mod functions;
mod inherited;
mod lists;
mod minmax;
mod num;
mod rewrite;
mod rules;
mod samples;
mod steps;
mod values;

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};
use assay_precision::{Call, Modes, Op, Scalar, Shape};
use compare::{MODES, Tally, scalar, share, stride};
use num::infinity;
use samples::Random;

/// All inputs of unary half-precision instructions, or every `every`-th of them in a plain run.
fn halves(ops: &[Op], every: usize) {
    for &op in ops {
        let mut tally = Tally::default();
        for (k, names) in MODES.iter().enumerate() {
            let call = scalar(op, F16, names);
            let step = stride(every);
            if step == 1 {
                (0..0x1_0000).for_each(|x| tally.compare(&call, &[x]));
                continue;
            }
            // Another selection for every mode, always with the ends and the special values.
            let some = (k % step..0x1_0000).step_by(step).map(|x| x as u64);
            for x in some.chain([0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00]) {
                tally.compare(&call, &[x]);
                tally.compare(&call, &[x ^ 0x8000]);
            }
        }
        tally.done(op.name());
    }
}

#[test]
fn halves_of_discrete_instructions() {
    let ops = [Op::FNegate, Op::FAbs, Op::FSign, Op::Round, Op::RoundEven, Op::Trunc, Op::Floor, Op::Ceil, Op::Fract];
    halves(&ops, 127);
    halves(&[Op::Modf, Op::ModfStruct, Op::Frexp, Op::FrexpStruct, Op::IsNan, Op::IsInf], 127);
}

#[test]
fn halves_of_functions_with_a_stated_bound() {
    halves(&[Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::InverseSqrt, Op::Sin, Op::Cos, Op::Atan], 997);
}

#[test]
fn halves_of_short_formulas() {
    halves(&[Op::Radians, Op::Degrees, Op::Sqrt, Op::Length, Op::Normalize], 509);
}

#[test]
fn halves_of_hyperbolic_functions() {
    halves(&[Op::Sinh, Op::Cosh], 16381);
}

#[test]
fn halves_of_inverse_hyperbolic_functions() {
    halves(&[Op::Asinh, Op::Acosh, Op::Atanh], 16381);
}

#[test]
fn halves_of_long_formulas() {
    halves(&[Op::Asin, Op::Acos], 16381);
    halves(&[Op::Tanh], 16381);
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

/// Pairs of special values if there are at most two operands, and random operands of several kinds.
fn sampled(op: Op, f: Format, shape: Shape, from: Option<Scalar>, count: usize, modes: &[&[&str]]) {
    let mut tally = Tally::default();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (op as u64) << 32 ^ u64::from(f.width));
    for names in modes {
        let call = Call::new(op, Scalar::Float(f), shape, from, compare::modes(names)).unwrap();
        let slots: Vec<Scalar> = call.operand_slots().collect();
        let known: Vec<Vec<u64>> =
            slots.iter().map(|s| s.format().map_or_else(|| samples::integers(*s), samples::specials)).collect();
        if slots.len() <= 2 {
            // A part of the pairs in a plain run; the number of special values is coprime to
            // eleven.
            let every = if slots.len() == 1 { 1 } else { stride(11) };
            let seconds: &[u64] = known.get(1).map_or(&[0], Vec::as_slice);
            let pairs = known[0].iter().flat_map(|&a| seconds.iter().map(move |&b| [a, b]));
            pairs.step_by(every).for_each(|pair| tally.compare(&call, &pair[..slots.len()]));
        }
        for _ in 0..share(count) {
            let x: Vec<u64> = slots
                .iter()
                .zip(&known)
                .map(|(s, known)| match s.format() {
                    Some(f) => random.operand(f, known),
                    None => random.pick(known),
                })
                .collect();
            match op {
                Op::SmoothStep => tally.compare_readings(&call, &x),
                _ => tally.compare(&call, &x),
            }
        }
    }
    tally.done(&format!("{op} {} {shape}", f.name));
}

#[test]
fn samples_of_arithmetic() {
    let ops = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FmaKHR, Op::FMin, Op::FMax, Op::NMin, Op::NMax];
    let more = [Op::FClamp, Op::NClamp, Op::Step, Op::FOrdLessThan, Op::FUnordEqual, Op::FUnordNotEqual, Op::Fma];
    for &op in ops.iter().chain(&more) {
        for f in [F16, F32, F64] {
            sampled(op, f, Shape::Scalar, None, 60, MODES);
        }
    }
    sampled(Op::DPdx, F32, Shape::Scalar, None, 60, MODES);
}

#[test]
fn samples_of_conversions() {
    let float = Scalar::Float;
    let int = |width, signed| Scalar::Int { width, signed };
    for (to, from) in [(F16, F32), (F16, F64), (F32, F64), (F32, F16), (BF16, F32), (F32, BF16), (F64, F32)] {
        sampled(Op::FConvert, to, Shape::Scalar, Some(float(from)), 100, MODES);
    }
    sampled(Op::QuantizeToF16, F32, Shape::Scalar, None, 100, MODES);
    for to in [F16, BF16, F32, F64] {
        sampled(Op::ConvertSToF, to, Shape::Scalar, Some(int(32, true)), 20, &MODES[..5]);
        sampled(Op::ConvertSToF, to, Shape::Scalar, Some(int(64, true)), 20, &MODES[..5]);
        sampled(Op::ConvertUToF, to, Shape::Scalar, Some(int(64, false)), 20, &MODES[..5]);
    }
    for to in [F16, F32, F64] {
        sampled(Op::Ldexp, to, Shape::Scalar, None, 60, &MODES[..5]);
    }
}

/// Conversions to float8 in every environment, decorated and undecorated.
fn to_float8(op: Op, to: Format, from: Scalar) -> Vec<Call> {
    let modes = MODES.iter().map(|names| compare::modes(names));
    let both = modes.flat_map(|modes| [false, true].map(|saturated| Modes { saturated, ..modes }));
    both.map(|modes| Call::new(op, Scalar::Float(to), Shape::Scalar, Some(from), modes).unwrap()).collect()
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
            let mut operands = samples::integers(int);
            operands.extend([447, 448, 449, 463, 464, 465, 479, 480, 481, 57_344, 61_440, 65_535, 65_536]);
            operands.retain(|&x| width == 64 || x >> width == 0);
            for call in to_float8(op, to, int) {
                operands.iter().for_each(|x| tally.compare_readings(&call, &[*x]));
            }
        }
        tally.done(&format!("{} from {} and integers", to.name, other.name));
    }
}

/// Both readings of `OpDot` of bfloat16: rounded once, and by the formula.
#[test]
fn samples_of_dot_products_of_bfloat16() {
    let mut random = Random(0x243f_6a88_85a3_08d3);
    let known = samples::specials(BF16);
    let mut tally = Tally::default();
    for n in [2, 3, 4] {
        for names in MODES {
            let call = Call::new(Op::Dot, Scalar::Float(BF16), Shape::Vector(n), None, compare::modes(names)).unwrap();
            for _ in 0..share(if n == 2 { 4_000 } else { 400 }) {
                let mut x: Vec<u64> = (0..2 * n).map(|_| random.operand(BF16, &known)).collect();
                if random.below(4) == 0 {
                    // Products that nearly cancel.
                    (x[1], x[n as usize + 1]) = (x[0] ^ 0x8000, x[n as usize].wrapping_add(random.below(3)));
                }
                tally.compare_readings(&call, &x);
            }
        }
    }
    tally.done("OpDot of bfloat16");
}

#[test]
fn samples_of_functions_and_formulas_of_scalars() {
    for op in [Op::FRem, Op::FMod, Op::FMix] {
        for f in [F16, F32, F64] {
            sampled(op, f, Shape::Scalar, None, 20, &MODES[..8]);
        }
    }
    for f in [F16, F32] {
        sampled(Op::SmoothStep, f, Shape::Scalar, None, 20, MODES);
        sampled(Op::Atan2, f, Shape::Scalar, None, 20, &MODES[..4]);
        sampled(Op::Pow, f, Shape::Scalar, None, 6, &MODES[..2]);
    }
    for op in [Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Atan] {
        sampled(op, F32, Shape::Scalar, None, 60, MODES);
    }
    for op in [Op::Tan, Op::Asin, Op::Acos, Op::Sinh, Op::Cosh, Op::Asinh, Op::Acosh, Op::Atanh] {
        sampled(op, F32, Shape::Scalar, None, 20, &MODES[..4]);
    }
    for f in [F32, F64] {
        sampled(Op::InverseSqrt, f, Shape::Scalar, None, 60, MODES);
        sampled(Op::Sqrt, f, Shape::Scalar, None, 20, MODES);
    }
}

#[test]
fn samples_of_vectors_and_matrices() {
    let pair = Shape::Vector(2);
    for f in [F16, F32] {
        for op in [Op::Dot, Op::Distance, Op::Reflect, Op::FaceForward] {
            sampled(op, f, pair, None, 20, MODES);
        }
        sampled(Op::Refract, f, pair, None, 6, &MODES[..8]);
        sampled(Op::Normalize, f, pair, None, 20, &MODES[..4]);
        sampled(Op::Length, f, pair, None, 20, &MODES[..4]);
        sampled(Op::Cross, f, Shape::Vector(3), None, 20, MODES);
        let matrix = Shape::Matrix { columns: 2, rows: 3 };
        for op in [Op::MatrixTimesVector, Op::VectorTimesMatrix, Op::MatrixTimesMatrix, Op::OuterProduct] {
            sampled(op, f, matrix, None, 10, MODES);
        }
        sampled(Op::MatrixTimesScalar, f, matrix, None, 10, MODES);
    }
}
