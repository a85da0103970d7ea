//! Probes of memory that invocations share: accesses to workgroup variables, and atomics on
//! buffers.
//!
//! A variable is probed at every access that may change it, with the indices and values of the
//! device, or not at all. [`super::memory_history`] checks the accesses to each scalar.

use super::TraceReader;
use super::emit::{Recorder, to_words};
use super::memory_history::{self, AccessEvent, Contradiction, Culprit, Effect};
use super::record_layout::{RecordPosition, increment, insertion_point};
use super::recorded_value::{RecordedValue, ScalarPart, ValueLayout};
use super::store_probes::{AccessIndex, locate};
use crate::base_variable::{base_variable, slot_of};
use crate::compare::{data_of, hex};
use crate::composite_types::length_of;
use crate::memory_layout::read_bits;
use assay_events::{Blame, BlameExample};
use assay_exec::Descriptor;
use assay_oracle::left_by_atomic;
use assay_precision::Scalar;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::{BlockIndex, Function, Instruction, InstructionIndex, Type};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Decoration, Op, Scope, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Probe of an access.
#[derive(Clone, Debug)]
struct AccessProbe {
    /// Index of the instruction in the module.
    index: u32,
    /// Word offset of the instruction in the module.
    at: usize,
    /// Word of the row that holds the time of execution, or 0.
    executed: u32,
    /// Word of the row that holds the number of barriers passed.
    epoch: u32,
    variable: u32,
    path: Vec<AccessIndex>,
    kind: AccessKind,
}

/// Kind of an access, with its values.
#[derive(Clone, Debug)]
enum AccessKind {
    /// Loads a value.
    Load(RecordedValue),
    /// Stores a value.
    Store(RecordedValue),
    /// Stores zeros to the whole part.
    Clear,
    /// Atomic: the value found, and its operands.
    Atomic { op: Op, found: RecordedValue, given: Vec<RecordedValue> },
}

/// Probe of a workgroup barrier.
#[derive(Clone, Debug)]
struct BarrierProbe {
    index: u32,
    at: usize,
    executed: u32,
    epoch: u32,
}

/// Probes of the shared memory of an entry point.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedMemoryProbes {
    accesses: Vec<AccessProbe>,
    barriers: Vec<BarrierProbe>,
}

impl SharedMemoryProbes {
    /// Returns the probes, whose words start at `next`, and the first word after them. A variable
    /// is left out if an aggregate in `undefined` is stored to it.
    pub(super) fn find(
        module: &Module,
        usage: &EntryPointUses,
        undefined: &BTreeSet<u32>,
        mut next: u32,
    ) -> (SharedMemoryProbes, u32) {
        let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions: Vec<Instruction<'_>> =
            functions.flat_map(|f| module.instructions_in(f.instructions.clone())).collect();
        let mut room = |words: u32| {
            next += words;
            next - words
        };
        let mut accesses = Vec::new();
        for (variable, class) in variables(module, &instructions) {
            let of = (variable, class);
            accesses.extend(accesses_of(module, &instructions, undefined, of, &mut room).unwrap_or_default());
        }
        let mut barriers = Vec::new();
        if !accesses.is_empty() {
            let of_workgroup = |i: &&Instruction<'_>| {
                let scope = i.operand(0).and_then(|scope| module.constant_int(scope));
                i.op == Some(Op::ControlBarrier) && scope == Some(Scope::Workgroup as i64)
            };
            let barrier =
                |i: &Instruction<'_>| BarrierProbe { index: i.index.0, at: i.at, executed: room(1), epoch: room(1) };
            barriers = instructions.iter().filter(of_workgroup).map(barrier).collect();
        }
        (SharedMemoryProbes { accesses, barriers }, next)
    }

    /// Returns true if there are no probes.
    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Returns the indices of the probed accesses in the module.
    pub(super) fn instructions(&self) -> impl Iterator<Item = u32> {
        self.accesses.iter().map(|access| access.index)
    }

    /// Returns the word offsets of all probed instructions.
    pub(super) fn sites(&self) -> impl Iterator<Item = usize> {
        self.accesses.iter().map(|access| access.at).chain(self.barriers.iter().map(|barrier| barrier.at))
    }

    /// Inserts the code of the probes. Returns the variable that it needs.
    pub(super) fn record(
        &self,
        editor: &mut Editor<'_>,
        recorder: &Recorder,
        entry: &Function,
        here: impl Fn(usize) -> Option<RecordPosition>,
    ) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let uint = recorder.uint;
        let private = editor.pointer(StorageClass::Private, uint);
        let epochs = editor.variable(private, StorageClass::Private);
        let zero = editor.constant(uint, 32, 0);
        let first = insertion_point(editor.module(), BlockIndex(entry.blocks.start))?;
        editor.insert_after(first.at, &instruction(Op::Store, &[epochs, zero]));
        for access in &self.accesses {
            let Some(RecordPosition { row, time, .. }) = here(access.at) else { continue };
            let (mut code, epoch) = (Vec::new(), editor.id());
            code.extend(instruction(Op::Load, &[uint, epoch, epochs]));
            recorder.word(editor, &mut code, row, access.executed, time);
            recorder.word(editor, &mut code, row, access.epoch, epoch);
            access.path.iter().for_each(|index| index.record(editor, &mut code, recorder, row));
            for value in access.kind.values() {
                let words = to_words(editor, &mut code, value.id, &value.layout);
                for (offset, word) in (value.word..).zip(words) {
                    recorder.word(editor, &mut code, row, offset, word);
                }
            }
            editor.insert_after(access.at, &code);
        }
        for barrier in &self.barriers {
            let Some(RecordPosition { row, time, .. }) = here(barrier.at) else { continue };
            let mut code = Vec::new();
            let epoch = increment(editor, &mut code, epochs);
            recorder.word(editor, &mut code, row, barrier.executed, time);
            recorder.word(editor, &mut code, row, barrier.epoch, epoch);
            editor.insert_after(barrier.at, &code);
        }
        Some(epochs)
    }
}

