//! `assay atlas`.

use crate::{
    exit::{self, Failure, WithCode},
    print,
    result_folders::{each_run, open},
    table,
};
use assay_reports::{ResultDir, atlas::Atlas, counted};
use clap::Args;
use std::path::PathBuf;

/// End of `assay atlas --help`.
pub(crate) const HELP: &str = "\
SITE/index.html shows a matrix of instructions by device and format, coloured by status
and margin, and leads to a page for each instruction: error over the range of operands,
worst inputs, rule and clause, the verdict of each mode, and the commands that reproduce
it. atlas.json and atlas.csv hold the same results (reports/schema/atlas.schema.json).
All links are relative and nothing comes from the network: any web server can hold SITE.

Folders of several devices, driver versions, budgets and dates can be combined. Each
driver version is a device of its own. If several runs have a result of one case on one
device, the one with the most inputs is shown. Only precision cases appear.

Files in SITE that Assay did not write are kept; if one is in the way, nothing is written.

Examples:
  assay atlas nightly --out site
  assay atlas quick exhaustive lavapipe swiftshader --out site";

#[derive(Debug, Args)]
pub(crate) struct AtlasArgs {
    /// Result folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Folder of the site; created if necessary
    #[arg(long, value_name = "SITE")]
    out: PathBuf,
}

/// `assay atlas`: writes the accuracy atlas of several runs.
pub(crate) fn atlas(args: &AtlasArgs) -> Result<u8, Failure> {
    let runs = each_run(&args.folders).iter().map(|path| open(path)).collect::<Result<Vec<ResultDir>, Failure>>()?;
    let rules = table::rules()?;
    let atlas = Atlas::read(&runs, &rules.rows).code(exit::USAGE)?;
    if atlas.is_empty() {
        let error = anyhow::anyhow!("no result of a precision case in the folders; run `assay run precision` first");
        return Err(Failure { code: exit::NOTHING, error });
    }
    let names: Vec<&str> = atlas.instructions().collect();
    atlas.write(&args.out, &table::with_doubts(rules, &names)?).code(exit::USAGE)?;
    let counts = format!(
        "{} on {}, {}",
        counted(names.len(), "instruction"),
        counted(atlas.devices(), "device"),
        counted(atlas.results(), "result")
    );
    print(format!("{}: {counts}\n", args.out.join("index.html").display()).as_bytes())
}
