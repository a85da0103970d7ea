//! `assay check` and `assay run` of Amber scripts and of case files with several dispatches.

use crate::support::{assay, device};
use std::fs;
use std::path::Path;

const WORDS: &str = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { words[i] = words[i] * 3u; }
";

/// Returns a case file that runs `words.wgsl` twice on 1, 2, 3, 4.
fn case(expected: u32) -> String {
    let dispatch = "[[dispatch]]\nshader = 'words.wgsl'\nworkgroups = [1]\nbind = { words = 'a' }\n";
    format!(
        "[memory.a]\ntype = 'u32'\ndata = [1, 2, 3, 4]\n{dispatch}{dispatch}\
         [[expect]]\nmemory = 'a'\nelement = 3\nvalue = {expected}\n"
    )
}

/// Writes the case files `good.toml` and `bad.toml`, their shader, and scripts that cannot be run.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let graphics = "#!amber\nPIPELINE graphics p\nEND\n";
    for (name, text) in [
        ("words.wgsl", WORDS.to_owned()),
        ("good.toml", case(36)),
        ("bad.toml", case(37)),
        ("empty.amber", "#!amber\nPIPELINE compute p\nEND\nRUN p 1 1 1\n".to_owned()),
        ("graphics.amber", graphics.to_owned()),
        ("draw.vkscript", "[vertex shader passthrough]\n[test]\nclear\n".to_owned()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_sequence_is_checked_with_and_without_isolation() {
    if !device::device() {
        return;
    }
    let folder = folder();
    for isolate in ["yes", "no"] {
        let output = assay(&["check", text(&folder.path().join("good.toml")), "--isolate", isolate]);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(output.stdout.contains("1 of 1 expectations of the file are met"), "{output:?}");
        let output = assay(&["check", text(&folder.path().join("bad.toml")), "--isolate", isolate]);
        assert_eq!(output.code, 1, "{output:?}");
        assert!(output.stdout.contains("bad.toml:12: a is 37: 1 of 1 elements are not as expected"), "{output:?}");
    }
}

#[test]
fn a_planted_error_in_a_sequence_has_a_bundle_of_its_dispatch() {
    if !device::device() {
        return;
    }
    let folder = folder();
    let (good, out) = (folder.path().join("good.toml"), folder.path().join("out"));
    let output = assay(&["check", text(&good), "--mutate", "off-by-one@OpIMul", "--out", text(&out)]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("4 of 4 elements are not permitted"), "{output:?}");
    let output = assay(&["repro", text(&out.join("bundle"))]);
    assert!(output.stdout.contains("reproduced, with the same bits"), "{output:?}");
}

#[test]
fn sequences_below_a_folder_are_run() {
    if !device::device() {
        return;
    }
    let folder = folder();
    let output = assay(&["check", text(folder.path()), "--out", text(&folder.path().join("out"))]);
    assert_eq!(output.code, 1, "{output:?}");
    let name = |file: &str| format!("{}/{file}", text(folder.path()));
    assert!(output.stdout.contains(&format!("Pass {}", name("good.toml"))), "{output:?}");
    assert!(output.stdout.contains(&format!("Fail {}", name("bad.toml"))), "{output:?}");
    assert!(output.stdout.contains(&format!("{:<14} {}", "Undetermined", name("empty.amber"))), "{output:?}");
    assert!(!output.stdout.contains("words.wgsl") && !output.stdout.contains("graphics.amber"), "{output:?}");
    assert!(output.stderr.contains("2 shaders have no compute entry point"), "{output:?}");
}

#[test]
fn options_and_scripts_that_do_not_fit_are_refused() {
    let folder = folder();
    let refused = |file: &str, options: &[&str], reason: &str| {
        let path = folder.path().join(file);
        let output = assay(&[&["check", text(&path)], options].concat());
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.stderr.contains(reason), "{output:?}");
    };
    refused(
        "good.toml",
        &["--workgroups", "2", "--reduce"],
        "but --workgroups, --reduce apply to a single shader only",
    );
    refused("good.toml", &["--api", "wgpu"], "which requires --api vulkan");
    refused("good.toml", &["--mutate", "off-by-one@OpISub"], "OpISub");
    refused("empty.amber", &[], "empty.amber:4: no shader is attached to the pipeline `p`");
    refused("graphics.amber", &[], "graphics.amber:2: it is not a compute script: it has a graphics pipeline");
    refused("draw.vkscript", &[], "draw.vkscript:1: it is not a compute script");
}
