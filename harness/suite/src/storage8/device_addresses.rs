//! Bytes accessed through device addresses, including addresses that are computed or selected.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, address};
use super::offsets::{narrowed, type_name, value_type, words};
use crate::bytes::{ByteMove, MoveSource, add_addressed_buffer, apply_moves_to, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;

/// Offsets within a word, across words, and across 16 bytes.
const OFFSETS: [u32; 8] = [0, 1, 2, 3, 5, 7, 13, 31];

/// The operation that produces a pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointerSource {
    /// An access chain from the pointer to the block.
    Chain,
    /// `OpPtrAccessChain` from the first element.
    Element,
    /// Arithmetic on the address as an integer.
    Integer,
    /// `OpSelect` between two pointers.
    Select,
}

const POINTER_SOURCES: [PointerSource; 4] =
    [PointerSource::Chain, PointerSource::Element, PointerSource::Integer, PointerSource::Select];

impl PointerSource {
    fn name(self) -> &'static str {
        match self {
            PointerSource::Chain => "chain",
            PointerSource::Element => "element",
            PointerSource::Integer => "integer",
            PointerSource::Select => "select",
        }
    }

    fn instruction(self) -> &'static str {
        match self {
            PointerSource::Chain => "OpAccessChain",
            PointerSource::Element => "OpPtrAccessChain",
            PointerSource::Integer => "OpConvertUToPtr",
            PointerSource::Select => "OpSelect",
        }
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in 1..=4 {
        for offset in OFFSETS {
            cases.push(store(count, offset));
        }
    }
    for source in POINTER_SOURCES {
        for (count, stride) in [(1, 1), (1, 3), (2, 2), (3, 3), (4, 4), (4, 7)] {
            for stores in [false, true] {
                cases.push(pointed_at(source, count, stride, stores));
            }
        }
    }
    for stride in [1, 2, 3, 5] {
        for together in [true, false] {
            cases.push(neighbours(stride, together));
        }
    }
    for order in [[8, 16, 32, 64], [64, 8, 32, 16], [32, 8, 8, 64], [8, 64, 16, 8]] {
        cases.push(members(order));
    }
    cases
}

fn options(groups: u32) -> Options {
    Options { groups: Some([groups, 1, 1]), padding: true, ..Options::default() }
}

/// A value is stored `offset` bytes into a buffer; the surrounding bytes keep their contents.
fn store(count: u32, offset: u32) -> Case {
    let ty = type_name(count);
    let name = format!("storage8.store.address.{ty}.offset{offset}");
    let subject = about(
        "OpStore",
        format!("{ty} <- {ty}"),
        "a store through an address writes the value there and changes no other byte",
    );
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Address.enable(&mut shader);
        let (value, _) = value_type(&mut shader, count);
        let input = words(&mut shader, count);
        let block = shader.block(&[(value.clone(), 0)], "Block");
        let to = address(&mut shader, &block);
        let zero = shader.constant_u32(0);
        let narrow = narrowed(&mut shader, &value, &input, count);
        let to = shader.access("PhysicalStorageBuffer", &value, &to, &[&zero]);
        shader.run(format_args!("OpStore {to} {narrow} Aligned 1"));
        let mut options = options(1);
        options.inputs.push(bytes_input(INPUT, pattern(4 * count, offset)));
        let slot = add_addressed_buffer(&mut options, "output", pattern(offset + count + 17, 0x51), (0, offset));
        let moves = (0..count).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (4 * i, 4),
            to: (offset + i, 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves_to(slot, moves.collect()))
    })
}

