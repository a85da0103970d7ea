//! Number literals: their types, their words and their text.

use std::fmt::Write;

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};

use crate::tables::FPEncoding;

/// Type of a number literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberType {
    /// An integer of 1 to 64 bits.
    Int {
        /// Its width in bits.
        width: u8,
        /// Set for a signed integer, whose literals are sign-extended to whole words.
        signed: bool,
    },
    /// A floating-point number.
    Float(Format),
}

impl NumberType {
    /// The type of literals that the grammar calls "integer" only.
    pub(crate) const U32: NumberType = NumberType::Int { width: 32, signed: false };

    /// Returns the type that `OpTypeInt` with these operands declares; `None` if literals of it are
    /// not supported.
    pub(crate) fn int(width: u32, signedness: u32) -> Option<NumberType> {
        let width = u8::try_from(width).ok().filter(|w| (1..=64).contains(w))?;
        Some(NumberType::Int { width, signed: signedness != 0 })
    }

    /// Returns the type that `OpTypeFloat` with these operands declares; `None` if literals of it
    /// are not supported.
    pub(crate) fn float(width: u32, encoding: Option<u32>) -> Option<NumberType> {
        let Some(encoding) = encoding else {
            return match width {
                16 => Some(NumberType::Float(F16)),
                32 => Some(NumberType::Float(F32)),
                64 => Some(NumberType::Float(F64)),
                _ => None,
            };
        };
        match (FPEncoding::from_word(encoding)?, width) {
            (FPEncoding::BFloat16KHR, 16) => Some(NumberType::Float(BF16)),
            (FPEncoding::Float8E4M3EXT, 8) => Some(NumberType::Float(F8_E4M3)),
            (FPEncoding::Float8E5M2EXT, 8) => Some(NumberType::Float(F8_E5M2)),
            _ => None,
        }
    }

    /// Returns the number of words of a literal of this type.
    pub(crate) fn words(self) -> usize {
        let width = match self {
            NumberType::Int { width, .. } => u32::from(width),
            NumberType::Float(format) => format.width,
        };
        if width > 32 { 2 } else { 1 }
    }

    /// Parses a literal into its words, low word first. The error names the expected text.
    pub(crate) fn parse(self, text: &str) -> Result<u64, String> {
        match self {
            NumberType::Int { width, signed } => parse_int(text, u32::from(width), signed),
            NumberType::Float(format) => parse_float(text, format),
        }
    }

    /// Writes the literal. Returns `false` if its words are not the canonical ones that
    /// [`NumberType::parse`] returns.
    pub(crate) fn write(self, bits: u64, out: &mut String) -> bool {
        match self {
            NumberType::Int { width, signed } => {
                let extended = extend(bits, u32::from(width), signed);
                if extended != bits {
                    return false;
                }
                let value = if signed && self.words() == 1 { i64::from(bits as u32 as i32) } else { bits as i64 };
                if signed { write!(out, "{value}") } else { write!(out, "{bits}") }.expect("writing to a string");
                true
            }
            NumberType::Float(format) => {
                if bits & !format.mask() != 0 {
                    return false;
                }
                write_float(bits, format, out);
                true
            }
        }
    }
}

/// Sign- or zero-extends the low `width` bits of a literal to whole words.
fn extend(bits: u64, width: u32, signed: bool) -> u64 {
    let unused = 64 - width;
    let value = if signed { ((bits << unused) as i64 >> unused) as u64 } else { bits << unused >> unused };
    if width > 32 { value } else { value & 0xffff_ffff }
}

fn parse_int(text: &str, width: u32, signed: bool) -> Result<u64, String> {
    let expected =
        || format!("expected {} {width}-bit integer, found {text:?}", if signed { "a signed" } else { "an unsigned" });
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => (16, hexadecimal),
        // As in C and in spirv-as, a leading zero means octal.
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if digits.starts_with(['+', '-']) || (negative && !signed) {
        return Err(expected());
    }
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| expected())?;
    let range = u64::MAX >> (64 - width);
    let sign = 1u64 << (width - 1);
    let fits = match (signed, negative) {
        (true, true) => magnitude <= sign,
        // A hexadecimal literal may set the sign bit.
        (true, false) => magnitude < sign || (radix == 16 && magnitude <= range),
        (false, _) => magnitude <= range,
    };
    if !fits {
        return Err(format!("{text} does not fit into {width} bits"));
    }
    Ok(extend(if negative { magnitude.wrapping_neg() } else { magnitude }, width, signed))
}

