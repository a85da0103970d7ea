//! Result folders that commands read.

use crate::exit::{self, Failure, WithCode, usage};
use assay_reports::{ResultDir, ResultDirWriter};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// File in a folder of several runs from which they can be resumed.
pub(crate) const RUN_FILE: &str = "run.json";

/// Returns true if the folder contains several runs.
pub(crate) fn holds_runs(folder: &Path) -> bool {
    folder.join(RUN_FILE).is_file()
}

/// Returns the result folders in a folder of several runs, sorted by name. Empty for any other
/// folder.
fn folders_within(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    if !holds_runs(folder) || ResultDirWriter::has_run(folder) {
        return Vec::new();
    }
    // One level for devices or APIs, two levels for the APIs of each device.
    let mut folders = inside(folder);
    folders.extend(folders.clone().iter().flat_map(|folder| inside(folder)));
    folders.retain(|folder| ResultDirWriter::has_run(folder));
    folders.sort();
    folders
}

/// Opens the result folder of one run.
pub(crate) fn open(path: &Path) -> Result<ResultDir, Failure> {
    match folders_within(path).as_slice() {
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
    let each = |folder: &PathBuf| match folders_within(folder) {
        runs if runs.is_empty() => vec![folder.clone()],
        runs => runs,
    };
    folders.iter().flat_map(each).collect()
}
