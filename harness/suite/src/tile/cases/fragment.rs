//! Fragment shaders: what they load from tile attachments, and the built-ins, where a draw runs for every tile and where it runs once.
//!
//! A fragment loads of an attachment that its own draw writes no other texel than its own: nothing orders it with other fragments.
//! Buffers get what is the same however often a fragment is shaded.

use super::{Spec, about, bytes_of, noise, texels_of, tile_ends, tile_index, words_of};
use crate::tile::pass::{Access, Pass};
use crate::tile::shader::{Cover, Fragment};
use crate::tile::{Contents, Second};
use crate::{Case, RunPath};
use assay_spirv::tables::ImageFormat as F;
use assay_vulkan::{AttachmentRole, PassForm, TexelFormat};

/// Whether a draw runs for every tile, or once for the pass.
const PLACES: [(&str, bool); 2] = [("tile", true), ("pass", false)];

/// Whether loads are held to rasterization order.
const READS: [(&str, bool); 2] = [("coherent", false), ("non_coherent", true)];

/// The formats that are fetched from: one of each kind of number.
const SAMPLED: [&str; 3] = ["rgba8uint", "rgba8unorm", "r32sint"];

/// Room for a number of words for each tile, whatever the grid.
const TILES: usize = 512;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, per_tile) in PLACES {
        cases.extend(super::FORMATS.map(|format| swapped(format, place, per_tile)));
        cases.extend(READS.map(|(read, non_coherent)| fetched(read, non_coherent, place, per_tile)));
        for form in [PassForm::Dynamic, PassForm::Objects] {
            cases.extend([depth(form, place, per_tile), stencil(form, place, per_tile)]);
            cases.push(rasterization_order(form, place, per_tile));
        }
        for role in [AttachmentRole::Color, AttachmentRole::Input] {
            let some = super::FORMATS.into_iter().filter(|format| SAMPLED.contains(&format.0));
            cases.extend(some.map(|format| sampled(format, role, place, per_tile)));
        }
        cases.extend([1, 2, 4].map(|count| outputs(count, place, per_tile)));
        cases.push(sparse_outputs(place, per_tile));
        cases.extend([built_ins(place, per_tile), coordinates(place, per_tile), discarded(place, per_tile)]);
        cases.extend([shaded(place, per_tile), compute_first(place, per_tile), fragments_first(place, per_tile)]);
        cases.extend(READS.map(|(read, non_coherent)| after_a_draw(read, non_coherent, place, per_tile)));
        cases.push(deferred(place, per_tile));
    }
    cases.extend(READS.map(|(read, non_coherent)| mirrored(read, non_coherent)));
    for apron in [[1, 1], [2, 2], [4, 1], [0, 3]] {
        cases.extend([false, true].map(|sampled| neighbours(apron, sampled)));
    }
    cases.extend(ATOMICS.map(atomic));
    cases.push(alternating());
    cases
}

const LOADS: &str = "a fragment loads texels of the tile: what the load operation or earlier steps left there";

/// What a case's fragments have in common.
fn fragment(per_tile: bool, body: impl Into<String>) -> Fragment {
    Fragment { declarations: String::new(), body: body.into(), per_tile, guarded: per_tile, non_coherent: false }
}

