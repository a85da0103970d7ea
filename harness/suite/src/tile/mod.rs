//! `tile.*`: tile shading (`SPV_QCOM_tile_shading`, `VK_QCOM_tile_shading`), which no public suite
//! covers.
//!
//! * [`Pass`]: the render pass that a case runs. Its steps, dispatches and draws, run for every
//!   tile.
//! * `shader_text`: its modules, written in WGSL around a body for one texel.
//! * `model`: the contents that each tile sees and those of its writes that persist. The steps are
//!   executed by the oracle (`oracle_pass`), which interprets the native modules, or by a device
//!   (`device_pass`), which runs them lowered.
//! * `compare`: comparison of the results with the permitted ones.
//!
//! A draw covers the render area with one triangle. The oracle, and devices without the extension,
//! run it as an equivalent compute shader (`assay_spirv_lower::fragment`), to which the lowering
//! of tile shading then applies.
//!
//! The results of an ordinary compute shader over the whole frame, made from the same body, are
//! compared as well. On the native path the device determines the tile grid, and the oracle uses
//! that grid. On a device that executes nothing, such as a mock driver, passes are recorded and
//! submitted but not compared.
//!
//! # Doubts in the specifications
//!
//! * Later dispatches of a tile see the stores of earlier ones only across a barrier, and tile
//!   attachments have access flags of the compute stage. However, barriers and self-dependencies in
//!   a render pass must not include a compute stage (VUID-vkCmdPipelineBarrier2-None-07892,
//!   VUID-VkRenderPassCreateInfo2-pDependencies-03054), and those in dynamic rendering must include
//!   framebuffer-space stages only (09556). Cases with several steps use render pass objects with
//!   all commands as the stage, which the validation layer accepts; natively this is the only way.
//! * `TileDimensionQCOM` has two components in the Vulkan specification and three in the SPIR-V
//!   extension. The modules declare three, and no case uses the third. A dispatch with blocks
//!   deeper than the device's tiles is not supported.
//! * The specifications do not say whether this built-in describes the whole tile if the
//!   framebuffer or the render area cuts it. Shaders therefore restrict their stores to the render
//!   area, and tile indices are computed from the grid.
//!
//! Fragment shaders:
//!
//! * A draw may access an attachment that earlier commands or the load operation wrote only as an
//!   attachment, and must not write one that it reads in another way (VUID-vkCmdDraw-None-10795,
//!   12338). Only the rule for dispatches mentions tile attachments (10676). Here a tile attachment
//!   counts as an attachment: the extension exists for such loads, and its proposal shows a load of
//!   the attachment that the same shader writes. The validation layer does not object.
//! * Only the SPIR-V extension states that loads are in rasterization order unless
//!   `NonCoherentTileAttachmentReadQCOM` is declared, in the description of that mode. It is
//!   interpreted as elsewhere: a fragment sees the results of earlier fragments at *its own texel*.
//!   So, between two draws, another fragment's texel is loaded only across a barrier, and the
//!   fragment's own texel also without one if the second draw is coherent. From an attachment that
//!   its own draw writes, a fragment loads only its own texel.
//! * A draw for a tile may have fragments outside that tile: in its apron, which draws may change,
//!   or elsewhere, because no rule clips them. Such fragments are discarded, or write only values
//!   that the right fragments write as well.
//! * A fragment may be shaded any number of times, at least once, each time with all effects on
//!   buffers. These effects are therefore idempotent.
//! * Outside per-tile execution the built-ins are zero and a shader does not know its tile, so it
//!   loads only its own texel.

mod attachment_picture;
mod cases;
mod compare;
mod device_pass;
mod model;
mod oracle_pass;
mod pass;
mod run_pass;
mod shader_text;
#[cfg(test)]
mod tests;

use crate::{Case, Suite};
pub use pass::{Pass, PassReference, StepError};
pub(crate) use run_pass::run;

/// The suite.
#[derive(Debug)]
pub struct TileShading;

impl Suite for TileShading {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn purpose(&self) -> &'static str {
        "compute and fragment shaders inside render passes, tile by tile; no public suite tests this"
    }

    fn cases(&self) -> Vec<Case> {
        cases::all()
    }
}
