//! Loads from and stores to attachments: formats, several attachments, layers, sampled and input
//! attachments, depth and stencil.

use super::{PassSpec, about, bytes_of, texels_of, words_of};
use crate::Case;
use assay_exec::{AttachmentRole, ImageAccess, PassForm};
use assay_spirv::tables::ImageFormat as F;
use assay_texture::TexelFormat;

/// WGSL name, format, scalar type, and a flag for four channels.
pub(super) const FORMATS: [(&str, F, &str, bool); 13] = [
    ("r32uint", F::R32ui, "u32", false),
    ("r32sint", F::R32i, "i32", false),
    ("r32float", F::R32f, "f32", false),
    ("rgba8uint", F::Rgba8ui, "u32", true),
    ("rgba8sint", F::Rgba8i, "i32", true),
    ("rgba8unorm", F::Rgba8, "f32", true),
    ("rgba8snorm", F::Rgba8Snorm, "f32", true),
    ("rgba16uint", F::Rgba16ui, "u32", true),
    ("rgba16sint", F::Rgba16i, "i32", true),
    ("rgba16float", F::Rgba16f, "f32", true),
    ("rgba32uint", F::Rgba32ui, "u32", true),
    ("rgba32sint", F::Rgba32i, "i32", true),
    ("rgba32float", F::Rgba32f, "f32", true),
];

const LOADS: &str = "tile attachments hold the results of the load operation, and stores to them persist";

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = FORMATS.into_iter().map(|format| swapped(format, 1)).collect();
    cases.extend(FORMATS.into_iter().map(|format| swapped(format, 3).thinned(format.0 != "rgba8uint")));
    cases.extend([2, 3, 4].map(several));
    cases.extend([2, 5].map(across_layers));
    for format in FORMATS {
        for role in [AttachmentRole::Color, AttachmentRole::Input] {
            cases.push(sampled(format, role).thinned(!format.0.contains("rgba8")));
        }
    }
    cases.extend([PassForm::Dynamic, PassForm::Objects].map(depth));
    for form in [PassForm::Dynamic, PassForm::Objects] {
        cases.extend([1, 3].map(|layers| stencil(form, layers)));
        cases.push(depth_and_stencil(form, [0, 0]));
        cases.push(depth_and_stencil(form, [2, 1]));
    }
    cases.extend([1, 3].map(twice));
    cases
}

/// Reverses the channels of each texel; formats with one channel add 1 instead.
fn swapped((wgsl, format, scalar, four): (&'static str, F, &'static str, bool), layers: u32) -> Case {
    let name = format!("tile.attachment.{wgsl}.layers{layers}");
    let subject = about("OpImageRead", wgsl, LOADS);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.layers = layers;
        spec.storage(0, format);
        let (ty, at) =
            if layers > 1 { ("texture_storage_2d_array", "at, layer") } else { ("texture_storage_2d", "at") };
        let value = if four { "before.wzyx".to_owned() } else { format!("before + vec4<{scalar}>(1)") };
        spec.kernel(
            &format!("@group(0) @binding(0) var image0: {ty}<{wgsl}, read_write>;"),
            format!("let before = textureLoad(image0, {at});\ntextureStore(image0, {at}, {value});"),
        );
        if layers == 1 && wgsl == "r32uint" {
            spec.reference = Some(Box::new(|pass, _| {
                let mut left = pass.contents();
                let mut image = words_of(&left.attachments[0]);
                texels_of(pass).for_each(|(_, _, i)| image[i] = image[i].wrapping_add(1));
                left.attachments[0] = bytes_of(&image);
                left
            }));
        }
        spec.build()
    })
}

