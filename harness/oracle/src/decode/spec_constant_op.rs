//! Evaluation of `OpSpecConstantOp`, for readers of sizes in a module.

use super::Decoder;
use crate::dispatch::SpecValues;
use crate::integer::signed;
use crate::ty::Kind;
use assay_precision::Specification;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Module, Section, Type};
use assay_spirv::reflect;
use assay_spirv::tables::Op;

/// The module with each `OpSpecConstantOp` replaced by a constant if its value is known; `None` if
/// no value is. Values are computed from the default values of specialisation constants, for
/// integers, booleans and vectors of them. Array lengths and workgroup sizes may depend on them.
pub fn folded(module: &Module) -> Option<Module> {
    let computed = |op| op == Some(Op::SpecConstantOp);
    if !module.section(Section::Globals).any(|i| computed(i.op)) {
        return None;
    }
    let usages = reflect::static_uses(module);
    let values = SpecValues::new();
    let mut decoder = Decoder::new(Specification::Vulkan, false, module, usages.first()?, &values);
    let mut editor = Editor::new(module);
    for i in module.section(Section::Globals).filter(|i| i.op != Some(Op::Variable)) {
        decoder.here = i.index;
        let (Some(op), Some(word), Some(ty)) = (i.op, i.result(), i.result_type()) else { continue };
        let Some(declared) = module.type_declared(ty) else { continue };
        // Errors are ignored here; the interpreter refuses the shader for them.
        if decoder.global_constant(i, op, word, declared).is_ok()
            && computed(i.op)
            && let Some(words) = decoder.written_out(&mut editor, (ty, word))
        {
            editor.replace(i.at, words);
        }
    }
    Module::parse(editor.finish()).ok()
}

impl Decoder<'_> {
    /// The instructions that declare a known value as a constant.
    fn written_out(&mut self, editor: &mut Editor, (ty, word): (u32, u32)) -> Option<Vec<u32>> {
        let val = self.val(word).ok()?;
        let stated = |decoder: &Self, k: u32, ty: u32, id: u32| {
            let (bits, kind) = (*decoder.known.get(&(val.reg + k))?, *decoder.kinds.get((val.reg + k) as usize)?);
            match kind {
                Kind::Bool if bits == 0 => Some(instruction(Op::ConstantFalse, &[ty, id])),
                Kind::Bool => Some(instruction(Op::ConstantTrue, &[ty, id])),
                Kind::Int { width: 64, .. } => {
                    Some(instruction(Op::Constant, &[ty, id, bits as u32, (bits >> 32) as u32]))
                }
                // A narrow signed literal is stored sign-extended.
                Kind::Int { width, signed: true } => {
                    Some(instruction(Op::Constant, &[ty, id, signed(width.into(), bits) as u32]))
                }
                Kind::Int { signed: false, .. } => Some(instruction(Op::Constant, &[ty, id, bits as u32])),
                Kind::Float(_) | Kind::Pointer | Kind::Handle => None,
            }
        };
        let Type::Vector { component, count } = *self.module.ty(val.ty) else {
            return stated(self, 0, ty, word).filter(|_| val.n == 1);
        };
        let component = self.module.type_definition(component).result()?;
        let (mut words, mut all) = (Vec::new(), vec![ty, word]);
        for k in 0..count {
            let id = editor.id();
            words.extend(stated(self, k, component, id)?);
            all.push(id);
        }
        words.extend(instruction(Op::ConstantComposite, &all));
        Some(words)
    }
}
