//! A second copy of what an invocation keeps to itself, in words among its records: of `Function` and `Private` variables, and of what
//! functions return.
//!
//! A load from such a variable must give what the invocation itself stored there last, and a call what the function returned last. A
//! compiler may have kept that anywhere; the copy in a buffer is written and read by instructions of its own. Only where all of that
//! is defined ([`super::undefined`]): a variable that may be loaded before anything is stored has no copy.

use super::code::{Recorder, as_words};
use super::rows::{Here, start};
use super::stores::root;
use super::value::{Form, MOST_WORDS, words_in};
use crate::composites::length_of;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, instruction};
use assay_spirv::module::{BlockIndex, Function, Index, Instruction, Type, TypeId};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Variables and functions that have a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// First words of the copies, by ids.
    copies: BTreeMap<u32, u32>,
    /// Words for what an index out of bounds would reach.
    beyond: u32,
    /// The word that says when an invocation first was out of bounds, where an index may be, and behind it that which says at which
    /// instruction, by its place in the module: what it changed or found there, nobody knows.
    pub(super) strayed: Option<u32>,
}

/// A part of a variable's copy: what is known of its place, and ids of what is to be added.
pub(super) struct Part {
    /// The first word in the invocation's records, but for the indices.
    word: u32,
    /// Indices, how many there may be, and the words of an element.
    indices: Vec<(u32, u32, u32)>,
    ty: TypeId,
    /// As of [`Own`].
    beyond: u32,
    strayed: Option<u32>,
}

impl Own {
    /// Copies from word `next` on, of the variables that are loaded and stored and nothing else, and of what functions return; and the
    /// first word after them. Nothing of `undefined` has one.
    pub(super) fn find(module: &Module, usage: &Usage, undefined: &BTreeSet<u32>, mut next: u32) -> (Own, u32) {
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let local = |class| [StorageClass::Function, StorageClass::Private].contains(&class);
        let pointee = |id: u32| match module.pointer(module.type_of(id)?)? {
            (class, Some(pointee)) if local(class) => Some(pointee),
            _ => None,
        };
        // What happens to a pointer, other than this, may change memory without a store that is seen.
        let mut lost = BTreeSet::new();
        for i in instructions().filter(|i| i.op != Some(Op::Variable)) {
            let plain = matches!(i.op, Some(Op::Load | Op::Store | Op::AccessChain | Op::InBoundsAccessChain));
            for id in module.id_operands(i) {
                let rest = !plain || Some(id) != i.operand(0);
                lost.extend(root(module, id).filter(|_| rest).map(|(variable, _)| variable));
            }
        }
        let mut own = Own::default();
        let mut copy = |id: u32, words: u32| {
            own.copies.insert(id, next);
            next += words;
        };
        let globals = module.instructions().take_while(|i| i.op != Some(Op::Function));
        for i in globals.chain(instructions()).filter(|i| i.op == Some(Op::Variable)) {
            let Some(id) = i.result().filter(|id| !lost.contains(id) && !undefined.contains(id)) else { continue };
            let mut accesses = instructions().filter(|i| {
                let pointer = i.operand(0).filter(|_| matches!(i.op, Some(Op::Load | Op::Store)));
                pointer.and_then(|pointer| root(module, pointer)).is_some_and(|(variable, _)| variable == id)
            });
            // An access that is not followed would leave the copy behind, and what is not certainly stored before it is loaded has none.
            let followed = |i: Instruction<'_>| {
                let is_defined = i.result().is_none_or(|loaded| !undefined.contains(&loaded));
                is_defined && i.operand(0).is_some_and(|pointer| path(module, pointer).is_some())
            };
            let words = pointee(id).and_then(|ty| words_in(module, ty));
            if let Some(words) = words.filter(|_| accesses.all(followed)) {
                copy(id, words);
            }
        }
        for function in functions().filter(|f| f.id != usage.function) {
            let returned = || returns(module, function).filter_map(|i| i.operand(0));
            let words = module.type_of(function.id).and_then(|ty| words_in(module, ty));
            if let Some(words) = words.filter(|_| returned().all(|value| !undefined.contains(&value))) {
                copy(function.id, words);
            }
        }
        if !own.copies.is_empty() {
            own.beyond = next;
            next += MOST_WORDS;
        }
        let indexed = |pointer: u32| own.part(module, pointer).is_some_and(|part| !part.indices.is_empty());
        let accesses = instructions().filter(|i| matches!(i.op, Some(Op::Load | Op::Store)));
        if accesses.filter_map(|i| i.operand(0)).any(indexed) {
            own.strayed = Some(next);
            next += 2;
        }
        (own, next)
    }

    /// The copy of what a pointer points to, or a function returned.
    pub(super) fn part(&self, module: &Module, from: u32) -> Option<Part> {
        let (copied, mut part) = path(module, from)?;
        part.word += self.copies.get(&copied)?;
        (part.beyond, part.strayed) = (self.beyond, self.strayed);
        Some(part)
    }

    /// Where values get into the copies: stores, the beginnings of variables, where invocations or functions begin, and returns.
    pub(super) fn stores(&self, module: &Module, usage: &Usage) -> Vec<Kept> {
        let first = |function: &Function| Some(start(module, BlockIndex(function.blocks.start))?.at);
        let begins = |variable: &u32| {
            let definition = module.definition_of_word(*variable).filter(|d| d.op == Some(Op::Variable))?;
            let inside = module.function_at(definition.index).or_else(|| module.function(usage.function))?;
            Some(Kept { at: first(inside)?, to: *variable, value: definition.operand(1)? })
        };
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let stored = instructions.filter(|i| i.op == Some(Op::Store)).filter_map(|i| {
            let [pointer, value, ..] = *i.operands() else { return None };
            self.part(module, pointer).map(|_| Kept { at: i.at, to: pointer, value })
        });
        let returning = functions().filter(|f| self.copies.contains_key(&f.id));
        let returned = returning.flat_map(|f| returns(module, f).map(move |i| (f.id, i))).filter_map(|(to, i)| {
            // Nothing may stand behind the return itself.
            let before = module.instruction(Index(i.index.0.checked_sub(1)?));
            Some(Kept { at: before.at, to, value: i.operand(0)? })
        });
        self.copies.keys().filter_map(begins).chain(stored).chain(returned).collect()
    }

    /// Puts code there that stores the value in the copy, too.
    pub(super) fn keep(&self, editor: &mut Editor<'_>, recorder: &Recorder, kept: &Kept, here: Here) {
        let Some(part) = self.part(editor.module(), kept.to) else { return };
        let mut code = Vec::new();
        let at = editor.module().instruction_at(kept.at).map_or(0, |i| i.index.0);
        part.store(editor, &mut code, recorder, (here, at), kept.value);
        editor.after(kept.at, &code);
    }
}

