//! Equivalence: is another translation of a shader within what this one permits?
//!
//! No device takes part. The oracle computes what each of the two modules permits for the same dispatch; every set of the
//! other must lie inside the set of this one. A compiler that changes a result so that none is left that both permit has
//! failed; one that widens what a driver may do gets a warning, as it does for undefined behaviour that it adds; one that narrows it is
//! not accused. Values that a case file expects are held against what the case's own shader permits.

use crate::check::{Check, on_one_line};
use crate::device::Target;
use crate::elements::{Element, path_text, read_bits};
use crate::expectation::{Known, Round};
use crate::status::{TRY, hollow_reason};
use crate::verdict::{Permitted, compare as compare_left, data_of, hex, keep, ranges};
use crate::{CheckError, Descriptor};
use assay_float::RankRange;
use assay_oracle::{Copies, Dispatch, Expected, FaultKind, Memory, Outcome, Slot};
use assay_precision::Scalar;
use assay_runner::{BindingWrites, CheckResult, Mismatch, Status, Undetermined, UnjudgedRound, Writes, class};
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::Op;
use std::collections::BTreeSet;
use std::time::Instant;

/// Holds what `other` permits against what `this` permits, in every round. The target only says how wide subgroups are.
///
/// # Errors
/// A round cannot be interpreted.
pub fn against(this: &Check<'_>, other: &Check<'_>, target: &dyn Target) -> Result<CheckResult, CheckError> {
    let started = Instant::now();
    let mut result = this.blank();
    result.name = format!("{} against {}", other.subject.name, this.subject.name);
    let (mut open, mut known) = (0, [0u64; 4]);
    result.writes = Some(Writes::default());
    // Undefined behaviour of the other, where this one's is defined.
    let mut added = None;
    for round in 0..this.setup.rounds {
        let mut dispatch = this.dispatch(round, target)?;
        this.place_anywhere(&mut dispatch);
        let permitted = this.permitted(&dispatch)?;
        let mut theirs = dispatch.clone();
        theirs.bindings.retain(|slot, _| other.setup.descriptors.iter().any(|d| d.slot == *slot));
        let found = other.permitted(&theirs)?;
        result.instructions += permitted.instructions + found.instructions;
        let undefined = [(this, &permitted), (other, &found)].into_iter().filter_map(|(check, outcome)| {
            let faults = check.faults(outcome);
            let (name, first) = (&check.subject.name, on_one_line(faults.first()?));
            Some(format!("the behaviour of {name} is undefined in it: {first}"))
        });
        let undefined: Vec<String> = undefined.collect();
        if !undefined.is_empty() {
            let why = format!("is left out, {}", undefined.join(", and "));
            result.unjudged.push(UnjudgedRound { round, why });
        }
        if permitted.fault_count + found.fault_count > 0 {
            // What does not end within the limits may end.
            let is_defined = found.faults.iter().all(|fault| fault.kind == FaultKind::Endless);
            added = added.or((permitted.fault_count == 0 && !is_defined).then_some(round));
            continue;
        }
        let judged = |result: &CheckResult| {
            let bindings = result.writes.iter().flat_map(|writes| &writes.bindings);
            bindings.map(|of| of.falsifiable).sum::<u64>() + result.elements_failing + result.elements_warning
        };
        let before = judged(&result) + known[Known::Permitted as usize];
        let hold = |permitted: &Outcome, result: &mut CheckResult| -> u64 {
            let written = this.setup.descriptors.iter().filter(|d| d.is_read_back());
            let between = |descriptor| Between { descriptor, dispatch: &dispatch, permitted, found: &found, round };
            written.map(|descriptor| between(descriptor).compare(changes(other, descriptor.slot), result)).sum()
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
        let of = Round { number: round, dispatch: &dispatch, outcome: &permitted };
        for expected in &this.expected {
            known[expected.hold_permitted(of, &mut result) as usize] += 1;
        }
        if judged(&result) + known[Known::Permitted as usize] > before {
            result.rounds_checked += 1;
        } else {
            let why = "wrote nothing that is determined".to_owned();
            result.unjudged.push(UnjudgedRound { round, why });
        }
    }
    let (name, theirs) = (&this.subject.name, &other.subject.name);
    result.notes.extend(told(known, name));
    if open > 0 {
        let place = "one of the two modules".to_owned();
        result.undetermined.push(Undetermined { cause: "not determined".into(), place, elements: open });
        result.elements_undetermined = open;
    }
    result.writes = result.writes.map(|writes| Writes::of(writes.bindings));
    let of = result.elements_checked;
    let hollow = result.writes.as_ref().is_none_or(|writes| writes.falsifiable == 0);
    (result.status, result.reason) = match (result.elements_failing, result.elements_warning, added) {
        (0, 0, Some(round)) => {
            let what = format!("in round {round} the behaviour of {theirs} is undefined, that of {name} is not");
            (Status::QualityWarning, Some(what))
        }
        (0, 0, None) if hollow && known[Known::Permitted as usize] == 0 => {
            let advice = this.advice(TRY);
            (Status::Undetermined, Some(hollow_reason(result.writes.as_ref(), advice.as_deref())))
        }
        (0, 0, None) if known[Known::Permitted as usize] == 0 && known[Known::Undecided as usize] > 0 => {
            let what = "the oracle decides none of the expectations of the case file".to_owned();
            (Status::Undetermined, Some(what))
        }
        (0, 0, None) => (Status::Pass, None),
        (0, n, _) => {
            let what = format!(
                "{n} of {of} elements may also become what {name} does not permit, or by a lenient reading only"
            );
            (Status::QualityWarning, Some(what))
        }
        (n, ..) if result.fails_only_the_case() => {
            (Status::Fail, Some(format!("{n} of {of} elements are never what the case file expects")))
        }
        (n, ..) => (Status::Fail, Some(format!("{n} of {of} elements are never what {name} permits"))),
    };
    result.times.check = started.elapsed().as_secs_f64();
    result.times.wall = result.times.check;
    Ok(result)
}

/// Says what the expectations of a case came to, in the order of [`Known`], if there are any.
fn told([permitted, never, undecided, unwritten]: [u64; 4], name: &str) -> Option<String> {
    let all = permitted + never + undecided + unwritten;
    let not = |number: u64, what: &str| if number == 0 { String::new() } else { format!(", {number} {what}") };
    (all > 0).then(|| {
        format!(
            "expectations of the case file, round by round: {permitted} of {all} permitted by {name}{}{}{}",
            not(never, "not permitted"),
            not(undecided, "undecided, as the oracle does not determine the element"),
            not(unwritten, "about an element that nothing writes")
        )
    })
}

/// How what a target leaves stands to a translation of the shader that it was given instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translated {
    /// It is not what the translation permits.
    Wrong,
    /// The translation permits it, or requires nothing of what it is.
    Open,
    /// The oracle cannot tell.
    Unknown,
}

