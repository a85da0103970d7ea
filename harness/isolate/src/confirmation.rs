//! Confirmation of a case that failed, or that was running when its process ended: it is run again
//! alone and, if it then does not fail, after the cases that preceded it.
//!
//! Alone means in a process in which no other case has run, because any earlier case, failed or
//! not, could be the reason for the failure. So each case gets a process of its own, with as little
//! work as is conclusive:
//!
//! 1. If its result names chunks of inputs with failures ([`FailedChunk`]): these chunks, in the
//!    same pipeline and in dispatches of the same shape. The same failing inputs with the same bits
//!    confirm the failure.
//! 2. Otherwise, or if anything differs: the whole case. It may fail only because of its own
//!    earlier chunks.
//! 3. If it does not fail alone: the whole case after all cases that preceded it in its process,
//!    and then after fewer of them. The search for fewer is a bisection of that list.
//!
//! A case is flaky if its runs differ: only some of them fail, their statuses differ, or both fail
//! with different bits. For programs of suites the failing bits are not known, and their memory may
//! depend on the order of invocations; there only the statuses are compared.

use assay_events::{Event, FailedChunk, Repeat, RepeatRun, RepeatVerdict, Status};

/// Largest number of preceding cases with which a case is rerun: the last ones.
pub(crate) const MAX_PREDECESSORS: usize = 1_000;

/// As [`MAX_PREDECESSORS`], for a case that did not end in time: each run of the search takes its time
/// limit again.
const MAX_PREDECESSORS_OF_TIMEOUT: usize = 16;

/// Next step of a confirmation.
#[derive(Debug, PartialEq)]
pub(crate) enum ConfirmationStep {
    /// Run these cases and then the case itself, in a new process.
    Run(Vec<u32>),
    /// The case did not fail alone: wait for the other suspects
    /// ([`Confirmation::accept_run_alone`], [`Confirmation::run_after_predecessors`]).
    AwaitSuspects,
    /// The result of the case.
    Finish(Event),
}

/// The confirmation of one case.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) case: u32,
    /// The first result, or the suspicion, of the run among other cases.
    first: Event,
    /// Set if `first` is the case's own result. Otherwise its process ended while it was running.
    is_own_result: bool,
    /// Cases that began in the same process before it.
    predecessors: Vec<u32>,
    runs: Vec<RepeatRun>,
    /// Number of reruns, and of those that ended as the first run did.
    reruns: u32,
    repeated: u32,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Only the chunks with failures.
    Chunks,
    Alone,
    /// It did not fail alone.
    Passed(Event),
    /// Runs after all cases that preceded it.
    AfterAll(Event),
    /// It fails after `predecessors[fails..]` and does not fail after `predecessors[passes..]`.
    Bisect {
        fails: usize,
        passes: usize,
    },
    /// The search has found the start `predecessors[from]`; this case alone may suffice.
    Single {
        from: usize,
    },
    /// It seems to fail after these cases, and must do so `remaining` more times: a case that fails
    /// now and then seems to depend on any cases.
    Verify {
        after: Vec<u32>,
        remaining: u32,
    },
}

/// Number of times that a case must fail after the fewest cases found.
const VERIFICATION_RUNS: u32 = 2;

fn status(event: &Event) -> Status {
    event.case_end().map_or(Status::InternalError, |end| end.status)
}

fn reason(event: &Event) -> String {
    event.case_end().and_then(|end| end.reason).unwrap_or("no reason given").to_owned()
}

fn repeat_run(event: &Event, after: usize) -> RepeatRun {
    let reason = event.case_end().and_then(|end| end.reason.map(str::to_owned));
    RepeatRun { after: after as u64, inputs: inputs(event), status: status(event), reason }
}

/// Returns the number of inputs that were run.
fn inputs(event: &Event) -> u64 {
    if let Event::CaseFinished(case) = event { case.inputs_tested } else { 0 }
}

/// Returns the known chunks with failures.
fn failed_chunks(event: &Event) -> &[FailedChunk] {
    if let Event::CaseFinished(case) = event { &case.failed_chunks } else { &[] }
}

/// Returns the first stage for a case with this result.
fn first_stage(is_own_result: bool, first: &Event) -> Stage {
    if is_own_result && !failed_chunks(first).is_empty() { Stage::Chunks } else { Stage::Alone }
}

