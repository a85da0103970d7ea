//! The pool of worker processes: their jobs and their limits.

use super::{LostLinks, WorkerLimits};
use crate::{
    child_process::{Launch, Process, WorkerEvent},
    message::{Order, Refusal, Task},
};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    process::ExitStatus,
    sync::mpsc::{self, Receiver, SyncSender},
    time::{Duration, Instant},
};

/// Number of messages that are queued for the coordinator; further ones wait in the pipes.
const MESSAGE_QUEUE: usize = 1 << 10;

/// Longest time for a dismissed worker to close its device.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Longest time for a worker to end after it has closed its pipe.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// Time without a message after which a worker counts as hung. It sends a sign of life every
/// second.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of consecutive lost links of every prefix after which the run ends.
const MAX_LOST_LINKS: u32 = 5;

/// Time before a prefix whose link was lost is tried again; it doubles with each further loss, as a board
/// may be starting.
const LINK_DELAY: Duration = Duration::from_secs(1);

/// Longest such time.
const MAX_LINK_DELAY: Duration = Duration::from_secs(60);

/// Work of a worker.
#[derive(Debug)]
pub(super) struct WorkerJob {
    /// Its cases in order.
    pub(super) cases: Vec<u32>,
    /// The tasks for the worker, in the order of the cases; none once it has them.
    pub(super) tasks: Vec<Task>,
    /// Cases without a result, by name.
    pub(super) unfinished: HashMap<String, u32>,
    /// The confirmation that requested it, in a process of its own; the case to confirm is the
    /// last.
    pub(super) confirmation: Option<u64>,
}

/// Failure of a worker.
#[derive(Debug)]
pub(super) enum WorkerFailure {
    /// It ended.
    Ended,
    /// It ended elsewhere, as its supervisor reported.
    EndedElsewhere { how: String, external: bool, stderr: String },
    /// It cannot open the device.
    Refused(Refusal),
    /// It wrote bytes that are not a message, or a message that does not fit its job.
    Broken(String),
    /// A call for that case exceeds this limit; without a case, the start does.
    Hang(Option<u32>, Duration),
    /// It sends no signs of life.
    Silent,
    /// It uses more memory than this limit in bytes.
    Memory(u64),
    /// It wrote more than this limit in bytes.
    Flood(u64),
}

/// A call into the driver that has not returned.
#[derive(Debug)]
pub(super) struct CallInProgress {
    pub(super) case: u32,
    pub(super) doing: String,
    /// Set if the driver may compile a long shader in it.
    pub(super) compiles: bool,
    /// Description of undefined behaviour that the shader may have.
    pub(super) excuse: Option<String>,
    pub(super) since: Instant,
}

/// A case that may have caused the failure of a worker.
#[derive(Debug)]
pub(super) struct Suspect {
    pub(super) case: u32,
    /// Description of its current call; empty outside of calls.
    pub(super) doing: String,
    /// Description of undefined behaviour that its shader may have in the call.
    pub(super) excuse: Option<String>,
}

#[derive(Debug)]
pub(super) struct Worker {
    number: u64,
    process: Process,
    /// Index of the prefix that started it elsewhere.
    pub(super) via: Option<usize>,
    /// Resident memory and output to stderr in bytes, as its supervisor reported them.
    pub(super) usage: (Option<u64>, u64),
    started: Instant,
    starting: bool,
    pub(super) job: Option<WorkerJob>,
    /// Calls into the driver that have not returned, by number.
    pub(super) calls: BTreeMap<u64, CallInProgress>,
    /// Cases that began and have no result, in order.
    active: Vec<u32>,
    /// All cases that began in this process, in order.
    history: Vec<u32>,
    pub(super) last_message: Instant,
    /// Bytes that it had written to stderr when it received its job.
    written_before: u64,
}

impl Worker {
    pub(super) fn is_starting(&self) -> bool {
        self.starting
    }

