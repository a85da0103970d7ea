//! Results of rearranging chains, through all operations that a chain passes.

use crate::support::*;
use assay_oracle::{CauseKind, Expected, Outcome, Program, Slot, SpecValues, Standing};

/// Runs one invocation with the floats `%a`, `%b` and `%c`. `body` computes the word `%r` from
/// them, which is written. `modes` are execution modes of 32-bit floats (without float_controls2),
/// or default flags.
fn outcome(modes: &[&str], decorations: &str, body: &str, given: [f32; 3]) -> Outcome {
    let (flags, widths): (Vec<&str>, Vec<&str>) = modes.iter().partition(|mode| mode.starts_with("0x"));
    let capabilities: String = widths.iter().map(|mode| format!("OpCapability {mode}\n")).collect();
    let declared: String = widths.iter().map(|mode| format!("OpExecutionMode %main {mode} 32\n")).collect();
    let (controls, default, value) = match flags[..] {
        [] if !decorations.contains("FPFastMathMode") => ("", "", String::new()),
        [] => (CONTROLS, "", String::new()),
        _ => (
            CONTROLS,
            "OpExecutionModeId %main FPFastMathDefault %float %flags\n",
            format!("%flags = OpConstant %uint {}", flags[0]),
        ),
    };
    let head = format!(
        "OpCapability Float16
        OpCapability GroupNonUniformBallot
        {capabilities}{controls}
        %glsl = OpExtInstImport \"GLSL.std.450\""
    );
    let declared_besides = format!(
        "%half = OpTypeFloat 16
        %v3float = OpTypeVector %float 3
        {value}
        %subgroup = OpConstant %uint 3
        %i0 = OpConstant %int 0
        %i1 = OpConstant %int 1
        %f0 = OpConstant %float 0
        %f1 = OpConstant %float 1
        %three = OpConstant %float 3
        %near = OpConstant %float 0.33333334
        %small = OpConstant %float -1000
        %large = OpConstant %float 1000
        %f2 = OpConstant %float 2
        %tenth = OpConstant %float 0.1
        %true = OpConstantTrue %bool
        %wfloat = OpTypePointer Workgroup %float
        %shared = OpVariable %wfloat Workgroup"
    );
    let body = format!(
        "%pa = OpAccessChain %pfloat %in %zero %zero
        %a = OpLoad %float %pa
        %pb = OpAccessChain %pfloat %in %zero %one
        %b = OpLoad %float %pb
        %pc = OpAccessChain %pfloat %in %zero %two
        %c = OpLoad %float %pc
        %pk = OpAccessChain %pfloat %kept %zero %zero
        {body}
        %to = OpAccessChain %puint %out %zero %zero
        OpStore %to %r"
    );
    let module = Shader {
        head: &head,
        modes: &format!("{declared}{default}"),
        buffers: &[("%in", "%fblocks"), ("%out", "%ublocks"), ("%kept", "%fblocks")],
        decorations,
        declared: &declared_besides,
        body: &body,
        ..Shader::default()
    }
    .module();
    let program = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    run_program(&program, [1; 3], vec![floats(&given), words(&[0]), floats(&[0.0; 2])])
}

const CONTROLS: &str = "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n";

/// Runs a body that computes the float `%f`.
fn of(modes: &[&str], decorations: &str, body: &str, given: [f32; 3]) -> Outcome {
    outcome(modes, decorations, &format!("{body}\n%r = OpBitcast %uint %f"), given)
}

/// A selected product is still a product.
#[test]
fn selection_keeps_the_expression_bound() {
    let [x, y] = [0.1f32, 1.1];
    let body = "%m = OpFMul %float %a %b
        %s = OpSelect %float %true %m %c
        %f = OpFSub %float %s %c";
    // The rounding mode determines the product. Fused, the difference is the rounding error.
    let fused = x.mul_add(y, -(x * y));
    let outcome = of(&["RoundingModeRTE"], "", body, [x, y, x * y]);
    assert!(permits(&outcome, 1, 0, fused) && permits(&outcome, 1, 0, 0.0) && !permits(&outcome, 1, 0, 1.0));
}

