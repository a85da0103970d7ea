//! Asking the device for its intermediate results.
//!
//! A variant of the shader stores, next to each instruction that computes numbers, its operands and its result into a
//! buffer of its own, for each invocation and of each execution, or the last ones where there are very many. Each instruction is then
//! judged alone, given the operands that the device itself had: a module that loads them, does the one instruction and stores the
//! result goes to the oracle. So whatever is named is wrong by itself, and what merely passes a wrong value on is not.
//!
//! Contraction would let an instruction return what its recorded operands do not explain, so the variant forbids it
//! (`NoContraction`). What is judged so computes scalars, vectors, matrices, arrays and structures of numbers, from such and from images
//! that the shader does not write. What is made of parts is left out where a part of it may be undefined.
//!
//! A load is judged where it is known what must be there: in a buffer that the shader does not write, in a built-in,
//! in what an invocation keeps to itself, of which the variant keeps a second copy, and in workgroup memory, where barriers order what
//! was stored. A call must give what the function returned. Atomics are judged by whether what they found can have come about in any order.
//!
//! Operations between the invocations of a subgroup are judged given the operands of all of them, where control flow is uniform.
//!
//! Control flow, other operations between invocations, texels of images that the shader writes, and stores by themselves are not judged.
//! Which instructions that compute something are not recorded, [`Traced::unseen`] says.

mod alone;
mod code;
mod images;
mod loads;
mod memory;
mod order;
mod own;
mod records;
mod rows;
mod stores;
mod subgroups;
mod undefined;
mod value;

pub(crate) use images::Written;
pub use stores::Writer;
pub(crate) use stores::{root, slot_of};

use code::Recorder;
use loads::Load;
use memory::Shared;
use own::Own;
use records::Record;
use rows::Rows;
use stores::Store;
use subgroups::Seats;
use value::{Part, Value};

use crate::composites::parts;
use crate::elements::read_bits;
use crate::{Descriptor, Setup};
use assay_float::{F16, F32, F64};
use assay_oracle::{Buffer, Dispatch, Execution, Observed, Resource, Slot};
use assay_precision::Scalar;
use assay_runner::{Blame, Derived};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, PlainKind};
use assay_spirv::module::{Index, Instruction, Section};
use assay_spirv::reflect::{DescriptorKind, Shape, Usage, usages};
use assay_spirv::tables::{Capability, GlslStd450, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Bytes that the records of a dispatch may take.
const MAX_BYTES: u64 = 1 << 28;

/// Why a shader cannot be traced: in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no trace: {0}")]
pub struct TraceError(String);

/// A variant of a module that records what it computes.
#[derive(Debug)]
pub struct Traced {
    /// Its words.
    pub words: Vec<u32>,
    /// The buffer of the records.
    pub descriptor: Descriptor,
    rows: Rows,
    records: Vec<Record>,
    loads: Vec<Load>,
    stores: Vec<Store>,
    shared: Shared,
    seats: Option<Seats>,
    /// As of [`Own`].
    strayed: Option<u32>,
    /// Names of instructions that compute something and are not recorded.
    unseen: BTreeSet<String>,
}

/// What a variant is to record; a device compiles one that records little much faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// All that can be judged.
    All,
    /// What is to be known of the instruction that makes this id.
    Result(u32),
    /// What atomic instructions on integers find and are given.
    Atomics,
}

