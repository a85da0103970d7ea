//! Conversions between formats, from integers, and `Ldexp`.

use crate::second_method::{
    environment::Value,
    num::{Index, Q, Rat, emin, infinity},
    rules::Outcome,
    steps::Env,
    values::{Values, Zeros},
};
use assay_float::{F16, Format};
use assay_precision::{Call, Op, Rounding, Scalar};
use num_bigint::BigInt;

fn exactly(index: Index, negative: bool) -> Outcome {
    Outcome::Float { values: Values::point(index), tiny: false, zeros: Zeros::one(negative) }
}

fn rounded(env: Env, q: &Rat, negative: bool) -> Outcome {
    Outcome::Float { values: env.round(q), tiny: env.is_tiny(q), zeros: Zeros::one(negative) }
}

/// Rule of a conversion; `None` for other instructions.
pub(crate) fn convert(call: &Call, env: Env, v: &[Value]) -> Option<Outcome> {
    let from = call.operands[0].scalar;
    match (call.op, v[0]) {
        (Op::FConvert | Op::QuantizeToF16, Value::Nan) => {
            Some(Outcome::Float { values: Values::nan(), tiny: false, zeros: Zeros::BOTH })
        }
        (Op::FConvert, v) => {
            let (f, (i, negative)) = (from.format().unwrap(), v.number());
            if i.abs() == infinity(f) {
                return Some(exactly(if negative { -infinity(env.f) } else { infinity(env.f) }, negative));
            }
            Some(rounded(env, &Rat::value(f, i), negative))
        }
        (Op::ConvertSToF | Op::ConvertUToF, Value::Integer(bits)) => {
            let Scalar::Int { width, signed } = from else { unreachable!() };
            let value = match signed && bits >> (width - 1) & 1 == 1 {
                true => i128::from(bits) - (1 << width),
                false => i128::from(bits),
            };
            Some(rounded(env, &Q { n: BigInt::from(value), d: BigInt::from(1) }, false))
        }
        (Op::QuantizeToF16, v) => Some(quantize(env.f, v.number())),
        (Op::Ldexp, Value::Nan) => None,
        (Op::Ldexp, x) => {
            let ((i, negative), Value::Integer(e)) = (x.number(), v[1]) else { unreachable!() };
            Some(ldexp(env, i, negative, i64::from(e as u32 as i32)))
        }
        _ => None,
    }
}

fn ldexp(env: Env, i: Index, negative: bool, e: i64) -> Outcome {
    let limit = if env.f.width == 16 {
        16
    } else if env.f.width == 32 {
        128
    } else {
        1024
    };
    if e > limit {
        return Outcome::Anything;
    }
    // "Too large to be finitely represented".
    if env.is_infinite(i) {
        return Outcome::Anything;
    }
    let q = Rat::value(env.f, i).shift(e.max(-20_000));
    if q.overflows(env.f) {
        return Outcome::Anything;
    }
    let Outcome::Float { mut values, tiny, mut zeros } = rounded(env, &q, negative) else { unreachable!() };
    if e < emin(env.f) {
        values.add(0, 0);
        zeros = Zeros::BOTH;
    }
    Outcome::Float { values, tiny, zeros }
}

/// Either neighbour among the halves, without denormals.
fn quantize(f: Format, (i, negative): (Index, bool)) -> Outcome {
    if i.abs() == infinity(f) {
        return exactly(i, negative);
    }
    let half = Env { f: F16, flush: false, rounding: Rounding::Undeclared, not_inf: false, equal_operands: false };
    let q = Rat::value(f, i);
    if q.abs().cmp(&Rat::int(65_536)).is_ge() {
        return exactly(infinity(f) * i.signum(), negative);
    }
    let mut values = Values::default();
    for (lo, hi) in half.round(&q).ranges {
        for h in lo..=hi {
            let wide = if h.abs() == infinity(F16) {
                infinity(f) * h.signum()
            } else if h.abs() < 1 << F16.fraction_bits {
                0
            } else {
                Rat::value(F16, h).down(f)
            };
            values.add(wide, wide);
        }
    }
    // "The result must be either +0 or -0", for a zero as for all values that are too small.
    Outcome::Float { values, tiny: false, zeros: Zeros::BOTH }
}
