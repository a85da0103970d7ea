//! What shaders, devices and references have to agree on about sampled images: states of samplers and views, and the few
//! rules that pick a texel. No values of texels are known here.

mod address;
mod border;
mod footprint;
mod sampler;
mod view;

pub use address::AddressMode;
pub use border::BorderColor;
pub use footprint::{GatherMode, Origin};
pub use sampler::{CompareOp, Sampler};
pub use view::{Channel, Swizzle, View};
