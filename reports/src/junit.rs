//! `junit.xml`, as CI systems read it: a test suite for each suite of cases, a test case for each case.
//!
//! What is not a success against the lab's expectations is a failure, or an error where the case ended without a verdict;
//! what was not run, and failures that are expected, are skipped and say why.

use crate::{
    deqp::{Did, Word},
    suite,
};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::{collections::BTreeMap, time::Duration};

/// A case in `junit.xml`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) word: Word,
    pub(crate) seconds: f64,
    /// Why it has its status.
    pub(crate) reason: Option<String>,
}

/// The text of `junit.xml`.
///
/// # Errors
/// The library cannot write it.
pub(crate) fn text(title: &str, rows: &[Row]) -> Result<String, quick_junit::SerializeError> {
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    for row in rows {
        let mut case = TestCase::new(row.name.as_str(), status(row));
        case.set_classname(suite(&row.name));
        case.set_time(Duration::try_from_secs_f64(row.seconds).unwrap_or_default());
        suites.entry(suite(&row.name)).or_insert_with(|| TestSuite::new(suite(&row.name))).add_test_case(case);
    }
    let mut report = Report::new(title);
    report.set_time(Duration::try_from_secs_f64(rows.iter().map(|row| row.seconds).sum()).unwrap_or_default());
    report.add_test_suites(suites.into_values());
    report.to_string()
}

fn status(row: &Row) -> TestCaseStatus {
    let mut status = match row.word {
        Word::Did(Did::Pass | Did::Warn) => return TestCaseStatus::success(),
        Word::Did(Did::Skip) | Word::ExpectedFail | Word::KnownFlake | Word::Flake => TestCaseStatus::skipped(),
        Word::Did(Did::Fail) | Word::UnexpectedImprovement(_) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Word::Did(Did::Crash | Did::Timeout) | Word::Missing => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_type(row.word.to_string());
    if let Some(reason) = &row.reason {
        status.set_message(reason.as_str());
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, word: &str) -> Row {
        let word = word.parse().unwrap();
        Row { name: name.to_owned(), word, seconds: 1.5, reason: Some(format!("<{name}> & \"why\"")) }
    }

    #[test]
    fn statuses_are_those_of_junit() {
        let words = ["Pass", "Warn", "Skip", "Fail", "Crash", "Timeout", "Missing", "ExpectedFail", "KnownFlake"];
        let mut rows: Vec<Row> = words.iter().map(|word| row(&format!("p.f32.{word}"), word)).collect();
        rows.push(row("p.f16.better", "UnexpectedImprovement(Pass)"));
        let text = text("assay, a device", &rows).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("tests")), ("testsuites", Some("10")));
        assert_eq!((root.attribute("failures"), root.attribute("errors")), (Some("2"), Some("3")));
        let suites: Vec<_> = root.children().filter(|n| n.has_tag_name("testsuite")).collect();
        assert_eq!(suites.iter().map(|s| s.attribute("name").unwrap()).collect::<Vec<_>>(), ["p.f16", "p.f32"]);
        let of = |name: &str| {
            let case = document.descendants().find(|n| n.has_tag_name("testcase") && n.attribute("name") == Some(name));
            let case = case.unwrap();
            assert_eq!(case.attribute("time"), Some("1.500"));
            let child = case.children().find(roxmltree::Node::is_element);
            child.map(|c| (c.tag_name().name().to_owned(), c.attribute("type"), c.attribute("message")))
        };
        assert_eq!(of("p.f32.Pass"), None);
        assert_eq!(of("p.f32.Warn"), None);
        let expected = [("Skip", "skipped"), ("Fail", "failure"), ("Crash", "error"), ("ExpectedFail", "skipped")];
        for (word, tag) in expected {
            let why = format!("<p.f32.{word}> & \"why\"");
            assert_eq!(of(&format!("p.f32.{word}")), Some((tag.to_owned(), Some(word), Some(why.as_str()))));
        }
        assert_eq!(of("p.f16.better").unwrap().0, "failure");
    }
}
