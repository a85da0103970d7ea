//! Device requirements of modules.

use assay_spirv_rules::requirements::{ApiVersion, DeviceCaps, Requirements};
use assay_testkit::{Shader, spirv};

const SHADER: &str = include_str!("../../../spirv/tests/shaders/called_function.spvasm");

/// A device that satisfies all requirements of the shader.
fn device() -> DeviceCaps {
    let features = ["shaderInt8", "shaderInt64", "shaderBufferInt64Atomics", "storageBuffer8BitAccess"];
    let properties = [
        ("shaderDenormPreserveFloat32", 1),
        ("subgroupSupportedOperations", 0x3),
        ("subgroupSupportedStages", 0x20),
        ("maxComputeWorkGroupSizeX", 128),
        ("maxComputeWorkGroupSizeY", 128),
        ("maxComputeWorkGroupSizeZ", 64),
        ("maxComputeWorkGroupInvocations", 128),
        ("maxComputeSharedMemorySize", 16384),
        ("maxPushConstantsSize", 128),
    ];
    DeviceCaps {
        api_version: ApiVersion::v1(3),
        features: features.map(str::to_owned).into(),
        extensions: ["VK_KHR_8bit_storage".to_owned()].into(),
        properties: properties.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

#[test]
fn sufficient_device_may_run_the_module() {
    let verdict = Requirements::of(&spirv(SHADER)).check(&device());
    assert!(verdict.may_run(), "{verdict}");
}

#[test]
fn each_missing_capability_is_named() {
    let requirements = Requirements::of(&spirv(SHADER));
    let lacking = |change: fn(&mut DeviceCaps)| {
        let mut caps = device();
        change(&mut caps);
        requirements.check(&caps).to_string()
    };
    type Change = fn(&mut DeviceCaps);
    let cases: [(Change, &str); 8] = [
        (|h| h.api_version = ApiVersion::v1(2), "SPIR-V 1.6 needs Vulkan 1.3 (the device has 1.2)"),
        (
            |h| {
                h.features.remove("shaderInt8");
            },
            "capability Int8 needs feature shaderInt8",
        ),
        (
            |h| {
                h.features.remove("storageBuffer8BitAccess");
            },
            "capability StorageBuffer8BitAccess needs feature storageBuffer8BitAccess; \
             8-bit values in StorageBuffer %bytes needs feature storageBuffer8BitAccess",
        ),
        (
            |h| {
                h.properties.remove("shaderDenormPreserveFloat32");
            },
            "execution mode DenormPreserve 32 needs property shaderDenormPreserveFloat32",
        ),
        (
            |h| {
                h.properties.insert("subgroupSupportedOperations".into(), 1);
            },
            "capability GroupNonUniformVote needs VK_SUBGROUP_FEATURE_VOTE_BIT in property \
             subgroupSupportedOperations (the device has 1)",
        ),
        (
            |h| {
                h.properties.insert("subgroupSupportedStages".into(), 0x10);
            },
            "group operations in GLCompute needs VK_SHADER_STAGE_COMPUTE_BIT in property subgroupSupportedStages \
             (the device has 16)",
        ),
        (
            |h| {
                h.properties.insert("maxComputeWorkGroupInvocations".into(), 127);
            },
            "workgroup size 64 x 2 x 1 needs property maxComputeWorkGroupInvocations of at least 128 (the device has 127)",
        ),
        (
            |h| {
                h.features.remove("shaderBufferInt64Atomics");
                h.features.insert("shaderSharedInt64Atomics".into());
            },
            "64-bit OpAtomicIAdd in StorageBuffer needs feature shaderBufferInt64Atomics",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(lacking(change), expected);
    }
}

fn need_of(text: &str) -> Requirements {
    Requirements::of(&spirv(text))
}

#[test]
fn unlisted_capabilities_and_extensions_are_never_supported() {
    let requirements = need_of("OpCapability Kernel\nOpCapability Shader\nOpExtension \"SPV_INTEL_bindless_images\"");
    let verdict = requirements.check(&device());
    assert_eq!(
        verdict.to_string(),
        "capability Kernel needs an API other than Vulkan, which does not list it; \
         extension SPV_INTEL_bindless_images needs an API other than Vulkan, which does not list it"
    );
}

#[test]
fn float_modes_that_differ_by_width_require_independence() {
    let independence = |modes: &str| {
        let shader = Shader { version: "1.0", modes, declared: "%half = OpTypeFloat 16", ..Shader::default() };
        let requirements = Requirements::of(&shader.module());
        requirements.items.iter().find(|i| i.imposed_by.contains("differ by width")).map(|i| i.expression.to_string())
    };
    let both = "OpExecutionMode %main RoundingModeRTE 16\nOpExecutionMode %main RoundingModeRTE 32";
    assert_eq!(independence(both), None);
    let one = "OpExecutionMode %main RoundingModeRTE 16";
    assert_eq!(independence(one).as_deref(), Some("property roundingModeIndependence of 0 or 1"));
    let denorms = "OpExecutionMode %main DenormPreserve 16\nOpExecutionMode %main DenormFlushToZero 32";
    assert_eq!(independence(denorms).as_deref(), Some("property denormBehaviorIndependence of 0 or 1"));
}

#[test]
fn fast_math_that_preserves_special_values_is_a_requirement() {
    const PRESERVED: &str = "NotNaN|NotInf|NSZ";
    let rules = |flags: u32, decorated: &str| {
        let shader = Shader {
            head: "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"",
            modes: "OpExecutionModeId %main FPFastMathDefault %float %flags",
            decorations: &format!("OpDecorate %sum FPFastMathMode {decorated}"),
            declared: &format!("%flags = OpConstant %uint {flags}\n%f1 = OpConstant %float 1"),
            body: "%sum = OpFAdd %float %f1 %f1",
            ..Shader::default()
        };
        let items = Requirements::of(&shader.module()).items.into_iter();
        items.filter_map(|item| item.rule).filter(|rule| rule.contains("Preserve")).collect::<Vec<_>>()
    };
    assert!(rules(7, PRESERVED).is_empty());
    assert_eq!(rules(3, PRESERVED), ["VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09561"]);
    assert_eq!(rules(7, "None"), ["VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09562"]);
}

/// Returns the rules behind the requirements of a compute shader with these lines; `%u0` to `%u8`
/// are the constants 0 to 8.
fn rules_of(capabilities: &str, globals: &str, body: &str) -> Vec<&'static str> {
    let declared = format!(
        "%long = OpTypeInt 64 0\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n\
         %u3 = OpConstant %uint 3\n%u8 = OpConstant %uint 8\n%l1 = OpConstant %long 1\n{globals}"
    );
    let decorations = if globals.contains("%Block") { "OpDecorate %Block Block" } else { "" };
    let shader = Shader { head: capabilities, decorations, declared: &declared, body, ..Shader::default() };
    let requirements = Requirements::of(&shader.module());
    let common = ["06429", "06430", "06431", "06432"];
    requirements
        .items
        .iter()
        .filter_map(|item| item.rule)
        .filter(|rule| !common.iter().any(|number| rule.ends_with(number)))
        .collect()
}

#[test]
fn limits_and_extending_features_are_requirements() {
    let long =
        |capability: &str| rules_of(&format!("OpCapability {capability}"), "%v = OpTypeVectorIdEXT %uint %u8", "");
    assert_eq!(long("LongVectorEXT"), ["VUID-RuntimeSpirv-longVector-12296"]);
    assert_eq!(long("CooperativeVectorNV"), ["VUID-RuntimeSpirv-maxCooperativeVectorComponents-10094"]);
    let short = rules_of("OpCapability LongVectorEXT", "%v = OpTypeVectorIdEXT %uint %u3", "");
    assert!(short.is_empty(), "{short:?}");

    let matrix = |scope: &str| {
        let ty = format!("%m = OpTypeCooperativeMatrixKHR %float {scope} %u8 %u8 %u2");
        rules_of("OpCapability CooperativeMatrixKHR", &ty, "%l = OpCooperativeMatrixLengthKHR %uint %m")
    };
    let stages = "VUID-RuntimeSpirv-cooperativeMatrixSupportedStages-08985";
    assert_eq!(matrix("%u3"), [stages]);
    assert_eq!(matrix("%u2"), ["VUID-RuntimeSpirv-cooperativeMatrixWorkgroupScope-10164", stages]);

    let rotate = |size: &str| {
        let body = format!("%r = OpGroupNonUniformRotateKHR %uint %u3 %u1 %u1 {size}");
        rules_of("OpCapability GroupNonUniformRotateKHR", "", &body)
    };
    let group = "VUID-RuntimeSpirv-None-06343";
    assert_eq!(rotate(""), [group]);
    assert_eq!(rotate("%u8"), [group, "VUID-RuntimeSpirv-shaderSubgroupRotateClustered-09566"]);

    assert!(rules_of("", "", "%b = OpBitCount %uint %u8").is_empty());
    assert_eq!(rules_of("OpCapability Int64", "", "%b = OpBitCount %long %l1"), ["VUID-RuntimeSpirv-None-10824"]);
}

#[test]
fn device_scope_of_memory_accesses_is_a_requirement() {
    let needs = |scope: &str| {
        let body = format!(
            "%x = OpLoad %uint %v NonPrivatePointer|MakePointerVisible {scope}\n\
             OpStore %v %x NonPrivatePointer|MakePointerAvailable {scope}\n\
             OpCopyMemory %v %w NonPrivatePointer|MakePointerAvailable {scope}\n"
        );
        let shader = Shader {
            head: "OpCapability VulkanMemoryModel",
            memory_model: "Logical Vulkan",
            interface: "%v %w",
            declared: "%pointer = OpTypePointer Workgroup %uint
                %v = OpVariable %pointer Workgroup
                %w = OpVariable %pointer Workgroup",
            body: &body,
            ..Shader::default()
        };
        let items = Requirements::of(&shader.module()).items.into_iter();
        let scopes = items.filter(|item| item.rule == Some("VUID-RuntimeSpirv-vulkanMemoryModel-06265"));
        scopes.map(|item| item.imposed_by).collect::<Vec<_>>()
    };
    let because = |op: &str| format!("{op} of scope Device in the Vulkan memory model");
    assert_eq!(needs("%one"), [because("OpLoad"), because("OpStore"), because("OpCopyMemory")]);
    assert_eq!(needs("%two"), [""; 0]);
}

#[test]
fn stores_of_fragment_shaders_are_a_requirement() {
    let needs = |text: &str| {
        let items =
            need_of(text).items.into_iter().filter(|item| item.rule == Some("VUID-RuntimeSpirv-NonWritable-06340"));
        items.map(|item| item.imposed_by).collect::<Vec<_>>()
    };
    // The shader stores to a buffer, but not to its attachments.
    let text = include_str!("../../../spirv-lower/tests/lower/fragment.spvasm");
    assert_eq!(needs(text), ["%marks without NonWritable in a Fragment entry point"]);
    assert!(
        needs(&text.replace("OpDecorate %array Arr", "OpDecorate %marks NonWritable\nOpDecorate %array Arr"))
            .is_empty()
    );
    let both = needs(&text.replace("OpDecorate %source NonWritable\n", ""));
    assert_eq!(
        both,
        [
            "%source without NonWritable in a Fragment entry point",
            "%marks without NonWritable in a Fragment entry point"
        ]
    );
    assert!(needs(include_str!("../../../spirv-lower/tests/lower/tile.spvasm")).is_empty());
}

#[test]
fn memory_layouts_that_a_feature_allows_are_requirements() {
    let uniform = |last: &str| {
        let globals = format!(
            "%array = OpTypeRuntimeArray %uint\n%Block = OpTypeStruct %uint {last}\n%p = OpTypePointer Uniform %Block\n\
             %b = OpVariable %p Uniform"
        );
        rules_of("", &globals, "")
    };
    assert!(uniform("%uint").is_empty());
    assert_eq!(uniform("%array"), ["VUID-RuntimeSpirv-shaderUniformBufferUnsizedArray-11806"]);

    let workgroup = |capabilities: &str, width: u32| {
        let globals = format!(
            "%narrow = OpTypeInt {width} 0\n%Block = OpTypeStruct %narrow\n%p = OpTypePointer Workgroup %Block\n\
             %b = OpVariable %p Workgroup"
        );
        rules_of(capabilities, &globals, "")
    };
    assert_eq!(workgroup("", 8), ["VUID-RuntimeSpirv-workgroupMemoryExplicitLayout8BitAccess-10756"]);
    assert_eq!(workgroup("", 16), ["VUID-RuntimeSpirv-workgroupMemoryExplicitLayout16BitAccess-10757"]);
    assert!(workgroup("OpCapability UntypedPointersKHR", 8).is_empty());
}
