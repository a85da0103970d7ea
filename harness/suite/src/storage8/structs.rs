//! Structures that mix numbers of 8, 16, 32 and 64 bits, member by member and as a whole.

use super::about;
use super::storage::{OUTPUT, Storage, options, output};
use crate::bytes::{Move, moved, pattern};
use crate::write::{Shader, UNSIGNED};
use crate::{Case, Program};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, order) in orders().into_iter().enumerate() {
        cases.push(members(Storage::Ssbo, order));
        // Every width once in front, in another order each.
        if i % 5 == 0 {
            cases.push(members(Storage::Block, order));
            cases.push(members(Storage::Ubo, order));
            cases.push(members(Storage::Push, order));
        }
        if i % 2 == 1 {
            cases.push(members(Storage::Address, order));
        }
    }
    for storage in [Storage::Ssbo, Storage::Ubo, Storage::Push, Storage::Address] {
        for whole in WHOLES {
            for how in [How::Value, How::Copied, How::Memory] {
                cases.push(whole_case(storage, whole, how));
            }
        }
    }
    cases
}

/// Every order of the four widths.
fn orders() -> Vec<[u32; 4]> {
    const WIDTHS: [u32; 4] = [8, 16, 32, 64];
    let mut orders = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|b| *b != a) {
            for c in (0..4).filter(|c| *c != a && *c != b) {
                orders.push([WIDTHS[a], WIDTHS[b], WIDTHS[c], WIDTHS[6 - a - b - c]]);
            }
        }
    }
    orders
}

/// Members of those widths with a byte after each, aligned to their sizes: widths, offsets.
fn laid_out(order: [u32; 4]) -> Vec<(u32, u32)> {
    let mut end = 0u32;
    let mut members = Vec::new();
    for width in order.into_iter().flat_map(|width| [width, 8]) {
        let offset = end.next_multiple_of(width / 8);
        members.push((width, offset));
        end = offset + width / 8;
    }
    members
}

fn size(members: &[(u32, u32)]) -> u32 {
    members.last().map_or(0, |(width, offset)| offset + width / 8)
}

fn structure(shader: &mut Shader, members: &[(u32, u32)]) -> (String, Vec<String>) {
    let types: Vec<String> = members
        .iter()
        .map(|(width, _)| match width {
            64 => shader.int(64, UNSIGNED),
            width => shader.storage_int(*width, UNSIGNED),
        })
        .collect();
    let listed: Vec<(String, u32)> = types.iter().cloned().zip(members.iter().map(|(_, offset)| *offset)).collect();
    (shader.structure(&listed), types)
}

/// Each member of an array's second structure is read, and written where the order backwards puts it.
fn members(storage: Storage, order: [u32; 4]) -> Case {
    let label = order.map(|width| width.to_string()).join("_");
    let name = format!("storage8.struct.{}.{label}", storage.name());
    let about = about("OpAccessChain", "u8 <- u8", "members lie at their offsets, beside numbers of other widths");
    Case::core(name, about, move || {
        let (from, mut back) = (laid_out(order), order);
        back.reverse();
        let to = laid_out(back);
        let mut shader = Shader::new([1, 1, 1]);
        storage.enable(&mut shader);
        Storage::Ssbo.enable(&mut shader);
        shader.capability("StorageBuffer16BitAccess");
        storage.sixteen().iter().for_each(|name| shader.capability(name));
        // Uniform buffers have structures at multiples of 16 bytes; push constants have no room for that.
        let round = if storage == Storage::Ubo { 16 } else { 8 };
        let stride = size(&from).next_multiple_of(round);
        let (source, _) = structure(&mut shader, &from);
        let sources = shader.array(&source, 3, Some(stride));
        let input = storage.input(&mut shader, &[(sources, 0)]);
        let (target, types) = structure(&mut shader, &to);
        let back_stride = size(&to).next_multiple_of(8);
        let targets = shader.array(&target, 3, Some(back_stride));
        let output = output(&mut shader, &[(targets, 0)]);
        let (zero, one) = (shader.constant_u32(0), shader.constant_u32(1));
        let mut moves = Vec::new();
        for (place, (width, offset)) in from.iter().enumerate() {
            // Backwards by number of the four; the byte behind each goes along.
            let there = 2 * (3 - place / 2) + place % 2;
            let (member, target) = (shader.constant_u32(place as u32), shader.constant_u32(there as u32));
            let ty = &types[there];
            let source = shader.access(storage.class(), ty, &input, &[&zero, &one, &member]);
            let loaded = storage.load(&mut shader, ty, &source, width / 8);
            let pointer = shader.access("StorageBuffer", ty, &output, &[&zero, &one, &target]);
            shader.run(format_args!("OpStore {pointer} {loaded}"));
            let bytes = width / 8;
            moves.push(Move {
                from: storage.from(),
                at: (stride + offset, bytes),
                to: (back_stride + to[there].1, bytes),
                signed: false,
            });
        }
        let mut options = options(1, 2 * back_stride + size(&to));
        storage.fill(&mut options, pattern(2 * stride + size(&from), order[0] + order[1]));
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves))
    })
}

/// What is moved as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Bytes,
    Mixed,
    Nested,
    Array,
    Vector,
}

const WHOLES: [Whole; 5] = [Whole::Bytes, Whole::Mixed, Whole::Nested, Whole::Array, Whole::Vector];

