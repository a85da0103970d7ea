//! The page of an instruction.

use super::{
    atlas_data::{AtlasData, StoredResult},
    error_plots::{ExcessRange, error_curve, excess_ranges, histogram, profile_margin},
    markup::{badge, cause, colour, command, example, page},
};
use crate::{
    InputCount, counted, group_digits, humanize::share, margin, plural, read::ReadError, scalar_types::width,
    tally::severity,
};
use assay_events::{
    AtlasDevice, CaseResult, Cause, DeviceInfo, Doubt, PermittedText, PrecisionTable, Profile, Status, TableRow,
};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Largest number of ranges above the bound that are listed for a plot.
const RANGES: usize = 8;

/// Returns the page of an instruction.
///
/// # Errors
/// The results of a run cannot be read.
pub(super) fn instruction_page(data: &AtlasData<'_>, table: &PrecisionTable, at: usize) -> Result<Markup, ReadError> {
    let instruction = &data.instructions[at];
    let sections = sections(data, at)?;
    let verdicts = verdicts(data, at)?;
    let rows: Vec<&TableRow> = table.rows.iter().filter(|row| row.instruction == instruction.name).collect();
    let doubts: Vec<&Doubt> =
        table.doubts.iter().filter(|doubt| doubt.instructions.contains(&instruction.name)).collect();
    let many = sections.len() > 6;
    let body = html! {
        header {
            p { a href="../index.html" { "Atlas" } " › " (instruction.family) }
            h1 { (instruction.name) }
        }
        main {
            section aria-label="Verdicts" class="verdicts" {
                @for (device, verdict) in data.devices.iter().zip(&verdicts) { (verdict_block(device, verdict)) }
            }
            (rules(&rows, data.devices.iter().any(|device| device.api == DeviceInfo::API_WGPU)))
            (doubts_block(&doubts))
            h2 { "Errors by format" }
            p class="dim" {
                "Without declared modes and with operands from a buffer, where such a case ran; the verdicts of all modes are \
                 below each format. The margin is the error divided by the permitted error: 0 is exact, 1 is the bound, more \
                 is wrong."
            }
            @for section in &sections { (section_block(data, section, many)) }
        }
    };
    Ok(page(&format!("{}: accuracy atlas", instruction.name), "../", &body))
}

/// Results of an instruction on a device.
struct DeviceVerdict<'a> {
    /// Number of cases by status.
    counts: BTreeMap<Status, usize>,
    /// Causes of the failures, each with the command that repeats its simplest case.
    causes: Vec<(&'a Cause, String)>,
    warning: Option<WarningExample>,
}

/// The simplest case with a warning.
struct WarningExample {
    case: CaseResult,
    rerun: String,
}

fn verdicts<'a>(data: &'a AtlasData<'_>, at: usize) -> Result<Vec<DeviceVerdict<'a>>, ReadError> {
    let results = data.results_of(at);
    let verdict = |device: usize| {
        let of_device = || results.iter().filter(move |result| data.device(result) == device);
        let mut counts = BTreeMap::new();
        of_device().for_each(|result| *counts.entry(result.status).or_default() += 1);
        let simplest = of_device()
            .filter(|result| result.status == Status::QualityWarning)
            .min_by_key(|result| complexity(data, result));
        let warning = match simplest {
            Some(result) => {
                let rerun = data.rerun(result);
                data.cases(&[result])?.pop().map(|case| WarningExample { case, rerun })
            }
            None => None,
        };
        let causes = data.causes_of(device, at).collect();
        Ok(DeviceVerdict { counts, causes, warning })
    };
    (0..data.devices.len()).map(verdict).collect()
}

/// Returns numbers of cases by status, the worst status first.
fn worst_first(counts: &BTreeMap<Status, usize>) -> Vec<(Status, usize)> {
    let mut counts: Vec<(Status, usize)> = counts.iter().map(|(&status, &count)| (status, count)).collect();
    counts.sort_by_key(|(status, _)| std::cmp::Reverse(severity(*status)));
    counts
}

