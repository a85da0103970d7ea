//! Image sampling against a second method: exact coordinates, and textbook loops over texels.

use crate::support::*;
use assay_oracle::sample::{GatherReference, Verdict};
use assay_oracle::{
    CauseKind, Dispatch, Expected, FaultKind, Filtering, Image, Limits, Offsets, Outcome, Program, Resource, Slot,
    SpecValues, Standing,
};
use assay_spirv::Module;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_spirv_lower::gather::{GatherStates, lower};
use assay_texture::{AddressMode, BorderColor, CompareOp, GatherMode, ImageView, Sampler};

/// Each workgroup gathers at one place.
const GATHER: &str = include_str!("../../../spirv-lower/tests/lower/gather.spvasm");

fn gather_module(mode: GatherMode, component: u32, offset: Option<[i32; 2]>) -> String {
    let mask = if offset.is_some() { "ConstOffset %offset" } else { "" };
    let call = match mode.qcom() {
        None => format!("OpImageGather %v4uint %both %at %component {mask}"),
        Some(mode) => format!("OpImageGatherQCOM %v4uint %both %at %component %uint_{} {mask}", mode.word()),
    };
    let [x, y] = offset.unwrap_or_default();
    GATHER
        .replace("COMPONENT", &component.to_string())
        .replace("OFFSET_X", &x.to_string())
        .replace("OFFSET_Y", &y.to_string())
        .replace("GATHER", &call)
}

fn places(all: &[[f32; 3]]) -> Resource {
    floats(&all.iter().flat_map(|at| [at[0], at[1], at[2], 0.0]).collect::<Vec<_>>())
}

fn run_gather(text: &str, image: Image, sampler: Sampler, at: &[[f32; 3]]) -> Outcome {
    run_module(&spirv(text), image, sampler, at)
}

fn run_module(module: &Module, image: Image, sampler: Sampler, at: &[[f32; 3]]) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = [
        (Slot::new(0, 0), Resource::CombinedImageSampler(image, sampler)),
        (Slot::new(0, 1), places(at)),
        (Slot::new(0, 2), words(&vec![0; at.len() * 4])),
    ];
    let filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };
    // A device with larger offset limits than required.
    let offsets = Offsets { gather: [-20, 20], ..Offsets::default() };
    let dispatch = Dispatch {
        groups: [at.len() as u32, 1, 1],
        bindings: bindings.into(),
        filtering,
        offsets,
        ..Dispatch::default()
    };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Texels that encode their position: layer, row, column and channel.
fn positions(extent: [u32; 2], layers: u32) -> Image {
    let [w, h] = extent;
    let data = (0..layers).flat_map(|l| (0..h).flat_map(move |y| (0..w).flat_map(move |x| texel_at(l, y, x))));
    Image {
        dim: Dim::Dim2D,
        extent: [w, h, 1],
        layers,
        levels: 1,
        samples: 1,
        format: ImageFormat::Rgba32ui,
        depth: false,
        view: ImageView::ALL,
        data: data.flat_map(u32::to_le_bytes).collect(),
    }
}

fn texel_at(layer: u32, y: u32, x: u32) -> [u32; 4] {
    [0, 1, 2, 3].map(|channel| 1_000_000 * (layer + 1) + 10_000 * y + 10 * x + channel)
}

/// Wraps by walking one texel at a time.
fn walk(mode: AddressMode, mut i: i64, n: i64) -> Option<i64> {
    match mode {
        AddressMode::Repeat => {
            while i < 0 {
                i += n;
            }
            while i >= n {
                i -= n;
            }
            Some(i)
        }
        AddressMode::MirroredRepeat => loop {
            if i < 0 {
                i = -1 - i;
            } else if i >= n {
                i = 2 * n - 1 - i;
            } else {
                return Some(i);
            }
        },
        AddressMode::ClampToEdge => Some(if i < 0 {
            0
        } else if i >= n {
            n - 1
        } else {
            i
        }),
        AddressMode::ClampToBorder => (0 <= i && i < n).then_some(i),
        AddressMode::MirrorClampToEdge => Some(if i < 0 { (-1 - i).min(n - 1) } else { i.min(n - 1) }),
    }
}

/// The table of the extension's document, by hand.
fn footprint(mode: GatherMode) -> (f64, [(i64, i64); 4]) {
    match mode {
        GatherMode::Core => (0.5, [(0, 1), (1, 1), (1, 0), (0, 0)]),
        GatherMode::Row => (0.0, [(0, 0), (1, 0), (2, 0), (3, 0)]),
        GatherMode::Diamond => (0.0, [(0, 1), (1, 0), (0, -1), (-1, 0)]),
        GatherMode::Horizontal => (0.5, [(-1, 1), (2, 1), (2, 0), (-1, 0)]),
        GatherMode::Vertical => (0.5, [(0, 2), (1, 2), (1, -1), (0, -1)]),
    }
}

