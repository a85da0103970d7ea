//! Making a failure small: a shader and a dispatch that still show the same instruction, the same way.
//!
//! Steps: the dispatch shrinks; stores, atomics and barriers go; instructions give way to constants, those that feed the
//! wrong one to the very values that it had; branches go one way only, blocks that follow each other become one; what
//! nothing uses any more goes. After every step the candidate must be legal, understood by the oracle, without undefined
//! behaviour, and fail as before: the same instruction is to blame and an element is wrong in the same way. So a
//! reduction never slides to another failure. Before each candidate that has memory of workgroups this is cleared: what the one before left
//! there would be found by no other process.

mod edits;
mod straighten;

use crate::check::Check;
use crate::device::Target;
use crate::options::{Options, Source};
use crate::states::states;
use crate::verdict::bytes_of;
use crate::{BindingName, CheckError, Subject};
use assay_oracle::Limits;
use assay_runner::{CheckResult, Status};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, instruction};
use assay_spirv::module::{Index, Instruction, Section};
use assay_spirv::tables::{ExecutionMode, Kind, Op, StorageClass};
use edits::{Instead, constant, effects, functions, operands, substituted, values, without, without_unused};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// What a reduction came to.
#[derive(Debug)]
pub struct Reduced {
    /// The smaller shader.
    pub subject: Subject,
    /// What it is run with: one round, with fixed inputs.
    pub options: Options,
    /// Its verdict.
    pub result: CheckResult,
    /// Instructions in functions, before and after.
    pub instructions: [usize; 2],
    /// Candidates that were run.
    pub tried: usize,
    /// Why it ended before there was nothing more to leave out.
    pub stopped: Option<String>,
}

/// What a reduction may take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// So many candidates are run.
    pub candidates: usize,
    /// After this time none is begun.
    pub time: Duration,
}

/// What must stay the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Signature {
    /// The first instruction to blame, where a trace names one.
    blamed: Option<Blamed>,
    /// How the first element is wrong.
    class: String,
}

/// An instruction to blame, as it is found again in a smaller module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blamed {
    /// That makes this id.
    Makes(u32),
    /// That makes none: a store, a barrier.
    Does(Option<Op>),
}

impl Blamed {
    fn of(instruction: Instruction) -> Blamed {
        instruction.result().map_or(Blamed::Does(instruction.op), Blamed::Makes)
    }
}

impl Signature {
    fn of(module: &Module, result: &CheckResult) -> Option<Signature> {
        let first = result.mismatches.iter().find(|m| m.is_against_the_specification())?;
        let blamed = result.blamed.first().map(|b| Blamed::of(module.instruction(Index(b.instruction))));
        Some(Signature { blamed, class: first.class.clone() })
    }

    /// Whether a smaller shader fails in the same way: the instruction is among those to blame, the class among the
    /// elements'.
    fn holds(&self, module: &Module, result: &CheckResult) -> bool {
        let blamed = |of| result.blamed.iter().any(|b| Blamed::of(module.instruction(Index(b.instruction))) == of);
        result.status == Status::Fail
            && self.blamed.is_none_or(blamed)
            && result.mismatches.iter().any(|m| m.class == self.class)
    }

    /// The id that the instruction to blame makes.
    fn made(&self) -> Option<u32> {
        match self.blamed? {
            Blamed::Makes(id) => Some(id),
            Blamed::Does(_) => None,
        }
    }
}

struct Reducer<'a> {
    target: &'a dyn Target,
    signature: Signature,
    /// The id that the only instruction makes which traces record.
    only: Option<u32>,
    name: String,
    best: Candidate,
    tried: usize,
    effort: Effort,
    started: Instant,
    /// How the last candidate ended the device.
    lost: Option<String>,
}

struct Candidate {
    subject: Subject,
    options: Options,
    result: CheckResult,
}

