//! Provenance of a value: the scalars of push constants and buffers that it is computed from.
//!
//! A static backward slice (Weiser, "Program Slicing", ICSE 1981) over the def-use edges of the
//! module. It deviates in two ways:
//!
//! * It is insensitive to flow: a load from a variable of a function, of an invocation or of a
//!   workgroup depends on every store to that variable.
//! * Control dependence is coarse: a fault depends on the condition of every branch in the function
//!   that contains it, at a lower rank ([`Provenance::Control`]). Only a boolean that is stored in a
//!   branch is computed from the condition of this branch.
//!
//! It does not follow values through memory of buffers. Memory behind a physical pointer is known
//! by the type of its pointee.

use crate::base_variable::{pointer_base, slot_of};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, ScalarOrVector};
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::{Instruction, InstructionIndex};
use assay_spirv::reflect::TypeLayout;
use assay_spirv::tables::{Decoration, GlslStd450, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Way in which a fault depends on memory, from the closest to the remotest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Provenance {
    /// An operand of the faulty instruction, such as an index, is computed from it.
    Operand,
    /// A condition of a branch is computed from it.
    Control,
    /// No dependence is known.
    Unknown,
}

/// Memory outside the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExternalMemory {
    /// Variable of the push constants or of a binding.
    Variable(u32),
    /// Memory behind physical pointers to this type, as raw id.
    Pointee(u32),
}

/// Memory that a value is loaded from. A buffer without a known path counts whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoadedFrom {
    pub(crate) memory: ExternalMemory,
    /// Indices from the beginning of the block; `None` for an index that is not constant.
    pub(crate) path: Vec<Option<u64>>,
}

/// Slice of a value.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// Memory that the value is computed from.
    pub(crate) sources: BTreeSet<LoadedFrom>,
    /// Ids that it is computed from, including itself.
    pub(crate) ids: BTreeSet<u32>,
}

/// Dependences of a fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultSources {
    operand: BTreeSet<LoadedFrom>,
    control: BTreeSet<LoadedFrom>,
}

/// Memory that atomics change by numbers, as operands.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) increased: FaultSources,
    pub(crate) decreased: FaultSources,
}

/// Stores, calls and returns of a module.
pub(crate) struct DataFlow<'a> {
    module: &'a Module,
    /// Values that are stored to each variable or pointer parameter.
    stores: BTreeMap<u32, Vec<u32>>,
    /// Arguments of each parameter at all calls.
    arguments: BTreeMap<u32, Vec<u32>>,
    /// Parameters to which a variable is passed.
    passed: BTreeMap<u32, Vec<u32>>,
    /// Values that each function returns.
    returns: BTreeMap<u32, Vec<u32>>,
}

impl<'a> DataFlow<'a> {
    pub(crate) fn new(module: &'a Module) -> DataFlow<'a> {
        let mut flow = DataFlow {
            module,
            stores: BTreeMap::new(),
            arguments: BTreeMap::new(),
            passed: BTreeMap::new(),
            returns: BTreeMap::new(),
        };
        for function in module.functions() {
            let instructions = || module.instructions_in(function.instructions.clone());
            let mut conditions = BTreeMap::new();
            for i in instructions().filter(|i| i.op == Some(Op::BranchConditional)) {
                if let [condition, targets @ ..] = i.operands() {
                    conditions.extend(targets.iter().take(2).map(|target| (*target, *condition)));
                }
            }
            let mut block = None;
            for i in instructions() {
                match (i.op, i.operands()) {
                    (Some(Op::Label), _) => block = i.result(),
                    (Some(Op::Store), [pointer, value, ..]) => {
                        flow.store(*pointer, *value);
                        // naga's `a || b` is `if a { c = true } else { c = b }`.
                        let condition = block.and_then(|block| conditions.get(&block));
                        if let Some(condition) = condition.filter(|_| is_bool(module, *value)) {
                            flow.store(*pointer, *condition);
                        }
                    }
                    (Some(Op::CopyMemory), [to, from, ..]) => flow.store(*to, *from),
                    (Some(Op::ReturnValue), [value, ..]) => flow.returns.entry(function.id).or_default().push(*value),
                    (Some(Op::FunctionCall), [callee, arguments @ ..]) => flow.call(*callee, arguments),
                    _ => {}
                }
            }
        }
        flow
    }

    pub(crate) fn module(&self) -> &'a Module {
        self.module
    }

