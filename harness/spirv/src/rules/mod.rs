//! Validation rules for modules: the Vulkan environment for SPIR-V, the core specification and
//! extensions.
//!
//! To add a rule, write its [`Rule`] in the file of its section and its two modules in
//! `tests/rules/`. A rule that only execution can show goes into [`RUN_TIME_RULES`].

mod addressing;
mod buffer_layout;
mod built_ins;
mod capabilities;
mod core_rules;
mod decorations;
mod descriptor_indexing;
mod entry_points;
mod facts;
mod image_operands;
mod images;
mod logical_pointers;
mod memory_semantics;
mod not_checked;
pub(crate) mod opcode_groups;
mod operands;
mod rules_document;
mod run_time_rules;
mod scope_operands;
mod scopes;
mod storage_16bit;
mod storage_classes;
mod structure;
mod type_contents;
mod types;
mod uniqueness;
mod variables;

mod bindless_images;
mod image_processing;
mod storage_8bit;
mod tile_shading;

use std::sync::LazyLock;

pub use buffer_layout::LAYOUT_NOT_ALLOWED;
pub(crate) use capabilities::LISTED_BY_EXTENSION;
pub(crate) use descriptor_indexing::dynamic_indexing;
pub use facts::Facts;
pub(crate) use images::format_row;
pub use not_checked::{IMPLIED, NOT_CHECKED, NOT_CHECKED_OF_CORE, NOT_CHECKED_ON_DEVICES};
pub use rules_document::document;
pub use run_time_rules::{RUN_TIME_RULES, RunTimeRule};

use crate::grammar::{Enumerant, Kind};
use crate::hash::FastMap;
use crate::module::{Decorated, Index, Instruction, Module};
use crate::tables::{Capability, Decoration, ExecutionModel, MemoryModel, Op};
use capabilities::enumerants;
use facts::{EntryPointFacts, ModuleVariable};
use operands::Signature;
use scope_operands::ScopeOperands;

/// A validation rule.
pub struct Rule {
    /// Short name, for messages and lists.
    pub name: &'static str,
    /// Reference to the specification: a VUID, or a document and clause.
    pub id: &'static str,
    /// The requirement, in one sentence.
    pub says: &'static str,
    /// Consequence of breaking the rule.
    pub severity: Severity,
    check: Check,
}