/// Makes the variant.
///
/// # Errors
/// There is nothing to record, or too much.
pub fn instrument(module: &Module, setup: &Setup, recorded: Recorded) -> Result<Traced, TraceError> {
    if module.version() < (assay_spirv::grammar::Version { major: 1, minor: 3 }) {
        return Err(TraceError("the module is of a version before SPIR-V 1.3, without storage buffers".into()));
    }
    let usage = usages(module).into_iter().find(|u| u.name == setup.entry);
    let usage = usage.ok_or_else(|| TraceError("the entry point is gone".into()))?;
    let (all, only) = match recorded {
        Recorded::All => (true, None),
        Recorded::Result(id) => (false, Some(id)),
        Recorded::Atomics => (false, None),
    };
    let wanted = |id: u32| all || only == Some(id);
    let undefined = undefined::find(module, &usage);
    let (records, next) = match recorded {
        Recorded::Atomics => records::atomics(module, &usage),
        _ => records::find(module, &usage, &undefined, wanted),
    };
    let (stores, next) = if all { stores::find(module, &usage, next) } else { (Vec::new(), next) };
    // Copies are there for loads to be held against, and what is shared is known from all accesses or not at all.
    let op = only.and_then(|id| module.definition_of_word(id)?.op);
    let loads = all || loads::gives(op);
    let (own, next) = if loads { Own::find(module, &usage, &undefined, next) } else { (Own::default(), next) };
    let (loads, next) = loads::find((module, setup), &usage, &own, next, wanted);
    let shared = all || op.is_some_and(|op| op == Op::Load || op.name().starts_with("OpAtomic"));
    let (shared, next) =
        if shared { Shared::find(module, &usage, &undefined, next) } else { (Shared::default(), next) };
    let seats = records.iter().any(|record| record.between).then(|| Seats::find(module, &usage, next)).flatten();
    let stride = seats.map_or(next, |seats| seats.end());
    if records.is_empty() && loads.is_empty() && shared.is_empty() {
        let what = match recorded {
            Recorded::Atomics => "no atomic instruction on integers says what it found",
            _ => "no instruction computes a number from numbers",
        };
        return Err(TraceError(what.into()));
    }
    let indices = records.iter().map(|record| record.index).chain(loads.iter().map(|load| load.index));
    let unseen = unseen(module, &usage, &indices.chain(shared.instructions()).collect(), wanted);
    let local = setup.local.iter().product::<u32>();
    let invocations = setup.groups.iter().fold(u64::from(local), |n, &side| n.saturating_mul(u64::from(side)));
    let rows = Rows::find(module, &usage, invocations, stride);
    let bytes = rows.bytes();
    if bytes > MAX_BYTES {
        let what = format!("its records would take {bytes} bytes of at most {MAX_BYTES}: dispatch fewer workgroups");
        return Err(TraceError(what));
    }
    let slot = free_slot(&setup.descriptors, 0);
    let mut editor = Editor::new(module);
    let uint = editor.uint(32);
    let buffer = editor.storage_array(uint, 4, slot.set, slot.binding);
    let kept = own.stores(module, &usage);
    let places = records.iter().map(|record| record.at).chain(stores.iter().map(|store| store.at));
    let places = places.chain(loads.iter().map(|load| load.at)).chain(shared.places());
    let places = places.chain(kept.iter().map(|kept| kept.at)).chain(seats.map(|seats| seats.at)).collect();
    let no_body = || TraceError("the entry point has no body".into());
    let function = module.function(usage.function).ok_or_else(no_body)?;
    let mut led = rows.lead(&mut editor, setup, function, &places).ok_or_else(no_body)?;
    let recorder = Recorder { uint, buffer, element: editor.pointer(StorageClass::StorageBuffer, uint) };
    let here = |at: usize| led.places.get(&at).copied();
    for (kept, here) in kept.iter().filter_map(|kept| Some((kept, here(kept.at)?))) {
        own.keep(&mut editor, &recorder, kept, here);
    }
    for (record, here) in records.iter().filter_map(|record| Some((record, here(record.at)?))) {
        record.record(&mut editor, &recorder, here);
    }
    for (store, here) in stores.iter().filter_map(|store| Some((store, here(store.at)?))) {
        store.record(&mut editor, &recorder, here);
    }
    for (load, here) in loads.iter().filter_map(|load| Some((load, here(load.at)?))) {
        load.record(&mut editor, &recorder, &own, here);
    }
    if let Some((seats, here)) = seats.and_then(|seats| Some((seats, here(seats.at)?))) {
        led.inputs.extend(seats.record(&mut editor, &recorder, here));
    }
    let mut others = led.others;
    others.extend(shared.record(&mut editor, &recorder, function, here));
    others.push(buffer);
    editor.add_to_interface(usage.function, &led.inputs, &others);
    let word = Arc::new(Shape::Int { width: 32, signed: false });
    let array = Shape::Array { element: word, count: None, stride: Some(4) };
    let descriptor = Descriptor {
        slot,
        name: None,
        kind: DescriptorKind::StorageBuffer,
        block: Some(Arc::new(array)),
        texels: None,
        compares: false,
        changed: true,
        bytes,
    };
    let (words, strayed) = (editor.finish(), own.strayed);
    Ok(Traced { words, descriptor, rows, records, loads, stores, shared, seats, strayed, unseen })
}

