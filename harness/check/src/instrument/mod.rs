//! Instrumentation: a variant of the shader that records its intermediate results, and their check.
//!
//! # Technique
//!
//! The variant stores, next to each instruction that computes numbers, the operands and the result
//! into a storage buffer of its own (Larus and Ball, "Rewriting Executable Files to Measure Program
//! Behavior", 1994). The inserted code with its place in the record is a *probe*. After the
//! dispatch, each probed instruction is checked alone: a small module loads the recorded operands,
//! executes the one instruction and stores its result, and the oracle computes the permitted set
//! ([`recheck`]). A named instruction is therefore wrong for its own operands; an instruction that
//! only passes on a wrong operand is not named.
//!
//! * Contraction would make results depend on more than the recorded operands, so the variant
//!   forbids it (`NoContraction`) for each probed instruction.
//! * Loads are checked against an independent source: the initial contents of a buffer that the
//!   shader does not write, a built-in of the dispatch, or a shadow copy ([`shadow_copy`]). Calls
//!   are checked against the value that the function returned.
//! * Accesses to workgroup memory and atomics are checked for a history that explains all recorded
//!   values ([`memory_history`]).
//! * Operations across a subgroup are checked in uniform control flow, given the operands of all
//!   invocations of the subgroup ([`subgroup_probes`]).
//! * Values that may be undefined can have different bits at each use. Aggregates and variables
//!   with such values are left out ([`undef_analysis`]).
//!
//! # Record layout
//!
//! The buffer is an array of 32-bit words at an unused binding. Invocation `i` of the dispatch,
//! counted by workgroups and then by local index, owns the rows `i * rows_each` up to `(i + 1) *
//! rows_each`, of `stride` words each.
//!
//! * `rows_each` is 1 if the entry point executes every block at most once. Otherwise it is a power
//!   of two, at most 64, so that all rows fit into 32 MiB. The rows are a ring: execution `n` of a
//!   block uses row `n mod rows_each`, so the last executions remain.
//! * A row starts as zeros, except that words of operands and results of computations start as
//!   [`UNWRITTEN`]: drivers drop stores of values that they know to be undefined, such as those
//!   after a division by zero ("the value returned is poison"). For each block with probes of computations it has one word with the
//!   time of execution, where 0 means that the block was not executed. The time is a counter of the
//!   invocation, incremented at the start of each block with probes and after each call. Other
//!   probes have a time word of their own.
//! * A value takes its scalars in order, each in whole words: booleans as 0 or 1, narrow integers
//!   extended with zeros, 16-bit floats in the low half, 64-bit scalars with the low word first. A
//!   value that several probes of a block use is stored once.
//! * The first row of an invocation also holds data of the whole invocation: the shadow copies, the
//!   time and place of the first access out of bounds, and the invocation's place in its subgroup
//!   with the size of that.
//!
//! # Limits
//!
//! The variant does not record control flow, stores by themselves, texels of images that the shader
//! writes, subgroup operations in non-uniform control flow, and other operations between
//! invocations; [`InstrumentedModule::unrecorded`] lists the instructions that were left out. It is
//! another program than the shader: an error that depends on contraction, register allocation or
//! optimisation across instructions may not occur in it. If more executions than rows exist, the
//! earlier ones are lost.

mod emit;
mod load_probes;
mod memory_history;
mod probes;
mod recheck;
mod record_layout;
mod recorded_value;
mod shadow_copy;
mod shared_memory;
mod store_probes;
mod subgroup_probes;
mod undef_analysis;

pub(crate) use probes::JudgedProbe;
pub use store_probes::ElementStore;
pub(crate) use subgroup_probes::{SubgroupPlace, is_uniform};

use emit::Recorder;
use load_probes::LoadProbe;
use probes::Probe;
use record_layout::RecordLayout;
use recorded_value::{RecordedValue, ScalarPart};
use shadow_copy::ShadowCopies;
use shared_memory::SharedMemoryProbes;
use store_probes::StoreProbe;
use subgroup_probes::SubgroupRecord;

