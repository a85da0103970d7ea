//! Integer operations on lanes.

use super::Run;
use super::bit_range;
use super::lanes::{Column, Lanes};
use crate::abstract_value::AbstractValue;
use crate::correlated_set::{CorrelatedSet, JointOperands};
use crate::inst::{IntOp, Reg};
use crate::integer::UndefinedResult;
use crate::outcome::{CauseKind, FaultKind};
use crate::ty::mask;
use smallvec::SmallVec;
use std::sync::Arc;

impl Run<'_> {
    #[inline]
    pub(super) fn integer(&mut self, op: IntOp, widths: (u8, u8), dst: Reg, args: [Reg; 4], lanes: Lanes) {
        let arity = op.arity();
        let mut d = self.take(dst);
        let columns: [&Column; 4] =
            std::array::from_fn(|k| &self.columns[args[if k < arity { k } else { 0 }] as usize]);
        let wide = columns[..arity].iter().any(|c| c.is_wide(lanes));
        let (width, out) = (u32::from(widths.0), mask(u32::from(widths.1)));
        let poison = !self.dispatch.maintenance8;
        if wide {
            let evaluate = |l: usize| match alternatives(op, width, out, poison, &columns[..arity], l) {
                Outcome::TooMany => {
                    let operands = columns.map(|column| (column.value(l), column.bits[l]));
                    bit_range::enclose(op, width, &operands[..arity])
                        .map_or(Outcome::TooMany, |(value, bits)| Outcome::Value(value, bits))
                }
                outcome => outcome,
            };
            let results: Vec<_> = lanes.iter().map(evaluate).collect();
            for (l, result) in lanes.iter().zip(results) {
                let (value, bits) = match result {
                    Outcome::Value(value, bits) => (value, bits),
                    Outcome::Undefined(undefined) => (AbstractValue::Unknown(self.undefined(undefined, l)), 0),
                    Outcome::TooMany => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
                };
                let value = self.numbered(value);
                d.set(l, bits, value);
            }
        } else {
            d.make_plain(lanes);
            let failed = dense(op, width, out, poison, lanes, &mut d.bits, columns);
            for (l, undefined) in failed {
                let cause = self.undefined(undefined, l);
                d.set(l, 0, AbstractValue::Unknown(cause));
            }
        }
        self.give(dst, d);
    }

    pub(super) fn undefined(&mut self, undefined: UndefinedResult, lane: usize) -> u32 {
        match undefined {
            UndefinedResult::Value => self.cause(CauseKind::Unspecified),
            UndefinedResult::Division => {
                self.fault(FaultKind::Division, lane, || "division by zero, or of the least value by -1".into())
            }
            UndefinedResult::Apart => self.fault(FaultKind::Pointer, lane, || {
                "OpPtrDiff of pointers that are not to elements of the same array".into()
            }),
            UndefinedResult::Wrap => self.fault(FaultKind::Wrap, lane, || {
                "the result does not fit, of an operation decorated NoSignedWrap or NoUnsignedWrap".into()
            }),
        }
    }
}

/// Executes an operation on exact operands. Each operation gets its own loop, for speed.
fn dense(
    op: IntOp,
    width: u32,
    out: u64,
    poison: bool,
    lanes: Lanes,
    d: &mut [u64],
    columns: [&Column; 4],
) -> Vec<(usize, UndefinedResult)> {
    macro_rules! each {
        ($($name:ident)*) => {
            match op {
                $(IntOp::$name => sweep(lanes, d, columns, out, |x| IntOp::$name.eval(width, x, poison)),)*
                IntOp::NoWrap(..) => sweep(lanes, d, columns, out, |x| op.eval(width, x, poison)),
            }
        };
    }
    each! {
        Add Sub Mul UDiv SDiv UMod SRem SMod Neg Not And Or Xor Shl Shr Sar Eq Ne ULt ULe UGt UGe SLt SLe SGt SGe
        BitInsert BitSExtract BitUExtract BitReverse BitCount Carry Borrow UMulHigh SMulHigh ZeroExtend SignExtend
        SAbs SSign UMin UMax SMin SMax UClamp SClamp FindILsb FindSMsb FindUMsb UAddSat SAddSat UAddExact SAddExact UMulExact SMulExact SUMulExact Apart
    }
}

#[inline(always)]
fn sweep(
    lanes: Lanes,
    d: &mut [u64],
    columns: [&Column; 4],
    out: u64,
    eval: impl Fn([u64; 4]) -> Result<u64, UndefinedResult>,
) -> Vec<(usize, UndefinedResult)> {
    let mut failed = Vec::new();
    if lanes.all {
        let n = lanes.list.len();
        let d = &mut d[..n];
        let [a, b, c, e] = columns.map(|column| &column.bits[..n]);
        for l in 0..n {
            match eval([a[l], b[l], c[l], e[l]]) {
                Ok(bits) => d[l] = bits & out,
                Err(undefined) => failed.push((l, undefined)),
            }
        }
        return failed;
    }
    for l in lanes.iter() {
        match eval(columns.map(|column| column.bits[l])) {
            Ok(bits) => d[l] = bits & out,
            Err(undefined) => failed.push((l, undefined)),
        }
    }
    failed
}

enum Outcome {
    Value(AbstractValue, u64),
    Undefined(UndefinedResult),
    TooMany,
}

/// Executes the operation on all alternatives of a lane's operands.
fn alternatives(op: IntOp, width: u32, out: u64, poison: bool, columns: &[&Column], lane: usize) -> Outcome {
    let mut operands: SmallVec<[Arc<CorrelatedSet>; 4]> = SmallVec::new();
    for (k, column) in columns.iter().enumerate() {
        // A register that is used several times is one value.
        if let Some(same) = columns[..k].iter().position(|other| std::ptr::eq(*other, *column)) {
            operands.push(operands[same].clone());
            continue;
        }
        match column.value(lane).correlated(column.bits[lane]) {
            Ok(few) => operands.push(few),
            Err(Some(cause)) => return unknown(op, columns, lane, cause),
            Err(None) => return Outcome::TooMany,
        }
    }
    let Some(together) = JointOperands::new(&operands) else { return Outcome::TooMany };
    let eval = |row: &SmallVec<[u64; 4]>| {
        let x = std::array::from_fn(|k| row.get(k).copied().unwrap_or(0));
        op.eval(width, x, poison).map(|bits| bits & out)
    };
    let results: Vec<Result<u64, UndefinedResult>> = together.rows().iter().map(eval).collect();
    let Ok(all) = results.iter().copied().collect::<Result<Vec<u64>, UndefinedResult>>() else {
        return match results[0] {
            Err(undefined) if results.iter().all(|result| *result == Err(undefined)) => Outcome::Undefined(undefined),
            // Possibly undefined: the result is unknown, without a fault.
            _ => Outcome::TooMany,
        };
    };
    together.into_value(all).map_or(Outcome::TooMany, |(value, bits)| Outcome::Value(value, bits))
}

/// Executes the operation with an unknown operand. The result is known only if another operand
/// decides it.
fn unknown(op: IntOp, columns: &[&Column], lane: usize, cause: u32) -> Outcome {
    let zero = |k: usize| columns.get(k).is_some_and(|c| *c.value(lane) == AbstractValue::Bits && c.bits[lane] == 0);
    match op {
        IntOp::And | IntOp::Mul if zero(0) || zero(1) => Outcome::Value(AbstractValue::Bits, 0),
        _ => Outcome::Value(AbstractValue::Unknown(cause), 0),
    }
}
