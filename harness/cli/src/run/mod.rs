//! `assay run`.

mod concurrent_devices;
mod isolated_run;
mod multi_device;
mod resume;
mod run_args;
mod run_worker;
mod session;

pub(crate) use isolated_run::failure;
pub(crate) use multi_device::devices;
pub(crate) use run_args::{HELP, RunArgs};
pub(crate) use run_worker::{RunSetup, RunWorker};

use crate::{
    command_line,
    common_args::{Api, Isolate},
    exit::{self, Failure, WithCode, usage},
    note, result_folders,
};
use anyhow::Context;
use assay_case::Budget;
use assay_exec::{Executor, Target};
use assay_reports::{Journal, ResultDirWriter};
use assay_spirv_rules::requirements::DeviceCaps;
use assay_suite::{NoDevice, ProgramSet, RunPath};
use assay_vulkan::Instance;
use assay_vulkan_exec::{VulkanExecutor, VulkanOptions, VulkanTarget};
use assay_wgpu_exec::{WgpuDevice, WgpuError, WgpuExecutor, WgpuTarget};
use concurrent_devices::ConcurrentRun;
use jiff::{Timestamp, Zoned};
use resume::ResumeArgs;
use session::{PlannedRun, Session};
use std::{
    path::{Path, PathBuf},
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Value of `--device` that selects every device of the machine.
pub(crate) const ALL: &str = "all";

/// Set by the first Ctrl-C.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Runs the selected cases, or resumes a run.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if let Some(folder) = &args.resume {
        return resume(&ResumeArgs::of_process(args), folder);
    }
    if let Some(folder) = &args.rerun_failed {
        return run_as(&resume::rerun_args(&ResumeArgs::of_process(args), folder)?);
    }
    run_with_args(args, command_line())
}

/// Runs as another command asks for.
pub(crate) fn run_as(args: &RunArgs) -> Result<u8, Failure> {
    run_with_args(args, args.command_line())
}

/// Resumes the run in a folder as another command asks for.
pub(crate) fn resume_as(args: RunArgs, folder: &Path) -> Result<u8, Failure> {
    resume(&ResumeArgs::of_args(args), folder)
}

/// Resumes the run in a folder, or all runs of a folder of several.
fn resume(current: &ResumeArgs, path: &Path) -> Result<u8, Failure> {
    if result_folders::holds_runs(path) && !ResultDirWriter::has_run(path) {
        if current.args.json {
            return Err(json_of_several_runs());
        }
        return multi_device::resume_all(current, path);
    }
    resume::resume_one(current, path, None)
}

/// Returns the error of `--json` for several runs, whose lines would mix.
fn json_of_several_runs() -> Failure {
    usage("--json requires one device and one API; results.jsonl in each subfolder of --out has its lines")
}

fn run_with_args(args: &RunArgs, command: Vec<String>) -> Result<u8, Failure> {
    if args.path == Some(RunPath::Reference) && args.device.is_some() {
        return Err(usage(
            "--path reference takes no --device: it compares the interpreter with an independent reference",
        ));
    }
    if args.validation && args.api != Api::Vulkan {
        return Err(usage("--validation requires --api vulkan: wgpu does not run under the validation layer"));
    }
    if args.time.is_some() && args.budget != Budget::Hunt {
        return Err(usage(format!("--time is the length of a search; it requires --budget hunt, not {}", args.budget)));
    }
    if args.dry_run {
        return session::print_planned(args, command);
    }
    if args.device.as_deref() == Some(ALL) || args.api == Api::Both {
        if args.json {
            return Err(json_of_several_runs());
        }
        return multi_device::run(args);
    }
    run_one(args, command, None, None)
}

/// Runs on one device. `resumed` is the folder and journal of the run to resume; `concurrent` is
/// set if other devices run at the same time.
fn run_one(
    args: &RunArgs,
    command: Vec<String>,
    resumed: Option<(ResultDirWriter, Journal)>,
    concurrent: Option<&ConcurrentRun>,
) -> Result<u8, Failure> {
    let started = match &resumed {
        Some((_, journal)) => journal.info.started.clone(),
        None => Timestamp::now().to_string(),
    };
    args.via.must_suit(args.isolate)?;
    let planned_run = PlannedRun::new(args, command, started)?;
    args.via.push()?;
    match args.isolate {
        Isolate::Yes => isolated_run::run(args, planned_run, resumed, concurrent),
        Isolate::No => in_process(args, planned_run, resumed),
    }
}

