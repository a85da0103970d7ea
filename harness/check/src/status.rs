//! Status of a check. A Pass requires an element that the shader wrote and that could have come out
//! wrong.

use crate::chosen_parameters::AvoidedFault;
use assay_events::{Blame, CheckResult, PossibleFault, Status, TracedInstructions, Writes, group_digits};
use assay_exec::ExecError;
use assay_oracle::{CauseKind, FaultKind};

/// Reason for a shader without observable output.
pub(crate) const NO_OUTPUT: &str = "the shader writes no storage buffer, storage image or storage texel buffer, so \
                                    there is nothing to check";

/// Reason for a shader whose only output is behind addresses of unknown origin.
pub(crate) const UNKNOWN_ADDRESSES: &str = "the shader writes only through device addresses, and Assay does not see which \
     words of push constants or buffers hold them, so there is nothing to check; declare each buffer with --buffer NAME=COUNT*TYPE, and the word that \
     holds its address with --address PLACE@BYTE=NAME";

/// Remedy for a device that did not finish.
pub(crate) const TRY_LONGER: &str = "raise the limit with --timeout if the shader takes longer";

/// Returns the status of a check, and the reason if it is not a Pass. `hollow` is set if no written
/// element could have come out wrong; `advice` is the remedy for that; `None` if the caller's
/// options are fixed.
pub(crate) fn of(
    result: &CheckResult,
    failure: Option<ExecError>,
    hollow: bool,
    advice: Option<&str>,
) -> (Status, Option<String>) {
    let checked = result.elements_checked;
    if let Some(failure) = failure {
        let advice = advice.filter(|_| failure.status() == Status::Timeout).map(|_| TRY_LONGER);
        return (failure.status(), Some(advised(failure.to_string(), advice)));
    }
    let failing = result.elements_failing;
    if failing > 0 && result.fails_only_the_case() {
        let are = if failing == 1 { "expectation of the case file is" } else { "expectations of the case file are" };
        (
            Status::Fail,
            Some(format!(
                "{} {are} not met, although the specification forbids none of the values",
                group_digits(failing)
            )),
        )
    } else if failing > 0 {
        let are = if failing == 1 { "is" } else { "are" };
        (Status::Fail, Some(format!("{failing} of {checked} elements {are} not permitted")))
    } else if result.elements_warning > 0 {
        let what = format!("{} of {checked} elements are permitted by a lenient reading only", result.elements_warning);
        (Status::QualityWarning, Some(what))
    } else if hollow {
        (Status::Undetermined, Some(hollow_reason(result, advice)))
    } else {
        (Status::Pass, None)
    }
}

/// Beginning of a reason that names a benign race.
pub(crate) const BENIGN_RACES: &str = "benign races are undefined behaviour, but were permitted";

/// Lets a verdict depend on a benign race: a Pass becomes a QualityWarning, and the reason names
/// the race. With the race the shader has undefined behaviour by the specification.
pub(crate) fn qualify_by_benign_race(result: &mut CheckResult, race: &str) {
    let assumed = format!("{BENIGN_RACES}: {race}");
    match result.status {
        Status::Pass => (result.status, result.reason) = (Status::QualityWarning, Some(assumed)),
        Status::Fail | Status::QualityWarning => {
            let reason = result.reason.take().map_or_else(String::new, |reason| reason + "; ");
            result.reason = Some(reason + &assumed);
        }
        _ => {}
    }
}

/// Takes back what [`qualify_by_benign_race`] made of a Pass, for a race that is not one of the shader. The
/// caller names the undefined behaviour that the shader has.
pub(crate) fn without_benign_race(result: &mut CheckResult) {
    let is_race = result.reason.as_ref().is_some_and(|reason| reason.starts_with(BENIGN_RACES));
    if result.status == Status::QualityWarning && is_race {
        (result.status, result.reason) = (Status::Pass, None);
    }
}

/// Lets a verdict depend on undefined behaviour of the shader that the check avoids: a Pass becomes a
/// QualityWarning. Its reason, that of another QualityWarning, and that of a check that says nothing, begin
/// with the fault.
pub(crate) fn qualify_by_avoided_fault(result: &mut CheckResult, avoided: &AvoidedFault) {
    let AvoidedFault { fault, details, otherwise } = avoided;
    let details = details.as_ref().map_or_else(String::new, |details| format!("\n{details}"));
    match (result.status, &result.reason) {
        (Status::Pass, _) => {
            let why = format!("{fault}; {otherwise}, {}{details}", result.conclusion());
            (result.status, result.reason) = (Status::QualityWarning, Some(why));
        }
        (Status::QualityWarning, Some(reason)) => {
            result.reason = Some(format!("{fault}; {otherwise}, {reason}{details}"));
        }
        (Status::Undetermined, Some(reason)) => {
            result.reason = Some(format!("{fault}{details}\n{otherwise}, {reason}"));
        }
        _ => {}
    }
}

