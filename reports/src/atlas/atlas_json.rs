//! `atlas.json`, written result by result.

use super::atlas_data::AtlasData;
use crate::read::ReadError;
use assay_events::{ATLAS_SCHEMA, AtlasDevice, AtlasInstruction, AtlasRun};
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

/// Writes [`assay_events::Atlas`], a result a line.
pub(super) fn write(out: &mut dyn Write, data: &AtlasData<'_>) -> io::Result<()> {
    let head = Head {
        schema: ATLAS_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        devices: &data.devices,
        runs: &data.runs,
        instructions: &data.instructions,
    };
    let head = serde_json::to_string(&head)?;
    write!(out, "{},\"results\":[", head.trim_end_matches('}'))?;
    let mut separator = "\n";
    data.each_result::<AtlasWriteError>(|result| {
        write!(out, "{separator}{}", serde_json::to_string(&result).map_err(io::Error::from)?)?;
        separator = ",\n";
        Ok(())
    })?;
    writeln!(out, "\n]}}")
}

/// Error while results are read and written.
pub(super) struct AtlasWriteError(io::Error);

impl From<ReadError> for AtlasWriteError {
    fn from(error: ReadError) -> AtlasWriteError {
        AtlasWriteError(io::Error::other(error))
    }
}

impl From<io::Error> for AtlasWriteError {
    fn from(error: io::Error) -> AtlasWriteError {
        AtlasWriteError(error)
    }
}

impl From<AtlasWriteError> for io::Error {
    fn from(error: AtlasWriteError) -> io::Error {
        error.0
    }
}
