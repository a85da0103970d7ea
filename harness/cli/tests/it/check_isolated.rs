//! `assay check` in a worker process: crashes, timeouts and interruptions, and the files that
//! remain. Skipped without a device.

#![cfg(unix)]

use crate::support::assay;
use crate::support::device::device;
use assay_events::{CheckResult, Event, Status};
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Takes minutes on a software driver; the interpreter runs one workgroup only.
const LONG: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x];
    for (var i = 0u; i < 20000u; i++) { x = x * 747796405u + 2891336453u; }
    data[id.x] = x;
}";

/// As `LONG`, but the index depends on the order of the invocations, so that it may be out of bounds.
const LONG_AND_PERHAPS_UNDEFINED: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
var<workgroup> slots: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x];
    for (var i = 0u; i < 20000u; i++) { x = x * 747796405u + 2891336453u; }
    data[id.x] = x + slots[atomicAdd(&count, 1u)];
}";

/// Returns the arguments that check a long shader with results in a folder.
fn arguments(dir: &Path, text: &str) -> Vec<String> {
    let shader = dir.join("long.wgsl");
    fs::write(&shader, text).unwrap();
    let out = dir.join("out");
    let words = ["check", shader.to_str().unwrap(), "--no-search", "--workgroups", "60000", "--sample", "1"];
    let words = words.into_iter().chain(["--rounds", "1", "--out"]);
    words.chain([out.to_str().unwrap()]).map(str::to_owned).collect()
}

/// Returns the child processes of a process.
fn children(of: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    numbers.filter(|pid| parent(*pid) == Some(of)).collect()
}

/// Starts a check of a long shader, and returns its worker after it has had time to open its device
/// and to begin.
fn begin(dir: &Path, text: &str) -> (Child, u32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let command = command.args(arguments(dir, text)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let [worker] = children(child.id())[..] {
            sleep(Duration::from_secs(3));
            return (child, worker);
        }
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "a worker is started");
        sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

fn events(dir: &Path) -> Vec<Event> {
    let text = fs::read_to_string(dir.join("out/results.jsonl")).expect("whole results");
    text.lines().map(|line| serde_json::from_str(line).expect("an event a line")).collect()
}

fn result(dir: &Path) -> CheckResult {
    let ended =
        events(dir).into_iter().find_map(|e| if let Event::CheckFinished(check) = e { Some(*check) } else { None });
    ended.expect("a result")
}

/// Asserts that the bundle has a summary, the inputs and the shader.
fn is_evidence(dir: &Path, status: Status) {
    let bundle = dir.join("out/bundle");
    let readme = fs::read_to_string(bundle.join("README.txt")).expect("a bundle");
    assert!(readme.contains(&format!("long.wgsl: {status:?} on ")), "{readme}");
    assert!(bundle.join("input-0.0.0.hex").exists() && bundle.join("shader.spvasm").exists());
}

/// Kills the worker of a check; returns the folder of the results and the exit code.
fn with_killed_worker(text: &str) -> (TempDir, Option<i32>) {
    for attempt in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let (mut child, worker) = begin(dir.path(), text);
        // An access out of bounds may have ended it already.
        _ = Command::new("kill").args(["-ABRT", &worker.to_string()]).stderr(Stdio::null()).status();
        let code = child.wait().unwrap().code();
        // On a busy machine the worker may not have opened its device yet.
        if code != Some(4) || attempt == 5 {
            return (dir, code);
        }
    }
    unreachable!()
}

#[test]
fn a_worker_that_dies_is_a_crash_with_evidence() {
    if !device() {
        return;
    }
    let (dir, code) = with_killed_worker(LONG);
    assert_eq!(code, Some(1));
    let result = result(dir.path());
    assert_eq!((result.status, result.excused), (Status::Crash, None), "{result:?}");
    assert!(result.reason.as_deref().unwrap().contains("ended by SIGABRT"), "{result:?}");
    is_evidence(dir.path(), Status::Crash);
}

