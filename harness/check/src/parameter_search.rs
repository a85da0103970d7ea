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
//! 2. buffers and images, or the members of their elements that the shader compares, hold the constants
//!    with which it compares them;
//! 3. buffers and images hold numbers from 1 to 8, from 0 to 1, or 0 and 1, if results are
//!    undetermined, few or of one value; this is tried again after each stage of the following
//!    steps. Floats of push constants and small buffers are simple ([`Parameter::simple`]), if that says
//!    clearly more; this is tried again if a mutation score takes too long, and for the last candidate;
//! 4. all parameters have one value, from a ladder of sizes;
//! 5. parameters that are strides by their names are larger than the others; or all parameters are 1
//!    but one: as sizes and strides of a contiguous tensor are;
//! 6. the same with a single workgroup, or layer of workgroups, if they race; with floats on which
//!    branches or the first fault depend among the parameters, also while the other floats are
//!    simple and data are integers; and with simple floats, or ascending ones ([`stages`]);
//! 7. coordinate descent: each parameter in turn takes each value of the ladder, while some change
//!    improves the score, those first from which the first fault derives ([`DataFlow`]);
//! 8. more workgroups, if they write too small a part of what they may write;
//! 9. parameters that the shader compares with constants take these, if it then executes more of
//!    its instructions ([`modes`]). This is tried with good defaults, too, and at first if too
//!    little is executed;
//! 10. at last these parameters get a value for each round, if the rounds together execute more
//!     ([`mode_rounds`]).
//!
//! Before all this, counters begin at 0 ([`contents`]), and arrays that the shader only reads and whose
//! length it asks for get a few entries ([`array_lengths`]). In the end, loops repeat ([`loops`]), and the
//! parameters of the branch that skips most of the code take other values ([`skipped_code`]).
//!
//! Whenever a candidate accesses memory beyond a run-time array or an image, this becomes as large
//! as the accesses need ([`Outcome::reach`], [`Outcome::image_reach`]), within limits that are lower before
//! integers take the values of sizes. In the end, grown arrays
//! are shortened to what the shader writes and reads. The search ends when most of the elements
//! that the shader may write are checked, half of its instructions executed and half of large planted
//! errors noticed ([`crate::mutation_score`]), or at its limits, which count work, so that the search
//! is deterministic. A workgroup that takes too much work with the defaults may be heavy rather than
//! endless, and is interpreted once with a larger limit; so are some such candidates at last.
//!
//! If the search does not find good parameters, it is repeated. It ends early if other parameters are not
//! expected to avoid the faults of the last candidates, but a repetition would ([`INHERENT_FAULTS`]):
//!
//! * with robustness of the device, if accesses leave images: shaders that read beyond the borders
//!   of images rely on it. This is also tried if few planted errors would be noticed;
//! * with benign races permitted, if all candidates are undefined and some race: shaders that store
//!   one value from many invocations rely on that. The verdict is a QualityWarning at best;
//! * with other values of specialisation constants ([`specializations`]);
//! * with robustness, if reads leave buffers, as those of neighbours at the border of a grid do:
//!   Direct3D and WebGPU define them. A write beyond a buffer is rather a mistake, and refused.
//!
//! At last, specialisation constants take values that exclude less code, if then more is executed. If
//! branches are undecided, candidates are interpreted with one result of each instruction
//! ([`likely_execution`]).

mod array_lengths;
mod candidate;
mod candidate_faults;
mod contents;
mod effort;
mod growth;
mod heavy;
mod likely_execution;
mod loops;
mod mode_rounds;
mod modes;
mod open_parameter;
mod parameter_values;
mod skipped_code;
mod specializations;
mod stages;

use crate::CheckError;
use crate::check::Check;
use crate::chosen_parameters::{ChosenParameters, SearchExtent};
use crate::compare::{BYTE_COST, Comparison, compare};
use crate::defined_variant::DefinedVariants;
use crate::dispatch_setup::{DispatchSetup, MAX_BYTES};
use crate::instrument::computations;
use crate::invocation_choice::{DispatchShape, product};
use crate::mutation_score::{ErrorSize, MeasuredScore};
use crate::options::Options;
use crate::provenance::{DataFlow, Provenance};
use assay_events::{ExecutedInstructions, Writes, group_digits};
use assay_exec::{Descriptor, Target, synthetic_addresses};
use assay_oracle::{
    AtomicOrder, Coverage, Dispatch, FaultKind, FollowedResults, Limits, Outcome, Robustness, RunError, Slot,
    SubgroupLayout,
};
use assay_spirv::module::InstructionIndex;
use assay_spirv::reflect::{Reflection, SpecConstant};
use candidate::{Candidate, Judged, Score, better, noticed_share, unusable};
use contents::data_provenance;
use effort::Effort;
use growth::elements_up_to;
pub(crate) use growth::open_lengths;
use heavy::{HEAVY_CANDIDATES, HEAVY_WORK_PER_GROUP};
use modes::FaultyMode;
pub(crate) use open_parameter::variable_names;
use open_parameter::{Parameter, all_parameters, binding_name, open_parameters, own_name, provenance};
pub(crate) use parameter_values::ParameterValues;
use specializations::Aim;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Largest number of interpreted candidates.
const CANDIDATES: u32 = 400;

/// Number of candidates after the first that leads to enough elements, from which elements of one
/// value and a low mutation score are accepted.
const SOUND_CANDIDATES: u32 = 40;

/// Largest cost of all candidates together: the interpreter's work ([`Outcome::work`]), and
/// [`BYTE_COST`] for each byte of memory. It takes about 10 s.
const COST: u64 = 3 << 28;