impl Confirmation {
    /// Starts the confirmation of a case with the result `first` after the cases `predecessors`.
    /// `is_own_result` is set if this is its own result rather than a suspicion.
    pub(crate) fn new(case: u32, first: Event, is_own_result: bool, mut predecessors: Vec<u32>) -> Confirmation {
        predecessors.drain(..predecessors.len().saturating_sub(MAX_PREDECESSORS));
        let runs = vec![repeat_run(&first, predecessors.len())];
        if status(&first) == Status::Timeout {
            predecessors.drain(..predecessors.len().saturating_sub(MAX_PREDECESSORS_OF_TIMEOUT));
        }
        let stage = first_stage(is_own_result, &first);
        Confirmation { case, first, is_own_result, predecessors, runs, reruns: 0, repeated: 0, stage }
    }

    /// Returns the indices of the chunks to run, or `None` for all of them.
    pub(crate) fn chunks(&self) -> Option<Vec<u64>> {
        let failed = failed_chunks(&self.first).iter().map(|failed| failed.chunk);
        matches!(self.stage, Stage::Chunks).then(|| failed.collect())
    }

    /// Returns the first result, if it is the case's own.
    pub(crate) fn own_result(self) -> Option<Event> {
        self.is_own_result.then_some(self.first)
    }

