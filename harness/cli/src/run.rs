//! `assay run`.

use crate::{
    args::RunArgs,
    cases,
    exit::{self, Failure, WithCode},
    folders, note,
};
use anyhow::Context;
use assay_check::{Target, VulkanTarget};
use assay_reports::{Console, ConsoleOptions, Folder, Progress, Shared, Tally};
use assay_runner::{Executor, Plan, PlanError, Reporter, RunOptions, Selection, VulkanExecutor, VulkanOptions};
use assay_suite::{NoDevice, Programs, RunPath, RunWith, Unit};
use jiff::{Timestamp, Zoned};
use std::{
    num::NonZero,
    path::PathBuf,
    rc::Rc,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// Set by the first Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Runs the cases that the filters choose.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let (all, patterns) = cases::load_with(&args.filters)?;
    let filters = cases::filters(&patterns, &all)?;
    let (lists, chosen) = args.lists.read(all, &filters)?;
    let runs = Runs::open(args)?;
    let executor = runs.executor();
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let options = RunOptions {
        budget: args.budget,
        seed: args.seed,
        range: args.range.clone(),
        partition: args.partition,
        jobs,
        command: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        started: Timestamp::now().to_string(),
    };
    let refused = |error: PlanError| Failure {
        code: match error {
            PlanError::NoMatch { .. } => exit::NOTHING,
            PlanError::Range { .. } => exit::USAGE,
        },
        error: error.into(),
    };
    let selection = assay_runner::choose(chosen.cases, &filters, options.budget, options.partition);
    let Selection { cases, thinned, part } = selection.map_err(refused)?;
    let (cases, programs) = Unit::split(cases);
    let mut plan = Plan::chosen(Selection { cases, thinned, part }, &options).map_err(refused)?;
    plan.programs = programs.iter().map(|case| case.name.clone()).collect();
    plan.negotiate(executor, jobs);
    if let Some(path) = args.path.filter(|path| *path != RunPath::Native) {
        for planned in &mut plan.cases {
            planned.missing = Some(format!("an instruction by itself has no {path} path: it is core Vulkan"));
        }
    }
    if plan.is_empty() {
        let partition = plan.part.as_ref().map(|part| format!("{} holds none of the {} cases", part.of[0], part.cases));
        return Err(Failure {
            code: exit::NOTHING,
            error: partition.filter(|_| plan.thinned == 0).map(anyhow::Error::msg).unwrap_or_else(|| {
                anyhow::anyhow!(
                    "the quick budget leaves out all {} cases that match; name one in full, or give --budget sampled",
                    plan.thinned
                )
            }),
        });
    }
    let planned = plan.names().map(str::to_owned).collect();
    let expectations = Rc::new(args.lists.expect(lists, executor.info(), planned, chosen.skipped)?);

    let folder = Folder::create(args.out.clone().unwrap_or_else(default_folder)).code(exit::USAGE)?;
    let path = folder.path().to_owned();
    let folder = folder.expecting(Rc::clone(&expectations));
    if folder.holds_results() {
        note(&format!("replacing the results of an earlier run in {}", folder.path().display()));
    }
    if plan.thinned > 0 {
        note(&format!(
            "the quick budget leaves out {} of the cases that match; --budget sampled runs them all",
            assay_reports::count(plan.thinned)
        ));
    }
    let tally = Shared::new(Tally::new().expecting(Rc::clone(&expectations)));
    let progress = Progress::stderr();
    let shown = ConsoleOptions { verbose: args.verbose, threads: jobs, folder: Some(folder.path().to_owned()) };
    let console = Console::new(anstream::stdout(), shown).beside(&progress).expecting(expectations);
    // The folder first: what the console says at the end is then already there.
    let mut reporters: Vec<Box<dyn Reporter>> =
        vec![Box::new(tally.clone()), Box::new(progress), Box::new(folder), Box::new(console)];

    catch_interrupts()?;
    // The layer says what it objects to about the device, not about a case: one at a time, then.
    let with = RunWith { path: args.path, seed: args.seed, jobs: if args.validation { 1 } else { jobs } };
    let programs = Programs { cases: &programs, target: runs.target(), with };
    assay_runner::run_with(&plan, &programs, executor, &options, &mut reporters, &INTERRUPTED).code(exit::USAGE)?;
    // The results are safe: a page that cannot be written is worth a note, not the run.
    let page = path.join(folders::PAGE);
    if let Err(failure) = folders::write_page(&[path], &page) {
        note(&format!("no page was written: {failure}"));
    }
    Ok(tally.with(|tally| exit::of_outcome(tally.outcome(), tally.interrupted())))
}

/// What the cases are run on.
enum Runs {
    /// A device: for precision cases, and for programs.
    Device(Box<VulkanExecutor>, Box<VulkanTarget>),
    /// None, for the reference path.
    Nothing(Box<NoDevice>),
}

impl Runs {
    fn open(args: &RunArgs) -> Result<Runs, Failure> {
        if args.path == Some(RunPath::Reference) {
            return Ok(Runs::Nothing(Box::default()));
        }
        let time_limit = Duration::from_secs_f64(args.timeout);
        let validation = args.validation;
        let executor = VulkanExecutor::open(&VulkanOptions { device: args.device.clone(), validation, time_limit })?;
        let target = VulkanTarget::new(executor.physical(), time_limit, validation)?;
        Ok(Runs::Device(Box::new(executor), Box::new(target)))
    }

    fn executor(&self) -> &dyn Executor {
        match self {
            Runs::Device(executor, _) => &**executor,
            Runs::Nothing(none) => &**none,
        }
    }

    fn target(&self) -> &(dyn Target + Sync) {
        match self {
            Runs::Device(_, target) => &**target,
            Runs::Nothing(none) => &**none,
        }
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// `assay-out/2026-11-21T11-21-47`: a colon would not do on every file system.
fn default_folder() -> PathBuf {
    PathBuf::from("assay-out").join(Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string())
}

/// The first Ctrl-C (or SIGTERM, which a lab's time limit sends) ends the run in good order, the second at once.
fn catch_interrupts() -> Result<(), Failure> {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(exit::INTERRUPTED.into());
        }
        note("finishing what is under way and writing the results; Ctrl-C again quits at once");
    };
    ctrlc::set_handler(handler).context("cannot catch Ctrl-C").code(exit::INTERNAL)
}
