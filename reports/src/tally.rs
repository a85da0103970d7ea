//! Counts of a run, and its outcome.

use crate::{
    expectations::{Expectations, Standing, WaiverUse},
    summary_table::has_constants,
};
use assay_events::{CaseResult, CheckResult, Event, Reporter, RunInfo, RunPart, Status, Times};
use std::{collections::BTreeMap, io, rc::Rc};

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every checked result is permitted, some of them possibly with a QualityWarning.
    Pass,
    /// A case failed, crashed, hung or had an internal error unexpectedly, or did better than the
    /// baseline.
    Failures,
    /// No case was checked. This is not a success.
    NothingChecked,
    /// Nothing failed, but planned cases have no result.
    Incomplete,
    /// The run is one part of a partition, and no case falls into it.
    EmptyPart,
}

/// Counts cases, inputs and results.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    planned: u64,
    /// The part that was run, if any.
    part: Option<RunPart>,
    interrupted: bool,
    wall: f64,
    statuses: BTreeMap<Status, u64>,
    reasons: BTreeMap<(Status, String), u64>,
    inputs_tested: u64,
    /// Inputs that are constants of the shader.
    constant_inputs: u64,
    /// Checked rounds of checks; `None` if there was no check.
    rounds: Option<u64>,
    /// Checks with a verdict.
    verdicts: u64,
    /// Names of the checks whose verdict says little about the shader.
    says_little: Vec<String>,
    scalars_checked: u64,
    scalars_unchecked: u64,
    sampled: u64,
    /// Passing cases by path, without native cases.
    by_path: BTreeMap<String, u64>,
    by_case_file: u64,
    times: Times,
    expectations: Rc<Expectations>,
    standings: BTreeMap<Standing, u64>,
    waivers: WaiverUse,
}

impl Tally {
    /// Returns empty counts.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Compares the results with a lab's expectations.
    #[must_use]
    pub fn with_expectations(self, expectations: Rc<Expectations>) -> Tally {
        Tally { expectations, ..self }
    }

    /// Returns the expectations.
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// Returns the number of cases with a standing.
    pub fn standing(&self, standing: Standing) -> u64 {
        match standing {
            Standing::Missing => self.planned.saturating_sub(self.finished()),
            _ => self.standings.get(&standing).copied().unwrap_or(0),
        }
    }

    /// Returns messages about waivers that were not needed.
    pub fn useless_waivers(&self) -> Vec<String> {
        self.waivers.useless(&self.expectations)
    }

    /// Returns the outcome so far.
    pub fn outcome(&self) -> Outcome {
        if [Standing::Regression, Standing::Flaky, Standing::Fixed].map(|s| self.standing(s)) != [0; 3] {
            Outcome::Failures
        } else if self.interrupted || self.finished() < self.planned {
            Outcome::Incomplete
        } else if self.planned == 0 && self.part.is_some() {
            Outcome::EmptyPart
        } else if self.checked() == 0 {
            Outcome::NothingChecked
        } else {
            Outcome::Pass
        }
    }

    /// Returns the number of checks that covered only a subset of the invocations.
    pub fn sampled(&self) -> u64 {
        self.sampled
    }

    /// Returns the number of passing cases with the path `lowered` or `reference`.
    pub fn by_path(&self, path: &str) -> u64 {
        self.by_path.get(path).copied().unwrap_or(0)
    }

    /// Returns the number of failing checks whose results the specification permits and the case
    /// file does not.
    pub fn failed_by_case_file(&self) -> u64 {
        self.by_case_file
    }

    /// Returns the part that was run, if any.
    pub fn part(&self) -> Option<&RunPart> {
        self.part.as_ref()
    }

    /// Returns the number of planned cases.
    pub fn planned(&self) -> u64 {
        self.planned
    }

    /// Returns the number of finished cases of any status.
    pub fn finished(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Returns the number of cases with a status.
    pub fn with_status(&self, status: Status) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }

    /// Returns the number of cases that were checked or failed before they could be.
    pub fn checked(&self) -> u64 {
        self.statuses.iter().filter(|&(&status, _)| status.is_checked()).map(|(_, cases)| cases).sum()
    }

