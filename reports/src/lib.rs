//! Reporters: what becomes of the events of a run.
//!
//! Each implements [`assay_runner::Reporter`] and knows nothing of the others.
//!
//! * [`Console`]: a line for each failing case as it ends, a table at the end, one clear line last.
//! * [`Progress`]: a bar on stderr, where that is a terminal.
//! * [`Folder`]: the output folder: `device.json`, `results.jsonl`, `results.csv`, `failures.csv`, `junit.xml`.
//! * [`Tally`]: counts, and what they mean for the run as a whole; the exit code comes from here.
//!
//! What a lab expects of its cases ([`Expectations`]: a baseline, a list of flakes, waivers) gives every result a second
//! status, its [`Standing`].

mod check;
mod console;
pub mod deqp;
pub mod diff;
mod expect;
mod folder;
pub mod history;
pub mod html;
mod journal;
mod junit;
mod ledger;
mod load;
pub mod merge;
mod names;
mod operands;
mod progress;
mod quantity;
mod shared;
mod table;
mod tally;
mod waiver;

pub use assay_runner::count;
pub use check::text as check_text;
pub use console::{Console, ConsoleOptions};
pub use expect::{Expectations, Judged, Standing};
pub use folder::{Folder, FolderError};
pub use journal::Journal;
pub use load::{LoadError, Opened};
pub use names::{Index, Names};
pub use operands::{Slot, describe, slots};
pub use progress::{Bars, Progress};
pub use quantity::{Inputs, counted, margin, plural, seconds};
pub use shared::Shared;
pub use tally::{Outcome, Tally, reason_of};
pub use waiver::{WAIVERS, WaiverError, Waivers};

/// The suite that a case belongs to: the first two components of its name.
pub fn suite(name: &str) -> &str {
    let end = name.match_indices('.').nth(1).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod text_tests;