    fn store(&mut self, pointer: u32, value: u32) {
        let base = self.base(pointer);
        if physical_pointee(self.module, base).is_none() {
            self.stores.entry(base).or_default().push(value);
        }
    }

    fn call(&mut self, callee: u32, arguments: &[u32]) {
        let Some(callee) = self.module.function(callee) else { return };
        let parameters = self.module.instructions_in(callee.parameters.clone()).filter_map(|i| i.result());
        for (parameter, argument) in parameters.zip(arguments) {
            self.arguments.entry(parameter).or_default().push(*argument);
            self.passed.entry(self.base(*argument)).or_default().push(parameter);
        }
    }

    /// Returns the variable or parameter that a pointer is derived from.
    fn base(&self, mut pointer: u32) -> u32 {
        while let Some(definition) = self.module.definition_of(pointer)
            && matches!(definition.op, Some(Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject))
            && let Some(next) = definition.operand(0)
        {
            pointer = next;
        }
        pointer
    }

    /// Returns whether the shader stores to resources by one instruction, and computes the value
    /// from constants, push constants and uniform buffers alone, whatever branches it takes. All
    /// elements get one value by design.
    pub(crate) fn stores_one_value(&self) -> bool {
        let module = self.module;
        let functions = module.functions().iter();
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        // The inner `None` stands for unknown values.
        let mut stored = instructions.filter_map(|i| match i.op? {
            Op::ImageWrite => Some(i.operand(2)),
            Op::Store => (!self.is_local(i.operand(0)?)).then(|| i.operand(1)),
            op => (op.info().class == InstructionClass::Atomic || matches!(op, Op::CopyMemory | Op::CopyMemorySized))
                .then_some(None),
        });
        let (Some(Some(value)), None) = (stored.next(), stored.next()) else { return false };
        // A branch or a call decides between several values.
        let is_one = |list: Option<&Vec<u32>>| list.is_none_or(|values| values.len() <= 1);
        let is_decided = |id: &u32| {
            let definition = module.definition_of(*id);
            let callee = definition.filter(|i| i.op == Some(Op::FunctionCall)).and_then(|i| i.operand(0));
            let class = definition.and_then(|i| i.op).map(|op| op.info().class);
            !is_one(self.stores.get(id))
                || !is_one(self.arguments.get(id))
                || !is_one(callee.and_then(|callee| self.returns.get(&callee)))
                || definition.is_some_and(|i| i.op == Some(Op::Phi))
                || matches!(class, Some(InstructionClass::Group | InstructionClass::NonUniform))
        };
        let is_same_everywhere = |id: &u32| {
            if is_decided(id) {
                return false;
            }
            let Some(ty) = module.type_of(*id) else { return true };
            let is_buffer = |pointee| {
                let mut decorations = module.decorations(module.type_definition(pointee).result().unwrap_or_default());
                decorations.any(|d| d.decoration == Some(Decoration::BufferBlock))
            };
            match module.pointer(ty) {
                Some((StorageClass::Function | StorageClass::Private | StorageClass::PushConstant, _)) => true,
                Some((StorageClass::Uniform, pointee)) => !pointee.is_some_and(is_buffer),
                Some(_) => false,
                None => !matches!(module.type_definition(ty).op, Some(Op::TypeImage | Op::TypeSampledImage)),
            }
        };
        self.slice(vec![value], used).ids.iter().all(is_same_everywhere)
    }

