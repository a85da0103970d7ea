//! Tests of hollow checks, in which no written element could have come out wrong. None of them is a
//! Pass.

use crate::support::{SyntheticTarget, on_each_driver, spoilt, wgsl};
use assay_check::{Check, Expectation, MutatingTarget, Mutation, Options, ShaderSource};
use assay_events::{BindingWrites, CheckResult, Status, Writes};
use assay_exec::DispatchOutput;
use assay_oracle::Slot;

/// A shader in which only invocations with an index below `p.n` write.
fn guarded(guard: &str) -> String {
    format!(
        "struct Params {{ n: u32 }}
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @group(0) @binding(1) var<uniform> p: Params;
        @group(0) @binding(2) var<storage, read> source: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let i = id.x;
            if ({guard}) {{ return; }}
            data[i] = source[i] * 1.5;
        }}"
    )
}

fn with_n(n: &str, rounds: u32) -> Options {
    Options { rounds, inputs: vec![("p".parse().unwrap(), n.parse().unwrap())], ..Options::default() }
}

fn undetermined(result: &CheckResult, why: &str) {
    assert_eq!(result.status, Status::Undetermined, "{result:?}");
    let reason = result.reason.as_deref().unwrap();
    assert!(reason.contains(why) && reason.contains("--input"), "{reason}");
    assert_eq!(result.rounds_checked, 0);
}

#[test]
fn a_shader_whose_guard_excludes_all_invocations_does_not_pass() {
    let text = guarded("p.n < 777u || i >= p.n");
    let result = spoilt(&text, &with_n("=5", 2), |_| {});
    undetermined(&result, "the shader wrote none of 512 elements");
    let reason = result.reason.as_deref().unwrap();
    assert!(reason.contains(": the branch at test.wgsl:7:") && reason.contains("it depends on `p.n`"), "{reason}");
    let why: Vec<_> = result.unjudged.iter().map(|one| (one.round, one.why.as_str())).collect();
    assert_eq!(why, [(0, "wrote nothing"), (1, "wrote nothing")]);
    // Also on a device with an error planted in code that it does not execute.
    let shader = wgsl(&text);
    let check = Check::new(&shader, &with_n("=5", 1)).unwrap();
    let mutation: Mutation = "ulp:1000@OpFMul".parse().unwrap();
    let planted = mutation.plant(&shader.source.module, &check.setup.entry).unwrap();
    on_each_driver(|target| {
        undetermined(&check.run(target).unwrap(), "wrote none");
        undetermined(&check.run(&MutatingTarget::new(target, planted.clone())).unwrap(), "wrote none");
    });
}

/// Undefined behaviour under the device's subgroup layout is neither a failure of the device nor a
/// defect of Assay.
#[test]
fn a_shader_that_is_undefined_in_the_recorded_layout_is_undetermined() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> seats: array<array<u32, 3>>;
        @compute @workgroup_size(8) fn main(
            @builtin(local_invocation_index) i: u32, @builtin(subgroup_id) id: u32,
            @builtin(subgroup_invocation_id) place: u32, @builtin(subgroup_size) size: u32,
        ) {
            seats[i] = array(id, place, size);
            data[select(i, 1000u, i == 1u && place == 0u)] = i;
        }";
    let subgroups = Some(Slot::new(0, 1).into());
    let options = Options { rounds: 1, groups: Some([1; 3]), subgroups, ..Options::default() };
    let shader = wgsl(text);
    let check = Check::new(&shader, &options).unwrap();
    let as_counted = check.run_unconditionally(&SyntheticTarget::default()).unwrap();
    assert_eq!(as_counted.status, Status::Pass, "{as_counted:?}");
    // Invocations 0 and 1 exchange their places.
    let exchanged = SyntheticTarget::spoilt(|output| {
        let seats = output.memory.get_mut(&Slot::new(0, 1)).unwrap();
        (0..4).for_each(|byte| seats.swap(4 + byte, 16 + byte));
    });
    let result = check.run_unconditionally(&exchanged).unwrap();
    assert_eq!((result.status, result.rounds_checked), (Status::Undetermined, 0), "{result:?}");
    let reason = result.reason.as_deref().unwrap();
    assert!(
        reason.starts_with("the shader has undefined behaviour with subgroups of 8 invocations: test.wgsl:8:"),
        "{reason}"
    );
    assert!(result.unjudged[0].why.contains("out of bounds on set 0 binding 0 (data)"), "{result:?}");
}

/// Undefined behaviour in the usual subgroup layout could damage the process of the driver.
#[test]
fn a_shader_that_is_undefined_in_the_usual_layout_does_not_run() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(8) fn main(
            @builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) place: u32,
        ) { data[select(i, 1000u, i == 1u && place == 1u)] = i; }";
    let options = Options { rounds: 1, groups: Some([1; 3]), ..Options::default() };
    let shader = wgsl(text);
    let check = Check::new(&shader, &options).unwrap();
    let target = SyntheticTarget::spoilt(|_| panic!("the device must not run"));
    let result = check.run_unconditionally(&target).unwrap();
    assert_eq!((result.status, result.rounds_checked), (Status::Undetermined, 0), "{result:?}");
    assert!(result.reason.unwrap().contains("undefined behaviour with subgroups of 8 invocations: test.wgsl:4:"));
}

