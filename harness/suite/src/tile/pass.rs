//! What a case of tile shading runs: a render pass whose steps run for every tile.

use assay_oracle::{Cell, Tile};
use assay_spirv::Module;
use assay_spirv::lower::LowerError;
use assay_spirv::lower::fragment::{self, ColorImage, Draw};
use assay_spirv::module::ModuleError;
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

/// How a step's shader is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Dispatched for every tile: by `vkCmdDispatchTileQCOM` where it has a shading rate, else with as many workgroups as
    /// cover a tile.
    Compute {
        /// The texels of a workgroup, where there is no shading rate.
        texels: [u32; 3],
    },
    /// Drawn, as one triangle that covers the render area, into the colour attachments of its outputs' locations.
    Fragment {
        /// Whether inside per-tile execution, for every tile; else once for all of the pass, where the tile's built-ins read as
        /// zero.
        per_tile: bool,
    },
}

/// What runs in a pass.
#[derive(Clone, Debug)]
pub struct Step {
    /// The native module.
    pub words: Vec<u32>,
    /// How it is run.
    pub stage: Stage,
    /// Whether there is a barrier between it and the step before. Two draws without one are in rasterization order: a fragment
    /// whose loads are coherent sees what the first left of its own texel.
    pub barrier: bool,
}

impl Step {
    /// The workgroups of a tile's dispatch, where there is no shading rate.
    pub(super) fn groups(&self, tile: [u32; 3]) -> [u32; 3] {
        match self.stage {
            Stage::Compute { texels } => groups(tile, texels),
            Stage::Fragment { .. } => tile,
        }
    }
}

/// Why a step is no compute module.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The words are no module: the case is wrong.
    #[error("a step is no module: {0}")]
    Module(#[from] ModuleError),
    /// The case's fragment shader is not lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
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
    /// What runs, in order.
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

    /// The storage images of the colour attachments, by location; `None` for those that shaders do not see as such.
    fn colors(&self) -> Vec<Option<ColorImage>> {
        let colors = self.attachments.iter().filter(|attachment| attachment.role == AttachmentRole::Color);
        let image = |attachment: &Attachment| {
            let (binding, _) = attachment.bindings.iter().find(|(_, access)| *access == Access::Storage)?;
            Some(ColorImage { set: 0, binding: *binding, format: attachment.memory_format() })
        };
        colors.map(image).collect()
    }

    /// A step as a compute module of tile shading: itself, or what its draw means.
    ///
    /// # Errors
    /// It is no module, or does what only fragments can.
    pub fn compute(&self, step: &Step) -> Result<Module, StepError> {
        let native = Module::parse(step.words.clone())?;
        match step.stage {
            Stage::Compute { .. } => Ok(native),
            Stage::Fragment { per_tile } => {
                let draw = Draw { colors: &self.colors(), area: self.area, per_tile };
                Ok(Module::parse(fragment::lower(&native, &draw)?)?)
            }
        }
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
