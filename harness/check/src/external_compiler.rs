//! Compilers of GLSL, HLSL and Slang to SPIR-V that are installed on the machine.

use crate::compile_options::CompileOptions;
use crate::compiler_table::{
    ATTEMPTS, Attempt, Compiler, DEFAULT_TARGET, GLSL_VERSION, Source, advice, compilers, preferred, strings,
};
use crate::compute_guards::compute_guards;
use crate::decimal_points;
use crate::entry_names::{entry_names_with, kernel_macros, must_name_entry};
use crate::external_tool::run_tool;
use crate::hlsl_text::{BYTE_ORDER_MARK, adapted_hlsl};
use crate::include_search::{IncludedFiles, PRAGMA, below_current_folder, include_names, included_files};
use crate::joined_files::{declaring_file, include_name, with_include};
use crate::loop_variables::{self, with_loop_variable};
use crate::matrix_swizzles::{self, with_simple_assignment};
use crate::missing_macros::{RejectedText, Substitution, missing_extensions, missing_macros};
use crate::ncnn_dialect;
use crate::raw_string::{self, without_raw_string};
use crate::source_name::renamed;
use crate::uniform_initializers;
use crate::uniform_locations::without_uniform_locations;
use crate::writable_globals::{self, with_copied_uniform};
use crate::{CheckError, Language};
use assay_files::input;
use assay_spirv::reflect::{Binding, EntryPoint, Reflection};
use assay_spirv::{Module, words_from_bytes};
use assay_spirv_lower::{with_single_inputs, with_skipped_accesses, with_whole_texels, without_forbidden_layout};
use assay_spirv_rules::inspect::{ModuleSource, Report};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{self, Component, Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// Output of a compiler.
#[derive(Debug)]
pub(crate) struct CompiledModule {
    pub(crate) words: Vec<u32>,
    pub(crate) run: CompilerRun,
    /// Note on what was done to the text.
    pub(crate) note: Option<String>,
    /// Options that set the chosen values of macros that the text leaves open.
    pub(crate) chosen: Vec<String>,
}

impl CompiledModule {
    /// Adds a note before the one that is there.
    fn with_note(self, first: &str) -> CompiledModule {
        let note = self.note.map_or_else(|| first.to_owned(), |note| format!("{first}; {note}"));
        CompiledModule { note: Some(note), ..self }
    }
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
        write!(f, "{}: {}", self.compiler, self.command)
    }
}

/// Time limit of a compiler: some never end for a text that they do not take.
const COMPILER_TIME: Duration = Duration::from_secs(30);

/// Extension of GLSL for `#include`.
const INCLUDE_EXTENSION: &str = "GL_GOOGLE_include_directive";

/// Extension of OpenGL for `#include`, which no compiler of SPIR-V has.
const OPENGL_INCLUDE_EXTENSION: &str = "GL_ARB_shading_language_include";

/// Line before the compute shader in a file of the Godot engine, which may hold shaders of several
/// stages.
const COMPUTE_SECTION: &str = "#[compute]";

/// Line that the Godot engine replaces by the definitions of a variant of the shader.
const ENGINE_DEFINES: &str = "#VERSION_DEFINES";

/// Directive that concerns the speed of the shader alone. Some engines give it arguments of their own,
/// which glslang rejects.
const OPTIMIZE: &str = "#pragma optimize";

/// Compiles a file by the first installed compiler of its language that makes a legal module of it,
/// with debug information. Folders of included files are added where the text names files that the
/// given folders do not have ([`included_files`]).
///
/// # Errors
/// No compiler is installed, or it rejects the file. The error has the compiler's message.
pub(crate) fn compile(
    path: &Path,
    language: Language,
    text: &str,
    given: &CompileOptions,
) -> Result<CompiledModule, CheckError> {
    let name = path.display().to_string();
    let refused = |what: String| CheckError::Shader { name: name.clone(), what };
    let included = included_files(path, text, &given.includes);
    let mut options = given.clone();
    if let (Language::Hlsl | Language::Slang, Some(entry)) = (language, &options.entry) {
        must_name_entry(entry, text, &included.files).map_err(refused)?;
    }
    options.entry = options.entry.or_else(|| entry_names_with(text, &included.files).into_iter().next());
    if language == Language::Glsl {
        options.defines.extend(needed_macros(text, &options.defines).map_err(refused)?);
    }
    let (macros, variants) = match &options.entry {
        Some(entry) if language == Language::Hlsl => kernel_macros(text, entry, &options.defines),
        _ => (Vec::new(), 0),
    };
    let note = (!macros.is_empty() && variants > 1).then(|| {
        format!("the text has {variants} variants of this kernel; --define chooses another than {}", macros.join(" "))
    });
    options.defines.extend(macros);
    let compiled = compile_with(path, language, text, (options, included))?;
    Ok(match note {
        Some(note) => compiled.with_note(&note),
        None => compiled,
    })
}

