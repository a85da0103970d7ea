//! Shadow copies of an invocation's own memory: `Function` and `Private` variables, and return
//! values.
//!
//! The technique is that of shadow memory (Nethercote and Seward, "How to Shadow Every Byte of
//! Memory Used by a Program", VEE 2007), for whole variables instead of bytes. A load from such a
//! variable must give the value that the invocation stored last, and a call the value that the
//! function returned last. The compiler may keep these in registers or anywhere else; the shadow
//! copy is in the record buffer, and separate instructions write and read it.
//!
//! A variable has a shadow copy only if all accesses to it can be followed, and nothing that is
//! loaded from it may be undefined ([`super::undef_analysis`]).

use super::emit::{Recorder, to_words};
use super::record_layout::{RecordPosition, insertion_point};
use super::recorded_value::{MAX_WORDS, ValueLayout, words_in};
use crate::base_variable::base_variable;
use crate::composite_types::length_of;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, ScalarOrVector, instruction};
use assay_spirv::module::{BlockIndex, Function, Instruction, InstructionIndex, Type, TypeId};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Variables and functions that have a shadow copy.
#[derive(Clone, Debug, Default)]
pub(super) struct ShadowCopies {
    /// First word of each copy, by the id of the variable or function.
    copies: BTreeMap<u32, u32>,
    /// First word of an area that takes accesses with an index out of bounds.
    overflow_area: u32,
    /// Word with the time of the first access out of bounds of an invocation, followed by a word
    /// with the index of its instruction. From then on the contents of the variable are not known.
    /// `None` if no access has a variable index.
    pub(super) first_out_of_bounds: Option<u32>,
}

/// Part of a variable's shadow copy that an access reaches.
pub(super) struct CopiedPart {
    /// First word in the invocation's first row, for indices of 0.
    word: u32,
    /// Indices that are not constants.
    indices: Vec<VariableIndex>,
    ty: TypeId,
    /// As [`ShadowCopies::overflow_area`].
    overflow_area: u32,
    first_out_of_bounds: Option<u32>,
}

/// An index into a part, which is not a constant.
#[derive(Clone, Copy)]
struct VariableIndex {
    /// Id of the index.
    id: u32,
    /// Number of elements.
    count: u32,
    /// Words of an element.
    words: u32,
}

