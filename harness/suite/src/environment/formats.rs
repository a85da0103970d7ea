//! Texels of every image format: read, and written, as storage images and as texel buffers.

use super::about;
use super::apply::{Ty, U32};
use crate::bytes::{before, given, pattern};
use crate::write::Shader;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Dispatch, Resource, Slot};
use std::collections::BTreeMap;

const CLAUSE: &str = "Vulkan environment for SPIR-V, compatibility between SPIR-V image formats and Vulkan formats";

/// How the channels of a format are numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unorm,
    Snorm,
    /// Floats of 16 or 32 bits.
    Float,
    /// Floats of 11, 11 and 10 bits, without signs.
    Small,
    Uint,
    Sint,
}

/// A format: its name, its channels' bits in order from the lowest, what they are, and whether every device with storage
/// images takes it.
struct Format {
    name: &'static str,
    channels: &'static [u32],
    kind: Kind,
    basic: bool,
}

const fn format(name: &'static str, channels: &'static [u32], kind: Kind, basic: bool) -> Format {
    Format { name, channels, kind, basic }
}

/// All of the table but `Unknown`, in its order.
#[rustfmt::skip]
const FORMATS: [Format; 41] = [
    format("Rgba32f", &[32; 4], Kind::Float, true),
    format("Rgba16f", &[16; 4], Kind::Float, true),
    format("R32f", &[32], Kind::Float, true),
    format("Rgba8", &[8; 4], Kind::Unorm, true),
    format("Rgba8Snorm", &[8; 4], Kind::Snorm, true),
    format("Rg32f", &[32; 2], Kind::Float, false),
    format("Rg16f", &[16; 2], Kind::Float, false),
    format("R11fG11fB10f", &[11, 11, 10], Kind::Small, false),
    format("R16f", &[16], Kind::Float, false),
    format("Rgba16", &[16; 4], Kind::Unorm, false),
    format("Rgb10A2", &[10, 10, 10, 2], Kind::Unorm, false),
    format("Rg16", &[16; 2], Kind::Unorm, false),
    format("Rg8", &[8; 2], Kind::Unorm, false),
    format("R16", &[16], Kind::Unorm, false),
    format("R8", &[8], Kind::Unorm, false),
    format("Rgba16Snorm", &[16; 4], Kind::Snorm, false),
    format("Rg16Snorm", &[16; 2], Kind::Snorm, false),
    format("Rg8Snorm", &[8; 2], Kind::Snorm, false),
    format("R16Snorm", &[16], Kind::Snorm, false),
    format("R8Snorm", &[8], Kind::Snorm, false),
    format("Rgba32i", &[32; 4], Kind::Sint, true),
    format("Rgba16i", &[16; 4], Kind::Sint, true),
    format("Rgba8i", &[8; 4], Kind::Sint, true),
    format("R32i", &[32], Kind::Sint, true),
    format("Rg32i", &[32; 2], Kind::Sint, false),
    format("Rg16i", &[16; 2], Kind::Sint, false),
    format("Rg8i", &[8; 2], Kind::Sint, false),
    format("R16i", &[16], Kind::Sint, false),
    format("R8i", &[8], Kind::Sint, false),
    format("Rgba32ui", &[32; 4], Kind::Uint, true),
    format("Rgba16ui", &[16; 4], Kind::Uint, true),
    format("Rgba8ui", &[8; 4], Kind::Uint, true),
    format("R32ui", &[32], Kind::Uint, true),
    format("Rgb10a2ui", &[10, 10, 10, 2], Kind::Uint, false),
    format("Rg32ui", &[32; 2], Kind::Uint, false),
    format("Rg16ui", &[16; 2], Kind::Uint, false),
    format("Rg8ui", &[8; 2], Kind::Uint, false),
    format("R16ui", &[16], Kind::Uint, false),
    format("R8ui", &[8], Kind::Uint, false),
    format("R64ui", &[64], Kind::Uint, false),
    format("R64i", &[64], Kind::Sint, false),
];

/// Texels of an image along x, and rows.
const WIDTH: u32 = 16;
const HEIGHT: u32 = 18;
const TEXELS: u32 = WIDTH * HEIGHT;

const IMAGE: u32 = 0;
const MEMORY: u32 = 1;

