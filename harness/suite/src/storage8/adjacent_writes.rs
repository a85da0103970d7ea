//! Concurrent writes of bytes that are adjacent to each other, to wider members, and to words that
//! are changed atomically.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, contents_before, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};
use assay_oracle::Slot;

/// Number of invocations that write.
const WRITERS: u32 = 64;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for stride in [1, 2, 3, 4, 5, 8, 64] {
        for phase in [0, 1, 3] {
            for split in [WorkDivision::Together, WorkDivision::Apart, WorkDivision::Interleaved] {
                // At a large stride the division of work makes little difference.
                let twin = stride > 5 && split == WorkDivision::Interleaved;
                if !twin {
                    cases.push(strided(stride, phase, split));
                }
            }
        }
    }
    cases.extend((1..16).map(mixed));
    cases.extend(ATOMICS.map(atomic));
    cases.extend([1, 2, 3, 4].map(shifted));
    cases.extend([true, false].map(propagated));
    cases
}

/// Division of the writers into workgroups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkDivision {
    /// One workgroup.
    Together,
    /// One workgroup for each writer.
    Apart,
    /// Workgroups of 8 whose invocations write far apart, so that the bytes of one word belong to
    /// different workgroups.
    Interleaved,
}

impl WorkDivision {
    fn name(self) -> &'static str {
        match self {
            WorkDivision::Together => "workgroup",
            WorkDivision::Apart => "workgroups",
            WorkDivision::Interleaved => "interleaved",
        }
    }

    fn local(self) -> u32 {
        match self {
            WorkDivision::Together => WRITERS,
            WorkDivision::Apart => 1,
            WorkDivision::Interleaved => 8,
        }
    }

    /// Emits the number of the writer.
    fn writer(self, shader: &mut ModuleBuilder) -> String {
        match self {
            WorkDivision::Together | WorkDivision::Apart => shader.global_x(),
            WorkDivision::Interleaved => {
                let local = shader.builtin_component("LocalInvocationId", 0);
                let group = shader.builtin_component("WorkgroupId", 0);
                let (u32, eight) = (shader.u32(), shader.constant_u32(8));
                let far = shader.op(&u32, "OpIMul", format_args!("{local} {eight}"));
                shader.op(&u32, "OpIAdd", format_args!("{far} {group}"))
            }
        }
    }
}

/// Writer `i` stores to byte `i * stride + phase`.
fn strided(stride: u32, phase: u32, split: WorkDivision) -> Case {
    let name = format!("storage8.neighbours.stride{stride}.phase{phase}.{}", split.name());
    let subject = about("OpStore", "u8 <- u8", "concurrent stores of single bytes change no other byte");
    Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([split.local(), 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let bytes = shader.array(&byte, WRITERS, Some(1));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(bytes, 0)]);
        let all = shader.runtime_array(&byte, 1);
        let output = output(&mut shader, &[(all, 0)]);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let writer = split.writer(&mut shader);
        let from = shader.access("StorageBuffer", &byte, &input, &[&zero, &writer]);
        let loaded = shader.op(&byte, "OpLoad", from);
        let (stride_id, phase_id) = (shader.constant_u32(stride), shader.constant_u32(phase));
        let far = shader.op(&u32, "OpIMul", format_args!("{writer} {stride_id}"));
        let at = shader.op(&u32, "OpIAdd", format_args!("{far} {phase_id}"));
        let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &at]);
        shader.run(format_args!("OpStore {to} {loaded}"));
        let mut options = options(WRITERS / split.local(), (WRITERS - 1) * stride + phase + 4);
        options.inputs.push(bytes_input(INPUT, pattern(WRITERS, stride)));
        let moves = (0..WRITERS).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (i, 1),
            to: (i * stride + phase, 1),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}

/// Width and offset of each member of an 8-byte structure.
const MEMBERS: [(u32, u32); 4] = [(8, 0), (8, 1), (16, 2), (32, 4)];

