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

mod cases;
mod device;
mod judge;
mod model;
mod pass;
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
