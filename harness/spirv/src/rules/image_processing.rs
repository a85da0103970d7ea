//! `SPV_QCOM_image_processing3`: `OpImageGatherQCOM`.

use super::operands::GATHERED;
use super::{Facts, On, Rule, Severity};
use crate::grammar::Version;
use crate::module::Type;
use crate::tables::{Capability, Dim, GatherModes, ImageOperands, Op};

const GATHER: &[Op] = &[Op::ImageGatherQCOM];

/// The value of a constant that no specialization changes.
fn fixed(facts: &Facts, word: u32) -> Option<i64> {
    let made = facts.module.definition_of_word(word)?;
    facts.module.constant_int(word).filter(|_| made.op != Some(Op::SpecConstant))
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "gather-qcom-version",
        id: "SPV_QCOM_image_processing3, Dependencies: SPIR-V 1.4",
        says: "OpImageGatherQCOM needs SPIR-V 1.4",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let version = facts.module.version();
            if version < (Version { major: 1, minor: 4 }) {
                found.at(instruction, format!("OpImageGatherQCOM in SPIR-V {version}, expected 1.4 or newer"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-types",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Sampled Image",
        says: "OpImageGatherQCOM takes a sampled image and a vector of floats",
        severity: Severity::Error,
        on: On::Typed(GATHERED),
    },
    Rule {
        name: "gather-qcom-dim",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Dim of 2D or Rect",
        says: "OpImageGatherQCOM gathers from 2D images",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|i| !matches!(i.dim, Some(Dim::Dim2D | Dim::Rect))) {
                found.at(instruction, "OpImageGatherQCOM from an image that is not 2D");
            }
        }),
    },
    Rule {
        name: "gather-qcom-samples",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: MS of 0",
        says: "OpImageGatherQCOM does not gather from multisampled images",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|i| i.multisampled) {
                found.at(instruction, "OpImageGatherQCOM from a multisampled image");
            }
        }),
    },
    Rule {
        name: "gather-qcom-result",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Result Type",
        says: "OpImageGatherQCOM makes four components of the image's sampled type",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let Some(ty) = instruction.result_type().and_then(|word| facts.module.type_declared(word)) else { return };
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let fits = match *facts.module.ty(ty) {
                Type::Vector { component, count } => {
                    let any = *facts.module.ty(image.sampled_type) == Type::Void;
                    count == 4 && (any || component == image.sampled_type)
                }
                _ => false,
            };
            if !fits {
                found.at(instruction, "a result that is not four components of the image's sampled type");
            }
        }),
    },
    Rule {
        name: "gather-qcom-coordinate",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Coordinate",
        says: "the coordinate has u, v and, of arrays, the layer",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let Some(ty) = instruction.operand(1).and_then(|word| facts.module.type_of(word)) else { return };
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let needed = if image.arrayed { 3 } else { 2 };
            if let Type::Vector { count, .. } = *facts.module.ty(ty)
                && count < needed
            {
                found.at(instruction, format!("a coordinate of {count} components, expected at least {needed}"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-component",
        id: "VUID-StandaloneSpirv-OpImageGather-04664 (OpImageGatherQCOM)",
        says: "the component is a 32-bit integer constant",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let Some(word) = instruction.operand(2) else { return };
            let int =
                facts.module.type_of(word).is_some_and(|ty| matches!(facts.module.ty(ty), Type::Int { width: 32, .. }));
            // One beyond 3 is undefined where it is executed.
            if !int || !facts.is_constant(word) {
                found.at(instruction, "a component that is no 32-bit integer constant");
            }
        }),
    },
    Rule {
        name: "gather-qcom-mode",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Mode",
        says: "the mode is a 32-bit integer constant of 0 to 3",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let Some(word) = instruction.operand(3) else { return };
            let int =
                facts.module.type_of(word).is_some_and(|ty| matches!(facts.module.ty(ty), Type::Int { width: 32, .. }));
            let in_range = fixed(facts, word).is_none_or(|v| (0..=3).contains(&v));
            if !int || !facts.is_constant(word) || !in_range {
                found.at(instruction, "a mode that is no 32-bit integer constant of 0 to 3");
            }
        }),
    },
    Rule {
        name: "gather-qcom-mode-capability",
        id: "SPV_QCOM_image_processing3, Image Gather Modes: Enabling Capabilities",
        says: "Gather4x1QCOM needs ImageGatherLinearQCOM, the other modes ImageGatherExtendedModesQCOM",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let value = instruction.operand(3).and_then(|word| fixed(facts, word));
            let mode = value.and_then(|v| u32::try_from(v).ok()).and_then(GatherModes::from_word);
            // The grammar gives the modes no capabilities; the extension's table does.
            let capability = match mode {
                Some(GatherModes::Gather4x1QCOM) => Capability::ImageGatherLinearQCOM,
                Some(_) => Capability::ImageGatherExtendedModesQCOM,
                None => return,
            };
            if let Some(mode) = mode.filter(|_| !facts.has(capability)) {
                found.at(instruction, format!("mode {mode} without capability {capability}"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-offsets",
        id: "SPV_QCOM_image_processing3 on Vulkan: H2 and V2 are predefined ConstOffsets",
        says: "OpImageGatherQCOM takes no ConstOffsets, and one of Offset and ConstOffset at most",
        severity: Severity::Error,
        on: On::Instructions(GATHER, |facts, instruction, found| {
            let operands = facts.image_operands(instruction).unwrap_or_default();
            let both = operands.contains(ImageOperands::OFFSET) && operands.contains(ImageOperands::CONST_OFFSET);
            if operands.contains(ImageOperands::CONST_OFFSETS) || both {
                found.at(instruction, "ConstOffsets, or Offset beside ConstOffset, on OpImageGatherQCOM");
            }
        }),
    },
];
