//! Tests of the shaders in `shaders/compute/`.

use crate::programs::assert_none;
use crate::support::{line, on_each_driver, run};
use assay_check::{Check, Options, ShaderSource};
use assay_events::{CaseResult, Status};
use assay_oracle::{Limits, Outcome};
use assay_suite::{Case, NoDevice, RunPath, all};
use rayon::{ThreadPool, ThreadPoolBuilder};

fn cases() -> Vec<Case> {
    all().into_iter().filter(|suite| suite.name() == "compute").flat_map(|suite| suite.cases()).collect()
}

/// Every shader is legal, supported, and free of undefined behaviour: the only reason left is the
/// missing reference.
#[test]
fn every_shader_is_legal_and_understood() {
    let results = run(&cases(), &NoDevice::default(), Some(RunPath::Reference));
    let understood = |result: &&CaseResult| {
        result.status != Status::Undetermined || !line(result).contains("no independent reference")
    };
    assert_none(results.iter().filter(understood).map(line).collect());
}

/// The permitted results do not depend on the number of threads, with the inputs of a check's first
/// round.
#[test]
fn permitted_results_do_not_depend_on_the_number_of_threads() {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (one, two) = (pool(1), pool(2));
    let none_there = NoDevice::default();
    let mut differing = Vec::new();
    let cases = cases();
    for case in &cases {
        let program = case.program(RunPath::Native).expect("it has a native path");
        let subject = ShaderSource::read(&format!("x.{}", program.ending), program.text.as_bytes()).expect("a shader");
        let limits = Limits { together_from: 0, ..program.options.limits };
        let options = Options { limits, ..program.options };
        let check = Check::new(&subject, &options).expect("it can be checked");
        let mut dispatch = check.dispatch(0, &none_there).expect("inputs");
        check.put_synthetic_addresses(&mut dispatch);
        let on = |pool: &ThreadPool| pool.install(|| check.permitted(&dispatch)).expect("it runs");
        let (one, two) = (on(&one), on(&two));
        let counts = |all: &Outcome| (all.fault_count, all.instructions, all.forks);
        let same = (&one.memory, &one.faults, &one.causes) == (&two.memory, &two.faults, &two.causes);
        if !same || counts(&one) != counts(&two) {
            differing.push(case.name.clone());
        }
    }
    assert_none(differing);
    assert!(cases.len() > 170, "{}", cases.len());
}

/// Programs that LLVM compiles for seconds, because of barriers in loops with many turns.
const SLOW: [&str; 4] = ["radix_sort", "bitonic_sort", "prefix_sum", "breadth_first"];

/// Cases that a driver here is known to fail (`reports/findings`); other drivers and later versions
/// pass them.
const FOUND: [&str; 18] = [
    "compute.control.loop_of_many_turns",
    "compute.control.loops_of_many_turns",
    "compute.control.phi_swap_of_vectors",
    "compute.control.result_of_last_turn",
    "compute.float.select_signed_zero",
    "compute.image.alpha_of_comparison",
    "compute.image.alpha_of_depth",
    "compute.image.corner_of_cube",
    "compute.image.layer_of_large_coordinate",
    "compute.image.sizes_of_levels",
    "compute.image.store_beyond_halves",
    "compute.integer.compare_null_vector",
    "compute.integer.folded_signedness",
    "compute.integer.wide_compare_constants",
    "compute.layout.copied_block",
    "compute.layout.local_array_of_matrices",
    "compute.layout.matrix_parameter",
    "compute.subgroup.all_equal_of_vector",
];

/// Runs a part of the cases on the drivers; the parts keep each test short.
fn pass(part: usize) {
    const PARTS: usize = 3;
    let mut cases = cases();
    cases.retain(|case| !SLOW.iter().any(|slow| case.name.ends_with(slow)));
    let cases: Vec<Case> = cases.into_iter().skip(part).step_by(PARTS).collect();
    on_each_driver(|target| {
        let passed = |result: &CaseResult| match result.status {
            Status::Pass => result.scalars_checked > 0,
            Status::Fail => FOUND.contains(&result.name.as_str()),
            status => status == Status::NotSupported,
        };
        let results = run(&cases, target, None);
        assert_none(results.iter().filter(|result| !passed(result)).map(line).collect());
        let run = results.iter().filter(|result| result.status == Status::Pass).count();
        // Without 64-bit integers a driver still runs about four in five cases.
        assert!(run * 4 > cases.len() * 3, "{run} of {} can be run", cases.len());
    });
}

#[test]
fn the_drivers_pass_the_first_third() {
    pass(0);
}

#[test]
fn the_drivers_pass_the_second_third() {
    pass(1);
}

#[test]
fn the_drivers_pass_the_last_third() {
    pass(2);
}
