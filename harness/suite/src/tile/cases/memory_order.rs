//! Memory order between the dispatches of a tile.

use super::{PassSpec, about, bytes_of, texels_of, tile_ends, words_of};
use crate::Case;
use crate::tile::shader_text::TileCover;
use assay_exec::PassForm;
use assay_spirv::tables::ImageFormat;

pub(super) fn cases() -> Vec<Case> {
    let covers = [
        ("rate1x1", TileCover::Rate([1, 1, 1])),
        ("rate2x2", TileCover::Rate([2, 2, 1])),
        ("rate8x4", TileCover::Rate([8, 4, 1])),
        ("groups", TileCover::Groups { local: [8, 8, 1], block: [1, 1, 1] }),
    ];
    let mut cases = Vec::new();
    for (name, cover) in covers {
        cases.push(mirrored(name, cover));
        cases.push(row_sums(name, cover));
        cases.push(chain(name, cover));
    }
    cases
}

const RULE: &str = "after a barrier, an earlier dispatch's stores are visible to later dispatches of the tile";

/// A step stores, and the next one loads texels that other invocations of the tile stored.
fn mirrored(cover_name: &str, cover: TileCover) -> Case {
    let name = format!("tile.order.mirror.{cover_name}");
    Case::tiles(name.clone(), about("OpImageRead", "r32ui", RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.cover) = (PassForm::Objects, cover);
        spec.storage(0, ImageFormat::R32ui);
        spec.storage(1, ImageFormat::R32ui);
        let declarations = "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read_write>;";
        spec.kernel(
            declarations,
            "textureStore(image0, at, vec4<u32>(textureLoad(image0, at).x * 5u + 1u, 0u, 0u, 1u));",
        );
        spec.kernel(
            declarations,
            "let other = tile_first() + tile_last() - at;
textureStore(image1, at, vec4<u32>(textureLoad(image0, other).x ^ at.x, 0u, 0u, 1u));",
        );
        spec.reference = Some(Box::new(|pass, tile| {
            let mut left = pass.contents();
            let (mut first, mut second) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            texels_of(pass).for_each(|(_, _, i)| first[i] = first[i].wrapping_mul(5).wrapping_add(1));
            for (at, _, i) in texels_of(pass) {
                let [begin, end] = tile_ends(pass, tile, at);
                let [x, y]: [u32; 2] = std::array::from_fn(|k| begin[k] + end[k] - at[k]);
                second[i] = first[(x + pass.extent[0] * y) as usize] ^ at[0];
            }
            (left.attachments[0], left.attachments[1]) = (bytes_of(&first), bytes_of(&second));
            left
        }));
        spec.build()
    })
}

/// A step sums each row of the tile with atomics, and the next one copies the sum to the whole row.
fn row_sums(cover_name: &str, cover: TileCover) -> Case {
    let name = format!("tile.order.rows.{cover_name}");
    Case::tiles(name.clone(), about("OpAtomicIAdd", "r32ui", RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.cover) = (PassForm::Objects, cover);
        spec.storage(0, ImageFormat::R32ui);
        spec.storage(1, ImageFormat::R32ui);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, atomic>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read>;",
            "textureAtomicAdd(image0, vec2<u32>(tile_first().x, at.y), textureLoad(image1, at).x);",
        );
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read_write>;",
            "textureStore(image1, at, vec4<u32>(textureLoad(image0, vec2<u32>(tile_first().x, at.y)).x, 0u, 0u, 1u));",
        );
        spec.reference = Some(Box::new(|pass, tile| {
            let mut left = pass.contents();
            let (mut sums, mut image) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            let to = |at: [u32; 2]| (tile_ends(pass, tile, at)[0][0] + pass.extent[0] * at[1]) as usize;
            texels_of(pass).for_each(|(at, _, i)| sums[to(at)] = sums[to(at)].wrapping_add(image[i]));
            texels_of(pass).for_each(|(at, _, i)| image[i] = sums[to(at)]);
            (left.attachments[0], left.attachments[1]) = (bytes_of(&sums), bytes_of(&image));
            left
        }));
        spec.build()
    })
}

/// Four steps, each on the results of the previous one.
fn chain(cover_name: &str, cover: TileCover) -> Case {
    let name = format!("tile.order.chain.{cover_name}");
    Case::tiles(name.clone(), about("OpImageWrite", "r32ui", RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.cover) = (PassForm::Objects, cover);
        spec.storage(0, ImageFormat::R32ui);
        for step in 1..5 {
            spec.kernel(
                "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;",
                format!("textureStore(image0, at, vec4<u32>(textureLoad(image0, at).x * {step}u + 7u, 0u, 0u, 1u));"),
            );
        }
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let mut image = words_of(&left.attachments[0]);
            for (_, _, i) in texels_of(pass) {
                (1..5).for_each(|step| image[i] = image[i].wrapping_mul(step).wrapping_add(7));
            }
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}
