//! Runs in worker processes: killed, interrupted, resumed, and as exact as in one process. Skipped where there is no device.

#![cfg(unix)]

mod common;
#[path = "common/device.rs"]
mod device;

use assay_runner::{CaseResult, Event};
use common::{assay, assay_with};
use device::device;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Small cases that every device can run, and programs.
const SOME: [&str; 2] = ["precision.f32.fnegate.*", "precision.f32.fadd.*"];

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// The results of a finished run by name, each case once.
fn results(folder: &Path) -> BTreeMap<String, CaseResult> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results.jsonl");
    let mut results = BTreeMap::new();
    for line in text.lines() {
        if let Event::CaseFinished(case) = serde_json::from_str(line).expect("a whole event a line") {
            assert!(results.insert(case.name.clone(), *case).is_none(), "two results of a case");
        }
    }
    results
}

/// Starts a run, and waits until so many lines of its journal are written.
fn start(arguments: &[&str], folder: &Path, lines: usize) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let mut child = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(120);
    let journal = folder.join("results.jsonl.partial");
    while fs::read_to_string(&journal).unwrap_or_default().lines().count() < lines {
        assert!(Instant::now() < deadline, "the run begins");
        assert!(child.try_wait().unwrap().is_none(), "the run is long enough to be caught");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn workers_give_the_results_of_a_single_process() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for (name, how) in [("one", &["--isolate", "no"][..]), ("workers", &["--workers", "2", "--jobs", "2"])] {
        let out = dir.path().join(name);
        let output = assay(&[&["run", SOME[0], SOME[1], "storage8.whole", "--out", path(&out)][..], how].concat());
        assert!(output.code == 0 || output.code == 1, "{output:?}");
        let mut results = results(&out);
        for case in results.values_mut() {
            (case.times, case.repeat) = Default::default();
        }
        found.push(results);
    }
    assert!(found[0].len() > 10 && found[0] == found[1]);
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let command = ["run", "precision.f32", "--seed", "7", "--timeout", "50", "--out", path(&out)];
    let mut child = start(&command, &out, 30);
    // Not even the folder of a run that goes on can be taken.
    let second = assay(&["run", SOME[0], "--out", path(&out)]);
    assert!(second.code == 2 && second.stderr.contains("another `assay` process is writing to"), "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = fs::read_to_string(out.join("results.jsonl.partial")).unwrap();
    assert!(!out.join("results.jsonl").exists());
    // It is gone on with as it was begun, or not at all.
    for (arguments, said) in [
        (&["--budget", "sampled"][..], "with another --budget: quick then, sampled now"),
        // What stands for itself without being said is another, too, if it is said.
        (&["--seed", "0"], "with another --seed: 7 then, 0 now"),
        (&["--timeout", "60"], "with another --timeout: 50 then, 60 now"),
        (&["--device", "lavapipe"], "with another --device: none then, lavapipe now"),
        (&["-e", "*.exp.*"], "with another --exclude: none then, *.exp.* now"),
        (&["precision.f16"], "with another FILTER: precision.f32 then, precision.f16 now"),
        (&["--validation"], "with another --validation: no then, yes now"),
    ] {
        let output = assay(&[&["run", "--resume", path(&out)][..], arguments].concat());
        assert!(output.code == 2 && output.stderr.contains(said), "{said}: {output:?}");
    }
    // An interruption ends it in good order, and says how to go on.
    let lines = before.lines().count();
    let mut child = start(&["run", "--resume", path(&out)], &out, lines + 5);
    // What limits the time of a command tells it, and then its group: it hears that twice.
    let twice = format!("kill -TERM {0}; kill -INT {0}", child.id());
    let interrupted = Command::new("sh").args(["-c", &twice]).status().unwrap();
    assert!(interrupted.success() && child.wait().unwrap().code() == Some(130));
    let after = results(&out);
    assert!(after.len() >= lines, "what was there is still there");
    let whole: Vec<&str> = before.lines().skip(1).filter(|line| line.ends_with("\"}")).collect();
    let now = fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert!(whole.iter().all(|line| now.lines().any(|other| other == *line)), "no result was changed");
    assert!(now.lines().last().unwrap().contains("\"interrupted\":true"));
    // What is refused leaves everything as it was.
    let files = || -> BTreeMap<_, _> {
        let paths = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    };
    let before = files();
    assert!(before.contains_key(&out.join("junit.xml")));
    let nothing = ("VK_DRIVER_FILES", "/nonexistent.json");
    for (arguments, environment, code) in [(&["--timeout", "5"][..], &[][..], 2), (&[], &[nothing], 4)] {
        let output = assay_with(&[&["run", "--resume", path(&out)][..], arguments].concat(), environment);
        assert_eq!(output.code, code, "{output:?}");
        assert!(files() == before, "{output:?}");
    }
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let output = assay(&["run", "--resume", path(dir.path())]);
    assert!(output.code == 2 && output.stderr.contains("no results.jsonl in"), "{output:?}");
    let output = assay(&["run", "--resume", path(&dir.path().join("none"))]);
    assert!(output.code == 2 && !dir.path().join("none").exists(), "{output:?}");
    let output = assay(&["worker"]);
    assert!(output.code == 70 && output.stderr.contains("a worker is started by `assay run`"), "{output:?}");
}

#[test]
fn every_device_has_a_folder_of_its_own() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let output = assay(&["run", "precision.f32.fnegate.scalar.default", "--device", "all", "--out", path(&out), "-q"]);
    assert_eq!(output.code, 0, "{output:?}");
    let listed = assay(&["devices", "--json"]).stdout;
    let devices: Vec<assay_runner::DeviceInfo> = serde_json::from_str(&listed).unwrap();
    let mut named: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
    let mut found = Vec::new();
    let folders: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let text = fs::read_to_string(folder.join("device.json")).unwrap();
        found.push(serde_json::from_str::<assay_runner::DeviceInfo>(&text).unwrap().name);
        // Each can be gone on with alone.
        let again = assay(&["run", "--resume", path(folder), "-q"]);
        assert_eq!(again.code, 0, "{again:?}");
    }
    // One page shows them all; what is joined or compared is one of them.
    assert_eq!(assay(&["report", path(&out)]).code, 0);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(found.iter().all(|name| page.contains(name)));
    let merged = assay(&["merge", path(&out), "--out", path(&dir.path().join("merged"))]);
    assert!(
        merged.code == 2 && merged.stderr.contains("holds several runs, each in a folder of its own"),
        "{merged:?}"
    );
    let database = dir.path().join("history.sqlite");
    let added = assay(&["history", "add", path(&out), "--db", path(&database)]);
    assert_eq!((added.code, added.stdout.lines().count()), (0, devices.len()), "{added:?}");
    // Or all together: those that have not begun are begun, as the command line was.
    fs::remove_dir_all(folders.iter().find(|path| path.is_dir()).unwrap()).unwrap();
    let again = assay(&["run", "--resume", path(&out), "-q"]);
    assert_eq!((again.code, again.stdout.lines().count()), (0, devices.len()), "{again:?}");
    assert!(folders.iter().all(|path| path.exists()));
    let other = assay(&["run", "--resume", path(&out), "--budget", "sampled"]);
    assert!(other.code == 2 && other.stderr.contains("with another --budget"), "{other:?}");
    fs::write(out.join("run.json"), "{}").unwrap();
    let damaged = assay(&["run", "--resume", path(&out)]);
    assert!(damaged.code == 2 && damaged.stderr.contains("run.json"), "{damaged:?}");
    named.sort();
    found.sort();
    assert_eq!(found, named);
    assert_eq!(output.stdout.lines().count(), devices.len(), "quiet: the last line only: {output:?}");
}
