//! Bytes and byte vectors at every offset, accessed by component or as a whole.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};

/// Returns `u8`, `u8vec2`, and so on.
pub(super) fn type_name(count: u32) -> String {
    if count == 1 { "u8".to_owned() } else { format!("u8vec{count}") }
}

/// Offsets within a word, across words, and across 16 bytes.
const OFFSETS: [u32; 10] = [0, 1, 2, 3, 5, 7, 13, 14, 15, 31];

/// Further offsets for push constants, near multiples of 16 bytes and up to the last byte.
const FAR_OFFSETS: [u32; 11] = [32, 47, 48, 63, 64, 79, 95, 96, 111, 112, 127];

/// Bytes of push constants that every device has.
const PUSH_BYTES: u32 = 128;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in 1..=4 {
        // The last offset places the value at the end of the push constants.
        let far = FAR_OFFSETS.map(|offset| offset.min(PUSH_BYTES - count));
        cases.extend(far.map(|offset| load(ByteStorage::Push, count, offset)));
        for offset in OFFSETS {
            for storage in ByteStorage::ALL {
                // Both kinds of storage buffer differ only in their capability.
                let twin = storage == ByteStorage::Block && (count, offset) != (1, 3) && (count, offset) != (3, 5);
                if !twin {
                    cases.push(load(storage, count, offset));
                }
            }
            cases.push(store(count, offset));
        }
    }
    for count in 2..=4 {
        for dynamic in [false, true] {
            for storage in [ByteStorage::Ssbo, ByteStorage::Ubo, ByteStorage::Push, ByteStorage::Address] {
                cases.push(load_component(storage, count, dynamic));
            }
            cases.push(store_component(count, dynamic));
        }
    }
    cases
}

/// Declares the type of a value of `count` bytes; returns it and the byte type.
pub(super) fn value_type(shader: &mut ModuleBuilder, count: u32) -> (String, String) {
    let byte = shader.storage_int(8, UNSIGNED);
    (shader.vector(&byte, count), byte)
}

/// Declares an input buffer of `count` words.
pub(super) fn words(shader: &mut ModuleBuilder, count: u32) -> String {
    let u32 = shader.u32();
    let words = shader.array(&u32, count, Some(4));
    ByteStorage::Ssbo.input(shader, &[(words, 0)])
}

/// Emits a value of `count` bytes, each narrowed from one word of the list.
pub(super) fn narrowed(shader: &mut ModuleBuilder, value: &str, list: &str, count: u32) -> String {
    let (u32, zero) = (shader.u32(), shader.constant_u32(0));
    let mut parts = Vec::new();
    for i in 0..count {
        let index = shader.constant_u32(i);
        let from = shader.access("StorageBuffer", &u32, list, &[&zero, &index]);
        parts.push(shader.op(&u32, "OpLoad", from));
    }
    let whole = match count {
        1 => parts.remove(0),
        _ => {
            let wide = shader.vector(&u32, count);
            shader.op(&wide, "OpCompositeConstruct", parts.join(" "))
        }
    };
    shader.op(value, "OpUConvert", whole)
}

/// A value at an offset is loaded and widened, so that the device must separate its components.
fn load(storage: ByteStorage, count: u32, offset: u32) -> Case {
    let ty = type_name(count);
    let name = format!("storage8.load.{}.{ty}.offset{offset}", storage.name());
    let subject = about("OpLoad", format!("{ty} <- {ty}"), "a value is loaded from its offset");
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        storage.enable(&mut shader);
        let (value, _) = value_type(&mut shader, count);
        let input = storage.input(&mut shader, &[(value.clone(), offset)]);
        let u32 = shader.u32();
        let wide = shader.vector(&u32, count);
        let words = shader.array(&u32, count, Some(4));
        let output = output(&mut shader, &[(words, 0)]);
        let zero = shader.constant_u32(0);
        let from = shader.access(storage.class(), &value, &input, &[&zero]);
        let loaded = storage.load(&mut shader, &value, &from, 1);
        let widened = shader.op(&wide, "OpUConvert", loaded);
        for i in 0..count {
            let part = match count {
                1 => widened.clone(),
                _ => shader.op(&u32, "OpCompositeExtract", format_args!("{widened} {i}")),
            };
            let index = shader.constant_u32(i);
            let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &index]);
            shader.run(format_args!("OpStore {to} {part}"));
        }
        let mut options = options(1, 4 * count);
        storage.fill(&mut options, pattern(offset + count, count));
        let moves =
            (0..count).map(|i| ByteMove { from: storage.from(), at: (offset + i, 1), to: (4 * i, 4), signed: false });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// A value is stored at an offset; the surrounding bytes keep their contents.
