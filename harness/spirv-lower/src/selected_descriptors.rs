//! Selection of descriptors by switches in place of indices that are not constants.
//!
//! Each instruction that uses a descriptor of an array at a dynamic index becomes a call of a function
//! with a case for each descriptor, as `spirv-opt --replace-desc-array-access-using-var-index` of
//! SPIRV-Tools does in place. Inside an array the result is the same. The case of the first descriptor
//! stands for an index outside it, which is undefined behaviour.
//!
//! Pointers into variables and opaque values cannot be passed to such a function, so that it repeats the
//! instructions that make them, if they give the same there ([`is_repeatable`]). Other pointers, such as
//! stored ones and those that `OpPhi` chooses, and arrays with more than [`DESCRIPTORS`] descriptors are
//! not supported.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::grammar::OperandEncoding;
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{Capability, Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of descriptors in an array.
const DESCRIPTORS: i64 = 64;

/// Largest number of dynamic indices that lead to one instruction, such as those of an image and of a
/// sampler.
const INDICES: usize = 4;

/// Capabilities that only dynamic indices require.
const CAPABILITIES: [Capability; 14] = [
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::InputAttachmentArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::InputAttachmentArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
];

/// Returns the module's words with constant indices into arrays of descriptors, which need no feature
/// such as `shaderSampledImageArrayDynamicIndexing`; `None` if some access is not supported.
pub fn with_selected_descriptors(module: &Module) -> Option<Vec<u32>> {
    let mut words = without_capabilities(module);
    for _ in 0..=INDICES {
        let current = Module::parse(words).ok()?;
        let chains: BTreeMap<u32, DynamicIndex> =
            current.instructions().filter_map(|i| Some((i.result()?, DynamicIndex::of(&current, i)?))).collect();
        if chains.is_empty() {
            return Some(current.into_words());
        }
        words =
            Selection { module: &current, editor: Editor::new(&current), functions: Vec::new(), chains }.rewrite()?;
    }
    None
}

fn without_capabilities(module: &Module) -> Vec<u32> {
    let mut editor = Editor::new(module);
    let words = CAPABILITIES.map(|capability| Some(capability.word()));
    for i in module.section(Section::Capabilities).filter(|i| words.contains(&i.operand(0))) {
        editor.replace(i.at, Vec::new());
    }
    editor.finish()
}

/// An access chain whose first index, into an array of descriptors, is not a constant.
#[derive(Clone, Copy, Debug)]
struct DynamicIndex {
    /// The index, a raw id.
    index: u32,
    /// Length of the array; `None` if it is not supported.
    count: Option<u32>,
}

impl DynamicIndex {
    fn of(module: &Module, i: Instruction<'_>) -> Option<DynamicIndex> {
        let (Some(Op::AccessChain | Op::InBoundsAccessChain), [base, index, ..]) = (i.op, i.operands()) else {
            return None;
        };
        let variable = module.definition_of(*base).filter(|base| base.op == Some(Op::Variable))?;
        let is_binding = module.decorations(*base).any(|d| d.decoration == Some(Decoration::Binding));
        let pointee = module.pointer(module.type_declared(variable.result_type()?)?)?.1?;
        let length = match module.ty(pointee) {
            Type::Array { length, .. } => module.constant_int(*length),
            Type::RuntimeArray { .. } => None,
            _ => return None,
        };
        if !is_binding || is_global(module, *index) {
            return None;
        }
        let is_word = matches!(module.ty(module.type_of(*index)?), Type::Int { width: 32, .. });
        let count = length.filter(|length| is_word && (1..=DESCRIPTORS).contains(length));
        Some(DynamicIndex { index: *index, count: count.and_then(|count| u32::try_from(count).ok()) })
    }
}

/// Returns whether an id is defined outside of functions.
fn is_global(module: &Module, id: u32) -> bool {
    let first = module.functions().first().map_or(u32::MAX, |function| function.instructions.start);
    module.definition_of(id).is_some_and(|definition| definition.index.0 < first || definition.op == Some(Op::Function))
}

/// Returns whether values of a type cannot be passed to a function. Physical pointers can.
fn is_opaque(module: &Module, ty: TypeId) -> bool {
    !matches!(
        module.ty(ty),
        Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::Vector { .. }
            | Type::Matrix { .. }
            | Type::Array { .. }
            | Type::Struct { .. }
            | Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
    )
}

/// Returns whether an instruction gives the same pointer or opaque value wherever it stands. A pointer
/// that is loaded from memory may have changed there.
fn is_repeatable(module: &Module, i: Instruction<'_>) -> bool {
    let makes_pointer = i.result().and_then(|id| module.pointer(module.type_of(id)?)).is_some();
    match i.op {
        Some(Op::Load) => !makes_pointer,
        op => matches!(
            op,
            Some(
                Op::AccessChain
                    | Op::InBoundsAccessChain
                    | Op::CopyObject
                    | Op::SampledImage
                    | Op::Image
                    | Op::ImageTexelPointer
            )
        ),
    }
}

/// Rewrites the uses of chains, one dynamic index each.
struct Selection<'a> {
    module: &'a Module,
    editor: Editor<'a>,
    /// New functions.
    functions: Vec<u32>,
    /// Chains with a dynamic index, by their result.
    chains: BTreeMap<u32, DynamicIndex>,
}

