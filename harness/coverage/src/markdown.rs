//! The table as `reports/coverage.md`.

use crate::table::{Covered, Row, Standing, Table};
use std::fmt::Write;

impl Table {
    /// The document: a summary, then every row of every document.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        write(self, &mut out).expect("writing to a string");
        out
    }

    /// How much is covered, in a line.
    pub fn summary(&self) -> String {
        let count = |standing| self.count(standing);
        format!(
            "{} statements and rows: {} covered, of which {} are cited without proof, {} not covered for a reason that is given, {} holes",
            self.rows().count(),
            count(Standing::Covered),
            self.rows().filter(|row| row.is_unproven()).count(),
            count(Standing::Explained),
            count(Standing::Hole)
        )
    }
}

const HEAD: &str = "# What is covered

Written by `assay coverage`; a test compares it. The documents are those of Vulkan 1.4.360 and of the SPIR-V extensions. A row is
covered by

* rules: a module that breaks it is refused by `assay inspect`; each rule has a module that breaks it and a nearest one that does
  not (`harness/spirv/tests/rules/`). *A need of the module* is held against what a device has, before a case runs on it;
* cases: whose modules hold what the row is about, or who name the row themselves. Groups are shown, not every case;
* the reference: the functions that compute what the row permits, or that see that it is kept. Each result of each case is held
  against what they say.

A row without any of these says why, or is a **hole**.

The last column but one has the violations of a row that are planted, and that what the row cites is shown to catch: modules that
break the statement, faults of drivers, tests of the named crate that plant a wrong result. Rows of the lists of rules rest on the
rule's own module (`harness/spirv/tests/rules/`) or dispatch (`harness/oracle/tests/run_time.rs`). A row that is covered and has none
is **unproven**: nothing shows that its cover can fail.
";

fn write(table: &Table, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "{HEAD}\n| document | statements and rows | covered | of these unproven | not, and why | holes |\n|---|---|---|---|---|---|"
    )?;
    for document in &table.documents {
        let count = |standing| document.rows().filter(|row| row.standing() == standing).count();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            document.name,
            document.rows().count(),
            count(Standing::Covered),
            document.rows().filter(|row| row.is_unproven()).count(),
            count(Standing::Explained),
            count(Standing::Hole)
        )?;
    }
    writeln!(out, "\n{}.", table.summary())?;
    for document in &table.documents {
        writeln!(out, "\n## {}\n\n{}", document.name, document.about)?;
        for section in &document.sections {
            writeln!(
                out,
                "\n### {}\n\n| statement | asks for | rules | cases | reference | shown to fail by | why not, limits |",
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

impl Covered {
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }
}

fn line(row: &Row, out: &mut String) -> std::fmt::Result {
    let list = |items: &[String]| {
        let mut items = items.to_vec();
        items.dedup();
        items.join(", ")
    };
    let because = match (row.standing(), &row.reason) {
        (Standing::Hole, _) => Some("**hole**".to_owned()),
        (Standing::Covered, _) => None,
        (Standing::Explained, reason) => reason.clone(),
    };
    let last: Vec<String> = because.into_iter().chain(row.note.clone()).collect();
    writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} |",
        cell(&row.name),
        cell(&row.says),
        cell(&list(&row.rules)),
        cell(&list(&row.cases)),
        cell(&list(&row.functions)),
        cell(&proof(row)),
        cell(&last.join("; "))
    )
}

/// The planted violations of a row, or the reason for which there are none.
fn proof(row: &Row) -> String {
    match &row.unplanted {
        _ if !row.is_unproven() => row.proofs.join(", "),
        Some(why) => format!("**unproven**: {why}"),
        None => "**unproven**".to_owned(),
    }
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .replace(['*'], "\\*")
        .replace("\\*\\*hole\\*\\*", "**hole**")
        .replace("\\*\\*unproven\\*\\*", "**unproven**")
}
