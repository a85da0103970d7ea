//! Subgroup instructions with a known layout, and with an unknown one.

use crate::support::*;
use assay_oracle::{
    CauseKind, Dispatch, Expected, FaultKind, Limits, Outcome, Program, Slot, SpecValues, SubgroupLayout,
    SubgroupPosition,
};
use assay_spirv::Module;
use assay_spirv::edit::instruction;
use assay_spirv::tables::{ExecutionMode, Op};

fn subgroup(body: &str, linear: bool) -> Outcome {
    dispatch(&compiled(body), linear)
}

fn compiled(body: &str) -> Module {
    wgsl(&format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        fn pick(i: u32) -> u32 {{ if i < 3u {{ return 1u; }} return 2u; }}
        fn deep(i: u32) -> u32 {{ return pick(i); }}
        fn level(i: u32) -> u32 {{ var p = 2u; if i < 3u {{ p = 1u; }} return p; }}
        @compute @workgroup_size(16)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) s: u32) {{ {body} }}"
    ))
}

/// Runs the body with maximal reconvergence.
fn reconverging(body: &str) -> Outcome {
    let module = compiled(body);
    let mode = module.instructions().find(|i| i.op == Some(Op::ExecutionMode)).expect("an execution mode");
    let (mut words, behind) = (module.words().to_vec(), mode.at + mode.words.len());
    let more = instruction(Op::ExecutionMode, &[mode.words[1], ExecutionMode::MaximallyReconvergesKHR.word()]);
    words.splice(behind..behind, more);
    dispatch(&Module::parse(words).expect("a module"), true)
}

fn dispatch(module: &Module, linear: bool) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let bindings = [(Slot::new(0, 0), words(&[0; 16]))].into();
    let dispatch = Dispatch {
        bindings,
        subgroup_size: 8,
        layout: if linear { SubgroupLayout::Linear } else { SubgroupLayout::Unknown },
        ..Dispatch::default()
    };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn linear(body: &str) -> Vec<u32> {
    exact(&subgroup(body, true), 0)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..16).map(f).collect()
}

#[test]
fn extremes_of_floats() {
    let of = |extreme: &str, bits: &str| format!("out[i] = bitcast<u32>({extreme}(bitcast<f32>({bits})));");
    // Zeros, and numbers from 1 on: a zero is the least, and not the greatest.
    let from_zero = "select(0u, 0x3f800000u + s, s > 2u)";
    assert_eq!(linear(&of("subgroupMax", from_zero)), [0x3f80_0007; 16]);
    let open = |body: &str| cause(&subgroup(body, true), 0, 0);
    assert_eq!(open(&of("subgroupMin", from_zero)), CauseKind::Precision);
    // Denormals.
    assert_eq!(open(&of("subgroupMax", "s")), CauseKind::Precision);
}

#[test]
fn sums_scans_and_shuffles() {
    assert_eq!(linear("out[i] = subgroupAdd(i);"), each(|i| if i < 8 { 28 } else { 92 }));
    assert_eq!(linear("out[i] = subgroupInclusiveAdd(i);"), each(|i| (i / 8 * 8..=i).sum()));
    assert_eq!(linear("out[i] = subgroupExclusiveMul(s + 1u);"), each(|i| (1..=i % 8).product()));
    assert_eq!(linear("out[i] = subgroupMax(i ^ 5u);"), each(|i| if i < 8 { 7 } else { 15 }));
    assert_eq!(linear("out[i] = subgroupShuffleXor(i * 10u, 3u);"), each(|i| (i ^ 3) * 10));
    assert_eq!(linear("out[i] = subgroupBroadcast(i, 2u);"), each(|i| i / 8 * 8 + 2));
    assert_eq!(linear("out[i] = subgroupBallot((i & 1u) == 1u).x;"), each(|_| 0xaa));
    assert_eq!(
        linear("out[i] = select(0u, 1u, subgroupAll(i < 8u)) + select(0u, 2u, subgroupAny(i == 9u));"),
        each(|i| if i < 8 { 1 } else { 2 })
    );
    assert_eq!(linear("out[i] = quadSwapX(i) * 100u + quadBroadcast(i, 3u);"), each(|i| (i ^ 1) * 100 + i / 4 * 4 + 3));
}

