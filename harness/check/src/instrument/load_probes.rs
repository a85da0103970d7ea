//! Probes of loads and calls whose value is known independently.
//!
//! A load is checked if it reads a buffer that the shader does not write, a built-in that the
//! dispatch determines, or a variable with a shadow copy. A call is checked against the shadow copy
//! of the value that the function returned.

use super::TraceReader;
use super::emit::{Recorder, to_words};
use super::record_layout::RecordPosition;
use super::recorded_value::{RecordedValue, ValueLayout};
use super::shadow_copy::ShadowCopies;
use super::store_probes::{AccessIndex, locate};
use crate::DispatchSetup;
use crate::base_variable::{base_variable, slot_of};
use crate::compare::{data_of, hex};
use crate::memory_layout::walk_scalars;
use assay_events::{Blame, BlameExample};
use assay_exec::Descriptor;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, InstructionIndex, Type};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::BTreeSet;

/// A load or call whose value is recorded.
#[derive(Clone, Debug)]
pub(super) struct LoadProbe {
    /// Index of the instruction in the module.
    pub(super) index: u32,
    /// Word offset of the instruction in the module.
    pub(super) at: usize,
    /// Word of the row that holds the time of execution; 0 if it was not executed, or was out of
    /// bounds.
    executed: u32,
    /// Id of the pointer, or of the function.
    reached: u32,
    /// The result.
    value: RecordedValue,
    from: ExpectedSource,
}

/// Source of the expected value.
#[derive(Clone, Debug)]
enum ExpectedSource {
    /// Shadow copy of the variable or return value, recorded at the time of the load. The number is
    /// the first word of that record.
    ShadowCopy(u32),
    /// Contents of a buffer before the dispatch.
    Buffer(Slot, Vec<AccessIndex>),
    /// Built-in that follows from the invocation's index.
    BuiltIn(BuiltIn),
}

/// Returns the probes of the loads and calls that `wanted` selects, in the functions of an entry
/// point. Their words start at `next`. Also returns the first word after them.
pub(super) fn find(
    (module, setup): (&Module, &DispatchSetup),
    usage: &EntryPointUses,
    copies: &ShadowCopies,
    mut next: u32,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<LoadProbe>, u32) {
    let instructions = || {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        functions.flat_map(|f| module.instructions_in(f.instructions.clone()))
    };
    let written = possibly_written(module, instructions());
    let mut loads = Vec::new();
    for i in instructions().filter(|i| is_load_or_call(i.op) && i.result().is_some_and(&wanted)) {
        loads.extend(load((module, setup), &i, copies, &written, &mut next));
    }
    (loads, next)
}

/// Returns whether an instruction is a load or a call.
pub(super) fn is_load_or_call(op: Option<Op>) -> bool {
    matches!(op, Some(Op::Load | Op::FunctionCall))
}

/// Returns the bindings that an instruction other than a load uses, and which may therefore be
/// written.
fn possibly_written<'m>(module: &'m Module, instructions: impl Iterator<Item = Instruction<'m>>) -> BTreeSet<Slot> {
    let reads =
        |op| matches!(op, Some(Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::ArrayLength | Op::Variable));
    let others = instructions.filter(|i| !reads(i.op)).flat_map(|i| module.id_operands(i));
    others.filter_map(|id| slot_of(module, base_variable(module, id)?.0)).collect()
}

fn load(
    (module, setup): (&Module, &DispatchSetup),
    i: &Instruction<'_>,
    copies: &ShadowCopies,
    written: &BTreeSet<Slot>,
    next: &mut u32,
) -> Option<LoadProbe> {
    let (id, reached) = (i.result()?, i.operand(0)?);
    let layout = ValueLayout::of_value(module, id)?;
    let mut end = *next;
    let mut room = |words: u32| {
        end += words;
        end - words
    };
    let executed = room(1);
    let value = RecordedValue { id, word: room(layout.words()), layout };
    let from = if copies.part(module, reached).is_some() {
        ExpectedSource::ShadowCopy(room(value.layout.words()))
    } else {
        let (variable, ids) = base_variable(module, reached)?;
        match built_in(module, variable).filter(|_| ids.is_empty()) {
            Some(built_in) => ExpectedSource::BuiltIn(built_in),
            None => {
                let slot = slot_of(module, variable).filter(|slot| !written.contains(slot))?;
                let (class, pointee) = module.pointer(module.type_of(variable)?)?;
                let buffer = [StorageClass::Uniform, StorageClass::StorageBuffer].contains(&class);
                matches!(module.ty(pointee.filter(|_| buffer)?), Type::Struct { .. }).then_some(())?;
                let indices = AccessIndex::all(module, &ids, || room(1))?;
                // Parts that are not contiguous in memory are not followed.
                let block = setup.descriptors.iter().find(|d| d.slot == slot)?.block.as_ref()?;
                locate(block, indices.iter().map(|index| index.value(|_| 0)))?;
                ExpectedSource::Buffer(slot, indices)
            }
        }
    };
    *next = end;
    Some(LoadProbe { index: i.index.0, at: i.at, executed, reached, value, from })
}

/// Returns the built-in of an input variable, if the dispatch determines its value.
fn built_in(module: &Module, variable: u32) -> Option<BuiltIn> {
    let mut decorations = module.decorations(variable).filter(|d| d.decoration == Some(Decoration::BuiltIn));
    let which = decorations.find_map(|d| BuiltIn::from_word(*d.operands.first()?))?;
    let known = matches!(
        which,
        BuiltIn::LocalInvocationId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::GlobalInvocationId
            | BuiltIn::WorkgroupId
            | BuiltIn::NumWorkgroups
    );
    known.then_some(which)
}

