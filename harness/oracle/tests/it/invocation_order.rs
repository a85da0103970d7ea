//! Order of invocations: unordered accesses, and the results and effects of atomics in any order,
//! or in one.

use crate::support::*;
use assay_oracle::{
    AtomicExecution, AtomicHistory, AtomicOrder, CauseKind, Dispatch, Expected, FaultKind, InvocationSubset, Limits,
    Outcome, Program, Slot, SpecValues, Standing,
};
use assay_spirv::Module;
use assay_spirv::module::InstructionIndex;
use assay_spirv::tables::{ImageFormat, Op};
use std::sync::Arc;

/// A shader with an atomic `x`, words `out`, and `g`, `w`, `i`: the invocation, its workgroup and
/// its index there.
fn atomics(body: &str) -> Module {
    wgsl(&format!(
        "struct Words {{ x: atomic<u32>, more: array<atomic<u32>> }}
        @group(0) @binding(0) var<storage, read_write> words: Words;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        var<workgroup> mine: atomic<u32>;
        @compute @workgroup_size(2)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {{
            let w = group.x; let g = w * 2u + i; let x = &words.x;
            {body}
        }}"
    ))
}

fn in_order(module: &Module, groups: u32, order: AtomicOrder) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = [(Slot::new(0, 0), words(&[0; 4])), (Slot::new(0, 1), words(&[9; 8]))].into();
    let dispatch = Dispatch { groups: [groups, 1, 1], bindings, atomic_order: order, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn any(body: &str, groups: u32) -> Outcome {
    in_order(&atomics(body), groups, AtomicOrder::Any)
}

/// An earlier modification stays unordered to other workgroups after its own passes a barrier.
#[test]
fn changes_before_a_barrier_are_without_order_to_other_workgroups() {
    let loaded = "if w == 0u { if i == 0u { atomicAdd(x, 1u); } storageBarrier(); out[g] = atomicLoad(x); }
        else { out[g] = atomicLoad(x); }";
    let outcome = any(loaded, 2);
    assert_eq!(outcome.faults, []);
    assert_eq!(cause(&outcome, 1, 2), CauseKind::Order);
    // Sums of workgroup 1 may come before the store of workgroup 0.
    let stored = "if w == 0u { if i == 0u { atomicStore(x, 100u); } storageBarrier(); }
        atomicAdd(x, 1u);";
    assert_eq!(cause(&any(stored, 2), 0, 0), CauseKind::Order);
    assert_eq!(word(&any(stored, 1), 0, 0), Expected::Exact(102));
}

/// Each of several modifications by one invocation counts.
#[test]
fn several_operations_of_an_invocation_commute_only_if_each_does() {
    let steps = "if i == 0u { atomicAdd(x, 5u); atomicMax(x, 10u); } else { atomicMax(x, 7u); }";
    assert_eq!(cause(&any(steps, 1), 0, 0), CauseKind::Order);
    let store = "if w == 0u && i == 0u { atomicStore(x, 100u); atomicAdd(x, 1u); } if w == 1u { atomicAdd(x, 1u); }";
    assert_eq!(cause(&any(store, 2), 0, 0), CauseKind::Order);
    let sums = "if i == 0u { atomicAdd(x, 5u); atomicSub(x, 1u); } else { atomicAdd(x, 7u); }";
    assert_eq!(word(&any(sums, 1), 0, 0), Expected::Exact(11));
    let alone = "if i == 0u { atomicAdd(x, 5u); atomicMax(x, 10u); }";
    assert_eq!(word(&any(alone, 1), 0, 0), Expected::Exact(10));
}

/// A flag that several invocations raise is raised. The one that finds it raised depends on the
/// order.
#[test]
fn stores_of_one_value_commute() {
    let flag = "atomicStore(x, 7u); if w == 1u { atomicExchange(x, 7u); }";
    assert_eq!((word(&any(flag, 2), 0, 0), any(flag, 2).faults), (Expected::Exact(7), vec![]));
    assert_eq!(cause(&any("atomicStore(x, 7u + i);", 1), 0, 0), CauseKind::Order);
    assert_eq!(cause(&any("atomicStore(x, 7u); atomicAdd(x, 1u);", 1), 0, 0), CauseKind::Order);
    assert_eq!(cause(&any("out[g] = atomicExchange(x, 7u);", 2), 1, 0), CauseKind::Order);
}

/// SPIR-V on a buffer of words: `%first` points to its first one, `%wide` to the same place as 64
/// bits. `%zeroth` is true in the first invocation of a workgroup.
fn assembled(body: &str) -> Outcome {
    assembled_for(2, body)
}

fn assembled_for(groups: u32, body: &str) -> Outcome {
    with_model(groups, "Shader", "GLSL450", body)
}

fn with_model(groups: u32, capability: &str, model: &str, body: &str) -> Outcome {
    let body = format!(
        "%i = OpLoad %uint %index
        %zeroth = OpIEqual %bool %i %none
        %first = OpAccessChain %puint %narrow_words %none %none
        %wide = OpAccessChain %longs %wide_words %none %none
        {body}"
    );
    let shader = Shader {
        head: &format!("OpCapability Int64\nOpCapability Int64Atomics\nOpCapability {capability}"),
        memory_model: &format!("Logical {model}"),
        interface: "%wide_words",
        local_size: 2,
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%narrow_words", "%ublocks")],
        decorations: "OpDecorate %wide_array ArrayStride 8
            OpDecorate %wide_block Block
            OpMemberDecorate %wide_block 0 Offset 0
            OpDecorate %narrow_words Aliased
            OpDecorate %wide_words DescriptorSet 0
            OpDecorate %wide_words Binding 0
            OpDecorate %wide_words Aliased",
        declared: "%long = OpTypeInt 64 0
            %none = OpConstant %uint 0
            %device = OpConstant %uint 1
            %workgroup = OpConstant %uint 2
            %subgroup = OpConstant %uint 3
            %invocation = OpConstant %uint 4
            %acquires = OpConstant %uint 66
            %releases = OpConstant %uint 68
            %ordered = OpConstant %uint 72
            %foreign = OpConstant %uint 1672
            %shares = OpConstant %uint 24648
            %one64 = OpConstant %long 1
            %wide_array = OpTypeRuntimeArray %long
            %wide_block = OpTypeStruct %wide_array
            %wide_blocks = OpTypePointer StorageBuffer %wide_block
            %longs = OpTypePointer StorageBuffer %long
            %wide_words = OpVariable %wide_blocks StorageBuffer",
        body: &body,
        ..Shader::default()
    };
    in_order(&shader.module(), groups, AtomicOrder::Any)
}

fn kinds(outcome: &Outcome) -> Vec<FaultKind> {
    let mut kinds: Vec<_> = outcome.faults.iter().map(|fault| fault.kind).collect();
    kinds.dedup();
    kinds
}

const BRANCH: &str = "OpSelectionMerge %merge None
    OpBranchConditional %zeroth %then %merge
    %then = OpLabel
    ACCESS
    OpBranch %merge
    %merge = OpLabel
    OpControlBarrier %workgroup %workgroup %ordered
    %found = OpAtomicIAdd %uint %first SCOPE %none %one";

/// A barrier orders a plain access before the atomics of its own workgroup only.
#[test]
fn atomics_do_not_hide_plain_accesses_from_other_workgroups() {
    for access in ["OpStore %first %none", "%loaded = OpLoad %uint %first"] {
        let body = BRANCH.replace("ACCESS", access).replace("SCOPE", "%device");
        assert_eq!(kinds(&assembled(&body)), [FaultKind::DataRace], "{access}");
    }
    let body = BRANCH.replace("ACCESS", "%before = OpAtomicIAdd %uint %first %device %none %one");
    let outcome = assembled(&body.replace("SCOPE", "%device"));
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(6));
}

