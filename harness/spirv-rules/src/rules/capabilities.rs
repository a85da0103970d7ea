//! Capabilities, extensions and versions: every used feature is declared, and every declared one is
//! listed by Vulkan.

use super::analysis::facts::Facts;
use super::{Check, Findings, Rule, Severity};
use assay_spirv::OperandLayout;
use assay_spirv::grammar::{Enumerant, Kind, OperandEncoding, Version, extension_conditions};
use assay_spirv::module::{Instruction, Module};
use assay_spirv::tables::{BuiltIn, Capability, ExecutionMode, MemorySemantics, Op, StorageClass};

/// Returns whether the enabling capability of an enumerant is not checked here: an extension's own
/// rule checks it, or Vulkan permits the enumerant without it.
fn has_own_rule(kind: Kind, value: u32) -> bool {
    let built_ins = [BuiltIn::PointSize, BuiltIn::ClipDistance, BuiltIn::CullDistance];
    match kind {
        Kind::StorageClass => value == StorageClass::TileAttachmentQCOM.word(),
        Kind::ExecutionMode => {
            let own = [ExecutionMode::TileShadingRateQCOM, ExecutionMode::NonCoherentTileAttachmentReadQCOM];
            own.into_iter().any(|mode| mode.word() == value)
        }
        Kind::BuiltIn => built_ins.into_iter().any(|b| b.word() == value),
        // The capabilities in the row of a capability are those that it declares implicitly.
        Kind::Capability => true,
        // FPRoundingMode is checked against the type of its target.
        Kind::FPRoundingMode => true,
        // Vulkan has no atomic counters. Its memory model ignores their bit, which compilers set
        // nevertheless.
        Kind::MemorySemantics => value == MemorySemantics::ATOMIC_COUNTER_MEMORY.0,
        _ => false,
    }
}

/// Returns whether SPV_AMD_shader_ballot enables an enumerant although the grammar does not say so:
/// Reduce, InclusiveScan and ExclusiveScan, for its group instructions.
fn is_of_ballot(facts: &Facts, kind: Kind, value: u32) -> bool {
    const LAST: u32 = 2;
    kind == Kind::GroupOperation && value <= LAST && facts.extensions.contains(LISTED_BY_EXTENSION.1)
}

fn join_names(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|c| c.name()).collect::<Vec<_>>().join(" or ")
}

/// A capability that is missing from Vulkan's table of capabilities, and the listed extension that
/// requires it.
pub(crate) const LISTED_BY_EXTENSION: (Capability, &str) = (Capability::Groups, "SPV_AMD_shader_ballot");

/// Returns whether a capability is not listed itself, but is required by a listed extension that
/// the module declares.
fn comes_with_extension(facts: &Facts, capability: Capability) -> bool {
    let (unlisted, extension) = LISTED_BY_EXTENSION;
    capability == unlisted && facts.extensions.contains(extension)
}

/// Reports an instruction or enumerant that no declared capability enables.
fn report_undeclared(
    facts: &Facts,
    instruction: Instruction,
    found: &mut Findings,
    name: &str,
    capabilities: &[Capability],
) {
    if !capabilities.is_empty() && !capabilities.iter().any(|c| facts.has(*c)) {
        found.report(instruction, format!("{name} without capability {}", join_names(capabilities)));
    }
}

/// Versions and extensions that provide an instruction or an enumerant.
struct Availability {
    since: Option<Version>,
    until: Option<Version>,
    extensions: &'static [&'static str],
    by_capability: bool,
}

impl Availability {
    /// Describes, as the end of a sentence, why neither the module's version nor a declared
    /// extension provides the item. `None` if one of them does.
    fn problem(&self, facts: &Facts) -> Option<String> {
        let Availability { since, until, extensions, by_capability } = *self;
        let version = facts.module.version();
        if until.is_some_and(|last| version > last) {
            return Some(format!(", which SPIR-V {version} does not have any more"));
        }
        let core = since.is_some_and(|since| version >= since);
        if core || extensions.iter().any(|e| facts.extensions.contains(*e)) {
            return None;
        }
        let providers = || extensions.join(" or ");
        match (since, extensions) {
            // An item without extensions is provided by its capability, which is checked
            // separately.
            (None, []) => None,
            (Some(_), []) if by_capability => None,
            (Some(since), []) => Some(format!(" in SPIR-V {version}, expected {since} or newer")),
            (Some(since), _) => Some(format!(" in SPIR-V {version} without extension {} (or {since})", providers())),
            (None, _) => Some(format!(" without extension {}", providers())),
        }
    }
}

