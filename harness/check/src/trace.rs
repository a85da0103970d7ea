//! Asking the device for its intermediate results.
//!
//! A variant of the shader stores, next to each instruction that computes numbers, its operands and its result into a
//! buffer of its own: for each invocation, of its last execution. Each instruction is then judged alone, given the
//! operands that the device itself had: a module that loads them, does the one instruction and stores the result goes
//! to the oracle. So whatever is named is wrong by itself, and what merely passes a wrong value on is not.
//!
//! Contraction would let an instruction return what its recorded operands do not explain, so the variant forbids it
//! (`NoContraction`). Loads, stores, atomics, barriers, control flow and operations between invocations are not judged.

use crate::edit::{Editor, Plain, PlainKind, instruction};
use crate::elements::read_bits;
use crate::verdict::{Permitted, Verdict, hex, ranges};
use crate::{Descriptor, Setup};
use assay_float::{F16, F32, F64};
use assay_oracle::{Buffer, Dispatch, Limits, Program, Resource, Slot};
use assay_precision::Scalar;
use assay_runner::{Blame, BlameExample};
use assay_spirv::Module;
use assay_spirv::module::{Index, Instruction, Section, Type};
use assay_spirv::reflect::{DescriptorKind, Shape, usages};
use assay_spirv::tables::{BuiltIn, Decoration, GlslStd450, Kind, Op, StorageClass};
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
}

/// 32-bit words of a value in the records.
fn words_of(plain: &Plain) -> u32 {
    plain.count * plain.width.div_ceil(32)
}

