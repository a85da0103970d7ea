//! Reduction of a failure to a small shader and dispatch, by delta debugging (Zeller and
//! Hildebrandt, IEEE TSE 28, 2002).
//!
//! A candidate is accepted if it is legal, the oracle can interpret it without undefined behaviour,
//! and it fails as before: a trace blames the same instruction, and an element is wrong in the same
//! way. So a reduction does not drift to another failure. A driver that ends early (a crash, a
//! timeout, a lost device) must end in the same way; each candidate then runs in a process of its
//! own.
//!
//! Steps, repeated until the shader shrinks no more:
//!
//! * fewer workgroups (once, at the start);
//! * constant operands for the blamed instruction, with the values that it had;
//! * removal of stores, atomics and barriers, then of other instructions, whose results are
//!   replaced by constants or operands;
//! * loops that run once, branches in one direction only, merged blocks;
//! * removal of unused definitions;
//! * smaller workgroups and buffers (once, at the end).
//!
//! Workgroup memory is cleared before each candidate that uses it, because data of an earlier
//! candidate would not be there in another process.

mod control_flow;
mod instruction_edits;

use crate::check::Check;
use crate::image_config::image_and_sampler;
use crate::options::{BindingSource, Options};
use crate::{BindingName, CheckError, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_oracle::{Dispatch, Limits};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, ScalarOrVector, instruction, substituted};
use assay_spirv::module::{Instruction, InstructionIndex, Section};
use assay_spirv::tables::{ExecutionMode, Kind, Op, StorageClass};
use instruction_edits::{Replacement, constant, effects, functions, operands, values, without, without_unused};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// Result of a reduction.
#[derive(Debug)]
pub struct Reduction {
    /// The reduced shader.
    pub shader: ShaderSource,
    /// Its options: one round with fixed inputs.
    pub options: Options,
    /// Its result.
    pub result: CheckResult,
    /// Number of instructions in functions, before and after.
    pub instructions: [usize; 2],
    /// Number of candidates that were run.
    pub tried: usize,
    /// Reason for stopping early; `None` if nothing more could be removed.
    pub stopped: Option<String>,
}

/// Limits of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct ReductionLimits {
    /// Largest number of candidates.
    pub candidates: usize,
    /// Time after which no candidate is started.
    pub time: Duration,
}

/// Signature of a failure, which a reduction preserves.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FailureSignature {
    /// Results that are not permitted.
    Results {
        /// First blamed instruction, if a trace names one.
        blamed: Option<BlamedInstruction>,
        /// Failure class of the first element.
        class: String,
    },
    /// An early end of the driver.
    Ended {
        status: Status,
        /// Start of the reason, without the call: `its process was ended by SIGSEGV`.
        how: String,
    },
}

/// Identity of a blamed instruction across modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlamedInstruction {
    /// Id of its result.
    WithResult(u32),
    /// Opcode of an instruction without a result, such as a store or a barrier.
    WithoutResult(Option<Op>),
}

impl BlamedInstruction {
    fn of(instruction: Instruction) -> BlamedInstruction {
        instruction.result().map_or(BlamedInstruction::WithoutResult(instruction.op), BlamedInstruction::WithResult)
    }
}

impl FailureSignature {
    fn of_results(module: &Module, result: &CheckResult) -> Option<FailureSignature> {
        let first = result.mismatches.iter().find(|m| m.is_against_the_specification())?;
        let blamed =
            result.blamed.first().map(|b| BlamedInstruction::of(module.instruction(InstructionIndex(b.instruction))));
        Some(FailureSignature::Results { blamed, class: first.class.clone() })
    }

    fn of_end(result: &CheckResult) -> FailureSignature {
        let reason = result.reason.as_deref().unwrap_or_default();
        let how = reason.split(',').next().unwrap_or_default().to_owned();
        FailureSignature::Ended { status: result.status, how }
    }

    /// Returns whether a smaller shader fails in the same way: the instruction is among those
    /// blamed, and the class among those of the elements; or the driver ended in the same way.
    fn holds(&self, module: &Module, result: &CheckResult) -> bool {
        match self {
            FailureSignature::Results { blamed, class } => {
                let is_blamed = |of: BlamedInstruction| {
                    result
                        .blamed
                        .iter()
                        .any(|b| BlamedInstruction::of(module.instruction(InstructionIndex(b.instruction))) == of)
                };
                result.status == Status::Fail
                    && blamed.is_none_or(is_blamed)
                    && result.mismatches.iter().any(|m| m.class == *class)
            }
            FailureSignature::Ended { .. } => *self == FailureSignature::of_end(result),
        }
    }