/// Returns the value of a built-in for an invocation, numbered as in
/// [`super::emit::invocation_offset`]. A scalar is repeated in all components.
fn built_in_value(which: BuiltIn, setup: &DispatchSetup, invocation: u64) -> [u64; 3] {
    let along = |mut index: u64, sides: [u32; 3]| {
        sides.map(|side| {
            let at = index % u64::from(side.max(1));
            index /= u64::from(side.max(1));
            at
        })
    };
    let size = setup.local.iter().map(|&side| u64::from(side)).product::<u64>().max(1);
    let (local, group) = (along(invocation % size, setup.local), along(invocation / size, setup.groups));
    match which {
        BuiltIn::LocalInvocationId => local,
        BuiltIn::LocalInvocationIndex => [invocation % size; 3],
        BuiltIn::WorkgroupId => group,
        BuiltIn::NumWorkgroups => setup.groups.map(u64::from),
        _ => std::array::from_fn(|axis| group[axis] * u64::from(setup.local[axis]) + local[axis]),
    }
}

impl LoadProbe {
    /// Inserts code after the instruction that records its result.
    pub(super) fn record(
        &self,
        editor: &mut Editor<'_>,
        recorder: &Recorder,
        copies: &ShadowCopies,
        here: RecordPosition,
    ) {
        let mut code = Vec::new();
        let mut executed = here.time;
        let words = to_words(editor, &mut code, self.value.id, &self.value.layout);
        let mut all: Vec<(u32, u32)> = (self.value.word..).zip(words).collect();
        match &self.from {
            ExpectedSource::ShadowCopy(first) => {
                let Some(part) = copies.part(editor.module(), self.reached) else { return };
                let (words, inside) = part.load(editor, &mut code, recorder, here.base);
                all.extend((*first..).zip(words));
                // Out of bounds the expected value is not known, so the load counts as not
                // executed.
                if let Some(inside) = inside {
                    part.record_out_of_bounds(editor, &mut code, recorder, (here, self.index), inside);
                    let zero = editor.constant(recorder.uint, 32, 0);
                    executed = editor.id();
                    code.extend(instruction(Op::Select, &[recorder.uint, executed, inside, here.time, zero]));
                }
            }
            ExpectedSource::Buffer(_, indices) => {
                indices.iter().for_each(|index| index.record(editor, &mut code, recorder, here.row));
            }
            ExpectedSource::BuiltIn(_) => {}
        }
        all.push((self.executed, executed));
        for (offset, word) in all {
            recorder.word(editor, &mut code, here.row, offset, word);
        }
        editor.insert_after(self.at, &code);
    }

    /// Returns the expected bits of each scalar in a row, where they are known.
    fn expected(&self, reader: &TraceReader<'_>, row: u64) -> Vec<Option<u64>> {
        let &TraceReader { instrumented, setup, .. } = reader;
        match &self.from {
            ExpectedSource::ShadowCopy(word) => {
                if reader.is_out_of_bounds(row, self.executed, self.index) {
                    return Vec::new();
                }
                let copy = RecordedValue { word: *word, ..self.value.clone() };
                reader.scalars(row, &copy).map(|(_, bits)| Some(bits)).collect()
            }
            ExpectedSource::BuiltIn(which) => {
                built_in_value(*which, setup, instrumented.rows.invocation(row)).map(Some).to_vec()
            }
            ExpectedSource::Buffer(slot, indices) => {
                self.contents_before(reader, row, *slot, indices).unwrap_or_default()
            }
        }
    }

    /// Returns the contents of the buffer before the dispatch at the loaded location.
    fn contents_before(
        &self,
        reader: &TraceReader<'_>,
        row: u64,
        slot: Slot,
        indices: &[AccessIndex],
    ) -> Option<Vec<Option<u64>>> {
        let descriptor = reader.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?;
        let indices = indices.iter().map(|index| index.value(|at| reader.word(row, at)));
        let (start, part) = locate(descriptor.block.as_ref()?, indices)?;
        let data = data_of(reader.dispatch, slot)?.get(usize::try_from(start).ok()?..)?;
        let mut held = Vec::new();
        walk_scalars(&part, part.size(), &mut |element, _| held.push(element.read(data)));
        Some(held)
    }
}

/// Compares the recorded results of a load with their expected values. Returns a blame if any
/// differs.
pub(super) fn blame(load: &LoadProbe, reader: &TraceReader<'_>) -> Option<Blame> {
    let rows = &reader.instrumented.rows;
    let (mut wrong, mut count, mut example) = (0, 0, None);
    for row in reader.executed(0..rows.count(), load.executed) {
        count += 1;
        let scalars = reader.scalars(row, &load.value).zip(load.expected(reader, row)).enumerate();
        let mut differing = scalars.filter_map(|(component, ((scalar, got), expected))| {
            expected.filter(|expected| got != *expected).map(|expected| (component, scalar, got, expected))
        });
        let Some((component, scalar, got, expected)) = differing.next() else { continue };
        wrong += 1;
        example.get_or_insert_with(|| BlameExample {
            invocation: rows.invocation(row),
            operands: Vec::new(),
            component,
            got: hex(scalar, got),
            permitted: vec![[hex(scalar, expected), hex(scalar, expected)]],
            scalar: scalar.to_string(),
        });
    }
    Some(Blame {
        instruction: load.index,
        name: super::name(&reader.module.instruction(InstructionIndex(load.index))),
        place: (reader.place)(load.index),
        wrong,
        recorded: count,
        example: example?,
    })
}
