//! One module for each capability that a compute shader can use. A device that supports the
//! capability must run a module that declares it.

use super::about;
use crate::bytes::{bytes_input, pattern};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;
use assay_spirv::tables::{CAPABILITY_ENABLING, Capability, Kind};

/// Capabilities that Vulkan lists but no compute shader can use, grouped by reason.
#[rustfmt::skip]
const NOT_COMPUTE: &[(&str, &[&str])] = &[
    (
        "belongs to graphics stages",
        &[
            "Geometry", "GeometryPointSize", "GeometryStreams", "GeometryShaderPassthroughNV", "Tessellation",
            "TessellationPointSize", "TransformFeedback", "MultiViewport", "ClipDistance", "CullDistance", "DrawParameters",
            "ShaderLayer", "ShaderViewportIndex", "ShaderViewportIndexLayerEXT", "ShaderViewportMaskNV",
            "PerViewAttributesNV", "MeshShadingEXT", "MeshShadingNV", "ClusterCullingShadingHUAWEI",
        ],
    ),
    (
        "belongs to fragment shaders",
        &[
            "SampleRateShading", "InterpolationFunction", "DemoteToHelperInvocation", "FragmentBarycentricKHR",
            "FragmentDensityEXT", "FragmentFullyCoveredEXT", "FragmentShadingRateKHR", "FragmentShaderPixelInterlockEXT",
            "FragmentShaderSampleInterlockEXT", "FragmentShaderShadingRateInterlockEXT", "ImageFootprintNV",
            "SampleMaskOverrideCoverageNV", "SampleMaskPostDepthCoverage", "StencilExportEXT", "InputAttachment",
            "InputAttachmentArrayDynamicIndexing", "InputAttachmentArrayNonUniformIndexing", "TileImageColorReadAccessEXT",
            "TileImageDepthReadAccessEXT", "TileImageStencilReadAccessEXT",
        ],
    ),
    ("concerns inputs and outputs, which compute shaders do not have", &["StorageInputOutput16"]),
    (
        "belongs to the stages of ray tracing pipelines",
        &[
            "RayTracingKHR", "RayTracingNV", "RayTracingMotionBlurNV", "RayTracingPositionFetchKHR",
            "ShaderInvocationReorderEXT", "ShaderInvocationReorderNV",
        ],
    ),
    ("belongs to data graph pipelines", &["GraphARM"]),
    ("belongs to execution graph pipelines", &["ShaderEnqueueAMDX"]),
    ("is declared only in tile-shading passes, which tile.* covers", &["TileShadingQCOM"]),
];

/// Requirements on a module that declares a capability: the SPIR-V version, and the Vulkan memory
/// model.
struct ModuleNeeds {
    version: &'static str,
    vulkan: bool,
}

impl ModuleNeeds {
    fn of(capability: Capability) -> ModuleNeeds {
        use Capability as C;
        let row = Kind::Capability.enumerant(capability.word());
        let extensions = row.map_or(&[][..], |row| row.extensions);
        let version = match extensions {
            // These extensions are written against SPIR-V 1.4.
            ["SPV_KHR_workgroup_memory_explicit_layout" | "SPV_QCOM_image_processing3"] => "1.4",
            _ => "1.3",
        };
        ModuleNeeds { version, vulkan: matches!(capability, C::VulkanMemoryModel | C::VulkanMemoryModelDeviceScope) }
    }
}

const VALUE: u32 = 0x600d_cafe;

pub(super) fn cases() -> Vec<Case> {
    let not_compute = |capability: &Capability| NOT_COMPUTE.iter().any(|(_, names)| names.contains(&capability.name()));
    let listed = CAPABILITY_ENABLING.iter().filter_map(|row| row.capability);
    listed.filter(|capability| !not_compute(capability)).map(declared).collect()
}

/// The extension that introduces a capability, even if it is core by now.
fn extension(capability: Capability) -> Option<&'static str> {
    Kind::Capability.enumerant(capability.word())?.extensions.first().copied()
}

fn declared(capability: Capability) -> Case {
    let name = capability.name();
    let subject = about(
        "OpCapability",
        "u32 <- u32",
        "a device that supports a capability runs modules that declare it",
        "Vulkan environment for SPIR-V, capabilities",
    );
    Case::core(format!("environment.capability.{}", name.to_ascii_lowercase()), subject, move || {
        let mut shader = ModuleBuilder::new([4, 1, 1]);
        shader.capability(name);
        if let Some(extension) = extension(capability) {
            shader.extension(extension);
        }
        let needs = ModuleNeeds::of(capability);
        if needs.version != "1.3" {
            shader.version(needs.version);
        }
        if needs.vulkan {
            shader.capability("VulkanMemoryModel");
            shader.extension("SPV_KHR_vulkan_memory_model");
            shader.memory_model("Logical Vulkan");
        }
        let u32 = shader.u32();
        let words = shader.array(&u32, 5, Some(4));
        let block = shader.block(&[(words, 0)], "Block");
        let output = shader.resource("StorageBuffer", &block, 0);
        let (zero, value, own) = (shader.constant_u32(0), shader.constant_u32(VALUE), shader.global_x());
        let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &own]);
        let sum = shader.op(&u32, "OpIAdd", format_args!("{value} {own}"));
        shader.run(format_args!("OpStore {to} {sum}"));
        let before = pattern(20, 1);
        let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        options.inputs.push(bytes_input(0, before.clone()));
        Program::new(shader.finish(), options).with_reference(move |_| {
            let written = (0..4).flat_map(|i| (VALUE + i).to_le_bytes());
            [(Slot::new(0, 0), written.chain(before[16..].iter().copied()).collect())].into()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunPath;
    use std::collections::BTreeSet;

    /// Every capability that Vulkan lists has a case, or a reason why no compute shader can use it.
    #[test]
    fn every_capability_that_vulkan_lists_has_a_case_or_a_reason() {
        let text = |case: &Case| case.program(RunPath::Native).expect("it is a program").text;
        let texts: Vec<(String, String)> = cases().iter().map(|case| (case.name.clone(), text(case))).collect();
        let mut named = BTreeSet::new();
        for (reason, names) in NOT_COMPUTE {
            assert!(!reason.is_empty());
            for name in *names {
                assert!(named.insert(*name), "{name} is named twice");
                assert!(CAPABILITY_ENABLING.iter().any(|row| row.name == *name), "Vulkan lists no {name}");
            }
        }
        for row in CAPABILITY_ENABLING {
            let name = format!("environment.capability.{}", row.name.to_ascii_lowercase());
            let declares = format!("OpCapability {}\n", row.name);
            let own: Vec<&(String, String)> = texts.iter().filter(|(case, _)| *case == name).collect();
            match own.as_slice() {
                [(_, text)] => assert!(text.contains(&declares) && !named.contains(row.name), "{name}"),
                [] => assert!(named.contains(row.name), "{} has neither a case nor a reason", row.name),
                _ => panic!("{name} is there {} times", own.len()),
            }
        }
        assert_eq!(texts.len() + named.len(), CAPABILITY_ENABLING.len());
    }
}
