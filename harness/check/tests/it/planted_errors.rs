//! Tests of planted errors: the check finds them, and the trace names the instruction.

use crate::support::{SyntheticTarget, on_each_driver, on_words, spirv, wgsl};
use assay_check::{Check, MutatingTarget, Mutation, Options, PlantedError};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_spirv::tables::Op;
use assay_testkit::Shader;

/// Plants an error, checks on each driver that the check then fails, and passes the traced result
/// to `look`.
fn planted(text: &str, mutation: &str, look: impl Fn(&CheckResult, &PlantedError)) {
    let shader = wgsl(text);
    let mutation: Mutation = mutation.parse().unwrap();
    let check = Check::new(&shader, &Options { rounds: 1, ..Options::default() }).unwrap();
    let planted = mutation.plant(&shader.source.module, &check.setup.entry).unwrap();
    on_each_driver(|target| {
        let sound = check.run(target).unwrap();
        assert_eq!(sound.status, Status::Pass, "{mutation}: without the error: {:?}", sound.reason);
        let target = MutatingTarget::new(target, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail, "{mutation}: {:?}", result.reason);
        check.explain(&mut result, &target, true);
        look(&result, &planted);
    });
}

/// Plants an error in a computing instruction; the trace blames that instruction and no other.
fn traced(text: &str, mutation: &str) {
    planted(text, mutation, |result, planted| {
        let blamed: Vec<_> = result.blamed.iter().map(|b| (b.instruction, b.name.as_str(), b.wrong)).collect();
        assert_eq!(blamed.len(), 1, "{mutation}: only the planted one: {blamed:?}, {:?}", result.notes);
        assert_eq!(blamed[0].0, planted.instruction, "{mutation}: {blamed:?}");
        assert!(result.blamed[0].place.contains("test.wgsl:"), "{:?}", result.blamed);
        // Each invocation writes its own elements, and the first element depends on the planted
        // instruction.
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
fn a_trace_names_the_wrong_integer_instruction() {
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
fn a_trace_names_the_wrong_float_instruction() {
    for mutation in ["ulp:40@OpVectorTimesScalar", "ulp:3000@OpFAdd", "ulp:4000@OpFSub", "ulp:4000@Sqrt"] {
        traced(FLOATS, mutation);
    }
}

/// Instructions that are executed often, and are wrong only in executions before the last.
const OFTEN: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
fn half(x: i32) -> i32 { return x >> 1u; }
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = data[id.x] & 15;
    for (var i = 0; i < 5; i++) { sum = sum * 2 + ((i * 8 - 7) >> 2u) + (-i >> 1u); }
    data[id.x] = sum + half(-3) + half(8);
}";

#[test]
fn a_trace_checks_every_recorded_execution() {
    for mutation in ["signedness@OpShiftRightArithmetic", "signedness@last"] {
        traced(OFTEN, mutation);
    }
}

const ATOMICS: &str = "
struct Counts { seen: atomic<u32>, unused: u32, words: array<atomic<i32>, 4>, rest: array<u32> }
@group(0) @binding(0) var<storage, read_write> counts: Counts;
@group(0) @binding(1) var<storage, read> data: array<u32>;
var<workgroup> most: atomic<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                     @builtin(local_invocation_index) local: u32) {
    atomicAdd(&counts.seen, data[id.x] & 7u);
    for (var i = 0u; i < 3u; i++) { atomicXor(&counts.words[(local + i) & 3u], i32(id.x * id.x * 77u + i)); }
    atomicMax(&most, local * 3u);
    workgroupBarrier();
    counts.rest[id.x] = atomicLoad(&most);
}";

const BARRIERS: &str = "
var<workgroup> last: u32;
var<workgroup> all: array<vec2<u32>, 64>;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                     @builtin(local_invocation_index) i: u32) {
    if (i == 63u) { last = data[id.x]; }
    workgroupBarrier();
    var sum = last;
    all[i] = vec2<u32>(i, sum);
    for (var n = 0u; n < 3u; n++) {
        workgroupBarrier();
        let next = all[(i + 17u) & 63u].x * 5u + all[(i + 40u) & 63u].y;
        sum += next + n;
        workgroupBarrier();
        all[i].x = next;
    }
    data[id.x] = sum;
}";

#[test]
fn a_trace_names_lost_atomics_and_missing_barriers() {
    let number = |text: &str, op: Op, n: usize| {
        let shader = wgsl(text);
        let found = shader.source.module.instructions().filter(|i| i.op == Some(op)).nth(n);
        found.unwrap().index.0
    };
    // The first barrier is the one after workgroup memory is zeroed.
    let barriers = [1, 2, 3].map(|n| (BARRIERS, "missing-barrier", Op::ControlBarrier, n));
    let atomics = [Op::AtomicIAdd, Op::AtomicXor, Op::AtomicUMax].map(|op| (ATOMICS, "lost-atomic", op, 0));
    let others = [(ATOMICS, "off-by-one", Op::AtomicLoad, 0)];
    for (text, kind, op, n) in barriers.into_iter().chain(atomics).chain(others) {
        planted(text, &format!("{kind}@{}", number(text, op, n)), |result, planted| {
            let blamed: Vec<_> = result.blamed.iter().map(|b| (b.instruction, b.name.as_str())).collect();
            assert_eq!(blamed.len(), 1, "{kind} at {op:?} {n}: {blamed:?}, {:?}", result.notes);
            assert_eq!(blamed[0].0, planted.instruction, "{kind} at {op:?} {n}: {blamed:?}");
        });
    }
}

/// The message names the missing type.
#[test]
fn planting_in_halves_requires_16_bit_integers() {
    let text = "enable f16;
        @group(0) @binding(0) var<storage, read_write> data: array<f16>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] / 3.0h; }";
    let shader = wgsl(text);
    let error = "ulp:4@OpFDiv".parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap_err();
    assert!(error.to_string().contains("an integer type of 16 bits"), "{error}");
    let error = "off-by-one@OpFDiv".parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap_err();
    assert!(
        error.to_string().contains("it changes integer results; it can be planted with --mutate 'off-by-one@word "),
        "{error}"
    );
}

