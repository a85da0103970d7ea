//! Effects of `RelaxedPrecision` that the precision table does not have: values that may have fewer
//! than 32 bits. SPIR-V, "Relaxed Precision".

use super::{Decoder, Group, Result, Val};
use crate::inst::{Inst, Reg};
use crate::ty::{Fmt, Kind};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Decoration, Op};

/// A range of scalars of a value: the first, and their number.
type Part = (u32, u32);

impl Decoder<'_> {
    /// Returns true if an id is decorated.
    pub(super) fn is_relaxed(&self, word: u32) -> bool {
        let mut decorations = self.module.decorations(word);
        self.relaxes && decorations.any(|d| d.member.is_none() && d.decoration == Some(Decoration::RelaxedPrecision))
    }

    /// Applies the decoration of a translated instruction to its result. Instructions that compute
    /// floats or integers use the permitted precision themselves.
    pub(super) fn relax_result(&mut self, i: Instruction, op: Op, group: Group) -> Result {
        let decorated = i.result().is_some_and(|word| self.is_relaxed(word));
        match (op, group) {
            _ if !self.relaxes => Ok(()),
            (Op::FunctionCall, _) => {
                let callee = self.word(i, 0)?;
                if decorated || self.is_relaxed(callee) { self.relax_all(i) } else { Ok(()) }
            }
            (
                Op::ImageSampleExplicitLod
                | Op::ImageSampleDrefExplicitLod
                | Op::ImageSampleProjExplicitLod
                | Op::ImageSampleProjDrefExplicitLod
                | Op::ImageGather
                | Op::ImageDrefGather
                | Op::ImageGatherQCOM
                | Op::ImageFetch
                | Op::ImageRead,
                _,
            ) => {
                let image = self.word(i, 0)?;
                let relaxed = decorated || self.is_relaxed_object(image);
                if relaxed { self.relax_texels(i, op) } else { Ok(()) }
            }
            (_, Group::Atomic) => {
                let pointer = self.word(i, 0)?;
                let is_relaxed = self.is_relaxed_object(pointer);
                let result = if i.result().is_some() { Some(self.result(i)?) } else { None };
                let is_word = result.is_some_and(|result| matches!(self.kind(&result), Kind::Int { width: 32, .. }));
                match op {
                    _ if !decorated && !is_relaxed => Ok(()),
                    Op::AtomicLoad => self.relax_all(i),
                    // The instruction itself uses the permitted precision.
                    _ if !is_relaxed && is_word => Ok(()),
                    _ => self.unsupported(format!("RelaxedPrecision of {op}")),
                }
            }
            _ if !decorated => Ok(()),
            (Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat, _)
            | (Op::GroupNonUniformSMin | Op::GroupNonUniformSMax | Op::GroupNonUniformAllEqual, _)
            | (Op::GroupNonUniformUMin | Op::GroupNonUniformUMax | Op::SubgroupAllEqualKHR, _) => {
                self.unsupported(format!("RelaxedPrecision of {op}"))
            }
            (Op::Bitcast, _) => {
                // Operands may be truncated too.
                let (src, dst) = (self.operand(i, 0)?, self.result(i)?);
                self.relax(self.kind(&src), dst.reg, dst.n);
                self.relax_all(i)
            }
            (_, Group::Float | Group::Extended | Group::Integer) => Ok(()),
            _ => self.relax_all(i),
        }
    }

    fn relax_all(&mut self, i: Instruction) -> Result {
        let returns = i.result_type().and_then(|ty| self.module.type_declared(ty));
        match returns.map(|ty| self.module.ty(ty)) {
            None | Some(Type::Void) => Ok(()),
            Some(_) => {
                let Val { reg, n, .. } = self.result(i)?;
                self.relax_registers(reg, (0, n));
                Ok(())
            }
        }
    }

    /// Relaxes a value read from an image. Filters also compute in relaxed precision, which is not
    /// modelled: their results are unknown.
    fn relax_texels(&mut self, i: Instruction, op: Op) -> Result {
        let Val { reg, n, .. } = self.result(i)?;
        if !matches!(op, Op::ImageGather | Op::ImageDrefGather | Op::ImageGatherQCOM | Op::ImageFetch | Op::ImageRead) {
            self.emit(Inst::Filtered { dst: reg, n });
        }
        self.relax_registers(reg, (0, n));
        Ok(())
    }

    /// Relaxes decorated parameters after a call has set them.
    pub(super) fn relax_parameter(&mut self, i: Instruction) -> Result {
        if i.result().is_some_and(|word| self.is_relaxed(word)) { self.relax_all(i) } else { Ok(()) }
    }

    /// Relaxes a value that is read from or written to memory.
    pub(super) fn relax_object(&mut self, pointer: u32, value: Reg) -> Result {
        for part in self.relaxed_parts(pointer)? {
            self.relax_registers(value, part);
        }
        Ok(())
    }

    /// The registers of a value as it is written through a pointer: its own, or a copy that may
    /// lose precision.
    pub(super) fn relaxed_for(&mut self, pointer: u32, value: Reg, n: u32) -> Result<Reg> {
        let parts = self.relaxed_parts(pointer)?;
        self.relaxed_copy(value, n, &parts)
    }

    /// The registers of a texel as it is written to an image.
    pub(super) fn relaxed_texel(&mut self, image: u32, texel: &Val) -> Result<Reg> {
        let whole = [(0, texel.n)];
        let parts = if self.is_relaxed_object(image) { &whole[..] } else { &[] };
        self.relaxed_copy(texel.reg, texel.n, parts)
    }

    fn relaxed_copy(&mut self, value: Reg, n: u32, parts: &[Part]) -> Result<Reg> {
        if parts.is_empty() {
            return Ok(value);
        }
        let kinds: Vec<Kind> = self.kinds[value as usize..(value + n) as usize].to_vec();
        let dst = self.registers(kinds)?;
        self.emit(Inst::Copy { dst, src: value, n, load: false });
        parts.iter().for_each(|part| self.relax_registers(dst, *part));
        Ok(dst)
    }

    pub(super) fn relax_registers(&mut self, first: Reg, (at, n): Part) {
        let kinds: Vec<Kind> = self.kinds[(first + at) as usize..(first + at + n) as usize].to_vec();
        let mut from = 0;
        for kinds in kinds.chunk_by(|a, b| a == b) {
            self.relax(kinds[0], first + at + from, kinds.len() as u32);
            from += kinds.len() as u32;
        }
    }

    /// Relaxes registers. Only 32-bit numbers lose precision.
    fn relax(&mut self, kind: Kind, dst: Reg, n: u32) {
        if matches!(kind, Kind::Float(Fmt::F32) | Kind::Int { width: 32, .. }) {
            self.emit(Inst::Relax { kind, dst, n });
        }
    }

    /// The scalars of a pointee that may have less precision.
    fn relaxed_parts(&mut self, pointer: u32) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        let points = self.module.type_of(pointer).and_then(|ty| self.module.pointer(ty));
        if let (true, Some((_, Some(pointee)))) = (self.relaxes, points) {
            let whole = self.is_relaxed_object(pointer);
            self.parts_of(pointee, whole, 0, &mut parts)?;
        }
        Ok(parts)
    }

    /// Adds the relaxed parts of a type whose first scalar is number `at`, and returns the number
    /// after its last.
    fn parts_of(&mut self, ty: TypeId, whole: bool, at: u32, parts: &mut Vec<Part>) -> Result<u32> {
        let n = self.scalars(ty)?.len() as u32;
        if whole {
            parts.push((at, n));
            return Ok(at + n);
        }
        match *self.module.ty(ty) {
            Type::Struct { .. } => {
                let mut next = at;
                for (number, member) in self.module.members(ty).to_vec().into_iter().enumerate() {
                    let decorated = self.is_relaxed_member(ty, number as u32);
                    next = self.parts_of(member, decorated, next, parts)?;
                }
            }
            Type::Array { element, .. } => {
                let mut inner = Vec::new();
                let size = self.parts_of(element, false, 0, &mut inner)?.max(1);
                if !inner.is_empty() {
                    parts.extend((at..at + n).step_by(size as usize).flat_map(|from| {
                        inner.iter().map(move |(first, n)| (from + first, *n)).collect::<Vec<Part>>()
                    }));
                }
            }
            _ => {}
        }
        Ok(at + n)
    }

    fn is_relaxed_member(&self, ty: TypeId, number: u32) -> bool {
        let word = self.module.type_definition(ty).result().unwrap_or_default();
        let mut decorations = self.module.decorations(word);
        decorations.any(|d| d.member == Some(number) && d.decoration == Some(Decoration::RelaxedPrecision))
    }

    /// Returns true if a pointee, or an image, belongs to a decorated variable, parameter or
    /// member. If the origin of a pointer is unknown, this holds if the module has any such object.
    fn is_relaxed_object(&self, word: u32) -> bool {
        if !self.relaxes || self.is_relaxed(word) {
            return self.relaxes;
        }
        let Some(i) = self.module.definition_of(word) else { return false };
        let from = i.operand(0).unwrap_or_default();
        let is_pointer = self.module.type_of(word).is_some_and(|ty| self.module.pointer(ty).is_some());
        match i.op {
            Some(Op::Variable) => false,
            Some(Op::AccessChain | Op::InBoundsAccessChain) => {
                self.is_in_relaxed_member(from, &i.operands()[1..]) || self.is_relaxed_object(from)
            }
            Some(Op::PtrAccessChain | Op::InBoundsPtrAccessChain) => {
                let indices = i.operands().get(2..).unwrap_or_default();
                self.is_in_relaxed_member(from, indices) || self.is_relaxed_object(from)
            }
            Some(Op::CopyObject | Op::SampledImage | Op::Image) => self.is_relaxed_object(from),
            Some(Op::Load) if !is_pointer => self.is_relaxed_object(from),
            _ => self.has_relaxed_objects(),
        }
    }

    /// Returns true if indices into a pointee pass a decorated member.
    fn is_in_relaxed_member(&self, base: u32, indices: &[u32]) -> bool {
        let points = self.module.type_of(base).and_then(|ty| self.module.pointer(ty));
        let Some((_, Some(mut ty))) = points else { return false };
        for index in indices {
            ty = match *self.module.ty(ty) {
                Type::Array { element, .. } | Type::RuntimeArray { element } => element,
                Type::Matrix { column, .. } => column,
                Type::Struct { .. } => {
                    let number = self.module.constant_int(*index).and_then(|number| u32::try_from(number).ok());
                    let Some(number) = number else { return false };
                    if self.is_relaxed_member(ty, number) {
                        return true;
                    }
                    let Some(member) = self.module.members(ty).get(number as usize) else { return false };
                    *member
                }
                _ => return false,
            };
        }
        false
    }

    /// Returns true if the module decorates any object in memory.
    fn has_relaxed_objects(&self) -> bool {
        self.module.all_decorations().any(|(word, d)| {
            let op = self.module.definition_of(word).and_then(|i| i.op);
            let object = matches!(
                op,
                Some(
                    Op::Variable
                        | Op::FunctionParameter
                        | Op::AccessChain
                        | Op::InBoundsAccessChain
                        | Op::PtrAccessChain
                )
            );
            d.decoration == Some(Decoration::RelaxedPrecision) && (object || d.member.is_some())
        })
    }
}
