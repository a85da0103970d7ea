//! Texels of images and texel buffers: their number, contents and layout in memory.

use crate::ImageConfig;
use crate::dispatch_setup::scalars;
use crate::memory_layout::{Element, MemoryContents, PathStep};
use assay_oracle::{Image, texel_scalars};
use assay_precision::Scalar;
use assay_spirv::module::{ImageType, Type};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_spirv::texture_addressing::ImageView;
use assay_vulkan::{ImageDim, ImageSpec, Resource, SamplerSpec, TexelFormat};

/// Mip levels of a sampled image, if its size allows.
const LEVELS: u32 = 2;

/// Smallest side of an image that the shader only reads. A storage image has a texel for each
/// invocation, so that the shader writes most of them.
const SIDE: u32 = 16;

/// Smallest depth of such an image with three dimensions.
const DEPTH: u32 = 4;

/// Smallest number of layers of an array, so that layers can be told apart.
const LAYERS: u32 = 2;

/// Multiplier that spreads an index over 64 bits, so that neighbours differ in their leading bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// An image or texel buffer of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageContents {
    /// Size, format and view, without contents.
    shape: Image,
    dim: ImageDim,
    arrayed: bool,
    /// Scalars of a texel in memory.
    scalars: Vec<Scalar>,
}

