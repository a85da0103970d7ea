//! Completion of texels with too few components.

use assay_spirv::Module;
use assay_spirv_lower::with_whole_texels;
use assay_spirv_rules::rules::{self, Environment, Violation};
use assay_testkit::spirv;

/// A shader that writes `texel`, which is computed from the vector `%v3` and the float `%one`.
fn shader(format: &str, texel: &str) -> Module {
    spirv(&format!(
        "OpCapability Shader
        OpCapability StorageImageExtendedFormats
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %image
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %image DescriptorSet 0
        OpDecorate %image Binding 0
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %float = OpTypeFloat 32
        %int = OpTypeInt 32 1
        %v3float = OpTypeVector %float 3
        %v2int = OpTypeVector %int 2
        %zero = OpConstant %int 0
        %one = OpConstant %float 1
        %at = OpConstantComposite %v2int %zero %zero
        %v3 = OpConstantComposite %v3float %one %one %one
        %type = OpTypeImage %float 2D 0 0 0 2 {format}
        %pointer = OpTypePointer UniformConstant %type
        %image = OpVariable %pointer UniformConstant
        %main = OpFunction %void None %function
        %entry = OpLabel
        %loaded = OpLoad %type %image
        OpImageWrite %loaded %at {texel}
        OpReturn
        OpFunctionEnd"
    ))
}

#[test]
fn missing_components_are_zero() {
    for (format, texel) in [("Rgba32f", "%v3"), ("Rgba8", "%one"), ("Rg16f", "%one")] {
        let module = shader(format, texel);
        let names = |found: Vec<Violation>| found.iter().map(|one| one.rule.name).collect::<Vec<_>>();
        assert_eq!(names(rules::violations(&module, Environment::Vulkan)), ["write-components"], "{format}");
        let words = with_whole_texels(&module).unwrap();
        let mended = Module::parse(words).unwrap();
        assert_eq!(names(rules::violations(&mended, Environment::Vulkan)), [""; 0], "{format}");
        assert_eq!(with_whole_texels(&mended), None, "{format}");
    }
}

#[test]
fn whole_texels_are_kept() {
    assert_eq!(with_whole_texels(&shader("R32f", "%v3")), None);
    assert_eq!(with_whole_texels(&shader("R32f", "%one")), None);
}
