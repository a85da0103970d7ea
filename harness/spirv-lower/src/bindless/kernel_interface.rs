//! Lowering of a kernel's types, constants, variables and parameters.

use super::builder::Code;
use super::{LowerError, Pass};
use assay_spirv::kernel_call::Argument;
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{BuiltIn, Capability, Decoration, Op, StorageClass};

/// Origin of a pointer of the kernel.
#[derive(Clone, Copy)]
pub(super) struct PointerOrigin {
    /// The storage buffer.
    pub(super) buffer: u32,
    /// Index of the array element that it points to, as an id of 32 bits; `None` for the first.
    pub(super) element: Option<u32>,
    /// Set if it points to a part of an element.
    pub(super) inside: bool,
}

/// A built-in in Vulkan.
#[derive(Clone, Copy)]
pub(super) struct BuiltInVariable {
    /// The type of its variable's value.
    pub(super) ty: u32,
}

/// A parameter that is a value, passed in the push constants.
pub(super) struct ValueParameter {
    id: u32,
    ty: u32,
    offset: u32,
}

impl Pass<'_> {
    /// Converts types, constants and module-scope variables, in order.
    pub(super) fn globals(&mut self) -> Result<(), LowerError> {
        // These precede all declarations that may refer to them.
        self.builder.void();
        self.builder.bool();
        self.builder.uint(32);
        let module = self.builder.module;
        for i in module.section(Section::Globals) {
            let (Some(op), Some(id)) = (i.op, i.result()) else { continue };
            self.global(i, op, id)?;
        }
        Ok(())
    }

    fn global(&mut self, i: Instruction<'_>, op: Op, id: u32) -> Result<(), LowerError> {
        let module = self.builder.module;
        let refused = |what: String| Err(LowerError::at(i, what));
        let operands = self.operands(i);
        match (op, i.operands()) {
            (Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage, _) => {
                let uint = self.builder.uint(32);
                self.builder.replace_id(id, uint);
            }
            (Op::TypeInt, [width, _]) => {
                match width {
                    64 => self.builder.capability(Capability::Int64),
                    32 => {}
                    width => return refused(format!("an integer type of {width} bits")),
                }
                self.builder.declare_as(op, &operands, Some(id));
            }
            (Op::TypeFloat, [width, ..]) => {
                match width {
                    64 => self.builder.capability(Capability::Float64),
                    32 => {}
                    width => return refused(format!("a floating-point type of {width} bits")),
                }
                self.builder.declare_as(op, &operands, Some(id));
            }
            (Op::TypeVector, [_, count]) if *count > 4 => return refused("a vector of more than 4 components".into()),
            (Op::TypeVoid | Op::TypeBool | Op::TypeVector | Op::TypeFunction, _) => {
                // The type of the kernel's function refers to pointers that are removed, so only
                // the kernel's function may have it.
                let own = module.function(self.function).is_some_and(|f| {
                    let start = module.instructions_in(f.instructions.clone()).next();
                    start.and_then(|start| start.operand(1)) == Some(id)
                });
                if !own {
                    self.builder.declare_as(op, &operands, Some(id));
                }
            }
            (Op::TypeArray | Op::TypeStruct, _) => self.builder.global(op, &operands, id),
            (Op::TypePointer, [class, _]) => match StorageClass::from_word(*class) {
                Some(StorageClass::CrossWorkgroup) => {
                    if let Some((_, Some(to))) = module.type_declared(id).and_then(|ty| module.pointer(ty)) {
                        self.lay_out(i, to)?;
                    }
                    self.builder.global(op, &[StorageClass::StorageBuffer.word(), operands[1]], id);
                }
                Some(StorageClass::Function | StorageClass::Private) => self.builder.global(op, &operands, id),
                // Pointers to built-ins, whose variables are declared anew.
                Some(StorageClass::Input) => {}
                other => {
                    let class = other.map_or("an unknown storage class", StorageClass::name);
                    return refused(format!("a pointer to {class}"));
                }
            },
            (Op::Variable, [class, ..]) if *class == StorageClass::Input.word() => self.built_in(i, id)?,
            (Op::Variable, [class, ..]) => {
                let class = StorageClass::from_word(*class).map_or("an unknown storage class", StorageClass::name);
                return refused(format!("a variable of storage class {class}"));
            }
            (
                Op::Constant
                | Op::ConstantTrue
                | Op::ConstantFalse
                | Op::ConstantComposite
                | Op::ConstantNull
                | Op::Undef
                | Op::SpecConstant
                | Op::SpecConstantTrue
                | Op::SpecConstantFalse
                | Op::SpecConstantComposite,
                _,
            ) => {
                let ty = i.result_type().and_then(|ty| module.type_declared(ty)).map(|ty| module.ty(ty));
                if matches!(ty, Some(Type::Pointer { .. } | Type::Image(_) | Type::SampledImage { .. } | Type::Sampler))
                {
                    return refused(format!("{op} of a pointer, an image or a sampler"));
                }
                let mut all = vec![self.builder.resolve(i.result_type().unwrap_or_default())];
                all.extend(operands);
                self.builder.global(op, &all, id);
            }
            _ => return refused(op.name().to_owned()),
        }
        Ok(())
    }

    /// Returns the operands of an instruction, with ids replaced.
    fn operands(&self, i: Instruction<'_>) -> Vec<u32> {
        let skip = i.words.len() - i.operands().len();
        self.builder.rewritten(i).split_off(skip)
    }

    /// Returns size and alignment in bytes of a type in a kernel's memory, by the layout rules of
    /// C; `None` for unsupported types.
    fn size(&self, ty: TypeId, inside: bool) -> Option<(u32, u32)> {
        let module = self.builder.module;
        Some(match *module.ty(ty) {
            Type::Int { width: width @ (32 | 64), .. } | Type::Float { width: width @ (32 | 64), .. } => {
                (width / 8, width / 8)
            }
            // Vectors are aligned to their size.
            Type::Vector { component, count: count @ (2 | 4) } if !inside => {
                let (size, _) = self.size(component, false)?;
                (size * count, size * count)
            }
            Type::Array { element, length } => {
                let (size, align) = self.size(element, inside)?;
                let count = u32::try_from(module.constant_int(length)?).ok()?;
                (size.checked_next_multiple_of(align)?.checked_mul(count)?, align)
            }
            Type::Struct { .. } => {
                let (mut end, mut widest) = (0u32, 1);
                for member in module.members(ty) {
                    let (size, align) = self.size(*member, true)?;
                    end = end.checked_next_multiple_of(align)?.checked_add(size)?;
                    widest = widest.max(align);
                }
                (end.checked_next_multiple_of(widest)?, widest)
            }
            _ => return None,
        })
    }

    /// Decorates a type that a pointer of the kernel refers to with its layout.
    fn lay_out(&mut self, i: Instruction<'_>, ty: TypeId) -> Result<(), LowerError> {
        let module = self.builder.module;
        let Some(_) = self.size(ty, false) else {
            let what = "a pointer to memory with vectors of 3, vectors in structures, or types without a size";
            return Err(LowerError::at(i, what));
        };
        let word = module.type_definition(ty).result().unwrap_or_default();
        if self.laid_out.insert(word) {
            match *module.ty(ty) {
                Type::Array { element, .. } => {
                    let (size, align) = self.size(element, false).unwrap_or((0, 1));
                    self.builder.decorate(word, Decoration::ArrayStride, &[size.next_multiple_of(align)]);
                    self.lay_out(i, element)?;
                }
                Type::Struct { .. } => {
                    let mut end = 0u32;
                    for (n, member) in (0u32..).zip(module.members(ty)) {
                        let (size, align) = self.size(*member, true).unwrap_or((0, 1));
                        let at = end.next_multiple_of(align);
                        self.builder.decorate_member(word, n, Decoration::Offset, &[at]);
                        end = at + size;
                        self.lay_out(i, *member)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn built_in(&mut self, i: Instruction<'_>, id: u32) -> Result<(), LowerError> {
        let module = self.builder.module;
        let word = module.decorations(id).find(|d| d.decoration == Some(Decoration::BuiltIn));
        let built_in = word.and_then(|d| BuiltIn::from_word(*d.operands.first()?));
        let uint = self.builder.uint(32);
        let ty = match built_in {
            Some(
                BuiltIn::GlobalInvocationId
                | BuiltIn::LocalInvocationId
                | BuiltIn::WorkgroupId
                | BuiltIn::NumWorkgroups,
            ) => self.builder.vector(uint, 3),
            Some(BuiltIn::LocalInvocationIndex) => uint,
            other => {
                let name = other.map_or("unknown", BuiltIn::name);
                return Err(LowerError::at(i, format!("an input whose built-in is {name}")));
            }
        };
        let variable = self.builder.variable(StorageClass::Input, ty, Some(id));
        if let Some(built_in) = built_in {
            self.builder.decorate(variable, Decoration::BuiltIn, &[built_in.word()]);
        }
        self.built.insert(id, BuiltInVariable { ty });
        Ok(())
    }

    /// Converts the kernel's parameters: pointers to storage buffers, values to members of the push
    /// constants.
    pub(super) fn parameters(&mut self) -> Result<(), LowerError> {
        let module = self.builder.module;
        let Some(function) = module.function(self.function) else { return Ok(()) };
        let all = module.instructions_in(function.parameters.clone());
        let all: Vec<Instruction<'_>> = all.filter(|i| i.op == Some(Op::FunctionParameter)).collect();
        let call = self.call;
        if all.len() != call.arguments.len() {
            let (given, wanted) = (call.arguments.len(), all.len());
            return Err(LowerError::InvalidCall(format!("{given} arguments for a kernel with {wanted} parameters")));
        }
        for (i, argument) in all.into_iter().zip(&call.arguments) {
            let (Some(id), Some(ty)) = (i.result(), i.result_type().and_then(|ty| module.type_declared(ty))) else {
                continue;
            };
            let pointee = match *module.ty(ty) {
                Type::Pointer { class: StorageClass::CrossWorkgroup, pointee } => pointee,
                Type::Int { .. } | Type::Float { .. } | Type::Vector { .. } => None,
                _ => {
                    return Err(LowerError::at(
                        i,
                        "a parameter that is neither a value nor a pointer to global memory",
                    ));
                }
            };
            match (pointee, *argument) {
                (Some(pointee), Argument::Buffer { set, binding }) => self.buffer(id, pointee, (set, binding)),
                (None, Argument::Value { offset }) if self.size(ty, false).is_some() => {
                    let ty = i.result_type().map_or(0, |ty| self.builder.resolve(ty));
                    self.values.push(ValueParameter { id, ty, offset });
                }
                _ => return Err(LowerError::at(i, format!("{argument:?} for this parameter"))),
            }
        }
        self.push_constants();
        Ok(())
    }

    /// Declares a storage buffer under the parameter's id.
    fn buffer(&mut self, id: u32, pointee: TypeId, (set, binding): (u32, u32)) {
        let module = self.builder.module;
        let element = module.type_definition(pointee).result().map_or(0, |word| self.builder.resolve(word));
        let (size, align) = self.size(pointee, false).unwrap_or((4, 4));
        let array = self.builder.id();
        self.builder.global(Op::TypeRuntimeArray, &[element], array);
        self.builder.decorate(array, Decoration::ArrayStride, &[size.next_multiple_of(align)]);
        let block = self.builder.id();
        self.builder.global(Op::TypeStruct, &[array], block);
        self.builder.decorate(block, Decoration::Block, &[]);
        self.builder.decorate_member(block, 0, Decoration::Offset, &[0]);
        let variable = self.builder.variable(StorageClass::StorageBuffer, block, Some(id));
        self.builder.bind(variable, set, binding);
        // Pointers of a kernel may point to the same memory.
        self.builder.decorate(variable, Decoration::Aliased, &[]);
        self.origins.insert(id, PointerOrigin { buffer: variable, element: None, inside: false });
    }

    fn push_constants(&mut self) {
        self.values.sort_by_key(|value| value.offset);
        if self.values.is_empty() {
            return;
        }
        let types: Vec<u32> = self.values.iter().map(|value| value.ty).collect();
        let block = self.builder.id();
        self.builder.global(Op::TypeStruct, &types, block);
        self.builder.decorate(block, Decoration::Block, &[]);
        let offsets: Vec<u32> = self.values.iter().map(|value| value.offset).collect();
        for (member, offset) in (0..).zip(offsets) {
            self.builder.decorate_member(block, member, Decoration::Offset, &[offset]);
        }
        let variable = self.builder.variable(StorageClass::PushConstant, block, None);
        self.builder.name(variable, "arguments");
        self.push = Some(variable);
    }

    /// Loads the parameters that are values, under their ids.
    pub(super) fn load_values(&mut self, code: &mut Code) {
        let Some(push) = self.push else { return };
        let values: Vec<(u32, u32)> = self.values.iter().map(|value| (value.id, value.ty)).collect();
        for (member, (id, ty)) in (0..).zip(values) {
            let pointer = self.builder.pointer(StorageClass::PushConstant, ty);
            let member = self.builder.number(member);
            let at = code.op(&mut self.builder, Op::AccessChain, pointer, &[push, member]);
            code.op_as(Op::Load, ty, id, &[at]);
            self.builder.define(id);
        }
    }

    /// Copies the names and decorations of ids that still exist.
    pub(super) fn annotations(&mut self) -> Result<(), LowerError> {
        let module = self.builder.module;
        let names = module.names();
        for i in module.section(Section::Names).filter(|i| i.op == Some(Op::Name)) {
            let Some(id) = i.operand(0).filter(|id| self.builder.has(*id)) else { continue };
            if let Some(name) = names.of(id) {
                self.builder.name(id, &name);
            }
        }
        for (id, decorated) in module.all_decorations() {
            let Some(decoration) = decorated.decoration else {
                return Err(LowerError::at(decorated.instruction, "an unknown decoration"));
            };
            match decoration {
                // Built-ins are decorated already. The others only permit optimisations.
                Decoration::BuiltIn
                | Decoration::FuncParamAttr
                | Decoration::Alignment
                | Decoration::Constant
                | Decoration::LinkageAttributes
                | Decoration::Restrict
                | Decoration::Aliased
                | Decoration::NoSignedWrap
                | Decoration::NoUnsignedWrap => {}
                Decoration::NoContraction | Decoration::RelaxedPrecision | Decoration::SpecId => {
                    if self.builder.has(id) {
                        self.builder.decorate(id, decoration, decorated.operands);
                    }
                }
                other => return Err(LowerError::at(decorated.instruction, format!("decoration {}", other.name()))),
            }
        }
        Ok(())
    }
}
