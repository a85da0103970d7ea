//! Atomic operations and barriers.
//!
//! An atomic returns an exact value only if no other invocation modifies the location without
//! order. Otherwise the value depends on the order of invocations. Later modifications are found by
//! a first run; see [`Contention`]. The content left in memory is exact if all operations on the
//! location commute. Sums of floats leave the values that adding in any order gives.

use crate::abstract_value::{AbstractValue, FloatSet};
use crate::atomic_history::{AtomicExecution, AtomicOrder};
use crate::expr_bound::ExprBound;
use crate::fast_path;
use crate::inst::{AtomicOp, IntOp, Order, Reg};
use crate::memory::{ReadValue, SUMMED};
use crate::outcome::{CauseKind, FaultKind};
use crate::run::bit_range;
use crate::run::concurrency::data_race::Atomic;
use crate::run::expr::build::bound_of_value;
use crate::run::float::{rearranged, with_zeros};
use crate::run::lanes::Lanes;
use crate::run::memory::address::Target;
use crate::run::{Run, Stop};
use crate::ty::{Kind, mask};
use assay_precision::Flush;
use assay_spirv::tables::{Op, Scope};
use std::collections::{HashMap, HashSet};

/// The result slot of an atomic in the precision table that is left in memory.
const LEFT: usize = 1;

/// Largest number that 16 bits hold with either signedness.
const SHORT: u64 = 0x7fff;

/// An atomic operation; see [`Inst::Atomic`](crate::inst::Inst::Atomic).
#[derive(Clone, Copy)]
pub(in crate::run) struct Operation {
    pub(in crate::run) op: AtomicOp,
    pub(in crate::run) kind: Kind,
    pub(in crate::run) float_op: Option<u32>,
    pub(in crate::run) relaxed: bool,
}

/// Stamp of every epoch of every workgroup.
const EVERY: u64 = u64::MAX;

/// Locations that several invocations access atomically without order, at least one of them
/// modifying it. A run finds them, and the next run knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contention {
    /// Known from the run before: object, offset, and stamp (the workgroup in the high bits, its
    /// epoch in the low ones, or [`EVERY`]).
    pub(in crate::run) known: HashSet<(u32, u32, u64)>,
    /// Found in this run.
    pub(in crate::run) found: HashSet<(u32, u32, u64)>,
    /// Granules of objects that are read before another invocation writes them, although the write
    /// may come first: known from the run before, and found in this run.
    pub(in crate::run) early: HashSet<(u32, u32)>,
    pub(in crate::run) found_early: HashSet<(u32, u32)>,
    /// Objects and offsets of locations on which the effect of some atomic is unknown; see
    /// [`crate::run::concurrency::modification_order`].
    pub(in crate::run) without_history: HashSet<(u32, u32)>,
    pub(in crate::run) found_without_history: HashSet<(u32, u32)>,
    past: HashMap<(u32, u32), EarlierAccesses>,
}

/// The earlier atomic accesses to a location that the next one may be unordered with.
#[derive(Clone, Copy, Debug, Default)]
struct EarlierAccesses {
    group: u32,
    epoch: u32,
    /// Accesses of other workgroups, and all accesses of this one.
    before: Accesses,
    all: Accesses,
    /// The invocations that have loaded in this epoch, those that have modified, and their
    /// operations.
    loaded: Invocations,
    changed: Invocations,
    changes: Changes,
}

/// Kinds of atomic accesses to a location.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    loads: bool,
    changes: Changes,
}

/// The invocations of a workgroup that did something: none, one, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Invocations {
    #[default]
    Nobody,
    One(u32),
    Several,
}

impl Invocations {
    fn with(self, who: u32) -> Invocations {
        match self {
            Invocations::Nobody => Invocations::One(who),
            Invocations::One(one) if one == who => self,
            _ => Invocations::Several,
        }
    }

    /// Returns true if invocations other than that one are among them.
    fn others(self, who: u32) -> bool {
        !matches!(self, Invocations::Nobody) && self != Invocations::One(who)
    }
}

