//! Arrays of bytes and byte vectors: every stride that a layout gives them, constant and dynamic
//! indices, runtime arrays, and arrays of arrays.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use super::offsets::type_name;
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};

const COUNT: u32 = 8;

/// Components of an element, stride, and the layout with that stride.
const STRIDES: [(u32, u32, &str); 9] = [
    (1, 1, "std430"),
    (2, 2, "std430"),
    (3, 3, "scalar"),
    (3, 4, "std430"),
    (4, 4, "std430"),
    (1, 16, "std140"),
    (2, 16, "std140"),
    (3, 16, "std140"),
    (4, 16, "std140"),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for element in STRIDES {
        for dynamic in [false, true] {
            for storage in [ByteStorage::Ssbo, ByteStorage::Ubo, ByteStorage::Push, ByteStorage::Address] {
                // Eight elements of 16 bytes fit the 128 bytes of push constants that every device
                // has.
                cases.push(load(storage, element, dynamic));
            }
            cases.push(store(element, dynamic));
        }
    }
    for bytes in [5, 6, 7, 8, 13, 64] {
        cases.push(length(bytes));
    }
    for dynamic in [false, true] {
        cases.push(nested(dynamic));
    }
    cases
}

fn how(dynamic: bool) -> &'static str {
    if dynamic { "dynamic" } else { "constant" }
}

/// Number of bytes from the start of the first element to the end of the last.
fn extent((count, stride, _): (u32, u32, &str)) -> u32 {
    (COUNT - 1) * stride + count
}

/// Runs `body` for each element: once with the invocation index, or once for each constant index.
fn each(shader: &mut ModuleBuilder, dynamic: bool, mut body: impl FnMut(&mut ModuleBuilder, &str)) {
    if dynamic {
        let index = shader.global_x();
        body(shader, &index);
    } else {
        for i in 0..COUNT {
            let index = shader.constant_u32(i);
            body(shader, &index);
        }
    }
}

fn local(dynamic: bool) -> [u32; 3] {
    if dynamic { [COUNT, 1, 1] } else { [1, 1, 1] }
}

