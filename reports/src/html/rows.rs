//! The cases of a page as they are read: few bytes each, so that a page of a million of them needs little memory.

use super::plots::Plots;
use crate::{
    Names, Standing,
    load::{LoadError, Opened, Place},
    suite,
};
use assay_runner::{Profile, Status};
use rayon::prelude::*;
use std::collections::HashMap;

/// The order in which statuses are listed: the worst last.
pub(super) const STATUSES: [Status; 9] = [
    Status::NotSupported,
    Status::Pass,
    Status::Undetermined,
    Status::QualityWarning,
    Status::Timeout,
    Status::InternalError,
    Status::DeviceLost,
    Status::Crash,
    Status::Fail,
];

/// The standings by number; 0 is none.
pub(super) const STANDINGS: [Option<Standing>; 8] = [
    None,
    Some(Standing::Expected),
    Some(Standing::Waived),
    Some(Standing::KnownFlake),
    Some(Standing::Fixed),
    Some(Standing::Missing),
    Some(Standing::Flaky),
    Some(Standing::Regression),
];

/// Texts that repeat, each given once.
#[derive(Default)]
pub(super) struct Texts {
    known: HashMap<String, u32>,
    pub(super) list: Vec<String>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        let number = self.list.len() as u32;
        self.known.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }
}

/// What is kept of a case; texts by their numbers.
pub(super) struct Row {
    pub(super) run: u16,
    /// A place in [`STATUSES`].
    pub(super) status: u8,
    /// A place in [`STANDINGS`].
    pub(super) standing: u8,
    pub(super) suite: u32,
    pub(super) instruction: u32,
    pub(super) types: u32,
    pub(super) modes: u32,
    pub(super) source: u32,
    pub(super) path: u32,
    pub(super) reason: Option<u32>,
    pub(super) inputs: u64,
    pub(super) failing: u64,
    pub(super) margin: Option<f64>,
    pub(super) seconds: f32,
}

/// A case that fails or warns: of some of them all is shown that is known.
pub(super) struct Interesting {
    /// Its number among the rows.
    pub(super) row: u32,
    place: Place,
    /// Why the lists say of it what they say.
    pub(super) why: Option<String>,
}

impl Interesting {
    /// Where its line lies in the file of its run.
    pub(super) fn place(&self) -> Place {
        self.place
    }
}

/// All cases of a page.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) names: Names,
    pub(super) rows: Vec<Row>,
    pub(super) suites: Texts,
    pub(super) instructions: Texts,
    pub(super) types: Texts,
    pub(super) modes: Texts,
    pub(super) sources: Texts,
    pub(super) paths: Texts,
    pub(super) reasons: Texts,
    pub(super) interesting: Vec<Interesting>,
    pub(super) plots: Plots,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) cases: usize,
    /// Cases that fail and are not expected to.
    pub(super) failing: usize,
    pub(super) checked: usize,
    /// Cases that were left out and are expected to fail.
    pub(super) skipped_failures: usize,
}

/// A case as its line is read.
struct Read {
    name: String,
    status: Status,
    /// The run ended in the middle of it.
    cut_short: bool,
    reason: Option<String>,
    instruction: String,
    types: String,
    modes: String,
    source: String,
    path: String,
    inputs: u64,
    failing: u64,
    margin: Option<f64>,
    seconds: f32,
    profile: Option<Profile>,
    place: Place,
}

/// Whether the errors of results of such types can be drawn along the first operand: of a vector only the first component is known,
/// which need not be the one that errs.
pub(super) fn is_of_scalar(types: &str) -> bool {
    types.split_once(" <- ").is_some_and(|(_, first)| !first.starts_with(['v', 'm']))
}

/// Whether all that is known of such a case is shown, if there is room.
fn is_interesting(status: Status) -> bool {
    status.is_failure() || status == Status::QualityWarning
}

impl Rows {
    /// Reads the cases of a run.
    pub(super) fn read(&mut self, opened: &Opened, run: usize) -> Result<Sum, LoadError> {
        let mut standings = opened.standings()?;
        let mut sum = Sum::default();
        let take = |line: crate::load::Located<'_>| {
            let place = line.place();
            let brief = line.brief;
            Read {
                status: brief.status.unwrap_or(Status::InternalError),
                cut_short: brief.ended().is_none(),
                profile: if is_of_scalar(&brief.types) { brief.profile() } else { None },
                inputs: brief.inputs_tested,
                failing: brief.failing_inputs,
                margin: brief.margin(),
                seconds: (brief.times.wall * 1e3).round() as f32 / 1e3,
                // A Pass has no reason, and what was written says how much it is worth.
                reason: match (brief.reason, brief.writes) {
                    (Some(reason), Some(writes)) => Some(format!("{reason}; {writes}")),
                    (reason, writes) => {
                        reason.map(|reason| reason.into_owned()).or_else(|| writes.map(|writes| writes.to_string()))
                    }
                },
                name: brief.name.into_owned(),
                instruction: brief.instruction.into_owned(),
                types: brief.types.into_owned(),
                modes: brief.modes.into_owned(),
                source: brief.source.into_owned(),
                path: brief.path.into_owned(),
                place,
            }
        };
        opened.each(take, |some| {
            for read in some {
                let line = standings.remove(&read.name);
                let standing = match &line {
                    None if read.cut_short => Some(Standing::Missing),
                    line => line.as_ref().map(|line| line.standing),
                };
                sum.cases += 1;
                sum.checked += usize::from(read.status.is_checked() && !read.cut_short);
                sum.failing += usize::from(match standing {
                    Some(standing) => !standing.is_success() && standing != Standing::Missing,
                    None => read.status.is_failure(),
                });
                let why = line.and_then(|line| line.why);
                self.keep(run, read, standing, why);
            }
        })?;
        sum.skipped_failures = standings.values().filter(|line| line.standing == Standing::Fixed).count();
        Ok(sum)
    }

    fn keep(&mut self, run: usize, read: Read, standing: Option<Standing>, why: Option<String>) {
        let (instruction, types) = (self.instructions.number(&read.instruction), self.types.number(&read.types));
        if let Some(profile) = read.profile {
            self.plots.add((run, instruction, types), profile, read.margin);
        }
        if is_interesting(read.status) {
            self.interesting.push(Interesting { row: self.rows.len() as u32, place: read.place, why });
        }
        self.rows.push(Row {
            run: run as u16,
            status: STATUSES.iter().position(|&status| status == read.status).unwrap_or(0) as u8,
            standing: STANDINGS.iter().position(|&known| known == standing).unwrap_or(0) as u8,
            suite: self.suites.number(suite(&read.name)),
            instruction,
            types,
            modes: self.modes.number(&read.modes),
            source: self.sources.number(&read.source),
            path: self.paths.number(&read.path),
            reason: read.reason.map(|reason| self.reasons.number(&reason)),
            inputs: read.inputs,
            failing: read.failing,
            margin: read.margin,
            seconds: read.seconds,
        });
        self.names.push(&read.name);
    }

    /// The numbers of the rows by name, those of the same name by run.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |row: u32| (self.names.get(row as usize), self.rows[row as usize].run);
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(&key(b)));
        order
    }
}