    fn is_idle(&self) -> bool {
        self.job.is_none() && !self.starting
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn send(&self, order: &Order) {
        // Orders always have a JSON form, and the loss of a worker is noticed elsewhere.
        _ = self.process.send(order);
    }

    /// Starts the job, because the device is open.
    pub(super) fn on_ready(&mut self) {
        self.starting = false;
        self.begin_job();
    }

    /// Returns the bytes that it has written to stderr.
    fn written(&self) -> u64 {
        if self.via.is_some() { self.usage.1 } else { self.process.written() }
    }

    fn memory(&self) -> Option<u64> {
        if self.via.is_some() { self.usage.0 } else { self.process.memory() }
    }

    fn begin_job(&mut self) {
        self.written_before = self.written();
        if let Some(job) = &mut self.job {
            let cases = std::mem::take(&mut job.tasks);
            self.send(&Order::Run { cases });
        }
    }

    /// Records that a case began; returns `None` for a case that is not in the job.
    pub(super) fn begin(&mut self, name: &str) -> Option<u32> {
        let case = *self.job.as_ref()?.unfinished.get(name)?;
        if !self.active.contains(&case) {
            self.active.push(case);
            self.history.push(case);
        }
        Some(case)
    }

    /// Records a result; returns the case and the cases that began before it, or `None` for a case
    /// that is not in the job.
    pub(super) fn finish(&mut self, name: &str) -> Option<(u32, Vec<u32>)> {
        let case = self.job.as_mut()?.unfinished.remove(name)?;
        let before = self.predecessors(case);
        match self.active.iter().position(|&begun| begun == case) {
            Some(place) => _ = self.active.remove(place),
            // The worker did not report its beginning; for example, the device cannot run it.
            None => self.history.push(case),
        }
        Some((case, before))
    }

    /// Returns the last cases that began in this process before that one.
    pub(super) fn predecessors(&self, case: u32) -> Vec<u32> {
        let end = self.history.iter().rposition(|&other| other == case).unwrap_or(self.history.len());
        self.history[end.saturating_sub(crate::confirmation::MAX_PREDECESSORS)..end].to_vec()
    }

    /// Returns the cases that may have caused `failure`, the most likely first.
    pub(super) fn suspects(&self, failure: &WorkerFailure) -> Vec<Suspect> {
        let in_call = |case: u32| {
            let call = self.calls.values().find(|call| call.case == case)?;
            Some(Suspect { case, doing: call.doing.clone(), excuse: call.excuse.clone() })
        };
        let idle = |case: u32| Suspect { case, doing: String::new(), excuse: None };
        if let WorkerFailure::Hang(Some(hanging), _) = failure {
            return vec![in_call(*hanging).unwrap_or_else(|| idle(*hanging))];
        }
        // Cases in a call into the driver. Running on the device is more dangerous than building,
        // and such a case began earlier.
        let suspects: Vec<Suspect> = self.active.iter().filter_map(|&case| in_call(case)).collect();
        match suspects.is_empty() {
            true => self.active.iter().map(|&case| idle(case)).collect(),
            false => suspects,
        }
    }

    /// Returns the failure of the worker, if there is one.
    pub(super) fn failure(&mut self, limits: &WorkerLimits) -> Option<WorkerFailure> {
        if self.starting && self.age() > limits.start {
            return Some(WorkerFailure::Hang(None, limits.start));
        }
        for call in self.calls.values() {
            let limit = if call.compiles { limits.compile } else { limits.call };
            if call.since.elapsed() > limit {
                return Some(WorkerFailure::Hang(Some(call.case), limit));
            }
        }
        if self.last_message.elapsed() > SILENCE_TIMEOUT.max(limits.call) {
            return Some(WorkerFailure::Silent);
        }
        if self.written() - self.written_before > limits.output {
            return Some(WorkerFailure::Flood(limits.output));
        }
        if let (Some(limit), Some(memory)) = (limits.memory, self.memory())
            && memory > limit
        {
            return Some(WorkerFailure::Memory(limit));
        }
        // A process that the driver started may hold the pipe open after the worker itself has
        // ended.
        (self.process.has_ended() && self.last_message.elapsed() > CLOSE_TIMEOUT).then_some(WorkerFailure::Ended)
    }

    /// Waits for the worker to end by itself, which it does shortly after closing its pipe.
    pub(super) fn await_end(&mut self) {
        let since = Instant::now();
        while !self.process.has_ended() && since.elapsed() < EXIT_TIMEOUT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills it; returns its last line on stderr and its exit status.
    pub(super) fn kill(&mut self) -> (String, Option<ExitStatus>) {
        let status = self.process.end();
        (self.process.last_stderr_line().unwrap_or_default(), status)
    }
}

/// The links through a prefix.
#[derive(Debug, Default)]
struct PrefixLinks {
    /// Number of lost ones since the last that reached a worker.
    lost: u32,
    /// Number of all lost ones.
    all_lost: usize,
    /// Time of the next try, after a loss.
    next_try: Option<Instant>,
}

impl PrefixLinks {
    fn is_waiting(&self) -> bool {
        self.next_try.is_some_and(|then| Instant::now() < then)
    }
}

/// A worker that was killed.
pub(super) struct KilledWorker {
    /// Its last line on stderr.
    pub(super) stderr: String,
    pub(super) status: Option<ExitStatus>,
    pub(super) job: Option<WorkerJob>,
}

pub(super) struct WorkerPool {
    launch: Launch,
    pub(super) workers: Vec<Worker>,
    /// Workers that are closing their devices.
    closing: Vec<(Process, Instant)>,
    /// The links through each prefix.
    links: Vec<PrefixLinks>,
    sender: SyncSender<(u64, WorkerEvent)>,
    receiver: Receiver<(u64, WorkerEvent)>,
    started: u64,
}

impl WorkerPool {
    pub(super) fn new(launch: Launch) -> WorkerPool {
        let (sender, receiver) = mpsc::sync_channel(MESSAGE_QUEUE);
        let links = launch.via.iter().map(|_| PrefixLinks::default()).collect();
        WorkerPool { launch, workers: Vec::new(), closing: Vec::new(), links, sender, receiver, started: 0 }
    }

    /// Sets the command for further workers.
    pub(super) fn set_launch(&mut self, launch: Launch) {
        self.launch = launch;
    }

    /// Returns the number of workers that were started.
    pub(super) fn started_count(&self) -> u64 {
        self.started
    }

    /// Returns the prefix for the next worker: of those that need not wait, the one with the fewest
    /// workers. `None` for a worker of this machine.
    fn next_prefix(&self) -> Option<usize> {
        let workers = |via: &usize| self.workers.iter().filter(|worker| worker.via == Some(*via)).count();
        (0..self.launch.via.len()).min_by_key(|via| (self.links[*via].is_waiting(), workers(via), *via))
    }

    /// Returns the number of workers to use of that many: the shares of prefixes that wait are left out,
    /// so that no other machine gets more than its own share.
    pub(super) fn usable_count(&self, workers: usize) -> usize {
        let usable = self.links.iter().filter(|links| !links.is_waiting()).count();
        if self.links.is_empty() { workers } else { (workers * usable).div_ceil(self.links.len()) }
    }

    /// Counts a lost link; returns true if every prefix has lost too many.
    pub(super) fn count_lost_link(&mut self, via: usize) -> bool {
        let links = &mut self.links[via];
        let delay = LINK_DELAY.saturating_mul(1 << links.lost.min(16)).min(MAX_LINK_DELAY);
        links.lost += 1;
        links.all_lost += 1;
        links.next_try = Some(Instant::now() + delay);
        self.all_are_lost()
    }

    /// Postpones the next use of a prefix that reached no worker by the longest time; returns true if no
    /// prefix is left.
    pub(super) fn give_up_link(&mut self, via: usize) -> bool {
        let links = &mut self.links[via];
        let all_lost = links.all_lost + 1;
        *links = PrefixLinks { lost: MAX_LOST_LINKS, all_lost, next_try: Some(Instant::now() + MAX_LINK_DELAY) };
        self.all_are_lost()
    }

    fn all_are_lost(&self) -> bool {
        self.links.iter().all(|links| links.lost >= MAX_LOST_LINKS)
    }

    /// Forgets the lost links of a prefix that has reached a worker.
    pub(super) fn on_reached(&mut self, via: usize) {
        (self.links[via].lost, self.links[via].next_try) = (0, None);
    }

    /// Returns the prefixes that lost links.
    pub(super) fn lost_links(&self) -> Vec<LostLinks> {
        let lost = self.links.iter().enumerate().filter(|(_, links)| links.all_lost > 0);
        let of = |(via, links): (usize, &PrefixLinks)| LostLinks {
            prefix: self.prefix_text(via),
            count: links.all_lost,
            is_lost: links.lost > 0,
        };
        lost.map(of).collect()
    }

    /// Returns a prefix as a person writes it.
    pub(super) fn prefix_text(&self, via: usize) -> String {
        let words: Vec<String> = self.launch.via[via].iter().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    pub(super) fn start(&mut self, job: Option<WorkerJob>) -> io::Result<()> {
        self.started += 1;
        let via = self.next_prefix();
        let now = Instant::now();
        self.workers.push(Worker {
            number: self.started,
            process: Process::start(&self.launch, via, self.started, self.sender.clone())?,
            via,
            usage: (None, 0),
            started: now,
            starting: true,
            job,
            calls: BTreeMap::new(),
            active: Vec::new(),
            history: Vec::new(),
            last_message: now,
            written_before: 0,
        });
        Ok(())
    }

    /// Resets the time since the last message, so that the time between the start of the first
    /// worker and the run does not count.
    pub(super) fn reset_message_times(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.last_message = Instant::now());
    }

    /// Gives a job to an idle worker. A confirmation gets a new worker, elsewhere in place of an idle one:
    /// a scheduler may have no place for two.
    pub(super) fn assign(&mut self, job: WorkerJob) -> io::Result<()> {
        let idle = self.workers.iter_mut().find(|worker| worker.is_idle());
        match idle {
            // A worker that has not run any case is as good as a new one.
            Some(worker) if job.confirmation.is_none() || worker.history.is_empty() => {
                worker.job = Some(job);
                worker.begin_job();
                Ok(())
            }
            _ => {
                if let Some(at) = self.workers.iter().position(|worker| worker.via.is_some() && worker.is_idle()) {
                    self.dismiss(at);
                }
                self.start(Some(job))
            }
        }
    }

    /// Returns the next message, if one arrives within that time.
    pub(super) fn receive(&self, within: Duration) -> Option<(u64, WorkerEvent)> {
        self.receiver.recv_timeout(within).ok()
    }

    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.workers.iter().position(|worker| worker.number == number)
    }

    /// Returns the number of workers with a job.
    pub(super) fn busy_count(&self) -> usize {
        self.workers.iter().filter(|worker| worker.job.is_some()).count()
    }

    /// Ends a confirmation whose case has its result. A worker elsewhere is kept for the next job, since its
    /// end and another start take long.
    pub(super) fn end_confirmation(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        match (&mut worker.job, worker.via) {
            (Some(job), Some(_)) => {
                job.confirmation = None;
                job.cases.clear();
                job.unfinished.clear();
            }
            _ => self.dismiss(at),
        }
    }

    /// Kills a worker.
    pub(super) fn kill(&mut self, at: usize) -> KilledWorker {
        let mut worker = self.workers.remove(at);
        let (stderr, status) = worker.kill();
        KilledWorker { stderr, status, job: worker.job }
    }

    /// Lets a worker close its device and end.
    pub(super) fn dismiss(&mut self, at: usize) {
        let mut worker = self.workers.remove(at);
        worker.process.dismiss();
        self.closing.push((worker.process, Instant::now()));
    }

    /// Removes workers that have ended, and kills those that exceed their time to close.
    pub(super) fn reap(&mut self) {
        self.closing.retain_mut(|(process, since)| !process.has_ended() && since.elapsed() < CLOSE_TIMEOUT);
    }

    /// Ends all workers.
    pub(super) fn dismiss_all(&mut self) {
        while !self.workers.is_empty() {
            self.dismiss(0);
        }
        while !self.closing.is_empty() {
            // Their last messages are not needed, but must not block them.
            _ = self.receive(Duration::from_millis(5));
            self.reap();
        }
    }
}
