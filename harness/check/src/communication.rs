//! Memory by which the invocations of a shader may observe each other.

use crate::base_variable::{base_variable, slot_of};
use crate::image_handles::ImageHandle;
use assay_oracle::{FaultKind, PossibleFault, Slot};
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::reflect::static_uses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Memory that several invocations may access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SharedMemory {
    /// The resources of a binding. Several variables may have the same one.
    Binding(Slot),
    /// A variable without a binding, as raw id.
    Variable(u32),
}

impl SharedMemory {
    fn of(module: &Module, variable: u32) -> SharedMemory {
        slot_of(module, variable).map_or(SharedMemory::Variable(variable), SharedMemory::Binding)
    }
}

/// Access of an instruction to shared memory.
struct Access {
    /// The memory; `None` if that is not known.
    memory: Option<Vec<SharedMemory>>,
    reads: bool,
    writes: bool,
}

impl Access {
    /// Returns the accesses of an instruction.
    fn of(module: &Module, i: Instruction<'_>) -> Vec<Access> {
        let operand = |at: usize| i.operand(at).unwrap_or_default();
        let access = |memory, reads, writes| Access { memory, reads, writes };
        let memory =
            |pointer: u32| base_variable(module, pointer).map(|(base, _)| vec![SharedMemory::of(module, base)]);
        let pointer = |at: usize, reads, writes| {
            is_shared(module, operand(at)).then(|| access(memory(operand(at)), reads, writes))
        };
        let image = |reads, writes| {
            let handle = ImageHandle::find(module, operand(0));
            let memory = |handle: ImageHandle| {
                handle.variables().iter().map(|variable| SharedMemory::of(module, *variable)).collect()
            };
            Some(access(handle.map(memory), reads, writes))
        };
        let found = match i.op {
            Some(Op::Load) => [pointer(0, true, false), None],
            Some(Op::Store) => [pointer(0, false, true), None],
            Some(Op::CopyMemory | Op::CopyMemorySized) => [pointer(0, false, true), pointer(1, true, false)],
            Some(Op::ImageWrite) => [image(false, true), None],
            Some(Op::ImageRead | Op::ImageSparseRead | Op::ImageFetch | Op::ImageSparseFetch) => {
                [image(true, false), None]
            }
            // An atomic reads its memory once.
            Some(Op::ImageTexelPointer) => [Some(access(memory(operand(0)), false, true)), None],
            Some(op) if op.name().starts_with("OpAtomic") => [pointer(0, false, true), None],
            _ => [None, None],
        };
        found.into_iter().flatten().collect()
    }
}

/// Returns true if several invocations may access the memory of a pointer. Texel pointers are
/// accesses to their image.
fn is_shared(module: &Module, pointer: u32) -> bool {
    use StorageClass::{Function, Image, Input, Private, PushConstant, UniformConstant};
    let class = module.type_of(pointer).and_then(|ty| Some(module.pointer(ty)?.0));
    !matches!(class, Some(Function | Private | Input | PushConstant | Image | UniformConstant))
}

/// Memory by which invocations may observe each other.
///
/// A compiler may read memory again where it expects no race, so that an operand of an instruction
/// is not the recorded one. That takes memory which the shader both reads and writes.
pub(crate) struct Communication<'a> {
    module: &'a Module,
    /// Memory that the shader reads and writes; `None` if that is not known.
    memory: Option<BTreeSet<SharedMemory>>,
    has_barrier: bool,
}

impl<'a> Communication<'a> {
    pub(crate) fn find(module: &'a Module, entry: &str) -> Communication<'a> {
        let usage = static_uses(module).into_iter().find(|usage| usage.name == entry);
        let functions = || usage.iter().flat_map(|usage| &usage.functions).filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|function| module.instructions_in(function.instructions.clone()));
        let accesses: Vec<Access> = instructions().flat_map(|i| Access::of(module, i)).collect();
        let all = |wanted: fn(&Access) -> bool| -> Option<BTreeSet<SharedMemory>> {
            let memories: Option<Vec<_>> =
                accesses.iter().filter(|one| wanted(one)).map(|one| one.memory.clone()).collect();
            Some(memories?.into_iter().flatten().collect())
        };
        let memory = all(|one| one.reads).zip(all(|one| one.writes)).map(|(read, written)| &read & &written);
        let has_barrier = instructions().any(|i| i.op == Some(Op::ControlBarrier));
        Communication { module, memory, has_barrier }
    }

    /// Returns true if guards exclude undefined behaviour of this kind at this instruction.
    pub(crate) fn can_exclude(&self, fault: &PossibleFault) -> bool {
        use FaultKind::{Conversion, DataRace, Division, OutOfBounds, Unreachable, Wrap};
        match fault.kind {
            Some(Conversion | Division | Wrap | Unreachable) => true,
            // An access at an unknown place may race, too.
            Some(OutOfBounds | DataRace) => {
                let accesses = Access::of(self.module, self.module.instruction(fault.at.instruction));
                let observes = |memory: &SharedMemory| self.memory.as_ref().is_none_or(|all| all.contains(memory));
                accesses.iter().all(|access| access.memory.as_ref().is_some_and(|all| !all.iter().any(observes)))
            }
            None => !self.has_barrier && self.memory.as_ref().is_some_and(BTreeSet::is_empty),
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Place;

    #[test]
    fn memory_that_is_read_and_written_lets_invocations_observe_each_other() {
        let excludes = |body: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
                @group(0) @binding(1) var<storage, read> x: array<f32>;
                var<workgroup> group_sum: f32;
                @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"
            );
            let module = assay_testkit::wgsl(&text);
            let communication = Communication::find(&module, "main");
            let find = |op: Op| module.instructions().rfind(|i| i.op == Some(op)).unwrap().index;
            let excludes = |kind, instruction| {
                communication.can_exclude(&PossibleFault { kind, at: Place { instruction, line: None } })
            };
            let race = Some(FaultKind::OutOfBounds);
            [excludes(None, find(Op::Store)), excludes(race, find(Op::Store)), excludes(race, find(Op::Load))]
        };
        assert_eq!(excludes("out[i] = x[i];"), [true; 3]);
        assert_eq!(excludes("out[i] = out[i + 1u];"), [false; 3]);
        assert_eq!(excludes("out[i] = out[i] + x[i];"), [false, false, true]);
        assert_eq!(excludes("group_sum = x[i]; out[i] = group_sum;"), [false, true, false]);
        assert_eq!(excludes("workgroupBarrier(); out[i] = x[i];"), [false, true, true]);
    }
}
