//! Loads of which it is known what they must give: from buffers that nothing in the shader writes, from built-ins, and from
//! what an invocation keeps to itself; and calls, which must give what the function returned.

use super::Reading;
use super::code::{Recorder, as_words};
use super::own::Own;
use super::rows::Here;
use super::stores::{Step, place, root, slot_of};
use super::value::{Form, Value};
use crate::elements::walk;
use crate::verdict::{data_of, hex};
use crate::{Descriptor, Setup};
use assay_oracle::Slot;
use assay_runner::{Blame, BlameExample};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Index, Instruction, Type};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::BTreeSet;

/// A load or call whose value is recorded.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// Its place in the module.
    pub(super) index: u32,
    /// Its first word there.
    pub(super) at: usize,
    /// Word in the row: when it was executed, within bounds, or 0.
    executed: u32,
    /// The pointer, or the function.
    reached: u32,
    /// What it gave.
    given: Value,
    from: Source,
}

/// Where what it must give is known from.
#[derive(Clone, Debug)]
enum Source {
    /// The copy of the variable or of what was returned, as it was then: the first word.
    Own(u32),
    /// A buffer's contents before the dispatch.
    Buffer(Slot, Vec<Step>),
    /// The invocation's place in the dispatch.
    BuiltIn(BuiltIn),
}

/// The wanted loads and calls of an entry point's functions, recorded from word `next` on; and the first word after them.
pub(super) fn find(
    (module, setup): (&Module, &Setup),
    usage: &Usage,
    own: &Own,
    mut next: u32,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Load>, u32) {
    let instructions = || {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        functions.flat_map(|f| module.instructions_in(f.instructions.clone()))
    };
    let written = written(module, instructions());
    let mut loads = Vec::new();
    for i in instructions().filter(|i| gives(i.op) && i.result().is_some_and(&wanted)) {
        loads.extend(load((module, setup), &i, own, &written, &mut next));
    }
    (loads, next)
}

/// Whether an operation gives what is somewhere.
pub(super) fn gives(op: Option<Op>) -> bool {
    matches!(op, Some(Op::Load | Op::FunctionCall))
}

/// The bindings that something other than a load may have to do with.
fn written<'m>(module: &'m Module, instructions: impl Iterator<Item = Instruction<'m>>) -> BTreeSet<Slot> {
    let reads =
        |op| matches!(op, Some(Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::ArrayLength | Op::Variable));
    let others = instructions.filter(|i| !reads(i.op)).flat_map(|i| module.id_operands(i));
    others.filter_map(|id| slot_of(module, root(module, id)?.0)).collect()
}

fn load(
    (module, setup): (&Module, &Setup),
    i: &Instruction<'_>,
    own: &Own,
    written: &BTreeSet<Slot>,
    next: &mut u32,
) -> Option<Load> {
    let (id, reached) = (i.result()?, i.operand(0)?);
    let form = Form::of_value(module, id)?;
    let mut end = *next;
    let mut room = |words: u32| {
        end += words;
        end - words
    };
    let executed = room(1);
    let given = Value { id, word: room(form.words()), form };
    let from = if own.part(module, reached).is_some() {
        Source::Own(room(given.form.words()))
    } else {
        let (variable, ids) = root(module, reached)?;
        match built_in(module, variable).filter(|_| ids.is_empty()) {
            Some(built_in) => Source::BuiltIn(built_in),
            None => {
                let slot = slot_of(module, variable).filter(|slot| !written.contains(slot))?;
                let (class, pointee) = module.pointer(module.type_of(variable)?)?;
                let buffer = [StorageClass::Uniform, StorageClass::StorageBuffer].contains(&class);
                matches!(module.ty(pointee.filter(|_| buffer)?), Type::Struct { .. }).then_some(())?;
                let steps = Step::all(module, &ids, || room(1))?;
                // What does not lie together is not looked at.
                let block = setup.descriptors.iter().find(|d| d.slot == slot)?.block.as_ref()?;
                place(block, steps.iter().map(|step| step.index(|_| 0)))?;
                Source::Buffer(slot, steps)
            }
        }
    };
    *next = end;
    Some(Load { index: i.index.0, at: i.at, executed, reached, given, from })
}

