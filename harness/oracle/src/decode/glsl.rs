//! GLSL.std.450.

use super::{Decoder, Result, Val};
use crate::inst::{Inst, IntOp, Reg};
use crate::ty::{Fmt, Kind};
use assay_precision::{Op as Row, Shape};
use assay_spirv::module::Instruction;
use assay_spirv::tables::GlslStd450 as Glsl;

impl Decoder<'_> {
    pub(super) fn extended(&mut self, i: Instruction) -> Result {
        let (set, number) = (self.word(i, 0)?, self.word(i, 1)?);
        let import = self.module.definition_of(set);
        let name = import.map(|import| self.module.string_at(import, 0)).unwrap_or_default();
        if name.starts_with("NonSemantic.") {
            return Ok(());
        }
        let Some(op) = Glsl::from_word(number).filter(|_| name == "GLSL.std.450") else {
            return self.unsupported(format!("instruction {number} of `{name}`"));
        };
        let mut args = Vec::new();
        for word in &i.operands()[2..] {
            args.push(self.val(*word)?);
        }
        let Some(first) = args.first().cloned() else { return self.invalid("no operands") };
        let dst = self.result(i)?;
        if let Some(integer) = integer(op) {
            if args.len() != integer.arity() {
                return self.invalid(format!("{op:?} of {} operands", args.len()));
            }
            let mut regs = [0; 4];
            for (reg, arg) in regs.iter_mut().zip(&args) {
                *reg = arg.reg;
            }
            let widths = (self.kind(&first).width(), self.kind(&dst).width());
            self.int(integer, widths, dst.reg, dst.n, regs, 0);
            return Ok(());
        }
        // The variants have the names of the instructions.
        let name = format!("{op:?}");
        let row = match Row::from_name(&name) {
            Ok(row) if row.is_glsl() => row,
            _ => return self.unsupported(name),
        };
        let types: Vec<_> = std::iter::once(dst.ty).chain(args.iter().map(|a| a.ty)).collect();
        let modes = match (self.modes(i.result().unwrap_or_default(), &types)?, op) {
            (modes, Glsl::PackHalf2x16 | Glsl::UnpackHalf2x16) => self.of_halves(modes),
            (modes, _) => modes,
        };
        let mut regs: Vec<Reg> = args.iter().map(|a| a.reg).collect();
        let (scalar, shape) = (self.scalar(&first), self.shape(&first));
        let [single, double] = [assay_float::F32, assay_float::F64].map(assay_precision::Scalar::Float);
        match op {
            Glsl::InterpolateAtCentroid | Glsl::InterpolateAtSample | Glsl::InterpolateAtOffset | Glsl::IMix => {
                self.unsupported(name)
            }
            Glsl::Determinant
            | Glsl::MatrixInverse
            | Glsl::Length
            | Glsl::Distance
            | Glsl::Cross
            | Glsl::Normalize
            | Glsl::FaceForward
            | Glsl::Reflect
            | Glsl::Refract
            | Glsl::ModfStruct
            | Glsl::FrexpStruct => self.whole(row, modes, scalar, shape, dst.reg, regs),
            Glsl::Modf | Glsl::Frexp => {
                let second = if op == Glsl::Modf { self.kind(&first) } else { Kind::Int { width: 32, signed: true } };
                let n = first.n;
                let results = self.registers(std::iter::repeat_n(self.kind(&first), n as usize))?;
                let stored = self.registers(std::iter::repeat_n(second, n as usize))?;
                self.whole(row, modes, scalar, shape, results, vec![first.reg])?;
                self.emit(Inst::Copy { dst: dst.reg, src: results, n, load: false });
                let Some(pointer) = args.get(1).cloned() else { return self.invalid("no pointer to store to") };
                let Some(pointee) = pointer.pointee.clone() else { return self.invalid("no pointer to store to") };
                let to = self.word(i, 3)?;
                self.relax_object(to, stored)?;
                self.write(stored, n, &pointer, &pointee, &[])
            }
            Glsl::PackSnorm4x8
            | Glsl::PackUnorm4x8
            | Glsl::PackSnorm2x16
            | Glsl::PackUnorm2x16
            | Glsl::PackHalf2x16 => {
                let width = if matches!(op, Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8) { 8u8 } else { 16 };
                let kind = match op {
                    Glsl::PackHalf2x16 => Kind::Float(Fmt::F16),
                    _ => Kind::Int { width, signed: matches!(op, Glsl::PackSnorm4x8 | Glsl::PackSnorm2x16) },
                };
                let n = 32 / u32::from(width);
                let parts = self.registers(std::iter::repeat_n(kind, n as usize))?;
                self.whole(row, modes, single, Shape::Scalar, parts, regs)?;
                self.emit(Inst::Recast { dst: dst.reg, src: parts, n, from: width, to: 32, cast: false });
                Ok(())
            }
            Glsl::PackDouble2x32 | Glsl::UnpackDouble2x32 => {
                self.whole(row, modes, double, Shape::Scalar, dst.reg, regs)
            }
            Glsl::UnpackSnorm2x16
            | Glsl::UnpackUnorm2x16
            | Glsl::UnpackHalf2x16
            | Glsl::UnpackSnorm4x8
            | Glsl::UnpackUnorm4x8 => self.whole(row, modes, single, Shape::Scalar, dst.reg, regs),
            Glsl::Ldexp => {
                let Some(exponent) = args.get(1) else { return self.invalid("no exponent") };
                regs[1] = self.exponent(exponent)?;
                self.map(row, modes, scalar, (dst.reg, dst.n), regs, 0)
            }
            _ => self.map(row, modes, scalar, (dst.reg, dst.n), regs, 0),
        }
    }

    /// The exponent of Ldexp, of any width, as 32 bits. It "is interpreted as a signed integer",
    /// and all exponents beyond 16 bits have the same effect.
    fn exponent(&mut self, exponent: &Val) -> Result<Reg> {
        let (from, n) = (self.kind(exponent), exponent.n);
        let mut reg = exponent.reg;
        if from.width() == 64 {
            let ends = self.registers([from, from])?;
            self.set(ends, &[i16::MIN, i16::MAX].map(|end| i64::from(end).cast_unsigned()));
            let clamped = self.registers(std::iter::repeat_n(from, n as usize))?;
            self.int(IntOp::SClamp, (64, 64), clamped, n, [reg, ends, ends + 1, 0], 0b110);
            reg = clamped;
        }
        if from.width() != 32 {
            let single = self.registers(std::iter::repeat_n(Kind::Int { width: 32, signed: true }, n as usize))?;
            self.int(IntOp::SignExtend, (from.width(), 32), single, n, [reg, 0, 0, 0], 0);
            reg = single;
        }
        Ok(reg)
    }
}

/// The operation of an instruction on integers.
fn integer(op: Glsl) -> Option<IntOp> {
    Some(match op {
        Glsl::SAbs => IntOp::SAbs,
        Glsl::SSign => IntOp::SSign,
        Glsl::UMin => IntOp::UMin,
        Glsl::SMin => IntOp::SMin,
        Glsl::UMax => IntOp::UMax,
        Glsl::SMax => IntOp::SMax,
        Glsl::UClamp => IntOp::UClamp,
        Glsl::SClamp => IntOp::SClamp,
        Glsl::FindILsb => IntOp::FindILsb,
        Glsl::FindSMsb => IntOp::FindSMsb,
        Glsl::FindUMsb => IntOp::FindUMsb,
        _ => return None,
    })
}
