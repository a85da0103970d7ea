//! Variables, pointers, loads and stores.

use super::{Decoder, Pointee, Result, Val};
use crate::inst::{AtomicOp, Inst, IntOp, Order, Reg, Term};
use crate::pointer::is_near;
use crate::ty::{Fmt, Kind, Layout, Mode};
use assay_precision::{Call, Op as Row, Scalar, Shape};
use assay_spirv::Module;
use assay_spirv::grammar::Kind as OperandKind;
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{
    ExecutionModel, MEMORY_ACCESS, MemoryAccess, MemoryModel, MemorySemantics, Op, Scope, StorageClass,
};

impl Decoder<'_> {
    /// A variable of a function: registers of its own.
    pub(super) fn local_variable(&mut self, word: u32, ty: TypeId) -> Result {
        let Some(mut pointee) = self.pointee(ty)? else { return self.invalid("a variable that is no pointer") };
        let reg = self.registers([Kind::Pointer])?;
        let kinds = self.kinds_of(&pointee.layout)?;
        let n = kinds.len() as u32;
        let storage = self.registers(kinds)?;
        self.locals.push((storage, n));
        pointee.fixed = Some(storage);
        self.bind(word, Val { reg, ty, n: 1, pointee: Some(pointee) });
        // Pointers to it are equal in every call.
        let inst = Inst::Set { dst: reg, bits: Box::new([u64::from(storage)]) };
        self.known.insert(reg, u64::from(storage));
        self.emit_once(inst);
        Ok(())
    }

    /// Initialises a variable at its `OpVariable`.
    pub(super) fn enter_variable(&mut self, i: Instruction) -> Result {
        let val = self.result(i)?;
        let Some(Pointee { fixed: Some(storage), layout, .. }) = &val.pointee else {
            return self.invalid("a variable of a function in another storage class");
        };
        let (storage, n) = (*storage, layout.size(Mode::Leaves) as u32);
        match i.operand(1) {
            Some(initial) => {
                let initial = self.val(initial)?;
                self.emit(Inst::Copy { dst: storage, src: initial.reg, n: initial.n, load: false });
            }
            None => {
                // The translation gives each variable of WGSL an initial value, but not the
                // variables in which it keeps a value to index it.
                if self.wgsl {
                    self.kept.insert(val.reg);
                }
                self.emit(Inst::Undef { dst: storage, n });
            }
        }
        Ok(())
    }

    pub(super) fn pointer(&mut self, i: Instruction, operand: usize) -> Result<(Val, Pointee)> {
        let val = self.operand(i, operand)?;
        match val.pointee.clone() {
            Some(pointee) => Ok((val, pointee)),
            None => self.invalid("this operand is no pointer"),
        }
    }

    pub(super) fn load(&mut self, i: Instruction) -> Result {
        let dst = self.result(i)?;
        let (pointer, pointee) = self.pointer(i, 0)?;
        let access = i.operands().get(1..).unwrap_or_default();
        self.read(&dst, &pointer, &pointee, access)?;
        let from = self.word(i, 0)?;
        self.relax_object(from, dst.reg)
    }

    fn read(&mut self, dst: &Val, pointer: &Val, pointee: &Pointee, access: &[u32]) -> Result {
        let (dst, n) = (dst.reg, dst.n);
        if matches!(pointee.class, StorageClass::UniformConstant | StorageClass::TileAttachmentQCOM) {
            // An image or sampler is its descriptor.
            self.emit(Inst::Copy { dst, src: pointer.reg, n: 1, load: false });
        } else if let Some(src) = pointee.fixed {
            self.emit(Inst::Copy { dst, src, n, load: true });
        } else if pointee.is_local() {
            self.emit(Inst::LocalLoad { dst, pointer: pointer.reg, n });
        } else {
            let leaves = self.leaves_of(&pointee.layout)?.into();
            let private = self.sharing.is_private(access);
            self.emit(Inst::Load { dst, pointer: pointer.reg, leaves, physical: alignment(pointee, access), private });
        }
        Ok(())
    }

    pub(super) fn store(&mut self, i: Instruction) -> Result {
        let (pointer, pointee) = self.pointer(i, 0)?;
        let value = self.operand(i, 1)?;
        let access = i.operands().get(2..).unwrap_or_default();
        let to = self.word(i, 0)?;
        let src = self.relaxed_for(to, value.reg, value.n)?;
        self.write(src, value.n, &pointer, &pointee, access)
    }

    pub(super) fn write(&mut self, src: Reg, n: u32, pointer: &Val, pointee: &Pointee, access: &[u32]) -> Result {
        if let Some(dst) = pointee.fixed {
            self.emit(Inst::Copy { dst, src, n, load: false });
        } else if pointee.is_local() {
            self.emit(Inst::LocalStore { pointer: pointer.reg, src, n });
        } else {
            let leaves = self.leaves_of(&pointee.layout)?.into();
            let private = self.sharing.is_private(access);
            self.emit(Inst::Store { pointer: pointer.reg, src, leaves, physical: alignment(pointee, access), private });
        }
        Ok(())
    }

    pub(super) fn copy_memory(&mut self, i: Instruction) -> Result {
        let (to, to_pointee) = self.pointer(i, 0)?;
        let (from, from_pointee) = self.pointer(i, 1)?;
        // "If two masks are present, the first applies to Target (..), and the second applies to
        // Source". A single mask applies to both.
        let of_target = i.operands().get(2..).unwrap_or_default();
        let of_source = of_target.get(operands_of(of_target)..).filter(|mask| !mask.is_empty()).unwrap_or(of_target);
        let kinds = self.kinds_of(&from_pointee.layout)?;
        let n = kinds.len() as u32;
        let reg = self.registers(kinds)?;
        let between = Val { reg, ty: from.ty, n, pointee: None };
        self.read(&between, &from, &from_pointee, of_source)?;
        for pointer in [self.word(i, 1)?, self.word(i, 0)?] {
            self.relax_object(pointer, reg)?;
        }
        self.write(reg, n, &to, &to_pointee, of_target)
    }

    /// `OpAccessChain` and similar instructions. `element`: the first index steps over whole
    /// pointees. `bounded`: "known to point within the base object". Other chains are bounded if
    /// the pointer is logical; an index of a physical pointer is arithmetic.
    pub(super) fn access_chain(&mut self, i: Instruction, element: bool, bounded: bool) -> Result {
        let dst = self.result(i)?;
        let (base, pointee) = self.pointer(i, 0)?;
        let bounded = bounded || !pointee.is_physical();
        let mut indices = i.operands().get(1..).unwrap_or_default();
        let mut layout = pointee.layout.clone();
        let address = pointee.class == StorageClass::PhysicalStorageBuffer;
        let mut constant = 0u64;
        let mut terms = Vec::new();
        if element {
            let [first, rest @ ..] = indices else { return self.invalid("a chain without element") };
            let stride = self.pointer_stride(base.ty, &layout, pointee.is_local());
            let index = self.val(*first)?;
            let Kind::Int { width, .. } = self.kind(&index) else { return self.invalid("an index that is no integer") };
            terms.push(Term { index: index.reg, width, stride, count: None, address });
            indices = rest;
        }
        for word in indices {
            let index = self.val(*word)?;
            let Kind::Int { width, .. } = self.kind(&index) else { return self.invalid("an index that is no integer") };
            let known = self.known.get(&index.reg).map(|bits| crate::integer::signed(u32::from(width), *bits));
            layout = match &*layout {
                Layout::Struct(_) => {
                    let Some(member) = known else {
                        return self.invalid("a structure's member that is no constant");
                    };
                    let Some((offset, part)) = u64::try_from(member).ok().and_then(|member| layout.part(member)) else {
                        return self.invalid("an index beyond a structure's members");
                    };
                    constant += offset;
                    part
                }
                Layout::Many { count, stride, of } => {
                    let count = count.filter(|_| bounded);
                    match known.map(i64::cast_unsigned) {
                        Some(known) if count.map_or_else(|| is_near(known, *stride), |count| known < count) => {
                            constant = constant.wrapping_add(known.wrapping_mul(*stride));
                        }
                        // An index beyond its array, or far away, is handled when the chain is
                        // executed.
                        _ => terms.push(Term { index: index.reg, width, stride: *stride, count, address }),
                    }
                    of.clone()
                }
                Layout::Scalar(_) => return self.invalid("an index into a scalar"),
            };
        }
        let fixed = pointee.fixed.filter(|_| terms.is_empty()).map(|reg| reg + constant as Reg);
        if self.kept.contains(&base.reg) {
            self.kept.insert(dst.reg);
        }
        self.rebind(i, dst.clone(), Pointee { class: pointee.class, layout, fixed });
        if let Some(fixed) = fixed {
            self.emit_once(Inst::Set { dst: dst.reg, bits: Box::new([u64::from(fixed)]) });
        } else {
            if pointee.class == StorageClass::PushConstant {
                self.note_pushed(i, &base, dst.reg);
            }
            self.emit(Inst::Chain { dst: dst.reg, base: base.reg, constant, terms: terms.into() });
        }
        Ok(())
    }

    /// Records a pointer into an array of push constants if an index of an array (not of a vector
    /// or matrix) is not a constant, in this chain or in the one that it continues.
    fn note_pushed(&mut self, i: Instruction, base: &Val, dst: Reg) {
        let Type::Pointer { pointee: Some(mut ty), .. } = *self.module.ty(base.ty) else { return };
        let mut chosen = self.pushed.contains(&base.reg);
        for word in i.operands().get(1..).unwrap_or_default() {
            let known = self.val(*word).ok().and_then(|index| self.known.get(&index.reg).copied());
            ty = match *self.module.ty(ty) {
                Type::Array { element, .. } | Type::RuntimeArray { element } => {
                    chosen |= known.is_none();
                    element
                }
                Type::Struct { .. } => {
                    let members = self.module.members(ty);
                    let member = known.and_then(|known| members.get(usize::try_from(known).ok()?));
                    let Some(member) = member else { break };
                    *member
                }
                // Vectors and matrices do not contain arrays.
                _ => break,
            };
        }
        if chosen {
            self.pushed.insert(dst);
        }
    }

    fn rebind(&mut self, i: Instruction, mut val: Val, pointee: Pointee) {
        val.pointee = Some(pointee);
        self.bind(i.result().unwrap_or_default(), val);
    }

    /// Distance between two pointers, in elements of their array.
    pub(super) fn elements_apart(&mut self, i: Instruction) -> Result {
        let dst = self.result(i)?;
        let (base, pointee) = self.pointer(i, 0)?;
        let (a, b) = (self.location(i, 0)?, self.location(i, 1)?);
        let stride = self.pointer_stride(base.ty, &pointee.layout, pointee.is_local());
        let by = self.registers([Kind::Int { width: 64, signed: true }])?;
        self.emit_once(Inst::Set { dst: by, bits: Box::new([stride.max(1)]) });
        let width = self.int_width(dst.reg);
        self.int(IntOp::Apart, (64, width), dst.reg, 1, [a, b, by, 0], 0);
        Ok(())
    }

    /// Compares two pointers.
    pub(super) fn same_pointer(&mut self, i: Instruction, op: IntOp) -> Result {
        let dst = self.result(i)?;
        let (a, b) = (self.location(i, 0)?, self.location(i, 1)?);
        self.int(op, (64, 1), dst.reg, 1, [a, b, 0, 0], 0);
        Ok(())
    }

    /// The register by which a pointer operand is compared.
    fn location(&mut self, i: Instruction, operand: usize) -> Result<Reg> {
        let (pointer, pointee) = self.pointer(i, operand)?;
        if pointee.is_local() || pointee.class == StorageClass::PhysicalStorageBuffer {
            return Ok(pointer.reg);
        }
        let dst = self.registers([Kind::Pointer])?;
        self.emit(Inst::Location { dst, pointer: pointer.reg });
        Ok(dst)
    }

    /// Units from one pointee to the next: the pointer type's `ArrayStride`.
    fn pointer_stride(&self, ty: TypeId, layout: &Layout, local: bool) -> u64 {
        if local {
            return layout.size(Mode::Leaves);
        }
        let word = self.module.type_definition(ty).result().unwrap_or_default();
        let mut decorations = self.module.decorations(word);
        let stated = decorations.find(|d| d.decoration == Some(assay_spirv::tables::Decoration::ArrayStride));
        // As in C, each element is aligned.
        let tight = || layout.size(Mode::Tight).checked_next_multiple_of(layout.alignment()).unwrap_or(u64::MAX);
        stated.and_then(|d| d.operands.first().copied()).map_or_else(tight, u64::from)
    }

    pub(super) fn array_length(&mut self, i: Instruction) -> Result {
        let dst = self.result(i)?;
        let (pointer, pointee) = self.pointer(i, 0)?;
        let member = self.word(i, 1)?;
        let Some((offset, array)) = pointee.layout.part(u64::from(member)) else {
            return self.invalid("OpArrayLength of a member that is not there");
        };
        let Layout::Many { count: None, stride, .. } = *array else {
            return self.invalid("OpArrayLength of what is no run-time array");
        };
        self.emit(Inst::Length { dst: dst.reg, pointer: pointer.reg, offset, stride });
        Ok(())
    }

    /// Scope and semantics operands.
    pub(super) fn order(&mut self, scope: u32, semantics: u32) -> Result<Order> {
        let scope = self.constant(scope)? as u32;
        let bits = MemorySemantics(self.constant(semantics)? as u32);
        let has = |wanted: MemorySemantics| bits.intersects(wanted);
        let both = has(MemorySemantics::ACQUIRE_RELEASE) || has(MemorySemantics::SEQUENTIALLY_CONSISTENT);
        if Scope::from_word(scope).is_none() {
            return self.invalid(format!("scope {scope}"));
        }
        let (acquire, release) = (both || has(MemorySemantics::ACQUIRE), both || has(MemorySemantics::RELEASE));
        let shares = |by: MemorySemantics| self.sharing != Sharing::Explicit || has(by);
        // "SubgroupMemory, CrossWorkgroupMemory, and AtomicCounterMemory are ignored" in shaders,
        // but not in kernels.
        let kernel = self.usage.model == Some(ExecutionModel::Kernel);
        let (visible, available) = (shares(MemorySemantics::MAKE_VISIBLE), shares(MemorySemantics::MAKE_AVAILABLE));
        Ok(Order {
            scope,
            acquire: acquire && visible,
            release: release && available,
            partial: (acquire && !visible) || (release && !available),
            buffers: has(MemorySemantics::UNIFORM_MEMORY) || (kernel && has(MemorySemantics::CROSS_WORKGROUP_MEMORY)),
            images: has(MemorySemantics::IMAGE_MEMORY),
            workgroup: has(MemorySemantics::WORKGROUP_MEMORY),
        })
    }

    /// The float operation of an atomic sum of floats.
    fn sum_of_floats(&mut self, i: Instruction, fmt: Fmt) -> Result<u32> {
        let result = self.result(i)?;
        let modes = self.modes(i.result().unwrap_or_default(), &[result.ty])?;
        let call = Call::new(Row::AtomicFAddEXT, Scalar::Float(fmt.format()), Shape::Scalar, None, modes);
        let call = call.or_else(|error| self.unsupported(error.to_string()))?;
        let float_op = self.float_ops.add(call, None);
        float_op.map_or_else(|| self.unsupported(Row::AtomicFAddEXT.name()), Ok)
    }

    pub(super) fn atomic(&mut self, i: Instruction, op: Op) -> Result {
        let (pointer, pointee) = self.pointer(i, 0)?;
        let Layout::Scalar(kind) = *pointee.layout else { return self.invalid("an atomic operation on a composite") };
        let (scope, semantics) = (self.word(i, 1)?, self.word(i, 2)?);
        let order = self.order(scope, semantics)?;
        let dst = if i.result().is_some() { Some(self.result(i)?.reg) } else { None };
        let Some(does) = AtomicOp::of(op) else { return self.unsupported(op.name()) };
        let args = match (op, does) {
            (Op::AtomicIIncrement | Op::AtomicIDecrement, _) => {
                let one = self.registers([kind])?;
                self.set(one, &[1]);
                [one, 0]
            }
            (_, AtomicOp::Load) => [0, 0],
            (_, AtomicOp::CompareExchange) => [self.operand(i, 4)?.reg, self.operand(i, 5)?.reg],
            _ => [self.operand(i, 3)?.reg, 0],
        };
        if pointee.is_local() {
            return self.invalid("an atomic operation on memory of one invocation");
        }
        let physical = pointee.class == StorageClass::PhysicalStorageBuffer;
        let float_op = match (does, kind) {
            (AtomicOp::FAdd, Kind::Float(fmt)) => Some(self.sum_of_floats(i, fmt)?),
            (AtomicOp::FAdd, _) => return self.invalid("a sum of floats of other numbers"),
            _ => None,
        };
        let relaxed = i.result().is_some_and(|result| self.is_relaxed(result));
        self.emit(Inst::Atomic { op: does, kind, float_op, dst, pointer: pointer.reg, args, order, physical, relaxed });
        Ok(())
    }
}