/// The built-in that an input variable is, of those that the dispatch determines.
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

/// A built-in of an invocation of a dispatch, counted as [`super::code::position`] counts.
fn value_of(which: BuiltIn, setup: &Setup, invocation: u64) -> [u64; 3] {
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

impl Load {
    /// Puts code behind it that records it.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, own: &Own, here: Here) {
        let mut code = Vec::new();
        let mut executed = here.time;
        let words = as_words(editor, &mut code, self.given.id, &self.given.form);
        let mut all: Vec<(u32, u32)> = (self.given.word..).zip(words).collect();
        match &self.from {
            Source::Own(first) => {
                let Some(part) = own.part(editor.module(), self.reached) else { return };
                let (words, inside) = part.load(editor, &mut code, recorder, here.base);
                all.extend((*first..).zip(words));
                // Beyond a variable nothing is known of what is loaded: as if it were not.
                if let Some(inside) = inside {
                    part.stray(editor, &mut code, recorder, (here, self.index), inside);
                    let zero = editor.constant(recorder.uint, 32, 0);
                    executed = editor.id();
                    code.extend(instruction(Op::Select, &[recorder.uint, executed, inside, here.time, zero]));
                }
            }
            Source::Buffer(_, steps) => {
                steps.iter().for_each(|step| step.record(editor, &mut code, recorder, here.row));
            }
            Source::BuiltIn(_) => {}
        }
        all.push((self.executed, executed));
        for (offset, word) in all {
            recorder.word(editor, &mut code, here.row, offset, word);
        }
        editor.after(self.at, &code);
    }

    /// What its scalars must be in a row, as far as that is known.
    fn expected(&self, reading: &Reading<'_>, row: u64) -> Vec<Option<u64>> {
        let &Reading { traced, setup, .. } = reading;
        match &self.from {
            Source::Own(word) => {
                if reading.is_astray(row, self.executed, self.index) {
                    return Vec::new();
                }
                let copy = Value { word: *word, ..self.given.clone() };
                reading.scalars(row, &copy).map(|(_, bits)| Some(bits)).collect()
            }
            Source::BuiltIn(which) => value_of(*which, setup, traced.rows.invocation(row)).map(Some).to_vec(),
            Source::Buffer(slot, steps) => self.held(reading, row, *slot, steps).unwrap_or_default(),
        }
    }

    /// What a buffer held before the dispatch.
    fn held(&self, reading: &Reading<'_>, row: u64, slot: Slot, steps: &[Step]) -> Option<Vec<Option<u64>>> {
        let descriptor = reading.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?;
        let indices = steps.iter().map(|step| step.index(|at| reading.word(row, at)));
        let (start, part) = place(descriptor.block.as_ref()?, indices)?;
        let data = data_of(reading.dispatch, slot)?.get(usize::try_from(start).ok()?..)?;
        let mut held = Vec::new();
        walk(&part, part.size(), &mut |element, _| held.push(element.read(data)));
        Some(held)
    }
}

/// What there is to blame of a load, if it gave something else than it must.
pub(super) fn blame(load: &Load, reading: &Reading<'_>) -> Option<Blame> {
    let rows = &reading.traced.rows;
    let (mut wrong, mut count, mut example) = (0, 0, None);
    for row in reading.executed(0..rows.count(), load.executed) {
        count += 1;
        let scalars = reading.scalars(row, &load.given).zip(load.expected(reading, row)).enumerate();
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
        name: super::name(&reading.module.instruction(Index(load.index))),
        place: (reading.place)(load.index),
        wrong,
        recorded: count,
        example: example?,
    })
}
