//! Accesses to memory that invocations share: to workgroup variables, and atomics on buffers.
//!
//! Each access of a variable is recorded with the indices and the values that the device had, or none is. What that comes to for a place
//! in memory is for [`super::order`] to judge.

use super::Reading;
use super::code::{Recorder, as_words};
use super::order::{self, Culprit, Event, What, Wrong};
use super::rows::{Here, start, tick};
use super::stores::{Step, place, root, slot_of};
use super::value::{Form, Part, Value};
use crate::Descriptor;
use crate::composites::length_of;
use crate::elements::read_bits;
use crate::verdict::{data_of, hex};
use assay_oracle::left_by_atomic;
use assay_precision::Scalar;
use assay_runner::{Blame, BlameExample};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain, PlainKind, instruction};
use assay_spirv::module::{BlockIndex, Function, Index, Instruction, Type};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Decoration, Op, Scope, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// An access that is recorded.
#[derive(Clone, Debug)]
struct Access {
    /// Its place in the module.
    index: u32,
    /// Its first word there.
    at: usize,
    /// Word in the row: when it was executed, or 0.
    executed: u32,
    /// Word: the barriers that the invocation had come through.
    epoch: u32,
    variable: u32,
    path: Vec<Step>,
    kind: Kind,
}

/// What it does.
#[derive(Clone, Debug)]
enum Kind {
    /// Loads a value.
    Load(Value),
    /// Stores one.
    Store(Value),
    /// Stores zeros to all of it.
    Clear,
    /// Changes it: what it finds, and what it is given.
    Atomic { op: Op, found: Value, given: Vec<Value> },
}

/// A barrier of the workgroup.
#[derive(Clone, Debug)]
struct Barrier {
    index: u32,
    at: usize,
    executed: u32,
    epoch: u32,
}

/// The shared memory of an entry point.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    accesses: Vec<Access>,
    barriers: Vec<Barrier>,
}

impl Shared {
    /// What is to be recorded, from word `next` on; and the first word after it. What is made of parts is followed unless one of
    /// `undefined` is stored.
    pub(super) fn find(module: &Module, usage: &Usage, undefined: &BTreeSet<u32>, mut next: u32) -> (Shared, u32) {
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
                |i: &Instruction<'_>| Barrier { index: i.index.0, at: i.at, executed: room(1), epoch: room(1) };
            barriers = instructions.iter().filter(of_workgroup).map(barrier).collect();
        }
        (Shared { accesses, barriers }, next)
    }

    /// Whether nothing is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// The instructions whose results are recorded, by their places in the module.
    pub(super) fn instructions(&self) -> impl Iterator<Item = u32> {
        self.accesses.iter().map(|access| access.index)
    }

    /// The first words of what is recorded.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.accesses.iter().map(|access| access.at).chain(self.barriers.iter().map(|barrier| barrier.at))
    }

    /// Puts code into the module that records it; a variable that it needs.
    pub(super) fn record(
        &self,
        editor: &mut Editor<'_>,
        recorder: &Recorder,
        entry: &Function,
        here: impl Fn(usize) -> Option<Here>,
    ) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let uint = recorder.uint;
        let private = editor.pointer(StorageClass::Private, uint);
        let epochs = editor.variable(private, StorageClass::Private);
        let zero = editor.constant(uint, 32, 0);
        let first = start(editor.module(), BlockIndex(entry.blocks.start))?;
        editor.after(first.at, &instruction(Op::Store, &[epochs, zero]));
        for access in &self.accesses {
            let Some(Here { row, time, .. }) = here(access.at) else { continue };
            let (mut code, epoch) = (Vec::new(), editor.id());
            code.extend(instruction(Op::Load, &[uint, epoch, epochs]));
            recorder.word(editor, &mut code, row, access.executed, time);
            recorder.word(editor, &mut code, row, access.epoch, epoch);
            access.path.iter().for_each(|step| step.record(editor, &mut code, recorder, row));
            for value in access.kind.values() {
                let words = as_words(editor, &mut code, value.id, &value.form);
                for (offset, word) in (value.word..).zip(words) {
                    recorder.word(editor, &mut code, row, offset, word);
                }
            }
            editor.after(access.at, &code);
        }
        for barrier in &self.barriers {
            let Some(Here { row, time, .. }) = here(barrier.at) else { continue };
            let mut code = Vec::new();
            let epoch = tick(editor, &mut code, epochs);
            recorder.word(editor, &mut code, row, barrier.executed, time);
            recorder.word(editor, &mut code, row, barrier.epoch, epoch);
            editor.after(barrier.at, &code);
        }
        Some(epochs)
    }
}

