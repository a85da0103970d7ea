//! Interpretation that follows one permitted result of each instruction.

use crate::support::*;
use assay_oracle::{Dispatch, Expected, FollowedResults, Limits, Outcome, Program, Slot, SpecValues};

/// Runs a body on 16 floats, from which it computes `y`.
fn ran(body: &str, results: FollowedResults) -> Outcome {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {{
            let x = data[i];
            var y = x;
            {body}
            data[i] = y;
        }}"
    );
    let program = Program::new(&wgsl(&text), "main", &SpecValues::new()).expect("a program");
    let values: Vec<f32> = (0u8..16).map(|i| 0.25 + f32::from(i) * 0.75).collect();
    let bindings = [(Slot::new(0, 0), floats(&values))].into();
    program.run(&Dispatch { bindings, results, ..Dispatch::default() }, &Limits::default()).expect("a run")
}

/// Bodies whose results the specification leaves some freedom.
const BODIES: [&str; 6] = [
    "y = x / 3.0;",
    "y = sin(x * 0.2) * exp(x * 0.25) + x;",
    "y = sqrt(x * 1.7 + 0.3) - log2(x);",
    "y = inverseSqrt(x) * (x + 0.1) * (x - 0.2);",
    "for (var k = 0; k < 4; k++) { y = y * 0.2 + cos(y * 0.2); }",
    "if sin(x * 0.2) > 2.0 { y = 0.0; } else { y = pow(x, 1.5); }",
];

#[test]
fn the_result_is_a_permitted_one() {
    for body in BODIES {
        let (all, one) = (ran(body, FollowedResults::All), ran(body, FollowedResults::One));
        let mut open = 0;
        for (i, bits) in (0..).zip(exact(&one, 0)) {
            let permitted = word(&all, 0, i);
            open += u32::from(!matches!(permitted, Expected::Exact(_)));
            assert_eq!(permitted.permits(u64::from(bits)), Some(true), "{body} {i}: {}", f32::from_bits(bits));
        }
        assert!(open > 0, "{body} leaves no freedom");
    }
}

/// The branch depends on digits that the specification leaves open, so that both ways are permitted.
#[test]
fn every_branch_is_decided() {
    let body = "for (var k = 0; k < 40; k++) { if fract(sin(y) * 43758.5) < 0.5 { y += 1.3; } else { y *= 0.7; } }";
    let all = ran(body, FollowedResults::All);
    assert!((0..16).all(|i| !matches!(word(&all, 0, i), Expected::Exact(_))), "{all:?}");
    let one = ran(body, FollowedResults::One);
    assert_eq!((exact(&one, 0).len(), &one.possible_faults[..]), (16, &[][..]));
    assert!(one.instructions < all.instructions);
}

/// A result on which the specification places no requirement is what the host's arithmetic gives, or zero.
#[test]
fn undetermined_values_become_known_ones() {
    for (body, expected) in [
        ("y = (x + 1.0) / (x - x);", f32::INFINITY),
        ("y = sin(x * 1000.0);", 250f64.sin() as f32),
        ("y = max((x + 1.0) / (x - x), 1.0) - 2.0;", f32::INFINITY),
    ] {
        assert!(matches!(word(&ran(body, FollowedResults::All), 0, 0), Expected::Undetermined(_)), "{body}");
        assert_eq!(f32::from_bits(exact(&ran(body, FollowedResults::One), 0)[0]), expected, "{body}");
    }
}
