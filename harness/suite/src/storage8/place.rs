//! Bytes and short vectors of them at every offset, read and written one component or one vector at a time.

use super::about;
use super::storage::{INPUT, OUTPUT, Storage, options, output};
use crate::bytes::{From, Move, given, moved, pattern};
use crate::write::{Shader, UNSIGNED};
use crate::{Case, Program};

/// `u8`, `u8vec2`, ..
pub(super) fn type_name(count: u32) -> String {
    if count == 1 { "u8".to_owned() } else { format!("u8vec{count}") }
}

/// Offsets within a word, across words, and across 16 bytes.
const OFFSETS: [u32; 10] = [0, 1, 2, 3, 5, 7, 13, 14, 15, 31];

/// Offsets of push constants beyond those: as far as every device has them, about the ends of 16 bytes.
const FAR_OFFSETS: [u32; 11] = [32, 47, 48, 63, 64, 79, 95, 96, 111, 112, 127];

/// Bytes of push constants that every device has.
const PUSH_BYTES: u32 = 128;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in 1..=4 {
        // The last is the one that ends with the last byte.
        let far = FAR_OFFSETS.map(|offset| offset.min(PUSH_BYTES - count));
        cases.extend(far.map(|offset| load(Storage::Push, count, offset)));
        for offset in OFFSETS {
            for storage in Storage::ALL {
                // The old and the new storage buffer are one thing, but for their capability.
                let twin = storage == Storage::Block && (count, offset) != (1, 3) && (count, offset) != (3, 5);
                if !twin {
                    cases.push(load(storage, count, offset));
                }
            }
            cases.push(store(count, offset));
        }
    }
    for count in 2..=4 {
        for dynamic in [false, true] {
            for storage in [Storage::Ssbo, Storage::Ubo, Storage::Push, Storage::Address] {
                cases.push(load_component(storage, count, dynamic));
            }
            cases.push(store_component(count, dynamic));
        }
    }
    cases
}

/// The type of a value of so many bytes, and of the bytes.
pub(super) fn value_type(shader: &mut Shader, count: u32) -> (String, String) {
    let byte = shader.storage_int(8, UNSIGNED);
    (shader.vector(&byte, count), byte)
}

/// A buffer of so many words that is read, by a descriptor.
pub(super) fn words(shader: &mut Shader, count: u32) -> String {
    let u32 = shader.u32();
    let words = shader.array(&u32, count, Some(4));
    Storage::Ssbo.input(shader, &[(words, 0)])
}

/// A value of so many bytes, each narrowed from one word of the list.
pub(super) fn narrowed(shader: &mut Shader, value: &str, list: &str, count: u32) -> String {
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

/// A value that lies at an offset is widened, so that the device has to know its parts.
fn load(storage: Storage, count: u32, offset: u32) -> Case {
    let ty = type_name(count);
    let name = format!("storage8.load.{}.{ty}.offset{offset}", storage.name());
    let about = about("OpLoad", format!("{ty} <- {ty}"), "a value is read from where its offset says");
    Case::core(name, about, move || {
        let mut shader = Shader::new([1, 1, 1]);
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
            (0..count).map(|i| Move { from: storage.from(), at: (offset + i, 1), to: (4 * i, 4), signed: false });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}

/// A value is stored at an offset, between bytes that stay.
fn store(count: u32, offset: u32) -> Case {
    const AFTER: u32 = 17;
    let ty = type_name(count);
    let name = format!("storage8.store.ssbo.{ty}.offset{offset}");
    let about =
        about("OpStore", format!("{ty} <- {ty}"), "a value is written where its offset says, and nothing else is");
    Case::core(name, about, move || {
        let mut shader = Shader::new([1, 1, 1]);
        Storage::Ssbo.enable(&mut shader);
        let (value, byte) = value_type(&mut shader, count);
        let input = words(&mut shader, count);
        let after = shader.array(&byte, AFTER, Some(1));
        let output = output(&mut shader, &[(value.clone(), offset), (after, offset + count)]);
        let zero = shader.constant_u32(0);
        let narrow = narrowed(&mut shader, &value, &input, count);
        let to = shader.access("StorageBuffer", &value, &output, &[&zero]);
        shader.run(format_args!("OpStore {to} {narrow}"));
        let mut options = options(1, offset + count + AFTER);
        options.inputs.push(given(INPUT, pattern(4 * count, offset)));
        let moves =
            (0..count).map(|i| Move { from: From::Binding(INPUT), at: (4 * i, 4), to: (offset + i, 1), signed: false });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}

/// The index of a component: a constant, or one that only running shows (its own number, read from a buffer).
fn index_of(shader: &mut Shader, dynamic: bool, component: u32, ids: &str) -> String {
    let constant = shader.constant_u32(component);
    if !dynamic {
        return constant;
    }
    let (u32, zero) = (shader.u32(), shader.constant_u32(0));
    let from = shader.access("StorageBuffer", &u32, ids, &[&zero, &constant]);
    shader.op(&u32, "OpLoad", from)
}

/// The binding of indices that are read, and what it holds: components backwards.
const INDICES: u32 = 2;

fn indices(shader: &mut Shader, count: u32) -> String {
    let u32 = shader.u32();
    let words = shader.array(&u32, count, Some(4));
    let block = shader.block(&[(words, 0)], "Block");
    shader.resource("StorageBuffer", &block, INDICES)
}

fn backwards(count: u32) -> Vec<u8> {
    (0..count).rev().flat_map(u32::to_le_bytes).collect()
}

/// Which component the `i`th access is to.
fn component(i: u32, count: u32, dynamic: bool) -> u32 {
    if dynamic { count - 1 - i } else { i }
}

fn how(dynamic: bool) -> &'static str {
    if dynamic { "dynamic" } else { "constant" }
}

/// Components of a vector are read through pointers to them.
fn load_component(storage: Storage, count: u32, dynamic: bool) -> Case {
    const OFFSET: u32 = 4;
    let ty = type_name(count);
    let name = format!("storage8.component.load.{}.{ty}.{}", storage.name(), how(dynamic));
    let about =
        about("OpAccessChain", format!("u8 <- {ty}"), "a pointer to a component of a vector reads that component");
    Case::core(name, about, move || {
        let mut shader = Shader::new([1, 1, 1]);
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
            options.inputs.push(given(INDICES, backwards(count)));
        }
        let moves = (0..count).map(|i| Move {
            from: storage.from(),
            at: (OFFSET + component(i, count, dynamic), 1),
            to: (4 * i, 4),
            signed: false,
        });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}

/// One component of each of several vectors is written; the others stay.
fn store_component(count: u32, dynamic: bool) -> Case {
    let ty = type_name(count);
    let name = format!("storage8.component.store.ssbo.{ty}.{}", how(dynamic));
    let about = about("OpStore", format!("u8 <- {ty}"), "a store to a component leaves the vector's others");
    Case::core(name, about, move || {
        let mut shader = Shader::new([1, 1, 1]);
        Storage::Ssbo.enable(&mut shader);
        let (value, byte) = value_type(&mut shader, count);
        let u32 = shader.u32();
        let words = shader.array(&u32, count, Some(4));
        let input = Storage::Ssbo.input(&mut shader, &[(words, 0)]);
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
        options.inputs.push(given(INPUT, pattern(4 * count, 7)));
        if dynamic {
            options.inputs.push(given(INDICES, backwards(count)));
        }
        let moves = (0..count).map(|i| Move {
            from: From::Binding(INPUT),
            at: (4 * i, 4),
            to: (stride * i + component(i, count, dynamic), 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves.collect()))
    })
}
