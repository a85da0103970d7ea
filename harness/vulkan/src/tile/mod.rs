//! Tile shading as the device has it (`VK_QCOM_tile_shading`): a render pass whose dispatches and draws run once for every tile.
//!
//! [`Device::tile_pass`] does all of it once: makes the attachments and buffers, uploads, begins the pass, runs the steps for each
//! tile, ends it, and reads back. It is for tests of what a device does, not for speed.

mod check;
mod draw;
mod objects;
mod record;
mod structs;

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use assay_spirv::reflect::DescriptorKind;

use crate::device::{Device, DeviceShared};
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::resource::{ImageSpec, SamplerSpec};
use objects::PassObjects;

/// How the render pass is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassForm {
    /// `VkRenderPass` and `VkFramebuffer`.
    Objects,
    /// `vkCmdBeginRendering`.
    Dynamic,
}

/// What an attachment is in the render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentRole {
    /// A colour attachment, which per-tile dispatches may store to.
    Color,
    /// The depth or the stencil attachment, by its format; there is at most one of each. Both are one image, of
    /// `VK_FORMAT_D32_SFLOAT_S8_UINT`.
    DepthStencil,
    /// An input attachment: with render pass objects only.
    Input,
}

/// An attachment, with its contents before the pass, which loads them and stores them.
#[derive(Clone, Debug)]
pub struct TileAttachment<'a> {
    /// A 2D image of the framebuffer's size and layers, of one level.
    pub image: ImageSpec,
    /// What it is.
    pub role: AttachmentRole,
    /// Where shaders find it: set, binding and kind; each names a view equivalent to the attachment's.
    pub bindings: Vec<(u32, u32, DescriptorKind)>,
    /// The sampler of its combined image samplers.
    pub sampler: Option<SamplerSpec>,
    /// Its texels, row by row, layer by layer.
    pub data: &'a [u8],
}

/// A storage buffer that the steps share.
#[derive(Clone, Copy, Debug)]
pub struct TileBuffer<'a> {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Its bytes before the pass.
    pub data: &'a [u8],
}

/// Which command buffers hold what a pass does. Secondary ones come with render pass objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// The primary one holds all of it.
    #[default]
    Primary,
    /// A secondary one holds per-tile execution, from its begin to its end.
    Secondary,
    /// The primary one begins and ends per-tile execution, a secondary one, which says that it belongs there, holds the steps. The
    /// pass' contents are then of both: with `maintenance7`.
    PerTile,
}

/// What is recorded in a pass, in order. All but draws that say otherwise stands inside per-tile execution.
#[derive(Clone)]
pub enum TileStep<'a> {
    /// `vkCmdDispatch`, whose workgroups run for every tile.
    Dispatch {
        /// What is run; its module has a local size.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
        /// Workgroups of each tile.
        groups: [u32; 3],
    },
    /// `vkCmdDispatch` with as many workgroups as cover a tile of the device's grid.
    Cover {
        /// What is run; its module has a local size.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
        /// Texels of a workgroup along x, y and layers.
        texels: [u32; 3],
    },
    /// `vkCmdDispatchTileQCOM`, which covers the tile with blocks.
    DispatchTile {
        /// What is run; its module has a shading rate.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
    },
    /// `vkCmdDraw` of one triangle that covers the render area, at depth zero, with neither tests nor blending. The colour
    /// attachments of the locations that the module has outputs for are written; others stay as they are.
    Draw {
        /// The words of the fragment shader, whose entry point is `main`.
        fragment: &'a [u32],
        /// Whether inside per-tile execution; else it is drawn once.
        per_tile: bool,
    },
    /// Later steps see what earlier ones stored to the tile's attachments and to buffers. With render pass objects only.
    /// Between two steps inside per-tile execution it stands inside, too.
    Barrier,
}

/// A tile-shading render pass.
#[derive(Clone)]
pub struct TilePass<'a> {
    /// How it is described.
    pub form: PassForm,
    /// Which command buffers hold it.
    pub recording: Recording,
    /// Width and height of the framebuffer.
    pub extent: [u32; 2],
    /// Its layers.
    pub layers: u32,
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// The apron, along x and y.
    pub apron: [u32; 2],
    /// Its attachments.
    pub attachments: &'a [TileAttachment<'a>],
    /// The buffers of its steps.
    pub buffers: &'a [TileBuffer<'a>],
    /// What runs. All pipelines have the same bindings: those of the attachments and buffers.
    pub steps: &'a [TileStep<'a>],
}

