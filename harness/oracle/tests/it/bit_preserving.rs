//! Bit-preserving operations: read by their name, and by the letter of the text.

use crate::support::*;
use assay_oracle::{Copies, Dispatch, Expected, Limits, Outcome, Program, Slot, SpecValues, Standing};
use assay_spirv::Module;

const QUIET: u32 = 0x7fc0_0000;
const PAYLOAD: u32 = 0x7fc1_2345;
const ZERO: u32 = 0;
const NEGATIVE_ZERO: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;

fn by(copies: Copies, module: &Module, values: &[u32]) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let buffers = [words(values), words(&vec![7; values.len()])];
    let bindings = buffers.into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b)).collect();
    let dispatch = Dispatch { groups: [values.len() as u32, 1, 1], bindings, copies, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The standing of bits in word `i` of the output.
fn stands(outcome: &Outcome, i: usize, bits: u32) -> Standing {
    let memory = &outcome.memory[&Slot::new(0, 1)];
    let lenient = memory.cell_at(i as u64 * 4).and_then(|cell| cell.lenient.as_deref());
    word(outcome, 1, i).judge(lenient, u64::from(bits))
}

/// A shader that computes `value` from `x`, an element of the first buffer.
fn shader(value: &str) -> Module {
    wgsl(&format!(
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        var<private> kept: array<f32, 2>;
        fn same(x: f32) -> f32 {{ return x; }}
        @compute @workgroup_size(1)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ let x = a[id.x]; out[id.x] = {value}; }}"
    ))
}

/// Capabilities and extensions of float controls.
const CONTROLS: &str = "OpCapability SignedZeroInfNanPreserve
    OpCapability FloatControls2
    OpExtension \"SPV_KHR_float_controls\"
    OpExtension \"SPV_KHR_float_controls2\"";

/// Declaration of the built-in `%id`, the workgroup's number.
const WORKGROUP: &str = "%v3uint = OpTypeVector %uint 3
    %pv3uint = OpTypePointer Input %v3uint
    %id = OpVariable %pv3uint Input";

/// Pointers `%from` and `%to`, of the type `%elements`, to the elements of that number.
const AT_WORKGROUP: &str = "%ids = OpLoad %v3uint %id
    %i = OpCompositeExtract %uint %ids 0
    %from = OpAccessChain %elements %a %zero %i
    %to = OpAccessChain %elements %out %zero %i";

/// A shader that loads and stores a float, with these execution modes and definitions.
fn moved(modes: &str, defined: &str) -> Module {
    stored(modes, defined, "OpStore %to %x")
}

/// A shader that stores in that way, at `%to`.
fn stored(modes: &str, defined: &str, store: &str) -> Module {
    let body = format!("{AT_WORKGROUP}\n%x = OpLoad %float %from\n{store}");
    let shader = Shader {
        head: CONTROLS,
        interface: "%id",
        modes,
        buffers: &[("%a", "%fblocks"), ("%out", "%fblocks")],
        decorations: "OpDecorate %id BuiltIn WorkgroupId",
        declared: &format!("{WORKGROUP}\n{defined}"),
        body: &body.replace("%elements", "%pfloat"),
        ..Shader::default()
    };
    shader.module()
}

const VALUES: [u32; 5] = [NEGATIVE_ZERO, PAYLOAD, INFINITY, ONE, ZERO];

#[test]
fn bits_are_preserved_in_the_usual_reading() {
    let outcome = by(Copies::Preserve, &shader("x"), &VALUES);
    assert_eq!(exact(&outcome, 1), VALUES);
    let outcome = by(Copies::Assume, &shader("x"), &VALUES);
    for (i, bits) in VALUES.into_iter().enumerate() {
        assert_eq!(word(&outcome, 1, i), Expected::Exact(bits.into()));
    }
}

