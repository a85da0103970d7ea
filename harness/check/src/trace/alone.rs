//! One instruction on its own.

use super::code::{from_words, position, taken_apart};
use super::records::Record;
use super::{Reading, Traced, free_slot};
use crate::Setup;
use crate::verdict::Permitted;
use assay_oracle::{Buffer, Dispatch, Layout, Limits, Memory, Resource};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, PlainKind, instruction};
use assay_spirv::module::Index;
use assay_spirv::reflect::usages;
use assay_spirv::tables::{Decoration, Op, StorageClass};
use std::collections::BTreeSet;

/// Bytes from one scalar of a result to the next, of whatever width they are.
const SCALAR: u32 = 8;

/// What is permitted for every recorded execution of an instruction, given the operands that it had.
pub(super) struct Judged {
    /// The results, row by row, scalar by scalar.
    memory: Memory,
    /// Bits of each scalar of a result.
    widths: Vec<u32>,
    /// Of so many rows one is judged.
    each: u32,
    /// Invocations of which others of their subgroup did not come by: who was together is not certain.
    apart: BTreeSet<u64>,
}

impl Judged {
    /// For a scalar of the result in a row; `None` if that cannot be told.
    pub(super) fn permitted(&self, row: u64, scalar: usize) -> Option<Permitted<'_>> {
        if self.apart.contains(&(row / u64::from(self.each))) {
            return None;
        }
        let place = row / u64::from(self.each) * self.widths.len() as u64 + scalar as u64;
        Permitted::of(&self.memory, place * u64::from(SCALAR), *self.widths.get(scalar)?)
    }
}

/// Asks the oracle; `None` where it has no answer.
pub(super) fn judge(reading: &Reading<'_>, record: &Record) -> Option<Judged> {
    let &Reading { traced, module, setup, dispatch, recorded, .. } = reading;
    // An invocation for each row; of what those of a subgroup do together, for each of them.
    let (each, layout) = if record.between { (traced.rows.each, reading.layout()?) } else { (1, Layout::Unknown) };
    let apart = if record.between { reading.apart(record, &layout) } else { BTreeSet::new() };
    let parsed = Module::parse(alone(module, setup, traced, record, each)?).ok()?;
    let program = setup.program(&parsed).ok()?;
    let slot = free_slot(&setup.descriptors, 1);
    let widths: Vec<u32> = record.result.form.parts.iter().map(|part| part.scalar().width()).collect();
    let bytes = traced.rows.count() / u64::from(each) * widths.len() as u64 * u64::from(SCALAR);
    let given = Buffer { data: recorded.to_vec(), address: None };
    let out = Buffer { data: vec![0; bytes as usize], address: None };
    // Images are as they were: it writes none of those that it reads.
    let mut bindings = dispatch.bindings.clone();
    bindings.retain(|_, resource| !record.handles.is_empty() && !matches!(resource, Resource::Buffer(_)));
    bindings.extend([(traced.descriptor.slot, Resource::Buffer(given)), (slot, Resource::Buffer(out))]);
    let [x, y, z] = dispatch.groups;
    let groups = [x, y, z.saturating_mul(traced.rows.each / each)];
    let dispatch = Dispatch { bindings, groups, layout, ..dispatch.clone() };
    let mut outcome = program.run(&dispatch, &Limits::default()).ok()?;
    if outcome.fault_count > 0 {
        return None;
    }
    Some(Judged { memory: outcome.memory.remove(&slot)?, widths, each, apart })
}

