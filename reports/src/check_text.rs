//! Console text for one check of a shader.

use crate::{
    counted, group_digits, plural,
    scalar_types::{ScalarType, parse_types, value},
    seconds,
    summary_table::style,
};
use assay_events::{Blame, CheckResult, Mismatch, Status, Writes, class_names};
use std::{
    cmp::Reverse,
    fmt::{Display, Write},
};

/// Time of a search for parameters, or of a compilation, from which it is printed, in seconds.
pub(crate) const LONG: f64 = 1.0;

/// Number of wrong elements that are printed in full, and of places of undetermined ones.
const SHOWN: usize = 5;

/// Beginning of a note that warns.
const WARNING: &str = "warning: ";

/// Number of chosen options that the line of a check has room for.
const CHOSEN: usize = 4;

/// Writes a line of a block that begins with a label.
fn labelled(out: &mut String, label: &str, text: impl Display) {
    _ = writeln!(out, "  {label:<9} {text}");
}

/// Formats a check as a block of lines: the dispatch, wrong elements, undetermined elements, and
/// the first wrong instruction.
pub fn text(check: &CheckResult) -> String {
    let mut out = String::new();
    let style = style(check.status);
    if !check.is_prepared() {
        _ = writeln!(out, "{}\n", line(check).trim_end());
        return out;
    }
    let [x, y, z] = check.workgroups;
    let [lx, ly, lz] = check.workgroup_size;
    let part = check.sampled.map_or_else(String::new, |part| {
        let within = if part.workgroups == 1 { "in" } else { "in each of" };
        let each = part.invocations.map(|each| format!("{} {within} ", counted(each, "invocation")));
        let each = each.unwrap_or_default();
        format!(", a subset of {each}{} of {} workgroups", group_digits(part.workgroups), group_digits(part.of))
    });
    _ = writeln!(out, "{style}{:?}{style:#} {}: {}", check.status, check.name, check.conclusion());
    for line in check.reason.iter().flat_map(|reason| reason.lines().skip(1)) {
        _ = writeln!(out, "  {line}");
    }
    if let Some(options) = &check.chosen {
        labelled(&mut out, "chosen", format_args!("{options} (by Assay)"));
    }
    if let Some(parameters) = &check.parameters {
        labelled(&mut out, "inputs", parameters);
    }
    labelled(
        &mut out,
        "dispatch",
        format_args!(
            "{} with {x} x {y} x {z} workgroups of {lx} x {ly} x {lz}{part}, {}",
            check.entry,
            check.rounds_text()
        ),
    );
    if let Some(executed) = &check.executed {
        let is_told = |code: &str| check.reason.iter().chain(&check.notes).any(|text| text.contains(code));
        let code = executed.skipped.as_ref().map(ToString::to_string).filter(|code| !is_told(code));
        labelled(
            &mut out,
            "code",
            format_args!("{executed}{}", code.map_or_else(String::new, |code| format!("; {code}"))),
        );
    }
    if let Some(writes) = &check.writes {
        labelled(&mut out, "output", writes);
    }
    if let Some(score) = &check.mutations {
        // A warning names it, too.
        let is_told = |error: &String| check.notes.iter().any(|note| note.contains(error.as_str()));
        let hidden = score.unnoticed.first().filter(|error| !is_told(error));
        let hidden = hidden.map_or_else(String::new, |error| format!("; one that it hides: {error}"));
        labelled(&mut out, "errors", format_args!("{score}{hidden}"));
    }
    if let Some(compiler) = &check.compiler {
        labelled(&mut out, "compiler", compiler);
    }
    let (warnings, notes): (Vec<_>, Vec<_>) = check.notes.iter().partition(|note| note.starts_with(WARNING));
    for warning in warnings {
        _ = writeln!(out, "  {warning}");
    }
    for note in notes {
        // The line `chosen` has the options.
        let options = check.chosen.as_ref().filter(|options| note.contains(options.as_str()));
        let note = options.map_or_else(|| note.clone(), |options| note.replace(options.as_str(), "these options"));
        _ = writeln!(out, "  note: {note}");
    }
    for mismatch in check.mismatches.iter().take(SHOWN) {
        element(&mut out, mismatch);
    }
    let shown = &check.mismatches[..SHOWN.min(check.mismatches.len())];
    for (status, elements, what) in [
        (Status::Fail, check.elements_failing, "not permitted"),
        (Status::QualityWarning, check.elements_warning, "permitted by a lenient reading only"),
    ] {
        let listed = shown.iter().filter(|mismatch| mismatch.status == status).count() as u64;
        if let Some(more) = elements.checked_sub(listed).filter(|&more| more > 0) {
            _ = writeln!(out, "  and {} more {what}", group_digits(more));
        }
    }
    derivation(&mut out, check);
    for blame in &check.blamed {
        blamed(&mut out, blame);
    }
    if check.elements_undetermined > 0 {
        let (elements, verb) = (check.elements_undetermined, plural(check.elements_undetermined, "is", "are"));
        _ = writeln!(out, "  {} {verb} undetermined:", counted(elements, "element"));
        let mut causes: Vec<_> = check.undetermined.iter().collect();
        causes.sort_by_key(|cause| Reverse(cause.elements));
        let others = causes.split_off(causes.len().min(SHOWN));
        for cause in causes {
            _ = writeln!(out, "    {:>7}  {}, at {}", group_digits(cause.elements), cause.cause, cause.place);
        }
        let elements: u64 = others.iter().map(|cause| cause.elements).sum();
        if elements > 0 {
            _ = writeln!(out, "    {:>7}  at {}", group_digits(elements), counted(others.len(), "more place"));
        }
    }
    if let Some(part) = check.sampled {
        let (beyond, verb) = (counted(part.elements_beyond, "element"), plural(part.elements_beyond, "was", "were"));
        _ = writeln!(
            out,
            "  {beyond} {verb} not checked: no invocation of the subset writes {}",
            plural(part.elements_beyond, "it", "them")
        );
    }
    let if_long = |doing: &str, time: f64| match time {
        short if short < LONG => String::new(),
        long => format!("{doing} in {}, ", seconds(long)),
    };
    let search = if_long("parameters sought", check.times.search);
    let build = if_long("compiled", check.times.build);
    labelled(&mut out, "compared", compared(check));
    labelled(
        &mut out,
        "effort",
        format_args!(
            "{search}{build}{} interpreted in {}, device time {}\n",
            counted(check.instructions, "instruction"),
            seconds(check.times.check),
            seconds(check.times.device)
        ),
    );
    out
}