/// An element that is not written must keep its contents.
#[test]
fn a_changed_unwritten_element_fails() {
    let spoil = |output: &mut DispatchOutput| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[0] ^= 1;
    let result = spoilt(&guarded("p.n < 777u || i >= p.n"), &with_n("=5", 1), spoil);
    assert_eq!((result.status, result.elements_failing, result.rounds_checked), (Status::Fail, 1, 1));
}

#[test]
fn few_written_elements_pass_with_counts_and_a_warning() {
    let text = guarded("i >= p.n");
    let shader = wgsl(&text);
    let data = BindingWrites {
        binding: "set 0 binding 0 (data)".to_owned(),
        elements: 256,
        written: 5,
        falsifiable: 5,
        wide: 0,
    };
    on_each_driver(|target| {
        let result = Check::new(&shader, &with_n("=5", 1)).unwrap().run(target).unwrap();
        assert_eq!(result.status, Status::Pass, "{result:?}");
        let writes = result.writes.as_ref().unwrap();
        assert_eq!(*writes, Writes { distinct: writes.distinct, ..Writes::of(vec![data.clone()]) });
        assert_eq!(writes.to_string(), "wrote 5 of 256 elements in 1 of 1 binding");
        let warned = |result: &CheckResult| result.notes.iter().any(|note| note.contains("5 of the 256 elements"));
        assert!(warned(&result), "{:?}", result.notes);
        let most = Check::new(&shader, &with_n("=250", 1)).unwrap().run(target).unwrap();
        assert_eq!((most.status, most.notes.len()), (Status::Pass, 0), "{:?}", most.notes);
    });
    // One of the five written elements is wrong.
    let spoil = |output: &mut DispatchOutput| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[19] ^= 0x10;
    assert_eq!(spoilt(&text, &with_n("=5", 1), spoil).status, Status::Fail);
}

/// The shader writes all elements, and all but one are undetermined.
#[test]
fn a_few_elements_that_can_be_wrong_are_a_pass_with_a_warning() {
    let text = guarded("i >= p.n").replace("source[i] * 1.5", "select(log(-1.0 - abs(source[i])), 2.0, i == 7u)");
    let result = spoilt(&text, &with_n("=256", 1), |_| {});
    assert_eq!(result.status, Status::Pass, "{result:?}");
    let writes = result.writes.as_ref().unwrap();
    assert_eq!((writes.written, writes.falsifiable), (256, 1));
    let what = "only 1 of the 256 elements that the shader may write could have come out wrong, less than 5 %";
    assert!(result.notes.iter().any(|note| note.contains(what)), "{:?}", result.notes);
}

/// Only the second round has very large floats.
/// A loop that never runs leaves all elements written, and says nothing about its body.
#[test]
fn a_pass_of_code_that_never_ran_is_warned_of() {
    let text = guarded("i >= 256u").replace(
        "data[i] = source[i] * 1.5;",
        "var sum = source[i]; for (var k = 0u; k < p.n; k++) { sum = fma(sum, 0.5, sqrt(abs(sum)) + exp(-abs(sum)) * f32(k)); sum = min(sum, 9.0) + max(sum, 1.0) * cos(sum); sum = sum * sum - round(sum) + sin(sum) * 0.25; } data[i] = sum;",
    );
    let result = spoilt(&text, &with_n("=0", 1), |_| {});
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(result.writes.as_ref().unwrap().is_meaningful() && !result.is_meaningful());
    let warning = result.notes.iter().find(|note| note.starts_with("warning: less than half")).unwrap();
    assert!(warning.contains("; the branch at") && warning.contains("it depends on `p.n`"), "{warning}");
    assert!(spoilt(&text, &with_n("=1", 1), |_| {}).is_meaningful());
}

#[test]
fn a_round_without_writes_is_listed() {
    let result = spoilt(&guarded("!(abs(source[i]) > 1e30)"), &Options { rounds: 2, ..Options::default() }, |_| {});
    assert_eq!(result.rounds_text(), "2 rounds; round 0 wrote nothing", "{result:?}");
    assert_eq!(result.status, Status::Pass);
}

#[test]
fn a_round_with_undefined_behaviour_is_listed() {
    let text = guarded("i >= 256u").replace("source[i] * 1.5", "source[i + 1000u * u32(abs(source[i]) > 1e30)]");
    let result = spoilt(&text, &Options { rounds: 2, ..Options::default() }, |_| {});
    assert_eq!((result.status, result.rounds_checked), (Status::Pass, 1), "{result:?}");
    let told = "2 rounds; round 1 was not run because the shader has undefined behaviour with its inputs: out of bounds at \
                test.wgsl:8:";
    let text = result.rounds_text();
    assert!(text.starts_with(told) && !text.contains('\n'), "{text}");
}

