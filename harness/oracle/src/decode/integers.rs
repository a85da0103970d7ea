//! Integer, boolean and bit instructions.

use super::{Decoder, Result, Val};
use crate::inst::IntOp;
use crate::ty::Kind;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;

impl Decoder<'_> {
    pub(super) fn integer(&mut self, i: Instruction, op: Op) -> Result {
        let dst = self.result(i)?;
        let a = self.operand(i, 0)?;
        let simple = match op {
            Op::SNegate => IntOp::Neg,
            Op::IAdd => IntOp::Add,
            Op::ISub => IntOp::Sub,
            Op::IMul => IntOp::Mul,
            Op::UDiv => IntOp::UDiv,
            Op::SDiv => IntOp::SDiv,
            Op::UMod => IntOp::UMod,
            Op::SRem => IntOp::SRem,
            Op::SMod => IntOp::SMod,
            Op::IEqual | Op::LogicalEqual => IntOp::Eq,
            Op::INotEqual | Op::LogicalNotEqual => IntOp::Ne,
            Op::UGreaterThan => IntOp::UGt,
            Op::SGreaterThan => IntOp::SGt,
            Op::UGreaterThanEqual => IntOp::UGe,
            Op::SGreaterThanEqual => IntOp::SGe,
            Op::ULessThan => IntOp::ULt,
            Op::SLessThan => IntOp::SLt,
            Op::ULessThanEqual => IntOp::ULe,
            Op::SLessThanEqual => IntOp::SLe,
            Op::ShiftRightLogical => IntOp::Shr,
            Op::ShiftRightArithmetic => IntOp::Sar,
            Op::ShiftLeftLogical => IntOp::Shl,
            Op::BitwiseOr | Op::LogicalOr => IntOp::Or,
            Op::BitwiseXor => IntOp::Xor,
            Op::BitwiseAnd | Op::LogicalAnd => IntOp::And,
            Op::Not | Op::LogicalNot => IntOp::Not,
            Op::BitReverse => IntOp::BitReverse,
            Op::BitCount => IntOp::BitCount,
            Op::UConvert => IntOp::ZeroExtend,
            Op::SConvert => IntOp::SignExtend,
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => return self.bit_field(i, op, &dst, &a),
            Op::IAddCarry => return self.pair(i, &dst, &a, IntOp::Add, IntOp::Carry),
            Op::ISubBorrow => return self.pair(i, &dst, &a, IntOp::Sub, IntOp::Borrow),
            Op::UMulExtended => return self.pair(i, &dst, &a, IntOp::Mul, IntOp::UMulHigh),
            Op::SMulExtended => return self.pair(i, &dst, &a, IntOp::Mul, IntOp::SMulHigh),
            Op::Any | Op::All => {
                let step = if op == Op::Any { IntOp::Or } else { IntOp::And };
                self.int(step, (1, 1), dst.reg, 1, [a.reg, a.reg, 0, 0], 0);
                for k in 1..a.n {
                    let sum = self.registers([Kind::Bool])?;
                    self.int(step, (1, 1), sum, 1, [dst.reg, a.reg + k, 0, 0], 0);
                    self.emit(crate::inst::Inst::Copy { dst: dst.reg, src: sum, n: 1, load: false });
                }
                return Ok(());
            }
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                return self.integer_dot(i, op, &dst, &a);
            }
            _ => return self.unsupported(op.name()),
        };
        let mut args = [a.reg, 0, 0, 0];
        for (k, arg) in args.iter_mut().enumerate().take(simple.arity()).skip(1) {
            let operand = self.operand(i, k)?;
            if operand.n != dst.n {
                return self.invalid(format!("{op} of operands of different sizes"));
            }
            *arg = operand.reg;
        }
        if let (true, IntOp::Shl | IntOp::Shr | IntOp::Sar) = (self.wgsl, simple) {
            args[1] = self.modulo_width((args[1], dst.n), self.kind(&a).width())?;
        }
        let widths = (self.kind(&a).width(), self.kind(&dst).width());
        self.int(simple, widths, dst.reg, dst.n, args, 0);
        Ok(())
    }

    fn bit_field(&mut self, i: Instruction, op: Op, dst: &Val, base: &Val) -> Result {
        let width = self.kind(dst).width();
        // Offset and count are scalars of any width. They are read as unsigned, so they are not
        // negative.
        let (op, args, scalar) = match op {
            Op::BitFieldInsert => {
                let (insert, offset, count) = (self.operand(i, 1)?, self.operand(i, 2)?, self.operand(i, 3)?);
                (IntOp::BitInsert, [base.reg, insert.reg, offset.reg, count.reg], 0b1100)
            }
            _ => {
                let (offset, count) = (self.operand(i, 1)?, self.operand(i, 2)?);
                let op = if op == Op::BitFieldSExtract { IntOp::BitSExtract } else { IntOp::BitUExtract };
                (op, [base.reg, offset.reg, count.reg, 0], 0b0110)
            }
        };
        self.int(op, (width, width), dst.reg, dst.n, args, scalar);
        Ok(())
    }

    /// Decodes an instruction with a structure of two results.
    fn pair(&mut self, i: Instruction, dst: &Val, a: &Val, low: IntOp, high: IntOp) -> Result {
        let b = self.operand(i, 1)?;
        let width = self.kind(a).width();
        self.int(low, (width, width), dst.reg, a.n, [a.reg, b.reg, 0, 0], 0);
        self.int(high, (width, width), dst.reg + a.n, a.n, [a.reg, b.reg, 0, 0], 0);
        Ok(())
    }

    /// Decodes an integer dot product. Packed vectors are four bytes. The result has the low bits
    /// of the exact sum. With an accumulator, whose addition saturates, the result is undefined if
    /// a product or a sum before that overflows.
    fn integer_dot(&mut self, i: Instruction, op: Op, dst: &Val, a: &Val) -> Result {
        let b = self.operand(i, 1)?;
        let out = self.kind(dst).width();
        let (a_signed, b_signed) = match op {
            Op::SDot | Op::SDotAccSat => (true, true),
            Op::SUDot | Op::SUDotAccSat => (true, false),
            _ => (false, false),
        };
        let saturating = matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        // Packed operands are single words.
        let packed = a.n == 1;
        let n = if packed { 4 } else { a.n };
        let width = if packed { 8 } else { self.int_width(a.reg) };
        let between = if saturating { out } else { 64 };
        let (times, plus) = match (saturating, a_signed, b_signed) {
            (false, ..) => (IntOp::Mul, IntOp::Add),
            (true, false, _) => (IntOp::UMulExact, IntOp::UAddExact),
            (true, true, false) => (IntOp::SUMulExact, IntOp::SAddExact),
            (true, true, true) => (IntOp::SMulExact, IntOp::SAddExact),
        };
        let part = |decoder: &mut Self, of: &Val, k: u32, signed: bool| -> Result<u32> {
            let to = decoder.number(between)?;
            let extend = if signed { IntOp::SignExtend } else { IntOp::ZeroExtend };
            if packed {
                let (offset, count) = (decoder.number(32)?, decoder.number(32)?);
                decoder.set(offset, &[u64::from(k) * 8]);
                decoder.set(count, &[8]);
                let op = if signed { IntOp::BitSExtract } else { IntOp::BitUExtract };
                decoder.int(op, (32, between), to, 1, [of.reg, offset, count, 0], 0);
            } else {
                decoder.int(extend, (width, between), to, 1, [of.reg + k, 0, 0, 0], 0);
            }
            Ok(to)
        };
        let mut products = Vec::new();
        for k in 0..n {
            let (x, y) = (part(self, a, k, a_signed)?, part(self, &b, k, b_signed)?);
            let product = self.number(between)?;
            self.int(times, (between, between), product, 1, [x, y, 0, 0], 0);
            products.push(product);
        }
        let sum = match saturating && a_signed {
            false => self.sum(plus, between, &products)?,
            // The order of the sums is unspecified. No order overflows if neither the sum of the
            // positive products nor that of the negative products does.
            true => {
                let zero = self.number(between)?;
                self.set(zero, &[0]);
                let mut sides = Vec::new();
                for side in [IntOp::SMax, IntOp::SMin] {
                    let mut parts = Vec::new();
                    for product in &products {
                        let part = self.number(between)?;
                        self.int(side, (between, between), part, 1, [*product, zero, 0, 0], 0);
                        parts.push(part);
                    }
                    sides.push(self.sum(plus, between, &parts)?);
                }
                self.sum(plus, between, &sides)?
            }
        };
        if !saturating {
            self.int(IntOp::ZeroExtend, (64, out), dst.reg, 1, [sum, 0, 0, 0], 0);
            return Ok(());
        }
        let accumulator = self.operand(i, 2)?;
        let add = if a_signed { IntOp::SAddSat } else { IntOp::UAddSat };
        self.int(add, (out, out), dst.reg, 1, [sum, accumulator.reg, 0, 0], 0);
        Ok(())
    }

    /// The sum of registers, in sequence.
    fn sum(&mut self, plus: IntOp, width: u32, of: &[u32]) -> Result<u32> {
        let [first, rest @ ..] = of else { return self.invalid("a dot product of nothing") };
        let mut sum = *first;
        for next in rest {
            let before = std::mem::replace(&mut sum, self.number(width)?);
            self.int(plus, (width, width), sum, 1, [before, *next, 0, 0], 0);
        }
        Ok(sum)
    }

    /// A new register for an integer of that width.
    fn number(&mut self, width: u32) -> Result<u32> {
        self.registers([Kind::Int { width: width as u8, signed: true }])
    }
}
