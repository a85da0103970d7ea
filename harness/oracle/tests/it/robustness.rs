//! Accesses beyond the ends of buffers and images on robust devices: Vulkan, "Robust Buffer
//! Access", "Robust Buffer Access 2" and "Robust Image Access".

use crate::support::*;
use assay_oracle::{
    Buffer, CauseKind, Dispatch, Expected, Image, Limits, Outcome, Program, Resource, RobustAlignment, Robustness,
    Slot, SpecValues,
};
use assay_spirv::Module;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::ImageView;

const NONE: RobustAlignment = RobustAlignment { storage: 1, uniform: 1 };

fn dispatch(module: &Module, groups: u32, bindings: Vec<Resource>, robust: (Robustness, RobustAlignment)) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = bindings.into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b)).collect();
    let (robustness, robust_alignment) = robust;
    let dispatch = Dispatch { groups: [groups, 1, 1], bindings, robustness, robust_alignment, ..Dispatch::default() };
    let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.faults, []);
    outcome
}

fn is_open(outcome: &Outcome, binding: u32, i: usize) -> bool {
    match word(outcome, binding, i) {
        Expected::Undetermined(cause) => outcome.causes[cause as usize].kind == CauseKind::Robustness,
        _ => false,
    }
}

/// "If a value was previously written to the same out of bounds location in the same shader
/// invocation, that value may be returned".
#[test]
fn an_invocation_may_load_its_own_store_beyond_the_end() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
            if i == 0u { d[64] = 7u; }
            out[i * 2u] = d[64];
            out[i * 2u + 1u] = d[65];
        }";
    let run = |groups| dispatch(&wgsl(text), groups, vec![words(&[1, 2]), words(&[9; 4])], (Robustness::Access2, NONE));
    let outcome = run(1);
    assert!(is_open(&outcome, 1, 0));
    // Neither another place, nor another invocation.
    (1..4).for_each(|i| assert_eq!(word(&outcome, 1, i), Expected::Exact(0), "{i}"));
    assert_eq!(exact(&outcome, 0), [1, 2]);
}

/// "Accesses inside the aligned range may behave as if they are in bounds".
#[test]
fn nothing_is_known_of_the_aligned_range() {
    let text = "struct Held { all: array<vec4<u32>, 64> }
        @group(0) @binding(0) var<uniform> held: Held;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let at = out[0];
            out[0] = held.all[at].x; out[1] = held.all[at + 13u].x; out[2] = held.all[at + 14u].x;
        }";
    let run = |alignment| {
        let bindings = vec![words(&[5; 8]), words(&[2, 0, 0])];
        dispatch(&wgsl(text), 1, bindings, (Robustness::Access2, alignment))
    };
    let most = run(RobustAlignment::default());
    assert!(is_open(&most, 1, 0) && is_open(&most, 1, 1));
    assert_eq!(word(&most, 1, 2), Expected::Exact(0));
    assert_eq!(exact(&run(RobustAlignment { storage: 4, uniform: 32 }), 1), [0, 0, 0]);
    // Storage buffers have another limit.
    let bytes = || Resource::Buffer(Buffer { data: vec![5; 5], address: None });
    let text = "@group(0) @binding(0) var<storage, read> held: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { let at = out[0]; out[0] = held[at]; out[1] = held[at + 1u]; }";
    let outcome = dispatch(&wgsl(text), 1, vec![bytes(), words(&[1, 0])], (Robustness::Access2, NONE));
    assert!(is_open(&outcome, 1, 0), "a word that is cut");
    assert_eq!(word(&outcome, 1, 1), Expected::Exact(0));
}