/// The sign of a zero is flipped, and that of another component is not.
#[test]
fn a_wrong_sign_of_zero_is_found_in_half_and_single_floats() {
    const HALF: &str = "%u16 = OpTypeInt 16 0
        %half = OpTypeFloat 16
        %vector = OpTypeVector %half 2
        %nought = OpConstant %half 0
        %three = OpConstant %half 3
        %x = OpConstantComposite %vector %nought %three";
    let float = ("", "%x = OpConstant %float 0", "%product = OpFMul %float %x %x\n%bits = OpBitcast %uint %product");
    let half = (
        "OpCapability Float16\nOpCapability Int16\n",
        HALF,
        "%product = OpFMul %vector %x %x\n%bits = OpBitcast %uint %product",
    );
    let mut caps = SyntheticTarget::default().capabilities().clone();
    caps.features.extend(["shaderFloat16", "shaderInt16"].map(str::to_owned));
    for (width, (capabilities, declared, product), got) in [(16, half, "0x48808000"), (32, float, "0x80000000")] {
        caps.properties.insert(format!("shaderSignedZeroInfNanPreserveFloat{width}"), 1);
        let body = format!("{product}\n%to = OpAccessChain %puint %data %zero %zero\nOpStore %to %bits");
        let shader = spirv(&Shader {
            head: &format!(
                "{capabilities}OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\""
            ),
            modes: &format!("OpExecutionMode %main SignedZeroInfNanPreserve {width}"),
            ..on_words(1, declared, "", &body)
        });
        let check = Check::new(&shader, &Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }).unwrap();
        let target = SyntheticTarget::with_capabilities(caps.clone());
        assert_eq!(check.run(&target).unwrap().status, Status::Pass, "{width}");
        let mutation: Mutation = "sign-of-zero@OpFMul".parse().unwrap();
        let planted = mutation.plant(&shader.source.module, "main").unwrap();
        let result = check.run(&MutatingTarget::new(&target, planted)).unwrap();
        // A lenient reading permits either zero.
        let found = (result.status, &*result.mismatches[0].got);
        assert_eq!(found, (Status::QualityWarning, got), "{width}: {:?}", result.reason);
    }
}

#[test]
fn a_missing_instruction_is_refused() {
    let shader = wgsl(INTEGERS);
    for at in ["ulp", "off-by-one@OpFAdd", "lost-atomic", "signedness@OpIAdd", "off-by-one@%99999"] {
        let error = at.parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap_err();
        assert!(error.to_string().contains("no instruction"), "{error}");
    }
}

