//! Texels of images and texel buffers: their number, contents and layout in memory.

use crate::ImageConfig;
use crate::memory_layout::{MemoryContents, scalars};
use assay_exec::ImageShape;
use assay_oracle::{Image, texel_scalars};
use assay_precision::Scalar;
use assay_spirv::module::{ImageType, Type};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{ImageView, TexelFormat};

/// Mip levels of a sampled image, if its size allows.
const LEVELS: u32 = 2;

/// Samples of a texel of a multisampled image: every device has this number for images with a
/// format of colours or depths that shaders only read (limits `sampledImageColorSampleCounts` and
/// `sampledImageDepthSampleCounts` in Vulkan, "Required Limits").
const SAMPLES: u32 = 4;

/// Largest number of samples of Vulkan, `VK_SAMPLE_COUNT_64_BIT`.
const MAX_SAMPLES: u32 = 64;

/// Smallest side of an image that the shader only reads. A storage image has a texel for each
/// invocation, so that the shader writes most of them.
const SIDE: u32 = 16;

/// Smallest depth of such an image with three dimensions.
const DEPTH: u32 = 4;

/// Smallest number of layers of an array, so that layers can be told apart.
const LAYERS: u32 = 2;

/// Multiplier that spreads an index over 64 bits, so that neighbours differ in their leading bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Chooses the size and format of an image.
///
/// * An image has a texel for each invocation along its axes, and layers along the next axis; a
///   sampled image at least [`SIDE`] along its axes. A texel buffer has `elements` texels, or
///   those in `given` bytes.
/// * If the type does not fix the format, it has 32 bits for each channel (64 if the type has),
///   which every device can fetch. A float image that is sampled has 16 bits, which every
///   device can filter.
/// * `form` takes precedence.
/// * An image that is `compared`, or whose type says so, is a depth image.
///
/// # Errors
/// The type is not supported, or `form` does not fit it.
pub(crate) fn image_shape(
    (ty, sampled): (&ImageType, &Type),
    kind: DescriptorKind,
    size: [u32; 3],
    elements: u64,
    given: Option<u64>,
    (form, filtered, compared): (&ImageConfig, bool, bool),
) -> Result<ImageShape, String> {
    let refused = |what: &str| Err(format!("{what} is not supported"));
    let depth = ty.depth == 1 || compared;
    let asked = form.image_format().map_err(|error| error.to_string())?;
    if let Some(asked) = asked.filter(|asked| compared && *asked != ImageFormat::R32f) {
        return refused(&format!(
            "a depth comparison in an image with the format {asked:?} (device-dependent by \
             VUID-vkCmdDispatch-None-06479)"
        ));
    }
    let format = match ty.format {
        None => return refused("an image with an unknown format"),
        Some(ImageFormat::Unknown) if depth => ImageFormat::R32f,
        Some(ImageFormat::Unknown) if asked.is_some() => asked.unwrap_or(ImageFormat::Unknown),
        Some(ImageFormat::Unknown) => match sampled {
            Type::Float { width: 32, .. } if filtered => ImageFormat::Rgba16f,
            Type::Float { width: 32, .. } => ImageFormat::Rgba32f,
            Type::Int { width: 32, signed: false } => ImageFormat::Rgba32ui,
            Type::Int { width: 32, signed: true } => ImageFormat::Rgba32i,
            Type::Int { width: 64, signed: false } => ImageFormat::R64ui,
            Type::Int { width: 64, signed: true } => ImageFormat::R64i,
            _ => return refused("an image with this sampled type"),
        },
        Some(format) => format,
    };
    if let Some(asked) = asked.filter(|asked| *asked != format) {
        return Err(format!("the image's type has the format {format:?}, not {asked:?}"));
    }
    if TexelFormat::Color(format).is_integer() != matches!(sampled, Type::Int { .. }) {
        return Err(format!("the format {format:?} does not fit the image's sampled type"));
    }
    let unsupported = || "an image with this format is not supported".to_owned();
    let scalars = texel_scalars(format).ok_or_else(unsupported)?;
    let fetched = matches!(kind, DescriptorKind::SampledImage | DescriptorKind::CombinedImageSampler);
    let [x, y, z] = match &form.size {
        Some(given) if given.len() > 3 || given.contains(&0) => {
            return Err(format!("invalid image size {given:?}"));
        }
        Some(given) => std::array::from_fn(|k| given.get(k).copied().unwrap_or(1)),
        None => {
            let least = match (fetched, ty.dim) {
                (true, Some(Dim::Dim1D)) => [SIDE, 1, 1],
                (true, Some(Dim::Dim2D | Dim::Cube)) => [SIDE, SIDE, 1],
                (true, Some(Dim::Dim3D)) => [SIDE, SIDE, DEPTH],
                _ => [1; 3],
            };
            std::array::from_fn(|k| size[k].max(least[k]))
        }
    };
    // Bundles always give three sides.
    let axes = match ty.dim {
        Some(Dim::Dim2D) => 2,
        Some(Dim::Dim3D) => 3,
        _ => 1,
    };
    let beyond = if ty.dim == Some(Dim::Cube) { 2 } else { axes };
    if let Some(given) = &form.size
        && (given.len() < axes || given.iter().skip(beyond).any(|side| *side != 1))
    {
        return Err(format!("the size of the image must have one number for each axis, not {given:?}"));
    }
    let cube = x.max(y);
    let (dim, extent, layers) = match ty.dim {
        Some(Dim::Buffer) => {
            let bytes: u64 = scalars.iter().map(|s| u64::from(s.width() / 8)).sum();
            let texels = given.map_or(elements, |given| given / bytes).max(1);
            let Ok(texels) = u32::try_from(texels) else {
                return refused("a texel buffer with 2^32 or more texels");
            };
            (Dim::Buffer, [texels, 1, 1], 1)
        }
        Some(Dim::Dim1D) => (Dim::Dim1D, [x, 1, 1], y),
        Some(Dim::Dim2D) => (Dim::Dim2D, [x, y, 1], z),
        Some(Dim::Dim3D) => (Dim::Dim3D, [x, y, z], 1),
        Some(Dim::Cube) => (Dim::Cube, [cube, cube, 1], 1),
        Some(_) | None => return refused("an image with this dimensionality"),
    };
    let layers = match (dim, ty.arrayed) {
        (Dim::Cube, false) => 6,
        (Dim::Cube, true) => 6 * LAYERS,
        (_, true) => layers.max(LAYERS),
        (_, false) => 1,
    };
    let samples = samples(ty.multisampled, form.samples)?;
    // Only these may have several levels on every device.
    let levels = match form.levels {
        Some(levels) => levels,
        None if samples > 1 => 1,
        None if fetched && matches!(dim, Dim::Dim2D | Dim::Dim3D) && extent.iter().any(|&n| n > 1) => LEVELS,
        None => 1,
    };
    let shown = if ty.arrayed || dim == Dim::Cube { ImageView::REMAINING } else { 1 };
    let layers = form.layers.unwrap_or(layers);
    // VUID-VkImageCreateInfo-mipLevels-00958
    let most = extent.iter().max().map_or(1, |side| side.max(&1).ilog2() + 1);
    if !(1..=most).contains(&levels) || layers == 0 {
        return Err(format!(
            "an image of {extent:?} texels must have 1 to {most} mip levels and at least one layer, not {levels} \
             and {layers}"
        ));
    }
    let view = form.view(ImageView { layers: shown, ..ImageView::ALL }).map_err(|error| error.to_string())?;
    if !view.fits(levels, layers) {
        return Err(format!("the view ({view}) does not fit the image (mip levels: {levels}, layers: {layers})"));
    }
    if samples > 1 && (dim != Dim::Dim2D || levels != 1) {
        return refused("a multisampled image that is not two-dimensional, or that has several mip levels,");
    }
    let image = Image { dim, extent, layers, levels, samples, format, depth, view, data: Vec::new() };
    ImageShape::new(image, ty.arrayed).ok_or_else(unsupported)
}

