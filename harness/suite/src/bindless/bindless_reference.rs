//! Independent reference: determines image, texel and value in plain Rust that shares no code with
//! the oracle and the lowering.

use super::bindless_params::{BindlessParams, EDGES, HandleSource, IMAGES, INVOCATIONS, ImageOperation, SamplerSet};
use super::bindless_program::{IMAGES_AT, OTHERS_AT, SAMPLED_AT};
use assay_oracle::{Dispatch, Resource, Slot};
use assay_spirv::tables::ImageFormat;
use assay_texture::AddressMode;
use std::collections::BTreeMap;

/// Numeric interpretation of a format's channels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NumericFormat {
    Uint,
    Sint,
    Float,
    Unorm,
}

/// The channels of a format.
pub(super) struct ChannelLayout {
    pub(super) channels: usize,
    /// Bytes of each channel.
    pub(super) bytes: usize,
    pub(super) numbers: NumericFormat,
}

/// Returns the channels of a format.
pub(super) fn layout(format: ImageFormat) -> ChannelLayout {
    use ImageFormat as F;
    let (channels, bytes, numbers) = match format {
        F::Rgba32ui => (4, 4, NumericFormat::Uint),
        F::Rgba16ui => (4, 2, NumericFormat::Uint),
        F::Rgba8ui => (4, 1, NumericFormat::Uint),
        F::R32ui => (1, 4, NumericFormat::Uint),
        F::Rgba32i => (4, 4, NumericFormat::Sint),
        F::Rgba16i => (4, 2, NumericFormat::Sint),
        F::Rgba8i => (4, 1, NumericFormat::Sint),
        F::R32i => (1, 4, NumericFormat::Sint),
        F::Rgba32f => (4, 4, NumericFormat::Float),
        F::Rgba16f => (4, 2, NumericFormat::Float),
        F::R32f => (1, 4, NumericFormat::Float),
        F::Rgba8 => (4, 1, NumericFormat::Unorm),
        other => unreachable!("no case of this suite has texels of {other:?}"),
    };
    ChannelLayout { channels, bytes, numbers }
}

/// The bytes of a texel: any bits for integers, floats between 1 and 4.
pub(super) fn raw(format: ImageFormat, image: usize, texel: usize) -> Vec<u8> {
    let ChannelLayout { channels, bytes, numbers } = layout(format);
    let channel = |c: usize| {
        let mixed = (texel * 4 + c + 1).wrapping_mul(0x9e37_79b9).wrapping_add((image + 1).wrapping_mul(0x85eb_ca6b));
        let mixed = (mixed ^ mixed >> 15) as u32;
        let bits = match (numbers, bytes) {
            (NumericFormat::Float, 4) => 0x3f80_0000 + (mixed & 0x00ff_ffff),
            (NumericFormat::Float, _) => 0x3c00 + (mixed & 0x07ff),
            _ => mixed,
        };
        bits.to_le_bytes()[..bytes].to_vec()
    };
    (0..channels).flat_map(channel).collect()
}

/// The components of a texel as the kernel reads them, as bits.
pub(super) fn components(format: ImageFormat, raw: &[u8]) -> [u32; 4] {
    let ChannelLayout { channels, bytes, numbers } = layout(format);
    let float = matches!(numbers, NumericFormat::Float | NumericFormat::Unorm);
    std::array::from_fn(|c| {
        if c >= channels {
            return match (c, float) {
                (3, true) => 1f32.to_bits(),
                (3, false) => 1,
                _ => 0,
            };
        }
        let bits = raw[c * bytes..][..bytes].iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        match (numbers, bytes) {
            (NumericFormat::Sint, bytes) => {
                let shift = 32 - 8 * bytes as u32;
                ((bits << shift) as i32 >> shift) as u32
            }
            (NumericFormat::Unorm, _) => (bits as f32 / 255.0).to_bits(),
            // Half-precision values between 1 and 4.
            (NumericFormat::Float, 2) => {
                let fraction = 1.0 + f64::from(bits & 0x3ff) / 1024.0;
                ((fraction * f64::from(1u32 << ((bits >> 10) - 15))) as f32).to_bits()
            }
            _ => bits,
        }
    })
}

/// Applies the wrapping equations of the specification; `None` is the border.
fn wrap(mode: AddressMode, i: i64, n: i64) -> Option<i64> {
    let mirror = |a: i64| if a >= 0 { a } else { -(1 + a) };
    match mode {
        AddressMode::Repeat => Some(i - n * (i as f64 / n as f64).floor() as i64),
        AddressMode::MirroredRepeat => {
            let modulo = i - 2 * n * (i as f64 / (2 * n) as f64).floor() as i64;
            Some((n - 1) - mirror(modulo - n))
        }
        AddressMode::ClampToBorder => (0..n).contains(&i).then_some(i),
        _ => Some(i.max(0).min(n - 1)),
    }
}

