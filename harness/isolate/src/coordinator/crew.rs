//! The workers of a run: who is there, what each is at, and whether it keeps within its limits.

use super::Limits;
use crate::{
    message::{Order, Refusal, Task},
    process::{Heard, Launch, Process},
};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    process::ExitStatus,
    sync::mpsc::{self, Receiver, SyncSender},
    time::{Duration, Instant},
};

/// Messages of workers that wait for the coordinator; more of them wait in the pipes.
const WAITING: usize = 1 << 10;

/// How long a worker may take to close its device.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a worker may live on after it has closed its pipe.
const CLOSING: Duration = Duration::from_millis(500);

/// A worker says every second that it is alive: after so long without a word it is not.
const SILENCE: Duration = Duration::from_secs(60);

/// What a worker was given.
#[derive(Debug)]
pub(super) struct Job {
    /// The cases in order.
    pub(super) cases: Vec<u32>,
    /// Those without a result, by name.
    pub(super) left: HashMap<String, u32>,
    /// The inquiry that asked for it, in a process of its own; its case is the last.
    pub(super) inquiry: Option<u64>,
    /// The chunks of the last case that are run; `None`: all of them.
    pub(super) chunks: Option<Vec<u64>>,
}

/// What is the matter with a worker.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It has ended.
    Ended,
    /// It cannot open the device.
    Refused(Refusal),
    /// What it says makes no sense.
    Broken(String),
    /// A call of that case takes longer than this; or, without a case, the start.
    Hang(Option<u32>, Duration),
    /// It does not say that it is alive.
    Silent,
    /// It takes more memory than this.
    Memory(u64),
    /// It writes more than this.
    Flood(u64),
}

#[derive(Debug)]
pub(super) struct Worker {
    number: u64,
    process: Process,
    started: Instant,
    starting: bool,
    pub(super) job: Option<Job>,
    /// Calls into the driver that have not returned.
    pub(super) calls: BTreeMap<u64, (u32, String, Instant)>,
    /// Cases that have begun and have no result, in order.
    begun: Vec<u32>,
    /// All cases that have begun in this process, in order.
    history: Vec<u32>,
    pub(super) heard: Instant,
    /// What it had written when it was given its job.
    written: u64,
}

