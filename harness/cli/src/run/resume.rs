//! `assay run --resume` and `--rerun-failed`: running again with the options of an earlier run.

use super::{RunArgs, concurrent_devices::ConcurrentRun, default_folder, run_one};
use crate::{
    COMMAND_LINE,
    args::Cli,
    exit::{self, Failure, WithCode, usage},
    lab_lists::write_case_list,
};
use assay_events::RunSettings;
use assay_reports::{ResultDir, ResultDirWriter};
use clap::{CommandFactory, parser::ValueSource};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Arguments of the command that resumes a run.
#[derive(Clone)]
pub(super) struct ResumeArgs {
    pub(super) args: RunArgs,
    /// Options that are given explicitly, by their fields in [`RunSettings`]. Only these must match
    /// the original run.
    explicit: BTreeSet<String>,
}

impl ResumeArgs {
    /// Returns the arguments of this process.
    pub(super) fn of_process(args: &RunArgs) -> ResumeArgs {
        let matches = Cli::command().try_get_matches_from(COMMAND_LINE.get().map(Vec::as_slice).unwrap_or_default());
        let run = matches.as_ref().ok().and_then(|all| all.subcommand_matches("run"));
        let explicit = run.map(|run| {
            let is_given = |id: &&clap::Id| run.value_source(id.as_str()) == Some(ValueSource::CommandLine);
            run.ids().filter(is_given).map(ToString::to_string).collect()
        });
        ResumeArgs { args: args.clone(), explicit: explicit.unwrap_or_default() }
    }

    /// Returns arguments of which none must match the original run.
    pub(super) fn of_args(args: RunArgs) -> ResumeArgs {
        ResumeArgs { args, explicit: BTreeSet::new() }
    }

    /// Replaces the number of threads.
    pub(super) fn with_jobs(mut self, jobs: Option<u16>) -> ResumeArgs {
        self.args.jobs = jobs;
        self
    }

    /// Treats some options as not given.
    pub(super) fn without(mut self, options: &[&str]) -> ResumeArgs {
        self.explicit.retain(|option| !options.contains(&option.as_str()));
        self
    }
}

/// Resumes the run of one device in a folder with its original options. The folder is not changed
/// until the run is known to be resumable.
pub(super) fn resume_one(current: &ResumeArgs, path: &Path, concurrent: Option<&ConcurrentRun>) -> Result<u8, Failure> {
    let (folder, journal) = ResultDirWriter::resume(path).code(exit::USAGE)?;
    let info = &journal.info;
    must_be_of_this_version(path, &info.version)?;
    let mut args = original_args(current, path, info.settings.as_deref(), "resume")?;
    // A folder of joined parts has the options of one of them.
    let parts = info.part.as_ref().map(|part| part.of.join(", "));
    if args.partition.is_some_and(|own| parts.as_ref() != Some(&own.to_string())) {
        return Err(usage(format!(
            "cannot resume {}: `assay merge` joined it from several runs; resume the incomplete part in its own folder, \
             then merge again",
            path.display()
        )));
    }
    args.out = Some(path.to_owned());
    let command = info.command.clone();
    run_one(&args, command, Some((folder, journal)), concurrent)
}

/// Case list of a rerun in its result folder.
const FAILED: &str = "failed-cases.txt";

/// Checks that this version of Assay began a run, whose results the resumed run completes.
pub(super) fn must_be_of_this_version(path: &Path, then: &str) -> Result<(), Failure> {
    let now = env!("CARGO_PKG_VERSION");
    if then == now {
        return Ok(());
    }
    let path = path.display();
    Err(usage(format!("cannot resume {path}: Assay {then} began it, and this is Assay {now}")))
}

