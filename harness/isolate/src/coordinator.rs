//! The coordinator: distributes cases to workers, monitors them, and ensures that every case gets
//! one result.

mod worker_pool;

use crate::{
    child_process::{Launch, WorkerEvent, describe_end, may_be_external},
    confirmation::{Confirmation, ConfirmationStep},
    message::{Order, PROTOCOL, Refusal, WorkerMessage},
};
use assay_events::{DeviceInfo, Event, Status};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    process::ExitStatus,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use worker_pool::{KilledWorker, Worker, WorkerFailure, WorkerJob, WorkerPool};

/// Interval at which limits and interruptions are checked.
const TICK: Duration = Duration::from_millis(50);

/// Longest time for workers to end after an interruption.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of consecutive failed starts after which the run is aborted.
const MAX_FAILED_STARTS: u32 = 3;

/// Delay before another start: a lost device may need time to recover.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// Number of times that a run is repeated because an external signal ended it.
const MAX_EXTERNAL_ENDS: u32 = 5;

/// Largest number of messages that are processed before limits are checked.
const MAX_BACKLOG: usize = 1 << 14;

/// Reason for the failure of a case that its worker skipped.
const NO_RESULT: &str = "the worker gave no result for it";

/// Limits of worker processes.
#[derive(Clone, Copy, Debug)]
pub struct WorkerLimits {
    /// Longest time for one call into the driver.
    pub call: Duration,
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
    #[error("the device has changed from {0} to {1} in the middle of the run")]
    OtherDevice(String, String),
    /// Processes cannot be started.
    #[error("cannot start a worker process: {0}")]
    Spawn(io::Error),
    /// A reporter could not write.
    #[error("cannot write a report: {0}")]
    Report(io::Error),
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Set if the run was interrupted, so that cases are missing.
    pub interrupted: bool,
    /// Number of worker processes that were started.
    pub processes: u64,
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
        let run = RunState {
            pool: &mut self.pool,
            settings: self.settings,
            worker_count: self.worker_count.as_ref(),
            device: &self.device,
            cases,
            report,
            todo: todo.into(),
            confirmations: BTreeMap::new(),
            confirmation_runs: VecDeque::new(),
            incidents: BTreeMap::new(),
            external_ends: BTreeMap::new(),
            last_number: 0,
            failed_starts: 0,
            next_start: None,
            caseless_ends: 0,
            stopping_since: None,
        };
        let ended = run.run(interrupted);
        self.pool.dismiss_all();
        ended.map(|interrupted| RunOutcome { interrupted, processes: self.pool.started_count() })
    }
}

/// Describes the end of a launcher.
fn link_text(prefix: &str, status: Option<ExitStatus>, stderr: &str) -> String {
    let ended = status.map_or_else(|| "it does not end".to_owned(), |status| format!("it ended with {status}"));
    let said = if stderr.is_empty() { String::new() } else { format!("; it wrote: {stderr}") };
    format!("`{prefix}`: {ended}{said}")
}

/// The end of a process that several cases may have caused.
#[derive(Debug, Default)]
struct Incident {
    /// Number of suspects that have not been run alone yet.
    untested: usize,
    /// Set if a suspect reproduced it alone.
    reproduced: bool,
    /// Set if the cause may be external, or all cases together. Then only a case that reproduces it
    /// alone is held responsible.
    may_be_external: bool,
    /// Confirmations of suspects that did not fail alone; the likeliest first.
    not_reproduced: Vec<u64>,
}

struct OpenConfirmation {
    confirmation: Confirmation,
    incident: Option<u64>,
    /// Number of consecutive runs that an external signal ended.
    external_ends: u32,
}

struct RunState<'a> {
    pool: &'a mut WorkerPool,
    settings: CoordinatorSettings,
    worker_count: Option<&'a WorkerCount>,
    device: &'a DeviceInfo,
    cases: &'a dyn Cases,
    report: &'a mut dyn FnMut(&Event) -> io::Result<()>,
    todo: VecDeque<u32>,
    confirmations: BTreeMap<u64, OpenConfirmation>,
    /// Runs that confirmations request: the confirmation, and the cases to run before its case.
    confirmation_runs: VecDeque<(u64, Vec<u32>)>,
    incidents: BTreeMap<u64, Incident>,
    /// For each case without a confirmation, the number of times that an external signal ended its
    /// process.
    external_ends: BTreeMap<u32, u32>,
    last_number: u64,
    /// Number of consecutive failed starts.
    failed_starts: u32,
    next_start: Option<Instant>,
    /// Number of consecutive workers that ended between cases.
    caseless_ends: u32,
    stopping_since: Option<Instant>,
}

