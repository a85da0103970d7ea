//! Runs in worker processes: results equal to those of a single process, kills, interruptions and
//! resuming. Skipped without a device.

#![cfg(unix)]

use crate::support::device::device;
use crate::support::{assay, assay_with};
use assay_events::{CaseResult, Event};
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

/// Returns the results of a finished run by name; each case must occur once.
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

/// Returns the results of a finished run by name, without what differs from run to run.
pub(crate) fn untimed_results(folder: &Path) -> BTreeMap<String, CaseResult> {
    let mut results = results(folder);
    for case in results.values_mut() {
        (case.times, case.repeat) = Default::default();
    }
    results
}

/// Starts a run, and waits until its journal has a number of lines.
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
fn workers_give_the_same_results_as_a_single_process() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for (name, how) in [("one", &["--isolate", "no"][..]), ("workers", &["--workers", "2", "--jobs", "2"])] {
        let out = dir.path().join(name);
        let output = assay(&[&["run", SOME[0], SOME[1], "storage8.whole", "--out", path(&out)][..], how].concat());
        assert!(output.code == 0 || output.code == 1, "{output:?}");
        found.push(untimed_results(&out));
    }
    assert!(found[0].len() > 10 && found[0] == found[1]);
}

/// The device's worker is given modules and the contents of memory, with the device's addresses, images and samplers.
#[test]
fn a_device_elsewhere_whose_results_are_checked_here_gives_the_same_results() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let via = ["--via", "env", "--via-binary", env!("CARGO_BIN_EXE_assay"), "--check", "here"];
    let cases = [SOME[0], "storage8.whole.address", "compute.address", "compute.image.layer*", "tile.fragment.fetch"];
    let mut found = Vec::new();
    for (name, how) in [("one", &["--isolate", "no"][..]), ("here", &via)] {
        let out = dir.path().join(name);
        let output = assay(&[&["run", "--out", path(&out)][..], &cases, how].concat());
        assert!(output.code == 0 || output.code == 1, "{output:?}");
        found.push(untimed_results(&out));
    }
    for family in ["precision.", "storage8.", "compute.address.", "compute.image.", "tile."] {
        let checked = |case: &CaseResult| case.name.starts_with(family) && case.status.has_verdict();
        assert!(found[0].values().any(checked), "{family}");
    }
    assert_eq!(found[0], found[1]);

    // The worker that checks writes the bundle, with the outputs of the device.
    let shader = dir.path().join("a.wgsl");
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 7u; }";
    fs::write(&shader, text).unwrap();
    let out = dir.path().join("check");
    let planted = ["check", path(&shader), "--mutate", "off-by-one@OpIAdd", "--out", path(&out)];
    let output = assay(&[&planted[..], &via].concat());
    assert!(output.code == 1 && output.stdout.contains("a.wgsl:2"), "{output:?}");
    let outputs = fs::read_to_string(out.join("bundle/expected.txt")).unwrap();
    assert!(outputs.contains("(not permitted)"), "{outputs}");
}