impl AccessKind {
    fn values(&self) -> Vec<&RecordedValue> {
        match self {
            AccessKind::Load(value) | AccessKind::Store(value) => vec![value],
            AccessKind::Clear => Vec::new(),
            AccessKind::Atomic { found, given, .. } => given.iter().chain([found]).collect(),
        }
    }

    /// Returns the scalars that the access reaches; `None` for all scalars of the part.
    fn scalars(&self) -> Option<&[ScalarPart]> {
        match self {
            AccessKind::Load(value) | AccessKind::Store(value) | AccessKind::Atomic { found: value, .. } => {
                Some(&value.layout.scalars)
            }
            AccessKind::Clear => None,
        }
    }
}

/// Returns the variables whose accesses can all be identified.
fn variables(module: &Module, instructions: &[Instruction<'_>]) -> Vec<(u32, StorageClass)> {
    let pointer = |i: &Instruction<'_>| {
        let (class, pointee) = module.pointer(module.type_of(i.result()?)?)?;
        Some((i.result()?, class, pointee?))
    };
    let globals = module.instructions().take_while(|i| i.op != Some(Op::Function));
    let all: Vec<_> = globals.filter(|i| i.op == Some(Op::Variable)).filter_map(|i| pointer(&i)).collect();
    // A pointer that cannot be traced may point to any variable of its storage class.
    let unknown: Vec<StorageClass> = instructions
        .iter()
        .filter(|i| i.op != Some(Op::Load))
        .flat_map(|i| module.id_operands(*i))
        .filter(|id| base_variable(module, *id).is_none())
        .filter_map(|id| Some(module.pointer(module.type_of(id)?)?.0))
        .collect();
    // Variables decorated with `Aliased` may share memory.
    let aliased = |id: u32| module.decorations(id).any(|decoration| decoration.decoration == Some(Decoration::Aliased));
    let alike = |id: u32| all.iter().filter(|(other, ..)| slot_of(module, *other) == slot_of(module, id)).count();
    let followed = |(id, class, pointee): &(u32, StorageClass, _)| {
        let one = match class {
            StorageClass::Workgroup => true,
            // A buffer with a single variable.
            StorageClass::StorageBuffer => matches!(module.ty(*pointee), Type::Struct { .. }) && alike(*id) == 1,
            _ => false,
        };
        one && !aliased(*id) && !unknown.contains(class)
    };
    all.iter().filter(|v| followed(v)).map(|(id, class, _)| (*id, *class)).collect()
}

