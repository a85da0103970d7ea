//! The coordinator: distributes cases to workers, monitors them, and ensures that every case gets
//! one result.

mod run_state;
mod worker_pool;

use crate::{
    child_process::{Launch, WorkerEvent, describe_end},
    message::{PROTOCOL, Refusal, WorkerMessage},
    platform::may_be_external,
};
use assay_events::{DeviceInfo, Event, Status};
use run_state::RunState;
use serde_json::Value;
use std::{io, process::ExitStatus, sync::atomic::AtomicBool, time::Duration};
use worker_pool::{KilledWorker, WorkerPool};

/// Interval at which limits and interruptions are checked.
const TICK: Duration = Duration::from_millis(50);

/// Number of times that a run is repeated because an external signal ended it.
const MAX_EXTERNAL_ENDS: u32 = 5;

/// Limits of worker processes.
#[derive(Clone, Copy, Debug)]
pub struct WorkerLimits {
    /// Longest time for one call into the driver.
    pub call: Duration,
    /// Longest time for one in which the driver may compile a long shader.
    pub compile: Duration,
    /// Longest time for opening the device.
    pub start: Duration,
    /// Resident memory of a worker in bytes (`VmRSS`, checked 20 times a second); `None` for no
    /// limit. The size of the address space would not be useful, because drivers reserve far more
    /// than they use.
    pub memory: Option<u64>,
    /// Bytes that a worker may write to stderr for each order; its stdout goes there too.
    pub output: u64,
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct CoordinatorSettings {
    /// Number of concurrent worker processes.
    pub workers: usize,
    /// Largest number of cases that a worker gets at once.
    pub batch: usize,
    /// Limits of the workers.
    pub limits: WorkerLimits,
    /// Set to confirm failures by running them again alone.
    pub confirm: bool,
}

/// The cases of a run, by index.
pub trait Cases {
    /// Returns the name of a case.
    fn name(&self, case: u32) -> &str;

    /// Returns the data of a case, which its worker needs in addition to the name.
    fn data(&self, _: u32) -> Option<Value> {
        None
    }

    /// Returns a result for a case that has none of its own.
    fn not_run(&self, case: u32, status: Status, reason: String) -> Event;
}

/// Reason for aborting a run. Events reported until then remain valid.
#[derive(Debug, thiserror::Error)]
pub enum IsolateError {
    /// The device cannot be opened, or the request is invalid.
    #[error(transparent)]
    Refused(Refusal),
    /// Workers end before they have opened the device.
    #[error("a worker process cannot open the device: {0}")]
    Start(String),
    /// The launchers reach no worker, or lose the links to all of them.
    #[error("no link to a worker: {0}")]
    Link(String),
    /// A worker found a different device than the workers before it.
    #[error("the device has changed from {0} to {1}{2} in the middle of the run")]
    OtherDevice(String, String, String),
    /// Processes cannot be started.
    #[error("cannot start a worker process: {0}")]
    Spawn(io::Error),
    /// A reporter could not write.
    #[error("cannot write a report: {0}")]
    Report(io::Error),
}

/// Outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Set if the run was interrupted, so that cases are missing.
    pub interrupted: bool,
    /// Number of worker processes that were started.
    pub processes: u64,
    /// The prefixes that lost links to workers elsewhere.
    pub lost_links: Vec<LostLinks>,
}

/// Lost links of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLinks {
    /// The prefix, as a person writes it.
    pub prefix: String,
    /// Number of lost links.
    pub count: usize,
    /// Set if the last link was lost and no later one reached a worker.
    pub is_lost: bool,
}

/// Returns the current number of workers to use, for a run that shares its machine with others.
pub type WorkerCount = Box<dyn Fn() -> usize>;

/// Runs cases in worker processes.
pub struct Coordinator {
    pool: WorkerPool,
    settings: CoordinatorSettings,
    device: DeviceInfo,
    worker_count: Option<WorkerCount>,
}

