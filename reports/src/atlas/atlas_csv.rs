//! `atlas.csv`: a line for each result, with the columns of [`HEAD`].

use super::{atlas_data::AtlasData, atlas_json::AtlasWriteError};
use crate::margin;
use assay_events::{AtlasResult, Example};
use std::io::{self, Write};

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

/// Writes the results.
pub(super) fn write(out: &mut dyn Write, data: &AtlasData<'_>) -> io::Result<()> {
    write_line(out, HEAD.map(str::to_owned))?;
    Ok(data.each_result::<AtlasWriteError>(|result| Ok(write_line(out, fields(data, result))?))?)
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

/// Writes a line as RFC 4180 describes it, with a line feed at its end.
fn write_line<const N: usize>(out: &mut dyn Write, fields: [String; N]) -> io::Result<()> {
    let quoted = |field: &String| {
        let plain = !field.contains([',', '"', '\n', '\r']);
        if plain { field.clone() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    };
    writeln!(out, "{}", fields.each_ref().map(quoted).join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let mut out = Vec::new();
        write_line(&mut out, ["f32 <- f32, f32".to_owned(), "a \"b\"".to_owned(), "c".to_owned()]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\"f32 <- f32, f32\",\"a \"\"b\"\"\",c\n");
    }
}