/// Returns the probes of a variable's accesses; `None` if one that may change it cannot be
/// followed.
fn accesses_of(
    module: &Module,
    instructions: &[Instruction<'_>],
    undefined: &BTreeSet<u32>,
    (variable, class): (u32, StorageClass),
    room: &mut impl FnMut(u32) -> u32,
) -> Option<Vec<AccessProbe>> {
    let shared = class == StorageClass::Workgroup;
    let (mut accesses, mut others) = (Vec::new(), Vec::new());
    for i in instructions {
        let used = |id: &u32| base_variable(module, *id).filter(|(base, _)| *base == variable);
        let uses: Vec<_> = module.id_operands(*i).iter().filter_map(used).collect();
        let Some((_, ids)) = uses.first() else { continue };
        if matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain | Op::ArrayLength)) {
            continue;
        }
        // Stores to a buffer are not probed; only their indices matter.
        if i.op == Some(Op::Load) && !shared {
            continue;
        }
        let plain_store = i.op == Some(Op::Store) && !shared && i.operand(1).is_none_or(|value| used(&value).is_none());
        if plain_store {
            others.push(AccessIndex::all(module, ids, || 0)?);
            continue;
        }
        let path = AccessIndex::all(module, ids, || room(1))?;
        let Some(kind) = kind(module, i, undefined, room) else {
            // An atomic on a buffer that cannot be followed excludes only the parts that it may
            // reach.
            if shared || !i.op.is_some_and(|op| op.name().starts_with("OpAtomic")) {
                return None;
            }
            others.push(path);
            continue;
        };
        let (executed, epoch) = (room(1), room(1));
        accesses.push(AccessProbe { index: i.index.0, at: i.at, executed, epoch, variable, path, kind });
    }
    // Drops accesses that may overlap others that are not followed, until none is left to drop.
    loop {
        let before = accesses.len();
        accesses.retain(|access| {
            let apart = !others.iter().any(|other| may_overlap(other, &access.path));
            if !apart {
                others.push(access.path.clone());
            }
            apart
        });
        if accesses.len() == before {
            return Some(accesses);
        }
    }
}

/// Returns whether the indices are in bounds, as far as the types tell.
fn leads_inside(module: &Module, variable: u32, path: &[u64]) -> bool {
    let mut part = module.type_of(variable).and_then(|ty| module.pointer(ty)?.1);
    path.iter().all(|&index| {
        let Some(whole) = part else { return true };
        let (next, count) = match *module.ty(whole) {
            Type::Struct { .. } => {
                let members = module.members(whole);
                (members.get(index as usize).copied(), members.len() as u64)
            }
            Type::Array { element, length } => (Some(element), length_of(module, length).map_or(u64::MAX, u64::from)),
            Type::Matrix { column, count } => (Some(column), count.into()),
            Type::Vector { component, count } => (Some(component), count.into()),
            _ => (None, u64::MAX),
        };
        part = next;
        index < count
    })
}

/// Returns whether two paths into a variable may lead to the same location.
fn may_overlap(a: &[AccessIndex], b: &[AccessIndex]) -> bool {
    let differ = |(a, b): (&AccessIndex, &AccessIndex)| matches!((a, b), (AccessIndex::Constant(a), AccessIndex::Constant(b)) if a != b);
    !a.iter().zip(b).any(differ)
}

/// Returns the kind of an access; `None` if it cannot be followed.
fn kind(
    module: &Module,
    i: &Instruction<'_>,
    undefined: &BTreeSet<u32>,
    room: &mut impl FnMut(u32) -> u32,
) -> Option<AccessKind> {
    let op = i.op?;
    let mut value = |id: u32| {
        let stored = i.result() != Some(id) && undefined.contains(&id);
        let layout = ValueLayout::of_value(module, id).filter(|layout| !stored || !layout.is_aggregate(module))?;
        Some(RecordedValue { id, word: room(layout.words()), layout })
    };
    match op {
        Op::Load => Some(AccessKind::Load(value(i.result()?)?)),
        Op::Store => {
            let stored = i.operand(1)?;
            if module.definition_of(stored)?.op == Some(Op::ConstantNull) {
                return Some(AccessKind::Clear);
            }
            Some(AccessKind::Store(value(stored)?))
        }
        Op::AtomicStore => Some(AccessKind::Store(value(i.operand(3)?)?)),
        _ => {
            // The result of other atomics is not modelled.
            left_by_atomic(op, 32, 0, &[])?;
            let given = match op {
                Op::AtomicLoad | Op::AtomicIIncrement | Op::AtomicIDecrement => vec![],
                Op::AtomicCompareExchange => vec![i.operand(4)?, i.operand(5)?],
                _ => vec![i.operand(3)?],
            };
            let found = value(i.result()?)?;
            matches!(ScalarOrVector::of_value(module, found.id)?.kind, ComponentKind::Int { .. }).then_some(())?;
            let given = given.into_iter().map(value).collect::<Option<_>>()?;
            Some(AccessKind::Atomic { op, found, given })
        }
    }
}

/// A scalar in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Location {
    /// Index of the workgroup; 0 for buffers.
    workgroup: u64,
    /// Id of the variable.
    variable: u32,
    /// Indices from the variable to the scalar.
    path: Vec<u64>,
}

