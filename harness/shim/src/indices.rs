//! Implementation of `shader64BitIndexing` on a driver with 32-bit indices, correct or with a
//! fault.

use crate::fault::Indexing;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{Capability, ExecutionMode, Op};

/// The SPIR-V extension.
const EXTENSION: &str = "SPV_EXT_shader_64bit_indexing";

/// An index beyond the end of every buffer of the suites, whose product with any of their strides
/// is less than 2^32.
const BEYOND: u64 = 0x00ff_ffff;

/// Returns the module without the capability, with 64-bit indices and lengths replaced by 32-bit
/// ones.
pub(crate) fn lower(module: &Module, indexing: Indexing) -> Vec<u32> {
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
            Some(Op::AccessChain | Op::InBoundsAccessChain) => chain(&mut editor, &i, indexing),
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

fn chain(editor: &mut Editor<'_>, i: &Instruction<'_>, indexing: Indexing) {
    let module = editor.module();
    let (mut words, mut code) = (i.words.to_vec(), Vec::new());
    // The indices follow the result type, the result and the base.
    for word in words.iter_mut().skip(4) {
        let Some(ty) = wide(module, *word) else { continue };
        let narrow = editor.uint(32);
        let mut index = *word;
        if indexing != Indexing::CutIndices {
            let (bool, beyond) = (editor.bool(), editor.constant(ty, 64, BEYOND));
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

fn length(editor: &mut Editor<'_>, i: &Instruction<'_>, indexing: Indexing) {
    let (Some(ty), Some(result)) = (i.result().and_then(|result| wide(editor.module(), result)), i.result()) else {
        return;
    };
    let (narrow, short) = (editor.uint(32), editor.id());
    let mut words = i.words.to_vec();
    (words[1], words[2]) = (narrow, short);
    // Lengths are less than 2^31, so sign extension is correct.
    let long = if indexing == Indexing::LooseLengths { editor.id() } else { result };
    words.extend(instruction(Op::SConvert, &[ty, long, short]));
    if indexing == Indexing::LooseLengths {
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