/// Two accesses of which only the earlier one is released before the barrier that acquires: the
/// first invocation reads the word before a release barrier, the second one after it. Only the
/// first read then happens before a later write.
#[test]
fn reads_released_at_several_barriers_do_not_accuse_the_last_reader() {
    let body = |writer: &str| {
        format!(
            "OpSelectionMerge %released None
            OpBranchConditional %zeroth %reads %released
            %reads = OpLabel
            %before = OpLoad %uint %first
            OpBranch %released
            %released = OpLabel
            OpControlBarrier %workgroup %workgroup %releases
            OpSelectionMerge %acquired None
            OpBranchConditional %zeroth %acquired %rereads
            %rereads = OpLabel
            %after = OpLoad %uint %first
            OpBranch %acquired
            %acquired = OpLabel
            OpControlBarrier %workgroup %workgroup %acquires
            %writes = {writer} %bool %i %none
            OpSelectionMerge %merge None
            OpBranchConditional %writes %then %merge
            %then = OpLabel
            OpStore %first %one
            OpBranch %merge
            %merge = OpLabel"
        )
    };
    // The second invocation writes after its own read.
    assert_eq!(kinds(&assembled_for(1, &body("OpINotEqual"))), []);
    // The first one writes after the read of the second, which was not released.
    let raced = assembled_for(1, &body("OpIEqual"));
    assert_eq!(kinds(&raced), [FaultKind::DataRace]);
    assert!(raced.faults[0].detail.contains(" writes here what invocation 1, 0, 0 reads"), "{:?}", raced.faults);
}