/// Array elements are copied in reverse between an ordinary buffer and one that only an address
/// reaches. `source` produces the pointers into the latter.
fn pointed_at(source: PointerSource, count: u32, stride: u32, stores: bool) -> Case {
    const COUNT: u32 = 16;
    let ty = type_name(count);
    let side = if stores { "store" } else { "load" };
    let name = format!("storage8.address.{}.{side}.{ty}.stride{stride}", source.name());
    let rule = "a load or store through a computed address accesses the addressed bytes";
    let subject = about(source.instruction(), format!("{ty} <- {ty}"), rule);
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([COUNT, 1, 1]);
        ByteStorage::Address.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let value = shader.vector(&byte, count);
        let (u32, class) = (shader.u32(), "PhysicalStorageBuffer");
        let plain = {
            let array = shader.array(&value, COUNT, Some(stride));
            ByteStorage::Ssbo.input(&mut shader, &[(array, 0)])
        };
        let all = shader.runtime_array(&value, stride);
        let block = shader.block(&[(all, 0)], "Block");
        let first = address(&mut shader, &block);
        let (zero, last) = (shader.constant_u32(0), shader.constant_u32(COUNT - 1));
        let i = shader.global_x();
        let back = shader.op(&u32, "OpISub", format_args!("{last} {i}"));
        let pointer = match source {
            PointerSource::Chain => shader.access(class, &value, &first, &[&zero, &i]),
            PointerSource::Element => {
                let ty = shader.declare_new(&format!("OpTypePointer {class} {value}"));
                shader.decorate(format!("{ty} ArrayStride {stride}"));
                let base = shader.op(&ty, "OpAccessChain", format_args!("{first} {zero} {zero}"));
                shader.op(&ty, "OpPtrAccessChain", format_args!("{base} {i}"))
            }
            PointerSource::Integer => {
                let u64 = shader.int(64, UNSIGNED);
                let number = shader.op(&u64, "OpConvertPtrToU", &first);
                let (wide, by) = (shader.op(&u64, "OpUConvert", &i), shader.constant(&u64, stride));
                let far = shader.op(&u64, "OpIMul", format_args!("{wide} {by}"));
                let number = shader.op(&u64, "OpIAdd", format_args!("{number} {far}"));
                let ty = shader.pointer(class, &value);
                shader.op(&ty, "OpConvertUToPtr", number)
            }
            PointerSource::Select => {
                let bool = shader.bool();
                let right = shader.access(class, &value, &first, &[&zero, &i]);
                let wrong = shader.access(class, &value, &first, &[&zero, &back]);
                let one = shader.constant_u32(1);
                let odd = shader.op(&u32, "OpBitwiseAnd", format_args!("{i} {one}"));
                let is_odd = shader.op(&bool, "OpIEqual", format_args!("{odd} {one}"));
                let ty = shader.pointer(class, &value);
                let picked = shader.op(&ty, "OpSelect", format_args!("{is_odd} {right} {wrong}"));
                let is_even = shader.op(&bool, "OpLogicalNot", is_odd);
                shader.op(&ty, "OpSelect", format_args!("{is_even} {right} {picked}"))
            }
        };
        let other = shader.access("StorageBuffer", &value, &plain, &[&zero, &back]);
        if stores {
            let loaded = shader.op(&value, "OpLoad", other);
            shader.run(format_args!("OpStore {pointer} {loaded} Aligned 1"));
        } else {
            let loaded = shader.op(&value, "OpLoad", format_args!("{pointer} Aligned 1"));
            shader.run(format_args!("OpStore {other} {loaded}"));
        }
        let bytes = (COUNT - 1) * stride + count;
        let mut options = options(1);
        options.inputs.push(bytes_input(INPUT, pattern(bytes, stride + count)));
        let slot = add_addressed_buffer(&mut options, "memory", pattern(bytes, 0x51), (0, 0));
        let (from, to) = if stores {
            (MoveSource::Binding(INPUT), slot)
        } else {
            (MoveSource::Pointed(0), assay_oracle::Slot::new(0, INPUT))
        };
        let moves = (0..COUNT).map(|i| ByteMove {
            from,
            at: ((if stores { COUNT - 1 - i } else { i }) * stride, count),
            to: ((if stores { i } else { COUNT - 1 - i }) * stride, count),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves_to(to, moves.collect()))
    })
}