fn verdict_block(device: &AtlasDevice, verdict: &DeviceVerdict<'_>) -> Markup {
    let worst = verdict.counts.keys().copied().max_by_key(|status| severity(*status));
    let driver = format!("{} {}", device.driver_name, device.driver_info);
    html! {
        div class="verdict" style=(colour(worst.unwrap_or(Status::NotSupported))) {
            h2 { (device.name) " " span class="dim" { (driver) } }
            @if verdict.counts.is_empty() { p { "not run" } }
            p class="counts" {
                @for (status, count) in worst_first(&verdict.counts) {
                    span { (badge(status)) " in " (counted(count, "case")) }
                }
            }
            @if !verdict.causes.is_empty() {
                ol class="causelist" { @for (of, rerun) in &verdict.causes { (cause(of, None, rerun)) } }
            }
            @if let Some(WarningExample { case, rerun }) = &verdict.warning {
                ol class="causelist" {
                    li class="cause" style=(colour(Status::QualityWarning)) {
                        strong { "Permitted only by a lenient reading of the text" }
                        p class="mono" { (case.name) }
                        (worst_block(case))
                        (command(rerun))
                    }
                }
            }
        }
    }
}

/// Returns the first warning of a case as an example, else its worst result.
fn worst_block(case: &CaseResult) -> Markup {
    let warning = case.classes.iter().find(|class| class.status == Status::QualityWarning);
    let shown = warning.and_then(|class| class.examples.first()).or(case.worst.as_ref());
    html! {
        @if let Some(shown) = shown {
            (example(shown, &case.types))
            @if let Some(explain) = shown.explain_command() { (command(&explain)) }
        }
    }
}

/// Rules of the table, each with the types that it holds for.
fn rules(rows: &[&TableRow], wgsl: bool) -> Markup {
    let mut blocks: Vec<(&TableRow, Vec<String>)> = Vec::new();
    for row in rows {
        let types = format!("{} <- {}", row.results.join(", "), row.operands.join(", "));
        let same = |(other, _): &&mut (&TableRow, Vec<String>)| {
            (&other.rule, &other.lists) == (&row.rule, &row.lists) && (!wgsl || other.wgsl == row.wgsl)
        };
        match blocks.iter_mut().find(same) {
            Some((_, known)) => known.push(types),
            None => blocks.push((row, vec![types])),
        }
    }
    html! {
        h2 { "Rule" }
        @if blocks.is_empty() { p { "The precision table of this version does not have this instruction." } }
        div class="rules" {
            @for (row, types) in &blocks {
                dl class="rule" {
                    dt { "permitted" } dd { strong { (row.rule) } }
                    dt { "clause" } dd { code { (row.clause) } }
                    @if !row.lists.is_empty() { dt { "modes that it must respect" } dd { (row.lists.join(", ")) } }
                    @if let Some(rule) = row.wgsl.as_ref().filter(|_| wgsl) {
                        dt { "WGSL" } dd { (rule.rule) " (" code { (rule.clause) } ")" }
                    }
                    dt { "types" }
                    dd { @if types.len() > 8 {
                        details { summary { (types.len()) " types" } span class="mono" { (types.join("; ")) } }
                    } @else { span class="mono" { (types.join("; ")) } } }
                }
            }
        }
    }
}

fn doubts_block(doubts: &[&Doubt]) -> Markup {
    html! {
        @if !doubts.is_empty() {
            h2 { "Doubts" }
            p class="dim" {
                "Places where the text can be read in two ways. A result that only the lenient reading permits is a QualityWarning."
            }
            @for doubt in doubts {
                dl class="rule" {
                    dt { (doubt.specification) } dd { strong { (doubt.doubt) } " (" code { (doubt.clause) } ")" }
                    dt { "example" } dd class="mono" { (doubt.example.operands.join(", ")) }
                    dt { "strict reading" } dd class="mono" { (permitted(&doubt.example.strict)) }
                    dt { "lenient reading" } dd class="mono" { (permitted(&doubt.example.lenient)) }
                    dt { "derivation" } dd { (command(&doubt.example.explain)) }
                }
            }
        }
    }
}

fn permitted(set: &PermittedText) -> String {
    if set.any {
        return "anything".to_owned();
    }
    let range = |[lo, hi]: &[String; 2]| if lo == hi { lo.clone() } else { format!("{lo} .. {hi}") };
    let ranges: Vec<String> = set.ranges.iter().map(range).chain(set.nan.then(|| "NaN".to_owned())).collect();
    if ranges.is_empty() { "nothing".to_owned() } else { ranges.join(" or ") }
}

