//! Search for parameters with which a shader has defined behaviour and writes many elements.
//!
//! A shader's sizes and strides are in push constants and small buffers. Generated values lead to
//! accesses out of bounds, or to a guard that lets no invocation through, so that there is nothing
//! to check. The search varies what the options leave open: the integers of push constants, uniform
//! buffers and small read-only storage buffers, the lengths of run-time arrays, and the number of
//! workgroups. It interprets each candidate and keeps the best ([`Score`]):
//!
//! 1. buffers from which a faulty index was computed hold 0, 1, 2, .. or numbers from 1 to 8; or an
//!    aligned offset, if an address was computed from them;
//! 2. buffers and images hold the constants with which the shader compares their values;
//! 3. buffers hold numbers from 1 to 8, or 0 and 1, if results are undetermined, few or of one value;
//! 4. all parameters have one value, from a ladder of sizes;
//! 5. all parameters are 1 but one, as sizes and strides of a contiguous tensor are;
//! 6. a single workgroup, or layer of workgroups, if they race; floats on which branches or the
//!    first fault depend take the values of the ladder, too; and all floats are 1: sizes and
//!    positions are computed from some;
//! 7. coordinate descent: each parameter in turn takes each value of the ladder, while some change
//!    improves the score, those first from which the first fault derives ([`DataFlow`]);
//! 8. more workgroups, if they write too small a part of what they may write.
//!
//! Whenever a candidate accesses memory beyond a run-time array or an image, this becomes as large
//! as the accesses need ([`Outcome::reach`], [`Outcome::image_reach`]). In the end, grown arrays
//! are shortened to what the shader writes and reads. The search ends when most of the elements
//! that the shader may write are checked, or at its limits. It is deterministic unless it reaches
//! its time limit. If it does not find good parameters, it is repeated:
//!
//! * with robustness of the device, if accesses leave images: shaders that read beyond the borders
//!   of images rely on it. An access beyond a buffer is rather a mistake, and refused;
//! * with other values of specialisation constants ([`specializations`]).

mod specializations;

use crate::CheckError;
use crate::binding_name::BindingName;
use crate::check::Check;
use crate::chosen_parameters::{ChosenParameters, INDEX};
use crate::compare::{Comparison, compare};
use crate::dispatch_setup::DispatchSetup;
use crate::memory_layout::{Element, path_text, runtime_stride, size_with_elements, walk_scalars};
use crate::options::{ONE_OF, Options};
use crate::parameter::width_permits;
use crate::provenance::{DataFlow, FaultSources, Provenance};
use crate::workgroup_sample::{choose_workgroups, product};
use assay_events::{BindingWrites, Writes, group_digits};
use assay_exec::{Descriptor, ImageShape, Target, synthetic_addresses};
use assay_oracle::{Dispatch, Fault, FaultKind, Limits, Outcome, Robustness, Slot, SubgroupLayout};
use assay_precision::Scalar;
use assay_spirv::module::InstructionIndex;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::{Dim, Op};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Values that every parameter takes in turn, beside the sizes of the dispatch.
const LADDER: [u64; 9] = [64, 256, 1, 16, 4, 1024, 32, 8, 2];

/// Largest number of interpreted candidates.
const CANDIDATES: u32 = 400;

/// Number of candidates after which elements of one value are accepted.
const CONSTANT_CANDIDATES: u32 = 40;

/// Largest cost of all candidates together: the interpreter's work ([`Outcome::work`]), and
/// [`BYTE_COST`] for each byte of memory. It takes some seconds.
const COST: u64 = 1 << 28;

/// Time limit of a search. A search that ends by its cost takes a fraction of it.
const TIME: Duration = Duration::from_secs(15);

/// Time in which the best candidate is interpreted again with all invocations.
const VERIFICATION_TIME: Duration = Duration::from_secs(5);

/// Time limit of a search with its repetitions.
const WHOLE_TIME: Duration = Duration::from_secs(40);

/// Cost of a byte that is generated, copied and compared.
const BYTE_COST: u64 = 8;

/// Largest work of one workgroup ([`Limits::work_per_group`]).
const WORK_PER_GROUP: u64 = 1 << 24;

/// Largest work of one workgroup at first, unless the defaults need more: nested loops over sizes
/// that are too large would take all the time.
const FIRST_WORK_PER_GROUP: u64 = 1 << 22;

/// Largest number of invocations of a candidate that are interpreted, in whole workgroups.
const INVOCATIONS: u64 = 2048;

/// Work of one round of a candidate above which fewer invocations of the next are interpreted.
const WORK_PER_ROUND: u64 = 1 << 20;

/// Largest number of integers, and of floats, in one buffer. A larger one holds data.
const PARAMETERS: usize = 128;

/// Largest size to which a run-time array grows, in bytes.
const GROWN_BYTES: u64 = 1 << 22;

/// Largest number of texels, or samples, to which an image grows.
const GROWN_TEXELS: u64 = 1 << 18;

