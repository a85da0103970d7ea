//! From what a check of a program came to, to the result of its case.

use crate::{Case, RunPath};
use assay_check::KEPT;
use assay_oracle::CauseKind;
use assay_runner::{CaseResult, CheckResult, ClassCount, Example, Mismatch, Status};
use std::collections::BTreeMap;

/// Examples of a class that are kept.
const EXAMPLES: usize = 8;

/// The class of wrong elements that are counted and not kept.
const MORE: &str = "More";

/// The result of a case of which nothing was run.
pub fn blank(case: &Case, path: RunPath, status: Status, reason: String, seed: u64) -> CaseResult {
    CaseResult {
        reason: Some(reason),
        instruction: case.about.instruction.to_owned(),
        types: case.about.types.clone(),
        api: if path == RunPath::Reference { "none" } else { "vulkan" }.to_owned(),
        path: path.to_string(),
        rule: case.about.rule.to_owned(),
        clause: case.about.clause.to_owned(),
        ..CaseResult::blank(case.name.clone(), status, seed)
    }
}

/// The result of a case whose program was checked.
pub(crate) fn result(case: &Case, path: RunPath, check: CheckResult) -> CaseResult {
    let (status, reason) = status(&check);
    let classes = classes(&check);
    CaseResult {
        reason,
        inputs_tested: check.elements_checked,
        inputs_possible: (check.elements_checked + check.elements_undetermined).to_string(),
        coverage: match check.elements_checked {
            0 => "none".to_owned(),
            n => format!("{n} elements of memory, written or not"),
        },
        failing_inputs: check.elements_failing,
        warning_inputs: check.elements_warning,
        scalars_checked: check.elements_checked,
        scalars_unchecked: check.elements_undetermined,
        worst: classes.first().and_then(|class| class.examples.first().cloned()),
        classes,
        times: check.times,
        picture: check.picture,
        ..blank(case, path, status, String::new(), check.seed)
    }
}

/// A program is written so that all that it leaves is determined: what is not is no pass. What the text itself leaves open for accesses
/// beyond the end is not checked, and counted as that.
fn status(check: &CheckResult) -> (Status, Option<String>) {
    let left_open = CauseKind::Robustness.to_string();
    let open = !check.undetermined.is_empty() && check.undetermined.iter().all(|u| u.cause == left_open);
    if check.status == Status::Pass && check.elements_undetermined > 0 && !open {
        let why = check.undetermined.first().map(|u| format!("{}, at {}", u.cause, u.place));
        let what = format!("{} elements are not determined: {}", check.elements_undetermined, why.unwrap_or_default());
        return (Status::Undetermined, Some(what));
    }
    let first = check.mismatches.iter().find(|m| m.status == check.status);
    let reason = match (&check.reason, first) {
        (Some(reason), Some(first)) => Some(format!("{reason}; {} got {}", place(first), first.got)),
        (reason, _) => reason.clone(),
    };
    (check.status, reason)
}

fn place(mismatch: &Mismatch) -> String {
    let Mismatch { buffer, element, offset, .. } = mismatch;
    format!("{buffer} {element} at byte {offset}")
}

fn classes(check: &CheckResult) -> Vec<ClassCount> {
    // Failures before warnings.
    let mut classes: BTreeMap<(bool, &str), Vec<&Mismatch>> = BTreeMap::new();
    for mismatch in &check.mismatches {
        classes.entry((mismatch.status != Status::Fail, &mismatch.class)).or_default().push(mismatch);
    }
    let mut list: Vec<ClassCount> = classes
        .into_iter()
        .map(|((_, class), found)| ClassCount {
            status: found[0].status,
            class: class.to_owned(),
            count: found.len() as u64,
            examples: found.iter().take(EXAMPLES).copied().map(example).collect(),
        })
        .collect();
    if check.mismatches.len() >= KEPT {
        for (status, all) in [(Status::Fail, check.elements_failing), (Status::QualityWarning, check.elements_warning)]
        {
            let kept = check.mismatches.iter().filter(|m| m.status == status).count() as u64;
            if let Some(count) = all.checked_sub(kept).filter(|&count| count > 0) {
                list.push(ClassCount { status, class: MORE.to_owned(), count, examples: Vec::new() });
            }
        }
    }
    list
}

/// An example, but for how it is run again.
fn example(mismatch: &Mismatch) -> Example {
    Example {
        operands: vec![format!("{}, {} before", place(mismatch), mismatch.before)],
        slot: 0,
        got: mismatch.got.clone(),
        permitted: mismatch.permitted.clone(),
        margin: None,
        explain: String::new(),
    }
}