#[test]
fn a_nan_is_no_zero_in_a_chain() {
    let body = "%q = OpFDiv %float %f0 %a
        %s = OpFAdd %float %q %b
        %f = OpFAdd %float %s %f1";
    let outcome = of(&["SignedZeroInfNanPreserve"], "", body, [0.0, 2.0, 0.0]);
    assert!(!permits(&outcome, 1, 0, 3.0));
    assert_eq!(cause(&outcome, 1, 0), CauseKind::NoRequirement);
}

/// Operations that copy a float `%m` to a float `%n` without rounding.
const SAME: [(&str, &str); 7] = [
    ("Workgroup", "OpStore %shared %m\n%n = OpLoad %float %shared"),
    ("StorageBuffer", "OpStore %pk %m\n%n = OpLoad %float %pk"),
    ("FMax", "%n = OpExtInst %float %glsl FMax %m %m"),
    ("FMin", "%n = OpExtInst %float %glsl FMin %m %large"),
    ("FClamp", "%n = OpExtInst %float %glsl FClamp %m %small %large"),
    ("Ldexp", "%n = OpExtInst %float %glsl Ldexp %m %i0"),
    ("OpSelect", "%n = OpSelect %float %true %m %c"),
];

/// `x * 0.1 + x * 2` may be `x * (0.1 + 2)`, whatever copies the first product passes.
#[test]
fn a_chain_continues_through_operations_that_compute_nothing() {
    let x = -50f32;
    let taken_out = x * 2.1f32.next_down();
    let cases = SAME.map(|(name, step)| (name, "%m = OpFMul %float %a %tenth", step));
    let more = [
        ("FAbs", "%p = OpFMul %float %a %tenth", "%m = OpExtInst %float %glsl FAbs %p\n%n = OpFNegate %float %m"),
        ("FMix", "%m = OpFMul %float %a %tenth", "%n = OpExtInst %float %glsl FMix %m %c %f0"),
        ("FMix of x", "", "%n = OpExtInst %float %glsl FMix %f0 %a %tenth"),
    ];
    for (name, first, step) in cases.into_iter().chain(more) {
        let body = format!("{first}\n{step}\n%q = OpFMul %float %a %f2\n%f = OpFAdd %float %n %q");
        let outcome = of(&[], "", &body, [x, 1.0, 7.0]);
        assert!(permits(&outcome, 1, 0, x * 2.1) && permits(&outcome, 1, 0, taken_out), "{name}");
        assert!(!permits(&outcome, 1, 0, -104.9995) && !permits(&outcome, 1, 0, -105.0005), "{name}");
    }
}

/// With a fixed rounding mode, a product may still be fused with a sum.
#[test]
fn a_product_is_fused_through_operations_that_compute_nothing() {
    let [x, y, z] = [0.1f32, 1.1, -0.11];
    let (written, fused) = (x * y + z, x.mul_add(y, z));
    assert_ne!(written, fused);
    let more = [
        ("FAbs", "%n = OpExtInst %float %glsl FAbs %m"),
        ("OpGroupNonUniformBroadcastFirst", "%n = OpGroupNonUniformBroadcastFirst %float %subgroup %m"),
    ];
    for (name, step) in SAME.into_iter().chain(more) {
        let body = format!("%m = OpFMul %float %a %b\n{step}\n%f = OpFAdd %float %n %c");
        let outcome = of(&["RoundingModeRTE"], "", &body, [x, y, z]);
        assert!(permits(&outcome, 1, 0, written) && permits(&outcome, 1, 0, fused), "{name}");
        assert!(!permits(&outcome, 1, 0, written + 1e-6), "{name}");
        // Not if the sum, or the product, must be computed as written.
        for fixed in ["%f", "%m"] {
            let decorations = format!("OpDecorate {fixed} NoContraction");
            let outcome = of(&["RoundingModeRTE"], &decorations, &body, [x, y, z]);
            assert!(permits(&outcome, 1, 0, written) && !permits(&outcome, 1, 0, fused), "{name}");
        }
    }
}

