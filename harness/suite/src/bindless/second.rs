//! The second reference: which image, which texel, and what it is, in plain Rust that shares nothing with the oracle and the
//! lowering.

use super::form::{Access, EDGES, Form, IMAGES, INVOCATIONS, Pick, Samplers};
use super::program::{IMAGES_AT, OTHERS_AT, SAMPLED_AT};
use assay_oracle::{Dispatch, Resource, Slot};
use assay_spirv::sampling::AddressMode;
use assay_spirv::tables::ImageFormat;
use std::collections::BTreeMap;

/// What channels of a format are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Uint,
    Sint,
    Float,
    Unorm,
}

/// Channels of a format, bytes of each, and what they are.
pub(super) fn layout(format: ImageFormat) -> (usize, usize, Numbers) {
    use ImageFormat as F;
    match format {
        F::Rgba32ui => (4, 4, Numbers::Uint),
        F::Rgba16ui => (4, 2, Numbers::Uint),
        F::Rgba8ui => (4, 1, Numbers::Uint),
        F::R32ui => (1, 4, Numbers::Uint),
        F::Rgba32i => (4, 4, Numbers::Sint),
        F::Rgba16i => (4, 2, Numbers::Sint),
        F::Rgba8i => (4, 1, Numbers::Sint),
        F::R32i => (1, 4, Numbers::Sint),
        F::Rgba32f => (4, 4, Numbers::Float),
        F::Rgba16f => (4, 2, Numbers::Float),
        F::R32f => (1, 4, Numbers::Float),
        F::Rgba8 => (4, 1, Numbers::Unorm),
        other => unreachable!("no case of this suite has texels of {other:?}"),
    }
}

/// The bytes of a texel: any for integers, between 1 and 4 for floats.
pub(super) fn raw(format: ImageFormat, image: usize, texel: usize) -> Vec<u8> {
    let (channels, bytes, numbers) = layout(format);
    let channel = |c: usize| {
        let mixed = (texel * 4 + c + 1).wrapping_mul(0x9e37_79b9).wrapping_add((image + 1).wrapping_mul(0x85eb_ca6b));
        let mixed = (mixed ^ mixed >> 15) as u32;
        let bits = match (numbers, bytes) {
            (Numbers::Float, 4) => 0x3f80_0000 + (mixed & 0x00ff_ffff),
            (Numbers::Float, _) => 0x3c00 + (mixed & 0x07ff),
            _ => mixed,
        };
        bits.to_le_bytes()[..bytes].to_vec()
    };
    (0..channels).flat_map(channel).collect()
}

/// A texel's components, as bits of what a kernel has them as.
pub(super) fn components(format: ImageFormat, raw: &[u8]) -> [u32; 4] {
    let (channels, bytes, numbers) = layout(format);
    let float = matches!(numbers, Numbers::Float | Numbers::Unorm);
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
            (Numbers::Sint, bytes) => {
                let shift = 32 - 8 * bytes as u32;
                ((bits << shift) as i32 >> shift) as u32
            }
            (Numbers::Unorm, _) => (bits as f32 / 255.0).to_bits(),
            // Halves between 1 and 4.
            (Numbers::Float, 2) => {
                let fraction = 1.0 + f64::from(bits & 0x3ff) / 1024.0;
                ((fraction * f64::from(1u32 << ((bits >> 10) - 15))) as f32).to_bits()
            }
            _ => bits,
        }
    })
}

/// By the wrapping equations of the specification; `None` is the border.
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

/// Where a texel lies among those of its image.
fn number(sides: &[u32], at: &[i64]) -> usize {
    sides.iter().zip(at).rev().fold(0, |number, (side, at)| number * *side as usize + *at as usize)
}

