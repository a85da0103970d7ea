//! `assay coverage`: the coverage table of the specification's statements.

use crate::{
    exit::{self, Failure, WithCode, usage},
    output_file,
};
use assay_coverage::{RowStatus, table};
use clap::Args;
use std::path::PathBuf;

/// End of `assay coverage --help`.
pub(crate) const HELP: &str = "\
The table has a row for each statement of the Vulkan environment for SPIR-V, of its
precision tables and of the SPIR-V extensions, with the rules, cases and functions that
check it, or the reason why none can. A row with neither is a hole; the last line counts
the holes.";

#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// Output file; - for stdout
    #[arg(value_name = "FILE", default_value = "reports/coverage.md")]
    file: PathBuf,
}

/// Writes the table and counts its rows.
pub(crate) fn coverage(args: &CoverageArgs) -> Result<u8, Failure> {
    let to_stdout = args.file.as_os_str() == "-";
    if !to_stdout {
        // Checked first, because computing the table takes seconds.
        let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            return Err(usage(format!(
                "the folder {folder} does not exist; run `assay coverage` in Assay's source tree, or give FILE"
            )));
        }
        output_file::must_be_writable(&args.file)?;
    }
    let table = table().code(exit::INTERNAL)?;
    let text = table.markdown();
    if to_stdout {
        crate::print(text.as_bytes())?;
    } else {
        output_file::write(&args.file, text)?;
    }
    let mut holes_and_summary = String::new();
    for row in table.rows().filter(|row| row.status() == RowStatus::Uncovered) {
        holes_and_summary += &format!("hole: {}: {}\n", row.name, row.text);
    }
    holes_and_summary += &format!("{}\n", table.summary());
    crate::print(holes_and_summary.as_bytes())
}
