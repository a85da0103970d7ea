//! Groups the failures of a run by cause.
//!
//! A *group* holds the failing scalars of one class and one operand region, of one instruction on
//! one path. [`CauseCollector::causes`] joins the groups of an instruction to causes:
//!
//! 1. A class that fails for moderate operands is one cause, whatever other regions it fails in.
//!    Otherwise each region of a class is a cause of its own.
//! 2. A cause joins a larger one if they have a region in common and each of its cases fails for
//!    the larger one, too. Both results of `Frexp` are wrong for one reason, in different classes.
//!
//! Causes depend on the set of failures only, not on their order. Cases that belong to the same
//! groups are counted together, so memory does not grow with the number of cases.
//!
//! # Limits
//!
//! Two defects that affect the same instruction, class and region are one cause.

use crate::{
    case_table::NATIVE,
    name_family,
    scalar_types::{parse_types, shape, width},
};
use assay_events::{CaseResult, Cause, CheckResult, Event, Example, Representative, ScalarCount, Status};
use assay_precision::OperandRegion;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

/// Properties of a failing case that decide its causes.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    subject: Subject,
    groups: Vec<FailingScalars>,
    case: String,
    types: String,
    modes: String,
    source: String,
    scalars_checked: u64,
    reason: Option<String>,
}

/// Properties that the failures of a cause share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Subject {
    family: String,
    instruction: String,
    path: String,
    status: Status,
    /// Reason of a case without a verdict, see [`without_numbers`].
    reason: Option<String>,
}

/// Failing scalars of one case that belong to one group.
#[derive(Clone, Debug)]
struct FailingScalars {
    class: String,
    region: Option<OperandRegion>,
    count: u64,
    example: Option<Example>,
}

impl Failure {
    /// Returns the failure of a finished case or check; `None` for other events and for cases that
    /// do not fail.
    pub(crate) fn of(event: &Event) -> Option<Failure> {
        match event {
            Event::CaseFinished(case) => Failure::of_case(case),
            Event::CheckFinished(check) => Failure::of_check(check),
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => None,
        }
    }

    /// Returns the failure of a case; `None` if it does not fail.
    pub(crate) fn of_case(case: &CaseResult) -> Option<Failure> {
        if !case.status.is_failure() {
            return None;
        }
        let mut groups = Vec::new();
        for class in case.classes.iter().filter(|class| [case.status, class.status] == [Status::Fail; 2]) {
            let group = |region, count, example| FailingScalars { class: class.class.clone(), region, count, example };
            match class.regions.as_slice() {
                [] => groups.push(group(None, class.count, class.examples.first().cloned())),
                regions => groups.extend(
                    regions
                        .iter()
                        .map(|of| group(OperandRegion::from_name(&of.region), of.count, Some(of.example.clone()))),
                ),
            }
        }
        let subject = Subject {
            family: name_family(&case.name).to_owned(),
            instruction: subject_of(&case.name, &case.instruction).to_owned(),
            path: case.path.clone(),
            status: case.status,
            reason: None,
        };
        Some(Failure {
            case: case.name.clone(),
            types: case.types.clone(),
            modes: case.modes.clone(),
            source: case.source.clone(),
            scalars_checked: case.scalars_checked,
            ..Failure::new(subject, groups, case.reason.as_deref())
        })
    }

    /// Returns the failure of a check; `None` if it does not fail.
    pub(crate) fn of_check(check: &CheckResult) -> Option<Failure> {
        if !check.status.is_failure() {
            return None;
        }
        let failing = check.classes.iter().filter(|class| [check.status, class.status] == [Status::Fail; 2]);
        let groups = failing.map(|class| FailingScalars {
            class: class.class.clone(),
            region: None,
            count: class.count,
            example: class.examples.first().cloned(),
        });
        let subject = Subject {
            family: CHECK.to_owned(),
            instruction: check.blamed.first().map_or_else(String::new, |first| first.name.clone()),
            path: NATIVE.to_owned(),
            status: check.status,
            reason: None,
        };
        Some(Failure {
            case: check.name.clone(),
            scalars_checked: check.elements_checked,
            ..Failure::new(subject, groups.collect(), check.reason.as_deref())
        })
    }

