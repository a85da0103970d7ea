//! Kernels: parameters, memory with the layout of C, and handles of images and samplers.

use super::{Decoder, Result};
use crate::inst::Inst;
use crate::program::Parameter;
use crate::ty::{Kind, Layout, Mode};
use assay_spirv::kernel_call::HandleKind;
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{ExecutionModel, Op, StorageClass};
use std::rc::Rc;

impl Decoder<'_> {
    /// The layout of memory behind a kernel's pointers. Vectors are aligned to their size,
    /// therefore vectors that would leave holes are not implemented. Neither are pointers and
    /// handles in memory.
    pub(super) fn kernel_layout(&mut self, ty: TypeId) -> Result<Rc<Layout>> {
        self.kernel_memory(ty, false)?;
        self.layout(ty, Mode::Tight)
    }

    fn kernel_memory(&self, ty: TypeId, inside: bool) -> Result {
        match *self.module.ty(ty) {
            Type::Vector { count: 2 | 4 | 8 | 16, .. } if !inside => Ok(()),
            Type::Vector { .. } => self.unsupported("a kernel's memory with vectors of 3, or vectors in structures"),
            Type::Int { .. } | Type::Float { .. } => Ok(()),
            Type::Array { element, .. } => self.kernel_memory(element, inside),
            Type::Struct { .. } => {
                self.module.members(ty).iter().try_for_each(|member| self.kernel_memory(*member, true))
            }
            _ => {
                let op = self.module.type_definition(ty).op;
                self.unsupported(format!("a kernel's memory with {}", op.map_or("an unknown type", Op::name)))
            }
        }
    }

    /// The parameters of the entry point, if it is a kernel.
    pub(super) fn parameters(&mut self) -> Result<Option<Vec<Parameter>>> {
        if self.usage.model != Some(ExecutionModel::Kernel) {
            return Ok(None);
        }
        let module = self.module;
        let Some(function) = module.function(self.usage.function) else {
            return self.invalid("a kernel without function");
        };
        let mut all = Vec::new();
        for i in module.instructions_in(function.parameters.clone()) {
            self.here = i.index;
            let (Some(Op::FunctionParameter), Some(word)) = (i.op, i.result()) else { continue };
            let val = self.val(word)?;
            let leaves = match &val.pointee {
                Some(pointee) if pointee.class == StorageClass::CrossWorkgroup => None,
                Some(pointee) => {
                    return self.unsupported(format!("a kernel's argument that points to {}", pointee.class.name()));
                }
                None => {
                    let layout = self.layout(val.ty, Mode::Tight)?;
                    let leaves = self.leaves_of(&layout)?;
                    if leaves.iter().any(|leaf| leaf.kind == Kind::Handle) {
                        return self.unsupported("a kernel's argument that is an image or sampler, not a handle");
                    }
                    Some(leaves)
                }
            };
            all.push(Parameter { reg: val.reg, leaves });
        }
        Ok(Some(all))
    }

    /// `OpConvertHandleToImageINTEL` and similar instructions.
    pub(super) fn handle(&mut self, i: Instruction, op: Op) -> Result {
        let (dst, handle) = (self.result(i)?, self.operand(i, 0)?);
        let Kind::Int { .. } = self.kind(&handle) else { return self.invalid("a handle that is no integer") };
        let image = |ty: TypeId| match *self.module.ty(ty) {
            Type::Image(image) if !image.multisampled => image.dim.map(|dim| (dim, image.arrayed)),
            _ => None,
        };
        let (kind, shape) = match (op, self.module.ty(dst.ty)) {
            (Op::ConvertHandleToSamplerINTEL, _) => (HandleKind::Sampler, None),
            (Op::ConvertHandleToSampledImageINTEL, Type::SampledImage { image: ty }) => {
                (HandleKind::SampledImage, image(*ty))
            }
            (Op::ConvertHandleToImageINTEL, _) => (HandleKind::Image, image(dst.ty)),
            _ => return self.invalid("a handle converted to another type than its instruction's"),
        };
        if shape.is_none() && kind != HandleKind::Sampler {
            return self.invalid("a handle converted to what is not a single-sampled image");
        }
        self.emit(Inst::Handle { dst: dst.reg, handle: handle.reg, kind, shape });
        Ok(())
    }
}
