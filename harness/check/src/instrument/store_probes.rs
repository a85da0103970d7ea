//! Probes of stores: the invocation that wrote an element, and the instructions that the written
//! value depends on.

use super::TraceReader;
use super::emit::{Recorder, to_words};
use super::record_layout::RecordPosition;
use super::recorded_value::ValueLayout;
use crate::base_variable::{base_variable, slot_of};
use assay_exec::Descriptor;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, ScalarOrVector};
use assay_spirv::module::Instruction;
use assay_spirv::reflect::{EntryPointUses, TypeLayout};
use assay_spirv::tables::{Kind, Op};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Probe of a store into a buffer.
#[derive(Clone, Debug)]
pub(super) struct StoreProbe {
    /// Word offset of the instruction in the module.
    pub(super) at: usize,
    /// Word of the row that holds the time of execution, or 0.
    executed: u32,
    /// Binding of the buffer.
    slot: Slot,
    indices: Vec<AccessIndex>,
    /// Id of the stored value.
    value: u32,
}

/// An index of an access chain.
#[derive(Clone, Debug)]
pub(super) enum AccessIndex {
    Constant(u64),
    /// Id of the index, and the word of the row where it is recorded.
    Recorded(u32, u32),
}

/// The store that wrote an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementStore {
    /// Index of the invocation in the dispatch.
    pub invocation: u64,
    /// Id of the stored value.
    pub value: u32,
    /// Time in the invocation.
    pub(super) time: u64,
}

/// Returns the probes of an entry point's stores into buffers, whose words start at `next`, and the
/// first word after them.
pub(super) fn find(module: &Module, usage: &EntryPointUses, mut next: u32) -> (Vec<StoreProbe>, u32) {
    let mut stores = Vec::new();
    for function in &usage.functions {
        let Some(function) = module.functions().get(*function) else { continue };
        for i in module.instructions_in(function.instructions.clone()).filter(|i| i.op == Some(Op::Store)) {
            stores.extend(store(module, &i, &mut next));
        }
    }
    (stores, next)
}

fn store(module: &Module, i: &Instruction<'_>, next: &mut u32) -> Option<StoreProbe> {
    let [pointer, value, ..] = *i.operands() else { return None };
    let (base, ids) = base_variable(module, pointer)?;
    let slot = slot_of(module, base)?;
    let executed = *next;
    let mut words = 1;
    let indices = AccessIndex::all(module, &ids, || {
        words += 1;
        executed + words - 1
    })?;
    *next += words;
    Some(StoreProbe { at: i.at, executed, slot, indices, value })
}

impl AccessIndex {
    /// Converts the indices with these ids. An index that is not a constant is recorded at the word
    /// that `next` returns. Returns `None` if such an index is not a 32-bit integer.
    pub(super) fn all(module: &Module, ids: &[u32], mut next: impl FnMut() -> u32) -> Option<Vec<AccessIndex>> {
        let index = |&id: &u32| match module.constant_int(id).and_then(|n| u64::try_from(n).ok()) {
            Some(number) => Some(AccessIndex::Constant(number)),
            None => {
                ScalarOrVector::of_value(module, id).filter(|plain| plain.width == 32 && plain.count == 1)?;
                Some(AccessIndex::Recorded(id, next()))
            }
        };
        ids.iter().map(index).collect()
    }

    /// Emits code that records the index.
    pub(super) fn record(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, recorder: &Recorder, from: u32) {
        let AccessIndex::Recorded(id, offset) = self else { return };
        let Some(layout) = ValueLayout::of_value(editor.module(), *id) else { return };
        for word in to_words(editor, code, *id, &layout) {
            recorder.word(editor, code, from, *offset, word);
        }
    }

    /// Returns the index; `word` reads a word of the row.
    pub(super) fn value(&self, word: impl Fn(u32) -> u64) -> u64 {
        match self {
            AccessIndex::Constant(number) => *number,
            AccessIndex::Recorded(_, at) => word(*at),
        }
    }
}

impl StoreProbe {
    /// Inserts code after the store that records it.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: RecordPosition) {
        let mut code = Vec::new();
        recorder.word(editor, &mut code, here.row, self.executed, here.time);
        self.indices.iter().for_each(|index| index.record(editor, &mut code, recorder, here.row));
        editor.insert_after(self.at, &code);
    }
}

impl TraceReader<'_> {
    /// Returns the last store to the element at this offset of a buffer, in the first invocation
    /// for which one is recorded. The time of a store is that of its block, so ties are broken by
    /// the place in the module.
    pub fn store_of(&self, slot: Slot, offset: u64) -> Option<ElementStore> {
        let block = self.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?.block.as_ref()?;
        let rows = &self.instrumented.rows;
        let writes = |store: &StoreProbe, row: u64| {
            let indices = store.indices.iter().map(|index| index.value(|at| self.word(row, at)));
            locate(block, indices).is_some_and(|(start, part)| (start..start + part.size()).contains(&offset))
        };
        let executions = self.instrumented.stores.iter().filter(|store| store.slot == slot).flat_map(|store| {
            self.executed(0..rows.count(), store.executed).filter(move |row| writes(store, *row)).map(move |row| {
                let time = self.word(row, store.executed);
                ElementStore { invocation: rows.invocation(row), value: store.value, time }
            })
        });
        executions.max_by_key(|store| (Reverse(store.invocation), store.time))
    }
}

/// Returns offset and shape of the part that the indices select; `None` if an index exceeds a
/// matrix, or the part is not contiguous.
pub(super) fn locate(shape: &TypeLayout, mut indices: impl Iterator<Item = u64>) -> Option<(u64, Cow<'_, TypeLayout>)> {
    let Some(index) = indices.next() else { return Some((0, Cow::Borrowed(shape))) };
    let (start, part) = match shape {
        TypeLayout::Struct { members, .. } => {
            let member = members.get(usize::try_from(index).ok()?)?;
            (u64::from(member.offset?), &*member.shape)
        }
        TypeLayout::Array { element, stride, .. } => {
            (stride.map_or(element.size(), u64::from).checked_mul(index)?, &**element)
        }
        TypeLayout::Vector { component, .. } => (component.size() * index, &**component),
        TypeLayout::Matrix { component, columns, rows, stride, row_major } => {
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
                    let column = TypeLayout::Vector { component: component.clone(), count: *rows };
                    Some((index * stride, Cow::Owned(column)))
                }
                (None, true) => None,
            };
        }
        TypeLayout::Bool
        | TypeLayout::Int { .. }
        | TypeLayout::Float { .. }
        | TypeLayout::Pointer { .. }
        | TypeLayout::Opaque => return None,
    };
    let (inner, part) = locate(part, indices)?;
    Some((start + inner, part))
}

/// Returns the ids that a value depends on, including itself: a backward slice through operands,
/// return values, and loads.
pub(super) fn slice(module: &Module, value: u32) -> BTreeSet<u32> {
    let (mut slice, mut waiting) = (BTreeSet::new(), vec![value]);
    while let Some(id) = waiting.pop() {
        let Some(definition) = module.definition_of(id) else { continue };
        if module.function_at(definition.index).is_none() || !slice.insert(id) {
            continue;
        }
        if definition.op == Some(Op::Load) {
            // A load depends on all stores through the same pointer id, whatever their order.
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
