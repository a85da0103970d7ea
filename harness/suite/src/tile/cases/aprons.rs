//! Aprons: loads beyond the tile, up to the borders of the image and the render area.

use super::{FRAME, PassSpec, about, bytes_of, texels_of, words_of};
use crate::Case;
use assay_exec::{AttachmentRole, ImageAccess, PassForm};
use assay_spirv::tables::ImageFormat;
use assay_texture::TexelFormat;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for apron in [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [1, 0], [0, 1], [4, 1], [2, 3]] {
        for (border, area) in [("image", [[0, 0], FRAME]), ("area", [[3, 3], [33, 17]])] {
            for sampled in [false, true] {
                for tile in [[8, 8], [16, 6]] {
                    cases.push(case(apron, border, area, sampled, tile).thinned(sampled && tile[0] == 16));
                }
            }
        }
    }
    cases.extend([[1, 1], [2, 2]].map(objects));
    cases
}

const RULE: &str = "loads within the apron and the render area return the results of the load operation";

fn fill(spec: &mut PassSpec, sampled: bool) {
    let [ax, ay] = spec.apron;
    spec.storage(0, ImageFormat::R32ui);
    let access = if sampled { ImageAccess::Sampled } else { ImageAccess::Storage };
    spec.attachment(1, TexelFormat::Color(ImageFormat::R32ui), access, AttachmentRole::Color);
    let (source, level) = if sampled { ("texture_2d<u32>", ", 0") } else { ("texture_storage_2d<r32uint, read>", "") };
    spec.kernel(
        &format!(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: {source};"
        ),
        // Each neighbour has a different weight, so exchanging two changes the sum.
        format!(
            "var sum = tile_apron.x * 3u + tile_apron.y;
for (var dy = -{ay}; dy <= {ay}; dy++) {{
    for (var dx = -{ax}; dx <= {ax}; dx++) {{
        let weight = u32((dy + 4) * 9 + dx + 5);
        sum += textureLoad(image1, in_area(vec2<i32>(at) + vec2<i32>(dx, dy)){level}).x * weight;
    }}
}}
textureStore(image0, at, vec4<u32>(sum, 0u, 0u, 1u));"
        ),
    );
    spec.reference = Some(Box::new(move |pass, _| {
        let mut left = pass.contents();
        let (mut image, source) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
        let [[x0, y0], [w, h]] = pass.area.map(|v| v.map(i64::from));
        let (ax, ay) = (i64::from(ax), i64::from(ay));
        for ([x, y], _, i) in texels_of(pass) {
            let mut sum = ax as u32 * 3 + ay as u32;
            for (dx, dy) in (-ay..=ay).flat_map(|dy| (-ax..=ax).map(move |dx| (dx, dy))) {
                let (u, v) = ((i64::from(x) + dx).clamp(x0, x0 + w - 1), (i64::from(y) + dy).clamp(y0, y0 + h - 1));
                let texel = source[(u + i64::from(pass.extent[0]) * v) as usize];
                sum = sum.wrapping_add(texel.wrapping_mul(((dy + 4) * 9 + dx + 5) as u32));
            }
            image[i] = sum;
        }
        left.attachments[0] = bytes_of(&image);
        left
    }));
}

fn case(apron: [u32; 2], border: &str, area: [[u32; 2]; 2], sampled: bool, tile: [u32; 2]) -> Case {
    let ([ax, ay], [w, h]) = (apron, tile);
    let how = if sampled { "fetch" } else { "load" };
    let name = format!("tile.apron.{ax}x{ay}.{border}.{how}.tile{w}x{h}");
    let op = if sampled { "OpImageFetch" } else { "OpImageRead" };
    Case::tiles(name.clone(), about(op, format!("apron {ax}x{ay}"), RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.apron, spec.tile) = (apron, tile);
        spec.set_area(area);
        fill(&mut spec, sampled);
        spec.build()
    })
}

/// With render pass objects, where the subpass declares the apron.
fn objects(apron: [u32; 2]) -> Case {
    let [ax, ay] = apron;
    let name = format!("tile.apron.{ax}x{ay}.objects");
    Case::tiles(name.clone(), about("OpImageRead", format!("apron {ax}x{ay}"), RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.apron, spec.form) = (apron, PassForm::Objects);
        fill(&mut spec, false);
        spec.build()
    })
}
