//! What a run makes of its results, against what the lab expects of them.
//!
//! A result has two statuses: what the case did ([`Status`]), and how that stands to the baseline, the list of flakes and
//! the waivers ([`Standing`]). Without any of these, every failure is a [`Standing::Regression`].

use crate::{
    Names, Waivers,
    deqp::{Baseline, Did, Patterns, Word},
    waiver::Waived,
};
use assay_runner::{CaseResult, CheckResult, Repeat, Repeated, Status};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, rc::Rc};

/// How a result stands to what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Standing {
    /// As expected: it passes, or fails as the baseline says.
    Expected,
    /// A failure that a waiver covers.
    Waived,
    /// A failure of a case that the list of flakes says fails now and then.
    KnownFlake,
    /// Better than the baseline says: the baseline has to be brought up to date.
    Fixed,
    /// Planned, and without a result.
    Missing,
    /// It fails in one run and does something else in another, or fails with other bits, and nothing expects that.
    Flaky,
    /// A failure that nothing expects.
    Regression,
}

impl Standing {
    /// Whether the run is a success in spite of it.
    pub fn is_success(self) -> bool {
        match self {
            Standing::Expected | Standing::Waived | Standing::KnownFlake => true,
            Standing::Fixed | Standing::Missing | Standing::Flaky | Standing::Regression => false,
        }
    }
}

/// The second status of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// How it stands to what was expected.
    pub standing: Standing,
    /// deqp-runner's word for it. It has none for a waived failure, which is an `ExpectedFail` there.
    pub word: Word,
    /// What the lists say of it, if that is worth knowing.
    pub why: Option<String>,
}

/// What the lab expects.
#[derive(Debug)]
pub struct Expectations {
    baseline: Option<Baseline>,
    flakes: Patterns,
    waivers: Waivers,
    planned: Rc<Names>,
    skipped: Vec<String>,
}

impl Default for Expectations {
    fn default() -> Expectations {
        Expectations::new(None, Patterns::none(), Waivers::default())
    }
}

impl Expectations {
    /// Those of these lists.
    pub fn new(baseline: Option<Baseline>, flakes: Patterns, waivers: Waivers) -> Expectations {
        Expectations { baseline, flakes, waivers, planned: Rc::default(), skipped: Vec::new() }
    }

    /// Names the cases that are to run, and those that the lab's list of skips leaves out.
    #[must_use]
    pub fn of_run(self, planned: Rc<Names>, skipped: Vec<String>) -> Expectations {
        Expectations { planned, skipped, ..self }
    }

    /// Cases that are to run.
    pub(crate) fn planned(&self) -> &Rc<Names> {
        &self.planned
    }

    /// Cases that the lab leaves out.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// The second status of a case that the lab leaves out: what the baseline says of its failures is out of date.
    pub(crate) fn judge_skipped(&self, name: &str) -> Judged {
        self.judge_word(name, Did::Skip)
    }

    /// Cases that the lab leaves out and that its baseline expects to fail.
    pub(crate) fn skipped_failures(&self) -> impl Iterator<Item = &str> {
        let names = self.skipped.iter().map(String::as_str);
        names.filter(|name| !self.judge_skipped(name).standing.is_success())
    }

    /// Whether anything but success is expected of any case, so that the second status says more than the first.
    pub fn are_any(&self) -> bool {
        self.baseline.is_some() || !self.waivers.is_empty() || self.flakes.is_any()
    }

    /// The second status of a case.
    pub fn judge(&self, case: &CaseResult) -> Judged {
        if is_cut_short(case.partial, case.status) {
            let why = Some("cut short: the run ended before it did".to_owned());
            return Judged { standing: Standing::Missing, word: Word::Missing, why };
        }
        let judged = self.judge_run(&case.name, case.status, case.repeat.as_deref());
        if judged.standing != Standing::Regression {
            return judged;
        }
        match self.waivers.judge(case) {
            None => judged,
            Some(Waived::No(why)) => Judged { why: Some(why), ..judged },
            Some(Waived::Yes(issue)) => {
                Judged { standing: Standing::Waived, word: Word::ExpectedFail, why: Some(issue) }
            }
        }
    }

    /// The second status of a check, of which no waiver speaks: these are about cases.
    pub fn judge_check(&self, check: &CheckResult) -> Judged {
        self.judge_run(&check.name, check.status, check.repeat.as_deref())
    }

    /// The second status of something that ended like that and was perhaps run again, waivers aside.
    fn judge_run(&self, name: &str, status: Status, repeat: Option<&Repeat>) -> Judged {
        let judged = self.judge_word(name, Did::of(status));
        let Some(repeat) = repeat.filter(|repeat| repeat.verdict == Repeated::Flaky) else { return judged };
        if judged.standing != Standing::Regression {
            return judged;
        }
        // deqp-runner's word for what fails and then does not, which it counts as a success: its files say no more, the run
        // does. What failed each time, if in different ways, is no success in its files either.
        let always = !repeat.runs.is_empty() && repeat.runs.iter().all(|run| run.status.is_failure());
        Judged { standing: Standing::Flaky, word: if always { judged.word } else { Word::Flake }, why: judged.why }
    }

