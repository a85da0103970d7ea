//! Conversions of bytes to and from 16-bit integers (without arithmetic of either width) and
//! floats.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, contents_before};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_oracle::Slot;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for signed in [false, true] {
        for widens in [false, true] {
            cases.push(halves(signed, widens));
        }
        for (width, int8) in [(16, true), (16, false), (32, true), (64, true), (64, false)] {
            cases.push(to_float(signed, width, int8));
            cases.push(from_float(signed, width, int8));
        }
    }
    cases
}

/// Bytes to 16 bits or back, with storage capabilities alone.
fn halves(signed: bool, widens: bool) -> Case {
    let letter = if signed { 'i' } else { 'u' };
    let (from, to) = if widens { (8, 16) } else { (16, 8) };
    let instruction = if signed { "OpSConvert" } else { "OpUConvert" };
    let subject = about(
        instruction,
        format!("{letter}{to} <- {letter}{from}"),
        "8-bit and 16-bit integers convert into each other",
    );
    Case::core(format!("storage8.numbers.{letter}{from}.to_{letter}{to}.storage_only"), subject, move || {
        const COUNT: u32 = 256;
        let mut shader = ModuleBuilder::new([64, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        shader.capability("StorageBuffer16BitAccess");
        let (source, target) = (shader.storage_int(from, signed), shader.storage_int(to, signed));
        let sources = shader.array(&source, COUNT, Some(from / 8));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(sources, 0)]);
        let targets = shader.array(&target, COUNT, Some(to / 8));
        let output = output(&mut shader, &[(targets, 0)]);
        let (zero, i) = (shader.constant_u32(0), shader.global_x());
        let pointer = shader.access("StorageBuffer", &source, &input, &[&zero, &i]);
        let loaded = shader.op(&source, "OpLoad", pointer);
        let converted = shader.op(&target, instruction, loaded);
        let pointer = shader.access("StorageBuffer", &target, &output, &[&zero, &i]);
        shader.run(format_args!("OpStore {pointer} {converted}"));
        let mut options = options(COUNT / 64, COUNT * to / 8);
        let contents = (0..COUNT).flat_map(|i| {
            let upper = [0u8, 0xff, 0x80, 0x7f][i as usize % 4];
            [i as u8, upper].into_iter().take(from as usize / 8)
        });
        options.inputs.push(bytes_input(INPUT, contents.collect()));
        let moves = (0..COUNT).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (i * from / 8, from / 8),
            to: (i * to / 8, to / 8),
            signed,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// The bits of a multiple of 0.5 with a magnitude up to 512. Every format represents these exactly.
fn float_bits(value: f64, width: u32) -> Vec<u8> {
    match width {
        16 => {
            let bits = value.to_bits();
            // Rebias the exponent from 1023 to 15 and shorten the fraction from 52 bits to 10.
            let half = if value == 0.0 { 0 } else { ((bits >> 42) - (1008 << 10)) & 0x7fff };
            ((bits >> 48 & 0x8000) | half).to_le_bytes()[..2].to_vec()
        }
        32 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

/// Declares the capabilities for converting between a byte and a float of this width.
///
/// For 16 and 64 bits the float's own capability suffices (SPV_KHR_8bit_storage, "interactions with
/// optional types"). SPIR-V 2.16.1 names only conversions of width, so spirv-val and the validation
/// layer reject these modules, and under the layer the cases end as InternalErrors.
fn enable(shader: &mut ModuleBuilder, width: u32, int8: bool) {
    ByteStorage::Ssbo.enable(shader);
    if width == 16 {
        shader.capability("StorageBuffer16BitAccess");
    }
    if int8 {
        shader.capability("Int8");
    }
}

fn suffix(int8: bool) -> &'static str {
    if int8 { "" } else { ".without_int8" }
}

const BYTES: u32 = 256;

fn to_float(signed: bool, width: u32, int8: bool) -> Case {
    let letter = if signed { 'i' } else { 'u' };
    let instruction = if signed { "OpConvertSToF" } else { "OpConvertUToF" };
    let subject = about(instruction, format!("f{width} <- {letter}8"), "a byte converts to a float exactly");
    Case::core(format!("storage8.numbers.{letter}8.to_f{width}{}", suffix(int8)), subject, move || {
        let mut shader = ModuleBuilder::new([64, 1, 1]);
        enable(&mut shader, width, int8);
        let (byte, float) = (shader.storage_int(8, signed), shader.float(width));
        let bytes = shader.array(&byte, BYTES, Some(1));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(bytes, 0)]);
        let floats = shader.array(&float, BYTES, Some(width / 8));
        let output = output(&mut shader, &[(floats, 0)]);
        let (zero, i) = (shader.constant_u32(0), shader.global_x());
        let from = shader.access("StorageBuffer", &byte, &input, &[&zero, &i]);
        let loaded = shader.op(&byte, "OpLoad", from);
        let converted = shader.op(&float, instruction, loaded);
        let to = shader.access("StorageBuffer", &float, &output, &[&zero, &i]);
        shader.run(format_args!("OpStore {to} {converted}"));
        let mut options = options(BYTES / 64, BYTES * width / 8);
        options.inputs.push(bytes_input(INPUT, (0..=255).collect()));
        Program::new(shader.finish(), options).with_reference(move |dispatch| {
            let number = |byte: &u8| if signed { f64::from(*byte as i8) } else { f64::from(*byte) };
            let floats = contents_before(dispatch, INPUT).iter().flat_map(|byte| float_bits(number(byte), width));
            [(Slot::new(0, OUTPUT), floats.collect())].into()
        })
    })
}

/// Multiples of 0.5 over the whole range of the byte, so that both signs round towards zero.
fn from_float(signed: bool, width: u32, int8: bool) -> Case {
    let letter = if signed { 'i' } else { 'u' };
    let instruction = if signed { "OpConvertFToS" } else { "OpConvertFToU" };
    let subject = about(instruction, format!("{letter}8 <- f{width}"), "a float converts to a byte by truncation");
    Case::core(format!("storage8.numbers.f{width}.to_{letter}8{}", suffix(int8)), subject, move || {
        let least = if signed { -128.0 } else { 0.0 };
        let mut shader = ModuleBuilder::new([64, 1, 1]);
        enable(&mut shader, width, int8);
        let (byte, float) = (shader.storage_int(8, signed), shader.float(width));
        let count = 2 * BYTES;
        let floats = shader.array(&float, count, Some(width / 8));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(floats, 0)]);
        let bytes = shader.array(&byte, count, Some(1));
        let output = output(&mut shader, &[(bytes, 0)]);
        let (zero, i) = (shader.constant_u32(0), shader.global_x());
        let from = shader.access("StorageBuffer", &float, &input, &[&zero, &i]);
        let loaded = shader.op(&float, "OpLoad", from);
        let converted = shader.op(&byte, instruction, loaded);
        let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &i]);
        shader.run(format_args!("OpStore {to} {converted}"));
        let mut options = options(count / 64, count);
        let value = move |i: u32| least + 0.5 * f64::from(i);
        options.inputs.push(bytes_input(INPUT, (0..count).flat_map(|i| float_bits(value(i), width)).collect()));
        Program::new(shader.finish(), options).with_reference(move |_| {
            let bytes = (0..count).map(|i| value(i).trunc() as i32 as u8);
            [(Slot::new(0, OUTPUT), bytes.collect())].into()
        })
    })
}
