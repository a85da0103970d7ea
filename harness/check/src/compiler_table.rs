//! Compilers of GLSL, HLSL and Slang, with their options.

use crate::Language;
use crate::compile_options::CompileOptions;
use assay_spirv::TargetEnv;

/// A compiler.
#[derive(Clone, Copy)]
pub(crate) struct Compiler {
    /// Name of the program in `PATH`.
    pub(crate) program: &'static str,
    /// Option that prints the version.
    pub(crate) version: &'static str,
    /// Number of lines that state the version.
    pub(crate) version_lines: usize,
    /// Returns the arguments that select the language and the target.
    pub(crate) arguments: fn(&Source<'_>) -> Vec<String>,
    /// Arguments that accept GLSL written for OpenGL. Uniforms outside of blocks need glslang.
    pub(crate) for_opengl: &'static [&'static str],
    /// Arguments that give each class of HLSL's registers bindings of its own: constant buffers
    /// from 0, textures and read-only buffers from 100, samplers from 200, resources that are
    /// written from 300.
    pub(crate) for_registers: &'static [&'static str],
    /// Arguments that give each class of OpenGL's bindings numbers of its own: uniform blocks from
    /// 0, textures from 100, images from 300, storage blocks from 400.
    pub(crate) for_binding_points: &'static [&'static str],
    /// Returns the arguments that give a version to GLSL.
    pub(crate) glsl_version: fn(&str) -> Vec<String>,
    /// Set for glslang itself, which knows `#include` after an `#extension` only, and finds files
    /// with names in quotes only.
    pub(crate) is_glslang: bool,
    /// Option for the output file.
    pub(crate) output: &'static str,
}

/// A text to compile.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) language: Language,
    pub(crate) text: &'a str,
    pub(crate) options: &'a CompileOptions,
    pub(crate) attempt: Attempt,
}

/// One attempt to compile a text. Later attempts accept more texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Target environment of Vulkan, if the options state none.
    pub(crate) target: &'static str,
    /// Accepts the GLSL of OpenGL: uniforms outside of blocks, and resources without bindings.
    pub(crate) is_opengl: bool,
    /// Separates the classes of HLSL's registers, or of OpenGL's binding points.
    pub(crate) separates_classes: bool,
}

impl Attempt {
    const fn new(target: &'static str) -> Attempt {
        Attempt { target, is_opengl: false, separates_classes: false }
    }
}

/// Attempts in their order. Most devices accept modules for Vulkan 1.1. A text may need SPIR-V of a
/// later version, such as for `subgroupBroadcast` with a variable id. For Vulkan 1.3, glslang
/// declares workgroup sizes with `LocalSizeId`, which requires maintenance4.
pub(crate) const ATTEMPTS: [Attempt; 4] = [
    Attempt::new(DEFAULT_TARGET),
    Attempt::new("vulkan1.2"),
    Attempt::new("vulkan1.3"),
    Attempt { is_opengl: true, ..Attempt::new("vulkan1.2") },
];

/// Target environment of the first attempt.
pub(crate) const DEFAULT_TARGET: &str = "vulkan1.1";

/// Version of GLSL that states none.
pub(crate) const GLSL_VERSION: &str = "460";

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
    for_binding_points: &[
        "-fauto-bind-uniforms",
        "-ftexture-binding-base",
        "100",
        "-fsampler-binding-base",
        "100",
        "-fimage-binding-base",
        "300",
        "-fssbo-binding-base",
        "400",
    ],
    glsl_version: |version| vec![format!("-std={version}")],
    is_glslang: false,
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
    for_binding_points: &[
        "--auto-map-bindings",
        "--shift-texture-binding",
        "100",
        "--shift-sampler-binding",
        "100",
        "--shift-image-binding",
        "300",
        "--shift-ssbo-binding",
        "400",
    ],
    glsl_version: |version| vec!["--glsl-version".to_owned(), version.to_owned()],
    is_glslang: true,
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
    for_binding_points: &[],
    glsl_version: |_| Vec::new(),
    is_glslang: false,
    output: "-Fo",
};

const SLANGC: Compiler = Compiler {
    program: "slangc",
    version: "-v",
    version_lines: 1,
    arguments: |source| {
        // Optimisation takes a library that some packages of slangc lack.
        let mut arguments = strings(&["-target", "spirv", "-g2", "-O0", "-fvk-use-entrypoint-name", "-profile"]);
        arguments.push(format!("spirv_{}", source.version().replace('.', "_")));
        if source.language == Language::Hlsl {
            arguments.extend(strings(&["-lang", "hlsl"]));
        }
        if source.options.entry.is_some() || !source.text.contains("[shader(") {
            arguments.extend(["-entry".to_owned(), source.entry(), "-stage".to_owned(), "compute".to_owned()]);
        }
        arguments
    },
    output: "-o",
    ..DXC
};

pub(crate) fn strings(arguments: &[&str]) -> Vec<String> {
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

    /// Returns the entry point: as given or found, or `main`.
    fn entry(&self) -> String {
        self.options.entry.clone().unwrap_or_else(|| "main".to_owned())
    }
}

/// Returns the compilers of a language, the preferred one first.
pub(crate) fn compilers(language: Language) -> &'static [Compiler] {
    match language {
        Language::Glsl => &[GLSLC, GLSLANG, GLSLANG_VALIDATOR],
        Language::Hlsl => &[DXC, GLSLC, GLSLANG, GLSLANG_VALIDATOR, SLANGC],
        Language::Slang => &[SLANGC],
        Language::Wgsl | Language::SpirvText | Language::SpirvWords => &[],
    }
}

/// Returns a line that follows the rejection of a text if the preferred compiler of its language is
/// not installed; empty if the others take the same texts.
pub(crate) fn preferred(language: Language) -> &'static str {
    match language {
        Language::Hlsl => {
            "\n  dxc takes HLSL that the others reject, and is not installed \
             (https://github.com/microsoft/DirectXShaderCompiler/releases)"
        }
        _ => "",
    }
}

/// Returns advice on how to install a compiler of a language.
pub(crate) fn advice(language: Language) -> &'static str {
    match language {
        Language::Hlsl => "install dxc (https://github.com/microsoft/DirectXShaderCompiler/releases) or glslang-tools",
        Language::Slang => {
            "install slangc (https://github.com/shader-slang/slang/releases; the Python package slangtorch contains it, \
             too)"
        }
        _ => "install one: apt install glslang-tools",
    }
}
