//! Statuses of deqp-runner, and its comparison of a result with a baseline.

use assay_events::Status;
use std::{fmt, str::FromStr};

/// Status of a single test, without a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TestStatus {
    /// The test passed.
    Pass,
    /// The test failed.
    Fail,
    /// The test did not run or gave no verdict.
    Skip,
    /// The test process ended, or the device was lost.
    Crash,
    /// The test passed with a warning.
    Warn,
    /// The test exceeded its time limit.
    Timeout,
}

impl TestStatus {
    const ALL: [TestStatus; 6] = [
        TestStatus::Pass,
        TestStatus::Fail,
        TestStatus::Skip,
        TestStatus::Crash,
        TestStatus::Warn,
        TestStatus::Timeout,
    ];

    /// Maps a status of Assay as deqp-runner maps dEQP's. `Undetermined` has no equivalent there;
    /// like a skipped case it gives no verdict.
    pub fn of(status: Status) -> TestStatus {
        match status {
            Status::Pass => TestStatus::Pass,
            Status::QualityWarning => TestStatus::Warn,
            Status::Fail | Status::InternalError => TestStatus::Fail,
            Status::NotSupported | Status::Undetermined => TestStatus::Skip,
            Status::Crash | Status::DeviceLost => TestStatus::Crash,
            Status::Timeout => TestStatus::Timeout,
        }
    }

    /// Returns the name in deqp-runner's files.
    pub fn name(self) -> &'static str {
        match self {
            TestStatus::Pass => "Pass",
            TestStatus::Fail => "Fail",
            TestStatus::Skip => "Skip",
            TestStatus::Crash => "Crash",
            TestStatus::Warn => "Warn",
            TestStatus::Timeout => "Timeout",
        }
    }
}

/// Status of a test after comparison with the baseline and the list of flakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeqpStatus {
    /// The status of the test itself; the baseline says nothing else.
    Test(TestStatus),
    /// The test was planned and has no result.
    Missing,
    /// The status differs between runs.
    Flake,
    /// The test failed and is on the list of flakes.
    KnownFlake,
    /// The test failed as listed in the baseline.
    ExpectedFail,
    /// The status is better than the baseline's.
    UnexpectedImprovement(TestStatus),
}

impl DeqpStatus {
    /// Returns true if deqp-runner counts the status as success.
    pub fn is_success(self) -> bool {
        match self {
            DeqpStatus::Test(TestStatus::Pass | TestStatus::Skip | TestStatus::Warn)
            | DeqpStatus::Flake
            | DeqpStatus::KnownFlake
            | DeqpStatus::ExpectedFail => true,
            DeqpStatus::Test(TestStatus::Fail | TestStatus::Crash | TestStatus::Timeout)
            | DeqpStatus::Missing
            | DeqpStatus::UnexpectedImprovement(_) => false,
        }
    }

    /// Compares a test status with its baseline entry, by deqp-runner's table.
    pub fn compare(did: TestStatus, baseline: Option<DeqpStatus>) -> DeqpStatus {
        use TestStatus::{Crash, Fail, Pass, Skip, Timeout, Warn};
        let Some(baseline) = baseline else { return DeqpStatus::Test(did) };
        let was = |list: &[TestStatus]| matches!(baseline, DeqpStatus::Test(b) if list.contains(&b));
        let expected = baseline == DeqpStatus::ExpectedFail;
        let missing = baseline == DeqpStatus::Missing;
        match did {
            Fail if was(&[Fail]) || expected => DeqpStatus::ExpectedFail,
            Fail if was(&[Crash, Timeout]) => DeqpStatus::UnexpectedImprovement(Fail),
            Pass if was(&[Fail, Crash, Timeout]) || missing => DeqpStatus::UnexpectedImprovement(Pass),
            Crash if was(&[Crash]) || expected => DeqpStatus::ExpectedFail,
            Warn if was(&[Fail, Crash]) => DeqpStatus::UnexpectedImprovement(Warn),
            Warn if was(&[Warn]) => DeqpStatus::ExpectedFail,
            Skip if was(&[Fail, Crash, Timeout]) || missing => DeqpStatus::UnexpectedImprovement(Skip),
            Timeout if was(&[Timeout]) => DeqpStatus::ExpectedFail,
            Pass | Fail | Skip | Crash | Warn | Timeout => DeqpStatus::Test(did),
        }
    }
}

impl fmt::Display for DeqpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeqpStatus::Test(did) => f.write_str(did.name()),
            DeqpStatus::Missing => f.write_str("Missing"),
            DeqpStatus::Flake => f.write_str("Flake"),
            DeqpStatus::KnownFlake => f.write_str("KnownFlake"),
            DeqpStatus::ExpectedFail => f.write_str("ExpectedFail"),
            DeqpStatus::UnexpectedImprovement(did) => write!(f, "UnexpectedImprovement({})", did.name()),
        }
    }
}

/// Error for a text that is not a status of deqp-runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownStatus;

impl FromStr for DeqpStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<DeqpStatus, UnknownStatus> {
        let did = |name: &str| TestStatus::ALL.into_iter().find(|did| did.name() == name);
        let improved = text.strip_prefix("UnexpectedImprovement(").and_then(|rest| rest.strip_suffix(')'));
        match text {
            "Missing" => Ok(DeqpStatus::Missing),
            "Flake" => Ok(DeqpStatus::Flake),
            "KnownFlake" => Ok(DeqpStatus::KnownFlake),
            "ExpectedFail" => Ok(DeqpStatus::ExpectedFail),
            _ => match improved {
                Some(name) => did(name).map(DeqpStatus::UnexpectedImprovement),
                None => did(text).map(DeqpStatus::Test),
            }
            .ok_or(UnknownStatus),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every status.
    fn words() -> Vec<DeqpStatus> {
        let others = [DeqpStatus::Missing, DeqpStatus::Flake, DeqpStatus::KnownFlake, DeqpStatus::ExpectedFail];
        let did =
            TestStatus::ALL.into_iter().flat_map(|did| [DeqpStatus::Test(did), DeqpStatus::UnexpectedImprovement(did)]);
        did.chain(others).collect()
    }

    #[test]
    fn statuses_survive_formatting_and_parsing() {
        for word in words() {
            assert_eq!(word.to_string().parse(), Ok(word));
        }
        for wrong in ["", "pass", "Pass ", "Failed", "UnexpectedImprovement", "UnexpectedImprovement(Missing)"] {
            assert_eq!(wrong.parse::<DeqpStatus>(), Err(UnknownStatus), "{wrong}");
        }
    }

    #[test]
    fn comparison_with_a_baseline_follows_deqp_runner() {
        // Test status, baseline, outcome. All other combinations keep the test status.
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
        for did in TestStatus::ALL {
            assert_eq!(DeqpStatus::compare(did, None), DeqpStatus::Test(did));
            for baseline in words() {
                let row = changed.iter().find(|row| row.0 == did.name() && row.1 == baseline.to_string());
                let outcome = row.map_or(did.name(), |row| row.2);
                assert_eq!(DeqpStatus::compare(did, Some(baseline)).to_string(), outcome, "{did:?} against {baseline}");
            }
        }
    }
}
