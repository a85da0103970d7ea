//! Floating-point programs: propagation of value sets.

use crate::support::*;
use assay_oracle::{Outcome, Standing};
use std::time::Duration;

fn unary(expression: &str, inputs: &[f32]) -> assay_oracle::Outcome {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ let x = a[id.x]; out[id.x] = {expression}; }}"
    );
    let n = inputs.len() as u32;
    run(&wgsl(&text), [n, 1, 1], vec![floats(inputs), floats(&vec![0.0; inputs.len()])])
}

#[test]
fn one_operation_has_its_neighbours_only() {
    let outcome = unary("x + 1.0", &[1.0, 1e-8, 0.1]);
    assert!(permits(&outcome, 1, 0, 2.0) && !permits(&outcome, 1, 0, 2.0000002));
    let above = f32::from_bits(1.0f32.to_bits() + 1);
    assert!(permits(&outcome, 1, 1, 1.0) && permits(&outcome, 1, 1, above));
    assert!(!permits(&outcome, 1, 1, f32::from_bits(above.to_bits() + 1)));
    assert!(permits(&outcome, 1, 2, 1.1));
}

#[test]
fn a_value_less_itself_is_zero() {
    let outcome = unary("(x * 0.1) - (x * 0.1)", &[3.0]);
    assert!(permits(&outcome, 1, 0, 0.0));
    let outcome = unary("sqrt(x) - sqrt(x)", &[2.0]);
    // Two instructions, each of which may be rounded on its own.
    assert!(permits(&outcome, 1, 0, 2f32.powi(-23)) && permits(&outcome, 1, 0, 0.0));
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(1) fn main() { let y = sqrt(d[0]); d[1] = y - y; d[2] = y * y; d[3] = y / y; }";
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&[2.0, 1.0, 1.0, 1.0])]);
    assert!(permits(&outcome, 0, 1, 0.0) && !permits(&outcome, 0, 1, 1e-10));
    assert!(permits(&outcome, 0, 2, 2.0) && !permits(&outcome, 0, 2, 2.1));
}

#[test]
fn a_sum_may_be_reordered() {
    let text = |expression: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
            @compute @workgroup_size(1) fn main() {{ d[0] = {expression}; }}"
        )
    };
    let values = || vec![floats(&[1e8, 1.0, -1e8])];
    let outcome = run(&wgsl(&text("(d[0] + d[1]) + d[2]")), [1; 3], values());
    // 0 or 8 as written, 1 reordered.
    assert!(permits(&outcome, 0, 0, 0.0) && permits(&outcome, 0, 0, 1.0) && permits(&outcome, 0, 0, 8.0));
    assert!(!permits(&outcome, 0, 0, 1e3));
}

#[test]
fn a_factor_in_common_may_be_taken_out() {
    // 0.1 + 2.0 is slightly more than 2.1 and may be rounded down. -50 times that exceeds either
    // sum of rounded products. Found by a random shader whose results were reported as wrong.
    let taken_out = -50.0 * f32::from_bits(2.1f32.to_bits() - 1);
    for expression in
        ["x * 0.1 + x * 2.0", "x * 2.0 - x * -0.1", "fma(x, 0.1, x * 2.0)", "dot(vec2(x, x), vec2(0.1, 2.0))"]
    {
        let outcome = unary(expression, &[-50.0]);
        assert!(permits(&outcome, 1, 0, -105.0) && permits(&outcome, 1, 0, taken_out), "{expression}");
        assert!(!permits(&outcome, 1, 0, -104.9999), "{expression}");
    }
    let one_more = 50.0 * f32::from_bits(1.1f32.to_bits() - 1);
    for expression in ["x * 0.1 + x", "fma(x, 0.1, x)"] {
        assert!(permits(&unary(expression, &[50.0]), 1, 0, one_more), "{expression}");
    }
    // Without a common factor there is nothing to take out.
    let outcome = unary("x * 0.1 + 3.0", &[50.0]);
    assert!(permits(&outcome, 1, 0, 8.0) && !permits(&outcome, 1, 0, f32::from_bits(8f32.to_bits() - 1)));
}

