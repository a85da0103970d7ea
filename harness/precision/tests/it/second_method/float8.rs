//! Conversions to float8: the values of both formats as listed in the whitepaper that
//! SPV_EXT_float8 names, and the neighbours of a number.

use crate::second_method::{
    environment::{Flags, Value},
    num::{Index, Q, Rat, infinity},
    rules::Outcome,
    values::{Values, Zeros},
};
use assay_float::{F8_E4M3, F8_E5M2, Format};
use assay_precision::{Call, Scalar};
use num_bigint::BigInt;
use std::{cmp::Ordering, sync::OnceLock};

/// Magnitudes in the order of their codes, and the one that would follow.
pub(crate) fn magnitudes(f: Format) -> &'static (Vec<Rat>, Rat) {
    static E4M3: OnceLock<(Vec<Rat>, Rat)> = OnceLock::new();
    static E5M2: OnceLock<(Vec<Rat>, Rat)> = OnceLock::new();
    (if f == F8_E4M3 { &E4M3 } else { &E5M2 }).get_or_init(|| listed(f))
}

fn listed(f: Format) -> (Vec<Rat>, Rat) {
    // "S.0000.mmm = 2^-6 * (0.mmm)", "S.1111.110 = 1.75 * 2^8"; "S.00000.mm = 2^-14 * (0.mm)", "S.11110.11 = 1.75 * 2^15".
    let (steps, least, last) = if f == F8_E4M3 { (8, -9, 14) } else { (4, -16, 29) };
    let denormals = (0..steps).map(|m| Rat::scaled(m, least));
    let normals = (0..=last).flat_map(|e| (steps..2 * steps).map(move |m| Rat::scaled(m, least + e)));
    let mut all: Vec<Rat> = denormals.chain(normals).collect();
    if f == F8_E4M3 {
        // S.1111.111 is the NaN.
        let next = all.pop().unwrap();
        return (all, next);
    }
    (all, Rat::scaled(1, 16))
}

/// Returns true for the formats of SPV_EXT_float8.
pub(crate) fn is_float8(f: Format) -> bool {
    f == F8_E4M3 || f == F8_E5M2
}

/// Rule of a conversion to float8 of an operand with this value.
pub(crate) fn convert(call: &Call, f: Format, flags: Flags, v: Value) -> Outcome {
    let outcome = |values, negative| Outcome::Float { values, tiny: false, zeros: Zeros::one(negative) };
    let (q, negative) = match (v, call.operands[0].scalar) {
        (Value::Nan, _) => return outcome(Values::nan(), false),
        (Value::Number { index, negative }, Scalar::Float(from)) => {
            if index.abs() == infinity(from) {
                return outcome(beyond(call, f, negative), negative);
            }
            (Rat::value(from, index).abs(), negative)
        }
        (Value::Integer(bits), Scalar::Int { width, signed }) => {
            let negative = signed && bits >> (width - 1) & 1 == 1;
            let magnitude = if negative { (1u128 << width) - u128::from(bits) } else { bits.into() };
            (Q { n: BigInt::from(magnitude), d: BigInt::from(1) }, negative)
        }
        _ => unreachable!(),
    };
    let (all, next) = magnitudes(f);
    let side = |i: usize| if negative { -(i as Index) } else { i as Index };
    let mut values = Values::default();
    // The nearest value that is not greater, unless the number is past those that round to the
    // largest, and the nearest value that is not less.
    let below = all.partition_point(|m| m.le(&q)) - 1;
    if q.lt(next) || flags.lenient {
        values.add(side(below), side(below));
    }
    let above = all.partition_point(|m| m.lt(&q));
    if above < all.len() {
        values.add(side(above), side(above));
    }
    if all.last().unwrap().lt(&q) {
        if call.modes.saturated {
            values = Values::default();
        }
        values.join(&beyond(call, f, negative));
    }
    let tiny = q.sign() != 0 && q.cmp(&all[if f == F8_E4M3 { 8 } else { 4 }]) == Ordering::Less;
    Outcome::Float { values, tiny, zeros: Zeros::one(negative) }
}

/// Results for values out of range and for infinities.
fn beyond(call: &Call, f: Format, negative: bool) -> Values {
    let code = match (f == F8_E4M3, call.modes.saturated) {
        (true, false) => return Values::nan(),
        (true, true) => 0x7e,
        (false, true) => 0x7b,
        (false, false) => 0x7c,
    };
    Values::point(if negative { -code } else { code })
}
