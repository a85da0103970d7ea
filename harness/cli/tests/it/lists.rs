//! Case lists, skips, flakes, baselines and waivers of a run, and its parts.

use crate::support::assay;
use crate::support::device::device;
use std::{collections::BTreeSet, fs, path::Path};

/// A few small cases that every device can run.
const GROUP: &str = "precision.f32.fnegate.*default*";

/// Cases of one operand, so that a range has few inputs at any budget.
const SCALARS: &str = "precision.f32.fnegate.scalar.*";

/// The smallest group that a partition divides.
const SMALLEST: &str = "precision.f32.fnegate.scalar.default*";

fn names(group: &str) -> Vec<String> {
    let names: Vec<String> = assay(&["list", group]).stdout.lines().map(str::to_owned).collect();
    assert!(names.len() >= 3, "{names:?}");
    names
}

/// Returns the first columns of `results.csv`: names and statuses.
fn rows(out: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(out.join("results.csv")).unwrap();
    let row = |line: &str| line.split_once(',').map(|(name, rest)| (name.to_owned(), rest.to_owned())).unwrap();
    text.lines().map(row).map(|(name, rest)| (name, rest.split(',').next().unwrap().to_owned())).collect()
}

#[test]
fn lists_select_cases_and_set_expectations() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let names = names(GROUP);
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let list = file("cases.txt", &format!("# three\n{}\n{}\n{}\n", names[0], names[1], names[2]));
    let skips = file("skips.txt", &format!("^{}$\n", names[1].replace('.', "\\.")));
    let baseline = file("baseline.csv", &format!("{},Fail\n", names[2]));
    let out = dir.path().join("out");
    let out_text = out.to_str().unwrap();
    let arguments = ["run", "--caselist", &list, "--skips", &skips, "--baseline", &baseline, "--out", out_text];
    let output = assay(&arguments);
    // A case passes although the baseline expects a failure: the run fails until the baseline is
    // updated.
    assert_eq!(output.code, 1, "{output:?}");
    assert!(
        output.stdout.contains("FAIL: ") && output.stdout.contains("does better than the baseline expects"),
        "{output:?}"
    );
    assert!(output.stdout.contains("skipped  1 case on the list of skips"), "{output:?}");
    let expected: BTreeSet<(String, String)> =
        [(&names[0], "Pass"), (&names[1], "Skip"), (&names[2], "UnexpectedImprovement(Pass)")]
            .map(|(name, word)| (name.clone(), word.to_owned()))
            .into();
    assert_eq!(rows(&out).into_iter().collect::<BTreeSet<_>>(), expected);
    let failures = fs::read_to_string(out.join("failures.csv")).unwrap();
    assert_eq!(failures, format!("{},UnexpectedImprovement(Pass)\n", names[2]));
    assert!(fs::read_to_string(out.join("standings.jsonl")).unwrap().contains("\"Fixed\""));
    // Without the differing case, everything is as expected.
    let output = assay(&[&arguments[..], &["-e", &names[2]]].concat());
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(rows(&out).len(), 2);
    // A skipped case does not fail as the baseline expects. The exit code and the files agree on
    // that.
    file("baseline.csv", &format!("{},Fail\n", names[1]));
    let output = assay(&arguments);
    assert_eq!(output.code, 1, "{output:?}");
    let failures = fs::read_to_string(out.join("failures.csv")).unwrap();
    assert_eq!(failures, format!("{},UnexpectedImprovement(Skip)\n", names[1]));
}

