//! Numbers as text: hexadecimal floats, shortest decimals, and the parser of both for every format.

use crate::Format;
use num_bigint::BigUint;
use num_traits::{One, Zero};
use std::fmt::Write;

/// Number parsed from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its bits, rounded to nearest, ties to even.
    pub bits: u64,
    /// Set if the text denotes exactly this value.
    pub exact: bool,
}

/// Error: the text is not a number of the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Malformed number.
    #[error(
        "`{text}` is not a number: expected bits (0x3f800000), a decimal (1.5, -2e-3), a hex float (0x1.8p+0), inf or nan"
    )]
    Malformed {
        /// The text.
        text: String,
    },
    /// Hexadecimal float without an exponent, which could be mistaken for bits.
    #[error("`{text}` is neither bits nor a hex float: a hex float ends in its exponent (`{text}p0`)")]
    NoExponent {
        /// The text.
        text: String,
    },
    /// More bits than the type has.
    #[error("`{text}` has more than the {width} bits of {format}")]
    TooWide {
        /// The text.
        text: String,
        /// The type.
        format: String,
        /// Its width.
        width: u32,
    },
    /// Value, or infinity, that the format cannot represent.
    #[error("`{text}` is out of the range of {format}")]
    OutOfRange {
        /// The text.
        text: String,
        /// The type.
        format: String,
    },
}

impl Format {
    /// Hexadecimal float with all bits: `0x1.3ae148p+0`, `-0x0.000002p-126` (denormals keep the
    /// leading zero), `-inf`, `nan`.
    pub fn hex_float(self, bits: u64) -> String {
        let sign = if self.is_negative(bits) { "-" } else { "" };
        if !self.is_finite(bits) {
            return format!("{sign}{}", if self.is_nan(bits) { "nan" } else { "inf" });
        }
        let magnitude = bits & self.magnitude_mask();
        if magnitude == 0 {
            return format!("{sign}0x0p+0");
        }
        let (field, fraction) = (magnitude >> self.fraction_bits, magnitude & ((1 << self.fraction_bits) - 1));
        let digits = self.fraction_bits.div_ceil(4);
        let mut text = format!("{:0width$x}", fraction << (4 * digits - self.fraction_bits), width = digits as usize);
        text.truncate(text.trim_end_matches('0').len());
        let point = if text.is_empty() { "" } else { "." };
        let exponent = self.min_normal_exponent() + field.saturating_sub(1) as i32;
        format!("{sign}0x{}{point}{text}p{exponent:+}", field.min(1))
    }

    /// Shortest decimal that parses to the same bits: `1.23`, `-0`, `1e-45`, `inf`, `nan`. Integers
    /// of up to 15 digits are written in full (`65504`, although `65500` parses to the same value
    /// in binary16).
    pub fn decimal(self, bits: u64) -> String {
        let value = self.to_f64(bits);
        let sign = if self.is_negative(bits) { "-" } else { "" };
        if !self.is_finite(bits) {
            return format!("{sign}{}", if self.is_nan(bits) { "nan" } else { "inf" });
        }
        if value.fract() == 0.0 && value.abs() < 1e15 {
            return format!("{sign}{}", value.abs());
        }
        // 17 digits identify every binary64, so that the search ends.
        let scientific = (0..17)
            .map(|digits| format!("{:.digits$e}", value.abs()))
            .find(|text| self.parse(text).is_ok_and(|n| n.bits == bits & self.magnitude_mask()))
            .unwrap_or_else(|| format!("{:e}", value.abs()));
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let mut text = sign.to_owned();
        if (-5..10).contains(&exponent) {
            let digits = mantissa.replace('.', "");
            let whole = usize::try_from(exponent + 1).unwrap_or(0);
            match exponent {
                ..0 => _ = write!(text, "0.{}{digits}", "0".repeat((-1 - exponent) as usize)),
                _ if digits.len() <= whole => _ = write!(text, "{digits:0<whole$}"),
                _ => _ = write!(text, "{}.{}", &digits[..whole], &digits[whole..]),
            }
        } else {
            text += &scientific;
        }
        text
    }

    /// Bits as hexadecimal, with all digits of the width: `0x3f800000`.
    pub fn hex_bits(self, bits: u64) -> String {
        format!("0x{bits:0width$x}", width = self.width.div_ceil(4) as usize)
    }