#[test]
fn by_the_letter_neither_signs_of_zeros_nor_nans_are_preserved() {
    let every_way = [
        "x",
        "select(x, same(x), x < 100.0)",
        "vec4<f32>(x, 1.0, 2.0, 3.0).wzyx[id.y + 3u]",
        "mat2x2<f32>(x, 1.0, 2.0, 3.0)[0][id.y]",
    ];
    for way in every_way {
        let outcome = by(Copies::Assume, &shader(way), &VALUES);
        assert_eq!(outcome.faults, []);
        for (i, bits, as_it_stands) in [
            (0, ZERO, Standing::Lenient),
            (0, ONE, Standing::Outside),
            (1, QUIET, Standing::Lenient),
            (2, ONE, Standing::Lenient),
            (3, ONE, Standing::Within),
            (3, ONE + 1, Standing::Outside),
            (4, NEGATIVE_ZERO, Standing::Lenient),
            (4, QUIET, Standing::Outside),
        ] {
            // A comparison with a NaN is undetermined in either reading.
            if !(way.contains("select") && i == 1) {
                assert_eq!(stands(&outcome, i, bits), as_it_stands, "{way}: {bits:#x} for {:#x}", VALUES[i]);
            }
        }
    }
}

/// A driver that takes the magnitude showed this with `-x`.
#[test]
fn a_magnitude_may_be_selected_by_sign() {
    let module = shader("select(x, -x, x < 0.0)");
    let [usual, letter] =
        [Copies::Preserve, Copies::Assume].map(|copies| stands(&by(copies, &module, &[NEGATIVE_ZERO]), 0, ZERO));
    assert_eq!((usual, letter), (Standing::Outside, Standing::Lenient));
}

#[test]
fn a_constant_that_is_stored_is_copied() {
    let outcome = by(Copies::Assume, &shader("-0.0"), &[ONE]);
    assert_eq!(stands(&outcome, 0, NEGATIVE_ZERO), Standing::Within);
    assert_eq!(stands(&outcome, 0, ZERO), Standing::Lenient);
}

#[test]
fn modes_and_flags_of_the_module_hold_for_copies() {
    let modes = "OpExecutionMode %main SignedZeroInfNanPreserve 32";
    let preserving = by(Copies::Assume, &moved(modes, ""), &VALUES);
    assert_eq!(stands(&preserving, 0, ZERO), Standing::Outside);
    assert_eq!(stands(&preserving, 2, ONE), Standing::Outside);
    // "Bit patterns for NaNs might not be preserved."
    assert_eq!(stands(&preserving, 1, QUIET), Standing::Lenient);
    assert_eq!(stands(&preserving, 1, ONE), Standing::Outside);
    // NSZ alone.
    let modes = "OpExecutionModeId %main FPFastMathDefault %float %flags";
    let stated = by(Copies::Assume, &moved(modes, "%flags = OpConstant %uint 4"), &VALUES);
    assert_eq!(stands(&stated, 0, ZERO), Standing::Lenient);
    assert_eq!(stands(&stated, 2, ONE), Standing::Outside);
    assert_eq!(stands(&by(Copies::Assume, &moved("", ""), &VALUES), 2, ONE), Standing::Lenient);
}

/// Casts of the word `%x` to floats and back, through types of one width and of two.
const CASTS: [(&str, &str); 6] = [
    ("f32 and u32", "%f = OpBitcast %float %x\n%y = OpBitcast %uint %f"),
    ("f32 of two u16", "%h = OpBitcast %v2ushort %x\n%f = OpBitcast %float %h\n%y = OpBitcast %uint %f"),
    ("f32 to two u16", "%f = OpBitcast %float %x\n%h = OpBitcast %v2ushort %f\n%y = OpBitcast %uint %h"),
    ("f32 of two f16", "%h = OpBitcast %v2half %x\n%f = OpBitcast %float %h\n%y = OpBitcast %uint %f"),
    ("two f16", "%h = OpBitcast %v2half %x\n%y = OpBitcast %uint %h"),
    (
        "f64",
        "%both = OpCompositeConstruct %v2uint %zero %x\n%d = OpBitcast %double %both\n%back = OpBitcast %v2uint %d\n\
         %y = OpCompositeExtract %uint %back 1",
    ),
];

/// A shader that casts words, with these execution modes and definitions.
fn casts(modes: &str, defined: &str, cast: &str) -> Module {
    let body = format!("{AT_WORKGROUP}\n%x = OpLoad %uint %from\n{cast}\nOpStore %to %y");
    let declared = format!(
        "{WORKGROUP}
        %ushort = OpTypeInt 16 0
        %half = OpTypeFloat 16
        %double = OpTypeFloat 64
        %v2uint = OpTypeVector %uint 2
        %v2ushort = OpTypeVector %ushort 2
        %v2half = OpTypeVector %half 2
        {defined}"
    );
    let shader = Shader {
        head: &format!("OpCapability Int16\nOpCapability Float16\nOpCapability Float64\n{CONTROLS}"),
        interface: "%id",
        modes,
        buffers: &[("%a", "%ublocks"), ("%out", "%ublocks")],
        decorations: "OpDecorate %id BuiltIn WorkgroupId",
        declared: &declared,
        body: &body.replace("%elements", "%puint"),
        ..Shader::default()
    };
    shader.module()
}

