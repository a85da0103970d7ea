//! Declarations outside functions: constants and variables.

use super::{Decoder, Result, Val, WORKGROUP_BYTES, is_local};
use crate::dispatch::Slot;
use crate::error::ProgramError;
use crate::inst::{Inst, Reg};
use crate::pointer::{NULL, OBJECT, OBJECTS};
use crate::program::{Choice, DeclaredImage, Descriptors, Object, ObjectKind};
use crate::ty::{Kind, Layout, Mode, mask};
use assay_spirv::module::{ImageType, Instruction, Section, TypeId};
use assay_spirv::tables::{BuiltIn, Decoration, Dim, Op, StorageClass};

impl Decoder<'_> {
    pub(super) fn globals(&mut self) -> Result {
        let module = self.module;
        for i in module.section(Section::Globals) {
            self.here = i.index;
            let Some(word) = i.result() else { continue };
            let Some(op) = i.op else { continue };
            let ty = i.result_type().and_then(|ty| module.type_declared(ty));
            let (Some(ty), true) = (ty, self.is_needed(word, op)) else { continue };
            match op {
                Op::Variable => self.global_variable(i, word, ty)?,
                // Outside functions, only instructions of non-semantic sets are permitted.
                Op::ExtInst => {}
                Op::UntypedVariableKHR => return self.unsupported(op.name()),
                _ => self.global_constant(i, op, word, ty)?,
            }
        }
        Ok(())
    }

    /// Variables count only if the entry point uses them; constants may serve other constants.
    fn is_needed(&self, word: u32, op: Op) -> bool {
        let variable = matches!(op, Op::Variable | Op::UntypedVariableKHR);
        !variable || self.module.dense_id(word).is_some_and(|id| self.usage.globals.contains(&id))
    }

    pub(super) fn global_constant(&mut self, i: Instruction, op: Op, word: u32, ty: TypeId) -> Result {
        let operands = i.operands();
        match op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = u64::from(matches!(op, Op::ConstantTrue | Op::SpecConstantTrue));
                let value = self.specialised(word).map_or(default, |bits| u64::from(bits != 0));
                self.define(word, ty, &[value])
            }
            Op::Constant | Op::SpecConstant => {
                let literal = match operands {
                    [low] => u64::from(*low),
                    [low, high, ..] => u64::from(*high) << 32 | u64::from(*low),
                    [] => return self.invalid("a constant without value"),
                };
                let value = self.specialised(word).unwrap_or(literal);
                self.define(word, ty, &[value])
            }
            Op::ConstantNull => {
                let mut nulls = vec![0; self.scalars(ty)?.len()];
                if self.pointee(ty)?.is_some_and(|pointee| pointee.class != StorageClass::PhysicalStorageBuffer) {
                    nulls.fill(NULL);
                }
                self.define(word, ty, &nulls)
            }
            Op::Undef => {
                let val = self.declare(word, ty)?;
                self.emit(Inst::Undef { dst: val.reg, n: val.n });
                Ok(())
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let val = self.declare(word, ty)?;
                self.construct(val.reg, operands)
            }
            Op::SpecConstantOp => {
                let Some(inner) = operands.first().and_then(|word| Op::from_opcode(*word as u16)) else {
                    return self.invalid("OpSpecConstantOp of an unknown opcode");
                };
                self.declare(word, ty)?;
                // The operation, written as an instruction of its own.
                let mut words = vec![0, i.words[1], i.words[2]];
                words.extend(&operands[1..]);
                words[0] = (words.len() as u32) << 16 | u32::from(inner as u16);
                let unfolded = Instruction { index: i.index, at: i.at, op: Some(inner), words: &words };
                let from = self.setup.len();
                self.instruction(unfolded)?;
                self.fold(from);
                let val = self.val(word)?;
                if let Some(bits) = self.known.get(&val.reg) {
                    self.layouts.set_constant(word, *bits);
                }
                Ok(())
            }
            _ => self.unsupported(op.name()),
        }
    }

    /// The value that the caller gives a specialisation constant.
    fn specialised(&self, word: u32) -> Option<u64> {
        let mut decorations = self.module.decorations(word);
        let id = decorations.find(|d| d.decoration == Some(Decoration::SpecId))?.operands.first().copied()?;
        self.spec.get(&id).copied()
    }

    fn define(&mut self, word: u32, ty: TypeId, bits: &[u64]) -> Result {
        let val = self.declare(word, ty)?;
        let kind = self.kind(&val);
        if bits.len() == 1 && matches!(kind, Kind::Int { .. }) {
            self.layouts.set_constant(word, bits[0] & mask(kind.width()));
        }
        self.set(val.reg, bits);
        Ok(())
    }

    /// Sets registers to constants, cut to their widths.
    pub(super) fn set(&mut self, first: Reg, bits: &[u64]) {
        let cut: Box<[u64]> =
            bits.iter().enumerate().map(|(i, bits)| bits & mask(self.kinds[first as usize + i].width())).collect();
        for (i, bits) in cut.iter().enumerate() {
            self.known.insert(first + i as Reg, *bits);
        }
        self.emit_once(Inst::Set { dst: first, bits: cut });
    }

    /// Works out instructions on constants.
    fn fold(&mut self, from: usize) {
        for at in from..self.setup.len() {
            match self.setup[at].clone() {
                Inst::Int { op, width, out, n, dst, args, scalar, relaxed: false } => {
                    for i in 0..u32::from(n) {
                        let mut x = [0; 4];
                        let mut all = true;
                        for (k, x) in x.iter_mut().enumerate().take(op.arity()) {
                            let step = if scalar >> k & 1 == 1 { 0 } else { i };
                            all &= self.known.get(&(args[k] + step)).map(|bits| *x = *bits).is_some();
                        }
                        if let (true, Ok(bits)) = (all, op.eval(u32::from(width), x, true)) {
                            self.known.insert(dst + i, bits & mask(u32::from(out)));
                        }
                    }
                }
                Inst::Copy { dst, src, n, .. } => {
                    for i in 0..n {
                        self.known.get(&(src + i)).copied().map(|bits| self.known.insert(dst + i, bits));
                    }
                }
                Inst::Recast { dst, src, n, from, to, .. } if from == to => {
                    for i in 0..n {
                        self.known.get(&(src + i)).copied().map(|bits| self.known.insert(dst + i, bits));
                    }
                }
                Inst::Select { dst, cond, step, a, b, n } => {
                    for i in 0..n {
                        let Some(condition) = self.known.get(&(cond + i * step)).copied() else { continue };
                        let from = if condition != 0 { a } else { b } + i;
                        self.known.get(&from).copied().map(|bits| self.known.insert(dst + i, bits));
                    }
                }
                _ => {}
            }
        }
    }

    /// A composite from its parts, one after another.
    pub(super) fn construct(&mut self, dst: Reg, parts: &[u32]) -> Result {
        let mut at = dst;
        for word in parts {
            let part = self.val(*word)?;
            for i in 0..part.n {
                self.known.get(&(part.reg + i)).copied().map(|bits| self.known.insert(at + i, bits));
            }
            self.emit(Inst::Copy { dst: at, src: part.reg, n: part.n, load: false });
            at += part.n;
        }
        Ok(())
    }

    fn global_variable(&mut self, i: Instruction, word: u32, ty: TypeId) -> Result {
        let Some(class) = i.operand(0).and_then(StorageClass::from_word) else {
            return self.invalid("a variable without storage class");
        };
        let Some(mut pointee) = self.pointee(ty)? else { return self.invalid("a variable that is no pointer") };
        let reg = self.registers([Kind::Pointer])?;
        if is_local(class) {
            let kinds = self.kinds_of(&pointee.layout)?;
            let n = kinds.len() as u32;
            let storage = self.registers(kinds)?;
            self.locals.push((storage, n));
            pointee.fixed = Some(storage);
            self.bind(word, Val { reg, ty, n: 1, pointee: Some(pointee) });
            self.set(reg, &[u64::from(storage)]);
            if class == StorageClass::Input {
                return self.builtin(word, storage, n);
            }
            return match i.operand(1) {
                Some(initial) => {
                    let initial = self.val(initial)?;
                    self.fresh.push(Inst::Copy { dst: storage, src: initial.reg, n: initial.n, load: false });
                    Ok(())
                }
                None => {
                    self.fresh.push(Inst::Undef { dst: storage, n });
                    Ok(())
                }
            };
        }
        let pointer = self.object(class, word, &pointee.layout, i)?;
        self.bind(word, Val { reg, ty, n: 1, pointee: Some(pointee) });
        self.set(reg, &[pointer]);
        Ok(())
    }

    fn builtin(&mut self, word: u32, storage: Reg, n: u32) -> Result {
        let mut decorations = self.module.decorations(word);
        let builtin = decorations.find(|d| d.decoration == Some(Decoration::BuiltIn));
        let builtin = builtin.and_then(|d| BuiltIn::from_word(*d.operands.first()?));
        match builtin {
            Some(
                known @ (BuiltIn::NumWorkgroups
                | BuiltIn::WorkgroupSize
                | BuiltIn::WorkgroupId
                | BuiltIn::LocalInvocationId
                | BuiltIn::GlobalInvocationId
                | BuiltIn::LocalInvocationIndex
                | BuiltIn::SubgroupSize
                | BuiltIn::NumSubgroups
                | BuiltIn::SubgroupId
                | BuiltIn::SubgroupLocalInvocationId
                | BuiltIn::SubgroupEqMask
                | BuiltIn::SubgroupGeMask
                | BuiltIn::SubgroupGtMask
                | BuiltIn::SubgroupLeMask
                | BuiltIn::SubgroupLtMask
                | BuiltIn::DeviceIndex
                | BuiltIn::TileOffsetQCOM
                | BuiltIn::TileDimensionQCOM
                | BuiltIn::TileApronSizeQCOM),
            ) => {
                self.builtins.push((known, storage, n));
                Ok(())
            }
            Some(other) => self.unsupported(format!("BuiltIn {}", other.name())),
            None => self.invalid("an input of a compute shader that is no built-in"),
        }
    }

    /// Makes the object (or objects) of a variable in memory; gives its pointer, object numbers as
    /// the program counts them.
    fn object(&mut self, class: StorageClass, word: u32, layout: &Layout, i: Instruction) -> Result<u64> {
        let named = |wanted| {
            let found = self.module.decorations(word).find(|d| d.decoration == Some(wanted));
            found.and_then(|d| d.operands.first().copied())
        };
        match class {
            StorageClass::PushConstant => Ok(0),
            StorageClass::Workgroup => {
                let explicit = self.module.type_of(word).and_then(|ty| self.module.pointer(ty)?.1);
                let explicit = explicit.is_some_and(|ty| self.is_block(ty));
                // Blocks share their memory; others follow each other.
                let start = if explicit { 0 } else { self.workgroup_bytes.next_multiple_of(16) };
                let found = start.saturating_add(layout.size(Mode::Tight));
                if found > WORKGROUP_BYTES {
                    let at = self.place();
                    let what = "bytes of workgroup memory";
                    return Err(ProgramError::TooLarge { what, found, limit: WORKGROUP_BYTES, at });
                }
                self.workgroup_bytes = self.workgroup_bytes.max(found);
                if let Some(initial) = i.operand(1) {
                    let initial = self.val(initial)?;
                    self.workgroup_initial(start, layout, &initial)?;
                }
                Ok(OBJECT + start)
            }
            StorageClass::StorageBuffer
            | StorageClass::Uniform
            | StorageClass::UniformConstant
            | StorageClass::TileAttachmentQCOM => {
                let Some(binding) = named(Decoration::Binding) else {
                    return self.invalid("a resource without Binding");
                };
                let set = named(Decoration::DescriptorSet).unwrap_or(0);
                let count = match layout {
                    Layout::Many { count, stride, .. } if *stride >= OBJECT => {
                        count.unwrap_or(0).saturating_mul(stride / OBJECT)
                    }
                    _ => 1,
                };
                let first = self.objects.last().map_or(0, |last| last.first + last.count);
                if first.saturating_add(count) >= OBJECTS {
                    let (found, at) = (first.saturating_add(count), self.place());
                    return Err(ProgramError::TooLarge { what: "descriptors", found, limit: OBJECTS, at });
                }
                let slot = Slot { set, binding, element: 0 };
                let pointee = self.module.type_of(word).and_then(|ty| self.module.pointer(ty)?.1);
                let uniform = class == StorageClass::Uniform && pointee.is_some_and(|ty| !self.is_old_storage(ty));
                let tile = class == StorageClass::TileAttachmentQCOM;
                let writable = !uniform && !self.is_non_writable(word, pointee);
                let mut decorations = self.module.decorations(word);
                let aliased = decorations.any(|d| d.decoration == Some(Decoration::Aliased));
                let image = pointee.and_then(|ty| self.image_inside(ty));
                let choice = self.choice(class, uniform, image);
                let image = image.and_then(|ty| {
                    Some(DeclaredImage { dim: ty.dim?, format: ty.format?, multisampled: ty.multisampled })
                });
                self.objects.push(Object {
                    kind: ObjectKind::Binding(slot),
                    first,
                    count,
                    writable,
                    aliased,
                    tile,
                    choice,
                    image,
                });
                Ok(first * OBJECT)
            }
            _ => self.unsupported(format!("storage class {}", class.name())),
        }
    }

    /// The type of an image, with a sampler or without, inside arrays.
    fn image_inside(&self, ty: TypeId) -> Option<ImageType> {
        use assay_spirv::module::Type;
        match *self.module.ty(self.inside_arrays(ty)) {
            Type::Image(image) => Some(image),
            Type::SampledImage { image } => match *self.module.ty(image) {
                Type::Image(image) => Some(image),
                _ => None,
            },
            _ => None,
        }
    }

    /// Ways to choose one of several descriptors of a variable.
    fn choice(&self, class: StorageClass, uniform: bool, image: Option<ImageType>) -> Option<Choice> {
        let stored = image.is_some_and(|ty| ty.sampled == 2);
        let of = match (class, image.and_then(|ty| ty.dim)) {
            (StorageClass::Uniform, _) if uniform => Descriptors::UniformBuffers,
            (StorageClass::Uniform | StorageClass::StorageBuffer, _) => Descriptors::StorageBuffers,
            (_, Some(Dim::Buffer)) if stored => Descriptors::StorageTexelBuffers,
            (_, Some(Dim::Buffer)) => Descriptors::UniformTexelBuffers,
            (_, Some(_)) if stored => Descriptors::StorageImages,
            // Samplers too.
            _ => Descriptors::SampledImages,
        };
        Some(Choice { of, allowed: self.module.declares(of.capability()) })
    }

    /// Returns whether a block (or its arrays) is a storage buffer of the old kind: `Uniform` with
    /// `BufferBlock`.
    fn is_old_storage(&self, ty: TypeId) -> bool {
        let ty = self.inside_arrays(ty);
        let word = self.module.type_definition(ty).result().unwrap_or_default();
        self.module.decorations(word).any(|d| d.decoration == Some(Decoration::BufferBlock))
    }

    pub(super) fn inside_arrays(&self, mut ty: TypeId) -> TypeId {
        use assay_spirv::module::Type;
        while let Type::Array { element, .. } | Type::RuntimeArray { element } = *self.module.ty(ty) {
            ty = element;
        }
        ty
    }

    /// Returns whether the variable, or every member of its block, is decorated `NonWritable`.
    fn is_non_writable(&self, word: u32, pointee: Option<TypeId>) -> bool {
        let said = Some(Decoration::NonWritable);
        if self.module.decorations(word).any(|d| d.decoration == said) {
            return true;
        }
        let Some(ty) = pointee.map(|ty| self.inside_arrays(ty)) else { return false };
        let block = self.module.type_definition(ty).result().unwrap_or_default();
        let members = self.module.members(ty).len();
        let forbidden: std::collections::HashSet<u32> =
            self.module.decorations(block).filter(|d| d.decoration == said).filter_map(|d| d.member).collect();
        members > 0 && forbidden.len() == members
    }

    fn workgroup_initial(&mut self, start: u64, layout: &Layout, initial: &Val) -> Result {
        let zero = (0..initial.n).all(|i| self.known.get(&(initial.reg + i)) == Some(&0));
        if !zero {
            return self.invalid("a workgroup variable may only be initialised with OpConstantNull");
        }
        self.zeroed.push((start, layout.size(Mode::Tight)));
        Ok(())
    }
}
