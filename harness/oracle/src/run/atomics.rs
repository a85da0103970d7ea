//! Atomic operations and barriers.
//!
//! What an atomic operation returns is exact only if no other invocation changes the location without order; else it
//! depends on the order of invocations. That others come later is found out by a first run; see [`Contention`]. What is
//! left in memory is exact if all operations on the location commute; sums of floats leave what adding in any order gives.

use super::access::Target;
use super::float::{rearranged, with_zeros};
use super::forms::of_value;
use super::lanes::Lanes;
use super::races::Atomic;
use super::{Run, Stop};
use crate::direct;
use crate::form::Form;
use crate::inst::{AtomicOp, IntOp, Order, Reg};
use crate::memory::{Found, SUMMED};
use crate::observed::Execution;
use crate::outcome::{CauseKind, FaultKind};
use crate::ty::{Kind, mask};
use crate::value::{Floats, Value};
use assay_precision::Flush;
use assay_spirv::tables::{Op, Scope};
use std::collections::{HashMap, HashSet};

/// The result of an atomic row of the table that is left in memory.
const LEFT: usize = 1;

/// Of every epoch of every workgroup.
const EVERY: u64 = u64::MAX;

/// Which locations several invocations access atomically without order, one of them changing it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contention {
    /// Object, offset, and the workgroup's place above the epoch in it, or every one: known from the run before.
    pub(super) known: HashSet<(u32, u32, u64)>,
    /// Found in this run.
    pub(super) found: HashSet<(u32, u32, u64)>,
    /// Granules of objects that are read before another invocation writes, where the one that writes may as well be first: known
    /// from the run before, and found in this run.
    pub(super) early: HashSet<(u32, u32)>,
    pub(super) found_early: HashSet<(u32, u32)>,
    /// Objects and offsets of places of which it is not known what all atomics did that change them: see [`super::trails`].
    pub(super) unfollowed: HashSet<(u32, u32)>,
    pub(super) found_unfollowed: HashSet<(u32, u32)>,
    past: HashMap<(u32, u32), Past>,
}

/// The atomic accesses to a location so far, as far as they may be without order to what comes.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    group: u32,
    epoch: u32,
    /// Those of other workgroups, and of all of this one.
    before: Accesses,
    all: Accesses,
    /// The invocations that have loaded in this epoch, and those that have changed it, with what they did.
    loaded: Who,
    changed: Who,
    changes: Changes,
}

/// Whether several invocations access a location, and how they change it.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    loads: bool,
    changes: Changes,
}

/// Which invocations of a workgroup do something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Who {
    #[default]
    Nobody,
    One(u32),
    Several,
}

impl Who {
    fn with(self, who: u32) -> Who {
        match self {
            Who::Nobody => Who::One(who),
            Who::One(one) if one == who => self,
            _ => Who::Several,
        }
    }

    /// Whether there are others than that one.
    fn others(self, who: u32) -> bool {
        !matches!(self, Who::Nobody) && self != Who::One(who)
    }
}

/// What changes a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Changes {
    #[default]
    Nothing,
    /// Operations that commute with each other.
    Of(Class),
    /// Others, or some of several classes.
    Mixed,
}

impl Changes {
    fn and(self, other: Changes) -> Changes {
        match (self, other) {
            (Changes::Nothing, one) | (one, Changes::Nothing) => one,
            (one, other) if one == other && one != Changes::Of(Class::Alone) => one,
            _ => Changes::Mixed,
        }
    }

    /// Whether what is left does not depend on whether an operation comes before or after them.
    fn commute_with(self, class: Class) -> bool {
        self == Changes::Nothing || (self == Changes::Of(class) && class != Class::Alone)
    }
}

/// Operations that commute with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Load,
    Add,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
    /// Leaves these bits, whatever was there.
    Leaves(u64),
    /// Commutes with nothing.
    Alone,
}

impl AtomicOp {
    fn class(self) -> Class {
        match self {
            AtomicOp::Load => Class::Load,
            AtomicOp::Add | AtomicOp::Sub => Class::Add,
            AtomicOp::SMin => Class::SMin,
            AtomicOp::UMin => Class::UMin,
            AtomicOp::SMax => Class::SMax,
            AtomicOp::UMax => Class::UMax,
            AtomicOp::And => Class::And,
            AtomicOp::Or => Class::Or,
            AtomicOp::Xor => Class::Xor,
            AtomicOp::FAdd => Class::FAdd,
            AtomicOp::FMin => Class::FMin,
            AtomicOp::FMax => Class::FMax,
            AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => Class::Alone,
        }
    }
}

