//! The first page: a matrix of instructions by device and format.
//!
//! The page holds the results with the same place in the matrix, modes, shape, source and status as
//! one entry; `index.js` colours the cells for the chosen modes, shape and source.

use super::{
    atlas_data::{AtlasData, StoredResult},
    case_parts::FORMATS,
    markup::{badge, cause, colour, name, page, sign},
};
use crate::{counted, group_digits, tally::severity};
use assay_events::Status;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const SCRIPT: &str = include_str!("index.js");

/// Longest list of instructions in a verdict.
const LISTED: usize = 40;

/// Column of the matrix: device and format.
type Column = (usize, u8);

/// Data for the script.
#[derive(Serialize)]
struct MatrixJson<'a> {
    modes: &'a [&'a str],
    shapes: &'a [&'a str],
    sources: &'a [&'a str],
    statuses: Vec<StatusJson>,
    /// Title of each column.
    columns: Vec<String>,
    /// Name of each row.
    rows: Vec<&'a str>,
    /// Numbers of the row, column, modes, shape, source and status; number of cases; greatest
    /// margin, -1 for none and -2 for infinite; greatest share of failing inputs; number of cases of
    /// which every input was run; greatest number of inputs; number of cases that other runs have
    /// with fewer inputs.
    entries: Vec<[f64; 12]>,
}

#[derive(Serialize)]
struct StatusJson {
    name: String,
    sign: &'static str,
    /// Rank by which a cell shows one of several statuses.
    severity: u8,
}

/// Sum of the results with one place in the matrix, one choice and one status.
#[derive(Default)]
struct Entry {
    cases: usize,
    margin: Option<f64>,
    failing: f64,
    exhaustive: usize,
    inputs: u64,
    replaced: usize,
}

impl Entry {
    fn add(&mut self, result: &StoredResult) {
        self.cases += 1;
        self.margin = [self.margin, result.margin].into_iter().flatten().reduce(f64::max);
        self.failing = self.failing.max(result.failing as f64 / result.inputs.max(1) as f64);
        self.exhaustive += usize::from(result.exhaustive);
        self.inputs = self.inputs.max(result.inputs);
        self.replaced += usize::from(!result.others.is_empty());
    }
}

/// Returns the first page of an atlas.
pub(super) fn index_page(data: &AtlasData<'_>) -> Markup {
    let modes = data.options(|result| data.modes(result));
    let shapes = data.options(|result| data.shape(result));
    let sources = data.options(|result| data.source(result));
    let column = |result: &StoredResult| (data.device(result), result.format);
    let supported = data.results().iter().filter(|result| result.status != Status::NotSupported).map(column);
    let columns: Vec<Column> = supported.collect::<BTreeSet<_>>().into_iter().collect();
    let without: BTreeSet<Column> = data.results().iter().map(column).filter(|of| !columns.contains(of)).collect();
    let json = matrix_json(data, &columns, [&modes, &shapes, &sources]);
    let names: Vec<&str> = data.devices.iter().map(|device| device.name.as_str()).collect();
    let body = html! {
        header {
            h1 { "Accuracy atlas" }
            p class="dim" {
                "Results of " (counted(data.results().len(), "case")) " of " (counted(data.instructions.len(), "instruction"))
                " on " (counted(data.devices.len(), "device")) ", judged bit by bit by the accuracy that the specification \
                 requires. Data: " a href="atlas.json" { "atlas.json" } ", " a href="atlas.csv" { "atlas.csv" }
                ", and the rules in " a href="table.json" { "table.json" } "."
            }
            nav aria-label="Sections" {
                a href="#matrix" { "Matrix" } a href="#causes" { "Causes of the failures" } a href="#runs" { "Runs" }
            }
        }
        main {
            div class="verdicts" { @for device in 0..data.devices.len() { (device_verdict(data, device)) } }
            section id="matrix" {
                h2 { "Matrix" }
                (controls([("mode", &modes), ("shape", &shapes), ("source", &sources)], &names))
                (legend())
                noscript { p { "The colours of the cells need scripts; the pages of the instructions do not." } }
                (matrix(data, &columns, &without))
                p class="dim" { "Arrow keys move between the cells, Enter opens the page of the instruction." }
            }
            section id="causes" {
                h2 { "Causes of the failures" }
                p class="dim" { "Failures of one instruction with the same class of error and the same kind of operands, with the \
                                 simplest case of each, in any mode." }
                @for device in 0..data.devices.len() { (causes(data, device)) }
            }
            (runs(data))
        }
        script type="application/json" id="data" { (PreEscaped(json)) }
        script { (PreEscaped(SCRIPT)) }
    };
    page(&format!("Accuracy atlas: {}", names.join(", ")), "", &body)
}