/// Factor by which the number of workgroups along an axis grows.
const ENLARGEMENT: u32 = 4;

/// Number of times that the number of workgroups grows.
const ENLARGEMENTS: u32 = 3;

/// Number of times that the arrays and images of a candidate grow.
const GROWTHS: u32 = 4;

/// The search ends if one in this many elements that the shader may write could come out wrong.
const ENOUGH: u64 = 2;

/// Contents of a buffer from which indices are computed: the numbers of the elements, or small
/// positions.
const INDICES: [&str; 2] = [INDEX, SMALL];

/// Small positions.
const SMALL: &str = "1..8";

/// Contents of buffers that are data: small numbers, and the states of cells.
const DATA: [&str; 2] = [SMALL, "one-of:0,1"];

/// Contents of a buffer from whose integers addresses are computed: an offset that is aligned for
/// every type, indices, and no offset.
const OFFSETS: [&str; 3] = ["16", INDEX, "0"];

/// Robustness that a search adds in turn if accesses leave images. Every device has the first for
/// buffers, and since Vulkan 1.3 for images (Vulkan, "Feature Requirements").
const ROBUSTNESS: [Robustness; 2] = [Robustness::Access, Robustness::Access2];

/// Rounds with which a candidate is interpreted.
const ROUNDS: u32 = 2;

/// Quality of a candidate, from the most to the least important property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Rounds without undefined behaviour.
    defined: u32,
    /// Set if enough elements could come out wrong, once grown arrays are as long as the writes.
    ample: bool,
    /// Set if these elements differ in their values ([`Writes::is_varied`]).
    varied: bool,
    /// Written elements that could come out wrong by a factor of two, in these rounds.
    narrow: u64,
    /// Faults in the first round that has any.
    faults: Reverse<u64>,
    /// Elements that the shader may write.
    elements: Reverse<u64>,
}

impl Score {
    /// Returns the share of elements that could come out wrong.
    fn share(&self) -> f64 {
        self.narrow as f64 / self.elements.0.max(1) as f64
    }

    /// Returns whether this share is at least one in `n`.
    fn has_one_in(&self, n: u64) -> bool {
        self.narrow > 0 && self.narrow.saturating_mul(n) >= self.elements.0
    }
}

/// An integer or float that the options leave open.
#[derive(Clone, Debug)]
struct Parameter {
    /// Buffer; `None` for the push constants.
    slot: Option<Slot>,
    /// Its name in the notation of the command line.
    name: String,
    element: Element,
}

/// Floats of push constants and buffers in a part of the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Floats {
    /// They have generated values.
    Generated,
    /// Those on which a branch or the first fault depends take the values of the integers: some are
    /// sizes.
    Sizes,
    /// They are 1.
    Ones,
}

/// Parameters with which the coordinate descent begins.
struct Base {
    start: ChosenParameters,
    parameters: Vec<Parameter>,
    /// Their values; `None` for a generated one.
    values: Vec<Option<u64>>,
}

/// A candidate with its result.
struct Candidate {
    chosen: ChosenParameters,
    score: Score,
    /// Kinds of the kept faults.
    faults: Vec<FaultKind>,
    /// Instruction of the first fault.
    faulty: Option<InstructionIndex>,
    /// End of the accesses beyond each buffer, in bytes.
    reach: BTreeMap<Slot, u64>,
    /// Size of each image that holds the accesses beyond it, in texels.
    image_reach: BTreeMap<Slot, [u32; 3]>,
    /// End of the writes to each buffer, in bytes.
    written: BTreeMap<Slot, u64>,
    /// Work of a check, estimated from the interpreted workgroups.
    work: u64,
}

impl Candidate {
    /// Returns the defect of a candidate that is not good, as a clause.
    fn defect(&self) -> String {
        let Score { narrow, elements: Reverse(elements), .. } = self.score;
        match self.faults.first() {
            Some(kind) => format!("the shader has undefined behaviour ({kind})"),
            None if self.score.has_one_in(Writes::MEANINGFUL) => format!(
                "the {} elements that could come out wrong have one value or keep their old one",
                group_digits(narrow)
            ),
            None => format!(
                "only {} of the {} elements that the shader may write could come out wrong",
                group_digits(narrow),
                group_digits(elements)
            ),
        }
    }
}

/// Result of a search for parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSearch {
    /// The options lead to a check that says enough, or leave nothing to search for.
    NotNeeded,
    /// Better parameters.
    Found(Box<ChosenParameters>),
    /// None of this number of candidates is better than the defaults.
    NothingBetter(u32),
}

