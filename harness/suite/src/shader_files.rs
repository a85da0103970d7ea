//! Cases of shaders in files: every shader, script and case file below a folder.

use crate::Case;
use crate::shader_file::{ENDINGS, ShaderFile};
use assay_check::{
    CaseFile, CheckError, CompileOptions, Language, SequenceSession, ShaderSource, compute_guards, entry_names_of_file,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Endings of scripts, which contain shaders.
const SCRIPTS: [&str; 2] = ["amber", "vkscript"];

/// Ending of case files.
const CASE_FILE: &str = "toml";

/// Largest number of files and folders below a folder.
const MAX_ENTRIES: usize = 1 << 20;

/// Bytes of a file in which the declarations of a compute shader are looked for.
const MAX_BEGINNING: u64 = 1 << 20;

/// Cases of files, and the files that have none.
#[derive(Debug, Default)]
pub struct ShaderFiles {
    /// One case for each compute entry point, ordered by path. The name is the path, and
    /// `PATH:ENTRY` for one of several entry points, `PATH:MACRO` for one of several shaders in a
    /// GLSL text.
    pub cases: Vec<Case>,
    /// Shaders without a compute entry point, and scripts with other pipelines.
    pub without_compute: Vec<PathBuf>,
}

impl ShaderFiles {
    /// Lists the cases of a shader, a script, a case file, or all of them below a folder. Hidden
    /// folders and links to folders are skipped. A shader that a case file of the folder names is
    /// checked as the case file says, and not alone.
    ///
    /// # Errors
    /// A file or folder cannot be read, or there are too many.
    pub fn find(path: &Path) -> Result<ShaderFiles, CheckError> {
        let mut files = Vec::new();
        if path.is_dir() {
            collect(path, &mut files).map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        } else {
            files.push(path.to_owned());
        }
        files.sort_unstable();
        let (mut shaders, mut case_files, mut named) = (Vec::new(), Vec::new(), BTreeSet::new());
        for file in files {
            if file.extension().is_some_and(|ending| ending == CASE_FILE) {
                match CaseFile::load(&file) {
                    Ok(Some(case)) => named.extend(case.shader.canonicalize().ok()),
                    Ok(None) if SequenceSession::is_sequence(&file) => {
                        let shaders = SequenceSession::named_shaders(&file);
                        named.extend(shaders.iter().filter_map(|shader| shader.canonicalize().ok()));
                    }
                    // A family of precision cases, or a file of another program.
                    Ok(None) | Err(_) => continue,
                }
                case_files.push(file);
            } else {
                shaders.push(file);
            }
        }
        shaders.retain(|shader| shader.canonicalize().map_or(true, |shader| !named.contains(&shader)));
        let mut found = ShaderFiles::default();
        for file in case_files {
            found.cases.push(case(ShaderFile { path: file, entry: None, defines: Vec::new(), compiled: None }));
        }
        for file in shaders {
            if SequenceSession::is_other_script(&file) {
                found.without_compute.push(file);
                continue;
            }
            let shader = compiled(&file);
            let compiled = shader.as_ref().map(|shader| Arc::new(shader.compiled()));
            let whole =
                || ShaderFile { path: file.clone(), entry: None, defines: Vec::new(), compiled: compiled.clone() };
            let guards = declared_guards(&file);
            if guards.len() > 1 && !guards.iter().any(Vec::is_empty) {
                found.cases.extend(guards.into_iter().map(|defines| case(ShaderFile { defines, ..whole() })));
                continue;
            }
            let of_entry = |entry| case(ShaderFile { entry, ..whole() });
            match shader.map(|shader| shader.compute_entry_points()).or_else(|| declared_entries(&file)) {
                Some(entries) if entries.is_empty() => found.without_compute.push(file),
                Some(entries) if entries.len() > 1 => {
                    found.cases.extend(entries.into_iter().map(|entry| of_entry(Some(entry))));
                }
                _ => found.cases.push(of_entry(None)),
            }
        }
        found.cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

/// Returns the case of a file.
fn case(file: ShaderFile) -> Case {
    let path = file.path.display().to_string();
    // A separator tells it from the names of other cases.
    let here = if path.contains('/') { "" } else { "./" };
    let part = file.entry.clone().unwrap_or_else(|| file.defines.join("+"));
    let name = if part.is_empty() { format!("{here}{path}") } else { format!("{here}{path}:{part}") };
    Case::shader(name, file)
}

/// Adds the shaders and case files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(io::Error::other(format!("more than {MAX_ENTRIES} files and folders")));
            }
            let (path, kind) = (entry.path(), entry.file_type()?);
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let ending = path.extension().and_then(|ending| ending.to_str());
            if kind.is_dir() {
                folders.push(path);
            } else if ending.is_some_and(|ending| match ending {
                // Files in C# have the ending `cs`, too.
                "glsl" | "cs" | "csh" => is_compute_glsl(&path),
                _ => (ending == CASE_FILE || ENDINGS.contains(&ending)) && path.is_file(),
            }) {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// Stages of shaders in names such as `meshlet.task.glsl`; task and mesh shaders have a workgroup
/// size, too.
const OTHER_STAGES: [&str; 13] =
    ["vert", "tesc", "tese", "geom", "frag", "task", "mesh", "rgen", "rint", "rahit", "rchit", "rmiss", "rcall"];

/// Returns whether a GLSL file is a compute shader rather than one of another stage or an include.
fn is_compute_glsl(file: &Path) -> bool {
    let stem = file.file_stem().map(Path::new);
    // `a.mesh.glsl` or `mesh.glsl`.
    let stage = stem.and_then(|stem| stem.extension().or(stem.file_name())).and_then(|stage| stage.to_str());
    if stage.is_some_and(|stage| OTHER_STAGES.contains(&stage)) {
        return false;
    }
    beginning(file)
        .is_some_and(|text| text.contains("local_size_") && (text.contains("#version") || text.contains(" main(")))
}

/// Returns the compute entry points that an HLSL or Slang file declares, and none for a WGSL or GLSL
/// file that is a part of others or of another stage; `None` for other files.
fn declared_entries(file: &Path) -> Option<Vec<String>> {
    let lacks = |text: &str, signs: &[&str]| {
        let is_whole = (text.len() as u64) < MAX_BEGINNING;
        (is_whole && !signs.iter().any(|sign| text.contains(sign))).then(Vec::new)
    };
    let text = beginning(file)?;
    match Language::detect(&file.display().to_string(), text.as_bytes()) {
        Language::Hlsl | Language::Slang => Some(entry_names_of_file(file, &text)),
        Language::Wgsl => lacks(&text, &["@compute", "stage(compute"]),
        Language::Glsl if begins_with_guard(&text) => lacks(&text, &MAIN),
        Language::Glsl => lacks(&text, &[&MAIN[..], &["#include"]].concat()),
        Language::SpirvText | Language::SpirvWords => None,
    }
}

/// Beginnings of the main function in GLSL.
const MAIN: [&str; 2] = ["main(", "main ("];

/// Returns whether the first directive of a GLSL text is the guard of a file that others include.
fn begins_with_guard(text: &str) -> bool {
    let first = text.lines().map(str::trim_start).find(|line| line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("#ifndef"))
}

/// Returns the macros under which a GLSL file declares its compute shaders.
fn declared_guards(file: &Path) -> Vec<Vec<String>> {
    let is_glsl = Language::detect(&file.display().to_string(), &[]) == Language::Glsl;
    if is_glsl { beginning(file).map_or_else(Vec::new, |text| compute_guards(&text)) } else { Vec::new() }
}

/// Returns the beginning of a text file. Other files than regular ones are not read.
fn beginning(file: &Path) -> Option<String> {
    let mut text = Vec::new();
    let open = file.is_file().then(|| fs::File::open(file).ok()).flatten()?;
    open.take(MAX_BEGINNING).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Returns a shader whose entry points are to be listed; `None` if the file cannot be read (its
/// check then names the reason), or if another program compiles it.
fn compiled(file: &Path) -> Option<ShaderSource> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let is_script = ending.is_some_and(|ending| SCRIPTS.contains(&ending));
    let is_external = Language::detect(&file.display().to_string(), &[]).is_external();
    (!is_script && !is_external).then(|| ShaderSource::load(file, &CompileOptions::default()).ok())?
}
