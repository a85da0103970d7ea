//! Shader sources: a file, its module, and the location of instructions in it.

use crate::compile_options::CompileOptions;
use crate::external_compiler::{self, CompilerRun};
use crate::raw_string::{self, without_raw_string};
use crate::wgsl::{self, chosen_overrides, override_value};
use crate::wgsl_conditions::without_conditions;
use crate::wgsl_declarations::{completed, declaration};
use crate::wgsl_directives::{with_immediates, with_native_extensions};
use crate::wgsl_imports::without_imports;
use crate::wgsl_includes::with_included_files;
use crate::{CheckError, Language};
use assay_exec::Wgsl;
use assay_files::input;
use assay_oracle::Place;
use assay_spirv::TargetEnv;
use assay_spirv::reflect::{EntryPoint, Reflection};
use assay_spirv::tables::ExecutionModel;
use assay_spirv_rules::inspect::{ModuleSource, Report, ViolationEntry};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// Explanation of `Aligned 0` (<https://github.com/KhronosGroup/glslang/issues/3893>).
const GLSLANG_ALIGNED: &str = "glslang writes Aligned 0 where it copies a structure behind an address member by \
                               member; try --target-env vulkan1.2, or glslang from November 2025 on";

/// A shader.
#[derive(Debug)]
pub struct ShaderSource {
    /// Name in messages: the path as given.
    pub name: String,
    /// Language of the file.
    pub language: Language,
    /// SPIR-V module, with its text if there is one.
    pub source: ModuleSource,
    /// Text of the file, if it is text.
    pub text: Option<String>,
    /// Values of WGSL's `override`s, by identifier or by the number of `@id`. They are constants in
    /// the module.
    pub overrides: Vec<(String, f64)>,
    /// Target environment that the text was compiled or assembled for, if one was given.
    pub target_env: Option<TargetEnv>,
    /// Run of the installed compiler that made the module, if one did.
    pub compiler: Option<CompilerRun>,
    /// Changes of the text, and choices, that the compilation needed and nobody stated.
    pub notes: Vec<String>,
    /// Options that set the chosen values of macros and overrides which the text leaves open.
    pub chosen: Vec<String>,
    /// If the module is a variant of the shader, the bound of the shader's ids: Assay added the others.
    pub(crate) own_ids: Option<u32>,
}

/// A shader in a form that is sent to another process, which does not compile it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompiledShader {
    name: String,
    language: Language,
    text: Option<String>,
    /// Words in hexadecimal; none for SPIR-V text.
    words: String,
    /// Values as bits.
    overrides: Vec<(String, u64)>,
    target_env: Option<String>,
    compiler: Option<CompilerRun>,
    notes: Vec<String>,
    #[serde(default)]
    chosen: Vec<String>,
    #[serde(default)]
    own_ids: Option<u32>,
}

/// Returns the notes on a text, with one on chosen values.
fn with_chosen(mut notes: Vec<String>, chosen: &[String]) -> Vec<String> {
    if !chosen.is_empty() {
        notes.insert(0, format!("values that the text leaves open were chosen: {}", chosen.join(" ")));
    }
    notes
}

/// Adds notes on the text to the error of a shader.
fn with_notes(error: CheckError, notes: &[String]) -> CheckError {
    match error {
        CheckError::Shader { name, what } => {
            let notes: String = notes.iter().map(|note| format!("\n  note: {note}")).collect();
            CheckError::Shader { name, what: what + &notes }
        }
        error => error,
    }
}

/// Returns a WGSL text with a constant for each macro that has a value and is used as one.
fn with_constants<'a>(text: Cow<'a, str>, defines: &[String]) -> Cow<'a, str> {
    let values = defines.iter().filter_map(|define| define.split_once('='));
    let used =
        values.filter(|(name, value)| !value.is_empty() && text.contains(*name) && declaration(&text, name).is_none());
    let constants: String = used.map(|(name, value)| format!("const {name} = {value};\n")).collect();
    if constants.is_empty() { text } else { Cow::Owned(format!("{text}\n{constants}")) }
}