impl Coordinator {
    /// Starts the first worker, which opens the device.
    ///
    /// # Errors
    /// It cannot be started, or it cannot open the device.
    pub fn start(launch: Launch, settings: CoordinatorSettings) -> Result<Coordinator, IsolateError> {
        let mut pool = WorkerPool::new(launch);
        pool.start(None).map_err(IsolateError::Spawn)?;
        let mut killed = 0;
        loop {
            match pool.receive(TICK) {
                Some((_, WorkerEvent::Message(message))) => match *message {
                    WorkerMessage::Ready { protocol: PROTOCOL, device } => {
                        pool.workers[0].on_ready();
                        return Ok(Coordinator { pool, settings, device: *device, worker_count: None });
                    }
                    WorkerMessage::Refused(refusal) => return Err(IsolateError::Refused(refusal)),
                    WorkerMessage::Broken { what } => return Err(IsolateError::Start(what)),
                    WorkerMessage::Ended { how, stderr, .. } => {
                        return Err(IsolateError::Start(format!("{how}: {stderr}")));
                    }
                    _ => {}
                },
                Some((_, WorkerEvent::Broken(_) | WorkerEvent::Closed)) if pool.workers[0].via.is_some() => {
                    let via = pool.workers[0].via.unwrap_or_default();
                    pool.workers[0].await_end();
                    let KilledWorker { stderr, status, .. } = pool.kill(0);
                    if pool.give_up_link(via) {
                        return Err(IsolateError::Link(link_text(&pool.prefix_text(via), status, &stderr)));
                    }
                    pool.start(None).map_err(IsolateError::Spawn)?;
                }
                Some((_, WorkerEvent::Broken(what))) => return Err(IsolateError::Start(what)),
                Some((_, WorkerEvent::Closed)) => {
                    pool.workers[0].await_end();
                    let KilledWorker { stderr, status, .. } = pool.kill(0);
                    killed += u32::from(may_be_external(status));
                    // A kill from outside is not the fault of the device.
                    if !may_be_external(status) || killed > MAX_EXTERNAL_ENDS {
                        return Err(IsolateError::Start(format!("{}: {stderr}", describe_end(status))));
                    }
                    pool.start(None).map_err(IsolateError::Spawn)?;
                }
                None if pool.workers[0].age() > settings.limits.start => {
                    return Err(IsolateError::Start(format!("it takes more than {:?}", settings.limits.start)));
                }
                None => {}
            }
        }
    }

    /// Returns the description of the device.
    pub fn device(&self) -> &DeviceInfo {
        &self.device
    }

    /// Uses another command for further workers and other settings from here on, for example ones
    /// that depend on the device.
    #[must_use]
    pub fn reconfigure(mut self, launch: Launch, settings: CoordinatorSettings) -> Coordinator {
        self.pool.set_launch(launch);
        Coordinator { settings, ..self }
    }

    /// Limits the number of concurrent workers by `worker_count` instead of the settings.
    /// `worker_count` is called whenever there is work to assign.
    #[must_use]
    pub fn with_worker_count(self, worker_count: WorkerCount) -> Coordinator {
        Coordinator { worker_count: Some(worker_count), ..self }
    }

    /// Runs these cases and reports the beginning, the progress and, exactly once, the end of each.
    /// Once `interrupted` is set, the run ends; results without confirmation and results of cases
    /// that were cut short are marked as partial.
    ///
    /// # Errors
    /// Workers can no longer be started, or `report` fails.
    pub fn run(
        mut self,
        cases: &dyn Cases,
        todo: Vec<u32>,
        report: &mut dyn FnMut(&Event) -> io::Result<()>,
        interrupted: &AtomicBool,
    ) -> Result<RunOutcome, IsolateError> {
        self.pool.reset_message_times();
        let run =
            RunState::new(&mut self.pool, (self.settings, self.worker_count.as_ref()), &self.device, cases, report);
        let ended = run.run(todo, interrupted);
        self.pool.dismiss_all();
        let (processes, lost_links) = (self.pool.started_count(), self.pool.lost_links());
        ended.map(|interrupted| RunOutcome { interrupted, processes, lost_links })
    }
}

/// Describes the end of a launcher.
fn link_text(prefix: &str, status: Option<ExitStatus>, stderr: &str) -> String {
    let ended = status.map_or_else(|| "it does not end".to_owned(), |status| format!("it ended with {status}"));
    let said = if stderr.is_empty() { String::new() } else { format!("; it wrote: {stderr}") };
    format!("`{prefix}`: {ended}{said}")
}
