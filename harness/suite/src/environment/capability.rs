//! A module that declares a capability, one for each that a compute shader can use: a device that allows it runs the module.

use super::about;
use crate::bytes::{given, pattern};
use crate::write::Shader;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;

/// Capabilities, and the extension that brings them before they were core.
#[rustfmt::skip]
const CAPABILITIES: &[(&str, Option<&str>)] = &[
    ("Int8", None), ("Int16", None), ("Int64", None), ("Float16", None), ("Float64", None), ("Int64Atomics", None),
    ("ImageGatherExtended", None), ("Sampled1D", None), ("Image1D", None), ("SampledBuffer", None), ("ImageBuffer", None),
    ("ImageQuery", None), ("StorageImageExtendedFormats", None), ("StorageImageReadWithoutFormat", None),
    ("StorageImageWriteWithoutFormat", None), ("StorageImageMultisample", None), ("ImageCubeArray", None),
    ("SampledCubeArray", None), ("ImageMSArray", None), ("MinLod", None), ("SparseResidency", None),
    ("UniformBufferArrayDynamicIndexing", None), ("SampledImageArrayDynamicIndexing", None),
    ("StorageBufferArrayDynamicIndexing", None), ("StorageImageArrayDynamicIndexing", None),
    ("StorageBuffer16BitAccess", None), ("UniformAndStorageBuffer16BitAccess", None), ("StoragePushConstant16", None),
    ("VariablePointersStorageBuffer", None), ("VariablePointers", None),
    ("GroupNonUniform", None), ("GroupNonUniformVote", None), ("GroupNonUniformArithmetic", None),
    ("GroupNonUniformBallot", None), ("GroupNonUniformShuffle", None), ("GroupNonUniformShuffleRelative", None),
    ("GroupNonUniformClustered", None), ("GroupNonUniformQuad", None),
    ("SubgroupBallotKHR", Some("SPV_KHR_shader_ballot")), ("SubgroupVoteKHR", Some("SPV_KHR_subgroup_vote")),
    ("StorageBuffer8BitAccess", Some("SPV_KHR_8bit_storage")),
    ("UniformAndStorageBuffer8BitAccess", Some("SPV_KHR_8bit_storage")),
    ("StoragePushConstant8", Some("SPV_KHR_8bit_storage")),
    ("ShaderNonUniform", Some("SPV_EXT_descriptor_indexing")),
    ("RuntimeDescriptorArray", Some("SPV_EXT_descriptor_indexing")),
    ("UniformTexelBufferArrayDynamicIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("StorageTexelBufferArrayDynamicIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("UniformBufferArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("SampledImageArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("StorageBufferArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("StorageImageArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("UniformTexelBufferArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("StorageTexelBufferArrayNonUniformIndexing", Some("SPV_EXT_descriptor_indexing")),
    ("DenormPreserve", Some("SPV_KHR_float_controls")), ("DenormFlushToZero", Some("SPV_KHR_float_controls")),
    ("SignedZeroInfNanPreserve", Some("SPV_KHR_float_controls")), ("RoundingModeRTE", Some("SPV_KHR_float_controls")),
    ("RoundingModeRTZ", Some("SPV_KHR_float_controls")),
    ("DotProduct", Some("SPV_KHR_integer_dot_product")), ("DotProductInputAll", Some("SPV_KHR_integer_dot_product")),
    ("DotProductInput4x8Bit", Some("SPV_KHR_integer_dot_product")),
    ("DotProductInput4x8BitPacked", Some("SPV_KHR_integer_dot_product")),
    ("GroupNonUniformRotateKHR", Some("SPV_KHR_subgroup_rotate")), ("ExpectAssumeKHR", Some("SPV_KHR_expect_assume")),
    ("AtomicFloat16AddEXT", Some("SPV_EXT_shader_atomic_float16_add")),
    ("AtomicFloat16MinMaxEXT", Some("SPV_EXT_shader_atomic_float_min_max")),
    ("WorkgroupMemoryExplicitLayout8BitAccessKHR", Some("SPV_KHR_workgroup_memory_explicit_layout")),
    ("WorkgroupMemoryExplicitLayout16BitAccessKHR", Some("SPV_KHR_workgroup_memory_explicit_layout")),

    ("AtomicFloat32AddEXT", Some("SPV_EXT_shader_atomic_float_add")),
    ("AtomicFloat64AddEXT", Some("SPV_EXT_shader_atomic_float_add")),
    ("AtomicFloat32MinMaxEXT", Some("SPV_EXT_shader_atomic_float_min_max")),
    ("AtomicFloat64MinMaxEXT", Some("SPV_EXT_shader_atomic_float_min_max")),
    ("Int64ImageEXT", Some("SPV_EXT_shader_image_int64")), ("ShaderClockKHR", Some("SPV_KHR_shader_clock")),
    ("WorkgroupMemoryExplicitLayoutKHR", Some("SPV_KHR_workgroup_memory_explicit_layout")),
    ("DeviceGroup", Some("SPV_KHR_device_group")), ("MultiView", Some("SPV_KHR_multiview")),
];

const VALUE: u32 = 0x600d_cafe;

pub(super) fn cases() -> Vec<Case> {
    CAPABILITIES.iter().map(|&(name, extension)| declared(name, extension)).collect()
}

fn declared(name: &'static str, extension: Option<&'static str>) -> Case {
    let about = about(
        "OpCapability",
        "u32 <- u32",
        "a device that allows a capability runs modules that declare it",
        "Vulkan environment for SPIR-V, capabilities",
    );
    Case::core(format!("environment.capability.{}", name.to_ascii_lowercase()), about, move || {
        let mut shader = Shader::new([4, 1, 1]);
        shader.capability(name);
        if let Some(extension) = extension {
            shader.extension(extension);
            if extension == "SPV_KHR_workgroup_memory_explicit_layout" {
                // It is written against that version.
                shader.version("1.4");
            }
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
        options.inputs.push(given(0, before.clone()));
        Program::new(shader.finish(), options).with_second(move |_| {
            let written = (0..4).flat_map(|i| (VALUE + i).to_le_bytes());
            [(Slot::new(0, 0), written.chain(before[16..].iter().copied()).collect())].into()
        })
    })
}