/// "Any access wider than 32 bits may be treated as multiple 32-bit accesses that are separately
/// bounds checked", or not.
#[test]
fn a_vector_across_the_end_may_be_beyond_it_as_a_whole() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<vec2<u32>>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let at = out[0];
            let whole = d[at - 1u];
            let cut = d[at];
            out[0] = whole.x + whole.y; out[1] = cut.x; out[2] = cut.y;
            d[at] = vec2(8u, 8u);
        }";
    let outcome = dispatch(
        &wgsl(text),
        1,
        vec![words(&[5, 6, 7]), words(&[1, 9, 9])],
        (Robustness::Access2, RobustAlignment::default()),
    );
    assert_eq!((word(&outcome, 1, 0), word(&outcome, 1, 2)), (Expected::Exact(11), Expected::Exact(0)));
    assert!(is_open(&outcome, 1, 1));
    assert_eq!((word(&outcome, 0, 1), word(&outcome, 0, 2)), (Expected::Exact(6), Expected::OneOf(vec![7, 8])));
}

/// An index of 64 bits and a large stride lead farther than one buffer's pointers count. They lead
/// neither to an element of another buffer nor back into this one.
#[test]
fn far_elements_of_an_array_without_a_length_are_beyond_its_end() {
    for index in [1i64 << 32, 1 << 33, 3 << 38, i64::MAX, i64::MIN, -(1 << 32), 1 << 55] {
        let shader = Shader {
            head: "OpCapability Int64
                OpCapability Shader64BitIndexingEXT
                OpExtension \"SPV_EXT_shader_64bit_indexing\"",
            modes: "OpExecutionMode %main Shader64BitIndexingEXT",
            buffers: &[("%from", "%p_block"), ("%to", "%p_block")],
            decorations: "OpDecorate %array ArrayStride 256
                OpDecorate %block Block
                OpMemberDecorate %block 0 Offset 0",
            declared: &format!(
                "%i64 = OpTypeInt 64 1
                %here = OpConstant %i64 0
                %far = OpConstant %i64 {index}
                %array = OpTypeRuntimeArray %uint
                %block = OpTypeStruct %array
                %p_block = OpTypePointer StorageBuffer %block"
            ),
            body: "%1 = OpAccessChain %puint %from %zero %far
                %2 = OpLoad %uint %1
                %3 = OpAccessChain %puint %to %zero %here
                OpStore %3 %2",
            ..Shader::default()
        };
        let bindings = vec![words(&[7; 128]), words(&[9; 4])];
        let outcome = dispatch(&shader.module(), 1, bindings, (Robustness::Access2, RobustAlignment::default()));
        assert_eq!(word(&outcome, 1, 0), Expected::Exact(0), "{index}");
    }
}

/// "Any access of the same type (..) to the same buffer that is less than 16 bytes away from the
/// first access may behave as if it is also outside". This includes earlier accesses, and those of
/// other workgroups.
#[test]
fn a_load_near_one_beyond_the_end_may_be_beyond_it_too() {
    let text = "@group(0) @binding(0) var<storage, read> held: array<u32>;
        @group(0) @binding(1) var<storage, read> at: array<u32>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) i: vec3<u32>) { out[i.x] = held[at[i.x]]; }";
    // All bytes are equal, so every part of it is known.
    const HELD: u32 = 0x0505_0505;
    let run = |robustness, at: [u32; 4]| {
        let bindings = vec![words(&[HELD; 3]), words(&at), words(&[9; 4])];
        dispatch(&wgsl(text), 4, bindings, (robustness, RobustAlignment::default()))
    };
    let held = Expected::Exact(u64::from(HELD));
    // Bytes 20 to 24: 16 from the first word, 12 from the second.
    let outcome = run(Robustness::Access, [0, 1, 2, 5]);
    assert_eq!(word(&outcome, 2, 0), held);
    (1..4).for_each(|i| assert_eq!(word(&outcome, 2, i), Expected::OneOf(vec![0, u64::from(HELD)]), "{i}"));
    for (robustness, last) in [(Robustness::Access, 7), (Robustness::Access2, 5)] {
        let outcome = run(robustness, [0, 1, 2, last]);
        (0..3).for_each(|i| assert_eq!(word(&outcome, 2, i), held, "{i}"));
    }
}