/// A value that may be any of several has a bound that holds for all of them.
#[test]
fn a_value_of_several_origins_has_a_bound_that_holds_for_each() {
    let [x, y, z] = [0.1f32, 1.1, -0.11];
    let fused = x.mul_add(y, z);
    let branch = |stored: &str| {
        format!(
            "OpSelectionMerge %join None
            OpBranchConditional %d %then %join
            %then = OpLabel
            {stored}
            OpBranch %join
            %join = OpLabel"
        )
    };
    let cases = [
        ("OpSelect", "%n = OpSelect %float %d %m %q".to_owned()),
        ("OpPhi", format!("{}\n%n = OpPhi %float %m %then %q %entry", branch(""))),
        ("FMax", "%n = OpExtInst %float %glsl FMax %m %q".to_owned()),
        (
            "OpVectorExtractDynamic",
            "%v = OpCompositeConstruct %v3float %m %q %q
            %k = OpSelect %uint %d %zero %one
            %n = OpVectorExtractDynamic %float %v %k"
                .to_owned(),
        ),
        ("a store that may not be", format!("OpStore %pk %m\n{}\n%n = OpLoad %float %pk", branch("OpStore %pk %q"))),
        (
            "a store somewhere",
            "OpStore %pk %m
            %k = OpSelect %uint %d %zero %one
            %there = OpAccessChain %pfloat %kept %zero %k
            OpStore %there %q
            %n = OpLoad %float %pk"
                .to_owned(),
        ),
        (
            "a load from somewhere",
            "%pl = OpAccessChain %pfloat %kept %zero %one
            OpStore %pk %m
            OpStore %pl %q
            %k = OpSelect %uint %d %zero %one
            %there = OpAccessChain %pfloat %kept %zero %k
            %n = OpLoad %float %there"
                .to_owned(),
        ),
    ];
    // One third is not known to the last place, so neither is the selected product.
    for (name, step) in cases {
        let body = format!(
            "%m = OpFMul %float %a %b
            %q = OpFMul %float %b %a
            %third = OpFDiv %float %f1 %three
            %d = OpFOrdLessThan %bool %third %near
            {step}
            %f = OpFAdd %float %n %c"
        );
        let outcome = of(&["RoundingModeRTE"], "", &body, [x, y, z]);
        let expected = word(&outcome, 1, 0);
        assert!(permits(&outcome, 1, 0, x * y + z) && permits(&outcome, 1, 0, fused), "{name}: {expected:?}");
        assert!(!permits(&outcome, 1, 0, x * y + z + 1e-6), "{name}");
    }
}

/// The same holds for a value scaled by one of several powers of two.
#[test]
fn a_value_is_scaled_by_one_of_several_powers() {
    let [x, y, z] = [0.1f32, 1.1, -0.11];
    let body = "%m = OpFMul %float %a %b
        %third = OpFDiv %float %f1 %three
        %d = OpFOrdLessThan %bool %third %near
        %k = OpSelect %int %d %i0 %i1
        %n = OpExtInst %float %glsl Ldexp %m %k
        %f = OpFAdd %float %n %c";
    let outcome = of(&["RoundingModeRTE"], "", body, [x, y, z]);
    for power in [1.0, 2.0] {
        assert!(permits(&outcome, 1, 0, x * y * power + z) && permits(&outcome, 1, 0, (x * power).mul_add(y, z)));
    }
    assert!(!permits(&outcome, 1, 0, 1.0));
}

/// A value that another invocation wrote is not rearranged.
#[test]
fn values_written_by_another_invocation_are_not_rearranged() {
    let text = |from: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> a: array<f32>;
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;
            var<workgroup> s: array<f32, 2>;
            @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {{
                s[i] = a[i] * 0.1;
                workgroupBarrier();
                out[i] = s[{from}] + a[i] * 2.0;
            }}"
        )
    };
    let x = -50f32;
    let taken_out = x * 2.1f32.next_down();
    let given = || vec![floats(&[x, x]), floats(&[0.0; 2])];
    assert!(permits(&run(&wgsl(&text("i")), [1; 3], given()), 1, 0, taken_out));
    assert!(!permits(&run(&wgsl(&text("1u - i")), [1; 3], given()), 1, 0, taken_out));
}

