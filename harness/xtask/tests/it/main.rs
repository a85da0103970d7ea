//! Tests of the project as a whole: its documents, its crates and their modules.

mod crates;
mod documents;
mod module_graph;
mod modules;

use std::path::{Path, PathBuf};

/// Returns the root directory of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