    /// Returns the id of the blamed instruction's result.
    fn result_id(&self) -> Option<u32> {
        match self {
            FailureSignature::Results { blamed: Some(BlamedInstruction::WithResult(id)), .. } => Some(*id),
            FailureSignature::Results { .. } | FailureSignature::Ended { .. } => None,
        }
    }
}

/// Result of a candidate; `None` if it cannot be checked, an error if no further one should be run.
type CandidateResult<T> = Result<Option<T>, String>;

/// Runs a candidate, whose trace may cover only the instruction with the given result.
type RunCandidate<'a> = &'a dyn Fn(&ShaderSource, &Options, Option<u32>) -> CandidateResult<CheckResult>;

/// Checks a shader in a process of its own. `None`: it cannot be checked. An error is the reason
/// for ending the reduction.
pub type RunIsolated<'a> = &'a dyn Fn(&ShaderSource, &Options) -> Result<Option<CheckResult>, String>;

struct Reducer<'a> {
    run: RunCandidate<'a>,
    signature: FailureSignature,
    /// Result id of the only instruction that traces record; `None` if they record all.
    only: Option<u32>,
    name: String,
    best: Candidate,
    tried: usize,
    effort: ReductionLimits,
    started: Instant,
    /// Reason for which no further candidate can be run.
    lost: Option<String>,
}

struct Candidate {
    shader: ShaderSource,
    options: Options,
    result: CheckResult,
}

/// Reduces wrong results within limits. It stops after a candidate that does not finish or loses
/// the device, because later results of the device may not be valid.
///
/// # Errors
/// No element is against the specification, or the failing round does not fail again.
pub fn reduce(
    check: &Check<'_>,
    result: &CheckResult,
    target: &dyn Target,
    effort: ReductionLimits,
) -> Result<Reduction, CheckError> {
    let signature = FailureSignature::of_results(&check.shader.source.module, result)
        .ok_or_else(|| CheckError::option("nothing to reduce: the specification permits every element"))?;
    let round = result.mismatches.first().map_or(0, |m| m.round);
    let options = fixed_options(check, result, &check.dispatch(round, target)?)?;
    let run = |shader: &ShaderSource, options: &Options, only| Ok(run_on(target, shader, options, only));
    reduce_with(check, options, signature, &run, effort)
}

/// Reduces a shader with which the driver ended early, within limits.
///
/// # Errors
/// The driver does not end in the same way again.
pub(crate) fn reduce_end(
    check: &Check<'_>,
    result: &CheckResult,
    run: RunIsolated<'_>,
    effort: ReductionLimits,
) -> Result<Reduction, CheckError> {
    let options = fixed_options(check, result, &check.setup.dispatch(check.ended_round(result))?)?;
    let run = |shader: &ShaderSource, options: &Options, _| run(shader, options);
    reduce_with(check, options, FailureSignature::of_end(result), &run, effort)
}

fn reduce_with(
    check: &Check<'_>,
    options: Options,
    signature: FailureSignature,
    run: RunCandidate<'_>,
    effort: ReductionLimits,
) -> Result<Reduction, CheckError> {
    let module = &check.shader.source.module;
    let name = format!("{}-reduced.spv", check.shader.name);
    let gone = || CheckError::option("nothing to reduce: the failing round does not fail in the same way again");
    let holds = |c: &Candidate| signature.holds(&c.shader.source.module, &c.result);
    let first = |only| {
        let found = candidate(&name, module.words(), &options, run, only).map_err(CheckError::option)?;
        Ok::<_, CheckError>(found.filter(holds))
    };
    // A variant that records one instruction compiles much faster, but may not fail as the full one
    // does.
    let one = signature.result_id().map(|id| first(Some(id))).transpose()?.flatten();
    let (only, first) = if one.is_some() { (signature.result_id(), one) } else { (None, first(None)?) };
    let before = instruction_count(module);
    let (best, started) = (first.ok_or_else(gone)?, Instant::now());
    let mut reducer = Reducer { run, only, best, signature, name, tried: 1, effort, started, lost: None };
    reducer.shrink_dispatch();
    loop {
        let size_before = instruction_count(reducer.module());
        reducer.fix_operands();
        reducer.sweep(effects);
        // This removes most of a large shader before instructions are tried one by one.
        reducer.clean();
        reducer.sweep(values);
        reducer.sweep(operands);
        reducer.run_loops_once();
        reducer.simplify_branches();
        reducer.clean();
        if instruction_count(reducer.module()) >= size_before || reducer.is_over().is_some() {
            break;
        }
    }
    reducer.shrink_workgroup();
    reducer.shrink_buffers();
    reducer.trace_all();
    let stopped = reducer.is_over();
    let Reducer { best: Candidate { shader, options, result }, tried, .. } = reducer;
    let instructions = [before, instruction_count(&shader.source.module)];
    Ok(Reduction { shader, options, result, instructions, tried, stopped })
}

