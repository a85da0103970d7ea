//! What becomes of a case that failed, or that was at work when its process ended: it is run again alone, and, if that
//! comes out well, in the company that it had.
//!
//! Alone means in a process in which nothing has run before: whatever else it had run, failed or not, could be the reason
//! that the case fails. So each case gets a process of its own. What it has to run there is as little as says enough:
//!
//! 1. Where its result names chunks of inputs in which something failed ([`FailedChunk`]), these chunks, in the same pipeline
//!    and dispatches of the same shape. If the same inputs fail with the same bits, that confirms it.
//! 2. Otherwise, or if anything differs, all of it. A case may fail only because of what itself ran before those chunks.
//! 3. If that comes out well, all of it after all cases that were before it in its process, and then after fewer.
//!
//! Runs that differ make it flaky: one fails and another does not, they end in different ways, or both fail with different
//! bits. Of programs of suites it is not known which bits failed, and what they leave may depend on the order in which
//! invocations run: there, how they ended is compared, and nothing more.

use assay_runner::{Event, FailedChunk, OneRun, Repeat, Repeated, Status};

/// Cases before it that a case is run with again: the last of them, if there were more.
pub(crate) const COMPANY: usize = 1_000;

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Run these cases and then the one in question, in a process of their own.
    Run(Vec<u32>),
    /// It came out well alone: wait for what the other suspects do ([`Inquiry::acquit`], [`Inquiry::accuse`]).
    Hold,
    /// This is its result.
    Ended(Event),
}

/// The inquiry into one case.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) case: u32,
    /// What it did, or seemed to do, in company.
    first: Event,
    /// Whether that is its own result: if not, its process ended while it was at work.
    own: bool,
    /// Cases that had begun in the same process before it.
    before: Vec<u32>,
    runs: Vec<OneRun>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Only the chunks in which something failed.
    Chunks,
    Alone,
    /// It came out well alone.
    Held(Event),
    /// With all cases that were before it.
    Company(Event),
    /// It fails after `before[fails..]` and does not after `before[passes..]`.
    Bisect {
        fails: usize,
        passes: usize,
    },
    /// The same, once it is known from where: perhaps the first of them is enough.
    Single {
        from: usize,
    },
    /// It seems to fail after these. It has to do so this many times more: what fails now and then seems to depend on
    /// whatever it is run with.
    Settle {
        after: Vec<u32>,
        left: u32,
    },
}

/// Times that a case has to fail after the fewest cases found.
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

/// Inputs that were run.
fn inputs(event: &Event) -> u64 {
    if let Event::CaseFinished(case) = event { case.inputs_tested } else { 0 }
}

/// The chunks in which something failed, as far as they are known.
fn failed_chunks(event: &Event) -> &[FailedChunk] {
    if let Event::CaseFinished(case) = event { &case.failed_chunks } else { &[] }
}

/// What a case whose result is this is run as first.
fn first_stage(own: bool, first: &Event) -> Stage {
    if own && !failed_chunks(first).is_empty() { Stage::Chunks } else { Stage::Alone }
}

impl Inquiry {
    /// Into a case that came out like that after those others; `own` tells whether it is its own result or a suspicion.
    pub(crate) fn new(case: u32, first: Event, own: bool, mut before: Vec<u32>) -> Inquiry {
        before.drain(..before.len().saturating_sub(COMPANY));
        let runs = vec![one_run(&first, before.len())];
        let stage = first_stage(own, &first);
        Inquiry { case, first, own, before, runs, stage }
    }

    /// The chunks of the case that are to be run; `None`: all of them.
    pub(crate) fn chunks(&self) -> Option<Vec<u64>> {
        let failed = failed_chunks(&self.first).iter().map(|failed| failed.chunk);
        matches!(self.stage, Stage::Chunks).then(|| failed.collect())
    }

    /// What it did in company, if that is its own result.
    pub(crate) fn own_result(self) -> Option<Event> {
        self.own.then_some(self.first)
    }

    /// Whether the case is being run with nothing before it.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.stage, Stage::Alone)
    }

    /// Takes in how the run came out that [`Next::Run`] asked for (the first one is alone); `None` if the process ended
    /// before the case had its turn. `name` gives the names of cases.
    pub(crate) fn next(&mut self, outcome: Option<Event>, name: &dyn Fn(u32) -> String) -> Next {
        let again = outcome.as_ref().is_some_and(|event| status(event) == status(&self.first));
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Chunks => self.was_in_part(outcome),
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
                    let why = format!("flaky: {}; at times, whatever it is run after", reason(&self.first));
                    Next::Ended(self.with(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
                }
            },
        }
    }

    fn was_in_part(&mut self, outcome: Option<Event>) -> Next {
        let part = match outcome {
            Some(part) if inputs(&part) < inputs(&self.first) => part,
            // Those chunks were all that there is.
            outcome => return self.was_alone(outcome),
        };
        self.runs.push(one_run(&part, 0));
        if status(&part) == status(&self.first) && !self.differs(&part) {
            return Next::Ended(self.with(self.first.clone(), Repeated::Same, Vec::new(), None));
        }
        // The stage is `Alone` now.
        Next::Run(Vec::new())
    }

    /// Whether it failed on other inputs or with other bits than the first time, as far as that is known.
    fn differs(&self, event: &Event) -> bool {
        let (then, now) = (failed_chunks(&self.first), failed_chunks(event));
        !then.is_empty() && then != now
    }

    fn was_alone(&mut self, outcome: Option<Event>) -> Next {
        let Some(alone) = outcome else {
            // Alone, there is nothing else that the process could have ended in: without a result it stays as it was.
            return Next::Ended(self.first.clone());
        };
        self.runs.push(one_run(&alone, 0));
        match (status(&alone).is_failure(), status(&alone) == status(&self.first)) {
            (true, true) if self.differs(&alone) => {
                let why = format!("flaky: {}; alone it failed with other results", reason(&self.first));
                Next::Ended(self.with(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
            }
            (true, true) => Next::Ended(self.with(alone, Repeated::Same, Vec::new(), None)),
            // A suspicion says nothing of what the case would have done: this is its first own result.
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

    /// Another suspect, or nobody, ended the process: what the case did alone is its result.
    pub(crate) fn acquit(&mut self) -> Next {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Held(event) => Next::Ended(event),
            other => {
                self.stage = other;
                Next::Hold
            }
        }
    }

    /// No other suspect ended the process alone: it may have been this one, in company.
    pub(crate) fn accuse(&mut self) -> Next {
        match std::mem::replace(&mut self.stage, Stage::Alone) {
            Stage::Held(event) => self.in_doubt(event),
            other => {
                self.stage = other;
                Next::Hold
            }
        }
    }

    /// It failed in company and came out well alone.
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
        Next::Ended(self.with(self.first.clone(), Repeated::InCompany, names, Some(why)))
    }

    fn flaky(&self, other: &Event) -> Next {
        let why = format!("flaky: {}; alone it was {:?}", reason(&self.first), status(other));
        Next::Ended(self.with(self.first.clone(), Repeated::Flaky, Vec::new(), Some(why)))
    }

    fn with(&self, mut event: Event, verdict: Repeated, after: Vec<String>, why: Option<String>) -> Event {
        event.set_repeat(Repeat { verdict, runs: self.runs.clone(), after }, why);
        event
    }
}

#[cfg(test)]
mod tests;
