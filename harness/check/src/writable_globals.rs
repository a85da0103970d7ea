//! Uniforms of HLSL that the text assigns to.
//!
//! A variable outside of functions without `static` is a uniform. fxc, the former compiler of HLSL,
//! permits assignments to it in its compatibility mode (error X3025 otherwise), which change a copy of
//! each invocation.

use crate::missing_macros::{is_name, line_of, names};

/// Phrase of glslang's message about such an assignment.
const UNIFORM: &str = "can't modify a uniform";

/// Note on a text whose uniforms got copies.
pub(crate) const NOTE: &str = "the text assigns to a uniform, as fxc permits; each invocation got a copy of it";

/// Ending of the name of a copy.
const COPY: &str = "_of_invocation";

/// Returns a text in which a copy takes the place of the uniform to which the line of a message of glslang
/// assigns. `None` for another message, or if the text does not declare it in a line of its own. Lines
/// keep their numbers.
pub(crate) fn with_copied_uniform(text: &str, file: &str, message: &str) -> Option<String> {
    let said = message.lines().find(|line| line.contains(UNIFORM))?;
    let at = line_of(said, file)?.checked_sub(1)?;
    let (name, declaration) =
        names(text.lines().nth(at)?).find_map(|(_, name)| Some((name, global_declaration(text, name)?)))?;
    let copy = format!("{name}{COPY}");
    let mut changed = String::new();
    for (number, line) in text.lines().enumerate() {
        if number == declaration {
            let ((declared, rest), ty) = (line.split_once(';')?, line.split_whitespace().next()?);
            changed += &format!("{declared}; static {ty} {copy} = {name};{rest}\n");
            continue;
        }
        let mut end = 0;
        for (begin, _) in names(line).filter(|(_, word)| *word == name) {
            changed += &line[end..begin];
            changed += &copy;
            end = begin + name.len();
        }
        changed += &line[end..];
        changed += "\n";
    }
    Some(changed)
}

/// Returns the number of the line `TYPE NAME;` that declares a uniform outside of braces, counted from 0.
fn global_declaration(text: &str, name: &str) -> Option<usize> {
    let mut depth = 0i64;
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        if depth == 0
            && let [ty, declared] = words[..]
            && declared.strip_suffix(';') == Some(name)
            && is_name(ty)
        {
            return Some(number);
        }
        depth += code.matches('{').count() as i64 - code.matches('}').count() as i64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_takes_the_place_of_a_uniform() {
        let text = "struct A {\n  uint seed;\n};\nuint seed; // of the frame\nuint next(A a) {\n  seed += a.seed; return seed;\n}\n";
        let message = "ERROR: a.hlsl:6: 'assign' :  l-value required \"$Global\" (can't modify a uniform)";
        let changed = "struct A {\n  uint seed_of_invocation;\n};\n\
                       uint seed; static uint seed_of_invocation = seed; // of the frame\n\
                       uint next(A a) {\n  seed_of_invocation += a.seed_of_invocation; return seed_of_invocation;\n}\n";
        assert_eq!(with_copied_uniform(text, "a.hlsl", message).as_deref(), Some(changed));
        assert_eq!(with_copied_uniform(text, "a.hlsl", &message.replace(":6:", ":5:")), None);
        assert_eq!(with_copied_uniform(text, "a.hlsl", &message.replace("uniform", "constant")), None);
        assert_eq!(
            with_copied_uniform(&text.replace("uint seed; //", "static uint seed; //"), "a.hlsl", message),
            None
        );
    }
}
