//! Float literals of GLSL without a decimal point, such as `1f`. The language demands one, and the
//! compilers of several drivers do not.

use crate::missing_macros::names;

/// Phrase of glslang's message about such a literal.
pub(crate) const MISSING: &str = "float literal needs a decimal point";

/// Note on a text whose literals got one.
pub(crate) const NOTE: &str = "GLSL demands a decimal point in float literals; it was added where the text has none";

/// Returns a GLSL text with a decimal point in each float literal. Lines keep their numbers.
pub(crate) fn with_decimal_points(text: &str) -> String {
    text.lines().map(|line| with_points_in_line(line) + "\n").collect()
}

fn with_points_in_line(line: &str) -> String {
    let mut changed = line.to_owned();
    let found: Vec<(usize, &str)> = names(line).filter(|(at, word)| lacks_point(line, *at, word)).collect();
    for (at, word) in found.into_iter().rev() {
        changed.insert_str(at + word.len() - 1, ".0");
    }
    changed
}

/// Returns whether a word of a line is an integer with the suffix of a float, and no part of a number
/// with a decimal point.
fn lacks_point(line: &str, at: usize, word: &str) -> bool {
    let digits = word.strip_suffix(['f', 'F']).unwrap_or_default();
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer && !line[..at].ends_with('.') && !line[at + word.len()..].starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_get_a_point_where_they_have_none() {
        let text = "x = 1f + 20F * 1.5f - .5f + 0x1f + a1f + 2.f + 3e2f;";
        assert_eq!(with_decimal_points(text), "x = 1.0f + 20.0F * 1.5f - .5f + 0x1f + a1f + 2.f + 3e2f;\n");
    }
}