impl RunState<'_> {
    fn run(mut self, interrupted: &AtomicBool) -> Result<bool, IsolateError> {
        let mut ticked = Instant::now();
        loop {
            if self.stopping_since.is_none() && interrupted.load(Ordering::Relaxed) {
                self.stop()?;
            }
            self.assign()?;
            if self.pool.workers.iter().all(|worker| worker.job.is_none())
                && (self.stopping_since.is_some() || self.is_done())
            {
                return Ok(self.stopping_since.is_some());
            }
            if let Some((number, worker_event)) = self.pool.receive(TICK) {
                self.on_message(number, worker_event)?;
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.check_limits()?;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.todo.is_empty() && self.confirmation_runs.is_empty() && self.confirmations.is_empty()
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn name(&self, case: u32) -> String {
        self.cases.name(case).to_owned()
    }

    fn report(&mut self, event: &Event) -> Result<(), IsolateError> {
        (self.report)(event).map_err(IsolateError::Report)
    }

    /// Assigns work to idle and new workers.
    fn assign(&mut self) -> Result<(), IsolateError> {
        if self.stopping_since.is_some() || self.next_start.is_some_and(|then| Instant::now() < then) {
            return Ok(());
        }
        let workers = self.worker_count.map_or(self.settings.workers, |worker_count| worker_count()).max(1);
        while self.pool.busy_count() < workers {
            let (cases, confirmation, chunks) = match self.confirmation_runs.pop_front() {
                Some((confirmation, mut before)) => {
                    let of = &self.confirmations[&confirmation].confirmation;
                    before.push(of.case);
                    (before, Some(confirmation), of.chunks())
                }
                None if self.todo.is_empty() => return Ok(()),
                None => {
                    let share = self.todo.len().div_ceil(2 * workers).max(1);
                    let size = self.settings.batch.max(1).min(if workers > 1 { share } else { usize::MAX });
                    (self.todo.drain(..size.min(self.todo.len())).collect(), None, None)
                }
            };
            let names = cases.iter().map(|&case| (self.name(case), case)).collect();
            self.pool
                .assign(WorkerJob { cases, unfinished: names, confirmation, chunks })
                .map_err(IsolateError::Spawn)?;
        }
        Ok(())
    }

    /// Processes a message or event of a worker.
    fn on_message(&mut self, number: u64, worker_event: WorkerEvent) -> Result<(), IsolateError> {
        // Further messages of a worker that was killed are ignored.
        let Some(at) = self.pool.find(number) else { return Ok(()) };
        let worker = &mut self.pool.workers[at];
        let message = match worker_event {
            WorkerEvent::Message(message) => *message,
            WorkerEvent::Broken(_) | WorkerEvent::Closed if worker.via.is_some() => return self.on_lost_link(at),
            WorkerEvent::Broken(what) => return self.on_worker_failure(at, WorkerFailure::Broken(what)),
            WorkerEvent::Closed => return self.on_worker_failure(at, WorkerFailure::Ended),
        };
        worker.last_message = Instant::now();
        match message {
            WorkerMessage::Ready { protocol: _, device } => {
                let is_same = (&device.name, &device.driver_info) == (&self.device.name, &self.device.driver_info);
                // Machines of a pool have devices of one model, each with an identity of its own.
                if !is_same || worker.via.is_none() && device.uuid != self.device.uuid {
                    let described = |device: &DeviceInfo| format!("{} ({})", device.name, device.driver_info);
                    return Err(IsolateError::OtherDevice(described(self.device), described(&device)));
                }
                self.failed_starts = 0;
                worker.on_ready();
                if let Some(via) = worker.via {
                    self.pool.forget_lost_links(via);
                }
                Ok(())
            }
            WorkerMessage::Refused(refusal) if worker.is_starting() => {
                self.on_worker_failure(at, WorkerFailure::Refused(refusal))
            }
            WorkerMessage::Refused(refusal) => Err(IsolateError::Refused(refusal)),
            WorkerMessage::Enter { call, case, doing } => match worker.begin(&case) {
                Some(case) => {
                    worker.calls.insert(call, (case, doing, Instant::now()));
                    Ok(())
                }
                None => self.on_worker_failure(
                    at,
                    WorkerFailure::Broken(format!("about case `{case}`, which it was not assigned")),
                ),
            },
            WorkerMessage::Leave { call } => {
                worker.calls.remove(&call);
                Ok(())
            }
            WorkerMessage::Event { event } => self.on_event(at, *event),
            WorkerMessage::Done => self.on_job_done(at),
            WorkerMessage::Beat => Ok(()),
            WorkerMessage::Usage { memory, written } => {
                worker.usage = (memory, written);
                Ok(())
            }
            WorkerMessage::Broken { what } => self.on_worker_failure(at, WorkerFailure::Broken(what)),
            WorkerMessage::Ended { how, external, stderr } => {
                self.on_worker_failure(at, WorkerFailure::EndedElsewhere { how, external, stderr })
            }
        }
    }

    /// Processes the loss of a link to a worker elsewhere. Nothing is known about the worker, so its
    /// cases run again and none is suspected.
    fn on_lost_link(&mut self, at: usize) -> Result<(), IsolateError> {
        let Some(via) = self.pool.workers[at].via else { return Ok(()) };
        self.pool.workers[at].await_end();
        let KilledWorker { stderr, status, job } = self.pool.kill(at);
        self.return_job(job);
        self.next_start = Some(Instant::now() + RESTART_DELAY);
        if self.pool.count_lost_link(via) && self.stopping_since.is_none() {
            return Err(IsolateError::Link(link_text(&self.pool.prefix_text(via), status, &stderr)));
        }
        Ok(())
    }

    fn on_event(&mut self, at: usize, event: Event) -> Result<(), IsolateError> {
        match &event {
            Event::CaseStarted { name, .. } | Event::CaseProgress { name, .. } => {
                self.on_case_progress(at, &event, name)
            }
            // A partial result is progress.
            Event::CheckFinished(check) if check.partial => self.on_case_progress(at, &event, &check.name),
            Event::CaseFinished(_) | Event::CheckFinished(_) => {
                let name = event.case_end().map(|end| end.name).unwrap_or_default();
                match self.pool.workers[at].finish(name) {
                    Some((case, before)) => self.on_result(at, case, before, event),
                    None => self.on_worker_failure(
                        at,
                        WorkerFailure::Broken(format!("a result of case `{name}`, which it was not assigned")),
                    ),
                }
            }
            Event::RunStarted(_) | Event::RunFinished { .. } => {
                self.on_worker_failure(at, WorkerFailure::Broken("an event of a run".to_owned()))
            }
        }
    }

    /// Processes the beginning or the progress of a case.
    fn on_case_progress(&mut self, at: usize, event: &Event, name: &str) -> Result<(), IsolateError> {
        let worker = &mut self.pool.workers[at];
        let confirming = worker.job.as_ref().is_some_and(|job| job.confirmation.is_some());
        match worker.begin(name) {
            Some(_) if confirming => Ok(()),
            Some(_) => self.report(event),
            None => self.on_worker_failure(
                at,
                WorkerFailure::Broken(format!("about case `{name}`, which it was not assigned")),
            ),
        }
    }

    /// Processes the result of a case.
    fn on_result(&mut self, at: usize, case: u32, before: Vec<u32>, mut event: Event) -> Result<(), IsolateError> {
        self.caseless_ends = 0;
        let status = event.case_end().map_or(Status::InternalError, |end| end.status);
        // The state of the device or the process is not trustworthy, so later results do not count.
        let tainted = matches!(status, Status::DeviceLost | Status::Timeout);
        let confirmation = self.pool.workers[at].job.as_ref().and_then(|job| job.confirmation);
        if let Some(number) = confirmation {
            if self.confirmations.get(&number).is_some_and(|open| open.confirmation.case == case) {
                self.pool.dismiss(at);
                return self.on_confirmation_outcome(number, Some(event));
            }
            if tainted {
                self.pool.kill(at);
                return self.on_confirmation_outcome(number, None);
            }
            return Ok(());
        }
        if self.stopping_since.is_some() {
            if status.is_failure() && self.settings.confirm {
                event.set_partial();
            }
            self.report(&event)?;
        } else if status.is_failure() && self.settings.confirm {
            self.open_confirmation(Confirmation::new(case, event, true, before), None);
        } else {
            self.report(&event)?;
        }
        if status == Status::DeviceLost {
            // Other workers of the device may have lost it as well, and would attribute the loss to
            // innocent cases.
            for at in (0..self.pool.workers.len()).rev() {
                if self.pool.workers[at].job.as_ref().is_none_or(|job| job.confirmation.is_none()) {
                    self.abandon_worker(at);
                }
            }
        } else if tainted {
            self.abandon_worker(at);
        }
        Ok(())
    }

    /// Kills a worker; its remaining cases are run by another.
    fn abandon_worker(&mut self, at: usize) {
        let Some(job) = self.pool.kill(at).job else { return };
        self.requeue(&job, &[]);
    }

    /// Has the job of a worker that ended before it began, or without a trace, run by another.
    fn return_job(&mut self, job: Option<WorkerJob>) {
        match job {
            Some(WorkerJob { confirmation: Some(number), mut cases, .. }) => {
                cases.pop();
                self.confirmation_runs.push_front((number, cases));
            }
            Some(job) => self.requeue(&job, &[]),
            None => {}
        }
    }

    fn requeue(&mut self, job: &WorkerJob, but: &[u32]) {
        let left =
            job.cases.iter().rev().filter(|case| !but.contains(case) && job.unfinished.values().any(|c| c == *case));
        for &case in left {
            self.todo.push_front(case);
        }
    }

    /// Processes the end of a worker's job.
    fn on_job_done(&mut self, at: usize) -> Result<(), IsolateError> {
        let Some(job) = self.pool.workers[at].job.take() else { return Ok(()) };
        let stopping = self.stopping_since.is_some();
        self.pool.workers[at].calls.clear();
        if let Some(number) = job.confirmation {
            self.pool.dismiss(at);
            let subject = job.cases.last().copied().filter(|case| job.unfinished.values().any(|left| left == case));
            let reason = NO_RESULT.to_owned();
            let outcome = subject.map(|case| self.cases.not_run(case, Status::InternalError, reason));
            return self.on_confirmation_outcome(number, outcome);
        }
        for &case in job.cases.iter().filter(|case| !stopping && job.unfinished.values().any(|left| left == *case)) {
            let event = self.cases.not_run(case, Status::InternalError, NO_RESULT.to_owned());
            self.open_confirmation(Confirmation::new(case, event, true, Vec::new()), None);
        }
        Ok(())
    }

    fn open_confirmation(&mut self, confirmation: Confirmation, incident: Option<u64>) {
        let number = self.next_number();
        self.confirmations.insert(number, OpenConfirmation { confirmation, incident, external_ends: 0 });
        self.confirmation_runs.push_back((number, Vec::new()));
    }

    /// Processes the result of a run that a confirmation requested.
    fn on_confirmation_outcome(&mut self, number: u64, outcome: Option<Event>) -> Result<(), IsolateError> {
        let cases = self.cases;
        let name = |case: u32| cases.name(case).to_owned();
        let Some(open) = self.confirmations.get_mut(&number) else { return Ok(()) };
        open.external_ends = 0;
        let failed = outcome.as_ref().is_none_or(|event| event.case_end().is_some_and(|end| end.status.is_failure()));
        let incident = open.incident.filter(|_| open.confirmation.is_alone());
        let next = open.confirmation.next(outcome, &name);
        let awaits = next == ConfirmationStep::AwaitSuspects;
        if incident.is_some() {
            open.incident = None;
        }
        self.apply_step(number, next)?;
        let Some(incident) = incident else { return Ok(()) };
        let Some(of) = self.incidents.get_mut(&incident) else { return Ok(()) };
        of.untested -= 1;
        of.reproduced |= failed;
        if awaits {
            of.not_reproduced.push(number);
        }
        if of.untested > 0 {
            return Ok(());
        }
        let Incident { reproduced, may_be_external, not_reproduced: mut awaits, .. } =
            self.incidents.remove(&incident).unwrap_or_default();
        awaits.sort_unstable();
        for (place, number) in awaits.into_iter().enumerate() {
            let Some(open) = self.confirmations.get_mut(&number) else { continue };
            let next = if reproduced || may_be_external || place > 0 {
                open.confirmation.accept_run_alone()
            } else {
                open.confirmation.run_after_predecessors()
            };
            self.apply_step(number, next)?;
        }
        Ok(())
    }

    fn apply_step(&mut self, number: u64, next: ConfirmationStep) -> Result<(), IsolateError> {
        match next {
            ConfirmationStep::Run(before) => self.confirmation_runs.push_back((number, before)),
            ConfirmationStep::AwaitSuspects => {}
            ConfirmationStep::Finish(event) => {
                self.confirmations.remove(&number);
                self.report(&event)?;
            }
        }
        Ok(())
    }

    /// Processes the failure of a worker.
    fn on_worker_failure(&mut self, at: usize, failure: WorkerFailure) -> Result<(), IsolateError> {
        let worker = &self.pool.workers[at];
        let (starting, suspects) = (worker.is_starting(), worker.suspects(&failure));
        if matches!(failure, WorkerFailure::Ended) {
            worker.await_end();
        }
        let histories: Vec<Vec<u32>> = suspects.iter().map(|(case, _)| worker.predecessors(*case)).collect();
        let KilledWorker { stderr: mut words, status, job } = self.pool.kill(at);
        let outside = match failure {
            WorkerFailure::Ended => may_be_external(status),
            WorkerFailure::EndedElsewhere { external, .. } => external,
            _ => false,
        };
        let (did, what) = match &failure {
            WorkerFailure::Ended => (Status::Crash, describe_end(status)),
            WorkerFailure::EndedElsewhere { how, stderr, .. } => {
                words.clone_from(stderr);
                (Status::Crash, how.clone())
            }
            WorkerFailure::Refused(refusal) => (Status::Crash, refusal.reason.clone()),
            WorkerFailure::Broken(what) => (
                Status::Crash,
                format!(
                    "the worker sent an invalid message (it wrote {what}); the driver may have corrupted its memory \
                     or written to its pipe"
                ),
            ),
            WorkerFailure::Hang(_, limit) => {
                (Status::Timeout, format!("no end within {limit:?}, so its process was killed"))
            }
            WorkerFailure::Silent => (Status::Timeout, "its process stopped answering, and was killed".to_owned()),
            WorkerFailure::Memory(limit) => (
                Status::Crash,
                format!("its process exceeded the limit of --memory, {} MiB, and was killed", limit >> 20),
            ),
            WorkerFailure::Flood(limit) => {
                (Status::Crash, format!("its process wrote more than {limit} bytes of messages, and was killed"))
            }
        };
        if !words.is_empty() {
            words = format!("; it wrote: {words}");
        }
        if starting {
            return self.on_failed_start(failure, what + &words, job);
        }
        let Some(job) = job else { return Ok(()) };
        let not_run = |case: u32, doing: &str| {
            let doing = if doing.is_empty() { String::new() } else { format!(", while {doing}") };
            self.cases.not_run(case, did, format!("{what}{doing}{words}"))
        };
        if let Some(number) = job.confirmation {
            let Some(open) = self.confirmations.get_mut(&number) else { return Ok(()) };
            if outside && open.external_ends < MAX_EXTERNAL_ENDS {
                open.external_ends += 1;
                let before = job.cases[..job.cases.len() - 1].to_vec();
                self.confirmation_runs.push_front((number, before));
                return Ok(());
            }
            let case = open.confirmation.case;
            let outcome = suspects.iter().find(|(suspect, _)| *suspect == case).map(|(_, doing)| not_run(case, doing));
            return self.on_confirmation_outcome(number, outcome);
        }
        if self.stopping_since.is_some() {
            return Ok(());
        }
        let mut candidates: Vec<(u32, Event)> =
            suspects.iter().map(|(case, doing)| (*case, not_run(*case, doing))).collect();
        if candidates.is_empty() {
            self.caseless_ends += 1;
            // It ends repeatedly before any case begins: the first case is then tested alone.
            if let Some(&first) = job.cases.iter().find(|case| job.unfinished.values().any(|c| c == *case))
                && self.caseless_ends >= MAX_FAILED_STARTS
            {
                candidates.push((first, not_run(first, "")));
            }
        } else {
            self.caseless_ends = 0;
        }
        let cases: Vec<u32> = candidates.iter().map(|(case, _)| *case).collect();
        self.requeue(&job, &cases);
        if candidates.is_empty() {
            return Ok(());
        }
        if !self.settings.confirm {
            // The likeliest suspect is held responsible, and the others are run again.
            for (place, (case, event)) in candidates.into_iter().enumerate() {
                let charged = place == 0 && (!outside || self.ended_too_often(case));
                if charged { self.report(&event)? } else { self.todo.push_front(case) }
            }
            return Ok(());
        }
        let number = self.next_number();
        let may_be_external = outside || matches!(failure, WorkerFailure::Memory(_));
        self.incidents.insert(number, Incident { untested: candidates.len(), may_be_external, ..Incident::default() });
        for (place, (case, event)) in candidates.into_iter().enumerate() {
            let before = histories.get(place).cloned().unwrap_or_default();
            self.open_confirmation(Confirmation::new(case, event, false, before), Some(number));
        }
        Ok(())
    }

    /// Counts an external signal that ended the process of a case; returns true if the case may not
    /// be run again.
    fn ended_too_often(&mut self, case: u32) -> bool {
        let ended = self.external_ends.entry(case).or_default();
        *ended += 1;
        *ended > MAX_EXTERNAL_ENDS
    }

    fn on_failed_start(
        &mut self,
        failure: WorkerFailure,
        what: String,
        job: Option<WorkerJob>,
    ) -> Result<(), IsolateError> {
        self.failed_starts += 1;
        self.return_job(job);
        if self.failed_starts < MAX_FAILED_STARTS || self.stopping_since.is_some() {
            self.next_start = Some(Instant::now() + RESTART_DELAY);
            return Ok(());
        }
        Err(match failure {
            WorkerFailure::Refused(refusal) => IsolateError::Refused(refusal),
            WorkerFailure::Hang(..) | WorkerFailure::Silent => {
                IsolateError::Start(format!("it takes more than {:?}", self.settings.limits.start))
            }
            WorkerFailure::Ended
            | WorkerFailure::EndedElsewhere { .. }
            | WorkerFailure::Broken(_)
            | WorkerFailure::Memory(_)
            | WorkerFailure::Flood(_) => IsolateError::Start(what),
        })
    }

    /// Checks the limits of the workers.
    fn check_limits(&mut self) -> Result<(), IsolateError> {
        // Pending messages are processed first, so that a delay of the coordinator does not count
        // as a hang.
        for _ in 0..MAX_BACKLOG {
            let Some((number, worker_event)) = self.pool.receive(Duration::ZERO) else { break };
            self.on_message(number, worker_event)?;
        }
        let limits = self.settings.limits;
        for at in (0..self.pool.workers.len()).rev() {
            match self.pool.workers[at].failure(&limits) {
                // The supervisor sends messages all the time, so the link is silent.
                Some(WorkerFailure::Silent | WorkerFailure::Ended) if self.pool.workers[at].via.is_some() => {
                    self.on_lost_link(at)?;
                }
                Some(failure) => self.on_worker_failure(at, failure)?,
                None => {}
            }
        }
        self.pool.reap();
        if self.stopping_since.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
            (0..self.pool.workers.len()).rev().for_each(|at| _ = self.pool.kill(at));
        }
        Ok(())
    }

    /// Interrupts the run: current work is cut short, and results that wait for their confirmation
    /// are reported without it.
    fn stop(&mut self) -> Result<(), IsolateError> {
        self.stopping_since = Some(Instant::now());
        self.todo.clear();
        self.confirmation_runs.clear();
        for at in (0..self.pool.workers.len()).rev() {
            let worker: &Worker = &self.pool.workers[at];
            match &worker.job {
                Some(job) if job.confirmation.is_none() && !worker.is_starting() => worker.send(&Order::Stop),
                _ => _ = self.pool.kill(at),
            }
        }
        for (_, open) in std::mem::take(&mut self.confirmations) {
            if let Some(mut event) = open.confirmation.own_result() {
                event.set_partial();
                self.report(&event)?;
            }
        }
        Ok(())
    }
}