/// SPV_KHR_float_controls2: "Only the operation consuming a value must be decorated to permit the
/// contraction or reassociation."
#[test]
fn flags_of_the_consumer_suffice() {
    let none = "0x0";
    let sum = "%m = OpFAdd %float %a %b\n%f = OpFSub %float %m %a";
    let flagged = "OpDecorate %f FPFastMathMode AllowReassoc";
    for (decorations, one) in [(flagged, true), ("OpDecorate %m FPFastMathMode AllowReassoc", false), ("", false)] {
        let outcome = of(&[none], decorations, sum, [1e8, 1.0, 0.0]);
        assert!(permits(&outcome, 1, 0, 0.0) && permits(&outcome, 1, 0, 8.0), "{decorations}");
        assert_eq!(permits(&outcome, 1, 0, 1.0), one, "{decorations}");
    }
    let [x, y, z] = [0.1f32, 1.1, -0.11];
    let product = "%m = OpFMul %float %a %b\n%f = OpFAdd %float %m %c";
    let fused = x.mul_add(y, z);
    for (decorations, permitted) in [
        ("OpDecorate %f FPFastMathMode AllowContract", true),
        ("OpDecorate %m FPFastMathMode AllowContract", false),
        ("OpDecorate %f FPFastMathMode AllowReassoc", false),
    ] {
        let outcome = of(&[none, "RoundingModeRTE"], decorations, product, [x, y, z]);
        assert!(permits(&outcome, 1, 0, x * y + z), "{decorations}");
        assert_eq!(permits(&outcome, 1, 0, fused), permitted, "{decorations}");
    }
}

/// "Rounding steps may be eliminated" does not reorder, and "real-number associativity rules"
/// neither fuse nor distribute.
#[test]
fn each_flag_allows_the_rewrite_that_it_names() {
    let [contract, reassoc, both, transform] =
        ["AllowContract", "AllowReassoc", "AllowContract|AllowReassoc", "AllowContract|AllowReassoc|AllowTransform"]
            .map(|flags| {
                move |names: &[&str]| {
                    names.iter().map(|name| format!("OpDecorate {name} FPFastMathMode {flags}\n")).collect::<String>()
                }
            });
    let [a, b, c] = [1.1f32, 1.3, 1.7];
    let permitted = |decorations: &str, body: &str, given: [f32; 3], value: f32| {
        permits(&of(&["0x0", "RoundingModeRTE"], decorations, body, given), 1, 0, value)
    };
    // A product of three, in the other order.
    let body = "%m = OpFMul %float %a %b\n%f = OpFMul %float %m %c";
    let c = (0..100u16).map(|k| c + f32::from(k) * 0.0137).find(|c| a * (b * c) != a * b * c).expect("another product");
    let other = a * (b * c);
    let exact = (f64::from(a) * f64::from(b) * f64::from(c)) as f32;
    let names = ["%m", "%f"];
    assert!(permitted(&reassoc(&names), body, [a, b, c], other) && permitted(&both(&names), body, [a, b, c], other));
    assert!(permitted(&contract(&names), body, [a, b, c], exact));
    // Contraction of a sum removes no more than its rounding.
    let body = "%m = OpFAdd %float %a %b\n%f = OpFSub %float %m %a";
    for value in [0.0, 1.0] {
        assert!(permitted(&contract(&names), body, [1e8, 1.0, 0.0], value));
    }
    assert!(!permitted(&contract(&names), body, [1e8, 1.0, 0.0], 30.0));
    assert!(!permitted(&contract(&names), body, [1e8, 1.0, 0.0], -3.0));
    // Only a transformation takes out a common factor.
    let body = "%m = OpFMul %float %a %b\n%n = OpFMul %float %a %c\n%f = OpFAdd %float %m %n";
    let names = ["%m", "%n", "%f"];
    let mut seen = 0;
    for k in 1..200u16 {
        let [a, b, c] = [1.1 + f32::from(k) * 0.0137, 1.3, -1.29f32];
        let (written, taken_out) = (a * b + a * c, a * (b + c));
        let near = [a.mul_add(b, a * c), a.mul_add(c, a * b)];
        if written == taken_out {
            continue;
        }
        seen += 1;
        assert!(permitted(&transform(&names), body, [a, b, c], taken_out), "{a}");
        assert!(!permitted(&reassoc(&names), body, [a, b, c], taken_out), "{a}");
        assert!(permitted(&contract(&names), body, [a, b, c], near[0]), "{a}");
    }
    assert!(seen > 0, "{seen}");
}

