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

use assay_runner::{Event, FailedChunk, OneRun, Repeat, Repeated, Status};

/// Largest number of preceding cases with which a case is rerun: the last ones.
pub(crate) const COMPANY: usize = 1_000;

/// Next step of a confirmation.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Run these cases and then the case itself, in a new process.
    Run(Vec<u32>),
    /// The case did not fail alone: wait for the other suspects ([`Inquiry::acquit`],
    /// [`Inquiry::accuse`]).
    Hold,
    /// The result of the case.
    Ended(Event),
}

/// The confirmation of one case.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) case: u32,
    /// The first result, or the suspicion, of the run among other cases.
    first: Event,
    /// Set if `first` is the case's own result. Otherwise its process ended while it was running.
    own: bool,
    /// Cases that began in the same process before it.
    before: Vec<u32>,
    runs: Vec<OneRun>,
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
    Held(Event),
    /// Runs after all cases that preceded it.
    Company(Event),
    /// It fails after `before[fails..]` and does not fail after `before[passes..]`.
    Bisect {
        fails: usize,
        passes: usize,
    },
    /// The search has found the start `before[from]`; this case alone may suffice.
    Single {
        from: usize,
    },
    /// It seems to fail after these cases, and must do so `left` more times: a case that fails now
    /// and then seems to depend on any cases.
    Settle {
        after: Vec<u32>,
        left: u32,
    },
}

/// Number of times that a case must fail after the fewest cases found.
const SETTLED: u32 = 2;

fn status(event: &Event) -> Status {
    event.ended().map_or(Status::InternalError, |(_, status, _)| status)
}

fn reason(event: &Event) -> String {
    event.ended().and_then(|(_, _, reason)| reason).unwrap_or("no reason given").to_owned()
}

