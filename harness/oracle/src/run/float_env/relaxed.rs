//! Effects of `RelaxedPrecision` that the precision table does not have: 32-bit numbers that lose
//! precision. SPIR-V, "Relaxed Precision".

use crate::abstract_value::{AbstractValue, FloatSet};
use crate::correlated_set::{CorrelatedSet, JointOperands};
use crate::inst::{IntOp, Reg};
use crate::outcome::CauseKind;
use crate::run::Run;
use crate::run::lanes::{Column, Lanes};
use crate::ty::{Fmt, Kind, mask};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The widths that an operation on integers of relaxed precision may have.
const WIDTHS: RangeInclusive<u32> = 16..=32;

impl Run<'_> {
    /// Lets numbers in a register, interpreted as `kind`, lose precision.
    pub(in crate::run) fn relax(&mut self, kind: Kind, reg: Reg, lanes: Lanes) {
        let mut d = self.take(reg);
        for l in lanes.iter() {
            match kind {
                Kind::Float(_) => self.relax_float(&mut d, l),
                Kind::Int { signed, .. } => self.relax_integer(&mut d, signed, l),
                Kind::Bool | Kind::Pointer | Kind::Handle => {}
            }
        }
        self.give(reg, d);
    }

    /// Makes filtered texels unknown. Texels that no filter changed stay.
    pub(in crate::run) fn relax_filtered(&mut self, reg: Reg, lanes: Lanes) {
        let mut d = self.take(reg);
        for l in lanes.iter() {
            if matches!(d.value(l), AbstractValue::OneOf(_) | AbstractValue::Float(_)) {
                d.set(l, 0, AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)));
            }
        }
        self.give(reg, d);
    }

    fn relax_float(&mut self, d: &mut Column, lane: usize) {
        let floats = match d.value(lane).floats(d.bits[lane], Fmt::F32) {
            Ok(floats) => floats,
            Err(_) if matches!(d.value(lane), AbstractValue::Unknown(_)) => return,
            Err(_) => return d.set(lane, 0, AbstractValue::Unknown(self.cause(CauseKind::Precision))),
        };
        let set = assay_precision::relaxed::truncated(&floats.set());
        if set.is_anything() {
            return d.set(lane, 0, AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)));
        }
        // The expression bound stays, but the value is a new one.
        let bound = d.bound(lane).copied().map(|bound| self.numbered_bound(bound));
        d.set_made(lane, AbstractValue::of_floats(FloatSet::from_set(Fmt::F32, &set)), bound);
    }

    fn relax_integer(&mut self, d: &mut Column, signed: bool, lane: usize) {
        let found = match d.value(lane).patterns(d.bits[lane]) {
            Ok(all) => {
                let cut = |bits: u64| WIDTHS.map(move |width| extended(bits, width, signed));
                AbstractValue::of_patterns(all.into_iter().flat_map(cut).collect())
            }
            Err(Some(_)) => return,
            Err(None) => None,
        };
        self.set_relaxed(d, found, lane);
    }

    fn set_relaxed(&mut self, d: &mut Column, found: Option<(AbstractValue, u64)>, lane: usize) {
        let (value, bits) = found.unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        let value = self.numbered(value);
        d.set(lane, bits, value);
    }

    /// Executes an operation on 32-bit integers in any of the permitted widths. The result is
    /// extended as the signedness of its type demands.
    pub(in crate::run) fn relaxed_integer(&mut self, op: IntOp, dst: Reg, args: [Reg; 4], lanes: Lanes) {
        let kind = self.program.kinds[dst as usize];
        let args = &args[..op.arity()];
        let mut d = self.take(dst);
        for l in lanes.iter() {
            let columns = args.iter().map(|reg| &self.columns[*reg as usize]);
            let operands: Result<Vec<Arc<CorrelatedSet>>, _> =
                columns.map(|column| column.value(l).correlated(column.bits[l])).collect();
            let found = match operands {
                Ok(operands) => self.in_each_width(op, kind, &operands, l),
                Err(Some(cause)) => Some((AbstractValue::Unknown(cause), 0)),
                Err(None) => None,
            };
            self.set_relaxed(&mut d, found, l);
        }
        self.give(dst, d);
    }

    /// The results of the operation in all widths; `None` if they are too many, or undefined in
    /// some widths but not in all.
    fn in_each_width(
        &mut self,
        op: IntOp,
        kind: Kind,
        operands: &[Arc<CorrelatedSet>],
        lane: usize,
    ) -> Option<(AbstractValue, u64)> {
        let together = JointOperands::new(operands)?;
        let poison = !self.dispatch.maintenance8;
        let mut results = Vec::new();
        for row in together.rows() {
            results.extend(WIDTHS.map(|width| {
                let cut = |k: usize| row.get(k).map_or(0, |bits| bits & mask(width));
                let bits = op.eval(width, std::array::from_fn(cut), poison)?;
                Ok(match kind {
                    Kind::Int { signed, .. } => extended(bits, width, signed),
                    Kind::Bool | Kind::Float(_) | Kind::Pointer | Kind::Handle => bits & 1,
                })
            }));
        }
        if let [Err(undefined), ..] = results[..]
            && results.iter().all(|result| *result == Err(undefined))
        {
            return Some((AbstractValue::Unknown(self.undefined(undefined, lane)), 0));
        }
        AbstractValue::of_patterns(results.into_iter().collect::<Result<Vec<u64>, _>>().ok()?)
    }
}

/// The low `width` bits of a number, extended to 32 bits.
fn extended(bits: u64, width: u32, signed: bool) -> u64 {
    let bits = if signed { crate::integer::signed(width, bits).cast_unsigned() } else { bits & mask(width) };
    bits & mask(32)
}
