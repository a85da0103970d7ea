//! Packing into words and unpacking: the formulas of GLSL.std.450 in exact arithmetic.

use crate::second_method::{
    environment::{Flags, Value},
    num::{Index, Q, Rat, index, infinity},
    rules::Outcome,
    steps::Env,
    values::{Values, Zeros},
};
use assay_float::{F16, F32, F64, Set};
use assay_precision::{Call, Denormals, Op, Rounding, Scalar};
use num_bigint::BigInt;

/// Largest value of a normalised integer of this width: 127, 255, 32767 or 65535.
fn largest(width: u32, signed: bool) -> i64 {
    (1 << (width - u32::from(signed))) - 1
}

/// Rule of a part of the result; `None` for other instructions.
pub(crate) fn rule(call: &Call, slot: usize, env: Env, flags: Flags, v: &[Value]) -> Option<Outcome> {
    match (call.op, v) {
        (Op::PackSnorm4x8 | Op::PackUnorm4x8 | Op::PackSnorm2x16 | Op::PackUnorm2x16, &[c]) => {
            let Scalar::Int { width, signed } = call.results[0].scalar else { unreachable!() };
            Some(normalized(env, c, width, signed))
        }
        (Op::PackHalf2x16, &[Value::Nan]) => {
            Some(Outcome::Float { values: Values::nan(), tiny: false, zeros: Zeros::BOTH })
        }
        (Op::PackHalf2x16, &[Value::Number { index, negative }]) => Some(half(env, index, negative)),
        (Op::PackDouble2x32, &[Value::Integer(low), Value::Integer(high)]) => Some(double(low | high << 32)),
        (Op::UnpackSnorm4x8, &[Value::Integer(p)]) => Some(quotient(env, p >> (8 * slot) & 0xff, 8, true)),
        (Op::UnpackUnorm4x8, &[Value::Integer(p)]) => Some(quotient(env, p >> (8 * slot) & 0xff, 8, false)),
        (Op::UnpackSnorm2x16, &[Value::Integer(p)]) => Some(quotient(env, p >> (16 * slot) & 0xffff, 16, true)),
        (Op::UnpackUnorm2x16, &[Value::Integer(p)]) => Some(quotient(env, p >> (16 * slot) & 0xffff, 16, false)),
        (Op::UnpackHalf2x16, &[Value::Integer(p)]) => Some(unpacked_half(call, flags, p >> (16 * slot) & 0xffff)),
        _ => None,
    }
}

/// `round(clamp(c, -1, +1) * 127.0)` and the like.
fn normalized(env: Env, c: Value, width: u32, signed: bool) -> Outcome {
    // FClamp may return a NaN, which no integer represents.
    let Value::Number { index, negative } = c else { return Outcome::Anything };
    let least = Rat::int(if signed { -1 } else { 0 });
    let clamped = if env.is_infinite(index) {
        if negative { least } else { Rat::int(1) }
    } else {
        let c = Rat::value(env.f, index);
        if c.lt(&least) {
            least
        } else if Rat::int(1).lt(&c) {
            Rat::int(1)
        } else {
            c
        }
    };
    let mask = (1 << width) - 1;
    let mut set = Set::empty();
    // The product is correctly rounded. Flushing makes it a zero that it rounds to in any case.
    for &(lo, hi) in &env.round(&clamped.times(&Rat::int(largest(width, signed)))).ranges {
        for product in lo..=hi {
            let product = Rat::value(env.f, product);
            let below = product.floor();
            let rest = product.minus(&Q { n: below.clone(), d: BigInt::from(1) });
            // "The fraction 0.5 rounds in a direction chosen by the implementation."
            let half = Rat::scaled(1, -1);
            let candidates = [(rest.le(&half), below.clone()), (half.le(&rest), below + 1)];
            for (_, integer) in candidates.into_iter().filter(|(nearest, _)| *nearest) {
                let integer = i64::try_from(integer).unwrap() & mask;
                set.union_with(&Set::point(integer));
            }
        }
    }
    Outcome::Bits(set)
}

/// "Correctly rounded with implementation defined rounding mode".
fn half(env: Env, index: Index, negative: bool) -> Outcome {
    let env = Env { rounding: Rounding::Undeclared, ..env };
    if index.abs() == infinity(F32) {
        let values = Values::point(if negative { -infinity(F16) } else { infinity(F16) });
        return Outcome::Float { values, tiny: false, zeros: Zeros::BOTH };
    }
    let q = Rat::value(F32, index);
    Outcome::Float { values: env.round(&q), tiny: env.is_tiny(&q), zeros: Zeros::one(negative) }
}

/// "If an IEEE 754 Inf or NaN is created, .. the resulting floating-point value is unspecified.
/// Otherwise, the bit-level representation of v is preserved."
fn double(bits: u64) -> Outcome {
    if bits << 1 >= 0x7ff0_0000_0000_0000 << 1 {
        return Outcome::Anything;
    }
    let values = Values::point(index(F64, bits));
    Outcome::Float { values, tiny: false, zeros: Zeros::one(bits >> 63 == 1) }
}

/// `clamp(f / 127.0, -1, +1)` and the like, with the precision of OpFDiv; unsigned values are not
/// clamped.
fn quotient(env: Env, bits: u64, width: u32, signed: bool) -> Outcome {
    let negative = signed && bits >> (width - 1) == 1;
    let f = bits.cast_signed() - if negative { 1 << width } else { 0 };
    let index = |n: i64| Rat::int(n).down(env.f);
    let quotients = env.keeping().quotient::<BigInt>(index(f), index(largest(width, signed)));
    let one = index(1);
    let clamp = |i: Index| if signed { i.clamp(-one, one) } else { i };
    let values = Values::of(quotients.ranges.iter().map(|&(lo, hi)| (clamp(lo), clamp(hi))).collect());
    Outcome::Float { values, tiny: false, zeros: Zeros::one(negative) }
}

/// The half as a single, which is exact. "Denormalized values obtained via unpacking an integer into
/// a vector of values with smaller bit width and interpreting those values as floating-point
/// numbers must be flushed to zero" under `DenormFlushToZero`.
fn unpacked_half(call: &Call, flags: Flags, bits: u64) -> Outcome {
    let (magnitude, negative) = (bits & 0x7fff, bits >> 15 == 1);
    let side = |i: Index| if negative { -i } else { i };
    let exactly = |i| Outcome::Float { values: Values::point(i), tiny: false, zeros: Zeros::one(negative) };
    match magnitude {
        // NotInf assumes that no result is an infinity.
        0x7c00 if flags.not_inf => Outcome::Anything,
        0x7c00 => exactly(side(infinity(F32))),
        0x7c01.. => Outcome::Float { values: Values::nan(), tiny: false, zeros: Zeros::BOTH },
        _ => {
            let value = Rat::value(F16, index(F16, bits)).down(F32);
            let is_denormal = 0 < magnitude && magnitude < 0x400;
            match call.modes.denormals {
                Denormals::Undeclared if is_denormal => {
                    let mut values = Values::point(value);
                    values.add(0, 0);
                    Outcome::Float { values, tiny: false, zeros: Zeros::BOTH }
                }
                Denormals::FlushToZero if is_denormal => {
                    Outcome::Float { values: Values::point(0), tiny: false, zeros: Zeros::BOTH }
                }
                _ => exactly(value),
            }
        }
    }
}
