//! Effort of a search: its candidates with their cost, their faults, and the races that they show.

use super::candidate::Candidate;
use crate::check::Check;
use crate::chosen_parameters::{CandidateFault, CandidateFaultKind, ChosenParameters, INDEX};
use assay_oracle::{FaultKind, IndicesBeyond};
use assay_spirv::module::InstructionIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Effort of a search.
pub(super) struct Effort<'a> {
    pub(super) candidates: u32,
    pub(super) cost: u64,
    /// Candidates with undefined behaviour, by the kind of the first fault.
    pub(super) faults: BTreeMap<FaultKind, u32>,
    /// The first race of a candidate.
    pub(super) first_race: Option<CandidateFault>,
    /// The candidate whose invocations race that executes the most instructions, with their number.
    pub(super) racing: Option<(u64, ChosenParameters)>,
    /// Races by the number of workgroups: too many of them may race in a shader for a single one.
    pub(super) races: BTreeMap<Option<[u32; 3]>, RaceCount>,
    /// Races of candidates at places that depend on no parameter: the first one of each instruction.
    pub(super) other_races: BTreeMap<InstructionIndex, CandidateFault>,
    /// The first data race in workgroup memory that Assay cannot rule out for a candidate.
    pub(super) possible_race: Option<CandidateFault>,
    /// The candidate that may race at a place that Assay cannot determine and executes the most instructions,
    /// with their number and the race.
    pub(super) open_race: Option<(u64, ChosenParameters, CandidateFault)>,
    /// Accesses of candidates outside of arrays of fixed length, by their instructions.
    pub(super) outside: BTreeMap<InstructionIndex, OutsideArray>,
    /// The first undefined integer division of a candidate whose divisor depends on no open parameter and no
    /// open data.
    pub(super) division: Option<CandidateFault>,
    /// Time at which the search is given up.
    pub(super) end: Instant,
    /// Called before each candidate is interpreted.
    pub(super) on_candidate: &'a dyn Fn(),
}

/// Accesses of candidates at an instruction outside of an array of fixed length.
#[derive(Clone)]
pub(super) struct OutsideArray {
    pub(super) indices: IndicesBeyond,
    /// The first one.
    pub(super) first: CandidateFault,
    /// Set if some data that the options leave open are among the operands of the index.
    pub(super) is_by_data: bool,
}

/// Races of the candidates with one number of workgroups.
#[derive(Default)]
pub(super) struct RaceCount {
    pub(super) candidates: u32,
    /// Candidates whose first fault is a race.
    pub(super) racing: u32,
    /// Bindings with data on which the place of some race depends.
    pub(super) data: BTreeSet<String>,
    /// The first race.
    pub(super) first: Option<CandidateFault>,
}

impl<'a> Effort<'a> {
    pub(super) fn new(end: Instant, on_candidate: &'a dyn Fn()) -> Effort<'a> {
        Effort {
            candidates: 0,
            cost: 0,
            faults: BTreeMap::new(),
            first_race: None,
            racing: None,
            races: BTreeMap::new(),
            other_races: BTreeMap::new(),
            possible_race: None,
            open_race: None,
            outside: BTreeMap::new(),
            division: None,
            end,
            on_candidate,
        }
    }

    /// Adds the effort of a repetition.
    pub(super) fn add(&mut self, other: &Effort<'_>) {
        self.candidates += other.candidates;
        self.cost += other.cost;
        other.faults.iter().for_each(|(kind, number)| *self.faults.entry(*kind).or_default() += number);
        self.first_race = self.first_race.take().or_else(|| other.first_race.clone());
        if let Some(racing) = &other.racing {
            self.keep_racing(racing.0, &racing.1);
        }
        if let Some(race) = &other.open_race {
            self.keep_open_race(race.0, || (race.1.clone(), race.2.clone()));
        }
        self.division = self.division.take().or_else(|| other.division.clone());
        self.possible_race = self.possible_race.take().or_else(|| other.possible_race.clone());
        for (groups, count) in &other.races {
            let known = self.races.entry(*groups).or_default();
            (known.candidates, known.racing) = (known.candidates + count.candidates, known.racing + count.racing);
            known.data.extend(count.data.iter().cloned());
            known.first = known.first.take().or_else(|| count.first.clone());
        }
        for (at, race) in &other.other_races {
            self.other_races.entry(*at).or_insert_with(|| race.clone());
        }
        for (at, outside) in &other.outside {
            self.outside.entry(*at).or_insert_with(|| outside.clone()).indices.widen(outside.indices);
        }
    }

    /// Keeps the parameters of a racing candidate if it executes more instructions than others.
    pub(super) fn keep_racing(&mut self, executed: u64, chosen: &ChosenParameters) {
        if self.racing.as_ref().is_none_or(|(most, _)| executed > *most) {
            self.racing = Some((executed, chosen.clone()));
        }
    }

    /// Keeps a candidate that may race at a place that Assay cannot determine if it executes more instructions
    /// than others.
    pub(super) fn keep_open_race(&mut self, executed: u64, race: impl FnOnce() -> (ChosenParameters, CandidateFault)) {
        if self.open_race.as_ref().is_none_or(|(most, ..)| executed > *most) {
            let (chosen, race) = race();
            self.open_race = Some((executed, chosen, race));
        }
    }

    /// Returns a fault that a candidate avoids: a race at a fixed place in workgroup memory, or whose access
    /// it does not execute; or the first race if half of the candidates with as many workgroups begin with
    /// one; or an access to the element after the last one of an array of fixed length, or before the first,
    /// if no candidate has another index outside of it there; or an integer division.
    pub(super) fn skipped_fault(&self, check: &Check<'_>, candidate: &Candidate) -> Option<CandidateFault> {
        let executed = check.program.executed_instructions(&candidate.executed);
        let mut races = self
            .other_races
            .iter()
            .filter(|(at, race)| race.kind == CandidateFaultKind::SharedRace || !executed.contains(at));
        let count = self.races.get(&candidate.chosen.groups);
        // A shader may require places of their own, as of a permutation, which these data then hold.
        let inputs = &candidate.chosen.inputs;
        let is_permuted =
            |of: &RaceCount| inputs.iter().any(|(name, contents)| contents == INDEX && of.data.contains(name));
        let is_common = |of: &&RaceCount| 2 * of.racing >= of.candidates && !is_permuted(of);
        let common = || count.filter(is_common).and_then(|of| of.first.clone());
        let off_by_one = || {
            let mut outside = self.outside.values();
            outside.find(|outside| outside.indices.are_off_by_one()).map(|outside| outside.first.clone())
        };
        races.next().map(|(_, race)| race.clone()).or_else(common).or_else(off_by_one).or_else(|| self.division.clone())
    }

    /// Returns the first access of a candidate outside of an array of fixed length, at an index that depends
    /// on no open data: no length of a buffer permits it.
    pub(super) fn access_outside(&self) -> Option<CandidateFault> {
        let mut outside = self.outside.values();
        outside.find(|outside| !outside.is_by_data).map(|outside| outside.first.clone())
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.end
    }
}
