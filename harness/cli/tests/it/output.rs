//! Output that cannot be written: stdout on a full disk, and the file size limit.

#![cfg(target_os = "linux")]

use crate::support::assay;
use crate::support::device::device;
use std::{
    fs::{self, File},
    process::{Command, Output},
};

/// Small cases that every device can run.
const SMALL: &str = "precision.f32.fnegate.scalar.default";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `assay` with stdout on a full disk.
fn to_full(arguments: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).stdout(full).env("NO_COLOR", "1").output().expect("the binary starts")
}

#[test]
fn a_run_without_usable_stdout_continues_and_names_its_folder() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for more in [&[][..], &["--isolate", "no", "-v"], &["--json"]] {
        let output = to_full(&[&["run", SMALL, "--out", out.to_str().unwrap()], more].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("cannot write to stdout (No space left on device"), "{said}");
        assert!(said.contains(&format!("assay run --resume {}", out.display())), "{said}");
        let csv = fs::read_to_string(out.join("results.csv")).unwrap();
        assert!(csv.contains(&format!("{SMALL},Pass")), "{csv}");
        assert!(fs::read_to_string(out.join("results.jsonl")).unwrap().contains("\"interrupted\":false"));
        // The folder is complete.
        let page = assay(&["report", out.to_str().unwrap()]);
        assert_eq!((page.code, page.stderr.as_str()), (0, ""), "{page:?}");
        assert!(page.stdout.contains("report.html"), "{page:?}");
        fs::remove_dir_all(&out).unwrap();
    }
    // A command whose only output is stdout fails.
    let listed = to_full(&["list", SMALL]);
    assert_eq!(listed.status.code(), Some(2), "{}", text(&listed.stderr));
}

#[test]
fn exceeding_the_file_size_limit_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (out, list) = (dir.path().join("out"), dir.path().join("list"));
    let assay = env!("CARGO_BIN_EXE_assay");
    let run = format!("{assay} run {SMALL} --path reference --out {}", out.display());
    // The limit is 100 blocks of 1,024 bytes. A run first writes 1 MiB to test its folder, and the
    // list of all cases is longer than the limit.
    for (command, said) in [
        (run, format!("cannot write to the result folder {}: File too large", out.display())),
        (format!("{assay} list > {}", list.display()), "cannot write to stdout: File too large".to_owned()),
    ] {
        let script = format!("ulimit -f 100; exec {command}");
        let output = Command::new("bash").args(["-c", &script]).env("NO_COLOR", "1").output().expect("bash");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {:?}: {stderr}", output.status);
        assert!(stderr.contains(&said), "{command}: {stderr}");
    }
}
