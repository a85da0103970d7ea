//! `SPV_QCOM_tile_shading`.

use super::built_ins::is_u32_of;
use super::facts::{Entry, Facts, Variable};
use super::{Findings, On, Rule, Severity};
use crate::module::{ImageType, Instruction, Type, TypeId};
use crate::tables::{BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};

fn is_tile_stage(model: ExecutionModel) -> bool {
    matches!(model, ExecutionModel::GLCompute | ExecutionModel::Fragment)
}

/// The instruction that gives an entry point a mode.
fn mode_instruction<'a>(facts: &'a Facts, entry: &Entry, mode: ExecutionMode) -> Option<(Instruction<'a>, Vec<u32>)> {
    let mode = entry.mode(mode)?;
    Some((facts.module.instruction_at(mode.at)?, mode.operands.clone()))
}

/// Whether an image instruction's image is a tile attachment.
fn is_attachment(facts: &Facts, instruction: Instruction) -> bool {
    let tile = StorageClass::TileAttachmentQCOM;
    facts.has_class(tile) && facts.origin_class(instruction.operand(0)) == Some(tile)
}

/// The image type of a tile attachment.
fn attachment(facts: &Facts, variable: &Variable) -> Option<ImageType> {
    if variable.class != StorageClass::TileAttachmentQCOM {
        return None;
    }
    crate::reflect::image_type(facts.module, variable.element)
}

/// The tile's built-ins with what they may be made of.
fn built_in(facts: &Facts, variable: &Variable) -> Option<(BuiltIn, &'static [u32])> {
    match facts.built_in(variable.word)? {
        BuiltIn::TileOffsetQCOM => Some((BuiltIn::TileOffsetQCOM, &[2])),
        BuiltIn::TileApronSizeQCOM => Some((BuiltIn::TileApronSizeQCOM, &[2])),
        // The Vulkan text says two components, the SPIR-V extension three: both are let pass.
        BuiltIn::TileDimensionQCOM => Some((BuiltIn::TileDimensionQCOM, &[2, 3])),
        _ => None,
    }
}

fn is_any_u32(facts: &Facts, ty: TypeId, counts: &[u32]) -> bool {
    counts.iter().any(|count| is_u32_of(facts, ty, *count))
}

