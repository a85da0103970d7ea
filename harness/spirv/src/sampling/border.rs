//! Border colours.

use std::fmt;

/// What texels beyond the edge are under [`AddressMode::ClampToBorder`](super::AddressMode::ClampToBorder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// All of them.
    pub const ALL: [BorderColor; 6] = [
        BorderColor::FloatTransparentBlack,
        BorderColor::IntTransparentBlack,
        BorderColor::FloatOpaqueBlack,
        BorderColor::IntOpaqueBlack,
        BorderColor::FloatOpaqueWhite,
        BorderColor::IntOpaqueWhite,
    ];

    /// Whether it is for images of integers.
    pub fn is_integer(self) -> bool {
        matches!(self, BorderColor::IntTransparentBlack | BorderColor::IntOpaqueBlack | BorderColor::IntOpaqueWhite)
    }

    /// Red, green, blue and alpha: 0 or 1 each.
    pub fn rgba(self) -> [u32; 4] {
        match self {
            BorderColor::FloatTransparentBlack | BorderColor::IntTransparentBlack => [0; 4],
            BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack => [0, 0, 0, 1],
            BorderColor::FloatOpaqueWhite | BorderColor::IntOpaqueWhite => [1; 4],
        }
    }

    /// Whether a view whose swizzle is not the identity leaves what is sampled undefined.
    pub fn is_undefined_swizzled(self) -> bool {
        matches!(self, BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack)
    }

    /// Its name in names of cases, without the kind of numbers: `transparent_black`, ..
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
