//! Declarations that a WGSL text takes from other files: many projects join files before they
//! compile a shader, so that a file alone lacks some. Names in capital letters that no file
//! declares stand for numbers that a build puts in.

use crate::include_search::{below_current_folder, common_folders, repository_files};
use crate::missing_macros::{NUMBER, is_macro};
use crate::wgsl_conditions::without_conditions;
use crate::wgsl_directives::{is_name_part, leading_trivia, with_immediates};
use crate::wgsl_imports::without_imports;
use assay_files::input;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};

/// Largest number of declarations that are added to a text.
const MAX_DECLARATIONS: usize = 200;

/// Largest size of all files that are searched, in bytes.
const MAX_BYTES: usize = 1 << 25;

/// Invocations of a workgroup whose size is a macro.
const USUAL_INVOCATIONS: u32 = 256;

/// Side of a workgroup with several sides that are macros.
const SIDE: &str = "8";

/// Phrase of naga's message about a name.
const UNDECLARED: &str = "no definition in scope for identifier: `";

/// Returns the name that a text does not declare, as naga's message states.
pub(crate) fn undeclared_name(message: &str) -> Option<&str> {
    message.split_once(UNDECLARED)?.1.split('`').next()
}

/// A text with declarations from other files.
pub(crate) struct CompletedText {
    /// The text, followed by the declarations.
    pub(crate) text: String,
    /// Notes on the declarations, with their files.
    pub(crate) notes: Vec<String>,
    /// Options that set the chosen values of macros that the text leaves open.
    pub(crate) chosen: Vec<String>,
}

/// Adds declarations to a text while the compiler's message names one that the repository of its
/// file has, or a macro. Returns `None` if the text gets none.
pub(crate) fn completed(
    (file, text): (&Path, &str),
    defines: &[String],
    mut message: String,
    compile: impl Fn(&str) -> Option<String>,
) -> Option<CompletedText> {
    undeclared_name(&message)?;
    let file = path::absolute(file).ok().filter(|file| file.is_file())?;
    let others = other_texts(&file);
    let mut text = text.to_owned();
    let mut added: Vec<(String, &Path)> = Vec::new();
    let (mut chosen, mut dropped) = (Vec::<(String, String)>::new(), Vec::new());
    while let Some(name) = undeclared_name(&message) {
        if added.len() >= MAX_DECLARATIONS || added.iter().any(|(known, _)| known == name) {
            break;
        }
        let mut found = others.iter().filter_map(|(path, text)| Some((path, declaration(text, name)?)));
        match found.next() {
            Some((path, declared)) => {
                text = text + "\n" + &plain(declared, defines);
                added.push((name.to_owned(), path));
            }
            None if !is_macro(name) || chosen.iter().any(|(known, _)| known == name) => break,
            None => match without_calls(&text, name) {
                Some(without) => {
                    text = without;
                    dropped.push(name.to_owned());
                }
                None => {
                    let number = macro_value(&text, name);
                    text = format!("{text}\nconst {name} = {number};");
                    chosen.push((name.to_owned(), number));
                }
            },
        }
        match compile(&text) {
            Some(next) => message = next,
            None => break,
        }
    }
    let mut by_file: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    added.iter().for_each(|(name, path)| by_file.entry(path).or_default().push(name));
    let of_file = |(path, names): (&Path, Vec<&str>)| {
        format!("{} from {}", names.join(", "), below_current_folder(path).display())
    };
    let files: Vec<String> = by_file.into_iter().map(of_file).collect();
    let taken =
        (!files.is_empty()).then(|| format!("declarations of other files stand after the text: {}", files.join("; ")));
    let chosen: Vec<String> = chosen.iter().map(|(name, number)| format!("--define {name}={number}")).collect();
    let without = (!dropped.is_empty())
        .then(|| format!("calls of macros without a definition return their operand: {}", dropped.join(", ")));
    let notes: Vec<String> = taken.into_iter().chain(without).collect();
    (!notes.is_empty() || !chosen.is_empty()).then_some(CompletedText { text: text + "\n", notes, chosen })
}

