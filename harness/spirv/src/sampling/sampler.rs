//! The state of a sampler.

use super::{AddressMode, BorderColor};

/// A depth comparison: the reference is its left operand, the texel its right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Whether it holds between operands in that order.
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

/// A sampler. Levels of detail are neither biased nor clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// `VK_FILTER_LINEAR` within a level, else `VK_FILTER_NEAREST`.
    pub linear: bool,
    /// `VK_SAMPLER_MIPMAP_MODE_LINEAR`, else nearest.
    pub mipmap_linear: bool,
    /// For u, v and w.
    pub address: [AddressMode; 3],
    /// What lies beyond the edge where that is the border.
    pub border: BorderColor,
    /// The comparison of a comparing sampler.
    pub compare: Option<CompareOp>,
    /// Coordinates are in texels.
    pub unnormalized: bool,
}

impl Sampler {
    /// Nearest, clamped to the edge.
    pub const NEAREST: Sampler = Sampler {
        linear: false,
        mipmap_linear: false,
        address: [AddressMode::ClampToEdge; 3],
        border: BorderColor::FloatTransparentBlack,
        compare: None,
        unnormalized: false,
    };
}