/// Vulkan memory model, "Atomic Operation": two are ordered if each is in the instance of the
/// other's scope, and both access the same memory.
#[test]
fn atomics_are_ordered_as_far_as_their_scopes_reach_and_on_the_same_bytes() {
    for (scope, raced) in [("%device", false), ("%workgroup", true), ("%subgroup", true), ("%invocation", true)] {
        let outcome = assembled(&format!("%found = OpAtomicIAdd %uint %first {scope} %none %one"));
        assert_eq!(kinds(&outcome), if raced { vec![FaultKind::DataRace] } else { vec![] }, "{scope}");
    }
    let both = "%found = OpAtomicIAdd %uint %first %device %none %one
        %more = OpAtomicIAdd %long %wide %device %none %one64";
    assert_eq!(kinds(&assembled(both)), [FaultKind::DataRace]);
}

/// Atomics of other invocations count, even if this invocation made the last one.
#[test]
fn an_own_atomic_does_not_hide_those_of_others() {
    let own = "%found = OpAtomicIAdd %uint %first %device %none %one";
    assert_eq!(kinds(&assembled(own)), []);
    for plain in ["%loaded = OpLoad %uint %first", "OpStore %first %one"] {
        assert_eq!(kinds(&assembled(&format!("{own}\n{plain}"))), [FaultKind::DataRace], "{plain}");
    }
    let narrow = "%near = OpAtomicIAdd %uint %first %workgroup %none %one";
    assert_eq!(kinds(&assembled(&format!("{narrow}\n{own}"))), [FaultKind::DataRace]);
}

/// "If A is a release barrier, B is an acquire barrier, and C is a control barrier (where A can
/// equal C, and B can equal C)".
#[test]
fn release_and_acquire_may_stand_on_either_side_of_a_barrier() {
    let (control, fence) = ("OpControlBarrier %workgroup %workgroup", "OpMemoryBarrier %workgroup");
    let plain = "OpControlBarrier %workgroup %workgroup %none";
    let both = format!("{control} %ordered");
    let [release_barrier, acquire_barrier] = ["%releases", "%acquires"].map(|order| format!("{control} {order}"));
    let [release, acquire] = ["%releases", "%acquires"].map(|order| format!("{fence} {order}"));
    let lines = |lines: &[&str]| lines.join("\n");
    for (ordered, between) in [
        (true, both.clone()),
        (true, lines(&[&release_barrier, &acquire_barrier])),
        (true, lines(&[&release, plain, &acquire])),
        (true, lines(&[&release_barrier, &acquire])),
        (true, lines(&[&release, &acquire_barrier])),
        (false, plain.to_owned()),
        (false, format!("{control} %foreign")),
        (false, release_barrier.clone()),
        (false, acquire_barrier.clone()),
        (false, lines(&[&acquire_barrier, &release_barrier])),
    ] {
        // Each stores a word, and loads the word of the other.
        let body = format!(
            "%other = OpISub %uint %one %i
            %own_word = OpAccessChain %puint %narrow_words %none %i
            %other_word = OpAccessChain %puint %narrow_words %none %other
            OpStore %own_word %one
            {between}
            %loaded = OpLoad %uint %other_word"
        );
        let raced = if ordered { vec![] } else { vec![FaultKind::DataRace] };
        assert_eq!(kinds(&assembled_for(1, &body)), raced, "{between}");
    }
}

