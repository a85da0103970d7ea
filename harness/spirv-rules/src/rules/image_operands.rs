//! Image operands: permitted instructions and combinations.

use super::analysis::facts::Facts;
use super::opcode_groups::{EXPLICIT_LOD, GATHERS, IMPLICIT_LOD, TEXELS, WITH_IMAGE_OPERANDS};
use super::{Check, Rule, Severity};
use assay_spirv::grammar::Kind;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::tables::{Capability, ImageOperands, Op};

/// Name of an image operand that the instruction does not permit.
fn unsupported_operand(facts: &Facts, op: Op, operands: ImageOperands) -> Option<&'static str> {
    let has = |operand| operands.contains(operand);
    let biased = GATHERS.contains(&op) && facts.has(Capability::ImageGatherBiasLodAMD);
    let fetches = matches!(op, Op::ImageFetch | Op::ImageSparseFetch);
    let levels = TEXELS.contains(&op) && facts.has(Capability::ImageReadWriteLodAMD);
    match () {
        () if has(ImageOperands::BIAS) && !IMPLICIT_LOD.contains(&op) && !biased => Some("Bias"),
        () if has(ImageOperands::LOD) && !(EXPLICIT_LOD.contains(&op) || fetches || levels || biased) => Some("Lod"),
        () if has(ImageOperands::GRAD) && !EXPLICIT_LOD.contains(&op) => Some("Grad"),
        // OpImageGatherQCOM with ConstOffsets is checked by gather-qcom-offsets.
        () if has(ImageOperands::CONST_OFFSETS) && !GATHERS.contains(&op) => Some("ConstOffsets"),
        () if has(ImageOperands::SAMPLE) && !TEXELS.contains(&op) => Some("Sample"),
        () if has(ImageOperands::MIN_LOD) && !(IMPLICIT_LOD.contains(&op) || has(ImageOperands::GRAD)) => {
            Some("MinLod")
        }
        () => None,
    }
}

/// Number of ids of each image operand, in the order of the mask bits.
const OPERAND_ID_COUNTS: [(ImageOperands, usize); 8] = [
    (ImageOperands::BIAS, 1),
    (ImageOperands::LOD, 1),
    (ImageOperands::GRAD, 2),
    (ImageOperands::CONST_OFFSET, 1),
    (ImageOperands::OFFSET, 1),
    (ImageOperands::CONST_OFFSETS, 1),
    (ImageOperands::SAMPLE, 1),
    (ImageOperands::MIN_LOD, 1),
];

/// Ids of an instruction's image operands, each with its operand. Empty if an operand is unknown to
/// the tables, because the number of its ids is unknown then.
pub(super) fn ids(facts: &Facts, instruction: Instruction) -> Vec<(ImageOperands, u32)> {
    let Some(mask) = facts.image_operands(instruction) else { return Vec::new() };
    let mut words = Vec::new();
    let mut behind = false;
    let read = facts.module.operands(instruction, |operand| {
        if behind {
            words.push(instruction.words[operand.at]);
        }
        behind |= operand.kind == Kind::ImageOperands;
    });
    if read.is_err() {
        return Vec::new();
    }
    let given = OPERAND_ID_COUNTS.into_iter().filter(|(operand, _)| mask.contains(*operand));
    given.flat_map(|(operand, count)| std::iter::repeat_n(operand, count)).zip(words).collect()
}

