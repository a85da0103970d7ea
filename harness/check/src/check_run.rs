//! Run of a check: its rounds on a target, and the result over all of them.
//!
//! A round goes through these steps, of which each later one refines the permitted sets:
//!
//! 1. interpret the dispatch, and run it on the target;
//! 2. recover the subgroup layout that the shader recorded;
//! 3. compare every element with its permitted set;
//! 4. interpret all workgroups, if a subset does not permit an element;
//! 5. relax copies of memory that the first interpretation took literally;
//! 6. record the choices of the device (order of atomics, subgroup layout) in an instrumented run;
//! 7. compare with the expectations of the case file.

use crate::chosen_parameters::{AvoidedFault, FaultText, LACKS_ORDER};
use crate::compare::{Comparison, check_complete};
use crate::defined_variant::DefinedVariants;
use crate::expectation::InterpretedRound;
use crate::fault_kinds::{DYNAMIC_ERROR, ENDLESS, SEEMS_ENDLESS, description_of_faults, on_one_line};
use crate::infinite_constants::infinite_constant;
use crate::observed_choices::{ObservedChoices, ObservedRound, Unobserved};
use crate::parameter_search::{open_sources, options_for_reach, parameters_around, parameters_of};
use crate::picture::picture;
use crate::provenance::DataFlow;
use crate::subgroup_layout::impossible_layout;
use crate::timed_target::TimedTarget;
use crate::workgroup_sample::{self, SampleResolution};
use crate::{Check, CheckError, status};
use assay_events::{
    CheckResult, ExecutedInstructions, FaultExclusion, SkippedCode, Status, UndeterminedElements, UnjudgedRound,
    Writes, group_digits,
};
use assay_exec::{AllocatedDispatch, Descriptor, ExecError, Target, TargetError};
use assay_oracle::{
    Copies, Coverage, Dispatch, ExecutedBlocks, Fault, FaultKind, FaultMemory, InvocationSubset, Limits, Outcome,
    Place, PossibleFault, Slot, SubgroupLayout, UninitializedDecision,
};
use assay_spirv::module::InstructionIndex;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time limit of the search for a fault in every subgroup layout, if the usual one has a fault.
const UNDEFINED_TIME: Duration = Duration::from_secs(5);

/// State of a run over its rounds.
pub(crate) struct CheckRun<'a> {
    check: &'a Check<'a>,
    target: TimedTarget<'a>,
    /// The interpreted invocations; `None` for all.
    only: Option<InvocationSubset>,
    result: CheckResult,
    /// Sum of the comparisons.
    sum: Comparison,
    executed: ExecutedBlocks,
    /// The first branch or selection that depends on a value that was never written.
    uninitialized: Option<UninitializedDecision>,
    /// Undetermined elements by cause and place.
    causes: BTreeMap<(String, String), u64>,
    undefined: UndefinedRounds,
    /// First fault under a recorded subgroup layout, as a clause.
    undefined_in_layout: Option<String>,
    /// The first data race in workgroup memory that the shader may have.
    possible_race: Option<Place>,
    /// The first access that may lie out of bounds, for which the device ran with robustness.
    made_robust: Option<Place>,
    /// The first fault of the shader in the order of atomics that the device took.
    undefined_in_order: Option<FaultText>,
    /// As [`Writes::thin_modes`](assay_events::Writes::thin_modes).
    thin_modes: u64,
    /// Set if a round was skipped because an access might leave all buffers.
    open_addresses: bool,
    /// Elements that were checked under observed choices of the device.
    by_choices: BTreeMap<ObservedChoices, u64>,
    /// First benign race.
    benign_race: Option<String>,
    /// Rounds of a subset whose workgroups were all interpreted in the end.
    whole_rounds: u32,
    /// Output of the last judged round.
    output: Option<BTreeMap<Slot, Vec<u8>>>,
    variants: DefinedVariants<'a>,
}

/// A run with the contents that it left.
pub(crate) struct FinishedRun {
    pub(crate) result: CheckResult,
    /// Output of the last judged round, by slot; empty if the shader has no output, and `None` if
    /// no round was judged.
    pub(crate) output: Option<BTreeMap<Slot, Vec<u8>>>,
}