/// Found by translations of one expression into the other.
#[test]
fn a_difference_of_squares_may_be_a_product() {
    let run_with = |expression: &str, x: f32, y: f32| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
            @compute @workgroup_size(1) fn main() {{ let x = d[0]; let y = d[1]; d[2] = {expression}; }}"
        );
        run(&wgsl(&text), [1; 3], vec![floats(&[x, y, 0.0])])
    };
    let (x, y) = (-2.277_818f32, -0.507_228_5f32);
    let product = (x + y) * (x - y);
    for expression in ["x * x - y * y", "fma(x, x, -(y * y))", "dot(vec2(x, y), vec2(x, -y))"] {
        let others = [(x + y) * x - (x + y) * y, (x - y) * x + (x - y) * y];
        for value in [product, others[0], others[1], product.next_up(), product.next_down()] {
            assert!(permits(&run_with(expression, x, y), 0, 2, value), "{expression}: {value}");
        }
        assert!(!permits(&run_with(expression, x, y), 0, 2, product * 1.000_003), "{expression}");
    }
    let one = (1.0 - x) * (1.0 + x);
    assert!(permits(&run_with("1.0 - x * x", x, y), 0, 2, one));
    // Squares of one sign, and products of values that each occur once, do not factor: only the
    // neighbours at each step are permitted.
    for (expression, far) in
        [("x * x + y * y", x * x + y * y), ("x * y - 3.0 * 0.7", x * y - 2.1), ("x * x - y", x * x - y)]
    {
        let outcome = run_with(expression, x, y);
        let far = |by: i32| f32::from_bits(far.to_bits().wrapping_add_signed(by));
        assert!(permits(&outcome, 0, 2, far(0)), "{expression}");
        assert!(!permits(&outcome, 0, 2, far(4)) && !permits(&outcome, 0, 2, far(-4)), "{expression}");
    }
    // A sum of products of distinct values: each summand has at most as many roundings as there are
    // sums, and a product.
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(1) fn main() { d[6] = d[0] * d[1] + d[2] * d[3] - d[4] * d[5]; }";
    let given = [1.1f32, 1.3, 0.7, 1.9, 0.37, 1.77, 0.0];
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&given)]);
    let [p, q, r] = [0, 2, 4].map(|k| f64::from(given[k]) * f64::from(given[k + 1]));
    let bound = 3.5 * f64::from(f32::EPSILON) * (p + q + r);
    assert!(permits(&outcome, 0, 6, (p + q - r) as f32));
    assert!(
        !permits(&outcome, 0, 6, (p + q - r + bound) as f32) && !permits(&outcome, 0, 6, (p + q - r - bound) as f32)
    );
}

#[test]
fn a_quotient_may_be_divided_again() {
    let text = |expression: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
            @compute @workgroup_size(1) fn main() {{ d[3] = {expression}; }}"
        )
    };
    // The first quotient is a denormal, or flushed.
    let given = [1e-20f32, 1e20, 1e-15, 0.0];
    let outcome = run(&wgsl(&text("d[0] / (d[1] * d[2])")), [1; 3], vec![floats(&given)]);
    assert!(permits(&outcome, 0, 3, 0.0) && permits(&outcome, 0, 3, 1e-25));
    // No requirement is stated for a division by the product of the divisors.
    let given = [1e-10f32, 1e-20, 1e-19, 0.0];
    let outcome = run(&wgsl(&text("(d[0] / d[1]) / d[2]")), [1; 3], vec![floats(&given)]);
    assert_eq!(cause(&outcome, 0, 3), assay_oracle::CauseKind::NoRequirement);
    let near = [1e-20f32, 1e2, 1e-5, 0.0];
    let outcome = run(&wgsl(&text("d[0] / (d[1] * d[2])")), [1; 3], vec![floats(&near)]);
    assert!(permits(&outcome, 0, 3, 1e-17) && !permits(&outcome, 0, 3, 0.0));
}

