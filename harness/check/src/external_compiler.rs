//! Compilers of GLSL, HLSL and Slang to SPIR-V that are installed on the machine.

use crate::compile_options::CompileOptions;
use crate::external_tool::run_tool;
use crate::include_search::{include_folders, include_names};
use crate::source_name::renamed;
use crate::{CheckError, Language};
use assay_files::input;
use assay_spirv::reflect::{EntryPoint, Reflection};
use assay_spirv::{Module, TargetEnv, words_from_bytes};
use assay_spirv_rules::inspect::{ModuleSource, Report};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

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
#[derive(Clone, Copy)]
struct Compiler {
    /// Name of the program in `PATH`.
    program: &'static str,
    /// Option that prints the version.
    version: &'static str,
    /// Number of lines that state the version.
    version_lines: usize,
    /// Returns the arguments that select the language and the target.
    arguments: fn(&Source<'_>) -> Vec<String>,
    /// Arguments that accept GLSL written for OpenGL. Uniforms outside of blocks need glslang.
    for_opengl: &'static [&'static str],
    /// Arguments that give each class of HLSL's registers bindings of its own: constant buffers from 0,
    /// textures and read-only buffers from 100, samplers from 200, resources that are written from 300.
    for_registers: &'static [&'static str],
    /// Returns the arguments that give a version to GLSL.
    glsl_version: fn(&str) -> Vec<String>,
    /// True if GLSL may include files only after an `#extension` that permits it.
    needs_include_extension: bool,
    /// Option for the output file.
    output: &'static str,
}

/// A text to compile.
#[derive(Clone, Copy)]
struct Source<'a> {
    language: Language,
    text: &'a str,
    options: &'a CompileOptions,
    attempt: Attempt,
}

/// One attempt to compile a text. Later attempts accept more texts.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// Target environment of Vulkan, if the options state none.
    target: &'static str,
    /// Accepts the GLSL of OpenGL: uniforms outside of blocks, and resources without bindings.
    is_opengl: bool,
    /// Separates the classes of HLSL's registers.
    separates_registers: bool,
}

impl Attempt {
    const fn new(target: &'static str) -> Attempt {
        Attempt { target, is_opengl: false, separates_registers: false }
    }
}

/// Attempts in their order. Most devices accept modules for Vulkan 1.1. A text may need SPIR-V of a
/// later version, such as for `subgroupBroadcast` with a variable id. For Vulkan 1.3, glslang
/// declares workgroup sizes with `LocalSizeId`, which requires maintenance4.
const ATTEMPTS: [Attempt; 4] = [
    Attempt::new(DEFAULT_TARGET),
    Attempt::new("vulkan1.2"),
    Attempt::new("vulkan1.3"),
    Attempt { is_opengl: true, ..Attempt::new("vulkan1.2") },
];

/// Target environment of the first attempt.
const DEFAULT_TARGET: &str = "vulkan1.1";

/// Version of GLSL that states none.
const GLSL_VERSION: &str = "460";

/// Extension of GLSL for `#include`.
const INCLUDE_EXTENSION: &str = "GL_GOOGLE_include_directive";

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
    for_opengl: &["-fauto-bind-uniforms", "-fauto-map-locations"],
    for_registers: &[
        "-fhlsl-iomap",
        "-fauto-bind-uniforms",
        "-ftexture-binding-base",
        "100",
        "-fssbo-binding-base",
        "100",
        "-fsampler-binding-base",
        "200",
        "-fimage-binding-base",
        "300",
        "-fuav-binding-base",
        "300",
    ],
    glsl_version: |version| vec![format!("-std={version}")],
    needs_include_extension: false,
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
    for_opengl: &["-R", "--auto-map-bindings", "--auto-map-locations"],
    for_registers: &[
        "--hlsl-iomap",
        "--auto-map-bindings",
        "--shift-texture-binding",
        "100",
        "--shift-ssbo-binding",
        "100",
        "--shift-sampler-binding",
        "200",
        "--shift-image-binding",
        "300",
        "--shift-uav-binding",
        "300",
    ],
    glsl_version: |version| vec!["--glsl-version".to_owned(), version.to_owned()],
    needs_include_extension: true,
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
    for_opengl: &[],
    for_registers: &["-fvk-t-shift", "100", "all", "-fvk-s-shift", "200", "all", "-fvk-u-shift", "300", "all"],
    glsl_version: |_| Vec::new(),
    needs_include_extension: false,
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
    ..DXC
};

