//! The shaders of `shaders/inspect`: they are legal, and each of a dozen changes violates the
//! expected rule.

use assay_spirv_rules::requirements::{ApiVersion, DeviceCaps, Requirements};
use assay_spirv_rules::rules::{self, Environment};
use assay_testkit::{Shader, spirv};

const GATHER: &str = include_str!("../../../../shaders/inspect/gather_qcom.spvasm");
const TILE: &str = include_str!("../../../../shaders/inspect/tile_shading_qcom.spvasm");
const KERNEL: &str = include_str!("../../../../shaders/inspect/bindless_kernel_intel.spvasm");
const BYTES: &str = include_str!("../../../../shaders/inspect/storage_8bit.spvasm");

fn broken(text: &str) -> Vec<&'static str> {
    let module = spirv(text);
    rules::violations(&module, Environment::of_module(&module)).iter().map(|v| v.rule.name).collect()
}

#[test]
fn examples_are_legal() {
    for text in [GATHER, TILE, KERNEL, BYTES] {
        assert_eq!(broken(text), Vec::<&str>::new());
    }
}

#[test]
fn each_illegal_variant_violates_its_rule() {
    let variants: [(&str, &str, &str, &str); 13] = [
        (GATHER, "OpExtension \"SPV_QCOM_image_processing3\"", "", "version-or-extension"),
        (GATHER, "OpCapability ImageGatherExtendedModesQCOM", "", "gather-qcom-mode-capability"),
        (GATHER, "%GatherV2QCOM = OpConstant %uint 3", "%GatherV2QCOM = OpConstant %uint 9", "gather-qcom-mode"),
        (
            GATHER,
            "OpTypeImage %float 2D 0 0 0 1 Unknown",
            "OpTypeImage %float 2D 0 0 1 1 Unknown",
            "gather-qcom-samples",
        ),
        (GATHER, "OpDecorate %results Binding 1", "", "binding"),
        (TILE, "TileShadingRateQCOM 2 2 1", "TileShadingRateQCOM 3 2 1", "tile-rate-powers"),
        (TILE, "OpDecorate %attachment Binding 0", "", "tile-attachment-binding"),
        (
            TILE,
            "OpExecutionMode %main TileShadingRateQCOM 2 2 1",
            "OpExecutionMode %main TileShadingRateQCOM 2 2 1\nOpExecutionMode %main LocalSize 8 8 1",
            "tile-rate-local-size",
        ),
        (TILE, "OpTypePointer Input %v2uint", "OpTypePointer Private %v2uint", "tile-built-in-class"),
        (KERNEL, "OpTypeInt 64 0", "OpTypeInt 64 1", "handle-width"),
        (KERNEL, "OpMemoryModel Physical64 OpenCL", "OpMemoryModel Logical OpenCL", "handle-addressing"),
        (
            BYTES,
            "%doubled = OpIMul %int %wide %i2",
            "%doubled = OpIMul %int %wide %i2\n%sum = OpIAdd %byte %narrow %narrow",
            "byte-arithmetic",
        ),
        (BYTES, "OpCapability StorageBuffer8BitAccess", "OpCapability StoragePushConstant8", "byte-storage-buffer"),
    ];
    for (text, old, new, rule) in variants {
        assert!(text.contains(old), "{old}");
        let mut changed = text.replace(old, new);
        if rule == "tile-built-in-class" {
            changed = changed.replace(
                "%tile_offset = OpVariable %pointer_v2uint Input",
                "%tile_offset = OpVariable %pointer_v2uint Private",
            );
        }
        assert!(broken(&changed).contains(&rule), "{rule}: {:?}", broken(&changed));
    }
}

#[test]
fn requirements_of_examples_are_reported() {
    let nothing = DeviceCaps { api_version: ApiVersion::v1(4), ..DeviceCaps::default() };
    let missing = |text: &str| Requirements::of(&spirv(text)).check(&nothing).to_string();
    assert!(missing(GATHER).contains("capability ImageGatherLinearQCOM needs feature imageGatherLinear"));
    assert!(missing(TILE).contains("capability TileShadingQCOM needs feature tileShading"));
    assert!(missing(TILE).contains("tile shading rate 2 in x needs property maxTileShadingRateX of at least 2"));
    assert!(missing(KERNEL).contains("capability Kernel needs an API other than Vulkan"));
    assert!(missing(BYTES).contains("8-bit values in StorageBuffer %from needs feature storageBuffer8BitAccess"));
}

/// Pointees of physical pointers are in storage buffers too; types without a pointer in a function
/// are not accessed.
#[test]
fn pointees_of_physical_pointers_are_requirements() {
    let shader = |width: u32, body: &str| {
        let declared = format!(
            "%long = OpTypeInt 64 0
            %narrow = OpTypeInt {width} 0
            %Inner = OpTypeStruct %uint %narrow
            %physical = OpTypePointer PhysicalStorageBuffer %Inner
            %physical_uint = OpTypePointer PhysicalStorageBuffer %uint
            %address = OpConstant %long 4096"
        );
        let shader = Shader {
            head: "OpCapability Int64
                OpCapability Int8
                OpCapability Int16
                OpCapability PhysicalStorageBufferAddresses",
            memory_model: "PhysicalStorageBuffer64 GLSL450",
            modes: "OpName %physical \"physical\"",
            decorations: "OpMemberDecorate %Inner 0 Offset 0\nOpMemberDecorate %Inner 1 Offset 4",
            declared: &declared,
            body,
            ..Shader::default()
        };
        shader.module()
    };
    let nothing = DeviceCaps { api_version: ApiVersion::v1(4), ..DeviceCaps::default() };
    let missing = |width, used| Requirements::of(&shader(width, used)).check(&nothing).to_string();
    let whole = "%inner = OpConvertUToPtr %physical %address\n%value = OpLoad %Inner %inner Aligned 4";
    let one = "%first = OpConvertUToPtr %physical_uint %address\n%value = OpLoad %uint %first Aligned 4";
    for (width, feature) in [(8, "storageBuffer8BitAccess"), (16, "storageBuffer16BitAccess")] {
        let wanted = format!("{width}-bit values in PhysicalStorageBuffer %physical needs feature {feature}");
        assert!(missing(width, whole).contains(&wanted), "{}", missing(width, whole));
        assert!(!missing(width, one).contains("values in PhysicalStorageBuffer"), "{}", missing(width, one));
    }
}

/// Two instructions with the same requirement give one message.
#[test]
fn equal_missing_requirements_are_reported_once() {
    let rotate = "OpGroupNonUniformRotateKHR %uint %subgroup %four %two %four";
    let shader = Shader {
        head: "OpCapability GroupNonUniformRotateKHR\nOpExtension \"SPV_KHR_subgroup_rotate\"",
        local_size: 8,
        declared: "%subgroup = OpConstant %uint 3\n%four = OpConstant %uint 4",
        body: &format!("%once = {rotate}\n%again = {rotate}"),
        ..Shader::default()
    };
    let nothing = DeviceCaps { api_version: ApiVersion::v1(3), ..DeviceCaps::default() };
    let missing = Requirements::of(&shader.module()).check(&nothing).to_string();
    assert_eq!(missing.matches("needs feature shaderSubgroupRotateClustered").count(), 1, "{missing}");
}
