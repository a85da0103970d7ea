//! Memory by which the invocations of a shader may observe each other.

use crate::base_variable::{base_variable, slot_of};
use crate::image_handles::ImageHandle;
use crate::own_elements::OwnElements;
use assay_oracle::{FaultKind, PossibleFault, Slot};
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::reflect::static_uses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Memory of a variable, or of a part of it, that several invocations may access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SharedMemory {
    /// The variable, as raw id.
    variable: u32,
    /// Its binding, if it has one. Several variables may have the same one.
    slot: Option<Slot>,
    /// Constant indices that lead from the variable to the part.
    path: Vec<i64>,
}

impl SharedMemory {
    fn of(module: &Module, variable: u32) -> SharedMemory {
        SharedMemory { variable, slot: slot_of(module, variable), path: Vec::new() }
    }

    /// Returns the memory of a pointer, if its variable is known.
    fn of_pointer(module: &Module, pointer: u32) -> Option<SharedMemory> {
        let (variable, indices) = base_variable(module, pointer)?;
        let path = indices.iter().map_while(|index| module.constant_int(*index)).collect();
        Some(SharedMemory { path, ..SharedMemory::of(module, variable) })
    }

    /// Returns whether an element of this memory may be one of the other. Parts of two variables with
    /// one binding may be anywhere in it.
    fn overlaps(&self, other: &SharedMemory) -> bool {
        if self.variable != other.variable {
            return self.slot.is_some() && self.slot == other.slot;
        }
        self.path.iter().zip(&other.path).all(|(one, other)| one == other)
    }
}

/// Place of an access in memory, as a raw id.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessPlace {
    Pointer(u32),
    /// Coordinates in an image.
    Texel(u32),
}

/// Access of an instruction to shared memory.
struct Access {
    /// The memory; `None` if that is not known.
    memory: Option<Vec<SharedMemory>>,
    place: AccessPlace,
    reads: bool,
    writes: bool,
}

