//! One instruction on its own.

use super::code::{from_words, position, words_of};
use super::records::{Record, may_contract};
use super::{Reading, Traced, free_slot};
use crate::Setup;
use assay_oracle::{Buffer, Dispatch, Limits, Memory, Program, Resource};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, PlainKind, instruction};
use assay_spirv::module::Index;
use assay_spirv::reflect::usages;
use assay_spirv::tables::{Decoration, Op, StorageClass};
use std::collections::BTreeMap;

/// What is permitted for every recorded execution of an instruction, given the operands that it had.
pub(super) struct Judged {
    /// The results, row by row, component by component.
    pub(super) memory: Memory,
    /// Bits of a component there.
    pub(super) element: u32,
}

/// Asks the oracle; `None` where it has no answer.
pub(super) fn judge(reading: &Reading<'_>, record: &Record) -> Option<Judged> {
    let &Reading { traced, module, setup, dispatch, recorded, .. } = reading;
    let (_, plain, _) = record.result;
    let Alone { words, element } = alone(module, setup, traced, record)?;
    let parsed = Module::parse(words).ok()?;
    let program = Program::under(setup.rules, &parsed, &setup.entry, &crate::setup::spec_values(&setup.specs)).ok()?;
    let slot = free_slot(&setup.descriptors, 1);
    let bytes = traced.rows.count() * u64::from(plain.count) * u64::from(element / 8);
    let given = Buffer { data: recorded.to_vec(), address: None };
    let out = Buffer { data: vec![0; bytes as usize], address: None };
    let bindings = [(traced.descriptor.slot, Resource::Buffer(given)), (slot, Resource::Buffer(out))];
    // An invocation for each row.
    let [x, y, z] = dispatch.groups;
    let groups = [x, y, z.saturating_mul(traced.rows.each)];
    let dispatch = Dispatch { bindings: BTreeMap::from(bindings), groups, ..dispatch.clone() };
    let mut outcome = program.run(&dispatch, &Limits::default()).ok()?;
    if outcome.fault_count > 0 {
        return None;
    }
    Some(Judged { memory: outcome.memory.remove(&slot)?, element })
}

/// A module that does one instruction.
struct Alone {
    words: Vec<u32>,
    /// Bits of an element of its output.
    element: u32,
}

/// A module that loads the operands of one instruction from the records, does it and stores its result: in the
/// environment of the shader.
fn alone(module: &Module, setup: &Setup, traced: &Traced, record: &Record) -> Option<Alone> {
    let usage = usages(module).into_iter().find(|u| u.name == setup.entry)?;
    let mut editor = Editor::new(module);
    let (uint, bool) = (editor.uint(32), editor.bool());
    let slot = traced.descriptor.slot;
    let input = editor.storage_array(uint, 4, slot.set, slot.binding);
    let (_, plain, _) = record.result;
    let is_bool = plain.kind == PlainKind::Bool;
    let (element, width) = if is_bool { (uint, 32) } else { (plain.component, plain.width) };
    let out_slot = free_slot(&setup.descriptors, 1);
    let output = editor.storage_array(element, width / 8, out_slot.set, out_slot.binding);
    let (place, inputs) = position(&mut editor, setup, 1);
    editor.add_to_interface(usage.function, &inputs, &[input, output]);
    let pointer = editor.pointer(StorageClass::StorageBuffer, uint);
    let out_pointer = editor.pointer(StorageClass::StorageBuffer, element);
    let declared = module.function(usage.function)?.instructions.start;
    let declaration = module.instruction(Index(declared));
    let mut code = declaration.words.to_vec();
    let [entry, then, merge, base] = std::array::from_fn(|_| editor.id());
    code.extend(instruction(Op::Label, &[entry]));
    code.extend(place.code);
    let stride = editor.constant(uint, 32, traced.rows.stride.into());
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
    for (value, plain, offset) in &record.operands {
        let words: Vec<u32> = (0..words_of(plain)).map(|i| load(&mut editor, &mut code, offset + i)).collect();
        from_words(&mut editor, &mut code, &words, *value, plain);
    }
    let i = module.instruction(Index(record.index));
    code.extend_from_slice(i.words);
    if may_contract(module, record) {
        editor.annotate(Op::Decorate, &[record.result.0, Decoration::NoContraction.word()]);
    }
    let count = editor.constant(uint, 32, plain.count.into());
    let first = editor.id();
    code.extend(instruction(Op::IMul, &[uint, first, place.result, count]));
    for component in 0..plain.count {
        let mut value = record.result.0;
        if plain.count > 1 {
            value = editor.id();
            let operands = [plain.component, value, record.result.0, component];
            code.extend(instruction(Op::CompositeExtract, &operands));
        }
        if is_bool {
            let (word, one) = (editor.id(), editor.constant(uint, 32, 1));
            code.extend(instruction(Op::Select, &[uint, word, value, one, zero]));
            value = word;
        }
        let (offset, at, chain) = (editor.constant(uint, 32, component.into()), editor.id(), editor.id());
        code.extend(instruction(Op::IAdd, &[uint, at, first, offset]));
        code.extend(instruction(Op::AccessChain, &[out_pointer, chain, output, zero, at]));
        code.extend(instruction(Op::Store, &[chain, value]));
    }
    code.extend(instruction(Op::Branch, &[merge]));
    code.extend(instruction(Op::Label, &[merge]));
    code.extend(instruction(Op::Return, &[]));
    code.extend(instruction(Op::FunctionEnd, &[]));
    // What is said of ids that are gone would be said of nothing.
    let defined = |id: u32| {
        let global = module.definition_of_word(id).is_some_and(|d| module.function_at(d.index).is_none());
        global || id == record.result.0 || id == usage.function
    };
    let words = editor.finish_with(&code, |i| match i.op {
        Some(Op::Name | Op::MemberName | Op::Line | Op::NoLine) => false,
        Some(Op::EntryPoint) => i.operand(1) == Some(usage.function),
        Some(Op::ExecutionMode | Op::ExecutionModeId | Op::Decorate | Op::DecorateId | Op::MemberDecorate) => {
            let target = i.operand(0).unwrap_or(0);
            let of_entry = matches!(i.op, Some(Op::ExecutionMode | Op::ExecutionModeId));
            if of_entry { target == usage.function } else { defined(target) }
        }
        _ => true,
    });
    Some(Alone { words, element: width })
}