#[test]
fn an_unknown_layout_determines_only_common_results() {
    let outcome = subgroup("out[i] = subgroupAdd(1u);", false);
    assert_eq!(cause(&outcome, 0, 3), CauseKind::SubgroupLayout);
    assert_eq!(exact(&subgroup("out[i] = subgroupMax(7u);", false), 0), [7; 16]);
    assert_eq!(cause(&subgroup("out[i] = s;", false), 0, 0), CauseKind::SubgroupLayout);
}

/// Invocations that follow the same path since all were together take part. After that the
/// participants are known only where all reconverge.
#[test]
fn participants_are_known_from_the_path() {
    let one = |body: &str| exact(&subgroup(body, true), 0);
    let open = |body: &str, element: usize| cause(&subgroup(body, true), 0, element);
    let branch = "var r = 0u; if i < 4u { r = subgroupAdd(1u); } out[i] = r;";
    assert_eq!(one(branch), each(|i| if i < 4 { 4 } else { 0 }));
    // The whole subgroup, but some of it arrived on another path.
    let inner =
        "var v = 0u; if i < 8u { if s < 4u { v = 100u; } else { v = 200u; } v = v + subgroupAdd(1u); } out[i] = v;";
    assert_eq!(open(inner, 0), CauseKind::Reconvergence);
    assert_eq!(word(&subgroup(inner, true), 0, 9), assay_oracle::Expected::Exact(0));
    // The whole workgroup has reconverged.
    let merged = "var v = 1u; if s < 4u { v = 100u; } out[i] = subgroupAdd(v);";
    assert_eq!(one(merged), [404; 16]);
    // Invocations that stay in a loop follow the same path; those that leave it meet at its end.
    let leaving =
        "var v = 0u; for (var k = 0u; k < 4u; k++) { if s == k { break; } v = v * 16u + subgroupAdd(1u); } out[i] = v;";
    assert_eq!(one(leaving), each(|i| [0, 0x7, 0x76, 0x765, 0x7654][(i % 8).min(4) as usize]));
    let after = "for (var k = 0u; k < s; k++) { } out[i] = subgroupAdd(1u);";
    assert_eq!(one(after), [8; 16]);
    let skipping = "var v = 0u; for (var k = 0u; k < 2u; k++) { if s == 0u { continue; } if i > 99u { v = 1u; } } out[i] = subgroupAdd(1u) + v;";
    assert_eq!(one(skipping), [8; 16]);
    // Not all leave the selection at its end.
    let gone = "if i == 15u { return; } var v = 1u; if s < 4u { v = 100u; } out[i] = subgroupAdd(v);";
    assert_eq!(open(gone, 0), CauseKind::Reconvergence);
    // Cases of a selection that lead to one block are one path.
    let cases = "var v = 0u; switch s { case 0u, 1u, 2u: { v = subgroupAdd(1u); } default: { } } out[i] = v;";
    assert_eq!(one(cases), each(|i| if i % 8 < 3 { 3 } else { 0 }));
    // Leaving a function on several paths separates invocations. A call that is left on one path,
    // or a construct around it, is one path.
    let called = "let p = pick(s); out[i] = p + subgroupAdd(1u);";
    assert_eq!(open(called, 0), CauseKind::Reconvergence);
    let same = "let p = pick(0u); out[i] = p + subgroupAdd(1u);";
    assert_eq!(one(same), [9; 16]);
    let around = "var p = 0u; if i < 99u { p = pick(s); } out[i] = p + subgroupAdd(1u);";
    assert_eq!(one(around), each(|i| if i % 8 < 3 { 9 } else { 10 }));
    let within = "var p = 0u; if i < 99u { p = pick(s) + subgroupAdd(1u); } out[i] = p;";
    assert_eq!(open(within, 0), CauseKind::Reconvergence);
    // Invocations that were apart before a construct are not together at its end.
    let later = "let p = pick(s); var v = 0u; if s % 3u == 0u { v = 1u; } out[i] = p + v + subgroupAdd(1u);";
    assert_eq!(open(later, 0), CauseKind::Reconvergence);
    let deeper = "let p = deep(s); out[i] = p + subgroupAdd(1u);";
    assert_eq!(open(deeper, 0), CauseKind::Reconvergence);
    assert_eq!(one("let p = level(s); out[i] = p + subgroupAdd(1u);"), each(|i| if i % 8 < 3 { 9 } else { 10 }));
    // Invocations that left the first iteration on another path are not together with the others in
    // the second one.
    let another = "var v = 0u;
        for (var k = 0u; k < 2u; k++) { if k == 0u && s < 2u { continue; } if k == 1u { v = subgroupAdd(1u); } }
        out[i] = v + subgroupAdd(1u) * 100u;";
    assert_eq!(open(another, 3), CauseKind::Reconvergence);
    let turns = another.replace("v + subgroupAdd(1u) * 100u", "subgroupAdd(1u)");
    assert_eq!(one(&turns), [8; 16]);
}

