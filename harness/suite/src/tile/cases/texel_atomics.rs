//! Atomic operations on tile attachments.

use super::{PassSpec, about, bytes_of, texels_of, tile_ends, words_of};
use crate::Case;
use assay_spirv::tables::ImageFormat;

/// WGSL name, SPIR-V instruction, and effect.
type Operation = (&'static str, &'static str, fn(u32, u32) -> u32);

const UNSIGNED: [Operation; 6] = [
    ("Add", "OpAtomicIAdd", u32::wrapping_add),
    ("Min", "OpAtomicUMin", |a, b| a.min(b)),
    ("Max", "OpAtomicUMax", |a, b| a.max(b)),
    ("And", "OpAtomicAnd", |a, b| a & b),
    ("Or", "OpAtomicOr", |a, b| a | b),
    ("Xor", "OpAtomicXor", |a, b| a ^ b),
];

const SIGNED: [Operation; 3] = [
    ("Add", "OpAtomicIAdd", u32::wrapping_add),
    ("Min", "OpAtomicSMin", |a, b| (a as i32).min(b as i32) as u32),
    ("Max", "OpAtomicSMax", |a, b| (a as i32).max(b as i32) as u32),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (signed, operations) in [(false, &UNSIGNED[..]), (true, &SIGNED[..])] {
        for &operation in operations {
            for shared in [false, true] {
                cases.push(case(operation, signed, shared));
            }
        }
    }
    cases
}

/// If `shared` is set, all texels of a tile operate on its first texel; otherwise each operates on
/// its own.
fn case((wgsl, op, does): Operation, signed: bool, shared: bool) -> Case {
    let (scalar, format, image) =
        if signed { ("i32", "r32sint", ImageFormat::R32i) } else { ("u32", "r32uint", ImageFormat::R32ui) };
    let place = if shared { "first" } else { "own" };
    let name = format!("tile.atomic.{}.{scalar}.{place}", wgsl.to_lowercase());
    let subject = about(op, scalar, "every atomic operation on a tile's texels is applied once, in any order");
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.storage(0, image);
        spec.storage(1, image);
        let at = if shared { "tile_first()" } else { "at" };
        spec.kernel(
            &format!(
                "@group(0) @binding(0) var image0: texture_storage_2d<{format}, atomic>;
@group(0) @binding(1) var image1: texture_storage_2d<{format}, read>;"
            ),
            format!("textureAtomic{wgsl}(image0, {at}, textureLoad(image1, at).x);"),
        );
        spec.reference = Some(Box::new(move |pass, tile| {
            let mut left = pass.contents();
            let (mut image, values) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            for (at, _, i) in texels_of(pass) {
                let [x, y] = if shared { tile_ends(pass, tile, at)[0] } else { at };
                let to = (x + pass.extent[0] * y) as usize;
                image[to] = does(image[to], values[i]);
            }
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}
