//! Storage formats of texels.

use assay_spirv::tables::ImageFormat;
use serde::{Deserialize, Serialize};

/// Storage format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TexelFormat {
    /// One of SPIR-V's image formats; not `Unknown`.
    Color(ImageFormat),
    /// `VK_FORMAT_D32_SFLOAT`, for depth comparison.
    Depth32,
    /// `VK_FORMAT_S8_UINT`.
    Stencil8,
}

impl TexelFormat {
    /// Returns the bytes of a texel; zero for `Unknown`, which is not a memory format.
    #[must_use]
    pub fn bytes(self) -> usize {
        use ImageFormat as F;
        match self {
            TexelFormat::Depth32 => 4,
            TexelFormat::Stencil8 => 1,
            TexelFormat::Color(format) => match format {
                F::Unknown => 0,
                F::R8 | F::R8Snorm | F::R8i | F::R8ui => 1,
                F::Rg8 | F::Rg8Snorm | F::Rg8i | F::Rg8ui => 2,
                F::R16f | F::R16 | F::R16Snorm | F::R16i | F::R16ui => 2,
                F::Rgba8 | F::Rgba8Snorm | F::Rgba8i | F::Rgba8ui => 4,
                F::Rg16f | F::Rg16 | F::Rg16Snorm | F::Rg16i | F::Rg16ui => 4,
                F::R32f | F::R32i | F::R32ui => 4,
                F::R11fG11fB10f | F::Rgb10A2 | F::Rgb10a2ui => 4,
                F::Rgba16f | F::Rgba16 | F::Rgba16Snorm | F::Rgba16i | F::Rgba16ui => 8,
                F::Rg32f | F::Rg32i | F::Rg32ui | F::R64ui | F::R64i => 8,
                F::Rgba32f | F::Rgba32i | F::Rgba32ui => 16,
            },
        }
    }

    /// Returns true if shaders read integers from it.
    #[must_use]
    pub fn is_integer(self) -> bool {
        use ImageFormat as F;
        match self {
            TexelFormat::Depth32 => false,
            TexelFormat::Stencil8 => true,
            TexelFormat::Color(format) => match format {
                F::R8i | F::Rg8i | F::Rgba8i | F::R8ui | F::Rg8ui | F::Rgba8ui => true,
                F::R16i | F::Rg16i | F::Rgba16i | F::R16ui | F::Rg16ui | F::Rgba16ui => true,
                F::R32i | F::Rg32i | F::Rgba32i | F::R32ui | F::Rg32ui | F::Rgba32ui => true,
                F::R64i | F::R64ui | F::Rgb10a2ui => true,
                F::Unknown | F::R8 | F::Rg8 | F::Rgba8 | F::R8Snorm | F::Rg8Snorm | F::Rgba8Snorm => false,
                F::R16 | F::Rg16 | F::Rgba16 | F::R16Snorm | F::Rg16Snorm | F::Rgba16Snorm => false,
                F::R16f | F::Rg16f | F::Rgba16f | F::R32f | F::Rg32f | F::Rgba32f => false,
                F::R11fG11fB10f | F::Rgb10A2 => false,
            },
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            TexelFormat::Color(format) => format!("{format:?}"),
            TexelFormat::Depth32 => "D32_SFLOAT".into(),
            TexelFormat::Stencil8 => "S8_UINT".into(),
        }
    }
}