/// Four invocations share each structure, one for each member; those in the bit mask `written`
/// write their member.
fn mixed(written: u32) -> Case {
    const STRUCTS: u32 = 16;
    let label: String = MEMBERS
        .iter()
        .enumerate()
        .filter(|(i, _)| written >> i & 1 == 1)
        .map(|(i, _)| ["a", "b", "c", "d"][i])
        .collect();
    let subject = about("OpStore", "u8 <- u8", "different invocations can write bytes and wider members of one word");
    Case::core(format!("storage8.neighbours.members.{label}"), subject, move || {
        let mut shader = ModuleBuilder::new([4, STRUCTS, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        shader.capability("StorageBuffer16BitAccess");
        let types: Vec<String> = MEMBERS.iter().map(|(width, _)| shader.storage_int(*width, UNSIGNED)).collect();
        let listed: Vec<(String, u32)> = types.iter().cloned().zip(MEMBERS.iter().map(|(_, offset)| *offset)).collect();
        let structure = shader.structure(&listed);
        let array = shader.array(&structure, STRUCTS, Some(8));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(array.clone(), 0)]);
        let output = output(&mut shader, &[(array, 0)]);
        let zero = shader.constant_u32(0);
        let member = shader.builtin_component("LocalInvocationId", 0);
        let which = shader.builtin_component("LocalInvocationId", 1);
        let (labels, end) = ([0; 4].map(|_| shader.label()), shader.label());
        shader.run(format_args!("OpSelectionMerge {end} None"));
        let branches: Vec<String> = labels.iter().enumerate().map(|(i, label)| format!("{i} {label}")).collect();
        shader.run(format_args!("OpSwitch {member} {end} {}", branches.join(" ")));
        for (i, label) in labels.iter().enumerate() {
            shader.run(format_args!("{label} = OpLabel"));
            if written >> i & 1 == 1 {
                let number = shader.constant_u32(i as u32);
                let from = shader.access("StorageBuffer", &types[i], &input, &[&zero, &which, &number]);
                let loaded = shader.op(&types[i], "OpLoad", from);
                let to = shader.access("StorageBuffer", &types[i], &output, &[&zero, &which, &number]);
                shader.run(format_args!("OpStore {to} {loaded}"));
            }
            shader.run(format_args!("OpBranch {end}"));
        }
        shader.run(format_args!("{end} = OpLabel"));
        let mut options = options(1, 8 * STRUCTS);
        options.inputs.push(bytes_input(INPUT, pattern(8 * STRUCTS, written)));
        let mut moves = Vec::new();
        for (i, (width, offset)) in MEMBERS.iter().enumerate().filter(|(i, _)| written >> i & 1 == 1) {
            _ = i;
            moves.extend((0..STRUCTS).map(|s| ByteMove {
                from: MoveSource::Binding(INPUT),
                at: (8 * s + offset, width / 8),
                to: (8 * s + offset, width / 8),
                signed: false,
            }));
        }
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves))
    })
}

/// Name, instruction, flag for a value operand, and effect of an atomic operation.
type Atomic = (&'static str, &'static str, bool, fn(u32, u32) -> u32);

const ATOMICS: [Atomic; 11] = [
    ("iadd", "OpAtomicIAdd", true, u32::wrapping_add),
    ("isub", "OpAtomicISub", true, u32::wrapping_sub),
    ("iincrement", "OpAtomicIIncrement", false, |a, _| a.wrapping_add(1)),
    ("idecrement", "OpAtomicIDecrement", false, |a, _| a.wrapping_sub(1)),
    ("and", "OpAtomicAnd", true, |a, b| a & b),
    ("or", "OpAtomicOr", true, |a, b| a | b),
    ("xor", "OpAtomicXor", true, |a, b| a ^ b),
    ("umin", "OpAtomicUMin", true, u32::min),
    ("umax", "OpAtomicUMax", true, u32::max),
    ("smin", "OpAtomicSMin", true, |a, b| (a as i32).min(b as i32) as u32),
    ("smax", "OpAtomicSMax", true, |a, b| (a as i32).max(b as i32) as u32),
];

/// Four bytes, a word, four bytes: each of eight invocations writes one of the bytes and changes
/// the word.
fn atomic((label, instruction, valued, does): Atomic) -> Case {
    const STRUCTS: u32 = 8;
    const SIZE: u32 = 12;
    let subject = about(instruction, "u32 <- u32", "byte stores and atomics on an adjacent word do not interfere");
    Case::core(format!("storage8.neighbours.atomic.{label}"), subject, move || {
        let mut shader = ModuleBuilder::new([8, STRUCTS, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let u32 = shader.u32();
        let four = shader.array(&byte, 4, Some(1));
        let structure = shader.structure(&[(four.clone(), 0), (u32.clone(), 4), (four, 8)]);
        let array = shader.array(&structure, STRUCTS, Some(SIZE));
        let output = output(&mut shader, &[(array, 0)]);
        let words = shader.array(&u32, 8 * STRUCTS, Some(4));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(words, 0)]);
        let [zero, one, two, four_id, eight] = [0, 1, 2, 4, 8].map(|n| shader.constant_u32(n));
        let own = shader.builtin_component("LocalInvocationId", 0);
        let which = shader.builtin_component("LocalInvocationId", 1);
        let row = shader.op(&u32, "OpIMul", format_args!("{which} {eight}"));
        let at = shader.op(&u32, "OpIAdd", format_args!("{row} {own}"));
        let from = shader.access("StorageBuffer", &u32, &input, &[&zero, &at]);
        let loaded = shader.op(&u32, "OpLoad", from);
        let narrow = shader.op(&byte, "OpUConvert", &loaded);
        let bool = shader.bool();
        let first = shader.op(&bool, "OpULessThan", format_args!("{own} {four_id}"));
        let labels = [0; 3].map(|_| shader.label());
        shader.run(format_args!("OpSelectionMerge {} None", labels[2]));
        shader.run(format_args!("OpBranchConditional {first} {} {}", labels[0], labels[1]));
        for (member, label) in [&zero, &two].into_iter().zip(&labels[..2]) {
            shader.run(format_args!("{label} = OpLabel"));
            let three = shader.constant_u32(3);
            let within = shader.op(&u32, "OpBitwiseAnd", format_args!("{own} {three}"));
            let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &which, member, &within]);
            shader.run(format_args!("OpStore {to} {narrow}"));
            shader.run(format_args!("OpBranch {}", labels[2]));
        }
        shader.run(format_args!("{} = OpLabel", labels[2]));
        let word = shader.access("StorageBuffer", &u32, &output, &[&zero, &which, &one]);
        let value = if valued { format!(" {loaded}") } else { String::new() };
        // Device scope, relaxed order.
        shader.op(&u32, instruction, format_args!("{word} {one} {zero}{value}"));
        let mut options = options(1, SIZE * STRUCTS);
        options.inputs.push(bytes_input(INPUT, pattern(32 * STRUCTS, 3)));
        Program::new(shader.finish(), options).with_reference(move |dispatch| {
            let mut memory = contents_before(dispatch, OUTPUT).to_vec();
            let given = contents_before(dispatch, INPUT);
            let word_at = |bytes: &[u8], at: usize| {
                bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
            };
            for (s, structure) in memory.chunks_exact_mut(SIZE as usize).enumerate() {
                for own in 0..8 {
                    let value = word_at(given, 4 * (8 * s + own));
                    structure[if own < 4 { own } else { 4 + own }] = value as u8;
                    let changed = does(word_at(structure, 4), value);
                    structure[4..8].copy_from_slice(&changed.to_le_bytes());
                }
            }
            [(Slot::new(0, OUTPUT), memory)].into()
        })
    })
}