impl Contention {
    /// A run with what this one found out; `None` if it found nothing new. What depends on the order is known first: the rest may have
    /// come from not knowing it.
    pub(super) fn next(&self) -> Option<Contention> {
        let mut next = self.knowing();
        if !self.found.is_subset(&self.known) {
            next.known.extend(&self.found);
        } else if !self.found_early.is_subset(&self.early) {
            next.early.extend(&self.found_early);
        } else if !self.found_unfollowed.is_subset(&self.unfollowed) {
            next.unfollowed.extend(&self.found_unfollowed);
        } else {
            return None;
        }
        Some(next)
    }

    /// A run that knows the same and has found nothing yet.
    pub(super) fn knowing(&self) -> Contention {
        let (known, early, unfollowed) = (self.known.clone(), self.early.clone(), self.unfollowed.clone());
        Contention { known, early, unfollowed, ..Contention::default() }
    }

    /// Takes in what a part of the workgroups found that ran apart.
    pub(super) fn join(&mut self, other: Contention) {
        self.found.extend(other.found);
        self.found_early.extend(other.found_early);
    }

    /// Whether memory that workgroups share has been accessed.
    pub(super) fn is_shared(&self) -> bool {
        self.past.keys().any(|(object, _)| *object != 1)
    }
}

impl Run<'_> {
    #[expect(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn atomic(
        &mut self,
        (op, kind, site): (AtomicOp, Kind, Option<u32>),
        dst: Option<Reg>,
        pointer: Reg,
        args: [Reg; 2],
        order: Order,
        physical: bool,
        lanes: Lanes,
    ) {
        let size = kind.bytes();
        let scope = Scope::from_word(order.scope);
        let close = scope == Some(Scope::Subgroup);
        let narrow = close || scope == Some(Scope::Workgroup);
        // One that reaches nobody else is ordered by nothing.
        let atomic = (scope != Some(Scope::Invocation)).then_some(Atomic { wide: size == 8, narrow, close });
        for l in lanes.iter() {
            let observed = self.observed(l);
            let column = &self.columns[pointer as usize];
            let (value, bits) = match column.value(l).patterns(column.bits[l]).as_deref() {
                Ok([one]) => match self.target(*one, size, physical.then_some(size as u32), l, op != AtomicOp::Load) {
                    Target::At { object, offset } => {
                        self.atomic_at((op, kind, site), (object, offset), args, l, (atomic, observed))
                    }
                    // It changes nothing, and what it returns is undefined.
                    Target::Void => (Value::Any(self.cause(CauseKind::Robustness)), 0),
                    Target::Zero => (Value::Bits, 0),
                    Target::Open { object, cause } => {
                        if op != AtomicOp::Load {
                            self.objects[object].lost.get_or_insert(cause);
                        }
                        (Value::Any(cause), 0)
                    }
                    Target::Nowhere { cause } => (Value::Any(cause), 0),
                },
                unknown => {
                    let cause = match unknown {
                        Err(Some(cause)) if self.is_undefined(*cause) => self.decided_by(*cause, l),
                        Err(Some(cause)) => *cause,
                        Ok(_) | Err(None) => self.cause(CauseKind::Precision),
                    };
                    if op != AtomicOp::Load {
                        let _stop = self.lose_everything(cause);
                    }
                    (Value::Any(cause), 0)
                }
            };
            if let Some(dst) = dst {
                self.columns[dst as usize].set(l, bits, value);
            }
        }
    }

    /// One lane's operation on one location, how far it reaches, and what it found on the device, if that is known; gives what it returns.
    fn atomic_at(
        &mut self,
        (op, kind, site): (AtomicOp, Kind, Option<u32>),
        (object, offset): (usize, usize),
        args: [Reg; 2],
        lane: usize,
        (atomic, observed): (Option<Atomic>, Option<Execution>),
    ) -> (Value, u64) {
        let size = kind.bytes() as usize;
        // What does not find the comparator writes nothing.
        let fails = op == AtomicOp::CompareExchange && self.fails((object, offset), size, args[1], lane);
        let acts = if fails { AtomicOp::Load } else { op };
        let changes = acts != AtomicOp::Load;
        let raced = self.accessed(object, offset, size, lane, (changes, atomic));
        if object != 1 && self.dispatch.only.is_some() {
            // Who else does what to it is not seen, not even by whom it is written.
            let cause = raced.unwrap_or_else(|| self.cause(CauseKind::Sample));
            if changes {
                self.objects[object].write(offset, size, 0, Value::Any(cause), cause);
            }
            return (Value::Any(cause), 0);
        }
        let mut operands: [(Value, u64); 2] = std::array::from_fn(|k| {
            let column = &self.columns[args[k] as usize];
            (column.value(lane).clone(), column.bits[lane])
        });
        let class = match (acts, &operands[0]) {
            (AtomicOp::Store | AtomicOp::Exchange, (Value::Bits, bits)) => Class::Leaves(*bits),
            _ => acts.class(),
        };
        let (contended, disordered) = self.contend(object as u32, offset as u32, class, lane);
        let old = match self.objects[object].read(offset, size) {
            Found::Value(value) => value,
            Found::Unwritten => Value::Any(self.cause(CauseKind::Uninitialized)),
            Found::Parts => Value::Any(self.cause(CauseKind::Precision)),
        };
        let old_bits = self.objects[object].bits(offset, size);
        let by_order = contended || matches!(old, Value::Any(cause) if self.log.kind(cause) == CauseKind::Order);
        let followed = by_order && raced.is_none() && self.is_followed(object, offset);
        if followed && contended {
            self.begin_trail(object, offset, size);
        }
        let certain = raced.is_none() && !self.in_doubt && !self.forks.is_weak(lane);
        if let Some(Execution { found, given: Some(given) }) = observed.filter(|_| followed && certain)
            && self.settle((object, offset, size), &operands[0], (found, given), lane)
        {
            operands[0] = (Value::Bits, given);
        }
        let observed = observed.map(|execution| execution.found);
        let found = if by_order { observed } else { Some(old_bits).filter(|_| old == Value::Bits) };
        let left = |found: u64| match &operands {
            _ if !changes => Some(found),
            // It leaves what it finds, whatever it was given.
            [_, (Value::Bits, comparator)] if op == AtomicOp::CompareExchange && found != *comparator => Some(found),
            [(Value::Bits, x), (second, y)] if *second == Value::Bits || op != AtomicOp::CompareExchange => {
                combined(op, kind, found, *x, *y)
            }
            _ => None,
        };
        if op == AtomicOp::Store && !(followed && contended) {
            // What was before it ends there, if its place in the order is known.
            self.end_trails(object, offset, size, certain && !contended);
        } else {
            let did = match (op, found) {
                _ if !certain => None,
                // It leaves the same whatever it found.
                (AtomicOp::Store, _) => left(0).map(|left| (None, left)),
                (_, Some(found)) => left(found).map(|left| (Some(found), left)),
                (_, None) => None,
            };
            self.follow(object, offset, size, did);
        }
        if changes {
            let weak = self.forks.is_weak(lane);
            let sum =
                site.map(|site| self.sum((site, kind), (object, offset), (&old, old_bits), &operands[0], contended));
            let (value, bits) = if disordered {
                (Value::Any(self.cause(CauseKind::Order)), 0)
            } else if let Some(sum) = &sum {
                sum.0.clone()
            } else {
                match (op, &operands) {
                    (AtomicOp::Store | AtomicOp::Exchange, [operand, _]) => operand.clone(),
                    (_, [(x, _), _]) => match (&old, x) {
                        (Value::Any(cause), _) | (_, Value::Any(cause)) => (Value::Any(*cause), 0),
                        (Value::Bits, _) if let Some(bits) = left(old_bits) => (Value::Bits, bits),
                        _ => (Value::Any(self.cause(CauseKind::Precision)), 0),
                    },
                }
            };
            let (value, bits) = if weak { self.union(kind, (&old, old_bits), (&value, bits)) } else { (value, bits) };
            let parts = self.cause(CauseKind::Precision);
            let value = raced.map_or(value, Value::Any);
            self.objects[object].write(offset, size, bits, value, parts);
            if let Some((_, before, Some(form))) = sum {
                let form = if weak { before.either(form) } else { form };
                self.objects[object].keep_form(offset, size, SUMMED, form);
            }
        }
        match (raced, observed) {
            (Some(cause), _) => (Value::Any(cause), 0),
            (None, Some(bits)) if followed => (Value::Bits, bits),
            (None, _) if contended => (Value::Any(self.cause(CauseKind::Order)), 0),
            (None, _) => (old, old_bits),
        }
    }

    /// What a sum of floats leaves, whose exact value was known before, and is after it: what adding one after another gives, or, where
    /// others do so without order, what adding in any order does.
    fn sum(
        &mut self,
        (site, kind): (u32, Kind),
        (object, offset): (usize, usize),
        old: (&Value, u64),
        operand: &(Value, u64),
        contended: bool,
    ) -> ((Value, u64), Form, Option<Form>) {
        let program = self.program;
        let site = &program.sites[site as usize];
        let Kind::Float(fmt) = kind else { return (operand.clone(), Form::NONE, None) };
        if let (Value::Any(cause), _) | (_, (Value::Any(cause), _)) = (old.0, operand) {
            return ((Value::Any(*cause), 0), Form::NONE, None);
        }
        let summed = self.objects[object].form(offset, kind.bytes() as usize, SUMMED).copied();
        let before = summed.unwrap_or_else(|| of_value(old.0, old.1, fmt));
        let form = before.add(of_value(&operand.0, operand.1, fmt), false);
        let env = site.reference.environment(LEFT);
        let left = if contended {
            match rearranged(form, fmt, direct::errors(fmt, &env)) {
                Some((lo, hi)) if direct::meets_small(fmt, (lo, hi)) => {
                    Value::of_floats(with_zeros(fmt, form, (lo, hi), env.flush_results == Flush::Must))
                }
                Some((lo, hi)) => Value::of_floats(Floats::range(fmt, lo, hi)),
                None => (Value::Any(self.cause(CauseKind::NoRequirement)), 0),
            }
        } else {
            self.permitted(site, LEFT, &[(old.0, old.1), (&operand.0, operand.1)])
        };
        (left, before, Some(form))
    }

    /// Whether a compare-exchange certainly finds something else than it compares with: nobody else changes it, for all that is known.
    fn fails(&self, (object, offset): (usize, usize), size: usize, comparator: Reg, lane: usize) -> bool {
        let memory = &self.objects[object];
        let comparator = &self.columns[comparator as usize];
        let known = matches!(memory.read(offset, size), Found::Value(Value::Bits))
            && *comparator.value(lane) == Value::Bits
            && memory.bits(offset, size) != comparator.bits[lane];
        let (object, offset) = (object as u32, offset as u32);
        known && !self.in_doubt && !self.forks.is_weak(lane) && !self.is_contended(object, offset, self.stamp(object))
    }

    /// The time of an access to an object: runs count epochs differently; within a workgroup they agree.
    fn stamp(&self, object: u32) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.races.epoch(object) - self.races.begun)
    }

    /// Whether it is known that others change what is accessed at that time, or whenever they do.
    fn is_contended(&self, object: u32, offset: u32, stamp: u64) -> bool {
        [stamp, EVERY].iter().any(|stamp| self.contention.known.contains(&(object, offset, *stamp)))
    }

    /// Notes an atomic access. Gives whether what it returns, and whether what it leaves, depends on the order.
    fn contend(&mut self, object: u32, offset: u32, class: Class, lane: usize) -> (bool, bool) {
        let epoch = self.races.epoch(object);
        let (group, stamp) = (self.place, self.stamp(object));
        let who = self.forks.original(lane) as u32;
        let changes = class != Class::Load;
        let past =
            self.contention.past.entry((object, offset)).or_insert_with(|| Past { group, epoch, ..Past::default() });
        if past.group != group {
            let before = match object {
                // Workgroup memory of another workgroup is other memory.
                1 => Accesses::default(),
                _ => Accesses {
                    loads: past.before.loads || past.all.loads,
                    changes: past.before.changes.and(past.all.changes),
                },
            };
            *past = Past { group, epoch, before, ..Past::default() };
        } else if past.epoch != epoch {
            *past = Past { epoch, loaded: Who::Nobody, changed: Who::Nobody, changes: Changes::Nothing, ..*past };
        }
        let beside = if past.changed.others(who) { past.changes } else { Changes::Nothing };
        let abroad = past.before.changes != Changes::Nothing || (changes && past.before.loads);
        if abroad || beside != Changes::Nothing || (changes && past.loaded.others(who)) {
            self.contention.found.insert((object, offset, if abroad { EVERY } else { stamp }));
        }
        let disordered = changes && !past.before.changes.and(beside).commute_with(class);
        if changes {
            past.changed = past.changed.with(who);
            past.changes = past.changes.and(Changes::Of(class));
            past.all.changes = past.all.changes.and(Changes::Of(class));
        } else {
            past.loaded = past.loaded.with(who);
            past.all.loads = true;
        }
        (self.is_contended(object, offset, stamp), disordered)
    }

    pub(super) fn barrier(&mut self, scope: u32, order: Order, lanes: Lanes) -> Result<(), Stop> {
        if Scope::from_word(scope) == Some(Scope::Subgroup) {
            self.races.fence_of_some(order);
            return Ok(());
        }
        if lanes.iter().any(|l| self.forks.is_weak(l)) {
            let cause = self.cause(CauseKind::Budget);
            return Err(self.lose_everything(cause));
        }
        if lanes.list.len() != self.lanes {
            let (some, all) = (lanes.list.len(), self.lanes);
            let lane = lanes.list[0] as usize;
            self.fault(FaultKind::DivergentBarrier, lane, || {
                format!("{some} of {all} invocations of the workgroup reach it together")
            });
        } else if self.dispatch.kernel.is_none() && !self.tangles.meet(lanes.iter()) {
            // Control flow of kernels has no structure that would say where they come together.
            let lane = lanes.list[0] as usize;
            self.fault(FaultKind::DivergentBarrier, lane, || {
                "invocations of the workgroup reach it on several ways from where they parted".into()
            });
        }
        self.races.barrier(order);
        self.end_trails_before_barrier();
        Ok(())
    }

    pub(super) fn fence(&mut self, order: Order, lanes: Lanes) {
        if order.is_of_subgroups() {
            self.races.fence_of_some(order);
        } else if lanes.list.len() == self.lanes && !lanes.iter().any(|l| self.forks.is_weak(l)) {
            self.races.fence(order);
        }
    }
}

