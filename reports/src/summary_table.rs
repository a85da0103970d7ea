//! Table of all instructions at the end of a verbose run. Similar cases share a row.

use crate::{
    InputCount, group_digits, margin,
    scalar_types::{describe, parse_types, width},
    tally::severity,
};
use anstyle::Style;
use assay_case::OperandSource;
use assay_events::{CaseResult, Example, Status};
use std::{collections::BTreeMap, io};

/// Largest number of failing cases per row that are printed in full. Others are in `failures.csv`.
pub(crate) const EXPANDED: usize = 8;
/// Largest number of characters of a mode that a row shows.
const MODE: usize = 32;

/// Rows of the table, updated as cases finish. Memory does not grow with the number of cases.
#[derive(Debug, Default)]
pub(crate) struct SummaryTable {
    rows: BTreeMap<RowKey, TableRow>,
}

/// Properties that cases of a row share, in the order of the table: worst status last, core
/// instructions before those of GLSL.std.450.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    severity: u8,
    glsl: bool,
    instruction: String,
    width: String,
    mode: String,
}

/// A row: the cases of an instruction, a width and a mode with the same status.
#[derive(Debug)]
pub(crate) struct TableRow {
    status: Status,
    instruction: String,
    width: String,
    mode: String,
    cases: u64,
    /// Inputs of cases whose operands come from buffers.
    inputs: InputCoverage,
    /// Inputs of cases whose operands are constants of the shader. These are few.
    constants: InputCoverage,
    failing: u64,
    warning: u64,
    /// Result with the greatest margin, and the types of its case.
    worst: Option<(Example, String)>,
    /// Failing cases to print in full.
    pub(crate) failures: Vec<CaseResult>,
}

impl SummaryTable {
    /// Returns true if there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a finished case.
    pub(crate) fn add(&mut self, case: &CaseResult) {
        let width = width(&case.types);
        let key = RowKey {
            severity: severity(case.status),
            glsl: !case.instruction.starts_with("Op"),
            instruction: case.instruction.to_ascii_lowercase(),
            width: width.clone(),
            mode: case.modes.clone(),
        };
        let empty = || TableRow {
            status: case.status,
            instruction: case.instruction.clone(),
            width,
            mode: case.modes.clone(),
            cases: 0,
            inputs: InputCoverage::default(),
            constants: InputCoverage::default(),
            failing: 0,
            warning: 0,
            worst: None,
            failures: Vec::new(),
        };
        self.rows.entry(key).or_insert_with(empty).add(case);
    }
}

/// Operand sources that are compiled into the shader.
const CONSTANTS: [&str; 2] = [OperandSource::Constant.name(), OperandSource::SpecConstant.name()];

/// Returns true if the operands of a case are constants of the shader.
pub(crate) fn has_constants(case: &CaseResult) -> bool {
    CONSTANTS.contains(&case.source.as_str())
}

/// Number of tested and of possible inputs.
#[derive(Debug, Default)]
struct InputCoverage {
    cases: u64,
    tested: u64,
    /// Least and greatest number of possible inputs of a case.
    possible: Option<(InputCount, InputCount)>,
    /// Set if a case did not run all its inputs.
    incomplete: bool,
}

impl InputCoverage {
    fn add(&mut self, case: &CaseResult) {
        self.cases += 1;
        self.tested += case.inputs_tested;
        match case.inputs_possible.parse::<InputCount>() {
            Ok(possible) => {
                self.incomplete |= !possible.is_covered_by(case.inputs_tested);
                self.possible = Some(match self.possible.take() {
                    Some((least, most)) => (least.min(possible.clone()), most.max(possible)),
                    None => (possible.clone(), possible),
                });
            }
            Err(_) => self.incomplete = true,
        }
    }

    /// Formats the number of possible inputs of all cases together.
    fn possible(&self) -> String {
        let all = if self.incomplete { "" } else { "all " };
        let each = match &self.possible {
            Some((least, most)) if least == most => least.to_string(),
            Some((least, most)) => format!("{least}..{most}"),
            None => "?".to_owned(),
        };
        match self.cases {
            0 | 1 => format!("{all}{each}"),
            cases => format!("{all}{} x {each}", group_digits(cases)),
        }
    }
}

impl TableRow {
    /// Returns the number of cases in the row.
    pub(crate) fn cases(&self) -> u64 {
        self.cases
    }

    fn add(&mut self, case: &CaseResult) {
        self.cases += 1;
        self.failing += case.failing_inputs;
        self.warning += case.warning_inputs;
        let extent = if has_constants(case) { &mut self.constants } else { &mut self.inputs };
        extent.add(case);
        if let Some(worst) = &case.worst {
            let value = |example: &Example| example.margin.unwrap_or(-1.0);
            if self.worst.as_ref().is_none_or(|(known, _)| value(worst) > value(known)) {
                self.worst = Some((worst.clone(), case.types.clone()));
            }
        }
        if case.status.is_failure() {
            let place = self.failures.partition_point(|known| known.name < case.name);
            if place < EXPANDED {
                let mut kept = case.clone();
                for class in &mut kept.classes {
                    class.examples = Vec::new();
                }
                self.failures.insert(place, kept);
                self.failures.truncate(EXPANDED);
            }
        }
    }

    fn mode(&self) -> String {
        match self.mode.chars().count() {
            long if long > MODE => self.mode.chars().take(MODE - 2).chain("..".chars()).collect(),
            _ => self.mode.clone(),
        }
    }

    fn cells(&self) -> [String; COLUMNS] {
        // Constants cover few values by design, so they count only in rows of their own.
        let inputs = if self.inputs.cases > 0 { &self.inputs } else { &self.constants };
        let affected = match self.status {
            Status::QualityWarning => {
                format!("{} ({} lenient)", group_digits(self.failing), group_digits(self.warning))
            }
            Status::Fail => group_digits(self.failing),
            _ if self.failing + self.warning == 0 => "-".to_owned(),
            _ => group_digits(self.failing + self.warning),
        };
        let (worst, place) = match &self.worst {
            Some((example, types)) => {
                let (_, operands) = parse_types(types);
                (example.margin.map_or_else(|| "-".to_owned(), margin), describe(&example.operands, &operands))
            }
            None => ("-".to_owned(), String::new()),
        };
        [
            self.instruction.clone(),
            self.width.clone(),
            self.mode(),
            group_digits(self.cases),
            group_digits(inputs.tested),
            inputs.possible(),
            format!("{:?}", self.status),
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
    "mode",
    "cases",
    "inputs tested",
    "of possible",
    "verdict",
    "failing",
    "worst margin",
    "at",
];
/// Columns of numbers, aligned to the right.
const NUMBERS: [bool; COLUMNS] = [false, false, false, true, true, false, false, true, true, false];
const VERDICT: usize = 6;

/// Returns the colour of a status.
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

/// Writes the table, and calls `expand` after each row of failing cases.
pub(crate) fn write(
    out: &mut dyn io::Write,
    rows: &SummaryTable,
    mut expand: impl FnMut(&mut dyn io::Write, &TableRow) -> io::Result<()>,
) -> io::Result<()> {
    let cells: Vec<[String; COLUMNS]> = rows.rows.values().map(TableRow::cells).collect();
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
    for (row, cells) in rows.rows.values().zip(&cells) {
        let mut styles = [Style::new(); COLUMNS];
        styles[VERDICT] = style(row.status);
        out.write_all(line(std::array::from_fn(|i| cells[i].as_str()), styles).as_bytes())?;
        if row.status.is_failure() {
            expand(out, row)?;
        }
    }
    Ok(())
}
