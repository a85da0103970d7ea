//! Workgroups on several threads give the outcome of running them in sequence, however they
//! interact.

use crate::support::*;
use assay_oracle::{Dispatch, FaultKind, Limits, Outcome, Program, Slot, SpecValues};
use rayon::ThreadPoolBuilder;

const GROUPS: u32 = 12;

/// The outcome of a program with that many threads.
fn with(threads: usize, program: &Program, limits: Limits) -> Outcome {
    let data: Vec<u32> = (0..8 * GROUPS).map(|i| (0.5 + i as f32).to_bits()).collect();
    let bindings =
        [words(&data), words(&[0; 8 * GROUPS as usize])].into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b));
    let dispatch = Dispatch { groups: [GROUPS / 2, 2, 1], bindings: bindings.collect(), ..Dispatch::default() };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| program.run(&dispatch, &limits)).expect("runs")
}

/// The outcome of a shader body, which must be equal for every number of threads.
fn same(body: &str, limits: Limits) -> Outcome {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
         @group(0) @binding(1) var<storage, read_write> out: array<u32>;\n\
         var<workgroup> line: array<f32, 8>;\n\
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3<u32>) {{\n\
         let group = w.x + {}u * w.y; let g = group * 8u + i;\n\
         {body}\n\
         }}",
        GROUPS / 2
    )
    .replace("atomic ", "");
    let text = match body.contains("atomic") {
        true => text.replace("out: array<u32>", "out: array<atomic<u32>>"),
        false => text,
    };
    let program = Program::new(&wgsl(&text), "main", &SpecValues::new()).expect("a program");
    let limits = Limits { together_from: 0, ..limits };
    let one = with(1, &program, limits);
    for threads in [2, 5] {
        let several = with(threads, &program, limits);
        assert_eq!(one.memory, several.memory, "{body}");
        assert_eq!(one.faults, several.faults, "{body}");
        assert_eq!(one.causes, several.causes, "{body}");
        let counts = |outcome: &Outcome| (outcome.fault_count, outcome.instructions, outcome.forks);
        assert_eq!(counts(&one), counts(&several), "{body}");
    }
    one
}

#[test]
fn workgroups_on_separate_memory_are_merged_correctly() {
    let outcome = same("data[g] = sin(data[g]) * 2.0 + 1.0; out[g] = bitcast<u32>(data[g] / 3.0);", Limits::default());
    assert_eq!(outcome.faults, []);
    assert_eq!(outcome.memory[&Slot::new(0, 1)].cells().len(), 8 * GROUPS as usize);
    // Only every third element is written, so written elements lie between others.
    let outcome = same("if g % 3u == 0u { out[g] = g; }", Limits::default());
    assert_eq!(exact(&outcome, 1), (0..8 * GROUPS).map(|g| if g % 3 == 0 { g } else { 0 }).collect::<Vec<_>>());
    // Causes of their own in late workgroups; branches that are followed both ways.
    same(
        "if group > 7u { out[g] = 1u << (g + 32u); } else { out[g] = 1u / u32(sin(data[g]) > 2.0); }",
        Limits::default(),
    );
    same(
        "line[i] = sin(data[g]); workgroupBarrier(); if line[7u - i] > sin(data[g]) { out[g] = 1u; }",
        Limits::default(),
    );
}

#[test]
fn workgroups_that_race_are_found_and_told_the_same() {
    for body in [
        "out[i] = group;",
        // One workgroup reads an element that another writes, in either order.
        "if group == 3u { out[g] = 1u; } else { let x = out[24u + i]; if x > 0u { data[g] = 1.0; } }",
        "if group == 9u { out[i] = bitcast<u32>(data[i]); } data[g] = f32(g);",
    ] {
        let outcome = same(body, Limits::default());
        assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::DataRace), "{body}: {:?}", outcome.faults);
    }
}

#[test]
fn atomics_of_some_workgroups_are_merged_correctly() {
    // The first workgroup does not, so the conflict of the others is not known beforehand.
    let outcome = same("if group > 2u { atomicAdd(&out[0], g); }", Limits::default());
    assert_eq!(exact(&outcome, 1)[0], (24..8 * GROUPS).sum::<u32>());
    let outcome = same("if group > 2u { atomicStore(&out[g], atomicAdd(&out[1], 1u)); }", Limits::default());
    assert_eq!(cause(&outcome, 1, 40), assay_oracle::CauseKind::Order);
    same(
        "if group > 2u { if group == 5u { atomicStore(&out[0], 3u); } else { atomicMax(&out[0], g); } }",
        Limits::default(),
    );
    // Workgroup memory is not visible to others.
    same("line[i] = f32(g); workgroupBarrier(); atomicAdd(&out[g], u32(line[7u - i]));", Limits::default());
}

#[test]
fn budgets_are_the_same_for_any_number_of_threads() {
    let endless = "out[g] = 1u; if group == 8u { loop { if data[g] < 0.0 { break; } } }";
    let outcome = same(endless, Limits { blocks_per_group: 1000, ..Limits::default() });
    assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::Endless));
    // Searches are counted by workgroups, and results beyond their share are enclosed, then covered.
    let searched = "let x = sin(data[g]); out[g] = bitcast<u32>(sqrt(abs(x) + 1.0));";
    let outcome = same(searched, Limits { searches: 50, ..Limits::default() });
    let lost = |outcome: &assay_oracle::Outcome| {
        let open = |cell: &assay_oracle::Cell| match cell.expected {
            assay_oracle::Expected::Undetermined(cause) => {
                outcome.causes[cause as usize].kind == assay_oracle::CauseKind::Precision
            }
            _ => false,
        };
        outcome.memory.values().any(|memory| memory.cells().iter().any(open))
    };
    assert!(!lost(&outcome), "{:?}", outcome.causes);
    let costly = "let x = sin(data[g]); out[g] = bitcast<u32>(tanh(x));";
    let outcome = same(costly, Limits { searches: 1, ..Limits::default() });
    assert!(lost(&outcome), "{:?}", outcome.causes);
    // Faults of more kinds than are kept.
    let many = "if group == 1u { out[g + 1000u] = 1u; } if group > 6u { out[g + 2000u] = 1u / (group - group); }\n\
                if group > 8u { out[3000u + g] = 1u; }";
    same(many, Limits { faults: 2, ..Limits::default() });
    same(many, Limits::default());
}
