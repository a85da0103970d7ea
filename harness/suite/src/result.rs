//! Conversion of a check's result to the result of its case.

use crate::{Case, RunPath};
use assay_events::{CaseResult, CheckResult, Event, Mismatch, Status};
use assay_float::Format;
use assay_oracle::CauseKind;

/// The result of a case that was not run.
pub fn not_run(case: &Case, path: RunPath, status: Status, reason: String, seed: u64) -> Event {
    if case.is_check() {
        return Event::CheckFinished(Box::new(CheckResult::not_run(case.name.clone(), status, reason, seed)));
    }
    Event::CaseFinished(Box::new(program_not_run(case, path, status, reason, seed)))
}

/// The result of a program that was not run.
pub(crate) fn program_not_run(case: &Case, path: RunPath, status: Status, reason: String, seed: u64) -> CaseResult {
    CaseResult {
        reason: Some(reason),
        instruction: case.subject.instruction.to_owned(),
        types: case.subject.types.clone(),
        api: if path == RunPath::Reference { "none" } else { "vulkan" }.to_owned(),
        path: path.to_string(),
        rule: case.subject.rule.to_owned(),
        clause: case.subject.clause.to_owned(),
        ..CaseResult::not_run(case.name.clone(), status, seed)
    }
}

/// The result of a case whose program was checked.
pub(crate) fn result(case: &Case, path: RunPath, check: CheckResult) -> CaseResult {
    let (status, reason) = status(&check);
    CaseResult {
        reason,
        inputs_tested: check.elements_checked,
        inputs_possible: (check.elements_checked + check.elements_undetermined).to_string(),
        coverage: match check.elements_checked {
            0 => "none".to_owned(),
            n => match &check.writes {
                Some(writes) => format!("{n} {} of memory; the program {writes}", noun(n)),
                None => format!("{n} {} of memory", noun(n)),
            },
        },
        failing_inputs: check.elements_failing,
        warning_inputs: check.elements_warning,
        scalars_checked: check.elements_checked,
        scalars_unchecked: check.elements_undetermined,
        worst: check.classes.first().and_then(|class| class.examples.first().cloned()),
        classes: check.classes,
        times: check.times,
        picture: check.picture,
        ..program_not_run(case, path, status, String::new(), check.seed)
    }
}

/// Returns `element` or its plural.
fn noun(elements: u64) -> &'static str {
    if elements == 1 { "element" } else { "elements" }
}

/// Returns the status and its reason. Programs are written so that every element is determined, so
/// a Pass with undetermined elements becomes Undetermined. The exception is elements that the
/// specification leaves open for out-of-bounds accesses.
fn status(check: &CheckResult) -> (Status, Option<String>) {
    let left_open = CauseKind::Robustness.to_string();
    let open = !check.undetermined.is_empty() && check.undetermined.iter().all(|u| u.cause == left_open);
    if check.status == Status::Pass && check.elements_undetermined > 0 && !open {
        let why = check.undetermined.first().map(|u| format!("{}, at {}", u.cause, u.place));
        let what = format!(
            "{} {} undetermined: {}",
            check.elements_undetermined,
            noun(check.elements_undetermined),
            why.unwrap_or_default()
        );
        return (Status::Undetermined, Some(what));
    }
    let first = check.mismatches.iter().find(|m| m.status == check.status);
    let reason = match (&check.reason, first) {
        (Some(reason), Some(first)) => Some(format!("{reason}; {} got {}", first.position_text(), got(first))),
        (reason, _) => reason.clone(),
    };
    (check.status, reason)
}

/// Formats the bits from the device; for a float, with its value.
fn got(Mismatch { got, scalar, .. }: &Mismatch) -> String {
    let bits = u64::from_str_radix(got.trim_start_matches("0x"), 16).ok();
    let value = Format::from_name(scalar).zip(bits).map(|(format, bits)| format!(" = {}", format.decimal(bits)));
    format!("{got}{}", value.unwrap_or_default())
}
