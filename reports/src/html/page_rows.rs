//! Compact storage of the cases of a page, sized for a million cases.

use super::error_plots::{PlotKey, Plots};
use crate::{
    NameArena, Standing,
    causes::{CauseCollector, CauseSet, Failure},
    read::{LineRange, ReadError, ResultDir},
    suite,
    text_table::TextTable,
};
use assay_events::{Profile, Status};
use rayon::prelude::*;

/// Statuses in listing order, worst last.
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

/// Standings by number; 0 stands for none.
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

/// A case; strings are interned.
pub(super) struct PageRow {
    pub(super) run: u16,
    /// Index into [`STATUSES`].
    pub(super) status: u8,
    /// Index into [`STANDINGS`].
    pub(super) standing: u8,
    pub(super) suite: u32,
    pub(super) instruction: u32,
    pub(super) types: u32,
    pub(super) modes: u32,
    pub(super) source: u32,
    pub(super) path: u32,
    /// Failing classes, sorted; of a QualityWarning the warning classes.
    pub(super) classes: u32,
    pub(super) causes: CauseSet,
    pub(super) reason: Option<u32>,
    pub(super) inputs: u64,
    pub(super) failing: u64,
    pub(super) margin: Option<f64>,
    pub(super) seconds: f32,
}

/// A case that fails or warns, and may get details on the page.
pub(super) struct DetailCandidate {
    /// Row number.
    pub(super) row: u32,
    place: LineRange,
    /// Explanation of the standing.
    pub(super) why: Option<String>,
}

impl DetailCandidate {
    /// Returns the position of the result in its file.
    pub(super) fn place(&self) -> LineRange {
        self.place
    }
}

/// All cases of a page.
#[derive(Default)]
pub(super) struct PageRows {
    pub(super) names: NameArena,
    pub(super) rows: Vec<PageRow>,
    pub(super) suites: TextTable,
    pub(super) instructions: TextTable,
    pub(super) types: TextTable,
    pub(super) modes: TextTable,
    pub(super) sources: TextTable,
    pub(super) paths: TextTable,
    pub(super) classes: TextTable,
    pub(super) reasons: TextTable,
    /// Failures by cause, for each run.
    pub(super) causes: Vec<CauseCollector>,
    pub(super) interesting: Vec<DetailCandidate>,
    pub(super) plots: Plots,
}

/// Totals of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunTotals {
    pub(super) cases: usize,
    /// Failing cases with a verdict, without expected failures.
    pub(super) failing: usize,
    /// Unexpected failures without a verdict, such as crashes.
    pub(super) ended: usize,
    /// Cases that do better than the baseline expects.
    pub(super) fixed: usize,
    /// Cases with judged results.
    pub(super) judged: usize,
    pub(super) checked: usize,
    /// Passing checks of shaders that say little about them.
    pub(super) little: usize,
    /// Cases that could not be checked.
    pub(super) undetermined: usize,
    /// Skipped cases that the baseline expects to fail.
    pub(super) skipped_failures: usize,
}

/// Class of a passing check that says little about its shader.
const LITTLE: &str = "says little";

/// Fields of a result line.
struct CaseRecord {
    name: String,
    status: Status,
    /// Set for the check of a shader that was dispatched.
    is_shader: bool,
    /// Set if the run ended during the case.
    cut_short: bool,
    reason: Option<String>,
    instruction: String,
    types: String,
    modes: String,
    source: String,
    path: String,
    classes: String,
    failure: Option<Box<Failure>>,
    inputs: u64,
    failing: u64,
    margin: Option<f64>,
    seconds: f32,
    profile: Option<Profile>,
    place: LineRange,
}

/// Returns true if the errors can be plotted along the first operand. For a vector only the first
/// component is known, which need not be the component with the error.
pub(super) fn is_of_scalar(types: &str) -> bool {
    types.split_once(" <- ").is_some_and(|(_, first)| !first.starts_with(['v', 'm']))
}

/// Returns true if the case may get details.
fn is_interesting(status: Status) -> bool {
    status.is_failure() || status == Status::QualityWarning
}

