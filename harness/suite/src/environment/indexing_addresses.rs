//! 64-bit indices through device addresses. A pointer need not lie in a buffer until it is
//! accessed. The base of a chain is therefore as far from the buffer as the index leads back, which
//! shows all bits of the index times the stride without a buffer of 4 GiB.
//!
//! A device that loses some of these bits accesses memory outside the buffer, so it may crash
//! instead of returning a wrong value.

use super::about;
use crate::bytes::{add_addressed_buffer, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, SIGNED, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;
use std::collections::BTreeMap;

const CLAUSE: &str = "Vulkan environment for SPIR-V, 64-bit indexing";
const CLASS: &str = "PhysicalStorageBuffer";

/// Bindings: indices, distances of the bases from the buffer, results.
const INDICES: u32 = 0;
const DISTANCES: u32 = 1;
const RESULTS: u32 = 2;

/// Number of elements in the buffer, and of invocations.
const COUNT: u32 = 64;

/// The instruction that takes the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainKind {
    /// `OpPtrAccessChain`, along the array that contains the base.
    Element,
    /// `OpAccessChain`, into a runtime array.
    Member,
}

/// Range of the indices, by the bits that a 32-bit computation loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexRange {
    /// The index fits in 32 bits, and the index times the stride does not.
    Beyond,
    /// The index itself exceeds 32 bits.
    Far,
    /// The index is negative and exceeds 32 bits.
    Before,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for chain in [ChainKind::Element, ChainKind::Member] {
        for stride in [4, 8, 12, 256_u32] {
            for (signed, range) in [
                (UNSIGNED, IndexRange::Beyond),
                (UNSIGNED, IndexRange::Far),
                (SIGNED, IndexRange::Beyond),
                (SIGNED, IndexRange::Far),
                (SIGNED, IndexRange::Before),
            ] {
                // An array has no elements before its first one, and 2^32 is not a multiple of
                // every stride.
                let is_none = match range {
                    IndexRange::Before => chain == ChainKind::Member,
                    IndexRange::Beyond => !stride.is_power_of_two(),
                    IndexRange::Far => false,
                };
                if !is_none {
                    for stores in [false, true] {
                        let thinned = stores && (stride == 8 || signed != UNSIGNED);
                        cases.push(case(chain, stride, (signed, range), stores).thinned(thinned));
                    }
                }
            }
        }
    }
    cases
}

/// Index and distance of each invocation. For every second one the base is the buffer's own
/// address.
fn paths(stride: u32, range: IndexRange) -> Vec<(u64, u64)> {
    const WORD: u64 = 1 << 32;
    let far = |times: u64| match range {
        IndexRange::Beyond => WORD / u64::from(stride) * times,
        IndexRange::Far => WORD * times,
        IndexRange::Before => (WORD * times).wrapping_neg(),
    };
    let path = |i: u32| {
        let far = if i % 2 == 1 { far(u64::from(i / 2 % 3 + 1)) } else { 0 };
        (place(i).wrapping_add(far), far.wrapping_mul(u64::from(stride)).wrapping_neg())
    };
    (0..COUNT).map(path).collect()
}

/// The element that an invocation accesses; no two access the same one.
fn place(i: u32) -> u64 {
    u64::from((i * 13 + 5) % COUNT)
}

fn case(chain: ChainKind, stride: u32, (signed, range): (bool, IndexRange), stores: bool) -> Case {
    let ty = if signed { "i64" } else { "u64" };
    let (op, made) = match chain {
        ChainKind::Element => ("OpPtrAccessChain", "element"),
        ChainKind::Member => ("OpAccessChain", "member"),
    };
    let end = match range {
        IndexRange::Beyond => "beyond",
        IndexRange::Far => "far",
        IndexRange::Before => "before",
    };
    let access = if stores { "store" } else { "load" };
    let name = format!("environment.indexing64.address.{made}.{access}.{ty}.stride{stride}.{end}");
    let rule = "index times stride is computed with 64 bits";
    Case::core(name, about(op, format!("u32 <- {ty}"), rule, CLAUSE), move || {
        program(chain, stride, (signed, range), stores)
    })
}

