//! Implementation of `shader64BitIndexing` on a driver with 32-bit indices, correct or with a
//! fault.

use crate::fault::IndexingFault;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{Capability, Decoration, ExecutionMode, Op, StorageClass};

/// The SPIR-V extension.
const EXTENSION: &str = "SPV_EXT_shader_64bit_indexing";

/// An index beyond the end of every buffer of the suites, whose product with any of their strides
/// is less than 2^32.
const CLAMPED_INDEX: u64 = 0x00ff_ffff;

/// Returns the module without the capability, with 64-bit indices and lengths replaced by 32-bit
/// ones.
pub(crate) fn lower(module: &Module, indexing: IndexingFault) -> Vec<u32> {
    let mut editor = Editor::new(module);
    for i in module.instructions() {
        let declares = match i.op {
            Some(Op::Capability) => i.operand(0) == Some(Capability::Shader64BitIndexingEXT.word()),
            Some(Op::Extension) => module.string_at(i, 0) == EXTENSION,
            Some(Op::ExecutionMode) => i.operand(1) == Some(ExecutionMode::Shader64BitIndexingEXT.word()),
            _ => false,
        };
        match i.op {
            _ if declares => editor.replace(i.at, Vec::new()),
            Some(op) if is_chain(op) && is_address(module, &i) && indexing == IndexingFault::CutIndices => {
                cut_address(&mut editor, &i);
            }
            Some(Op::AccessChain | Op::InBoundsAccessChain) if !is_address(module, &i) => {
                chain(&mut editor, &i, indexing);
            }
            Some(Op::ArrayLength) => length(&mut editor, &i, indexing),
            _ => {}
        }
    }
    editor.finish()
}

/// Returns the raw id of a value's type, if that is a 64-bit integer.
fn wide(module: &Module, value: u32) -> Option<u32> {
    let ty = module.type_of(value)?;
    matches!(module.ty(ty), Type::Int { width: 64, .. }).then(|| module.type_definition(ty).result())?
}

/// Narrows the 64-bit indices of an access chain to 32 bits. They are clamped first, unless the fault
/// is to cut them.
fn chain(editor: &mut Editor<'_>, i: &Instruction<'_>, indexing: IndexingFault) {
    let module = editor.module();
    let (mut words, mut code) = (i.words.to_vec(), Vec::new());
    // The indices follow the result type, the result and the base.
    for word in words.iter_mut().skip(4) {
        let Some(ty) = wide(module, *word) else { continue };
        let narrow = editor.uint(32);
        let mut index = *word;
        if indexing != IndexingFault::CutIndices {
            let (bool, beyond) = (editor.bool(), editor.constant(ty, 64, CLAMPED_INDEX));
            let [is_inside, clamped] = [editor.id(), editor.id()];
            code.extend(instruction(Op::ULessThan, &[bool, is_inside, index, beyond]));
            code.extend(instruction(Op::Select, &[ty, clamped, is_inside, index, beyond]));
            index = clamped;
        }
        *word = editor.id();
        code.extend(instruction(Op::UConvert, &[narrow, *word, index]));
    }
    if !code.is_empty() {
        code.extend(words);
        editor.replace(i.at, code);
    }
}

/// Returns true for instructions that take indices.
fn is_chain(op: Op) -> bool {
    matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain)
}

/// Returns true for a chain whose base is an address. The wrapped driver computes those with 64
/// bits.
fn is_address(module: &Module, i: &Instruction<'_>) -> bool {
    let class = i.operand(0).and_then(|base| module.pointer(module.type_of(base)?));
    class.is_some_and(|(class, _)| class == StorageClass::PhysicalStorageBuffer)
}

/// Drops those bits of a chain's 64-bit indices that exceed 32 bits when multiplied by the stride.
fn cut_address(editor: &mut Editor<'_>, i: &Instruction<'_>) {
    let module = editor.module();
    let (mut words, mut code) = (i.words.to_vec(), Vec::new());
    let mask = u64::from(u32::MAX / stride(module, i).next_power_of_two());
    for word in words.iter_mut().skip(4) {
        let Some(ty) = wide(module, *word) else { continue };
        let (mask, cut) = (editor.constant(ty, 64, mask), editor.id());
        code.extend(instruction(Op::BitwiseAnd, &[ty, cut, *word, mask]));
        *word = cut;
    }
    if !code.is_empty() {
        code.extend(words);
        editor.replace(i.at, code);
    }
}

/// Returns the largest stride of a chain's base: of its pointer type, and of the arrays in the
/// structure that it points to.
fn stride(module: &Module, i: &Instruction<'_>) -> u32 {
    let base = i.operand(0).and_then(|base| module.definition_of(base));
    let types = base.and_then(|base| Some([base.result_type()?, module.pointee(base)?]));
    let pointee = types.and_then(|[_, pointee]| module.definition_of(pointee));
    let members =
        pointee.filter(|pointee| pointee.op == Some(Op::TypeStruct)).map_or(&[][..], |pointee| pointee.operands());
    let strides = types.iter().flatten().chain(members).flat_map(|ty| module.decorations(*ty));
    let strides = strides.filter(|d| d.decoration == Some(Decoration::ArrayStride) && d.member.is_none());
    strides.filter_map(|d| d.operands.first().copied()).max().unwrap_or(1)
}

/// Makes `OpArrayLength` return 32 bits and extends the result. [`IndexingFault::LooseLengths`]
/// sets its upper half.
fn length(editor: &mut Editor<'_>, i: &Instruction<'_>, indexing: IndexingFault) {
    let (Some(ty), Some(result)) = (i.result().and_then(|result| wide(editor.module(), result)), i.result()) else {
        return;
    };
    let (narrow, short) = (editor.uint(32), editor.id());
    let mut words = i.words.to_vec();
    (words[1], words[2]) = (narrow, short);
    // Lengths are less than 2^31, so sign extension is correct.
    let long = if indexing == IndexingFault::LooseLengths { editor.id() } else { result };
    words.extend(instruction(Op::SConvert, &[ty, long, short]));
    if indexing == IndexingFault::LooseLengths {
        let upper = editor.constant(ty, 64, u64::MAX << 32);
        words.extend(instruction(Op::BitwiseOr, &[ty, result, long, upper]));
    }
    editor.replace(i.at, words);
}

/// Returns true if a module declares the capability.
pub(crate) fn declares(module: &Module) -> bool {
    let word = Capability::Shader64BitIndexingEXT.word();
    module.section(Section::Capabilities).any(|i| i.operand(0) == Some(word))
}
