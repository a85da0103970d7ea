//! Texels of every image format, loaded and stored, as storage images and as texel buffers.

use super::about;
use super::operand_rows::{Ty, U32};
use crate::bytes::{bytes_input, contents_before, pattern};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Dispatch, Resource, Slot};
use std::collections::BTreeMap;

const CLAUSE: &str = "Vulkan environment for SPIR-V, compatibility between SPIR-V image formats and Vulkan formats";

/// Numeric interpretation of a format's channels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChannelKind {
    Unorm,
    Snorm,
    /// Floats of 16 or 32 bits.
    Float,
    /// Floats of 11, 11 and 10 bits, without signs.
    Small,
    Uint,
    Sint,
}

/// An image format: name, bits of the channels from the lowest on, their interpretation, and
/// whether every device with storage images supports it.
struct Format {
    name: &'static str,
    channels: &'static [u32],
    kind: ChannelKind,
    basic: bool,
}

const fn format(name: &'static str, channels: &'static [u32], kind: ChannelKind, basic: bool) -> Format {
    Format { name, channels, kind, basic }
}

/// All formats of the SPIR-V table except `Unknown`, in its order.
#[rustfmt::skip]
const FORMATS: [Format; 41] = [
    format("Rgba32f", &[32; 4], ChannelKind::Float, true),
    format("Rgba16f", &[16; 4], ChannelKind::Float, true),
    format("R32f", &[32], ChannelKind::Float, true),
    format("Rgba8", &[8; 4], ChannelKind::Unorm, true),
    format("Rgba8Snorm", &[8; 4], ChannelKind::Snorm, true),
    format("Rg32f", &[32; 2], ChannelKind::Float, false),
    format("Rg16f", &[16; 2], ChannelKind::Float, false),
    format("R11fG11fB10f", &[11, 11, 10], ChannelKind::Small, false),
    format("R16f", &[16], ChannelKind::Float, false),
    format("Rgba16", &[16; 4], ChannelKind::Unorm, false),
    format("Rgb10A2", &[10, 10, 10, 2], ChannelKind::Unorm, false),
    format("Rg16", &[16; 2], ChannelKind::Unorm, false),
    format("Rg8", &[8; 2], ChannelKind::Unorm, false),
    format("R16", &[16], ChannelKind::Unorm, false),
    format("R8", &[8], ChannelKind::Unorm, false),
    format("Rgba16Snorm", &[16; 4], ChannelKind::Snorm, false),
    format("Rg16Snorm", &[16; 2], ChannelKind::Snorm, false),
    format("Rg8Snorm", &[8; 2], ChannelKind::Snorm, false),
    format("R16Snorm", &[16], ChannelKind::Snorm, false),
    format("R8Snorm", &[8], ChannelKind::Snorm, false),
    format("Rgba32i", &[32; 4], ChannelKind::Sint, true),
    format("Rgba16i", &[16; 4], ChannelKind::Sint, true),
    format("Rgba8i", &[8; 4], ChannelKind::Sint, true),
    format("R32i", &[32], ChannelKind::Sint, true),
    format("Rg32i", &[32; 2], ChannelKind::Sint, false),
    format("Rg16i", &[16; 2], ChannelKind::Sint, false),
    format("Rg8i", &[8; 2], ChannelKind::Sint, false),
    format("R16i", &[16], ChannelKind::Sint, false),
    format("R8i", &[8], ChannelKind::Sint, false),
    format("Rgba32ui", &[32; 4], ChannelKind::Uint, true),
    format("Rgba16ui", &[16; 4], ChannelKind::Uint, true),
    format("Rgba8ui", &[8; 4], ChannelKind::Uint, true),
    format("R32ui", &[32], ChannelKind::Uint, true),
    format("Rgb10a2ui", &[10, 10, 10, 2], ChannelKind::Uint, false),
    format("Rg32ui", &[32; 2], ChannelKind::Uint, false),
    format("Rg16ui", &[16; 2], ChannelKind::Uint, false),
    format("Rg8ui", &[8; 2], ChannelKind::Uint, false),
    format("R16ui", &[16], ChannelKind::Uint, false),
    format("R8ui", &[8], ChannelKind::Uint, false),
    format("R64ui", &[64], ChannelKind::Uint, false),
    format("R64i", &[64], ChannelKind::Sint, false),
];

/// Width and height of an image in texels.
const WIDTH: u32 = 16;
const HEIGHT: u32 = 18;
const TEXELS: u32 = WIDTH * HEIGHT;

const IMAGE: u32 = 0;
const MEMORY: u32 = 1;

