//! Sizes of run-time arrays, images and dispatches that follow from the accesses of a candidate.

use super::COST;
use super::Search;
use super::candidate::{Candidate, Score, better};
use super::open_parameter::{Parameter, binding_name};
use crate::CheckError;
use crate::binding_name::BindingName;
use crate::check::Check;
use crate::chosen_parameters::ChosenParameters;
use crate::dispatch_setup::DispatchSetup;
use crate::invocation_choice::{DispatchShape, product};
use crate::memory_layout::{runtime_stride, size_with_elements};
use crate::options::Options;
use assay_events::{BindingWrites, Writes};
use assay_exec::Descriptor;
use assay_oracle::{Outcome, Slot};
use assay_spirv::tables::Dim;
use std::collections::BTreeMap;

/// Largest size to which a run-time array grows, in bytes.
const GROWN_BYTES: u64 = 1 << 22;

/// Size from which no array grows while integers have generated values, with which the search begins: these
/// are rather too large.
const FIRST_GROWN_BYTES: u64 = 1 << 17;

/// Largest number of texels, or samples, to which an image grows.
const GROWN_TEXELS: u64 = 1 << 18;

/// Factor by which the number of workgroups along an axis grows.
const ENLARGEMENT: u32 = 4;

/// Least factor by which the share of elements that could come out wrong grows with the workgroups:
/// a share that stays as it is never suffices.
const LEAST_GAIN: f64 = 1.5;

/// Number of times that the number of workgroups grows.
const ENLARGEMENTS: u32 = 3;

/// Part of an array that is kept, in lengths of its written beginning.
const KEPT: u64 = 4;

/// Number of times that the arrays and images of a candidate grow.
const GROWTHS: u32 = 4;

