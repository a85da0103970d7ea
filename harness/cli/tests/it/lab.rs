//! The recipes under `scripts/lab/`, with the schedulers' variables set by the tests.

#![cfg(unix)]
use crate::support::device::device;
use crate::support::{Output, assay};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Environment variables of all schedulers.
const VARIABLES: [&str; 10] = [
    "ASSAY_PART",
    "ASSAY_PARTS",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_CPUS_ON_NODE",
    "SLURM_RESTART_COUNT",
];

/// Runs a script with some variables and no others of schedulers.
fn script(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(Path::new(ROOT).join("scripts/lab").join(name));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.args(arguments).envs(variables.iter().copied()).env("SLURM_SUBMIT_DIR", ROOT);
    Output::of(command.env("ASSAY", env!("CARGO_BIN_EXE_assay")).output().expect("the script starts"))
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
fn the_parts_of_every_scheduler_count_from_one() {
    for (variables, expected) in [
        (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")][..], "hash:1/4"),
        (&slurm("0", "0", "7", "8"), "hash:1/8"),
        (&slurm("107", "100", "107", "8"), "hash:8/8"),
        (&[("ASSAY_PART", "3"), ("ASSAY_PARTS", "3")], "hash:3/3"),
    ] {
        let Output { code, stdout: out, stderr: err } = script("partition", &[], variables);
        assert_eq!((code, out.trim_end()), (0, expected), "{variables:?}: {err}");
    }
    let Output { stdout: out, .. } = script("partition", &["slice"], &[("ASSAY_PART", "1"), ("ASSAY_PARTS", "2")]);
    assert_eq!(out, "slice:1/2\n");
}

#[test]
fn a_job_that_is_not_a_part_is_refused() {
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
        let Output { code, stdout: out, stderr: err } = script("partition", arguments, variables);
        assert_eq!((code, out.as_str()), (2, ""), "{variables:?}");
        assert!(err.contains(said), "{said}: {err}");
    }
}

#[test]
fn jobs_of_a_slurm_array_make_one_run() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let nightly = dir.path().join("nightly");
    let mut parts = Vec::new();
    for id in ["1", "2"] {
        let filter = "precision.f32.fnegate";
        let Output { code, stderr: err, .. } =
            script("slurm", &[nightly.to_str().unwrap(), filter], &slurm(id, "1", "2", "2"));
        assert_eq!(code, 0, "{err}");
        parts.push(nightly.join(format!("part-{id}-of-2")).to_str().unwrap().to_owned());
    }
    let all = nightly.join("all");
    let merged = assay(&["merge", &parts[0], &parts[1], "--out", all.to_str().unwrap()]);
    assert_eq!((merged.code, merged.stderr.as_str()), (0, ""), "{merged:?}");
    assert!(merged.stdout.contains("cases from 2 folders"), "{merged:?}");
}

/// Environment in which Slurm runs the recipe: a copy of the script without the files beside it, a
/// submission folder outside this repository, and a stand-in for `assay`.
struct Spool {
    dir: tempfile::TempDir,
}

impl Spool {
    /// Creates an environment whose `assay` records its arguments and exits with a code.
    fn new(code: i32) -> Spool {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(Path::new(ROOT).join("scripts/lab/slurm"), dir.path().join("slurm_script")).unwrap();
        let program = format!("#!/bin/sh\necho \"$@\" > arguments\nexit {code}\n");
        fs::write(dir.path().join("assay"), program).unwrap();
        for name in ["assay", "slurm_script"] {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(dir.path().join(name), permissions).unwrap();
        }
        fs::create_dir(dir.path().join("submitted")).unwrap();
        Spool { dir }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("submitted")
    }

    /// Runs the job as part 2 of 8. The arguments of `assay` stand for stdout.
    fn run(&self, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.dir.path().join("slurm_script"));
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.args(["nightly", "precision", "--budget", "quick"]).current_dir(self.folder());
        command.envs(slurm("12", "11", "18", "8")).envs(variables.iter().copied());
        command.env("SLURM_SUBMIT_DIR", self.folder()).env("SLURM_JOB_ID", "77");
        let output = command.env("ASSAY", self.dir.path().join("assay")).output().expect("the script starts");
        let told = fs::read_to_string(self.folder().join("arguments")).unwrap_or_default();
        Output { stdout: told.trim_end().to_owned(), ..Output::of(output) }
    }
}

#[test]
fn a_slurm_job_needs_no_other_file_and_uses_its_allocated_cpus() {
    let fresh = "run precision --budget quick --partition hash:2/8 --out nightly/part-2-of-8 --jobs";
    for (variables, jobs) in [(&[][..], "1"), (&[("SLURM_CPUS_ON_NODE", "3")], "3")] {
        let Output { code, stdout: told, stderr: said } = Spool::new(0).run(variables);
        assert_eq!((code, told), (0, format!("{fresh} {jobs}")), "{said}");
    }
    // The script requests no resources that a node may lack.
    let text = fs::read_to_string(Path::new(ROOT).join("scripts/lab/slurm")).unwrap();
    let directives: Vec<&str> = text.lines().filter(|line| line.starts_with("#SBATCH")).collect();
    assert!(directives.len() > 2 && !directives.iter().any(|line| line.contains("cpus")), "{directives:?}");
    // The part's folder has a fixed name.
    for division in ["hash", "slice"] {
        let Output { code, stdout: out, stderr: said } =
            script("partition", &[division], &slurm("12", "11", "18", "8"));
        assert_eq!((code, out), (0, format!("{division}:2/8\n")), "{said}");
    }
}

