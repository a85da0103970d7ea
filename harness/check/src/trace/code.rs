//! SPIR-V that traced variants are made of: values as words and back, places of records.

use super::value::{Form, Part};
use crate::Setup;
use assay_spirv::edit::{Editor, Plain, PlainKind, instruction};
use assay_spirv::module::Section;
use assay_spirv::tables::{BuiltIn, Decoration, Op, StorageClass};

/// Stores words into an invocation's records and loads them again.
pub(super) struct Recorder {
    pub(super) uint: u32,
    pub(super) buffer: u32,
    pub(super) element: u32,
}

impl Recorder {
    /// Code that stores a word.
    pub(super) fn word(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, from: u32, offset: u32, word: u32) {
        let pointer = self.pointer(editor, code, from, offset);
        code.extend(instruction(Op::Store, &[pointer, word]));
    }

    /// Code that loads one again.
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

/// A value's bits as 32-bit words, scalar by scalar, the lower word first.
pub(super) fn as_words(editor: &mut Editor<'_>, code: &mut Vec<u32>, value: u32, form: &Form) -> Vec<u32> {
    let uint = editor.uint(32);
    let mut words = Vec::new();
    for (plain, scalar) in taken_apart(editor, code, value, form) {
        let id = editor.id();
        match (plain.kind, plain.width) {
            (PlainKind::Bool, _) => {
                let (one, zero) = (editor.constant(uint, 32, 1), editor.constant(uint, 32, 0));
                code.extend(instruction(Op::Select, &[uint, id, scalar, one, zero]));
                words.push(id);
            }
            (PlainKind::Int { signed: false }, 32) => words.push(scalar),
            (_, 32) => {
                code.extend(instruction(Op::Bitcast, &[uint, id, scalar]));
                words.push(id);
            }
            (PlainKind::Float, 16) => {
                // Two halves are a word: a module with halves need not have integers of 16 bits.
                let (halves, mask) = (editor.vector(plain.ty, 2), editor.constant(uint, 32, 0xffff));
                let [both, bits] = [editor.id(), editor.id()];
                code.extend(instruction(Op::CompositeConstruct, &[halves, both, scalar, scalar]));
                code.extend(instruction(Op::Bitcast, &[uint, bits, both]));
                code.extend(instruction(Op::BitwiseAnd, &[uint, id, bits, mask]));
                words.push(id);
            }
            (PlainKind::Int { .. }, 8 | 16) => {
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

/// The scalars of a value.
pub(super) fn taken_apart(editor: &mut Editor<'_>, code: &mut Vec<u32>, value: u32, form: &Form) -> Vec<(Plain, u32)> {
    let mut scalars = Vec::new();
    for Part { path, plain, .. } in &form.parts {
        let mut scalar = value;
        if !path.is_empty() {
            scalar = editor.id();
            code.extend(instruction(Op::CompositeExtract, &[&[plain.ty, scalar, value], &path[..]].concat()));
        }
        scalars.push((*plain, scalar));
    }
    scalars
}

/// The other way: defines `value` from words.
pub(super) fn from_words(editor: &mut Editor<'_>, code: &mut Vec<u32>, words: &[u32], value: u32, form: &Form) {
    let uint = editor.uint(32);
    let ends = form.parts.iter().map(|part| part.word).skip(1).chain([form.words()]);
    let mut whole = None;
    for (Part { path, plain, word }, end) in form.parts.iter().zip(ends) {
        let id = if path.is_empty() { value } else { editor.id() };
        match (plain.kind, plain.width, &words[*word as usize..end as usize]) {
            (PlainKind::Bool, _, [word, ..]) => {
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::INotEqual, &[plain.ty, id, *word, zero]));
            }
            (PlainKind::Int { signed: false }, 32, [word, ..]) => {
                // There is no plain copy that every version has; adding zero is one.
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::IAdd, &[uint, id, *word, zero]));
            }
            (_, 32, [word, ..]) => code.extend(instruction(Op::Bitcast, &[plain.ty, id, *word])),
            (PlainKind::Float, 16, [word, ..]) => {
                let (halves, both) = (editor.vector(plain.ty, 2), editor.id());
                code.extend(instruction(Op::Bitcast, &[halves, both, *word]));
                code.extend(instruction(Op::CompositeExtract, &[plain.ty, id, both, 0]));
            }
            (PlainKind::Int { signed }, 8 | 16, [word, ..]) => {
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
            let before = whole.unwrap_or_else(|| editor.null(form.ty));
            let next = if end == form.words() { value } else { editor.id() };
            code.extend(instruction(Op::CompositeInsert, &[&[form.ty, next, id, before], &path[..]].concat()));
            whole = Some(next);
        }
    }
}

/// Code that computes a number of an invocation.
pub(super) struct Computed {
    pub(super) code: Vec<u32>,
    pub(super) result: u32,
}

/// Code for `stride` times the invocation's place in the dispatch, and the input variables that it reads.
pub(super) fn position(editor: &mut Editor<'_>, setup: &Setup, stride: u32) -> (Computed, Vec<u32>) {
    let uint = editor.uint(32);
    let uint3 = editor.vector(uint, 3);
    let index = builtin(editor, BuiltIn::LocalInvocationIndex, uint);
    let group = builtin(editor, BuiltIn::WorkgroupId, uint3);
    let mut code = Vec::new();
    let [id, local] = [editor.id(), editor.id()];
    code.extend(instruction(Op::Load, &[uint3, id, group]));
    code.extend(instruction(Op::Load, &[uint, local, index]));
    // The number of workgroups is that of this dispatch: a constant.
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
    (Computed { code, result }, vec![index, group])
}

/// The input variable of a built-in: the module's own, or a new one.
pub(super) fn builtin(editor: &mut Editor<'_>, which: BuiltIn, ty: u32) -> u32 {
    let module = editor.module();
    let own = module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)).find_map(|i| {
        let id = i.result()?;
        let mut decorations = module.decorations(id);
        let is =
            decorations.any(|d| d.decoration == Some(Decoration::BuiltIn) && d.operands.first() == Some(&which.word()));
        (is && i.operand(0) == Some(StorageClass::Input.word())).then_some(id)
    });
    own.unwrap_or_else(|| {
        let pointer = editor.pointer(StorageClass::Input, ty);
        let variable = editor.variable(pointer, StorageClass::Input);
        editor.annotate(Op::Decorate, &[variable, Decoration::BuiltIn.word(), which.word()]);
        variable
    })
}
