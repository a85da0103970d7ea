//! Bytes accessed through variable pointers: selected, advanced, and carried around a loop.

use super::about;
use super::byte_storage::{ByteStorage, INPUT, OUTPUT, options, output};
use super::offsets::type_name;
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, Program};

const COUNT: u32 = 16;

/// The operation that produces a pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointerSource {
    /// `OpSelect` between two pointers.
    Select,
    /// `OpPtrAccessChain` from the first element of the array.
    Element,
    /// `OpPhi`: each turn of a loop advances the pointer by one element.
    Phi,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for source in [PointerSource::Select, PointerSource::Element, PointerSource::Phi] {
        for (count, stride) in [(1, 1), (2, 2), (3, 4), (4, 4), (1, 3)] {
            for stores in [false, true] {
                cases.push(pointed(source, count, stride, stores));
            }
        }
    }
    cases
}

/// Declares a pointer type with an array stride, as `OpPtrAccessChain` requires.
fn strided_pointer(shader: &mut ModuleBuilder, value: &str, stride: u32) -> String {
    let id = shader.declare_new(&format!("OpTypePointer StorageBuffer {value}"));
    shader.decorate(format!("{id} ArrayStride {stride}"));
    id
}

/// Elements of one array are copied in reverse to another. `source` produces the pointers of one
/// side.
fn pointed(source: PointerSource, count: u32, stride: u32, stores: bool) -> Case {
    let (instruction, label) = match source {
        PointerSource::Select => ("OpSelect", "select"),
        PointerSource::Element => ("OpPtrAccessChain", "element"),
        PointerSource::Phi => ("OpPhi", "phi"),
    };
    let ty = type_name(count);
    let side = if stores { "store" } else { "load" };
    let name = format!("storage8.pointer.{label}.{side}.{ty}.stride{stride}");
    let subject = about(
        instruction,
        format!("{ty} <- {ty}"),
        "a load or store through a computed pointer accesses the right bytes",
    );
    Case::core(name, subject, move || {
        let alone = source == PointerSource::Phi;
        let mut shader = ModuleBuilder::new([if alone { 1 } else { COUNT }, 1, 1]);
        ByteStorage::Ssbo.enable(&mut shader);
        shader.capability("VariablePointersStorageBuffer");
        let byte = shader.storage_int(8, UNSIGNED);
        let value = shader.vector(&byte, count);
        let array = shader.array(&value, COUNT, Some(stride));
        let input = ByteStorage::Ssbo.input(&mut shader, &[(array.clone(), 0)]);
        let output = output(&mut shader, &[(array, 0)]);
        let u32 = shader.u32();
        let (zero, one, last) = (shader.constant_u32(0), shader.constant_u32(1), shader.constant_u32(COUNT - 1));
        // The side with ordinary access chains, and the side with computed pointers.
        let (plain, computed) = if stores { (&input, &output) } else { (&output, &input) };
        let copy = |shader: &mut ModuleBuilder, plain: &str, computed: &str| {
            let (from, to) = if stores { (plain, computed) } else { (computed, plain) };
            let loaded = shader.op(&value, "OpLoad", from);
            shader.run(format_args!("OpStore {to} {loaded}"));
        };
        if source == PointerSource::Phi {
            let pointer = strided_pointer(&mut shader, &value, stride);
            let base = shader.op(&pointer, "OpAccessChain", format_args!("{computed} {zero} {zero}"));
            let [entry, header, body, next, done] = [0; 5].map(|_| shader.label());
            shader.run(format_args!("OpBranch {entry}\n{entry} = OpLabel\nOpBranch {header}\n{header} = OpLabel"));
            let (moved_on, counted) = (shader.label(), shader.label());
            let at = shader.op(&pointer, "OpPhi", format_args!("{base} {entry} {moved_on} {next}"));
            let i = shader.op(&u32, "OpPhi", format_args!("{zero} {entry} {counted} {next}"));
            let bool = shader.bool();
            let bound = shader.constant_u32(COUNT);
            let on = shader.op(&bool, "OpULessThan", format_args!("{i} {bound}"));
            shader.run(format_args!("OpLoopMerge {done} {next} None\nOpBranchConditional {on} {body} {done}"));
            shader.run(format_args!("{body} = OpLabel"));
            let back = shader.op(&u32, "OpISub", format_args!("{last} {i}"));
            let other = shader.access("StorageBuffer", &value, plain, &[&zero, &back]);
            copy(&mut shader, &other, &at);
            shader.run(format_args!("OpBranch {next}\n{next} = OpLabel"));
            shader.run(format_args!("{moved_on} = OpPtrAccessChain {pointer} {at} {one}"));
            shader.run(format_args!("{counted} = OpIAdd {u32} {i} {one}"));
            shader.run(format_args!("OpBranch {header}\n{done} = OpLabel"));
        } else {
            let i = shader.global_x();
            let back = shader.op(&u32, "OpISub", format_args!("{last} {i}"));
            let other = shader.access("StorageBuffer", &value, plain, &[&zero, &back]);
            let pointer = if source == PointerSource::Select {
                // Selects between the element and one that must not be accessed.
                let bool = shader.bool();
                let right = shader.access("StorageBuffer", &value, computed, &[&zero, &i]);
                let wrong = shader.access("StorageBuffer", &value, computed, &[&zero, &back]);
                let odd = shader.op(&u32, "OpBitwiseAnd", format_args!("{i} {one}"));
                let is_odd = shader.op(&bool, "OpIEqual", format_args!("{odd} {one}"));
                let ty = shader.pointer("StorageBuffer", &value);
                // For an odd index the first select takes the element, for an even one the second.
                let a = shader.op(&ty, "OpSelect", format_args!("{is_odd} {right} {wrong}"));
                let is_even = shader.op(&bool, "OpLogicalNot", is_odd);
                shader.op(&ty, "OpSelect", format_args!("{is_even} {right} {a}"))
            } else {
                let ty = strided_pointer(&mut shader, &value, stride);
                let base = shader.op(&ty, "OpAccessChain", format_args!("{computed} {zero} {zero}"));
                shader.op(&ty, "OpPtrAccessChain", format_args!("{base} {i}"))
            };
            copy(&mut shader, &other, &pointer);
        }
        let bytes = (COUNT - 1) * stride + count;
        let mut options = options(1, bytes);
        options.inputs.push(bytes_input(INPUT, pattern(bytes, stride + count)));
        let moves = (0..COUNT).map(|i| ByteMove {
            from: MoveSource::Binding(INPUT),
            at: (i * stride, count),
            to: ((COUNT - 1 - i) * stride, count),
            signed: false,
        });
        Program::new(shader.finish(), options).with_reference(apply_moves(OUTPUT, moves.collect()))
    })
}
