//! What depends on the order of invocations: a place in an append buffer, a ticket, who came last. A variant of the shader records what its
//! atomic instructions found on the device, and is held against what the specification permits in the order that there was. If no order
//! explains what they found, that is a failure by itself.

use crate::check::Check;
use crate::device::{Job, Target, TargetError};
use crate::elements::path_text;
use crate::setup::Descriptor;
use crate::trace::{Recorded, Traced, instrument};
use crate::verdict::{Comparison, class, compare, hex, ranges};
use assay_oracle::{Disorder, Dispatch, Expected, Given, Outcome, Place, Slot, Standing};
use assay_precision::Scalar;
use assay_runner::{Mismatch, Status, class};
use assay_spirv::module::Index;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Steps of atomics that are told.
const TOLD: usize = 8;

/// A round in the order that there was.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// What the variant was given, but for its records.
    pub(crate) dispatch: Dispatch,
    pub(crate) outcome: Outcome,
    /// What it left.
    pub(crate) left: BTreeMap<Slot, Vec<u8>>,
    pub(crate) found: Comparison,
}

/// What a variant was given, and left.
pub(crate) struct Ran {
    /// The shader's own dispatch.
    pub(crate) given: Dispatch,
    pub(crate) left: BTreeMap<Slot, Vec<u8>>,
}