    /// Returns whether a pointer leads to a variable of an invocation or a workgroup.
    fn is_local(&self, pointer: u32) -> bool {
        let class = self.module.type_of(self.base(pointer)).and_then(|ty| self.module.pointer(ty));
        matches!(class, Some((StorageClass::Function | StorageClass::Private | StorageClass::Workgroup, _)))
    }

    /// Returns the memory on which a fault of an instruction depends.
    pub(crate) fn sources(&self, at: InstructionIndex) -> FaultSources {
        let module = self.module;
        let faulty = module.instruction(at);
        let function = module.functions().iter().find(|f| f.instructions.contains(&at.0));
        let conditions = function.map_or_else(Vec::new, |function| self.conditions(function.instructions.clone()));
        // The value that is loaded or stored is not the cause; its address is.
        let operands = match faulty.op {
            Some(Op::Load | Op::Store) => faulty.operand(0).map_or_else(Vec::new, |pointer| self.address(pointer)),
            Some(Op::AccessChain | Op::InBoundsAccessChain) => {
                faulty.result().map_or_else(Vec::new, |pointer| self.address(pointer))
            }
            Some(Op::ImageWrite) => faulty.operands().iter().take(2).copied().collect(),
            _ => used(module, faulty),
        };
        let sources = |values| self.slice(values, used).sources;
        FaultSources { operand: sources(operands), control: sources(conditions) }
    }

    /// Returns the values from which an address is computed: without the variable that it leads into,
    /// whose contents it does not depend on.
    pub(crate) fn address(&self, pointer: u32) -> Vec<u32> {
        let is_variable = |id| self.module.definition_of(id).is_some_and(|i| i.op == Some(Op::Variable));
        let base = pointer_base(self.module, pointer).filter(|base| is_variable(base.id) && !base.selects);
        base.map_or_else(|| vec![pointer], |base| base.indices)
    }

    /// Returns whether values are computed from constants and built-in variables alone.
    pub(crate) fn is_fixed(&self, values: Vec<u32>) -> bool {
        let Slice { sources, ids } = self.slice(values, used);
        let varies = |op: Op| ["OpImage", "OpAtomic", "OpSpec"].iter().any(|begin| op.name().starts_with(begin));
        let definitions = || ids.iter().filter_map(|id| self.module.definition_of(*id)?.op);
        sources.is_empty() && !definitions().any(varies)
    }

    /// Returns whether the place that an instruction accesses is computed from constants and built-in
    /// variables alone.
    pub(crate) fn has_fixed_place(&self, at: InstructionIndex) -> bool {
        self.place(at).is_some_and(|values| self.is_fixed(values))
    }

    /// Returns whether the place that an instruction accesses is computed from the result of an atomic,
    /// such as that of a counter of a list.
    pub(crate) fn has_place_by_atomic(&self, at: InstructionIndex) -> bool {
        let ids = self.place(at).map(|values| self.slice(values, used).ids).unwrap_or_default();
        let mut definitions = ids.iter().filter_map(|id| self.module.definition_of(*id)?.op);
        definitions.any(|op| op.info().class == InstructionClass::Atomic)
    }

    /// Returns the values from which the place that an instruction accesses is computed; `None` if it
    /// accesses none.
    fn place(&self, at: InstructionIndex) -> Option<Vec<u32>> {
        let i = self.module.instruction(at);
        match i.op? {
            Op::Load | Op::Store => i.operand(0).map(|pointer| self.address(pointer)),
            Op::AccessChain | Op::InBoundsAccessChain => i.result().map(|pointer| self.address(pointer)),
            Op::ImageRead | Op::ImageWrite | Op::ImageFetch => i.operand(1).map(|coordinates| vec![coordinates]),
            _ => None,
        }
    }

    /// Returns the ids from which the operands of an instruction are computed.
    pub(crate) fn ids(&self, at: InstructionIndex) -> BTreeSet<u32> {
        self.slice(used(self.module, self.module.instruction(at)), used).ids
    }

