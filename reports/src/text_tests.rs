//! Snapshots of the texts that reporters write.
//!
//! `INSTA_UPDATE=always cargo nextest run -p assay-reports --lib text_tests` writes
//! `src/snapshots/` again.

use crate::{
    ResultDir, check_text,
    diff::{MarginThreshold, diff},
    html,
    test_browser::browse,
    test_events::{case, check, console_text, folder},
};
use assay_events::{
    BindingWrites, CaseResult, CheckResult, Repeat, RepeatVerdict, Status, UnjudgedRound, WorkgroupSubset, Writes,
};
use std::{fs, path::Path};

const STATUSES: [Status; 9] = [
    Status::Pass,
    Status::QualityWarning,
    Status::Fail,
    Status::NotSupported,
    Status::Undetermined,
    Status::Crash,
    Status::Timeout,
    Status::DeviceLost,
    Status::InternalError,
];

/// Compares a text with its snapshot.
fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"/\S*/\.tmp\w+", "DIR");
    settings.bind(|| insta::assert_snapshot!(name.replace(' ', "_"), text));
}

/// One case of every status.
fn one_of_each() -> Vec<CaseResult> {
    let name = |status: Status| format!("precision.f32.exp2.scalar.{status:?}").to_lowercase();
    STATUSES.into_iter().map(|status| case(&name(status), status)).collect()
}

#[test]
fn console_of_every_status() {
    let cases = one_of_each();
    compare("console", &console_text(&cases, false, false));
    compare("console verbose", &console_text(&cases, true, false));
    compare("console interrupted", &console_text(&cases[..2], false, true));
    compare("console of passes", &console_text(&cases[..1], false, false));
    compare("console of unsupported cases", &console_text(&cases[3..4], false, false));
    compare("console of no case", &console_text(&[], false, false));
    let lowered = CaseResult { path: "lowered".into(), ..cases[0].clone() };
    let reference = CaseResult { path: "reference".into(), ..cases[0].clone() };
    compare("console of paths", &console_text(&[lowered, reference], false, false));
    let repeated = |verdict: RepeatVerdict, after: &[&str]| {
        let after = after.iter().map(|&name| name.to_owned()).collect();
        CaseResult { repeat: Some(Box::new(Repeat { verdict, runs: Vec::new(), after })), ..cases[2].clone() }
    };
    let repeated = [
        repeated(RepeatVerdict::Same, &[]),
        repeated(RepeatVerdict::Flaky, &[]),
        repeated(RepeatVerdict::InCompany, &["precision.f32.sin.scalar.default"]),
    ];
    compare("console of repeated cases", &console_text(&repeated, false, false));
}

#[test]
fn verdicts_of_checks() {
    for status in STATUSES {
        compare(&format!("check {status:?}"), &check_text(&check(status)));
    }
    let binding = BindingWrites {
        binding: "set 0 binding 0 (data)".into(),
        elements: 12_288,
        written: 5,
        falsifiable: 5,
        wide: 0,
    };
    let hollow = CheckResult {
        writes: Some(Writes::of(vec![binding])),
        unjudged: vec![UnjudgedRound { round: 0, why: "wrote nothing".into() }],
        rounds_checked: 1,
        sampled: Some(WorkgroupSubset { workgroups: 64, of: 4096, invocations: None, elements_beyond: 1 }),
        elements_checked: 1,
        elements_failing: 0,
        elements_undetermined: 1,
        instructions: 1,
        mismatches: Vec::new(),
        ..check(Status::Pass)
    };
    compare("check of few elements", &check_text(&hollow));
}

#[test]
fn junit_of_every_status() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(dir.path(), &one_of_each());
    compare("junit", &fs::read_to_string(folder.join("junit.xml")).unwrap());
    compare("failures", &fs::read_to_string(folder.join("failures.csv")).unwrap());
}

#[test]
fn differences_of_runs() {
    let dir = tempfile::tempdir().unwrap();
    let old = [
        case("p.f32.breaks", Status::Pass),
        case("p.f32.is_fixed", Status::Fail),
        case("p.f32.is_gone", Status::Pass),
        case("p.f32.is_slow", Status::Fail),
        case("p.f32.stays", Status::Pass),
    ];
    let new = [
        case("p.f32.breaks", Status::Fail),
        case("p.f32.is_fixed", Status::Pass),
        case("p.f32.is_slow", Status::Timeout),
        case("p.f32.is_new", Status::Pass),
        case("p.f32.stays", Status::Pass),
    ];
    let open = |name: &str, cases: &[CaseResult]| ResultDir::open(folder(&dir.path().join(name), cases)).unwrap();
    let (old, new) = (open("old", &old), open("new", &new));
    let text = |a: &ResultDir, b: &ResultDir| diff(a, b, MarginThreshold::default()).unwrap().text(10);
    compare("diff", &text(&old, &new));
    compare("diff of the same", &text(&old, &old));
}

/// Returns the text of a page as a browser shows it, a line for each run of text; `None` without
/// Chromium.
fn words(page: &Path) -> Option<String> {
    let html = browse(page, "", &["--virtual-time-budget=5000"])?.document;
    let mut text = String::new();
    let mut rest = html.as_str();
    while let Some(start) = rest.find('<') {
        push_line(&mut text, &rest[..start]);
        let hidden = ["script", "style", "svg"].into_iter().find(|name| rest[start + 1..].starts_with(name));
        let end = hidden.map_or(">".to_owned(), |name| format!("</{name}>"));
        let tag = &rest[start..start + rest[start..].find(&end)?];
        for attribute in ["title", "placeholder", "aria-label"] {
            let value = tag.split_once(&format!("{attribute}=\"")).and_then(|(_, value)| value.split_once('"'));
            if let Some((value, _)) = value.filter(|_| hidden.is_none()) {
                push_line(&mut text, &format!("[{attribute}: {value}]"));
            }
        }
        rest = &rest[start + tag.len() + end.len()..];
    }
    Some(text)
}

/// Appends a line of text, if it has any.
fn push_line(text: &mut String, line: &str) {
    if !line.trim().is_empty() {
        text.push_str(line.trim());
        text.push('\n');
    }
}

#[test]
fn words_of_pages() {
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str, cases: &[CaseResult]| ResultDir::open(folder(&dir.path().join(name), cases)).unwrap();
    let run = open("run", &one_of_each());
    let other = open("other", &one_of_each()[..2]);
    let page = dir.path().join("report.html");
    html::Page::read(&[run], &|_| None).unwrap().write(fs::File::create(&page).unwrap()).unwrap();
    let changes = diff(&open("again", &one_of_each()), &other, MarginThreshold::default()).unwrap();
    let difference = dir.path().join("diff.html");
    html::diff_page(fs::File::create(&difference).unwrap(), &changes).unwrap();
    for (name, page) in [("page report", page), ("page diff", difference)] {
        let Some(words) = words(&page) else { return };
        compare(name, &words);
    }
}
