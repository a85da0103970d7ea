//! The state of a sampler.

use super::{AddressMode, BorderColor};
use serde::{Deserialize, Serialize};

/// A depth comparison, with the reference as its left operand and the texel as its right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of VkCompareOp")]
pub enum CompareOp {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

impl CompareOp {
    /// Returns true if the comparison holds between operands in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            CompareOp::Never => false,
            CompareOp::Less => order.is_lt(),
            CompareOp::Equal => order.is_eq(),
            CompareOp::LessOrEqual => order.is_le(),
            CompareOp::Greater => order.is_gt(),
            CompareOp::NotEqual => order.is_ne(),
            CompareOp::GreaterOrEqual => order.is_ge(),
            CompareOp::Always => true,
        }
    }
}

/// A sampler, without bias or clamp of the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sampler {
    /// Set for `VK_FILTER_LINEAR` within a level; otherwise `VK_FILTER_NEAREST`.
    pub linear: bool,
    /// Set for `VK_SAMPLER_MIPMAP_MODE_LINEAR`; otherwise nearest.
    pub mipmap_linear: bool,
    /// Address modes for u, v and w.
    pub address: [AddressMode; 3],
    /// Colour outside the image, for address modes that use the border.
    pub border: BorderColor,
    /// The comparison of a depth-comparison sampler.
    pub compare: Option<CompareOp>,
    /// Set if coordinates are in texels.
    pub unnormalized: bool,
}

impl Sampler {
    /// Nearest filtering, clamped to the edge.
    pub const NEAREST: Sampler = Sampler {
        linear: false,
        mipmap_linear: false,
        address: [AddressMode::ClampToEdge; 3],
        border: BorderColor::FloatTransparentBlack,
        compare: None,
        unnormalized: false,
    };
}
