//! Re-evaluation of one recorded instruction.
//!
//! [`permitted_results`] builds a module that loads the recorded operands, executes the instruction
//! alone and stores its result, and has the oracle compute the permitted set for each row.

use super::emit::{extract_scalars, from_words, invocation_offset};
use super::probes::Probe;
use super::{InstrumentedModule, TraceReader, free_slot};
use crate::DispatchSetup;
use crate::compare::Permitted;
use crate::invocation_choice::{DispatchShape, product};
use assay_oracle::{Buffer, Copies, Dispatch, Limits, Memory, Resource, SubgroupLayout};
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, instruction};
use assay_spirv::module::InstructionIndex;
use assay_spirv::reflect::static_uses;
use assay_spirv::tables::{Decoration, Op, StorageClass};
use std::collections::BTreeSet;

/// Bytes from one scalar of a result to the next, whatever its width.
const SCALAR_STRIDE: u32 = 8;

/// Permitted results of every recorded execution of an instruction, for its recorded operands.
pub(super) struct PermittedResults {
    /// The results by row and scalar.
    memory: Memory,
    /// Width of each scalar of a result in bits.
    widths: Vec<u32>,
    /// Number of rows that one result stands for.
    rows_per_result: u32,
    /// Invocations of subgroups in which some did not execute the instruction. Their tangle is not
    /// known.
    incomplete: BTreeSet<u64>,
    /// Interpreted workgroups; `None` for all.
    only: Option<BTreeSet<u64>>,
    /// Invocations of a workgroup.
    local: u64,
}

impl PermittedResults {
    /// Returns the permitted set of a scalar of the result in a row; `None` if it is not known.
    pub(super) fn permitted(&self, row: u64, scalar: usize) -> Option<Permitted<'_>> {
        let invocation = row / u64::from(self.rows_per_result);
        let is_interpreted = self.only.as_ref().is_none_or(|only| only.contains(&(invocation / self.local)));
        if !is_interpreted || self.incomplete.contains(&invocation) {
            return None;
        }
        let place = invocation * self.widths.len() as u64 + scalar as u64;
        Permitted::of(&self.memory, place * u64::from(SCALAR_STRIDE), *self.widths.get(scalar)?)
    }
}

/// Computes the permitted results of about this number of rows, in whole workgroups; `None` if the
/// oracle cannot.
pub(super) fn permitted_results(reader: &TraceReader<'_>, probe: &Probe, rows: u64) -> Option<PermittedResults> {
    let &TraceReader { instrumented, module, setup, dispatch, recorded, .. } = reader;
    // One invocation for each row. For subgroup operations one for each invocation, so that
    // subgroups are as in the shader.
    let (rows_per_result, layout) = if probe.across_subgroup {
        (instrumented.rows.rows_each, reader.subgroup_layout()?)
    } else {
        (1, SubgroupLayout::Unknown)
    };
    let incomplete = if probe.across_subgroup { reader.incomplete_subgroups(probe, &layout) } else { BTreeSet::new() };
    let parsed = Module::parse(isolated_module(module, setup, instrumented, probe, rows_per_result)?).ok()?;
    let program = setup.program(&parsed).ok()?;
    let slot = free_slot(&setup.descriptors, 1);
    let widths: Vec<u32> = probe.result.layout.scalars.iter().map(|part| part.scalar().width()).collect();
    let bytes = instrumented.rows.count() / u64::from(rows_per_result) * widths.len() as u64 * u64::from(SCALAR_STRIDE);
    let given = Buffer { data: recorded.to_vec(), address: None };
    let out = Buffer { data: vec![0; bytes as usize], address: None };
    // Images hold their initial contents, because the shader does not write those that the
    // instruction reads.
    let mut bindings = dispatch.bindings.clone();
    bindings.retain(|_, resource| !probe.handles.is_empty() && !matches!(resource, Resource::Buffer(_)));
    bindings.extend([(instrumented.descriptor.slot, Resource::Buffer(given)), (slot, Resource::Buffer(out))]);
    let [x, y, z] = dispatch.groups;
    let groups = [x, y, z.saturating_mul(instrumented.rows.rows_each / rows_per_result)];
    let local = product(setup.local);
    let only = DispatchShape { groups: product(groups), local, is_divisible: false }.choose(rows, setup.seed());
    // What only the letter of the text permits is a doubt, here as for the output.
    let op = module.instruction(InstructionIndex(probe.index)).op;
    let copies = if op.is_some_and(preserves_bits) { Copies::Assume } else { dispatch.copies };
    let dispatch = Dispatch { bindings, groups, layout, copies, only: only.clone(), ..dispatch.clone() };
    let mut outcome = program.run(&dispatch, &Limits::default()).ok()?;
    if outcome.fault_count > 0 {
        return None;
    }
    let only = only.map(|only| only.workgroups.into_iter().collect());
    Some(PermittedResults { memory: outcome.memory.remove(&slot)?, widths, rows_per_result, incomplete, only, local })
}

