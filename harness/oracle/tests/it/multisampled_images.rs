//! Multisampled images: fetches, loads, stores, atomics and queries.

use crate::support::*;
use assay_oracle::{Dispatch, Expected, Image, Limits, Outcome, Program, Resource, Robustness, Slot, SpecValues};
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::ImageView;

/// An image of 3 x 2 texels with 4 samples. Each holds 1000 times its layer, and 100 y + 10 x + its
/// number.
fn samples(layers: u32) -> Resource {
    let word = |i: u32| 1000 * (i / 24) + 100 * (i / 12 % 2) + 10 * (i / 4 % 3) + i % 4;
    let data = (0..24 * layers).flat_map(|i| word(i).to_le_bytes()).collect();
    let (dim, format, view) = (Dim::Dim2D, ImageFormat::R32ui, ImageView::ALL);
    Resource::Image(Image { dim, extent: [3, 2, 1], layers, levels: 1, samples: 4, format, depth: false, view, data })
}

/// Runs a shader of one invocation with the sampled image `%fetched` of two layers, the storage image
/// `%stored`, and the words `%out`. `%first` to `%fourth` point to these.
fn on_samples(robustness: Robustness, body: &str) -> Outcome {
    let shader = Shader {
        version: "1.3",
        head: "OpCapability StorageImageMultisample\nOpCapability ImageQuery",
        decorations: "OpDecorate %fetched DescriptorSet 0\nOpDecorate %fetched Binding 0\nOpDecorate %stored DescriptorSet 0\n\
                      OpDecorate %stored Binding 1\nOpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 2",
        declared: "%v2uint = OpTypeVector %uint 2
            %v3uint = OpTypeVector %uint 3
            %v4uint = OpTypeVector %uint 4
            %below = OpConstant %int -1
            %3 = OpConstant %uint 3
            %4 = OpConstant %uint 4
            %7 = OpConstant %uint 7
            %at = OpConstantComposite %v2uint %two %one
            %at_layer = OpConstantComposite %v3uint %two %one %one
            %sevens = OpConstantComposite %v4uint %7 %7 %7 %7
            %layers = OpTypeImage %uint 2D 0 1 1 1 Unknown
            %plane = OpTypeImage %uint 2D 0 0 1 2 R32ui
            %to_layers = OpTypePointer UniformConstant %layers
            %to_plane = OpTypePointer UniformConstant %plane
            %to_texel = OpTypePointer Image %uint
            %fetched = OpVariable %to_layers UniformConstant
            %stored = OpVariable %to_plane UniformConstant
            %out = OpVariable %ublocks StorageBuffer",
        body: &format!(
            "%from = OpLoad %layers %fetched
            %to = OpLoad %plane %stored
            %first = OpAccessChain %puint %out %zero %zero
            %second = OpAccessChain %puint %out %zero %one
            %third = OpAccessChain %puint %out %zero %two
            %fourth = OpAccessChain %puint %out %zero %3
            {body}"
        ),
        ..Shader::default()
    };
    let program = Program::new(&shader.module(), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let resources = [samples(2), samples(1), words(&[9; 4])];
    let bindings = resources.into_iter().zip(0..).map(|(resource, i)| (Slot::new(0, i), resource)).collect();
    let dispatch = Dispatch { bindings, robustness, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn each_sample_is_a_place_of_its_own() {
    let outcome = on_samples(
        Robustness::None,
        "%fetched_texel = OpImageFetch %v4uint %from %at_layer Sample %3
        %fetched_word = OpCompositeExtract %uint %fetched_texel 0
        OpStore %first %fetched_word
        OpImageWrite %to %at %sevens Sample %two
        %read_texel = OpImageRead %v4uint %to %at Sample %one
        %read_word = OpCompositeExtract %uint %read_texel 0
        OpStore %second %read_word
        %written_texel = OpImageRead %v4uint %to %at Sample %two
        %written_word = OpCompositeExtract %uint %written_texel 0
        OpStore %third %written_word
        %sample = OpImageTexelPointer %to_texel %stored %at %3
        %before = OpAtomicIAdd %uint %sample %one %zero %7
        OpStore %fourth %before",
    );
    assert_eq!(exact(&outcome, 2), [1123, 121, 7, 123]);
    let mut expected: Vec<u32> = (0..24).map(|i| 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4).collect();
    (expected[22], expected[23]) = (7, 130);
    assert_eq!(exact(&outcome, 1), expected);
}

#[test]
fn queries_give_the_number_of_samples_and_the_size_in_texels() {
    let outcome = on_samples(
        Robustness::None,
        "%count = OpImageQuerySamples %uint %from
        OpStore %first %count
        %size = OpImageQuerySize %v3uint %from
        %width = OpCompositeExtract %uint %size 0
        OpStore %second %width
        %height = OpCompositeExtract %uint %size 1
        OpStore %third %height
        %depth = OpCompositeExtract %uint %size 2
        OpStore %fourth %depth",
    );
    assert_eq!(exact(&outcome, 2), [4, 3, 2, 2]);
}

/// Coordinates are in bounds if "sample < samples".
#[test]
fn a_sample_that_does_not_exist_is_out_of_bounds() {
    for sample in ["4", "below"] {
        let fetch = format!(
            "%texel = OpImageFetch %v4uint %from %at_layer Sample %{sample}
            %word = OpCompositeExtract %uint %texel 0
            OpStore %first %word
            OpImageWrite %to %at %sevens Sample %{sample}"
        );
        let outcome = on_samples(Robustness::None, &fetch);
        let number = if sample == "4" { "sample 4 of 4" } else { "sample -1 of 4" };
        assert!(outcome.faults[0].detail.contains(number), "{:?}", outcome.faults);
        for robustness in [Robustness::Access, Robustness::Access2] {
            let outcome = on_samples(robustness, &fetch);
            assert_eq!(outcome.faults, []);
            // Zero, or in the lenient reading anything: that reading decides only about warnings.
            assert_ne!(word(&outcome, 2, 0), Expected::Exact(9));
            let Resource::Image(before) = samples(1) else { unreachable!("it is an image") };
            assert_eq!(outcome.memory[&Slot::new(0, 1)].bytes(), before.data, "a store changes no sample");
        }
    }
}