impl FinishedRun {
    /// Returns a run without a judged round.
    pub(crate) fn without_output(result: CheckResult) -> FinishedRun {
        FinishedRun { result, output: None }
    }
}

/// Rounds in which the shader has undefined behaviour.
#[derive(Default)]
pub(crate) struct UndefinedRounds {
    pub(crate) count: u32,
    /// Faults of the first of them, as lines.
    faults: Vec<String>,
    /// Instruction of the first fault.
    first: Option<InstructionIndex>,
    /// Set if that is an access outside of an array of fixed length, which no length of a buffer permits.
    is_outside_array: bool,
    /// Ends of the accesses beyond buffers in the first of them, in bytes.
    reach: BTreeMap<Slot, u64>,
    /// Set if one of them accesses memory before the beginning of a buffer.
    precedes: bool,
    /// Set if all of them are races.
    races: bool,
    /// Set if a loop seems to run endlessly.
    endless: bool,
    /// Set if there is another fault.
    other: bool,
}

/// A round that ran on the target.
struct Round {
    number: u32,
    dispatch: Dispatch,
    outcome: Outcome,
    output: BTreeMap<Slot, Vec<u8>>,
    found: Comparison,
    /// Elements that are determined under the observed choices of the device alone.
    by_choices: Option<(ObservedChoices, u64)>,
}

/// Reason why a round, and perhaps the run, ends early.
enum RoundEnd {
    /// The round counts no element.
    Skipped,
    /// The target failed; no further round is run.
    Failed(ExecError),
    /// The target lacks something.
    NotSupported(String),
    /// The check is wrong.
    Refused(CheckError),
}

/// Reason for which a round is skipped.
const OPEN_ADDRESS: &str =
    "was not run because an access through an address that Assay cannot determine might crash the driver";

/// Reason for which a round is skipped.
const OUT_OF_TIME: &str =
    "was not run because the interpretation of the rounds before took all the time, which --patience raises";

impl From<CheckError> for RoundEnd {
    fn from(error: CheckError) -> RoundEnd {
        RoundEnd::Refused(error)
    }
}

impl From<TargetError> for RoundEnd {
    fn from(error: TargetError) -> RoundEnd {
        match error {
            TargetError::Unsupported(what) => RoundEnd::NotSupported(what),
            TargetError::Failed(error) => RoundEnd::Failed(error),
        }
    }
}

