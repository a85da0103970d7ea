//! Structures that mix 8-, 16-, 32- and 64-bit integers, accessed by member and as a whole.

use super::about;
use super::byte_storage::{ByteStorage, OUTPUT, options, output};
use crate::bytes::{ByteMove, apply_moves, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, order) in orders().into_iter().enumerate() {
        cases.push(members(ByteStorage::Ssbo, order));
        // Every fifth order: each width comes first at least once.
        if i % 5 == 0 {
            cases.push(members(ByteStorage::Block, order));
            cases.push(members(ByteStorage::Ubo, order));
            cases.push(members(ByteStorage::Push, order));
        }
        if i % 2 == 1 {
            cases.push(members(ByteStorage::Address, order));
        }
    }
    for storage in [ByteStorage::Ssbo, ByteStorage::Ubo, ByteStorage::Push, ByteStorage::Address] {
        for object in AGGREGATES {
            for how in [CopyMethod::Value, CopyMethod::Copied, CopyMethod::Memory] {
                cases.push(aggregate(storage, object, how));
            }
        }
    }
    cases
}

/// All permutations of the four widths.
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

/// Widths and offsets of members in this order, each followed by a byte and aligned to its size.
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

fn structure(shader: &mut ModuleBuilder, members: &[(u32, u32)]) -> (String, Vec<String>) {
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

/// Each member of the second structure in an array is stored to a structure with the members in
/// reverse order.
fn members(storage: ByteStorage, order: [u32; 4]) -> Case {
    let label = order.map(|width| width.to_string()).join("_");
    let name = format!("storage8.struct.{}.{label}", storage.name());
    let subject = about("OpAccessChain", "u8 <- u8", "members of different widths are accessed at their offsets");
    Case::core(name, subject, move || {
        let (from, mut back) = (laid_out(order), order);
        back.reverse();
        let to = laid_out(back);
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        storage.enable(&mut shader);
        ByteStorage::Ssbo.enable(&mut shader);
        shader.capability("StorageBuffer16BitAccess");
        storage.capabilities_16bit().iter().for_each(|name| shader.capability(name));
        // Structures in uniform buffers have a stride that is a multiple of 16 bytes; push
        // constants are too small for that.
        let round = if storage == ByteStorage::Ubo { 16 } else { 8 };
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
            // The four members in reverse, each with the byte that follows it.
            let there = 2 * (3 - place / 2) + place % 2;
            let (member, target) = (shader.constant_u32(place as u32), shader.constant_u32(there as u32));
            let ty = &types[there];
            let source = shader.access(storage.class(), ty, &input, &[&zero, &one, &member]);
            let loaded = storage.load(&mut shader, ty, &source, width / 8);
            let pointer = shader.access("StorageBuffer", ty, &output, &[&zero, &one, &target]);
            shader.run(format_args!("OpStore {pointer} {loaded}"));
            let bytes = width / 8;
            moves.push(ByteMove {
                from: storage.from(),
                at: (stride + offset, bytes),
                to: (back_stride + to[there].1, bytes),
                signed: false,
            });
        }
        let mut options = options(1, 2 * back_stride + size(&to));
        storage.fill(&mut options, pattern(2 * stride + size(&from), order[0] + order[1]));
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves))
    })
}

/// The object that is copied as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Bytes,
    Mixed,
    Nested,
    Array,
    Vector,
}

const AGGREGATES: [Aggregate; 5] =
    [Aggregate::Bytes, Aggregate::Mixed, Aggregate::Nested, Aggregate::Array, Aggregate::Vector];

/// The instructions that copy an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyMethod {
    /// `OpLoad` and `OpStore` of the whole object.
    Value,
    /// As `Value`, with `OpCopyObject` in between.
    Copied,
    /// `OpCopyMemory`.
    Memory,
}

