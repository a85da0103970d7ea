//! `junit.xml`, as CI systems read it: a test suite for each suite of cases, a test case for each case.
//!
//! What is not a success against the lab's expectations is a failure, or an error where the case ended without a verdict;
//! what was not run, and failures that are expected, are skipped and say why. What ran on another path than the native one has that as
//! the property `path`.
//!
//! `quick-junit` writes such files too, and would keep a million cases in memory for it. Here they are written as they come;
//! the bytes are the same, which a test sees to.

use crate::{
    deqp::{Did, Word},
    ledger::{Row, Said},
    suite,
};
use quick_junit::XmlString;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, Event},
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// What a case is for JUnit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Success,
    Skipped,
    Failure,
    Error,
}

impl Kind {
    fn of(word: Word) -> Kind {
        match word {
            Word::Did(Did::Pass | Did::Warn) => Kind::Success,
            Word::Did(Did::Skip) | Word::ExpectedFail | Word::KnownFlake => Kind::Skipped,
            // A success for deqp-runner, and none for the run.
            Word::Did(Did::Fail) | Word::UnexpectedImprovement(_) | Word::Flake => Kind::Failure,
            Word::Did(Did::Crash | Did::Timeout) | Word::Missing => Kind::Error,
        }
    }

    /// The element that says so.
    fn tag(self) -> Option<&'static str> {
        match self {
            Kind::Success => None,
            Kind::Skipped => Some("skipped"),
            Kind::Failure => Some("failure"),
            Kind::Error => Some("error"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: u64,
    skipped: u64,
    failures: u64,
    errors: u64,
}

impl Counts {
    fn add(&mut self, kind: Kind) {
        self.tests += 1;
        match kind {
            Kind::Success => {}
            Kind::Skipped => self.skipped += 1,
            Kind::Failure => self.failures += 1,
            Kind::Error => self.errors += 1,
        }
    }
}

/// Writes `junit.xml`. The rows are gone through twice, and once more for each suite whose rows do not lie together.
pub(crate) fn write<'a, R: Iterator<Item = Row<'a>>>(
    out: &mut dyn Write,
    title: &str,
    rows: impl Fn() -> R,
) -> io::Result<()> {
    let (mut all, mut time) = (Counts::default(), 0.0);
    // By suite: its counts, and where in the order of the rows its first and its last one stand.
    let mut suites: BTreeMap<&str, (Counts, usize, usize)> = BTreeMap::new();
    for (place, row) in rows().enumerate() {
        let kind = Kind::of(row.word);
        all.add(kind);
        time += f64::from(row.seconds);
        let (counts, _, last) = suites.entry(suite(row.name)).or_insert((Counts::default(), place, place));
        counts.add(kind);
        *last = place;
    }
    let mut writer = Writer::new_with_indent(out, b' ', 4);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut tag = BytesStart::new("testsuites");
    tag.push_attribute(("name", XmlString::new(title).as_str()));
    number(
        &mut tag,
        [("tests", all.tests), ("skipped", all.skipped), ("failures", all.failures), ("errors", all.errors)],
    );
    seconds(&mut tag, time);
    writer.write_event(Event::Start(tag))?;
    // The rows are by name, and so are the suites: nearly always they follow each other in both.
    let (mut coming, mut at) = (rows(), 0);
    for (name, (counts, first, last)) in suites {
        let mut tag = BytesStart::new("testsuite");
        tag.push_attribute(("name", XmlString::new(name).as_str()));
        number(&mut tag, [("tests", counts.tests), ("skipped", counts.skipped)]);
        number(&mut tag, [("errors", counts.errors), ("failures", counts.failures)]);
        writer.write_event(Event::Start(tag))?;
        let length = last - first + 1;
        if length as u64 == counts.tests && first >= at {
            for row in coming.by_ref().skip(first - at).take(length) {
                case(&mut writer, name, &row)?;
            }
            at = last + 1;
        } else {
            for row in rows().filter(|row| suite(row.name) == name) {
                case(&mut writer, name, &row)?;
            }
        }
        writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writer.write_indent()
}

fn case<W: Write>(writer: &mut Writer<W>, suite: &str, row: &Row<'_>) -> io::Result<()> {
    let mut tag = BytesStart::new("testcase");
    tag.push_attribute(("name", XmlString::new(row.name).as_str()));
    tag.push_attribute(("classname", XmlString::new(suite).as_str()));
    seconds(&mut tag, f64::from(row.seconds));
    let (said, Said { reason, path }) = (Kind::of(row.word).tag(), row.said);
    if said.is_none() && path.is_none() {
        return writer.write_event(Event::Empty(tag));
    }
    writer.write_event(Event::Start(tag))?;
    if let Some(path) = path {
        writer.write_event(Event::Start(BytesStart::new("properties")))?;
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", "path"));
        property.push_attribute(("value", XmlString::new(path).as_str()));
        writer.write_event(Event::Empty(property))?;
        writer.write_event(Event::End(BytesEnd::new("properties")))?;
    }
    if let Some(said) = said {
        let mut status = BytesStart::new(said);
        if let Some(reason) = reason {
            status.push_attribute(("message", XmlString::new(reason).as_str()));
        }
        status.push_attribute(("type", row.word.to_string().as_str()));
        writer.write_event(Event::Empty(status))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

fn number<const N: usize>(tag: &mut BytesStart<'_>, attributes: [(&str, u64); N]) {
    for (name, value) in attributes {
        tag.push_attribute((name, value.to_string().as_str()));
    }
}

/// Times are at least 0, to three digits.
fn seconds(tag: &mut BytesStart<'_>, seconds: f64) {
    let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    tag.push_attribute(("time", format!("{seconds:.3}").as_str()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
    use std::time::Duration;

    fn text(rows: &[Row<'_>]) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes, "assay, a \"device\" & more", || rows.iter().copied()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The same by the library.
    fn by_quick_junit(rows: &[Row<'_>]) -> String {
        let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
        for row in rows {
            let mut status = match Kind::of(row.word) {
                Kind::Success => TestCaseStatus::success(),
                Kind::Skipped => TestCaseStatus::skipped(),
                Kind::Failure => TestCaseStatus::non_success(NonSuccessKind::Failure),
                Kind::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
            };
            if Kind::of(row.word) != Kind::Success {
                status.set_type(row.word.to_string());
                row.said.reason.map(|reason| status.set_message(reason));
            }
            let mut case = TestCase::new(row.name, status);
            row.said.path.map(|path| case.add_property(("path", path)));
            case.set_classname(suite(row.name));
            case.set_time(Duration::from_secs_f32(row.seconds));
            suites.entry(suite(row.name)).or_insert_with(|| TestSuite::new(suite(row.name))).add_test_case(case);
        }
        let mut report = Report::new("assay, a \"device\" & more");
        report.set_time(Duration::from_secs_f64(rows.iter().map(|row| f64::from(row.seconds)).sum()));
        report.add_test_suites(suites.into_values());
        report.to_string().unwrap()
    }

    const WORDS: [&str; 10] =
        ["Pass", "Warn", "Skip", "Fail", "Crash", "Timeout", "Missing", "ExpectedFail", "KnownFlake", "Flake"];

    #[test]
    fn the_bytes_are_those_of_the_library() {
        assert_eq!(text(&[]), by_quick_junit(&[]));
        // The second suite lies in the middle of the first; there are names and reasons that XML has to quote, or cannot hold.
        let names = ["p.f32", "p.f32-1.a", "p.f32.\"<b>\n", "p.f32.c&", "q", "q.\u{1}\u{1b}[31mred.x\u{e4}"];
        let reasons = [None, Some("a\nb\t<&>\"'\u{7}\u{1b}[0m"), Some("")];
        let mut rows = Vec::new();
        for (at, word) in WORDS.iter().chain(&WORDS).enumerate() {
            rows.push(Row {
                name: names[at * names.len() / (2 * WORDS.len())],
                word: word.parse().unwrap(),
                seconds: at as f32 / 3.0,
                said: Said { reason: reasons[at % 3], path: [None, Some("lowered")][at / 3 % 2] },
            });
        }
        assert_eq!(text(&rows), by_quick_junit(&rows));
    }

    #[test]
    fn statuses_are_those_of_junit() {
        let names: Vec<String> = WORDS.iter().map(|word| format!("p.f32.{word}")).collect();
        let whys: Vec<String> = names.iter().map(|name| format!("<{name}> & \"why\"")).collect();
        let said = |reason| Said { reason, path: None };
        let row =
            |name, word: &str, reason| Row { name, word: word.parse().unwrap(), seconds: 1.5, said: said(reason) };
        let mut rows = vec![row("p.f16.better", "UnexpectedImprovement(Pass)", None)];
        rows.extend((0..WORDS.len()).map(|at| row(&names[at], WORDS[at], Some(&whys[at]))));
        let text = text(&rows);
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("tests")), ("testsuites", Some("11")));
        assert_eq!((root.attribute("failures"), root.attribute("errors")), (Some("3"), Some("3")));
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
        let expected = [
            ("Skip", "skipped"),
            ("Fail", "failure"),
            ("Flake", "failure"),
            ("Crash", "error"),
            ("ExpectedFail", "skipped"),
            ("KnownFlake", "skipped"),
        ];
        for (word, tag) in expected {
            let why = format!("<p.f32.{word}> & \"why\"");
            assert_eq!(of(&format!("p.f32.{word}")), Some((tag.to_owned(), Some(word), Some(why.as_str()))));
        }
        assert_eq!(of("p.f16.better").unwrap().0, "failure");
    }
}
