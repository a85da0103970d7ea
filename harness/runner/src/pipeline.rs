//! Execution of a run: kernels are built ahead of time, one thread feeds the device, all others
//! check.
//!
//! ```text
//! workers: build kernels ------+        +--> workers: check chunks --> results
//!                              v        |
//! device thread:   fill a chunk, run it +--- columns come back to be filled again
//! ```
//!
//! Checking has precedence over building, so that results do not accumulate. At most [`AHEAD`]
//! kernels wait for the device and at most [`CHUNKS`] chunks of a case for the checkers, which
//! bounds memory.

use crate::verdict::{Ended, Failing, blank, result};
use crate::{CaseResult, Executor, Kernel, Plan, RunOptions, Status, Times, Trouble, panic_message};
use assay_case::{Case, Columns, Inputs, Source};
use assay_precision::{CheckCounts, Checker};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of cases by which building runs ahead of the device.
const AHEAD: usize = 16;

/// Chunks of a case that are filled, run or checked at the same time.
const CHUNKS: usize = 3;

/// Smallest number of rows in a check, so that handing it over costs little in comparison.
const PART: usize = 1 << 12;

/// Messages to the calling thread.
pub(crate) enum Message {
    /// The device begins a case.
    Started { index: usize, inputs: u64 },
    /// Rows of a case are checked.
    Progress { index: usize, done: u64, inputs: u64 },
    /// A case ended.
    Finished { index: usize, result: Box<CaseResult> },
}

/// Runs the plan. `take` receives every message on the calling thread; its second argument stops
/// the run.
pub(crate) fn run(
    plan: &Plan,
    executor: &dyn Executor,
    options: &RunOptions,
    interrupted: &AtomicBool,
    mut take: impl FnMut(Message, &dyn Fn(bool)),
) {
    let (sender, messages) = mpsc::channel();
    let machine = SharedRun {
        plan,
        executor,
        options,
        interrupted,
        stopped: AtomicBool::new(false),
        generation: AtomicUsize::new(0),
        checking: Mutex::new(Meter { active: 0, since: Instant::now(), total: Duration::ZERO }),
        work: Mutex::new(Work { next: 0, at: 0, built: BTreeMap::new(), checks: VecDeque::new(), over: false }),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let machine = &machine;
        for _ in 0..options.jobs.max(1) {
            let sender = sender.clone();
            scope.spawn(move || machine.worker(&sender));
        }
        scope.spawn(move || machine.feed(&sender));
        for message in messages {
            take(message, &|stop| machine.stopped.store(stop, Ordering::Relaxed));
        }
    });
}

/// State of a run that the device thread and the checking threads share.
struct SharedRun<'a> {
    plan: &'a Plan,
    executor: &'a dyn Executor,
    options: &'a RunOptions,
    interrupted: &'a AtomicBool,
    stopped: AtomicBool,
    /// Number of times that the device was reopened; kernels of an earlier generation are not run.
    generation: AtomicUsize,
    /// Time during which results were being checked.
    checking: Mutex<Meter>,
    work: Mutex<Work>,
    /// Signalled whenever `work` or a case's columns change.
    changed: Condvar,
}

/// Measures the time during which at least one of several threads is active.
struct Meter {
    active: usize,
    /// Start of the current activity, if there is any.
    since: Instant,
    total: Duration,
}

impl Meter {
    fn begin(&mut self) {
        if self.active == 0 {
            self.since = Instant::now();
        }
        self.active += 1;
    }

    fn end(&mut self) {
        self.active -= 1;
        if self.active == 0 {
            self.total += self.since.elapsed();
        }
    }

    fn read(&self) -> Duration {
        if self.active == 0 { self.total } else { self.total + self.since.elapsed() }
    }
}

/// Pending work.
struct Work {
    /// The next case to build.
    next: usize,
    /// The case that the device is running.
    at: usize,
    built: BTreeMap<usize, Built>,
    checks: VecDeque<Check>,
    /// Set once no more work will come.
    over: bool,
}

