//! Mutation score of a check: the share of planted errors that its comparison would notice.
//!
//! An element that could have come out wrong may say little about the shader: it may be a copy of
//! the input, or all taps of a filter may coincide with the parameters that a search chose. Mutation
//! analysis (DeMillo, Lipton & Sayward, "Hints on Test Data Selection", IEEE Computer 11(4), 1978)
//! measures that. An error is planted in one computation at a time, the oracle interprets the changed
//! shader, and one of its permitted outputs is compared with the permitted sets of the original.
//!
//! Deviations from the usual mutation analysis:
//!
//! * An error in a float is relative, so that a result of zero has none.
//! * Errors are planted in a sample of the executed computations, and a subset of the invocations is
//!   interpreted. Errors in loads, stores and control flow are not planted.
//! * Undefined accesses of the changed shader have no effect. If it has any, or leaves more elements
//!   undetermined than the original, and nothing else is noticed, the effect of the error is not
//!   known.
//! * An error without effect on any output (an equivalent mutant) counts as one that is not noticed.

use crate::compare::{BYTE_COST, compare};
use crate::dispatch_setup::DispatchSetup;
use crate::instrument::{computations, name};
use crate::invocation_choice::DispatchShape;
use crate::{Mutation, MutationKind, PlantedError, ShaderSource};
use assay_events::MutationScore;
use assay_oracle::{Dispatch, Expected, Limits, Memory, Outcome, Place, Program, RunError, Slot};
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, ScalarOrVector};
use assay_spirv::module::{Instruction, InstructionIndex};
use assay_spirv::tables::Op;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Least number of errors that a score rests on, if there are as many computations.
const LEAST_PLANTED: u64 = 4;

/// Reasons why a score could not be measured.
const TOO_LONG: &str = "an interpretation of the shader takes too long (--patience 4 permits more)";
const UNDEFINED: &str = "the shader may have undefined behaviour";

/// Largest work of a changed shader, as a multiple of that of the original.
const SLOWDOWN: u64 = 4;

/// Time limit of one interpretation. The limits of work come first, unless the machine is slow or
/// busy.
const TIME: Duration = Duration::from_secs(5);

/// Time after which no further error is planted: the effect of the others stays unknown.
const WHOLE_TIME: Duration = Duration::from_secs(15);

/// Size of the errors that are planted in floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorSize {
    /// A thousand units in the last place. An output with wide permitted sets may hide it.
    Small,
    /// A quarter of the value, or the largest that [`MutationKind::Ulp`] can express. Only an output
    /// on which the value has no influence hides it.
    Large,
}

/// Effort of a score.
struct Effort {
    /// Largest number of planted errors.
    planted: u64,
    /// Largest number of invocations that are interpreted.
    invocations: u64,
    /// Largest cost: the interpreter's work, and [`BYTE_COST`] for each byte of memory.
    cost: u64,
}

impl ErrorSize {
    /// Returns the number of units in the last place that are added to a float of a width in bits.
    fn ulp(self, width: u32) -> i32 {
        match (self, width) {
            (ErrorSize::Small, _) => 1000,
            (ErrorSize::Large, 16) => 1 << 8,
            (ErrorSize::Large, 32) => 1 << 21,
            (ErrorSize::Large, _) => i32::MAX,
        }
    }

    /// Returns the effort of a score: up to four seconds for the small errors of a check, and less for
    /// each candidate of a search.
    fn effort(self) -> Effort {
        match self {
            ErrorSize::Small => Effort { planted: 16, invocations: 512, cost: 1 << 28 },
            ErrorSize::Large => Effort { planted: 12, invocations: 128, cost: 1 << 24 },
        }
    }
}

/// Largest number of errors that a score lists.
const LISTED: usize = 3;

/// A score, and the cost at which it was measured.
pub(crate) struct MeasuredScore {
    /// The score; `None` if there is no computation in which an error could be planted.
    pub(crate) score: Option<MutationScore>,
    pub(crate) cost: u64,
}

/// A computation, and the kind of the error that is planted in it.
type Site = (MutationKind, InstructionIndex);

/// A shader in which errors are planted.
pub(crate) struct MutationAnalysis<'a> {
    pub(crate) shader: &'a ShaderSource,
    pub(crate) program: &'a Program,
    pub(crate) setup: &'a DispatchSetup,
    /// Limits of a check; the work and the time of an interpretation are limited further.
    pub(crate) limits: Limits,
    pub(crate) size: ErrorSize,
}

/// A subset of a dispatch, and its permitted output.
struct Round {
    dispatch: Dispatch,
    outcome: Outcome,
}

/// The rounds in which errors are planted.
struct Original<'a> {
    analysis: &'a MutationAnalysis<'a>,
    /// The first round, whose computations get errors, and those in which the others are sought.
    rounds: Vec<Round>,
    /// Limits of the changed shaders.
    limits: Limits,
    /// Cost of the memory of one interpretation.
    memory_cost: u64,
}

