//! Rules of `SPV_QCOM_image_processing3`: `OpImageGatherQCOM`.

use super::operands::GATHERED;
use super::{Check, Facts, Rule, Severity};
use assay_spirv::grammar::Version;
use assay_spirv::module::Type;
use assay_spirv::tables::{Capability, Dim, GatherModes, ImageOperands, Op};

const GATHER: &[Op] = &[Op::ImageGatherQCOM];

/// Value of a constant that is not a specialization constant.
fn fixed_constant(facts: &Facts, word: u32) -> Option<i64> {
    let made = facts.module.definition_of(word)?;
    facts.module.constant_int(word).filter(|_| made.op != Some(Op::SpecConstant))
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "gather-qcom-version",
        id: "SPV_QCOM_image_processing3, Dependencies: SPIR-V 1.4",
        requirement: "OpImageGatherQCOM requires SPIR-V 1.4",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let version = facts.module.version();
            if version < (Version { major: 1, minor: 4 }) {
                found.report(instruction, format!("OpImageGatherQCOM in SPIR-V {version}, expected 1.4 or newer"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-types",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Sampled Image",
        requirement: "OpImageGatherQCOM must take a sampled image and a vector of floats",
        severity: Severity::Error,
        check: Check::Typed(GATHERED),
    },
    Rule {
        name: "gather-qcom-dim",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Dim of 2D or Rect",
        requirement: "the image of OpImageGatherQCOM must have Dim 2D or Rect",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|i| !matches!(i.dim, Some(Dim::Dim2D | Dim::Rect))) {
                found.report(instruction, "OpImageGatherQCOM from an image that is not 2D");
            }
        }),
    },
    Rule {
        name: "gather-qcom-samples",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: MS of 0",
        requirement: "the image of OpImageGatherQCOM must have MS 0",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|i| i.multisampled) {
                found.report(instruction, "OpImageGatherQCOM from a multisampled image");
            }
        }),
    },
    Rule {
        name: "gather-qcom-result",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Result Type",
        requirement: "Result Type of OpImageGatherQCOM must be a vector of four components of the image's Sampled Type",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
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
                found.report(instruction, "Result Type is not a vector of four components of the image's Sampled Type");
            }
        }),
    },
    Rule {
        name: "gather-qcom-coordinate",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Coordinate",
        requirement: "Coordinate of OpImageGatherQCOM must contain u, v and, for arrayed images, the layer",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let Some(ty) = instruction.operand(1).and_then(|word| facts.module.type_of(word)) else { return };
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let needed = if image.arrayed { 3 } else { 2 };
            if let Type::Vector { count, .. } = *facts.module.ty(ty)
                && count < needed
            {
                found.report(instruction, format!("Coordinate has {count} components, expected at least {needed}"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-component",
        id: "VUID-StandaloneSpirv-OpImageGather-04664 (OpImageGatherQCOM)",
        requirement: "Component of OpImageGatherQCOM must be a 32-bit integer constant",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let Some(word) = instruction.operand(2) else { return };
            let int =
                facts.module.type_of(word).is_some_and(|ty| matches!(facts.module.ty(ty), Type::Int { width: 32, .. }));
            // A component above 3 is undefined behaviour when executed, so it is not an invalid
            // module.
            if !int || !facts.is_constant(word) {
                found.report(instruction, "Component is not a 32-bit integer constant");
            }
        }),
    },
    Rule {
        name: "gather-qcom-mode",
        id: "SPV_QCOM_image_processing3, OpImageGatherQCOM: Mode",
        requirement: "Mode of OpImageGatherQCOM must be a 32-bit integer constant of 0 to 3",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let Some(word) = instruction.operand(3) else { return };
            let int =
                facts.module.type_of(word).is_some_and(|ty| matches!(facts.module.ty(ty), Type::Int { width: 32, .. }));
            let in_range = fixed_constant(facts, word).is_none_or(|v| (0..=3).contains(&v));
            if !int || !facts.is_constant(word) || !in_range {
                found.report(instruction, "Mode is not a 32-bit integer constant of 0 to 3");
            }
        }),
    },
    Rule {
        name: "gather-qcom-mode-capability",
        id: "SPV_QCOM_image_processing3, Image Gather Modes: Enabling Capabilities",
        requirement: "mode Gather4x1QCOM requires ImageGatherLinearQCOM, the other modes ImageGatherExtendedModesQCOM",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let value = instruction.operand(3).and_then(|word| fixed_constant(facts, word));
            let mode = value.and_then(|v| u32::try_from(v).ok()).and_then(GatherModes::from_word);
            // The grammar lists no capabilities for the modes; the table of the extension does.
            let capability = match mode {
                Some(GatherModes::Gather4x1QCOM) => Capability::ImageGatherLinearQCOM,
                Some(_) => Capability::ImageGatherExtendedModesQCOM,
                None => return,
            };
            if let Some(mode) = mode.filter(|_| !facts.has(capability)) {
                found.report(instruction, format!("mode {mode} without capability {capability}"));
            }
        }),
    },
    Rule {
        name: "gather-qcom-offsets",
        id: "SPV_QCOM_image_processing3 on Vulkan: H2 and V2 are predefined ConstOffsets",
        requirement: "OpImageGatherQCOM must not have ConstOffsets, nor both Offset and ConstOffset",
        severity: Severity::Error,
        check: Check::Instructions(GATHER, |facts, instruction, found| {
            let operands = facts.image_operands(instruction).unwrap_or_default();
            let both = operands.contains(ImageOperands::OFFSET) && operands.contains(ImageOperands::CONST_OFFSET);
            if operands.contains(ImageOperands::CONST_OFFSETS) || both {
                found.report(instruction, "OpImageGatherQCOM with ConstOffsets, or with both Offset and ConstOffset");
            }
        }),
    },
];
