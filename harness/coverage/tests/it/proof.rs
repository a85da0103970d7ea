//! Every covered row has a planted violation, a reason for having none, or a line in `unproven.txt`.

use assay_coverage::{CoverageTable, Document, RowStatus, documents};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rows that something covers, that have no planted violation and give no reason. The list shrinks; nothing is added to it.
const LEFT: &str = include_str!("../unproven.txt");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn names(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

pub(crate) fn every_covered_row_and_no_other_is_proven_explained_or_listed_as_left(
    stated: &[Document],
    table: &CoverageTable,
) {
    // A row that nothing covers has nothing to show.
    let has_planted = |row: &&assay_coverage::CoverageRow| !row.proofs.is_empty() || row.unplanted.is_some();
    let uncovered = table.rows().filter(|row| row.status() != RowStatus::Covered).filter(has_planted);
    assert_eq!(uncovered.map(|row| row.name.as_str()).collect::<Vec<_>>(), [""; 0]);
    let mut found = BTreeSet::new();
    for (covered, Document { name, statements, .. }) in table.documents.iter().zip(stated) {
        let ids: BTreeSet<&str> = statements.iter().map(|statement| statement.id.as_str()).collect();
        let rows = covered.sections.iter().flat_map(|section| &section.rows);
        // Rows of the lists of rules and capabilities are no statements of a file.
        for row in rows.filter(|row| ids.contains(row.name.as_str())) {
            if row.is_unproven() && row.unplanted.is_none() {
                found.insert(format!("{name}/{}", row.name));
            }
        }
    }
    let left = names(LEFT);
    let new: Vec<_> = found.difference(&left).collect();
    assert!(new.is_empty(), "{} rows are covered, and nothing shows that their cover can fail: {new:#?}", new.len());
    let gone: Vec<_> = left.difference(&found).collect();
    assert!(gone.is_empty(), "take these rows out of tests/unproven.txt: {gone:#?}");
}

/// The source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The tests of a source text that are not ignored.
fn tests_of(text: &str) -> Vec<&str> {
    let (mut is_test, mut is_ignored, mut found) = (false, false, Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") {
            is_test = true;
        } else if line.starts_with("#[ignore") {
            is_ignored = true;
        } else if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next()) {
            found.extend(Some(name).filter(|_| is_test && !is_ignored));
            (is_test, is_ignored) = (false, false);
        }
    }
    found
}

#[test]
fn every_test_that_plants_violations_of_a_row_exists_once() {
    let mut of_crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Document { name, statements, .. } in documents().unwrap_or_else(|error| panic!("{error}")) {
        for statement in statements {
            for planted in &statement.planted_by {
                let Some((krate, test)) = planted.split_once("::") else {
                    wrong.push(format!("{name}/{}: {planted} is not CRATE::TEST", statement.id));
                    continue;
                };
                let known = of_crates.entry(krate.to_owned()).or_insert_with(|| {
                    let mut files = Vec::new();
                    sources(&root().join("harness").join(krate), &mut files);
                    let texts = files.iter().map(|file| fs::read_to_string(file).expect("a source file"));
                    texts.flat_map(|text| tests_of(&text).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect()
                });
                let count = known.iter().filter(|known| *known == test).count();
                if count != 1 {
                    wrong.push(format!("{name}/{}: {count} tests are named {planted}", statement.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn tests_are_found_by_their_attribute() {
    let text = "#[test]\nfn one() {}\nfn helper() {}\n#[test]\n#[ignore = \"slow\"]\nfn two() {}\n/// Doc.\n#[test]\n#[expect(x)]\nfn three() {\n}";
    assert_eq!(tests_of(text), ["one", "three"]);
}
