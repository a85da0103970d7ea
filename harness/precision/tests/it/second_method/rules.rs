//! One row at a time: the permitted results of an instruction for operands with exactly these
//! values.

use crate::second_method::{
    environment::{Flags, Value},
    formulas,
    functions::Fun,
    inherited, integers, minmax,
    num::{Index, Q, Rat, infinity},
    packing,
    steps::Env,
    values::{Values, Zeros},
};
use assay_float::{BF16, Set};
use assay_precision::{Call, Op, Rounding, Scalar};
use std::cmp::Ordering;

/// Results that a rule permits, before the result is flushed.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Anything,
    /// Integers and booleans.
    Bits(Set),
    Float {
        values: Values,
        /// Set if the exact result may be considered denormal.
        tiny: bool,
        /// Zeros that represent a zero result if signs bind.
        zeros: Zeros,
    },
}

/// Returns true if the result for special operands is defined in the usual reading even if they are
/// assumed not to occur. Stated flags always bind: "if this assumption does not hold then the
/// operation returns an undefined value".
pub(crate) fn defined_for_specials(call: &Call) -> bool {
    matches!(call.op, Op::IsNan | Op::IsInf) && call.modes.fast_math.is_none()
}

/// Returns true if the instruction works on whole vectors.
fn mixes(op: Op) -> bool {
    matches!(
        op,
        Op::PackDouble2x32
            | Op::Dot
            | Op::Length
            | Op::Distance
            | Op::Cross
            | Op::Normalize
            | Op::FaceForward
            | Op::Reflect
            | Op::Refract
    )
}

/// Factors of a component of a product with matrices: all of one side, then all of the other.
fn factors(call: &Call, slot: usize) -> Option<Vec<usize>> {
    let (rows, columns) = (call.operands[0].rows as usize, call.operands[0].columns as usize);
    let first = call.operands[0].len();
    Some(match call.op {
        // Element (row, k) of the matrix and k of the vector.
        Op::MatrixTimesVector => (0..columns).map(|k| k * rows + slot).chain((0..columns).map(|k| first + k)).collect(),
        // Element k of the vector and (k, slot) of the matrix.
        Op::VectorTimesMatrix => (0..first).chain((0..first).map(|k| first + slot * first + k)).collect(),
        Op::MatrixTimesMatrix => {
            let (row, column) = (slot % rows, slot / rows);
            let left = (0..columns).map(|k| k * rows + row);
            left.chain((0..columns).map(|k| first + column * columns + k)).collect()
        }
        Op::OuterProduct => vec![slot % first, first + slot / first],
        _ => return None,
    })
}

/// Operand slots that a result slot depends on.
pub(crate) fn inputs(call: &Call, slot: usize) -> Vec<usize> {
    let lens: Vec<usize> = call.operands.iter().map(|t| t.len()).collect();
    let all: usize = lens.iter().sum();
    if mixes(call.op) {
        return (0..all).collect();
    }
    if let Some(factors) = factors(call, slot) {
        return factors;
    }
    let component = slot % lens[0];
    let starts = lens.iter().scan(0, |at, &n| {
        let start = *at;
        *at += n;
        Some((start, n))
    });
    starts.map(|(start, n)| if n == 1 { start } else { start + component }).collect()
}

fn float(values: Values, zeros: Zeros) -> Option<Outcome> {
    Some(Outcome::Float { values, tiny: false, zeros })
}

fn nan() -> Option<Outcome> {
    float(Values::nan(), Zeros::BOTH)
}

fn exactly(index: Index, negative: bool) -> Option<Outcome> {
    float(Values::point(index), Zeros::one(negative))
}

fn bits(b: u64) -> Option<Outcome> {
    Some(Outcome::Bits(Set::point(b as i64)))
}

/// Exact number, correctly rounded; an exact zero has the given signs.
fn rounded(env: Env, q: &Rat, zero: Zeros) -> Option<Outcome> {
    let zeros = if q.sign() == 0 { zero } else { Zeros::one(q.sign() < 0) };
    Some(Outcome::Float { values: env.round(q), tiny: env.is_tiny(q), zeros })
}

