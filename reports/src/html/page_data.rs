//! Data of a page: columns of cases with interned strings, and the details of failing cases.

use super::{
    Derive,
    case_details::{CaseDetail, ExampleJson, details, shown},
    error_plots::Plot,
    gather_footprint::Footprint,
    page_changes::PageChanges,
    page_rows::{PageRow, PageRows, RunTotals, STANDINGS, STATUSES},
};
use crate::{
    Outcome, Standing, cause_text,
    causes::{CauseCollector, Causes},
    counted,
    diff::Diff,
    group_digits, pass_limits, plural,
    read::{ReadError, ResultDir},
    seconds,
};
use assay_events::{CHECK_BUDGET, Cause, Status};
use assay_precision::FailureClass;
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashMap};

/// Data of a page. It is serialized on the fly.
pub(super) struct PageData {
    runs: Vec<PageRun>,
    rows: PageRows,
    /// Row numbers in the order of the page.
    order: Vec<u32>,
    details: HashMap<u32, CaseDetail>,
    details_left_out: usize,
    /// Causes of each run, with the examples of their representatives.
    causes: Vec<(Causes, Vec<Option<ExampleJson>>)>,
    since: Option<PageChanges>,
}

/// JSON document for the script.
#[derive(Serialize)]
struct PageJson<'a> {
    runs: &'a [PageRun],
    statuses: [Status; STATUSES.len()],
    /// Statuses that count as failures.
    failing: Vec<Status>,
    standings: [Option<Standing>; STANDINGS.len()],
    suites: &'a [String],
    instructions: &'a [String],
    types: &'a [String],
    modes: &'a [String],
    sources: &'a [String],
    paths: &'a [String],
    reasons: &'a [String],
    classes: &'a [String],
    /// Names and descriptions of the classes of wrong numbers.
    class_words: Vec<(String, &'static str)>,
    causes: Vec<PageCause<'a>>,
    cases: Columns<'a>,
    /// Details by position of the case in the columns.
    details: BTreeMap<usize, &'a CaseDetail>,
    details_left_out: usize,
    plots: Vec<Plot<'a>>,
    footprints: Vec<Footprint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<&'a PageChanges>,
}

/// A cause in the page's JSON.
#[derive(Serialize)]
struct PageCause<'a> {
    run: usize,
    title: &'a str,
    status: Status,
    extent: String,
    severity: String,
    shared: Vec<String>,
    /// Positions of its cases in the columns.
    cases: Vec<usize>,
    /// Position of the representative.
    representative: Option<usize>,
    example: Option<&'a ExampleJson>,
}

#[derive(Serialize)]
struct PageRun {
    /// Display name of the device.
    device: String,
    driver: String,
    /// Options that reproduce the run of a case.
    again: String,
    /// The command that repeats a check, which is one case.
    check: Option<String>,
    /// Status whose colour the verdict has.
    colour: Status,
    verdict: String,
    line: String,
    /// Messages about waivers that were not needed.
    waivers: Vec<String>,
    facts: BTreeMap<&'static str, String>,
    environment: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
}

/// The cases, as one list per property.
struct Columns<'a>(&'a PageData);

/// One column: the row numbers, and a function from a row number to the value.
struct Column<'a, F>(&'a [u32], F);

impl<T: Serialize, F: Fn(usize) -> T> Serialize for Column<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&row| (self.1)(row as usize)))
    }
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let PageData { rows, order, .. } = self.0;
        let row = |at: usize| -> &PageRow { &rows.rows[at] };
        let mut columns = serializer.serialize_struct("Columns", 16)?;
        columns.serialize_field("run", &Column(order, |at| row(at).run))?;
        columns.serialize_field("suite", &Column(order, |at| row(at).suite))?;
        columns.serialize_field("name", &Column(order, |at| rows.names.get(at)))?;
        columns.serialize_field("status", &Column(order, |at| row(at).status))?;
        columns.serialize_field("standing", &Column(order, |at| row(at).standing))?;
        columns.serialize_field("instruction", &Column(order, |at| row(at).instruction))?;
        columns.serialize_field("types", &Column(order, |at| row(at).types))?;
        columns.serialize_field("modes", &Column(order, |at| row(at).modes))?;
        columns.serialize_field("source", &Column(order, |at| row(at).source))?;
        columns.serialize_field("path", &Column(order, |at| row(at).path))?;
        columns.serialize_field("class", &Column(order, |at| row(at).classes))?;
        columns.serialize_field("inputs", &Column(order, |at| row(at).inputs))?;
        columns.serialize_field("failing", &Column(order, |at| row(at).failing))?;
        columns.serialize_field("margin", &Column(order, |at| Margin(row(at).margin.map(short))))?;
        columns.serialize_field("seconds", &Column(order, |at| row(at).seconds))?;
        // -1 stands for no reason.
        columns.serialize_field("reason", &Column(order, |at| row(at).reason.map_or(-1, i64::from)))?;
        columns.end()
    }
}

