//! Registers of all lanes, and the active lanes.

use crate::abstract_value::AbstractValue;
use crate::expr_bound::ExprBound;

/// One register: a scalar for every lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) bits: Box<[u64]>,
    /// The abstract value of each lane; `None` while every lane is exactly its bits.
    pub(crate) wide: Option<Box<[AbstractValue]>>,
    /// The expression bound of each lane's float.
    pub(crate) bounds: Option<Box<[ExprBound]>>,
}

/// Active lanes, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) list: &'a [u32],
    /// Set if they are all lanes from 0 on, and no lane beyond them is in use.
    pub(crate) all: bool,
}

impl Lanes<'_> {
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.list.iter().map(|lane| *lane as usize)
    }
}

impl Column {
    pub(crate) fn new(capacity: usize) -> Column {
        Column { bits: vec![0; capacity].into(), wide: None, bounds: None }
    }

    /// Resets the first lanes to their initial state.
    pub(crate) fn clear(&mut self, lanes: usize) {
        self.bits[..lanes].fill(0);
        (self.wide, self.bounds) = (None, None);
    }

    /// Returns true if all lanes are in their initial state.
    pub(crate) fn is_clear(&self) -> bool {
        self.is_plain() && self.bits.iter().all(|bits| *bits == 0)
    }

    /// The abstract value of a lane.
    #[inline]
    pub(crate) fn value(&self, lane: usize) -> &AbstractValue {
        self.wide.as_ref().map_or(&AbstractValue::Bits, |wide| &wide[lane])
    }

    /// The expression bound of a lane; `None` for an exact value that no operation computed.
    #[inline]
    pub(crate) fn bound(&self, lane: usize) -> Option<&ExprBound> {
        self.bounds.as_ref().map(|bounds| &bounds[lane]).filter(|bound| bound.id != 0)
    }

    /// Returns true if every lane is exactly its bits, which no operation computed.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.wide.is_none() && self.bounds.is_none()
    }

    /// Returns true if a lane is more than its bits.
    pub(crate) fn is_wide(&self, lanes: Lanes) -> bool {
        self.wide.as_ref().is_some_and(|wide| lanes.iter().any(|l| wide[l] != AbstractValue::Bits))
    }

    /// Resets the lanes to plain bits, which the caller is about to write.
    #[inline]
    pub(crate) fn make_plain(&mut self, lanes: Lanes) {
        if lanes.all {
            self.wide = None;
            self.bounds = None;
            return;
        }
        if let Some(wide) = &mut self.wide {
            lanes.iter().for_each(|l| wide[l] = AbstractValue::Bits);
        }
        if let Some(bounds) = &mut self.bounds {
            lanes.iter().for_each(|l| bounds[l] = ExprBound::NONE);
        }
    }

    /// Sets the value of a lane, without an expression bound.
    pub(crate) fn set(&mut self, lane: usize, bits: u64, value: AbstractValue) {
        self.bits[lane] = bits;
        if value != AbstractValue::Bits || self.wide.is_some() {
            let n = self.bits.len();
            self.wide.get_or_insert_with(|| vec![AbstractValue::Bits; n].into())[lane] = value;
        }
        if let Some(bounds) = &mut self.bounds {
            bounds[lane] = ExprBound::NONE;
        }
    }

    /// Sets the expression bound of a lane.
    pub(crate) fn set_bound(&mut self, lane: usize, bound: ExprBound) {
        let n = self.bits.len();
        self.bounds.get_or_insert_with(|| vec![ExprBound::NONE; n].into())[lane] = bound;
    }

    /// Sets the value and the expression bound of a lane.
    pub(crate) fn set_made(&mut self, lane: usize, (value, bits): (AbstractValue, u64), bound: Option<ExprBound>) {
        self.set(lane, bits, value);
        if let Some(bound) = bound {
            self.set_bound(lane, bound);
        }
    }

    /// Copies lanes of another register.
    #[inline]
    pub(crate) fn copy(&mut self, from: &Column, lanes: Lanes) {
        if lanes.all {
            let n = lanes.list.len();
            self.bits[..n].copy_from_slice(&from.bits[..n]);
        } else {
            lanes.iter().for_each(|l| self.bits[l] = from.bits[l]);
        }
        if from.is_plain() {
            return self.make_plain(lanes);
        }
        for l in lanes.iter() {
            self.copy_lane(l, from, l);
        }
    }

    /// Copies one lane of another register.
    #[inline]
    pub(crate) fn copy_lane(&mut self, to: usize, from: &Column, lane: usize) {
        self.set(to, from.bits[lane], from.value(lane).clone());
        if let Some(bound) = from.bound(lane) {
            self.set_bound(to, *bound);
        }
    }

    /// Copies one lane over another.
    pub(crate) fn duplicate(&mut self, from: usize, to: usize) {
        self.bits[to] = self.bits[from];
        if let Some(wide) = &mut self.wide {
            wide[to] = wide[from].clone();
        }
        if let Some(bounds) = &mut self.bounds {
            bounds[to] = bounds[from];
        }
    }
}