/// A value that gets into a copy.
pub(super) struct Kept {
    /// The first word of the instruction behind which it does.
    pub(super) at: usize,
    /// The pointer that it is stored through, or the function that returns it.
    to: u32,
    value: u32,
}

impl Part {
    /// Code for its place among the records of an invocation that begin at `from`, but for the constant part, and whether all indices
    /// are in bounds, where that is not certain.
    fn base(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, uint: u32, from: u32) -> (u32, Option<u32>) {
        let bool = editor.bool();
        let (mut base, mut inside) = (from, None);
        for &(index, count, words) in &self.indices {
            let Some(form) = Form::of_value(editor.module(), index) else { continue };
            let index = as_words(editor, code, index, &form)[0];
            let (count, words) = (editor.constant(uint, 32, count.into()), editor.constant(uint, 32, words.into()));
            let [this, offset, sum] = std::array::from_fn(|_| editor.id());
            code.extend(instruction(Op::ULessThan, &[bool, this, index, count]));
            code.extend(instruction(Op::IMul, &[uint, offset, index, words]));
            code.extend(instruction(Op::IAdd, &[uint, sum, base, offset]));
            base = sum;
            inside = Some(inside.map_or(this, |before| {
                let both = editor.id();
                code.extend(instruction(Op::LogicalAnd, &[bool, both, before, this]));
                both
            }));
        }
        let Some(inside) = inside else { return (base, None) };
        // What is out of bounds must lead neither into the records of others nor into another part.
        let (away, place) = (editor.id(), editor.id());
        let beyond = editor.constant(uint, 32, (self.beyond - self.word).into());
        code.extend(instruction(Op::IAdd, &[uint, away, from, beyond]));
        code.extend(instruction(Op::Select, &[uint, place, inside, base, away]));
        (place, Some(inside))
    }

