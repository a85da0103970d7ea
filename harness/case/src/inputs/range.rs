//! `--range LO..HI`: part of the first operand's values.

use assay_float::Format;
use assay_precision::Scalar;
use std::fmt;
use std::str::FromStr;

/// A closed range of the first operand scalar, in the order of its type (floats: `-inf .. -0, +0 .. +inf`).
///
/// Each end is a bit pattern (`0x3f800000`), a hexadecimal float (`0x1.8p-3`) or a decimal number (`-1.5e3`, `inf`).
#[derive(Clone, Debug, PartialEq)]
pub struct InputRange {
    text: String,
    ends: [End; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Bits(u64),
    Value(f64),
}

/// Why a range could not be read, or does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Not of the form `LO..HI`.
    #[error("range `{0}`: expected LO..HI, such as 0x1p-3..2.5 or 0x3f800000..0x40000000")]
    Form(String),
    /// An end is no number.
    #[error("range end `{0}`: expected a bit pattern (0x3f800000), a hexadecimal float (0x1.8p-3) or a decimal number")]
    End(String),
    /// The ends are the wrong way round for a type.
    #[error("range `{range}` is empty for {scalar}")]
    Empty {
        /// The range.
        range: String,
        /// The type of the first operand.
        scalar: Scalar,
    },
    /// An end is no value of the type.
    #[error("range `{range}`: {end} is no number of type {scalar}")]
    Unfit {
        /// The range.
        range: String,
        /// The end.
        end: String,
        /// The type of the first operand.
        scalar: Scalar,
    },
}

impl fmt::Display for InputRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for InputRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<InputRange, RangeError> {
        let (lo, hi) = text.split_once("..").ok_or_else(|| RangeError::Form(text.to_owned()))?;
        let end = |s: &str| parse_end(s.trim()).ok_or_else(|| RangeError::End(s.trim().to_owned()));
        Ok(InputRange { text: text.to_owned(), ends: [end(lo)?, end(hi)?] })
    }
}

impl InputRange {
    /// The least and greatest position (see [`position`]) in the type's order.
    ///
    /// # Errors
    /// An end is no number of the type, or the range is empty there.
    pub fn positions(&self, scalar: Scalar) -> Result<(i128, i128), RangeError> {
        let mut found = [0; 2];
        for (slot, (end, text)) in found.iter_mut().zip(self.ends.iter().zip(self.text.split(".."))) {
            let unfit = || RangeError::Unfit { range: self.text.clone(), end: text.trim().to_owned(), scalar };
            *slot = end_position(*end, scalar).ok_or_else(unfit)?;
        }
        let [lo, hi] = found;
        if lo > hi {
            return Err(RangeError::Empty { range: self.text.clone(), scalar });
        }
        Ok((lo, hi))
    }
}

/// Where a bit pattern stands in its type's order: the rank of a float, the value of an integer. NaNs have no place.
pub(crate) fn position(bits: u64, scalar: Scalar) -> Option<i128> {
    match scalar {
        Scalar::Float(format) => (!format.is_nan(bits)).then(|| i128::from(format.rank(bits))),
        Scalar::Int { width, signed: true } => Some(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
        Scalar::Int { signed: false, .. } | Scalar::Bool => Some(i128::from(bits)),
    }
}

/// The bit pattern at that place, the inverse of [`position`].
pub(crate) fn at_position(position: i128, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Float(format) => format.bits(position as i64),
        Scalar::Int { width, .. } => position as u64 & (u64::MAX >> (64 - width)),
        Scalar::Bool => position as u64,
    }
}

fn end_position(end: End, scalar: Scalar) -> Option<i128> {
    match (end, scalar) {
        (End::Bits(bits), _) => {
            let fits = bits.checked_shr(scalar.width()).unwrap_or(0) == 0;
            fits.then(|| position(bits, scalar)).flatten()
        }
        (End::Value(value), Scalar::Float(format)) => position(nearest(value, format), scalar),
        (End::Value(value), Scalar::Int { width, signed }) => {
            let (lo, hi) =
                if signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
            let whole = value as i128;
            (value.fract() == 0.0 && (lo..=hi).contains(&whole)).then_some(whole)
        }
        (End::Value(value), Scalar::Bool) => [0.0, 1.0].contains(&value).then_some(value as i128),
    }
}