/// Compiles a file as [`compile`] does, with options that have an entry point and the included files.
///
/// # Errors
/// As [`compile`].
fn compile_with(
    path: &Path,
    language: Language,
    text: &str,
    (options, included): (CompileOptions, IncludedFiles),
) -> Result<CompiledModule, CheckError> {
    let name = path.display().to_string();
    let refused = |what: String| CheckError::Shader { name: name.clone(), what };
    let folder = tempfile::tempdir().map_err(|error| refused(format!("cannot create a temporary folder: {error}")))?;
    let has_copies = write_adapted(folder.path(), language, text, &included)
        .map_err(|error| refused(format!("cannot write a temporary file: {error}")))?;
    let IncludedFiles { folders: includes, files, missing, .. } = included;
    let (hung, lacking) = (RefCell::default(), RefCell::default());
    let job = Job {
        path,
        name: &name,
        text,
        folder: folder.path(),
        includes: &includes,
        files: &files,
        has_copies,
        hung,
        lacking,
    };
    let rejected = match job.legal_module(language, text, &options) {
        Ok(compiled) => return Ok(compiled),
        Err(rejected) => rejected,
    };
    if language == Language::Glsl
        && rejected.is_some()
        && let Some(completed) = ncnn_dialect::completed(text, &options.defines)
    {
        let compiled = job.compiled(language, &completed, &options);
        return compiled.map(|compiled| compiled.with_note(ncnn_dialect::NOTE)).map_err(refused);
    }
    if rejected.is_some()
        && let Some(inner) = without_raw_string(text)
    {
        let compiled = job.compiled(language, &inner, &options);
        return compiled.map(|compiled| compiled.with_note(raw_string::NOTE)).map_err(refused);
    }
    // A file of an engine may be included for nothing that the shader needs.
    if !missing.is_empty()
        && let Ok(compiled) = job.legal_module(language, &without_includes(text, &missing), &options)
    {
        let note = format!("included files were not found, and were left out: {}", missing.join(", "));
        return Ok(compiled.with_note(&note));
    }
    let Some(what) = rejected else {
        let programs: Vec<&str> = compilers(language).iter().map(|compiler| compiler.program).collect();
        return Err(refused(format!(
            "it is {}, and none of its compilers is installed ({}); {}",
            language.name(),
            programs.join(", "),
            advice(language)
        )));
    };
    let rejected = match job.completed(language, text, options.clone(), what) {
        Ok(compiled) => return Ok(compiled),
        Err(rejected) => rejected,
    };
    if language == Language::Glsl
        && let Some(compiled) = job.with_joined_files(&options, &rejected)
    {
        return Ok(compiled);
    }
    if language == Language::Hlsl
        && let Some(compiled) = job.without_idioms_of_fxc(&options, &rejected)
    {
        return Ok(compiled);
    }
    let pointed = decimal_points::with_decimal_points(text);
    if rejected.contains(decimal_points::MISSING)
        && pointed.trim_end() != text.trim_end()
        && let Ok(compiled) = job.compiled(language, &pointed, &options)
    {
        return Ok(compiled.with_note(decimal_points::NOTE));
    }
    Err(rejected).map_err(|what: String| {
        let lacks_preferred = compilers(language).first().is_some_and(|c| job.lacking.borrow().contains(c.program));
        refused(match missing.iter().find(|name| what.contains(name.as_str())) {
            // No other compiler finds a file that is not there.
            Some(name) => {
                format!(
                    "it includes {name}, and no file of its repository has that name; give the folder with --include DIR; \
                     {what}"
                )
            }
            None if lacks_preferred => what + preferred(language),
            None => what,
        })
    })
}

