//! What was left against what is permitted.

use super::model::Outside;
use super::pass::{Contents, Pass, Permitted};
use assay_oracle::{Cell, Expected};
use std::collections::BTreeMap;

/// A value that is not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Where: attachment and texel, or buffer and byte.
    pub place: String,
    /// What is there.
    pub got: String,
    /// What may be there.
    pub permitted: String,
    /// What kind of mistake.
    pub class: &'static str,
}

/// How many wrong values are kept.
const KEPT: usize = 16;

/// What a comparison came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// Values compared.
    pub checked: u64,
    /// Values of which nothing is known.
    pub unchecked: u64,
    /// Wrong ones.
    pub failing: u64,
    /// Values that only a lenient reading permits.
    pub lenient: u64,
    /// The first wrong ones.
    pub wrong: Vec<Wrong>,
}

impl Verdict {
    /// Adds texels that were changed outside tiles.
    pub(super) fn outside(&mut self, outside: &[Outside]) {
        for Outside { attachment, at, layer, tile } in outside {
            self.failing += 1;
            self.keep(Wrong {
                place: format!("attachment {attachment}, texel {at:?}, layer {layer}"),
                got: format!("changed by the tile at {tile:?}"),
                permitted: "no store outside the tile".to_owned(),
                class: "OutsideTile",
            });
        }
    }

    fn keep(&mut self, wrong: Wrong) {
        if self.wrong.len() < KEPT {
            self.wrong.push(wrong);
        }
    }

    /// Compares all of a pass; `class` names what is wrong.
    pub(super) fn compare(&mut self, pass: &Pass, left: &Contents, permitted: &Permitted, class: &'static str) {
        for (index, (got, expected)) in left.attachments.iter().zip(&permitted.contents.attachments).enumerate() {
            let bytes = pass.texel_bytes(index);
            let place = |at: usize| {
                let texel = at / bytes;
                let [width, height] = pass.extent.map(|n| n as usize);
                let (x, y, layer) = (texel % width, texel / width % height, texel / width / height);
                format!("attachment {index}, texel ({x}, {y}), layer {layer}, byte {}", at % bytes)
            };
            // Channels of the formats here are whole bytes, of which a texel has at most 16.
            self.bytes((got, expected), &permitted.attachments[index], bytes.min(4), &place, class);
        }
        for (index, (got, expected)) in left.buffers.iter().zip(&permitted.contents.buffers).enumerate() {
            let place = |at: usize| format!("buffer {index}, byte {at}");
            self.bytes((got, expected), &permitted.buffers[index], 4, &place, class);
        }
    }

    fn bytes(
        &mut self,
        (got, expected): (&[u8], &[u8]),
        cells: &BTreeMap<u64, Cell>,
        unit: usize,
        place: &dyn Fn(usize) -> String,
        class: &'static str,
    ) {
        let mut at = 0;
        while at < expected.len() {
            if let Some(cell) = cells.get(&(at as u64)) {
                let size = (cell.width / 8) as usize;
                let bits = number(&got[at..at + size]);
                self.cell(cell, bits, || place(at), class);
                at += size;
                continue;
            }
            let next = cells.range(at as u64..).next().map_or(expected.len(), |(offset, _)| *offset as usize);
            let end = (at + unit).min(next).min(expected.len());
            self.checked += 1;
            if got[at..end] != expected[at..end] {
                self.failing += 1;
                let hex = |bytes: &[u8]| format!("{:#x}", number(bytes));
                let (got, permitted) = (hex(&got[at..end]), hex(&expected[at..end]));
                self.keep(Wrong { place: place(at), got, permitted, class });
            }
            at = end;
        }
    }

    fn cell(&mut self, cell: &Cell, bits: u64, place: impl FnOnce() -> String, class: &'static str) {
        match cell.expected.permits(bits) {
            None => self.unchecked += 1,
            Some(true) => self.checked += 1,
            Some(false) => {
                self.checked += 1;
                if cell.lenient.as_ref().is_some_and(|lenient| lenient.permits(bits) != Some(false)) {
                    self.lenient += 1;
                    return;
                }
                self.failing += 1;
                let permitted = match &cell.expected {
                    Expected::Exact(bits) => format!("{bits:#x}"),
                    Expected::OneOf(patterns) => format!("one of {patterns:x?}"),
                    Expected::Float { set, format } => format!("{:?} of {}", set, format.name),
                    Expected::Undetermined(_) => "anything".to_owned(),
                };
                self.keep(Wrong { place: place(), got: format!("{bits:#x}"), permitted, class });
            }
        }
    }
}

/// Little-endian bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}
