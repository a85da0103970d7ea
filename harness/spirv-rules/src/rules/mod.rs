//! Validation rules for modules: the Vulkan environment for SPIR-V, the core specification and
//! extensions.
//!
//! To add a rule, write its [`Rule`] in the file of its section and its two modules in
//! `tests/rules/`. A rule that only execution can show goes into [`RUN_TIME_RULES`].

mod addressing;
mod analysis;
mod buffer_layout;
mod built_ins;
mod capabilities;
mod core_rules;
mod decorations;
mod descriptor_indexing;
mod entry_points;
mod image_operands;
mod images;
mod logical_pointers;
mod memory_semantics;
mod not_checked;
pub(crate) mod opcode_groups;
mod operands;
mod run_time_rules;
mod scope_operands;
mod scopes;
mod storage_16bit;
mod storage_classes;
mod structured_control_flow;
mod types;
mod uniqueness;
mod variables;

mod bindless_images;
mod image_processing;
mod storage_8bit;
mod tile_shading;

use std::sync::LazyLock;

pub use buffer_layout::LAYOUT_NOT_ALLOWED_RULE;
pub(crate) use capabilities::LISTED_BY_EXTENSION;
pub(crate) use descriptor_indexing::dynamic_indexing;
pub use not_checked::{IMPLIED, UNCHECKED_CORE, UNCHECKED_RUNTIME, UNCHECKED_STANDALONE};
pub use run_time_rules::{RUN_TIME_RULES, RunTimeRule};

use analysis::facts::{EntryPointFacts, Facts, ModuleVariable};
use assay_spirv::grammar::{Enumerant, Kind};
use assay_spirv::hash::FastMap;
use assay_spirv::module::{DecorationRef, Instruction, InstructionIndex, Module};
use assay_spirv::tables::{Capability, Decoration, ExecutionModel, MemoryModel, Op};
use capabilities::enumerants;
use operands::Signature;
use scope_operands::ScopeOperands;

/// A validation rule.
pub struct Rule {
    /// Short name, for messages and lists.
    pub name: &'static str,
    /// Reference to the specification: a VUID, or a document and clause.
    pub id: &'static str,
    /// The requirement, in one sentence.
    pub requirement: &'static str,
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
        reason: &'static str,
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
    Decorations(&'static [Decoration], fn(&Facts, u32, &DecorationRef, &mut Findings)),
}

/// A violation of a rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The broken rule.
    pub rule: &'static Rule,
    /// The offending instruction. Index 0 if the module has no instructions.
    pub instruction: InstructionIndex,
    /// Index of the instruction's first word in the module; the number of words if the module has
    /// no instructions.
    pub word_index: usize,
    /// Description of the problem, and usually of the expected state.
    pub message: String,
}

impl Violation {
    /// Returns whether the violation makes the module invalid.
    pub fn is_error(&self) -> bool {
        self.rule.severity == Severity::Error
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "word {}: {} ({})", self.word_index, self.message, self.rule.id)
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
                instruction: InstructionIndex(0),
                word_index: module.words().len(),
                message: message.to_owned(),
            }),
        }
    }

    fn report(&mut self, instruction: Instruction, message: impl Into<String>) {
        let violation = Violation {
            rule: self.rule,
            instruction: instruction.index,
            word_index: instruction.at,
            message: message.into(),
        };
        // An instruction is reported once for each rule, however many paths lead to the violation.
        let known = |v: &Violation| std::ptr::eq(v.rule, self.rule) && v.instruction == violation.instruction;
        if !self.violations.iter().rev().take(64).any(known) {
            self.violations.push(violation);
        }
    }
}

impl ModuleVariable<'_> {
    /// Reports a violation at the variable.
    fn report(&self, found: &mut Findings, message: impl Into<String>) {
        found.report(self.instruction, message);
    }
}

/// Rules of one section.
#[derive(Debug)]
pub struct RuleGroup {
    /// Section of the document, or name of the extension.
    pub section: &'static str,
    /// True if the rules are those of an extension, and apply to every API.
    pub is_extension: bool,
    /// The rules.
    pub rules: &'static [Rule],
}

