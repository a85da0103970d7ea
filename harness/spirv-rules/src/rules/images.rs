//! Images: their types and formats, and the instructions that use them.

use super::opcode_groups::{IMAGE_ACCESSES, WITH_IMAGE_OPERANDS};
use super::{Check, Rule, Severity};
use assay_spirv::module::{ImageType, Type};
use assay_spirv::tables::{Capability, Dim, ImageFormat, ImageOperands, Op, StorageClass};

/// Capabilities that an image type requires by their descriptions. The requirements of Dim alone
/// are in the grammar.
fn image_capabilities(image: &ImageType) -> impl Iterator<Item = Capability> {
    use Capability as C;
    let storage = image.sampled == 2;
    let attachment = image.dim == Some(Dim::SubpassData);
    let needs = [
        (C::Image1D, storage && image.dim == Some(Dim::Dim1D)),
        (C::ImageBuffer, storage && image.dim == Some(Dim::Buffer)),
        (C::ImageCubeArray, storage && image.arrayed && image.dim == Some(Dim::Cube)),
        (C::SampledCubeArray, image.sampled == 1 && image.arrayed && image.dim == Some(Dim::Cube)),
        (C::StorageImageMultisample, storage && image.multisampled && !attachment),
        (C::ImageMSArray, storage && image.multisampled && image.arrayed),
    ];
    needs.into_iter().filter(|(_, needed)| *needed).map(|(capability, _)| capability)
}

/// Returns whether image atomics support a format.
fn is_atomic_format(format: Option<ImageFormat>) -> bool {
    matches!(
        format,
        Some(ImageFormat::R64i | ImageFormat::R64ui | ImageFormat::R32f | ImageFormat::R32i | ImageFormat::R32ui)
    )
}