/// Makes the variant.
///
/// # Errors
/// There is nothing to record, or too much.
pub fn instrument(module: &Module, setup: &Setup) -> Result<Traced, TraceError> {
    if module.version() < (assay_spirv::grammar::Version { major: 1, minor: 3 }) {
        return Err(TraceError("the module is of a version before SPIR-V 1.3, without storage buffers".into()));
    }
    let usage = usages(module).into_iter().find(|u| u.name == setup.entry);
    let usage = usage.ok_or_else(|| TraceError("the entry point is gone".into()))?;
    let (records, stride) = records(module, usage.functions.iter().copied());
    if records.is_empty() {
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
    // After the variables of the entry point's first block.
    let function = module.function(usage.function).ok_or_else(|| TraceError("the entry point has no body".into()))?;
    let mut place = None;
    for i in module.instructions_in(function.instructions.clone()) {
        match i.op {
            Some(Op::Function | Op::FunctionParameter | Op::Line | Op::NoLine) => {}
            Some(Op::Label | Op::Variable) => place = Some(i.at),
            _ => break,
        }
    }
    let place = place.ok_or_else(|| TraceError("the entry point has no body".into()))?;
    let mut code = position.code;
    code.extend(instruction(Op::Store, &[base, position.result]));
    editor.after(place, &code);

    let recorder = Recorder { uint, buffer, base, element: editor.pointer(StorageClass::StorageBuffer, uint) };
    for record in &records {
        if may_contract(module, record) {
            editor.annotate(Op::Decorate, &[record.result.0, Decoration::NoContraction.word()]);
        }
        let mut code = Vec::new();
        let from = editor.id();
        code.extend(instruction(Op::Load, &[uint, from, base]));
        let one = editor.constant(uint, 32, 1);
        recorder.word(&mut editor, &mut code, from, record.offset, one);
        for (value, plain, offset) in record.operands.iter().chain([&record.result]) {
            let words = as_words(&mut editor, &mut code, *value, plain);
            for (i, word) in words.into_iter().enumerate() {
                recorder.word(&mut editor, &mut code, from, offset + i as u32, word);
            }
        }
        editor.after(record.at, &code);
    }
    let word = Arc::new(Shape::Int { width: 32, signed: false });
    let array = Shape::Array { element: word, count: None, stride: Some(4) };
    let descriptor =
        Descriptor { slot, name: None, kind: DescriptorKind::StorageBuffer, block: Some(Arc::new(array)), bytes };
    Ok(Traced { words: editor.finish(), descriptor, records, stride, invocations })
}

impl Traced {
    /// The dispatch with room for the records.
    pub fn dispatch(&self, dispatch: &Dispatch) -> Dispatch {
        let mut dispatch = dispatch.clone();
        let data = vec![0; self.descriptor.bytes as usize];
        dispatch.bindings.insert(self.descriptor.slot, Resource::Buffer(Buffer { data, address: None }));
        dispatch
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
        self.records.iter().filter_map(|record| self.blame(module, setup, dispatch, recorded, record, place)).collect()
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
        let word = |invocation: u64, offset: u32| {
            read_bits(recorded, (invocation * u64::from(self.stride) + u64::from(offset)) * 4, 32).unwrap_or(0)
        };
        let executed: Vec<u64> = (0..self.invocations).filter(|&i| word(i, record.offset) == 1).collect();
        if executed.is_empty() {
            return None;
        }
        let (_, plain, result) = record.result;
        let alone = alone(module, setup, self, record)?;
        let parsed = Module::parse(alone.words).ok()?;
        let program = Program::new(&parsed, &setup.entry, &crate::setup::spec_values(&setup.specs)).ok()?;
        let out_slot = free_slot(&setup.descriptors, 1);
        let out_bytes = self.invocations * u64::from(plain.count) * u64::from(alone.element / 8);
        let given = Buffer { data: recorded.to_vec(), address: None };
        let out = Buffer { data: vec![0; out_bytes as usize], address: None };
        let bindings = [(self.descriptor.slot, Resource::Buffer(given)), (out_slot, Resource::Buffer(out))];
        let dispatch = Dispatch { bindings: BTreeMap::from(bindings), ..dispatch.clone() };
        let outcome = program.run(&dispatch, &Limits::default()).ok()?;
        if outcome.fault_count > 0 {
            return None;
        }
        let memory = outcome.memory.get(&out_slot)?;
        let scalar = scalar_of(&plain);
        let bits_of = |invocation: u64, plain: &Plain, offset: u32, component: u32| {
            let words = plain.width.div_ceil(32);
            let low = word(invocation, offset + component * words);
            if words > 1 { word(invocation, offset + component * words + 1) << 32 | low } else { low }
        };
        let (mut wrong, mut example) = (0, None);
        for &invocation in &executed {
            let outside = (0..plain.count).find_map(|component| {
                let element = u64::from(alone.element / 8);
                let at = (invocation * u64::from(plain.count) + u64::from(component)) * element;
                let permitted = Permitted::of(memory, at, alone.element)?;
                let got = bits_of(invocation, &plain, result, component);
                (permitted.judge(got) == Verdict::Outside).then_some((component, got, permitted))
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

/// A descriptor that the shader does not use.
fn free_slot(descriptors: &[Descriptor], number: u32) -> Slot {
    let set = descriptors.first().map_or(0, |d| d.slot.set);
    let used = descriptors.iter().filter(|d| d.slot.set == set).map(|d| d.slot.binding + 1).max();
    Slot { set, binding: used.unwrap_or(0) + number, element: 0 }
}

/// What is recorded, and how many words that takes.
fn records(module: &Module, functions: impl Iterator<Item = usize>) -> (Vec<Record>, u32) {
    let mut next = 0;
    let mut records = Vec::new();
    for function in functions {
        let Some(function) = module.functions().get(function) else { continue };
        for i in module.instructions_in(function.instructions.clone()) {
            let Some((operands, result, plain)) = recordable(module, &i) else { continue };
            let offset = next;
            next += 1;
            let mut place = |plain: &Plain| {
                next += words_of(plain);
                next - words_of(plain)
            };
            let operands = operands.into_iter().map(|(id, plain)| (id, plain, place(&plain))).collect();
            let result = (result, plain, place(&plain));
            records.push(Record { index: i.index.0, at: i.at, offset, operands, result });
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
    let fits = |plain: &Plain| matches!(plain.width, 1 | 32 | 64) || plain.width == 16 && has_int(module, 16);
    let plain = Plain::of_value(module, result).filter(fits)?;
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
                match Plain::of_value(module, word).filter(fits) {
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

fn has_int(module: &Module, width: u32) -> bool {
    module.types().any(|(_, ty)| matches!(ty, Type::Int { width: w, .. } if *w == width))
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

/// Stores words into an invocation's records.
struct Recorder {
    uint: u32,
    buffer: u32,
    base: u32,
    element: u32,
}

impl Recorder {
    fn word(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, from: u32, offset: u32, word: u32) {
        debug_assert_ne!(self.base, 0);
        let [at, pointer] = [editor.id(), editor.id()];
        let (zero, offset) = (editor.constant(self.uint, 32, 0), editor.constant(self.uint, 32, offset.into()));
        code.extend(instruction(Op::IAdd, &[self.uint, at, from, offset]));
        code.extend(instruction(Op::AccessChain, &[self.element, pointer, self.buffer, zero, at]));
        code.extend(instruction(Op::Store, &[pointer, word]));
    }
}

/// A value's bits as 32-bit words, component by component, the lower word first.
fn as_words(editor: &mut Editor<'_>, code: &mut Vec<u32>, value: u32, plain: &Plain) -> Vec<u32> {
    let uint = editor.uint(32);
    let mut words = Vec::new();
    for i in 0..plain.count {
        let component = match plain.count {
            1 => value,
            _ => {
                let component = editor.id();
                code.extend(instruction(Op::CompositeExtract, &[plain.component, component, value, i]));
                component
            }
        };
        let id = editor.id();
        match (plain.kind, plain.width) {
            (PlainKind::Bool, _) => {
                let (one, zero) = (editor.constant(uint, 32, 1), editor.constant(uint, 32, 0));
                code.extend(instruction(Op::Select, &[uint, id, component, one, zero]));
                words.push(id);
            }
            (PlainKind::Int { signed: false }, 32) => words.push(component),
            (_, 32) => {
                code.extend(instruction(Op::Bitcast, &[uint, id, component]));
                words.push(id);
            }
            (kind, 16) => {
                let short = editor.uint(16);
                let bits = match kind {
                    PlainKind::Int { signed: false } => component,
                    _ => {
                        let bits = editor.id();
                        code.extend(instruction(Op::Bitcast, &[short, bits, component]));
                        bits
                    }
                };
                code.extend(instruction(Op::UConvert, &[uint, id, bits]));
                words.push(id);
            }
            _ => {
                let pair = editor.vector(uint, 2);
                code.extend(instruction(Op::Bitcast, &[pair, id, component]));
                for half in 0..2 {
                    let word = editor.id();
                    code.extend(instruction(Op::CompositeExtract, &[uint, word, id, half]));
                    words.push(word);
                }
            }
        }
    }
    words
}

/// The other way: defines `value` from words.
fn from_words(editor: &mut Editor<'_>, code: &mut Vec<u32>, words: &[u32], value: u32, plain: &Plain) {
    let uint = editor.uint(32);
    let each = plain.width.div_ceil(32) as usize;
    let mut components = Vec::new();
    for word in words.chunks(each) {
        let id = if plain.count == 1 { value } else { editor.id() };
        components.push(id);
        match (plain.kind, plain.width, word) {
            (PlainKind::Bool, _, [word, ..]) => {
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::INotEqual, &[plain.component, id, *word, zero]));
            }
            (PlainKind::Int { signed: false }, 32, [word, ..]) => {
                // There is no plain copy that every version has; adding zero is one.
                let zero = editor.constant(uint, 32, 0);
                code.extend(instruction(Op::IAdd, &[uint, id, *word, zero]));
            }
            (_, 32, [word, ..]) => code.extend(instruction(Op::Bitcast, &[plain.component, id, *word])),
            (kind, 16, [word, ..]) => {
                let short = editor.uint(16);
                let bits = if kind == (PlainKind::Int { signed: false }) { id } else { editor.id() };
                code.extend(instruction(Op::UConvert, &[short, bits, *word]));
                if bits != id {
                    code.extend(instruction(Op::Bitcast, &[plain.component, id, bits]));
                }
            }
            (_, _, halves) => {
                let (pair, both) = (editor.vector(uint, 2), editor.id());
                let mut operands = vec![pair, both];
                operands.extend_from_slice(halves);
                code.extend(instruction(Op::CompositeConstruct, &operands));
                code.extend(instruction(Op::Bitcast, &[plain.component, id, both]));
            }
        }
    }
    if plain.count > 1 {
        let mut operands = vec![plain.ty, value];
        operands.extend(components);
        code.extend(instruction(Op::CompositeConstruct, &operands));
    }
}

/// Code that computes a number of an invocation.
struct Computed {
    code: Vec<u32>,
    result: u32,
}

/// Code for `stride` times the invocation's place in the dispatch, and the input variables that it reads.
fn position(editor: &mut Editor<'_>, setup: &Setup, stride: u32) -> (Computed, Vec<u32>) {
    let uint = editor.uint(32);
    let uint3 = editor.vector(uint, 3);
    let index = builtin(editor, BuiltIn::LocalInvocationIndex, uint);
    let group = builtin(editor, BuiltIn::WorkgroupId, uint3);
    let mut code = Vec::new();
    let [id, local] = [editor.id(), editor.id()];
    code.extend(instruction(Op::Load, &[uint3, id, group]));
    code.extend(instruction(Op::Load, &[uint, local, index]));
    // The number of workgroups is that of this dispatch: a constant.
    let weights = [1, setup.groups[0], setup.groups[0].wrapping_mul(setup.groups[1])];
    let size = setup.local.iter().product::<u32>();
    let mut sum = local;
    for (axis, weight) in (0..).zip(weights) {
        let weight = editor.constant(uint, 32, u64::from(weight.wrapping_mul(size)));
        let [part, product, next] = std::array::from_fn(|_| editor.id());
        code.extend(instruction(Op::CompositeExtract, &[uint, part, id, axis]));
        code.extend(instruction(Op::IMul, &[uint, product, part, weight]));
        code.extend(instruction(Op::IAdd, &[uint, next, sum, product]));
        sum = next;
    }
    let (stride, result) = (editor.constant(uint, 32, stride.into()), editor.id());
    code.extend(instruction(Op::IMul, &[uint, result, sum, stride]));
    (Computed { code, result }, vec![index, group])
}

/// The input variable of a built-in: the module's own, or a new one.
fn builtin(editor: &mut Editor<'_>, which: BuiltIn, ty: u32) -> u32 {
    let module = editor.module();
    let own = module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)).find_map(|i| {
        let id = i.result()?;
        let mut decorations = module.decorations(id);
        let is =
            decorations.any(|d| d.decoration == Some(Decoration::BuiltIn) && d.operands.first() == Some(&which.word()));
        (is && i.operand(0) == Some(StorageClass::Input.word())).then_some(id)
    });
    own.unwrap_or_else(|| {
        let pointer = editor.pointer(StorageClass::Input, ty);
        let variable = editor.variable(pointer, StorageClass::Input);
        editor.annotate(Op::Decorate, &[variable, Decoration::BuiltIn.word(), which.word()]);
        variable
    })
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
    let stride = editor.constant(uint, 32, traced.stride.into());
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
    let executed = load(&mut editor, &mut code, record.offset);
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
