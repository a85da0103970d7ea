//! The state of a run: queues of work, and the processing of messages and limits.

mod attribution;

use super::{
    Cases, CoordinatorSettings, IsolateError, TICK, WorkerCount, link_text,
    worker_pool::{CallInProgress, KilledWorker, Worker, WorkerFailure, WorkerJob, WorkerPool},
};
use crate::{
    child_process::WorkerEvent,
    confirmation::Confirmation,
    message::{Order, Task, WorkerMessage},
};
use assay_events::{DeviceInfo, Event, Status};
use attribution::{Incident, OpenConfirmation};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Longest time for workers to end after an interruption.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of consecutive failed starts after which the run is aborted.
const MAX_FAILED_STARTS: u32 = 3;

/// Delay before another start: a lost device may need time to recover.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// Largest number of messages that are processed before limits are checked.
const MAX_BACKLOG: usize = 1 << 14;

/// Reason for the failure of a case that its worker skipped.
const NO_RESULT: &str = "the worker gave no result for it";

pub(super) struct RunState<'a> {
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
    began: Instant,
    /// Number of cases that have ended, without those of confirmations.
    ended: usize,
}

/// Time in which a worker should finish an order: a confirmation waits for the end of one.
const ORDER_TIME: Duration = Duration::from_secs(10);

/// Number of cases in the first orders.
const FIRST_ORDER: usize = 32;

/// Returns the number of cases that a worker ends in [`ORDER_TIME`], if so many have ended so far.
fn paced(ended: usize, elapsed: Duration, workers: usize) -> usize {
    if ended == 0 {
        return FIRST_ORDER;
    }
    let each = elapsed.as_secs_f64() * workers as f64 / ended as f64;
    ((ORDER_TIME.as_secs_f64() / each) as usize).max(1)
}

impl<'a> RunState<'a> {
    pub(super) fn new(
        pool: &'a mut WorkerPool,
        (settings, worker_count): (CoordinatorSettings, Option<&'a WorkerCount>),
        device: &'a DeviceInfo,
        cases: &'a dyn Cases,
        report: &'a mut dyn FnMut(&Event) -> io::Result<()>,
    ) -> RunState<'a> {
        RunState {
            pool,
            settings,
            worker_count,
            device,
            cases,
            report,
            todo: VecDeque::new(),
            confirmations: BTreeMap::new(),
            confirmation_runs: VecDeque::new(),
            incidents: BTreeMap::new(),
            external_ends: BTreeMap::new(),
            last_number: 0,
            failed_starts: 0,
            next_start: None,
            caseless_ends: 0,
            stopping_since: None,
            began: Instant::now(),
            ended: 0,
        }
    }

    /// Runs the cases. Returns true if it was interrupted.
    pub(super) fn run(mut self, todo: Vec<u32>, interrupted: &AtomicBool) -> Result<bool, IsolateError> {
        self.todo = todo.into();
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

    fn report(&mut self, event: &Event) -> Result<(), IsolateError> {
        (self.report)(event).map_err(IsolateError::Report)
    }

    /// Assigns work to idle and new workers.
    fn assign(&mut self) -> Result<(), IsolateError> {
        if self.stopping_since.is_some() || self.next_start.is_some_and(|then| Instant::now() < then) {
            return Ok(());
        }
        let workers = self.worker_count.map_or(self.settings.workers, |worker_count| worker_count()).max(1);
        while self.pool.busy_count() < self.pool.usable_count(workers) {
            let (cases, confirmation, chunks) = match self.confirmation_runs.pop_front() {
                Some((confirmation, mut before)) => {
                    let of = &self.confirmations[&confirmation].confirmation;
                    before.push(of.case);
                    (before, Some(confirmation), of.chunks())
                }
                None if self.todo.is_empty() => return Ok(()),
                None => {
                    let share = self.todo.len().div_ceil(2 * workers).max(1);
                    let size = paced(self.ended, self.began.elapsed(), workers).min(self.settings.batch.max(1));
                    let size = size.min(if workers > 1 { share } else { usize::MAX });
                    (self.todo.drain(..size.min(self.todo.len())).collect(), None, None)
                }
            };
            let of_cases = self.cases;
            let task =
                |&case: &u32| Task { name: of_cases.name(case).to_owned(), chunks: None, data: of_cases.data(case) };
            let mut tasks: Vec<Task> = cases.iter().map(task).collect();
            if let Some(last) = tasks.last_mut() {
                last.chunks = chunks;
            }
            let unfinished = tasks.iter().map(|task| task.name.clone()).zip(cases.iter().copied()).collect();
            self.pool.assign(WorkerJob { cases, tasks, unfinished, confirmation }).map_err(IsolateError::Spawn)?;
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
                    let through = worker.via.map(|via| format!(" through `{}`", self.pool.prefix_text(via)));
                    let through = through.unwrap_or_default();
                    return Err(IsolateError::OtherDevice(described(self.device), described(&device), through));
                }
                self.failed_starts = 0;
                worker.on_ready();
                if let Some(via) = worker.via {
                    self.pool.on_reached(via);
                }
                Ok(())
            }
            WorkerMessage::Refused(refusal) if worker.is_starting() => {
                self.on_worker_failure(at, WorkerFailure::Refused(refusal))
            }
            WorkerMessage::Refused(refusal) => Err(IsolateError::Refused(refusal)),
            WorkerMessage::Enter { call, case, doing, compiles, excuse } => match worker.begin(&case) {
                Some(case) => {
                    let since = Instant::now();
                    worker.calls.insert(call, CallInProgress { case, doing, compiles, excuse, since });
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
            WorkerMessage::Device { .. } => {
                self.on_worker_failure(at, WorkerFailure::Broken("an answer without a question".to_owned()))
            }
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
        let end = event.case_end();
        let status = end.map_or(Status::InternalError, |end| end.status);
        // The state of the device or the process is not trustworthy, so later results do not count.
        let tainted = end.is_some_and(|end| end.leaves_device_unusable());
        let lost = end.is_some_and(|end| end.observed() == Status::DeviceLost);
        let confirmation = self.pool.workers[at].job.as_ref().and_then(|job| job.confirmation);
        if let Some(number) = confirmation {
            if self.confirmations.get(&number).is_some_and(|open| open.confirmation.case == case) {
                if tainted {
                    self.pool.kill(at);
                } else {
                    self.pool.end_confirmation(at);
                }
                return self.on_confirmation_outcome(number, Some(event));
            }
            if tainted {
                self.pool.kill(at);
                return self.on_confirmation_outcome(number, None);
            }
            return Ok(());
        }
        self.ended += 1;
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
        if lost {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_short_where_cases_are_long() {
        let second = Duration::from_secs(1);
        assert_eq!(paced(0, second, 1), FIRST_ORDER);
        assert_eq!(paced(200, second, 1), 2000);
        assert_eq!(paced(100, 100 * second, 2), 5);
        // A case of a minute is an order of its own.
        assert_eq!(paced(1, 60 * second, 1), 1);
        assert!(paced(1, Duration::ZERO, 1) > 1000);
    }
}
