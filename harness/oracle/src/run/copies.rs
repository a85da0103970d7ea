//! What bit-preserving operations leave of floats where they are read by the letter: [`Copies::Assume`].

use super::Run;
use super::lanes::{Column, Lanes};
use crate::dispatch::Copies;
use crate::inst::{AtomicOp, Inst, Reg};
use crate::site::Reading;
use crate::ty::{Fmt, Kind};
use crate::value::{Floats, Value};
use assay_precision::FastMath;
use std::borrow::Cow;

impl Run<'_> {
    /// What may be assumed of a register of floats that is copied; `None` where copies are their bits.
    #[inline]
    fn assumed(&self, reg: Reg) -> Option<(Fmt, FastMath)> {
        if self.dispatch.copies == Copies::Preserve || self.reading == Reading::Usual {
            return None;
        }
        let Kind::Float(fmt) = self.program.kinds[reg as usize] else { return None };
        self.program.copied.iter().copied().find(|(of, _)| *of == fmt)
    }

    /// A bit-preserving operation has written lanes of a register.
    #[inline]
    pub(super) fn moved(&self, reg: Reg, column: &mut Column, lanes: Lanes) {
        if let Some(assumed) = self.assumed(reg) {
            lanes.iter().for_each(|l| loosen(column, assumed, l));
        }
    }

    /// The same of one lane.
    #[inline]
    pub(super) fn moved_lane(&self, reg: Reg, column: &mut Column, lane: usize) {
        if let Some(assumed) = self.assumed(reg) {
            loosen(column, assumed, lane);
        }
    }

    /// What a store leaves of a register.
    #[inline]
    pub(super) fn stored<'c>(&self, reg: Reg, column: &'c Column, lanes: Lanes) -> Cow<'c, Column> {
        let Some(assumed) = self.assumed(reg) else { return Cow::Borrowed(column) };
        let mut column = column.clone();
        lanes.iter().for_each(|l| loosen(&mut column, assumed, l));
        Cow::Owned(column)
    }

    /// The same of the result of a subgroup or an atomic instruction, if it is bit-preserving.
    pub(super) fn moved_by(&mut self, inst: &Inst, lanes: Lanes) {
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

/// Adds what a lane's float may become by being copied.
fn loosen(column: &mut Column, (fmt, flags): (Fmt, FastMath), lane: usize) {
    let (format, bits) = (fmt.format(), column.bits[lane]);
    if *column.value(lane) == Value::Bits && format.is_finite(bits) && !format.is_zero(bits) {
        return;
    }
    // Of what nothing is known no more can be.
    let Ok(floats) = column.value(lane).floats(bits, fmt) else { return };
    let form = column.form(lane).copied();
    column.set_made(lane, Value::of_floats(copied(floats, flags)), form);
}

/// A set of floats after a copy. It has any NaN for one of its NaNs already.
fn copied(floats: Floats, flags: FastMath) -> Floats {
    let (fmt, format) = (floats.fmt, floats.fmt.format());
    let (least, greatest) = (format.neg_infinity(), format.infinity());
    let infinite = floats.hull().is_some_and(|(lo, hi)| lo <= least || hi >= greatest);
    if flags.not_nan && floats.nan || flags.not_inf && infinite {
        return Floats { nan: true, ..Floats::range(fmt, least, greatest) };
    }
    let zeros = Floats::range(fmt, -1, 0);
    let has_zero = floats.set().meets(assay_float::RankRange::new(-1, 0));
    if flags.nsz && has_zero { floats.union(&zeros) } else { floats }
}
