//! Properties of every generated program.

use crate::support::{faulty_oracle, line, on_each_driver, run, validator};
use assay_events::{CaseResult, Status};
use assay_exec::{DispatchOutput, Target};
use assay_spirv::Module;
use assay_spirv_rules::requirements::Requirements;
use assay_suite::{Case, NoDevice, RunPath, all};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The generated programs. (Others have tests of their own: `compute.rs` for hand-written shaders,
/// which are less regular; `gather.rs` and `bindless.rs` for suites that are large and lowered.)
fn cases() -> Vec<Case> {
    // Tile shading runs render passes, tested in `tile.rs`.
    let suites = all().into_iter().filter(|suite| !["bindless", "compute", "gather", "tile"].contains(&suite.name()));
    suites.flat_map(|suite| suite.cases()).collect()
}

/// Fails with every line, if there are any.
pub(crate) fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} programs:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every program is legal, supported and without undefined behaviour, and all of its elements are
/// determined. With an independent reference, the oracle agrees with it.
#[test]
fn the_oracle_agrees_with_the_independent_references() {
    let cases = cases();
    let results = run(&cases, &NoDevice::default(), Some(RunPath::Reference));
    assert_eq!(results.len(), cases.len());
    let as_it_should = |(case, result): &(&Case, &CaseResult)| {
        let second = case.program(RunPath::Reference).is_some_and(|program| program.reference.is_some());
        let expected = if second { Status::Pass } else { Status::Undetermined };
        (result.status, result.path.as_str()) == (expected, "reference")
            && (result.scalars_unchecked == 0 || is_left_open(&case.name))
            && (result.scalars_checked > 0) == second
    };
    assert_none(
        cases.iter().zip(&results).filter(|pair| !as_it_should(pair)).map(|(_, result)| line(result)).collect(),
    );
}

/// The elements that the specification leaves open for out-of-bounds accesses: all of a written
/// buffer, and values loaded in several parts.
fn is_left_open(name: &str) -> bool {
    let loaded = [".load.u64", ".load.u32.vec4"].iter().any(|part| name.contains(part));
    let buffer =
        ["buffer.", "uniform."].iter().any(|of| name.starts_with(&format!("environment.robustness.loose.{of}")));
    buffer && (!name.contains(".load.") || loaded)
}

/// The cases that a driver is known to fail (`reports/findings/`), which are left out here.
fn is_found(driver: &str, name: &str) -> bool {
    match driver.contains("SwiftShader") {
        true => name.starts_with("environment.robustness.loose.buffer.atomic"),
        false => ["environment.subgroup.layout.few", "environment.subgroup.layout.rows"].contains(&name),
    }
}

/// Programs that older versions of spirv-val reject, contrary to the specification.
fn is_disputed(name: &str) -> bool {
    // "Interactions with optional types" of SPV_KHR_8bit_storage; maintenance9 permits bit
    // instructions of all widths.
    let bits = [".bitcount.", ".bitreverse.", ".bitfield"].iter().any(|part| name.contains(part));
    // Extensions younger than those versions.
    let young = name.ends_with(".apart")
        || name.starts_with("environment.indexing64.")
        || ["splitbarrierext", "raytracingopacitymicromapkhr"].iter().any(|name_now| name.ends_with(name_now));
    name.contains(".without_int8") || bits && !name.contains("32.") || young
}

/// Returns true for the message of a spirv-val that does not know a declared capability.
fn is_unknown(said: &str) -> bool {
    said.contains("Invalid capability operand")
}

/// Takes every third program, as each is a process of its own; all with `ASSAY_FULL`.
#[test]
fn the_validator_accepts_the_programs() {
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { 3 };
    let cases: Vec<Case> = cases().into_iter().step_by(each).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(program) = case.program(RunPath::Native) else { continue };
                    let words = assay_spirv::assemble(&program.text).expect("it is text");
                    if let (Some(Err(said)), false) = (validator(&words), is_disputed(&case.name))
                        && !(case.name.starts_with("environment.capability.") && is_unknown(&said))
                    {
                        wrong.lock().unwrap().push(format!("{}: {said}", case.name));
                    }
                }
            });
        }
    });
    assert_none(wrong.into_inner().unwrap());
}

