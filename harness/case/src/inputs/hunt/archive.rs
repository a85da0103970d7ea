//! Archive of the worst rows of each cell of the operand space.

use super::{Rng, Row};
use assay_precision::{Call, Scalar};
use std::collections::HashMap;

/// Largest number of cells; rows of further cells are not kept.
const CELLS: usize = 1 << 14;

/// Number of rows with the greatest margins of all cells.
const TOP: usize = 64;

/// Number of leading bits of a single operand that distinguish its cells.
const LEADING_BITS: u32 = 12;

/// Rows that compete to become a parent.
const COMPETITORS: usize = 4;

/// The worst row of each cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Archive {
    elites: Vec<Elite>,
    index: HashMap<u64, usize>,
    /// Indices of the elites with the greatest margins.
    top: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Elite {
    row: Row,
    margin: f32,
}

impl Archive {
    pub(super) fn is_empty(&self) -> bool {
        self.elites.is_empty()
    }

    /// Keeps a row if it is the worst of its cell so far.
    pub(super) fn offer(&mut self, slots: &[Scalar], call: &Call, row: &Row, margin: f32) {
        let cell = cell(slots, call, row);
        if let Some(&at) = self.index.get(&cell) {
            let elite = &mut self.elites[at];
            if margin > elite.margin {
                (elite.margin, elite.row) = (margin, row.clone());
            }
        } else if self.elites.len() < CELLS {
            self.index.insert(cell, self.elites.len());
            self.elites.push(Elite { row: row.clone(), margin });
        }
    }

    /// Determines the rows with the greatest margins, for [`Self::pick`].
    pub(super) fn rank(&mut self) {
        let mut order: Vec<usize> = (0..self.elites.len()).collect();
        // Stable, so that equal margins keep the order in which their cells were found.
        order.sort_by(|&a, &b| self.elites[b].margin.total_cmp(&self.elites[a].margin));
        order.truncate(TOP);
        self.top = order;
    }

    /// Chooses a parent: one of the worst rows of all, the worst of a few, or any.
    pub(super) fn pick(&self, rng: &mut Rng) -> &Row {
        let any = |rng: &mut Rng| rng.below(self.elites.len() as u64) as usize;
        let at = match rng.below(4) {
            0 | 1 if !self.top.is_empty() => rng.pick(&self.top),
            2 => any(rng),
            _ => {
                let first = any(rng);
                (1..COMPETITORS).map(|_| any(rng)).fold(first, |best, other| {
                    if self.elites[other].margin > self.elites[best].margin { other } else { best }
                })
            }
        };
        &self.elites[at].row
    }
}

/// Cell of a row: for each operand its magnitude relative to the one before it, and its sign. The
/// first operand, and operands of other types, count by themselves. A single scalar has cells of
/// equal leading bits.
fn cell(slots: &[Scalar], call: &Call, row: &Row) -> u64 {
    if let ([scalar], [bits]) = (slots, &row[..]) {
        return bits >> scalar.width().saturating_sub(LEADING_BITS);
    }
    let (mut cell, mut start) = (0u64, 0);
    let mut previous: Option<(Scalar, i64)> = None;
    for operand in &call.operands {
        let components = start..start + operand.len();
        start = components.end;
        let scalar = slots[components.start];
        let magnitude = |bits: &u64| magnitude(scalar, *bits);
        let greatest = row[components.clone()].iter().map(magnitude).max().unwrap_or(0);
        let negative = row[components.start] >> (scalar.width() - 1) & 1;
        let class = match previous {
            Some((other, before)) if other == scalar => (greatest - before).clamp(-48, 48) / 2,
            _ => greatest / 4,
        };
        previous = Some((scalar, greatest));
        cell = (cell.wrapping_mul(0x100_0000_01b3) ^ class.cast_unsigned()).wrapping_mul(2) ^ negative;
    }
    cell
}

/// Exponent of a float, or the number of bits of an integer.
fn magnitude(scalar: Scalar, bits: u64) -> i64 {
    match scalar {
        Scalar::Float(format) => ((bits & format.magnitude_mask()) >> format.fraction_bits).cast_signed(),
        Scalar::Int { .. } | Scalar::Bool => 64 - i64::from(bits.leading_zeros()),
    }
}
