//! `RelaxedPrecision`: values that may lose precision, and values that may not.

use crate::support::*;
use assay_oracle::{CauseKind, Expected, Outcome};
use assay_spirv::Module;
use assay_spirv::tables::ImageFormat;

/// A shader of one invocation. It has the float `%x` of `%fa`, and the words `%u` and `%v` of
/// `%ua`. `body` computes the word `%r` from them, which is written. `declared` and `functions` are
/// added.
fn shader(decorations: &str, declared: &str, functions: &str, body: &str) -> Module {
    let declared = format!(
        "%v2float = OpTypeVector %float 2
        %true = OpConstantTrue %bool
        %local = OpTypePointer Function %float
        {declared}"
    );
    let body = format!(
        "%tmp = OpVariable %local Function
        %px = OpAccessChain %pfloat %fa %zero %zero
        %x = OpLoad %float %px
        %pu = OpAccessChain %puint %ua %zero %zero
        %u = OpLoad %uint %pu
        %pv = OpAccessChain %puint %ua %zero %one
        %v = OpLoad %uint %pv
        {body}
        %po = OpAccessChain %puint %out %zero %zero
        OpStore %po %r"
    );
    let buffers = &[("%fa", "%fblocks"), ("%ua", "%ublocks"), ("%out", "%ublocks")];
    Shader { buffers, decorations, declared: &declared, functions, body: &body, ..Shader::default() }.module()
}

fn run_on(module: &Module, x: f32, u: u32, v: u32) -> Outcome {
    let outcome = run(module, [1; 3], vec![floats(&[x]), words(&[u, v]), words(&[9])]);
    assert_eq!(outcome.faults, []);
    outcome
}

/// The words that may be left; empty if they are unknown.
fn left(module: &Module, u: u32, v: u32) -> Vec<u64> {
    match word(&run_on(module, 0.0, u, v), 2, 0) {
        Expected::Exact(bits) => vec![bits],
        Expected::OneOf(patterns) => patterns,
        Expected::Float { .. } | Expected::Undetermined(_) => Vec::new(),
    }
}

fn on_words(body: &str) -> Module {
    shader("OpDecorate %y RelaxedPrecision", "", "", body)
}

#[test]
fn integers_are_computed_in_some_width() {
    let sum = on_words("%y = OpIAdd %uint %u %v %r = OpCopyObject %uint %y");
    assert_eq!(left(&sum, 100, 200), [300]);
    assert_eq!(left(&sum, 70_000, 1), [4465, 70_001]);
    // Seventeen widths leave too many values.
    assert_eq!(left(&sum, u32::MAX, 0), []);
    assert_eq!(cause(&run_on(&sum, 0.0, u32::MAX, 0), 2, 0), CauseKind::Precision);
    // Sign-extended: -1 is -1 in all widths, and so is the dividend.
    let quotient =
        on_words("%a = OpBitcast %int %u %b = OpBitcast %int %v %y = OpSDiv %int %a %b %r = OpBitcast %uint %y");
    assert_eq!(left(&quotient, (-100i32).cast_unsigned(), 7), [u64::from((-14i32).cast_unsigned())]);
    // In seventeen bits it is negative.
    assert_eq!(left(&quotient, 0x1_0000, 2), [0, 0x8000, 0xffff_8000]);
    // A divisor that is zero in 16 bits.
    assert_eq!(left(&quotient, 6, 0x1_0000), []);
    let shift = on_words("%y = OpShiftRightLogical %uint %u %v %r = OpCopyObject %uint %y");
    assert_eq!(left(&shift, 0xff00, 8), [0xff]);
    assert_eq!(left(&shift, 0xff00, 16), []);
    let less = on_words("%y = OpULessThan %bool %u %v %r = OpSelect %uint %y %one %zero");
    assert_eq!(left(&less, 3, 4), [1]);
    assert_eq!(left(&less, 0x1_0000, 1), [0, 1]);
    let load = on_words("%y = OpCopyObject %uint %u %r = OpBitwiseXor %uint %y %y");
    assert_eq!(left(&load, 0x1_2345, 0), [0]);
    // Without the decoration.
    let sum = shader("", "", "", "%r = OpIAdd %uint %u %v");
    assert_eq!(left(&sum, 70_000, 1), [70_001]);
}

/// Returns true if `%y`, computed from `%x`, may have less precision, and no other value.
fn loses(decorations: &str, declared: &str, functions: &str, body: &str) -> bool {
    let module = shader(decorations, declared, functions, &format!("{body} %r = OpBitcast %uint %y"));
    // The nearest halves are 1 and 1 + 2^-10.
    let x = 1.0 + 2f32.powi(-20);
    let outcome = run_on(&module, x, 0, 0);
    assert!(permits(&outcome, 2, 0, x));
    assert!(!permits(&outcome, 2, 0, 1.0 + 2f32.powi(-9)) && !permits(&outcome, 2, 0, 1.0 - 2f32.powi(-11)));
    let far = run_on(&module, 1e6, 0, 0);
    let lost = permits(&outcome, 2, 0, 1.0);
    assert_eq!(permits(&outcome, 2, 0, 1.0 + 2f32.powi(-10)), lost);
    match lost {
        true => assert_eq!(cause(&far, 2, 0), CauseKind::NoRequirement),
        false => assert_eq!(word(&far, 2, 0), Expected::Exact(1e6f32.to_bits().into())),
    }
    lost
}

