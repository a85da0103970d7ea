//! Scalars as text.

use assay_precision::Scalar;

/// Parses a value of a type: bits (`0x..`), or a number in the notation of the type. Returns `None`
/// if it is neither.
pub(crate) fn scalar_from_text(scalar: Scalar, text: &str) -> Option<u64> {
    match scalar {
        Scalar::Float(format) => format.parse(text).ok().map(|number| number.bits),
        Scalar::Bool => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Scalar::Int { width, signed } => {
            let mask = u64::MAX >> (64 - width);
            let text = text.replace('\u{2212}', "-");
            if let Some(hex) = text.strip_prefix("0x") {
                return u64::from_str_radix(hex, 16).ok().filter(|bits| bits & !mask == 0);
            }
            let value: i128 = text.parse().ok()?;
            let (lo, hi) = if signed { (-1i128 << (width - 1), mask as i128 >> 1) } else { (0, i128::from(mask)) };
            (lo..=hi).contains(&value).then_some(value as u64 & mask)
        }
    }
}
