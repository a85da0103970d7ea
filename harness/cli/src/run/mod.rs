//! `assay run`.

mod all;
mod among;
mod isolated;
mod resume;
mod session;
pub(crate) mod worker;

pub(crate) use all::{devices, folders_within};
pub(crate) use isolated::failure;

use crate::{
    args::{Api, Isolate, RunArgs},
    exit::{self, Failure, WithCode, usage},
    folders, note,
};
use among::Among;
use anyhow::Context;
use assay_check::{Target, VulkanTarget};
use assay_portable::{PortableDevice, PortableError, PortableExecutor, PortableTarget};
use assay_reports::{Folder, Journal};
use assay_runner::{Executor, VulkanExecutor, VulkanOptions};
use assay_spirv::need::Have;
use assay_suite::{NoDevice, Programs, RunPath};
use assay_vulkan::Instance;
use jiff::{Timestamp, Zoned};
use resume::Given;
use session::{Session, Work};
use std::{
    path::{Path, PathBuf},
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// What stands for every device of the machine.
pub(crate) const ALL: &str = "all";

/// Set by the first Ctrl-C.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Runs the cases that the filters choose.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if let Some(folder) = &args.resume {
        return resume::resume(&Given::now(args), folder, None);
    }
    with(args, std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect())
}

/// Runs what another command line of `assay run` would, which the record of the run has.
pub(crate) fn run_as(command: Vec<String>) -> Result<u8, Failure> {
    with(&resume::parse(&command).map_err(usage)?, command)
}

fn with(args: &RunArgs, command: Vec<String>) -> Result<u8, Failure> {
    if args.path == Some(RunPath::Reference) && args.device.is_some() {
        return Err(usage(
            "--path reference takes no --device: the oracle runs alone, against the suite's own reference",
        ));
    }
    if args.validation && args.api != Api::Vulkan {
        return Err(usage("--validation is about Vulkan: wgpu is not run under the validation layer"));
    }
    if args.device.as_deref() == Some(ALL) || args.api == Api::Both {
        return all::run(args, &command);
    }
    one(args, command, None, None)
}

/// Runs on one device, among others if it is said among which; goes on with a run if its folder is given.
fn one(
    args: &RunArgs,
    command: Vec<String>,
    resumed: Option<(Folder, Journal)>,
    among: Option<&Among>,
) -> Result<u8, Failure> {
    let started = match &resumed {
        Some((_, journal)) => journal.info.started.clone(),
        None => Timestamp::now().to_string(),
    };
    let work = Work::new(args, command, started)?;
    match args.isolate {
        Isolate::Yes => isolated::run(args, work, resumed, among),
        Isolate::No => in_process(args, work, resumed),
    }
}

/// Runs in this process: whatever ends it ends the run.
fn in_process(args: &RunArgs, mut work: Work, resumed: Option<(Folder, Journal)>) -> Result<u8, Failure> {
    let runs = Runs::open(args)?;
    let mut session = Session::new(args, &mut work, runs.executor().info(), 0, resumed, None)?;
    session.start(&work)?;
    work.keep(&session.done);
    work.plan.negotiate(runs.executor(), work.options.jobs);
    without_paths(&mut work.plan, args.path);
    let with = session::run_with(args, &work.options, runs.executor().info());
    let programs = Programs { cases: &work.programs, target: runs.target(), with };
    catch_interrupts()?;
    let told = &mut session;
    let ran = assay_runner::run_with(
        &work.plan,
        &programs,
        runs.executor(),
        &work.options,
        &mut [Box::new(told.reporter())],
        &INTERRUPTED,
    );
    let ran = ran.map(|summary| summary.interrupted).context("the run is incomplete").code(exit::USAGE);
    session.end(ran)
}

/// Precision cases have no other path than the native one.
fn without_paths(plan: &mut assay_runner::Plan, path: Option<RunPath>) {
    if let Some(path) = path.filter(|path| *path != RunPath::Native) {
        for planned in &mut plan.cases {
            planned.missing = Some(format!("an instruction by itself has no {path} path: it is core Vulkan"));
        }
    }
}