impl Format {
    fn label(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// The type of a channel as a shader sees it.
    fn sampled(&self) -> Ty {
        let width = if self.channels[0] == 64 { 64 } else { 32 };
        match self.kind {
            Kind::Unorm | Kind::Snorm | Kind::Float | Kind::Small => Ty::Float { width },
            Kind::Uint => Ty::Int { width, signed: false },
            Kind::Sint => Ty::Int { width, signed: true },
        }
    }

    fn bytes(&self) -> u32 {
        self.channels.iter().sum::<u32>() / 8
    }

    fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Uint | Kind::Sint)
    }

    /// The bits of a channel of a texel: of 8 bits every value, of more the ends and some of what is between. Floats are
    /// finite and normal.
    fn bits(&self, texel: u32, channel: usize) -> u64 {
        let width = self.channels[channel];
        let all = u64::MAX >> (64 - width);
        let number = u64::from(texel + 67 * channel as u32);
        let bits = match (width, number % 9) {
            (8, _) => number,
            (_, 0) => 0,
            (_, 1) => all,
            (_, 2) => all >> 1,
            (_, 3) => (all >> 1) + 1,
            (_, 4) => 1,
            _ => number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17,
        } & all;
        // Bits of the fraction, and of the exponent above it.
        let (fraction, exponent) = match (self.kind, width) {
            (Kind::Float, 32) => (23, 8),
            (Kind::Float, _) => (10, 5),
            (Kind::Small, 11) => (6, 5),
            (Kind::Small, _) => (5, 5),
            _ => return bits,
        };
        let top = 1u64 << (fraction + exponent - 1);
        let next = top >> 1;
        // The two leading bits of the exponent differ: about 1. A zero now and then.
        if number % 9 == 0 { 0 } else { bits & !(top | next) | if number % 2 == 0 { top } else { next } }
    }

    /// The texels as they lie in memory.
    fn contents(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for texel in 0..TEXELS {
            let mut word = 0u128;
            let mut at = 0;
            for (channel, width) in self.channels.iter().enumerate() {
                word |= u128::from(self.bits(texel, channel)) << at;
                at += width;
            }
            bytes.extend_from_slice(&word.to_le_bytes()[..self.bytes() as usize]);
        }
        bytes
    }

    /// What is written to a channel of a texel: all that integers of the channel's width can be; of normalised numbers their
    /// codes, halves between them, and what is clamped; of floats finite and normal ones.
    fn given(&self, texel: u32, channel: usize) -> u64 {
        let width = self.channels.get(channel).copied().unwrap_or(self.channels[0]);
        let number = texel + 67 * channel as u32;
        match self.kind {
            Kind::Uint | Kind::Sint => {
                let bits = self.bits(texel, channel.min(self.channels.len() - 1));
                let shift = 64 - width;
                if self.kind == Kind::Sint { ((bits << shift).cast_signed() >> shift).cast_unsigned() } else { bits }
            }
            Kind::Unorm | Kind::Snorm => {
                let is_signed = self.kind == Kind::Snorm;
                let top = f64::from(u32::MAX >> (32 - width + u32::from(is_signed)));
                let code = f64::from(number % 128) / 128.0 * top;
                let value = match number % 7 {
                    0 => [0.0, 1.0, -1.0, 2.0, -0.25, 1e30, -1e30, f64::INFINITY][number as usize / 7 % 8],
                    1..=3 => code.round() / top,
                    4 => (code.floor() + 0.25) / top,
                    _ => (code.floor() + 0.75) / top,
                };
                let value = if is_signed && number % 2 == 1 { -value } else { value };
                u64::from((value as f32).to_bits())
            }
            Kind::Float | Kind::Small => {
                // Of 32 bits, so that narrower ones have to round: exponents about 1, either sign.
                let bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9);
                u64::from(bits & 0x807f_ffff | (0x3f80_0000 + ((number % 13) << 23) - (6 << 23)))
            }
        }
    }
}

/// Where texels are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Image,
    Buffer,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in &FORMATS {
        for home in [Home::Image, Home::Buffer] {
            cases.push(load(format, home, None));
            cases.push(store(format, home));
        }
        match format.kind {
            Kind::Sint => cases.push(load(format, Home::Image, Some("SignExtend"))),
            Kind::Uint => cases.push(load(format, Home::Image, Some("ZeroExtend"))),
            Kind::Unorm | Kind::Snorm | Kind::Float | Kind::Small => {}
        }
    }
    cases
}