impl<'a> CheckRun<'a> {
    pub(crate) fn new(check: &'a Check<'a>, target: &'a dyn Target) -> CheckRun<'a> {
        CheckRun {
            check,
            target: TimedTarget::new(target),
            only: check.chosen_invocations(),
            result: check.blank(),
            sum: Comparison::default(),
            executed: ExecutedBlocks::default(),
            uninitialized: None,
            causes: BTreeMap::new(),
            undefined: UndefinedRounds::default(),
            undefined_in_layout: None,
            undefined_in_order: None,
            possible_race: None,
            made_robust: None,
            thin_modes: 0,
            open_addresses: false,
            by_choices: BTreeMap::new(),
            benign_race: None,
            whole_rounds: 0,
            output: None,
            variants: DefinedVariants::new(&check.shader.source.module, &check.setup),
        }
    }

    /// Runs all rounds and returns the result.
    ///
    /// # Errors
    /// As [`Check::run`].
    pub(crate) fn run(mut self) -> Result<FinishedRun, CheckError> {
        let started = Instant::now();
        let check = self.check;
        check.must_be_taken(&self.target)?;
        if let Some(what) = check.lacking_subgroup_control(&self.target) {
            return Ok(self.not_supported(what));
        }
        check.must_fill_subgroups(&self.target)?;
        if !check.setup.descriptors.iter().any(|d| d.is_read_back() && d.may_be_written) {
            let reason = match check.setup.writes_by_address {
                true => status::UNKNOWN_ADDRESSES.to_owned(),
                false => status::advised(status::NO_OUTPUT.to_owned(), check.advice_to_define().as_deref()),
            };
            let result = CheckResult { reason: Some(reason), ..self.result };
            return Ok(FinishedRun { result, output: Some(BTreeMap::new()) });
        }
        check.must_fit(&self.target)?;
        let mut failure = None;
        let mut late = 0;
        for number in 0..check.setup.rounds {
            // Another round takes about as long as those before.
            if self.result.times.check > check.limits.time.as_secs_f64() {
                self.skip(number, OUT_OF_TIME.to_owned());
                late += 1;
                continue;
            }
            match self.round(number) {
                Ok(()) | Err(RoundEnd::Skipped) => {}
                Err(RoundEnd::Failed(error)) => {
                    failure = Some(error);
                    break;
                }
                Err(RoundEnd::NotSupported(what)) => return Ok(self.not_supported(what)),
                Err(RoundEnd::Refused(error)) => return Err(error),
            }
        }
        let is_undefined = self.undefined.count > 0 && self.undefined.count + late == check.setup.rounds;
        if is_undefined && failure.is_none() {
            return Err(self.undefined.error(check));
        }
        let output = self.output.take();
        let spent = self.target.spent();
        let mut result = self.total(failure);
        result.times.build = spent.compile.as_secs_f64();
        result.times.device = spent.device.as_secs_f64();
        result.times.wall = started.elapsed().as_secs_f64();
        Ok(FinishedRun { result, output })
    }

    fn not_supported(self, what: String) -> FinishedRun {
        let result = CheckResult { status: Status::NotSupported, reason: Some(what), ..self.result };
        FinishedRun::without_output(result)
    }

    fn round(&mut self, number: u32) -> Result<(), RoundEnd> {
        let (dispatch, allocated, outcome) = self.interpret(number)?;
        let mut round = self.execute(number, dispatch, allocated.as_ref(), outcome)?;
        self.recover_layout(&mut round)?;
        self.compare(&mut round);
        self.widen_subset(&mut round)?;
        self.relax_copies(&mut round)?;
        self.observe_choices(&mut round)?;
        // The output of an instrumented variant is another one.
        self.relax_copies(&mut round)?;
        self.meet_expectations(&mut round);
        self.count(round);
        Ok(())
    }

    /// Returns the permitted sets of the round's dispatch, whose memory the target has allocated if
    /// it has device addresses.
    fn interpret(&mut self, number: u32) -> Result<(Dispatch, Option<AllocatedDispatch>, Outcome), RoundEnd> {
        let check = self.check;
        let mut dispatch = check.dispatch(number, &self.target)?;
        let allocated = check.allocate(&mut dispatch, &check.setup.descriptors, &self.target)?;
        let before = Instant::now();
        let outcome = self.in_every_layout(number, &mut dispatch);
        self.result.times.check += before.elapsed().as_secs_f64();
        let outcome = outcome?;
        self.result.instructions += outcome.instructions;
        if outcome.fault_count > 0 {
            self.note_undefined(number, "was not run", &outcome);
            return Err(RoundEnd::Skipped);
        }
        if let (false, Some(fault)) = (outcome.benign_races.is_empty(), outcome.possible_faults.first()) {
            let fault = check.described_fault(fault, None);
            self.skip(number, format!("was not run because the shader races and may have {fault}"));
            return Err(RoundEnd::Skipped);
        }
        if outcome.open_address {
            self.must_stay_in_buffers(number, &dispatch)?;
        }
        if self.only.is_none() {
            check.must_record(&outcome, dispatch.subgroup_size)?;
        }
        Ok((dispatch, allocated, outcome))
    }

    /// Interprets a round in every subgroup layout at once. A shader with subgroup instructions is
    /// interpreted in the usual layout first: undefined behaviour there may damage the process,
    /// which would accuse the device.
    fn in_every_layout(&mut self, number: u32, dispatch: &mut Dispatch) -> Result<Outcome, RoundEnd> {
        let check = self.check;
        let is_open = check.records_layout() && dispatch.layout == SubgroupLayout::Unknown;
        if !is_open || !check.program.uses_subgroups() {
            return Ok(self.interpret_subset(dispatch)?);
        }
        let usual = self.interpret_subset(&mut Dispatch { layout: SubgroupLayout::Linear, ..dispatch.clone() })?;
        if usual.fault_count == 0 {
            return Ok(self.interpret_subset(dispatch)?);
        }
        // Another layout may be free of faults, or they are in all of them.
        let limits = Limits { time: UNDEFINED_TIME.min(check.limits.time), ..check.limits };
        let dispatch = Dispatch { only: self.only.clone(), ..dispatch.clone() };
        match check.program.run(&dispatch, &limits) {
            Ok(outcome) if outcome.fault_count > 0 => Ok(outcome),
            _ => Err(self.skip_undefined_layout(number, dispatch.subgroup_size, &check.first_fault(&usual))),
        }
    }

    /// Skips a round whose accesses through physical pointers may lie outside of all buffers, even
    /// in the usual subgroup layout. Such an access can end the process, which would accuse the
    /// device.
    fn must_stay_in_buffers(&mut self, round: u32, dispatch: &Dispatch) -> Result<(), RoundEnd> {
        let mut assumed = Dispatch { layout: SubgroupLayout::Linear, ..dispatch.clone() };
        let outcome = self.interpret_subset(&mut assumed)?;
        if outcome.fault_count > 0 {
            self.note_undefined(round, "was not run", &outcome);
            return Err(RoundEnd::Skipped);
        }
        if outcome.open_address {
            self.skip(round, OPEN_ADDRESS.to_owned());
            self.open_addresses = true;
            return Err(RoundEnd::Skipped);
        }
        Ok(())
    }

    /// Interprets the chosen invocations. The device runs all of them.
    fn interpret_subset(&self, dispatch: &mut Dispatch) -> Result<Outcome, CheckError> {
        dispatch.only.clone_from(&self.only);
        let outcome = self.check.permitted(dispatch);
        dispatch.only = None;
        outcome
    }

    fn execute(
        &mut self,
        number: u32,
        mut dispatch: Dispatch,
        allocated: Option<&AllocatedDispatch>,
        outcome: Outcome,
    ) -> Result<Round, RoundEnd> {
        self.target.begin_round(number, self.check.excuse_of(&outcome).as_deref());
        let output = match self.check.run_safely(&mut dispatch, allocated, &outcome, &self.target) {
            Ok((output, access)) => {
                self.made_robust = self.made_robust.or(access);
                output.memory
            }
            Err(error) => {
                self.count_possible_faults(&outcome);
                return Err(error.into());
            }
        };
        check_complete(&outcome, &dispatch, &self.check.setup.descriptors, &output)
            .map_err(|what| RoundEnd::Failed(ExecError::Internal(what)))?;
        Ok(Round { number, dispatch, outcome, output, found: Comparison::default(), by_choices: None })
    }

    /// Interprets again under the subgroup layout that the shader recorded, if it did.
    fn recover_layout(&mut self, round: &mut Round) -> Result<(), RoundEnd> {
        let check = self.check;
        match check.recorded_layout(&round.output, &round.dispatch) {
            None => Ok(()),
            Some(Ok((layout, size))) => {
                (round.dispatch.layout, round.dispatch.subgroup_size) = (layout, size);
                round.outcome = self.interpret_subset(&mut round.dispatch)?;
                if round.outcome.fault_count > 0 {
                    return Err(self.skip_undefined_layout(round.number, size, &check.first_fault(&round.outcome)));
                }
                Ok(())
            }
            Some(Err(what)) => {
                let record = check.setup.descriptors.iter().find(|d| Some(d.slot) == check.layout);
                Err(self.blame_layout(round.number, &what, record.map_or_else(String::new, Descriptor::label)))
            }
        }
    }

    /// Counts a round in which the recorded subgroup layout is not possible.
    fn blame_layout(&mut self, number: u32, what: &str, record: String) -> RoundEnd {
        self.sum.add(impossible_layout(what, record, number));
        self.result.rounds_checked += 1;
        RoundEnd::Skipped
    }

    /// Notes a round that the shader leaves undefined under the recorded subgroup layout, or the
    /// usual one. Another layout may be free of faults.
    fn skip_undefined_layout(&mut self, number: u32, size: u32, first: &str) -> RoundEnd {
        let what = format!("the shader has undefined behaviour with subgroups of {size} invocations: {first}");
        self.skip(number, format!("was not checked because {what}"));
        self.undefined_in_layout.get_or_insert(what);
        RoundEnd::Skipped
    }

    fn skip(&mut self, round: u32, why: String) {
        self.result.unjudged.push(UnjudgedRound { round, why });
    }

    fn compare(&self, round: &mut Round) {
        round.found = self.check.compared(&round.outcome, &round.dispatch, &round.output, round.number);
    }

    /// Interprets all invocations if the subset does not permit an element, which others may have
    /// written.
    fn widen_subset(&mut self, round: &mut Round) -> Result<(), RoundEnd> {
        let Some(only) = &self.only else { return Ok(()) };
        if round.found.failing + round.found.warning == 0 {
            return Ok(());
        }
        let before = Instant::now();
        let resolved = self.check.resolve(&round.dispatch, only, &round.outcome)?;
        self.result.times.check += before.elapsed().as_secs_f64();
        match resolved {
            SampleResolution::Whole(whole) => {
                self.result.notes.push(format!(
                    "round {}: some elements of the sample were not permitted, so all invocations were checked",
                    round.number
                ));
                self.result.instructions += whole.instructions;
                self.whole_rounds += 1;
                round.outcome = *whole;
                if round.outcome.fault_count > 0 {
                    self.note_undefined(round.number, "was not checked", &round.outcome);
                    return Err(RoundEnd::Skipped);
                }
                self.compare(round);
            }
            SampleResolution::Open(instructions) => {
                let elements = round.found.set_undetermined();
                let cause = format!(
                    "the interpreted subset of the invocations does not permit the result, but others may have written \
                     it; interpreting all takes about {} instructions{}",
                    workgroup_sample::rounded(instructions),
                    self.check.advice("; raise --sample or --patience").unwrap_or_default()
                );
                *self.causes.entry((cause, "several places".to_owned())).or_default() += elements;
                self.result.elements_undetermined += elements;
            }
        }
        Ok(())
    }

    /// Replaces the round by one of an instrumented variant, which records the choices of the
    /// device, if that decides more elements.
    fn observe_choices(&mut self, round: &mut Round) -> Result<(), RoundEnd> {
        if self.only.is_some() {
            return Ok(());
        }
        let (before, driver) = (Instant::now(), self.target.spent().total);
        let judged = (&round.outcome, round.dispatch.copies);
        let observed = self.check.under_observed_choices(round.number, &self.target, judged, &round.found);
        let driver = self.target.spent().total.saturating_sub(driver);
        self.result.times.check += before.elapsed().saturating_sub(driver).as_secs_f64();
        match observed {
            None => {}
            Some(Ok(ObservedRound { choices, dispatch, outcome, output, found })) => {
                let elements = round.found.undetermined_count().saturating_sub(found.undetermined_count());
                self.result.instructions += outcome.instructions;
                let by_choices = Some((choices, elements));
                *round = Round { number: round.number, dispatch, outcome, output, found, by_choices };
            }
            Some(Err(Unobserved::ImpossibleLayout(what))) => {
                return Err(self.blame_layout(round.number, &what, "subgroup built-ins".to_owned()));
            }
            Some(Err(Unobserved::UndefinedInLayout(first))) => {
                return Err(self.skip_undefined_layout(round.number, round.dispatch.subgroup_size, &first));
            }
            Some(Err(Unobserved::UndefinedInOrder(fault))) => _ = self.undefined_in_order.get_or_insert(fault),
            Some(Err(Unobserved::Failed { choices, why })) => {
                let how = match round.found.undetermined_count() {
                    0 => "compared only with what any such choice permits",
                    _ => "not checked",
                };
                let depend = format!("results that depend on {} were {how}", choices.named());
                self.result.notes.push(format!("round {}: {depend}: {why}", round.number));
            }
        }
        Ok(())
    }

    /// Interprets a failing round again with the most lenient reading of copies. Elements that no
    /// order of atomics explains are wrong in every reading.
    fn relax_copies(&mut self, round: &mut Round) -> Result<(), RoundEnd> {
        let is_lenient = round.dispatch.copies == Copies::Assume;
        if round.found.failing == 0 || is_lenient || !round.outcome.disorder.is_empty() {
            return Ok(());
        }
        let before = Instant::now();
        round.dispatch.copies = Copies::Assume;
        round.outcome = self.check.permitted(&round.dispatch)?;
        self.compare(round);
        self.result.instructions += round.outcome.instructions;
        self.result.times.check += before.elapsed().as_secs_f64();
        Ok(())
    }

    fn meet_expectations(&mut self, round: &mut Round) {
        let check = self.check;
        if round.found.failing > 0 && self.result.picture.is_none() {
            let picture = picture(&round.outcome, &check.setup.descriptors, &round.output, check.row);
            self.result.picture = picture.map(Box::new);
        }
        let Round { number, dispatch, outcome, output, found, .. } = round;
        let interpreted = InterpretedRound { number: *number, dispatch, outcome };
        check.expected.iter().for_each(|expected| expected.check(interpreted, output, found));
    }

    /// Adds a round to the result.
    fn count(&mut self, round: Round) {
        let Round { number, outcome, found, output, by_choices, .. } = round;
        self.output = Some(output);
        let writes = found.writes();
        let is_thin = writes.written > 0 && !Writes::is_enough(writes.narrow(), writes.elements);
        self.thin_modes += u64::from(is_thin && self.check.setup.modes() > 1);
        if self.benign_race.is_none() {
            self.benign_race = self.check.first_benign_race(&outcome);
        }
        match found.hollow() {
            Some(why) => self.skip(number, why.to_owned()),
            None => {
                self.result.rounds_checked += 1;
                if let Some((choices, elements)) = by_choices {
                    *self.by_choices.entry(choices).or_default() += elements;
                }
            }
        }
        for (cause, elements) in &found.undetermined {
            let cause = cause.and_then(|cause| outcome.causes.get(cause as usize));
            *self.causes.entry(self.check.cause(cause)).or_default() += elements;
            self.result.elements_undetermined += elements;
        }
        self.executed.add(&outcome.executed);
        self.uninitialized = self.uninitialized.or(outcome.uninitialized);
        self.count_possible_faults(&outcome);
        self.sum.add(found);
    }

    /// Keeps the first instruction that may have undefined behaviour, or the first one that no guard
    /// excludes.
    fn count_possible_faults(&mut self, outcome: &Outcome) {
        // The less is excluded, the worse: by guards, by atomic accesses, not at all.
        let severity = |by: Option<FaultExclusion>| by.map_or(2, |by| u8::from(by == FaultExclusion::AtomicAccesses));
        let faults = &outcome.possible_faults;
        let all = faults.iter().map(|fault| (fault, self.variants.excluding(fault)));
        let Some((worst, excluded_by)) = all.rev().max_by_key(|(_, by)| severity(*by)) else { return };
        let is_shared_race =
            |fault: &&PossibleFault| fault.kind == Some(FaultKind::DataRace) && self.check.accesses_workgroup(fault.at);
        self.possible_race = self.possible_race.or(faults.iter().find(is_shared_race).map(|fault| fault.at));
        let is_worse = |known: &assay_events::PossibleFault| severity(excluded_by) > severity(known.excluded_by);
        if self.result.possible_fault.as_ref().is_none_or(is_worse) {
            self.result.possible_fault = Some(self.check.described_fault(worst, excluded_by));
        }
    }

    fn note_undefined(&mut self, round: u32, so: &str, outcome: &Outcome) {
        self.result.unjudged.push(self.undefined.add(self.check, (round, so), outcome));
    }

    /// Returns the result over all rounds.
    fn total(self, failure: Option<ExecError>) -> CheckResult {
        let CheckRun { check, only, mut result, sum, executed, causes, .. } = self;
        for (choices, elements) in self.by_choices.into_iter().filter(|(_, elements)| *elements > 0) {
            let (element, they) =
                if elements == 1 { ("element may depend", "it was") } else { ("elements may depend", "they were") };
            result.notes.push(format!(
                "{} {element} on {}; {they} checked against the {} observed in an instrumented run",
                group_digits(elements),
                choices.named(),
                choices.observed()
            ));
        }
        let only = only.filter(|_| self.whole_rounds == 0 || self.whole_rounds < result.rounds_checked);
        result.sampled = only.map(|only| check.sampled(&only, sum.outside_subset));
        let hollow = sum.hollow().is_some();
        let mut writes = sum.writes();
        if DataFlow::new(&check.shader.source.module).stores_one_value() {
            writes.distinct = None;
        }
        writes.thin_modes = self.thin_modes;
        result.writes = Some(writes);
        result.executed = executed_instructions(check, &executed);
        result.elements_checked = sum.checked;
        result.elements_failing = sum.failing;
        result.elements_warning = sum.warning;
        result.mismatches = sum.mismatches;
        result.classes = sum.classes;
        result.undetermined = causes
            .into_iter()
            .map(|((cause, place), elements)| UndeterminedElements { cause, place, elements })
            .collect();
        let advice = check.advice_to_vary();
        (result.status, result.reason) = status::of(&result, failure, hollow, advice.as_deref());
        if let Some(race) = &self.benign_race {
            status::qualify_by_benign_race(&mut result, race);
        }
        if let (Status::Undetermined, Some(what)) = (result.status, self.undefined_in_layout) {
            let size = |name: &str| self.target.capabilities().properties.get(name).copied();
            let sizes = size("minSubgroupSize").zip(size("maxSubgroupSize")).filter(|(least, most)| least < most);
            let advice = match sizes {
                Some((least, most)) => format!("; the device has subgroups of {least} to {most}: try --subgroup-size"),
                None => "; the device has no other subgroup size".to_owned(),
            };
            result.reason = Some(what + &check.advice(&advice).unwrap_or_default());
        }
        if let (Status::Undetermined, Some(at)) = (result.status, self.possible_race) {
            let place = check.shader.location(at);
            let fault =
                format!("Assay cannot rule out a data race on workgroup memory at {place} (a barrier may be missing)");
            let avoided = AvoidedFault { fault, details: Some(LACKS_ORDER.to_owned()), otherwise: "moreover" };
            status::qualify_by_avoided_fault(&mut result, &avoided);
        }
        if let Some(FaultText { place, what }) = self.undefined_in_order {
            let fault = format!(
                "the shader has undefined behaviour at {place} with these inputs, in the order of atomics that the device took"
            );
            let is_race = what.starts_with(&FaultKind::DataRace.to_string());
            let details = Some(if is_race { format!("{what}\n{LACKS_ORDER}") } else { what });
            status::qualify_by_avoided_fault(
                &mut result,
                &AvoidedFault { fault, details, otherwise: "apart from that" },
            );
        }
        if result.status == Status::Undetermined && self.open_addresses {
            result.reason = Some(format!("a round {OPEN_ADDRESS}"));
        }
        result.notes.extend(self.made_robust.map(|at| {
            let place = check.shader.location(at);
            format!("ran with robust access, because Assay cannot rule out an access out of bounds at {place}")
        }));
        result.notes.extend(self.uninitialized.map(|decision| check.uninitialized_warning(decision)));
        result.notes.extend(status::thin_warnings(&result, advice.as_deref()));
        result.notes.extend(status::unchecked_parts(&result));
        result.notes.extend(status::infinite_operands(&result, infinite_constant(&check.shader.source.module)));
        let fault = result.possible_fault.clone();
        if let (Status::Timeout | Status::DeviceLost, Some(fault)) = (result.status, &fault) {
            result.excuse(&fault.clause());
        }
        if let (Status::Fail, Some(fault)) = (result.status, &fault) {
            result.notes.push(format!("{}; if it has, every result is right", fault.clause()));
        }
        result
    }
}

/// Advice to an author of WGSL whose shader accesses elements beyond a buffer.
const BEYOND_BUFFERS_IN_WGSL: &str = "  WebGPU keeps the accesses within the buffer, Vulkan does not: --api wgpu checks the shader as WebGPU \
                                      runs it, --robustness access with the bounds checks of the device";

/// Returns advice to the author of a shader with an access out of bounds at a fixed place.
fn no_input_changes(check: &Check<'_>, at: Option<InstructionIndex>) -> String {
    let around = at.map(|at| parameters_around(check, at)).unwrap_or_default();
    match around.is_empty() {
        true => {
            "  the index depends on no input, so other inputs help only if a branch on them skips the access".to_owned()
        }
        false => format!(
            "  the index depends on no input, but branches or loops may on {}: other values may skip the access",
            around.join(", ")
        ),
    }
}

impl UndefinedRounds {
    /// Adds a round with undefined behaviour, and returns a note that it was not run, or not
    /// checked.
    pub(crate) fn add(&mut self, check: &Check<'_>, (round, so): (u32, &str), outcome: &Outcome) -> UnjudgedRound {
        let what = description_of_faults(outcome);
        let first_fault = check.ordered_faults(outcome).first().copied();
        let first = first_fault
            .map_or_else(String::new, |fault| format!(": {} at {}", fault.kind, check.fault_text(fault).place));
        self.count += 1;
        self.endless |= outcome.faults.iter().any(|fault| fault.kind == FaultKind::Endless);
        self.other |= ![ENDLESS, SEEMS_ENDLESS].contains(&what);
        if self.first.is_none() {
            self.is_outside_array = first_fault.is_some_and(|fault| fault.indices.is_some());
        }
        self.first = self.first.or(first_fault.map(|fault| fault.at.instruction));
        if self.faults.is_empty() {
            let precedes = |fault: &Fault| matches!(fault.memory, Some(FaultMemory::Binding(_, offset)) if offset < 0);
            self.faults = check.faults(outcome);
            self.races = outcome.faults.iter().all(|fault| fault.kind == FaultKind::DataRace);
            self.precedes = outcome.faults.iter().any(precedes);
            self.reach.clone_from(&outcome.reach);
        }
        UnjudgedRound { round, why: format!("{so} because the shader {what} with its inputs{first}") }
    }