/// Writes copies of the included files that a compiler does not take as they are, or does not find, to
/// a folder, under the names by which they are included. Returns whether there are any.
fn write_adapted(
    folder: &Path,
    language: Language,
    text: &str,
    IncludedFiles { files, aliases, .. }: &IncludedFiles,
) -> io::Result<bool> {
    let mut has_copies = false;
    for (path, included) in files {
        let adapted = if language == Language::Hlsl { adapted_hlsl(included) } else { adapted_include(included) };
        let is_alias = |name: &str| aliases.iter().any(|(alias, file)| alias == name && file == path);
        let adapted = adapted.or_else(|| aliases.iter().any(|(_, file)| file == path).then(|| included.clone()));
        let Some(adapted) = adapted else { continue };
        let including = std::iter::once(text).chain(files.iter().map(|(_, text)| text.as_str()));
        let names = including.flat_map(include_names).map(|name| name.trim_start_matches(['.', '/']));
        let is_inside = |name: &&str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        for name in names.filter(is_inside).filter(|name| path.ends_with(name) || is_alias(name)) {
            let copy = folder.join(name);
            fs::create_dir_all(copy.parent().unwrap_or(folder))?;
            fs::write(copy, &adapted)?;
            has_copies = true;
        }
    }
    Ok(has_copies)
}

/// Returns the text of an included file that a compiler of GLSL gets, if it differs: without a byte order
/// mark, with the names of included files in quotes, as glslang finds no others.
fn adapted_include(included: &str) -> Option<String> {
    let unmarked = included.trim_start_matches(BYTE_ORDER_MARK);
    let quoted: Vec<Cow<'_, str>> =
        unmarked.lines().map(|line| in_quotes(line).map_or(line.into(), Cow::Owned)).collect();
    let is_changed = unmarked.len() < included.len() || quoted.iter().any(|line| matches!(line, Cow::Owned(_)));
    is_changed.then(|| quoted.join("\n") + "\n")
}

/// Returns an `#include` directive with its name in quotes in place of angle brackets, or of a `#pragma
/// include`.
fn in_quotes(line: &str) -> Option<String> {
    let is_other = |name: &&str| line.contains(&format!("<{name}>")) || line.contains(PRAGMA);
    let name = include_names(line).find(is_other)?;
    Some(format!("#include \"{name}\""))
}

/// Returns a text with empty lines in place of the `#include` directives of some names.
fn without_includes(text: &str, names: &[String]) -> String {
    let is_left_out = |line: &str| include_names(line).any(|name| names.iter().any(|left| left == name));
    text.lines().map(|line| if is_left_out(line) { "\n".to_owned() } else { format!("{line}\n") }).collect()
}

/// Returns the macros that the compute shader of a GLSL text requires besides the given ones.
///
/// # Errors
/// The text has several compute shaders, each with other macros.
fn needed_macros(text: &str, given: &[String]) -> Result<Vec<String>, String> {
    let is_given = |name: &String| given.iter().any(|define| define.split('=').next() == Some(name));
    let mut guards = compute_guards(text);
    for guard in &mut guards {
        guard.retain(|name| !is_given(name));
    }
    match &guards[..] {
        [] => Ok(Vec::new()),
        _ if guards.iter().any(Vec::is_empty) => Ok(Vec::new()),
        [only] => Ok(only.clone()),
        _ => {
            let option = |guard: &Vec<String>| guard.iter().map(|name| format!("--define {name}")).collect::<Vec<_>>();
            let options: Vec<String> = guards.iter().map(|guard| option(guard).join(" ")).collect();
            Err(format!("it has several compute shaders; choose one with {}", options.join(", or ")))
        }
    }
}

/// A repair of a module; it returns `None` where there is nothing to do.
type Repair = fn(&Module) -> Option<Vec<u32>>;

/// Repairs of modules that some versions of glslang make illegal, each with a note.
const REPAIRS: [(Repair, &str); 3] = [
    (
        without_forbidden_layout,
        "the compiler decorates memory of workgroups or invocations with a layout, which is not allowed there; the \
         decorations were removed",
    ),
    (
        with_whole_texels,
        "the compiler writes texels with fewer components than it declares for the image, which is not allowed; the \
         others were set to zero",
    ),
    (
        with_single_inputs,
        "the compiler declares a variable for each use of a built-in input, which is not allowed; they were merged",
    ),
];

/// Returns a module with those of the repairs that apply, if they make it legal.
fn repaired(compiled: CompiledModule) -> CompiledModule {
    let mut words = compiled.words.clone();
    let mut notes = Vec::new();
    for (repair, note) in REPAIRS {
        let Some(mended) = Module::parse(words.clone()).ok().and_then(|module| repair(&module)) else { continue };
        words = mended;
        notes.push(note);
    }
    if notes.is_empty() || !is_legal(&words) {
        return compiled;
    }
    CompiledModule { words, ..compiled }.with_note(&notes.join("; "))
}

