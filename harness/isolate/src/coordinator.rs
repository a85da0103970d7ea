//! The coordinator: gives cases to workers, watches them, and sees to it that every case gets one result.

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

/// How often limits and interruptions are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long workers may take to end after an interruption.
const STOPPING: Duration = Duration::from_secs(10);

/// Workers that fail to start, one after another, before the run is given up.
const ATTEMPTS: u32 = 3;

/// How long is waited before another attempt: a device that was lost may need a moment.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs that are repeated because something from outside ended them.
const OUTSIDE: u32 = 5;

/// Messages that are heard at most before limits are looked at.
const BACKLOG: usize = 1 << 14;

/// Why a case failed that its worker passed over.
const NO_RESULT: &str = "the worker gave no result for it";

/// What workers must keep within.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long one call into the driver may take.
    pub call: Duration,
    /// How long opening the device may take.
    pub start: Duration,
    /// Resident memory of a worker in bytes (`VmRSS`, looked at 20 times a second: address space would say nothing, since
    /// drivers reserve far more than they use); `None`: no limit.
    pub memory: Option<u64>,
    /// Bytes that it may write to stderr (and stdout, which goes there) for each order.
    pub output: u64,
}

/// How cases are run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Worker processes at work at the same time.
    pub workers: usize,
    /// Cases that are given to a worker at once, at most.
    pub batch: usize,
    /// What workers must keep within.
    pub limits: Limits,
    /// Whether failures are run again alone.
    pub confirm: bool,
}

/// The cases of a run, by number.
pub trait Cases {
    /// The name of a case.
    fn name(&self, case: u32) -> &str;

    /// The result of a case that has none of its own.
    fn blank(&self, case: u32, status: Status, reason: String) -> Event;
}

/// Why a run was given up. What it told until then stands.
#[derive(Debug, thiserror::Error)]
pub enum IsolateError {
    /// The device cannot be opened, or what was asked for is a mistake.
    #[error(transparent)]
    Refused(Refusal),
    /// Workers end before they have opened the device.
    #[error("a worker process cannot open the device: {0}")]
    Start(String),
    /// A worker found another device than those before it.
    #[error("the device has changed from {0} to {1} in the middle of the run")]
    OtherDevice(String, String),
    /// Processes cannot be started.
    #[error("cannot start a worker process: {0}")]
    Spawn(io::Error),
    /// A reporter could not write.
    #[error("cannot write a report: {0}")]
    Report(io::Error),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Whether it was interrupted, so that cases are missing.
    pub interrupted: bool,
    /// Worker processes that were started.
    pub processes: u64,
}

/// How many workers there is room for at the moment, for a run that shares its machine with others.
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
    /// It cannot be started, or cannot open the device.
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
                    // Whoever killed it, it was not the device.
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

    /// What the cases run on.
    pub fn device(&self) -> &DeviceInfo {
        &self.device
    }

    /// Starts workers in another way from here on, and runs with other settings: such as suit the device, now that it is known.
    #[must_use]
    pub fn adapt(mut self, launch: Launch, settings: Settings) -> Coordinator {
        self.crew.relaunch(launch);
        Coordinator { settings, ..self }
    }

    /// Has as many workers at work as there is room for, instead of as many as the settings say: asked whenever there is work to give.
    #[must_use]
    pub fn within(self, room: Room) -> Coordinator {
        Coordinator { room: Some(room), ..self }
    }

    /// Runs these cases and tells of each when it begins, how it goes, and, exactly once, how it ended. Once `interrupted`
    /// is set it ends: results that are not confirmed, and those of cases that were cut short, are marked as partial.
    ///
    /// # Errors
    /// Workers cannot be started any more, or `tell` fails.
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

/// The end of a process that several cases may be to blame for.
#[derive(Debug, Default)]
struct Incident {
    /// Suspects that have not been run alone yet.
    waiting: usize,
    /// One of them does it alone.
    reproduced: bool,
    /// It may have come from outside, or from all of them together: nobody is accused who does not do it alone.
    blameless: bool,
    /// Inquiries into suspects that did nothing alone; the likeliest first.
    held: Vec<u64>,
}