fn instruction_availability(op: Op) -> Availability {
    let info = op.info();
    Availability {
        since: info.since,
        until: info.until,
        extensions: info.extensions,
        by_capability: !info.capabilities.is_empty(),
    }
}

/// Reports an instruction or enumerant that neither the module's version nor a declared extension
/// provides.
fn report_unavailable(
    facts: &Facts,
    instruction: Instruction,
    found: &mut Findings,
    name: &str,
    availability: &Availability,
) {
    if let Some(problem) = availability.problem(facts) {
        found.report(instruction, format!("{name}{problem}"));
    }
}

/// Flag of an opcode that no declared capability enables.
const UNDECLARED: u8 = 1;
/// Flag of an opcode that neither the version nor a declared extension provides.
const UNAVAILABLE: u8 = 2;

/// Returns the results of `capability-declared` and `version-or-extension` for an opcode, as flags.
fn status(facts: &Facts, op: Op) -> u8 {
    facts.enabling.get_or_init(op, || {
        let capabilities = op.info().capabilities;
        let undeclared = !capabilities.is_empty() && !capabilities.iter().any(|c| facts.has(*c));
        let unavailable = instruction_availability(op).problem(facts).is_some();
        (u8::from(undeclared) * UNDECLARED) | (u8::from(unavailable) * UNAVAILABLE)
    })
}

