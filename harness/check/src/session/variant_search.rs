//! Variants of a shader without its undefined behaviour, for shaders that have it with all parameters
//! that a search found.
//!
//! | variant | excludes |
//! |---|---|
//! | invocations one after another ([`with_serial_invocations`]) | data races |
//! | guards ([`operand_guards`]), with robust access | accesses out of bounds, and undefined divisions and conversions |
//!
//! The variant is judged in place of the shader, and its verdict begins with the undefined behaviour: it is
//! a QualityWarning at best.

use super::CheckSession;
use crate::chosen_parameters::{AvoidedRace, CandidateFault, CandidateFaultKind, GuardedFault, RobustAccess};
use crate::operand_guards;
use crate::parameter_search::{open_lengths, open_sources, search_until};
use crate::provenance::DataFlow;
use crate::{Check, CheckError, ChosenParameters, Options, ParameterSearch, SearchExtent};
use assay_exec::{SubgroupControl, Target};
use assay_oracle::{Fault, FaultKind, FaultMemory, Robustness};
use assay_precision::Specification;
use assay_spirv_lower::{SerialDispatch, with_serial_invocations};
use std::time::Instant;

/// Largest number of invocations that are executed one after another.
const SERIAL_INVOCATIONS: u64 = 1024;

/// The limits of a device, and a function that is called before each candidate is interpreted.
type SearchTarget<'a> = (&'a dyn Target, &'a dyn Fn());

impl CheckSession {
    /// After a search, takes a variant of the shader without its undefined behaviour, if that says more than
    /// what the search found. Returns whether one is taken.
    ///
    /// # Errors
    /// As [`CheckSession::check`].
    pub(super) fn search_variants(
        &mut self,
        found: &ParameterSearch,
        target: SearchTarget<'_>,
        end: Instant,
    ) -> Result<bool, CheckError> {
        let is_usual =
            self.options.rules == Specification::Vulkan && self.options.subgroup_control == SubgroupControl::default();
        let (extent, checks) = match found {
            ParameterSearch::NotNeeded => return Ok(false),
            ParameterSearch::Found(chosen) => (&chosen.extent, true),
            ParameterSearch::NothingBetter(extent) => (&**extent, extent.checks_defaults),
        };
        // Inputs that the options give are meant, and what is undefined with them is refused.
        let is_given = self.options.gives_parameters();
        if !is_usual || !self.takes_variants || !extent.says_little || is_given && extent.candidates <= 1 {
            return Ok(false);
        }
        Ok(self.search_one_by_one((extent, checks), target, end)?
            || !checks && !is_given && self.search_with_guards(extent, target, end)?)
    }

    /// Returns the first access out of bounds with chosen parameters if the device were not robust;
    /// `None` if they contain no robustness.
    pub(super) fn access_without_robustness(
        &self,
        chosen: &ChosenParameters,
        limits: &dyn Target,
    ) -> Result<Option<RobustAccess>, CheckError> {
        if chosen.robustness.is_none() {
            return Ok(None);
        }
        let mut options = self.options.clone();
        ChosenParameters { robustness: None, ..chosen.clone() }.apply(&mut options)?;
        let check = Check::new(&self.shader, &options)?;
        let flow = DataFlow::new(&self.shader.source.module);
        let fault = check.first_fault_of(FaultKind::OutOfBounds, limits);
        let access = fault.as_ref().map(|fault| check.fault_text(fault));
        let possible = || check.first_possible_fault_of(FaultKind::OutOfBounds, limits);
        let possible = if access.is_some() { None } else { possible().map(|at| self.shader.location(at)) };
        // The lengths of arrays and images are inputs, too.
        let is_before = |fault: &Fault| match fault.memory {
            Some(FaultMemory::Binding(_, offset)) => offset < 0,
            _ => ["[-", ", -"].iter().any(|negative| fault.detail.contains(negative)),
        };
        let is_fixed = fault.is_some_and(|of| is_before(&of) && flow.has_fixed_place(of.at.instruction));
        Ok(Some(RobustAccess { access, possible, is_fixed }))
    }

