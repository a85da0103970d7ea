//! Workers and parts of a run on a real Slurm with one node. Skipped without a device or without Slurm.

#![cfg(unix)]

use crate::isolate::untimed_results;
use crate::support::device::device;
use crate::support::slurm_cluster::{Slurm, wait_until};
use crate::support::{Output, assay};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Cases of all kinds: precision cases and programs of a suite.
const SOME: [&str; 3] = ["precision.f32.fnegate.*", "precision.f32.fadd.*", "storage8.whole"];

#[test]
fn workers_and_arrays_on_slurm_give_local_results_and_leave_no_job() {
    if !device() {
        return;
    }
    let Some(slurm) = Slurm::start() else { return };
    let binary = env!("CARGO_BIN_EXE_assay");
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let local = assay(&[&["run", "--out", &folder("local")], &SOME[..]].concat());
    let run = |out: &str, how: &[&str]| slurm_run(&slurm, &folder(out), how);
    let via = ["--via", "srun --quiet -n1", "--via", "srun --quiet -n1", "--via-binary", binary];
    let there = run("there", &via);
    let here = run("here", &["--via", "srun --quiet -n1", "--via-binary", binary, "--check", "here"]);
    for remote in [&there, &here] {
        assert_eq!(remote.code, local.code, "{remote:?}");
    }
    let expected = untimed_results(Path::new(&folder("local")));
    assert!(expected.len() > 10);
    for name in ["there", "here"] {
        assert!(untimed_results(Path::new(&folder(name))) == expected, "{name}");
    }

    // Failures are confirmed although the node has no place for a third process, and no job is left.
    let frexp = ["run", "precision.f32.frexp.*", "--out"];
    let local_failures = assay(&[&frexp[..], &[&folder("failures")]].concat());
    let confirmed = slurm.assay(&[&frexp[..], &[&folder("confirmed")], &via].concat());
    assert_eq!((confirmed.code, local_failures.code), (1, 1), "{confirmed:?}");
    let [confirmed, failures] = ["confirmed", "failures"].map(|name| untimed_results(Path::new(&folder(name))));
    assert_eq!(confirmed, failures);
    let has_no_job = || slurm.command("squeue", &["-h"]).output().expect("squeue").stdout.is_empty();
    assert!(wait_until(has_no_job), "a job is left");

    // An interrupted run leaves no job either.
    let interrupted = folder("interrupted");
    let mut command = Command::new(binary);
    command.args(["run", "precision.f32", "--out", &interrupted]).args(via).env("SLURM_CONF", slurm.configuration());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = Path::new(&interrupted).join("results.jsonl.partial");
    assert!(wait_until(|| fs::read_to_string(&journal).unwrap_or_default().lines().count() > 2), "the run begins");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(wait_until(has_no_job), "a job is left after an interruption");

    // The array of jobs, and its merge.
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lab/slurm");
    let log = format!("--output={}", folder("job-%a.log"));
    let submit = ["--wait", "--array=1-2", &log, recipe, &folder("parts")];
    let submitted = slurm.command("sbatch", &[&submit[..], &SOME[..]].concat()).env("ASSAY", binary).output().unwrap();
    assert!(submitted.status.success(), "{submitted:?}");
    let parts: Vec<String> = ["part-1-of-2", "part-2-of-2"].map(|part| format!("{}/{part}", folder("parts"))).to_vec();
    let merged = assay(&["merge", &parts[0], &parts[1], "--out", &folder("merged")]);
    assert_eq!(merged.code, local.code, "{merged:?}");
    assert!(untimed_results(Path::new(&folder("merged"))) == expected, "merged");
}

fn slurm_run(slurm: &Slurm, out: &str, how: &[&str]) -> Output {
    slurm.assay(&[&["run", "--out", out], &SOME[..], how].concat())
}
