//! Atomic operations and barriers.
//!
//! What an atomic operation returns is exact only if no other invocation changes the location without order; else it
//! depends on the order of invocations. That others come later is found out by a first run; see [`Contention`]. What is
//! left in memory is exact if all operations on the location commute.

use super::access::Target;
use super::lanes::Lanes;
use super::{Run, Stop};
use crate::inst::{AtomicOp, IntOp, Order, Reg};
use crate::memory::Found;
use crate::outcome::{CauseKind, FaultKind};
use crate::ty::{Kind, mask};
use crate::value::Value;
use assay_spirv::tables::{Op, Scope};
use std::collections::{HashMap, HashSet};

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
    last: HashMap<(u32, u32), Last>,
}

/// The last atomic accesses to a location.
#[derive(Clone, Copy, Debug)]
struct Last {
    who: u32,
    group: u32,
    epoch: u32,
    /// Whether others than `who` did too, in this epoch.
    several: bool,
    changed: bool,
    class: Class,
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
    FMin,
    FMax,
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
            AtomicOp::FMin => Class::FMin,
            AtomicOp::FMax => Class::FMax,
            AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::FAdd => Class::Alone,
        }
    }
}

impl Contention {
    /// A run with what this one found out; `None` if it found nothing new.
    pub(super) fn next(&self) -> Option<Contention> {
        if self.found.is_subset(&self.known) && self.found_early.is_subset(&self.early) {
            return None;
        }
        let known = self.known.union(&self.found).copied().collect();
        let early = self.early.union(&self.found_early).copied().collect();
        Some(Contention { known, early, ..Contention::default() })
    }

    /// A run that knows the same and has found nothing yet.
    pub(super) fn knowing(&self) -> Contention {
        Contention { known: self.known.clone(), early: self.early.clone(), ..Contention::default() }
    }

    /// Takes in what a part of the workgroups found that ran apart.
    pub(super) fn join(&mut self, other: Contention) {
        self.found.extend(other.found);
        self.found_early.extend(other.found_early);
    }

    /// Whether memory that workgroups share has been accessed.
    pub(super) fn is_shared(&self) -> bool {
        self.last.keys().any(|(object, _)| *object != 1)
    }
}