/// Returns options with which a check has one round, that of the dispatch, with the same bytes.
fn fixed_options(check: &Check<'_>, result: &CheckResult, dispatch: &Dispatch) -> Result<Options, CheckError> {
    let (module, buffers) = (&check.shader.source.module, check.setup.buffers.iter());
    let mut options = Options {
        rules: check.setup.rules,
        entry: Some(check.setup.entry.clone()),
        groups: Some(check.setup.groups),
        specs: check.setup.specs.iter().map(|s| (s.id.to_string(), format!("0x{:x}", s.bits))).collect(),
        rounds: 1,
        buffers: buffers.map(|(name, form)| (name.clone(), form.by_id(module))).collect(),
        addresses: check.setup.addresses.clone(),
        robustness: Some(check.robustness),
        subgroups: check.layout.map(BindingName::from),
        subgroup_control: check.subgroup_control,
        benign_races: check.benign_races,
        limits: limits(check, result),
        ..Options::default()
    };
    for (slot, resource) in &dispatch.bindings {
        let to = check.setup.name_of(*slot);
        let (image, sampler) = image_and_sampler(resource);
        if let Some(image) = image {
            options.images.push((to.parse()?, image));
        }
        if let Some(sampler) = sampler {
            options.samplers.push((to.parse()?, sampler));
        }
        let Some(data) = resource.bytes() else { continue };
        options.inputs.push((to.parse()?, BindingSource::Bytes(data.to_vec())));
    }
    if !dispatch.push_constants.is_empty() {
        options.push = Some(BindingSource::Bytes(dispatch.push_constants.clone()));
    }
    Ok(options)
}

/// Returns limits for candidates: a few times the cost of the original, because a removed
/// instruction may have ended a loop.
fn limits(check: &Check<'_>, result: &CheckResult) -> Limits {
    let most = result.instructions / u64::from(result.rounds_checked.max(1)) * 2 + 1024;
    let limits = check.limits;
    Limits { blocks_per_group: limits.blocks_per_group.min(most), ..limits }
}

/// Runs a candidate.
fn candidate(
    name: &str,
    words: &[u32],
    options: &Options,
    run: RunCandidate<'_>,
    only: Option<u32>,
) -> CandidateResult<Candidate> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let Ok(shader) = ShaderSource::read(name, &bytes) else { return Ok(None) };
    let Some(options) = fit_options(&shader, options) else { return Ok(None) };
    let result = run(&shader, &options, only)?;
    Ok(result.map(|result| Candidate { shader, options, result }))
}

/// Checks and traces a candidate on a target. The trace may cover one instruction only.
fn run_on(target: &dyn Target, shader: &ShaderSource, options: &Options, only: Option<u32>) -> Option<CheckResult> {
    let check = Check::new(shader, options).ok()?;
    let is_shared = |i: Instruction| i.op == Some(Op::Variable) && i.operand(0) == Some(StorageClass::Workgroup as u32);
    let shares = shader.source.module.instructions().any(is_shared);
    let clear = || shares.then(|| target.clear_workgroup_memory());
    clear();
    let mut result = check.run(target).ok()?;
    if result.status == Status::Fail {
        clear();
        match only {
            Some(id) => check.explain_only(&mut result, target, id),
            None => check.explain(&mut result, target, false),
        }
    }
    Some(result)
}

/// Returns the options without those for bindings that no longer exist.
fn fit_options(shader: &ShaderSource, options: &Options) -> Option<Options> {
    let none = Options { inputs: Vec::new(), samplers: Vec::new(), images: Vec::new(), push: None, ..options.clone() };
    let free = Options { addresses: Vec::new(), fixed: true, ..none };
    let setup = crate::DispatchSetup::new(shader, &free).ok()?;
    let mut fitting = options.clone();
    let is_there = |to: &BindingName| setup.descriptors.iter().any(|d| to.names(d.slot, d.name.as_deref()));
    fitting.inputs.retain(|(to, _)| is_there(to));
    fitting.images.retain(|(to, _)| is_there(to));
    fitting.samplers.retain(|(to, _)| is_there(to));
    if setup.push.is_none() {
        fitting.push = None;
    }
    fitting.addresses.retain(|word| word.place.as_ref().map_or(setup.push.is_some(), is_there));
    Some(fitting)
}