impl Format {
    fn label(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// The type of a channel in a shader.
    fn sampled(&self) -> Ty {
        let width = if self.channels[0] == 64 { 64 } else { 32 };
        match self.kind {
            ChannelKind::Unorm | ChannelKind::Snorm | ChannelKind::Float | ChannelKind::Small => Ty::Float { width },
            ChannelKind::Uint => Ty::Int { width, signed: false },
            ChannelKind::Sint => Ty::Int { width, signed: true },
        }
    }

    fn bytes(&self) -> u32 {
        self.channels.iter().sum::<u32>() / 8
    }

    fn is_integer(&self) -> bool {
        matches!(self.kind, ChannelKind::Uint | ChannelKind::Sint)
    }

    /// The bits of a texel's channel: all values for 8 bits, otherwise the ends of the range and a
    /// sample in between. Floats are finite and normal, apart from some zeros.
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
        // Widths of the fraction and of the exponent above it.
        let (fraction, exponent) = match (self.kind, width) {
            (ChannelKind::Float, 32) => (23, 8),
            (ChannelKind::Float, _) => (10, 5),
            (ChannelKind::Small, 11) => (6, 5),
            (ChannelKind::Small, _) => (5, 5),
            _ => return bits,
        };
        let top = 1u64 << (fraction + exponent - 1);
        let next = top >> 1;
        // The two leading exponent bits differ, so the magnitude is near 1. Some values are zero.
        if number % 9 == 0 { 0 } else { bits & !(top | next) | if number % 2 == 0 { top } else { next } }
    }

    /// The texels in memory.
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

    /// The value stored to a texel's channel: for integers, all values that the channel holds; for
    /// normalised formats, codes, values between codes, and values that are clamped; for floats,
    /// finite normal numbers.
    fn stored_value(&self, texel: u32, channel: usize) -> u64 {
        let width = self.channels.get(channel).copied().unwrap_or(self.channels[0]);
        let number = texel + 67 * channel as u32;
        match self.kind {
            ChannelKind::Uint | ChannelKind::Sint => {
                let bits = self.bits(texel, channel.min(self.channels.len() - 1));
                let shift = 64 - width;
                if self.kind == ChannelKind::Sint {
                    ((bits << shift).cast_signed() >> shift).cast_unsigned()
                } else {
                    bits
                }
            }
            ChannelKind::Unorm | ChannelKind::Snorm => {
                let is_signed = self.kind == ChannelKind::Snorm;
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
            ChannelKind::Float | ChannelKind::Small => {
                // 32-bit floats near 1 in both signs, which narrower formats must round.
                let bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9);
                u64::from(bits & 0x807f_ffff | (0x3f80_0000 + ((number % 13) << 23) - (6 << 23)))
            }
        }
    }
}

/// Storage of the texels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TexelStorage {
    Image,
    Buffer,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in &FORMATS {
        for storage in [TexelStorage::Image, TexelStorage::Buffer] {
            cases.push(load(format, storage, None));
            cases.push(store(format, storage));
        }
        match format.kind {
            ChannelKind::Sint => cases.push(load(format, TexelStorage::Image, Some("SignExtend"))),
            ChannelKind::Uint => cases.push(load(format, TexelStorage::Image, Some("ZeroExtend"))),
            ChannelKind::Unorm | ChannelKind::Snorm | ChannelKind::Float | ChannelKind::Small => {}
        }
    }
    cases
}

/// Ids for a program on texels. `vector` is the type of a texel and `scalar` its component; `place`
/// is the texel's index in memory.
struct ImageIds {
    scalar: String,
    vector: String,
    image: String,
    image_type: String,
    coordinates: String,
    place: String,
}

fn image_ids(shader: &mut ModuleBuilder, format: &Format, storage: TexelStorage) -> ImageIds {
    if !format.basic && format.channels[0] != 64 {
        shader.capability("StorageImageExtendedFormats");
    }
    if format.channels[0] == 64 {
        shader.capability("Int64ImageEXT");
        shader.extension("SPV_EXT_shader_image_int64");
    }
    let scalar = format.sampled().declare(shader);
    let vector = shader.vector(&scalar, 4);
    let dim = match storage {
        TexelStorage::Image => "2D",
        TexelStorage::Buffer => {
            shader.capability("ImageBuffer");
            "Buffer"
        }
    };
    let image_type = shader.declare(&format!("OpTypeImage {scalar} {dim} 0 0 0 2 {}", format.name));
    let image = shader.resource("UniformConstant", &image_type, IMAGE);
    let u32 = shader.u32();
    let x = shader.global_x();
    let (coordinates, place) = match storage {
        TexelStorage::Buffer => (x.clone(), x),
        TexelStorage::Image => {
            let y = shader.builtin_component("GlobalInvocationId", 1);
            let v2 = shader.vector(&u32, 2);
            let coordinates = shader.op(&v2, "OpCompositeConstruct", format_args!("{x} {y}"));
            let width = shader.constant_u32(WIDTH);
            let row = shader.op(&u32, "OpIMul", format_args!("{y} {width}"));
            (coordinates, shader.op(&u32, "OpIAdd", format_args!("{row} {x}")))
        }
    };
    ImageIds { scalar, vector, image, image_type, coordinates, place }
}

