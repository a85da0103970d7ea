//! A file with a shader, a script or a case: the body of a case.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Endings of shaders and scripts in a folder. Files with other names are often included by shaders;
/// they are checked if they are named themselves. A `.glsl` file of a folder is a compute shader if it
/// states its version and a workgroup size.
pub(crate) const ENDINGS: [&str; 8] = ["wgsl", "spv", "spvasm", "comp", "hlsl", "slang", "amber", "vkscript"];

/// A shader in a file: the body of a case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShaderFile {
    /// The shader, script or case file.
    pub path: PathBuf,
    /// Entry point, if the shader has several.
    pub entry: Option<String>,
}

impl ShaderFile {
    /// Returns true if a file with this ending is a shader or a script.
    pub fn is_ending(ending: &OsStr) -> bool {
        ending.to_str().is_some_and(|ending| ending == "glsl" || ENDINGS.contains(&ending))
    }

    /// Returns the file of a case by its name; `None` if there is no such file.
    pub fn from_name(name: &str) -> Option<ShaderFile> {
        let whole = Path::new(name);
        if whole.is_file() {
            return Some(ShaderFile { path: whole.to_owned(), entry: None });
        }
        let (path, entry) = name.rsplit_once(':')?;
        let path = Path::new(path);
        path.is_file().then(|| ShaderFile { path: path.to_owned(), entry: Some(entry.to_owned()) })
    }

    /// Returns true if the file is this one, or below this folder.
    pub fn is_below(&self, folder: &Path) -> bool {
        self.path.canonicalize().is_ok_and(|path| path.starts_with(folder))
    }
}
