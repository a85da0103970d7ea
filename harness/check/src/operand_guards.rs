//! Variant of a shader that has no undefined behaviour with any operands, on a device with robust
//! buffer access.
//!
//! Where Assay cannot determine the operands of an instruction, the shader may have undefined
//! behaviour, after which every result is right. In the variant each instruction that may have it
//! receives guarded operands:
//!
//! | instruction | guard |
//! |---|---|
//! | conversion from float to integer | 0 in place of a value that does not fit |
//! | integer division, remainder | 1 in place of a divisor of 0, and of -1 if the quotient overflows |
//! | access chain, dynamic vector component | index 0 in place of one beyond an array of fixed length, vector or matrix, or of one beyond 2 GiB of a runtime array, where offsets may wrap (VUID-RuntimeSpirv-None-10834) |
//! | `OpUnreachable` | the function returns |
//! | `NoSignedWrap`, `NoUnsignedWrap` | removed |
//!
//! Accesses beyond runtime arrays, texel buffers and images are the device's: `robustBufferAccess`
//! and `robustImageAccess` let them change nothing but the buffer itself.
//!
//! # Limits
//!
//! Guards exclude neither data races nor barriers in divergent control flow: atomic accesses do
//! ([`crate::atomic_accesses`]). Without memory by which invocations observe each other
//! ([`Communication`]) they suffice for code that was not interpreted, too. Physical pointers, pointer arithmetic, and runtime arrays of descriptors have
//! no guard.
//!
//! [`Communication`]: crate::communication::Communication

use assay_oracle::FaultKind;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::{Instruction, InstructionIndex, Type, TypeId};
use assay_spirv::reflect::{decoration, has_decoration};
use assay_spirv::tables::{Decoration, Op, StorageClass};

/// Returns whether the variant has no undefined behaviour of a kind, with robust access.
pub(crate) fn has_guard(kind: FaultKind) -> bool {
    use FaultKind::{Conversion, Division, OutOfBounds, Unreachable, Wrap};
    matches!(kind, Conversion | Division | OutOfBounds | Unreachable | Wrap)
}

/// Creates the variant. Its ids below the bound of the module are those of the module.
///
/// # Errors
/// An instruction has no guard.
pub(crate) fn guarded(module: &Module) -> Result<Module, String> {
    let mut guards = Guards { module, editor: Editor::new(module) };
    let decorations = module.instructions().filter(|i| i.op == Some(Op::Decorate));
    for i in decorations {
        let wrap = [Decoration::NoSignedWrap.word(), Decoration::NoUnsignedWrap.word()];
        if i.operand(1).is_some_and(|decoration| wrap.contains(&decoration)) {
            guards.editor.replace(i.at, Vec::new());
        }
    }
    for function in module.functions() {
        let returns = module.instruction(InstructionIndex(function.instructions.start)).result_type();
        for i in module.instructions_in(function.instructions.clone()) {
            let guarded = match i.op {
                Some(Op::ConvertFToS | Op::ConvertFToU) => guards.conversion(i)?,
                Some(Op::SDiv | Op::UDiv | Op::SRem | Op::SMod | Op::UMod) => guards.division(i)?,
                Some(Op::AccessChain | Op::InBoundsAccessChain) => guards.access_chain(i)?,
                Some(Op::VectorExtractDynamic) => guards.component(i, 1)?,
                Some(Op::VectorInsertDynamic) => guards.component(i, 2)?,
                Some(Op::Unreachable) => Some(guards.unreachable(returns)),
                Some(op) if ["PtrAccessChain", "Untyped", "RawAccess"].iter().any(|part| op.name().contains(part)) => {
                    return Err(format!("{} has no guard", op.name()));
                }
                _ => None,
            };
            if let Some(words) = guarded {
                guards.editor.replace(i.at, words);
            }
        }
    }
    Module::parse(guards.editor.finish()).map_err(|error| error.to_string())
}

/// Guards of a module.
struct Guards<'a> {
    module: &'a Module,
    editor: Editor<'a>,
}