fn case(
    name: String,
    (op, types): (&'static str, &str),
    rule: &'static str,
    fill: impl Fn(&mut Spec) + Send + Sync + 'static,
) -> Case {
    Case::tiles(name.clone(), about(op, types, rule), move |path: RunPath| {
        let mut spec = Spec::new(&name, path);
        fill(&mut spec);
        spec.build()
    })
}

/// A second reference that changes words of attachments.
fn second(change: impl Fn(&Pass, [u32; 2], &mut [Vec<u32>]) + Send + Sync + 'static) -> Option<Second> {
    Some(Box::new(move |pass, tile| {
        let mut left = pass.contents();
        let mut images: Vec<Vec<u32>> = left.attachments.iter().map(|bytes| words_of(bytes)).collect();
        change(pass, tile, &mut images);
        left.attachments = images.iter().map(|words| bytes_of(words)).collect();
        left
    }))
}

/// The index of the texel that lies in its tile as another one does from the other end.
fn opposite(pass: &Pass, tile: [u32; 2], at: [u32; 2]) -> usize {
    let [first, last] = tile_ends(pass, tile, at);
    let [x, y]: [u32; 2] = std::array::from_fn(|i| first[i] + last[i] - at[i]);
    (x + pass.extent[0] * y) as usize
}

/// Every format as an attachment that is loaded from and written by its output: what fragments write is converted to it.
fn swapped((wgsl, format, scalar, four): (&'static str, F, &'static str, bool), place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.format.{wgsl}.{place}");
    let case = case(name, ("OpImageRead", wgsl), LOADS, move |spec| {
        spec.storage(0, format);
        let value = if four { "before.wzyx".to_owned() } else { format!("before + vec4<{scalar}>(1)") };
        spec.draw(fragment(per_tile, format!("let before = textureLoad(image0, at);\noutputs.color0 = {value};")));
    });
    case.thinned(!per_tile && !wgsl.starts_with("rgba8"))
}

/// A texel of the very attachment that is written: of the fragment's own place, which no other fragment of the draw writes.
fn fetched(read: &str, non_coherent: bool, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.fetch.{read}.{place}");
    case(name, ("OpImageRead", "r32ui"), LOADS, move |spec| {
        spec.storage(0, F::R32ui);
        let body = "outputs.color0 = vec4<u32>(textureLoad(image0, at).x * 3u + at.x + 1000u * at.y, 0u, 0u, 1u);";
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, body) });
        spec.second = second(|pass, _, images| {
            for ([x, y], _, i) in texels_of(pass) {
                images[0][i] = images[0][i].wrapping_mul(3).wrapping_add(x + 1000 * y);
            }
        });
    })
}

/// Texels of other fragments of the tile, of an attachment that the draw does not write.
fn mirrored(read: &str, non_coherent: bool) -> Case {
    let rule = "a fragment loads texels of any place in the tile";
    case(format!("tile.fragment.mirror.{read}"), ("OpImageRead", "r32ui"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        spec.storage(1, F::R32ui);
        let body = "let other = tile_first() + tile_last() - at;
outputs.color0 = vec4<u32>(textureLoad(image1, other).x ^ at.x, 0u, 0u, 1u);";
        spec.draw(Fragment { non_coherent, ..fragment(true, body) });
        spec.second = second(|pass, tile, images| {
            for (at, _, i) in texels_of(pass) {
                images[0][i] = images[1][opposite(pass, tile, at)] ^ at[0];
            }
        });
    })
}

/// The depth attachment, which the draw neither tests nor writes.
fn depth(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.depth.{}.{place}", super::access::form_name(form));
    let rule = "a fragment loads from the depth attachment of its pass";
    case(name, ("OpImageFetch", "d32"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Depth32, Access::Sampled, AttachmentRole::DepthStencil);
        spec.draw(fragment(
            per_tile,
            "outputs.color0 = vec4<u32>(u32(textureLoad(image1, at, 0) * 64.0), 0u, 0u, 1u);",
        ));
        spec.second = second(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                images[0][i] = (f32::from_bits(images[1][i]) * 64.0) as u32;
            }
        });
    })
}

/// The stencil attachment.
fn stencil(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.stencil.{}.{place}", super::access::form_name(form));
    let rule = "a fragment loads from the stencil attachment of its pass";
    case(name, ("OpImageFetch", "s8"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Stencil8, Access::Sampled, AttachmentRole::DepthStencil);
        spec.draw(fragment(per_tile, "outputs.color0 = vec4<u32>(textureLoad(image1, at, 0).x * 257u, 0u, 0u, 1u);"));
        spec.second = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let mut image = words_of(&left.attachments[0]);
            texels_of(pass).for_each(|(_, _, i)| image[i] = u32::from(left.attachments[1][i]) * 257);
            left.attachments[0] = bytes_of(&image);
            left
        }));
    })
}

/// Colour and input attachments as sampled images.
fn sampled(
    (wgsl, format, scalar, _): (&'static str, F, &'static str, bool),
    role: AttachmentRole,
    place: &str,
    per_tile: bool,
) -> Case {
    let kind = if role == AttachmentRole::Input { "input" } else { "sampled" };
    let rule = "a fragment fetches from a sampled attachment";
    case(format!("tile.fragment.{kind}.{wgsl}.{place}"), ("OpImageFetch", wgsl), rule, move |spec| {
        spec.form = if role == AttachmentRole::Input { PassForm::Objects } else { PassForm::Dynamic };
        spec.storage(0, F::Rgba32ui);
        spec.attachment(1, TexelFormat::Color(format), Access::Sampled, role);
        let value = match scalar {
            // How far conversions may round is told by comparing with a half.
            "f32" => "select(vec4<u32>(1u), vec4<u32>(2u), textureLoad(image1, at, 0) > vec4<f32>(0.5001))",
            "i32" => "bitcast<vec4<u32>>(textureLoad(image1, at, 0))",
            _ => "textureLoad(image1, at, 0)",
        };
        spec.draw(fragment(per_tile, format!("outputs.color0 = {value};")));
    })
}

