//! Variables of `for` loops that a text uses in later loops without a declaration.
//!
//! fxc, the former compiler of HLSL, declares such a variable in the scope around its loop (warning
//! X3078). For other compilers its scope is the loop.

use crate::missing_macros::line_of;

/// Phrase of glslang's message about a name in quotes.
const UNKNOWN: &str = "' : unknown variable";

/// Note on a text whose loops got declarations.
pub(crate) const NOTE: &str = "a loop uses a variable that an earlier loop declares, as fxc permits; it got a \
                               declaration of its own";

/// Returns a text with a declaration in the loop that a message of glslang is about: it begins with an
/// assignment to an unknown variable, which takes the type that an earlier loop declares. `None` for
/// another message. Lines keep their numbers.
pub(crate) fn with_loop_variable(text: &str, file: &str, message: &str) -> Option<String> {
    let said = message.lines().find(|line| line.contains(UNKNOWN))?;
    let name = said.split_once(UNKNOWN)?.0.rsplit('\'').next()?;
    let at = line_of(said, file)?.checked_sub(1)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let before = lines.get(..at)?.iter().rev();
    let ty = before.flat_map(|line| headers(line)).find_map(|header| declared_type(header, name))?;
    let header =
        headers(lines[at]).find(|header| header.split('=').next().is_some_and(|first| first.trim() == name))?;
    let begin = lines[at].len() - header.len();
    let changed = format!("{}{ty} {header}", &lines[at][..begin]);
    lines[at] = &changed;
    Some(lines.join("\n") + "\n")
}

/// Returns the rest of a line after each `for (`.
fn headers(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("for").filter_map(|(at, word)| line[at + word.len()..].trim_start().strip_prefix('('))
}

/// Returns the type with which the header of a loop declares a variable.
fn declared_type<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let mut words = header.split('=').next()?.split_whitespace();
    let (ty, declared) = (words.next()?, words.next()?);
    (declared == name && words.next().is_none()).then_some(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_loop_declares_the_variable_of_an_earlier_one() {
        let text = "uint3 f(uint3 i) { return i; }\nfor (uint i = 0; i < 8; i++) {}\n{ for( i = 0; i < 4; ++i) {} }\n";
        let message = "ERROR: a.hlsl:3: 'i' : unknown variable \nERROR: a.hlsl:3: ';' : Expected";
        let changed = text.replace("for( i", "for(uint  i");
        assert_eq!(with_loop_variable(text, "a.hlsl", message), Some(changed));
        let others = [
            message.replace("'i'", "'k'"),
            message.replace(":3:", ":2:"),
            message.replace(":3:", ":9:"),
            message.replace("unknown variable", "redefinition"),
        ];
        for other in others {
            assert_eq!(with_loop_variable(text, "a.hlsl", &other), None, "{other}");
        }
    }
}
