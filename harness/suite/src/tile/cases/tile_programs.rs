//! Typical uses of tile shading: histograms, depth ranges, blurs, tone mapping, downsampling, light
//! culling.

use super::{PassSpec, about, bytes_of, noise, texels_of, tile_index, words_of};
use crate::Case;
use crate::tile::shader_text::TileCover;
use assay_exec::{AttachmentRole, ImageAccess, PassForm};
use assay_spirv::tables::ImageFormat as F;
use assay_texture::TexelFormat;

/// Number of tiles that buffers have room for, in any grid.
const TILES: usize = 512;

const RULE: &str = "a complete program gives the results of an ordinary shader over the whole frame";

pub(super) fn cases() -> Vec<Case> {
    let covers = [
        ("rate4x4", TileCover::Rate([4, 4, 1])),
        ("rate1x8", TileCover::Rate([1, 8, 1])),
        ("groups", TileCover::Groups { local: [8, 4, 1], block: [1, 1, 1] }),
    ];
    let mut cases = Vec::new();
    for (name, cover) in covers {
        for make in [histogram, depth_range, blur, tone_map, downsample, light_culling] {
            cases.push(make(name, cover));
        }
    }
    cases
}

fn case(
    program: &str,
    cover_name: &str,
    instruction: &'static str,
    cover: TileCover,
    fill: impl Fn(&mut PassSpec) + Send + Sync + 'static,
) -> Case {
    let name = format!("tile.program.{program}.{cover_name}");
    Case::tiles(name.clone(), about(instruction, program, RULE), move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.cover = cover;
        fill(&mut spec);
        spec.build()
    })
}

fn histogram(cover_name: &str, cover: TileCover) -> Case {
    case("histogram", cover_name, "OpAtomicIAdd", cover, |spec| {
        spec.storage(0, F::Rgba8ui);
        spec.words(1, &[0; TILES * 16]);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<rgba8uint, read_write>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;",
            "let color = textureLoad(image0, at);
let luma = (color.x * 77u + color.y * 150u + color.z * 29u) >> 8u;
atomicAdd(&bins[tile_index() * 16u + (luma >> 4u)], 1u);",
        );
        spec.reference = Some(Box::new(|pass, tile| {
            let mut left = pass.contents();
            let mut bins = words_of(&left.buffers[0]);
            for (at, _, i) in texels_of(pass) {
                let color: [u32; 4] = std::array::from_fn(|k| u32::from(left.attachments[0][i * 4 + k]));
                let luma = (color[0] * 77 + color[1] * 150 + color[2] * 29) >> 8;
                bins[tile_index(pass, tile, at) * 16 + (luma >> 4) as usize] += 1;
            }
            left.buffers[0] = bytes_of(&bins);
            left
        }));
    })
}

/// Two words for each tile: the least and the greatest depth, as bits.
const RANGES: &str = "@group(0) @binding(1) var depth: texture_depth_2d;
@group(0) @binding(2) var<storage, read_write> ranges: array<atomic<u32>>;";

const RANGE: &str = "let bits = bitcast<u32>(textureLoad(depth, at, 0));
atomicMin(&ranges[tile_index() * 2u], bits);
atomicMax(&ranges[tile_index() * 2u + 1u], bits);";

fn empty_ranges() -> Vec<u32> {
    [u32::MAX, 0].repeat(TILES)
}

fn depth_range(cover_name: &str, cover: TileCover) -> Case {
    case("depth_range", cover_name, "OpAtomicUMin", cover, |spec| {
        spec.attachment(1, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.words(2, &empty_ranges());
        spec.kernel(RANGES, RANGE);
        spec.reference = Some(Box::new(|pass, tile| {
            let mut left = pass.contents();
            let (depth, mut ranges) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
            for (at, _, i) in texels_of(pass) {
                let first = tile_index(pass, tile, at) * 2;
                ranges[first] = ranges[first].min(depth[i]);
                ranges[first + 1] = ranges[first + 1].max(depth[i]);
            }
            left.buffers[0] = bytes_of(&ranges);
            left
        }));
    })
}

fn blur(cover_name: &str, cover: TileCover) -> Case {
    case("blur", cover_name, "OpImageRead", cover, |spec| {
        spec.apron = [2, 2];
        spec.storage(0, F::Rgba8ui);
        spec.storage(1, F::Rgba8ui);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<rgba8uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<rgba8uint, read>;",
            "var sum = vec4<u32>(12u);
for (var dy = -2; dy <= 2; dy++) {
    for (var dx = -2; dx <= 2; dx++) { sum += textureLoad(image1, in_area(vec2<i32>(at) + vec2<i32>(dx, dy))); }
}
textureStore(image0, at, sum / vec4<u32>(25u));",
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let source = left.attachments[1].clone();
            let [[x0, y0], [w, h]] = pass.area.map(|v| v.map(i64::from));
            for ([x, y], _, i) in texels_of(pass) {
                for channel in 0..4 {
                    let mut sum = 12u32;
                    for (dx, dy) in (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (dx, dy))) {
                        let u = (i64::from(x) + dx).clamp(x0, x0 + w - 1);
                        let v = (i64::from(y) + dy).clamp(y0, y0 + h - 1);
                        let texel = (u + i64::from(pass.extent[0]) * v) as usize;
                        sum += u32::from(source[texel * 4 + channel]);
                    }
                    left.attachments[0][i * 4 + channel] = (sum / 25) as u8;
                }
            }
            left
        }));
    })
}