    /// Returns true if the whole case is being run with no case before it.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.stage, Stage::Alone)
    }

    /// Takes the result of the run that [`ConfirmationStep::Run`] requested (the first one is
    /// alone), or `None` if the process ended before the case began. `name` returns the names of
    /// cases.
    pub(crate) fn next(&mut self, outcome: Option<Event>, name: &dyn Fn(u32) -> String) -> ConfirmationStep {
        let again = outcome.as_ref().is_some_and(|event| status(event) == status(&self.first));
        self.reruns += u32::from(outcome.is_some());
        self.repeated += u32::from(again);
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Chunks => self.on_failing_chunks(outcome),
            Stage::Alone => self.on_run_alone(outcome),
            Stage::Passed(event) => ConfirmationStep::Finish(event),
            Stage::AfterAll(alone) => {
                if let Some(event) = &outcome {
                    self.runs.push(repeat_run(event, self.predecessors.len()));
                }
                if again { self.bisect(0, self.predecessors.len()) } else { self.finish_as_flaky(&alone) }
            }
            Stage::Bisect { fails, passes } => {
                let middle = fails.midpoint(passes);
                if again { self.bisect(middle, passes) } else { self.bisect(fails, middle) }
            }
            Stage::Single { from } => {
                self.verify(if again { vec![self.predecessors[from]] } else { self.predecessors[from..].to_vec() })
            }
            Stage::Verify { after, remaining } => match (again, remaining) {
                (true, 1) => self.finish_as_dependent(after, name),
                (true, remaining) => {
                    self.stage = Stage::Verify { after: after.clone(), remaining: remaining - 1 };
                    ConfirmationStep::Run(after)
                }
                (false, _) => {
                    let why = format!(
                        "flaky: {}; again in {} of {} reruns, regardless of the cases before it",
                        reason(&self.first),
                        self.repeated,
                        self.reruns
                    );
                    ConfirmationStep::Finish(self.with_repeat(
                        self.first.clone(),
                        RepeatVerdict::Flaky,
                        Vec::new(),
                        Some(why),
                    ))
                }
            },
        }
    }

    /// Takes the outcome of rerunning the failing chunks. If its status and failing bits agree with the
    /// first run, the failure is confirmed; else the whole case runs alone.
    fn on_failing_chunks(&mut self, outcome: Option<Event>) -> ConfirmationStep {
        let part = match outcome {
            Some(part) if inputs(&part) < inputs(&self.first) => part,
            // Those chunks were the whole case.
            outcome => return self.on_run_alone(outcome),
        };
        self.runs.push(repeat_run(&part, 0));
        if status(&part) == status(&self.first) && !self.differs_from_first(&part) {
            return ConfirmationStep::Finish(self.with_repeat(
                self.first.clone(),
                RepeatVerdict::Same,
                Vec::new(),
                None,
            ));
        }
        // The stage is `Alone` now.
        ConfirmationStep::Run(Vec::new())
    }

    /// Returns true if it failed on different inputs or with different bits than in the first run,
    /// as far as they are known.
    fn differs_from_first(&self, event: &Event) -> bool {
        let (then, now) = (failed_chunks(&self.first), failed_chunks(event));
        !then.is_empty() && then != now
    }

    fn on_run_alone(&mut self, outcome: Option<Event>) -> ConfirmationStep {
        let Some(alone) = outcome else {
            // Without a result of the only case in the process, the first result remains.
            return ConfirmationStep::Finish(self.first.clone());
        };
        self.runs.push(repeat_run(&alone, 0));
        match (status(&alone).is_failure(), status(&alone) == status(&self.first)) {
            (true, true) if self.differs_from_first(&alone) => {
                let why =
                    format!("flaky: {}; rerun alone in a new process: failed with other results", reason(&self.first));
                ConfirmationStep::Finish(self.with_repeat(
                    self.first.clone(),
                    RepeatVerdict::Flaky,
                    Vec::new(),
                    Some(why),
                ))
            }
            (true, true) => ConfirmationStep::Finish(self.with_repeat(alone, RepeatVerdict::Same, Vec::new(), None)),
            // A suspicion does not state the case's own result: this is the first one.
            (true, false) if !self.is_own_result => {
                (self.first, self.is_own_result, self.predecessors) = (alone, true, Vec::new());
                self.runs.remove(0);
                self.stage = first_stage(true, &self.first);
                ConfirmationStep::Run(Vec::new())
            }
            (true, false) => self.finish_as_flaky(&alone),
            (false, _) if self.is_own_result => self.run_after_all(alone),
            (false, _) => {
                self.stage = Stage::Passed(alone);
                ConfirmationStep::AwaitSuspects
            }
        }
    }

    /// Another suspect ended the process, or none did: the result of the run alone is final.
    pub(crate) fn accept_run_alone(&mut self) -> ConfirmationStep {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Passed(event) => ConfirmationStep::Finish(event),
            other => {
                self.stage = other;
                ConfirmationStep::AwaitSuspects
            }
        }
    }

    /// No other suspect ended the process alone, so this case may have done so after its
    /// predecessors.
    pub(crate) fn run_after_predecessors(&mut self) -> ConfirmationStep {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Passed(event) => self.run_after_all(event),
            other => {
                self.stage = other;
                ConfirmationStep::AwaitSuspects
            }
        }
    }

    /// Continues after a failure among other cases that did not occur alone.
    fn run_after_all(&mut self, alone: Event) -> ConfirmationStep {
        if self.predecessors.is_empty() {
            return self.finish_as_flaky(&alone);
        }
        self.stage = Stage::AfterAll(alone);
        ConfirmationStep::Run(self.predecessors.clone())
    }

    fn bisect(&mut self, fails: usize, passes: usize) -> ConfirmationStep {
        if passes - fails > 1 {
            self.stage = Stage::Bisect { fails, passes };
            return ConfirmationStep::Run(self.predecessors[fails.midpoint(passes)..].to_vec());
        }
        if self.predecessors.len() - fails > 1 {
            self.stage = Stage::Single { from: fails };
            return ConfirmationStep::Run(vec![self.predecessors[fails]]);
        }
        self.verify(self.predecessors[fails..].to_vec())
    }

    fn verify(&mut self, after: Vec<u32>) -> ConfirmationStep {
        self.stage = Stage::Verify { after: after.clone(), remaining: VERIFICATION_RUNS };
        ConfirmationStep::Run(after)
    }

    fn finish_as_dependent(&self, after: Vec<u32>, name: &dyn Fn(u32) -> String) -> ConfirmationStep {
        let first = reason(&self.first);
        let why = match after.as_slice() {
            [one] => format!("{first}; only after {} in the same process, not alone", name(*one)),
            more => format!("{first}; only after {} other cases in the same process, not alone", more.len()),
        };
        let names = after.into_iter().map(name).collect();
        ConfirmationStep::Finish(self.with_repeat(self.first.clone(), RepeatVerdict::InCompany, names, Some(why)))
    }

    fn finish_as_flaky(&self, other: &Event) -> ConfirmationStep {
        let why = format!("flaky: {}; rerun alone in a new process: {:?}", reason(&self.first), status(other));
        ConfirmationStep::Finish(self.with_repeat(self.first.clone(), RepeatVerdict::Flaky, Vec::new(), Some(why)))
    }

    /// Returns the event with the conclusion and all runs so far.
    fn with_repeat(&self, mut event: Event, verdict: RepeatVerdict, after: Vec<String>, why: Option<String>) -> Event {
        event.set_repeat(Repeat { verdict, runs: self.runs.clone(), after }, why);
        event
    }
}

#[cfg(test)]
mod tests;
