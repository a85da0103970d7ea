//! What a page holds: columns of cases, texts that repeat given once; all that is known of those that fail.

use super::Derive;
use super::footprint::Footprint;
use crate::{
    Outcome, Standing, count, describe,
    load::{LoadError, Opened},
    operands::{Slot, slots, value},
    seconds, suite,
};
use assay_runner::{CaseResult, Event, Example, Profile, Status};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Cases whose details are in a page; the others are in `results.jsonl` still.
const DETAILS: usize = 400;

/// The order in which statuses are listed: the worst last.
const STATUSES: [Status; 9] = [
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
const STANDINGS: [Option<Standing>; 8] = [
    None,
    Some(Standing::Expected),
    Some(Standing::Waived),
    Some(Standing::KnownFlake),
    Some(Standing::Fixed),
    Some(Standing::Missing),
    Some(Standing::Flaky),
    Some(Standing::Regression),
];

#[derive(Serialize)]
pub(super) struct Page {
    runs: Vec<Run>,
    statuses: Vec<Status>,
    /// Statuses that are failures.
    failing: Vec<Status>,
    standings: Vec<Option<Standing>>,
    suites: Vec<String>,
    instructions: Vec<String>,
    types: Vec<String>,
    modes: Vec<String>,
    sources: Vec<String>,
    reasons: Vec<String>,
    cases: Columns,
    details: BTreeMap<usize, Detail>,
    details_left_out: usize,
    plots: Vec<Plot>,
    footprints: Vec<Footprint>,
}

#[derive(Serialize)]
struct Run {
    device: String,
    driver: String,
    budget: String,
    seed: u64,
    /// The status whose colour the verdict has.
    colour: Status,
    verdict: String,
    line: String,
    facts: BTreeMap<&'static str, String>,
    environment: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
}

#[derive(Default, Serialize)]
struct Columns {
    run: Vec<usize>,
    suite: Vec<u32>,
    name: Vec<String>,
    status: Vec<u8>,
    standing: Vec<u8>,
    instruction: Vec<u32>,
    types: Vec<u32>,
    modes: Vec<u32>,
    source: Vec<u32>,
    inputs: Vec<u64>,
    failing: Vec<u64>,
    margin: Vec<Margin>,
    seconds: Vec<f32>,
    /// -1 for none.
    reason: Vec<i64>,
}

/// A margin in few digits; JSON has no infinity.
#[derive(Clone, Copy)]
struct Margin(Option<f64>);

impl Serialize for Margin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_none(),
            Some(margin) if margin.is_infinite() => serializer.serialize_str("inf"),
            Some(margin) => serializer.serialize_f64(margin),
        }
    }
}

#[derive(Serialize)]
struct Detail {
    rule: String,
    clause: String,
    coverage: String,
    why: Option<String>,
    classes: Vec<Class>,
    operand: String,
    profile: Option<Profile>,
    picture: Option<Drawn>,
}

/// Expected, got and difference of a failing image.
#[derive(Serialize)]
struct Drawn {
    /// A PNG, as a `data:` address.
    png: String,
    caption: String,
}

#[derive(Serialize)]
struct Class {
    status: Status,
    class: String,
    count: u64,
    examples: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    operands: String,
    got: String,
    permitted: Vec<String>,
    margin: Margin,
    explain: String,
    derivation: Option<String>,
}

/// The errors of an instruction, of all its cases on a device together.
#[derive(Serialize)]
struct Plot {
    run: usize,
    instruction: String,
    types: String,
    operand: String,
    cases: usize,
    margin: Margin,
    worst: Vec<Option<f64>>,
    errors: Vec<u64>,
}

/// A case as it is read.
struct Row {
    run: usize,
    name: String,
    status: Status,
    standing: Option<Standing>,
    why: Option<String>,
    instruction: String,
    types: String,
    modes: String,
    source: String,
    inputs: u64,
    failing: u64,
    margin: Option<f64>,
    seconds: f64,
    reason: Option<String>,
    profile: Option<Profile>,
    whole: Option<Box<CaseResult>>,
}