/// Consequence of breaking a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The module is invalid and is not run on any device.
    Error,
    /// The violation is reported. The module is rejected only if the caller asks for strictness.
    Warning {
        /// Reason why the module is not rejected.
        why: &'static str,
    },
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The check of a rule, by the parts of the module that it is called for.
enum Check {
    /// The whole module.
    Module(fn(&Facts, &mut Findings)),
    /// Each instruction with one of these opcodes.
    Instructions(&'static [Op], fn(&Facts, Instruction, &mut Findings)),
    /// Each instruction with one of these opcodes that has scopes or memory semantics, with these
    /// operands. An empty list means every opcode.
    Scoped(&'static [Op], fn(&Facts, Instruction, &ScopeOperands, &mut Findings)),
    /// Each instruction that has one of these signatures, also as the operation of an
    /// `OpSpecConstantOp`.
    Typed(&'static [Signature]),
    /// Each instruction.
    AllInstructions(fn(&Facts, Instruction, &mut Findings)),
    /// Each instruction with a known opcode, and each enumerant among its operands.
    Enabling(fn(&Facts, Instruction, Op, &mut Findings), fn(&Facts, Instruction, Kind, &Enumerant, &mut Findings)),
    /// Each entry point.
    EntryPoints(fn(&Facts, &EntryPointFacts, &mut Findings)),
    /// Each module-scope variable.
    Variables(fn(&Facts, &ModuleVariable, &mut Findings)),
    /// Each use of one of these decorations, with the word of its target.
    Decorations(&'static [Decoration], fn(&Facts, u32, &Decorated, &mut Findings)),
}

/// A violation of a rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The broken rule.
    pub rule: &'static Rule,
    /// The offending instruction. Index 0 if the module has no instructions.
    pub index: Index,
    /// Index of the instruction's first word in the module; the number of words if the module has
    /// no instructions.
    pub at: usize,
    /// Description of the problem, and usually of the expected state.
    pub message: String,
}

impl Violation {
    /// Returns whether the violation makes the module invalid.
    pub fn refuses(&self) -> bool {
        self.rule.severity == Severity::Error
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "word {}: {} ({})", self.at, self.message, self.rule.id)
    }
}

/// Violations found so far, and the rule that is being checked.
struct Findings {
    rule: &'static Rule,
    violations: Vec<Violation>,
}

impl Findings {
    /// Reports a problem of the whole module at its first instruction, or after the header if it
    /// has none.
    fn report_module(&mut self, module: &Module, message: &str) {
        match module.instructions().next() {
            Some(first) => self.report(first, message),
            None => self.violations.push(Violation {
                rule: self.rule,
                index: Index(0),
                at: module.words().len(),
                message: message.to_owned(),
            }),
        }
    }

    fn report(&mut self, instruction: Instruction, message: impl Into<String>) {
        let violation =
            Violation { rule: self.rule, index: instruction.index, at: instruction.at, message: message.into() };
        // An instruction is reported once for each rule, however many paths lead to the violation.
        let known = |v: &Violation| std::ptr::eq(v.rule, self.rule) && v.index == violation.index;
        if !self.violations.iter().rev().take(64).any(known) {
            self.violations.push(violation);
        }
    }
}

/// Rules of one section.
#[derive(Debug)]
pub struct Group {
    /// Section of the document, or name of the extension.
    pub section: &'static str,
    /// True if the rules are those of an extension, and apply to every API.
    pub of_extension: bool,
    /// The rules.
    pub rules: &'static [Rule],
}

/// All rules, by section.
pub static GROUPS: &[Group] = &[
    Group { section: "capabilities, extensions and versions", of_extension: false, rules: capabilities::RULES },
    Group { section: "the core specification", of_extension: false, rules: core_rules::RULES },
    Group { section: "entry points and execution modes", of_extension: false, rules: entry_points::RULES },
    Group { section: "uniqueness and existence", of_extension: false, rules: uniqueness::RULES },
    Group { section: "scopes", of_extension: false, rules: scopes::RULES },
    Group { section: "memory semantics and atomics", of_extension: false, rules: memory_semantics::RULES },
    Group { section: "storage classes", of_extension: false, rules: storage_classes::RULES },
    Group { section: "variables and interfaces", of_extension: false, rules: variables::RULES },
    Group { section: "built-ins", of_extension: false, rules: built_ins::RULES },
    Group { section: "decorations", of_extension: false, rules: decorations::RULES },
    Group { section: "layout", of_extension: false, rules: buffer_layout::RULES },
    Group { section: "types", of_extension: false, rules: types::RULES },
    Group { section: "images", of_extension: false, rules: images::RULES },
    Group { section: "image operands", of_extension: false, rules: image_operands::RULES },
    Group { section: "descriptor indexing", of_extension: false, rules: descriptor_indexing::RULES },
    Group { section: "addressing", of_extension: false, rules: addressing::RULES },
    Group { section: "logical pointers", of_extension: false, rules: logical_pointers::RULES },
    Group { section: "16-bit storage", of_extension: false, rules: storage_16bit::RULES },
    Group { section: "type declarations", of_extension: false, rules: operands::DECLARATIONS },
    Group { section: "types of numeric instructions", of_extension: false, rules: operands::NUMBERS },
    Group { section: "composites and constants", of_extension: false, rules: operands::COMPOSITES },
    Group { section: "types of memory instructions", of_extension: false, rules: operands::MEMORY },
    Group { section: "types of atomic instructions", of_extension: false, rules: operands::ATOMICS },
    Group { section: "types of group instructions", of_extension: false, rules: operands::GROUPS },
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

/// All rules, in the order of their groups.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.rules)
}

/// API that a module is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Vulkan. All rules apply.
    Vulkan,
    /// Another API, such as OpenCL. Only the rules of extensions apply.
    Other,
}

impl Environment {
    /// Returns the environment that a module is written for.
    ///
    /// The entry points decide: the module is for another API if it has entry points and all of
    /// them are kernels. A module without entry points is for another API if its memory model is
    /// OpenCL and it does not declare `Shader`. Kernel capabilities alone do not decide: a compute
    /// shader that declares one is a Vulkan shader that breaks a rule.
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

/// A rule and its check function.
type RuleCheck<F> = (&'static Rule, F);
type InstructionCheck = fn(&Facts, Instruction, &mut Findings);
type OpcodeCheck = fn(&Facts, Instruction, Op, &mut Findings);
type EnumerantCheck = fn(&Facts, Instruction, Kind, &Enumerant, &mut Findings);
type ScopedCheck = fn(&Facts, Instruction, &ScopeOperands, &mut Findings);
type DecorationCheck = fn(&Facts, u32, &Decorated, &mut Findings);

/// The rules by opcode and decoration, so that each instruction and each decoration is visited
/// once.
struct Dispatch {
    /// Checks of each opcode, by its number.
    opcodes: Vec<OpcodeChecks>,
    all_instructions: Vec<RuleCheck<InstructionCheck>>,
    enabling: Vec<RuleCheck<(OpcodeCheck, EnumerantCheck)>>,
    decorations: FastMap<Decoration, Vec<RuleCheck<DecorationCheck>>>,
}

#[derive(Clone, Default)]
struct OpcodeChecks {
    plain: Vec<RuleCheck<InstructionCheck>>,
    typed: Option<RuleCheck<&'static Signature>>,
    scoped: Vec<RuleCheck<ScopedCheck>>,
}

static DISPATCH: LazyLock<Dispatch> = LazyLock::new(|| {
    let opcodes = crate::grammar::INSTRUCTIONS.iter().map(|row| row.op as usize + 1).max().unwrap_or(0);
    let opcodes = vec![OpcodeChecks::default(); opcodes];
    let mut dispatch =
        Dispatch { opcodes, all_instructions: Vec::new(), enabling: Vec::new(), decorations: FastMap::default() };
    for rule in all() {
        match rule.check {
            Check::Instructions(ops, check) => {
                ops.iter().for_each(|op| dispatch.opcodes[*op as usize].plain.push((rule, check)));
            }
            Check::Typed(signatures) => {
                for signature in signatures {
                    signature.ops.iter().for_each(|op| dispatch.opcodes[*op as usize].typed = Some((rule, signature)));
                }
            }
            Check::Scoped([], check) => {
                for row in
                    crate::grammar::INSTRUCTIONS.iter().filter(|row| scope_operands::may_have_scope_operands(row))
                {
                    dispatch.opcodes[row.op as usize].scoped.push((rule, check));
                }
            }
            Check::Scoped(ops, check) => {
                ops.iter().for_each(|op| dispatch.opcodes[*op as usize].scoped.push((rule, check)));
            }
            Check::AllInstructions(check) => dispatch.all_instructions.push((rule, check)),
            Check::Enabling(opcode, enumerant) => dispatch.enabling.push((rule, (opcode, enumerant))),
            Check::Decorations(decorations, check) => {
                for decoration in decorations {
                    dispatch.decorations.entry(*decoration).or_default().push((rule, check));
                }
            }
            Check::Module(_) | Check::EntryPoints(_) | Check::Variables(_) => {}
        }
    }
    dispatch
});

/// Returns all violations of the rules that apply in an environment, including warnings, in the
/// order of the instructions.
pub fn violations(module: &Module, environment: Environment) -> Vec<Violation> {
    let mut violations = all_violations(module);
    if environment == Environment::Other {
        let of_extension =
            |rule: &Rule| GROUPS.iter().any(|g| g.of_extension && g.rules.iter().any(|r| std::ptr::eq(r, rule)));
        violations.retain(|v| of_extension(v.rule));
    }
    violations
}

/// Describes the violation in the operand types of the operation inside an `OpSpecConstantOp`.
fn spec_constant_problem(facts: &Facts, instruction: Instruction) -> Option<(&'static Rule, String)> {
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
    let mut operands = ScopeOperands::default();
    for instruction in module.instructions() {
        if let Some(checks) = instruction.op.and_then(|op| dispatch.opcodes.get(op as usize)) {
            for (rule, check) in &checks.plain {
                found.rule = rule;
                check(&facts, instruction, &mut found);
            }
            if let Some((rule, signature)) = checks.typed
                && let Some(problem) = operands::problem(&facts, instruction, signature)
            {
                found.rule = rule;
                found.report(instruction, problem);
            }
            if !checks.scoped.is_empty() && operands.read(&facts, instruction) {
                for (rule, check) in &checks.scoped {
                    found.rule = rule;
                    check(&facts, instruction, &operands, &mut found);
                }
            }
        }
        if let Some((rule, problem)) = spec_constant_problem(&facts, instruction) {
            found.rule = rule;
            found.report(instruction, problem);
        }
        for (rule, check) in &dispatch.all_instructions {
            found.rule = rule;
            check(&facts, instruction, &mut found);
        }
        let Some(op) = instruction.op else { continue };
        for (rule, (check, _)) in &dispatch.enabling {
            found.rule = rule;
            check(&facts, instruction, op, &mut found);
        }
        enumerants(module, instruction, op, |kind, row| {
            for (rule, (_, check)) in &dispatch.enabling {
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
        match rule.check {
            Check::Instructions(..) | Check::Typed(_) | Check::Scoped(..) => {}
            Check::AllInstructions(_) | Check::Enabling(..) | Check::Decorations(..) => {}
            Check::Module(check) => check(&facts, &mut found),
            Check::EntryPoints(check) => facts.entries.iter().for_each(|entry| check(&facts, entry, &mut found)),
            Check::Variables(check) => facts.variables.iter().for_each(|v| check(&facts, v, &mut found)),
        }
    }
    let mut violations = found.violations;
    violations.sort_by_key(|v| v.at);
    violations
}
