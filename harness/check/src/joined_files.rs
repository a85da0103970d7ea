//! Files that an application joins with a GLSL text before it compiles it: those that declare types
//! and functions that the text uses and does not declare.

use crate::compute_guards::declaration_guards;
use crate::include_search::{common_folders, repository_files};
use crate::missing_macros::{RejectedText, names};
use assay_files::input;
use std::path::{self, Path, PathBuf};

/// Extensions of the files that are looked at.
const EXTENSIONS: [&str; 8] = ["glsl", "glslh", "h", "inc", "comp", "vert", "frag", "shader"];

/// Largest size of all files that are looked at, in bytes.
const MAX_BYTES: usize = 1 << 25;

/// Returns the file of a shader's repository that declares a name which a text lacks, as a compiler's
/// message states, with the name: the file with the most folders in common. A file with a shader of
/// its own is none.
pub(crate) fn declaring_file(
    shader: &Path,
    message: &str,
    rejected: RejectedText<'_>,
    joined: &[PathBuf],
) -> Option<(PathBuf, String)> {
    let shader = path::absolute(shader).ok()?;
    let lacking = rejected.lacking_names(message);
    let is_part = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) && *path != shader && !joined.contains(path)
    };
    let mut paths: Vec<PathBuf> = repository_files(&shader).into_iter().filter(is_part).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(common_folders(path, &shader)));
    let mut bytes = 0;
    paths.into_iter().find_map(|path| {
        let text = input::read_text(&path, input::MAX_SHADER_BYTES).ok()?;
        bytes += text.len();
        if bytes > MAX_BYTES || text.contains("#version") || text.contains("void main") {
            return None;
        }
        let name = lacking.iter().find(|name| text.contains(name.as_str()) && declares(&text, name))?;
        Some((path, name.clone()))
    })
}

/// Returns whether a text declares a structure, function or constant of its own, whatever macros are
/// defined. Lines with an indent declare members and variables.
fn declares(text: &str, name: &str) -> bool {
    let is_structure = |line: &str| {
        let mut words = names(line).map(|(_, word)| word);
        words.next() == Some("struct") && words.next() == Some(name)
    };
    let outer: Vec<&str> = text.lines().filter(|line| !line.starts_with([' ', '\t'])).collect();
    text.lines().any(is_structure) || !declaration_guards(&outer.join("\n"), name).is_empty()
}

/// Returns a GLSL text that includes a file after its `#version`. Lines keep their numbers.
pub(crate) fn with_include(text: &str, file: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let version = lines.iter().position(|line| line.trim_start().starts_with("#version"));
    let at = version.map_or(0, |version| version + 1);
    lines.insert(at, format!("#include \"{file}\"\n#line {}", at + 1));
    lines.join("\n") + "\n"
}

/// Returns the name by which a shader may include a file: the path below the deepest folder that they
/// have in common.
pub(crate) fn include_name(file: &Path, shader: &Path) -> Option<String> {
    let shader = path::absolute(shader).ok()?;
    let name: PathBuf = file.components().skip(common_folders(file, &shader)).collect();
    Some(name.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_included_after_the_version() {
        assert_eq!(
            with_include("#version 450\nint x;", "a.glsl"),
            "#version 450\n#include \"a.glsl\"\n#line 2\nint x;\n"
        );
        assert_eq!(with_include("int x;", "a.glsl"), "#include \"a.glsl\"\n#line 1\nint x;\n");
    }

    #[test]
    fn structures_and_functions_are_declared() {
        let text = "struct Cell {\n float x;\n};\nfloat noise(vec2 p) { return p.x; }";
        assert!(declares(text, "Cell") && declares(text, "noise"));
        assert!(!declares(text, "x") && !declares("Cell cell;", "Cell"));
    }
}