/// A case ready to be run.
struct Built {
    inputs: Inputs,
    kernel: Result<Box<dyn Kernel>, Trouble>,
    generation: usize,
    took: Duration,
}

/// Rows of a chunk to check.
struct Check {
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
}

struct Chunk {
    number: u64,
    operands: Columns,
    results: Columns,
    case: Arc<Running>,
}

/// A case while it is run and checked.
struct Running {
    index: usize,
    started: Instant,
    inputs: Inputs,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: CheckCounts,
    /// Failing results by chunk.
    failing: BTreeMap<u64, Failing>,
    times: Times,
    /// Rows that were left out because their behaviour is undefined.
    undefined: u64,
    trouble: Option<Trouble>,
    /// Free columns for further chunks.
    free: Vec<(Columns, Columns)>,
    /// Number of checks in progress or queued.
    checking: usize,
    /// Set once the device is done with the case.
    run: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedRun<'_> {
    fn case(&self, index: usize) -> &Case {
        &self.plan.cases[index].case
    }

    /// Returns the number of inputs of a case that the plan runs.
    fn planned(&self, index: usize, inputs: &Inputs) -> u64 {
        let chosen = self.plan.cases[index].chunks.as_ref();
        chosen.map_or(inputs.len(), |chunks| chunks.iter().map(|&chunk| inputs.rows_of(chunk)).sum())
    }

    fn ending(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.stopped.load(Ordering::Relaxed)
    }

