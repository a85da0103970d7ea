//! Provenance of image and sampler operands.
//!
//! If the shader does not write an image, an instruction that reads it gives the same result
//! wherever it is executed, so it can be re-evaluated in another module.

use crate::base_variable::{base_variable, slot_of};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Bindings whose images the functions of an entry point may write.
#[derive(Clone, Debug)]
pub(crate) enum WrittenImages {
    Known(BTreeSet<Slot>),
    /// An image that is written cannot be traced to its variable, so any may be written.
    Unknown,
}

impl WrittenImages {
    pub(crate) fn find(module: &Module, usage: &EntryPointUses) -> WrittenImages {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        // A texel pointer counts as written, because any atomic may use it.
        let writes = instructions.filter(|i| matches!(i.op, Some(Op::ImageWrite | Op::ImageTexelPointer)));
        let image = |i: Instruction<'_>| match i.op {
            Some(Op::ImageTexelPointer) => slot_of(module, base_variable(module, i.operand(0)?)?.0),
            _ => slot_of(module, ImageHandle::find(module, i.operand(0)?)?.variables.first().copied()?),
        };
        writes.map(image).collect::<Option<_>>().map_or(WrittenImages::Unknown, WrittenImages::Known)
    }

    /// Returns whether the image of a binding may be written.
    pub(crate) fn may_contain(&self, binding: Slot) -> bool {
        match self {
            WrittenImages::Known(slots) => slots.contains(&binding),
            WrittenImages::Unknown => true,
        }
    }
}

/// Origin of an image, a sampler or a sampled image.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImageHandle {
    /// Results of the instructions that produce it, in an order in which they can be executed
    /// again.
    pub(crate) instructions: Vec<u32>,
    /// Ids of the non-constant indices that these instructions take.
    pub(crate) indices: Vec<u32>,
    /// Variables that it is loaded from.
    variables: Vec<u32>,
}

impl ImageHandle {
    /// Traces a handle to its variables. Returns `None` if `id` is not a handle, or does not come
    /// from a variable only.
    pub(crate) fn find(module: &Module, id: u32) -> Option<ImageHandle> {
        let opaque =
            matches!(module.ty(module.type_of(id)?), Type::Image(_) | Type::Sampler | Type::SampledImage { .. });
        let mut handle = ImageHandle::default();
        opaque.then(|| handle.add(module, id))??;
        Some(handle)
    }

    fn add(&mut self, module: &Module, id: u32) -> Option<()> {
        if self.instructions.contains(&id) {
            return Some(());
        }
        let i = module.definition_of(id)?;
        match i.op? {
            Op::Load => {
                let (variable, indices) = base_variable(module, i.operand(0)?)?;
                let (class, _) = module.pointer(module.type_of(variable)?)?;
                (class == StorageClass::UniformConstant).then_some(())?;
                self.chain(module, i.operand(0)?);
                let inside =
                    |id: &u32| module.definition_of(*id).is_some_and(|d| module.function_at(d.index).is_some());
                self.indices.extend(indices.into_iter().filter(inside));
                self.variables.push(variable);
            }
            Op::SampledImage => {
                self.add(module, i.operand(0)?)?;
                self.add(module, i.operand(1)?)?;
            }
            Op::Image | Op::CopyObject => self.add(module, i.operand(0)?)?,
            _ => return None,
        }
        self.instructions.push(id);
        Some(())
    }

    /// Adds the access chains that lead to a pointer.
    fn chain(&mut self, module: &Module, pointer: u32) {
        let chain = |i: &Instruction<'_>| matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
        if let Some(i) = module.definition_of(pointer).filter(chain) {
            i.operand(0).into_iter().for_each(|base| self.chain(module, base));
            if !self.instructions.contains(&pointer) {
                self.instructions.push(pointer);
            }
        }
    }

    /// Variables that it is loaded from.
    pub(crate) fn variables(&self) -> &[u32] {
        &self.variables
    }

    /// Returns whether the shader writes none of the variables that it is loaded from.
    pub(crate) fn is_only_read(&self, module: &Module, written: &WrittenImages) -> bool {
        let WrittenImages::Known(written) = written else { return false };
        self.variables.iter().all(|id| slot_of(module, *id).is_some_and(|slot| !written.contains(&slot)))
    }
}
