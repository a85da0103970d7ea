//! `assay inspect` without a driver, on the shaders of `shaders/inspect`.

use crate::support::{Output, assay, assay_with};

/// Runs `assay inspect` without a driver, so that the output is the same on every machine.
fn inspect(arguments: &[&str]) -> Output {
    let arguments: Vec<&str> = ["inspect"].iter().chain(arguments).copied().collect();
    assay_with(&arguments, &[("VK_DRIVER_FILES", "/nonexistent")])
}

fn shader(name: &str) -> String {
    format!("{}/../../shaders/inspect/{name}.spvasm", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_are_legal_and_list_their_requirements() {
    for (name, requirements) in [
        ("gather_qcom", "capability ImageGatherLinearQCOM: feature imageGatherLinear"),
        ("tile_shading_qcom", "capability TileShadingQCOM: feature tileShading"),
        ("bindless_kernel_intel", "a kernel, which does not target Vulkan"),
        ("storage_8bit", "capability StorageBuffer8BitAccess: feature storageBuffer8BitAccess"),
    ] {
        let output = inspect(&[&shader(name)]);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(output.stdout.contains(requirements), "{output:?}");
        assert!(output.stdout.contains("legal: no rule in "), "{output:?}");
    }
}

#[test]
fn a_violation_is_shown_with_its_line() {
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
fn text_and_binary_convert_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (words, text) = (folder.path().join("a.spv"), folder.path().join("a.spvasm"));
    let (words, text) = (words.to_str().unwrap(), text.to_str().unwrap());
    assert_eq!(inspect(&[&shader("gather_qcom"), "--emit", words]).code, 0);
    assert_eq!(inspect(&[words, "--emit", text]).code, 0);
    let shown = inspect(&["--disassemble", &shader("gather_qcom")]).stdout;
    assert_eq!(std::fs::read_to_string(text).unwrap(), shown);
}

/// Returns words as little-endian bytes.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns a module of instructions after `OpCapability Shader` and `OpMemoryModel Logical
/// GLSL450`; they start at word 10.
fn module(bound: u32, instructions: &[u32]) -> Vec<u8> {
    let mut all = vec![0x0723_0203, 0x0001_0600, 0, bound, 0, 0x0002_0011, 1, 0x0003_000e, 0, 1];
    all.extend(instructions);
    words(&all)
}

#[test]
fn unreadable_files_get_one_message_and_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, Vec<u8>, &str); 20] = [
        ("a.spv", b"".to_vec(), "the file is empty"),
        ("a.spv", b"\x03\x02\x23\x07\x00\x06".to_vec(), "6 bytes are not a whole number of words"),
        ("a.spv", words(&[0x0723_0203, 0x0001_0600, 0]), "word 0: a header has 5 words, found 3"),
        ("a.spv", words(&[0x0723_0204, 0x0001_0600, 0, 1, 0]), "starts with 0x07230204, not with the magic number"),
        (
            "a.spv",
            module(10, &[0x0005_0013, 1]),
            "word 10: the instruction at word 10 has 5 words, but only 2 are left",
        ),
        ("a.spv", module(10, &[0x0000_0013]), "word 10: the instruction at word 10 has 0 words"),
        ("a.spv", module(u32::MAX, &[]), "word 3: id bound 4294967295, expected 1 to 4194303"),
        ("a.spv", module(10, &[0x0002_0013, 500]), "word 10: id 500 is not below the bound 10"),
        (
            "a.spv",
            module(10, &[0x0003_001e, 1, 1]),
            "word 10: OpTypeStruct refers to id 1, which is not a type declared",
        ),
        ("a.spv", module(10, &[0x0003_001d, 1, 1]), "word 10: OpTypeRuntimeArray refers to id 1"),
        ("a.spvasm", b"\xff\xfe".to_vec(), "byte 0 is not UTF-8"),
        ("a.spvasm", b"OpExtension \"abc".to_vec(), "line 1, column 13: string literal has no closing quote"),
        (
            "a.spvasm",
            b"OpMemoryModel Logical".to_vec(),
            "line 1, column 22: expected MemoryModel, found the end of the text",
        ),
        ("a.spvasm", b"OpCapability Shader 1".to_vec(), "line 1, column 21: OpCapability takes no more operands"),
        ("a.spvasm", b"%i = OpTypeInt 99999999999 0".to_vec(), "99999999999 does not fit into 32 bits"),
        ("a.spvasm", b"OpCapability Shadr".to_vec(), "expected Capability, found \"Shadr\"; did you mean 'Shader'?"),
        (
            "a.spvasm",
            b"OpCapabilty Shader".to_vec(),
            "line 1, column 1: expected an instruction, found \"OpCapabilty\"; did you mean 'OpCapability'?",
        ),
        ("a.wgsl", b"fn main() {}\n// \xff".to_vec(), "line 2: byte 16 is not valid UTF-8"),
        ("a.wgsl", b"@compute fn main( { }".to_vec(), "a.wgsl:1:19"),
        ("a.wgsl", [&b"fn f() -> i32 { return "[..], &[b'('; 3000]].concat(), "recursion limit exceeded"),
    ];
    for (name, bytes, expected) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let output = inspect(&[path.to_str().unwrap()]);
        assert_eq!(output.code, 2, "{expected}: {output:?}");
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{expected}: {output:?}");
        assert_eq!(output.stderr.matches("error: ").count(), 1, "one message: {output:?}");
    }
    assert_eq!(assay(&["inspect", "/nonexistent.spv"]).code, 2);
}

