//! Semantics of WGSL where those of SPIR-V are absent or weaker.

use crate::support::*;
use assay_oracle::{
    CauseKind, Dispatch, Expected, FaultKind, Limits, Outcome, Program, Resource, Slot, SpecValues, SubgroupLayout,
};
use assay_spirv::tables::ImageFormat;

/// The outcomes of one workgroup for the text as WGSL and for its translation as SPIR-V.
fn both(text: &str, bindings: Vec<Resource>) -> [Outcome; 2] {
    let module = wgsl(text);
    let of_wgsl = Program::of_wgsl(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let of_spirv = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = bindings.into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b)).collect();
    let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
    [of_wgsl, of_spirv].map(|program| program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn integers_that_a_format_has_not_are_clamped() {
    let max = i32::MAX;
    let min = i32::MIN;
    let cases = [
        (ImageFormat::Rgba8ui, "rgba8uint", "u", [300, 255, 7, -1], vec![255, 255, 7, 255]),
        (ImageFormat::Rgba8i, "rgba8sint", "i", [300, -200, -128, min], vec![127, 0x80, 0x80, 0x80]),
        (ImageFormat::Rgba16ui, "rgba16uint", "u", [65_536, 65_535, 1, -1], vec![255, 255, 255, 255, 1, 0, 255, 255]),
        (ImageFormat::Rgba16i, "rgba16sint", "i", [32_768, min, -5, max], vec![255, 127, 0, 128, 251, 255, 255, 127]),
        // 10 bits of the first three, 2 of the last.
        (ImageFormat::Rgb10a2ui, "rgb10a2uint", "u", [2000, 1, 0, 9], vec![255, 7, 0, 0xc0]),
        (ImageFormat::Rgba32ui, "rgba32uint", "u", [-1, 0, 0, 0], [[255; 4], [0; 4], [0; 4], [0; 4]].concat()),
    ];
    for (format, name, letter, values, expected) in cases {
        let words: Vec<u32> = values.iter().map(|value: &i32| value.cast_unsigned()).collect();
        let text = format!(
            "@group(0) @binding(0) var to: texture_storage_2d<{name}, write>;
            @group(0) @binding(1) var<storage> values: vec4<{letter}32>;
            @compute @workgroup_size(1) fn main() {{ textureStore(to, vec2(0, 0), values); }}"
        );
        let [of_wgsl, of_spirv] =
            both(&text, vec![plane(format, [1; 3], vec![0; expected.len()]), crate::support::words(&words)]);
        let left = &of_wgsl.memory[&Slot::new(0, 0)];
        assert_eq!((left.bytes(), left.cells()), (&expected[..], &[][..]), "{name}");
        let undefined = of_spirv.memory[&Slot::new(0, 0)].cells().iter().any(|cell| {
            matches!(cell.expected, Expected::Undetermined(cause)
                if of_spirv.causes[cause as usize].kind == CauseKind::Unspecified)
        });
        assert_eq!(undefined, name != "rgba32uint", "{name}");
    }
}

#[test]
fn shifts_are_modulo_the_width() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let x = d[0];
            let by = d[1];
            d[2] = x << by;
            d[3] = x >> by;
            d[4] = bitcast<u32>(bitcast<i32>(x) >> by);
            let many = vec2(x) << vec2(by, by + 1u);
            d[5] = many.x;
            d[6] = many.y;
        }";
    let x = 0x8000_00f1u32;
    for by in [0, 1, 31, 32, 33, 63, 64, u32::MAX] {
        let given = [x, by, 0, 0, 0, 0, 0];
        let [of_wgsl, of_spirv] = both(text, vec![words(&given)]);
        let shifted = [x.wrapping_shl(by), x.wrapping_shr(by), x.cast_signed().wrapping_shr(by).cast_unsigned()];
        let vector = [x.wrapping_shl(by), x.wrapping_shl(by.wrapping_add(1))];
        let expected: Vec<u32> = [x, by].into_iter().chain(shifted).chain(vector).collect();
        assert_eq!(exact(&of_wgsl, 0), expected, "by {by}");
        if by >= 32 {
            assert_eq!(cause(&of_spirv, 0, 2), CauseKind::Unspecified);
        }
    }
}