impl ImageContents {
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
    pub fn new(
        (ty, sampled): (&ImageType, &Type),
        kind: DescriptorKind,
        size: [u32; 3],
        elements: u64,
        given: Option<u64>,
        (form, filtered, compared): (Option<&ImageConfig>, bool, bool),
    ) -> Result<ImageContents, String> {
        let refused = |what: &str| Err(format!("{what} is not supported"));
        if ty.multisampled {
            return refused("a multisampled image");
        }
        let none = ImageConfig::default();
        let form = form.unwrap_or(&none);
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
        let Some(scalars) = texel_scalars(format) else { return refused("an image with this format") };
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
        let (dim, along, extent, layers) = match ty.dim {
            Some(Dim::Buffer) => {
                let bytes: u64 = scalars.iter().map(|s| u64::from(s.width() / 8)).sum();
                let texels = given.map_or(elements, |given| given / bytes).max(1);
                let Ok(texels) = u32::try_from(texels) else {
                    return refused("a texel buffer with 2^32 or more texels");
                };
                (Dim::Buffer, ImageDim::D1, [texels, 1, 1], 1)
            }
            Some(Dim::Dim1D) => (Dim::Dim1D, ImageDim::D1, [x, 1, 1], y),
            Some(Dim::Dim2D) => (Dim::Dim2D, ImageDim::D2, [x, y, 1], z),
            Some(Dim::Dim3D) => (Dim::Dim3D, ImageDim::D3, [x, y, z], 1),
            Some(Dim::Cube) => (Dim::Cube, ImageDim::Cube, [cube, cube, 1], 1),
            Some(_) | None => return refused("an image with this dimensionality"),
        };
        let layers = match (dim, ty.arrayed) {
            (Dim::Cube, false) => 6,
            (Dim::Cube, true) => 6 * LAYERS,
            (_, true) => layers.max(LAYERS),
            (_, false) => 1,
        };
        // Only these may have several levels on every device.
        let levels = match form.levels {
            Some(levels) => levels,
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
        let shape = Image { dim, extent, layers, levels, format, depth, view, data: Vec::new() };
        Ok(ImageContents { shape, dim: along, arrayed: ty.arrayed, scalars })
    }

    /// Returns whether it is an array image.
    pub fn is_arrayed(&self) -> bool {
        self.arrayed
    }

    /// Returns the size of all levels and layers in bytes, saturating.
    pub fn bytes(&self) -> u64 {
        let texel: u64 = self.scalars.iter().map(|s| u64::from(s.width() / 8)).sum();
        (0..self.shape.levels).fold(0, |bytes, level| {
            let sides = self.shape.extent_of(level).map(u64::from);
            let texels = sides.iter().fold(u64::from(self.shape.layers), |n, side| n.saturating_mul(*side));
            u64::saturating_add(bytes, texels.saturating_mul(texel))
        })
    }

    /// Returns the image with contents.
    pub fn image(&self, data: Vec<u8>) -> Image {
        Image { data, ..self.shape.clone() }
    }

    /// Returns whether every device supports linear filtering of its format.
    pub fn is_filtered(&self) -> bool {
        use ImageFormat as F;
        let wide = matches!(self.shape.format, F::R32f | F::Rg32f | F::Rgba32f | F::R16 | F::Rg16 | F::Rgba16);
        let signed = matches!(self.shape.format, F::R16Snorm | F::Rg16Snorm | F::Rgba16Snorm);
        !TexelFormat::Color(self.shape.format).is_integer() && !wide && !signed
    }

    /// Returns the resource for a device; a combined descriptor includes the sampler.
    pub fn resource(&self, kind: DescriptorKind, sampler: Option<SamplerSpec>) -> Resource {
        let Image { extent, layers, levels, .. } = self.shape;
        let color = TexelFormat::Color(self.shape.format);
        let format = if self.shape.depth { TexelFormat::Depth32 } else { color };
        let spec =
            ImageSpec { dim: self.dim, arrayed: self.arrayed, extent, layers, levels, format, view: self.shape.view };
        match kind {
            DescriptorKind::StorageImage => Resource::StorageImage(spec),
            DescriptorKind::CombinedImageSampler => {
                Resource::CombinedImageSampler(spec, sampler.unwrap_or(SamplerSpec::NEAREST))
            }
            _ if self.shape.dim == Dim::Buffer => {
                let storage = kind == DescriptorKind::StorageTexelBuffer;
                Resource::TexelBuffer { format, texels: extent[0] as usize, storage }
            }
            _ => Resource::SampledImage(spec),
        }
    }

    /// Visits every scalar in `size` bytes in the order of memory: by level, layer and row.
    pub fn walk_scalars<'a>(&self, size: u64, visit: &mut dyn FnMut(Element, &[PathStep<'a>])) {
        const NAMES: [&str; 4] = ["r", "g", "b", "a"];
        let axes = match self.dim {
            ImageDim::D1 => 1,
            ImageDim::D2 | ImageDim::Cube => 2,
            ImageDim::D3 => 3,
        };
        let layered = self.shape.layers > 1 || self.arrayed;
        let mut offset = 0;
        for level in 0..self.shape.levels {
            let [w, h, d] = self.shape.extent_of(level);
            for texel in 0..u64::from(self.shape.layers) * u64::from(d) * u64::from(h) * u64::from(w) {
                let (row, x) = (texel / u64::from(w), (texel % u64::from(w)) as u32);
                let (slice, y) = (row / u64::from(h), (row % u64::from(h)) as u32);
                let (layer, z) = ((slice / u64::from(d)) as u32, (slice % u64::from(d)) as u32);
                let mut at = [x, y, z, 0];
                if layered {
                    at[axes] = layer;
                }
                let place = PathStep::Texel(at, axes + usize::from(layered), level);
                for (i, &scalar) in self.scalars.iter().enumerate() {
                    let element = Element { offset, scalar };
                    offset += element.bytes();
                    if offset > size {
                        return;
                    }
                    let channel = PathStep::Member(i, NAMES.get(i).copied());
                    let path = [place, channel];
                    visit(element, if self.scalars.len() > 1 { &path } else { &path[..1] });
                }
            }
        }
    }

    /// Returns contents that identify each texel: every scalar is computed from its index. Floats
    /// are finite and normal.
    pub fn pattern(&self, round: u32, seed: u64) -> Vec<u8> {
        let first = u64::from(round).wrapping_mul(0x1_0001).wrapping_add(seed);
        scalars(MemoryContents::Texels(self), self.bytes(), |_, scalar, index| {
            let number = index.wrapping_add(first);
            let spread = number.wrapping_add(1).wrapping_mul(SPREAD);
            match scalar {
                Scalar::Float(_) if self.shape.depth => {
                    u64::from(((spread >> 40) as f32 / (1u32 << 24) as f32).to_bits())
                }
                // In [1, 2) with either sign, distinct from its neighbours.
                Scalar::Float(format) => {
                    let one = format.parse("1").map_or(0, |one| one.bits);
                    let fraction: u32 = if format == assay_float::F16 { 10 } else { 23 };
                    let sign = (spread & 1) << (scalar.width() - 1);
                    one | spread >> (64 - fraction) | sign
                }
                // Fixes the two leading bits of each exponent, so that numbers are normal.
                Scalar::Int { width, .. } if self.shape.format == ImageFormat::R11fG11fB10f => {
                    let (set, clear) = (1 << 10 | 1 << 21 | 1 << 31, 1 << 9 | 1 << 20 | 1 << 30);
                    spread >> (64 - width) & !clear | set
                }
                Scalar::Int { width, .. } => spread >> (64 - width),
                Scalar::Bool => spread >> 63,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn texels(format: ImageFormat, dim: (Dim, ImageDim), extent: [u32; 3], layers: u32, levels: u32) -> ImageContents {
        let (depth, view, data) = (false, ImageView::ALL, Vec::new());
        let shape = Image { dim: dim.0, extent, layers, levels, format, depth, view, data };
        let scalars = texel_scalars(format).expect("a format of memory");
        ImageContents { shape, dim: dim.1, arrayed: layers > 1, scalars }
    }

    #[test]
    fn texels_are_ordered_by_level_layer_and_row() {
        let image = texels(ImageFormat::Rg16f, (Dim::Dim2D, ImageDim::D2), [3, 2, 1], 2, 2);
        let mut found = Vec::new();
        image.walk_scalars(image.bytes(), &mut |element, path| found.push((element.offset, crate::path_text(path))));
        assert_eq!((found.len() as u64 * 2, image.bytes()), (56, 56));
        let place = |n: usize| (found[n].0, found[n].1.as_str());
        assert_eq!(place(1), (2, "(0, 0, 0).g"));
        assert_eq!(place(2 * 4), (16, "(1, 1, 0).r"));
        assert_eq!(place(2 * 11), (44, "(2, 1, 1).r"));
        assert_eq!(place(2 * 13), (52, "level 1 (0, 0, 1).r"));
    }

    #[test]
    fn patterns_are_distinct_normal_numbers() {
        for format in [ImageFormat::Rgba32f, ImageFormat::Rgba16f, ImageFormat::R11fG11fB10f, ImageFormat::R32ui] {
            let image = texels(format, (Dim::Dim2D, ImageDim::D2), [16, 9, 1], 1, 1);
            let data = image.pattern(0, 0);
            assert_ne!(data, image.pattern(1, 0), "{format:?}: rounds differ");
            let mut seen = BTreeSet::new();
            image.walk_scalars(image.bytes(), &mut |element, _| {
                let bits = element.read(&data).expect("inside");
                seen.insert(bits);
                if let Scalar::Float(format) = element.scalar {
                    assert!(format.is_finite(bits) && !format.is_denormal(bits) && !format.is_zero(bits), "{bits:#x}");
                }
                if image.shape.format == ImageFormat::R11fG11fB10f {
                    let exponents = [bits >> 6 & 31, bits >> 17 & 31, bits >> 27 & 31];
                    assert!(exponents.iter().all(|e| (1..31).contains(e)), "{bits:#x}");
                }
            });
            let scalars = data.len() as u64 / u64::from(image.scalars[0].width() / 8);
            assert!(seen.len() as u64 * 10 > scalars * 7, "{format:?}: {} of {scalars}", seen.len());
        }
    }
}
