//! Effect of bit-preserving operations on floats, if the text is read by the letter:
//! [`Copies::Assume`].

use crate::abstract_value::{AbstractValue, FloatSet};
use crate::dispatch::Copies;
use crate::float_op::Reading;
use crate::inst::{AtomicOp, Inst, Reg};
use crate::run::Run;
use crate::run::lanes::{Column, Lanes};
use crate::ty::{Fmt, Kind};
use assay_precision::FastMath;
use std::borrow::Cow;

impl Run<'_> {
    /// The flags that may be assumed of a float register that is copied; `None` if copies preserve
    /// bits.
    #[inline]
    fn assumed(&self, reg: Reg) -> Option<(Fmt, FastMath)> {
        self.assumed_of(self.program.kinds[reg as usize])
    }

    /// Applies the loss of special values to one scalar of a kind.
    #[inline]
    fn assumed_of(&self, kind: Kind) -> Option<(Fmt, FastMath)> {
        if self.dispatch.copies == Copies::Preserve || self.reading == Reading::Usual {
            return None;
        }
        let Kind::Float(fmt) = kind else { return None };
        self.program.copied.iter().copied().find(|(of, _)| *of == fmt)
    }

    /// Applies the effect to lanes of a register that a bit-preserving operation has written.
    #[inline]
    pub(in crate::run) fn moved(&self, reg: Reg, column: &mut Column, lanes: Lanes) {
        if let Some(assumed) = self.assumed(reg) {
            lanes.iter().for_each(|l| loosen(column, assumed, l));
        }
    }

    /// Applies the effect to one lane.
    #[inline]
    pub(in crate::run) fn moved_lane(&self, reg: Reg, column: &mut Column, lane: usize) {
        if let Some(assumed) = self.assumed(reg) {
            loosen(column, assumed, lane);
        }
    }

    /// The contents that a store of a register writes.
    #[inline]
    pub(in crate::run) fn stored<'c>(&self, reg: Reg, column: &'c Column, lanes: Lanes) -> Cow<'c, Column> {
        let Some(assumed) = self.assumed(reg) else { return Cow::Borrowed(column) };
        let mut column = column.clone();
        lanes.iter().for_each(|l| loosen(&mut column, assumed, l));
        Cow::Owned(column)
    }

    /// The scalar that an atomic store or exchange writes.
    pub(in crate::run) fn stored_by_atomic(&self, kind: Kind, scalar: &(AbstractValue, u64)) -> (AbstractValue, u64) {
        let assumed = self.assumed_of(kind);
        assumed.and_then(|assumed| loosened((&scalar.0, scalar.1), assumed)).unwrap_or_else(|| scalar.clone())
    }

    /// Applies the effect to the result of a subgroup or atomic instruction, if it is
    /// bit-preserving.
    pub(in crate::run) fn moved_by(&mut self, inst: &Inst, lanes: Lanes) {
        let (dst, n) = match *inst {
            Inst::Subgroup { op, dst, n, .. } if op.is_copy() => (dst, n),
            Inst::Atomic { op: AtomicOp::Load | AtomicOp::Exchange, dst: Some(dst), .. } => (dst, 1),
            _ => return,
        };
        for reg in dst..dst + n {
            let mut column = self.take(reg);
            self.moved(reg, &mut column, lanes);
            self.give(reg, column);
        }
    }
}

/// Adds the values that a lane's float may become by being copied.
pub(super) fn loosen(column: &mut Column, assumed: (Fmt, FastMath), lane: usize) {
    if let Some(made) = loosened((column.value(lane), column.bits[lane]), assumed) {
        let bound = column.bound(lane).copied();
        column.set_made(lane, made, bound);
    }
}

/// A float with the values that it may become by being copied; `None` if it stays as it is.
fn loosened((value, bits): (&AbstractValue, u64), (fmt, flags): (Fmt, FastMath)) -> Option<(AbstractValue, u64)> {
    let format = fmt.format();
    if *value == AbstractValue::Bits && format.is_finite(bits) && !format.is_zero(bits) {
        return None;
    }
    // An unknown value stays unknown.
    let floats = value.floats(bits, fmt).ok()?;
    Some(AbstractValue::of_floats(copied(floats, flags)))
}

/// A set of floats after a copy. If a NaN is a member, every NaN is one already.
fn copied(floats: FloatSet, flags: FastMath) -> FloatSet {
    let (fmt, format) = (floats.fmt, floats.fmt.format());
    let (least, greatest) = (format.neg_infinity(), format.infinity());
    let infinite = floats.hull().is_some_and(|(lo, hi)| lo <= least || hi >= greatest);
    if flags.not_nan && floats.nan || flags.not_inf && infinite {
        return FloatSet { nan: true, ..FloatSet::range(fmt, least, greatest) };
    }
    let zeros = FloatSet::range(fmt, -1, 0);
    let has_zero = floats.set().meets(assay_float::RankRange::new(-1, 0));
    if flags.nsz && has_zero { floats.union(&zeros) } else { floats }
}