/// The operations that modify a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Changes {
    #[default]
    Nothing,
    /// Operations that commute with each other.
    Of(Class),
    /// Operations that do not commute.
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

    /// Returns true if an operation may come before or after them without changing the final
    /// content.
    fn commute_with(self, class: Class) -> bool {
        self == Changes::Nothing || (self == Changes::Of(class) && class != Class::Alone)
    }
}

/// A class of operations that commute with each other.
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
    /// Leaves these bits, whatever it finds.
    Leaves(u64),
    /// Does not commute with any operation.
    Alone,
}

impl AtomicOp {
    /// Returns the arithmetic of integers that combines the content with the operand; `None` for other
    /// operations.
    fn arithmetic(self) -> Option<IntOp> {
        Some(match self {
            AtomicOp::Add => IntOp::Add,
            AtomicOp::Sub => IntOp::Sub,
            AtomicOp::SMin => IntOp::SMin,
            AtomicOp::UMin => IntOp::UMin,
            AtomicOp::SMax => IntOp::SMax,
            AtomicOp::UMax => IntOp::UMax,
            AtomicOp::And => IntOp::And,
            AtomicOp::Or => IntOp::Or,
            AtomicOp::Xor => IntOp::Xor,
            _ => return None,
        })
    }

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
    /// The state for the next run; `None` if this one found nothing new. Contended locations come
    /// first, because the other findings may follow from not knowing them.
    pub(in crate::run) fn next(&self) -> Option<Contention> {
        let mut next = self.knowing();
        if !self.found.is_subset(&self.known) {
            next.known.extend(&self.found);
        } else if !self.found_early.is_subset(&self.early) {
            next.early.extend(&self.found_early);
        } else if !self.found_without_history.is_subset(&self.without_history) {
            next.without_history.extend(&self.found_without_history);
        } else {
            return None;
        }
        Some(next)
    }

    /// The state of a run that has the same knowledge and has found nothing.
    pub(in crate::run) fn knowing(&self) -> Contention {
        let (known, early, without_history) = (self.known.clone(), self.early.clone(), self.without_history.clone());
        Contention { known, early, without_history, ..Contention::default() }
    }

    /// Merges the findings of workgroups that ran concurrently.
    pub(in crate::run) fn join(&mut self, other: Contention) {
        self.found.extend(other.found);
        self.found_early.extend(other.found_early);
    }

    /// Returns true if memory shared by workgroups has been accessed.
    pub(in crate::run) fn is_shared(&self) -> bool {
        self.past.keys().any(|(object, _)| *object != 1)
    }
}