/// Accesses to one location.
struct LocationHistory {
    scalar: Scalar,
    width: u32,
    events: Vec<AccessEvent>,
}

/// Checks the recorded accesses to shared memory. Returns the instructions and barriers at fault.
pub(super) fn blame(reader: &TraceReader<'_>) -> Vec<Blame> {
    let mut blamed: BTreeMap<u32, (u64, Scalar, Contradiction)> = BTreeMap::new();
    let note = |blamed: &mut BTreeMap<_, (u64, _, _)>, instruction: u32, scalar: Scalar, wrong: Contradiction| {
        blamed.entry(instruction).or_insert((0, scalar, wrong)).0 += 1;
    };
    let mut at_barriers: Vec<(Vec<u32>, Scalar, Contradiction)> = Vec::new();
    for (Location { variable, path, .. }, LocationHistory { scalar, width, events }) in reader.histories() {
        let [first, last] = reader.known_contents(variable, &path, width).unwrap_or_default();
        for wrong in memory_history::contradictions(events, first, last) {
            match wrong.culprit {
                Culprit::Instruction(instruction) => note(&mut blamed, instruction, scalar, wrong),
                Culprit::Barrier(after, to) => at_barriers.push((reader.barriers(wrong.by, after, to), scalar, wrong)),
            }
        }
    }
    // An atomic that is already blamed for a lost change explains these as well.
    at_barriers.retain(|(_, scalar, wrong)| {
        let lost = wrong.lost_update.filter(|instruction| blamed.contains_key(instruction));
        if let Some(instruction) = lost {
            note(&mut blamed, instruction, *scalar, *wrong);
        }
        lost.is_none()
    });
    // Several barriers may lie between two epochs; the one that explains the most comes first.
    while let Some(most) = most_frequent(at_barriers.iter().flat_map(|(barriers, ..)| barriers)) {
        at_barriers.retain(|(barriers, scalar, wrong)| {
            let explained = barriers.contains(&most);
            if explained {
                note(&mut blamed, most, *scalar, *wrong);
            }
            !explained
        });
    }
    let blame = |(instruction, (wrong, scalar, example)): (u32, (u64, Scalar, Contradiction))| Blame {
        instruction,
        name: super::name(&reader.module.instruction(InstructionIndex(instruction))),
        place: (reader.place)(instruction),
        wrong,
        recorded: reader.executions(instruction).max(wrong),
        example: BlameExample {
            invocation: example.by,
            operands: Vec::new(),
            component: 0,
            got: hex(scalar, example.got),
            permitted: vec![[hex(scalar, example.expected), hex(scalar, example.expected)]],
            scalar: scalar.to_string(),
        },
    };
    blamed.into_iter().map(blame).collect()
}

fn most_frequent<'a>(all: impl Iterator<Item = &'a u32>) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    all.for_each(|one| *counts.entry(*one).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(one, _)| one)
}

