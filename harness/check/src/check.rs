//! The check of a shader: its preparation, interpretation and diagnosis.

use crate::check_run::{CheckRun, FinishedRun};
use crate::compute_guards::image_store_guards;
use crate::dispatch_setup::DispatchSetup;
use crate::expectation::ResolvedExpectation;
use crate::instrument::{self, ProbeSelection, SubgroupPlace, instrument};
use crate::language::Language;
use crate::memory_layout::runtime_stride;
use crate::mutation_score::{ErrorSize, MeasuredScore, MutationAnalysis};
use crate::observed_choices::{ObservedRound, VariantRun};
use crate::open_results::open_operands;
use crate::provenance::DataFlow;
use crate::subgroup_layout::{
    common_subgroup_size, first_unrecorded, possible_layout, recorded_layout, recorded_subgroup_size,
};
use crate::{CheckError, Expectation, Mutation, Options, ShaderSource, bundle};
use assay_events::{CheckResult, DeviceInfo, FaultExclusion, Status};
use assay_exec::{
    AllocatedDispatch, Descriptor, DispatchRequest, SubgroupControl, Target, TargetError, synthetic_addresses,
};
use assay_oracle::{
    Cause, CauseKind, Copies, Dispatch, Filtering, Limits, Offsets, Outcome, Place, PossibleFault, Program,
    RobustAlignment, Robustness, RunError, Slot, SubgroupLayout, UninitializedDecision,
};
use assay_spirv::kernel_call::KernelCall;
use assay_spirv::module::InstructionIndex;
use assay_spirv::reflect::Reflection;
use assay_spirv::tables::Op;
use assay_spirv_rules::requirements::{RequirementCheck, Requirements};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// A shader that has been validated, decoded and prepared for its checks.
#[derive(Debug)]
pub struct Check<'a> {
    /// The shader.
    pub shader: &'a ShaderSource,
    /// Interface and inputs.
    pub setup: DispatchSetup,
    pub(crate) program: Program,
    pub(crate) limits: Limits,
    pub(crate) sample: Option<u64>,
    pub(crate) padding: bool,
    pub(crate) row: Option<usize>,
    pub(crate) expectations: Vec<Expectation>,
    pub(crate) expected: Vec<ResolvedExpectation>,
    pub(crate) kernel: Option<KernelCall>,
    pub(crate) layout: Option<Slot>,
    pub(crate) subgroup_control: SubgroupControl,
    pub(crate) benign_races: bool,
    pub(crate) robustness: Robustness,
    fixed: bool,
    /// Set if the options leave the contents of the push constants open.
    pub(crate) push_is_open: bool,
    /// Broken rules that do not refuse the shader, each with its place.
    pub warnings: Vec<String>,
}

/// Destination of a bundle, and its origin.
#[derive(Clone, Copy, Debug)]
pub struct BundleDestination<'a> {
    /// Directory of the bundle.
    pub folder: &'a Path,
    /// Command line of the check.
    pub command: &'a [String],
    /// The planted error, if any.
    pub mutation: Option<&'a Mutation>,
}

/// Prefix of the description of a running round, before its number.
const ROUND_PREFIX: &str = "running round ";