/// Component type of the texels that an instruction reads or writes.
fn texel_component<'m>(facts: &'m Facts, instruction: Instruction) -> Option<&'m Type> {
    let ty = match instruction.op {
        Some(Op::ImageWrite) => facts.module.type_of(instruction.operand(2)?)?,
        _ => facts.module.type_declared(instruction.result_type()?)?,
    };
    // A sparse result is a structure of a residency code and the texel.
    let texel = match facts.module.ty(ty) {
        Type::Struct { .. } => *facts.module.members(ty).get(1)?,
        _ => ty,
    };
    match facts.module.ty(texel) {
        Type::Vector { component, .. } => Some(facts.module.ty(*component)),
        scalar => Some(scalar),
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "image-operand-instruction",
        id: "SPIR-V specification, Image Operands: only valid with implicit-lod or explicit-lod instructions, gathers, or instructions on texels",
        requirement: "an image operand must be one that the instruction permits",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let Some((op, operands)) = instruction.op.zip(facts.image_operands(instruction)) else { return };
            if let Some(operand) = unsupported_operand(facts, op, operands) {
                found.report(instruction, format!("{op} does not permit image operand {operand}"));
            }
        }),
    },
    Rule {
        name: "image-operand-pairs",
        id: "SPIR-V specification, Image Operands: at most one of ConstOffset, Offset and ConstOffsets; not both Lod and Grad",
        requirement: "an image instruction must have at most one of ConstOffset, Offset and ConstOffsets, and not both Lod and Grad",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let Some(operands) = facts.image_operands(instruction) else { return };
            let offsets = [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET, ImageOperands::CONST_OFFSETS];
            let qcom = instruction.op == Some(Op::ImageGatherQCOM);
            if !qcom && offsets.iter().filter(|offset| operands.contains(**offset)).count() > 1 {
                found.report(instruction, "more than one of ConstOffset, Offset and ConstOffsets");
            } else if operands.contains(ImageOperands(ImageOperands::LOD.0 | ImageOperands::GRAD.0)) {
                found.report(instruction, "both Lod and Grad");
            }
        }),
    },
    Rule {
        name: "extended-texel",
        id: "SPIR-V specification, Image Operands, SignExtend and ZeroExtend: only valid if the texel value type is one of integers, for ZeroExtend of signedness of 0; not both",
        requirement: "SignExtend and ZeroExtend require integer texels, ZeroExtend unsigned ones, and must not both be present",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let operands = facts.image_operands(instruction).unwrap_or_default();
            let [sign, zero] =
                [ImageOperands::SIGN_EXTEND, ImageOperands::ZERO_EXTEND].map(|extend| operands.contains(extend));
            match texel_component(facts, instruction) {
                _ if sign && zero => found.report(instruction, "both SignExtend and ZeroExtend"),
                Some(Type::Int { signed: true, .. }) if zero => {
                    found.report(instruction, "ZeroExtend with signed texels")
                }
                Some(Type::Int { .. }) | None => {}
                Some(_) if sign || zero => {
                    found.report(instruction, "SignExtend or ZeroExtend with texels that are not integers")
                }
                Some(_) => {}
            }
        }),
    },
    Rule {
        name: "explicit-level",
        id: "SPIR-V specification, OpImageSampleExplicitLod and the other explicit-lod instructions: at least one operand setting the level of detail must be present",
        requirement: "an explicit-lod sampling instruction must have Lod or Grad",
        severity: Severity::Error,
        check: Check::Instructions(EXPLICIT_LOD, |facts, instruction, found| {
            let level = ImageOperands(ImageOperands::LOD.0 | ImageOperands::GRAD.0);
            if facts.image_operands(instruction).is_none_or(|operands| !operands.intersects(level)) {
                found.report(instruction, "explicit-lod instruction without Lod or Grad");
            }
        }),
    },
    Rule {
        name: "sample-operand",
        id: "SPIR-V specification, Image Operands, Sample: it must be used if and only if the underlying OpTypeImage has MS of 1",
        requirement: "Sample must be present if and only if the image has MS 1",
        severity: Severity::Error,
        check: Check::Instructions(TEXELS, |facts, instruction, found| {
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let operands = facts.image_operands(instruction).unwrap_or_default();
            match (image.multisampled, operands.contains(ImageOperands::SAMPLE)) {
                (true, false) => found.report(instruction, "multisampled image without Sample"),
                (false, true) => found.report(instruction, "Sample with an image that is not multisampled"),
                _ => {}
            }
        }),
    },
    Rule {
        name: "constant-offset",
        id: "SPIR-V specification, Image Operands, ConstOffset and ConstOffsets: an <id> of a constant instruction",
        requirement: "ConstOffset and ConstOffsets must be constant instructions",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let constant = ImageOperands(ImageOperands::CONST_OFFSET.0 | ImageOperands::CONST_OFFSETS.0);
            let mut offsets = ids(facts, instruction).into_iter().filter(|(operand, _)| constant.contains(*operand));
            if let Some((_, word)) = offsets.find(|(_, word)| !facts.is_constant(*word)) {
                found.report(instruction, format!("constant offset {} is not a constant", facts.name(word)));
            }
        }),
    },
];