#[test]
fn floats_lose_precision_where_they_are_decorated() {
    let function = "%same = OpFunction %float None %unary %p = OpFunctionParameter %float %in = OpLabel
        OpReturnValue %p OpFunctionEnd";
    let unary = "%unary = OpTypeFunction %float %float";
    let call = "%y = OpFunctionCall %float %same %x";
    let phi = "OpSelectionMerge %end None OpBranchConditional %true %then %end %then = OpLabel OpBranch %end
        %end = OpLabel %y = OpPhi %float %x %entry %x %then";
    let kept = "OpStore %tmp %x %y = OpLoad %float %tmp";
    let member = "%in = OpAccessChain %elocal %pair %one OpStore %in %x %y = OpLoad %float %in";
    let whole = "%in = OpAccessChain %elocal %pair %one OpStore %in %x %all = OpLoad %both %pair %y = OpCompositeExtract %float %all 1";
    let both = "%both = OpTypeStruct %float %float %pboth = OpTypePointer Private %both
        %elocal = OpTypePointer Private %float %pair = OpVariable %pboth Private";
    let reads = "%by = OpFunction %float None %reading %p = OpFunctionParameter %local %in = OpLabel
        %q = OpLoad %float %p OpReturnValue %q OpFunctionEnd";
    let reading = "%reading = OpTypeFunction %float %local";
    let passed = "OpStore %tmp %x %y = OpFunctionCall %float %by %tmp";
    let vector = "%pair = OpCompositeConstruct %v2float %x %x %y = OpCompositeExtract %float %pair 1";
    for (decorated, declared, functions, body) in [
        ("%x", "", "", "%y = OpCopyObject %float %x"),
        ("%y", "", "", "%y = OpSelect %float %true %x %x"),
        ("%y", "", "", phi),
        ("%pair", "", "", vector),
        ("%tmp", "", "", kept),
        ("%fa", "", "", "%y = OpCopyObject %float %x"),
        ("%px", "", "", "%y = OpCopyObject %float %x"),
        ("%same", unary, function, call),
        ("%p", unary, function, call),
        ("%y", unary, function, call),
        ("%tmp", reading, reads, passed),
    ] {
        let decoration = format!("OpDecorate {decorated} RelaxedPrecision");
        assert!(loses(&decoration, declared, functions, body), "{decorated}: {body}");
        assert!(!loses("", declared, functions, body), "{body}");
    }
    for body in [member, whole] {
        assert!(loses("OpMemberDecorate %both 1 RelaxedPrecision", both, "", body), "{body}");
        assert!(!loses("OpMemberDecorate %both 0 RelaxedPrecision", both, "", body), "{body}");
    }
    // Another value is decorated.
    assert!(!loses(
        "OpDecorate %z RelaxedPrecision",
        "",
        "",
        "%z = OpCopyObject %float %x %y = OpCopyObject %float %x"
    ));
}

#[test]
fn a_store_may_lose_precision() {
    let body = "%bits = OpBitcast %float %u OpStore %px %bits %r = OpCopyObject %uint %zero";
    let at = |decorations: &str| {
        let module = shader(decorations, "", "", body);
        let outcome = run_on(&module, 0.0, 1.5f32.to_bits() + 1, 0);
        permits(&outcome, 0, 0, 1.5)
    };
    assert!(at("OpMemberDecorate %fblock 0 RelaxedPrecision"));
    assert!(!at(""));
}

#[test]
fn a_comparison_may_be_of_less_precision() {
    let body = "%bits = OpBitcast %float %u %y = OpFOrdEqual %bool %x %bits %r = OpSelect %uint %y %one %zero";
    let with = |decorations: &str| {
        let outcome = run_on(&shader(decorations, "", "", body), 1.0, 1f32.to_bits() + 1, 0);
        word(&outcome, 2, 0).permits(1)
    };
    assert_ne!(with("OpDecorate %y RelaxedPrecision"), Some(false));
    assert_eq!(with(""), Some(false));
}