/// Formats a check of a run with several shaders as a line. The full text shows a failure.
pub(crate) fn line(check: &CheckResult) -> String {
    let style = style(check.status);
    let few = check.notes.iter().find(|note| note.starts_with(WARNING)).map(|note| format!("; {note}"));
    let few = few.filter(|_| check.reason.is_none()).unwrap_or_default();
    let (conclusion, chosen) = (check.conclusion(), chosen_options(check));
    format!("{style}{:<14}{style:#} {}  {conclusion}{few}{chosen}\n", format!("{:?}", check.status), check.name)
}

/// Returns the first of the options that Assay chose, as the end of a sentence.
fn chosen_options(check: &CheckResult) -> String {
    let options: Vec<&str> = check.chosen.iter().flat_map(|options| options.split(" --")).collect();
    match options.len() {
        0 => String::new(),
        1..=CHOSEN => format!("; Assay chose {}", options.join(" --")),
        all => format!("; Assay chose {} and {} more", options[..CHOSEN - 1].join(" --"), all - CHOSEN + 1),
    }
}

/// Describes the elements that were compared. Without a written element that could have come out
/// wrong they say nothing about the device, and are not called checked.
fn compared(check: &CheckResult) -> String {
    let elements = counted(check.elements_checked, "element");
    let is_free = |writes: &Writes| writes.falsifiable == 0;
    let hollow = check.elements_failing + check.elements_warning == 0 && check.writes.as_ref().is_some_and(is_free);
    match check.elements_checked {
        0 => "no element of the output".to_owned(),
        _ if hollow && check.writes.as_ref().is_some_and(|writes| writes.written == 0) => {
            format!("{elements}: none was written, and all have their old contents")
        }
        _ if hollow => format!("{elements}, all with their old contents or with any value permitted"),
        _ => {
            let failing = check.elements_failing;
            if check.fails_only_the_case() {
                let expectations = counted(failing, "expectation");
                format!("{} elements and expectations, {expectations} not met", group_digits(check.elements_checked))
            } else {
                let compared = check.elements_checked + check.elements_undetermined;
                let of = |number: fn(&Writes) -> u64| check.writes.as_ref().map_or(0, number);
                let (written, falsifiable) = (of(|writes| writes.written), of(|writes| writes.falsifiable));
                let kept_elements = compared.saturating_sub(written);
                let kept = match kept_elements {
                    kept if kept == 0 || kept >= check.elements_checked => String::new(),
                    kept => format!(" ({} of them must keep their contents)", group_digits(kept)),
                };
                let any = check.elements_checked.saturating_sub(falsifiable).saturating_sub(kept_elements);
                let others = match any {
                    0 => String::new(),
                    any => format!("; {} others may have any value", group_digits(any)),
                };
                let elements = counted(check.elements_checked - any, "element");
                format!("{elements}{kept}, {} not permitted{others}", group_digits(failing))
            }
        }
    }
}

