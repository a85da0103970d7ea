//! Two translations of a shader.

use crate::support::{Synthetic, wgsl};
use assay_check::{Check, Options, against};
use assay_runner::Status;

fn shader(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
         @group(0) @binding(1) var<storage, read_write> whole: array<u32>;
         @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
    )
}

/// What the second is against the first.
fn compared(first: &str, second: &str) -> Status {
    let (first, second) = (shader(first), shader(second));
    let (first, second) = (wgsl(&first), wgsl(&second));
    let options = Options { rounds: 1, ..Options::default() };
    let (this, other) = (Check::new(&first, &options).unwrap(), Check::new(&second, &options).unwrap());
    against(&this, &other, &Synthetic::new(|_| {})).unwrap().status
}

#[test]
fn what_is_the_same_or_narrower_is_within() {
    let both = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u;";
    let shift = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] << 3u;";
    assert_eq!(compared(both, both), Status::Pass);
    assert_eq!(compared(both, shift), Status::Pass);
}

#[test]
fn what_changes_a_result_or_widens_it_is_not() {
    let product = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u;";
    let other = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u + 1u;";
    let wider = "data[id.x] = exp2(data[id.x] / 8.0); whole[id.x] = whole[id.x] * 8u;";
    assert_eq!(compared(product, other), Status::Fail);
    assert_eq!(compared(product, wider), Status::Fail);
    // Two steps may be rounded one by one, the exact doubling may not.
    let exact = "data[id.x] = data[id.x] * 2.0;";
    let loose = "data[id.x] = data[id.x] * 3.0 - data[id.x];";
    assert_eq!(compared(exact, exact), Status::Pass);
    assert_eq!(compared(loose, loose), Status::Pass);
    assert_eq!(compared(exact, loose), Status::QualityWarning);
}

/// By the letter bit-preserving operations need not keep the sign of a zero.
#[test]
fn what_only_copies_by_the_letter_make_is_not_accused() {
    let signed = "data[id.x] = bitcast<f32>(whole[id.x] & 0x80000000u);";
    assert_eq!(compared(signed, "data[id.x] = bitcast<f32>(whole[id.x] & 0u);"), Status::Pass);
    assert_eq!(compared(signed, "data[id.x] = bitcast<f32>(whole[id.x] & 1u);"), Status::Fail);
    let magnitude = "let x = data[id.x]; data[id.x] = select(x, -x, x < 0.0);";
    assert_eq!(compared(magnitude, "data[id.x] = abs(data[id.x]);"), Status::Pass);
}
