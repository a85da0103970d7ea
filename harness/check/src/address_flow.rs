//! The words in memory that a shader uses as device addresses, and the types that they lead to.
//!
//! A word is declared as a physical pointer, or it is an integer from which the shader computes
//! one. The latter is found by a backward slice ([`DataFlow`]) from `OpConvertUToPtr` or
//! `OpBitcast` through additions, copies, and the halves of a 64-bit number. If several numbers are
//! added, the first in memory is the address and the others are offsets.

use crate::base_variable::{pointer_base, slot_of};
use crate::provenance::{DataFlow, ExternalMemory, LoadedFrom, physical_pointee};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::reflect::{elements, variable};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Memory that can hold addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressMemory {
    /// The push constants.
    Push,
    /// A binding.
    Binding { set: u32, binding: u32 },
    /// Memory behind physical pointers to this type, as raw id.
    Pointee(u32),
}

/// A computation of a physical pointer from a word in memory.
#[derive(Clone, Debug)]
pub(crate) struct AddressUse {
    pub(crate) memory: AddressMemory,
    /// Indices from the beginning of a block; `None` for an index that is not constant.
    pub(crate) path: Vec<Option<u64>>,
    /// Raw id of the type behind the pointer.
    pub(crate) pointee: u32,
    /// Set if something is added to the word.
    pub(crate) is_offset: bool,
}

/// Words that hold addresses, and the types behind them.
#[derive(Debug, Default)]
pub(crate) struct AddressFlow {
    /// Computations of physical pointers, in the order of instructions.
    pub(crate) uses: Vec<AddressUse>,
    /// Words that are compared, such as with null.
    compared: Vec<(AddressMemory, Vec<Option<u64>>)>,
    /// Types of which a pointer selects one of several objects.
    pub(crate) indexed: BTreeSet<u32>,
}

impl AddressFlow {
    pub(crate) fn find(module: &Module) -> AddressFlow {
        let data = DataFlow::new(module);
        let mut flow = AddressFlow::default();
        let functions = module.functions().iter();
        for i in functions.flat_map(|function| module.instructions_in(function.instructions.clone())) {
            match i.op {
                Some(Op::ConvertUToPtr | Op::Bitcast) => flow.add_conversion(module, &data, i),
                Some(Op::PtrAccessChain | Op::InBoundsPtrAccessChain) => {
                    flow.indexed.extend(i.operand(0).and_then(|base| physical_pointee(module, base)));
                }
                Some(Op::IEqual | Op::INotEqual | Op::PtrEqual | Op::PtrNotEqual) => {
                    let sources = data.slice(i.operands().to_vec(), address_operands).sources;
                    let sources = sources.into_iter().filter_map(|from| address_memory(module, from));
                    flow.compared.extend(sources);
                }
                _ => {}
            }
        }
        flow
    }

    fn add_conversion(&mut self, module: &Module, data: &DataFlow<'_>, i: Instruction<'_>) {
        let Some(pointee) = i.result().and_then(|result| physical_pointee(module, result)) else { return };
        let slice = data.slice(i.operands().to_vec(), address_operands);
        let adds = |id: &u32| {
            let op = module.definition_of(*id).and_then(|definition| definition.op);
            matches!(op, Some(Op::IAdd | Op::ISub | Op::IAddCarry))
        };
        let is_offset = slice.ids.iter().any(adds);
        let words = slice.sources.into_iter().filter(|from| may_be_address(module, from));
        let words = words.filter_map(|from| address_memory(module, from));
        let count = if is_offset { 1 } else { usize::MAX };
        self.uses.extend(words.take(count).map(|(memory, path)| AddressUse { memory, path, pointee, is_offset }));
    }

    /// Returns whether the shader compares the word at a path.
    pub(crate) fn compares(&self, memory: AddressMemory, path: &[Option<u64>]) -> bool {
        let is_same = |(of, known): &(AddressMemory, Vec<Option<u64>>)| {
            *of == memory && known.iter().zip(path).all(|(a, b)| a.is_none() || b.is_none() || a == b)
        };
        self.compared.iter().any(is_same)
    }
}

