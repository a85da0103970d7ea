//! Which invocation wrote an element, and what the value that it wrote depends on.

use super::Reading;
use super::code::{Recorder, as_words};
use super::rows::Here;
use super::value::Form;
use crate::Descriptor;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain};
use assay_spirv::module::Instruction;
use assay_spirv::reflect::{Shape, Usage};
use assay_spirv::tables::{Decoration, Kind, Op};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A store into a buffer, of which the address is recorded.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// Its first word in the module.
    pub(super) at: usize,
    /// Word in the row: when it was executed, or 0.
    executed: u32,
    /// The buffer.
    slot: Slot,
    indices: Vec<Step>,
    /// The id of what is stored.
    value: u32,
}

/// An index of an access chain.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Constant(u64),
    /// An id, and the word where it is recorded.
    Recorded(u32, u32),
}

/// Who wrote an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The invocation, counted through the dispatch.
    pub invocation: u64,
    /// The id of the value that it stored.
    pub value: u32,
    /// When, in the invocation.
    pub(super) time: u64,
}

/// The stores of an entry point's functions into buffers, recorded from word `next` on; and the first word after them.
pub(super) fn find(module: &Module, usage: &Usage, mut next: u32) -> (Vec<Store>, u32) {
    let mut stores = Vec::new();
    for function in &usage.functions {
        let Some(function) = module.functions().get(*function) else { continue };
        for i in module.instructions_in(function.instructions.clone()).filter(|i| i.op == Some(Op::Store)) {
            stores.extend(store(module, &i, &mut next));
        }
    }
    (stores, next)
}

fn store(module: &Module, i: &Instruction<'_>, next: &mut u32) -> Option<Store> {
    let [pointer, value, ..] = *i.operands() else { return None };
    let (base, ids) = root(module, pointer)?;
    let slot = slot_of(module, base)?;
    let executed = *next;
    let mut words = 1;
    let indices = Step::all(module, &ids, || {
        words += 1;
        executed + words - 1
    })?;
    *next += words;
    Some(Store { at: i.at, executed, slot, indices, value })
}

/// The variable that a pointer leads into, and the ids of the indices on the way.
pub(crate) fn root(module: &Module, pointer: u32) -> Option<(u32, Vec<u32>)> {
    let mut ids = Vec::new();
    let mut base = pointer;
    loop {
        let definition = module.definition_of_word(base)?;
        match definition.op? {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let (first, indices) = definition.operands().split_first()?;
                ids.splice(0..0, indices.iter().copied());
                base = *first;
            }
            Op::Variable => return Some((base, ids)),
            _ => return None,
        }
    }
}

/// Where a variable is bound.
pub(crate) fn slot_of(module: &Module, variable: u32) -> Option<Slot> {
    let decoration = |wanted| {
        let mut all = module.decorations(variable);
        all.find(|d| d.decoration == Some(wanted)).and_then(|d| d.operands.first().copied())
    };
    Some(Slot::new(decoration(Decoration::DescriptorSet)?, decoration(Decoration::Binding)?))
}

impl Step {
    /// Of the indices with these ids, each that is no constant recorded at the word that `next` gives; `None` if one is not of
    /// 32 bits.
    pub(super) fn all(module: &Module, ids: &[u32], mut next: impl FnMut() -> u32) -> Option<Vec<Step>> {
        let step = |&id: &u32| match module.constant_int(id).and_then(|n| u64::try_from(n).ok()) {
            Some(number) => Some(Step::Constant(number)),
            None => {
                Plain::of_value(module, id).filter(|plain| plain.width == 32 && plain.count == 1)?;
                Some(Step::Recorded(id, next()))
            }
        };
        ids.iter().map(step).collect()
    }

    /// Code that records it.
    pub(super) fn record(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, recorder: &Recorder, from: u32) {
        let Step::Recorded(id, offset) = self else { return };
        let Some(form) = Form::of_value(editor.module(), *id) else { return };
        for word in as_words(editor, code, *id, &form) {
            recorder.word(editor, code, from, *offset, word);
        }
    }

    /// The index, of which the recorded word is `word`.
    pub(super) fn index(&self, word: impl Fn(u32) -> u64) -> u64 {
        match self {
            Step::Constant(number) => *number,
            Step::Recorded(_, at) => word(*at),
        }
    }
}