impl Aggregate {
    fn name(self) -> &'static str {
        match self {
            Aggregate::Bytes => "bytes",
            Aggregate::Mixed => "mixed",
            Aggregate::Nested => "nested",
            Aggregate::Array => "array",
            Aggregate::Vector => "vector",
        }
    }

    /// Declares the type; returns it, its stride in an array, and the ranges of bytes that are not
    /// padding: offset, count.
    fn build(self, shader: &mut ModuleBuilder) -> (String, u32, Vec<(u32, u32)>) {
        let byte = shader.storage_int(8, UNSIGNED);
        let word = shader.u32();
        match self {
            Aggregate::Bytes => {
                let members = [(byte.clone(), 0), (byte.clone(), 1), (byte, 2)];
                (shader.structure(&members), 16, vec![(0, 3)])
            }
            Aggregate::Mixed => {
                let half = shader.storage_int(16, UNSIGNED);
                let members = [(byte.clone(), 0), (half, 2), (byte.clone(), 4), (word, 8), (byte, 12)];
                (shader.structure(&members), 16, vec![(0, 1), (2, 3), (8, 5)])
            }
            Aggregate::Nested => {
                let inner = shader.structure(&[(byte.clone(), 0), (word, 4)]);
                (
                    shader.structure(&[(byte.clone(), 0), (inner, 16), (byte, 32)]),
                    48,
                    vec![(0, 1), (16, 1), (20, 4), (32, 1)],
                )
            }
            Aggregate::Array => {
                let bytes = shader.array(&byte, 5, Some(1));
                (shader.structure(&[(byte.clone(), 0), (bytes, 1), (byte, 6)]), 16, vec![(0, 7)])
            }
            Aggregate::Vector => {
                let (two, three) = (shader.vector(&byte, 2), shader.vector(&byte, 3));
                (shader.structure(&[(three, 0), (byte, 3), (two, 4)]), 16, vec![(0, 6)])
            }
        }
    }
}

/// The second of three structures is copied to the first and the last, and the second keeps its
/// contents.
fn aggregate(storage: ByteStorage, object: Aggregate, how: CopyMethod) -> Case {
    let (instruction, how_name) = match how {
        CopyMethod::Value => ("OpStore", "value"),
        CopyMethod::Copied => ("OpCopyObject", "copyobject"),
        CopyMethod::Memory => ("OpCopyMemory", "copymemory"),
    };
    let name = format!("storage8.whole.{}.{}.{how_name}", storage.name(), object.name());
    let subject = about(
        instruction,
        "u8 <- u8",
        "copying a whole structure or array copies its members and changes nothing else",
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        storage.enable(&mut shader);
        ByteStorage::Ssbo.enable(&mut shader);
        // Without `Int8` only scalars and vectors of 8 bits can be loaded and stored.
        shader.capability("Int8");
        if object == Aggregate::Mixed {
            shader.capability("Int16");
            shader.capability("StorageBuffer16BitAccess");
            storage.capabilities_16bit().iter().for_each(|name| shader.capability(name));
        }
        let (ty, stride, bytes) = object.build(&mut shader);
        let end = bytes.last().map_or(0, |(offset, count)| offset + count);
        // Push constants hold only two of the structures.
        let (count, from) = if storage == ByteStorage::Push { (2, 1) } else { (3, 1) };
        let sources = shader.array(&ty, count, Some(stride));
        let input = storage.input(&mut shader, &[(sources, 0)]);
        let targets = shader.array(&ty, 3, Some(stride));
        let output = output(&mut shader, &[(targets, 0)]);
        let ids = [0, from, 2].map(|n| shader.constant_u32(n));
        let source = shader.access(storage.class(), &ty, &input, &[&ids[0], &ids[1]]);
        // The largest alignment among the members.
        let aligned = if matches!(object, Aggregate::Mixed | Aggregate::Nested) { 4 } else { 1 };
        let mut moves = Vec::new();
        for to in [0, 2] {
            let index = shader.constant_u32(to);
            let target = shader.access("StorageBuffer", &ty, &output, &[&ids[0], &index]);
            match how {
                CopyMethod::Value => {
                    let value = storage.load(&mut shader, &ty, &source, aligned);
                    shader.run(format_args!("OpStore {target} {value}"));
                }
                CopyMethod::Copied => {
                    let value = storage.load(&mut shader, &ty, &source, aligned);
                    let copy = shader.op(&ty, "OpCopyObject", value);
                    shader.run(format_args!("OpStore {target} {copy}"));
                }
                CopyMethod::Memory => {
                    let says =
                        if storage == ByteStorage::Address { format!(" Aligned {aligned}") } else { String::new() };
                    shader.run(format_args!("OpCopyMemory {target} {source}{says}"));
                }
            }
            moves.extend(bytes.iter().map(|(offset, bytes)| ByteMove {
                from: storage.from(),
                at: (from * stride + offset, *bytes),
                to: (to * stride + offset, *bytes),
                signed: false,
            }));
        }
        let mut options = options(1, 2 * stride + end);
        // Copying a structure may copy its padding, so padding is not checked.
        options.padding = false;
        storage.fill(&mut options, pattern((count - 1) * stride + end, stride));
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves))
    })
}
