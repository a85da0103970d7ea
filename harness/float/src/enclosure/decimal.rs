//! Decimal text of enclosures.

use super::big_enclosure::num::Num;
use num_bigint::BigUint;
use num_traits::{One, Pow};

/// Decimal exponents that are written out with zeros; others use an exponent.
const PLAIN: std::ops::RangeInclusive<i64> = -5..=16;

/// The interval in decimal: as many significant digits as both ends share when rounded, at most
/// `digits`. Both ends if they share none.
pub(super) fn decimal(lo: &Num, hi: &Num, digits: usize) -> String {
    let digits = digits.max(1);
    if lo == hi {
        return number(lo, digits);
    }
    let shared = (1..=digits).rev().map(|n| (number(lo, n), number(hi, n))).find(|(a, b)| a == b);
    match shared {
        Some((text, _)) => text,
        None => format!("[{}, {}]", number(lo, digits.min(3)), number(hi, digits.min(3))),
    }
}

/// One end, rounded to so many significant digits, without trailing zeros.
fn number(value: &Num, digits: usize) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let sign = if value.negative { "-" } else { "" };
    if value.is_huge() {
        return format!("{sign}inf");
    }
    if value.top().abs() > 100_000 {
        return format!("{sign}2^{}", value.top() - 1);
    }
    let (text, exponent) = significant(value, digits as i64);
    let text = text.trim_end_matches('0');
    let point = |text: &str, at: usize| match text.split_at_checked(at) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{text:0<at$}"),
    };
    if !PLAIN.contains(&exponent) {
        return format!("{sign}{}e{exponent}", point(text, 1));
    }
    match usize::try_from(exponent) {
        Ok(exponent) => format!("{sign}{}", point(text, exponent + 1)),
        Err(_) => format!("{sign}0.{}{text}", "0".repeat((-1 - exponent) as usize)),
    }
}

/// Exactly `digits` digits of the magnitude, rounded to nearest, and the decimal exponent of the
/// first.
fn significant(value: &Num, digits: i64) -> (String, i64) {
    let mut exponent = ((value.top() - 1) as f64 * std::f64::consts::LOG10_2).floor() as i64;
    loop {
        // value * 10^(digits - 1 - exponent) as a fraction.
        let power = digits - 1 - exponent;
        let ten = Pow::pow(&BigUint::from(10u32), power.unsigned_abs());
        let (mut numerator, mut denominator) = (value.mantissa.clone(), BigUint::one());
        if power >= 0 {
            numerator *= ten
        } else {
            denominator *= ten
        }
        if value.exponent >= 0 {
            numerator <<= value.exponent as u64;
        } else {
            denominator <<= value.exponent.unsigned_abs();
        }
        let text = ((numerator * 2u32 + &denominator) / (denominator * 2u32)).to_string();
        match (text.len() as i64).cmp(&digits) {
            std::cmp::Ordering::Equal => return (text, exponent),
            // The first guess is too low by at most one, or the rounding carried.
            std::cmp::Ordering::Greater => exponent += 1,
            std::cmp::Ordering::Less => exponent -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dyadic;

    #[test]
    fn numbers_read_as_written() {
        let text = |v: f64, digits| {
            let n = Num::from_dyadic(Dyadic::from_f64(v).unwrap());
            decimal(&n, &n, digits)
        };
        assert_eq!(text(0.0, 5), "0");
        assert_eq!(text(-2.5, 5), "-2.5");
        assert_eq!(text(100.0, 5), "100");
        assert_eq!(text(99_999.96, 6), "100000");
        assert_eq!(text(0.001, 3), "0.001");
        assert_eq!(text(1e-9, 3), "1e-9");
        assert_eq!(text(1.5e300, 3), "1.5e300");
        assert_eq!(text(0.1, 20), "0.10000000000000000555");
        let end = |v: f64| Num::from_dyadic(Dyadic::from_f64(v).unwrap());
        assert_eq!(decimal(&end(1.2345), &end(1.2346), 10), "1.23");
        assert_eq!(decimal(&end(-1.0), &end(1.0), 10), "[-1, 1]");
    }
}
