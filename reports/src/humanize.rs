//! Counts, margins and times in human-readable form.

use assay_events::group_digits;
use num_bigint::BigUint;
use std::{fmt, str::FromStr};

/// Formats a count with its noun: `1 case`, `2,048 cases`. The noun is given in the singular and
/// has a regular plural.
pub fn counted(value: impl fmt::Display, noun: &str) -> String {
    let digits = group_digits(value);
    let s = plural(&digits, "", "s");
    format!("{digits} {noun}{s}")
}

/// Returns `one` for the count 1 and `more` for all others.
pub fn plural<'a>(value: impl fmt::Display, one: &'a str, more: &'a str) -> &'a str {
    if value.to_string() == "1" { one } else { more }
}

/// Formats a percentage: `12.50 %`. A non-zero share is never shown as 0, nor an incomplete one as
/// 100.
pub(crate) fn share(part: u64, of: u64) -> String {
    let percent = 100.0 * part as f64 / of.max(1) as f64;
    match format!("{percent:.2}").as_str() {
        "0.00" if part > 0 => "<0.01 %".to_owned(),
        "100.00" if part < of => ">99.99 %".to_owned(),
        text => format!("{text} %"),
    }
}

/// Formats a margin with three digits: `0.873`, `12.4`, `2.1e-5`, `inf`. A value other than 1 gets
/// more digits if it would be rounded to the limit 1.
pub fn margin(value: f64) -> String {
    if value == 0.0 || value.is_infinite() {
        return value.to_string();
    }
    if !(1e-3..1e6).contains(&value) {
        return format!("{value:.1e}");
    }
    let digits = match value {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    for digits in [digits, 6, 9, 17] {
        let text = format!("{value:.digits$}");
        if value == 1.0 || text.parse() != Ok(1.0) {
            return text;
        }
    }
    format!("{value}")
}

/// Formats a time: `0.43 s`, `12.3 s`, `2 min 31 s`, `3 h 05 min`.
pub fn seconds(value: f64) -> String {
    if value == 0.0 {
        "0 s".to_owned()
    } else if value < 0.01 {
        format!("{:.2} ms", value * 1e3)
    } else if value < 1.0 {
        format!("{value:.2} s")
    } else if value < 100.0 {
        format!("{value:.1} s")
    } else if value < 5_940.0 {
        let whole = value.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        let minutes = (value / 60.0).round() as u64;
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

/// Number of possible inputs. It exceeds 64 bits for several 32-bit operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputCount(BigUint);

impl InputCount {
    /// Returns true if this many tested inputs are all of them.
    pub fn is_covered_by(&self, tested: u64) -> bool {
        BigUint::from(tested) >= self.0
    }
}

impl FromStr for InputCount {
    type Err = num_bigint::ParseBigIntError;

    fn from_str(text: &str) -> Result<InputCount, Self::Err> {
        text.parse().map(InputCount)
    }
}

impl fmt::Display for InputCount {
    /// Formats a power of two as `2^32`, up to twelve digits in full, and greater numbers as
    /// `1.8e19`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.count_ones() == 1 && self.0.bits() > 10 {
            return write!(f, "2^{}", self.0.bits() - 1);
        }
        let digits = self.0.to_string();
        if digits.len() <= 12 {
            f.write_str(&group_digits(digits))
        } else {
            write!(f, "{}.{}e{}", &digits[..1], &digits[1..2], digits.len() - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_input_numbers_are_readable() {
        assert_eq!(group_digits(0), "0");
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(4_294_967_296u64), "4,294,967,296");
        let shown = |text: &str| text.parse::<InputCount>().unwrap().to_string();
        assert_eq!(shown("4294967296"), "2^32");
        assert_eq!(shown("340282366920938463463374607431768211456"), "2^128");
        assert_eq!(shown("256"), "256");
        assert_eq!(shown("4294967295"), "4,294,967,295");
        assert_eq!(shown("18446744069414584321"), "1.8e19");
    }

    #[test]
    fn nouns_agree_with_their_counts() {
        let shown = [0, 1, 2, 2_048].map(|n| format!("{} {}", counted(n, "case"), plural(n, "is", "are")));
        assert_eq!(shown, ["0 cases are", "1 case is", "2 cases are", "2,048 cases are"]);
    }

    #[test]
    fn a_margin_never_rounds_to_the_limit() {
        assert_eq!(margin(0.0), "0");
        assert_eq!(margin(0.000_123), "1.2e-4");
        assert_eq!(margin(1.0), "1.00");
        assert_eq!(margin(0.87345), "0.873");
        assert_eq!(margin(0.999_9), "0.999900");
        assert_eq!(margin(1.000_01), "1.000010");
        assert_eq!(margin(1.0 + f64::EPSILON), "1.00000000000000022");
        assert_eq!(margin(12.345), "12.3");
        assert_eq!(margin(1_234.5), "1234");
        assert_eq!(margin(3.4e38), "3.4e38");
        assert_eq!(margin(f64::INFINITY), "inf");
    }

    #[test]
    fn a_share_never_rounds_to_none_or_all() {
        let shown = [(0, 5), (1, 1 << 32), (1, 8), (99_999, 100_000), (7, 7)].map(|(part, of)| share(part, of));
        assert_eq!(shown, ["0.00 %", "<0.01 %", "12.50 %", ">99.99 %", "100.00 %"]);
    }

    #[test]
    fn times_are_readable() {
        assert_eq!((seconds(0.0), seconds(0.000_123)), ("0 s".to_owned(), "0.12 ms".to_owned()));
        assert_eq!(seconds(0.434), "0.43 s");
        assert_eq!(seconds(41.26), "41.3 s");
        assert_eq!(seconds(151.0), "2 min 31 s");
        assert_eq!(seconds(11_100.0), "3 h 05 min");
    }
}