/// The grid of tiles, as the device tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Width, height and layers of a tile.
    pub size: [u32; 3],
    /// The apron.
    pub apron: [u32; 2],
    /// Where the first tile begins.
    pub origin: [i32; 2],
}

/// What a pass left.
#[derive(Clone, Debug)]
pub struct TilePassLeft {
    /// The grid.
    pub grid: TileGrid,
    /// Each attachment's texels.
    pub attachments: Vec<Vec<u8>>,
    /// Each buffer's bytes.
    pub buffers: Vec<Vec<u8>>,
}

/// What a pass may do that it must not, so that tests can see that the validation layer objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// None but what the description says.
    Unchecked,
    /// The pass is begun as an ordinary one.
    NotTileShading,
    /// The flag of secondary command buffers is set.
    PerTileFlag,
    /// The flag of secondary command buffers is set, without that of tile shading.
    PerTileFlagAlone,
    /// The command buffer may be in use several times at once.
    SimultaneousUse,
    /// Steps are recorded without per-tile execution.
    NoBegin,
    /// Per-tile execution is ended twice.
    EndTwice,
    /// Per-tile execution is begun twice.
    BeginTwice,
    /// The pass ends inside per-tile execution.
    NoEnd,
    /// An attachment is cleared inside per-tile execution.
    Clear,
    /// A timestamp is written inside per-tile execution.
    Timestamp,
    /// An event is set inside per-tile execution.
    Event,
    /// The steps stand outside the render pass.
    OutsidePass,
    /// A barrier of compute stages in dynamic rendering.
    DynamicBarrier,
    /// The subpass wants an apron although the pass has none, or the other way round.
    ApronFlag,
    /// A secondary command buffer says nothing of tile shading.
    SecondaryOrdinary,
    /// A secondary command buffer says another apron than the pass.
    SecondaryApron,
    /// A secondary command buffer says that it belongs into per-tile execution, and stands outside.
    SecondaryPerTile,
    /// A secondary command buffer does not say so, and stands inside.
    SecondaryNotPerTile,
}

impl Device {
    /// Runs a tile-shading render pass and reads back what it left.
    ///
    /// # Errors
    /// [`Error::NotSupported`] names the extension, feature or limit that is missing; [`Error::Invalid`] what contradicts
    /// itself or breaks a rule of the extension; otherwise what the driver reports.
    pub fn tile_pass(&self, pass: &TilePass<'_>, limit: Duration) -> Result<TilePassLeft, Error> {
        check::check(self.shared(), pass)?;
        // SAFETY: the rules were checked, and nothing is done wrong on purpose.
        unsafe { self.tile_pass_with(pass, Mistake::None, limit) }
    }

    /// As [`Device::tile_pass`], without checks, and with a mistake: for tests on drivers that do nothing.
    ///
    /// # Safety
    /// The driver only keeps what it is given, or the pass is valid and there is no mistake.
    ///
    /// # Errors
    /// What the driver reports.
    #[doc(hidden)]
    pub unsafe fn tile_pass_with(
        &self,
        pass: &TilePass<'_>,
        mistake: Mistake,
        limit: Duration,
    ) -> Result<TilePassLeft, Error> {
        let shared: &Arc<DeviceShared> = self.shared();
        shared.alive("vkCreateRenderPass2")?;
        let mut objects = PassObjects::new(shared, pass, mistake)?;
        objects.upload(pass)?;
        let grid = objects.grid(pass)?;
        check::depth(shared, pass, &grid)?;
        record::record(shared, &objects, pass, &grid, mistake)?;
        shared.submit(objects.base.commands, objects.base.fence)?;
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted and is alive.
        match unsafe { shared.raw.wait_for_fences(&[objects.base.fence], true, nanoseconds) } {
            Ok(()) => {}
            Err(error) => {
                if error == vk::Result::TIMEOUT {
                    // The device may still use all of it, and nothing here can stop it.
                    std::mem::forget(objects);
                    return Err(Error::Timeout { limit });
                }
                return shared.check(Err(error), "vkWaitForFences");
            }
        }
        Ok(objects.left(grid))
    }
}
