//! `--range LO..HI`: a restriction of the first operand's values.

use assay_precision::Scalar;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A closed range of the first operand scalar, in the order of its type (floats: `-inf .. -0, +0 ..
/// +inf`).
///
/// Each end is a bit pattern (`0x3f800000`), a hexadecimal float (`0x1.8p-3`) or a decimal number
/// (`-1.5e3`, `inf`). Its meaning depends on the type with which it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRange {
    lo: String,
    hi: String,
}

/// Reason why a range is not valid, in general or for a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Not of the form `LO..HI`.
    #[error("range `{0}`: expected LO..HI, such as 0x1p-3..2.5 or 0x3f800000..0x40000000")]
    Form(String),
    /// An end is not a value of the type.
    #[error("range `{range}`: `{end}` is not a number of type {scalar}")]
    Unfit {
        /// The range.
        range: String,
        /// The end.
        end: String,
        /// The type of the first operand.
        scalar: Scalar,
    },
    /// The ends are in the wrong order for a type.
    #[error("range `{range}` is empty for {scalar}")]
    Empty {
        /// The range.
        range: String,
        /// The type of the first operand.
        scalar: Scalar,
    },
}

impl fmt::Display for InputRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

impl FromStr for InputRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<InputRange, RangeError> {
        let (lo, hi) = text.split_once("..").ok_or_else(|| RangeError::Form(text.to_owned()))?;
        Ok(InputRange { lo: lo.trim().to_owned(), hi: hi.trim().to_owned() })
    }
}

impl InputRange {
    /// Returns the least and the greatest position in the type's order: ranks of floats, values of
    /// integers.
    ///
    /// # Errors
    /// An end is not a number of the type, or the range is empty.
    pub fn positions(&self, scalar: Scalar) -> Result<(i128, i128), RangeError> {
        let end = |text: &str| {
            let unfit = || RangeError::Unfit { range: self.to_string(), end: text.to_owned(), scalar };
            bits_of(text, scalar).and_then(|bits| position(bits, scalar)).ok_or_else(unfit)
        };
        let (lo, hi) = (end(&self.lo)?, end(&self.hi)?);
        if lo > hi {
            return Err(RangeError::Empty { range: self.to_string(), scalar });
        }
        Ok((lo, hi))
    }
}

/// Returns the position of a bit pattern in its type's order: the rank of a float, the value of an
/// integer. NaNs have none.
pub fn position(bits: u64, scalar: Scalar) -> Option<i128> {
    match scalar {
        Scalar::Float(format) => (!format.is_nan(bits)).then(|| i128::from(format.rank(bits))),
        Scalar::Int { width, signed: true } => Some(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
        Scalar::Int { signed: false, .. } | Scalar::Bool => Some(i128::from(bits)),
    }
}

/// Returns the bit pattern at a position; the inverse of [`position`].
pub(crate) fn at_position(position: i128, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Float(format) => format.bits(position as i64),
        Scalar::Int { width, .. } => position as u64 & (u64::MAX >> (64 - width)),
        Scalar::Bool => position as u64,
    }
}

fn bits_of(text: &str, scalar: Scalar) -> Option<u64> {
    let (width, least) = match scalar {
        Scalar::Float(format) => return format.parse(text).ok().map(|number| number.bits),
        Scalar::Int { width, signed: true } => (width, -1i128 << (width - 1)),
        Scalar::Int { width, signed: false } => (width, 0),
        Scalar::Bool => (1, 0),
    };
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().filter(|bits| bits.checked_shr(width).unwrap_or(0) == 0);
    }
    let value: i128 = text.parse().ok()?;
    (least..least + (1 << width)).contains(&value).then(|| at_position(value, scalar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    fn range(text: &str, scalar: Scalar) -> Result<(i128, i128), RangeError> {
        text.parse::<InputRange>()?.positions(scalar)
    }

    #[test]
    fn ends_are_bits_hexadecimal_floats_or_decimal_numbers() {
        let f32 = Scalar::Float(F32);
        let i32 = Scalar::Int { width: 32, signed: true };
        let one = i128::from(F32.rank(0x3f80_0000));
        assert_eq!(range("0x3f800000..0x1p1", f32), Ok((one, one + (1 << 23))));
        assert_eq!(range("-0x1.0p+0 .. 1", f32), Ok((-1 - one, one)));
        assert_eq!(range("-inf..inf", f32), Ok((F32.neg_infinity().into(), F32.infinity().into())));
        assert_eq!(range("-0.0..0", f32), Ok((-1, 0)));
        assert_eq!(range("0x0001..0x7c00", Scalar::Float(F16)), Ok((1, 0x7c00)));
        assert_eq!(range("-5..0xffffffff", i32), Ok((-5, -1)));
        assert!(matches!(range("2..1", f32), Err(RangeError::Empty { .. })));
        assert!(matches!("1".parse::<InputRange>(), Err(RangeError::Form(_))));
        for (bad, scalar) in [
            ("0x7fc00000..1", f32),
            ("one..2", f32),
            ("..", f32),
            ("0..0x3f800000", Scalar::Float(F16)),
            ("0..2147483648", i32),
            ("0.5..1", i32),
            ("0..0x100000000", i32),
            ("-1..1", Scalar::Int { width: 64, signed: false }),
        ] {
            assert!(matches!(range(bad, scalar), Err(RangeError::Unfit { .. })), "{bad}");
        }
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
