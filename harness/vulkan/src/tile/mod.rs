//! Native tile shading (`VK_QCOM_tile_shading`): a render pass whose dispatches and draws run once
//! for every tile.
//!
//! [`Device::tile_pass`] performs a whole pass: it creates the attachments and buffers, uploads,
//! begins the pass, runs the steps for each tile, ends the pass, and reads back. It serves tests of
//! a device, not speed.

mod pass_commands;
mod pass_objects;
mod pass_rules;
mod tile_draw;
mod tile_shading_structs;

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use assay_spirv::reflect::DescriptorKind;

use crate::device::{Device, DeviceShared};
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::resource::{ImageSpec, SamplerSpec};
use pass_objects::PassObjects;

/// Vulkan's two descriptions of a render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassForm {
    /// `VkRenderPass` and `VkFramebuffer`.
    Objects,
    /// `vkCmdBeginRendering`.
    Dynamic,
}

/// Role of an attachment in the render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentRole {
    /// A colour attachment; per-tile dispatches can store to it.
    Color,
    /// The depth or the stencil attachment, according to its format, with at most one of each. If a
    /// pass has both, they share one image of `VK_FORMAT_D32_SFLOAT_S8_UINT`.
    DepthStencil,
    /// An input attachment; only with render pass objects.
    Input,
}

/// An attachment with its contents before the pass. The pass loads and stores them.
#[derive(Clone, Debug)]
pub struct TileAttachment<'a> {
    /// A 2D image with the size and the layers of the framebuffer, and one level.
    pub image: ImageSpec,
    /// Its role in the pass.
    pub role: AttachmentRole,
    /// Descriptors of the attachment: set, binding and kind. Each gets a view equivalent to the
    /// attachment's view.
    pub bindings: Vec<(u32, u32, DescriptorKind)>,
    /// Sampler for its combined image samplers.
    pub sampler: Option<SamplerSpec>,
    /// Its texels, row by row within each layer.
    pub data: &'a [u8],
}

/// A storage buffer that the steps share.
#[derive(Clone, Copy, Debug)]
pub struct TileBuffer<'a> {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Its contents before the pass.
    pub data: &'a [u8],
}

/// Command buffers into which a pass is recorded. Secondary command buffers need render pass
/// objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassRecording {
    /// The primary command buffer contains everything.
    #[default]
    Primary,
    /// A secondary command buffer contains per-tile execution, from its begin to its end.
    Secondary,
    /// The primary command buffer begins and ends per-tile execution. A secondary command buffer
    /// contains the steps and declares per-tile execution. This mixes inline and secondary
    /// contents, which needs `maintenance7`.
    PerTile,
}

/// Step of a pass, in recording order. Dispatches are inside per-tile execution; draws choose.
#[derive(Clone)]
pub enum TileStep<'a> {
    /// `vkCmdDispatch`, whose workgroups run for every tile.
    Dispatch {
        /// Compute pipeline; its module declares a local size.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
        /// Workgroups for each tile.
        groups: [u32; 3],
    },
    /// `vkCmdDispatch` with the number of workgroups that covers a tile of the device's grid.
    Cover {
        /// Compute pipeline; its module declares a local size.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
        /// Texels that a workgroup covers along x, y and layers.
        texels: [u32; 3],
    },
    /// `vkCmdDispatchTileQCOM`, which covers the tile with blocks.
    DispatchTile {
        /// Compute pipeline; its module declares a shading rate.
        pipeline: &'a Pipeline,
        /// All its push constants.
        push_constants: &'a [u8],
    },
    /// `vkCmdDraw` of one triangle that covers the render area at depth zero, without tests and
    /// blending. It writes the colour attachments for whose locations the module has outputs; the
    /// other attachments keep their contents.
    Draw {
        /// Words of the fragment shader, whose entry point is `main`.
        fragment: &'a [u32],
        /// Set for a draw inside per-tile execution; otherwise it runs once for the pass.
        per_tile: bool,
    },
    /// Makes the stores of earlier steps to the tile's attachments and to buffers visible to later
    /// steps. Only with render pass objects. A barrier between two steps inside per-tile execution
    /// is inside as well.
    Barrier,
}

/// A tile-shading render pass.
#[derive(Clone)]
pub struct TilePass<'a> {
    /// Vulkan's description of the pass.
    pub form: PassForm,
    /// Command buffers that contain it.
    pub recording: PassRecording,
    /// Width and height of the framebuffer.
    pub extent: [u32; 2],
    /// Layers of the framebuffer.
    pub layers: u32,
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// The apron, along x and y.
    pub apron: [u32; 2],
    /// Its attachments.
    pub attachments: &'a [TileAttachment<'a>],
    /// The buffers of its steps.
    pub buffers: &'a [TileBuffer<'a>],
    /// Its steps in order. All pipelines have the same bindings: those of the attachments and
    /// buffers.
    pub steps: &'a [TileStep<'a>],
}