/// Returns a WGSL text with the files that it includes and the declarations that it lacks, as far
/// as its repository has them, and without conditions.
fn whole_wgsl<'a>(
    path: &Path,
    text: Cow<'a, str>,
    options: &CompileOptions,
    (notes, chosen): (&mut Vec<String>, &mut Vec<String>),
) -> Cow<'a, str> {
    let text = match without_raw_string(&text) {
        None => text,
        Some(inner) => {
            notes.push(raw_string::NOTE.to_owned());
            Cow::Owned(inner)
        }
    };
    let joined = with_included_files(path, &text, &options.includes);
    let text = match joined {
        None => text,
        Some(joined) => {
            notes.push(joined.note);
            Cow::Owned(joined.text)
        }
    };
    let text = match without_conditions(&text, &options.defines) {
        None => text,
        Some(unconditional) => {
            notes.push(unconditional.note);
            Cow::Owned(unconditional.text)
        }
    };
    let text = match without_imports(&text, &options.defines) {
        None => text,
        Some(without) => {
            chosen.extend(without.chosen.iter().map(|(name, value)| format!("--define {name}={value}")));
            Cow::Owned(without.text)
        }
    };
    let text = with_immediates(with_constants(text, &options.defines));
    let rejected = |text: &str| wgsl::rejection(text);
    let (text, added) = with_native_extensions(text, rejected);
    if !added.is_empty() {
        notes.push(format!("naga demands directives that the text lacks; added: enable {};", added.join(", ")));
    }
    let completed = rejected(&text).and_then(|message| completed((path, &text), &options.defines, message, rejected));
    match completed {
        None => text,
        Some(completed) => {
            notes.extend(completed.notes);
            chosen.extend(completed.chosen);
            Cow::Owned(completed.text)
        }
    }
}

impl ShaderSource {
    /// Reads a file in any [`Language`].
    ///
    /// # Errors
    /// The file cannot be read, is not a shader, or does not compile; an option does not apply to
    /// its language. The error gives the place.
    pub fn load(path: &Path, options: &CompileOptions) -> Result<ShaderSource, CheckError> {
        let bytes = input::read(path, input::MAX_SHADER_BYTES)
            .map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        ShaderSource::read_with(&path.display().to_string(), &bytes, options)
    }

    /// Reads the bytes of a file with this name.
    ///
    /// # Errors
    /// As [`ShaderSource::load`].
    pub fn read(name: &str, bytes: &[u8]) -> Result<ShaderSource, CheckError> {
        ShaderSource::read_with(name, bytes, &CompileOptions::default())
    }

