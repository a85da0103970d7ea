//! Layout of matrices behind pointers. The structure member that contains a matrix defines its
//! layout, not the type of the pointer.

use super::{Decoder, Pointee, Result};
use crate::ty::{MatrixLayout, Mode};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

impl Decoder<'_> {
    /// Sets the layout of a pointee that is a matrix with a stride, as defined by the structures
    /// that the pointer may come from.
    pub(super) fn lay_out_matrix(&mut self, word: u32, ty: TypeId, pointee: &mut Pointee) -> Result {
        let strided = match pointee.class {
            StorageClass::StorageBuffer
            | StorageClass::Uniform
            | StorageClass::PushConstant
            | StorageClass::PhysicalStorageBuffer => true,
            StorageClass::Workgroup => self.shares_blocks,
            _ => false,
        };
        let Some((_, Some(inside))) = self.module.pointer(ty).filter(|_| strided) else { return Ok(()) };
        if !matches!(*self.module.ty(self.inside_arrays(inside)), Type::Matrix { .. }) {
            return Ok(());
        }
        let Some(matrix) = self.matrix_behind(word) else {
            return self.unsupported("a pointer to a matrix of which it is not known what structure it is in");
        };
        let layout = self.layouts.within(inside, Mode::Explicit, matrix);
        pointee.layout = layout.or_else(|what| self.unsupported(what))?;
        Ok(())
    }

    /// The layout defined by all structures that the pointer may come from; `None` if they differ.
    fn matrix_behind(&self, pointer: u32) -> Option<MatrixLayout> {
        let (mut open, mut seen, mut found) = (vec![pointer], BTreeSet::new(), None);
        while let Some(word) = open.pop() {
            if !seen.insert(word) {
                continue;
            }
            let i = self.module.definition_of(word)?;
            let operands = i.operands();
            match i.op? {
                Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                    match self.matrix_member(i)? {
                        None => open.push(*operands.first()?),
                        Some(matrix) if found.is_none_or(|found| found == matrix) => found = Some(matrix),
                        Some(_) => return None,
                    }
                }
                Op::CopyObject => open.push(*operands.first()?),
                Op::Select => open.extend(operands.get(1..)?),
                Op::Phi => open.extend(operands.iter().step_by(2)),
                Op::FunctionParameter => open.extend(self.arguments_of(word)?),
                Op::ConstantNull | Op::Undef => {}
                _ => return None,
            }
        }
        found
    }

    /// The layout defined by the last structure that an access chain passes; `Some(None)` if it
    /// passes none.
    fn matrix_member(&self, chain: Instruction) -> Option<Option<MatrixLayout>> {
        let module = self.module;
        let [base, indices @ ..] = chain.operands() else { return None };
        let elements = matches!(chain.op, Some(Op::PtrAccessChain | Op::InBoundsPtrAccessChain));
        let (_, mut ty) = module.pointer(module.type_of(*base)?)?;
        let mut found = None;
        for index in indices.iter().skip(usize::from(elements)) {
            ty = Some(match *module.ty(ty?) {
                Type::Struct { .. } => {
                    let member = u32::try_from(module.constant_int(*index)?).ok()?;
                    found = Some(self.layouts.matrix_in(ty?, member));
                    *module.members(ty?).get(member as usize)?
                }
                Type::Array { element, .. } | Type::RuntimeArray { element } => element,
                _ => return None,
            });
        }
        Some(found)
    }

    /// The arguments that calls of its function pass for a parameter.
    fn arguments_of(&self, parameter: u32) -> Option<Vec<u32>> {
        let module = self.module;
        let places = |function: &assay_spirv::module::Function| {
            let parameters = module.instructions_in(function.parameters.clone());
            let mut parameters = parameters.filter(|i| i.op == Some(Op::FunctionParameter));
            Some((function.id, parameters.position(|i| i.result() == Some(parameter))?))
        };
        let (function, place) = module.functions().iter().find_map(places)?;
        let calls = module.instructions().filter(|i| i.op == Some(Op::FunctionCall) && i.operand(0) == Some(function));
        calls.map(|call| call.operand(1 + place)).collect()
    }
}
