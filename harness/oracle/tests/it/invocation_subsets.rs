//! Interpretation of a part of the invocations.

use assay_oracle::{
    AtomicOrder, Buffer, Dispatch, Expected, InvocationSubset, Limits, Outcome, Program, Resource, RunError, Slot,
    SpecValues,
};

/// Runs a shader of two workgroups of 8 invocations on 16 words.
fn ran(declared: &str, body: &str, only: Option<InvocationSubset>, order: AtomicOrder) -> Result<Outcome, RunError> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        {declared}
        @compute @workgroup_size(8) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32,
        ) {{ {body} }}"
    );
    let program = Program::new(&assay_testkit::wgsl(&text), "main", &SpecValues::new()).expect("a program");
    let buffer = Resource::Buffer(Buffer { data: vec![0; 64], address: None });
    let bindings = [(Slot::new(0, 0), buffer)].into();
    let dispatch = Dispatch { groups: [2, 1, 1], bindings, only, atomic_order: order, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default())
}

fn subset(workgroups: &[u64], local: &[u32]) -> Option<InvocationSubset> {
    Some(InvocationSubset { workgroups: workgroups.into(), local: Some(local.into()) })
}

/// The words that are known, with their values.
fn known(outcome: &Outcome) -> Vec<(u64, u32)> {
    let memory = &outcome.memory[&Slot::new(0, 0)];
    let word = |at: u64| u32::from_le_bytes(memory.bytes()[at as usize * 4..][..4].try_into().expect("a word"));
    (0..16).filter(|at| memory.is_known(at * 4, 4)).map(|at| (at, word(at))).collect()
}

#[test]
fn the_elements_of_a_subset_are_those_of_the_dispatch() {
    let body = "if id.x % 2u == 0u { data[id.x] = id.x * 3u + 1u; } else { data[id.x] = at; }";
    let all = known(&ran("", body, None, AtomicOrder::Any).expect("a run"));
    let part = ran("", body, subset(&[1], &[0, 3, 7]), AtomicOrder::Any).expect("a run");
    let expected: Vec<(u64, u32)> = [8, 11, 15].map(|at| all[at as usize]).into();
    assert_eq!(known(&part), expected);
    let whole = ran("", body, subset(&[0, 1], &[0, 1, 2, 3, 4, 5, 6, 7]), AtomicOrder::Any).expect("a run");
    assert_eq!((known(&whole), known(&whole).len()), (all, 16));
    assert!(part.instructions * 4 < whole.instructions);
}

#[test]
fn invocations_that_communicate_have_no_subset() {
    let declared = "var<workgroup> sum: atomic<u32>;";
    for body in ["workgroupBarrier(); data[id.x] = at;", "storageBarrier(); data[id.x] = at;"] {
        let error = ran(declared, body, subset(&[0], &[0]), AtomicOrder::Any).expect_err("a refusal");
        assert!(error.to_string().contains("communicate"), "{error}");
    }
    // The others may have added to it.
    let body = "data[id.x] = atomicAdd(&sum, 1u);";
    let added = ran(declared, body, subset(&[0], &[0, 1]), AtomicOrder::Any).expect("a run");
    let memory = &added.memory[&Slot::new(0, 0)];
    assert!(memory.cells().iter().all(|cell| matches!(cell.expected, Expected::Undetermined(_))), "{added:?}");
}

#[test]
fn a_subset_outside_of_the_workgroup_is_refused() {
    for local in [&[8][..], &[1, 0]] {
        let error = ran("", "data[id.x] = at;", subset(&[0], local), AtomicOrder::Any).expect_err("a refusal");
        assert!(error.to_string().contains("a subset of invocations"), "{error}");
    }
}
