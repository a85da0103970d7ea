//! Run-time arrays of descriptors and dynamic indices into arrays, also on devices that lack them.

use crate::support::on_each_driver;
use assay_check::{CheckSession, CompileOptions, Options, SessionOutput, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_exec::Target;

/// Writes to the second of a run-time array of buffers.
const SHADER: &str = "
    OpCapability Shader
    OpCapability RuntimeDescriptorArray
    OpExtension \"SPV_KHR_storage_buffer_storage_class\"
    OpExtension \"SPV_EXT_descriptor_indexing\"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %id
    OpExecutionMode %main LocalSize 64 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %buffers DescriptorSet 0
    OpDecorate %buffers Binding 0
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %uint3 = OpTypeVector %uint 3
    %to_input3 = OpTypePointer Input %uint3
    %to_input = OpTypePointer Input %uint
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %array = OpTypeRuntimeArray %block
    %to_array = OpTypePointer StorageBuffer %array
    %to_word = OpTypePointer StorageBuffer %uint
    %id = OpVariable %to_input3 Input
    %buffers = OpVariable %to_array StorageBuffer
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %three = OpConstant %uint 3
    %main = OpFunction %void None %fn
    %entry = OpLabel
    %at = OpAccessChain %to_input %id %zero
    %x = OpLoad %uint %at
    %product = OpIMul %uint %x %three
    %word = OpAccessChain %to_word %buffers %one %zero %x
    OpStore %word %product
    OpReturn
    OpFunctionEnd";

fn checked((name, text): (&str, &str), mutation: Option<&str>, target: &dyn Target) -> CheckResult {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    let shader = ShaderSource::load(&file, &CompileOptions::default()).unwrap();
    let mut session = CheckSession::new(shader, Options { rounds: 1, ..Options::default() });
    session.mutation = mutation.map(|mutation| mutation.parse().unwrap());
    assert!(session.may_run_on(target).unwrap());
    let output = SessionOutput { folder: None, command: &[] };
    session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap()
}

#[test]
fn arrays_get_a_length_on_devices_without_run_time_arrays() {
    on_each_driver(|target| {
        let lacks = !target.capabilities().features.contains("runtimeDescriptorArray");
        let result = checked(("array.spvasm", SHADER), None, target);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        assert_eq!(result.writes.as_ref().unwrap().written, 256, "{result:?}");
        let noted = result.notes.iter().any(|note| note.starts_with("the device lacks runtimeDescriptorArray"));
        assert_eq!(noted, lacks, "{:?}", result.notes);
        assert_eq!(checked(("array.spvasm", SHADER), Some("off-by-one@OpIMul"), target).status, Status::Fail);
    });
}

/// Each invocation writes to one of two images, itself and in a function, and to one of two buffers.
const SELECTING: &str = "#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform writeonly uimage1D images[2];
layout(set = 0, binding = 1) buffer Words { uint words[256]; } buffers[2];
void put(writeonly uimage1D image, uint at, uint value) { imageStore(image, int(at), uvec4(value)); }
void add(uint number, uint at, uint value) { atomicAdd(buffers[number].words[at], value); }
void main() {
    uint i = gl_GlobalInvocationID.x;
    imageStore(images[nonuniformEXT(i % 2)], int(i), uvec4(i * 7u));
    put(images[gl_WorkGroupID.x % 2], i, i * 3u);
    if (i > 7) { add(gl_WorkGroupID.x % 2, i, i * 5u); }
}
";

#[test]
fn descriptors_are_selected_on_devices_without_dynamic_indexing() {
    on_each_driver(|target| {
        let features = ["shaderStorageImageArrayNonUniformIndexing", "shaderStorageBufferArrayDynamicIndexing"];
        let lacks = features.iter().any(|feature| !target.capabilities().features.contains(*feature));
        let checked = |mutation| checked(("select.comp", SELECTING), mutation, target);
        let result = checked(None);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        let noted = result.notes.iter().any(|note| note.starts_with("the device lacks") && note.contains("switches"));
        assert_eq!(noted, lacks, "{:?}", result.notes);
        assert_eq!(checked(Some("off-by-one@OpIMul")).status, Status::Fail);
    });
}
