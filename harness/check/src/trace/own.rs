//! A second copy of what an invocation keeps to itself: `Function` and `Private` variables, in words among its records.
//!
//! A load from such a variable must give what the invocation itself stored there last. A compiler may have kept that anywhere; the
//! copy in a buffer is written and read by instructions of its own. Only where all of that is defined: an undefined value, of which a
//! part may be stored and loaded without harm, can be another one at each use. So a variable that begins with nothing has no copy, and
//! in a module with `OpUndef` none has.

use super::code::{Recorder, as_words, words_of};
use super::rows::{Here, start};
use super::stores::root;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, instruction};
use assay_spirv::module::{BlockIndex, Function, Instruction, Type, TypeId};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Words of a variable; of larger ones there is no copy.
const MOST_WORDS: u32 = 256;

/// Variables that have a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// First words of the copies, by the variables' ids.
    copies: BTreeMap<u32, u32>,
    /// Words for what an index out of bounds would reach.
    beyond: u32,
}

/// A part of a variable's copy: what is known of its place, and ids of what is to be added.
pub(super) struct Part {
    /// The first word in the invocation's records, but for the indices.
    word: u32,
    /// Indices, how many there may be, and the words of an element.
    indices: Vec<(u32, u32, u32)>,
    ty: TypeId,
    /// The first of the words for what an index out of bounds would reach.
    beyond: u32,
}

impl Own {
    /// Copies from word `next` on, of the variables that are loaded and stored and nothing else; and the first word after them.
    pub(super) fn find(module: &Module, usage: &Usage, mut next: u32) -> (Own, u32) {
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
        if module.instructions().any(|i| i.op == Some(Op::Undef)) {
            return (own, next);
        }
        let globals = module.instructions().take_while(|i| i.op != Some(Op::Function));
        for i in globals.chain(instructions()).filter(|i| i.op == Some(Op::Variable)) {
            let begins = i.operand(1).is_some();
            let Some(id) = i.result().filter(|id| begins && !lost.contains(id)) else { continue };
            let words = pointee(id).and_then(|ty| words_in(module, ty)).filter(|words| *words <= MOST_WORDS);
            // An access that is not followed would leave the copy behind.
            let parts = |i: &Instruction<'_>| match i.op {
                Some(Op::Load | Op::Store) => i.operand(0),
                _ => None,
            };
            let mut accesses =
                instructions().filter_map(|i| parts(&i)).filter(|p| root(module, *p).is_some_and(|r| r.0 == id));
            if let Some(words) = words
                && accesses.all(|pointer| path(module, pointer).is_some())
            {
                own.copies.insert(id, next);
                next += words;
            }
        }
        own.beyond = next;
        let beyond = if own.copies.is_empty() { 0 } else { MOST_WORDS };
        (own, next + beyond)
    }

    /// The copy of what a pointer points to.
    pub(super) fn part(&self, module: &Module, pointer: u32) -> Option<Part> {
        let (variable, mut part) = path(module, pointer)?;
        part.word += self.copies.get(&variable)?;
        part.beyond = self.beyond;
        Some(part)
    }

    /// Where values get into the copies: stores, and the beginnings of variables, where invocations or functions begin.
    pub(super) fn stores(&self, module: &Module, usage: &Usage) -> Vec<Kept> {
        let first = |function: &Function| Some(start(module, BlockIndex(function.blocks.start))?.at);
        let begins = |variable: &u32| {
            let definition = module.definition_of_word(*variable)?;
            let inside = module.function_at(definition.index).or_else(|| module.function(usage.function))?;
            Some(Kept { at: first(inside)?, pointer: *variable, value: definition.operand(1)? })
        };
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        let stored = instructions.filter(|i| i.op == Some(Op::Store)).filter_map(|i| {
            let [pointer, value, ..] = *i.operands() else { return None };
            self.part(module, pointer).map(|_| Kept { at: i.at, pointer, value })
        });
        self.copies.keys().filter_map(begins).chain(stored).collect()
    }

    /// Puts code there that stores the value in the copy, too.
    pub(super) fn keep(&self, editor: &mut Editor<'_>, recorder: &Recorder, kept: &Kept, here: Here) {
        let Some(part) = self.part(editor.module(), kept.pointer) else { return };
        let mut code = Vec::new();
        part.store(editor, &mut code, recorder, here.base, kept.value);
        editor.after(kept.at, &code);
    }
}

