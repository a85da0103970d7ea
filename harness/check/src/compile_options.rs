//! Options of the compilation of a shader.

use crate::Language;
use assay_spirv::TargetEnv;
use std::path::PathBuf;

/// Options of the compilation of a shader.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Values of constants, by name or number. WGSL takes them for its `override`s, and other
    /// languages leave them to the pipeline.
    pub specs: Vec<(String, String)>,
    /// Target environment of SPIR-V text, GLSL, HLSL and Slang.
    pub target_env: Option<TargetEnv>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders of files that the text includes.
    pub includes: Vec<PathBuf>,
    /// Entry point of HLSL and Slang.
    pub entry: Option<String>,
    /// Extensions of GLSL that are enabled beside those that the text requests.
    pub extensions: Vec<String>,
}

impl CompileOptions {
    /// Checks that the options apply to a language.
    pub(crate) fn must_apply_to(&self, language: Language) -> Result<(), String> {
        let is_preprocessed = language.is_external() || language == Language::Wgsl;
        let of_preprocessor = [("--define", self.defines.is_empty()), ("--include", self.includes.is_empty())];
        let given = of_preprocessor.into_iter().find(|(_, is_empty)| !is_empty);
        match (language, self.target_env) {
            (Language::Wgsl, Some(target)) => Err(format!(
                "it is WGSL; the target environment {target} applies to SPIR-V text, GLSL, HLSL and Slang only"
            )),
            _ => match given.filter(|_| !is_preprocessed) {
                Some((option, _)) => {
                    Err(format!("it is {}; {option} applies to WGSL, GLSL, HLSL and Slang only", language.name()))
                }
                None => Ok(()),
            },
        }
    }
}