/// Runs in this process, so that a crash of the driver ends the run.
fn in_process(
    args: &RunArgs,
    mut planned_run: PlannedRun,
    resumed: Option<(ResultDirWriter, Journal)>,
) -> Result<u8, Failure> {
    let backend = RunBackend::open(args)?;
    let mut session = Session::new(args, &mut planned_run, backend.executor().info(), 0, resumed, None)?;
    session.start(&planned_run)?;
    planned_run.remove_finished(&session.finished);
    planned_run.plan.negotiate(backend.executor(), planned_run.options.jobs);
    skip_other_paths(&mut planned_run.plan, args.path);
    let settings = args.program_settings(planned_run.options.jobs);
    let programs = ProgramSet { cases: &planned_run.programs, target: backend.target(), settings };
    catch_interrupts()?;
    let ran = assay_runner::run_with_programs(
        &planned_run.plan,
        &programs,
        backend.executor(),
        &planned_run.options,
        &mut [Box::new(session.reporter())],
        &INTERRUPTED,
    );
    let ran = ran.map(|summary| summary.interrupted).context("the run is incomplete").code(exit::USAGE);
    session.end(ran)
}

/// Marks the precision cases as not runnable if a path other than native was requested.
fn skip_other_paths(plan: &mut assay_runner::Plan, path: Option<RunPath>) {
    if let Some(path) = path.filter(|path| *path != RunPath::Native) {
        for planned in &mut plan.cases {
            planned.missing = Some(format!("precision cases have no {path} path: their instructions are core SPIR-V"));
        }
    }
}

/// Opens the selected device through wgpu; also returns its capabilities as Vulkan reports them.
pub(crate) fn wgpu_device(selector: Option<&str>) -> Result<(WgpuDevice, DeviceCaps), Failure> {
    let instance = Instance::new(false)?;
    let (chosen, all) = (instance.select(selector)?, instance.devices()?);
    Ok((WgpuDevice::of(&chosen, &all)?, chosen.capabilities().device_caps()))
}

impl From<WgpuError> for Failure {
    fn from(error: WgpuError) -> Failure {
        match error {
            WgpuError::Vulkan(error) => error.into(),
            error => Failure { code: exit::NO_DEVICE, error: error.into() },
        }
    }
}

/// Execution backend of a run.
enum RunBackend {
    /// Vulkan: an executor for precision cases and a target for programs.
    Device(Box<VulkanExecutor>, Box<VulkanTarget>),
    /// wgpu: an executor for precision cases and a target for programs.
    Wgpu(Box<WgpuExecutor>, Box<WgpuTarget>),
    /// Reference path, without a device.
    Reference(Box<NoDevice>),
}

impl RunBackend {
    fn open(args: &RunArgs) -> Result<RunBackend, Failure> {
        if args.path == Some(RunPath::Reference) {
            return Ok(RunBackend::Reference(Box::default()));
        }
        let time_limit = Duration::from_secs_f64(args.timeout);
        if args.api == Api::Wgpu {
            let (device, caps) = wgpu_device(args.device.as_deref())?;
            let target = WgpuTarget::new(device.clone(), caps, time_limit)?;
            return Ok(RunBackend::Wgpu(Box::new(WgpuExecutor::new(device, time_limit)?), Box::new(target)));
        }
        let validation = args.validation;
        let executor = VulkanExecutor::open(&VulkanOptions { device: args.device.clone(), validation, time_limit })?;
        let target = VulkanTarget::new(executor.physical(), time_limit, validation)?;
        Ok(RunBackend::Device(Box::new(executor), Box::new(target)))
    }

    fn executor(&self) -> &dyn Executor {
        match self {
            RunBackend::Device(executor, _) => &**executor,
            RunBackend::Wgpu(executor, _) => &**executor,
            RunBackend::Reference(none) => &**none,
        }
    }

    fn target(&self) -> &(dyn Target + Sync) {
        match self {
            RunBackend::Device(_, target) => &**target,
            RunBackend::Wgpu(_, target) => &**target,
            RunBackend::Reference(none) => &**none,
        }
    }
}

/// Returns the default result folder, such as `assay-out/2026-11-21T11-21-47`. It has no colons,
/// which some file systems do not support.
pub(crate) fn default_folder() -> PathBuf {
    PathBuf::from("assay-out").join(Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string())
}

/// Returns the instruction for resuming the run in a folder.
fn resume_advice(folder: &Path) -> String {
    format!("resume with `assay run --resume {}`", folder.display())
}

/// Time within which further signals count as the first one: tools that limit a command's time
/// (`timeout`) signal the process and then its process group.
const REPEATED_SIGNAL: Duration = Duration::from_secs(1);

/// Installs the signal handler: the first Ctrl-C (or SIGTERM, which schedulers send at a time
/// limit) ends the run in good order, the second ends the process at once.
pub(crate) fn catch_interrupts() -> Result<(), Failure> {
    static ONCE: Once = Once::new();
    let mut first = None;
    let handler = move || match first {
        None => {
            first = Some(Instant::now());
            INTERRUPTED.store(true, Ordering::SeqCst);
            note("finishing the work in progress and writing the results; press Ctrl-C again to quit at once");
        }
        Some(first) if first.elapsed() < REPEATED_SIGNAL => {}
        Some(_) => std::process::exit(exit::INTERRUPTED.into()),
    };
    let mut set = Ok(());
    ONCE.call_once(|| set = ctrlc::set_handler(handler));
    set.context("cannot catch Ctrl-C").code(exit::INTERNAL)
}
