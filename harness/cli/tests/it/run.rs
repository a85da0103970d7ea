//! `assay run` on a device: results, files and exit codes. Skipped without a device.

use crate::support::assay;
use crate::support::device::device;
use assay_events::{DeviceInfo, Event};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A small, exact case that every device can run. As a filter it also matches its constant-operand
/// variants.
const SMALL: &str = "precision.f32.fnegate.scalar.default";

fn events(folder: &Path) -> Vec<Event> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a whole event a line")).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).expect("the folder").map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const FILES: [&str; 8] = [
    "assay-files.json",
    "causes.json",
    "device.json",
    "failures.csv",
    "junit.xml",
    "report.html",
    "results.csv",
    "results.jsonl",
];

#[test]
fn a_run_prints_a_verdict_and_writes_complete_files() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let arguments = ["run", SMALL, "--out", out.to_str().unwrap(), "--seed", "7"];
    let output = assay(&arguments);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.trim_end().lines().last().unwrap().starts_with("PASS: "), "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'), "no colours without a terminal");
    assert_eq!(files(&out), FILES);
    let events = events(&out);
    let Some(Event::RunStarted(run)) = events.first() else { panic!("no run_started first") };
    assert!(matches!(events.last(), Some(Event::RunFinished { interrupted: false, .. })));
    let cases: Vec<_> =
        events.iter().filter_map(|e| if let Event::CaseFinished(c) = e { Some(c) } else { None }).collect();
    assert_eq!((run.seed, run.cases, run.command[1].as_str()), (7, cases.len(), "run"));
    let case = cases.iter().find(|case| case.name == SMALL).expect("the case that was named");
    assert!(case.failing_inputs == 0 && case.inputs_tested > 0 && case.inputs_possible == "4294967296");
    let csv = fs::read_to_string(out.join("results.csv")).unwrap();
    assert!(csv.starts_with(&format!("{SMALL},Pass,")) && csv.lines().count() == cases.len(), "{csv}");
    assert!(csv.lines().is_sorted(), "{csv}");
    assert_eq!(fs::read_to_string(out.join("failures.csv")).unwrap(), "");
    // The second run replaces the first. A verbose run prints the table of instructions, too.
    let again = assay(&[&arguments[..], &["-v"]].concat());
    assert!(again.stdout.contains("\nOpFNegate "), "{again:?}");
    assert!(again.stderr.contains("replacing the results of an earlier run"), "{again:?}");
    assert_eq!(files(&out), FILES);
}

#[test]
fn json_output_is_the_journal_and_a_dry_run_names_its_cases() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let output = assay(&["run", SMALL, "--json", "--out", out]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(output.stdout, fs::read_to_string(dir.path().join("results.jsonl")).unwrap());
    let csv = fs::read_to_string(dir.path().join("results.csv")).unwrap();
    let mut run: Vec<&str> = csv.lines().filter_map(|line| line.split(',').next()).collect();
    let planned = assay(&["run", SMALL, "--dry-run", "--out", "not-created"]);
    assert!(planned.code == 0 && !Path::new("not-created").exists(), "{planned:?}");
    let mut planned: Vec<&str> = planned.stdout.lines().collect();
    run.sort_unstable();
    planned.sort_unstable();
    assert_eq!(planned, run);
    let refused = assay(&["run", SMALL, "--json", "--api", "both"]);
    assert!(refused.code == 2 && refused.stderr.contains("one device and one API"), "{refused:?}");
}

#[test]
fn colours_are_an_option() {
    let named = |when: &str| assay(&["run", "no.such.case", "--color", when]).stderr;
    assert!(named("always").starts_with("\u{1b}["), "{}", named("always"));
    assert!(named("never").starts_with("error: "), "{}", named("never"));
}

#[test]
fn devices_are_listed_as_text_and_as_json() {
    if !device() {
        return;
    }
    let text = assay(&["devices"]).stdout;
    let list: Vec<DeviceInfo> =
        serde_json::from_str(&assay(&["devices", "--json"]).stdout).expect("an array of devices");
    assert!(list.iter().all(|device| text.contains(&device.name) && text.contains(&device.uuid)), "{text}");
    assert!(text.contains("RoundingModeRTE") && text.contains("driver"), "{text}");
}

#[test]
fn verbose_shows_times_and_the_rate() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = assay(&["run", SMALL, "-v", "--jobs", "1", "--out", dir.path().to_str().unwrap()]);
    let line = output.stdout.lines().find(|line| line.starts_with("Pass ")).expect("a line for the case");
    for said in [SMALL, "device ", "check ", "on 1 core", "overlap ", "results/s per core"] {
        assert!(line.contains(said), "{said}: {line}");
    }
}

