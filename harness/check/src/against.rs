//! Equivalence: is another translation of a shader within what this one permits?
//!
//! No device takes part. The oracle computes what each of the two modules permits for the same dispatch; every set of the
//! other must lie inside the set of this one. A compiler that changes a result so that none is left that both permit has
//! failed; one that widens what a driver may do gets a warning; one that narrows it is not accused.

use crate::check::Check;
use crate::device::Target;
use crate::elements::{Element, path_text, read_bits};
use crate::verdict::{Permitted, compare as compare_left, data_of, hex, keep, ranges};
use crate::{CheckError, Descriptor};
use assay_oracle::{Copies, Dispatch, Expected, Outcome, Standing};
use assay_precision::Scalar;
use assay_runner::{CheckResult, Mismatch, Status, Undetermined};
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::Op;
use std::collections::BTreeSet;
use std::time::Instant;

/// Holds what `other` permits against what `this` permits, in every round. The target only says how wide subgroups are.
///
/// # Errors
/// A round cannot be interpreted, or the behaviour of one of the two is undefined in all rounds.
pub fn against(this: &Check<'_>, other: &Check<'_>, target: &dyn Target) -> Result<CheckResult, CheckError> {
    let started = Instant::now();
    let mut result = this.blank();
    result.name = format!("{} against {}", other.subject.name, this.subject.name);
    let mut open = 0;
    for round in 0..this.setup.rounds {
        let mut dispatch = this.dispatch(round, target)?;
        this.place_anywhere(&mut dispatch);
        let permitted = this.permitted(&dispatch)?;
        let mut theirs = dispatch.clone();
        theirs.bindings.retain(|slot, _| other.setup.descriptors.iter().any(|d| d.slot == *slot));
        let found = other.permitted(&theirs)?;
        result.instructions += permitted.instructions + found.instructions;
        for (check, outcome) in [(this, &permitted), (other, &found)] {
            if outcome.fault_count > 0 {
                let name = &check.subject.name;
                result.notes.push(format!("round {round} is left out: the behaviour of {name} is undefined in it"));
            }
        }
        if permitted.fault_count + found.fault_count > 0 {
            continue;
        }
        result.rounds_checked += 1;
        let hold = |permitted: &Outcome, result: &mut CheckResult| -> u64 {
            let written = this.setup.descriptors.iter().filter(|d| d.is_read_back());
            written.map(|descriptor| compare(descriptor, &dispatch, permitted, &found, round, result)).sum()
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
    }
    if open > 0 {
        let place = "one of the two modules".to_owned();
        result.undetermined.push(Undetermined { cause: "not determined".into(), place, elements: open });
        result.elements_undetermined = open;
    }
    let name = &this.subject.name;
    let of = result.elements_checked;
    (result.status, result.reason) = match (result.elements_failing, result.elements_warning) {
        (0, 0) if of == 0 => (Status::Undetermined, Some("nothing could be compared".into())),
        (0, 0) => (Status::Pass, None),
        (0, n) => {
            let what = format!("{n} of {of} elements may also become what {name} does not permit");
            (Status::QualityWarning, Some(what))
        }
        (n, _) => (Status::Fail, Some(format!("{n} of {of} elements are never what {name} permits"))),
    };
    result.times.check = started.elapsed().as_secs_f64();
    result.times.wall = result.times.check;
    Ok(result)
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

/// Compares a buffer or image; how many elements are not determined.
fn compare(
    descriptor: &Descriptor,
    dispatch: &Dispatch,
    permitted: &Outcome,
    found: &Outcome,
    round: u32,
    result: &mut CheckResult,
) -> u64 {
    let (Some(memory), Some(contents)) = (permitted.memory.get(&descriptor.slot), descriptor.contents()) else {
        return 0;
    };
    let Some(before) = data_of(dispatch, descriptor.slot) else { return 0 };
    let mut open = 0;
    contents.walk(descriptor.bytes, &mut |element: Element, path| {
        let (at, scalar) = (element.offset, element.scalar);
        let Some(usual) = Permitted::of(memory, at, scalar.width()) else { return open += 1 };
        // What the other does not bind stays as it was.
        let theirs = match found.memory.get(&descriptor.slot) {
            Some(memory) => Permitted::of(memory, at, scalar.width()).map(|p| p.expected),
            None => read_bits(before, at, scalar.width()).map(Expected::Exact),
        };
        let Some(theirs) = theirs else { return open += 1 };
        match outside(&usual, &theirs, scalar) {
            Inside::Yes => result.elements_checked += 1,
            Inside::Open => open += 1,
            Inside::No { got, shared } => {
                result.elements_checked += 1;
                let ours = match &usual.expected {
                    Expected::Exact(bits) => theirs.permits(*bits) == Some(true),
                    Expected::OneOf(patterns) => patterns.iter().any(|bits| theirs.permits(*bits) == Some(true)),
                    Expected::Float { .. } | Expected::Undetermined(_) => false,
                };
                let shared = shared || ours;
                let (status, class) =
                    if shared { (Status::QualityWarning, "Wider") } else { (Status::Fail, "Changed") };
                *(if shared { &mut result.elements_warning } else { &mut result.elements_failing }) += 1;
                keep(&mut result.mismatches, status, || Mismatch {
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
            }
        }
    });
    open
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

enum Inside {
    Yes,
    /// Only the other permits this value, in hexadecimal; and whether there are values that both permit.
    No {
        got: String,
        shared: bool,
    },
    Open,
}

/// Whether everything that one permits, the other does.
fn outside(usual: &Permitted<'_>, theirs: &Expected, scalar: Scalar) -> Inside {
    let judge = |bits: u64| match usual.judge(bits) {
        Standing::Within | Standing::Lenient => Inside::Yes,
        Standing::Outside => Inside::No { got: hex(scalar, bits), shared: false },
        Standing::Open(_) => Inside::Open,
    };
    match theirs {
        Expected::Exact(bits) => judge(*bits),
        Expected::OneOf(patterns) => all(patterns.iter().map(|bits| judge(*bits))),
        Expected::Undetermined(_) => Inside::Open,
        Expected::Float { set, .. } if set.is_anything() => Inside::Open,
        Expected::Float { format, set } => {
            let Expected::Float { set: wide, .. } = &usual.expected else {
                // Exact here, a set there: the ends tell.
                let ends = set.ranges().iter().flat_map(|r| [r.lo, r.hi]).map(|rank| judge(format.bits(rank)));
                return all(ends);
            };
            if wide.is_anything() {
                return Inside::Open;
            }
            let shared = set.has_nan() && wide.has_nan() || set.ranges().iter().any(|r| wide.meets(*r));
            let covers = |lo, hi| wide.ranges().iter().any(|r| r.lo <= lo && hi <= r.hi);
            match set.ranges().iter().find(|r| !covers(r.lo, r.hi)) {
                Some(r) => {
                    // The first value that is not covered.
                    let before = wide.ranges().iter().find(|w| w.lo <= r.lo && r.lo <= w.hi);
                    let first = before.map_or(r.lo, |w| w.hi + 1);
                    Inside::No { got: hex(scalar, format.bits(first)), shared }
                }
                None if set.has_nan() && !wide.has_nan() => Inside::No { got: "nan".into(), shared },
                None => Inside::Yes,
            }
        }
    }
}

/// What several values come to: the first that is outside, and whether another is inside.
fn all(values: impl Iterator<Item = Inside>) -> Inside {
    let (mut worst, mut inside) = (Inside::Yes, false);
    for value in values {
        match (&worst, value) {
            (_, Inside::Yes) => inside = true,
            (Inside::Yes | Inside::Open, other) => worst = other,
            (Inside::No { .. }, _) => {}
        }
    }
    match worst {
        Inside::No { got, shared } => Inside::No { got, shared: shared || inside },
        other => other,
    }
}