use crate::DispatchSetup;
use crate::composite_types::parts;
use crate::memory_layout::read_bits;
use assay_events::{Blame, DerivationStep};
use assay_exec::Descriptor;
use assay_float::{F16, F32, F64};
use assay_oracle::{AtomicExecution, AtomicHistory, Buffer, Dispatch, Resource, Slot};
use assay_precision::Scalar;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector};
use assay_spirv::module::{Instruction, InstructionIndex, Section};
use assay_spirv::reflect::{DescriptorKind, EntryPointUses, TypeLayout, static_uses};
use assay_spirv::tables::{Capability, GlslStd450, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Largest size of the record buffer in bytes.
const MAX_BYTES: u64 = 1 << 28;

/// Word that no store replaced: a NaN with an arbitrary payload.
const UNWRITTEN: u32 = 0x7fe1_5bad;

/// Reason why a shader cannot be instrumented.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no trace: {0}")]
pub struct TraceError(String);

/// An instrumented variant of a module, with the layout of its records.
#[derive(Debug)]
pub struct InstrumentedModule {
    /// SPIR-V words of the variant.
    pub words: Vec<u32>,
    /// Descriptor of the record buffer.
    pub descriptor: Descriptor,
    rows: RecordLayout,
    probes: Vec<Probe>,
    loads: Vec<LoadProbe>,
    stores: Vec<StoreProbe>,
    shared: SharedMemoryProbes,
    subgroups: Option<SubgroupRecord>,
    /// As [`ShadowCopies::first_out_of_bounds`].
    first_out_of_bounds: Option<u32>,
    /// Names of instructions that compute something and have no probe.
    unrecorded: BTreeSet<String>,
}

/// Selection of the instructions to record. A device compiles a variant with few probes much
/// faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeSelection {
    /// Every instruction that can be checked.
    All,
    /// The instruction with this result id.
    Result(u32),
    /// The computations among the instructions from one index up to another, without loads and
    /// accesses to shared memory.
    Computations {
        /// First index.
        from: u32,
        /// End of the indices.
        to: u32,
        /// Results with ids from here on are not recorded.
        bound: u32,
    },
    /// Nondeterministic choices of the device: operands and results of integer atomics, and with
    /// `subgroup_layout` the place of each invocation in its subgroup.
    Choices {
        /// Set to record the subgroup layout.
        subgroup_layout: bool,
    },
}

/// Returns the indices of the computations that can be recorded, in the order of the module, and the
/// names of the instructions that compute a value and cannot. Results with ids from `bound` on do
/// not count.
pub(crate) fn computations(module: &Module, entry: &str, bound: u32) -> (Vec<u32>, Vec<String>) {
    let Some(usage) = static_uses(module).into_iter().find(|u| u.name == entry) else { return Default::default() };
    let (probes, _) = probes::find(module, &usage, &undef_analysis::find(module, &usage), |id| id < bound);
    let indices: BTreeSet<u32> = probes.iter().map(|probe| probe.index).collect();
    let passes =
        |id: u32| module.definition_of(id).is_some_and(|made| matches!(made.op, Some(Op::Load | Op::FunctionCall)));
    let unrecorded = unrecorded(module, &usage, &indices, |id| id < bound && !passes(id));
    (indices.into_iter().collect(), unrecorded.into_iter().collect())
}

