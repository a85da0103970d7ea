//! Rules of `SPV_QCOM_tile_shading`.

use super::analysis::facts::{EntryPointFacts, Facts, ModuleVariable};
use super::built_ins::is_u32_of;
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{ImageType, Instruction, Type, TypeId};
use assay_spirv::tables::{BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};

fn is_tile_stage(model: ExecutionModel) -> bool {
    matches!(model, ExecutionModel::GLCompute | ExecutionModel::Fragment)
}

/// The instruction that declares an execution mode for an entry point, with the mode's operands.
fn mode_instruction<'a>(
    facts: &'a Facts,
    entry: &EntryPointFacts,
    mode: ExecutionMode,
) -> Option<(Instruction<'a>, Vec<u32>)> {
    let mode = entry.mode(mode)?;
    Some((facts.module.instruction_at(mode.at)?, mode.operands.clone()))
}

/// Returns whether the image of an image instruction is a tile attachment.
fn is_attachment(facts: &Facts, instruction: Instruction) -> bool {
    let tile = StorageClass::TileAttachmentQCOM;
    facts.has_class(tile) && facts.origin_class(instruction.operand(0)) == Some(tile)
}

/// Image type of a tile attachment.
fn attachment(facts: &Facts, variable: &ModuleVariable) -> Option<ImageType> {
    if variable.class != StorageClass::TileAttachmentQCOM {
        return None;
    }
    assay_spirv::reflect::image_type(facts.module, variable.element)
}

/// Tile built-in of a variable, with the permitted component counts.
fn built_in(facts: &Facts, variable: &ModuleVariable) -> Option<(BuiltIn, &'static [u32])> {
    match facts.built_in(variable.word)? {
        BuiltIn::TileOffsetQCOM => Some((BuiltIn::TileOffsetQCOM, &[2])),
        BuiltIn::TileApronSizeQCOM => Some((BuiltIn::TileApronSizeQCOM, &[2])),
        // Vulkan requires two components, the SPIR-V extension three; both are accepted.
        BuiltIn::TileDimensionQCOM => Some((BuiltIn::TileDimensionQCOM, &[2, 3])),
        _ => None,
    }
}

fn is_any_u32(facts: &Facts, ty: TypeId, counts: &[u32]) -> bool {
    counts.iter().any(|count| is_u32_of(facts, ty, *count))
}

