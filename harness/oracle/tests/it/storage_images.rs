//! Storage images, fetches and queries.

use crate::support::*;
use assay_oracle::{
    CauseKind, Dispatch, Expected, FaultKind, Image, Limits, Outcome, Program, Resource, Robustness, Slot, SpecValues,
};
use assay_spirv::Module;
use assay_spirv::edit::instruction;
use assay_spirv::tables::{Dim, ImageFormat, ImageOperands, Op};
use assay_texture::ImageView;

fn dispatch(text: &str, bindings: Vec<Resource>, robustness: Robustness) -> Outcome {
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = bindings.into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b)).collect();
    let dispatch = Dispatch { groups: [1; 3], bindings, robustness, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

const COPY: &str = "@group(0) @binding(0) var source: texture_2d<f32>;
    @group(0) @binding(1) var to: texture_storage_2d<rgba8unorm, write>;
    @group(0) @binding(2) var<storage, read_write> out: array<f32>;
    @compute @workgroup_size(2, 2)
    fn main(@builtin(local_invocation_id) id: vec3<u32>) {
        let size = textureDimensions(source);
        let texel = textureLoad(source, vec2<i32>(id.xy), 0);
        textureStore(to, vec2<i32>(vec2<u32>(size.x - 1u - id.x, id.y)), texel);
        out[id.y * 2u + id.x] = texel.y;
    }";

#[test]
fn texels_are_fetched_converted_and_stored() {
    let texels: Vec<u8> = (0..16).map(|i| [0, 51, 255, 128][i % 4]).collect();
    let source = plane(ImageFormat::Rgba8, [2, 2, 1], texels.clone());
    let target = plane(ImageFormat::Rgba8, [2, 2, 1], vec![0; 16]);
    let outcome = dispatch(COPY, vec![source, target, floats(&[0.0; 4])], Robustness::None);
    assert_eq!(outcome.faults, []);
    assert!(permits(&outcome, 2, 3, 0.2) && !permits(&outcome, 2, 3, 0.200_01));
    let left = &outcome.memory[&Slot::new(0, 1)];
    for (i, texel) in texels.iter().enumerate() {
        // The byte itself may come back, and its neighbours only where rounding can reach them.
        let expected =
            left.cell_at(i as u64).map_or(Expected::Exact(u64::from(left.bytes()[i])), |c| c.expected.clone());
        assert_eq!(expected.permits(u64::from(*texel)), Some(true), "{i}: {expected:?}");
        assert_eq!(expected.permits(u64::from(texel ^ 0x40)), Some(false), "{i}: {expected:?}");
    }
}

/// Availability and visibility of single texels. Accesses to images count as non-private anyway.
#[test]
fn texels_may_be_made_available_and_visible() {
    let module = wgsl(COPY);
    let mut words = module.words().to_vec();
    let accesses = module.instructions().filter(|i| matches!(i.op, Some(Op::ImageWrite | Op::ImageFetch)));
    for i in accesses.collect::<Vec<_>>().into_iter().rev() {
        let mut changed = i.words[1..].to_vec();
        let scope = changed[0];
        if i.op == Some(Op::ImageWrite) {
            changed.push(ImageOperands::MAKE_TEXEL_AVAILABLE.0 | ImageOperands::NON_PRIVATE_TEXEL.0);
        } else {
            changed[4] |= ImageOperands::MAKE_TEXEL_VISIBLE.0 | ImageOperands::NON_PRIVATE_TEXEL.0;
        }
        changed.push(scope);
        words.splice(i.at..i.at + i.words.len(), instruction(i.op.unwrap(), &changed));
    }
    let bindings = || {
        let source = plane(ImageFormat::Rgba8, [2, 2, 1], (0..16).collect());
        vec![source, plane(ImageFormat::Rgba8, [2, 2, 1], vec![0; 16]), floats(&[0.0; 4])]
    };
    let (plain, made) = (run(&module, [1; 3], bindings()), run(&Module::parse(words).unwrap(), [1; 3], bindings()));
    assert_eq!((made.faults, plain.faults), (vec![], vec![]));
    assert_eq!(made.memory, plain.memory);
}

/// Texels of one byte each, of different invocations, do not race.
#[test]
fn texels_narrower_than_a_word_do_not_race() {
    let text = "@group(0) @binding(0) var to: texture_storage_2d<r8uint, write>;
        @compute @workgroup_size(4, 2)
        fn main(@builtin(local_invocation_id) id: vec3<u32>) { textureStore(to, id.xy, vec4(id.y * 16u + id.x)); }";
    let outcome = dispatch(text, vec![plane(ImageFormat::R8ui, [4, 2, 1], vec![0xff; 8])], Robustness::None);
    assert_eq!(outcome.faults, []);
    assert_eq!(outcome.memory[&Slot::new(0, 0)].bytes(), [0, 1, 2, 3, 16, 17, 18, 19]);
    // Accesses to one texel do.
    let same = text.replace("id.xy, vec4", "vec2(0u, id.y), vec4");
    let outcome = dispatch(&same, vec![plane(ImageFormat::R8ui, [4, 2, 1], vec![0xff; 8])], Robustness::None);
    assert_eq!(outcome.faults.first().map(|fault| fault.kind), Some(FaultKind::DataRace));
}

#[test]
fn accesses_beyond_an_image_edge_are_faults_unless_robust() {
    let text = COPY.replace("id.xy), 0)", "id.xy) + vec2(5, 0), 0)");
    let bindings = || {
        let texels = || plane(ImageFormat::Rgba8, [2, 2, 1], vec![0; 16]);
        vec![texels(), texels(), floats(&[0.0; 4])]
    };
    let outcome = dispatch(&text, bindings(), Robustness::None);
    assert_eq!(outcome.faults.first().map(|f| f.kind), Some(FaultKind::OutOfBounds));
    for robustness in [Robustness::Access, Robustness::Access2] {
        let robust = dispatch(&text, bindings(), robustness);
        assert_eq!(robust.faults, []);
        assert_eq!(word(&robust, 2, 0), Expected::Exact(0));
        // A present alpha is zero, and a missing one is one. A note of the weaker guarantee allows
        // 0 and 1 for any alpha.
        let alpha = dispatch(&text.replace("texel.y", "texel.w"), bindings(), robustness);
        assert_eq!(word(&alpha, 2, 0), Expected::Exact(0));
        let lenient = alpha.memory[&Slot::new(0, 2)].cell_at(0).and_then(|cell| cell.lenient.as_deref().cloned());
        let may_be_one = lenient.is_some_and(|lenient| lenient.permits(1f32.to_bits().into()) == Some(true));
        assert_eq!(may_be_one, robustness == Robustness::Access);
        let lone = || {
            vec![
                plane(ImageFormat::R8, [2, 2, 1], vec![7; 4]),
                plane(ImageFormat::Rgba8, [2, 2, 1], vec![0; 16]),
                floats(&[0.0; 4]),
            ]
        };
        let alpha = dispatch(&text.replace("texel.y", "texel.w"), lone(), robustness);
        assert!(permits(&alpha, 2, 0, 1.0) && permits(&alpha, 2, 0, 0.0) == (robustness == Robustness::Access));
    }
}

/// A load beyond a buffer's end gives a part of its contents where no invocation writes that, and
/// nothing else.
#[test]
fn a_robust_load_beyond_the_end_may_give_any_part_of_the_buffer() {
    let text = "@group(0) @binding(0) var<storage, read> held: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1)
        fn main() { out[0] = held[out[0]]; }";
    let run = |robustness| dispatch(text, vec![words(&[7, 9]), words(&[40, 1])], robustness);
    let loaded = word(&run(Robustness::Access), 1, 0);
    // Also parts of two neighbours.
    for (value, permitted) in [(0, true), (7, true), (9, true), (0x0900_0000, true), (8, false), (40, false)] {
        assert_eq!(loaded.permits(value), Some(permitted), "{value:#x}: {loaded:?}");
    }
    assert_eq!(word(&run(Robustness::Access2), 1, 0), Expected::Exact(0));
    assert_eq!(run(Robustness::None).faults.len(), 1);
}

#[test]
fn atomics_on_texels_commute() {
    let text = "@group(0) @binding(0) var counts: texture_storage_2d<r32uint, atomic>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) { textureAtomicAdd(counts, vec2(i % 2u, 0u), i); }";
    let counts = plane(ImageFormat::R32ui, [2, 1, 1], [7u32, 100].iter().flat_map(|n| n.to_le_bytes()).collect());
    let outcome = dispatch(text, vec![counts], Robustness::None);
    assert_eq!(exact(&outcome, 0), [7 + 12, 100 + 16]);
}

/// An integer that the format cannot hold leaves its channel undetermined, and no other one.
#[test]
fn integers_beyond_the_format_are_not_checked() {
    let store = |format: ImageFormat, name: &str, value: &str, bytes: usize| {
        let text = format!(
            "@group(0) @binding(0) var to: texture_storage_2d<{name}, write>;
            @compute @workgroup_size(1)
            fn main() {{ textureStore(to, vec2(0, 0), {value}); }}"
        );
        let outcome = dispatch(&text, vec![plane(format, [1, 1, 1], vec![0x55; bytes])], Robustness::None);
        assert_eq!(outcome.faults, []);
        outcome
    };
    let open = |outcome: &Outcome| -> Vec<u64> {
        let cells = outcome.memory[&Slot::new(0, 0)].cells().iter();
        let undefined = |cell: &assay_oracle::Cell| match cell.expected {
            Expected::Undetermined(cause) => outcome.causes[cause as usize].kind == CauseKind::Unspecified,
            _ => false,
        };
        cells.inspect(|cell| assert!(undefined(cell), "{cell:?}")).map(|cell| cell.offset).collect()
    };
    let halves = store(ImageFormat::Rgba16ui, "rgba16uint", "vec4u(65535u, 65536u, 7u, 70000u)", 8);
    assert_eq!(open(&halves), [2, 6]);
    assert_eq!(halves.memory[&Slot::new(0, 0)].bytes()[..2], [0xff; 2]);
    assert_eq!(halves.memory[&Slot::new(0, 0)].bytes()[4..6], [7, 0]);
    let bytes = store(ImageFormat::Rgba8i, "rgba8sint", "vec4i(-128, -129, 127, 128)", 4);
    assert_eq!(open(&bytes), [1, 3]);
    assert_eq!(bytes.memory[&Slot::new(0, 0)].bytes()[0], 0x80);
    let words = store(ImageFormat::Rgba32i, "rgba32sint", "vec4i(-1, 2147483647, -2147483647, 0)", 16);
    assert_eq!(open(&words), [0; 0]);
    let tens = store(ImageFormat::Rgb10a2ui, "rgb10a2uint", "vec4u(1023u, 1u, 2u, 3u)", 4);
    assert_eq!((open(&tens), word(&tens, 0, 0)), (vec![], Expected::Exact(3 << 30 | 2 << 20 | 1 << 10 | 1023)));
    assert_eq!(open(&store(ImageFormat::Rgb10a2ui, "rgb10a2uint", "vec4u(1023u, 1u, 2u, 4u)", 4)), [0]);
}

/// "If Level of Detail is greater than levelCount, the result is undefined". The text does not
/// mention the level equal to levelCount.
#[test]
fn a_level_that_there_is_not_has_no_size() {
    let text = "@group(0) @binding(0) var image: texture_2d<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32) { out[i] = textureDimensions(image, i).x; }";
    let levels = Image {
        dim: Dim::Dim2D,
        extent: [8, 1, 1],
        layers: 1,
        levels: 2,
        samples: 1,
        format: ImageFormat::R32ui,
        depth: false,
        view: ImageView::ALL,
        data: vec![0; 48],
    };
    let outcome = dispatch(text, vec![Resource::Image(levels), words(&[9; 4])], Robustness::None);
    assert_eq!((word(&outcome, 1, 0), word(&outcome, 1, 1)), (Expected::Exact(8), Expected::Exact(4)));
    assert_eq!([2, 3].map(|i| cause(&outcome, 1, i)), [CauseKind::Unspecified; 2]);
}