    /// Code that stores a value there, for an instruction by its place in the module.
    fn store(
        &self,
        editor: &mut Editor<'_>,
        code: &mut Vec<u32>,
        recorder: &Recorder,
        (here, at): (Here, u32),
        value: u32,
    ) {
        let (place, inside) = self.base(editor, code, recorder.uint, here.base);
        if let Some(inside) = inside {
            self.stray(editor, code, recorder, (here, at), inside);
        }
        let Some(form) = Form::of(editor.module(), self.ty) else { return };
        let words = as_words(editor, code, value, &form);
        for (offset, word) in (self.word..).zip(words) {
            recorder.word(editor, code, place, offset, word);
        }
    }

    /// Code that records where an invocation first was out of bounds.
    pub(super) fn stray(
        &self,
        editor: &mut Editor<'_>,
        code: &mut Vec<u32>,
        recorder: &Recorder,
        (here, at): (Here, u32),
        inside: u32,
    ) {
        let Some(strayed) = self.strayed else { return };
        let (uint, bool) = (recorder.uint, editor.bool());
        let (zero, at) = (editor.constant(uint, 32, 0), editor.constant(uint, 32, at.into()));
        let before = recorder.load(editor, code, here.base, strayed);
        let [was, known] = [editor.id(), editor.id()];
        code.extend(instruction(Op::INotEqual, &[bool, was, before, zero]));
        code.extend(instruction(Op::LogicalOr, &[bool, known, was, inside]));
        for (word, now) in [(strayed, here.time), (strayed + 1, at)] {
            let (before, then) = (recorder.load(editor, code, here.base, word), editor.id());
            code.extend(instruction(Op::Select, &[uint, then, known, before, now]));
            recorder.word(editor, code, here.base, word, then);
        }
    }

    /// Code that loads it: its words, and whether all indices are in bounds, where that is not certain.
    pub(super) fn load(
        &self,
        editor: &mut Editor<'_>,
        code: &mut Vec<u32>,
        recorder: &Recorder,
        from: u32,
    ) -> (Vec<u32>, Option<u32>) {
        let (place, inside) = self.base(editor, code, recorder.uint, from);
        let words = words_in(editor.module(), self.ty).unwrap_or(0);
        ((0..words).map(|word| recorder.load(editor, code, place, self.word + word)).collect(), inside)
    }
}

/// The returns of a function.
fn returns<'m>(module: &'m Module, function: &Function) -> impl Iterator<Item = Instruction<'m>> {
    module.instructions_in(function.instructions.clone()).filter(|i| i.op == Some(Op::ReturnValue))
}

/// The variable that a pointer leads into, and which part of it; a function stands for what it returns.
fn path(module: &Module, from: u32) -> Option<(u32, Part)> {
    let whole = |ty: TypeId| Part { word: 0, indices: Vec::new(), ty, beyond: 0, strayed: None };
    if module.function(from).is_some() {
        return Some((from, whole(module.type_of(from)?)));
    }
    let (variable, ids) = root(module, from)?;
    let (_, pointee) = module.pointer(module.type_of(variable)?)?;
    let mut part = whole(pointee?);
    for id in ids {
        let constant = module.constant_int(id).and_then(|n| u32::try_from(n).ok());
        let (element, count) = match *module.ty(part.ty) {
            Type::Struct { .. } => {
                let members = module.members(part.ty);
                let (before, rest) = members.split_at_checked(constant? as usize)?;
                for member in before {
                    part.word += words_in(module, *member)?;
                }
                part.ty = *rest.first()?;
                continue;
            }
            Type::Array { element, length } => (element, length_of(module, length)?),
            Type::Matrix { column, count } => (column, count),
            Type::Vector { component, count } => (component, count),
            _ => return None,
        };
        let words = words_in(module, element)?;
        match constant {
            Some(index) if index < count => part.word = part.word.checked_add(index.checked_mul(words)?)?,
            Some(_) => return None,
            None => {
                Plain::of_value(module, id).filter(|plain| plain.width == 32 && plain.count == 1)?;
                part.indices.push((id, count, words));
            }
        }
        part.ty = element;
    }
    Some((variable, part))
}