impl Access {
    /// Returns the accesses of an instruction.
    fn of(module: &Module, i: Instruction<'_>) -> Vec<Access> {
        let operand = |at: usize| i.operand(at).unwrap_or_default();
        let access = |memory, place, reads, writes| Access { memory, place, reads, writes };
        let memory = |pointer: u32| SharedMemory::of_pointer(module, pointer).map(|memory| vec![memory]);
        let pointer = |at: usize, reads, writes| {
            let place = AccessPlace::Pointer(operand(at));
            is_shared(module, operand(at)).then(|| access(memory(operand(at)), place, reads, writes))
        };
        let image = |reads, writes| {
            let handle = ImageHandle::find(module, operand(0));
            let memory = |handle: ImageHandle| {
                handle.variables().iter().map(|variable| SharedMemory::of(module, *variable)).collect()
            };
            Some(access(handle.map(memory), AccessPlace::Texel(operand(1)), reads, writes))
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
            Some(Op::ImageTexelPointer) => {
                [Some(access(memory(operand(0)), AccessPlace::Texel(operand(1)), false, true)), None]
            }
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
/// is not the recorded one. That takes memory which the shader both reads and writes, beyond the
/// elements that are an invocation's own.
pub(crate) struct Communication<'a> {
    module: &'a Module,
    /// Memory that the shader reads and writes, without that of which each invocation accesses its own
    /// elements only; `None` if that is not known.
    memory: Option<Vec<SharedMemory>>,
    has_barrier: bool,
    /// All accesses to memory that several invocations may access.
    accesses: Vec<Access>,
}

impl<'a> Communication<'a> {
    /// Finds the memory of an entry point in a dispatch with `size` invocations along each axis.
    pub(crate) fn find(module: &'a Module, entry: &str, size: [u32; 3]) -> Communication<'a> {
        let usage = static_uses(module).into_iter().find(|usage| usage.name == entry);
        let functions = || usage.iter().flat_map(|usage| &usage.functions).filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|function| module.instructions_in(function.instructions.clone()));
        let accesses: Vec<Access> = instructions().flat_map(|i| Access::of(module, i)).collect();
        let own = OwnElements::new(module, instructions(), size);
        let is_own = |access: &Access| match access.place {
            AccessPlace::Pointer(pointer) => own.has_pointer(pointer),
            AccessPlace::Texel(coordinates) => own.has_texel(coordinates),
        };
        // Memory with whether the element is the invocation's own.
        let all = |wanted: fn(&Access) -> bool| -> Option<BTreeSet<(SharedMemory, bool)>> {
            let wanted = accesses.iter().filter(|access| wanted(access));
            let memories: Option<Vec<_>> = wanted.map(|one| Some((one.memory.as_ref()?, is_own(one)))).collect();
            Some(memories?.into_iter().flat_map(|(all, own)| all.iter().map(move |one| (one.clone(), own))).collect())
        };
        let memory = all(|one| one.reads).zip(all(|one| one.writes)).map(|(read, written)| {
            let pairs = read.iter().flat_map(|one| written.iter().map(move |other| (one, other)));
            let is_private = |own, (one, other): (&SharedMemory, &SharedMemory)| own && one.variable == other.variable;
            let communicating = pairs.filter(|((one, is_own), (other, other_is_own))| {
                one.overlaps(other) && !is_private(*is_own && *other_is_own, (one, other))
            });
            communicating.flat_map(|((one, _), (other, _))| [one.clone(), other.clone()]).collect()
        });
        let has_barrier = instructions().any(|i| i.op == Some(Op::ControlBarrier));
        Communication { module, memory, has_barrier, accesses }
    }

    /// Returns the places at which the shader may access a binding; `None` if they are not known.
    pub(crate) fn places_in(&self, slot: Slot) -> Option<Vec<AccessPlace>> {
        let is_there = |memory: &SharedMemory| memory.slot == Some(Slot { element: 0, ..slot });
        let place = |access: &Access| Some((access.memory.as_ref()?.iter().any(is_there), access.place));
        let places: Option<Vec<_>> = self.accesses.iter().map(place).collect();
        Some(places?.into_iter().filter_map(|(is_there, place)| is_there.then_some(place)).collect())
    }

    /// Returns true if guards exclude undefined behaviour of this kind at this instruction.
    pub(crate) fn can_exclude(&self, fault: &PossibleFault) -> bool {
        use FaultKind::{Conversion, DataRace, Division, OutOfBounds, Unreachable, Wrap};
        match fault.kind {
            Some(Conversion | Division | Wrap | Unreachable) => true,
            // An access at an unknown place may race, too.
            Some(OutOfBounds | DataRace) => {
                let accesses = Access::of(self.module, self.module.instruction(fault.at.instruction));
                let observes = |memory: &SharedMemory| {
                    self.memory.as_ref().is_none_or(|all| all.iter().any(|of| of.overlaps(memory)))
                };
                accesses.iter().all(|access| access.memory.as_ref().is_some_and(|all| !all.iter().any(observes)))
            }
            None => !self.has_barrier && self.memory.as_ref().is_some_and(Vec::is_empty),
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
                var<private> place: u32 = 0u;
                @compute @workgroup_size(8) fn main(
                    @builtin(local_invocation_index) i: u32,
                    @builtin(global_invocation_id) g: vec3<u32>,
                ) {{ {body} }}"
            );
            let module = assay_testkit::wgsl(&text);
            let communication = Communication::find(&module, "main", [64, 1, 1]);
            let find = |op: Op| module.instructions().rfind(|i| i.op == Some(op)).unwrap().index;
            let excludes = |kind, instruction| {
                communication.can_exclude(&PossibleFault { kind, at: Place { instruction, line: None } })
            };
            let race = Some(FaultKind::OutOfBounds);
            [excludes(None, find(Op::Store)), excludes(race, find(Op::Store)), excludes(race, find(Op::Load))]
        };
        assert_eq!(excludes("out[i] = x[i];"), [true; 3]);
        assert_eq!(excludes("out[i] = out[i + 1u];"), [false; 3]);
        assert_eq!(excludes("out[g.x] = out[g.x] + x[i];"), [true; 3]);
        assert_eq!(excludes("let at = i32(g.x); if x[i] > 1 { out[at] = out[at] + x[i]; }"), [true; 3]);
        assert_eq!(excludes("out[g.x] = out[g.x + 1u] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[g.x] = out[0] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[0] = out[1] + x[i];"), [true; 3]);
        assert_eq!(excludes("out[place] = 1; place = g.x; out[place] = out[place] + x[i];"), [false, false, true]);
        // The components of a vector keep their places.
        assert_eq!(excludes("let at = vec2(i, g.x); out[at.x] = out[at.x] + x[i];"), [false, false, true]);
        assert_eq!(excludes("let at = vec2(i, g.x); out[at.y] = out[at.y] + x[i];"), [true; 3]);
        assert_eq!(excludes("var at = g.x; out[at] = 1; at += 1u; out[at] = out[at] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[i] = out[i] + x[i];"), [false, false, true]);
        assert_eq!(excludes("group_sum = x[i]; out[i] = group_sum;"), [false, true, false]);
        assert_eq!(excludes("workgroupBarrier(); out[i] = x[i];"), [false, true, true]);
    }
}