    /// Returns the first fault on one line.
    pub(crate) fn first_fault(&self) -> String {
        self.faults.first().map(|first| on_one_line(first)).unwrap_or_default()
    }

    /// Returns the error of a check in whose rounds the shader always has undefined behaviour.
    pub(crate) fn error(self, check: &Check<'_>) -> CheckError {
        let mut list = self.faults;
        list.extend(check.setup.short_files());
        let sources = self.first.and_then(|at| open_sources(check, at));
        let flow = DataFlow::new(&check.shader.source.module);
        let is_fixed = !self.races && self.first.is_some_and(|at| flow.has_fixed_place(at));
        let longer = if self.is_outside_array { Vec::new() } else { options_for_reach(check, &self.reach) };
        // No length helps an access before the beginning of a buffer.
        let is_lengthened = !longer.is_empty() && !self.precedes;
        let advice = sources.map_or_else(
            || match self.races {
                true => format!("  {LACKS_ORDER}; otherwise give others with {}", check.parameter_options()),
                false if is_fixed => no_input_changes(check, self.first),
                false => format!("  provide valid inputs with {}", check.parameter_options()),
            },
            |sources| format!("  {sources}, or others of {}", check.parameter_options()),
        );
        if is_lengthened {
            list.extend(
                check.advice(&format!("  the accesses up to the first faults are in bounds with {}", longer.join(" "))),
            );
        }
        if !is_lengthened || !is_fixed {
            list.extend(check.advice(&advice));
        }
        if check.shader.wgsl().is_some() && !check.setup.wgsl && !self.reach.is_empty() {
            list.extend(check.advice(BEYOND_BUFFERS_IN_WGSL));
        }
        if self.endless {
            list.extend(check.advice("  if the loop ends, raise the limit with --patience 10"));
        }
        let what = match () {
            () if !self.other && self.endless => SEEMS_ENDLESS,
            () if !self.other => ENDLESS,
            () if check.setup.wgsl => DYNAMIC_ERROR,
            () => "has undefined behaviour",
        };
        CheckError::Undefined { name: check.shader.name.clone(), what, list }
    }
}

/// Returns the executed instructions of a check; `None` if there are none.
pub(crate) fn executed_instructions(check: &Check<'_>, blocks: &ExecutedBlocks) -> Option<ExecutedInstructions> {
    let Coverage { instructions, executed, .. } = check.program.coverage(blocks);
    let skipped = check.program.skipped_code(blocks).map(|skipped| SkippedCode {
        branch: check.shader.location(skipped.branch),
        first: check.shader.location(skipped.first),
        instructions: skipped.instructions,
        depends_on: parameters_of(check, skipped.branch.instruction),
    });
    let loops = check.program.loops_without_repetition(blocks);
    let loops_without_repetition = loops.into_iter().map(|place| check.shader.location(place)).collect();
    (executed > 0).then_some(ExecutedInstructions { instructions, executed, skipped, loops_without_repetition })
}
