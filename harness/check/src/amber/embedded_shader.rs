//! Shaders whose text is part of a script.

use super::ScriptError;
use crate::source_name::renamed;
use crate::{CheckError, CompileOptions, ShaderSource};
use assay_spirv::TargetEnv;
use assay_spirv_rules::inspect::ModuleSource;
use std::fs;

/// Form of a shader's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShaderForm {
    Glsl,
    Hlsl,
    SpirvText,
    /// Words in hexadecimal.
    SpirvHex,
    SpirvBinary,
}

/// A shader of a script.
#[derive(Clone, Debug)]
pub(super) struct EmbeddedShader {
    pub(super) name: String,
    pub(super) form: ShaderForm,
    pub(super) contents: Vec<u8>,
    pub(super) target_env: Option<TargetEnv>,
    /// First line of the text in the script, or the line that names the file.
    pub(super) line: usize,
}

/// Version of GLSL without `#version`, as in Amber.
const GLSL_VERSION: &str = "#version 450\n#line 1\n";

impl EmbeddedShader {
    /// Compiles or assembles the shader. Messages name the script.
    ///
    /// # Errors
    /// It is not a legal text, or its compiler is not installed.
    pub(super) fn compile(
        &self,
        script: &str,
        entry: Option<&str>,
        options: &CompileOptions,
    ) -> Result<ShaderSource, ScriptError> {
        let wrong = |what: String| ScriptError { line: self.line, what: format!("shader `{}`: {what}", self.name) };
        let name = format!("{script}:{}", self.name);
        let target_env = self.target_env.or(options.target_env);
        let reason = |error: CheckError| match error {
            CheckError::Shader { what, .. } => wrong(what),
            other => wrong(other.to_string()),
        };
        let read = |ending: &str, bytes: &[u8], target_env| {
            let options = CompileOptions { target_env, ..CompileOptions::default() };
            ShaderSource::read_with(&format!("{name}.{ending}"), bytes, &options).map_err(reason)
        };
        let mut shader = match self.form {
            ShaderForm::SpirvText => read("spvasm", &self.contents, target_env)?,
            ShaderForm::SpirvBinary => read("spv", &self.contents, None)?,
            ShaderForm::SpirvHex => read("spv", &words_of(&self.contents).map_err(wrong)?, None)?,
            ShaderForm::Glsl | ShaderForm::Hlsl => {
                let folder = tempfile::tempdir().map_err(|error| wrong(format!("no temporary folder: {error}")))?;
                let ending = if self.form == ShaderForm::Glsl { "comp" } else { "hlsl" };
                let file = folder.path().join(format!("shader.{ending}"));
                let text = String::from_utf8_lossy(&self.contents);
                let version =
                    if self.form == ShaderForm::Glsl && !text.contains("#version") { GLSL_VERSION } else { "" };
                // `#version 310 es` must be the first line.
                fs::write(&file, format!("{version}{}", text.trim_start()))
                    .map_err(|error| wrong(format!("cannot write a temporary file: {error}")))?;
                let options = CompileOptions { target_env, entry: entry.map(str::to_owned), ..options.clone() };
                let shown = file.display().to_string();
                let compiled = ShaderSource::load(&file, &options).map_err(|error| match error {
                    CheckError::Shader { what, .. } => wrong(what.replace(&shown, &self.name)),
                    other => wrong(other.to_string().replace(&shown, &self.name)),
                });
                let mut shader = compiled?;
                let own_name = |file: &str| (file == shown).then(|| name.clone());
                let words = renamed(shader.source.module.words(), own_name);
                shader.source = ModuleSource::from_words(words).map_err(|error| wrong(error.to_string()))?;
                if let Some(run) = &mut shader.compiler {
                    run.command = run.command.replace(&shown, &self.name);
                }
                shader
            }
        };
        shader.name = name;
        Ok(shader)
    }
}

/// Returns the bytes of words in hexadecimal: `0x07230203` or `07230203`, separated by spaces or
/// commas, with comments after `#` or `;`.
fn words_of(text: &[u8]) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "its text is not UTF-8".to_owned())?;
    let mut bytes = Vec::new();
    for line in text.lines() {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            let value = u32::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16);
            bytes.extend(value.map_err(|_| format!("`{word}` is not a word in hexadecimal"))?.to_le_bytes());
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_hexadecimal_are_read() {
        assert_eq!(words_of(b"0x07230203, 10000 # version\n").unwrap(), [3, 2, 0x23, 7, 0, 0, 1, 0]);
        assert!(words_of(b"0x1g").unwrap_err().contains("`0x1g`"));
    }
}
