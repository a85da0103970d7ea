//! Reports: positions in text and in words, and errors for unreadable files.

use assay_spirv::TargetEnv;
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_spirv_rules::requirements::{ApiVersion, DeviceCaps, Requirements};
use assay_testkit::Shader;

const BYTES: &str = include_str!("../../../../shaders/inspect/storage_8bit.spvasm");

#[test]
fn report_names_line_and_rule() {
    let text = BYTES.replace("OpDecorate %from Binding 0", "");
    let source = ModuleSource::read(text.as_bytes()).unwrap();
    let report = Report::new(&source);
    assert!(!report.is_legal());
    let requirements = Requirements::of(&source.module);
    let device = ("a device".to_owned(), DeviceCaps { api_version: ApiVersion::v1(1), ..DeviceCaps::default() });
    let shown = report.render("bytes.spvasm", &requirements, &[device]);
    let expected = "violation: %from has no DescriptorSet or no Binding\n  at bytes.spvasm:36:8\n     |\n  36 |        %from = OpVariable %pointer StorageBuffer\n     |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  VUID-StandaloneSpirv-UniformConstant-06677\n";
    assert!(shown.contains(expected), "{shown}");
    assert!(
        shown
            .contains("a device: SPIR-V 1.6 needs Vulkan 1.3 (the device has 1.1); capability StorageBuffer8BitAccess"),
        "{shown}"
    );
    assert!(shown.contains("set 0 binding 1: StorageBuffer to"), "{shown}");
}

#[test]
fn positions_in_binary_modules_are_word_indices() {
    let source = ModuleSource::read(BYTES.as_bytes()).unwrap();
    let bytes: Vec<u8> = source.module.words().iter().flat_map(|w| w.to_be_bytes()).collect();
    let source = ModuleSource::read(&bytes).unwrap();
    let report = Report::new(&source);
    assert!(report.is_legal());
    assert_eq!(report.capabilities, ["Shader", "StorageBuffer8BitAccess"]);
    let shown = report.render("bytes.spv", &Requirements::of(&source.module), &[]);
    assert!(
        shown.contains(
            "capability StorageBuffer8BitAccess: feature storageBuffer8BitAccess\n    at word 7 (OpCapability)"
        ),
        "{shown}"
    );
    assert!(shown.ends_with("violated (its last section lists what is not checked)\n"), "{shown}");
}

#[test]
fn unreadable_files_give_one_message_with_a_position() {
    for (bytes, expected) in [
        (&b"OpCapability Shadr"[..], "line 1, column 14: expected Capability, found \"Shadr\"; did you mean 'Shader'?"),
        (b"OpNop\n  OpName %1 \"x\"", "line 2, column 3: word 6: id 1 is used but not defined"),
        (b"\x03\x02\x23\x07\x00", "5 bytes are not a whole number of words"),
        (
            b"Op\xff",
            "byte 2 is not UTF-8, and the file does not start with the magic number 0x07230203: expected binary SPIR-V or its text",
        ),
    ] {
        assert_eq!(ModuleSource::read(bytes).unwrap_err().to_string(), expected);
    }
}

