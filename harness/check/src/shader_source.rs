//! Shader sources: a file, its module, and the location of instructions in it.

use crate::CheckError;
use crate::nesting::{too_deep, with_deep_stack};
use assay_files::input;
use assay_oracle::Place;
use assay_spirv::Module;
use assay_spirv::TargetEnv;
use assay_spirv::inspect::{ModuleSource, Report, ViolationEntry};
use assay_spirv::lower::without_forbidden_layout;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::back::{PipelineConstants, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::borrow::Cow;
use std::error::Error as _;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A shader.
#[derive(Debug)]
pub struct ShaderSource {
    /// Name in messages: the path as given.
    pub name: String,
    /// SPIR-V module, with its text if there is one.
    pub source: ModuleSource,
    /// Text of the file, if it is text.
    pub text: Option<String>,
    /// Values of WGSL's `override`s, by identifier or by the number of `@id`. They are constants in
    /// the module.
    pub overrides: Vec<(String, f64)>,
    /// Target environment that the SPIR-V text was assembled for, if one was given.
    pub target_env: Option<TargetEnv>,
}

/// A shader in WGSL, with values for its `override`s.
#[derive(Clone, Copy, Debug)]
pub struct Wgsl<'a> {
    /// WGSL text.
    pub text: &'a str,
    /// As [`ShaderSource::overrides`].
    pub overrides: &'a [(String, f64)],
}

impl ShaderSource {
    /// Reads a file: WGSL if its name ends in `.wgsl`, SPIR-V words if it starts with the magic
    /// number, otherwise SPIR-V text.
    ///
    /// # Errors
    /// The file cannot be read, or is not a shader. The error gives the place.
    pub fn load(path: &Path) -> Result<ShaderSource, CheckError> {
        ShaderSource::load_with(path, &mut Vec::new())
    }

    /// As [`ShaderSource::load`]. For WGSL, it takes the values in `specs` for `override`s.
    ///
    /// # Errors
    /// As [`ShaderSource::load`]; also if a value is not a number, or its `override` does not
    /// exist.
    pub fn load_with(path: &Path, specs: &mut Vec<(String, String)>) -> Result<ShaderSource, CheckError> {
        ShaderSource::load_for_env(path, specs, None)
    }

    /// As [`ShaderSource::load_with`], with a target environment for SPIR-V text.
    ///
    /// # Errors
    /// As [`ShaderSource::load_with`]; also if an environment is given for a file that is not
    /// SPIR-V text.
    pub fn load_for_env(
        path: &Path,
        specs: &mut Vec<(String, String)>,
        target_env: Option<TargetEnv>,
    ) -> Result<ShaderSource, CheckError> {
        let bytes = input::read(path, input::MAX_SHADER_BYTES)
            .map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        let name = path.display().to_string();
        let mut overrides = Vec::new();
        if name.ends_with(WGSL) {
            for (key, text) in specs.drain(..) {
                let value = override_value(&text).ok_or_else(|| {
                    let what = format!("override `{key}`: `{text}` is not a finite number, true or false");
                    CheckError::entry("spec", key.as_str(), what)
                })?;
                overrides.retain(|(known, _)| *known != key);
                overrides.push((key, value));
            }
        }
        ShaderSource::read_for(&name, &bytes, overrides, target_env)
    }

    /// Reads the bytes of a file. The extension of `name` distinguishes WGSL from SPIR-V.
    ///
    /// # Errors
    /// As [`ShaderSource::load`].
    pub fn read(name: &str, bytes: &[u8]) -> Result<ShaderSource, CheckError> {
        ShaderSource::read_with(name, bytes, Vec::new())
    }

    /// As [`ShaderSource::read`], with values for the `override`s of WGSL.
    ///
    /// # Errors
    /// As [`ShaderSource::load_with`].
    pub fn read_with(name: &str, bytes: &[u8], overrides: Vec<(String, f64)>) -> Result<ShaderSource, CheckError> {
        ShaderSource::read_for(name, bytes, overrides, None)
    }

