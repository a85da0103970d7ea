//! Comparison of two runs.

use crate::{
    causes::{CauseCollector, Causes, Failure},
    counted, group_digits, margin, plural,
    read::{LocatedLine, ReadError, ResultDir},
    suite,
};
use assay_events::{RunInfo, Status};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// One of the two compared runs.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    /// Result directory.
    pub folder: String,
    /// `deviceName`.
    pub device: String,
    /// Name and version of the driver, as the driver reports them.
    pub driver: String,
    /// Version of Assay.
    pub version: String,
    /// Start time, RFC 3339.
    pub started: String,
    /// Budget: `quick`, `sampled`, `exhaustive` or `hunt`.
    pub budget: String,
    /// Seed of the inputs.
    pub seed: u64,
    /// Number of cases with a result.
    pub cases: usize,
}

impl ComparedRun {
    /// Returns the minute in which the run started: `2026-01-31 12:00 UTC`.
    pub(crate) fn minute(&self) -> String {
        let minute = self.started.get(..16).filter(|_| self.started.ends_with('Z'));
        minute.map_or_else(|| self.started.clone(), |minute| format!("{} UTC", minute.replace('T', " ")))
    }
}

/// Result of a case in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseState {
    /// Status.
    pub status: Status,
    /// Path: `native`, `lowered` or `reference`.
    pub path: String,
    /// Failure classes, sorted; for a QualityWarning, its warning classes.
    pub classes: Vec<String>,
    /// Greatest margin; `"inf"` in JSON if infinite.
    #[serde(serialize_with = "finite_or_word")]
    pub margin: Option<f64>,
    /// Number of inputs with a failing result.
    pub failing_inputs: u64,
}

/// Kind of change, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The case fails and did not before.
    NewFailure,
    /// The case fails with another status or other failure classes than before.
    ChangedFailure,
    /// The case has no result any more.
    Vanished,
    /// The case fails in neither run, and its status or path differs; or it failed and can no
    /// longer be checked.
    ChangedStatus,
    /// The case failed and now passes.
    Fixed,
    /// Same status, different greatest margin.
    Margin,
    /// The case had no result before.
    Appeared,
}

impl ChangeKind {
    /// All kinds, most severe first.
    pub const ALL: [ChangeKind; 7] = [
        ChangeKind::NewFailure,
        ChangeKind::ChangedFailure,
        ChangeKind::Vanished,
        ChangeKind::ChangedStatus,
        ChangeKind::Fixed,
        ChangeKind::Margin,
        ChangeKind::Appeared,
    ];

    /// Returns true if the change is for the worse. Such a change sets the exit code of `assay
    /// diff`.
    pub fn is_worse(self) -> bool {
        match self {
            ChangeKind::NewFailure | ChangeKind::ChangedFailure | ChangeKind::Vanished => true,
            ChangeKind::ChangedStatus | ChangeKind::Fixed | ChangeKind::Margin | ChangeKind::Appeared => false,
        }
    }

    /// Formats a number of changes: `1 new failure`.
    pub fn counted(self, changes: usize) -> String {
        let (one, more) = match self {
            ChangeKind::NewFailure => ("new failure", "new failures"),
            ChangeKind::ChangedFailure => ("changed failure", "changed failures"),
            ChangeKind::Vanished => ("missing case", "missing cases"),
            ChangeKind::ChangedStatus => ("other status change", "other status changes"),
            ChangeKind::Fixed => ("fixed case", "fixed cases"),
            ChangeKind::Margin => ("changed margin", "changed margins"),
            ChangeKind::Appeared => ("new case", "new cases"),
        };
        format!("{} {}", group_digits(changes), plural(changes, one, more))
    }
}

/// A case that differs between the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Name of the case.
    pub name: String,
    /// Kind of change.
    pub kind: ChangeKind,
    /// Old result; `None` if the case had none.
    pub old: Option<CaseState>,
    /// New result; `None` if the case has none.
    pub new: Option<CaseState>,
}

/// A cause of failures that differs between the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseChange {
    /// The cause: `Frexp: denormal operands, FlushedIn`.
    pub title: String,
    /// Number of its cases in the old run.
    pub old_cases: u64,
    /// Number of its cases in the new run.
    pub new_cases: u64,
}

