//! Readers and writers for deqp-runner's files. Labs can use their existing lists without changes.
//!
//! The CSV files have no header and no quoting, and are sorted by name. `failures.csv` of one run
//! can serve as the baseline of the next.

mod case_lists;
mod status;

pub use case_lists::{Baseline, ListError, ListLine, Patterns, case_list};
pub use status::{DeqpStatus, TestStatus, UnknownStatus};

/// Replaces the characters of a name that would end a field or line in a file without quoting.
pub(crate) fn plain(name: &str) -> String {
    name.replace([',', '\n', '\r'], "_")
}
