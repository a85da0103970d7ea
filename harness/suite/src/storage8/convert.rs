//! Sign and zero extension of bytes to every width, and back.

use super::about;
use super::storage::{INPUT, OUTPUT, Storage, options, output};
use crate::bytes::{Move, given, moved};
use crate::write::{SIGNED, Shader, UNSIGNED};
use crate::{Case, Program};

/// How a byte is extended: the type's signedness, and the instruction's. They need not agree: only the instruction decides.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extension {
    name: &'static str,
    type_signed: bool,
    sign: bool,
}

const EXTENSIONS: [Extension; 3] = [
    Extension { name: "sext_i8", type_signed: SIGNED, sign: true },
    Extension { name: "sext_u8", type_signed: UNSIGNED, sign: true },
    Extension { name: "zext_u8", type_signed: UNSIGNED, sign: false },
];

const WIDTHS: [u32; 3] = [16, 32, 64];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for storage in Storage::ALL {
        for extension in EXTENSIONS {
            for width in WIDTHS {
                for int8 in [false, true] {
                    cases.push(widen(storage, extension, width, int8));
                }
            }
        }
    }
    for signed in [SIGNED, UNSIGNED] {
        for width in WIDTHS {
            for int8 in [false, true] {
                cases.push(narrow(signed, width, int8));
            }
        }
    }
    cases
}

/// The bytes that are extended: all of them, or for push constants, which hold 128, those about the ends and the sign.
fn values(storage: Storage) -> Vec<u8> {
    match storage {
        Storage::Ssbo | Storage::Block | Storage::Ubo | Storage::Address => (0..=255).collect(),
        Storage::Push => (0..=63).flat_map(|i| [i, 0xff - i]).map(|v| v ^ if v % 3 == 0 { 0x40 } else { 0 }).collect(),
    }
}

fn suffix(int8: bool) -> &'static str {
    if int8 { ".int8" } else { "" }
}

/// Takes a value through a private variable, which only Int8 permits bytes in.
fn through_private(shader: &mut Shader, ty: &str, value: String) -> String {
    shader.capability("Int8");
    let variable = shader.variable("Private", ty);
    shader.run(format_args!("OpStore {variable} {value}"));
    shader.op(ty, "OpLoad", variable)
}

fn widen(storage: Storage, extension: Extension, width: u32, int8: bool) -> Case {
    let name = format!("storage8.convert.{}.{}.to{width}{}", storage.name(), extension.name, suffix(int8));
    let letter = |signed| if signed { 'i' } else { 'u' };
    let types = format!("{}{width} <- {}8", letter(extension.sign), letter(extension.type_signed));
    let op = if extension.sign { "OpSConvert" } else { "OpUConvert" };
    let about = about(op, types, "a byte is extended with its sign or with zeros, as the instruction says");
    Case::core(name, about, move || {
        let bytes = values(storage);
        let (count, wide) = (bytes.len() as u32, width / 8);
        // Uniform buffers have arrays of 16-byte strides.
        let stride = if storage == Storage::Ubo { 16 } else { 1 };
        // Push constants are indexed uniformly: a workgroup has one byte.
        let together = if storage == Storage::Push { 1 } else { 64 };
        let mut shader = Shader::new([together, 1, 1]);
        storage.enable(&mut shader);
        if width == 16 {
            shader.capability("StorageBuffer16BitAccess");
        }
        let narrow = shader.storage_int(8, extension.type_signed);
        let result = shader.int(width, extension.sign);
        let bytes_type = shader.array(&narrow, count, Some(stride));
        let input = storage.input(&mut shader, &[(bytes_type, 0)]);
        let results = shader.array(&result, count, Some(wide));
        let output = output(&mut shader, &[(results, 0)]);
        let (zero, index) = (shader.constant_u32(0), shader.global_x());
        let from = shader.access(storage.class(), &narrow, &input, &[&zero, &index]);
        let mut value = storage.load(&mut shader, &narrow, &from, 1);
        if int8 {
            value = through_private(&mut shader, &narrow, value);
        }
        let value = shader.op(&result, op, value);
        let to = shader.access("StorageBuffer", &result, &output, &[&zero, &index]);
        shader.run(format_args!("OpStore {to} {value}"));
        let mut options = options(count / together, count * wide);
        let mut contents = vec![0xee; ((count - 1) * stride + 1) as usize];
        for (i, byte) in bytes.iter().enumerate() {
            contents[i * stride as usize] = *byte;
        }
        storage.fill(&mut options, contents);
        let moves = (0..count).map(|i| Move {
            from: storage.from(),
            at: (i * stride, 1),
            to: (i * wide, wide),
            signed: extension.sign,
        });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}

fn narrow(signed: bool, width: u32, int8: bool) -> Case {
    let letter = if signed { 'i' } else { 'u' };
    let name = format!("storage8.convert.ssbo.{letter}{width}.to8{}", suffix(int8));
    let op = if signed { "OpSConvert" } else { "OpUConvert" };
    let about = about(op, format!("{letter}8 <- {letter}{width}"), "only the lowest byte of a wider value is stored");
    Case::core(name, about, move || {
        let (count, wide) = (256, width / 8);
        let mut shader = Shader::new([64, 1, 1]);
        Storage::Ssbo.enable(&mut shader);
        if width == 16 {
            shader.capability("StorageBuffer16BitAccess");
        }
        let source = shader.int(width, signed);
        let byte = shader.storage_int(8, signed);
        let wides = shader.array(&source, count, Some(wide));
        let input = Storage::Ssbo.input(&mut shader, &[(wides, 0)]);
        let bytes = shader.array(&byte, count, Some(1));
        let output = output(&mut shader, &[(bytes, 0)]);
        let (zero, index) = (shader.constant_u32(0), shader.global_x());
        let from = shader.access("StorageBuffer", &source, &input, &[&zero, &index]);
        let value = shader.op(&source, "OpLoad", from);
        let mut value = shader.op(&byte, op, value);
        if int8 {
            value = through_private(&mut shader, &byte, value);
        }
        let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &index]);
        shader.run(format_args!("OpStore {to} {value}"));
        let mut options = options(count / 64, count);
        // Upper bytes that saturating or rounding conversions would heed.
        let contents = (0..count).flat_map(|i| {
            let upper = [0u8, 0xff, 0x7f, 0x80, 1][i as usize % 5];
            (0..wide).map(move |at| if at == 0 { i as u8 } else { upper })
        });
        options.inputs.push(given(INPUT, contents.collect()));
        let moves = (0..count).map(|i| Move { from: Storage::Ssbo.from(), at: (i * wide, wide), to: (i, 1), signed });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}
