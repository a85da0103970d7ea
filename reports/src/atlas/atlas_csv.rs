//! `atlas.csv`: a line for each result, with the columns of [`HEAD`].

use super::atlas_data::AtlasData;
use crate::margin;
use assay_events::{AtlasResult, Example};

/// Names of the columns.
const HEAD: [&str; 28] = [
    "instruction",
    "format",
    "types",
    "shape",
    "modes",
    "source",
    "device",
    "driver",
    "api",
    "case",
    "status",
    "margin",
    "inputs_tested",
    "inputs_possible",
    "failing_inputs",
    "warning_inputs",
    "classes",
    "worst_operands",
    "worst_got",
    "worst_permitted",
    "rule",
    "clause",
    "coverage",
    "reason",
    "folder",
    "started",
    "budget",
    "command",
];

/// Returns the first line.
pub(super) fn head() -> String {
    line_of(HEAD.map(str::to_owned))
}

/// Returns the line of a result.
pub(super) fn line(data: &AtlasData<'_>, result: AtlasResult) -> String {
    line_of(fields(data, result))
}

fn fields(data: &AtlasData<'_>, result: AtlasResult) -> [String; HEAD.len()] {
    let (device, run) = (&data.devices[result.device], &data.runs[result.run]);
    let classes = result.classes.iter().map(|of| format!("{} {}", of.class, of.count));
    let worst = result.worst.as_ref();
    let of_worst = |text: fn(&Example) -> String| worst.map(text).unwrap_or_default();
    [
        result.instruction,
        result.format,
        result.types,
        result.shape,
        result.modes,
        result.source,
        device.name.clone(),
        data.driver(result.device),
        device.api.clone(),
        result.case,
        format!("{:?}", result.status),
        worst.and_then(|worst| worst.margin).map_or_else(String::new, margin),
        result.inputs_tested.to_string(),
        result.inputs_possible,
        result.failing_inputs.to_string(),
        result.warning_inputs.to_string(),
        classes.collect::<Vec<_>>().join("; "),
        of_worst(|worst| worst.operands.join(" ")),
        of_worst(|worst| worst.got.clone()),
        of_worst(|worst| worst.permitted.iter().map(|ends| ends.join("..")).collect::<Vec<_>>().join(" ")),
        result.rule,
        result.clause,
        result.coverage,
        result.reason.unwrap_or_default(),
        run.folder.clone(),
        run.started.clone(),
        run.budget.clone(),
        result.command,
    ]
}

/// Returns a line as RFC 4180 describes it, with a line feed at its end.
fn line_of<const N: usize>(fields: [String; N]) -> String {
    let quoted = |field: String| {
        let plain = !field.contains([',', '"', '\n', '\r']);
        if plain { field } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    };
    fields.map(quoted).join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let line = line_of(["f32 <- f32, f32".to_owned(), "a \"b\"".to_owned(), "c".to_owned()]);
        assert_eq!(line, "\"f32 <- f32, f32\",\"a \"\"b\"\"\",c\n");
    }
}