fn program(chain: ChainKind, stride: u32, (signed, range): (bool, IndexRange), stores: bool) -> Program {
    let mut shader = ModuleBuilder::new([COUNT, 1, 1]);
    shader.capability("Shader64BitIndexingEXT");
    shader.extension("SPV_EXT_shader_64bit_indexing");
    shader.mode("Shader64BitIndexingEXT");
    shader.extension("SPV_KHR_physical_storage_buffer");
    shader.capability("PhysicalStorageBufferAddresses");
    shader.memory_model("PhysicalStorageBuffer64 GLSL450");
    let (u32, zero, own) = (shader.u32(), shader.constant_u32(0), shader.global_x());
    let (u64, wide) = (shader.int(64, UNSIGNED), shader.int(64, signed));
    let words = |shader: &mut ModuleBuilder, ty: &str, size: u32, binding: u32| {
        let array = shader.array(ty, COUNT, Some(size));
        let block = shader.block(&[(array, 0)], "Block");
        let buffer = shader.resource("StorageBuffer", &block, binding);
        shader.access("StorageBuffer", ty, &buffer, &[&zero, &own])
    };
    let from = words(&mut shader, &wide, 8, INDICES);
    let index = shader.op(&wide, "OpLoad", from);
    let from = words(&mut shader, &u64, 8, DISTANCES);
    let distance = shader.op(&u64, "OpLoad", from);
    let result = words(&mut shader, &u32, 4, RESULTS);

    // The buffer's address as a number, and the base.
    let push = shader.block(&[(u64.clone(), 0)], "Block");
    let push = shader.variable("PushConstant", &push);
    let from = shader.access("PushConstant", &u64, &push, &[&zero]);
    let address = shader.op(&u64, "OpLoad", from);
    let base = shader.op(&u64, "OpIAdd", format_args!("{address} {distance}"));
    let pointer = match chain {
        ChainKind::Element => {
            let ty = shader.declare_new(&format!("OpTypePointer {CLASS} {u32}"));
            shader.decorate(format!("{ty} ArrayStride {stride}"));
            let base = shader.op(&ty, "OpConvertUToPtr", base);
            shader.op(&ty, "OpPtrAccessChain", format_args!("{base} {index}"))
        }
        ChainKind::Member => {
            let all = shader.runtime_array(&u32, stride);
            let block = shader.block(&[(all, 0)], "Block");
            let ty = shader.pointer(CLASS, &block);
            let base = shader.op(&ty, "OpConvertUToPtr", base);
            shader.access(CLASS, &u32, &base, &[&zero, &index])
        }
    };
    let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
    let paths = paths(stride, range);
    let bytes = |of: fn(&(u64, u64)) -> u64| paths.iter().flat_map(|path| of(path).to_le_bytes()).collect();
    options.inputs.push(bytes_input(INDICES, bytes(|path| path.0)));
    options.inputs.push(bytes_input(DISTANCES, bytes(|path| path.1)));
    options.inputs.push(bytes_input(RESULTS, pattern(COUNT * 4, 0x2b)));
    if stores {
        shader.run(format_args!("OpStore {pointer} {own} Aligned 4"));
        shader.run(format_args!("OpStore {result} {own}"));
    } else {
        let loaded = shader.op(&u32, "OpLoad", format_args!("{pointer} Aligned 4"));
        shader.run(format_args!("OpStore {result} {loaded}"));
    }
    // The gaps between elements keep their contents.
    let held = pattern(COUNT * stride, 0x17);
    let memory = add_addressed_buffer(&mut options, "memory", held.clone(), (0, 0));
    Program::new(shader.finish(), options).with_reference(move |_| {
        let (mut held, mut results) = (held.clone(), Vec::new());
        for i in 0..COUNT {
            let at = place(i) as usize * stride as usize;
            if stores {
                held[at..at + 4].copy_from_slice(&i.to_le_bytes());
                results.extend(i.to_le_bytes());
            } else {
                results.extend(&held[at..at + 4]);
            }
        }
        let mut left = BTreeMap::from([(Slot::new(0, RESULTS), results)]);
        if stores {
            left.insert(memory, held);
        }
        left
    })
}