    fn new(mut subject: Subject, mut groups: Vec<FailingScalars>, reason: Option<&str>) -> Failure {
        if groups.is_empty() {
            // Without a wrong scalar, the reason is all that is known.
            subject.reason = Some(without_numbers(reason.unwrap_or_default()));
            groups.push(FailingScalars { class: String::new(), region: None, count: 0, example: None });
        }
        Failure {
            subject,
            groups,
            case: String::new(),
            types: String::new(),
            modes: String::new(),
            source: String::new(),
            scalars_checked: 0,
            reason: reason.map(str::to_owned),
        }
    }

    /// Returns a key that is least for the case that explains a cause best.
    fn rank(&self, unexpected: bool) -> RepresentativeRank {
        let (results, operands) = parse_types(&self.types);
        let widths = ["f32", "f16", "f64"];
        let width = width(&self.types);
        RepresentativeRank {
            expected: !unexpected,
            scalars: results.len() + operands.len(),
            modes: if self.modes == DEFAULT { 0 } else { 1 + self.modes.matches('+').count() },
            constants: self.source != BUFFER,
            width: widths.iter().position(|known| *known == width).unwrap_or(widths.len()),
            name: self.case.clone(),
        }
    }
}

/// Returns the instruction of a case. Each whole shader is a subject of its own: what its group has
/// in common is no instruction.
fn subject_of<'a>(name: &'a str, instruction: &'a str) -> &'a str {
    if name_family(name) == WHOLE_SHADERS { name } else { instruction }
}

/// Family of whole shaders.
pub(crate) const WHOLE_SHADERS: &str = "compute";
/// Family of checks, whose names are paths of files.
pub(crate) const CHECK: &str = "check";
const DEFAULT: &str = "default";
const BUFFER: &str = "buffer";

/// Order of the cases of a cause; the least represents it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RepresentativeRank {
    expected: bool,
    scalars: usize,
    modes: usize,
    constants: bool,
    width: usize,
    name: String,
}

/// Replaces each number by `#`, so that reasons that differ in an address or a count are equal.
fn without_numbers(reason: &str) -> String {
    let mut text = String::new();
    let mut rest = reason;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        text += &rest[..start];
        text.push('#');
        // Hexadecimal digits and units belong to the number.
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    }
    text + rest
}

/// Adds failures up.
#[derive(Clone, Debug, Default)]
pub(crate) struct CauseCollector {
    numbers: HashMap<GroupKey, u32>,
    groups: Vec<Group>,
    set_numbers: HashMap<Vec<u32>, u32>,
    sets: Vec<CaseSet>,
    /// Checked cases by family, instruction and path.
    checked: HashMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct GroupKey {
    subject: Subject,
    class: String,
    region: Option<OperandRegion>,
}

#[derive(Clone, Debug)]
struct Group {
    key: GroupKey,
    scalars: u64,
    worst_margin: Option<f64>,
    widths: BTreeSet<String>,
    shapes: BTreeSet<String>,
    modes: BTreeSet<String>,
    sources: BTreeSet<String>,
    reason: Option<String>,
    rank: RepresentativeRank,
    representative: Representative,
}

/// Cases that belong to the same groups.
#[derive(Clone, Debug)]
struct CaseSet {
    groups: Vec<u32>,
    cases: u64,
    unexpected: u64,
    scalars_checked: u64,
}

/// Handle of the causes of one case ([`Causes::of`]); the default stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CauseSet(u32);

/// Result of adding a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddedFailure {
    pub(crate) set: CauseSet,
    /// True if the failure is the first of one of its groups.
    pub(crate) is_new: bool,
}

impl CauseCollector {
    /// Counts a checked case, whether it fails or not.
    pub(crate) fn count_checked(&mut self, name: &str, instruction: &str, path: &str) {
        let key = checked_key(name_family(name), subject_of(name, instruction), path);
        match self.checked.get_mut(&key) {
            Some(cases) => *cases += 1,
            None => _ = self.checked.insert(key, 1),
        }
    }

    /// Adds an event: counts a checked case, and adds a failure. `unexpected` is false if a
    /// list of the lab expects it.
    pub(crate) fn add_event(&mut self, event: &Event, unexpected: bool) -> Option<AddedFailure> {
        match event {
            Event::CaseFinished(case) if case.status.is_checked() => {
                self.count_checked(&case.name, &case.instruction, &case.path);
            }
            Event::CheckFinished(_)
            | Event::CaseFinished(_)
            | Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => {}
        }
        Failure::of(event).map(|failure| self.add(failure, unexpected))
    }

