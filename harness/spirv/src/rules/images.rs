//! Images: their types, formats and the instructions that use them.

use super::ops::{IMAGE_ACCESSES, WITH_IMAGE_OPERANDS};
use super::{On, Rule, Severity};
use crate::module::{ImageType, Type};
use crate::tables::{Capability, Dim, ImageFormat, ImageOperands, Op, StorageClass};

/// What the specification's table says of an image format: whether texels are floats, their width in shaders, and
/// their signedness.
pub(crate) struct FormatRow {
    pub(crate) float: bool,
    pub(crate) width: u32,
    pub(crate) signed: Option<bool>,
}

/// The row of a format; `None` for Unknown, which matches everything.
pub(crate) fn format_row(format: ImageFormat) -> Option<FormatRow> {
    use ImageFormat as F;
    Some(match format {
        F::Unknown => return None,
        F::Rgba32f
        | F::Rg32f
        | F::R32f
        | F::Rgba16f
        | F::Rg16f
        | F::R16f
        | F::Rgba16
        | F::Rg16
        | F::R16
        | F::Rgba16Snorm
        | F::Rg16Snorm
        | F::R16Snorm
        | F::Rgb10A2
        | F::R11fG11fB10f
        | F::Rgba8
        | F::Rg8
        | F::R8
        | F::Rgba8Snorm
        | F::Rg8Snorm
        | F::R8Snorm => FormatRow { float: true, width: 32, signed: None },
        F::Rgba32i | F::Rg32i | F::R32i | F::Rgba16i | F::Rg16i | F::R16i | F::Rgba8i | F::Rg8i | F::R8i => {
            FormatRow { float: false, width: 32, signed: Some(true) }
        }
        F::Rgba32ui
        | F::Rg32ui
        | F::R32ui
        | F::Rgba16ui
        | F::Rg16ui
        | F::R16ui
        | F::Rgb10a2ui
        | F::Rgba8ui
        | F::Rg8ui
        | F::R8ui => FormatRow { float: false, width: 32, signed: Some(false) },
        F::R64i => FormatRow { float: false, width: 64, signed: Some(true) },
        F::R64ui => FormatRow { float: false, width: 64, signed: Some(false) },
    })
}

/// What an image type needs by the descriptions of capabilities; what its Dim alone needs is in the grammar.
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

