//! Comparison of results with a lab's expectations.
//!
//! A result has two statuses: its own ([`Status`]), and its [`Standing`] relative to the baseline,
//! the list of flakes and the waivers. Without such lists every failure is a
//! [`Standing::Regression`].

use crate::{
    NameArena, Waivers,
    deqp::{Baseline, DeqpStatus, Patterns, TestStatus},
    waiver::WaiverMatch,
};
use assay_events::{CaseResult, CheckResult, Repeat, RepeatVerdict, Status};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, rc::Rc};

/// Status of a result relative to the lab's expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Standing {
    /// The case passed, or failed as listed in the baseline.
    Expected,
    /// The case failed and a waiver covers the failure.
    Waived,
    /// The case failed and is on the list of flakes.
    KnownFlake,
    /// The case did better than its baseline entry, which needs an update.
    Fixed,
    /// The case was planned and has no result.
    Missing,
    /// The case failed, its status or failing bits differ between runs, and no list expects that.
    Flaky,
    /// The case failed and no list expects that.
    Regression,
}

impl Standing {
    /// Returns true if the run can still succeed.
    pub fn is_success(self) -> bool {
        match self {
            Standing::Expected | Standing::Waived | Standing::KnownFlake => true,
            Standing::Fixed | Standing::Missing | Standing::Flaky | Standing::Regression => false,
        }
    }
}

/// Result of comparing a case with the expectations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// Standing.
    pub standing: Standing,
    /// Status in deqp-runner's files. A waived failure is an `ExpectedFail` there.
    pub word: DeqpStatus,
    /// Explanation: the baseline entry, or the waiver's issue or mismatch.
    pub why: Option<String>,
}

/// Baseline, list of flakes and waivers of a lab.
#[derive(Debug)]
pub struct Expectations {
    baseline: Option<Baseline>,
    flakes: Patterns,
    waivers: Waivers,
    planned: Rc<NameArena>,
    skipped: Vec<String>,
}

impl Default for Expectations {
    fn default() -> Expectations {
        Expectations::new(None, Patterns::empty(), Waivers::default())
    }
}

impl Expectations {
    /// Returns the expectations of these lists.
    pub fn new(baseline: Option<Baseline>, flakes: Patterns, waivers: Waivers) -> Expectations {
        Expectations { baseline, flakes, waivers, planned: Rc::default(), skipped: Vec::new() }
    }

    /// Adds the planned cases and the cases removed by the list of skips.
    #[must_use]
    pub fn for_run(self, planned: Rc<NameArena>, skipped: Vec<String>) -> Expectations {
        Expectations { planned, skipped, ..self }
    }

    /// Returns the planned cases.
    pub(crate) fn planned(&self) -> &Rc<NameArena> {
        &self.planned
    }

    /// Returns the skipped cases.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Assesses a skipped case. A baseline entry that expects a failure is out of date.
    pub(crate) fn judge_skipped(&self, name: &str) -> Assessment {
        self.judge_word(name, TestStatus::Skip)
    }

    /// Returns the skipped cases that the baseline expects to fail.
    pub(crate) fn skipped_failures(&self) -> impl Iterator<Item = &str> {
        let names = self.skipped.iter().map(String::as_str);
        names.filter(|name| !self.judge_skipped(name).standing.is_success())
    }

    /// Returns true if a list was given, so that standings carry information beyond the statuses.
    pub fn has_lists(&self) -> bool {
        self.baseline.is_some() || !self.waivers.is_empty() || self.flakes.has_patterns()
    }

    /// Assesses a case.
    pub fn judge(&self, case: &CaseResult) -> Assessment {
        if is_cut_short(case.partial, case.status) {
            let why = Some("cut short by the end of the run".to_owned());
            return Assessment { standing: Standing::Missing, word: DeqpStatus::Missing, why };
        }
        let judged = self.judge_run(&case.name, case.status, case.repeat.as_deref());
        if judged.standing != Standing::Regression {
            return judged;
        }
        match self.waivers.judge(case) {
            None => judged,
            Some(WaiverMatch::NotCovered(why)) => Assessment { why: Some(why), ..judged },
            Some(WaiverMatch::Covered(issue)) => {
                Assessment { standing: Standing::Waived, word: DeqpStatus::ExpectedFail, why: Some(issue) }
            }
        }
    }