    /// Adds a failure.
    pub(crate) fn add(&mut self, failure: Failure, unexpected: bool) -> AddedFailure {
        let (rank, known) = (failure.rank(unexpected), self.groups.len());
        let mut numbers: Vec<u32> = failure.groups.iter().map(|of| self.add_scalars(&failure, of, &rank)).collect();
        let is_new = self.groups.len() > known;
        numbers.sort_unstable();
        let set = *self.set_numbers.entry(numbers.clone()).or_insert_with(|| {
            self.sets.push(CaseSet { groups: numbers, cases: 0, unexpected: 0, scalars_checked: 0 });
            self.sets.len() as u32
        });
        let counts = &mut self.sets[set as usize - 1];
        counts.cases += 1;
        counts.unexpected += u64::from(unexpected);
        counts.scalars_checked += failure.scalars_checked;
        AddedFailure { set: CauseSet(set), is_new }
    }

    /// Adds scalars to their group and returns its number.
    fn add_scalars(&mut self, failure: &Failure, of: &FailingScalars, rank: &RepresentativeRank) -> u32 {
        let key = GroupKey { subject: failure.subject.clone(), class: of.class.clone(), region: of.region };
        let representative =
            || Representative { case: failure.case.clone(), types: failure.types.clone(), example: of.example.clone() };
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            self.groups.push(Group {
                key: key.clone(),
                scalars: 0,
                worst_margin: None,
                widths: BTreeSet::new(),
                shapes: BTreeSet::new(),
                modes: BTreeSet::new(),
                sources: BTreeSet::new(),
                reason: failure.reason.clone(),
                rank: rank.clone(),
                representative: representative(),
            });
            self.groups.len() as u32 - 1
        });
        let group = &mut self.groups[number as usize];
        group.scalars += of.count;
        let margin = of.example.as_ref().and_then(|example| example.margin);
        group.worst_margin = [group.worst_margin, margin].into_iter().flatten().reduce(f64::max);
        for (list, text) in [
            (&mut group.widths, width(&failure.types)),
            (&mut group.shapes, shape(&failure.types).unwrap_or_default().to_owned()),
            (&mut group.modes, failure.modes.clone()),
            (&mut group.sources, failure.source.clone()),
        ] {
            if !text.is_empty() && !list.contains(&text) {
                list.insert(text);
            }
        }
        if *rank < group.rank {
            (group.rank, group.representative) = (rank.clone(), representative());
            group.reason.clone_from(&failure.reason);
        }
        number
    }

    /// Returns the causes of all failures so far.
    pub(crate) fn causes(&self) -> Causes {
        let mut containing: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.groups.len()];
        for (set, CaseSet { groups, .. }) in self.sets.iter().enumerate() {
            groups.iter().for_each(|&group| _ = containing[group as usize].insert(set));
        }
        let mut subjects: BTreeMap<&Subject, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&a, &b| self.groups[a].key.cmp(&self.groups[b].key));
        for group in order {
            let GroupKey { subject, class, .. } = &self.groups[group].key;
            subjects.entry(subject).or_default().entry(class).or_default().push(group);
        }
        let mut causes: Vec<(Cause, BTreeSet<usize>)> = Vec::new();
        for classes in subjects.values() {
            for groups in self.joined(classes.values(), &containing) {
                let sets = groups.iter().flat_map(|&group| containing[group].iter().copied()).collect();
                causes.push((self.cause(&groups, &sets), sets));
            }
        }
        causes.sort_by(|(a, _), (b, _)| {
            let rank = |of: &Cause| (of.unexpected == 0, Reverse(crate::tally::severity(of.status)), Reverse(of.cases));
            rank(a).cmp(&rank(b)).then_with(|| a.title.cmp(&b.title)).then_with(|| a.family.cmp(&b.family))
        });
        let mut of_set = vec![Vec::new(); self.sets.len()];
        for (at, (_, sets)) in causes.iter().enumerate() {
            sets.iter().for_each(|&set| of_set[set].push(at));
        }
        Causes { list: causes.into_iter().map(|(cause, _)| cause).collect(), of_set }
    }

    /// Joins the groups of a subject, given by class, to causes.
    fn joined<'a>(
        &self,
        classes: impl Iterator<Item = &'a Vec<usize>>,
        containing: &[BTreeSet<usize>],
    ) -> Vec<Vec<usize>> {
        let region = |group: usize| self.groups[group].key.region;
        let mut drafts: Vec<Vec<usize>> = Vec::new();
        for groups in classes {
            match groups.iter().any(|&group| region(group) == Some(OperandRegion::Moderate)) {
                true => drafts.push(groups.clone()),
                false => drafts.extend(groups.iter().map(|&group| vec![group])),
            }
        }
        let sets = |groups: &[usize]| -> BTreeSet<usize> {
            groups.iter().flat_map(|&group| containing[group].iter().copied()).collect()
        };
        // The sort is stable, and the groups are in the order of their keys.
        drafts.sort_by_key(|groups| Reverse(sets(groups).iter().map(|&set| self.sets[set].cases).sum::<u64>()));
        let mut causes: Vec<Vec<usize>> = Vec::new();
        for groups in drafts {
            let cases = sets(&groups);
            let shares_region = |other: &[usize]| other.iter().any(|&a| groups.iter().any(|&b| region(a) == region(b)));
            match causes.iter_mut().find(|other| shares_region(other) && sets(other).is_superset(&cases)) {
                Some(other) => other.extend(groups),
                None => causes.push(groups),
            }
        }
        causes
    }

    fn cause(&self, groups: &[usize], sets: &BTreeSet<usize>) -> Cause {
        let of: Vec<&Group> = groups.iter().map(|&group| &self.groups[group]).collect();
        let best = of.iter().min_by(|a, b| {
            let order = a.rank.cmp(&b.rank).then_with(|| b.scalars.cmp(&a.scalars));
            order.then_with(|| a.key.cmp(&b.key))
        });
        let best = *best.expect("a cause has a group");
        let Subject { family, instruction, path, status, .. } = best.key.subject.clone();
        let classes = scalar_counts(of.iter().map(|group| (group.key.class.as_str(), group.scalars)));
        let regions =
            of.iter().filter_map(|group| Some((group.key.region?, group.scalars))).map(|(r, n)| (r.name(), n));
        let regions = scalar_counts(regions);
        let union = |list: fn(&Group) -> &BTreeSet<String>| -> Vec<String> {
            of.iter().flat_map(|group| list(group)).cloned().collect::<BTreeSet<_>>().into_iter().collect()
        };
        let count = |number: fn(&CaseSet) -> u64| sets.iter().map(|&set| number(&self.sets[set])).sum();
        let reason = best.key.subject.reason.as_ref().and(best.reason.clone());
        let checked = self.checked.get(&checked_key(&family, &instruction, &path)).copied().unwrap_or(0);
        let mut cause = Cause {
            title: String::new(),
            checked_cases: checked,
            status,
            family,
            instruction,
            path,
            classes,
            regions,
            reason,
            cases: count(|set| set.cases),
            unexpected: count(|set| set.unexpected),
            scalars: of.iter().map(|group| group.scalars).sum(),
            scalars_checked: count(|set| set.scalars_checked),
            worst_margin: of.iter().filter_map(|group| group.worst_margin).reduce(f64::max),
            widths: union(|group| &group.widths),
            shapes: union(|group| &group.shapes),
            modes: union(|group| &group.modes),
            sources: union(|group| &group.sources),
            representative: best.representative.clone(),
        };
        cause.title = crate::cause_text::title(&cause);
        cause
    }
}

fn checked_key(family: &str, instruction: &str, path: &str) -> String {
    [family, instruction, path].join("\0")
}

/// Adds the counts of equal names up, most frequent first. The empty name, of a case without a
/// verdict, is left out.
fn scalar_counts<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Vec<ScalarCount> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in counts.filter(|(name, _)| !name.is_empty()) {
        *sums.entry(name).or_default() += count;
    }
    let mut list: Vec<ScalarCount> =
        sums.into_iter().map(|(name, count)| ScalarCount { name: name.to_owned(), count }).collect();
    list.sort_by_key(|of| Reverse(of.count));
    list
}

/// Causes of the failures of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes {
    /// The causes in the order in which reports list them.
    pub(crate) list: Vec<Cause>,
    of_set: Vec<Vec<usize>>,
}

impl Causes {
    /// Returns the indices of the causes of a case.
    pub(crate) fn of(&self, set: CauseSet) -> &[usize] {
        let at = (set.0 as usize).checked_sub(1);
        at.and_then(|at| self.of_set.get(at)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
#[path = "causes_tests.rs"]
mod tests;
