//! What a module may not do: the rules of the Vulkan environment for SPIR-V, one item each.
//!
//! To add a rule: write its [`Rule`] in the file of its section, and its two snippets in `tests/rules/`. A rule that only
//! running the shader can show goes into [`RUN_TIME_RULES`].

mod addressing;
mod built_ins;
mod capabilities;
mod contents;
mod decorations;
mod document;
mod entry_points;
mod every_module;
mod facts;
mod image_operands;
mod images;
mod indexing;
mod layout;
mod logical_pointers;
mod not_checked;
mod operands;
pub(crate) mod ops;
mod repetition;
mod run_time;
mod scopes;
mod semantics;
mod stated;
mod storage;
mod storage_16bit;
mod structure;
mod types;
mod variables;

mod bindless_images;
mod image_processing;
mod storage_8bit;
mod tile_shading;

use std::sync::LazyLock;

pub(crate) use capabilities::OF_LISTED_EXTENSION;
pub use document::document;
pub use facts::Facts;
pub(crate) use images::format_row;
pub(crate) use indexing::dynamic as dynamic_indexing;
pub use layout::LAYOUT_NOT_ALLOWED;
pub use not_checked::{IMPLIED, NOT_CHECKED, NOT_CHECKED_OF_CORE, NOT_CHECKED_ON_DEVICES};
pub use run_time::{RUN_TIME_RULES, RunTimeRule};

use crate::grammar::{Enumerant, Kind};
use crate::hash::FastMap;
use crate::module::{Decorated, Index, Instruction, Module};
use crate::tables::{Capability, Decoration, ExecutionModel, MemoryModel, Op};
use capabilities::enumerants;
use facts::{Entry, Variable};
use operands::Signature;
use stated::Stated;

/// A rule.
pub struct Rule {
    /// A short name, for messages and lists.
    pub name: &'static str,
    /// Its name in the specification: a VUID, or the document and clause.
    pub id: &'static str,
    /// What it asks for, in a few words.
    pub says: &'static str,
    /// The effect of breaking it.
    pub severity: Severity,
    on: On,
}