    /// Reads the bytes of a file with this name, with options. A compiler of GLSL, HLSL or Slang
    /// reads the file itself.
    ///
    /// # Errors
    /// As [`ShaderSource::load`].
    pub fn read_with(name: &str, bytes: &[u8], options: &CompileOptions) -> Result<ShaderSource, CheckError> {
        let refused = |what: String| CheckError::Shader { name: name.to_owned(), what };
        let language = Language::detect(name, bytes);
        options.must_apply_to(language).map_err(refused)?;
        let text = match language {
            Language::SpirvText | Language::SpirvWords => std::str::from_utf8(bytes).ok(),
            Language::Wgsl | Language::Glsl | Language::Hlsl | Language::Slang => {
                Some(std::str::from_utf8(bytes).map_err(|error| {
                    let at = error.valid_up_to();
                    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
                    refused(format!("line {line}: byte {at} is not valid UTF-8"))
                })?)
            }
        };
        let (mut overrides, mut compiler, mut notes, mut chosen) = (Vec::new(), None, Vec::new(), Vec::new());
        let text = text.map(Cow::Borrowed).map(|text| match language {
            Language::Wgsl => whole_wgsl(Path::new(name), text, options, (&mut notes, &mut chosen)),
            _ => text,
        });
        let text = text.as_deref();
        let source = match (language, text) {
            (Language::Wgsl, Some(text)) => {
                overrides = override_values(&options.specs)?;
                let open = chosen_overrides(text, &overrides);
                chosen.extend(open.iter().map(|(key, value)| format!("--spec {key}={value}")));
                overrides.extend(open);
                let words = wgsl::compile(Wgsl { text, overrides: &overrides }, name);
                let words = words.map_err(|error| with_notes(error, &with_chosen(notes.clone(), &chosen)))?;
                ModuleSource::from_words(words)
            }
            (Language::Glsl | Language::Hlsl | Language::Slang, Some(text)) => {
                let compiled = external_compiler::compile(Path::new(name), language, text, options)?;
                compiler = Some(compiled.run);
                notes.extend(compiled.note);
                chosen = compiled.chosen;
                ModuleSource::from_words(compiled.words)
            }
            (Language::SpirvText | Language::SpirvWords, _)
            | (Language::Wgsl | Language::Glsl | Language::Hlsl | Language::Slang, None) => {
                ModuleSource::read_for(bytes, options.target_env)
            }
        };
        let source = source.map_err(|error| match &compiler {
            Some(run) => refused(format!("{} made an invalid module of it: {error}", run.compiler)),
            None => refused(error.to_string()),
        })?;
        let text = text.map(str::to_owned);
        let (name, target_env) = (name.to_owned(), options.target_env);
        let notes = with_chosen(notes, &chosen);
        Ok(ShaderSource { name, language, source, text, overrides, target_env, compiler, notes, chosen, own_ids: None })
    }

    /// Reads a shader that another process compiled.
    ///
    /// # Errors
    /// It is damaged.
    pub fn from_compiled(shader: CompiledShader) -> Result<ShaderSource, CheckError> {
        let CompiledShader { name, language, text, words, overrides, target_env, compiler, notes, chosen, own_ids } =
            shader;
        let refused = |what: String| CheckError::Shader { name: name.clone(), what };
        let target_env = target_env.map(|name| name.parse::<TargetEnv>()).transpose();
        let target_env = target_env.map_err(|error| refused(error.to_string()))?;
        let source = match (language, &text) {
            (Language::SpirvText, Some(text)) => ModuleSource::read_for(text.as_bytes(), target_env),
            _ => {
                let word = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
                let words = words.as_bytes().chunks(8).map(word).collect::<Option<Vec<u32>>>();
                ModuleSource::from_words(words.ok_or_else(|| refused("its words are damaged".to_owned()))?)
            }
        };
        let source = source.map_err(|error| refused(error.to_string()))?;
        let overrides = overrides.into_iter().map(|(key, bits)| (key, f64::from_bits(bits))).collect();
        Ok(ShaderSource { name, language, source, text, overrides, target_env, compiler, notes, chosen, own_ids })
    }

    /// Returns the shader for another process.
    pub fn compiled(&self) -> CompiledShader {
        let words = match self.language {
            Language::SpirvText => String::new(),
            _ => self.source.module.words().iter().map(|word| format!("{word:08x}")).collect(),
        };
        CompiledShader {
            name: self.name.clone(),
            language: self.language,
            text: self.text.clone(),
            words,
            overrides: self.overrides.iter().map(|(key, value)| (key.clone(), value.to_bits())).collect(),
            target_env: self.target_env.map(|target| target.to_string()),
            compiler: self.compiler.clone(),
            notes: self.notes.clone(),
            chosen: self.chosen.clone(),
            own_ids: self.own_ids,
        }
    }