/// Exact sum of products, rounded once: for bfloat16, "correctly rounded with implementation
/// defined rounding mode".
fn rounded_dot(env: Env, v: &[Value]) -> Option<Outcome> {
    if v.contains(&Value::Nan) {
        return nan();
    }
    let numbers: Vec<(Index, bool)> = v.iter().map(|v| v.number()).collect();
    let pairs = || numbers.iter().zip(&numbers[numbers.len() / 2..]);
    let is_infinite = |i: Index| env.is_infinite(i);
    if pairs().any(|(a, b)| is_infinite(a.0) && b.0 == 0 || a.0 == 0 && is_infinite(b.0)) {
        return nan();
    }
    let infinite = pairs().filter(|(a, b)| is_infinite(a.0) || is_infinite(b.0));
    let mut signs: Vec<bool> = infinite.map(|(a, b)| a.1 != b.1).collect();
    signs.dedup();
    match signs[..] {
        [] => {}
        [negative] => return exactly(if negative { -infinity(env.f) } else { infinity(env.f) }, negative),
        _ => return nan(),
    }
    let values: Vec<Rat> = numbers.iter().map(|&(i, _)| Rat::value(env.f, i)).collect();
    let (a, b) = values.split_at(values.len() / 2);
    rounded(env, &inherited::exact_dot(a, b), Zeros::BOTH)
}

/// Returns true if nothing is stated: "GLSL.std.450 extended instructions not listed above and not
/// defined in terms of the above have implementation-defined precision", and the core table does not
/// list sums and products over a subgroup.
fn is_unstated(op: Op) -> bool {
    matches!(
        op,
        Op::Determinant
            | Op::MatrixInverse
            | Op::InterpolateAtCentroid
            | Op::InterpolateAtSample
            | Op::InterpolateAtOffset
            | Op::GroupNonUniformFAdd
            | Op::GroupNonUniformFMul
    )
}

/// Rule of a row for operands with these values and bits; `None` if this method has none.
pub(crate) fn rule(
    call: &Call,
    slot: usize,
    env: Option<Env>,
    flags: Flags,
    v: &[Value],
    bits: &[u64],
) -> Option<Outcome> {
    if is_unstated(call.op) {
        return Some(Outcome::Anything);
    }
    if let Some(outcome) = discrete(call, slot, v).or_else(|| integers::rule(call, slot, v)) {
        return Some(outcome);
    }
    let env = env?;
    let chosen = || minmax::choice(call.op, slot, env, v, bits);
    if let Some(outcome) = packing::rule(call, slot, env, flags, v).or_else(chosen) {
        return Some(outcome);
    }
    if crate::second_method::float8::is_float8(env.f) {
        return Some(crate::second_method::float8::convert(call, env.f, flags, v[0]));
    }
    if call.op == Op::Dot && env.f == BF16 && !flags.lenient {
        return rounded_dot(env, v);
    }
    if let Some(outcome) = crate::second_method::conversions::convert(call, env, v) {
        return Some(outcome);
    }
    if v.contains(&Value::Nan) {
        // The instruction set does not define the functions of real numbers for a NaN.
        if call.op == Op::FSign {
            let one = Rat::int(1).down(env.f);
            let mut any = Values::point(one);
            any.add(-one, -one);
            any.add(0, 0);
            return float(any, Zeros::BOTH);
        }
        let modf = matches!(call.op, Op::Modf | Op::ModfStruct);
        let real = matches!(call.op, Op::Fract | Op::Frexp | Op::FrexpStruct | Op::FRem | Op::FMod)
            || (modf && slot < call.operands[0].len())
            || (call.op >= Op::Radians && !modf)
            || crate::second_method::formulas::is_sum(call.op);
        return if real { Some(Outcome::Anything) } else { nan() };
    }
    crate::second_method::arithmetic::core(call.op, env, flags, v)
        .or_else(|| single(call, slot, env, flags, v))
        .or_else(|| from_formula(call, slot, env, flags, v))
}

