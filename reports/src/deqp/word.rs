//! deqp-runner's words for results, and what becomes of a result against a baseline.

use assay_runner::Status;
use std::{fmt, str::FromStr};

/// What a single test did, as deqp-runner counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Did {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
    /// It was not run, or could not be.
    Skip,
    /// It ended its process, or lost the device.
    Crash,
    /// It passed with a warning.
    Warn,
    /// It took too long.
    Timeout,
}

impl Did {
    const ALL: [Did; 6] = [Did::Pass, Did::Fail, Did::Skip, Did::Crash, Did::Warn, Did::Timeout];

    /// deqp-runner's word for a status, by its own table for what dEQP reports; it has none for `Undetermined`, which like
    /// a skipped case gave no verdict.
    pub fn of(status: Status) -> Did {
        match status {
            Status::Pass => Did::Pass,
            Status::QualityWarning => Did::Warn,
            Status::Fail | Status::InternalError => Did::Fail,
            Status::NotSupported | Status::Undetermined => Did::Skip,
            Status::Crash | Status::DeviceLost => Did::Crash,
            Status::Timeout => Did::Timeout,
        }
    }

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Did::Pass => "Pass",
            Did::Fail => "Fail",
            Did::Skip => "Skip",
            Did::Crash => "Crash",
            Did::Warn => "Warn",
            Did::Timeout => "Timeout",
        }
    }
}

/// A status in deqp-runner's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Word {
    /// What the test did, as nobody expected anything else.
    Did(Did),
    /// It was to run and did not.
    Missing,
    /// It differs from run to run.
    Flake,
    /// It does what it should not, now and then, as the list of flakes says.
    KnownFlake,
    /// It fails as the baseline says.
    ExpectedFail,
    /// It does better than the baseline says.
    UnexpectedImprovement(Did),
}

impl Word {
    /// Whether deqp-runner counts it as success.
    pub fn is_success(self) -> bool {
        match self {
            Word::Did(Did::Pass | Did::Skip | Did::Warn) | Word::Flake | Word::KnownFlake | Word::ExpectedFail => true,
            Word::Did(Did::Fail | Did::Crash | Did::Timeout) | Word::Missing | Word::UnexpectedImprovement(_) => false,
        }
    }

    /// What becomes of a result that the baseline gives this word, by deqp-runner's table of combinations.
    pub fn against(did: Did, baseline: Option<Word>) -> Word {
        use Did::{Crash, Fail, Pass, Skip, Timeout, Warn};
        let Some(baseline) = baseline else { return Word::Did(did) };
        let was = |list: &[Did]| matches!(baseline, Word::Did(b) if list.contains(&b));
        let expected = baseline == Word::ExpectedFail;
        let missing = baseline == Word::Missing;
        match did {
            Fail if was(&[Fail]) || expected => Word::ExpectedFail,
            Fail if was(&[Crash, Timeout]) => Word::UnexpectedImprovement(Fail),
            Pass if was(&[Fail, Crash, Timeout]) || missing => Word::UnexpectedImprovement(Pass),
            Crash if was(&[Crash]) || expected => Word::ExpectedFail,
            Warn if was(&[Fail, Crash]) => Word::UnexpectedImprovement(Warn),
            Warn if was(&[Warn]) => Word::ExpectedFail,
            Skip if was(&[Fail, Crash, Timeout]) || missing => Word::UnexpectedImprovement(Skip),
            Timeout if was(&[Timeout]) => Word::ExpectedFail,
            Pass | Fail | Skip | Crash | Warn | Timeout => Word::Did(did),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Did(did) => f.write_str(did.name()),
            Word::Missing => f.write_str("Missing"),
            Word::Flake => f.write_str("Flake"),
            Word::KnownFlake => f.write_str("KnownFlake"),
            Word::ExpectedFail => f.write_str("ExpectedFail"),
            Word::UnexpectedImprovement(did) => write!(f, "UnexpectedImprovement({})", did.name()),
        }
    }
}

/// A text that is no status of deqp-runner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoWord;

impl FromStr for Word {
    type Err = NoWord;

    fn from_str(text: &str) -> Result<Word, NoWord> {
        let did = |name: &str| Did::ALL.into_iter().find(|did| did.name() == name);
        let improved = text.strip_prefix("UnexpectedImprovement(").and_then(|rest| rest.strip_suffix(')'));
        match text {
            "Missing" => Ok(Word::Missing),
            "Flake" => Ok(Word::Flake),
            "KnownFlake" => Ok(Word::KnownFlake),
            "ExpectedFail" => Ok(Word::ExpectedFail),
            _ => match improved {
                Some(name) => did(name).map(Word::UnexpectedImprovement),
                None => did(text).map(Word::Did),
            }
            .ok_or(NoWord),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word that there is.
    fn words() -> Vec<Word> {
        let others = [Word::Missing, Word::Flake, Word::KnownFlake, Word::ExpectedFail];
        let did = Did::ALL.into_iter().flat_map(|did| [Word::Did(did), Word::UnexpectedImprovement(did)]);
        did.chain(others).collect()
    }

    #[test]
    fn words_are_read_and_written_unchanged() {
        for word in words() {
            assert_eq!(word.to_string().parse(), Ok(word));
        }
        for wrong in ["", "pass", "Pass ", "Failed", "UnexpectedImprovement", "UnexpectedImprovement(Missing)"] {
            assert_eq!(wrong.parse::<Word>(), Err(NoWord), "{wrong}");
        }
    }

    #[test]
    fn the_table_of_combinations_is_that_of_deqp_runner() {
        // Result, baseline, outcome; every other combination leaves the result as it is.
        let changed = [
            ("Fail", "Fail", "ExpectedFail"),
            ("Fail", "ExpectedFail", "ExpectedFail"),
            ("Fail", "Crash", "UnexpectedImprovement(Fail)"),
            ("Fail", "Timeout", "UnexpectedImprovement(Fail)"),
            ("Pass", "Fail", "UnexpectedImprovement(Pass)"),
            ("Pass", "Crash", "UnexpectedImprovement(Pass)"),
            ("Pass", "Missing", "UnexpectedImprovement(Pass)"),
            ("Pass", "Timeout", "UnexpectedImprovement(Pass)"),
            ("Crash", "Crash", "ExpectedFail"),
            ("Crash", "ExpectedFail", "ExpectedFail"),
            ("Warn", "Fail", "UnexpectedImprovement(Warn)"),
            ("Warn", "Crash", "UnexpectedImprovement(Warn)"),
            ("Warn", "Warn", "ExpectedFail"),
            ("Skip", "Fail", "UnexpectedImprovement(Skip)"),
            ("Skip", "Crash", "UnexpectedImprovement(Skip)"),
            ("Skip", "Missing", "UnexpectedImprovement(Skip)"),
            ("Skip", "Timeout", "UnexpectedImprovement(Skip)"),
            ("Timeout", "Timeout", "ExpectedFail"),
        ];
        for did in Did::ALL {
            assert_eq!(Word::against(did, None), Word::Did(did));
            for baseline in words() {
                let row = changed.iter().find(|row| row.0 == did.name() && row.1 == baseline.to_string());
                let outcome = row.map_or(did.name(), |row| row.2);
                assert_eq!(Word::against(did, Some(baseline)).to_string(), outcome, "{did:?} against {baseline}");
            }
        }
    }
}
