//! `--push-binary` with launchers that start a program, and with one that hands a line to a shell,
//! as ssh does.

#![cfg(unix)]

use crate::support::assay;
use crate::support::device::device;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const BINARY: &str = env!("CARGO_BIN_EXE_assay");

/// Writes a launcher that joins its words to a line for a shell, after the name of the machine.
fn shell_launcher(folder: &Path) -> PathBuf {
    let path = folder.join("launch");
    fs::write(&path, "#!/bin/sh\nshift\nexec sh -c \"$*\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns the names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_binary_is_copied_once_and_runs() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let shell = format!("{} board7", shell_launcher(dir.path()).display());
    for (prefix, name) in [("env", "program"), (shell.as_str(), "shell")] {
        let there = dir.path().join(name);
        fs::create_dir(&there).unwrap();
        let binary = there.join("assay");
        let words = ["run", "precision.f32.fnegate.*", "--via", prefix, "--via", prefix, "--push-binary", BINARY];
        let out = dir.path().join(format!("{name}-out"));
        let words = [&words[..], &["--via-binary", binary.to_str().unwrap(), "--out", out.to_str().unwrap()]].concat();
        let inode = [(), ()].map(|()| {
            let output = assay(&words);
            assert_eq!(output.code, 0, "{prefix}: {output:?}");
            fs::metadata(&binary).unwrap().ino()
        });
        assert_eq!(inode[0], inode[1], "{prefix}: it was there");
        assert_eq!(fs::read(&binary).unwrap(), fs::read(BINARY).unwrap());
        assert_eq!(names(&there), ["assay"], "{prefix}");
    }
}

#[test]
fn a_foreign_file_is_not_replaced_and_a_foreign_binary_not_left() {
    let dir = tempfile::tempdir().unwrap();
    let there = dir.path().join("tool");
    fs::write(&there, "someone's").unwrap();
    let push = |binary: &str, to: &Path| {
        let to = to.to_str().unwrap();
        assay(&["run", "precision.f32.fnegate.*", "--via", "env", "--push-binary", binary, "--via-binary", to])
    };
    let output = push(BINARY, &there);
    assert_eq!(output.code, 4, "{output:?}");
    assert!(output.stderr.contains("tool is no binary of Assay, and is not replaced"), "{output:?}");
    assert_eq!(fs::read_to_string(&there).unwrap(), "someone's");
    // It runs, and is not Assay; a text does not run; a folder is missing.
    let text = dir.path().join("text");
    fs::write(&text, "no binary").unwrap();
    for (binary, to, said) in [
        ("/bin/ls", "assay", "in place of `assay "),
        (text.to_str().unwrap(), "assay", "and built for that machine"),
        (BINARY, "missing/assay", "failed, so nothing was copied"),
    ] {
        let output = push(binary, &dir.path().join(to));
        assert_eq!(output.code, 4, "{binary}: {output:?}");
        assert!(output.stderr.contains(said), "{binary}: {output:?}");
    }
    assert_eq!(names(dir.path()), ["text", "tool"]);
    for (binary, to, said) in [
        (BINARY, "assay", "must have a `/`"),
        (BINARY, "/tmp/a b", "consist of letters"),
        ("/nowhere/assay", "/tmp/assay", "cannot read the binary of --push-binary"),
    ] {
        let output = push(binary, Path::new(to));
        assert_eq!(output.code, 2, "{to}: {output:?}");
        assert!(output.stderr.contains(said), "{to}: {output:?}");
    }
}