/// `Frexp` fails on both software drivers (`reports/findings`).
#[test]
fn failing_cases_are_rerun_with_the_options_of_their_run() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let [first, again] = ["first", "again"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let filters = ["precision.f32.frexp.scalar.*", SMALLEST];
    let output = assay(&[&["run", "--seed", "5", "--out", &first][..], &filters].concat());
    assert_eq!(output.code, 1, "{output:?}");
    let failing = |rows: Vec<(String, String)>| -> Vec<String> {
        rows.into_iter().filter(|(_, status)| status == "Fail").map(|(name, _)| name).collect()
    };
    let failed = failing(rows(Path::new(&first)));
    assert!(!failed.is_empty() && failed.len() < rows(Path::new(&first)).len(), "{failed:?}");
    let output = assay(&["run", "--rerun-failed", &first, "--out", &again]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("seed 5"), "{output:?}");
    let reran = rows(Path::new(&again));
    assert_eq!(reran.iter().map(|(name, _)| name).collect::<Vec<_>>(), failed.iter().collect::<Vec<_>>());
    assert_eq!(failing(reran), failed);
    let refusals = [
        (&["--rerun-failed", &first, "--out", &first][..], "is the folder of the earlier run; name another"),
        (&["--rerun-failed", &first, "--seed", "6"], "with another --seed: it was 5, and is now 6"),
        (&["--rerun-failed", dir.path().to_str().unwrap()], "results.jsonl"),
    ];
    for (options, why) in refusals {
        let output = assay(&[&["run"], options].concat());
        assert!(output.code == 2 && output.stderr.contains(why), "{output:?}");
    }
}

#[test]
fn a_run_stops_after_its_number_of_failing_cases_and_can_be_resumed() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out").to_str().unwrap().to_owned();
    let output = assay(&["run", "precision.*.frexp.*", "--max-fail", "1", "--workers", "1", "--out", &out]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.contains("reached --max-fail") && output.stdout.contains("Interrupted after"), "{output:?}");
    let output = assay(&["run", "--resume", &out]);
    assert!(output.code == 1 && !output.stdout.contains("Interrupted after"), "{output:?}");
}

/// A filter without remaining cases gives a note and does not stop the run.
#[test]
fn a_filter_without_remaining_cases_is_noted_if_other_filters_have_cases() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let skips = file("skips.txt", "precision.f32.fmul\n");
    let out = dir.path().join("out");
    let empty = "precision.f32.fmul.scalar.default";
    let arguments = ["run", SMALLEST, empty, "--skips", &skips, "--out", out.to_str().unwrap()];
    let output = assay(&arguments);
    assert_eq!(output.code, 0, "{output:?}");
    let said = format!("note: --skips, --exclude or --caselist removes every case that matches `{empty}`\n");
    assert!(output.stderr.contains(&said), "{output:?}");
    let words: BTreeSet<String> = rows(&out).into_iter().map(|(_, word)| word).collect();
    assert!(words.contains("Pass") && words.contains("Skip"), "{words:?}");
    // Without any remaining case the run is refused.
    let none = assay(&["run", empty, "--skips", &skips, "--out", out.to_str().unwrap()]);
    assert_eq!(none.code, 3, "{none:?}");
    // Waivers and lines of the baseline that match no case are noted even with -q.
    let waiver = |cases: &str| format!("[[waiver]]\ncases = [\"{cases}\"]\nissue = \"I\"\nexpires = 2999-01-01\n");
    let waivers = file("waivers.toml", &(waiver("precision.f32.exp3.*") + &waiver("precision.f32.fnegate")));
    let baseline = file("baseline.csv", "precision.f32.exp3.scalar,Fail\n");
    let lists = ["--waivers", &waivers, "--baseline", &baseline, "-q"];
    let output = assay(&[&["run", SMALLEST, "--out", out.to_str().unwrap()][..], &lists].concat());
    assert_eq!(output.code, 0, "{output:?}");
    let said = format!("note: {waivers}, waiver 1 (I): no known case matches `precision.f32.exp3.*`\n");
    assert!(output.stderr.contains(&said) && !output.stderr.contains("waiver 2"), "{output:?}");
    assert!(output.stderr.contains("baseline.csv names 1 case that does not exist in this version: "), "{output:?}");
}

