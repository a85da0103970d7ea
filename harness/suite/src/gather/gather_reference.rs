//! Independent reference: evaluates one texel at a time by the tables of the specifications and
//! shares no code with the oracle.

use super::gather_params::{COORDINATES, GatherParams, IMAGE, RESULTS};
use assay_oracle::{Dispatch, Image, Resource, Slot};
use assay_spirv::tables::ImageFormat;
use assay_texture::{AddressMode, BorderColor, GatherMode};
use std::collections::BTreeMap;

/// Computes the results under one of the permitted choices: texel boundaries belong to the upper
/// side, layers at halves round up, and numbers are rounded to nearest.
pub(super) fn gathered(params: GatherParams) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync {
    move |dispatch| {
        let bound = |binding| dispatch.bindings.get(&Slot::new(0, binding));
        let (Some(Resource::CombinedImageSampler(image, _)), Some(Resource::Buffer(coordinates))) =
            (bound(IMAGE), bound(COORDINATES))
        else {
            return BTreeMap::new();
        };
        let words: Vec<u32> =
            coordinates.data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let results = words.chunks_exact(8).flat_map(|place| four(&params, image, place)).flat_map(u32::to_le_bytes);
        BTreeMap::from([(Slot::new(0, RESULTS), results.collect())])
    }
}

fn four(params: &GatherParams, image: &Image, place: &[u32]) -> [u32; 4] {
    let float = |k: usize| f64::from(f32::from_bits(place[k]));
    let [w, h] = params.size.map(|n| i64::from((n >> params.levels.1).max(1)));
    let layer = match params.layers {
        None => 0,
        Some((_, base, shown)) => ((float(2) + 0.5).floor() as i64).max(0).min(i64::from(shown) - 1) + i64::from(base),
    };
    // The table of the extension: position of the origin, and the texels relative to it.
    let (half, texels): (bool, [(i64, i64); 4]) = match params.mode {
        GatherMode::Core => (true, [(0, 1), (1, 1), (1, 0), (0, 0)]),
        GatherMode::Row => (false, [(0, 0), (1, 0), (2, 0), (3, 0)]),
        GatherMode::Diamond => (false, [(0, 1), (1, 0), (0, -1), (-1, 0)]),
        GatherMode::Horizontal => (true, [(-1, 1), (2, 1), (2, 0), (-1, 0)]),
        GatherMode::Vertical => (true, [(0, 2), (1, 2), (1, -1), (0, -1)]),
    };
    let origin = |s: f64, n: i64| {
        let scale = if params.unnormalized { 1.0 } else { n as f64 };
        (s * scale - if half { 0.5 } else { 0.0 }).floor() as i64
    };
    let [ox, oy] = params.offset.value().map(i64::from);
    let (i, j) = (origin(float(0), w) + ox, origin(float(1), h) + oy);
    texels.map(|(dx, dy)| match (wrap(params.address[0], i + dx, w), wrap(params.address[1], j + dy, h)) {
        (Some(x), Some(y)) => shown(params, |channel| texel(params, image, (x, y, layer), channel)),
        _ => shown(params, |channel| border(params, channel)),
    })
}

/// Applies the wrapping equations of the specification.
fn wrap(mode: AddressMode, i: i64, n: i64) -> Option<i64> {
    let modulo = |a: i64, b: i64| a - b * (a as f64 / b as f64).floor() as i64;
    let mirror = |a: i64| if a >= 0 { a } else { -(1 + a) };
    match mode {
        AddressMode::Repeat => Some(modulo(i, n)),
        AddressMode::MirroredRepeat => Some((n - 1) - mirror(modulo(i, 2 * n) - n)),
        AddressMode::ClampToEdge => Some(i.max(0).min(n - 1)),
        AddressMode::ClampToBorder => (i >= 0 && i < n).then_some(i),
        AddressMode::MirrorClampToEdge => Some(mirror(i).max(0).min(n - 1)),
    }
}

/// The requested component through the view's swizzle.
fn shown(params: &GatherParams, channel: impl Fn(usize) -> u32) -> u32 {
    let one = if params.sampled().integer { 1 } else { 1f32.to_bits() };
    match params.swizzle.as_bytes()[params.component as usize] {
        b'0' => 0,
        b'1' => one,
        b'r' => channel(0),
        b'g' => channel(1),
        b'b' => channel(2),
        b'a' => channel(3),
        _ => channel(params.component as usize),
    }
}