/// What an atomic instruction leaves of an integer of so many bits that it finds, given its value and comparator: bits, right-aligned;
/// `None` of other instructions.
pub fn left_by_atomic(op: Op, width: u32, found: u64, given: &[u64]) -> Option<u64> {
    let value = match op {
        Op::AtomicIIncrement | Op::AtomicIDecrement => 1,
        _ => given.first().copied().unwrap_or_default(),
    };
    let does = AtomicOp::of(op)?;
    combined(
        does,
        Kind::Int { width: width as u8, signed: false },
        found,
        value,
        given.get(1).copied().unwrap_or_default(),
    )
}

/// The new value of an operation on exact bits; `None` where floats are not ordinary.
fn combined(op: AtomicOp, kind: Kind, old: u64, x: u64, y: u64) -> Option<u64> {
    let width = kind.width();
    let eval = |op: IntOp| op.eval(width, [old, x, 0, 0], false).map_or(0, |bits| bits & mask(width));
    Some(match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => x,
        // Arguments: value, comparator.
        AtomicOp::CompareExchange => {
            if old == y {
                x
            } else {
                old
            }
        }
        AtomicOp::Add => eval(IntOp::Add),
        AtomicOp::Sub => eval(IntOp::Sub),
        AtomicOp::SMin => eval(IntOp::SMin),
        AtomicOp::UMin => eval(IntOp::UMin),
        AtomicOp::SMax => eval(IntOp::SMax),
        AtomicOp::UMax => eval(IntOp::UMax),
        AtomicOp::And => eval(IntOp::And),
        AtomicOp::Or => eval(IntOp::Or),
        AtomicOp::Xor => eval(IntOp::Xor),
        // What it leaves need not be one value.
        AtomicOp::FAdd => return None,
        AtomicOp::FMin | AtomicOp::FMax => {
            let Kind::Float(fmt) = kind else { return None };
            let format = fmt.format();
            let ordinary = |bits| format.is_finite(bits) && !format.is_denormal(bits) && !format.is_zero(bits);
            if !ordinary(old) || !ordinary(x) {
                return None;
            }
            let less = format.rank(x) < format.rank(old);
            if less == (op == AtomicOp::FMin) { x } else { old }
        }
    })
}