/// Searches for parameters if the options of a check lead to undefined behaviour, to few written
/// elements, or to elements of one value.
///
/// # Errors
/// As [`DispatchSetup::dispatch`].
pub fn search_parameters(
    check: &Check<'_>,
    options: &Options,
    target: &dyn Target,
) -> Result<ParameterSearch, CheckError> {
    let end = Instant::now() + WHOLE_TIME;
    let Some(mut search) = Search::new(check, options, target, end) else { return Ok(ParameterSearch::NotNeeded) };
    let Some(given) = search.interpret(&check.setup, ChosenParameters::default())? else {
        return Ok(ParameterSearch::NotNeeded);
    };
    // The work limit of a candidate is low, so that a fault of this kind alone proves nothing.
    if search.is_good(&given) || given.faults == [FaultKind::Endless] {
        return Ok(ParameterSearch::NotNeeded);
    }
    let (before, reason) = (given.score, given.defect());
    let mut best = search.best_from(given)?;
    let mut candidates = search.candidates;
    let is_open = options.robustness.is_none() && !check.setup.wgsl;
    for robustness in if search.leaves_images && is_open { &ROBUSTNESS[..] } else { &[] } {
        if search.is_good(&best) {
            break;
        }
        let robust = Options { robustness: Some(*robustness), ..options.clone() };
        let check = Check::new(check.shader, &robust)?;
        let Some(mut search) = Search::new(&check, &robust, target, end) else { break };
        let (usual, changed) = (search.once(ChosenParameters::default())?, search.once(best.chosen.clone())?);
        let found = search.best_from(better(usual, changed))?;
        candidates += search.candidates;
        let chosen = ChosenParameters { robustness: robust.robustness, ..found.chosen };
        best = better(best, Candidate { chosen, ..found });
    }
    if !search.is_good(&best)
        && let Some((specialised, more)) = specializations::search((check, options, target), end, &best)?
    {
        candidates += more;
        best = better(best, specialised);
    }
    // A check that only avoids a fault would say nothing; the refusal names the fault. Good
    // parameters stay unless others give varied values.
    let was_enough = before.defined == search.rounds && before.has_one_in(Writes::MEANINGFUL);
    let is_better = best.score > before && best.score.narrow > 0 && (best.score.varied || !was_enough);
    Ok(match is_better {
        true => ParameterSearch::Found(Box::new(ChosenParameters { reason, candidates, ..best.chosen })),
        false => ParameterSearch::NothingBetter(candidates),
    })
}

/// Largest number of parameters that a message lists.
const LISTED: usize = 4;

/// Value of a parameter in an example.
const EXAMPLE: u32 = 16;

/// Returns the parameters from which the operands of a faulty instruction are computed, with an
/// example of options that set them; `None` if there are none.
pub(crate) fn open_sources(check: &Check<'_>, at: InstructionIndex) -> Option<String> {
    let sources = DataFlow::new(&check.shader.source.module).sources(at);
    let parameters = open_parameters(check);
    let operands = parameters.iter().filter(|p| provenance(check, &sources, p) == Provenance::Operand);
    let operands: Vec<&Parameter> = operands.collect();
    let named = |p: &&Parameter| match p.slot {
        None => format!("push constant `{}`", p.name),
        Some(_) => format!("`{}`", p.name),
    };
    let mut names: Vec<String> = operands.iter().take(LISTED).map(named).collect();
    if let Some(more) = operands.len().checked_sub(names.len()).filter(|&more| more > 0) {
        names.push(format!("{more} more"));
    }
    let option =
        |p: &&Parameter| format!("{} {}={EXAMPLE}", if p.slot.is_none() { "--push" } else { "--input" }, p.name);
    let options: Vec<String> = operands.iter().take(LISTED).map(option).collect();
    (!names.is_empty())
        .then(|| format!("an operand is computed from {}; try for example {}", names.join(", "), options.join(" ")))
}

/// Returns how a fault depends on a parameter.
fn provenance(check: &Check<'_>, sources: &FaultSources, Parameter { slot, element, .. }: &Parameter) -> Provenance {
    let setup = &check.setup;
    let block = match slot {
        None => setup.push.as_deref(),
        Some(slot) => setup.descriptors.iter().find(|d| d.slot == *slot).and_then(|d| d.block.as_deref()),
    };
    let module = &check.shader.source.module;
    let memory = (*slot, &*slot.map_or_else(Vec::new, |slot| setup.pointees_of(slot)));
    block.map_or(Provenance::Unknown, |block| sources.of(module, memory, block, element.offset))
}