/// A negative zero, a NaN with a payload, an infinity or NaN, a normal number and a denormal, in
/// each of the formats of [`CASTS`].
const CAST: [u32; 5] = [NEGATIVE_ZERO, 0x7ff1_2345, 0x7ff0_0000, ONE, 0x0001_2345];

#[test]
fn casts_keep_bits_in_the_usual_reading() {
    for (name, cast) in CASTS {
        let outcome = by(Copies::Preserve, &casts("", "", cast), &CAST);
        assert_eq!(exact(&outcome, 1), CAST, "{name}");
    }
}

/// Vulkan names `OpBitcast` for denormals only: of other special values it promises nothing, for
/// casts between one width and between two alike, and whatever the mode for listed instructions is.
#[test]
fn by_the_letter_casts_of_all_widths_keep_denormals_and_normal_numbers_only() {
    let preserving = "OpExecutionMode %main SignedZeroInfNanPreserve 16
        OpExecutionMode %main SignedZeroInfNanPreserve 32
        OpExecutionMode %main SignedZeroInfNanPreserve 64";
    for modes in ["", preserving] {
        for (name, cast) in CASTS {
            let outcome = by(Copies::Assume, &casts(modes, "", cast), &CAST);
            assert_eq!(outcome.faults, []);
            for (i, bits, standing) in [
                (0, NEGATIVE_ZERO, Standing::Within),
                (0, ZERO, Standing::Lenient),
                (0, ONE, Standing::Outside),
                (1, ZERO, Standing::Lenient),
                (1, QUIET, Standing::Lenient),
                (2, 0x7fef_ffff, Standing::Lenient),
                (2, ONE, Standing::Lenient),
                (3, ONE, Standing::Within),
                (3, ONE + 1, Standing::Outside),
                (4, 0x0001_2345, Standing::Within),
                (4, ZERO, Standing::Outside),
            ] {
                assert_eq!(stands(&outcome, i, bits), standing, "{name} {modes}: {bits:#x} for {:#x}", CAST[i]);
            }
        }
    }
}

#[test]
fn flags_that_the_module_states_hold_for_casts() {
    let modes = "OpExecutionModeId %main FPFastMathDefault %float %flags";
    for (name, cast) in CASTS {
        let none = by(Copies::Assume, &casts(modes, "%flags = OpConstant %uint 0", cast), &CAST);
        assert_eq!(stands(&none, 0, ZERO), Standing::Outside, "{name}");
    }
    // NSZ alone.
    for (name, cast) in &CASTS[..3] {
        let stated = by(Copies::Assume, &casts(modes, "%flags = OpConstant %uint 4", cast), &[NEGATIVE_ZERO, INFINITY]);
        assert_eq!(stands(&stated, 0, ZERO), Standing::Lenient, "{name}");
        assert_eq!(stands(&stated, 1, ONE), Standing::Outside, "{name}");
    }
}

#[test]
fn by_the_letter_atomic_stores_preserve_the_same_bits_as_other_stores() {
    let preserving = "OpExecutionMode %main SignedZeroInfNanPreserve 32";
    let constants = "%minus = OpConstant %float -0.0";
    for store in ["OpAtomicStore %to %one %zero %minus", "%old = OpAtomicExchange %float %to %one %zero %minus"] {
        for (modes, of_zero) in [("", Standing::Lenient), (preserving, Standing::Outside)] {
            let outcome = by(Copies::Assume, &stored(modes, constants, store), &[ONE]);
            assert_eq!(stands(&outcome, 0, NEGATIVE_ZERO), Standing::Within, "{store}");
            assert_eq!(stands(&outcome, 0, ZERO), of_zero, "{store}");
            assert_eq!(stands(&outcome, 0, ONE), Standing::Outside, "{store}");
        }
    }
}
