//! Progress display on stderr.

use crate::{counted, group_digits, seconds};
use assay_events::{CaseEnd, Event, Reporter};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// Progress of a run. On a terminal it is a bar that includes the progress of running cases;
/// elsewhere, for instance in a CI log, a line every half minute.
pub struct Progress {
    bar: ProgressBar,
    lines: Option<LogLines>,
    /// Running cases: inputs done, total inputs, and start time.
    running: BTreeMap<String, (u64, u64, Instant)>,
    finished: u64,
    /// Results of an earlier run, which do not count towards the speed.
    earlier: u64,
    failing: u64,
    planned: u64,
    /// Number of worker processes, for display; 0 for none.
    workers: usize,
    /// Prefix that names the run among concurrent runs.
    label: String,
    began: Instant,
}

/// The bars of concurrent runs, one terminal line each.
#[derive(Clone, Debug)]
pub struct ProgressBars(MultiProgress);

impl Default for ProgressBars {
    fn default() -> ProgressBars {
        ProgressBars(MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10)))
    }
}

/// Destination and interval of log lines.
struct LogLines {
    out: Box<dyn Write>,
    every: Duration,
    last: Instant,
}

/// Steps of the bar for one case, so that a long case moves the bar.
const STEPS: u64 = 1_000;

/// Interval of log lines.
const EVERY: Duration = Duration::from_secs(30);

impl Progress {
    /// Returns a display on stderr for a run with this many workers. `earlier` results come from an
    /// earlier run.
    pub fn stderr(workers: usize, earlier: usize) -> Progress {
        let mut progress = Progress::hidden();
        (progress.workers, progress.earlier) = (workers, earlier as u64);
        if io::stderr().is_terminal() {
            progress.bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        } else {
            progress.lines = Some(LogLines { out: Box::new(io::stderr()), every: EVERY, last: Instant::now() });
        }
        progress
    }

    /// Makes this the display of one of several concurrent runs, named by `which`.
    #[must_use]
    pub fn labelled(mut self, bars: &ProgressBars, which: &str) -> Progress {
        if self.lines.is_none() && !self.bar.is_hidden() {
            self.bar = bars.0.add(ProgressBar::no_length());
        }
        self.label = format!("{which}: ");
        self
    }

    /// Returns a display that shows nothing.
    pub fn hidden() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
            lines: None,
            running: BTreeMap::new(),
            finished: 0,
            earlier: 0,
            failing: 0,
            planned: 0,
            workers: 0,
            label: String::new(),
            began: Instant::now(),
        }
    }

    /// Returns the bar, for others that write to the terminal.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    fn redraw(&mut self) {
        let part = |&(done, inputs, _): &(u64, u64, Instant)| {
            (u128::from(done.min(inputs)) * u128::from(STEPS) / u128::from(inputs.max(1))) as u64
        };
        self.bar.set_position(self.finished * STEPS + self.running.values().map(part).sum::<u64>());
        self.bar.set_prefix(format!("{}{}/{}", self.label, self.finished, self.planned));
        // The case that has run longest is the bottleneck.
        let slowest = self.running.iter().min_by_key(|(_, (.., since))| *since);
        let slowest = slowest.map(|(name, state)| match part(state) {
            0 => name.clone(),
            part => format!("{name} {} %", part / 10),
        });
        let failing = if self.failing > 0 { format!("{} failing  ", self.failing) } else { String::new() };
        self.bar.set_message(format!("{failing}{}", slowest.clone().unwrap_or_default()));
        let line = self.line(slowest);
        let Some(lines) = &mut self.lines else { return };
        if lines.last.elapsed() >= lines.every {
            lines.last = Instant::now();
            if writeln!(lines.out, "{line}").is_err() {
                // A closed log does not end the run.
                self.lines = None;
            }
        }
    }

    /// Formats a log line.
    fn line(&self, slowest: Option<String>) -> String {
        let took = self.began.elapsed().as_secs_f64();
        let rate = self.finished.saturating_sub(self.earlier) as f64 / took.max(1e-3);
        let left = self.planned.saturating_sub(self.finished) as f64 / rate;
        let left = if rate > 0.0 { format!(", about {} left", seconds(left)) } else { String::new() };
        let workers = match self.workers {
            0 => String::new(),
            n => format!(", {}", counted(n, "worker")),
        };
        let slowest = slowest.map_or_else(String::new, |name| format!("; longest running: {name}"));
        let (done, all, failing) =
            (group_digits(self.finished), counted(self.planned, "case"), group_digits(self.failing));
        let which = &self.label;
        format!("assay: {which}{done} of {all}, {failing} failing, {rate:.1} per second{left}{workers}{slowest}")
    }
}

impl Drop for Progress {
    /// Removes the bar if the run ends early.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Reporter for Progress {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RunStarted(run) => {
                self.planned = run.cases as u64;
                self.began = Instant::now();
                let template = "{prefix:>11} [{bar:24}] {elapsed} (eta {eta})  {wide_msg}";
                // The template is constant; the default style would also do.
                if let Ok(style) = ProgressStyle::with_template(template) {
                    self.bar.set_style(style.progress_chars("=> "));
                }
                self.bar.set_length(self.planned * STEPS);
                self.bar.enable_steady_tick(Duration::from_millis(250));
            }
            Event::CaseStarted { name, inputs } => {
                self.running.insert(name.clone(), (0, *inputs, Instant::now()));
            }
            Event::CaseProgress { name, done, inputs } => {
                let state = self.running.entry(name.clone()).or_insert((0, *inputs, Instant::now()));
                (state.0, state.1) = (*done, *inputs);
            }
            Event::CaseFinished(_) | Event::CheckFinished(_) => {
                if let Some(CaseEnd { name, status, .. }) = event.case_end() {
                    self.running.remove(name);
                    self.failing += u64::from(status.is_failure());
                }
                self.finished += 1;
            }
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
    use crate::test_events::{case, run};
    use assay_events::Status;

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

    #[test]
    fn a_log_receives_progress_lines() {
        let text = Log::default();
        let lines = LogLines { out: Box::new(text.clone()), every: Duration::ZERO, last: Instant::now() };
        let mut progress = Progress::hidden();
        (progress.lines, progress.workers, progress.earlier) = (Some(lines), 2, 1);
        for event in [
            Event::RunStarted(Box::new(run(3_000))),
            Event::CaseFinished(Box::new(case("p.a", Status::Pass))),
            Event::CaseStarted { name: "p.b".to_owned(), inputs: 4 },
            Event::CaseStarted { name: "p.c".to_owned(), inputs: 4 },
            Event::CaseFinished(Box::new(case("p.c", Status::Fail))),
        ] {
            progress.event(&event).unwrap();
        }
        let text = String::from_utf8(text.0.borrow().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "assay: 1 of 3,000 cases, 0 failing, 0.0 per second, 2 workers");
        let last = lines.last().unwrap();
        assert!(last.starts_with("assay: 2 of 3,000 cases, 1 failing, "), "{last}");
        assert!(last.ends_with(" left, 2 workers; longest running: p.b"), "{last}");
    }

    #[test]
    fn progress_of_concurrent_runs_is_labelled() {
        let mut progress = Progress::hidden().labelled(&ProgressBars::default(), "device 1");
        progress.event(&Event::RunStarted(Box::new(run(7)))).unwrap();
        assert_eq!(progress.bar.prefix(), "device 1: 0/7");
        assert!(progress.line(None).starts_with("assay: device 1: 0 of 7 cases"), "{}", progress.line(None));
    }

    #[derive(Clone, Default)]
    struct Log(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
