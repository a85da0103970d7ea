//! Images: what is written texel by texel is held against the oracle, and named by its coordinates.

use crate::support::{on_each_driver, spoilt, wgsl};
use assay_check::{Check, Mutating, Mutation, Options, Subject};
use assay_oracle::Slot;
use assay_runner::Status;

/// Reads an image mirrored and writes three of other formats: 10 x 9 texels with two by three workgroups.
const MIRROR: &str = "
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var colours: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var floats: texture_storage_2d<r32float, write>;
@group(0) @binding(3) var words: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(5, 3) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(source);
    let texel = textureLoad(source, size - 1u - id.xy, 0);
    textureStore(colours, id.xy, abs(texel) - 1.0);
    textureStore(floats, id.xy, vec4<f32>(texel.y * 2.0));
    let word = textureLoad(words, id.xy);
    textureStore(words, id.xy, word + vec4<u32>(size.x * 100u + size.y));
}";

fn options() -> Options {
    Options { groups: Some([2, 3, 1]), ..Options::default() }
}

#[test]
fn a_shader_that_reads_and_writes_images_is_within_on_the_drivers() {
    let subject = wgsl(MIRROR);
    let check = Check::new(&subject, &options()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        // Four channels, one, and one, in two rounds.
        assert_eq!((result.elements_checked, result.elements_undetermined), (2 * 90 * 6, 0));
    });
}

#[test]
fn a_wrong_texel_is_found_with_its_coordinates() {
    let result = spoilt(MIRROR, &options(), |left| {
        left.memory.get_mut(&Slot::new(0, 1)).unwrap()[4 * (7 * 10 + 3) + 2] ^= 0x80;
        left.memory.get_mut(&Slot::new(0, 2)).unwrap()[4 * (8 * 10 + 9) + 3] ^= 0x40;
        left.memory.get_mut(&Slot::new(0, 3)).unwrap()[4 * 10] ^= 1;
    });
    assert_eq!((result.status, result.elements_failing, result.elements_checked), (Status::Fail, 6, 1080));
    let found = result.mismatches.iter().take(3).map(|m| (m.buffer.as_str(), m.element.as_str(), m.scalar.as_str()));
    let expected = [
        ("set 0 binding 1 (colours)", "(3, 7).b", "u8"),
        ("set 0 binding 2 (floats)", "(9, 8)", "f32"),
        ("set 0 binding 3 (words)", "(0, 1)", "u32"),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// A device that reads one row further down writes other texels: the pattern tells them apart.
#[test]
fn a_texel_read_at_another_place_is_found() {
    let subject = wgsl(MIRROR);
    let shifted = MIRROR.replace("size - 1u - id.xy", "(size - id.xy) % size");
    let other = wgsl(&shifted);
    let (check, other) = (Check::new(&subject, &options()).unwrap(), Check::new(&other, &options()).unwrap());
    on_each_driver(|target| {
        let result = assay_check::against(&check, &other, target).unwrap();
        assert_eq!(result.status, Status::Fail);
        assert!(result.elements_failing >= 2 * 90, "{}", result.elements_failing);
    });
}

#[test]
fn what_samples_an_image_is_refused_by_name() {
    let subject = wgsl(
        "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var filtering: sampler;
        @group(0) @binding(2) var<storage, read_write> data: array<vec4<f32>>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = textureSampleLevel(image, filtering, vec2<f32>(0.5), 0.0);
        }",
    );
    let error = Check::new(&subject, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("ampl"), "{error}");
}

/// A storage texel buffer of which each texel becomes a copy of itself, its red channel plus a number.
const TEXELS: &str = "
OpCapability Shader
OpCapability ImageBuffer
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id %texels
OpExecutionMode %main LocalSize 7 1 1
OpDecorate %texels DescriptorSet 0
OpDecorate %texels Binding 4
OpDecorate %id BuiltIn GlobalInvocationId
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%v3 = OpTypeVector %uint 3
%v4 = OpTypeVector %uint 4
%image = OpTypeImage %uint Buffer 0 0 0 2 Rgba32ui
%to_image = OpTypePointer UniformConstant %image
%to_v3 = OpTypePointer Input %v3
%function = OpTypeFunction %void
%zero = OpConstant %uint 0
%five = OpConstant %uint 5
%more = OpConstantComposite %v4 %five %zero %zero %zero
%texels = OpVariable %to_image UniformConstant
%id = OpVariable %to_v3 Input
%main = OpFunction %void None %function
%start = OpLabel
%ids = OpLoad %v3 %id
%x = OpCompositeExtract %uint %ids 0
%loaded = OpLoad %image %texels
%texel = OpImageRead %v4 %loaded %x
%sum = OpIAdd %v4 %texel %more
OpImageWrite %loaded %x %sum
OpReturn
OpFunctionEnd
";

#[test]
fn texel_buffers_are_checked_and_errors_in_what_is_written_traced() {
    let subject = Subject::read("texels.spvasm", TEXELS.as_bytes()).unwrap();
    let options = Options { groups: Some([3, 1, 1]), rounds: 1, ..Options::default() };
    let check = Check::new(&subject, &options).unwrap();
    let planted = "off-by-one@OpIAdd".parse::<Mutation>().unwrap().plant(&subject.source.module, "main").unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!(result.elements_checked, 21 * 4);
        let target = Mutating::new(target, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail);
        assert_eq!(result.mismatches[0].element, "(0).r");
        check.explain(&mut result, &target, true);
        assert!(result.blamed.iter().any(|b| b.instruction == planted.instruction), "{:?}", result.notes);
    });
}
