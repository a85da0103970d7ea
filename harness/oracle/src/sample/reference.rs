//! Reference for gathers without the interpreter: whole results for many positions.
//!
//! Texels are converted once, so a position costs its coordinates and four comparisons. The
//! interpreter gives one set for each component. This reference compares all four components for
//! one choice of the origin.

use super::border_bits;
use super::select::{Axis, Reach, is_representable, layers};
use crate::dispatch::{Filtering, Image};
use crate::texel::{Coding, Texel};
use crate::ty::{Fmt, mask};
use assay_float::{F32, Rank};
use assay_spirv::tables::Dim;
use assay_texture::{ComponentSource, GatherMode, Sampler};

/// The verdict on the result of a gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Permitted.
    Permitted,
    /// Permitted in the lenient reading only.
    Lenient,
    /// Not permitted.
    Refused,
}

/// An image for which there is no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no gathers from {what}")]
pub struct ReferenceError {
    what: String,
}

/// The possible values of a texel component in the shader, in the order of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    usual: (i32, i32),
    lenient: (i32, i32),
}

impl Span {
    const ANYTHING: Span = Span { usual: (i32::MIN, i32::MAX), lenient: (i32::MIN, i32::MAX) };

    #[inline]
    fn has(&self, key: i32, reach: Reach) -> bool {
        let (lo, hi) = match reach {
            Reach::Usual => self.usual,
            Reach::Lenient => self.lenient,
        };
        lo <= key && key <= hi
    }
}

/// The permitted results of gathers of one component of an image through a sampler.
#[derive(Clone, Debug)]
pub struct GatherReference {
    sampler: Sampler,
    filtering: Filtering,
    size: [u32; 2],
    layers: u32,
    arrayed: bool,
    float: bool,
    /// Layer by layer, row by row.
    texels: Vec<Span>,
    border: Span,
}

impl GatherReference {
    /// The reference for a component (0 to 3) of a two-dimensional image. `arrayed`: the shader
    /// sees layers.
    ///
    /// # Errors
    /// The image is not two-dimensional, is a depth image, has channels of 64 bits, or its data
    /// does not match its size.
    pub fn new(
        image: &Image,
        arrayed: bool,
        sampler: &Sampler,
        component: usize,
        filtering: Filtering,
    ) -> Result<GatherReference, ReferenceError> {
        let none = |what: &str| ReferenceError { what: what.to_owned() };
        let texel = Texel::of(image.format).ok_or_else(|| none("an unknown format"))?;
        if image.dim != Dim::Dim2D || !image.view.fits(image.levels, image.layers) {
            return Err(none("an image that is not two-dimensional, or a view that does not fit it"));
        }
        if image.depth {
            return Err(none("an image of depths"));
        }
        if texel.channels.iter().any(|(_, width)| *width > 32) {
            return Err(none("channels of 64 bits"));
        }
        let bytes = texel.bytes as usize;
        if image.data.len() as u64 != image.samples_before(image.levels).saturating_mul(bytes as u64) {
            return Err(none("an image with other texels than its size says"));
        }
        let [w, h, _] = image.extent_shown(0);
        let count = image.layers_shown();
        let float = !texel.is_integer();
        let exact = |bits: u64| span_of(float, bits, bits);
        let of = |data: &[u8]| match image.view.component_source(component) {
            ComponentSource::Constant(n) => exact(texel.whole(n)),
            ComponentSource::Texel(channel) => match texel.channels.get(channel) {
                None => exact(texel.absent(channel)),
                Some(&(first, width)) => {
                    let word = data.iter().rev().fold(0u128, |word, byte| word << 8 | u128::from(*byte));
                    channel_span(&texel, channel, (word >> first) as u64 & mask(width))
                }
            },
        };
        let mut texels = Vec::with_capacity((w * h * count) as usize);
        for layer in 0..count {
            for y in 0..h {
                for x in 0..w {
                    let at = image.texel_shown(0, layer, [x, y, 0]) as usize * bytes;
                    texels.push(of(&image.data[at..at + bytes]));
                }
            }
        }
        let border = border_bits(image.format, &image.view, sampler.border, component);
        Ok(GatherReference {
            sampler: *sampler,
            filtering,
            size: [w, h],
            layers: count,
            arrayed,
            float,
            texels,
            border: border.map_or(Span::ANYTHING, exact),
        })
    }

