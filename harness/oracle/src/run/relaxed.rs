//! What `RelaxedPrecision` permits beside the precision table: numbers of 32 bits that lose some of them. SPIR-V, "Relaxed Precision".

use super::Run;
use super::lanes::{Column, Lanes};
use crate::few::{Few, Together};
use crate::inst::{IntOp, Reg};
use crate::outcome::CauseKind;
use crate::ty::{Fmt, Kind, mask};
use crate::value::{Floats, Value};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The widths that an operation on integers of relaxed precision may have.
const WIDTHS: RangeInclusive<u32> = 16..=32;

impl Run<'_> {
    /// Numbers in a register, taken for that kind, may lose precision.
    pub(super) fn relax(&mut self, kind: Kind, reg: Reg, lanes: Lanes) {
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

    /// Of texels, only those that no filter has changed are known.
    pub(super) fn relax_filtered(&mut self, reg: Reg, lanes: Lanes) {
        let mut d = self.take(reg);
        for l in lanes.iter() {
            if matches!(d.value(l), Value::Few(_) | Value::Float(_)) {
                d.set(l, 0, Value::Any(self.cause(CauseKind::NoRequirement)));
            }
        }
        self.give(reg, d);
    }

    fn relax_float(&mut self, d: &mut Column, lane: usize) {
        let floats = match d.value(lane).floats(d.bits[lane], Fmt::F32) {
            Ok(floats) => floats,
            Err(_) if matches!(d.value(lane), Value::Any(_)) => return,
            Err(_) => return d.set(lane, 0, Value::Any(self.cause(CauseKind::Precision))),
        };
        let set = assay_precision::relaxed::truncated(&floats.set());
        if set.is_anything() {
            return d.set(lane, 0, Value::Any(self.cause(CauseKind::NoRequirement)));
        }
        // It came about as before, and is another value.
        let form = d.form(lane).copied().map(|form| self.numbered_form(form));
        d.set_made(lane, Value::of_floats(Floats::from_set(Fmt::F32, &set)), form);
    }

    fn relax_integer(&mut self, d: &mut Column, signed: bool, lane: usize) {
        let found = match d.value(lane).patterns(d.bits[lane]) {
            Ok(all) => {
                let cut = |bits: u64| WIDTHS.map(move |width| extended(bits, width, signed));
                Value::of_patterns(all.into_iter().flat_map(cut).collect())
            }
            Err(Some(_)) => return,
            Err(None) => None,
        };
        self.set_relaxed(d, found, lane);
    }

    fn set_relaxed(&mut self, d: &mut Column, found: Option<(Value, u64)>, lane: usize) {
        let (value, bits) = found.unwrap_or_else(|| (Value::Any(self.cause(CauseKind::Precision)), 0));
        let value = self.numbered(value);
        d.set(lane, bits, value);
    }

    /// An operation on integers of 32 bits, in any of the permitted widths: the result is extended as its type is signed.
    pub(super) fn relaxed_integer(&mut self, op: IntOp, dst: Reg, args: [Reg; 4], lanes: Lanes) {
        let kind = self.program.kinds[dst as usize];
        let args = &args[..op.arity()];
        let mut d = self.take(dst);
        for l in lanes.iter() {
            let columns = args.iter().map(|reg| &self.columns[*reg as usize]);
            let operands: Result<Vec<Arc<Few>>, _> =
                columns.map(|column| column.value(l).few(column.bits[l])).collect();
            let found = match operands {
                Ok(operands) => self.in_each_width(op, kind, &operands, l),
                Err(Some(cause)) => Some((Value::Any(cause), 0)),
                Err(None) => None,
            };
            self.set_relaxed(&mut d, found, l);
        }
        self.give(dst, d);
    }

    /// What the operation gives in all widths; `None` if that is too much, or there is nothing in some of them.
    fn in_each_width(&mut self, op: IntOp, kind: Kind, operands: &[Arc<Few>], lane: usize) -> Option<(Value, u64)> {
        let together = Together::of(operands)?;
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
            return Some((Value::Any(self.undefined(undefined, lane)), 0));
        }
        Value::of_patterns(results.into_iter().collect::<Result<Vec<u64>, _>>().ok()?)
    }
}

/// The low bits of a number of 32 bits, extended to as many.
fn extended(bits: u64, width: u32, signed: bool) -> u64 {
    let bits = if signed { crate::integer::signed(width, bits).cast_unsigned() } else { bits & mask(width) };
    bits & mask(32)
}