/// Returns the integers and floats that the options leave open.
fn open_parameters(check: &Check<'_>) -> Vec<Parameter> {
    let setup = &check.setup;
    let mut parameters = Vec::new();
    let mut add = |slot: Option<Slot>, prefix: &str, block, bytes| {
        let (mut integers, mut floats) = (Vec::new(), Vec::new());
        walk_scalars(block, bytes, &mut |element, steps| {
            let is_integer = matches!(element.scalar, Scalar::Int { .. });
            let found = if is_integer { &mut integers } else { &mut floats };
            if found.len() <= PARAMETERS && !setup.is_set(slot, element.offset) {
                let path = path_text(steps);
                let path = if slot.is_none() { path.trim_start_matches('.').to_owned() } else { path };
                // A single value has no path.
                let path = if path.is_empty() { format!("@{}", element.offset) } else { path };
                found.push(Parameter { slot, name: format!("{prefix}{path}"), element });
            }
        });
        let few = |found: &Vec<Parameter>| found.len() <= PARAMETERS;
        parameters.extend([integers, floats].into_iter().filter(few).flatten());
    };
    if let Some(push) = setup.push.as_ref().filter(|_| check.push_is_open) {
        add(None, "", push, push.size());
    }
    for d in &setup.descriptors {
        let Some(block) = d.block.as_deref().filter(|_| holds_parameters(d) && !setup.is_given(d.slot)) else {
            continue;
        };
        add(Some(d.slot), &binding_name(d), block, d.bytes);
    }
    parameters
}

struct Search<'a> {
    check: &'a Check<'a>,
    options: &'a Options,
    target: &'a dyn Target,
    flow: DataFlow<'a>,
    /// Set if the shader stores one value, whatever its parameters are.
    stores_one_value: bool,
    candidates: u32,
    cost: u64,
    /// Largest work of one workgroup.
    work_per_group: u64,
    /// Invocations of a candidate that are interpreted.
    invocations: u64,
    deadline: Instant,
    rounds: u32,
    /// Set if workgroups of some candidate race or exceed memory of fixed size.
    collides: bool,
    /// Set if some candidate accesses texels beyond images.
    leaves_images: bool,
}

