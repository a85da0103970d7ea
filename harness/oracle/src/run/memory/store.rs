//! Stores to memory objects.

use super::address::Target;
use super::load::loaded;
use super::scalar::AccessedScalar;
use crate::abstract_value::AbstractValue;
use crate::expr_bound::ExprBound;
use crate::inst::Reg;
use crate::memory::ReadValue;
use crate::outcome::CauseKind;
use crate::pointer::OBJECT;
use crate::run::expr::build::bound_of_value;
use crate::run::lanes::{Column, Lanes};
use crate::run::{Run, UNREAD};
use crate::ty::{Kind, Leaf};

impl Run<'_> {
    pub(in crate::run) fn store(
        &mut self,
        pointer: Reg,
        src: Reg,
        leaves: &[Leaf],
        physical: Option<u32>,
        lanes: Lanes,
    ) {
        let pointers = self.take(pointer);
        for (reg, part) in (src..).zip(AccessedScalar::all(leaves, physical)) {
            let leaf = part.leaf;
            // A pointer may be stored where it points.
            let s = if reg == pointer { pointers.clone() } else { self.take(reg) };
            let size = leaf.kind.bytes() as usize;
            let stored = self.stored(reg, &s, lanes);
            let simple = !pointers.is_wide(lanes) && !stored.is_wide(lanes) && physical.is_none() && self.is_plain();
            for l in lanes.iter() {
                let pointer = pointers.bits[l];
                let bound = stored.bound(l).filter(|bound| !bound.is_plain());
                if simple
                    && bound.is_none()
                    && !self.forks.is_weak(l)
                    && let Some(object) = self.object_of(pointer)
                {
                    let offset = (pointer % OBJECT + leaf.offset) as usize;
                    let memory = &mut self.objects[object];
                    if memory.is_plain() && offset + size <= memory.bytes.len() {
                        let same = self.dispatch.benign_races && memory.bits(offset, size) == stored.bits[l];
                        memory.put(offset, size, stored.bits[l]);
                        self.note_write(object, offset, size, l, same);
                        continue;
                    }
                }
                self.store_any(&pointers, (stored.value(l), stored.bits[l]), bound, &part, l);
            }
            if reg != pointer {
                self.give(reg, s);
            }
        }
        self.give(pointer, pointers);
    }

    fn store_any(
        &mut self,
        pointers: &Column,
        (value, bits): (&AbstractValue, u64),
        bound: Option<&ExprBound>,
        part: &AccessedScalar<'_>,
        lane: usize,
    ) {
        let all = match pointers.value(lane).patterns(pointers.bits[lane]) {
            Ok(all) => all,
            Err(unknown) => {
                let cause = match unknown {
                    None => self.cause(CauseKind::Precision),
                    Some(cause) if self.is_undefined(cause) => self.decided_by(cause, lane),
                    Some(cause) => cause,
                };
                let _stop = self.lose_everything(cause);
                return;
            }
        };
        let targets = self.targets(&all, part, lane, true);
        let perhaps = targets.len() > 1 || self.forks.is_weak(lane);
        for target in &targets {
            match *target {
                Target::At { object, offset } => {
                    let several = targets.len() > 1;
                    let perhaps = perhaps || self.is_cut(object, offset, part);
                    let kind = part.leaf.kind;
                    let made = bound.copied();
                    let bound =
                        if perhaps { self.perhaps_made(object, offset, kind, (value, bits, made), lane) } else { made };
                    self.in_doubt(several, |run| run.put(object, offset, kind, (value, bits), perhaps, lane));
                    if let Some(bound) = bound {
                        let (size, invocation) = (kind.bytes() as usize, self.forks.original(lane) as u32);
                        self.objects[object].keep_bound(offset, size, invocation, bound);
                    }
                }
                Target::Open { object, cause } => drop(self.objects[object].lost.get_or_insert(cause)),
                // The store may go anywhere.
                Target::Nowhere { cause } if perhaps => {
                    let _stop = self.lose_everything(cause);
                }
                Target::Void | Target::Zero | Target::Nowhere { .. } => {}
            }
        }
    }

    /// The expression bound of a place after an invocation has possibly written a value there.
    /// `None` if neither that value nor the invocation's own previous one has a bound.
    fn perhaps_made(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits, bound): (&AbstractValue, u64, Option<ExprBound>),
        lane: usize,
    ) -> Option<ExprBound> {
        let Kind::Float(fmt) = kind else { return None };
        let (memory, size) = (&self.objects[object], kind.bytes() as usize);
        let before = memory.bound(offset, size, self.forks.original(lane) as u32).copied();
        if bound.is_none() && before.is_none() {
            return None;
        }
        let before = before.or_else(|| match memory.read(offset, size) {
            ReadValue::Value(old) => Some(bound_of_value(&old, loaded(kind, memory.bits(offset, size)), fmt)),
            ReadValue::Unwritten | ReadValue::Parts => None,
        });
        let either = bound.unwrap_or_else(|| bound_of_value(value, bits, fmt)).either(before?);
        Some(self.numbered_bound(either))
    }

    /// Writes a scalar. If the write is uncertain, the old value may also stay.
    pub(in crate::run) fn put(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits): (&AbstractValue, u64),
        perhaps: bool,
        lane: usize,
    ) {
        let size = kind.bytes() as usize;
        let (mut value, mut bits) = (value.clone(), bits);
        if value == AbstractValue::Unknown(UNREAD) {
            value = AbstractValue::Unknown(self.cause(CauseKind::Uninitialized));
        }
        if perhaps {
            let old = match self.objects[object].read(offset, size) {
                ReadValue::Value(old) => old,
                ReadValue::Unwritten => AbstractValue::Unknown(UNREAD),
                ReadValue::Parts => AbstractValue::Unknown(self.cause(CauseKind::Precision)),
            };
            let old_bits = loaded(kind, self.objects[object].bits(offset, size));
            (value, bits) = self.union(kind, (&old, old_bits), (&value, bits));
        }
        let parts = self.cause(CauseKind::Precision);
        let same = self.dispatch.benign_races
            && value == AbstractValue::Bits
            && self.objects[object].holds(offset, size, bits);
        self.objects[object].write(offset, size, bits, value, parts);
        self.note_write(object, offset, size, lane, same);
    }
}