/// Creates an instrumented variant of a module.
///
/// # Errors
/// No instruction can be recorded, or the records would be too large.
pub fn instrument(
    module: &Module,
    setup: &DispatchSetup,
    recorded: ProbeSelection,
) -> Result<InstrumentedModule, TraceError> {
    let usage = static_uses(module).into_iter().find(|u| u.name == setup.entry);
    let usage = usage.ok_or_else(|| TraceError("the entry point is missing".into()))?;
    let (all, only) = match recorded {
        ProbeSelection::All => (true, None),
        ProbeSelection::Result(id) => (false, Some(id)),
        ProbeSelection::Computations { .. } | ProbeSelection::Choices { .. } => (false, None),
    };
    let within = |id: u32| match recorded {
        ProbeSelection::Computations { from, to, bound } => {
            id < bound && module.definition_of(id).is_some_and(|made| (from..to).contains(&made.index.0))
        }
        _ => false,
    };
    let wanted = |id: u32| all || only == Some(id) || within(id);
    let undefined = undef_analysis::find(module, &usage);
    let (probes, next) = match recorded {
        ProbeSelection::Choices { .. } => probes::atomics(module, &usage),
        _ => probes::find(module, &usage, &undefined, wanted),
    };
    let (stores, next) = if all { store_probes::find(module, &usage, next) } else { (Vec::new(), next) };
    // Shadow copies serve loads and calls only. Shared memory needs probes of all its accesses, or
    // none.
    let op = only.and_then(|id| module.definition_of(id)?.op);
    let loads = all || load_probes::is_load_or_call(op);
    let (copies, next) =
        if loads { ShadowCopies::find(module, &usage, &undefined, next) } else { (ShadowCopies::default(), next) };
    let (loads, next) = match recorded {
        ProbeSelection::Computations { .. } => (Vec::new(), next),
        _ => load_probes::find((module, setup), &usage, &copies, next, wanted),
    };
    let shared = all || op.is_some_and(|op| op == Op::Load || op.name().starts_with("OpAtomic"));
    let (shared, next) = if shared {
        SharedMemoryProbes::find(module, &usage, &undefined, next)
    } else {
        (SharedMemoryProbes::default(), next)
    };
    let layout = recorded == ProbeSelection::Choices { subgroup_layout: true };
    if layout && !subgroup_probes::has_builtins(module) {
        return Err(TraceError("SubgroupId requires the capability GroupNonUniform, which the module lacks".into()));
    }
    let subgroups = (layout || probes.iter().any(|probe| probe.across_subgroup))
        .then(|| SubgroupRecord::find(module, &usage, next))
        .flatten();
    let stride = subgroups.map_or(next, |subgroups| subgroups.end());
    if probes.is_empty() && loads.is_empty() && shared.is_empty() && !layout {
        let what = match recorded {
            ProbeSelection::Choices { .. } => "no integer atomic returns its old value",
            _ => "the shader has no instruction that can be recorded",
        };
        return Err(TraceError(what.into()));
    }
    let indices = probes.iter().map(|probe| probe.index).chain(loads.iter().map(|load| load.index));
    let unrecorded = unrecorded(module, &usage, &indices.chain(shared.instructions()).collect(), wanted);
    let local = setup.local.iter().product::<u32>();
    let invocations = setup.groups.iter().fold(u64::from(local), |n, &side| n.saturating_mul(u64::from(side)));
    let rows = RecordLayout::find(module, &usage, invocations, stride);
    let bytes = rows.bytes();
    if bytes > MAX_BYTES {
        let what = format!("the records would take {bytes} bytes, more than {MAX_BYTES}; dispatch fewer workgroups");
        return Err(TraceError(what));
    }
    let slot = free_slot(&setup.descriptors, 0);
    let mut editor = Editor::new(module);
    let uint = editor.uint(32);
    let buffer = editor.storage_array(uint, 4, slot.set, slot.binding);
    let copied = copies.shadow_stores(module, &usage);
    let sites = probes.iter().map(|probe| probe.at).chain(stores.iter().map(|store| store.at));
    let sites = sites.chain(loads.iter().map(|load| load.at)).chain(shared.sites());
    let sites =
        sites.chain(copied.iter().map(|copied| copied.at)).chain(subgroups.map(|subgroups| subgroups.at)).collect();
    let no_body = || TraceError("the entry point has no body".into());
    let function = module.function(usage.function).ok_or_else(no_body)?;
    let mut found = rows.locate(&mut editor, setup, function, &sites).ok_or_else(no_body)?;
    if let ProbeSelection::Computations { .. } = recorded {
        // Instructions outside of the range must not be combined with recorded ones either.
        let others = probes::find(module, &usage, &undefined, |id| !within(id)).0;
        others.iter().for_each(|probe| probe.forbid_contraction(&mut editor));
    }
    let recorder = Recorder { uint, buffer, element: editor.pointer(StorageClass::StorageBuffer, uint) };
    let here = |at: usize| found.positions.get(&at).copied();
    for (copied, here) in copied.iter().filter_map(|copied| Some((copied, here(copied.at)?))) {
        copies.store(&mut editor, &recorder, copied, here);
    }
    for (probe, here) in probes.iter().filter_map(|probe| Some((probe, here(probe.at)?))) {
        probe.record(&mut editor, &recorder, here);
    }
    for (store, here) in stores.iter().filter_map(|store| Some((store, here(store.at)?))) {
        store.record(&mut editor, &recorder, here);
    }
    for (load, here) in loads.iter().filter_map(|load| Some((load, here(load.at)?))) {
        load.record(&mut editor, &recorder, &copies, here);
    }
    if let Some((subgroups, here)) = subgroups.and_then(|subgroups| Some((subgroups, here(subgroups.at)?))) {
        found.inputs.extend(subgroups.record(&mut editor, &recorder, here));
    }
    let mut variables = found.variables;
    variables.extend(shared.record(&mut editor, &recorder, function, here));
    variables.push(buffer);
    editor.add_to_interface(usage.function, &found.inputs, &variables);
    let word = Arc::new(TypeLayout::Int { width: 32, signed: false });
    let array = TypeLayout::Array { element: word, count: None, stride: Some(4) };
    let descriptor = Descriptor {
        slot,
        name: None,
        kind: DescriptorKind::StorageBuffer,
        block: Some(Arc::new(array)),
        texels: None,
        compares_depth: false,
        may_be_written: true,
        bytes,
    };
    let (words, first_out_of_bounds) = (editor.finish(), copies.first_out_of_bounds);
    Ok(InstrumentedModule {
        words,
        descriptor,
        rows,
        probes,
        loads,
        stores,
        shared,
        subgroups,
        first_out_of_bounds,
        unrecorded,
    })
}