/// Has a target run every round of `this`, and holds what it leaves against what `other` permits, a translation that the target runs
/// instead.
///
/// # Errors
/// A round cannot be interpreted, or does not run: in words.
pub fn translated(this: &Check<'_>, other: &Check<'_>, target: &dyn Target) -> Result<Translated, String> {
    let mut stands = Translated::Open;
    for round in 0..this.setup.rounds {
        target.begin(round);
        let mut dispatch = this.dispatch(round, target).map_err(|error| error.to_string())?;
        let placed = this.place(&mut dispatch, &this.setup.descriptors, target).map_err(|error| error.to_string())?;
        let left = target.run(&this.job(&dispatch, placed.as_ref())).map_err(|error| error.to_string())?;
        dispatch.copies = Copies::Assume;
        let mut theirs = dispatch.clone();
        theirs.robustness = other.robustness;
        theirs.bindings.retain(|slot, _| other.setup.descriptors.iter().any(|d| d.slot == *slot));
        let found = other.permitted(&theirs).map_err(|error| error.to_string())?;
        if found.fault_count > 0 {
            continue;
        }
        let held = compare_left(&found, &dispatch, &this.setup.descriptors, &left.memory, (round, false));
        if held.failing > 0 {
            return Ok(Translated::Wrong);
        }
        let limits = held.undetermined.keys().flatten().filter_map(|cause| found.causes.get(*cause as usize));
        if limits.into_iter().any(|cause| !cause.kind.is_of_the_text()) {
            stands = Translated::Unknown;
        }
    }
    Ok(stands)
}

/// Whether a shader may store to what is bound there.
fn changes(check: &Check<'_>, slot: Slot) -> bool {
    check.setup.descriptors.iter().any(|d| d.slot == slot && d.changed)
}

/// A buffer or image of two shaders.
struct Between<'a> {
    descriptor: &'a Descriptor,
    dispatch: &'a Dispatch,
    permitted: &'a Outcome,
    found: &'a Outcome,
    round: u32,
}