impl Form {
    /// What an invocation finds in an image.
    fn found(&self, invocation: usize, image: usize, texels: &[u8]) -> [u32; 4] {
        let sides = self.shape.sides(image);
        if self.access == Access::Size {
            let mut size: Vec<u32> = sides;
            if self.shape.cubes() {
                // Faces are not told; of an array, its cubes are.
                let faces = size.pop().unwrap_or(0);
                size.extend(self.shape.arrayed().then_some(faces / 6));
            }
            size.resize(4, 0);
            return [size[0], size[1], size[2], size[3]];
        }
        let mut at = self.texel(invocation);
        if self.access.samples() && !self.shape.cubes() {
            let by = if self.access == Access::Sampled { image } else { Form::by(invocation) };
            let mode = match self.samplers {
                Samplers::Edges => EDGES[by],
                Samplers::Unnormalized => [AddressMode::ClampToEdge, AddressMode::ClampToBorder][by % 2],
            };
            let axes = sides.len() - usize::from(self.shape.layered());
            for k in 0..axes {
                match wrap(mode, at[k], i64::from(sides[k])) {
                    Some(inside) => at[k] = inside,
                    None => return self.white(),
                }
            }
        }
        let (channels, bytes, _) = layout(self.format);
        let from = number(&sides, &at) * channels * bytes;
        components(self.format, &texels[from..from + channels * bytes])
    }

    /// The border.
    fn white(&self) -> [u32; 4] {
        let one = if self.float() { 1f32.to_bits() } else { 1 };
        let channels = layout(self.format).0;
        std::array::from_fn(|c| if c < channels || c == 3 { one } else { 0 })
    }
}

/// What a dispatch leaves: texels in the results' buffer, or in images.
pub(super) fn left(form: Form, results: Option<u32>) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync {
    move |dispatch| {
        let slot = |binding: u32, element: usize| Slot { set: 1, binding, element: element as u32 };
        let texels = |slot: Slot| match dispatch.bindings.get(&slot) {
            Some(Resource::Image(image) | Resource::CombinedImageSampler(image, _)) => image.data.clone(),
            _ => Vec::new(),
        };
        let from = if form.access.brings_sampler() { SAMPLED_AT } else { IMAGES_AT };
        let mut images: Vec<Vec<u8>> = (0..IMAGES).map(|k| texels(slot(from, k))).collect();
        if let Some(results) = results {
            let found = (0..INVOCATIONS).flat_map(|i| match form.pick {
                Pick::Loop => (0..IMAGES)
                    .map(|k| form.found(i, k, &images[k]))
                    .fold([0; 4], |sum: [u32; 4], next| std::array::from_fn(|c| sum[c].wrapping_add(next[c]))),
                _ => form.found(i, form.image(i), &images[form.image(i)]),
            });
            return BTreeMap::from([(Slot::new(0, results), found.flat_map(u32::to_le_bytes).collect())]);
        }
        let (channels, bytes, _) = layout(form.format);
        let size = channels * bytes;
        let mut others: Vec<Vec<u8>> = match form.access {
            Access::Copy => (0..IMAGES).map(|k| texels(slot(OTHERS_AT, k))).collect(),
            _ => Vec::new(),
        };
        for i in 0..INVOCATIONS {
            let image = form.image(i);
            let at = number(&form.shape.sides(image), &form.texel(i)) * size;
            let texel = images[image][at..at + size].to_vec();
            let put = |images: &mut [Vec<u8>], texel: &[u8]| images[image][at..at + size].copy_from_slice(texel);
            match form.access {
                Access::Copy => put(&mut others, &texel),
                Access::ReadWrite => {
                    let reversed: Vec<u8> = texel.chunks(bytes).rev().flatten().copied().collect();
                    put(&mut images, &reversed);
                }
                _ => put(&mut images, &raw(form.format, IMAGES, i)),
            }
        }
        let mut left = BTreeMap::new();
        for (binding, images) in [(IMAGES_AT, images), (OTHERS_AT, others)] {
            left.extend((0..).zip(images).map(|(k, texels)| (slot(binding, k), texels)));
        }
        left
    }
}
