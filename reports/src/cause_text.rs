//! Causes as text.

use crate::{
    causes::{CHECK, WHOLE_SHADERS},
    counted, group_digits,
    humanize::share,
    margin,
    scalar_types::{describe, parse_types, permitted_texts, result_type, value},
    summary_table::style,
};
use anstyle::Style;
use assay_events::{Cause, Example, Status};
use assay_precision::OperandRegion;
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

/// Largest number of causes that the console lists.
const LISTED: usize = 40;

/// Longest text of classes or a reason in a title, in characters.
const REASON: usize = 100;

/// Returns a cause in one line: `Frexp: denormal operands, FlushedIn`.
pub(crate) fn title(cause: &Cause) -> String {
    let instruction = match (cause.instruction.as_str(), cause.family.as_str()) {
        ("", family) => format!("{family} without a traced instruction"),
        (instruction, "precision" | CHECK | WHOLE_SHADERS) => instruction.to_owned(),
        (instruction, family) => format!("{instruction} ({family})"),
    };
    let mut parts = Vec::new();
    if let Some(regions) = regions(cause) {
        parts.push(format!("{regions} operands"));
    }
    // Another seed must not give another title, by which runs are compared.
    let classes: BTreeSet<&str> = cause.classes.iter().map(|class| class.name.as_str()).collect();
    if !classes.is_empty() {
        parts.push(and(&classes.into_iter().collect::<Vec<_>>()));
    }
    if cause.status != Status::Fail {
        parts.push(format!("{:?}", cause.status));
    }
    if let Some(reason) = &cause.reason {
        let line = reason.lines().next().unwrap_or_default();
        match line.char_indices().nth(REASON) {
            Some((end, _)) => parts.push(format!("{}..", &line[..end])),
            None => parts.push(line.to_owned()),
        }
    }
    if cause.path != "native" {
        parts.push(cause.path.clone());
    }
    format!("{instruction}: {}", parts.join(", "))
}

/// Returns the regions of the operands as an adjective; `None` if unknown or without a float.
fn regions(cause: &Cause) -> Option<String> {
    let regions: BTreeSet<OperandRegion> =
        cause.regions.iter().filter_map(|of| OperandRegion::from_name(&of.name)).collect();
    if regions.contains(&OperandRegion::Moderate) && regions.len() > 1 {
        return Some("moderate and other".to_owned());
    }
    let words: Vec<&str> =
        regions.iter().filter(|region| **region != OperandRegion::Integer).map(|region| region.adjective()).collect();
    (!words.is_empty()).then(|| and(&words))
}

/// Joins words: `a, b and c`.
fn and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Returns the extent of a cause: `20 of 24 cases, f16 f32 f64`.
pub(crate) fn extent(cause: &Cause) -> String {
    let cases = match cause.checked_cases {
        of if of > cause.cases => format!("{} of {}", group_digits(cause.cases), counted(of, "case")),
        of if of == cause.cases && of > 1 => format!("all {}", counted(of, "case")),
        _ => counted(cause.cases, "case"),
    };
    let expected = match cause.cases - cause.unexpected {
        0 => String::new(),
        n => format!(" ({} expected)", group_digits(n)),
    };
    let widths = if cause.widths.is_empty() { String::new() } else { format!(", {}", cause.widths.join(" ")) };
    format!("{cases}{expected}{widths}")
}

/// Returns the properties that all cases of a cause share and that not every case has. The name of a
/// single case says all.
pub(crate) fn shared(cause: &Cause) -> Vec<String> {
    let mut shared = Vec::new();
    if cause.cases == 1 {
        return shared;
    }
    if !cause.modes.is_empty() && !cause.modes.iter().any(|modes| modes == "default") {
        let names = |modes: &String| modes.split('+').map(str::to_owned).collect::<BTreeSet<_>>();
        let common = cause.modes.iter().map(names).reduce(|a, b| &a & &b).unwrap_or_default();
        match common.into_iter().collect::<Vec<_>>().join(" + ") {
            none if none.is_empty() => shared.push("a mode other than default".to_owned()),
            common => shared.push(common),
        }
    }
    if cause.modes == ["default"] {
        shared.push("default mode".to_owned());
    }
    if !cause.sources.is_empty() && !cause.sources.iter().any(|source| source == "buffer") {
        shared.push("operands that are constants of the shader".to_owned());
    }
    if cause.sources == ["buffer"] {
        shared.push("operands from a buffer".to_owned());
    }
    if let [shape] = cause.shapes.as_slice() {
        shared.push(shape.clone());
    } else if !cause.shapes.is_empty() && !cause.shapes.iter().any(|shape| shape == "scalar") {
        shared.push("vectors or matrices".to_owned());
    }
    shared
}

/// Returns the severity of the errors: the share of wrong results and the largest margin.
pub(crate) fn severity(cause: &Cause) -> String {
    if cause.scalars == 0 {
        return String::new();
    }
    let scalars = counted(cause.scalars_checked, "result");
    let share = share(cause.scalars, cause.scalars_checked);
    let margin = cause.worst_margin.map_or_else(String::new, |worst| format!(", margin up to {}", margin(worst)));
    format!("{} of {scalars} ({share}){margin}", group_digits(cause.scalars))
}

/// Returns the example of a cause in one line: operands, result and permitted results.
pub(crate) fn example_line(example: &Example, types: &str) -> String {
    let (results, operands) = parse_types(types);
    let slot = result_type(example, types);
    let permitted = permitted_texts(example, types);
    let permitted = if permitted.is_empty() { "nothing".to_owned() } else { permitted.join(" or ") };
    let component = if results.len() > 1 && example.scalar.is_none() {
        format!(" component {}", example.slot)
    } else {
        String::new()
    };
    let at = describe(&example.operands, &operands);
    format!("at {at}:{component} got {}, permitted {permitted}", value(slot, &example.got))
}

/// Writes the causes of a run with unexpected failures, worst first. `rerun` returns the command
/// that repeats a case.
pub(crate) fn write(out: &mut dyn Write, causes: &[Cause], rerun: impl Fn(&str) -> String) -> io::Result<()> {
    let unexpected: Vec<&Cause> = causes.iter().filter(|cause| cause.unexpected > 0).collect();
    if unexpected.is_empty() {
        return Ok(());
    }
    let bold = Style::new().bold();
    writeln!(out, "{bold}causes of the failures{bold:#}")?;
    for cause in unexpected.iter().take(LISTED) {
        let style = style(cause.status);
        writeln!(out, "{style}{}{style:#}, {}", cause.title, extent(cause))?;
        let facts: Vec<String> =
            [severity(cause), shared(cause).join(", ")].into_iter().filter(|text| !text.is_empty()).collect();
        if !facts.is_empty() {
            writeln!(out, "    {}", facts.join("; "))?;
        }
        let representative = &cause.representative;
        // The title of a whole shader is its case.
        if representative.case != cause.instruction {
            writeln!(out, "    {}", representative.case)?;
        }
        match &representative.example {
            Some(example) => {
                writeln!(out, "      {}", example_line(example, &representative.types))?;
                let command = example.explain_command().unwrap_or_else(|| rerun(&representative.case));
                writeln!(out, "      {command}")?;
            }
            None => writeln!(out, "      {}", rerun(&representative.case))?,
        }
    }
    if unexpected.len() > LISTED {
        writeln!(out, "and {}, in causes.json", counted(unexpected.len() - LISTED, "more cause"))?;
    }
    writeln!(out)
}
