//! Execution of a run: cases are prepared ahead of time, one thread feeds the device, all others
//! check.
//!
//! ```text
//! workers: prepare cases ------+        +--> workers: check chunks --> results
//!                              v        |
//! device thread:   fill a chunk, run it +--- columns come back to be filled again
//! ```
//!
//! Checking has precedence over building, so that results do not accumulate. At most
//! [`BUILDS_AHEAD`] prepared cases wait for the device and at most [`CHUNKS_IN_FLIGHT`] chunks of a
//! case for the checkers, which bounds memory.

mod hunt;

use crate::case_result::{CaseSummary, ChunkFailures, HuntSummary, not_run, result};
use crate::panic_message;
use crate::{Plan, RunOptions};
use assay_case::{Budget, Case, Columns, Hunt, Inputs, OperandSource};
use assay_events::{CaseResult, Status, Times};
use assay_exec::{ExecError, Executor, PreparedCase};
use assay_precision::{CheckCounts, Checker};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of cases by which building runs ahead of the device.
const BUILDS_AHEAD: usize = 16;

/// Chunks of a case that are filled, run or checked at the same time.
const CHUNKS_IN_FLIGHT: usize = 3;

/// Divisor of the number of rows in a check: enough that handing it over costs little in comparison,
/// and a multiple of the groups that the checker decides together.
const MIN_CHECK_ROWS: usize = 1 << 12;

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
        checking: Mutex::new(ActivityMeter { active: 0, since: Instant::now(), total: Duration::ZERO }),
        work: Mutex::new(WorkQueue { next: 0, at: 0, ready: BTreeMap::new(), checks: VecDeque::new(), is_over: false }),
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
    /// Number of times that the device was reopened; cases that were prepared for an earlier
    /// generation are not run.
    generation: AtomicUsize,
    /// Time during which results were being checked.
    checking: Mutex<ActivityMeter>,
    work: Mutex<WorkQueue>,
    /// Signalled whenever `work` or a case's columns change.
    changed: Condvar,
}

/// Measures the time during which at least one of several threads is active.
struct ActivityMeter {
    active: usize,
    /// Start of the current activity, if there is any.
    since: Instant,
    total: Duration,
}

impl ActivityMeter {
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
struct WorkQueue {
    /// The next case to build.
    next: usize,
    /// The case that the device is running.
    at: usize,
    ready: BTreeMap<usize, ReadyCase>,
    checks: VecDeque<CheckJob>,
    /// Set once no more work will come.
    is_over: bool,
}

/// A case ready to be run.
struct ReadyCase {
    inputs: Inputs,
    prepared: Result<Box<dyn PreparedCase>, ExecError>,
    generation: usize,
    took: Duration,
}

/// Rows of a chunk to check.
struct CheckJob {
    chunk: Arc<ComputedChunk>,
    start: usize,
    end: usize,
}

struct ComputedChunk {
    number: u64,
    operands: Columns,
    results: Columns,
    /// Margins of the rows, which a hunt needs.
    margins: Option<Mutex<Vec<f32>>>,
    case: Arc<RunningCase>,
}

/// A case while it is run and checked.
struct RunningCase {
    index: usize,
    started: Instant,
    inputs: Inputs,
    state: Mutex<CaseProgress>,
}

#[derive(Default)]
struct CaseProgress {
    counts: CheckCounts,
    /// Failing results by chunk.
    failing: BTreeMap<u64, ChunkFailures>,
    times: Times,
    /// Rows that were left out because their behaviour is undefined.
    undefined: u64,
    failure: Option<ExecError>,
    /// Free columns for further chunks.
    free: Vec<(Columns, Columns)>,
    /// Checked chunks of a hunt.
    scored: Vec<ComputedChunk>,
    /// Summary of a hunt.
    hunt: Option<HuntSummary>,
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

    fn is_ending(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.stopped.load(Ordering::Relaxed)
    }