    /// Returns the shader with a variant of its module, which its text does not lead to. The variant keeps
    /// the ids of the shader.
    ///
    /// # Errors
    /// The words are not a module.
    pub(crate) fn with_words(&self, words: Vec<u32>) -> Result<ShaderSource, CheckError> {
        let refused =
            |error: &dyn std::fmt::Display| CheckError::Shader { name: self.name.clone(), what: error.to_string() };
        let source = ModuleSource::from_words(words).map_err(|error| refused(&error))?;
        Ok(ShaderSource {
            name: self.name.clone(),
            language: Language::SpirvWords,
            source,
            text: None,
            overrides: Vec::new(),
            target_env: self.target_env,
            compiler: self.compiler.clone(),
            notes: self.notes.clone(),
            chosen: self.chosen.clone(),
            own_ids: self.own_ids.or(Some(self.source.module.header().bound)),
        })
    }

    /// Returns the names of the compute entry points, in the order of the module.
    pub fn compute_entry_points(&self) -> Vec<String> {
        let entries = Reflection::new(&self.source.module).entry_points.into_iter();
        entries.filter(is_compute).map(|entry| entry.name).collect()
    }

    /// Returns the WGSL text, if the shader is WGSL.
    pub fn wgsl(&self) -> Option<Wgsl<'_>> {
        let text = self.text.as_deref().filter(|_| self.language == Language::Wgsl)?;
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
        let mut list: Vec<String> = report.violations.iter().map(|v| format!("  {}", line(v))).collect();
        let is_unaligned = |v: &ViolationEntry| v.message.starts_with("Aligned 0,");
        if self.language == Language::Glsl && report.violations.iter().any(is_unaligned) {
            list.push(format!("  {GLSLANG_ALIGNED}"));
        }
        let name = match (&self.compiler, self.language) {
            (Some(run), _) => format!("the module that {} made of {}", run.compiler, self.name),
            (None, Language::Wgsl) => format!("the module that naga made of {}", self.name),
            (None, _) => match self.source.module.generator() {
                Some(tool) => format!("{} (made by {tool})", self.name),
                None => self.name.clone(),
            },
        };
        Err(CheckError::Illegal { name, list })
    }

    /// Returns a location for messages, such as ``shader.wgsl:3:5: `let x = ..` ``, as far as it is
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

/// Returns the values of WGSL's `override`s; of values with the same key, the last.
fn override_values(specs: &[(String, String)]) -> Result<Vec<(String, f64)>, CheckError> {
    let mut values: Vec<(String, f64)> = Vec::new();
    for (key, text) in specs {
        let value = override_value(text).ok_or_else(|| {
            CheckError::entry("spec", key, format!("override `{key}`: `{text}` is not a finite number, true or false"))
        })?;
        values.retain(|(known, _)| known != key);
        values.push((key.clone(), value));
    }
    Ok(values)
}

/// Returns whether an entry point can be dispatched.
pub(crate) fn is_compute(entry: &EntryPoint) -> bool {
    entry.model == Some(ExecutionModel::GLCompute)
}

/// Returns the extension of a file name, for a copy of the file.
pub(crate) fn ending(name: &str) -> &str {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("txt")
}

/// Returns a location in a file as text.
fn place_text(name: &str, place: &assay_spirv_rules::inspect::SourcePosition) -> String {
    let line = place.location(name).unwrap_or_else(|| format!("{name}, word {}", place.word));
    fn first_line(text: &str) -> &str {
        text.lines().next().unwrap_or_default().trim()
    }
    // A part of a statement says little.
    let before: String = match (&place.whole_line, place.column) {
        (Some(whole), Some(column)) => whole.chars().take(column - 1).collect(),
        _ => String::new(),
    };
    let before = before.trim();
    let is_statement = before.matches('(').count() == before.matches(')').count()
        && (before.is_empty() || before.ends_with([';', '{', '}']));
    let text = if is_statement { &place.text } else { &place.whole_line };
    match text.as_deref().map(|text| first_line(text).trim_end_matches([';', '{', ' '])) {
        Some(text) if !text.is_empty() => format!("{line}: `{text}`"),
        _ => line,
    }
}
