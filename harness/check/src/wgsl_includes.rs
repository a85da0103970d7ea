//! `#include "FILE"` in WGSL, which many projects resolve before they compile a shader.

use crate::include_search::{IncludedFiles, include_names, included_files};
use std::path::{Path, PathBuf};

/// A WGSL text with the files that it includes.
pub(crate) struct WgslWithFiles {
    /// The text, followed by those of the files, without the directives. All lines of the text keep
    /// their numbers, because the order of declarations does not matter.
    pub(crate) text: String,
    /// Note on the files, with the first line of each, and on files that are missing.
    pub(crate) note: String,
}

/// Resolves the `#include` directives of a file. Returns `None` if it has none.
pub(crate) fn with_included_files(path: &Path, text: &str, folders: &[PathBuf]) -> Option<WgslWithFiles> {
    include_names(text).next()?;
    let IncludedFiles { files, missing, .. } = included_files(path, text, folders);
    let mut joined = without_directives(text);
    let mut places = Vec::new();
    for (file, text) in files {
        places.push(format!("{} from line {}", file.display(), 1 + joined.lines().count()));
        joined += &without_directives(&text);
    }
    let found = (!places.is_empty()).then(|| format!("included files stand after the text: {}", places.join(", ")));
    let missing = (!missing.is_empty())
        .then(|| format!("included files were not found or are too large: {}", missing.join(", ")));
    let note = found.into_iter().chain(missing).collect::<Vec<_>>().join("; ");
    Some(WgslWithFiles { text: joined, note })
}

/// Returns a text in which the lines of `#include` directives are empty.
fn without_directives(text: &str) -> String {
    let kept = |line: &str| if include_names(line).next().is_some() { String::new() } else { line.to_owned() };
    text.lines().map(|line| kept(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn included_files_follow_the_text_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.wgsl");
        fs::write(folder.path().join("b.wgsl"), "#include \"c.wgsl\"\nfn b() {}\n").unwrap();
        fs::write(folder.path().join("c.wgsl"), "fn c() {}").unwrap();
        let text = "#include \"b.wgsl\"\n#include \"c.wgsl\"\nfn a() {}";
        let found = with_included_files(&file, text, &[]).unwrap();
        assert!(found.text.starts_with("\n\nfn a() {}\n"), "{}", found.text);
        assert_eq!((found.text.matches("fn b").count(), found.text.matches("fn c").count()), (1, 1));
        let at = |name: &str| 1 + found.text.lines().position(|line| line.contains(name)).unwrap();
        assert!(found.note.contains(&format!("c.wgsl from line {}", at("fn c"))), "{}", found.note);
        let missing = with_included_files(&file, "#include \"missing.wgsl\"", &[]).unwrap();
        assert_eq!(
            (&*missing.text, &*missing.note),
            ("\n", "included files were not found or are too large: missing.wgsl")
        );
        assert!(with_included_files(&file, "fn a() {}", &[]).is_none());
    }
}