/// Texts that repeat, each given once.
#[derive(Default)]
struct Texts {
    known: HashMap<String, u32>,
    list: Vec<String>,
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

impl Page {
    pub(super) fn read(opened: &[Opened], derive: Derive<'_>) -> Result<Page, LoadError> {
        let (mut rows, mut runs) = (Vec::new(), Vec::new());
        for (index, run) in opened.iter().enumerate() {
            let standings = run.standings()?;
            let mut read = run.results(|line| {
                let brief = line.brief;
                let status = brief.status.unwrap_or(Status::InternalError);
                // Of a vector only the first component is known, which need not be the one that errs.
                let of_scalar = brief.types.split_once(" <- ").is_some_and(|(_, first)| !first.starts_with(['v', 'm']));
                let interesting = status.is_failure() || status == Status::QualityWarning;
                let event = interesting.then(|| serde_json::from_str(line.text));
                let whole = match event {
                    Some(Ok(Event::CaseFinished(case))) => Some(case),
                    _ => None,
                };
                let profile = if of_scalar { brief.profile() } else { None };
                Row {
                    run: index,
                    status,
                    standing: None,
                    why: None,
                    inputs: brief.inputs_tested,
                    failing: brief.failing_inputs,
                    margin: brief.margin(),
                    seconds: brief.times.wall,
                    reason: brief.reason.map(|reason| reason.into_owned()),
                    name: brief.name.into_owned(),
                    instruction: brief.instruction.into_owned(),
                    types: brief.types.into_owned(),
                    modes: brief.modes.into_owned(),
                    source: brief.source.into_owned(),
                    profile,
                    whole,
                }
            })?;
            for row in &mut read {
                let line = standings.get(&row.name);
                row.standing = line.map(|line| line.standing);
                row.why = line.and_then(|line| line.why.clone());
            }
            runs.push(Run::new(run, &read));
            rows.append(&mut read);
        }
        rows.par_sort_by(|a, b| (&a.name, a.run).cmp(&(&b.name, b.run)));
        Ok(Page::new(runs, rows, derive))
    }

    fn new(runs: Vec<Run>, mut rows: Vec<Row>, derive: Derive<'_>) -> Page {
        let plots = plots(&mut rows);
        let (details, details_left_out) = details(&rows, derive);
        let [mut suites, mut instructions, mut types, mut modes, mut sources, mut reasons] =
            std::array::from_fn(|_| Texts::default());
        let footprints = Footprint::of_cases(rows.iter().map(|row| row.name.as_str()));
        let mut cases = Columns::default();
        for row in rows {
            cases.run.push(row.run);
            cases.suite.push(suites.number(suite(&row.name)));
            cases.status.push(STATUSES.iter().position(|&status| status == row.status).unwrap_or(0) as u8);
            cases.standing.push(STANDINGS.iter().position(|&standing| standing == row.standing).unwrap_or(0) as u8);
            cases.instruction.push(instructions.number(&row.instruction));
            cases.types.push(types.number(&row.types));
            cases.modes.push(modes.number(&row.modes));
            cases.source.push(sources.number(&row.source));
            cases.inputs.push(row.inputs);
            cases.failing.push(row.failing);
            cases.margin.push(Margin(row.margin.map(short)));
            cases.seconds.push((row.seconds * 1e3).round() as f32 / 1e3);
            cases.reason.push(row.reason.map_or(-1, |reason| i64::from(reasons.number(&reason))));
            cases.name.push(row.name);
        }
        Page {
            runs,
            statuses: STATUSES.to_vec(),
            failing: STATUSES.into_iter().filter(|&status| status.is_failure()).collect(),
            standings: STANDINGS.to_vec(),
            suites: suites.list,
            instructions: instructions.list,
            types: types.list,
            modes: modes.list,
            sources: sources.list,
            reasons: reasons.list,
            cases,
            details,
            details_left_out,
            plots,
            footprints,
        }
    }

