//! `assay report`, and the HTML report that `assay run` writes.

use crate::{
    exit::{self, Failure, WithCode, usage},
    explain, note,
    output_file::write_with,
    print,
    result_folders::{each_run, open},
};
use assay_files::{OwnedFiles, RECORD_FILE};
use assay_reports::{
    ResultDir,
    diff::{self, MarginThreshold},
    html,
};
use clap::Args;
use std::path::{Path, PathBuf};

/// End of `assay report --help`.
pub(crate) const REPORT_HELP: &str = "\
`assay run` writes the page of its own results. This command writes it again, or
one page for several runs side by side. The folder of a run on all devices, or
through both APIs, contains several runs.

Examples:
  assay report nightly
  assay report today --since yesterday
  assay report lavapipe swiftshader --out both.html";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Result folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Show the changes since the run in this folder at the top of the page
    #[arg(long, value_name = "OLD")]
    since: Option<PathBuf>,

    /// File to write; required for several folders [default: report.html in the folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// `assay report`: writes the HTML report of one or more runs.
pub(crate) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let out = match (&args.out, args.folders.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [folder]) => folder.join(PAGE),
        (None, _) => return Err(usage("several folders require --out FILE")),
    };
    let runs = each_run(&args.folders);
    if args.since.is_some() && runs.len() != 1 {
        return Err(usage(format!("--since requires the folder of one run; there are {}", runs.len())));
    }
    write_page(&runs, args.since.as_deref(), &out)?;
    print(format!("{}\n", out.display()).as_bytes())
}

/// Name of the HTML report in a result folder.
const PAGE: &str = "report.html";

/// Writes the HTML report of result folders, with the changes since an earlier run.
fn write_page(folders: &[PathBuf], since: Option<&Path>, out: &Path) -> Result<(), Failure> {
    let runs = folders.iter().map(|path| open(path)).collect::<Result<Vec<ResultDir>, Failure>>()?;
    // All folders are read before the output file is created.
    let mut page = html::Page::read(&runs, &explain::derivation).code(exit::USAGE)?;
    if let (Some(since), [new]) = (since, &runs[..]) {
        let diff = diff::diff(&open(since)?, new, MarginThreshold::default()).code(exit::USAGE)?;
        page = page.compared(&diff);
    }
    // A report inside a result folder belongs to its run: the next run may replace it.
    if let (Some(folder), true) = (out.parent(), out.ends_with(PAGE))
        && (folder.join(RECORD_FILE).is_file() || folders.iter().any(|run| run == folder))
    {
        OwnedFiles::new(folder).claim([PAGE]).code(exit::USAGE)?;
    }
    write_with(out, |out| page.write(out).code(exit::USAGE))
}

/// Writes the HTML report of a run into its result folder. A failure is noted only, because the
/// results are already safe.
pub(crate) fn write_run_page(folder: &Path) {
    if let Err(failure) = write_page(&[folder.to_owned()], None, &folder.join(PAGE)) {
        note(&format!("cannot write the HTML report: {failure}"));
    }
}