impl InstrumentedModule {
    /// Returns the names of instructions that compute a value and have no probe.
    pub fn unrecorded(&self) -> impl Iterator<Item = &str> {
        self.unrecorded.iter().map(String::as_str)
    }

    /// Returns the dispatch with the record buffer added, in which nothing is recorded.
    pub fn dispatch(&self, dispatch: &Dispatch) -> Dispatch {
        let mut dispatch = dispatch.clone();
        let mut row = vec![0; self.rows.stride as usize];
        for value in self.probes.iter().flat_map(Probe::values) {
            row[value.word as usize..][..value.layout.words() as usize].fill(UNWRITTEN);
        }
        let row: Vec<u8> = row.into_iter().flat_map(u32::to_le_bytes).collect();
        let data = row.repeat(self.rows.count() as usize);
        dispatch.bindings.insert(self.descriptor.slot, Resource::Buffer(Buffer { data, address: None }));
        dispatch
    }

    /// Returns a reader of the records in `outputs`, the memory after a dispatch of the variant;
    /// `None` if the record buffer is missing. `dispatch` is the original one, without the record
    /// buffer. `place` gives the source location of an instruction.
    pub fn reader<'a>(
        &'a self,
        module: &'a Module,
        setup: &'a DispatchSetup,
        dispatch: &'a Dispatch,
        outputs: &'a BTreeMap<Slot, Vec<u8>>,
        place: &'a dyn Fn(u32) -> String,
    ) -> Option<TraceReader<'a>> {
        let recorded = outputs.get(&self.descriptor.slot)?;
        Some(TraceReader { instrumented: self, module, setup, dispatch, outputs, recorded, place })
    }
}

/// Reader of the records of one dispatch.
#[derive(Clone, Copy)]
pub struct TraceReader<'a> {
    instrumented: &'a InstrumentedModule,
    module: &'a Module,
    setup: &'a DispatchSetup,
    dispatch: &'a Dispatch,
    outputs: &'a BTreeMap<Slot, Vec<u8>>,
    recorded: &'a [u8],
    place: &'a dyn Fn(u32) -> String,
}

