//! Events as lines of JSON, for other programs.

use crate::journal;
use assay_events::{Event, Reporter};
use std::io::{self, Write};

/// Reporter that writes the lines of `results.jsonl` as the events occur.
#[derive(Debug)]
pub struct JsonLines<W>(pub W);

impl<W: Write> Reporter for JsonLines<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => Ok(()),
            event => self.0.write_all(journal::line(event)?.as_bytes()),
        }
    }
}
