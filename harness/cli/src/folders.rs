//! Commands over result folders: `assay report`, `merge`, `diff`, `history`.

use crate::{
    exit::{self, Failure, WithCode, usage},
    explain, note, print, run,
};
use anyhow::Context;
use assay_case::Filter;
use assay_files::{Owned, RECORD};
use assay_reports::{
    Opened, counted,
    diff::{self, Threshold},
    history::{self, History},
    html, merge,
};
use clap::{Args, Subcommand};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What `assay merge --help` says.
pub(crate) const MERGE_HELP: &str = "\
The folders are those of `assay run --partition`, or of `assay merge` itself: the
order does not matter, nor in which groups they are joined. They must be of one
run: the same version, budget, seed, cases, device and driver. What is joined has
the files of a run, report.html too; what is missing is run in its part, with
`assay run --resume PART`, and joined again.

Example:
  assay run --partition hash:1/2 --out part1     (on one machine)
  assay run --partition hash:2/2 --out part2     (on another)
  assay merge part1 part2 --out nightly

Exit code: 0; 2 if the folders overlap, have holes or are not of one run: then
nothing is written.";

/// What `assay diff --help` says.
pub(crate) const DIFF_HELP: &str = "\
Exit code: 0, or 1 if there are new failures, failures of another kind, or cases
that vanished.

Examples:
  assay diff yesterday today
  assay diff yesterday today --html diff.html
  assay diff yesterday today --json | jq '.changes[] | select(.kind == \"margin\")'";

/// What `assay report --help` says.
pub(crate) const REPORT_HELP: &str = "\
`assay run` writes the page of its own results; this writes it again, or one of
several runs beside each other. The folder of a run on all devices, or through
both APIs, stands for its runs.

Examples:
  assay report nightly
  assay report lavapipe swiftshader --out both.html";

/// What `assay history --help` says.
pub(crate) const HISTORY_HELP: &str = "\
The folder of a run on all devices, or through both APIs, stands for its runs.

Examples:
  assay history add nightly
  assay history show 'precision.f32.exp2.*'
  assay history show precision.f32 --changed --svg exp2.svg";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The result folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// The file to write
    ///
    /// Default: report.html in the folder; of several folders it has to be given.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Adds the results of a run
    Add {
        /// The result folders
        #[arg(value_name = "DIR", required = true)]
        folders: Vec<PathBuf>,

        #[command(flatten)]
        database: Database,
    },
    /// Shows how margins and statuses went from run to run
    Show {
        /// Which cases; all without one
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,

        /// Only cases that changed
        #[arg(long)]
        changed: bool,

        /// Print a JSON array
        #[arg(long)]
        json: bool,

        /// Also write a picture
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,

        #[command(flatten)]
        database: Database,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Database {
    /// The database, an SQLite file
    #[arg(long, value_name = "FILE", default_value = "assay-history.sqlite")]
    db: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The result folders of the parts
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// The folder for the joined results, which holds none yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Join what there is, though parts or cases are missing
    #[arg(long)]
    partial: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The result folder of the earlier run
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The result folder of the later run
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// By which factor the greatest margin of a case has to grow or shrink to be told
    #[arg(long, value_name = "FACTOR", default_value = "1.05", value_parser = factor)]
    margin: f64,

    /// Every change, not only the first of each kind
    #[arg(long, short)]
    all: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// Also write an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor >= 1.0 && factor.is_finite() => Ok(factor),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

/// Opens a result folder.
pub(crate) fn open(path: &Path) -> Result<Opened, Failure> {
    match run::folders_within(path).as_slice() {
        [] => Opened::open(path),
        [one] => Opened::open(one),
        several => {
            let names = several.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(usage(format!(
                "{} holds several runs, each in a folder of its own: give one of {names}",
                path.display()
            )));
        }
    }
    .code(exit::USAGE)
}

/// `assay merge`.
pub(crate) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let parts = args.folders.iter().map(|path| open(path)).collect::<Result<Vec<Opened>, Failure>>()?;
    let merged = merge::merge(&parts, &args.out, args.partial).code(exit::USAGE)?;
    for hole in &merged.holes {
        note(&format!("missing: {hole}"));
    }
    run::write_page(&args.out);
    let (cases, folders) = (counted(merged.cases, "case"), counted(args.folders.len(), "folder"));
    print(format!("{}: {cases} from {folders}\n", args.out.display()).as_bytes())
}

/// `assay diff`.
pub(crate) fn diff(args: &DiffArgs) -> Result<u8, Failure> {
    /// Changes of a kind that are shown.
    const SHOWN: usize = 20;
    let (old, new) = (open(&args.old)?, open(&args.new)?);
    let threshold = Threshold { factor: args.margin, ..Threshold::default() };
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

/// `assay report`.
pub(crate) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let out = match (&args.out, args.folders.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [folder]) => folder.join(PAGE),
        (None, _) => return Err(usage("say where to write the page of several folders, with --out FILE")),
    };
    write_page(&each_run(&args.folders), &out)?;
    print(format!("{}\n", out.display()).as_bytes())
}

