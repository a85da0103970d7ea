//! The coordinator: distributes cases to workers, monitors them, and ensures that every case gets
//! one result.

mod crew;

use crate::{
    inquiry::{Inquiry, Next},
    message::{Order, PROTOCOL, Refusal, Said},
    process::{Heard, Launch, from_outside, how},
};
use assay_runner::{DeviceInfo, Event, Status};
use crew::{Crew, Job, Trouble, Worker};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Interval at which limits and interruptions are checked.
const TICK: Duration = Duration::from_millis(50);

/// Longest time for workers to end after an interruption.
const STOPPING: Duration = Duration::from_secs(10);

/// Number of consecutive failed starts after which the run is aborted.
const ATTEMPTS: u32 = 3;

/// Delay before another start: a lost device may need time to recover.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of times that a run is repeated because an external signal ended it.
const OUTSIDE: u32 = 5;

/// Largest number of messages that are processed before limits are checked.
const BACKLOG: usize = 1 << 14;

/// Reason for the failure of a case that its worker skipped.
const NO_RESULT: &str = "the worker gave no result for it";

/// Limits of worker processes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
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
pub struct Settings {
    /// Number of concurrent worker processes.
    pub workers: usize,
    /// Largest number of cases that a worker gets at once.
    pub batch: usize,
    /// Limits of the workers.
    pub limits: Limits,
    /// Set to confirm failures by running them again alone.
    pub confirm: bool,
}

/// The cases of a run, by index.
pub trait Cases {
    /// Returns the name of a case.
    fn name(&self, case: u32) -> &str;