/// OpAtomicCompareExchange: "store the New Value back through Pointer only if Original Value
/// equaled Comparator". Without a write it does not race with reads. It may write if any invocation
/// modifies the location.
#[test]
fn a_compare_exchange_that_fails_writes_nothing() {
    let compared = "%found = OpAtomicCompareExchange %uint %first %device %none %none %one %workgroup";
    let read = "%second = OpAccessChain %puint %narrow_words %none %one\n%loaded = OpLoad %uint %first";
    for groups in [1, 2] {
        let outcome = assembled_for(groups, &format!("{compared}\n{read}"));
        assert_eq!((kinds(&outcome), word(&outcome, 0, 0)), (vec![], Expected::Exact(0)));
        let changed = format!("OpAtomicStore %first %device %none %workgroup\n{compared}\n{read}");
        assert_eq!(kinds(&assembled_for(groups, &changed)), [FaultKind::DataRace]);
        let succeeds = compared.replace("%workgroup", "%none");
        assert_eq!(kinds(&assembled_for(groups, &format!("{succeeds}\n{read}"))), [FaultKind::DataRace]);
    }
}

/// Vulkan memory model: private accesses are not ordered with those of other invocations in a
/// dispatch, and writes must be made available and visible.
#[test]
fn the_vulkan_memory_model_asks_for_more_than_a_barrier() {
    let with = |fence: &str, (write, order, read): (&str, &str, &str)| {
        let text = format!(
            "{fence}
            %other = OpISub %uint %one %i
            %own_word = OpAccessChain %puint %narrow_words %none %i
            %other_word = OpAccessChain %puint %narrow_words %none %other
            OpStore %own_word %one {write}
            OpControlBarrier %workgroup %workgroup {order}
            %loaded = OpLoad %uint %other_word {read}
            OpControlBarrier %workgroup %workgroup {order}
            OpStore %own_word %loaded {write}"
        );
        with_model(1, "VulkanMemoryModel", "Vulkan", &text)
    };
    let body = |write: &str, order: &str, read: &str| with("", (write, order, read));
    let (shared, full) = ("NonPrivatePointer", "%shares");
    assert_eq!(exact(&body(shared, full, shared), 0)[..2], [1, 1]);
    for (write, read) in [("", shared), (shared, ""), ("", "")] {
        assert_eq!(kinds(&body(write, full, read)), [FaultKind::DataRace], "{write} {read}");
        // Nor does another fence order them.
        let fence = format!("OpMemoryBarrier %device {full}");
        assert_eq!(kinds(&with(&fence, (write, full, read))), [FaultKind::DataRace], "{write} {read}");
    }
    // Ordered, but not made available.
    assert_eq!(cause(&body(shared, "%ordered", shared), 0, 0), CauseKind::PossibleRace);
    let [write, read] = ["MakePointerAvailable", "MakePointerVisible"].map(|by| format!("{by}|{shared} %workgroup"));
    assert_eq!(exact(&body(&write, "%ordered", &read), 0)[..2], [1, 1]);
}

/// A barrier of a subgroup may order accesses on either side of it, but no later access.
#[test]
fn an_earlier_barrier_of_a_subgroup_makes_no_read_certain() {
    for (yes, no) in [("%read", "%write"), ("%write", "%read")] {
        let body = format!(
            "OpControlBarrier %subgroup %subgroup %ordered
            OpControlBarrier %workgroup %workgroup %ordered
            OpSelectionMerge %merge None
            OpBranchConditional %zeroth {yes} {no}
            %read = OpLabel
            %loaded = OpLoad %uint %first
            %second = OpAccessChain %puint %narrow_words %none %one
            OpStore %second %loaded
            OpBranch %merge
            %write = OpLabel
            OpStore %first %workgroup
            OpBranch %merge
            %merge = OpLabel"
        );
        assert_eq!(cause(&assembled_for(1, &body), 0, 1), CauseKind::PossibleRace, "{yes}");
        // Without the barrier it is a race.
        let body = body.replace("OpControlBarrier %subgroup %subgroup %ordered\n", "");
        assert_eq!(kinds(&assembled_for(1, &body)), [FaultKind::DataRace]);
    }
}

/// `UniformMemory` orders buffers, `ImageMemory` images.
#[test]
fn barriers_order_the_memory_that_they_name() {
    for (barrier, raced) in [("textureBarrier", false), ("storageBarrier", true), ("workgroupBarrier", true)] {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @group(0) @binding(1) var image: texture_storage_2d<r32uint, read_write>;
            @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {{
                textureStore(image, vec2(i, 0u), vec4(i + 7u));
                {barrier}();
                out[i] = textureLoad(image, vec2(1u - i, 0u)).x;
            }}"
        );
        let image = plane(ImageFormat::R32ui, [2, 1, 1], vec![0; 8]);
        let outcome = run(&wgsl(&text), [1; 3], vec![words(&[0; 2]), image]);
        assert_eq!(kinds(&outcome), if raced { vec![FaultKind::DataRace] } else { vec![] }, "{barrier}");
        if !raced {
            assert_eq!(exact(&outcome, 0), [8, 7]);
        }
    }
}