/// The device that a selector names, as wgpu offers it, and what Vulkan says that it has.
pub(crate) fn portable(selector: Option<&str>) -> Result<(PortableDevice, Have), Failure> {
    let instance = Instance::new(false)?;
    let (chosen, all) = (instance.select(selector)?, instance.devices()?);
    Ok((PortableDevice::of(&chosen, &all)?, chosen.capabilities().have()))
}

impl From<PortableError> for Failure {
    fn from(error: PortableError) -> Failure {
        match error {
            PortableError::Vulkan(error) => error.into(),
            error => Failure { code: exit::NO_DEVICE, error: error.into() },
        }
    }
}

/// What the cases are run on.
enum Runs {
    /// A device: for precision cases, and for programs.
    Device(Box<VulkanExecutor>, Box<VulkanTarget>),
    /// The same through wgpu.
    Portable(Box<PortableExecutor>, Box<PortableTarget>),
    /// None, for the reference path.
    Nothing(Box<NoDevice>),
}

impl Runs {
    fn open(args: &RunArgs) -> Result<Runs, Failure> {
        if args.path == Some(RunPath::Reference) {
            return Ok(Runs::Nothing(Box::default()));
        }
        let time_limit = Duration::from_secs_f64(args.timeout);
        if args.api == Api::Wgpu {
            let (device, have) = portable(args.device.as_deref())?;
            let target = PortableTarget::new(device.clone(), have, time_limit)?;
            return Ok(Runs::Portable(Box::new(PortableExecutor::new(device, time_limit)?), Box::new(target)));
        }
        let validation = args.validation;
        let executor = VulkanExecutor::open(&VulkanOptions { device: args.device.clone(), validation, time_limit })?;
        let target = VulkanTarget::new(executor.physical(), time_limit, validation)?;
        Ok(Runs::Device(Box::new(executor), Box::new(target)))
    }

    fn executor(&self) -> &dyn Executor {
        match self {
            Runs::Device(executor, _) => &**executor,
            Runs::Portable(executor, _) => &**executor,
            Runs::Nothing(none) => &**none,
        }
    }

    fn target(&self) -> &(dyn Target + Sync) {
        match self {
            Runs::Device(_, target) => &**target,
            Runs::Portable(_, target) => &**target,
            Runs::Nothing(none) => &**none,
        }
    }
}

/// `assay-out/2026-11-21T11-21-47`: a colon would not do on every file system.
fn default_folder() -> PathBuf {
    PathBuf::from("assay-out").join(Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string())
}

/// The command that continues the run of a folder.
fn how_to_resume(folder: &Path) -> String {
    format!("continue with `assay run --resume {}`", folder.display())
}

/// Signals within so much time are one wish: what runs a command under a time limit tells it, and then its group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// The first Ctrl-C (or SIGTERM, which a lab's time limit sends) ends the run in good order, the second at once.
pub(crate) fn catch_interrupts() -> Result<(), Failure> {
    static ONCE: Once = Once::new();
    let mut first = None;
    let handler = move || match first {
        None => {
            first = Some(Instant::now());
            INTERRUPTED.store(true, Ordering::SeqCst);
            note("finishing what is under way and writing the results; Ctrl-C again quits at once");
        }
        Some(first) if first.elapsed() < ONE_WISH => {}
        Some(_) => std::process::exit(exit::INTERRUPTED.into()),
    };
    let mut set = Ok(());
    ONCE.call_once(|| set = ctrlc::set_handler(handler));
    set.context("cannot catch Ctrl-C").code(exit::INTERNAL)
}

/// Writes the page of a folder. The results are safe: a page that cannot be written is worth a note, not the run.
pub(crate) fn write_page(folder: &Path) {
    if let Err(failure) = folders::write_page(&[folder.to_owned()], &folder.join(folders::PAGE)) {
        note(&format!("no page was written: {failure}"));
    }
}
