//! Results of IEEE 754 for infinities, NaNs and zeros that are not assumed away.

use crate::{
    Rounding, Scalar,
    real_op::RealOp,
    real_range::is_divisor_in_range,
    result_slot::{ResultRule, ResultSlot},
};
use assay_float::{F16, Format, Set};

/// Result for an operand that is not finite, or a zero divisor. `None` if the table's rule applies.
pub(crate) fn special_result(slot: &ResultSlot, x: &[u64]) -> Option<Set> {
    let format = slot.env.format;
    let real = match &slot.rule {
        ResultRule::Real(real) => *real,
        ResultRule::UnpackHalf => {
            let half = slot.part(x[0], 16);
            return (!F16.is_finite(half)).then(|| from_host(proxy(F16, half), format));
        }
        // A NaN in a formula permits anything; formulas handle infinities themselves.
        ResultRule::Formula(_) => return x.iter().any(|&bits| format.is_nan(bits)).then(Set::anything),
        ResultRule::Discrete(_) | ResultRule::Unpack { .. } | ResultRule::Measured => return None,
    };
    let float = |i: usize| slot.inputs[i].1.format();
    let finite = (0..x.len()).all(|i| float(i).is_none_or(|f| f.is_finite(x[i])));
    let by_zero = real == RealOp::Div && format.is_zero(x[1]);
    if finite && !by_zero {
        return None;
    }
    // Neither a quotient by an infinity, nor an infinity divided by a finite divisor out of range,
    // has a stated precision.
    let nan = |i: usize| format.is_nan(x[i]);
    if real == RealOp::Div && !nan(0) && !nan(1) && !is_divisor_in_range(x[1], format, slot.env.half_column()) {
        return Some(Set::anything());
    }
    // From here on only classes and signs matter.
    let v = |i: usize| float(i).map_or(1.0, |f| proxy(f, x[i]));
    let host = match real {
        RealOp::Add => v(0) + v(1),
        RealOp::Sub => v(0) - v(1),
        RealOp::Difference => v(1) - v(0),
        RealOp::Width => (v(1) - v(0)).abs() + (v(2) - v(0)).abs(),
        RealOp::Mul => v(0) * v(1),
        RealOp::Div | RealOp::Unpack => v(0) / v(1),
        RealOp::Fma => v(0) * v(1) + v(2),
        RealOp::Dot => {
            let n = x.len() / 2;
            (0..n).map(|i| v(i) * v(n + i)).sum()
        }
        RealOp::Convert | RealOp::PackHalf => v(0),
        RealOp::Ldexp => v(0),
        // Nothing is required of results that the instruction set does not name.
        RealOp::FromInt
        | RealOp::Fract
        | RealOp::Exp
        | RealOp::Exp2
        | RealOp::Log
        | RealOp::Log2
        | RealOp::InverseSqrt
        | RealOp::Sin
        | RealOp::Cos
        | RealOp::Atan
        | RealOp::Atan2 => return Some(Set::anything()),
    };
    let mut set = from_host(host, format);
    if by_zero && slot.env.nsz {
        // A zero of either sign makes the sign of the quotient arbitrary.
        set.union_with(&from_host(-host, format));
    }
    Some(set)
}

/// Value of the same class and sign.
fn proxy(format: Format, bits: u64) -> f64 {
    let magnitude = if format.is_nan(bits) {
        f64::NAN
    } else if format.is_infinite(bits) {
        f64::INFINITY
    } else if format.is_zero(bits) {
        0.0
    } else {
        1.0
    };
    if format.is_negative(bits) { -magnitude } else { magnitude }
}

fn from_host(value: f64, format: Format) -> Set {
    if value.is_nan() {
        return Set::nans();
    }
    let magnitude = if value.is_infinite() { format.infinity() } else { 0 };
    Set::point(if value.is_sign_negative() { -1 - magnitude } else { magnitude })
}

/// Sign of an exactly zero result; `None` if either sign is permitted.
pub(crate) fn zero_sign(slot: &ResultSlot, x: &[u64]) -> Option<bool> {
    let negative = |i: usize| match slot.inputs[i].1 {
        Scalar::Float(format) => format.is_negative(x[i]),
        Scalar::Int { .. } | Scalar::Bool => false,
    };
    let sum = |a: bool, b: bool| match slot.env.rounding {
        _ if a == b => Some(a),
        // Opposite signs cancel to +0, except when rounding down, which is possible if no mode is
        // declared.
        Rounding::Undeclared => None,
        Rounding::Rte | Rounding::Rtz => Some(false),
    };
    match &slot.rule {
        ResultRule::Real(real) => match real {
            RealOp::Add => sum(negative(0), negative(1)),
            RealOp::Sub => sum(negative(0), !negative(1)),
            RealOp::Difference => sum(negative(1), !negative(0)),
            RealOp::Fma => sum(negative(0) != negative(1), negative(2)),
            RealOp::Mul | RealOp::Div | RealOp::Unpack => Some(negative(0) != negative(1)),
            RealOp::Convert | RealOp::PackHalf | RealOp::Ldexp => Some(negative(0)),
            // "fract(±0) = +0"; other operands are subtracted as `x - floor(x)`.
            RealOp::Fract if slot.env.format.is_zero(x[0]) => Some(false),
            RealOp::Fract => sum(false, true),
            RealOp::FromInt | RealOp::Width => Some(false),
            RealOp::Dot
            | RealOp::Exp
            | RealOp::Exp2
            | RealOp::Log
            | RealOp::Log2
            | RealOp::InverseSqrt
            | RealOp::Sin
            | RealOp::Cos
            | RealOp::Atan
            | RealOp::Atan2 => None,
        },
        ResultRule::UnpackHalf => Some(slot.part(x[0], 16) >> 15 == 1),
        ResultRule::Discrete(_) | ResultRule::Formula(_) | ResultRule::Unpack { .. } | ResultRule::Measured => None,
    }
}

/// Returns true if the operands lie on the cut of Atan2: y is zero and x negative, so that the sign
/// of y selects the side.
pub(crate) fn at_cut(slot: &ResultSlot, x: &[u64]) -> bool {
    let format = slot.env.format;
    matches!(slot.rule, ResultRule::Real(RealOp::Atan2))
        && format.is_zero(x[0])
        && format.is_negative(x[1])
        && !format.is_zero(x[1])
}
