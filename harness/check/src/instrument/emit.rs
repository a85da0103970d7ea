//! SPIR-V code that instrumented variants share: conversion of values to words and back, and
//! addresses of records.

use super::recorded_value::{ScalarPart, ValueLayout};
use crate::DispatchSetup;
use crate::built_in::is_built_in;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::Section;
use assay_spirv::tables::{BuiltIn, Decoration, Op, StorageClass};

/// Emits loads and stores of words in the record buffer.
pub(super) struct Recorder {
    pub(super) uint: u32,
    pub(super) buffer: u32,
    pub(super) element: u32,
}

impl Recorder {
    /// Emits a store of the word with id `word` at `from + offset`.
    pub(super) fn word(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, from: u32, offset: u32, word: u32) {
        let pointer = self.pointer(editor, code, from, offset);
        code.extend(instruction(Op::Store, &[pointer, word]));
    }

    /// Emits a load of the word at `from + offset`; returns its id.
    pub(super) fn load(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, from: u32, offset: u32) -> u32 {
        let pointer = self.pointer(editor, code, from, offset);
        let word = editor.id();
        code.extend(instruction(Op::Load, &[self.uint, word, pointer]));
        word
    }

    fn pointer(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, from: u32, offset: u32) -> u32 {
        let [at, pointer] = [editor.id(), editor.id()];
        let (zero, offset) = (editor.constant(self.uint, 32, 0), editor.constant(self.uint, 32, offset.into()));
        code.extend(instruction(Op::IAdd, &[self.uint, at, from, offset]));
        code.extend(instruction(Op::AccessChain, &[self.element, pointer, self.buffer, zero, at]));
        pointer
    }
}

/// Emits the conversion of a value to 32-bit words; returns their ids. Scalars come in the order of
/// the layout, the lower word of a 64-bit scalar first. See [`super`] for the encoding.
pub(super) fn to_words(editor: &mut Editor<'_>, code: &mut Vec<u32>, value: u32, layout: &ValueLayout) -> Vec<u32> {
    let uint = editor.uint(32);
    let mut words = Vec::new();
    for (plain, scalar) in extract_scalars(editor, code, value, layout) {
        let id = editor.id();
        match (plain.kind, plain.width) {
            (ComponentKind::Bool, _) => {
                let (one, zero) = (editor.constant(uint, 32, 1), editor.constant(uint, 32, 0));
                code.extend(instruction(Op::Select, &[uint, id, scalar, one, zero]));
                words.push(id);
            }
            (ComponentKind::Int { signed: false }, 32) => words.push(scalar),
            (_, 32) => {
                code.extend(instruction(Op::Bitcast, &[uint, id, scalar]));
                words.push(id);
            }
            (ComponentKind::Float, 16) => {
                // Two halves make a word. A module with 16-bit floats need not declare 16-bit
                // integers, so a bitcast to those is not an option.
                let (halves, mask) = (editor.vector(plain.ty, 2), editor.constant(uint, 32, 0xffff));
                let [both, bits] = [editor.id(), editor.id()];
                code.extend(instruction(Op::CompositeConstruct, &[halves, both, scalar, scalar]));
                code.extend(instruction(Op::Bitcast, &[uint, bits, both]));
                code.extend(instruction(Op::BitwiseAnd, &[uint, id, bits, mask]));
                words.push(id);
            }
            (ComponentKind::Int { .. }, 8 | 16) => {
                code.extend(instruction(Op::UConvert, &[uint, id, scalar]));
                words.push(id);
            }
            _ => {
                let pair = editor.vector(uint, 2);
                code.extend(instruction(Op::Bitcast, &[pair, id, scalar]));
                for half in 0..2 {
                    let word = editor.id();
                    code.extend(instruction(Op::CompositeExtract, &[uint, word, id, half]));
                    words.push(word);
                }
            }
        }
    }
    words
}

/// Emits the extraction of a value's scalars; returns their types and ids.
pub(super) fn extract_scalars(
    editor: &mut Editor<'_>,
    code: &mut Vec<u32>,
    value: u32,
    layout: &ValueLayout,
) -> Vec<(ScalarOrVector, u32)> {
    let mut scalars = Vec::new();
    for ScalarPart { path, plain, .. } in &layout.scalars {
        let mut scalar = value;
        if !path.is_empty() {
            scalar = editor.id();
            code.extend(instruction(Op::CompositeExtract, &[&[plain.ty, scalar, value], &path[..]].concat()));
        }
        scalars.push((*plain, scalar));
    }
    scalars
}

