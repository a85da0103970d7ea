//! Modules of WGSL as `naga_oil` defines them, which the engine Bevy and others resolve before they
//! compile a shader: `#import a::b::{c, d as e}`, `#define_import_path a::b`, `a::b::c`, `#MACRO`
//! and `#{MACRO}`.
//!
//! The names of a module are taken as names of the whole repository, and [`crate::wgsl_declarations`]
//! finds them there.

use crate::missing_macros::{NUMBER, is_macro};
use crate::wgsl_directives::is_name_part;
use std::collections::BTreeMap;

/// A WGSL text without imports.
pub(crate) struct TextWithoutImports {
    /// The text, with empty lines in place of the directives, so that all lines keep their numbers.
    pub(crate) text: String,
    /// Macros that the text puts in by `#NAME` or `#{NAME}` and that have no definition, with the values that
    /// were chosen.
    pub(crate) chosen: BTreeMap<String, &'static str>,
}

/// Removes imports and the paths before names, and puts in macros (`NAME=VALUE`). Returns `None` if
/// the text has none of these.
pub(crate) fn without_imports(text: &str, defines: &[String]) -> Option<TextWithoutImports> {
    let (mut kept, mut renamed) = (String::with_capacity(text.len()), BTreeMap::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let directive = line.trim_start();
        if directive.starts_with("#import") {
            let mut import = directive.to_owned();
            while import.matches('{').count() > import.matches('}').count() {
                let Some(more) = lines.next() else { break };
                import = import + " " + without_comment(more);
                kept.push('\n');
            }
            renamed.extend(renamings(&import));
        } else if !directive.starts_with("#define_import_path") {
            kept += line;
        }
        kept.push('\n');
    }
    let (text_with_macros, chosen) = with_macros(&kept, defines);
    let text_without = with_names(&text_with_macros, &renamed);
    (text_without.trim_end() != text.trim_end()).then_some(TextWithoutImports { text: text_without, chosen })
}

/// Returns the names that an import gives to items of other names, with those names.
fn renamings(import: &str) -> Vec<(String, String)> {
    let names = import.split([',', '{', '}']).filter_map(|item| item.split_once(" as "));
    let last = |path: &str| path.rsplit("::").next().unwrap_or_default().trim().to_owned();
    names.map(|(path, alias)| (alias.trim().to_owned(), last(path))).collect()
}

/// Returns a line without a comment at its end.
fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Puts the values of macros in the place of `#NAME` and `#{NAME}`.
fn with_macros(text: &str, defines: &[String]) -> (String, BTreeMap<String, &'static str>) {
    let (mut replaced, mut chosen) = (String::with_capacity(text.len()), BTreeMap::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('#') {
        replaced += before;
        let in_braces = after.strip_prefix('{').and_then(|after| after.split_once('}'));
        let (name, after) =
            in_braces.unwrap_or_else(|| after.split_at(after.find(|c| !is_name_part(c)).unwrap_or(after.len())));
        if !is_macro(name) {
            replaced.push('#');
            rest = &rest[before.len() + 1..];
            continue;
        }
        let given = defines.iter().filter_map(|define| define.split_once('='));
        replaced += given.filter(|(known, _)| *known == name).map(|(_, value)| value).next().unwrap_or_else(|| {
            chosen.insert(name.to_owned(), NUMBER);
            NUMBER
        });
        rest = after;
    }
    (replaced + rest, chosen)
}

/// Returns a text without the paths before names (`a::b::name`), and with other names for some.
fn with_names(text: &str, renamed: &BTreeMap<String, String>) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_name_part) {
        kept += &rest[..start];
        rest = &rest[start..];
        let name = &rest[..rest.find(|c| !is_name_part(c)).unwrap_or(rest.len())];
        rest = &rest[name.len()..];
        match rest.strip_prefix("::") {
            Some(after) if after.starts_with(is_name_part) => rest = after,
            _ => kept += renamed.get(name).map_or(name, String::as_str),
        }
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_and_paths_are_removed() {
        let text = "#define_import_path mine
#import bevy_render::{
    view::View, // the camera
    maths::{PI, HALF_PI as HALF},
}
#import other::items as items
@group(0) @binding(0) var<uniform> view: bevy_render::view::View;
const COUNT = #{COUNT}u * #SIDE;
fn a() -> f32 { return items::scale(HALF, HALF_SIZE); }";
        let found = without_imports(text, &["SIDE=7".to_owned()]).unwrap();
        let expected = "\n\n\n\n\n
@group(0) @binding(0) var<uniform> view: View;
const COUNT = 4u * 7;
fn a() -> f32 { return scale(HALF_PI, HALF_SIZE); }
";
        assert_eq!(found.text, expected);
        assert_eq!(found.chosen.into_iter().collect::<Vec<_>>(), [("COUNT".to_owned(), "4")]);
        assert!(without_imports("fn a() { b(#{1}); }\n", &[]).is_none());
    }

    #[test]
    fn an_import_that_does_not_end_takes_the_rest() {
        assert_eq!(without_imports("#import a::{\nb\nfn c() {", &[]).unwrap().text, "\n\n\n");
    }
}
