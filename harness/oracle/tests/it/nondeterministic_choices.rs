//! Nondeterministic choices: values that follow from one choice are correlated.

use crate::support::*;
use assay_oracle::{CauseKind, Expected, FaultKind, Outcome};

/// Runs a shader of 64 invocations that store to `o`. `y` is a division that may round to either
/// side of a whole number.
fn divided(body: &str, length: usize) -> Outcome {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @group(0) @binding(1) var<storage, read_write> t: array<u32, 8>;
        var<private> table: array<u32, 4> = array<u32, 4>(0u, 10u, 20u, 30u);
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) g: vec3u) {{
            let y = u32(f32(g.x) / 16.0);
            {body}
        }}"
    );
    run(&wgsl(&text), [1; 3], vec![words(&vec![0; length]), words(&[0, 10, 20, 30, 40, 50, 60, 70])])
}

/// The values that every invocation stores at its own place.
fn each(expression: &str) -> Outcome {
    divided(&format!("o[g.x] = {expression};"), 64)
}

fn one_of(outcome: &Outcome, i: usize) -> Vec<u64> {
    assert_eq!(outcome.faults, []);
    match word(outcome, 0, i) {
        Expected::Exact(bits) => vec![bits],
        Expected::OneOf(all) => all,
        other => panic!("{i}: {other:?}"),
    }
}

#[test]
fn a_quotient_near_an_integer_truncates_either_way() {
    let outcome = each("y");
    assert_eq!(one_of(&outcome, 16), [0, 1]);
    assert_eq!(one_of(&outcome, 17), [1]);
    assert_eq!(one_of(&each("y * 5u + y * y"), 32), [6, 14]);
}

#[test]
fn values_that_no_longer_depend_on_a_choice_are_exact() {
    let place = "let x = g.x - y * 16u; let at = y * 16u + x;";
    let outcome = divided(&format!("{place} o[at] = at;"), 64);
    assert_eq!(exact(&outcome, 0), (0..64).collect::<Vec<u32>>());
    // Through a variable, a vector, a structure, a function, a selection, a table and a loop.
    for (expression, before) in [
        ("y - y", ""),
        ("v - y", "var v = 0u; v = y;"),
        ("v[1] - v.x", "let v = vec2(y, y);"),
        ("s.a[1] - y", "var s: S; s.a[1] = y;"),
        ("twice(y) - y * 2u", ""),
        ("select(0u, 1u, y > y)", ""),
        ("select(y, 1u, y == 1u) - y", ""),
        ("table[y] - y * 10u", ""),
        ("t[y] - y * 10u", ""),
        ("u32(i32(y) - 9) + 9u - y", ""),
        ("n - y", "var n = 0u; for (var i = 0u; i < y; i++) { n++; }"),
        ("n - y", "var n = 7u; if y == 2u { n = 2u; } else { n = y; }"),
        ("n - y * 3u", "var n = 0u; switch y { case 0u: {} case 1u: { n = 3u; } default: { n = y * 3u; } }"),
    ] {
        let text = format!("{before} o[g.x] = {expression};");
        let text = wgsl(&format!(
            "struct S {{ a: array<u32, 3> }}
            fn twice(x: u32) -> u32 {{ return x + x; }}
            @group(0) @binding(0) var<storage, read_write> o: array<u32>;
            @group(0) @binding(1) var<storage, read_write> t: array<u32, 8>;
            var<private> table: array<u32, 4> = array<u32, 4>(0u, 10u, 20u, 30u);
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) g: vec3u) {{ let y = u32(f32(g.x) / 16.0); {text} }}"
        ));
        let outcome = run(&text, [1; 3], vec![words(&[9; 64]), words(&[0, 10, 20, 30, 40, 50, 60, 70])]);
        assert_eq!(exact(&outcome, 0), [0; 64], "{expression}");
    }
}

/// Two choices of one expression are independent, and so are those of two invocations.
#[test]
fn independent_choices_are_not_correlated() {
    assert_eq!(one_of(&each("y - u32(f32(g.x) / 16.0)"), 16), [0, 1, u64::from(u32::MAX)]);
    let shared = wgsl(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> w: array<u32, 64>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) i: u32) {
            let y = u32(f32(i / 32u * 16u) / 16.0);
            w[i] = y;
            workgroupBarrier();
            o[i] = w[i ^ 1u] - y;
        }",
    );
    let outcome = run(&shared, [1; 3], vec![words(&[0; 64])]);
    assert_eq!(one_of(&outcome, 40), [0, 1, u64::from(u32::MAX)]);
}

