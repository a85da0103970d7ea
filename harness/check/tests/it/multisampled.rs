//! Tests of multisampled images: samples are compared with the oracle, and reported by number.

use crate::support::{SyntheticTarget, on_each_driver, spirv, wgsl};
use assay_check::{Check, ImageConfig, Options, ShaderSource};
use assay_events::Status;
use assay_exec::DispatchOutput;
use assay_oracle::Slot;
use assay_testkit::Shader;

/// Copies the samples of colours and depths, in the order SAMPLE.
const COPY: &str = "
@group(0) @binding(0) var colours: texture_multisampled_2d<f32>;
@group(0) @binding(1) var depths: texture_depth_multisampled_2d;
@group(0) @binding(2) var numbers: texture_multisampled_2d<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>, 256>;
@group(0) @binding(4) var<storage, read_write> words: array<vec2<u32>, 256>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let samples = textureNumSamples(colours);
    for (var i = 0u; i < samples; i++) {
        let sample = SAMPLE;
        let at = (id.y * 8u + id.x) * samples + i;
        out[at] = textureLoad(colours, id.xy, sample) + textureLoad(depths, id.xy, sample);
        words[at] = textureLoad(numbers, id.xy, sample).xy + textureDimensions(numbers);
    }
}";

fn copy(sample: &str) -> ShaderSource {
    wgsl(&COPY.replace("SAMPLE", sample))
}

fn options() -> Options {
    Options { groups: Some([1, 1, 1]), ..Options::default() }
}

#[test]
fn fetched_samples_are_permitted_on_every_driver() {
    let shader = copy("i");
    let check = Check::new(&shader, &options()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!((result.elements_checked, result.elements_undetermined), (2 * 256 * 6, 0));
    });
}

/// A device that fetches another sample writes other numbers, because all samples differ.
#[test]
fn a_fetch_of_the_wrong_sample_is_found() {
    let (shader, shifted) = (copy("i"), copy("(i + 1u) % samples"));
    let (check, other) = (Check::new(&shader, &options()).unwrap(), Check::new(&shifted, &options()).unwrap());
    on_each_driver(|target| {
        let result = assay_check::check_equivalence(&check, &other, target).unwrap();
        assert_eq!(result.status, Status::Fail);
        assert!(result.elements_failing >= 2 * 256 * 2, "{}", result.elements_failing);
    });
}

/// Doubles each sample of a storage image of 4 x 4 texels.
fn doubled() -> ShaderSource {
    spirv(&Shader {
        version: "1.3",
        head: "OpCapability StorageImageMultisample",
        local_size: 64,
        inputs: &[("%id", "LocalInvocationIndex")],
        modes: "OpName %picture \"picture\"",
        decorations: "OpDecorate %picture DescriptorSet 0\nOpDecorate %picture Binding 0",
        declared: "%v2uint = OpTypeVector %uint 2
            %v4uint = OpTypeVector %uint 4
            %4 = OpConstant %uint 4
            %16 = OpConstant %uint 16
            %image = OpTypeImage %uint 2D 0 0 1 2 R32ui
            %to_image = OpTypePointer UniformConstant %image
            %picture = OpVariable %to_image UniformConstant",
        body: "%own = OpLoad %uint %id
            %sample = OpUMod %uint %own %4
            %texel = OpUDiv %uint %own %4
            %x = OpUMod %uint %texel %4
            %y = OpUDiv %uint %texel %4
            %at = OpCompositeConstruct %v2uint %x %y
            %there = OpLoad %image %picture
            %before = OpImageRead %v4uint %there %at Sample %sample
            %after = OpIAdd %v4uint %before %before
            OpImageWrite %there %at %after Sample %sample",
        ..Shader::default()
    })
}

fn square(samples: Option<u32>) -> Options {
    let form = ImageConfig { size: Some(vec![4, 4]), samples, ..ImageConfig::default() };
    Options { images: vec![("picture".parse().unwrap(), form)], ..options() }
}

#[test]
fn stored_samples_are_permitted_on_every_driver() {
    let shader = doubled();
    let check = Check::new(&shader, &square(None)).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!((result.elements_checked, result.elements_undetermined), (2 * 64, 0));
    });
}

#[test]
fn a_wrong_sample_is_reported_with_its_number_and_drawn() {
    let shader = doubled();
    let spoil = |output: &mut DispatchOutput| {
        output.memory.get_mut(&Slot::new(0, 0)).unwrap()[4 * (4 * (3 * 4 + 1) + 2)] ^= 1;
    };
    let result = Check::new(&shader, &square(None)).unwrap().run(&SyntheticTarget::spoilt(spoil)).unwrap();
    assert_eq!((result.status, result.elements_failing), (Status::Fail, 2));
    let first = result.mismatches.first().unwrap();
    assert_eq!((first.buffer.as_str(), first.element.as_str()), ("set 0 binding 0 (picture)", "sample 2 (1, 3)"));
    // Samples are drawn side by side.
    let picture = result.picture.expect("images are drawn");
    assert_eq!((picture.width, picture.height), (16, 4));
}

#[test]
fn numbers_of_samples_that_do_not_fit_the_type_are_refused() {
    let (shader, single) = (
        doubled(),
        wgsl(
            "
        @group(0) @binding(0) var picture: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(1) fn main() { textureStore(picture, vec2(0, 0), vec4(1u)); }",
        ),
    );
    for (shader, samples, part) in [
        (&shader, 1, "has 2, 4, 8, 16, 32 or 64 samples, not 1"),
        (&shader, 3, "has 2, 4, 8, 16, 32 or 64 samples, not 3"),
        (&shader, 128, "has 2, 4, 8, 16, 32 or 64 samples, not 128"),
        (&single, 4, "the image's type is single-sampled; it cannot have 4 samples"),
    ] {
        let error = Check::new(shader, &square(Some(samples))).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let form = ImageConfig { levels: Some(2), size: Some(vec![4, 4]), ..ImageConfig::default() };
    let images = vec![("picture".parse().unwrap(), form)];
    let error = Check::new(&shader, &Options { images, ..options() }).unwrap_err().to_string();
    assert!(error.contains("several mip levels"), "{error}");
}

/// No software driver has 8 samples.
#[test]
fn a_number_of_samples_that_the_device_lacks_is_not_supported() {
    let shader = doubled();
    let check = Check::new(&shader, &square(Some(8))).unwrap();
    on_each_driver(|target| {
        let (status, reason) = match check.run(target) {
            Ok(result) => (result.status, result.reason.unwrap_or_default()),
            Err(error) => (Status::NotSupported, error.to_string()),
        };
        assert_eq!(status, Status::NotSupported);
        assert!(reason.contains("with 8 samples (only 1, 4)"), "{reason}");
    });
}