/// The values that each invocation's execution of the module's only atomic with a result found.
fn observed(module: &Module, found: &[&[u64]]) -> AtomicOrder {
    let atomic = |op: Option<Op>| op.is_some_and(|op| op.name().starts_with("OpAtomic"));
    let mut all = module.instructions().filter(|i| atomic(i.op) && i.result().is_some());
    let (one, more) = (all.next().expect("an atomic").index, all.next());
    assert!(more.is_none(), "one atomic");
    let mut observed = AtomicHistory::default();
    for (invocation, bits) in (0..).zip(found) {
        let executions = bits.iter().map(|found| AtomicExecution { found: *found, operand: None }).collect();
        observed.insert(InstructionIndex(one.0), invocation, executions);
    }
    AtomicOrder::Recorded(Arc::new(observed))
}

/// Positions in an append buffer are determined under the observed order.
#[test]
fn recorded_values_determine_the_results_that_depend_on_them() {
    let append = atomics("let at = atomicAdd(x, 1u); out[at] = g;");
    let unknown = in_order(&append, 2, AtomicOrder::Any);
    assert!(unknown.depends_on_order());
    let outcome = in_order(&append, 2, observed(&append, &[&[2], &[0], &[3], &[1]]));
    assert_eq!(exact(&outcome, 1), [1, 3, 0, 2, 9, 9, 9, 9]);
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(4));
    assert_eq!(outcome.disorder, []);
    assert!(!outcome.depends_on_order());
}

/// In the order of the interpretation each atomic finds what the one before it left. Workgroups that
/// are not interpreted have no influence, and sums of floats still cover every order.
#[test]
fn the_order_of_the_interpretation_determines_the_results_that_depend_on_it() {
    let append = atomics("let at = atomicAdd(x, g + 1u); out[g] = at;");
    let outcome = in_order(&append, 2, AtomicOrder::Interpreted);
    assert_eq!(exact(&outcome, 1)[..4], [0, 1, 3, 6]);
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(10));
    assert!(!outcome.depends_on_order());
    let program = Program::new(&append, "main", &SpecValues::new()).expect("a program");
    let bindings = [(Slot::new(0, 0), words(&[5])), (Slot::new(0, 1), words(&[9; 4]))].into();
    let (only, atomic_order) = (Some(InvocationSubset::of_workgroups([1])), AtomicOrder::Interpreted);
    let dispatch = Dispatch { groups: [2, 1, 1], bindings, only, atomic_order, ..Dispatch::default() };
    let outcome = program.run(&dispatch, &Limits::default()).expect("an outcome");
    assert_eq!(exact(&outcome, 1)[2..], [5, 8]);
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(12));
}

/// An atomic with several permitted operands left the recorded one. A recorded operand that is not
/// permitted is reported.
#[test]
fn recorded_operands_are_compared_with_their_permitted_sets() {
    // A third is rounded either way.
    let module = atomics("out[g] = atomicExchange(x, bitcast<u32>(f32(i + 1u) / 3.0));");
    let at = module.instructions().find(|i| i.op == Some(Op::AtomicExchange)).expect("an exchange").index;
    let judge = |given: [u32; 2]| {
        let mut observed = AtomicHistory::default();
        for (invocation, (found, given)) in [(given[1], given[0]), (0, given[1])].into_iter().enumerate() {
            let execution = AtomicExecution { found: found.into(), operand: Some(given.into()) };
            observed.insert(InstructionIndex(at.0), invocation as u64, vec![execution]);
        }
        in_order(&module, 1, AtomicOrder::Recorded(Arc::new(observed)))
    };
    let (third, thirds) = ((1.0f32 / 3.0).to_bits(), (2.0f32 / 3.0).to_bits());
    let outcome = judge([third, thirds]);
    assert_eq!((&outcome.wrong_operands[..], &outcome.disorder[..]), (&[][..], &[][..]));
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(third.into()));
    assert_eq!(exact(&outcome, 1)[..2], [thirds, 0]);
    let outcome = judge([third + 9, thirds]);
    let [wrong] = &outcome.wrong_operands[..] else { panic!("{:?}", outcome.wrong_operands) };
    assert_eq!((wrong.invocation, wrong.found, wrong.bits), (0, thirds.into(), u64::from(third) + 9));
    assert_eq!((wrong.standing, wrong.expected.judge(None, third.into())), (Standing::Outside, Standing::Within));
    assert_eq!(outcome.disorder, []);
}

