//! `results.csv` and `failures.csv` exactly as deqp-runner writes them, so that labs can go on using what reads those.
//!
//! No header, no quoting, sorted by name. `failures.csv` of one run is the baseline of the next.

use assay_runner::{CaseResult, Status};
use std::collections::BTreeMap;

/// deqp-runner's word for a status, by its own table for what dEQP reports; it has none for `Undetermined`, which like a
/// skipped case gave no verdict.
fn word(status: Status) -> &'static str {
    match status {
        Status::Pass => "Pass",
        Status::QualityWarning => "Warn",
        Status::Fail | Status::InternalError => "Fail",
        Status::NotSupported | Status::Undetermined => "Skip",
        Status::Crash | Status::DeviceLost => "Crash",
        Status::Timeout => "Timeout",
    }
}

/// Collects what the two files hold.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    cases: BTreeMap<String, (&'static str, f32)>,
}

impl Rows {
    /// Adds a case.
    pub(crate) fn add(&mut self, case: &CaseResult) {
        self.insert(&case.name, case.status, case.times.wall);
    }

    /// Adds a row. A name has no comma: what reads these files knows no quoting.
    pub(crate) fn insert(&mut self, name: &str, status: Status, wall: f64) {
        let word = word(status);
        let seconds = if word == "Skip" { 0.0 } else { wall as f32 };
        self.cases.insert(name.replace(',', "_"), (word, seconds));
    }

    /// The text of `results.csv`: `name,status,seconds`.
    pub(crate) fn results(&self) -> String {
        self.cases.iter().map(|(name, (word, seconds))| format!("{name},{word},{seconds}\n")).collect()
    }

    /// The text of `failures.csv`: `name,status` for what deqp-runner does not count as success.
    pub(crate) fn failures(&self) -> String {
        let failed = self.cases.iter().filter(|(_, (word, _))| matches!(*word, "Fail" | "Crash" | "Timeout"));
        failed.map(|(name, (word, _))| format!("{name},{word}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::case;

    #[test]
    fn files_are_in_the_form_of_deqp_runner() {
        let mut rows = Rows::default();
        for (name, status) in [
            ("p.z", Status::Pass),
            ("p.a", Status::Fail),
            ("p.b", Status::NotSupported),
            ("p.c", Status::QualityWarning),
            ("p.d", Status::DeviceLost),
            ("p.e", Status::Timeout),
            ("p.f", Status::Undetermined),
            ("p.g", Status::InternalError),
        ] {
            rows.add(&case(name, status));
        }
        assert_eq!(
            rows.results(),
            "p.a,Fail,1.5\np.b,Skip,0\np.c,Warn,1.5\np.d,Crash,1.5\np.e,Timeout,1.5\np.f,Skip,0\np.g,Fail,1.5\np.z,Pass,1.5\n"
        );
        assert_eq!(rows.failures(), "p.a,Fail\np.d,Crash\np.e,Timeout\np.g,Fail\n");
    }
}
