//! Out-of-bounds loads from uniform buffers.
//!
//! The indices stay within the array's declared length. The bound buffer is shorter than its block,
//! which a device with robust buffer access must tolerate.

use super::about;
use super::operand_rows::{Ty, U32};
use super::robustness::{
    AFTER, BEFORE, BYTES, CLAUSE, FILL, INDICES, LOCAL, NEIGHBOUR_FILLS, RESULTS, TARGET, filled, level_name,
};
use crate::bytes::{bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, SIGNED, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

/// Stride of the array, the least that std140 permits.
const STRIDE: u32 = 16;

/// Declared length of the array: the largest size of a uniform buffer that every device supports.
const DECLARED: u32 = 16384 / STRIDE;

/// Number of elements in the bound buffer.
const BOUND: u32 = BYTES / STRIDE;

/// Source of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexSource {
    /// Loaded from a buffer; each invocation has its own.
    Dynamic,
    /// A constant.
    Constant,
}

/// The element of each invocation: some in bounds, far enough from the end to be exact under either
/// level, and some in every part beyond the end.
fn elements() -> Vec<u32> {
    let mut list = vec![0, 1, BOUND / 2, BOUND - 5];
    list.extend([0, 1, 2, 3, 4, 7, 8, 15, 16, 63].map(|more| BOUND + more));
    // Positions of the neighbours if the buffers were contiguous.
    list.extend([2, 3].map(|times| BOUND * times + 5));
    list.extend([DECLARED - 2, DECLARED - 1]);
    let rest = LOCAL - list.len() as u32;
    list.extend((0..rest).map(|i| BOUND + 17 + i * (DECLARED - BOUND - 18) / rest));
    list
}

/// Number of constant indices.
const CONSTANTS: usize = 20;

pub(super) fn cases() -> Vec<Case> {
    let scalars = [(8, UNSIGNED), (16, SIGNED), (32, UNSIGNED), (32, SIGNED), (64, UNSIGNED)];
    let types = scalars.map(|(width, signed)| (Ty::Int { width, signed }, 1));
    let mut cases = Vec::new();
    for level in [Robustness::Access, Robustness::Access2] {
        for of in types.into_iter().chain([(U32, 2), (U32, 3), (U32, 4)]) {
            cases.push(load(level, of, IndexSource::Dynamic));
            cases.push(load(level, of, IndexSource::Constant));
        }
    }
    cases
}

fn load(level: Robustness, (ty, shape): (Ty, u32), index: IndexSource) -> Case {
    let types = if shape == 1 { ty.name() } else { format!("{}.vec{shape}", ty.name()) };
    let how = if index == IndexSource::Constant { ".constant" } else { "" };
    let name = format!("environment.robustness.{}.uniform.load.{types}{how}", level_name(level));
    let rule = match level {
        Robustness::Access2 => "an out-of-bounds load from a uniform buffer returns zero",
        Robustness::None | Robustness::Access => {
            "an out-of-bounds load from a uniform buffer returns zero or a value from the buffer"
        }
    };
    Case::core(name, about("OpLoad", format!("{types} <- {types}"), rule, CLAUSE), move || {
        let size = ty.bytes() * shape;
        // A vector of three components takes the space of four.
        let room = if shape == 3 { 4 * ty.bytes() } else { size };
        let list: Vec<u32> = match index {
            IndexSource::Dynamic => elements(),
            IndexSource::Constant => elements().into_iter().take(CONSTANTS).collect(),
        };
        let mut shader = ModuleBuilder::new([if index == IndexSource::Dynamic { LOCAL } else { 1 }, 1, 1]);
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
        let uniform = |shader: &mut ModuleBuilder, element: &str, binding: u32| {
            let array = shader.array(element, DECLARED, Some(STRIDE));
            let block = shader.block(&[(array, 0)], "Block");
            shader.resource("Uniform", &block, binding)
        };
        let [before, target, after] =
            [(&u32, BEFORE), (&value, TARGET), (&u32, AFTER)].map(|(of, binding)| uniform(&mut shader, of, binding));
        let results = shader.array(&value, LOCAL, Some(room));
        let block = shader.block(&[(results, 0), (u32.clone(), LOCAL * room)], "Block");
        let output = shader.resource("StorageBuffer", &block, RESULTS);
        let put = |shader: &mut ModuleBuilder, element: &str, place: &str| {
            let from = shader.access("Uniform", &value, &target, &[&zero, element]);
            let loaded = shader.op(&value, "OpLoad", from);
            let to = shader.access("StorageBuffer", &value, &output, &[&zero, place]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        };
        if index == IndexSource::Dynamic {
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
        // A word of each neighbour is loaded, so that both are used. Only the first invocation
        // stores.
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

        let mut options =
            Options { groups: Some([1; 3]), padding: true, robustness: Some(level), ..Options::default() };
        for (binding, byte) in [(BEFORE, NEIGHBOUR_FILLS[0]), (TARGET, FILL), (AFTER, NEIGHBOUR_FILLS[1])] {
            options.inputs.push(bytes_input(binding, filled(byte, BYTES)));
        }
        if index == IndexSource::Dynamic {
            options.inputs.push(bytes_input(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
        }
        let results = pattern(LOCAL * room + 4, 0x37);
        options.inputs.push(bytes_input(RESULTS, results.clone()));
        Program::new(shader.finish(), options).with_reference(move |_| {
            let mut results = results.clone();
            for (place, element) in list.iter().enumerate() {
                let byte = if *element < BOUND { FILL } else { 0 };
                results[place * room as usize..][..size as usize].fill(byte);
            }
            results[(LOCAL * room) as usize..].fill(NEIGHBOUR_FILLS[0] ^ NEIGHBOUR_FILLS[1]);
            BTreeMap::from([(Slot::new(0, RESULTS), results)])
        })
    })
}
