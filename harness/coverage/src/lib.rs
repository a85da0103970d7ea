//! Coverage of the documents that this project implements: for each statement, the rules, cases and
//! functions of the interpreter that check it, or the reason why none does.
//!
//! * `statements/*.toml`: the statements of each document in our own words, with the fingerprints
//!   of their places in the text. A statement names its subject (a rule's name in the text, an
//!   instruction, an enumerant, a mode), never its coverage.
//! * [`Evidence`]: rules by their names in the text ([`DocumentRules`]), programs by the instructions
//!   and enumerants in their modules, precision cases by instruction and mode. It is collected from
//!   the crates that define them.
//! * [`CoverageTable`]: the result, one [`CoverageRow`] for each statement.
//!   [`CoverageTable::markdown`] is `reports/coverage.md`.
//!
//! Evidence must be able to fail. A statement can therefore name modules that violate it, which its
//! rules must refuse, driver faults under which its cases must fail, and tests that plant its
//! violation. Tests check all three (`tests/it/evidence.rs`, `harness/cli/tests/it/shim.rs`). A covered
//! row without any is unproven; `tests/unproven.txt` lists those that give no reason.
//!
//! A row without coverage and without a reason is a hole and is reported as one.

mod coverage_document;
mod coverage_table;
mod document_rules;
mod evidence;
mod fingerprints;
mod statement;

pub use coverage_table::{CoverageRow, CoverageSection, CoverageTable, DocumentRows, RowStatus};
pub use document_rules::DocumentRules;
pub use evidence::Evidence;
pub use fingerprints::{fingerprint, text_units};
pub use statement::{
    Document, GeneratedList, NoStatement, NotApplicable, PlantedFault, Statement, StatementError, documents,
};

/// Reason why the table cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// A built-in list of statements is malformed.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// A built-in family of cases is malformed.
    #[error(transparent)]
    Case(#[from] assay_case::CaseError),
    /// A program of a suite is not a valid module.
    #[error("cannot read the program of {case}: {why}")]
    Program {
        /// The case.
        case: String,
        /// The error in its program.
        why: String,
    },
    /// A statement names something that does not exist.
    #[error("statement `{statement}` of {document} names {what} `{name}`, which does not exist")]
    Dangling {
        /// The document.
        document: String,
        /// The statement.
        statement: String,
        /// Kind of the named thing, with its article.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A case names a statement that does not exist.
    #[error("case {case} claims to cover the statement `{name}`, which does not exist in any document")]
    Unknown {
        /// The case.
        case: String,
        /// The name.
        name: String,
    },
}

/// Computes the table from the built-in documents and evidence.
///
/// # Errors
/// Built-in data is malformed or names something that does not exist; a test rules this out.
pub fn table() -> Result<CoverageTable, CoverageError> {
    CoverageTable::new(&documents()?, &Evidence::new()?)
}