    /// What the page is about.
    pub(super) fn title(&self) -> String {
        self.runs.iter().map(|run| run.device.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// To six digits, but never onto the limit from either side.
fn short(margin: f64) -> f64 {
    let short: f64 = format!("{margin:.5e}").parse().unwrap_or(margin);
    if (short == 1.0) == (margin == 1.0) { short } else { margin }
}

impl Run {
    fn new(opened: &Opened, rows: &[Row]) -> Run {
        let (info, ended) = (&opened.info, opened.ended());
        let device = info.device.clone();
        let driver = format!("{} {}", device.driver_name, device.driver_info).trim().to_owned();
        let unexpected = |row: &&Row| match row.standing {
            Some(standing) => !standing.is_success(),
            None => row.status.is_failure(),
        };
        let failing = rows.iter().filter(unexpected).count();
        let checked = rows.iter().filter(|row| row.status.is_checked()).count();
        let missing = info.cases.saturating_sub(rows.len());
        let (outcome, verdict) = if failing > 0 {
            (Outcome::Failures, format!("FAIL: {} of {} checked cases", count(failing), count(checked)))
        } else if missing > 0 || ended.interrupted {
            (Outcome::Incomplete, format!("INCOMPLETE: nothing failed in {} checked cases", count(checked)))
        } else if checked == 0 {
            (Outcome::NothingChecked, "NOTHING CHECKED: this is not a pass".to_owned())
        } else {
            (Outcome::Clean, format!("PASS: {} checked cases", count(checked)))
        };
        let colour = match outcome {
            Outcome::Failures => Status::Fail,
            Outcome::Incomplete | Outcome::NothingChecked => Status::QualityWarning,
            Outcome::Clean => Status::Pass,
        };
        let mut line = format!(
            "{}, {driver}, Vulkan {}; {} cases in {}, budget {}, seed {}",
            device.name,
            device.api_version,
            count(rows.len()),
            seconds(ended.wall),
            info.budget,
            info.seed
        );
        if missing > 0 {
            line += &format!("; {} planned cases have no result", count(missing));
        }
        if let Some(part) = &info.part {
            line += &format!("; only {} of {} cases", part.of.join(", "), count(part.cases));
        }
        let facts = BTreeMap::from([
            ("Assay", info.version.clone()),
            ("specification", info.specification.clone()),
            ("started", info.started.clone()),
            ("command", info.command.join(" ")),
            ("folder", opened.path.display().to_string()),
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
        let (budget, seed) = (info.budget.clone(), info.seed);
        let (environment, properties) = (device.environment, device.properties);
        Run { device: device.name, driver, budget, seed, colour, verdict, line, facts, environment, properties }
    }
}

/// The plots: by device, instruction and types; the greatest error first.
fn plots(rows: &mut [Row]) -> Vec<Plot> {
    let mut plots: BTreeMap<(usize, String, String), Plot> = BTreeMap::new();
    for row in rows {
        // Those that fail keep theirs, for the part about them.
        let Some(profile) = (if row.whole.is_some() { row.profile.clone() } else { row.profile.take() }) else {
            continue;
        };
        let Profile { operand, worst, errors } = profile;
        let plot = plots.entry((row.run, row.instruction.clone(), row.types.clone())).or_insert_with(|| Plot {
            run: row.run,
            instruction: row.instruction.clone(),
            types: row.types.clone(),
            operand,
            cases: 0,
            margin: Margin(None),
            worst: vec![None; worst.len()],
            errors: vec![0; errors.len()],
        });
        plot.cases += 1;
        plot.margin = Margin(greater(plot.margin.0, row.margin));
        for (known, new) in plot.worst.iter_mut().zip(worst) {
            *known = greater(*known, new);
        }
        for (known, new) in plot.errors.iter_mut().zip(errors) {
            *known += new;
        }
    }
    let mut plots: Vec<Plot> = plots.into_values().collect();
    plots.sort_by(|a, b| b.margin.0.unwrap_or(0.0).total_cmp(&a.margin.0.unwrap_or(0.0)));
    for plot in &mut plots {
        plot.margin = Margin(plot.margin.0.map(short));
    }
    plots
}

fn greater(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// All that is known of those that fail or warn, by their places in the page; and how many are left out.
fn details(rows: &[Row], derive: Derive<'_>) -> (BTreeMap<usize, Detail>, usize) {
    let mut found: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].whole.is_some()).collect();
    let rank = |row: &Row| {
        let unexpected = row.standing.is_none_or(|standing| !standing.is_success());
        (std::cmp::Reverse(unexpected), std::cmp::Reverse(row.status.is_failure()))
    };
    found.sort_by(|&a, &b| {
        let margin = |row: &Row| row.margin.unwrap_or(f64::INFINITY);
        rank(&rows[a]).cmp(&rank(&rows[b])).then_with(|| margin(&rows[b]).total_cmp(&margin(&rows[a])))
    });
    let left_out = found.len().saturating_sub(DETAILS);
    found.truncate(DETAILS);
    let detail = |&index: &usize| {
        let row = &rows[index];
        row.whole.as_ref().map(|case| (index, detail(row, case, derive)))
    };
    (found.par_iter().filter_map(detail).collect(), left_out)
}

fn detail(row: &Row, case: &CaseResult, derive: Derive<'_>) -> Detail {
    let classes = case.classes.iter().map(|class| Class {
        status: class.status,
        class: class.class.clone(),
        count: class.count,
        // The worst is derived; the others show where else it goes wrong.
        examples: class.examples.iter().enumerate().map(|(i, x)| shown(case, x, derive, i == 0)).collect(),
    });
    Detail {
        rule: case.rule.clone(),
        clause: case.clause.clone(),
        coverage: case.coverage.clone(),
        why: row.why.clone(),
        classes: classes.collect(),
        operand: row.profile.as_ref().map(|profile| profile.operand.clone()).unwrap_or_default(),
        profile: row.profile.clone(),
        picture: case
            .picture
            .as_ref()
            .and_then(|picture| Some(Drawn { png: picture.data_uri()?, caption: picture.caption.clone() })),
    }
}

fn shown(case: &CaseResult, example: &Example, derive: Derive<'_>, derived: bool) -> Shown {
    let (results, operands) = slots(&case.types);
    let slot = results.get(example.slot).copied().unwrap_or(Slot::Plain);
    let range = |[lo, hi]: &[String; 2]| match (lo.as_str(), lo == hi) {
        ("nan", _) => "any NaN".to_owned(),
        (_, true) => value(slot, lo),
        (_, false) => format!("{} .. {}", value(slot, lo), value(slot, hi)),
    };
    Shown {
        operands: describe(&example.operands, &operands),
        got: value(slot, &example.got),
        permitted: example.permitted.iter().map(range).collect(),
        margin: Margin(example.margin.map(short)),
        explain: example.explain.clone(),
        derivation: if derived { derive(&example.explain) } else { None },
    }
}