impl Kind {
    fn values(&self) -> Vec<&Value> {
        match self {
            Kind::Load(value) | Kind::Store(value) => vec![value],
            Kind::Clear => Vec::new(),
            Kind::Atomic { found, given, .. } => given.iter().chain([found]).collect(),
        }
    }

    /// The scalars that it reaches; `None` for all that is there.
    fn parts(&self) -> Option<&[Part]> {
        match self {
            Kind::Load(value) | Kind::Store(value) | Kind::Atomic { found: value, .. } => Some(&value.form.parts),
            Kind::Clear => None,
        }
    }
}

/// The variables whose accesses may be followed.
fn variables(module: &Module, instructions: &[Instruction<'_>]) -> Vec<(u32, StorageClass)> {
    let pointer = |i: &Instruction<'_>| {
        let (class, pointee) = module.pointer(module.type_of(i.result()?)?)?;
        Some((i.result()?, class, pointee?))
    };
    let globals = module.instructions().take_while(|i| i.op != Some(Op::Function));
    let all: Vec<_> = globals.filter(|i| i.op == Some(Op::Variable)).filter_map(|i| pointer(&i)).collect();
    // What leads nowhere that is known may lead anywhere.
    let unknown: Vec<StorageClass> = instructions
        .iter()
        .filter(|i| i.op != Some(Op::Load))
        .flat_map(|i| module.id_operands(*i))
        .filter(|id| root(module, *id).is_none())
        .filter_map(|id| Some(module.pointer(module.type_of(id)?)?.0))
        .collect();
    // Several variables may share memory under names of their own.
    let aliased = |id: u32| module.decorations(id).any(|decoration| decoration.decoration == Some(Decoration::Aliased));
    let alike = |id: u32| all.iter().filter(|(other, ..)| slot_of(module, *other) == slot_of(module, id)).count();
    let followed = |(id, class, pointee): &(u32, StorageClass, _)| {
        let one = match class {
            StorageClass::Workgroup => true,
            // One buffer, under no other name.
            StorageClass::StorageBuffer => matches!(module.ty(*pointee), Type::Struct { .. }) && alike(*id) == 1,
            _ => false,
        };
        one && !aliased(*id) && !unknown.contains(class)
    };
    all.iter().filter(|v| followed(v)).map(|(id, class, _)| (*id, *class)).collect()
}

/// The accesses of a variable to be recorded, if all can be followed that change what they reach.
fn accesses_of(
    module: &Module,
    instructions: &[Instruction<'_>],
    undefined: &BTreeSet<u32>,
    (variable, class): (u32, StorageClass),
    room: &mut impl FnMut(u32) -> u32,
) -> Option<Vec<Access>> {
    let shared = class == StorageClass::Workgroup;
    let (mut accesses, mut others) = (Vec::new(), Vec::new());
    for i in instructions {
        let used = |id: &u32| root(module, *id).filter(|(base, _)| *base == variable);
        let uses: Vec<_> = module.id_operands(*i).iter().filter_map(used).collect();
        let Some((_, ids)) = uses.first() else { continue };
        if matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain | Op::ArrayLength)) {
            continue;
        }
        // Stores to a buffer are not looked at, but where they lead.
        if i.op == Some(Op::Load) && !shared {
            continue;
        }
        let plain_store = i.op == Some(Op::Store) && !shared && i.operand(1).is_none_or(|value| used(&value).is_none());
        if plain_store {
            others.push(Step::all(module, ids, || 0)?);
            continue;
        }
        let path = Step::all(module, ids, || room(1))?;
        let Some(kind) = kind(module, i, undefined, room) else {
            // Of a buffer's atomics that cannot be followed, others may be elsewhere.
            if shared || !i.op.is_some_and(|op| op.name().starts_with("OpAtomic")) {
                return None;
            }
            others.push(path);
            continue;
        };
        let (executed, epoch) = (room(1), room(1));
        accesses.push(Access { index: i.index.0, at: i.at, executed, epoch, variable, path, kind });
    }
    // What may be where something else stores is not followed, and so on.
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

/// Whether indices lead to a part of a variable, as far as its type says.
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

/// Whether two paths of a variable may lead to the same place.
fn may_overlap(a: &[Step], b: &[Step]) -> bool {
    let differ = |(a, b): (&Step, &Step)| matches!((a, b), (Step::Constant(a), Step::Constant(b)) if a != b);
    !a.iter().zip(b).any(differ)
}