    /// Parses a number: bits (`0x` without exponent), a hexadecimal float (`0x`, with `p`), a
    /// decimal, `inf` or `nan`, all but the first with an optional sign. Rounds to nearest, ties to
    /// even, and reports whether the number is exact.
    ///
    /// # Errors
    /// Fails if the text is none of these, or does not denote a value of the format.
    pub fn parse(self, text: &str) -> Result<Number, NumberError> {
        let malformed = || NumberError::Malformed { text: text.to_owned() };
        let (negative, digits) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let lower = digits.to_ascii_lowercase();
        let signed = |bits: u64| if negative { bits | self.sign_mask() } else { bits };
        if let Some(hex) = lower.strip_prefix("0x") {
            return match hex.split_once('p') {
                Some((mantissa, exponent)) => {
                    let (mantissa, fraction) = digits_of(mantissa, 16).ok_or_else(malformed)?;
                    let exponent = exponent_of(exponent).ok_or_else(malformed)?;
                    let scale = exponent.saturating_sub(4 * fraction);
                    self.round(text, &mantissa, 2, scale).map(|n| Number { bits: signed(n.bits), ..n })
                }
                None if hex.contains('.') => Err(NumberError::NoExponent { text: text.to_owned() }),
                None if negative || text.starts_with('+') => Err(malformed()),
                None => self.parse_bits(text, hex),
            };
        }
        match lower.as_str() {
            "inf" | "infinity" if self.has_infinity() => {
                Ok(Number { bits: signed(self.infinity() as u64), exact: true })
            }
            "inf" | "infinity" => Err(NumberError::OutOfRange { text: text.to_owned(), format: self.name.to_owned() }),
            "nan" => Ok(Number { bits: signed(self.nan()), exact: true }),
            _ => {
                let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
                let (mantissa, fraction) = digits_of(mantissa, 10).ok_or_else(malformed)?;
                let exponent = exponent_of(exponent).ok_or_else(malformed)?;
                let scale = exponent.saturating_sub(fraction);
                self.round(text, &mantissa, 10, scale).map(|n| Number { bits: signed(n.bits), ..n })
            }
        }
    }

    fn parse_bits(self, text: &str, hex: &str) -> Result<Number, NumberError> {
        if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(NumberError::Malformed { text: text.to_owned() });
        }
        match u64::from_str_radix(hex, 16) {
            Ok(bits) if bits & !self.mask() == 0 => Ok(Number { bits, exact: true }),
            _ => Err(NumberError::TooWide { text: text.to_owned(), format: self.name.to_owned(), width: self.width }),
        }
    }

    /// `mantissa * base^scale`, rounded to nearest, ties to even.
    fn round(self, text: &str, mantissa: &BigUint, base: u32, scale: i64) -> Result<Number, NumberError> {
        let out_of_range = || NumberError::OutOfRange { text: text.to_owned(), format: self.name.to_owned() };
        if mantissa.is_zero() {
            return Ok(Number { bits: 0, exact: true });
        }
        // For exponents far outside every format the powers below would only cost time.
        let order = scale.saturating_add(if base == 2 { mantissa.bits() as i64 } else { mantissa.bits() as i64 / 4 });
        let overflow = match self.has_infinity() {
            true => Ok(Number { bits: self.infinity() as u64, exact: false }),
            false => Err(out_of_range()),
        };
        if order > 1_100 {
            return overflow;
        }
        if scale.saturating_add(mantissa.bits() as i64) < -1_200 {
            return Ok(Number { bits: 0, exact: false });
        }
        let power = BigUint::from(base).pow(scale.unsigned_abs() as u32);
        let (numerator, denominator) =
            if scale < 0 { (mantissa.clone(), power) } else { (mantissa * power, BigUint::one()) };
        let estimate = numerator.bits() as i64 - denominator.bits() as i64;
        let reaches = if estimate < 0 {
            &numerator << estimate.unsigned_abs() >= denominator
        } else {
            numerator >= &denominator << estimate.unsigned_abs()
        };
        let binade = if reaches { estimate } else { estimate - 1 };
        let unit = (binade - i64::from(self.fraction_bits)).max(i64::from(self.quantum()));
        let (numerator, denominator) = match unit {
            ..0 => (numerator << unit.unsigned_abs(), denominator),
            _ => (numerator, denominator << unit.unsigned_abs()),
        };
        let quotient = &numerator / &denominator;
        let twice = (numerator - &quotient * &denominator) << 1u32;
        let up = twice > denominator || (twice == denominator && quotient.bit(0));
        let steps = quotient.iter_u64_digits().next().unwrap_or(0) + u64::from(up);
        // Ranks continue through the binades, so that a carry out of the fraction needs no
        // treatment.
        let rank = (u128::from((unit - i64::from(self.quantum())) as u64) << self.fraction_bits) + u128::from(steps);
        if rank > self.max_finite() as u128 {
            return overflow;
        }
        Ok(Number { bits: rank as u64, exact: twice.is_zero() })
    }
}