impl ShadowCopies {
    /// Assigns shadow copies from word `next` on: to variables that are only loaded and stored, and
    /// to return values. Values in `undefined` have none. Also returns the first word after them.
    pub(super) fn find(
        module: &Module,
        usage: &EntryPointUses,
        undefined: &BTreeSet<u32>,
        mut next: u32,
    ) -> (ShadowCopies, u32) {
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let local = |class| [StorageClass::Function, StorageClass::Private].contains(&class);
        let pointee = |id: u32| match module.pointer(module.type_of(id)?)? {
            (class, Some(pointee)) if local(class) => Some(pointee),
            _ => None,
        };
        // Any other use of a pointer may change the memory by other means than a store.
        let mut lost = BTreeSet::new();
        for i in instructions().filter(|i| i.op != Some(Op::Variable)) {
            let plain = matches!(i.op, Some(Op::Load | Op::Store | Op::AccessChain | Op::InBoundsAccessChain));
            for id in module.id_operands(i) {
                let rest = !plain || Some(id) != i.operand(0);
                lost.extend(base_variable(module, id).filter(|_| rest).map(|(variable, _)| variable));
            }
        }
        let mut copies = ShadowCopies::default();
        let mut add_copy = |id: u32, words: u32| {
            copies.copies.insert(id, next);
            next += words;
        };
        let globals = module.instructions().take_while(|i| i.op != Some(Op::Function));
        for i in globals.chain(instructions()).filter(|i| i.op == Some(Op::Variable)) {
            let Some(id) = i.result().filter(|id| !lost.contains(id) && !undefined.contains(id)) else { continue };
            let mut accesses = instructions().filter(|i| {
                let pointer = i.operand(0).filter(|_| matches!(i.op, Some(Op::Load | Op::Store)));
                pointer.and_then(|pointer| base_variable(module, pointer)).is_some_and(|(variable, _)| variable == id)
            });
            // Without the access the copy would be out of date. A load of a maybe uninitialised
            // value rules the copy out.
            let followed = |i: Instruction<'_>| {
                let is_defined = i.result().is_none_or(|loaded| !undefined.contains(&loaded));
                is_defined && i.operand(0).is_some_and(|pointer| resolve(module, pointer).is_some())
            };
            let words = pointee(id).and_then(|ty| words_in(module, ty));
            if let Some(words) = words.filter(|_| accesses.all(followed)) {
                add_copy(id, words);
            }
        }
        for function in functions().filter(|f| f.id != usage.function) {
            let returned = || returns(module, function).filter_map(|i| i.operand(0));
            let words = module.type_of(function.id).and_then(|ty| words_in(module, ty));
            if let Some(words) = words.filter(|_| returned().all(|value| !undefined.contains(&value))) {
                add_copy(function.id, words);
            }
        }
        if !copies.copies.is_empty() {
            copies.overflow_area = next;
            next += MAX_WORDS;
        }
        let indexed = |pointer: u32| copies.part(module, pointer).is_some_and(|part| !part.indices.is_empty());
        let accesses = instructions().filter(|i| matches!(i.op, Some(Op::Load | Op::Store)));
        if accesses.filter_map(|i| i.operand(0)).any(indexed) {
            copies.first_out_of_bounds = Some(next);
            next += 2;
        }
        (copies, next)
    }

    /// Returns the part of a shadow copy that corresponds to a pointer, or to the return value of a
    /// function.
    pub(super) fn part(&self, module: &Module, from: u32) -> Option<CopiedPart> {
        let (copied, mut part) = resolve(module, from)?;
        part.word += self.copies.get(&copied)?;
        (part.overflow_area, part.first_out_of_bounds) = (self.overflow_area, self.first_out_of_bounds);
        Some(part)
    }

    /// Returns the places where shadow copies are updated: stores, initialisers at the start of the
    /// invocation or function, and returns.
    pub(super) fn shadow_stores(&self, module: &Module, usage: &EntryPointUses) -> Vec<ShadowStore> {
        let first = |function: &Function| Some(insertion_point(module, BlockIndex(function.blocks.start))?.at);
        let begins = |variable: &u32| {
            let definition = module.definition_of(*variable).filter(|d| d.op == Some(Op::Variable))?;
            let inside = module.function_at(definition.index).or_else(|| module.function(usage.function))?;
            Some(ShadowStore { at: first(inside)?, to: *variable, value: definition.operand(1)? })
        };
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions = functions().flat_map(|f| module.instructions_in(f.instructions.clone()));
        let stored = instructions.filter(|i| i.op == Some(Op::Store)).filter_map(|i| {
            let [pointer, value, ..] = *i.operands() else { return None };
            self.part(module, pointer).map(|_| ShadowStore { at: i.at, to: pointer, value })
        });
        let returning = functions().filter(|f| self.copies.contains_key(&f.id));
        let returned = returning.flat_map(|f| returns(module, f).map(move |i| (f.id, i))).filter_map(|(to, i)| {
            // Code cannot follow the return, so it follows the instruction before it.
            let before = module.instruction(InstructionIndex(i.index.0.checked_sub(1)?));
            Some(ShadowStore { at: before.at, to, value: i.operand(0)? })
        });
        self.copies.keys().filter_map(begins).chain(stored).chain(returned).collect()
    }

    /// Inserts code that updates the shadow copy.
    pub(super) fn store(
        &self,
        editor: &mut Editor<'_>,
        recorder: &Recorder,
        stored: &ShadowStore,
        here: RecordPosition,
    ) {
        let Some(part) = self.part(editor.module(), stored.to) else { return };
        let mut code = Vec::new();
        let at = editor.module().instruction_at(stored.at).map_or(0, |i| i.index.0);
        part.store(editor, &mut code, recorder, (here, at), stored.value);
        editor.insert_after(stored.at, &code);
    }
}

/// An update of a shadow copy.
pub(super) struct ShadowStore {
    /// Word offset of the instruction after which the code is inserted.
    pub(super) at: usize,
    /// Pointer of the store, or function that returns the value.
    to: u32,
    value: u32,
}

