//! Shading rates of every shape, with and without `vkCmdDispatchTileQCOM`, and render areas that
//! cut tiles.

use super::{FRAME, PassSpec, about, bytes_of, texels_of, tile_index, words_of};
use crate::Case;
use crate::tile::pass::Pass;
use crate::tile::shader_text::TileCover;
use assay_spirv::tables::ImageFormat;

/// Number of tiles that the counts have room for, in any grid.
const TILES: usize = 512;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for layers in [1, 4] {
        for z in [1, 2, 4].into_iter().filter(|z| *z <= layers) {
            for (x, y) in [1, 2, 4, 8].into_iter().flat_map(|x| [1, 2, 4, 8].map(|y| (x, y))) {
                let thinned = layers > 1 && x != y;
                cases.push(rate([x, y, z], layers, true).thinned(thinned));
                cases.push(rate([x, y, z], layers, false).thinned(thinned || x > 2 || y > 2));
            }
        }
    }
    for tile in [[8, 8], [24, 16], [96, 64], [7, 5]] {
        for (name, area) in [
            ("all", [[0, 0], FRAME]),
            ("corner", [[0, 0], [1, 1]]),
            ("last", [[37, 21], [1, 1]]),
            ("row", [[2, 9], [34, 1]]),
            ("column", [[17, 1], [1, 20]]),
            ("inner", [[9, 10], [6, 5]]),
            ("odd", [[7, 7], [18, 14]]),
        ] {
            cases.push(area_case(name, tile, area));
        }
    }
    cases
}

const RULE: &str = "every texel of the render area is processed once, by a block of its own tile";

fn kernel(spec: &mut PassSpec) {
    let (ty, at) =
        if spec.layers > 1 { ("texture_storage_2d_array", "at, layer") } else { ("texture_storage_2d", "at") };
    spec.storage(0, ImageFormat::R32ui);
    spec.words(1, &[0; TILES]);
    spec.kernel(
        &format!(
            "@group(0) @binding(0) var image0: {ty}<r32uint, read_write>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;"
        ),
        format!(
            "let value = textureLoad(image0, {at}).x * 3u + at.x + 1000u * at.y + 100000u * layer;
textureStore(image0, {at}, vec4<u32>(value, 0u, 0u, 1u));
atomicAdd(&counts[tile_index()], 1u);"
        ),
    );
    spec.reference = Some(Box::new(reference));
}

fn reference(pass: &Pass, tile: [u32; 2]) -> assay_exec::PassContents {
    let mut left = pass.contents();
    let (mut image, mut counts) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
    for ([x, y], layer, i) in texels_of(pass) {
        image[i] = image[i].wrapping_mul(3).wrapping_add(x + 1000 * y + 100_000 * layer);
        counts[tile_index(pass, tile, [x, y])] += 1;
    }
    (left.attachments[0], left.buffers[0]) = (bytes_of(&image), bytes_of(&counts));
    left
}

fn rate(block: [u32; 3], layers: u32, dispatch_tile: bool) -> Case {
    let [x, y, z] = block;
    let how = if dispatch_tile { "dispatch_tile" } else { "groups" };
    let name = format!("tile.rate.{how}.{x}x{y}x{z}.layers{layers}");
    let subject = about("OpImageWrite", format!("{x}x{y}x{z} of {layers} layers"), RULE);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.layers = layers;
        spec.cover = match dispatch_tile {
            true => TileCover::Rate(block),
            false => TileCover::Groups { local: [4, 2, 1], block },
        };
        kernel(&mut spec);
        spec.build()
    })
}

fn area_case(area_name: &str, tile: [u32; 2], area: [[u32; 2]; 2]) -> Case {
    let name = format!("tile.area.{area_name}.tile{}x{}", tile[0], tile[1]);
    let subject = about("OpImageWrite", format!("area {area_name}"), RULE);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.tile = tile;
        spec.set_area(area);
        kernel(&mut spec);
        spec.build()
    })
}