/// A module that loads the operands of one instruction from the records, does it and stores its result: in the
/// environment of the shader. Its invocations take one row of `each`.
fn alone(module: &Module, setup: &Setup, traced: &Traced, record: &Record, each: u32) -> Option<Vec<u32>> {
    let usage = usages(module).into_iter().find(|u| u.name == setup.entry)?;
    let mut editor = Editor::new(module);
    let (uint, bool) = (editor.uint(32), editor.bool());
    let slot = traced.descriptor.slot;
    let input = editor.storage_array(uint, 4, slot.set, slot.binding);
    // Of booleans words are left.
    let parts = &record.result.form.parts;
    let stored = |kind: PlainKind, ty: u32| if kind == PlainKind::Bool { uint } else { ty };
    let members: Vec<u32> = parts.iter().map(|part| stored(part.plain.kind, part.plain.ty)).collect();
    let element = editor.declare(Op::TypeStruct, &members);
    for (member, offset) in (0..members.len() as u32).zip((0..).step_by(SCALAR as usize)) {
        editor.annotate(Op::MemberDecorate, &[element, member, Decoration::Offset.word(), offset]);
    }
    let out_slot = free_slot(&setup.descriptors, 1);
    let output = editor.storage_array(element, SCALAR * members.len() as u32, out_slot.set, out_slot.binding);
    let (place, inputs) = position(&mut editor, setup, 1);
    editor.add_to_interface(usage.function, &inputs, &[input, output]);
    let pointer = editor.pointer(StorageClass::StorageBuffer, uint);
    let declared = module.function(usage.function)?.instructions.start;
    let declaration = module.instruction(Index(declared));
    let mut code = declaration.words.to_vec();
    let [entry, then, merge, base] = std::array::from_fn(|_| editor.id());
    code.extend(instruction(Op::Label, &[entry]));
    code.extend(place.code);
    let stride = editor.constant(uint, 32, (traced.rows.stride * each).into());
    code.extend(instruction(Op::IMul, &[uint, base, place.result, stride]));
    let zero = editor.constant(uint, 32, 0);
    let load = |editor: &mut Editor<'_>, code: &mut Vec<u32>, offset: u32| {
        let [at, chain, word] = std::array::from_fn(|_| editor.id());
        let offset = editor.constant(uint, 32, offset.into());
        code.extend(instruction(Op::IAdd, &[uint, at, base, offset]));
        code.extend(instruction(Op::AccessChain, &[pointer, chain, input, zero, at]));
        code.extend(instruction(Op::Load, &[uint, word, chain]));
        word
    };
    let executed = load(&mut editor, &mut code, record.executed);
    let was = editor.id();
    code.extend(instruction(Op::INotEqual, &[bool, was, executed, zero]));
    code.extend(instruction(Op::SelectionMerge, &[merge, 0]));
    code.extend(instruction(Op::BranchConditional, &[was, then, merge]));
    code.extend(instruction(Op::Label, &[then]));
    for operand in &record.operands {
        let words: Vec<u32> =
            (0..operand.form.words()).map(|i| load(&mut editor, &mut code, operand.word + i)).collect();
        from_words(&mut editor, &mut code, &words, operand.id, &operand.form);
    }
    for id in &record.handles {
        code.extend_from_slice(module.definition_of_word(*id)?.words);
    }
    let i = module.instruction(Index(record.index));
    code.extend_from_slice(i.words);
    record.forbid_contraction(&mut editor);
    let scalars = taken_apart(&mut editor, &mut code, record.result.id, &record.result.form);
    for (member, (plain, mut value)) in (0..).zip(scalars) {
        if plain.kind == PlainKind::Bool {
            let (word, one) = (editor.id(), editor.constant(uint, 32, 1));
            code.extend(instruction(Op::Select, &[uint, word, value, one, zero]));
            value = word;
        }
        let (ty, member, chain) = (stored(plain.kind, plain.ty), editor.constant(uint, 32, member), editor.id());
        let pointer = editor.pointer(StorageClass::StorageBuffer, ty);
        code.extend(instruction(Op::AccessChain, &[pointer, chain, output, zero, place.result, member]));
        code.extend(instruction(Op::Store, &[chain, value]));
    }
    code.extend(instruction(Op::Branch, &[merge]));
    code.extend(instruction(Op::Label, &[merge]));
    code.extend(instruction(Op::Return, &[]));
    code.extend(instruction(Op::FunctionEnd, &[]));
    // What is said of ids that are gone would be said of nothing.
    let defined = |id: u32| {
        let global = module.definition_of_word(id).is_some_and(|d| module.function_at(d.index).is_none());
        global || id == record.result.id || id == usage.function || record.handles.contains(&id)
    };
    Some(editor.finish_with(&code, |i| match i.op {
        Some(Op::Name | Op::MemberName | Op::Line | Op::NoLine) => false,
        Some(Op::EntryPoint) => i.operand(1) == Some(usage.function),
        Some(Op::ExecutionMode | Op::ExecutionModeId | Op::Decorate | Op::DecorateId | Op::MemberDecorate) => {
            let target = i.operand(0).unwrap_or(0);
            let of_entry = matches!(i.op, Some(Op::ExecutionMode | Op::ExecutionModeId));
            if of_entry { target == usage.function } else { defined(target) }
        }
        _ => true,
    }))
}