impl<'a> Check<'a> {
    /// Prepares a shader.
    ///
    /// # Errors
    /// The shader breaks rules, the options do not fit it, or the oracle cannot interpret it. The
    /// error gives the place.
    pub fn new(shader: &'a ShaderSource, options: &Options) -> Result<Check<'a>, CheckError> {
        let mut warnings = shader.must_be_legal(options.strict)?;
        // Instructions of one source line break a rule in the same words.
        let mut seen = BTreeSet::new();
        warnings.retain(|warning| seen.insert(warning.clone()));
        let setup = DispatchSetup::new(shader, options)?;
        let program = setup.program(&shader.source.module).map_err(|error| oracle(shader, error))?;
        let (limits, padding, expectations) = (options.limits, options.padding, options.expectations.clone());
        let expected = ResolvedExpectation::all(&expectations, &setup)?;
        let sample = options.checked_invocations;
        let kernel = options.kernel.as_ref().map(|kernel| kernel.call.clone());
        let layout = options.subgroups.as_ref().map(|to| setup.subgroup_record_slot(to)).transpose()?;
        let &Options { row, robustness, subgroup_control, benign_races, fixed, .. } = options;
        Ok(Check {
            shader,
            setup,
            program,
            limits,
            sample,
            padding,
            row,
            expectations,
            expected,
            kernel,
            layout,
            subgroup_control,
            benign_races,
            robustness: robustness.unwrap_or_default(),
            fixed,
            push_is_open: options.push.is_none(),
            warnings,
        })
    }

    /// Returns the dispatch of a round with the limits of a device, but without device addresses
    /// ([`Check::allocate`]).
    ///
    /// # Errors
    /// As [`DispatchSetup::dispatch`].
    pub fn dispatch(&self, round: u32, target: &dyn Target) -> Result<Dispatch, CheckError> {
        self.dispatch_of(&self.setup, round, target)
    }

    /// As [`Check::dispatch`], with another setup of the same shader.
    pub(crate) fn dispatch_of(
        &self,
        setup: &DispatchSetup,
        round: u32,
        target: &dyn Target,
    ) -> Result<Dispatch, CheckError> {
        let caps = target.capabilities();
        let mut dispatch = setup.dispatch(round)?;
        let size = |name: &str| caps.properties.get(name).and_then(|size| u32::try_from(*size).ok());
        dispatch.subgroup_size = size("subgroupSize").unwrap_or(1).max(1);
        dispatch.subgroup_sizes = size("minSubgroupSize").zip(size("maxSubgroupSize")).map(<[u32; 2]>::from);
        if let Some(size) = self.subgroup_control.size {
            (dispatch.subgroup_size, dispatch.subgroup_sizes) = (size, None);
        }
        dispatch.benign_races = self.benign_races;
        let number = |name: &str, usual: u32| caps.properties.get(name).map_or(usual, |number| *number as u32);
        let least = Filtering::default();
        dispatch.filtering = Filtering {
            sub_texel_bits: number("subTexelPrecisionBits", least.sub_texel_bits),
            mipmap_bits: number("mipmapPrecisionBits", least.mipmap_bits),
        };
        let limit =
            |name: &str, least: i32| caps.properties.get(name).map_or(least, |limit| limit.cast_signed() as i32);
        let least = Offsets::default();
        dispatch.offsets = Offsets {
            gather: [limit("minTexelGatherOffset", least.gather[0]), limit("maxTexelGatherOffset", least.gather[1])],
            sample: [limit("minTexelOffset", least.sample[0]), limit("maxTexelOffset", least.sample[1])],
        };
        let most = RobustAlignment::default();
        dispatch.robust_alignment = RobustAlignment {
            storage: number("robustStorageBufferAccessSizeAlignment", most.storage),
            uniform: number("robustUniformBufferAccessSizeAlignment", most.uniform),
        };
        dispatch.depth_swizzle_one = number("depthStencilSwizzleOneSupport", 0) != 0;
        dispatch.maintenance8 = caps.features.contains("maintenance8");
        dispatch.kernel = self.kernel.clone();
        dispatch.robustness = self.robustness;
        if self.layout.is_some() {
            // Replaced by the layout that the device records; any layout will do until then.
            dispatch.layout = SubgroupLayout::Linear;
        }
        Ok(dispatch)
    }

    /// Has the target allocate the memory of a dispatch that uses device addresses, and puts the
    /// addresses into it.
    ///
    /// # Errors
    /// As [`Target::allocate`].
    pub(crate) fn allocate(
        &self,
        dispatch: &mut Dispatch,
        descriptors: &[Descriptor],
        target: &dyn Target,
    ) -> Result<Option<AllocatedDispatch>, TargetError> {
        if !self.setup.has_addressed() {
            return Ok(None);
        }
        let allocated = target.allocate(&DispatchRequest { descriptors, ..self.request(dispatch, None) })?;
        self.setup.put_addresses(&allocated.addresses, dispatch);
        Ok(Some(allocated))
    }

    /// Puts addresses into a dispatch that does not run on a device.
    pub fn put_synthetic_addresses(&self, dispatch: &mut Dispatch) {
        self.setup.put_addresses(&synthetic_addresses(&self.setup.descriptors), dispatch);
    }

    /// Computes the permitted sets of a dispatch.
    ///
    /// # Errors
    /// The dispatch exceeds the limits.
    pub fn permitted(&self, dispatch: &Dispatch) -> Result<Outcome, CheckError> {
        self.interpret(dispatch).map_err(|error| oracle(self.shader, error))
    }

    /// As [`Check::permitted`], with the error of the oracle.
    pub(crate) fn interpret(&self, dispatch: &Dispatch) -> Result<Outcome, RunError> {
        // A failure in a subset is confirmed by interpreting all invocations, and later runs do so too. The
        // subset is there because that takes long, which must not hide the failure.
        let all = self.sample.is_some() && dispatch.only.is_none();
        let long = Limits {
            invocations: u64::MAX,
            blocks_per_group: u64::MAX,
            work_per_group: u64::MAX,
            time: self.limits.time.saturating_mul(10),
            ..self.limits
        };
        self.program.run(dispatch, if all { &long } else { &self.limits })
    }

    /// Measures the mutation score of a dispatch and those of later rounds, with their order of atomics,
    /// and a setup of the shader.
    pub(crate) fn mutation_score(
        &self,
        setup: &DispatchSetup,
        (mut dispatch, mut later): (Dispatch, Vec<Dispatch>),
        size: ErrorSize,
    ) -> MeasuredScore {
        for dispatch in later.iter_mut().chain([&mut dispatch]) {
            if self.records_layout() && dispatch.layout == SubgroupLayout::Unknown {
                // Stands for the layout that the device will show.
                dispatch.layout = SubgroupLayout::Linear;
            }
        }
        let (shader, program, limits) = (self.shader, &self.program, self.limits);
        MutationAnalysis { shader, program, setup, limits, size }.score(dispatch, later)
    }

    /// Runs an instrumented variant in the round of the first element that the specification does
    /// not permit, and adds its findings to the result: the instructions that are wrong for their
    /// own operands, the invocations that wrote the elements, and with `derive` the derivation of
    /// the first element. A trace that is not possible becomes a note.
    pub fn explain(&self, result: &mut CheckResult, target: &dyn Target, derive: bool) {
        if let Err(why) = self.trace(result, target, derive, None) {
            result.notes.push(why);
        }
    }

    /// As [`Check::explain`], for the one instruction with this result id.
    pub(crate) fn explain_only(&self, result: &mut CheckResult, target: &dyn Target, id: u32) {
        if let Err(why) = self.trace(result, target, false, Some(id)) {
            result.notes.push(why);
        }
    }

    fn trace(
        &self,
        result: &mut CheckResult,
        target: &dyn Target,
        derive: bool,
        only: Option<u32>,
    ) -> Result<(), String> {
        let Some(round) = result.mismatches.iter().find(|m| m.is_against_the_specification()).map(|m| m.round) else {
            return Ok(());
        };
        let module = &self.shader.source.module;
        let recorded = only.map_or(ProbeSelection::All, ProbeSelection::Result);
        let instrumented = instrument(module, &self.setup, recorded).map_err(|error| error.to_string())?;
        let robustness = match result.possible_fault {
            // It may be an access out of bounds.
            Some(_) if self.robustness == Robustness::None => Robustness::Access,
            _ => self.robustness,
        };
        let VariantRun { given, output } = self.run_variant(&instrumented, round, target, robustness)?;
        let place = |index: u32| self.shader.location(Place { instruction: InstructionIndex(index), line: None });
        let reader = instrumented.reader(module, &self.setup, &given, &output, &place);
        let reader = reader.ok_or("the device returned no records")?;
        result.blamed = reader.blamed_instructions();
        let mut first = None;
        for mismatch in result.mismatches.iter_mut().filter(|m| m.round == round) {
            let slot = self.setup.descriptors.iter().find(|d| d.label() == mismatch.buffer).map(|d| d.slot);
            let writer = slot.and_then(|slot| reader.store_of(slot, mismatch.offset));
            mismatch.invocation = writer.map(|writer| writer.invocation);
            first = first.or(writer);
        }
        if let (true, Some(writer)) = (derive, first) {
            result.derivation = reader.derivation(&writer);
        }
        if result.blamed.is_empty() {
            let outcome = self.permitted(&given).map_err(|error| error.to_string())?;
            let still = self.compared(&outcome, &given, &output, round).failing > 0;
            let unseen: Vec<&str> = instrumented.unrecorded().collect();
            result.notes.push(format!(
                "the result of every recorded instruction is permitted for its recorded operands, and the output of \
                 the instrumented shader is {}{}; suspect stores, control flow, optimisations across instructions{}{}",
                if still { "wrong, too" } else { "permitted" },
                self.advice("; --reduce narrows it down").unwrap_or_default(),
                if unseen.is_empty() { "" } else { ", or instructions that the trace does not record: " },
                unseen.join(", ")
            ));
        }
        Ok(())
    }

    /// Writes a bundle of the round with the first failing element, or of the first round. The
    /// round is run again, which also shows whether the failure is repeatable.
    ///
    /// # Errors
    /// The device fails, or the directory cannot be written.
    pub fn write_bundle(
        &self,
        to: &BundleDestination<'_>,
        result: &CheckResult,
        target: &dyn Target,
    ) -> Result<(), CheckError> {
        let round = result.mismatches.first().map_or(0, |m| m.round);
        let mut dispatch = self.dispatch(round, target)?;
        let not_again = |error: TargetError| CheckError::Bundle {
            path: to.folder.to_owned(),
            what: format!("cannot rerun the failing round: {error}"),
        };
        let allocated = self.allocate(&mut dispatch, &self.setup.descriptors, target).map_err(not_again)?;
        if !result.mismatches.is_empty() {
            dispatch.copies = Copies::Assume;
        }
        let mut outcome = self.permitted(&dispatch)?;
        target.begin_round(round, self.excuse_of(&outcome).as_deref());
        let ran = self.run_safely(&mut dispatch, allocated.as_ref(), &outcome, target).map_err(not_again)?;
        let mut output = ran.0.memory;
        let found = self.compared(&outcome, &dispatch, &output, round);
        if let Some(Ok(replayed)) = self.under_observed_choices(round, target, (&outcome, dispatch.copies), &found) {
            // The choices under which the elements were checked.
            ObservedRound { dispatch, outcome, output, .. } = replayed;
        }
        let contents = bundle::BundleData {
            check: self,
            result,
            device: target.info(),
            dispatch: &dispatch,
            outcome: &outcome,
            output: &output,
            command: to.command,
            mutation: to.mutation,
        };
        bundle::write(to.folder, &contents)
    }

    /// Returns the reason, as a clause, why the end of the driver would not be a fault of the device: the
    /// interpreted dispatch may have undefined behaviour.
    pub(crate) fn excuse_of(&self, outcome: &Outcome) -> Option<String> {
        Some(self.described_fault(outcome.possible_faults.first()?, None).clause())
    }

    /// Returns a warning on a branch or selection that depends on a value that was never written.
    pub(crate) fn uninitialized_warning(
        &self,
        UninitializedDecision { branch, value }: UninitializedDecision,
    ) -> String {
        let is_elsewhere = value.line.is_some() && value.line != branch.line;
        let from = if is_elsewhere { format!(", read at {}", self.shader.location(value)) } else { String::new() };
        format!(
            "warning: the choice at {} depends on a value that was never written{from}: a variable may lack its initial \
             value, and what depends on it may have any value",
            self.shader.location(branch)
        )
    }

    /// Returns a possible fault with its location.
    pub(crate) fn described_fault(
        &self,
        fault: &PossibleFault,
        excluded_by: Option<FaultExclusion>,
    ) -> assay_events::PossibleFault {
        let kind = fault.kind.map(|kind| kind.to_string());
        let is_inside = (fault.at.instruction.0 as usize) < self.shader.source.module.len();
        let by_atomic =
            is_inside && DataFlow::new(&self.shader.source.module).has_place_by_atomic(fault.at.instruction);
        assay_events::PossibleFault { place: self.shader.location(fault.at), kind, excluded_by, by_atomic }
    }

    /// Returns whether an invocation of the checked workgroups executes an instruction; true if that is
    /// not known.
    pub(crate) fn executes(&self, instruction: InstructionIndex, target: &dyn Target) -> bool {
        (0..self.setup.rounds).any(|round| {
            let Ok(mut dispatch) = self.dispatch(round, target) else { return true };
            self.put_synthetic_addresses(&mut dispatch);
            dispatch.only = self.chosen_invocations();
            let outcome = self.permitted(&dispatch);
            outcome.map_or(true, |of| self.program.executed_instructions(&of.executed).contains(&instruction))
        })
    }

    /// Returns the description of a round that runs on a device. [`Check::write_failure_bundle`]
    /// parses it.
    pub fn round_description(round: u32) -> String {
        format!("{ROUND_PREFIX}{round}")
    }

    /// Returns the result for a target that gave no output.
    pub fn not_run(&self, status: Status, reason: String) -> CheckResult {
        CheckResult { status, reason: Some(reason), ..self.blank() }
    }

    /// Returns the round that ended the device: the one that the reason names, otherwise the first
    /// without a result.
    pub(crate) fn ended_round(&self, result: &CheckResult) -> u32 {
        let named = result.reason.as_deref().and_then(|reason| reason.split_once(ROUND_PREFIX));
        let digits = named.map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        let round = digits.and_then(|digits| digits.parse().ok());
        round.unwrap_or(result.rounds_checked + result.unjudged.len() as u32).min(self.setup.rounds - 1)
    }

    /// Writes a bundle of the round that ended the device. It has inputs but no outputs.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn write_failure_bundle(
        &self,
        to: &BundleDestination<'_>,
        result: &CheckResult,
        device: &DeviceInfo,
    ) -> Result<(), CheckError> {
        let dispatch = self.setup.dispatch(self.ended_round(result))?;
        let (dispatch, outcome, output) = (&dispatch, &Outcome::default(), &BTreeMap::new());
        let BundleDestination { folder, command, mutation } = *to;
        let contents = bundle::BundleData { check: self, result, device, dispatch, outcome, output, command, mutation };
        bundle::write(folder, &contents)
    }