/// Largest cost of a search with its repetitions.
const WHOLE_COST: u64 = 2 * COST;

/// Cost of the last steps of a search that has used up its own.
const LAST_COST: u64 = COST / 4;

/// Time limit of a search with its repetitions. The limits of cost come first, unless the machine
/// is slow or busy, so that a search is deterministic.
pub const SEARCH_TIME: Duration = Duration::from_secs(120);

/// Largest work of one workgroup ([`Limits::work_per_group`]).
const WORK_PER_GROUP: u64 = 1 << 24;

/// Largest work of one workgroup at first, unless the defaults need more: nested loops over sizes
/// that are too large would take all the time.
const FIRST_WORK_PER_GROUP: u64 = 1 << 22;

/// Blocks of a candidate that are followed under undecided branches: a check follows more.
const UNDECIDED_BLOCKS: u64 = 1 << 12;

/// Largest number of invocations of a candidate that are interpreted.
const INVOCATIONS: u64 = 2048;

/// Largest work of one round of a candidate, unless it is a single workgroup. A candidate that takes
/// more is interpreted again with fewer invocations.
const CANDIDATE_WORK: u64 = 1 << 27;

/// Largest work of one round of the last candidate, which has all workgroups that a search
/// interprets.
const LAST_CANDIDATE_WORK: u64 = 1 << 29;

/// Searches over sets of a candidate ([`Limits::searches`]).
const SEARCHES: u64 = 50;

/// Work of one round of a candidate above which fewer invocations of the next are interpreted: with
/// several workgroups, and with one.
const WORK_PER_ROUND: [u64; 2] = [1 << 20, 1 << 24];

/// The search ends if one in this many elements that the shader may write could come out wrong.
const ENOUGH: u64 = 2;

/// Number of successive candidates with inherent faults ([`Candidate::has_inherent_faults`]), from which
/// only a repetition is expected to help.
const INHERENT_FAULTS: u32 = 12;

/// Logarithm of the instructions that a workgroup executes, from which more say no more of each.
const MAGNITUDE: u32 = 16;

/// Robustness that a search adds in turn if accesses leave images. Every device has the first for
/// buffers, and since Vulkan 1.3 for images (Vulkan, "Feature Requirements").
const ROBUSTNESS: [Robustness; 2] = [Robustness::Access, Robustness::Access2];

/// Rounds with which a candidate is interpreted.
const ROUNDS: u32 = 2;

/// Result of a search for parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSearch {
    /// The options lead to a check that says enough, or leave nothing to search for.
    NotNeeded,
    /// Better parameters.
    Found(Box<ChosenParameters>),
    /// No candidate is better than the defaults.
    NothingBetter(Box<SearchExtent>),
}

/// Searches for parameters if the options of a check lead to undefined behaviour, to few written
/// elements, or to elements of one value. `on_candidate` is called before each candidate is
/// interpreted.
///
/// # Errors
/// As [`DispatchSetup::dispatch`].
pub fn search_parameters(
    check: &Check<'_>,
    options: &Options,
    (target, on_candidate): (&dyn Target, &dyn Fn()),
) -> Result<ParameterSearch, CheckError> {
    search_until(check, options, (target, on_candidate), (None, Instant::now() + SEARCH_TIME))
}

