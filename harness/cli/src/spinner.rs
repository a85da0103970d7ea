//! A sign of life during work without a known length.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, Write, stderr},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Time between two lines where stderr is not a terminal.
const LINE: Duration = Duration::from_secs(20);

/// A spinner with the elapsed time and a message; where stderr is not a terminal, a line from time
/// to time. It ends when this is dropped.
pub(crate) struct Spinner {
    bar: ProgressBar,
    /// Takes new messages.
    messages: Sender<String>,
}

impl Spinner {
    /// Starts a spinner.
    pub(crate) fn new(message: &str) -> Spinner {
        let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner().with_style(style).with_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        let (messages, received) = mpsc::channel();
        if !stderr().is_terminal() {
            let mut message = message.to_owned();
            thread::spawn(move || {
                let started = Instant::now();
                let mut next = LINE;
                loop {
                    match received.recv_timeout(next.saturating_sub(started.elapsed())) {
                        Ok(changed) => message = changed,
                        Err(RecvTimeoutError::Timeout) => {
                            // Nobody reads it if stderr is closed.
                            _ = writeln!(stderr(), "assay: after {} s: {message}", started.elapsed().as_secs());
                            next += LINE;
                        }
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            });
        }
        Spinner { bar, messages }
    }

    /// Changes the message.
    pub(crate) fn set_message(&self, message: String) {
        self.bar.set_message(message.clone());
        // The thread is gone or was never there.
        _ = self.messages.send(message);
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