impl TraceReader<'_> {
    /// Returns a word of a row.
    fn word(&self, row: u64, offset: u32) -> u64 {
        let stride = u64::from(self.instrumented.rows.stride);
        read_bits(self.recorded, (row * stride + u64::from(offset)) * 4, 32).unwrap_or(0)
    }

    /// Returns the bits of a scalar; `word` is the first word of its value.
    fn bits(&self, row: u64, word: u32, part: &ScalarPart) -> u64 {
        let low = self.word(row, word + part.word);
        if part.plain.width > 32 { self.word(row, word + part.word + 1) << 32 | low } else { low }
    }

    /// Returns type and bits of each scalar of a recorded value.
    fn scalars(&self, row: u64, value: &RecordedValue) -> impl Iterator<Item = (Scalar, u64)> {
        value.layout.scalars.iter().map(move |part| (part.scalar(), self.bits(row, value.word, part)))
    }

    /// Returns the rows in which the time word `executed` is not 0.
    fn executed(&self, rows: Range<u64>, executed: u32) -> impl Iterator<Item = u64> {
        rows.filter(move |row| self.word(*row, executed) != 0)
    }

    /// Returns whether the invocation had accessed one of its variables out of bounds before it
    /// executed `instruction` in this row. From then on, the variable's contents are not known and
    /// may differ from use to use. The time of some instructions is that of their block, so ties
    /// are broken by the place in the module.
    fn is_out_of_bounds(&self, row: u64, executed: u32, instruction: u32) -> bool {
        let rows = &self.instrumented.rows;
        let first = rows.of_invocation(rows.invocation(row)).start;
        let words = |word: u32| [self.word(first, word), self.word(first, word + 1)];
        let [since, at] = self.instrumented.first_out_of_bounds.map_or([0; 2], words);
        since != 0 && [self.word(row, executed), instruction.into()] > [since, at]
    }

    /// Returns the derivation of a stored value in one invocation: the recorded instructions that
    /// it depends on, each with its operands, its result, and the permitted set for these operands.
    pub fn derivation(&self, writer: &ElementStore) -> Vec<DerivationStep> {
        let slice = store_probes::slice(self.module, writer.value);
        let recorded = self.instrumented.probes.iter().filter(|probe| slice.contains(&probe.result.id));
        let last = |probe: &Probe| {
            // If it was executed more than once, the last execution before the store.
            let time = |row: &u64| self.word(*row, probe.executed);
            let executed = self.executed(self.instrumented.rows.of_invocation(writer.invocation), probe.executed);
            executed.filter(|row| time(row) <= writer.time).max_by_key(time)
        };
        recorded.filter_map(|probe| Some(self.derived(probe, last(probe)?))).collect()
    }

    /// Returns the history of the recorded atomics; `None` if none is recorded. Executions of an
    /// invocation are left out if some of them may be lost.
    pub fn atomic_history(&self) -> Option<AtomicHistory> {
        if self.instrumented.probes.is_empty() {
            return None;
        }
        let mut observed = AtomicHistory::default();
        let rows = &self.instrumented.rows;
        for probe in &self.instrumented.probes {
            let scalar = |row, value: &RecordedValue| Some(self.bits(row, value.word, value.layout.scalars.first()?));
            let at = InstructionIndex(probe.index);
            let may_be_lost = rows.may_be_lost(self.module, at);
            for invocation in 0..rows.invocations {
                let mut executed: Vec<u64> = self.executed(rows.of_invocation(invocation), probe.executed).collect();
                if executed.is_empty() || (may_be_lost && executed.len() == rows.rows_each as usize) {
                    continue;
                }
                executed.sort_by_key(|row| self.word(*row, probe.executed));
                let execution = |row| {
                    let given = probe.operands.first().and_then(|given| scalar(row, given));
                    Some(AtomicExecution { found: scalar(row, &probe.result)?, operand: given })
                };
                observed.insert(at, invocation, executed.into_iter().filter_map(execution).collect());
            }
        }
        Some(observed)
    }

    /// Checks the recorded computations that were executed by themselves, in about `rows` records each.
    /// Returns them with their instructions, in the order of the module.
    pub(crate) fn judged_computations(&self, rows: u64) -> impl Iterator<Item = (u32, JudgedProbe)> {
        self.instrumented.probes.iter().filter_map(move |probe| Some((probe.index, self.judge(probe, rows)?)))
    }

    /// Returns the instructions whose results are not permitted for their operands, in the order of
    /// the module.
    pub fn blamed_instructions(&self) -> Vec<Blame> {
        let judged = self.instrumented.probes.iter().filter_map(|probe| self.judge(probe, u64::MAX));
        let computed = judged.filter_map(|judged| judged.blame);
        let loaded = self.instrumented.loads.iter().filter_map(|load| load_probes::blame(load, self));
        let mut blamed: Vec<Blame> = computed.chain(loaded).chain(shared_memory::blame(self)).collect();
        blamed.sort_by_key(|blame| blame.instruction);
        blamed
    }
}

