//! Border colours.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Colour of texels outside the image under
/// [`AddressMode::ClampToBorder`](super::AddressMode::ClampToBorder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of VkBorderColor")]
pub enum BorderColor {
    #[default]
    FloatTransparentBlack,
    IntTransparentBlack,
    FloatOpaqueBlack,
    IntOpaqueBlack,
    FloatOpaqueWhite,
    IntOpaqueWhite,
}

impl BorderColor {
    /// All border colours.
    pub const ALL: [BorderColor; 6] = [
        BorderColor::FloatTransparentBlack,
        BorderColor::IntTransparentBlack,
        BorderColor::FloatOpaqueBlack,
        BorderColor::IntOpaqueBlack,
        BorderColor::FloatOpaqueWhite,
        BorderColor::IntOpaqueWhite,
    ];

    /// Returns true for the colours of integer images.
    pub fn is_integer(self) -> bool {
        matches!(self, BorderColor::IntTransparentBlack | BorderColor::IntOpaqueBlack | BorderColor::IntOpaqueWhite)
    }

    /// Returns red, green, blue and alpha, each 0 or 1.
    pub fn rgba(self) -> [u32; 4] {
        match self {
            BorderColor::FloatTransparentBlack | BorderColor::IntTransparentBlack => [0; 4],
            BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack => [0, 0, 0, 1],
            BorderColor::FloatOpaqueWhite | BorderColor::IntOpaqueWhite => [1; 4],
        }
    }

    /// Returns true if sampling this colour through a view with a swizzle other than the identity
    /// gives an undefined value.
    pub fn is_undefined_swizzled(self) -> bool {
        matches!(self, BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack)
    }

    /// Returns its name in case names, such as `transparent_black`, which does not tell integers
    /// from floats.
    pub fn name(self) -> &'static str {
        match self {
            BorderColor::FloatTransparentBlack | BorderColor::IntTransparentBlack => "transparent_black",
            BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack => "opaque_black",
            BorderColor::FloatOpaqueWhite | BorderColor::IntOpaqueWhite => "opaque_white",
        }
    }
}

impl fmt::Display for BorderColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", if self.is_integer() { "int" } else { "float" }, self.name())
    }
}
