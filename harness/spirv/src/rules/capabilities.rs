//! What a module uses, it declares; what it declares, Vulkan lists.

use std::cell::Cell;

use super::facts::Facts;
use super::{Findings, On, Rule, Severity};
use crate::decode::Plan;
use crate::grammar::{Category, Enumerant, Kind, Version, extension_enabling};
use crate::module::{Instruction, Module};
use crate::tables::{BuiltIn, Capability, ExecutionMode, MemorySemantics, Op, StorageClass};

/// Enumerants whose capability a rule of an extension asks for by its own name, or that Vulkan lets everyone declare or use.
fn has_own_rule(kind: Kind, value: u32) -> bool {
    let built_ins = [BuiltIn::PointSize, BuiltIn::ClipDistance, BuiltIn::CullDistance];
    match kind {
        Kind::StorageClass => value == StorageClass::TileAttachmentQCOM.word(),
        Kind::ExecutionMode => {
            let own = [ExecutionMode::TileShadingRateQCOM, ExecutionMode::NonCoherentTileAttachmentReadQCOM];
            own.into_iter().any(|mode| mode.word() == value)
        }
        Kind::BuiltIn => built_ins.into_iter().any(|b| b.word() == value),
        // What capabilities a capability names are those that it brings along.
        Kind::Capability => true,
        // Models and built-ins of rounding are told by their types.
        Kind::FPRoundingMode => true,
        // Vulkan has no atomic counters: its memory model ignores their bit, which compilers set all the same.
        Kind::MemorySemantics => value == MemorySemantics::ATOMIC_COUNTER_MEMORY.0,
        _ => false,
    }
}

/// Whether SPV_AMD_shader_ballot enables an enumerant, which its grammar does not say: Reduce, InclusiveScan and
/// ExclusiveScan for its group instructions.
fn is_of_ballot(facts: &Facts, kind: Kind, value: u32) -> bool {
    const LAST: u32 = 2;
    kind == Kind::GroupOperation && value <= LAST && facts.extensions.contains(OF_LISTED_EXTENSION.1)
}

fn listed(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|c| c.name()).collect::<Vec<_>>().join(" or ")
}

/// A capability that Vulkan's table of capabilities lacks while its table of extensions has the extension that needs it.
pub(crate) const OF_LISTED_EXTENSION: (Capability, &str) = (Capability::Groups, "SPV_AMD_shader_ballot");

/// Whether a capability is not listed, but comes with a listed extension that the module declares.
fn comes_with_extension(facts: &Facts, capability: Capability) -> bool {
    let (unlisted, extension) = OF_LISTED_EXTENSION;
    capability == unlisted && facts.extensions.contains(extension)
}

/// Tells of something that no declared capability enables.
fn undeclared(facts: &Facts, instruction: Instruction, found: &mut Findings, name: &str, capabilities: &[Capability]) {
    if !capabilities.is_empty() && !capabilities.iter().any(|c| facts.has(*c)) {
        found.at(instruction, format!("{name} without capability {}", listed(capabilities)));
    }
}

/// What brings an instruction or an enumerant.
struct Brought {
    since: Option<Version>,
    until: Option<Version>,
    extensions: &'static [&'static str],
    by_capability: bool,
}

impl Brought {
    /// What is wrong, as the end of a sentence, if neither the module's version nor a declared extension brings it.
    fn problem(&self, facts: &Facts) -> Option<String> {
        let Brought { since, until, extensions, by_capability } = *self;
        let version = facts.module.version();
        if until.is_some_and(|last| version > last) {
            return Some(format!(", which SPIR-V {version} no longer has"));
        }
        let core = since.is_some_and(|since| version >= since);
        if core || extensions.iter().any(|e| facts.extensions.contains(*e)) {
            return None;
        }
        let brought_by = || extensions.join(" or ");
        match (since, extensions) {
            // Without an extension of its own it comes with its capability, which is asked for its own.
            (None, []) => None,
            (Some(_), []) if by_capability => None,
            (Some(since), []) => Some(format!(" in SPIR-V {version}, expected {since} or newer")),
            (Some(since), _) => Some(format!(" in SPIR-V {version} without extension {} (or {since})", brought_by())),
            (None, _) => Some(format!(" without extension {}", brought_by())),
        }
    }
}

