//! A spinner for work without a known length.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Returns a spinner with the elapsed time and a message.
pub(crate) fn spinner(message: &'static str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
