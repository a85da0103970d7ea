//! Selection of the cases of a run.

use assay_case::{Budget, Case, InputRange, NameFilters, Partition, RangeError, stable_hash};
use assay_events::{DeviceInfo, RunInfo, RunPart, RunSettings, SCHEMA};
use assay_exec::Executor;
use std::time::Duration;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Number of inputs for each case.
    pub budget: Budget,
    /// The seed of the inputs.
    pub seed: u64,
    /// Restriction of the first operand's values.
    pub range: Option<InputRange>,
    /// Time limit of the search for the worst inputs of a case.
    pub time: Option<Duration>,
    /// The part of the cases to run, if not all of them.
    pub partition: Option<Partition>,
    /// Number of threads that check and build.
    pub jobs: usize,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// The options of `assay run`, for the record.
    pub settings: Option<RunSettings>,
    /// Start time of the run, RFC 3339, for the record.
    pub started: String,
}

/// One case of a plan.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Missing requirements of the device; with these the case is `NotSupported`.
    pub missing: Option<String>,
    /// Indices of the chunks of inputs to run; `None` for all of them.
    pub chunks: Option<Vec<u64>>,
}

/// Cases of a run, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cases that the pipeline runs.
    pub cases: Vec<PlannedCase>,
    /// Names of the cases that follow and are run by [`ProgramRunner`](crate::ProgramRunner).
    pub programs: Vec<String>,
    /// Number of cases that match the filters but that the quick budget leaves out.
    pub thinned: usize,
    /// The part of the cases that these are, if not all of them.
    pub part: Option<RunPart>,
}

/// Reason why no plan could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A filter matches no case (exit code 3).
    #[error("no case matches `{filter}`{}", suggestion(nearest))]
    NoMatch {
        /// The filter.
        filter: String,
        /// Similar names, if there are any.
        nearest: Vec<String>,
    },
    /// The range does not fit a case's first operand (exit code 2).
    #[error("--range does not fit the first operand of {case}: {source}")]
    Range {
        /// The case.
        case: String,
        /// The reason.
        source: RangeError,
    },
}

/// A case of any kind that can be selected by name.
pub trait Selectable {
    /// The case's name.
    fn name(&self) -> &str;
    /// Returns true if the quick budget includes it even if no filter names it.
    fn is_quick(&self) -> bool;
    /// Makes the quick budget include it.
    fn make_quick(&mut self);
}

impl Selectable for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_quick(&self) -> bool {
        self.quick
    }

    fn make_quick(&mut self) {
        self.quick = true;
    }
}

/// The selected cases, in order.
#[derive(Clone, Debug)]
pub struct Selection<T> {
    /// The cases.
    pub cases: Vec<T>,
    /// Number of cases that match the filters but that the quick budget leaves out.
    pub thinned: usize,
    /// The part of the cases that these are, if not all of them.
    pub part: Option<RunPart>,
}

/// Returns the end of the message that a name is unknown.
pub fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() {
        "; list the names with `assay list`".to_owned()
    } else {
        format!("; the nearest names are {}", nearest.join(", "))
    }
}

/// Checks that each filter matches a case.
///
/// # Errors
/// The first filter without a match, with similar names.
pub fn must_match<T: Selectable>(filters: &NameFilters, cases: &[T]) -> Result<(), PlanError> {
    let names = || cases.iter().map(Selectable::name);
    match filters.unmatched(names()).first() {
        None => Ok(()),
        Some(one) => Err(PlanError::NoMatch { filter: one.pattern().to_owned(), nearest: one.similar_names(names()) }),
    }
}

/// Selects the cases that match any of the filters (all cases without filters), in the given order.
/// The quick budget leaves out further cases, unless a filter names them exactly. A partition then
/// keeps its part of the remaining cases.
pub fn choose<T: Selectable>(
    cases: Vec<T>,
    filters: &NameFilters,
    budget: Budget,
    partition: Option<Partition>,
) -> Selection<T> {
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
    selection
}

