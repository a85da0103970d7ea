//! Results of IEEE 754 for infinities, NaNs and zeros that are not assumed away.

use crate::{
    Rounding, Scalar,
    evaluate::{Kernel, Slot},
    real::{Real, is_divisor_in_range},
};
use assay_float::{F16, Format, Set};

/// Result for an operand that is not finite, or a zero divisor. `None` if the table's rule applies.
pub(crate) fn special(slot: &Slot, x: &[u64]) -> Option<Set> {
    let format = slot.env.format;
    let real = match &slot.kernel {
        Kernel::Real(real) => *real,
        Kernel::UnpackHalf => {
            let half = slot.part(x[0], 16);
            return (!F16.is_finite(half)).then(|| from_host(proxy(F16, half), format));
        }
        // A NaN in a formula permits anything; formulas handle infinities themselves.
        Kernel::Formula(_) => return x.iter().any(|&bits| format.is_nan(bits)).then(Set::anything),
        Kernel::Exact(_) | Kernel::Unpack { .. } | Kernel::Measured => return None,
    };
    let float = |i: usize| slot.inputs[i].1.format();
    let finite = (0..x.len()).all(|i| float(i).is_none_or(|f| f.is_finite(x[i])));
    let by_zero = real == Real::Div && format.is_zero(x[1]);
    if finite && !by_zero {
        return None;
    }
    // Neither a quotient by an infinity, nor an infinity divided by a finite divisor out of range,
    // has a stated precision.
    let nan = |i: usize| format.is_nan(x[i]);
    if real == Real::Div && !nan(0) && !nan(1) && !is_divisor_in_range(x[1], format, slot.env.half_column()) {
        return Some(Set::anything());
    }
    // From here on only classes and signs matter.
    let v = |i: usize| float(i).map_or(1.0, |f| proxy(f, x[i]));
    let host = match real {
        Real::Add => v(0) + v(1),
        Real::Sub => v(0) - v(1),
        Real::Difference => v(1) - v(0),
        Real::Width => (v(1) - v(0)).abs() + (v(2) - v(0)).abs(),
        Real::Mul => v(0) * v(1),
        Real::Div | Real::Unpack => v(0) / v(1),
        Real::Fma => v(0) * v(1) + v(2),
        Real::Dot => {
            let n = x.len() / 2;
            (0..n).map(|i| v(i) * v(n + i)).sum()
        }
        Real::Convert | Real::PackHalf => v(0),
        Real::Ldexp => v(0),
        // Nothing is required of results that the instruction set does not name.
        Real::FromInt
        | Real::Fract
        | Real::Exp
        | Real::Exp2
        | Real::Log
        | Real::Log2
        | Real::InverseSqrt
        | Real::Sin
        | Real::Cos
        | Real::Atan
        | Real::Atan2 => return Some(Set::anything()),
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
pub(crate) fn zero_sign(slot: &Slot, x: &[u64]) -> Option<bool> {
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
    match &slot.kernel {
        Kernel::Real(real) => match real {
            Real::Add => sum(negative(0), negative(1)),
            Real::Sub => sum(negative(0), !negative(1)),
            Real::Difference => sum(negative(1), !negative(0)),
            Real::Fma => sum(negative(0) != negative(1), negative(2)),
            Real::Mul | Real::Div | Real::Unpack => Some(negative(0) != negative(1)),
            Real::Convert | Real::PackHalf | Real::Ldexp => Some(negative(0)),
            // "fract(±0) = +0"; other operands are subtracted as `x - floor(x)`.
            Real::Fract if slot.env.format.is_zero(x[0]) => Some(false),
            Real::Fract => sum(false, true),
            Real::FromInt | Real::Width => Some(false),
            Real::Dot
            | Real::Exp
            | Real::Exp2
            | Real::Log
            | Real::Log2
            | Real::InverseSqrt
            | Real::Sin
            | Real::Cos
            | Real::Atan
            | Real::Atan2 => None,
        },
        Kernel::UnpackHalf => Some(slot.part(x[0], 16) >> 15 == 1),
        Kernel::Exact(_) | Kernel::Formula(_) | Kernel::Unpack { .. } | Kernel::Measured => None,
    }
}

/// Returns true if the operands lie on the cut of Atan2: y is zero and x negative, so that the sign
/// of y selects the side.
pub(crate) fn at_cut(slot: &Slot, x: &[u64]) -> bool {
    let format = slot.env.format;
    matches!(slot.kernel, Kernel::Real(Real::Atan2))
        && format.is_zero(x[0])
        && format.is_negative(x[1])
        && !format.is_zero(x[1])
}
