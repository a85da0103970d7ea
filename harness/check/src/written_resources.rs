//! Resources that a shader may write. Only these show results of the shader.

use crate::address_flow::written_pointees;
use crate::base_variable::{base_variable, slot_of};
use crate::image_handles::WrittenImages;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Bindings that the functions of an entry point may store to.
pub(crate) struct WrittenResources {
    images: WrittenImages,
    /// `None` if any buffer may be written.
    buffers: Option<BTreeSet<Slot>>,
    /// Types behind the physical pointers that may be written through, as raw ids.
    pub(crate) pointees: BTreeSet<u32>,
}

impl WrittenResources {
    pub(crate) fn find(module: &Module, usage: &EntryPointUses) -> WrittenResources {
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let pointees = written_pointees(module, instructions());
        let mut buffers = Some(BTreeSet::new());
        for pointer in instructions().flat_map(|i| written_pointers(module, i)) {
            match (base_variable(module, pointer), &mut buffers) {
                (Some((variable, _)), Some(known)) => known.extend(slot_of(module, variable)),
                _ => buffers = None,
            }
        }
        WrittenResources { images: WrittenImages::find(module, usage), buffers, pointees }
    }

    /// Returns whether the resource of a descriptor may be written.
    pub(crate) fn may_contain(&self, slot: Slot) -> bool {
        let binding = Slot { element: 0, ..slot };
        self.images.may_contain(binding) || self.buffers.as_ref().is_none_or(|buffers| buffers.contains(&binding))
    }
}

/// Returns the pointers to bound buffers among an instruction's operands, unless the instruction
/// only reads through them or derives other pointers.
pub(crate) fn written_pointers<'a>(module: &'a Module, i: Instruction<'a>) -> impl Iterator<Item = u32> + use<'a> {
    let reads = matches!(
        i.op,
        Some(Op::Load | Op::AtomicLoad | Op::ArrayLength | Op::AccessChain | Op::InBoundsAccessChain | Op::EntryPoint)
    );
    let buffer = |id: &u32| {
        let class = module.type_of(*id).and_then(|ty| module.pointer(ty)).map(|(class, _)| class);
        matches!(class, Some(StorageClass::StorageBuffer | StorageClass::Uniform))
    };
    let pointers = if reads { Vec::new() } else { module.id_operands(i) };
    pointers.into_iter().filter(buffer)
}
