//! The recipes under `scripts/lab/`, with the variables of the schedulers set by hand.

#![cfg(unix)]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod common;

use common::assay;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The variables of all schedulers.
const VARIABLES: [&str; 8] = [
    "ASSAY_PART",
    "ASSAY_PARTS",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_COUNT",
];

/// Runs a script with these variables and no others of schedulers: exit code, stdout, stderr.
fn script(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(Path::new(ROOT).join("scripts/lab").join(name));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.args(arguments).envs(variables.iter().copied()).env("SLURM_SUBMIT_DIR", ROOT);
    let output = command.env("ASSAY", env!("CARGO_BIN_EXE_assay")).output().expect("the script starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

fn slurm(
    id: &'static str,
    min: &'static str,
    max: &'static str,
    count: &'static str,
) -> [(&'static str, &'static str); 4] {
    [
        ("SLURM_ARRAY_TASK_ID", id),
        ("SLURM_ARRAY_TASK_MIN", min),
        ("SLURM_ARRAY_TASK_MAX", max),
        ("SLURM_ARRAY_TASK_COUNT", count),
    ]
}

#[test]
fn every_scheduler_counts_from_one_here() {
    for (variables, expected) in [
        (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")][..], "hash:1/4"),
        (&slurm("0", "0", "7", "8"), "hash:1/8"),
        (&slurm("107", "100", "107", "8"), "hash:8/8"),
        (&[("ASSAY_PART", "3"), ("ASSAY_PARTS", "3")], "hash:3/3"),
    ] {
        let (code, out, err) = script("partition", &[], variables);
        assert_eq!((code, out.trim_end()), (0, expected), "{variables:?}: {err}");
    }
    let (_, out, _) = script("partition", &["slice"], &[("ASSAY_PART", "1"), ("ASSAY_PARTS", "2")]);
    assert_eq!(out, "slice:1/2\n");
}

#[test]
fn a_job_that_is_no_part_is_refused() {
    for (arguments, variables, said) in [
        (&[][..], &[][..], "set ASSAY_PART"),
        (&["halves"], &[], "unknown division 'halves'"),
        (&[], &[("ASSAY_PART", "0"), ("ASSAY_PARTS", "4")], "counted from 1"),
        (&[], &[("ASSAY_PART", "5"), ("ASSAY_PARTS", "4")], "part 5 of 4"),
        (&[], &[("ASSAY_PART", "1")], "expected two numbers"),
        (&[], &[("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "4")], "expected two numbers"),
        (&[], &slurm("3", "1", "9", "5"), "the Slurm array has gaps"),
        (&[], &slurm("3", "1", "", "5"), "SLURM_ARRAY_TASK_MAX is ''"),
    ] {
        let (code, out, err) = script("partition", arguments, variables);
        assert_eq!((code, out.as_str()), (2, ""), "{variables:?}");
        assert!(err.contains(said), "{said}: {err}");
    }
}

#[test]
fn jobs_of_a_slurm_array_make_one_run() {
    if assay(&["devices"]).code != 0 {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "a device is expected here");
        eprintln!("skipped: no Vulkan device");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let nightly = dir.path().join("nightly");
    let mut parts = Vec::new();
    for id in ["1", "2"] {
        let filter = "precision.f32.fnegate";
        let (code, _, err) = script("slurm", &[nightly.to_str().unwrap(), filter], &slurm(id, "1", "2", "2"));
        assert_eq!(code, 0, "{err}");
        parts.push(nightly.join(format!("part-{id}-of-2")).to_str().unwrap().to_owned());
    }
    let all = nightly.join("all");
    let merged = assay(&["merge", &parts[0], &parts[1], "--out", all.to_str().unwrap()]);
    assert_eq!((merged.code, merged.stderr.as_str()), (0, ""), "{merged:?}");
    assert!(merged.stdout.contains("cases from 2 folders"), "{merged:?}");
}

#[test]
fn a_job_that_is_short_of_time_writes_what_it_has() {
    if assay(&["devices"]).code != 0 {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "a device is expected here");
        eprintln!("skipped: no Vulkan device");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = Path::new(ROOT).join("scripts/lab/slurm");
    let mut command = Command::new(script);
    command.arg(dir.path()).args(["precision.f32.fadd.scalar.default", "--budget", "exhaustive"]);
    command.envs(slurm("1", "1", "1", "1")).env("SLURM_SUBMIT_DIR", ROOT).env("ASSAY", env!("CARGO_BIN_EXE_assay"));
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the script starts");
    let part = dir.path().join("part-1-of-1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !part.join("results.jsonl.partial").exists() {
        assert!(Instant::now() < deadline && job.try_wait().unwrap().is_none(), "the run starts");
        std::thread::sleep(Duration::from_millis(50));
    }
    // To the script alone, as the scheduler sends it.
    assert!(Command::new("kill").args(["-TERM", &job.id().to_string()]).status().expect("kill").success());
    assert_eq!(job.wait().unwrap().code(), Some(130));
    assert!(fs::read_to_string(part.join("results.jsonl")).unwrap().contains("\"interrupted\":true"));
}

#[test]
fn the_joined_run_fails_for_what_failed_or_is_flaky() {
    let dir = tempfile::tempdir().unwrap();
    let all = dir.path().join("all");
    fs::create_dir(&all).unwrap();
    for recipe in ["gitlab-ci.yml", "github-workflow.yml"] {
        let text = fs::read_to_string(Path::new(ROOT).join("scripts/lab").join(recipe)).unwrap();
        let lines = text.lines().map(|line| line.trim().trim_start_matches("- ").trim_start_matches("run: "));
        let deciding: Vec<&str> = lines.filter(|l| l.starts_with("test ") || l.starts_with("if grep")).collect();
        assert_eq!(deciding.len(), 2, "{recipe}");
        for (failures, word, succeeds) in [
            ("", "Pass", true),
            ("", "KnownFlake", true),
            ("", "ExpectedFail", true),
            ("p.a,Fail\n", "Fail", false),
            ("", "Flake", false),
        ] {
            fs::write(all.join("failures.csv"), failures).unwrap();
            fs::write(all.join("results.csv"), format!("p.a,{word},0.5\n")).unwrap();
            let step = |line: &&str| {
                let mut bash = Command::new("bash");
                bash.args(["-e", "-c", line]).current_dir(dir.path()).output().expect("bash").status.success()
            };
            assert_eq!(deciding.iter().all(step), succeeds, "{recipe}: {word}");
        }
    }
}

#[test]
fn a_night_is_rehearsed_with_a_kill_in_the_middle() {
    if assay(&["devices"]).code != 0 {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "a device is expected here");
        eprintln!("skipped: no Vulkan device");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("night");
    let filter = "precision.f32.f*.scalar.default";
    let (code, said, err) = script("rehearse", &[out.to_str().unwrap(), "--kill-after", "2", filter], &[]);
    assert_eq!(code, 0, "{said}{err}");
    // The run that was killed was gone on with: nothing that it had was run again.
    assert!(err.contains("cases have a result from before"), "{err}");
    assert!(said.contains("each with one result") && out.join("report.html").exists(), "{said}");
    let (code, _, err) = script("rehearse", &[out.to_str().unwrap()], &[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is there already"), "{err}");
}
