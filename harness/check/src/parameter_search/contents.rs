//! Contents of buffers and images as a whole: indices, offsets, small data and compared constants.

use super::Search;
use super::candidate::{Candidate, Judged, Score, better};
use super::open_parameter::{Parameter, binding_name, holds_parameters, provenance};
use crate::CheckError;
use crate::check::Check;
use crate::chosen_parameters::{ChosenParameters, INDEX};
use crate::compared_constants::ComparedValue;
use crate::dispatch_setup::DispatchSetup;
use crate::invocation_choice::product;
use crate::memory_layout::{PathStep, path_text, runtime_stride, size_with_elements, walk_scalars};
use crate::options::ONE_OF;
use crate::provenance::{FaultSources, Provenance};
use assay_events::Writes;
use assay_exec::{Descriptor, ImageShape};
use assay_oracle::{FaultKind, Place, Slot};
use assay_precision::Scalar;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::Op;
use assay_texture::TexelFormat;
use std::collections::{BTreeMap, BTreeSet};

/// Contents of a buffer from which indices are computed: the numbers of the elements, or small
/// positions.
const INDICES: [&str; 2] = [INDEX, SMALL];

/// Pairs of halves as integers: (1, 0.5), (2, 1.5), (0.75, 3), (1.25, 0.25).
const HALVES: [&str; 4] = ["939539456", "1040203776", "1107311104", "872430848"];

/// Largest number of compared constants of one binding or member.
const CONSTANTS: usize = 16;

/// Parts of 1, such as colours.
const PARTS: &str = "0..1";

/// Small positions.
const SMALL: &str = "1..8";

/// Small contents of data.
#[derive(Clone, Copy)]
pub(super) enum SmallData {
    /// The integers from 1 to 8.
    Integers,
    /// Numbers from 1 to 8.
    Numbers,
    /// Numbers from 0 to 1.
    Parts,
}

impl SmallData {
    fn contents(self) -> String {
        match self {
            SmallData::Integers => one_of(["1", "2", "3", "4", "5", "6", "7", "8"]),
            SmallData::Numbers => SMALL.to_owned(),
            SmallData::Parts => PARTS.to_owned(),
        }
    }
}

/// Contents of a buffer from whose integers addresses are computed: an offset that is aligned for
/// every type, indices, and no offset.
const OFFSETS: [&str; 3] = ["16", INDEX, "0"];

