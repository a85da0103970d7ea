//! Image sampling: the texels that a device may select, border colours, and a fast reference for
//! gathers.

pub(crate) mod cube;
mod reference;
pub mod select;

pub use reference::{GatherReference, ReferenceError, Verdict};
pub use select::{Axis, Choice, LevelChoice, Reach};

use crate::texel::Texel;
use assay_precision::Division;
use assay_spirv::tables::ImageFormat;
use assay_texture::{BorderColor, ComponentSource, ImageView};

/// Relative error of texture operations in the lenient reading.
///
/// "Individual results of floating-point operations are accurate to about 1 part in 10^5" is all
/// that Vulkan, "Floating-Point Computation", requires of "texture image specification and
/// sampling".
pub(crate) const ACCURACY: f64 = 1e-5;

/// Relative error of a division in 32-bit floats.
///
/// The text specifies no precision for the divisions of projections and of cube map faces. They get
/// the bound of `OpFDiv` in the table, where an ulp is at most 2^-23 of the value. The remainder
/// covers the division in `f64` here.
pub(crate) const QUOTIENT: f64 = (Division::of(false).ulps + 1e-6) * f32::EPSILON as f64;

/// The border colour in a component (0 to 3) of a view of such texels, as bits of the shader's
/// type. `None` if it is undefined: the colour has another number format, or is opaque black
/// through a swizzle.
pub fn border_bits(format: ImageFormat, view: &ImageView, color: BorderColor, component: usize) -> Option<u64> {
    let texel = Texel::of(format)?;
    let unlike = color.is_integer() != texel.is_integer();
    if unlike || (color.is_undefined_swizzled() && !view.is_identity()) {
        return None;
    }
    Some(match view.component_source(component) {
        // Texels of the border have the channels of the format, like all others.
        ComponentSource::Texel(channel) if channel < texel.channels.len() => texel.whole(color.rgba()[channel]),
        ComponentSource::Texel(channel) => texel.absent(channel),
        ComponentSource::Constant(n) => texel.whole(n),
    })
}
