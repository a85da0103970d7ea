//! What changed from one run to another.

use crate::{
    count, counted,
    load::{LoadError, Opened},
    margin, plural, suite,
};
use assay_runner::{RunInfo, Status};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// A run that is compared.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The folder.
    pub folder: String,
    /// `deviceName`.
    pub device: String,
    /// Name and version of the driver, in its words.
    pub driver: String,
    /// Version of Assay.
    pub version: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// `quick`, `sampled`, `exhaustive`.
    pub budget: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// Cases with a result.
    pub cases: usize,
}

/// What a case did in one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// What it did.
    pub status: Status,
    /// How it ran: `native`, `lowered`, `reference`.
    pub path: String,
    /// Classes of its failures, of a warning those of the warning; sorted.
    pub classes: Vec<String>,
    /// The greatest error over bound; in JSON `"inf"` if it is infinite.
    #[serde(serialize_with = "finite_or_word")]
    pub margin: Option<f64>,
    /// Inputs with a failing result.
    pub failing_inputs: u64,
}

/// What became of a case, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It fails and did not.
    NewFailure,
    /// It fails in another way: another status, or other classes of failure.
    ChangedFailure,
    /// It has no result any more.
    Vanished,
    /// Neither run has it fail, but the status or the path differs; or it failed and now cannot be checked.
    ChangedStatus,
    /// It failed and passes.
    Fixed,
    /// Its status is as before, its greatest margin is not.
    Margin,
    /// It had no result before.
    Appeared,
}

impl Kind {
    /// All, the gravest first.
    pub const ALL: [Kind; 7] = [
        Kind::NewFailure,
        Kind::ChangedFailure,
        Kind::Vanished,
        Kind::ChangedStatus,
        Kind::Fixed,
        Kind::Margin,
        Kind::Appeared,
    ];

    /// Whether it is reason to look: the exit code of `assay diff` says so.
    pub fn is_worse(self) -> bool {
        match self {
            Kind::NewFailure | Kind::ChangedFailure | Kind::Vanished => true,
            Kind::ChangedStatus | Kind::Fixed | Kind::Margin | Kind::Appeared => false,
        }
    }

    /// A count of such changes in words: `1 new failure`.
    pub fn counted(self, changes: usize) -> String {
        let (one, more) = match self {
            Kind::NewFailure => ("new failure", "new failures"),
            Kind::ChangedFailure => ("failure of another kind", "failures of another kind"),
            Kind::Vanished => ("case that vanished", "cases that vanished"),
            Kind::ChangedStatus => ("other change of status", "other changes of status"),
            Kind::Fixed => ("fixed", "fixed"),
            Kind::Margin => ("margin that moved", "margins that moved"),
            Kind::Appeared => ("new case", "new cases"),
        };
        format!("{} {}", count(changes), plural(changes, one, more))
    }
}

/// A case that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub kind: Kind,
    /// What it did; `None` if it had no result.
    pub old: Option<State>,
    /// What it does; `None` if it has no result.
    pub new: Option<State>,
}

/// What changed between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// The earlier run.
    pub old: Side,
    /// The later one.
    pub new: Side,
    /// What makes the two hard to compare, in words.
    pub caveats: Vec<String>,
    /// Cases that are as they were.
    pub unchanged: usize,
    /// The others, the gravest first, then by name; margins by how far they moved.
    pub changes: Vec<Change>,
}

/// Which moves of a margin are worth telling.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// By which factor it grew or shrank at least.
    pub factor: f64,
    /// What the greater of the two is at least.
    pub floor: f64,
}

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold { factor: 1.05, floor: 0.01 }
    }
}

impl Threshold {
    fn is_passed(self, old: f64, new: f64) -> bool {
        let (low, high) = if old < new { (old, new) } else { (new, old) };
        high >= self.floor && high > low * self.factor
    }
}

/// Compares two runs.
///
/// # Errors
/// The results of one cannot be read, or it names a case twice.
pub fn diff(old: &Opened, new: &Opened, threshold: Threshold) -> Result<Diff, LoadError> {
    let (before, after) = (states(old)?, states(new)?);
    let sides = (side(old, before.len()), side(new, after.len()));
    let caveats = caveats(old, new);
    let (mut changes, mut unchanged) = (Vec::new(), 0);
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    // Both are sorted by name.
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
    Ok(Diff { old: sides.0, new: sides.1, caveats, unchanged, changes })
}

/// How far a margin moved: the factor, whichever way.
fn moved(change: &Change) -> f64 {
    let of = |state: &Option<State>| state.as_ref().and_then(|state| state.margin);
    match (change.kind, of(&change.old), of(&change.new)) {
        (Kind::Margin, Some(old), Some(new)) => (new.max(1e-300) / old.max(1e-300)).ln().abs(),
        _ => 0.0,
    }
}