/// The bits of the format nearest to a value (of two equally near ones the greater in magnitude): found by bisection of
/// the format's order, which needs nothing but its values.
pub(crate) fn nearest(value: f64, format: Format) -> u64 {
    if value.is_nan() {
        return format.nan();
    }
    let sign = if value.is_sign_negative() { format.sign_mask() } else { 0 };
    let magnitude = value.abs();
    let (mut lo, mut hi) = (0u64, format.infinity() as u64);
    // The invariant: value(lo) <= magnitude < value(hi), infinity standing above everything.
    if magnitude == f64::INFINITY {
        return sign | if format.has_infinity() { hi } else { hi - 1 };
    }
    while hi - lo > 1 {
        let middle = lo + (hi - lo) / 2;
        if format.to_f64(middle) <= magnitude { lo = middle } else { hi = middle }
    }
    let finite = hi <= format.max_finite() as u64;
    let up = finite && format.to_f64(hi) - magnitude <= magnitude - format.to_f64(lo);
    sign | if up { hi } else { lo }
}

fn parse_end(text: &str) -> Option<End> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = unsigned.to_ascii_lowercase();
    let Some(hex) = lower.strip_prefix("0x") else {
        return text.parse().ok().filter(|v: &f64| !v.is_nan()).map(End::Value);
    };
    let Some((mantissa, exponent)) = hex.split_once('p') else {
        return (!negative).then(|| u64::from_str_radix(hex, 16).ok().map(End::Bits)).flatten();
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // At most 13 digits fit a double exactly; no value that a user writes needs more.
    if digits.is_empty() || digits.len() > 13 {
        return None;
    }
    let integer = u64::from_str_radix(&digits, 16).ok()? as f64;
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(4 * fraction.len() as i32)?.clamp(-2_000, 2_000);
    // Two steps, because 2^exponent alone may leave the range of a double where the product does not.
    let value = integer * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
    Some(End::Value(if negative { -value } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32, F64};

    fn range(text: &str, scalar: Scalar) -> Result<(i128, i128), RangeError> {
        text.parse::<InputRange>()?.positions(scalar)
    }

    #[test]
    fn ends_are_bits_hexadecimal_floats_or_decimal_numbers() {
        let f32 = Scalar::Float(F32);
        let one = i128::from(F32.rank(0x3f80_0000));
        assert_eq!(range("0x3f800000..0x1p1", f32), Ok((one, one + (1 << 23))));
        assert_eq!(range("-0x1.0p+0 .. 1", f32), Ok((-1 - one, one)));
        assert_eq!(range("-inf..inf", f32), Ok((F32.neg_infinity().into(), F32.infinity().into())));
        assert_eq!(range("-0.0..0", f32), Ok((-1, 0)));
        assert_eq!(range("0x1p-149..0x1p-149", f32), Ok((1, 1)));
        assert_eq!(range("0x0001..0x7c00", Scalar::Float(F16)), Ok((1, 0x7c00)));
        assert_eq!(range("-5..0xffffffff", Scalar::Int { width: 32, signed: true }), Ok((-5, -1)));
        assert!(matches!(range("2..1", f32), Err(RangeError::Empty { .. })));
        assert!(matches!(range("0x7fc00000..1", f32), Err(RangeError::Unfit { .. })));
        assert!(matches!(range("0..0x3f800000", Scalar::Float(F16)), Err(RangeError::Unfit { .. })));
        assert!(matches!("1".parse::<InputRange>(), Err(RangeError::Form(_))));
        for bad in ["..", "one..2", "0x..1", "nan..1", "0x1.p..2", "-0x1..2"] {
            assert!(matches!(bad.parse::<InputRange>(), Err(RangeError::End(_))), "{bad}");
        }
    }

    #[test]
    fn nearest_agrees_with_the_host() {
        for value in [0.1, -3.25e-40, 1e39, 65_519.9, f64::MIN_POSITIVE, 1.0] {
            let host = (value as f32).to_bits();
            let expected = if (value as f32).is_infinite() { u64::from(f32::MAX.to_bits()) } else { host.into() };
            assert_eq!(nearest(value, F32), expected);
            assert_eq!(nearest(value, F64), value.to_bits());
        }
        assert_eq!(nearest(f64::INFINITY, F16), 0x7c00);
    }

    #[test]
    fn positions_round_trip() {
        for scalar in
            [Scalar::Float(F16), Scalar::Int { width: 16, signed: true }, Scalar::Int { width: 16, signed: false }]
        {
            for bits in 0..=0xffff {
                if let Some(place) = position(bits, scalar) {
                    assert_eq!(at_position(place, scalar), bits);
                }
            }
        }
    }
}