/// Returns the reason for a check in which no written element could have come out wrong.
pub(crate) fn hollow_reason(result: &CheckResult, advice: Option<&str>) -> String {
    let none = Writes::default();
    let Writes { elements, written, .. } = result.writes.as_ref().unwrap_or(&none);
    let mut advice = advice;
    let why = match (elements, written) {
        (0, _) => "no checked workgroup wrote an element, so no element was checked".to_owned(),
        (_, 0) => {
            let skipped = result.executed.as_ref().and_then(|executed| executed.skipped.as_ref());
            let because = skipped.map_or_else(String::new, |skipped| format!(": {skipped}"));
            format!("the shader wrote none of {} elements, so no element was checked{because}", group_digits(elements))
        }
        _ => {
            let cause = result.undetermined.iter().max_by_key(|cause| cause.elements);
            // Other inputs do not order invocations.
            advice = advice.filter(|_| cause.is_none_or(|cause| cause.cause != CauseKind::Order.to_string()));
            let cause = cause.map_or_else(String::new, |cause| format!(" (most: {}, at {})", cause.cause, cause.place));
            format!(
                "the shader wrote only undetermined elements, {} of {}, so no element was checked{cause}",
                group_digits(written),
                group_digits(elements)
            )
        }
    };
    advised(why, advice)
}

/// Returns the warnings for a passing check that says little about the shader, the first with advice.
pub(crate) fn thin_warnings(result: &CheckResult, advice: Option<&str>) -> Vec<String> {
    let warnings = [few_judged, thin_modes, few_values, few_instructions, few_noticed];
    let mut warnings: Vec<String> = warnings.iter().filter_map(|warning| warning(result)).collect();
    if let Some(first) = warnings.first_mut() {
        *first = advised(std::mem::take(first), advice);
    }
    warnings
}

/// Returns notes on the parts of the shader about which a passing verdict says nothing: bindings
/// that it never wrote, and accesses that may race.
pub(crate) fn unchecked_parts(result: &CheckResult) -> Vec<String> {
    if !matches!(result.status, Status::Pass | Status::QualityWarning) {
        return Vec::new();
    }
    let bindings = result.writes.iter().flat_map(|writes| &writes.bindings);
    let unwritten: Vec<&str> =
        bindings.filter(|of| of.elements > 0 && of.written == 0).map(|of| of.binding.as_str()).collect();
    let unwritten = (!unwritten.is_empty()).then(|| {
        format!(
            "warning: no checked invocation wrote to {}, so the verdict says nothing about that",
            unwritten.join(", ")
        )
    });
    let is_race = |fault: &&PossibleFault| fault.kind == Some(FaultKind::DataRace.to_string());
    let race = result.possible_fault.as_ref().filter(is_race);
    let race = race.map(|fault| match fault.by_atomic {
        true => format!(
            "the place of the access at {} depends on the result of an atomic; if several invocations get one place, \
             they race",
            fault.place
        ),
        false => format!(
            "warning: the shader may have {fault}: Assay knows of no order of the accesses, or not their addresses"
        ),
    });
    unwritten.into_iter().chain(race).collect()
}

/// Returns a note for results on which the specification places no requirement, perhaps because of
/// an infinite constant of the shader.
pub(crate) fn infinite_operands(result: &CheckResult, constant: Option<&str>) -> Option<String> {
    let is_open = result.undetermined.iter().any(|open| open.cause.starts_with(&CauseKind::NoRequirement.to_string()));
    constant.filter(|_| is_open).map(|constant| {
        format!(
            "the shader uses the constant {constant}: without float controls, the specification places no requirement on \
             operations with infinities and NaNs, whatever the inputs are; results of a large finite number in its \
             place can be checked"
        )
    })
}

/// The two readings of the accuracy of texels (Vulkan, "Conversion From Normalized Fixed-Point to
/// Floating-Point").
const TEXEL_DOUBT: &str = " (the text does not say what the accuracy of a normalised texel, 1 part in 10^5, is relative to: its \
                           value, or the range of the format)";