impl Search<'_> {
    /// Lets counters begin at 0, or at the number of invocations if they are decreased, if a candidate then
    /// says no less.
    pub(super) fn with_usual_counters(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let mut chosen = best.chosen.clone();
        let DispatchSetup { local, groups, .. } = &self.check.setup;
        let invocations = product(*local).saturating_mul(product(*groups));
        let decreased = self.flow.counters().decreased;
        for counter in &self.counters {
            let is_decreased = provenance(self.check, &decreased, counter) == Provenance::Operand;
            counter.set(&mut chosen, if is_decreased { invocations } else { 0 }.to_string());
        }
        if chosen == best.chosen {
            return Ok(best);
        }
        let candidate = self.candidate(chosen)?;
        Ok(if candidate.score.says_no_less(&best.score) { candidate } else { best })
    }

    /// Changes the contents of buffers from which a faulty index or address was computed
    /// ([`INDICES`], [`OFFSETS`]).
    pub(super) fn indexed(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let mut tried: Vec<String> = Vec::new();
        while let Some(at) = best.faulty {
            let sources = self.flow.sources(at.instruction);
            // The divisor is rather a parameter than a datum.
            let divides = best.faults.first() == Some(&FaultKind::Division);
            let is_operand = |p: &Parameter| provenance(self.check, &sources, p) == Provenance::Operand;
            if divides && self.parameters.iter().any(is_operand) {
                break;
            }
            let is_index = |d: &&Descriptor| {
                d.kind == DescriptorKind::StorageBuffer
                    && !self.check.setup.is_given(d.slot)
                    && !tried.contains(&binding_name(d))
                    && data_provenance(self.check, &sources, d) == Provenance::Operand
            };
            let Some(name) = self.check.setup.descriptors.iter().find(is_index).map(binding_name) else { break };
            let contents = match best.faults.first() {
                Some(FaultKind::Pointer) if self.computes_addresses() => &OFFSETS[..],
                _ => &INDICES[..],
            };
            let before = best.chosen.clone();
            for source in contents {
                let mut chosen = before.clone();
                chosen.inputs.push((name.clone(), (*source).to_owned()));
                let candidate = self.candidate(chosen)?;
                best = better(best, candidate);
            }
            tried.push(name);
        }
        self.with_small_texels(best)
    }

    /// Gives ascending numbers to the buffers on whose elements the branches of a shader with a race
    /// depend: keys may have to be sorted and distinct, as those of a tree or a search.
    pub(super) fn with_sorted_keys(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let at = best.faulty.filter(|_| best.faults.first() == Some(&FaultKind::DataRace));
        let Some(at) = at else { return Ok(best) };
        let mut chosen = best.chosen.clone();
        let keys = self.data_sources(at, Provenance::Control).into_iter();
        chosen.inputs.extend(keys.map(|name| (name, INDEX.to_owned())));
        if chosen == best.chosen {
            return Ok(best);
        }
        let candidate = self.candidate(chosen)?;
        Ok(better(best, candidate))
    }

    /// Gives images of integers small numbers if a candidate is faulty: an index may be computed
    /// from a texel.
    fn with_small_texels(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let setup = &self.check.setup;
        let holds_integers = |d: &&Descriptor| d.texels.as_ref().is_some_and(reads_as_integers);
        let open = setup.descriptors.iter().filter(holds_integers).filter(|d| !setup.is_given(d.slot));
        let mut chosen = best.chosen.clone();
        chosen.inputs.extend(open.map(|d| (binding_name(d), SMALL.to_owned())));
        if best.faulty.is_none() || chosen == best.chosen {
            return Ok(best);
        }
        let candidate = self.candidate(chosen)?;
        Ok(better(best, candidate))
    }

    /// Gives buffers and images the constants with which the shader compares values from them: a
    /// kind of cell or of material, for example. Fuzzers call such constants a dictionary.
    pub(super) fn with_compared_constants(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let before = best.chosen.clone();
        // With another value beside them: the shader may compare in order to end.
        for with_another in [false, true] {
            let chosen = self.compared_constants(before.clone(), with_another);
            if self.is_good(&best) || with_another && best.score.covered || chosen == before {
                break;
            }
            let candidate = self.candidate(chosen)?;
            let candidate = self.indexed(candidate)?;
            // A faulty candidate that gets further is a better start than one that does nothing.
            let does_nothing = best.score.narrow == 0 && best.score.judged == Judged::Little;
            let gets_further = does_nothing && candidate.score.executed > best.score.executed;
            best = if gets_further { candidate } else { better(best, candidate) };
        }
        Ok(best)
    }

    /// Returns parameters with the compared constants as contents of a binding, or of those members of an
    /// array's elements that are compared. A single constant gets a value beside it, and each type of the
    /// buffer one that fits.
    fn compared_constants(&self, mut chosen: ChosenParameters, with_another: bool) -> ChosenParameters {
        let setup = &self.check.setup;
        let mut by_place: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
        let values = self.flow.compared_values();
        for value in &values {
            let is_compared = |d: &&Descriptor| value.slots.contains(&Slot { element: 0, ..d.slot });
            let is_open = |d: &&Descriptor| is_compared(d) && !setup.is_given(d.slot) && !holds_parameters(d);
            for place in setup.descriptors.iter().filter(is_open).flat_map(|d| self.compared_places(value, d)) {
                let known = by_place.entry(place).or_default();
                known.extend(value.numbers.iter().take(CONSTANTS.saturating_sub(known.len())));
            }
        }
        for (place, constants) in by_place {
            let other = ["0", "1", "2"].into_iter().find(|other| constants.iter().all(|number| number != other));
            let fits_all_types = constants.iter().any(|number| number.parse::<i8>().is_ok_and(|number| number >= 0));
            let other = other.filter(|_| with_another || constants.len() == 1 || !fits_all_types);
            if chosen.inputs.iter().all(|(known, _)| *known != place) {
                chosen.inputs.push((place, one_of(constants.into_iter().map(String::as_str).chain(other))));
            }
        }
        chosen
    }

    /// Returns the members of an array's elements from which a value is computed, as `particles.kind`; the whole
    /// binding if it is computed from all of them, or from something else.
    fn compared_places(&self, value: &ComparedValue, d: &Descriptor) -> Vec<String> {
        let whole = binding_name(d);
        let Some(block) = d.block.as_deref() else { return vec![whole] };
        let module = &self.check.shader.source.module;
        let memory = (Some(d.slot), &*self.check.setup.pointees_of(d.slot));
        let (mut members, mut all) = (BTreeSet::new(), true);
        walk_scalars(block, size_with_elements(block, 1), &mut |element, steps| {
            let steps = steps.iter().filter(|step| matches!(step, PathStep::Member(..)));
            let member = path_text(&steps.copied().collect::<Vec<_>>());
            match value.sources.of(module, memory, block, element.offset) {
                Provenance::Operand if !member.is_empty() => _ = members.insert(format!("{whole}{member}")),
                _ => all = false,
            }
        });
        if all || members.is_empty() { vec![whole] } else { members.into_iter().collect() }
    }

    /// Gives open buffers and images small numbers, parts of 1, or the states of cells, if a
    /// candidate is defined and its values say little: results of generated floats may be
    /// undetermined, such as the roots of negative ones and conversions to integers, or saturate.
    pub(super) fn with_small_data(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let says_little = |score: &Score| !(score.is_sound() && score.has_one_in(Writes::MEANINGFUL));
        let before = best.chosen.clone();
        let names = self.data(&before);
        for contents in [SMALL.to_owned(), PARTS.to_owned(), one_of(["0", "1"])] {
            if best.score.defined < self.rounds || !says_little(&best.score) || names.is_empty() {
                break;
            }
            let mut chosen = before.clone();
            self.set_data(&mut chosen, &names, &contents);
            let candidate = self.candidate(chosen)?;
            best = better(best, candidate);
        }
        Ok(best)
    }

    /// Returns the names of the buffers and images with data whose contents are open.
    fn data(&self, chosen: &ChosenParameters) -> Vec<String> {
        let setup = &self.check.setup;
        let is_open = |d: &&Descriptor| {
            let (name, is_fixed) = (binding_name(d), d.block.as_deref().is_some_and(|b| runtime_stride(b).is_none()));
            let is_of = |known: &String| *known == name || is_fixed && known.starts_with(&format!("{name}."));
            let has_contents = chosen.inputs.iter().any(|(known, _)| is_of(known));
            let is_buffer = d.kind == DescriptorKind::StorageBuffer && !holds_parameters(d);
            // Texels of normalised formats are parts of 1 already.
            let is_image = d.texels.as_ref().is_some_and(|shape| {
                let has_floats = shape.scalars().iter().all(|scalar| !matches!(scalar, Scalar::Int { .. }));
                has_floats || reads_as_integers(shape)
            });
            (is_buffer || is_image) && !has_contents && !setup.is_given(d.slot)
        };
        setup.descriptors.iter().filter(is_open).map(binding_name).collect()
    }

    /// Gives all data whose contents are open or small these contents.
    pub(super) fn set_small(&self, chosen: &mut ChosenParameters, data: SmallData) {
        let all = [SmallData::Integers, SmallData::Numbers, SmallData::Parts].map(SmallData::contents);
        chosen.inputs.retain(|(_, contents)| !all.contains(contents));
        let names = self.data(chosen);
        self.set_data(chosen, &names, &data.contents());
    }

    /// Gives data small contents, or pairs of simple halves where the shader unpacks their integers.
    fn set_data(&self, chosen: &mut ChosenParameters, names: &[String], contents: &str) {
        let packed = self.flow.packed_halves();
        let descriptors = &self.check.setup.descriptors;
        let is_packed = |name: &String| {
            let of_name = descriptors.iter().find(|d| binding_name(d) == *name);
            of_name.is_some_and(|d| data_provenance(self.check, &packed, d) == Provenance::Operand)
        };
        let contents_of = |name: &String| if is_packed(name) { one_of(HALVES) } else { contents.to_owned() };
        chosen.inputs.extend(names.iter().map(|name| (name.clone(), contents_of(name))));
    }

    /// Returns whether the shader computes pointers from integers.
    fn computes_addresses(&self) -> bool {
        self.check.shader.source.module.instructions().any(|i| i.op == Some(Op::ConvertUToPtr))
    }

    /// Returns the bindings with open data from which a faulty index or address was computed
    /// (`Operand`), or on which the branches around it depend (`Control`).
    pub(super) fn data_sources(&self, faulty: Place, provenance: Provenance) -> Vec<String> {
        let sources = self.flow.sources(faulty.instruction);
        let open = self.check.setup.descriptors.iter().filter(|d| !self.check.setup.is_given(d.slot));
        open.filter(|d| data_provenance(self.check, &sources, d) == provenance).map(binding_name).collect()
    }
}

/// Returns how a fault depends on the run-time array of a buffer: in the closest way of the scalars of
/// an element.
pub(super) fn data_provenance(check: &Check<'_>, sources: &FaultSources, d: &Descriptor) -> Provenance {
    let block = d.block.as_deref().filter(|block| runtime_stride(block).is_some());
    let Some(block) = block else { return Provenance::Unknown };
    let module = &check.shader.source.module;
    let memory = (Some(d.slot), &*check.setup.pointees_of(d.slot));
    let first = size_with_elements(block, 0);
    let mut closest = Provenance::Unknown;
    walk_scalars(block, size_with_elements(block, 1), &mut |element, _| {
        if element.offset >= first {
            closest = closest.min(sources.of(module, memory, block, element.offset));
        }
    });
    closest
}

/// Returns whether a shader reads integers from an image.
fn reads_as_integers(shape: &ImageShape) -> bool {
    TexelFormat::Color(shape.without_contents().format).is_integer()
}

/// Returns the contents of a buffer whose elements have some of the values.
fn one_of<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    format!("{ONE_OF}{}", values.into_iter().collect::<Vec<_>>().join(","))
}