/// Returns a compute shader with an invalid workgroup size of 0, and with extra capabilities.
fn shader_beside(capabilities: &str, model: &str) -> ModuleSource {
    let memory_model = &format!("Logical {model}");
    let text = Shader { head: capabilities, memory_model, local_size: 0, ..Shader::default() }.text();
    ModuleSource::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn kernel_capabilities_do_not_disable_rules_for_shaders() {
    for capability in [
        "Kernel",
        "Vector16",
        "Float16Buffer",
        "ImageBasic",
        "ImageReadWrite",
        "ImageMipmap",
        "Pipes",
        "DeviceEnqueue",
        "LiteralSampler",
        "SubgroupDispatch",
        "NamedBarrier",
        "PipeStorage",
        "FPFastMathModeINTEL",
    ] {
        for model in ["GLSL450", "OpenCL"] {
            let report = Report::new(&shader_beside(&format!("OpCapability {capability}"), model));
            assert_eq!(report.environment, "vulkan", "{capability}");
            let messages: Vec<&str> = report.violations.iter().map(|v| v.message.as_str()).collect();
            let named = format!("Vulkan does not list capability {capability}");
            assert!(messages.contains(&named.as_str()), "{capability}: {messages:?}");
            assert!(
                report.violations.iter().any(|v| v.name == "workgroup-size-positive"),
                "{capability}: {messages:?}"
            );
        }
    }
}

/// A kernel.
const KERNEL: &str = "OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n\
    OpEntryPoint Kernel %main \"main\"\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
    %main = OpFunction %void None %fn\n%label = OpLabel\nOpReturn\nOpFunctionEnd";

#[test]
fn report_of_a_kernel_names_the_capabilities_of_another_api() {
    let source = ModuleSource::from_text(KERNEL).unwrap();
    let report = Report::new(&source);
    assert_eq!((report.environment.as_str(), report.is_legal()), ("other", true));
    assert_eq!(report.unlisted, ["Kernel", "Addresses"]);
    let shown = report.render("kernel.spvasm", &Requirements::of(&source.module), &[]);
    assert!(shown.contains("does not target Vulkan, which does not list Kernel, Addresses: only the rules"), "{shown}");
    // A library for the same API has no entry point that would identify it.
    let library: Vec<&str> = KERNEL.lines().filter(|line| !line.contains("OpEntryPoint")).collect();
    let library = library.join("\n").replace("OpCapability Addresses", "OpCapability Addresses\nOpCapability Linkage");
    assert_eq!(Report::new(&ModuleSource::from_text(&library).unwrap()).environment, "other");
}

/// A shader that indexes an array of storage buffers with the invocation index, without the
/// capability that this requires.
const INDEXED: &str = "; Version: 1.3
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %buffers DescriptorSet 0
OpDecorate %buffers Binding 0
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%u0 = OpConstant %uint 0
%u4 = OpConstant %uint 4
%Block = OpTypeStruct %uint
%array = OpTypeArray %Block %u4
%ins = OpTypePointer Input %uint
%pointer = OpTypePointer StorageBuffer %array
%words = OpTypePointer StorageBuffer %uint
%id = OpVariable %ins Input
%buffers = OpVariable %pointer StorageBuffer
%main = OpFunction %void None %fn
%label = OpLabel
%i = OpLoad %uint %id
%word = OpAccessChain %words %buffers %i %u0
OpStore %word %i
OpReturn
OpFunctionEnd";

#[test]
fn warnings_are_errors_only_when_strict() {
    let source = ModuleSource::from_text(INDEXED).unwrap();
    let report = Report::new(&source);
    assert!(report.is_legal(), "{:?}", report.violations);
    let names: Vec<&str> = report.warnings.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["storage-buffer-index"]);
    let requirements = Requirements::of(&source.module);
    let shown = report.render("indexed.spvasm", &requirements, &[]);
    let expected = "warning: descriptor array indexed with a non-constant; this requires StorageBufferArrayDynamicIndexing\n  at indexed.spvasm:26:1\n";
    assert!(shown.contains(expected), "{shown}");
    assert!(shown.contains("\nlegal, with 1 warning (--strict rejects the module): "), "{shown}");
    // The device must support the feature nevertheless.
    assert!(
        shown.contains("descriptor array indexed with a non-constant: feature shaderStorageBufferArrayDynamicIndexing"),
        "{shown}"
    );
    let strict = report.strict();
    assert!(!strict.is_legal() && strict.warnings.is_empty());
    let shown = strict.render("indexed.spvasm", &requirements, &[]);
    assert!(shown.contains("\nviolation: descriptor array") && shown.ends_with("\n1 violation\n"), "{shown}");
}