/// Vulkan, "Evaluation of Expressions": `(a * b) / a` may be `b`, "even though they may overflow to
/// infinity or NaN".
#[test]
fn a_divisor_that_may_cancel_may_be_zero() {
    let product = "%m = OpFMul %float %a %b\n%f = OpFDiv %float %m %a";
    let sum = "%m = OpFAdd %float %b %a\n%f = OpFDiv %float %m %a";
    for body in [product, sum] {
        let outcome = of(&["SignedZeroInfNanPreserve"], "", body, [0.0, 2.0, 0.0]);
        assert_eq!(cause(&outcome, 1, 0), CauseKind::NoRequirement);
    }
    // A quotient as written keeps its divisor, and so does one whose dividend lacks it.
    for (decorations, body) in
        [("OpDecorate %f NoContraction", product), ("", "%m = OpFMul %float %b %c\n%f = OpFDiv %float %m %a")]
    {
        let outcome = of(&["SignedZeroInfNanPreserve"], decorations, body, [0.0, 2.0, 3.0]);
        assert!(word(&outcome, 1, 0).permits(0x4000_0000) == Some(false), "{body}");
    }
}

/// `x + a < b` may be `x < b - a`. With a rounding mode, a comparison or a rounding function may
/// take a product before it is rounded.
#[test]
fn comparisons_and_rounding_functions_are_rearranged_with_their_operands() {
    let compared = |modes: &[&str], decorations: &str, op: &str, first: &str, given: [f32; 3]| {
        let body = format!("{first}\n%d = {op} %bool %m %c\n%r = OpSelect %uint %d %one %zero");
        let outcome = outcome(modes, decorations, &body, given);
        [0, 1].map(|value| word(&outcome, 1, 0).permits(value) == Some(true))
    };
    let (sum, product) = ("%m = OpFAdd %float %a %b", "%m = OpFMul %float %a %b");
    let given = [1e8, -1e8, 0.3];
    assert_eq!(compared(&[], "", "OpFOrdLessThan", sum, given), [true, true]);
    for fixed in ["%d", "%m"] {
        let decorations = format!("OpDecorate {fixed} NoContraction");
        assert_eq!(compared(&[], &decorations, "OpFOrdLessThan", sum, given), [false, true], "{fixed}");
    }
    assert_eq!(compared(&[], "", "OpFOrdLessThan", sum, [1e8, -1e8, 300.0]), [false, true]);
    let itself = "%m = OpFAdd %float %a %b\n%n = OpFAdd %float %m %a\n%d = OpFUnordNotEqual %bool %n %n
        %r = OpSelect %uint %d %one %zero";
    assert_eq!(word(&outcome(&[], "", itself, given), 1, 0), Expected::Exact(0));
    // An unrounded value is not a number of the format.
    let [x, y] = [0.1f32, 1.1];
    assert_eq!(compared(&["RoundingModeRTE"], "", "OpFOrdEqual", product, [x, y, x * y]), [true, true]);
    let flags = "OpDecorate %d FPFastMathMode AllowContract";
    assert_eq!(compared(&["0x0", "RoundingModeRTE"], flags, "OpFOrdEqual", product, [x, y, x * y]), [true, true]);
    assert_eq!(compared(&["0x0", "RoundingModeRTE"], "", "OpFOrdEqual", product, [x, y, x * y]), [false, true]);
    assert_eq!(compared(&["0x0", "RoundingModeRTE"], flags, "OpFOrdEqual", product, [1.5, 2.0, 3.0]), [false, true]);
    // A value slightly below 3 is rounded to it.
    let below = (1..1000u16).map(|k| (1.0 + f32::from(k) / 1024.0, 3.0 / (1.0 + f32::from(k) / 1024.0)));
    let less = |(x, y): &(f32, f32)| x * y == 3.0 && f64::from(*x) * f64::from(*y) < 3.0;
    let (x, y) = below.into_iter().find(less).expect("such factors");
    let floor = format!("{product}\n%f = OpExtInst %float %glsl Floor %m");
    let floored = |decorations: &str, given| of(&["RoundingModeRTE"], decorations, &floor, given);
    assert!(permits(&floored("", [x, y, 0.0]), 1, 0, 2.0) && permits(&floored("", [x, y, 0.0]), 1, 0, 3.0));
    assert!(!permits(&floored("OpDecorate %m NoContraction", [x, y, 0.0]), 1, 0, 2.0));
    assert!(!permits(&floored("", [1.5, 2.0, 0.0]), 1, 0, 2.0), "3, exactly");
    // A sum that is rounded to a half directly.
    let half = "%m = OpFAdd %float %a %b
        %h = OpFConvert %half %m
        %f = OpFConvert %float %h";
    let outcome = of(&["RoundingModeRTE"], "", half, [1.225_097_7, 2f32.powi(-30), 0.0]);
    let [once, twice] = [0x3ce7u16, 0x3ce6].map(|bits| f32::from_bits(u32::from(bits - 0x3c00) << 13 | 0x3f80_0000));
    assert!(permits(&outcome, 1, 0, once) && permits(&outcome, 1, 0, twice));
}