/// SPV_KHR_shader_ballot: "The Index must be the same for all active invocations in the subgroup,
/// otherwise the results are undefined."
#[test]
fn a_broadcast_gives_all_invocations_one_value() {
    let read = |of: &str| {
        let module = compiled(&format!("out[i] = subgroupShuffle(i * 10u, {of});"));
        let shuffle = module.instructions().find(|i| i.op == Some(Op::GroupNonUniformShuffle)).expect("a shuffle");
        let [_, ty, result, _, value, index] = *shuffle.words else { unreachable!("six words") };
        let (mut words, at) = (module.words().to_vec(), shuffle.at);
        let read = instruction(Op::SubgroupReadInvocationKHR, &[ty, result, value, index]);
        words.splice(at..at + shuffle.words.len(), read);
        dispatch(&Module::parse(words).expect("a module"), true)
    };
    assert_eq!(exact(&read("i / 8u + 3u"), 0), each(|i| (i / 8 * 8 + i / 8 + 3) * 10));
    let (own, none) = (read("s"), read("8u"));
    assert_eq!((cause(&own, 0, 3), cause(&none, 0, 3)), (CauseKind::Unspecified, CauseKind::Unspecified));
    assert_eq!(own.faults, []);
}

/// "Considering only the bits in Value required to represent all bits of the scope restricted
/// tangle": up to its last invocation, or the subgroup's.
#[test]
fn bits_of_a_ballot_beyond_the_tangle_may_count() {
    let of = |instruction: &str, mask: u32| {
        let module = Shader {
            head: "OpCapability GroupNonUniformBallot",
            local_size: 16,
            inputs: &[("%index", "LocalInvocationIndex")],
            buffers: &[("%out", "%ublocks")],
            declared: &format!(
                "%four = OpTypeVector %uint 4
                %three = OpConstant %uint 3
                %limit = OpConstant %uint 4
                %eight = OpConstant %uint 8
                %bits = OpConstant %uint {mask}
                %mask = OpConstantComposite %four %bits %zero %zero %zero"
            ),
            body: &format!(
                "%i = OpLoad %uint %index
                %s = OpUMod %uint %i %eight
                %low = OpULessThan %bool %s %limit
                OpSelectionMerge %end None
                OpBranchConditional %low %then %end
                %then = OpLabel
                %found = {instruction} %mask
                OpBranch %end
                %end = OpLabel
                %r = OpPhi %uint %found %then %zero %entry
                %at = OpAccessChain %puint %out %zero %i
                OpStore %at %r"
            ),
            ..Shader::default()
        };
        dispatch(&module.module(), true)
    };
    let count = "OpGroupNonUniformBallotBitCount %uint %three Reduce";
    let (least, most) = ("OpGroupNonUniformBallotFindLSB %uint %three", "OpGroupNonUniformBallotFindMSB %uint %three");
    let element = |instruction: &str, mask: u32| word(&of(instruction, mask), 0, 9);
    assert_eq!((element(count, 0xff), element(count, 0xb)), (Expected::OneOf(vec![4, 8]), Expected::Exact(3)));
    assert_eq!((element(most, 0xff), element(least, 0xfa)), (Expected::OneOf(vec![3, 7]), Expected::Exact(1)));
    assert_eq!(cause(&of(least, 0xf0), 0, 9), CauseKind::Unspecified);
}

