//! Comparison of a pass's results with the permitted ones.

use super::attachment_picture::{number, picture};
use super::model::StrayWrite;
use super::pass::{Pass, PermittedContents};
use assay_events::{Picture, class_names};
use assay_exec::PassContents;
use assay_oracle::{Cell, Expected, Standing, texel_scalars};
use assay_precision::Scalar;
use std::collections::BTreeMap;

/// A value that is not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrongValue {
    /// Attachment and texel, or buffer and byte.
    pub place: String,
    /// The value's type, if known.
    pub scalar: Option<Scalar>,
    /// The value found.
    pub got: String,
    /// The permitted values.
    pub permitted: String,
}

/// The wrong values of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrongValues {
    /// The failure class.
    pub class: &'static str,
    /// Number of wrong values.
    pub count: u64,
    /// The first wrong values, at most [`KEPT`].
    pub first: Vec<WrongValue>,
}

/// Error: a resource to be compared is missing or has the wrong size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} has {left} bytes instead of {permitted}")]
pub(super) struct WrongSize {
    what: String,
    permitted: usize,
    left: usize,
}

/// Largest number of wrong values kept for a class.
const KEPT: usize = 8;

/// Outcome of a comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// Number of compared values.
    pub checked: u64,
    /// Number of values whose permitted set is unknown.
    pub unchecked: u64,
    /// Number of values that only the lenient reading permits.
    pub lenient: u64,
    /// Wrong values by class, in the order in which the classes occurred.
    pub wrong: Vec<WrongValues>,
    /// Width and height of the tiles; 0 if they are not known.
    pub tile: [u32; 2],
    /// A picture of the first attachment with a wrong texel.
    pub picture: Option<Box<Picture>>,
}

impl Comparison {
    /// Number of wrong values of all classes.
    pub(super) fn failing(&self) -> u64 {
        self.wrong.iter().map(|wrong| wrong.count).sum()
    }

    /// Adds the writes outside tiles.
    pub(super) fn outside(&mut self, outside: &[StrayWrite]) {
        for StrayWrite { attachment, at, layer, tile } in outside {
            self.fail(class_names::OUTSIDE_TILE, || WrongValue {
                place: format!("attachment {attachment}, texel {at:?}, layer {layer}"),
                scalar: None,
                got: format!("changed by the tile at {tile:?}"),
                permitted: "no store outside the tile".to_owned(),
            });
        }
    }

    fn fail(&mut self, class: &'static str, wrong: impl FnOnce() -> WrongValue) {
        let at = self.wrong.iter().position(|wrongs| wrongs.class == class).unwrap_or_else(|| {
            self.wrong.push(WrongValues { class, count: 0, first: Vec::new() });
            self.wrong.len() - 1
        });
        let wrongs = &mut self.wrong[at];
        wrongs.count += 1;
        if wrongs.first.len() < KEPT {
            wrongs.first.push(wrong());
        }
    }

    /// Compares all resources of a pass; `class` is the failure class of wrong values.
    ///
    /// # Errors
    /// A resource is missing or incomplete. It could not be compared and would otherwise count as
    /// permitted.
    pub(super) fn compare(
        &mut self,
        pass: &Pass,
        left: &PassContents,
        permitted: &PermittedContents,
        class: &'static str,
    ) -> Result<(), WrongSize> {
        complete("attachment", &left.attachments, &permitted.contents.attachments)?;
        complete("buffer", &left.buffers, &permitted.contents.buffers)?;
        for (index, (got, expected)) in left.attachments.iter().zip(&permitted.contents.attachments).enumerate() {
            let bytes = pass.texel_bytes(index);
            let place = |at: usize| {
                let texel = at / bytes;
                let [width, height] = pass.extent.map(|n| n as usize);
                let (x, y, layer) = (texel % width, texel / width % height, texel / width / height);
                format!("attachment {index}, texel ({x}, {y}), layer {layer}, byte {}", at % bytes)
            };
            // In these formats all channels have one type and whole bytes, and a texel has at most
            // 16 bytes.
            let before = self.failing();
            let scalars = pass.attachments.get(index).and_then(|of| texel_scalars(of.memory_format()));
            let scalar = scalars.and_then(|scalars| scalars.first().copied());
            self.bytes((got, expected), &permitted.attachments[index], (bytes.min(4), scalar), &place, class);
            if self.failing() > before && self.picture.is_none() {
                let name = format!("attachment {index} ({class})");
                self.picture = picture((pass, self.tile), index, got, permitted, &name).map(Box::new);
            }
        }
        for (index, (got, expected)) in left.buffers.iter().zip(&permitted.contents.buffers).enumerate() {
            let place = |at: usize| format!("buffer {index}, byte {at}");
            self.bytes((got, expected), &permitted.buffers[index], (4, None), &place, class);
        }
        Ok(())
    }

    fn bytes(
        &mut self,
        (got, expected): (&[u8], &[u8]),
        cells: &BTreeMap<u64, Cell>,
        (unit, scalar): (usize, Option<Scalar>),
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
                let hex = |bytes: &[u8]| format!("{:#x}", number(bytes));
                let (got, permitted) = (&got[at..end], &expected[at..end]);
                let scalar = scalar.filter(|scalar| (scalar.width() / 8) as usize == end - at);
                self.fail(class, || WrongValue { place: place(at), scalar, got: hex(got), permitted: hex(permitted) });
            }
            at = end;
        }
    }

    fn cell(&mut self, cell: &Cell, bits: u64, place: impl FnOnce() -> String, class: &'static str) {
        match cell.expected.judge(cell.lenient.as_deref(), bits) {
            Standing::Open(_) => {
                self.unchecked += 1;
                return;
            }
            Standing::Within => {}
            Standing::Lenient => self.lenient += 1,
            Standing::Outside => self.fail(class, || WrongValue {
                place: place(),
                scalar: match &cell.expected {
                    Expected::Float { format, .. } => Some(Scalar::Float(*format)),
                    Expected::Exact(_) | Expected::OneOf(_) | Expected::Undetermined(_) => None,
                },
                got: format!("{bits:#x}"),
                permitted: match &cell.expected {
                    Expected::Exact(bits) => format!("{bits:#x}"),
                    Expected::OneOf(patterns) => format!("one of {patterns:x?}"),
                    Expected::Float { set, format } => format!("{:?} of {}", set, format.name),
                    Expected::Undetermined(_) => "anything".to_owned(),
                },
            }),
        }
        self.checked += 1;
    }
}

/// Checks that both sides have the same number of resources, of the same sizes.
fn complete(what: &str, left: &[Vec<u8>], permitted: &[Vec<u8>]) -> Result<(), WrongSize> {
    for index in 0..left.len().max(permitted.len()) {
        let length = |of: &[Vec<u8>]| of.get(index).map_or(0, Vec::len);
        let (left, permitted) = (length(left), length(permitted));
        if left != permitted {
            return Err(WrongSize { what: format!("{what} {index}"), permitted, left });
        }
    }
    Ok(())
}