impl CauseChange {
    /// Formats the change: `new, 20 cases`, `gone, 20 cases before`, `20 cases, now 12`.
    pub(crate) fn text(&self) -> String {
        match (self.old_cases, self.new_cases) {
            (0, new) => format!("new, {}", counted(new, "case")),
            (old, 0) => format!("gone, {} before", counted(old, "case")),
            (old, new) => format!("{}, now {}", counted(old, "case"), group_digits(new)),
        }
    }
}

/// Differences between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// The older run.
    pub old: ComparedRun,
    /// The newer run.
    pub new: ComparedRun,
    /// Reasons why the runs are not fully comparable.
    pub caveats: Vec<String>,
    /// Causes of failures that are new, gone, or have another number of cases, by title.
    pub causes: Vec<CauseChange>,
    /// Number of unchanged cases.
    pub unchanged: usize,
    /// Changed cases by kind, most severe first, then by name. Margins are ordered by their change,
    /// greatest first.
    pub changes: Vec<Change>,
}

/// Threshold above which a change of the margin is reported.
#[derive(Clone, Copy, Debug)]
pub struct MarginThreshold {
    /// Smallest reported factor between the two margins.
    pub factor: f64,
    /// Smallest reported value of the greater margin.
    pub floor: f64,
}

impl Default for MarginThreshold {
    fn default() -> MarginThreshold {
        MarginThreshold { factor: 1.05, floor: 0.01 }
    }
}

impl MarginThreshold {
    fn is_passed(self, old: f64, new: f64) -> bool {
        let (low, high) = if old < new { (old, new) } else { (new, old) };
        high >= self.floor && high > low * self.factor
    }
}

/// Compares two runs.
///
/// # Errors
/// The results of a run cannot be read, or contain a case twice.
pub fn diff(old: &ResultDir, new: &ResultDir, threshold: MarginThreshold) -> Result<Diff, ReadError> {
    let ((before, old_causes), (after, new_causes)) = (states(old)?, states(new)?);
    let sides = (side(old, before.len()), side(new, after.len()));
    let caveats = caveats(old, new);
    let (mut changes, mut unchanged) = (Vec::new(), 0);
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    // Merge of two lists that are sorted by name.
    loop {
        let (name, old, new) = match (before.peek(), after.peek()) {
            (None, None) => break,
            (Some((a, _)), Some((b, _))) if a == b => match (before.next(), after.next()) {
                (Some((name, old)), Some((_, new))) => (name, Some(old), Some(new)),
                _ => break,
            },
            (Some((a, _)), b) if b.is_none_or(|(b, _)| a < b) => match before.next() {
                Some((name, old)) => (name, Some(old), None),
                None => break,
            },
            (_, _) => match after.next() {
                Some((name, new)) => (name, None, Some(new)),
                None => break,
            },
        };
        match kind(old.as_ref(), new.as_ref(), threshold) {
            Some(kind) => changes.push(Change { name, kind, old, new }),
            None => unchanged += 1,
        }
    }
    changes.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| moved(b).total_cmp(&moved(a))));
    Ok(Diff {
        old: sides.0,
        new: sides.1,
        caveats,
        causes: cause_changes(&old_causes, &new_causes),
        unchanged,
        changes,
    })
}

/// Returns the absolute logarithm of the factor between the two margins; 0 for other kinds.
fn moved(change: &Change) -> f64 {
    let of = |state: &Option<CaseState>| state.as_ref().and_then(|state| state.margin);
    match (change.kind, of(&change.old), of(&change.new)) {
        (ChangeKind::Margin, Some(old), Some(new)) => (new.max(1e-300) / old.max(1e-300)).ln().abs(),
        _ => 0.0,
    }
}

fn kind(old: Option<&CaseState>, new: Option<&CaseState>, threshold: MarginThreshold) -> Option<ChangeKind> {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return Some(ChangeKind::Vanished),
        (None, Some(new)) if new.status.is_failure() => return Some(ChangeKind::NewFailure),
        (None, _) => return Some(ChangeKind::Appeared),
    };
    let moved = match (old.margin, new.margin) {
        (Some(a), Some(b)) => threshold.is_passed(a, b),
        _ => false,
    };
    match (old.status.is_failure(), new.status.is_failure()) {
        (false, true) => Some(ChangeKind::NewFailure),
        (true, true) if old.status != new.status || old.classes != new.classes => Some(ChangeKind::ChangedFailure),
        (true, false) if matches!(new.status, Status::Pass | Status::QualityWarning) => Some(ChangeKind::Fixed),
        (true, false) => Some(ChangeKind::ChangedStatus),
        (false, false) if old.status != new.status => Some(ChangeKind::ChangedStatus),
        // A lowered case says nothing about native support, and an unchecked case about either
        // path.
        (false, false) if old.path != new.path && new.status.is_checked() => Some(ChangeKind::ChangedStatus),
        (true, true) | (false, false) => moved.then_some(ChangeKind::Margin),
    }
}