    /// After a search in which invocations race, takes a variant of the shader that executes its invocations
    /// one after another, in one invocation, if some parameters lead to elements that can be checked. If the
    /// search `checks` some elements, the variant must say more. Returns whether it is taken.
    fn search_one_by_one(
        &mut self,
        (extent, checks): (&SearchExtent, bool),
        target: SearchTarget<'_>,
        end: Instant,
    ) -> Result<bool, CheckError> {
        let race = extent.race.as_ref().or(extent.open_race.as_ref());
        let Some(CandidateFault { kind, options, fault: race, is_fixed }) = race else { return Ok(false) };
        let is_possible = *kind == CandidateFaultKind::PossibleRace;
        let inputs = if options.is_empty() && !is_fixed { "generated inputs" } else { options };
        let setup = self.check()?.setup;
        let whole = SerialDispatch { local: setup.local, groups: setup.groups };
        let one = SerialDispatch { groups: [1; 3], ..whole };
        // One workgroup may be light enough where all are not.
        let mut dispatches = vec![whole, one];
        dispatches.dedup_by_key(|dispatch| dispatch.groups);
        dispatches.retain(|dispatch| dispatch.invocations() <= SERIAL_INVOCATIONS);
        let racing = extent.racing.as_deref();
        for dispatch in dispatches {
            let Some(mut variant) = self.serial_variant(dispatch)? else { return Ok(false) };
            let start = self.serial_start(dispatch, racing)?;
            let found = search_until(&variant.check()?, &variant.options, target, (Some(&start), end))?;
            let chosen = match found {
                ParameterSearch::NotNeeded => ChosenParameters::default(),
                ParameterSearch::Found(chosen) if !checks || !chosen.extent.says_little => *chosen,
                ParameterSearch::NothingBetter(of) if !checks && of.checks_defaults => ChosenParameters::default(),
                ParameterSearch::Found(_) | ParameterSearch::NothingBetter(_) => continue,
            };
            chosen.apply(&mut variant.options)?;
            let executed = [dispatch.invocations(), whole.invocations()];
            let avoided_race =
                Some(AvoidedRace { inputs: inputs.to_owned(), race: race.clone(), is_possible, executed });
            let verb = if is_possible { "may have" } else { "has" };
            let reason = format!("the shader {verb} undefined behaviour ({})", FaultKind::DataRace);
            let extent = extent.clone();
            self.chosen = Some(ChosenParameters { avoided_race, reason, extent, long_access: None, ..chosen });
            (self.shader, self.options) = (variant.shader, variant.options);
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns a session of the variant of the shader that executes the invocations of a dispatch one after
    /// another, in one invocation; `None` if there is none.
    fn serial_variant(&self, dispatch: SerialDispatch) -> Result<Option<CheckSession>, CheckError> {
        let entry = self.check()?.setup.entry;
        let Some(words) = with_serial_invocations(&self.shader.source.module, &entry, dispatch) else {
            return Ok(None);
        };
        let shader = self.shader.with_words(words)?;
        let options = Options { groups: Some([1; 3]), ..self.options.clone() };
        Ok(shader.must_be_legal(false).is_ok().then(|| CheckSession::new(shader, options)))
    }

    /// Returns the parameters with which the search for those of a serial variant begins: those of a racing
    /// candidate, with the memory of all invocations that it executes.
    fn serial_start(
        &self,
        dispatch: SerialDispatch,
        racing: Option<&ChosenParameters>,
    ) -> Result<ChosenParameters, CheckError> {
        let executed = Options { groups: Some(dispatch.groups), ..self.options.clone() };
        let elements = open_lengths(&Check::new(&self.shader, &executed)?, &executed);
        let Some(racing) = racing.cloned() else { return Ok(ChosenParameters { elements, ..Default::default() }) };
        let elements = elements.into_iter().chain(racing.elements).collect();
        Ok(ChosenParameters { elements, groups: None, ..racing })
    }

    /// After a search in which the defaults and all other candidates have undefined behaviour that guards
    /// exclude, takes a variant of the shader with guards, if need be with robust access, if some parameters
    /// lead to elements or instructions that can be checked. Returns whether it is taken.
    fn search_with_guards(
        &mut self,
        extent: &SearchExtent,
        target: SearchTarget<'_>,
        end: Instant,
    ) -> Result<bool, CheckError> {
        let guarded = operand_guards::guarded(&self.shader.source.module).ok();
        let Some(guarded) = guarded.filter(|_| self.check().is_ok_and(|c| c.first_guardable_fault(target.0).is_some()))
        else {
            return Ok(false);
        };
        let start = extent.best.as_deref().cloned().unwrap_or_default();
        // Without robustness, arrays grow to what the shader accesses.
        let robust = self.options.robustness.is_none().then_some(Some(Robustness::Access));
        for robustness in std::iter::once(None).chain(robust) {
            let shader = self.shader.with_words(guarded.words().to_vec())?;
            if shader.must_be_legal(false).is_err() {
                break;
            }
            let options = Options { robustness: robustness.or(self.options.robustness), ..self.options.clone() };
            let mut variant = CheckSession::new(shader, options);
            variant.search_defined(&start, target, end)?;
            let CheckSession { shader, options, chosen: Some(chosen), .. } = variant else { continue };
            let mut original = self.options.clone();
            ChosenParameters { robustness: None, benign_races: false, ..chosen.clone() }.apply(&mut original)?;
            let original = Check::new(&self.shader, &original)?;
            let Some(fault) = original.first_guardable_fault(target.0) else { continue };
            let guarded_fault = Some(GuardedFault {
                subject: match fault.kind {
                    FaultKind::OutOfBounds => "access out of bounds".to_owned(),
                    kind => kind.to_string(),
                },
                fault: original.fault_text(&fault),
                sources: open_sources(&original, fault.at.instruction),
                joins_invocations: chosen.benign_races
                    && original.first_fault_of(FaultKind::DataRace, target.0).is_none(),
            });
            let reason = format!("the shader has undefined behaviour ({})", fault.kind);
            let (robustness, extent) = (robustness.or(chosen.robustness), extent.clone());
            let chosen = ChosenParameters { guarded_fault, reason, extent, robustness, long_access: None, ..chosen };
            self.chosen = Some(chosen);
            (self.shader, self.options) = (shader, options);
            return Ok(true);
        }
        Ok(false)
    }

    /// Searches for parameters with which a variant with guards has defined behaviour and says enough, if need
    /// be executed one invocation after another: guards may lead many to one element.
    fn search_defined(
        &mut self,
        start: &ChosenParameters,
        target: SearchTarget<'_>,
        end: Instant,
    ) -> Result<(), CheckError> {
        match search_until(&self.check()?, &self.options, target, (Some(start), end))? {
            ParameterSearch::NotNeeded => self.chosen = Some(ChosenParameters::default()),
            ParameterSearch::Found(chosen) if !chosen.extent.says_little => {
                chosen.apply(&mut self.options)?;
                self.chosen = Some(*chosen);
            }
            ParameterSearch::NothingBetter(extent) if !extent.says_little => {
                self.chosen = Some(ChosenParameters::default());
            }
            ParameterSearch::Found(chosen) => _ = self.search_one_by_one((&chosen.extent, true), target, end)?,
            ParameterSearch::NothingBetter(extent) => _ = self.search_one_by_one((&extent, false), target, end)?,
        }
        Ok(())
    }
}