/// Adds the check of the instructions by themselves to a result. It can decide one whose output
/// could not be judged.
pub(crate) fn by_instructions(result: &mut CheckResult, traced: TracedInstructions, wrong: Option<Blame>) {
    let unrecorded = traced.unrecorded.join(", ");
    let lenient = group_digits(traced.lenient);
    let decided = match &wrong {
        Some(Blame { name, place, wrong, .. }) => Some((
            Status::Fail,
            Some(format!(
                "{name} at {place} gave {} results that are not permitted for its operands in an instrumented \
                 variant of the shader",
                group_digits(wrong)
            )),
        )),
        None if !traced.is_meaningful() => {
            if let (Status::Undetermined, Some(reason)) = (result.status, &mut result.reason) {
                *reason += &format!("; by themselves, too few instructions could be checked for a verdict: {traced}");
            }
            None
        }
        None if traced.lenient > 0 => {
            let most = traced.most_lenient.as_ref().map_or_else(String::new, |place| {
                let is_texel = ["OpImageRead", "OpImageFetch"].iter().any(|name| place.starts_with(name));
                let doubt = if is_texel { TEXEL_DOUBT } else { "" };
                format!(", most of {place}{doubt}")
            });
            let all = group_digits(traced.results);
            let why =
                format!("{lenient} of {all} results of instructions are permitted by a lenient reading only{most}");
            Some((Status::QualityWarning, Some(why)))
        }
        None => (result.status == Status::Undetermined).then_some((Status::Pass, None)),
    };
    // A QualityWarning of the output stays.
    if let Some((status, reason)) = decided.filter(|(status, _)| *status != result.status) {
        let is_open = result.status == Status::Undetermined;
        let of_output = if is_open { "the output could not be judged: " } else { "of the output: " };
        // The conclusion of a Pass tells that no element was checked, and others list the causes.
        let is_told = status == Status::Pass && result.writes.as_ref().is_some_and(|writes| writes.falsifiable == 0);
        let before = result.reason.take().filter(|_| !is_told);
        result.notes.extend(before.map(|why| format!("{of_output}{why}")));
        (result.status, result.reason) = (status, reason);
    }
    let is_conclusion = result.status == Status::Pass && traced.is_meaningful();
    if is_conclusion && traced.results > 0 {
        let others = if unrecorded.is_empty() { "" } else { "; and instructions that cannot be recorded: " };
        let is_checked = result.writes.as_ref().is_some_and(|writes| writes.falsifiable > 0);
        let how = if is_checked { "checked by the output alone" } else { "not checked" };
        result.notes.push(format!("{how}: loads, stores, barriers and branches{others}{unrecorded}"));
    }
    if !is_conclusion && traced.results > 0 {
        let all = match (&wrong, traced.lenient) {
            (Some(_), _) => String::new(),
            (None, 0) => ", all permitted".to_owned(),
            (None, _) => format!(", {lenient} of them permitted by a lenient reading only"),
        };
        let what = "checked by themselves, for the operands that the device recorded";
        let others = if unrecorded.is_empty() { "" } else { "; not recorded: " };
        result.notes.push(format!("{what}: {traced}{all}{others}{unrecorded}"));
    }
    result.blamed.extend(wrong);
    result.traced = Some(traced);
}

/// Returns a warning for a passing check in which only a small share of the elements that the
/// shader may write could have come out wrong.
fn few_judged(result: &CheckResult) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let writes = result.writes.as_ref().filter(|_| passes)?;
    let few = |number: u64| !Writes::is_enough(number, writes.elements);
    if !few(writes.narrow()) {
        return None;
    }
    let (all, share) = (group_digits(writes.elements), 100 / Writes::MEANINGFUL);
    let only = |number, could| {
        format!("only {} of the {all} elements that the shader may write {could}", group_digits(number))
    };
    let what = if few(writes.written) {
        format!("the shader wrote only {} of the {all} elements that it may write", group_digits(writes.written))
    } else if few(writes.falsifiable) {
        only(writes.falsifiable, "could have come out wrong")
    } else {
        only(writes.narrow(), "could have come out wrong by a factor of two")
    };
    Some(format!("warning: {what}, less than {share} %, and the verdict rests on these"))
}