#[test]
fn impossible_requests_are_refused_before_the_run_starts() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("out");
    let unmade = dir.path().join("unmade");
    let unmade_out = unmade.to_str().unwrap();
    for (arguments, said) in [
        (&["--out", below.to_str().unwrap()][..], "cannot create the result folder"),
        (&["--device", "no such device", "--out", unmade_out], "no device matches `no such device`"),
        (&["--range", "0x100000000..0x100000001", "--out", unmade_out], "0x100000000"),
        (&["--range", "2..1", "--out", unmade_out], "is empty for f32"),
    ] {
        let output = assay(&[&["run", SMALL][..], arguments].concat());
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(said), "{arguments:?}: {output:?}");
    }
    assert!(!unmade.exists(), "a run that does not start leaves no folder");
}

#[test]
fn a_run_that_checks_nothing_is_not_a_success() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let listed = assay(&["list", "precision.f32.fnegate.scalar"]).stdout;
    for name in listed.lines() {
        let output = assay(&["run", name, "--out", dir.path().to_str().unwrap()]);
        if output.stdout.contains("NotSupported") {
            assert_eq!(output.code, 3, "{output:?}");
            assert!(output.stdout.trim_end().lines().last().unwrap().starts_with("NOTHING CHECKED"), "{output:?}");
            return;
        }
    }
    assay_testkit::skip(&format!("the device supports every mode of {SMALL}"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_complete_files_and_has_its_own_exit_code() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let run = ["run", "precision.f32.fadd.scalar.default", "--budget", "exhaustive", "--out"];
    let mut child = command
        .args(run)
        .arg(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !dir.path().join("results.jsonl.partial").exists() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "the run starts");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let status = child.wait().unwrap();
    assert_eq!(files(dir.path()), FILES);
    let events = events(dir.path());
    assert!(matches!(events.last(), Some(Event::RunFinished { interrupted: true, .. })), "{:?}", events.last());
    let cases = events.iter().filter_map(|e| if let Event::CaseFinished(case) = e { Some(case) } else { None });
    let ended: Vec<_> = cases.map(|case| (&case.name, case.status, &case.reason)).collect();
    assert_eq!(status.code(), Some(130), "{ended:?}");
    // A partly executed case has no result.
    let csv = fs::read_to_string(dir.path().join("results.csv")).unwrap();
    let exhaustive = csv.lines().filter(|line| line.starts_with("precision.f32.fadd.scalar.default,"));
    assert_eq!(exhaustive.collect::<Vec<_>>(), ["precision.f32.fadd.scalar.default,Missing,0"]);
}

/// A failure on a device that is not the default one is reproduced by the printed command.
#[test]
fn a_failure_names_the_command_that_reproduces_it() {
    if !device() {
        return;
    }
    const CASE: &str = "gather.core.size.2x2.mirror_clamp_to_edge";
    let dir = tempfile::tempdir().unwrap();
    let devices: Vec<DeviceInfo> = serde_json::from_str(&assay(&["devices", "--json"]).stdout).unwrap();
    for device in &devices[1..] {
        let out = dir.path().join(&device.uuid);
        let output = assay(&["run", CASE, "--device", &device.uuid, "--timeout", "50", "--out", out.to_str().unwrap()]);
        if output.code != 1 {
            continue;
        }
        // The console ends with the command for the cause of the failure.
        let command = output.stdout.lines().map(str::trim).find(|line| line.starts_with("assay run "));
        let command = command.unwrap_or_else(|| panic!("{output:?}"));
        assert_eq!(command, format!("assay run {CASE} --device {} --budget quick --seed 0 --timeout 50", device.uuid));
        let again = dir.path().join("again");
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--out", again.to_str().unwrap()]).collect();
        assert_eq!(assay(&words).code, 1, "{command}");
        return;
    }
    assay_testkit::skip(&format!("no other device fails {CASE}"));
}

/// Suite cases and precision cases are selected in the same way, run together and share one list of
/// results.
#[test]
fn one_run_has_suite_cases_and_precision_cases() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("out");
    let path = folder.to_str().unwrap();
    let names = ["storage8.convert.ssbo.zext_u8.to32", "precision.f32.exp2.scalar.default"];
    let ran = assay(&["run", names[0], names[1], "--path", "reference", "--out", path]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let csv = fs::read_to_string(folder.join("results.csv")).unwrap();
    assert!(csv.contains("storage8.convert.ssbo.zext_u8.to32,Pass"), "{csv}");
    // Precision cases need a device.
    assert!(csv.contains("precision.f32.exp2.scalar.default,Skip"), "{csv}");
    let results = fs::read_to_string(folder.join("results.jsonl")).unwrap();
    assert!(results.contains("\"path\":\"reference\""), "{results}");
    let lowered = assay(&["run", names[0], "--path", "sideways"]);
    assert_eq!(lowered.code, 2);
}