fn kind(old: Option<&State>, new: Option<&State>, threshold: Threshold) -> Option<Kind> {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return Some(Kind::Vanished),
        (None, Some(new)) if new.status.is_failure() => return Some(Kind::NewFailure),
        (None, _) => return Some(Kind::Appeared),
    };
    let moved = match (old.margin, new.margin) {
        (Some(a), Some(b)) => threshold.is_passed(a, b),
        _ => false,
    };
    match (old.status.is_failure(), new.status.is_failure()) {
        (false, true) => Some(Kind::NewFailure),
        (true, true) if old.status != new.status || old.classes != new.classes => Some(Kind::ChangedFailure),
        (true, false) if matches!(new.status, Status::Pass | Status::QualityWarning) => Some(Kind::Fixed),
        (true, false) => Some(Kind::ChangedStatus),
        (false, false) if old.status != new.status => Some(Kind::ChangedStatus),
        // What is lowered says nothing of what was native; what was not checked says nothing of either.
        (false, false) if old.path != new.path && new.status.is_checked() => Some(Kind::ChangedStatus),
        (true, true) | (false, false) => moved.then_some(Kind::Margin),
    }
}

/// Every case that a run came to the end of, sorted by name.
fn states(run: &Opened) -> Result<Vec<(String, State)>, LoadError> {
    use rayon::slice::ParallelSliceMut;
    let states = run.results(|line| {
        let brief = line.brief;
        let state = State {
            status: brief.ended()?,
            path: brief.path.to_string(),
            classes: brief.kinds(),
            margin: brief.margin(),
            failing_inputs: brief.failing_inputs,
        };
        Some((brief.name.into_owned(), state))
    })?;
    let mut states: Vec<(String, State)> = states.into_iter().flatten().collect();
    states.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
    if let Some(pair) = states.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(LoadError::Twice { path: run.file(), name: pair[0].0.clone() });
    }
    Ok(states)
}

fn side(run: &Opened, cases: usize) -> Side {
    let RunInfo { device, version, started, budget, seed, .. } = run.info.clone();
    Side {
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

/// What makes two runs hard to compare.
fn caveats(old: &Opened, new: &Opened) -> Vec<String> {
    let (a, b) = (&old.info, &new.info);
    let mut said = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str, so: &str| {
        if a != b {
            said.push(format!("{what} differs ({a}, {b}){so}"));
        }
    };
    let inputs = ": margins are of other inputs";
    differ("the budget", &a.budget, &b.budget, inputs);
    differ("the seed", &a.seed.to_string(), &b.seed.to_string(), inputs);
    differ("the version of Assay", &a.version, &b.version, "");
    differ("the specification", &a.specification, &b.specification, ": other results may be permitted");
    differ("the device", &a.device.name, &b.device.name, "");
    for (run, which) in [(old, "old"), (new, "new")] {
        if run.ended().interrupted {
            said.push(format!("the {which} run was interrupted: cases are missing from it"));
        }
        if let Some(part) = &run.info.part {
            said.push(format!("the {which} run is only {} of a larger one", part.of.join(", ")));
        }
    }
    said
}

impl Diff {
    /// Changes of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// Whether something is worse than it was.
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.kind.is_worse())
    }

    /// The diff for people, at most so many cases of each kind.
    pub fn text(&self, most: usize) -> String {
        let mut text = String::new();
        for (label, side) in [("old", &self.old), ("new", &self.new)] {
            let Side { folder, device, driver, started, cases, .. } = side;
            _ = writeln!(text, "{label}  {folder}: {device}, {driver}, {started}, {}", counted(cases, "case"));
        }
        for caveat in &self.caveats {
            _ = writeln!(text, "note: {caveat}");
        }
        for kind in Kind::ALL {
            let all = self.of(kind).count();
            if all == 0 {
                continue;
            }
            _ = writeln!(text, "\n{}", kind.counted(all));
            let suites = self.of(kind).fold(BTreeMap::<&str, usize>::new(), |mut suites, change| {
                *suites.entry(suite(&change.name)).or_default() += 1;
                suites
            });
            for change in self.of(kind).take(most) {
                _ = writeln!(text, "  {}  {}", change.name, describe(change));
            }
            if all > most {
                let suites = suites.iter().map(|(suite, n)| format!("{suite} {}", count(n))).collect::<Vec<_>>();
                _ = writeln!(text, "  and {} more; in all: {}", count(all - most), suites.join(", "));
            }
        }
        let verdict = if self.is_worse() { "WORSE" } else { "NOT WORSE" };
        let counts = Kind::ALL.map(|kind| (kind, self.of(kind).count()));
        let counts = counts.iter().filter(|(_, n)| *n > 0).map(|&(kind, n)| kind.counted(n));
        let mut counts: Vec<String> = counts.collect();
        counts.push(format!("{} unchanged", count(self.unchanged)));
        _ = writeln!(text, "\n{verdict}: {}", counts.join(", "));
        text
    }
}

