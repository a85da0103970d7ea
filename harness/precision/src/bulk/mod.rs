//! Bulk checking: the verdicts on many results at once, and their counts.
//!
//! [`checker`] puts the floating-point [`filter`] in front of the certified evaluation, which judges
//! what the filter does not decide. [`simd`] evaluates rules for many operands at once. The rest of
//! the crate does not use this module; the filter is held against the evaluation by tests.

mod check_counts;
mod checker;
mod column;
mod filter;
mod profile;
mod simd;

pub use check_counts::{CheckCounts, Observation, RegionCount};
pub use checker::Checker;
pub use column::Column;
pub use profile::Profile;
