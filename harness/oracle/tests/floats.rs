//! Floating-point programs: sets that flow.

mod support;

use support::*;

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
