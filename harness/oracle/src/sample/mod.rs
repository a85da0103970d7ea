//! Sampled images: which texels a device may take, what the border is, and a reference for gathers that is fast.

pub(crate) mod cube;
mod reference;
pub mod select;

pub use reference::{GatherReference, ReferenceError, Verdict};
pub use select::{Axis, Choice, LevelChoice, Reach};

use crate::texel::Texel;
use assay_precision::Division;
use assay_spirv::sampling::{BorderColor, Channel, View};
use assay_spirv::tables::ImageFormat;

/// "Individual results of floating-point operations are accurate to about 1 part in 10^5": all that Vulkan, "Floating-Point
/// Computation", asks of "texture image specification and sampling", and what the lenient reading takes of every such result.
pub(crate) const ACCURACY: f64 = 1e-5;

/// What a division in 32-bit floats may move a quotient by, as a part of it. The text says nothing of the divisions of projections and
/// of cube map faces, so they get what the table says of `OpFDiv`, where a unit in the last place is at most 2^-23 of the value; and a
/// little for dividing in `f64` here.
pub(crate) const QUOTIENT: f64 = (Division::of(false).ulps + 1e-6) * f32::EPSILON as f64;

/// What a border colour is to a component (0 to 3) of a view of such texels, as bits of the type that a shader sees; `None`
/// where that is undefined: the colour is of another kind of numbers, or opaque black through a swizzle.
pub fn border_bits(format: ImageFormat, view: &View, color: BorderColor, component: usize) -> Option<u64> {
    let texel = Texel::of(format)?;
    let unlike = color.is_integer() != texel.is_integer();
    if unlike || (color.is_undefined_swizzled() && !view.is_identity()) {
        return None;
    }
    Some(match view.channel(component) {
        // Texels of the border have the channels of the format, like all others.
        Channel::Texel(channel) if channel < texel.channels.len() => texel.whole(color.rgba()[channel]),
        Channel::Texel(channel) => texel.absent(channel),
        Channel::Constant(n) => texel.whole(n),
    })
}