#[test]
fn a_requeued_slurm_job_resumes_its_part_if_it_had_started() {
    for (restarts, begun, option) in [
        ("1", Some(("results.jsonl.partial", "a line\nhalf")), "--resume"),
        ("2", Some(("results.jsonl", "a line\n")), "--resume"),
        ("1", Some(("run.json", "a line")), "--resume"),
        ("1", None, "--out"),
        ("1", Some(("results.jsonl.partial", "")), "--out"),
        ("1", Some(("results.jsonl.partial", "half")), "--out"),
        ("0", Some(("results.jsonl", "a line\n")), "--out"),
    ] {
        let spool = Spool::new(0);
        let part = spool.folder().join("nightly/part-2-of-8");
        if let Some((file, text)) = begun {
            fs::create_dir_all(&part).unwrap();
            fs::write(part.join(file), text).unwrap();
        }
        let Output { code, stdout: told, stderr: said } = spool.run(&[("SLURM_RESTART_COUNT", restarts)]);
        assert_eq!(code, 0, "{said}");
        let expected = format!("{option} nightly/part-2-of-8 --jobs 1");
        assert!(told.ends_with(&expected), "{restarts} restarts, begun: {begun:?}: {told}");
    }
}

#[test]
fn a_slurm_job_succeeds_only_if_its_part_is_complete() {
    for (ended, expected) in [(0, 0), (1, 0), (3, 0), (2, 2), (4, 4), (70, 70), (130, 130)] {
        let Output { code, stderr: said, .. } = Spool::new(ended).run(&[]);
        assert_eq!(code, expected, "assay ends with {ended}: {said}");
        assert_eq!(said.contains("scontrol requeue 77"), ended == 130, "{said}");
    }
}

/// The first part of the run has a case with few inputs, which finishes at once and fails against a
/// baseline made for it.
const EARLY: &str = "precision.f16.fnegate.scalar.default";

#[test]
fn a_job_near_its_time_limit_is_interrupted_even_if_cases_failed() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let baseline = dir.path().join("baseline.csv");
    fs::write(&baseline, format!("{EARLY},Fail\n")).unwrap();
    let script = Path::new(ROOT).join("scripts/lab/slurm");
    let mut command = Command::new(script);
    command.arg(dir.path()).args([EARLY, "precision.f32.fadd.scalar.default", "--budget", "exhaustive"]);
    command.args(["--workers", "1", "--baseline", baseline.to_str().unwrap()]);
    command.envs(slurm("1", "1", "1", "1")).env("ASSAY", env!("CARGO_BIN_EXE_assay"));
    let log = dir.path().join("log");
    let to = fs::File::create(&log).unwrap();
    command.stdout(to.try_clone().unwrap()).stderr(to).env("NO_COLOR", "1");
    let mut job = command.spawn().expect("the script starts");
    let part = dir.path().join("part-1-of-1");
    let deadline = Instant::now() + Duration::from_secs(60);
    let early = format!("\"event\":\"case_finished\",\"name\":\"{EARLY}\"");
    while !fs::read_to_string(part.join("results.jsonl.partial")).is_ok_and(|text| text.contains(&early)) {
        let said = fs::read_to_string(&log).unwrap();
        assert!(Instant::now() < deadline && job.try_wait().unwrap().is_none(), "the first case ends: {said}");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The scheduler signals only the script.
    assert!(Command::new("kill").args(["-TERM", &job.id().to_string()]).status().expect("kill").success());
    let code = job.wait().unwrap().code();
    let said = fs::read_to_string(&log).unwrap();
    assert_eq!(code, Some(130), "{said}");
    assert!(fs::read_to_string(part.join("results.jsonl")).unwrap().contains("\"interrupted\":true"));
    // The last lines give the progress, the failures so far, and how to resume.
    let last: Vec<&str> = said.lines().rev().take(4).collect();
    let verdict = last.iter().find(|line| line.starts_with("INTERRUPTED: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(verdict.contains("1 case does better than the baseline expects"), "{said}");
    assert!(verdict.contains(" Interrupted after "), "{said}");
    assert!(last.iter().any(|line| line.contains("assay run --resume")), "{said}");
}

#[test]
fn the_joined_run_fails_for_failed_and_flaky_cases() {
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
fn the_rehearsal_script_survives_a_kill() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("night");
    let filter = "precision.f32.f*.scalar.default";
    let Output { code, stdout: said, stderr: err } =
        script("rehearse", &[out.to_str().unwrap(), "--kill-after", "2", filter], &[]);
    assert_eq!(code, 0, "{said}{err}");
    // The killed run was resumed without repeating its results.
    assert!(err.contains(" from the earlier run"), "{err}");
    assert!(said.contains("each with one result") && out.join("report.html").exists(), "{said}");
    let Output { code, stderr: err, .. } = script("rehearse", &[out.to_str().unwrap()], &[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is there already"), "{err}");
}
