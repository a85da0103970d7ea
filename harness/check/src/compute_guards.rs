//! Macros under which a text declares its compute shaders, or a name, or that it demands.
//!
//! A file may contain several shaders, or variants of one, each between `#if defined(NAME)` and
//! `#endif`. Its build defines one of the names at a time.

use std::collections::BTreeSet;

/// Returns the sets of macros that lead to a workgroup size (`local_size_x`) of GLSL, as
/// [`guards_of`] does.
pub fn compute_guards(text: &str) -> Vec<Vec<String>> {
    guards_of(text, |line| line.contains("local_size_") && !line.starts_with("//"))
}

/// Returns the sets of macros that lead to a declaration of a name, as [`guards_of`] does.
pub(crate) fn declaration_guards(text: &str, name: &str) -> Vec<Vec<String>> {
    guards_of(text, |line| declares(line, name))
}

/// Returns the sets of macros that lead to a store to an image in GLSL, as [`guards_of`] does.
pub(crate) fn image_store_guards(text: &str) -> Vec<Vec<String>> {
    guards_of(text, |line| line.contains("imageStore(") && !line.starts_with("//"))
}

/// Returns the macro that keeps a compiler from the line with this index, an `#error`: that of the
/// first branch before an `#else` or `#elif` around the line, or of an `#ifndef`.
pub(crate) fn demanded_macro(text: &str, line: usize) -> Option<String> {
    excluding_macros(text, line).pop().flatten()
}

/// Returns the macro of the first branch within the function that begins in the line with this index.
pub(crate) fn selecting_macro(text: &str, line: usize) -> Option<String> {
    let body = text.lines().skip(line).take_while(|line| !line.starts_with('}'));
    let branch = body.filter_map(directive).find(|(name, _)| matches!(*name, "if" | "ifdef"));
    branch.and_then(|(_, condition)| required_macro(condition))
}

/// Returns the macros that lead out of the branches around the line with this index; the innermost is
/// the last.
pub(crate) fn excluding_macros(text: &str, line: usize) -> Vec<Option<String>> {
    // For each open group of lines, the macros that lead to its first branch and out of the current
    // one.
    let mut open: Vec<[Option<String>; 2]> = Vec::new();
    for line in text.lines().take(line) {
        match directive(line) {
            Some(("if", condition)) if condition.trim_start().starts_with('!') => {
                open.push([None, required_macro(condition.trim_start().trim_start_matches('!'))]);
            }
            Some(("if" | "ifdef", condition)) => open.push([required_macro(condition), None]),
            Some(("ifndef", condition)) => open.push([None, required_macro(condition)]),
            Some(("elif" | "else", _)) => {
                if let Some([first, out]) = open.last_mut() {
                    out.clone_from(first);
                }
            }
            Some(("endif", _)) => _ = open.pop(),
            _ => {}
        }
    }
    open.into_iter().map(|[_, out]| out).collect()
}

/// Returns the name of the preprocessing directive in a line, and the text after it.
fn directive(line: &str) -> Option<(&str, &str)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    Some(directive.split_at(name_length(directive)))
}

/// Returns whether a line declares a name: `#define NAME`, or a type before it.
fn declares(line: &str, name: &str) -> bool {
    if let Some(defined) = line.strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("define")) {
        let defined = defined.trim_start();
        return &defined[..name_length(defined)] == name;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let word = before.trim_end().rsplit(|c| !is_part(c) && c != '>').next().unwrap_or_default();
        let follows_type = before.ends_with(' ') && !["", "return", "else", "in", "case"].contains(&word);
        follows_type && after.trim_start().starts_with(['=', ';', '(', '[', ',']) && !after.starts_with(is_part)
    })
}