/// Undetermined values cannot be wrong, unless the case file expects something of them.
#[test]
fn undetermined_values_do_not_pass() {
    let text = guarded("i >= p.n").replace("source[i] * 1.5", "log(-1.0 - abs(source[i]))");
    let result = spoilt(&text, &with_n("=100", 1), |_| {});
    undetermined(&result, "the shader wrote only undetermined elements, 100 of 256");
    assert_eq!(result.elements_undetermined, 100);
    let bits = |output: &mut DispatchOutput| {
        output.memory.get_mut(&Slot::new(0, 0)).unwrap()[..4].copy_from_slice(&2.5f32.to_le_bytes());
    };
    let expecting = |element: &str, value: &str| {
        let (binding, element, value) = ("data".to_owned(), element.to_owned(), value.to_owned());
        Options { expectations: vec![Expectation { binding, element, value }], ..with_n("=100", 1) }
    };
    assert_eq!(spoilt(&text, &expecting("[0]", "2.5"), bits).status, Status::Pass);
    assert_eq!(spoilt(&text, &expecting("[0]", "2"), bits).status, Status::Fail);
    // The expected value of an unwritten element is its initial value.
    let zeros = Options {
        inputs: vec![
            ("data".parse().unwrap(), "zeros".parse().unwrap()),
            ("p".parse().unwrap(), "=100".parse().unwrap()),
        ],
        ..expecting("[200]", "0")
    };
    undetermined(&spoilt(&text, &zeros, |_| {}), "only undetermined elements");
}

#[test]
fn a_shader_without_output_is_reported_and_not_run() {
    let text = guarded("p.n < 5u").replace("data[i] = source[i] * 1.5;", "if (data[i] > source[i]) { return; }");
    let never = |_: &mut DispatchOutput| panic!("it was run");
    let result = spoilt(&text, &Options::default(), never);
    assert_eq!(result.status, Status::Undetermined);
    assert!(result.reason.unwrap().contains("there is nothing to check"));
}

/// All elements that a subset of workgroups may write count; if it writes none, nothing was
/// checked.
#[test]
fn a_workgroup_subset_without_writes_does_not_pass() {
    let options = |n: &str| Options { groups: Some([64, 1, 1]), checked_invocations: Some(128), ..with_n(n, 1) };
    undetermined(&spoilt(&guarded("i >= p.n"), &options("=0"), |_| {}), "no checked workgroup wrote an element");
    let result = spoilt(&guarded("i >= p.n"), &options("=100000"), |_| {});
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert_eq!(result.writes.unwrap().bindings[0].written, 128);
}

/// `OpUndef`, which compilers make of a variable without a value, in a comparison.
#[test]
fn a_choice_by_a_value_that_was_never_written_is_a_warning() {
    let shader = |first: &str| {
        let text = format!(
            "OpCapability Shader
            OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main \"main\" %id %data
            OpExecutionMode %main LocalSize 64 1 1
            OpDecorate %id BuiltIn GlobalInvocationId
            OpDecorate %array ArrayStride 4
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpDecorate %data DescriptorSet 0
            OpDecorate %data Binding 0
            %void = OpTypeVoid
            %function = OpTypeFunction %void
            %bool = OpTypeBool
            %uint = OpTypeInt 32 0
            %vector = OpTypeVector %uint 3
            %inputs = OpTypePointer Input %vector
            %array = OpTypeRuntimeArray %uint
            %block = OpTypeStruct %array
            %blocks = OpTypePointer StorageBuffer %block
            %words = OpTypePointer StorageBuffer %uint
            %zero = OpConstant %uint 0
            %three = OpConstant %uint 3
            %undef = OpUndef %uint
            %id = OpVariable %inputs Input
            %data = OpVariable %blocks StorageBuffer
            %main = OpFunction %void None %function
            %entry = OpLabel
            %ids = OpLoad %vector %id
            %i = OpCompositeExtract %uint %ids 0
            %is_less = OpULessThan %bool %i {first}
            %least = OpSelect %uint %is_less %i %three
            %element = OpAccessChain %words %data %zero %i
            OpStore %element %i
            OpReturn
            OpFunctionEnd"
        );
        ShaderSource::read("test.spvasm", text.as_bytes()).unwrap()
    };
    let check = |first| {
        let shader = shader(first);
        Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default()).unwrap()
    };
    let is_warning = |note: &String| {
        note.starts_with("warning: the choice at test.spvasm:")
            && note.contains("depends on a value that was never written")
    };
    let result = check("%undef");
    assert!(result.notes.iter().any(is_warning), "{result:?}");
    let result = check("%three");
    assert!(!result.notes.iter().any(is_warning), "{result:?}");
}
