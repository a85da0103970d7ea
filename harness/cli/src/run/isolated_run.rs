//! Runs in worker processes.

use super::{
    INTERRUPTED, RunArgs, catch_interrupts,
    concurrent_devices::ConcurrentRun,
    run_worker::RunSetup,
    session::{PlannedRun, Session},
};
use crate::{
    exit::{self, Failure},
    note,
    worker_limits::worker_limits,
};
use assay_case::Budget;
use assay_events::{DeviceInfo, Event, Reporter};
use assay_isolate::{Cases, Coordinator, CoordinatorSettings, IsolateError, Launch, LostLinks};
use assay_reports::{Journal, ResultDirWriter};
use std::fs;

/// Returns the largest number of cases in one order to a worker: large enough to keep the pipeline
/// full, small enough that failures are confirmed soon.
fn batch(args: &RunArgs, planned_run: &PlannedRun) -> usize {
    match args.budget {
        // Orders to other machines contain the input files of shaders.
        Budget::Quick if !args.via.via.is_empty() && planned_run.has_shaders() => 16,
        Budget::Quick => 256,
        Budget::Sampled => 16,
        Budget::Exhaustive | Budget::Hunt => 2,
    }
}

/// Default memory limit of all workers together, in percent of the machine's memory.
const MEMORY_PERCENT: u64 = 80;

/// Runs in worker processes.
pub(super) fn run(
    args: &RunArgs,
    mut planned_run: PlannedRun,
    resumed: Option<(ResultDirWriter, Journal)>,
    concurrent: Option<&ConcurrentRun>,
) -> Result<u8, Failure> {
    let mut workers = usize::from(args.workers.unwrap_or(1));
    let mut coordinator =
        Coordinator::start(launch(args, &planned_run, workers)?, settings(args, &planned_run, workers, concurrent))
            .map_err(failure)?;
    let device = coordinator.device().clone();
    if args.workers.is_none() {
        workers = default_workers(args, &device, planned_run.options.jobs);
        coordinator = coordinator
            .reconfigure(launch(args, &planned_run, workers)?, settings(args, &planned_run, workers, concurrent));
        if let Some(concurrent) = concurrent {
            let (args, device, threads) = (args.clone(), device.clone(), concurrent.available_threads());
            coordinator = coordinator.with_worker_count(Box::new(move || default_workers(&args, &device, threads())));
        }
    }
    let mut session = Session::new(args, &mut planned_run, &device, workers, resumed, concurrent)?;
    session.start(&planned_run)?;
    catch_interrupts()?;
    let is_missing = |case: &u32| !session.finished.contains(planned_run.name(*case));
    let todo: Vec<u32> = (0..planned_run.plan.len() as u32).filter(is_missing).collect();
    planned_run.prepare_shaders(&todo, args, !args.via.via.is_empty());
    let mut reporter = session.reporter();
    let mut report = |event: &Event| reporter.event(event);
    let ran = coordinator.run(&planned_run, todo, &mut report, &INTERRUPTED);
    if let Ok(ended) = &ran {
        note_lost_links(&ended.lost_links);
    }
    session.end(ran.map(|ended| ended.interrupted).map_err(failure))
}

/// Notes the lost links to workers elsewhere, which cost no result.
fn note_lost_links(lost_links: &[LostLinks]) {
    for LostLinks { prefix, count, is_lost } in lost_links {
        let links = if *count == 1 { "link" } else { "links" };
        let end = if *is_lost { " and reaches no worker any more" } else { "" };
        note(&format!("`{prefix}` lost {count} {links}{end}; no case is charged with that"));
    }
}

/// Attaches the exit code to an error of the coordinator.
pub(crate) fn failure(error: IsolateError) -> Failure {
    let code = match &error {
        IsolateError::Refused(refusal) => refusal.code,
        IsolateError::Start(_) | IsolateError::Link(_) | IsolateError::OtherDevice(..) => exit::NO_DEVICE,
        IsolateError::Spawn(_) => exit::INTERNAL,
        IsolateError::Report(_) => exit::USAGE,
    };
    Failure { code, error: error.into() }
}

/// Returns the number of workers for a run without `--workers`.
///
/// A software driver compiles a pipeline on one core while its process does nothing else. Small
/// cases spend nearly all their time there, so the quick budget gets a worker per core, as far as
/// memory allows. The compiler of a real device takes a core, too, and a worker waits for it, so
/// half as many workers share the device there. Larger budgets get one, because their cases keep
/// the cores busy checking results.
fn default_workers(args: &RunArgs, device: &DeviceInfo, jobs: usize) -> usize {
    if !args.via.via.is_empty() {
        return args.via.via.len();
    }
    let fitting = installed_memory().map_or(1, |bytes| usize::try_from(bytes / WORKER_MEMORY).unwrap_or(usize::MAX));
    match args.budget {
        Budget::Quick if device.kind == "cpu" => jobs.min(fitting).max(1),
        Budget::Quick => (jobs / 2).min(fitting).clamp(1, WORKERS_OF_A_GPU),
        Budget::Sampled | Budget::Exhaustive | Budget::Hunt => 1,
    }
}

/// Largest number of workers that share a real device without `--workers`.
const WORKERS_OF_A_GPU: usize = 8;

/// Memory reserved for a worker, in bytes: several times the usual need of a software driver.
const WORKER_MEMORY: u64 = 1 << 30;

/// Returns the launch configuration of workers, with the run's settings.
fn launch(args: &RunArgs, planned_run: &PlannedRun, workers: usize) -> Result<Launch, Failure> {
    let threads = planned_run.options.jobs.div_ceil(workers);
    let mut environment = Vec::new();
    // By default a software driver computes on one thread per core in each worker. This divides the
    // requested threads among the workers.
    if (workers > 1 || args.jobs.is_some()) && std::env::var_os(DRIVER_THREADS).is_none() {
        environment.push((DRIVER_THREADS.into(), threads.to_string().into()));
    }
    let setup = serde_json::json!({ "run": RunSetup { settings: args.settings(), jobs: threads } });
    args.via.launch(environment, setup)
}

/// Environment variable with the number of threads on which Mesa's software drivers compute.
const DRIVER_THREADS: &str = "LP_NUM_THREADS";

/// Returns the settings of the coordinator.
fn settings(
    args: &RunArgs,
    planned_run: &PlannedRun,
    workers: usize,
    concurrent: Option<&ConcurrentRun>,
) -> CoordinatorSettings {
    // The workers of all devices share the memory. When one device ends, the others may start more
    // workers, up to one per thread.
    let all = concurrent.map_or(workers, |concurrent| {
        (workers * concurrent.run_count()).max(concurrent.initial_threads() * concurrent.run_count())
    });
    let memory =
        // The memory of other machines is not known.
        args.memory.map(|mib| mib << 20).or_else(|| {
            let installed = installed_memory().filter(|_| args.via.via.is_empty())?;
            Some(installed / 100 * MEMORY_PERCENT / all as u64)
        });
    CoordinatorSettings {
        workers,
        batch: batch(args, planned_run),
        limits: worker_limits(args.timeout, memory),
        confirm: args.confirm.is_yes(),
    }
}

/// Returns the machine's memory in bytes; `None` where Linux's `/proc/meminfo` does not exist.
fn installed_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}