fn mode_needs(facts: &Facts, entry: &Entry, found: &mut Findings, mode: ExecutionMode) {
    if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
        && !facts.has(Capability::TileShadingQCOM)
    {
        found.at(instruction, format!("{mode} without capability TileShadingQCOM"));
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "tile-stage",
        id: "VUID-StandaloneSpirv-TileShadingQCOM-10686",
        says: "TileShadingQCOM only in compute and fragment stages",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some(model) = entry.model.filter(|m| facts.has(Capability::TileShadingQCOM) && !is_tile_stage(*m)) {
                found.at(
                    entry.instruction,
                    format!("capability TileShadingQCOM in {model}, expected GLCompute or Fragment"),
                );
            }
        }),
    },
    Rule {
        name: "tile-non-coherent-stage",
        id: "VUID-StandaloneSpirv-Execution-10687",
        says: "NonCoherentTileAttachmentReadQCOM only in fragment stages",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let mode = ExecutionMode::NonCoherentTileAttachmentReadQCOM;
            if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
                && entry.model != Some(ExecutionModel::Fragment)
            {
                found.at(instruction, format!("{mode} outside Fragment"));
            }
        }),
    },
    Rule {
        name: "tile-rate-stage",
        id: "VUID-StandaloneSpirv-Execution-10688",
        says: "TileShadingRateQCOM only in compute stages",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let mode = ExecutionMode::TileShadingRateQCOM;
            if let Some((instruction, _)) = mode_instruction(facts, entry, mode)
                && entry.model != Some(ExecutionModel::GLCompute)
            {
                found.at(instruction, format!("{mode} outside GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-attachment-capability",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10689",
        says: "TileAttachmentQCOM needs capability TileShadingQCOM",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            let tile = instruction.operand(0) == Some(StorageClass::TileAttachmentQCOM.word());
            if tile && !facts.has(Capability::TileShadingQCOM) {
                found.at(instruction, "TileAttachmentQCOM without capability TileShadingQCOM");
            }
        }),
    },
    Rule {
        name: "tile-non-coherent-capability",
        id: "VUID-StandaloneSpirv-NonCoherentTileAttachmentReadQCOM-10690",
        says: "NonCoherentTileAttachmentReadQCOM needs capability TileShadingQCOM",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            mode_needs(facts, entry, found, ExecutionMode::NonCoherentTileAttachmentReadQCOM);
        }),
    },
    Rule {
        name: "tile-rate-capability",
        id: "VUID-StandaloneSpirv-TileShadingRateQCOM-10691",
        says: "TileShadingRateQCOM needs capability TileShadingQCOM",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| mode_needs(facts, entry, found, ExecutionMode::TileShadingRateQCOM)),
    },
    Rule {
        name: "tile-rate-local-size",
        id: "VUID-StandaloneSpirv-TileShadingRateQCOM-10692",
        says: "TileShadingRateQCOM excludes LocalSize and LocalSizeId",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let rate = mode_instruction(facts, entry, ExecutionMode::TileShadingRateQCOM);
            let size = entry.mode(ExecutionMode::LocalSize).or(entry.mode(ExecutionMode::LocalSizeId));
            if let (Some((instruction, _)), Some(_)) = (rate, size) {
                found.at(instruction, "TileShadingRateQCOM beside LocalSize or LocalSizeId");
            }
        }),
    },
    Rule {
        name: "tile-rate-powers",
        id: "SPV_QCOM_tile_shading, Validation Rules: x and y rate are powers of 2",
        says: "x and y of the tile shading rate are powers of two",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some((instruction, rate)) = mode_instruction(facts, entry, ExecutionMode::TileShadingRateQCOM)
                && rate.iter().take(2).any(|n| !n.is_power_of_two())
            {
                found.at(instruction, "a tile shading rate that is no power of two in x or y");
            }
        }),
    },
    Rule {
        name: "tile-attachment-type",
        id: "vulkan-interfaces, Shader Resource and Storage Class Correspondence: OpTypeImage or OpTypeSampledImage in TileAttachmentQCOM",
        says: "tile attachments are images or sampled images, or arrays of them",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let tile = variable.class == StorageClass::TileAttachmentQCOM;
            if tile && !matches!(facts.module.ty(variable.element), Type::Image(_) | Type::SampledImage { .. }) {
                let name = facts.name(variable.word);
                variable.breaks(found, format!("tile attachment {name} is neither an image nor a sampled image"));
            }
        }),
    },
    Rule {
        name: "tile-attachment-dim",
        id: "VUID-StandaloneSpirv-OpTypeImage-10693",
        says: "tile attachments are 2D",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if attachment(facts, variable).is_some_and(|image| image.dim != Some(Dim::Dim2D)) {
                variable.breaks(found, format!("tile attachment {} is not 2D", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "tile-attachment-sampled",
        id: "VUID-StandaloneSpirv-OpTypeImage-10694",
        says: "tile attachments have Sampled 1 or 2",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if attachment(facts, variable).is_some_and(|image| !matches!(image.sampled, 1 | 2)) {
                variable.breaks(
                    found,
                    format!("tile attachment {} has Sampled other than 1 or 2", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "tile-attachment-binding",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10695",
        says: "tile attachments have DescriptorSet and Binding",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let bound = facts.has_decoration(variable.word, Decoration::DescriptorSet)
                && facts.has_decoration(variable.word, Decoration::Binding);
            if variable.class == StorageClass::TileAttachmentQCOM && !bound {
                variable.breaks(
                    found,
                    format!("tile attachment {} lacks DescriptorSet or Binding", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "tile-attachment-component",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10696",
        says: "tile attachments have no Component",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if variable.class == StorageClass::TileAttachmentQCOM
                && facts.has_decoration(variable.word, Decoration::Component)
            {
                variable.breaks(found, format!("tile attachment {} has a Component", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "tile-attachment-query",
        id: "VUID-StandaloneSpirv-TileAttachmentQCOM-10697",
        says: "tile attachments are not queried",
        severity: Severity::Error,
        on: On::Instructions(
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
                    found.at(instruction, "a query of a tile attachment");
                }
            },
        ),
    },
    Rule {
        name: "tile-store-stage",
        id: "vulkan-interfaces, Tile Attachment Interface: Tile attachment access using OpImageWrite instructions must be used only in the compute stage",
        says: "fragment stages do not store to tile attachments",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageWrite], |facts, instruction, found| {
            let outside = || facts.model_outside(instruction.index, |m| m == ExecutionModel::GLCompute);
            if is_attachment(facts, instruction)
                && let Some(model) = outside()
            {
                found.at(instruction, format!("a store to a tile attachment in {model}, expected GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-built-in-stage",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10626, TileDimensionQCOM-10629, TileApronSizeQCOM-10632",
        says: "the tile's built-ins only in fragment and compute stages",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let Some((built_in, _)) = built_in(facts, variable) else { return };
            // Other stages cannot have the capability: that is told by its own rule where it is declared.
            let outside = || facts.static_user_outside(variable.word, is_tile_stage);
            if !facts.has(Capability::TileShadingQCOM)
                && let Some(model) = outside()
            {
                variable.breaks(found, format!("{built_in} in {model}, expected Fragment or GLCompute"));
            }
        }),
    },
    Rule {
        name: "tile-built-in-class",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10627, TileDimensionQCOM-10630, TileApronSizeQCOM-10633",
        says: "the tile's built-ins are inputs",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if let Some((built_in, _)) = built_in(facts, variable).filter(|_| variable.class != StorageClass::Input) {
                variable.breaks(found, format!("{built_in} in {}, expected Input", variable.class));
            }
        }),
    },
    Rule {
        name: "tile-built-in-type",
        id: "VUID-TileOffsetQCOM-TileOffsetQCOM-10628, TileDimensionQCOM-10631, TileApronSizeQCOM-10634",
        says: "the tile's offset and apron are two 32-bit integers, its dimension three",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let Some((built_in, counts)) = built_in(facts, variable) else { return };
            if !is_any_u32(facts, variable.ty, counts) {
                let expected = counts.last().copied().unwrap_or(2);
                variable.breaks(found, format!("{built_in} is not {expected} 32-bit integers"));
            }
        }),
    },
];
