//! Tests of images: texels are compared with the oracle, and reported by their coordinates.

use crate::support::{on_each_driver, spirv, spoilt, wgsl};
use assay_check::{Check, ImageConfig, MutatingTarget, Mutation, Options, SamplerConfig, ShaderSource};
use assay_events::{DeviceInfo, Status};
use assay_exec::{DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::{Dispatch, Slot};
use assay_spirv_rules::requirements::DeviceCaps;
use assay_testkit::Shader;
use assay_vulkan_exec::VulkanTarget;

/// Reads a mirrored image, and writes three images of other formats: 10 x 9 texels by 2 x 3
/// workgroups.
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
fn image_reads_and_writes_are_permitted_on_every_driver() {
    let shader = wgsl(MIRROR);
    let check = Check::new(&shader, &options()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        // Four channels, one, and one, in two rounds.
        assert_eq!((result.elements_checked, result.elements_undetermined), (2 * 90 * 6, 0));
    });
}

#[test]
fn a_wrong_texel_is_reported_with_its_coordinates() {
    let result = spoilt(MIRROR, &options(), |output| {
        output.memory.get_mut(&Slot::new(0, 1)).unwrap()[4 * (7 * 10 + 3) + 2] ^= 0x80;
        output.memory.get_mut(&Slot::new(0, 2)).unwrap()[4 * (8 * 10 + 9) + 3] ^= 0x40;
        output.memory.get_mut(&Slot::new(0, 3)).unwrap()[4 * 10] ^= 1;
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

/// A sine has more permitted halves than are listed one by one.
#[test]
fn many_permitted_halves_are_compared_on_every_driver() {
    let text = "@group(0) @binding(0) var<storage> source: array<f32>;
        @group(0) @binding(1) var waves: texture_storage_2d<rgba16float, write>;
        @compute @workgroup_size(5, 3) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = source[id.y * 10u + id.x];
            textureStore(waves, id.xy, vec4<f32>(sin(x), cos(x), sin(x) * 0.1, 1.0));
        }";
    let options = Options { inputs: vec![("source".parse().unwrap(), "0.5..1".parse().unwrap())], ..options() };
    let shader = wgsl(text);
    let check = Check::new(&shader, &options).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.elements_undetermined), (Status::Pass, 0), "{:?}", result.undetermined);
    });
    let result = spoilt(text, &options, |output| output.memory.get_mut(&Slot::new(0, 1)).unwrap()[1] ^= 0x10);
    assert_eq!((result.status, result.elements_failing), (Status::Fail, 2), "{result:?}");
}

#[test]
fn an_impossible_image_is_refused() {
    let shader = wgsl(SAMPLED);
    let square = |size: &[u32]| ImageConfig { size: Some(size.to_vec()), ..ImageConfig::default() };
    for (form, part) in [
        (ImageConfig { levels: Some(9), ..square(&[4, 4]) }, "1 to 3 mip levels"),
        (ImageConfig { levels: Some(0), ..square(&[4, 4]) }, "1 to 3 mip levels"),
        (square(&[4]), "one number for each axis"),
        (square(&[4, 4, 4]), "one number for each axis"),
    ] {
        let images = vec![("numbers".parse().unwrap(), form)];
        let error = Check::new(&shader, &Options { images, ..self::square() }).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// A device that reads from the next row writes other texels, because all texels differ.
#[test]
fn a_texel_read_at_wrong_coordinates_is_found() {
    let shader = wgsl(MIRROR);
    let shifted = MIRROR.replace("size - 1u - id.xy", "(size - id.xy) % size");
    let other = wgsl(&shifted);
    let (check, other) = (Check::new(&shader, &options()).unwrap(), Check::new(&other, &options()).unwrap());
    on_each_driver(|target| {
        let result = assay_check::check_equivalence(&check, &other, target).unwrap();
        assert_eq!(result.status, Status::Fail);
        assert!(result.elements_failing >= 2 * 90, "{}", result.elements_failing);
    });
}

/// Samples, gathers and fetches from layers and levels, through two samplers.
const SAMPLED: &str = "
@group(0) @binding(0) var image: texture_2d_array<f32>;
@group(0) @binding(1) var one: sampler;
@group(0) @binding(2) var other: sampler;
@group(0) @binding(3) var<storage, read_write> data: array<vec4<f32>>;
@group(0) @binding(4) var numbers: texture_2d<u32>;
@compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<f32>(id.xy) * vec2(0.37, 0.41) - 1.0;
    let layer = id.x & 1u;
    let i = 4u * (id.y * 8u + id.x);
    data[i] = textureSampleLevel(image, one, at, layer, 0.0);
    data[i + 1u] = textureSampleLevel(image, other, at.yx, layer, 1.2, vec2(3, -2));
    data[i + 2u] = textureGather(1, image, one, at, layer, vec2(-1, 2));
    data[i + 3u] = vec4<f32>(textureGather(2, numbers, other, at)) + textureLoad(image, id.xy % textureDimensions(image), layer, 0);
}";

fn square() -> Options {
    Options { groups: Some([2, 2, 1]), elements: vec![(None, 256)], ..Options::default() }
}

#[test]
fn samples_and_gathers_are_permitted_on_every_driver() {
    let shader = wgsl(SAMPLED);
    let check = Check::new(&shader, &square()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!((result.elements_checked, result.elements_undetermined), (2 * 256 * 4, 0));
    });
}