impl Store {
    /// Puts code behind it that records it.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: Here) {
        let mut code = Vec::new();
        recorder.word(editor, &mut code, here.row, self.executed, here.time);
        self.indices.iter().for_each(|step| step.record(editor, &mut code, recorder, here.row));
        editor.after(self.at, &code);
    }
}

impl Reading<'_> {
    /// Who wrote the element at an offset of a buffer, as far as the records say: of an invocation, the last time.
    pub fn writer(&self, slot: Slot, offset: u64) -> Option<Writer> {
        let block = self.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?.block.as_ref()?;
        let rows = &self.traced.rows;
        let writes = |store: &Store, row: u64| {
            let indices = store.indices.iter().map(|step| step.index(|at| self.word(row, at)));
            place(block, indices).is_some_and(|(start, part)| (start..start + part.size()).contains(&offset))
        };
        self.traced.stores.iter().filter(|store| store.slot == slot).find_map(|store| {
            let first = self.executed(0..rows.count(), store.executed).find(|row| writes(store, *row))?;
            let invocation = rows.invocation(first);
            let all = self.executed(rows.of(invocation), store.executed).filter(|row| writes(store, *row));
            let time = all.map(|row| self.word(row, store.executed)).max()?;
            Some(Writer { invocation, value: store.value, time })
        })
    }
}

/// Where a part of a value is: its offset, and what it is; `None` beyond a matrix, and of what does not lie together.
pub(super) fn place(shape: &Shape, mut indices: impl Iterator<Item = u64>) -> Option<(u64, Cow<'_, Shape>)> {
    let Some(index) = indices.next() else { return Some((0, Cow::Borrowed(shape))) };
    let (start, part) = match shape {
        Shape::Struct { members, .. } => {
            let member = members.get(usize::try_from(index).ok()?)?;
            (u64::from(member.offset?), &*member.shape)
        }
        Shape::Array { element, stride, .. } => {
            (stride.map_or(element.size(), u64::from).checked_mul(index)?, &**element)
        }
        Shape::Vector { component, .. } => (component.size() * index, &**component),
        Shape::Matrix { component, columns, rows, stride, row_major } => {
            let row = indices.next();
            if index >= u64::from(*columns) || row.is_some_and(|row| row >= u64::from(*rows)) {
                return None;
            }
            let length = if *row_major { *columns } else { *rows };
            let stride = stride.map_or(component.size() * u64::from(length), u64::from);
            return match (row, *row_major) {
                (Some(row), true) => Some((row * stride + index * component.size(), Cow::Borrowed(&**component))),
                (Some(row), false) => Some((index * stride + row * component.size(), Cow::Borrowed(&**component))),
                (None, false) => {
                    let column = Shape::Vector { component: component.clone(), count: *rows };
                    Some((index * stride, Cow::Owned(column)))
                }
                (None, true) => None,
            };
        }
        Shape::Bool | Shape::Int { .. } | Shape::Float { .. } | Shape::Pointer { .. } | Shape::Opaque => return None,
    };
    let (inner, part) = place(part, indices)?;
    Some((start + inner, part))
}

/// The ids that a value depends on, itself included: through results, not through memory.
pub(super) fn slice(module: &Module, value: u32) -> BTreeSet<u32> {
    let (mut slice, mut waiting) = (BTreeSet::new(), vec![value]);
    while let Some(id) = waiting.pop() {
        let Some(definition) = module.definition_of_word(id) else { continue };
        if module.function_at(definition.index).is_none() || !slice.insert(id) {
            continue;
        }
        if definition.op == Some(Op::Load) {
            // What was stored there, by whoever stores there in this function: private and function variables.
            let pointer = definition.operand(0);
            let stores = module.instructions().filter(|i| i.op == Some(Op::Store) && i.operand(0) == pointer);
            waiting.extend(stores.filter_map(|i| i.operand(1)));
        }
        if definition.op == Some(Op::FunctionCall) {
            let called = definition.operand(0).and_then(|id| module.function(id));
            let body = called.into_iter().flat_map(|f| module.instructions_in(f.instructions.clone()));
            waiting.extend(body.filter(|i| i.op == Some(Op::ReturnValue)).filter_map(|i| i.operand(0)));
        }
        let _newer = module.operands(definition, |operand| {
            if operand.kind == Kind::IdRef {
                waiting.push(definition.words[operand.at]);
            }
        });
    }
    slice
}