/// What an access does; `None` if it cannot be followed.
fn kind(
    module: &Module,
    i: &Instruction<'_>,
    undefined: &BTreeSet<u32>,
    room: &mut impl FnMut(u32) -> u32,
) -> Option<Kind> {
    let op = i.op?;
    let mut value = |id: u32| {
        let stored = i.result() != Some(id) && undefined.contains(&id);
        let form = Form::of_value(module, id).filter(|form| !stored || !form.is_aggregate(module))?;
        Some(Value { id, word: room(form.words()), form })
    };
    match op {
        Op::Load => Some(Kind::Load(value(i.result()?)?)),
        Op::Store => {
            let stored = i.operand(1)?;
            if module.definition_of_word(stored)?.op == Some(Op::ConstantNull) {
                return Some(Kind::Clear);
            }
            Some(Kind::Store(value(stored)?))
        }
        Op::AtomicStore => Some(Kind::Store(value(i.operand(3)?)?)),
        _ => {
            // Of others it is not known what they leave.
            left_by_atomic(op, 32, 0, &[])?;
            let given = match op {
                Op::AtomicLoad | Op::AtomicIIncrement | Op::AtomicIDecrement => vec![],
                Op::AtomicCompareExchange => vec![i.operand(4)?, i.operand(5)?],
                _ => vec![i.operand(3)?],
            };
            let found = value(i.result()?)?;
            matches!(Plain::of_value(module, found.id)?.kind, PlainKind::Int { .. }).then_some(())?;
            let given = given.into_iter().map(value).collect::<Option<_>>()?;
            Some(Kind::Atomic { op, found, given })
        }
    }
}

/// A place in memory: the workgroup (0 of buffers), the variable, the indices; bits; and how they are shown.
type Place = (u64, u32, Vec<u64>);

/// What happened in a place.
struct History {
    scalar: Scalar,
    width: u32,
    events: Vec<Event>,
}