/// A denormal number is itself or zero, and nothing between. The same holds for values computed
/// from it.
#[test]
fn values_between_ranges_are_not_permitted() {
    let tiny = f32::from_bits(7);
    for expression in
        ["min(max(x, 0.0), 1.0)", "clamp(x, 0.0, 1.0)", "min(max(x + 0.0, 0.0), 1.0)", "abs(-max(x, 0.0))"]
    {
        let outcome = unary(expression, &[tiny]);
        for (value, permitted) in [(tiny, true), (0.0, true), (-0.0, true), (f32::from_bits(3), false)] {
            assert_eq!(permits(&outcome, 1, 0, value), permitted, "{expression}: {value:e}");
        }
    }
    // Either 0.5 or zero, exact and added to either zero.
    for (expression, far) in [("frexp(x).fract + min(x, 0.0)", 0.5), ("frexp(x).fract * 3.0 + 1.0", 2.5)] {
        let outcome = unary(expression, &[f32::from_bits(4)]);
        assert!(permits(&outcome, 1, 0, far) && !permits(&outcome, 1, 0, far * 0.75), "{expression}");
    }
    let twice = unary("frexp(x).fract", &[f32::from_bits(4)]);
    assert!(permits(&twice, 1, 0, 0.5) && permits(&twice, 1, 0, 0.0) && !permits(&twice, 1, 0, 0.25));
    // One value used twice is zero twice or not at all.
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(1) fn main() { let y = frexp(d[0]).fract; let z = max(y, -8.0); d[1] = z - z; d[2] = z * z; }";
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&[f32::from_bits(4), 1.0, 1.0])]);
    assert!(permits(&outcome, 0, 1, 0.0) && !permits(&outcome, 0, 1, 0.5) && !permits(&outcome, 0, 1, -0.5));
    assert!(permits(&outcome, 0, 2, 0.25) && permits(&outcome, 0, 2, 0.0) && !permits(&outcome, 0, 2, 0.125));
}

#[test]
fn an_undecided_branch_goes_both_ways() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @group(0) @binding(1) var<storage, read_write> n: array<u32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
            let x = d[i] * 0.1;
            var r = 5u;
            if x >= 0.3 { r = 7u; d[i] = 100.0; } else { r = 8u; }
            n[i] = r;
        }";
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&[3.0, 9.0]), words(&[0, 0])]);
    // 3 * 0.1 is a neighbour of 0.3.
    assert_eq!(word(&outcome, 1, 0), assay_oracle::Expected::OneOf(vec![7, 8]));
    assert!(permits(&outcome, 0, 0, 100.0) && permits(&outcome, 0, 0, 3.0) && !permits(&outcome, 0, 0, 50.0));
    assert_eq!(word(&outcome, 1, 1), assay_oracle::Expected::Exact(7));
    assert_eq!(outcome.forks, 1);
}

#[test]
fn conversions_to_integers() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @group(0) @binding(1) var<storage, read_write> n: array<u32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) { n[i] = u32(d[i] * 0.1 * 10.0); }";
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&[7.0, 2.5]), words(&[0, 0])]);
    assert_eq!(word(&outcome, 1, 0), assay_oracle::Expected::OneOf(vec![6, 7]));
    assert_eq!(word(&outcome, 1, 1), assay_oracle::Expected::Exact(2));
}

#[test]
fn doubles_have_two_readings() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f64>;
        @compute @workgroup_size(1) fn main() { d[0] = d[0] * d[1]; }";
    let doubles =
        |v: &[f64]| words(&v.iter().flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]).collect::<Vec<_>>());
    let outcome = run(&wgsl(text), [1; 3], vec![doubles(&[0.1, 3.0])]);
    let cell = outcome.memory[&assay_oracle::Slot::new(0, 0)].cell_at(0).expect("a set").clone();
    let single = f64::from(0.3f32).to_bits();
    assert_eq!(cell.expected.permits((0.1f64 * 3.0).to_bits()), Some(true));
    assert_eq!(cell.expected.permits(single), Some(false));
    assert_eq!(cell.lenient.expect("another reading").permits(single), Some(true));
}