struct Open {
    inquiry: Inquiry,
    incident: Option<u64>,
    /// Runs that something from outside ended, one after another.
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
    /// Runs that inquiries ask for: the inquiry, and what runs before its case.
    jobs: VecDeque<(u64, Vec<u32>)>,
    incidents: BTreeMap<u64, Incident>,
    /// How often something from outside ended the process of a case, where that is not inquired into.
    ended_outside: BTreeMap<u32, u32>,
    numbers: u64,
    /// Workers that did not start, one after another.
    failures: u32,
    not_before: Option<Instant>,
    /// Workers that ended between cases, one after another.
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

    /// Gives work to whoever has none.
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

    /// Takes in what a worker said.
    fn take(&mut self, number: u64, heard: Heard) -> Result<(), IsolateError> {
        // What is still in the pipe of one that was given up is not believed.
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
                None => self.lose(at, Trouble::Broken(format!("something of `{case}`, which it was not given"))),
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
            // What is known so far.
            Event::CheckFinished(check) if check.partial => self.begun(at, &event, &check.name),
            Event::CaseFinished(_) | Event::CheckFinished(_) => {
                let name = event.ended().map(|(name, ..)| name).unwrap_or_default();
                match self.crew.workers[at].finish(name) {
                    Some((case, before)) => self.result(at, case, before, event),
                    None => self.lose(at, Trouble::Broken(format!("a result of `{name}`, which it was not given"))),
                }
            }
            Event::RunStarted(_) | Event::RunFinished { .. } => {
                self.lose(at, Trouble::Broken("an event of a run".to_owned()))
            }
        }
    }

    /// A case is under way.
    fn begun(&mut self, at: usize, event: &Event, name: &str) -> Result<(), IsolateError> {
        let worker = &mut self.crew.workers[at];
        let inquiring = worker.job.as_ref().is_some_and(|job| job.inquiry.is_some());
        match worker.begin(name) {
            Some(_) if inquiring => Ok(()),
            Some(_) => self.tell(event),
            None => self.lose(at, Trouble::Broken(format!("something of `{name}`, which it was not given"))),
        }
    }

    /// A case has a result.
    fn result(&mut self, at: usize, case: u32, before: Vec<u32>, mut event: Event) -> Result<(), IsolateError> {
        self.barren = 0;
        let status = event.ended().map_or(Status::InternalError, |(_, status, _)| status);
        // The device, or the process, is not what it was: nothing that comes after this counts.
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
            // The other workers of the device may have lost it as well, and say so of cases that are not at fault.
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

    /// Ends a worker; what it has not done is to be done by another.
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

    /// A worker says that it has done all of its job.
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

    /// A run that an inquiry asked for has come out.
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

    /// A worker has ended, or has to.
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
            Trouble::Broken(what) => (Status::Crash, format!("its process damaged the pipe: it wrote {what}")),
            Trouble::Hang(_, limit) => (Status::Timeout, format!("no end within {limit:?}, so its process was killed")),
            Trouble::Silent => (Status::Timeout, "its process stopped answering, and was killed".to_owned()),
            Trouble::Memory(limit) => {
                (Status::Crash, format!("its process took more than {} MiB of memory, and was killed", limit >> 20))
            }
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
            // It ends again and again before a case begins: then the first case has to show what it does alone.
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
            // The likeliest is charged, and the others are run again.
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

    /// Something from outside has ended the process of a case: whether that is once too often for it to be run again.
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

    /// Looks at what workers take, and how long.
    fn look(&mut self) -> Result<(), IsolateError> {
        // What has been said already is heard first: a coordinator that was kept waiting must not take that for a hang.
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

    /// Ends the run: what is under way is cut short, what waits for its confirmation is told as it is.
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
