//! `assay merge`.

use crate::{
    exit::{self, Failure, WithCode},
    note, print,
    report::write_run_page,
    result_folders::open,
};
use assay_reports::{ResultDir, counted, merge};
use clap::Args;
use std::path::PathBuf;

/// End of `assay merge --help`.
pub(crate) const MERGE_HELP: &str = "\
The folders come from `assay run --partition`, or from `assay merge` itself, in any
order and grouping. All parts must have the same version, budget, seed, cases, device
and driver. The joined folder holds all files of a run, including report.html. To fill
holes, resume the part with `assay run --resume PART`, then merge again.

Example:
  assay run --partition hash:1/2 --out part1     (on one machine)
  assay run --partition hash:2/2 --out part2     (on another)
  assay merge part1 part2 --out nightly

Exit code: 0; 2 if the folders overlap, have holes or do not belong to one run. In that
case nothing is written.";

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Result folders of the parts
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Folder for the joined results, without earlier results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Join the existing parts although parts or cases are missing
    #[arg(long)]
    partial: bool,
}

/// `assay merge`: joins the parts of a run.
pub(crate) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let parts = args.folders.iter().map(|path| open(path)).collect::<Result<Vec<ResultDir>, Failure>>()?;
    let merged = merge::merge(&parts, &args.out, args.partial).code(exit::USAGE)?;
    for hole in &merged.missing {
        note(&format!("missing: {hole}"));
    }
    write_run_page(&args.out);
    let (cases, folders) = (counted(merged.cases, "case"), counted(args.folders.len(), "folder"));
    // A part of another night has the same device and cases, so only its date tells.
    let begun = || parts.iter().map(|part| part.run.started.as_str());
    let (first, last) = (begun().min().unwrap_or_default(), begun().max().unwrap_or_default());
    let line = format!("{}: {cases} from {folders}, begun from {first} to {last}\n", args.out.display());
    print(line.as_bytes())
}