/// A device that creates images and samplers with wrong properties.
struct WrongProperties<'a> {
    target: &'a VulkanTarget,
    wrong: &'a Check<'a>,
    dispatch: Dispatch,
}

impl Target for WrongProperties<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let descriptors = &self.wrong.setup.descriptors;
        self.target.run(&DispatchRequest { dispatch: &self.dispatch, descriptors, ..*request })
    }
}

/// A case file sets the properties of an image and its sampler, and results with wrong properties
/// are found.
#[test]
fn a_case_file_configures_images_and_samplers() {
    let text = "shader = \"x.wgsl\"\nworkgroups = [2, 2]\nrounds = 1\nelements = { data = 256 }\n
        [image.image]\nsize = [7, 5]\nlayers = 4\nlevels = 3\nformat = \"Rgba8\"
        base_level = 1\nbase_layer = 1\nview_layers = 2\nswizzle = \"b1ra\"\n
        [sampler.one]\nfilter = \"linear\"\naddress = [\"mirrored_repeat\", \"clamp_to_border\"]
        border = \"float_opaque_white\"\n
        [sampler.other]\naddress = [\"repeat\"]\n";
    let case = |text: &str| assay_check::CaseFile::parse("a.toml", text, std::path::Path::new("")).unwrap().options;
    let shader = wgsl(SAMPLED);
    let options = case(text);
    let check = Check::new(&shader, &options).unwrap();
    let others = [
        text.replace("mirrored_repeat", "repeat"),
        text.replace("opaque_white", "transparent_black"),
        text.replace("base_level = 1", "base_level = 0"),
        text.replace("base_layer = 1", "base_layer = 2"),
        text.replace("b1ra", "r1ba"),
        text.replace("[\"repeat\"]", "[\"clamp_to_edge\"]"),
    ];
    on_each_driver(|target| {
        // One driver's conversion of 8 bits gives neither neighbour, which a lenient reading
        // permits.
        let result = check.run(target).unwrap();
        assert!(matches!(result.status, Status::Pass | Status::QualityWarning), "{:?}", result.mismatches.first());
        assert_eq!((result.elements_failing, result.elements_undetermined), (0, 0));
        for other in &others {
            let wrong = Check::new(&shader, &case(other)).unwrap();
            let dispatch = wrong.dispatch(0, target).unwrap();
            let result = check.run(&WrongProperties { target, wrong: &wrong, dispatch }).unwrap();
            assert_eq!(result.status, Status::Fail, "{other}");
        }
    });
    for (wrong, says) in [
        (text.replace("Rgba8", "Rgba8ui"), "does not fit the image's sampled type"),
        (text.replace("base_layer = 1", "base_layer = 3"), "does not fit"),
        (text.replace("[sampler.one]", "[sampler.image]"), "no sampler `image`"),
    ] {
        let error = Check::new(&shader, &case(&wrong)).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(says), "{error}");
    }
}

const COMPARED: &str = "
@group(0) @binding(0) var image: texture_depth_2d;
@group(0) @binding(1) var comparing: sampler_comparison;
@group(0) @binding(2) var<storage, read_write> data: array<vec4<f32>>;
@compute @workgroup_size(8, 2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = (vec2<f32>(id.xy) + 0.4) / vec2(16.0, 4.0);
    data[2u * (id.y * 16u + id.x)] = textureGatherCompare(image, comparing, at, 0.5);
    data[2u * (id.y * 16u + id.x) + 1u].x = textureSampleCompareLevel(image, comparing, at, 0.25);
}";

/// Depths are compared where the shader compares them.
#[test]
fn depth_comparisons_are_permitted_on_every_driver() {
    let shader = wgsl(COMPARED);
    let check = Check::new(&shader, &square()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!(result.elements_undetermined, 0);
    });
}

