//! Case lists, skips, flakes, baselines and waivers of a run.

use crate::{
    cases,
    exit::{self, Failure, WithCode, usage},
    note_once, output_file,
};
use anyhow::Context as _;
use assay_case::{NameFilter, NameFilters};
use assay_events::DeviceInfo;
use assay_files::OwnedFiles;
use assay_reports::{
    Expectations, NameArena, Waivers, counted,
    deqp::{self, Baseline, Patterns},
    plural,
};
use assay_runner::{Selectable, suggestion};
use assay_suite::AnyCase;
use clap::Args;
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

/// Section of `assay run --help` about the lists.
pub(crate) const HELP: &str = "\
Lists, in deqp-runner's format:
  --caselist  one case per line; a line that ends in .txt or .txt.zst names
              another list
  --skips, --flakes
              one regular expression per line, searched for in case names; a
              line without any of * + ? ( ) [ ] { } | ^ $ \\ is literal
  --baseline  one name,status per line: the failures.csv of an earlier run
  # starts a comment. A failure that the baseline expects does not fail the
  run. A case that does better than its baseline fails the run until the
  baseline is updated.";

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListsArgs {
    /// Exclude the cases that this filter matches; repeatable
    #[arg(long, short, value_name = "FILTER")]
    pub(crate) exclude: Vec<String>,

    /// Run only the cases that this file names
    #[arg(long, value_name = "FILE")]
    pub(crate) caselist: Option<PathBuf>,

    /// Skip the cases that this file's patterns match
    #[arg(long, value_name = "FILE")]
    pub(crate) skips: Option<PathBuf>,

    /// Ignore failures of the cases that this file's patterns match
    #[arg(long, value_name = "FILE")]
    pub(crate) flakes: Option<PathBuf>,

    /// Expected failures; a case that differs from its line fails the run
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Known failures, each with an issue and an end date: a TOML file
    #[arg(long, value_name = "FILE", long_help = format!(
        "Known failures, each with an issue and an end date: a TOML file like\n{}", assay_reports::WAIVER_EXAMPLE
    ))]
    pub(crate) waivers: Option<PathBuf>,
}

/// Cases that remain after the lists are applied.
pub(crate) struct RemainingCases {
    pub(crate) cases: Vec<AnyCase>,
    /// Names of the cases that match the filters but are skipped by `--skips`.
    pub(crate) skipped: Vec<String>,
}

/// Lists of expected results.
pub(crate) struct ExpectationLists {
    flakes: Patterns,
    baseline: Option<Baseline>,
    waivers: Waivers,
}

/// Writes a case list to a file of a result folder, which a resumed run reads again. Returns its path.
///
/// # Errors
/// The file cannot be written, or another program wrote it.
pub(crate) fn write_case_list<T: ToString>(
    folder: &Path,
    file: &str,
    names: impl IntoIterator<Item = T>,
) -> Result<PathBuf, Failure> {
    let text: String = names.into_iter().map(|name| name.to_string() + "\n").collect();
    fs::create_dir_all(folder)
        .and_then(|()| OwnedFiles::new(folder).claim([file]))
        .with_context(|| format!("cannot write to {}", folder.display()))
        .code(exit::USAGE)?;
    let path = folder.join(file);
    output_file::write(&path, text)?;
    Ok(path)
}

