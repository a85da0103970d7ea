//! Exit codes, and errors that carry one.

use assay_reports::Outcome;
use std::fmt;

/// Success: every result is as expected.
pub(crate) const OK: u8 = 0;
/// Failures.
pub(crate) const FAILURES: u8 = 1;
/// Error in the arguments or in an input, or an output that cannot be written.
pub(crate) const USAGE: u8 = 2;
/// No case matched, or nothing was checked.
pub(crate) const NOTHING: u8 = 3;
/// No usable device.
pub(crate) const NO_DEVICE: u8 = 4;
/// A defect of Assay.
pub(crate) const INTERNAL: u8 = 70;
/// Interrupted by a signal before the last case, with or without failures: 128 + SIGINT, as in
/// shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// Every exit code with its meaning: `assay --help` and the README show this table.
const CODES: [(u8, &str); 7] = [
    (OK, "everything as expected; a QualityWarning alone does not change that"),
    (FAILURES, "failures; diff: something is worse; inspect: a rule is broken; explain: the result is not permitted"),
    (
        USAGE,
        "a mistake in the arguments or in an input, such as a `--device` that no device matches, or an output that cannot be written",
    ),
    (NOTHING, "no case matched, or nothing could be checked"),
    (NO_DEVICE, "no Vulkan device, none that can be opened, or no link through `--via`"),
    (INTERNAL, "a defect of Assay"),
    (INTERRUPTED, "interrupted, whatever failed before; `assay run --resume DIR` continues a run"),
];

/// Returns the table of exit codes for `assay --help`, in lines of at most 80 columns.
pub(crate) fn help() -> String {
    const WIDTH: usize = 73;
    let mut text = "Exit codes:".to_owned();
    for (code, meaning) in CODES {
        let mut line = String::new();
        let mut label = code.to_string();
        for word in meaning.split(' ') {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                text += &format!("\n  {label:<3}  {line}");
                (line, label) = (String::new(), String::new());
            }
            line += if line.is_empty() { "" } else { " " };
            line += word;
        }
        text += &format!("\n  {label:<3}  {line}");
    }
    text
}

/// Returns the exit code of a run.
pub(crate) fn of_outcome(outcome: Outcome, interrupted: bool) -> u8 {
    match outcome {
        // An incomplete run has no verdict, even if cases failed.
        _ if interrupted => INTERRUPTED,
        Outcome::Pass | Outcome::EmptyPart => OK,
        Outcome::Failures => FAILURES,
        Outcome::NothingChecked => NOTHING,
        Outcome::Incomplete => INTERNAL,
    }
}

/// An error with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = String::new();
        // Most messages already end with their cause, which is then not repeated.
        for cause in self.error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
            if !written.ends_with(&cause) {
                write!(f, "{}{cause}", if written.is_empty() { "" } else { ": " })?;
                written = cause;
            }
        }
        Ok(())
    }
}

/// Attaches exit codes.
pub(crate) trait WithCode<T> {
    /// Attaches an exit code to the error.
    fn code(self, code: u8) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> WithCode<T> for Result<T, E> {
    fn code(self, code: u8) -> Result<T, Failure> {
        self.map_err(|error| Failure { code, error: error.into() })
    }
}

/// Returns an error in the arguments or an input.
pub(crate) fn usage(message: impl fmt::Display) -> Failure {
    Failure { code: USAGE, error: anyhow::anyhow!("{message}") }
}

impl From<assay_vulkan::Error> for Failure {
    /// Attaches the exit code to an error from selecting or opening a device.
    fn from(error: assay_vulkan::Error) -> Failure {
        use assay_vulkan::Error::{Ambiguous, NoMatch, NoValidationLayer};
        let code = match error {
            NoMatch { .. } | Ambiguous { .. } | NoValidationLayer => USAGE,
            _ => NO_DEVICE,
        };
        Failure { code, error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn an_interrupted_run_has_its_own_code_for_every_outcome() {
        for outcome in [Outcome::Pass, Outcome::Failures, Outcome::NothingChecked, Outcome::Incomplete] {
            assert_eq!(of_outcome(outcome, true), INTERRUPTED, "{outcome:?}");
            assert_ne!(of_outcome(outcome, false), INTERRUPTED, "{outcome:?}");
        }
    }

    #[test]
    fn help_and_readme_show_the_same_exit_codes() {
        let readme = include_str!("../../../README.md");
        let rows = CODES.map(|(code, meaning)| format!("| {code} | {meaning} |"));
        let table = format!("| exit code | meaning |\n|---|---|\n{}\n\n", rows.join("\n"));
        assert!(readme.contains(&table), "README.md must contain this table of exit codes:\n{table}");
        let help = help();
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (code, meaning) in CODES {
            assert!(words(&help).contains(&format!("{code} {meaning}")), "{code}: {help}");
        }
    }

    #[test]
    fn a_cause_is_printed_once() {
        for (error, message) in [
            (
                anyhow!("gone").context("cannot read a.txt: gone").context("the list"),
                "the list: cannot read a.txt: gone",
            ),
            (anyhow!("gone").context("cannot read a.txt"), "cannot read a.txt: gone"),
            (anyhow!("gone"), "gone"),
        ] {
            assert_eq!(Failure { code: USAGE, error }.to_string(), message);
        }
    }
}