/// Texels beyond the tile, of an attachment that no draw writes: later ones may show there.
fn neighbours(apron: [u32; 2], sampled: bool) -> Case {
    let [ax, ay] = apron;
    let how = if sampled { "fetch" } else { "load" };
    let rule = "a fragment's loads reach as far beyond the tile as the apron, within the render area";
    let op = if sampled { "OpImageFetch" } else { "OpImageRead" };
    case(format!("tile.fragment.apron.{ax}x{ay}.{how}"), (op, "r32ui"), rule, move |spec| {
        (spec.apron, spec.tile) = (apron, [8, 8]);
        spec.storage(0, F::R32ui);
        let access = if sampled { Access::Sampled } else { Access::Storage };
        spec.attachment(1, TexelFormat::Color(F::R32ui), access, AttachmentRole::Color);
        let level = if sampled { ", 0" } else { "" };
        spec.draw(fragment(
            true,
            // Every neighbour has a weight of its own, so that no two can be exchanged.
            format!(
                "var sum = 0u;
for (var dy = -{ay}; dy <= {ay}; dy++) {{
    for (var dx = -{ax}; dx <= {ax}; dx++) {{
        let weight = u32((dy + 4) * 9 + dx + 5);
        sum += textureLoad(image1, in_area(vec2<i32>(at) + vec2<i32>(dx, dy)){level}).x * weight;
    }}
}}
outputs.color0 = vec4<u32>(sum, 0u, 0u, 1u);"
            ),
        ));
        let reach = apron.map(i64::from);
        spec.second = second(move |pass, _, images| {
            let [[x0, y0], [w, h]] = pass.area.map(|corner| corner.map(i64::from));
            for ([x, y], _, i) in texels_of(pass) {
                let mut sum = 0u32;
                for (dx, dy) in (-reach[1]..=reach[1]).flat_map(|dy| (-reach[0]..=reach[0]).map(move |dx| (dx, dy))) {
                    let (u, v) = ((i64::from(x) + dx).clamp(x0, x0 + w - 1), (i64::from(y) + dy).clamp(y0, y0 + h - 1));
                    let texel = images[1][(u + i64::from(pass.extent[0]) * v) as usize];
                    sum = sum.wrapping_add(texel.wrapping_mul(((dy + 4) * 9 + dx + 5) as u32));
                }
                images[0][i] = sum;
            }
        });
    })
}

const OUTPUTS: &str = "an output goes to the colour attachment of its location, and to no other";

/// Each attachment is given the next one's texel.
fn outputs(count: u32, place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.outputs.{count}.{place}"), ("OpImageRead", "r32ui"), OUTPUTS, move |spec| {
        let mut body = String::new();
        for i in 0..count {
            spec.storage(i, F::R32ui);
            let next = (i + 1) % count;
            body += &format!("outputs.color{i} = textureLoad(image{next}, at) * {}u;\n", i * 2 + 3);
        }
        spec.draw(fragment(per_tile, body));
        spec.second = second(move |pass, _, images| {
            let before = images.to_vec();
            for (_, _, i) in texels_of(pass) {
                for location in 0..images.len() {
                    let next = &before[(location + 1) % before.len()];
                    images[location][i] = next[i].wrapping_mul(location as u32 * 2 + 3);
                }
            }
        });
    })
}

/// The first and the last of three attachments have no output: what they hold stays.
fn sparse_outputs(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.outputs.sparse.{place}"), ("OpImageRead", "r32ui"), OUTPUTS, move |spec| {
        (0..3).for_each(|binding| spec.storage(binding, F::R32ui));
        spec.draw(fragment(per_tile, "outputs.color1 = textureLoad(image2, at) ^ textureLoad(image0, at);"));
        spec.second = second(|pass, _, images| {
            texels_of(pass).for_each(|(_, _, i)| images[1][i] = images[2][i] ^ images[0][i]);
        });
    })
}