/// Returns a module that evaluates as HLSL 2021 does.
fn short_circuited(language: Language, compiled: CompiledModule) -> CompiledModule {
    let module = (language == Language::Hlsl).then(|| Module::parse(compiled.words.clone()).ok()).flatten();
    match module.as_ref().and_then(with_skipped_accesses) {
        Some(words) if is_legal(&words) => CompiledModule { words, ..compiled }.with_note(
            "`?:`, `&&` and `||` evaluate operands only as far as needed, as in HLSL 2021; the compiler evaluates all, \
             so branches that skip loads were added, and operands of skipped divisions and conversions replaced",
        ),
        _ => compiled,
    }
}

/// Returns whether a module breaks no rule.
fn is_legal(words: &[u32]) -> bool {
    ModuleSource::from_words(words.to_vec()).is_ok_and(|source| Report::new(&source).is_legal())
}

/// Returns whether an entry point of a module uses two variables with one binding by mistake. HLSL
/// has no variables that share a binding; those of GLSL may if they have one descriptor type.
fn shares_bindings(words: &[u32], language: Language) -> bool {
    let Ok(module) = Module::parse(words.to_vec()) else { return false };
    let is_shared = |a: &Binding, b: &Binding| {
        (a.set, a.binding) == (b.set, b.binding) && (language == Language::Hlsl || a.kind != b.kind)
    };
    // They are sorted.
    let shares = |entry: &EntryPoint| entry.bindings.windows(2).any(|pair| is_shared(&pair[0], &pair[1]));
    Reflection::new(&module).entry_points.iter().any(shares)
}

/// A text that is rejected with all additions.
struct Incomplete {
    message: String,
    /// Added macros, with their values.
    defines: Vec<String>,
}

/// Files of a compilation.
struct Job<'a> {
    path: &'a Path,
    /// The path as text.
    name: &'a str,
    /// The text of the file.
    text: &'a str,
    /// Temporary folder.
    folder: &'a Path,
    /// Folders of included files.
    includes: &'a [PathBuf],
    /// Included files with their texts.
    files: &'a [(PathBuf, String)],
    /// Set if the temporary folder has copies of included files, which a copy of the text finds.
    has_copies: bool,
    /// Compilers that did not end for the text.
    hung: RefCell<BTreeSet<&'static str>>,
    /// Compilers that are not installed.
    lacking: RefCell<BTreeSet<&'static str>>,
}