fn tone_map(cover_name: &str, cover: TileCover) -> Case {
    case("tone_map", cover_name, "OpFDiv", cover, |spec| {
        spec.storage(0, F::Rgba8);
        spec.storage(1, F::Rgba32f);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(1) var image1: texture_storage_2d<rgba32float, read>;",
            "let color = textureLoad(image1, at);
textureStore(image0, at, color / (color + vec4<f32>(1.0)));",
        );
    })
}

/// The mean of each 2 x 2 texels, stored to the first of them.
fn downsample(cover_name: &str, cover: TileCover) -> Case {
    case("downsample", cover_name, "OpImageWrite", cover, |spec| {
        spec.storage(0, F::Rgba8ui);
        spec.storage(1, F::Rgba8ui);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<rgba8uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<rgba8uint, read>;",
            "if any((at & vec2<u32>(1u)) != vec2<u32>(0u)) { return; }
var sum = vec4<u32>(2u);
for (var y = 0; y < 2; y++) {
    for (var x = 0; x < 2; x++) { sum += textureLoad(image1, in_area(vec2<i32>(at) + vec2<i32>(x, y))); }
}
textureStore(image0, at, max(sum >> vec4<u32>(2u), vec4<u32>(60u)) - vec4<u32>(60u));",
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let source = left.attachments[1].clone();
            let [[x0, y0], [w, h]] = pass.area;
            for ([x, y], _, i) in texels_of(pass).filter(|([x, y], ..)| x % 2 == 0 && y % 2 == 0) {
                for channel in 0..4 {
                    let mut sum = 2u32;
                    for (u, v) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                        let (u, v) = (u.min(x0 + w - 1), v.min(y0 + h - 1));
                        sum += u32::from(source[(u + pass.extent[0] * v) as usize * 4 + channel]);
                    }
                    left.attachments[0][i * 4 + channel] = (sum >> 2).saturating_sub(60) as u8;
                }
            }
            left
        }));
    })
}

/// Number of lights, each a bit of a mask.
const LIGHTS: usize = 32;

/// Computes each tile's depth range, then the mask of the lights that reach the tile: those within
/// their radius of it and within its depth range.
fn light_culling(cover_name: &str, cover: TileCover) -> Case {
    case("light_culling", cover_name, "OpAtomicOr", cover, |spec| {
        spec.form = PassForm::Objects;
        spec.attachment(1, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.words(2, &empty_ranges());
        spec.words(3, &[0; TILES]);
        // Coordinates, radius, and the bits of the depth.
        let light = |i: usize| {
            let depth = (noise(i, 99) % 65) as f32 / 64.0;
            [noise(i, 96) % 38, noise(i, 97) % 22, noise(i, 98) % 8, depth.to_bits()]
        };
        spec.words(4, &(0..LIGHTS).flat_map(light).collect::<Vec<_>>());
        spec.kernel(RANGES, RANGE);
        spec.kernel(
            "@group(0) @binding(2) var<storage, read_write> ranges: array<u32>;
@group(0) @binding(3) var<storage, read_write> masks: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read> lights: array<vec4<u32>>;",
            "if any(at != tile_first()) { return; }
let least = bitcast<f32>(ranges[tile_index() * 2u]);
let greatest = bitcast<f32>(ranges[tile_index() * 2u + 1u]);
for (var i = 0u; i < 32u; i++) {
    let light = lights[i];
    let nearest = clamp(light.xy, tile_first(), tile_last());
    let away = vec2<i32>(nearest) - vec2<i32>(light.xy);
    let reaches = u32(away.x * away.x + away.y * away.y) <= light.z * light.z;
    let depth = bitcast<f32>(light.w);
    if reaches && depth >= least && depth <= greatest { atomicOr(&masks[tile_index()], 1u << i); }
}",
        );
        spec.reference = Some(Box::new(light_culling_reference));
    })
}

fn light_culling_reference(pass: &crate::tile::Pass, tile: [u32; 2]) -> assay_exec::PassContents {
    let mut left = pass.contents();
    let depth = words_of(&left.attachments[0]);
    let [mut ranges, mut masks, lights] = [0, 1, 2].map(|i| words_of(&left.buffers[i]));
    for (at, _, i) in texels_of(pass) {
        let first = tile_index(pass, tile, at) * 2;
        ranges[first] = ranges[first].min(depth[i]);
        ranges[first + 1] = ranges[first + 1].max(depth[i]);
    }
    for (at, ..) in texels_of(pass) {
        let index = tile_index(pass, tile, at);
        let [first, last] = super::tile_ends(pass, tile, at);
        for (i, light) in lights.chunks_exact(4).enumerate() {
            let away = |k: usize| i64::from(light[k].clamp(first[k], last[k])) - i64::from(light[k]);
            let reaches = away(0).pow(2) + away(1).pow(2) <= i64::from(light[2]).pow(2);
            // The bits of non-negative floats have the order of their values.
            if reaches && (ranges[index * 2]..=ranges[index * 2 + 1]).contains(&light[3]) {
                masks[index] |= 1 << i;
            }
        }
    }
    (left.buffers[0], left.buffers[1]) = (bytes_of(&ranges), bytes_of(&masks));
    left
}