    /// Returns the memory on which the branches of all functions depend, as control.
    pub(crate) fn branch_sources(&self) -> FaultSources {
        let functions = self.module.functions().iter();
        let conditions = functions.flat_map(|function| self.conditions(function.instructions.clone())).collect();
        FaultSources { control: self.slice(conditions, used).sources, ..FaultSources::default() }
    }

    /// Returns the memory that atomics increase and decrease, as operands: counters of elements that are
    /// appended to lists and taken from them.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        for function in self.module.functions() {
            for i in self.module.instructions_in(function.instructions.clone()) {
                // An unsigned -1 is a very large number.
                let adds = |n: &i64| (1..=i64::from(i32::MAX)).contains(n);
                let increases = i.operand(3).and_then(|value| self.module.constant_int(value)).is_none_or(|n| adds(&n));
                let changed = match i.op {
                    Some(Op::AtomicIIncrement) => &mut counters.increased,
                    Some(Op::AtomicIDecrement | Op::AtomicISub) => &mut counters.decreased,
                    Some(Op::AtomicIAdd) if increases => &mut counters.increased,
                    Some(Op::AtomicIAdd) => &mut counters.decreased,
                    _ => continue,
                };
                changed.operand.extend(i.operand(0).and_then(|pointer| self.loaded_from(pointer)));
            }
        }
        counters
    }

    /// Returns the memory whose integers the shader takes for the bits of floats of 32 bits, as operands.
    pub(crate) fn float_bits(&self) -> FaultSources {
        let functions = self.module.functions().iter();
        let instructions = functions.flat_map(|f| self.module.instructions_in(f.instructions.clone()));
        let is_float = |id| {
            ScalarOrVector::of_value(self.module, id)
                .is_some_and(|of| (of.kind, of.width) == (ComponentKind::Float, 32))
        };
        let casts = instructions.filter(|i| i.op == Some(Op::Bitcast) && i.result().is_some_and(is_float));
        let bits = casts.filter_map(|cast| cast.operand(0)).collect();
        FaultSources::of_operand(self.slice(bits, copied).sources)
    }

    /// Returns the memory whose integers the shader takes for pairs of halves, as operands.
    pub(crate) fn packed_halves(&self) -> FaultSources {
        let functions = self.module.functions().iter();
        let instructions = functions.flat_map(|f| self.module.instructions_in(f.instructions.clone()));
        let unpacks = |i: &Instruction<'_>| {
            i.op == Some(Op::ExtInst)
                && i.operand(1).and_then(GlslStd450::from_word) == Some(GlslStd450::UnpackHalf2x16)
        };
        let packed = instructions.filter(unpacks).filter_map(|i| i.operand(2)).collect();
        FaultSources::of_operand(self.slice(packed, copied).sources)
    }

    /// Returns the conditions of the branches among some instructions.
    fn conditions(&self, range: Range<u32>) -> Vec<u32> {
        let branches = self.module.instructions_in(range);
        let branches = branches.filter(|i| matches!(i.op, Some(Op::BranchConditional | Op::Switch)));
        branches.filter_map(|i| i.operand(0)).collect()
    }

    /// Returns the slice of values. `operands` returns the values on which the result of an
    /// instruction depends.
    pub(crate) fn slice(&self, values: Vec<u32>, operands: fn(&Module, Instruction<'_>) -> Vec<u32>) -> Slice {
        let (mut open, mut slice) = (values, Slice::default());
        while let Some(id) = open.pop() {
            let Some(definition) = self.module.definition_of(id).filter(|_| slice.ids.insert(id)) else { continue };
            if definition.op == Some(Op::Variable) && self.loaded_from(id).is_some() {
                continue;
            }
            for list in [&self.stores, &self.arguments] {
                open.extend(list.get(&id).into_iter().flatten());
            }
            if matches!(definition.op, Some(Op::Variable | Op::FunctionParameter)) {
                open.extend(self.passed.get(&id).into_iter().flatten());
                continue;
            }
            if definition.op == Some(Op::FunctionCall) {
                let callee = definition.operand(0).and_then(|callee| self.returns.get(&callee));
                open.extend(callee.into_iter().flatten());
                continue;
            }
            if let Some((load, from)) = self.extracted(definition) {
                slice.sources.insert(from);
                open.extend(operands(self.module, load));
                continue;
            }
            let reads = definition.op.is_some_and(|op| op == Op::Load || op.name().starts_with("OpAtomic"));
            if reads && let Some(from) = definition.operand(0).and_then(|pointer| self.loaded_from(pointer)) {
                slice.sources.insert(from);
            }
            open.extend(operands(self.module, definition));
        }
        slice
    }

    /// Returns the load of which an instruction extracts a part, and the memory of the part; `None` for others.
    fn extracted(&self, i: Instruction<'_>) -> Option<(Instruction<'a>, LoadedFrom)> {
        let [composite, indices @ ..] = i.operands() else { return None };
        let definition = |op| {
            self.module.definition_of(*composite).filter(|of| i.op == Some(Op::CompositeExtract) && of.op == Some(op))
        };
        let (load, mut from) = match definition(Op::CompositeExtract) {
            Some(outer) => self.extracted(outer)?,
            None => {
                let load = definition(Op::Load)?;
                (load, self.loaded_from(load.operand(0)?)?)
            }
        };
        from.path.extend(indices.iter().map(|index| Some(u64::from(*index))));
        Some((load, from))
    }

    /// Returns the memory of a push constant, binding or physical pointer that a pointer refers to.
    fn loaded_from(&self, pointer: u32) -> Option<LoadedFrom> {
        let base = pointer_base(self.module, pointer)?;
        let (class, pointee) = self.module.pointer(self.module.type_of(base.id)?)?;
        let is_variable = self.module.definition_of(base.id)?.op == Some(Op::Variable) && !base.selects;
        let memory = match class {
            StorageClass::PhysicalStorageBuffer => {
                ExternalMemory::Pointee(self.module.type_definition(pointee?).result()?)
            }
            StorageClass::PushConstant | StorageClass::Uniform | StorageClass::StorageBuffer if is_variable => {
                ExternalMemory::Variable(base.id)
            }
            _ => return None,
        };
        let index = |id: &u32| self.module.constant_int(*id).and_then(|n| u64::try_from(n).ok());
        Some(LoadedFrom { memory, path: base.indices.iter().map(index).collect() })
    }
}

