//! Results that depend on choices of the device: the order of atomics (a slot in an append buffer,
//! a ticket, the last to arrive) and the subgroup layout.
//!
//! An instrumented variant of the shader records the values that its atomics found on the device
//! (the atomic history), and the place of each invocation in its subgroup. The results of the
//! variant are compared with the permitted sets under these choices. The variant is another program
//! than the shader, so its choices say nothing about a dispatch of the shader itself, whose output
//! is only compared with what every choice permits.
//!
//! If no modification order explains the history, or the subgroup layout is impossible, that is a
//! failure of its own.

use crate::check::Check;
use crate::chosen_parameters::FaultText;
use crate::compare::{Comparison, compare};
use crate::fault_kinds::on_one_line;
use crate::instrument::{InstrumentedModule, ProbeSelection, instrument};
use crate::status::{TRY_LONGER, advised};
use assay_exec::{DispatchRequest, ExecError, Target, TargetError};
use assay_oracle::{AtomicOrder, Copies, Dispatch, Outcome, Place, Robustness, Slot};
use assay_precision::Specification;
use assay_spirv::module::{Instruction, InstructionIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A round interpreted under the observed choices of the device.
#[derive(Debug)]
pub(crate) struct ObservedRound {
    pub(crate) choices: ObservedChoices,
    /// Dispatch of the variant without the record buffer.
    pub(crate) dispatch: Dispatch,
    pub(crate) outcome: Outcome,
    /// Output of the variant.
    pub(crate) output: BTreeMap<Slot, Vec<u8>>,
    pub(crate) found: Comparison,
}

/// Choices of the device that an instrumented variant records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObservedChoices {
    AtomicOrder,
    SubgroupLayout,
    Both,
}

impl ObservedChoices {
    /// Returns the choices on which an outcome depends, and that can be recorded.
    fn of(outcome: &Outcome, records_layout: bool) -> Option<ObservedChoices> {
        match (outcome.depends_on_order(), records_layout && outcome.depends_on_layout()) {
            (true, true) => Some(ObservedChoices::Both),
            (true, false) => Some(ObservedChoices::AtomicOrder),
            (false, true) => Some(ObservedChoices::SubgroupLayout),
            (false, false) => None,
        }
    }

    /// Returns the choices as the object of "depend on".
    pub(crate) fn named(self) -> &'static str {
        match self {
            ObservedChoices::AtomicOrder => "atomic ordering",
            ObservedChoices::SubgroupLayout => "the subgroup layout",
            ObservedChoices::Both => "the subgroup layout or atomic ordering",
        }
    }

    /// Returns what an instrumented run shows, as an object of "observe".
    pub(crate) fn observed(self) -> &'static str {
        match self {
            ObservedChoices::AtomicOrder => "order",
            ObservedChoices::SubgroupLayout => "layout",
            ObservedChoices::Both => "layout and order",
        }
    }
}

/// Reason why a round is not interpreted under the choices of the device.
#[derive(Clone, Debug)]
pub(crate) enum Unobserved {
    /// No device may have the observed subgroup layout, for this reason.
    ImpossibleLayout(String),
    /// With the observed subgroup layout the shader has undefined behaviour: its first fault.
    UndefinedInLayout(String),
    /// In the observed order of atomics the shader has undefined behaviour: its first fault.
    UndefinedInOrder(FaultText),
    /// The choices are not known, or cannot be used.
    Failed { choices: ObservedChoices, why: String },
}

/// Input and output of an instrumented variant.
pub(crate) struct VariantRun {
    /// Dispatch of the shader itself.
    pub(crate) given: Dispatch,
    pub(crate) output: BTreeMap<Slot, Vec<u8>>,
}