/// As [`search_parameters`], beginning with the defaults or other parameters, until a time.
pub(crate) fn search_until(
    check: &Check<'_>,
    options: &Options,
    (target, on_candidate): (&dyn Target, &dyn Fn()),
    (start, end): (Option<&ChosenParameters>, Instant),
) -> Result<ParameterSearch, CheckError> {
    let mut effort = Effort::new(end, on_candidate);
    let Some(mut search) = Search::new(check, options, target, &effort) else { return Ok(ParameterSearch::NotNeeded) };
    let Some(given) = search.interpret(&check.setup, ChosenParameters::default())? else {
        return likely_execution::search_heavy((check, options, target), &mut effort);
    };
    if search.is_good(&given) {
        let executed = given.score.executed;
        let best = search.with_modes_last(given)?;
        effort.add(&search.effort);
        let best = specializations::search((check, options, target), &mut effort, best, Aim::MoreCode)?;
        let (other_fault, chosen) = (effort.skipped_fault(check, &best), search.with_subset(&best));
        let reason = match chosen.specs.as_slice() {
            [] if chosen.only_takes_subset() => HEAVY_DISPATCH.to_owned(),
            [] => format!("the shader executed only {} of its instructions", group_digits(executed)),
            _ => "specialisation constants exclude a part of the shader".to_owned(),
        };
        let extent = SearchExtent { candidates: effort.candidates, checks_defaults: true, ..SearchExtent::default() };
        return Ok(match chosen == ChosenParameters::default() {
            true => ParameterSearch::NotNeeded,
            false => {
                let has_given = options.gives_parameters();
                ParameterSearch::Found(Box::new(ChosenParameters { reason, has_given, extent, other_fault, ..chosen }))
            }
        });
    }
    let term = term_of_fault(check);
    let (before, reason) = (given.score, given.defect(check, term));
    // A check of heavy inputs says more than one of a shader that hardly runs.
    let is_heavy = given.faults.first() == Some(&FaultKind::Endless);
    let first = match start {
        Some(start) => {
            search.sizes = start.sizes();
            better(given, search.once(start.as_start())?)
        }
        None => given,
    };
    let mut best = search.best_from(first)?;
    effort.add(&search.effort);
    if search.leaves_images && search.may_be_robust() {
        best = search.with_robustness(best, &mut effort)?;
    }
    let is_thin = best.score.defined < search.rounds || best.score.judged == Judged::Little;
    if effort.racing.is_some() && is_thin && !options.benign_races {
        best = search.with_benign_races(best, &mut effort)?;
    }
    if !search.is_good(&best) {
        best = search.with_faulty_mode(best, &mut effort)?;
        best = specializations::search((check, options, target), &mut effort, best, Aim::Better)?;
    }
    let is_checked = best.score.defined == search.rounds && best.score.judged > Judged::Little;
    if search.reads_beyond_buffers && search.may_be_robust() && best.chosen.robustness.is_none() && !is_checked {
        best = search.with_robustness(best, &mut effort)?;
    }
    if best.score.defined == search.rounds {
        best = specializations::search((check, options, target), &mut effort, best, Aim::MoreCode)?;
    }
    let is_open = best.score.defined == search.rounds && best.score.judged < Judged::Output;
    let likely = if is_open { likely_execution::search((check, options, target), &mut effort, &best)? } else { None };
    let executes_more = likely.is_some();
    best = likely.unwrap_or(best);
    // A check that only avoids a fault would say nothing; the refusal names the fault. If most of
    // the shader runs, its instructions can be checked by themselves. Good parameters stay unless
    // others give varied values, or notice more planted errors.
    let was_enough = before.defined == search.rounds && before.has_one_in(Writes::MEANINGFUL) && before.covered;
    let is_judged = best.score.defined == search.rounds && best.score.judged > Judged::Little;
    let says_something = best.score.narrow > 0 && !is_heavy || is_judged;
    let says_more =
        (best.score.varied, best.score.noticed, best.score.busy) > (before.varied, before.noticed, before.busy);
    let chosen = search.with_subset(&best);
    let is_other = chosen != ChosenParameters::default();
    let is_better = is_other && (executes_more || best.score > before && says_something && (says_more || !was_enough));
    let faulty: u32 = effort.faults.values().sum();
    let most = effort.faults.iter().max_by_key(|(_, number)| **number).filter(|_| faulty > effort.candidates / 2);
    let obstacle = most.map(|(kind, number)| {
        let only_most = if *number == faulty { "" } else { "most: " };
        (format!("{term} ({only_most}{kind})"), faulty)
    });
    let checks_defaults = before.defined == search.rounds && before.narrow > 0;
    let judged = if is_better { best.score.judged } else { before.judged };
    let open = || effort.open_race.as_ref().map(|(_, chosen, _)| chosen);
    let racing = effort.racing.as_ref().map(|(_, chosen)| chosen).or_else(open);
    let extent = SearchExtent {
        candidates: effort.candidates,
        race: effort.first_race.clone(),
        outside: effort.access_outside(),
        possible_race: effort.possible_race.clone(),
        open_race: effort.open_race.as_ref().map(|(.., race)| race.clone()),
        racing: racing.map(|chosen| Box::new(chosen.clone())),
        best: Some(Box::new(best.chosen.clone())),
        says_little: judged == Judged::Little,
        checks_defaults,
        obstacle,
    };
    Ok(match is_better {
        true => {
            let other_fault = effort.skipped_fault(check, &best);
            let long_access = search.access_beyond_usual_lengths(&best.chosen)?;
            ParameterSearch::Found(Box::new(ChosenParameters {
                reason,
                has_given: options.gives_parameters(),
                extent,
                other_fault,
                long_access,
                ..chosen
            }))
        }
        false => ParameterSearch::NothingBetter(Box::new(extent)),
    })
}

/// Defect of a check of all invocations, as a clause.
const HEAVY_DISPATCH: &str = "a check of all invocations would take too long";

