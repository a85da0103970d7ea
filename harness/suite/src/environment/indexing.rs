//! Indices of 64 bits: what a device computes from them shows without a buffer of 4 GiB, for beyond the end of a small one a strictly
//! robust device gives zero, and one that wraps at 32 bits what is inside.

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
    Length,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![case(Access::Length, 4, UNSIGNED, false)];
    for stride in [4, 8, 16, 256] {
        for access in [Access::Load, Access::Store] {
            cases.push(case(access, stride, UNSIGNED, false));
            cases.push(case(access, stride, UNSIGNED, true));
        }
        cases.push(case(Access::Load, stride, SIGNED, true));
    }
    cases
}

/// Indices inside; of `far` every second is beyond by a multiple of 4 GiB, and would be inside again with 32 bits.
fn indices(stride: u32, far: bool) -> Vec<u64> {
    let place = |i: u32| u64::from((i * 13 + 5) % COUNT);
    let around = |i: u32| (1u64 << 32) / u64::from(stride) * u64::from(i / 2 % 3 + 1);
    (0..COUNT).map(|i| place(i) + if far && i % 2 == 1 { around(i) } else { 0 }).collect()
}

fn case(access: Access, stride: u32, signed: bool, far: bool) -> Case {
    let ty = if signed { "i64" } else { "u64" };
    let (op, what, rule) = match access {
        Access::Load => ("OpAccessChain", "load", "index times stride of a run-time array has 64 bits"),
        Access::Store => ("OpAccessChain", "store", "index times stride of a run-time array has 64 bits"),
        Access::Length => ("OpArrayLength", "length", "the length may have 64 bits"),
    };
    let end = if far { "beyond" } else { "inside" };
    let name = format!("environment.indexing64.{what}.{ty}.stride{stride}.{end}");
    Case::core(name, about(op, format!("u32 <- {ty}"), rule, CLAUSE), move || program(access, stride, signed, far))
}

fn program(access: Access, stride: u32, signed: bool, far: bool) -> Program {
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
    let array = shader.array(&u32, COUNT, Some(4));
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
    let to = shader.access("StorageBuffer", &u32, &output, &[&zero, &own]);
    shader.run(format_args!("OpStore {to} {found}"));

    let robustness = if far { Robustness::Access2 } else { Robustness::None };
    // Elements have gaps between them; what is in those stays.
    let mut options = Options { groups: Some([1; 3]), padding: true, robustness, ..Options::default() };
    let held = pattern(COUNT * stride, 0x17);
    let list = indices(stride, far);
    options.inputs.push(given(TARGET, held.clone()));
    options.inputs.push(given(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
    options.inputs.push(given(RESULTS, pattern(COUNT * 4, 0x2b)));
    Program::new(shader.finish(), options).with_second(move |_| {
        let (mut held, mut results) = (held.clone(), Vec::new());
        for (i, index) in (0u32..).zip(&list) {
            let at = (*index * u64::from(stride)) as usize;
            let there = held.get_mut(at..at + 4);
            results.extend(match (access, there) {
                (Access::Length, _) => ((u64::from(COUNT) + index) as u32).to_le_bytes().to_vec(),
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
