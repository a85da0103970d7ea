//! What a case needs of a device.

use std::fmt;

/// Something that a device must have, by the registry's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// A feature: `shaderFloat16`.
    Feature(&'static str),
    /// A property that is a truth value: `shaderDenormPreserve` for a width in bits.
    FloatControl {
        /// Its name without the width.
        property: &'static str,
        /// 16, 32 or 64.
        width: u32,
    },
    /// Bits of `subgroupSupportedOperations`.
    SubgroupOperation {
        /// The name of the bit.
        name: &'static str,
        /// Its value.
        bit: u64,
    },
    /// The largest subgroup that a shader copes with.
    SubgroupSizeAtMost(u32),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Feature(name) | Need::SubgroupOperation { name, .. } => f.write_str(name),
            Need::FloatControl { property, width } => write!(f, "{property}Float{width}"),
            Need::SubgroupSizeAtMost(size) => write!(f, "maxSubgroupSize <= {size}"),
        }
    }
}
