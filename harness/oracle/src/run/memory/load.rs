//! Loads from memory objects.

use super::address::Target;
use super::scalar::AccessedScalar;
use crate::abstract_value::{ALTERNATIVES, AbstractValue};
use crate::dispatch::Robustness;
use crate::expr_bound::ExprBound;
use crate::inst::Reg;
use crate::memory::ReadValue;
use crate::outcome::CauseKind;
use crate::pointer::OBJECT;
use crate::run::expr::build::bound_of_value;
use crate::run::lanes::{Column, Lanes};
use crate::run::{Run, UNREAD};
use crate::ty::{Kind, Leaf};
use smallvec::SmallVec;

impl Run<'_> {
    pub(in crate::run) fn load(
        &mut self,
        dst: Reg,
        pointer: Reg,
        leaves: &[Leaf],
        physical: Option<u32>,
        lanes: Lanes,
    ) {
        let pointers = self.take(pointer);
        let wide = pointers.is_wide(lanes);
        for (reg, part) in (dst..).zip(AccessedScalar::all(leaves, physical)) {
            let mut d = self.take(reg);
            if wide {
                lanes.iter().for_each(|l| self.load_from_any(&mut d, &pointers, part, l));
            } else {
                d.make_plain(lanes);
                self.load_leaf(&mut d, &pointers, part, lanes);
            }
            self.moved(reg, &mut d, lanes);
            self.give(reg, d);
        }
        self.give(pointer, pointers);
    }

    /// Loads one scalar of each lane through exact pointers.
    fn load_leaf(&mut self, d: &mut Column, pointers: &Column, part: AccessedScalar<'_>, lanes: Lanes) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        for l in lanes.iter() {
            let pointer = pointers.bits[l];
            // The common case: in bounds of an object of exact bytes.
            if part.physical.is_none()
                && self.is_plain()
                && let Some(place) = self.object_of(pointer)
            {
                let object = &self.objects[place];
                let offset = (pointer % OBJECT + leaf.offset) as usize;
                if object.is_plain() && offset + size <= object.bytes.len() {
                    d.bits[l] = loaded(leaf.kind, object.bits(offset, size));
                    if let Some(cause) = self.note_read(place, offset, size, l) {
                        d.set(l, 0, AbstractValue::Unknown(cause));
                    }
                    continue;
                }
            }
            let target = self.targets(&[pointer], &part, l, false)[0];
            let made = self.load_at(target, part, l);
            let bound = if matches!(made.0, AbstractValue::Unknown(_)) { None } else { self.made_at(target, size, l) };
            d.set_made(l, made, bound);
        }
    }

    /// The expression bound of a float in memory, if this invocation wrote it.
    fn made_at(&self, target: Target, size: usize, lane: usize) -> Option<ExprBound> {
        let Target::At { object, offset } = target else { return None };
        self.objects[object].bound(offset, size, self.forks.original(lane) as u32).copied()
    }

    /// The expression bound of a float in one of several places, given their values.
    fn made_at_any(
        &self,
        targets: &[Target],
        kind: Kind,
        values: &[(AbstractValue, u64)],
        lane: usize,
    ) -> Option<ExprBound> {
        let Kind::Float(fmt) = kind else { return None };
        let bounds = targets.iter().map(|target| self.made_at(*target, kind.bytes() as usize, lane));
        let bounds: SmallVec<[Option<ExprBound>; 4]> = bounds.collect();
        bounds.iter().any(Option::is_some).then_some(())?;
        let each = bounds
            .into_iter()
            .zip(values)
            .map(|(bound, (value, bits))| bound.unwrap_or_else(|| bound_of_value(value, *bits, fmt)));
        each.reduce(ExprBound::either)
    }

    fn load_at(&mut self, target: Target, part: AccessedScalar<'_>, lane: usize) -> (AbstractValue, u64) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        match target {
            Target::At { object, offset } => {
                if let Some(cause) = self.note_read(object, offset, size, lane) {
                    return (AbstractValue::Unknown(cause), 0);
                }
                let found = self.objects[object].read(offset, size);
                let bits = loaded(leaf.kind, self.objects[object].bits(offset, size));
                match found {
                    ReadValue::Value(AbstractValue::Unknown(UNREAD)) | ReadValue::Unwritten => {
                        (AbstractValue::Unknown(self.cause(CauseKind::Uninitialized)), 0)
                    }
                    ReadValue::Value(value) => (self.numbered(value), bits),
                    ReadValue::Parts => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
                }
            }
            Target::Void | Target::Zero => (AbstractValue::Bits, 0),
            Target::Open { object, cause } => {
                let (value, bits) = self.out_of_bounds_load(object, (leaf.kind, part.scalars), cause);
                (self.numbered(value), bits)
            }
            Target::Nowhere { cause } => (AbstractValue::Unknown(cause), 0),
        }
    }

    /// The values that `robustBufferAccess` lets a load out of bounds return: zero, or anything in
    /// the buffer's memory. The memory is assumed to end with the buffer, so only callers whose
    /// buffers fill theirs may ask. The value is unknown if the shader may change the buffer, if it
    /// may be combined from several places, or if it may be the (0, 0, 0, x) of a vector, and under
    /// `robustBufferAccess2`. It is also unknown for floats, for scalars over 4 bytes and for more
    /// than 3 scalars. Also returns the bits of one member of the set.
    fn out_of_bounds_load(
        &mut self,
        object: usize,
        (kind, scalars): (Kind, usize),
        cause: u32,
    ) -> (AbstractValue, u64) {
        let size = kind.bytes() as usize;
        let memory = &self.objects[object];
        if self.dispatch.robustness != Robustness::Access
            || size > 4
            || scalars > 3
            || !matches!(kind, Kind::Int { .. })
            || !memory.is_plain()
            || self.is_writable(object)
        {
            return (AbstractValue::Unknown(cause), 0);
        }
        let found = self.out_of_bounds.contents(object, size, || {
            let windows = (0..memory.bytes.len().saturating_sub(size - 1)).map(|offset| memory.bits(offset, size));
            let mut all = vec![0];
            for bits in windows {
                if !all.contains(&bits) {
                    all.push(bits);
                }
                if all.len() > ALTERNATIVES {
                    return None;
                }
            }
            AbstractValue::of_patterns(all)
        });
        found.unwrap_or((AbstractValue::Unknown(cause), 0))
    }

    fn load_from_any(&mut self, d: &mut Column, pointers: &Column, part: AccessedScalar<'_>, lane: usize) {
        let mut bound = None;
        let (value, bits) = match pointers.value(lane).correlated(pointers.bits[lane]) {
            Ok(selector) => {
                let targets = self.targets(&selector.distinct(), &part, lane, false);
                let wrong = targets.iter().find(|target| matches!(target, Target::Nowhere { .. })).copied();
                match (&targets[..], wrong) {
                    ([only], _) => {
                        bound = self.made_at(*only, part.leaf.kind.bytes() as usize, lane);
                        self.load_at(*only, part, lane)
                    }
                    // Possibly undefined: the value read is unknown.
                    (_, Some(wrong)) => self.load_at(wrong, part, lane),
                    _ => {
                        let load =
                            |run: &mut Self| targets.iter().map(|target| run.load_at(*target, part, lane)).collect();
                        let values: Vec<_> = self.in_doubt(true, load);
                        let made = self.made_at_any(&targets, part.leaf.kind, &values, lane);
                        bound = made.map(|bound| self.numbered_bound(bound));
                        self.picked(part.leaf.kind, &selector, &values)
                    }
                }
            }
            Err(None) => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
            Err(Some(cause)) if self.is_undefined(cause) => (AbstractValue::Unknown(self.decided_by(cause, lane)), 0),
            Err(Some(cause)) => (AbstractValue::Unknown(cause), 0),
        };
        let bound = if matches!(value, AbstractValue::Unknown(_)) { None } else { bound };
        d.set_made(lane, (value, bits), bound);
    }
}

/// Bits of memory as the register's representation.
#[inline(always)]
pub(super) fn loaded(kind: Kind, bits: u64) -> u64 {
    if kind == Kind::Bool { u64::from(bits != 0) } else { bits }
}