#[test]
fn a_worker_that_dies_in_a_shader_that_may_be_undefined_is_undetermined() {
    if !device() {
        return;
    }
    let (dir, code) = with_killed_worker(LONG_AND_PERHAPS_UNDEFINED);
    // Nothing was checked.
    assert_eq!(code, Some(3));
    let result = result(dir.path());
    assert_eq!((result.status, result.excused), (Status::Undetermined, Some(Status::Crash)), "{result:?}");
    let reason = result.reason.as_deref().unwrap();
    assert!(reason.contains("the shader may have undefined behaviour (out of bounds) at "), "{reason}");
    assert!(reason.contains("long.wgsl:7:18: `data[id.x] = x + slots[atomicAdd"), "{reason}");
    assert!(reason.ends_with("so this is not held against the device"), "{reason}");
    is_evidence(dir.path(), Status::Undetermined);
}

/// Shader whose reduction takes a while.
const WRONG: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x];
    for (var i = 0u; i < 40u; i++) {
        if (x & 1u) == 0u { x = x ^ (x >> 3u); } else { x = (x << 5u) | (x >> 27u); }
        x = x * 747796405u + 2891336453u;
        x = (x ^ (x >> 16u)) * 2246822519u + i;
    }
    data[id.x] = x - 3u;
}";

#[test]
fn a_failure_is_kept_if_a_diagnostic_rerun_is_killed_or_interrupted() {
    if !device() {
        return;
    }
    for how in ["-ABRT", "-INT"] {
        let dir = tempfile::tempdir().unwrap();
        let shader = dir.path().join("long.wgsl");
        fs::write(&shader, WRONG).unwrap();
        let out = dir.path().join("out");
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(["check", shader.to_str().unwrap(), "--mutate", "off-by-one@OpISub", "--reduce", "--out"])
            .arg(&out);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let deadline = Instant::now() + Duration::from_secs(60);
        // The bundle is written before the reduction.
        while !out.join("bundle/README.txt").exists() {
            assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "it fails and is reduced");
            sleep(Duration::from_millis(5));
        }
        let worker = children(child.id());
        if how == "-INT" {
            signal(how, child.id());
        } else {
            signal(how, *worker.first().expect("a worker"));
        }
        // An interruption has its own exit code, also after a failure.
        let code = if how == "-INT" { 130 } else { 1 };
        assert_eq!(child.wait().unwrap().code(), Some(code), "{how}");
        let result = result(dir.path());
        assert_eq!(result.status, Status::Fail, "{how}: {result:?}");
        assert!(!result.mismatches.is_empty() && !out.join("reduced").exists(), "{how}");
        let said = result.notes.iter().any(|note| note.starts_with("Crash in a diagnostic rerun of the shader"));
        assert_eq!((said, result.partial), (how == "-ABRT", how == "-INT"), "{how}: {:?}", result.notes);
    }
}

#[test]
fn a_dispatch_that_does_not_end_is_a_timeout_with_evidence() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut arguments = arguments(dir.path(), LONG);
    arguments.extend(["--timeout".to_owned(), "1".to_owned()]);
    let output = assay(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.code, 1, "{output:?}");
    assert_eq!(result(dir.path()).status, Status::Timeout);
    assert!(
        output.stdout.contains("Timeout ") && output.stdout.contains("a subset of 16 invocations in 1 of 60,000"),
        "{output:?}"
    );
    assert_eq!(output.stderr, "");
    is_evidence(dir.path(), Status::Timeout);
}

#[test]
fn an_interrupted_check_leaves_complete_files() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut child, worker) = begin(dir.path(), LONG);
    signal("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let events = events(dir.path());
    assert!(matches!(events.last(), Some(Event::RunFinished { interrupted: true, .. })), "{:?}", events.last());
    assert!(dir.path().join("out/device.json").exists());
    assert!(!Path::new(&format!("/proc/{worker}/cmdline")).exists() || children(child.id()).is_empty());
}
