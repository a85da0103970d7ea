//! `SPV_INTEL_bindless_images`: images, samplers and sampled images made from handles.

use super::facts::Facts;
use super::operands::Value;
use super::{Findings, On, Rule, Severity};
use crate::module::{Instruction, Section, Type};
use crate::tables::{AddressingModel, Capability, Op};

const CONVERSIONS: &[Op] =
    &[Op::ConvertHandleToImageINTEL, Op::ConvertHandleToSamplerINTEL, Op::ConvertHandleToSampledImageINTEL];

fn result(facts: &Facts, instruction: Instruction, found: &mut Findings, expected: &str, fits: fn(&Type) -> bool) {
    let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
    if ty.is_none_or(|ty| !fits(facts.module.ty(ty))) {
        found.at(instruction, format!("a result that is no {expected}"));
    }
}

const NAME: &str = "SPV_INTEL_bindless_images";

pub(super) static RULES: &[Rule] = &[
    // Of kernels only the rules of extensions are asked, so that these two are said here as well.
    Rule {
        name: "handle-extension",
        id: "SPV_INTEL_bindless_images, Extension Name",
        says: "a module with capability BindlessImagesINTEL declares the extension",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Capability], |facts, instruction, found| {
            let mut declared = facts.module.section(Section::Extensions);
            if instruction.operand(0) == Some(Capability::BindlessImagesINTEL.word())
                && !declared.any(|i| facts.module.string_at(i, 0) == NAME)
            {
                found.at(instruction, format!("capability BindlessImagesINTEL without OpExtension \"{NAME}\""));
            }
        }),
    },
    Rule {
        name: "handle-capability",
        id: "SPV_INTEL_bindless_images, New Instructions: under BindlessImagesINTEL",
        says: "handles are converted with capability BindlessImagesINTEL",
        severity: Severity::Error,
        on: On::Instructions(CONVERSIONS, |facts, instruction, found| {
            if !facts.has(Capability::BindlessImagesINTEL) {
                found.at(instruction, "a handle converted without capability BindlessImagesINTEL");
            }
        }),
    },
    Rule {
        name: "handle-addressing",
        id: "SPV_INTEL_bindless_images, conversions: addressing model Physical32 or Physical64",
        says: "handles are converted under addressing model Physical32 or Physical64",
        severity: Severity::Error,
        on: On::Instructions(CONVERSIONS, |facts, instruction, found| {
            use AddressingModel::{Physical32, Physical64};
            if !matches!(facts.addressing_model, Some(Physical32 | Physical64)) {
                found.at(
                    instruction,
                    "a handle converted under an addressing model other than Physical32 and Physical64",
                );
            }
        }),
    },
    Rule {
        name: "handle-width",
        id: "SPV_INTEL_bindless_images, conversions: 32 or 64-bit by the addressing model",
        says: "a handle is an unsigned integer as wide as the addressing model",
        severity: Severity::Error,
        on: On::Instructions(CONVERSIONS, |facts, instruction, found| {
            let expected = match facts.addressing_model {
                Some(AddressingModel::Physical32) => 32,
                Some(AddressingModel::Physical64) => 64,
                _ => return,
            };
            let Some(word) = instruction.operand(0) else { return };
            let fits = match facts.typing().value(facts.module, word) {
                Value::Of(ty) => {
                    matches!(*facts.module.ty(ty), Type::Int { width, signed: false } if width == expected)
                }
                Value::No(_) => false,
                Value::Unknown => return,
            };
            if !fits {
                found.at(instruction, format!("a handle that is no unsigned {expected}-bit integer"));
            }
        }),
    },
    Rule {
        name: "handle-image",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToImageINTEL: Result type",
        says: "OpConvertHandleToImageINTEL makes an image",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ConvertHandleToImageINTEL], |facts, instruction, found| {
            result(facts, instruction, found, "image", |ty| matches!(ty, Type::Image(_)));
        }),
    },
    Rule {
        name: "handle-sampler",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToSamplerINTEL: Result type",
        says: "OpConvertHandleToSamplerINTEL makes a sampler",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ConvertHandleToSamplerINTEL], |facts, instruction, found| {
            result(facts, instruction, found, "sampler", |ty| *ty == Type::Sampler);
        }),
    },
    Rule {
        name: "handle-sampled-image",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToSampledImageINTEL: Result type",
        says: "OpConvertHandleToSampledImageINTEL makes a sampled image",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ConvertHandleToSampledImageINTEL], |facts, instruction, found| {
            result(facts, instruction, found, "sampled image", |ty| matches!(ty, Type::SampledImage { .. }));
        }),
    },
];
