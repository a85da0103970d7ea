//! Which resources a shader may change. What it only reads says nothing of what it computes.

use crate::trace::{Written, root, slot_of};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// The bindings that an entry point's functions may store to.
pub(crate) struct Changed {
    images: Written,
    /// `None`: any.
    buffers: Option<BTreeSet<Slot>>,
}

impl Changed {
    pub(crate) fn find(module: &Module, usage: &Usage) -> Changed {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        let mut buffers = Some(BTreeSet::new());
        for pointer in instructions.flat_map(|i| changed_by(module, i)) {
            match (root(module, pointer), &mut buffers) {
                (Some((variable, _)), Some(known)) => known.extend(slot_of(module, variable)),
                _ => buffers = None,
            }
        }
        Changed { images: Written::find(module, usage), buffers }
    }

    /// Whether a descriptor of this binding may be changed.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        let binding = Slot { element: 0, ..slot };
        self.images.may_be(binding) || self.buffers.as_ref().is_none_or(|buffers| buffers.contains(&binding))
    }
}

/// The pointers to buffers among an instruction's operands, unless it only reads what they point to or leads further.
fn changed_by<'a>(module: &'a Module, i: Instruction<'a>) -> impl Iterator<Item = u32> + use<'a> {
    let reads = matches!(
        i.op,
        Some(Op::Load | Op::AtomicLoad | Op::ArrayLength | Op::AccessChain | Op::InBoundsAccessChain | Op::EntryPoint)
    );
    let buffer = |id: &u32| {
        let class = module.type_of(*id).and_then(|ty| module.pointer(ty)).map(|(class, _)| class);
        matches!(class, Some(StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PhysicalStorageBuffer))
    };
    let pointers = if reads { Vec::new() } else { module.id_operands(i) };
    pointers.into_iter().filter(buffer)
}
