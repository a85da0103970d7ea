//! Switches in place of dynamic indices into arrays of descriptors.

use crate::support::{broken, refused};
use assay_spirv::Module;
use assay_spirv_lower::with_selected_descriptors;
use assay_spirv_rules::requirements::Requirements;
use assay_testkit::spirv;

/// A shader that samples one of two images with one of two samplers, adds the result to one of three
/// buffers, and stores it to one of three images, itself and in a function. `%i` is the invocation.
const SHADER: &str = "
    OpCapability Shader
    OpCapability SampledImageArrayDynamicIndexing
    OpCapability StorageImageArrayDynamicIndexing
    OpCapability StorageBufferArrayDynamicIndexing
    OpExtension \"SPV_KHR_storage_buffer_storage_class\"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %id %images %samplers %targets %buffers
    OpExecutionMode %main LocalSize 2 1 1
    OpDecorate %id BuiltIn LocalInvocationIndex
    OpDecorate %images DescriptorSet 0
    OpDecorate %images Binding 0
    OpDecorate %samplers DescriptorSet 0
    OpDecorate %samplers Binding 1
    OpDecorate %targets DescriptorSet 0
    OpDecorate %targets Binding 2
    OpDecorate %targets NonReadable
    OpDecorate %buffers DescriptorSet 0
    OpDecorate %buffers Binding 3
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %sample RelaxedPrecision
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %float2 = OpTypeVector %float 2
    %float4 = OpTypeVector %float 4
    %uint2 = OpTypeVector %uint 2
    %zero = OpConstant %uint 0
    %two = OpConstant %uint 2
    %three = OpConstant %uint 3
    %scope = OpConstant %uint 1
    %half = OpConstant %float 0.5
    %none = OpConstant %float 0
    %at = OpConstantComposite %float2 %half %half
    %texel = OpConstantComposite %uint2 %zero %zero
    %image = OpTypeImage %float 2D 0 0 0 1 Unknown
    %target = OpTypeImage %float 2D 0 0 0 2 Rgba32f
    %sampler = OpTypeSampler
    %sampled = OpTypeSampledImage %image
    %image_array = OpTypeArray %image %two
    %sampler_array = OpTypeArray %sampler %two
    %target_array = OpTypeArray %target %three
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %block_array = OpTypeArray %block %three
    %to_images = OpTypePointer UniformConstant %image_array
    %to_samplers = OpTypePointer UniformConstant %sampler_array
    %to_targets = OpTypePointer UniformConstant %target_array
    %to_blocks = OpTypePointer StorageBuffer %block_array
    %to_image = OpTypePointer UniformConstant %image
    %to_sampler = OpTypePointer UniformConstant %sampler
    %to_target = OpTypePointer UniformConstant %target
    %to_word = OpTypePointer StorageBuffer %uint
    %to_input = OpTypePointer Input %uint
    %id = OpVariable %to_input Input
    %images = OpVariable %to_images UniformConstant
    %samplers = OpVariable %to_samplers UniformConstant
    %targets = OpVariable %to_targets UniformConstant
    %buffers = OpVariable %to_blocks StorageBuffer
    %fill_fn = OpTypeFunction %void %to_target %float4
    %fill = OpFunction %void None %fill_fn
    %filled = OpFunctionParameter %to_target
    %color = OpFunctionParameter %float4
    %fill_entry = OpLabel
    %fill_loaded = OpLoad %target %filled
    OpImageWrite %fill_loaded %texel %color
    OpReturn
    OpFunctionEnd
    %main = OpFunction %void None %fn
    %entry = OpLabel
    %i = OpLoad %uint %id
    %image_at = OpAccessChain %to_image %images %i
    %sampler_at = OpAccessChain %to_sampler %samplers %i
    %loaded = OpLoad %image %image_at
    %with = OpLoad %sampler %sampler_at
    %pair = OpSampledImage %sampled %loaded %with
    %sample = OpImageSampleExplicitLod %float4 %pair %at Lod %none
    %target_at = OpAccessChain %to_target %targets %i
    %into = OpLoad %target %target_at
    OpImageWrite %into %texel %sample
    %done = OpFunctionCall %void %fill %target_at %sample
    %red = OpCompositeExtract %float %sample 0
    %bits = OpBitcast %uint %red
    %word = OpAccessChain %to_word %buffers %i %zero %i
    %old = OpAtomicIAdd %uint %word %scope %zero %bits
    OpReturn
    OpFunctionEnd";

fn indexing_features(module: &Module) -> Vec<&'static str> {
    Requirements::of(module).features().into_iter().filter(|feature| feature.contains("Indexing")).collect()
}

#[test]
fn dynamic_indices_become_switches() {
    let module = spirv(SHADER);
    assert_eq!(indexing_features(&module).len(), 3);
    let words = with_selected_descriptors(&module).unwrap();
    let selected = Module::parse(words.clone()).unwrap();
    assert_eq!(indexing_features(&selected), [""; 0]);
    assert_eq!(broken(&words), [""; 0]);
    assert_eq!(refused(&words, "vulkan1.3"), None);
    // For the write, the call, the atomic and the sampled image, and in each case of that for the sampler.
    let switches = selected.instructions().filter(|i| i.name() == "OpSwitch").count();
    assert_eq!(switches, 6);
}

#[test]
fn a_module_without_dynamic_indices_keeps_its_functions() {
    let text = ["%images", "%samplers", "%targets", "%buffers"]
        .iter()
        .fold(SHADER.to_owned(), |text, array| text.replace(&format!("{array} %i"), &format!("{array} %zero")));
    let module = spirv(&text);
    let selected = Module::parse(with_selected_descriptors(&module).unwrap()).unwrap();
    assert_eq!(selected.functions().len(), 2);
    assert_eq!(indexing_features(&selected), [""; 0]);
}

#[test]
fn a_chosen_pointer_and_a_long_array_are_refused() {
    let long = SHADER.replace("%three = OpConstant %uint 3", "%three = OpConstant %uint 65");
    assert_eq!(with_selected_descriptors(&spirv(&long)), None);
    let chosen = SHADER
        .replace(
            "%old = OpAtomicIAdd %uint %word",
            "%other = OpAccessChain %to_word %buffers %zero %zero %i
             %is_first = OpIEqual %bool %i %zero
             %pointer = OpSelect %to_word %is_first %word %other
             %old = OpAtomicIAdd %uint %pointer",
        )
        .replace("%void = OpTypeVoid", "%void = OpTypeVoid\n%bool = OpTypeBool")
        .replace("OpCapability Shader", "OpCapability Shader\nOpCapability VariablePointers");
    assert_eq!(with_selected_descriptors(&spirv(&chosen)), None);
}