/// "The denormalized result must be flushed to zero", in any order of a product.
#[test]
fn a_product_is_rounded_or_flushed() {
    let body = "%m = OpFMul %float %a %a
        %n = OpFMul %float %m %b
        %f = OpFMul %float %n %c";
    let tiny = |exponent: i32| 2f32.powi(exponent);
    let given = [tiny(-60), 1.5, tiny(-10)];
    let product = 1.5 * tiny(-130);
    let flushed = of(&["DenormFlushToZero"], "", body, given);
    assert!(permits(&flushed, 1, 0, 0.0) && !permits(&flushed, 1, 0, product) && !permits(&flushed, 1, 0, tiny(-126)));
    let either = of(&[], "", body, given);
    assert!(permits(&either, 1, 0, 0.0) && permits(&either, 1, 0, product));
    assert!(!permits(&either, 1, 0, 1.25 * tiny(-130)) && !permits(&either, 1, 0, tiny(-126)));
    // Parts of the product may be flushed where the whole is not.
    let outcome = of(&[], "", body, [tiny(-70), 1.5, tiny(30)]);
    assert!(permits(&outcome, 1, 0, 0.0) && permits(&outcome, 1, 0, 1.5 * tiny(-110)));
    assert!(!permits(&outcome, 1, 0, tiny(-110)));
    // A denormal operand may remain: `a + b - a`.
    let sum = "%m = OpFAdd %float %a %b\n%f = OpFSub %float %m %a";
    assert!(permits(&of(&["DenormFlushToZero"], "", sum, [1.0, tiny(-130), 0.0]), 1, 0, tiny(-130)));
}

#[test]
fn two_negations_flush_nothing() {
    let once = "%f = OpFNegate %float %a";
    let twice = "%m = OpFNegate %float %a\n%f = OpFNegate %float %m";
    let x = 1.5 * 2f32.powi(-130);
    let of = |decorations: &str, body: &str| of(&["DenormFlushToZero"], decorations, body, [x, 0.0, 0.0]);
    assert!(permits(&of("", once), 1, 0, 0.0) && !permits(&of("", once), 1, 0, -x));
    assert!(permits(&of("", twice), 1, 0, 0.0) && permits(&of("", twice), 1, 0, x));
    assert!(!permits(&of("", twice), 1, 0, -x) && !permits(&of("", twice), 1, 0, 2.0 * x));
    assert!(!permits(&of("OpDecorate %f NoContraction", twice), 1, 0, x));
}

