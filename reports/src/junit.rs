//! `junit.xml` for CI systems: a test suite for each suite of cases, a test case for each case.
//!
//! The file is valid against the schema of Jenkins' xUnit plugin (`junit-10.xsd`), which is
//! stricter than other readers. Its test cases have no properties, so the path of a case that did
//! not run natively is a line of its `system-out`.
//!
//! A result that does not meet the lab's expectations is a failure, or an error if the case ended
//! without a verdict. Its text contains the causes of the failure, and the commands that derive the
//! permitted results and that repeat the case. Cases that did not run and expected failures are skipped, with a reason. The
//! type of each of these is Assay's status, or the word that a list of the lab gives it.
//!
//! The `quick-junit` crate writes such files, too, but keeps all cases in memory and writes
//! attributes that the schema does not allow. Only its filter for characters that XML cannot
//! represent is used here.

use crate::{
    case_table::{CaseNotes, CaseRow},
    cause_text,
    causes::Causes,
    deqp::{DeqpStatus, TestStatus},
    suite,
};
use assay_events::{RunInfo, Status, rerun_command};
use jiff::Timestamp;
use quick_junit::XmlString;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event},
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// Kind of a case in JUnit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JunitKind {
    Success,
    Skipped,
    Failure,
    Error,
}

impl JunitKind {
    fn of(row: &CaseRow<'_>) -> JunitKind {
        match row.word {
            // deqp-runner has no word for it.
            DeqpStatus::Test(_) if row.notes.status == Some(Status::InternalError) => JunitKind::Error,
            DeqpStatus::Test(TestStatus::Pass | TestStatus::Warn) => JunitKind::Success,
            DeqpStatus::Test(TestStatus::Skip) | DeqpStatus::ExpectedFail | DeqpStatus::KnownFlake => {
                JunitKind::Skipped
            }
            // deqp-runner counts `Flake` as success; Assay does not.
            DeqpStatus::Test(TestStatus::Fail) | DeqpStatus::UnexpectedImprovement(_) | DeqpStatus::Flake => {
                JunitKind::Failure
            }
            DeqpStatus::Test(TestStatus::Crash | TestStatus::Timeout) | DeqpStatus::Missing => JunitKind::Error,
        }
    }