/// Results that are integers or booleans.
fn discrete(call: &Call, slot: usize, v: &[Value]) -> Option<Outcome> {
    let ordered = |want: fn(Ordering) -> bool, unordered: bool| {
        let (a, b) = match (v[0], v[1]) {
            (Value::Nan, _) | (_, Value::Nan) => return bits(u64::from(unordered)),
            (a, b) => (a.number().0, b.number().0),
        };
        bits(u64::from(want(a.cmp(&b))))
    };
    let float = || call.operands[0].scalar.format().unwrap();
    match call.op {
        Op::IsNan => bits(u64::from(v[0] == Value::Nan)),
        Op::IsInf => bits(u64::from(v[0] != Value::Nan && v[0].number().0.abs() == infinity(float()))),
        // "An ordered-and-equal compare is used."
        Op::FOrdEqual | Op::GroupNonUniformAllEqual => ordered(Ordering::is_eq, false),
        Op::FUnordEqual => ordered(Ordering::is_eq, true),
        Op::FOrdNotEqual => ordered(Ordering::is_ne, false),
        Op::FUnordNotEqual => ordered(Ordering::is_ne, true),
        Op::FOrdLessThan => ordered(Ordering::is_lt, false),
        Op::FUnordLessThan => ordered(Ordering::is_lt, true),
        Op::FOrdGreaterThan => ordered(Ordering::is_gt, false),
        Op::FUnordGreaterThan => ordered(Ordering::is_gt, true),
        Op::FOrdLessThanEqual => ordered(Ordering::is_le, false),
        Op::FUnordLessThanEqual => ordered(Ordering::is_le, true),
        Op::FOrdGreaterThanEqual => ordered(Ordering::is_ge, false),
        Op::FUnordGreaterThanEqual => ordered(Ordering::is_ge, true),
        Op::ConvertFToU | Op::ConvertFToS => {
            let Scalar::Int { width, signed } = call.results[0].scalar else { return None };
            let Value::Number { index, .. } = v[0] else { return Some(Outcome::Anything) };
            if index.abs() == infinity(float()) {
                return Some(Outcome::Anything);
            }
            let q = Rat::value(float(), index);
            let magnitude = q.abs().floor();
            let limit = num_bigint::BigInt::from(1) << (width - u32::from(signed));
            let fits = if q.sign() >= 0 { magnitude < limit } else { signed && magnitude <= limit };
            let fits = fits || magnitude == 0.into();
            if !fits {
                return Some(Outcome::Anything);
            }
            let m = magnitude.to_u64_digits().1.first().copied().unwrap_or(0);
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            bits(if q.sign() < 0 { m.wrapping_neg() & mask } else { m })
        }
        Op::Frexp | Op::FrexpStruct if slot >= call.operands[0].len() => {
            let Value::Number { index, .. } = v[0] else { return Some(Outcome::Anything) };
            if index.abs() == infinity(float()) {
                return Some(Outcome::Anything);
            }
            let e = if index == 0 { 0 } else { Rat::value(float(), index).binade().0 + 1 };
            bits(u64::from(e as i32 as u32))
        }
        _ => None,
    }
}