impl Search<'_> {
    /// Makes the run-time arrays and images of a candidate as large as its accesses need, while
    /// that is not large enough.
    pub(super) fn grown(&mut self, mut candidate: Candidate) -> Result<Candidate, CheckError> {
        let is_generated = !self.has_sizes && self.parameters.iter().any(Parameter::is_integer);
        let most = if is_generated { FIRST_GROWN_BYTES } else { GROWN_BYTES };
        if candidate.reach.values().any(|end| (most..=GROWN_BYTES).contains(end)) {
            return Ok(candidate);
        }
        for growth in 0..GROWTHS {
            // The first accesses of a loop may lead far beyond those that are known.
            let ahead = |end: u64| if end > GROWN_BYTES { end } else { (end << growth).min(GROWN_BYTES) };
            let reach = candidate.reach.iter().map(|(slot, end)| (*slot, ahead(*end))).collect();
            let needed = needed_elements(self.check, self.options, &reach);
            let mut chosen = candidate.chosen.clone();
            for (name, elements) in needed {
                let known = chosen.elements.entry(name).or_default();
                *known = elements.max(*known);
            }
            chosen.image_sizes.extend(needed_image_sizes(self.check, self.options, &candidate.image_reach));
            if chosen == candidate.chosen || self.is_done(&candidate) {
                break;
            }
            candidate = self.once(chosen)?;
        }
        Ok(candidate)
    }

    /// Shortens arrays that a candidate writes to the accessed length ([`Search::fitted_bytes`]). With
    /// robustness, or if a round is undefined, that is not known.
    pub(super) fn fitted(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        if best.score.defined < self.rounds || self.options.robustness.is_some() {
            return Ok(best);
        }
        let mut chosen = best.chosen.clone();
        let groups = chosen.groups.unwrap_or(self.check.setup.groups);
        let ends = best.written.iter().filter(|(_, end)| **end > 0);
        let ends: BTreeMap<Slot, u64> =
            ends.map(|(slot, end)| (*slot, self.fitted_bytes(*slot, *end, groups))).collect();
        let is_short = |slot: &Slot| ends[slot] < self.default_bytes(*slot);
        let short: BTreeMap<Slot, u64> =
            ends.iter().filter(|(slot, _)| is_short(slot)).map(|(s, end)| (*s, *end)).collect();
        for (name, elements) in needed_elements(self.check, self.options, &short) {
            chosen.elements.entry(name).or_insert(elements);
        }
        for (name, elements) in needed_elements(self.check, self.options, &ends) {
            chosen.elements.entry(name).and_modify(|known| *known = elements.min(*known));
        }
        if chosen == best.chosen {
            return Ok(best);
        }
        let fitted = self.candidate(chosen)?;
        Ok(better(best, fitted))
    }

    /// Dispatches more workgroups along one axis at a time, while that improves the score of a
    /// candidate: a shader may write a small part of an image or a table for each workgroup.
    pub(super) fn enlarged(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let Score { defined, narrow, .. } = best.score;
        let is_open = self.options.groups.is_none() && defined == self.rounds && narrow > 0;
        let is_small = !best.score.has_one_in(Writes::MEANINGFUL);
        for _ in 0..if is_open && is_small { ENLARGEMENTS } else { 0 } {
            let groups = best.chosen.groups.unwrap_or(self.check.setup.groups);
            let mut largest: Option<Candidate> = None;
            for axis in (0..3).filter(|axis| self.check.setup.groups[*axis] > 1) {
                let mut groups = groups;
                groups[axis] *= ENLARGEMENT;
                let candidate = self.candidate(ChosenParameters { groups: Some(groups), ..best.chosen.clone() })?;
                largest = Some(match largest {
                    Some(largest) => better(largest, candidate),
                    None => candidate,
                });
            }
            let is_better = |largest: &Candidate| {
                largest.score > best.score
                    && largest.score.exact_share() > LEAST_GAIN * best.score.exact_share()
                    && largest.work <= COST
            };
            match largest.filter(is_better) {
                Some(largest) => best = largest,
                None => break,
            }
            if self.is_done(&best) || self.is_good(&best) {
                break;
            }
        }
        Ok(best)
    }

    /// Dispatches a single workgroup if only a part of the first one can be interpreted: arrays are as long
    /// as that one needs, but the check takes invocations from the last one, too.
    pub(super) fn in_interpreted_workgroup(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let groups = product(best.chosen.groups.unwrap_or(self.check.setup.groups));
        let shape = DispatchShape { groups, ..DispatchShape::new(&self.check.setup, &self.check.program) };
        let is_first_only = shape.choose(self.invocations, 0).is_some_and(|subset| subset.workgroups.len() == 1);
        if !is_first_only || best.chosen.elements.is_empty() || !self.may_reduce_workgroups() {
            return Ok(best);
        }
        let one = self.candidate(ChosenParameters { groups: Some([1; 3]), ..best.chosen.clone() })?;
        let says_no_less = (one.score.defined, one.score.judged) >= (best.score.defined, best.score.judged);
        Ok(if says_no_less { one } else { best })
    }

    /// Returns the number of elements that the shader may write after [`Search::fitted`].
    pub(super) fn fitted_elements(&self, setup: &DispatchSetup, writes: &Writes, outcome: &Outcome) -> u64 {
        let fitted = |of: &BindingWrites| {
            let d = setup.descriptors.iter().find(|d| d.label() == of.binding)?;
            // The number of stores limits the elements, not the length of the array.
            if setup.most_written_to(d, product(setup.groups)).is_some_and(|most| of.elements >= most) {
                return None;
            }
            let end = outcome.memory.get(&d.slot)?.written_end();
            let is_array = elements_up_to(d, end).is_some();
            let end = if is_array { self.fitted_bytes(d.slot, end, setup.groups) } else { d.bytes };
            Some(of.elements * end.min(d.bytes) / d.bytes.max(1))
        };
        writes.bindings.iter().map(|of| fitted(of).unwrap_or(of.elements)).sum()
    }

    /// Returns the size to which an array that is written up to `end` is shortened, in bytes: its
    /// default size, or less for one of which only the beginning is written, as by a reduction with one
    /// result for each workgroup. Workgroups that are not interpreted may write more.
    fn fitted_bytes(&self, slot: Slot, end: u64, groups: [u32; 3]) -> u64 {
        let is_whole = product(groups).saturating_mul(product(self.check.setup.local)) <= self.invocations;
        let usual = self.default_bytes(slot);
        end.max(if is_whole && end > 0 { usual.min(end.saturating_mul(KEPT)) } else { usual })
    }

    /// Returns the size of a binding without chosen parameters.
    fn default_bytes(&self, slot: Slot) -> u64 {
        self.check.setup.descriptors.iter().find(|d| d.slot == slot).map_or(0, |d| d.bytes)
    }
}