fn load(storage: ByteStorage, element: (u32, u32, &'static str), dynamic: bool) -> Case {
    let (count, stride, layout) = element;
    let ty = type_name(count);
    let name = format!("storage8.array.load.{}.{ty}.{layout}.{}", storage.name(), how(dynamic));
    let subject =
        about("OpLoad", format!("{ty} <- {ty}"), "array elements are loaded at multiples of the array stride");
    Case::core(name, subject, move || {
        // Push constants must be indexed uniformly, so each workgroup reads one element.
        let apart = dynamic && storage == ByteStorage::Push;
        let mut shader = ModuleBuilder::new(local(dynamic && !apart));
        storage.enable(&mut shader);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let value = shader.vector(&byte, count);
        let array = shader.array(&value, COUNT, Some(stride));
        let input = storage.input(&mut shader, &[(array, 0)]);
        // The results are packed, so that only the input's stride is under test.
        let tight = if count == 3 { 4 } else { count };
        let results = shader.array(&value, COUNT, Some(tight));
        let output = output(&mut shader, &[(results, 0)]);
        let zero = shader.constant_u32(0);
        each(&mut shader, dynamic, |shader, index| {
            let from = shader.access(storage.class(), &value, &input, &[&zero, index]);
            let loaded = storage.load(shader, &value, &from, 1);
            let to = shader.access("StorageBuffer", &value, &output, &[&zero, index]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        });
        let mut options = options(if apart { COUNT } else { 1 }, (COUNT - 1) * tight + count);
        storage.fill(&mut options, pattern(extent(element), stride));
        let moves = (0..COUNT).map(|i| ByteMove {
            from: storage.from(),
            at: (i * stride, count),
            to: (i * tight, count),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// Every element but the last is written; the gaps keep their contents.
fn store(element: (u32, u32, &'static str), dynamic: bool) -> Case {
    let (count, stride, layout) = element;
    let ty = type_name(count);
    let name = format!("storage8.array.store.ssbo.{ty}.{layout}.{}", how(dynamic));
    let subject = about(
        "OpStore",
        format!("{ty} <- {ty}"),
        "array elements are stored at multiples of the array stride, and gaps are unchanged",
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new(local(dynamic));
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let value = shader.vector(&byte, count);
        let tight = if count == 3 { 4 } else { count };
        let values = shader.array(&value, COUNT, Some(tight));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(values, 0)]);
        // The array has one more element, which is not written.
        let array = shader.array(&value, COUNT + 1, Some(stride));
        let output = output(&mut shader, &[(array, 0)]);
        let zero = shader.constant_u32(0);
        each(&mut shader, dynamic, |shader, index| {
            let from = shader.access("StorageBuffer", &value, &input, &[&zero, index]);
            let loaded = shader.op(&value, "OpLoad", from);
            let to = shader.access("StorageBuffer", &value, &output, &[&zero, index]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        });
        let mut options = options(1, COUNT * stride + count);
        options.inputs.push(bytes_input(INPUT, pattern((COUNT - 1) * tight + count, 9)));
        let moves = (0..COUNT).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (i * tight, count),
            to: (i * stride, count),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// The length of a runtime array that fills the rest of the buffer after one byte, and its last
/// element.
fn length(bytes: u32) -> Case {
    const BEFORE: u32 = 1;
    let subject =
        about("OpArrayLength", "u32 <- u8", "the length is the number of elements that fit after the array's offset");
    Case::core(format!("storage8.array.length.bytes{bytes}"), subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let rest = shader.runtime_array(&byte, 1);
        let input = ByteStorage::Ssbo.input(&mut shader, &[(byte.clone(), 0), (rest, BEFORE)]);
        let u32 = shader.u32();
        let words = shader.array(&u32, 2, Some(4));
        let output = output(&mut shader, &[(words, 0)]);
        let (zero, one) = (shader.constant_u32(0), shader.constant_u32(1));
        let length = shader.op(&u32, "OpArrayLength", format_args!("{input} 1"));
        let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &zero]);
        shader.run(format_args!("OpStore {to} {length}"));
        let last = shader.op(&u32, "OpISub", format_args!("{length} {one}"));
        let from = shader.access("StorageBuffer", &byte, &input, &[&one, &last]);
        let loaded = shader.op(&byte, "OpLoad", from);
        let wide = shader.op(&u32, "OpUConvert", loaded);
        let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &one]);
        shader.run(format_args!("OpStore {to} {wide}"));
        let mut options = options(1, 8);
        options.inputs.push(bytes_input(INPUT, pattern(bytes, 11)));
        let last = ByteMove { from: MoveSource::Binding(INPUT), at: (bytes - 1, 1), to: (4, 4), signed: false };
        let second = apply_moves(OUTPUT, vec![last]);
        Program::new(shader.finish(), options).with_reference(move |dispatch| {
            let mut memory = second(dispatch);
            for left in memory.values_mut() {
                left[..4].copy_from_slice(&(bytes - BEFORE).to_le_bytes());
            }
            memory
        })
    })
}

/// Five arrays of three bytes at a stride of five bytes: rows are copied in reverse order.
fn nested(dynamic: bool) -> Case {
    const ROWS: u32 = 5;
    const COLUMNS: u32 = 3;
    const STRIDE: u32 = 5;
    let subject = about("OpAccessChain", "u8 <- u8", "offsets in nested arrays are the sum of index times stride");
    Case::core(format!("storage8.array.nested.{}", how(dynamic)), subject, move || {
        let mut shader = ModuleBuilder::new(if dynamic { [COLUMNS, ROWS, 1] } else { [1, 1, 1] });
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let row = shader.array(&byte, COLUMNS, Some(1));
        let rows = shader.array(&row, ROWS, Some(STRIDE));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(rows.clone(), 2)]);
        let output = output(&mut shader, &[(rows, 2)]);
        let zero = shader.constant_u32(0);
        let copy = |shader: &mut ModuleBuilder, row: &str, back: &str, column: &str| {
            let from = shader.access("StorageBuffer", &byte, &input, &[&zero, row, column]);
            let loaded = shader.op(&byte, "OpLoad", from);
            let to = shader.access("StorageBuffer", &byte, &output, &[&zero, back, column]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        };
        if dynamic {
            let column = shader.builtin_component("LocalInvocationId", 0);
            let row = shader.builtin_component("LocalInvocationId", 1);
            let (u32, last) = (shader.u32(), shader.constant_u32(ROWS - 1));
            let back = shader.op(&u32, "OpISub", format_args!("{last} {row}"));
            copy(&mut shader, &row, &back, &column);
        } else {
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let ids = [row, ROWS - 1 - row, column].map(|n| shader.constant_u32(n));
                    copy(&mut shader, &ids[0], &ids[1], &ids[2]);
                }
            }
        }
        let bytes = 2 + (ROWS - 1) * STRIDE + COLUMNS;
        let mut options = options(1, bytes);
        options.inputs.push(bytes_input(INPUT, pattern(bytes, 13)));
        let moves = (0..ROWS).map(|row| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (2 + row * STRIDE, COLUMNS),
            to: (2 + (ROWS - 1 - row) * STRIDE, COLUMNS),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}
