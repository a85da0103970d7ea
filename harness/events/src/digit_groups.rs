//! Numbers for people.

use std::fmt;

/// A count with its digits in groups: `4,294,967,296`.
pub fn group_digits(value: impl fmt::Display) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
