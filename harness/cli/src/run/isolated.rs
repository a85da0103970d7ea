//! A run in worker processes.

use super::{
    INTERRUPTED,
    among::Among,
    catch_interrupts,
    session::{Session, Work},
};
use crate::{
    args::RunArgs,
    exit::{self, Failure, WithCode},
};
use assay_case::Budget;
use assay_isolate::{Cases, Coordinator, IsolateError, Launch, Limits, Settings};
use assay_reports::{Folder, Journal};
use assay_runner::{DeviceInfo, Event, Reporter};
use std::{fs, time::Duration};

/// Cases that a worker is given at once: enough that the pipeline seldom runs dry, few enough that what failed is confirmed before
/// long.
fn batch(budget: Budget) -> usize {
    match budget {
        Budget::Quick => 256,
        Budget::Sampled => 16,
        Budget::Exhaustive => 2,
    }
}

/// How long opening a device may take.
const START: Duration = Duration::from_secs(120);

/// Bytes of messages that a driver may write while it has one batch.
const OUTPUT: u64 = 64 << 20;

/// The part of the machine's memory that workers may have, in percent, unless a limit is given.
const MEMORY: u64 = 80;

/// Runs in worker processes.
pub(super) fn run(
    args: &RunArgs,
    mut work: Work,
    resumed: Option<(Folder, Journal)>,
    among: Option<&Among>,
) -> Result<u8, Failure> {
    let mut workers = usize::from(args.workers.unwrap_or(1));
    let mut coordinator =
        Coordinator::start(launch(args, &work, workers)?, settings(args, workers, among)).map_err(failure)?;
    let device = coordinator.device().clone();
    if args.workers.is_none() {
        workers = suitable(args, &device, work.options.jobs);
        coordinator = coordinator.adapt(launch(args, &work, workers)?, settings(args, workers, among));
        if let Some(among) = among {
            let (args, device, threads) = (args.clone(), device.clone(), among.threads());
            coordinator = coordinator.within(Box::new(move || suitable(&args, &device, threads())));
        }
    }
    let mut session = Session::new(args, &mut work, &device, workers, resumed, among)?;
    session.start(&work)?;
    catch_interrupts()?;
    let todo = (0..work.plan.len() as u32).filter(|&case| !session.done.contains(work.name(case))).collect();
    let mut told = session.reporter();
    let mut tell = |event: &Event| told.event(event);
    let ran = coordinator.run(&work, todo, &mut tell, &INTERRUPTED);
    session.end(ran.map(|ended| ended.interrupted).map_err(failure))
}

pub(crate) fn failure(error: IsolateError) -> Failure {
    let code = match &error {
        IsolateError::Refused(refusal) => refusal.code,
        IsolateError::Start(_) | IsolateError::OtherDevice(..) => exit::NO_DEVICE,
        IsolateError::Spawn(_) => exit::INTERNAL,
        IsolateError::Report(_) => exit::USAGE,
    };
    Failure { code, error: error.into() }
}

/// How many workers to have, if nobody says. A software driver compiles each pipeline on one core, while nothing else happens in
/// its process: of small cases, that is nearly all there is to do, so that each core gets a worker. A real device is not
/// shared, and of a large case the cores check what the driver computes.
fn suitable(args: &RunArgs, device: &DeviceInfo, jobs: usize) -> usize {
    let room = installed().map_or(1, |bytes| usize::try_from(bytes / ROOM).unwrap_or(usize::MAX));
    match args.budget {
        Budget::Quick if device.kind == "cpu" => jobs.min(room).max(1),
        Budget::Quick | Budget::Sampled | Budget::Exhaustive => 1,
    }
}

/// Memory that a worker may need with a software driver, in bytes: several times what it takes as a rule.
const ROOM: u64 = 1 << 30;

/// How workers are started: this binary, told what this run was told.
fn launch(args: &RunArgs, work: &Work, workers: usize) -> Result<Launch, Failure> {
    let threads = work.options.jobs.div_ceil(workers);
    let program = std::env::current_exe().code(exit::INTERNAL)?;
    let mut environment = Vec::new();
    // A software driver computes on as many threads as there are cores, in each worker: together no more than were asked
    // for.
    if (workers > 1 || args.jobs.is_some()) && std::env::var_os(DRIVER_THREADS).is_none() {
        environment.push((DRIVER_THREADS.into(), threads.to_string().into()));
    }
    let setup = serde_json::json!({ "command": work.options.command, "device": args.device, "jobs": threads });
    Ok(Launch { program, arguments: vec!["worker".into()], environment, setup })
}

/// The threads on which Mesa's software drivers compute.
const DRIVER_THREADS: &str = "LP_NUM_THREADS";

fn settings(args: &RunArgs, workers: usize, among: Option<&Among>) -> Settings {
    // The worker itself gives up a submission in time; what does not come back from it is ended from outside.
    let call = Duration::from_secs_f64(args.timeout * 1.25 + 2.0);
    // Those of the other devices take memory, too; and where one has ended, the others may have more workers, but no more
    // than one for each thread.
    let all = among.map_or(workers, |among| (workers * among.all()).max(among.share() * among.all()));
    let memory = args.memory.map(|mib| mib << 20).or_else(|| Some(installed()? / 100 * MEMORY / all as u64));
    Settings {
        workers,
        batch: batch(args.budget),
        limits: Limits { call, start: START.max(call), memory, output: OUTPUT },
        confirm: args.confirm.is_yes(),
    }
}

/// Bytes of memory that the machine has, as Linux tells.
fn installed() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}
