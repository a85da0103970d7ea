//! Decoding of one instruction of a function, or of `OpSpecConstantOp`.

use super::{Decoder, Group, Result, group};
use crate::inst::{Inst, IntOp, WrapDecorations};
use crate::ty::Kind;
use assay_spirv::module::Instruction;
use assay_spirv::tables::{Decoration, Op, StorageClass};

impl Decoder<'_> {
    pub(super) fn instruction(&mut self, i: Instruction) -> Result {
        let Some(op) = i.op else { return self.unsupported("an instruction that the grammar does not know") };
        let group = group(op);
        let on_integers = matches!(group, Group::Integer | Group::Extended);
        self.relaxing = on_integers && i.result().is_some_and(|word| self.is_relaxed(word));
        self.fits = if on_integers { self.fits(i) } else { None };
        self.translate(i, op, group)?;
        self.relaxing = false;
        self.fits = None;
        self.relax_result(i, op, group)
    }

    /// The ranges that the result of an instruction must fit, by its decorations.
    fn fits(&self, i: Instruction) -> Option<WrapDecorations> {
        let word = i.result()?;
        let is = |wanted| self.module.decorations(word).any(|d| d.decoration == Some(wanted));
        let fits = WrapDecorations { signed: is(Decoration::NoSignedWrap), unsigned: is(Decoration::NoUnsignedWrap) };
        (fits.signed || fits.unsigned).then_some(fits)
    }

    fn translate(&mut self, i: Instruction, op: Op, group: Group) -> Result {
        match group {
            Group::Nothing => Ok(()),
            Group::Integer => self.integer(i, op),
            Group::Composite => self.composite(i, op),
            Group::Memory => self.memory(i, op),
            Group::Atomic => self.atomic(i, op),
            Group::Barrier => self.barrier(i, op),
            Group::Float => self.float(i, op),
            Group::Extended => self.extended(i),
            Group::Control if op == Op::FunctionCall => self.call(i),
            Group::Control if op == Op::AssumeTrueKHR => {
                let condition = self.operand(i, 0)?.reg;
                self.emit(Inst::Assume { condition });
                Ok(())
            }
            Group::Outside | Group::Control => self.invalid(format!("{op} does not stand here")),
            Group::Subgroup => self.subgroup(i, op),
            Group::Image => self.image(i, op),
            Group::Unsupported => self.unsupported(op.name()),
        }
    }

    fn memory(&mut self, i: Instruction, op: Op) -> Result {
        match op {
            Op::Variable => self.enter_variable(i),
            Op::Load => self.load(i),
            Op::Store => self.store(i),
            Op::CopyMemory => self.copy_memory(i),
            Op::AccessChain => self.access_chain(i, false, false),
            Op::InBoundsAccessChain => self.access_chain(i, false, true),
            Op::PtrAccessChain => self.access_chain(i, true, false),
            Op::InBoundsPtrAccessChain => self.access_chain(i, true, true),
            Op::ArrayLength => self.array_length(i),
            Op::PtrEqual => self.same_pointer(i, IntOp::Eq),
            Op::PtrNotEqual => self.same_pointer(i, IntOp::Ne),
            Op::PtrDiff => self.elements_apart(i),
            _ => self.unsupported(op.name()),
        }
    }

    fn barrier(&mut self, i: Instruction, op: Op) -> Result {
        if op == Op::MemoryBarrier {
            let (scope, semantics) = (self.word(i, 0)?, self.word(i, 1)?);
            let order = self.order(scope, semantics)?;
            self.emit(Inst::Fence { order });
            return Ok(());
        }
        let scope = self.word(i, 0)?;
        let scope = self.constant(scope)? as u32;
        let (memory, semantics) = (self.word(i, 1)?, self.word(i, 2)?);
        let order = self.order(memory, semantics)?;
        self.emit(Inst::Barrier { scope, order });
        Ok(())
    }

    fn composite(&mut self, i: Instruction, op: Op) -> Result {
        let dst = self.result(i)?;
        let copy = |decoder: &mut Self, dst, src, n| decoder.emit(Inst::Copy { dst, src, n, load: false });
        match op {
            Op::Undef => self.emit(Inst::Undef { dst: dst.reg, n: dst.n }),
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR => {
                let src = self.operand(i, 0)?;
                if let Some(pointee) = &src.pointee {
                    // The copy points to the target of the original.
                    let mut val = dst.clone();
                    val.pointee = Some(pointee.clone());
                    self.bind(i.result().unwrap_or_default(), val);
                }
                copy(self, dst.reg, src.reg, dst.n);
            }
            Op::CompositeConstruct => self.construct(dst.reg, i.operands())?,
            Op::CompositeExtract => {
                let src = self.operand(i, 0)?;
                let at = self.member(src.ty, &i.operands()[1..])?;
                copy(self, dst.reg, src.reg + at, dst.n);
            }
            Op::CompositeInsert => {
                let (value, whole) = (self.operand(i, 0)?, self.operand(i, 1)?);
                let at = self.member(whole.ty, i.operands().get(2..).unwrap_or_default())?;
                let end = at + value.n;
                copy(self, dst.reg, whole.reg, at);
                copy(self, dst.reg + at, value.reg, value.n);
                copy(self, dst.reg + end, whole.reg + end, whole.n.saturating_sub(end));
            }
            Op::VectorShuffle => {
                let (a, b) = (self.operand(i, 0)?, self.operand(i, 1)?);
                for (k, &word) in i.operands().get(2..).unwrap_or_default().iter().enumerate() {
                    let dst = dst.reg + k as u32;
                    match word {
                        u32::MAX => self.emit(Inst::Undef { dst, n: 1 }),
                        word if word < a.n => copy(self, dst, a.reg + word, 1),
                        word if word < a.n + b.n => copy(self, dst, b.reg + word - a.n, 1),
                        _ => return self.invalid("OpVectorShuffle beyond its vectors"),
                    }
                }
            }
            Op::VectorExtractDynamic => {
                let (src, index) = (self.operand(i, 0)?, self.operand(i, 1)?);
                self.emit(Inst::Extract { dst: dst.reg, src: src.reg, n: src.n, index: index.reg });
            }
            Op::VectorInsertDynamic => {
                let (src, value, index) = (self.operand(i, 0)?, self.operand(i, 1)?, self.operand(i, 2)?);
                let (src, n) = (src.reg, src.n);
                self.emit(Inst::Insert { dst: dst.reg, src, n, value: value.reg, index: index.reg });
            }
            Op::Transpose => {
                let src = self.operand(i, 0)?;
                let ty = self.module.ty(dst.ty).clone();
                let assay_spirv::module::Type::Matrix { count, .. } = ty else { return self.invalid("no matrix") };
                let (columns, rows) = (count, dst.n / count.max(1));
                for c in 0..columns {
                    for r in 0..rows {
                        copy(self, dst.reg + c * rows + r, src.reg + r * columns + c, 1);
                    }
                }
                self.pass(&dst, true);
            }
            Op::Select => {
                let (cond, a, b) = (self.operand(i, 0)?, self.operand(i, 1)?, self.operand(i, 2)?);
                let step = u32::from(cond.n > 1);
                self.emit(Inst::Select { dst: dst.reg, cond: cond.reg, step, a: a.reg, b: b.reg, n: dst.n });
            }
            Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => {
                let src = self.operand(i, 0)?;
                let kernel = |val: &super::Val| val.pointee.as_ref().map(|p| p.class == StorageClass::CrossWorkgroup);
                if kernel(&src) != kernel(&dst) && (kernel(&src) == Some(true) || kernel(&dst) == Some(true)) {
                    // Pointers of kernels are buffers and offsets, not addresses.
                    return self.unsupported(format!("{op} between a kernel's pointer and what is none"));
                }
                let (from, to) = (self.kind(&src).width(), self.kind(&dst).width());
                if src.n * from != dst.n * to && op == Op::Bitcast {
                    return self.invalid("OpBitcast between different sizes");
                }
                let src = self.passed(src, &dst)?;
                let floats = [&src, &dst].map(|val| matches!(self.kind(val), Kind::Float(_)));
                if from == to && floats == [false; 2] {
                    copy(self, dst.reg, src.reg, dst.n);
                } else if op == Op::Bitcast {
                    let (from, to) = (from as u8, to as u8);
                    self.emit(Inst::Recast { dst: dst.reg, src: src.reg, n: src.n, from, to, cast: true });
                } else {
                    let widths = (from, to);
                    self.int(IntOp::ZeroExtend, widths, dst.reg, dst.n, [src.reg, 0, 0, 0], 0);
                }
                self.pass(&dst, true);
            }
            _ => return self.unsupported(op.name()),
        }
        Ok(())
    }

    /// Index of the first scalar of a member of a composite.
    fn member(&mut self, ty: assay_spirv::module::TypeId, indices: &[u32]) -> Result<u32> {
        let mut layout = self.layout(ty, crate::ty::Mode::Leaves)?;
        let mut at = 0;
        for &index in indices {
            let inside = match &*layout {
                crate::ty::Layout::Many { count, .. } => count.is_some_and(|count| u64::from(index) < count),
                _ => true,
            };
            let Some((offset, part)) = layout.part(u64::from(index)).filter(|_| inside) else {
                return self.invalid("an index beyond a composite");
            };
            at += offset as u32;
            layout = part;
        }
        Ok(at)
    }

    /// Emits an operation on integers. `widths`: bits of the operands, bits of the result.
    pub(super) fn int(&mut self, op: IntOp, widths: (u32, u32), dst: u32, n: u32, args: [u32; 4], scalar: u8) {
        let (width, out) = (widths.0 as u8, widths.1 as u8);
        let op = self.fits.and_then(|fits| op.without_wrap(fits)).unwrap_or(op);
        let relaxed = self.relaxing && width == 32 && matches!(out, 1 | 32);
        self.emit(Inst::Int { op, width, out, n: n as u16, dst, args, scalar, relaxed });
        if self.relaxing && !relaxed {
            self.relax_registers(dst, (0, n));
        }
    }

    pub(super) fn int_width(&self, reg: u32) -> u32 {
        self.kinds.get(reg as usize).copied().map_or(32, Kind::width)
    }
}
