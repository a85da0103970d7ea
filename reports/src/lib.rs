//! Reporters: consumers of the events of a run.
//!
//! Each reporter implements [`assay_events::Reporter`] and is independent of the others.
//!
//! * [`Console`]: failing cases as they finish, a summary table, and a verdict in the last line.
//! * [`JsonLines`]: the events as JSON, one per line.
//! * [`Progress`]: a progress bar on stderr if that is a terminal, else a line every half minute.
//! * [`ResultDirWriter`]: the result directory, with the journal `results.jsonl` and the reports
//!   written when the run ends.
//! * [`Tally`]: counts and the outcome of the run, from which the exit code follows.
//!
//! A lab's lists ([`Expectations`]: baseline, flakes, waivers) give every result a second status,
//! its [`Standing`].

pub mod atlas;
mod block_output;
mod case_table;
mod cause_text;
mod causes;
mod check_text;
mod console;
pub mod deqp;
pub mod diff;
mod end_reports;
mod expectations;
pub mod history;
pub mod html;
mod humanize;
mod journal;
mod json_lines;
mod junit;
pub mod merge;
mod name_arena;
mod progress;
mod read;
mod result_dir;
mod result_file;
mod scalar_types;
mod shared_reporter;
mod summary_table;
mod tally;
mod text_table;
mod waiver;

pub use assay_events::group_digits;
pub use check_text::text as check_text;
pub use console::{Console, ConsoleOptions};
pub use end_reports::result_file_names;
pub use expectations::{Assessment, Expectations, Standing};
pub use humanize::{InputCount, counted, margin, plural, seconds};
pub use journal::Journal;
pub use json_lines::JsonLines;
pub use name_arena::{NameArena, NameIndex};
pub use progress::{Progress, ProgressBars};
pub use read::{ReadError, ResultDir};
pub use result_dir::{ResultDirError, ResultDirWriter};
pub use scalar_types::{ScalarType, describe, parse_types};
pub use shared_reporter::SharedReporter;
pub use tally::{Outcome, Tally, reason_of};
pub use waiver::{WAIVER_EXAMPLE, WaiverError, Waivers};

/// Returns the suite of a case: the first two components of its name, or the folder of a shader.
pub fn suite(name: &str) -> &str {
    if let Some((folder, _)) = name.rsplit_once('/') {
        return folder;
    }
    let end = name.match_indices('.').nth(1).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// Returns the limits of a pass, as clauses that each begin with `; `: verdicts that say little about
/// their shaders, and cases that could not be checked.
pub(crate) fn pass_limits(little: u64, unchecked: u64) -> String {
    let thin = match little {
        0 => String::new(),
        n => {
            let verbs = (plural(n, "says", "say"), plural(n, "its shader", "their shaders"));
            format!("; {} {} little about {}", counted(n, "verdict"), verbs.0, verbs.1)
        }
    };
    let unchecked = match unchecked {
        0 => String::new(),
        n => format!("; {} could not be checked", counted(n, "case")),
    };
    thin + &unchecked
}

/// Returns the family of a case: the first component of its name.
pub(crate) fn name_family(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod test_browser;
#[cfg(test)]
mod test_contrast;
#[cfg(test)]
mod test_events;
#[cfg(test)]
mod text_tests;