/// Each attachment gets twice its value plus that of the next attachment.
fn several(count: u32) -> Case {
    let name = format!("tile.attachments.{count}");
    let subject = about("OpImageWrite", format!("{count} attachments"), LOADS);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        let (mut declarations, mut body) = (String::new(), String::new());
        for i in 0..count {
            spec.storage(i, F::R32ui);
            declarations +=
                &format!("@group(0) @binding({i}) var image{i}: texture_storage_2d<r32uint, read_write>;\n");
            body += &format!("let value{i} = textureLoad(image{i}, at).x;\n");
        }
        for i in 0..count {
            let next = (i + 1) % count;
            body += &format!("textureStore(image{i}, at, vec4<u32>(value{i} * 2u + value{next}, 0u, 0u, 1u));\n");
        }
        spec.kernel(&declarations, body);
        spec.reference = Some(Box::new(move |pass, _| {
            let mut left = pass.contents();
            let before: Vec<Vec<u32>> = left.attachments.iter().map(|a| words_of(a)).collect();
            let mut after = before.clone();
            for (_, _, i) in texels_of(pass) {
                for k in 0..before.len() {
                    let next = before[(k + 1) % before.len()][i];
                    after[k][i] = before[k][i].wrapping_mul(2).wrapping_add(next);
                }
            }
            left.attachments = after.iter().map(|words| bytes_of(words)).collect();
            left
        }));
        spec.build()
    })
}

/// Each layer gets the opposite layer of another attachment.
fn across_layers(layers: u32) -> Case {
    let name = format!("tile.layers.{layers}");
    let rule = "loads and stores access the right layer of a tile attachment";
    let subject = about("OpImageRead", format!("{layers} layers"), rule);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.layers = layers;
        spec.storage(0, F::R32ui);
        spec.storage(1, F::R32ui);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d_array<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d_array<r32uint, read>;",
            "let other = textureLoad(image1, at, parameters.layers - 1u - layer).x;
textureStore(image0, at, layer, vec4<u32>(other + layer * 7u, 0u, 0u, 1u));",
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (mut image, other) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            let plane = (pass.extent[0] * pass.extent[1]) as usize;
            for (_, layer, i) in texels_of(pass) {
                let from = i - layer as usize * plane + (pass.layers - 1 - layer) as usize * plane;
                image[i] = other[from].wrapping_add(layer * 7);
            }
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}

/// Fetches from a sampled attachment.
fn sampled((wgsl, format, scalar, _): (&'static str, F, &'static str, bool), role: AttachmentRole) -> Case {
    let kind = if role == AttachmentRole::Input { "input" } else { "sampled" };
    let name = format!("tile.{kind}.{wgsl}");
    let rule = "fetches from a sampled attachment return the tile's texels";
    let subject = about("OpImageFetch", wgsl, rule);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        if role == AttachmentRole::Input {
            spec.form = PassForm::Objects;
        }
        spec.attachment(0, TexelFormat::Color(F::Rgba32ui), ImageAccess::Storage, AttachmentRole::Color);
        spec.attachment(1, TexelFormat::Color(format), ImageAccess::Sampled, role);
        spec.kernel(
            &format!(
                "@group(0) @binding(0) var image0: texture_storage_2d<rgba32uint, read_write>;
@group(0) @binding(1) var image1: texture_2d<{scalar}>;"
            ),
            match scalar {
                // A comparison with a value between codes is independent of rounding in the
                // conversion.
                "f32" => {
                    "let value = textureLoad(image1, at, 0);
textureStore(image0, at, select(vec4<u32>(1u), vec4<u32>(2u), value > vec4<f32>(0.5001)));"
                }
                "i32" => "textureStore(image0, at, bitcast<vec4<u32>>(textureLoad(image1, at, 0)));",
                _ => "textureStore(image0, at, textureLoad(image1, at, 0));",
            },
        );
        spec.build()
    })
}

/// Fetches from the depth attachment.
fn depth(form: PassForm) -> Case {
    let name = format!("tile.depth.{}", if form == PassForm::Objects { "objects" } else { "dynamic" });
    let subject = about("OpImageFetch", "d32", "fetches from the depth attachment return the tile's depths");
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        spec.form = form;
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_depth_2d;",
            "textureStore(image0, at, vec4<u32>(u32(textureLoad(image1, at, 0) * 64.0), 0u, 0u, 1u));",
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (mut image, depth) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            texels_of(pass).for_each(|(_, _, i)| image[i] = (f32::from_bits(depth[i]) * 64.0) as u32);
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}

pub(super) fn form_name(form: PassForm) -> &'static str {
    match form {
        PassForm::Objects => "objects",
        PassForm::Dynamic => "dynamic",
    }
}

