//! Equivalence check: the results of another translation of a shader must be permitted by the first
//! one.
//!
//! No device takes part (translation validation: Pnueli, Siegel and Singerman, TACAS 1998). The
//! oracle computes the permitted sets of both modules for the same dispatch, and each set of the
//! other must lie inside the set of the first.
//!
//! * If an element's sets have no common member, the translation fails.
//! * If the other set is larger, the translation gets a warning, and also if it adds undefined
//!   behaviour.
//! * If the other set is smaller, it passes.
//!
//! Values that a case file expects are compared with the permitted sets of the first module.

use crate::CheckError;
use crate::check::{Check, oracle};
use crate::check_run::{UndefinedRounds, executed_instructions};
use crate::compare::{Permitted, compare as compare_left, count_mismatch, data_of, hex, ranges};
use crate::expectation::{ExpectationStatus, InterpretedRound};
use crate::fault_kinds::{description_of_faults, on_one_line};
use crate::memory_layout::{Element, MemoryContents, path_text, read_bits};
use crate::status::{BENIGN_RACES, hollow_reason, qualify_by_benign_race};
use assay_events::{
    BindingWrites, CheckResult, Mismatch, Status, UndeterminedElements, UnjudgedRound, Writes, class_names,
};
use assay_exec::{Descriptor, Target};
use assay_float::RankRange;
use assay_oracle::{
    Copies, Dispatch, ExecutedBlocks, Expected, FaultKind, Memory, Outcome, PossibleFault, RunError, Slot,
};
use assay_precision::Scalar;
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::Op;
use std::collections::BTreeSet;
use std::time::Instant;