/// Writer `i` stores to byte `i * stride`; all other bytes keep their contents.
fn neighbours(stride: u32, together: bool) -> Case {
    const WRITERS: u32 = 64;
    let split = if together { "workgroup" } else { "workgroups" };
    let subject = about("OpStore", "u8 <- u8", "concurrent stores of single bytes change no other byte");
    Case::core(format!("storage8.neighbours.address.stride{stride}.{split}"), subject, move || {
        let local = if together { WRITERS } else { 1 };
        let mut shader = ModuleBuilder::new([local, 1, 1]);
        ByteStorage::Address.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let bytes = shader.array(&byte, WRITERS, Some(1));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(bytes, 0)]);
        let all = shader.runtime_array(&byte, stride);
        let block = shader.block(&[(all, 0)], "Block");
        let to = address(&mut shader, &block);
        let (zero, writer) = (shader.constant_u32(0), shader.global_x());
        let from = shader.access("StorageBuffer", &byte, &input, &[&zero, &writer]);
        let loaded = shader.op(&byte, "OpLoad", from);
        let to = shader.access("PhysicalStorageBuffer", &byte, &to, &[&zero, &writer]);
        shader.run(format_args!("OpStore {to} {loaded} Aligned 1"));
        let mut options = options(WRITERS / local);
        options.inputs.push(bytes_input(INPUT, pattern(WRITERS, stride)));
        // The output starts at an odd address.
        let bytes = 3 + (WRITERS - 1) * stride + 4;
        let slot = add_addressed_buffer(&mut options, "output", pattern(bytes, 0x51), (0, 3));
        let moves = (0..WRITERS).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (i, 1),
            to: (3 + i * stride, 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves_to(slot, moves.collect()))
    })
}

/// Some members of a structure are written; the others keep their contents.
fn members(order: [u32; 4]) -> Case {
    let label = order.map(|width| width.to_string()).join("_");
    let subject = about("OpStore", "u8 <- u8", "members of different widths are accessed at their offsets");
    Case::core(format!("storage8.struct.store.address.{label}"), subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Address.enable(&mut shader);
        ByteStorage::Address.capabilities_16bit().iter().for_each(|name| shader.capability(name));
        let (mut end, mut listed, mut places) = (0u32, Vec::new(), Vec::new());
        // A byte follows each member.
        for width in order.into_iter().flat_map(|width| [width, 8]) {
            let offset = end.next_multiple_of(width / 8);
            let ty = if width == 64 { shader.int(64, UNSIGNED) } else { shader.storage_int(width, UNSIGNED) };
            listed.push((ty, offset));
            places.push((offset, width / 8));
            end = offset + width / 8;
        }
        let block = shader.block(&listed, "Block");
        let sources = ByteStorage::Ssbo.input(&mut shader, &listed);
        let to = address(&mut shader, &block);
        for (member, ((ty, _), (_, bytes))) in (0..).zip(listed.iter().zip(&places)).filter(|(i, _)| i % 3 != 1) {
            let member = shader.constant_u32(member);
            let from = shader.access("StorageBuffer", ty, &sources, &[&member]);
            let loaded = shader.op(ty, "OpLoad", from);
            let to = shader.access("PhysicalStorageBuffer", ty, &to, &[&member]);
            shader.run(format_args!("OpStore {to} {loaded} Aligned {bytes}"));
        }
        let mut options = options(1);
        options.inputs.push(bytes_input(INPUT, pattern(end, order[0])));
        let slot = add_addressed_buffer(&mut options, "output", pattern(end + 5, 0x51), (0, 0));
        let moves = places.iter().enumerate().filter(|(i, _)| i % 3 != 1).map(|(_, place)| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: *place,
            to: *place,
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves_to(slot, moves.collect()))
    })
}
