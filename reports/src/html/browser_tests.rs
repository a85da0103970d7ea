//! Tests of the page in a real browser: `browser_tests.js` runs in the page and reports its checks.

use super::Page;
use crate::{
    ResultDir,
    diff::diff,
    test_browser::{accessibility_violations, browse, with_checks},
    test_events::{case, folder, run},
};
use assay_events::{CaseResult, Event, PictureTiles, Status, TexelGrid};
use std::{fs, io::Write, path::Path};

const CHECKS: &str = include_str!("browser_tests.js");

/// Names that would do harm as HTML, as a command, or as an address.
const HOSTILE: [&str; 3] =
    ["p.f32.<img src=x onerror=alert(1)>", "p.f32.it's \"$(here)\"; `x`", "p.f32.#case=p&filter=%41+b"];

fn cases() -> Vec<CaseResult> {
    let named = |instruction: &str, modes: &str, name: &str, status| CaseResult {
        instruction: instruction.to_owned(),
        modes: modes.to_owned(),
        ..case(name, status)
    };
    let mut cases: Vec<CaseResult> = (0..200)
        .map(|n| named("Sin", "default", &format!("p.f32.sin.{n:03}"), Status::Pass))
        .chain((0..8).map(|n| named("Exp2", "default", &format!("p.f32.exp2.{n}"), Status::Fail)))
        .chain(HOSTILE.map(|name| named("Log", "default", name, Status::Fail)))
        .chain([named("Log", "default", "p.f32.log.hangs", Status::Timeout)])
        .collect();
    cases[205].failing_inputs = 60_000;
    cases[207].picture = attachment().picture("attachment 0").map(Box::new);
    cases
}

/// Returns an attachment of 40 x 3 texels in tiles of 16 x 2 with one wrong texel, (20, 1).
fn attachment() -> TexelGrid {
    let expected: Vec<[f64; 4]> = (0..120).map(|texel| [f64::from(texel) / 8.0, -1.0, 0.0, 0.0]).collect();
    let mut got = expected.clone();
    got[60][0] = 0.1f32.into();
    TexelGrid {
        width: 40,
        wrong: (0..120).map(|texel| texel == 60).collect(),
        expected,
        got,
        channels: 2,
        tiles: Some(PictureTiles { size: [16, 2], apron: [1, 1], layer: 3 }),
        ..TexelGrid::default()
    }
}

/// Writes the page of a result directory with the changes since another one, and the checks
/// appended.
fn write_page(results: &Path, since: Option<&Path>, page: &Path, checks: &str) {
    let run = [ResultDir::open(results).unwrap()];
    let mut html = Vec::new();
    let written = Page::read(&run, &|example| Some(format!("derived by {}", example.explain_command()?))).unwrap();
    let written = match since {
        None => written,
        Some(since) => {
            let old = ResultDir::open(since).unwrap();
            written.compared(&diff(&old, &run[0], Default::default()).unwrap())
        }
    };
    written.write(&mut html).unwrap();
    fs::write(page, with_checks(&String::from_utf8(html).unwrap(), checks)).unwrap();
}

#[test]
fn the_page_works_in_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    // Before, `Exp2` passed, and there was another case.
    let before = |result: CaseResult| match result.instruction.as_str() {
        "Exp2" => case(&result.name, Status::Pass),
        _ => result,
    };
    let earlier: Vec<CaseResult> = cases().into_iter().chain([case("p.f32.gone", Status::Pass)]).map(before).collect();
    let earlier = folder(&dir.path().join("earlier"), &earlier);
    write_page(&folder(&dir.path().join("run"), &cases()), Some(&earlier), &page, CHECKS);
    let address = "#case=p.f32.exp2.3&filter=exp2";
    let Some(browsed) = browse(&page, address, &["--virtual-time-budget=60000"]) else { return };
    let report = browsed.checks();
    let failed: Vec<&String> = report.iter().filter(|line| !line.starts_with("ok ")).collect();
    assert!(failed.is_empty() && report.len() > 20, "{report:#?}");
    assert_eq!(browsed.console, [""; 0], "no message on the console");
}

