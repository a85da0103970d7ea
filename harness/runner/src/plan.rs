//! Choosing what to run.

use crate::{DeviceInfo, Executor, Part, RunInfo, SCHEMA};
use assay_case::{Budget, Case, Filters, InputRange, Partition, RangeError, stable_hash};

/// What a run does with its cases.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How many inputs.
    pub budget: Budget,
    /// The seed of the inputs.
    pub seed: u64,
    /// Part of the first operand's values.
    pub range: Option<InputRange>,
    /// Which part of the cases is run, if not all of them.
    pub partition: Option<Partition>,
    /// Threads that check and build.
    pub jobs: usize,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// When the run started, RFC 3339, for the record.
    pub started: String,
}

/// One case of a plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The case.
    pub case: Case,
    /// What the device lacks for it: then it is `NotSupported`.
    pub missing: Option<String>,
    /// The chunks of its inputs that are run, by number; `None`: all of them.
    pub chunks: Option<Vec<u64>>,
}

/// What will be run, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cases that the pipeline runs.
    pub cases: Vec<Planned>,
    /// Names of the cases that follow them and that something else runs: [`More`](crate::More).
    pub programs: Vec<String>,
    /// Cases that match the filters and that the quick budget leaves out.
    pub thinned: usize,
    /// Which part of the cases these are, if not all of them.
    pub part: Option<Part>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A filter matches no case (exit code 3).
    #[error("no case matches `{filter}`; the nearest names are {}", nearest.join(", "))]
    NoMatch {
        /// The filter.
        filter: String,
        /// Names near it.
        nearest: Vec<String>,
    },
    /// The range does not fit a case's first operand (exit code 2).
    #[error("{case}: {source}")]
    Range {
        /// The case.
        case: String,
        /// Why not.
        source: RangeError,
    },
}

/// What can be chosen by name: cases of every kind.
pub trait Choice {
    /// The case's name.
    fn name(&self) -> &str;
    /// Whether the quick budget includes it without being asked for it by name.
    fn is_quick(&self) -> bool;
    /// Makes the quick budget include it.
    fn include(&mut self);
}

impl Choice for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_quick(&self) -> bool {
        self.quick
    }

    fn include(&mut self) {
        self.quick = true;
    }
}

/// What was chosen, in order.
#[derive(Clone, Debug)]
pub struct Selection<T> {
    /// The cases.
    pub cases: Vec<T>,
    /// Cases that match the filters and that the quick budget leaves out.
    pub thinned: usize,
    /// Which part of the cases these are, if not all of them.
    pub part: Option<Part>,
}

/// That each filter matches a case.
///
/// # Errors
/// The first that does not, with names near it.
pub fn must_match<T: Choice>(filters: &Filters, cases: &[T]) -> Result<(), PlanError> {
    let names = || cases.iter().map(Choice::name);
    match filters.without_match(names()) {
        None => Ok(()),
        Some(one) => Err(PlanError::NoMatch { filter: one.pattern().to_owned(), nearest: one.nearest(names()) }),
    }
}

/// The cases that match any of the filters (all, if there are none), in the order given; for the quick budget without
/// those that it leaves out and that no filter names exactly; of these, those in the partition.
///
/// # Errors
/// A filter matches nothing.
pub fn choose<T: Choice>(
    cases: Vec<T>,
    filters: &Filters,
    budget: Budget,
    partition: Option<Partition>,
) -> Result<Selection<T>, PlanError> {
    must_match(filters, &cases)?;
    let mut selection = Selection { cases: Vec::new(), thinned: 0, part: None };
    for case in cases {
        if !filters.is_empty() && !filters.matches(case.name()) {
            continue;
        }
        if budget == Budget::Quick && !case.is_quick() && !filters.names_exactly(case.name()) {
            selection.thinned += 1;
            continue;
        }
        selection.cases.push(case);
    }
    if let Some(partition) = partition {
        selection.part = Some(divide(&mut selection.cases, partition));
    }
    Ok(selection)
}