/// Loads from all checked sources: built-ins, buffers that are not written, and an invocation's own
/// memory, in all shapes. Floats are small integers, and planted errors double them, because the
/// synthetic device is consistent only where a single result is permitted.
const LOADS: &str = "
struct Pair { a: vec2<f32>, b: array<i32, 3>, c: mat2x3<f32> }
@group(0) @binding(0) var<storage, read> table: array<vec4<i32>>;
struct Settings { scale: i32, bias: array<vec4<u32>, 2> }
@group(0) @binding(1) var<uniform> settings: Settings;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> turns: array<mat2x3<f32>>;
var<private> kept: array<i32, 5> = array<i32, 5>(3, 1, 4, 1, 5);
fn turn(x: i32) -> i32 {
    var own = x * 2;
    if (own > 7) { own = own - kept[u32(x) % 5u]; }
    kept[u32(own) % 5u] = own;
    return own;
}
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                    @builtin(local_invocation_index) local: u32,
                                    @builtin(workgroup_id) group: vec3<u32>) {
    var pair: Pair;
    pair.a = vec2<f32>(3.0);
    pair.a.y = f32(id.x) + f32(settings.scale);
    pair.c[1] = vec3<f32>(5.0);
    pair.c[1].z = f32(local) + f32(group.x) + 9.0;
    var sum = 0;
    for (var i = 0u; i < 6u; i++) {
        pair.b[i % 3u] = pair.b[(i + 1u) % 3u] + table[id.x % arrayLength(&table)][i % 4u];
        sum += turn(i32(i & 3u)) + pair.b[2] + i32(settings.bias[i & 1u].y & 255u);
    }
    pair.a = pair.a * 2.0 + pair.c[1].yz + turns[id.x][local & 1u].xy + vec2<f32>(turns[local][0][2]);
    out[id.x] = vec4<f32>(pair.a, pair.c[1].z, f32(sum % 1000));
}";

#[test]
fn a_trace_names_wrong_loads_with_a_known_value() {
    let shader = wgsl(LOADS);
    let inputs = [("0.0", "0..50"), ("0.1", "1..9"), ("0.3", "index")]
        .map(|(to, what)| (to.parse().unwrap(), what.parse().unwrap()));
    // The last index that is in bounds.
    let elements = vec![(Some("turns".parse().unwrap()), 64)];
    let options =
        Options { rounds: 1, groups: Some([2, 1, 1]), inputs: inputs.to_vec(), elements, ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    let device = SyntheticTarget::default();
    let module = &shader.source.module;
    let (mut named, mut hidden) = (0, 0);
    for i in module.instructions().filter(|i| i.op == Some(Op::Load)) {
        for kind in ["off-by-one", "ulp:8388608"] {
            let mutation: Mutation = format!("{kind}@{}", i.index.0).parse().unwrap();
            let Ok(planted) = mutation.plant(module, &check.setup.entry) else { continue };
            let target = MutatingTarget::new(&device, planted.clone());
            let mut result = check.run(&target).unwrap();
            if result.status != Status::Fail {
                // Later instructions may hide the error, or the error may cause undefined
                // behaviour.
                hidden += 1;
                continue;
            }
            check.explain(&mut result, &target, false);
            let blamed: Vec<u32> = result.blamed.iter().map(|blame| blame.instruction).collect();
            assert_eq!(blamed, [planted.instruction], "{mutation}: {:?}, {:?}", result.blamed, result.notes);
            named += 1;
        }
    }
    assert!(named > 20 && hidden < 7, "{named} named, {hidden} hidden");
    // A device whose output is wrong although its instructions are right: nothing is blamed.
    let spoilt = SyntheticTarget::spoilt(|output| output.memory.values_mut().for_each(|bytes| bytes[0] ^= 1));
    let mut result = check.run(&spoilt).unwrap();
    assert_eq!(result.status, Status::Fail);
    check.explain(&mut result, &spoilt, false);
    assert_eq!((result.blamed.len(), result.notes.len()), (0, 1), "{:?}", result.blamed);
}

/// A bin that one invocation alone adds to shows a lost atomic like a missing barrier; the other
/// bins decide.
#[test]
fn a_lost_atomic_is_not_blamed_on_a_barrier() {
    let text = "@group(0) @binding(0) var<storage, read> values: array<u32>;
        @group(0) @binding(1) var<storage, read_write> all: array<atomic<u32>, 16>;
        var<workgroup> bins: array<atomic<u32>, 16>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) at: vec3u) {
            if (i < 16u) { atomicStore(&bins[i], 0u); }
            workgroupBarrier();
            atomicAdd(&bins[min(values[at.x] & 31u, 15u)], 1u);
            workgroupBarrier();
            if (i < 16u) { atomicAdd(&all[i], atomicLoad(&bins[i])); }
        }";
    planted(text, "lost-atomic", |result, planted| {
        let blamed: Vec<_> = result.blamed.iter().map(|blame| blame.instruction).collect();
        assert_eq!(blamed, [planted.instruction], "{:?}", result.blamed);
    });
}

