//! Search for the folders of the files that a shader includes.

use assay_files::input;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{self, Component, Path, PathBuf};
use std::{env, fs};

/// Largest number of files and folders that are looked at.
const MAX_ENTRIES: usize = 50_000;

/// Number of folders above a shader that are searched if none above it is the root of a repository.
const MAX_PARENTS: usize = 4;

/// Largest number of files that a shader includes, over all levels.
const MAX_FILES: usize = 1_000;

/// Directive of a compiler's or an engine's own.
pub(crate) const PRAGMA: &str = "pragma";

/// Returns the names in the `#include` directives of a text, and in the `#pragma include` of some engines.
/// Conditions are not evaluated.
pub(crate) fn include_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let directive = directive.strip_prefix(PRAGMA).map_or(directive, str::trim_start).strip_prefix("include")?;
        let name = directive.trim_start();
        let (end, name) = (if name.starts_with('<') { '>' } else { '"' }, name.strip_prefix(['"', '<'])?);
        name.split_once(end).map(|(name, _)| name).filter(|name| !name.is_empty())
    })
}

/// Files that a shader includes, over all levels.
pub(crate) struct IncludedFiles {
    /// The given folders, followed by those that the compiler needs besides.
    pub(crate) folders: Vec<PathBuf>,
    /// The files with their texts.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// Names that end with the path of a file, below folders that the repository does not have, such as
    /// `Packages/com.example/noise.cginc`.
    pub(crate) aliases: Vec<(String, PathBuf)>,
    /// Names of files that were not found, or are too large together with the others, each once.
    pub(crate) missing: Vec<String>,
}

/// Finds the files that a shader includes, and adds a folder for each file that neither the
/// includer's folder nor a known one has: the folder that has it. Such files are looked for in the
/// shader's repository (all folders below the nearest parent with `.git`, or else below the fourth
/// parent, the nearest ones first). The file with the most folders in common with the shader is taken.
pub(crate) fn included_files(shader: &Path, text: &str, given: &[PathBuf]) -> IncludedFiles {
    let (mut folders, mut files, mut aliases, mut missing) = (given.to_vec(), Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0u64;
    let mut repository: Option<Vec<PathBuf>> = None;
    let (mut seen, mut open) = (BTreeSet::new(), vec![(shader.to_owned(), text.to_owned())]);
    while let Some((includer, text)) = open.pop() {
        let is_included = includer != shader;
        let beside = includer.parent().unwrap_or(Path::new("")).to_owned();
        for name in include_names(&text) {
            let mut file = known_file(&beside, &folders, name);
            // A compiler looks for a name in angle brackets in the given folders alone.
            let is_in_brackets = is_included && text.contains(&format!("<{name}>"));
            if is_in_brackets && file.as_deref() == Some(&*beside.join(name)) {
                let folder = if beside.as_os_str().is_empty() { PathBuf::from(".") } else { beside.clone() };
                folders.extend(Some(folder).filter(|folder| !folders.contains(folder)));
            }
            if file.is_none() {
                let Ok(shader) = path::absolute(shader) else { continue };
                let repository = repository.get_or_insert_with(|| repository_files(&shader));
                file = nearest(repository, &shader, name);
                folders.extend(file.as_ref().and_then(|file| folder_of(file, name)));
                if file.is_none() {
                    file = at_shorter_name(repository, &shader, name);
                    // The compiler gets a copy, beside which the files that it includes are not.
                    folders.extend(file.as_ref().and_then(|file| Some(below_current_folder(file.parent()?))));
                    aliases.extend(file.iter().map(|file| (name.to_owned(), file.clone())));
                }
            }
            let size = file.as_ref().and_then(|file| fs::metadata(file).ok()).map_or(0, |file| file.len());
            let file = file.filter(|_| bytes.saturating_add(size) <= input::MAX_SHADER_BYTES);
            if file.is_none() && missing.iter().all(|known| known != name) {
                missing.push(name.to_owned());
            }
            let Some(file) = file.filter(|file| seen.len() < MAX_FILES && seen.insert(file.clone())) else { continue };
            if let Ok(text) = input::read_text(&file, input::MAX_SHADER_BYTES) {
                bytes += text.len() as u64;
                open.push((file, text));
            }
        }
        if is_included {
            files.push((includer, text));
        }
    }
    IncludedFiles { folders, files, aliases, missing }
}

/// Returns an included file that a compiler finds: it puts a folder before each name.
fn known_file(beside: &Path, folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let name = name.trim_start_matches('/');
    let all = std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
    all.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns the folder from which a name leads to a file, relative to the current folder if it is
/// below it.
fn folder_of(file: &Path, name: &str) -> Option<PathBuf> {
    let folder = below_current_folder(file.ancestors().nth(plain_components(name)?.len())?);
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder })
}