#[test]
fn a_killed_run_resumes_with_its_results() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let command = ["run", "precision.f32", "--seed", "7", "--timeout", "50", "--out", path(&out)];
    let mut child = start(&command, &out, 30);
    // Another run cannot use the folder of a run in progress.
    let second = assay(&["run", SOME[0], "--out", path(&out)]);
    assert!(second.code == 2 && second.stderr.contains("another `assay` process is writing to"), "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = fs::read_to_string(out.join("results.jsonl.partial")).unwrap();
    assert!(!out.join("results.jsonl").exists());
    // A run is resumed with its original options only.
    for (arguments, said) in [
        (&["--budget", "sampled"][..], "with another --budget: it was quick, and is now sampled"),
        // A default value that is given explicitly also counts.
        (&["--seed", "0"], "with another --seed: it was 7, and is now 0"),
        (&["--timeout", "60"], "with another --timeout: it was 50, and is now 60"),
        (&["--device", "lavapipe"], "with another --device: it was none, and is now lavapipe"),
        (&["-e", "*.exp.*"], "with another --exclude: it was none, and is now *.exp.*"),
        (&["precision.f16"], "with another FILTER: it was precision.f32, and is now precision.f16"),
        (&["--validation"], "with another --validation: it was no, and is now yes"),
        (&["--target-env", "vulkan1.2"], "with another --target-env: it was none, and is now vulkan1.2"),
    ] {
        let output = assay(&[&["run", "--resume", path(&out)][..], arguments].concat());
        assert!(output.code == 2 && output.stderr.contains(said), "{said}: {output:?}");
    }
    // An interruption ends the run in good order.
    let lines = before.lines().count();
    let mut child = start(&["run", "--resume", path(&out)], &out, lines + 5);
    // Tools that limit a command's time signal the process and then its group: two signals count as
    // one.
    let twice = format!("kill -TERM {0}; kill -INT {0}", child.id());
    let interrupted = Command::new("sh").args(["-c", &twice]).status().unwrap();
    assert!(interrupted.success() && child.wait().unwrap().code() == Some(130));
    let after = results(&out);
    assert!(after.len() >= lines, "earlier results are kept");
    let whole: Vec<&str> = before.lines().skip(1).filter(|line| line.ends_with("\"}")).collect();
    let now = fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert!(whole.iter().all(|line| now.lines().any(|other| other == *line)), "no result was changed");
    assert!(now.lines().last().unwrap().contains("\"interrupted\":true"));
    // A refusal changes no file.
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
fn a_folder_that_cannot_be_resumed_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let output = assay(&["run", "--resume", path(dir.path())]);
    assert!(output.code == 2 && output.stderr.contains("no results.jsonl in"), "{output:?}");
    let output = assay(&["run", "--resume", path(&dir.path().join("none"))]);
    assert!(output.code == 2 && !dir.path().join("none").exists(), "{output:?}");
    let output = assay(&["worker"]);
    assert!(output.code == 70 && output.stderr.contains("a worker is started by `assay run`"), "{output:?}");
}

#[test]
fn every_device_has_its_own_folder() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let output = assay(&["run", "precision.f32.fnegate.scalar.default", "--device", "all", "--out", path(&out), "-q"]);
    assert_eq!(output.code, 0, "{output:?}");
    let listed = assay(&["devices", "--json"]).stdout;
    let devices: Vec<assay_events::DeviceInfo> = serde_json::from_str(&listed).unwrap();
    let mut named: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
    let mut found = Vec::new();
    let folders: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let text = fs::read_to_string(folder.join("device.json")).unwrap();
        found.push(serde_json::from_str::<assay_events::DeviceInfo>(&text).unwrap().name);
        // Each run can be resumed on its own.
        let again = assay(&["run", "--resume", path(folder), "-q"]);
        assert_eq!(again.code, 0, "{again:?}");
    }
    // One report shows all runs, but a merge needs one of them.
    assert_eq!(assay(&["report", path(&out)]).code, 0);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(found.iter().all(|name| page.contains(name)));
    let merged = assay(&["merge", path(&out), "--out", path(&dir.path().join("merged"))]);
    assert!(merged.code == 2 && merged.stderr.contains("contains several runs, each in its own folder"), "{merged:?}");
    let database = dir.path().join("history.sqlite");
    let added = assay(&["history", "add", path(&out), "--db", path(&database)]);
    assert_eq!((added.code, added.stdout.lines().count()), (0, devices.len()), "{added:?}");
    // All runs can be resumed together. Runs that had not begun are started.
    fs::remove_dir_all(folders.iter().find(|path| path.is_dir()).unwrap()).unwrap();
    let again = assay(&["run", "--resume", path(&out), "-q"]);
    assert_eq!((again.code, again.stdout.lines().count()), (0, devices.len()), "{again:?}");
    assert!(folders.iter().all(|path| path.exists()));
    let other = assay(&["run", "--resume", path(&out), "--budget", "sampled"]);
    assert!(other.code == 2 && other.stderr.contains("with another --budget"), "{other:?}");
    let state = fs::read_to_string(out.join("run.json")).unwrap();
    let mut without: serde_json::Value = serde_json::from_str(&state).unwrap();
    without.as_object_mut().unwrap().remove("settings").unwrap();
    fs::write(out.join("run.json"), without.to_string()).unwrap();
    let old = assay(&["run", "--resume", path(&out)]);
    assert!(old.code == 2 && old.stderr.contains("it does not contain the options of its run"), "{old:?}");
    fs::write(out.join("run.json"), "{}").unwrap();
    let damaged = assay(&["run", "--resume", path(&out)]);
    assert!(damaged.code == 2 && damaged.stderr.contains("run.json"), "{damaged:?}");
    named.sort();
    found.sort();
    assert_eq!(found, named);
    assert_eq!(output.stdout.lines().count(), devices.len(), "quiet: the last line only: {output:?}");
}