impl Run<'_> {
    #[expect(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(in crate::run) fn atomic(
        &mut self,
        operation: Operation,
        dst: Option<Reg>,
        pointer: Reg,
        args: [Reg; 2],
        order: Order,
        physical: bool,
        lanes: Lanes,
    ) {
        let Operation { op, kind, .. } = operation;
        let size = kind.bytes();
        let scope = Scope::from_word(order.scope);
        let subgroup_scope = scope == Some(Scope::Subgroup);
        let workgroup_scope = subgroup_scope || scope == Some(Scope::Workgroup);
        // An atomic of invocation scope is not ordered with those of other invocations.
        let atomic = (scope != Some(Scope::Invocation)).then_some(Atomic {
            is_64_bit: size == 8,
            workgroup_scope,
            subgroup_scope,
        });
        for l in lanes.iter() {
            let observed = self.observed(l);
            let column = &self.columns[pointer as usize];
            let (value, bits) = match column.value(l).patterns(column.bits[l]) {
                Ok(all) => {
                    let alignment = physical.then_some(size as u32);
                    let target =
                        |run: &mut Self, pointer| run.target(pointer, size, alignment, l, op != AtomicOp::Load);
                    let targets = self.target_of_each(&all, target);
                    let several = targets.len() > 1;
                    let act = |run: &mut Self, target: Target| {
                        run.in_doubt(several, |run| {
                            run.atomic_on_target(operation, target, args, l, (atomic, observed))
                        })
                    };
                    let found: Vec<_> = targets.into_iter().map(|target| act(self, target)).collect();
                    let either =
                        |a: (AbstractValue, u64), b: (AbstractValue, u64)| self.union(kind, (&a.0, a.1), (&b.0, b.1));
                    found.into_iter().reduce(either).unwrap_or_default()
                }
                Err(unknown) => {
                    let cause = match unknown {
                        Some(cause) if self.is_undefined(cause) => self.decided_by(cause, l),
                        Some(cause) => cause,
                        None => self.cause(CauseKind::Precision),
                    };
                    if op != AtomicOp::Load {
                        let _stop = self.lose_everything(cause);
                    }
                    (AbstractValue::Unknown(cause), 0)
                }
            };
            if let Some(dst) = dst {
                self.columns[dst as usize].set(l, bits, value);
            }
        }
    }

    /// Executes the operation of one lane on one of its targets, and returns its result.
    fn atomic_on_target(
        &mut self,
        operation: Operation,
        target: Target,
        args: [Reg; 2],
        lane: usize,
        reach: (Option<Atomic>, Option<AtomicExecution>),
    ) -> (AbstractValue, u64) {
        let changes = operation.op != AtomicOp::Load;
        match target {
            Target::At { object, offset } => self.atomic_at(operation, (object, offset), args, lane, reach),
            // It modifies nothing, and the value it returns is undefined.
            Target::Void => (AbstractValue::Unknown(self.cause(CauseKind::Robustness)), 0),
            Target::Zero => (AbstractValue::Bits, 0),
            Target::Open { object, cause } => {
                if changes {
                    self.objects[object].lost.get_or_insert(cause);
                }
                (AbstractValue::Unknown(cause), 0)
            }
            Target::Nowhere { cause } => {
                // If it is executed, it may change anything. A certain one is a fault.
                if changes && (self.in_doubt || self.forks.is_weak(lane)) {
                    let _stop = self.lose_everything(cause);
                }
                (AbstractValue::Unknown(cause), 0)
            }
        }
    }

    /// Executes the operation of one lane on one location, and returns its result. `atomic` is its
    /// reach, `observed` the device's record if there is one.
    fn atomic_at(
        &mut self,
        Operation { op, kind, float_op, relaxed }: Operation,
        (object, offset): (usize, usize),
        args: [Reg; 2],
        lane: usize,
        (atomic, observed): (Option<Atomic>, Option<AtomicExecution>),
    ) -> (AbstractValue, u64) {
        let size = kind.bytes() as usize;
        // A compare-exchange that does not find the comparator writes nothing.
        let fails = op == AtomicOp::CompareExchange && self.fails((object, offset), size, args[1], lane);
        let acts = if fails { AtomicOp::Load } else { op };
        let changes = acts != AtomicOp::Load;
        let raced = self.accessed(object, offset, size, lane, (changes, atomic));
        // An atomic that is possibly not executed has no place in the order, as in a recorded one.
        let is_certain = !self.in_doubt && !self.forks.is_weak(lane);
        let in_interpreted_order =
            self.dispatch.atomic_order == AtomicOrder::Interpreted && !matches!(kind, Kind::Float(_)) && is_certain;
        // The accesses of other invocations are not seen, not even the writes.
        let is_partial = self.dispatch.only.as_ref().is_some_and(|only| object != 1 || only.local.is_some());
        if is_partial && !in_interpreted_order {
            let cause = raced.unwrap_or_else(|| self.cause(CauseKind::Sample));
            if changes {
                self.objects[object].write(offset, size, 0, AbstractValue::Unknown(cause), cause);
            }
            return (AbstractValue::Unknown(cause), 0);
        }
        let mut operands: [(AbstractValue, u64); 2] = std::array::from_fn(|k| {
            let column = &self.columns[args[k] as usize];
            (column.value(lane).clone(), column.bits[lane])
        });
        let class = match (acts, &operands[0]) {
            (AtomicOp::Store | AtomicOp::Exchange, (AbstractValue::Bits, bits)) => Class::Leaves(*bits),
            _ => acts.class(),
        };
        let (contended, disordered) = match in_interpreted_order {
            true => (false, false),
            false => self.contend(object as u32, offset as u32, class, lane),
        };
        let old = match self.objects[object].read(offset, size) {
            ReadValue::Value(value) => value,
            ReadValue::Unwritten => AbstractValue::Unknown(self.cause(CauseKind::Uninitialized)),
            ReadValue::Parts => AbstractValue::Unknown(self.cause(CauseKind::Precision)),
        };
        let old_bits = self.objects[object].bits(offset, size);
        let by_order =
            contended || matches!(old, AbstractValue::Unknown(cause) if self.log.kind(cause) == CauseKind::Order);
        let followed = by_order && raced.is_none() && self.uses_history(object, offset);
        if followed && contended {
            self.begin_order(object, offset, size);
        }
        // In fewer bits the operation has the same result for short numbers. Differences of several
        // invocations may be negative in between.
        let is_short = |(value, bits): (&AbstractValue, u64)| *value == AbstractValue::Bits && bits <= SHORT;
        let used = if op == AtomicOp::CompareExchange { 2 } else { 1 };
        let has_short =
            operands[..used].iter().chain([&(old.clone(), old_bits)]).all(|(value, bits)| is_short((value, *bits)));
        let may_be_cut = relaxed && (!has_short || op == AtomicOp::Sub && contended);
        let certain = raced.is_none() && is_certain && !may_be_cut;
        if let Some(AtomicExecution { found, operand: Some(operand) }) = observed.filter(|_| followed && certain)
            && self.accepts_operand((object, offset, size), &operands[0], (found, operand), lane)
        {
            operands[0] = (AbstractValue::Bits, operand);
        }
        let observed = observed.map(|execution| execution.found);
        let found = if by_order { observed } else { Some(old_bits).filter(|_| old == AbstractValue::Bits) };
        let left = |found: u64| match &operands {
            _ if !changes => Some(found),
            // It leaves the value that it found, whatever its operand.
            [_, (AbstractValue::Bits, comparator)] if op == AtomicOp::CompareExchange && found != *comparator => {
                Some(found)
            }
            [(AbstractValue::Bits, x), (second, y)]
                if *second == AbstractValue::Bits || op != AtomicOp::CompareExchange =>
            {
                combined(op, kind, found, *x, *y)
            }
            _ => None,
        };
        if op == AtomicOp::Store && !(followed && contended) {
            // A store whose place in the order is known ends the order before it.
            self.end_orders(object, offset, size, certain && !contended);
        } else {
            let did = match (op, found) {
                _ if !certain => None,
                // A store leaves the same value whatever it found.
                (AtomicOp::Store, _) => left(0).map(|left| (None, left)),
                (_, Some(found)) => left(found).map(|left| (Some(found), left)),
                (_, None) => None,
            };
            self.follow(object, offset, size, did);
        }
        if changes {
            // It may not be executed, or act on another location.
            let weak = self.forks.is_weak(lane) || self.in_doubt;
            let sum = float_op.map(|float_op| {
                self.sum((float_op, kind), (object, offset), (&old, old_bits), &operands[0], contended)
            });
            let (value, bits) = if disordered {
                (AbstractValue::Unknown(self.cause(CauseKind::Order)), 0)
            } else if let Some(sum) = &sum {
                sum.0.clone()
            } else {
                match (op, &operands) {
                    (AtomicOp::Store | AtomicOp::Exchange, [operand, _]) => self.stored_by_atomic(kind, operand),
                    (_, [(x, _), _]) => match (&old, x) {
                        (AbstractValue::Unknown(cause), _) | (_, AbstractValue::Unknown(cause)) => {
                            (AbstractValue::Unknown(*cause), 0)
                        }
                        (AbstractValue::Bits, _) if let Some(bits) = left(old_bits) => (AbstractValue::Bits, bits),
                        // In the order of a device, each operand is compared by itself.
                        _ if contended && self.dispatch.atomic_order == AtomicOrder::Any => {
                            (AbstractValue::Unknown(self.cause(CauseKind::Order)), 0)
                        }
                        _ => left_of_sets(op, kind, (&old, old_bits), (&operands[0].0, operands[0].1))
                            .unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0)),
                    },
                }
            };
            let is_cut = may_be_cut || relaxed && !is_short((&value, bits));
            let (value, bits) = match value {
                AbstractValue::Unknown(_) => (value, bits),
                _ if is_cut => (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0),
                _ => (value, bits),
            };
            let (value, bits) = if weak { self.union(kind, (&old, old_bits), (&value, bits)) } else { (value, bits) };
            let parts = self.cause(CauseKind::Precision);
            let value = raced.map_or(value, AbstractValue::Unknown);
            self.objects[object].write(offset, size, bits, value, parts);
            if let Some((_, before, Some(bound))) = sum {
                let bound = if weak { before.either(bound) } else { bound };
                self.objects[object].keep_bound(offset, size, SUMMED, bound);
            }
        }
        match (raced, observed) {
            (Some(cause), _) => (AbstractValue::Unknown(cause), 0),
            (None, Some(bits)) if followed => (AbstractValue::Bits, bits),
            (None, _) if contended => (AbstractValue::Unknown(self.cause(CauseKind::Order)), 0),
            (None, _) if may_be_cut && !matches!(old, AbstractValue::Unknown(_)) => {
                (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0)
            }
            (None, _) => (old, old_bits),
        }
    }

    /// Adds floats: returns the value that is left in memory, and the expression bounds before and
    /// after. If other invocations add without order, the value covers every order of the
    /// additions.
    fn sum(
        &mut self,
        (float_op, kind): (u32, Kind),
        (object, offset): (usize, usize),
        old: (&AbstractValue, u64),
        operand: &(AbstractValue, u64),
        contended: bool,
    ) -> ((AbstractValue, u64), ExprBound, Option<ExprBound>) {
        let program = self.program;
        let float_op = &program.float_ops[float_op as usize];
        let Kind::Float(fmt) = kind else { return (operand.clone(), ExprBound::NONE, None) };
        if let (AbstractValue::Unknown(cause), _) | (_, (AbstractValue::Unknown(cause), _)) = (old.0, operand) {
            return ((AbstractValue::Unknown(*cause), 0), ExprBound::NONE, None);
        }
        let summed = self.objects[object].bound(offset, kind.bytes() as usize, SUMMED).copied();
        let before = summed.unwrap_or_else(|| bound_of_value(old.0, old.1, fmt));
        let bound = before.add(bound_of_value(&operand.0, operand.1, fmt), false);
        let env = float_op.reference.environment(LEFT);
        let left = if contended {
            match rearranged(bound, fmt, fast_path::errors(fmt, &env)) {
                Some((lo, hi)) if fast_path::meets_small(fmt, (lo, hi)) => {
                    AbstractValue::of_floats(with_zeros(fmt, bound, (lo, hi), env.flush_results == Flush::Must))
                }
                Some((lo, hi)) => AbstractValue::of_floats(FloatSet::range(fmt, lo, hi)),
                None => (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0),
            }
        } else {
            self.permitted(float_op, LEFT, &[(old.0, old.1), (&operand.0, operand.1)])
        };
        (left, before, Some(bound))
    }

    /// Returns true if a compare-exchange certainly does not find its comparator: the content is
    /// known, and no other invocation is known to modify it.
    fn fails(&self, (object, offset): (usize, usize), size: usize, comparator: Reg, lane: usize) -> bool {
        let memory = &self.objects[object];
        let comparator = &self.columns[comparator as usize];
        let known = matches!(memory.read(offset, size), ReadValue::Value(AbstractValue::Bits))
            && *comparator.value(lane) == AbstractValue::Bits
            && memory.bits(offset, size) != comparator.bits[lane];
        let (object, offset) = (object as u32, offset as u32);
        known && !self.in_doubt && !self.forks.is_weak(lane) && !self.is_contended(object, offset, self.stamp(object))
    }

    /// The time of an access as a stamp that runs share: epochs are counted from the start of the
    /// workgroup.
    fn stamp(&self, object: u32) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.races.epoch(object) - self.races.workgroup_start)
    }

    /// Returns true if other invocations are known to modify the location, at that time or in every
    /// epoch.
    fn is_contended(&self, object: u32, offset: u32, stamp: u64) -> bool {
        [stamp, EVERY].iter().any(|stamp| self.contention.known.contains(&(object, offset, *stamp)))
    }

    /// Records an atomic access. Returns two flags: its result depends on the order, as the
    /// previous run found, and the content that it leaves depends on the order, as this run finds.
    fn contend(&mut self, object: u32, offset: u32, class: Class, lane: usize) -> (bool, bool) {
        let epoch = self.races.epoch(object);
        let (group, stamp) = (self.place, self.stamp(object));
        let who = self.forks.original(lane) as u32;
        let changes = class != Class::Load;
        let past = self.contention.past.entry((object, offset)).or_insert_with(|| EarlierAccesses {
            group,
            epoch,
            ..EarlierAccesses::default()
        });
        if past.group != group {
            let before = match object {
                // Each workgroup has its own workgroup memory.
                1 => Accesses::default(),
                _ => Accesses {
                    loads: past.before.loads || past.all.loads,
                    changes: past.before.changes.and(past.all.changes),
                },
            };
            *past = EarlierAccesses { group, epoch, before, ..EarlierAccesses::default() };
        } else if past.epoch != epoch {
            *past = EarlierAccesses {
                epoch,
                loaded: Invocations::Nobody,
                changed: Invocations::Nobody,
                changes: Changes::Nothing,
                ..*past
            };
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

    pub(in crate::run) fn barrier(&mut self, scope: u32, order: Order, lanes: Lanes) -> Result<(), Stop> {
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
            let cause = self.fault(FaultKind::DivergentBarrier, lane, || {
                format!("{some} of {all} invocations of the workgroup reach it together")
            });
            // The others may never arrive.
            return Err(self.lose_everything(cause));
        } else if self.dispatch.kernel.is_none() && !self.tangles.meet(lanes.iter()) {
            // Control flow of kernels is not structured, so it does not define where they
            // reconverge.
            let lane = lanes.list[0] as usize;
            self.fault(FaultKind::DivergentBarrier, lane, || {
                "invocations of the workgroup reach it on several ways from where they parted".into()
            });
        }
        self.races.barrier(order);
        self.end_orders_before_barrier();
        Ok(())
    }

    pub(in crate::run) fn fence(&mut self, order: Order, lanes: Lanes) {
        if order.is_of_subgroups() {
            self.races.fence_of_some(order);
        } else if lanes.list.len() == self.lanes && !lanes.iter().any(|l| self.forks.is_weak(l)) {
            self.races.fence(order);
        }
    }
}