/// Compares the permitted sets of `other` with those of `this` in every round. The target only
/// gives the subgroup size.
///
/// # Errors
/// A round cannot be interpreted.
pub fn check_equivalence(this: &Check<'_>, other: &Check<'_>, target: &dyn Target) -> Result<CheckResult, CheckError> {
    let started = Instant::now();
    let mut result = this.blank();
    result.name = format!("{} against {}", other.shader.name, this.shader.name);
    let (mut open, mut known) = (0, [0u64; 4]);
    result.writes = Some(Writes::default());
    // First round in which only the other module has undefined behaviour.
    let mut added = None;
    let mut benign_race = None;
    for round in 0..this.setup.rounds {
        let mut dispatch = this.dispatch(round, target)?;
        this.put_synthetic_addresses(&mut dispatch);
        let permitted = this.permitted(&dispatch)?;
        let mut theirs = dispatch.clone();
        theirs.bindings.retain(|slot, _| other.setup.descriptors.iter().any(|d| d.slot == *slot));
        let found = other.interpret(&theirs).map_err(|error| not_comparable(this, other, error))?;
        result.instructions += permitted.instructions + found.instructions;
        for (check, outcome) in [(this, &permitted), (other, &found)] {
            benign_race = benign_race.or_else(|| check.first_benign_race(outcome));
        }
        let undefined = [(this, &permitted), (other, &found)].into_iter().filter_map(|(check, outcome)| {
            let faults = check.faults(outcome);
            let (name, first) = (&check.shader.name, on_one_line(faults.first()?));
            let what = description_of_faults(outcome);
            Some(format!("{name} {what}: {first}"))
        });
        let undefined: Vec<String> = undefined.collect();
        if !undefined.is_empty() {
            let why = format!("was skipped because {}", undefined.join(", and "));
            result.unjudged.push(UnjudgedRound { round, why });
        }
        if permitted.fault_count + found.fault_count > 0 {
            // An invocation that exceeds the limits may still end.
            let is_defined = found.faults.iter().all(|fault| fault.kind == FaultKind::Endless);
            added = added.or((permitted.fault_count == 0 && !is_defined).then_some(round));
            continue;
        }
        let judged = |result: &CheckResult| {
            let bindings = result.writes.iter().flat_map(|writes| &writes.bindings);
            bindings.map(|of| of.falsifiable).sum::<u64>() + result.elements_failing + result.elements_warning
        };
        let before = judged(&result) + known[ExpectationStatus::Permitted as usize];
        let hold = |permitted: &Outcome, result: &mut CheckResult| -> u64 {
            let written = this.setup.descriptors.iter().filter(|d| d.is_read_back());
            let between = |descriptor| BindingPair { descriptor, dispatch: &dispatch, permitted, found: &found, round };
            written.map(|descriptor| between(descriptor).compare(may_write(other, descriptor.slot), result)).sum()
        };
        let mut held = result.clone();
        let mut unknown = hold(&permitted, &mut held);
        let wrong = |result: &CheckResult| result.elements_failing + result.elements_warning;
        if wrong(&held) > wrong(&result) {
            let by_letter = this.permitted(&Dispatch { copies: Copies::Assume, ..dispatch.clone() })?;
            held = result;
            unknown = hold(&by_letter, &mut held);
        }
        result = held;
        open += unknown;
        let of = InterpretedRound { number: round, dispatch: &dispatch, outcome: &permitted };
        for expected in &this.expected {
            known[expected.check_permitted(of, &mut result) as usize] += 1;
        }
        if judged(&result) + known[ExpectationStatus::Permitted as usize] > before {
            result.rounds_checked += 1;
        } else {
            let why = "wrote no determined element".to_owned();
            result.unjudged.push(UnjudgedRound { round, why });
        }
    }
    let (name, theirs) = (&this.shader.name, &other.shader.name);
    result.notes.extend(expectation_note(known, name));
    if open > 0 {
        let place = "one of the two modules".to_owned();
        result.undetermined.push(UndeterminedElements { cause: "not determined".into(), place, elements: open });
        result.elements_undetermined = open;
    }
    result.writes = result.writes.map(|writes| Writes::of(writes.bindings));
    let of = result.elements_checked;
    let hollow = result.writes.as_ref().is_none_or(|writes| writes.falsifiable == 0);
    (result.status, result.reason) = match (result.elements_failing, result.elements_warning, added) {
        (0, 0, Some(round)) => {
            let what = format!("{theirs} has undefined behaviour in round {round}, and {name} does not");
            (Status::QualityWarning, Some(what))
        }
        (0, 0, None) if hollow && known[ExpectationStatus::Permitted as usize] == 0 => {
            let advice = this.advice_to_vary();
            (Status::Undetermined, Some(hollow_reason(&result, advice.as_deref())))
        }
        (0, 0, None)
            if known[ExpectationStatus::Permitted as usize] == 0
                && known[ExpectationStatus::Undecided as usize] > 0 =>
        {
            let what = "the oracle decides none of the expectations of the case file".to_owned();
            (Status::Undetermined, Some(what))
        }
        (0, 0, None) => (Status::Pass, None),
        (0, n, _) => {
            let what = format!(
                "{n} of {of} elements may have values that {name} does not permit, or permits by a lenient reading only"
            );
            (Status::QualityWarning, Some(what))
        }
        (n, ..) if result.fails_only_the_case() => {
            let expectations = if n == 1 { "expectation" } else { "expectations" };
            (
                Status::Fail,
                Some(format!("{n} {expectations} of the case file cannot be met: {name} never permits the value")),
            )
        }
        (n, ..) => (Status::Fail, Some(format!("{n} of {of} elements never have a value that {name} permits"))),
    };
    if let Some(race) = benign_race {
        qualify_by_benign_race(&mut result, &race);
    }
    result.times.check = started.elapsed().as_secs_f64();
    result.times.wall = result.times.check;
    Ok(result)
}

