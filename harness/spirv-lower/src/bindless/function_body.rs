//! Lowering of the instructions of functions.

use super::builder::Code;
use super::kernel_interface::PointerOrigin;
use super::{LowerError, Pass, is_plain};
use assay_spirv::kernel_call::HandleKind;
use assay_spirv::module::{Block, Flow, Function, Instruction, Merge, Type};
use assay_spirv::tables::{Capability, Decoration, MemoryAccess, Op, StorageClass};

impl Pass<'_> {
    pub(super) fn function(&mut self, function: &Function) -> Result<(), LowerError> {
        let module = self.builder.module;
        let kernel = function.id == self.function;
        self.structured(function)?;
        let mut code = Code::default();
        // Values are loaded after the variables, which must come first.
        let mut entered = !kernel;
        for i in module.instructions_in(function.instructions.clone()) {
            let Some(op) = i.op else { return Err(LowerError::at(i, "an unknown instruction")) };
            let first =
                matches!(op, Op::Function | Op::FunctionParameter | Op::Label | Op::Variable | Op::Line | Op::NoLine);
            if !entered && !first {
                self.load_values(&mut code);
                entered = true;
            }
            match op {
                Op::Function if kernel => {
                    let void = self.builder.void();
                    let ty = self.builder.declare(Op::TypeFunction, &[void]);
                    code.op_as(op, void, function.id, &[i.operand(0).unwrap_or_default(), ty]);
                    self.builder.define(function.id);
                }
                Op::FunctionParameter if kernel => {}
                _ => self.instruction(i, op, &mut code)?,
            }
        }
        self.builder.function(&code.words);
        Ok(())
    }

    /// Rejects control flow that Vulkan does not permit: conditional branches and switches without
    /// a merge instruction, unless they branch to a merge block or continue target.
    fn structured(&self, function: &Function) -> Result<(), LowerError> {
        let module = self.builder.module;
        let flow: Flow = module.flow(function);
        let blocks = || flow.order().iter().map(|block| module.block(*block));
        let mut ends: Vec<u32> = Vec::new();
        for merge in blocks().filter_map(|block| block.merge) {
            ends.push(module.block(merge.merge_block()).label);
            if let Merge::Loop { continue_target, .. } = merge {
                ends.push(module.block(continue_target).label);
            }
        }
        let decides = |block: &&Block| {
            let last = module.instruction(block.terminator());
            matches!(last.op, Some(Op::BranchConditional | Op::Switch))
        };
        let leaves = |block: &Block| module_targets(self, block).iter().any(|to| ends.contains(to));
        match blocks().filter(decides).find(|block| block.merge.is_none() && !leaves(block)) {
            Some(block) => Err(LowerError::at(module.instruction(block.terminator()), "unstructured control flow")),
            None => Ok(()),
        }
    }

    fn instruction(&mut self, i: Instruction<'_>, op: Op, code: &mut Code) -> Result<(), LowerError> {
        match op {
            Op::Line | Op::NoLine | Op::LifetimeStart | Op::LifetimeStop => return Ok(()),
            Op::ConvertHandleToImageINTEL => {
                return self.descriptors.convert(&mut self.builder, i, HandleKind::Image, code);
            }
            Op::ConvertHandleToSamplerINTEL => {
                return self.descriptors.convert(&mut self.builder, i, HandleKind::Sampler, code);
            }
            Op::ConvertHandleToSampledImageINTEL => {
                return self.descriptors.convert(&mut self.builder, i, HandleKind::SampledImage, code);
            }
            Op::SampledImage => return self.descriptors.combine(i),
            Op::Image => return self.descriptors.extract_image(&mut self.builder, i),
            Op::ImageRead
            | Op::ImageFetch
            | Op::ImageWrite
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels => return self.descriptors.image_instruction(&mut self.builder, i, op, code),
            Op::Load | Op::Store => return self.access(i, op, code),
            Op::AccessChain | Op::InBoundsAccessChain => return self.chain(i, false, code),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => return self.chain(i, true, code),
            Op::CopyObject if self.is_global(i.operand(0)) => {
                if let (Some(result), Some(from)) = (i.result(), i.operand(0)) {
                    if let Some(origin) = self.origins.get(&from).copied() {
                        self.origins.insert(result, origin);
                    }
                    self.builder.replace_id(result, from);
                }
                return Ok(());
            }
            _ => {}
        }
        let module = self.builder.module;
        let own = op.info().capabilities;
        if !own.is_empty() && !own.iter().any(|c| matches!(c, Capability::Shader | Capability::Matrix)) {
            return Err(LowerError::at(i, op.name()));
        }
        if matches!(op, Op::ExtInst | Op::ControlBarrier | Op::MemoryBarrier) {
            return Err(LowerError::at(i, format!("{op} of a kernel")));
        }
        let ids = module.id_operands(i);
        // Declarations refer to types, all other instructions to values.
        let pointer = |word: &u32| self.is_global(Some(*word)) || self.built.contains_key(word);
        if ids.iter().any(pointer) || i.result().is_some_and(|word| self.is_global(Some(word))) {
            return Err(LowerError::at(i, format!("a pointer to global memory or to a built-in in {op}")));
        }
        if ids.contains(&self.function) {
            return Err(LowerError::at(i, "a call of the kernel itself"));
        }
        if ids.iter().any(|word| self.descriptors.lacks_number(*word)) {
            return Err(LowerError::at(i, format!("an image separated from its handle in {op}")));
        }
        code.words.extend(self.builder.rewritten(i));
        if let Some(result) = i.result() {
            self.builder.define(result);
            if !self.contracts && contracts(op) {
                self.builder.decorate(result, Decoration::NoContraction, &[]);
            }
        }
        Ok(())
    }

    /// Returns true if an id is a pointer to global memory.
    fn is_global(&self, word: Option<u32>) -> bool {
        let module = self.builder.module;
        let ty = word.and_then(|word| module.type_of(word)).map(|ty| module.ty(ty));
        matches!(ty, Some(Type::Pointer { class: StorageClass::CrossWorkgroup, .. }))
    }

    /// Lowers a load or a store. Alignment operands are dropped: logical pointers do not need them.
    fn access(&mut self, i: Instruction<'_>, op: Op, code: &mut Code) -> Result<(), LowerError> {
        let Some(pointer) = i.operand(0) else { return Err(LowerError::at(i, "an access without a pointer")) };
        let module = self.builder.module;
        if let (Some(built), Op::Load, Some(result)) = (self.built.get(&pointer).copied(), op, i.result()) {
            return self.load_built_in(i, (pointer, built.ty), result, code);
        }
        if self.is_global(i.result()) || (op == Op::Store && self.is_global(i.operand(1))) {
            return Err(LowerError::at(i, "a pointer to global memory that is stored in memory"));
        }
        let mut words = self.builder.rewritten(i);
        let fixed = if op == Op::Load { 4 } else { 3 };
        let kept = MemoryAccess::VOLATILE.0 | MemoryAccess::NONTEMPORAL.0;
        let mask = words.get(fixed).map_or(0, |mask| mask & kept);
        words.truncate(fixed);
        words.extend((mask != 0).then_some(mask));
        words[0] = (words.len() as u32) << 16 | op as u32;
        if let Some(origin) = self.origins.get(&pointer).copied().filter(|origin| origin.element.is_none()) {
            // The pointer is the parameter itself: the first element.
            let ty = module.type_of(pointer).and_then(|ty| module.type_definition(ty).result()).unwrap_or_default();
            let zero = self.builder.number(0);
            let at = code.op(&mut self.builder, Op::AccessChain, ty, &[origin.buffer, zero, zero]);
            words[fixed - if op == Op::Load { 1 } else { 2 }] = at;
        } else if self.is_global(Some(pointer)) && !self.origins.contains_key(&pointer) {
            return Err(LowerError::at(i, "a pointer to global memory of unknown origin"));
        }
        if let Some(result) = i.result() {
            self.builder.define(result);
        }
        code.words.extend(words);
        Ok(())
    }

    /// Loads a built-in, extended if it has 64 bits in the kernel.
    fn load_built_in(
        &mut self,
        i: Instruction<'_>,
        (pointer, ty): (u32, u32),
        result: u32,
        code: &mut Code,
    ) -> Result<(), LowerError> {
        let wanted = i.result_type().map_or(0, |ty| self.builder.resolve(ty));
        self.builder.define(result);
        if wanted == ty {
            code.op_as(Op::Load, ty, result, &[pointer]);
        } else {
            let loaded = code.op(&mut self.builder, Op::Load, ty, &[pointer]);
            code.op_as(Op::UConvert, wanted, result, &[loaded]);
        }
        Ok(())
    }

    /// Lowers an access chain. `element`: its first index counts whole pointees, as in
    /// `OpPtrAccessChain`.
    fn chain(&mut self, i: Instruction<'_>, element: bool, code: &mut Code) -> Result<(), LowerError> {
        let module = self.builder.module;
        let (Some(result), Some(ty), [base, indices @ ..]) = (i.result(), i.result_type(), i.operands()) else {
            return Err(LowerError::at(i, "an access chain without operands"));
        };
        if self.built.contains_key(base) {
            return Err(LowerError::at(i, "a pointer into a built-in"));
        }
        let (first, rest) = match (element, indices) {
            (true, [first, rest @ ..]) => (Some(*first), rest),
            (true, []) => return Err(LowerError::at(i, "an access chain without an element index")),
            (false, rest) => (None, rest),
        };
        let ty = self.builder.resolve(ty);
        let Some(origin) = self.origins.get(base).copied() else {
            let none = |word| is_plain(module, word) && module.constant_int(word) == Some(0);
            if self.is_global(Some(*base)) || first.is_some_and(|word| !none(word)) {
                return Err(LowerError::at(i, "pointer arithmetic on a pointer of unknown origin"));
            }
            let mut operands = vec![self.builder.resolve(*base)];
            for index in rest {
                operands.push(self.index(code, *index));
            }
            code.op_as(Op::AccessChain, ty, result, &operands);
            self.builder.define(result);
            return Ok(());
        };
        let at = match (first, origin.element) {
            (None, element) => element,
            (Some(_), _) if origin.inside => {
                return Err(LowerError::at(i, "pointer arithmetic from inside an element of global memory"));
            }
            (Some(first), None) => Some(self.index(code, first)),
            (Some(first), Some(before)) => {
                let (uint, first) = (self.builder.uint(32), self.index(code, first));
                Some(code.op(&mut self.builder, Op::IAdd, uint, &[before, first]))
            }
        };
        let mut operands = match (origin.inside, at) {
            // A pointer inside an element is used directly as the base.
            (true, _) => vec![self.builder.resolve(*base)],
            (false, at) => {
                let zero = self.builder.number(0);
                vec![origin.buffer, zero, at.unwrap_or(zero)]
            }
        };
        for index in rest {
            operands.push(self.index(code, *index));
        }
        code.op_as(Op::AccessChain, ty, result, &operands);
        self.builder.define(result);
        let zero = self.builder.number(0);
        let element = Some(at.unwrap_or(zero));
        self.origins.insert(result, PointerOrigin { element, inside: origin.inside || !rest.is_empty(), ..origin });
        Ok(())
    }
}

fn module_targets(pass: &Pass<'_>, block: &Block) -> Vec<u32> {
    pass.builder.module.targets(block)
}

/// Returns true if the operation can be contracted.
fn contracts(op: Op) -> bool {
    matches!(
        op,
        Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::VectorTimesScalar | Op::Dot
    )
}
