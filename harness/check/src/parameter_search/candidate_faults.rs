//! Faults of candidates: those that other parameters are not expected to avoid, and those that tell something
//! about the shader although the chosen parameters avoid them.

use super::Search;
use super::contents::data_provenance;
use super::effort::OutsideArray;
use super::open_parameter::{provenance, variable_names};
use crate::chosen_parameters::{CandidateFault, CandidateFaultKind, ChosenParameters, FaultText};
use crate::memory_access::AccessPlace;
use crate::provenance::{FaultSources, Provenance, used};
use crate::selected_access::is_only_selected;
use assay_oracle::{ExecutedBlocks, Fault, FaultKind, FaultMemory, Outcome, PossibleFault};
use assay_spirv::tables::Op;

impl Search<'_> {
    /// Returns whether a fault is an access beyond an image.
    pub(super) fn leaves_image(&self, fault: &Fault) -> bool {
        fault.kind == FaultKind::OutOfBounds
            && matches!(self.op_of(fault), Some(Op::ImageFetch | Op::ImageRead | Op::ImageWrite))
    }

    /// Returns whether other parameters are not expected to avoid a fault: an access beyond an image, as
    /// of a filter at the first texels, or a race at an address that depends on no parameter.
    pub(super) fn is_inherent(&self, fault: &Fault) -> bool {
        let has_fixed_address = || {
            let sources = self.flow.sources(fault.at.instruction);
            self.parameters.iter().all(|p| provenance(self.check, &sources, p) != Provenance::Operand)
        };
        self.leaves_image(fault) || fault.kind == FaultKind::DataRace && has_fixed_address()
    }

    /// Keeps the races at fixed places among the faults of a candidate, the first race of all, and the
    /// racing candidate that executes the most.
    pub(super) fn note_races(&mut self, faults: &[Fault], chosen: &ChosenParameters, executed: &ExecutedBlocks) {
        let is_race = |fault: &&Fault| fault.kind == FaultKind::DataRace;
        if !faults.iter().any(|fault| is_race(&fault)) {
            return;
        }
        self.effort.keep_racing(self.check.program.coverage(executed).executed, chosen);
        let chosen = chosen.with_names(&variable_names(&self.check.setup));
        let begins_with_race = faults.first().is_some_and(|fault| is_race(&fault));
        let data = |fault: &Fault| {
            let of = |provenance| self.data_sources(fault.at, provenance);
            of(Provenance::Operand).into_iter().chain(of(Provenance::Control)).collect()
        };
        let data: Vec<String> = faults.iter().find(is_race).map_or_else(Vec::new, data);
        let count = self.effort.races.entry(chosen.groups).or_default();
        count.racing += u32::from(begins_with_race);
        count.data.extend(data);
        for fault in faults.iter().filter(is_race) {
            let kind = match fault.memory {
                Some(FaultMemory::Workgroup) => CandidateFaultKind::SharedRace,
                _ => CandidateFaultKind::Race,
            };
            let check = self.check;
            let is_fixed = self.races_at_fixed_place(fault);
            let race =
                || CandidateFault { kind, is_fixed, options: chosen.listed_options(), fault: check.fault_text(fault) };
            self.effort.first_race.get_or_insert_with(race);
            self.effort.races.entry(chosen.groups).or_default().first.get_or_insert_with(race);
            if is_fixed {
                self.effort.other_races.entry(fault.at.instruction).or_insert_with(race);
            }
        }
    }

    /// Keeps the first data race in workgroup memory that a candidate may have, and one at a place that is not
    /// determined.
    pub(super) fn note_possible_races(&mut self, outcome: &Outcome, chosen: &ChosenParameters) {
        let check = self.check;
        let is_race = |fault: &&PossibleFault| fault.kind == Some(FaultKind::DataRace);
        let described = |race: &PossibleFault| {
            let options = chosen.with_names(&variable_names(&check.setup)).listed_options();
            let fault = FaultText { place: check.shader.location(race.at), what: FaultKind::DataRace.to_string() };
            CandidateFault { kind: CandidateFaultKind::PossibleRace, is_fixed: false, options, fault }
        };
        let faults = &outcome.possible_faults;
        let shared = faults.iter().filter(is_race).find(|race| check.accesses_workgroup(race.at));
        if let (None, Some(race)) = (&self.effort.possible_race, shared) {
            self.effort.possible_race = Some(described(race));
        }
        // An access that may be out of bounds is at a place that is not determined.
        let is_open = |fault: &&PossibleFault| {
            matches!(fault.kind, Some(FaultKind::DataRace | FaultKind::OutOfBounds))
                && !self.variants.communication.can_exclude(fault)
        };
        if let Some(race) = faults.iter().find(is_open) {
            let executed = check.program.coverage(&outcome.executed).executed;
            self.effort.keep_open_race(executed, || (chosen.clone(), described(race)));
        }
    }

    /// Keeps the accesses outside of arrays of fixed length among the faults of a candidate.
    pub(super) fn note_outside(&mut self, faults: &[Fault], chosen: &ChosenParameters) {
        for (fault, indices) in faults.iter().filter_map(|fault| Some((fault, fault.indices?))) {
            let is_by_data = !self.data_sources(fault.at, Provenance::Operand).is_empty();
            let check = self.check;
            let described = || {
                let chosen = chosen.with_names(&variable_names(&check.setup));
                let (kind, options) = (CandidateFaultKind::OutsideArray, chosen.listed_options());
                let first = CandidateFault { kind, is_fixed: false, options, fault: check.fault_text(fault) };
                OutsideArray { indices, first, is_by_data }
            };
            self.effort.outside.entry(fault.at.instruction).or_insert_with(described).indices.widen(indices);
        }
    }

    /// Keeps the first undefined integer division among the faults of a candidate whose divisor depends on no
    /// open parameter and no open data: no other input is sure to avoid it.
    pub(super) fn note_division(&mut self, faults: &[Fault], chosen: &ChosenParameters) {
        if self.effort.division.is_some() {
            return;
        }
        let (check, module) = (self.check, &self.check.shader.source.module);
        let is_own = |fault: &&Fault| {
            let divisor = module.instruction(fault.at.instruction).operand(1);
            let sources = divisor.map(|divisor| FaultSources::of_operand(self.flow.slice(vec![divisor], used).sources));
            fault.kind == FaultKind::Division
                && !is_only_selected(module, fault.at.instruction)
                && sources.is_some_and(|sources| {
                    let mut parameters = self.parameters.iter().map(|p| provenance(check, &sources, p));
                    let open = check.setup.descriptors.iter().filter(|d| !check.setup.is_given(d.slot));
                    let mut data = open.map(|d| data_provenance(check, &sources, d));
                    parameters.all(|of| of != Provenance::Operand) && data.all(|of| of != Provenance::Operand)
                })
        };
        if let Some(fault) = faults.iter().find(is_own) {
            let options = chosen.with_names(&variable_names(&check.setup)).listed_options();
            let (kind, fault) = (CandidateFaultKind::Division, check.fault_text(fault));
            self.effort.division = Some(CandidateFault { kind, is_fixed: false, options, fault });
        }
    }

    /// Returns whether a race is in memory whose places depend on no parameter and no data, or in
    /// workgroup memory at an address that depends on no parameter.
    fn races_at_fixed_place(&self, fault: &Fault) -> bool {
        let is_fixed = |place: &AccessPlace| match place {
            AccessPlace::Pointer(pointer) => self.flow.is_fixed(self.flow.address(*pointer)),
            AccessPlace::Texel(coordinates) => self.flow.is_fixed(vec![*coordinates]),
        };
        match fault.memory {
            Some(FaultMemory::Workgroup) => self.is_inherent(fault),
            Some(FaultMemory::Binding(slot, _)) => {
                self.variants.communication.places_in(slot).is_some_and(|places| places.iter().all(is_fixed))
            }
            _ => false,
        }
    }

    /// Returns whether a fault is a read beyond a buffer.
    pub(super) fn reads_beyond_buffer(&self, fault: &Fault) -> bool {
        fault.kind == FaultKind::OutOfBounds && self.op_of(fault) == Some(Op::Load)
    }

    fn op_of(&self, fault: &Fault) -> Option<Op> {
        self.check.shader.source.module.instruction(fault.at.instruction).op
    }
}