/// Operations computed as written give the results of their operands' few values, not all values
/// between.
#[test]
fn finite_sets_stay_finite_without_rearrangement() {
    let body = "%s = OpFAdd %float %a %b
        %d = OpFSub %float %s %a
        %f = OpFSub %float %b %d";
    let fixed = "OpDecorate %s NoContraction
        OpDecorate %d NoContraction
        OpDecorate %f NoContraction";
    for (modes, decorations) in [(&[][..], fixed), (&["0x0"][..], "")] {
        let outcome = of(modes, decorations, body, [1e8, 1.0, 0.0]);
        for (value, permitted) in [(1.0, true), (-7.0, true), (0.0, false), (-3.0, false), (0.5, false)] {
            assert_eq!(permits(&outcome, 1, 0, value), permitted, "{value} {modes:?}");
        }
    }
    let half = "%h = OpFConvert %half %a\n%f = OpFConvert %float %h";
    let outcome = of(&["0x0"], "", half, [1.000_1, 0.0, 0.0]);
    assert!(permits(&outcome, 1, 0, 1.0) && permits(&outcome, 1, 0, 1.0 + 2f32.powi(-10)));
    assert!(!permits(&outcome, 1, 0, 1.000_1) && !permits(&outcome, 1, 0, 1.000_5));
}

#[test]
fn a_quotient_may_be_fused_with_a_sum() {
    let sum = of(&[], "", "%q = OpFDiv %float %a %b\n%f = OpFAdd %float %q %c", [3.0, 3.0, 0.5]);
    // 3 * 0.33333328 + 0.5, rounded once.
    assert!(permits(&sum, 1, 0, 1.499_999_8) && !permits(&sum, 1, 0, 1.499_999_3), "{:?}", word(&sum, 1, 0));
    let plain =
        of(&[], "OpDecorate %f NoContraction", "%q = OpFDiv %float %a %b\n%f = OpFAdd %float %q %c", [3.0, 3.0, 0.5]);
    assert!(!permits(&plain, 1, 0, 1.499_999_8), "{:?}", word(&plain, 1, 0));
}

/// `max(a, b - b) + m` may be `max(a + m, b - (b - m))`.
#[test]
fn operands_that_a_maximum_does_not_select_count_for_the_error() {
    let body = "%d = OpFSub %float %b %b\n%m = OpExtInst %float %glsl FMax %a %d\n%f = OpFAdd %float %m %m";
    let sum = of(&[], "", body, [0.001, 16_777_216.0, 0.0]);
    assert!(
        permits(&sum, 1, 0, 1.0) && permits(&sum, 1, 0, 0.002) && !permits(&sum, 1, 0, 100.0),
        "{:?}",
        word(&sum, 1, 0)
    );
    // A constant bound is not a computation.
    let body = "%m = OpExtInst %float %glsl FMax %a %large\n%f = OpFAdd %float %m %b";
    assert_eq!(word(&of(&[], "", body, [1.0, 2.0, 0.0]), 1, 0), Expected::Exact(u64::from(1002f32.to_bits())));
}

/// The summands of a long sum may be divided one by one: `(s1 + s2 + ..) / s + c` is `s1 / s + (s2
/// / s + (.. + c))`.
#[test]
fn a_long_sum_is_divided_by_a_long_sum() {
    let body = "%s1 = OpFAdd %float %a %b\n%s2 = OpFAdd %float %s1 %tenth\n%s = OpFAdd %float %s2 %s2
        %q = OpFDiv %float %s %s\n%f = OpFAdd %float %q %c";
    let sum = of(&[], "", body, [0.7, -3.3, 1234.5]);
    assert!(permits(&sum, 1, 0, 1235.4998) && !permits(&sum, 1, 0, 1235.4), "{:?}", word(&sum, 1, 0));
}