impl<'a> Search<'a> {
    /// Prepares a search that ends at the given time. Returns `None` if there is nothing to search
    /// for: the shader writes nothing, the options leave nothing open, or the buffers are too
    /// large.
    fn new(check: &'a Check<'_>, options: &'a Options, target: &'a dyn Target, end: Instant) -> Option<Search<'a>> {
        let writes = check.setup.descriptors.iter().any(|d| d.is_read_back() && d.may_be_written);
        let bytes = check.setup.descriptors.iter().fold(0u64, |all, d| all.saturating_add(d.bytes));
        let is_too_large = bytes.saturating_mul(BYTE_COST) > COST;
        if !writes || options.fixed || options.kernel.is_some() || is_too_large {
            return None;
        }
        let flow = DataFlow::new(&check.shader.source.module);
        Some(Search {
            check,
            options,
            target,
            stores_one_value: flow.stores_one_value(),
            flow,
            candidates: 0,
            cost: 0,
            work_per_group: WORK_PER_GROUP,
            invocations: INVOCATIONS,
            deadline: (Instant::now() + TIME).min(end),
            rounds: options.rounds.min(ROUNDS),
            collides: false,
            leaves_images: false,
        })
    }

    /// Returns the best candidate of the search that begins with one.
    fn best_from(&mut self, first: Candidate) -> Result<Candidate, CheckError> {
        let known = first.work / product(self.check.setup.groups).max(1);
        let mut best = self.grown(first)?;
        for least in [FIRST_WORK_PER_GROUP, WORK_PER_GROUP] {
            self.work_per_group = known.saturating_mul(4).clamp(least, WORK_PER_GROUP);
            if !self.is_good(&best) {
                best = self.improve(best)?;
            }
            if best.score.defined > 0 || self.work_per_group == WORK_PER_GROUP {
                break;
            }
        }
        let best = if self.is_good(&best) { best } else { self.fitted(best)? };
        let best = if self.is_good(&best) { best } else { self.enlarged(best)? };
        if self.invocations == INVOCATIONS {
            return Ok(best);
        }
        // Other workgroups may need longer arrays.
        self.invocations = INVOCATIONS;
        self.deadline += VERIFICATION_TIME;
        self.candidate(best.chosen)
    }

    /// Returns the best candidate among those with other parameters.
    fn improve(&mut self, first: Candidate) -> Result<Candidate, CheckError> {
        let is_integer = |p: &Parameter| matches!(p.element.scalar, Scalar::Int { .. });
        let (integers, floats): (Vec<_>, Vec<_>) = open_parameters(self.check).into_iter().partition(is_integer);
        let ladder = self.ladder();
        let best = self.indexed(first)?;
        let best = self.with_compared_constants(best)?;
        let mut best = self.with_small_data(best)?;
        let inputs = best.chosen.inputs.clone();
        let [x, y, _] = self.check.setup.groups;
        let start = ChosenParameters { inputs: inputs.clone(), ..ChosenParameters::default() };
        let mut base = Base { start, parameters: integers.clone(), values: vec![None; integers.len()] };
        let groups = |groups: [u32; 3]| (Some(groups), Floats::Generated);
        let [flat, single] = [groups([x, y, 1]), groups([1; 3])];
        let branches = self.flow.branch_sources();
        let faulty = best.faulty.map(|at| self.flow.sources(at));
        // Floats are data, unless nothing else helps.
        for (groups, kind) in [(None, Floats::Generated), flat, single, (None, Floats::Sizes), (None, Floats::Ones)] {
            let reduces = groups.is_none_or(|groups| groups != self.check.setup.groups && self.may_reduce_workgroups());
            let chosen: Vec<Parameter> = match kind {
                Floats::Generated => Vec::new(),
                Floats::Sizes => {
                    let decides = |p: &&Parameter| {
                        let of_fault = faulty.as_ref().map(|faulty| provenance(self.check, faulty, p));
                        of_fault == Some(Provenance::Operand)
                            || provenance(self.check, &branches, p) == Provenance::Control
                    };
                    floats.iter().filter(decides).cloned().collect()
                }
                Floats::Ones => floats.clone(),
            };
            if !reduces || kind != Floats::Generated && chosen.is_empty() {
                continue;
            }
            let mut start = ChosenParameters { groups, inputs: inputs.clone(), ..ChosenParameters::default() };
            let mut parameters = integers.clone();
            match kind {
                Floats::Generated => {}
                Floats::Sizes => parameters.extend(chosen),
                Floats::Ones => start = with_values(&start, &chosen, &vec![Some(1); chosen.len()]),
            }
            let none = vec![None; parameters.len()];
            if groups.is_some() || kind == Floats::Ones {
                let candidate = self.candidate(start.clone())?;
                let candidate = self.indexed(candidate)?;
                start.inputs.clone_from(&candidate.chosen.inputs);
                if candidate.score > best.score {
                    (best, base) =
                        (candidate, Base { start: start.clone(), parameters: parameters.clone(), values: none });
                }
            }
            let all = |value: u64| vec![Some(value); parameters.len()];
            let but_one = |value: u64| {
                (0..parameters.len()).map(move |at| {
                    let mut one_large = all(1);
                    one_large[at] = Some(value);
                    one_large
                })
            };
            // A single parameter is covered by the ladder.
            let large = if parameters.len() > 1 { [ladder[0], 64] } else { [1, 1] };
            let starts = ladder.iter().map(|value| all(*value));
            for all in starts.chain(large.into_iter().filter(|value| *value > 1).flat_map(but_one)) {
                if parameters.is_empty() || self.is_done(&best) {
                    break;
                }
                let candidate = self.candidate(with_values(&start, &parameters, &all))?;
                if candidate.score > best.score {
                    (best, base) =
                        (candidate, Base { start: start.clone(), parameters: parameters.clone(), values: all });
                }
            }
            if self.is_good(&best) {
                break;
            }
        }
        let best = self.descend(best, base, &ladder)?;
        self.with_small_data(best)
    }

    /// Changes the contents of buffers from which a faulty index or address was computed
    /// ([`INDICES`], [`OFFSETS`]).
    fn indexed(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let mut tried: Vec<String> = Vec::new();
        while let Some(at) = best.faulty {
            let sources = self.flow.sources(at);
            let is_index = |d: &&Descriptor| {
                d.kind == DescriptorKind::StorageBuffer
                    && !self.check.setup.is_given(d.slot)
                    && !tried.contains(&binding_name(d))
                    && self.is_operand(&sources, d)
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

    /// Gives images of integers small numbers if a candidate is faulty: an index may be computed
    /// from a texel.
    fn with_small_texels(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let is_integer = |scalar: &Scalar| matches!(scalar, Scalar::Int { .. });
        let setup = &self.check.setup;
        let open = setup.descriptors.iter().filter(|d| {
            let texels = d.texels.as_ref().map(ImageShape::scalars);
            texels.is_some_and(|scalars| scalars.iter().all(is_integer)) && !setup.is_given(d.slot)
        });
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
    fn with_compared_constants(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let setup = &self.check.setup;
        let mut chosen = best.chosen.clone();
        for (slot, constants) in self.flow.compared_constants() {
            let is_open = |d: &&Descriptor| {
                Slot { element: 0, ..d.slot } == slot && !setup.is_given(d.slot) && !holds_parameters(d)
            };
            for name in setup.descriptors.iter().filter(is_open).map(binding_name) {
                if chosen.inputs.iter().all(|(known, _)| *known != name) {
                    chosen.inputs.push((name, one_of(&constants)));
                }
            }
        }
        if self.is_good(&best) || chosen == best.chosen {
            return Ok(best);
        }
        let candidate = self.candidate(chosen)?;
        let candidate = self.indexed(candidate)?;
        Ok(better(best, candidate))
    }

    /// Gives open buffers small numbers if a candidate is defined and not good: results of
    /// generated floats may be undetermined, such as their conversion to integers, or saturate.
    fn with_small_data(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        if best.score.defined < self.rounds || self.is_good(&best) {
            return Ok(best);
        }
        let setup = &self.check.setup;
        let holds_data = |d: &&Descriptor| {
            d.kind == DescriptorKind::StorageBuffer && !holds_parameters(d) && !setup.is_given(d.slot)
        };
        let names: Vec<String> = setup.descriptors.iter().filter(holds_data).map(binding_name).collect();
        let before = best.chosen.clone();
        for contents in DATA {
            let is_open = |name: &&String| before.inputs.iter().all(|(known, _)| known != *name);
            let added = names.iter().filter(is_open).map(|name| (name.clone(), contents.to_owned()));
            let mut chosen = before.clone();
            chosen.inputs.extend(added);
            if self.is_good(&best) || chosen == before {
                break;
            }
            let candidate = self.candidate(chosen)?;
            best = better(best, candidate);
        }
        Ok(best)
    }

    /// Returns whether the shader computes pointers from integers.
    fn computes_addresses(&self) -> bool {
        self.check.shader.source.module.instructions().any(|i| i.op == Some(Op::ConvertUToPtr))
    }

    /// Returns whether a faulty index was computed from the run-time array of a buffer.
    fn is_operand(&self, sources: &FaultSources, d: &Descriptor) -> bool {
        let Some(block) = d.block.as_deref().filter(|block| runtime_stride(block).is_some()) else { return false };
        let module = &self.check.shader.source.module;
        let memory = (Some(d.slot), &*self.check.setup.pointees_of(d.slot));
        let first = size_with_elements(block, 0);
        let mut is_operand = false;
        walk_scalars(block, size_with_elements(block, 1), &mut |element, _| {
            is_operand |=
                element.offset >= first && sources.of(module, memory, block, element.offset) == Provenance::Operand;
        });
        is_operand
    }

    /// Coordinate descent: changes one parameter at a time while that improves the score.
    fn descend(
        &mut self,
        mut best: Candidate,
        Base { start, parameters, mut values }: Base,
        ladder: &[u64],
    ) -> Result<Candidate, CheckError> {
        let mut improved = true;
        while improved {
            improved = false;
            for (at, is_operand) in self.by_provenance(&parameters, &best) {
                // A faulty index may have to be 0.
                let (first, last) = if is_operand { (Some(0), None) } else { (None, Some(0)) };
                for value in first.into_iter().chain(ladder.iter().copied()).chain(last) {
                    if self.is_done(&best) {
                        return Ok(best);
                    }
                    if values[at] == Some(value) || !width_permits(parameters[at].element.scalar, value) {
                        continue;
                    }
                    let mut changed = values.clone();
                    changed[at] = Some(value);
                    let candidate = self.candidate(with_values(&start, &parameters, &changed))?;
                    if candidate.score > best.score {
                        (best, values, improved) = (candidate, changed, true);
                    }
                }
            }
        }
        Ok(best)
    }

    /// Returns the indices of the parameters, with whether an operand of a candidate's fault is
    /// computed from them. Those on which the fault depends come first.
    fn by_provenance(&self, parameters: &[Parameter], best: &Candidate) -> Vec<(usize, bool)> {
        let sources = best.faulty.map(|at| self.flow.sources(at));
        let of = |at: usize| {
            sources.as_ref().map_or(Provenance::Unknown, |sources| provenance(self.check, sources, &parameters[at]))
        };
        let mut order: Vec<(Provenance, usize)> = (0..parameters.len()).map(|at| (of(at), at)).collect();
        order.sort_unstable();
        order.into_iter().map(|(provenance, at)| (at, provenance == Provenance::Operand)).collect()
    }

    /// Shortens grown arrays that a candidate writes to the accessed length, but not below their
    /// default length.
    fn fitted(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        if best.score.defined == 0 {
            return Ok(best);
        }
        let mut chosen = best.chosen.clone();
        let least = |(slot, end): (&Slot, &u64)| (*slot, self.default_bytes(*slot).max(*end));
        let ends = best.written.iter().filter(|(_, end)| **end > 0).map(least).collect();
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
    fn enlarged(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
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
                largest.score > best.score && largest.score.share() > best.score.share() && largest.work <= COST
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

    /// Returns whether a candidate leads to a check that gets no warning.
    fn is_good(&self, candidate: &Candidate) -> bool {
        self.is_enough(candidate, Writes::MEANINGFUL)
    }

    /// Returns whether a candidate is defined, and one in `n` elements could come out wrong, with
    /// values of their own. A shader may write one value whatever its parameters are, so that this
    /// is not sought for long.
    fn is_enough(&self, Candidate { score, .. }: &Candidate, n: u64) -> bool {
        let is_varied = score.varied || self.candidates >= CONSTANT_CANDIDATES;
        score.defined == self.rounds && score.has_one_in(n) && is_varied
    }

    fn is_done(&self, best: &Candidate) -> bool {
        self.candidates >= CANDIDATES
            || self.cost >= COST
            || Instant::now() >= self.deadline
            || self.is_enough(best, ENOUGH)
    }

    /// Returns whether a single workgroup may help: the number is open, and workgroups race or
    /// exceed memory of fixed size.
    fn may_reduce_workgroups(&self) -> bool {
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

    /// Interprets a candidate; its run-time arrays grow to what it accesses.
    fn candidate(&mut self, chosen: ChosenParameters) -> Result<Candidate, CheckError> {
        let candidate = self.once(chosen)?;
        self.grown(candidate)
    }

    /// Makes the run-time arrays and images of a candidate as large as its accesses need, while
    /// that is not large enough.
    fn grown(&mut self, mut candidate: Candidate) -> Result<Candidate, CheckError> {
        for _ in 0..GROWTHS {
            let needed = needed_elements(self.check, self.options, &candidate.reach);
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

    /// Interprets a candidate as it is.
    fn once(&mut self, chosen: ChosenParameters) -> Result<Candidate, CheckError> {
        let mut options = self.options.clone();
        chosen.apply(&mut options)?;
        // Parameters may exceed the limits of a check, as grown arrays do.
        let interpreted = match DispatchSetup::new(self.check.shader, &options) {
            Ok(setup) => self.interpret(&setup, chosen.clone())?,
            Err(_) => None,
        };
        Ok(interpreted.unwrap_or_else(|| unusable(chosen)))
    }

    /// Interprets the rounds of a candidate until one has undefined behaviour. Returns `None` if a
    /// round exceeds the oracle's limits.
    fn interpret(&mut self, setup: &DispatchSetup, chosen: ChosenParameters) -> Result<Option<Candidate>, CheckError> {
        self.candidates += 1;
        let limits = Limits {
            invocations: u64::MAX,
            blocks_per_group: 1 << 18,
            work_per_group: self.work_per_group,
            undecided_blocks: 1 << 12,
            time: self.deadline.saturating_duration_since(Instant::now()),
            searches: 100,
            faults: 16,
            ..self.check.limits
        };
        let score = Score { faults: Reverse(0), elements: Reverse(0), ..Score::default() };
        let (mut fitted, mut compared) = (0, Comparison::default());
        let mut candidate = Candidate { score, ..unusable(chosen) };
        let score = &mut candidate.score;
        for round in 0..self.rounds {
            let mut dispatch = self.check.dispatch_of(setup, round, self.target)?;
            setup.put_addresses(&synthetic_addresses(&setup.descriptors), &mut dispatch);
            let local = product(setup.local);
            dispatch.only = choose_workgroups(product(setup.groups), local, self.invocations, setup.seed());
            self.cost += setup.descriptors.iter().map(|d| d.bytes).sum::<u64>() * BYTE_COST;
            if self.check.records_layout() && self.check.program.uses_subgroups() {
                // Stands for the layout that the device will show.
                dispatch.layout = SubgroupLayout::Linear;
            }
            let Ok(outcome) = self.check.program.run(&dispatch, &limits) else { return Ok(None) };
            self.cost += outcome.work;
            if outcome.fault_count > 0 {
                score.faults = Reverse(outcome.fault_count);
                candidate.faults = outcome.faults.iter().map(|fault| fault.kind).collect();
                candidate.faulty = outcome.faults.first().map(|fault| fault.at.instruction);
                self.leaves_images |= outcome.faults.iter().any(|fault| self.leaves_image(fault));
                candidate.reach = outcome.reach;
                candidate.image_reach = outcome.image_reach;
                let collides =
                    |kind| matches!(kind, &FaultKind::DataRace | &FaultKind::OutOfBounds | &FaultKind::Pointer);
                self.collides |= candidate.faults.iter().any(collides);
                break;
            }
            if outcome.work > WORK_PER_ROUND && self.invocations > local {
                self.invocations /= 2;
            }
            // The interpreted workgroups stand for all.
            let groups = product(setup.groups);
            let share = groups / dispatch.only.as_ref().map_or(groups, |only| only.len() as u64).max(1);
            let round_compared = compared_with_itself(setup, &dispatch, &outcome, round);
            let writes = round_compared.writes();
            let elements = writes.elements + round_compared.outside_subset;
            compared.add(round_compared);
            score.defined += 1;
            score.narrow += writes.narrow().saturating_mul(share).min(elements);
            score.elements.0 += elements;
            candidate.work = candidate.work.saturating_add(outcome.work.saturating_mul(share));
            fitted += self.fitted_elements(setup, &writes, &outcome);
            for (slot, memory) in &outcome.memory {
                let end = candidate.written.entry(*slot).or_default();
                *end = memory.written_end().max(*end);
            }
        }
        score.varied = self.stores_one_value || compared.writes().is_varied();
        score.ample = score.narrow > 0 && Writes::is_enough(score.narrow, fitted);
        Ok(Some(candidate))
    }

    /// Returns whether a fault is an access beyond an image.
    fn leaves_image(&self, fault: &Fault) -> bool {
        let op = self.check.shader.source.module.instruction(fault.at.instruction).op;
        fault.kind == FaultKind::OutOfBounds && matches!(op, Some(Op::ImageFetch | Op::ImageRead | Op::ImageWrite))
    }

    /// Returns the number of elements that the shader may write if grown arrays end with the last
    /// write ([`Search::fitted`]).
    fn fitted_elements(&self, setup: &DispatchSetup, writes: &Writes, outcome: &Outcome) -> u64 {
        let fitted = |of: &BindingWrites| {
            let d = setup.descriptors.iter().find(|d| d.label() == of.binding)?;
            let end = outcome.memory.get(&d.slot)?.written_end().max(self.default_bytes(d.slot));
            Some(of.elements * end.min(d.bytes) / d.bytes.max(1))
        };
        writes.bindings.iter().map(|of| fitted(of).unwrap_or(of.elements)).sum()
    }

    /// Returns the size of a binding without chosen parameters.
    fn default_bytes(&self, slot: Slot) -> u64 {
        self.check.setup.descriptors.iter().find(|d| d.slot == slot).map_or(0, |d| d.bytes)
    }
}

/// Compares the permitted output of a round with itself, for its counts of elements.
fn compared_with_itself(setup: &DispatchSetup, dispatch: &Dispatch, outcome: &Outcome, round: u32) -> Comparison {
    let permitted = outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect();
    compare(outcome, dispatch, &setup.descriptors, &permitted, (round, false))
}

/// Returns the contents of a buffer with some constants, and with another number if there is only
/// one.
fn one_of(constants: &BTreeSet<String>) -> String {
    let other = if constants.contains("0") { "1" } else { "0" };
    let other = (constants.len() == 1).then_some(other);
    let values: Vec<&str> = constants.iter().map(String::as_str).chain(other).collect();
    format!("{ONE_OF}{}", values.join(","))
}

fn better(one: Candidate, other: Candidate) -> Candidate {
    if other.score > one.score { other } else { one }
}

/// Returns a candidate that does not fit the shader or the limits.
fn unusable(chosen: ChosenParameters) -> Candidate {
    let score = Score { faults: Reverse(u64::MAX), elements: Reverse(u64::MAX), ..Score::default() };
    let (reach, image_reach, written) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    Candidate { chosen, score, faults: Vec::new(), faulty: None, reach, image_reach, written, work: 0 }
}

/// Returns whether a buffer may hold parameters: the shader only reads it, and its size is fixed.
fn holds_parameters(d: &Descriptor) -> bool {
    let is_read_only =
        d.kind == DescriptorKind::UniformBuffer || d.kind == DescriptorKind::StorageBuffer && !d.may_be_written;
    is_read_only && d.block.as_deref().is_some_and(|block| runtime_stride(block).is_none())
}

/// Returns the name of a binding on the command line.
fn binding_name(d: &Descriptor) -> String {
    if let Some(name) = d.name.as_ref().filter(|_| d.is_addressed()) {
        return name.clone();
    }
    let Slot { set, binding, element } = d.slot;
    let array = if element == 0 { String::new() } else { format!("[{element}]") };
    format!("{set}.{binding}{array}")
}

/// Returns a candidate's parameters with the values of those that have one.
fn with_values(start: &ChosenParameters, parameters: &[Parameter], values: &[Option<u64>]) -> ChosenParameters {
    let mut chosen = start.clone();
    for (parameter, value) in parameters.iter().zip(values) {
        let Some(value) = value.filter(|value| width_permits(parameter.element.scalar, *value)) else { continue };
        let list = if parameter.slot.is_some() { &mut chosen.inputs } else { &mut chosen.push };
        list.push((parameter.name.clone(), value.to_string()));
    }
    chosen
}

/// Returns the lengths of run-time arrays and texel buffers with which accesses up to an end in
/// bytes are in bounds, for those whose length the options leave open and that the shader accesses.
fn needed_elements(check: &Check<'_>, options: &Options, reach: &BTreeMap<Slot, u64>) -> Vec<(String, u64)> {
    let texel_buffer =
        |shape: &Option<ImageShape>| shape.as_ref().filter(|s| s.without_contents().dim == Dim::Buffer).cloned();
    let needed = |(slot, end): (&Slot, &u64)| {
        let d = check.setup.descriptors.iter().find(|d| d.slot == *slot)?;
        let (header, stride) = match (d.block.as_deref(), &d.texels) {
            (Some(block), _) => (size_with_elements(block, 0), runtime_stride(block)?),
            (None, texels) => (0, texel_buffer(texels)?.scalars().iter().map(|s| u64::from(s.width() / 8)).sum()),
        };
        let named = |name: &Option<BindingName>| name.as_ref().is_none_or(|name| name.names(d.slot, d.name.as_deref()));
        let is_set = options.elements.iter().any(|(name, _)| named(name)) || check.setup.is_given(d.slot);
        let elements = end.saturating_sub(header).div_ceil(stride.max(1));
        (elements > 0 && !is_set && *end <= GROWN_BYTES).then(|| (binding_name(d), elements))
    };
    reach.iter().filter_map(needed).collect()
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