#[test]
fn a_part_without_cases_succeeds_and_can_be_merged() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut folders, mut empty) = (Vec::new(), 0);
    for part in 1..=5 {
        let out = dir.path().join(part.to_string()).to_str().unwrap().to_owned();
        let output = assay(&["run", SMALLEST, "--partition", &format!("hash:{part}/5"), "--out", &out]);
        assert_eq!(output.code, 0, "{output:?}");
        empty += usize::from(output.stdout.contains("EMPTY: "));
        folders.push(out);
    }
    assert!((1..5).contains(&empty), "{empty}");
    let all = dir.path().join("all");
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let merged = assay(&[&["merge", "--out", all.to_str().unwrap()], folders.as_slice()].concat());
    assert_eq!((merged.code, merged.stderr.as_str()), (0, ""), "{merged:?}");
    assert_eq!(rows(&all).len(), names(SMALLEST).len());
}

#[test]
fn the_merged_parts_equal_the_whole_run() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut ran = Vec::new();
    for part in ["slice:1/2", "slice:2/2"] {
        let out = dir.path().join(part.replace(['/', ':'], "-"));
        let output = assay(&[
            "run",
            SCALARS,
            "--partition",
            part,
            "--budget",
            "sampled",
            "--range",
            "1..1.0001",
            "--out",
            out.to_str().unwrap(),
        ]);
        assert_eq!(output.code, 0, "{output:?}");
        ran.extend(rows(&out).into_iter().map(|(name, _)| name));
    }
    ran.sort();
    let mut names = names(SCALARS);
    names.sort();
    assert_eq!(ran, names);
}

#[test]
fn errors_in_lists_exit_with_2_before_a_device_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.txt");
    let list = path.to_str().unwrap();
    let out = dir.path().join("out");
    for (flag, text, said) in [
        (
            "--caselist",
            "precision.f32.exp3.scalar.default\n",
            "list.txt:1: there is no case `precision.f32.exp3.scalar.default`; the nearest names are precision.f32.exp",
        ),
        ("--caselist", "# nothing\n", "names no case"),
        ("--skips", "a(\n", "list.txt:1: `a(` is not a regular expression"),
        ("--flakes", "a,Fail\n", "list.txt:1: `a,Fail` looks like a baseline entry"),
        ("--waivers", "[[waver]]\n", "unknown field `waver`"),
        ("--baseline", "a;Fail\n", "list.txt:1: `a;Fail` has no status"),
        ("--baseline", "a,Fail\na,Fail\n", "list.txt:2: duplicate case `a`"),
    ] {
        fs::write(&path, text).unwrap();
        let output = assay(&["run", flag, list, "--out", out.to_str().unwrap()]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{flag}: {output:?}");
        assert!(output.stderr.contains(said), "{said}: {}", output.stderr);
    }
    for (arguments, code, said) in [
        (
            &["--caselist", "/nowhere/list.txt"][..],
            2,
            "cannot read /nowhere/list.txt: No such file or directory (os error 2)\n",
        ),
        (&["--partition", "hash:0/4"], 2, "counted from 1"),
        (&["-e", "precision.nothing"], 3, "--exclude: no case matches `precision.nothing`"),
        (&["-e", "*"], 3, "removes every case"),
        (&["gather.core", "-e", "gather"], 3, "removes every case that matches `gather.core`"),
        (&["precision.nothing", "--device", "all"], 3, "no case matches `precision.nothing`"),
        (&["precision.nothing", "--api", "both"], 3, "no case matches `precision.nothing`"),
        (&["gather.core", "--device", "all", "--baseline", "/nowhere/list"], 2, "cannot read /nowhere/list"),
    ] {
        let output = assay(&[&["run", "--out", out.to_str().unwrap()], arguments].concat());
        assert_eq!((output.code, output.stdout.as_str()), (code, ""), "{output:?}");
        assert!(output.stderr.contains(said), "{said}: {}", output.stderr);
    }
    assert!(!out.exists());
}