/// How it is moved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// `OpLoad` and `OpStore` of all of it.
    Value,
    /// With `OpCopyObject` between.
    Copied,
    /// `OpCopyMemory`.
    Memory,
}

impl Whole {
    fn name(self) -> &'static str {
        match self {
            Whole::Bytes => "bytes",
            Whole::Mixed => "mixed",
            Whole::Nested => "nested",
            Whole::Array => "array",
            Whole::Vector => "vector",
        }
    }

    /// The type, its stride in an array, and the bytes of it that are no padding: offset, count.
    fn build(self, shader: &mut Shader) -> (String, u32, Vec<(u32, u32)>) {
        let byte = shader.storage_int(8, UNSIGNED);
        let word = shader.u32();
        match self {
            Whole::Bytes => {
                let members = [(byte.clone(), 0), (byte.clone(), 1), (byte, 2)];
                (shader.structure(&members), 16, vec![(0, 3)])
            }
            Whole::Mixed => {
                let half = shader.storage_int(16, UNSIGNED);
                let members = [(byte.clone(), 0), (half, 2), (byte.clone(), 4), (word, 8), (byte, 12)];
                (shader.structure(&members), 16, vec![(0, 1), (2, 3), (8, 5)])
            }
            Whole::Nested => {
                let inner = shader.structure(&[(byte.clone(), 0), (word, 4)]);
                (
                    shader.structure(&[(byte.clone(), 0), (inner, 16), (byte, 32)]),
                    48,
                    vec![(0, 1), (16, 1), (20, 4), (32, 1)],
                )
            }
            Whole::Array => {
                let bytes = shader.array(&byte, 5, Some(1));
                (shader.structure(&[(byte.clone(), 0), (bytes, 1), (byte, 6)]), 16, vec![(0, 7)])
            }
            Whole::Vector => {
                let (two, three) = (shader.vector(&byte, 2), shader.vector(&byte, 3));
                (shader.structure(&[(three, 0), (byte, 3), (two, 4)]), 16, vec![(0, 6)])
            }
        }
    }
}

/// The second of three structures is moved to the first and the last but not to the second.
fn whole_case(storage: Storage, whole: Whole, how: How) -> Case {
    let (instruction, how_name) = match how {
        How::Value => ("OpStore", "value"),
        How::Copied => ("OpCopyObject", "copyobject"),
        How::Memory => ("OpCopyMemory", "copymemory"),
    };
    let name = format!("storage8.whole.{}.{}.{how_name}", storage.name(), whole.name());
    let about = about(instruction, "u8 <- u8", "a whole structure or array is moved, its neighbours are not");
    Case::core(name, about, move || {
        let mut shader = Shader::new([1, 1, 1]);
        storage.enable(&mut shader);
        Storage::Ssbo.enable(&mut shader);
        // Without it only 8-bit objects are loaded and stored, by themselves or as vectors.
        shader.capability("Int8");
        if whole == Whole::Mixed {
            shader.capability("Int16");
            shader.capability("StorageBuffer16BitAccess");
            storage.sixteen().iter().for_each(|name| shader.capability(name));
        }
        let (ty, stride, bytes) = whole.build(&mut shader);
        let end = bytes.last().map_or(0, |(offset, count)| offset + count);
        // Push constants are short.
        let (count, from) = if storage == Storage::Push { (2, 1) } else { (3, 1) };
        let sources = shader.array(&ty, count, Some(stride));
        let input = storage.input(&mut shader, &[(sources, 0)]);
        let targets = shader.array(&ty, 3, Some(stride));
        let output = output(&mut shader, &[(targets, 0)]);
        let ids = [0, from, 2].map(|n| shader.constant_u32(n));
        let source = shader.access(storage.class(), &ty, &input, &[&ids[0], &ids[1]]);
        // The largest number of it.
        let aligned = if matches!(whole, Whole::Mixed | Whole::Nested) { 4 } else { 1 };
        let mut moves = Vec::new();
        for to in [0, 2] {
            let index = shader.constant_u32(to);
            let target = shader.access("StorageBuffer", &ty, &output, &[&ids[0], &index]);
            match how {
                How::Value => {
                    let value = storage.load(&mut shader, &ty, &source, aligned);
                    shader.run(format_args!("OpStore {target} {value}"));
                }
                How::Copied => {
                    let value = storage.load(&mut shader, &ty, &source, aligned);
                    let copy = shader.op(&ty, "OpCopyObject", value);
                    shader.run(format_args!("OpStore {target} {copy}"));
                }
                How::Memory => {
                    let says = if storage == Storage::Address { format!(" Aligned {aligned}") } else { String::new() };
                    shader.run(format_args!("OpCopyMemory {target} {source}{says}"));
                }
            }
            moves.extend(bytes.iter().map(|(offset, bytes)| Move {
                from: storage.from(),
                at: (from * stride + offset, *bytes),
                to: (to * stride + offset, *bytes),
                signed: false,
            }));
        }
        let mut options = options(1, 2 * stride + end);
        // A whole structure's padding may go along or not.
        options.padding = false;
        storage.fill(&mut options, pattern((count - 1) * stride + end, stride));
        Program::new(shader.finish(), options).with_second(moved(OUTPUT, moves))
    })
}
