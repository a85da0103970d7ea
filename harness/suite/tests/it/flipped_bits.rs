//! A Pass rests on written elements that could have been wrong: flipping one bit of one of them
//! loses the Pass.

use crate::programs::assert_none;
use assay_check::{Check, CheckError, MemoryContents, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_oracle::{Expected, Memory, Standing};
use assay_suite::{Case, NoDevice, RunPath, all};
use assay_synthetic_target::SyntheticTarget;
use rayon::prelude::*;

/// Returns a target that returns permitted results, except for one flipped bit in an element that
/// the program wrote.
fn flipped_bit_target() -> SyntheticTarget<'static> {
    let caps = Target::capabilities(&NoDevice::default()).clone();
    SyntheticTarget::with_capabilities(caps).spoiling(|request, outcome, output| {
        for descriptor in request.descriptors.iter().filter(|d| d.is_read_back() && d.may_be_written) {
            let (Some(permitted), Some(contents)) =
                (outcome.memory.get(&descriptor.slot), MemoryContents::of(descriptor))
            else {
                continue;
            };
            let mut wrong = None;
            contents.walk_scalars(descriptor.bytes, &mut |element, _| {
                let (offset, width) = (element.offset, element.scalar.width());
                if wrong.is_none() && permitted.is_written(offset, element.bytes()) {
                    wrong = flipped(permitted, offset, width).map(|bits| (offset as usize, bits, width as usize / 8));
                }
            });
            if let Some((offset, bits, size)) = wrong {
                let bytes = output.memory.get_mut(&descriptor.slot).expect("the descriptor is read back");
                bytes[offset..offset + size].copy_from_slice(&bits.to_le_bytes()[..size]);
                break;
            }
        }
    })
}

/// A value that is not permitted and differs in one bit from a permitted one.
fn flipped(memory: &Memory, offset: u64, width: u32) -> Option<u64> {
    let size = width as usize / 8;
    let bytes = &memory.bytes()[offset as usize..offset as usize + size];
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    let (expected, lenient) = match (0..size as u64).find_map(|byte| memory.cell_at(offset + byte)) {
        None => (Expected::Exact(bits), None),
        Some(cell) if (cell.offset, cell.width) == (offset, width) => (cell.expected.clone(), cell.lenient.clone()),
        Some(_) => return None,
    };
    let outside = |bits: &u64| expected.judge(lenient.as_deref(), *bits) == Standing::Outside;
    (0..width).map(|bit| bits ^ 1 << bit).find(outside)
}

fn check_on(case: &Case, target: &dyn Target) -> Option<Result<CheckResult, CheckError>> {
    let mut program = case.program(RunPath::Native).or_else(|| case.program(RunPath::Reference))?;
    // The bit is wrong in each round.
    program.options.rounds = 1;
    let subject = ShaderSource::read(&format!("x.{}", program.ending), program.text.as_bytes());
    Some(subject.and_then(|subject| Check::new(&subject, &program.options)?.run_unconditionally(target)))
}

/// Checks that no case passes with a wrong element; takes every `each`th case of the suites.
fn none_passes(suites: &[&str], each: usize) {
    let cases = all().into_iter().filter(|suite| suites.contains(&suite.name())).flat_map(|suite| suite.cases());
    let cases: Vec<Case> = cases.collect();
    assert!(cases.len() > 100, "{}", cases.len());
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { each };
    let some: Vec<&Case> = cases.iter().step_by(each).collect();
    let wrong: Vec<String> = some
        .par_iter()
        .filter_map(|case| match check_on(case, &flipped_bit_target())? {
            // A copied zero with the wrong sign may be permitted by the lenient reading.
            Ok(result) if matches!(result.status, Status::Fail | Status::QualityWarning) => None,
            Ok(result) => Some(format!("{} {:?} {:?} {:?}", case.name, result.status, result.reason, result.writes)),
            Err(error) => Some(format!("{}: {error}", case.name)),
        })
        .collect();
    assert_none(wrong);
}

#[test]
fn every_shader_fails_for_one_wrong_bit() {
    none_passes(&["compute"], 1);
}

#[test]
fn programs_fail_for_one_wrong_bit() {
    none_passes(&["environment", "storage8"], 3);
}

#[test]
fn gathers_and_kernels_fail_for_one_wrong_bit() {
    none_passes(&["gather", "bindless"], 7);
}