/// Interprets every round without a device: finds undefined behaviour, counts the determined
/// elements, and compares the expectations of a case file with the permitted sets. The target only
/// gives limits. No device is judged, so a Pass requires expectations, all of which are permitted.
///
/// # Errors
/// A round cannot be interpreted, or every round has undefined behaviour.
pub fn interpret_only(check: &Check<'_>, limits: &dyn Target) -> Result<CheckResult, CheckError> {
    let started = Instant::now();
    let mut result = check.blank();
    let (mut open, mut known) = (0, [0u64; 4]);
    let mut undefined = UndefinedRounds::default();
    let mut possible: Option<PossibleFault> = None;
    let (mut executed, mut benign_race) = (ExecutedBlocks::default(), None);
    result.writes = Some(Writes::default());
    for round in 0..check.setup.rounds {
        let mut dispatch = check.dispatch(round, limits)?;
        check.put_synthetic_addresses(&mut dispatch);
        let permitted = check.permitted(&dispatch)?;
        result.instructions += permitted.instructions;
        if permitted.fault_count > 0 {
            result.unjudged.push(undefined.add(check, (round, "was not interpreted to its end"), &permitted));
            continue;
        }
        result.rounds_checked += 1;
        executed.add(&permitted.executed);
        possible = possible.or(permitted.possible_faults.first().copied());
        benign_race = benign_race.or_else(|| check.first_benign_race(&permitted));
        for descriptor in check.setup.descriptors.iter().filter(|d| d.is_read_back()) {
            let pair = BindingPair { descriptor, dispatch: &dispatch, permitted: &permitted, found: &permitted, round };
            open += pair.compare(descriptor.may_be_written, &mut result);
        }
        let interpreted = InterpretedRound { number: round, dispatch: &dispatch, outcome: &permitted };
        for expected in &check.expected {
            known[expected.check_permitted(interpreted, &mut result) as usize] += 1;
        }
    }
    if undefined.count == check.setup.rounds {
        return Err(undefined.error(check));
    }
    result.notes.extend(expectation_note(known, &check.shader.name));
    if open > 0 {
        let place = "several places".to_owned();
        result.undetermined.push(UndeterminedElements { cause: "not determined".into(), place, elements: open });
        result.elements_undetermined = open;
    }
    result.writes = result.writes.map(|writes| Writes::of(writes.bindings));
    result.executed = executed_instructions(check, &executed);
    let [are_permitted, never, ..] = known;
    (result.status, result.reason) = match (never, are_permitted) {
        (1.., _) => (Status::Fail, Some("the specification never permits what the case file expects".to_owned())),
        (0, 1..) => (Status::Pass, None),
        (0, 0) => {
            let what = match (undefined.count, possible) {
                (0, None) if let Some(race) = &benign_race => format!("{BENIGN_RACES}: {race}"),
                (0, None) => "the shader has no undefined behaviour with these inputs".to_owned(),
                (0, Some(possible)) => {
                    let possible = check.described_fault(&possible, None);
                    format!("with these inputs Assay cannot rule out {possible}")
                }
                (1.., _) => format!(
                    "the shader has undefined behaviour with the inputs of {} of {} rounds: {}",
                    undefined.count,
                    check.setup.rounds,
                    undefined.first_fault()
                ),
            };
            (Status::Undetermined, Some(format!("no device ran; {what}")))
        }
    };
    if let Some(race) = &benign_race {
        qualify_by_benign_race(&mut result, race);
    }
    result.times.check = started.elapsed().as_secs_f64();
    result.times.wall = result.times.check;
    Ok(result)
}

/// Returns the error of interpreting `other` with the bindings of `this`.
fn not_comparable(this: &Check<'_>, other: &Check<'_>, error: RunError) -> CheckError {
    let RunError::Unbound { slot } = error else { return oracle(other.shader, error) };
    let descriptor = other.setup.descriptors.iter().find(|d| d.slot == slot);
    let label = descriptor.map_or_else(|| slot.to_string(), Descriptor::label);
    let (name, theirs) = (&this.shader.name, &other.shader.name);
    CheckError::option(format!("{theirs} uses {label}, which {name} lacks: they cannot be compared"))
}

/// Returns a note on the expectations of the case file, counted in the order of
/// [`ExpectationStatus`]; `None` if there are none.
fn expectation_note([permitted, never, undecided, unwritten]: [u64; 4], name: &str) -> Option<String> {
    let all = permitted + never + undecided + unwritten;
    let not = |number: u64, one: &str, more: &str| match number {
        0 => String::new(),
        1 => format!(", 1 {one}"),
        _ => format!(", {number} {more}"),
    };
    (all > 0).then(|| {
        format!(
            "the case file's expectations, counted in each round: {permitted} of {all} permitted by {name}{}{}{}",
            not(never, "is not", "are not"),
            not(undecided, "names an undetermined element", "name undetermined elements"),
            not(unwritten, "names an element that nothing writes", "name elements that nothing writes")
        )
    })
}

/// Relation between the output of a target and the permitted sets of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranslationVerdict {
    /// The translation does not permit the output.
    NotPermitted,
    /// The translation permits the output, or does not constrain it.
    Permitted,
    /// The oracle does not know.
    Unknown,
}

