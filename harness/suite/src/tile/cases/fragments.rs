//! Fragment shaders: loads from tile attachments, and built-ins, in draws that run for every tile
//! and in draws that run once.
//!
//! From an attachment that its own draw writes, a fragment loads only its own texel, because other
//! fragments are not ordered with it. Writes to buffers are idempotent, because a fragment may be
//! shaded several times.

use super::{PassSpec, about, bytes_of, noise, texels_of, tile_ends, tile_index, words_of};
use crate::tile::PassReference;
use crate::tile::pass::Pass;
use crate::tile::shader_text::{Fragment, TileCover};
use crate::{Case, RunPath};
use assay_exec::{AttachmentRole, ImageAccess, PassContents, PassForm};
use assay_spirv::tables::ImageFormat as F;
use assay_texture::TexelFormat;

/// Name, and the flag for a draw that runs for every tile.
const PLACES: [(&str, bool); 2] = [("tile", true), ("pass", false)];

/// Name, and the flag for loads that need not follow rasterization order.
const READS: [(&str, bool); 2] = [("coherent", false), ("non_coherent", true)];

/// Formats to fetch from: one for each kind of number.
const SAMPLED: [&str; 3] = ["rgba8uint", "rgba8unorm", "r32sint"];

/// Room for one word for each tile of any grid.
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

const LOADS: &str = "a fragment's loads return the tile's texels from the load operation or earlier steps";

/// A fragment shader with the usual settings.
fn fragment(per_tile: bool, body: impl Into<String>) -> Fragment {
    Fragment { declarations: String::new(), body: body.into(), per_tile, guarded: per_tile, non_coherent: false }
}

fn case(
    name: String,
    (op, types): (&'static str, &str),
    rule: &'static str,
    fill: impl Fn(&mut PassSpec) + Send + Sync + 'static,
) -> Case {
    Case::tiles(name.clone(), about(op, types, rule), move |path: RunPath| {
        let mut spec = PassSpec::new(&name, path);
        fill(&mut spec);
        spec.build()
    })
}

/// An independent reference that changes words of attachments.
fn words_reference(change: impl Fn(&Pass, [u32; 2], &mut [Vec<u32>]) + Send + Sync + 'static) -> Option<PassReference> {
    Some(Box::new(move |pass, tile| {
        let mut left = pass.contents();
        let mut images: Vec<Vec<u32>> = left.attachments.iter().map(|bytes| words_of(bytes)).collect();
        change(pass, tile, &mut images);
        left.attachments = images.iter().map(|words| bytes_of(words)).collect();
        left
    }))
}

/// Index of the texel that mirrors this one within its tile.
fn opposite(pass: &Pass, tile: [u32; 2], at: [u32; 2]) -> usize {
    let [first, last] = tile_ends(pass, tile, at);
    let [x, y]: [u32; 2] = std::array::from_fn(|i| first[i] + last[i] - at[i]);
    (x + pass.extent[0] * y) as usize
}

/// Loads from an attachment of each format and writes it through its output, which converts the
/// values.
fn swapped((wgsl, format, scalar, four): (&'static str, F, &'static str, bool), place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.format.{wgsl}.{place}");
    let case = case(name, ("OpImageRead", wgsl), LOADS, move |spec| {
        spec.storage(0, format);
        let value = if four { "before.wzyx".to_owned() } else { format!("before + vec4<{scalar}>(1)") };
        spec.draw(fragment(per_tile, format!("let before = textureLoad(image0, at);\noutputs.color0 = {value};")));
    });
    case.thinned(!per_tile && !wgsl.starts_with("rgba8"))
}

/// Loads a fragment's own texel from the attachment that the draw writes.
fn fetched(read: &str, non_coherent: bool, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.fetch.{read}.{place}");
    case(name, ("OpImageRead", "r32ui"), LOADS, move |spec| {
        spec.storage(0, F::R32ui);
        let body = "outputs.color0 = vec4<u32>(textureLoad(image0, at).x * 3u + at.x + 1000u * at.y, 0u, 0u, 1u);";
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, body) });
        spec.reference = words_reference(|pass, _, images| {
            for ([x, y], _, i) in texels_of(pass) {
                images[0][i] = images[0][i].wrapping_mul(3).wrapping_add(x + 1000 * y);
            }
        });
    })
}

