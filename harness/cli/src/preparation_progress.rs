//! Progress of the preparation of a run's shaders.

use assay_reports::{counted, group_digits};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of log lines.
const EVERY: Duration = Duration::from_secs(30);

/// Display on stderr of how many shaders have been compiled: a bar on a terminal, elsewhere a line
/// every half minute.
pub(crate) struct PreparationProgress {
    bar: ProgressBar,
    all: u64,
    log: Option<Mutex<PreparationLog>>,
}

struct PreparationLog {
    finished: u64,
    last: Instant,
}

impl PreparationProgress {
    /// Returns a display for this many shaders; `quiet` hides it.
    pub(crate) fn new(all: usize, quiet: bool) -> PreparationProgress {
        let all = all as u64;
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(all) };
        let style = ProgressStyle::with_template("{spinner} {elapsed} reading and compiling the shaders {pos}/{len}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(120));
        let is_log = !quiet && !io::stderr().is_terminal();
        let log = is_log.then(|| Mutex::new(PreparationLog { finished: 0, last: Instant::now() }));
        PreparationProgress { bar, all, log }
    }

    /// Counts a shader that has been compiled or refused.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
        let Some(log) = &self.log else { return };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.finished += 1;
        if log.last.elapsed() >= EVERY {
            log.last = Instant::now();
            // A closed log does not end the run.
            let (finished, all) = (group_digits(log.finished), counted(self.all, "shader"));
            _ = writeln!(io::stderr(), "assay: {finished} of {all} read and compiled");
        }
    }
}

impl Drop for PreparationProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
