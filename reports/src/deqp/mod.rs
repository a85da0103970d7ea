//! deqp-runner's files, read and written exactly as it does, so that labs can go on using what they have.
//!
//! No header, no quoting, sorted by name. `failures.csv` of one run is the baseline of the next.

mod lists;
mod word;

pub use lists::{Baseline, Line, ListError, Patterns, case_list};
pub use word::{Did, NoWord, Word};

/// A name without what would end it in a file without quoting.
pub(crate) fn plain(name: &str) -> String {
    name.replace([',', '\n', '\r'], "_")
}
