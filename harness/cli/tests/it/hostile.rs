//! Hostile files: foreign files are neither removed nor overwritten, and no input makes the binary
//! hang, abort or exhaust memory.

use crate::support::{Output, assay};
use std::{fs, path::Path};

const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> to: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { to[id.x] = id.x; }";

/// Runs a case that needs no device.
fn run(out: &Path) -> Output {
    assay(&["run", "gather.core.plain.u32.0", "--path", "reference", "--quiet", "--out", out.to_str().unwrap()])
}

#[test]
fn results_neither_remove_nor_overwrite_foreign_files() {
    let dir = tempfile::tempdir().unwrap();
    let shader = dir.path().join("to.wgsl");
    fs::write(&shader, SHADER).unwrap();
    for theirs in ["pictures/holiday.png", "junit.xml", "report.html", "bundle/README.txt"] {
        let out = dir.path().join(theirs.replace('/', "-"));
        let path = out.join(theirs);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "theirs").unwrap();
        let first = theirs.split('/').next().unwrap();
        let checked = assay(&["check", shader.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        let all = if first == "bundle" { vec![checked] } else { vec![checked, run(&out)] };
        for output in all {
            assert_eq!(output.code, 2, "{theirs}: {output:?}");
            assert!(
                output.stderr.contains(&format!("{first} is in the way")) && output.stdout.is_empty(),
                "{theirs}: {output:?}"
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }
}

#[test]
fn a_run_replaces_its_own_results() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for _ in 0..2 {
        let output = run(&out);
        assert!(output.code == 0 && out.join("report.html").is_file(), "{output:?}");
    }
    let page = out.join("report.html");
    fs::write(out.join("theirs.txt"), "theirs").unwrap();
    assert_eq!(assay(&["report", out.to_str().unwrap()]).code, 0);
    assert_eq!(assay(&["run", "--resume", out.to_str().unwrap(), "--quiet"]).code, 0);
    assert!(page.is_file() && out.join("theirs.txt").is_file());
}

/// Returns the message of a refusal.
fn refusal(arguments: &[&str]) -> String {
    let output = assay(arguments);
    assert_eq!(output.code, 2, "{output:?}");
    output.stderr
}

#[test]
#[cfg(unix)]
fn inputs_that_are_not_regular_files_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("/dev/zero", path("zero.wgsl")).unwrap();
    for name in ["fifo.spv", "fifo.toml", "fifo.txt"] {
        assert!(std::process::Command::new("mkfifo").arg(path(name)).status().unwrap().success());
    }
    for results in ["zero", "fifo"] {
        fs::create_dir(path(results)).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", path("zero/results.jsonl")).unwrap();
    std::os::unix::fs::symlink(path("fifo.txt"), path("fifo/results.jsonl")).unwrap();
    for arguments in [
        &["inspect", &path("zero.wgsl")][..],
        &["check", &path("fifo.spv")],
        &["check", &path("fifo.toml")],
        &["run", &path("fifo.toml")],
        &["run", "--caselist", &path("fifo.txt")],
        &["report", &path("zero")],
        &["report", &path("fifo")],
        &["diff", &path("zero"), &path("fifo")],
        &["history", "add", &path("zero"), "--db", &path("db")],
        &["run", "--resume", &path("zero")],
        &["merge", &path("fifo"), "--out", &path("merged")],
    ] {
        let said = refusal(arguments);
        assert!(said.contains("not a regular file"), "{arguments:?}: {said}");
    }
}

#[test]
#[cfg(unix)]
fn a_shader_can_come_from_a_pipe_of_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let shader = dir.path().join("to.wgsl");
    fs::write(&shader, SHADER).unwrap();
    let words = dir.path().join("to.spv");
    assert_ne!(assay(&["inspect", shader.to_str().unwrap(), "--emit", words.to_str().unwrap()]).code, 2);
    let script = format!("cat '{}' | '{}' inspect /dev/stdin", words.display(), env!("CARGO_BIN_EXE_assay"));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("GLCompute"), "{said} {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_case_file_cannot_read_files_outside_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("case")).unwrap();
    fs::write(dir.path().join("secret"), "root:x:0:0").unwrap();
    let case = dir.path().join("case/a.toml");
    fs::write(&case, "shader = \"../secret\"\n").unwrap();
    let said = refusal(&["check", case.to_str().unwrap()]);
    assert!(
        said.contains("a.toml:1: ") && said.contains("leads out of the folder") && !said.contains("root:x"),
        "{said}"
    );
}

#[test]
fn a_huge_sparse_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big.spv");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    for command in ["inspect", "check"] {
        let said = refusal(&[command, path.to_str().unwrap()]);
        assert!(said.contains("longer than 268435456 bytes"), "{said}");
    }
    // A case file as a table takes many times its size: one of 60 MB took 4.5 GB.
    let path = dir.path().join("big.toml");
    fs::File::create(&path).unwrap().set_len((8 << 20) + 1).unwrap();
    for command in ["check", "run"] {
        let said = refusal(&[command, path.to_str().unwrap()]);
        assert!(said.contains("longer than 8388608 bytes"), "{said}");
    }
}