    /// Returns the number of cases with judged results.
    pub fn judged(&self) -> u64 {
        self.statuses.iter().filter(|&(&status, _)| status.has_verdict()).map(|(_, cases)| cases).sum()
    }

    /// Returns the number of cases that failed, crashed, hung or had an internal error.
    pub fn failed(&self) -> u64 {
        self.statuses.iter().filter(|&(&status, _)| status.is_failure()).map(|(_, cases)| cases).sum()
    }

    /// Returns the number of cases by status, in order of severity, for statuses that occurred.
    pub fn statuses(&self) -> Vec<(Status, u64)> {
        let mut list: Vec<_> = self.statuses.iter().map(|(&status, &cases)| (status, cases)).collect();
        list.sort_by_key(|&(status, _)| severity(status));
        list
    }

    /// Returns the reasons for a status with their number of cases, most frequent first.
    pub fn reasons(&self, status: Status) -> Vec<(&str, u64)> {
        let of_status = self.reasons.iter().filter(|((s, _), _)| *s == status);
        let mut list: Vec<_> = of_status.map(|((_, reason), &cases)| (reason.as_str(), cases)).collect();
        list.sort_by_key(|&(_, cases)| std::cmp::Reverse(cases));
        list
    }

    /// Returns the number of inputs that cases ran.
    pub fn inputs_tested(&self) -> u64 {
        self.inputs_tested
    }

    /// Returns how many of the inputs were constants of the shader.
    pub fn constant_inputs(&self) -> u64 {
        self.constant_inputs
    }

    /// Returns the number of checked rounds of checks; `None` if there was no check.
    pub fn rounds(&self) -> Option<u64> {
        self.rounds
    }

    /// Returns the number of checked result scalars.
    pub fn scalars_checked(&self) -> u64 {
        self.scalars_checked
    }

    /// Returns the number of result scalars without requirements.
    pub fn scalars_unchecked(&self) -> u64 {
        self.scalars_unchecked
    }

    /// Returns true if the run was interrupted.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// Returns the duration of the run in seconds; 0 before its end.
    pub fn wall(&self) -> f64 {
        self.wall
    }

    /// Returns the summed times of all cases.
    pub fn times(&self) -> Times {
        self.times
    }

    /// Returns the number of checks with a verdict.
    pub fn verdicts(&self) -> u64 {
        self.verdicts
    }

    /// Returns the names of the checks whose verdict says little about the shader
    /// ([`CheckResult::is_meaningful`]).
    pub fn says_little(&self) -> &[String] {
        &self.says_little
    }

    fn start(&mut self, run: &RunInfo) {
        (self.planned, self.part) = (run.cases as u64, run.part.clone());
        let fixed = self.expectations.skipped_failures().count() as u64;
        if fixed > 0 {
            self.standings.insert(Standing::Fixed, fixed);
        }
    }

    fn add_check(&mut self, check: &CheckResult) {
        let judged = self.expectations.judge_check(check);
        *self.standings.entry(judged.standing).or_default() += 1;
        self.count(check.status, check.reason.as_deref());
        self.spend(check.times);
        *self.rounds.get_or_insert_default() += u64::from(check.rounds_checked);
        // Elements that could not have come out wrong are no results.
        self.scalars_checked += if check.status == Status::Undetermined { 0 } else { check.elements_checked };
        self.scalars_unchecked += check.elements_undetermined;
        self.sampled += u64::from(check.sampled.is_some());
        self.verdicts += u64::from(check.status.has_verdict());
        if check.status.has_verdict() && !check.is_meaningful() {
            self.says_little.push(check.name.clone());
        }
        self.by_case_file += u64::from(check.status == Status::Fail && check.fails_only_the_case());
    }

