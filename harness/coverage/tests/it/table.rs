//! Tests that the table is complete and current, and accounts for every place in the documents.

use assay_coverage::{CoverageTable, Document, RowStatus, documents, fingerprint, text_units};
use assay_precision::Op;
use assay_testkit::skip;
use std::collections::{BTreeMap, BTreeSet};

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn the_committed_table_is_current_without_holes_and_names_functions_that_exist(table: &CoverageTable) {
    let committed = std::fs::read_to_string(root().join("reports/coverage.md")).expect("reports/coverage.md");
    let written = table.markdown();
    let changed = committed.lines().zip(written.lines()).find(|(old, new)| old != new);
    assert!(committed == written, "run `assay coverage`; the first line that changed: {changed:#?}");
    let holes: Vec<&str> =
        table.rows().filter(|row| row.status() == RowStatus::Uncovered).map(|row| row.name.as_str()).collect();
    assert_eq!(holes, [""; 0], "neither covered nor explained");
    assert_eq!(missing_functions(table), [""; 0]);
}

/// Returns the functions that rows name and that are not in the source text.
fn missing_functions(table: &CoverageTable) -> Vec<&str> {
    let mut missing = Vec::new();
    let named: BTreeSet<&str> = table.rows().flat_map(|row| &row.functions).map(String::as_str).collect();
    for name in named {
        // The text after a space is an argument.
        let path: Vec<&str> = name.split(' ').next().unwrap_or_default().split("::").collect();
        let [krate, modules @ .., function] = &path[..] else { panic!("{name} is not a path") };
        let mut file = root().join("harness").join(krate).join("src");
        file.extend(modules);
        let candidates = [file.with_extension("rs"), file.join("mod.rs")];
        let text = candidates.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let defined = |line: &str| {
            let start = line.find("fn ").map(|at| &line[at + 3..]);
            let before = line.trim_start().starts_with("fn ") || line.contains(" fn ");
            start.is_some_and(|rest| {
                before && rest.strip_prefix(*function).is_some_and(|rest| rest.starts_with(['(', '<']))
            })
        };
        if !text.lines().any(defined) {
            missing.push(name);
        }
    }
    missing
}

#[test]
fn statement_names_are_unique_and_no_place_is_listed_both_with_and_without_a_statement() {
    for Document { name, statements, nothing, .. } in documents().unwrap_or_else(|error| panic!("{error}")) {
        let mut ids = BTreeSet::new();
        for statement in &statements {
            assert!(ids.insert(&statement.id), "{name}: {} occurs twice", statement.id);
            assert!(!statement.says.is_empty() || !statement.ops.is_empty(), "{name}: {} has no text", statement.id);
            let both = statement.text.iter().find(|place| nothing.text.contains(place));
            assert_eq!(both, None, "{name}: {}", statement.id);
        }
        assert!(!nothing.why.is_empty());
    }
}

/// Instructions that no statement names, because the documents state no precision for them.
const WITHOUT_STATEMENT: &[&str] = &[
    "OpGroupNonUniformFAdd",
    "OpGroupNonUniformFMul",
    "SAbs",
    "SSign",
    "UMin",
    "SMin",
    "UMax",
    "SMax",
    "UClamp",
    "SClamp",
    "PackDouble2x32",
    "UnpackDouble2x32",
    "FindILsb",
    "FindSMsb",
    "FindUMsb",
    "InterpolateAtCentroid",
    "InterpolateAtSample",
    "InterpolateAtOffset",
];

#[test]
fn every_instruction_of_the_precision_table_has_a_statement() {
    let documents = documents().unwrap_or_else(|error| panic!("{error}"));
    let stated: BTreeSet<&str> =
        documents.iter().flat_map(|document| &document.statements).flat_map(|s| &s.ops).map(String::as_str).collect();
    let without: Vec<&str> = Op::ALL.iter().map(|op| op.name()).filter(|name| !stated.contains(name)).collect();
    assert_eq!(without, WITHOUT_STATEMENT, "add the instruction to the `ops` of its statement in precision.toml");
}

/// Compares documents whose text is available beside the project, as for the tables that are
/// generated from it.
#[test]
fn every_place_of_the_documents_is_accounted_for() {
    let material = root().join("../shared/spec");
    let mut stated: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for document in documents().unwrap_or_else(|error| panic!("{error}")) {
        let places = stated.entry(document.file.clone()).or_default();
        places.extend(document.nothing.text);
        places.extend(document.statements.into_iter().flat_map(|statement| statement.text));
    }
    for (file, stated) in stated {
        let Ok(text) = std::fs::read_to_string(material.join(&file)) else {
            skip(&format!("{file} is not available, so its places are not compared"));
            continue;
        };
        let there: BTreeMap<String, String> =
            text_units(&text).into_iter().map(|unit| (fingerprint(&unit), unit)).collect();
        let forgotten: Vec<_> = there.iter().filter(|(place, _)| !stated.contains(*place)).collect();
        assert!(forgotten.is_empty(), "{file}: {forgotten:#?}");
        let gone: Vec<_> = stated.iter().filter(|place| !there.contains_key(*place)).collect();
        assert!(gone.is_empty(), "{file} does not contain these places: {gone:?}");
    }
}