/// Returns the types behind the physical pointers through which functions may write, as raw ids.
pub(crate) fn written_pointees<'a>(
    module: &'a Module,
    instructions: impl Iterator<Item = Instruction<'a>>,
) -> BTreeSet<u32> {
    let written = instructions.flat_map(|i| {
        let pointers = match i.op {
            Some(Op::Store | Op::CopyMemory | Op::CopyMemorySized) => i.operand(0).into_iter().collect(),
            Some(
                Op::Load
                | Op::AtomicLoad
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::ArrayLength
                | Op::CopyObject
                | Op::ConvertPtrToU
                | Op::Bitcast
                | Op::Select
                | Op::Phi
                | Op::FunctionCall
                | Op::ReturnValue
                | Op::CompositeConstruct
                | Op::CompositeExtract
                | Op::CompositeInsert
                | Op::PtrEqual
                | Op::PtrNotEqual
                | Op::PtrDiff,
            ) => Vec::new(),
            _ => module.id_operands(i),
        };
        pointers.into_iter().filter_map(|pointer| physical_pointee(module, pointer_base(module, pointer)?.id))
    });
    written.collect()
}

/// Returns the operands from which an address is computed by additions and copies.
fn address_operands(_: &Module, i: Instruction<'_>) -> Vec<u32> {
    let all = i.operands();
    let chosen = match i.op {
        Some(
            Op::IAdd
            | Op::IAddCarry
            | Op::CompositeConstruct
            | Op::VectorShuffle
            | Op::CopyObject
            | Op::Bitcast
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr,
        ) => all,
        Some(
            Op::ISub
            | Op::Load
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CompositeExtract,
        ) => all.get(..1).unwrap_or_default(),
        Some(Op::Select) => all.get(1..).unwrap_or_default(),
        Some(Op::Phi) => return all.iter().step_by(2).copied().collect(),
        _ => &[],
    };
    chosen.to_vec()
}

/// Returns the place of a value in memory that can hold addresses.
fn address_memory(module: &Module, from: LoadedFrom) -> Option<(AddressMemory, Vec<Option<u64>>)> {
    let LoadedFrom { memory, mut path } = from;
    let memory = match memory {
        ExternalMemory::Pointee(pointee) => AddressMemory::Pointee(pointee),
        ExternalMemory::Variable(id) => {
            let (class, ty) = variable(module, id)?;
            if elements(module, ty).0 != ty && !path.is_empty() {
                // The element of an array of descriptors.
                path.remove(0);
            }
            match (class, slot_of(module, id)) {
                (StorageClass::PushConstant, _) => AddressMemory::Push,
                (_, Some(Slot { set, binding, .. })) => AddressMemory::Binding { set, binding },
                _ => return None,
            }
        }
    };
    Some((memory, path))
}

/// Returns whether a value in memory may be an address: a physical pointer, an integer of 64 bits,
/// two integers of 32 bits, or one of these.
fn may_be_address(module: &Module, from: &LoadedFrom) -> bool {
    let start = match from.memory {
        ExternalMemory::Pointee(pointee) => module.type_declared(pointee),
        ExternalMemory::Variable(id) => variable(module, id).map(|(_, ty)| ty),
    };
    let Some(mut ty) = start else { return false };
    for index in &from.path {
        let next = match (module.ty(ty), index) {
            (Type::Struct { .. }, Some(member)) => module.members(ty).get(*member as usize).copied(),
            (Type::Array { element, .. } | Type::RuntimeArray { element }, _) => Some(*element),
            // Half of an address.
            (Type::Vector { .. }, _) => Some(ty),
            _ => None,
        };
        let Some(next) = next else { return false };
        ty = next;
    }
    match *module.ty(ty) {
        Type::Pointer { class, .. } => class == StorageClass::PhysicalStorageBuffer,
        Type::Int { width, .. } => width == 64,
        Type::Vector { component, count } => count == 2 && matches!(module.ty(component), Type::Int { width: 32, .. }),
        _ => false,
    }
}