#[test]
fn a_misspelt_extended_instruction_has_a_suggestion_and_both_byte_orders_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.spvasm");
    let text = "%g = OpExtInstImport \"GLSL.std.450\"\n%r = OpExtInst %f %g Sqtr %one\n";
    std::fs::write(&path, text).unwrap();
    let output = inspect(&[path.to_str().unwrap()]);
    assert!(output.stderr.contains("did you mean 'Sqrt'?"), "{output:?}");

    let little = folder.path().join("little.spv");
    assert_eq!(inspect(&[&shader("gather_qcom"), "--emit", little.to_str().unwrap()]).code, 0);
    let mut bytes = std::fs::read(&little).unwrap();
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    let big = folder.path().join("big.spv");
    std::fs::write(&big, bytes).unwrap();
    let shown = |path: &std::path::Path| inspect(&["--disassemble", path.to_str().unwrap()]).stdout;
    assert!(!shown(&big).is_empty());
    assert_eq!(shown(&little), shown(&big));
}

#[test]
fn a_missing_device_is_an_error_only_if_it_is_selected() {
    assert_eq!(inspect(&[&shader("storage_8bit")]).code, 0);
    let output = inspect(&[&shader("storage_8bit"), "--device", "lavapipe"]);
    assert_eq!(output.code, 4, "{output:?}");
}

#[test]
fn wgsl_is_translated_by_naga() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wgsl");
    let path = path.to_str().unwrap();
    let shader = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
                  @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
                  \x20 data[id.x] = data[id.x] * 2u;\n}\n";
    std::fs::write(path, shader).unwrap();
    let output = inspect(&[path]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("workgroup size 64 x 1 x 1"), "{output:?}");
    std::fs::write(path, shader.replace("2u", "2.5")).unwrap();
    let output = inspect(&[path]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("a.wgsl:3:"), "{output:?}");
}

/// A complete file replaces the old one: a hard link to the old file keeps its contents.
#[cfg(unix)]
#[test]
fn an_emitted_module_replaces_a_file_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let shader = shader("gather_qcom");
    for (name, arguments) in [("module.spv", &["inspect", &shader, "--emit"][..]), ("coverage.md", &["coverage"])] {
        let (path, other) = (file(name), file(&format!("other.{name}")));
        std::fs::write(&path, "before").unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        let output = assay(&[arguments, &[path.as_str()]].concat());
        assert_eq!(output.code, 0, "{output:?}");
        assert!(std::fs::metadata(&path).unwrap().len() > 100, "{name}");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "before", "{name}");
    }
    // A failed replacement leaves no scratch file.
    let output = assay(&["inspect", &shader, "--emit", folder.path().to_str().unwrap()]);
    assert!(output.code == 2 && output.stderr.contains("cannot write"), "{output:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    assert!(!std::path::Path::new(&format!("{}.partial", folder.path().display())).exists());
}

/// An array of storage buffers, indexed by an invocation without the required capability; the text
/// has no version.
const INDEXED: &str = include_str!("shaders/indexed_buffers.spvasm");

fn written(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("indexed.spvasm");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_warning_keeps_exit_code_0_and_strict_makes_it_a_violation() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, INDEXED);
    let output = inspect(&[&path]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("warning: descriptor array indexed with a non-constant"), "{output:?}");
    assert!(output.stdout.contains("legal, with 1 warning (--strict rejects the module)"), "{output:?}");
    let json: serde_json::Value = serde_json::from_str(&inspect(&["--json", &path]).stdout).unwrap();
    assert_eq!(json["report"]["warnings"][0]["name"], "storage-buffer-index");
    assert_eq!(json["report"]["violations"].as_array().map(Vec::len), Some(0));
    let output = inspect(&["--strict", &path]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("violation: descriptor array indexed with a non-constant"), "{output:?}");
}

#[test]
fn text_is_assembled_for_the_named_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, INDEXED);
    for (arguments, version) in
        [(&[][..], "1.6"), (&["--target-env", "vulkan1.1"], "1.3"), (&["--target-env", "spv1.5"], "1.5")]
    {
        let output = inspect(&[arguments, &[&path]].concat());
        assert!(output.stdout.contains(&format!("SPIR-V {version}\n")), "{output:?}");
    }
    let output = inspect(&["--target-env", "vulkan9", &path]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("unknown target environment 'vulkan9': expected one of spv1.0,"), "{output:?}");
    let words = folder.path().join("a.spv");
    let words = words.to_str().unwrap();
    assert_eq!(inspect(&[&path, "--emit", words]).code, 0);
    let output = inspect(&["--target-env", "spv1.0", words]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("a binary module declares its own version of SPIR-V"), "{output:?}");
}