    fn wait<'g>(&self, work: MutexGuard<'g, Work>) -> MutexGuard<'g, Work> {
        self.changed.wait(work).unwrap_or_else(PoisonError::into_inner)
    }

    /// Worker thread: checks results, and builds kernels while there is nothing to check.
    fn worker(&self, sender: &Sender<Message>) {
        // The checker of the case that was checked last: checks of one case follow one another.
        let mut checker: Option<(usize, Checker)> = None;
        let mut work = lock(&self.work);
        loop {
            if let Some(check) = work.checks.pop_front() {
                drop(work);
                self.check(check, &mut checker, sender);
            } else if let Some(index) = self.claim(&mut work) {
                drop(work);
                let built = self.build(index);
                lock(&self.work).built.insert(index, built);
                self.changed.notify_all();
            } else if work.over {
                return;
            } else {
                work = self.wait(work);
                continue;
            }
            work = lock(&self.work);
        }
    }

    /// Returns the next case to build now, if any.
    fn claim(&self, work: &mut Work) -> Option<usize> {
        if work.over {
            return None;
        }
        while self.plan.cases.get(work.next).is_some_and(|planned| planned.missing.is_some()) {
            work.next += 1;
        }
        let ahead = work.next < work.at + AHEAD || work.built.len() < AHEAD / 2;
        (work.next < self.plan.cases.len() && ahead).then(|| {
            work.next += 1;
            work.next - 1
        })
    }

    fn build(&self, index: usize) -> Built {
        let started = Instant::now();
        let case = self.case(index);
        let generation = self.generation.load(Ordering::SeqCst);
        let options = self.options;
        // The plan ensures that the range fits.
        let inputs = Inputs::new(case, options.budget, options.seed, options.range.as_ref())
            .or_else(|_| Inputs::new(case, options.budget, options.seed, None))
            .expect("inputs without a range can always be made");
        let first = self.plan.cases[index].chunks.as_ref().and_then(|chunks| chunks.first().copied()).unwrap_or(0);
        let kernel = catch_unwind(AssertUnwindSafe(|| self.kernel(case, &inputs, first))).unwrap_or_else(|panic| {
            Err(Trouble::Internal(format!("building the case panicked: {}", panic_message(&*panic))))
        });
        Built { inputs, kernel, generation, took: started.elapsed() }
    }

    /// Builds the kernel of a case; a case with constant operands has one kernel for each chunk.
    fn kernel(&self, case: &Case, inputs: &Inputs, chunk: u64) -> Result<Box<dyn Kernel>, Trouble> {
        let mut constants = inputs.operand_columns();
        let capacity = constants.capacity();
        match case.source {
            Source::Buffer => self.executor.build(case, capacity, None),
            Source::Constant | Source::SpecConstant => {
                inputs.fill(chunk, &mut constants);
                self.executor.build(case, capacity, Some(&constants))
            }
        }
    }

    /// Device thread: runs the cases in order.
    fn feed(&self, sender: &Sender<Message>) {
        let mut gone = None;
        for (index, planned) in self.plan.cases.iter().enumerate() {
            if self.ending() {
                break;
            }
            let unable = match (&planned.missing, &gone) {
                (Some(missing), _) => Some((Status::NotSupported, missing.clone())),
                (None, Some(trouble)) => Some((Status::DeviceLost, format!("not run: {trouble}"))),
                (None, None) => None,
            };
            if let Some((status, reason)) = unable {
                let result =
                    Box::new(blank(&planned.case, status, reason, (self.options.seed, self.options.range.as_ref())));
                // The receiver is gone only if the run is over.
                _ = sender.send(Message::Finished { index, result });
                continue;
            }
            let built = self.built(index);
            if let Some(Trouble::DeviceLost(_) | Trouble::Timeout(_)) = self.run_case(index, built, sender) {
                self.generation.fetch_add(1, Ordering::SeqCst);
                gone = self.executor.recover().err();
            }
        }
        lock(&self.work).over = true;
        self.changed.notify_all();
    }

    /// Waits for the kernel of a case.
    fn built(&self, index: usize) -> Built {
        let mut work = lock(&self.work);
        work.at = index;
        self.changed.notify_all();
        loop {
            if let Some(built) = work.built.remove(&index) {
                return built;
            }
            work = self.wait(work);
        }
    }

    /// Runs all chunks of a case and hands them to the checkers.
    fn run_case(&self, index: usize, built: Built, sender: &Sender<Message>) -> Option<Trouble> {
        let Built { inputs, mut kernel, generation, took } = built;
        let case = self.case(index);
        _ = sender.send(Message::Started { index, inputs: self.planned(index, &inputs) });
        let running = Arc::new(Running { index, started: Instant::now(), inputs, state: Mutex::default() });
        let inputs = &running.inputs;
        let mut times = Times { build: took.as_secs_f64(), ..Times::default() };
        let mut trouble = None;
        let mut made = 0;
        let chosen = self.plan.cases[index].chunks.as_deref();
        let chunks = chosen.map_or(inputs.chunks(), |chosen| chosen.len() as u64);
        for place in 0..chunks {
            let chunk = chosen.map_or(place, |chosen| chosen[place as usize]);
            if self.ending() {
                break;
            }
            if place > 0 && case.source != Source::Buffer || generation != self.generation.load(Ordering::SeqCst) {
                let started = Instant::now();
                kernel = self.kernel(case, inputs, chunk);
                times.build += started.elapsed().as_secs_f64();
            }
            let (mut operands, mut results) = self.columns(&running, &mut made);
            inputs.fill(chunk, &mut operands);
            lock(&running.state).undefined += inputs.rows_of(chunk) - operands.rows() as u64;
            if operands.rows() == 0 {
                lock(&running.state).free.push((operands, results));
                continue;
            }
            let before = lock(&self.checking).read();
            let ran = match &mut kernel {
                Ok(kernel) => kernel.run(&operands, &mut results),
                Err(trouble) => Err(trouble.clone()),
            };
            let checked = (lock(&self.checking).read() - before).as_secs_f64();
            match ran {
                Ok(took) => {
                    times.device += took.as_secs_f64();
                    // The device can report less time than the wait for it took.
                    times.overlap += checked.min(took.as_secs_f64());
                }
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            }
            self.hand_over(Chunk { number: chunk, operands, results, case: Arc::clone(&running) });
        }
        let mut state = lock(&running.state);
        state.run = true;
        if trouble.is_some() {
            state.trouble.clone_from(&trouble);
        }
        state.times.build = times.build;
        state.times.device = times.device;
        state.times.overlap = times.overlap;
        if state.checking == 0 {
            self.finish(&running, &mut state, sender);
        }
        trouble
    }

    /// Returns columns for the next chunk: new ones for the first few, then free ones.
    fn columns(&self, running: &Running, made: &mut usize) -> (Columns, Columns) {
        if *made < CHUNKS {
            if let Some(free) = lock(&running.state).free.pop() {
                return free;
            }
            *made += 1;
            return (running.inputs.operand_columns(), running.inputs.result_columns());
        }
        let mut work = lock(&self.work);
        loop {
            if let Some(free) = lock(&running.state).free.pop() {
                return free;
            }
            work = self.wait(work);
        }
    }

    /// Divides a chunk among the checkers.
    fn hand_over(&self, chunk: Chunk) {
        let rows = chunk.operands.rows();
        let part = rows.div_ceil(2 * self.options.jobs.max(1)).max(PART);
        lock(&chunk.case.state).checking += rows.div_ceil(part);
        let chunk = Arc::new(chunk);
        let parts = (0..rows).step_by(part);
        let checks: Vec<_> =
            parts.map(|start| Check { chunk: Arc::clone(&chunk), start, end: (start + part).min(rows) }).collect();
        // From here on only the checks own the chunk: the last one to end frees its columns.
        drop(chunk);
        lock(&self.work).checks.extend(checks);
        self.changed.notify_all();
    }

    fn check(&self, check: Check, checker: &mut Option<(usize, Checker)>, sender: &Sender<Message>) {
        let Check { chunk, start, end } = check;
        let running = Arc::clone(&chunk.case);
        let started = Instant::now();
        if checker.as_ref().is_none_or(|(index, _)| *index != running.index) {
            *checker = Some((running.index, Checker::new(self.case(running.index).call.clone())));
        }
        lock(&self.checking).begin();
        // A panic is a defect of the reference: it fails this case, not the run.
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let mut counts = lock(&running.state).counts.next();
            if let Some((_, checker)) = checker {
                checker.check(&chunk.operands.columns(start, end), &chunk.results.columns(start, end), &mut counts);
            }
            counts
        }));
        lock(&self.checking).end();
        let took = started.elapsed().as_secs_f64();
        let number = chunk.number;
        let freed = Arc::into_inner(chunk);
        let mut state = lock(&running.state);
        match checked {
            Ok(counts) => {
                state.counts.merge(&counts);
                if counts.failing_inputs > 0 {
                    state.failing.entry(number).or_default().add(&counts);
                }
            }
            Err(panic) => {
                state.trouble = Some(Trouble::Internal(format!("the checker panicked: {}", panic_message(&*panic))))
            }
        }
        state.times.check += took;
        state.checking -= 1;
        if let Some(Chunk { operands, results, .. }) = freed {
            state.free.push((operands, results));
            let inputs = self.planned(running.index, &running.inputs);
            let done = state.counts.inputs + state.undefined;
            if done < inputs {
                _ = sender.send(Message::Progress { index: running.index, done, inputs });
            }
        }
        if state.run && state.checking == 0 {
            self.finish(&running, &mut state, sender);
        }
        drop(state);
        // Notified after locking `work`, so that a thread that has just found no columns is already
        // waiting.
        drop(lock(&self.work));
        self.changed.notify_all();
    }

    fn finish(&self, running: &Running, state: &mut State, sender: &Sender<Message>) {
        let inputs = &running.inputs;
        state.times.wall = running.started.elapsed().as_secs_f64();
        let result = result(
            self.case(running.index),
            Ended {
                counts: &state.counts,
                failing: &state.failing,
                trouble: state.trouble.as_ref(),
                planned: self.planned(running.index, inputs),
                undefined: state.undefined,
                coverage: inputs.coverage(),
                possible: inputs.possible().to_owned(),
                seed: self.options.seed,
                times: state.times,
            },
        );
        _ = sender.send(Message::Finished { index: running.index, result: Box::new(result) });
    }
}