/// Returns a warning for a passing check with parameters of which some give few elements that could have
/// come out wrong.
fn thin_modes(result: &CheckResult) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let writes = result.writes.as_ref().filter(|writes| passes && writes.thin_modes > 0)?;
    let (rounds, share) = (writes.thin_modes, 100 / Writes::MEANINGFUL);
    let rounds = if rounds == 1 { "a round".to_owned() } else { format!("{} rounds", group_digits(rounds)) };
    Some(format!(
        "warning: in {rounds} with other parameters, less than {share} % of the elements could have come out wrong"
    ))
}

/// Returns a warning for a passing check in which nearly all elements that could have come out
/// wrong have one value or their old one.
fn few_values(result: &CheckResult) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let writes = result.writes.as_ref().filter(|writes| passes && !writes.is_varied())?;
    let distinct = writes.distinct.unwrap_or_default();
    let all = group_digits(writes.falsifiable);
    let which = match distinct {
        0 => format!("the {all} elements that could have come out wrong"),
        _ => format!("all but {} of the {all} elements that could have come out wrong", group_digits(distinct)),
    };
    Some(format!("warning: {which} have one value or keep their old one, which says little about the shader"))
}

/// Returns a warning for a passing check in which the shader executed only a small share of its
/// instructions.
fn few_instructions(result: &CheckResult) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let executed = result.executed.as_ref().filter(|executed| passes && !executed.is_meaningful())?;
    let skipped = executed.skipped.as_ref().map_or_else(String::new, |skipped| format!("; {skipped}"));
    Some(format!("warning: less than half of the shader's instructions ran: it {executed}{skipped}"))
}

/// Returns a warning for a passing check that would notice only a small share of planted errors.
fn few_noticed(result: &CheckResult) -> Option<String> {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let score = result.mutations.as_ref().filter(|score| passes && !score.is_meaningful())?;
    if !score.is_known() {
        return Some(format!("warning: {score}"));
    }
    let one = score.unnoticed.first().map_or_else(String::new, |one| format!(", for example not in {one}"));
    Some(format!("warning: {score}: less than half{one}"))
}

/// Appends advice to a statement.
pub(crate) fn advised(what: String, advice: Option<&str>) -> String {
    advice.map_or(what.clone(), |advice| format!("{what}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_events::BlameExample;

    fn result(status: Status, reason: Option<&str>) -> CheckResult {
        let reason = reason.map(str::to_owned);
        CheckResult { status, reason, ..CheckResult::not_run("a".to_owned(), status, String::new(), 0) }
    }

    fn traced(instructions: u64, lenient: u64) -> TracedInstructions {
        TracedInstructions { instructions, of: 10, results: 100, lenient, ..TracedInstructions::default() }
    }

    fn wrong() -> Blame {
        let example = BlameExample {
            invocation: 0,
            operands: Vec::new(),
            component: 0,
            got: "0x0".to_owned(),
            permitted: Vec::new(),
            scalar: "f32".to_owned(),
        };
        let (name, place) = ("OpFMul".to_owned(), "a:1".to_owned());
        Blame { instruction: 7, name, place, wrong: 3, recorded: 4, example }
    }

    #[test]
    fn instructions_decide_an_open_check_and_hide_no_warning() {
        let cases = [
            (Status::Undetermined, traced(10, 0), None, Status::Pass),
            (Status::Undetermined, traced(10, 1), None, Status::QualityWarning),
            (Status::Undetermined, traced(4, 0), None, Status::Undetermined),
            (Status::Undetermined, traced(4, 0), Some(wrong()), Status::Fail),
            (Status::Pass, traced(10, 0), None, Status::Pass),
            (Status::Pass, traced(10, 1), None, Status::QualityWarning),
            (Status::QualityWarning, traced(10, 0), None, Status::QualityWarning),
            (Status::QualityWarning, traced(10, 0), Some(wrong()), Status::Fail),
        ];
        for (before, traced, wrong, after) in cases {
            let mut result = result(before, (before != Status::Pass).then_some("for a reason"));
            by_instructions(&mut result, traced.clone(), wrong);
            assert_eq!(result.status, after, "{before:?}, {traced:?}");
            assert_eq!(result.reason.is_none(), after == Status::Pass, "{result:?}");
            let kept = result.reason.iter().chain(&result.notes).any(|text| text.contains("for a reason"));
            assert_eq!(kept, before != Status::Pass, "{result:?}");
        }
    }
}