impl Job<'_> {
    /// Returns the first legal module that an installed compiler makes of a text, or else the first
    /// module.
    ///
    /// # Errors
    /// All compilers reject the text; the error is the first message, which is about the text as it
    /// was written. `None`: none is installed.
    fn legal_module(
        &self,
        language: Language,
        text: &str,
        options: &CompileOptions,
    ) -> Result<CompiledModule, Option<String>> {
        let (mut rejected, mut illegal) = (None, None);
        for compiler in compilers(language) {
            for attempt in ATTEMPTS {
                let is_possible = !attempt.is_opengl || language == Language::Glsl;
                let is_other = options.target_env.is_none() || attempt.target == DEFAULT_TARGET || attempt.is_opengl;
                if !is_possible || !is_other {
                    continue;
                }
                let source = Source { language, text, options, attempt };
                match self.run(compiler, &source) {
                    Ok(Some(compiled)) => {
                        let compiled = self.with_own_bindings(compiler, &source, compiled);
                        if is_legal(&compiled.words) {
                            return Ok(short_circuited(language, compiled));
                        }
                        illegal = illegal.or(Some(compiled));
                    }
                    Ok(None) => {
                        self.lacking.borrow_mut().insert(compiler.program);
                        break;
                    }
                    Err(what) => rejected = rejected.or(Some(what)),
                }
            }
        }
        // The check names the broken rules.
        illegal.map(|compiled| short_circuited(language, repaired(compiled))).ok_or(rejected)
    }

    /// Compiles a text, if need be with values for the macros that it lacks.
    ///
    /// # Errors
    /// It is rejected.
    fn compiled(&self, language: Language, text: &str, options: &CompileOptions) -> Result<CompiledModule, String> {
        self.legal_module(language, text, options)
            .or_else(|rejected| self.completed(language, text, options.clone(), rejected.unwrap_or_default()))
    }

    /// Compiles a rejected text of HLSL with declarations in loops that use the variable of an earlier
    /// one, copies of uniforms that it assigns to, and simple assignments to elements of matrices.
    /// Returns `None` if that does not help.
    fn without_idioms_of_fxc(&self, options: &CompileOptions, rejected: &str) -> Option<CompiledModule> {
        let (mut text, mut message, mut notes) = (self.text.to_owned(), rejected.to_owned(), BTreeSet::new());
        for _ in 0..MAX_ADDITIONS {
            let looping = with_loop_variable(&text, self.name, &message).map(|text| (text, loop_variables::NOTE));
            let copied = || Some((with_copied_uniform(&text, self.name, &message)?, writable_globals::NOTE));
            let simple = || Some((with_simple_assignment(&text, self.name, &message)?, matrix_swizzles::NOTE));
            let (changed, note) = looping.or_else(copied).or_else(simple)?;
            (text, _) = (changed, notes.insert(note));
            match self.compiled(Language::Hlsl, &text, options) {
                Ok(compiled) => {
                    let notes: Vec<&str> = notes.into_iter().collect();
                    return Some(compiled.with_note(&notes.join("; ")));
                }
                Err(next) => message = next,
            }
        }
        None
    }

    /// Compiles a rejected text together with files of its repository that declare what it lacks.
    /// Returns `None` if that does not help.
    fn with_joined_files(&self, options: &CompileOptions, rejected: &str) -> Option<CompiledModule> {
        let (mut text, mut message) = (self.text.to_owned(), rejected.to_owned());
        let (mut joined, mut found): (Vec<PathBuf>, Vec<String>) = (Vec::new(), Vec::new());
        let mut included = self.files.to_vec();
        while joined.len() < MAX_JOINED {
            let said = RejectedText { name: self.name, text: self.text, files: &included };
            let (file, declared) = declaring_file(self.path, &message, said, &joined)?;
            let name = include_name(&file, self.path)?;
            found.push(format!("{name} (`{declared}`)"));
            joined.push(file);
            // A file may need those that are found later.
            text = with_include(&text, &name);
            let with_file = included_files(self.path, &text, &options.includes);
            let has_copies = write_adapted(self.folder, Language::Glsl, &text, &with_file).ok()?;
            let IncludedFiles { folders, files, .. } = with_file;
            let (hung, lacking) = (RefCell::default(), RefCell::default());
            let job = Job { includes: &folders, files: &files, has_copies, hung, lacking, ..*self };
            let compiled = job.compiled(Language::Glsl, &text, options);
            included = files;
            match compiled {
                Ok(compiled) => {
                    let note =
                        format!("files that declare names which the text lacks were included: {}", found.join(", "));
                    return Some(compiled.with_note(&note));
                }
                Err(next) => message = next,
            }
        }
        None
    }

    /// Compiles a rejected text with values for the macros that it lacks, and with the extensions
    /// that it does not request.
    ///
    /// # Errors
    /// It is still rejected. The error has the given message, and the last one if it differs.
    fn completed(
        &self,
        language: Language,
        text: &str,
        options: CompileOptions,
        rejected: String,
    ) -> Result<CompiledModule, String> {
        let text = (language, text);
        let Incomplete { message, defines } =
            match self.completed_with(Substitution::NONE, text, options.clone(), &rejected) {
                Ok(compiled) => return Ok(compiled),
                Err(incomplete) => incomplete,
            };
        for other in Substitution::OTHERS {
            if other.apply(&defines, text.1) != defines
                && let Ok(compiled) = self.completed_with(other, text, options.clone(), &rejected)
            {
                return Ok(compiled);
            }
        }
        Err(message)
    }

    /// As [`Job::completed`], with the values of macros after a substitution.
    fn completed_with(
        &self,
        values: Substitution,
        (language, text): (Language, &str),
        mut options: CompileOptions,
        rejected: &str,
    ) -> Result<CompiledModule, Incomplete> {
        let (given, mut message) = (options.defines.len(), rejected.to_owned());
        let mut attempts = ATTEMPTS.iter().filter(|attempt| attempt.is_opengl && language == Language::Glsl);
        let mut attempt = ATTEMPTS[0];
        loop {
            // Messages count the lines of the file.
            let rejected = RejectedText { name: self.name, text: self.text, files: self.files };
            let mut defines = values.apply(&missing_macros(&message, rejected), text);
            defines.retain(|define| !options.defines.contains(define));
            let mut extensions = missing_extensions(&message);
            extensions.retain(|name| language == Language::Glsl && !options.extensions.contains(name));
            if defines.is_empty() && extensions.is_empty() {
                // Another attempt may get further.
                let Some(next) = attempts.next() else { break };
                attempt = *next;
            }
            options.defines.append(&mut defines);
            options.extensions.append(&mut extensions);
            if options.defines.len() - given + options.extensions.len() > MAX_ADDITIONS {
                break;
            }
            let source = Source { language, text, options: &options, attempt };
            // The first compiler that is installed.
            let mut runs = compilers(language).iter().map(|compiler| self.run(compiler, &source));
            match runs.find(|ran| !matches!(ran, Ok(None))) {
                Some(Err(next)) => message = next,
                _ => break,
            }
        }
        let added = Additions { defines: &options.defines[given..], extensions: &options.extensions };
        let is_changed = !added.defines.is_empty() || !added.extensions.is_empty();
        if is_changed && let Ok(compiled) = self.legal_module(language, text, &options) {
            let chosen = added.options().collect();
            let compiled = CompiledModule { chosen, ..compiled };
            return Ok(match added.note() {
                Some(note) => compiled.with_note(&note),
                None => compiled,
            });
        }
        let message = match (is_changed, attempt.is_opengl) {
            (true, _) => format!("{rejected}\n  then, with {added}, {message}"),
            (false, true) if message != rejected => format!("{rejected}\n  then, as GLSL of OpenGL, {message}"),
            (false, _) => rejected.to_owned(),
        };
        Err(Incomplete { message, defines: added.defines.to_vec() })
    }

    /// Returns the module of a text with bindings of its own for each class of resources, if
    /// variables of the compiled one share a binding by mistake. Resources of different classes may
    /// have one number: the registers `b0`, `t0` and `u0` of HLSL, and the binding points of
    /// OpenGL.
    fn with_own_bindings(&self, compiler: &Compiler, source: &Source<'_>, compiled: CompiledModule) -> CompiledModule {
        if !shares_bindings(&compiled.words, source.language) {
            return compiled;
        }
        let attempt = Attempt { separates_classes: true, ..source.attempt };
        self.run(compiler, &Source { attempt, ..*source }).ok().flatten().unwrap_or(compiled)
    }

    /// Returns the name of a file in place of that in a module: `copy` is the name of a copy of the
    /// text; `None` keeps the name.
    fn own_name(&self, name: &str, copy: &str) -> Option<String> {
        // slangc stores absolute paths.
        let is_text = || path::absolute(self.path).is_ok_and(|absolute| absolute == Path::new(name));
        if name == copy || is_text() {
            return Some(self.name.to_owned());
        }
        let included = name.strip_prefix(&self.folder.display().to_string())?.trim_start_matches('/');
        let file = self.files.iter().find(|(file, _)| file.ends_with(included));
        Some(file.map_or_else(|| included.to_owned(), |(file, _)| below_current_folder(file).display().to_string()))
    }

    /// Returns a compiler's message with the names of files in place of those of their copies.
    fn with_own_names(&self, message: &str, copy: &str) -> String {
        message.replace(copy, self.name).replace(&format!("{}/", self.folder.display()), "")
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
        if source.attempt.separates_classes {
            let is_hlsl = source.language == Language::Hlsl;
            add(strings(if is_hlsl { compiler.for_registers } else { compiler.for_binding_points }));
        }
        let lacks_version = source.version_line().is_none()
            || source.lacks_include_extension(compiler)
            || !source.options.extensions.is_empty();
        if source.language == Language::Glsl && lacks_version {
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
        let is_copied = self.has_copies || source.text != self.text;
        let file = match source.adapted(compiler).or_else(|| is_copied.then(|| source.text.to_owned())) {
            // A path that begins with `-` would be an option.
            None if self.name.starts_with('-') => Path::new(".").join(self.path),
            None => self.path.to_owned(),
            Some(text) => {
                fs::write(&copy, text).map_err(|error| format!("cannot write a temporary file: {error}"))?;
                let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let mut argument = OsString::from("-I");
                argument.push(folder.unwrap_or(Path::new(".")));
                arguments.push(argument);
                copy.clone()
            }
        };
        let copy = copy.display().to_string();
        arguments.extend([compiler.output.into(), output.clone().into(), file.into()]);
        if self.hung.borrow().contains(compiler.program) {
            return Err(no_end(compiler));
        }
        let ran = match run_tool(compiler.program, &arguments, Vec::new(), COMPILER_TIME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.hung.borrow_mut().insert(compiler.program);
                return Err(no_end(compiler));
            }
            ran => ran.map_err(|error| format!("cannot run {}: {error}", compiler.program))?,
        };
        if !ran.success() {
            return Err(rejection(compiler.program, &self.with_own_names(&ran.text(), &copy), self.name));
        }
        let bytes = input::read(&output, input::MAX_SHADER_BYTES);
        let bytes = bytes.map_err(|error| format!("{} wrote no module: {error}", compiler.program))?;
        let mut words = words_from_bytes(&bytes).map_err(|error| error.to_string())?;
        if source.attempt.is_opengl {
            words = without_uniform_locations(words);
        }
        let version = version_of(compiler).map_or_else(String::new, |version| format!(" ({version})"));
        let run = CompilerRun {
            compiler: format!("{}{version}", compiler.program),
            command: format!("{} {} {}", compiler.program, shown.join(" "), self.name),
        };
        let words = renamed(&words, |name| self.own_name(name, &copy));
        let note = if source.attempt.is_opengl { uniform_initializers::note(source.text) } else { None };
        Ok(Some(CompiledModule { words, run, note, chosen: Vec::new() }))
    }
}