/// All rules, by section.
pub static RULE_GROUPS: &[RuleGroup] = &[
    RuleGroup { section: "capabilities, extensions and versions", is_extension: false, rules: capabilities::RULES },
    RuleGroup { section: "the core specification", is_extension: false, rules: core_rules::RULES },
    RuleGroup { section: "entry points and execution modes", is_extension: false, rules: entry_points::RULES },
    RuleGroup { section: "uniqueness and existence", is_extension: false, rules: uniqueness::RULES },
    RuleGroup { section: "scopes", is_extension: false, rules: scopes::RULES },
    RuleGroup { section: "memory semantics and atomics", is_extension: false, rules: memory_semantics::RULES },
    RuleGroup { section: "storage classes", is_extension: false, rules: storage_classes::RULES },
    RuleGroup { section: "variables and interfaces", is_extension: false, rules: variables::RULES },
    RuleGroup { section: "built-ins", is_extension: false, rules: built_ins::RULES },
    RuleGroup { section: "decorations", is_extension: false, rules: decorations::RULES },
    RuleGroup { section: "layout", is_extension: false, rules: buffer_layout::RULES },
    RuleGroup { section: "types", is_extension: false, rules: types::RULES },
    RuleGroup { section: "images", is_extension: false, rules: images::RULES },
    RuleGroup { section: "image operands", is_extension: false, rules: image_operands::RULES },
    RuleGroup { section: "descriptor indexing", is_extension: false, rules: descriptor_indexing::RULES },
    RuleGroup { section: "addressing", is_extension: false, rules: addressing::RULES },
    RuleGroup { section: "logical pointers", is_extension: false, rules: logical_pointers::RULES },
    RuleGroup { section: "16-bit storage", is_extension: false, rules: storage_16bit::RULES },
    RuleGroup { section: "type declarations", is_extension: false, rules: operands::DECLARATIONS },
    RuleGroup { section: "types of numeric instructions", is_extension: false, rules: operands::NUMBERS },
    RuleGroup { section: "composites and constants", is_extension: false, rules: operands::COMPOSITES },
    RuleGroup { section: "types of memory instructions", is_extension: false, rules: operands::MEMORY },
    RuleGroup { section: "types of atomic instructions", is_extension: false, rules: operands::ATOMICS },
    RuleGroup { section: "types of group instructions", is_extension: false, rules: operands::GROUPS },
    RuleGroup { section: "types of extended instructions", is_extension: false, rules: operands::EXTENDED },
    RuleGroup { section: "types of image instructions", is_extension: false, rules: operands::IMAGES },
    RuleGroup { section: "functions and control flow", is_extension: false, rules: operands::CALLS },
    RuleGroup { section: "structured control flow", is_extension: false, rules: structured_control_flow::RULES },
    RuleGroup { section: "definitions and uses", is_extension: false, rules: operands::DOMINANCE },
    RuleGroup { section: "SPV_KHR_8bit_storage", is_extension: true, rules: storage_8bit::RULES },
    RuleGroup { section: "SPV_QCOM_tile_shading", is_extension: true, rules: tile_shading::RULES },
    RuleGroup { section: "SPV_QCOM_image_processing3", is_extension: true, rules: image_processing::RULES },
    RuleGroup { section: "SPV_INTEL_bindless_images", is_extension: true, rules: bindless_images::RULES },
];

/// All rules, in the order of their groups.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    RULE_GROUPS.iter().flat_map(|group| group.rules)
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
    pub fn of_module(module: &Module) -> Environment {
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
type DecorationCheck = fn(&Facts, u32, &DecorationRef, &mut Findings);

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
    let opcodes = assay_spirv::grammar::INSTRUCTIONS.iter().map(|row| row.op as usize + 1).max().unwrap_or(0);
    let opcodes = vec![OpcodeChecks::default(); opcodes];
    let mut dispatch =
        Dispatch { opcodes, all_instructions: Vec::new(), enabling: Vec::new(), decorations: FastMap::default() };
    for rule in all_rules() {
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
                    assay_spirv::grammar::INSTRUCTIONS.iter().filter(|row| scope_operands::may_have_scope_operands(row))
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
            |rule: &Rule| RULE_GROUPS.iter().any(|g| g.is_extension && g.rules.iter().any(|r| std::ptr::eq(r, rule)));
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
    let Some(first) = all_rules().next() else { return Vec::new() };
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
    for rule in all_rules() {
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
    violations.sort_by_key(|v| v.word_index);
    violations
}