impl Check<'_> {
    /// Runs a variant of the shader with the inputs of a round.
    ///
    /// # Errors
    /// It did not run: in words.
    pub(crate) fn run_variant(&self, traced: &Traced, round: u32, target: &dyn Target) -> Result<Ran, String> {
        let mut given = self.dispatch(round, target).map_err(|error| error.to_string())?;
        let mut dispatch = traced.dispatch(&given);
        let mut descriptors = self.setup.descriptors.clone();
        descriptors.push(traced.descriptor.clone());
        let not_run = |error: TargetError| format!("the traced variant did not run: {error}");
        let placed = self.place(&mut dispatch, &descriptors, target).map_err(not_run)?;
        if let Some(placed) = &placed {
            self.setup.put_addresses(&placed.addresses, &mut given);
        }
        let whole = self.job(&dispatch, placed.as_ref());
        let job = Job { wgsl: None, words: &traced.words, descriptors: &descriptors, ..whole };
        Ok(Ran { given, left: target.run(&job).map_err(not_run)?.memory })
    }

    /// Judges a round in which nothing is wrong, and not all is determined for the order of atomics; `None` where there is nothing to be
    /// gained.
    pub(crate) fn in_order(
        &self,
        round: u32,
        target: &dyn Target,
        outcome: &Outcome,
        found: &Comparison,
    ) -> Option<Result<Replayed, String>> {
        if found.failing > 0 || found.open() == 0 || !outcome.depends_on_order() {
            return None;
        }
        let replayed = self.replay(round, target);
        let more = |replayed: &Replayed| replayed.found.failing > 0 || replayed.found.open() < found.open();
        Some(replayed).filter(|replayed| replayed.as_ref().map_or(true, more))
    }

    /// Judges a round in the order that there is in a variant.
    ///
    /// # Errors
    /// Why nothing can be said so: in words.
    fn replay(&self, round: u32, target: &dyn Target) -> Result<Replayed, String> {
        let module = &self.subject.source.module;
        let traced = instrument(module, &self.setup, Recorded::Atomics).map_err(|error| error.to_string())?;
        let Ran { given: mut dispatch, left } = self.run_variant(&traced, round, target)?;
        let place = |index: u32| self.subject.place(Place { instruction: Index(index), line: None });
        let reading = traced.read(module, &self.setup, &dispatch, &left, &place);
        let observed = reading.ok_or("the device left no records")?.observed();
        if let Some(layout) = self.recorded_layout(&left, &dispatch) {
            (dispatch.layout, dispatch.subgroup_size) = layout?;
        }
        dispatch.observed = Some(Arc::new(observed));
        let outcome = self.permitted(&dispatch).map_err(|error| error.to_string())?;
        if !outcome.disorder.is_empty() {
            // What follows from an order that there cannot have been says nothing of the shader.
            let mut found = Comparison::default();
            outcome.disorder.iter().for_each(|disorder| found.add(self.impossible_order(disorder, round)));
            return Ok(Replayed { dispatch, outcome, left, found });
        }
        if let Some(first) = self.faults(&outcome).first() {
            return Err(format!("in the order that there was the shader's behaviour is undefined: {}", first.trim()));
        }
        let found = self.compared(&outcome, &dispatch, &left, round);
        Ok(Replayed { dispatch, outcome, left, found })
    }

    /// Holds what a target left of a round, and what its atomics were given, against what is permitted.
    pub(crate) fn compared(
        &self,
        outcome: &Outcome,
        dispatch: &Dispatch,
        left: &BTreeMap<Slot, Vec<u8>>,
        round: u32,
    ) -> Comparison {
        let mut found = compare(outcome, dispatch, &self.setup.descriptors, left, (round, self.padding));
        outcome.given.iter().for_each(|given| found.add(self.wrongly_given(given, round)));
        found
    }

    /// What no order of atomics explains, as what a comparison came to.
    fn impossible_order(&self, disorder: &Disorder, round: u32) -> Comparison {
        let Disorder { at, slot, offset, width, first, ref steps, ref stores } = *disorder;
        let told = steps.iter().map(|step| format!("from {} to {}", step.found, step.left));
        let told = told.chain(stores.iter().map(|left| format!("to {left}")));
        let (count, place) = (steps.len() + stores.len(), self.subject.place(at));
        let more = if count > TOLD { ", .." } else { "" };
        let told = told.take(TOLD).collect::<Vec<_>>().join(", ");
        let got = format!("{count} atomics that no order explains, at {place}: {told}{more}");
        let scalar = Scalar::Int { width, signed: false };
        let before = hex(scalar, first);
        let class = class::IMPOSSIBLE_ORDER.into();
        Comparison::of_wrong(Mismatch { round, before, got, class, ..self.of_atomic(slot, offset, scalar) })
    }

    /// What an atomic was given and should not have been, as what a comparison came to.
    fn wrongly_given(&self, given: &Given, round: u32) -> Comparison {
        let Given { at, invocation, slot, offset, width, found, bits, ref expected, standing } = *given;
        let scalar = match expected {
            Expected::Float { format, .. } => Scalar::Float(*format),
            _ => Scalar::Int { width, signed: false },
        };
        let of = self.of_atomic(slot, offset, scalar);
        let element = format!("{} (what the atomic at {} was given for it)", of.element, self.subject.place(at));
        let status = if standing == Standing::Lenient { Status::QualityWarning } else { Status::Fail };
        let (before, got, permitted) = (hex(scalar, found), hex(scalar, bits), ranges(scalar, expected));
        let (invocation, class) = (Some(invocation), class(expected, bits));
        Comparison::of_wrong(Mismatch { status, round, element, before, got, permitted, class, invocation, ..of })
    }

    /// A failure at the place that atomics access.
    fn of_atomic(&self, slot: Option<Slot>, offset: u64, scalar: Scalar) -> Mismatch {
        let of = self.setup.descriptors.iter().find(|descriptor| Some(descriptor.slot) == slot);
        Mismatch {
            status: Status::Fail,
            round: 0,
            buffer: of.map_or_else(|| "workgroup memory".to_owned(), Descriptor::label),
            element: of.and_then(|of| element_at(of, offset)).unwrap_or_default(),
            offset,
            scalar: scalar.to_string(),
            invocation: None,
            before: String::new(),
            got: String::new(),
            permitted: Vec::new(),
            class: String::new(),
            by: Mismatch::SPECIFICATION.into(),
        }
    }
}

/// The path to the element at an offset.
fn element_at(descriptor: &Descriptor, offset: u64) -> Option<String> {
    let mut found = None;
    descriptor.contents()?.walk(descriptor.bytes, &mut |element, path| {
        if found.is_none() && element.offset == offset {
            found = Some(path_text(path));
        }
    });
    found
}