fn element(out: &mut String, m: &Mismatch) {
    let slot = first_type(&m.scalar);
    let style = style(m.status);
    let kind = format!("{}, round {}, {}", m.class, m.round, m.scalar);
    _ = writeln!(out, "  {style}{}{}{style:#} at byte {} ({kind})", m.buffer, m.element, m.offset);
    // An equivalence check compares translations and runs nothing, so it has no obtained result.
    let (got, permitted) = match m.class.as_str() {
        class_names::CHANGED | class_names::WIDER => ("may be", "permitted"),
        class_names::NEVER_EXPECTED => ("may be", "expected"),
        class_names::EXPECTATION => ("got", "expected"),
        _ => ("got", "permitted"),
    };
    _ = writeln!(out, "    {got:<9} {}", value(slot, &m.got));
    ranges(out, slot, (permitted, &m.permitted), "    ");
    _ = writeln!(out, "    before    {}", value(slot, &m.before));
    if let Some(invocation) = m.invocation {
        _ = writeln!(out, "    by        invocation {invocation}");
    }
    if !m.is_against_the_specification() {
        _ = writeln!(out, "    source    the {} file's expectation", m.by);
    }
}

/// Prints the recorded instructions that led to the first wrong element, one per line.
fn derivation(out: &mut String, check: &CheckResult) {
    if check.derivation.is_empty() {
        return;
    }
    _ = writeln!(out, "  recorded computation of the first of these:");
    for step in &check.derivation {
        let slot = first_type(&step.scalar);
        let mark = match step.within {
            Some(true) => " ",
            Some(false) => "!",
            None => "?",
        };
        let operands: Vec<String> = step.operands.iter().map(|operand| operand.join(" ")).collect();
        _ = writeln!(out, "  {mark} {}({}) at {}", step.name, operands.join(", "), step.place);
        for (result, permitted) in step.result.iter().zip(&step.permitted) {
            _ = writeln!(out, "      got       {}", value(slot, result));
            if step.within != Some(true) || permitted.iter().any(|[lo, hi]| lo != hi) {
                ranges(out, slot, ("permitted", permitted), "      ");
            }
        }
    }
}

fn blamed(out: &mut String, blame: &Blame) {
    let Blame { name, place, wrong, recorded, example, .. } = blame;
    let slot = first_type(&example.scalar);
    _ = writeln!(out, "  wrong instruction: {name} at {place}");
    let executions = plural(recorded, "execution", "executions");
    let (wrong, recorded) = (group_digits(*wrong), group_digits(*recorded));
    _ = writeln!(
        out,
        "    its result is not permitted for its operands in {wrong} of {recorded} recorded {executions}"
    );
    let operands: Vec<String> = example.operands.iter().map(|operand| operand.join(" ")).collect();
    // An instruction whose operands are all constants has no recorded operands.
    let operands = if operands.is_empty() { String::new() } else { format!(": operands {}", operands.join(", ")) };
    _ = writeln!(out, "    invocation {}, component {}{operands}", example.invocation, example.component);
    _ = writeln!(out, "    got       {}", value(slot, &example.got));
    ranges(out, slot, ("permitted", &example.permitted), "    ");
}

fn ranges(out: &mut String, slot: ScalarType, (name, permitted): (&str, &[[String; 2]]), indent: &str) {
    const RANGES: usize = 4;
    for (i, [lo, hi]) in permitted.iter().take(RANGES).enumerate() {
        let range = if lo == hi { value(slot, lo) } else { format!("{} .. {}", value(slot, lo), value(slot, hi)) };
        let label = if i == 0 { format!("{name:<9}") } else { format!("{:>9}", "and") };
        _ = writeln!(out, "{indent}{label} {range}");
    }
    if permitted.len() > RANGES {
        _ = writeln!(out, "{indent}      and {} more", permitted.len() - RANGES);
    }
}

