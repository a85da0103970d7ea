//! `assay table`: the precision table as text or data, and the doubtful places of its text.

use crate::exit::{self, Failure, WithCode};
use assay_case::{Budget, Case, Inputs, OperandSource};
use assay_events::{
    Doubt, DoubtExample, PermittedText, PrecisionTable, SPECIFICATION, TABLE_SCHEMA, TableRow, WGSL_SPECIFICATION,
    WgslRule,
};
use assay_float::Set;
use assay_precision::{Call, Modes, Permitted, Scalar, Specification};
use assay_runner::{example_call, hex};
use clap::Args;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// End of `assay table --help`.
pub(crate) const HELP: &str = "\
Examples:
  assay table Exp2 FDiv
  assay table --doubts
  assay table --json > table.json

A doubt is a place of a text that can be read in two ways. A result that only one
reading permits gets QualityWarning. Each doubt is shown with an input for which the
readings differ, found among the inputs of the precision cases.";

/// Number of inputs of a case in which a doubt is looked for. The first ones are special values,
/// for which the readings differ.
const ROWS: usize = 48;

#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Instructions, such as Exp2 or FDiv [default: all]
    instructions: Vec<String>,
    /// Print the doubtful places instead of the rules
    #[arg(long, conflicts_with = "json")]
    doubts: bool,
    /// Print rules and doubts as JSON (reports/schema/table.schema.json)
    #[arg(long)]
    json: bool,
}

/// Prints the table.
pub(crate) fn table(args: &TableArgs) -> Result<u8, Failure> {
    let mut cases = assay_case::load().code(exit::INTERNAL)?;
    let chosen = args.instructions.iter().map(|name| assay_precision::Op::from_name(name));
    let chosen = chosen.collect::<Result<Vec<_>, _>>().code(exit::USAGE)?;
    cases.retain(|case| chosen.is_empty() || chosen.contains(&case.call.op));
    let rows = if args.doubts { Vec::new() } else { rows(&cases) };
    let doubts = if args.doubts || args.json { doubts(&cases) } else { Vec::new() };
    let text = if args.json {
        serde_json::to_string_pretty(&with_versions(rows, doubts)).code(exit::INTERNAL)? + "\n"
    } else if args.doubts {
        doubts_text(&doubts)
    } else {
        rows_text(&rows)
    };
    crate::print(text.as_bytes())
}

/// Returns the rules of all instructions, without doubts.
pub(crate) fn rules() -> Result<PrecisionTable, Failure> {
    Ok(with_versions(rows(&assay_case::load().code(exit::INTERNAL)?), Vec::new()))
}

/// Adds the doubts of some instructions to rules. To find them takes seconds.
pub(crate) fn with_doubts(rules: PrecisionTable, instructions: &[&str]) -> Result<PrecisionTable, Failure> {
    let mut cases = assay_case::load().code(exit::INTERNAL)?;
    cases.retain(|case| instructions.contains(&case.call.op.name()));
    Ok(PrecisionTable { doubts: doubts(&cases), ..rules })
}

fn with_versions(rows: Vec<TableRow>, doubts: Vec<Doubt>) -> PrecisionTable {
    let (vulkan, wgsl) = (SPECIFICATION.to_owned(), WGSL_SPECIFICATION.to_owned());
    PrecisionTable { schema: TABLE_SCHEMA, vulkan, wgsl, rows, doubts }
}

/// Returns a row for each instruction on each combination of types that the cases test without
/// execution modes.
fn rows(cases: &[Case]) -> Vec<TableRow> {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for case in cases.iter().filter(|case| case.call.modes == Modes::default()) {
        if seen.insert((case.call.op.name(), types(&case.call.operands), types(&case.call.results))) {
            rows.push(row(case));
        }
    }
    rows
}

fn types(types: &[assay_precision::Type]) -> Vec<String> {
    types.iter().map(ToString::to_string).collect()
}

fn row(case: &Case) -> TableRow {
    let call = &case.call;
    TableRow {
        instruction: call.op.name().to_owned(),
        family: case.family.to_string(),
        operands: types(&call.operands),
        results: types(&call.results),
        rule: call.rule(),
        clause: call.clause().to_owned(),
        lists: call.lists().into_iter().map(str::to_owned).collect(),
        wgsl: call.in_wgsl().ok().map(|call| WgslRule { rule: call.rule(), clause: call.clause().to_owned() }),
    }
}

