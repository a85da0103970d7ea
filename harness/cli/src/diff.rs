//! `assay diff`.

use crate::{
    exit::{self, Failure, WithCode},
    output_file::write_with,
    print,
    result_folders::open,
};
use assay_reports::{
    diff::{self, MarginThreshold},
    html,
};
use clap::Args;
use std::path::PathBuf;

/// End of `assay diff --help`.
pub(crate) const DIFF_HELP: &str = "\
Exit code: 0, or 1 if there are new failures, failures of another kind, or missing
cases.

Examples:
  assay diff yesterday today
  assay diff yesterday today --html diff.html
  assay diff yesterday today --json | jq '.changes[] | select(.kind == \"margin\")'";

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Result folder of the earlier run
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// Result folder of the later run
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Factor by which a case's greatest margin must grow or shrink to be reported
    #[arg(long, value_name = "FACTOR", default_value = "1.05", value_parser = factor)]
    margin: f64,

    /// Print every change, not only the first ones of each kind
    #[arg(long, short)]
    all: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// Also write an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Parses the argument of `--margin`.
fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor >= 1.0 && factor.is_finite() => Ok(factor),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

/// `assay diff`: compares two runs.
pub(crate) fn diff(args: &DiffArgs) -> Result<u8, Failure> {
    /// Largest number of changes shown for each kind.
    const SHOWN: usize = 20;
    let (old, new) = (open(&args.old)?, open(&args.new)?);
    let threshold = MarginThreshold { factor: args.margin, ..MarginThreshold::default() };
    let diff = diff::diff(&old, &new, threshold).code(exit::USAGE)?;
    if let Some(path) = &args.html {
        write_with(path, |out| html::diff_page(out, &diff).code(exit::USAGE))?;
    }
    let text = if args.json {
        serde_json::to_string_pretty(&diff).code(exit::INTERNAL)? + "\n"
    } else {
        diff.text(if args.all { usize::MAX } else { SHOWN })
    };
    print(text.as_bytes())?;
    Ok(if diff.is_worse() { exit::FAILURES } else { exit::OK })
}
