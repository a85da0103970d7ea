//! Reporters: what becomes of the events of a run.
//!
//! Each implements [`assay_runner::Reporter`] and knows nothing of the others.
//!
//! * [`Console`]: a line for each failing case as it ends, a table at the end, one clear line last.
//! * [`Progress`]: a bar on stderr, where that is a terminal.
//! * [`Folder`]: the output folder: `device.json`, `results.jsonl`, `results.csv`, `failures.csv`.
//! * [`Tally`]: counts, and what they mean for the run as a whole; the exit code comes from here.

mod check;
mod console;
mod deqp;
mod folder;
mod operands;
mod progress;
mod quantity;
mod shared;
mod table;
mod tally;

pub use check::text as check_text;
pub use console::{Console, ConsoleOptions};
pub use folder::{Folder, FolderError};
pub use operands::{Slot, describe, slots};
pub use progress::Progress;
pub use quantity::{Inputs, count, margin, seconds};
pub use shared::Shared;
pub use tally::{Outcome, Tally, reason_of};

#[cfg(test)]
mod testing;
