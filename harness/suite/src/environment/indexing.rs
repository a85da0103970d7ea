//! Indices of 64 bits: what a device computes from them shows without a buffer of 4 GiB, for beyond the end of a small one a strictly
//! robust device gives zero, and one that wraps at 32 bits what is inside. A length that takes 64 bits is that of a buffer of 4 GiB
//! or more, which no case has.

use super::about;
use crate::bytes::{given, pattern};
use crate::write::{SIGNED, Shader, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

const CLAUSE: &str = "Vulkan environment for SPIR-V, 64-bit indexing";

/// Bindings: what is accessed, indices, results.
const TARGET: u32 = 0;
const INDICES: u32 = 1;
const RESULTS: u32 = 2;

/// Elements of what is accessed, and invocations.
const COUNT: u32 = 64;

/// What is done at an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    /// The lowest word of the length, with the index added.
    Length,
    /// All of the length.
    WholeLength,
}

/// Indices by what is lost of them where 32 bits are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Inside,
    /// Every second index times the stride takes more than 32 bits, and would be inside again with 32.
    Beyond,
    /// Every second index takes more than 32 bits itself, of a signed type also below zero, and would be inside again with 32.
    Far,
}

pub(super) fn cases() -> Vec<Case> {
    let lengths = [Access::Length, Access::WholeLength];
    let mut cases: Vec<Case> = lengths.map(|access| case(access, 4, UNSIGNED, Reach::Inside)).into();
    for stride in [4, 8, 16, 256] {
        for access in [Access::Load, Access::Store] {
            cases.push(case(access, stride, UNSIGNED, Reach::Inside));
            cases.push(case(access, stride, UNSIGNED, Reach::Beyond));
            for signed in [UNSIGNED, SIGNED] {
                cases.push(case(access, stride, signed, Reach::Far));
            }
        }
        cases.push(case(Access::Load, stride, SIGNED, Reach::Beyond));
    }
    cases
}

/// The index of each invocation: inside the buffer, and of every second one what its reach adds.
fn indices(stride: u32, signed: bool, reach: Reach) -> Vec<u64> {
    const WORD: u64 = 1 << 32;
    let place = |i: u32| u64::from((i * 13 + 5) % COUNT);
    let around = |i: u32| match (reach, u64::from(i / 2 % 3 + 1)) {
        (Reach::Inside, _) => 0,
        (Reach::Beyond, times) => WORD / u64::from(stride) * times,
        (Reach::Far, 3) if signed => WORD.wrapping_neg(),
        (Reach::Far, times) => WORD * times,
    };
    (0..COUNT).map(|i| place(i).wrapping_add(if i % 2 == 1 { around(i) } else { 0 })).collect()
}

fn case(access: Access, stride: u32, signed: bool, reach: Reach) -> Case {
    let ty = if signed { "i64" } else { "u64" };
    let (op, what, rule) = match access {
        Access::Load => ("OpAccessChain", "load", "index times stride of a run-time array has 64 bits"),
        Access::Store => ("OpAccessChain", "store", "index times stride of a run-time array has 64 bits"),
        Access::Length => ("OpArrayLength", "length", "the length may have 64 bits"),
        Access::WholeLength => ("OpArrayLength", "length.whole", "all 64 bits of a length are the length's"),
    };
    let end = match reach {
        Reach::Inside => "inside",
        Reach::Beyond => "beyond",
        Reach::Far => "far",
    };
    let name = format!("environment.indexing64.{what}.{ty}.stride{stride}.{end}");
    let found = if access == Access::WholeLength { ty } else { "u32" };
    Case::core(name, about(op, format!("{found} <- {ty}"), rule, CLAUSE), move || {
        program(access, stride, signed, reach)
    })
}

fn program(access: Access, stride: u32, signed: bool, reach: Reach) -> Program {
    let mut shader = Shader::new([COUNT, 1, 1]);
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
    // What is found, and its bytes.
    let (result, size) = if access == Access::WholeLength { (&wide, 8) } else { (&u32, 4) };
    let array = shader.array(result, COUNT, Some(size));
    let block = shader.block(&[(array, 0)], "Block");
    let output = shader.resource("StorageBuffer", &block, RESULTS);
    let own = shader.global_x();
    let from = shader.access("StorageBuffer", &wide, &list, &[&zero, &own]);
    let index = shader.op(&wide, "OpLoad", from);
    let found = match access {
        Access::Length => {
            // As the highest word above the lowest: of a few elements only the latter is there.
            let length = shader.op(&wide, "OpArrayLength", format_args!("{target} 0"));
            let sum = shader.op(&wide, "OpIAdd", format_args!("{length} {index}"));
            shader.op(&u32, "OpUConvert", sum)
        }
        Access::WholeLength => {
            let length = shader.op(&wide, "OpArrayLength", format_args!("{target} 0"));
            shader.op(&wide, "OpIAdd", format_args!("{length} {index}"))
        }
        Access::Load => {
            let place = shader.access("StorageBuffer", &u32, &target, &[&zero, &index]);
            shader.op(&u32, "OpLoad", place)
        }
        Access::Store => {
            let place = shader.access("StorageBuffer", &u32, &target, &[&zero, &index]);
            shader.run(format_args!("OpStore {place} {own}"));
            own.clone()
        }
    };
    let to = shader.access("StorageBuffer", result, &output, &[&zero, &own]);
    shader.run(format_args!("OpStore {to} {found}"));

    let robustness = if reach == Reach::Inside { Robustness::None } else { Robustness::Access2 };
    // Elements have gaps between them; what is in those stays.
    let mut options = Options { groups: Some([1; 3]), padding: true, robustness, ..Options::default() };
    let held = pattern(COUNT * stride, 0x17);
    let list = indices(stride, signed, reach);
    options.inputs.push(given(TARGET, held.clone()));
    options.inputs.push(given(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
    options.inputs.push(given(RESULTS, pattern(COUNT * size, 0x2b)));
    Program::new(shader.finish(), options).with_second(move |_| {
        let (mut held, mut results) = (held.clone(), Vec::new());
        for (i, index) in (0u32..).zip(&list) {
            // Below zero, too, it is beyond the end.
            let at = index.checked_mul(u64::from(stride)).and_then(|at| usize::try_from(at).ok());
            let there = at.and_then(|at| held.get_mut(at..at.checked_add(4)?));
            results.extend(match (access, there) {
                (Access::Length, _) => ((u64::from(COUNT) + index) as u32).to_le_bytes().to_vec(),
                (Access::WholeLength, _) => (u64::from(COUNT) + index).to_le_bytes().to_vec(),
                (Access::Load, there) => there.map_or(vec![0; 4], |word| word.to_vec()),
                (Access::Store, there) => {
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