/// Returns the term for a fault of the shader in its specification.
fn term_of_fault(check: &Check<'_>) -> &'static str {
    if check.setup.wgsl { "a dynamic error" } else { "undefined behaviour" }
}

/// Largest number of parameters that a message lists.
const LISTED: usize = 4;

/// Value of a parameter in an example.
const EXAMPLE: u32 = 16;

/// Returns the parameters from which the operands of a faulty instruction are computed, with an
/// example of options that set them; `None` if there are none.
pub(crate) fn open_sources(check: &Check<'_>, at: InstructionIndex) -> Option<String> {
    let operands = operands_of(check, open_parameters(check), at);
    let names = listed(&operands);
    let options: Vec<String> = operands.iter().take(LISTED).map(|parameter| parameter.option(EXAMPLE)).collect();
    (!names.is_empty())
        .then(|| format!("an operand is computed from {}; try for example {}", names.join(", "), options.join(" ")))
}

/// Returns the names of the parameters, given or open, of the specialisation constants and of the buffers
/// with data from which the operands of an instruction are computed.
pub(crate) fn parameters_of(check: &Check<'_>, at: InstructionIndex) -> Vec<String> {
    let module = &check.shader.source.module;
    let ids = DataFlow::new(module).ids(at);
    let constants = Reflection::new(module).spec_constants.into_iter().filter(|constant| ids.contains(&constant.id));
    let named = |constant: SpecConstant| {
        let name = constant.name.unwrap_or_else(|| constant.spec_id.to_string());
        format!("the specialisation constant `{name}`")
    };
    let sources = DataFlow::new(module).sources(at);
    let data = check.setup.descriptors.iter();
    let data = data.filter(|d| data_provenance(check, &sources, d) == Provenance::Operand);
    let contents = |d: &Descriptor| {
        let name = own_name(&check.setup, d).map_or_else(|| binding_name(d), str::to_owned);
        format!("the contents of `{name}`")
    };
    listed(&operands_of(check, all_parameters(check), at))
        .into_iter()
        .chain(constants.map(named).take(LISTED))
        .chain(data.map(contents).take(LISTED))
        .collect()
}

/// Returns the names of the parameters, given or open, on which branches of the function with an
/// instruction depend.
pub(crate) fn parameters_around(check: &Check<'_>, at: InstructionIndex) -> Vec<String> {
    let sources = DataFlow::new(&check.shader.source.module).sources(at);
    let mut parameters = all_parameters(check);
    parameters.retain(|p| provenance(check, &sources, p) == Provenance::Control);
    listed(&parameters)
}

/// Returns options with which accesses up to an end in bytes are in bounds, for run-time arrays and
/// texel buffers of a reasonable size.
pub(crate) fn options_for_reach(check: &Check<'_>, reach: &BTreeMap<Slot, u64>) -> Vec<String> {
    let option = |(slot, end): (&Slot, &u64)| {
        let d = check.setup.descriptors.iter().find(|d| d.slot == *slot)?;
        let elements = elements_up_to(d, *end).filter(|elements| *elements > 0 && *end <= MAX_BYTES)?;
        let name = own_name(&check.setup, d).map_or_else(|| binding_name(d), str::to_owned);
        Some(format!("--elements {name}={elements}"))
    };
    reach.iter().filter_map(option).collect()
}

/// Returns those of some parameters from which the operands of an instruction are computed.
fn operands_of(check: &Check<'_>, mut parameters: Vec<Parameter>, at: InstructionIndex) -> Vec<Parameter> {
    let sources = DataFlow::new(&check.shader.source.module).sources(at);
    parameters.retain(|p| provenance(check, &sources, p) == Provenance::Operand);
    parameters
}

/// Returns the names of the first parameters, and how many more there are.
fn listed(parameters: &[Parameter]) -> Vec<String> {
    let mut names: Vec<String> = parameters.iter().take(LISTED).map(Parameter::named).collect();
    if let Some(more) = parameters.len().checked_sub(names.len()).filter(|&more| more > 0) {
        names.push(format!("{more} more"));
    }
    names
}

/// Result of a repeated search.
struct Repetition {
    found: Candidate,
    /// Set if some candidate accesses texels beyond images, or all faults of one are reads beyond
    /// buffers.
    leaves_memory: bool,
}

struct Search<'a> {
    check: &'a Check<'a>,
    options: &'a Options,
    target: &'a dyn Target,
    flow: DataFlow<'a>,
    /// Set if the shader stores one value, whatever its parameters are.
    stores_one_value: bool,
    /// Computations that a check of the instructions by themselves can record.
    computations: BTreeSet<InstructionIndex>,
    effort: Effort<'a>,
    /// Cost at which the search ends.
    limit: u64,
    /// Largest work of one workgroup.
    work_per_group: u64,
    /// Largest work of one round of a candidate with several workgroups.
    candidate_work: u64,
    /// The candidates with the smallest parameters that exceed `work_per_group`, by the sum of the
    /// parameters, up to [`HEAVY_CANDIDATES`].
    heavy: BTreeMap<u64, ChosenParameters>,
    /// As [`Limits::undecided_blocks`].
    undecided_blocks: u64,
    /// As [`Limits::searches`], with at least one for each workgroup.
    searches: u64,
    /// Order of atomics in which candidates are interpreted.
    atomic_order: AtomicOrder,
    /// As [`Dispatch::results`].
    results: FollowedResults,
    /// Invocations of a candidate that are interpreted.
    invocations: u64,
    rounds: u32,
    /// Set once integers take the values of sizes.
    has_sizes: bool,
    /// Set if workgroups of some candidate race or exceed memory of fixed size.
    collides: bool,
    /// The modes whose code is undefined with other parameters.
    faulty_modes: Vec<FaultyMode>,
    /// Set if some candidate accesses texels beyond images.
    leaves_images: bool,
    /// Number of the last candidates with inherent faults only.
    inherent_faults: u32,
    /// Set if all faults of some candidate are reads beyond buffers.
    reads_beyond_buffers: bool,
    /// Set if some candidate is defined in all rounds.
    has_defined: bool,
    /// Number of candidates from which one is good that is not sound ([`Score::is_sound`]).
    unsound_from: u32,
    variants: DefinedVariants<'a>,
    /// Parameters that the options leave open.
    parameters: Vec<Parameter>,
    /// Integers in data that atomics increase or decrease.
    counters: Vec<Parameter>,
    /// Sizes of arrays and images with which all candidates begin.
    sizes: ChosenParameters,
}