impl TraceReader<'_> {
    /// Returns the workgroup of an invocation.
    fn workgroup_of(&self, invocation: u64) -> u64 {
        invocation / self.setup.local.iter().map(|&side| u64::from(side)).product::<u64>().max(1)
    }

    /// Returns the contents of a buffer location before and after the dispatch. They are not known
    /// for workgroup memory; `None` if the location is outside the buffer.
    fn known_contents(&self, variable: u32, path: &[u64], width: u32) -> Option<[Option<u64>; 2]> {
        let Some(slot) = slot_of(self.module, variable) else { return Some([None; 2]) };
        let descriptor = self.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?;
        let (offset, _) = locate(descriptor.block.as_ref()?, path.iter().copied())?;
        let bits = |data: &[u8]| read_bits(data, offset, width);
        Some([Some(bits(data_of(self.dispatch, slot)?)?), Some(bits(self.outputs.get(&slot)?)?)])
    }

    /// Returns the history of each location whose accesses are all known.
    fn histories(&self) -> BTreeMap<Location, LocationHistory> {
        let mut histories: BTreeMap<Location, LocationHistory> = BTreeMap::new();
        let (mut clears, mut lost, mut corrupted_workgroups) = (Vec::new(), Vec::new(), BTreeSet::new());
        for access in &self.instrumented.shared.accesses {
            let of_group = slot_of(self.module, access.variable).is_none();
            let reads = matches!(access.kind, AccessKind::Load(_) | AccessKind::Atomic { op: Op::AtomicLoad, .. });
            let may_be_lost = !reads && self.instrumented.rows.may_be_lost(self.module, InstructionIndex(access.index));
            for invocation in 0..self.instrumented.rows.invocations {
                let workgroup = if of_group { self.workgroup_of(invocation) } else { 0 };
                let executed = || self.executed(self.instrumented.rows.of_invocation(invocation), access.executed);
                let full = executed().count() == self.instrumented.rows.rows_each as usize;
                if full && may_be_lost {
                    lost.push((workgroup, access.variable));
                }
                for row in executed() {
                    let path: Vec<u64> =
                        access.path.iter().map(|index| index.value(|word| self.word(row, word))).collect();
                    let event = |effect: Effect| AccessEvent {
                        by: invocation,
                        epoch: self.word(row, access.epoch) as u32,
                        time: self.word(row, access.executed) as u32,
                        instruction: access.index,
                        effect,
                    };
                    if of_group && !leads_inside(self.module, access.variable, &path) {
                        // It may have changed any location of the workgroup, and the value that it
                        // found is not known.
                        corrupted_workgroups.extend((!reads).then_some(workgroup));
                        continue;
                    }
                    let Some(scalars) = access.kind.scalars() else {
                        let start = Location { workgroup, variable: access.variable, path };
                        clears.push((start, event(Effect::Store(0))));
                        continue;
                    };
                    for part in scalars {
                        let Some(effect) = self.effect(&access.kind, row, part) else { continue };
                        let path =
                            path.iter().copied().chain(part.path.iter().map(|index| u64::from(*index))).collect();
                        let new =
                            || LocationHistory { scalar: part.scalar(), width: part.plain.width, events: Vec::new() };
                        let history = histories
                            .entry(Location { workgroup, variable: access.variable, path })
                            .or_insert_with(new);
                        history.events.push(event(effect));
                    }
                }
            }
        }
        // An access outside a buffer may have reached any location in it.
        let beyond = |(location, history): (&Location, &LocationHistory)| {
            let Location { variable, path, .. } = location;
            self.known_contents(*variable, path, history.width).is_none().then_some(*variable)
        };
        let beyond: BTreeSet<u32> = histories.iter().filter_map(beyond).collect();
        let of_group = |variable: u32| slot_of(self.module, variable).is_none();
        histories.retain(|Location { workgroup, variable, .. }, _| {
            let known = !(of_group(*variable) && corrupted_workgroups.contains(workgroup));
            known && !beyond.contains(variable) && !lost.contains(&(*workgroup, *variable))
        });
        for (location, history) in &mut histories {
            let here = |(start, _): &&(Location, AccessEvent)| {
                let same_variable = (start.workgroup, start.variable) == (location.workgroup, location.variable);
                same_variable && location.path.starts_with(&start.path)
            };
            history.events.extend(clears.iter().filter(here).map(|(_, event)| *event));
        }
        histories
    }

    /// Returns the effect of one execution on a scalar.
    fn effect(&self, kind: &AccessKind, row: u64, part: &ScalarPart) -> Option<Effect> {
        let bits = |value: &RecordedValue| self.bits(row, value.word, part);
        Some(match kind {
            AccessKind::Load(value) => Effect::Load(bits(value)),
            AccessKind::Store(value) => Effect::Store(bits(value)),
            AccessKind::Clear => Effect::Store(0),
            AccessKind::Atomic { op, found, given } => {
                let given: Vec<u64> = given.iter().map(bits).collect();
                Effect::Update { found: bits(found), left: left_by_atomic(*op, part.plain.width, bits(found), &given)? }
            }
        })
    }

    /// Returns the barriers that an invocation passed after epoch `after` and up to epoch `to`.
    fn barriers(&self, by: u64, after: u32, to: u32) -> Vec<u32> {
        let between = |row: u64, barrier: &BarrierProbe| {
            let epoch = self.word(row, barrier.epoch) as u32;
            self.word(row, barrier.executed) != 0 && (after + 1..=to).contains(&epoch)
        };
        let through =
            |barrier: &&BarrierProbe| self.instrumented.rows.of_invocation(by).any(|row| between(row, barrier));
        self.instrumented.shared.barriers.iter().filter(through).map(|barrier| barrier.index).collect()
    }

    /// Returns the number of recorded executions of an instruction.
    fn executions(&self, instruction: u32) -> u64 {
        let shared = &self.instrumented.shared;
        let accesses = shared.accesses.iter().map(|access| (access.index, access.executed));
        let mut all = accesses.chain(shared.barriers.iter().map(|barrier| (barrier.index, barrier.executed)));
        let executed = all.find(|(index, _)| *index == instruction).map(|(_, executed)| executed);
        executed.map_or(0, |executed| self.executed(0..self.instrumented.rows.count(), executed).count() as u64)
    }
}