/// What a program of texels is made of: the vector type of a texel, its component, the image and its type, coordinates, and the
/// place in memory.
struct Parts {
    scalar: String,
    vector: String,
    image: String,
    image_type: String,
    coordinates: String,
    place: String,
}

fn parts(shader: &mut Shader, format: &Format, home: Home) -> Parts {
    if !format.basic && format.channels[0] != 64 {
        shader.capability("StorageImageExtendedFormats");
    }
    if format.channels[0] == 64 {
        shader.capability("Int64ImageEXT");
        shader.extension("SPV_EXT_shader_image_int64");
    }
    let scalar = format.sampled().declare(shader);
    let vector = shader.vector(&scalar, 4);
    let dim = match home {
        Home::Image => "2D",
        Home::Buffer => {
            shader.capability("ImageBuffer");
            "Buffer"
        }
    };
    let image_type = shader.declare(&format!("OpTypeImage {scalar} {dim} 0 0 0 2 {}", format.name));
    let image = shader.resource("UniformConstant", &image_type, IMAGE);
    let u32 = shader.u32();
    let x = shader.global_x();
    let (coordinates, place) = match home {
        Home::Buffer => (x.clone(), x),
        Home::Image => {
            let y = shader.builtin_component("GlobalInvocationId", 1);
            let v2 = shader.vector(&u32, 2);
            let coordinates = shader.op(&v2, "OpCompositeConstruct", format_args!("{x} {y}"));
            let width = shader.constant_u32(WIDTH);
            let row = shader.op(&u32, "OpIMul", format_args!("{y} {width}"));
            (coordinates, shader.op(&u32, "OpIAdd", format_args!("{row} {x}")))
        }
    };
    Parts { scalar, vector, image, image_type, coordinates, place }
}

fn local(home: Home) -> [u32; 3] {
    match home {
        Home::Image => [WIDTH, 1, 1],
        Home::Buffer => [WIDTH, 1, 1],
    }
}

fn groups(home: Home) -> [u32; 3] {
    match home {
        Home::Image => [1, HEIGHT, 1],
        Home::Buffer => [HEIGHT, 1, 1],
    }
}

fn home_name(home: Home) -> &'static str {
    match home {
        Home::Image => "image",
        Home::Buffer => "buffer",
    }
}

/// Bytes of a channel as a shader sees it.
fn channel_bytes(format: &Format) -> u32 {
    format.sampled().bytes()
}

fn load(format: &'static Format, home: Home, extend: Option<&'static str>) -> Case {
    let suffix = extend.map_or_else(String::new, |extend| format!(".{}", extend.to_ascii_lowercase()));
    let name = format!("environment.format.{}.load.{}{suffix}", format.label(), home_name(home));
    let ty = format.sampled().name();
    let about =
        about("OpImageRead", format!("{ty} <- {ty}"), "a texel's channels as numbers; absent ones 0, 0, 1", CLAUSE);
    Case::core(name, about, move || {
        let mut shader = Shader::new(local(home));
        if extend.is_some() {
            shader.version("1.4");
        }
        let Parts { scalar, vector, image, image_type, coordinates, place } = parts(&mut shader, format, home);
        let bytes = channel_bytes(format);
        let array = shader.array(&vector, TEXELS, Some(4 * bytes));
        let block = shader.block(&[(array, 0)], "Block");
        let memory = shader.resource("StorageBuffer", &block, MEMORY);
        let zero = shader.constant_u32(0);
        let loaded = shader.op(&image_type, "OpLoad", image);
        let operand = extend.map_or_else(String::new, |extend| format!(" {extend}"));
        let texel = shader.op(&vector, "OpImageRead", format_args!("{loaded} {coordinates}{operand}"));
        let to = shader.access("StorageBuffer", &vector, &memory, &[&zero, &place]);
        shader.run(format_args!("OpStore {to} {texel}"));
        _ = scalar;
        // What is read is drawn as the image is, if it is wrong.
        let row = (bytes == 4).then_some(WIDTH as usize);
        let mut options = Options { groups: Some(groups(home)), padding: true, row, ..Options::default() };
        options.inputs.push(given(IMAGE, format.contents()));
        options.inputs.push(given(MEMORY, pattern(4 * bytes * TEXELS, 5)));
        let program = Program::new(shader.finish(), options);
        if !format.is_integer() {
            return program;
        }
        program.with_second(move |_| {
            let texel = |texel| (0..4).flat_map(move |channel| seen(format, texel, channel));
            [(Slot::new(0, MEMORY), (0..TEXELS).flat_map(texel).collect())].into()
        })
    })
}