impl Between<'_> {
    /// Compares what it may become, which the other may store to or not; how many elements are not determined.
    fn compare(&self, changed: bool, result: &mut CheckResult) -> u64 {
        let &Between { descriptor, dispatch, permitted, found, round } = self;
        let (Some(memory), Some(contents)) = (permitted.memory.get(&descriptor.slot), descriptor.contents()) else {
            return 0;
        };
        let Some(before) = data_of(dispatch, descriptor.slot) else { return 0 };
        let mut open = 0;
        let mut writes = BindingWrites { binding: descriptor.label(), ..BindingWrites::default() };
        let theirs_of = found.memory.get(&descriptor.slot).filter(|_| changed);
        contents.walk(descriptor.bytes, &mut |element: Element, path| {
            let (at, scalar) = (element.offset, element.scalar);
            let by = |memory: &Memory| memory.is_written(at, element.bytes());
            let written = descriptor.changed && by(memory) || theirs_of.is_some_and(by);
            writes.elements += 1;
            writes.written += u64::from(written);
            let Some(usual) = Permitted::of(memory, at, scalar.width()) else { return open += 1 };
            // What the other does not bind stays as it was.
            let theirs = match found.memory.get(&descriptor.slot) {
                Some(memory) => Permitted::of(memory, at, scalar.width()).map(|p| p.expected),
                None => read_bits(before, at, scalar.width()).map(Expected::Exact),
            };
            let Some(theirs) = theirs else { return open += 1 };
            let stands = held(&usual, &theirs, found, scalar);
            let decided = written && !matches!(stands, Held::Open) && usual.can_be_wrong(scalar.width());
            writes.falsifiable += u64::from(decided);
            let (status, got) = match stands {
                Held::Within if descriptor.changed || changed => return result.elements_checked += 1,
                // That it is as it was is no result.
                Held::Within => return,
                Held::Open => return open += 1,
                Held::Wider(got) => (Status::QualityWarning, got),
                Held::Changed(got) => (Status::Fail, got),
            };
            result.elements_checked += 1;
            let (class, count) = match status {
                Status::Fail => (class::CHANGED, &mut result.elements_failing),
                _ => (class::WIDER, &mut result.elements_warning),
            };
            *count += 1;
            keep(&mut result.mismatches, &mut result.classes, (status, class), || Mismatch {
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
        let bindings = &mut result.writes.get_or_insert_default().bindings;
        match bindings.iter_mut().find(|of| of.binding == writes.binding) {
            Some(of) => of.add(&writes),
            None => bindings.push(writes),
        }
        open
    }
}

/// A module without what it says of its source, which older tools need not understand.
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

/// How what the other permits of an element stands to what this one does.
enum Held {
    /// It is permitted.
    Within,
    /// Some of it is, and some is not, or by a lenient reading only: as that in hexadecimal.
    Wider(String),
    /// Nothing of it is.
    Changed(String),
    /// The oracle cannot tell, or nothing is required.
    Open,
}

fn held(ours: &Permitted<'_>, theirs: &Expected, found: &Outcome, scalar: Scalar) -> Held {
    if ours.expected.is_open() {
        return Held::Open;
    }
    if let (Expected::Float { format: a, .. }, Expected::Float { format: b, .. }) = (&ours.expected, theirs)
        && a != b
    {
        return Held::Open;
    }
    if theirs.is_open() {
        // What this one determines, the text leaves open of the other.
        let cause = match theirs {
            Expected::Undetermined(cause) => found.causes.get(*cause as usize),
            _ => None,
        };
        let unknown = cause.is_some_and(|cause| !cause.kind.is_of_the_text());
        return if unknown { Held::Open } else { Held::Wider("anything".to_owned()) };
    }
    let Some(got) = beyond(theirs, &ours.expected, scalar) else { return Held::Within };
    match ours.lenient {
        Some(lenient) if lenient.is_open() => Held::Open,
        lenient if meets(&ours.expected, theirs) || lenient.is_some_and(|lenient| meets(lenient, theirs)) => {
            Held::Wider(got)
        }
        _ => Held::Changed(got),
    }
}

/// The patterns of a set that is a list of them.
fn patterns(expected: &Expected) -> Option<&[u64]> {
    match expected {
        Expected::Exact(bits) => Some(std::slice::from_ref(bits)),
        Expected::OneOf(patterns) => Some(patterns),
        Expected::Float { .. } | Expected::Undetermined(_) => None,
    }
}

/// The first that one permits and the other does not, in hexadecimal; or `nan`.
fn beyond(theirs: &Expected, ours: &Expected, scalar: Scalar) -> Option<String> {
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

/// Whether there is what both permit.
fn meets(a: &Expected, b: &Expected) -> bool {
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