/// The tile's built-ins: of the tile, or zero where a draw runs once. Of the size no more than that the texel is inside: what it is
/// where the framebuffer cuts a tile is not said.
fn built_ins(place: &str, per_tile: bool) -> Case {
    let rule = "the tile's built-ins tell of the tile, and read as zero outside per-tile execution";
    case(format!("tile.fragment.built_ins.{place}"), ("OpLoad", "TileOffsetQCOM"), rule, move |spec| {
        spec.apron = [3, 1];
        spec.storage(0, F::Rgba32ui);
        spec.storage(1, F::Rgba32ui);
        spec.draw(fragment(
            per_tile,
            "let inside = all(at >= tile_offset) && all(at < tile_offset + tile_size.xy);
outputs.color0 = vec4<u32>(tile_offset, select(0u, 1u, inside), 7u);
outputs.color1 = vec4<u32>(tile_apron, select(tile_size.x | tile_size.y, 9u, inside), at.x);",
        ));
        spec.second = second(move |pass, tile, images| {
            for (at, _, i) in texels_of(pass) {
                let offset: [u32; 2] = std::array::from_fn(|k| at[k] / tile[k] * tile[k]);
                let (tile, apron) = if per_tile { (offset, pass.apron) } else { ([0; 2], [0; 2]) };
                images[0][i * 4..][..4].copy_from_slice(&[tile[0], tile[1], u32::from(per_tile), 7]);
                images[1][i * 4..][..4].copy_from_slice(&[apron[0], apron[1], if per_tile { 9 } else { 0 }, at[0]]);
            }
        });
    })
}

/// `FragCoord` is the centre of a texel of the framebuffer, not of the tile.
fn coordinates(place: &str, per_tile: bool) -> Case {
    let rule = "FragCoord is the centre of the texel in the framebuffer";
    case(format!("tile.fragment.coordinates.{place}"), ("OpLoad", "FragCoord"), rule, move |spec| {
        spec.storage(0, F::Rgba32f);
        spec.draw(fragment(per_tile, "outputs.color0 = vec4<f32>(position.xy, position.xy * 8.0);"));
        spec.second = second(|pass, _, images| {
            for (at, _, i) in texels_of(pass) {
                let centre = at.map(|n| n as f32 + 0.5);
                let values = [centre[0], centre[1], centre[0] * 8.0, centre[1] * 8.0];
                images[0][i * 4..][..4].copy_from_slice(&values.map(f32::to_bits));
            }
        });
    })
}

/// Every other fragment is discarded, after it has marked its texel in a buffer.
fn discarded(place: &str, per_tile: bool) -> Case {
    let rule = "a discarded fragment writes no attachment; what it stored before stays";
    case(format!("tile.fragment.discard.{place}"), ("OpKill", "r32ui"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        let texels = spec.extent[0] * spec.extent[1];
        spec.words(1, &vec![0; texels as usize]);
        let body = "atomicOr(&marks[at.x + at.y * parameters.extent.x], at.x + 1u);
discarded = ((at.x + at.y) & 1u) == 0u;
outputs.color0 = vec4<u32>(~textureLoad(image0, at).x, 0u, 0u, 1u);";
        spec.draw(Fragment { declarations: marks(1), ..fragment(per_tile, body) });
        spec.second = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (mut image, mut marks) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
            for ([x, y], _, i) in texels_of(pass) {
                marks[i] |= x + 1;
                image[i] ^= if (x + y) % 2 == 0 { 0 } else { u32::MAX };
            }
            (left.attachments[0], left.buffers[0]) = (bytes_of(&image), bytes_of(&marks));
            left
        }));
    })
}

fn marks(binding: u32) -> String {
    format!("@group(0) @binding({binding}) var<storage, read_write> marks: array<atomic<u32>>;")
}

/// Which texels are shaded at all: those of the render area, whatever the tile, and no fragment beside it. Helper invocations, of
/// which the triangle's and the area's borders have some, leave no mark.
fn shaded(place: &str, per_tile: bool) -> Case {
    let rule = "fragments are those of the render area: each is shaded, others are not";
    case(format!("tile.fragment.shaded.{place}"), ("OpAtomicOr", "u32"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        let texels = spec.extent[0] * spec.extent[1];
        spec.words(1, &vec![0; texels as usize]);
        let body = "atomicOr(&marks[at.x + at.y * parameters.extent.x], textureLoad(image0, at).x | 1u);";
        spec.draw(Fragment { declarations: marks(1), guarded: false, ..fragment(per_tile, body) });
        spec.second = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (image, mut marks) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
            texels_of(pass).for_each(|(_, _, i)| marks[i] |= image[i] | 1);
            left.buffers[0] = bytes_of(&marks);
            left
        }));
    })
}