impl Traced {
    /// Names of instructions that make something of numbers which is not recorded.
    pub fn unseen(&self) -> impl Iterator<Item = &str> {
        self.unseen.iter().map(String::as_str)
    }

    /// The dispatch with room for the records.
    pub fn dispatch(&self, dispatch: &Dispatch) -> Dispatch {
        let mut dispatch = dispatch.clone();
        let data = vec![0; self.descriptor.bytes as usize];
        dispatch.bindings.insert(self.descriptor.slot, Resource::Buffer(Buffer { data, address: None }));
        dispatch
    }

    /// What a device left of a dispatch of the variant, to be read; `None` if it left no records. `dispatch` is the shader's own, and
    /// `place` says where an instruction stands.
    pub fn read<'a>(
        &'a self,
        module: &'a Module,
        setup: &'a Setup,
        dispatch: &'a Dispatch,
        left: &'a BTreeMap<Slot, Vec<u8>>,
        place: &'a dyn Fn(u32) -> String,
    ) -> Option<Reading<'a>> {
        let recorded = left.get(&self.descriptor.slot)?;
        Some(Reading { traced: self, module, setup, dispatch, left, recorded, place })
    }
}

/// What a device recorded.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    traced: &'a Traced,
    module: &'a Module,
    setup: &'a Setup,
    dispatch: &'a Dispatch,
    left: &'a BTreeMap<Slot, Vec<u8>>,
    recorded: &'a [u8],
    place: &'a dyn Fn(u32) -> String,
}

impl Reading<'_> {
    /// A word of a row.
    fn word(&self, row: u64, offset: u32) -> u64 {
        let stride = u64::from(self.traced.rows.stride);
        read_bits(self.recorded, (row * stride + u64::from(offset)) * 4, 32).unwrap_or(0)
    }

    /// A scalar of a value that is recorded from a word on.
    fn bits(&self, row: u64, word: u32, part: &Part) -> u64 {
        let low = self.word(row, word + part.word);
        if part.plain.width > 32 { self.word(row, word + part.word + 1) << 32 | low } else { low }
    }

    /// The scalars of a recorded value: what they are, and their bits.
    fn scalars(&self, row: u64, value: &Value) -> impl Iterator<Item = (Scalar, u64)> {
        value.form.parts.iter().map(move |part| (part.scalar(), self.bits(row, value.word, part)))
    }

    /// Those of some rows in which the word says that something was executed.
    fn executed(&self, rows: Range<u64>, executed: u32) -> impl Iterator<Item = u64> {
        rows.filter(move |row| self.word(*row, executed) != 0)
    }

    /// Whether the invocation had been beyond one of its own variables before it executed an instruction in a row: what it had from there may
    /// be another value each time that it is looked at. Of some instructions only an earlier time is known than that of their execution.
    fn is_astray(&self, row: u64, executed: u32, instruction: u32) -> bool {
        let rows = &self.traced.rows;
        let first = rows.of(rows.invocation(row)).start;
        let strayed = |strayed: u32| [self.word(first, strayed), self.word(first, strayed + 1)];
        let [since, at] = self.traced.strayed.map_or([0; 2], strayed);
        since != 0 && [self.word(row, executed), instruction.into()] > [since, at]
    }

    /// How a value came about in one invocation: the instructions that it depends on, as far as they are recorded, each
    /// with the operands and the result that the device had and what is permitted for these operands.
    pub fn derive(&self, writer: &Writer) -> Vec<Derived> {
        let slice = stores::slice(self.module, writer.value);
        let recorded = self.traced.records.iter().filter(|record| slice.contains(&record.result.id));
        let last = |record: &Record| {
            // Of what was executed more than once, the last time before.
            let time = |row: &u64| self.word(*row, record.executed);
            let executed = self.executed(self.traced.rows.of(writer.invocation), record.executed);
            executed.filter(|row| time(row) <= writer.time).max_by_key(time)
        };
        recorded.filter_map(|record| Some(self.derived(record, last(record)?))).collect()
    }

    /// What the atomic instructions that are recorded found and were given, of those executions of which none is lost.
    pub fn observed(&self) -> Observed {
        let mut observed = Observed::default();
        let rows = &self.traced.rows;
        for record in &self.traced.records {
            let scalar = |row, value: &Value| Some(self.bits(row, value.word, value.form.parts.first()?));
            let at = Index(record.index);
            let may_be_lost = rows.may_be_lost(self.module, at);
            for invocation in 0..rows.invocations {
                let mut executed: Vec<u64> = self.executed(rows.of(invocation), record.executed).collect();
                if executed.is_empty() || (may_be_lost && executed.len() == rows.each as usize) {
                    continue;
                }
                executed.sort_by_key(|row| self.word(*row, record.executed));
                let execution = |row| {
                    let given = record.operands.first().and_then(|given| scalar(row, given));
                    Some(Execution { found: scalar(row, &record.result)?, given })
                };
                observed.insert(at, invocation, executed.into_iter().filter_map(execution).collect());
            }
        }
        observed
    }

    /// Judges it: instructions with results that are not permitted for their operands, in the order of the module.
    pub fn judge(&self) -> Vec<Blame> {
        let computed = self.traced.records.iter().filter_map(|record| self.blame(record));
        let loaded = self.traced.loads.iter().filter_map(|load| loads::blame(load, self));
        let mut blamed: Vec<Blame> = computed.chain(loaded).chain(memory::blame(self)).collect();
        blamed.sort_by_key(|blame| blame.instruction);
        blamed
    }
}