/// Returns true for instructions that copy their operands, whole or in part ([`Copies`]).
fn preserves_bits(op: Op) -> bool {
    matches!(
        op,
        Op::Select
            | Op::Bitcast
            | Op::CopyObject
            | Op::CopyLogical
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::VectorShuffle
            | Op::Transpose
            | Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformBroadcastFirst
            | Op::GroupNonUniformShuffle
            | Op::GroupNonUniformShuffleXor
            | Op::GroupNonUniformShuffleUp
            | Op::GroupNonUniformShuffleDown
            | Op::GroupNonUniformRotateKHR
            | Op::GroupNonUniformQuadBroadcast
            | Op::GroupNonUniformQuadSwap
    )
}

/// Builds a module that loads the operands of one instruction from the records, executes it in the
/// environment of the shader, and stores the result. Each invocation takes the first of
/// `rows_per_result` rows.
fn isolated_module(
    module: &Module,
    setup: &DispatchSetup,
    instrumented: &InstrumentedModule,
    probe: &Probe,
    rows_per_result: u32,
) -> Option<Vec<u32>> {
    let usage = static_uses(module).into_iter().find(|u| u.name == setup.entry)?;
    let mut editor = Editor::new(module);
    let (uint, bool) = (editor.uint(32), editor.bool());
    let slot = instrumented.descriptor.slot;
    let input = editor.storage_array(uint, 4, slot.set, slot.binding);
    editor.annotate(Op::Decorate, &[input, Decoration::NonWritable.word()]);
    // Booleans are stored as words.
    let parts = &probe.result.layout.scalars;
    let stored = |kind: ComponentKind, ty: u32| if kind == ComponentKind::Bool { uint } else { ty };
    let members: Vec<u32> = parts.iter().map(|part| stored(part.plain.kind, part.plain.ty)).collect();
    let element = editor.declare(Op::TypeStruct, &members);
    for (member, offset) in (0..members.len() as u32).zip((0..).step_by(SCALAR_STRIDE as usize)) {
        editor.annotate(Op::MemberDecorate, &[element, member, Decoration::Offset.word(), offset]);
    }
    let out_slot = free_slot(&setup.descriptors, 1);
    let output = editor.storage_array(element, SCALAR_STRIDE * members.len() as u32, out_slot.set, out_slot.binding);
    let (place, inputs) = invocation_offset(&mut editor, setup, 1);
    editor.add_to_interface(usage.function, &inputs, &[input, output]);
    let pointer = editor.pointer(StorageClass::StorageBuffer, uint);
    let declared = module.function(usage.function)?.instructions.start;
    let declaration = module.instruction(InstructionIndex(declared));
    let mut code = declaration.words.to_vec();
    let [entry, then, merge, base] = std::array::from_fn(|_| editor.id());
    code.extend(instruction(Op::Label, &[entry]));
    code.extend(place.code);
    let stride = editor.constant(uint, 32, (instrumented.rows.stride * rows_per_result).into());
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
    let executed = load(&mut editor, &mut code, probe.executed);
    let was = editor.id();
    code.extend(instruction(Op::INotEqual, &[bool, was, executed, zero]));
    code.extend(instruction(Op::SelectionMerge, &[merge, 0]));
    code.extend(instruction(Op::BranchConditional, &[was, then, merge]));
    code.extend(instruction(Op::Label, &[then]));
    for operand in &probe.operands {
        let words: Vec<u32> =
            (0..operand.layout.words()).map(|i| load(&mut editor, &mut code, operand.word + i)).collect();
        from_words(&mut editor, &mut code, &words, operand.id, &operand.layout);
    }
    for id in &probe.handles {
        code.extend_from_slice(module.definition_of(*id)?.words);
    }
    let i = module.instruction(InstructionIndex(probe.index));
    code.extend_from_slice(i.words);
    probe.forbid_contraction(&mut editor);
    let scalars = extract_scalars(&mut editor, &mut code, probe.result.id, &probe.result.layout);
    for (member, (plain, mut value)) in (0..).zip(scalars) {
        if plain.kind == ComponentKind::Bool {
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
    // Decorations of ids that are not in the module are dropped.
    let defined = |id: u32| {
        let global = module.definition_of(id).is_some_and(|d| module.function_at(d.index).is_none());
        global || id == probe.result.id || id == usage.function || probe.handles.contains(&id)
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
