//! Output of reporters that print.

use crate::Progress;
use indicatif::ProgressBar;
use std::io::Write;

/// Output in whole blocks. After a write error, for instance a closed pipe (`assay run | head`) or
/// a full disk, it stays silent and the run continues, since its results are in the result
/// directory.
pub(crate) struct BlockOutput {
    out: Box<dyn Write>,
    bar: Option<ProgressBar>,
    gone: bool,
}

impl BlockOutput {
    pub(crate) fn new(out: impl Write + 'static) -> BlockOutput {
        BlockOutput { out: Box::new(out), bar: None, gone: false }
    }

    /// Suspends the progress bar on the same terminal while writing.
    pub(crate) fn with_progress(self, progress: &Progress) -> BlockOutput {
        BlockOutput { bar: Some(progress.bar()), ..self }
    }

    /// Writes a block at once.
    pub(crate) fn write(&mut self, block: &[u8]) {
        let out = &mut self.out;
        let mut write = || out.write_all(block).and_then(|()| out.flush());
        if !self.gone {
            let written = match &self.bar {
                Some(bar) => bar.suspend(write),
                None => write(),
            };
            self.gone = written.is_err();
        }
    }
}
