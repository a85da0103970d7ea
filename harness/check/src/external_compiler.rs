//! Compilers of GLSL, HLSL and Slang to SPIR-V that are installed on the machine.

use crate::compile_options::CompileOptions;
use crate::external_tool::{ToolOutput, run_tool};
use crate::{CheckError, Language};
use assay_files::input;
use assay_spirv::TargetEnv;
use assay_spirv::words_from_bytes;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Output of a compiler.
#[derive(Debug)]
pub(crate) struct CompiledModule {
    pub(crate) words: Vec<u32>,
    pub(crate) run: CompilerRun,
}

/// A run of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerRun {
    /// Name and version of the compiler, such as `glslang (Glslang Version: 11:15.1.0)`.
    pub compiler: String,
    /// Command line, without the output file.
    pub command: String,
}

impl std::fmt::Display for CompilerRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "compiled by {}: {}", self.compiler, self.command)
    }
}

/// A compiler.
struct Compiler {
    /// Name of the program in `PATH`.
    program: &'static str,
    /// Option that prints the version.
    version: &'static str,
    /// Number of lines that state the version.
    version_lines: usize,
    /// Returns the arguments that select the language and the target.
    arguments: fn(&Source<'_>) -> Vec<String>,
    /// Option for the output file.
    output: &'static str,
}

/// A text to compile.
struct Source<'a> {
    language: Language,
    text: &'a str,
    options: &'a CompileOptions,
}

const GLSLC: Compiler = Compiler {
    program: "glslc",
    version: "--version",
    version_lines: 3,
    arguments: |source| {
        let mut arguments = strings(&["-fshader-stage=compute", "-g"]);
        arguments.push(format!("--target-env={}", source.vulkan()));
        arguments.extend(source.spirv().map(|version| format!("--target-spv=spv{version}")));
        if source.language == Language::Hlsl {
            arguments.extend(["-x".to_owned(), "hlsl".to_owned(), format!("-fentry-point={}", source.entry())]);
        }
        arguments
    },
    output: "-o",
};

const GLSLANG: Compiler = Compiler {
    program: "glslang",
    version: "--version",
    version_lines: 1,
    arguments: |source| {
        let mut arguments = strings(&["-V", "-S", "comp", "-g", "--target-env"]);
        arguments.push(match source.spirv() {
            Some(version) => format!("spirv{version}"),
            None => source.vulkan().to_owned(),
        });
        if source.language == Language::Hlsl {
            arguments.extend(["-D".to_owned(), "-e".to_owned(), source.entry()]);
        }
        arguments
    },
    output: "-o",
};

const GLSLANG_VALIDATOR: Compiler = Compiler { program: "glslangValidator", ..GLSLANG };

const DXC: Compiler = Compiler {
    program: "dxc",
    version: "--version",
    version_lines: 1,
    arguments: |source| {
        let mut arguments = strings(&["-spirv", "-T", "cs_6_6", "-fspv-debug=line", "-fspv-debug=source", "-E"]);
        arguments.push(source.entry());
        arguments.push(format!("-fspv-target-env={}", source.vulkan()));
        arguments
    },
    output: "-Fo",
};

const SLANGC: Compiler = Compiler {
    program: "slangc",
    version: "-v",
    version_lines: 1,
    arguments: |source| {
        let mut arguments = strings(&["-target", "spirv", "-g2", "-fvk-use-entrypoint-name", "-profile"]);
        arguments.push(format!("spirv_{}", source.version().replace('.', "_")));
        if source.options.entry.is_some() || !source.text.contains("[shader(") {
            arguments.extend(["-entry".to_owned(), source.entry(), "-stage".to_owned(), "compute".to_owned()]);
        }
        arguments
    },
    output: "-o",
};

fn strings(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

/// Target environment of a text without a choice: the one that most devices accept. In later ones,
/// glslang declares workgroup sizes with `LocalSizeId`, which requires maintenance4.
const DEFAULT_TARGET: &str = "vulkan1.1";

impl Source<'_> {
    /// Returns the name of the environment of Vulkan.
    fn vulkan(&self) -> &'static str {
        match self.options.target_env {
            Some(target) if target.name().starts_with("vulkan") => target.name(),
            _ => DEFAULT_TARGET,
        }
    }

    /// Returns the version of SPIR-V, if the target environment is one.
    fn spirv(&self) -> Option<&'static str> {
        self.options.target_env.and_then(|target| target.name().strip_prefix("spv"))
    }

    /// Returns the version of SPIR-V of the target environment.
    fn version(&self) -> String {
        let default = || DEFAULT_TARGET.parse::<TargetEnv>().ok();
        let target = self.options.target_env.or_else(default);
        target.map_or_else(String::new, |target| target.version().to_string())
    }

    /// Returns the entry point: as given, or the function after `[numthreads(..)]`, or `main`.
    fn entry(&self) -> String {
        let given = self.options.entry.clone();
        given.or_else(|| entry_of(self.text)).unwrap_or_else(|| "main".to_owned())
    }
}