#[test]
fn a_missing_lowered_path_is_reported() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| !case.paths.contains(&RunPath::Lowered)).take(1).collect();
    for result in run(&cases, &NoDevice::default(), Some(RunPath::Lowered)) {
        assert_eq!(result.status, Status::NotSupported);
        assert!(line(&result).contains("has no lowered path"), "{}", line(&result));
    }
}

/// A case runs exactly if the device meets its module's requirements, and then passes. A sample,
/// because all cases take a minute.
#[test]
fn programs_pass_on_the_drivers() {
    const EACH: usize = 23;
    let some: Vec<Case> = cases().into_iter().step_by(EACH).collect();
    on_each_driver(|target| {
        let cases: Vec<Case> = some.iter().filter(|c| !is_found(&target.info().name, &c.name)).cloned().collect();
        let as_it_should = |case: &Case, result: &CaseResult| {
            let program = case.program(RunPath::Native).expect("every case has a native program");
            let words = assay_spirv::assemble(&program.text).expect("it was assembled before");
            let requirements =
                Requirements::of(&Module::parse(words).expect("it is a module")).check(target.capabilities());
            let open = case.name.contains("_negative") && !target.capabilities().features.contains("maintenance8");
            // Robustness is required of the device, not by the module.
            let robust = result.status != Status::NotSupported || !line(result).contains("the feature robust");
            let expected = match (requirements.may_run() && robust, open) {
                (false, _) => Status::NotSupported,
                (true, true) => Status::Undetermined,
                (true, false) => Status::Pass,
            };
            // Normalised texels may be read with an error that only the lenient reading permits.
            let near = result.status == Status::QualityWarning && case.name.contains(".load.");
            (result.status == expected || near) && (expected == Status::Pass) <= (result.scalars_checked > 0)
        };
        let results = run(&cases, target, None);
        assert_none(cases.iter().zip(&results).filter(|(c, r)| !as_it_should(c, r)).map(|(_, r)| line(r)).collect());
    });
}

/// One wrong bit in one byte is found at the beginning, inside and at the end of memory. If several
/// floats are permitted, the value may pass under the lenient reading only. Takes every second program; all with
/// `ASSAY_FULL`.
#[test]
fn one_wrong_bit_is_found_in_every_program() {
    const PLACES: [f64; 3] = [0.0, 0.37, 1.0];
    let looks_everywhere = |case: &Case| {
        !is_left_open(&case.name) && case.program(RunPath::Native).is_some_and(|program| program.options.padding)
    };
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { 2 };
    let all: Vec<Case> = cases().into_iter().step_by(each).collect();
    // The drivers' capabilities alone matter, so the first driver that supports a case judges it.
    let judged = RefCell::new(BTreeSet::new());
    on_each_driver(|target| {
        for (turn, place) in PLACES.into_iter().enumerate() {
            let mut caps = target.capabilities().clone();
            caps.features.insert("maintenance8".to_owned());
            let spoilt = faulty_oracle(
                caps,
                |_| {},
                move |_: &DispatchOutput, left: &mut DispatchOutput| {
                    let memory = left.memory.values_mut().last().expect("every program writes something");
                    let at = (place * (memory.len() - 1) as f64) as usize;
                    memory[at] ^= 0x10;
                },
            );
            // The first and the last byte of a buffer are not padding.
            let mine = all.iter().skip(turn).step_by(PLACES.len());
            let mine = mine.filter(|case| !judged.borrow().contains(&case.name));
            let cases: Vec<Case> = mine.filter(|case| place != 0.37 || looks_everywhere(case)).cloned().collect();
            let found = |result: &CaseResult| match result.status {
                Status::Fail => result.worst.is_some() && result.failing_inputs == 1,
                Status::QualityWarning => result.warning_inputs == 1 && result.types.contains('f'),
                // The lenient reading leaves the parts of such a float open.
                Status::Undetermined => result.name.contains(".bitcast.") && result.name.ends_with(".special"),
                status => status == Status::NotSupported,
            };
            let results = run(&cases, &spoilt, None);
            let supported = results.iter().filter(|result| result.status != Status::NotSupported);
            judged.borrow_mut().extend(supported.map(|result| result.name.clone()));
            assert_none(results.iter().filter(|result| !found(result)).map(line).collect());
        }
    });
}