/// Returns true for a boolean.
fn is_bool(module: &Module, id: u32) -> bool {
    module.type_of(id).is_some_and(|ty| module.type_definition(ty).op == Some(Op::TypeBool))
}

/// Returns the raw id of the type behind a physical pointer.
pub(crate) fn physical_pointee(module: &Module, pointer: u32) -> Option<u32> {
    match module.pointer(module.type_of(pointer)?)? {
        (StorageClass::PhysicalStorageBuffer, Some(pointee)) => module.type_definition(pointee).result(),
        _ => None,
    }
}

impl FaultSources {
    /// Returns the dependences on the memory that an operand is computed from.
    pub(crate) fn of_operand(operand: BTreeSet<LoadedFrom>) -> FaultSources {
        FaultSources { operand, ..FaultSources::default() }
    }

    /// Returns how a fault depends on a scalar at an offset of the push constants or of a buffer.
    /// `pointees` are the types behind the physical pointers that lead to the buffer, as raw ids.
    pub(crate) fn of(
        &self,
        module: &Module,
        (slot, pointees): (Option<Slot>, &[u32]),
        block: &TypeLayout,
        offset: u64,
    ) -> Provenance {
        let covers = |from: &LoadedFrom| match from.memory {
            ExternalMemory::Variable(variable) => {
                slot_of(module, variable) == slot.map(|slot| Slot { element: 0, ..slot })
                    && leads_to(block, &from.path, offset)
            }
            // A pointer may lead to any record of the buffer.
            ExternalMemory::Pointee(pointee) => pointees.contains(&pointee),
        };
        match () {
            () if self.operand.iter().any(covers) => Provenance::Operand,
            () if self.control.iter().any(covers) => Provenance::Control,
            () => Provenance::Unknown,
        }
    }
}