fn texels(dim: Dim, side: u32) -> Resource {
    let extent = [side, if dim == Dim::Buffer { 1 } else { side }, 1];
    let data = vec![5; (extent[0] * extent[1] * 4) as usize];
    let (format, view) = (ImageFormat::R32ui, ImageView::ALL);
    Resource::Image(Image { dim, extent, layers: 1, levels: 1, samples: 1, format, depth: false, view, data })
}

#[test]
fn an_invocation_may_load_its_own_store_beyond_an_edge() {
    let text = "@group(0) @binding(0) var image: texture_storage_2d<r32uint, read_write>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
            if i == 0u { textureStore(image, vec2(5, 1), vec4(7u)); }
            out[i * 2u] = textureLoad(image, vec2(5, 1)).x;
            out[i * 2u + 1u] = textureLoad(image, vec2(1, 5)).x;
        }";
    for robustness in [Robustness::Access, Robustness::Access2] {
        let outcome = dispatch(&wgsl(text), 1, vec![texels(Dim::Dim2D, 2), words(&[9; 4])], (robustness, NONE));
        assert!(is_open(&outcome, 1, 0));
        (1..4).for_each(|i| assert_eq!(word(&outcome, 1, i), Expected::Exact(0), "{i}"));
    }
}

/// Unknown coordinates are not beyond the edge.
#[test]
fn coordinates_that_robustness_leaves_open_may_be_inside() {
    let text = "@group(0) @binding(0) var image: texture_storage_2d<r32uint, read_write>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let at = out[9];
            out[0] = textureLoad(image, vec2(at, 0u)).x;
            textureStore(image, vec2(at, 1u), vec4(1u));
        }";
    let outcome = dispatch(&wgsl(text), 1, vec![texels(Dim::Dim2D, 2), words(&[9])], (Robustness::Access, NONE));
    assert!(is_open(&outcome, 1, 0) && is_open(&outcome, 0, 0));
}

/// A shader on an image of words `%texels` and words `%out`. `%to_texel` points into the image.
fn on_texels(dim: &str, body: &str) -> Module {
    let capability = if dim == "Buffer" { "OpCapability ImageBuffer" } else { "" };
    let declared = format!(
        "%v2uint = OpTypeVector %uint 2
        %v4uint = OpTypeVector %uint 4
        %5 = OpConstant %uint 5
        %7 = OpConstant %uint 7
        %seven = OpConstantComposite %v4uint %7 %7 %7 %7
        %beyond = OpConstantComposite %v2uint %5 %zero
        %below = OpConstantComposite %v2uint %zero %5
        %image = OpTypeImage %uint {dim} 0 0 0 2 R32ui
        %images = OpTypePointer UniformConstant %image
        %to_texel = OpTypePointer Image %uint
        %texels = OpVariable %images UniformConstant
        %out = OpVariable %ublocks StorageBuffer"
    );
    let decorations = "OpDecorate %texels DescriptorSet 0
        OpDecorate %texels Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1";
    Shader { head: capability, interface: "%texels %out", decorations, declared: &declared, body, ..Shader::default() }
        .module()
}

/// Texel buffers are buffers: with the weaker guarantee a store beyond the end may change any of
/// it, and a load nearby is undetermined.
#[test]
fn texel_buffers_are_buffers() {
    let shader = |access: &str| {
        let body = format!(
            "%loaded = OpLoad %image %texels
            %texel = OpImageRead %v4uint %loaded %one
            {access}
            %result = OpCompositeExtract %uint %texel 0
            %at = OpAccessChain %puint %out %zero %zero
            OpStore %at %result"
        );
        on_texels("Buffer", &body)
    };
    let run = |access: &str, robustness| {
        let bindings = vec![texels(Dim::Buffer, 4), words(&[9])];
        dispatch(&shader(access), 1, bindings, (robustness, RobustAlignment::default()))
    };
    let held = Expected::Exact(0x0505_0505);
    let store = "OpImageWrite %loaded %7 %seven";
    assert!(is_open(&run(store, Robustness::Access), 0, 0));
    assert_eq!(word(&run(store, Robustness::Access2), 0, 0), held);
    // 20 bytes after texel 1, and 12.
    for (beyond, near) in [("%7", false), ("%5", true)] {
        let load = format!("%other = OpImageRead %v4uint %loaded {beyond}");
        let outcome = run(&load, Robustness::Access);
        assert_eq!((word(&outcome, 1, 0) == held, is_open(&outcome, 1, 0)), (!near, near), "{beyond}");
        assert_eq!(word(&run(&load, Robustness::Access2), 1, 0), held);
    }
}

