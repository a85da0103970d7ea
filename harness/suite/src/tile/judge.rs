//! What was left against what is permitted.

use super::model::Outside;
use super::pass::{Contents, Pass, Permitted};
use super::picture::picture;
use assay_oracle::{Cell, Expected, Standing, texel_scalars};
use assay_precision::Scalar;
use assay_runner::{Picture, class};
use std::collections::BTreeMap;

/// A value that is not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Where: attachment and texel, or buffer and byte.
    pub place: String,
    /// Its type, where it is a number of one.
    pub scalar: Option<Scalar>,
    /// What is there.
    pub got: String,
    /// What may be there.
    pub permitted: String,
}

/// The wrong values of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrongs {
    /// What kind of mistake.
    pub class: &'static str,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Wrong>,
}

/// What was to be compared is not there, or is not as long as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} should be {permitted} bytes, and {left} were left")]
pub(super) struct Incomplete {
    what: String,
    permitted: usize,
    left: usize,
}

/// How many wrong values of a class are kept.
const KEPT: usize = 8;

/// What a comparison came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// Values compared.
    pub checked: u64,
    /// Values of which nothing is known.
    pub unchecked: u64,
    /// Values that only a lenient reading permits.
    pub lenient: u64,
    /// Wrong ones by what kind of mistake, in the order in which the kinds were met.
    pub wrong: Vec<Wrongs>,
    /// The first attachment with a wrong texel.
    pub picture: Option<Box<Picture>>,
}

impl Verdict {
    /// Wrong values of all kinds.
    pub(super) fn failing(&self) -> u64 {
        self.wrong.iter().map(|wrong| wrong.count).sum()
    }

    /// Adds texels that were changed outside tiles.
    pub(super) fn outside(&mut self, outside: &[Outside]) {
        for Outside { attachment, at, layer, tile } in outside {
            self.fail(class::OUTSIDE_TILE, || Wrong {
                place: format!("attachment {attachment}, texel {at:?}, layer {layer}"),
                scalar: None,
                got: format!("changed by the tile at {tile:?}"),
                permitted: "no store outside the tile".to_owned(),
            });
        }
    }

    fn fail(&mut self, class: &'static str, wrong: impl FnOnce() -> Wrong) {
        let at = self.wrong.iter().position(|wrongs| wrongs.class == class).unwrap_or_else(|| {
            self.wrong.push(Wrongs { class, count: 0, first: Vec::new() });
            self.wrong.len() - 1
        });
        let wrongs = &mut self.wrong[at];
        wrongs.count += 1;
        if wrongs.first.len() < KEPT {
            wrongs.first.push(wrong());
        }
    }

    /// Compares all of a pass; `class` names what is wrong.
    ///
    /// # Errors
    /// Something is missing: it could not be compared, and would look as if it were permitted.
    pub(super) fn compare(
        &mut self,
        pass: &Pass,
        left: &Contents,
        permitted: &Permitted,
        class: &'static str,
    ) -> Result<(), Incomplete> {
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
            // Channels of the formats here are whole bytes, of which a texel has at most 16, and of one type.
            let before = self.failing();
            let scalars = pass.attachments.get(index).and_then(|of| texel_scalars(of.memory_format()));
            let scalar = scalars.and_then(|scalars| scalars.first().copied());
            self.bytes((got, expected), &permitted.attachments[index], (bytes.min(4), scalar), &place, class);
            if self.failing() > before && self.picture.is_none() {
                self.picture =
                    picture(pass, index, got, permitted, &format!("attachment {index} ({class})")).map(Box::new);
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
                self.fail(class, || Wrong { place: place(at), scalar, got: hex(got), permitted: hex(permitted) });
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
            Standing::Outside => self.fail(class, || Wrong {
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

/// Whether as many pieces of memory of the same lengths were left as are permitted.
fn complete(what: &str, left: &[Vec<u8>], permitted: &[Vec<u8>]) -> Result<(), Incomplete> {
    for index in 0..left.len().max(permitted.len()) {
        let length = |of: &[Vec<u8>]| of.get(index).map_or(0, Vec::len);
        let (left, permitted) = (length(left), length(permitted));
        if left != permitted {
            return Err(Incomplete { what: format!("{what} {index}"), permitted, left });
        }
    }
    Ok(())
}

/// Little-endian bytes as a number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}