#[test]
fn beyond_budgets_values_are_undetermined_without_a_fault() {
    use assay_oracle::{CauseKind, Dispatch, Limits, Program, Slot, SpecValues};
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(1) fn main() {
            let x = d[0] * 0.1;
            d[1] = tanh(x);
            if x >= 0.3 { d[2] = 7.0; }
        }";
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let run = |limits: Limits| {
        let dispatch =
            Dispatch { bindings: [(Slot::new(0, 0), floats(&[3.0, 1.0, 2.0]))].into(), ..Dispatch::default() };
        program.run(&dispatch, &limits).unwrap_or_else(|e| panic!("{e}"))
    };
    let plenty = run(Limits::default());
    assert!(permits(&plenty, 0, 1, 0.3f32.tanh()) && permits(&plenty, 0, 2, 2.0) && permits(&plenty, 0, 2, 7.0));
    let unsearched = run(Limits { searches: 0, ..Limits::default() });
    assert_eq!(cause(&unsearched, 0, 1), CauseKind::Precision);
    let unforked = run(Limits { forks: 0, ..Limits::default() });
    assert_eq!((cause(&unforked, 0, 2), unforked.faults.len()), (CauseKind::Budget, 0));
}

/// The same module under WGSL's accuracy rules.
#[test]
fn a_translation_of_wgsl_may_be_judged_by_its_rules() {
    use assay_oracle::{Program, SpecValues};
    use assay_precision::Specification;
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(1) fn main() {
            d[0] = acos(d[0]);
            d[1] = d[1] * d[1];
            d[2] = d[2] * 2.0 + 1.0;
            d[3] = normalize(vec2<f32>(d[3], 1.0) * 3.0).x;
        }";
    let module = wgsl(text);
    let under = |specification: Specification| {
        let program = Program::under(specification, &module, "main", &SpecValues::new()).expect("a program");
        run_program(&program, [1; 3], vec![floats(&[0.999, 1e30, 3.0, 1.0])])
    };
    let (vulkan, by_wgsl) = (under(Specification::Vulkan), under(Specification::Wgsl));
    // 0.99900001287 has the arc cosine 0.0447248; WGSL permits an absolute error of 6.77e-5.
    let off = 0.0447248 + 6e-5;
    assert!(!permits(&vulkan, 0, 0, off) && permits(&by_wgsl, 0, 0, off) && !permits(&by_wgsl, 0, 0, off + 2e-5));
    // An overflow is an infinity or the largest value in Vulkan, and an indeterminate value in
    // WGSL.
    assert!(permits(&vulkan, 0, 1, f32::INFINITY));
    assert_eq!(cause(&by_wgsl, 0, 1), assay_oracle::CauseKind::NoRequirement);
    for outcome in [&vulkan, &by_wgsl] {
        assert!(permits(outcome, 0, 2, 7.0) && !permits(outcome, 0, 2, 7.001));
        assert!(permits(outcome, 0, 3, 0.707_106_77) && !permits(outcome, 0, 3, 0.7072));
    }
}

/// Roots of sets are determined in every element of a large dispatch, whatever the budget of
/// searches.
#[test]
fn roots_of_many_elements_are_determined() {
    use assay_oracle::{Dispatch, Limits, Program, Slot, SpecValues};
    const ELEMENTS: u32 = 1 << 16;
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<f32>;
        @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = d[id.x] * 0.37;
            d[id.x] = sqrt(x + 1.0);
        }";
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let given: Vec<f32> = (0..ELEMENTS).map(|i| i as f32 * 0.01).collect();
    let bindings = [(Slot::new(0, 0), floats(&given))].into();
    let dispatch = Dispatch { groups: [ELEMENTS / 256, 1, 1], bindings, ..Dispatch::default() };
    // An emulated machine is slow.
    let limits = Limits { searches: 256, time: Duration::from_secs(3600), ..Limits::default() };
    let outcome = program.run(&dispatch, &limits).unwrap_or_else(|e| panic!("{e}"));
    for (i, x) in given.iter().enumerate() {
        let root = (f64::from(*x) * 0.37 + 1.0).sqrt();
        assert!(permits(&outcome, 0, i, root as f32) && !permits(&outcome, 0, i, (root * 1.000_01) as f32), "{i}");
    }
}