/// Calls `visit` for each enumerant among the operands of an instruction.
pub(super) fn enumerants(
    module: &Module,
    instruction: Instruction,
    op: Op,
    mut visit: impl FnMut(Kind, &'static Enumerant),
) {
    if !OperandLayout::of(op).names_enumerants(instruction.words.len()) {
        return;
    }
    let _newer = module.operands(instruction, |operand| {
        let word = instruction.words[operand.at];
        match operand.kind.info().encoding {
            OperandEncoding::Value(_) => {
                operand.kind.enumerant(word).into_iter().for_each(|row| visit(operand.kind, row))
            }
            OperandEncoding::Mask(rows) if word != 0 => {
                let set = rows.iter().filter(|row| row.value != 0 && word & row.value == row.value);
                set.for_each(|row| visit(operand.kind, row));
            }
            OperandEncoding::Mask(_)
            | OperandEncoding::Id
            | OperandEncoding::Literal
            | OperandEncoding::Composite(_) => {}
        }
    });
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "capability-listed",
        id: "vulkan-environment-for-spirv, Capabilities: no OpCapability that is not listed",
        requirement: "every declared capability must be in Vulkan's table of capabilities",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Capability], |facts, instruction, found| {
            let Some(capability) = instruction.operand(0).and_then(Capability::from_word) else { return };
            if capability.enabling_conditions().is_none() && !comes_with_extension(facts, capability) {
                found.report(instruction, format!("Vulkan does not list capability {capability}"));
            }
        }),
    },
    Rule {
        name: "capability-of-extension",
        id: "vulkan-environment-for-spirv, Capabilities: no OpCapability that is not listed (Groups is not listed, SPV_AMD_shader_ballot is)",
        requirement: "a capability that only a listed extension requires must itself be in Vulkan's table of capabilities",
        severity: Severity::Warning {
            reason: "Vulkan lists the extension, whose group instructions all require the capability",
        },
        check: Check::Instructions(&[Op::Capability], |facts, instruction, found| {
            let Some(capability) = instruction.operand(0).and_then(Capability::from_word) else { return };
            if comes_with_extension(facts, capability) {
                found.report(
                    instruction,
                    format!("Vulkan does not list capability {capability}, only the extension that requires it"),
                );
            }
        }),
    },
    Rule {
        name: "extension-listed",
        id: "vulkan-environment-for-spirv, SPIR-V Extensions: the table",
        requirement: "every declared extension must be in Vulkan's table of SPIR-V extensions",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Extension], |facts, instruction, found| {
            let name = facts.module.string_at(instruction, 0);
            if extension_conditions(&name).is_none() {
                found.report(instruction, format!("Vulkan does not list extension {name}"));
            }
        }),
    },
    Rule {
        name: "version",
        id: "vulkan-environment-for-spirv, Versions and Formats: SPIR-V 1.0 to 1.6",
        requirement: "the SPIR-V version must be 1.0 to 1.6",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::MemoryModel], |facts, instruction, found| {
            let known = facts.module.header().spirv_version().is_some_and(|v| v.major == 1 && v <= Version::NEWEST);
            if !known {
                found.report(
                    instruction,
                    format!("version word {:#010x}, expected 1.0 to 1.6", facts.module.header().version),
                );
            }
        }),
    },
    Rule {
        name: "instruction-set",
        id: "vulkan-environment-for-spirv, Versions and Formats: GLSL.std.450",
        requirement: "the extended instruction set must be GLSL.std.450 or a non-semantic set",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ExtInstImport], |facts, instruction, found| {
            let name = facts.module.string_at(instruction, 0);
            if name != "GLSL.std.450" && !name.starts_with("NonSemantic.") {
                found.report(instruction, format!("extended instruction set {name:?}, expected \"GLSL.std.450\""));
            }
        }),
    },
    Rule {
        name: "capability-declared",
        id: "SPIR-V specification, Capability: every used capability must be declared",
        requirement: "every instruction and enumerant must be enabled by a declared capability",
        severity: Severity::Error,
        check: Check::Enabling(
            |facts, instruction, op, found| {
                if status(facts, op) & UNDECLARED != 0 {
                    report_undeclared(facts, instruction, found, op.name(), op.info().capabilities);
                }
            },
            |facts, instruction, kind, row, found| {
                if !row.capabilities.is_empty()
                    && !has_own_rule(kind, row.value)
                    && !is_of_ballot(facts, kind, row.value)
                {
                    report_undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            },
        ),
    },
    Rule {
        name: "stated-capability",
        id: "SPIR-V specification, Scope <id> and Memory Semantics <id>: Enabling Capabilities",
        requirement: "every scope and every memory semantics bit must be enabled by a declared capability",
        severity: Severity::Error,
        check: Check::Scoped(&[], |facts, instruction, stated, found| {
            for (_, scope) in &stated.scopes {
                if let Some(row) = Kind::Scope.enumerant(scope.word()) {
                    report_undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            }
            for semantics in &stated.semantics {
                let rows = Kind::MemorySemantics.enumerants().iter();
                let stated = rows.filter(|row| row.value != 0 && semantics & row.value == row.value);
                for row in stated.filter(|row| !has_own_rule(Kind::MemorySemantics, row.value)) {
                    report_undeclared(facts, instruction, found, row.name, row.capabilities);
                }
            }
        }),
    },
    Rule {
        name: "version-or-extension",
        id: "SPIR-V specification, Version and OpExtension: every used feature must be provided by one of them",
        requirement: "every instruction and enumerant must be provided by the module's SPIR-V version or by a declared extension",
        severity: Severity::Error,
        check: Check::Enabling(
            |facts, instruction, op, found| {
                if status(facts, op) & UNAVAILABLE != 0 {
                    report_unavailable(facts, instruction, found, op.name(), &instruction_availability(op));
                }
            },
            |facts, instruction, kind, row, found| {
                let by_capability = !row.capabilities.is_empty() && kind != Kind::Capability;
                let (since, until, extensions) = (row.since, row.until, row.extensions);
                report_unavailable(
                    facts,
                    instruction,
                    found,
                    row.name,
                    &Availability { since, until, extensions, by_capability },
                );
            },
        ),
    },
];
