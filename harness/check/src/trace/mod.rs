//! Asking the device for its intermediate results.
//!
//! A variant of the shader stores, next to each instruction that computes numbers, its operands and its result into a
//! buffer of its own: for each invocation, of its last execution. Each instruction is then judged alone, given the
//! operands that the device itself had: a module that loads them, does the one instruction and stores the result goes
//! to the oracle. So whatever is named is wrong by itself, and what merely passes a wrong value on is not.
//!
//! Contraction would let an instruction return what its recorded operands do not explain, so the variant forbids it
//! (`NoContraction`). A load is judged where it is known what must be there: in a buffer that the shader does not write, in a built-in,
//! and in what an invocation keeps to itself, of which the variant keeps a second copy. Other loads, stores, atomics, barriers, control
//! flow and operations between invocations are not judged.

mod alone;
mod code;
mod loads;
mod own;
mod stores;

pub use stores::Writer;

use alone::Judged;
use code::{Recorder, as_words, position, words_of};

use crate::elements::read_bits;
use crate::verdict::{Permitted, hex, ranges};
use crate::{Descriptor, Setup};
use assay_float::{F16, F32, F64};
use assay_oracle::{Buffer, Dispatch, Resource, Slot, Standing};
use assay_precision::Scalar;
use assay_runner::{Blame, BlameExample, Derived};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, PlainKind, instruction};
use assay_spirv::module::{Function, Index, Instruction, Type};
use assay_spirv::reflect::{DescriptorKind, Shape, usages};
use assay_spirv::tables::{Decoration, GlslStd450, Kind, Op, StorageClass};
use std::collections::BTreeMap;
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
    records: Vec<Record>,
    loads: Vec<loads::Load>,
    stores: Vec<stores::Store>,
    /// Words of one invocation's records.
    stride: u32,
    invocations: u64,
}

/// Where an instruction's operands and result are recorded.
#[derive(Clone, Debug)]
struct Record {
    /// Its place in the module.
    index: u32,
    /// Its first word there.
    at: usize,
    /// Word in the invocation's records: 1 if it was executed.
    offset: u32,
    /// What it is given that is no constant: id, type, and first word.
    operands: Vec<(u32, Plain, u32)>,
    result: (u32, Plain, u32),
    /// The words before this one are stored with earlier records of its block.
    own: u32,
}