impl Check<'_> {
    /// Runs an instrumented variant with the inputs of a round, on a device with this robustness.
    ///
    /// # Errors
    /// The variant did not run.
    pub(crate) fn run_variant(
        &self,
        instrumented: &InstrumentedModule,
        round: u32,
        target: &dyn Target,
        robustness: Robustness,
    ) -> Result<VariantRun, String> {
        let mut given = self.dispatch(round, target).map_err(|error| error.to_string())?;
        let mut dispatch = instrumented.dispatch(&given);
        dispatch.robustness = robustness;
        let mut descriptors = self.setup.descriptors.clone();
        descriptors.push(instrumented.descriptor.clone());
        let not_run = |error: TargetError| {
            let is_late = matches!(error, TargetError::Failed(ExecError::Timeout(_)));
            let advice = self.advice(TRY_LONGER).filter(|_| is_late);
            advised(format!("the instrumented shader did not run: {error}"), advice.as_deref())
        };
        let allocated = self.allocate(&mut dispatch, &descriptors, target).map_err(not_run)?;
        if let Some(allocated) = &allocated {
            self.setup.put_addresses(&allocated.addresses, &mut given);
        }
        let whole = self.request(&dispatch, allocated.as_ref());
        let request = DispatchRequest { wgsl: None, words: &instrumented.words, descriptors: &descriptors, ..whole };
        Ok(VariantRun { given, output: target.run(&request).map_err(not_run)?.memory })
    }

    /// Returns whether instrumented variants record the subgroup layout.
    pub(crate) fn records_layout(&self) -> bool {
        self.layout.is_none() && self.kernel.is_none() && self.setup.rules == Specification::Vulkan
    }

    /// Checks a round under the observed choices of the device, if nothing in it failed and its outcome
    /// in this reading of copies depends on these choices. Returns `None` if this decides no more
    /// elements and finds no failure.
    pub(crate) fn under_observed_choices(
        &self,
        round: u32,
        target: &dyn Target,
        (outcome, copies): (&Outcome, Copies),
        found: &Comparison,
    ) -> Option<Result<ObservedRound, Unobserved>> {
        if found.failing > 0 {
            return None;
        }
        let choices = ObservedChoices::of(outcome, self.records_layout())?;
        // A selection by a value that depends on a choice permits both of its results: nothing is
        // undetermined, and a wrong result is permitted. Such a value of an atomic is its result.
        let is_decided = found.undetermined_count() == 0;
        if is_decided && choices == ObservedChoices::AtomicOrder && !self.uses_atomic_results() {
            return None;
        }
        let replayed = self.replay(round, target, (choices, copies, self.safe_robustness(outcome).0));
        // An access outside of a buffer may have damaged the records.
        let doubts = match &replayed {
            Ok(replayed) if replayed.found.failing > 0 => {
                Some(("returned is not permitted", replayed.outcome.possible_faults.first()))
            }
            Err(Unobserved::ImpossibleLayout(_)) => Some(("recorded is not possible", outcome.possible_faults.first())),
            _ => None,
        };
        if let Some((what, Some(fault))) = doubts {
            let place = self.shader.location(fault.at);
            let why = format!(
                "what an instrumented run {what}, which proves nothing because the shader may have undefined behaviour \
                 at {place}"
            );
            return Some(Err(Unobserved::Failed { choices, why }));
        }
        let more = |replayed: &ObservedRound| {
            replayed.found.failing > 0 || replayed.found.undetermined_count() < found.undetermined_count()
        };
        Some(replayed).filter(|replayed| replayed.as_ref().map_or(true, more))
    }

    /// Returns true if some instruction uses the result of an atomic.
    fn uses_atomic_results(&self) -> bool {
        let module = &self.shader.source.module;
        let functions = || module.functions().iter().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let is_atomic = |one: &Instruction<'_>| one.op.is_some_and(|op| op.name().starts_with("OpAtomic"));
        let results: BTreeSet<u32> = functions().filter(is_atomic).filter_map(|one| one.result()).collect();
        let mut is_used = false;
        functions().for_each(|one| module.uses(one, |id| is_used |= results.contains(&id)));
        is_used
    }

    /// Runs the variant and checks it under its own choices.
    ///
    /// # Errors
    /// The choices cannot be used.
    fn replay(
        &self,
        round: u32,
        target: &dyn Target,
        (choices, copies, robustness): (ObservedChoices, Copies, Robustness),
    ) -> Result<ObservedRound, Unobserved> {
        let module = &self.shader.source.module;
        let failed = |why: String| Unobserved::Failed { choices, why };
        let subgroup_layout = choices != ObservedChoices::AtomicOrder;
        let instrumented = instrument(module, &self.setup, ProbeSelection::Choices { subgroup_layout })
            .map_err(|error| failed(error.to_string()))?;
        let VariantRun { given: mut dispatch, output } =
            self.run_variant(&instrumented, round, target, robustness).map_err(failed)?;
        let place = |index: u32| self.shader.location(Place { instruction: InstructionIndex(index), line: None });
        dispatch.copies = copies;
        let reader = instrumented.reader(module, &self.setup, &dispatch, &output, &place);
        let reader = reader.ok_or_else(|| failed("the device returned no records".into()))?;
        let (observed, places) = (reader.atomic_history(), reader.subgroup_places());
        if let Some(layout) = self.recorded_layout(&output, &dispatch) {
            (dispatch.layout, dispatch.subgroup_size) = layout.map_err(Unobserved::ImpossibleLayout)?;
        } else if let Some(places) = places {
            let layout = self.layout_of_places(&places, &dispatch).map_err(Unobserved::ImpossibleLayout)?;
            (dispatch.layout, dispatch.subgroup_size) = layout;
        }
        dispatch.atomic_order = observed.map_or(AtomicOrder::Any, |history| AtomicOrder::Recorded(Arc::new(history)));
        let outcome = self.permitted(&dispatch).map_err(|error| failed(error.to_string()))?;
        if !outcome.disorder.is_empty() {
            // Results under an impossible order say nothing about the shader.
            let mut found = Comparison::default();
            outcome.disorder.iter().for_each(|disorder| found.add(self.impossible_order(disorder, round)));
            return Ok(ObservedRound { choices, dispatch, outcome, output, found });
        }
        if let Some(first) = self.faults(&outcome).first().filter(|_| subgroup_layout) {
            return Err(Unobserved::UndefinedInLayout(on_one_line(first)));
        }
        if let Some(first) = self.ordered_faults(&outcome).first() {
            return Err(Unobserved::UndefinedInOrder(self.fault_text(first)));
        }
        let found = self.compared(&outcome, &dispatch, &output, round);
        Ok(ObservedRound { choices, dispatch, outcome, output, found })
    }

    /// Compares the output of a round, and the operands of its atomics, with the permitted sets.
    pub(crate) fn compared(
        &self,
        outcome: &Outcome,
        dispatch: &Dispatch,
        output: &BTreeMap<Slot, Vec<u8>>,
        round: u32,
    ) -> Comparison {
        let mut found = compare(outcome, dispatch, &self.setup, output, (round, self.padding));
        outcome.wrong_operands.iter().for_each(|given| found.add(self.wrong_operand(given, round)));
        found
    }
}