fn parse_float(text: &str, format: Format) -> Result<u64, String> {
    let expected = || format!("expected a {}-bit floating-point number, found {text:?}", format.width);
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let sign = if negative { format.sign_mask() } else { 0 };
    let too_large = || format!("{text} is too large for {}", format.name);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let (significand, exponent) = parse_hexadecimal(hexadecimal).ok_or_else(expected)?;
        return truncate(format, significand, exponent).map(|bits| bits | sign).ok_or_else(too_large);
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(expected());
    }
    if format == F64 {
        let value: f64 = digits.parse().map_err(|_| expected())?;
        return if value.is_finite() { Ok(value.to_bits() | sign) } else { Err(too_large()) };
    }
    let value: f32 = digits.parse().map_err(|_| expected())?;
    if !value.is_finite() {
        return Err(too_large());
    }
    if format == F32 {
        return Ok(u64::from(value.to_bits()) | sign);
    }
    // spirv-as parses narrower formats as single precision and then rounds toward zero; this
    // function gives the same words.
    let bits = value.to_bits();
    let (field, fraction) = (bits >> 23, u64::from(bits & 0x7f_ffff));
    let (significand, exponent) =
        if field == 0 { (fraction, -149) } else { (fraction | 0x80_0000, field as i32 - 150) };
    let narrow = truncate(format, significand, exponent).filter(|&bits| format.is_finite(bits));
    narrow.map(|bits| bits | sign).ok_or_else(too_large)
}

/// Parses a hexadecimal significand and exponent, such as `1.8p+3`. Returns an integer significand
/// and its exponent of two.
fn parse_hexadecimal(text: &str) -> Option<(u64, i32)> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    if exponent.unsigned_abs() > 100_000 {
        return None;
    }
    let (mut significand, mut shift, mut fraction, mut any) = (0u64, 0i32, false, false);
    for c in digits.chars() {
        if c == '.' && !fraction {
            fraction = true;
            continue;
        }
        let digit = u64::from(c.to_digit(16)?);
        any = true;
        if significand >> 60 == 0 {
            significand = significand << 4 | digit;
            shift -= if fraction { 4 } else { 0 };
        } else if !fraction {
            shift = shift.checked_add(4)?;
        }
    }
    any.then_some((significand, exponent.checked_add(shift)?))
}

/// Returns the bits of `significand * 2^exponent`, rounded toward zero; `None` if the exponent
/// field overflows. The field may be all ones: infinities and NaNs are written so (`0x1p+128`,
/// `0x1.8p+128`).
fn truncate(format: Format, significand: u64, exponent: i32) -> Option<u64> {
    if significand == 0 {
        return Some(0);
    }
    let top = 63 - significand.leading_zeros() as i32;
    let field = exponent + top + format.bias();
    if field >= 1 << format.exponent_bits {
        return None;
    }
    let fraction_bits = format.fraction_bits as i32;
    // A denormal has no implied bit, and the exponent of field 1.
    let unit = if field > 0 { top - fraction_bits } else { top - fraction_bits + 1 - field };
    let scaled = match unit {
        64.. => 0,
        0..64 => significand >> unit,
        _ => significand << -unit,
    };
    let implied = if field > 0 { 1 << format.fraction_bits } else { 0 };
    let field = if field > 0 { field as u64 } else { 0 };
    Some((scaled - implied) | field << format.fraction_bits)
}

fn write_float(bits: u64, format: Format, out: &mut String) {
    let plain = format.is_finite(bits) && !format.is_denormal(bits);
    let written = match format {
        F32 if plain => decimal(f32::from_bits(bits as u32), out),
        F64 if plain => decimal(f64::from_bits(bits), out),
        _ => write_hexadecimal(bits, format, out),
    };
    written.expect("writing to a string");
}

