//! What a case of tile shading runs: a render pass whose steps run for every tile.

use assay_oracle::{Cell, Tile};
use assay_spirv::tables::ImageFormat;
use assay_vulkan::{AttachmentRole, PassForm, TexelFormat};
use std::collections::BTreeMap;

/// How shaders see an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As a storage image.
    Storage,
    /// As a sampled image that is fetched from.
    Sampled,
}

/// An attachment.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// What it is in the pass.
    pub role: AttachmentRole,
    /// Its format.
    pub format: TexelFormat,
    /// Where shaders find it: bindings of set 0.
    pub bindings: Vec<(u32, Access)>,
    /// Its texels before the pass.
    pub data: Vec<u8>,
}

impl Attachment {
    /// The format of its texels in memory; depth and stencil are numbers there like any other.
    pub fn memory_format(&self) -> ImageFormat {
        match self.format {
            TexelFormat::Color(format) => format,
            TexelFormat::Depth32 => ImageFormat::R32f,
            TexelFormat::Stencil8 => ImageFormat::R8ui,
        }
    }

    /// The format of an ordinary image with the same texels: not every device lets stencil be sampled.
    pub(super) fn lowered_format(&self) -> TexelFormat {
        match self.format {
            TexelFormat::Stencil8 => TexelFormat::Color(ImageFormat::R8ui),
            format @ (TexelFormat::Color(_) | TexelFormat::Depth32) => format,
        }
    }
}

/// A storage buffer, at a binding of set 0.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its binding.
    pub binding: u32,
    /// Its bytes before the pass.
    pub data: Vec<u8>,
}

/// What runs for every tile.
#[derive(Clone, Debug)]
pub struct Step {
    /// The native module. With a shading rate it is dispatched by `vkCmdDispatchTileQCOM`, else with as many workgroups as
    /// cover a tile.
    pub words: Vec<u32>,
    /// The texels of a workgroup, where there is no shading rate.
    pub texels: [u32; 3],
}

/// How many workgroups of so many texels cover a size.
pub(super) fn groups(size: [u32; 3], texels: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|i| size[i].div_ceil(texels[i].max(1)))
}

/// What a pass leaves: texels of each attachment, bytes of each buffer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Contents {
    /// Of the attachments.
    pub attachments: Vec<Vec<u8>>,
    /// Of the buffers.
    pub buffers: Vec<Vec<u8>>,
}

/// What is permitted: contents, and where more than one value is, which.
#[derive(Clone, Debug, Default)]
pub(super) struct Permitted {
    /// One permitted value everywhere.
    pub contents: Contents,
    /// By offset, for each attachment.
    pub attachments: Vec<BTreeMap<u64, Cell>>,
    /// By offset, for each buffer.
    pub buffers: Vec<BTreeMap<u64, Cell>>,
}

/// A second reference, plain Rust: what a pass leaves with tiles of a size.
pub type Second = Box<dyn Fn(&Pass, [u32; 2]) -> Contents + Send + Sync>;

/// A tile-shading render pass.
pub struct Pass {
    /// How it is described, natively.
    pub form: PassForm,
    /// Width and height of the framebuffer.
    pub extent: [u32; 2],
    /// Its layers.
    pub layers: u32,
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// The apron.
    pub apron: [u32; 2],
    /// Width and height of a tile, where no device says.
    pub tile: [u32; 2],
    /// Its attachments.
    pub attachments: Vec<Attachment>,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// What runs for every tile, in order, with a barrier between two.
    pub steps: Vec<Step>,
    /// An ordinary compute shader over the whole render area that leaves the same: one module for each step.
    pub full_frame: Vec<Vec<u32>>,
    /// Another reference.
    pub second: Option<Second>,
}

impl Pass {
    /// The tiles that meet the render area, of a grid that begins at the framebuffer's first texel.
    pub fn tiles(&self, size: [u32; 2]) -> Vec<Tile> {
        let [origin, extent] = self.area;
        let first: [u32; 2] = std::array::from_fn(|i| origin[i] / size[i]);
        let end: [u32; 2] = std::array::from_fn(|i| (origin[i] + extent[i]).div_ceil(size[i]));
        let at = |x: u32, y: u32| Tile {
            offset: [x * size[0], y * size[1]],
            size: [size[0], size[1], self.layers],
            apron: self.apron,
            area: self.area,
        };
        (first[1]..end[1]).flat_map(|y| (first[0]..end[0]).map(move |x| at(x, y))).collect()
    }

    /// What it begins with.
    pub fn contents(&self) -> Contents {
        Contents {
            attachments: self.attachments.iter().map(|a| a.data.clone()).collect(),
            buffers: self.buffers.iter().map(|b| b.data.clone()).collect(),
        }
    }

    /// Bytes of a texel of an attachment.
    pub fn texel_bytes(&self, attachment: usize) -> usize {
        self.attachments[attachment].format.bytes()
    }

    /// Where a texel of an attachment lies among its bytes.
    pub fn texel_at(&self, attachment: usize, [x, y]: [u32; 2], layer: u32) -> usize {
        let [width, height] = self.extent;
        let index = x as usize + width as usize * (y as usize + height as usize * layer as usize);
        index * self.texel_bytes(attachment)
    }
}
