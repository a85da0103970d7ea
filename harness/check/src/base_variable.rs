//! The variable that a pointer leads into.

use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::tables::{Decoration, Op};

/// Returns the variable that a pointer leads into, and the ids of the indices.
pub(crate) fn base_variable(module: &Module, pointer: u32) -> Option<(u32, Vec<u32>)> {
    let mut ids = Vec::new();
    let mut base = pointer;
    loop {
        let definition = module.definition_of(base)?;
        match definition.op? {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let (first, indices) = definition.operands().split_first()?;
                ids.splice(0..0, indices.iter().copied());
                base = *first;
            }
            Op::Variable => return Some((base, ids)),
            _ => return None,
        }
    }
}

/// Returns the binding of a variable.
pub(crate) fn slot_of(module: &Module, variable: u32) -> Option<Slot> {
    let decoration = |wanted| {
        let mut all = module.decorations(variable);
        all.find(|d| d.decoration == Some(wanted)).and_then(|d| d.operands.first().copied())
    };
    Some(Slot::new(decoration(Decoration::DescriptorSet)?, decoration(Decoration::Binding)?))
}