/// Makes a failure smaller, as far as the effort goes. A candidate that does not end, or loses the device, is the last one: what the
/// device does after it may be no result.
///
/// # Errors
/// There is no element that the specification does not permit, or the failing round does not fail again.
pub fn reduce(
    check: &Check<'_>,
    result: &CheckResult,
    target: &dyn Target,
    effort: Effort,
) -> Result<Reduced, CheckError> {
    let module = &check.subject.source.module;
    let signature = Signature::of(module, result)
        .ok_or_else(|| CheckError::option("nothing to reduce: no element is outside what the specification permits"))?;
    let options = fixed(check, result, target)?;
    let name = format!("{}-reduced.spv", check.subject.name);
    let gone = || CheckError::option("nothing to reduce: the failing round does not fail again in the same way");
    // A variant that records one instruction is compiled in a small part of the time, but need not fail as the whole one did.
    let run = |only| match run(&name, module.words(), &options, target, only) {
        Tried::Fails(candidate) => Some(*candidate),
        Tried::Not | Tried::Ended(_) => None,
    };
    let holds = |c: &Candidate| signature.holds(&c.subject.source.module, &c.result);
    let one = signature.made().and_then(|id| run(Some(id)).filter(holds));
    let (only, first) = if one.is_some() { (signature.made(), one) } else { (None, run(None).filter(holds)) };
    let before = size(module);
    let (best, started) = (first.ok_or_else(gone)?, Instant::now());
    let mut reducer = Reducer { target, only, best, signature, name, tried: 1, effort, started, lost: None };
    reducer.shrink_dispatch();
    loop {
        let size_before = size(reducer.module());
        reducer.fix_operands();
        reducer.sweep(effects);
        // Most of a large shader is gone then, before each of its instructions is tried.
        reducer.clean();
        reducer.sweep(values);
        reducer.sweep(operands);
        reducer.once();
        reducer.straighten();
        reducer.clean();
        if size(reducer.module()) >= size_before || reducer.is_over().is_some() {
            break;
        }
    }
    reducer.shrink_workgroup();
    reducer.shrink_buffers();
    reducer.trace_all();
    let stopped = reducer.is_over();
    let Reducer { best: Candidate { subject, options, result }, tried, .. } = reducer;
    let instructions = [before, size(&subject.source.module)];
    Ok(Reduced { subject, options, result, instructions, tried, stopped })
}

/// The failing round as options: one round with the very bytes.
fn fixed(check: &Check<'_>, result: &CheckResult, target: &dyn Target) -> Result<Options, CheckError> {
    let round = result.mismatches.first().map_or(0, |m| m.round);
    let dispatch = check.dispatch(round, target)?;
    let mut options = Options {
        rules: check.setup.rules,
        entry: Some(check.setup.entry.clone()),
        groups: Some(check.setup.groups),
        specs: check.setup.specs.iter().map(|s| (s.id.to_string(), format!("0x{:x}", s.bits))).collect(),
        rounds: 1,
        buffers: check.setup.buffers.clone(),
        addresses: check.setup.addresses.clone(),
        robustness: check.robustness,
        subgroups: check.layout.map(BindingName::from),
        limits: limits(check, result),
        ..Options::default()
    };
    for (slot, resource) in &dispatch.bindings {
        let to = check.setup.name_of(*slot);
        let (image, sampler) = states(resource);
        if let Some(image) = image {
            options.images.push((to.parse()?, image));
        }
        if let Some(sampler) = sampler {
            options.samplers.push((to.parse()?, sampler));
        }
        let Some(data) = bytes_of(resource) else { continue };
        options.inputs.push((to.parse()?, Source::Bytes(data.to_vec())));
    }
    if !dispatch.push_constants.is_empty() {
        options.push = Some(Source::Bytes(dispatch.push_constants));
    }
    Ok(options)
}

/// What a candidate may cost: a few times what the whole did, for what is left out may be what ended a loop.
fn limits(check: &Check<'_>, result: &CheckResult) -> Limits {
    let most = result.instructions / u64::from(result.rounds_checked.max(1)) * 2 + 1024;
    let limits = check.limits;
    Limits { blocks_per_group: limits.blocks_per_group.min(most), ..limits }
}

/// What came of a candidate.
enum Tried {
    /// It fails: with its trace, or that of one instruction.
    Fails(Box<Candidate>),
    /// It may not be run, or does not fail.
    Not,
    /// It did not end, or not well: in words.
    Ended(String),
}

fn run(name: &str, words: &[u32], options: &Options, target: &dyn Target, only: Option<u32>) -> Tried {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let Ok(subject) = Subject::read(name, &bytes) else { return Tried::Not };
    let Some(options) = fitting(&subject, options) else { return Tried::Not };
    let result = {
        let Ok(check) = Check::new(&subject, &options) else { return Tried::Not };
        let is_shared =
            |i: Instruction| i.op == Some(Op::Variable) && i.operand(0) == Some(StorageClass::Workgroup as u32);
        let shares = subject.source.module.instructions().any(is_shared);
        let clear = || shares.then(|| target.clear_workgroup_memory());
        clear();
        let Ok(mut result) = check.run(target) else { return Tried::Not };
        match result.status {
            Status::Fail => {}
            Status::Timeout | Status::DeviceLost => {
                return Tried::Ended(format!("a candidate ended with {:?}", result.status));
            }
            _ => return Tried::Not,
        }
        clear();
        match only {
            Some(id) => check.explain_only(&mut result, target, id),
            None => check.explain(&mut result, target, false),
        }
        result
    };
    Tried::Fails(Box::new(Candidate { subject, options, result }))
}

