//! What covers each statement of the documents that this project implements: which rules, which cases, which functions of the
//! reference; or why nothing can.
//!
//! * `statements/*.toml`: the statements of each document, in words of our own, by the place in the text that they stand for. A
//!   statement says what it is about (a rule's name in the text, an instruction, an enumerant, a mode), never what
//!   covers it.
//! * [`Evidence`]: what there is: rules by their names in the text, programs by the instructions and enumerants that their modules
//!   hold, precision cases by instruction and modes. All of it is asked of the crates that know it.
//! * [`Table`]: both together, a [`Row`] for each statement; [`Table::markdown`] is `reports/coverage.md`.
//!
//! Cover that cannot fail is none. A statement may name modules that break it, which what it cites refuses, and faults of drivers under
//! which cases of it fail: tests run them (`tests/evidence.rs`, `harness/cli/tests/shim.rs`). It may name other tests that plant its
//! violation. A row that is covered and has none of these is shown as unproven; `tests/unproven.txt` lists those that give no reason.
//!
//! A row that nothing covers and that gives no reason is a hole, and is shown as one.

mod evidence;
mod markdown;
mod statement;
mod table;
mod units;

pub use evidence::Evidence;
pub use statement::{Document, List, Nothing, PlantedFault, Statement, StatementError, Without, documents};
pub use table::{Covered, Row, Section, Standing, Table};
pub use units::{fingerprint, units};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// A built-in list of statements is malformed.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// A built-in family of cases is malformed.
    #[error(transparent)]
    Case(#[from] assay_case::CaseError),
    /// A program that a suite wrote is no module.
    #[error("the program of {case} cannot be read: {why}")]
    Program {
        /// The case.
        case: String,
        /// What is wrong with its program.
        why: String,
    },
    /// A statement names what does not exist.
    #[error("the statement `{statement}` of {document} names {what} `{name}`, which does not exist")]
    Dangling {
        /// The document.
        document: String,
        /// The statement.
        statement: String,
        /// What kind of thing it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A case names a statement that does not exist.
    #[error("the case {case} says that it covers `{name}`, which no document has")]
    Unknown {
        /// The case.
        case: String,
        /// The name.
        name: String,
    },
}

/// The table, from all that is built in.
///
/// # Errors
/// Something that is built in is malformed or names what does not exist; a test rules it out.
pub fn table() -> Result<Table, CoverageError> {
    Table::new(&documents()?, &Evidence::new()?)
}