/// Digits with at most one point: their value as an integer, and the number of digits after the
/// point.
fn digits_of(text: &str, radix: u32) -> Option<(BigUint, i64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all = format!("{whole}{fraction}");
    let valid = !all.is_empty() && all.len() <= 4_096 && all.chars().all(|c| c.is_digit(radix));
    Some((BigUint::parse_bytes(all.as_bytes(), radix).filter(|_| valid)?, fraction.len() as i64))
}

/// Decimal exponent with an optional sign, clamped to a value beyond the range of every format.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-', '\u{2212}']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse().unwrap_or(i64::MAX).min(1_000_000);
    Some(if digits.len() < text.len() && !text.starts_with('+') { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BF16, F8_E4M3, F16, F32, F64};

    #[test]
    fn text_survives_the_way_there_and_back() {
        for format in [F8_E4M3, F16, BF16] {
            for bits in (0..=format.mask()).filter(|&b| !format.is_nan(b)) {
                for text in [format.hex_float(bits), format.decimal(bits), format.hex_bits(bits)] {
                    assert_eq!(format.parse(&text), Ok(Number { bits, exact: format.parse(&text).unwrap().exact }));
                }
                assert!(format.parse(&format.hex_float(bits)).unwrap().exact);
            }
        }
    }

    #[test]
    fn rounding_agrees_with_the_host() {
        let mut state = 7u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let text = format!("{}.{}e{}", state >> 40, (state >> 20) & 0xfff, (state % 700) as i64 - 360);
            let bits = |t: &str, f: Format| f.parse(t).unwrap().bits;
            assert_eq!(bits(&text, F64), text.parse::<f64>().unwrap().to_bits(), "{text}");
            assert_eq!(bits(&text, F32), u64::from(text.parse::<f32>().unwrap().to_bits()), "{text}");
        }
        for bits in (0..u32::MAX).step_by(1_299_709).filter(|&b| f32::from_bits(b).is_finite()) {
            // Of two equally short decimals the host prints the closer one; in a tie either is
            // right.
            let (ours, host) = (F32.decimal(u64::from(bits)), format!("{:e}", f32::from_bits(bits)));
            assert_eq!(ours.parse::<f32>().unwrap().to_bits(), bits);
            let digits = |t: &str| {
                let digits: String = t.split('e').next().unwrap().chars().filter(char::is_ascii_digit).collect();
                digits.trim_matches('0').len()
            };
            let whole = f32::from_bits(bits).fract() == 0.0 && !ours.contains('e');
            assert!(whole || digits(&ours) == digits(&host), "{ours} {host}");
        }
    }

    #[test]
    fn floats_are_shown_in_hexadecimal_and_decimal() {
        assert_eq!(F32.hex_float(0x3f9d_70a4), "0x1.3ae148p+0");
        assert_eq!(F32.decimal(0x3f9d_70a4), "1.23");
        assert_eq!(F32.hex_float(0x8000_0001), "-0x0.000002p-126");
        assert_eq!(F32.decimal(1), "1e-45");
        assert_eq!(F32.decimal(0x8000_0000), "-0");
        assert_eq!(F16.decimal(0x7bff), "65504");
        assert_eq!(F32.decimal(0x4f00_0000), "2147483648");
        assert_eq!(F32.decimal(0x7f7f_ffff), "3.4028235e38");
        assert_eq!(F16.hex_bits(1), "0x0001");
        assert_eq!(F64.decimal(0x3f1a_36e2_eb1c_432d), "0.0001");
        assert_eq!(F32.decimal(0x7f80_0000), "inf");
    }

    #[test]
    fn text_that_is_not_a_number_is_rejected_with_its_reason() {
        assert_eq!(F32.parse("0.1"), Ok(Number { bits: 0x3dcc_cccd, exact: false }));
        assert_eq!(F32.parse("-0x1.8p1"), Ok(Number { bits: 0xc040_0000, exact: true }));
        assert_eq!(F32.parse("1e999999999999").unwrap().bits, 0x7f80_0000);
        assert_eq!(F32.parse("1e-999999999999").unwrap(), Number { bits: 0, exact: false });
        assert!(matches!(F32.parse("0x1.8"), Err(NumberError::NoExponent { .. })));
        assert!(matches!(F16.parse("0x10000"), Err(NumberError::TooWide { .. })));
        assert!(matches!(F8_E4M3.parse("inf"), Err(NumberError::OutOfRange { .. })));
        for text in ["", "-", "1..2", "e5", "1e", "0x", "0xg", "-0x3f800000", "one", "1.5f", "0x1p"] {
            assert!(matches!(F32.parse(text), Err(NumberError::Malformed { .. })), "{text}");
        }
    }
}