/// A change in one line.
pub(crate) fn describe(change: &Change) -> String {
    let paths = [&change.old, &change.new].map(|state| state.as_ref().map(|state| state.path.as_str()));
    let other_path = paths[0].is_some() && paths[1].is_some() && paths[0] != paths[1];
    let state = |state: &State| {
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

/// JSON has no infinity.
fn finite_or_word<S: serde::Serializer>(margin: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match margin {
        Some(margin) if margin.is_infinite() => serializer.serialize_str("inf"),
        other => other.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{case, folder};
    use assay_runner::CaseResult;

    fn with(name: &str, status: Status, change: impl FnOnce(&mut CaseResult)) -> CaseResult {
        let mut case = case(name, status);
        change(&mut case);
        case
    }

    fn set_margin(margin: f64) -> impl FnOnce(&mut CaseResult) {
        move |case| case.worst.as_mut().unwrap().margin = Some(margin)
    }

    #[test]
    fn every_kind_of_change_is_told() {
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
        let open = |path| Opened::open(path).unwrap();
        let diff = diff(&open(&old), &open(&new), Threshold::default()).unwrap();
        let of = |kind| diff.of(kind).map(|change| &change.name[6..]).collect::<Vec<_>>();
        assert_eq!(of(Kind::NewFailure), ["added_broken", "breaks"]);
        assert_eq!(of(Kind::ChangedFailure), ["other_class", "other_status"]);
        assert_eq!(of(Kind::Vanished), ["gone"]);
        assert_eq!(of(Kind::ChangedStatus), ["other_path", "unsupported"]);
        assert_eq!(of(Kind::Fixed), ["gets_fixed"]);
        assert_eq!(of(Kind::Margin), ["margin_more", "margin"], "what moved most first");
        assert_eq!(of(Kind::Appeared), ["added"]);
        assert_eq!(diff.unchanged, 4);
        assert!(diff.is_worse());
        let text = diff.text(1);
        for said in [
            "2 new failures\n  p.f32.added_broken  Timeout\n  and 1 more; in all: p.f32 2\n",
            "p.f32.margin_more  Pass 0.100 -> Pass 0.950",
            "p.f32.other_class  Fail (FewUlp) 3.21 -> Fail (Wild) 3.21",
            "\nWORSE: 2 new failures, ",
            "p.f32.other_path  Pass native",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let none = super::diff(&open(&old), &open(&old), Threshold::default()).unwrap();
        assert!(!none.is_worse() && none.changes.is_empty() && none.unchanged == 13);
        assert!(none.text(9).contains("NOT WORSE: 13 unchanged"));
        let json = serde_json::to_value(&diff).unwrap();
        assert_eq!(json["changes"][0]["kind"], "new_failure");
    }

    /// That nothing had failed until the run ended says nothing of the case.
    #[test]
    fn a_case_that_was_cut_short_is_not_fixed() {
        let dir = tempfile::tempdir().unwrap();
        let old = folder(&dir.path().join("old"), &[case("p.a", Status::Fail), case("p.b", Status::Pass)]);
        let cut = with("p.a", Status::Pass, |case| case.partial = true);
        let new = folder(&dir.path().join("new"), &[cut, case("p.b", Status::Pass)]);
        let new = Opened::open(new).unwrap();
        let diff = super::diff(&Opened::open(old).unwrap(), &new, Threshold::default()).unwrap();
        let kinds: Vec<Kind> = diff.changes.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [Kind::Vanished]);
        assert_eq!(new.statuses().unwrap().into_keys().collect::<Vec<_>>(), ["p.b"]);
    }

    #[test]
    fn a_name_that_stands_there_twice_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = folder(dir.path(), &[case("p.a", Status::Pass), case("p.a", Status::Fail)]);
        let run = Opened::open(path).unwrap();
        let error = super::diff(&run, &run, Threshold::default()).unwrap_err().to_string();
        assert!(error.contains("names `p.a` twice"), "{error}");
    }

    #[test]
    fn infinite_margins_are_words_in_json_and_move_once() {
        let state = |margin| State {
            status: Status::Fail,
            path: String::new(),
            classes: Vec::new(),
            margin,
            failing_inputs: 1,
        };
        assert_eq!(serde_json::to_value(state(Some(f64::INFINITY))).unwrap()["margin"], "inf");
        let threshold = Threshold::default();
        assert!(threshold.is_passed(2.0, f64::INFINITY) && !threshold.is_passed(f64::INFINITY, f64::INFINITY));
        assert!(threshold.is_passed(0.0, 0.5) && !threshold.is_passed(0.0, 0.0));
    }
}
