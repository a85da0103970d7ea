//! Execution of a plan.

use crate::run_pipeline::{self, Message};
use crate::{Plan, RunOptions};
use assay_events::{CaseResult, Event, Reporter, Status};
use assay_exec::Executor;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Summary of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Cases by status.
    pub statuses: BTreeMap<Status, usize>,
    /// Inputs run.
    pub inputs: u64,
    /// Result scalars checked.
    pub scalars_checked: u64,
    /// Set if the run was interrupted, so that planned cases are missing.
    pub interrupted: bool,
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of building shaders and pipelines, summed over threads.
    pub build: f64,
    /// Seconds that the device took.
    pub device: f64,
    /// Seconds of checking, summed over threads.
    pub check: f64,
    /// Part of the device's seconds during which results were being checked.
    pub overlap: f64,
}

impl Summary {
    /// Adds the result of a case.
    pub fn add(&mut self, result: &CaseResult) {
        *self.statuses.entry(result.status).or_default() += 1;
        self.inputs += result.inputs_tested;
        self.scalars_checked += result.scalars_checked;
        self.build += result.times.build;
        self.device += result.times.device;
        self.check += result.times.check;
        self.overlap += result.times.overlap;
    }

    /// Returns the number of result scalars that one core checks in a second; `None` if nothing was
    /// checked.
    pub fn rate(&self) -> Option<f64> {
        (self.check > 0.0).then(|| self.scalars_checked as f64 / self.check)
    }
}

/// Failure to report, which ends a run early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A reporter could not write.
    #[error("cannot write a report: {0}")]
    Report(#[from] std::io::Error),
}

/// Runs the cases of [`Plan::programs`] after the other cases.
pub trait ProgramRunner {
    /// Runs them in order and reports their beginnings and ends. It ends early once `interrupted`
    /// is set or `tell` breaks.
    fn run(&self, interrupted: &AtomicBool, tell: &mut dyn FnMut(Event) -> ControlFlow<()>);
}

impl ProgramRunner for () {
    fn run(&self, _: &AtomicBool, _: &mut dyn FnMut(Event) -> ControlFlow<()>) {}
}

/// Runs the plan without programs; see [`run_with_programs`].
///
/// # Errors
/// A reporter failed; the run is stopped.
pub fn run(
    plan: &Plan,
    executor: &dyn Executor,
    options: &RunOptions,
    reporters: &mut [Box<dyn Reporter>],
    interrupted: &AtomicBool,
) -> Result<Summary, RunError> {
    run_with_programs(plan, &(), executor, options, reporters, interrupted)
}

/// Runs the plan, then its programs, and reports to the reporters. Once `interrupted` is set, the
/// run ends after the current chunk, and the result of the current case covers the inputs until
/// then.
///
/// Cases begin and end in the order of the plan; a case may begin before the previous one has
/// ended.
///
/// # Errors
/// A reporter failed; the run is stopped.
pub fn run_with_programs(
    plan: &Plan,
    programs: &dyn ProgramRunner,
    executor: &dyn Executor,
    options: &RunOptions,
    reporters: &mut [Box<dyn Reporter>],
    interrupted: &AtomicBool,
) -> Result<Summary, RunError> {
    let started = Instant::now();
    let mut tell = |event: &Event| reporters.iter_mut().try_for_each(|reporter| reporter.event(event));
    tell(&Event::RunStarted(Box::new(plan.info(executor.info().clone(), options))))?;
    let mut summary = Summary::default();
    let mut ended: BTreeMap<usize, Box<CaseResult>> = BTreeMap::new();
    let mut next = 0;
    let mut failed = None;
    run_pipeline::run(plan, executor, options, interrupted, |message, stop| {
        let name = |index: usize| plan.cases[index].case.name.clone();
        let mut events = Vec::new();
        match message {
            Message::Started { index, inputs } => events.push(Event::CaseStarted { name: name(index), inputs }),
            Message::Progress { index, done, inputs } => {
                events.push(Event::CaseProgress { name: name(index), done, inputs });
            }
            Message::Finished { index, result } => _ = ended.insert(index, result),
        }
        while let Some(result) = ended.remove(&next) {
            next += 1;
            summary.add(&result);
            events.push(Event::CaseFinished(result));
        }
        if failed.is_none() {
            failed = events.iter().find_map(|event| tell(event).err());
            stop(failed.is_some());
        }
    });
    if failed.is_none() && next == plan.cases.len() {
        programs.run(interrupted, &mut |event| {
            if let Event::CaseFinished(result) = &event {
                next += 1;
                summary.add(result);
            }
            failed = failed.take().or_else(|| tell(&event).err());
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    summary.interrupted = next < plan.len() || interrupted.load(Ordering::Relaxed);
    summary.wall = started.elapsed().as_secs_f64();
    tell(&Event::RunFinished { interrupted: summary.interrupted, wall: summary.wall })?;
    Ok(summary)
}
