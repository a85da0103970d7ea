//! Bit-preserving operations: read by their name, and by the letter of the text.

mod support;

use assay_oracle::{Copies, Dispatch, Expected, Limits, Outcome, Program, Slot, SpecValues, Standing};
use assay_spirv::Module;
use support::*;

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

/// A shader that loads and stores a float, with these execution modes and definitions.
fn moved(modes: &str, defined: &str) -> Module {
    spirv(&format!(
        "OpCapability Shader
        OpCapability SignedZeroInfNanPreserve
        OpCapability FloatControls2
        OpExtension \"SPV_KHR_float_controls\"
        OpExtension \"SPV_KHR_float_controls2\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %id
        OpExecutionMode %main LocalSize 1 1 1
        {modes}
        OpDecorate %id BuiltIn WorkgroupId
        OpDecorate %floats ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %v3uint = OpTypeVector %uint 3
        %float = OpTypeFloat 32
        %zero = OpConstant %uint 0
        {defined}
        %floats = OpTypeRuntimeArray %float
        %block = OpTypeStruct %floats
        %blocks = OpTypePointer StorageBuffer %block
        %elements = OpTypePointer StorageBuffer %float
        %inputs = OpTypePointer Input %v3uint
        %id = OpVariable %inputs Input
        %a = OpVariable %blocks StorageBuffer
        %out = OpVariable %blocks StorageBuffer
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %ids = OpLoad %v3uint %id
        %i = OpCompositeExtract %uint %ids 0
        %from = OpAccessChain %elements %a %zero %i
        %x = OpLoad %float %from
        %to = OpAccessChain %elements %out %zero %i
        OpStore %to %x
        OpReturn
        OpFunctionEnd"
    ))
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
fn by_the_letter_neither_zeros_nor_what_is_no_number_are_kept() {
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
fn what_the_module_states_holds_for_copies() {
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