/// An index that has two permitted values leaves the other locations known, and both of its own with
/// and without the operation.
#[test]
fn an_atomic_on_one_of_two_locations_changes_no_other() {
    let index = "let k = u32(exp2(f32(out[7]))) - 511u; ";
    let once = any(&format!("{index} if i == 0u {{ atomicAdd(&words.more[k], 5u); out[0] = 3u; }}"), 1);
    let either = Expected::OneOf(vec![0, 5]);
    assert_eq!([0, 1, 2, 3].map(|at| word(&once, 0, at)), {
        [Expected::Exact(0), either.clone(), either, Expected::Exact(0)]
    });
    assert_eq!(word(&once, 1, 0), Expected::Exact(3));
    assert_eq!(once.possible_faults, []);
    // Both invocations may hit either location.
    let twice = format!("{index} atomicAdd(&words.more[k], 5u);");
    let in_one_order = in_order(&atomics(&twice), 1, AtomicOrder::Interpreted);
    assert_eq!(word(&in_one_order, 0, 1), Expected::OneOf(vec![0, 5, 10]));
    assert_eq!(cause(&any(&twice, 1), 0, 1), CauseKind::Order);
    // One of the locations is beyond the memory, so that anything may follow.
    let beyond = any(&format!("{index} if i == 0u {{ atomicAdd(&words.more[k + 2u], 5u); }}"), 1);
    assert_ne!((beyond.faults.len(), beyond.possible_faults.len()), (0, 0));
    assert_ne!(word(&beyond, 0, 0), Expected::Exact(0));
}

/// Atomics with an operand of several permitted values leave what each of them would.
#[test]
fn an_imprecise_operand_leaves_a_set() {
    let in_one_order = |body: &str| in_order(&atomics(body), 1, AtomicOrder::Interpreted);
    let sum = in_one_order("atomicAdd(x, u32(exp2(f32(out[7]))));");
    assert_eq!(word(&sum, 0, 0), Expected::OneOf(vec![1022, 1023, 1024]));
    // The bits of positive floats are ordered as these are.
    let first = "if i == 0u { atomicStore(x, 0x7f800000u); } storageBarrier();";
    let least = in_one_order(&format!("{first} atomicMin(x, bitcast<u32>(exp2(f32(out[7] + i))));"));
    let least = word(&least, 0, 0);
    let is_within = |x: f32| least.judge(None, x.to_bits().into()) == Standing::Within;
    assert_eq!([512.0, 512.0005, 512.01, 1024.0].map(is_within), [true, true, false, false], "{least:?}");
}

/// Exchanges leave the last one's value, which the order determines.
#[test]
fn the_order_determines_the_value_that_is_left() {
    let exchange = atomics("out[g] = atomicExchange(x, g + 1u);");
    let outcome = in_order(&exchange, 2, observed(&exchange, &[&[3], &[0], &[2], &[1]]));
    assert_eq!(outcome.disorder, []);
    // 1 leaves 2, 2 leaves 3, 0 leaves 1, 3 leaves 4.
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(4));
    assert_eq!(exact(&outcome, 1)[..4], [3, 0, 2, 1]);
    // In a loop each execution counts.
    let claim = atomics(
        "var at = g % 2u; loop { let had = atomicCompareExchangeWeak(&words.more[at], 0u, g + 1u).old_value;
            if had == 0u { out[g] = at; break; } at = (at + 1u) % 3u; }",
    );
    let outcome = in_order(&claim, 1, observed(&claim, &[&[0], &[0]]));
    assert_eq!((outcome.disorder.len(), exact(&outcome, 1)[..2].to_vec()), (0, vec![0, 1]));
    let claim = atomics(
        "var at = 0u; loop { let had = atomicCompareExchangeWeak(&words.more[at], 0u, g + 1u).old_value;
            if had == 0u { out[g] = at; break; } at = at + 1u; }",
    );
    let outcome = in_order(&claim, 1, observed(&claim, &[&[2, 0], &[0]]));
    assert_eq!((outcome.disorder.len(), exact(&outcome, 1)[..2].to_vec()), (0, vec![1, 0]));
    assert_eq!((1..4).map(|i| word(&outcome, 0, i)).collect::<Vec<_>>(), [2, 1, 0].map(Expected::Exact));
}