/// The value from a missing invocation is undefined, but some value. "If Condition is an OpUndef,
/// behavior is undefined" concerns OpUndef only, so either path is taken.
#[test]
fn an_undefined_result_of_a_shuffle_may_decide_a_branch() {
    let branch = |other: &str| {
        subgroup(&format!("var v = {other}; if subgroupShuffleUp(i, 1u) > 3u {{ v = 1u; }} out[i] = v;"), true)
    };
    let (same, another) = (branch("1u"), branch("2u"));
    assert_eq!((exact(&same, 0), same.faults), (vec![1; 16], Vec::new()));
    assert_eq!(another.faults, []);
    assert_eq!([0, 8].map(|i| word(&another, 0, i)), [0, 8].map(|_| Expected::OneOf(vec![1, 2])));
    assert_eq!(word(&another, 0, 1), Expected::Exact(2));
}

/// SPV_KHR_maximal_reconvergence: invocations that execute an instruction together are one tangle,
/// but "invocations with different 'Selector' values executing the same 'case construct' may be
/// partitioned into the same tangle".
#[test]
fn maximal_reconvergence_leaves_open_who_is_together_in_a_case() {
    let inner = "var v = 0u; if i < 8u { if s < 4u { v = 100u; } v = v + subgroupAdd(1u); } out[i] = v;";
    assert_eq!(exact(&reconverging(inner), 0), each(|i| [108, 8, 0][(i / 4).min(2) as usize]));
    let several = "var v = 0u; switch s { case 0u, 1u, 2u: { v = subgroupAdd(1u); } default: { } } out[i] = v;";
    let case = reconverging(several);
    assert_eq!(cause(&case, 0, 0), CauseKind::Reconvergence);
    assert_eq!(word(&case, 0, 3), Expected::Exact(0));
    let one = several.replace("case 0u, 1u, 2u", "case 2u");
    assert_eq!(exact(&reconverging(&one), 0), each(|i| u32::from(i % 8 == 2)));
    // After it all are together.
    let behind = "var v = 0u; switch s { case 0u, 1u: { v = 1u; } default: { } } out[i] = subgroupAdd(1u) + v;";
    assert_eq!(exact(&reconverging(behind), 0), each(|i| if i % 8 < 2 { 9 } else { 8 }));
    // Also in the continue construct of a loop, where a barrier may be.
    let continued = "var k = 0u; loop { if s < 3u { continue; } out[i] = 1u;
        continuing { workgroupBarrier(); k += 1u; break if k == 2u; } }";
    assert_eq!(reconverging(continued).faults, []);
    assert_eq!(subgroup(continued, true).faults.first().map(|f| f.kind), Some(FaultKind::DivergentBarrier));
}

/// "The instructions in a break block will execute as if they were still diverged according to the
/// loop iteration" (SPV_KHR_maximal_reconvergence).
#[test]
fn a_break_block_is_executed_by_the_lanes_of_one_iteration() {
    let body = "var k = 0u; loop { if k == s / 2u { out[i] = subgroupAdd(1u); break; } k += 1u; }";
    assert_eq!(exact(&reconverging(body), 0), each(|_| 2));
    let last = "var k = 0u; loop { if k != s / 2u { k += 1u; continue; } out[i] = subgroupAdd(1u); break; }";
    assert_eq!(exact(&reconverging(last), 0), each(|_| 2));
    // All lanes leave in one iteration.
    let one = body.replace("s / 2u", "3u");
    assert_eq!(exact(&reconverging(&one), 0), each(|_| 8));
    // An iteration that some lanes cut short ends for all of them together.
    let continued = "var k = 0u; loop { if k == s { continue; } continuing { k += 1u;
        out[i] = subgroupAdd(1u); break if k == 9u; } }";
    assert_eq!(exact(&reconverging(continued), 0), each(|_| 8));
}

