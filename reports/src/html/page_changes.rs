//! Changes since an earlier run, for a page.

use crate::{
    counted,
    diff::{ChangeKind, Diff},
    group_digits,
};
use serde::Serialize;

/// Largest number of listed names of cases without a row.
const NAMES: usize = 200;

/// Changes since an earlier run.
#[derive(Serialize)]
pub(super) struct PageChanges {
    /// Folder of the earlier run.
    folder: String,
    /// Device, driver and time of the earlier run.
    run: String,
    worse: bool,
    /// Reasons why the runs are not fully comparable.
    caveats: Vec<String>,
    kinds: Vec<KindOfChange>,
    /// Number of unchanged cases.
    unchanged: usize,
    /// Changed causes: title, and the change.
    causes: Vec<(String, String)>,
}

/// All changes of one kind.
#[derive(Serialize)]
struct KindOfChange {
    /// Number and kind: `3 new failures`.
    title: String,
    worse: bool,
    /// Positions of the cases in the columns of the page.
    cases: Vec<usize>,
    /// Names of cases that the page does not have, which only the earlier run has.
    names: Vec<String>,
}

impl PageChanges {
    /// Collects the changes; `place` gives the position of a case by its name.
    pub(super) fn new(diff: &Diff, place: impl Fn(&str) -> Option<usize>) -> PageChanges {
        let of = |kind: ChangeKind| {
            let names = || diff.changes_of(kind).map(|change| &*change.name);
            let cases: Vec<usize> = names().filter_map(&place).collect();
            let absent = || names().filter(|name| place(name).is_none());
            let mut listed: Vec<String> = absent().take(NAMES).map(str::to_owned).collect();
            let more = absent().count() - listed.len();
            if more > 0 {
                listed.push(format!("and {} more; `assay diff --all` lists all", group_digits(more)));
            }
            let title = kind.counted(names().count());
            KindOfChange { title, worse: kind.is_worse(), cases, names: listed }
        };
        let old = &diff.old;
        PageChanges {
            folder: old.folder.clone(),
            run: format!("{}, {}, {}, {}", old.device, old.driver, old.minute(), counted(old.cases, "case")),
            worse: diff.is_worse(),
            caveats: diff.caveats.clone(),
            kinds: ChangeKind::ALL.into_iter().filter(|&kind| diff.changes_of(kind).count() > 0).map(of).collect(),
            unchanged: diff.unchanged,
            causes: diff.causes.iter().map(|change| (change.title.clone(), change.text())).collect(),
        }
    }
}
