//! Interpretation that follows one permitted result of each instruction
//! ([`FollowedResults::One`](crate::FollowedResults::One)).

use super::Run;
use super::lanes::{Column, Lanes};
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::decode::written_registers;
use crate::float_op::FloatOp;
use crate::inst::{Inst, Reg};
use crate::program::Program;
use crate::ty::Fmt;
use assay_float::RankRange;
use assay_precision::Op;
use smallvec::SmallVec;

impl Run<'_> {
    /// Keeps one value of each result of an instruction that was executed.
    pub(super) fn keep_one_result(&mut self, inst: &Inst, lanes: Lanes) {
        match inst {
            // The results of these pass on others, and a pointer or a handle has no value to choose.
            Inst::Select { .. }
            | Inst::Copy { load: false, .. }
            | Inst::Insert { .. }
            | Inst::Extract { .. }
            | Inst::Call { .. }
            | Inst::Chain { .. }
            | Inst::Location { .. }
            | Inst::Handle { .. }
            | Inst::SampledImage { .. }
            | Inst::TexelPointer { .. } => {}
            Inst::Float { float_op, args, .. } => {
                let program = self.program;
                let float_op = &program.float_ops[*float_op as usize];
                for (i, reg) in (0..).zip(written_range(inst, program)) {
                    let arg = |(k, arg): (usize, &Reg)| match float_op.components {
                        Some((_, same)) => arg + if same >> k & 1 == 1 { 0 } else { i },
                        None => *arg,
                    };
                    let args: SmallVec<[Reg; 4]> = args.iter().enumerate().map(arg).collect();
                    self.keep_one(reg, lanes, |run, lane| run.host_result(float_op, &args, lane));
                }
            }
            _ => written_range(inst, self.program).for_each(|reg| self.keep_one(reg, lanes, |_, _| 0)),
        }
    }

    /// Keeps one value of a register; `of_unknown` returns the bits of one that is not determined.
    fn keep_one(&mut self, reg: Reg, lanes: Lanes, of_unknown: impl Fn(&Self, usize) -> u64) {
        if self.columns[reg as usize].is_plain() {
            return;
        }
        let mut column: Column = self.take(reg);
        for l in lanes.iter() {
            column.bits[l] = match column.value(l) {
                AbstractValue::Bits => column.bits[l],
                AbstractValue::OneOf(few) => few.distinct().first().copied().unwrap_or(0),
                AbstractValue::Float(floats) => middle(floats),
                AbstractValue::Unknown(_) => of_unknown(self, l),
            };
        }
        column.make_plain(lanes);
        self.give(reg, column);
    }

    /// Returns the bits of a result that is not determined: what the host's arithmetic gives, as the sine of a
    /// large number or a quotient by zero; 0 for other instructions.
    fn host_result(&self, float_op: &FloatOp, args: &[Reg], lane: usize) -> u64 {
        let Some(fmt) = float_op.fmt() else { return 0 };
        let format = fmt.format();
        let operand = |reg: &Reg| format.to_f64(self.columns[*reg as usize].bits[lane]);
        let operands: SmallVec<[f64; 4]> = args.iter().map(operand).collect();
        match (host_result(float_op.call.op, &operands), fmt) {
            (Some(result), Fmt::F32) => u64::from((result as f32).to_bits()),
            (Some(result), Fmt::F64) => result.to_bits(),
            _ => 0,
        }
    }
}

/// Returns the registers that an instruction writes.
fn written_range(inst: &Inst, program: &Program) -> impl Iterator<Item = Reg> + use<> {
    let spans = written_registers(inst, &program.float_ops);
    spans.into_iter().flat_map(|(first, count)| (first..).take(count as usize))
}

/// Computes an instruction in the host's arithmetic; `None` for one that is seldom undetermined.
fn host_result(op: Op, operands: &[f64]) -> Option<f64> {
    Some(match (op, operands) {
        (Op::FNegate, [x]) => -x,
        (Op::FAbs, [x]) => x.abs(),
        (Op::Fract, [x]) => x - x.floor(),
        (Op::Sin, [x]) => x.sin(),
        (Op::Cos, [x]) => x.cos(),
        (Op::Tan, [x]) => x.tan(),
        (Op::Asin, [x]) => x.asin(),
        (Op::Acos, [x]) => x.acos(),
        (Op::Exp, [x]) => x.exp(),
        (Op::Exp2, [x]) => x.exp2(),
        (Op::Log, [x]) => x.ln(),
        (Op::Log2, [x]) => x.log2(),
        (Op::Sqrt, [x]) => x.sqrt(),
        (Op::InverseSqrt, [x]) => x.sqrt().recip(),
        (Op::FAdd, [x, y]) => x + y,
        (Op::FSub, [x, y]) => x - y,
        (Op::FMul | Op::VectorTimesScalar, [x, y]) => x * y,
        (Op::FDiv, [x, y]) => x / y,
        (Op::FRem, [x, y]) => x % y,
        (Op::FMod, [x, y]) => x - y * (x / y).floor(),
        (Op::Pow, [x, y]) => x.powf(*y),
        (Op::FMin, [x, y]) => x.min(*y),
        (Op::FMax, [x, y]) => x.max(*y),
        (Op::FClamp, [x, low, high]) => x.max(*low).min(*high),
        (Op::FMix, [x, y, a]) => x * (1.0 - a) + y * a,
        (Op::Fma | Op::FmaKHR, [x, y, z]) => x.mul_add(*y, *z),
        _ => return None,
    })
}

/// Returns a member near the middle: of the largest range, as zeros may be members by flushing only.
fn middle(floats: &FloatSet) -> u64 {
    let format = floats.fmt.format();
    let of = |range: RankRange| format.bits(range.lo.midpoint(range.hi));
    if floats.exact.is_none() && floats.lo <= floats.hi {
        return of(RankRange::new(floats.lo, floats.hi));
    }
    let set = floats.set();
    let largest = set.ranges().iter().copied().max_by_key(|range| range.hi.abs_diff(range.lo));
    largest.map_or_else(|| format.nan(), of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_a_member() {
        for fmt in [Fmt::F32, Fmt::F64] {
            let (format, all) = (fmt.format(), |lo, hi| middle(&FloatSet::range(fmt, lo, hi)));
            // The ranks of all floats are further apart than a rank can be.
            assert_eq!(all(format.neg_infinity(), format.infinity()), format.bits(0));
            assert_eq!(all(-1, 0), format.bits(0));
            assert_eq!(all(7, 9), format.bits(8));
        }
        let nans = FloatSet { nan: true, ..FloatSet::range(Fmt::F32, 0, -1) };
        assert_eq!(middle(&nans), Fmt::F32.format().nan());
    }
}