/// Returns the causes with different numbers of cases.
fn cause_changes(old: &Causes, new: &Causes) -> Vec<CauseChange> {
    let mut cases: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, causes) in [old, new].into_iter().enumerate() {
        for cause in &causes.list {
            cases.entry(&cause.title).or_default()[side] += cause.cases;
        }
    }
    let changed = cases.into_iter().filter(|(_, [old, new])| old != new);
    changed
        .map(|(title, [old_cases, new_cases])| CauseChange { title: title.to_owned(), old_cases, new_cases })
        .collect()
}

/// A completed case, and its failure if it fails.
type CompletedCase = (String, CaseState, Option<Box<Failure>>);

/// Returns every completed case of a run, sorted by name, and the causes of the failures.
fn states(run: &ResultDir) -> Result<(Vec<(String, CaseState)>, Causes), ReadError> {
    use rayon::slice::ParallelSliceMut;
    let take = |line: LocatedLine<'_>| -> Option<CompletedCase> {
        let failure = line.failure().map(Box::new);
        let brief = line.brief;
        let state = CaseState {
            status: brief.final_status()?,
            path: brief.path.to_string(),
            classes: brief.failure_classes(),
            margin: brief.margin(),
            failing_inputs: brief.failing_inputs,
        };
        Some((brief.name.into_owned(), state, failure))
    };
    let (mut states, mut causes) = (Vec::new(), CauseCollector::default());
    run.each(take, |block| {
        for (name, state, failure) in block.into_iter().flatten() {
            if let Some(failure) = failure {
                causes.add(*failure, true);
            }
            states.push((name, state));
        }
    })?;
    states.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
    if let Some(pair) = states.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(ReadError::Twice { path: run.file(), name: pair[0].0.clone() });
    }
    Ok((states, causes.causes()))
}

fn side(run: &ResultDir, cases: usize) -> ComparedRun {
    let RunInfo { device, version, started, budget, seed, .. } = run.run.clone();
    ComparedRun {
        folder: run.path.display().to_string(),
        driver: format!("{} {}", device.driver_name, device.driver_info).trim().to_owned(),
        device: device.name,
        version,
        started,
        budget,
        seed,
        cases,
    }
}

/// Returns the reasons why two runs are not fully comparable.
fn caveats(old: &ResultDir, new: &ResultDir) -> Vec<String> {
    let (a, b) = (&old.run, &new.run);
    let mut said = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str, so: &str| {
        if a != b {
            said.push(format!("{what} differs ({a}, {b}){so}"));
        }
    };
    let inputs = ": margins are for different inputs";
    differ("the budget", &a.budget, &b.budget, inputs);
    differ("the seed", &a.seed.to_string(), &b.seed.to_string(), inputs);
    differ("the version of Assay", &a.version, &b.version, "");
    differ("the specification", &a.specification, &b.specification, ": different results may be permitted");
    differ("the device", &a.device.name, &b.device.name, "");
    for (run, which) in [(old, "old"), (new, "new")] {
        if run.ended().interrupted {
            said.push(format!("the {which} run was interrupted, so cases are missing"));
        }
        if let Some(part) = &run.run.part {
            said.push(format!("the {which} run is only part {} of a larger run", part.of.join(", ")));
        }
    }
    said
}

