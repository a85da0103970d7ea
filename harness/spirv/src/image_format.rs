//! Sampled types and numbers of components that image formats require.

use crate::tables::ImageFormat;

/// Sampled type of an image with a known format, by the table of formats in the Vulkan environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledType {
    /// Set for a floating-point type.
    pub float: bool,
    /// Bits of the type.
    pub width: u32,
    /// Signedness of an integer type; `None` for a floating-point type.
    pub signed: Option<bool>,
}

impl ImageFormat {
    /// Returns the number of components that a written texel must have; 0 for `Unknown`.
    pub fn components(self) -> u32 {
        let name = self.name();
        match () {
            () if self == ImageFormat::Unknown => 0,
            () if name.starts_with("Rgba") || name.starts_with("Rgb10") => 4,
            () if self == ImageFormat::R11fG11fB10f => 3,
            () if name.starts_with("Rg") => 2,
            () => 1,
        }
    }

    /// Returns the sampled type that the format requires; `None` for `Unknown`, which matches every
    /// type.
    pub fn sampled_type(self) -> Option<SampledType> {
        use ImageFormat as F;
        Some(match self {
            F::Unknown => return None,
            F::Rgba32f
            | F::Rg32f
            | F::R32f
            | F::Rgba16f
            | F::Rg16f
            | F::R16f
            | F::Rgba16
            | F::Rg16
            | F::R16
            | F::Rgba16Snorm
            | F::Rg16Snorm
            | F::R16Snorm
            | F::Rgb10A2
            | F::R11fG11fB10f
            | F::Rgba8
            | F::Rg8
            | F::R8
            | F::Rgba8Snorm
            | F::Rg8Snorm
            | F::R8Snorm => SampledType { float: true, width: 32, signed: None },
            F::Rgba32i | F::Rg32i | F::R32i | F::Rgba16i | F::Rg16i | F::R16i | F::Rgba8i | F::Rg8i | F::R8i => {
                SampledType { float: false, width: 32, signed: Some(true) }
            }
            F::Rgba32ui
            | F::Rg32ui
            | F::R32ui
            | F::Rgba16ui
            | F::Rg16ui
            | F::R16ui
            | F::Rgb10a2ui
            | F::Rgba8ui
            | F::Rg8ui
            | F::R8ui => SampledType { float: false, width: 32, signed: Some(false) },
            F::R64i => SampledType { float: false, width: 64, signed: Some(true) },
            F::R64ui => SampledType { float: false, width: 64, signed: Some(false) },
        })
    }
}
