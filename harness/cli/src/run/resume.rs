//! `assay run --resume`: going on with a run that was killed or interrupted.

use super::{all, among::Among, one};
use crate::{
    args::{Cli, Command, Isolate, RunArgs},
    exit::{self, Failure, WithCode, usage},
};
use assay_reports::Folder;
use clap::{CommandFactory, Parser, parser::ValueSource};
use std::{collections::BTreeSet, path::Path};

/// What a command line says.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) args: RunArgs,
    /// The options that it names, as [`values`] calls them: of the others nothing is asked.
    named: BTreeSet<String>,
}

impl Given {
    /// What this process was started with.
    pub(super) fn now(args: &RunArgs) -> Given {
        let command = std::env::args_os().map(crate::shield_minus);
        let matches = Cli::command().try_get_matches_from(command);
        let named = matches.ok().and_then(|matches| {
            let (_, run) = matches.subcommand()?;
            let said = |id: &&clap::Id| run.value_source(id.as_str()) == Some(ValueSource::CommandLine);
            Some(run.ids().filter(said).map(ToString::to_string).collect())
        });
        Given { args: args.clone(), named: named.unwrap_or_default() }
    }

    /// The same with so many threads.
    pub(super) fn with_jobs(mut self, jobs: Option<u16>) -> Given {
        self.args.jobs = jobs;
        self
    }

    /// The same without some options.
    pub(super) fn without(mut self, options: &[&str]) -> Given {
        self.named.retain(|option| !options.contains(&option.as_str()));
        self
    }
}

/// Goes on with the run of a folder: with the command line that began it. Until it is sure that it can be, the folder stays as it
/// is.
pub(super) fn resume(given: &Given, path: &Path, among: Option<&Among>) -> Result<u8, Failure> {
    if all::was_begun(path) && !Folder::is_begun(path) {
        return all::go_on(given, path);
    }
    let (folder, journal) = Folder::resume(path).code(exit::USAGE)?;
    let command = journal.info.command.clone();
    let mut args = again(given, path, &journal.info.version, &command)?;
    // Of parts that were joined, the folder has the command line of one.
    let parts = journal.info.part.as_ref().map(|part| part.of.join(", "));
    if args.partition.is_some_and(|own| parts.as_ref() != Some(&own.to_string())) {
        return Err(usage(format!(
            "{} holds what `assay merge` joined, which no single command line ran: go on with the folder of the part that lacks \
             something, and join again",
            path.display()
        )));
    }
    args.out = Some(path.to_owned());
    one(&args, command, Some((folder, journal)), among)
}

/// The arguments of the command line that began a run, with what may differ from then as it is given now.
pub(super) fn again(given: &Given, path: &Path, then: &str, command: &[String]) -> Result<RunArgs, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if then != version {
        let path = path.display();
        return Err(usage(format!("cannot go on with {path}: it was begun by Assay {then}, and this is {version}")));
    }
    let mut args = parse(command).map_err(|error| {
        let path = path.display();
        usage(format!("cannot go on with {path}: its command line is no run that this Assay understands: {error}"))
    })?;
    if let Some((option, then, now)) = difference(&args, given) {
        let path = path.display();
        return Err(usage(format!("cannot go on with {path} with another {option}: {then} then, {now} now")));
    }
    let given = &given.args;
    // What does not decide any result may be another than then.
    args.jobs = given.jobs.or(args.jobs);
    args.workers = given.workers.or(args.workers);
    args.memory = given.memory.or(args.memory);
    args.verbose = given.verbose;
    args.quiet = given.quiet;
    Ok(args)
}

/// The arguments of a command line of `assay run`.
pub(super) fn parse(command: &[String]) -> Result<RunArgs, String> {
    let cli = Cli::try_parse_from(command.iter().map(|text| crate::shield_minus(text.into())));
    match cli.map(|cli| cli.command) {
        Ok(Command::Run(args)) => Ok(args),
        Ok(_) => Err("it is not `assay run`".to_owned()),
        Err(error) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// The first option that is named now and differs from then, with both values.
fn difference(then: &RunArgs, now: &Given) -> Option<(String, String, String)> {
    let pairs = values(then).into_iter().zip(values(&now.args));
    let mut differing = pairs.filter(|(then, now)| then.1 != now.1);
    let ((option, then), (_, now)) = differing.find(|((option, _), _)| now.named.contains(*option))?;
    let option = if option == "filters" { "FILTER".to_owned() } else { format!("--{option}") };
    Some((option, then, now))
}

/// The options that decide results, by the names that clap has for them, with their values in words.
fn values(args: &RunArgs) -> Vec<(&'static str, String)> {
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
    ];
    values.extend(args.lists.values());
    values
}
