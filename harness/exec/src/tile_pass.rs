//! Render passes with tile shading (`VK_QCOM_tile_shading`), as data.

use assay_spirv::tables::ImageFormat;
use assay_texture::TexelFormat;
use serde::{Deserialize, Serialize};

/// Vulkan's two descriptions of a render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PassForm {
    /// `VkRenderPass` and `VkFramebuffer`.
    Objects,
    /// `vkCmdBeginRendering`.
    Dynamic,
}

/// Role of an attachment in the render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttachmentRole {
    /// A colour attachment; per-tile dispatches can store to it.
    Color,
    /// The depth or the stencil attachment, according to its format, with at most one of each.
    DepthStencil,
    /// An input attachment; only with render pass objects.
    Input,
}

/// Descriptor type by which shaders access an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageAccess {
    /// A storage image.
    Storage,
    /// A sampled image, accessed by fetches.
    Sampled,
}

/// An attachment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PassAttachment {
    /// Role in the pass.
    pub role: AttachmentRole,
    /// Format.
    pub format: TexelFormat,
    /// Bindings in set 0, with the type of access.
    pub bindings: Vec<(u32, ImageAccess)>,
    /// Texels before the pass.
    pub data: Vec<u8>,
}

impl PassAttachment {
    /// Returns the format of the texels in memory: depth is `R32f` and stencil `R8ui`.
    pub fn memory_format(&self) -> ImageFormat {
        match self.format {
            TexelFormat::Color(format) => format,
            TexelFormat::Depth32 => ImageFormat::R32f,
            TexelFormat::Stencil8 => ImageFormat::R8ui,
        }
    }
}

/// A storage buffer in set 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PassBuffer {
    /// Binding.
    pub binding: u32,
    /// Contents before the pass.
    pub data: Vec<u8>,
}

/// Stage of a step's shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepStage {
    /// Dispatched for every tile: by `vkCmdDispatchTileQCOM` if the shader has a shading rate,
    /// otherwise with enough workgroups to cover the tile.
    Compute {
        /// Texels of a workgroup without a shading rate.
        texels: [u32; 3],
    },
    /// Drawn as one triangle that covers the render area, into the colour attachments at its
    /// outputs' locations.
    Fragment {
        /// Set for a draw inside per-tile execution, which runs for every tile. Otherwise it runs
        /// once for the whole pass, and the tile built-ins read as zero.
        per_tile: bool,
    },
}

/// A step of a pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PassStep {
    /// Words of the native module.
    pub words: Vec<u32>,
    /// Stage.
    pub stage: StepStage,
    /// Set if a barrier precedes the step. Two draws without one are in rasterization order: a
    /// fragment with coherent loads sees the results of the first draw at its own texel.
    pub barrier: bool,
}

/// A render pass whose steps run for every tile.
#[derive(Clone, Copy, Debug)]
pub struct TilePass<'a> {
    /// Vulkan's description of the pass.
    pub form: PassForm,
    /// Width and height of the framebuffer.
    pub extent: [u32; 2],
    /// Number of layers.
    pub layers: u32,
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// Size of the apron.
    pub apron: [u32; 2],
    /// Attachments.
    pub attachments: &'a [PassAttachment],
    /// Buffers.
    pub buffers: &'a [PassBuffer],
    /// Steps, in order.
    pub steps: &'a [PassStep],
}

impl TilePass<'_> {
    /// Description of running a pass, for errors and announcements.
    pub const DURING: &'static str = "running the tile-shading render pass";
}

/// Contents of the attachments and buffers of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PassContents {
    /// Texels of each attachment.
    pub attachments: Vec<Vec<u8>>,
    /// Bytes of each buffer.
    pub buffers: Vec<Vec<u8>>,
}

/// Tile grid that the device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileGrid {
    /// Width, height and layers of a tile.
    pub size: [u32; 3],
    /// The apron.
    pub apron: [u32; 2],
    /// Origin of the first tile.
    pub origin: [i32; 2],
}

/// Results of a pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TilePassOutput {
    /// Tile grid of the pass.
    pub grid: TileGrid,
    /// Contents after the pass.
    pub contents: PassContents,
}
