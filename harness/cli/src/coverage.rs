//! `assay coverage`: what covers each statement of the documents.

use crate::{
    exit::{self, Failure, WithCode, usage},
    folders,
};
use assay_coverage::{Standing, table};
use clap::Args;
use std::path::PathBuf;

/// What `assay coverage --help` says.
pub(crate) const HELP: &str = "\
Writes a table with a row for each statement and table row of the Vulkan environment
for SPIR-V, its precision tables, and the SPIR-V extensions: the rules, cases and functions
of the reference that cover it, or why none can. A row with neither is a hole. The last
line counts them.";

#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// Where to; - for stdout
    #[arg(value_name = "FILE", default_value = "reports/coverage.md")]
    file: PathBuf,
}

/// Writes the table and counts its rows.
pub(crate) fn coverage(args: &CoverageArgs) -> Result<u8, Failure> {
    let to_stdout = args.file.as_os_str() == "-";
    if !to_stdout {
        // Before the table is made, which takes seconds.
        let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            return Err(usage(format!("there is no folder {folder}: run this in the project, or name another file")));
        }
        folders::must_be_writable(&args.file)?;
    }
    let table = table().code(exit::INTERNAL)?;
    let text = table.markdown();
    if to_stdout {
        crate::print(text.as_bytes())?;
    } else {
        folders::write(&args.file, text)?;
    }
    let mut said = String::new();
    for row in table.rows().filter(|row| row.standing() == Standing::Hole) {
        said += &format!("hole: {}: {}\n", row.name, row.says);
    }
    said += &format!("{}\n", table.summary());
    crate::print(said.as_bytes())
}
