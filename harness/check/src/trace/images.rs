//! What leads to images and samplers: where the shader does not write an image, an instruction that reads it gives the same wherever
//! it stands.

use super::stores::{root, slot_of};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// The bindings whose images an entry point's functions may write.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    Some(BTreeSet<Slot>),
    /// What is written is not known.
    All,
}

impl Written {
    pub(crate) fn find(module: &Module, usage: &Usage) -> Written {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        // The pointer to a texel may be given to any atomic.
        let writes = instructions.filter(|i| matches!(i.op, Some(Op::ImageWrite | Op::ImageTexelPointer)));
        let image = |i: Instruction<'_>| match i.op {
            Some(Op::ImageTexelPointer) => slot_of(module, root(module, i.operand(0)?)?.0),
            _ => slot_of(module, Handle::find(module, i.operand(0)?)?.variables.first().copied()?),
        };
        writes.map(image).collect::<Option<_>>().map_or(Written::All, Written::Some)
    }

    /// Whether the image of a binding is among them.
    pub(crate) fn may_be(&self, binding: Slot) -> bool {
        match self {
            Written::Some(slots) => slots.contains(&binding),
            Written::All => true,
        }
    }
}

/// How an image, a sampler or both together are come by.
#[derive(Clone, Debug, Default)]
pub(super) struct Handle {
    /// The instructions that make it, in the order in which they can stand, by their results.
    pub(super) made: Vec<u32>,
    /// The numbers that they are given and that are no constants.
    pub(super) indices: Vec<u32>,
    /// The variables.
    variables: Vec<u32>,
}

impl Handle {
    /// Of an id; `None` if it is no handle, or one that comes from anywhere else than a variable.
    pub(super) fn find(module: &Module, id: u32) -> Option<Handle> {
        let opaque =
            matches!(module.ty(module.type_of(id)?), Type::Image(_) | Type::Sampler | Type::SampledImage { .. });
        let mut handle = Handle::default();
        opaque.then(|| handle.add(module, id))??;
        Some(handle)
    }

    fn add(&mut self, module: &Module, id: u32) -> Option<()> {
        if self.made.contains(&id) {
            return Some(());
        }
        let i = module.definition_of_word(id)?;
        match i.op? {
            Op::Load => {
                let (variable, indices) = root(module, i.operand(0)?)?;
                let (class, _) = module.pointer(module.type_of(variable)?)?;
                (class == StorageClass::UniformConstant).then_some(())?;
                self.chain(module, i.operand(0)?);
                let inside =
                    |id: &u32| module.definition_of_word(*id).is_some_and(|d| module.function_at(d.index).is_some());
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
        self.made.push(id);
        Some(())
    }

    /// The access chains of a pointer.
    fn chain(&mut self, module: &Module, pointer: u32) {
        let chain = |i: &Instruction<'_>| matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
        if let Some(i) = module.definition_of_word(pointer).filter(chain) {
            i.operand(0).into_iter().for_each(|base| self.chain(module, base));
            if !self.made.contains(&pointer) {
                self.made.push(pointer);
            }
        }
    }

    /// Whether nothing that it leads to is written.
    pub(super) fn is_only_read(&self, module: &Module, written: &Written) -> bool {
        let Written::Some(written) = written else { return false };
        self.variables.iter().all(|id| slot_of(module, *id).is_some_and(|slot| !written.contains(&slot)))
    }
}
