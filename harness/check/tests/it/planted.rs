//! Errors planted in what the device is given: found by the check, named by the trace.

use crate::support::{on_each_driver, wgsl};
use assay_check::{Check, Mutating, Mutation, Options, Planted};
use assay_runner::{CheckResult, Status};

/// Plants an error, sees on each driver that it is what makes the check fail, and looks at what the trace says of it.
fn planted(text: &str, mutation: &str, look: impl Fn(&CheckResult, &Planted)) {
    let subject = wgsl(text);
    let mutation: Mutation = mutation.parse().unwrap();
    let check = Check::new(&subject, &Options { rounds: 1, ..Options::default() }).unwrap();
    let planted = mutation.plant(&subject.source.module, &check.setup.entry).unwrap();
    on_each_driver(|target| {
        let sound = check.run(target).unwrap();
        assert_eq!(sound.status, Status::Pass, "{mutation}: without the error: {:?}", sound.reason);
        let target = Mutating::new(target, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail, "{mutation}: {:?}", result.reason);
        check.explain(&mut result, &target, true);
        look(&result, &planted);
    });
}

/// Plants an error in an instruction that computes; the trace blames it and nothing else.
fn traced(text: &str, mutation: &str) {
    planted(text, mutation, |result, planted| {
        let blamed: Vec<_> = result.blamed.iter().map(|b| (b.instruction, b.name.as_str(), b.wrong)).collect();
        assert_eq!(blamed.len(), 1, "{mutation}: only the planted one: {blamed:?}, {:?}", result.notes);
        assert_eq!(blamed[0].0, planted.instruction, "{mutation}: {blamed:?}");
        assert!(result.blamed[0].place.contains("test.wgsl:"), "{:?}", result.blamed);
        // Each invocation writes its own elements, and the first element depends on the planted instruction.
        for mismatch in &result.mismatches {
            let index: u64 = mismatch.element.trim_start_matches('[').split(']').next().unwrap().parse().unwrap();
            assert_eq!(mismatch.invocation, Some(index), "{mismatch:?}");
        }
        let wrong: Vec<_> = result.derivation.iter().filter(|step| step.within == Some(false)).collect();
        assert!(wrong.iter().all(|step| step.name == blamed[0].1), "{wrong:?}");
        assert!(result.derivation.iter().any(|step| step.name == blamed[0].1), "{:?}", result.derivation);
    });
}

const INTEGERS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> wide: array<vec4<u32>>;
fn step(x: i32) -> i32 { return (x >> 3u) + 7; }
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = data[id.x] - 40;
    for (var i = 0; i < 4; i++) {
        if (x < 0) { x = step(x) * 3; } else { x = x ^ (i * 5); }
    }
    data[id.x] = x;
    wide[id.x] = (wide[id.x] + vec4<u32>(1u, 2u, 3u, 4u)) * vec4<u32>(bitcast<u32>(x));
}";

#[test]
fn a_trace_names_the_instruction_that_is_wrong_in_integers() {
    for mutation in ["off-by-one@OpIMul", "off-by-one@OpBitwiseXor", "signedness@OpShiftRightArithmetic"] {
        traced(INTEGERS, mutation);
    }
}

const FLOATS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<storage, read> more: array<vec2<f32>>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = more[id.x];
    let b = a * 3.0 + vec2<f32>(data[id.x], 1.0);
    let c = sqrt(abs(b.x)) - b.y;
    data[id.x] = c;
}";

#[test]
fn a_trace_names_the_instruction_that_is_wrong_in_floats() {
    for mutation in ["ulp:40@OpVectorTimesScalar", "ulp:3000@OpFAdd", "ulp:4000@OpFSub", "ulp:4000@Sqrt"] {
        traced(FLOATS, mutation);
    }
}

#[test]
fn lost_atomics_and_missing_barriers_are_found() {
    let atomic = "@group(0) @binding(0) var<storage, read_write> sum: atomic<u32>;
        @group(0) @binding(1) var<storage, read> data: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            atomicAdd(&sum, data[id.x]);
        }";
    let barrier = "var<workgroup> last: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                             @builtin(local_invocation_index) i: u32) {
            if (i == 63u) { last = data[id.x]; }
            workgroupBarrier();
            data[id.x] = last;
        }";
    for (text, mutation) in [(atomic, "lost-atomic"), (barrier, "missing-barrier@last")] {
        planted(text, mutation, |result, _| {
            assert!(result.blamed.is_empty(), "{:?}", result.blamed);
            assert!(result.notes[0].contains("look at loads, stores, atomics, barriers"), "{:?}", result.notes);
        });
    }
}

#[test]
fn an_instruction_that_is_not_there_is_refused() {
    let subject = wgsl(INTEGERS);
    for at in ["ulp", "off-by-one@OpFAdd", "lost-atomic", "signedness@OpIAdd", "off-by-one@%99999"] {
        let error = at.parse::<Mutation>().unwrap().plant(&subject.source.module, "main").unwrap_err();
        assert!(error.to_string().contains("there is no instruction"), "{error}");
    }
}
