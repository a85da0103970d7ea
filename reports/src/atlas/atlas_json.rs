//! `atlas.json`, written result by result.

use super::atlas_data::AtlasData;
use assay_events::{ATLAS_SCHEMA, AtlasDevice, AtlasInstruction, AtlasResult, AtlasRun};
use serde::Serialize;
use std::io::{self, Write};

/// The fields of [`assay_events::Atlas`] before the results.
#[derive(Serialize)]
struct Head<'a> {
    schema: u32,
    version: &'a str,
    devices: &'a [AtlasDevice],
    runs: &'a [AtlasRun],
    instructions: &'a [AtlasInstruction],
}

/// Writes the text before the results.
pub(super) fn write_head(out: &mut dyn Write, data: &AtlasData<'_>) -> io::Result<()> {
    let head = Head {
        schema: ATLAS_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        devices: &data.devices,
        runs: &data.runs,
        instructions: &data.instructions,
    };
    let head = serde_json::to_string(&head)?;
    // The results follow inside the object.
    write!(out, "{},\"results\":[", head.strip_suffix('}').unwrap_or(&head))
}

/// Returns a result as text.
pub(super) fn text(result: &AtlasResult) -> io::Result<String> {
    Ok(serde_json::to_string(result)?)
}
