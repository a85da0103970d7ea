//! Status of a check. A Pass requires an element that the shader wrote and that could have come out
//! wrong.

use crate::dispatch_setup::Descriptor;
use assay_runner::{CheckResult, Status, Trouble, Writes, count};

/// Reason for a shader without observable output.
pub(crate) const NO_OUTPUT: &str = "the shader writes no storage buffer, storage image or storage texel buffer, so \
                                    there is nothing to check";

/// Remedy: options with which a shader may write more.
const TRY: &str = "try other values of --push, --input, --workgroups or --elements";

/// A check gets a warning if it wrote less than one in this many elements.
const FEW: u64 = 20;

/// Returns the status of a check, and the reason if it is not a Pass. `hollow` is set if no written
/// element could have come out wrong.
pub(crate) fn of(result: &CheckResult, trouble: Option<Trouble>, hollow: bool) -> (Status, Option<String>) {
    let checked = result.elements_checked;
    if let Some(trouble) = trouble {
        return (trouble.status(), Some(trouble.to_string()));
    }
    if result.elements_failing > 0 {
        let how = if result.fails_only_the_case() { "not as the case file expects" } else { "not permitted" };
        let what = format!("{} of {checked} elements are {how}", result.elements_failing);
        (Status::Fail, Some(what))
    } else if result.elements_warning > 0 {
        let what = format!("{} of {checked} elements are permitted by a lenient reading only", result.elements_warning);
        (Status::QualityWarning, Some(what))
    } else if hollow {
        (Status::Undetermined, Some(hollow_reason(result.writes.as_ref())))
    } else {
        (Status::Pass, None)
    }
}

/// Returns the reason for a check in which no written element could have come out wrong.
pub(crate) fn hollow_reason(writes: Option<&Writes>) -> String {
    let none = Writes::default();
    let Writes { elements, written, .. } = writes.unwrap_or(&none);
    match (elements, written) {
        (0, _) => format!("no checked workgroup wrote an element, so nothing was checked; {TRY}"),
        (_, 0) => format!("the shader wrote none of {} elements, so nothing was checked; {TRY}", count(elements)),
        _ => format!(
            "the shader wrote only undetermined elements, {} of {}, so nothing was checked; {TRY}",
            count(written),
            count(elements)
        ),
    }
}

/// Returns a warning for a passing check that wrote only a small share of its elements.
pub(crate) fn few_written(result: &CheckResult, descriptors: &[Descriptor]) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let writes = result.writes.as_ref().filter(|_| passes)?;
    let may_be_written = |binding: &str| descriptors.iter().any(|d| d.changed && d.label() == binding);
    let bindings = writes.bindings.iter().filter(|of| may_be_written(&of.binding));
    let elements = bindings.map(|of| of.elements).sum::<u64>();
    (writes.written.saturating_mul(FEW) < elements).then(|| {
        let (written, elements, share) = (count(writes.written), count(elements), 100 / FEW);
        format!(
            "warning: the shader wrote only {written} of the {elements} elements that it may write, less than \
             {share} %, and the verdict rests on these; {TRY}"
        )
    })
}