const DREF: &[Op] = &[
    Op::ImageSampleDrefImplicitLod,
    Op::ImageSampleDrefExplicitLod,
    Op::ImageSampleProjDrefImplicitLod,
    Op::ImageSampleProjDrefExplicitLod,
    Op::ImageDrefGather,
    Op::ImageSparseSampleDrefImplicitLod,
    Op::ImageSparseSampleDrefExplicitLod,
    Op::ImageSparseDrefGather,
];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "sampled-type",
        id: "VUID-StandaloneSpirv-OpTypeImage-04656",
        requirement: "Sampled Type of an image must be a 32-bit float, or a 32 or 64-bit integer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_declared(word)) else { return };
            let numeric =
                matches!(facts.module.ty(ty), Type::Float { width: 32, .. } | Type::Int { width: 32 | 64, .. });
            if !numeric {
                found.report(instruction, "Sampled Type is neither a 32-bit float nor a 32 or 64-bit integer");
            }
        }),
    },
    Rule {
        name: "sampled-known",
        id: "VUID-StandaloneSpirv-OpTypeImage-04657",
        requirement: "Sampled of an image must be 1 or 2",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |_, instruction, found| {
            if !matches!(instruction.operand(5), Some(1 | 2)) {
                found.report(instruction, "Sampled is neither 1 nor 2");
            }
        }),
    },
    Rule {
        name: "sampled-image-of-storage",
        id: "VUID-StandaloneSpirv-OpTypeSampledImage-06671",
        requirement: "the image type of OpTypeSampledImage must have Sampled 1",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeSampledImage], |facts, instruction, found| {
            let ty = instruction.operand(0).and_then(|word| facts.module.type_declared(word));
            if let Some(Type::Image(image)) = ty.map(|ty| facts.module.ty(ty))
                && image.sampled != 1
            {
                found.report(instruction, "image of OpTypeSampledImage does not have Sampled 1");
            }
        }),
    },
    Rule {
        name: "format-type",
        id: "VUID-StandaloneSpirv-Image-04965",
        requirement: "Image Format and Sampled Type must match",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let format = instruction.operand(6).and_then(ImageFormat::from_word);
            let Some(row) = format.and_then(ImageFormat::sampled_type) else { return };
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_declared(word)) else { return };
            let matches = match *facts.module.ty(ty) {
                Type::Float { width, .. } => row.float && width == row.width,
                Type::Int { width, .. } => !row.float && width == row.width,
                // Other types are rejected by sampled-type.
                _ => true,
            };
            if let Some(format) = format.filter(|_| !matches) {
                let kind = if row.float { "float" } else { "integer" };
                found.report(
                    instruction,
                    format!("Image Format {format} requires a {}-bit {kind} as Sampled Type", row.width),
                );
            }
        }),
    },
    Rule {
        name: "image-flags",
        id: "SPIR-V specification, OpTypeImage: Depth is 0, 1 or 2, Arrayed and MS are 0 or 1",
        requirement: "Depth of an image must be 0 to 2, Arrayed and MS 0 or 1",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |_, instruction, found| {
            for (i, name, most) in [(2, "Depth", 2), (3, "Arrayed", 1), (4, "MS", 1)] {
                if let Some(value) = instruction.operand(i).filter(|value| *value > most) {
                    found.report(instruction, format!("{name} {value}, expected 0 to {most}"));
                }
            }
        }),
    },
    Rule {
        name: "image-capability",
        id: "SPIR-V specification, Capability: Image1D, ImageBuffer, ImageCubeArray, SampledCubeArray, StorageImageMultisample, ImageMSArray",
        requirement: "1D, buffer, cube array and multisampled storage images, and sampled cube arrays, require their capabilities",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let Some(ty) = instruction.result().and_then(|word| facts.module.type_declared(word)) else { return };
            let Type::Image(image) = facts.module.ty(ty) else { return };
            for capability in image_capabilities(image) {
                if !facts.has(capability) {
                    found.report(instruction, format!("image type without capability {capability}"));
                }
            }
        }),
    },
    Rule {
        name: "access-signedness",
        id: "vulkan-environment-for-spirv, Image Format and Type Matching: signedness of an access",
        requirement: "the signedness of an image access must equal that of the Image Format",
        severity: Severity::Error,
        check: Check::Instructions(IMAGE_ACCESSES, |facts, instruction, found| {
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let signed = image.format.and_then(ImageFormat::sampled_type).and_then(|row| row.signed);
            let operands = facts.image_operands(instruction).unwrap_or_default();
            let access = if operands.contains(ImageOperands::SIGN_EXTEND) {
                Some(true)
            } else if operands.contains(ImageOperands::ZERO_EXTEND) {
                Some(false)
            } else {
                match *facts.module.ty(image.sampled_type) {
                    Type::Int { signed, .. } => Some(signed),
                    _ => None,
                }
            };
            if let (Some(format), Some(access)) = (signed, access)
                && format != access
            {
                let name = |signed| if signed { "signed" } else { "unsigned" };
                found
                    .report(instruction, format!("{} access to an image with a {} format", name(access), name(format)));
            }
        }),
    },
    Rule {
        name: "texel-pointer-format",
        id: "VUID-StandaloneSpirv-OpImageTexelPointer-04658",
        requirement: "Image Format of OpImageTexelPointer must be R64i, R64ui, R32f, R32i or R32ui",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
            if let Some(image) = facts.image(instruction.operand(0))
                && !is_atomic_format(image.format)
            {
                found.report(instruction, "OpImageTexelPointer on an image whose format does not support atomics");
            }
        }),
    },
    Rule {
        name: "texel-pointer-use",
        id: "SPIR-V specification, OpImageTexelPointer: use of such a pointer is limited to atomic operations",
        requirement: "the result of OpImageTexelPointer must be used by atomic instructions only",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::Load, Op::Store, Op::CopyMemory, Op::CopyMemorySized, Op::FunctionCall],
            |facts, instruction, found| {
                let mut operands = instruction.operands().iter().take(match instruction.op {
                    Some(Op::Load | Op::Store) => 1,
                    Some(Op::CopyMemory | Op::CopyMemorySized) => 2,
                    _ => usize::MAX,
                });
                let is_texel = |word: &u32| matches!(facts.pointer(Some(*word)), Some((StorageClass::Image, _)));
                if operands.any(is_texel) {
                    let op = instruction.name();
                    found.report(instruction, format!("{op} of a texel pointer, expected an atomic instruction"));
                }
            },
        ),
    },
    Rule {
        name: "texel-pointer-coordinate",
        id: "SPIR-V specification, OpImageTexelPointer: Coordinate has the number of components that Dim and Arrayed specify",
        requirement: "Coordinate of OpImageTexelPointer must have the number of components that Dim and Arrayed require",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let expected = match (image.dim, image.arrayed) {
                (Some(Dim::Dim1D | Dim::Buffer), false) => 1,
                (Some(Dim::Dim2D | Dim::Rect), false) | (Some(Dim::Dim1D), true) => 2,
                (Some(Dim::Dim3D | Dim::Cube), false) | (Some(Dim::Dim2D | Dim::Cube), true) => 3,
                _ => return,
            };
            let Some(ty) = instruction.operand(1).and_then(|word| facts.module.type_of(word)) else { return };
            let has = match *facts.module.ty(ty) {
                Type::Vector { count, .. } => count,
                _ => 1,
            };
            if has != expected {
                found.report(instruction, format!("Coordinate has {has} components, expected {expected}"));
            }
        }),
    },
    Rule {
        name: "texel-pointer-sample",
        id: "SPIR-V specification, OpImageTexelPointer: undefined unless Sample is 0 where MS is 0",
        requirement: "Sample of OpImageTexelPointer must be 0 if MS is 0",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
            let single = facts.image(instruction.operand(0)).is_some_and(|image| !image.multisampled);
            // A sample that is not a constant may be 0 at run time.
            let sample = instruction.operand(2).and_then(|word| facts.module.constant_int(word));
            if let Some(sample) = sample.filter(|sample| single && *sample != 0) {
                found.report(instruction, format!("Sample {sample} for an image with MS 0, expected 0"));
            }
        }),
    },
    Rule {
        name: "query-sampled",
        id: "VUID-StandaloneSpirv-OpImageQuerySizeLod-04659",
        requirement: "the image of OpImageQuerySizeLod, OpImageQueryLod and OpImageQueryLevels must have Sampled 1",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::ImageQuerySizeLod, Op::ImageQueryLod, Op::ImageQueryLevels],
            |facts, instruction, found| {
                if facts.image(instruction.operand(0)).is_some_and(|image| image.sampled != 1) {
                    found.report(instruction, "level-of-detail query of an image that does not have Sampled 1");
                }
            },
        ),
    },
    Rule {
        name: "no-rectangles",
        id: "VUID-StandaloneSpirv-OpTypeImage-09638",
        requirement: "Dim Rect must not be used",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |_, instruction, found| {
            if instruction.operand(1) == Some(Dim::Rect.word()) {
                found.report(instruction, "Dim Rect, expected 2D");
            }
        }),
    },
    Rule {
        name: "subpass-type",
        id: "VUID-StandaloneSpirv-OpTypeImage-06214",
        requirement: "an image with Dim SubpassData must have Arrayed 0 and Sampled 2",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeImage], |_, instruction, found| {
            let subpass = instruction.operand(1) == Some(Dim::SubpassData.word());
            if subpass && (instruction.operand(3) != Some(0) || instruction.operand(5) == Some(1)) {
                found.report(
                    instruction,
                    "Dim SubpassData with Arrayed 1 or Sampled 1, expected Arrayed 0 and Sampled 2",
                );
            }
        }),
    },
    Rule {
        name: "subpass-coordinates",
        id: "VUID-StandaloneSpirv-SubpassData-04660",
        requirement: "Coordinate of a SubpassData image must be the constant (0, 0)",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageRead, Op::ImageSparseRead], |facts, instruction, found| {
            let subpass = facts.image(instruction.operand(0)).is_some_and(|image| image.dim == Some(Dim::SubpassData));
            let zero = |word: u32| {
                let Some(definition) = facts.module.definition_of(word) else { return false };
                match definition.op {
                    Some(Op::ConstantNull) => true,
                    Some(Op::ConstantComposite) => {
                        definition.operands().iter().all(|c| facts.module.constant_int(*c) == Some(0))
                    }
                    _ => false,
                }
            };
            if subpass && !instruction.operand(1).is_some_and(zero) {
                found.report(instruction, "Coordinate of an input attachment is not the constant (0, 0)");
            }
        }),
    },
    Rule {
        name: "offset-sampled",
        id: "VUID-StandaloneSpirv-Offset-04865",
        requirement: "ConstOffset, Offset and ConstOffsets require an image with Sampled 1",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let offsets =
                ImageOperands(ImageOperands::OFFSET.0 | ImageOperands::CONST_OFFSET.0 | ImageOperands::CONST_OFFSETS.0);
            let used = facts.image_operands(instruction).is_some_and(|mask| mask.intersects(offsets));
            if used && facts.image(instruction.operand(0)).is_some_and(|image| image.sampled != 1) {
                found.report(instruction, "offset with an image that does not have Sampled 1");
            }
        }),
    },
    Rule {
        name: "gather-component",
        id: "VUID-StandaloneSpirv-OpImageGather-04664",
        requirement: "Component of OpImageGather must be a constant",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageGather, Op::ImageSparseGather], |facts, instruction, found| {
            if instruction.operand(2).is_some_and(|word| !facts.is_constant(word)) {
                found.report(instruction, "Component of the gather is not a constant");
            }
        }),
    },
    Rule {
        name: "depth-3d",
        id: "VUID-StandaloneSpirv-OpImage-04777",
        requirement: "depth comparison instructions must not use an image with Dim 3D",
        severity: Severity::Error,
        check: Check::Instructions(DREF, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|image| image.dim == Some(Dim::Dim3D)) {
                found.report(instruction, "depth comparison on a 3D image");
            }
        }),
    },
    Rule {
        name: "read-result",
        id: "VUID-StandaloneSpirv-Result-04780",
        requirement: "the texel that OpImageRead or OpImageSparseRead returns must have four components",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageRead, Op::ImageSparseRead], |facts, instruction, found| {
            let Some(ty) = instruction.result_type().and_then(|word| facts.module.type_declared(word)) else { return };
            // A sparse result is a structure of a residency code and the texel.
            let texel = match facts.module.ty(ty) {
                Type::Struct { .. } => facts.module.members(ty).get(1).copied(),
                _ => Some(ty),
            };
            if texel.is_some_and(|ty| !matches!(facts.module.ty(ty), Type::Vector { count: 4, .. })) {
                let op = instruction.name();
                found.report(instruction, format!("{op} with a texel that does not have four components"));
            }
        }),
    },
    Rule {
        name: "write-components",
        id: "VUID-RuntimeSpirv-OpImageWrite-07112",
        requirement: "Texel of OpImageWrite must have at least as many components as the Image Format",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ImageWrite], |facts, instruction, found| {
            let Some(format) = facts.image(instruction.operand(0)).and_then(|image| image.format) else { return };
            let Some(ty) = instruction.operand(2).and_then(|word| facts.module.type_of(word)) else { return };
            let has = match *facts.module.ty(ty) {
                Type::Vector { count, .. } => count,
                _ => 1,
            };
            let needs = format.components();
            if has < needs {
                found.report(instruction, format!("Texel has {has} components, but Image Format {format} has {needs}"));
            }
        }),
    },
];
