//! Mutants of the shaders below a folder of the user.
//!
//! Each is a case file with its shader in the result folder, so that a campaign of them is a run of
//! these files.

use crate::{
    exit::{self, Failure, WithCode},
    note,
    spinner::Spinner,
};
use anyhow::Context;
use assay_check::{Check, CheckError, CheckSession, CompileOptions, Options, ShaderSource, bundle, write_case};
use assay_fuzz::{ProgramId, mutant};
use assay_reports::counted;
use assay_suite::{Case, NoDevice, ShaderFiles, ShaderOptions, check_session};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Subfolder of the mutants.
const MUTANTS: &str = "mutants";

/// Largest number of mutants that are made in place of an undefined one.
const ATTEMPTS: u64 = 8;

/// Number of mutants that are made before they are written.
const AT_ONCE: u64 = 64;

/// Largest number of shaders that are named because they cannot be used.
const NAMED: usize = 3;

/// Writes up to this many mutants of the shaders below `from` to the result folder, each shader in its
/// turn, in place of those of an earlier campaign. Returns their folder.
///
/// # Errors
/// No shader can be mutated, or a file cannot be written.
pub(super) fn write_all(from: &Path, folder: &Path, seed: u64, programs: u64) -> Result<PathBuf, Failure> {
    let originals = originals(from, seed)?;
    let target = folder.join(MUTANTS);
    // Those of an earlier campaign would run with the new ones.
    for old in target.read_dir().into_iter().flatten().flatten() {
        bundle::remove(&old.path())?;
    }
    let spinner = Spinner::new("making mutants whose behaviour is defined");
    let (mut written, mut first) = (0, 0);
    while first < programs {
        let next = programs.min(first + AT_ONCE);
        let made: Vec<Option<Mutant>> =
            (first..next).into_par_iter().map(|index| Mutant::make(&originals, seed, index, programs)).collect();
        for (index, Mutant { original, shader, why }) in
            (first..next).zip(made).filter_map(|(n, made)| Some((n, made?)))
        {
            let own = target.join(format!("{index:05}-{}", original.stem()));
            written += u64::from(write_case(&own, &shader, &original.options, &why)?.is_some());
        }
        first = next;
    }
    drop(spinner);
    if written == 0 {
        let error = anyhow::anyhow!("{}: no shader has a mutant", from.display());
        return Err(Failure { code: exit::NOTHING, error });
    }
    note(&format!("{} of {} in {}", counted(written, "mutant"), counted(originals.len(), "shader"), target.display()));
    Ok(target)
}

/// A mutant and the shader that it was made of.
struct Mutant<'a> {
    original: &'a Original,
    shader: ShaderSource,
    why: String,
}

impl Mutant<'_> {
    /// Makes the mutant with this index of a campaign. If it is undefined, another one is made, for a
    /// limited number of times.
    fn make(originals: &[Original], seed: u64, index: u64, programs: u64) -> Option<Mutant<'_>> {
        let original = &originals[(index % originals.len() as u64) as usize];
        let attempt = |attempt: u64| {
            let id = ProgramId { seed, index: index + attempt * programs };
            let donor = &originals[id.chosen(originals.len())];
            let name = format!("{}; the other shader is {}", original.name, donor.name);
            let text = mutant(&original.shader, &donor.shader, &name, id)?;
            let shader = ShaderSource::read("mutant.spvasm", text.as_bytes()).ok()?;
            let changes: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("; Mutant of ")).collect();
            let why = changes.iter().map(|line| line.trim_start_matches("; ")).collect::<Vec<_>>().join("\n");
            is_defined(&shader, &original.options).then_some(Mutant { original, shader, why })
        };
        (0..ATTEMPTS).find_map(attempt)
    }
}

/// Returns true if the first round of a check has no undefined behaviour.
fn is_defined(shader: &ShaderSource, options: &Options) -> bool {
    let outcome = || -> Result<_, CheckError> {
        let check = Check::new(shader, options)?;
        let mut dispatch = check.dispatch(0, &NoDevice::default())?;
        check.put_synthetic_addresses(&mut dispatch);
        check.permitted(&dispatch)
    };
    outcome().is_ok_and(|outcome| outcome.fault_count == 0)
}

/// A shader with the parameters of its check.
struct Original {
    name: String,
    shader: ShaderSource,
    options: Options,
}

impl Original {
    /// Returns the name of the file without its ending, or that of its folder for a `case.toml`.
    fn stem(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let path = Path::new(&self.name).with_extension("");
        path.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect()
    }
}

/// Reads the shaders below a folder, and chooses parameters for those without a case file.
fn originals(from: &Path, seed: u64) -> Result<Vec<Original>, Failure> {
    let found = ShaderFiles::find(from)?;
    let options = ShaderOptions { compile: &CompileOptions::default(), seed };
    let spinner = Spinner::new("reading the shaders and choosing their parameters");
    let (mut originals, mut refused) = (Vec::new(), Vec::new());
    for case in &found.cases {
        match original(case, options) {
            Ok(Some(original)) => originals.push(original),
            Ok(None) => {}
            Err(error) => refused.push(format!("{}: {error:#}", case.name)),
        }
    }
    drop(spinner);
    if !refused.is_empty() {
        let more = refused.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let named = refused[..refused.len().min(NAMED)].join("; ");
        note(&format!("{} cannot be checked: {named}{more}", counted(refused.len(), "shader")));
    }
    if originals.is_empty() {
        let error = anyhow::anyhow!("{}: no compute shader that can be checked", from.display());
        return Err(Failure { code: exit::NOTHING, error });
    }
    Ok(originals)
}

fn original(case: &Case, options: ShaderOptions<'_>) -> anyhow::Result<Option<Original>> {
    let Some(mut session) = session(case, options)? else { return Ok(None) };
    session.takes_variants = false;
    session.search(&NoDevice::default(), &|| ())?;
    session.check()?;
    let CheckSession { shader, options, .. } = session;
    // The values that a case file expects are those of the original.
    Ok(Some(Original { name: case.name.clone(), shader, options: Options { expectations: Vec::new(), ..options } }))
}

fn session(case: &Case, options: ShaderOptions<'_>) -> anyhow::Result<Option<CheckSession>> {
    Ok(case.shader_file().map(|file| check_session(file, options)).transpose()?.flatten())
}

/// Returns the shader and options of a mutant by the path of its case file.
pub(super) fn read(name: &str) -> Result<(ShaderSource, Options), Failure> {
    let found = ShaderFiles::find(Path::new(name))?;
    let options = ShaderOptions { compile: &CompileOptions::default(), seed: 0 };
    let session = found.cases.first().map(|case| session(case, options)).transpose().code(exit::INTERNAL)?;
    let session = session.flatten().with_context(|| format!("{name}: no shader")).code(exit::INTERNAL)?;
    Ok((session.shader, session.options))
}