/// Component-wise instructions of one operand, and those of two or three operands that are not
/// arithmetic.
fn single(call: &Call, slot: usize, env: Env, flags: Flags, v: &[Value]) -> Option<Outcome> {
    let f = env.f;
    let (i, negative) = v[0].number();
    let infinite = env.is_infinite(i);
    let q = if infinite { Rat::int(0) } else { Rat::value(f, i) };
    let whole = |n: num_bigint::BigInt| Q { n, d: 1.into() }.down(f);
    let floor = || whole(q.floor());
    let ceil = || -whole(q.negated().floor());
    let trunc = || if negative { ceil() } else { floor() };
    match call.op {
        Op::FNegate => exactly(-i, !negative),
        Op::FAbs => exactly(i.abs(), false),
        Op::FSign => {
            let zeros = if negative { Zeros::BOTH } else { Zeros::one(false) };
            float(Values::point(Rat::int(i.signum()).down(f)), zeros)
        }
        Op::Round | Op::RoundEven | Op::Trunc | Op::Floor | Op::Ceil if infinite => exactly(i, negative),
        Op::Trunc => exactly(trunc(), negative),
        Op::Floor => exactly(floor(), negative),
        Op::Ceil => exactly(ceil(), negative),
        Op::Round | Op::RoundEven => {
            let twice = q.shift(1);
            let half = (&twice.floor() * &twice.d == twice.n) && (twice.floor() % 2 != 0.into());
            let nearest = whole(q.plus(&Rat::scaled(1, -1)).floor());
            if !half {
                return exactly(nearest, negative);
            }
            if call.op == Op::Round {
                let mut both = Values::point(floor());
                both.add(ceil(), ceil());
                return float(both, Zeros::one(negative));
            }
            let even = q.floor() % 2 == 0.into();
            exactly(if even { floor() } else { ceil() }, negative)
        }
        // Infinity minus infinity.
        Op::Fract if infinite => Some(Outcome::Anything),
        // The instruction set names the result.
        Op::Log | Op::Log2 if q.cmp(&Rat::int(1)).is_eq() => exactly(0, false),
        Op::Exp | Op::Exp2 if infinite && negative => exactly(0, false),
        Op::Exp | Op::Exp2 if infinite => exactly(i, false),
        Op::Log | Op::Log2 | Op::Sqrt if infinite && !negative => exactly(i, false),
        Op::InverseSqrt if infinite && !negative => exactly(0, false),
        Op::ModfStruct if infinite && slot < call.operands[0].len() => exactly(0, negative),
        Op::Fract => {
            let rest = q.minus(&Q { n: q.floor(), d: 1.into() });
            // "fract(±0) = +0"; for other operands x - x is -0 if results are rounded down.
            let either = env.rounding == Rounding::Undeclared && i != 0;
            let zero = if either { Zeros::BOTH } else { Zeros::one(false) };
            rounded(env, &rest, zero)
        }
        Op::Modf | Op::ModfStruct => {
            if slot >= call.operands[0].len() {
                return exactly(if infinite { i } else { trunc() }, negative);
            }
            if infinite {
                return Some(Outcome::Anything);
            }
            rounded(env, &q.minus(&Rat::value(f, trunc())), Zeros::one(negative))
        }
        Op::Frexp | Op::FrexpStruct => {
            if infinite {
                return Some(Outcome::Anything);
            }
            if i == 0 {
                return exactly(0, negative);
            }
            exactly(q.shift(-q.binade().0 - 1).down(f), negative)
        }
        Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::InverseSqrt | Op::Sin | Op::Cos | Op::Atan | Op::Atan2 => {
            let fun = match call.op {
                Op::Exp => Fun::Exp,
                Op::Exp2 => Fun::Exp2,
                Op::Log => Fun::Log,
                Op::Log2 => Fun::Log2,
                Op::InverseSqrt => Fun::InverseSqrt,
                Op::Sin => Fun::Sin,
                Op::Cos => Fun::Cos,
                Op::Atan => Fun::Atan,
                _ => Fun::Atan2,
            };
            crate::second_method::arithmetic::stated(env, flags, fun, v)
        }
        _ => None,
    }
}

/// Instructions that inherit from a formula without conditions. In the lenient reading a formula
/// need not round as declared.
fn from_formula(call: &Call, slot: usize, env: Env, flags: Flags, v: &[Value]) -> Option<Outcome> {
    let env = match flags.lenient {
        true => Env { rounding: Rounding::Undeclared, equal_operands: true, ..env },
        false => env,
    };
    let n = match call.op {
        op if mixes(op) => call.operands[0].len(),
        op if formulas::is_sum(op) => v.len() / 2,
        _ => 1,
    };
    let i = if mixes(call.op) { slot } else { 0 };
    if matches!(call.op, Op::FaceForward | Op::Refract) {
        return crate::second_method::conditional::rule(call.op, env, i, n, v);
    }
    if formulas::undefined(call.op, v) {
        return Some(Outcome::Anything);
    }
    let formula = formulas::formula(call.op, i, n, flags.lenient)?;
    let leaves: Vec<Index> = v.iter().map(|v| v.number().0).collect();
    if leaves.iter().any(|&i| env.is_infinite(i)) {
        let values = inherited::Evaluation::new(env, &leaves).all_forms(&formula);
        let infinite = !values.any && values.ends().is_some_and(|(lo, hi)| env.is_infinite(lo) || env.is_infinite(hi));
        return if infinite { float(inherited::any_number(env), Zeros::BOTH) } else { Some(Outcome::Anything) };
    }
    if call.op == Op::Sqrt && leaves[0] == 0 {
        return exactly(0, v[0].number().1);
    }
    let exact: Vec<Rat> = leaves.iter().map(|&i| Rat::value(env.f, i)).collect();
    let (values, tiny) =
        inherited::inherited(env, &formula, &leaves, |bits| formulas::exact(call.op, i, n, &exact, bits));
    Some(Outcome::Float { values, tiny, zeros: Zeros::BOTH })
}