/// A value that gets into a copy.
pub(super) struct Kept {
    /// The first word of the instruction behind which it does.
    pub(super) at: usize,
    pointer: u32,
    value: u32,
}

impl Part {
    /// Code for its place among the records of an invocation that begin at `from`, but for the constant part, and whether all indices
    /// are in bounds, where that is not certain.
    fn base(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, uint: u32, from: u32) -> (u32, Option<u32>) {
        let bool = editor.bool();
        let (mut base, mut inside) = (from, None);
        for &(index, count, words) in &self.indices {
            let Some(plain) = Plain::of_value(editor.module(), index) else { continue };
            let index = as_words(editor, code, index, &plain)[0];
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

    /// Code that stores a value there.
    fn store(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, recorder: &Recorder, from: u32, value: u32) {
        let (from, _) = self.base(editor, code, recorder.uint, from);
        let mut words = Vec::new();
        flatten(editor, code, self.ty, value, &mut words);
        for (offset, word) in (self.word..).zip(words) {
            recorder.word(editor, code, from, offset, word);
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
        let (from, inside) = self.base(editor, code, recorder.uint, from);
        let words = words_in(editor.module(), self.ty).unwrap_or(0);
        ((0..words).map(|word| recorder.load(editor, code, from, self.word + word)).collect(), inside)
    }
}

/// The words of a value of a type; `None` of what is not made of recordable numbers.
fn words_in(module: &Module, ty: TypeId) -> Option<u32> {
    let times = |count: u32, of: TypeId| words_in(module, of)?.checked_mul(count);
    match *module.ty(ty) {
        Type::Matrix { column, count } => times(count, column),
        Type::Array { element, length } => times(length_of(module, length)?, element),
        Type::Struct { .. } => {
            let mut members = module.members(ty).iter();
            members.try_fold(0u32, |sum, member| sum.checked_add(words_in(module, *member)?))
        }
        _ => Plain::of(module, ty).filter(|plain| super::fits(module, plain)).map(|plain| words_of(&plain)),
    }
}

/// The number of an array's elements, if it is no specialization constant.
fn length_of(module: &Module, length: u32) -> Option<u32> {
    let constant = module.definition_of_word(length)?.op == Some(Op::Constant);
    module.constant_int(length).filter(|_| constant).and_then(|n| u32::try_from(n).ok())
}

/// The variable that a pointer leads into, and which part of it.
fn path(module: &Module, pointer: u32) -> Option<(u32, Part)> {
    let (variable, ids) = root(module, pointer)?;
    let (_, pointee) = module.pointer(module.type_of(variable)?)?;
    let mut part = Part { word: 0, indices: Vec::new(), ty: pointee?, beyond: 0 };
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
            Some(index) if index < count => part.word += index * words,
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

/// Code that takes a value apart into words.
fn flatten(editor: &mut Editor<'_>, code: &mut Vec<u32>, ty: TypeId, value: u32, words: &mut Vec<u32>) {
    let module = editor.module();
    let parts: Vec<TypeId> = match *module.ty(ty) {
        Type::Matrix { column, count } => vec![column; count as usize],
        Type::Array { element, length } => vec![element; length_of(module, length).unwrap_or(0) as usize],
        Type::Struct { .. } => module.members(ty).to_vec(),
        _ => {
            if let Some(plain) = Plain::of(module, ty) {
                words.extend(as_words(editor, code, value, &plain));
            }
            return;
        }
    };
    for (index, part) in (0..).zip(parts) {
        let Some(of) = module.type_definition(part).result() else { return };
        let id = editor.id();
        code.extend(instruction(Op::CompositeExtract, &[of, id, value, index]));
        flatten(editor, code, part, id, words);
    }
}