impl Guards<'_> {
    /// Emits an instruction with a result; returns its id.
    fn emit(&mut self, code: &mut Vec<u32>, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.editor.id();
        code.extend(instruction(op, &[&[ty, id], operands].concat()));
        id
    }

    /// Returns the type of booleans, one for each component of `like`.
    fn booleans(&mut self, like: &ScalarOrVector) -> u32 {
        let bool = self.editor.bool();
        self.editor.vector(bool, like.count)
    }

    /// Returns a constant of 32 bits.
    fn word(&mut self, value: u32) -> u32 {
        let uint = self.editor.uint(32);
        self.editor.constant(uint, 32, value.into())
    }

    /// Returns a constant of an integer type with the same bits in each component.
    fn number(&mut self, like: &ScalarOrVector, bits: u64) -> u32 {
        let one = self.editor.constant(like.component, like.width, bits);
        self.editor.splat(like.ty, one, like.count)
    }

    /// Replaces an operand that is a NaN or does not fit by zero. The comparison is one of bits,
    /// because a NaN may be assumed not to occur.
    fn conversion(&mut self, i: Instruction<'_>) -> Result<Option<Vec<u32>>, String> {
        let no_guard = || format!("{} of this type has no guard", i.op.map_or("?", Op::name));
        let value = i.operand(0).ok_or_else(no_guard)?;
        let from = ScalarOrVector::of_value(self.module, value).filter(|from| from.kind == ComponentKind::Float);
        let to = i.result().and_then(|result| ScalarOrVector::of_value(self.module, result));
        let (from, to) = from.zip(to).ok_or_else(no_guard)?;
        let is_signed = i.op == Some(Op::ConvertFToS);
        // The values that fit are below this power of two.
        let exponent = u64::from(to.width) - u64::from(is_signed);
        let uint = self.editor.uint(32);
        let word = ScalarOrVector {
            ty: self.editor.vector(uint, from.count),
            component: uint,
            kind: ComponentKind::Int { signed: false },
            width: 32,
            count: from.count,
        };
        let mut code = Vec::new();
        let (bits, limit) = match from.width {
            64 if from.count == 1 => {
                let pair = self.editor.vector(uint, 2);
                let words = self.emit(&mut code, Op::Bitcast, pair, &[value]);
                (self.emit(&mut code, Op::CompositeExtract, uint, &[words, 1]), (1023 + exponent) << 20)
            }
            16 | 32 => {
                let single = self.editor.float(32);
                let wide = self.editor.vector(single, from.count);
                let value = match from.width {
                    16 => self.emit(&mut code, Op::FConvert, wide, &[value]),
                    _ => value,
                };
                (self.emit(&mut code, Op::Bitcast, word.ty, &[value]), (127 + exponent) << 23)
            }
            _ => return Err(no_guard()),
        };
        let bits = match is_signed {
            true => {
                let magnitude = self.number(&word, 0x7fff_ffff);
                self.emit(&mut code, Op::BitwiseAnd, word.ty, &[bits, magnitude])
            }
            false => bits,
        };
        let (limit, booleans) = (self.number(&word, limit), self.booleans(&word));
        let fits = self.emit(&mut code, Op::ULessThan, booleans, &[bits, limit]);
        let zero = self.editor.null(from.ty);
        let guarded = self.emit(&mut code, Op::Select, from.ty, &[fits, value, zero]);
        code.extend(with_operand(i, 0, guarded));
        Ok(Some(code))
    }

    /// Replaces a divisor of 0, and one of -1 if the quotient overflows.
    fn division(&mut self, i: Instruction<'_>) -> Result<Option<Vec<u32>>, String> {
        let no_guard = || format!("{} of this type has no guard", i.op.map_or("?", Op::name));
        let [dividend, divisor] = *i.operands() else { return Err(no_guard()) };
        let of = ScalarOrVector::of_value(self.module, divisor).ok_or_else(no_guard)?;
        let is_harmless = |id: u32| {
            let is_specialised = self.module.definition_of(id).is_some_and(|made| made.op == Some(Op::SpecConstant));
            let bits = self.module.constant_int(id).map(|value| value << (64 - of.width) >> (64 - of.width));
            !is_specialised && bits.is_some_and(|value| value != 0 && value != -1)
        };
        let made = self.module.definition_of(divisor).ok_or_else(no_guard)?;
        if is_harmless(divisor)
            || made.op == Some(Op::ConstantComposite) && made.operands().iter().all(|part| is_harmless(*part))
        {
            return Ok(None);
        }
        let mut code = Vec::new();
        let booleans = self.booleans(&of);
        let (zero, one) = (self.number(&of, 0), self.number(&of, 1));
        let mut refused = self.emit(&mut code, Op::IEqual, booleans, &[divisor, zero]);
        if matches!(i.op, Some(Op::SDiv | Op::SRem | Op::SMod)) {
            let (least, minus_one) = (self.number(&of, 1 << (of.width - 1)), self.number(&of, u64::MAX));
            let negates = self.emit(&mut code, Op::IEqual, booleans, &[divisor, minus_one]);
            let is_least = self.emit(&mut code, Op::IEqual, booleans, &[dividend, least]);
            let overflows = self.emit(&mut code, Op::LogicalAnd, booleans, &[negates, is_least]);
            refused = self.emit(&mut code, Op::LogicalOr, booleans, &[refused, overflows]);
        }
        let guarded = self.emit(&mut code, Op::Select, of.ty, &[refused, one, divisor]);
        code.extend(with_operand(i, 1, guarded));
        Ok(Some(code))
    }

    /// Guards the indices of an access chain into arrays of fixed length, vectors and matrices.
    fn access_chain(&mut self, i: Instruction<'_>) -> Result<Option<Vec<u32>>, String> {
        let no_guard = || format!("{} of this type has no guard", i.op.map_or("?", Op::name));
        let base = i.operand(0).and_then(|base| self.module.pointer(self.module.type_of(base)?));
        let Some((class, Some(mut ty))) = base else { return Err(no_guard()) };
        if class == StorageClass::PhysicalStorageBuffer {
            return Err("a physical pointer has no guard".to_owned());
        }
        let (mut code, mut words) = (Vec::new(), i.words.to_vec());
        for (k, &index) in i.operands().iter().enumerate().skip(1) {
            let constant = self.module.constant_int(index);
            let length = match *self.module.ty(ty) {
                _ if constant.is_some() => None,
                Type::Array { length, .. } => Some(length),
                Type::RuntimeArray { element } if self.is_descriptor(class, element) => {
                    return Err("a runtime array of descriptors has no guard".to_owned());
                }
                Type::RuntimeArray { .. } => {
                    let declared = self.module.type_definition(ty).result().unwrap_or_default();
                    let stride = decoration(self.module, declared, Decoration::ArrayStride).ok_or_else(no_guard)?;
                    Some(self.word((1 << 31) / stride.max(1)))
                }
                Type::Vector { count, .. } | Type::Matrix { count, .. } => Some(self.word(count)),
                _ => None,
            };
            if let Some(length) = length {
                let guarded = self.index(&mut code, index, length).ok_or_else(no_guard)?;
                // The operands follow the type and the result.
                words[3 + k] = guarded;
            }
            ty = self.element(ty, constant).ok_or_else(no_guard)?;
        }
        if code.is_empty() {
            return Ok(None);
        }
        code.extend(words);
        Ok(Some(code))
    }

    /// Returns the type of an element.
    fn element(&self, ty: TypeId, index: Option<i64>) -> Option<TypeId> {
        match *self.module.ty(ty) {
            Type::Array { element, .. } | Type::RuntimeArray { element } => Some(element),
            Type::Vector { component, .. } => Some(component),
            Type::Matrix { column, .. } => Some(column),
            Type::Struct { .. } => self.module.members(ty).get(usize::try_from(index?).ok()?).copied(),
            _ => None,
        }
    }

    /// Returns true if objects of this type are descriptors.
    fn is_descriptor(&self, class: StorageClass, ty: TypeId) -> bool {
        let declared = self.module.type_definition(ty).result().unwrap_or_default();
        let is_block = |wanted| has_decoration(self.module, declared, wanted);
        class == StorageClass::UniformConstant || is_block(Decoration::Block) || is_block(Decoration::BufferBlock)
    }

    /// Guards the component index of a vector, which is the given operand.
    fn component(&mut self, i: Instruction<'_>, operand: usize) -> Result<Option<Vec<u32>>, String> {
        let no_guard = || format!("{} of this type has no guard", i.op.map_or("?", Op::name));
        let vector = i.operand(0).and_then(|vector| ScalarOrVector::of_value(self.module, vector));
        let (vector, index) = vector.zip(i.operand(operand)).ok_or_else(no_guard)?;
        let length = self.word(vector.count);
        let mut code = Vec::new();
        let guarded = self.index(&mut code, index, length).ok_or_else(no_guard)?;
        code.extend(with_operand(i, operand, guarded));
        Ok(Some(code))
    }

    /// Emits an index that is 0 in place of one that is not below `length`, a constant of 32 bits;
    /// `None` if the index has another width.
    fn index(&mut self, code: &mut Vec<u32>, index: u32, length: u32) -> Option<u32> {
        let of = ScalarOrVector::of_value(self.module, index).filter(|of| of.width == 32)?;
        if ScalarOrVector::of_value(self.module, length).is_some_and(|length| length.width != 32) {
            return None;
        }
        let (bool, zero) = (self.editor.bool(), self.editor.constant(of.ty, 32, 0));
        let is_inside = self.emit(code, Op::ULessThan, bool, &[index, length]);
        let guarded = self.emit(code, Op::Select, of.ty, &[is_inside, index, zero]);
        if self.module.decorations(index).any(|d| d.decoration == Some(Decoration::NonUniform)) {
            self.editor.annotate(Op::Decorate, &[guarded, Decoration::NonUniform.word()]);
        }
        Some(guarded)
    }

    /// Returns from a function of the given type.
    fn unreachable(&mut self, returns: Option<u32>) -> Vec<u32> {
        let is_void = |ty: &u32| self.module.type_declared(*ty).is_none_or(|ty| *self.module.ty(ty) == Type::Void);
        match returns.filter(|ty| !is_void(ty)) {
            Some(ty) => {
                let null = self.editor.null(ty);
                instruction(Op::ReturnValue, &[null])
            }
            None => instruction(Op::Return, &[]),
        }
    }
}