impl Source<'_> {
    fn includes_files(&self) -> bool {
        include_names(self.text).next().is_some()
    }

    /// Returns the number of the line with `#version`, and the version as a compiler's option has
    /// it: `450`, `310es`.
    fn version_line(&self) -> Option<(usize, Option<String>)> {
        let text = self.text.trim_start_matches(BYTE_ORDER_MARK);
        let (number, line) = text.lines().enumerate().find(|(_, line)| line.trim_start().starts_with("#version"))?;
        let mut words = line.trim_start().trim_start_matches("#version").split_whitespace();
        let version = words.next().filter(|number| number.bytes().all(|b| b.is_ascii_digit()));
        let profile = words.next().filter(|profile| *profile == "es").unwrap_or_default();
        Some((number, version.map(|version| format!("{version}{profile}"))))
    }

    /// Returns whether the text lacks the `#extension` with which a compiler knows `#include`.
    fn lacks_include_extension(&self, compiler: &Compiler) -> bool {
        compiler.is_glslang && self.includes_files() && !self.text.contains(INCLUDE_EXTENSION)
    }

    /// Returns the text that a compiler of GLSL gets, if it differs: the compute section, without a
    /// byte order mark, with the extensions of the options; for glslang also with the extension for
    /// included files, whose names are in quotes. Lines keep their numbers.
    fn adapted(&self, compiler: &Compiler) -> Option<String> {
        match self.language {
            Language::Glsl => self.adapted_glsl(compiler),
            Language::Hlsl => adapted_hlsl(self.text),
            _ => None,
        }
    }

    fn adapted_glsl(&self, compiler: &Compiler) -> Option<String> {
        let text = self.text.trim_start_matches(BYTE_ORDER_MARK);
        let mut lines: Vec<Cow<'_, str>> = text.lines().map(Cow::Borrowed).collect();
        let is_section = |line: &str| line.trim_start().starts_with("#[");
        if let Some(start) = lines.iter().position(|line| line.trim() == COMPUTE_SECTION) {
            let end = lines[start + 1..].iter().position(|line| is_section(line)).map(|length| start + 1 + length);
            lines.truncate(end.unwrap_or(lines.len()));
            lines[..=start].fill(Cow::Owned(String::new()));
        }
        lines
            .iter_mut()
            .filter(|line| line.trim() == ENGINE_DEFINES || line.trim_start().starts_with(OPTIMIZE))
            .for_each(|line| *line = Cow::Owned(String::new()));
        for line in lines.iter_mut().filter(|line| line.contains(OPENGL_INCLUDE_EXTENSION)) {
            *line = Cow::Owned(format!("#extension {INCLUDE_EXTENSION} : enable"));
        }
        for line in lines.iter_mut().filter(|line| compiler.is_glslang || line.contains(PRAGMA)) {
            if let Some(quoted) = in_quotes(line) {
                *line = Cow::Owned(quoted);
            }
        }
        let include = self.lacks_include_extension(compiler).then_some(INCLUDE_EXTENSION);
        let extensions = include.into_iter().chain(self.options.extensions.iter().map(String::as_str));
        let extensions: String = extensions.map(|name| format!("#extension {name} : enable\n")).collect();
        if !extensions.is_empty() {
            let version = self.version_line().map(|(version, _)| version);
            let precedes = |version: &usize| !lines[..*version].iter().any(|line| include_names(line).next().is_some());
            match version.filter(precedes) {
                Some(version) => lines[version] = Cow::Owned(format!("{extensions}#line {}", version + 2)),
                None => {
                    // Files may be included before the version.
                    version.into_iter().for_each(|version| lines[version] = Cow::Owned(String::new()));
                    lines.insert(0, Cow::Owned(format!("{extensions}#line 1")));
                }
            }
        }
        let is_changed = text.len() < self.text.len() || lines.iter().any(|line| matches!(line, Cow::Owned(_)));
        is_changed.then(|| lines.join("\n") + "\n")
    }
}