/// The bits of each channel of a format, and their numeric interpretation.
fn layout(format: ImageFormat) -> (Vec<u32>, NumericFormat) {
    let name = format!("{format:?}");
    match format {
        ImageFormat::Rgb10A2 => return (vec![10, 10, 10, 2], NumericFormat::Unorm),
        ImageFormat::Rgb10a2ui => return (vec![10, 10, 10, 2], NumericFormat::Unsigned),
        ImageFormat::R11fG11fB10f => return (vec![11, 11, 10], NumericFormat::Float),
        _ => {}
    }
    let letters = name.chars().skip(1).take_while(char::is_ascii_lowercase).count() + 1;
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let numbers = match name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches(char::is_numeric)
    {
        "" => NumericFormat::Unorm,
        "Snorm" => NumericFormat::Snorm,
        "ui" => NumericFormat::Unsigned,
        "i" => NumericFormat::Signed,
        _ => NumericFormat::Float,
    };
    (vec![digits.parse().unwrap_or(32); letters], numbers)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumericFormat {
    Unorm,
    Snorm,
    Unsigned,
    Signed,
    Float,
}

fn absent(params: &GatherParams, channel: usize) -> u32 {
    match (channel, params.sampled().integer) {
        (3, true) => 1,
        (3, false) => 1f32.to_bits(),
        _ => 0,
    }
}

fn border(params: &GatherParams, channel: usize) -> u32 {
    if channel >= layout(params.format).0.len() {
        return absent(params, channel);
    }
    let set = match params.border {
        BorderColor::FloatTransparentBlack | BorderColor::IntTransparentBlack => false,
        BorderColor::FloatOpaqueBlack | BorderColor::IntOpaqueBlack => channel == 3,
        BorderColor::FloatOpaqueWhite | BorderColor::IntOpaqueWhite => true,
    };
    match (set, params.sampled().integer) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 1f32.to_bits(),
    }
}

fn texel(params: &GatherParams, image: &Image, (x, y, layer): (i64, i64, i64), channel: usize) -> u32 {
    let (bits, numbers) = layout(params.format);
    let Some(&width) = bits.get(channel) else { return absent(params, channel) };
    let size = bits.iter().sum::<u32>() as i64 / 8;
    // Texels are ordered by level, then layer, then row.
    let layers = i64::from(params.layers.map_or(1, |(layers, ..)| layers));
    let mut at = 0;
    for level in 0..params.levels.1 {
        let [w, h] = params.size.map(|n| i64::from((n >> level).max(1)));
        at += w * h * layers * size;
    }
    let [w, h] = params.size.map(|n| i64::from((n >> params.levels.1).max(1)));
    at += (x + w * (y + h * layer)) * size;
    let first: u32 = bits[..channel].iter().sum();
    let mut value = 0u64;
    for bit in 0..width {
        let bit_at = at as usize * 8 + (first + bit) as usize;
        value |= u64::from(image.data[bit_at / 8] >> (bit_at % 8) & 1) << bit;
    }
    let signed = ((value << (64 - width)) as i64) >> (64 - width);
    match numbers {
        NumericFormat::Unsigned => value as u32,
        NumericFormat::Signed => signed as u32,
        NumericFormat::Unorm => ((value as f64 / ((1u64 << width) - 1) as f64) as f32).to_bits(),
        NumericFormat::Snorm => ((signed as f64 / ((1u64 << (width - 1)) - 1) as f64).max(-1.0) as f32).to_bits(),
        NumericFormat::Float => float(value, width).to_bits(),
    }
}

/// A float of 32, 16, 11 or 10 bits; the last two have no sign.
fn float(bits: u64, width: u32) -> f32 {
    if width == 32 {
        return f32::from_bits(bits as u32);
    }
    let fraction_bits = match width {
        16 => 10,
        11 => 6,
        _ => 5,
    };
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f64 / f64::from(1u32 << fraction_bits);
    let exponent = (bits >> fraction_bits & 31) as i32;
    let negative = width == 16 && bits >> 15 == 1;
    let magnitude = if exponent == 0 { fraction * 2f64.powi(-14) } else { (1.0 + fraction) * 2f64.powi(exponent - 15) };
    (if negative { -magnitude } else { magnitude }) as f32
}