fn one_run(event: &Event, after: usize) -> OneRun {
    let reason = event.ended().and_then(|(_, _, reason)| reason.map(str::to_owned));
    OneRun { after: after as u64, inputs: inputs(event), status: status(event), reason }
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
fn first_stage(own: bool, first: &Event) -> Stage {
    if own && !failed_chunks(first).is_empty() { Stage::Chunks } else { Stage::Alone }
}

impl Inquiry {
    /// Starts the confirmation of a case with the result `first` after the cases `before`. `own` is
    /// set if this is its own result rather than a suspicion.
    pub(crate) fn new(case: u32, first: Event, own: bool, mut before: Vec<u32>) -> Inquiry {
        before.drain(..before.len().saturating_sub(COMPANY));
        let runs = vec![one_run(&first, before.len())];
        let stage = first_stage(own, &first);
        Inquiry { case, first, own, before, runs, reruns: 0, repeated: 0, stage }
    }

    /// Returns the indices of the chunks to run, or `None` for all of them.
    pub(crate) fn chunks(&self) -> Option<Vec<u64>> {
        let failed = failed_chunks(&self.first).iter().map(|failed| failed.chunk);
        matches!(self.stage, Stage::Chunks).then(|| failed.collect())
    }

    /// Returns the first result, if it is the case's own.
    pub(crate) fn own_result(self) -> Option<Event> {
        self.own.then_some(self.first)
    }

    /// Returns true if the whole case is being run with no case before it.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.stage, Stage::Alone)
    }

    /// Takes the result of the run that [`Next::Run`] requested (the first one is alone), or `None`
    /// if the process ended before the case began. `name` returns the names of cases.
    pub(crate) fn next(&mut self, outcome: Option<Event>, name: &dyn Fn(u32) -> String) -> Next {
        let again = outcome.as_ref().is_some_and(|event| status(event) == status(&self.first));
        self.reruns += u32::from(outcome.is_some());
        self.repeated += u32::from(again);
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Chunks => self.on_failing_chunks(outcome),
            Stage::Alone => self.was_alone(outcome),
            Stage::Held(event) => Next::Ended(event),
            Stage::Company(alone) => {
                if let Some(event) = &outcome {
                    self.runs.push(one_run(event, self.before.len()));
                }
                if again { self.bisect(0, self.before.len()) } else { self.flaky(&alone) }
            }
            Stage::Bisect { fails, passes } => {
                let middle = fails.midpoint(passes);
                if again { self.bisect(middle, passes) } else { self.bisect(fails, middle) }
            }
            Stage::Single { from } => {
                self.settle(if again { vec![self.before[from]] } else { self.before[from..].to_vec() })
            }
            Stage::Settle { after, left } => match (again, left) {
                (true, 1) => self.in_company(after, name),
                (true, left) => {
                    self.stage = Stage::Settle { after: after.clone(), left: left - 1 };
                    Next::Run(after)
                }
                (false, _) => {
                    let why = format!(
                        "flaky: {}; again in {} of {} reruns, regardless of the cases before it",
                        reason(&self.first),
                        self.repeated,
                        self.reruns
                    );
                    Next::Ended(self.with_repeat(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
                }
            },
        }
    }

    /// Takes the outcome of rerunning the failing chunks. If its status and failing bits agree with the
    /// first run, the failure is confirmed; else the whole case runs alone.
    fn on_failing_chunks(&mut self, outcome: Option<Event>) -> Next {
        let part = match outcome {
            Some(part) if inputs(&part) < inputs(&self.first) => part,
            // Those chunks were the whole case.
            outcome => return self.was_alone(outcome),
        };
        self.runs.push(one_run(&part, 0));
        if status(&part) == status(&self.first) && !self.differs(&part) {
            return Next::Ended(self.with_repeat(self.first.clone(), Repeated::Same, Vec::new(), None));
        }
        // The stage is `Alone` now.
        Next::Run(Vec::new())
    }

    /// Returns true if it failed on different inputs or with different bits than in the first run,
    /// as far as they are known.
    fn differs(&self, event: &Event) -> bool {
        let (then, now) = (failed_chunks(&self.first), failed_chunks(event));
        !then.is_empty() && then != now
    }

    fn was_alone(&mut self, outcome: Option<Event>) -> Next {
        let Some(alone) = outcome else {
            // Without a result of the only case in the process, the first result remains.
            return Next::Ended(self.first.clone());
        };
        self.runs.push(one_run(&alone, 0));
        match (status(&alone).is_failure(), status(&alone) == status(&self.first)) {
            (true, true) if self.differs(&alone) => {
                let why =
                    format!("flaky: {}; rerun alone in a new process: failed with other results", reason(&self.first));
                Next::Ended(self.with_repeat(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
            }
            (true, true) => Next::Ended(self.with_repeat(alone, Repeated::Same, Vec::new(), None)),
            // A suspicion does not state the case's own result: this is the first one.
            (true, false) if !self.own => {
                (self.first, self.own, self.before) = (alone, true, Vec::new());
                self.runs.remove(0);
                self.stage = first_stage(true, &self.first);
                Next::Run(Vec::new())
            }
            (true, false) => self.flaky(&alone),
            (false, _) if self.own => self.in_doubt(alone),
            (false, _) => {
                self.stage = Stage::Held(alone);
                Next::Hold
            }
        }
    }

    /// Another suspect ended the process, or none did: the result of the run alone is final.
    pub(crate) fn acquit(&mut self) -> Next {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Held(event) => Next::Ended(event),
            other => {
                self.stage = other;
                Next::Hold
            }
        }
    }

    /// No other suspect ended the process alone, so this case may have done so after its
    /// predecessors.
    pub(crate) fn accuse(&mut self) -> Next {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Held(event) => self.in_doubt(event),
            other => {
                self.stage = other;
                Next::Hold
            }
        }
    }

    /// Continues after a failure among other cases that did not occur alone.
    fn in_doubt(&mut self, alone: Event) -> Next {
        if self.before.is_empty() {
            return self.flaky(&alone);
        }
        self.stage = Stage::Company(alone);
        Next::Run(self.before.clone())
    }

    fn bisect(&mut self, fails: usize, passes: usize) -> Next {
        if passes - fails > 1 {
            self.stage = Stage::Bisect { fails, passes };
            return Next::Run(self.before[fails.midpoint(passes)..].to_vec());
        }
        if self.before.len() - fails > 1 {
            self.stage = Stage::Single { from: fails };
            return Next::Run(vec![self.before[fails]]);
        }
        self.settle(self.before[fails..].to_vec())
    }

    fn settle(&mut self, after: Vec<u32>) -> Next {
        self.stage = Stage::Settle { after: after.clone(), left: SETTLED };
        Next::Run(after)
    }

    fn in_company(&self, after: Vec<u32>, name: &dyn Fn(u32) -> String) -> Next {
        let first = reason(&self.first);
        let why = match after.as_slice() {
            [one] => format!("{first}; only after {} in the same process, not alone", name(*one)),
            more => format!("{first}; only after {} other cases in the same process, not alone", more.len()),
        };
        let names = after.into_iter().map(name).collect();
        Next::Ended(self.with_repeat(self.first.clone(), Repeated::InCompany, names, Some(why)))
    }

    fn flaky(&self, other: &Event) -> Next {
        let why = format!("flaky: {}; rerun alone in a new process: {:?}", reason(&self.first), status(other));
        Next::Ended(self.with_repeat(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
    }

    /// Returns the event with the conclusion and all runs so far.
    fn with_repeat(&self, mut event: Event, verdict: Repeated, after: Vec<String>, why: Option<String>) -> Event {
        event.set_repeat(Repeat { verdict, runs: self.runs.clone(), after }, why);
        event
    }
}

#[cfg(test)]
mod tests;