/// Returns a declaration without conditions and paths.
fn plain(declared: &str, defines: &[String]) -> String {
    let declared = with_immediates(Cow::Borrowed(declared));
    let declared = without_conditions(&declared, defines).map_or_else(|| declared.into_owned(), |without| without.text);
    without_imports(&declared, defines).map_or(declared, |without| without.text)
}

/// Returns the value of a macro that is a number. That of a workgroup size makes a usual size: many
/// shaders reduce over a fixed number of invocations. Others get the workgroup size along x, if the
/// text states it, which many macros have to agree with.
fn macro_value(text: &str, name: &str) -> String {
    let sizes = text.split_once("@workgroup_size(").and_then(|(_, sizes)| sizes.split(')').next());
    let sizes: Vec<&str> =
        sizes.into_iter().flat_map(|sizes| sizes.split(',')).map(str::trim).filter(|size| !size.is_empty()).collect();
    if sizes.contains(&name) {
        let known: Vec<u32> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
        let rest = USUAL_INVOCATIONS / known.iter().fold(1, |all: u32, size| all.saturating_mul(*size)).max(1);
        return if known.len() + 1 == sizes.len() { rest.max(1).to_string() } else { SIDE.to_owned() };
    }
    sizes.first().filter(|size| size.parse::<u32>().is_ok()).unwrap_or(&NUMBER).to_string()
}

/// Returns a text with spaces for a name before each parenthesis, so that its calls return their
/// operand; `None` if nothing calls it.
fn without_calls(text: &str, name: &str) -> Option<String> {
    let mut without = text.to_owned();
    for (at, _) in text.match_indices(name) {
        let is_whole = !text[..at].ends_with(is_name_part);
        if is_whole && text[at + name.len()..].starts_with('(') {
            without.replace_range(at..at + name.len(), &" ".repeat(name.len()));
        }
    }
    (without != text).then_some(without)
}

/// Returns the other WGSL files of a shader's repository with their texts, the nearest first.
fn other_texts(file: &Path) -> Vec<(PathBuf, String)> {
    let is_wgsl = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wgsl") && path != file;
    let mut paths: Vec<PathBuf> = repository_files(file).into_iter().filter(is_wgsl).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(common_folders(path, file)));
    let (mut texts, mut bytes) = (Vec::new(), 0);
    for path in paths {
        let Ok(text) = input::read_text(&path, input::MAX_SHADER_BYTES) else { continue };
        bytes += text.len();
        if bytes > MAX_BYTES {
            break;
        }
        texts.push((path, text));
    }
    texts
}

/// Returns the declaration of a name at the outermost level of a text, with its attributes.
pub(crate) fn declaration<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if !text.contains(name) {
        return None;
    }
    let mut at = 0;
    loop {
        at += leading_trivia(&text[at..]);
        let rest = &text[at..];
        if rest.is_empty() {
            return None;
        }
        if rest.starts_with('#') {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let item = &rest[..item_length(rest)];
        if declared_name(item) == Some(name) {
            return Some(item);
        }
        at += item.len();
    }
}

/// Returns the length of the declaration or directive at the start of a text: up to a semicolon or
/// the end of a block.
fn item_length(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        let trivia = leading_trivia(&text[at..]);
        if trivia > 0 {
            at += trivia;
            continue;
        }
        let c = text[at..].chars().next().unwrap_or_default();
        at += c.len_utf8();
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == '}' || c == ';') {
            return at;
        }
    }
    at
}