/// Makes the variant; with `only` it records nothing but the instruction that makes this id, which a device compiles much faster.
///
/// # Errors
/// There is nothing to record, or too much.
pub fn instrument(module: &Module, setup: &Setup, only: Option<u32>) -> Result<Traced, TraceError> {
    if module.version() < (assay_spirv::grammar::Version { major: 1, minor: 3 }) {
        return Err(TraceError("the module is of a version before SPIR-V 1.3, without storage buffers".into()));
    }
    let usage = usages(module).into_iter().find(|u| u.name == setup.entry);
    let usage = usage.ok_or_else(|| TraceError("the entry point is gone".into()))?;
    let wanted = |id: u32| only.is_none_or(|only| only == id);
    let (records, next) = records(module, usage.functions.iter().copied(), wanted);
    let (stores, next) = if only.is_none() { stores::find(module, &usage, next) } else { (Vec::new(), next) };
    // Copies are there for loads to be held against.
    let loads = only.is_none_or(|id| module.definition_of_word(id).is_some_and(|i| i.op == Some(Op::Load)));
    let (own, next) = if loads { own::Own::find(module, &usage, next) } else { (own::Own::default(), next) };
    let (loads, stride) = loads::find(module, &usage, &own, next, wanted);
    if records.is_empty() && loads.is_empty() {
        return Err(TraceError("no instruction computes a number from numbers".into()));
    }
    let local = setup.local.iter().product::<u32>();
    let invocations = setup.groups.iter().fold(u64::from(local), |n, &side| n.saturating_mul(u64::from(side)));
    let bytes = invocations.saturating_mul(u64::from(stride) * 4);
    if bytes > MAX_BYTES {
        let what = format!("its records would take {bytes} bytes of at most {MAX_BYTES}: dispatch fewer workgroups");
        return Err(TraceError(what));
    }
    let slot = free_slot(&setup.descriptors, 0);
    let mut editor = Editor::new(module);
    let uint = editor.uint(32);
    let buffer = editor.storage_array(uint, 4, slot.set, slot.binding);
    let private = editor.pointer(StorageClass::Private, uint);
    let base = editor.variable(private, StorageClass::Private);
    let (position, inputs) = position(&mut editor, setup, stride);
    editor.add_to_interface(usage.function, &inputs, &[buffer, base]);
    let no_body = || TraceError("the entry point has no body".into());
    let function = module.function(usage.function).ok_or_else(no_body)?;
    let entry = first_place(module, function).ok_or_else(no_body)?;
    let mut code = position.code;
    code.extend(instruction(Op::Store, &[base, position.result]));
    editor.after(entry, &code);

    let recorder = Recorder { uint, buffer, element: editor.pointer(StorageClass::StorageBuffer, uint) };
    for (variable, id, value) in own.beginnings(module) {
        let inside = module.function_at(variable.index).map_or(Some(entry), |f| first_place(module, f));
        let (Some(place), Some(part)) = (inside, own.part(module, id)) else { continue };
        let from = editor.id();
        let mut code = instruction(Op::Load, &[uint, from, base]);
        part.store(&mut editor, &mut code, &recorder, from, value);
        editor.after(place, &code);
    }
    for record in &records {
        if may_contract(module, record) {
            editor.annotate(Op::Decorate, &[record.result.0, Decoration::NoContraction.word()]);
        }
        let mut code = Vec::new();
        let from = editor.id();
        code.extend(instruction(Op::Load, &[uint, from, base]));
        if record.offset >= record.own {
            let one = editor.constant(uint, 32, 1);
            recorder.word(&mut editor, &mut code, from, record.offset, one);
        }
        let own = |(_, _, offset): &&(u32, Plain, u32)| *offset >= record.own;
        for (value, plain, offset) in record.operands.iter().chain([&record.result]).filter(own) {
            let words = as_words(&mut editor, &mut code, *value, plain);
            for (i, word) in words.into_iter().enumerate() {
                recorder.word(&mut editor, &mut code, from, offset + i as u32, word);
            }
        }
        editor.after(record.at, &code);
    }
    for store in &stores {
        let from = editor.id();
        let mut code = instruction(Op::Load, &[uint, from, base]);
        store.record(&mut editor, &mut code, &recorder, from);
        editor.after(store.at, &code);
    }
    let bodies = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    for i in bodies.flat_map(|f| module.instructions_in(f.instructions.clone())).filter(|i| i.op == Some(Op::Store)) {
        let [pointer, value, ..] = *i.operands() else { continue };
        let Some(part) = own.part(module, pointer) else { continue };
        let from = editor.id();
        let mut code = instruction(Op::Load, &[uint, from, base]);
        part.store(&mut editor, &mut code, &recorder, from, value);
        editor.after(i.at, &code);
    }
    for load in &loads {
        let from = editor.id();
        let mut code = instruction(Op::Load, &[uint, from, base]);
        load.record(&mut editor, &mut code, &recorder, &own, from);
        editor.after(load.at, &code);
    }
    let word = Arc::new(Shape::Int { width: 32, signed: false });
    let array = Shape::Array { element: word, count: None, stride: Some(4) };
    let descriptor = Descriptor {
        slot,
        name: None,
        kind: DescriptorKind::StorageBuffer,
        block: Some(Arc::new(array)),
        texels: None,
        compares: false,
        bytes,
    };
    Ok(Traced { words: editor.finish(), descriptor, records, loads, stores, stride, invocations })
}

impl Traced {
    /// The dispatch with room for the records.
    pub fn dispatch(&self, dispatch: &Dispatch) -> Dispatch {
        let mut dispatch = dispatch.clone();
        let data = vec![0; self.descriptor.bytes as usize];
        dispatch.bindings.insert(self.descriptor.slot, Resource::Buffer(Buffer { data, address: None }));
        dispatch
    }

    /// A word of an invocation's records.
    fn word(&self, recorded: &[u8], invocation: u64, offset: u32) -> u64 {
        read_bits(recorded, (invocation * u64::from(self.stride) + u64::from(offset)) * 4, 32).unwrap_or(0)
    }

    /// A component of a recorded value.
    fn component(&self, recorded: &[u8], invocation: u64, plain: &Plain, offset: u32, component: u32) -> u64 {
        let words = plain.width.div_ceil(32);
        let low = self.word(recorded, invocation, offset + component * words);
        if words > 1 { self.word(recorded, invocation, offset + component * words + 1) << 32 | low } else { low }
    }