/// The index of a texel in its image.
fn number(sides: &[u32], at: &[i64]) -> usize {
    sides.iter().zip(at).rev().fold(0, |number, (side, at)| number * *side as usize + *at as usize)
}

impl BindlessParams {
    /// The result of an invocation on an image.
    fn result(&self, invocation: usize, image: usize, texels: &[u8]) -> [u32; 4] {
        let sides = self.shape.sides(image);
        if self.access == ImageOperation::Size {
            let mut size: Vec<u32> = sides;
            if self.shape.cubes() {
                // The size of a cube array counts cubes; the size of a cube has no layers.
                let faces = size.pop().unwrap_or(0);
                size.extend(self.shape.arrayed().then_some(faces / 6));
            }
            size.resize(4, 0);
            return [size[0], size[1], size[2], size[3]];
        }
        let mut at = self.texel(invocation);
        if self.access.samples() && !self.shape.cubes() {
            let by =
                if self.access == ImageOperation::Sampled { image } else { BindlessParams::sampler_index(invocation) };
            let mode = match self.samplers {
                SamplerSet::Edges => EDGES[by],
                SamplerSet::Unnormalized => [AddressMode::ClampToEdge, AddressMode::ClampToBorder][by % 2],
            };
            let axes = sides.len() - usize::from(self.shape.layered());
            for k in 0..axes {
                match wrap(mode, at[k], i64::from(sides[k])) {
                    Some(inside) => at[k] = inside,
                    None => return self.white(),
                }
            }
        }
        let ChannelLayout { channels, bytes, .. } = layout(self.format);
        let from = number(&sides, &at) * channels * bytes;
        components(self.format, &texels[from..from + channels * bytes])
    }

    /// The border colour.
    fn white(&self) -> [u32; 4] {
        let one = if self.float() { 1f32.to_bits() } else { 1 };
        let channels = layout(self.format).channels;
        std::array::from_fn(|c| if c < channels || c == 3 { one } else { 0 })
    }
}

/// Computes the contents after a dispatch: of the results' buffer, or of the written images.
pub(super) fn memory_after(
    params: BindlessParams,
    results: Option<u32>,
) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync {
    move |dispatch| {
        let slot = |binding: u32, element: usize| Slot { set: 1, binding, element: element as u32 };
        let texels = |slot: Slot| match dispatch.bindings.get(&slot) {
            Some(Resource::Image(image) | Resource::CombinedImageSampler(image, _)) => image.data.clone(),
            _ => Vec::new(),
        };
        let from = if params.access.brings_sampler() { SAMPLED_AT } else { IMAGES_AT };
        let mut images: Vec<Vec<u8>> = (0..IMAGES).map(|k| texels(slot(from, k))).collect();
        if let Some(results) = results {
            let found = (0..INVOCATIONS).flat_map(|i| match params.source {
                HandleSource::Loop => (0..IMAGES)
                    .map(|k| params.result(i, k, &images[k]))
                    .fold([0; 4], |sum: [u32; 4], next| std::array::from_fn(|c| sum[c].wrapping_add(next[c]))),
                _ => params.result(i, params.image(i), &images[params.image(i)]),
            });
            return BTreeMap::from([(Slot::new(0, results), found.flat_map(u32::to_le_bytes).collect())]);
        }
        let ChannelLayout { channels, bytes, .. } = layout(params.format);
        let size = channels * bytes;
        let mut others: Vec<Vec<u8>> = match params.access {
            ImageOperation::Copy => (0..IMAGES).map(|k| texels(slot(OTHERS_AT, k))).collect(),
            _ => Vec::new(),
        };
        for i in 0..INVOCATIONS {
            let image = params.image(i);
            let at = number(&params.shape.sides(image), &params.texel(i)) * size;
            let texel = images[image][at..at + size].to_vec();
            let put = |images: &mut [Vec<u8>], texel: &[u8]| images[image][at..at + size].copy_from_slice(texel);
            match params.access {
                ImageOperation::Copy => put(&mut others, &texel),
                ImageOperation::ReadWrite => {
                    let reversed: Vec<u8> = texel.chunks(bytes).rev().flatten().copied().collect();
                    put(&mut images, &reversed);
                }
                _ => put(&mut images, &raw(params.format, IMAGES, i)),
            }
        }
        let mut left = BTreeMap::new();
        for (binding, images) in [(IMAGES_AT, images), (OTHERS_AT, others)] {
            left.extend((0..).zip(images).map(|(k, texels)| (slot(binding, k), texels)));
        }
        left
    }
}
