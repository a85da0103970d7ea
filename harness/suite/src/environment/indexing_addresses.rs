//! Indices of 64 bits through addresses. Nothing keeps a pointer inside a buffer until it is accessed, so a base that lies as far from the
//! buffer as an index leads back shows all bits of the index times the stride without a buffer of 4 GiB.
//!
//! A device that loses some of them accesses memory that is not the buffer's, so it may well crash instead of returning a wrong value.

use super::about;
use crate::bytes::{given, pattern, pointed};
use crate::write::{SIGNED, Shader, UNSIGNED};
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

/// Elements of the buffer, and invocations.
const COUNT: u32 = 64;

/// The instruction that takes the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// `OpPtrAccessChain`, along an array that the base is an element of.
    Element,
    /// `OpAccessChain`, into a run-time array.
    Member,
}

/// Indices by their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The index has fewer than 32 bits, and has more of them when it is multiplied by the stride.
    Beyond,
    /// The index has more than 32 bits.
    Far,
    /// It is below zero, and has more than 32 bits.
    Before,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for chain in [Chain::Element, Chain::Member] {
        for stride in [4, 8, 12, 256_u32] {
            for (signed, reach) in [
                (UNSIGNED, Reach::Beyond),
                (UNSIGNED, Reach::Far),
                (SIGNED, Reach::Beyond),
                (SIGNED, Reach::Far),
                (SIGNED, Reach::Before),
            ] {
                // An array has no elements before its first one, and 2^32 is not a multiple of every stride.
                let is_none = match reach {
                    Reach::Before => chain == Chain::Member,
                    Reach::Beyond => !stride.is_power_of_two(),
                    Reach::Far => false,
                };
                if !is_none {
                    for stores in [false, true] {
                        let thinned = stores && (stride == 8 || signed != UNSIGNED);
                        cases.push(case(chain, stride, (signed, reach), stores).thinned(thinned));
                    }
                }
            }
        }
    }
    cases
}

/// Index and distance of each invocation. Of every second one the base is the buffer's own address.
fn ways(stride: u32, reach: Reach) -> Vec<(u64, u64)> {
    const WORD: u64 = 1 << 32;
    let far = |times: u64| match reach {
        Reach::Beyond => WORD / u64::from(stride) * times,
        Reach::Far => WORD * times,
        Reach::Before => (WORD * times).wrapping_neg(),
    };
    let way = |i: u32| {
        let far = if i % 2 == 1 { far(u64::from(i / 2 % 3 + 1)) } else { 0 };
        (place(i).wrapping_add(far), far.wrapping_mul(u64::from(stride)).wrapping_neg())
    };
    (0..COUNT).map(way).collect()
}

/// The element that an invocation accesses; no two access the same one.
fn place(i: u32) -> u64 {
    u64::from((i * 13 + 5) % COUNT)
}

fn case(chain: Chain, stride: u32, (signed, reach): (bool, Reach), stores: bool) -> Case {
    let ty = if signed { "i64" } else { "u64" };
    let (op, made) = match chain {
        Chain::Element => ("OpPtrAccessChain", "element"),
        Chain::Member => ("OpAccessChain", "member"),
    };
    let end = match reach {
        Reach::Beyond => "beyond",
        Reach::Far => "far",
        Reach::Before => "before",
    };
    let access = if stores { "store" } else { "load" };
    let name = format!("environment.indexing64.address.{made}.{access}.{ty}.stride{stride}.{end}");
    let rule = "index times stride has 64 bits";
    Case::core(name, about(op, format!("u32 <- {ty}"), rule, CLAUSE), move || {
        program(chain, stride, (signed, reach), stores)
    })
}

fn program(chain: Chain, stride: u32, (signed, reach): (bool, Reach), stores: bool) -> Program {
    let mut shader = Shader::new([COUNT, 1, 1]);
    shader.capability("Shader64BitIndexingEXT");
    shader.extension("SPV_EXT_shader_64bit_indexing");
    shader.mode("Shader64BitIndexingEXT");
    shader.extension("SPV_KHR_physical_storage_buffer");
    shader.capability("PhysicalStorageBufferAddresses");
    shader.memory_model("PhysicalStorageBuffer64 GLSL450");
    let (u32, zero, own) = (shader.u32(), shader.constant_u32(0), shader.global_x());
    let (u64, wide) = (shader.int(64, UNSIGNED), shader.int(64, signed));
    let words = |shader: &mut Shader, ty: &str, size: u32, binding: u32| {
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
        Chain::Element => {
            let ty = shader.declare_new(&format!("OpTypePointer {CLASS} {u32}"));
            shader.decorate(format!("{ty} ArrayStride {stride}"));
            let base = shader.op(&ty, "OpConvertUToPtr", base);
            shader.op(&ty, "OpPtrAccessChain", format_args!("{base} {index}"))
        }
        Chain::Member => {
            let all = shader.runtime_array(&u32, stride);
            let block = shader.block(&[(all, 0)], "Block");
            let ty = shader.pointer(CLASS, &block);
            let base = shader.op(&ty, "OpConvertUToPtr", base);
            shader.access(CLASS, &u32, &base, &[&zero, &index])
        }
    };
    let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
    let ways = ways(stride, reach);
    let bytes = |of: fn(&(u64, u64)) -> u64| ways.iter().flat_map(|way| of(way).to_le_bytes()).collect();
    options.inputs.push(given(INDICES, bytes(|way| way.0)));
    options.inputs.push(given(DISTANCES, bytes(|way| way.1)));
    options.inputs.push(given(RESULTS, pattern(COUNT * 4, 0x2b)));
    if stores {
        shader.run(format_args!("OpStore {pointer} {own} Aligned 4"));
        shader.run(format_args!("OpStore {result} {own}"));
    } else {
        let loaded = shader.op(&u32, "OpLoad", format_args!("{pointer} Aligned 4"));
        shader.run(format_args!("OpStore {result} {loaded}"));
    }
    // Elements have gaps between them; what is in those stays.
    let held = pattern(COUNT * stride, 0x17);
    let memory = pointed(&mut options, "memory", held.clone(), (0, 0));
    Program::new(shader.finish(), options).with_second(move |_| {
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
