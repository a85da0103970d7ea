//! `assay run --resume`: resuming a run that was killed or interrupted.

use super::{concurrent_devices::ConcurrentRun, multi_device, run_one};
use crate::{
    args::{Cli, Command, Isolate, RunArgs},
    exit::{self, Failure, WithCode, usage},
};
use assay_reports::ResultDirWriter;
use clap::{CommandFactory, Parser, parser::ValueSource};
use std::{collections::BTreeSet, path::Path};

/// Command line of an `assay run`.
#[derive(Clone)]
pub(super) struct CommandLine {
    pub(super) args: RunArgs,
    /// Options that are given explicitly, by their names in [`option_values`]. Only these must
    /// match the original run.
    explicit: BTreeSet<String>,
}

impl CommandLine {
    /// Returns the command line of this process.
    pub(super) fn of_process(args: &RunArgs) -> CommandLine {
        let command = std::env::args_os().map(crate::shield_minus);
        let matches = Cli::command().try_get_matches_from(command);
        let explicit = matches.ok().and_then(|matches| {
            let (_, run) = matches.subcommand()?;
            let is_given = |id: &&clap::Id| run.value_source(id.as_str()) == Some(ValueSource::CommandLine);
            Some(run.ids().filter(is_given).map(ToString::to_string).collect())
        });
        CommandLine { args: args.clone(), explicit: explicit.unwrap_or_default() }
    }

    /// Returns a command line without explicit options.
    pub(super) fn of_args(args: RunArgs) -> CommandLine {
        CommandLine { args, explicit: BTreeSet::new() }
    }

    /// Replaces the number of threads.
    pub(super) fn with_jobs(mut self, jobs: Option<u16>) -> CommandLine {
        self.args.jobs = jobs;
        self
    }

    /// Treats some options as not given.
    pub(super) fn without(mut self, options: &[&str]) -> CommandLine {
        self.explicit.retain(|option| !options.contains(&option.as_str()));
        self
    }
}

/// Resumes the run in a folder with its original command line. The folder is not changed until the
/// run is known to be resumable.
pub(super) fn resume(current: &CommandLine, path: &Path, concurrent: Option<&ConcurrentRun>) -> Result<u8, Failure> {
    if multi_device::holds_runs(path) && !ResultDirWriter::has_run(path) {
        return multi_device::resume_all(current, path);
    }
    let (folder, journal) = ResultDirWriter::resume(path).code(exit::USAGE)?;
    let command = journal.info.command.clone();
    let mut args = original_args(current, path, &journal.info.version, &command)?;
    // A folder of joined parts has the command line of one of them.
    let parts = journal.info.part.as_ref().map(|part| part.of.join(", "));
    if args.partition.is_some_and(|own| parts.as_ref() != Some(&own.to_string())) {
        return Err(usage(format!(
            "cannot resume {}: `assay merge` joined it from several runs; resume the incomplete part in its own folder, \
             then merge again",
            path.display()
        )));
    }
    args.out = Some(path.to_owned());
    run_one(&args, command, Some((folder, journal)), concurrent)
}

/// Returns the arguments of the original command line `command`, with the options that may change
/// taken from `current`.
///
/// # Errors
/// Another version of Assay began the run, or an option that must not change differs.
pub(super) fn original_args(
    current: &CommandLine,
    path: &Path,
    then: &str,
    command: &[String],
) -> Result<RunArgs, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if then != version {
        let path = path.display();
        return Err(usage(format!("cannot resume {path}: Assay {then} began it, and this is Assay {version}")));
    }
    let mut args = parse(command).map_err(|error| {
        let path = path.display();
        usage(format!("cannot resume {path}: this Assay does not understand its command line: {error}"))
    })?;
    if let Some((option, then, now)) = difference(&args, current) {
        let path = path.display();
        return Err(usage(format!("cannot resume {path} with another {option}: it was {then}, and is now {now}")));
    }
    let current = &current.args;
    // These options do not affect results.
    args.jobs = current.jobs.or(args.jobs);
    args.workers = current.workers.or(args.workers);
    args.memory = current.memory.or(args.memory);
    if !current.via.via.is_empty() {
        args.via = current.via.clone();
    }
    args.verbose = current.verbose;
    args.quiet = current.quiet;
    Ok(args)
}

/// Parses a command line of `assay run`.
pub(super) fn parse(command: &[String]) -> Result<RunArgs, String> {
    let cli = Cli::try_parse_from(command.iter().map(|text| crate::shield_minus(text.into())));
    match cli.map(|cli| cli.command) {
        Ok(Command::Run(args)) => Ok(*args),
        Ok(_) => Err("it is not an `assay run` command".to_owned()),
        Err(error) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Returns the first explicitly given option that differs from the original run: its name, original
/// and current value.
fn difference(then: &RunArgs, now: &CommandLine) -> Option<(String, String, String)> {
    let pairs = option_values(then).into_iter().zip(option_values(&now.args));
    let mut differing = pairs.filter(|(then, now)| then.1 != now.1);
    let ((option, then), (_, now)) = differing.find(|((option, _), _)| now.explicit.contains(*option))?;
    let option = if option == "filters" { "FILTER".to_owned() } else { format!("--{option}") };
    Some((option, then, now))
}

/// Returns the options that affect results: their clap names and their values as text.
fn option_values(args: &RunArgs) -> Vec<(&'static str, String)> {
    fn text(value: Option<&impl ToString>) -> String {
        value.map_or_else(|| "none".to_owned(), ToString::to_string)
    }
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let filters = Some(args.filters.join(" ")).filter(|filters| !filters.is_empty());
    let mut values = vec![
        ("filters", text(filters.as_ref())),
        ("budget", args.budget.to_string()),
        ("device", text(args.device.as_ref())),
        ("api", args.api.name().to_owned()),
        ("timeout", args.timeout.to_string()),
        ("seed", args.seed.to_string()),
        ("range", text(args.range.as_ref())),
        ("partition", text(args.partition.as_ref())),
        ("path", text(args.path.as_ref())),
        ("validation", yes(args.validation)),
        ("isolate", yes(args.isolate == Isolate::Yes)),
        ("confirm", yes(args.confirm.is_yes())),
        ("define", args.compile.define.join(" ")),
        ("include", format!("{:?}", args.compile.include)),
    ];
    values.extend(args.lists.values());
    values
}