/// Emits the inverse of [`to_words`]: code that defines the id `value` from the ids of its words.
pub(super) fn from_words(
    editor: &mut Editor<'_>,
    code: &mut Vec<u32>,
    words: &[u32],
    value: u32,
    layout: &ValueLayout,
) {
    let uint = editor.uint(32);
    let ends = layout.scalars.iter().map(|part| part.word).skip(1).chain([layout.words()]);
    let mut whole = None;
    for (ScalarPart { path, plain, word }, end) in layout.scalars.iter().zip(ends) {
        let id = if path.is_empty() { value } else { editor.id() };
        match (plain.kind, plain.width, &words[*word as usize..end as usize]) {
            (ComponentKind::Bool, _, [word, ..]) => {
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::INotEqual, &[plain.ty, id, *word, zero]));
            }
            (ComponentKind::Int { signed: false }, 32, [word, ..]) => {
                // Adding zero copies the word.
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::IAdd, &[uint, id, *word, zero]));
            }
            (_, 32, [word, ..]) => code.extend(instruction(Op::Bitcast, &[plain.ty, id, *word])),
            (ComponentKind::Float, 16, [word, ..]) => {
                let (halves, both) = (editor.vector(plain.ty, 2), editor.id());
                code.extend(instruction(Op::Bitcast, &[halves, both, *word]));
                code.extend(instruction(Op::CompositeExtract, &[plain.ty, id, both, 0]));
            }
            (ComponentKind::Int { signed }, 8 | 16, [word, ..]) => {
                let convert = if signed { Op::SConvert } else { Op::UConvert };
                code.extend(instruction(convert, &[plain.ty, id, *word]));
            }
            (_, _, halves) => {
                let (pair, both) = (editor.vector(uint, 2), editor.id());
                code.extend(instruction(Op::CompositeConstruct, &[&[pair, both], halves].concat()));
                code.extend(instruction(Op::Bitcast, &[plain.ty, id, both]));
            }
        }
        if !path.is_empty() {
            let before = whole.unwrap_or_else(|| editor.null(layout.ty));
            let next = if end == layout.words() { value } else { editor.id() };
            code.extend(instruction(Op::CompositeInsert, &[&[layout.ty, next, id, before], &path[..]].concat()));
            whole = Some(next);
        }
    }
}

/// Code that computes a word, and the word's id.
pub(super) struct EmittedWord {
    pub(super) code: Vec<u32>,
    pub(super) result: u32,
}

/// Emits code that computes `stride` times the index of the invocation in the dispatch. Also
/// returns the input variables that the code reads.
pub(super) fn invocation_offset(
    editor: &mut Editor<'_>,
    setup: &DispatchSetup,
    stride: u32,
) -> (EmittedWord, Vec<u32>) {
    let uint = editor.uint(32);
    let uint3 = editor.vector(uint, 3);
    let index = builtin(editor, BuiltIn::LocalInvocationIndex, uint);
    let group = builtin(editor, BuiltIn::WorkgroupId, uint3);
    let mut code = Vec::new();
    let [id, local] = [editor.id(), editor.id()];
    code.extend(instruction(Op::Load, &[uint3, id, group]));
    code.extend(instruction(Op::Load, &[uint, local, index]));
    // The number of workgroups is fixed for the dispatch, so it is a constant here.
    let weights = [1, setup.groups[0], setup.groups[0].wrapping_mul(setup.groups[1])];
    let size = setup.local.iter().product::<u32>();
    let mut sum = local;
    for (axis, weight) in (0..).zip(weights) {
        let weight = editor.constant(uint, 32, u64::from(weight.wrapping_mul(size)));
        let [part, product, next] = std::array::from_fn(|_| editor.id());
        code.extend(instruction(Op::CompositeExtract, &[uint, part, id, axis]));
        code.extend(instruction(Op::IMul, &[uint, product, part, weight]));
        code.extend(instruction(Op::IAdd, &[uint, next, sum, product]));
        sum = next;
    }
    let (stride, result) = (editor.constant(uint, 32, stride.into()), editor.id());
    code.extend(instruction(Op::IMul, &[uint, result, sum, stride]));
    (EmittedWord { code, result }, vec![index, group])
}

/// Returns the input variable of a built-in. Adds one if the module does not have it.
pub(super) fn builtin(editor: &mut Editor<'_>, which: BuiltIn, ty: u32) -> u32 {
    let module = editor.module();
    let own = module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)).find_map(|i| {
        let id = i.result()?;
        let is_input = i.operand(0) == Some(StorageClass::Input.word());
        (is_input && is_built_in(module, id, which)).then_some(id)
    });
    own.unwrap_or_else(|| {
        let pointer = editor.pointer(StorageClass::Input, ty);
        let variable = editor.variable(pointer, StorageClass::Input);
        editor.annotate(Op::Decorate, &[variable, Decoration::BuiltIn.word(), which.word()]);
        variable
    })
}
