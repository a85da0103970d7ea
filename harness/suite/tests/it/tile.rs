//! Tests of the tile-shading suite: in the oracle, lowered on the drivers, and natively without the
//! extension.

use crate::support::{on_each_driver, run, validator};
use assay_check::without_source;
use assay_events::{CaseResult, Status};
use assay_exec::Target;
use assay_spirv::Module;
use assay_spirv_lower::tile::lower;
use assay_spirv_rules::rules::{self, Environment};
use assay_suite::{Case, NoDevice, RunPath, all};

/// The cases of the quick budget.
fn cases() -> Vec<Case> {
    let cases = all().into_iter().flat_map(|suite| suite.cases());
    cases.filter(|case| case.name.starts_with("tile.") && case.quick).collect()
}

fn failures(results: &[CaseResult], mut expected: impl FnMut(&CaseResult) -> bool) -> String {
    let wrong: Vec<String> = results
        .iter()
        .filter(|result| !expected(result))
        .map(|r| format!("{} {:?} {}\n", r.name, r.status, r.reason.as_deref().unwrap_or_default()))
        .collect();
    if wrong.is_empty() { String::new() } else { format!("{} of {}:\n{}", wrong.len(), results.len(), wrong.concat()) }
}

#[test]
fn the_oracle_agrees_with_the_independent_references() {
    let cases = cases();
    let results = run(&cases, &NoDevice::default(), Some(RunPath::Reference));
    let second: Vec<bool> = cases
        .iter()
        .map(|case| case.pass(RunPath::Reference).is_some_and(|pass| pass.is_ok_and(|pass| pass.reference.is_some())))
        .collect();
    assert!(second.iter().filter(|there| **there).count() > cases.len() / 2);
    let mut there = second.into_iter();
    let failures = failures(&results, |result| match there.next() {
        Some(true) => result.status == Status::Pass && result.scalars_checked > 0,
        _ => result.status == Status::Undetermined,
    });
    assert!(failures.is_empty(), "{failures}");
}

/// Lowered passes and ordinary shaders give permitted results on the drivers.
#[test]
fn lowered_passes_give_permitted_results_on_the_drivers() {
    on_each_driver(|target| {
        // A sample, smaller on llvmpipe, which compiles slowly.
        let step = if target.info().name.contains("llvmpipe") { 16 } else { 3 };
        let cases: Vec<Case> = cases().into_iter().step_by(step).collect();
        let results = run(&cases, target, Some(RunPath::Lowered));
        let failures = failures(&results, |r| r.status == Status::Pass && r.path == "lowered" && r.scalars_checked > 0);
        assert!(failures.is_empty(), "{}: {failures}", target.info().name);
    });
}

#[test]
fn without_the_extension_the_native_path_names_it() {
    on_each_driver(|target| {
        let cases: Vec<Case> = cases().into_iter().take(3).collect();
        for result in run(&cases, target, Some(RunPath::Native)) {
            assert_eq!((result.status, result.path.as_str()), (Status::NotSupported, "native"));
            assert!(result.reason.as_deref().is_some_and(|why| why.contains("VK_QCOM_tile_shading")), "{result:?}");
        }
        // If no path was requested, the lowered one is taken and named.
        for result in run(&cases, target, None) {
            assert_eq!((result.status, result.path.as_str()), (Status::Pass, "lowered"));
        }
    });
}

/// The lowered modules follow the rules and pass spirv-val, which is too old to know the extension
/// and therefore proves that none of it is left.
#[test]
fn lowered_modules_are_core_and_legal() {
    let mut wrong = Vec::new();
    for (i, case) in cases().into_iter().step_by(5).enumerate() {
        let pass = case.pass(RunPath::Lowered).expect("a pass").expect("it compiles");
        for step in &pass.steps {
            let compute = pass.compute(step).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            let local_size = [[8, 8, 1], [1, 1, 1], [16, 2, 1]][i % 3];
            let words = lower(&compute, local_size).expect("it is lowered").words;
            let lowered = Module::parse(words).expect("a module");
            let broken = rules::violations(&lowered, Environment::of_module(&lowered));
            wrong.extend(broken.iter().map(|violation| format!("{}: {violation}\n", case.name)));
            if let Some(Err(said)) = validator(&without_source(&lowered)) {
                wrong.push(format!("{}: {said}\n", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}