/// In a branch only the alternatives remain that lead there.
#[test]
fn a_branch_keeps_only_the_alternatives_that_lead_to_it() {
    let outcome = divided("var n = 0u; if y > 0u { n = t[8u - y] / y; } o[g.x] = n;", 64);
    assert_eq!(one_of(&outcome, 16), [0, 70]);
    assert_eq!(one_of(&outcome, 20), [70]);
    assert_eq!(one_of(&outcome, 32), [30, 70]);
}

/// An error for some of the alternatives is not the shader's fault, but its effects are unknown.
#[test]
fn a_fault_under_some_alternatives_leaves_its_effects_undetermined() {
    for (body, length) in [
        ("o[g.x] = t[y + 7u];", 64),
        ("if g.x == 16u { o[g.x] = table[y + 3u]; }", 64),
        // Beyond the end; and where another invocation writes, or has read.
        ("if g.x == 16u { o[15u + y] = 1u; }", 16),
        ("if g.x == 16u { o[15u + y] = 1u; } else { o[g.x] = 2u; }", 64),
        ("if g.x != 16u { o[g.x] = 2u; } else { o[15u + y] = 1u; }", 64),
    ] {
        let body = if length == 64 && body.starts_with("o[g.x]") {
            format!("if g.x == 16u {{ {body} }}")
        } else {
            body.to_owned()
        };
        let outcome = divided(&body, length);
        assert_eq!(outcome.faults, [], "{body}");
        let place = if body.contains("15u + y") { 15 } else { 16 };
        assert_eq!(cause(&outcome, 0, place), CauseKind::Precision, "{body}");
    }
    let raced = divided("let seen = o[15]; if g.x == 16u { o[15u + y] = 1u; } o[32u + g.x % 32u] = seen;", 64);
    assert!(raced.faults.iter().any(|fault| fault.kind == FaultKind::DataRace), "o[32..] is written by several");
    let raced = divided(
        "var seen = 0u; if g.x == 20u { seen = o[15]; } storageBarrier(); if g.x == 16u { o[15u + y] = 1u; } if g.x == 20u { o[40] = seen; }",
        64,
    );
    assert_eq!(one_of(&raced, 40), [0]);
    let raced = divided("if g.x == 20u { o[40] = o[15]; } if g.x == 16u { o[15u + y] = 1u; }", 64);
    assert_eq!((raced.faults.len(), cause(&raced, 0, 40)), (0, CauseKind::Precision));
}

#[test]
fn a_fault_under_every_alternative_is_a_fault() {
    for (body, kind) in [
        ("if g.x == 16u { o[g.x] = t[y + 8u]; }", FaultKind::OutOfBounds),
        ("if g.x == 16u { o[64u + y] = 1u; }", FaultKind::OutOfBounds),
        ("if g.x == 16u { o[g.x + y - y] = 1u; } if g.x == 17u { o[16] = 2u; }", FaultKind::DataRace),
    ] {
        let outcome = divided(body, 64);
        assert_eq!(outcome.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [kind], "{body}");
    }
}

/// A division of 12 by `divisor`, for which `%y` is 0 or 1.
fn by(divisor: &str) -> Outcome {
    let body = format!(
        "%from = OpAccessChain %pfloat %data %one
        %x = OpLoad %float %from
        %q = OpFDiv %float %x %sixteen
        %y = OpConvertFToU %uint %q
        %same = OpISub %uint %y %y
        %quotient = OpUDiv %uint %twelve {divisor}
        %to = OpAccessChain %puint %data %zero
        OpStore %to %quotient"
    );
    let shader = Shader {
        buffers: &[("%data", "%pairs")],
        decorations: "OpDecorate %pair Block
            OpMemberDecorate %pair 0 Offset 0
            OpMemberDecorate %pair 1 Offset 4",
        declared: "%twelve = OpConstant %uint 12
            %sixteen = OpConstant %float 16
            %pair = OpTypeStruct %uint %float
            %pairs = OpTypePointer StorageBuffer %pair",
        body: &body,
        ..Shader::default()
    };
    run(&shader.module(), [1; 3], vec![words(&[0, 16f32.to_bits()])])
}

#[test]
fn a_division_that_may_be_by_zero() {
    assert_eq!((by("%y").faults.len(), cause(&by("%y"), 0, 0)), (0, CauseKind::Precision));
    assert_eq!(by("%same").faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::Division]);
}