/// Returns the number of instructions in functions.
fn instruction_count(module: &Module) -> usize {
    module.functions().iter().map(|f| f.instructions.len()).sum()
}

impl Reducer<'_> {
    fn module(&self) -> &Module {
        &self.best.shader.source.module
    }

    /// Runs a candidate, unless a limit is reached, and accepts it if it fails as before.
    fn try_candidate(&mut self, words: &[u32], options: &Options) -> bool {
        self.is_over().is_none() && self.run_candidate(words, options)
    }

    /// Returns the reason for stopping; `None` to continue.
    fn is_over(&self) -> Option<String> {
        let many = || {
            (self.tried >= self.effort.candidates)
                .then(|| format!("the limit of {} candidates was reached", self.tried))
        };
        let long = self.started.elapsed() >= self.effort.time;
        let long = || long.then(|| format!("the time limit of {} s was reached", self.effort.time.as_secs()));
        self.lost.clone().or_else(many).or_else(long)
    }

    fn run_candidate(&mut self, words: &[u32], options: &Options) -> bool {
        self.tried += 1;
        let found = match candidate(&self.name, words, options, self.run, self.only) {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(reason) => {
                self.lost = Some(reason);
                return false;
            }
        };
        if self.signature.holds(&found.shader.source.module, &found.result) {
            self.best = found;
            return true;
        }
        // In a process of its own, a candidate does not affect the next ones.
        let shares_device = matches!(self.signature, FailureSignature::Results { .. });
        if shares_device && matches!(found.result.status, Status::Timeout | Status::DeviceLost) {
            self.lost = Some(format!("a candidate ended with {:?}", found.result.status));
        }
        false
    }

    /// Traces all instructions of the result, if it still fails as before.
    fn trace_all(&mut self) {
        if self.only.take().is_some() {
            let (words, options) = (self.module().words().to_vec(), self.best.options.clone());
            // Ignores the limits, but not a lost device.
            if self.lost.is_none() {
                self.run_candidate(&words, &options);
            }
        }
    }

    /// Reduces the number of workgroups: to one, or by halves along each axis.
    fn shrink_dispatch(&mut self) {
        let words = self.module().words().to_vec();
        let groups = self.best.options.groups.unwrap_or([1; 3]);
        let with = |options: &Options, groups| Options { groups: Some(groups), ..options.clone() };
        if groups != [1; 3] && self.try_candidate(&words, &with(&self.best.options.clone(), [1; 3])) {
            return;
        }
        for axis in 0..3 {
            loop {
                let mut fewer = self.best.options.groups.unwrap_or([1; 3]);
                fewer[axis] /= 2;
                if fewer[axis] == 0 || !self.try_candidate(&words, &with(&self.best.options.clone(), fewer)) {
                    break;
                }
            }
        }
    }

    /// Reduces the size of a workgroup: to one, or by halves along each axis.
    fn shrink_workgroup(&mut self) {
        let options = self.best.options.clone();
        let workgroup_size = |module: &Module| {
            let mode = |i: &Instruction<'_>| i.operand(1) == Some(ExecutionMode::LocalSize.word());
            let mode = module.section(Section::ExecutionModes).find(mode)?;
            let [_, _, x, y, z] = *mode.operands() else { return None };
            Some((mode.at, mode.operands()[0], [x, y, z]))
        };
        let with = |module: &Module, sides: [u32; 3]| {
            let (at, entry, _) = workgroup_size(module)?;
            let mut editor = Editor::new(module);
            let [x, y, z] = sides;
            let operands = [entry, ExecutionMode::LocalSize.word(), x, y, z];
            editor.replace(at, instruction(Op::ExecutionMode, &operands));
            Some(editor.finish())
        };
        let Some((_, _, sides)) = workgroup_size(self.module()) else { return };
        if sides != [1; 3] && with(self.module(), [1; 3]).is_some_and(|words| self.try_candidate(&words, &options)) {
            return;
        }
        for axis in 0..3 {
            while let Some((_, _, mut fewer)) = workgroup_size(self.module()) {
                fewer[axis] /= 2;
                if fewer[axis] == 0
                    || !with(self.module(), fewer).is_some_and(|words| self.try_candidate(&words, &options))
                {
                    break;
                }
            }
        }
    }

    /// Halves buffers as long as the failure persists.
    fn shrink_buffers(&mut self) {
        let words = self.module().words().to_vec();
        for at in 0..self.best.options.inputs.len() {
            loop {
                let mut options = self.best.options.clone();
                let Some((_, BindingSource::Bytes(bytes))) = options.inputs.get_mut(at) else { break };
                let half = (bytes.len() / 2).next_multiple_of(4);
                if half == 0 || half >= bytes.len() {
                    break;
                }
                bytes.truncate(half);
                if !self.try_candidate(&words, &options) {
                    break;
                }
            }
        }
    }

    /// Replaces the operands of the blamed instruction by constants with their values in the
    /// example.
    fn fix_operands(&mut self) {
        let Some(blame) = self.best.result.blamed.first().cloned() else { return };
        let module = self.module();
        let i = module.instruction(InstructionIndex(blame.instruction));
        let mut operands: Vec<u32> = Vec::new();
        let _newer = module.operands(i, |operand| {
            let word = i.words[operand.at];
            let inside = module.definition_of(word).is_some_and(|d| module.function_at(d.index).is_some());
            if operand.kind == Kind::IdRef && inside && !operands.contains(&word) {
                operands.push(word);
            }
        });
        let mut editor = Editor::new(module);
        let mut with = BTreeMap::new();
        for (operand, bits) in operands.iter().zip(&blame.example.operands) {
            let Some(plain) = ScalarOrVector::of_value(module, *operand) else { return };
            let bits: Option<Vec<u64>> =
                bits.iter().map(|b| u64::from_str_radix(b.trim_start_matches("0x"), 16).ok()).collect();
            let Some(constant) = bits.and_then(|bits| constant(&mut editor, &plain, &bits)) else { return };
            with.insert(*operand, constant);
        }
        let words = i.words.to_vec();
        editor.replace(i.at, substituted(module, &i, words, &with));
        let words = editor.finish();
        let options = self.best.options.clone();
        self.try_candidate(&words, &options);
    }

    /// Removes instructions that `choose` selects: many at once, then fewer.
    fn sweep(&mut self, choose: fn(&Module, &Instruction<'_>) -> Option<Replacement>) {
        // From the end, because late instructions have few uses, and their removal keeps the
        // indices of earlier ones.
        let (mut open, mut chunk) = (usize::MAX, usize::MAX);
        while self.is_over().is_none() {
            let module = self.module();
            let all: Vec<(u32, Replacement)> = functions(module)
                .filter(|i| self.signature.result_id().is_none_or(|id| i.result() != Some(id)))
                .filter_map(|i| Some((i.index.0, choose(module, &i)?)))
                .collect();
            open = open.min(all.len());
            chunk = chunk.min(open);
            if chunk == 0 {
                break;
            }
            let words = without(module, &all[open - chunk..open]);
            let options = self.best.options.clone();
            match words {
                Some(words) if self.try_candidate(&words, &options) => {
                    open -= chunk;
                    chunk = chunk.saturating_mul(2);
                }
                _ if chunk == 1 => open -= 1,
                _ => chunk = chunk.div_ceil(2),
            }
        }
    }

    /// Tries to run each loop once.
    fn run_loops_once(&mut self) {
        let mut tried = BTreeSet::new();
        while self.is_over().is_none() {
            let module = self.module();
            let Some(header) = control_flow::loops(module).into_iter().find(|header| tried.insert(*header)) else {
                break;
            };
            let (words, options) = (control_flow::run_loop_once(module, header), self.best.options.clone());
            if let Some(words) = words {
                self.try_candidate(&words, &options);
            }
        }
    }

    /// Tries to fix each branch to one direction, then merges blocks.
    fn simplify_branches(&mut self) {
        let mut tried = BTreeSet::new();
        loop {
            let module = self.module();
            let Some(choice) = control_flow::branch_targets(module).into_iter().find(|choice| tried.insert(*choice))
            else {
                break;
            };
            let (words, options) = (control_flow::take_branch(module, choice.0, choice.1), self.best.options.clone());
            if let Some(words) = words {
                self.try_candidate(&words, &options);
            }
            if self.is_over().is_some() {
                break;
            }
        }
        while let Some(words) = control_flow::merge_blocks(self.module()) {
            let options = self.best.options.clone();
            if !self.try_candidate(&words, &options) {
                break;
            }
        }
    }

    /// Removes unused definitions: instructions without effects, functions, variables, constants,
    /// names, lines.
    fn clean(&mut self) {
        loop {
            let module = self.module();
            let words = without_unused(module);
            let (same, options) = (words.len() == module.words().len(), self.best.options.clone());
            if same || !self.try_candidate(&words, &options) {
                break;
            }
        }
    }
}
