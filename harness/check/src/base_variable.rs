//! The variable or value that a pointer is derived from.

use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::tables::{Decoration, Op};

/// The value that a pointer is derived from.
pub(crate) struct PointerBase {
    /// A variable or another value that is not an access chain.
    pub(crate) id: u32,
    /// Ids of the indices from it to the pointer.
    pub(crate) indices: Vec<u32>,
    /// Set if a chain such as `OpPtrAccessChain` selects one of several objects. Its index is not
    /// in `indices`.
    pub(crate) selects: bool,
}

/// Returns the value that a pointer is derived from by access chains.
pub(crate) fn pointer_base(module: &Module, pointer: u32) -> Option<PointerBase> {
    let mut base = PointerBase { id: pointer, indices: Vec::new(), selects: false };
    loop {
        let definition = module.definition_of(base.id)?;
        let first = match definition.op? {
            Op::AccessChain | Op::InBoundsAccessChain => 1,
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => 2,
            _ => return Some(base),
        };
        base.indices.splice(0..0, definition.operands().get(first..)?.iter().copied());
        base.selects |= first == 2;
        base.id = definition.operand(0)?;
    }
}

/// Returns the variable that a pointer leads into, and the ids of the indices.
pub(crate) fn base_variable(module: &Module, pointer: u32) -> Option<(u32, Vec<u32>)> {
    let base = pointer_base(module, pointer).filter(|base| !base.selects)?;
    (module.definition_of(base.id)?.op == Some(Op::Variable)).then_some((base.id, base.indices))
}

/// Returns the binding of a variable.
pub(crate) fn slot_of(module: &Module, variable: u32) -> Option<Slot> {
    let decoration = |wanted| {
        let mut all = module.decorations(variable);
        all.find(|d| d.decoration == Some(wanted)).and_then(|d| d.operands.first().copied())
    };
    Some(Slot::new(decoration(Decoration::DescriptorSet)?, decoration(Decoration::Binding)?))
}