/// A linear sampler with a comparison makes no demands on the format
/// (VUID-vkCmdDispatch-magFilter-04553), and may return any value from 0 to 1.
#[test]
fn linear_depth_comparisons_need_no_filterable_format() {
    let form =
        SamplerConfig { filter: Some("linear".into()), compare: Some("less".into()), ..SamplerConfig::default() };
    let options = Options { samplers: vec![("comparing".parse().unwrap(), form)], ..square() };
    let shader = wgsl(COMPARED);
    let check = Check::new(&shader, &options).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert!(matches!(result.status, Status::Pass | Status::QualityWarning), "{:?}", result.reason);
        assert_eq!(result.elements_undetermined, 0);
    });
}

/// An image whose type does not say whether it is a depth image is one if it is used in a
/// comparison (VUID-vkCmdDispatch-None-06479).
#[test]
fn an_image_with_a_depth_comparison_is_a_depth_image() {
    const TYPE_IMAGE: u32 = 25;
    let mut words = wgsl(COMPARED).source.module.words().to_vec();
    let mut at = 5;
    while at < words.len() {
        if words[at] & 0xffff == TYPE_IMAGE {
            words[at + 4] = 2;
        }
        at += (words[at] >> 16) as usize;
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let shader = ShaderSource::read("compared.spv", &bytes).unwrap();
    let check = Check::new(&shader, &square()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
    });
    let colour = ImageConfig { format: Some("Rgba8".into()), ..ImageConfig::default() };
    let options = Options { images: vec![("image".parse().unwrap(), colour)], ..square() };
    let error = Check::new(&shader, &options).unwrap_err().to_string();
    assert!(error.contains("None-06479"), "{error}");
}

/// Directions lead to the inside of each face, away from the edges of texels.
#[test]
fn cube_samples_are_permitted_on_every_driver() {
    let shader = wgsl(
        "@group(0) @binding(0) var image: texture_cube<f32>;
        @group(0) @binding(1) var filtering: sampler;
        @group(0) @binding(2) var<storage, read_write> data: array<vec4<f32>, 6>;
        @compute @workgroup_size(6) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var direction = vec3<f32>(0.11, -0.23, 0.17);
            direction[id.x / 2u] = select(-0.9, 0.9, id.x % 2u == 0u);
            data[id.x] = textureSampleLevel(image, filtering, direction, 0.0);
        }",
    );
    let options = Options { groups: Some([1; 3]), rounds: 1, ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!((result.elements_checked, result.elements_undetermined), (24, 0));
    });
}

#[test]
fn a_gather_from_a_cube_is_refused_by_name() {
    let shader = wgsl(
        "@group(0) @binding(0) var image: texture_cube<f32>;
        @group(0) @binding(1) var filtering: sampler;
        @group(0) @binding(2) var<storage, read_write> data: array<vec4<f32>>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = textureGather(0, image, filtering, vec3<f32>(0.5, 0.1, 0.2));
        }",
    );
    let error = Check::new(&shader, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("OpImageGather of a cube"), "{error}");
}

/// Copies each texel of a storage texel buffer, with a number added to its red channel.
const TEXELS: Shader<'_> = Shader {
    head: "OpCapability ImageBuffer",
    interface: "%texels %id",
    local_size: 7,
    decorations: "OpDecorate %texels DescriptorSet 0
        OpDecorate %texels Binding 4
        OpDecorate %id BuiltIn GlobalInvocationId",
    declared: "%v3 = OpTypeVector %uint 3
        %v4 = OpTypeVector %uint 4
        %image = OpTypeImage %uint Buffer 0 0 0 2 Rgba32ui
        %to_image = OpTypePointer UniformConstant %image
        %to_v3 = OpTypePointer Input %v3
        %five = OpConstant %uint 5
        %more = OpConstantComposite %v4 %five %zero %zero %zero
        %texels = OpVariable %to_image UniformConstant
        %id = OpVariable %to_v3 Input",
    body: "%ids = OpLoad %v3 %id
        %x = OpCompositeExtract %uint %ids 0
        %loaded = OpLoad %image %texels
        %texel = OpImageRead %v4 %loaded %x
        %sum = OpIAdd %v4 %texel %more
        OpImageWrite %loaded %x %sum",
    ..Shader::DEFAULT
};

#[test]
fn texel_buffers_are_checked_and_errors_are_traced() {
    let shader = spirv(&TEXELS);
    let options = Options { groups: Some([3, 1, 1]), rounds: 1, ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    let planted = "off-by-one@OpIAdd".parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches.first());
        assert_eq!(result.elements_checked, 21 * 4);
        let target = MutatingTarget::new(target, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail);
        assert_eq!(result.mismatches[0].element, "(0).r");
        check.explain(&mut result, &target, true);
        assert!(result.blamed.iter().any(|b| b.instruction == planted.instruction), "{:?}", result.notes);
    });
}