/// Loads other fragments' texels of the tile from an attachment that the draw does not write.
fn mirrored(read: &str, non_coherent: bool) -> Case {
    let rule = "a fragment can load any texel of the tile";
    case(format!("tile.fragment.mirror.{read}"), ("OpImageRead", "r32ui"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        spec.storage(1, F::R32ui);
        let body = "let other = tile_first() + tile_last() - at;
outputs.color0 = vec4<u32>(textureLoad(image1, other).x ^ at.x, 0u, 0u, 1u);";
        spec.draw(Fragment { non_coherent, ..fragment(true, body) });
        spec.reference = words_reference(|pass, tile, images| {
            for (at, _, i) in texels_of(pass) {
                images[0][i] = images[1][opposite(pass, tile, at)] ^ at[0];
            }
        });
    })
}

/// Loads from the depth attachment, which the draw neither tests nor writes.
fn depth(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.depth.{}.{place}", super::attachment_access::form_name(form));
    let rule = "a fragment can load from the depth attachment of its pass";
    case(name, ("OpImageFetch", "d32"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.draw(fragment(
            per_tile,
            "outputs.color0 = vec4<u32>(u32(textureLoad(image1, at, 0) * 64.0), 0u, 0u, 1u);",
        ));
        spec.reference = words_reference(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                images[0][i] = (f32::from_bits(images[1][i]) * 64.0) as u32;
            }
        });
    })
}

/// Loads from the stencil attachment.
fn stencil(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.stencil.{}.{place}", super::attachment_access::form_name(form));
    let rule = "a fragment can load from the stencil attachment of its pass";
    case(name, ("OpImageFetch", "s8"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Stencil8, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.draw(fragment(per_tile, "outputs.color0 = vec4<u32>(textureLoad(image1, at, 0).x * 257u, 0u, 0u, 1u);"));
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let mut image = words_of(&left.attachments[0]);
            texels_of(pass).for_each(|(_, _, i)| image[i] = u32::from(left.attachments[1][i]) * 257);
            left.attachments[0] = bytes_of(&image);
            left
        }));
    })
}

/// Fetches from colour and input attachments as sampled images.
fn sampled(
    (wgsl, format, scalar, _): (&'static str, F, &'static str, bool),
    role: AttachmentRole,
    place: &str,
    per_tile: bool,
) -> Case {
    let kind = if role == AttachmentRole::Input { "input" } else { "sampled" };
    let rule = "a fragment can fetch from a sampled attachment";
    case(format!("tile.fragment.{kind}.{wgsl}.{place}"), ("OpImageFetch", wgsl), rule, move |spec| {
        spec.form = if role == AttachmentRole::Input { PassForm::Objects } else { PassForm::Dynamic };
        spec.storage(0, F::Rgba32ui);
        spec.attachment(1, TexelFormat::Color(format), ImageAccess::Sampled, role);
        let value = match scalar {
            // A comparison with a value between codes is independent of rounding in the conversion.
            "f32" => "select(vec4<u32>(1u), vec4<u32>(2u), textureLoad(image1, at, 0) > vec4<f32>(0.5001))",
            "i32" => "bitcast<vec4<u32>>(textureLoad(image1, at, 0))",
            _ => "textureLoad(image1, at, 0)",
        };
        spec.draw(fragment(per_tile, format!("outputs.color0 = {value};")));
    })
}

