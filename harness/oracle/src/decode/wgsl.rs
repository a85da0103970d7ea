//! Semantics of WGSL where those of SPIR-V are absent or weaker:
//! [`Program::of_wgsl`](crate::Program::of_wgsl).

use super::{Decoder, Result, Val};
use crate::inst::{Inst, IntOp, Reg};
use crate::ty::Kind;

impl Decoder<'_> {
    /// The amounts of shifts: "The number of bits to shift is the value of e2, modulo the bit width
    /// of e1."
    pub(super) fn modulo_width(&mut self, (amounts, n): (Reg, u32), width: u32) -> Result<Reg> {
        let kind = self.kinds[amounts as usize];
        let below = self.registers([kind])?;
        self.set(below, &[u64::from(width - 1)]);
        let cut = self.registers(std::iter::repeat_n(kind, n as usize))?;
        self.int(IntOp::And, (kind.width(), kind.width()), cut, n, [amounts, below, 0, 0], 0b10);
        Ok(cut)
    }

    /// A value as the operand of `bitcast`: floats may be flushed. Only floats of another kind than
    /// the result are affected; others are unchanged.
    pub(super) fn passed(&mut self, src: Val, dst: &Val) -> Result<Val> {
        let kind = self.kind(&src);
        if !self.wgsl || !matches!(kind, Kind::Float(_)) || kind == self.kind(dst) {
            return Ok(src);
        }
        let reg = self.registers(std::iter::repeat_n(kind, src.n as usize))?;
        self.emit(Inst::Copy { dst: reg, src: src.reg, n: src.n, load: false });
        let passed = Val { reg, ..src };
        // An implementation "may ignore the sign field" of a zero. Whether that includes reading
        // its bits is doubtful.
        self.pass(&passed, false);
        Ok(passed)
    }

    /// Lets a float result be flushed.
    pub(super) fn pass(&mut self, val: &Val, signs: bool) {
        if self.wgsl && val.pointee.is_none() && matches!(self.kind(val), Kind::Float(_)) {
            self.emit(Inst::Pass { dst: val.reg, n: val.n, signs });
        }
    }
}