/// `(a + b) * x` may be `a * x + b * x`, each part of which loses precision.
#[test]
fn chains_are_rearranged_in_relaxed_precision() {
    let relaxed = "OpDecorate %s RelaxedPrecision OpDecorate %y RelaxedPrecision";
    let kept = "OpDecorate %s NoContraction OpDecorate %y NoContraction";
    let on = |decorations: &str, body: &str, [a, b, x]: [f32; 3]| {
        let body = format!("%a = OpBitcast %float %u %b = OpBitcast %float %v {body} %r = OpBitcast %uint %y");
        run_on(&shader(decorations, "", "", &body), x, a.to_bits(), b.to_bits())
    };
    let product = "%s = OpFAdd %float %a %b %y = OpFMul %float %s %x";
    let cancelling = [1.0, 2f32.powi(-9) - 1.0, 1000.0];
    for decorations in [relaxed, "OpDecorate %s RelaxedPrecision", "OpDecorate %y RelaxedPrecision"] {
        let outcome = on(decorations, product, cancelling);
        assert_eq!(cause(&outcome, 2, 0), CauseKind::NoRequirement, "{decorations}");
    }
    let as_written = on(&format!("{relaxed} {kept}"), product, cancelling);
    assert!(permits(&as_written, 2, 0, 1.953) && !permits(&as_written, 2, 0, 3.5));
    // Without cancellation, all arrangements are equally good.
    let sum = on(relaxed, "%s = OpFAdd %float %a %b %y = OpFAdd %float %s %x", [1.0, 2.0, 3.0]);
    assert!(permits(&sum, 2, 0, 6.01) && !permits(&sum, 2, 0, 6.1));
    let factors = on(relaxed, "%s = OpFMul %float %a %b %y = OpFMul %float %s %x", [3.0, 5.0, 0.125]);
    assert!(permits(&factors, 2, 0, 1.875 * 1.002) && !permits(&factors, 2, 0, 1.875 * 1.02));
    // Fusing makes it no worse.
    let fused = on(relaxed, "%s = OpFMul %float %a %b %y = OpFAdd %float %s %x", [1000.0, 1.0, -900.0]);
    assert!(permits(&fused, 2, 0, 100.5) && !permits(&fused, 2, 0, 110.0));
    // A half is at least 2^-14.
    let small = on(relaxed, "%s = OpFMul %float %a %b %y = OpFMul %float %s %x", [2f32.powi(-7), 2f32.powi(-6), 64.0]);
    assert_eq!(cause(&small, 2, 0), CauseKind::NoRequirement);
}

/// The decoration of the texel or of its image suffices.
#[test]
fn a_texel_may_lose_precision() {
    let near = 1.0 + 2f32.powi(-20);
    let may = |decoration: &str| {
        let image = plane(ImageFormat::R32f, [1; 3], near.to_le_bytes().to_vec());
        let buffers = vec![image, floats(&[9.0])];
        let decorations = format!(
            "OpDecorate %image DescriptorSet 0
            OpDecorate %image Binding 0
            OpDecorate %out DescriptorSet 0
            OpDecorate %out Binding 1
            {decoration}"
        );
        let shader = Shader {
            decorations: &decorations,
            declared: "%v4float = OpTypeVector %float 4
                %v2uint = OpTypeVector %uint 2
                %at = OpConstantComposite %v2uint %zero %zero
                %ty = OpTypeImage %float 2D 0 0 0 2 R32f
                %images = OpTypePointer UniformConstant %ty
                %image = OpVariable %images UniformConstant
                %out = OpVariable %fblocks StorageBuffer",
            body: "%seen = OpLoad %ty %image
                %texel = OpImageRead %v4float %seen %at
                %x = OpCompositeExtract %float %texel 0
                %to = OpAccessChain %pfloat %out %zero %zero
                OpStore %to %x",
            ..Shader::default()
        };
        let outcome = run(&shader.module(), [1; 3], buffers);
        assert_eq!(outcome.faults, []);
        assert!(permits(&outcome, 1, 0, near) && !permits(&outcome, 1, 0, 1.01));
        permits(&outcome, 1, 0, 1.0)
    };
    assert!(may("OpDecorate %texel RelaxedPrecision"));
    assert!(may("OpDecorate %image RelaxedPrecision"));
    assert!(!may(""));
}

/// In 16 bits, an atomic has the same result for short numbers only.
#[test]
fn atomics_on_integers_are_computed_in_some_width() {
    for (op, u, v, sum) in [("OpAtomicIAdd", 5, 7, 12), ("OpAtomicUMin", 9, 7, 7), ("OpAtomicExchange", 9, 7, 9)] {
        let module = on_words(&format!("%y = {op} %uint %pv %one %zero %u %r = OpCopyObject %uint %y"));
        let outcome = run_on(&module, 0.0, u, v);
        assert_eq!((word(&outcome, 1, 1), word(&outcome, 2, 0)), (Expected::Exact(sum), Expected::Exact(u64::from(v))));
        for (u, v) in [(70_000, v), (u, 70_000)] {
            let outcome = run_on(&module, 0.0, u, v);
            assert_eq!(
                (cause(&outcome, 1, 1), cause(&outcome, 2, 0)),
                (CauseKind::NoRequirement, CauseKind::NoRequirement)
            );
        }
    }
    let sum = on_words("%y = OpAtomicIAdd %uint %pv %one %zero %u %r = OpCopyObject %uint %y");
    let outcome = run_on(&sum, 0.0, 0x7fff, 0x7fff);
    assert_eq!((cause(&outcome, 1, 1), word(&outcome, 2, 0)), (CauseKind::NoRequirement, Expected::Exact(0x7fff)));
    let undecorated = shader("", "", "", "%y = OpAtomicIAdd %uint %pv %one %zero %u %r = OpCopyObject %uint %y");
    assert_eq!(word(&run_on(&undecorated, 0.0, 70_000, 1), 1, 1), Expected::Exact(70_001));
}
