//! The table at the end of a run: cases that agree share a row.

use crate::{
    Inputs, count, margin,
    operands::{describe, slots, width},
    tally::{is_failure, severity},
};
use anstyle::Style;
use assay_runner::{CaseResult, Status};
use std::{collections::BTreeSet, io};

/// What the table keeps of a case.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) result: CaseResult,
    width: String,
}

impl Entry {
    /// Keeps what the table shows: all of a failure, the outline of a success.
    pub(crate) fn new(result: &CaseResult) -> Entry {
        let mut result = result.clone();
        for class in &mut result.classes {
            class.examples = Vec::new();
        }
        Entry { width: width(&result.types), result }
    }

    fn key(&self, by_mode: bool) -> (u8, bool, String, &str, Option<&str>) {
        let case = &self.result;
        // Core instructions first, then those of GLSL.std.450.
        let glsl = !case.instruction.starts_with("Op");
        let mode = by_mode.then_some(case.modes.as_str());
        (severity(case.status), glsl, case.instruction.to_ascii_lowercase(), &self.width, mode)
    }
}

/// A row: all cases of an instruction and a width with the same status.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) entries: Vec<&'a Entry>,
}

/// Groups cases into rows, the worst status last. With `by_mode` every mode has rows of its own.
pub(crate) fn rows(entries: &mut [Entry], by_mode: bool) -> Vec<Row<'_>> {
    entries.sort_by(|a, b| (a.key(by_mode), &a.result.name).cmp(&(b.key(by_mode), &b.result.name)));
    let chunks = entries.chunk_by(|a, b| a.key(by_mode) == b.key(by_mode));
    chunks.map(|chunk| Row { entries: chunk.iter().collect() }).collect()
}

impl Row<'_> {
    pub(crate) fn status(&self) -> Status {
        self.entries[0].result.status
    }

    fn modes(&self) -> String {
        let modes: BTreeSet<&str> = self.entries.iter().map(|e| e.result.modes.as_str()).collect();
        // `default` is the mode that most shaders run in.
        let first = modes.get("default").or_else(|| modes.first()).copied().unwrap_or_default();
        match modes.len() {
            0 | 1 => first.to_owned(),
            more => format!("{first} +{}", more - 1),
        }
    }

    fn inputs(&self) -> (String, String) {
        let tested: u64 = self.entries.iter().map(|e| e.result.inputs_tested).sum();
        let parsed = |e: &&Entry| e.result.inputs_possible.parse::<Inputs>().ok();
        let possible: Vec<Inputs> = self.entries.iter().filter_map(parsed).collect();
        let all = possible.len() == self.entries.len()
            && possible.iter().zip(&self.entries).all(|(p, e)| p.are_all(e.result.inputs_tested));
        let range = match (possible.iter().min(), possible.iter().max()) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least}..{most}"),
            _ => "?".to_owned(),
        };
        (count(tested), if all { format!("all {range}") } else { range })
    }

    /// The case with the greatest margin.
    fn worst(&self) -> Option<&CaseResult> {
        let margin = |case: &CaseResult| case.worst.as_ref().and_then(|w| w.margin);
        let with_margin = self.entries.iter().map(|e| &e.result).filter(|case| margin(case).is_some());
        with_margin.max_by(|a, b| margin(a).partial_cmp(&margin(b)).unwrap_or(std::cmp::Ordering::Equal))
    }

    fn cells(&self) -> [String; COLUMNS] {
        let case = &self.entries[0].result;
        let (tested, possible) = self.inputs();
        let failing: u64 = self.entries.iter().map(|e| e.result.failing_inputs).sum();
        let warning: u64 = self.entries.iter().map(|e| e.result.warning_inputs).sum();
        let affected = match case.status {
            Status::QualityWarning => format!("{} lenient", count(warning)),
            Status::Fail => count(failing),
            _ if failing + warning == 0 => "-".to_owned(),
            _ => count(failing + warning),
        };
        let (worst, place) = match self.worst().and_then(|case| Some((case, case.worst.as_ref()?))) {
            Some((case, example)) => {
                let (_, operands) = slots(&case.types);
                (example.margin.map_or_else(|| "-".to_owned(), margin), describe(&example.operands, &operands))
            }
            None => ("-".to_owned(), String::new()),
        };
        [
            case.instruction.clone(),
            self.entries[0].width.clone(),
            self.modes(),
            count(self.entries.len()),
            tested,
            possible,
            format!("{:?}", case.status),
            affected,
            worst,
            place,
        ]
    }
}

const COLUMNS: usize = 10;
const HEADINGS: [&str; COLUMNS] = [
    "instruction",
    "width",
    "modes",
    "cases",
    "inputs tested",
    "of possible",
    "verdict",
    "failing",
    "worst margin",
    "at",
];
/// Which columns hold numbers, and are set flush right.
const NUMBERS: [bool; COLUMNS] = [false, false, false, true, true, false, false, true, true, false];
const VERDICT: usize = 6;

/// The colour of a status.
pub(crate) fn style(status: Status) -> Style {
    use anstyle::{AnsiColor, Effects};
    match status {
        Status::Pass => AnsiColor::Green.on_default(),
        Status::QualityWarning | Status::Undetermined => AnsiColor::Yellow.on_default(),
        Status::NotSupported => Style::new().effects(Effects::DIMMED),
        Status::Fail | Status::Crash | Status::Timeout | Status::DeviceLost | Status::InternalError => {
            AnsiColor::Red.on_default().effects(Effects::BOLD)
        }
    }
}

/// Writes the table, calling `expand` after each row of failing cases.
pub(crate) fn write(
    out: &mut dyn io::Write,
    rows: &[Row<'_>],
    mut expand: impl FnMut(&mut dyn io::Write, &Row<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let cells: Vec<[String; COLUMNS]> = rows.iter().map(Row::cells).collect();
    let width = |column: usize| {
        let widths = cells.iter().map(|row| row[column].chars().count());
        widths.chain([HEADINGS[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let bold = Style::new().bold();
    let line = |row: [&str; COLUMNS], styles: [Style; COLUMNS]| {
        let mut text = String::new();
        for column in 0..COLUMNS {
            let (cell, style) = (row[column], styles[column]);
            let padding = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            let (before, after) = if NUMBERS[column] { (padding, String::new()) } else { (String::new(), padding) };
            text += &format!("{before}{style}{cell}{style:#}{after}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    out.write_all(line(HEADINGS, [bold; COLUMNS]).as_bytes())?;
    for (row, cells) in rows.iter().zip(&cells) {
        let mut styles = [Style::new(); COLUMNS];
        styles[VERDICT] = style(row.status());
        out.write_all(line(std::array::from_fn(|i| cells[i].as_str()), styles).as_bytes())?;
        if is_failure(row.status()) {
            expand(out, row)?;
        }
    }
    Ok(())
}