/// The options without inputs of bindings that are gone.
fn fitting(subject: &Subject, options: &Options) -> Option<Options> {
    let none = Options { inputs: Vec::new(), samplers: Vec::new(), images: Vec::new(), push: None, ..options.clone() };
    let free = Options { addresses: Vec::new(), ..none };
    let setup = crate::Setup::new(subject, &free).ok()?;
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

/// Instructions in functions.
fn size(module: &Module) -> usize {
    module.functions().iter().map(|f| f.instructions.len()).sum()
}

impl Reducer<'_> {
    fn module(&self) -> &Module {
        &self.best.subject.source.module
    }

    /// Takes a candidate if it fails as before.
    fn take(&mut self, words: &[u32], options: &Options) -> bool {
        self.is_over().is_none() && self.take_one(words, options)
    }

    /// Why no further candidate is run, if so.
    fn is_over(&self) -> Option<String> {
        let many = || (self.tried >= self.effort.candidates).then(|| format!("{} candidates were tried", self.tried));
        let long = self.started.elapsed() >= self.effort.time;
        let long = || long.then(|| format!("{} s were spent", self.effort.time.as_secs()));
        self.lost.clone().or_else(many).or_else(long)
    }

    fn take_one(&mut self, words: &[u32], options: &Options) -> bool {
        self.tried += 1;
        match run(&self.name, words, options, self.target, self.only) {
            Tried::Fails(found) if self.signature.holds(&found.subject.source.module, &found.result) => {
                self.best = *found;
                true
            }
            Tried::Fails(_) | Tried::Not => false,
            Tried::Ended(why) => {
                self.lost = Some(why);
                false
            }
        }
    }

    /// Traces all of what is left, as far as it fails then as before.
    fn trace_all(&mut self) {
        if self.only.take().is_some() {
            let (words, options) = (self.module().words().to_vec(), self.best.options.clone());
            // However much has been tried; but not on a device that has been lost.
            if self.lost.is_none() {
                self.take_one(&words, &options);
            }
        }
    }

    /// Fewer workgroups: one, or along each axis half as many as long as that fails too.
    fn shrink_dispatch(&mut self) {
        let words = self.module().words().to_vec();
        let groups = self.best.options.groups.unwrap_or([1; 3]);
        let with = |options: &Options, groups| Options { groups: Some(groups), ..options.clone() };
        if groups != [1; 3] && self.take(&words, &with(&self.best.options.clone(), [1; 3])) {
            return;
        }
        for axis in 0..3 {
            loop {
                let mut fewer = self.best.options.groups.unwrap_or([1; 3]);
                fewer[axis] /= 2;
                if fewer[axis] == 0 || !self.take(&words, &with(&self.best.options.clone(), fewer)) {
                    break;
                }
            }
        }
    }

    /// Fewer invocations of a workgroup: one, or along each axis half as many as long as that fails too.
    fn shrink_workgroup(&mut self) {
        let options = self.best.options.clone();
        let size = |module: &Module| {
            let mode = |i: &Instruction<'_>| i.operand(1) == Some(ExecutionMode::LocalSize.word());
            let mode = module.section(Section::ExecutionModes).find(mode)?;
            let [_, _, x, y, z] = *mode.operands() else { return None };
            Some((mode.at, mode.operands()[0], [x, y, z]))
        };
        let with = |module: &Module, sides: [u32; 3]| {
            let (at, entry, _) = size(module)?;
            let mut editor = Editor::new(module);
            let [x, y, z] = sides;
            let operands = [entry, ExecutionMode::LocalSize.word(), x, y, z];
            editor.replace(at, instruction(Op::ExecutionMode, &operands));
            Some(editor.finish())
        };
        let Some((_, _, sides)) = size(self.module()) else { return };
        if sides != [1; 3] && with(self.module(), [1; 3]).is_some_and(|words| self.take(&words, &options)) {
            return;
        }
        for axis in 0..3 {
            while let Some((_, _, mut fewer)) = size(self.module()) {
                fewer[axis] /= 2;
                if fewer[axis] == 0 || !with(self.module(), fewer).is_some_and(|words| self.take(&words, &options)) {
                    break;
                }
            }
        }
    }

    /// Shorter buffers: half as long, as long as that fails too.
    fn shrink_buffers(&mut self) {
        let words = self.module().words().to_vec();
        for at in 0..self.best.options.inputs.len() {
            loop {
                let mut options = self.best.options.clone();
                let Some((_, Source::Bytes(bytes))) = options.inputs.get_mut(at) else { break };
                let half = (bytes.len() / 2).next_multiple_of(4);
                if half == 0 || half >= bytes.len() {
                    break;
                }
                bytes.truncate(half);
                if !self.take(&words, &options) {
                    break;
                }
            }
        }
    }

    /// Gives the wrong instruction the operands that it had in the example, as constants.
    fn fix_operands(&mut self) {
        let Some(blame) = self.best.result.blamed.first().cloned() else { return };
        let module = self.module();
        let i = module.instruction(Index(blame.instruction));
        let mut operands: Vec<u32> = Vec::new();
        let _newer = module.operands(i, |operand| {
            let word = i.words[operand.at];
            let inside = module.definition_of_word(word).is_some_and(|d| module.function_at(d.index).is_some());
            if operand.kind == Kind::IdRef && inside && !operands.contains(&word) {
                operands.push(word);
            }
        });
        let mut editor = Editor::new(module);
        let mut with = BTreeMap::new();
        for (operand, bits) in operands.iter().zip(&blame.example.operands) {
            let Some(plain) = Plain::of_value(module, *operand) else { return };
            let bits: Option<Vec<u64>> =
                bits.iter().map(|b| u64::from_str_radix(b.trim_start_matches("0x"), 16).ok()).collect();
            let Some(constant) = bits.and_then(|bits| constant(&mut editor, &plain, &bits)) else { return };
            with.insert(*operand, constant);
        }
        let words = i.words.to_vec();
        editor.replace(i.at, substituted(module, &i, words, &with));
        let words = editor.finish();
        let options = self.best.options.clone();
        self.take(&words, &options);
    }

    /// Tries to do without instructions: many at once, then fewer. `choose` says which, and what stands for a result.
    fn sweep(&mut self, choose: fn(&Module, &Instruction<'_>) -> Option<Instead>) {
        // From the end, for what comes late is used by little: what goes there leaves the number of those before as it is.
        let (mut open, mut chunk) = (usize::MAX, usize::MAX);
        while self.is_over().is_none() {
            let module = self.module();
            let all: Vec<(u32, Instead)> = functions(module)
                .filter(|i| self.signature.made().is_none_or(|id| i.result() != Some(id)))
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
                Some(words) if self.take(&words, &options) => {
                    open -= chunk;
                    chunk = chunk.saturating_mul(2);
                }
                _ if chunk == 1 => open -= 1,
                _ => chunk = chunk.div_ceil(2),
            }
        }
    }

    /// Goes through loops once.
    fn once(&mut self) {
        let mut tried = BTreeSet::new();
        while self.is_over().is_none() {
            let module = self.module();
            let Some(header) = straighten::loops(module).into_iter().find(|header| tried.insert(*header)) else {
                break;
            };
            let (words, options) = (straighten::once(module, header), self.best.options.clone());
            if let Some(words) = words {
                self.take(&words, &options);
            }
        }
    }

    /// Lets branches go one way only, as long as there is one that can.
    fn straighten(&mut self) {
        let mut tried = BTreeSet::new();
        loop {
            let module = self.module();
            let Some(choice) = straighten::choices(module).into_iter().find(|choice| tried.insert(*choice)) else {
                break;
            };
            let (words, options) = (straighten::go(module, choice.0, choice.1), self.best.options.clone());
            if let Some(words) = words {
                self.take(&words, &options);
            }
            if self.is_over().is_some() {
                break;
            }
        }
        while let Some(words) = straighten::joined(self.module()) {
            let options = self.best.options.clone();
            if !self.take(&words, &options) {
                break;
            }
        }
    }

    /// Removes what nothing uses: instructions without effects, functions, variables, constants, names, lines.
    fn clean(&mut self) {
        loop {
            let module = self.module();
            let words = without_unused(module);
            let (same, options) = (words.len() == module.words().len(), self.best.options.clone());
            if same || !self.take(&words, &options) {
                break;
            }
        }
    }
}
