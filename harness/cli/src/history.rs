//! `assay history`.

use crate::{
    exit::{self, Failure, WithCode},
    output_file::write,
    print,
    result_folders::{each_run, open},
};
use assay_case::NameFilter;
use assay_reports::{
    ResultDir, counted,
    history::{self, History},
};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// End of `assay history --help`.
pub(crate) const HISTORY_HELP: &str = "\
The folder of a run on all devices, or through both APIs, contains several runs.

Examples:
  assay history add nightly
  assay history show 'precision.f32.exp2.*'
  assay history show precision.f32 --changed --svg exp2.svg";

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Add the results of a run
    Add {
        /// Result folders
        #[arg(value_name = "DIR", required = true)]
        folders: Vec<PathBuf>,

        #[command(flatten)]
        database: Database,
    },
    /// Show how margins and statuses changed from run to run
    Show {
        /// Case filters [default: all cases]
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,

        /// Show only cases that changed
        #[arg(long)]
        changed: bool,

        /// Print a JSON array
        #[arg(long)]
        json: bool,

        /// Also write an SVG chart
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,

        #[command(flatten)]
        database: Database,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Database {
    /// SQLite database
    #[arg(long, value_name = "FILE", default_value = "assay-history.sqlite")]
    db: PathBuf,
}

/// `assay history`: adds runs to the database, or shows recorded cases.
pub(crate) fn history(command: &HistoryCommand) -> Result<u8, Failure> {
    match command {
        HistoryCommand::Add { folders, database } => {
            // All folders are verified before the database changes.
            let runs = each_run(folders).iter().map(|path| open(path)).collect::<Result<Vec<ResultDir>, Failure>>()?;
            runs.iter().try_for_each(ResultDir::verify).code(exit::USAGE)?;
            let mut history = History::open(&database.db, true).code(exit::USAGE)?;
            let added = history.add(&runs).code(exit::USAGE)?;
            let line = |(run, added): (&ResultDir, usize)| {
                format!("{}: {} of {}\n", database.db.display(), counted(added, "case"), run.path.display())
            };
            print(runs.iter().zip(added).map(line).collect::<String>().as_bytes())
        }
        HistoryCommand::Show { filters, changed, json, svg, database } => {
            let history = History::open(&database.db, false).code(exit::USAGE)?;
            let filters: Vec<NameFilter> = filters.iter().map(|pattern| NameFilter::new(pattern)).collect();
            let mut courses = history.case_histories(&filters).code(exit::USAGE)?;
            let known = courses.len();
            courses.retain(|course| !changed || course.has_changed());
            if known == 0 {
                let error = anyhow::anyhow!("no case in {} matches the filters", database.db.display());
                return Err(Failure { code: exit::NOTHING, error });
            }
            if let Some(path) = svg {
                write(path, history::svg(&courses))?;
            }
            let text = if *json {
                serde_json::to_string_pretty(&courses).code(exit::INTERNAL)? + "\n"
            } else if courses.is_empty() {
                format!("{}: none changed\n", counted(known, "case"))
            } else {
                history::text(&courses)
            };
            print(text.as_bytes())
        }
    }
}
