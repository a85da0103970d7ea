//! What holds for every program.

use crate::support::{Spoilt, on_each_driver, run};
use assay_check::{Left, Target};
use assay_runner::{CaseResult, Status};
use assay_spirv::Module;
use assay_spirv::need::Need;
use assay_suite::{Case, NoDevice, RunPath, all};

fn cases() -> Vec<Case> {
    all().into_iter().flat_map(|suite| suite.cases()).collect()
}

fn line(result: &CaseResult) -> String {
    format!("{} {:?} {}", result.name, result.status, result.reason.as_deref().unwrap_or_default())
}

/// Legal, understood, of defined behaviour, and all of it determined; where there is a second reference, as it says.
#[test]
fn the_oracle_agrees_with_the_suites_own_references() {
    let cases = cases();
    let results = run(&cases, &NoDevice::default(), Some(RunPath::Reference));
    assert_eq!(results.len(), cases.len());
    for (case, result) in cases.iter().zip(&results) {
        let second = case.program(RunPath::Reference).is_some_and(|program| program.second.is_some());
        let expected = if second { Status::Pass } else { Status::Undetermined };
        assert_eq!((result.status, result.path.as_str()), (expected, "reference"), "{}", line(result));
        assert_eq!(result.scalars_unchecked, 0, "{}", line(result));
        assert_eq!(result.scalars_checked > 0, second, "{}", line(result));
    }
}

#[test]
fn what_has_no_lowered_path_says_so() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| !case.paths.contains(&RunPath::Lowered)).take(1).collect();
    for result in run(&cases, &NoDevice::default(), Some(RunPath::Lowered)) {
        assert_eq!(result.status, Status::NotSupported);
        assert!(line(&result).contains("has no lowered path"), "{}", line(&result));
    }
}

/// Whether a case is run follows from its module, and what is run leaves what it should.
#[test]
fn the_drivers_do_what_the_programs_ask() {
    let cases = cases();
    on_each_driver(|target| {
        for (case, result) in cases.iter().zip(run(&cases, target, None)) {
            let program = case.program(RunPath::Native).expect("every case has a native program");
            let words = assay_spirv::assemble(&program.text).expect("it was assembled before");
            let need = Need::of(&Module::parse(words).expect("it is a module")).check(target.have());
            let expected = if need.may_run() { Status::Pass } else { Status::NotSupported };
            assert_eq!(result.status, expected, "{} on {}", line(&result), target.info().name);
            assert_eq!(result.status == Status::Pass, result.scalars_checked > 0, "{}", line(&result));
        }
    });
}

/// A device whose memory is wrong in one bit of one byte is told from one that is right, whichever byte it is.
#[test]
fn one_wrong_bit_is_found_in_every_program() {
    on_each_driver(|target| {
        for place in [0.0, 0.37, 1.0] {
            let spoilt = Spoilt::new(target.have().clone(), move |left: &mut Left| {
                let memory = left.memory.values_mut().last().expect("every program writes something");
                let at = (place * (memory.len() - 1) as f64) as usize;
                memory[at] ^= 0x10;
            });
            for result in run(&cases(), &spoilt, None) {
                assert!(matches!(result.status, Status::Fail | Status::NotSupported), "{}", line(&result));
                let known = result.status == Status::NotSupported || result.worst.is_some();
                assert!(known && result.failing_inputs <= 1, "{}", line(&result));
            }
        }
    });
}
