//! Selection and listing of cases.

use crate::{
    exit::{self, Failure, WithCode, usage},
    note_once, print,
};
use assay_case::{Budget, Inputs, NameFilters};
use assay_check::{CaseFile, SequenceSession};
use assay_events::{CaseResult, Status};
use assay_files::input;
use assay_fuzz::ProgramRange;
use assay_reports::{counted, plural};
use assay_runner::{PlanError, Selectable, choose, must_match};
use assay_suite::{AnyCase, Case as Program, ShaderFile, ShaderFiles};
use clap::Args;
use serde::Serialize;
use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write,
    path::Path,
};

/// Section of the help about filters.
pub(crate) const FILTERS: &str = "\
Filters:
  precision.f32
      a group: every case whose name begins with these components
  precision.f32.exp2.scalar.default
      one case, and its variants .constant and .specconstant
  'precision.*.exp2.*'
      a pattern that matches whole names; * matches anything, including dots
  family.toml
      your own case family, in the format of the files in cases/precision
  storage8, 'environment.*'
      the cases of a conformance suite
  blur.wgsl, blur.toml, shaders/, sort.hlsl:merge
      a shader of yours, its case file, or all of them below a folder (written
      with a /), or one of several in a file; each is checked as by
      `assay check`
  A case runs if any filter matches it.";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Case filters [default: all cases]
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,

    /// Only the cases of a run with this budget, with the number of inputs of each
    #[arg(long)]
    pub(crate) budget: Option<Budget>,

    /// Print each case as a line of JSON: its name, instruction, types, modes, clause and inputs
    #[arg(long)]
    pub(crate) json: bool,
}

/// A listed case in JSON. Programs of suites and shaders have a name only.
#[derive(Serialize)]
#[serde(untagged)]
enum ListedCase<'a> {
    Precision(Box<ListedPrecisionCase<'a>>),
    Program { name: &'a str },
}

#[derive(Serialize)]
struct ListedPrecisionCase<'a> {
    name: &'a str,
    instruction: String,
    types: String,
    modes: String,
    /// Source of the operands.
    source: String,
    rule: String,
    clause: String,
    /// Number of inputs with the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<u64>,
    /// Number of possible inputs in decimal.
    inputs_possible: String,
}

impl<'a> ListedCase<'a> {
    fn new(case: &'a AnyCase, inputs: Option<u64>) -> ListedCase<'a> {
        let AnyCase::Precision(precision) = case else { return ListedCase::Program { name: case.name() } };
        let CaseResult { instruction, types, modes, source, rule, clause, inputs_possible, .. } =
            assay_runner::not_run(precision, Status::NotSupported, String::new(), (0, None));
        let name = case.name();
        ListedCase::Precision(Box::new(ListedPrecisionCase {
            name,
            instruction,
            types,
            modes,
            source,
            rule,
            clause,
            inputs,
            inputs_possible,
        }))
    }
}

/// Returns the built-in cases.
pub(crate) fn load() -> Result<Vec<AnyCase>, Failure> {
    AnyCase::load().code(exit::USAGE)
}

/// Returns the cases that arguments may select, and the arguments with each file and folder
/// replaced by the names of its cases. The built-in cases are among them, unless all arguments are
/// shaders.
pub(crate) fn load_with(arguments: &[String]) -> Result<(Vec<AnyCase>, Vec<String>), Failure> {
    let is_built_in = |argument: &String| shader_path(argument).is_none() && !ProgramRange::is_meant(argument);
    let only_others = !arguments.is_empty() && !arguments.iter().any(is_built_in);
    let (mut all, mut patterns) = (if only_others { Vec::new() } else { load()? }, Vec::new());
    let (mut files, mut programs) = (BTreeSet::new(), BTreeSet::new());
    // Filled when the first file is read.
    let mut names: Option<HashSet<String>> = None;
    for argument in arguments {
        if ProgramRange::is_meant(argument) {
            let range: ProgramRange = argument.parse().code(exit::USAGE)?;
            for program in range.programs().filter(|program| programs.insert(*program)) {
                patterns.push(program.to_string());
                all.push(AnyCase::Program(program.case()));
            }
            continue;
        }
        let path = Path::new(argument);
        let (shader, family) = (shader_path(argument), is_toml(path));
        if shader.is_none() && !family {
            patterns.push(argument.clone());
            continue;
        }
        // A file given twice counts once, in the same way as a filter.
        if path.canonicalize().is_ok_and(|path| !files.insert(path)) {
            continue;
        }
        let own: Vec<AnyCase> = match shader {
            Some(path) => shaders(path, argument)?.into_iter().map(AnyCase::Program).collect(),
            None => assay_case::load_file(path).code(exit::USAGE)?.into_iter().map(AnyCase::Precision).collect(),
        };
        for case in own {
            let names = names.get_or_insert_with(|| all.iter().map(|case| case.name().to_owned()).collect());
            if !names.insert(case.name().to_owned()) {
                // A folder and a file in it name the same shader.
                if matches!(case, AnyCase::Program(_)) {
                    continue;
                }
                return Err(usage(format!("{argument}: a case `{}` already exists; rename the file", case.name())));
            }
            patterns.push(case.name().to_owned());
            all.push(case);
        }
    }
    Ok((all, patterns))
}

/// Returns true if a file's name ends in `.toml`.
pub(crate) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}