/// An element that one invocation stores several times has the value of the last store.
#[test]
fn the_derivation_is_that_of_the_last_store_to_an_element() {
    let shader = wgsl(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = id.x + 7u;
            workgroupBarrier();
            data[id.x] = id.x * 3u;
        }",
    );
    let check = Check::new(&shader, &Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }).unwrap();
    let planted = "off-by-one@OpIMul".parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap();
    let target = MutatingTarget::new(SyntheticTarget::default(), planted);
    let mut result = check.run(&target).unwrap();
    assert_eq!(result.status, Status::Fail);
    check.explain(&mut result, &target, true);
    let steps: Vec<&str> = result.derivation.iter().map(|step| &*step.name).collect();
    assert!(steps.contains(&"OpIMul") && !steps.contains(&"OpIAdd"), "{steps:?}");
}

/// A maybe uninitialised value, and memory to which it is stored, may have different bits at each
/// use. A load of them is not wrong.
#[test]
fn a_trace_does_not_blame_loads_of_maybe_undefined_values() {
    const DECLARED: &str = "%locals = OpTypePointer Function %uint
        %undefined = OpUndef %uint";
    const MAIN: &str = "%kept = OpVariable %locals Function BEGINNING
        %i = OpLoad %uint %id
        %always = OpIEqual %bool %i %i
        STORED
        %loaded = OpLoad %uint %kept
        %place = OpAccessChain %puint %data %zero %i
        OpStore %place %loaded";
    const PERHAPS: &str = "OpSelectionMerge %after None
        OpBranchConditional %always %then %after
        %then = OpLabel
        OpStore %kept %i
        OpBranch %after
        %after = OpLabel";
    const TWICE: &str = "OpStore %kept %undefined\nOpStore %kept %i";
    for (beginning, stored, judged) in [
        ("%zero", "OpStore %kept %i", true),
        ("%zero", PERHAPS, true),
        ("%zero", TWICE, false),
        ("", "OpStore %kept %i", true),
        ("", PERHAPS, false),
    ] {
        let body = MAIN.replace("BEGINNING", beginning).replace("STORED", stored);
        let shader = spirv(&on_words(4, DECLARED, "", &body));
        let check = Check::new(&shader, &Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }).unwrap();
        let module = &shader.source.module;
        let load = module.instructions().rfind(|i| i.op == Some(Op::Load)).unwrap();
        let mutation: Mutation = format!("off-by-one@{}", load.index.0).parse().unwrap();
        let target =
            MutatingTarget::new(SyntheticTarget::default(), mutation.plant(module, &check.setup.entry).unwrap());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail);
        check.explain(&mut result, &target, false);
        let blamed: Vec<u32> = result.blamed.iter().map(|blame| blame.instruction).collect();
        let expected = if judged { vec![load.index.0] } else { Vec::new() };
        assert_eq!(blamed, expected, "{beginning} {stored} {:?}", result.notes);
    }
}

/// A function has a result id that is not a value.
#[test]
fn the_default_instruction_for_an_error_is_in_a_function_body() {
    let shader = wgsl(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn next(a: u32) -> u32 { return a * 3u; }
        @compute @workgroup_size(1) fn main() { data[0] = next(data[0]); }",
    );
    for kind in ["off-by-one", "off-by-one@last"] {
        let mutation: Mutation = kind.parse().unwrap();
        let planted = mutation.plant(&shader.source.module, "main").unwrap();
        let op = shader.source.module.instruction(assay_spirv::module::InstructionIndex(planted.instruction)).op;
        assert!(op.is_some_and(|op| op != Op::Function), "{kind}: {op:?}");
    }
}