/// The effect of breaking a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The module is illegal, and no device is given it.
    Error,
    /// The breach is reported. Only who asks for strictness has the module refused.
    Warning {
        /// The reason for not refusing it.
        why: &'static str,
    },
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What a rule looks at, and how.
enum On {
    /// The module as a whole.
    Module(fn(&Facts, &mut Findings)),
    /// Each instruction of these opcodes.
    Instructions(&'static [Op], fn(&Facts, Instruction, &mut Findings)),
    /// Each instruction of these opcodes that has scopes or memory semantics, with what it states of them; of all opcodes if
    /// none is named.
    Stated(&'static [Op], fn(&Facts, Instruction, &Stated, &mut Findings)),
    /// Each instruction that has one of these signatures, be it inside an `OpSpecConstantOp`.
    Typed(&'static [Signature]),
    /// Each instruction.
    Every(fn(&Facts, Instruction, &mut Findings)),
    /// Each instruction whose opcode is known, and each enumerant that it names.
    Named(fn(&Facts, Instruction, Op, &mut Findings), fn(&Facts, Instruction, Kind, &Enumerant, &mut Findings)),
    /// Each entry point.
    EntryPoints(fn(&Facts, &Entry, &mut Findings)),
    /// Each module-scope variable.
    Variables(fn(&Facts, &Variable, &mut Findings)),
    /// Each use of these decorations, with the word of the id that is decorated.
    Decorations(&'static [Decoration], fn(&Facts, u32, &Decorated, &mut Findings)),
}

/// A broken rule, and where.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: &'static Rule,
    /// The instruction at fault; of a module without instructions, the one that is missing.
    pub index: Index,
    /// Index of its first word in the module.
    pub at: usize,
    /// What is there and what would be right.
    pub message: String,
}

impl Violation {
    /// Whether the module is illegal for it.
    pub fn refuses(&self) -> bool {
        self.rule.severity == Severity::Error
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "word {}: {} ({})", self.at, self.message, self.rule.id)
    }
}

/// What has been found so far.
struct Findings {
    rule: &'static Rule,
    violations: Vec<Violation>,
}

impl Findings {
    /// Tells of what the module as a whole lacks: at its first instruction, or behind the header where there is none.
    fn of_module(&mut self, module: &Module, message: &str) {
        match module.instructions().next() {
            Some(first) => self.at(first, message),
            None => self.violations.push(Violation {
                rule: self.rule,
                index: Index(0),
                at: module.words().len(),
                message: message.to_owned(),
            }),
        }
    }

    fn at(&mut self, instruction: Instruction, message: impl Into<String>) {
        let violation =
            Violation { rule: self.rule, index: instruction.index, at: instruction.at, message: message.into() };
        // One instruction breaks a rule once, however many ways lead to it.
        let known = |v: &Violation| std::ptr::eq(v.rule, self.rule) && v.index == violation.index;
        if !self.violations.iter().rev().take(64).any(known) {
            self.violations.push(violation);
        }
    }
}

/// Rules that stand together.
#[derive(Debug)]
pub struct Group {
    /// The section of the document, or the extension.
    pub section: &'static str,
    /// Whether they are an extension's, and hold in every API.
    pub of_extension: bool,
    /// The rules.
    pub rules: &'static [Rule],
}

/// The rules, by section.
pub static GROUPS: &[Group] = &[
    Group { section: "capabilities, extensions and versions", of_extension: false, rules: capabilities::RULES },
    Group { section: "the core specification", of_extension: false, rules: every_module::RULES },
    Group { section: "entry points and execution modes", of_extension: false, rules: entry_points::RULES },
    Group { section: "what is said once, and of what there is", of_extension: false, rules: repetition::RULES },
    Group { section: "scopes", of_extension: false, rules: scopes::RULES },
    Group { section: "memory semantics and atomics", of_extension: false, rules: semantics::RULES },
    Group { section: "storage classes", of_extension: false, rules: storage::RULES },
    Group { section: "variables and interfaces", of_extension: false, rules: variables::RULES },
    Group { section: "built-ins", of_extension: false, rules: built_ins::RULES },
    Group { section: "decorations", of_extension: false, rules: decorations::RULES },
    Group { section: "layout", of_extension: false, rules: layout::RULES },
    Group { section: "types", of_extension: false, rules: types::RULES },
    Group { section: "images", of_extension: false, rules: images::RULES },
    Group { section: "image operands", of_extension: false, rules: image_operands::RULES },
    Group { section: "descriptor indexing", of_extension: false, rules: indexing::RULES },
    Group { section: "addressing", of_extension: false, rules: addressing::RULES },
    Group { section: "logical pointers", of_extension: false, rules: logical_pointers::RULES },
    Group { section: "16-bit storage", of_extension: false, rules: storage_16bit::RULES },
    Group { section: "declarations of types", of_extension: false, rules: operands::DECLARATIONS },
    Group { section: "types of numeric instructions", of_extension: false, rules: operands::NUMBERS },
    Group { section: "composites and constants", of_extension: false, rules: operands::COMPOSITES },
    Group { section: "types behind pointers", of_extension: false, rules: operands::MEMORY },
    Group { section: "types of atomics", of_extension: false, rules: operands::ATOMICS },
    Group { section: "types of group operations", of_extension: false, rules: operands::GROUPS },
    Group { section: "types of extended instructions", of_extension: false, rules: operands::EXTENDED },
    Group { section: "types of image instructions", of_extension: false, rules: operands::IMAGES },
    Group { section: "functions and control flow", of_extension: false, rules: operands::CALLS },
    Group { section: "structured control flow", of_extension: false, rules: structure::RULES },
    Group { section: "definitions and uses", of_extension: false, rules: operands::DOMINANCE },
    Group { section: "SPV_KHR_8bit_storage", of_extension: true, rules: storage_8bit::RULES },
    Group { section: "SPV_QCOM_tile_shading", of_extension: true, rules: tile_shading::RULES },
    Group { section: "SPV_QCOM_image_processing3", of_extension: true, rules: image_processing::RULES },
    Group { section: "SPV_INTEL_bindless_images", of_extension: true, rules: bindless_images::RULES },
];

/// Every rule, in the order of the groups.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.rules)
}

/// The API that a module is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Vulkan: every rule holds.
    Vulkan,
    /// Another, such as OpenCL: the rules of the extensions hold.
    Other,
}

