//! Stages of the search: sets of parameters that take the values of a ladder of sizes.
//!
//! All stages run before the coordinate descent, which begins with the best candidate of any.

use super::candidate::{Candidate, Judged, Score, better};
use super::contents::SmallData;
use super::open_parameter::{Parameter, provenance, with_values};
use super::{ENOUGH, Search};
use crate::CheckError;
use crate::chosen_parameters::{ChosenParameters, INDEX};
use crate::compared_extents::ComparedExtent;
use crate::dispatch_setup::DispatchSetup;
use crate::parameter::width_permits;
use crate::provenance::Provenance;
use assay_oracle::FaultKind;
use std::collections::BTreeMap;

/// Values that every parameter takes in turn, beside the sizes of the dispatch.
const LADDER: [u64; 9] = [64, 256, 1, 16, 4, 1024, 32, 8, 2];

/// Number of values without effect after which a parameter takes no others but 0: a flag, or one that
/// nothing depends on.
const WITHOUT_EFFECT: u32 = 2;

/// Number of candidates of a stage for which open data become indices, and for which they become distinct.
const INDEXED: u32 = 2;

/// Values that sizes and strides take in turn: strides of rows, and of slices of a volume.
const SIZES_AND_STRIDES: [(u64, u64); 3] = [(8, 64), (4, 64), (32, 1024)];

/// Parts of the names of strides.
const STRIDES: [&str; 3] = ["stride", "step", "pitch"];

/// Largest number of components of a vector.
const COMPONENTS: usize = 4;

/// Number of workgroups in a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workgroups {
    /// As in the check.
    Given,
    /// One along z, if workgroups race or exceed memory.
    Layer,
    /// One, if workgroups race or exceed memory.
    One,
}

/// Floats of push constants and buffers in a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Floats {
    /// They have generated values.
    Generated,
    /// As [`Floats::Generated`], and data are numbers from 1 to 8: the first fault depends on data,
    /// such as positions in a grid.
    GeneratedAmongSmall,
    /// Those on which a branch or the first fault depends take the values of the integers: some are
    /// sizes. Matrices hold none.
    Sizes,
    /// As [`Floats::Sizes`]; the others are as in [`Floats::Simple`], and data are small integers: many
    /// results are exact.
    SizesAmongSimple,
    /// They have [`Parameter::simple`] values: sizes and positions are computed from some.
    Simple,
    /// As [`Floats::Simple`], and data are between 0 and 1: positions lie within bounds and views.
    SimpleInUnit,
    /// They ascend from 1/4 in steps of 1/8: some are the ends of intervals.
    Ascending,
}

/// The stages in their order. Floats are data, unless nothing else helps, and rather small numbers than
/// sizes.
const STAGES: [(Workgroups, Floats); 9] = [
    (Workgroups::Given, Floats::Generated),
    (Workgroups::Given, Floats::GeneratedAmongSmall),
    (Workgroups::Layer, Floats::Generated),
    (Workgroups::One, Floats::Generated),
    (Workgroups::Given, Floats::Simple),
    (Workgroups::Given, Floats::SimpleInUnit),
    (Workgroups::Given, Floats::Sizes),
    (Workgroups::Given, Floats::SizesAmongSimple),
    (Workgroups::Given, Floats::Ascending),
];

/// Parameters of a candidate, as changes of a start.
#[derive(Clone)]
struct Base {
    start: ChosenParameters,
    parameters: Vec<Parameter>,
    /// Their values; `None` for a generated one.
    values: Vec<Option<u64>>,
}

impl Base {
    /// Returns the base with other values.
    fn with(&self, values: Vec<Option<u64>>) -> Base {
        Base { values, ..self.clone() }
    }

    fn chosen(&self) -> ChosenParameters {
        with_values(&self.start, &self.parameters, &self.values)
    }
}

/// The best candidate and its base.
struct Lead {
    best: Candidate,
    base: Base,
}

impl Lead {
    /// Returns the better one of the lead and a candidate.
    fn or(self, best: Candidate, base: Base) -> Lead {
        if best.score > self.best.score { Lead { best, base } } else { self }
    }
}

/// The open parameters of a check by their role in the stages.
struct Roles {
    integers: Vec<Parameter>,
    floats: Vec<Parameter>,
    /// Floats that [`Floats::Sizes`] names.
    sizes: Vec<Parameter>,
    /// Set if the first fault was computed from data.
    has_faulty_data: bool,
}