/// Numbers that come from a few bit patterns are tracked through sums and products that may be
/// rearranged.
#[test]
fn floats_from_few_bit_patterns_are_tracked_through_chains() {
    let text = "@group(0) @binding(0) var<storage, read_write> a: array<f32, 3>;
        @group(0) @binding(1) var<storage, read_write> o: array<f32, 5>;
        @compute @workgroup_size(1) fn main() {
            let t = a[0] + a[1];
            let q = bitcast<f32>(bitcast<u32>(t) - 5u);
            o[0] = q;
            o[1] = 0.5 * a[2] * q;
            o[2] = q - t;
            o[3] = fma(q, a[2], a[2]);
            o[4] = 1.5 - 0.5 * a[2] * q * q;
        }";
    let a = [0.9f32, 0.512_345, 1.3];
    let outcome = run(&wgsl(text), [1; 3], vec![floats(&a), floats(&[0.0; 5])]);
    assert_eq!(outcome.faults, []);
    let t = a[0] + a[1];
    for t in [t.next_down(), t, t.next_up()] {
        let q = f32::from_bits(t.to_bits() - 5);
        if !permits(&outcome, 1, 0, q) {
            continue;
        }
        let all = [0.5 * a[2] * q, q - t, q.mul_add(a[2], a[2]), 1.5 - 0.5 * a[2] * q * q];
        for (i, value) in (1..).zip(all) {
            assert!(permits(&outcome, 1, i, value), "{i}: {value}, {:?}", word(&outcome, 1, i));
            assert_eq!(word(&outcome, 1, i).permits(u64::from((value + 1e-3).to_bits())), Some(false), "{i}");
        }
    }
    assert!(permits(&outcome, 1, 0, f32::from_bits(t.to_bits() - 5)));
}

/// An `FPRoundingMode` decoration leaves one of the two neighbours.
#[test]
fn a_conversion_is_rounded_as_it_is_decorated() {
    let module = spirv(include_str!("../../../../shaders/compute/conversion/half_rounded_as_decorated.spvasm"));
    // A little more than 1, a tie above it, -1 less three quarters of a step, and more than the
    // largest half.
    let values = [1.0001, 1.000_488_3, -1.000_732_4, 65_519.0];
    let given = floats(&values.iter().copied().chain([1.0; 60]).collect::<Vec<_>>());
    let outcome = run(&module, [1; 3], vec![given, words(&[0; 32]), words(&[0; 32]), words(&[0; 64])]);
    let halves = |binding, count: usize| exact(&outcome, binding)[..count].to_vec();
    assert_eq!(halves(1, 2), [0x3c00_3c00, 0x7bff_bc01]);
    assert_eq!(halves(2, 2), [0x3c00_3c00, 0x7bff_bc00]);
    assert_eq!(halves(3, 4), [0xbc00_3c00, 0xbc00_3c00, 0x3c00_bc00, 0xfbff_7bff]);
}

/// Runs a body that computes the word `%r` from the words `%a` and `%b`, in an entry point with
/// these capabilities and execution modes.
fn of_words(capabilities: &[&str], modes: &[&str], body: &str, [a, b]: [u32; 2]) -> Outcome {
    let capabilities: String = capabilities.iter().map(|name| format!("OpCapability {name}\n")).collect();
    let modes: String = modes.iter().map(|mode| format!("OpExecutionMode %main {mode}\n")).collect();
    let head = format!(
        "OpCapability Float16
        OpCapability Float64
        OpCapability Int8
        OpCapability Int16
        OpCapability Int64
        {capabilities}
        OpExtension \"SPV_KHR_float_controls\"
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"
        %glsl = OpExtInstImport \"GLSL.std.450\""
    );
    let declared = "%char = OpTypeInt 8 0
        %short = OpTypeInt 16 0
        %long = OpTypeInt 64 0
        %half = OpTypeFloat 16
        %double = OpTypeFloat 64
        %v2uint = OpTypeVector %uint 2
        %v2float = OpTypeVector %float 2";
    let body = format!(
        "%pa = OpAccessChain %puint %data %zero %zero
        %a = OpLoad %uint %pa
        %pb = OpAccessChain %puint %data %zero %one
        %b = OpLoad %uint %pb
        {body}
        %pr = OpAccessChain %puint %data %zero %two
        OpStore %pr %r"
    );
    let buffers = &[("%data", "%ublocks")];
    let module = Shader { head: &head, modes: &modes, buffers, declared, body: &body, ..Shader::default() }.module();
    let outcome = run(&module, [1; 3], vec![words(&[a, b, 0xaaaa_aaaa])]);
    assert_eq!(outcome.faults, []);
    outcome
}