/// Runs every round of `this` on a target, and compares the output with the permitted sets of
/// `other`, the translation that the target runs internally.
///
/// # Errors
/// A round cannot be interpreted, or does not run.
pub fn check_translation_of_target(
    this: &Check<'_>,
    other: &Check<'_>,
    target: &dyn Target,
) -> Result<TranslationVerdict, String> {
    let mut verdict = TranslationVerdict::Permitted;
    for round in 0..this.setup.rounds {
        target.begin_round(round, None);
        let mut dispatch = this.dispatch(round, target).map_err(|error| error.to_string())?;
        let allocated =
            this.allocate(&mut dispatch, &this.setup.descriptors, target).map_err(|error| error.to_string())?;
        let output = target.run(&this.request(&dispatch, allocated.as_ref())).map_err(|error| error.to_string())?;
        dispatch.copies = Copies::Assume;
        let mut theirs = dispatch.clone();
        theirs.robustness = other.robustness;
        theirs.bindings.retain(|slot, _| other.setup.descriptors.iter().any(|d| d.slot == *slot));
        let found = other.permitted(&theirs).map_err(|error| error.to_string())?;
        if found.fault_count > 0 {
            continue;
        }
        let held = compare_left(&found, &dispatch, &this.setup, &output.memory, (round, false));
        if held.failing > 0 {
            return Ok(TranslationVerdict::NotPermitted);
        }
        let limits = held.undetermined.keys().flatten().filter_map(|cause| found.causes.get(*cause as usize));
        if limits.into_iter().any(|cause| !cause.kind.is_of_the_text()) {
            verdict = TranslationVerdict::Unknown;
        }
    }
    Ok(verdict)
}

/// Returns whether a shader may write the resource at a slot.
fn may_write(check: &Check<'_>, slot: Slot) -> bool {
    check.setup.descriptors.iter().any(|d| d.slot == slot && d.may_be_written)
}

/// A binding of both modules.
struct BindingPair<'a> {
    descriptor: &'a Descriptor,
    dispatch: &'a Dispatch,
    permitted: &'a Outcome,
    found: &'a Outcome,
    round: u32,
}

impl BindingPair<'_> {
    /// Compares the permitted sets of a binding; `changed` is set if the other module may write it.
    /// Returns the number of undetermined elements.
    fn compare(&self, changed: bool, result: &mut CheckResult) -> u64 {
        let &BindingPair { descriptor, dispatch, permitted, found, round } = self;
        let (Some(memory), Some(contents)) = (permitted.memory.get(&descriptor.slot), MemoryContents::of(descriptor))
        else {
            return 0;
        };
        let Some(before) = data_of(dispatch, descriptor.slot) else { return 0 };
        let mut open = 0;
        let mut writes = BindingWrites { binding: descriptor.label(), ..BindingWrites::default() };
        let theirs_of = found.memory.get(&descriptor.slot).filter(|_| changed);
        contents.walk_scalars(descriptor.bytes, &mut |element: Element, path| {
            let (at, scalar) = (element.offset, element.scalar);
            let by = |memory: &Memory| memory.is_written(at, element.bytes());
            let written = descriptor.may_be_written && by(memory) || theirs_of.is_some_and(by);
            writes.elements += 1;
            writes.written += u64::from(written);
            let Some(usual) = Permitted::of(memory, at, scalar.width()) else { return open += 1 };
            // A resource that the other module does not bind keeps its contents.
            let theirs = match found.memory.get(&descriptor.slot) {
                Some(memory) => Permitted::of(memory, at, scalar.width()).map(|p| p.expected),
                None => read_bits(before, at, scalar.width()).map(Expected::Exact),
            };
            let Some(theirs) = theirs else { return open += 1 };
            let verdict = relation(&usual, &theirs, found, scalar);
            let decided = written && !matches!(verdict, SetRelation::Open) && usual.can_be_wrong(scalar.width());
            writes.falsifiable += u64::from(decided);
            let (status, got) = match verdict {
                SetRelation::Within if descriptor.may_be_written || changed => return result.elements_checked += 1,
                // An unchanged element is not a result.
                SetRelation::Within => return,
                SetRelation::Open => return open += 1,
                SetRelation::Wider(got) => (Status::QualityWarning, got),
                SetRelation::Changed(got) => (Status::Fail, got),
            };
            result.elements_checked += 1;
            let (class, count) = match status {
                Status::Fail => (class_names::CHANGED, &mut result.elements_failing),
                _ => (class_names::WIDER, &mut result.elements_warning),
            };
            *count += 1;
            count_mismatch(&mut result.mismatches, &mut result.classes, (status, class), || Mismatch {
                status,
                round,
                buffer: descriptor.label(),
                element: path_text(path),
                offset: at,
                scalar: scalar.to_string(),
                invocation: None,
                before: hex(scalar, element.read(before).unwrap_or(0)),
                got,
                permitted: ranges(scalar, &usual.expected),
                class: class.into(),
                by: Mismatch::SPECIFICATION.into(),
            });
        });
        if !(changed || descriptor.may_be_written) {
            return open;
        }
        let bindings = &mut result.writes.get_or_insert_default().bindings;
        match bindings.iter_mut().find(|of| of.binding == writes.binding) {
            Some(of) => of.add(&writes),
            None => bindings.push(writes),
        }
        open
    }
}