/// Loads texels beyond the tile from an attachment that no draw writes, because writes of other
/// tiles may be visible there.
fn neighbours(apron: [u32; 2], sampled: bool) -> Case {
    let [ax, ay] = apron;
    let how = if sampled { "fetch" } else { "load" };
    let rule = "a fragment can load texels within the apron and the render area";
    let op = if sampled { "OpImageFetch" } else { "OpImageRead" };
    case(format!("tile.fragment.apron.{ax}x{ay}.{how}"), (op, "r32ui"), rule, move |spec| {
        (spec.apron, spec.tile) = (apron, [8, 8]);
        spec.storage(0, F::R32ui);
        let access = if sampled { ImageAccess::Sampled } else { ImageAccess::Storage };
        spec.attachment(1, TexelFormat::Color(F::R32ui), access, AttachmentRole::Color);
        let level = if sampled { ", 0" } else { "" };
        spec.draw(fragment(
            true,
            // Each neighbour has a different weight, so exchanging two changes the sum.
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
        spec.reference = words_reference(move |pass, _, images| {
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

const OUTPUTS: &str = "an output is written to the colour attachment at its location and to no other";

/// Each attachment gets a multiple of the next one's texel.
fn outputs(count: u32, place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.outputs.{count}.{place}"), ("OpImageRead", "r32ui"), OUTPUTS, move |spec| {
        let mut body = String::new();
        for i in 0..count {
            spec.storage(i, F::R32ui);
            let next = (i + 1) % count;
            body += &format!("outputs.color{i} = textureLoad(image{next}, at) * {}u;\n", i * 2 + 3);
        }
        spec.draw(fragment(per_tile, body));
        spec.reference = words_reference(move |pass, _, images| {
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

/// The first and the last of three attachments have no output and keep their contents.
fn sparse_outputs(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.outputs.sparse.{place}"), ("OpImageRead", "r32ui"), OUTPUTS, move |spec| {
        (0..3).for_each(|binding| spec.storage(binding, F::R32ui));
        spec.draw(fragment(per_tile, "outputs.color1 = textureLoad(image2, at) ^ textureLoad(image0, at);"));
        spec.reference = words_reference(|pass, _, images| {
            texels_of(pass).for_each(|(_, _, i)| images[1][i] = images[2][i] ^ images[0][i]);
        });
    })
}

/// The tile built-ins: those of the tile, or zero in a draw that runs once. Of the size, only that
/// it contains the texel is checked, because the specification leaves it open for tiles cut by the
/// framebuffer.
fn built_ins(place: &str, per_tile: bool) -> Case {
    let rule = "the tile built-ins describe the current tile, and are zero outside per-tile execution";
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
        spec.reference = words_reference(move |pass, tile, images| {
            for (at, _, i) in texels_of(pass) {
                let offset: [u32; 2] = std::array::from_fn(|k| at[k] / tile[k] * tile[k]);
                let (tile, apron) = if per_tile { (offset, pass.apron) } else { ([0; 2], [0; 2]) };
                images[0][i * 4..][..4].copy_from_slice(&[tile[0], tile[1], u32::from(per_tile), 7]);
                images[1][i * 4..][..4].copy_from_slice(&[apron[0], apron[1], if per_tile { 9 } else { 0 }, at[0]]);
            }
        });
    })
}

/// `FragCoord` is relative to the framebuffer, not to the tile.
fn coordinates(place: &str, per_tile: bool) -> Case {
    let rule = "FragCoord is the centre of the texel in the framebuffer";
    case(format!("tile.fragment.coordinates.{place}"), ("OpLoad", "FragCoord"), rule, move |spec| {
        spec.storage(0, F::Rgba32f);
        spec.draw(fragment(per_tile, "outputs.color0 = vec4<f32>(position.xy, position.xy * 8.0);"));
        spec.reference = words_reference(|pass, _, images| {
            for (at, _, i) in texels_of(pass) {
                let centre = at.map(|n| n as f32 + 0.5);
                let values = [centre[0], centre[1], centre[0] * 8.0, centre[1] * 8.0];
                images[0][i * 4..][..4].copy_from_slice(&values.map(f32::to_bits));
            }
        });
    })
}

/// Every second fragment is discarded after it has marked its texel in a buffer.
fn discarded(place: &str, per_tile: bool) -> Case {
    let rule = "a discarded fragment writes no attachment; its earlier stores persist";
    case(format!("tile.fragment.discard.{place}"), ("OpKill", "r32ui"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        let texels = spec.extent[0] * spec.extent[1];
        spec.words(1, &vec![0; texels as usize]);
        let body = "atomicOr(&marks[at.x + at.y * parameters.extent.x], at.x + 1u);
discarded = ((at.x + at.y) & 1u) == 0u;
outputs.color0 = vec4<u32>(~textureLoad(image0, at).x, 0u, 0u, 1u);";
        spec.draw(Fragment { declarations: marks(1), ..fragment(per_tile, body) });
        spec.reference = Some(Box::new(|pass, _| {
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

/// Exactly the fragments of the render area are shaded, with any tile size. Helper invocations,
/// which occur at the borders of the triangle and the area, leave no mark.
fn shaded(place: &str, per_tile: bool) -> Case {
    let rule = "exactly the fragments of the render area are shaded";
    case(format!("tile.fragment.shaded.{place}"), ("OpAtomicOr", "u32"), rule, move |spec| {
        spec.storage(0, F::R32ui);
        let texels = spec.extent[0] * spec.extent[1];
        spec.words(1, &vec![0; texels as usize]);
        let body = "atomicOr(&marks[at.x + at.y * parameters.extent.x], textureLoad(image0, at).x | 1u);";
        spec.draw(Fragment { declarations: marks(1), guarded: false, ..fragment(per_tile, body) });
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (image, mut marks) = (words_of(&left.attachments[0]), words_of(&left.buffers[0]));
            texels_of(pass).for_each(|(_, _, i)| marks[i] |= image[i] | 1);
            left.buffers[0] = bytes_of(&marks);
            left
        }));
    })
}

/// WGSL name, SPIR-V instruction, initial word of the buffer, and effect, which is idempotent.
type Idempotent = (&'static str, &'static str, u32, fn(u32, u32) -> u32);

const ATOMICS: [Idempotent; 4] = [
    ("Min", "OpAtomicUMin", u32::MAX, |a, b| a.min(b)),
    ("Max", "OpAtomicUMax", 0, |a, b| a.max(b)),
    ("And", "OpAtomicAnd", u32::MAX, |a, b| a & (b | 0xffff)),
    ("Or", "OpAtomicOr", 0, |a, b| a | (b & 0xffff)),
];

/// All fragments of a tile operate on one word of a buffer.
fn atomic((wgsl, op, begin, does): Idempotent) -> Case {
    let rule = "atomic operations on a buffer are applied at least once for each fragment";
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
        spec.reference = Some(Box::new(move |pass, tile| {
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

const BARRIERS: &str = "after a barrier, a step's results in the tile are visible to the next step of any stage";

/// The texel that a step loads from the previous step's results: any of the tile if the shader
/// knows its tile, otherwise its own.
fn other(per_tile: bool) -> &'static str {
    if per_tile { "tile_first() + tile_last() - at" } else { "at" }
}

/// Independent reference of two steps: the first changes each texel of an attachment, the second
/// copies a texel (its own or the mirrored one) to the next attachment.
fn two_step_reference(mirrored: bool) -> Option<PassReference> {
    words_reference(move |pass, tile, images| {
        texels_of(pass).for_each(|(_, _, i)| images[0][i] = images[0][i].wrapping_mul(5).wrapping_add(1));
        for (at, _, i) in texels_of(pass) {
            images[1][i] = images[0][if mirrored { opposite(pass, tile, at) } else { i }] ^ at[0];
        }
    })
}

const STORED: &str = "textureStore(image0, at, vec4<u32>(textureLoad(image0, at).x * 5u + 1u, 0u, 0u, 1u));";
const DRAWN: &str = "outputs.color0 = vec4<u32>(textureLoad(image0, at).x * 5u + 1u, 0u, 0u, 1u);";

fn set_up_two_steps(spec: &mut PassSpec) {
    spec.form = PassForm::Objects;
    spec.cover = TileCover::Groups { local: [8, 4, 1], block: [1, 1, 1] };
    spec.storage(0, F::R32ui);
    spec.storage(1, F::R32ui);
}

/// A dispatch stores to the attachment that fragments load from.
fn compute_first(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.compute.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        set_up_two_steps(spec);
        spec.kernel("@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;", STORED);
        let load = format!("textureLoad(image0, {}).x ^ at.x", other(per_tile));
        spec.draw(fragment(per_tile, format!("outputs.color1 = vec4<u32>({load}, 0u, 0u, 1u);")));
        spec.reference = two_step_reference(per_tile);
    })
}

/// Fragments write the attachment that a dispatch loads from.
fn fragments_first(place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.before_compute.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        set_up_two_steps(spec);
        spec.draw(fragment(per_tile, DRAWN));
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read_write>;",
            "let other = tile_first() + tile_last() - at;
textureStore(image1, at, vec4<u32>(textureLoad(image0, other).x ^ at.x, 0u, 0u, 1u));",
        );
        spec.reference = two_step_reference(true);
    })
}

/// Fragments write the attachment that fragments of the next draw load from. The barrier orders the
/// whole tile, not only a fragment's own texel.
fn after_a_draw(read: &str, non_coherent: bool, place: &str, per_tile: bool) -> Case {
    case(format!("tile.fragment.order.draws.{read}.{place}"), ("OpImageRead", "r32ui"), BARRIERS, move |spec| {
        set_up_two_steps(spec);
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, DRAWN) });
        let load = format!("textureLoad(image0, {}).x ^ at.x", other(per_tile));
        let body = format!("outputs.color1 = vec4<u32>({load}, 0u, 0u, 1u);");
        spec.draw(Fragment { non_coherent, ..fragment(per_tile, body) });
        spec.reference = two_step_reference(per_tile);
    })
}

/// Four draws, each on the results of the previous one at the same texel. Without
/// `NonCoherentTileAttachmentReadQCOM` this requires no barrier.
fn rasterization_order(form: PassForm, place: &str, per_tile: bool) -> Case {
    let name = format!("tile.fragment.order.rasterization.{}.{place}", super::attachment_access::form_name(form));
    let rule = "coherent loads of the fragment's own texel are in rasterization order";
    case(name, ("OpImageRead", "r32ui"), rule, move |spec| {
        spec.form = form;
        spec.storage(0, F::R32ui);
        for step in 1..5 {
            let body = format!("outputs.color0 = textureLoad(image0, at) * {step}u + vec4<u32>(7u);");
            spec.draw_in_order(fragment(per_tile, body));
        }
        spec.reference = words_reference(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                (1..5).for_each(|step| images[0][i] = images[0][i].wrapping_mul(step).wrapping_add(7));
            }
        });
    })
}

/// Per-tile execution that begins and ends twice, with a draw of the whole pass in between.
fn alternating() -> Case {
    case("tile.fragment.order.alternating".to_owned(), ("OpImageRead", "r32ui"), BARRIERS, |spec| {
        set_up_two_steps(spec);
        let step = |k: u32| format!("outputs.color0 = textureLoad(image0, at) * {k}u + vec4<u32>({k}u);");
        spec.draw(fragment(true, step(3)));
        spec.draw(fragment(false, step(5)));
        spec.kernel("@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;", STORED);
        spec.draw(fragment(true, step(7)));
        spec.reference = words_reference(|pass, _, images| {
            for (_, _, i) in texels_of(pass) {
                for (by, and) in [(3, 3), (5, 5), (5, 1), (7, 7)] {
                    images[0][i] = images[0][i].wrapping_mul(by).wrapping_add(and);
                }
            }
        });
    })
}

/// Number of lights.
const LIGHTS: usize = 8;

/// Deferred lighting: lights whose depth range contains the texel's depth add to its colour.
fn deferred(place: &str, per_tile: bool) -> Case {
    let rule = "a complete program gives the results of an ordinary shader over the whole frame";
    case(format!("tile.fragment.program.deferred.{place}"), ("OpImageRead", "deferred"), rule, move |spec| {
        spec.storage(0, F::Rgba16ui);
        spec.storage(1, F::Rgba8ui);
        spec.attachment(2, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        // Nearest and farthest depth in 64ths, strength, and a zero.
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
        spec.reference = Some(Box::new(deferred_reference));
    })
}

fn deferred_reference(pass: &Pass, _: [u32; 2]) -> PassContents {
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