/// Returns the lengths of run-time arrays and texel buffers with which accesses up to an end in
/// bytes are in bounds, for those whose length the options leave open and that the shader accesses.
fn needed_elements(check: &Check<'_>, options: &Options, reach: &BTreeMap<Slot, u64>) -> Vec<(String, u64)> {
    let needed = |(slot, end): (&Slot, &u64)| {
        let d = check.setup.descriptors.iter().find(|d| d.slot == *slot)?;
        let elements = elements_up_to(d, *end)?;
        (elements > 0 && has_open_length(check, options, d) && *end <= GROWN_BYTES).then(|| (binding_name(d), elements))
    };
    reach.iter().filter_map(needed).collect()
}

/// Returns whether the options leave the length of a run-time array or texel buffer open.
pub(super) fn has_open_length(check: &Check<'_>, options: &Options, d: &Descriptor) -> bool {
    let names = |name: &Option<BindingName>| name.as_ref().is_none_or(|name| name.names(d.slot, d.name.as_deref()));
    !options.elements.iter().any(|(name, _)| names(name)) && !check.setup.has_given_length(d.slot)
}

/// Returns the lengths of the run-time arrays and texel buffers that the options leave open, by binding.
pub(crate) fn open_lengths(check: &Check<'_>, options: &Options) -> BTreeMap<String, u64> {
    let open = check.setup.descriptors.iter().filter(|d| has_open_length(check, options, d));
    open.filter_map(|d| Some((binding_name(d), elements_up_to(d, d.bytes)?))).collect()
}

/// Returns the length of a run-time array or texel buffer that reaches to an end in bytes; `None`
/// for other memory.
pub(super) fn elements_up_to(d: &Descriptor, end: u64) -> Option<u64> {
    let (header, stride) = match (d.block.as_deref(), &d.texels) {
        (Some(block), _) => (size_with_elements(block, 0), runtime_stride(block)?),
        (None, shape) => {
            let buffer = shape.as_ref().filter(|shape| shape.without_contents().dim == Dim::Buffer)?;
            (0, buffer.scalars().iter().map(|scalar| u64::from(scalar.width() / 8)).sum())
        }
    };
    Some(end.saturating_sub(header).div_ceil(stride.max(1)))
}

/// Returns the sizes of images with which the accesses are in bounds, for images whose size and
/// contents the options leave open.
fn needed_image_sizes(
    check: &Check<'_>,
    options: &Options,
    reach: &BTreeMap<Slot, [u32; 3]>,
) -> Vec<(String, Vec<u32>)> {
    let needed = |(slot, size): (&Slot, &[u32; 3])| {
        let d = check.setup.descriptors.iter().find(|d| d.slot == *slot)?;
        let shape = d.texels.as_ref()?;
        let names = |name: &BindingName| name.names(d.slot, d.name.as_deref());
        let stated = options.images.iter().any(|(name, form)| form.size.is_some() && names(name));
        let is_set = stated || options.image_sizes.iter().any(|(name, _)| names(name)) || check.setup.is_given(d.slot);
        let image = shape.without_contents();
        let texels = size.iter().map(|side| u64::from(*side)).product::<u64>() * u64::from(image.samples);
        let axes = image.axes() as usize;
        (!is_set && texels <= GROWN_TEXELS).then(|| (binding_name(d), size[..axes].to_vec()))
    };
    reach.iter().filter_map(needed).collect()
}
