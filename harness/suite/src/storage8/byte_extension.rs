//! Sign and zero extension of bytes to every width, and truncation to bytes.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use crate::bytes::{ByteMove, apply_moves, bytes_input};
use crate::module_builder::{ModuleBuilder, SIGNED, UNSIGNED};
use crate::{Case, Program};

/// An extension of a byte: signedness of the type and of the instruction. They may differ; only the
/// instruction determines the result.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ByteExtension {
    name: &'static str,
    type_signed: bool,
    sign: bool,
}

const BYTE_EXTENSIONS: [ByteExtension; 3] = [
    ByteExtension { name: "sext_i8", type_signed: SIGNED, sign: true },
    ByteExtension { name: "sext_u8", type_signed: UNSIGNED, sign: true },
    ByteExtension { name: "zext_u8", type_signed: UNSIGNED, sign: false },
];

const WIDTHS: [u32; 3] = [16, 32, 64];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for storage in ByteStorage::ALL {
        for extension in BYTE_EXTENSIONS {
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

/// The bytes to extend: all values, or, for the 128 bytes of push constants, those near the ends of
/// the range and near the sign change.
fn values(storage: ByteStorage) -> Vec<u8> {
    match storage {
        ByteStorage::Ssbo | ByteStorage::Block | ByteStorage::Ubo | ByteStorage::Address => (0..=255).collect(),
        ByteStorage::Push => {
            (0..=63).flat_map(|i| [i, 0xff - i]).map(|v| v ^ if v % 3 == 0 { 0x40 } else { 0 }).collect()
        }
    }
}

fn suffix(int8: bool) -> &'static str {
    if int8 { ".int8" } else { "" }
}

/// Stores a value to a private variable and loads it again. Only `Int8` permits such variables of
/// bytes.
fn through_private(shader: &mut ModuleBuilder, ty: &str, value: String) -> String {
    shader.capability("Int8");
    let variable = shader.variable("Private", ty);
    shader.run(format_args!("OpStore {variable} {value}"));
    shader.op(ty, "OpLoad", variable)
}

fn widen(storage: ByteStorage, extension: ByteExtension, width: u32, int8: bool) -> Case {
    let name = format!("storage8.convert.{}.{}.to{width}{}", storage.name(), extension.name, suffix(int8));
    let letter = |signed| if signed { 'i' } else { 'u' };
    let types = format!("{}{width} <- {}8", letter(extension.sign), letter(extension.type_signed));
    let op = if extension.sign { "OpSConvert" } else { "OpUConvert" };
    let subject = about(op, types, "the instruction determines whether a byte is sign-extended or zero-extended");
    Case::core(name, subject, move || {
        let bytes = values(storage);
        let (count, wide) = (bytes.len() as u32, width / 8);
        // Arrays in uniform buffers have a stride that is a multiple of 16 bytes.
        let stride = if storage == ByteStorage::Ubo { 16 } else { 1 };
        // Push constants must be indexed uniformly, so each workgroup reads one byte.
        let together = if storage == ByteStorage::Push { 1 } else { 64 };
        let mut shader = ModuleBuilder::new([together, 1, 1]);
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
        let moves = (0..count).map(|i| ByteMove {
            from: storage.from(),
            at: (i * stride, 1),
            to: (i * wide, wide),
            signed: extension.sign,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

fn narrow(signed: bool, width: u32, int8: bool) -> Case {
    let letter = if signed { 'i' } else { 'u' };
    let name = format!("storage8.convert.ssbo.{letter}{width}.to8{}", suffix(int8));
    let op = if signed { "OpSConvert" } else { "OpUConvert" };
    let subject = about(op, format!("{letter}8 <- {letter}{width}"), "narrowing keeps the lowest byte");
    Case::core(name, subject, move || {
        let (count, wide) = (256, width / 8);
        let mut shader = ModuleBuilder::new([64, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        if width == 16 {
            shader.capability("StorageBuffer16BitAccess");
        }
        let source = shader.int(width, signed);
        let byte = shader.storage_int(8, signed);
        let wides = shader.array(&source, count, Some(wide));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(wides, 0)]);
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
        // The upper bytes would change the result of a saturating or rounding conversion.
        let contents = (0..count).flat_map(|i| {
            let upper = [0u8, 0xff, 0x7f, 0x80, 1][i as usize % 5];
            (0..wide).map(move |at| if at == 0 { i as u8 } else { upper })
        });
        options.inputs.push(bytes_input(INPUT, contents.collect()));
        let moves =
            (0..count).map(|i| ByteMove { from: ByteStorage::Ssbo.from(), at: (i * wide, wide), to: (i, 1), signed });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}