const DENORMAL: u32 = 0x8000_0005;

/// The bits of `of` that are permitted at a word in the usual reading.
fn permitted(outcome: &Outcome, binding: u32, i: usize, of: &[u32]) -> Vec<u32> {
    let expected = word(outcome, binding, i);
    of.iter().copied().filter(|bits| expected.permits((*bits).into()) == Some(true)).collect()
}

#[test]
fn copies_may_flush_denormals() {
    let text = "@group(0) @binding(0) var<storage, read_write> f: array<f32>;
        @group(0) @binding(1) var<storage, read_write> u: array<u32>;
        @compute @workgroup_size(1) fn main() {
            u[0] = bitcast<u32>(f[0]);
            f[1] = bitcast<f32>(u[1]);
            let turned = transpose(mat2x2(f[0], f[2], f[3], f[4]));
            f[5] = turned[0][0];
            f[6] = turned[0][1];
            f[7] = f[0];
            f[8] = select(f[2], f[0], u[1] > 0u);
            u[2] = bitcast<u32>(f[3]);
            u[3] = bitcast<u32>(-0.0 * f[4]);
        }";
    let f = [f32::from_bits(DENORMAL), 0.0, 2.0, f32::INFINITY, 4.0, 0.0, 0.0, 0.0, 0.0];
    let [of_wgsl, of_spirv] = both(text, vec![floats(&f), words(&[0, DENORMAL, 0, 0])]);
    assert_eq!((of_wgsl.fault_count, of_spirv.fault_count), (0, 0));
    let all = [DENORMAL, 0, 0x8000_0000, 0x8000_0004, 5];
    let flushed = [DENORMAL, 0, 0x8000_0000];
    for (binding, i) in [(1, 0), (0, 1), (0, 5)] {
        assert_eq!(permitted(&of_wgsl, binding, i, &all), flushed, "{binding} {i}");
        assert_eq!(permitted(&of_spirv, binding, i, &all), [DENORMAL], "{binding} {i}");
    }
    // Infinities are assumed to be absent.
    for (binding, i) in [(0, 6), (1, 2)] {
        assert_eq!(cause(&of_wgsl, binding, i), CauseKind::NoRequirement);
        assert_eq!(permitted(&of_spirv, binding, i, &[f32::INFINITY.to_bits()]).len(), 1);
    }
    // "Other operations are required to preserve subnormal numbers."
    for i in [7, 8] {
        assert_eq!(permitted(&of_wgsl, 0, i, &all), [DENORMAL], "{i}");
    }
}

/// The sign of a zero may be ignored: in the lenient reading where its bits are read, in both
/// readings where a zero is made of bits.
#[test]
fn the_sign_of_a_zero_may_be_ignored() {
    let text = "@group(0) @binding(0) var<storage, read_write> f: array<f32>;
        @group(0) @binding(1) var<storage, read_write> u: array<u32>;
        @compute @workgroup_size(1) fn main() {
            u[0] = bitcast<u32>(f[0]);
            f[1] = bitcast<f32>(u[1]);
        }";
    let [outcome, _] = both(text, vec![floats(&[0.0, 1.0]), words(&[1, 0x8000_0000])]);
    let cell = outcome.memory[&Slot::new(0, 1)].cell_at(0).expect("two readings");
    assert_eq!(cell.expected, Expected::Exact(0));
    assert_eq!(cell.lenient.as_ref().and_then(|lenient| lenient.permits(0x8000_0000)), Some(true));
    assert_eq!(permitted(&outcome, 0, 1, &[0, 0x8000_0000, 1]), [0, 0x8000_0000]);
}

