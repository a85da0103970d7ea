//! The execution model of tile shading: the contents that each tile sees, and those of its writes
//! that persist.
//!
//! Each tile works on copies of the attachments from before the pass, so its apron holds the
//! results of the load operation and no stores of other tiles. Stores within the tile and the
//! render area persist; any other change is a write outside the tile. Buffers are shared. Tiles run
//! in any order, and results must not depend on it.

use super::pass::{Pass, PermittedContents};
use assay_exec::PassContents;
use assay_oracle::Tile;

/// Runs the steps of a pass for one tile.
pub(super) trait Executor {
    /// Error of running a step.
    type Error;

    /// Runs a step for a tile and updates the contents that the tile sees.
    ///
    /// # Errors
    /// The step could not be run.
    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), Self::Error>;
}

/// A texel that a tile changed although it lies outside the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StrayWrite {
    /// Index of the attachment.
    pub attachment: usize,
    /// Coordinates of the texel.
    pub at: [u32; 2],
    /// Layer of the texel.
    pub layer: u32,
    /// Offset of the tile.
    pub tile: [u32; 2],
}

/// Results of a pass.
#[derive(Clone, Debug, Default)]
pub(super) struct PassResults {
    /// The contents that persist.
    pub permitted: PermittedContents,
    /// The first writes outside tiles, at most [`KEPT`].
    pub outside: Vec<StrayWrite>,
}

/// Largest number of writes outside tiles that are kept.
const KEPT: usize = 8;

/// Shuffles the tiles of a pass by a seed.
pub(super) fn shuffled(mut tiles: Vec<Tile>, seed: u64) -> Vec<Tile> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for i in (1..tiles.len()).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        tiles.swap(i, ((mixed ^ mixed >> 31) % (i as u64 + 1)) as usize);
    }
    tiles
}

/// Runs a pass, tile by tile in this order.
///
/// # Errors
/// The executor's first error.
pub(super) fn run<E: Executor>(pass: &Pass, tiles: &[Tile], executor: &mut E) -> Result<PassResults, E::Error> {
    let begin = PermittedContents {
        contents: pass.contents(),
        attachments: vec![Default::default(); pass.attachments.len()],
        buffers: vec![Default::default(); pass.buffers.len()],
    };
    let mut left = PassResults { permitted: begin.clone(), outside: Vec::new() };
    for tile in tiles {
        let mut seen = begin.clone();
        seen.contents.buffers = std::mem::take(&mut left.permitted.contents.buffers);
        seen.buffers = std::mem::take(&mut left.permitted.buffers);
        for step in 0..pass.steps.len() {
            executor.step(step, tile, &mut seen)?;
        }
        left.permitted.contents.buffers = std::mem::take(&mut seen.contents.buffers);
        left.permitted.buffers = std::mem::take(&mut seen.buffers);
        for attachment in 0..pass.attachments.len() {
            keep(pass, tile, attachment, &begin.contents, &seen, &mut left);
        }
    }
    Ok(left)
}

/// Copies the persistent part of an attachment and records changes of the rest.
fn keep(
    pass: &Pass,
    tile: &Tile,
    attachment: usize,
    begin: &PassContents,
    seen: &PermittedContents,
    left: &mut PassResults,
) {
    let [first, end] = tile.reach(true);
    let bytes = pass.texel_bytes(attachment);
    let (before, after) = (&begin.attachments[attachment], &seen.contents.attachments[attachment]);
    let cells = &seen.attachments[attachment];
    let [width, height] = pass.extent;
    for layer in 0..pass.layers {
        for y in 0..height {
            let at = |x: u32| pass.texel_at(attachment, [x, y], layer);
            let own =
                if (first[1]..end[1]).contains(&y) && first[0] < end[0] { at(first[0])..at(end[0]) } else { 0..0 };
            left.permitted.contents.attachments[attachment][own.clone()].copy_from_slice(&after[own.clone()]);
            let lasting = cells.range(own.start as u64..own.end as u64).map(|(offset, cell)| (*offset, cell.clone()));
            left.permitted.attachments[attachment].extend(lasting);
            let row = at(0)..at(width);
            let (head, tail) =
                if own.is_empty() { (row.clone(), 0..0) } else { (row.start..own.start, own.end..row.end) };
            for part in [head, tail] {
                if before[part.clone()] == after[part.clone()] {
                    continue;
                }
                for texel in part.clone().step_by(bytes) {
                    let changed = before[texel..texel + bytes] != after[texel..texel + bytes];
                    if changed && left.outside.len() < KEPT {
                        let x = ((texel - row.start) / bytes) as u32;
                        left.outside.push(StrayWrite { attachment, at: [x, y], layer, tile: tile.offset });
                    }
                }
            }
        }
    }
}