    fn read_for(
        name: &str,
        bytes: &[u8],
        overrides: Vec<(String, f64)>,
        target_env: Option<TargetEnv>,
    ) -> Result<ShaderSource, CheckError> {
        let refused = |what: String| CheckError::Shader { name: name.to_owned(), what };
        let source = if name.ends_with(WGSL) {
            if let Some(target_env) = target_env {
                return Err(refused(format!(
                    "it is WGSL; the target environment {target_env} applies to SPIR-V text only"
                )));
            }
            let text = std::str::from_utf8(bytes).map_err(|error| {
                let at = error.valid_up_to();
                let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
                refused(format!("line {line}: byte {at} is not valid UTF-8"))
            })?;
            ModuleSource::from_compiled(compile(Wgsl { text, overrides: &overrides }, name)?, text)
        } else {
            ModuleSource::read_for(bytes, target_env)
        };
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        Ok(ShaderSource {
            name: name.to_owned(),
            source: source.map_err(|error| {
                refused(match text.as_deref().is_some_and(is_glsl) {
                    true => {
                        "it is GLSL; compile it to SPIR-V: glslc -fshader-stage=compute FILE -o FILE.spv".to_owned()
                    }
                    false => error.to_string(),
                })
            })?,
            text,
            overrides,
            target_env,
        })
    }

    /// Returns the WGSL text, if the shader is WGSL.
    pub fn wgsl(&self) -> Option<Wgsl<'_>> {
        let text = self.text.as_deref().filter(|_| ending(&self.name) == "wgsl")?;
        Some(Wgsl { text, overrides: &self.overrides })
    }

    /// Validates the module. Returns the broken rules that are only warnings, each with its place.
    /// With `strict`, these are errors too.
    ///
    /// # Errors
    /// [`CheckError::Illegal`] with the broken rules.
    pub fn must_be_legal(&self, strict: bool) -> Result<Vec<String>, CheckError> {
        let report = Report::new(&self.source);
        let report = if strict { report.strict() } else { report };
        let line = |v: &ViolationEntry| {
            let place = place_text(&self.name, &v.place);
            format!("{place}: {} ({})", v.message, v.rule)
        };
        if report.is_legal() {
            return Ok(report.warnings.iter().map(line).collect());
        }
        let list = report.violations.iter().map(|v| format!("  {}", line(v)));
        Err(CheckError::Illegal { name: self.name.clone(), list: list.collect() })
    }

    /// Returns a location for messages, such as `shader.wgsl:3:5: let x = ..`, as far as it is
    /// known.
    pub fn location(&self, place: Place) -> String {
        let module = &self.source.module;
        if place.instruction.0 as usize >= module.len() {
            return place.to_string();
        }
        let at = module.instruction(place.instruction).at;
        place_text(&self.name, &self.source.position_of(at))
    }
}

/// Returns the extension of a file name, for a copy of the file.
pub(crate) fn ending(name: &str) -> &str {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("txt")
}

/// Returns whether a text is GLSL: its first directive is `#version`.
fn is_glsl(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| line.starts_with("#version"))
}

/// Returns a location in a file as text.
fn place_text(name: &str, place: &assay_spirv::inspect::SourcePosition) -> String {
    let line = match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
        _ => format!("{name}, word {}", place.word),
    };
    match place.text.as_deref().map(|text| text.lines().next().unwrap_or_default().trim()) {
        Some(text) if !text.is_empty() => format!("{line}: {text}"),
        _ => line,
    }
}

/// Compiles WGSL by naga to SPIR-V with line information. Layouts that naga adds to workgroup
/// memory are removed ([`without_forbidden_layout`]). `name` is the name in messages.
///
/// # Errors
/// naga's message, which shows the place.
pub fn compile_wgsl(text: &str, name: &str) -> Result<Vec<u32>, CheckError> {
    compile(Wgsl { text, overrides: &[] }, name)
}

fn compile(wgsl: Wgsl<'_>, name: &str) -> Result<Vec<u32>, CheckError> {
    if let Some(what) = too_deep(wgsl.text) {
        return Err(CheckError::Shader { name: name.to_owned(), what });
    }
    with_deep_stack(|| compile_here(wgsl, name))
}