/// Margin with few digits. JSON cannot represent infinity.
#[derive(Clone, Copy)]
pub(super) struct Margin(pub(super) Option<f64>);

impl Serialize for Margin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_none(),
            Some(margin) if margin.is_infinite() => serializer.serialize_str("inf"),
            Some(margin) => serializer.serialize_f64(margin),
        }
    }
}

impl PageData {
    /// Reads the results of runs.
    ///
    /// # Errors
    /// The results cannot be read.
    pub(super) fn read(result_dir: &[ResultDir], derive: Derive<'_>) -> Result<PageData, ReadError> {
        let (mut rows, mut runs) = (PageRows::default(), Vec::new());
        for (index, run) in result_dir.iter().enumerate() {
            let sum = rows.read(run, index)?;
            runs.push(PageRun::new(run, sum)?);
        }
        tell_apart(&mut runs, result_dir);
        let order = rows.order();
        let key = |row: u32| (rows.rows[row as usize].run, rows.names.get(row as usize));
        if let Some(twice) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
            let (run, name) = key(twice[0]);
            return Err(ReadError::Twice { path: result_dir[usize::from(run)].file(), name: name.to_owned() });
        }
        let causes: Vec<Causes> = rows.causes.iter().map(CauseCollector::causes).collect();
        let (details, details_left_out) = details(&rows, &causes, result_dir, derive)?;
        let examples = |causes: &Causes| causes.list.par_iter().map(|cause| representative(cause, derive)).collect();
        let causes =
            causes.into_iter().map(|causes| (examples(&causes), causes)).map(|(x, causes)| (causes, x)).collect();
        Ok(PageData { order, runs, rows, details, details_left_out, causes, since: None })
    }

    /// Adds the changes since an earlier run.
    pub(super) fn compare(&mut self, diff: &Diff) {
        let mut places: HashMap<&str, usize> = diff.changes.iter().map(|change| (&*change.name, usize::MAX)).collect();
        for (place, &row) in self.order.iter().enumerate() {
            places.entry(self.rows.names.get(row as usize)).and_modify(|known| *known = place);
        }
        self.since =
            Some(PageChanges::new(diff, |name| places.get(name).copied().filter(|&place| place != usize::MAX)));
    }

    /// Returns the causes of all runs, with the positions of their cases.
    fn page_causes(&self) -> Vec<PageCause<'_>> {
        let mut cases: Vec<Vec<Vec<usize>>> =
            self.causes.iter().map(|(causes, _)| vec![Vec::new(); causes.list.len()]).collect();
        for (place, &row) in self.order.iter().enumerate() {
            let row = &self.rows.rows[row as usize];
            let run = usize::from(row.run);
            for &cause in self.causes[run].0.of(row.causes) {
                cases[run][cause].push(place);
            }
        }
        let mut list = Vec::new();
        for (run, ((causes, examples), cases)) in self.causes.iter().zip(cases).enumerate() {
            for ((cause, example), cases) in causes.list.iter().zip(examples).zip(cases) {
                let name = |&place: &usize| self.rows.names.get(self.order[place] as usize);
                list.push(PageCause {
                    run,
                    title: &cause.title,
                    status: cause.status,
                    extent: cause_text::extent(cause),
                    severity: cause_text::severity(cause),
                    shared: cause_text::shared(cause),
                    representative: cases.iter().copied().find(|place| name(place) == cause.representative.case),
                    cases,
                    example: example.as_ref(),
                });
            }
        }
        list
    }

    /// Returns the device names.
    pub(super) fn title(&self) -> String {
        self.runs.iter().map(|run| run.device.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Serialize for PageData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PageData { runs, rows, order, details, details_left_out, causes: _, since } = self;
        let places = order.iter().enumerate();
        let form = PageJson {
            runs,
            statuses: STATUSES,
            failing: STATUSES.into_iter().filter(|&status| status.is_failure()).collect(),
            standings: STANDINGS,
            suites: &rows.suites.list,
            instructions: &rows.instructions.list,
            types: &rows.types.list,
            modes: &rows.modes.list,
            sources: &rows.sources.list,
            paths: &rows.paths.list,
            reasons: &rows.reasons.list,
            classes: &rows.classes.list,
            class_words: FailureClass::ALL.map(|class| (format!("{class:?}"), class.description())).to_vec(),
            causes: self.page_causes(),
            cases: Columns(self),
            details: places.filter_map(|(place, row)| Some((place, details.get(row)?))).collect(),
            details_left_out: *details_left_out,
            plots: rows.plots.sorted(&rows.instructions, &rows.types),
            footprints: Footprint::of_cases(rows.names.iter()),
            since: since.as_ref(),
        };
        form.serialize(serializer)
    }
}

/// Returns the example of the case that represents a cause.
fn representative(cause: &Cause, derive: Derive<'_>) -> Option<ExampleJson> {
    let of = &cause.representative;
    of.example.as_ref().map(|example| shown(&of.types, example, derive, true))
}

