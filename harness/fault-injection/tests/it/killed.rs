//! Runs that are killed, or whose disk is full, are resumed until they end, and every case has one
//! correct result.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn run_binary(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay-fault-injection")).args(arguments).output().expect("the binary starts")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// The cases of all tests here: the same arguments each time.
const CASES: [&str; 6] = ["--cases", "3000", "--each", "100", "--seed", "5"];

#[test]
fn repeatedly_killed_run_ends_with_correct_results() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    // A case that is killed from outside six times in a row is held responsible, so patience and
    // these lifetimes are chosen together.
    let chaos =
        ["chaos", "--out", path(&out), "--workers-live", "400", "--coordinator-lives", "700", "--patience", "200"];
    let ended = run_binary(&[&chaos[..], &CASES].concat());
    assert!(ended.status.success(), "{ended:?}");
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(said.starts_with("3000 cases, each with one correct result"), "{said}");
    // A complete run can be resumed, and a second coordinator is refused while another one uses the
    // directory.
    let again = run_binary(&[&["run", "--resume", "--out", path(&out)][..], &CASES].concat());
    assert!(again.status.success() && String::from_utf8_lossy(&again.stdout).starts_with("0 cases in"), "{again:?}");
    let lock = fs::File::open(&out).unwrap();
    lock.try_lock().unwrap();
    let refused = run_binary(&[&["run", "--resume", "--out", path(&out)][..], &CASES].concat());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another `assay` process is writing to"), "{refused:?}");
    lock.unlock().unwrap();
    assert!(run_binary(&[&["verify", "--out", path(&out)][..], &CASES].concat()).status.success());
}

/// Runs on a small disk until it is full, makes room, resumes, and copies the results out. Then
/// runs on a read-only disk.
const SCRIPT: &str = r#"
disk=$1 copy=$2 binary=$3; shift 3
mount -t tmpfs -o size=8m none "$disk" || exit 99
head -c 6500k /dev/zero > "$disk/filler"
"$binary" run --out "$disk/out" "$@" > "$copy.first" 2>&1 && exit 1
rm "$disk/filler"
test -e "$disk/out/results.jsonl.partial" || exit 2
"$binary" run --out "$disk/out" --resume "$@" > "$copy.second" 2>&1 || exit 3
cp -r "$disk/out" "$copy" || exit 4
mount -o remount,ro "$disk" || exit 98
"$binary" run --out "$disk/out" --resume "$@" > "$copy.third" 2>&1 && exit 5
exit 0
"#;

#[test]
fn full_and_read_only_disks_lose_no_results() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, copy) = (dir.path().join("disk"), dir.path().join("copy"));
    fs::create_dir(&disk).unwrap();
    // A mount namespace of its own: the mount ends with it, and it grants no rights beyond existing
    // ones.
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", path(&disk), path(&copy)]);
    command.arg(env!("CARGO_BIN_EXE_assay-fault-injection")).args(["--cases", "6000", "--each", "1000000"]);
    let ended = match command.output() {
        Ok(output) if !matches!(output.status.code(), Some(98 | 99)) && !copy_is_missing(&copy, &output) => output,
        other => {
            return assay_testkit::skip(&format!("no file system can be mounted here: {other:?}"));
        }
    };
    let said = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    assert!(ended.status.success(), "{ended:?} {} {}", said("copy.first"), said("copy.second"));
    assert!(said("copy.first").contains("No space left on device"), "{}", said("copy.first"));
    let first = said("copy.second").split(' ').next().and_then(|n| n.parse::<u32>().ok()).expect("a number of cases");
    assert!(0 < first && first < 6_000, "the second run goes on: {}", said("copy.second"));
    assert!(said("copy.third").contains("Read-only file system"), "{}", said("copy.third"));
    let verified = run_binary(&["verify", "--out", path(&copy), "--cases", "6000", "--each", "1000000"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// Returns true if `unshare` itself failed before the script began.
fn copy_is_missing(copy: &Path, output: &Output) -> bool {
    !output.status.success() && !copy.with_extension("first").exists()
}