impl MutationAnalysis<'_> {
    /// Measures the score of dispatches, one for each round, whose addresses, subgroup layout and order of
    /// atomics are known. Later rounds may show the errors that the first one hides.
    pub(crate) fn score(&self, mut dispatch: Dispatch, later: Vec<Dispatch>) -> MeasuredScore {
        let setup = self.setup;
        let bytes = setup.descriptors.iter().fold(0u64, |all, d| all.saturating_add(d.bytes));
        let memory_cost = bytes.saturating_mul(BYTE_COST);
        let Effort { planted, mut invocations, cost } = self.size.effort();
        let limit = cost.saturating_mul(self.limits.patience());
        let mut cost = 0;
        loop {
            let shape = DispatchShape::new(setup, self.program);
            let least = shape.least();
            dispatch.only = shape.choose(invocations, setup.seed());
            let limits = Limits {
                invocations: u64::MAX,
                work_per_group: limit / LEAST_PLANTED,
                work: limit / LEAST_PLANTED,
                searches: 50,
                faults: 1,
                time: TIME,
                ..self.limits
            };
            let run = run_in_time(self.program, &dispatch, &limits);
            let work = run.as_ref().and_then(|run| run.as_ref().ok()).map_or(limits.work, |outcome| outcome.work);
            cost += memory_cost + work;
            let unmeasured = |reason| MeasuredScore { score: Some(MutationScore::unmeasured(reason)), cost };
            let Some(run) = run else { return unmeasured(TOO_LONG) };
            let outcome = match run {
                Ok(outcome) if outcome.fault_count > 0 => return unmeasured(UNDEFINED),
                Ok(outcome) => outcome,
                Err(RunError::TooMuchWork { .. }) if invocations > least => {
                    invocations /= 8;
                    continue;
                }
                Err(_) => return unmeasured(TOO_LONG),
            };
            let affordable = limit / (outcome.work + memory_cost).max(1);
            if affordable < planted && invocations > least {
                invocations /= 8;
                continue;
            }
            if affordable < LEAST_PLANTED {
                return unmeasured(TOO_LONG);
            }
            let work = SLOWDOWN.saturating_mul(outcome.work) + (1 << 16);
            let of_later = |later: Dispatch| {
                let dispatch = Dispatch { only: dispatch.only.clone(), ..later };
                let outcome = run_in_time(self.program, &dispatch, &limits)?.ok()?;
                (outcome.fault_count == 0).then_some(Round { dispatch, outcome })
            };
            let mut rounds: Vec<Round> = later.into_iter().filter_map(of_later).collect();
            rounds.insert(0, Round { dispatch, outcome });
            let limits = Limits { work_per_group: work, work, ..limits };
            let original = Original { analysis: self, rounds, limits, memory_cost };
            return original.score(affordable.min(planted), cost);
        }
    }

    /// Returns the executed computations in which an error can be planted, with its kind.
    fn sites(&self, outcome: &Outcome) -> Vec<Site> {
        let MutationAnalysis { shader, program, setup, size, .. } = self;
        let module = &shader.source.module;
        let executed = program.executed_instructions(&outcome.executed);
        let (all, _) = computations(module, &setup.entry, u32::MAX);
        let executed = all.into_iter().map(InstructionIndex).filter(|index| executed.contains(index));
        executed.filter_map(|index| Some((kind_of(module, &module.instruction(index), *size)?, index))).collect()
    }
}

