//! Compound assignments to several elements of a matrix in HLSL: `m._11_22 -= x;`.
//!
//! glslang permits only simple assignments to such a swizzle, fxc and dxc permit both.

use crate::missing_macros::line_of;

/// Phrase of glslang's message.
const ONLY_SIMPLE: &str = "only simple assignment to non-simple matrix swizzle";

/// Note on a text with a replaced assignment.
pub(crate) const NOTE: &str = "a compound assignment to several elements of a matrix, which glslang does not support, \
                               was written as a simple one";

/// Returns a text in which the assignment that a message of glslang is about is a simple one:
/// `m._11_22 = m._11_22 - (x);`. `None` for another message, or if the target would be evaluated twice
/// with an effect. Lines keep their numbers.
pub(crate) fn with_simple_assignment(text: &str, file: &str, message: &str) -> Option<String> {
    let said = message.lines().find(|line| line.contains(ONLY_SIMPLE))?;
    let at = line_of(said, file)?.checked_sub(1)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let line = *lines.get(at)?;
    let operator = ["+=", "-=", "*=", "/="].into_iter().find(|operator| line.contains(operator))?;
    let (target, value) = line.split_once(operator)?;
    let (value, rest) = value.split_once(';')?;
    let name = target.trim_start();
    let is_plain = name.trim_end().chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c));
    if !is_plain {
        return None;
    }
    let changed = format!("{target}= {} {} ({});{rest}", name.trim_end(), &operator[..1], value.trim());
    lines[at] = &changed;
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_assignment_becomes_a_simple_one() {
        let text = "float3x3 B = A;\n    B._11_22_33 -= q * 2;\n";
        let message = "ERROR: a.hlsl:2: 'assign' : only simple assignment to non-simple matrix swizzle is supported \n";
        let simple = "float3x3 B = A;\n    B._11_22_33 = B._11_22_33 - (q * 2);\n";
        assert_eq!(with_simple_assignment(text, "a.hlsl", message).as_deref(), Some(simple));
        let with_effect = text.replace("B._", "all[i++]._");
        assert_eq!(with_simple_assignment(&with_effect, "a.hlsl", message), None);
        let others = [message.replace(":2:", ":1:"), message.replace(":2:", ":9:"), message.replace("only", "no")];
        for other in others {
            assert_eq!(with_simple_assignment(text, "a.hlsl", &other), None, "{other}");
        }
    }
}