/// What there is to blame of shared memory.
pub(super) fn blame(reading: &Reading<'_>) -> Vec<Blame> {
    let mut blamed: BTreeMap<u32, (u64, Scalar, Wrong)> = BTreeMap::new();
    let note = |blamed: &mut BTreeMap<_, (u64, _, _)>, instruction: u32, scalar: Scalar, wrong: Wrong| {
        blamed.entry(instruction).or_insert((0, scalar, wrong)).0 += 1;
    };
    let mut crossed: Vec<(Vec<u32>, Scalar, Wrong)> = Vec::new();
    for ((_, variable, path), History { scalar, width, events }) in reading.histories() {
        let [first, last] = reading.ends(variable, &path, width).unwrap_or_default();
        for wrong in order::judge(events, first, last) {
            match wrong.culprit {
                Culprit::Instruction(instruction) => note(&mut blamed, instruction, scalar, wrong),
                Culprit::Barrier(after, to) => crossed.push((reading.barriers(wrong.by, after, to), scalar, wrong)),
            }
        }
    }
    // What lost a change elsewhere did so here.
    crossed.retain(|(_, scalar, wrong)| {
        let lost = wrong.or.filter(|instruction| blamed.contains_key(instruction));
        if let Some(instruction) = lost {
            note(&mut blamed, instruction, *scalar, *wrong);
        }
        lost.is_none()
    });
    // Of several barriers between two epochs, that which explains the most.
    while let Some(most) = most_frequent(crossed.iter().flat_map(|(barriers, ..)| barriers)) {
        crossed.retain(|(barriers, scalar, wrong)| {
            let explained = barriers.contains(&most);
            if explained {
                note(&mut blamed, most, *scalar, *wrong);
            }
            !explained
        });
    }
    let blame = |(instruction, (wrong, scalar, example)): (u32, (u64, Scalar, Wrong))| Blame {
        instruction,
        name: super::name(&reading.module.instruction(Index(instruction))),
        place: (reading.place)(instruction),
        wrong,
        recorded: reading.executions(instruction).max(wrong),
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

impl Reading<'_> {
    /// The workgroup of an invocation.
    fn group(&self, invocation: u64) -> u64 {
        invocation / self.setup.local.iter().map(|&side| u64::from(side)).product::<u64>().max(1)
    }

    /// What a place held before the dispatch and after it, as far as that is known: of buffers; `None` beyond their ends.
    fn ends(&self, variable: u32, path: &[u64], width: u32) -> Option<[Option<u64>; 2]> {
        let Some(slot) = slot_of(self.module, variable) else { return Some([None; 2]) };
        let descriptor = self.setup.descriptors.iter().find(|d: &&Descriptor| d.slot == slot)?;
        let (offset, _) = place(descriptor.block.as_ref()?, path.iter().copied())?;
        let bits = |data: &[u8]| read_bits(data, offset, width);
        Some([Some(bits(data_of(self.dispatch, slot)?)?), Some(bits(self.left.get(&slot)?)?)])
    }

    /// What happened to each place of which all that happened is known.
    fn histories(&self) -> BTreeMap<Place, History> {
        let mut histories: BTreeMap<Place, History> = BTreeMap::new();
        let (mut clears, mut lost, mut strayed) = (Vec::new(), Vec::new(), BTreeSet::new());
        for access in &self.traced.shared.accesses {
            let of_group = slot_of(self.module, access.variable).is_none();
            let reads = matches!(access.kind, Kind::Load(_) | Kind::Atomic { op: Op::AtomicLoad, .. });
            let may_be_lost = !reads && self.traced.rows.may_be_lost(self.module, Index(access.index));
            for invocation in 0..self.traced.rows.invocations {
                let group = if of_group { self.group(invocation) } else { 0 };
                let executed = || self.executed(self.traced.rows.of(invocation), access.executed);
                let full = executed().count() == self.traced.rows.each as usize;
                if full && may_be_lost {
                    lost.push((group, access.variable));
                }
                for row in executed() {
                    let path: Vec<u64> =
                        access.path.iter().map(|step| step.index(|word| self.word(row, word))).collect();
                    let event = |what: What| Event {
                        by: invocation,
                        epoch: self.word(row, access.epoch) as u32,
                        time: self.word(row, access.executed) as u32,
                        instruction: access.index,
                        what,
                    };
                    if of_group && !leads_inside(self.module, access.variable, &path) {
                        // What it changed may be anything of the workgroup, and what it found is nothing that is known.
                        strayed.extend((!reads).then_some(group));
                        continue;
                    }
                    let Some(parts) = access.kind.parts() else {
                        clears.push((group, access.variable, path, event(What::Store(0))));
                        continue;
                    };
                    for part in parts {
                        let Some(what) = self.what(&access.kind, row, part) else { continue };
                        let path = path.iter().copied().chain(part.path.iter().map(|step| u64::from(*step))).collect();
                        let new = || History { scalar: part.scalar(), width: part.plain.width, events: Vec::new() };
                        let history = histories.entry((group, access.variable, path)).or_insert_with(new);
                        history.events.push(event(what));
                    }
                }
            }
        }
        // What is beyond the end may have gone anywhere in the buffer.
        let beyond = |((_, variable, path), history): (&Place, &History)| {
            self.ends(*variable, path, history.width).is_none().then_some(*variable)
        };
        let beyond: BTreeSet<u32> = histories.iter().filter_map(beyond).collect();
        let of_group = |variable: u32| slot_of(self.module, variable).is_none();
        histories.retain(|(group, variable, _), _| {
            let known = !(of_group(*variable) && strayed.contains(group));
            known && !beyond.contains(variable) && !lost.contains(&(*group, *variable))
        });
        for ((group, variable, path), history) in &mut histories {
            let here = |(g, v, start, _): &&(u64, u32, Vec<u64>, Event)| {
                g == group && v == variable && path.starts_with(start)
            };
            history.events.extend(clears.iter().filter(here).map(|(.., event)| *event));
        }
        histories
    }

    /// What an execution did to a scalar.
    fn what(&self, kind: &Kind, row: u64, part: &Part) -> Option<What> {
        let bits = |value: &Value| self.bits(row, value.word, part);
        Some(match kind {
            Kind::Load(value) => What::Load(bits(value)),
            Kind::Store(value) => What::Store(bits(value)),
            Kind::Clear => What::Store(0),
            Kind::Atomic { op, found, given } => {
                let given: Vec<u64> = given.iter().map(bits).collect();
                What::Update { found: bits(found), left: left_by_atomic(*op, part.plain.width, bits(found), &given)? }
            }
        })
    }

    /// The barriers through which an invocation came after an epoch and up to another.
    fn barriers(&self, by: u64, after: u32, to: u32) -> Vec<u32> {
        let between = |row: u64, barrier: &Barrier| {
            let epoch = self.word(row, barrier.epoch) as u32;
            self.word(row, barrier.executed) != 0 && (after + 1..=to).contains(&epoch)
        };
        let through = |barrier: &&Barrier| self.traced.rows.of(by).any(|row| between(row, barrier));
        self.traced.shared.barriers.iter().filter(through).map(|barrier| barrier.index).collect()
    }

    /// How often an instruction was executed, as far as that is recorded.
    fn executions(&self, instruction: u32) -> u64 {
        let shared = &self.traced.shared;
        let accesses = shared.accesses.iter().map(|access| (access.index, access.executed));
        let mut all = accesses.chain(shared.barriers.iter().map(|barrier| (barrier.index, barrier.executed)));
        let executed = all.find(|(index, _)| *index == instruction).map(|(_, executed)| executed);
        executed.map_or(0, |executed| self.executed(0..self.traced.rows.count(), executed).count() as u64)
    }
}