/// The result folders: the folder of a run on all devices, or through both APIs, stands for its runs.
fn each_run(folders: &[PathBuf]) -> Vec<PathBuf> {
    let each = |folder: &PathBuf| match run::folders_within(folder) {
        runs if runs.is_empty() => vec![folder.clone()],
        runs => runs,
    };
    folders.iter().flat_map(each).collect()
}

/// The name of the page in a result folder.
pub(crate) const PAGE: &str = "report.html";

/// Writes the page of some result folders.
pub(crate) fn write_page(folders: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let runs = folders.iter().map(|path| open(path)).collect::<Result<Vec<Opened>, Failure>>()?;
    // What cannot be read is said before a file is begun.
    let page = html::Page::read(&runs, &explain::derivation).code(exit::USAGE)?;
    // The page of a result folder is one of the files of its run, which the next run replaces.
    if let (Some(folder), true) = (out.parent(), out.ends_with(PAGE))
        && (folder.join(RECORD).is_file() || folders.iter().any(|run| run == folder))
    {
        Owned::of(folder).claim([PAGE]).code(exit::USAGE)?;
    }
    write_with(out, |out| page.write(out).code(exit::USAGE))
}

/// `assay history`.
pub(crate) fn history(command: &HistoryCommand) -> Result<u8, Failure> {
    match command {
        HistoryCommand::Add { folders, database } => {
            // Everything is read before anything is written.
            let runs = each_run(folders).iter().map(|path| open(path)).collect::<Result<Vec<Opened>, Failure>>()?;
            runs.iter().try_for_each(Opened::verify).code(exit::USAGE)?;
            let mut history = History::open(&database.db, true).code(exit::USAGE)?;
            let added = history.add(&runs).code(exit::USAGE)?;
            let line = |(run, added): (&Opened, usize)| {
                format!("{}: {} of {}\n", database.db.display(), counted(added, "case"), run.path.display())
            };
            print(runs.iter().zip(added).map(line).collect::<String>().as_bytes())
        }
        HistoryCommand::Show { filters, changed, json, svg, database } => {
            let history = History::open(&database.db, false).code(exit::USAGE)?;
            let filters: Vec<Filter> = filters.iter().map(|pattern| Filter::new(pattern)).collect();
            let mut courses = history.courses(&filters).code(exit::USAGE)?;
            let known = courses.len();
            courses.retain(|course| !changed || course.changed());
            if known == 0 {
                let error = anyhow::anyhow!("no case in {} matches", database.db.display());
                return Err(Failure { code: exit::NOTHING, error });
            }
            if let Some(path) = svg {
                write(path, history::svg(&courses))?;
            }
            let text = if *json {
                serde_json::to_string_pretty(&courses).code(exit::INTERNAL)? + "\n"
            } else {
                history::text(&courses)
            };
            print(text.as_bytes())
        }
    }
}

/// Writes a file beside its place, then puts it there: of a link, where it leads. What is no regular file, such as a pipe, is written to.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_with(path, |out| out.write_all(contents.as_ref()).code(exit::USAGE))
}

/// Makes sure that [`write`] will be able to write a file, as far as that can be known, and leaves no trace of that. The
/// file must be regular or absent: opening a pipe would wait for its reader.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), Failure> {
    let there = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let tried = match fs::metadata(&there) {
        Ok(found) if found.is_dir() => Err(io::Error::other("it is a folder")),
        Ok(found) if !found.is_file() => {
            Err(io::Error::other("it is a device, pipe or socket; expected a regular file, or a name that is free"))
        }
        _ => assay_files::scratch(folder_of(&there)).and_then(|(_, scratch)| fs::remove_file(scratch)),
    };
    tried.with_context(|| format!("cannot write {}", path.display())).code(exit::USAGE)
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The same, of what is written piece by piece.
fn write_with(path: &Path, write: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<(), Failure> {
    let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if to.file_name().is_none() {
        return Err(usage(format!("{} is not the name of a file", path.display())));
    }
    let context = || format!("cannot write {}", path.display());
    let in_words = |failure: Failure| Failure { error: failure.error.context(context()), ..failure };
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let opened = File::options().write(true).open(path).code(exit::USAGE);
        return opened.and_then(|mut file| write(&mut file)).map_err(in_words);
    }
    let (mut file, partial) = assay_files::scratch(folder_of(&to)).code(exit::USAGE).map_err(in_words)?;
    let written = write(&mut file).and_then(|()| fs::rename(&partial, &to).code(exit::USAGE));
    if written.is_err() {
        // The error at hand matters more than one from cleaning up.
        _ = fs::remove_file(&partial);
    }
    written.map_err(in_words)
}