/// Compiles on the current thread.
fn compile_here(wgsl: Wgsl<'_>, name: &str) -> Result<Vec<u32>, CheckError> {
    let text = wgsl.text;
    let refused = |what: String| CheckError::Shader { name: name.to_owned(), what };
    // naga's message without its heading, as ours has one. naga does not support all of WGSL.
    let by_naga =
        |message: String| refused(format!("naga rejects it: {}", message.trim().trim_start_matches("error: ")));
    let parsed = naga::front::wgsl::parse_str(text);
    let module = parsed.map_err(|error| by_naga(error.emit_to_string_with_path(text, name)))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| by_naga(error.emit_to_string_with_path(text, name)))?;
    if module.entry_points.is_empty() {
        return Err(refused("it has no entry point; expected a function with @compute and @workgroup_size".to_owned()));
    }
    let (module, info) = with_overrides(&module, &info, wgsl.overrides).map_err(refused)?;
    let mut options = spv::Options {
        lang_version: (1, 3),
        debug_info: Some(spv::DebugInfo { source_code: text, file_name: name, language: spv::SourceLanguage::WGSL }),
        // The oracle interprets the shader as it is written.
        force_loop_bounding: false,
        // Only relevant for interfaces between stages, but it would declare the capability.
        use_storage_input_output_16: false,
        // The module must also run on devices without 8-bit arithmetic.
        capabilities: Some(capabilities_except(&[spv::Capability::Int8])),
        ..spv::Options::default()
    };
    options.flags |= spv::WriterFlags::DEBUG;
    // naga's writer panics on some legal shaders, such as one that passes a pointer to an element
    // of an array.
    let written = catch_unwind(AssertUnwindSafe(|| spv::write_vec(&module, &info, &options, None)));
    let written = written.map_err(|_| refused("naga panicked while translating it to SPIR-V".to_owned()))?;
    let words = written.map_err(|error| refused(error.to_string()))?;
    // naga decorates every array with its stride, which is not allowed in workgroup memory. Invalid
    // words are reported where they are read.
    let legal = Module::parse(words.clone()).ok().and_then(|module| without_forbidden_layout(&module));
    Ok(legal.unwrap_or(words))
}

/// Returns the capabilities that naga may use: all but those in `without`.
pub fn capabilities_except(without: &[spv::Capability]) -> naga::FastHashSet<spv::Capability> {
    let all = (0..CAPABILITIES).filter_map(spv::Capability::from_u32);
    all.filter(|capability| !without.contains(capability)).collect()
}

/// Upper bound on the numbers of capabilities.
const CAPABILITIES: u32 = 1 << 14;

/// Suffix of WGSL file names.
pub(crate) const WGSL: &str = ".wgsl";

/// Parses a value for an `override`. naga checks that it fits the type.
fn override_value(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1.0), |rest| (rest, -1.0));
    match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => match digits.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16)) {
            Some(value) => value.ok().map(|value| sign * f64::from(value)),
            None => digits.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| sign * value),
        },
    }
}

/// Returns the names of each `override` of a WGSL text; empty if the text is not WGSL.
pub(crate) fn overrides(text: &str) -> Vec<Vec<String>> {
    if too_deep(text).is_some() {
        return Vec::new();
    }
    let parse = || naga::front::wgsl::parse_str(text).map(|module| names_of_overrides(&module).collect());
    with_deep_stack(parse).unwrap_or_default()
}

/// Returns the names of each `override`: the number of its `@id` if it has one, and its identifier.
/// Values are given under the first of them.
fn names_of_overrides(module: &naga::Module) -> impl Iterator<Item = Vec<String>> {
    module.overrides.iter().map(|(_, known)| names_of_override(known).collect())
}

fn names_of_override(known: &naga::Override) -> impl Iterator<Item = String> + use<> {
    [known.id.map(|id| id.to_string()), known.name.clone()].into_iter().flatten()
}

/// Returns the message for `override`s that have neither a default nor a value.
fn missing_overrides(module: &naga::Module, given: &[(String, f64)]) -> String {
    let open = module.overrides.iter().map(|(_, known)| known).filter(|known| known.init.is_none());
    let names = open.filter_map(|known| names_of_override(known).next());
    let missing = names.filter(|name| !given.iter().any(|(key, _)| key == name));
    let options: Vec<String> = missing.map(|name| format!("--spec {name}=VALUE")).collect();
    format!("overrides without a default need a value; give {}", options.join(" "))
}

/// Replaces `override`s by constants, because naga cannot write them as SPIR-V.
///
/// # Errors
/// An `override` has no value or does not exist, or its type does not have the value.
pub fn with_overrides<'a>(
    module: &'a naga::Module,
    info: &'a ModuleInfo,
    overrides: &[(String, f64)],
) -> Result<(Cow<'a, naga::Module>, Cow<'a, ModuleInfo>), String> {
    let known: Vec<String> = names_of_overrides(module).filter_map(|names| names.into_iter().next()).collect();
    if let Some((key, _)) = overrides.iter().find(|(key, _)| !known.contains(key)) {
        let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("no override `{key}`; the shader has {there}"));
    }
    let values: PipelineConstants = overrides.iter().cloned().collect();
    process_overrides(module, info, None, &values).map_err(|error| {
        if let PipelineConstantError::MissingValue(_) = error {
            return missing_overrides(module, overrides);
        }
        // The innermost cause has the details.
        let causes = iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
        iter::once(format!("overrides: {error}")).chain(causes).collect::<Vec<_>>().join(": ")
    })
}