    fn add(&mut self, case: &CaseResult) {
        let standing = self.expectations.judge(case).standing;
        // A case that was cut short counts as missing.
        if standing != Standing::Missing {
            *self.standings.entry(standing).or_default() += 1;
            self.waivers.add(&Rc::clone(&self.expectations), case);
            self.count(case.status, case.reason.as_deref());
            if case.status.has_verdict() && !case.status.is_failure() && case.path != "native" {
                *self.by_path.entry(case.path.clone()).or_default() += 1;
            }
        }
        self.spend(case.times);
        self.inputs_tested += case.inputs_tested;
        self.constant_inputs += if has_constants(case) { case.inputs_tested } else { 0 };
        self.scalars_checked += case.scalars_checked;
        self.scalars_unchecked += case.scalars_unchecked;
    }

    fn count(&mut self, status: Status, reason: Option<&str>) {
        *self.statuses.entry(status).or_default() += 1;
        if status != Status::Pass {
            let reason = reason.unwrap_or(NO_REASON).to_owned();
            *self.reasons.entry((status, reason)).or_default() += 1;
        }
    }

    fn spend(&mut self, times: Times) {
        let Times { wall, build, device, check, overlap, search } = times;
        self.times.wall += wall;
        self.times.build += build;
        self.times.device += device;
        self.times.check += check;
        self.times.overlap += overlap;
        self.times.search += search;
    }
}

impl Reporter for Tally {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RunStarted(run) => self.start(run),
            Event::CaseFinished(case) => self.add(case),
            Event::CheckFinished(check) => self.add_check(check),
            Event::RunFinished { interrupted, wall } => (self.interrupted, self.wall) = (*interrupted, *wall),
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => {}
        }
        Ok(())
    }
}

const NO_REASON: &str = "no reason given";

/// Returns the reason for the status of a case.
pub fn reason_of(case: &CaseResult) -> &str {
    case.reason.as_deref().unwrap_or(NO_REASON)
}

/// Returns the position of a status in lists: the worst comes last, nearest to the end of the
/// output.
pub(crate) fn severity(status: Status) -> u8 {
    match status {
        Status::NotSupported => 0,
        Status::Pass => 1,
        Status::Undetermined => 2,
        Status::QualityWarning => 3,
        Status::Timeout => 4,
        Status::InternalError => 5,
        Status::DeviceLost => 6,
        Status::Crash => 7,
        Status::Fail => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, run};

    fn outcome(planned: usize, statuses: &[Status], interrupted: bool) -> Outcome {
        let mut tally = Tally::new();
        tally.event(&Event::RunStarted(Box::new(run(planned)))).unwrap();
        for &status in statuses {
            tally.event(&Event::CaseFinished(Box::new(case("a", status)))).unwrap();
        }
        tally.event(&Event::RunFinished { interrupted, wall: 1.0 }).unwrap();
        tally.outcome()
    }

    #[test]
    fn a_run_without_checked_cases_is_not_a_success() {
        assert_eq!(outcome(0, &[], false), Outcome::NothingChecked);
        assert_eq!(outcome(2, &[Status::NotSupported, Status::Undetermined], false), Outcome::NothingChecked);
        assert_eq!(outcome(2, &[Status::NotSupported, Status::QualityWarning], false), Outcome::Pass);
    }

    /// A case that was cut short is neither finished nor checked.
    #[test]
    fn a_case_that_was_cut_short_is_missing() {
        let mut tally = Tally::new();
        tally.event(&Event::RunStarted(Box::new(run(2)))).unwrap();
        let cut = CaseResult { partial: true, ..case("b", Status::Pass) };
        for case in [case("a", Status::Pass), cut] {
            tally.event(&Event::CaseFinished(Box::new(case))).unwrap();
        }
        tally.event(&Event::RunFinished { interrupted: true, wall: 1.0 }).unwrap();
        assert_eq!((tally.finished(), tally.checked(), tally.standing(Standing::Missing)), (1, 1, 1));
        assert_eq!(tally.outcome(), Outcome::Incomplete);
    }

    #[test]
    fn a_run_with_missing_cases_is_not_a_success() {
        assert_eq!(outcome(2, &[Status::Pass], false), Outcome::Incomplete);
        assert_eq!(outcome(2, &[Status::Pass], true), Outcome::Incomplete);
        assert_eq!(outcome(2, &[Status::Crash], true), Outcome::Failures);
    }
}