    pub(crate) fn request<'b>(
        &'b self,
        dispatch: &'b Dispatch,
        allocated: Option<&'b AllocatedDispatch>,
    ) -> DispatchRequest<'b> {
        DispatchRequest {
            wgsl: self.shader.wgsl(),
            words: self.shader.source.module.words(),
            entry: &self.setup.entry,
            specs: &self.setup.specs,
            subgroup_control: self.subgroup_control,
            descriptors: &self.setup.descriptors,
            dispatch,
            allocated,
        }
    }

    /// Checks the shader on a target. Rounds in which the shader has undefined behaviour are not
    /// run; if that applies to all rounds, the check is an error.
    ///
    /// # Errors
    /// Mistakes in the input only. Failures of the target are a status.
    pub fn run(&self, target: &dyn Target) -> Result<CheckResult, CheckError> {
        Ok(self.run_to_output(target)?.result)
    }

    /// Returns whether a target has what the module requires.
    pub(crate) fn may_run_on(&self, target: &dyn Target) -> bool {
        self.requirements(target).may_run()
    }

    fn requirements(&self, target: &dyn Target) -> RequirementCheck {
        Requirements::of(&self.shader.source.module).check(target.capabilities())
    }

    /// As [`Check::run`], with the contents that the device left.
    pub(crate) fn run_to_output(&self, target: &dyn Target) -> Result<FinishedRun, CheckError> {
        let requirements = self.requirements(target);
        if !requirements.may_run() {
            let (status, reason) = (Status::NotSupported, Some(requirements.to_string()));
            return Ok(FinishedRun::without_output(CheckResult { status, reason, ..self.blank() }));
        }
        CheckRun::new(self, target).run()
    }

    /// As [`Check::run`], without comparing requirements to the capabilities of the target.
    ///
    /// # Errors
    /// As [`Check::run`].
    pub fn run_unconditionally(&self, target: &dyn Target) -> Result<CheckResult, CheckError> {
        Ok(CheckRun::new(self, target).run()?.result)
    }

    /// Returns advice to change an option, unless the options are fixed.
    pub(crate) fn advice(&self, text: &str) -> Option<String> {
        (!self.fixed).then(|| text.to_owned())
    }

    /// Returns advice to define the macros without which the text stores to no image, if there are
    /// any: at most three sets of them.
    pub(crate) fn advice_to_define(&self) -> Option<String> {
        let text = self.shader.text.as_deref().filter(|_| self.shader.language == Language::Glsl)?;
        let guards = image_store_guards(text);
        if guards.is_empty() || guards.iter().any(Vec::is_empty) {
            return None;
        }
        let options = |macros: &Vec<String>| macros.iter().map(|name| format!("--define {name}=1")).collect::<Vec<_>>();
        let each: Vec<String> = guards.iter().take(3).map(|macros| options(macros).join(" ")).collect();
        self.advice(&format!("its stores to images depend on macros: try {}", each.join(", or ")))
    }

    /// Returns advice to change the options that decide what the shader writes.
    pub(crate) fn advice_to_vary(&self) -> Option<String> {
        self.advice(&format!("try other values of {}", self.parameter_options()))
    }

    /// Returns the options for the parameters that the shader has, as a list in words.
    pub(crate) fn parameter_options(&self) -> String {
        let descriptors = &self.setup.descriptors;
        let has_lengths =
            descriptors.iter().any(|d| d.block.as_ref().is_some_and(|block| runtime_stride(block).is_some()));
        let has_specs = !Reflection::new(&self.shader.source.module).spec_constants.is_empty();
        let options = [
            (self.setup.push.is_some(), "--push"),
            (!descriptors.is_empty(), "--input"),
            (has_lengths, "--elements"),
            (descriptors.iter().any(|d| d.texels.is_some()), "--image-size"),
            (has_specs, "--spec"),
        ];
        let present: Vec<&str> = options.iter().filter(|(is_there, _)| *is_there).map(|(_, option)| *option).collect();
        match &present[..] {
            [] => "--workgroups".to_owned(),
            some => format!("{} or --workgroups", some.join(", ")),
        }
    }

    /// Returns the subgroup layout and size that the shader recorded, or the reason why it is
    /// impossible; `None` if it records none.
    pub(crate) fn recorded_layout(
        &self,
        output: &BTreeMap<Slot, Vec<u8>>,
        dispatch: &Dispatch,
    ) -> Option<Result<(SubgroupLayout, u32), String>> {
        let records = self.layout.and_then(|slot| output.get(&slot))?;
        let size =
            recorded_subgroup_size(records, &self.program.subgroup_sizes(dispatch)).unwrap_or(dispatch.subgroup_size);
        let full = self.needs_full_subgroups(size);
        Some(recorded_layout(records, self.workgroups(), size, full).map(|layout| (layout, size)))
    }

    /// Returns the subgroup layout and size that an instrumented variant recorded.
    ///
    /// # Errors
    /// The reason why the layout is impossible.
    pub(crate) fn layout_of_places(
        &self,
        places: &[SubgroupPlace],
        dispatch: &Dispatch,
    ) -> Result<(SubgroupLayout, u32), String> {
        let (_, lanes) = self.workgroups();
        let size = common_subgroup_size(places, lanes, &self.program.subgroup_sizes(dispatch))?;
        let positions = places.iter().map(|place| place.position).collect();
        Ok((possible_layout(positions, lanes, size, self.needs_full_subgroups(size))?, size))
    }

    /// Returns whether subgroups of this size must be full.
    fn needs_full_subgroups(&self, size: u32) -> bool {
        self.subgroup_control.full || self.program.needs_full_subgroups(self.setup.local, size)
    }

    /// Returns the number of workgroups, and of invocations in one.
    fn workgroups(&self) -> (usize, usize) {
        let product = |sides: [u32; 3]| sides.iter().map(|side| *side as usize).product();
        (product(self.setup.groups), product(self.setup.local))
    }

    /// Notes on the shader and the options.
    fn notes(&self) -> Vec<String> {
        let warnings = self.warnings.iter().map(|line| self.warning(line));
        warnings.chain(self.shader.notes.clone()).chain(self.setup.notes.clone()).collect()
    }

    /// Checks that the shader records its subgroup layout in the buffer that the options name.
    pub(crate) fn must_record(&self, outcome: &Outcome, subgroup_size: u32) -> Result<(), CheckError> {
        let Some((slot, memory)) = self.layout.and_then(|slot| Some((slot, outcome.memory.get(&slot)?))) else {
            return Ok(());
        };
        let Some(invocation) = first_unrecorded(memory, self.workgroups(), subgroup_size) else { return Ok(()) };
        Err(CheckError::option(format!(
            "--subgroups: the shader does not store the record of invocation {invocation} (counted by workgroups and \
             local \
             indices) to {slot}; expected three words for each invocation: SubgroupId, SubgroupLocalInvocationId, \
             SubgroupSize"
        )))
    }

    pub(crate) fn blank(&self) -> CheckResult {
        let setup = &self.setup;
        CheckResult {
            reason: None,
            entry: setup.entry.clone(),
            workgroups: setup.groups,
            workgroup_size: setup.local,
            rounds: setup.rounds,
            notes: self.notes(),
            compiler: self.shader.compiler.as_ref().map(ToString::to_string),
            ..CheckResult::not_run(self.shader.name.clone(), Status::Undetermined, String::new(), setup.seed())
        }
    }

    /// Returns the note on a violation that does not refuse the shader.
    fn warning(&self, violation: &str) -> String {
        format!("warning: {violation}{}", self.advice("; --strict makes this an error").unwrap_or_default())
    }

    pub(crate) fn cause(&self, cause: Option<&Cause>) -> (String, String) {
        match cause {
            Some(cause) => {
                let module = &self.shader.source.module;
                let is_inside = (cause.at.instruction.0 as usize) < module.len();
                let instruction = is_inside.then(|| module.instruction(cause.at.instruction));
                let name = instruction.map_or_else(|| "?".to_owned(), |i| instrument::name(&i));
                let kind = match (cause.kind, instruction) {
                    (CauseKind::NoRequirement, Some(i)) if matches!(i.op, Some(Op::ConvertFToS | Op::ConvertFToU)) => {
                        OUT_OF_RANGE.to_owned()
                    }
                    (CauseKind::NoRequirement, Some(i)) => {
                        let why = open_operands(&i, &name).map_or_else(String::new, |why| format!(": {why}"));
                        format!("{}{why}", cause.kind)
                    }
                    (kind, _) => kind.to_string(),
                };
                let recordable = cause.kind == CauseKind::SubgroupLayout && self.records_layout();
                let advice = self.advice(" (record it with --subgroups)").filter(|_| recordable).unwrap_or_default();
                (kind + &advice, format!("{name}, {}", self.shader.location(cause.at)))
            }
            None => (CauseKind::NoRequirement.to_string(), "several places".into()),
        }
    }
}

/// Cause of an undetermined conversion to an integer: "behavior is undefined if Result Type is not
/// wide enough to hold the converted value" (SPIR-V, OpConvertFToU and OpConvertFToS).
const OUT_OF_RANGE: &str = "the operand may be outside of the integer's range, or NaN, which gives any result";

pub(crate) fn oracle(shader: &ShaderSource, error: impl ToString) -> CheckError {
    CheckError::Oracle { name: shader.name.clone(), what: error.to_string() }
}

/// Default limit on the time of one dispatch.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