fn instruction_brought(op: Op) -> Brought {
    let info = op.info();
    Brought {
        since: info.since,
        until: info.until,
        extensions: info.extensions,
        by_capability: !info.capabilities.is_empty(),
    }
}

/// Tells of an instruction or enumerant that neither the module's version nor a declared extension brings.
fn too_new(facts: &Facts, instruction: Instruction, found: &mut Findings, name: &str, brought: &Brought) {
    if let Some(problem) = brought.problem(facts) {
        found.at(instruction, format!("{name}{problem}"));
    }
}

/// What the two rules on what enables an instruction make of each opcode in a module: instructions repeat, and with them
/// the answer.
pub(super) struct Opcodes(Vec<Cell<u8>>);

const KNOWN: u8 = 1;
const UNDECLARED: u8 = 2;
const TOO_NEW: u8 = 4;

impl Default for Opcodes {
    fn default() -> Self {
        let last = crate::grammar::INSTRUCTIONS.last().map_or(0, |row| row.op as usize);
        Opcodes(vec![Cell::new(0); last + 1])
    }
}

impl Opcodes {
    fn of(&self, facts: &Facts, op: Op) -> u8 {
        let cell = self.0.get(op as usize);
        let known = cell.map_or(0, Cell::get);
        if known & KNOWN != 0 {
            return known;
        }
        let capabilities = op.info().capabilities;
        let undeclared = !capabilities.is_empty() && !capabilities.iter().any(|c| facts.has(*c));
        let too_new = instruction_brought(op).problem(facts).is_some();
        let found = KNOWN | if undeclared { UNDECLARED } else { 0 } | if too_new { TOO_NEW } else { 0 };
        if let Some(cell) = cell {
            cell.set(found);
        }
        found
    }
}

