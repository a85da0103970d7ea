//! Reports: places in text and in words, errors of unreadable files.

use assay_spirv::inspect::{Report, Source};
use assay_spirv::need::{ApiVersion, Have, Need};

const BYTES: &str = include_str!("../../../shaders/inspect/storage_8bit.spvasm");

#[test]
fn a_report_names_line_and_rule() {
    let text = BYTES.replace("OpDecorate %from Binding 0", "");
    let source = Source::read(text.as_bytes()).unwrap();
    let report = Report::new(&source);
    assert!(!report.is_legal());
    let need = Need::of(&source.module);
    let device = ("a device".to_owned(), Have { api_version: ApiVersion::v1(1), ..Have::default() });
    let shown = report.render("bytes.spvasm", &need, &[device]);
    let expected = "violation: %from lacks DescriptorSet or Binding\n  at bytes.spvasm:36:8\n     |\n  36 |        %from = OpVariable %pointer StorageBuffer\n     |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  VUID-StandaloneSpirv-UniformConstant-06677\n";
    assert!(shown.contains(expected), "{shown}");
    assert!(
        shown.contains("a device: SPIR-V 1.6 needs Vulkan 1.3 (it is 1.1); capability StorageBuffer8BitAccess"),
        "{shown}"
    );
    assert!(shown.contains("set 0 binding 1: StorageBuffer to"), "{shown}");
}

#[test]
fn words_are_placed_by_word() {
    let source = Source::read(BYTES.as_bytes()).unwrap();
    let bytes: Vec<u8> = source.module.words().iter().flat_map(|w| w.to_be_bytes()).collect();
    let source = Source::read(&bytes).unwrap();
    let report = Report::new(&source);
    assert!(report.is_legal());
    assert_eq!(report.capabilities, ["Shader", "StorageBuffer8BitAccess"]);
    let shown = report.render("bytes.spv", &Need::of(&source.module), &[]);
    assert!(
        shown.contains(
            "capability StorageBuffer8BitAccess: feature storageBuffer8BitAccess\n    at word 7 (OpCapability)"
        ),
        "{shown}"
    );
    assert!(shown.ends_with("whose last section names what is not looked at\n"), "{shown}");
}

#[test]
fn unreadable_files_get_one_message_with_a_place() {
    for (bytes, expected) in [
        (
            &b"OpCapability Shadr"[..],
            "line 1, column 14: expected Capability, found \"Shadr\"; the nearest known name is Shader",
        ),
        (b"OpNop\n  OpName %1 \"x\"", "line 2, column 3: word 6: id 1 is used, but no instruction makes it"),
        (b"\x03\x02\x23\x07\x00", "5 bytes are not a whole number of words"),
        (
            b"Op\xff",
            "byte 2 is not UTF-8, and the file does not start with the magic number 0x07230203: expected SPIR-V words or text",
        ),
    ] {
        assert_eq!(Source::read(bytes).unwrap_err().to_string(), expected);
    }
}