/// Returns the path of an argument that names shaders: a folder, written with a `/` unless it is
/// `.` or `..`, or a file with the ending of a shader, or a case file. `PATH:PART` names one of
/// several shaders in a file.
fn shader_path(argument: &str) -> Option<&Path> {
    let whole = path_of_shaders(Path::new(argument), argument);
    let part = || {
        let (file, _) = argument.rsplit_once(':')?;
        path_of_shaders(Path::new(file), file).filter(|file| file.is_file())
    };
    whole.or_else(part)
}

fn path_of_shaders<'a>(path: &'a Path, argument: &str) -> Option<&'a Path> {
    let is_folder = (argument.contains('/') || matches!(argument, "." | "..")) && path.is_dir();
    let is_shader = || path.extension().is_some_and(ShaderFile::is_ending) && path.is_file();
    let is_case_file = || {
        let is_case = |text: String| CaseFile::is_case_file(&text);
        is_toml(path)
            && (SequenceSession::is_sequence(path) || input::read_text(path, input::MAX_CASE_BYTES).is_ok_and(is_case))
    };
    (is_folder || is_shader() || is_case_file()).then_some(path)
}

/// Returns the cases that an argument names: those of a shader, of the shaders below a folder, or one
/// of several in a file.
fn shaders(path: &Path, argument: &str) -> Result<Vec<Program>, Failure> {
    let mut found = ShaderFiles::find(path)?;
    let shown = path.display();
    if path != Path::new(argument) {
        let parts: Vec<String> = found.cases.iter().map(|case| case.name.clone()).collect();
        found.cases.retain(|case| case.name.trim_start_matches("./") == argument.trim_start_matches("./"));
        if found.cases.is_empty() {
            return Err(usage(format!("{shown} has no shader `{argument}`; it has {}", parts.join(", "))));
        }
    }
    let others = &found.without_compute;
    if !others.is_empty() {
        /// Largest number of shaders listed.
        const LISTED: usize = 3;
        let (shaders, verb) = (counted(others.len(), "shader"), plural(others.len(), "has", "have"));
        let listed: Vec<String> = others.iter().take(LISTED).map(|file| file.display().to_string()).collect();
        let more = others.len() - listed.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = listed.join(", ");
        note_once(&format!("{shown}: {shaders} {verb} no compute entry point and cannot be checked: {listed}{more}"));
    }
    if found.cases.is_empty() {
        let error = anyhow::anyhow!("{shown}: no compute shader and no case file of a shader");
        return Err(Failure { code: exit::NOTHING, error });
    }
    Ok(found.cases)
}

/// Returns the random program of a name that [`load_with`] gave for one.
pub(crate) fn random_program(name: &str) -> Option<Program> {
    Some(name.parse::<ProgramRange>().ok()?.programs().next()?.case())
}

/// Returns the filters.
///
/// # Errors
/// A filter matches no case.
pub(crate) fn filters(patterns: &[String], cases: &[AnyCase]) -> Result<NameFilters, Failure> {
    let filters = NameFilters::new(patterns);
    must_match(&filters, cases).map_err(|error| match &error {
        PlanError::NoMatch { filter, .. } if Path::new(filter).is_dir() => Failure {
            code: exit::NOTHING,
            error: anyhow::anyhow!(
                "no case matches `{filter}`; to check the shaders in this folder, write `{filter}/`"
            ),
        },
        _ => Failure { code: exit::NOTHING, error: error.into() },
    })?;
    Ok(filters)
}

/// `assay list`: prints the matching cases.
pub(crate) fn list(args: &ListArgs) -> Result<u8, Failure> {
    let (cases, patterns) = load_with(&args.filters)?;
    let filters = filters(&patterns, &cases)?;
    // Every budget but the quick one has all cases.
    let cases = choose(cases, &filters, args.budget.unwrap_or(Budget::Sampled), None).cases;
    let mut text = String::new();
    for case in &cases {
        let inputs = match (case, args.budget) {
            (AnyCase::Precision(case), Some(budget)) => {
                Some(Inputs::new(case, budget, 0, None).code(exit::USAGE)?.len())
            }
            _ => None,
        };
        if args.json {
            text += &serde_json::to_string(&ListedCase::new(case, inputs)).code(exit::USAGE)?;
        } else {
            text += case.name();
            _ = inputs.map(|inputs| write!(text, "  {}", counted(inputs, "input")));
        }
        text.push('\n');
    }
    print(text.as_bytes())
}
