//! `#ifdef` in WGSL, which many projects evaluate before they compile a shader.

use std::collections::BTreeMap;

/// A WGSL text without conditions.
pub(crate) struct UnconditionalText {
    /// The text, with empty lines in place of directives and of branches that are not taken.
    pub(crate) text: String,
    /// Note on the macros.
    pub(crate) note: String,
}

/// Evaluates `#ifdef`, `#ifndef`, `#else`, `#else ifdef`, `#else ifndef` and `#endif` with the given
/// macros (`NAME` or `NAME=VALUE`) and those that the text defines, and `#if NAME == VALUE` and
/// `#else if`, whose macro must have this value. Returns `None` if the text has no condition, or
/// conditions that do not nest.
pub(crate) fn without_conditions(text: &str, defines: &[String]) -> Option<UnconditionalText> {
    let mut defined: BTreeMap<&str, &str> =
        defines.iter().map(|define| define.split_once('=').unwrap_or((define, ""))).collect();
    let mut open: Vec<Condition> = Vec::new();
    let (mut kept, mut has_conditions) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        let taken = open.last().is_none_or(|condition| condition.around && condition.branch);
        let directive = line.trim_start().strip_prefix('#').unwrap_or_default();
        let words: Vec<&str> = directive.split("//").next().unwrap_or_default().split_whitespace().collect();
        match &words[..] {
            ["else", condition @ ..] => {
                let last = open.last_mut()?;
                last.branch = !last.had && (condition.is_empty() || is_true(condition, &defined)?);
                last.had |= last.branch;
            }
            ["endif", ..] => _ = open.pop()?,
            ["ifdef" | "ifndef" | "if", ..] => {
                let branch = is_true(&words, &defined)?;
                open.push(Condition { around: taken, branch, had: branch });
            }
            ["define", name, value @ ..] if taken => {
                _ = defined.insert(name, value.first().copied().unwrap_or_default());
            }
            _ if taken => kept += line,
            _ => {}
        }
        kept.push('\n');
        has_conditions |= !open.is_empty();
    }
    let options: Vec<String> = defines.iter().map(|define| format!("--define {define}")).collect();
    let with = if options.is_empty() { "without macros".to_owned() } else { format!("with {}", options.join(" ")) };
    let note = format!("#ifdef was evaluated {with}; --define NAME chooses other variants");
    (has_conditions && open.is_empty()).then_some(UnconditionalText { text: kept, note })
}

/// An open condition.
struct Condition {
    /// Set if the lines around it are taken.
    around: bool,
    /// Set if its current branch is taken.
    branch: bool,
    /// Set if a branch was taken.
    had: bool,
}

/// Returns whether the condition of a directive holds; `None` if it has another form.
fn is_true(condition: &[&str], defined: &BTreeMap<&str, &str>) -> Option<bool> {
    match condition {
        ["ifdef", name] => Some(defined.contains_key(name)),
        ["ifndef", name] => Some(!defined.contains_key(name)),
        ["if", name, "==", value] => Some(defined.get(name) == Some(value)),
        ["if", name, "!=", value] => Some(defined.get(name) != Some(value)),
        ["if", name, ">=", value] => {
            let number = |text: &str| text.parse::<i64>().ok();
            Some(number(defined.get(name).copied().unwrap_or("0"))? >= number(value)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_follow_the_macros() {
        let text = "a\n#ifdef HALF\nb\n#ifndef WIDE\nc\n#endif\n#else\nd\n#endif\n#define OWN\n#ifdef OWN\ne\n#endif";
        let lines = |defines: &[&str]| {
            let defines: Vec<String> = defines.iter().map(ToString::to_string).collect();
            let found = without_conditions(text, &defines).unwrap();
            assert_eq!(found.text.lines().count(), text.lines().count());
            (found.text.split_whitespace().collect::<Vec<_>>().concat(), found.note)
        };
        let (kept, note) = lines(&[]);
        assert_eq!(kept, "ade");
        assert!(note.contains("without macros"), "{note}");
        assert_eq!(lines(&["HALF=1"]).0, "abce");
        assert_eq!(lines(&["HALF", "WIDE"]).0, "abe");
        let text = "#if SIDE == 4 // four\na\n#else ifdef HALF\nb\n#else // neither\nc\n#endif // SIDE";
        let lines = |defines: &[&str]| {
            let defines: Vec<String> = defines.iter().map(ToString::to_string).collect();
            without_conditions(text, &defines).unwrap().text.trim().to_owned()
        };
        assert_eq!((&*lines(&["SIDE=4", "HALF"]), &*lines(&["HALF"]), &*lines(&["SIDE=8"])), ("a", "b", "c"));
        assert!(without_conditions("#if A <=> 3\n#endif", &[]).is_none());
        for other in ["fn a() {}", "#ifdef A", "#endif", "#else\n#endif"] {
            assert!(without_conditions(other, &[]).is_none(), "{other}");
        }
    }
}
