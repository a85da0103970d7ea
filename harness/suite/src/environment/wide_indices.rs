//! 64-bit indices. Out-of-bounds accesses with `robustBufferAccess2` reveal the computed index
//! without a buffer of 4 GiB: a correct device returns zero, and one that wraps at 32 bits returns
//! an element. A length above 32 bits is not covered, because it takes a buffer of 4 GiB or more.

use super::about;
use crate::bytes::{bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, SIGNED, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

const CLAUSE: &str = "Vulkan environment for SPIR-V, 64-bit indexing";

/// Bindings: accessed array, indices, results.
const TARGET: u32 = 0;
const INDICES: u32 = 1;
const RESULTS: u32 = 2;

/// Number of elements in the accessed array, and of invocations.
const COUNT: u32 = 64;

/// The operation at an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexedAccess {
    Load,
    Store,
    /// The low 32 bits of the sum of the length and the index.
    Length,
    /// All 64 bits of that sum.
    FullLength,
}

/// Range of the indices, by the bits that a 32-bit computation loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexRange {
    Inside,
    /// For every second index, the byte offset exceeds 32 bits and would be in bounds again modulo
    /// 2^32.
    Beyond,
    /// Every second index itself exceeds 32 bits (signed types also have negative ones) and would
    /// be in bounds again modulo 2^32.
    Far,
}

pub(super) fn cases() -> Vec<Case> {
    let lengths = [IndexedAccess::Length, IndexedAccess::FullLength];
    let mut cases: Vec<Case> = lengths.map(|access| case(access, 4, UNSIGNED, IndexRange::Inside)).into();
    for stride in [4, 8, 16, 256] {
        for access in [IndexedAccess::Load, IndexedAccess::Store] {
            cases.push(case(access, stride, UNSIGNED, IndexRange::Inside));
            cases.push(case(access, stride, UNSIGNED, IndexRange::Beyond));
            for signed in [UNSIGNED, SIGNED] {
                cases.push(case(access, stride, signed, IndexRange::Far));
            }
        }
        cases.push(case(IndexedAccess::Load, stride, SIGNED, IndexRange::Beyond));
    }
    cases
}

/// The index of each invocation: in bounds, with an addend from `reach` for every second one.
fn indices(stride: u32, signed: bool, range: IndexRange) -> Vec<u64> {
    const WORD: u64 = 1 << 32;
    let place = |i: u32| u64::from((i * 13 + 5) % COUNT);
    let around = |i: u32| match (range, u64::from(i / 2 % 3 + 1)) {
        (IndexRange::Inside, _) => 0,
        (IndexRange::Beyond, times) => WORD / u64::from(stride) * times,
        (IndexRange::Far, 3) if signed => WORD.wrapping_neg(),
        (IndexRange::Far, times) => WORD * times,
    };
    (0..COUNT).map(|i| place(i).wrapping_add(if i % 2 == 1 { around(i) } else { 0 })).collect()
}

fn case(access: IndexedAccess, stride: u32, signed: bool, range: IndexRange) -> Case {
    let ty = if signed { "i64" } else { "u64" };
    let (op, what, rule) = match access {
        IndexedAccess::Load => {
            ("OpAccessChain", "load", "index times stride of a runtime array is computed with 64 bits")
        }
        IndexedAccess::Store => {
            ("OpAccessChain", "store", "index times stride of a runtime array is computed with 64 bits")
        }
        IndexedAccess::Length => ("OpArrayLength", "length", "the length of a runtime array may have 64 bits"),
        IndexedAccess::FullLength => {
            ("OpArrayLength", "length.whole", "the length of a runtime array has 64 valid bits")
        }
    };
    let end = match range {
        IndexRange::Inside => "inside",
        IndexRange::Beyond => "beyond",
        IndexRange::Far => "far",
    };
    let name = format!("environment.indexing64.{what}.{ty}.stride{stride}.{end}");
    let found = if access == IndexedAccess::FullLength { ty } else { "u32" };
    Case::core(name, about(op, format!("{found} <- {ty}"), rule, CLAUSE), move || {
        program(access, stride, signed, range)
    })
}

