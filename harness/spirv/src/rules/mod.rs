//! What a module may not do: the rules of the Vulkan environment for SPIR-V, one item each.
//!
//! To add a rule: write its [`Rule`] in the file of its section, and its two snippets in `tests/rules/`. A rule that only
//! running the shader can show goes into [`RUN_TIME_RULES`].

mod addressing;
mod capabilities;
mod decorations;
mod document;
mod entry_points;
mod every_module;
mod facts;
mod images;
mod indexing;
mod layout;
mod not_checked;
mod run_time;
mod scopes;
mod semantics;
mod storage;
mod types;
mod variables;

mod bindless_images;
mod image_processing;
mod storage_8bit;
mod tile_shading;

use std::sync::LazyLock;

pub use document::document;
pub use facts::Facts;
pub(crate) use images::format_row;
pub use layout::LAYOUT_NOT_ALLOWED;
pub use not_checked::{IMPLIED, NOT_CHECKED, NOT_CHECKED_ON_DEVICES};
pub use run_time::{RUN_TIME_RULES, RunTimeRule};

use crate::module::{Decorated, Index, Instruction, Module};
use crate::tables::{Decoration, Op};
use facts::{Entry, Variable};

/// A rule.
pub struct Rule {
    /// A short name, for messages and lists.
    pub name: &'static str,
    /// Its name in the specification: a VUID, or the document and clause.
    pub id: &'static str,
    /// What it asks for, in a few words.
    pub says: &'static str,
    on: On,
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
    /// Each instruction.
    Every(fn(&Facts, Instruction, &mut Findings)),
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
    /// The instruction at fault.
    pub index: Index,
    /// Index of its first word in the module.
    pub at: usize,
    /// What is there and what would be right.
    pub message: String,
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
    Group { section: "scopes", of_extension: false, rules: scopes::RULES },
    Group { section: "memory semantics and atomics", of_extension: false, rules: semantics::RULES },
    Group { section: "storage classes", of_extension: false, rules: storage::RULES },
    Group { section: "variables and interfaces", of_extension: false, rules: variables::RULES },
    Group { section: "decorations", of_extension: false, rules: decorations::RULES },
    Group { section: "layout", of_extension: false, rules: layout::RULES },
    Group { section: "types", of_extension: false, rules: types::RULES },
    Group { section: "images", of_extension: false, rules: images::RULES },
    Group { section: "descriptor indexing", of_extension: false, rules: indexing::RULES },
    Group { section: "addressing", of_extension: false, rules: addressing::RULES },
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
    /// The environment that a module is written for: kernels are not for Vulkan.
    pub fn of(module: &Module) -> Environment {
        if Facts::new(module).has(crate::tables::Capability::Kernel) { Environment::Other } else { Environment::Vulkan }
    }
}

type InstructionCheck = (&'static Rule, fn(&Facts, Instruction, &mut Findings));

/// The rules that look at instructions, by opcode.
static BY_OPCODE: LazyLock<Vec<Vec<InstructionCheck>>> = LazyLock::new(|| {
    let mut checks: Vec<Vec<InstructionCheck>> = Vec::new();
    for rule in all() {
        let On::Instructions(ops, check) = rule.on else { continue };
        for op in ops {
            let opcode = *op as usize;
            if checks.len() <= opcode {
                checks.resize_with(opcode + 1, Vec::new);
            }
            checks[opcode].push((rule, check));
        }
    }
    checks
});

/// Every violation of a rule that holds in an environment, in the order of the instructions.
pub fn violations(module: &Module, environment: Environment) -> Vec<Violation> {
    let mut violations = all_violations(module);
    if environment == Environment::Other {
        let of_extension =
            |rule: &Rule| GROUPS.iter().any(|g| g.of_extension && g.rules.iter().any(|r| std::ptr::eq(r, rule)));
        violations.retain(|v| of_extension(v.rule));
    }
    violations
}

fn all_violations(module: &Module) -> Vec<Violation> {
    let facts = Facts::new(module);
    let Some(first) = all().next() else { return Vec::new() };
    let mut found = Findings { rule: first, violations: Vec::new() };
    let every: Vec<InstructionCheck> = all()
        .filter_map(|rule| match rule.on {
            On::Every(check) => Some((rule, check)),
            _ => None,
        })
        .collect();
    for instruction in module.instructions() {
        let special = instruction.op.and_then(|op| BY_OPCODE.get(op as usize));
        for (rule, check) in special.into_iter().flatten().chain(&every) {
            found.rule = rule;
            check(&facts, instruction, &mut found);
        }
    }
    for rule in all() {
        found.rule = rule;
        match rule.on {
            On::Instructions(..) | On::Every(_) => {}
            On::Module(check) => check(&facts, &mut found),
            On::EntryPoints(check) => facts.entries.iter().for_each(|entry| check(&facts, entry, &mut found)),
            On::Variables(check) => facts.variables.iter().for_each(|v| check(&facts, v, &mut found)),
            On::Decorations(decorations, check) => {
                for (target, decorated) in facts.decorated() {
                    if decorated.decoration.is_some_and(|d| decorations.contains(&d)) {
                        check(&facts, target, &decorated, &mut found);
                    }
                }
            }
        }
    }
    let mut violations = found.violations;
    violations.sort_by_key(|v| v.at);
    violations
}