    /// Returns a result for a case that has none of its own.
    fn blank(&self, case: u32, status: Status, reason: String) -> Event;
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
pub struct Ended {
    /// Set if the run was interrupted, so that cases are missing.
    pub interrupted: bool,
    /// Number of worker processes that were started.
    pub processes: u64,
}

/// Returns the current number of workers to use, for a run that shares its machine with others.
pub type Room = Box<dyn Fn() -> usize>;

/// Runs cases in worker processes.
pub struct Coordinator {
    crew: Crew,
    settings: Settings,
    device: DeviceInfo,
    room: Option<Room>,
}

impl Coordinator {
    /// Starts the first worker, which opens the device.
    ///
    /// # Errors
    /// It cannot be started, or it cannot open the device.
    pub fn start(launch: Launch, settings: Settings) -> Result<Coordinator, IsolateError> {
        let mut crew = Crew::new(launch);
        crew.start(None).map_err(IsolateError::Spawn)?;
        let mut killed = 0;
        loop {
            match crew.hear(TICK) {
                Some((_, Heard::Said(said))) => match *said {
                    Said::Ready { protocol: PROTOCOL, device } => {
                        crew.workers[0].ready();
                        return Ok(Coordinator { crew, settings, device: *device, room: None });
                    }
                    Said::Refused(refusal) => return Err(IsolateError::Refused(refusal)),
                    _ => {}
                },
                Some((_, Heard::Broken(what))) => return Err(IsolateError::Start(what)),
                Some((_, Heard::Closed)) => {
                    crew.workers[0].await_end();
                    let (words, status, _) = crew.bury(0);
                    killed += u32::from(from_outside(status));
                    // A kill from outside is not the fault of the device.
                    if !from_outside(status) || killed > OUTSIDE {
                        return Err(IsolateError::Start(format!("{}: {words}", how(status))));
                    }
                    crew.start(None).map_err(IsolateError::Spawn)?;
                }
                None if crew.workers[0].age() > settings.limits.start => {
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
    pub fn adapt(mut self, launch: Launch, settings: Settings) -> Coordinator {
        self.crew.relaunch(launch);
        Coordinator { settings, ..self }
    }

    /// Limits the number of concurrent workers by `room` instead of the settings. `room` is called
    /// whenever there is work to assign.
    #[must_use]
    pub fn within(self, room: Room) -> Coordinator {
        Coordinator { room: Some(room), ..self }
    }

    /// Runs these cases and reports the beginning, the progress and, exactly once, the end of each.
    /// Once `interrupted` is set, the run ends; results without confirmation and results of cases
    /// that were cut short are marked as partial.
    ///
    /// # Errors
    /// Workers can no longer be started, or `tell` fails.
    pub fn run(
        mut self,
        cases: &dyn Cases,
        todo: Vec<u32>,
        tell: &mut dyn FnMut(&Event) -> io::Result<()>,
        interrupted: &AtomicBool,
    ) -> Result<Ended, IsolateError> {
        self.crew.mark();
        let run = Run {
            crew: &mut self.crew,
            settings: self.settings,
            room: self.room.as_ref(),
            device: &self.device,
            cases,
            tell,
            todo: todo.into(),
            inquiries: BTreeMap::new(),
            jobs: VecDeque::new(),
            incidents: BTreeMap::new(),
            ended_outside: BTreeMap::new(),
            numbers: 0,
            failures: 0,
            not_before: None,
            barren: 0,
            stopping: None,
        };
        let ended = run.run(interrupted);
        self.crew.dismiss_all();
        ended.map(|interrupted| Ended { interrupted, processes: self.crew.started() })
    }
}

/// The end of a process that several cases may have caused.
#[derive(Debug, Default)]
struct Incident {
    /// Number of suspects that have not been run alone yet.
    waiting: usize,
    /// Set if a suspect reproduced it alone.
    reproduced: bool,
    /// Set if the cause may be external, or all cases together. Then only a case that reproduces it
    /// alone is accused.
    blameless: bool,
    /// Confirmations of suspects that did not fail alone; the likeliest first.
    held: Vec<u64>,
}

struct Open {
    inquiry: Inquiry,
    incident: Option<u64>,
    /// Number of consecutive runs that an external signal ended.
    outside: u32,
}

struct Run<'a> {
    crew: &'a mut Crew,
    settings: Settings,
    room: Option<&'a Room>,
    device: &'a DeviceInfo,
    cases: &'a dyn Cases,
    tell: &'a mut dyn FnMut(&Event) -> io::Result<()>,
    todo: VecDeque<u32>,
    inquiries: BTreeMap<u64, Open>,
    /// Runs that confirmations request: the confirmation, and the cases to run before its case.
    jobs: VecDeque<(u64, Vec<u32>)>,
    incidents: BTreeMap<u64, Incident>,
    /// For each case without a confirmation, the number of times that an external signal ended its
    /// process.
    ended_outside: BTreeMap<u32, u32>,
    numbers: u64,
    /// Number of consecutive failed starts.
    failures: u32,
    not_before: Option<Instant>,
    /// Number of consecutive workers that ended between cases.
    barren: u32,
    stopping: Option<Instant>,
}

impl Run<'_> {
    fn run(mut self, interrupted: &AtomicBool) -> Result<bool, IsolateError> {
        let mut ticked = Instant::now();
        loop {
            if self.stopping.is_none() && interrupted.load(Ordering::Relaxed) {
                self.stop()?;
            }
            self.assign()?;
            if self.crew.workers.iter().all(|worker| worker.job.is_none())
                && (self.stopping.is_some() || self.is_done())
            {
                return Ok(self.stopping.is_some());
            }
            if let Some((number, heard)) = self.crew.hear(TICK) {
                self.take(number, heard)?;
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.look()?;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.todo.is_empty() && self.jobs.is_empty() && self.inquiries.is_empty()
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn name(&self, case: u32) -> String {
        self.cases.name(case).to_owned()
    }

    fn tell(&mut self, event: &Event) -> Result<(), IsolateError> {
        (self.tell)(event).map_err(IsolateError::Report)
    }

    /// Assigns work to idle and new workers.
    fn assign(&mut self) -> Result<(), IsolateError> {
        if self.stopping.is_some() || self.not_before.is_some_and(|then| Instant::now() < then) {
            return Ok(());
        }
        let workers = self.room.map_or(self.settings.workers, |room| room()).max(1);
        while self.crew.busy() < workers {
            let (cases, inquiry, chunks) = match self.jobs.pop_front() {
                Some((inquiry, mut before)) => {
                    let of = &self.inquiries[&inquiry].inquiry;
                    before.push(of.case);
                    (before, Some(inquiry), of.chunks())
                }
                None if self.todo.is_empty() => return Ok(()),
                None => {
                    let share = self.todo.len().div_ceil(2 * workers).max(1);
                    let size = self.settings.batch.max(1).min(if workers > 1 { share } else { usize::MAX });
                    (self.todo.drain(..size.min(self.todo.len())).collect(), None, None)
                }
            };
            let names = cases.iter().map(|&case| (self.name(case), case)).collect();
            self.crew.give(Job { cases, left: names, inquiry, chunks }).map_err(IsolateError::Spawn)?;
        }
        Ok(())
    }

    /// Processes a message or event of a worker.
    fn take(&mut self, number: u64, heard: Heard) -> Result<(), IsolateError> {
        // Further messages of a worker that was killed are ignored.
        let Some(at) = self.crew.find(number) else { return Ok(()) };
        let worker = &mut self.crew.workers[at];
        let said = match heard {
            Heard::Said(said) => *said,
            Heard::Broken(what) => return self.lose(at, Trouble::Broken(what)),
            Heard::Closed => return self.lose(at, Trouble::Ended),
        };
        worker.heard = Instant::now();
        match said {
            Said::Ready { protocol: _, device } => {
                if (&device.uuid, &device.name, &device.driver_info)
                    != (&self.device.uuid, &self.device.name, &self.device.driver_info)
                {
                    return Err(IsolateError::OtherDevice(self.device.name.clone(), device.name.clone()));
                }
                self.failures = 0;
                worker.ready();
                Ok(())
            }
            Said::Refused(refusal) if worker.is_starting() => self.lose(at, Trouble::Refused(refusal)),
            Said::Refused(refusal) => Err(IsolateError::Refused(refusal)),
            Said::Enter { call, case, doing } => match worker.begin(&case) {
                Some(case) => {
                    worker.calls.insert(call, (case, doing, Instant::now()));
                    Ok(())
                }
                None => self.lose(at, Trouble::Broken(format!("about case `{case}`, which it was not assigned"))),
            },
            Said::Leave { call } => {
                worker.calls.remove(&call);
                Ok(())
            }
            Said::Event { event } => self.event(at, *event),
            Said::Done => self.done(at),
            Said::Beat => Ok(()),
        }
    }

    fn event(&mut self, at: usize, event: Event) -> Result<(), IsolateError> {
        match &event {
            Event::CaseStarted { name, .. } | Event::CaseProgress { name, .. } => self.begun(at, &event, name),
            // A partial result is progress.
            Event::CheckFinished(check) if check.partial => self.begun(at, &event, &check.name),
            Event::CaseFinished(_) | Event::CheckFinished(_) => {
                let name = event.ended().map(|(name, ..)| name).unwrap_or_default();
                match self.crew.workers[at].finish(name) {
                    Some((case, before)) => self.result(at, case, before, event),
                    None => {
                        self.lose(at, Trouble::Broken(format!("a result of case `{name}`, which it was not assigned")))
                    }
                }
            }
            Event::RunStarted(_) | Event::RunFinished { .. } => {
                self.lose(at, Trouble::Broken("an event of a run".to_owned()))
            }
        }
    }

    /// Processes the beginning or the progress of a case.
    fn begun(&mut self, at: usize, event: &Event, name: &str) -> Result<(), IsolateError> {
        let worker = &mut self.crew.workers[at];
        let inquiring = worker.job.as_ref().is_some_and(|job| job.inquiry.is_some());
        match worker.begin(name) {
            Some(_) if inquiring => Ok(()),
            Some(_) => self.tell(event),
            None => self.lose(at, Trouble::Broken(format!("about case `{name}`, which it was not assigned"))),
        }
    }

    /// Processes the result of a case.
    fn result(&mut self, at: usize, case: u32, before: Vec<u32>, mut event: Event) -> Result<(), IsolateError> {
        self.barren = 0;
        let status = event.ended().map_or(Status::InternalError, |(_, status, _)| status);
        // The state of the device or the process is not trustworthy, so later results do not count.
        let tainted = matches!(status, Status::DeviceLost | Status::Timeout);
        let inquiry = self.crew.workers[at].job.as_ref().and_then(|job| job.inquiry);
        if let Some(number) = inquiry {
            if self.inquiries.get(&number).is_some_and(|open| open.inquiry.case == case) {
                self.crew.dismiss(at);
                return self.outcome(number, Some(event));
            }
            if tainted {
                self.crew.bury(at);
                return self.outcome(number, None);
            }
            return Ok(());
        }
        if self.stopping.is_some() {
            if status.is_failure() && self.settings.confirm {
                event.set_partial();
            }
            self.tell(&event)?;
        } else if status.is_failure() && self.settings.confirm {
            self.inquire(Inquiry::new(case, event, true, before), None);
        } else {
            self.tell(&event)?;
        }
        if status == Status::DeviceLost {
            // Other workers of the device may have lost it as well, and would attribute the loss to
            // innocent cases.
            for at in (0..self.crew.workers.len()).rev() {
                if self.crew.workers[at].job.as_ref().is_none_or(|job| job.inquiry.is_none()) {
                    self.give_up(at);
                }
            }
        } else if tainted {
            self.give_up(at);
        }
        Ok(())
    }

    /// Kills a worker; its remaining cases are run by another.
    fn give_up(&mut self, at: usize) {
        let (_, _, job) = self.crew.bury(at);
        let Some(job) = job else { return };
        self.put_back(&job, &[]);
    }

    fn put_back(&mut self, job: &Job, but: &[u32]) {
        let left = job.cases.iter().rev().filter(|case| !but.contains(case) && job.left.values().any(|c| c == *case));
        for &case in left {
            self.todo.push_front(case);
        }
    }

    /// Processes the end of a worker's job.
    fn done(&mut self, at: usize) -> Result<(), IsolateError> {
        let Some(job) = self.crew.workers[at].job.take() else { return Ok(()) };
        let stopping = self.stopping.is_some();
        self.crew.workers[at].calls.clear();
        if let Some(number) = job.inquiry {
            self.crew.dismiss(at);
            let subject = job.cases.last().copied().filter(|case| job.left.values().any(|left| left == case));
            let reason = NO_RESULT.to_owned();
            let outcome = subject.map(|case| self.cases.blank(case, Status::InternalError, reason));
            return self.outcome(number, outcome);
        }
        for &case in job.cases.iter().filter(|case| !stopping && job.left.values().any(|left| left == *case)) {
            let event = self.cases.blank(case, Status::InternalError, NO_RESULT.to_owned());
            self.inquire(Inquiry::new(case, event, true, Vec::new()), None);
        }
        Ok(())
    }

    fn inquire(&mut self, inquiry: Inquiry, incident: Option<u64>) {
        let number = self.number();
        self.inquiries.insert(number, Open { inquiry, incident, outside: 0 });
        self.jobs.push_back((number, Vec::new()));
    }

    /// Processes the result of a run that a confirmation requested.
    fn outcome(&mut self, number: u64, outcome: Option<Event>) -> Result<(), IsolateError> {
        let cases = self.cases;
        let name = |case: u32| cases.name(case).to_owned();
        let Some(open) = self.inquiries.get_mut(&number) else { return Ok(()) };
        open.outside = 0;
        let failed =
            outcome.as_ref().is_none_or(|event| event.ended().is_some_and(|(_, status, _)| status.is_failure()));
        let incident = open.incident.filter(|_| open.inquiry.is_alone());
        let next = open.inquiry.next(outcome, &name);
        let held = next == Next::Hold;
        if incident.is_some() {
            open.incident = None;
        }
        self.step(number, next)?;
        let Some(incident) = incident else { return Ok(()) };
        let Some(of) = self.incidents.get_mut(&incident) else { return Ok(()) };
        of.waiting -= 1;
        of.reproduced |= failed;
        if held {
            of.held.push(number);
        }
        if of.waiting > 0 {
            return Ok(());
        }
        let Incident { reproduced, blameless, mut held, .. } = self.incidents.remove(&incident).unwrap_or_default();
        held.sort_unstable();
        for (place, number) in held.into_iter().enumerate() {
            let Some(open) = self.inquiries.get_mut(&number) else { continue };
            let next = if reproduced || blameless || place > 0 { open.inquiry.acquit() } else { open.inquiry.accuse() };
            self.step(number, next)?;
        }
        Ok(())
    }

    fn step(&mut self, number: u64, next: Next) -> Result<(), IsolateError> {
        match next {
            Next::Run(before) => self.jobs.push_back((number, before)),
            Next::Hold => {}
            Next::Ended(event) => {
                self.inquiries.remove(&number);
                self.tell(&event)?;
            }
        }
        Ok(())
    }

    /// Processes the failure of a worker.
    fn lose(&mut self, at: usize, trouble: Trouble) -> Result<(), IsolateError> {
        let worker = &self.crew.workers[at];
        let (starting, suspects) = (worker.is_starting(), worker.suspects(&trouble));
        if matches!(trouble, Trouble::Ended) {
            worker.await_end();
        }
        let histories: Vec<Vec<u32>> = suspects.iter().map(|(case, _)| worker.before(*case)).collect();
        let (mut words, status, job) = self.crew.bury(at);
        let outside = matches!(trouble, Trouble::Ended) && from_outside(status);
        let (did, what) = match &trouble {
            Trouble::Ended => (Status::Crash, how(status)),
            Trouble::Refused(refusal) => (Status::Crash, refusal.reason.clone()),
            Trouble::Broken(what) => (
                Status::Crash,
                format!(
                    "the worker sent an invalid message (it wrote {what}); the driver may have corrupted its memory \
                     or written to its pipe"
                ),
            ),
            Trouble::Hang(_, limit) => (Status::Timeout, format!("no end within {limit:?}, so its process was killed")),
            Trouble::Silent => (Status::Timeout, "its process stopped answering, and was killed".to_owned()),
            Trouble::Memory(limit) => (
                Status::Crash,
                format!("its process exceeded the limit of --memory, {} MiB, and was killed", limit >> 20),
            ),
            Trouble::Flood(limit) => {
                (Status::Crash, format!("its process wrote more than {limit} bytes of messages, and was killed"))
            }
        };
        if !words.is_empty() {
            words = format!("; it wrote: {words}");
        }
        if starting {
            return self.did_not_start(trouble, what + &words, job);
        }
        let Some(job) = job else { return Ok(()) };
        let blank = |case: u32, doing: &str| {
            let doing = if doing.is_empty() { String::new() } else { format!(", while {doing}") };
            self.cases.blank(case, did, format!("{what}{doing}{words}"))
        };
        if let Some(number) = job.inquiry {
            let Some(open) = self.inquiries.get_mut(&number) else { return Ok(()) };
            if outside && open.outside < OUTSIDE {
                open.outside += 1;
                let before = job.cases[..job.cases.len() - 1].to_vec();
                self.jobs.push_front((number, before));
                return Ok(());
            }
            let case = open.inquiry.case;
            let outcome = suspects.iter().find(|(suspect, _)| *suspect == case).map(|(_, doing)| blank(case, doing));
            return self.outcome(number, outcome);
        }
        if self.stopping.is_some() {
            return Ok(());
        }
        let mut accused: Vec<(u32, Event)> =
            suspects.iter().map(|(case, doing)| (*case, blank(*case, doing))).collect();
        if accused.is_empty() {
            self.barren += 1;
            // It ends repeatedly before any case begins: the first case is then tested alone.
            if let Some(&first) = job.cases.iter().find(|case| job.left.values().any(|c| c == *case))
                && self.barren >= ATTEMPTS
            {
                accused.push((first, blank(first, "")));
            }
        } else {
            self.barren = 0;
        }
        let cases: Vec<u32> = accused.iter().map(|(case, _)| *case).collect();
        self.put_back(&job, &cases);
        if accused.is_empty() {
            return Ok(());
        }
        if !self.settings.confirm {
            // The likeliest suspect is accused, and the others are run again.
            for (place, (case, event)) in accused.into_iter().enumerate() {
                let charged = place == 0 && (!outside || self.ended_too_often(case));
                if charged { self.tell(&event)? } else { self.todo.push_front(case) }
            }
            return Ok(());
        }
        let number = self.number();
        let blameless = outside || matches!(trouble, Trouble::Memory(_));
        self.incidents.insert(number, Incident { waiting: accused.len(), blameless, ..Incident::default() });
        for (place, (case, event)) in accused.into_iter().enumerate() {
            let before = histories.get(place).cloned().unwrap_or_default();
            self.inquire(Inquiry::new(case, event, false, before), Some(number));
        }
        Ok(())
    }

    /// Counts an external signal that ended the process of a case; returns true if the case may not
    /// be run again.
    fn ended_too_often(&mut self, case: u32) -> bool {
        let ended = self.ended_outside.entry(case).or_default();
        *ended += 1;
        *ended > OUTSIDE
    }

    fn did_not_start(&mut self, trouble: Trouble, what: String, job: Option<Job>) -> Result<(), IsolateError> {
        self.failures += 1;
        match job {
            Some(Job { inquiry: Some(number), mut cases, .. }) => {
                cases.pop();
                self.jobs.push_front((number, cases));
            }
            Some(job) => self.put_back(&job, &[]),
            None => {}
        }
        if self.failures < ATTEMPTS || self.stopping.is_some() {
            self.not_before = Some(Instant::now() + PAUSE);
            return Ok(());
        }
        Err(match trouble {
            Trouble::Refused(refusal) => IsolateError::Refused(refusal),
            Trouble::Hang(..) | Trouble::Silent => {
                IsolateError::Start(format!("it takes more than {:?}", self.settings.limits.start))
            }
            Trouble::Ended | Trouble::Broken(_) | Trouble::Memory(_) | Trouble::Flood(_) => IsolateError::Start(what),
        })
    }

    /// Checks the limits of the workers.
    fn look(&mut self) -> Result<(), IsolateError> {
        // Pending messages are processed first, so that a delay of the coordinator does not count
        // as a hang.
        for _ in 0..BACKLOG {
            let Some((number, heard)) = self.crew.hear(Duration::ZERO) else { break };
            self.take(number, heard)?;
        }
        let limits = self.settings.limits;
        for at in (0..self.crew.workers.len()).rev() {
            if let Some(trouble) = self.crew.workers[at].trouble(&limits) {
                self.lose(at, trouble)?;
            }
        }
        self.crew.see_off();
        if self.stopping.is_some_and(|since| since.elapsed() > STOPPING) {
            (0..self.crew.workers.len()).rev().for_each(|at| _ = self.crew.bury(at));
        }
        Ok(())
    }

    /// Interrupts the run: current work is cut short, and results that wait for their confirmation
    /// are reported without it.
    fn stop(&mut self) -> Result<(), IsolateError> {
        self.stopping = Some(Instant::now());
        self.todo.clear();
        self.jobs.clear();
        for at in (0..self.crew.workers.len()).rev() {
            let worker: &Worker = &self.crew.workers[at];
            match &worker.job {
                Some(job) if job.inquiry.is_none() && !worker.is_starting() => worker.order(&Order::Stop),
                _ => _ = self.crew.bury(at),
            }
        }
        for (_, open) in std::mem::take(&mut self.inquiries) {
            if let Some(mut event) = open.inquiry.own_result() {
                event.set_partial();
                self.tell(&event)?;
            }
        }
        Ok(())
    }
}