impl Diff {
    /// Returns the changes of one kind.
    pub fn changes_of(&self, kind: ChangeKind) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// Returns true if a change is for the worse.
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.kind.is_worse())
    }

    /// Formats the diff as text, with at most `most` cases of each kind.
    pub fn text(&self, most: usize) -> String {
        let mut text = String::new();
        for (label, side) in [("old", &self.old), ("new", &self.new)] {
            let ComparedRun { folder, device, driver, cases, .. } = side;
            let (started, cases) = (side.minute(), counted(*cases, "case"));
            _ = writeln!(text, "{label}  {folder}: {device}, {driver}, {started}, {cases}");
        }
        for caveat in &self.caveats {
            _ = writeln!(text, "note: {caveat}");
        }
        if !self.causes.is_empty() {
            _ = writeln!(text, "\ncauses of failures");
        }
        for change in &self.causes {
            _ = writeln!(text, "  {}: {}", change.title, change.text());
        }
        for kind in ChangeKind::ALL {
            let all = self.changes_of(kind).count();
            if all == 0 {
                continue;
            }
            _ = writeln!(text, "\n{}", kind.counted(all));
            let suites = self.changes_of(kind).fold(BTreeMap::<&str, usize>::new(), |mut suites, change| {
                *suites.entry(suite(&change.name)).or_default() += 1;
                suites
            });
            for change in self.changes_of(kind).take(most) {
                _ = writeln!(text, "  {}  {}", change.name, describe(change));
            }
            if all > most {
                let suites = suites.iter().map(|(suite, n)| format!("{suite} {}", group_digits(n))).collect::<Vec<_>>();
                _ = writeln!(text, "  and {} more; by suite: {}", group_digits(all - most), suites.join(", "));
            }
        }
        let verdict = if self.is_worse() { "WORSE" } else { "NOT WORSE" };
        let counts = ChangeKind::ALL.map(|kind| (kind, self.changes_of(kind).count()));
        let counts = counts.iter().filter(|(_, n)| *n > 0).map(|&(kind, n)| kind.counted(n));
        let mut counts: Vec<String> = counts.collect();
        counts.push(format!("{} unchanged", group_digits(self.unchanged)));
        _ = writeln!(text, "\n{verdict}: {}", counts.join(", "));
        text
    }
}

/// Formats a change in one line.
pub(crate) fn describe(change: &Change) -> String {
    let paths = [&change.old, &change.new].map(|state| state.as_ref().map(|state| state.path.as_str()));
    let other_path = paths[0].is_some() && paths[1].is_some() && paths[0] != paths[1];
    let state = |state: &CaseState| {
        let mut text = format!("{:?}", state.status);
        if other_path {
            text += &format!(" {}", state.path);
        }
        if !state.classes.is_empty() {
            text += &format!(" ({})", state.classes.join(", "));
        }
        if let Some(value) = state.margin {
            text += &format!(" {}", margin(value));
        }
        text
    };
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!("{} -> {}", state(old), state(new)),
        (Some(old), None) => format!("was {}", state(old)),
        (None, Some(new)) => state(new),
        (None, None) => String::new(),
    }
}

