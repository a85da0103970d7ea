//! Compute entry points of HLSL and Slang, from the text.

use crate::include_search::included_files;
use std::path::Path;

/// Returns the names of the compute entry points of an HLSL or Slang text: the functions with
/// `[numthreads(..)]`, in their order. Comments do not count.
pub(crate) fn entry_names(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let declarations = text.split("numthreads").skip(1);
    let names = declarations.filter_map(|after| {
        let (_, after) = after.split_once(']')?;
        let (declaration, _) = after.split_once('(')?;
        let name = declaration.split_whitespace().last()?;
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
    });
    let mut found: Vec<String> = Vec::new();
    for name in names {
        // A text may declare an entry point once for each value of a macro.
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns the names of the compute entry points of an HLSL or Slang file, or else of the files
/// that it includes: the variants of a shader are often files with macros and an `#include`.
pub fn entry_names_of_file(path: &Path, text: &str) -> Vec<String> {
    let own = entry_names(text);
    if !own.is_empty() {
        return own;
    }
    let mut names: Vec<String> = Vec::new();
    for name in included_files(path, text, &[]).files.iter().flat_map(|(_, text)| entry_names(text)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns a text without its comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let comment = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => {
                kept.push('/');
                rest = &rest[1..];
                continue;
            }
        };
        kept.push(' ');
        rest = &rest[comment..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_points_follow_numthreads() {
        let text = "// [numthreads(1, 1, 1)] void old() {}
            [shader(\"compute\")]\n[numthreads(8, 8, 1)]\nvoid blur(uint3 id : SV_DispatchThreadID) {}
            /* [numthreads(1,1,1)] void older() {} */
            [numthreads(64, 1, 1)] void sum() { a / b; }";
        assert_eq!(entry_names(text), ["blur", "sum"]);
        assert_eq!(entry_names("void main() {}"), [""; 0]);
    }
}
