//! Events as lines of JSON, for other programs.

use crate::{Progress, block_output::BlockOutput, journal};
use assay_events::{Event, Reporter};
use std::io::{self, Write};

/// Reporter that writes the lines of `results.jsonl` as the events occur.
pub struct JsonLines(BlockOutput);

impl JsonLines {
    /// Returns a reporter that writes to `out`.
    pub fn new(out: impl Write + 'static) -> JsonLines {
        JsonLines(BlockOutput::new(out))
    }

    /// Suspends the progress bar on the same terminal while writing.
    #[must_use]
    pub fn with_progress(self, progress: &Progress) -> JsonLines {
        JsonLines(self.0.with_progress(progress))
    }
}

impl Reporter for JsonLines {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => {}
            event => self.0.write(journal::line(event)?.as_bytes()),
        }
        Ok(())
    }
}