    fn wait<'g>(&self, work: MutexGuard<'g, WorkQueue>) -> MutexGuard<'g, WorkQueue> {
        self.changed.wait(work).unwrap_or_else(PoisonError::into_inner)
    }

    /// Worker thread: checks results, and prepares cases while there is nothing to check.
    fn worker(&self, sender: &Sender<Message>) {
        // The checker of the case that was checked last: checks of one case follow one another.
        let mut checker: Option<(usize, Checker)> = None;
        let mut work = lock(&self.work);
        loop {
            if let Some(check) = work.checks.pop_front() {
                drop(work);
                self.check(check, &mut checker, sender);
            } else if let Some(index) = self.claim_build(&mut work) {
                drop(work);
                let built = self.build(index);
                lock(&self.work).ready.insert(index, built);
                self.changed.notify_all();
            } else if work.is_over {
                return;
            } else {
                work = self.wait(work);
                continue;
            }
            work = lock(&self.work);
        }
    }

    /// Returns the next case to build now, if any.
    fn claim_build(&self, work: &mut WorkQueue) -> Option<usize> {
        if work.is_over {
            return None;
        }
        while self.plan.cases.get(work.next).is_some_and(|planned| planned.missing.is_some()) {
            work.next += 1;
        }
        let ahead = work.next < work.at + BUILDS_AHEAD || work.ready.len() < BUILDS_AHEAD / 2;
        (work.next < self.plan.cases.len() && ahead).then(|| {
            work.next += 1;
            work.next - 1
        })
    }

    fn build(&self, index: usize) -> ReadyCase {
        let started = Instant::now();
        let case = self.case(index);
        let generation = self.generation.load(Ordering::SeqCst);
        let options = self.options;
        // The plan ensures that the range fits.
        let inputs = Inputs::new(case, options.budget, options.seed, options.range.as_ref())
            .or_else(|_| Inputs::new(case, options.budget, options.seed, None))
            .expect("inputs without a range can always be made");
        let first = self.plan.cases[index].chunks.as_ref().and_then(|chunks| chunks.first().copied()).unwrap_or(0);
        let prepared = catch_unwind(AssertUnwindSafe(|| self.prepare(case, &inputs, first))).unwrap_or_else(|panic| {
            Err(ExecError::Internal(format!("building the case panicked: {}", panic_message(&*panic))))
        });
        ReadyCase { inputs, prepared, generation, took: started.elapsed() }
    }

    /// Prepares a case; a case with constant operands is prepared for each chunk.
    fn prepare(&self, case: &Case, inputs: &Inputs, chunk: u64) -> Result<Box<dyn PreparedCase>, ExecError> {
        let mut constants = inputs.operand_columns();
        let capacity = constants.capacity();
        match case.source {
            OperandSource::Buffer => self.executor.build(case, capacity, None),
            OperandSource::Constant | OperandSource::SpecConstant => {
                inputs.fill(chunk, &mut constants);
                self.executor.build(case, capacity, Some(&constants))
            }
        }
    }

    /// Device thread: runs the cases in order.
    fn feed(&self, sender: &Sender<Message>) {
        let mut gone = None;
        for (index, planned) in self.plan.cases.iter().enumerate() {
            if self.is_ending() {
                break;
            }
            let unable = match (&planned.missing, &gone) {
                (Some(missing), _) => Some((Status::NotSupported, missing.clone())),
                (None, Some(failure)) => Some((Status::DeviceLost, format!("not run: {failure}"))),
                (None, None) => None,
            };
            if let Some((status, reason)) = unable {
                let result =
                    Box::new(not_run(&planned.case, status, reason, (self.options.seed, self.options.range.as_ref())));
                // The receiver is gone only if the run is over.
                _ = sender.send(Message::Finished { index, result });
                continue;
            }
            let built = self.take_ready(index);
            if let Some(ExecError::DeviceLost(_) | ExecError::Timeout(_)) = self.run_case(index, built, sender) {
                self.generation.fetch_add(1, Ordering::SeqCst);
                gone = self.executor.recover().err();
            }
        }
        lock(&self.work).is_over = true;
        self.changed.notify_all();
    }

    /// Waits until a case is prepared.
    fn take_ready(&self, index: usize) -> ReadyCase {
        let mut work = lock(&self.work);
        work.at = index;
        self.changed.notify_all();
        loop {
            if let Some(built) = work.ready.remove(&index) {
                return built;
            }
            work = self.wait(work);
        }
    }

    /// Runs all chunks of a case and hands them to the checkers.
    fn run_case(&self, index: usize, built: ReadyCase, sender: &Sender<Message>) -> Option<ExecError> {
        let ReadyCase { inputs, mut prepared, generation, took } = built;
        let case = self.case(index);
        _ = sender.send(Message::Started { index, inputs: self.planned(index, &inputs) });
        let running = Arc::new(RunningCase { index, started: Instant::now(), inputs, state: Mutex::default() });
        let inputs = &running.inputs;
        let mut times = Times { build: took.as_secs_f64(), ..Times::default() };
        let mut failure = None;
        let mut made = 0;
        let chosen = self.plan.cases[index].chunks.as_deref();
        let chunks = chosen.map_or(inputs.chunks(), |chosen| chosen.len() as u64);
        let hunts = self.options.budget == Budget::Hunt && case.source == OperandSource::Buffer && chosen.is_none();
        if let Some(hunt) = hunts.then(|| Hunt::new(inputs)).flatten() {
            failure = self.hunt(&running, hunt, &mut prepared, &mut times).err();
        } else {
            for place in 0..chunks {
                let chunk = chosen.map_or(place, |chosen| chosen[place as usize]);
                if self.is_ending() {
                    break;
                }
                if place > 0 && case.source != OperandSource::Buffer
                    || generation != self.generation.load(Ordering::SeqCst)
                {
                    let started = Instant::now();
                    prepared = self.prepare(case, inputs, chunk);
                    times.build += started.elapsed().as_secs_f64();
                }
                let (mut operands, mut results) = self.columns(&running, &mut made);
                inputs.fill(chunk, &mut operands);
                lock(&running.state).undefined += inputs.rows_of(chunk) - operands.rows() as u64;
                if operands.rows() == 0 {
                    lock(&running.state).free.push((operands, results));
                    continue;
                }
                if let Err(error) = self.run_on_device(&mut prepared, &operands, &mut results, &mut times) {
                    failure = Some(error);
                    break;
                }
                let case = Arc::clone(&running);
                self.hand_over(ComputedChunk { number: chunk, operands, results, margins: None, case });
            }
        }
        let mut state = lock(&running.state);
        state.run = true;
        if failure.is_some() {
            state.failure.clone_from(&failure);
        }
        state.times.build = times.build;
        state.times.device = times.device;
        state.times.overlap = times.overlap;
        if state.checking == 0 {
            self.finish(&running, &mut state, sender);
        }
        failure
    }

    /// Runs a chunk on the device.
    fn run_on_device(
        &self,
        prepared: &mut Result<Box<dyn PreparedCase>, ExecError>,
        operands: &Columns,
        results: &mut Columns,
        times: &mut Times,
    ) -> Result<(), ExecError> {
        let before = lock(&self.checking).read();
        let took = match prepared {
            Ok(prepared) => prepared.run(operands, results)?,
            Err(failure) => return Err(failure.clone()),
        };
        let checked = (lock(&self.checking).read() - before).as_secs_f64();
        times.device += took.as_secs_f64();
        // The device can report less time than the wait for it took.
        times.overlap += checked.min(took.as_secs_f64());
        Ok(())
    }

    /// Returns columns for the next chunk: new ones for the first few, then free ones.
    fn columns(&self, running: &RunningCase, made: &mut usize) -> (Columns, Columns) {
        if *made < CHUNKS_IN_FLIGHT {
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
    fn hand_over(&self, chunk: ComputedChunk) {
        let rows = chunk.operands.rows();
        let part = rows.div_ceil(2 * self.options.jobs.max(1)).next_multiple_of(MIN_CHECK_ROWS);
        lock(&chunk.case.state).checking += rows.div_ceil(part);
        let chunk = Arc::new(chunk);
        let parts = (0..rows).step_by(part);
        let checks: Vec<_> =
            parts.map(|start| CheckJob { chunk: Arc::clone(&chunk), start, end: (start + part).min(rows) }).collect();
        // From here on only the checks own the chunk: the last one to end frees its columns.
        drop(chunk);
        lock(&self.work).checks.extend(checks);
        self.changed.notify_all();
    }

    fn check(&self, check: CheckJob, checker: &mut Option<(usize, Checker)>, sender: &Sender<Message>) {
        let CheckJob { chunk, start, end } = check;
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
                let (operands, results) = (chunk.operands.columns(start, end), chunk.results.columns(start, end));
                checker.check(&operands, &results, &mut counts);
                if let Some(margins) = &chunk.margins {
                    let mut found = vec![0.0; end - start];
                    checker.margins(&operands, &results, &mut found);
                    lock(margins)[start..end].copy_from_slice(&found);
                }
            }
            counts
        }));
        lock(&self.checking).end();
        let took = started.elapsed().as_secs_f64();
        let (number, hunts) = (chunk.number, chunk.margins.is_some());
        let freed = Arc::into_inner(chunk);
        let mut state = lock(&running.state);
        match checked {
            Ok(counts) => {
                state.counts.merge(&counts);
                // The rows of a hunt depend on the device, so its chunks cannot be run alone.
                if counts.failing_inputs > 0 && !hunts {
                    state.failing.entry(number).or_default().add(&counts);
                }
            }
            Err(panic) => {
                state.failure = Some(ExecError::Internal(format!("the checker panicked: {}", panic_message(&*panic))))
            }
        }
        state.times.check += took;
        state.checking -= 1;
        if let Some(chunk) = freed {
            let done = state.counts.inputs + state.undefined;
            let inputs = if hunts {
                state.scored.push(chunk);
                self.expected_of_hunt(running.started.elapsed(), done)
            } else {
                state.free.push((chunk.operands, chunk.results));
                self.planned(running.index, &running.inputs)
            };
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

    fn finish(&self, running: &RunningCase, state: &mut CaseProgress, sender: &Sender<Message>) {
        let inputs = &running.inputs;
        state.times.wall = running.started.elapsed().as_secs_f64();
        let result = result(
            self.case(running.index),
            CaseSummary {
                counts: &state.counts,
                failing: &state.failing,
                failure: state.failure.as_ref(),
                planned: self.planned(running.index, inputs),
                undefined: state.undefined,
                coverage: inputs.coverage(),
                hunt: state.hunt.as_ref(),
                possible: inputs.possible().to_owned(),
                seed: self.options.seed,
                times: state.times,
            },
        );
        _ = sender.send(Message::Finished { index: running.index, result: Box::new(result) });
    }
}
