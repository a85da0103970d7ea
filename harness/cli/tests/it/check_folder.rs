//! `assay check` of a folder.

use crate::support::assay;
use std::fs;
use std::path::Path;

const WRITES: &str = "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn first(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = id.x * 3u; }
";

/// Writes the files of a folder.
fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Such a file is checked as a folder of shaders is, unless the arguments choose one of them.
#[test]
fn every_entry_point_of_a_file_is_checked() {
    if !crate::support::device::device() {
        return;
    }
    let two = format!("{WRITES}@compute @workgroup_size(1) fn second() {{ y[0] = 7u; }}");
    let folder = folder(&[("two.wgsl", two)]);
    let file = folder.path().join("two.wgsl");
    let out = folder.path().join("out");
    let output = assay(&["check", text(&file), "--out", text(&out)]);
    assert!(output.stdout.contains("two.wgsl:first: all 512 written elements checked"), "{output:?}");
    assert!(output.stdout.contains("two.wgsl:second: all 2 written elements checked"), "{output:?}");
    let one = assay(&["check", text(&file), "--entry", "first", "--elements", "300"]);
    assert!(one.code == 0 && one.stdout.contains("first with "), "{one:?}");
    let open = assay(&["check", text(&file), "--elements", "300"]);
    let advice = "two.wgsl is a file with 2 shaders, but --elements applies to a single shader only; choose one of \
                  first, second with --entry or --define";
    assert!(open.code == 2 && open.stderr.contains(advice), "{open:?}");
}

#[test]
fn every_shader_and_entry_point_below_a_folder_is_checked() {
    if !crate::support::device::device() {
        return;
    }
    let two = format!("{WRITES}@compute @workgroup_size(1) fn second() {{ y[0] = 7u; }}");
    let case = "shader = 'named.wgsl'\nworkgroups = [1]\nrounds = 1\n\
                [[expect]]\nbinding = 'y'\nelement = '[2]'\nvalue = '7'\n";
    let folder = folder(&[
        ("a.wgsl", WRITES.to_owned()),
        ("sub/two.wgsl", two),
        ("sub/named.wgsl", WRITES.to_owned()),
        ("sub/named.toml", case.to_owned()),
        ("broken.wgsl", "@compute fn main(".to_owned()),
        ("old_vertex.wgsl", "[[stage(vertex)]] fn main(".to_owned()),
        ("part.comp", "float half_of(float x) { return x / 2.0; }".to_owned()),
        ("fragment.wgsl", "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(); }".to_owned()),
        (".hidden/b.wgsl", WRITES.to_owned()),
        ("notes.toml", "text = 'not of Assay'".to_owned()),
        ("sharp.cs", "class A { static void Main() {} }".to_owned()),
        ("c.glsl", "#version 450\nlayout(local_size_x = 1) in;\nvoid main(".to_owned()),
        ("included.glsl", "float half_of(float x) { return x / 2.0; }".to_owned()),
        ("vertex.glsl", "#version 450\nvoid main() {}".to_owned()),
        ("noise.comp", "#ifndef NOISE\n#define NOISE // in a domain\n#include \"included.glsl\"\n#endif".to_owned()),
        ("mesh.glsl", "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}".to_owned()),
        ("cull.task.glsl", "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}".to_owned()),
    ]);
    let out = folder.path().join("out");
    let output = assay(&["check", text(folder.path()), "--out", text(&out)]);
    assert_eq!(output.code, 1, "{output:?}");
    let line = |status: &str, name: &str| format!("{status:<14} {}/{name}", text(folder.path()));
    for (status, name) in [
        ("Pass", "a.wgsl  all 512 written elements checked, all permitted\n"),
        ("Pass", "sub/two.wgsl:first  all 512 written elements checked, all permitted\n"),
        (
            "Pass",
            "sub/two.wgsl:second  all 2 written elements checked, all permitted; Assay chose --workgroups 1,1,1\n",
        ),
        ("Undetermined", "broken.wgsl  "),
        ("Undetermined", "c.glsl  "),
    ] {
        assert!(output.stdout.contains(&line(status, name)), "{status} {name}: {output:?}");
    }
    assert!(
        output.stdout.contains(&format!("Fail {}/sub/named.toml: 1 expectation", text(folder.path()))),
        "{output:?}"
    );
    assert!(!output.stdout.contains("sub/named.wgsl"), "a shader of a case file is not checked alone: {output:?}");
    assert!(!output.stdout.contains("hidden") && !output.stdout.contains("notes.toml"), "{output:?}");
    for other in ["included.glsl", "vertex.glsl", "mesh.glsl", "task.glsl", "noise.comp  "] {
        assert!(!output.stdout.contains(other), "{other}: {output:?}");
    }
    assert!(output.stderr.contains("4 shaders have no compute entry point"), "{output:?}");
    let results = fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert_eq!(results.matches("\"event\":\"check_finished\"").count(), 6, "{results}");
    // A finished run is resumed without running anything again.
    let again = assay(&["run", "--resume", text(&out)]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stderr.contains("6 results from the earlier run"), "{again:?}");
}