/// Results on one combination of scalar types, such as `f32` or `f16 <- f32`.
struct Section<'a> {
    width: String,
    results: Vec<&'a StoredResult>,
    /// The simplest case on each device, whole.
    simplest: Vec<Option<(&'a StoredResult, CaseResult)>>,
}

fn sections<'a>(data: &'a AtlasData<'_>, at: usize) -> Result<Vec<Section<'a>>, ReadError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for result in data.results_of(at) {
        let width = width(data.types(result));
        match sections.last_mut().filter(|last| last.width == width) {
            Some(last) => last.results.push(result),
            None => sections.push(Section { width, results: vec![result], simplest: Vec::new() }),
        }
    }
    for section in &mut sections {
        for device in 0..data.devices.len() {
            let of_device = section.results.iter().copied().filter(|result| data.device(result) == device);
            section.simplest.push(match of_device.min_by_key(|result| complexity(data, result)) {
                Some(result) => data.cases(&[result])?.pop().map(|case| (result, case)),
                None => None,
            });
        }
    }
    Ok(sections)
}

/// Returns a key that is least for the simplest case.
fn complexity(data: &AtlasData<'_>, result: &StoredResult) -> (usize, bool, usize) {
    let modes = data.modes(result);
    let shape = data.shape(result);
    let modes = if modes == "default" { 0 } else { 1 + modes.matches('+').count() };
    (modes, data.source(result) != "buffer", if shape == "scalar" { 0 } else { shape.len() })
}

fn section_block(data: &AtlasData<'_>, section: &Section<'_>, many: bool) -> Markup {
    let notable = |result: &&&StoredResult| result.status.is_failure() || result.status == Status::QualityWarning;
    let is_notable = section.results.iter().any(|result| notable(&result));
    let profiles = section.simplest.iter().flatten().filter_map(|(_, case)| plotted(case));
    let exceeds = profiles.flat_map(|profile| &profile.worst).flatten().any(|margin| *margin > 1.0);
    let worst = |device: usize| {
        let of_device = section.results.iter().filter(|result| data.device(result) == device);
        of_device.map(|result| result.status).max_by_key(|status| severity(*status))
    };
    html! {
        details class="format" open[is_notable || !many] {
            summary {
                h3 { (section.width) }
                @for (device, of) in data.devices.iter().enumerate() {
                    @if let Some(status) = worst(device) { span { (badge(status)) " " span class="dim" { (of.name) } } }
                }
            }
            @for (device, simplest) in section.simplest.iter().enumerate() {
                @if let Some((result, case)) = simplest { (card(data, device, result, case, exceeds)) }
            }
            (modes_table(data, section, is_notable))
        }
    }
}

/// Returns the profile of a case that can be plotted along its first operand. Of a vector only the
/// first component is known, which need not be the one with the error.
fn plotted(case: &CaseResult) -> Option<&Profile> {
    let scalar = case.types.split_once(" <- ").is_some_and(|(_, first)| !first.starts_with(['v', 'm']));
    case.profile.as_ref().filter(|_| scalar)
}

