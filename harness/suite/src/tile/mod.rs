//! `tile.*`: tile shading (`SPV_QCOM_tile_shading`, `VK_QCOM_tile_shading`), which no public suite covers.
//!
//! * [`Pass`]: what a case runs, a render pass whose steps run for every tile.
//! * `shader`: its modules, written in WGSL around a body for one texel.
//! * `model`: what each tile sees and what of it lasts, whoever executes the steps: the oracle (`reference`), which interprets the
//!   native modules, or a device (`device`), which runs them lowered.
//! * `judge`: what was left against what is permitted.
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
//! * `TileDimensionQCOM` has two components in the Vulkan text, three in the SPIR-V extension: three are declared.
//! * Whether the built-in tells of the whole tile where the framebuffer or the render area cuts it is not said: shaders
//!   guard their stores with the render area, and the numbers of tiles are taken from the grid.

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
pub use pass::{Access, Attachment, Buffer, Contents, Pass, Second, Step};
pub(crate) use run::run;

/// The suite.
#[derive(Debug)]
pub struct TileShading;

impl Suite for TileShading {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn why(&self) -> &'static str {
        "compute inside render passes, tile by tile: no public suite tests it"
    }

    fn cases(&self) -> Vec<Case> {
        cases::all()
    }
}