/// Returns a path relative to the current folder if it is below it.
pub(crate) fn below_current_folder(path: &Path) -> PathBuf {
    let here = env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).to_owned()
}

/// Returns the components of a name; `None` if it leads upwards or is absolute.
fn plain_components(name: &str) -> Option<Vec<&OsStr>> {
    let components = Path::new(name).components().filter(|component| *component != Component::CurDir);
    let plain = components.map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    plain.collect()
}

/// Returns the file with this name that has the most folders in common with a shader.
fn nearest(files: &[PathBuf], shader: &Path, name: &str) -> Option<PathBuf> {
    let end: PathBuf = plain_components(name)?.iter().collect();
    let named = files.iter().filter(|file| file.ends_with(&end));
    // Of equally near files, the first.
    named.rev().max_by_key(|file| common_folders(file, shader)).cloned()
}

/// Returns the file to which the longest end of a name leads, with a folder at least: the first ones
/// are those of a package, which the repository is itself.
fn at_shorter_name(files: &[PathBuf], shader: &Path, name: &str) -> Option<PathBuf> {
    let ends = name.match_indices('/').map(|(at, _)| &name[at + 1..]).filter(|end| end.contains('/'));
    ends.into_iter().find_map(|end| nearest(files, shader, end))
}

/// Returns the number of folders that the paths of two files have in common.
pub(crate) fn common_folders(a: &Path, b: &Path) -> usize {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).count()
}

/// Returns the files of a shader's repository in order, without hidden ones and links. Of a very large
/// one, those near the shader.
pub(crate) fn repository_files(shader: &Path) -> Vec<PathBuf> {
    let mut folders = roots(shader);
    let (mut files, mut entries, mut seen) = (Vec::new(), 0, BTreeSet::new());
    while let Some(folder) = folders.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        let listed = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in listed.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
            entries += 1;
            if entries > MAX_ENTRIES {
                files.sort_unstable();
                return files;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
}

/// Returns the folders below which the files that a shader includes are looked for, the nearest one
/// last.
fn roots(shader: &Path) -> Vec<PathBuf> {
    // Not the root of the file system.
    let above: Vec<&Path> = shader.ancestors().skip(1).filter(|folder| folder.parent().is_some()).collect();
    let repository = above.iter().position(|folder| folder.join(".git").exists());
    let number = repository.map_or(above.len().min(MAX_PARENTS), |at| at + 1);
    above[..number].iter().rev().map(|folder| folder.to_path_buf()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_found_in_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
        };
        write(".git/HEAD", "");
        write("src/shaders/gpu/a.comp", "");
        write("src/shaders/common/tools.h", "#include <math/vector.h>\n");
        write("other/common/tools.h", "");
        write("lib/math/vector.h", "  # include \"constants.h\"\n");
        write("lib/math/constants.h", "");
        let shader = root.path().join("src/shaders/gpu/a.comp");
        let text = "#include \"common/tools.h\"\n#include \"missing.h\"\n#include \"../a.h\"\nint included;";
        let package = "#include \"Packages/com.example/common/tools.h\"";
        let found = included_files(&shader, package, &[]);
        let tools = root.path().join("src/shaders/common/tools.h");
        assert_eq!(found.aliases, [("Packages/com.example/common/tools.h".to_owned(), tools)]);
        assert!(found.missing.is_empty());
        let given = [root.path().join("given")];
        let found = included_files(&shader, text, &given);
        assert_eq!((found.files.len(), found.missing), (3, vec!["missing.h".to_owned(), "../a.h".to_owned()]));
        assert_eq!(found.folders, [given[0].clone(), root.path().join("src/shaders"), root.path().join("lib")]);
        assert_eq!(included_files(&shader, "", &given).folders, given);
        // A name in angle brackets is not looked for beside the file that has it.
        write("src/shaders/gpu/b.h", "#include <c.h>\n");
        write("src/shaders/gpu/c.h", "");
        let found = included_files(&shader, "#include \"b.h\"", &[]);
        assert_eq!((found.files.len(), found.folders), (2, vec![root.path().join("src/shaders/gpu")]));
        let found = included_files(&shader, text, &given);
        // Without a repository, four folders above the shader are searched.
        fs::remove_file(root.path().join(".git/HEAD")).unwrap();
        fs::remove_dir(root.path().join(".git")).unwrap();
        assert_eq!(included_files(&shader, text, &given).folders, found.folders);
    }
}
