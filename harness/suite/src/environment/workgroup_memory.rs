//! Workgroup memory: zero initialisation, and the exchange of values of every width between
//! invocations.

use super::about;
use super::atomic_operations::barrier;
use super::operand_rows::Ty;
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;

const LOCAL: u32 = 64;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [8, 16, 32, 64] {
        let ty = Ty::Int { width, signed: UNSIGNED };
        for count in [64, 256, 1024] {
            cases.push(zeroed(ty, count));
        }
        for shape in 1..=4 {
            cases.push(exchanged(ty, shape));
        }
    }
    cases
}

/// Zero-initialised memory is zero in every workgroup, even if an earlier workgroup left other
/// values.
fn zeroed(ty: Ty, count: u32) -> Case {
    const GROUPS: u32 = 6;
    let subject = about(
        "OpVariable",
        format!("{0} <- {0}", ty.name()),
        "zero-initialised workgroup memory is zero at the start of each workgroup",
        "VUID-RuntimeSpirv-shaderZeroInitializeWorkgroupMemory-06372",
    );
    Case::core(format!("environment.workgroup.zeroed.{}.elements{count}", ty.name()), subject, move || {
        let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
        let scalar = ty.declare(&mut shader);
        let length = shader.constant_u32(count);
        let array = shader.declare(&format!("OpTypeArray {scalar} {length}"));
        let null = shader.declare(&format!("OpConstantNull {array}"));
        let pointer = shader.pointer("Workgroup", &array);
        let memory = shader.declare_new(&format!("OpVariable {pointer} Workgroup {null}"));
        let results = shader.array(&scalar, GROUPS * count, Some(ty.bytes()));
        let block = shader.block(&[(results, 0)], "Block");
        let output = shader.resource("StorageBuffer", &block, 0);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let local = shader.builtin_component("LocalInvocationId", 0);
        let group = shader.builtin_component("WorkgroupId", 0);
        let first = shader.op(&u32, "OpIMul", format_args!("{group} {length}"));
        let garbage = ty.constant(&mut shader, 0xa5a5_5a5a_a5a5_5aa5 & (u64::MAX >> (64 - ty.width())));
        for step in 0..count / LOCAL {
            let offset = shader.constant_u32(step * LOCAL);
            let own = shader.op(&u32, "OpIAdd", format_args!("{local} {offset}"));
            let place = shader.op(&u32, "OpIAdd", format_args!("{first} {own}"));
            let from = shader.access("Workgroup", &scalar, &memory, &[&own]);
            let loaded = shader.op(&scalar, "OpLoad", &from);
            let to = shader.access("StorageBuffer", &scalar, &output, &[&zero, &place]);
            shader.run(format_args!("OpStore {to} {loaded}"));
            // Leave other values for the next workgroup that uses this memory.
            shader.run(format_args!("OpStore {from} {garbage}"));
        }
        let bytes = GROUPS * count * ty.bytes();
        let mut options = Options { groups: Some([GROUPS, 1, 1]), padding: true, ..Options::default() };
        options.inputs.push(bytes_input(0, pattern(bytes, 3)));
        Program::new(shader.finish(), options)
            .with_reference(move |_| [(Slot::new(0, 0), vec![0; bytes as usize])].into())
    })
}

/// Each invocation stores a value that another one loads: scalars and vectors.
fn exchanged(ty: Ty, shape: u32) -> Case {
    let shape_name = if shape == 1 { "scalar".to_owned() } else { format!("vec{shape}") };
    let subject = about(
        "OpControlBarrier",
        format!("{0} <- {0}", ty.name()),
        "a load after a barrier returns the value that another invocation stored before it",
        "Vulkan memory model",
    );
    Case::core(format!("environment.workgroup.exchanged.{}.{shape_name}", ty.name()), subject, move || {
        let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
        let scalar = ty.declare(&mut shader);
        let value = shader.vector(&scalar, shape);
        // A vector of three components takes the space of four.
        let size = ty.bytes() * if shape == 3 { 4 } else { shape };
        let length = shader.constant_u32(LOCAL);
        let array = shader.declare(&format!("OpTypeArray {value} {length}"));
        let memory = shader.variable("Workgroup", &array);
        let values = shader.array(&value, LOCAL, Some(size));
        let buffers = [0, 1].map(|binding| {
            let block = shader.block(&[(values.clone(), 0)], "Block");
            shader.resource("StorageBuffer", &block, binding)
        });
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let local = shader.builtin_component("LocalInvocationId", 0);
        let last = shader.constant_u32(LOCAL - 1);
        let other = shader.op(&u32, "OpISub", format_args!("{last} {local}"));
        let from = shader.access("StorageBuffer", &value, &buffers[0], &[&zero, &local]);
        let loaded = shader.op(&value, "OpLoad", from);
        let own = shader.access("Workgroup", &value, &memory, &[&local]);
        shader.run(format_args!("OpStore {own} {loaded}"));
        barrier(&mut shader);
        let theirs = shader.access("Workgroup", &value, &memory, &[&other]);
        let loaded = shader.op(&value, "OpLoad", theirs);
        let to = shader.access("StorageBuffer", &value, &buffers[1], &[&zero, &local]);
        shader.run(format_args!("OpStore {to} {loaded}"));
        let used = ty.bytes() * shape;
        let bytes = (LOCAL - 1) * size + used;
        let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        options.inputs.push(bytes_input(0, pattern(bytes, shape)));
        options.inputs.push(bytes_input(1, pattern(bytes, 77)));
        let moves = (0..LOCAL).map(|i| ByteMove {
            from: MoveSource::Binding(0),
            at: ((LOCAL - 1 - i) * size, used),
            to: (i * size, used),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(1, moves.collect()))
    })
}