    /// Judges the result of a gather at `[u, v, layer]` with an offset: four words as the shader
    /// has them.
    #[inline]
    pub fn judge(&self, mode: GatherMode, at: [f32; 3], offset: [i32; 2], got: [u32; 4]) -> Verdict {
        let key = |bits: u32| {
            if !self.float {
                return bits.cast_signed();
            }
            // The rank of the pattern.
            if bits >> 31 == 1 { !(bits & 0x7fff_ffff).cast_signed() } else { bits.cast_signed() }
        };
        let keys = got.map(key);
        if !at.iter().all(|c| c.is_finite()) {
            return Verdict::Permitted;
        }
        let axes = [self.axis(0, at[0]), self.axis(1, at[1])];
        if axes.iter().any(Axis::is_lost) {
            return Verdict::Permitted;
        }
        let layer = f64::from(at[2]);
        let ranges = [axes[0].scaled(), axes[1].scaled(), (layer, layer)];
        if self.holds(mode, (&axes, layer), offset, keys, Reach::Usual) {
            Verdict::Permitted
        } else if !ranges.into_iter().all(is_representable)
            || self.holds(mode, (&axes, layer), offset, keys, Reach::Lenient)
        {
            Verdict::Lenient
        } else {
            Verdict::Refused
        }
    }

    #[inline]
    fn axis(&self, k: usize, coordinate: f32) -> Axis {
        let coordinate = f64::from(coordinate);
        Axis {
            coordinate: (coordinate, coordinate),
            size: self.size[k],
            unnormalized: self.sampler.unnormalized,
            address: self.sampler.address[k],
        }
    }

    #[inline]
    fn holds(
        &self,
        mode: GatherMode,
        (axes, layer): (&[Axis; 2], f64),
        offset: [i32; 2],
        got: [i32; 4],
        reach: Reach,
    ) -> bool {
        let [us, vs] = axes.map(|axis| axis.texels(mode.origin(), reach, self.filtering));
        let ls = if self.arrayed { layers((layer, layer), self.layers, reach) } else { (0, 0) };
        let offsets = mode.offsets();
        for l in ls.0..=ls.1 {
            for j in vs.0..=vs.1 {
                for i in us.0..=us.1 {
                    let fits = offsets.iter().zip(got).all(|([dx, dy], got)| {
                        let (x, y) = (i + i64::from(offset[0] + dx), j + i64::from(offset[1] + dy));
                        self.span(x, y, l).has(got, reach)
                    });
                    if fits {
                        return true;
                    }
                }
            }
        }
        false
    }

    #[inline]
    fn span(&self, x: i64, y: i64, layer: u32) -> &Span {
        let [w, h] = self.size;
        let [u, v, _] = self.sampler.address;
        match (u.texel(x, w), v.texel(y, h)) {
            (Some(x), Some(y)) => self.texels.get((x + w * (y + h * layer)) as usize).unwrap_or(&Span::ANYTHING),
            _ => &self.border,
        }
    }
}

/// The span between two bit patterns of the shader's type.
fn span_of(float: bool, lo: u64, hi: u64) -> Span {
    let key = |bits: u64| if float { F32.rank(bits) as i32 } else { (bits as u32).cast_signed() };
    let usual = (key(lo), key(hi));
    Span { usual, lenient: usual }
}

/// The possible values of a channel in the shader.
fn channel_span(texel: &Texel, channel: usize, bits: u64) -> Span {
    let range = |lenient: bool| -> Option<(Rank, Rank)> {
        let found = texel.read(channel, bits, lenient);
        found.value.floats(found.bits, Fmt::F32).ok()?.hull()
    };
    if matches!(texel.coding, Coding::Uint | Coding::Sint) {
        let exact = texel.read(channel, bits, false).bits;
        return span_of(false, exact, exact);
    }
    let (Some(usual), Some(lenient)) = (range(false), range(true)) else { return Span::ANYTHING };
    // Special values may be changed.
    let special = |rank: Rank| !F32.is_finite(F32.bits(rank)) || F32.is_denormal(F32.bits(rank));
    if [usual.0, usual.1].into_iter().any(special) {
        return Span::ANYTHING;
    }
    let narrow = |(lo, hi): (Rank, Rank)| (lo as i32, hi as i32);
    Span { usual: narrow(usual), lenient: narrow(lenient) }
}
