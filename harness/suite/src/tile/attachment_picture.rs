//! Picture of an attachment with wrong texels.

use super::pass::{Pass, PermittedContents};
use assay_check::{approximate, number_type};
use assay_events::{Picture, PictureTiles, TexelGrid};
use assay_float::F32;
use assay_oracle::{Standing, texel_scalars};
use assay_precision::Scalar;
use assay_texture::TexelFormat;

/// Draws the attachment with its layers below each other. The tiles of the pass have this width and
/// height, unless it is 0. `None` if no texel is wrong.
pub(super) fn picture(
    (pass, tile): (&Pass, [u32; 2]),
    index: usize,
    got: &[u8],
    permitted: &PermittedContents,
    what: &str,
) -> Option<Picture> {
    let scalars = match pass.attachments.get(index)?.format {
        TexelFormat::Color(format) => texel_scalars(format)?,
        TexelFormat::Depth32 => vec![Scalar::Float(F32)],
        TexelFormat::Stencil8 => vec![Scalar::Int { width: 8, signed: false }],
    };
    let (expected, cells) = (permitted.contents.attachments.get(index)?, permitted.attachments.get(index)?);
    let [width, layer] = pass.extent.map(|n| n as usize);
    let tiles = PictureTiles { size: tile.map(|n| n as usize), apron: pass.apron.map(|n| n as usize), layer };
    let mut texels = TexelGrid {
        width,
        channels: scalars.len().min(4),
        number: number_type(*scalars.first()?),
        tiles: (!tile.contains(&0)).then_some(tiles),
        ..TexelGrid::default()
    };
    let size = pass.texel_bytes(index);
    for (texel, (got, expected)) in got.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
        let (mut values, mut at, mut wrong) = ([[0.0; 4]; 2], 0, false);
        for (channel, scalar) in scalars.iter().enumerate().take(4) {
            let bytes = (scalar.width() / 8) as usize;
            let (got, expected) = (number(&got[at..at + bytes]), number(&expected[at..at + bytes]));
            wrong |= match cells.get(&((texel * size + at) as u64)) {
                Some(cell) => cell.expected.judge(cell.lenient.as_deref(), got) == Standing::Outside,
                None => got != expected,
            };
            values[0][channel] = approximate(*scalar, expected);
            values[1][channel] = approximate(*scalar, got);
            at += bytes;
        }
        texels.expected.push(values[0]);
        texels.got.push(values[1]);
        texels.wrong.push(wrong);
    }
    texels.picture(what)
}

/// Reads little-endian bytes as a number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}
