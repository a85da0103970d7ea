//! Effect of `OpBitcast` on floats, if the text is read by the letter: [`Copies::Assume`].
//!
//! SPIR-V calls it a bit pattern-preserving conversion, which is the usual reading. Vulkan names it
//! neither among the bit-preserving operations nor among those that `SignedZeroInfNanPreserve`
//! speaks of, so `NSZ`, `NotInf` and `NotNaN` are assumed for it: of an operand of floats and of a
//! result of floats, whatever the widths are. Denormals are kept in both readings.

use super::bit_preserving::loosen;
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::dispatch::Copies;
use crate::float_op::Reading;
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::run::Run;
use crate::run::lanes::{Column, Lanes};
use crate::ty::{Fmt, Kind};
use assay_precision::FastMath;

impl Run<'_> {
    /// The flags that may be assumed of a cast between two registers, united as those of an
    /// instruction's types are; `None` if it preserves bits.
    pub(in crate::run) fn assumed_of_cast(&self, regs: [Reg; 2]) -> Option<FastMath> {
        if self.dispatch.copies == Copies::Preserve || self.reading == Reading::Usual {
            return None;
        }
        let of = |reg: Reg| {
            let Kind::Float(fmt) = self.program.kinds[reg as usize] else { return None };
            self.program.cast.iter().find(|(of, _)| *of == fmt).map(|(_, flags)| *flags)
        };
        let united = |a: FastMath, b: FastMath| FastMath {
            not_nan: a.not_nan || b.not_nan,
            not_inf: a.not_inf || b.not_inf,
            nsz: a.nsz || b.nsz,
            ..a
        };
        regs.into_iter().filter_map(of).reduce(united)
    }

    /// Applies the effect to operands, and returns their previous values.
    pub(in crate::run) fn loosen_operands(
        &mut self,
        (src, n): (Reg, u32),
        flags: FastMath,
        lanes: Lanes,
    ) -> Vec<Column> {
        let kept = self.columns[src as usize..(src + n) as usize].to_vec();
        for reg in src..src + n {
            let mut column = self.take(reg);
            self.loosen_result(reg, &mut column, Some(flags), lanes);
            self.give(reg, column);
        }
        kept
    }

    /// Applies the effect to a register of the result.
    pub(in crate::run) fn loosen_result(&self, reg: Reg, column: &mut Column, flags: Option<FastMath>, lanes: Lanes) {
        if let (Some(flags), Kind::Float(fmt)) = (flags, self.program.kinds[reg as usize]) {
            lanes.iter().for_each(|l| loosen(column, (fmt, flags), l));
        }
    }

    /// A scalar of `to` bits that is composed of scalars of another width, if any value is permitted
    /// for it: one of the scalars may have any value, or may be a NaN or an infinity that the flags
    /// exclude.
    pub(in crate::run) fn cast_to_anything(
        &mut self,
        sources: &[Reg],
        (dst, to): (Reg, u32),
        flags: Option<FastMath>,
        lane: usize,
    ) -> Option<(AbstractValue, u64)> {
        let is_free = |reg: &Reg| is_anything(self.columns[*reg as usize].value(lane));
        let is_float = |reg: &Reg| matches!(self.program.kinds[*reg as usize], Kind::Float(_));
        let assumed = flags.is_some_and(|flags| flags.not_nan || flags.not_inf);
        let free =
            sources.iter().all(is_free) || assumed && sources.iter().any(|source| is_float(source) && is_free(source));
        if !free {
            return None;
        }
        let fmt = match (self.program.kinds[dst as usize], to) {
            (Kind::Float(fmt), _) => fmt,
            (_, 16) => Fmt::F16,
            (_, 32) => Fmt::F32,
            (_, 64) => Fmt::F64,
            // No format has so few bits.
            _ => return Some((AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0)),
        };
        Some(AbstractValue::of_floats(anything(fmt)))
    }
}

/// Every number and every NaN: every bit pattern.
fn anything(fmt: Fmt) -> FloatSet {
    let format = fmt.format();
    FloatSet { nan: true, ..FloatSet::range(fmt, format.neg_infinity(), format.infinity()) }
}

fn is_anything(value: &AbstractValue) -> bool {
    let AbstractValue::Float(floats) = value else { return false };
    let all = anything(floats.fmt);
    floats.nan && floats.exact.is_none() && floats.hull() == all.hull()
}