/// Largest number of files that are joined with a text.
const MAX_JOINED: usize = 8;

/// Largest number of macros and extensions, and of declarations, that are added to a text.
const MAX_ADDITIONS: usize = 64;

/// Macros with chosen values, as `NAME=VALUE`, and extensions, that a text got to be compiled.
struct Additions<'a> {
    defines: &'a [String],
    extensions: &'a [String],
}

impl Additions<'_> {
    /// Returns the options that set the macros.
    fn options(&self) -> impl Iterator<Item = String> {
        self.defines.iter().map(|define| format!("--define {define}"))
    }

    /// Returns a note on the extensions of a module that was compiled with them.
    fn note(&self) -> Option<String> {
        let names = self.extensions.join(", ");
        (!names.is_empty())
            .then(|| format!("the text uses extensions that it does not request, and they were enabled: {names}"))
    }
}

impl std::fmt::Display for Additions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extensions = self.extensions.iter().map(|name| format!("#extension {name}"));
        f.write_str(&self.options().chain(extensions).collect::<Vec<_>>().join(" "))
    }
}

/// Returns the message about a compiler that does not end. It is not run on the text again.
fn no_end(compiler: &Compiler) -> String {
    format!("{} does not end within {} s", compiler.program, COMPILER_TIME.as_secs())
}