fn program(access: IndexedAccess, stride: u32, signed: bool, range: IndexRange) -> Program {
    let mut shader = ModuleBuilder::new([COUNT, 1, 1]);
    shader.capability("Shader64BitIndexingEXT");
    shader.extension("SPV_EXT_shader_64bit_indexing");
    shader.mode("Shader64BitIndexingEXT");
    let (u32, zero) = (shader.u32(), shader.constant_u32(0));
    let wide = shader.int(64, signed);
    let array = shader.runtime_array(&u32, stride);
    let block = shader.block(&[(array, 0)], "Block");
    let target = shader.resource("StorageBuffer", &block, TARGET);
    let array = shader.array(&wide, COUNT, Some(8));
    let block = shader.block(&[(array, 0)], "Block");
    let list = shader.resource("StorageBuffer", &block, INDICES);
    // Type and size of a result.
    let (result, size) = if access == IndexedAccess::FullLength { (&wide, 8) } else { (&u32, 4) };
    let array = shader.array(result, COUNT, Some(size));
    let block = shader.block(&[(array, 0)], "Block");
    let output = shader.resource("StorageBuffer", &block, RESULTS);
    let own = shader.global_x();
    let from = shader.access("StorageBuffer", &wide, &list, &[&zero, &own]);
    let index = shader.op(&wide, "OpLoad", from);
    let found = match access {
        IndexedAccess::Length => {
            // The index enters the sum before truncation; the length itself fits in 32 bits.
            let length = shader.op(&wide, "OpArrayLength", format_args!("{target} 0"));
            let sum = shader.op(&wide, "OpIAdd", format_args!("{length} {index}"));
            shader.op(&u32, "OpUConvert", sum)
        }
        IndexedAccess::FullLength => {
            let length = shader.op(&wide, "OpArrayLength", format_args!("{target} 0"));
            shader.op(&wide, "OpIAdd", format_args!("{length} {index}"))
        }
        IndexedAccess::Load => {
            let place = shader.access("StorageBuffer", &u32, &target, &[&zero, &index]);
            shader.op(&u32, "OpLoad", place)
        }
        IndexedAccess::Store => {
            let place = shader.access("StorageBuffer", &u32, &target, &[&zero, &index]);
            shader.run(format_args!("OpStore {place} {own}"));
            own.clone()
        }
    };
    let to = shader.access("StorageBuffer", result, &output, &[&zero, &own]);
    shader.run(format_args!("OpStore {to} {found}"));

    let robustness = if range == IndexRange::Inside { Robustness::None } else { Robustness::Access2 };
    // The gaps between elements are checked: they keep their contents.
    let mut options =
        Options { groups: Some([1; 3]), padding: true, robustness: Some(robustness), ..Options::default() };
    let held = pattern(COUNT * stride, 0x17);
    let list = indices(stride, signed, range);
    options.inputs.push(bytes_input(TARGET, held.clone()));
    options.inputs.push(bytes_input(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
    options.inputs.push(bytes_input(RESULTS, pattern(COUNT * size, 0x2b)));
    Program::new(shader.finish(), options).with_reference(move |_| {
        let (mut held, mut results) = (held.clone(), Vec::new());
        for (i, index) in (0u32..).zip(&list) {
            // A negative index wraps to a large one and is out of bounds as well.
            let at = index.checked_mul(u64::from(stride)).and_then(|at| usize::try_from(at).ok());
            let there = at.and_then(|at| held.get_mut(at..at.checked_add(4)?));
            results.extend(match (access, there) {
                (IndexedAccess::Length, _) => ((u64::from(COUNT) + index) as u32).to_le_bytes().to_vec(),
                (IndexedAccess::FullLength, _) => (u64::from(COUNT) + index).to_le_bytes().to_vec(),
                (IndexedAccess::Load, there) => there.map_or(vec![0; 4], |word| word.to_vec()),
                (IndexedAccess::Store, there) => {
                    if let Some(word) = there {
                        word.copy_from_slice(&i.to_le_bytes());
                    }
                    i.to_le_bytes().to_vec()
                }
            });
        }
        BTreeMap::from([(Slot::new(0, TARGET), held), (Slot::new(0, RESULTS), results)])
    })
}
