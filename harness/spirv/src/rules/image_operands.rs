//! Image operands: which instructions take them, and which of them together.

use super::facts::Facts;
use super::ops::{EXPLICIT_LOD, GATHERS, IMPLICIT_LOD, TEXELS, WITH_IMAGE_OPERANDS};
use super::{On, Rule, Severity};
use crate::grammar::Kind;
use crate::module::{Instruction, Type};
use crate::tables::{Capability, ImageOperands, Op};

/// An operand that an instruction does not take.
fn misplaced(facts: &Facts, op: Op, operands: ImageOperands) -> Option<&'static str> {
    let has = |operand| operands.contains(operand);
    let biased = GATHERS.contains(&op) && facts.has(Capability::ImageGatherBiasLodAMD);
    let fetches = matches!(op, Op::ImageFetch | Op::ImageSparseFetch);
    let levels = TEXELS.contains(&op) && facts.has(Capability::ImageReadWriteLodAMD);
    match () {
        () if has(ImageOperands::BIAS) && !IMPLICIT_LOD.contains(&op) && !biased => Some("Bias"),
        () if has(ImageOperands::LOD) && !(EXPLICIT_LOD.contains(&op) || fetches || levels || biased) => Some("Lod"),
        () if has(ImageOperands::GRAD) && !EXPLICIT_LOD.contains(&op) => Some("Grad"),
        // OpImageGatherQCOM has a rule of its own.
        () if has(ImageOperands::CONST_OFFSETS) && !GATHERS.contains(&op) => Some("ConstOffsets"),
        () if has(ImageOperands::SAMPLE) && !TEXELS.contains(&op) => Some("Sample"),
        () if has(ImageOperands::MIN_LOD) && !(IMPLICIT_LOD.contains(&op) || has(ImageOperands::GRAD)) => {
            Some("MinLod")
        }
        () => None,
    }
}

/// Image operands with the ids that each takes, in the order of their bits.
const TAKEN: [(ImageOperands, usize); 8] = [
    (ImageOperands::BIAS, 1),
    (ImageOperands::LOD, 1),
    (ImageOperands::GRAD, 2),
    (ImageOperands::CONST_OFFSET, 1),
    (ImageOperands::OFFSET, 1),
    (ImageOperands::CONST_OFFSETS, 1),
    (ImageOperands::SAMPLE, 1),
    (ImageOperands::MIN_LOD, 1),
];

/// The ids of an instruction's image operands, each with the operand that it belongs to. What stands behind an operand newer than the
/// tables cannot be known: then there are none.
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
    let given = TAKEN.into_iter().filter(|(operand, _)| mask.contains(*operand));
    given.flat_map(|(operand, count)| std::iter::repeat_n(operand, count)).zip(words).collect()
}

/// What the texels that an instruction reads or writes are made of.
fn texel_component<'m>(facts: &'m Facts, instruction: Instruction) -> Option<&'m Type> {
    let ty = match instruction.op {
        Some(Op::ImageWrite) => facts.module.type_of(instruction.operand(2)?)?,
        _ => facts.module.type_declared(instruction.result_type()?)?,
    };
    // The result of a sparse instruction is a code beside the texel.
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
        says: "image instructions take the image operands that are for them",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let Some((op, operands)) = instruction.op.zip(facts.image_operands(instruction)) else { return };
            if let Some(operand) = misplaced(facts, op, operands) {
                found.at(instruction, format!("{operand} on {op}, which takes none"));
            }
        }),
    },
    Rule {
        name: "image-operand-pairs",
        id: "SPIR-V specification, Image Operands: at most one of ConstOffset, Offset and ConstOffsets; not both Lod and Grad",
        says: "an image instruction has one offset and one level of detail at most",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let Some(operands) = facts.image_operands(instruction) else { return };
            let offsets = [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET, ImageOperands::CONST_OFFSETS];
            let qcom = instruction.op == Some(Op::ImageGatherQCOM);
            if !qcom && offsets.iter().filter(|offset| operands.contains(**offset)).count() > 1 {
                found.at(instruction, "more than one of ConstOffset, Offset and ConstOffsets");
            } else if operands.contains(ImageOperands(ImageOperands::LOD.0 | ImageOperands::GRAD.0)) {
                found.at(instruction, "Lod beside Grad");
            }
        }),
    },
    Rule {
        name: "extended-texel",
        id: "SPIR-V specification, Image Operands, SignExtend and ZeroExtend: only valid if the texel value type is one of integers, for ZeroExtend of signedness of 0; not both",
        says: "integer texels are extended, with their sign or with zeros, and signed ones not with zeros",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let operands = facts.image_operands(instruction).unwrap_or_default();
            let [sign, zero] =
                [ImageOperands::SIGN_EXTEND, ImageOperands::ZERO_EXTEND].map(|extend| operands.contains(extend));
            match texel_component(facts, instruction) {
                _ if sign && zero => found.at(instruction, "SignExtend beside ZeroExtend"),
                Some(Type::Int { signed: true, .. }) if zero => found.at(instruction, "ZeroExtend of signed texels"),
                Some(Type::Int { .. }) | None => {}
                Some(_) if sign || zero => {
                    found.at(instruction, "SignExtend or ZeroExtend of texels that are no integers")
                }
                Some(_) => {}
            }
        }),
    },
    Rule {
        name: "explicit-level",
        id: "SPIR-V specification, OpImageSampleExplicitLod and its kin: at least one operand setting the level of detail must be present",
        says: "an instruction with an explicit level of detail has Lod or Grad",
        severity: Severity::Error,
        on: On::Instructions(EXPLICIT_LOD, |facts, instruction, found| {
            let level = ImageOperands(ImageOperands::LOD.0 | ImageOperands::GRAD.0);
            if facts.image_operands(instruction).is_none_or(|operands| !operands.intersects(level)) {
                found.at(instruction, "neither Lod nor Grad on an instruction with an explicit level of detail");
            }
        }),
    },
    Rule {
        name: "sample-operand",
        id: "SPIR-V specification, Image Operands, Sample: it must be used if and only if the underlying OpTypeImage has MS of 1",
        says: "instructions on texels name a sample of multisampled images, and of no others",
        severity: Severity::Error,
        on: On::Instructions(TEXELS, |facts, instruction, found| {
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let operands = facts.image_operands(instruction).unwrap_or_default();
            match (image.multisampled, operands.contains(ImageOperands::SAMPLE)) {
                (true, false) => found.at(instruction, "no Sample for a multisampled image"),
                (false, true) => found.at(instruction, "Sample for an image that is not multisampled"),
                _ => {}
            }
        }),
    },
    Rule {
        name: "constant-offset",
        id: "SPIR-V specification, Image Operands, ConstOffset and ConstOffsets: an <id> of a constant instruction",
        says: "ConstOffset and ConstOffsets are constants",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let constant = ImageOperands(ImageOperands::CONST_OFFSET.0 | ImageOperands::CONST_OFFSETS.0);
            let mut offsets = ids(facts, instruction).into_iter().filter(|(operand, _)| constant.contains(*operand));
            if let Some((_, word)) = offsets.find(|(_, word)| !facts.is_constant(*word)) {
                found.at(instruction, format!("{} is a constant offset, but no constant", facts.name(word)));
            }
        }),
    },
];