/// Largest number of lines of a compiler's message that are shown.
const SHOWN_LINES: usize = 20;

/// Returns the message of a compiler that rejects a file, from the first error on.
fn rejection(program: &str, text: &str, name: &str) -> String {
    // glslang prints the name of each file that it compiles.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && line.trim() != name).collect();
    let is_error = |line: &&str| line.to_ascii_lowercase().contains("error:");
    // Warnings precede it.
    let first = lines.iter().position(is_error).unwrap_or(0);
    let mut lines = lines.into_iter().skip(first);
    let mut shown: Vec<&str> = lines.by_ref().take(SHOWN_LINES).collect();
    if lines.next().is_some() {
        shown.push("..");
    }
    format!("{program} rejects it:\n  {}", shown.join("\n  "))
}

/// Returns the version that a compiler prints.
fn version_of(compiler: &Compiler) -> Option<String> {
    let printed = run_tool(compiler.program, &[compiler.version], Vec::new(), COMPILER_TIME).ok()?.text();
    let lines: Vec<&str> = printed.lines().map(str::trim).take(compiler.version_lines).collect();
    Some(lines.join(", ")).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{adapted_include, rejection};

    #[test]
    fn names_of_nested_includes_are_in_quotes() {
        let text = "\u{feff}#include <noise/simplex.glsl>\nfloat f();\n";
        assert_eq!(adapted_include(text).as_deref(), Some("#include \"noise/simplex.glsl\"\nfloat f();\n"));
        assert_eq!(adapted_include("#include \"a.glsl\"\nfloat f() { return 1 < 2 ? 3. : 4.; }\n"), None);
    }

    #[test]
    fn a_pragma_that_includes_is_a_directive() {
        let adapted = adapted_include("  #pragma include \"tables.glsl\"\n#pragma once\n");
        assert_eq!(adapted.as_deref(), Some("#include \"tables.glsl\"\n#pragma once\n"));
    }

    #[test]
    fn a_rejection_begins_with_the_first_error() {
        let said =
            "a.hlsl\nWARNING: a.hlsl:1: '#pragma once' : ignored\nERROR: a.hlsl:7: 'x' : unknown\nERROR: 2 errors\n";
        let message = rejection("glslang", said, "a.hlsl");
        assert_eq!(message, "glslang rejects it:\n  ERROR: a.hlsl:7: 'x' : unknown\n  ERROR: 2 errors");
        assert_eq!(rejection("glslc", "out of memory\n", "a.comp"), "glslc rejects it:\n  out of memory");
    }
}