fn local(storage: TexelStorage) -> [u32; 3] {
    match storage {
        TexelStorage::Image => [WIDTH, 1, 1],
        TexelStorage::Buffer => [WIDTH, 1, 1],
    }
}

fn groups(storage: TexelStorage) -> [u32; 3] {
    match storage {
        TexelStorage::Image => [1, HEIGHT, 1],
        TexelStorage::Buffer => [HEIGHT, 1, 1],
    }
}

fn storage_name(storage: TexelStorage) -> &'static str {
    match storage {
        TexelStorage::Image => "image",
        TexelStorage::Buffer => "buffer",
    }
}

/// Size in bytes of a channel in a shader.
fn channel_bytes(format: &Format) -> u32 {
    format.sampled().bytes()
}

fn load(format: &'static Format, storage: TexelStorage, extend: Option<&'static str>) -> Case {
    let suffix = extend.map_or_else(String::new, |extend| format!(".{}", extend.to_ascii_lowercase()));
    let name = format!("environment.format.{}.load.{}{suffix}", format.label(), storage_name(storage));
    let ty = format.sampled().name();
    let subject = about(
        "OpImageRead",
        format!("{ty} <- {ty}"),
        "a texel's channels are converted to numbers; absent channels are 0, 0 and 1",
        CLAUSE,
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new(local(storage));
        if extend.is_some() {
            shader.version("1.4");
        }
        let ImageIds { scalar, vector, image, image_type, coordinates, place } =
            image_ids(&mut shader, format, storage);
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
        // A wrong result is drawn as an image of this width.
        let row = (bytes == 4).then_some(WIDTH as usize);
        let mut options = Options { groups: Some(groups(storage)), padding: true, row, ..Options::default() };
        options.inputs.push(bytes_input(IMAGE, format.contents()));
        options.inputs.push(bytes_input(MEMORY, pattern(4 * bytes * TEXELS, 5)));
        let program = Program::new(shader.finish(), options);
        if !format.is_integer() {
            return program;
        }
        program.with_reference(move |_| {
            let texel = |texel| (0..4).flat_map(move |channel| loaded_channel(format, texel, channel));
            [(Slot::new(0, MEMORY), (0..TEXELS).flat_map(texel).collect())].into()
        })
    })
}

/// An integer channel as a shader reads it.
fn loaded_channel(format: &Format, texel: u32, channel: usize) -> Vec<u8> {
    let bits = match format.channels.get(channel) {
        None => u64::from(channel == 3),
        Some(width) => {
            let (bits, shift) = (format.bits(texel, channel), 64 - width);
            if format.kind == ChannelKind::Sint {
                ((bits << shift).cast_signed() >> shift).cast_unsigned()
            } else {
                bits
            }
        }
    };
    bits.to_le_bytes()[..channel_bytes(format) as usize].to_vec()
}

/// Every second texel is stored; the others keep their contents.
fn store(format: &'static Format, storage: TexelStorage) -> Case {
    let name = format!("environment.format.{}.store.{}", format.label(), storage_name(storage));
    let ty = format.sampled().name();
    let subject = about(
        "OpImageWrite",
        format!("{ty} <- {ty}"),
        "a store converts the channels to the image format and changes no other texel",
        CLAUSE,
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new(local(storage));
        let ImageIds { vector, image, image_type, coordinates, place, .. } = image_ids(&mut shader, format, storage);
        // Memory holds integers, because loads of floats may change bits.
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
        let mut options = Options { groups: Some(groups(storage)), ..Options::default() };
        options.inputs.push(bytes_input(IMAGE, format.contents()));
        let channel = |texel, channel| format.stored_value(texel, channel).to_le_bytes()[..bytes as usize].to_vec();
        let texels = (0..TEXELS).flat_map(|texel| (0..4).flat_map(move |c| channel(texel, c)));
        options.inputs.push(bytes_input(MEMORY, texels.collect()));
        let program = Program::new(shader.finish(), options);
        if format.is_integer() {
            program.with_reference(move |dispatch| stored_texels(format, dispatch))
        } else {
            program
        }
    })
}

/// The expected integer texels: the low bits of the stored values.
fn stored_texels(format: &Format, dispatch: &Dispatch) -> BTreeMap<Slot, Vec<u8>> {
    let slot = Slot::new(0, IMAGE);
    let Some(Resource::Image(image)) = dispatch.bindings.get(&slot) else { return BTreeMap::new() };
    let mut data = image.data.clone();
    let (size, channel) = (format.bytes() as usize, channel_bytes(format) as usize);
    for (i, values) in
        contents_before(dispatch, MEMORY).chunks_exact(4 * channel).enumerate().filter(|(i, _)| i % 2 == 1)
    {
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