/// Two atomics that found the same value, one that found a value that none left, and one whose
/// modification was lost.
#[test]
fn values_without_a_modification_order_are_reported() {
    let append = atomics("let at = atomicAdd(x, 1u); out[g] = at;");
    for found in [[0, 1, 1, 2], [0, 1, 2, 4], [1, 2, 3, 4], [0, 0, 0, 0]] {
        let executions = found.map(|bits| [bits]);
        let outcome = in_order(&append, 2, observed(&append, &executions.each_ref().map(|one| &one[..])));
        let [disorder] = &outcome.disorder[..] else { panic!("{found:?}: {:?}", outcome.disorder) };
        assert_eq!((disorder.slot, disorder.offset, disorder.width), (Some(Slot::new(0, 0)), 0, 32));
        assert_eq!((disorder.first, disorder.steps.len()), (0, 4));
    }
    // Workgroup memory as well, which each workgroup has for itself.
    let own = atomics("if i == 0u { atomicStore(&mine, 5u); } workgroupBarrier(); out[g] = atomicAdd(&mine, 1u);");
    let outcome = in_order(&own, 2, observed(&own, &[&[5], &[6], &[6], &[5]]));
    assert_eq!((outcome.disorder.len(), exact(&outcome, 1)[..4].to_vec()), (0, vec![5, 6, 6, 5]));
    let outcome = in_order(&own, 2, observed(&own, &[&[5], &[6], &[5], &[5]]));
    let [disorder] = &outcome.disorder[..] else { panic!("{:?}", outcome.disorder) };
    assert_eq!((disorder.slot, disorder.first, disorder.steps.len()), (None, 5, 2));
}

/// A store does not record the value it found, but the values that others found determine its
/// position.
#[test]
fn a_store_has_its_place_in_the_order() {
    // The first body is interpreted first.
    let bodies = [
        "if i == 0u { atomicStore(x, 100u); } else { out[g] = atomicAdd(x, 1u); }",
        "if i == 1u { out[g] = atomicAdd(x, 1u); } else { atomicStore(x, 100u); }",
    ];
    for body in bodies {
        let store = atomics(body);
        for (found, end) in [(0, 100), (100, 101)] {
            let outcome = in_order(&store, 1, observed(&store, &[&[], &[found]]));
            assert_eq!(outcome.disorder, [], "{body} {found}");
            assert_eq!(word(&outcome, 1, 1), Expected::Exact(found), "{body}");
            assert_eq!(word(&outcome, 0, 0), Expected::Exact(end), "{body} {found}");
        }
        let outcome = in_order(&store, 1, observed(&store, &[&[], &[7]]));
        let [disorder] = &outcome.disorder[..] else { panic!("{body}: {:?}", outcome.disorder) };
        assert_eq!((disorder.steps.len(), &disorder.stores[..]), (1, &[100][..]));
    }
    // With several stores, any that no other one follows may be the last.
    let several = atomics("if i == 0u { atomicStore(x, g + 1u); } else { out[g] = atomicLoad(x); }");
    let outcome = in_order(&several, 2, observed(&several, &[&[], &[3], &[], &[0]]));
    assert_eq!(outcome.disorder, []);
    assert_eq!([1, 3].map(|i| word(&outcome, 1, i)), [3, 0].map(Expected::Exact));
    assert_eq!(cause(&outcome, 0, 0), CauseKind::Order);
    let outcome = in_order(&several, 2, observed(&several, &[&[], &[2], &[], &[0]]));
    assert_eq!(outcome.disorder.len(), 1);
}

