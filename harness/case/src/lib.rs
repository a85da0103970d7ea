//! Case files, case names, filters and input generators.
//!
//! A case is one instruction on concrete types, in a concrete environment, with one source of
//! operands. Cases are not written individually: a *family*, a TOML file under `cases/`, lists
//! instructions, types, shapes, modes and operand sources, and states its purpose. [`load`] expands
//! every family into named cases.

mod case;
mod columns;
mod error;
mod family;
mod inputs;
mod name_filter;
mod partition;
mod shader;

pub use case::{Case, OperandSource};
pub use columns::Columns;
pub use error::CaseError;
pub use inputs::{
    Budget, Hunt, InputRange, Inputs, MemoryValues, Mixture, RangeError, UnknownBudget, position, possible_inputs,
};
pub use name_filter::{NameFilter, NameFilters};
pub use partition::{Division, Partition, PartitionError, stable_hash};
pub use shader::{CaseShader, ShaderError, Specialization};

use assay_files::input;
use assay_precision::Op;
use family::ModeLists;
use std::path::Path;

/// Every file under `cases/`: relative path and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// The file under `cases/` with named lists of modes.
const MODES: &str = "modes.toml";

/// Returns every case of the embedded families, in the order of their files.
///
/// # Errors
/// An embedded file is malformed, which a test excludes.
pub fn load() -> Result<Vec<Case>, CaseError> {
    let lists = mode_lists()?;
    let mut cases = Vec::new();
    for (path, text) in FILES.iter().filter(|(path, _)| *path != MODES) {
        cases.append(&mut family::expand(&format!("cases/{path}"), &prefix(path), text, &lists)?.cases);
    }
    Ok(cases)
}

/// Returns the beginning of the case names of a file under `cases/`: its directory.
fn prefix(path: &str) -> String {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).replace('/', ".")
}

/// Returns the cases of a family in a user's file. Their names begin with the file's stem.
///
/// # Errors
/// The file cannot be read, or is malformed; the error gives file, line, and the expected contents.
pub fn load_file(path: &Path) -> Result<Vec<Case>, CaseError> {
    let file = path.display().to_string();
    let text = input::read_text(path, input::MAX_CASE_BYTES)
        .map_err(|source| CaseError::Unreadable { file: file.clone(), source })?;
    let stem = path.file_stem().map_or("case".into(), |stem| stem.to_string_lossy().to_ascii_lowercase());
    let prefix = stem.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
    family::parse(&file, &prefix, &text, &mode_lists()?)
}

/// Returns the instructions of the precision table that no case can run, with the reasons.
pub fn instructions_without_case() -> impl Iterator<Item = (Op, &'static str)> {
    Op::ALL.iter().filter_map(|&op| Some((op, op.not_in_compute()?)))
}

fn mode_lists() -> Result<ModeLists, CaseError> {
    let text = FILES.iter().find(|(path, _)| *path == MODES).map_or("", |(_, text)| text);
    ModeLists::parse("cases/modes.toml", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn no_two_cases_have_one_name() {
        let lists = mode_lists().unwrap();
        let mut homes: HashMap<String, &str> = HashMap::new();
        for (path, text) in FILES.iter().filter(|(path, _)| *path != MODES) {
            // Also fails for a case that two blocks of the file have in common.
            for case in family::parse(path, &prefix(path), text, &lists).unwrap() {
                let name = case.name.clone();
                assert_eq!(homes.insert(case.name, path), None, "{name} comes out of cases/{path} as well");
            }
        }
        assert_eq!(load().unwrap().len(), homes.len());
    }

    #[test]
    fn every_instruction_has_a_case_or_a_reason_for_none() {
        let cases = load().unwrap();
        let with: HashSet<Op> = cases.iter().map(|case| case.call.op).collect();
        for &op in Op::ALL {
            let without = instructions_without_case().any(|(other, _)| other == op);
            assert!(with.contains(&op) != without, "{op}");
        }
        assert!(cases.iter().any(|case| case.name == "precision.f32.exp2.scalar.default" && case.quick));
        assert!(cases.iter().any(|case| case.name == "precision.f32.exp2.scalar.default.constant"));
    }
}