fn store(count: u32, offset: u32) -> Case {
    const AFTER: u32 = 17;
    let ty = type_name(count);
    let name = format!("storage8.store.ssbo.{ty}.offset{offset}");
    let subject =
        about("OpStore", format!("{ty} <- {ty}"), "a value is stored at its offset, and no other byte changes");
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let (value, byte) = value_type(&mut shader, count);
        let input = words(&mut shader, count);
        let after = shader.array(&byte, AFTER, Some(1));
        let output = output(&mut shader, &[(value.clone(), offset), (after, offset + count)]);
        let zero = shader.constant_u32(0);
        let narrow = narrowed(&mut shader, &value, &input, count);
        let to = shader.access("StorageBuffer", &value, &output, &[&zero]);
        shader.run(format_args!("OpStore {to} {narrow}"));
        let mut options = options(1, offset + count + AFTER);
        options.inputs.push(bytes_input(INPUT, pattern(4 * count, offset)));
        let moves = (0..count).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (4 * i, 4),
            to: (offset + i, 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// The index of a component: a constant, or loaded from a buffer of indices.
fn index_of(shader: &mut ModuleBuilder, dynamic: bool, component: u32, ids: &str) -> String {
    let constant = shader.constant_u32(component);
    if !dynamic {
        return constant;
    }
    let (u32, zero) = (shader.u32(), shader.constant_u32(0));
    let from = shader.access("StorageBuffer", &u32, ids, &[&zero, &constant]);
    shader.op(&u32, "OpLoad", from)
}

/// The binding of the index buffer, which holds the components in reverse.
const INDICES: u32 = 2;

fn indices(shader: &mut ModuleBuilder, count: u32) -> String {
    let u32 = shader.u32();
    let words = shader.array(&u32, count, Some(4));
    let block = shader.block(&[(words, 0)], "Block");
    shader.resource("StorageBuffer", &block, INDICES)
}

fn backwards(count: u32) -> Vec<u8> {
    (0..count).rev().flat_map(u32::to_le_bytes).collect()
}

/// The component of the `i`th access.
fn component(i: u32, count: u32, dynamic: bool) -> u32 {
    if dynamic { count - 1 - i } else { i }
}

fn how(dynamic: bool) -> &'static str {
    if dynamic { "dynamic" } else { "constant" }
}

/// Components of a vector are loaded through pointers to them.
fn load_component(storage: ByteStorage, count: u32, dynamic: bool) -> Case {
    const OFFSET: u32 = 4;
    let ty = type_name(count);
    let name = format!("storage8.component.load.{}.{ty}.{}", storage.name(), how(dynamic));
    let subject = about(
        "OpAccessChain",
        format!("u8 <- {ty}"),
        "a load through a pointer to a vector component returns that component",
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        storage.enable(&mut shader);
        let (value, byte) = value_type(&mut shader, count);
        let input = storage.input(&mut shader, &[(value, OFFSET)]);
        let u32 = shader.u32();
        let words = shader.array(&u32, count, Some(4));
        let output = output(&mut shader, &[(words, 0)]);
        let ids = if dynamic { indices(&mut shader, count) } else { String::new() };
        let zero = shader.constant_u32(0);
        for i in 0..count {
            let at = index_of(&mut shader, dynamic, i, &ids);
            let from = shader.access(storage.class(), &byte, &input, &[&zero, &at]);
            let loaded = storage.load(&mut shader, &byte, &from, 1);
            let wide = shader.op(&u32, "OpUConvert", loaded);
            let place = shader.constant_u32(i);
            let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &place]);
            shader.run(format_args!("OpStore {to} {wide}"));
        }
        let mut options = options(1, 4 * count);
        storage.fill(&mut options, pattern(OFFSET + count, 3 * count));
        if dynamic {
            options.inputs.push(bytes_input(INDICES, backwards(count)));
        }
        let moves = (0..count).map(|i| ByteMove {
            from: storage.from(),
            at: (OFFSET + component(i, count, dynamic), 1),
            to: (4 * i, 4),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// One component of each of several vectors is stored; the others keep their contents.
fn store_component(count: u32, dynamic: bool) -> Case {
    let ty = type_name(count);
    let name = format!("storage8.component.store.ssbo.{ty}.{}", how(dynamic));
    let subject =
        about("OpStore", format!("u8 <- {ty}"), "a store to a vector component does not change the other components");
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let (value, byte) = value_type(&mut shader, count);
        let u32 = shader.u32();
        let words = shader.array(&u32, count, Some(4));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(words, 0)]);
        let stride = if count == 3 { 4 } else { count };
        let vectors = shader.array(&value, count, Some(stride));
        let output = output(&mut shader, &[(vectors, 0)]);
        let ids = if dynamic { indices(&mut shader, count) } else { String::new() };
        let zero = shader.constant_u32(0);
        for i in 0..count {
            let place = shader.constant_u32(i);
            let from = shader.access("StorageBuffer", &u32, &input, &[&zero, &place]);
            let loaded = shader.op(&u32, "OpLoad", from);
            let narrow = shader.op(&byte, "OpUConvert", loaded);
            let at = index_of(&mut shader, dynamic, i, &ids);
            let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &place, &at]);
            shader.run(format_args!("OpStore {to} {narrow}"));
        }
        let mut options = options(1, stride * (count - 1) + count);
        options.inputs.push(bytes_input(INPUT, pattern(4 * count, 7)));
        if dynamic {
            options.inputs.push(bytes_input(INDICES, backwards(count)));
        }
        let moves = (0..count).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (4 * i, 4),
            to: (stride * i + component(i, count, dynamic), 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}