#[test]
fn copies_between_invocations_may_be_flushed() {
    let text = "@group(0) @binding(0) var<storage, read_write> f: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            f[i] = subgroupBroadcast(f[i], 2u);
        }";
    let module = wgsl(text);
    let tiny = f32::from_bits(DENORMAL);
    let dispatch = Dispatch {
        groups: [1; 3],
        bindings: [(Slot::new(0, 0), floats(&[1.0, 2.0, tiny, 4.0]))].into(),
        layout: SubgroupLayout::Linear,
        subgroup_size: 4,
        ..Dispatch::default()
    };
    let run = |program: Program| program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    let of_wgsl = run(Program::of_wgsl(&module, "main", &SpecValues::new()).expect("a program"));
    let of_spirv = run(Program::new(&module, "main", &SpecValues::new()).expect("a program"));
    for i in 0..4 {
        assert_eq!(permitted(&of_wgsl, 0, i, &[DENORMAL, 0, 0x8000_0000, 5]), [DENORMAL, 0, 0x8000_0000]);
        assert_eq!(permitted(&of_spirv, 0, i, &[DENORMAL, 0, 0x8000_0000, 5]), [DENORMAL]);
    }
}

#[test]
fn texels_outside_a_texture_are_no_fault() {
    let text = "@group(0) @binding(0) var source: texture_2d<u32>;
        @group(0) @binding(1) var to: texture_storage_2d<rgba8uint, write>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let at = vec2(i32(out[0]), 0);
            let texel = textureLoad(source, at, 0);
            textureStore(to, at, vec4(9u));
            out[1] = texel.x;
            if texel.x == 77u { out[2] = 1u; }
            out[3] = textureDimensions(source, out[0]).x;
            out[4] = 4u;
        }";
    let texels = || plane(ImageFormat::Rgba8ui, [1; 3], vec![1, 2, 3, 4]);
    let bindings = |at: u32| vec![texels(), texels(), words(&[at, 0, 0, 0, 0])];
    let [of_wgsl, of_spirv] = both(text, bindings(5));
    assert_eq!(of_wgsl.faults, []);
    // Nothing is stored.
    let left = &of_wgsl.memory[&Slot::new(0, 1)];
    assert_eq!((left.bytes(), left.cells()), (&[1, 2, 3, 4][..], &[][..]));
    assert_eq!(cause(&of_wgsl, 2, 1), CauseKind::Robustness);
    // Results that depend on it are one or the other.
    assert_eq!(word(&of_wgsl, 2, 2), Expected::OneOf(vec![0, 1]));
    assert_eq!(cause(&of_wgsl, 2, 3), CauseKind::Unspecified);
    assert_eq!(word(&of_wgsl, 2, 4), Expected::Exact(4));
    assert_eq!(of_spirv.faults.first().map(|fault| fault.kind), Some(FaultKind::OutOfBounds));
    let [inside, _] = both(text, bindings(0));
    assert_eq!(exact(&inside, 2), [0, 1, 0, 1, 4]);
}

#[test]
fn an_index_outside_a_value_gives_some_value_and_outside_a_variable_is_a_fault() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @compute @workgroup_size(1) fn main() {
            let i = d[0];
            let vector = vec3(1u, 2u, 3u);
            let list = array(i, i + 1u, i + 2u);
            let nested = array(vec2(i), vec2(i + 1u));
            d[1] = vector[i];
            d[2] = list[i];
            d[3] = nested[i / 4u][i];
            if vector[i] == 2u { d[4] = 1u; }
        }";
    let [of_wgsl, of_spirv] = both(text, vec![words(&[9, 0, 0, 0, 2])]);
    assert_eq!(of_wgsl.faults, []);
    for i in 1..4 {
        assert_eq!(cause(&of_wgsl, 0, i), CauseKind::Unspecified, "{i}");
    }
    assert_eq!(word(&of_wgsl, 0, 4), Expected::OneOf(vec![1, 2]));
    assert!(of_spirv.fault_count > 0);
    let [inside, _] = both(text, vec![words(&[1, 0, 0, 0, 2])]);
    assert_eq!(exact(&inside, 0), [1, 2, 2, 1, 1]);
    // A reference: an access to an invalid one is a dynamic error.
    let variable = text.replace("let list", "var list");
    let [of_wgsl, _] = both(&variable, vec![words(&[9, 0, 0, 0, 0])]);
    assert_eq!(of_wgsl.faults.first().map(|fault| fault.kind), Some(FaultKind::OutOfBounds));
}
