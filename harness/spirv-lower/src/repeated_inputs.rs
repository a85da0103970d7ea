//! Merging of input variables that have the same built-in.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, substituted};
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::{Decoration, Op, StorageClass};
use std::collections::BTreeMap;

/// Returns the module's words with one variable in place of all input variables of a type that have
/// the same built-in; `None` if there are no two. glslang declares one for each use of
/// `WaveGetLaneCount()` and `WaveGetLaneIndex()` in HLSL, which Vulkan forbids
/// (VUID-StandaloneSpirv-OpEntryPoint-09658).
pub fn with_single_inputs(module: &Module) -> Option<Vec<u32>> {
    let mut first: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut merged: BTreeMap<u32, u32> = BTreeMap::new();
    for variable in module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)) {
        let Some((built_in, id)) = input_built_in(module, variable).zip(variable.result()) else { continue };
        let kept = *first.entry((built_in, variable.result_type()?)).or_insert(id);
        if kept != id {
            merged.insert(id, kept);
        }
    }
    if merged.is_empty() {
        return None;
    }
    let mut editor = Editor::new(module);
    for i in module.instructions() {
        let is_merged = i.op == Some(Op::Variable) && i.result().is_some_and(|id| merged.contains_key(&id));
        let words = if is_merged { Vec::new() } else { substituted(module, &i, i.words.to_vec(), &merged) };
        if words != i.words {
            editor.replace(i.at, words);
        }
    }
    editor.remove_references(&merged.keys().copied().collect());
    Some(editor.finish())
}

/// Returns the built-in of an input variable.
fn input_built_in(module: &Module, variable: Instruction<'_>) -> Option<u32> {
    if variable.operand(0) != Some(StorageClass::Input.word()) {
        return None;
    }
    let mut decorations = module.decorations(variable.result()?);
    let built_in = decorations.find(|d| d.member.is_none() && d.decoration == Some(Decoration::BuiltIn))?;
    built_in.operands.first().copied()
}