/// Returns the number of samples of a texel: the `given` one, or the default of a multisampled
/// image.
///
/// # Errors
/// The type of the image does not permit the given number.
fn samples(multisampled: bool, given: Option<u32>) -> Result<u32, String> {
    match given {
        None if multisampled => Ok(SAMPLES),
        None => Ok(1),
        Some(samples) if !multisampled && samples != 1 => {
            Err(format!("the image's type is single-sampled; it cannot have {samples} samples"))
        }
        Some(samples) if multisampled && !(samples.is_power_of_two() && (2..=MAX_SAMPLES).contains(&samples)) => {
            Err(format!("a multisampled image has 2, 4, 8, 16, 32 or {MAX_SAMPLES} samples, not {samples}"))
        }
        Some(samples) => Ok(samples),
    }
}

/// Returns whether every device supports linear filtering of the format.
pub(crate) fn is_filtered(texels: &ImageShape) -> bool {
    use ImageFormat as F;
    let format = texels.without_contents().format;
    let wide = matches!(format, F::R32f | F::Rg32f | F::Rgba32f | F::R16 | F::Rg16 | F::Rgba16);
    let signed = matches!(format, F::R16Snorm | F::Rg16Snorm | F::Rgba16Snorm);
    !TexelFormat::Color(format).is_integer() && !wide && !signed
}