/// Returns values of the parameters of which those that are strides by their names have the second
/// value, and the others the first; `None` if all or none are strides.
fn strided(parameters: &[Parameter], (size, stride): (u64, u64)) -> Option<Vec<Option<u64>>> {
    let is_stride = |p: &Parameter| {
        let name = p.name.to_ascii_lowercase();
        STRIDES.iter().any(|part| name.contains(part))
    };
    let strides = parameters.iter().filter(|p| is_stride(p)).count();
    let values = parameters.iter().map(|p| Some(if is_stride(p) { stride } else { size }));
    (strides > 0 && strides < parameters.len()).then(|| values.collect())
}

/// Returns a candidate's parameters with [`Parameter::simple`] floats.
fn with_simple(start: &ChosenParameters, floats: &[Parameter]) -> ChosenParameters {
    let mut chosen = start.clone();
    floats.iter().for_each(|float| float.set(&mut chosen, float.simple.to_string()));
    chosen
}

impl Search<'_> {
    /// Returns the better one of a candidate and those in which floats are simple and data small, beside
    /// its other parameters, until one is judged as wanted.
    pub(super) fn with_simple_data(&mut self, wanted: Judged, mut found: Candidate) -> Result<Candidate, CheckError> {
        let start = found.chosen.clone();
        let floats: Vec<Parameter> = self.parameters.iter().filter(|p| !p.is_integer()).cloned().collect();
        for data in [None, Some(SmallData::Parts), Some(SmallData::Numbers), Some(SmallData::Integers)] {
            let mut chosen = with_simple(&start, &floats);
            if let Some(data) = data {
                self.set_small(&mut chosen, data);
            }
            let candidate = self.candidate(chosen)?;
            found = better(found, candidate);
            if found.score.judged >= wanted {
                break;
            }
        }
        Ok(found)
    }

    /// Returns a candidate, or one in which floats are simple and data small that says clearly more, if less
    /// than half of its elements could come out wrong, or its mutation score takes too long to measure:
    /// results of generated floats are often huge, tiny or undetermined, and branches undecided.
    pub(super) fn with_simple_floats(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let floats: Vec<Parameter> = self.parameters.iter().filter(|p| !p.is_integer()).cloned().collect();
        let start = with_simple(&best.chosen, &floats);
        let says_more = |candidate: &Candidate, before: &Candidate| {
            let says = |of: &Score| (of.judged, of.varied, of.noticed, of.busy);
            let (score, old) = (&candidate.score, &before.score);
            let is_clearer = says(score) > says(old) || score.narrow / 2 >= old.narrow;
            let is_clearly_measured = !candidate.is_unmeasured() || score.executed > old.executed;
            score > old && is_clearer || before.is_unmeasured() && is_clearly_measured && score.says_no_less(old)
        };
        for data in [None, Some(SmallData::Numbers), Some(SmallData::Parts)] {
            let says_enough = self.is_enough(&best, ENOUGH) && !best.is_unmeasured();
            let is_defined = best.score.defined == self.rounds;
            if floats.is_empty() || !is_defined || says_enough || self.is_exhausted() {
                break;
            }
            let mut chosen = start.clone();
            if let Some(data) = data {
                self.set_small(&mut chosen, data);
            }
            let candidate = self.candidate(chosen)?;
            best = if says_more(&candidate, &best) { candidate } else { best };
        }
        Ok(best)
    }

    /// Returns the best candidate among those with other parameters.
    pub(super) fn improve(&mut self, first: Candidate) -> Result<Candidate, CheckError> {
        let best = self.indexed(first)?;
        let best = self.with_compared_constants(best)?;
        let best = self.with_small_data(best)?;
        let best = self.with_simple_floats(best)?;
        let is_defined = best.score.defined == self.rounds;
        let best = if is_defined && !best.score.covered { self.with_modes(best)? } else { best };
        self.has_sizes = true;
        let roles = self.roles(&best);
        let ChosenParameters { inputs, push, .. } = best.chosen.clone();
        let start = ChosenParameters { inputs, push, ..self.sizes.clone() };
        let values = vec![None; roles.integers.len()];
        let mut lead = Lead { best, base: Base { start, parameters: roles.integers.clone(), values } };
        for (groups, floats) in STAGES {
            let Some(base) = self.base(groups, floats, &roles, &lead) else { continue };
            let has_own_start = groups != Workgroups::Given
                || !matches!(floats, Floats::Generated | Floats::Sizes | Floats::SizesAmongSimple);
            let before = lead.best.score;
            lead = self.stage(base, has_own_start, lead)?;
            if lead.best.score > before {
                let inputs = lead.best.chosen.inputs.len();
                lead.best = self.with_small_data(lead.best)?;
                lead.base.start.inputs.extend_from_slice(&lead.best.chosen.inputs[inputs..]);
            }
            if self.is_good(&lead.best) {
                break;
            }
        }
        let before = lead.best.score;
        let best = self.descend(lead)?;
        if best.score > before { self.with_small_data(best) } else { Ok(best) }
    }

    /// Returns the open parameters by role; the floats that are sizes follow from the fault of a
    /// candidate.
    fn roles(&self, best: &Candidate) -> Roles {
        let (integers, floats): (Vec<_>, Vec<_>) = self.parameters.iter().cloned().partition(Parameter::is_integer);
        let branches = self.flow.branch_sources();
        let faulty = best.faulty.map(|at| self.flow.sources(at.instruction));
        let is_size = |p: &&Parameter| {
            let of_fault = faulty.as_ref().map(|faulty| provenance(self.check, faulty, p));
            !p.in_matrix
                && (of_fault == Some(Provenance::Operand)
                    || provenance(self.check, &branches, p) == Provenance::Control)
        };
        let sizes = floats.iter().filter(is_size).cloned().collect();
        Roles {
            integers,
            floats,
            sizes,
            has_faulty_data: best.faulty.is_some_and(|at| !self.data_sources(at, Provenance::Operand).is_empty()),
        }
    }

    /// Returns the base of a stage without values of its parameters; `None` if the stage can give
    /// nothing new.
    fn base(&self, groups: Workgroups, floats: Floats, roles: &Roles, lead: &Lead) -> Option<Base> {
        let given = self.check.setup.groups;
        let groups = match groups {
            Workgroups::Given => None,
            Workgroups::Layer => Some([given[0], given[1], 1]),
            Workgroups::One => Some([1; 3]),
        };
        if groups.is_some_and(|groups| groups == given || !self.may_reduce_workgroups()) {
            return None;
        }
        let ChosenParameters { inputs, push, .. } = lead.base.start.clone();
        let mut start = ChosenParameters { groups, inputs, push, ..self.sizes.clone() };
        let mut parameters = roles.integers.clone();
        match floats {
            Floats::Generated => {}
            Floats::GeneratedAmongSmall if !roles.has_faulty_data => return None,
            Floats::GeneratedAmongSmall => {
                start.inputs.retain(|(_, contents)| contents != INDEX);
                self.set_small(&mut start, SmallData::Numbers);
            }
            Floats::Sizes | Floats::SizesAmongSimple if roles.sizes.is_empty() => return None,
            Floats::SizesAmongSimple if roles.sizes.len() == roles.floats.len() => return None,
            Floats::Sizes => parameters.extend_from_slice(&roles.sizes),
            Floats::SizesAmongSimple => {
                start = with_simple(&start, &roles.floats);
                parameters.extend_from_slice(&roles.sizes);
                self.set_small(&mut start, SmallData::Integers);
            }
            Floats::Simple | Floats::SimpleInUnit | Floats::Ascending if roles.floats.is_empty() => return None,
            Floats::Simple => start = with_simple(&start, &roles.floats),
            Floats::SimpleInUnit => {
                start = with_simple(&start, &roles.floats);
                self.set_small(&mut start, SmallData::Parts);
            }
            Floats::Ascending => {
                let ascending = |at: usize| (0.25 + 0.125 * at as f64).to_string();
                roles.floats.iter().enumerate().for_each(|(at, float)| float.set(&mut start, ascending(at)));
            }
        }
        let values = vec![None; parameters.len()];
        Some(Base { start, parameters, values })
    }

    /// Gives all parameters one value of the ladder in turn, then all but one the value 1.
    fn stage(&mut self, mut base: Base, has_own_start: bool, mut lead: Lead) -> Result<Lead, CheckError> {
        if has_own_start {
            let candidate = self.candidate(base.chosen())?;
            let candidate = self.indexed(candidate)?;
            base.start.inputs.clone_from(&candidate.chosen.inputs);
            lead = lead.or(candidate, base.clone());
        }
        let count = base.parameters.len();
        let all = |value: u64| vec![Some(value); count];
        let but_one = |value: u64| {
            (0..count).map(move |at| {
                let mut one_large = vec![Some(1); count];
                one_large[at] = Some(value);
                one_large
            })
        };
        // The components of a vector are the sides of one thing.
        let vectors = vectors(&base.parameters);
        let but_vector = |value: u64| {
            let large = move |members: &Vec<usize>| {
                (0..count).map(|at| Some(if members.contains(&at) { value } else { 1 })).collect()
            };
            vectors.iter().map(large).collect::<Vec<Vec<Option<u64>>>>()
        };
        let ladder = self.ladder();
        let strided = SIZES_AND_STRIDES.iter().filter_map(|values| strided(&base.parameters, *values));
        // A single parameter is covered by the ladder.
        let large = if count > 1 { [ladder[0], 64] } else { [1, 1] };
        let large = large
            .into_iter()
            .filter(|value| *value > 1)
            .flat_map(|value| but_vector(value).into_iter().chain(but_one(value)));
        let extents = self.extents(&base.parameters);
        let (mut indexed, mut permuted) = (0, 0);
        for values in extents.into_iter().chain(ladder.iter().map(|value| all(*value))).chain(strided).chain(large) {
            if count == 0 || self.is_done(&lead.best) {
                break;
            }
            let mut valued = base.with(values);
            let mut candidate = self.candidate(valued.chosen())?;
            // Data that are too large for an integer say nothing against the sizes, nor do indices.
            let is_too_large = candidate.faults.first() == Some(&FaultKind::Conversion);
            if indexed < INDEXED && self.is_outside_by_data(&candidate) {
                indexed += 1;
                let known = candidate.chosen.inputs.len();
                candidate = self.indexed(candidate)?;
                let indices = &candidate.chosen.inputs[known..];
                valued.start.inputs.extend_from_slice(indices);
                base.start.inputs.extend_from_slice(indices);
            }
            if permuted < INDEXED
                && let Some(distinct) = self.with_distinct_data(&valued, &candidate)
            {
                permuted += 1;
                let candidate = self.candidate(distinct.chosen())?;
                if candidate.score > lead.best.score {
                    base.start.inputs.clone_from(&distinct.start.inputs);
                }
                lead = lead.or(candidate, distinct);
            }
            lead = lead.or(candidate, valued.clone());
            if is_too_large {
                let mut small = valued;
                self.set_small(&mut small.start, SmallData::Numbers);
                let candidate = self.candidate(small.chosen())?;
                lead = lead.or(candidate, small);
            }
        }
        Ok(lead)
    }

    /// Returns a base with 0, 1, 2, .. in the data that lead to the place of a candidate's race: they may have
    /// to be distinct. `None` if no open data do, or the candidate does not race.
    fn with_distinct_data(&self, base: &Base, candidate: &Candidate) -> Option<Base> {
        let at = candidate.faulty.filter(|_| candidate.faults.first() == Some(&FaultKind::DataRace))?;
        let data = self.data_sources(at, Provenance::Operand);
        let mut distinct = base.clone();
        distinct.start.inputs.retain(|(name, _)| !data.contains(name));
        distinct.start.inputs.extend(data.iter().map(|name| (name.clone(), INDEX.to_owned())));
        (!data.is_empty()).then_some(distinct)
    }

    /// Returns whether a candidate accesses memory out of bounds at an index from open data.
    fn is_outside_by_data(&self, candidate: &Candidate) -> bool {
        let is_outside = candidate.faults.first() == Some(&FaultKind::OutOfBounds);
        is_outside && candidate.faulty.is_some_and(|at| !self.data_sources(at, Provenance::Operand).is_empty())
    }

    /// Returns the sides of the dispatch for the parameters with which the shader compares positions of
    /// invocations, and the first side for others; `None` if there are none, or all sides are equal.
    fn extents(&self, parameters: &[Parameter]) -> Option<Vec<Option<u64>>> {
        let DispatchSetup { local, groups, .. } = &self.check.setup;
        let side = |axis: usize| Some(u64::from(*local.get(axis)?) * u64::from(*groups.get(axis)?));
        let compared = self.flow.compared_extents();
        let axis_of = |parameter: &Parameter| {
            let is_compared =
                |extent: &&ComparedExtent| provenance(self.check, &extent.sources, parameter) == Provenance::Operand;
            let last_index = || parameter.shown.rsplit_once('[')?.1.trim_end_matches(']').parse().ok();
            compared.iter().find(is_compared).and_then(|extent| extent.axis.or_else(last_index))
        };
        let axes: Vec<Option<usize>> = parameters.iter().map(axis_of).collect();
        let sides: Vec<Option<u64>> = axes.iter().map(|axis| side(axis.unwrap_or(0))).collect();
        let differ = sides.iter().any(|side| *side != sides[0]);
        (differ && axes.iter().any(Option::is_some)).then_some(sides)
    }

    /// Coordinate descent: changes one parameter at a time while that improves the score.
    fn descend(&mut self, mut lead: Lead) -> Result<Candidate, CheckError> {
        let ladder = self.ladder();
        let mut improved = true;
        while improved {
            improved = false;
            for (at, is_operand) in self.by_provenance(&lead.base.parameters, &lead.best) {
                // A faulty index may have to be 0.
                let (first, last) = if is_operand { (Some(0), None) } else { (None, Some(0)) };
                let mut without_effect = 0;
                for value in first.into_iter().chain(ladder.iter().copied()).chain(last) {
                    if self.is_done(&lead.best) {
                        return Ok(lead.best);
                    }
                    let Base { parameters, values, .. } = &lead.base;
                    let is_irrelevant = without_effect >= WITHOUT_EFFECT && value != 0;
                    if is_irrelevant
                        || values[at] == Some(value)
                        || !width_permits(parameters[at].element.scalar, value)
                    {
                        continue;
                    }
                    let mut changed = values.clone();
                    changed[at] = Some(value);
                    let base = lead.base.with(changed);
                    let candidate = self.candidate(base.chosen())?;
                    let has_effect = (candidate.score, candidate.work) != (lead.best.score, lead.best.work);
                    without_effect = if has_effect { 0 } else { without_effect + 1 };
                    improved |= candidate.score > lead.best.score;
                    lead = lead.or(candidate, base);
                }
            }
        }
        Ok(lead.best)
    }

    /// Returns the indices of the parameters, with whether an operand of a candidate's fault is
    /// computed from them. Those on which the fault depends come first.
    fn by_provenance(&self, parameters: &[Parameter], best: &Candidate) -> Vec<(usize, bool)> {
        let sources = best.faulty.map(|at| self.flow.sources(at.instruction));
        let of = |at: usize| {
            sources.as_ref().map_or(Provenance::Unknown, |sources| provenance(self.check, sources, &parameters[at]))
        };
        let mut order: Vec<(Provenance, usize)> = (0..parameters.len()).map(|at| (of(at), at)).collect();
        order.sort_unstable();
        order.into_iter().map(|(provenance, at)| (at, provenance == Provenance::Operand)).collect()
    }

    /// Returns whether a single workgroup may help: the number is open, and workgroups race or
    /// exceed memory of fixed size.
    pub(super) fn may_reduce_workgroups(&self) -> bool {
        self.collides && self.check.setup.groups != [1; 3] && self.options.groups.is_none()
    }

    /// Returns the ladder with the sizes of the dispatch, each value once.
    fn ladder(&self) -> Vec<u64> {
        let DispatchSetup { local, groups, .. } = &self.check.setup;
        let sides = local.iter().zip(groups).map(|(local, groups)| u64::from(*local) * u64::from(*groups));
        let mut ladder = Vec::new();
        for value in sides.clone().chain([sides.product()]).chain(LADDER) {
            if !ladder.contains(&value) {
                ladder.push(value);
            }
        }
        ladder
    }
}

/// Returns the indices of the parameters that are components of one vector or short array, for each with
/// several, if there are other parameters, too.
fn vectors(parameters: &[Parameter]) -> Vec<Vec<usize>> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, parameter) in parameters.iter().enumerate() {
        if let Some((name, _)) = parameter.shown.rsplit_once('[') {
            by_name.entry(name).or_default().push(at);
        }
    }
    let is_vector = |of: &Vec<usize>| (2..=COMPONENTS).contains(&of.len()) && of.len() < parameters.len();
    by_name.into_values().filter(is_vector).collect()
}
