//! Pictures of failing results: of an image, or of a buffer that represents one.

use crate::compare::Permitted;
use crate::memory_layout::{Element, MemoryContents, PathStep};
use assay_events::{NumberType, Picture, TexelGrid};
use assay_exec::Descriptor;
use assay_oracle::{Memory, Outcome, Slot, Standing};
use assay_precision::Scalar;
use std::collections::BTreeMap;

/// Returns a picture of the first image with a wrong texel. A buffer counts as an image, with four
/// scalars for each texel, if `row` gives the number of texels in a row.
pub(crate) fn picture(
    outcome: &Outcome,
    descriptors: &[Descriptor],
    got: &BTreeMap<Slot, Vec<u8>>,
    row: Option<usize>,
) -> Option<Picture> {
    descriptors.iter().filter(|descriptor| descriptor.is_read_back()).find_map(|descriptor| {
        let (memory, got) = (outcome.memory.get(&descriptor.slot)?, got.get(&descriptor.slot)?);
        let contents = MemoryContents::of(descriptor)?;
        let samples = descriptor.texels.as_ref().map_or(1, |texels| texels.without_contents().samples as usize);
        let mut builder = PictureBuilder { texels: TexelGrid::default(), memory, got, channels: 0, samples };
        contents.walk_scalars(got.len() as u64, &mut |element, path| {
            builder.add(element, path, matches!(contents, MemoryContents::Block(_)))
        });
        match contents {
            MemoryContents::Texels(_) => {}
            MemoryContents::Block(_) => builder.texels.width = row?,
        }
        builder.texels.picture(&descriptor.label())
    })
}

/// Returns an approximate value of a scalar, for drawing.
pub fn approximate(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::Float(format) => format.to_f64(bits),
        Scalar::Int { width, signed: true } => (bits << (64 - width)).cast_signed().wrapping_shr(64 - width) as f64,
        Scalar::Int { .. } | Scalar::Bool => bits as f64,
    }
}

/// Returns the type of numbers as which scalars are drawn.
pub fn number_type(scalar: Scalar) -> NumberType {
    match scalar {
        Scalar::Int { width: 64, .. } | Scalar::Float(_) => NumberType::Float,
        Scalar::Int { signed: true, .. } => NumberType::Int,
        Scalar::Int { .. } | Scalar::Bool => NumberType::Uint,
    }
}

struct PictureBuilder<'a> {
    texels: TexelGrid,
    memory: &'a Memory,
    got: &'a [u8],
    /// Channels of the last texel so far.
    channels: usize,
    /// Samples of a texel.
    samples: usize,
}

impl PictureBuilder<'_> {
    /// Adds a scalar to the last texel, or as the first of a new one. Only the first mip level of
    /// an image is drawn, with layers and slices one below the other. Samples of a texel are drawn
    /// as texels side by side.
    fn add(&mut self, element: Element, path: &[PathStep<'_>], buffer: bool) {
        let first = match (buffer, path) {
            (true, _) => self.channels == 4 || self.texels.wrong.is_empty(),
            (false, [PathStep::Texel { at: [x, ..], level: 0, sample, .. }, channel @ ..]) => {
                let column = *x as usize * self.samples + sample.unwrap_or(0) as usize;
                self.texels.width = self.texels.width.max(column + 1);
                matches!(channel, [] | [PathStep::Member(0, _), ..])
            }
            (false, _) => return,
        };
        if first {
            self.channels = 0;
            self.texels.expected.push([0.0; 4]);
            self.texels.got.push([0.0; 4]);
            self.texels.wrong.push(false);
        }
        let width = element.scalar.width();
        let permitted = Permitted::of(self.memory, element.offset, width);
        let (Some(got), Some(expected)) = (element.read(self.got), element.read(self.memory.bytes())) else { return };
        let wrong = permitted.is_some_and(|permitted| permitted.judge(got) == Standing::Outside);
        let at = self.texels.wrong.len() - 1;
        self.texels.wrong[at] |= wrong;
        for (bits, values) in [(expected, &mut self.texels.expected), (got, &mut self.texels.got)] {
            // A texel whose channels are not whole bytes is one number. Its bytes serve as
            // channels.
            let packed = !buffer && path.len() == 1 && width == 32;
            match element.scalar {
                Scalar::Int { signed: false, .. } if packed => {
                    values[at] = (bits as u32).to_le_bytes().map(f64::from);
                    (self.texels.channels, self.texels.number) = (4, NumberType::Uint);
                }
                scalar => {
                    // Numbers of several types are drawn as floats.
                    let is_first = at == 0 && self.channels == 0;
                    let number = number_type(scalar);
                    let is_usual = is_first || number == self.texels.number;
                    self.texels.number = if is_usual { number } else { NumberType::Float };
                    self.texels.channels = self.texels.channels.max(self.channels + 1).min(4);
                    if let Some(value) = values[at].get_mut(self.channels) {
                        *value = approximate(scalar, bits);
                    }
                }
            }
        }
        self.channels += 1;
    }
}