/// Atomics before a barrier precede those after it.
#[test]
fn an_order_does_not_reach_past_a_barrier() {
    let body = "let had = atomicExchange(&mine, i + 1u); workgroupBarrier(); out[g] = atomicExchange(&mine, had + 7u);";
    let own = atomics(&format!("if i == 0u {{ atomicStore(&mine, 0u); }} workgroupBarrier(); {body}"));
    let exchanges: Vec<InstructionIndex> =
        own.instructions().filter(|i| i.op == Some(Op::AtomicExchange)).map(|i| i.index).collect();
    let judge = |found: [[u64; 2]; 2]| {
        let mut observed = AtomicHistory::default();
        for (invocation, found) in found.into_iter().enumerate() {
            for (at, found) in exchanges.iter().zip(found) {
                observed.insert(
                    InstructionIndex(at.0),
                    invocation as u64,
                    vec![AtomicExecution { found, operand: None }],
                );
            }
        }
        in_order(&own, 1, AtomicOrder::Recorded(Arc::new(observed)))
    };
    // 0 to 1 to 2; then 2 to 7 + 1, and that to 7 + 0.
    let outcome = judge([[0, 8], [1, 2]]);
    assert_eq!((outcome.disorder.len(), exact(&outcome, 1)[..2].to_vec()), (0, vec![8, 2]));
    // One order of all of them exists, but across the barrier: 0 to 1, that to 7, 7 to 2, 2 to
    // 14.
    assert!(!judge([[0, 1], [7, 2]]).disorder.is_empty());
}

/// If the value that one atomic found is unknown, no record is used.
#[test]
fn an_order_with_a_gap_is_not_used() {
    let append = atomics("let at = atomicAdd(x, 1u); out[g] = at;");
    let outcome = in_order(&append, 2, observed(&append, &[&[0], &[], &[2], &[3]]));
    assert_eq!(outcome.disorder, []);
    assert_eq!((0..4).map(|i| cause(&outcome, 1, i)).collect::<Vec<_>>(), [CauseKind::Order; 4]);
    assert_eq!(word(&outcome, 0, 0), Expected::Exact(4));
}

/// Sums of floats leave the results of adding in any order, with their roundings; in sequence, the
/// permitted results of each addition.
#[test]
fn sums_of_floats_leave_the_values_of_every_order() {
    let sums = |body: &str, local_size: u32, groups: u32, given: &[f32]| {
        let module = Shader {
            head: "OpCapability AtomicFloat32AddEXT\nOpCapability RoundingModeRTE\nOpExtension \"SPV_EXT_shader_atomic_float_add\"",
            interface: "%group",
            modes: "OpExecutionMode %main RoundingModeRTE 32",
            local_size,
            inputs: &[("%at", "LocalInvocationIndex")],
            buffers: &[("%in", "%fblocks"), ("%out", "%fblocks")],
            decorations: "OpDecorate %group BuiltIn WorkgroupId",
            declared: "%v3uint = OpTypeVector %uint 3
                %pv3 = OpTypePointer Input %v3uint
                %group = OpVariable %pv3 Input",
            body: &format!(
                "%i = OpLoad %uint %at
                %g = OpLoad %v3uint %group
                %gx = OpCompositeExtract %uint %g 0
                %gi = OpIMul %uint %gx %two
                %k = OpIAdd %uint %gi %i
                %from = OpAccessChain %pfloat %in %zero %k
                %x = OpLoad %float %from
                %to = OpAccessChain %pfloat %out %zero %zero
                {body}"
            ),
            ..Shader::default()
        }
        .module();
        run(&module, [groups, 1, 1], vec![floats(given), floats(&[0.0; 8])])
    };
    let add = "%old = OpAtomicFAddEXT %float %to %one %zero %x";
    // In pairs of workgroups: 1 is lost next to 10^8, or is not.
    for (local_size, groups) in [(2, 2), (4, 1)] {
        let outcome = sums(add, local_size, groups, &[1e8, 1.0, -1e8, 1.0]);
        for (sum, permitted) in [(2.0, true), (1.0, true), (0.0, true), (1000.0, false)] {
            assert_eq!(permits(&outcome, 1, 0, sum), permitted, "{sum} of {:?}", word(&outcome, 1, 0));
        }
        let exact = sums(add, local_size, groups, &[0.5, 1.0, 2.0, 4.0]);
        assert!(permits(&exact, 1, 0, 7.5) && !permits(&exact, 1, 0, 7.25), "{:?}", word(&exact, 1, 0));
    }
    let twice = format!("{add}\n%again = OpAtomicFAddEXT %float %to %one %zero %x");
    let alone = sums(&twice, 1, 1, &[0.1]);
    assert!(permits(&alone, 1, 0, 0.2) && !permits(&alone, 1, 0, 0.2f32.next_up()), "{:?}", word(&alone, 1, 0));
    // The value that each found depends on the order.
    let found = sums(&format!("{add}\n%b = OpAccessChain %pfloat %out %zero %k\nOpStore %b %old"), 2, 1, &[1.0, 2.0]);
    assert_eq!(cause(&found, 1, 1), CauseKind::Order);
}