impl Selection<'_> {
    fn rewrite(mut self) -> Option<Vec<u32>> {
        let module = self.module;
        // Pointers and opaque values that are made from the chains.
        let mut derived: BTreeSet<u32> = BTreeSet::new();
        for function in module.functions() {
            for i in module.instructions_in(function.instructions.clone()) {
                let uses = ids_of(module, i)?;
                let uses_derived = uses.iter().any(|(_, id)| derived.contains(id));
                let is_chain = i.result().is_some_and(|result| self.chains.contains_key(&result));
                if !uses_derived && !is_chain {
                    continue;
                }
                if let Some(result) = i.result().filter(|_| is_chain || self.makes_opaque(i)) {
                    if !is_repeatable(module, i) {
                        return None;
                    }
                    derived.insert(result);
                    self.editor.replace(i.at, Vec::new());
                    continue;
                }
                let stores_pointer = i.op == Some(Op::Store) && i.operand(1).is_some_and(|id| derived.contains(&id));
                if stores_pointer || matches!(i.op, Some(Op::CompositeConstruct | Op::ReturnValue)) {
                    return None;
                }
                let call = self.call_in_place_of(i)?;
                self.editor.replace(i.at, call);
            }
        }
        self.editor.remove_references(&derived);
        let mut words = self.editor.finish();
        words.extend(self.functions);
        Some(words)
    }

    /// Returns whether the result of an instruction is a pointer or opaque.
    fn makes_opaque(&self, i: Instruction<'_>) -> bool {
        let ty = i.result_type().and_then(|ty| self.module.type_declared(ty));
        ty.is_some_and(|ty| is_opaque(self.module, ty))
    }

    /// Makes a function of an instruction that uses a derived value, and returns its call.
    fn call_in_place_of(&mut self, last: Instruction<'_>) -> Option<Vec<u32>> {
        let module = self.module;
        let mut repeated: BTreeMap<usize, Instruction<'_>> = BTreeMap::new();
        let mut parameters: Vec<u32> = Vec::new();
        let mut open = vec![last];
        while let Some(i) = open.pop() {
            for (_, id) in ids_of(module, i)?.into_iter().filter(|(_, id)| !is_global(module, *id)) {
                let definition = module.definition_of(id)?;
                let is_object = matches!(definition.op, Some(Op::Variable | Op::FunctionParameter));
                if self.makes_opaque(definition) && !is_object {
                    if !is_repeatable(module, definition) {
                        return None;
                    }
                    if repeated.insert(definition.at, definition).is_none() {
                        open.push(definition);
                    }
                } else if !parameters.contains(&id) {
                    parameters.push(id);
                }
            }
        }
        let chain_of = |i: &Instruction<'_>| self.chains.get(&i.result()?).copied().map(|chain| (i.at, chain));
        let (selected, DynamicIndex { index, count }) = repeated.values().find_map(chain_of)?;
        let void = self.editor.void();
        let returns = last.result_type().unwrap_or(void);
        let types: Vec<u32> =
            parameters.iter().map(|id| module.definition_of(*id)?.result_type()).collect::<Option<_>>()?;
        let function_type = self.editor.function_type(returns, &types);
        let function = self.editor.id();
        let arguments = parameters.clone();
        let mut renamed: BTreeMap<u32, u32> = BTreeMap::new();
        let mut code = instruction(Op::Function, &[returns, function, 0, function_type]);
        for (id, ty) in parameters.iter().zip(&types) {
            let parameter = self.editor.id();
            renamed.insert(*id, parameter);
            code.extend(instruction(Op::FunctionParameter, &[*ty, parameter]));
        }
        let cases: Vec<u32> = (0..count?).map(|_| self.editor.id()).collect();
        let (entry, merge) = (self.editor.id(), self.editor.id());
        code.extend(instruction(Op::Label, &[entry]));
        code.extend(instruction(Op::SelectionMerge, &[merge, 0]));
        let mut switch = vec![*renamed.get(&index)?, *cases.first()?];
        cases.iter().zip(0u32..).skip(1).for_each(|(label, number)| switch.extend([number, *label]));
        code.extend(instruction(Op::Switch, &switch));
        let uint = self.editor.uint(32);
        for (label, number) in cases.iter().zip(0u64..) {
            code.extend(instruction(Op::Label, &[*label]));
            let mut renamed = renamed.clone();
            let constant = self.editor.constant(uint, 32, number);
            for i in repeated.values().chain([&last]) {
                let mut words = self.copy(*i, &mut renamed)?;
                if i.at == selected {
                    // The result type, the result and the base precede the first index.
                    *words.get_mut(4)? = constant;
                }
                code.extend(words);
            }
            code.extend(match last.result().filter(|_| returns != void) {
                Some(result) => instruction(Op::ReturnValue, &[*renamed.get(&result)?]),
                None => instruction(Op::Return, &[]),
            });
        }
        code.extend(instruction(Op::Label, &[merge]));
        code.extend(instruction(Op::Unreachable, &[]));
        code.extend(instruction(Op::FunctionEnd, &[]));
        self.functions.extend(code);
        let result = last.result().unwrap_or_else(|| self.editor.id());
        Some(instruction(Op::FunctionCall, &[&[returns, result, function], &arguments[..]].concat()))
    }

    /// Returns the words of an instruction with new names of its operands, and a new one of its result.
    fn copy(&mut self, i: Instruction<'_>, renamed: &mut BTreeMap<u32, u32>) -> Option<Vec<u32>> {
        let mut words = i.words.to_vec();
        for (at, id) in ids_of(self.module, i)? {
            *words.get_mut(at)? = renamed.get(&id).copied().unwrap_or(id);
        }
        if let Some(result) = i.result() {
            let new = self.editor.id();
            renamed.insert(result, new);
            self.editor.copy_decorations(result, new);
            let at = 1 + usize::from(i.result_type().is_some());
            *words.get_mut(at)? = new;
        }
        Some(words)
    }
}

/// Returns the ids that an instruction uses, except its result and its result type, with their places
/// among its words; `None` if an operand is newer than the tables.
fn ids_of(module: &Module, i: Instruction<'_>) -> Option<Vec<(usize, u32)>> {
    let first = i.words.len() - i.operands().len();
    let mut ids = Vec::new();
    module
        .operands(i, |operand| {
            if operand.at >= first && matches!(operand.kind.info().encoding, OperandEncoding::Id) {
                ids.push((operand.at, i.words[operand.at]));
            }
        })
        .ok()?;
    Some(ids)
}
