//! `tile.*`: tile shading (`SPV_QCOM_tile_shading`, `VK_QCOM_tile_shading`), which no public suite covers.
//!
//! * [`Pass`]: what a case runs, a render pass whose steps run for every tile: dispatches, and draws of fragments.
//! * `shader`: its modules, written in WGSL around a body for one texel.
//! * `model`: what each tile sees and what of it lasts, whoever executes the steps: the oracle (`reference`), which interprets the
//!   native modules, or a device (`device`), which runs them lowered.
//! * `judge`: what was left against what is permitted.
//!
//! A draw covers the render area with one triangle. The oracle and a device without the extension run it as the compute shader that it
//! means (`assay_spirv::lower::fragment`), which the lowering of tile shading then takes like any other.
//!
//! A lowered result is also held against an ordinary compute shader over the whole frame, made from the same body. Natively the
//! device tells the grid of tiles, and the reference follows it. Where a device executes nothing, as the mock driver does,
//! passes are recorded and submitted, and nothing is judged.
//!
//! # Doubts in the text
//!
//! * Later dispatches of a tile see earlier ones' stores only across a barrier, and tile attachments have access flags of the compute
//!   stage; but barriers and self-dependencies in a render pass may name no compute stage
//!   (VUID-vkCmdPipelineBarrier2-None-07892, VUID-VkRenderPassCreateInfo2-pDependencies-03054), and those in dynamic rendering
//!   framebuffer-space stages only (09556). Cases with several steps use render pass objects and all commands as the stage, which
//!   the validation layer accepts; natively there is no other way.
//! * `TileDimensionQCOM` has two components in the Vulkan text, three in the SPIR-V extension: three are declared, and no case looks at
//!   the third. A dispatch of blocks that are deeper than the device's tiles is not supported.
//! * Whether the built-in tells of the whole tile where the framebuffer or the render area cuts it is not said: shaders
//!   guard their stores with the render area, and the numbers of tiles are taken from the grid.
//!
//! Of fragments:
//!
//! * A draw may access what earlier commands or the load operation wrote to an attachment as an attachment only, and may not write one
//!   that it reads otherwise (VUID-vkCmdDraw-None-10795, 12338); only dispatches are told so of tile attachments (10676). We take
//!   a tile attachment for an attachment here, as the extension is for such loads and its proposal shows one of the attachment
//!   that the same shader writes; the validation layer does not object.
//! * That loads are in rasterization order unless `NonCoherentTileAttachmentReadQCOM` is declared is said by the SPIR-V extension alone, and
//!   by way of the mode. It is taken for what the order is elsewhere: a fragment sees what earlier fragments of *its own texel* left. So
//!   between two draws a texel of another fragment is loaded across a barrier only, the fragment's own one also without if the
//!   second draw is coherent; and of an attachment that its own draw writes a fragment loads its own texel only.
//! * A draw for a tile may have fragments outside that tile: in its apron, which draws may change, or, as nothing says that
//!   they are cut off, elsewhere. Such fragments are discarded, or leave only what the right ones leave.
//! * A fragment may be shaded any number of times, at least once, with all effects on buffers: these are idempotent.
//! * Outside per-tile execution the built-ins are zero, and a shader does not know its tile: it loads its own texel only.

mod cases;
mod device;
mod judge;
mod model;
mod pass;
mod picture;
mod reference;
mod run;
mod shader;
#[cfg(test)]
mod tests;

use crate::{Case, Suite};
pub use pass::{Access, Attachment, Buffer, Contents, Pass, Second, Stage, Step, StepError};
pub(crate) use run::run;

/// The suite.
#[derive(Debug)]
pub struct TileShading;

impl Suite for TileShading {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn why(&self) -> &'static str {
        "compute and fragments inside render passes, tile by tile: no public suite tests it"
    }

    fn cases(&self) -> Vec<Case> {
        cases::all()
    }
}