/// Returns the name of the first function with `[numthreads(..)]`.
fn entry_of(text: &str) -> Option<String> {
    let (_, after) = text.split_once("numthreads")?;
    let (_, after) = after.split_once(']')?;
    let (declaration, _) = after.split_once('(')?;
    let name = declaration.split_whitespace().last()?;
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
}

/// Returns the compilers of a language, the preferred one first.
fn compilers(language: Language) -> &'static [Compiler] {
    match language {
        Language::Glsl => &[GLSLC, GLSLANG, GLSLANG_VALIDATOR],
        Language::Hlsl => &[DXC, GLSLC, GLSLANG, GLSLANG_VALIDATOR],
        Language::Slang => &[SLANGC],
        Language::Wgsl | Language::SpirvText | Language::SpirvWords => &[],
    }
}

/// Returns advice on how to install a compiler of a language.
fn advice(language: Language) -> &'static str {
    match language {
        Language::Hlsl => "install dxc (https://github.com/microsoft/DirectXShaderCompiler/releases) or glslang-tools",
        Language::Slang => "install slangc (https://github.com/shader-slang/slang/releases)",
        _ => "install one: apt install glslang-tools",
    }
}

/// Compiles a file by the first compiler of its language that is installed, with debug information.
///
/// # Errors
/// No compiler is installed, or it rejects the file. The error has the compiler's message.
pub(crate) fn compile(
    path: &Path,
    language: Language,
    text: &str,
    options: &CompileOptions,
) -> Result<CompiledModule, CheckError> {
    let name = path.display().to_string();
    let refused = |what: String| CheckError::Shader { name: name.clone(), what };
    let folder = tempfile::tempdir().map_err(|error| refused(format!("cannot create a temporary folder: {error}")))?;
    let output = folder.path().join("module.spv");
    let source = Source { language, text, options };
    for compiler in compilers(language) {
        let mut arguments: Vec<OsString> = (compiler.arguments)(&source).into_iter().map(OsString::from).collect();
        arguments.extend(options.defines.iter().map(|define| OsString::from(format!("-D{define}"))));
        for folder in &options.includes {
            let mut argument = OsString::from("-I");
            argument.push(folder);
            arguments.push(argument);
        }
        let shown = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>();
        // A path that begins with `-` would be an option.
        let file = if name.starts_with('-') { Path::new(".").join(path) } else { path.to_owned() };
        arguments.extend([compiler.output.into(), output.clone().into(), file.into()]);
        let ran = match run_tool(compiler.program, &arguments, Vec::new()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            ran => ran.map_err(|error| refused(format!("cannot run {}: {error}", compiler.program)))?,
        };
        if !ran.success {
            return Err(refused(rejection(compiler.program, &ran, &name)));
        }
        let bytes = input::read(&output, input::MAX_SHADER_BYTES);
        let bytes = bytes.map_err(|error| refused(format!("{} wrote no module: {error}", compiler.program)))?;
        let words = words_from_bytes(&bytes).map_err(|error| refused(error.to_string()))?;
        let version = version_of(compiler).map_or_else(String::new, |version| format!(" ({version})"));
        let run = CompilerRun {
            compiler: format!("{}{version}", compiler.program),
            command: format!("{} {} {name}", compiler.program, shown.join(" ")),
        };
        return Ok(CompiledModule { words, run });
    }
    let programs: Vec<&str> = compilers(language).iter().map(|compiler| compiler.program).collect();
    Err(refused(format!(
        "it is {}, and none of its compilers is installed ({}); {}",
        language.name(),
        programs.join(", "),
        advice(language)
    )))
}

/// Largest number of lines of a compiler's message that are shown.
const SHOWN_LINES: usize = 20;

/// Returns the message of a compiler that rejects a file.
fn rejection(program: &str, ran: &ToolOutput, name: &str) -> String {
    let text = ran.text();
    // glslang prints the name of each file that it compiles.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && line.trim() != name);
    let mut shown: Vec<&str> = lines.by_ref().take(SHOWN_LINES).collect();
    if lines.next().is_some() {
        shown.push("..");
    }
    format!("{program} rejects it:\n  {}", shown.join("\n  "))
}

/// Returns the version that a compiler prints.
fn version_of(compiler: &Compiler) -> Option<String> {
    let printed = run_tool(compiler.program, &[compiler.version], Vec::new()).ok()?.text();
    let lines: Vec<&str> = printed.lines().map(str::trim).take(compiler.version_lines).collect();
    Some(lines.join(", ")).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_point_follows_numthreads() {
        let text = "[shader(\"compute\")]\n[numthreads(8, 8, 1)]\nvoid blur(uint3 id : SV_DispatchThreadID) {}";
        assert_eq!(entry_of(text).as_deref(), Some("blur"));
        assert_eq!(entry_of("void main() {}"), None);
    }
}