/// WGSL's name, SPIR-V's name, what the buffer begins with, and what is done: twice is as good as once.
type Idempotent = (&'static str, &'static str, u32, fn(u32, u32) -> u32);

const ATOMICS: [Idempotent; 4] = [
    ("Min", "OpAtomicUMin", u32::MAX, |a, b| a.min(b)),
    ("Max", "OpAtomicUMax", 0, |a, b| a.max(b)),
    ("And", "OpAtomicAnd", u32::MAX, |a, b| a & (b | 0xffff)),
    ("Or", "OpAtomicOr", 0, |a, b| a | (b & 0xffff)),
];

/// All fragments of a tile to one word of a buffer.
fn atomic((wgsl, op, begin, does): Idempotent) -> Case {
    let rule = "atomic operations of fragments on a buffer are done for each fragment, at least once";
    case(format!("tile.fragment.atomic.{}", wgsl.to_lowercase()), (op, "u32"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        spec.words(1, &[begin; TILES]);
        let value = match wgsl {
            "And" => "value | 0xffffu",
            "Or" => "value & 0xffffu",
            _ => "value",
        };
        let body = format!("let value = textureLoad(image0, at).x;\natomic{wgsl}(&marks[tile_index()], {value});");
        spec.draw(Fragment { declarations: marks(1), ..fragment(true, body) });
        spec.second = Some(Box::new(move |pass, tile| {
            let mut left = pass.contents();
            let (image, mut words) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
            for (at, _, i) in texels_of(pass) {
                let word = &mut words[tile_index(pass, tile, at)];
                *word = does(*word, image[i]);
            }
            left.buffers[0] = bytes_of(&words);
            left
        }));
    })
}

const BARRIERS: &str = "what a step left in the tile is seen by the next one across a barrier, whatever their stages";

/// Where the texel is that a step loads which another step wrote: anywhere in the tile if the shader knows the tile.
fn other(per_tile: bool) -> &'static str {
    if per_tile { "tile_first() + tile_last() - at" } else { "at" }
}

/// The second reference of two steps: the first changes each texel of an attachment, the second takes another one's to the next.
fn in_turn(mirrored: bool) -> Option<Second> {
    second(move |pass, tile, images| {
        texels_of(pass).for_each(|(_, _, i)| images[0][i] = images[0][i].wrapping_mul(5).wrapping_add(1));
        for (at, _, i) in texels_of(pass) {
            images[1][i] = images[0][if mirrored { opposite(pass, tile, at) } else { i }] ^ at[0];
        }
    })
}

const STORED: &str = "textureStore(image0, at, vec4<u32>(textureLoad(image0, at).x * 5u + 1u, 0u, 0u, 1u));";
const DRAWN: &str = "outputs.color0 = vec4<u32>(textureLoad(image0, at).x * 5u + 1u, 0u, 0u, 1u);";

fn two(spec: &mut Spec) {
    spec.form = PassForm::Objects;
    spec.cover = Cover::Groups { local: [8, 4, 1], block: [1, 1, 1] };
    spec.storage(0, F::R32ui);
    spec.storage(1, F::R32ui);
}

/// A dispatch stores to the attachment that fragments load from.
fn compute_first(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.compute.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        two(spec);
        spec.kernel("@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;", STORED);
        let load = format!("textureLoad(image0, {}).x ^ at.x", other(per_tile));
        spec.draw(fragment(per_tile, format!("outputs.color1 = vec4<u32>({load}, 0u, 0u, 1u);")));
        spec.second = in_turn(per_tile);
    })
}

/// Fragments write the attachment that a dispatch loads from.
fn fragments_first(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.before_compute.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        two(spec);
        spec.draw(fragment(per_tile, DRAWN));
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read_write>;",
            "let other = tile_first() + tile_last() - at;
textureStore(image1, at, vec4<u32>(textureLoad(image0, other).x ^ at.x, 0u, 0u, 1u));",
        );
        spec.second = in_turn(true);
    })
}