/// An integer channel as a shader sees it.
fn seen(format: &Format, texel: u32, channel: usize) -> Vec<u8> {
    let bits = match format.channels.get(channel) {
        None => u64::from(channel == 3),
        Some(width) => {
            let (bits, shift) = (format.bits(texel, channel), 64 - width);
            if format.kind == Kind::Sint { ((bits << shift).cast_signed() >> shift).cast_unsigned() } else { bits }
        }
    };
    bits.to_le_bytes()[..channel_bytes(format) as usize].to_vec()
}

/// Every other texel is written; those between stay.
fn store(format: &'static Format, home: Home) -> Case {
    let name = format!("environment.format.{}.store.{}", format.label(), home_name(home));
    let ty = format.sampled().name();
    let about = about(
        "OpImageWrite",
        format!("{ty} <- {ty}"),
        "a texel's channels are written as the format says, no other texel",
        CLAUSE,
    );
    Case::core(name, about, move || {
        let mut shader = Shader::new(local(home));
        let Parts { vector, image, image_type, coordinates, place, .. } = parts(&mut shader, format, home);
        // As integers in memory: loads of floats need not keep all.
        let stored = match format.sampled() {
            Ty::Float { .. } => U32.declare(&mut shader),
            ty @ Ty::Int { .. } => ty.declare(&mut shader),
        };
        let stored = shader.vector(&stored, 4);
        let bytes = channel_bytes(format);
        let array = shader.array(&stored, TEXELS, Some(4 * bytes));
        let block = shader.block(&[(array, 0)], "Block");
        let memory = shader.resource("StorageBuffer", &block, MEMORY);
        let (u32, zero, one) = (shader.u32(), shader.constant_u32(0), shader.constant_u32(1));
        let bool = shader.bool();
        let odd = shader.op(&u32, "OpBitwiseAnd", format_args!("{place} {one}"));
        let is_odd = shader.op(&bool, "OpIEqual", format_args!("{odd} {one}"));
        let [yes, end] = [0; 2].map(|_| shader.label());
        shader.run(format_args!(
            "OpSelectionMerge {end} None\nOpBranchConditional {is_odd} {yes} {end}\n{yes} = OpLabel"
        ));
        let from = shader.access("StorageBuffer", &stored, &memory, &[&zero, &place]);
        let mut texel = shader.op(&stored, "OpLoad", from);
        if stored != vector {
            texel = shader.op(&vector, "OpBitcast", texel);
        }
        let loaded = shader.op(&image_type, "OpLoad", image);
        shader.run(format_args!("OpImageWrite {loaded} {coordinates} {texel}"));
        shader.run(format_args!("OpBranch {end}\n{end} = OpLabel"));
        let mut options = Options { groups: Some(groups(home)), ..Options::default() };
        options.inputs.push(given(IMAGE, format.contents()));
        let channel = |texel, channel| format.given(texel, channel).to_le_bytes()[..bytes as usize].to_vec();
        let texels = (0..TEXELS).flat_map(|texel| (0..4).flat_map(move |c| channel(texel, c)));
        options.inputs.push(given(MEMORY, texels.collect()));
        let program = Program::new(shader.finish(), options);
        if format.is_integer() { program.with_second(move |dispatch| written(format, dispatch)) } else { program }
    })
}

/// What integer texels become: the low bits of what is written, which are all that it has.
fn written(format: &Format, dispatch: &Dispatch) -> BTreeMap<Slot, Vec<u8>> {
    let slot = Slot::new(0, IMAGE);
    let Some(Resource::Image(image)) = dispatch.bindings.get(&slot) else { return BTreeMap::new() };
    let mut data = image.data.clone();
    let (size, channel) = (format.bytes() as usize, channel_bytes(format) as usize);
    for (i, values) in before(dispatch, MEMORY).chunks_exact(4 * channel).enumerate().filter(|(i, _)| i % 2 == 1) {
        let mut word = 0u128;
        let mut at = 0;
        for (value, width) in values.chunks_exact(channel).zip(format.channels) {
            let bits = value.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            word |= u128::from(bits & (u64::MAX >> (64 - width))) << at;
            at += width;
        }
        data[i * size..(i + 1) * size].copy_from_slice(&word.to_le_bytes()[..size]);
    }
    [(slot, data)].into()
}