/// Returns the sets of macros that the text itself does not define and that lead to some lines,
/// each once, in the order of the text. A set is empty if such a line needs no macro. Conditions of
/// other forms than `#ifdef NAME` and `#if defined(NAME)` count as met.
fn guards_of(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    // For each open group of lines, the macro that its current branch requires.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut defined: BTreeSet<&str> = BTreeSet::new();
    let mut guards: Vec<Vec<String>> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if is_wanted(line) {
            let required = open.iter().flatten().filter(|name| !defined.contains(name.as_str()));
            let guard: Vec<String> = required.cloned().collect();
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        match directive(line) {
            Some(("if" | "ifdef", condition)) => open.push(required_macro(condition)),
            Some(("ifndef", _)) => open.push(None),
            Some(("elif", condition)) => {
                if let Some(last) = open.last_mut() {
                    *last = required_macro(condition);
                }
            }
            Some(("else", _)) => {
                if let Some(last) = open.last_mut() {
                    *last = None;
                }
            }
            Some(("endif", _)) => _ = open.pop(),
            Some(("define", name)) => {
                let name = name.trim_start();
                defined.insert(&name[..name_length(name)]);
            }
            _ => {}
        }
    }
    guards
}

/// Returns the macro that a condition requires: `NAME` of `#ifdef`, `defined(NAME)`, `defined
/// NAME`.
fn required_macro(condition: &str) -> Option<String> {
    let condition = condition.split("//").next().unwrap_or_default().trim();
    let name = match condition.strip_prefix("defined").map(str::trim) {
        Some(name) => name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name).trim(),
        None => condition,
    };
    // `#if 1`, `#if defined(A) && defined(B)`, `#if A > 1`.
    let is_name = name_length(name) == name.len() && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name.then(|| name.to_owned())
}

/// Returns the length of the name at the beginning of a text, in bytes.
fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_the_open_conditions_around_a_workgroup_size() {
        let text = "#version 450
            #ifndef COMMON_H
            #define COMMON_H
            #endif
            #define HAS_CULLING 1
            #if defined(VERTEX)
            void main() {}
            #elif defined(COMPUTE_CULLING)
            # ifdef HAS_CULLING
            layout(local_size_x = 64) in;
            # endif
            #endif
            #if defined LATE // a comment
            #if VERSION > 2
            layout(local_size_x = 8) in;
            #else
            layout(local_size_x = 16) in;
            #endif
            #endif";
        assert_eq!(compute_guards(text), [["COMPUTE_CULLING"], ["LATE"]]);
        let open = "// layout(local_size_x = 1) in;\n#ifdef SMALL\n#define N 4\n#endif\nlayout(local_size_x = N) in;";
        assert_eq!(compute_guards(open), [[""; 0]]);
        assert_eq!(compute_guards("#endif\n#else\nvoid main() {}"), [[""; 0]; 0]);
    }

    #[test]
    fn stores_to_an_image_have_guards() {
        let text = "#if EASU\nimageStore(out, p, a);\n#endif\n// imageStore(out, p, b);\n#ifdef RCAS\n imageStore(out, p, c);\n#endif";
        assert_eq!(image_store_guards(text), [["EASU"], ["RCAS"]]);
    }

    #[test]
    fn an_error_demands_the_macro_of_the_first_branch() {
        let text = "#ifdef A
            #error x
            #elif defined(B)
            #error first
            #else
            #error first
            #endif
            #ifndef C
            #error C
            # if ! defined(D)
            #error D
            # endif
            #else
            #error x
            #endif
            #if E > 1
            #else
            #error x
            #endif
            #error x";
        let found: Vec<String> = (0..)
            .zip(text.lines())
            .filter(|(_, line)| line.contains("#error"))
            .map(|(index, _)| demanded_macro(text, index).unwrap_or("x".into()))
            .collect();
        assert_eq!(found, ["x", "A", "A", "C", "D", "x", "x", "x"]);
    }

    #[test]
    fn a_name_is_declared_after_a_type_or_by_a_directive() {
        let text = "#ifdef ADD
            float total = subgroupAdd(x);
            #endif
            #ifdef MUL
            float total = subgroupMul(x);
            #define SIZE 4
            #endif
            return total; x = total;
            float totals;";
        assert_eq!(declaration_guards(text, "total"), [["ADD"], ["MUL"]]);
        assert_eq!(declaration_guards(text, "SIZE"), [["MUL"]]);
        assert_eq!(declaration_guards(text, "x"), [[""; 0]; 0]);
        assert_eq!(declaration_guards(text, "totals"), [[""; 0]]);
    }
}