/// Returns the arguments that run the failing cases of a finished run, with its other settings. Writes
/// the list of the cases.
///
/// # Errors
/// The folder has no finished run, no case of it fails, or an option that must not change differs.
pub(super) fn rerun_args(current: &ResumeArgs, path: &Path) -> Result<RunArgs, Failure> {
    let earlier = ResultDir::open(path).code(exit::USAGE)?;
    let same = |out: &PathBuf| out.canonicalize().is_ok_and(|out| path.canonicalize().is_ok_and(|path| path == out));
    if current.args.out.as_ref().is_some_and(same) {
        return Err(usage(format!("--out {} is the folder of the earlier run; name another", path.display())));
    }
    let statuses = earlier.statuses().code(exit::USAGE)?;
    let failing = statuses.into_iter().filter(|(_, status)| status.is_failure()).map(|(name, _)| name);
    let failing: Vec<String> = failing.collect();
    let mut args = original_args(current, path, earlier.run.settings.as_deref(), "rerun the cases of")?;
    if failing.is_empty() {
        let error = anyhow::anyhow!("no case of the run in {} fails, so there is nothing to rerun", path.display());
        return Err(Failure { code: exit::NOTHING, error });
    }
    // They chose among the cases of the earlier run.
    args.partition = None;
    args.lists.exclude.clear();
    let out = current.args.out.clone().unwrap_or_else(default_folder);
    args.lists.caselist = Some(write_case_list(&out, FAILED, &failing)?);
    // A name also selects the variants of its case, which the list leaves out.
    args.filters = failing;
    args.out = Some(out);
    Ok(args)
}

/// Returns the arguments with the original settings, and with the options that may change taken
/// from `current`. `verb` is for errors.
///
/// # Errors
/// The settings are not known, or an option that must not change differs.
pub(super) fn original_args(
    current: &ResumeArgs,
    path: &Path,
    settings: Option<&RunSettings>,
    verb: &str,
) -> Result<RunArgs, Failure> {
    let refused = |why: String| usage(format!("cannot {verb} {}{why}", path.display()));
    let settings = settings.ok_or_else(|| {
        refused(
            ": it does not contain the options of its run, because an earlier build of Assay wrote it; start a new run"
                .to_owned(),
        )
    })?;
    if let Some((option, then, now)) = difference(settings, current) {
        return Err(refused(format!(" with another {option}: it was {then}, and is now {now}")));
    }
    let mut args = RunArgs::from_settings(settings.clone()).map_err(|error| refused(format!(": {error}")))?;
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
    args.json = current.json;
    Ok(args)
}

/// Returns the first explicitly given option that differs from the original run: its name, original
/// and current value.
fn difference(then: &RunSettings, now: &ResumeArgs) -> Option<(String, String, String)> {
    let pairs = then.values().into_iter().zip(now.args.settings().values());
    let mut differing = pairs.filter(|(then, now)| then.1 != now.1);
    let ((field, then), (_, now)) = differing.find(|((field, _), _)| now.explicit.contains(field))?;
    let option = if field == "filters" { "FILTER".to_owned() } else { format!("--{}", field.replace('_', "-")) };
    Some((option, then, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_options_are_compared_and_others_are_not() {
        let then = RunSettings::default();
        let now = |settings: RunSettings, explicit: &[&str]| ResumeArgs {
            args: RunArgs::from_settings(settings).unwrap(),
            explicit: explicit.iter().map(|&option| option.to_owned()).collect(),
        };
        let target = || RunSettings { target_env: Some("vulkan1.2".to_owned()), ..RunSettings::default() };
        let differs = difference(&then, &now(target(), &["target_env"])).unwrap();
        assert_eq!(differs, ("--target-env".to_owned(), "none".to_owned(), "vulkan1.2".to_owned()));
        assert_eq!(difference(&then, &now(target(), &[])), None);
        assert_eq!(difference(&target(), &now(target(), &["target_env"])), None);
        let filters = RunSettings { filters: vec!["p".to_owned()], jobs: Some(3), ..RunSettings::default() };
        let differs = difference(&then, &now(filters, &["filters", "jobs"])).unwrap();
        assert_eq!(differs, ("FILTER".to_owned(), "none".to_owned(), "p".to_owned()));
    }

    #[test]
    fn a_run_without_its_options_cannot_be_resumed() {
        let current = ResumeArgs::of_args(RunArgs::default());
        let original = |settings: Option<&RunSettings>| {
            original_args(&current, Path::new("out"), settings, "resume").map_err(|failure| failure.to_string())
        };
        let error = original(None).unwrap_err();
        assert!(error.starts_with("cannot resume out: it does not contain the options"), "{error}");
        assert!(original(Some(&RunSettings::default())).is_ok());
        assert!(must_be_of_this_version(Path::new("out"), env!("CARGO_PKG_VERSION")).is_ok());
        let error = must_be_of_this_version(Path::new("out"), "0.0.1").map_err(|failure| failure.to_string());
        assert!(error.unwrap_err().contains("Assay 0.0.1 began it"));
    }
}