/// The module is legal below 1.4 only: its interface lists no buffer, and `BufferBlock` ends with
/// 1.3.
#[test]
fn text_without_a_version_gets_one_in_which_it_is_legal() {
    let buffer_block = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
        OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %block BufferBlock\nOpMemberDecorate %block 0 Offset 0\n\
        OpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n%void = OpTypeVoid\n\
        %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%zero = OpConstant %uint 0\n%block = OpTypeStruct %uint\n\
        %block_ptr = OpTypePointer Uniform %block\n%uint_ptr = OpTypePointer Uniform %uint\n\
        %buffer = OpVariable %block_ptr Uniform\n%main = OpFunction %void None %fn\n%start = OpLabel\n\
        %at = OpAccessChain %uint_ptr %buffer %zero\nOpStore %at %zero\nOpReturn\nOpFunctionEnd\n";
    let version = |text: &str| {
        let source = ModuleSource::read(text.as_bytes()).unwrap();
        (source.module.version().to_string(), Report::new(&source).is_legal())
    };
    assert_eq!(version(buffer_block), ("1.0".to_owned(), true));
    assert_eq!(version(&format!("; SPIR-V\n; Version: 1.5\n{buffer_block}")), ("1.5".to_owned(), false));
    // A store of a pointer breaks a rule in all versions.
    let broken = buffer_block.replace("OpStore %at %zero", "OpStore %at %at");
    assert_eq!(version(&broken), ("1.0".to_owned(), false));
}

#[test]
fn target_environment_determines_the_version() {
    let version = |text: &str, target: Option<&str>| {
        let target = target.map(|name| name.parse().unwrap());
        ModuleSource::read_for(text.as_bytes(), target).unwrap().module.version().to_string()
    };
    let bare = INDEXED.replace("; Version: 1.3\n", "");
    for (text, target, expected) in [
        // The interface of its entry point is that of versions before 1.4.
        (bare.as_str(), None, "1.3"),
        (&bare, Some("spv1.0"), "1.0"),
        (&bare, Some("vulkan1.1"), "1.3"),
        (&bare, Some("vulkan1.1spv1.4"), "1.4"),
        (&bare, Some("vulkan1.2"), "1.5"),
        (&bare, Some("vulkan1.4"), "1.6"),
        (INDEXED, None, "1.3"),
        // As in spirv-as, the target environment overrides the comment.
        (INDEXED, Some("spv1.5"), "1.5"),
    ] {
        assert_eq!(version(text, target), expected, "{target:?}");
    }
    let words: Vec<u8> =
        ModuleSource::from_text(INDEXED).unwrap().module.words().iter().flat_map(|w| w.to_le_bytes()).collect();
    let refused = ModuleSource::read_for(&words, Some("spv1.0".parse().unwrap())).unwrap_err().to_string();
    assert_eq!(
        refused,
        "a binary module declares its own version of SPIR-V; a target environment applies to text only"
    );
    let unknown = "vulkan2".parse::<TargetEnv>().unwrap_err().to_string();
    assert!(unknown.starts_with("unknown target environment 'vulkan2': expected one of spv1.0, "), "{unknown}");
}

/// A line ends with its block, and the rest of a statement with a branch is in the next one.
#[test]
fn an_instruction_without_a_line_has_the_last_one_before_it_in_its_function() {
    let text = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\"
        OpExecutionMode %main LocalSize 1 1 1
        %file = OpString \"a.comp\"
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %main = OpFunction %void None %fn
        %begin = OpLabel
        OpLine %file 7 0
        OpBranch %next
        %next = OpLabel
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd
        %other = OpFunction %void None %fn
        %only = OpLabel
        OpReturn
        OpFunctionEnd";
    let words = assay_spirv::assemble(text).expect("a module");
    let source = ModuleSource::from_words(words).expect("a module");
    let returns = source.module.instructions().filter(|i| i.op == Some(assay_spirv::tables::Op::Return));
    let lines: Vec<_> = returns.map(|i| source.position_of(i.at).line).collect();
    assert_eq!(lines, [Some(7), None]);
}