/// Returns the data of the script, which cannot end its element.
fn matrix_json(data: &AtlasData<'_>, columns: &[Column], [modes, shapes, sources]: [&[&str]; 3]) -> String {
    let place = |list: &[&str], text: &str| list.iter().position(|known| *known == text).unwrap_or(0);
    let statuses: BTreeSet<Status> = data.results().iter().map(|result| result.status).collect();
    let statuses: Vec<Status> = statuses.into_iter().collect();
    let mut entries: BTreeMap<[usize; 6], Entry> = BTreeMap::new();
    for result in data.results() {
        let column = (data.device(result), result.format);
        let Ok(column) = columns.binary_search(&column) else { continue };
        let key = [
            result.instruction as usize,
            column,
            place(modes, data.modes(result)),
            place(shapes, data.shape(result)),
            place(sources, data.source(result)),
            statuses.binary_search(&result.status).unwrap_or(0),
        ];
        entries.entry(key).or_default().add(result);
    }
    let entry = |(key, entry): (&[usize; 6], &Entry)| {
        let [a, b, c, d, e, f] = key.map(|number| number as f64);
        // JSON has no infinity.
        let margin = entry.margin.map_or(-1.0, |margin| if margin.is_infinite() { -2.0 } else { margin });
        let counts = [entry.exhaustive as f64, entry.inputs as f64, entry.replaced as f64];
        [a, b, c, d, e, f, entry.cases as f64, margin, entry.failing, counts[0], counts[1], counts[2]]
    };
    let column = |&(device, format): &Column| {
        format!("{} on {} ({})", FORMATS[usize::from(format)], data.devices[device].name, data.driver(device))
    };
    let json = MatrixJson {
        modes,
        shapes,
        sources,
        statuses: statuses
            .iter()
            .map(|&status| StatusJson { name: name(status), sign: sign(status), severity: shown_rank(status) })
            .collect(),
        columns: columns.iter().map(column).collect(),
        rows: data.instructions.iter().map(|instruction| instruction.name.as_str()).collect(),
        entries: entries.iter().map(entry).collect(),
    };
    serde_json::to_string(&json).unwrap_or_default().replace('<', "\\u003c")
}

/// Returns the rank by which a cell shows one of several statuses: a case of which nothing is required
/// does not hide one that passes.
fn shown_rank(status: Status) -> u8 {
    match status {
        Status::Undetermined => severity(Status::Pass),
        Status::Pass => severity(Status::Undetermined),
        other => severity(other),
    }
}

