//! Tests of the atlas in a real browser: `browser_tests.js` runs in the first page and reports its
//! checks.

use super::tests::{case_of, plotted, site, write};
use crate::{
    test_browser::{accessibility_violations, browse, with_checks},
    test_events::{folder_of, run},
};
use assay_events::Status;
use std::fs;

const CHECKS: &str = include_str!("browser_tests.js");

#[test]
fn the_matrix_works_in_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let index = site(dir.path()).join("index.html");
    fs::write(&index, with_checks(&fs::read_to_string(&index).unwrap(), CHECKS)).unwrap();
    let Some(browsed) = browse(&index, "#filter=exp", &["--virtual-time-budget=20000"]) else { return };
    let report = browsed.checks();
    let failed: Vec<&String> = report.iter().filter(|line| !line.starts_with("ok ")).collect();
    assert!(failed.is_empty() && report.len() > 15, "{report:#?}");
    assert_eq!(browsed.console, [""; 0], "no message on the console");
}

#[test]
fn a_page_of_an_instruction_loads_its_style_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let page = site(dir.path()).join("instructions/exp2.html");
    let checks = "const pre = document.createElement('pre'); pre.id = 'checks'; pre.textContent = [
        getComputedStyle(document.querySelector('.badge')).fontWeight,
        document.documentElement.scrollWidth <= innerWidth,
        performance.getEntriesByType('resource').every(entry => entry.name.endsWith('/style.css')),
        document.querySelectorAll('.copy:not([hidden])').length > 3].join(' '); document.body.append(pre);";
    fs::write(&page, with_checks(&fs::read_to_string(&page).unwrap(), checks)).unwrap();
    let Some(browsed) = browse(&page, "", &["--virtual-time-budget=5000"]) else { return };
    assert_eq!(browsed.checks(), ["600 true true true"]);
    assert_eq!(browsed.console, [""; 0], "no message on the console");
}

#[test]
fn the_atlas_is_accessible() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    for page in ["index.html", "instructions/exp2.html"] {
        let Some(violations) = accessibility_violations(&site.join(page), "") else { return };
        assert_eq!(violations, [""; 0], "{page}");
    }
}

#[test]
fn hostile_names_run_no_script() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "<img src=x onerror=alert(1)>";
    let mut run = run(2);
    run.device.name = hostile.to_owned();
    let cases = [
        case_of(hostile, &format!("p.f32.{hostile}.scalar.default"), hostile, Status::Fail),
        plotted("precision.f32.exp2.scalar.default", Status::Pass, 512),
    ];
    let folder = folder_of(&dir.path().join("run"), run, &cases, false);
    let site = dir.path().join("site");
    write(&[folder], &site).unwrap();
    let index = site.join("index.html");
    let checks = "document.body.append(Object.assign(document.createElement('pre'), { id: 'checks',
        textContent: document.images.length + ' ' + document.querySelectorAll('#cells tr[data-row]').length }));";
    fs::write(&index, with_checks(&fs::read_to_string(&index).unwrap(), checks)).unwrap();
    let Some(browsed) = browse(&index, "", &["--virtual-time-budget=5000"]) else { return };
    assert_eq!(browsed.checks(), ["0 2"]);
    assert_eq!(browsed.console, [""; 0], "no message on the console");
}