/// Returns the words of a module without source information, which older tools may not understand.
pub fn without_source(module: &Module) -> Vec<u32> {
    let sources: BTreeSet<u32> = module.section(Section::Sources).map(|i| i.index.0).collect();
    let mut words = module.words().get(..5).unwrap_or_default().to_vec();
    let kept = |i: &Instruction<'_>| {
        !sources.contains(&i.index.0) && !matches!(i.op, Some(Op::Line | Op::NoLine | Op::ModuleProcessed))
    };
    for i in module.instructions().filter(kept) {
        words.extend_from_slice(i.words);
    }
    words
}

/// Relation of the other module's permitted set to that of the first.
enum SetRelation {
    /// Subset.
    Within,
    /// Overlapping, or a subset only in a lenient reading; with the first additional member in
    /// hexadecimal.
    Wider(String),
    /// Disjoint; with the first member in hexadecimal.
    Changed(String),
    /// Not known, or nothing is required.
    Open,
}

fn relation(ours: &Permitted<'_>, theirs: &Expected, found: &Outcome, scalar: Scalar) -> SetRelation {
    if ours.expected.is_open() {
        return SetRelation::Open;
    }
    if let (Expected::Float { format: a, .. }, Expected::Float { format: b, .. }) = (&ours.expected, theirs)
        && a != b
    {
        return SetRelation::Open;
    }
    if theirs.is_open() {
        // The first module determines the element, but the specification does not determine it for
        // the other.
        let cause = match theirs {
            Expected::Undetermined(cause) => found.causes.get(*cause as usize),
            _ => None,
        };
        let unknown = cause.is_some_and(|cause| !cause.kind.is_of_the_text());
        return if unknown { SetRelation::Open } else { SetRelation::Wider("anything".to_owned()) };
    }
    let Some(got) = first_outside(theirs, &ours.expected, scalar) else { return SetRelation::Within };
    match ours.lenient {
        Some(lenient) if lenient.is_open() => SetRelation::Open,
        lenient if intersect(&ours.expected, theirs) || lenient.is_some_and(|lenient| intersect(lenient, theirs)) => {
            SetRelation::Wider(got)
        }
        _ => SetRelation::Changed(got),
    }
}

/// Returns the members of a set that is given by a list.
fn patterns(expected: &Expected) -> Option<&[u64]> {
    match expected {
        Expected::Exact(bits) => Some(std::slice::from_ref(bits)),
        Expected::OneOf(patterns) => Some(patterns),
        Expected::Float { .. } | Expected::Undetermined(_) => None,
    }
}

/// Returns the first member of `theirs` that is not in `ours`, in hexadecimal or as `nan`.
fn first_outside(theirs: &Expected, ours: &Expected, scalar: Scalar) -> Option<String> {
    let Expected::Float { format, set } = theirs else {
        let out = |bits: &&u64| ours.permits(**bits) == Some(false);
        return patterns(theirs)?.iter().find(out).map(|bits| hex(scalar, *bits));
    };
    let (mut rest, mut nan) = (set.clone(), set.has_nan());
    if let Expected::Float { set, .. } = ours {
        set.ranges().iter().for_each(|range| rest.remove(*range));
        nan &= !set.has_nan();
    }
    let numbers = patterns(ours).unwrap_or_default().iter().filter(|bits| !format.is_nan(**bits));
    numbers.for_each(|bits| rest.remove(RankRange::point(format.rank(*bits))));
    let first = rest.ranges().first().map(|range| hex(scalar, format.bits(range.lo)));
    first.or(nan.then(|| "nan".to_owned()))
}

/// Returns whether two sets have a common member.
fn intersect(a: &Expected, b: &Expected) -> bool {
    let permits = |of: &Expected, bits: &[u64]| bits.iter().any(|bits| of.permits(*bits) == Some(true));
    match (a, b, patterns(a), patterns(b)) {
        (.., Some(bits), _) => permits(b, bits),
        (.., Some(bits)) => permits(a, bits),
        (Expected::Float { set: a, .. }, Expected::Float { set: b, .. }, ..) => {
            a.has_nan() && b.has_nan() || a.ranges().iter().any(|range| b.meets(*range))
        }
        _ => false,
    }
}
