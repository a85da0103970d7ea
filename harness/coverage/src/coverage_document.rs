//! The coverage table as Markdown: `reports/coverage.md`.

use crate::coverage_table::{CoverageRow, CoverageTable, DocumentRows, RowStatus};
use std::fmt::Write;

impl CoverageTable {
    /// Returns the Markdown document: a summary, then every row of every document.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        write(self, &mut out).expect("writing to a string");
        out
    }

    /// Returns a line with the number of covered, explained and uncovered rows.
    pub fn summary(&self) -> String {
        let count = |status| self.count(status);
        format!(
            "{} statements and rows: {} covered, {} of them unproven, {} not covered with a reason, {} holes",
            self.rows().count(),
            count(RowStatus::Covered),
            self.rows().filter(|row| row.is_unproven()).count(),
            count(RowStatus::Explained),
            count(RowStatus::Uncovered)
        )
    }
}

const HEAD: &str = "# Coverage of the specification

`assay coverage` writes this file; a test checks that it is current. The documents are those of Vulkan 1.4.360 and of the SPIR-V
extensions. A row is covered by

* rules: `assay inspect` rejects a module that violates one. Each rule has a test module that violates it and a nearly identical
  one that does not (`harness/spirv-rules/tests/rules/`). *A requirement of the module* is compared with the capabilities of a device
  before a case runs on it;
* cases whose modules contain the subject of the row, or that name the row. The table shows groups of cases;
* the reference: functions of the interpreter that compute the permitted results or enforce the statement. Every result of every
  case is compared with their results.

A row without any of these gives the reason, or is a **hole**.

The column *shown to fail by* lists the planted violations that the coverage of a row detects: modules that violate the statement,
faults of drivers, tests that plant a wrong result. Rows of the lists of rules rest on the rule's own module
(`harness/spirv-rules/tests/rules/`) or dispatch (`harness/oracle/tests/it/run_time_rules.rs`). A covered row without any is **unproven**: nothing
shows that its coverage can fail.
";

fn write(table: &CoverageTable, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "{HEAD}\n| document | statements and rows | covered | of these unproven | not covered, with a reason | holes |\n|---|---|---|---|---|---|"
    )?;
    for document in &table.documents {
        let count = |status| document.rows().filter(|row| row.status() == status).count();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            document.name,
            document.rows().count(),
            count(RowStatus::Covered),
            document.rows().filter(|row| row.is_unproven()).count(),
            count(RowStatus::Explained),
            count(RowStatus::Uncovered)
        )?;
    }
    writeln!(out, "\n{}.", table.summary())?;
    for document in &table.documents {
        writeln!(out, "\n## {}\n\n{}", document.name, document.about)?;
        for section in &document.sections {
            writeln!(
                out,
                "\n### {}\n\n| statement | requirement | rules | cases | reference | shown to fail by | reason or limits |",
                section.name
            )?;
            writeln!(out, "|---|---|---|---|---|---|---|")?;
            for row in &section.rows {
                line(row, out)?;
            }
        }
    }
    Ok(())
}

impl DocumentRows {
    fn rows(&self) -> impl Iterator<Item = &CoverageRow> {
        self.sections.iter().flat_map(|section| &section.rows)
    }
}

fn line(row: &CoverageRow, out: &mut String) -> std::fmt::Result {
    let list = |items: &[String]| {
        let mut items = items.to_vec();
        items.dedup();
        items.join(", ")
    };
    let because = match (row.status(), &row.reason) {
        (RowStatus::Uncovered, _) => Some("**hole**".to_owned()),
        (RowStatus::Covered, _) => None,
        (RowStatus::Explained, reason) => reason.clone(),
    };
    let last: Vec<String> = because.into_iter().chain(row.note.clone()).collect();
    writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} |",
        cell(&row.name),
        cell(&row.text),
        cell(&list(&row.rules)),
        cell(&list(&row.cases)),
        cell(&list(&row.functions)),
        cell(&proof(row)),
        cell(&last.join("; "))
    )
}

/// Returns the planted violations of a row, or the reason why there are none.
fn proof(row: &CoverageRow) -> String {
    match &row.unplanted {
        _ if !row.is_unproven() => row.proofs.join(", "),
        Some(why) => format!("**unproven**: {why}"),
        None => "**unproven**".to_owned(),
    }
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .replace(['*'], "\\*")
        .replace("\\*\\*hole\\*\\*", "**hole**")
        .replace("\\*\\*unproven\\*\\*", "**unproven**")
}
