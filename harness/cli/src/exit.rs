//! Exit codes, and errors that carry one.

use assay_reports::Outcome;
use std::fmt;

/// Everything as expected.
pub(crate) const OK: u8 = 0;
/// Failures; `explain`: the result is outside every reading.
pub(crate) const FAILURES: u8 = 1;
/// A mistake in the arguments or in an input, or an output folder that cannot be written.
pub(crate) const USAGE: u8 = 2;
/// Nothing matched, or nothing was checked.
pub(crate) const NOTHING: u8 = 3;
/// No usable device.
pub(crate) const NO_DEVICE: u8 = 4;
/// A defect of Assay.
pub(crate) const INTERNAL: u8 = 70;
/// Ended by Ctrl-C before anything failed: 128 + SIGINT, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// What `assay --help` says about the codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    everything as expected
  1    failures (explain: the result given is outside every reading)
  2    a mistake in the arguments or an input, or an output folder that cannot be written
  3    no case matched, or nothing could be checked
  4    no usable device
  70   a defect of Assay
  130  interrupted before anything failed";

/// The code of a run.
pub(crate) fn of_outcome(outcome: Outcome, interrupted: bool) -> u8 {
    match outcome {
        Outcome::Clean | Outcome::Empty => OK,
        Outcome::Failures => FAILURES,
        Outcome::NothingChecked => NOTHING,
        Outcome::Incomplete if interrupted => INTERRUPTED,
        Outcome::Incomplete => INTERNAL,
    }
}

/// An error with the exit code that it calls for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = String::new();
        // Most errors end with what caused them.
        for cause in self.error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
            if !said.ends_with(&cause) {
                write!(f, "{}{cause}", if said.is_empty() { "" } else { ": " })?;
                said = cause;
            }
        }
        Ok(())
    }
}

/// Attaches exit codes.
pub(crate) trait WithCode<T> {
    /// The error calls for that code.
    fn code(self, code: u8) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> WithCode<T> for Result<T, E> {
    fn code(self, code: u8) -> Result<T, Failure> {
        self.map_err(|error| Failure { code, error: error.into() })
    }
}

/// A mistake in the arguments.
pub(crate) fn usage(message: impl fmt::Display) -> Failure {
    Failure { code: USAGE, error: anyhow::anyhow!("{message}") }
}

impl From<assay_vulkan::Error> for Failure {
    /// Errors on the way to an opened device.
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
    fn a_cause_is_told_once() {
        for (error, told) in [
            (
                anyhow!("gone").context("cannot read a.txt: gone").context("the list"),
                "the list: cannot read a.txt: gone",
            ),
            (anyhow!("gone").context("cannot read a.txt"), "cannot read a.txt: gone"),
            (anyhow!("gone"), "gone"),
        ] {
            assert_eq!(Failure { code: USAGE, error }.to_string(), told);
        }
    }
}
