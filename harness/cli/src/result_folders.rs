//! Result folders that commands read.

use crate::{
    exit::{self, Failure, WithCode, usage},
    run,
};
use assay_reports::ResultDir;
use std::path::{Path, PathBuf};

/// Opens the result folder of one run.
pub(crate) fn open(path: &Path) -> Result<ResultDir, Failure> {
    match run::folders_within(path).as_slice() {
        [] => ResultDir::open(path),
        [one] => ResultDir::open(one),
        several => {
            let names = several.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(usage(format!(
                "{} contains several runs, each in its own folder; give one of {names}",
                path.display()
            )));
        }
    }
    .code(exit::USAGE)
}

/// Returns the result folders of all runs. A folder of several runs is replaced by their folders.
pub(crate) fn each_run(folders: &[PathBuf]) -> Vec<PathBuf> {
    let each = |folder: &PathBuf| match run::folders_within(folder) {
        runs if runs.is_empty() => vec![folder.clone()],
        runs => runs,
    };
    folders.iter().flat_map(each).collect()
}