/// Chooses precision cases, as [`choose`] does, and finds out what the device lacks for each.
///
/// # Errors
/// A filter matches nothing, or the range fits none of a case's values.
pub fn plan(
    cases: Vec<Case>,
    filters: &Filters,
    executor: &dyn Executor,
    options: &RunOptions,
) -> Result<Plan, PlanError> {
    let mut plan = select(cases, filters, options)?;
    plan.negotiate(executor, options.jobs);
    Ok(plan)
}

/// Like [`plan`], for those who have no device: nothing is known yet of what one lacks.
///
/// # Errors
/// A filter matches nothing, or the range fits none of a case's values.
pub fn select(cases: Vec<Case>, filters: &Filters, options: &RunOptions) -> Result<Plan, PlanError> {
    Plan::chosen(choose(cases, filters, options.budget, options.partition)?, options)
}

impl Plan {
    /// One that runs these cases.
    pub fn of(cases: impl IntoIterator<Item = Case>) -> Plan {
        let cases = cases.into_iter().map(|case| Planned { case, missing: None, chunks: None }).collect();
        Plan { cases, programs: Vec::new(), thinned: 0, part: None }
    }

    /// One that runs cases which were chosen.
    ///
    /// # Errors
    /// The range fits none of a case's values.
    pub fn chosen(selection: Selection<Case>, options: &RunOptions) -> Result<Plan, PlanError> {
        let Selection { cases, thinned, part } = selection;
        for case in &cases {
            if let (Some(range), Some(first)) = (&options.range, case.call.operand_slots().next()) {
                range.positions(first).map_err(|source| PlanError::Range { case: case.name.clone(), source })?;
            }
        }
        Ok(Plan { thinned, part, ..Plan::of(cases) })
    }

    /// How many cases there are, of all kinds.
    pub fn len(&self) -> usize {
        self.cases.len() + self.programs.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of all cases, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let programs = self.programs.iter().map(String::as_str);
        self.cases.iter().map(|planned| planned.case.name.as_str()).chain(programs)
    }

    /// Finds out what the device lacks for each case, on that many threads.
    pub fn negotiate(&mut self, executor: &dyn Executor, jobs: usize) {
        // Each case's shader is written and read for this, which adds up over a hundred thousand of them.
        let each = self.cases.len().div_ceil(jobs.max(1)).max(1);
        std::thread::scope(|scope| {
            for part in self.cases.chunks_mut(each) {
                scope.spawn(|| part.iter_mut().for_each(|planned| planned.missing = executor.missing(&planned.case)));
            }
        });
    }

    /// What a run of it on that device is.
    pub fn info(&self, device: DeviceInfo, options: &RunOptions) -> RunInfo {
        RunInfo {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            specification: device.specification().to_owned(),
            device,
            budget: options.budget.to_string(),
            seed: options.seed,
            cases: self.len(),
            command: options.command.clone(),
            started: options.started.clone(),
            selection: self.selection(options),
            part: self.part.clone(),
        }
    }

    /// A hash of the planned cases and of what decides their inputs.
    fn selection(&self, options: &RunOptions) -> String {
        let mut text = format!("{} {} {:?}", options.budget, options.seed, options.range);
        for name in self.names() {
            text.push('\n');
            text.push_str(name);
        }
        format!("{:016x}", stable_hash(text.as_bytes()))
    }
}

/// Keeps those in the partition; says what they are a part of.
fn divide<T: Choice>(cases: &mut Vec<T>, partition: Partition) -> Part {
    let names: Vec<&str> = cases.iter().map(Choice::name).collect();
    let selection = format!("{:016x}", stable_hash(names.join("\n").as_bytes()));
    let part = Part { of: vec![partition.to_string()], cases: cases.len(), selection };
    let mut place = 0..;
    cases.retain(|case| place.next().is_some_and(|place| partition.holds(case.name(), place)));
    part
}