/// Rounds to six digits, but never to the limit 1 from either side.
pub(super) fn short(margin: f64) -> f64 {
    let short: f64 = format!("{margin:.5e}").parse().unwrap_or(margin);
    if (short == 1.0) == (margin == 1.0) { short } else { margin }
}

/// Returns the greater of two optional margins.
pub(super) fn greater(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// Appends the directory to the name of a device that several runs share.
fn tell_apart(runs: &mut [PageRun], result_dir: &[ResultDir]) {
    let names: Vec<String> = runs.iter().map(|run| run.device.clone()).collect();
    for (run, result_dir) in runs.iter_mut().zip(result_dir) {
        if names.iter().filter(|name| **name == run.device).count() > 1 {
            run.device += &format!(" ({})", result_dir.path.display());
        }
    }
}

impl PageRun {
    fn new(result_dir: &ResultDir, sum: RunTotals) -> Result<PageRun, ReadError> {
        let waivers = result_dir.waivers_left()?;
        let (info, ended) = (&result_dir.run, result_dir.ended());
        let device = info.device.clone();
        let driver = format!("{} {}", device.driver_name, device.driver_info).trim().to_owned();
        let RunTotals {
            cases,
            failing,
            ended: unjudged,
            fixed,
            judged,
            checked,
            little,
            undetermined,
            skipped_failures,
        } = sum;
        let missing = info.cases.saturating_sub(cases);
        // The same counts as in the last line of the console.
        let mut failures = Vec::new();
        if failing > 0 {
            failures.push(format!("{} of {}", group_digits(failing), counted(judged, "checked case")));
        }
        if unjudged > 0 {
            failures.push(format!("{} ended without a verdict", counted(unjudged, "case")));
        }
        if fixed > 0 {
            let better = plural(fixed, "does", "do");
            failures.push(format!("{} {better} better than the baseline expects", counted(fixed, "case")));
        }
        let (outcome, verdict) = if !failures.is_empty() {
            (Outcome::Failures, format!("FAIL: {}", failures.join("; ")))
        } else if skipped_failures > 0 {
            let cases = counted(skipped_failures, "skipped case");
            (Outcome::Failures, format!("FAIL: {cases} that the baseline expects to fail"))
        } else if missing > 0 || ended.interrupted {
            (Outcome::Incomplete, format!("INCOMPLETE: nothing failed in {}", counted(judged, "checked case")))
        } else if info.cases == 0 && info.part.is_some() {
            (Outcome::EmptyPart, "EMPTY: no case falls into this part".to_owned())
        } else if checked == 0 {
            (Outcome::NothingChecked, "NOTHING CHECKED: this is not a pass".to_owned())
        } else {
            let limits = pass_limits(little as u64, undetermined as u64);
            (Outcome::Pass, format!("PASS: {}{limits}", counted(checked, "checked case")))
        };
        let colour = match outcome {
            Outcome::Failures => Status::Fail,
            Outcome::Incomplete | Outcome::NothingChecked => Status::QualityWarning,
            Outcome::Pass | Outcome::EmptyPart => Status::Pass,
        };
        let on = match device.api.as_str() {
            "none" => device.name.clone(),
            _ => format!("{}, {driver}, Vulkan {}", device.name, device.api_version),
        };
        let mut line = format!(
            "{on}; {} in {}, budget {}, seed {}",
            counted(cases, "case"),
            seconds(ended.wall),
            info.budget,
            info.seed
        );
        if missing > 0 {
            line += &format!("; {} without a result", counted(missing, "planned case"));
        }
        if let Some(part) = &info.part {
            line += &format!("; only part {} of {}", part.of.join(", "), counted(part.cases, "case"));
        }
        let facts = BTreeMap::from([
            ("Assay", info.version.clone()),
            ("specification", info.specification.clone()),
            ("started", info.started.clone()),
            ("command", assay_events::shell_command(&info.command)),
            ("folder", result_dir.path.display().to_string()),
            ("driver", driver.clone()),
            ("driverVersion", device.driver_version.to_string()),
            ("vendorID", format!("{:#x}", device.vendor_id)),
            ("deviceID", format!("{:#x}", device.device_id)),
            ("deviceUUID", device.uuid.clone()),
            ("apiVersion", device.api_version.clone()),
            ("conformanceVersion", device.conformance_version.clone()),
            ("type", device.kind.clone()),
            ("processor", device.host_cpu.clone()),
        ]);
        let check = (info.budget == CHECK_BUDGET).then(|| assay_events::rerun_command(info, ""));
        let again = assay_events::rerun_options(info);
        let (environment, properties) = (device.environment, device.properties);
        Ok(PageRun {
            device: device.name,
            driver,
            again,
            check,
            colour,
            verdict,
            line,
            waivers,
            facts,
            environment,
            properties,
        })
    }
}