/// Names the instructions that fail, warn or pass on a device, in any mode.
fn device_verdict(data: &AtlasData<'_>, device: usize) -> Markup {
    let mut worst: Vec<Option<Status>> = vec![None; data.instructions.len()];
    let mut failing = vec![BTreeSet::new(); data.instructions.len()];
    for result in data.results().iter().filter(|result| data.device(result) == device) {
        let known = &mut worst[result.instruction as usize];
        *known = (*known).into_iter().chain([result.status]).max_by_key(|status| severity(*status));
        if result.status.is_failure() {
            failing[result.instruction as usize].insert(result.format);
        }
    }
    let with = |of: &dyn Fn(Status) -> bool| -> Vec<usize> {
        (0..worst.len()).filter(|&at| worst[at].is_some_and(of)).collect()
    };
    let (fails, warns) = (with(&Status::is_failure), with(&|status| status == Status::QualityWarning));
    let rest = with(&|status| !status.is_failure() && status != Status::QualityWarning && status.is_checked()).len();
    let links = |list: &[usize], formats: bool| {
        html! {
            @for (place, &at) in list.iter().take(LISTED).enumerate() {
                @let instruction = &data.instructions[at];
                @if place > 0 { ", " }
                a href=(instruction.page) { (instruction.name) }
                @if formats {
                    " (" (failing[at].iter().map(|&of| FORMATS[usize::from(of)]).collect::<Vec<_>>().join(" ")) ")"
                }
            }
            @if list.len() > LISTED { ", and " (group_digits(list.len() - LISTED)) " more" }
        }
    };
    let status = match (fails.is_empty(), warns.is_empty()) {
        (false, _) => Status::Fail,
        (true, false) => Status::QualityWarning,
        (true, true) => Status::Pass,
    };
    html! {
        div class="verdict" style=(colour(status)) {
            strong { (data.devices[device].name) } " " span class="dim" { (data.driver(device)) }
            @if !fails.is_empty() {
                p { (badge(Status::Fail)) " " (counted(fails.len(), "instruction")) ": " (links(&fails, true)) }
            }
            @if !warns.is_empty() {
                p { (badge(Status::QualityWarning)) " " (counted(warns.len(), "instruction")) ": " (links(&warns, false)) }
            }
            p { (badge(Status::Pass)) " " (counted(rest, "instruction")) " in every checked case" }
        }
    }
}

fn controls(choices: [(&str, &[&str]); 3], devices: &[&str]) -> Markup {
    html! {
        div class="controls" {
            @for (id, list) in choices {
                span { label for=(id) { (id) } " "
                    select id=(id) {
                        // The worst results come first: no failure is hidden.
                        option value="-1" { "any" }
                        @for (number, text) in list.iter().enumerate() {
                            option value=(number) { (text.replace('+', " + ")) }
                        }
                    }
                }
            }
            @if devices.len() > 1 {
                span { label for="device" { "device" } " "
                    select id="device" {
                        option value="-1" { "all" }
                        @for (number, text) in devices.iter().enumerate() { option value=(number) { (text) } }
                    }
                }
            }
            span { label for="filter" { "filter" } " " input type="search" id="filter" placeholder="instruction" autocomplete="off" spellcheck="false"; }
            span { input type="checkbox" id="notable"; " " label for="notable" { "only failures and warnings" } }
            span class="dim" id="shown" role="status" {}
        }
    }
}

fn legend() -> Markup {
    let steps = [("0", "exact"), ("≤ ¼", ""), ("≤ ½", ""), ("≤ ¾", ""), ("≤ 1", "bound")];
    html! {
        div class="legend" {
            span { "Each cell: the worst result of the chosen cases." }
            span { "Pass by margin (error / bound): "
                @for (step, (text, _)) in steps.iter().enumerate() { span class={ "cell m" (step) } { (text) } }
            }
            span { span class="cell QualityWarning" { "!" } " only a lenient reading permits it" }
            span { span class="cell Fail" { "✗ 3%" } " Fail, with the greatest share of failing inputs" }
            span { span class="cell Ended" { "C" } " crash, timeout, lost device, or defect of Assay" }
            span { span class="cell NotSupported" { "–" } " not supported" }
            span { span class="cell Undetermined" { "?" } " nothing is required" }
            span { span class="cell none" { "·" } " not run" }
            span { span class="cell m1 exhaustive" { "0.2" } " a frame: every possible input was run in one of its cases" }
        }
    }
}