/// Selects precision cases like [`choose`], and determines what the device lacks for each.
///
/// # Errors
/// A filter matches no case, or the range contains no value of a case's first operand.
pub fn plan(
    cases: Vec<Case>,
    filters: &NameFilters,
    executor: &dyn Executor,
    options: &RunOptions,
) -> Result<Plan, PlanError> {
    let mut plan = select(cases, filters, options)?;
    plan.negotiate(executor, options.jobs);
    Ok(plan)
}

/// Selects like [`plan`], but without a device: missing requirements remain unknown.
///
/// # Errors
/// A filter matches no case, or the range contains no value of a case's first operand.
pub fn select(cases: Vec<Case>, filters: &NameFilters, options: &RunOptions) -> Result<Plan, PlanError> {
    must_match(filters, &cases)?;
    Plan::from_selection(choose(cases, filters, options.budget, options.partition), options)
}

impl Plan {
    /// Returns a plan that runs these cases.
    pub fn from_cases(cases: impl IntoIterator<Item = Case>) -> Plan {
        let cases = cases.into_iter().map(|case| PlannedCase { case, missing: None, chunks: None }).collect();
        Plan { cases, programs: Vec::new(), thinned: 0, part: None }
    }

    /// Returns a plan that runs selected cases.
    ///
    /// # Errors
    /// The range contains no value of a case's first operand.
    pub fn from_selection(selection: Selection<Case>, options: &RunOptions) -> Result<Plan, PlanError> {
        let Selection { cases, thinned, part } = selection;
        for case in &cases {
            if let (Some(range), Some(first)) = (&options.range, case.call.operand_slots().next()) {
                range.positions(first).map_err(|source| PlanError::Range { case: case.name.clone(), source })?;
            }
        }
        Ok(Plan { thinned, part, ..Plan::from_cases(cases) })
    }

    /// Returns the number of cases of all kinds.
    pub fn len(&self) -> usize {
        self.cases.len() + self.programs.len()
    }

    /// Returns true if there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the names of all cases, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let programs = self.programs.iter().map(String::as_str);
        self.cases.iter().map(|planned| planned.case.name.as_str()).chain(programs)
    }

    /// Determines what the device lacks for each case, on `jobs` threads.
    pub fn negotiate(&mut self, executor: &dyn Executor, jobs: usize) {
        // This writes and parses the shader of each case, which takes long for a hundred thousand
        // of them.
        let each = self.cases.len().div_ceil(jobs.max(1)).max(1);
        std::thread::scope(|scope| {
            for part in self.cases.chunks_mut(each) {
                scope.spawn(|| part.iter_mut().for_each(|planned| planned.missing = executor.missing(&planned.case)));
            }
        });
    }

    /// Returns the description of a run of this plan on a device.
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
            settings: options.settings.clone().map(Box::new),
            started: options.started.clone(),
            host: crate::host_name(),
            selection: self.selection(options),
            part: self.part.clone(),
        }
    }

    /// Returns a hash of the planned cases and of the options that decide their inputs.
    fn selection(&self, options: &RunOptions) -> String {
        let mut text = format!("{} {} {:?}", options.budget, options.seed, options.range);
        for name in self.names() {
            text.push('\n');
            text.push_str(name);
        }
        format!("{:016x}", stable_hash(text.as_bytes()))
    }
}

/// Keeps the cases of the partition, and returns which part they are.
fn divide<T: Selectable>(cases: &mut Vec<T>, partition: Partition) -> RunPart {
    let names: Vec<&str> = cases.iter().map(Selectable::name).collect();
    let selection = format!("{:016x}", stable_hash(names.join("\n").as_bytes()));
    let part = RunPart { of: vec![partition.to_string()], cases: cases.len(), selection };
    let mut place = 0..;
    cases.retain(|case| place.next().is_some_and(|place| partition.holds(case.name(), place)));
    part
}