/// Returns the name that an item declares.
fn declared_name(item: &str) -> Option<&str> {
    let mut rest = item;
    // Attributes: `@group(0) @binding(1)`.
    while let Some(attribute) = rest.strip_prefix('@') {
        rest = attribute.trim_start_matches(is_name_part).trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')')?.1;
        }
        rest = &rest[leading_trivia(rest)..];
    }
    let (keyword, after) = rest.split_at(rest.find(|c| !is_name_part(c)).unwrap_or(rest.len()));
    let after = match (keyword, after.trim_start().strip_prefix('<')) {
        ("var", Some(space)) => space.split_once('>')?.1,
        ("var" | "fn" | "struct" | "const" | "override" | "alias" | "let", None) => after,
        _ => return None,
    };
    let name = &after[leading_trivia(after)..];
    let name = &name[..name.find(|c| !is_name_part(c)).unwrap_or(name.len())];
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LIBRARY: &str = "#import other\n/* fn twice */ const SIZE: u32 = 4u; // of what
        struct Cell { /* } */ value: f32, }
        @group(0) @binding(1)\nvar<storage, read> cells: array<Cell>;
        fn twice(x: f32) -> f32 { if (x > 0.0) { return scaled(x); } return x; }
        fn scaled(x: f32) -> f32 { return x * FACTOR; }
        const FACTOR = 2.0;";

    #[test]
    fn declarations_are_found_at_the_outermost_level() {
        assert_eq!(declaration(LIBRARY, "SIZE"), Some("const SIZE: u32 = 4u;"));
        assert!(declaration(LIBRARY, "twice").is_some_and(|found| found.ends_with("return x; }")));
        assert!(declaration(LIBRARY, "Cell").is_some_and(|found| found.ends_with("value: f32, }")));
        assert!(declaration(LIBRARY, "cells").is_some_and(|found| found.starts_with("@group(0)")));
        assert_eq!(declaration(LIBRARY, "value"), None);
        assert_eq!(declaration("fn f() { unclosed", "unclosed"), None);
    }

    #[test]
    fn a_text_gets_what_it_lacks_from_the_nearest_file() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            file
        };
        write(".git/HEAD", "");
        write("far/library.wgsl", "const FACTOR = 3.0;");
        write("near/library.wgsl", LIBRARY);
        let file = write("near/a.wgsl", "fn a() -> f32 { return twice(1.0); }");
        let text = fs::read_to_string(&file).unwrap();
        let compile = |text: &str| naga::front::wgsl::parse_str(text).err().map(|error| error.message().to_owned());
        let found = completed((&file, &text), &[], compile(&text).unwrap(), compile).unwrap();
        assert!(naga::front::wgsl::parse_str(&found.text).is_ok(), "{}", found.text);
        assert!(found.text.contains("FACTOR = 2.0"), "{}", found.text);
        assert!(found.notes[0].contains("twice, scaled, FACTOR from "), "{:?}", found.notes);
        assert!(completed((&file, "fn a() { missing(); }"), &[], "another error".to_owned(), compile).is_none());
        let text = "@compute @workgroup_size(BLOCK) fn a() {}";
        let found = completed((&file, text), &[], compile(text).unwrap(), compile).unwrap();
        assert!(naga::front::wgsl::parse_str(&found.text).is_ok(), "{}", found.text);
        assert_eq!((&found.notes[..], &found.chosen[..]), (&[][..], &["--define BLOCK=256".to_owned()][..]));
        let text = "var<workgroup> sums: array<f32, BLOCK>; @compute @workgroup_size(128, 1) fn a() {}";
        let found = completed((&file, text), &[], compile(text).unwrap(), compile).unwrap();
        assert_eq!(found.chosen, ["--define BLOCK=128"]);
        let text = "@compute @workgroup_size(BLOCK, 8) fn a() {}";
        let found = completed((&file, text), &[], compile(text).unwrap(), compile).unwrap();
        assert_eq!(found.chosen, ["--define BLOCK=32"]);
        let text = "fn a(x: f32) -> f32 { return ACT(x) + 2.0 * MY_ACT(x); }";
        let found = completed((&file, text), &[], compile(text).unwrap(), compile).unwrap();
        assert!(naga::front::wgsl::parse_str(&found.text).is_ok(), "{}", found.text);
        assert_eq!(found.notes, ["calls of macros without a definition return their operand: ACT, MY_ACT"]);
        let message = format!("{UNDECLARED}missing`");
        assert!(completed((&file, "fn a() { missing(); }"), &[], message, compile).is_none());
    }
}