/// JSON cannot represent infinity.
fn finite_or_word<S: serde::Serializer>(margin: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match margin {
        Some(margin) if margin.is_infinite() => serializer.serialize_str("inf"),
        other => other.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, folder};
    use assay_events::CaseResult;

    fn with(name: &str, status: Status, change: impl FnOnce(&mut CaseResult)) -> CaseResult {
        let mut case = case(name, status);
        change(&mut case);
        case
    }

    fn set_margin(margin: f64) -> impl FnOnce(&mut CaseResult) {
        move |case| case.worst.as_mut().unwrap().margin = Some(margin)
    }

    #[test]
    fn every_kind_of_change_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let old = [
            case("p.f32.breaks", Status::Pass),
            case("p.f32.gets_fixed", Status::Fail),
            case("p.f32.gone", Status::Pass),
            case("p.f32.same", Status::Fail),
            case("p.f32.other_path", Status::Pass),
            case("p.f32.lacking_on_both", Status::NotSupported),
            case("p.f32.other_class", Status::Fail),
            case("p.f32.other_status", Status::Fail),
            case("p.f32.unsupported", Status::Fail),
            with("p.f32.margin", Status::Pass, set_margin(0.5)),
            with("p.f32.margin_more", Status::Pass, set_margin(0.1)),
            with("p.f32.margin_little", Status::Pass, set_margin(0.5)),
            with("p.f32.margin_tiny", Status::Pass, set_margin(0.001)),
        ];
        let new = [
            with("p.f32.margin", Status::Pass, set_margin(0.9)),
            with("p.f32.margin_more", Status::Pass, set_margin(0.95)),
            with("p.f32.margin_little", Status::Pass, set_margin(0.51)),
            with("p.f32.margin_tiny", Status::Pass, set_margin(0.009)),
            case("p.f32.breaks", Status::Fail),
            case("p.f32.gets_fixed", Status::Pass),
            case("p.f32.same", Status::Fail),
            with("p.f32.other_path", Status::Pass, |case| case.path = "lowered".to_owned()),
            with("p.f32.lacking_on_both", Status::NotSupported, |case| case.path = "lowered".to_owned()),
            with("p.f32.other_class", Status::Fail, |case| case.classes[0].class = "Wild".to_owned()),
            case("p.f32.other_status", Status::Crash),
            case("p.f32.unsupported", Status::NotSupported),
            case("p.f32.added", Status::Pass),
            case("p.f32.added_broken", Status::Timeout),
        ];
        let (old, new) = (folder(&dir.path().join("old"), &old), folder(&dir.path().join("new"), &new));
        let open = |path| ResultDir::open(path).unwrap();
        let diff = diff(&open(&old), &open(&new), MarginThreshold::default()).unwrap();
        let of = |kind| diff.changes_of(kind).map(|change| &change.name[6..]).collect::<Vec<_>>();
        assert_eq!(of(ChangeKind::NewFailure), ["added_broken", "breaks"]);
        assert_eq!(of(ChangeKind::ChangedFailure), ["other_class", "other_status"]);
        assert_eq!(of(ChangeKind::Vanished), ["gone"]);
        assert_eq!(of(ChangeKind::ChangedStatus), ["other_path", "unsupported"]);
        assert_eq!(of(ChangeKind::Fixed), ["gets_fixed"]);
        assert_eq!(of(ChangeKind::Margin), ["margin_more", "margin"], "greatest change first");
        assert_eq!(of(ChangeKind::Appeared), ["added"]);
        assert_eq!(diff.unchanged, 4);
        assert!(diff.is_worse());
        let text = diff.text(1);
        for said in [
            "2 new failures\n  p.f32.added_broken  Timeout\n  and 1 more; by suite: p.f32 2\n",
            "p.f32.margin_more  Pass 0.100 -> Pass 0.950",
            "p.f32.other_class  Fail (FewUlp) 3.21 -> Fail (Wild) 3.21",
            "\nWORSE: 2 new failures, ",
            "p.f32.other_path  Pass native",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let none = super::diff(&open(&old), &open(&old), MarginThreshold::default()).unwrap();
        assert!(!none.is_worse() && none.changes.is_empty() && none.unchanged == 13);
        assert!(none.text(9).contains("NOT WORSE: 13 unchanged"));
        let json = serde_json::to_value(&diff).unwrap();
        assert_eq!(json["changes"][0]["kind"], "new_failure");
    }

    /// A case cut short by the end of the run has not passed, even if nothing had failed.
    #[test]
    fn a_case_that_was_cut_short_is_not_fixed() {
        let dir = tempfile::tempdir().unwrap();
        let old = folder(&dir.path().join("old"), &[case("p.a", Status::Fail), case("p.b", Status::Pass)]);
        let cut = with("p.a", Status::Pass, |case| case.partial = true);
        let new = folder(&dir.path().join("new"), &[cut, case("p.b", Status::Pass)]);
        let new = ResultDir::open(new).unwrap();
        let diff = super::diff(&ResultDir::open(old).unwrap(), &new, MarginThreshold::default()).unwrap();
        let kinds: Vec<ChangeKind> = diff.changes.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [ChangeKind::Vanished]);
        assert_eq!(new.statuses().unwrap().into_keys().collect::<Vec<_>>(), ["p.b"]);
    }

    #[test]
    fn a_duplicate_name_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = folder(dir.path(), &[case("p.a", Status::Pass), case("p.a", Status::Fail)]);
        let run = ResultDir::open(path).unwrap();
        let error = super::diff(&run, &run, MarginThreshold::default()).unwrap_err().to_string();
        assert!(error.contains("has two results of `p.a`"), "{error}");
    }

    #[test]
    fn infinite_margins_are_strings_in_json_and_do_not_change_further() {
        let state = |margin| CaseState {
            status: Status::Fail,
            path: String::new(),
            classes: Vec::new(),
            margin,
            failing_inputs: 1,
        };
        assert_eq!(serde_json::to_value(state(Some(f64::INFINITY))).unwrap()["margin"], "inf");
        let threshold = MarginThreshold::default();
        assert!(threshold.is_passed(2.0, f64::INFINITY) && !threshold.is_passed(f64::INFINITY, f64::INFINITY));
        assert!(threshold.is_passed(0.0, 0.5) && !threshold.is_passed(0.0, 0.0));
    }
}
