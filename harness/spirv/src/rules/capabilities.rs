//! What a module uses, it declares; what it declares, Vulkan lists.

use super::facts::Facts;
use super::{Findings, On, Rule};
use crate::grammar::{Category, Kind, Quantifier, Version, extension_enabling};
use crate::module::Instruction;
use crate::tables::{BuiltIn, Capability, ExecutionMode, Op, StorageClass};

/// Enumerants whose capability a rule of an extension asks for by its own name, or that Vulkan lets everyone declare.
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
        _ => false,
    }
}

fn listed(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|c| c.name()).collect::<Vec<_>>().join(" or ")
}

/// Tells of something that no declared capability enables.
fn undeclared(facts: &Facts, instruction: Instruction, found: &mut Findings, name: &str, capabilities: &[Capability]) {
    if !capabilities.is_empty() && !capabilities.iter().any(|c| facts.has(*c)) {
        found.at(instruction, format!("{name} without capability {}", listed(capabilities)));
    }
}

/// Tells of something that neither the module's version nor a declared extension brings.
fn too_new(
    facts: &Facts,
    instruction: Instruction,
    found: &mut Findings,
    name: &str,
    (since, until, extensions): (Option<Version>, Option<Version>, &[&str]),
    by_capability: bool,
) {
    let version = facts.module.version();
    if until.is_some_and(|last| version > last) {
        found.at(instruction, format!("{name}, which SPIR-V {version} no longer has"));
        return;
    }
    let core = since.is_some_and(|since| version >= since);
    if core || extensions.iter().any(|e| facts.extensions.contains(*e)) {
        return;
    }
    match (since, extensions) {
        // Without an extension of its own it comes with its capability, which is asked for its own.
        (None, []) => {}
        (Some(_), []) if by_capability => {}
        (Some(since), []) => found.at(instruction, format!("{name} in SPIR-V {version}, expected {since} or newer")),
        (Some(since), _) => {
            let brought_by = extensions.join(" or ");
            found.at(instruction, format!("{name} in SPIR-V {version} without extension {brought_by} (or {since})"));
        }
        (None, _) => found.at(instruction, format!("{name} without extension {}", extensions.join(" or "))),
    }
}

/// Whether an instruction names enumerants: most name none, or only in operands that are left out.
fn names_enumerants(instruction: Instruction, op: Op) -> bool {
    let mut shortest = 1;
    for operand in op.info().operands {
        let enumerants = !operand.kind.enumerants().is_empty();
        match operand.quantifier {
            Quantifier::One if enumerants => return true,
            Quantifier::One => shortest += 1,
            Quantifier::Optional | Quantifier::Any if enumerants => return instruction.words.len() > shortest,
            Quantifier::Optional | Quantifier::Any => {}
        }
    }
    matches!(op, Op::ExtInst | Op::ExtInstWithForwardRefsKHR | Op::SpecConstantOp)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "capability-listed",
        id: "vulkan-environment-for-spirv, Capabilities: no OpCapability that is not listed",
        says: "capabilities are those that Vulkan lists",
        on: On::Instructions(&[Op::Capability], |_, instruction, found| {
            let Some(capability) = instruction.operand(0).and_then(Capability::from_word) else { return };
            if capability.enabling().is_none() {
                found.at(instruction, format!("capability {capability}, which Vulkan does not list"));
            }
        }),
    },
    Rule {
        name: "extension-listed",
        id: "vulkan-environment-for-spirv, SPIR-V Extensions: the table",
        says: "extensions are those that Vulkan lists",
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
        on: On::Every(|facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            undeclared(facts, instruction, found, op.name(), op.info().capabilities);
            if !names_enumerants(instruction, op) {
                return;
            }
            let _newer = facts.module.operands(instruction, |operand| {
                let word = instruction.words[operand.at];
                if has_own_rule(operand.kind, word) {
                    return;
                }
                match operand.kind.info().category {
                    Category::Value(_) => {
                        if let Some(row) = operand.kind.enumerant(word) {
                            undeclared(facts, instruction, found, row.name, row.capabilities);
                        }
                    }
                    Category::Mask(rows) => {
                        for row in rows.iter().filter(|row| row.value != 0 && word & row.value == row.value) {
                            undeclared(facts, instruction, found, row.name, row.capabilities);
                        }
                    }
                    Category::Id | Category::Literal | Category::Composite(_) => {}
                }
            });
        }),
    },
    Rule {
        name: "version-or-extension",
        id: "SPIR-V specification, Version and OpExtension: what is used is brought by one of them",
        says: "instructions and operands are of the module's version, or of a declared extension",
        on: On::Every(|facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            let info = op.info();
            too_new(
                facts,
                instruction,
                found,
                info.name,
                (info.since, info.until, info.extensions),
                !info.capabilities.is_empty(),
            );
            if !names_enumerants(instruction, op) {
                return;
            }
            let _newer = facts.module.operands(instruction, |operand| {
                let word = instruction.words[operand.at];
                let check = |row: &crate::grammar::Enumerant, found: &mut Findings| {
                    let by_capability = !row.capabilities.is_empty() && operand.kind != Kind::Capability;
                    too_new(facts, instruction, found, row.name, (row.since, row.until, row.extensions), by_capability);
                };
                match operand.kind.info().category {
                    Category::Value(_) => {
                        if let Some(row) = operand.kind.enumerant(word) {
                            check(row, found);
                        }
                    }
                    Category::Mask(rows) => {
                        for row in rows.iter().filter(|row| row.value != 0 && word & row.value == row.value) {
                            check(row, found);
                        }
                    }
                    Category::Id | Category::Literal | Category::Composite(_) => {}
                }
            });
        }),
    },
];