/// `mix(x, y, x)` is `x * (1 - x) + y * x`, and therefore `x * ((1 - x) + y)`.
#[test]
fn a_factor_in_common_of_a_mix_may_be_taken_out() {
    let [x, y] = [0.001f32, -1.0];
    let body = "%f = OpExtInst %float %glsl FMix %a %b %a";
    let taken_out = x * ((1.0 - x) + y);
    assert!(permits(&of(&["RoundingModeRTE"], "", body, [x, y, 0.0]), 1, 0, taken_out), "{taken_out:e}");
    let written = of(&["RoundingModeRTE"], "OpDecorate %f NoContraction", body, [x, y, 0.0]);
    assert!(!permits(&written, 1, 0, taken_out), "{:?}", word(&written, 1, 0));
}

/// The lenient reading rearranges formulas with the expressions of their operands: `smoothstep(0.1,
/// 1.0, x + y)` subtracts 0.1 from `x`, then adds `y`. It also multiplies out longer products.
#[test]
fn a_lenient_reading_goes_into_formulas_and_long_products() {
    let stands = |body: &str, given: [f32; 3], value: f32, decorations: &str| {
        let outcome = of(&["RoundingModeRTE"], decorations, body, given);
        let expected = word(&outcome, 1, 0);
        let cell = outcome.memory[&Slot::new(0, 1)].cell_at(0);
        expected.judge(cell.and_then(|cell| cell.lenient.as_deref()), u64::from(value.to_bits()))
    };
    let smooth = "%m = OpFAdd %float %a %b\n%f = OpExtInst %float %glsl SmoothStep %tenth %f1 %m";
    let rest = "%m = OpFRem %float %a %b\n%f = OpFAdd %float %m %c";
    let power = "%s = OpFAdd %float %a %b\n%m = OpFMul %float %s %s
        %cube = OpFMul %float %m %s\n%f = OpFMul %float %cube %m";
    let [half, large] = [8_388_608.0f32, 16_777_216.0];
    for (body, given, apart) in [
        // 0.1 is lost next to 2^23, so 0.5 cancels completely.
        (smooth, [half, 0.5 - half, 0.0], 0.0),
        // `(a + c) - b * 3`, in which 0.3 is lost.
        (rest, [large, 5e6, 0.3], 1_777_216.0),
        // 32 summands, some of which are 10^11.
        (power, [100.0, -99.0, 0.0], 1e4),
    ] {
        assert_eq!(stands(body, given, apart, ""), Standing::Lenient, "{body}");
        assert_eq!(stands(body, given, apart, "OpDecorate %m NoContraction"), Standing::Outside, "{body}");
        assert_eq!(stands(body, given, 1e9, ""), Standing::Outside, "{body}");
    }
}

/// The text does not say whether the operations of a formula round as declared. A result that only
/// another rounding gives is a warning, also if an operand of the formula is a chain.
#[test]
fn formulas_of_chains_may_round_otherwise_than_declared() {
    let body = "%m = OpFAdd %float %a %b\n%f = OpExtInst %float %glsl FMix %m %b %c";
    let outcome = of(&["RoundingModeRTE"], "", body, [0.1, 0.3, 0.233]);
    let expected = word(&outcome, 1, 0);
    let cell = outcome.memory[&Slot::new(0, 1)].cell_at(0);
    let standing =
        |value: f32| expected.judge(cell.and_then(|cell| cell.lenient.as_deref()), u64::from(value.to_bits()));
    // Five ulp around 0.3767 are permitted, and eleven if each operation of the formula may round
    // either way.
    let exact = 0.3767f32;
    let ulp = 2f32.powi(-25);
    assert_eq!(
        [0.0, 5.0, 6.0, 11.0, 13.0].map(|n| standing(exact + n * ulp)),
        [Standing::Within, Standing::Within, Standing::Lenient, Standing::Lenient, Standing::Outside]
    );
}