/// Writes a launcher that deletes a file or folder before it starts a worker, from the given start
/// on. Returns the options that use it.
fn deleting_launcher(folder: &Path, delete: &Path, from: u32) -> [String; 4] {
    let (script, starts) = (folder.join("launch.sh"), folder.join("starts"));
    let (starts, delete) = (starts.display(), delete.display());
    let lines = format!(
        "echo start >> '{starts}'\nif [ $(wc -l < '{starts}') -ge {from} ]; then rm -rf '{delete}'; fi\nexec \"$@\"\n"
    );
    fs::write(&script, lines).unwrap();
    let prefix = format!("sh '{}'", script.display());
    ["--via".to_owned(), prefix, "--via-binary".to_owned(), env!("CARGO_BIN_EXE_assay").to_owned()]
}

#[test]
fn workers_need_no_file_of_the_shaders_that_they_run() {
    if !crate::support::device::device() {
        return;
    }
    let case = "shader = 'named.wgsl'\nworkgroups = [1]\nrounds = 1\n[input]\ny = 'zeros.bin'\n\
                [[expect]]\nbinding = 'y'\nelement = '[2]'\nvalue = '7'\n";
    let folder = folder(&[
        ("shaders/a.wgsl", WRITES.to_owned()),
        ("shaders/named.wgsl", WRITES.to_owned()),
        ("shaders/named.toml", case.to_owned()),
        ("shaders/zeros.bin", "\0".repeat(256)),
    ]);
    let (shaders, out) = (folder.path().join("shaders"), folder.path().join("out"));
    // The failure is confirmed by a second process, before whose start all files are deleted.
    let launcher = deleting_launcher(folder.path(), &shaders, 2);
    let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
    let output = assay(&[&["check", text(&shaders), "--out", text(&out)], launcher.as_slice()].concat());
    assert_eq!(output.code, 1, "{output:?}");
    assert!(!shaders.exists(), "a second worker was started");
    let results = fs::read_to_string(out.join("results.jsonl")).unwrap();
    let verdicts: Vec<(String, String)> = results
        .lines()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            assay_events::Event::CheckFinished(check) => Some((
                format!("{:?}", check.status),
                check.repeat.map_or_else(String::new, |r| format!("{:?}", r.verdict)),
            )),
            _ => None,
        })
        .collect();
    let expected = [("Fail", "Same"), ("Pass", "")].map(|(status, verdict)| (status.to_owned(), verdict.to_owned()));
    let mut verdicts = verdicts;
    verdicts.sort();
    assert_eq!(verdicts, expected, "{output:?}");
}

#[test]
fn workers_need_no_file_of_the_families_that_they_run() {
    if !crate::support::device::device() {
        return;
    }
    let family = "why = 'Powers and roots.'\n[[cases]]\ninstructions = ['Sqrt', 'Exp2', 'Log2']\nscalars = ['f16']\n\
                  modes = ['default']\nsources = ['buffer']\n";
    let folder = folder(&[("mine.toml", family.to_owned())]);
    let (file, out) = (folder.path().join("mine.toml"), folder.path().join("out"));
    let launcher = deleting_launcher(folder.path(), &file, 1);
    let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
    let output = assay(&[&["run", text(&file), "--out", text(&out)], launcher.as_slice()].concat());
    assert!(output.code == 0 || output.code == 1, "{output:?}");
    assert!(!file.exists(), "the launcher deletes the file");
    let results = fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert!(results.matches("\"event\":\"case_finished\"").count() > 2, "{output:?}");
    assert!(!results.contains("\"InternalError\""), "{output:?}");
}

#[test]
fn options_of_one_shader_are_refused_for_a_folder() {
    let folder = folder(&[("a.wgsl", WRITES.to_owned())]);
    let output = assay(&["check", text(folder.path()), "--workgroups", "2", "--reduce"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(
        output.stderr.contains("is a folder, but --workgroups, --reduce apply to a single shader only"),
        "{output:?}"
    );
    let empty = tempfile::tempdir().unwrap();
    let output = assay(&["check", text(empty.path())]);
    assert_eq!(output.code, 3, "{output:?}");
    assert!(output.stderr.contains("no compute shader and no case file of a shader"), "{output:?}");
}