fn strings(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

impl Source<'_> {
    /// Returns the name of the environment of Vulkan.
    fn vulkan(&self) -> &'static str {
        match self.options.target_env {
            Some(target) if target.name().starts_with("vulkan") => target.name(),
            _ => self.attempt.target,
        }
    }

    /// Returns the version of SPIR-V, if the target environment is one.
    fn spirv(&self) -> Option<&'static str> {
        self.options.target_env.and_then(|target| target.name().strip_prefix("spv"))
    }

    /// Returns the version of SPIR-V of the target environment.
    fn version(&self) -> String {
        let default = || self.attempt.target.parse::<TargetEnv>().ok();
        let target = self.options.target_env.or_else(default);
        target.map_or_else(String::new, |target| target.version().to_string())
    }

    /// Returns the entry point: as given, or the function after `[numthreads(..)]`, or `main`.
    fn entry(&self) -> String {
        let given = self.options.entry.clone();
        given.or_else(|| entry_names(self.text).into_iter().next()).unwrap_or_else(|| "main".to_owned())
    }
}

/// Returns the names of the compute entry points of an HLSL or Slang text: the functions with
/// `[numthreads(..)]`, in their order. Comments do not count.
pub fn entry_names(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let declarations = text.split("numthreads").skip(1);
    let names = declarations.filter_map(|after| {
        let (_, after) = after.split_once(']')?;
        let (declaration, _) = after.split_once('(')?;
        let name = declaration.split_whitespace().last()?;
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
    });
    let mut found: Vec<String> = Vec::new();
    for name in names {
        // A text may declare an entry point once for each value of a macro.
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns a text without its comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let comment = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => {
                kept.push('/');
                rest = &rest[1..];
                continue;
            }
        };
        kept.push(' ');
        rest = &rest[comment..];
    }
    kept + rest
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

/// Compiles a file by the first installed compiler of its language that makes a legal module of it,
/// with debug information. Folders of included files are added where the text names files that the
/// given folders do not have ([`include_folders`]).
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
    let includes = include_folders(path, text, &options.includes);
    let job = Job { path, name: &name, folder: folder.path(), includes: &includes };
    let (mut rejected, mut illegal) = (None, None);
    for compiler in compilers(language) {
        for attempt in ATTEMPTS {
            let is_possible = !attempt.is_opengl || language == Language::Glsl;
            let is_other = options.target_env.is_none() || attempt.target == DEFAULT_TARGET || attempt.is_opengl;
            if !is_possible || !is_other {
                continue;
            }
            match job.run(compiler, &Source { language, text, options, attempt }) {
                Ok(Some(compiled)) => {
                    let compiled =
                        job.with_own_bindings(compiler, &Source { language, text, options, attempt }, compiled);
                    if is_legal(&compiled.words) {
                        return Ok(compiled);
                    }
                    illegal = illegal.or(Some(compiled));
                }
                // It is not installed.
                Ok(None) => break,
                // The first message is about the text as it was written.
                Err(what) => rejected = rejected.or(Some(what)),
            }
        }
    }
    match (illegal, rejected) {
        // The check names the broken rules.
        (Some(compiled), _) => return Ok(compiled),
        (None, Some(what)) => return Err(refused(what)),
        (None, None) => {}
    }
    let programs: Vec<&str> = compilers(language).iter().map(|compiler| compiler.program).collect();
    Err(refused(format!(
        "it is {}, and none of its compilers is installed ({}); {}",
        language.name(),
        programs.join(", "),
        advice(language)
    )))
}

/// Returns whether a module breaks no rule.
fn is_legal(words: &[u32]) -> bool {
    ModuleSource::from_words(words.to_vec()).is_ok_and(|source| Report::new(&source).is_legal())
}

/// Returns whether an entry point of a module uses two variables with one binding.
fn shares_bindings(words: &[u32]) -> bool {
    let Ok(module) = Module::parse(words.to_vec()) else { return false };
    let places = |entry: &EntryPoint| entry.bindings.iter().map(|b| (b.set, b.binding)).collect::<Vec<_>>();
    let reflection = Reflection::new(&module);
    // They are sorted.
    reflection.entry_points.iter().any(|entry| places(entry).windows(2).any(|pair| pair[0] == pair[1]))
}

/// Files of a compilation.
struct Job<'a> {
    path: &'a Path,
    /// The path as text.
    name: &'a str,
    /// Temporary folder.
    folder: &'a Path,
    /// Folders of included files.
    includes: &'a [PathBuf],
}