/// Positions dealt out in turns, from the last one on, in another order than the invocations.
#[test]
fn a_recorded_layout_decides_who_is_where() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(10)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) s: u32) {
            out[i] = subgroupBroadcastFirst(i) * 10000u + subgroupExclusiveAdd(i) * 100u + countOneBits(subgroupBallot(true).x) * 10u + s;
        }";
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let seat = |i: u32| SubgroupPosition { subgroup: i % 3, place: 3 - i / 3 };
    let run = |seats: Vec<SubgroupPosition>| {
        let bindings = [(Slot::new(0, 0), words(&[0; 10]))].into();
        let layout = SubgroupLayout::recorded(seats, 10, 4).unwrap_or_else(|e| panic!("{e}"));
        let dispatch = Dispatch { bindings, subgroup_size: 4, layout, ..Dispatch::default() };
        program.run(&dispatch, &Limits::default())
    };
    let expected = (0..10).map(|i: u32| {
        let members: Vec<u32> = (0..10).filter(|j| j % 3 == i % 3).collect();
        let before: u32 = members.iter().filter(|j| seat(**j).place < seat(i).place).sum();
        members[members.len() - 1] * 10_000 + before * 100 + members.len() as u32 * 10 + seat(i).place
    });
    let outcome = run((0..10).map(seat).collect()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(exact(&outcome, 0), expected.collect::<Vec<_>>());
    // The layout of two workgroups, for a dispatch of one.
    assert!(run((0..20).map(|i| seat(i % 10)).collect()).is_err());
}

/// Results that depend on the layout have their cause where the built-in is read, in every
/// workgroup.
#[test]
fn the_cause_is_where_the_built_in_is_read() {
    let shader = Shader {
        head: "OpCapability GroupNonUniform",
        local_size: 2,
        inputs: &[("%place", "SubgroupLocalInvocationId")],
        buffers: &[("%data", "%ublocks")],
        body: "%to = OpAccessChain %puint %data %zero %one
            %read = OpLoad %uint %place
            %twice = OpIAdd %uint %read %read
            OpStore %to %twice",
        ..Shader::default()
    };
    let module = shader.module();
    let outcome = run(&module, [2, 1, 1], vec![words(&[0; 2])]);
    let causes = outcome.causes.iter().filter(|cause| cause.kind == CauseKind::SubgroupLayout);
    let ops: Vec<_> = causes.map(|cause| module.instruction(cause.at.instruction).op).collect();
    assert_eq!(ops, [Some(Op::Load)]);
}

/// Vulkan, "Varying Subgroup Size": from SPIR-V 1.6 on a subgroup may have any size within the
/// device's limits.
#[test]
fn the_size_may_vary_in_later_modules() {
    let program = |version: &str| {
        let shader = Shader {
            version,
            head: "OpCapability GroupNonUniform",
            inputs: &[("%size", "SubgroupSize")],
            buffers: &[("%out", "%ublocks")],
            body: "%x = OpLoad %uint %size
                %to = OpAccessChain %puint %out %zero %zero
                OpStore %to %x",
            ..Shader::default()
        };
        Program::new(&shader.module(), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"))
    };
    let sizes = |version: &str, subgroup_sizes: Option<[u32; 2]>, layout: SubgroupLayout| {
        let program = program(version);
        let bindings = [(Slot::new(0, 0), words(&[0]))].into();
        let dispatch = Dispatch { bindings, subgroup_size: 8, subgroup_sizes, layout, ..Dispatch::default() };
        let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        word(&outcome, 0, 0)
    };
    let eight = Expected::Exact(8);
    assert_eq!(sizes("1.6", Some([4, 32]), SubgroupLayout::Unknown), Expected::OneOf(vec![4, 8, 16, 32]));
    assert_eq!(sizes("1.6", Some([8, 8]), SubgroupLayout::Unknown), eight);
    assert_eq!(sizes("1.6", None, SubgroupLayout::Unknown), eight);
    assert_eq!(sizes("1.6", Some([4, 32]), SubgroupLayout::Linear), eight);
    // Subgroups are full if the x dimension of the workgroup size is a multiple of the size.
    let full = |version: &str, workgroup| program(version).needs_full_subgroups(workgroup, 8);
    assert!(full("1.6", [16, 3, 1]) && !full("1.6", [12, 2, 1]) && !full("1.5", [16, 3, 1]));
    assert_eq!(sizes("1.5", Some([4, 32]), SubgroupLayout::Unknown), eight);
}