    /// Assesses a check. Waivers apply to cases only.
    pub fn judge_check(&self, check: &CheckResult) -> Assessment {
        self.judge_run(&check.name, check.status, check.repeat.as_deref())
    }

    /// Assesses a status and the reruns of a failure, without waivers.
    fn judge_run(&self, name: &str, status: Status, repeat: Option<&Repeat>) -> Assessment {
        let judged = self.judge_word(name, TestStatus::of(status));
        let Some(repeat) = repeat.filter(|repeat| repeat.verdict == RepeatVerdict::Flaky) else { return judged };
        if judged.standing != Standing::Regression {
            return judged;
        }
        // deqp-runner counts `Flake` as success. Assay's verdict does not. A case that failed in
        // every rerun, in different ways, is a failure in deqp-runner's files, too.
        let always = !repeat.runs.is_empty() && repeat.runs.iter().all(|run| run.status.is_failure());
        Assessment {
            standing: Standing::Flaky,
            word: if always { judged.word } else { DeqpStatus::Flake },
            why: judged.why,
        }
    }

    /// Assesses a test status, without waivers.
    pub(crate) fn judge_word(&self, name: &str, did: TestStatus) -> Assessment {
        let baseline = self.baseline.as_ref().and_then(|baseline| baseline.get(name));
        let word = DeqpStatus::compare(did, baseline);
        let said = baseline.map(|baseline| format!("the baseline lists {baseline}"));
        if !word.is_success() && self.flakes.matches(name) {
            return Assessment { standing: Standing::KnownFlake, word: DeqpStatus::KnownFlake, why: said };
        }
        let standing = match word {
            DeqpStatus::Test(_) if word.is_success() => Standing::Expected,
            DeqpStatus::ExpectedFail | DeqpStatus::Flake | DeqpStatus::KnownFlake => Standing::Expected,
            DeqpStatus::UnexpectedImprovement(_) => Standing::Fixed,
            DeqpStatus::Missing => Standing::Missing,
            DeqpStatus::Test(_) => Standing::Regression,
        };
        Assessment { standing, word, why: said }
    }
}

/// Returns true if the run ended during the case before a failure occurred. The case then has no
/// result.
pub(crate) fn is_cut_short(partial: bool, status: Status) -> bool {
    partial && !status.is_failure()
}

/// Record of the waivers that applied in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaiverUse {
    seen: BTreeSet<usize>,
    failed: BTreeSet<usize>,
}

impl WaiverUse {
    /// Records a case.
    pub(crate) fn add(&mut self, expectations: &Expectations, case: &CaseResult) {
        for index in expectations.waivers.concerning(&case.name) {
            self.seen.insert(index);
            if !DeqpStatus::Test(TestStatus::of(case.status)).is_success() {
                self.failed.insert(index);
            }
        }
    }

