//! Loads beyond the end of uniform buffers.
//!
//! Their arrays have fixed lengths, within which indices stay: it is the buffer that is shorter than its block, which a robust device has
//! to bear.

use super::about;
use super::apply::{Ty, U32};
use super::robustness::{
    AFTER, BEFORE, BYTES, CLAUSE, HELD, INDICES, LOCAL, NEIGHBOURS, RESULTS, TARGET, filled, level_name,
};
use crate::bytes::{given, pattern};
use crate::write::{SIGNED, Shader, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

/// Bytes from one element to the next, as the strictest layout has them.
const STRIDE: u32 = 16;

/// Elements of the array: as many bytes as every device lets a uniform buffer have.
const DECLARED: u32 = 16384 / STRIDE;

/// Those that are in the buffer.
const HERE: u32 = BYTES / STRIDE;

/// Where an index comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// From a buffer: each invocation has its own.
    Dynamic,
    /// It is known when the shader is compiled.
    Constant,
}

/// The elements of the invocations: some inside, so far from the end that they are right under either promise, and some of every part
/// beyond it.
fn elements() -> Vec<u32> {
    let mut list = vec![0, 1, HERE / 2, HERE - 5];
    list.extend([0, 1, 2, 3, 4, 7, 8, 15, 16, 63].map(|more| HERE + more));
    // Where the neighbours would be, if they lay side by side.
    list.extend([2, 3].map(|times| HERE * times + 5));
    list.extend([DECLARED - 2, DECLARED - 1]);
    let rest = LOCAL - list.len() as u32;
    list.extend((0..rest).map(|i| HERE + 17 + i * (DECLARED - HERE - 18) / rest));
    list
}

/// Of constants, some.
const CONSTANTS: usize = 20;

pub(super) fn cases() -> Vec<Case> {
    let scalars = [(8, UNSIGNED), (16, SIGNED), (32, UNSIGNED), (32, SIGNED), (64, UNSIGNED)];
    let types = scalars.map(|(width, signed)| (Ty::Int { width, signed }, 1));
    let mut cases = Vec::new();
    for level in [Robustness::Access, Robustness::Access2] {
        for of in types.into_iter().chain([(U32, 2), (U32, 3), (U32, 4)]) {
            cases.push(load(level, of, Index::Dynamic));
            cases.push(load(level, of, Index::Constant));
        }
    }
    cases
}

fn load(level: Robustness, (ty, shape): (Ty, u32), index: Index) -> Case {
    let types = if shape == 1 { ty.name() } else { format!("{}.vec{shape}", ty.name()) };
    let how = if index == Index::Constant { ".constant" } else { "" };
    let name = format!("environment.robustness.{}.uniform.load.{types}{how}", level_name(level));
    let rule = match level {
        Robustness::Access2 => "a load beyond the end of a uniform buffer gives zero",
        Robustness::None | Robustness::Access => {
            "a load beyond the end of a uniform buffer gives zero or what is in the buffer"
        }
    };
    Case::core(name, about("OpLoad", format!("{types} <- {types}"), rule, CLAUSE), move || {
        let size = ty.bytes() * shape;
        // Results lie as far apart as vectors of three do.
        let room = if shape == 3 { 4 * ty.bytes() } else { size };
        let list: Vec<u32> = match index {
            Index::Dynamic => elements(),
            Index::Constant => elements().into_iter().take(CONSTANTS).collect(),
        };
        let mut shader = Shader::new([if index == Index::Dynamic { LOCAL } else { 1 }, 1, 1]);
        match ty.width() {
            8 => {
                shader.extension("SPV_KHR_8bit_storage");
                shader.capability("UniformAndStorageBuffer8BitAccess");
            }
            16 => shader.capability("UniformAndStorageBuffer16BitAccess"),
            _ => {}
        }
        let scalar = ty.declare(&mut shader);
        let value = shader.vector(&scalar, shape);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let uniform = |shader: &mut Shader, element: &str, binding: u32| {
            let array = shader.array(element, DECLARED, Some(STRIDE));
            let block = shader.block(&[(array, 0)], "Block");
            shader.resource("Uniform", &block, binding)
        };
        let [before, target, after] =
            [(&u32, BEFORE), (&value, TARGET), (&u32, AFTER)].map(|(of, binding)| uniform(&mut shader, of, binding));
        let results = shader.array(&value, LOCAL, Some(room));
        let block = shader.block(&[(results, 0), (u32.clone(), LOCAL * room)], "Block");
        let output = shader.resource("StorageBuffer", &block, RESULTS);
        let put = |shader: &mut Shader, element: &str, place: &str| {
            let from = shader.access("Uniform", &value, &target, &[&zero, element]);
            let loaded = shader.op(&value, "OpLoad", from);
            let to = shader.access("StorageBuffer", &value, &output, &[&zero, place]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        };
        if index == Index::Dynamic {
            let array = shader.array(&u32, LOCAL, Some(4));
            let block = shader.block(&[(array, 0)], "Block");
            let indices = shader.resource("StorageBuffer", &block, INDICES);
            let own = shader.global_x();
            let from = shader.access("StorageBuffer", &u32, &indices, &[&zero, &own]);
            let element = shader.op(&u32, "OpLoad", from);
            put(&mut shader, &element, &own);
        } else {
            for (place, element) in (0..).zip(&list) {
                let [place, element] = [place, *element].map(|n| shader.constant_u32(n));
                put(&mut shader, &element, &place);
            }
        }
        // A word of each neighbour, so that they are there; every invocation stores the same.
        let [first, second] = [&before, &after].map(|neighbour| {
            let from = shader.access("Uniform", &u32, neighbour, &[&zero, &zero]);
            shader.op(&u32, "OpLoad", from)
        });
        let both = shader.op(&u32, "OpBitwiseXor", format_args!("{first} {second}"));
        let one = shader.constant_u32(1);
        let to = shader.access("StorageBuffer", &u32, &output, &[&one]);
        let bool = shader.bool();
        let [only, done] = [(); 2].map(|()| shader.label());
        let own = shader.global_x();
        let is_first = shader.op(&bool, "OpIEqual", format_args!("{own} {zero}"));
        shader.run(format_args!("OpSelectionMerge {done} None\nOpBranchConditional {is_first} {only} {done}"));
        shader.run(format_args!("{only} = OpLabel\nOpStore {to} {both}\nOpBranch {done}\n{done} = OpLabel"));

        let mut options = Options { groups: Some([1; 3]), padding: true, robustness: level, ..Options::default() };
        for (binding, byte) in [(BEFORE, NEIGHBOURS[0]), (TARGET, HELD), (AFTER, NEIGHBOURS[1])] {
            options.inputs.push(given(binding, filled(byte, BYTES)));
        }
        if index == Index::Dynamic {
            options.inputs.push(given(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
        }
        let results = pattern(LOCAL * room + 4, 0x37);
        options.inputs.push(given(RESULTS, results.clone()));
        Program::new(shader.finish(), options).with_second(move |_| {
            let mut results = results.clone();
            for (place, element) in list.iter().enumerate() {
                let byte = if *element < HERE { HELD } else { 0 };
                results[place * room as usize..][..size as usize].fill(byte);
            }
            results[(LOCAL * room) as usize..].fill(NEIGHBOURS[0] ^ NEIGHBOURS[1]);
            BTreeMap::from([(Slot::new(0, RESULTS), results)])
        })
    })
}