impl Environment {
    /// The environment that a module is written for.
    ///
    /// Its entry points decide: a module for another API has entry points, and all of them are kernels. A library, which has
    /// none, is for another API if its memory model is OpenCL's and it does not declare `Shader`. Capabilities of kernels
    /// alone decide nothing: a compute shader that declares one is a Vulkan shader that breaks a rule.
    pub fn of(module: &Module) -> Environment {
        let facts = Facts::new(module);
        let mut models = facts.entries.iter().map(|entry| entry.model);
        let of_kernels = if facts.entries.is_empty() {
            facts.memory_model() == Some(MemoryModel::OpenCL) && !facts.has(Capability::Shader)
        } else {
            models.all(|model| model == Some(ExecutionModel::Kernel))
        };
        if of_kernels { Environment::Other } else { Environment::Vulkan }
    }
}

/// A rule with what it does, of one kind.
type Check<F> = (&'static Rule, F);
type OnInstruction = fn(&Facts, Instruction, &mut Findings);
type OnOpcode = fn(&Facts, Instruction, Op, &mut Findings);
type OnEnumerant = fn(&Facts, Instruction, Kind, &Enumerant, &mut Findings);
type OnStated = fn(&Facts, Instruction, &Stated, &mut Findings);
type OnDecoration = fn(&Facts, u32, &Decorated, &mut Findings);

/// The rules by what they ask for, so that each instruction and decoration is looked at once.
struct Dispatch {
    /// By opcode.
    opcodes: Vec<OfOpcode>,
    every: Vec<Check<OnInstruction>>,
    named: Vec<Check<(OnOpcode, OnEnumerant)>>,
    decorations: FastMap<Decoration, Vec<Check<OnDecoration>>>,
}

#[derive(Clone, Default)]
struct OfOpcode {
    plain: Vec<Check<OnInstruction>>,
    typed: Option<Check<&'static Signature>>,
    stated: Vec<Check<OnStated>>,
}

static DISPATCH: LazyLock<Dispatch> = LazyLock::new(|| {
    let opcodes = crate::grammar::INSTRUCTIONS.iter().map(|row| row.op as usize + 1).max().unwrap_or(0);
    let opcodes = vec![OfOpcode::default(); opcodes];
    let mut dispatch = Dispatch { opcodes, every: Vec::new(), named: Vec::new(), decorations: FastMap::default() };
    for rule in all() {
        match rule.on {
            On::Instructions(ops, check) => {
                ops.iter().for_each(|op| dispatch.opcodes[*op as usize].plain.push((rule, check)));
            }
            On::Typed(signatures) => {
                for signature in signatures {
                    signature.ops.iter().for_each(|op| dispatch.opcodes[*op as usize].typed = Some((rule, signature)));
                }
            }
            On::Stated([], check) => {
                for row in crate::grammar::INSTRUCTIONS.iter().filter(|row| stated::may_state(row)) {
                    dispatch.opcodes[row.op as usize].stated.push((rule, check));
                }
            }
            On::Stated(ops, check) => {
                ops.iter().for_each(|op| dispatch.opcodes[*op as usize].stated.push((rule, check)));
            }
            On::Every(check) => dispatch.every.push((rule, check)),
            On::Named(opcode, enumerant) => dispatch.named.push((rule, (opcode, enumerant))),
            On::Decorations(decorations, check) => {
                for decoration in decorations {
                    dispatch.decorations.entry(*decoration).or_default().push((rule, check));
                }
            }
            On::Module(_) | On::EntryPoints(_) | On::Variables(_) => {}
        }
    }
    dispatch
});

/// Every violation of a rule that holds in an environment, in the order of the instructions; those of rules that only warn
/// among them.
pub fn violations(module: &Module, environment: Environment) -> Vec<Violation> {
    let mut violations = all_violations(module);
    if environment == Environment::Other {
        let of_extension =
            |rule: &Rule| GROUPS.iter().any(|g| g.of_extension && g.rules.iter().any(|r| std::ptr::eq(r, rule)));
        violations.retain(|v| of_extension(v.rule));
    }
    violations
}

/// What is wrong with the types of the operation inside an `OpSpecConstantOp`.
fn specialized(facts: &Facts, instruction: Instruction) -> Option<(&'static Rule, String)> {
    if instruction.op != Some(Op::SpecConstantOp) {
        return None;
    }
    let op = Op::from_opcode(u16::try_from(instruction.operand(0)?).ok()?)?;
    let (rule, signature) = DISPATCH.opcodes.get(op as usize)?.typed?;
    operands::specialized_problem(facts, instruction, op, signature).map(|problem| (rule, problem))
}

fn all_violations(module: &Module) -> Vec<Violation> {
    let facts = Facts::new(module);
    let Some(first) = all().next() else { return Vec::new() };
    let mut found = Findings { rule: first, violations: Vec::new() };
    let dispatch = &*DISPATCH;
    let mut stated = Stated::default();
    for instruction in module.instructions() {
        if let Some(of) = instruction.op.and_then(|op| dispatch.opcodes.get(op as usize)) {
            for (rule, check) in &of.plain {
                found.rule = rule;
                check(&facts, instruction, &mut found);
            }
            if let Some((rule, signature)) = of.typed
                && let Some(problem) = operands::problem(&facts, instruction, signature)
            {
                found.rule = rule;
                found.at(instruction, problem);
            }
            if !of.stated.is_empty() && stated.read(&facts, instruction) {
                for (rule, check) in &of.stated {
                    found.rule = rule;
                    check(&facts, instruction, &stated, &mut found);
                }
            }
        }
        if let Some((rule, problem)) = specialized(&facts, instruction) {
            found.rule = rule;
            found.at(instruction, problem);
        }
        for (rule, check) in &dispatch.every {
            found.rule = rule;
            check(&facts, instruction, &mut found);
        }
        let Some(op) = instruction.op else { continue };
        for (rule, (check, _)) in &dispatch.named {
            found.rule = rule;
            check(&facts, instruction, op, &mut found);
        }
        enumerants(module, instruction, op, |kind, row| {
            for (rule, (_, check)) in &dispatch.named {
                found.rule = rule;
                check(&facts, instruction, kind, row, &mut found);
            }
        });
    }
    for (target, decorated) in module.all_decorations() {
        for (rule, check) in decorated.decoration.and_then(|d| dispatch.decorations.get(&d)).into_iter().flatten() {
            found.rule = rule;
            check(&facts, target, &decorated, &mut found);
        }
    }
    for rule in all() {
        found.rule = rule;
        match rule.on {
            On::Instructions(..) | On::Typed(_) | On::Stated(..) => {}
            On::Every(_) | On::Named(..) | On::Decorations(..) => {}
            On::Module(check) => check(&facts, &mut found),
            On::EntryPoints(check) => facts.entries.iter().for_each(|entry| check(&facts, entry, &mut found)),
            On::Variables(check) => facts.variables.iter().for_each(|v| check(&facts, v, &mut found)),
        }
    }
    let mut violations = found.violations;
    violations.sort_by_key(|v| v.at);
    violations
}