#[test]
fn the_page_and_a_comparison_are_accessible() {
    let dir = tempfile::tempdir().unwrap();
    let run = folder(&dir.path().join("run"), &cases());
    let page = dir.path().join("page.html");
    write_page(&run, None, &page, "");
    for address in ["", "#case=p.f32.exp2.7"] {
        let Some(violations) = accessibility_violations(&page, address) else { return };
        assert_eq!(violations, [""; 0], "{address}");
    }
    let earlier = folder(&dir.path().join("earlier"), &[case("p.f32.exp2.3", Status::Pass)]);
    let [old, new] = [&earlier, &run].map(|results| ResultDir::open(results).unwrap());
    let mut html = Vec::new();
    super::diff_page(&mut html, &diff(&old, &new, Default::default()).unwrap()).unwrap();
    fs::write(&page, html).unwrap();
    assert_eq!(accessibility_violations(&page, ""), Some(Vec::new()));
    // An image without a text is seen, so that a page without violations is known to have none.
    fs::write(&page, "<!doctype html><html lang=en><body><main><img src=x></main></body></html>").unwrap();
    assert!(accessibility_violations(&page, "").is_some_and(|violations| violations.len() > 1));
}

/// A request to the network and an error are seen, so that a page without them is known to have none.
#[test]
fn the_browser_test_sees_requests_and_errors() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let planted = "document.body.append(Object.assign(new Image(), { src: 'https://127.0.0.1/x.png' })); nothing();";
    write_page(&folder(&dir.path().join("run"), &cases()), None, &page, planted);
    let Some(browsed) = browse(&page, "", &["--virtual-time-budget=5000"]) else { return };
    assert!(browsed.console.iter().any(|line| line.contains("Content Security Policy")), "{:?}", browsed.console);
    assert!(browsed.console.iter().any(|line| line.contains("nothing is not defined")), "{:?}", browsed.console);
}

/// The time is generous for slow machines in CI; it is about half a second on a desktop.
#[test]
fn a_page_of_100000_cases_shows_its_first_row_soon() {
    const CASES: usize = 100_000;
    const SECONDS: f64 = 10.0;
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("run");
    fs::create_dir(&results).unwrap();
    let mut file = std::io::BufWriter::new(fs::File::create(results.join("results.jsonl")).unwrap());
    let line = |event: Event| serde_json::to_string(&event).unwrap();
    writeln!(file, "{}", line(Event::RunStarted(Box::new(run(CASES))))).unwrap();
    let pass = line(Event::CaseFinished(Box::new(case("NAME", Status::Pass))));
    let fail = line(Event::CaseFinished(Box::new(case("NAME", Status::Fail))));
    for n in 0..CASES {
        let line = if n.is_multiple_of(1000) { &fail } else { &pass };
        writeln!(file, "{}", line.replace("NAME", &format!("p.f32.exp2.{n}"))).unwrap();
    }
    writeln!(file, "{}", line(Event::RunFinished { interrupted: false, wall: 1.0 })).unwrap();
    drop(file);
    let page = dir.path().join("page.html");
    let checks = "document.body.append(Object.assign(document.createElement('pre'), { id: 'checks', \
                  textContent: document.querySelectorAll('.row').length + ' ' + performance.now() }));";
    write_page(&results, None, &page, checks);
    // Without a budget of virtual time, `performance.now` is the real time since the page was opened.
    let Some(browsed) = browse(&page, "", &[]) else { return };
    let report = browsed.checks();
    let (rows, time) = report[0].split_once(' ').unwrap();
    let (rows, seconds): (usize, f64) = (rows.parse().unwrap(), time.parse::<f64>().unwrap() / 1e3);
    assert!((10..200).contains(&rows), "{rows} rows are in the document");
    assert!(seconds < SECONDS, "the first row came after {seconds} s");
}