impl<'a> Search<'a> {
    /// Prepares a search, with what `spent` leaves of the limits. Returns `None` if there is nothing
    /// to search for: the shader writes nothing, the options leave nothing open, or the buffers are
    /// too large.
    fn new(
        check: &'a Check<'_>,
        options: &'a Options,
        target: &'a dyn Target,
        spent: &Effort<'a>,
    ) -> Option<Search<'a>> {
        let writes = check.setup.descriptors.iter().any(|d| d.is_read_back() && d.may_be_written);
        let bytes = check.setup.descriptors.iter().fold(0u64, |all, d| all.saturating_add(d.bytes));
        let is_too_large = bytes.saturating_mul(BYTE_COST) > COST;
        if !writes || options.fixed || options.kernel.is_some() || is_too_large {
            return None;
        }
        let module = &check.shader.source.module;
        let flow = DataFlow::new(module);
        let changed = flow.counters();
        let is_counter = |p: &Parameter| {
            [&changed.increased, &changed.decreased].iter().any(|of| provenance(check, of, p) == Provenance::Operand)
        };
        let (counters, parameters) = open_parameters(check).into_iter().partition(is_counter);
        let (computations, _) = computations(module, &check.setup.entry, module.header().bound);
        Some(Search {
            check,
            options,
            target,
            stores_one_value: flow.stores_one_value(),
            flow,
            computations: computations.into_iter().map(InstructionIndex).collect(),
            effort: Effort::new(spent.end, spent.on_candidate),
            limit: COST.min(WHOLE_COST.saturating_sub(spent.cost)),
            work_per_group: WORK_PER_GROUP,
            candidate_work: CANDIDATE_WORK,
            heavy: BTreeMap::new(),
            undecided_blocks: UNDECIDED_BLOCKS,
            searches: SEARCHES,
            atomic_order: AtomicOrder::Any,
            results: FollowedResults::All,
            invocations: INVOCATIONS,
            rounds: options.rounds.clamp(1, ROUNDS),
            has_sizes: false,
            collides: false,
            faulty_modes: Vec::new(),
            leaves_images: false,
            inherent_faults: 0,
            reads_beyond_buffers: false,
            has_defined: false,
            unsound_from: u32::MAX,
            variants: DefinedVariants::new(&check.shader.source.module, &check.setup),
            parameters,
            counters,
            sizes: ChosenParameters::default(),
        })
    }

    /// Returns the best candidate of the search that begins with one.
    fn best_from(&mut self, first: Candidate) -> Result<Candidate, CheckError> {
        let best = self.with_usual_counters(first)?;
        let best = self.grown(best)?;
        let best = self.with_sorted_keys(best)?;
        let best = self.with_short_arrays(best)?;
        let mut best = self.with_heavy_work(best)?;
        let known = best.work / product(best.chosen.groups.unwrap_or(self.check.setup.groups)).max(1);
        let most = known.saturating_mul(4).clamp(WORK_PER_GROUP, HEAVY_WORK_PER_GROUP);
        for least in [FIRST_WORK_PER_GROUP, WORK_PER_GROUP] {
            if self.is_good(&best) {
                break;
            }
            self.work_per_group = known.saturating_mul(4).clamp(least, most);
            if !self.is_exhausted() {
                self.heavy.clear();
            }
            best = self.improve(best)?;
            if self.heavy.is_empty() || self.work_per_group == most {
                break;
            }
        }
        let best = if self.is_good(&best) { best } else { self.with_heavy_candidates(best)? };
        let best = if self.is_good(&best) { best } else { self.fitted(best)? };
        let best = if self.is_good(&best) { best } else { self.enlarged(best)? };
        let best = if best.is_unmeasured() { self.with_simple_floats(best)? } else { best };
        let best = if best.score.defined == self.rounds { self.with_modes_last(best)? } else { best };
        let best = self.with_usual_flags(best)?;
        let best = if best.score.defined == self.rounds { self.with_skipped_code(best)? } else { best };
        let best = if best.score.defined == self.rounds { self.with_repeated_loops(best)? } else { best };
        if self.invocations == INVOCATIONS || self.effort.is_late() {
            return Ok(best);
        }
        // Other workgroups may need longer arrays.
        let part = std::mem::replace(&mut self.invocations, INVOCATIONS);
        self.candidate_work = LAST_CANDIDATE_WORK;
        self.undecided_blocks = self.check.limits.undecided_blocks;
        let all = DispatchShape::new(&self.check.setup, &self.check.program).count(None);
        // Workgroups without work get a share, too.
        self.searches = 2 * SEARCHES * all.min(INVOCATIONS).div_ceil(part.max(1));
        self.limit += LAST_COST;
        let last = self.candidate(best.chosen.clone())?;
        // What only takes much work is no worse.
        if last.faults.first() == Some(&FaultKind::Endless) {
            self.invocations = part;
            return self.in_interpreted_workgroup(best);
        }
        // Workgroups that were not interpreted race with the others.
        if last.faults.first() == Some(&FaultKind::DataRace) && self.may_reduce_workgroups() {
            let one = self.candidate(ChosenParameters { groups: Some([1; 3]), ..best.chosen })?;
            return Ok(better(last, one));
        }
        // More invocations of a workgroup together are given up earlier.
        if part < product(self.check.setup.local) && last.faults.is_empty() && last.score.judged < best.score.judged {
            let sample = self.options.checked_invocations.is_none().then_some(part);
            return Ok(Candidate { chosen: ChosenParameters { sample, ..last.chosen }, ..best });
        }
        // More workgroups meet data with which something may be undefined.
        match last.score.judged < best.score.judged {
            true => self.with_simple_data(best.score.judged, last),
            false if self.is_good(&best) && !self.is_good(&last) => {
                self.limit = self.limit.max(self.effort.cost + LAST_COST);
                self.with_simple_floats(last)
            }
            false => Ok(last),
        }
    }

    /// Returns whether a candidate leads to a check that gets no warning.
    fn is_good(&self, candidate: &Candidate) -> bool {
        self.is_enough(candidate, Writes::MEANINGFUL)
    }

    /// Returns whether a candidate is defined, and one in `n` elements could come out wrong, with
    /// values of their own and by enough of the planted errors. A shader may write one value, or
    /// hide errors, whatever its parameters are, so that this is not sought for long.
    fn is_enough(&self, Candidate { score, .. }: &Candidate, n: u64) -> bool {
        if self.results == FollowedResults::One {
            return score.judged == Judged::Instructions && score.instructions.0 >= likely_execution::ENOUGH;
        }
        let is_sound = score.is_sound() || self.effort.candidates >= self.unsound_from;
        score.defined == self.rounds && score.has_one_in(n) && is_sound && score.covered
    }

    fn is_done(&self, best: &Candidate) -> bool {
        self.is_exhausted() || self.is_enough(best, ENOUGH)
    }

    fn is_exhausted(&self) -> bool {
        let may_be_repeated =
            self.leaves_images && self.may_be_robust() || self.effort.racing.is_some() && !self.options.benign_races;
        let is_fruitless = self.inherent_faults >= INHERENT_FAULTS && may_be_repeated;
        let effort = &self.effort;
        effort.candidates >= CANDIDATES || effort.cost >= self.limit || effort.is_late() || is_fruitless
    }

    /// Returns whether the search may add robustness of the device.
    fn may_be_robust(&self) -> bool {
        self.options.robustness.is_none() && !self.check.setup.wgsl
    }

    /// Interprets a candidate; its run-time arrays grow to what it accesses.
    fn candidate(&mut self, chosen: ChosenParameters) -> Result<Candidate, CheckError> {
        let candidate = self.once(chosen)?;
        let candidate = self.grown(candidate)?;
        let is_inherent = candidate.has_inherent_faults && candidate.image_reach.is_empty();
        self.inherent_faults = if is_inherent { self.inherent_faults + 1 } else { 0 };
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

    /// Returns the access that is out of bounds with the chosen parameters if arrays have their usual
    /// lengths; `None` if there is none.
    fn access_beyond_usual_lengths(&mut self, chosen: &ChosenParameters) -> Result<Option<String>, CheckError> {
        if chosen.elements.is_empty() {
            return Ok(None);
        }
        let chosen = ChosenParameters { elements: BTreeMap::new(), ..chosen.clone() };
        let mut options = self.options.clone();
        chosen.apply(&mut options)?;
        let Ok(setup) = DispatchSetup::new(self.check.shader, &options) else { return Ok(None) };
        let Ok(usual) = self.interpret_once(&setup, chosen)? else { return Ok(None) };
        let is_outside = usual.faults.first() == Some(&FaultKind::OutOfBounds);
        Ok(usual.faulty.filter(|_| is_outside).map(|at| self.check.shader.location(at)))
    }

    /// Interprets the rounds of a candidate until one has undefined behaviour. Returns `None` if a
    /// round exceeds the oracle's limits.
    fn interpret(&mut self, setup: &DispatchSetup, chosen: ChosenParameters) -> Result<Option<Candidate>, CheckError> {
        self.effort.candidates += 1;
        self.effort.races.entry(chosen.groups).or_default().candidates += 1;
        (self.effort.on_candidate)();
        loop {
            match self.interpret_once(setup, chosen.clone())? {
                Ok(candidate) => return Ok(Some(candidate)),
                Err(RunError::TooMuchWork { .. }) if !self.is_exhausted() => self.invocations /= 8,
                Err(_) => return Ok(None),
            }
        }
    }

    /// Interprets a candidate as [`Search::interpret`] does, with the given number of invocations. The
    /// inner error is the oracle's.
    fn interpret_once(
        &mut self,
        setup: &DispatchSetup,
        chosen: ChosenParameters,
    ) -> Result<Result<Candidate, RunError>, CheckError> {
        let shape = DispatchShape::new(setup, &self.check.program);
        let only = shape.choose(self.invocations, setup.seed());
        let groups = only.as_ref().map_or(shape.groups, |only| only.workgroups.len() as u64);
        let interpreted = shape.count(only.as_ref()).max(1);
        let limits = Limits {
            invocations: u64::MAX,
            blocks_per_group: 1 << 18,
            work_per_group: self.work_per_group,
            work: if groups > 1 { self.candidate_work } else { u64::MAX },
            undecided_blocks: self.undecided_blocks,
            time: self.effort.end.saturating_duration_since(Instant::now()),
            // Each workgroup gets its share, which should not be nothing.
            searches: groups.max(self.searches),
            faults: 16,
            ..self.check.limits
        };
        let score = Score { faults: Reverse(0), elements: Reverse(0), ..Score::default() };
        let (mut fitted, mut written) = (0, 0);
        let (mut least_written, mut most_written) = (u64::MAX, 0);
        let mut has_thin_round = false;
        let mut gives_up = false;
        let (mut compared, mut run) = (Comparison::default(), 0u64);
        let rounds = self.rounds.max(setup.modes());
        let mut candidate = Candidate { score, ..unusable(chosen) };
        let mut first = None;
        let times = shape.count(None) / interpreted;
        // As the check of the instructions requires where few elements are written. Other workgroups may
        // end early.
        let mut frequent = BTreeSet::new();
        let score = &mut candidate.score;
        for round in 0..rounds {
            // Another round seldom makes up for one that says nothing. It counts as a copy.
            if round > 0 && score.narrow == 0 && self.has_defined && setup.modes() == 1 {
                (score.defined, score.elements.0) = (rounds, score.elements.0 / u64::from(round) * u64::from(rounds));
                break;
            }
            let mut dispatch = self.check.dispatch_of(setup, round, self.target)?;
            setup.put_addresses(&synthetic_addresses(&setup.descriptors), &mut dispatch);
            dispatch.only.clone_from(&only);
            dispatch.results = self.results;
            self.effort.cost += setup.descriptors.iter().map(|d| d.bytes).sum::<u64>() * BYTE_COST;
            if self.check.records_layout() && self.check.program.uses_subgroups() {
                // Stands for the layout that the device will show.
                dispatch.layout = SubgroupLayout::Linear;
            }
            let outcome = match self.run_in_some_order(&mut dispatch, &limits) {
                Ok(outcome) => outcome,
                Err(error) => {
                    self.effort.cost += if let RunError::TooMuchWork { limit } = error { limit } else { 0 };
                    return Ok(Err(error));
                }
            };
            candidate.executed.add(&outcome.executed);
            run += outcome.instructions.saturating_mul(shape.local) / interpreted;
            if outcome.fault_count > 0 {
                score.faults = Reverse(outcome.fault_count);
                candidate.faults = outcome.faults.iter().map(|fault| fault.kind).collect();
                match candidate.faults.first() {
                    // More work may be defined.
                    Some(FaultKind::Endless) => {
                        self.heavy.entry(candidate.chosen.sum()).or_insert_with(|| candidate.chosen.clone());
                        if self.heavy.len() > HEAVY_CANDIDATES {
                            self.heavy.pop_last();
                        }
                    }
                    Some(kind) => *self.effort.faults.entry(*kind).or_default() += 1,
                    None => {}
                }
                candidate.faulty = outcome.faults.first().map(|fault| fault.at);
                self.note_races(&outcome.faults, &candidate.chosen, &candidate.executed);
                self.note_outside(&outcome.faults, &candidate.chosen);
                self.note_division(&outcome.faults, &candidate.chosen);
                self.leaves_images |= outcome.faults.iter().any(|fault| self.leaves_image(fault));
                candidate.has_inherent_faults = outcome.faults.iter().all(|fault| self.is_inherent(fault));
                self.reads_beyond_buffers |= outcome.faults.iter().all(|fault| self.reads_beyond_buffer(fault));
                candidate.reach = outcome.reach;
                candidate.image_reach = outcome.image_reach;
                let collides =
                    |kind| matches!(kind, &FaultKind::DataRace | &FaultKind::OutOfBounds | &FaultKind::Pointer);
                self.collides |= candidate.faults.iter().any(collides);
                break;
            }
            if !outcome.benign_races.is_empty() && !outcome.possible_faults.is_empty() {
                // A check does not run it.
                break;
            }
            let is_last = self.candidate_work == LAST_CANDIDATE_WORK;
            let much = WORK_PER_ROUND[usize::from(self.invocations <= shape.local)];
            if outcome.work > much && self.invocations > shape.least() && !is_last {
                self.invocations /= (outcome.work / much).next_power_of_two().clamp(2, 8);
            }
            self.note_possible_races(&outcome, &candidate.chosen);
            // One workgroup may exclude it.
            self.collides |= outcome.possible_faults.iter().any(|fault| fault.kind == Some(FaultKind::DataRace));
            // The interpreted workgroups stand for all.
            gives_up |= outcome.possible_faults.iter().any(|fault| fault.kind.is_none());
            candidate.is_doubtful |=
                outcome.possible_faults.iter().any(|fault| self.variants.excluding(fault).is_none());
            let often = (Writes::FEW * interpreted).div_ceil(groups * shape.local).max(1);
            frequent.extend(self.check.program.executed_at_least(often, &outcome.executed));
            let round_compared = compared_with_itself(setup, &dispatch, &outcome, round);
            let writes = round_compared.writes();
            let outside = round_compared.writable_outside;
            let elements = writes.elements + outside;
            compared.add(round_compared);
            score.defined += 1;
            let narrow = writes.narrow().saturating_mul(times).min(elements);
            score.narrow += narrow;
            score.elements.0 += elements;
            let round_written = writes.written.saturating_mul(times).min(elements);
            has_thin_round |= round_written > 0 && !Writes::is_enough(narrow, elements);
            written += round_written;
            (least_written, most_written) = (round_written.min(least_written), round_written.max(most_written));
            candidate.work = candidate.work.saturating_add(outcome.work.saturating_mul(times));
            fitted += self.fitted_elements(setup, &writes, &outcome) + outside;
            for (slot, memory) in &outcome.memory {
                let end = candidate.written.entry(*slot).or_default();
                *end = memory.written_end().max(*end);
            }
            first.get_or_insert(dispatch);
        }
        // With more rounds, all of them count as the usual number, and one less than all as less.
        score.defined = if score.defined == rounds { self.rounds } else { score.defined.min(self.rounds - 1) };
        self.has_defined |= score.defined == self.rounds;
        let Coverage { instructions, executed, certain } = self.check.program.coverage(&candidate.executed);
        score.executed = executed;
        let coverage = ExecutedInstructions { instructions, executed, ..ExecutedInstructions::default() };
        let covers = coverage.is_meaningful();
        score.covered = score.narrow > 0 && covers;
        let writes_enough = written > 0 && Writes::is_enough(written, score.elements.0);
        let did_much = coverage.did_much(most_written);
        let is_frequent = 2 * frequent.intersection(&self.computations).count() > self.computations.len();
        let gives_enough = most_written >= Writes::FEW || writes_enough || is_frequent;
        let runs = (writes_enough && (covers || gives_up) || did_much && gives_enough) && !candidate.is_doubtful;
        let magnitude = run.checked_ilog2().unwrap_or(0);
        score.thorough = if score.narrow == 0 { magnitude } else { 0 };
        score.varied = self.stores_one_value || compared.writes().is_varied();
        let has_idle_round = least_written == 0 && most_written > 0;
        score.busy = if setup.modes() > 1 { !has_thin_round } else { !has_idle_round };
        score.ample = score.narrow > 0 && Writes::is_enough(score.narrow, fitted);
        score.share = (1000 * score.narrow / score.elements.0.max(1)).min(1000 / Writes::MEANINGFUL);
        score.judged = match score.ample && score.covered {
            true => Judged::Output,
            false if runs => Judged::Instructions,
            false => Judged::Little,
        };
        if score.judged == Judged::Output && score.defined == self.rounds {
            self.unsound_from = self.unsound_from.min(self.effort.candidates + SOUND_CANDIDATES);
        }
        let is_sound = score.judged == Judged::Output && score.varied && score.defined == self.rounds;
        let is_sound = is_sound && self.results == FollowedResults::All;
        if let Some(mut dispatch) = first.filter(|_| is_sound) {
            dispatch.atomic_order = AtomicOrder::Interpreted;
            let MeasuredScore { score: mutations, cost } =
                self.check.mutation_score(setup, (dispatch, Vec::new()), ErrorSize::Large);
            self.effort.cost += cost;
            score.noticed = noticed_share(mutations.as_ref());
            candidate.mutations = mutations;
            if !score.notices_enough() {
                score.judged = if runs { Judged::Instructions } else { Judged::Little };
            }
        }
        let tenths = |number: u64| (10 * number + instructions / 2) / instructions.max(1);
        let is_likely = self.results == FollowedResults::One;
        if is_likely {
            score.judged = if runs { Judged::Instructions } else { Judged::Little };
        }
        if score.judged == Judged::Instructions || is_likely {
            score.instructions = (tenths(executed), magnitude.min(MAGNITUDE));
            score.certain = tenths(certain);
        }
        Ok(Ok(candidate))
    }

    /// Interprets a dispatch. Once an outcome depends on the order of atomics, this and all later ones
    /// are in the order of the interpretation: the check observes an order on the device. So is a subset of
    /// the invocations, in which the atomics of the others leave everything open.
    fn run_in_some_order(&mut self, dispatch: &mut Dispatch, limits: &Limits) -> Result<Outcome, RunError> {
        loop {
            let is_part = dispatch.only.is_some();
            dispatch.atomic_order = if is_part { AtomicOrder::Interpreted } else { self.atomic_order.clone() };
            let outcome = self.check.program.run(dispatch, limits)?;
            self.effort.cost += outcome.work;
            if is_part || self.atomic_order != AtomicOrder::Any || !outcome.depends_on_order() {
                return Ok(outcome);
            }
            self.atomic_order = AtomicOrder::Interpreted;
        }
    }

    /// Returns the better one of a candidate and the best one with some robustness of the device,
    /// unless the candidate is good and sound. The other parameters are searched for again.
    fn with_robustness(&mut self, mut best: Candidate, effort: &mut Effort<'_>) -> Result<Candidate, CheckError> {
        for robustness in ROBUSTNESS {
            if self.is_good(&best) && best.score.is_sound() {
                break;
            }
            let benign_races = best.chosen.benign_races;
            let mut robust = Options { robustness: Some(robustness), ..self.options.clone() };
            robust.benign_races |= benign_races;
            robust.specs.extend(best.chosen.specs.iter().cloned());
            let Some(Repetition { found, .. }) = self.repeated(&robust, &[&best.chosen], effort)? else { break };
            let specs = best.chosen.specs.clone();
            let chosen = ChosenParameters { specs, robustness: Some(robustness), benign_races, ..found.chosen };
            best = better(best, Candidate { chosen, ..found });
        }
        if best.chosen.robustness.is_none() || !best.chosen.specs.is_empty() || best.chosen.benign_races {
            return Ok(best);
        }
        // The parameters that the repetition found may need none.
        let before = self.effort.candidates;
        (self.limit, self.inherent_faults) = (self.limit.max(self.effort.cost + LAST_COST), 0);
        let plain = self.candidate(ChosenParameters { robustness: None, ..best.chosen.clone() })?;
        effort.candidates += self.effort.candidates - before;
        Ok(if plain.score.says_no_less(&best.score) { plain } else { best })
    }

    /// Returns the better one of a candidate and the best one in which benign races are permitted, if
    /// need be with robustness, too. The other parameters are searched for again.
    fn with_benign_races(&mut self, best: Candidate, effort: &mut Effort<'_>) -> Result<Candidate, CheckError> {
        let robustness = best.chosen.robustness;
        let racing =
            Options { benign_races: true, robustness: robustness.or(self.options.robustness), ..self.options.clone() };
        let most = effort.racing.as_ref().map(|(_, chosen)| chosen.clone());
        let starts: Vec<_> = most.iter().chain([&best.chosen]).collect();
        let Some(Repetition { found, leaves_memory }) = self.repeated(&racing, &starts, effort)? else {
            return Ok(best);
        };
        let chosen = ChosenParameters { benign_races: true, robustness, ..found.chosen };
        let mut found = Candidate { chosen, ..found };
        if racing.robustness.is_none() && !self.check.setup.wgsl && leaves_memory {
            found = self.with_robustness(found, effort)?;
        }
        Ok(better(best, found))
    }

    /// Repeats the search with other options, beginning with the defaults or the best of the starts, less
    /// what the options contain. Returns `None` if there is nothing to search for.
    fn repeated(
        &self,
        options: &Options,
        starts: &[&ChosenParameters],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Repetition>, CheckError> {
        let check = Check::new(self.check.shader, options)?;
        let Some(mut search) = Search::new(&check, options, self.target, effort) else { return Ok(None) };
        // With robustness, no access shows that memory is too small.
        if let (Some(_), Some(last)) = (options.robustness, starts.last()) {
            search.sizes = last.sizes();
        }
        let mut best = search.once(search.sizes.clone())?;
        for start in starts {
            best = better(best, search.once(start.as_start())?);
        }
        let found = search.best_from(best)?;
        effort.add(&search.effort);
        Ok(Some(Repetition { found, leaves_memory: search.leaves_images || search.reads_beyond_buffers }))
    }
}

/// Compares the permitted output of a round with itself, for its counts of elements.
fn compared_with_itself(setup: &DispatchSetup, dispatch: &Dispatch, outcome: &Outcome, round: u32) -> Comparison {
    let permitted = outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect();
    compare(outcome, dispatch, setup, &permitted, (round, false))
}
