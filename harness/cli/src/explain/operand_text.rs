//! Parsing and formatting of operands and results.

use assay_float::Number;
use assay_precision::Scalar;
use assay_runner::hex;

/// Parses a value of a type.
pub(super) fn parse(text: &str, scalar: Scalar) -> Result<Number, String> {
    match scalar {
        Scalar::Float(format) => format.parse(text).map_err(|error| error.to_string()),
        Scalar::Int { width, signed } => integer(text, width, signed),
        // Bits other than 0 and 1 are accepted, because a device may return them.
        Scalar::Bool => match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Number { bits: 1, exact: true }),
            "false" => Ok(Number { bits: 0, exact: true }),
            _ => {
                integer(text, 32, false).map_err(|_| format!("`{text}` is not a boolean: expected true, false or bits"))
            }
        },
    }
}

fn integer(text: &str, width: u32, signed: bool) -> Result<Number, String> {
    let name = format!("{}{width}", if signed { 'i' } else { 'u' });
    let mask = u64::MAX >> (64 - width);
    let lower = text.to_ascii_lowercase().replace('\u{2212}', "-");
    let value = match lower.strip_prefix("0x") {
        Some(hex) if hex.starts_with(['+', '-']) => None,
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => lower.parse::<i128>().ok(),
    };
    let Some(value) = value else {
        return Err(format!("`{text}` is not an integer: expected bits (0x10) or a decimal (16, -126) of type {name}"));
    };
    let (least, most) = match (lower.starts_with("0x"), signed) {
        (true, _) | (false, false) => (0, i128::from(mask)),
        (false, true) => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
    };
    if value < least || most < value {
        return Err(format!("`{text}` is out of range for {name}"));
    }
    Ok(Number { bits: value as u64 & mask, exact: true })
}

/// Returns the value in decimal.
pub(super) fn decimal(bits: u64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Float(format) => format.decimal(bits),
        Scalar::Int { width, signed: true } => {
            let unused = 64 - width;
            ((bits << unused).cast_signed() >> unused).to_string()
        }
        Scalar::Int { signed: false, .. } => bits.to_string(),
        Scalar::Bool => match bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            _ => "not a boolean".to_owned(),
        },
    }
}

/// Returns the value as a hex float; empty for types that are not floats.
pub(super) fn hex_float(bits: u64, scalar: Scalar) -> String {
    scalar.format().map_or_else(String::new, |format| format.hex_float(bits))
}

/// Returns bits, decimal and hex float in one line. The hex float is omitted if it equals the
/// decimal.
pub(super) fn show(bits: u64, scalar: Scalar) -> String {
    let (decimal, float) = (decimal(bits, scalar), hex_float(bits, scalar));
    let float = if float.is_empty() || float == decimal { String::new() } else { format!(" = {float}") };
    format!("{} = {decimal}{float}", hex(scalar, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_bits_or_decimals() {
        let of = |text: &str, width, signed| integer(text, width, signed).map(|n| n.bits);
        assert_eq!(of("-126", 32, true), Ok(0xffff_ff82));
        assert_eq!(of("0xffffff82", 32, true), Ok(0xffff_ff82));
        assert_eq!(of("\u{2212}1", 8, true), Ok(0xff));
        assert_eq!(of("18446744073709551615", 64, false), Ok(u64::MAX));
        for (text, width, signed) in [
            ("128", 8, true),
            ("-1", 8, false),
            ("0x100", 8, true),
            ("1.5", 32, true),
            ("0x-1", 32, true),
            ("", 8, true),
        ] {
            assert!(of(text, width, signed).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_shown_in_every_notation() {
        let f32 = Scalar::Float(assay_float::F32);
        assert_eq!(show(0x3f9d_70a4, f32), "0x3f9d70a4 = 1.23 = 0x1.3ae148p+0");
        assert_eq!(show(0xff80_0000, f32), "0xff800000 = -inf");
        assert_eq!(show(0xff, Scalar::Int { width: 8, signed: true }), "0xff = -1");
        assert_eq!(show(1, Scalar::Bool), "0x1 = true");
    }
}