/// The bits that an atomic instruction leaves in an integer of `width` bits after it found `found`,
/// given its value and comparator. `None` for other instructions. All bits are right-aligned.
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

/// The new content after an integer operation with an operand that may have several values, on content
/// that may; `None` if it is not a known set.
fn left_of_sets(
    op: AtomicOp,
    kind: Kind,
    old: (&AbstractValue, u64),
    operand: (&AbstractValue, u64),
) -> Option<(AbstractValue, u64)> {
    let arithmetic = op.arithmetic()?;
    match (old.0.patterns(old.1), operand.0.patterns(operand.1)) {
        (Ok(olds), Ok(operands)) => {
            let of = |old: &u64| operands.iter().map(|x| combined(op, kind, *old, *x, 0)).collect::<Vec<_>>();
            AbstractValue::of_patterns(olds.iter().flat_map(of).collect::<Option<Vec<u64>>>()?)
        }
        _ => bit_range::enclose(arithmetic, kind.width(), &[old, operand]),
    }
}

/// The new content after an operation on exact bits; `None` if a float operand is not ordinary.
fn combined(op: AtomicOp, kind: Kind, old: u64, x: u64, y: u64) -> Option<u64> {
    let width = kind.width();
    if let Some(op) = op.arithmetic() {
        return Some(op.eval(width, [old, x, 0, 0], false).map_or(0, |bits| bits & mask(width)));
    }
    Some(match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => x,
        // The arguments are value and comparator.
        AtomicOp::CompareExchange => {
            if old == y {
                x
            } else {
                old
            }
        }
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
        // A sum of floats need not leave a single value.
        _ => return None,
    })
}