/// The formats that image atomics work on.
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
        says: "an image's sampled type is a 32-bit float or a 32 or 64-bit integer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_declared(word)) else { return };
            let numeric =
                matches!(facts.module.ty(ty), Type::Float { width: 32, .. } | Type::Int { width: 32 | 64, .. });
            if !numeric {
                found.at(instruction, "a sampled type other than a 32-bit float or a 32 or 64-bit integer");
            }
        }),
    },
    Rule {
        name: "sampled-known",
        id: "VUID-StandaloneSpirv-OpTypeImage-04657",
        says: "an image is made for a sampler or for none (Sampled 1 or 2)",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |_, instruction, found| {
            if !matches!(instruction.operand(5), Some(1 | 2)) {
                found.at(instruction, "Sampled is neither 1 nor 2");
            }
        }),
    },
    Rule {
        name: "sampled-image-of-storage",
        id: "VUID-StandaloneSpirv-OpTypeSampledImage-06671",
        says: "a sampled image is made of an image with Sampled 1",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeSampledImage], |facts, instruction, found| {
            let ty = instruction.operand(0).and_then(|word| facts.module.type_declared(word));
            if let Some(Type::Image(image)) = ty.map(|ty| facts.module.ty(ty))
                && image.sampled != 1
            {
                found.at(instruction, "OpTypeSampledImage of an image whose Sampled is not 1");
            }
        }),
    },
    Rule {
        name: "format-type",
        id: "VUID-StandaloneSpirv-Image-04965",
        says: "an image's format and sampled type match",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let format = instruction.operand(6).and_then(ImageFormat::from_word);
            let Some(row) = format.and_then(format_row) else { return };
            let Some(ty) = instruction.operand(0).and_then(|word| facts.module.type_declared(word)) else { return };
            let matches = match *facts.module.ty(ty) {
                Type::Float { width, .. } => row.float && width == row.width,
                Type::Int { width, .. } => !row.float && width == row.width,
                // Other types are told by the rule on sampled types.
                _ => true,
            };
            if let Some(format) = format.filter(|_| !matches) {
                let kind = if row.float { "float" } else { "integer" };
                found.at(instruction, format!("format {format} asks for a {}-bit {kind}", row.width));
            }
        }),
    },
    Rule {
        name: "image-flags",
        id: "SPIR-V specification, OpTypeImage: Depth is 0, 1 or 2, Arrayed and MS are 0 or 1",
        says: "an image type's Depth is 0 to 2, its Arrayed and MS 0 or 1",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |_, instruction, found| {
            for (i, name, most) in [(2, "Depth", 2), (3, "Arrayed", 1), (4, "MS", 1)] {
                if let Some(value) = instruction.operand(i).filter(|value| *value > most) {
                    found.at(instruction, format!("{name} {value}, expected 0 to {most}"));
                }
            }
        }),
    },
    Rule {
        name: "image-capability",
        id: "SPIR-V specification, Capability: Image1D, ImageBuffer, ImageCubeArray, SampledCubeArray, StorageImageMultisample, ImageMSArray",
        says: "storage images of one dimension, buffers, cube arrays and several samples are declared by a capability",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |facts, instruction, found| {
            let Some(ty) = instruction.result().and_then(|word| facts.module.type_declared(word)) else { return };
            let Type::Image(image) = facts.module.ty(ty) else { return };
            for capability in image_capabilities(image) {
                if !facts.has(capability) {
                    found.at(instruction, format!("such an image without capability {capability}"));
                }
            }
        }),
    },
    Rule {
        name: "access-signedness",
        id: "vulkan-environment-for-spirv, Image Format and Type Matching: signedness of an access",
        says: "the signedness of an access is that of the image's format",
        severity: Severity::Error,
        on: On::Instructions(IMAGE_ACCESSES, |facts, instruction, found| {
            let Some(image) = facts.image(instruction.operand(0)) else { return };
            let signed = image.format.and_then(format_row).and_then(|row| row.signed);
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
                found.at(instruction, format!("a {} access to an image of a {} format", name(access), name(format)));
            }
        }),
    },
    Rule {
        name: "texel-pointer-format",
        id: "VUID-StandaloneSpirv-OpImageTexelPointer-04658",
        says: "image atomics work on R32i, R32ui, R32f, R64i and R64ui",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
            if let Some(image) = facts.image(instruction.operand(0))
                && !is_atomic_format(image.format)
            {
                found.at(instruction, "OpImageTexelPointer on an image whose format has no atomics");
            }
        }),
    },
    Rule {
        name: "texel-pointer-use",
        id: "SPIR-V specification, OpImageTexelPointer: use of such a pointer is limited to atomic operations",
        says: "pointers to texels are used by atomics only",
        severity: Severity::Error,
        on: On::Instructions(
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
                    found.at(instruction, format!("{op} of a pointer to a texel, which only atomics may use"));
                }
            },
        ),
    },
    Rule {
        name: "texel-pointer-coordinate",
        id: "SPIR-V specification, OpImageTexelPointer: Coordinate has the number of components that Dim and Arrayed ask for",
        says: "the coordinate of a pointer to a texel has as many components as the image has dimensions",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
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
                found.at(instruction, format!("a coordinate of {has} components, expected {expected}"));
            }
        }),
    },
    Rule {
        name: "texel-pointer-sample",
        id: "SPIR-V specification, OpImageTexelPointer: undefined unless Sample is 0 where MS is 0",
        says: "a pointer to a texel of an image without samples names sample 0",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageTexelPointer], |facts, instruction, found| {
            let single = facts.image(instruction.operand(0)).is_some_and(|image| !image.multisampled);
            // What is no constant may be 0 whenever it is executed.
            let sample = instruction.operand(2).and_then(|word| facts.module.constant_int(word));
            if let Some(sample) = sample.filter(|sample| single && *sample != 0) {
                found.at(instruction, format!("sample {sample} of an image without samples, expected 0"));
            }
        }),
    },
    Rule {
        name: "query-sampled",
        id: "VUID-StandaloneSpirv-OpImageQuerySizeLod-04659",
        says: "queries of levels are asked of images with Sampled 1",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::ImageQuerySizeLod, Op::ImageQueryLod, Op::ImageQueryLevels],
            |facts, instruction, found| {
                if facts.image(instruction.operand(0)).is_some_and(|image| image.sampled != 1) {
                    found.at(instruction, "a query of levels on an image whose Sampled is not 1");
                }
            },
        ),
    },
    Rule {
        name: "no-rectangles",
        id: "VUID-StandaloneSpirv-OpTypeImage-09638",
        says: "Dim Rect is not used",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |_, instruction, found| {
            if instruction.operand(1) == Some(Dim::Rect.word()) {
                found.at(instruction, "Dim Rect, which Vulkan does not have: expected 2D");
            }
        }),
    },
    Rule {
        name: "subpass-type",
        id: "VUID-StandaloneSpirv-OpTypeImage-06214",
        says: "Dim SubpassData comes with Arrayed 0 and Sampled 2",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeImage], |_, instruction, found| {
            let subpass = instruction.operand(1) == Some(Dim::SubpassData.word());
            if subpass && (instruction.operand(3) != Some(0) || instruction.operand(5) == Some(1)) {
                found.at(instruction, "SubpassData with Arrayed 1 or Sampled 1");
            }
        }),
    },
    Rule {
        name: "subpass-coordinates",
        id: "VUID-StandaloneSpirv-SubpassData-04660",
        says: "an input attachment is read at constant (0, 0)",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageRead, Op::ImageSparseRead], |facts, instruction, found| {
            let subpass = facts.image(instruction.operand(0)).is_some_and(|image| image.dim == Some(Dim::SubpassData));
            let zero = |word: u32| {
                let Some(definition) = facts.module.definition_of_word(word) else { return false };
                match definition.op {
                    Some(Op::ConstantNull) => true,
                    Some(Op::ConstantComposite) => {
                        definition.operands().iter().all(|c| facts.module.constant_int(*c) == Some(0))
                    }
                    _ => false,
                }
            };
            if subpass && !instruction.operand(1).is_some_and(zero) {
                found.at(instruction, "coordinates of an input attachment other than constant (0, 0)");
            }
        }),
    },
    Rule {
        name: "offset-sampled",
        id: "VUID-StandaloneSpirv-Offset-04865",
        says: "offsets only with images whose Sampled is 1",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            let offsets =
                ImageOperands(ImageOperands::OFFSET.0 | ImageOperands::CONST_OFFSET.0 | ImageOperands::CONST_OFFSETS.0);
            let used = facts.image_operands(instruction).is_some_and(|mask| mask.intersects(offsets));
            if used && facts.image(instruction.operand(0)).is_some_and(|image| image.sampled != 1) {
                found.at(instruction, "an offset with an image whose Sampled is not 1");
            }
        }),
    },
    Rule {
        name: "gather-component",
        id: "VUID-StandaloneSpirv-OpImageGather-04664",
        says: "the component of a gather is a constant",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageGather, Op::ImageSparseGather], |facts, instruction, found| {
            if instruction.operand(2).is_some_and(|word| !facts.is_constant(word)) {
                found.at(instruction, "a gather whose component is no constant");
            }
        }),
    },
    Rule {
        name: "depth-3d",
        id: "VUID-StandaloneSpirv-OpImage-04777",
        says: "no depth comparison on 3D images",
        severity: Severity::Error,
        on: On::Instructions(DREF, |facts, instruction, found| {
            if facts.image(instruction.operand(0)).is_some_and(|image| image.dim == Some(Dim::Dim3D)) {
                found.at(instruction, "a depth comparison on a 3D image");
            }
        }),
    },
    Rule {
        name: "read-result",
        id: "VUID-StandaloneSpirv-Result-04780",
        says: "OpImageRead and OpImageSparseRead make four components",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageRead, Op::ImageSparseRead], |facts, instruction, found| {
            let Some(ty) = instruction.result_type().and_then(|word| facts.module.type_declared(word)) else { return };
            // A sparse result is a residency code and the texel.
            let texel = match facts.module.ty(ty) {
                Type::Struct { .. } => facts.module.members(ty).get(1).copied(),
                _ => Some(ty),
            };
            if texel.is_some_and(|ty| !matches!(facts.module.ty(ty), Type::Vector { count: 4, .. })) {
                let op = instruction.name();
                found.at(instruction, format!("{op} of other than four components"));
            }
        }),
    },
    Rule {
        name: "write-components",
        id: "VUID-RuntimeSpirv-OpImageWrite-07112",
        says: "a texel that is written has at least as many components as the image's format",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ImageWrite], |facts, instruction, found| {
            let Some(format) = facts.image(instruction.operand(0)).and_then(|image| image.format) else { return };
            let Some(ty) = instruction.operand(2).and_then(|word| facts.module.type_of(word)) else { return };
            let has = match *facts.module.ty(ty) {
                Type::Vector { count, .. } => count,
                _ => 1,
            };
            let needs = format_components(format);
            if has < needs {
                found.at(instruction, format!("{has} components written to format {format}, which has {needs}"));
            }
        }),
    },
];

fn format_components(format: ImageFormat) -> u32 {
    let name = format.name();
    match () {
        () if format == ImageFormat::Unknown => 0,
        () if name.starts_with("Rgba") || name.starts_with("Rgb10") => 4,
        () if name == "R11fG11fB10f" => 3,
        () if name.starts_with("Rg") => 2,
        () => 1,
    }
}
