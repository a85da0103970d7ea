//! A file with a shader, a script or a case: the body of a case.

use assay_check::CompiledShader;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// Endings of shaders and scripts in a folder. Files with other names are often included by
/// shaders; they are checked if they are named themselves. A `.glsl`, `.cs` or `.csh` file of a folder
/// is a compute shader if it states a workgroup size and a version or `main`.
pub(crate) const ENDINGS: [&str; 9] =
    ["wgsl", "spv", "spvasm", "comp", "hlsl", "compute", "slang", "amber", "vkscript"];

/// A shader in a file: the body of a case.
#[derive(Clone, Debug)]
pub struct ShaderFile {
    /// The shader, script or case file.
    pub path: PathBuf,
    /// Entry point, if the shader has several.
    pub entry: Option<String>,
    /// Macros of the compute shader, if a text has several under different macros.
    pub defines: Vec<String>,
    /// The shader, if it was compiled when its entry points were listed.
    pub(crate) compiled: Option<Arc<CompiledShader>>,
}

impl ShaderFile {
    /// Returns true if a file with this ending is a shader or a script.
    pub fn is_ending(ending: &OsStr) -> bool {
        ending.to_str().is_some_and(|ending| ending == "glsl" || ENDINGS.contains(&ending))
    }
}
