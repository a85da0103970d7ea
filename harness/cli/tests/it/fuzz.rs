//! Campaigns of random shaders.

use crate::support::{assay, device::device};
use assay_reports::ResultDir;
use std::path::Path;

/// Returns the statuses of a campaign by name.
fn statuses(folder: &Path) -> Vec<(String, String)> {
    let results = ResultDir::open(folder).expect("a finished campaign");
    results.statuses().expect("results").into_iter().map(|(name, status)| (name, format!("{status:?}"))).collect()
}

#[test]
fn a_campaign_that_is_stopped_and_resumed_gives_the_same_results() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let campaign = |out: &Path, more: &[&str]| {
        let out = out.to_str().expect("UTF-8");
        assay(&[&["fuzz", "--programs", "5", "--seed", "6", "--no-reduce", "--out", out], more].concat())
    };
    let output = campaign(&whole, &[]);
    assert!(output.stdout.contains("programs judged on"), "{output:?}");
    let stopped = campaign(&parts, &["--time", "0.01"]);
    assert!(stopped.stderr.contains("the time of the campaign is over"), "{stopped:?}");
    assert!(matches!(stopped.code, 0 | 1 | 3), "{stopped:?}");
    assert_eq!(
        stopped.code == 3,
        stopped.stdout.contains("\n0 programs judged"),
        "nothing judged is no success: {stopped:?}"
    );
    let resumed = assay(&["fuzz", "--resume", parts.to_str().expect("UTF-8"), "--no-reduce"]);
    assert_eq!(resumed.code, output.code, "{resumed:?}");
    assert_eq!(statuses(&parts), statuses(&whole));
    assert_eq!(statuses(&whole).len(), 5);
}

#[test]
fn a_program_of_a_campaign_is_a_case_of_its_own() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let output = assay(&["run", "fuzz.6.5", "fuzz.6.4-5", "--out", out.to_str().expect("UTF-8")]);
    assert!(matches!(output.code, 0 | 1 | 3), "{output:?}");
    let names: Vec<String> = statuses(&out).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["fuzz.6.4", "fuzz.6.5"]);
    let refused = assay(&["run", "fuzz.6.5-4"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`fuzz.6.5-4`: expected fuzz.SEED.INDEX or fuzz.SEED.FIRST-LAST"), "{refused:?}");
}

/// Two shaders of a user, of which one has a case file.
fn write_shaders(folder: &Path) {
    let shader = |value: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
                let x = data[id.x];
                data[id.x] = {value};
            }}"
        )
    };
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("sums.wgsl", &shader("(x + 7u) * (x ^ id.x)"));
    write("sizes.wgsl", &shader("max(x >> 3u, countOneBits(x)) - (x & 12u)"));
    write("sizes.toml", "shader = \"sizes.wgsl\"\nworkgroups = [2]\n[input]\ndata = \"index\"\n");
}

#[test]
fn a_campaign_takes_mutants_of_the_shaders_of_a_folder() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [shaders, out] = ["shaders", "out"].map(|name| folder.path().join(name));
    std::fs::create_dir(&shaders).expect("a folder");
    let campaign = |programs: &str| {
        let [from, out] = [&shaders, &out].map(|path| path.to_str().expect("UTF-8"));
        assay(&["fuzz", "--from", from, "--programs", programs, "--seed", "5", "--no-reduce", "--out", out])
    };
    let none = campaign("6");
    assert!(none.code == 3 && none.stderr.contains("no compute shader that can be checked"), "{none:?}");
    write_shaders(&shaders);
    let output = campaign("6");
    assert!(matches!(output.code, 0 | 1), "{output:?}");
    assert!(output.stderr.contains("mutants of 2 shaders in "), "{output:?}");
    let names: Vec<String> = statuses(&out).into_iter().map(|(name, _)| name).collect();
    assert!(names.len() > 3 && names.iter().all(|name| name.contains("/mutants/0000")), "{names:?}");
    let case = std::fs::read_to_string(&names[0]).expect("the case file of a mutant");
    assert!(case.contains("Mutant of ") && case.contains("workgroups = [2, 1, 1]"), "{case}");
    // The mutants of an earlier campaign are gone.
    let fewer = campaign("2");
    assert!(matches!(fewer.code, 0 | 1 | 3), "{fewer:?}");
    assert!(statuses(&out).len() <= 2, "{fewer:?}");
}