/// Every invocation reads its byte, passes a barrier, and writes the byte `distance` bytes further
/// on.
fn shifted(distance: u32) -> Case {
    let subject = about("OpControlBarrier", "u8 <- u8", "bytes stored after a barrier do not affect loads before it");
    Case::core(format!("storage8.neighbours.shifted{distance}"), subject, move || {
        let mut shader = ModuleBuilder::new([WRITERS, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let bytes = shader.array(&byte, WRITERS + distance, Some(1));
        let output = output(&mut shader, &[(bytes, 0)]);
        let (u32, zero, own) = (shader.u32(), shader.constant_u32(0), shader.global_x());
        let from = shader.access("StorageBuffer", &byte, &output, &[&zero, &own]);
        let loaded = shader.op(&byte, "OpLoad", from);
        // Workgroup scope; AcquireRelease with UniformMemory.
        let (scope, semantics) = (shader.constant_u32(2), shader.constant_u32(0x8 | 0x40));
        shader.run(format_args!("OpControlBarrier {scope} {scope} {semantics}"));
        let distance_id = shader.constant_u32(distance);
        let at = shader.op(&u32, "OpIAdd", format_args!("{own} {distance_id}"));
        let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &at]);
        shader.run(format_args!("OpStore {to} {loaded}"));
        let moves = vec![ByteMove {
            from: MoveSource::Binding(OUTPUT),
            at: (0, WRITERS),
            to: (distance, WRITERS),
            signed: false,
        }];
        Program::new(shader.finish(), options(1, WRITERS + distance)).with_reference(apply_moves(OUTPUT, moves))
    })
}

/// One invocation copies each byte to its successor. Upwards, the first byte spreads over the
/// array; downwards, all bytes move by one.
fn propagated(upwards: bool) -> Case {
    const COUNT: u32 = 12;
    let label = if upwards { "upwards" } else { "downwards" };
    let subject = about("OpLoad", "u8 <- u8", "a load of a byte returns the last value stored to it");
    Case::core(format!("storage8.neighbours.propagated.{label}"), subject, move || {
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        let byte = shader.storage_int(8, UNSIGNED);
        let bytes = shader.array(&byte, COUNT, Some(1));
        let output = output(&mut shader, &[(bytes, 0)]);
        let zero = shader.constant_u32(0);
        for step in 0..COUNT - 1 {
            let place = if upwards { step } else { COUNT - 2 - step };
            let ids = [place, place + 1].map(|n| shader.constant_u32(n));
            let from = shader.access("StorageBuffer", &byte, &output, &[&zero, &ids[0]]);
            let loaded = shader.op(&byte, "OpLoad", from);
            let to = shader.access("StorageBuffer", &byte, &output, &[&zero, &ids[1]]);
            shader.run(format_args!("OpStore {to} {loaded}"));
        }
        let moves = (1..COUNT).map(|i| ByteMove {
            from: MoveSource::Binding(OUTPUT),
            at: (if upwards { 0 } else { i - 1 }, 1),
            to: (i, 1),
            signed: false,
        });
        Program::new(shader.finish(), options(1, COUNT)).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}