fn first_type(scalar: &str) -> ScalarType {
    parse_types(scalar).0.first().copied().unwrap_or(ScalarType::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::check;
    use assay_events::{BindingWrites, BlameExample, UndeterminedElements, UnjudgedRound, WorkgroupSubset, Writes};

    #[test]
    fn wrong_and_undetermined_elements_are_printed() {
        let text = text(&check(Status::Fail));
        for part in [
            "a.wgsl: 2 of 8 elements are not permitted\n",
            "  dispatch  main with 4 x 2 x 1 workgroups of 8 x 8 x 1, 2 rounds\n",
            "note: round 0 was not run",
            "set 0 binding 1 (sums)[3].x",
            "got       0x3f800001 = 1.0000001",
            "permitted 0x3f800000 = 1",
            "and nan",
            "invocation 7",
            "and 1 more",
            "3 elements are undetermined",
            "3  a race, at a.wgsl:3:1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_line_tells_a_few_chosen_options() {
        let first = |options: &str| {
            let text = line(&CheckResult { chosen: Some(options.to_owned()), ..check(Status::Pass) });
            text.lines().next().unwrap().split_once("; Assay chose ").unwrap().1.to_owned()
        };
        let four = "--define TILE=4 --push n=1 --input a=0..1 --elements 0.0=7";
        assert_eq!(first(four), four);
        let six = format!("{four} --input b=2 --workgroups 1,1,1");
        assert_eq!(first(&six), "--define TILE=4 --push n=1 --input a=0..1 and 3 more");
    }

    #[test]
    fn places_of_few_undetermined_elements_are_counted() {
        let at =
            |n: u64| UndeterminedElements { cause: "a cause".to_owned(), place: format!("place {n}"), elements: n };
        let undetermined = (1..=7).map(at).collect();
        let text = text(&CheckResult { undetermined, elements_undetermined: 28, ..check(Status::Pass) });
        let from = text.find("a cause, at place 7").expect("the largest");
        let third = text.find("a cause, at place 3").expect("the fifth");
        assert!(from < third && !text.contains("place 2"), "{text}");
        assert!(text.contains("      3  at 2 more places"), "{text}");
    }

    /// Constants are not recorded as operands, so an instruction may have none.
    #[test]
    fn recorded_operands_are_printed() {
        let example = BlameExample {
            invocation: 3,
            operands: vec![vec!["0x3f800000".into()]],
            component: 1,
            got: "0x00000000".into(),
            permitted: Vec::new(),
            scalar: "f32".into(),
        };
        let blame = Blame { instruction: 0, name: "OpFAdd".into(), place: "a".into(), wrong: 1, recorded: 1, example };
        let told = |blame: Blame| text(&CheckResult { blamed: vec![blame], ..check(Status::Fail) });
        assert!(told(blame.clone()).contains("invocation 3, component 1: operands 0x3f800000\n"));
        let none = BlameExample { operands: Vec::new(), ..blame.example.clone() };
        assert!(told(Blame { example: none, ..blame }).contains("invocation 3, component 1\n"));
    }

    #[test]
    fn the_conclusion_comes_first_then_unjudged_rounds_and_the_writes() {
        let binding = BindingWrites { binding: "a".into(), elements: 12_288, written: 5, falsifiable: 5, wide: 0 };
        let writes = Some(Writes::of(vec![binding]));
        let unjudged = vec![UnjudgedRound { round: 0, why: "wrote nothing".into() }];
        let text = text(&CheckResult { writes, unjudged, rounds_checked: 1, ..check(Status::Pass) });
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0]
                .ends_with("a.wgsl: this says little about the shader: all 5 written elements checked, all permitted"),
            "{text}"
        );
        assert!(lines[2].ends_with(", 2 rounds; round 0 wrote nothing"), "{text}");
        assert_eq!(lines[3], "  output    wrote 5 of 12,288 elements in 1 of 1 binding", "{text}");
    }

    #[test]
    fn a_subset_of_workgroups_is_reported() {
        let sampled = Some(WorkgroupSubset { workgroups: 64, of: 4096, invocations: None, elements_beyond: 100_000 });
        let text = text(&CheckResult { sampled, ..check(Status::Pass) });
        assert!(text.contains("of 8 x 8 x 1, a subset of 64 of 4,096 workgroups, 2 rounds"), "{text}");
        assert!(text.contains("100,000 elements were not checked"), "{text}");
        let part = sampled.map(|part| WorkgroupSubset { invocations: Some(16), ..part });
        let text = super::text(&CheckResult { sampled: part, ..check(Status::Pass) });
        assert!(text.contains("a subset of 16 invocations in each of 64 of 4,096 workgroups"), "{text}");
    }
}