/// Returns the names of the wanted instructions that compute a value and are not in `seen`.
fn unrecorded(
    module: &Module,
    usage: &EntryPointUses,
    seen: &BTreeSet<u32>,
    wanted: impl Fn(u32) -> bool,
) -> BTreeSet<String> {
    let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
    let makes = |i: &Instruction<'_>| {
        let passes = matches!(i.op, Some(Op::Function | Op::FunctionParameter | Op::Phi | Op::Undef));
        let ty = i.result().filter(|id| !passes && wanted(*id)).and_then(|id| module.type_of(id));
        ty.is_some_and(|ty| ScalarOrVector::of(module, ty).is_some() || parts(module, ty).is_some())
    };
    instructions.filter(makes).filter(|i| !seen.contains(&i.index.0)).map(|i| name(&i)).collect()
}

/// Returns the name of an instruction; for a GLSL extended instruction, the name of that.
pub(crate) fn name(i: &Instruction<'_>) -> String {
    match (i.op, i.operand(1)) {
        (Some(Op::ExtInst), Some(number)) => {
            GlslStd450::from_word(number).map_or_else(|| "OpExtInst".into(), |op| format!("{op:?}"))
        }
        (op, _) => op.map_or("?", Op::name).to_owned(),
    }
}

/// Returns the type of a recorded scalar; booleans are recorded as words.
fn scalar_of(plain: &ScalarOrVector) -> Scalar {
    match (plain.kind, plain.width) {
        (ComponentKind::Float, 16) => Scalar::Float(F16),
        (ComponentKind::Float, 64) => Scalar::Float(F64),
        (ComponentKind::Float, _) => Scalar::Float(F32),
        (ComponentKind::Int { signed }, width) => Scalar::Int { width, signed },
        (ComponentKind::Bool, _) => Scalar::Int { width: 32, signed: false },
    }
}

/// Returns an unused descriptor slot, `number` bindings after the last one in use.
fn free_slot(descriptors: &[Descriptor], number: u32) -> Slot {
    let bound = || descriptors.iter().filter(|d| !d.is_addressed());
    let set = bound().next().map_or(0, |d| d.slot.set);
    let used = bound().filter(|d| d.slot.set == set).map(|d| d.slot.binding + 1).max();
    Slot { set, binding: used.unwrap_or(0) + number, element: 0 }
}

/// Returns whether values of a type can be converted to words. A module without the capability
/// `Float16` can only load and store 16-bit floats, so these cannot.
fn fits(module: &Module, plain: &ScalarOrVector) -> bool {
    let halves = |i: Instruction<'_>| i.op == Some(Op::Capability) && i.operand(0) == Some(Capability::Float16.word());
    (plain.kind, plain.width) != (ComponentKind::Float, 16) || module.section(Section::Capabilities).any(halves)
}