/// Rules by which a module makes the stores of one invocation visible to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Implicit: all accesses are non-private, and barriers make the memory that they order
    /// available and visible.
    Implied,
    /// The Vulkan memory model: accesses are declared non-private, and barriers declare
    /// availability and visibility operations.
    Explicit,
    /// As [`Sharing::Explicit`], with accesses that have availability or visibility operations of
    /// their own: memory that a barrier orders is assumed to be visible.
    ByAccess,
}

impl Sharing {
    pub(super) fn of(module: &Module) -> Sharing {
        let model = module.section(Section::MemoryModel).next().and_then(|i| i.operand(1));
        if model != Some(MemoryModel::Vulkan.word()) {
            return Sharing::Implied;
        }
        let shares = MemoryAccess(MemoryAccess::MAKE_POINTER_AVAILABLE.0 | MemoryAccess::MAKE_POINTER_VISIBLE.0);
        let by_access = module.instructions().any(|i| {
            let mut by_itself = false;
            let read = module.operands(i, |operand| {
                let mask = MemoryAccess(i.words[operand.at]);
                by_itself |= operand.kind == OperandKind::MemoryAccess && mask.intersects(shares);
            });
            read.is_ok() && by_itself
        });
        if by_access { Sharing::ByAccess } else { Sharing::Explicit }
    }

    /// Returns true if an access with these memory operands is private: "for private memory
    /// operations to be Location-Ordered between distinct agents requires using
    /// system-synchronizes-with rather than shader-based synchronization".
    fn is_private(self, access: &[u32]) -> bool {
        let shared = access.first().is_some_and(|mask| MemoryAccess(*mask).contains(MemoryAccess::NON_PRIVATE_POINTER));
        self != Sharing::Implied && !shared
    }
}

/// Returns the number of words of a mask of memory operands, with the operands of its bits.
fn operands_of(access: &[u32]) -> usize {
    let Some(mask) = access.first() else { return 0 };
    let bits = MEMORY_ACCESS.iter().filter(|bit| bit.value != 0 && mask & bit.value == bit.value);
    1 + bits.map(|bit| bit.parameters.len()).sum::<usize>()
}

/// The alignment that a physical access states; `None` for logical pointers.
fn alignment(pointee: &Pointee, access: &[u32]) -> Option<u32> {
    if pointee.class != StorageClass::PhysicalStorageBuffer {
        return None;
    }
    let aligned = access.first().is_some_and(|word| MemoryAccess(*word).contains(MemoryAccess::ALIGNED));
    Some(if aligned { access.get(1).copied().unwrap_or(1) } else { 1 })
}