impl ListsArgs {
    /// Reads all lists and applies those that select cases.
    ///
    /// # Errors
    /// A list is malformed, or no case remains.
    pub(crate) fn read(
        &self,
        mut all: Vec<AnyCase>,
        filters: &NameFilters,
    ) -> Result<(ExpectationLists, RemainingCases), Failure> {
        let patterns = |path: &Option<PathBuf>| path.as_deref().map_or(Ok(Patterns::empty()), Patterns::read);
        let skips = patterns(&self.skips).code(exit::USAGE)?;
        let flakes = patterns(&self.flakes).code(exit::USAGE)?;
        let baseline = self.baseline.as_deref().map(Baseline::read).transpose().code(exit::USAGE)?;
        if let (Some(baseline), Some(path)) = (&baseline, &self.baseline) {
            let unknown = baseline.unmatched(&all.iter().map(Selectable::name).collect());
            if let Some(first) = unknown.first() {
                let (cases, line) = (counted(unknown.len(), "case"), plural(unknown.len(), "its line", "their lines"));
                let (path, that) = (path.display(), plural(unknown.len(), "that does", "that do"));
                let such = if unknown.len() > 1 { ", such as" } else { ":" };
                note_once(&format!(
                    "{path} names {cases} {that} not exist in this version{such} {first}; delete {line}"
                ));
            }
        }
        let waivers = self.waivers.as_deref().map(Waivers::read).transpose().code(exit::USAGE)?.unwrap_or_default();
        for unused in waivers.unmatched(all.iter().map(Selectable::name)) {
            note_once(&unused);
        }
        self.keep_listed(&mut all)?;
        let excluded = cases::filters(&self.exclude, &all)
            .map_err(|failure| Failure { error: failure.error.context("--exclude"), ..failure })?;
        all.retain(|case| !excluded.matches(case.name()));
        let is_selected = |case: &AnyCase| filters.is_empty() || filters.matches(case.name());
        let mut skipped = Vec::new();
        all.retain(|case| {
            let skip = skips.matches(case.name());
            if skip && is_selected(case) {
                skipped.push(case.name().to_owned());
            }
            !skip
        });
        let emptied = filters.unmatched(all.iter().map(Selectable::name));
        let (first, more) = (emptied.first(), emptied.len().saturating_sub(1));
        let first = first.map_or_else(String::new, |filter| format!(" that matches `{}`", filter.pattern()));
        let more = if more > 0 { format!(" or {}", counted(more, "other filter")) } else { String::new() };
        let none = format!("--skips, --exclude or --caselist removes every case{first}{more}");
        if all.is_empty() || (!filters.is_empty() && emptied.len() == filters.len()) {
            return Err(Failure { code: exit::NOTHING, error: anyhow::anyhow!(none) });
        }
        // Some filters still match cases, so the run continues.
        if !emptied.is_empty() {
            note_once(&none);
        }
        Ok((ExpectationLists { flakes, baseline, waivers }, RemainingCases { cases: all, skipped }))
    }

    /// Keeps the cases that the case list names. The quick budget does not leave out cases that are
    /// named individually.
    fn keep_listed(&self, all: &mut Vec<AnyCase>) -> Result<(), Failure> {
        let Some(path) = &self.caselist else { return Ok(()) };
        let list = deqp::case_list(path).code(exit::USAGE)?;
        let listed: HashSet<&str> = list.iter().map(|line| line.text.as_str()).collect();
        let known: HashSet<&str> = all.iter().map(Selectable::name).collect();
        let unknown: Vec<_> = list.iter().filter(|line| !known.contains(line.text.as_str())).collect();
        if let Some(first) = unknown.first() {
            let near = NameFilter::new(&first.text).similar_names(all.iter().map(Selectable::name));
            let more = match unknown.len() - 1 {
                0 => String::new(),
                more => format!("; {} {} also unknown", counted(more, "other name"), plural(more, "is", "are")),
            };
            return Err(usage(format!(
                "{}: there is no case `{}`{}{more}",
                first.location(),
                first.text,
                suggestion(&near)
            )));
        }
        if list.is_empty() {
            return Err(usage(format!("{} names no case", path.display())));
        }
        all.retain_mut(|case| {
            let kept = listed.contains(case.name());
            if kept {
                case.make_quick();
            }
            kept
        });
        Ok(())
    }

    /// Returns the expected results of a run of these cases on a device.
    pub(crate) fn expect(
        lists: ExpectationLists,
        device: &DeviceInfo,
        planned: Rc<NameArena>,
        skipped: Vec<String>,
    ) -> Expectations {
        let waivers = lists.waivers.for_run(device, jiff::Zoned::now().date());
        Expectations::new(lists.baseline, lists.flakes, waivers).for_run(planned, skipped)
    }
}