impl Worker {
    pub(super) fn is_starting(&self) -> bool {
        self.starting
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn order(&self, order: &Order) {
        // Orders always have a JSON form, and a worker that is gone is noticed elsewhere.
        _ = self.process.order(order);
    }

    /// The device is open: the job may begin.
    pub(super) fn ready(&mut self) {
        self.starting = false;
        self.begin_job();
    }

    fn begin_job(&mut self) {
        self.written = self.process.written();
        if let Some(job) = &self.job {
            let mut cases: Vec<(u32, &String)> = job.left.iter().map(|(name, &case)| (case, name)).collect();
            let place: HashMap<u32, usize> = job.cases.iter().enumerate().map(|(place, &case)| (case, place)).collect();
            cases.sort_by_key(|(case, _)| place.get(case));
            let whole = |(_, name): (u32, &String)| Task { name: name.clone(), chunks: None };
            let mut tasks: Vec<Task> = cases.into_iter().map(whole).collect();
            if let Some(last) = tasks.last_mut() {
                last.chunks.clone_from(&job.chunks);
            }
            self.order(&Order::Run { cases: tasks });
        }
    }

    /// A case shows that it has begun; `None` if it is none of the job.
    pub(super) fn begin(&mut self, name: &str) -> Option<u32> {
        let case = *self.job.as_ref()?.left.get(name)?;
        if !self.begun.contains(&case) {
            self.begun.push(case);
            self.history.push(case);
        }
        Some(case)
    }

    /// A case has a result: which, and what had begun before it; `None` if it is none of the job.
    pub(super) fn finish(&mut self, name: &str) -> Option<(u32, Vec<u32>)> {
        let case = self.job.as_mut()?.left.remove(name)?;
        let before = self.before(case);
        match self.begun.iter().position(|&begun| begun == case) {
            Some(place) => _ = self.begun.remove(place),
            // It was never said to begin, such as one that the device cannot run.
            None => self.history.push(case),
        }
        Some((case, before))
    }

    /// The last cases that had begun in this process before that one.
    pub(super) fn before(&self, case: u32) -> Vec<u32> {
        let end = self.history.iter().rposition(|&other| other == case).unwrap_or(self.history.len());
        self.history[end.saturating_sub(crate::inquiry::COMPANY)..end].to_vec()
    }

    /// The cases that may be to blame, the likeliest first, with what they were doing.
    pub(super) fn suspects(&self, trouble: &Trouble) -> Vec<(u32, String)> {
        if let Trouble::Hang(Some(hanging), _) = trouble {
            let doing = self.calls.values().find(|(case, ..)| case == hanging).map(|(_, doing, _)| doing.clone());
            return vec![(*hanging, doing.unwrap_or_default())];
        }
        // Those in a call into the driver; what runs on the device is more dangerous than what is being built, and began
        // earlier.
        let mut suspects: Vec<(u32, String)> = Vec::new();
        for case in &self.begun {
            if let Some((_, doing, _)) = self.calls.values().find(|(of, ..)| of == case) {
                suspects.push((*case, doing.clone()));
            }
        }
        if suspects.is_empty() {
            suspects = self.begun.iter().map(|&case| (case, String::new())).collect();
        }
        suspects
    }

    /// What is the matter with it, if anything is.
    pub(super) fn trouble(&self, limits: &Limits) -> Option<Trouble> {
        if self.starting && self.age() > limits.start {
            return Some(Trouble::Hang(None, limits.start));
        }
        if let Some((case, ..)) = self.calls.values().find(|(.., since)| since.elapsed() > limits.call) {
            return Some(Trouble::Hang(Some(*case), limits.call));
        }
        if self.heard.elapsed() > SILENCE.max(limits.call) {
            return Some(Trouble::Silent);
        }
        if self.process.written() - self.written > limits.output {
            return Some(Trouble::Flood(limits.output));
        }
        if let (Some(limit), Some(memory)) = (limits.memory, self.process.memory())
            && memory > limit
        {
            return Some(Trouble::Memory(limit));
        }
        // A process that the driver has started may hold the pipe open when the worker itself has ended.
        (self.process.has_ended() && self.heard.elapsed() > FAREWELL).then_some(Trouble::Ended)
    }

    /// Lets it end by itself: it does so a moment after its pipe is closed.
    pub(super) fn await_end(&self) {
        let since = Instant::now();
        while !self.process.has_ended() && since.elapsed() < CLOSING {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends it; what it said last, and how it ended.
    pub(super) fn bury(&mut self) -> (String, Option<ExitStatus>) {
        let status = self.process.end();
        (self.process.last_words().unwrap_or_default(), status)
    }
}

pub(super) struct Crew {
    launch: Launch,
    pub(super) workers: Vec<Worker>,
    /// Those that are closing their devices.
    leaving: Vec<(Process, Instant)>,
    sender: SyncSender<(u64, Heard)>,
    receiver: Receiver<(u64, Heard)>,
    started: u64,
}

impl Crew {
    pub(super) fn new(launch: Launch) -> Crew {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        Crew { launch, workers: Vec::new(), leaving: Vec::new(), sender, receiver, started: 0 }
    }

    /// Starts further workers like that.
    pub(super) fn relaunch(&mut self, launch: Launch) {
        self.launch = launch;
    }

    /// Workers that were started.
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    pub(super) fn start(&mut self, job: Option<Job>) -> io::Result<()> {
        self.started += 1;
        let now = Instant::now();
        self.workers.push(Worker {
            number: self.started,
            process: Process::start(&self.launch, self.started, self.sender.clone())?,
            started: now,
            starting: true,
            job,
            calls: BTreeMap::new(),
            begun: Vec::new(),
            history: Vec::new(),
            heard: now,
            written: 0,
        });
        Ok(())
    }

    /// Time that passes between the start of the first worker and the run is not held against it.
    pub(super) fn mark(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.heard = Instant::now());
    }

    /// Gives a job to an idle worker or, if an inquiry asks for it, to a new one.
    pub(super) fn give(&mut self, job: Job) -> io::Result<()> {
        let idle = self.workers.iter_mut().find(|worker| worker.job.is_none() && !worker.starting);
        match idle {
            // A worker that has done nothing yet is as good as a new one.
            Some(worker) if job.inquiry.is_none() || worker.history.is_empty() => {
                worker.job = Some(job);
                worker.begin_job();
                Ok(())
            }
            _ => self.start(Some(job)),
        }
    }

    /// The next message, if one comes within that time.
    pub(super) fn hear(&self, within: Duration) -> Option<(u64, Heard)> {
        self.receiver.recv_timeout(within).ok()
    }

    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.workers.iter().position(|worker| worker.number == number)
    }

    /// Workers that have something to do.
    pub(super) fn busy(&self) -> usize {
        self.workers.iter().filter(|worker| worker.job.is_some()).count()
    }

    /// Ends a worker: what it said last, how it ended, what it was at.
    pub(super) fn bury(&mut self, at: usize) -> (String, Option<ExitStatus>, Option<Job>) {
        let mut worker = self.workers.remove(at);
        let (words, status) = worker.bury();
        (words, status, worker.job)
    }

    /// Lets a worker close its device and end.
    pub(super) fn dismiss(&mut self, at: usize) {
        let mut worker = self.workers.remove(at);
        worker.process.dismiss();
        self.leaving.push((worker.process, Instant::now()));
    }

    /// Lets go of those that have closed their devices, and ends those that do not come to it.
    pub(super) fn see_off(&mut self) {
        self.leaving.retain(|(process, since)| !process.has_ended() && since.elapsed() < FAREWELL);
    }

    /// Lets all end.
    pub(super) fn dismiss_all(&mut self) {
        while !self.workers.is_empty() {
            self.dismiss(0);
        }
        while !self.leaving.is_empty() {
            // What they still have to say is not wanted, and must not keep them.
            _ = self.hear(Duration::from_millis(5));
            self.see_off();
        }
    }
}
