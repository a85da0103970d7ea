//! `#ifdef` in WGSL, which many projects evaluate before they compile a shader.

use std::collections::BTreeSet;

/// A WGSL text without conditions.
pub(crate) struct UnconditionalText {
    /// The text, with empty lines in place of directives and of branches that are not taken.
    pub(crate) text: String,
    /// Note on the macros.
    pub(crate) note: String,
}

/// Evaluates `#ifdef`, `#ifndef`, `#else` and `#endif` with the given macros (`NAME` or
/// `NAME=VALUE`) and those that the text defines. Returns `None` if the text has no condition, or
/// conditions that do not nest.
pub(crate) fn without_conditions(text: &str, defines: &[String]) -> Option<UnconditionalText> {
    let mut defined: BTreeSet<&str> = defines.iter().filter_map(|define| define.split('=').next()).collect();
    // For each open condition, whether the lines around it and its current branch are taken.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let (mut kept, mut has_conditions) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        let taken = open.last().is_none_or(|(around, branch)| *around && *branch);
        let mut words = line.trim_start().strip_prefix('#').unwrap_or_default().split_whitespace();
        match (words.next(), words.next()) {
            (Some("ifdef"), Some(name)) => open.push((taken, defined.contains(name))),
            (Some("ifndef"), Some(name)) => open.push((taken, !defined.contains(name))),
            (Some("else"), None) => {
                let (_, branch) = open.last_mut()?;
                *branch = !*branch;
            }
            (Some("endif"), None) => _ = open.pop()?,
            (Some("define"), Some(name)) if taken => _ = defined.insert(name),
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
        for other in ["fn a() {}", "#ifdef A", "#endif", "#else\n#endif"] {
            assert!(without_conditions(other, &[]).is_none(), "{other}");
        }
    }
}