    /// The second status of something that did that, waivers aside.
    pub(crate) fn judge_word(&self, name: &str, did: Did) -> Judged {
        let baseline = self.baseline.as_ref().and_then(|baseline| baseline.get(name));
        let word = Word::against(did, baseline);
        let said = baseline.map(|baseline| format!("the baseline says {baseline}"));
        if !word.is_success() && self.flakes.matches(name) {
            return Judged { standing: Standing::KnownFlake, word: Word::KnownFlake, why: said };
        }
        let standing = match word {
            Word::Did(_) if word.is_success() => Standing::Expected,
            Word::ExpectedFail | Word::Flake | Word::KnownFlake => Standing::Expected,
            Word::UnexpectedImprovement(_) => Standing::Fixed,
            Word::Missing => Standing::Missing,
            Word::Did(_) => Standing::Regression,
        };
        Judged { standing, word, why: said }
    }
}

/// Whether a run ended in the middle of a case that had not failed until then: that is no result of it.
pub(crate) fn is_cut_short(partial: bool, status: Status) -> bool {
    partial && !status.is_failure()
}

/// Which waivers a run had a use for.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaiversUsed {
    seen: BTreeSet<usize>,
    failed: BTreeSet<usize>,
}

impl WaiversUsed {
    /// Takes a case into account.
    pub(crate) fn add(&mut self, expectations: &Expectations, case: &CaseResult) {
        for index in expectations.waivers.concerning(&case.name) {
            self.seen.insert(index);
            if !Word::Did(Did::of(case.status)).is_success() {
                self.failed.insert(index);
            }
        }
    }

    /// What is to be said of the others.
    pub(crate) fn useless(&self, expectations: &Expectations) -> Vec<String> {
        expectations.waivers.useless(&self.seen, &self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{case, run};
    use assay_runner::OneRun;
    use jiff::civil::Date;
    use std::fs;

    /// A baseline, a list of flakes and waivers.
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
        let waivers = Waivers::read(&file("w.toml", waivers)).unwrap().of_run(&run(1).device, today);
        Expectations::new(Some(baseline), flakes, waivers)
    }

    #[test]
    fn results_are_held_against_all_lists() {
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
        // In the middle of what did not fail, nothing is known; a failure is one.
        for (status, standing) in [(Status::Pass, Standing::Missing), (Status::Fail, Standing::Regression)] {
            let cut = CaseResult { partial: true, ..case("p.new", status) };
            assert_eq!(expectations.judge(&cut).standing, standing, "{status:?}");
        }
        let why = |name, status| expectations.judge(&case(name, status)).why;
        assert_eq!(why("p.fails", Status::Pass).as_deref(), Some("the baseline says Fail"));
        assert_eq!(why("p.waived", Status::Fail).as_deref(), Some("I1"));
        assert!(why("p.waived", Status::Timeout).unwrap().contains("is for Fail, and this is Timeout"));
    }

    #[test]
    fn what_differs_from_run_to_run_is_a_failure_unless_it_is_known_to() {
        let flaky = |name: &str, alone: Status| {
            let run = |after, status| OneRun { after, inputs: 0, status, reason: None };
            let runs = vec![run(3, Status::Fail), run(0, alone)];
            let repeat = Some(Box::new(Repeat { verdict: Repeated::Flaky, runs, after: Vec::new() }));
            let judged = expectations().judge(&CaseResult { repeat: repeat.clone(), ..case(name, Status::Fail) });
            // A check stands as a case does.
            let check = CheckResult { name: name.to_owned(), repeat, ..crate::testing::check(Status::Fail) };
            assert_eq!(expectations().judge_check(&check), judged);
            (judged.standing, judged.word.to_string(), judged.standing.is_success())
        };
        assert_eq!(flaky("p.new", Status::Pass), (Standing::Flaky, "Flake".to_owned(), false));
        // deqp-runner takes `Flake` for a success: not of what never was one.
        assert_eq!(flaky("p.new", Status::Fail), (Standing::Flaky, "Fail".to_owned(), false));
        assert_eq!(flaky("p.new", Status::Crash), (Standing::Flaky, "Fail".to_owned(), false));
        // No waiver is for what differs from run to run.
        assert_eq!(flaky("p.waived", Status::Pass), (Standing::Flaky, "Flake".to_owned(), false));
        assert_eq!(flaky("p.flaky.a", Status::Pass), (Standing::KnownFlake, "KnownFlake".to_owned(), true));
    }

    #[test]
    fn without_lists_every_failure_is_a_regression() {
        let none = Expectations::default();
        assert!(!none.are_any() && expectations().are_any());
        assert_eq!(none.judge(&case("p.a", Status::Fail)).standing, Standing::Regression);
        assert_eq!(none.judge(&case("p.a", Status::Pass)).standing, Standing::Expected);
    }
}
