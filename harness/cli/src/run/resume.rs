//! `assay run --resume`: going on with a run that was killed or interrupted.

use super::{all, among::Among, one};
use crate::{
    args::{Cli, Command, RunArgs},
    exit::{self, Failure, WithCode, usage},
    note,
};
use assay_reports::Folder;
use clap::Parser;
use std::{fmt::Debug, path::Path};

/// Goes on with the run of a folder: with the command line that began it.
pub(super) fn resume(given: &RunArgs, path: &Path, among: Option<&Among>) -> Result<u8, Failure> {
    if all::was_begun(path) && !Folder::is_begun(path) {
        return all::go_on(given, path);
    }
    let (folder, journal) = Folder::resume(path).code(exit::USAGE)?;
    let command = journal.info.command.clone();
    let mut args = again(given, path, &journal.info.version, &command)?;
    if journal.complete {
        note("the run is complete: its reports are written again");
    }
    args.out = Some(path.to_owned());
    one(&args, command, Some((folder, journal)), among)
}

/// The arguments of the command line that began a run, with what may differ from then as it is given now.
pub(super) fn again(given: &RunArgs, path: &Path, then: &str, command: &[String]) -> Result<RunArgs, Failure> {
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
    // What does not decide any result may be another than then.
    args.jobs = given.jobs.or(args.jobs);
    args.workers = given.workers.or(args.workers);
    args.memory = given.memory.or(args.memory);
    args.verbose = given.verbose;
    args.quiet = given.quiet;
    Ok(args)
}

fn parse(command: &[String]) -> Result<RunArgs, String> {
    let cli = Cli::try_parse_from(command.iter().map(|text| crate::shield_minus(text.into())));
    match cli.map(|cli| cli.command) {
        Ok(Command::Run(args)) => Ok(args),
        Ok(_) => Err("it is not `assay run`".to_owned()),
        Err(error) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// The first option that was given now and differs from then, with both values.
fn difference(then: &RunArgs, now: &RunArgs) -> Option<(&'static str, String, String)> {
    let none = parse(&["assay".to_owned(), "run".to_owned()]).ok()?;
    let (then, now, none) = (values(then), values(now), values(&none));
    let pairs = then.into_iter().zip(now).zip(none);
    pairs.filter(|((then, now), none)| now.1 != none.1 && now.1 != then.1).map(|((t, n), _)| (t.0, t.1, n.1)).next()
}

/// The options that decide results.
fn values(args: &RunArgs) -> Vec<(&'static str, String)> {
    let text = |value: &dyn Debug| format!("{value:?}");
    vec![
        ("FILTER", text(&args.filters)),
        ("--budget", args.budget.to_string()),
        ("--device", text(&args.device)),
        ("--api", args.api.name().to_owned()),
        ("--timeout", text(&args.timeout)),
        ("--seed", text(&args.seed)),
        ("--range", text(&args.range)),
        ("--partition", text(&args.partition)),
        ("list", text(&args.lists)),
        ("--path", text(&args.path)),
        ("--validation", text(&args.validation)),
        ("--isolate", text(&args.isolate)),
        ("--confirm", text(&args.confirm)),
    ]
}