/// The standing of bits in `%r`.
fn standing(outcome: &Outcome, bits: u32) -> Standing {
    match outcome.memory[&assay_oracle::Slot::new(0, 0)].cell_at(8) {
        Some(cell) => cell.expected.judge(cell.lenient.as_deref(), bits.into()),
        None => word(outcome, 0, 2).judge(None, bits.into()),
    }
}

/// "If an IEEE 754 Inf or NaN is created, .. the resulting floating-point value is unspecified",
/// and denormals may be flushed.
#[test]
fn a_double_is_packed_and_unpacked_as_the_table_says() {
    let body = "%v = OpCompositeConstruct %v2uint %a %b
        %d = OpExtInst %double %glsl PackDouble2x32 %v
        %w = OpBitcast %v2uint %d
        %r = OpCompositeExtract %uint %w 0";
    let packed = |words, modes: &[&str], got| standing(&of_words(&["DenormPreserve"], modes, body, words), got);
    assert!(matches!(packed([0, 0x7ff0_0000], &[], 7), Standing::Open(_)));
    assert!(matches!(packed([1, 0x7ff0_0000], &[], 7), Standing::Open(_)));
    assert_eq!(packed([7, 0x3ff0_0000], &[], 7), Standing::Within);
    assert_eq!(packed([7, 0x3ff0_0000], &[], 6), Standing::Outside);
    assert_eq!((packed([5, 0], &[], 5), packed([5, 0], &[], 0)), (Standing::Within, Standing::Within));
    let kept = &["DenormPreserve 64"];
    assert_eq!((packed([5, 0], kept, 5), packed([5, 0], kept, 0)), (Standing::Within, Standing::Outside));
    let body = "%v = OpCompositeConstruct %v2uint %a %b
        %d = OpBitcast %double %v
        %w = OpExtInst %v2uint %glsl UnpackDouble2x32 %d
        %r = OpCompositeExtract %uint %w 0";
    let unpacked = |words, got| standing(&of_words(&[], &[], body, words), got);
    assert_eq!((unpacked([5, 0], 5), unpacked([5, 0], 0)), (Standing::Within, Standing::Lenient));
    assert_eq!((unpacked([5, 0], 4), unpacked([5, 0x4000_0000], 0)), (Standing::Outside, Standing::Outside));
}

/// "Denormalized values obtained via unpacking an integer into a vector of values with smaller bit
/// width": these have 16 bits, although the types of the instruction have 32.
#[test]
fn halves_that_are_unpacked_follow_the_modes_of_16_bits() {
    let body = "%v = OpExtInst %v2float %glsl UnpackHalf2x16 %a
        %f = OpCompositeExtract %float %v 0
        %r = OpBitcast %uint %f";
    let back = "%x = OpBitcast %float %a
        %y = OpBitcast %float %b
        %v = OpCompositeConstruct %v2float %x %y
        %r = OpExtInst %uint %glsl PackHalf2x16 %v";
    let (half, single) = (0x83ff, (-1023.0 * 2f32.powi(-24)).to_bits());
    let controls = ["DenormFlushToZero", "DenormPreserve"];
    let both = |modes: &[&str]| {
        let unpacked = of_words(&controls, modes, body, [half, 0]);
        let packed = of_words(&controls, modes, back, [single, 0]);
        [[standing(&unpacked, single), standing(&unpacked, 0)], [standing(&packed, half), standing(&packed, 0)]]
    };
    let (yes, doubt, no) = (Standing::Within, Standing::Lenient, Standing::Outside);
    assert_eq!(both(&[]), [[yes, yes], [yes, yes]]);
    // Only the sentence on unpacking demands zeros. The lists of DenormFlushToZero do not name
    // PackHalf2x16.
    assert_eq!(both(&["DenormFlushToZero 32"]), [[yes, yes], [yes, yes]]);
    assert_eq!(both(&["DenormPreserve 32"]), [[yes, yes], [yes, yes]]);
    assert_eq!(both(&["DenormFlushToZero 16"]), [[doubt, yes], [yes, yes]]);
    assert_eq!(both(&["DenormPreserve 16"]), [[yes, doubt], [yes, doubt]]);
    assert_eq!(both(&["DenormFlushToZero 16", "DenormFlushToZero 32"]), [[no, yes], [yes, yes]]);
    assert_eq!(both(&["DenormPreserve 16", "DenormPreserve 32"]), [[yes, no], [yes, no]]);
    assert_eq!(both(&["DenormPreserve 16", "DenormFlushToZero 32"]), [[yes, doubt], [yes, doubt]]);
}

