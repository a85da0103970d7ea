//! Run-time rules: for each one that the oracle enforces, a dispatch that breaks it and the nearest
//! one that does not.

use crate::support::*;
use assay_oracle::{
    Dispatch, Image, Limits, Offsets, Program, Resource, Robustness, RuleEnforcement, RunError, Slot, SpecValues, Tile,
    run_time_rules,
};
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{ImageView, Sampler};
use std::collections::{BTreeMap, BTreeSet};

/// A dispatch that breaks a rule, and the nearest one that keeps it.
struct Pair {
    rule: &'static str,
    broken: (String, Dispatch),
    kept: (String, Dispatch),
}

/// The violations of a dispatch, in the oracle's words.
fn found((text, dispatch): &(String, Dispatch)) -> String {
    let program = Program::new(&spirv(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match program.run(dispatch, &Limits::default()) {
        Ok(outcome) => outcome.faults.iter().map(|fault| fault.detail.clone() + "\n").collect(),
        Err(RunError::Dispatch(what)) => what,
        Err(error) => panic!("{error}"),
    }
}

/// A shader of four invocations with these capabilities, decorations and types. `%own` is the local
/// index, and `%result` is stored to its word of binding 1.
fn shader(capabilities: &str, decorations: &str, types: &str, body: &str) -> String {
    let shader = Shader {
        version: "1.3",
        head: capabilities,
        local_size: 4,
        inputs: &[("%index", "LocalInvocationIndex")],
        decorations: &format!("OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n{decorations}"),
        declared: &format!(
            "%v2uint = OpTypeVector %uint 2
            %v4uint = OpTypeVector %uint 4
            %3 = OpConstant %uint 3
            %4 = OpConstant %uint 4
            %origin = OpConstantComposite %v2uint %zero %zero
            %out = OpVariable %ublocks StorageBuffer
            {types}"
        ),
        body: &format!(
            "%own = OpLoad %uint %index
            {body}
            %word_at = OpAccessChain %puint %out %zero %own
            OpStore %word_at %result"
        ),
        ..Shader::default()
    };
    shader.text()
}

fn picture(dim: Dim, format: ImageFormat) -> Image {
    let extent = if dim == Dim::Buffer { [4, 1, 1] } else { [2, 2, 1] };
    Image {
        dim,
        extent,
        layers: 1,
        levels: 1,
        samples: 1,
        format,
        depth: false,
        view: ImageView::ALL,
        data: vec![1; 16],
    }
}

fn dispatch(others: impl IntoIterator<Item = (Slot, Resource)>) -> Dispatch {
    let mut bindings: BTreeMap<Slot, Resource> = others.into_iter().collect();
    bindings.insert(Slot::new(0, 1), words(&[0; 4]));
    Dispatch { bindings, ..Dispatch::default() }
}

/// A kind of descriptor: the capability, its types up to `%element`, and the code that reads `%at`, the
/// descriptor.
struct Kind {
    capability: &'static str,
    class: &'static str,
    one: &'static str,
    load: &'static str,
    /// The operand decorated `NonUniform`.
    operand: &'static str,
    image: Option<Dim>,
    rules: [&'static str; 2],
}

const BLOCK: &str = "%element = OpTypeStruct %uint\n%to_part = OpTypePointer CLASS %uint";
const WORD: &str = "%part = OpAccessChain %to_part %all %chosen %zero\n%result = OpLoad %uint %part";
const TEXEL: &str =
    "%image = OpLoad %element %at\n%texel = READ %v4uint %image %PLACE\n%result = OpCompositeExtract %uint %texel 0";

fn kinds() -> [Kind; 6] {
    let kind = |capability, class, one, load, image, rules| {
        let operand = if load == WORD { "%part" } else { "%image" };
        Kind { capability, class, one, load, operand, image, rules }
    };
    [
        kind("UniformBuffer", "Uniform", BLOCK, WORD, None, ["10134", "10141"]),
        kind("StorageBuffer", "StorageBuffer", BLOCK, WORD, None, ["10136", "10143"]),
        kind(
            "SampledImage",
            "UniformConstant",
            "%element = OpTypeImage %uint 2D 0 0 0 1 Unknown",
            TEXEL,
            Some(Dim::Dim2D),
            ["10135", "10142"],
        ),
        kind(
            "StorageImage",
            "UniformConstant",
            "%element = OpTypeImage %uint 2D 0 0 0 2 R32ui",
            TEXEL,
            Some(Dim::Dim2D),
            ["10137", "10144"],
        ),
        kind(
            "UniformTexelBuffer",
            "UniformConstant",
            "%element = OpTypeImage %uint Buffer 0 0 0 1 Unknown",
            TEXEL,
            Some(Dim::Buffer),
            ["10139", "10146"],
        ),
        kind(
            "StorageTexelBuffer",
            "UniformConstant",
            "%element = OpTypeImage %uint Buffer 0 0 0 2 R32ui",
            TEXEL,
            Some(Dim::Buffer),
            ["10140", "10147"],
        ),
    ]
}

/// A shader that reads one of four descriptors, selected by `chosen`.
fn choosing(kind: &Kind, chosen: &str, capability: bool, decorated: bool) -> String {
    let mut capabilities = "OpCapability ShaderNonUniform\nOpExtension \"SPV_EXT_descriptor_indexing\"".to_owned();
    if kind.image == Some(Dim::Buffer) {
        capabilities = format!("OpCapability SampledBuffer\nOpCapability ImageBuffer\n{capabilities}");
    }
    if capability {
        capabilities = format!("OpCapability {}ArrayNonUniformIndexing\n{capabilities}", kind.capability);
    }
    let mut decorations = "OpDecorate %all DescriptorSet 0\nOpDecorate %all Binding 0\n".to_owned();
    if kind.image.is_none() {
        decorations += "OpDecorate %element Block\nOpMemberDecorate %element 0 Offset 0\n";
    }
    if decorated {
        decorations += &format!("OpDecorate {} NonUniform\n", kind.operand);
    }
    let sampled = kind.one.contains(" 1 Unknown");
    let types = format!(
        "{}\n%many = OpTypeArray %element %4\n%to_many = OpTypePointer CLASS %many\n%to_one = OpTypePointer CLASS %element\n\
         %all = OpVariable %to_many CLASS",
        kind.one
    );
    let body =
        format!("%chosen = OpCopyObject %uint {chosen}\n%at = OpAccessChain %to_one %all %chosen\n{}", kind.load)
            .replace("READ", if sampled { "OpImageFetch" } else { "OpImageRead" })
            .replace("%PLACE", if kind.image == Some(Dim::Buffer) { "%zero" } else { "%origin" });
    shader(&capabilities, &decorations, &types.replace("CLASS", kind.class), &body)
}

fn four(kind: &Kind, subgroup_size: u32) -> Dispatch {
    let one = || match kind.image {
        Some(dim) => Resource::Image(picture(dim, ImageFormat::R32ui)),
        None => words(&[7]),
    };
    let all = (0..4).map(|element| (Slot { set: 0, binding: 0, element }, one()));
    Dispatch { subgroup_size, ..dispatch(all) }
}

fn descriptors(pairs: &mut Vec<Pair>) {
    for kind in kinds() {
        for (rule, subgroup) in kind.rules.into_iter().zip([32, 1]) {
            let broken = (choosing(&kind, "%own", false, true), four(&kind, subgroup));
            let kept = (choosing(&kind, "%own", true, true), four(&kind, subgroup));
            pairs.push(Pair { rule, broken, kept });
        }
        for (rule, subgroup) in [("10149", 32), ("10148", 1)] {
            let broken = (choosing(&kind, "%own", true, false), four(&kind, subgroup));
            let kept = (choosing(&kind, "%two", false, false), four(&kind, subgroup));
            pairs.push(Pair { rule, broken, kept });
        }
    }
    // Values that are uniform in a subgroup may differ between two if the layout is known.
    let kind = &kinds()[1];
    let halves = |size| Dispatch { layout: assay_oracle::SubgroupLayout::Linear, ..four(kind, size) };
    let half = choosing(kind, "%own", false, false)
        .replace("%chosen = OpCopyObject %uint %own", "%chosen = OpUDiv %uint %own %two");
    pairs.push(Pair { rule: "10136", broken: (half.clone(), halves(4)), kept: (half, halves(2)) });
}

fn others(pairs: &mut Vec<Pair>) {
    let none = || dispatch([]);
    // Push constants.
    let pushed = |index: &str| {
        let decorations = "OpDecorate %four ArrayStride 4\nOpDecorate %Push Block\nOpMemberDecorate %Push 0 Offset 0";
        let types = "%four = OpTypeArray %uint %4\n%Push = OpTypeStruct %four\n%to_push = OpTypePointer PushConstant %Push\n\
                     %to_pushed = OpTypePointer PushConstant %uint\n%push = OpVariable %to_push PushConstant";
        let body = format!("%at = OpAccessChain %to_pushed %push %zero {index}\n%result = OpLoad %uint %at");
        (shader("", decorations, types, &body), Dispatch { push_constants: vec![1; 16], ..none() })
    };
    pairs.push(Pair { rule: "04745", broken: pushed("%own"), kept: pushed("%3") });
    // The rule concerns arrays: any component of a vector may be selected.
    let vector = |(text, dispatch): (String, Dispatch)| {
        (
            text.replace("%four = OpTypeArray %uint %4", "%four = OpTypeVector %uint 4")
                .replace("OpDecorate %four ArrayStride 4\n", ""),
            dispatch,
        )
    };
    pairs.push(Pair { rule: "04745", broken: pushed("%own"), kept: vector(pushed("%own")) });
    // Sources of broadcasts.
    for (rule, capability, op) in [
        ("06277", "GroupNonUniformBallot", "OpGroupNonUniformBroadcast"),
        ("06276", "GroupNonUniformQuad", "OpGroupNonUniformQuadBroadcast"),
    ] {
        let who = |id: &str| {
            let body = format!("%result = {op} %uint %3 %own {id}");
            let capabilities = format!("OpCapability GroupNonUniform\nOpCapability {capability}");
            (
                shader(&capabilities, "", "", &body),
                Dispatch { subgroup_size: 4, layout: assay_oracle::SubgroupLayout::Linear, ..none() },
            )
        };
        pairs.push(Pair { rule, broken: who("%own"), kept: who("%two") });
    }
    // Values that a subgroup of four must agree on, and its clusters.
    let of_four = |capability: &str, body: &str| {
        let capabilities = format!("OpCapability GroupNonUniform\nOpCapability {capability}");
        let types = "%8 = OpConstant %uint 8\n%ballot = OpConstantComposite %v4uint %two %zero %zero %zero";
        let layout = assay_oracle::SubgroupLayout::Linear;
        (shader(&capabilities, "", types, body), Dispatch { subgroup_size: 4, layout, ..none() })
    };
    let inverse = |bits: &str| {
        let body = format!(
            "%bits = OpCompositeInsert %v4uint {bits} %ballot 0\n%bit = OpGroupNonUniformInverseBallot %bool %3 %bits\n\
             %result = OpSelect %uint %bit %one %zero"
        );
        of_four("GroupNonUniformBallot", &body)
    };
    let rule = "OpGroupNonUniformInverseBallot: Value";
    pairs.push(Pair { rule, broken: inverse("%own"), kept: inverse("%3") });
    let cluster = |size: &str| {
        let body = format!("%result = OpGroupNonUniformIAdd %uint %3 ClusteredReduce %own {size}");
        of_four("GroupNonUniformClustered", &body)
    };
    for (broken, kept) in [("%8", "%4"), ("%3", "%two"), ("%zero", "%one")] {
        pairs.push(Pair { rule: "ClusterSize", broken: cluster(broken), kept: cluster(kept) });
    }
    let rotated = |size: &str| {
        let (text, dispatch) = cluster(size);
        let text = text
            .replace(
                "OpCapability GroupNonUniformClustered",
                "OpCapability GroupNonUniformRotateKHR\nOpExtension \"SPV_KHR_subgroup_rotate\"",
            )
            .replace("IAdd %uint %3 ClusteredReduce %own", "RotateKHR %uint %3 %own %one");
        (text, dispatch)
    };
    pairs.push(Pair { rule: "ClusterSize", broken: rotated("%zero"), kept: rotated("%4") });
    let by = |delta: &str| {
        let (text, dispatch) = rotated("%4");
        (text.replace("%own %one %4", &format!("%own {delta} %4")), dispatch)
    };
    pairs.push(Pair { rule: "OpGroupNonUniformRotateKHR: Delta", broken: by("%own"), kept: by("%3") });
    // The source of a broadcast in a quad is another one in the next.
    let in_quads = |size: &str| {
        let (text, dispatch) = of_four(
            "GroupNonUniformQuad",
            &format!(
                "%quad = OpUDiv %uint %own %{size}
            %result = OpGroupNonUniformQuadBroadcast %uint %3 %own %quad"
            ),
        );
        let text = text.replace("LocalSize 4 1 1", "LocalSize 8 1 1");
        let bindings = [(Slot::new(0, 1), words(&[0; 8]))].into();
        (text, Dispatch { bindings, subgroup_size: 8, ..dispatch })
    };
    pairs.push(Pair { rule: "06276", broken: in_quads("two"), kept: in_quads("4") });
    let assumed = |below: &str| {
        let body =
            format!("%less = OpULessThan %bool %own {below}\nOpAssumeTrueKHR %less\n%result = OpCopyObject %uint %own");
        let capabilities = "OpCapability ExpectAssumeKHR\nOpExtension \"SPV_KHR_expect_assume\"";
        (shader(capabilities, "", "", &body), none())
    };
    pairs.push(Pair { rule: "OpAssumeTrueKHR: Condition", broken: assumed("%3"), kept: assumed("%4") });
    samples(pairs);
    aliases(pairs);
    // Physical pointers: four words at address 0x10000.
    let pointed = |address: u64| {
        let types = format!(
            "%ulong = OpTypeInt 64 0\n%address = OpConstant %ulong {address}\n\
             %pointer = OpTypePointer PhysicalStorageBuffer %uint"
        );
        let capabilities = "OpCapability Int64\nOpCapability PhysicalStorageBufferAddresses\n\
                            OpExtension \"SPV_KHR_physical_storage_buffer\"";
        let body = "%at = OpConvertUToPtr %pointer %address\n%result = OpLoad %uint %at Aligned 4";
        let text = shader(capabilities, "", &types, body).replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450");
        let Resource::Buffer(buffer) = words(&[9; 4]) else { unreachable!("words are a buffer") };
        let there = assay_oracle::Buffer { address: Some(0x10000), ..buffer };
        (text, dispatch([(Slot::new(0, 0), Resource::Buffer(there))]))
    };
    // Out of bounds either way, which a robust device permits.
    let far = |index: u32| {
        let types = format!("%far = OpConstant %uint {index}");
        let body = "%beyond = OpAccessChain %puint %out %zero %far\n%result = OpLoad %uint %beyond";
        (shader("", "", &types, body), Dispatch { robustness: Robustness::Access2, ..none() })
    };
    pairs.push(Pair { rule: "10834", broken: far(0x4000_0001), kept: far(0x3fff_ffff) });
    pairs.push(Pair { rule: "10834", broken: far(0xdfff_ffff), kept: far(0xe000_0000) });
    pairs.push(Pair { rule: "06315", broken: pointed(0x10002), kept: pointed(0x10004) });
    pairs.push(Pair { rule: "11819", broken: pointed(0x10010), kept: pointed(0x1000c) });
    // The bound view.
    let read = |dim, format| {
        let decorations = "OpDecorate %picture DescriptorSet 0\nOpDecorate %picture Binding 0";
        let types = "%image = OpTypeImage %uint 2D 0 0 0 2 R32ui\n%to_image = OpTypePointer UniformConstant %image\n\
                     %picture = OpVariable %to_image UniformConstant";
        let body = "%there = OpLoad %image %picture\n%texel = OpImageRead %v4uint %there %origin\n\
                    %result = OpCompositeExtract %uint %texel 0";
        (shader("", decorations, types, body), dispatch([(Slot::new(0, 0), Resource::Image(picture(dim, format)))]))
    };
    let kept = || read(Dim::Dim2D, ImageFormat::R32ui);
    pairs.push(Pair { rule: "ImageView Types", broken: read(Dim::Dim3D, ImageFormat::R32ui), kept: kept() });
    pairs.push(Pair {
        rule: "Image Formats and Vulkan Formats",
        broken: read(Dim::Dim2D, ImageFormat::R32i),
        kept: kept(),
    });
    // Without a format, where the instruction gives the texel type.
    let plain = |format: ImageFormat, operands: &str| {
        let (text, dispatch) = read(Dim::Dim2D, ImageFormat::R32ui);
        let mut bindings = dispatch.bindings;
        bindings.insert(Slot::new(0, 0), Resource::Image(picture(Dim::Dim2D, format)));
        let text = text
            .replace("Version: 1.3", "Version: 1.4")
            .replace("OpCapability Shader", "OpCapability Shader\nOpCapability StorageImageReadWithoutFormat")
            .replace("%main \"main\" %index", "%main \"main\" %index %picture %out")
            .replace("2 R32ui", "2 Unknown")
            .replace("%there %origin", &format!("%there %origin {operands}"));
        (text, Dispatch { bindings, ..Dispatch::default() })
    };
    for (broken, kept) in [
        (plain(ImageFormat::R32i, ""), plain(ImageFormat::R32ui, "")),
        (plain(ImageFormat::R32f, ""), plain(ImageFormat::Rgba8ui, "")),
        (plain(ImageFormat::R32ui, "SignExtend"), plain(ImageFormat::R32i, "SignExtend")),
    ] {
        pairs.push(Pair { rule: "unformatted accesses", broken, kept });
    }
}

/// A second variable of binding 1, through which words are read, or written.
/// An image with one sample for a multisampled type, and the reverse.
fn samples(pairs: &mut Vec<Pair>) {
    let fetch = |multisampled: u32, samples: u32| {
        let operand = if multisampled == 1 { " Sample %one" } else { "" };
        let types = format!(
            "%image = OpTypeImage %uint 2D 0 0 {multisampled} 1 Unknown\n%to_image = OpTypePointer UniformConstant %image\n\
             %picture = OpVariable %to_image UniformConstant"
        );
        let body = format!(
            "%there = OpLoad %image %picture\n%texel = OpImageFetch %v4uint %there %origin{operand}\n\
             %result = OpCompositeExtract %uint %texel 0"
        );
        let decorations = "OpDecorate %picture DescriptorSet 0\nOpDecorate %picture Binding 0";
        let data = vec![1; 16 * samples as usize];
        let image = Image { samples, data, ..picture(Dim::Dim2D, ImageFormat::R32ui) };
        (shader("", decorations, &types, &body), dispatch([(Slot::new(0, 0), Resource::Image(image))]))
    };
    pairs.push(Pair { rule: "08725", broken: fetch(0, 4), kept: fetch(0, 1) });
    pairs.push(Pair { rule: "08726", broken: fetch(1, 1), kept: fetch(1, 4) });
}

fn aliases(pairs: &mut Vec<Pair>) {
    let rule = "without Aliased";
    let twice = |aliased: &[&str], body: &str| {
        let mut decorations = "OpDecorate %again DescriptorSet 0\nOpDecorate %again Binding 1".to_owned();
        aliased.iter().for_each(|which| decorations += &format!("\nOpDecorate {which} Aliased"));
        (shader("", &decorations, "%again = OpVariable %ublocks StorageBuffer", body), dispatch([]))
    };
    const READ: &str = "%other_at = OpAccessChain %puint %again %zero %own\n%result = OpLoad %uint %other_at";
    const BOTH: [&str; 2] = ["%out", "%again"];
    pairs.push(Pair { rule, broken: twice(&[], READ), kept: twice(&BOTH, READ) });
    pairs.push(Pair { rule, broken: twice(&["%out"], READ), kept: twice(&BOTH, READ) });
    // Other words are other memory.
    let next = READ.replace("%own\n", "%next\n");
    let next = |more: &str| twice(&[], &format!("%next = OpIAdd %uint %own {more}\n{next}"));
    let many = |(text, dispatch): (String, Dispatch)| {
        let bindings = [(Slot::new(0, 1), words(&[0; 9]))].into();
        (text, Dispatch { bindings, ..dispatch })
    };
    pairs.push(Pair { rule, broken: many(next("%zero")), kept: many(next("%4")) });
    // Two reads do not conflict.
    let reads = |through: &str| {
        twice(
            &[],
            &format!(
                "%a_at = OpAccessChain %puint {through} %zero %4\n%b_at = OpAccessChain %puint %again %zero %4\n\
                             %a = OpLoad %uint %a_at\n%b = OpLoad %uint %b_at\n%result = OpIAdd %uint %a %b"
            ),
        )
    };
    pairs.push(Pair { rule, broken: many(twice(&[], READ)), kept: many(reads("%out")) });
    // An atomic operation, which is a write, and texels.
    let atomic = |through: &str| {
        twice(
            &[],
            &format!(
                "%other_at = OpAccessChain %puint {through} %zero %own\n\
                             %result = OpAtomicIAdd %uint %other_at %one %zero %one"
            ),
        )
    };
    pairs.push(Pair { rule, broken: atomic("%again"), kept: atomic("%out") });
    let texels = |aliased: &str| {
        let decorations = format!(
            "OpDecorate %first DescriptorSet 0\nOpDecorate %first Binding 0\nOpDecorate %second DescriptorSet 0\n\
             OpDecorate %second Binding 0{aliased}"
        );
        let types = "%image = OpTypeImage %uint 2D 0 0 0 2 R32ui\n%to_image = OpTypePointer UniformConstant %image\n\
                     %first = OpVariable %to_image UniformConstant\n%second = OpVariable %to_image UniformConstant";
        let body = "%row = OpUDiv %uint %own %two\n%column = OpUMod %uint %own %two\n\
                    %at = OpCompositeConstruct %v2uint %column %row\n%elements = OpCompositeConstruct %v4uint %one %one %one %one\n\
                    %there = OpLoad %image %first\nOpImageWrite %there %at %elements\n%here = OpLoad %image %second\n\
                    %texel = OpImageRead %v4uint %here %at\n%result = OpCompositeExtract %uint %texel 0";
        let image = Resource::Image(picture(Dim::Dim2D, ImageFormat::R32ui));
        (shader("", &decorations, types, body), dispatch([(Slot::new(0, 0), image)]))
    };
    let aliased = "\nOpDecorate %first Aliased\nOpDecorate %second Aliased";
    pairs.push(Pair { rule, broken: texels(""), kept: texels(aliased) });
}

fn offsets(pairs: &mut Vec<Pair>) {
    const TEXT: &str = include_str!("../../../spirv-lower/tests/lower/gather.spvasm");
    let moved = |call: &str, by: i32| {
        let text = TEXT.replace("COMPONENT", "0").replace("OFFSET_X", "0").replace("OFFSET_Y", &by.to_string());
        let text = text.replace("%offset = ", "%lod = OpConstant %float 0\n%offset = ").replace("GATHER", call);
        let image = Resource::CombinedImageSampler(picture(Dim::Dim2D, ImageFormat::R32ui), Sampler::NEAREST);
        let resources =
            [(Slot::new(0, 0), image), (Slot::new(0, 1), floats(&[0.1; 4])), (Slot::new(0, 2), words(&[0; 4]))];
        let offsets = Offsets { gather: [-8, 7], sample: [-6, 5] };
        (text, Dispatch { offsets, bindings: resources.into(), ..Dispatch::default() })
    };
    let gather = "OpImageGatherQCOM %v4uint %both %at %component %uint_1 ConstOffset %offset";
    let sample = "OpImageSampleExplicitLod %v4uint %both %at Lod|ConstOffset %lod %offset";
    for (call, least, most, [lo, hi]) in [(gather, "06376", "06377", [-8, 7]), (sample, "06435", "06436", [-6, 5])] {
        pairs.push(Pair { rule: least, broken: moved(call, lo - 1), kept: moved(call, lo) });
        pairs.push(Pair { rule: most, broken: moved(call, hi + 1), kept: moved(call, hi) });
    }
}

fn tiles(pairs: &mut Vec<Pair>) {
    const TEXT: &str = include_str!("../../../spirv-lower/tests/lower/tile.spvasm");
    const TILE: Tile = Tile { offset: [4, 4], size: [4, 4, 1], apron: [1, 1], area: [[0, 0], [8, 8]] };
    let attachment = || {
        let data = vec![1; 8 * 8 * 4];
        let (dim, format) = (Dim::Dim2D, ImageFormat::R32ui);
        Image {
            dim,
            extent: [8, 8, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            format,
            depth: false,
            view: ImageView::ALL,
            data,
        }
    };
    let run = |text: String, tile: Option<Tile>| {
        let push: Vec<u8> = [0u32, 0, 8, 8, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
        let resources = [
            (Slot::new(0, 0), Resource::Image(attachment())),
            (Slot::new(0, 1), Resource::CombinedImageSampler(attachment(), Sampler::NEAREST)),
            (Slot::new(0, 2), words(&[0; 3])),
        ];
        (text, Dispatch { push_constants: push, bindings: resources.into(), tile, ..Dispatch::default() })
    };
    let rate = |z: u32, layers: u32| {
        let text = TEXT.replace("TileShadingRateQCOM 2 2 1", &format!("TileShadingRateQCOM 2 2 {z}"));
        run(text, Some(Tile { size: [4, 4, layers], ..TILE }))
    };
    let kept = || run(TEXT.to_owned(), Some(TILE));
    pairs.push(Pair { rule: "TileShadingQCOM-10700", broken: run(TEXT.to_owned(), None), kept: kept() });
    pairs.push(Pair { rule: "10701", broken: run(TEXT.to_owned(), None), kept: kept() });
    pairs.push(Pair { rule: "10704", broken: rate(4, 2), kept: rate(2, 2) });
    pairs.push(Pair { rule: "10705", broken: rate(2, 3), kept: rate(2, 2) });
    let narrow = |text: String, apron| run(text, Some(Tile { apron, ..TILE }));
    pairs.push(Pair { rule: "10713", broken: narrow(TEXT.to_owned(), [0, 1]), kept: narrow(TEXT.to_owned(), [1, 0]) });
    // The left neighbour sampled instead of read.
    let sampled = TEXT
        .replace("%pointer_image = ", "%float = OpTypeFloat 32\n%v2float = OpTypeVector %float 2\n%eighth = OpConstant %float 0.125\n\
                  %half = OpConstant %float 0.0625\n%zero = OpConstant %float 0\n%halves = OpConstantComposite %v2float %half %half\n\
                  %seen = OpTypeImage %uint 2D 0 0 0 1 Unknown\n%with = OpTypeSampledImage %seen\n\
                  %pointer_with = OpTypePointer TileAttachmentQCOM %with\n%pointer_image = ")
        .replace("%source = OpVariable %pointer_image", "%source = OpVariable %pointer_with")
        .replace("%source_image = OpLoad %image %source", "%source_image = OpLoad %with %source\n%float_at = OpConvertUToF %v2float %left_at\n\
                  %scaled_at = OpVectorTimesScalar %v2float %float_at %eighth\n%middle = OpFAdd %v2float %scaled_at %halves")
        .replace("OpImageRead %v4uint %source_image %left_at", "OpImageSampleExplicitLod %v4uint %source_image %middle Lod %zero");
    pairs.push(Pair { rule: "10714", broken: narrow(sampled.clone(), [0, 1]), kept: narrow(sampled, [1, 0]) });
}

#[test]
fn floats_of_8_bits_are_refused_by_name() {
    let types = "%small = OpTypeFloat 8 Float8E4M3EXT\n%element = OpConstant %small 1.0";
    let capabilities = "OpCapability Float8EXT\nOpExtension \"SPV_EXT_float8\"";
    let body = "%less = OpFNegate %small %element\n%result = OpCopyObject %uint %own";
    let program = Program::new(&spirv(&shader(capabilities, "", types, body)), "main", &SpecValues::new());
    let what = program.map(|_| ()).unwrap_err().to_string();
    assert!(what.contains("unsupported: OpTypeFloat 8 Float8E4M3EXT"), "{what}");
    let watches = run_time_rules().find(|(rule, _)| rule.id.ends_with("float8 conversions"));
    assert_eq!(watches.map(|(_, watch)| watch), Some(RuleEnforcement::Refused("OpTypeFloat 8")));
}

#[test]
fn every_rule_that_is_enforced_is_broken_by_one_dispatch_and_kept_by_the_nearest() {
    let mut pairs = Vec::new();
    descriptors(&mut pairs);
    others(&mut pairs);
    offsets(&mut pairs);
    tiles(&mut pairs);
    let mut seen = BTreeSet::new();
    for Pair { rule, broken, kept } in &pairs {
        let named: Vec<&str> = run_time_rules().map(|(rule, _)| rule.id).filter(|id| id.ends_with(rule)).collect();
        let [id] = named[..] else { panic!("{rule}: {named:?}") };
        let what = found(broken);
        assert!(what.contains(id), "{id} is not among: {what}\n{}", broken.0);
        let what = found(kept);
        assert_eq!(what, "", "of the nearest to {id}\n{}", kept.0);
        seen.insert(id);
    }
    let enforced: BTreeSet<&str> = run_time_rules()
        .filter(|(_, watch)| matches!(watch, RuleEnforcement::Enforced(_)))
        .map(|(rule, _)| rule.id)
        .collect();
    assert_eq!(seen, enforced);
}

/// Each `Dim` takes views of its own types only.
#[test]
fn a_view_of_another_dimensionality_is_refused() {
    let rule = "Image Dimensions and Vulkan ImageView Types";
    let dims = [("1D", Dim::Dim1D), ("2D", Dim::Dim2D), ("3D", Dim::Dim3D), ("Cube", Dim::Cube)];
    for (name, declared) in dims {
        let decorations = "OpDecorate %picture DescriptorSet 0\nOpDecorate %picture Binding 0";
        let types = format!(
            "%image = OpTypeImage %uint {name} 0 0 0 1 R32ui\n%to_image = OpTypePointer UniformConstant %image\n\
             %picture = OpVariable %to_image UniformConstant"
        );
        let body = "%there = OpLoad %image %picture\n%result = OpCopyObject %uint %own";
        let text = shader("OpCapability Sampled1D", decorations, &types, body);
        for (_, bound) in dims {
            let layers = if bound == Dim::Cube { 6 } else { 1 };
            let extent = if bound == Dim::Dim1D { [4, 1, 1] } else { [2, 2, 1] };
            let data = vec![1; 16 * layers as usize];
            let image = Image { extent, layers, data, ..picture(bound, ImageFormat::R32ui) };
            let what = found(&(text.clone(), dispatch([(Slot::new(0, 0), Resource::Image(image))])));
            assert_eq!(what.contains(rule), bound != declared, "{bound:?} for {name}: {what}");
            assert_eq!(what.is_empty(), bound == declared, "{bound:?} for {name}: {what}");
        }
    }
}
