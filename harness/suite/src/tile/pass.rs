//! A tile-shading render pass, whose steps run for every tile.

use assay_exec::{
    AttachmentRole, ImageAccess, PassAttachment, PassBuffer, PassContents, PassForm, PassStep, StepStage, TilePass,
};
use assay_oracle::{Cell, Tile};
use assay_spirv::Module;
use assay_spirv::module::ModuleError;
use assay_spirv_lower::LowerError;
use assay_spirv_lower::fragment::{self, ColorImage, Draw};
use std::collections::BTreeMap;

/// Number of workgroups of a step that cover a tile without a shading rate.
pub(super) fn step_groups(step: &PassStep, tile: [u32; 3]) -> [u32; 3] {
    match step.stage {
        StepStage::Compute { texels } => groups(tile, texels),
        StepStage::Fragment { .. } => tile,
    }
}

/// Reason why a step cannot be converted to a compute module.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The words are not a valid module, which is a defect of the case.
    #[error("a step is not a valid module: {0}")]
    Module(#[from] ModuleError),
    /// The lowering does not support the fragment shader.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

/// Number of workgroups with this many texels that cover a size.
pub(super) fn groups(size: [u32; 3], texels: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|i| size[i].div_ceil(texels[i].max(1)))
}

/// Permitted contents of a pass.
#[derive(Clone, Debug, Default)]
pub(super) struct PermittedContents {
    /// One permitted value for every byte.
    pub contents: PassContents,
    /// For each attachment, the cells with several permitted values, by offset.
    pub attachments: Vec<BTreeMap<u64, Cell>>,
    /// For each buffer, the cells with several permitted values, by offset.
    pub buffers: Vec<BTreeMap<u64, Cell>>,
}

/// Independent reference in plain Rust: computes a pass's contents for a tile size.
pub type PassReference = Box<dyn Fn(&Pass, [u32; 2]) -> PassContents + Send + Sync>;

/// A tile-shading render pass.
pub struct Pass {
    /// Native form: render pass objects or dynamic rendering.
    pub form: PassForm,
    /// Width and height of the framebuffer.
    pub extent: [u32; 2],
    /// Number of layers.
    pub layers: u32,
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// Size of the apron.
    pub apron: [u32; 2],
    /// Width and height of a tile, unless a device determines them.
    pub tile: [u32; 2],
    /// Attachments.
    pub attachments: Vec<PassAttachment>,
    /// Buffers.
    pub buffers: Vec<PassBuffer>,
    /// Steps, in order.
    pub steps: Vec<PassStep>,
    /// Modules of equivalent ordinary compute shaders over the whole render area, one for each
    /// step.
    pub full_frame: Vec<Vec<u32>>,
    /// Independent reference.
    pub reference: Option<PassReference>,
}

impl Pass {
    /// The pass as a device with the extension runs it.
    pub(super) fn native(&self) -> TilePass<'_> {
        TilePass {
            form: self.form,
            extent: self.extent,
            layers: self.layers,
            area: self.area,
            apron: self.apron,
            attachments: &self.attachments,
            buffers: &self.buffers,
            steps: &self.steps,
        }
    }

    /// The tiles that intersect the render area; the grid starts at the framebuffer's first texel.
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

    /// The storage images of the colour attachments, by location; `None` for an attachment without
    /// one.
    fn colors(&self) -> Vec<Option<ColorImage>> {
        let colors = self.attachments.iter().filter(|attachment| attachment.role == AttachmentRole::Color);
        let image = |attachment: &PassAttachment| {
            let (binding, _) = attachment.bindings.iter().find(|(_, access)| *access == ImageAccess::Storage)?;
            Some(ColorImage { set: 0, binding: *binding, format: attachment.memory_format() })
        };
        colors.map(image).collect()
    }

    /// Converts a step to a compute module of tile shading: a dispatch's own module, or the
    /// lowering of a draw's fragment shader.
    ///
    /// # Errors
    /// The words are not a valid module, or the lowering does not support the shader.
    pub fn compute(&self, step: &PassStep) -> Result<Module, StepError> {
        let native = Module::parse(step.words.clone())?;
        match step.stage {
            StepStage::Compute { .. } => Ok(native),
            StepStage::Fragment { per_tile } => {
                let draw = Draw { colors: &self.colors(), area: self.area, per_tile };
                Ok(Module::parse(fragment::lower(&native, &draw)?)?)
            }
        }
    }

    /// The contents before the pass.
    pub fn contents(&self) -> PassContents {
        PassContents {
            attachments: self.attachments.iter().map(|a| a.data.clone()).collect(),
            buffers: self.buffers.iter().map(|b| b.data.clone()).collect(),
        }
    }

    /// Size of an attachment's texel in bytes.
    pub fn texel_bytes(&self, attachment: usize) -> usize {
        self.attachments[attachment].format.bytes()
    }

    /// Byte offset of a texel in an attachment.
    pub fn texel_at(&self, attachment: usize, [x, y]: [u32; 2], layer: u32) -> usize {
        let [width, height] = self.extent;
        let index = x as usize + width as usize * (y as usize + height as usize * layer as usize);
        index * self.texel_bytes(attachment)
    }
}