/// Names of wanted instructions that make something of numbers and are not among those.
fn unseen(module: &Module, usage: &Usage, seen: &BTreeSet<u32>, wanted: impl Fn(u32) -> bool) -> BTreeSet<String> {
    let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
    let makes = |i: &Instruction<'_>| {
        let passes = matches!(i.op, Some(Op::Function | Op::FunctionParameter | Op::Phi | Op::Undef));
        let ty = i.result().filter(|id| !passes && wanted(*id)).and_then(|id| module.type_of(id));
        ty.is_some_and(|ty| Plain::of(module, ty).is_some() || parts(module, ty).is_some())
    };
    instructions.filter(makes).filter(|i| !seen.contains(&i.index.0)).map(|i| name(&i)).collect()
}

/// The instruction's name; of an extended one its own.
pub(crate) fn name(i: &Instruction<'_>) -> String {
    match (i.op, i.operand(1)) {
        (Some(Op::ExtInst), Some(number)) => {
            GlslStd450::from_word(number).map_or_else(|| "OpExtInst".into(), |op| format!("{op:?}"))
        }
        (op, _) => op.map_or("?", Op::name).to_owned(),
    }
}

/// What an element is as a scalar of the rules; booleans are words.
fn scalar_of(plain: &Plain) -> Scalar {
    match (plain.kind, plain.width) {
        (PlainKind::Float, 16) => Scalar::Float(F16),
        (PlainKind::Float, 64) => Scalar::Float(F64),
        (PlainKind::Float, _) => Scalar::Float(F32),
        (PlainKind::Int { signed }, width) => Scalar::Int { width, signed },
        (PlainKind::Bool, _) => Scalar::Int { width: 32, signed: false },
    }
}

/// A descriptor that the shader does not use.
fn free_slot(descriptors: &[Descriptor], number: u32) -> Slot {
    let bound = || descriptors.iter().filter(|d| !d.is_pointed());
    let set = bound().next().map_or(0, |d| d.slot.set);
    let used = bound().filter(|d| d.slot.set == set).map(|d| d.slot.binding + 1).max();
    Slot { set, binding: used.unwrap_or(0) + number, element: 0 }
}

/// Whether values of a type can be recorded: of halves that are only loaded and stored, no words can be made.
fn fits(module: &Module, plain: &Plain) -> bool {
    let halves = |i: Instruction<'_>| i.op == Some(Op::Capability) && i.operand(0) == Some(Capability::Float16.word());
    (plain.kind, plain.width) != (PlainKind::Float, 16) || module.section(Section::Capabilities).any(halves)
}