impl CopiedPart {
    /// Emits code for the address of the part without its constant offset `word`; `from` is the
    /// start of the invocation's records. Also returns a condition that all indices are in bounds,
    /// unless they are constants.
    fn base(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, uint: u32, from: u32) -> (u32, Option<u32>) {
        let bool = editor.bool();
        let (mut base, mut inside) = (from, None);
        for &VariableIndex { id, count, words } in &self.indices {
            let Some(layout) = ValueLayout::of_value(editor.module(), id) else { continue };
            let index = to_words(editor, code, id, &layout)[0];
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
        // An access out of bounds must not reach another part or the records of another invocation.
        let (away, place) = (editor.id(), editor.id());
        let overflow_area = editor.constant(uint, 32, (self.overflow_area - self.word).into());
        code.extend(instruction(Op::IAdd, &[uint, away, from, overflow_area]));
        code.extend(instruction(Op::Select, &[uint, place, inside, base, away]));
        (place, Some(inside))
    }

    /// Emits code that stores a value to the part. `at` is the index of the instruction in the
    /// module.
    fn store(
        &self,
        editor: &mut Editor<'_>,
        code: &mut Vec<u32>,
        recorder: &Recorder,
        (here, at): (RecordPosition, u32),
        value: u32,
    ) {
        let (place, inside) = self.base(editor, code, recorder.uint, here.base);
        if let Some(inside) = inside {
            self.record_out_of_bounds(editor, code, recorder, (here, at), inside);
        }
        let Some(layout) = ValueLayout::of(editor.module(), self.ty) else { return };
        let words = to_words(editor, code, value, &layout);
        for (offset, word) in (self.word..).zip(words) {
            recorder.word(editor, code, place, offset, word);
        }
    }

    /// Emits code that records the time and the instruction of the invocation's first access out of
    /// bounds.
    pub(super) fn record_out_of_bounds(
        &self,
        editor: &mut Editor<'_>,
        code: &mut Vec<u32>,
        recorder: &Recorder,
        (here, at): (RecordPosition, u32),
        inside: u32,
    ) {
        let Some(first_out_of_bounds) = self.first_out_of_bounds else { return };
        let (uint, bool) = (recorder.uint, editor.bool());
        let (zero, at) = (editor.constant(uint, 32, 0), editor.constant(uint, 32, at.into()));
        let before = recorder.load(editor, code, here.base, first_out_of_bounds);
        let [was, known] = [editor.id(), editor.id()];
        code.extend(instruction(Op::INotEqual, &[bool, was, before, zero]));
        code.extend(instruction(Op::LogicalOr, &[bool, known, was, inside]));
        for (word, now) in [(first_out_of_bounds, here.time), (first_out_of_bounds + 1, at)] {
            let (before, then) = (recorder.load(editor, code, here.base, word), editor.id());
            code.extend(instruction(Op::Select, &[uint, then, known, before, now]));
            recorder.word(editor, code, here.base, word, then);
        }
    }

    /// Emits code that loads the part. Returns its words, and the condition that all indices are in
    /// bounds, unless they are constants.
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

/// Returns the `OpReturnValue` instructions of a function.
fn returns<'m>(module: &'m Module, function: &Function) -> impl Iterator<Item = Instruction<'m>> {
    module.instructions_in(function.instructions.clone()).filter(|i| i.op == Some(Op::ReturnValue))
}

/// Resolves a pointer to its variable and the part that it selects. A function resolves to its
/// return value.
fn resolve(module: &Module, from: u32) -> Option<(u32, CopiedPart)> {
    let whole =
        |ty: TypeId| CopiedPart { word: 0, indices: Vec::new(), ty, overflow_area: 0, first_out_of_bounds: None };
    if module.function(from).is_some() {
        return Some((from, whole(module.type_of(from)?)));
    }
    let (variable, ids) = base_variable(module, from)?;
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
                ScalarOrVector::of_value(module, id).filter(|plain| plain.width == 32 && plain.count == 1)?;
                part.indices.push(VariableIndex { id, count, words });
            }
        }
        part.ty = element;
    }
    Some((variable, part))
}