/// Fetches from the stencil attachment.
fn stencil(form: PassForm, layers: u32) -> Case {
    let name = format!("tile.stencil.{}.layers{layers}", form_name(form));
    let subject = about("OpImageFetch", "s8", "fetches from the stencil attachment return the tile's stencil values");
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.layers) = (form, layers);
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Stencil8, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        let (ty, at) = if layers > 1 { ("_array", "at, layer") } else { ("", "at") };
        spec.kernel(
            &format!(
                "@group(0) @binding(0) var image0: texture_storage_2d{ty}<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_2d{ty}<u32>;"
            ),
            format!(
                "let stencil = textureLoad(image1, {at}, 0).x;
textureStore(image0, {at}, vec4<u32>(stencil << 8u | (~stencil & 255u), 0u, 0u, 1u));"
            ),
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let mut image = words_of(&left.attachments[0]);
            for (_, _, i) in texels_of(pass) {
                let stencil = left.attachments[1][i];
                image[i] = u32::from(stencil) << 8 | u32::from(!stencil);
            }
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}

/// Fetches depth and stencil of one image through a view for each aspect: from a texel, or from its
/// neighbours in the apron.
fn depth_and_stencil(form: PassForm, apron: [u32; 2]) -> Case {
    let [ax, ay] = apron;
    let name = format!("tile.depth_stencil.{}.apron{ax}x{ay}", form_name(form));
    let rule = "depth and stencil of one attachment are read through a view for each aspect";
    let subject = about("OpImageFetch", "d32, s8", rule);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.apron) = (form, apron);
        spec.storage(0, F::R32ui);
        spec.attachment(1, TexelFormat::Depth32, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.attachment(2, TexelFormat::Stencil8, ImageAccess::Sampled, AttachmentRole::DepthStencil);
        spec.kernel(
            "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_depth_2d;
@group(0) @binding(2) var image2: texture_2d<u32>;",
            format!(
                "let right = in_area(vec2<i32>(at) + vec2<i32>({ax}, 0));
let above = in_area(vec2<i32>(at) - vec2<i32>(0, {ay}));
let depth = u32(textureLoad(image1, right, 0) * 64.0);
textureStore(image0, at, vec4<u32>(depth * 256u + textureLoad(image2, above, 0).x, 0u, 0u, 1u));"
            ),
        );
        spec.reference = Some(Box::new(move |pass, _| {
            let mut left = pass.contents();
            let (mut image, depth) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            let [[x0, y0], [w, _]] = pass.area;
            for ([x, y], _, i) in texels_of(pass) {
                let right = i + ((x + ax).min(x0 + w - 1) - x) as usize;
                let above = i - (y - y.saturating_sub(ay).max(y0)) as usize * pass.extent[0] as usize;
                image[i] = (f32::from_bits(depth[right]) * 64.0) as u32 * 256 + u32::from(left.attachments[2][above]);
            }
            left.attachments[0] = bytes_of(&image);
            left
        }));
        spec.build()
    })
}

/// A step stores to an attachment, and a later one fetches from it through another binding.
fn twice(apron: u32) -> Case {
    let name = format!("tile.aliased.apron{apron}");
    let rule = "after a barrier, a tile's stores are visible through every equivalent view of the attachment";
    let subject = about("OpImageFetch", "r32ui", rule);
    Case::tiles(name.clone(), subject, move |path| {
        let mut spec = PassSpec::new(&name, path);
        (spec.form, spec.apron) = (PassForm::Objects, [apron, apron]);
        spec.storage(0, F::R32ui);
        spec.attachments[0].bindings.push((2, ImageAccess::Sampled));
        spec.storage(1, F::R32ui);
        let declarations = "@group(0) @binding(0) var image0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var image1: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(2) var image2: texture_2d<u32>;";
        spec.kernel(
            declarations,
            "textureStore(image0, at, vec4<u32>(textureLoad(image0, at).x ^ (at.x * 5u + at.y), 0u, 0u, 1u));",
        );
        spec.kernel(
            declarations,
            "textureStore(image1, at, vec4<u32>(textureLoad(image2, at, 0).x * 3u, 0u, 0u, 1u));",
        );
        spec.reference = Some(Box::new(|pass, _| {
            let mut left = pass.contents();
            let (mut first, mut second) = (words_of(&left.attachments[0]), words_of(&left.attachments[1]));
            for ([x, y], _, i) in texels_of(pass) {
                first[i] ^= x * 5 + y;
                second[i] = first[i].wrapping_mul(3);
            }
            (left.attachments[0], left.attachments[1]) = (bytes_of(&first), bytes_of(&second));
            left
        }));
        spec.build()
    })
}
