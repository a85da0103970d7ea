//! `assay inspect`, with no driver, on the shaders of `shaders/inspect`.

mod common;

use common::{Output, assay, assay_with};

/// Without a driver whatever the machine has, so that the output is the same everywhere.
fn inspect(arguments: &[&str]) -> Output {
    let arguments: Vec<&str> = ["inspect"].iter().chain(arguments).copied().collect();
    assay_with(&arguments, &[("VK_DRIVER_FILES", "/nonexistent")])
}

fn shader(name: &str) -> String {
    format!("{}/../../shaders/inspect/{name}.spvasm", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_are_legal_and_say_what_they_need() {
    for (name, need) in [
        ("gather_qcom", "capability ImageGatherLinearQCOM: feature imageGatherLinear"),
        ("tile_shading_qcom", "capability TileShadingQCOM: feature tileShading"),
        ("bindless_kernel_intel", "a kernel, which is not for Vulkan"),
        ("storage_8bit", "capability StorageBuffer8BitAccess: feature storageBuffer8BitAccess"),
    ] {
        let output = inspect(&[&shader(name)]);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(output.stdout.contains(need), "{output:?}");
        assert!(output.stdout.contains("legal: no rule is broken"), "{output:?}");
    }
}

#[test]
fn a_violation_is_shown_in_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.spvasm");
    let text = std::fs::read_to_string(shader("tile_shading_qcom")).unwrap();
    std::fs::write(&path, text.replace("TileShadingRateQCOM 2 2 1", "TileShadingRateQCOM 3 2 1")).unwrap();
    let path = path.to_str().unwrap();
    let output = inspect(&[path]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("OpExecutionMode %main TileShadingRateQCOM 3 2 1"), "{output:?}");
    assert!(output.stdout.contains("SPV_QCOM_tile_shading, Validation Rules"), "{output:?}");
    let json: serde_json::Value = serde_json::from_str(&inspect(&["--json", path]).stdout).unwrap();
    assert_eq!(json["report"]["violations"][0]["name"], "tile-rate-powers");
    assert_eq!(json["report"]["violations"][0]["place"]["line"], 14);
}

#[test]
fn text_and_words_convert_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (words, text) = (folder.path().join("a.spv"), folder.path().join("a.spvasm"));
    let (words, text) = (words.to_str().unwrap(), text.to_str().unwrap());
    assert_eq!(inspect(&[&shader("gather_qcom"), "--emit", words]).code, 0);
    assert_eq!(inspect(&[words, "--emit", text]).code, 0);
    let shown = inspect(&["--disassemble", &shader("gather_qcom")]).stdout;
    assert_eq!(std::fs::read_to_string(text).unwrap(), shown);
}

#[test]
fn what_cannot_be_read_gets_one_message_and_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.spv");
    for (bytes, expected) in [
        (&b"\x03\x02\x23\x07\x00\x06"[..], "6 bytes are not a whole number of words"),
        (
            b"OpCapability Shadr",
            "line 1, column 14: expected Capability, found \"Shadr\"; the nearest known name is Shader",
        ),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let output = inspect(&[path.to_str().unwrap()]);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.stderr.contains(expected), "{output:?}");
    }
    assert_eq!(assay(&["inspect", "/nonexistent.spv"]).code, 2);
}

#[test]
fn wgsl_goes_through_naga() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wgsl");
    let path = path.to_str().unwrap();
    let shader = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
                  @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
                  \x20 data[id.x] = data[id.x] * 2u;\n}\n";
    std::fs::write(path, shader).unwrap();
    let output = inspect(&[path]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("workgroups of 64 x 1 x 1"), "{output:?}");
    std::fs::write(path, shader.replace("2u", "2.5")).unwrap();
    let output = inspect(&[path]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("a.wgsl:3:"), "{output:?}");
}