/// Returns the words of an instruction with a type and a result, with another operand.
fn with_operand(i: Instruction<'_>, operand: usize, id: u32) -> Vec<u32> {
    let mut words = i.words.to_vec();
    words[3 + operand] = id;
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::{Buffer, Dispatch, Limits, Program, Resource, Robustness, Slot, SpecValues};
    use assay_testkit::{Shader, spirv_val};
    use std::collections::BTreeSet;

    /// Every guarded instruction, with operands from memory.
    fn undefined() -> Module {
        let shader = Shader {
            buffers: &[("%out", "%ublocks"), ("%x", "%fblocks"), ("%y", "%ublocks")],
            decorations: "OpDecorate %sum NoSignedWrap",
            declared: "%three = OpConstant %uint 3
                %vec2 = OpTypeVector %float 2
                %ivec2 = OpTypeVector %int 2
                %row = OpTypeArray %vec2 %three
                %prow = OpTypePointer Function %row
                %plocal = OpTypePointer Function %float",
            body: "%local = OpVariable %prow Function
                %px = OpAccessChain %pfloat %x %zero %zero
                %f = OpLoad %float %px
                %p0 = OpAccessChain %puint %y %zero %zero
                %p1 = OpAccessChain %puint %y %zero %one
                %a0 = OpLoad %uint %p0
                %b0 = OpLoad %uint %p1
                %a = OpBitcast %int %a0
                %b = OpBitcast %int %b0
                %ff = OpCompositeConstruct %vec2 %f %f
                %to_int = OpConvertFToS %int %f
                %to_uint = OpConvertFToU %uint %f
                %to_ints = OpConvertFToS %ivec2 %ff
                %quotient = OpSDiv %int %a %b
                %remainder = OpSRem %int %a %b
                %unsigned = OpUDiv %uint %a0 %b0
                %sum = OpIAdd %int %a %b
                OpStore %local %null
                %place = OpInBoundsAccessChain %plocal %local %a %b0
                %element = OpLoad %float %place
                %component = OpVectorExtractDynamic %float %ff %a
                %po = OpAccessChain %puint %out %zero %a0
                OpStore %po %to_uint",
            ..Shader::DEFAULT
        };
        assay_testkit::spirv(&shader.text().replace("%plocal =", "%null = OpConstantNull %row\n%plocal ="))
    }

    fn faults(module: &Module, x: f32, y: [i32; 2]) -> BTreeSet<FaultKind> {
        let program = Program::new(module, "main", &SpecValues::default()).unwrap();
        let buffer = |data: Vec<u8>| Resource::Buffer(Buffer { data, address: None });
        let contents = [vec![0; 16], x.to_le_bytes().to_vec(), y.map(i32::to_le_bytes).concat()];
        let bindings = (0..).map(|binding| Slot::new(0, binding)).zip(contents.map(buffer)).collect();
        let dispatch = Dispatch { groups: [1; 3], bindings, robustness: Robustness::Access, ..Dispatch::default() };
        let outcome = program.run(&dispatch, &Limits::default()).unwrap();
        outcome.faults.iter().map(|fault| fault.kind).collect()
    }

    #[test]
    fn a_guarded_shader_has_no_undefined_behaviour() {
        let module = undefined();
        let guarded = guarded(&module).unwrap();
        if let Some(valid) = spirv_val(guarded.words(), &["--target-env", "vulkan1.3"]) {
            valid.unwrap();
        }
        let floats =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e30, 3e9, -0.5, 4_294_967_296.0, 2_147_483_648.0, 1.0];
        let integers = [0, -1, i32::MIN, i32::MAX, 1, 2, 3];
        let mut before = BTreeSet::new();
        for (x, y) in floats.iter().flat_map(|x| integers.map(|a| (*x, a))) {
            for z in integers {
                before.extend(faults(&module, x, [y, z]));
                assert_eq!(faults(&guarded, x, [y, z]), BTreeSet::new(), "{x} {y} {z}");
            }
        }
        use FaultKind::{Conversion, Division, Wrap};
        assert!([Conversion, Division, Wrap].iter().all(|kind| before.contains(kind)), "{before:?}");
    }

    /// What the instruction gives for operands that fit does not change.
    #[test]
    fn guards_keep_operands_that_fit() {
        let module = undefined();
        let guarded = guarded(&module).unwrap();
        let stored = |module: &Module, x: f32| {
            let program = Program::new(module, "main", &SpecValues::default()).unwrap();
            let buffer = |data: Vec<u8>| Resource::Buffer(Buffer { data, address: None });
            let contents = [vec![0; 4], x.to_le_bytes().to_vec(), [0u32, 1].map(u32::to_le_bytes).concat()];
            let bindings = (0..).map(|binding| Slot::new(0, binding)).zip(contents.map(buffer)).collect();
            let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
            program.run(&dispatch, &Limits::default()).unwrap().memory[&Slot::new(0, 0)].bytes().to_vec()
        };
        for x in [0.0, 0.75, 1.0, 2_147_483_520.0] {
            assert_eq!(stored(&guarded, x), stored(&module, x), "{x}");
            assert_eq!(stored(&guarded, x), (x as u32).to_le_bytes(), "{x}");
        }
    }
}
