//! deqp-runner's files, read and written exactly as it does, so that labs can go on using what they have.
//!
//! No header, no quoting, sorted by name. `failures.csv` of one run is the baseline of the next.

mod lists;
mod word;

pub use lists::{Baseline, Line, ListError, Patterns, case_list};
pub use word::{Did, NoWord, Word};

use std::collections::BTreeMap;
use std::fmt::Write;

/// What `results.csv` and `failures.csv` hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    cases: BTreeMap<String, (Word, f32)>,
}

impl Rows {
    /// Adds a row. A name has no comma and no line break: what reads these files knows no quoting.
    pub(crate) fn insert(&mut self, name: &str, word: Word, wall: f64) {
        let seconds = if matches!(word, Word::Did(Did::Skip) | Word::Missing) { 0.0 } else { wall as f32 };
        self.cases.insert(plain(name), (word, seconds));
    }

    /// Adds a row for a case that was not run, unless it has one.
    pub(crate) fn without_result(&mut self, name: &str, word: Word) {
        self.cases.entry(plain(name)).or_insert((word, 0.0));
    }

    /// The text of `results.csv`: `name,status,seconds`.
    pub(crate) fn results(&self) -> String {
        let mut text = String::new();
        for (name, (word, seconds)) in &self.cases {
            _ = writeln!(text, "{name},{word},{seconds}");
        }
        text
    }

    /// The text of `failures.csv`: `name,status` for what deqp-runner does not count as success.
    pub(crate) fn failures(&self) -> String {
        let mut text = String::new();
        for (name, (word, _)) in self.cases.iter().filter(|(_, (word, _))| !word.is_success()) {
            _ = writeln!(text, "{name},{word}");
        }
        text
    }
}

/// A name without what would end it in a file without quoting.
pub(crate) fn plain(name: &str) -> String {
    name.replace([',', '\n', '\r'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_runner::Status;

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
            rows.insert(name, Word::Did(Did::of(status)), 1.5);
        }
        rows.insert("p.h", Word::ExpectedFail, 0.25);
        rows.without_result("p.i", Word::Missing);
        rows.without_result("p.h", Word::Missing);
        assert_eq!(
            rows.results(),
            "p.a,Fail,1.5\np.b,Skip,0\np.c,Warn,1.5\np.d,Crash,1.5\np.e,Timeout,1.5\np.f,Skip,0\np.g,Fail,1.5\n\
             p.h,ExpectedFail,0.25\np.i,Missing,0\np.z,Pass,1.5\n"
        );
        assert_eq!(rows.failures(), "p.a,Fail\np.d,Crash\np.e,Timeout\np.g,Fail\np.i,Missing\n");
        rows.insert("a,b\nc", Word::Did(Did::Pass), 0.0);
        assert!(rows.results().starts_with("a_b_c,Pass,0\n"));
    }
}