    /// How a value came about in one invocation: the instructions that it depends on, as far as they are recorded, each
    /// with the operands and the result that the device had and what is permitted for these operands.
    pub fn derive(
        &self,
        module: &Module,
        setup: &Setup,
        dispatch: &Dispatch,
        recorded: &[u8],
        writer: &Writer,
        place: &dyn Fn(u32) -> String,
    ) -> Vec<Derived> {
        let slice = stores::slice(module, writer.value);
        let invocation = writer.invocation;
        let executed =
            |record: &&Record| slice.contains(&record.result.0) && self.word(recorded, invocation, record.offset) == 1;
        let values = |plain: &Plain, offset: u32| -> Vec<String> {
            let scalar = scalar_of(plain);
            (0..plain.count).map(|c| hex(scalar, self.component(recorded, invocation, plain, offset, c))).collect()
        };
        let mut steps = Vec::new();
        for record in self.records.iter().filter(executed) {
            let (_, plain, result) = record.result;
            let judged = alone::judge(module, setup, dispatch, self, recorded, record);
            let mut within = Some(true);
            let mut permitted = Vec::new();
            for component in 0..plain.count {
                let set = judged.as_ref().and_then(|judged| {
                    let place = invocation * u64::from(plain.count) + u64::from(component);
                    Permitted::of(&judged.memory, place * u64::from(judged.element / 8), judged.element)
                });
                let got = self.component(recorded, invocation, &plain, result, component);
                match set.as_ref().map(|set| set.judge(got)) {
                    Some(Standing::Within | Standing::Lenient) => {}
                    Some(Standing::Outside) => within = Some(false),
                    Some(Standing::Open(_)) | None => within = within.filter(|within| !within),
                }
                permitted.push(set.map_or_else(Vec::new, |set| ranges(scalar_of(&plain), &set.expected)));
            }
            steps.push(Derived {
                name: name(&module.instruction(Index(record.index))),
                place: place(record.index),
                operands: record.operands.iter().map(|(_, plain, offset)| values(plain, *offset)).collect(),
                result: values(&plain, result),
                scalar: scalar_of(&plain).to_string(),
                permitted,
                within,
            });
        }
        steps
    }

    /// Judges what a device recorded: instructions with results that are not permitted for their operands, in the order of
    /// the module. `place` says where an instruction stands.
    pub fn judge(
        &self,
        module: &Module,
        setup: &Setup,
        dispatch: &Dispatch,
        recorded: &[u8],
        place: &dyn Fn(u32) -> String,
    ) -> Vec<Blame> {
        let computed = self.records.iter().filter_map(|r| self.blame(module, setup, dispatch, recorded, r, place));
        let given = loads::Given { traced: self, setup, dispatch, recorded };
        let loaded = self.loads.iter().filter_map(|load| loads::blame(load, &given, place));
        let mut blamed: Vec<Blame> = computed.chain(loaded).collect();
        blamed.sort_by_key(|blame| blame.instruction);
        blamed
    }

