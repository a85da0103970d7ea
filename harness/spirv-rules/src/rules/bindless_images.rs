//! Rules of `SPV_INTEL_bindless_images`: images, samplers and sampled images converted from
//! handles.

use super::analysis::facts::Facts;
use super::analysis::typing::IdType;
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{AddressingModel, Capability, Op};

const HANDLE_CONVERSIONS: &[Op] =
    &[Op::ConvertHandleToImageINTEL, Op::ConvertHandleToSamplerINTEL, Op::ConvertHandleToSampledImageINTEL];

fn check_result(
    facts: &Facts,
    instruction: Instruction,
    found: &mut Findings,
    expected: &str,
    fits: fn(&Type) -> bool,
) {
    let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
    if ty.is_none_or(|ty| !fits(facts.module.ty(ty))) {
        found.report(instruction, format!("Result Type is not {expected}"));
    }
}

const EXTENSION: &str = "SPV_INTEL_bindless_images";

pub(super) static RULES: &[Rule] = &[
    // Kernels are checked against extension rules only, so the extension and the capability are
    // checked here as well as by the core rules.
    Rule {
        name: "handle-extension",
        id: "SPV_INTEL_bindless_images, Extension Name",
        requirement: "capability BindlessImagesINTEL requires extension SPV_INTEL_bindless_images",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Capability], |facts, instruction, found| {
            let mut declared = facts.module.section(Section::Extensions);
            if instruction.operand(0) == Some(Capability::BindlessImagesINTEL.word())
                && !declared.any(|i| facts.module.string_at(i, 0) == EXTENSION)
            {
                found
                    .report(instruction, format!("capability BindlessImagesINTEL without OpExtension \"{EXTENSION}\""));
            }
        }),
    },
    Rule {
        name: "handle-capability",
        id: "SPV_INTEL_bindless_images, New Instructions: under BindlessImagesINTEL",
        requirement: "conversions of handles require BindlessImagesINTEL",
        severity: Severity::Error,
        check: Check::Instructions(HANDLE_CONVERSIONS, |facts, instruction, found| {
            if !facts.has(Capability::BindlessImagesINTEL) {
                found.report(instruction, "conversion of a handle without capability BindlessImagesINTEL");
            }
        }),
    },
    Rule {
        name: "handle-addressing",
        id: "SPV_INTEL_bindless_images, conversions: addressing model Physical32 or Physical64",
        requirement: "conversions of handles require addressing model Physical32 or Physical64",
        severity: Severity::Error,
        check: Check::Instructions(HANDLE_CONVERSIONS, |facts, instruction, found| {
            use AddressingModel::{Physical32, Physical64};
            if !matches!(facts.addressing_model, Some(Physical32 | Physical64)) {
                found.report(
                    instruction,
                    "conversion of a handle with an addressing model other than Physical32 and Physical64",
                );
            }
        }),
    },
    Rule {
        name: "handle-width",
        id: "SPV_INTEL_bindless_images, conversions: 32 or 64-bit by the addressing model",
        requirement: "a handle must be an unsigned integer of the addressing model's width",
        severity: Severity::Error,
        check: Check::Instructions(HANDLE_CONVERSIONS, |facts, instruction, found| {
            let expected = match facts.addressing_model {
                Some(AddressingModel::Physical32) => 32,
                Some(AddressingModel::Physical64) => 64,
                _ => return,
            };
            let Some(word) = instruction.operand(0) else { return };
            let fits = match facts.typing().value(facts.module, word) {
                IdType::Known(ty) => {
                    matches!(*facts.module.ty(ty), Type::Int { width, signed: false } if width == expected)
                }
                IdType::NotAValue(_) => false,
                IdType::Unknown => return,
            };
            if !fits {
                found.report(instruction, format!("the handle is not an unsigned {expected}-bit integer"));
            }
        }),
    },
    Rule {
        name: "handle-image",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToImageINTEL: Result type",
        requirement: "Result Type of OpConvertHandleToImageINTEL must be an image type",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ConvertHandleToImageINTEL], |facts, instruction, found| {
            check_result(facts, instruction, found, "an image type", |ty| matches!(ty, Type::Image(_)));
        }),
    },
    Rule {
        name: "handle-sampler",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToSamplerINTEL: Result type",
        requirement: "Result Type of OpConvertHandleToSamplerINTEL must be a sampler type",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ConvertHandleToSamplerINTEL], |facts, instruction, found| {
            check_result(facts, instruction, found, "a sampler type", |ty| *ty == Type::Sampler);
        }),
    },
    Rule {
        name: "handle-sampled-image",
        id: "SPV_INTEL_bindless_images, OpConvertHandleToSampledImageINTEL: Result type",
        requirement: "Result Type of OpConvertHandleToSampledImageINTEL must be a sampled image type",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ConvertHandleToSampledImageINTEL], |facts, instruction, found| {
            check_result(facts, instruction, found, "a sampled image type", |ty| {
                matches!(ty, Type::SampledImage { .. })
            });
        }),
    },
];
