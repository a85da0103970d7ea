//! Tests of the table of statements and of its evidence.

mod evidence;
mod proof;
mod table;

use assay_coverage::{CoverageTable, Evidence, documents};

/// Collecting the evidence takes half a minute, so all that needs it is one test.
#[test]
fn the_table_is_current_and_its_evidence_holds() {
    let stated = documents().unwrap_or_else(|error| panic!("{error}"));
    let evidence = Evidence::new().unwrap_or_else(|error| panic!("{error}"));
    let table = CoverageTable::new(&stated, &evidence).unwrap_or_else(|error| panic!("{error}"));
    table::the_committed_table_is_current_without_holes_and_names_functions_that_exist(&table);
    proof::every_covered_row_and_no_other_is_proven_explained_or_listed_as_left(&stated, &table);
    evidence::faults_are_planted_under_cases_that_the_row_cites(&evidence);
}