/// A case file has the key `shader`; other files are families. Errors have line numbers.
#[test]
fn case_files_families_and_invalid_toml_are_distinguished() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.toml");
    for (text, expected) in [
        ("why = \"t\"\n\n[shader", "a.toml:3: "),
        ("why = \"t\"\nshader = \"a.wgsl\"\nzz = 1\n", "a.toml:3: unknown field `zz`"),
        ("why = \"t\"\nshader = 1\n", "a.toml:2: `shader = 1`: invalid type"),
        ("why = \"t\"\n", "missing field `cases`"),
    ] {
        fs::write(&path, text).unwrap();
        let said = refusal(&["check", path.to_str().unwrap()]);
        assert!(said.contains(expected), "{text}: {said}");
    }
    fs::write(&path, "shader = \"a.wgsl\"\n").unwrap();
    // A run checks it, and reports that the shader is missing.
    if crate::support::device::device() {
        let output = assay(&["run", path.to_str().unwrap(), "--out", dir.path().join("out").to_str().unwrap()]);
        assert_eq!(output.code, 3, "{output:?}");
        assert!(output.stdout.contains("Undetermined") && output.stdout.contains("a.wgsl"), "{output:?}");
    }
}

/// Deeply nested shaders are inspected or refused; they do not crash the process.
#[test]
fn deep_shaders_do_not_overflow_the_stack() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep.wgsl");
    let shader = |value: &str| SHADER.replace("= id.x;", &format!("= {value};"));
    for (terms, code) in [(9_000, [0, 1]), (100_000, [2, 2])] {
        fs::write(&path, shader(&vec!["to[1]"; terms].join("+"))).unwrap();
        let output = assay(&["inspect", path.to_str().unwrap()]);
        assert!(code.contains(&output.code), "{terms}: {}", output.stderr);
    }
    for value in ["(".repeat(50_000) + "1u" + &")".repeat(50_000), "-(".repeat(50_000) + "1" + &")".repeat(50_000)] {
        fs::write(&path, shader(&value)).unwrap();
        refusal(&["inspect", path.to_str().unwrap()]);
    }
}

#[test]
fn coverage_refuses_an_unwritable_file_before_it_computes_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let said = refusal(&["coverage", dir.path().to_str().unwrap()]);
    assert!(said.contains("it is a folder"), "{said}");
    let said = refusal(&["coverage", dir.path().join("missing/coverage.md").to_str().unwrap()]);
    assert!(said.contains("/missing does not exist"), "{said}");
    #[cfg(unix)]
    {
        // Opening it for writing waited for a reader.
        let fifo = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let said = refusal(&["coverage", fifo.to_str().unwrap()]);
        assert!(said.contains("it is a device, pipe or socket"), "{said}");
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
        // Root can write to any folder, except in a file system such as /proc.
        let closed = if fs::write(closed.join("probe"), "").is_err() { closed } else { "/proc/self".into() };
        let said = refusal(&["coverage", closed.join("coverage.md").to_str().unwrap()]);
        assert!(said.contains("cannot write") && said.contains("coverage.md"), "{said}");
    }
}