/// Every mode, every address mode on each axis, odd sizes and single texels, layers, offsets,
/// inside and far outside.
#[test]
fn gathers_agree_with_loops_over_texels() {
    let mut compared = 0;
    for (case, mode) in GatherMode::ALL.into_iter().cycle().take(50).enumerate() {
        let extent = [[5, 3], [1, 4], [4, 1], [1, 1], [8, 7]][case / 2 % 5];
        let address = [AddressMode::ALL[case % 5], AddressMode::ALL[case / 5 % 5], AddressMode::ClampToEdge];
        let component = (case as u32 / 3) % 4;
        let offset = [None, Some([-8, 7]), Some([3, -2])][case % 3];
        let border = [BorderColor::IntTransparentBlack, BorderColor::IntOpaqueBlack, BorderColor::IntOpaqueWhite];
        let border = border[case % 3];
        let sampler = Sampler { address, border, ..Sampler::NEAREST };
        // Quarters of texels, far from the boundaries of either origin.
        let at: Vec<[f32; 3]> = (-14..14i32)
            .flat_map(|y| (-14..14i32).map(move |x| (x, y)))
            .map(|(x, y)| [(x as f32 + 0.25) / extent[0] as f32, (y as f32 - 0.25) / extent[1] as f32, (x & 3) as f32])
            .collect();
        let text = gather_module(mode, component, offset);
        let outcome = run_gather(&text, positions(extent, 3), sampler, &at);
        let found = exact(&outcome, 2);
        // The lowered module means the same.
        if mode != GatherMode::Core {
            let colour = match border {
                BorderColor::IntOpaqueWhite => [1; 4],
                BorderColor::IntOpaqueBlack => [0, 0, 0, 1],
                _ => [0; 4],
            };
            for offsets in [None, Some((-8, 7)), Some((-20, 20))] {
                let states =
                    GatherStates { address: [address[0], address[1]], unnormalized: false, border: colour, offsets };
                let words = lower(&spirv(&text), &states).unwrap_or_else(|e| panic!("{e}"));
                let lowered = Module::parse(words).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(
                    exact(&run_module(&lowered, positions(extent, 3), sampler, &at), 2),
                    found,
                    "{mode} {offsets:?}"
                );
            }
        }
        let (shift, offsets) = footprint(mode);
        let [ox, oy] = offset.unwrap_or_default().map(i64::from);
        let [w, h] = extent.map(i64::from);
        for (place, got) in at.iter().zip(found.chunks(4)) {
            let u = f64::from(place[0]) * w as f64;
            let v = f64::from(place[1]) * h as f64;
            let (i, j) = ((u - shift).floor() as i64, (v - shift).floor() as i64);
            let layer = (place[2] as u32).min(2);
            for (k, (dx, dy)) in offsets.into_iter().enumerate() {
                let x = walk(address[0], i + ox + dx, w);
                let y = walk(address[1], j + oy + dy, h);
                let expected = match (x, y) {
                    (Some(x), Some(y)) => texel_at(layer, y as u32, x as u32)[component as usize],
                    _ => match border {
                        BorderColor::IntOpaqueWhite => 1,
                        BorderColor::IntOpaqueBlack => u32::from(component == 3),
                        _ => 0,
                    },
                };
                assert_eq!(got[k], expected, "{mode} {address:?} {extent:?} {offset:?} at {place:?}, texel {k}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 50 * 28 * 28 * 4);
}

#[test]
fn a_component_beyond_the_fourth_is_the_shaders_fault() {
    for mode in [GatherMode::Core, GatherMode::Diamond] {
        for (component, fault) in [(3, None), (4, Some(FaultKind::Rule))] {
            let text = gather_module(mode, component, None);
            let outcome = run_gather(&text, positions([4, 4], 1), Sampler::NEAREST, &[[0.4, 0.4, 0.0]]);
            assert_eq!(outcome.faults.first().map(|fault| fault.kind), fault, "{mode:?} {component}");
        }
    }
}

#[test]
fn a_tie_permits_the_texels_on_either_side_and_no_other() {
    let sampler = Sampler { address: [AddressMode::Repeat; 3], ..Sampler::NEAREST };
    // Linear: texel centres are boundaries.
    let text = gather_module(GatherMode::Core, 0, None);
    let outcome =
        run_gather(&text, positions([8, 8], 1), sampler, &[[2.5 / 8.0, 3.0 / 8.0, 0.0], [2.502 / 8.0, 3.0 / 8.0, 0.0]]);
    let texel = |x: u32, y: u32| u64::from(texel_at(0, y, x)[0]);
    assert_eq!(word(&outcome, 2, 0), Expected::OneOf(vec![texel(1, 3), texel(2, 3)]));
    assert_eq!(word(&outcome, 2, 2), Expected::OneOf(vec![texel(2, 2), texel(3, 2)]));
    // Slightly off: only a device with eight fraction bits may still select the other texel.
    assert_eq!(word(&outcome, 2, 4), Expected::Exact(texel(2, 3)));
    let cell = outcome.memory[&Slot::new(0, 2)].cell_at(16).expect("two readings");
    assert_eq!(cell.lenient, Some(Box::new(Expected::OneOf(vec![texel(1, 3), texel(2, 3)]))));
}

#[test]
fn views_show_a_level_layers_and_swizzled_components() {
    let [level_0, level_1] = [positions([4, 4], 3), positions([2, 2], 3)];
    let mut data = level_0.data.clone();
    data.extend(level_1.data.iter().map(|byte| byte ^ 0x55));
    let swizzle = ImageView::swizzle_from("b1r0").expect("letters");
    let view = ImageView { base_level: 1, levels: 1, base_layer: 1, layers: 2, swizzle };
    let image = Image { levels: 2, data, view, ..level_0 };
    let sampler =
        Sampler { address: [AddressMode::ClampToBorder; 3], border: BorderColor::IntOpaqueWhite, ..Sampler::NEAREST };
    for (component, expected) in
        [(0, texel_at(2, 1, 0)[2] ^ 0x5555_5555), (1, 1), (2, texel_at(2, 1, 0)[0] ^ 0x5555_5555), (3, 0)]
    {
        let text = gather_module(GatherMode::Diamond, component, None);
        let found = exact(&run_gather(&text, image.clone(), sampler, &[[0.25, 0.25, 9.0]]), 2);
        // South. The north is the border, which is swizzled like texels.
        let white = u32::from(component != 3);
        assert_eq!((found[0], found[2]), (expected, white), "{component}");
    }
    let black = Sampler { border: BorderColor::IntOpaqueBlack, ..sampler };
    let text = gather_module(GatherMode::Diamond, 0, None);
    let outcome = run_gather(&text, image, black, &[[0.25, 0.25, 0.0]]);
    assert_eq!(cause(&outcome, 2, 2), assay_oracle::CauseKind::Unspecified);
}

const SAMPLE: &str = "@group(0) @binding(0) var image: texture_2d<f32>;
    @group(0) @binding(1) var filtering: sampler;
    @group(0) @binding(2) var<storage, read_write> out: array<f32>;
    @group(0) @binding(3) var<storage, read_write> at: array<vec4<f32>>;
    @compute @workgroup_size(1)
    fn main(@builtin(workgroup_id) id: vec3<u32>) {
        out[id.x] = textureSampleLevel(image, filtering, at[id.x].xy, at[id.x].z).y;
    }";

fn sample(image: Image, sampler: Sampler, at: &[[f32; 3]]) -> Outcome {
    let program = Program::new(&wgsl(SAMPLE), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = [
        (Slot::new(0, 0), Resource::Image(image)),
        (Slot::new(0, 1), Resource::Sampler(sampler)),
        (Slot::new(0, 2), words(&vec![0; at.len()])),
        (Slot::new(0, 3), places(at)),
    ];
    let filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };
    let dispatch =
        Dispatch { groups: [at.len() as u32, 1, 1], bindings: bindings.into(), filtering, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn ramp() -> Image {
    // Level 0: 4 x 4 with green 0, 51, 102, 153 along x; level 1: 2 x 2, all green 255.
    let row = [[9, 0, 9, 9], [9, 51, 9, 9], [9, 102, 9, 9], [9, 153, 9, 9u8]].concat();
    let data = [row.repeat(4), [9, 255, 9, 9].repeat(4)].concat();
    let format = ImageFormat::Rgba8;
    Image {
        dim: Dim::Dim2D,
        extent: [4, 4, 1],
        layers: 1,
        levels: 2,
        samples: 1,
        format,
        depth: false,
        view: ImageView::ALL,
        data,
    }
}

#[test]
fn linear_filtering_lies_between_its_texels() {
    let linear = Sampler { linear: true, ..Sampler::NEAREST };
    let outcome = sample(ramp(), linear, &[[0.5, 0.5, 0.0], [0.25, 0.3, 0.0], [0.5, 0.5, 1.0], [-3.0, 0.5, 0.0]]);
    assert_eq!(outcome.faults, []);
    let lenient = |i: usize, value: f32| {
        let cell = outcome.memory[&Slot::new(0, 2)].cell_at(i as u64 * 4).expect("a set");
        let lenient = cell.lenient.as_deref().unwrap_or(&cell.expected);
        lenient.permits(u64::from(value.to_bits())) == Some(true)
    };
    // Between the second and the third texel.
    assert!(permits(&outcome, 2, 0, 0.3) && permits(&outcome, 2, 0, 0.300_4) && !permits(&outcome, 2, 0, 0.302));
    assert!(lenient(0, 0.2) && lenient(0, 0.4) && !lenient(0, 0.199) && !lenient(0, 0.401));
    // A quarter of the way from the first to the second.
    assert!(permits(&outcome, 2, 1, 0.1) && !permits(&outcome, 2, 1, 0.105));
    // Equal texels leave hardly a choice.
    assert!(permits(&outcome, 2, 2, 1.0) && !permits(&outcome, 2, 2, 0.999_99) && !lenient(2, 0.999_8));
    assert!(permits(&outcome, 2, 3, 0.0) && !permits(&outcome, 2, 3, 1e-6));
    let mips = Sampler { mipmap_linear: true, ..linear };
    let outcome = sample(ramp(), mips, &[[0.5, 0.5, 0.5], [0.5, 0.5, 0.25]]);
    // (0.3 + 1) / 2, and a quarter of the way.
    assert!(permits(&outcome, 2, 0, 0.65) && !permits(&outcome, 2, 0, 0.66));
    assert!(permits(&outcome, 2, 1, 0.475) && !permits(&outcome, 2, 1, 0.47));
}

#[test]
fn levels_are_the_nearest() {
    let outcome =
        sample(ramp(), Sampler::NEAREST, &[[0.4, 0.5, 0.4], [0.4, 0.5, 0.6], [0.4, 0.5, 0.5], [0.4, 0.5, 70.0]]);
    assert!(permits(&outcome, 2, 0, 0.2) && !permits(&outcome, 2, 0, 1.0));
    assert!(permits(&outcome, 2, 1, 1.0) && !permits(&outcome, 2, 1, 0.2));
    assert!(permits(&outcome, 2, 2, 1.0) && permits(&outcome, 2, 2, 0.2) && !permits(&outcome, 2, 2, 0.4));
    assert!(permits(&outcome, 2, 3, 1.0));
    let unnormalized = Sampler { unnormalized: true, ..Sampler::NEAREST };
    let view = ImageView { levels: 1, ..ImageView::ALL };
    let outcome = sample(Image { view, ..ramp() }, unnormalized, &[[2.5, 1.5, 0.0], [17.0, 1.5, 0.0]]);
    assert!(permits(&outcome, 2, 0, 0.4) && permits(&outcome, 2, 1, 0.6));
    let outcome = sample(ramp(), unnormalized, &[[2.5, 1.5, 0.0]]);
    assert_eq!(outcome.faults.first().map(|fault| fault.kind), Some(FaultKind::Rule));
}

const COMPARE: &str = "@group(0) @binding(0) var image: texture_depth_2d;
    @group(0) @binding(1) var comparing: sampler_comparison;
    @group(0) @binding(2) var<storage, read_write> out: array<f32>;
    @compute @workgroup_size(1)
    fn main() {
        out[0] = textureSampleCompareLevel(image, comparing, vec2(0.25, 0.25), 0.5);
        out[1] = textureSampleCompareLevel(image, comparing, vec2(0.75, 0.25), 0.5);
        let all = textureGatherCompare(image, comparing, vec2(0.5, 0.5), 0.5);
        out[2] = all.x; out[3] = all.y; out[4] = all.z; out[5] = all.w;
    }";

/// Depths of two by two texels.
fn depths() -> Image {
    let data = [0.25f32, 0.5, 0.75, 1.0].iter().flat_map(|d| d.to_le_bytes()).collect();
    let (dim, format, view) = (Dim::Dim2D, ImageFormat::R32f, ImageView::ALL);
    Image { dim, extent: [2, 2, 1], layers: 1, levels: 1, samples: 1, format, depth: true, view, data }
}

/// Runs a shader with an image, a sampler, and an output of six words.
fn on_image(text: &str, image: Image, sampler: Sampler, depth_swizzle_one: bool) -> Outcome {
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = [
        (Slot::new(0, 0), Resource::Image(image)),
        (Slot::new(0, 1), Resource::Sampler(sampler)),
        (Slot::new(0, 2), words(&[7; 6])),
    ];
    let dispatch = Dispatch { bindings: bindings.into(), depth_swizzle_one, ..Dispatch::default() };
    let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.faults, []);
    outcome
}

fn comparing(compare: CompareOp) -> Sampler {
    Sampler { compare: Some(compare), ..Sampler::NEAREST }
}

/// Returns true if the lenient reading permits a number that the usual one does not.
fn only_lenient(outcome: &Outcome, binding: u32, i: usize, number: f32) -> bool {
    let cell = outcome.memory[&Slot::new(0, binding)].cell_at(i as u64 * 4).expect("a set");
    cell.expected.judge(cell.lenient.as_deref(), u64::from(number.to_bits())) == Standing::Lenient
}

/// Returns true if the usual reading requires something, and the lenient one nothing.
fn is_lenient_anything(outcome: &Outcome, binding: u32, i: usize) -> bool {
    let cell = outcome.memory[&Slot::new(0, binding)].cell_at(i as u64 * 4).expect("a set");
    let open = |expected: &Expected| matches!(expected, Expected::Undetermined(_));
    !open(&cell.expected) && cell.lenient.as_deref().is_some_and(open)
}

#[test]
fn comparisons_are_of_texels() {
    let run = |compare| {
        let outcome = on_image(COMPARE, depths(), comparing(compare), false);
        exact(&outcome, 2).into_iter().map(f32::from_bits).collect::<Vec<_>>()
    };
    // The reference is the left operand.
    assert_eq!(run(CompareOp::Less), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(run(CompareOp::GreaterOrEqual), [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(run(CompareOp::Equal), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
}

/// "Depth comparison" comes before "Component swizzle".
#[test]
fn the_swizzle_applies_after_the_comparison() {
    let view =
        |swizzle: &str| ImageView { swizzle: ImageView::swizzle_from(swizzle).expect("letters"), ..ImageView::ALL };
    let run = |swizzle: &str, linear, one| {
        let sampler = Sampler { linear, ..comparing(CompareOp::GreaterOrEqual) };
        on_image(COMPARE, Image { view: view(swizzle), ..depths() }, sampler, one)
    };
    for (swizzle, number) in [("0gba", 0f32), ("gbar", 0.0), ("brga", 0.0), ("argb", 1.0)] {
        assert_eq!(exact(&run(swizzle, false, false), 2), [number.to_bits(); 6], "{swizzle}");
        // With a filter, a component that is shown instead of the comparison is still determined.
        let linear = run(swizzle, true, false);
        assert!((0..6).all(|i| permits(&linear, 2, i, number)), "{swizzle}");
        let half = |i: u64| {
            linear.memory[&Slot::new(0, 2)].cell_at(i * 4).is_some_and(|cell| {
                cell.expected.judge(cell.lenient.as_deref(), 0.5f32.to_bits().into()) != Standing::Outside
            })
        };
        assert!(!(0..6).any(half), "{swizzle}");
    }
    let compared = [1.0f32, 1.0, 0.0, 0.0, 1.0, 1.0].map(f32::to_bits);
    assert_eq!(exact(&run("rrrr", false, false), 2), compared);
    // One is undefined for depths, unless the device guarantees it, and so may other components be.
    assert_eq!(cause(&run("1gba", false, false), 2, 0), CauseKind::Unspecified);
    assert_eq!(exact(&run("1gba", false, true), 2), [1f32.to_bits(); 6]);
    let other = run("r1ba", false, false);
    assert!((0..6).all(|i| is_lenient_anything(&other, 2, i)) && permits(&other, 2, 0, 1.0));
    let load = "@group(0) @binding(0) var image: texture_depth_2d;
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = textureLoad(image, vec2(0, 0), 0); }";
    let loaded = |one| on_image(load, Image { view: view("1gba"), ..depths() }, Sampler::NEAREST, one);
    assert_eq!((cause(&loaded(false), 2, 0), exact(&loaded(true), 2)[0]), (CauseKind::Unspecified, 1f32.to_bits()));
}

/// "D may be computed in an implementation-dependent manner"; "the resulting value must be in the
/// range [0,1]".
#[test]
fn linear_comparisons_are_between_0_and_1() {
    let sampler = Sampler { linear: true, ..comparing(CompareOp::Always) };
    let outcome = on_image(COMPARE, depths(), sampler, false);
    for i in 0..6 {
        assert!(permits(&outcome, 2, i, 1.0) && !permits(&outcome, 2, i, 0.5), "{i}");
        assert!([0.0, 0.5].iter().all(|number| only_lenient(&outcome, 2, i, *number)), "{i}");
        let beyond = [1.0f32.next_up(), -1e-6];
        assert!(beyond.iter().all(|n| !permits(&outcome, 2, i, *n) && !only_lenient(&outcome, 2, i, *n)), "{i}");
    }
}

/// "If the image being sampled has an unsigned normalized fixed-point format, then D_ref is clamped
/// to [0,1]".
#[test]
fn references_are_clamped_where_depths_are() {
    let text = COMPARE.replace("0.5);", "1.5);");
    let run = |format, data| {
        let image = Image { format, data, ..depths() };
        exact(&on_image(&text, image, comparing(CompareOp::LessOrEqual), false), 2)
    };
    assert_eq!(run(ImageFormat::R8, vec![255; 4]), [1f32.to_bits(); 6]);
    assert_eq!(run(ImageFormat::R32f, [1f32.to_le_bytes(); 4].concat()), [0; 6]);
}

/// "r_z wins over r_y and r_x": should, not must.
#[test]
fn the_usual_reading_selects_one_face_at_an_edge() {
    let text = "@group(0) @binding(0) var image: texture_cube<f32>;
        @group(0) @binding(1) var nearest: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureSampleLevel(image, nearest, vec3(1.0, -1.0, 0.5), 0.0).x;
            out[1] = textureSampleLevel(image, nearest, vec3(1.0, 0.9, -0.5), 0.0).x;
        }";
    let data = (1..7).flat_map(|face| (face as f32).to_le_bytes()).collect();
    let image = Image { dim: Dim::Cube, extent: [1, 1, 1], layers: 6, data, ..depths() };
    let outcome = on_image(text, Image { depth: false, ..image }, Sampler::NEAREST, false);
    assert!(permits(&outcome, 2, 0, 4.0) && only_lenient(&outcome, 2, 0, 1.0) && !only_lenient(&outcome, 2, 0, 5.0));
    assert_eq!(word(&outcome, 2, 1), Expected::Exact(1f32.to_bits().into()));
    assert!(outcome.memory[&Slot::new(0, 2)].cell_at(4).is_none());
}

/// "The maximum representable magnitude for all floating-point values must be at least 2^32".
#[test]
fn nothing_is_asked_of_numbers_that_need_not_be_representable() {
    // Level 0 is 0.2 at its first texel and 0.6 at its last, level 1 is 1.
    let run = |sampler, at: &[[f32; 3]]| sample(ramp(), sampler, at);
    let far = [[1e20, 0.5, 0.0], [-4e9, 0.5, 0.0], [0.4, 0.5, 1e10], [1e9, 0.5, 0.0], [1.1e9, 0.5, 0.0]];
    let outcome = run(Sampler::NEAREST, &far);
    for (i, number) in [(0, 0.6), (1, 0.0), (2, 1.0), (4, 0.6)] {
        assert!(permits(&outcome, 2, i, number) && is_lenient_anything(&outcome, 2, i), "{i}");
    }
    assert!(permits(&outcome, 2, 3, 0.6) && !is_lenient_anything(&outcome, 2, 3));
    let repeating = Sampler { address: [AddressMode::Repeat; 3], ..Sampler::NEAREST };
    let outcome = run(repeating, &far);
    assert_eq!([0, 1, 3].map(|i| cause(&outcome, 2, i)), [CauseKind::Precision; 3]);
    let text = gather_module(GatherMode::Core, 0, None);
    let outcome = run_gather(&text, positions([4, 4], 3), Sampler::NEAREST, &[[0.5, 0.5, 1e10]]);
    assert!(
        word(&outcome, 2, 0) == Expected::Exact(texel_at(2, 2, 1)[0].into()) && is_lenient_anything(&outcome, 2, 0)
    );
    // The fast reference agrees.
    let filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };
    let judge = |sampler: &Sampler, u: f32, x: u32| {
        let reference = GatherReference::new(&positions([4, 4], 1), false, sampler, 0, filtering).expect("a reference");
        reference.judge(GatherMode::Row, [u, 0.4, 0.0], [0; 2], [texel_at(0, 1, x)[0]; 4])
    };
    let clamped =
        [judge(&Sampler::NEAREST, 1e20, 3), judge(&Sampler::NEAREST, 1e20, 0), judge(&Sampler::NEAREST, 1e9, 0)];
    assert_eq!(clamped, [Verdict::Permitted, Verdict::Lenient, Verdict::Refused]);
    assert_eq!(judge(&repeating, 1e20, 0), Verdict::Permitted);
}

/// "Values less than -1.0 may be used but the result must be clamped before the value is returned
/// to shaders".
#[test]
fn the_least_signed_texel_counts_as_it_is_until_it_is_returned() {
    let row = |left: u8, right: u8| [[0, left, 0, 0], [0, right, 0, 0]].concat();
    let image = |data| Image { extent: [2, 1, 1], levels: 1, format: ImageFormat::Rgba8Snorm, data, ..ramp() };
    let linear = Sampler { linear: true, ..Sampler::NEAREST };
    let at = [[0.5, 0.5, 0.0], [0.1, 0.5, 0.0]];
    let half = -64.0 / 127.0;
    let outcome = sample(image(row(0x80, 0)), linear, &at);
    assert!(permits(&outcome, 2, 0, half) && permits(&outcome, 2, 0, -0.5) && !permits(&outcome, 2, 0, -0.51));
    assert!(permits(&outcome, 2, 1, -1.0) && !permits(&outcome, 2, 1, (-1f32).next_down()));
    assert!(!only_lenient(&outcome, 2, 1, (-1f32).next_down()));
    // The next one is -1.
    let outcome = sample(image(row(0x81, 0)), linear, &at);
    assert!(permits(&outcome, 2, 0, -0.5) && !permits(&outcome, 2, 0, half));
    // Without a filter it is clamped at once.
    let outcome = sample(image(row(0x80, 0)), Sampler::NEAREST, &[[0.2, 0.5, 0.0]]);
    assert_eq!(word(&outcome, 2, 0), Expected::Exact((-1f32).to_bits().into()));
}

/// "Individual results of floating-point operations are accurate to about 1 part in 10^5".
#[test]
fn the_lenient_reading_asks_five_digits_of_filtering() {
    let linear = Sampler { linear: true, ..Sampler::NEAREST };
    let data = [0.3f32.to_le_bytes(); 16].concat();
    let image = Image { format: ImageFormat::R32f, levels: 1, data, ..ramp() };
    let swizzle = ImageView::swizzle_from("rrrr").expect("letters");
    let outcome = sample(Image { view: ImageView { swizzle, ..ImageView::ALL }, ..image }, linear, &[[0.4, 0.4, 0.0]]);
    assert!(permits(&outcome, 2, 0, 0.3) && !permits(&outcome, 2, 0, 0.300_001_5));
    assert!(only_lenient(&outcome, 2, 0, 0.300_001_5) && !only_lenient(&outcome, 2, 0, 0.300_1));
}

/// The border has another number format than the texels: "the value of the texel returned is
/// poison", whether the texel is of the border or not.
#[test]
fn a_border_that_does_not_fit_may_spoil_texels_beside_it() {
    let at = [[0.4, 0.5, 0.0]];
    for (address, open) in [(AddressMode::ClampToBorder, true), (AddressMode::ClampToEdge, false)] {
        let sampler = Sampler { address: [address; 3], border: BorderColor::IntOpaqueWhite, ..Sampler::NEAREST };
        let outcome = sample(ramp(), sampler, &at);
        assert!(permits(&outcome, 2, 0, 0.2) && is_lenient_anything(&outcome, 2, 0) == open, "{address}");
    }
}

/// The level that gradients select is not computed here, although the text does require something
/// of it.
#[test]
fn gradients_on_several_levels_are_not_followed() {
    let text = "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var nearest: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureSampleGrad(image, nearest, vec2(0.4, 0.5), vec2(0.1, 0.0), vec2(0.0, 0.1)).y;
        }";
    let outcome = on_image(text, ramp(), Sampler::NEAREST, false);
    assert_eq!(cause(&outcome, 2, 0), CauseKind::Precision);
}

/// Uses that are forbidden for an unnormalised sampler, with the rule.
#[test]
fn unnormalised_coordinates_have_limits() {
    let unnormalized = Sampler { unnormalized: true, ..Sampler::NEAREST };
    let arrayed = GATHER.replace("COMPONENT", "0").replace("OFFSET_X", "1").replace("OFFSET_Y", "1");
    let arrayed = arrayed.replace("%offset = ", "%lod = OpConstant %float 0\n%v2 = OpTypeVector %float 2\n%offset = ");
    let flat = arrayed.replace("2D 0 1 0 1", "2D 0 0 0 1");
    let flat = flat.replace("%found = ", "%flat = OpVectorShuffle %v2 %place %place 0 1\n%found = ");
    let one = || positions([4, 4], 1);
    let levels = || Image { levels: 2, data: vec![0; (16 + 4) * 16], ..one() };
    for (text, call, image, rule) in [
        (&arrayed, "OpImageSampleExplicitLod %v4uint %both %at Lod %lod", one(), "None-08609"),
        (&flat, "OpImageSampleExplicitLod %v4uint %both %flat Lod %lod", levels(), "unnormalizedCoordinates-09635"),
        (&flat, "OpImageSampleProjExplicitLod %v4uint %both %at Lod %lod", one(), "None-08610"),
        (&flat, "OpImageSampleExplicitLod %v4uint %both %flat Lod|ConstOffset %lod %offset", one(), "None-08611"),
        (&flat, "OpImageGather %v4uint %both %flat %component ConstOffset %offset", one(), "must not use offsets"),
    ] {
        let outcome = run_gather(&text.replace("GATHER", call), image, unnormalized, &[[0.5, 0.5, 1.0]]);
        let [fault] = &outcome.faults[..] else { panic!("{call}: {:?}", outcome.faults) };
        assert!(fault.kind == FaultKind::Rule && fault.detail.contains(rule), "{call}: {}", fault.detail);
    }
    // A whole coordinate is not rounded: it selects the texel after it.
    let call = "OpImageSampleExplicitLod %v4uint %both %flat Lod %lod";
    let outcome = run_gather(&flat.replace("GATHER", call), one(), unnormalized, &[[2.0, 1.0, 0.0]]);
    assert_eq!(word(&outcome, 2, 0), Expected::Exact(texel_at(0, 1, 2)[0].into()));
}

/// The fast reference and the interpreter agree on correct results, and on wrong ones.
#[test]
fn the_fast_reference_agrees_with_the_interpreter() {
    let filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };
    let (mut right, mut wrong) = (0, 0);
    for (case, mode) in GatherMode::ALL.into_iter().cycle().take(25).enumerate() {
        let extent = [[5, 3], [1, 4], [8, 7]][case % 3];
        let address = [AddressMode::ALL[case % 5], AddressMode::ALL[case / 5 % 5], AddressMode::ClampToEdge];
        let sampler = Sampler { address, border: BorderColor::IntOpaqueWhite, ..Sampler::NEAREST };
        let offset = [None, Some([-3, 7])][case % 2];
        let at: Vec<[f32; 3]> = (-8..8i32)
            .flat_map(|y| (-8..8i32).map(move |x| (x, y)))
            .map(|(x, y)| [(x as f32 + 0.25) / extent[0] as f32, (y as f32 - 0.25) / extent[1] as f32, (x & 3) as f32])
            .collect();
        let image = positions(extent, 3);
        let outcome = run_gather(&gather_module(mode, 2, offset), image.clone(), sampler, &at);
        let reference = GatherReference::new(&image, true, &sampler, 2, filtering).expect("a reference");
        for (place, got) in at.iter().zip(exact(&outcome, 2).chunks(4)) {
            let got = [got[0], got[1], got[2], got[3]];
            let judge = |got| reference.judge(mode, *place, offset.unwrap_or_default(), got);
            assert_eq!(judge(got), Verdict::Permitted, "{mode} {address:?} {extent:?} at {place:?}");
            right += 1;
            let swapped = [got[1], got[0], got[2], got[3]];
            for other in
                [[got[0], got[1], got[2] ^ 1, got[3]], swapped, [got[0] + 10, got[1] + 10, got[2] + 10, got[3] + 10]]
            {
                if other != got {
                    assert_eq!(judge(other), Verdict::Refused, "{mode} {address:?} at {place:?}: {other:?}");
                    wrong += 1;
                }
            }
        }
    }
    assert!(right == 25 * 256 && wrong > 2 * right, "{right} {wrong}");
    // At a tie, all four texels have the same origin.
    let image = positions([8, 8], 1);
    let sampler = Sampler { address: [AddressMode::Repeat; 3], ..Sampler::NEAREST };
    let reference = GatherReference::new(&image, false, &sampler, 0, filtering).expect("a reference");
    let row = |x: u32| [0, 1, 2, 3].map(|k| texel_at(0, 3, (x + k) % 8)[0]);
    let judge = |u: f32, got| reference.judge(GatherMode::Row, [u / 8.0, 3.5 / 8.0, 0.0], [0; 2], got);
    assert_eq!(
        [judge(2.0, row(1)), judge(2.0, row(2)), judge(2.0, row(3))],
        [Verdict::Permitted, Verdict::Permitted, Verdict::Refused]
    );
    let mixed = [row(1)[0], row(2)[1], row(1)[2], row(2)[3]];
    assert_eq!(
        (judge(2.0, mixed), judge(2.002, row(1)), judge(2.01, row(1))),
        (Verdict::Refused, Verdict::Lenient, Verdict::Refused)
    );
    // Converted texels: either neighbour, and the additional values of the lenient reading.
    let image = Image { format: ImageFormat::Rgba8, data: vec![51; 8 * 8 * 4], ..image };
    let reference = GatherReference::new(&image, false, &sampler, 0, filtering).expect("a reference");
    let judge = |got: f32| reference.judge(GatherMode::Core, [0.3, 0.3, 0.0], [0; 2], [got.to_bits(); 4]);
    assert_eq!([judge(0.2), judge(0.200_001), judge(0.2001)], [Verdict::Permitted, Verdict::Lenient, Verdict::Refused]);
}