impl Job<'_> {
    /// Returns the module of an HLSL text with bindings of its own for each class of registers, if
    /// variables of the compiled one share a binding: registers of different classes may have one
    /// number, `b0`, `t0`, `u0`.
    fn with_own_bindings(&self, compiler: &Compiler, source: &Source<'_>, compiled: CompiledModule) -> CompiledModule {
        if source.language != Language::Hlsl || !shares_bindings(&compiled.words) {
            return compiled;
        }
        let attempt = Attempt { separates_registers: true, ..source.attempt };
        self.run(compiler, &Source { attempt, ..*source }).ok().flatten().unwrap_or(compiled)
    }

    /// Runs a compiler; returns `None` if it is not installed.
    ///
    /// # Errors
    /// It rejects the text, or cannot be run.
    fn run(&self, compiler: &Compiler, source: &Source<'_>) -> Result<Option<CompiledModule>, String> {
        let output = self.folder.join("module.spv");
        let mut arguments: Vec<OsString> = (compiler.arguments)(source).into_iter().map(OsString::from).collect();
        let mut add = |more: Vec<String>| arguments.extend(more.into_iter().map(OsString::from));
        if source.attempt.is_opengl {
            add(strings(compiler.for_opengl));
        }
        if source.attempt.separates_registers {
            add(strings(compiler.for_registers));
        }
        let permits_includes =
            !compiler.needs_include_extension || !source.includes_files() || source.text.contains(INCLUDE_EXTENSION);
        if source.language == Language::Glsl && (source.version_line().is_none() || !permits_includes) {
            let stated = source.version_line().and_then(|(_, version)| version);
            add((compiler.glsl_version)(&stated.unwrap_or_else(|| GLSL_VERSION.to_owned())));
        }
        arguments.extend(source.options.defines.iter().map(|define| OsString::from(format!("-D{define}"))));
        for folder in self.includes {
            let mut argument = OsString::from("-I");
            argument.push(folder);
            arguments.push(argument);
        }
        let shown = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>();
        let copy = self.folder.join("shader.comp");
        let file = if permits_includes || source.language != Language::Glsl {
            // A path that begins with `-` would be an option.
            if self.name.starts_with('-') { Path::new(".").join(self.path) } else { self.path.to_owned() }
        } else {
            fs::write(&copy, source.with_include_extension())
                .map_err(|error| format!("cannot write a temporary file: {error}"))?;
            let mut argument = OsString::from("-I");
            argument.push(self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
            arguments.push(argument);
            copy.clone()
        };
        let copy = copy.display().to_string();
        arguments.extend([compiler.output.into(), output.clone().into(), file.into()]);
        let ran = match run_tool(compiler.program, &arguments, Vec::new()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            ran => ran.map_err(|error| format!("cannot run {}: {error}", compiler.program))?,
        };
        if !ran.success {
            return Err(rejection(compiler.program, &ran.text().replace(&copy, self.name), self.name));
        }
        let bytes = input::read(&output, input::MAX_SHADER_BYTES);
        let bytes = bytes.map_err(|error| format!("{} wrote no module: {error}", compiler.program))?;
        let words = words_from_bytes(&bytes).map_err(|error| error.to_string())?;
        let version = version_of(compiler).map_or_else(String::new, |version| format!(" ({version})"));
        let run = CompilerRun {
            compiler: format!("{}{version}", compiler.program),
            command: format!("{} {} {}", compiler.program, shown.join(" "), self.name),
        };
        Ok(Some(CompiledModule { words: renamed(&words, &copy, self.name), run }))
    }
}

impl Source<'_> {
    fn includes_files(&self) -> bool {
        include_names(self.text).next().is_some()
    }

    /// Returns the number of the line with `#version`, and the version as a compiler's option has
    /// it: `450`, `310es`.
    fn version_line(&self) -> Option<(usize, Option<String>)> {
        let (number, line) =
            self.text.lines().enumerate().find(|(_, line)| line.trim_start().starts_with("#version"))?;
        let mut words = line.trim_start().trim_start_matches("#version").split_whitespace();
        let version = words.next().filter(|number| number.bytes().all(|b| b.is_ascii_digit()));
        let profile = words.next().filter(|profile| *profile == "es").unwrap_or_default();
        Some((number, version.map(|version| format!("{version}{profile}"))))
    }

    /// Returns the text with an extension in the line of its version, so that lines keep their
    /// numbers.
    fn with_include_extension(&self) -> String {
        let extension = format!("#extension {INCLUDE_EXTENSION} : enable");
        let Some((version, _)) = self.version_line() else { return format!("{extension}\n#line 1\n{}", self.text) };
        let lines = self.text.lines().enumerate();
        lines.map(|(number, line)| if number == version { &*extension } else { line }.to_owned() + "\n").collect()
    }
}

/// Largest number of lines of a compiler's message that are shown.
const SHOWN_LINES: usize = 20;

/// Returns the message of a compiler that rejects a file.
fn rejection(program: &str, text: &str, name: &str) -> String {
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
    fn entry_points_follow_numthreads() {
        let text = "// [numthreads(1, 1, 1)] void old() {}
            [shader(\"compute\")]\n[numthreads(8, 8, 1)]\nvoid blur(uint3 id : SV_DispatchThreadID) {}
            /* [numthreads(1,1,1)] void older() {} */
            [numthreads(64, 1, 1)] void sum() { a / b; }";
        assert_eq!(entry_names(text), ["blur", "sum"]);
        assert_eq!(entry_names("void main() {}"), [""; 0]);
    }
}