/// Draws the matrix. `without` are the columns in which no case is supported, which it leaves out.
fn matrix(data: &AtlasData<'_>, columns: &[Column], without: &BTreeSet<Column>) -> Markup {
    let unsupported = |device: usize| {
        let formats = without.iter().filter(|of| of.0 == device).map(|of| FORMATS[usize::from(of.1)]);
        formats.collect::<Vec<_>>().join(" ")
    };
    let of_device = |device: usize| columns.iter().filter(|column| column.0 == device).count();
    html! {
        div class="matrix scroll" tabindex="0" role="region" aria-label="Matrix of instructions by device and format" {
            table id="cells" {
                thead {
                    tr {
                        th rowspan="2" scope="col" class="corner" { "instruction" }
                        @for (device, of) in data.devices.iter().enumerate() {
                            @if of_device(device) > 0 {
                                th colspan=(of_device(device)) scope="colgroup" class="device" data-device=(device) {
                                    (of.name) br; span class="dim" {
                                        (data.driver(device))
                                        @if without.iter().any(|of| of.0 == device) { br; "not supported: " (unsupported(device)) }
                                    }
                                }
                            }
                        }
                    }
                    tr {
                        @for (place, &(device, format)) in columns.iter().enumerate() {
                            @let first = place == 0 || columns[place - 1].0 != device;
                            th scope="col" class=[first.then_some("first")] data-device=(device) { (FORMATS[usize::from(format)]) }
                        }
                    }
                }
                @for family in families(data) {
                    tbody {
                        tr class="family" { th colspan=(columns.len() + 1) scope="rowgroup" { span { (family.name) } } }
                        @for at in family.instructions {
                            @let instruction = &data.instructions[at];
                            tr data-row=(at) {
                                th scope="row" { a href=(instruction.page) { (instruction.name) } }
                                @for (place, &(device, _)) in columns.iter().enumerate() {
                                    @let first = place == 0 || columns[place - 1].0 != device;
                                    td class=[first.then_some("first")] data-device=(device) {}
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Adjacent instructions of one family.
struct Family<'a> {
    name: &'a str,
    instructions: Vec<usize>,
}

fn families<'a>(data: &'a AtlasData<'_>) -> Vec<Family<'a>> {
    let mut families: Vec<Family<'a>> = Vec::new();
    for (at, instruction) in data.instructions.iter().enumerate() {
        match families.last_mut().filter(|last| last.name == instruction.family) {
            Some(last) => last.instructions.push(at),
            None => families.push(Family { name: &instruction.family, instructions: vec![at] }),
        }
    }
    families
}

fn causes(data: &AtlasData<'_>, device: usize) -> Markup {
    html! {
        h3 { (data.devices[device].name) " " span class="dim" { (data.driver(device)) } }
        @if data.causes[device].list.is_empty() { p { "No case failed." } }
        ol class="causelist" {
            @for (at, instruction) in data.instructions.iter().enumerate() {
                @for (of, rerun) in data.causes_of(device, at) {
                    (cause(of, Some(&instruction.page), &rerun))
                }
            }
        }
    }
}

fn runs(data: &AtlasData<'_>) -> Markup {
    html! {
        section id="runs" {
            h2 { "Runs" }
            p class="dim" { "If several runs have a result of one case on one device, the one with the most inputs is shown; of equal ones the latest." }
            div class="scroll" tabindex="0" role="region" aria-label="Runs" {
                table class="runs" {
                    thead { tr {
                        th { "device" } th { "driver" } th { "folder" } th { "budget" } th { "seed" } th { "started" }
                        th { "cases" } th { "shown" } th { "Assay" } th { "rules" }
                    } }
                    tbody {
                        @for run in &data.runs {
                            tr {
                                td { (data.devices[run.device].name) } td { (data.driver(run.device)) }
                                td { code { (run.folder) } }
                                td { (run.budget) @if let Some(range) = &run.range { ", range " (range) } }
                                td { (run.seed) } td { (run.started.get(..16).unwrap_or(&run.started)) }
                                td { (group_digits(run.cases)) } td { (group_digits(run.shown)) }
                                td { (run.version) } td { (run.specification) }
                            }
                        }
                    }
                }
            }
        }
    }
}
