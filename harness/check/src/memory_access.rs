//! Accesses of instructions to memory that several invocations may access.

use crate::base_variable::{base_variable, slot_of};
use crate::image_handles::ImageHandle;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::{Op, StorageClass};

/// Memory of a variable, or of a part of it, that several invocations may access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedMemory {
    /// The variable, as raw id.
    pub(crate) variable: u32,
    /// Its binding, if it has one. Several variables may have the same one.
    pub(crate) slot: Option<Slot>,
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
    pub(crate) fn overlaps(&self, other: &SharedMemory) -> bool {
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
pub(crate) struct Access {
    /// The memory; `None` if that is not known.
    pub(crate) memory: Option<Vec<SharedMemory>>,
    pub(crate) place: AccessPlace,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Access {
    /// Returns the accesses of an instruction.
    pub(crate) fn of(module: &Module, i: Instruction<'_>) -> Vec<Access> {
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