    /// Returns a message for each waiver that was not needed.
    pub(crate) fn useless(&self, expectations: &Expectations) -> Vec<String> {
        expectations.waivers.useless(&self.seen, &self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, run};
    use assay_events::RepeatRun;
    use jiff::civil::Date;
    use std::fs;

    /// Returns expectations with a baseline, a list of flakes and a waiver.
    fn expectations() -> Expectations {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let baseline = Baseline::read(&file("b.csv", "p.fails,Fail\np.crashes,Crash\np.gone,Missing\n")).unwrap();
        let flakes = Patterns::read(&file("f.txt", "^p\\.flaky\n")).unwrap();
        let waivers =
            "[[waiver]]\ncases = [\"p.waived\"]\nclasses = [\"FewUlp\"]\nissue = \"I1\"\nexpires = 2027-01-01\n";
        let today = Date::new(2026, 11, 21).unwrap();
        let waivers = Waivers::read(&file("w.toml", waivers)).unwrap().for_run(&run(1).device, today);
        Expectations::new(Some(baseline), flakes, waivers)
    }

    #[test]
    fn results_are_compared_with_all_lists() {
        let expectations = expectations();
        for (name, status, standing, word) in [
            ("p.new", Status::Pass, Standing::Expected, "Pass"),
            ("p.new", Status::NotSupported, Standing::Expected, "Skip"),
            ("p.new", Status::QualityWarning, Standing::Expected, "Warn"),
            ("p.new", Status::Fail, Standing::Regression, "Fail"),
            ("p.new", Status::DeviceLost, Standing::Regression, "Crash"),
            ("p.fails", Status::Fail, Standing::Expected, "ExpectedFail"),
            ("p.fails", Status::InternalError, Standing::Expected, "ExpectedFail"),
            ("p.fails", Status::Crash, Standing::Regression, "Crash"),
            ("p.fails", Status::Pass, Standing::Fixed, "UnexpectedImprovement(Pass)"),
            ("p.crashes", Status::Fail, Standing::Fixed, "UnexpectedImprovement(Fail)"),
            ("p.gone", Status::Pass, Standing::Fixed, "UnexpectedImprovement(Pass)"),
            ("p.flaky.a", Status::Fail, Standing::KnownFlake, "KnownFlake"),
            ("p.flaky.a", Status::Pass, Standing::Expected, "Pass"),
            ("p.waived", Status::Fail, Standing::Waived, "ExpectedFail"),
            ("p.waived", Status::Timeout, Standing::Regression, "Timeout"),
        ] {
            let judged = expectations.judge(&case(name, status));
            assert_eq!((judged.standing, judged.word.to_string().as_str()), (standing, word), "{name} {status:?}");
        }
        // A case that was cut short without a failure has no result; with a failure it has one.
        for (status, standing) in [(Status::Pass, Standing::Missing), (Status::Fail, Standing::Regression)] {
            let cut = CaseResult { partial: true, ..case("p.new", status) };
            assert_eq!(expectations.judge(&cut).standing, standing, "{status:?}");
        }
        let why = |name, status| expectations.judge(&case(name, status)).why;
        assert_eq!(why("p.fails", Status::Pass).as_deref(), Some("the baseline lists Fail"));
        assert_eq!(why("p.waived", Status::Fail).as_deref(), Some("I1"));
        assert!(why("p.waived", Status::Timeout).unwrap().contains("covers Fail, but the status is Timeout"));
    }

    #[test]
    fn flaky_results_fail_the_run_unless_on_the_list_of_flakes() {
        let flaky = |name: &str, alone: Status| {
            let run = |after, status| RepeatRun { after, inputs: 0, status, reason: None };
            let runs = vec![run(3, Status::Fail), run(0, alone)];
            let repeat = Some(Box::new(Repeat { verdict: RepeatVerdict::Flaky, runs, after: Vec::new() }));
            let judged = expectations().judge(&CaseResult { repeat: repeat.clone(), ..case(name, Status::Fail) });
            // A check is assessed as a case is.
            let check = CheckResult { name: name.to_owned(), repeat, ..crate::test_events::check(Status::Fail) };
            assert_eq!(expectations().judge_check(&check), judged);
            (judged.standing, judged.word.to_string(), judged.standing.is_success())
        };
        assert_eq!(flaky("p.new", Status::Pass), (Standing::Flaky, "Flake".to_owned(), false));
        // deqp-runner counts `Flake` as success, so a case that never passed must not become one.
        assert_eq!(flaky("p.new", Status::Fail), (Standing::Flaky, "Fail".to_owned(), false));
        assert_eq!(flaky("p.new", Status::Crash), (Standing::Flaky, "Fail".to_owned(), false));
        // Waivers do not cover flaky failures.
        assert_eq!(flaky("p.waived", Status::Pass), (Standing::Flaky, "Flake".to_owned(), false));
        assert_eq!(flaky("p.flaky.a", Status::Pass), (Standing::KnownFlake, "KnownFlake".to_owned(), true));
    }

    #[test]
    fn without_lists_every_failure_is_a_regression() {
        let none = Expectations::default();
        assert!(!none.has_lists() && expectations().has_lists());
        assert_eq!(none.judge(&case("p.a", Status::Fail)).standing, Standing::Regression);
        assert_eq!(none.judge(&case("p.a", Status::Pass)).standing, Standing::Expected);
    }
}