/// Returns the values that an instruction uses.
pub(crate) fn used(module: &Module, instruction: Instruction<'_>) -> Vec<u32> {
    let mut ids = Vec::new();
    module.uses(instruction, |id| ids.push(id));
    ids
}

/// Returns the values that an instruction copies, whole or in part.
fn copied(module: &Module, instruction: Instruction<'_>) -> Vec<u32> {
    match instruction.op {
        Some(Op::AccessChain | Op::InBoundsAccessChain) => instruction.operand(0).into_iter().collect(),
        Some(Op::Load | Op::CopyObject | Op::CompositeExtract | Op::CompositeConstruct | Op::VectorShuffle) => {
            used(module, instruction)
        }
        _ => Vec::new(),
    }
}

/// Returns whether indices from the beginning of a block lead to a value that contains an offset. An index that
/// is not constant may be any.
fn leads_to(block: &TypeLayout, path: &[Option<u64>], offset: u64) -> bool {
    let (mut within, mut layout) = (offset, block);
    for index in path {
        let (element, stride) = match layout {
            TypeLayout::Struct { members, .. } => {
                let member = index.and_then(|index| members.get(index as usize));
                let Some(member) = member else { break };
                let Some(after) = within.checked_sub(member.offset.map_or(0, u64::from)) else { return false };
                (within, layout) = (after, &member.shape);
                continue;
            }
            TypeLayout::Array { element, stride, .. } => (element, stride.map_or(element.size(), u64::from)),
            TypeLayout::Vector { component, .. } => (component, component.size()),
            _ => break,
        };
        let stride = stride.max(1);
        if index.is_some_and(|index| index != within / stride) {
            return false;
        }
        (within, layout) = (within % stride, element);
    }
    let is_open = matches!(layout, TypeLayout::Array { count: None, .. })
        || matches!(layout, TypeLayout::Struct { .. }) && crate::memory_layout::runtime_stride(layout).is_some();
    is_open || within < layout.size().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::reflect::Reflection;

    /// A shader as glslang makes it: values pass through variables and a call.
    const SHADER: &str = r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpMemberDecorate %Push 0 Offset 0
        OpMemberDecorate %Push 1 Offset 4
        OpMemberDecorate %Push 2 Offset 8
        OpDecorate %Push Block
        OpDecorate %array ArrayStride 4
        OpMemberDecorate %Data 0 Offset 0
        OpDecorate %Data BufferBlock
        OpDecorate %data DescriptorSet 0
        OpDecorate %data Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %uint = OpTypeInt 32 0
        %zero = OpConstant %uint 0
        %one = OpConstant %uint 1
        %two = OpConstant %uint 2
        %Push = OpTypeStruct %uint %uint %uint
        %push_ptr = OpTypePointer PushConstant %Push
        %push_uint = OpTypePointer PushConstant %uint
        %push = OpVariable %push_ptr PushConstant
        %array = OpTypeRuntimeArray %uint
        %Data = OpTypeStruct %array
        %data_ptr = OpTypePointer Uniform %Data
        %data_uint = OpTypePointer Uniform %uint
        %data = OpVariable %data_ptr Uniform
        %local_ptr = OpTypePointer Function %uint
        %double_fn = OpTypeFunction %uint %local_ptr
        %double = OpFunction %uint None %double_fn
        %x = OpFunctionParameter %local_ptr
        %double_entry = OpLabel
        %x_value = OpLoad %uint %x
        %twice = OpIAdd %uint %x_value %x_value
        OpReturnValue %twice
        OpFunctionEnd
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %i = OpVariable %local_ptr Function
        %argument = OpVariable %local_ptr Function
        %p0 = OpAccessChain %push_uint %push %zero
        %v0 = OpLoad %uint %p0
        OpStore %argument %v0
        %call = OpFunctionCall %uint %double %argument
        OpStore %i %call
        %p1 = OpAccessChain %push_uint %push %one
        %v1 = OpLoad %uint %p1
        %below = OpULessThan %bool %zero %v1
        OpSelectionMerge %end None
        OpBranchConditional %below %then %end
        %then = OpLabel
        %index = OpLoad %uint %i
        %to = OpAccessChain %data_uint %data %zero %index
        %p2 = OpAccessChain %push_uint %push %two
        %v2 = OpLoad %uint %p2
        OpStore %to %v2
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd"#;

    #[test]
    fn an_index_comes_from_a_push_constant_through_variables_and_a_call() {
        let source = assay_spirv::assemble(SHADER).unwrap();
        let module = Module::parse(source).unwrap();
        let flow = DataFlow::new(&module);
        let last_store = module.instructions().rfind(|i| i.op == Some(Op::Store)).unwrap();
        let sources = flow.sources(last_store.index);
        let reflection = Reflection::new(&module);
        let block = reflection.entry_points[0].push_constants.as_deref().unwrap();
        let of = |offset| sources.of(&module, (None, &[]), block, offset);
        assert_eq!([of(0), of(4), of(8)], [Provenance::Operand, Provenance::Control, Provenance::Unknown]);
        assert!(flow.stores_one_value());
    }

    #[test]
    fn a_value_from_an_invocation_or_a_buffer_is_not_one_value() {
        let stores_one = |from: &str, to: &str| {
            let module = Module::parse(assay_spirv::assemble(&SHADER.replace(from, to)).unwrap()).unwrap();
            DataFlow::new(&module).stores_one_value()
        };
        assert!(stores_one("OpStore %to %v2", "OpStore %to %call"));
        assert!(!stores_one("OpStore %to %v2", "%old = OpLoad %uint %to\n OpStore %to %old"));
        assert!(!stores_one("OpStore %to %v2", "OpStore %to %v2\n OpStore %to %v1"));
        // A variable with two values: a branch may decide between them.
        assert!(stores_one("OpStore %to %v2", "OpStore %to %index"));
        assert!(!stores_one("OpStore %to %v2", "OpStore %i %v2\n %x2 = OpLoad %uint %i\n OpStore %to %x2"));
    }

    #[test]
    fn a_part_of_a_loaded_element_comes_from_its_member() {
        let text = "struct Particle { position: vec2<f32>, kind: u32, id: u32 }
            @group(0) @binding(0) var<storage, read> particles: array<Particle>;
            @group(0) @binding(1) var<storage, read_write> found: array<u32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let particle = particles[id.x];
                found[particle.kind] = 1u;
            }";
        let words = crate::wgsl::compile(assay_exec::Wgsl { text, overrides: &[] }, "a.wgsl").unwrap();
        let module = Module::parse(words).unwrap();
        let store = module.instructions().rfind(|i| i.op == Some(Op::Store)).unwrap();
        let sources = DataFlow::new(&module).sources(store.index);
        let reflection = Reflection::new(&module);
        let particles = reflection.entry_points[0].bindings.iter().find(|binding| binding.binding == 0).unwrap();
        let block = particles.block.as_deref().unwrap();
        let is_operand =
            |offset| sources.of(&module, (Some(Slot::new(0, 0)), &[]), block, offset) == Provenance::Operand;
        // The second element is at 16.
        assert_eq!([0, 4, 8, 12, 16, 24, 28].map(is_operand), [false, false, true, false, false, true, false]);
    }
}