/// "Only affects instructions operating on a floating-point type .. whose component width is Target
/// Width": the result of a conversion follows the mode of its width, and the operand that of its
/// own.
#[test]
fn denormals_of_a_conversion_follow_the_modes_of_their_widths() {
    let narrowed = "%x = OpBitcast %float %a
        %h = OpFConvert %half %x
        %s = OpBitcast %short %h
        %r = OpUConvert %uint %s";
    let widened = "%s = OpUConvert %short %a
        %h = OpBitcast %half %s
        %x = OpFConvert %float %h
        %r = OpBitcast %uint %x";
    let single = 2f32.powi(-20).to_bits();
    let controls = ["DenormFlushToZero", "DenormPreserve"];
    let both = |modes: &[&str]| {
        let narrowed = of_words(&controls, modes, narrowed, [single, 0]);
        let widened = of_words(&controls, modes, widened, [0x10, 0]);
        [[standing(&narrowed, 0x10), standing(&narrowed, 0)], [standing(&widened, single), standing(&widened, 0)]]
    };
    let (yes, no) = (Standing::Within, Standing::Outside);
    assert_eq!(both(&["DenormPreserve 16"]), [[yes, no], [yes, no]]);
    assert_eq!(both(&["DenormPreserve 32"]), [[yes, yes], [yes, yes]]);
    assert_eq!(both(&["DenormFlushToZero 16"]), [[no, yes], [yes, yes]]);
    assert_eq!(both(&["DenormFlushToZero 16", "DenormPreserve 32"]), [[no, yes], [yes, yes]]);
    assert_eq!(both(&["DenormPreserve 16", "DenormFlushToZero 32"]), [[yes, no], [yes, no]]);
}

/// "exp operand must be a scalar or vector with integer component type"; it "is interpreted as a
/// signed integer".
#[test]
fn an_exponent_of_ldexp_has_any_width_and_is_signed() {
    let scaled = |exponent: &str, words, expected: Result<f32, ()>| {
        let body = format!(
            "%x = OpBitcast %float %a
            {exponent}
            %f = OpExtInst %float %glsl Ldexp %x %e
            %r = OpBitcast %uint %f"
        );
        let outcome = of_words(&[], &[], &body, words);
        match expected {
            Ok(value) => assert_eq!(standing(&outcome, value.to_bits()), Standing::Within, "{exponent} {words:x?}"),
            Err(()) => assert!(matches!(standing(&outcome, 0), Standing::Open(_)), "{exponent} {words:x?}"),
        }
        // A third of the correct value, which is wrong wherever anything is required.
        let wrong = expected.map_or(0, |value| (value / 3.0).to_bits());
        assert_eq!(standing(&outcome, wrong) == Standing::Outside, expected.is_ok_and(|v| v != 0.0), "{exponent}");
    };
    let x = 1.5f32.to_bits();
    for (ty, mask) in [("char", 0xff), ("short", 0xffff)] {
        let exponent = format!("%e = OpUConvert %{ty} %b");
        scaled(&exponent, [x, 3], Ok(12.0));
        scaled(&exponent, [x, mask - 2], Ok(0.1875));
    }
    scaled("%e = OpCopyObject %uint %b", [x, 3u32.wrapping_neg()], Ok(0.1875));
    scaled("%e = OpUConvert %long %b", [x, 3], Ok(12.0));
    scaled("%e = OpSConvert %long %b", [x, 3u32.wrapping_neg()], Ok(0.1875));
    // The low words, 1 and -1, would be ordinary exponents.
    let high = "%v = OpCompositeConstruct %v2uint %one %b
        %e = OpBitcast %long %v";
    scaled(high, [x, 1], Err(()));
    scaled(high, [x, u32::MAX], Ok(0.0));
}

