//! A Pass of a precision case rests on a result that could have been wrong.

use assay_case::{Budget, Inputs, load};
use assay_precision::{Verdict, synthetic::violating};
use rayon::prelude::*;

/// Inputs of a case that are looked at for one that decides something.
const ROWS: usize = 2048;

/// Ability of a case's inputs to detect wrong results.
enum Detection {
    /// Results that are not permitted are detected.
    Some,
    /// Nothing is required of any result, so that the case is not a Pass.
    Nothing,
    /// Every value is permitted for results that count as checked, or a wrong one goes unnoticed.
    Hollow(String),
}

fn decides(case: &assay_case::Case) -> Detection {
    let (call, reference) = (&case.call, case.call.reference());
    let slots: Vec<_> = call.result_slots().collect();
    let inputs = Inputs::new(case, Budget::Quick, 0, None).expect("no range is asked for");
    let mut columns = inputs.operand_columns();
    inputs.fill(0, &mut columns);
    let mut row = vec![0; columns.slots()];
    let mut hollow = None;
    for index in 0..columns.rows().min(ROWS) {
        columns.row(index, &mut row);
        if !call.is_defined(&row) {
            continue;
        }
        for (slot, scalar) in slots.iter().enumerate() {
            let permitted = reference.permitted(slot, &row);
            if let Some(bad) = violating(&permitted.usual, *scalar).first() {
                return match reference.judge(slot, &row, *bad).verdict {
                    Verdict::Fail | Verdict::QualityWarning => Detection::Some,
                    Verdict::Pass | Verdict::Unchecked => {
                        Detection::Hollow(format!("{}: {bad:#x} for {row:x?} is not noticed", case.name))
                    }
                };
            }
            if !permitted.usual.is_anything() {
                hollow.get_or_insert_with(|| format!("{}: every value is permitted for {row:x?}", case.name));
            }
        }
    }
    hollow.map_or(Detection::Nothing, Detection::Hollow)
}

#[test]
fn every_precision_case_can_be_failed_or_is_not_a_pass() {
    let cases = load().expect("the cases are in the binary");
    // Sources of operands do not change what is permitted; all of them take minutes.
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { 11 };
    let of_buffers = cases.iter().filter(|case| case.source == assay_case::OperandSource::Buffer);
    let cases: Vec<_> = of_buffers.step_by(each).collect();
    let found: Vec<Detection> = cases.par_iter().map(|case| decides(case)).collect();
    let hollow: Vec<&String> =
        found.iter().filter_map(|one| if let Detection::Hollow(what) = one { Some(what) } else { None }).collect();
    assert!(hollow.is_empty(), "{} cases:\n{:#?}", hollow.len(), hollow);
    let some = found.iter().filter(|one| matches!(one, Detection::Some)).count();
    assert!(some * 10 > cases.len() * 9, "{some} of {} cases decide something", cases.len());
}
