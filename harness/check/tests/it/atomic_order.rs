//! Tests of programs whose results depend on atomic ordering.

use crate::support::{on_each_driver, wgsl};
use assay_check::{Check, MutatingTarget, Mutation, Options, ShaderSource};
use assay_events::{CheckResult, Status};

/// Appends odd values, multiplied by three.
const APPEND: &str = "
struct Out { count: atomic<u32>, items: array<u32> }
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: Out;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let value = values[id.x];
    if ((value & 1u) == 1u) {
        let at = atomicAdd(&out.count, 1u);
        if (at < arrayLength(&out.items)) { out.items[at] = value * 3u; }
    }
}";

/// Hands out tiles by tickets.
const TICKETS: &str = "
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> ticket: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> tile: u32;
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
    if (i == 0u) { tile = atomicAdd(&ticket, 1u); }
    let at = workgroupUniformLoad(&tile) * 32u + i;
    if (at < arrayLength(&values) && at < arrayLength(&out)) { out[at] = values[at] * 5u; }
}";

/// Inserts keys at the next free place of a hash table.
const TABLE: &str = "
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<atomic<u32>, 1024>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let key = values[id.x] * 2u + 1u;
    var at = (key * 2654435761u) >> 22u;
    for (var n = 0u; n < 64u; n++) {
        let had = atomicCompareExchangeWeak(&places[at], 0u, key);
        if (had.exchanged || had.old_value == key) { out[id.x] = at << 3u; return; }
        at = (at + 1u) & 1023u;
    }
}";

/// Each invocation exchanges a mark for the previous one.
const MARKS: &str = "
@group(0) @binding(1) var<storage, read_write> mark: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = atomicExchange(&mark, id.x + 1u);
}";

/// Adds floats with a compare-exchange loop.
const SUM: &str = "
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sum: atomic<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    let value = f32(id.x) * 0.7 + 0.1;
    var old = atomicLoad(&sum);
    loop {
        let had = atomicCompareExchangeWeak(&sum, old, bitcast<u32>(bitcast<f32>(old) + value));
        if had.exchanged { break; }
        old = had.old_value;
    }
}";

/// Computes the largest of some roots, and their sum in fixed point.
const ROOTS: &str = "
@group(0) @binding(1) var<storage, read_write> most: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> sum: atomic<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let root = sqrt(f32(id.x) + 0.7);
    atomicMax(&most, bitcast<u32>(root));
    atomicAdd(&sum, u32(root * 4096.0));
}";

fn options() -> Options {
    let zeros = ("0.1".parse().unwrap(), "zeros".parse().unwrap());
    Options { rounds: 1, groups: Some([4, 1, 1]), inputs: vec![zeros], ..Options::default() }
}

#[test]
fn all_elements_are_determined_under_the_observed_order() {
    for text in [APPEND, TICKETS, TABLE, MARKS, SUM, ROOTS] {
        let shader = wgsl(text);
        let check = Check::new(&shader, &options()).unwrap();
        on_each_driver(|target| {
            let result = check.run(target).unwrap();
            assert_eq!(result.status, Status::Pass, "{:?}, {:?}", result.reason, result.mismatches);
            assert_eq!(result.elements_undetermined, 0, "{:?}, {:?}", result.undetermined, result.notes);
            assert!(result.notes.iter().any(|note| note.contains("on atomic ordering")), "{:?}", result.notes);
        });
    }
}

/// Plants an error in every execution, on every driver.
fn spoilt(shader: &ShaderSource, mutation: &str, look: impl Fn(&CheckResult)) {
    let check = Check::new(shader, &options()).unwrap();
    let mutation: Mutation = mutation.parse().unwrap();
    let planted = mutation.plant(&shader.source.module, &check.setup.entry).unwrap();
    on_each_driver(|target| {
        let target = MutatingTarget::new(target, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail, "{mutation}: {:?}, {:?}", result.undetermined, result.notes);
        check.explain(&mut result, &target, false);
        let blamed: Vec<_> = result.blamed.iter().map(|blame| blame.instruction).collect();
        assert_eq!(blamed, [planted.instruction], "{mutation}: {:?}", result.notes);
        look(&result);
    });
}

#[test]
fn errors_in_order_dependent_results_are_found() {
    for (text, mutation) in
        [(APPEND, "off-by-one@OpIMul"), (TICKETS, "off-by-one@OpIMul"), (TABLE, "off-by-one@OpShiftLeftLogical")]
    {
        spoilt(&wgsl(text), mutation, |_| {});
    }
}

/// Operands of atomics are compared with their permitted sets.
#[test]
fn errors_in_operands_of_atomics_are_found() {
    for (text, mutation, buffer) in
        [(SUM, "ulp:4@last", "set 0 binding 1 (sum)"), (ROOTS, "off-by-one@OpConvertFToU", "set 0 binding 2 (sum)")]
    {
        spoilt(&wgsl(text), mutation, |result| {
            let mismatch = &result.mismatches[0];
            assert_eq!(mismatch.buffer, buffer, "{mismatch:?}");
            assert!(mismatch.element.contains("(operand of the atomic at "), "{mismatch:?}");
        });
    }
}

/// A race that occurs only under an impossible order is not a fault of the shader.
#[test]
fn a_race_under_an_impossible_order_is_not_a_fault() {
    let text = "
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (values[id.x] & 1u) == 0u { out[atomicAdd(&count, 1u)] = id.x; }
}";
    spoilt(&wgsl(text), "lost-atomic", |result| {
        assert!(
            result.mismatches.iter().all(|mismatch| mismatch.class == "ImpossibleOrder"),
            "{:?}",
            result.mismatches
        );
    });
}

/// All atomics find the initial value, and none finds the value that another one left.
#[test]
fn atomics_without_a_modification_order_are_a_failure() {
    spoilt(&wgsl(MARKS), "lost-atomic", |result| {
        let [mismatch] = &result.mismatches[..] else { panic!("{:?}", result.mismatches) };
        assert_eq!((mismatch.class.as_str(), mismatch.buffer.as_str()), ("ImpossibleOrder", "set 0 binding 1 (mark)"));
        assert!(mismatch.got.contains("no order of 64 atomics gives these values"), "{mismatch:?}");
    });
}