/// Writes the shortest decimal that parses to the same number.
fn decimal<T: Copy + Into<f64> + std::fmt::Display + std::fmt::LowerExp>(
    value: T,
    out: &mut String,
) -> std::fmt::Result {
    let magnitude = value.into().abs();
    if magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

fn write_hexadecimal(bits: u64, format: Format, out: &mut String) -> std::fmt::Result {
    if format.is_negative(bits) {
        out.push('-');
    }
    let magnitude = bits & format.magnitude_mask();
    if magnitude == 0 {
        return write!(out, "0x0p+0");
    }
    let field = magnitude >> format.fraction_bits;
    let fraction = magnitude & ((1 << format.fraction_bits) - 1);
    let (fraction, exponent) = if field == 0 {
        let top = 63 - fraction.leading_zeros();
        let shift = format.fraction_bits - top;
        (fraction << shift & ((1 << format.fraction_bits) - 1), 1 - format.bias() - shift as i32)
    } else {
        (fraction, field as i32 - format.bias())
    };
    out.push_str("0x1");
    if fraction != 0 {
        let digits = format.fraction_bits.div_ceil(4);
        let aligned = fraction << (digits * 4 - format.fraction_bits);
        let text = format!("{aligned:0width$x}", width = digits as usize);
        write!(out, ".{}", text.trim_end_matches('0'))?;
    }
    write!(out, "p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(ty: NumberType, text: &str) -> Result<u64, String> {
        ty.parse(text)
    }

    #[test]
    fn integers_are_extended_by_their_type() {
        let short = NumberType::Int { width: 16, signed: true };
        assert_eq!(words_of(short, "-1"), Ok(0xffff_ffff));
        assert_eq!(words_of(short, "0xffff"), Ok(0xffff_ffff));
        assert_eq!(words_of(short, "32767"), Ok(0x7fff));
        assert!(words_of(short, "32768").is_err());
        assert!(words_of(NumberType::U32, "-1").is_err());
        assert_eq!(words_of(NumberType::U32, "010"), Ok(8));
        assert_eq!(words_of(NumberType::U32, "0"), Ok(0));
        assert_eq!(words_of(NumberType::Int { width: 64, signed: true }, "-2"), Ok(u64::MAX - 1));
    }

    #[test]
    fn floats_parse_as_in_spirv_as() {
        let float = NumberType::Float(F32);
        assert_eq!(words_of(float, "0x1p+128"), Ok(0x7f80_0000));
        assert_eq!(words_of(float, "-0x1.8p+128"), Ok(0xffc0_0000));
        assert_eq!(words_of(float, "0x1p-149"), Ok(1));
        assert_eq!(words_of(float, "-0"), Ok(0x8000_0000));
        assert_eq!(words_of(NumberType::Float(F16), "0.1"), Ok(0x2e66));
        assert_eq!(words_of(NumberType::Float(F16), "0.7"), Ok(0x3999));
        assert!(words_of(float, "1e40").is_err());
        assert!(words_of(float, "inf").is_err());
        assert!(words_of(NumberType::Float(F16), "65536").is_err());
    }

    #[test]
    fn every_narrow_float_survives_text() {
        for format in [F16, BF16, F8_E4M3, F8_E5M2] {
            for bits in 0..1u64 << format.width {
                let mut text = String::new();
                assert!(NumberType::Float(format).write(bits, &mut text));
                assert_eq!(words_of(NumberType::Float(format), &text), Ok(bits), "{text} as {}", format.name);
            }
        }
    }

    #[test]
    fn wide_floats_survive_text() {
        let mut bits = 1u64;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x2545_f491_4f6c_dd1d);
            for (format, bits) in [(F32, bits >> 32), (F64, bits), (F64, bits >> 13), (F32, bits >> 41)] {
                let mut text = String::new();
                assert!(NumberType::Float(format).write(bits, &mut text));
                assert_eq!(words_of(NumberType::Float(format), &text), Ok(bits), "{text}");
            }
        }
    }
}