/// Returns contents that identify each texel: every scalar is computed from its index. Floats
/// are finite and normal.
pub(crate) fn pattern(texels: &ImageShape, round: u32, seed: u64) -> Vec<u8> {
    let image = texels.without_contents();
    let first = u64::from(round).wrapping_mul(0x1_0001).wrapping_add(seed);
    scalars(MemoryContents::Texels(texels), texels.bytes(), |_, scalar, index| {
        let number = index.wrapping_add(first);
        let spread = number.wrapping_add(1).wrapping_mul(SPREAD);
        match scalar {
            Scalar::Float(_) if image.depth => u64::from(((spread >> 40) as f32 / (1u32 << 24) as f32).to_bits()),
            // In [1, 2) with either sign, distinct from its neighbours.
            Scalar::Float(format) => {
                let one = format.parse("1").map_or(0, |one| one.bits);
                let fraction: u32 = if format == assay_float::F16 { 10 } else { 23 };
                let sign = (spread & 1) << (scalar.width() - 1);
                one | spread >> (64 - fraction) | sign
            }
            // Fixes the two leading bits of each exponent, so that numbers are normal.
            Scalar::Int { width, .. } if image.format == ImageFormat::R11fG11fB10f => {
                let (set, clear) = (1 << 10 | 1 << 21 | 1 << 31, 1 << 9 | 1 << 20 | 1 << 30);
                spread >> (64 - width) & !clear | set
            }
            Scalar::Int { width, .. } => spread >> (64 - width),
            Scalar::Bool => spread >> 63,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_layout::walk_texels;
    use std::collections::BTreeSet;

    #[test]
    fn patterns_are_distinct_normal_numbers() {
        for format in [ImageFormat::Rgba32f, ImageFormat::Rgba16f, ImageFormat::R11fG11fB10f, ImageFormat::R32ui] {
            let (dim, extent, view, data) = (Dim::Dim2D, [16, 9, 1], ImageView::ALL, Vec::new());
            let image = Image { dim, extent, layers: 1, levels: 1, samples: 1, format, depth: false, view, data };
            let texels = ImageShape::new(image, false).expect("a format of memory");
            let data = pattern(&texels, 0, 0);
            assert_ne!(data, pattern(&texels, 1, 0), "{format:?}: rounds differ");
            let mut seen = BTreeSet::new();
            walk_texels(&texels, texels.bytes(), &mut |element, _| {
                let bits = element.read(&data).expect("inside");
                seen.insert(bits);
                if let Scalar::Float(format) = element.scalar {
                    assert!(format.is_finite(bits) && !format.is_denormal(bits) && !format.is_zero(bits), "{bits:#x}");
                }
                if format == ImageFormat::R11fG11fB10f {
                    let exponents = [bits >> 6 & 31, bits >> 17 & 31, bits >> 27 & 31];
                    assert!(exponents.iter().all(|e| (1..31).contains(e)), "{bits:#x}");
                }
            });
            let scalars = data.len() as u64 / u64::from(texels.scalars()[0].width() / 8);
            assert!(seen.len() as u64 * 10 > scalars * 7, "{format:?}: {} of {scalars}", seen.len());
        }
    }
}