/// Tile grid that the device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Width, height and layers of a tile.
    pub size: [u32; 3],
    /// The apron.
    pub apron: [u32; 2],
    /// Origin of the first tile.
    pub origin: [i32; 2],
}

/// Results of a pass.
#[derive(Clone, Debug)]
pub struct TilePassOutput {
    /// Tile grid of the pass.
    pub grid: TileGrid,
    /// Texels of each attachment.
    pub attachments: Vec<Vec<u8>>,
    /// Bytes of each buffer.
    pub buffers: Vec<Vec<u8>>,
}

/// Deliberate violation of the specification, for tests that the validation layer reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// No violation.
    #[default]
    None,
    /// No violation besides those of the description itself.
    Unchecked,
    /// An ordinary render pass, without tile shading.
    NotTileShading,
    /// Tile-shading enable flag together with the per-tile execution flag, which is for secondary
    /// command buffers only.
    PerTileFlag,
    /// Per-tile execution flag without the tile-shading enable flag.
    PerTileFlagAlone,
    /// A command buffer with simultaneous use.
    SimultaneousUse,
    /// Steps recorded without per-tile execution.
    NoBegin,
    /// An end of per-tile execution without a begin.
    EndTwice,
    /// A second begin of per-tile execution.
    BeginTwice,
    /// The pass ends inside per-tile execution.
    NoEnd,
    /// An attachment cleared inside per-tile execution.
    Clear,
    /// A timestamp written inside per-tile execution.
    Timestamp,
    /// A wait for an event inside per-tile execution.
    Event,
    /// Steps outside the render pass.
    OutsidePass,
    /// A barrier in dynamic rendering that covers compute stages. The steps of the description
    /// contain it.
    DynamicBarrier,
    /// A subpass with an apron in a pass without one, or the reverse.
    ApronFlag,
    /// A secondary command buffer that does not inherit tile shading.
    SecondaryOrdinary,
    /// A secondary command buffer that inherits an apron different from that of the pass.
    SecondaryApron,
    /// A secondary command buffer that declares per-tile execution, executed outside it.
    SecondaryPerTile,
    /// A secondary command buffer that does not declare per-tile execution, executed inside it.
    SecondaryNotPerTile,
}

impl Device {
    /// Runs a tile-shading render pass and reads back its results.
    ///
    /// # Errors
    /// [`Error::NotSupported`] names the missing extension, feature or limit; [`Error::Invalid`]
    /// reports contradictions in the description and violations of the extension's rules; otherwise
    /// the driver's error.
    pub fn tile_pass(&self, pass: &TilePass<'_>, limit: Duration) -> Result<TilePassOutput, Error> {
        pass_rules::check(self.shared(), pass)?;
        // SAFETY: the rules were checked, and there is no deliberate violation.
        unsafe { self.tile_pass_with(pass, Mistake::None, limit) }
    }

    /// Runs a pass without checks and with a deliberate violation. It serves tests on drivers that
    /// execute nothing.
    ///
    /// # Safety
    /// The driver executes nothing, or the pass is valid and `mistake` is [`Mistake::None`].
    ///
    /// # Errors
    /// The driver's error.
    #[doc(hidden)]
    pub unsafe fn tile_pass_with(
        &self,
        pass: &TilePass<'_>,
        mistake: Mistake,
        limit: Duration,
    ) -> Result<TilePassOutput, Error> {
        let shared: &Arc<DeviceShared> = self.shared();
        shared.check_alive("vkCreateRenderPass2")?;
        let mut objects = PassObjects::new(shared, pass, mistake)?;
        objects.upload(pass)?;
        let grid = objects.grid(pass)?;
        pass_rules::depth(shared, pass, &grid)?;
        pass_commands::record(shared, &objects, pass, &grid, mistake)?;
        shared.submit(objects.base.commands, objects.base.fence)?;
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted and is alive.
        match unsafe { shared.raw.wait_for_fences(&[objects.base.fence], true, nanoseconds) } {
            Ok(()) => {}
            Err(error) => {
                if error == vk::Result::TIMEOUT {
                    // The device may still use all of these objects, and nothing here can stop it.
                    std::mem::forget(objects);
                    return Err(Error::Timeout { limit });
                }
                return shared.check(Err(error), "vkWaitForFences");
            }
        }
        Ok(objects.output(grid))
    }
}