/// Returns the doubts that the inputs of the cases show, in the order of their texts.
fn doubts(cases: &[Case]) -> Vec<Doubt> {
    let mut found: BTreeMap<(Specification, &'static str), (BTreeSet<&'static str>, Doubt)> = BTreeMap::new();
    // Other shapes and constant operands have the same rules.
    let cases = cases
        .iter()
        .filter(|case| case.source == OperandSource::Buffer && Call::shapes(case.call.op).first() == Some(&case.shape));
    let in_wgsl = |case: &Case| Some(Case { call: case.call.in_wgsl().ok()?, ..case.clone() });
    let cases: Vec<Case> = cases.flat_map(|case| std::iter::once(case.clone()).chain(in_wgsl(case))).collect();
    let examples: Vec<_> = cases.par_iter().map(examples).collect();
    for (Case { call, .. }, examples) in cases.iter().zip(examples) {
        for (text, example) in examples {
            let doubt = Doubt {
                doubt: text.to_owned(),
                specification: call.specification.name().to_owned(),
                clause: call.clause().to_owned(),
                instructions: Vec::new(),
                example,
            };
            let (instructions, _) = found.entry((call.specification, text)).or_insert_with(|| (BTreeSet::new(), doubt));
            instructions.insert(call.op.name());
        }
    }
    let named = |(instructions, doubt): (BTreeSet<&'static str>, Doubt)| Doubt {
        instructions: instructions.into_iter().map(str::to_owned).collect(),
        ..doubt
    };
    found.into_values().map(named).collect()
}

/// Returns the first input of a case for each doubt that one shows.
fn examples(case: &Case) -> BTreeMap<&'static str, DoubtExample> {
    let (call, reference) = (&case.call, case.call.reference());
    let mut found = BTreeMap::new();
    let Ok(inputs) = Inputs::new(case, Budget::Quick, 0, None) else { return found };
    let mut columns = inputs.operand_columns();
    inputs.fill(0, &mut columns);
    let mut row = vec![0; columns.slots()];
    for index in 0..columns.rows().min(ROWS) {
        columns.row(index, &mut row);
        if !call.is_defined(&row) {
            continue;
        }
        for (slot, scalar) in call.result_slots().enumerate() {
            let Permitted { usual, lenient: Some(lenient) } = reference.permitted(slot, &row) else { continue };
            found.entry(lenient.doubt).or_insert_with(|| {
                let operands: Vec<String> =
                    call.operand_slots().zip(&row).map(|(scalar, &bits)| hex(scalar, bits)).collect();
                DoubtExample {
                    case: case.name.clone(),
                    slot,
                    strict: permitted_text(&usual, scalar),
                    lenient: permitted_text(&lenient.set, scalar),
                    explain: example_call(case).command(&operands, None),
                    operands,
                }
            });
        }
    }
    found
}

fn permitted_text(set: &Set, scalar: Scalar) -> PermittedText {
    let end = |rank| hex(scalar, scalar.bits_of_rank(rank));
    PermittedText {
        ranges: set.ranges().iter().map(|range| [end(range.lo), end(range.hi)]).collect(),
        nan: set.has_nan(),
        any: set.is_anything(),
    }
}

/// Returns the rules as text: a block for each rule, with the types that it holds for.
fn rows_text(rows: &[TableRow]) -> String {
    let mut text = String::new();
    let mut blocks: Vec<(&TableRow, Vec<String>)> = Vec::new();
    for row in rows {
        let types = format!("{} <- {}", row.results.join(", "), row.operands.join(", "));
        let same = |(other, _): &&mut (&TableRow, Vec<String>)| {
            (&other.instruction, &other.rule, &other.wgsl) == (&row.instruction, &row.rule, &row.wgsl)
        };
        match blocks.iter_mut().find(same) {
            Some((_, known)) => known.push(types),
            None => blocks.push((row, vec![types])),
        }
    }
    for (row, types) in blocks {
        _ = writeln!(text, "{}\n  rule    {}\n  clause  {}", row.instruction, row.rule, row.clause);
        if !row.lists.is_empty() {
            _ = writeln!(text, "  lists   {}", row.lists.join(", "));
        }
        if let Some(wgsl) = &row.wgsl {
            _ = writeln!(text, "  WGSL    {} ({})", wgsl.rule, wgsl.clause);
        }
        _ = writeln!(text, "  types   {}\n", types.join("; "));
    }
    text
}

fn doubts_text(doubts: &[Doubt]) -> String {
    let mut text = String::new();
    for doubt in doubts {
        let DoubtExample { operands, strict, lenient, explain, .. } = &doubt.example;
        _ = writeln!(text, "{}: {}", doubt.specification, doubt.doubt);
        _ = writeln!(text, "  clause        {}\n  instructions  {}", doubt.clause, doubt.instructions.join(", "));
        _ = writeln!(text, "  input         {}", operands.join(", "));
        _ = writeln!(text, "  strict        {}\n  lenient       {}", shown(strict), shown(lenient));
        _ = writeln!(text, "  {explain}\n");
    }
    text
}

fn shown(set: &PermittedText) -> String {
    if set.any {
        return "anything".to_owned();
    }
    let range = |[lo, hi]: &[String; 2]| if lo == hi { lo.clone() } else { format!("{lo} .. {hi}") };
    let ranges = set.ranges.iter().map(range).chain(set.nan.then(|| "NaN".to_owned()));
    let ranges: Vec<String> = ranges.collect();
    if ranges.is_empty() { "nothing".to_owned() } else { ranges.join(" or ") }
}