/// "The precision of all instructions on float values with the BFloat16KHR encoding is required to
/// be correctly rounded", but "it is implementation-defined whether intermediate values are
/// rounded" (SPV_KHR_bfloat16).
#[test]
fn a_dot_product_of_bfloat16_is_rounded_once() {
    let head = "OpCapability BFloat16TypeKHR
        OpCapability BFloat16DotProductKHR
        OpExtension \"SPV_KHR_bfloat16\"
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"";
    let declared = "%brain = OpTypeFloat 16 BFloat16KHR
        %v3brain = OpTypeVector %brain 3
        %v3float = OpTypeVector %float 3
        %single = OpConstant %float 1.0
        %ones = OpConstantComposite %v3float %single %single %single";
    let body = "%p0 = OpAccessChain %pfloat %data %zero %zero
        %large = OpLoad %float %p0
        %v = OpCompositeConstruct %v3float %large %single %single
        %x = OpFConvert %v3brain %v
        %y = OpFConvert %v3brain %ones
        %dot = OpDot %brain %x %y
        %r = OpFConvert %float %dot
        %p2 = OpAccessChain %pfloat %data %zero %two
        OpStore %p2 %r";
    let buffers = &[("%data", "%fblocks")];
    // Otherwise the unconverted operands might be summed.
    let decorations = "OpDecorate %dot NoContraction";
    let module = Shader { head, buffers, decorations, declared, body, ..Shader::default() }.module();
    let outcome = run(&module, [1; 3], vec![floats(&[256.0, 0.0, 0.0])]);
    assert_eq!(outcome.faults, []);
    // Between 256 and 512 every other integer is a bfloat16.
    let found = [254.0f32, 256.0, 258.0, 260.0, 262.0].map(|got| standing(&outcome, got.to_bits()));
    let expected = [Standing::Outside, Standing::Lenient, Standing::Within, Standing::Lenient, Standing::Outside];
    assert_eq!(found, expected);
}

/// The approximations of a reciprocal, of a root and of one over a root by the bits of a float, as in
/// AMD's FidelityFX, and other arithmetic on these.
#[test]
fn arithmetic_on_the_bits_of_a_float_keeps_its_set() {
    let bits = "bitcast<u32>(exp2(x))";
    type Approximation = (String, fn(u32) -> u32);
    let approximations: [Approximation; 6] = [
        (format!("0x7ef07ebbu - {bits}"), |b| 0x7ef0_7ebb - b),
        (format!("({bits} >> 1u) + 0x1fbc4639u"), |b| (b >> 1) + 0x1fbc_4639),
        (format!("0x5f347d74u - ({bits} >> 1u)"), |b| 0x5f34_7d74 - (b >> 1)),
        (format!("({bits} & 0x7fffffu) | 0x3f800000u"), |b| b & 0x7f_ffff | 0x3f80_0000),
        (format!("max({bits} ^ 0x80000000u, 7u)"), |b| b ^ 0x8000_0000),
        (format!("select(0u, {bits}, {bits} < 0x7f000000u)"), |b| b),
    ];
    for (expression, approximate) in approximations {
        let outcome = unary(&format!("bitcast<f32>({expression})"), &[0.3, -4.7]);
        for (at, x) in [0.3f32, -4.7].into_iter().enumerate() {
            let exact = x.exp2().to_bits();
            let approximated = |bits: u32| f32::from_bits(approximate(bits));
            for near in [exact - 1, exact, exact + 1] {
                assert!(permits(&outcome, 1, at, approximated(near)), "{expression} at {x}");
            }
            assert!(!permits(&outcome, 1, at, approximated(exact) * 1.01), "{expression} at {x}");
        }
    }
}
