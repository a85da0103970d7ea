//! Progress on stderr.

use assay_runner::{Event, Reporter};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{collections::BTreeMap, io, time::Duration};

/// A bar on stderr: cases done of cases planned, with the part of those under way. Nothing at all if stderr is not a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Inputs done and inputs in all, of the cases under way.
    running: BTreeMap<String, (u64, u64)>,
    finished: u64,
    planned: u64,
}

/// Steps of the bar that one case takes, so that a long one moves it.
const STEPS: u64 = 1_000;

impl Progress {
    /// One for the terminal; `quiet`: none.
    pub fn stderr(quiet: bool) -> Progress {
        if quiet {
            return Progress::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        Progress { bar, running: BTreeMap::new(), finished: 0, planned: 0 }
    }

    /// One that is never drawn.
    pub fn hidden() -> Progress {
        Progress { bar: ProgressBar::hidden(), running: BTreeMap::new(), finished: 0, planned: 0 }
    }

    /// The bar, for those who have to write beside it.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    fn redraw(&self) {
        let part = |&(done, inputs): &(u64, u64)| {
            (u128::from(done.min(inputs)) * u128::from(STEPS) / u128::from(inputs.max(1))) as u64
        };
        self.bar.set_position(self.finished * STEPS + self.running.values().map(part).sum::<u64>());
        self.bar.set_prefix(format!("{}/{}", self.finished, self.planned));
        let name = self.running.iter().next().map(|(name, inputs)| match part(inputs) {
            0 => name.clone(),
            part => format!("{name} {} %", part / 10),
        });
        self.bar.set_message(name.unwrap_or_default());
    }
}

impl Drop for Progress {
    /// A run that ends early leaves no bar behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Reporter for Progress {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RunStarted(run) => {
                self.planned = run.cases as u64;
                let template = "{prefix:>11} [{bar:24}] {elapsed} (eta {eta})  {wide_msg}";
                // The template is fixed; without it the default bar is still a bar.
                if let Ok(style) = ProgressStyle::with_template(template) {
                    self.bar.set_style(style.progress_chars("=> "));
                }
                self.bar.set_length(self.planned * STEPS);
                self.bar.enable_steady_tick(Duration::from_millis(250));
            }
            Event::CaseStarted { name, inputs } => _ = self.running.insert(name.clone(), (0, *inputs)),
            Event::CaseProgress { name, done, inputs } => _ = self.running.insert(name.clone(), (*done, *inputs)),
            Event::CaseFinished(case) => {
                self.running.remove(&case.name);
                self.finished += 1;
            }
            Event::CheckFinished(_) => self.finished += 1,
            Event::RunFinished { .. } => {
                self.bar.finish_and_clear();
                return Ok(());
            }
        }
        self.redraw();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{case, run};
    use assay_runner::Status;

    #[test]
    fn a_long_case_moves_the_bar() {
        let mut progress = Progress::hidden();
        let mut send = |event| {
            progress.event(&event).unwrap();
            (progress.bar.position(), progress.bar.message())
        };
        send(Event::RunStarted(Box::new(run(2))));
        send(Event::CaseStarted { name: "p.a".to_owned(), inputs: 1 << 32 });
        let at = send(Event::CaseProgress { name: "p.a".to_owned(), done: 1 << 31, inputs: 1 << 32 });
        assert_eq!(at, (500, "p.a 50 %".to_owned()));
        assert_eq!(send(Event::CaseFinished(Box::new(case("p.a", Status::Pass)))), (1_000, String::new()));
    }
}