impl Run<'_> {
    #[expect(clippy::too_many_arguments, reason = "the operands of one instruction")]
    pub(super) fn atomic(
        &mut self,
        (op, kind): (AtomicOp, Kind),
        dst: Option<Reg>,
        pointer: Reg,
        args: [Reg; 2],
        order: Order,
        physical: bool,
        lanes: Lanes,
    ) {
        let size = kind.bytes();
        let _ordered_by_epochs = order;
        for l in lanes.iter() {
            let column = &self.columns[pointer as usize];
            let (value, bits) = match column.value(l).patterns(column.bits[l]).as_deref() {
                Ok([one]) => match self.target(*one, size, physical.then_some(size as u32), l, true) {
                    Target::At { object, offset } => self.atomic_at((op, kind), (object, offset), args, l),
                    // It changes nothing, and what it returns is undefined.
                    Target::Void => (Value::Any(self.cause(CauseKind::Robustness)), 0),
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

    /// One lane's operation on one location; gives what it returns.
    fn atomic_at(
        &mut self,
        (op, kind): (AtomicOp, Kind),
        (object, offset): (usize, usize),
        args: [Reg; 2],
        lane: usize,
    ) -> (Value, u64) {
        let size = kind.bytes() as usize;
        let changes = op != AtomicOp::Load;
        let raced = self.accessed(object, offset, size, lane, (changes, true));
        if object != 1 && self.dispatch.only.is_some() {
            // Who else does what to it is not seen, not even by whom it is written.
            let cause = raced.unwrap_or_else(|| self.cause(CauseKind::Sample));
            if changes {
                self.objects[object].write(offset, size, 0, Value::Any(cause), cause);
            }
            return (Value::Any(cause), 0);
        }
        let (contended, disordered) = self.contend(object as u32, offset as u32, op, lane);
        let old = match self.objects[object].read(offset, size) {
            Found::Value(value) => value,
            Found::Unwritten => Value::Any(self.cause(CauseKind::Uninitialized)),
            Found::Parts => Value::Any(self.cause(CauseKind::Precision)),
        };
        let old_bits = self.objects[object].bits(offset, size);
        if changes {
            let operand = |run: &Self, k: usize| {
                let column = &run.columns[args[k] as usize];
                (column.value(lane).clone(), column.bits[lane])
            };
            let weak = self.forks.is_weak(lane);
            let (value, bits) = if disordered {
                (Value::Any(self.cause(CauseKind::Order)), 0)
            } else {
                match op {
                    AtomicOp::Store | AtomicOp::Exchange => operand(self, 0),
                    _ => match (&old, operand(self, 0), operand(self, 1)) {
                        (Value::Bits, (Value::Bits, x), (second, y))
                            if second == Value::Bits || op != AtomicOp::CompareExchange =>
                        {
                            match combined(op, kind, old_bits, x, y) {
                                Some(bits) => (Value::Bits, bits),
                                None => (Value::Any(self.cause(CauseKind::Precision)), 0),
                            }
                        }
                        (Value::Any(cause), ..) => (Value::Any(*cause), 0),
                        (_, (Value::Any(cause), _), _) => (Value::Any(cause), 0),
                        _ => (Value::Any(self.cause(CauseKind::Precision)), 0),
                    },
                }
            };
            let (value, bits) = if weak { self.union(kind, (&old, old_bits), (&value, bits)) } else { (value, bits) };
            let parts = self.cause(CauseKind::Precision);
            let value = raced.map_or(value, Value::Any);
            self.objects[object].write(offset, size, bits, value, parts);
        }
        match raced {
            Some(cause) => (Value::Any(cause), 0),
            None if contended => (Value::Any(self.cause(CauseKind::Order)), 0),
            None => (old, old_bits),
        }
    }

    /// Notes an atomic access. Gives whether what it returns, and whether what it leaves, depends on the order.
    fn contend(&mut self, object: u32, offset: u32, op: AtomicOp, lane: usize) -> (bool, bool) {
        let epoch = if object == 1 { self.races.workgroup } else { self.races.buffers };
        let group = self.place;
        // Runs count epochs differently; within a workgroup they agree.
        let stamp = u64::from(group) << 32 | u64::from(epoch - self.races.begun);
        let who = self.forks.original(lane) as u32;
        let (class, changes) = (op.class(), op != AtomicOp::Load);
        let mut disordered = false;
        let last = self.contention.last.get(&(object, offset)).copied();
        let mut several = false;
        let mut changed = changes;
        if let Some(last) = last.filter(|last| object != 1 || last.group == group) {
            let same_group = last.group == group;
            let unordered = !same_group || last.epoch == epoch;
            let other = !same_group || last.who != who || (last.several && unordered);
            if unordered && other {
                if changes || last.changed {
                    self.contention.found.insert((object, offset, if same_group { stamp } else { EVERY }));
                }
                // Loads leave nothing behind.
                disordered = changes && last.changed && (class != last.class || class == Class::Alone);
                disordered |= changes && last.changed && last.class == Class::Alone;
            }
            several = unordered && (other || last.several);
            changed |= unordered && last.changed;
        }
        let class = match last {
            Some(last) if !changes && changed => last.class,
            _ => class,
        };
        self.contention.last.insert((object, offset), Last { who, group, epoch, several, changed, class });
        let contended = [stamp, EVERY].iter().any(|stamp| self.contention.known.contains(&(object, offset, *stamp)));
        (contended, disordered)
    }

    pub(super) fn barrier(&mut self, scope: u32, order: Order, lanes: Lanes) -> Result<(), Stop> {
        if Scope::from_word(scope) == Some(Scope::Subgroup) {
            self.races.orders_subgroup = true;
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
        }
        self.races.barrier(order);
        Ok(())
    }

    pub(super) fn fence(&mut self, order: Order, _lanes: Lanes) {
        if Scope::from_word(order.scope) == Some(Scope::Subgroup) {
            self.races.orders_subgroup = true;
        }
    }
}

/// The sum of two ordinary numbers where nothing has to be rounded, which every rounding gives; `None` elsewhere.
fn exact_sum(format: assay_float::Format, a: u64, b: u64) -> Option<u64> {
    let ordinary = |bits| format.is_finite(bits) && !format.is_denormal(bits) && !format.is_zero(bits);
    if !ordinary(a) || !ordinary(b) {
        return None;
    }
    let (x, y) = (format.to_f64(a), format.to_f64(b));
    // What rounding to `f64` loses, by Knuth's sum of two.
    let sum = x + y;
    let from_y = sum - x;
    let lost = (x - (sum - from_y)) + (y - from_y);
    let bits = match format {
        assay_float::F64 => sum.to_bits(),
        assay_float::F32 => u64::from((sum as f32).to_bits()),
        _ => return None,
    };
    (lost == 0.0 && ordinary(bits) && format.to_f64(bits) == sum).then_some(bits)
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
        AtomicOp::FAdd => {
            let Kind::Float(fmt) = kind else { return None };
            return exact_sum(fmt.format(), old, x);
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
    })
}

#[cfg(test)]
mod tests {
    use super::exact_sum;
    use assay_float::{F16, F32, F64};

    #[test]
    fn only_sums_that_need_no_rounding_are_exact() {
        let f32 = |x: f32| u64::from(x.to_bits());
        assert_eq!(exact_sum(F32, f32(1.5), f32(-0.25)), Some(f32(1.25)));
        assert_eq!(exact_sum(F32, f32(16_777_216.0), f32(1.0)), None);
        assert_eq!(exact_sum(F32, f32(1e38), f32(1e-38)), None);
        assert_eq!(exact_sum(F32, f32(3e38), f32(3e38)), None);
        assert_eq!(exact_sum(F32, f32(1.0), f32(-1.0)), None);
        assert_eq!(exact_sum(F32, f32(1.0), f32(0.0)), None);
        assert_eq!(exact_sum(F64, 1.5f64.to_bits(), 2.25f64.to_bits()), Some(3.75f64.to_bits()));
        assert_eq!(exact_sum(F64, 1f64.to_bits(), 1e-20f64.to_bits()), None);
        assert_eq!(exact_sum(F16, 0x3c00, 0x3c00), None);
    }
}
