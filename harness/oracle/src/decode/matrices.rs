//! How matrices lie that pointers lead to: the member of a structure says it that they are in, not the pointer's type.

use super::{Decoder, Pointee, Result};
use crate::ty::{MatrixLayout, Mode};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

impl Decoder<'_> {
    /// Lays out what a value points at, if that is a matrix that has a stride, as the structures do that the pointer may come from.
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

    /// What the structures say that a pointer may come from, if they say the same.
    fn matrix_behind(&self, pointer: u32) -> Option<MatrixLayout> {
        let (mut open, mut seen, mut found) = (vec![pointer], BTreeSet::new(), None);
        while let Some(word) = open.pop() {
            if !seen.insert(word) {
                continue;
            }
            let i = self.module.definition_of_word(word)?;
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

    /// What the last structure on the way of an access chain says; `Some(None)` if it is on the way to none.
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

    /// What the calls of its function give a parameter.
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