/// Calls `visit` for each enumerant that an instruction names.
pub(super) fn enumerants(
    module: &Module,
    instruction: Instruction,
    op: Op,
    mut visit: impl FnMut(Kind, &'static Enumerant),
) {
    if !Plan::of(op).names_enumerants(instruction.words.len()) {
        return;
    }
    let _newer = module.operands(instruction, |operand| {
        let word = instruction.words[operand.at];
        match operand.kind.info().category {
            Category::Value(_) => operand.kind.enumerant(word).into_iter().for_each(|row| visit(operand.kind, row)),
            Category::Mask(rows) if word != 0 => {
                let set = rows.iter().filter(|row| row.value != 0 && word & row.value == row.value);
                set.for_each(|row| visit(operand.kind, row));
            }
            Category::Mask(_) | Category::Id | Category::Literal | Category::Composite(_) => {}
        }
    });
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "capability-listed",
        id: "vulkan-environment-for-spirv, Capabilities: no OpCapability that is not listed",
        says: "capabilities are those that Vulkan lists",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Capability], |facts, instruction, found| {
            let Some(capability) = instruction.operand(0).and_then(Capability::from_word) else { return };
            if capability.enabling().is_none() && !comes_with_extension(facts, capability) {
                found.at(instruction, format!("capability {capability}, which Vulkan does not list"));
            }
        }),
    },
    Rule {
        name: "capability-of-extension",
        id: "vulkan-environment-for-spirv, Capabilities: no OpCapability that is not listed; Groups is not, beside SPV_AMD_shader_ballot, which is",
        says: "capabilities of listed extensions are those that Vulkan lists",
        severity: Severity::Warning {
            why: "Vulkan lists the extension, all of whose group instructions need the capability",
        },
        on: On::Instructions(&[Op::Capability], |facts, instruction, found| {
            let Some(capability) = instruction.operand(0).and_then(Capability::from_word) else { return };
            if comes_with_extension(facts, capability) {
                found.at(instruction, format!("capability {capability}, which Vulkan lists only by its extension"));
            }
        }),
    },
    Rule {
        name: "extension-listed",
        id: "vulkan-environment-for-spirv, SPIR-V Extensions: the table",
        says: "extensions are those that Vulkan lists",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Extension], |facts, instruction, found| {
            let name = facts.module.string_at(instruction, 0);
            if extension_enabling(&name).is_none() {
                found.at(instruction, format!("extension {name}, which Vulkan does not list"));
            }
        }),
    },
    Rule {
        name: "version",
        id: "vulkan-environment-for-spirv, Versions and Formats: SPIR-V 1.0 to 1.6",
        says: "the module's version is 1.0 to 1.6",
        severity: Severity::Error,
        on: On::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            let known = facts.module.header().spirv_version().is_some_and(|v| v.major == 1 && v <= Version::NEWEST);
            if !known {
                found.at(
                    instruction,
                    format!("version word {:#010x}, expected 1.0 to 1.6", facts.module.header().version),
                );
            }
        }),
    },
    Rule {
        name: "instruction-set",
        id: "vulkan-environment-for-spirv, Versions and Formats: GLSL.std.450",
        says: "extended instructions are GLSL.std.450's or not semantic",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ExtInstImport], |facts, instruction, found| {
            let name = facts.module.string_at(instruction, 0);
            if name != "GLSL.std.450" && !name.starts_with("NonSemantic.") {
                found.at(instruction, format!("extended instruction set {name:?}, expected \"GLSL.std.450\""));
            }
        }),
    },
    Rule {
        name: "capability-declared",
        id: "SPIR-V specification, Capability: what is used is declared",
        says: "instructions and operands are enabled by a declared capability",
        severity: Severity::Error,
        on: On::Named(
            |facts, instruction, op, found| {
                if facts.opcodes.of(facts, op) & UNDECLARED != 0 {
                    undeclared(facts, instruction, found, op.name(), op.info().capabilities);
                }
            },
            |facts, instruction, kind, row, found| {
                if !row.capabilities.is_empty()
                    && !has_own_rule(kind, row.value)
                    && !is_of_ballot(facts, kind, row.value)
                {
                    undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            },
        ),
    },
    Rule {
        name: "stated-capability",
        id: "SPIR-V specification, Scope <id> and Memory Semantics <id>: Enabling Capabilities",
        says: "scopes and memory semantics are enabled by a declared capability",
        severity: Severity::Error,
        on: On::Stated(&[], |facts, instruction, stated, found| {
            for (_, scope) in &stated.scopes {
                if let Some(row) = Kind::Scope.enumerant(scope.word()) {
                    undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            }
            for semantics in &stated.semantics {
                let rows = Kind::MemorySemantics.enumerants().iter();
                let stated = rows.filter(|row| row.value != 0 && semantics & row.value == row.value);
                for row in stated.filter(|row| !has_own_rule(Kind::MemorySemantics, row.value)) {
                    undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            }
        }),
    },
    Rule {
        name: "version-or-extension",
        id: "SPIR-V specification, Version and OpExtension: what is used is brought by one of them",
        says: "instructions and operands are of the module's version, or of a declared extension",
        severity: Severity::Error,
        on: On::Named(
            |facts, instruction, op, found| {
                if facts.opcodes.of(facts, op) & TOO_NEW != 0 {
                    too_new(facts, instruction, found, op.name(), &instruction_brought(op));
                }
            },
            |facts, instruction, kind, row, found| {
                let by_capability = !row.capabilities.is_empty() && kind != Kind::Capability;
                let (since, until, extensions) = (row.since, row.until, row.extensions);
                too_new(facts, instruction, found, row.name, &Brought { since, until, extensions, by_capability });
            },
        ),
    },
];