fn require_tile_shading(facts: &Facts, entry: &EntryPointFacts, found: &mut Findings, mode: ExecutionMode) {
    if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
        && !facts.has(Capability::TileShadingQCOM)
    {
        found.report(instruction, format!("{mode} without capability TileShadingQCOM"));
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "tile-stage",
        id: "VUID-StandaloneSpirv-TileShadingQCOM-10686",
        requirement: "TileShadingQCOM must be used in GLCompute and Fragment only",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some(model) = entry.model.filter(|m| facts.has(Capability::TileShadingQCOM) && !is_tile_stage(*m)) {
                found.report(
                    entry.instruction,
                    format!("capability TileShadingQCOM in {model}, expected GLCompute or Fragment"),
                );
            }
        }),
    },
    Rule {
        name: "tile-non-coherent-stage",
        id: "VUID-StandaloneSpirv-Execution-10687",
        requirement: "NonCoherentTileAttachmentReadQCOM must be used in Fragment only",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let mode = ExecutionMode::NonCoherentTileAttachmentReadQCOM;
            if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
                && entry.model != Some(ExecutionModel::Fragment)
            {
                found.report(instruction, format!("{mode} outside Fragment"));
            }
        }),
    },
    Rule {
        name: "tile-rate-stage",
        id: "VUID-StandaloneSpirv-Execution-10688",
        requirement: "TileShadingRateQCOM must be used in GLCompute only",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let mode = ExecutionMode::TileShadingRateQCOM;
            if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
                && entry.model != Some(ExecutionModel::GLCompute)
            {
                found.report(instruction, format!("{mode} outside GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-attachment-capability",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10689",
        requirement: "TileAttachmentQCOM requires TileShadingQCOM",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            let tile = instruction.operand(0) == Some(StorageClass::TileAttachmentQCOM.word());
            if tile && !facts.has(Capability::TileShadingQCOM) {
                found.report(instruction, "TileAttachmentQCOM without capability TileShadingQCOM");
            }
        }),
    },
    Rule {
        name: "tile-non-coherent-capability",
        id: "VUID-StandaloneSpirv-NonCoherentTileAttachmentReadQCOM-10690",
        requirement: "NonCoherentTileAttachmentReadQCOM requires TileShadingQCOM",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            require_tile_shading(facts, entry, found, ExecutionMode::NonCoherentTileAttachmentReadQCOM);
        }),
    },
    Rule {
        name: "tile-rate-capability",
        id: "VUID-StandaloneSpirv-TileShadingRateQCOM-10691",
        requirement: "TileShadingRateQCOM requires TileShadingQCOM",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            require_tile_shading(facts, entry, found, ExecutionMode::TileShadingRateQCOM)
        }),
    },
    Rule {
        name: "tile-rate-local-size",
        id: "VUID-StandaloneSpirv-TileShadingRateQCOM-10692",
        requirement: "an entry point with TileShadingRateQCOM must not declare LocalSize or LocalSizeId",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let rate = mode_instruction(facts, entry, ExecutionMode::TileShadingRateQCOM);
            let size = entry.mode(ExecutionMode::LocalSize).or(entry.mode(ExecutionMode::LocalSizeId));
            if let (Some((instruction, _)), Some(_)) = (rate, size) {
                found.report(instruction, "both TileShadingRateQCOM and LocalSize or LocalSizeId");
            }
        }),
    },
    Rule {
        name: "tile-rate-powers",
        id: "SPV_QCOM_tile_shading, Validation Rules: x and y rate are powers of 2",
        requirement: "x rate and y rate of TileShadingRateQCOM must be powers of two",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some((instruction, rate)) = mode_instruction(facts, entry, ExecutionMode::TileShadingRateQCOM)
                && rate.iter().take(2).any(|n| !n.is_power_of_two())
            {
                found.report(instruction, "x or y rate of TileShadingRateQCOM is not a power of two");
            }
        }),
    },
    Rule {
        name: "tile-attachment-type",
        id: "vulkan-interfaces, Shader Resource and Storage Class Correspondence: OpTypeImage or OpTypeSampledImage in TileAttachmentQCOM",
        requirement: "TileAttachmentQCOM variables must be images, sampled images or arrays of them",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let tile = variable.class == StorageClass::TileAttachmentQCOM;
            if tile && !matches!(facts.module.ty(variable.element), Type::Image(_) | Type::SampledImage { .. }) {
                let name = facts.name(variable.word);
                variable.report(found, format!("tile attachment {name} is neither an image nor a sampled image"));
            }
        }),
    },
    Rule {
        name: "tile-attachment-dim",
        id: "VUID-StandaloneSpirv-OpTypeImage-10693",
        requirement: "tile attachments must have Dim 2D",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if attachment(facts, variable).is_some_and(|image| image.dim != Some(Dim::Dim2D)) {
                variable.report(found, format!("tile attachment {} is not 2D", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "tile-attachment-sampled",
        id: "VUID-StandaloneSpirv-OpTypeImage-10694",
        requirement: "tile attachments must have Sampled 1 or 2",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if attachment(facts, variable).is_some_and(|image| !matches!(image.sampled, 1 | 2)) {
                variable.report(
                    found,
                    format!("tile attachment {} has Sampled other than 1 or 2", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "tile-attachment-binding",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10695",
        requirement: "tile attachments must have DescriptorSet and Binding",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let bound = facts.has_decoration(variable.word, Decoration::DescriptorSet)
                && facts.has_decoration(variable.word, Decoration::Binding);
            if variable.class == StorageClass::TileAttachmentQCOM && !bound {
                variable.report(
                    found,
                    format!("tile attachment {} has no DescriptorSet or no Binding", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "tile-attachment-component",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10696",
        requirement: "tile attachments must not have Component",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if variable.class == StorageClass::TileAttachmentQCOM
                && facts.has_decoration(variable.word, Decoration::Component)
            {
                variable.report(found, format!("tile attachment {} has a Component", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "tile-attachment-query",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10697",
        requirement: "tile attachments must not be queried",
        severity: Severity::Error,
        check: Check::Instructions(
            &[
                Op::ImageQueryFormat,
                Op::ImageQueryLevels,
                Op::ImageQueryLod,
                Op::ImageQueryOrder,
                Op::ImageQuerySamples,
                Op::ImageQuerySize,
                Op::ImageQuerySizeLod,
            ],
            |facts, instruction, found| {
                if is_attachment(facts, instruction) {
                    found.report(instruction, "query of a tile attachment");
                }
            },
        ),
    },
    Rule {
        name: "tile-store-stage",
        id: "vulkan-interfaces, Tile Attachment Interface: Tile attachment access using OpImageWrite instructions must be used only in the compute stage",
        requirement: "tile attachments must be written in GLCompute only",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageWrite], |facts, instruction, found| {
            let outside = || facts.model_outside(instruction.index, |m| m == ExecutionModel::GLCompute);
            if is_attachment(facts, instruction)
                && let Some(model) = outside()
            {
                found.report(instruction, format!("write to a tile attachment in {model}, expected GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-built-in-stage",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10626, TileDimensionQCOM-10629, TileApronSizeQCOM-10632",
        requirement: "tile built-ins must be used in Fragment and GLCompute only",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let Some((built_in, _)) = built_in(facts, variable) else { return };
            // If the capability is declared, tile-stage rejects other stages.
            let outside = || facts.static_user_outside(variable.word, is_tile_stage);
            if !facts.has(Capability::TileShadingQCOM)
                && let Some(model) = outside()
            {
                variable.report(found, format!("{built_in} in {model}, expected Fragment or GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-built-in-class",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10627, TileDimensionQCOM-10630, TileApronSizeQCOM-10633",
        requirement: "tile built-ins must be Input variables",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if let Some((built_in, _)) = built_in(facts, variable).filter(|_| variable.class != StorageClass::Input) {
                variable.report(found, format!("{built_in} in {}, expected Input", variable.class));
            }
        }),
    },
    Rule {
        name: "tile-built-in-type",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10628, TileDimensionQCOM-10631, TileApronSizeQCOM-10634",
        requirement: "TileOffsetQCOM and TileApronSizeQCOM must be two 32-bit integers, TileDimensionQCOM three",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let Some((built_in, counts)) = built_in(facts, variable) else { return };
            if !is_any_u32(facts, variable.ty, counts) {
                let expected = counts.last().copied().unwrap_or(2);
                variable.report(found, format!("{built_in} does not consist of {expected} 32-bit integers"));
            }
        }),
    },
];