/// Fragments write the attachment that fragments of the next draw load from: what a barrier orders is the whole tile, not a texel.
fn after_a_draw(read: &str, non_coherent: bool, place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.draws.{read}.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        two(spec);
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, DRAWN) });
        let load = format!("textureLoad(image0, {}).x ^ at.x", other(per_tile));
        let body = format!("outputs.color1 = vec4<u32>({load}, 0u, 0u, 1u);");
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, body) });
        spec.second = in_turn(per_tile);
    })
}

/// Four draws, each on what the one before left of the texel: without `NonCoherentTileAttachmentReadQCOM` that needs no barrier.
fn rasterization_order(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.order.rasterization.{}.{place}", super::access::form_name(form));
    let rule = "coherent loads of the fragment's own texel are in rasterization order";
    case(name, ("OpImageRead", "r32ui"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        for step in 1..5 {
            let body = format!("outputs.color0 = textureLoad(image0, at) * {step}u + vec4<u32>(7u);");
            spec.draw_in_order(fragment(per_tile, body));
        }
        spec.second = second(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                (1..5).for_each(|step| images[0][i] = images[0][i].wrapping_mul(step).wrapping_add(7));
            }
        });
    })
}

/// Per-tile execution that begins and ends twice, with a draw of the whole pass between.
fn alternating() -> Case {
    case("tile.fragment.order.alternating".to_owned(), ("OpImageRead", "r32ui"), BARRIERS, |spec| {
        two(spec);
        let step = |k: u32| format!("outputs.color0 = textureLoad(image0, at) * {k}u + vec4<u32>({k}u);");
        spec.draw(fragment(true, step(3)));
        spec.draw(fragment(false, step(5)));
        spec.kernel("@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;", STORED);
        spec.draw(fragment(true, step(7)));
        spec.second = second(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                for (by, and) in [(3, 3), (5, 5), (5, 1), (7, 7)] {
                    images[0][i] = images[0][i].wrapping_mul(by).wrapping_add(and);
                }
            }
        });
    })
}

/// How many lights there are.
const LIGHTS: usize = 8;

/// Deferred lighting: the lights that reach a texel's depth add their share of its colour to what is there.
fn deferred(place: &str, per_tile: bool) -> Case {
    let rule = "a useful program leaves what an ordinary shader over the whole frame does";
    case(format!("tile.fragment.program.deferred.{place}"), ("OpImageRead", "deferred"), rule, move |spec| {
        spec.storage(0, F::Rgba16ui);
        spec.storage(1, F::Rgba8ui);
        spec.attachment(2, TexelFormat::Depth32, Access::Sampled, AttachmentRole::DepthStencil);
        // Nearest and farthest depth in 64ths, strength, and nothing.
        let light = |i: usize| [noise(i, 91) % 40, 24 + noise(i, 92) % 41, noise(i, 93) % 100, 0];
        spec.words(3, &(0..LIGHTS).flat_map(light).collect::<Vec<_>>());
        let declarations = "@group(0) @binding(3) var<storage, read> lights: array<vec4<u32>>;".to_owned();
        let body = format!(
            "let depth = u32(textureLoad(image2, at, 0) * 64.0);
var strength = 0u;
for (var i = 0u; i < {LIGHTS}u; i++) {{
    if depth >= lights[i].x && depth <= lights[i].y {{ strength += lights[i].z; }}
}}
let lit = textureLoad(image1, at) * strength / vec4<u32>(256u);
outputs.color0 = textureLoad(image0, at) / vec4<u32>(2u) + lit;"
        );
        spec.draw(Fragment { declarations, ..fragment(per_tile, body) });
        spec.second = Some(Box::new(second_deferred));
    })
}

fn second_deferred(pass: &Pass, _: [u32; 2]) -> Contents {
    let mut left = pass.contents();
    let (depth, lights) = (words_of(&left.attachments[2]), words_of(&left.buffers[0]));
    for (_, _, i) in texels_of(pass) {
        let depth = (f32::from_bits(depth[i]) * 64.0) as u32;
        let reaching = lights.chunks_exact(4).filter(|light| (light[0]..=light[1]).contains(&depth));
        let strength: u32 = reaching.map(|light| light[2]).sum();
        for channel in 0..4 {
            let at = (i * 4 + channel) * 2;
            let before = u16::from_le_bytes([left.attachments[0][at], left.attachments[0][at + 1]]);
            let lit = u32::from(left.attachments[1][i * 4 + channel]) * strength / 256;
            let value = (u32::from(before) / 2 + lit) as u16;
            left.attachments[0][at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
    }
    left
}
