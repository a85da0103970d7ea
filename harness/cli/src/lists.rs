//! The lists that a lab gives a run: which cases, and what is expected of them.

use crate::{
    cases,
    exit::{self, Failure, WithCode, usage},
    note_once,
};
use assay_case::{Filter, Filters};
use assay_reports::{
    Expectations, Names, Waivers, counted,
    deqp::{self, Baseline, Patterns},
    plural,
};
use assay_runner::{Choice, DeviceInfo, suggestion};
use assay_suite::Unit;
use clap::Args;
use std::{collections::HashSet, path::PathBuf, rc::Rc};

/// What `assay run --help` says about the lists.
pub(crate) const HELP: &str = "\
Lists, in the form of deqp-runner:
  --caselist  a case a line; a line ending in .txt, .txt.zst names another list
  --skips, --flakes
              a regular expression a line, searched for in names; a line without
              any of * + ? ( ) [ ] { } | ^ $ \\ is taken literally
  --baseline  name,status a line: the failures.csv of an earlier run
  # begins a comment. What a baseline expects to fail is no failure of the run;
  what does better than it says is one, until the baseline is brought up to
  date.";

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListsArgs {
    /// Without the cases that match, as for FILTER; may be given several times
    #[arg(long, short, value_name = "FILTER")]
    exclude: Vec<String>,

    /// Only the cases named in this file
    #[arg(long, value_name = "FILE")]
    caselist: Option<PathBuf>,

    /// Leaves out the cases that this file's patterns match
    #[arg(long, value_name = "FILE")]
    skips: Option<PathBuf>,

    /// Failures of the cases that this file's patterns match do not fail the run
    #[arg(long, value_name = "FILE")]
    flakes: Option<PathBuf>,

    /// What cases are known to do: what differs from it fails the run
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Failures that are known, each with its issue and its end: a TOML file
    #[arg(long, value_name = "FILE", long_help = format!(
        "Failures that are known, each with its issue and its end: a TOML file like\n{}", assay_reports::WAIVERS
    ))]
    waivers: Option<PathBuf>,
}

/// The cases that the lists leave, and those that the list of skips takes out of what the filters choose.
pub(crate) struct Chosen {
    pub(crate) cases: Vec<Unit>,
    pub(crate) skipped: Vec<String>,
}

/// The lists, read.
pub(crate) struct Lists {
    flakes: Patterns,
    baseline: Option<Baseline>,
    waivers: Waivers,
}

impl ListsArgs {
    /// The options by the names that clap has for them, with their values in words.
    pub(crate) fn values(&self) -> Vec<(&'static str, String)> {
        let files = [
            ("caselist", &self.caselist),
            ("skips", &self.skips),
            ("flakes", &self.flakes),
            ("baseline", &self.baseline),
            ("waivers", &self.waivers),
        ];
        let text = |file: &PathBuf| file.display().to_string();
        let files = files.map(|(option, file)| (option, file.as_ref().map_or_else(|| "none".to_owned(), text)));
        let exclude = if self.exclude.is_empty() { "none".to_owned() } else { self.exclude.join(" ") };
        [("exclude", exclude)].into_iter().chain(files).collect()
    }

    /// Reads the lists and applies those that say which cases: all of this is known without a device.
    pub(crate) fn read(&self, mut all: Vec<Unit>, filters: &Filters) -> Result<(Lists, Chosen), Failure> {
        let patterns = |path: &Option<PathBuf>| path.as_deref().map_or(Ok(Patterns::none()), Patterns::read);
        let skips = patterns(&self.skips).code(exit::USAGE)?;
        let flakes = patterns(&self.flakes).code(exit::USAGE)?;
        let baseline = self.baseline.as_deref().map(Baseline::read).transpose().code(exit::USAGE)?;
        if let (Some(baseline), Some(path)) = (&baseline, &self.baseline) {
            let unknown = baseline.unknown(&all.iter().map(Choice::name).collect());
            if let Some(first) = unknown.first() {
                let (cases, are) = (counted(unknown.len(), "case"), plural(unknown.len(), "is", "are"));
                note_once(&format!("{}: {cases} {are} not known here, {first} first", path.display()));
            }
        }
        let waivers = self.waivers.as_deref().map(Waivers::read).transpose().code(exit::USAGE)?.unwrap_or_default();
        for unused in waivers.unknown(all.iter().map(Choice::name)) {
            note_once(&unused);
        }
        self.keep_listed(&mut all)?;
        let excluded = cases::filters(&self.exclude, &all)
            .map_err(|failure| Failure { error: failure.error.context("--exclude"), ..failure })?;
        all.retain(|case| !excluded.matches(case.name()));
        let chosen = |case: &Unit| filters.is_empty() || filters.matches(case.name());
        let mut skipped = Vec::new();
        all.retain(|case| {
            let skip = skips.matches(case.name());
            if skip && chosen(case) {
                skipped.push(case.name().to_owned());
            }
            !skip
        });
        let emptied = filters.without_match(all.iter().map(Choice::name));
        let (first, more) = (emptied.first(), emptied.len().saturating_sub(1));
        let first = first.map_or_else(String::new, |filter| format!(" `{}`", filter.pattern()));
        let more =
            if more > 0 { format!(", nor of those of {}", counted(more, "other filter")) } else { String::new() };
        let none = format!("the lists leave none of the cases that match{first}{more}");
        if all.is_empty() || (!filters.is_empty() && emptied.len() == filters.len()) {
            return Err(Failure { code: exit::NOTHING, error: anyhow::anyhow!(none) });
        }
        // The others are worth the night.
        if !emptied.is_empty() {
            note_once(&none);
        }
        Ok((Lists { flakes, baseline, waivers }, Chosen { cases: all, skipped }))
    }

    /// Keeps what the case list names. Named one by one, they are wanted whatever the budget would leave out.
    fn keep_listed(&self, all: &mut Vec<Unit>) -> Result<(), Failure> {
        let Some(path) = &self.caselist else { return Ok(()) };
        let list = deqp::case_list(path).code(exit::USAGE)?;
        let listed: HashSet<&str> = list.iter().map(|line| line.text.as_str()).collect();
        let known: HashSet<&str> = all.iter().map(Choice::name).collect();
        let unknown: Vec<_> = list.iter().filter(|line| !known.contains(line.text.as_str())).collect();
        if let Some(first) = unknown.first() {
            let near = Filter::new(&first.text).nearest(all.iter().map(Choice::name));
            let more = match unknown.len() - 1 {
                0 => String::new(),
                more => format!("; {} {} unknown, too", counted(more, "other name"), plural(more, "is", "are")),
            };
            return Err(usage(format!(
                "{}: there is no case `{}`{}{more}",
                first.place(),
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
                case.include();
            }
            kept
        });
        Ok(())
    }

    /// What the lists expect of a run of these cases on a device.
    pub(crate) fn expect(lists: Lists, device: &DeviceInfo, planned: Rc<Names>, skipped: Vec<String>) -> Expectations {
        let waivers = lists.waivers.of_run(device, jiff::Zoned::now().date());
        Expectations::new(lists.baseline, lists.flakes, waivers).of_run(planned, skipped)
    }
}