impl Original<'_> {
    /// Plants this number of errors, if there are as many computations: half of them in floats.
    fn score(&self, planted: u64, mut cost: u64) -> MeasuredScore {
        let (floats, integers): (Vec<Site>, Vec<Site>) = self
            .analysis
            .sites(&self.rounds[0].outcome)
            .into_iter()
            .partition(|(kind, _)| matches!(kind, MutationKind::Ulp(_)));
        let in_floats = (planted / 2).max(planted.saturating_sub(integers.len() as u64)).min(floats.len() as u64);
        let mut score = MutationScore::default();
        let chosen = spread(&floats, in_floats).chain(spread(&integers, planted - in_floats));
        let started = Instant::now();
        for (kind, instruction) in chosen {
            let noticed = match started.elapsed() < WHOLE_TIME {
                true => self.notices(kind, instruction),
                false => Some((None, 0)),
            };
            let Some((is_noticed, work)) = noticed else { continue };
            cost += work;
            let errors = if matches!(kind, MutationKind::Ulp(_)) { &mut score.floats } else { &mut score.integers };
            let Some(is_noticed) = is_noticed else {
                errors.unknown += 1;
                continue;
            };
            errors.planted += 1;
            errors.noticed += u64::from(is_noticed);
            if !is_noticed && score.unnoticed.len() < LISTED {
                score.unnoticed.push(self.described(kind, instruction));
            }
        }
        MeasuredScore { score: score.has_planted().then_some(score), cost }
    }

    /// Returns whether the comparison would notice an error, if that is known, and the cost; `None`
    /// if the error cannot be planted.
    fn notices(&self, kind: MutationKind, at: InstructionIndex) -> Option<(Option<bool>, u64)> {
        let MutationAnalysis { shader, setup, .. } = self.analysis;
        let module = &shader.source.module;
        let planted = PlantedError::of(kind, module, &module.instruction(at))?;
        let changed = Module::parse(planted.change_for_oracle(module)?).ok()?;
        let program = setup.program(&changed).ok()?;
        let (mut cost, mut all_known) = (0, true);
        for round in &self.rounds {
            let (is_noticed, work) = self.notices_in(round, &program);
            cost += work;
            if is_noticed == Some(true) {
                return Some((is_noticed, cost));
            }
            all_known &= is_noticed.is_some();
        }
        Some((all_known.then_some(false), cost))
    }

    /// As [`Original::notices`], in one round.
    fn notices_in(&self, round: &Round, program: &Program) -> (Option<bool>, u64) {
        let outcome = match run_in_time(program, &round.dispatch, &self.limits) {
            Some(Ok(outcome)) => outcome,
            // The device would not return, or only late.
            Some(Err(RunError::TooMuchWork { limit })) => return (Some(true), limit),
            Some(Err(_)) | None => return (None, self.limits.work),
        };
        let (output, is_open) = output_of(&outcome, &round.outcome);
        let found = compare(&round.outcome, &round.dispatch, self.analysis.setup, &output, (0, false));
        let is_noticed = found.failing > 0;
        let is_known = is_noticed || outcome.fault_count == 0 && !is_open;
        (is_known.then_some(is_noticed), outcome.work + self.memory_cost)
    }

    /// Returns an error as text: its instruction, and the option that plants it.
    fn described(&self, kind: MutationKind, instruction: InstructionIndex) -> String {
        let shader = self.analysis.shader;
        let i = shader.source.module.instruction(instruction);
        let option = Mutation { kind, at: None }.at_word(i.at);
        let place = shader.location(Place { instruction, line: None });
        format!("{} at {place} (--mutate '{option}')", name(&i))
    }
}

/// Returns one permitted output of a changed shader, and that of the original where it is
/// undetermined; and whether it is undetermined where the original is not.
fn output_of(changed: &Outcome, original: &Outcome) -> (BTreeMap<Slot, Vec<u8>>, bool) {
    let mut is_open = false;
    let output = |(slot, memory): (&Slot, &Memory)| {
        let mut bytes = memory.bytes().to_vec();
        let before = original.memory.get(slot).map_or(&[][..], Memory::bytes);
        for cell in memory.cells().iter().filter(|cell| matches!(cell.expected, Expected::Undetermined(_))) {
            let known = original.memory.get(slot).and_then(|memory| memory.cell_at(cell.offset));
            is_open |= known.is_none_or(|known| !matches!(known.expected, Expected::Undetermined(_)));
            let range = cell.offset as usize..(cell.offset + u64::from(cell.width / 8)) as usize;
            if let (Some(to), Some(from)) = (bytes.get_mut(range.clone()), before.get(range)) {
                to.copy_from_slice(from);
            }
        }
        (*slot, bytes)
    };
    (changed.memory.iter().map(output).collect(), is_open)
}

/// Interprets a dispatch; `None` after the time limit, as an outcome would then be undetermined.
fn run_in_time(program: &Program, dispatch: &Dispatch, limits: &Limits) -> Option<Result<Outcome, RunError>> {
    let started = Instant::now();
    let run = program.run(dispatch, limits);
    (started.elapsed() < limits.time).then_some(run)
}

/// Returns this number of sites, or all if there are fewer, at equal distances.
fn spread(sites: &[Site], count: u64) -> impl Iterator<Item = Site> {
    let all = sites.len() as u64;
    let count = count.min(all);
    (0..count).map(move |number| sites[(number * all / count) as usize])
}

/// Returns the kind of the error that is planted in a computation; `None` for one that only moves
/// values, in which an error is one of their computation.
fn kind_of(module: &Module, i: &Instruction<'_>, size: ErrorSize) -> Option<MutationKind> {
    let moves = matches!(
        i.op?,
        Op::CompositeExtract
            | Op::CompositeInsert
            | Op::CompositeConstruct
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::CopyObject
            | Op::CopyLogical
            | Op::Bitcast
    );
    if moves {
        return None;
    }
    let plain = ScalarOrVector::of_value(module, i.result()?)?;
    Some(match plain.kind {
        ComponentKind::Float => MutationKind::Ulp(size.ulp(plain.width)),
        ComponentKind::Int { .. } => MutationKind::OffByOne,
        ComponentKind::Bool => MutationKind::Negation,
    })
}