fn card(data: &AtlasData<'_>, device: usize, result: &StoredResult, case: &CaseResult, exceeds: bool) -> Markup {
    let run = &data.runs[usize::from(result.run)];
    if case.status == Status::NotSupported {
        return html! {
            article class="card" style=(colour(case.status)) {
                h4 { (data.devices[device].name) " " span class="dim" { (data.driver(device)) } }
                p { (badge(case.status)) " " (case.reason.as_deref().unwrap_or_default()) }
            }
        };
    }
    let ranges = plotted(case).map(excess_ranges).unwrap_or_default();
    html! {
        article class="card" style=(colour(case.status)) {
            h4 { (data.devices[device].name) " " span class="dim" { (data.driver(device)) } }
            p {
                (badge(case.status)) " "
                @if let Some(greatest) = result.margin { "margin " strong { (margin(greatest)) } ", " }
                (inputs(case)) ". "
                span class="dim" { (case.coverage) "; " (case.types) ", modes " (case.modes) ", operands from " (case.source) }
            }
            @if let Some(reason) = &case.reason { p { (reason) } }
            @for class in &case.classes {
                p { (badge(class.status)) " " strong { (class.class) } " in " (counted(class.count, "result"))
                    @if !class.regions.is_empty() {
                        ", by operands: "
                        @for (at, region) in class.regions.iter().enumerate() {
                            @if at > 0 { ", " }
                            (region.region) " " (group_digits(region.count))
                        }
                    }
                }
            }
            @match plotted(case) {
                Some(profile) => div class="curves" {
                    (error_curve(profile, exceeds))
                    (histogram(profile))
                },
                None if case.profile.is_some() => p class="dim" {
                    "No plot: a result depends on several components of the first operand."
                },
                None if case.status.is_checked() => p class="dim" { "No plot: no result has an error." },
                None => "",
            }
            (ranges_list(&ranges))
            @if let Some(worst) = &case.worst {
                p class="dim" { "Result with the greatest margin:" }
                (example(worst, &case.types))
                @if let Some(explain) = worst.explain_command() { (command(&explain)) }
            }
            (command(&data.rerun(result)))
            p class="dim" {
                "From " code { (run.folder) } ", budget " (run.budget) ", " (run.started.get(..10).unwrap_or(&run.started))
                ", Assay " (run.version) ", " (run.specification) "."
                @if !result.others.is_empty() {
                    " Chosen for its number of inputs; also run in "
                    @for (at, other) in result.others.iter().enumerate() {
                        @if at > 0 { ", " }
                        code { (data.runs[other.run].folder) } " (" (super::markup::name(other.status)) ", "
                        (counted(other.inputs_tested, "input")) ")"
                    }
                    "."
                }
            }
        }
    }
}

fn ranges_list(ranges: &[ExcessRange]) -> Markup {
    html! {
        @if !ranges.is_empty() {
            p { "Above the bound for first operands " (plural(ranges.len(), "in this range", "in these ranges"))
                ", to the resolution of the plot:" }
            ul class="ranges" {
                @for ExcessRange { ends: [low, high], margin } in ranges.iter().take(RANGES) {
                    li { code { (low) " .. " (high) } ", margin up to " (profile_margin(*margin)) }
                }
                @if ranges.len() > RANGES { li { (ranges.len() - RANGES) " more" } }
            }
        }
    }
}

/// Returns the number of inputs tested, of all possible ones.
fn inputs(case: &CaseResult) -> String {
    let tested = counted(case.inputs_tested, "input");
    let text = match case.inputs_possible.parse::<InputCount>() {
        Ok(possible) if possible.is_covered_by(case.inputs_tested) => format!("all {tested}"),
        Ok(possible) => format!("{} of {possible} inputs", group_digits(case.inputs_tested)),
        Err(_) => tested,
    };
    match case.failing_inputs {
        0 => text,
        failing => {
            format!("{} of the inputs ({}) fail: {text}", group_digits(failing), share(failing, case.inputs_tested))
        }
    }
}

/// Verdicts of the cases with one mode on one device.
#[derive(Default)]
struct ModeCell {
    counts: BTreeMap<Status, usize>,
    margin: Option<f64>,
}

fn modes_table(data: &AtlasData<'_>, section: &Section<'_>, open: bool) -> Markup {
    let mut rows: BTreeMap<(usize, &str), Vec<ModeCell>> = BTreeMap::new();
    for result in &section.results {
        let modes = data.modes(result);
        let row = rows.entry((complexity(data, result).0, modes)).or_default();
        row.resize_with(data.devices.len(), ModeCell::default);
        let cell = &mut row[data.device(result)];
        *cell.counts.entry(result.status).or_default() += 1;
        cell.margin = [cell.margin, result.margin].into_iter().flatten().reduce(f64::max);
    }
    html! {
        details open[open] {
            summary { "Verdict of each mode (" (counted(section.results.len(), "result")) ")" }
            div class="scroll" tabindex="0" role="region" aria-label="Verdict of each mode" {
                table class="modes" {
                    thead { tr {
                        th { "modes" }
                        @for device in &data.devices { th { (device.name) } }
                    } }
                    tbody {
                        @for ((_, modes), cells) in &rows {
                            tr {
                                th scope="row" { (modes.replace('+', " + ")) }
                                @for cell in cells { td {
                                    @for (status, count) in worst_first(&cell.counts) {
                                        (badge(status)) @if count > 1 { " × " (count) } " "
                                    }
                                    @if let Some(greatest) = cell.margin { span class="dim" { "margin " (margin(greatest)) } }
                                } }
                            }
                        }
                    }
                }
            }
        }
    }
}