    /// Returns the element of the kind.
    fn tag(self) -> Option<&'static str> {
        match self {
            JunitKind::Success => None,
            JunitKind::Skipped => Some("skipped"),
            JunitKind::Failure => Some("failure"),
            JunitKind::Error => Some("error"),
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
    fn add(&mut self, kind: JunitKind) {
        self.tests += 1;
        match kind {
            JunitKind::Success => {}
            JunitKind::Skipped => self.skipped += 1,
            JunitKind::Failure => self.failures += 1,
            JunitKind::Error => self.errors += 1,
        }
    }
}

/// Writes `junit.xml`. The rows are iterated twice, and once more for each suite whose rows are not
/// contiguous.
pub(crate) fn write<'a, R: Iterator<Item = CaseRow<'a>>>(
    out: &mut dyn Write,
    run: &RunInfo,
    causes: &Causes,
    rows: impl Fn() -> R,
) -> io::Result<()> {
    let (mut all, mut time) = (Counts::default(), 0.0);
    // Counts by suite, with the positions of the first and last row.
    let mut suites: BTreeMap<&str, (Counts, usize, usize)> = BTreeMap::new();
    for (place, row) in rows().enumerate() {
        let kind = JunitKind::of(&row);
        all.add(kind);
        time += f64::from(row.seconds);
        let (counts, _, last) = suites.entry(suite(row.name)).or_insert((Counts::default(), place, place));
        counts.add(kind);
        *last = place;
    }
    let mut writer = Writer::new_with_indent(out, b' ', 4);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut tag = BytesStart::new("testsuites");
    text(&mut tag, "name", &format!("assay, {}", run.device.name));
    number(&mut tag, [("tests", all.tests), ("failures", all.failures), ("errors", all.errors)]);
    seconds(&mut tag, time);
    writer.write_event(Event::Start(tag))?;
    let started = started(run);
    // Both rows and suites are sorted by name, so the rows of a suite are nearly always contiguous.
    let (mut coming, mut at) = (rows(), 0);
    for (name, (counts, first, last)) in suites {
        let mut tag = BytesStart::new("testsuite");
        text(&mut tag, "name", name);
        number(&mut tag, [("tests", counts.tests), ("skipped", counts.skipped)]);
        number(&mut tag, [("errors", counts.errors), ("failures", counts.failures)]);
        text(&mut tag, "timestamp", &started);
        text(&mut tag, "hostname", &run.host);
        writer.write_event(Event::Start(tag))?;
        let length = last - first + 1;
        if length as u64 == counts.tests && first >= at {
            for row in coming.by_ref().skip(first - at).take(length) {
                case(&mut writer, run, causes, name, &row)?;
            }
            at = last + 1;
        } else {
            for row in rows().filter(|row| suite(row.name) == name) {
                case(&mut writer, run, causes, name, &row)?;
            }
        }
        writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writer.write_indent()
}

/// Returns the start time in whole seconds, as other JUnit writers do.
fn started(run: &RunInfo) -> String {
    let whole = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    run.started.parse().map_or_else(|_| run.started.clone(), whole)
}

fn case<W: Write>(
    writer: &mut Writer<W>,
    run: &RunInfo,
    causes: &Causes,
    suite: &str,
    row: &CaseRow<'_>,
) -> io::Result<()> {
    let mut tag = BytesStart::new("testcase");
    text(&mut tag, "name", row.name);
    text(&mut tag, "classname", suite);
    seconds(&mut tag, f64::from(row.seconds));
    let kind = JunitKind::of(row);
    let CaseNotes { reason, path, explain, status, causes: set } = row.notes;
    if kind.tag().is_none() && path.is_none() {
        return writer.write_event(Event::Empty(tag));
    }
    writer.write_event(Event::Start(tag))?;
    if let Some(name) = kind.tag() {
        let mut tag = BytesStart::new(name);
        if let Some(reason) = reason {
            text(&mut tag, "message", reason);
        }
        let ty = match (row.word, status) {
            (DeqpStatus::Test(_), Some(status)) => format!("{status:?}"),
            (word, _) => word.to_string(),
        };
        text(&mut tag, "type", &ty);
        if matches!(kind, JunitKind::Failure | JunitKind::Error) {
            let derivation = explain.map_or_else(String::new, |command| format!("permitted results: {command}\n"));
            let those = causes.of(set).iter().map(|&at| &causes.list[at]);
            let those = those.map(|cause| {
                format!(
                    "cause: {}, {}; simplest case {}\n",
                    cause.title,
                    cause_text::extent(cause),
                    cause.representative.case
                )
            });
            let body =
                format!("{}{derivation}reproduce: {}\n", those.collect::<String>(), rerun_command(run, row.name));
            element(writer, tag, &body)?;
        } else {
            writer.write_event(Event::Empty(tag))?;
        }
    }
    if let Some(path) = path {
        element(writer, BytesStart::new("system-out"), &format!("path: {path}\n"))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// Writes an element that contains text.
fn element<W: Write>(writer: &mut Writer<W>, tag: BytesStart<'_>, text: &str) -> io::Result<()> {
    let end = tag.to_end().into_owned();
    writer.write_event(Event::Start(tag))?;
    writer.write_event(Event::Text(BytesText::new(XmlString::new(text).as_str())))?;
    writer.write_event(Event::End(end))
}

/// Adds an attribute, without characters that XML cannot represent.
fn text(tag: &mut BytesStart<'_>, name: &str, value: &str) {
    tag.push_attribute((name, XmlString::new(value).as_str()));
}

fn number<const N: usize>(tag: &mut BytesStart<'_>, attributes: [(&str, u64); N]) {
    for (name, value) in attributes {
        tag.push_attribute((name, value.to_string().as_str()));
    }
}

/// Adds a non-negative time with three decimals.
fn seconds(tag: &mut BytesStart<'_>, seconds: f64) {
    let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    tag.push_attribute(("time", format!("{seconds:.3}").as_str()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{causes::CauseSet, test_events};
    use roxmltree::{Document, Node};

    fn text(rows: &[CaseRow<'_>]) -> String {
        let mut run = test_events::run(rows.len());
        run.device.name = "a \"device\" & more".to_owned();
        let mut bytes = Vec::new();
        write(&mut bytes, &run, &Causes::default(), || rows.iter().copied()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    const WORDS: [&str; 10] =
        ["Pass", "Warn", "Skip", "Fail", "Crash", "Timeout", "Missing", "ExpectedFail", "KnownFlake", "Flake"];

    /// Element of the schema of Jenkins' xUnit plugin (`junit-10.xsd`).
    struct Element {
        name: &'static str,
        required: &'static [&'static str],
        optional: &'static [&'static str],
        children: &'static [&'static str],
        text: bool,
    }

    /// The elements in use, with everything that the schema allows in them.
    const SCHEMA: [Element; 7] = [
        Element {
            name: "testsuites",
            required: &[],
            optional: &["name", "time", "tests", "failures", "errors"],
            children: &["testsuite"],
            text: false,
        },
        Element {
            name: "testsuite",
            required: &["name", "tests", "failures", "errors"],
            optional: &[
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
                "version",
            ],
            children: &["testsuite", "properties", "testcase", "system-out", "system-err"],
            text: false,
        },
        Element {
            name: "testcase",
            required: &["name"],
            optional: &["time", "classname", "group"],
            children: &["skipped", "error", "failure", "system-out", "system-err"],
            text: false,
        },
        Element { name: "failure", required: &[], optional: &["type", "message"], children: &[], text: true },
        Element { name: "error", required: &[], optional: &["type", "message"], children: &[], text: true },
        Element { name: "skipped", required: &[], optional: &["type", "message"], children: &[], text: true },
        Element { name: "system-out", required: &[], optional: &[], children: &[], text: true },
    ];

    /// Returns the violations of the schema in a document.
    fn schema_violations(document: &Document<'_>) -> Vec<String> {
        let mut said = Vec::new();
        for node in document.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            let Some(element) = SCHEMA.iter().find(|element| element.name == name) else {
                said.push(format!("<{name}>"));
                continue;
            };
            let known =
                |attribute: &str| element.required.contains(&attribute) || element.optional.contains(&attribute);
            let unknown = node.attributes().filter(|a| !known(a.name()));
            said.extend(unknown.map(|a| format!("<{name} {}>", a.name())));
            let missing = element.required.iter().filter(|name| !node.has_attribute(**name));
            said.extend(missing.map(|attribute| format!("<{name}> without {attribute}")));
            let children = node.children().filter(Node::is_element).map(|child| child.tag_name().name());
            let children = children.filter(|child| !element.children.contains(child));
            said.extend(children.map(|child| format!("<{child}> in <{name}>")));
            let texts = node.children().filter(Node::is_text).filter_map(|child| child.text());
            if !element.text && texts.into_iter().any(|text| !text.trim().is_empty()) {
                said.push(format!("text in <{name}>"));
            }
            // `SUREFIRE_TIME`: digits with at most three decimals.
            if let Some(time) = node.attribute("time") {
                let (whole, decimals) = time.split_once('.').unwrap_or((time, ""));
                let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
                    said.push(format!("<{name} time=\"{time}\">"));
                }
            }
        }
        said
    }

    /// Rows of every status. The rows of the second suite interrupt those of the first, and some
    /// names and reasons need escaping or cannot be represented in XML.
    fn rows() -> Vec<CaseRow<'static>> {
        let names = ["p.f32", "p.f32-1.a", "p.f32.\"<b>\n", "p.f32.c&", "q", "q.\u{1}\u{1b}[31mred.x\u{e4}"];
        let reasons = [None, Some("a\nb\t<&>\"'\u{7}\u{1b}[0m"), Some("")];
        let row = |(at, word): (usize, &&str)| CaseRow {
            name: names[at * names.len() / (2 * WORDS.len())],
            word: word.parse().unwrap(),
            seconds: at as f32 * 1000.0 / 3.0,
            notes: CaseNotes {
                reason: reasons[at % 3],
                path: [None, Some("lowered")][at / 3 % 2],
                explain: [None, Some("assay explain Exp2 --in '<1>'")][at % 2],
                status: None,
                causes: CauseSet::default(),
            },
        };
        WORDS.iter().chain(&WORDS).enumerate().map(row).collect()
    }

    #[test]
    fn the_file_is_valid_against_the_schema_of_jenkins() {
        for rows in [Vec::new(), rows()] {
            let text = text(&rows);
            let document = Document::parse(&text).unwrap();
            assert_eq!(schema_violations(&document), [""; 0], "{text}");
            let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
            assert_eq!(cases.count(), rows.len());
        }
        // The check can fail: `quick-junit` writes this.
        let other = "<testsuites skipped=\"0\"><testsuite name=\"a\" tests=\"1\" errors=\"0\">a<testcase name=\"b\" time=\"1e3\">\
                     <properties/></testcase></testsuite></testsuites>";
        let expected = [
            "<testsuites skipped>",
            "<testsuite> without failures",
            "text in <testsuite>",
            "<properties> in <testcase>",
            "<testcase time=\"1e3\">",
            "<properties>",
        ];
        assert_eq!(schema_violations(&Document::parse(other).unwrap()), expected);
    }

    #[test]
    fn suites_have_a_time_and_host_and_failures_a_command_to_repeat_them() {
        let text = text(&rows());
        let document = Document::parse(&text).unwrap();
        for suite in document.descendants().filter(|node| node.has_tag_name("testsuite")) {
            assert_eq!(suite.attribute("timestamp"), Some("2026-11-21T11:21:47Z"));
            assert_eq!(suite.attribute("hostname"), Some("node1"));
        }
        let again =
            format!("reproduce: assay run 'p.f32.\"<b>\n' --device {} --budget quick --seed 0\n", "00".repeat(16));
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        // Cases are listed under their suites.
        let mut rows = rows();
        rows.sort_by_key(|row| suite(row.name));
        for (case, row) in cases.zip(rows) {
            let of = |name: &str| {
                case.children().find(|node| node.has_tag_name(name)).map(|node| node.text().unwrap_or_default())
            };
            let output = row.notes.path.map(|path| format!("path: {path}\n"));
            assert_eq!(of("system-out"), output.as_deref(), "{row:?}");
            let Some(said) = of("failure").or(of("error")) else { continue };
            let derivation = row.notes.explain.map_or_else(String::new, |line| format!("permitted results: {line}\n"));
            assert!(said.starts_with(&derivation) && said[derivation.len()..].starts_with("reproduce: "), "{said}");
            assert!(row.name != "p.f32.\"<b>\n" || said.ends_with(&again), "{said}");
        }
        assert!(text.contains("permitted results: assay explain Exp2 --in &apos;&lt;1&gt;&apos;"), "{text}");
    }

    #[test]
    fn statuses_map_to_elements_of_junit() {
        let names: Vec<String> = WORDS.iter().map(|word| format!("p.f32.{word}")).collect();
        let whys: Vec<String> = names.iter().map(|name| format!("<{name}> & \"why\"")).collect();
        let said = |reason| CaseNotes { reason, ..CaseNotes::default() };
        let row =
            |name, word: &str, reason| CaseRow { name, word: word.parse().unwrap(), seconds: 1.5, notes: said(reason) };
        let mut rows = vec![row("p.f16.better", "UnexpectedImprovement(Pass)", None)];
        rows.extend((0..WORDS.len()).map(|at| row(&names[at], WORDS[at], Some(&whys[at]))));
        let text = text(&rows);
        let document = Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("tests")), ("testsuites", Some("11")));
        assert_eq!((root.attribute("failures"), root.attribute("errors")), (Some("3"), Some("3")));
        let suites: Vec<_> = root.children().filter(|n| n.has_tag_name("testsuite")).collect();
        assert_eq!(suites.iter().map(|s| s.attribute("name").unwrap()).collect::<Vec<_>>(), ["p.f16", "p.f32"]);
        let of = |name: &str| {
            let case = document.descendants().find(|n| n.has_tag_name("testcase") && n.attribute("name") == Some(name));
            let case = case.unwrap();
            assert_eq!(case.attribute("time"), Some("1.500"));
            let child = case.children().find(Node::is_element);
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

    /// deqp-runner's words for these statuses are less exact.
    #[test]
    fn the_type_of_a_result_is_its_status() {
        for (status, tag) in [
            (Status::InternalError, "error"),
            (Status::DeviceLost, "error"),
            (Status::NotSupported, "skipped"),
            (Status::Undetermined, "skipped"),
        ] {
            let (word, notes) = (TestStatus::of(status), CaseNotes::of(None, "", Some(status)));
            let text = text(&[CaseRow { name: "p.f32.a", word: DeqpStatus::Test(word), seconds: 1.5, notes }]);
            assert!(text.contains(&format!("<{tag} type=\"{status:?}\"")), "{text}");
        }
    }
}
