//! Image sampling state that shaders, devices and references share: samplers, views, and the rules
//! that select a texel. Texel values are not part of it.

mod address;
mod border;
mod footprint;
mod sampler;
mod texel_format;
mod view;

pub use address::AddressMode;
pub use border::BorderColor;
pub use footprint::{FootprintOrigin, GatherMode};
pub use sampler::{CompareOp, Sampler};
pub use texel_format::TexelFormat;
pub use view::{ComponentSource, ImageView, Swizzle};