/// "Writes or atomic read-modify-write operations to a storage image outside of the checked
/// dimensions will not modify any memory. Reads, atomic read-modify-write operations, or fetches
/// (..) will return zero values", or the value that the invocation stored there.
#[test]
fn atomics_beyond_an_edge_change_nothing_and_find_zero() {
    let shader = |dim: &str, [beyond, below]: [&str; 2]| {
        let body = format!(
            "%first = OpImageTexelPointer %to_texel %texels {beyond} %zero
            %found = OpAtomicIAdd %uint %first %one %zero %one
            %again = OpImageTexelPointer %to_texel %texels {beyond} %zero
            %after = OpAtomicIAdd %uint %again %one %zero %one
            %other = OpImageTexelPointer %to_texel %texels {below} %zero
            %elsewhere = OpAtomicExchange %uint %other %one %zero %5
            %at0 = OpAccessChain %puint %out %zero %zero
            OpStore %at0 %found
            %at1 = OpAccessChain %puint %out %zero %one
            OpStore %at1 %after
            %at2 = OpAccessChain %puint %out %zero %two
            OpStore %at2 %elsewhere"
        );
        on_texels(dim, &body)
    };
    let (plane, buffer) = (shader("2D", ["%beyond", "%below"]), shader("Buffer", ["%5", "%two"]));
    for robustness in [Robustness::Access, Robustness::Access2] {
        let run = |module: &Module, dim, side| {
            dispatch(module, 1, vec![texels(dim, side), words(&[9; 4])], (robustness, NONE))
        };
        let outcome = run(&plane, Dim::Dim2D, 2);
        assert_eq!((word(&outcome, 1, 0), word(&outcome, 1, 2)), (Expected::Exact(0), Expected::Exact(0)));
        assert!(is_open(&outcome, 1, 1), "it may find what it left");
        assert_eq!(word(&outcome, 1, 3), Expected::Exact(9));
        assert_eq!(exact(&outcome, 0), [0x0505_0505; 4]);
        // Texel buffers are buffers: with the weaker guarantee any of it may change, and nothing
        // else.
        let outcome = run(&buffer, Dim::Buffer, 2);
        assert!((0..3).all(|i| is_open(&outcome, 1, i)));
        assert_eq!(word(&outcome, 1, 3), Expected::Exact(9));
        assert_eq!(is_open(&outcome, 0, 0), robustness == Robustness::Access);
    }
}

/// "Any values fetched are zero if the robustImageAccess2 feature is enabled, otherwise are
/// undefined".
#[test]
fn a_level_that_is_not_there_is_zero_under_the_stricter_promise() {
    let text = "@group(0) @binding(0) var image: texture_2d<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureLoad(image, vec2(0, 0), out[0]).x;
            out[1] = textureLoad(image, vec2(7, 0), 0).x;
        }";
    for robustness in [Robustness::Access, Robustness::Access2] {
        let outcome = dispatch(&wgsl(text), 1, vec![texels(Dim::Dim2D, 2), words(&[3, 9])], (robustness, NONE));
        assert_eq!([0, 1].map(|i| word(&outcome, 1, i)), [Expected::Exact(0), Expected::Exact(0)]);
        let lenient = outcome.memory[&Slot::new(0, 1)].cell_at(0).and_then(|cell| cell.lenient.as_deref());
        let open = matches!(lenient, Some(Expected::Undetermined(_)));
        assert_eq!(open, robustness == Robustness::Access);
    }
}