    fn blame(
        &self,
        module: &Module,
        setup: &Setup,
        dispatch: &Dispatch,
        recorded: &[u8],
        record: &Record,
        place: &dyn Fn(u32) -> String,
    ) -> Option<Blame> {
        let word = |invocation: u64, offset: u32| self.word(recorded, invocation, offset);
        let executed: Vec<u64> = (0..self.invocations).filter(|&i| word(i, record.offset) == 1).collect();
        if executed.is_empty() {
            return None;
        }
        let (_, plain, result) = record.result;
        let Judged { memory, element } = alone::judge(module, setup, dispatch, self, recorded, record)?;
        let scalar = scalar_of(&plain);
        let bits_of = |invocation: u64, plain: &Plain, offset: u32, component: u32| {
            self.component(recorded, invocation, plain, offset, component)
        };
        let (mut wrong, mut example) = (0, None);
        for &invocation in &executed {
            let outside = (0..plain.count).find_map(|component| {
                let at = (invocation * u64::from(plain.count) + u64::from(component)) * u64::from(element / 8);
                let permitted = Permitted::of(&memory, at, element)?;
                let got = bits_of(invocation, &plain, result, component);
                (permitted.judge(got) == Standing::Outside).then_some((component, got, permitted))
            });
            let Some((component, got, permitted)) = outside else { continue };
            wrong += 1;
            example.get_or_insert_with(|| BlameExample {
                invocation,
                operands: record
                    .operands
                    .iter()
                    .map(|(_, plain, offset)| {
                        let scalar = scalar_of(plain);
                        (0..plain.count).map(|c| hex(scalar, bits_of(invocation, plain, *offset, c))).collect()
                    })
                    .collect(),
                component: component as usize,
                got: hex(scalar, got),
                permitted: ranges(scalar, &permitted.expected),
                scalar: scalar.to_string(),
            });
        }
        Some(Blame {
            instruction: record.index,
            name: name(&module.instruction(Index(record.index))),
            place: place(record.index),
            wrong,
            recorded: executed.len() as u64,
            example: example?,
        })
    }
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

/// Behind the variables of a function's first block.
fn first_place(module: &Module, function: &Function) -> Option<usize> {
    let mut place = None;
    for i in module.instructions_in(function.instructions.clone()) {
        match i.op {
            Some(Op::Function | Op::FunctionParameter | Op::Line | Op::NoLine) => {}
            Some(Op::Label | Op::Variable) => place = Some(i.at),
            _ => break,
        }
    }
    place
}

/// A descriptor that the shader does not use.
fn free_slot(descriptors: &[Descriptor], number: u32) -> Slot {
    let bound = || descriptors.iter().filter(|d| !d.is_pointed());
    let set = bound().next().map_or(0, |d| d.slot.set);
    let used = bound().filter(|d| d.slot.set == set).map(|d| d.slot.binding + 1).max();
    Slot { set, binding: used.unwrap_or(0) + number, element: 0 }
}

/// What is recorded, and how many words that takes.
///
/// What was executed last in a block was executed with all of the block, so that one word says so for all of it, and a value that
/// several of its instructions are given, or that one makes for another, is stored once: a device compiles a good half less.
fn records(
    module: &Module,
    functions: impl Iterator<Item = usize>,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Record>, u32) {
    let mut next = 0;
    let mut records = Vec::new();
    for function in functions {
        let Some(function) = module.functions().get(function) else { continue };
        let (mut executed, mut stored) = (None, BTreeMap::new());
        for i in module.instructions_in(function.instructions.clone()) {
            if i.op == Some(Op::Label) {
                (executed, stored) = (None, BTreeMap::new());
            }
            let wanted = i.result().is_some_and(&wanted);
            let Some((operands, result, plain)) = recordable(module, &i).filter(|_| wanted) else { continue };
            let own = next;
            let offset = *executed.get_or_insert_with(|| {
                next += 1;
                next - 1
            });
            let mut place = |id: u32, plain: &Plain| {
                *stored.entry(id).or_insert_with(|| {
                    next += words_of(plain);
                    next - words_of(plain)
                })
            };
            let operands = operands.into_iter().map(|(id, plain)| (id, plain, place(id, &plain))).collect();
            let result = (result, plain, place(result, &plain));
            records.push(Record { index: i.index.0, at: i.at, offset, operands, result, own });
        }
    }
    (records, next)
}

/// Operands that are no constants, result, and the result's type.
type Computation = (Vec<(u32, Plain)>, u32, Plain);

/// What an instruction is given and makes, if it computes numbers from numbers of its own invocation.
fn recordable(module: &Module, i: &Instruction<'_>) -> Option<Computation> {
    let op = i.op?;
    let between = ["OpGroup", "OpSubgroup", "OpAtomic", "OpRead", "OpCooperative"];
    let excluded =
        matches!(op, Op::Phi | Op::FunctionParameter | Op::Undef | Op::Variable | Op::FunctionCall | Op::Load);
    if excluded || between.iter().any(|start| op.name().starts_with(start)) {
        return None;
    }
    let result = i.result()?;
    let plain = Plain::of_value(module, result).filter(|plain| fits(module, plain))?;
    let mut operands: Vec<(u32, Plain)> = Vec::new();
    let mut suits = true;
    let walked = module.operands(*i, |operand| {
        let word = i.words[operand.at];
        match operand.kind {
            Kind::IdRef => {
                let Some(definition) = module.definition_of_word(word) else { return suits = false };
                if definition.op == Some(Op::ExtInstImport) {
                    return;
                }
                match Plain::of_value(module, word).filter(|plain| fits(module, plain)) {
                    // Constants are there in every variant.
                    Some(_) if module.function_at(definition.index).is_none() => {}
                    Some(_) if operands.iter().any(|(known, _)| *known == word) => {}
                    Some(plain) => operands.push((word, plain)),
                    None => suits = false,
                }
            }
            Kind::IdScope | Kind::IdMemorySemantics => suits = false,
            _ => {}
        }
    });
    // Of constants alone: the driver folds it, and so does the oracle.
    (walked.is_ok() && suits && !operands.is_empty()).then_some((operands, result, plain))
}

/// Whether values of a type can be recorded: in words, or in halves of which the module has integers.
fn fits(module: &Module, plain: &Plain) -> bool {
    let shorts = || module.types().any(|(_, ty)| matches!(ty, Type::Int { width: 16, .. }));
    matches!(plain.width, 1 | 32 | 64) || plain.width == 16 && shorts()
}

/// Whether an instruction can be contracted, and is not forbidden to be.
fn may_contract(module: &Module, record: &Record) -> bool {
    let arithmetic = matches!(
        module.instruction(Index(record.index)).op,
        Some(
            Op::FAdd
                | Op::FSub
                | Op::FMul
                | Op::FDiv
                | Op::FNegate
                | Op::FRem
                | Op::FMod
                | Op::VectorTimesScalar
                | Op::Dot
        )
    );
    arithmetic && !module.decorations(record.result.0).any(|d| d.decoration == Some(Decoration::NoContraction))
}