impl PageRows {
    /// Reads the cases of a run.
    pub(super) fn read(&mut self, result_dir: &ResultDir, run: usize) -> Result<RunTotals, ReadError> {
        let mut standings = result_dir.standings()?;
        let mut sum = RunTotals::default();
        let mut causes = CauseCollector::default();
        let take = |line: crate::read::LocatedLine<'_>| {
            let place = line.place();
            let failure = line.failure().map(Box::new);
            let brief = line.brief;
            let little = if brief.says_little() { LITTLE.to_owned() } else { String::new() };
            // The results of a check are those that could have come out wrong.
            let results = brief.writes.as_ref().map(|writes| writes.falsifiable);
            CaseRecord {
                is_shader: results.is_some(),
                classes: Some(brief.failure_classes().join(", ")).filter(|some| !some.is_empty()).unwrap_or(little),
                failure,
                status: brief.status.unwrap_or(Status::InternalError),
                cut_short: brief.final_status().is_none(),
                profile: if is_of_scalar(&brief.types) { brief.profile() } else { None },
                inputs: results.unwrap_or(brief.inputs_tested),
                failing: brief.failing_inputs,
                margin: brief.margin(),
                seconds: (brief.times.wall * 1e3).round() as f32 / 1e3,
                // A Pass has no reason; the counts of written elements show its significance.
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
        result_dir.each(take, |some| {
            for mut read in some {
                let line = standings.remove(&read.name);
                let standing = match &line {
                    None if read.cut_short => Some(Standing::Missing),
                    line => line.as_ref().map(|line| line.standing),
                };
                sum.cases += 1;
                sum.checked += usize::from(read.status.is_checked() && !read.cut_short);
                sum.little += usize::from(read.classes == LITTLE);
                sum.undetermined += usize::from(read.status == Status::Undetermined && !read.cut_short);
                sum.judged += usize::from(read.status.has_verdict() && !read.cut_short);
                let fails = match standing {
                    Some(standing) => !standing.is_success() && standing != Standing::Missing,
                    None => read.status.is_failure(),
                };
                if standing == Some(Standing::Fixed) {
                    sum.fixed += 1;
                } else if fails && read.status.has_verdict() {
                    sum.failing += 1;
                } else if fails {
                    sum.ended += 1;
                }
                let why = line.and_then(|line| line.why);
                if read.status.is_checked() && !read.cut_short {
                    causes.count_checked(&read.name, &read.instruction, &read.path);
                }
                let set = read.failure.take().map(|failure| causes.add(*failure, fails).set).unwrap_or_default();
                self.keep(run, read, standing, why, set);
            }
        })?;
        self.causes.push(causes);
        sum.skipped_failures = standings.values().filter(|line| line.standing == Standing::Fixed).count();
        Ok(sum)
    }

    fn keep(
        &mut self,
        run: usize,
        read: CaseRecord,
        standing: Option<Standing>,
        why: Option<String>,
        causes: CauseSet,
    ) {
        let (instruction, types) = (self.instructions.number(&read.instruction), self.types.number(&read.types));
        if let Some(profile) = read.profile {
            self.plots.add(PlotKey { run, instruction, types }, profile, read.margin);
        }
        if is_interesting(read.status) || read.is_shader {
            self.interesting.push(DetailCandidate { row: self.rows.len() as u32, place: read.place, why });
        }
        self.rows.push(PageRow {
            run: run as u16,
            status: STATUSES.iter().position(|&status| status == read.status).unwrap_or(0) as u8,
            standing: STANDINGS.iter().position(|&known| known == standing).unwrap_or(0) as u8,
            suite: self.suites.number(suite(&read.name)),
            instruction,
            types,
            modes: self.modes.number(&read.modes),
            source: self.sources.number(&read.source),
            path: self.paths.number(&read.path),
            classes: self.classes.number(&read.classes),
            causes,
            reason: read.reason.map(|reason| self.reasons.number(&reason)),
            inputs: read.inputs,
            failing: read.failing,
            margin: read.margin,
            seconds: read.seconds,
        });
        self.names.push(&read.name);
    }

    /// Returns the row numbers sorted by name and run.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |row: u32| (self.names.get(row as usize), self.rows[row as usize].run);
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(&key(b)));
        order
    }
}
