//! Module-scope variables: their types, initialisers and bindings.

use super::contents::Contents;
use super::facts::{Facts, Variable};
use super::ops::{ATOMIC_CHANGES, joined};
use super::{Findings, On, Rule, Severity};
use crate::module::{Type, TypeId};
use crate::tables::{BuiltIn, Capability, Decoration, Dim, Op, StorageClass};

fn is_descriptor(ty: &Type) -> bool {
    let other = matches!(ty, Type::Other(Op::TypeAccelerationStructureKHR | Op::TypeTensorARM));
    other || matches!(ty, Type::Image(_) | Type::Sampler | Type::SampledImage { .. })
}

fn is_struct(facts: &Facts, ty: TypeId) -> bool {
    matches!(facts.module.ty(ty), Type::Struct { .. })
}

/// Variables of descriptors that are bound by set and binding.
fn has_binding(facts: &Facts, variable: &Variable) -> bool {
    facts.has_decoration(variable.word, Decoration::DescriptorSet)
        && facts.has_decoration(variable.word, Decoration::Binding)
}

/// Tells of what a store or another change goes to.
fn modified(facts: &Facts, instruction: crate::module::Instruction) -> Option<u32> {
    match instruction.op? {
        Op::Store | Op::CopyMemory | Op::AtomicStore => instruction.operand(0),
        op if op.info().class == crate::grammar::Class::Atomic && op != Op::AtomicLoad => instruction.operand(0),
        _ => None,
    }
    .filter(|word| facts.module.id(*word).is_some())
}

const CHANGES: &[Op] = &joined::<{ 2 + ATOMIC_CHANGES.len() }>(&[Op::Store, Op::CopyMemory], ATOMIC_CHANGES);

/// Tells of an input or output that holds floats of an encoding.
fn narrow_float_interface(facts: &Facts, variable: &Variable, found: &mut Findings, encodings: u16) {
    if is_interface(variable) && facts.contents(variable.ty).any(encodings) {
        variable.breaks(
            found,
            format!("{} holds numbers of an encoding that interfaces cannot carry", facts.name(variable.word)),
        );
    }
}

fn is_interface(variable: &Variable) -> bool {
    matches!(variable.class, StorageClass::Input | StorageClass::Output)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "initializer-class",
        id: "VUID-StandaloneSpirv-OpVariable-04651",
        says: "only Output, Private, Function and Workgroup variables have an initializer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Variable], |_, instruction, found| {
            use StorageClass::{Function, Output, Private, Workgroup};
            let class = instruction.operand(0).and_then(StorageClass::from_word);
            if instruction.operand(1).is_some()
                && !matches!(class, Some(Output | Private | Function | Workgroup) | None)
            {
                found.at(
                    instruction,
                    "an initializer on a variable that is not in Output, Private, Function or Workgroup",
                );
            }
        }),
    },
    Rule {
        name: "workgroup-initializer",
        id: "VUID-StandaloneSpirv-OpVariable-04734",
        says: "a Workgroup variable is initialized with OpConstantNull",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Variable], |facts, instruction, found| {
            let workgroup = instruction.operand(0) == Some(StorageClass::Workgroup.word());
            let Some(initializer) = instruction.operand(1).filter(|_| workgroup) else { return };
            if facts.module.definition_of_word(initializer).and_then(|d| d.op) != Some(Op::ConstantNull) {
                found.at(instruction, "a Workgroup variable with an initializer other than OpConstantNull");
            }
        }),
    },
    Rule {
        name: "uniform-constant-type",
        id: "VUID-StandaloneSpirv-UniformConstant-04655",
        says: "UniformConstant variables are images, samplers, sampled images, acceleration structures or tensors",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if variable.class == StorageClass::UniformConstant && !is_descriptor(facts.module.ty(variable.element)) {
                variable.breaks(found, format!("{} in UniformConstant is no descriptor", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "buffer-type",
        id: "VUID-StandaloneSpirv-Uniform-06807",
        says: "Uniform and StorageBuffer variables are structures or arrays of them",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let buffer = matches!(variable.class, StorageClass::Uniform | StorageClass::StorageBuffer);
            if buffer && !is_struct(facts, variable.element) {
                variable.breaks(found, format!("{} in {} is no structure", facts.name(variable.word), variable.class));
            }
        }),
    },
    Rule {
        name: "push-constant-type",
        id: "VUID-StandaloneSpirv-PushConstant-06808",
        says: "PushConstant variables are structures",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if variable.class == StorageClass::PushConstant && !is_struct(facts, variable.ty) {
                variable.breaks(found, format!("{} in PushConstant is no structure", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "block",
        id: "VUID-StandaloneSpirv-PushConstant-06675",
        says: "the structures of PushConstant and StorageBuffer variables are decorated Block",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let blocks = matches!(variable.class, StorageClass::PushConstant | StorageClass::StorageBuffer);
            if blocks && is_struct(facts, variable.element) && !facts.type_has(variable.element, Decoration::Block) {
                variable
                    .breaks(found, format!("the structure of {} is not decorated Block", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "uniform-block",
        id: "VUID-StandaloneSpirv-Uniform-06676",
        says: "the structures of Uniform variables are decorated Block or BufferBlock",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let decorated = facts.type_has(variable.element, Decoration::Block)
                || facts.type_has(variable.element, Decoration::BufferBlock);
            if variable.class == StorageClass::Uniform && is_struct(facts, variable.element) && !decorated {
                variable.breaks(
                    found,
                    format!(
                        "the structure of {} is decorated neither Block nor BufferBlock",
                        facts.name(variable.word)
                    ),
                );
            }
        }),
    },
    Rule {
        name: "binding",
        id: "VUID-StandaloneSpirv-UniformConstant-06677",
        says: "UniformConstant, StorageBuffer and Uniform variables have DescriptorSet and Binding",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let bound = matches!(
                variable.class,
                StorageClass::UniformConstant | StorageClass::StorageBuffer | StorageClass::Uniform
            );
            let heap =
                matches!(facts.built_in(variable.word), Some(BuiltIn::ResourceHeapEXT | BuiltIn::SamplerHeapEXT));
            if bound && !heap && !has_binding(facts, variable) {
                variable.breaks(found, format!("{} lacks DescriptorSet or Binding", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "input-attachment-class",
        id: "VUID-StandaloneSpirv-InputAttachmentIndex-06678",
        says: "InputAttachmentIndex only on UniformConstant variables",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let indexed = facts.has_decoration(variable.word, Decoration::InputAttachmentIndex);
            if indexed && variable.class != StorageClass::UniformConstant {
                variable.breaks(
                    found,
                    format!("InputAttachmentIndex on {} in {}", facts.name(variable.word), variable.class),
                );
            }
        }),
    },
    Rule {
        name: "binding-class",
        id: "VUID-StandaloneSpirv-DescriptorSet-06491",
        says: "DescriptorSet and Binding only on variables of classes that descriptors have",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            use StorageClass::{StorageBuffer, TileAttachmentQCOM, Uniform, UniformConstant};
            let bound = facts.has_decoration(variable.word, Decoration::DescriptorSet)
                || facts.has_decoration(variable.word, Decoration::Binding);
            if bound && !matches!(variable.class, StorageBuffer | TileAttachmentQCOM | Uniform | UniformConstant) {
                variable.breaks(
                    found,
                    format!("DescriptorSet or Binding on {} in {}", facts.name(variable.word), variable.class),
                );
            }
        }),
    },
    Rule {
        name: "opaque-store",
        id: "VUID-StandaloneSpirv-OpTypeImage-06924",
        says: "images, samplers, acceleration structures and tensors are not stored",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Store], |facts, instruction, found| {
            let Some(ty) = instruction.operand(1).and_then(|word| facts.module.type_of(word)) else { return };
            let (element, _) = crate::reflect::elements(facts.module, ty);
            if is_descriptor(facts.module.ty(element)) {
                found.at(instruction, "a store of an opaque object");
            }
        }),
    },
    Rule {
        name: "uniform-store",
        id: "VUID-StandaloneSpirv-Uniform-06925",
        says: "Uniform variables decorated Block are not written",
        severity: Severity::Error,
        on: On::Instructions(CHANGES, |facts, instruction, found| {
            if !facts.has_class(StorageClass::Uniform) {
                return;
            }
            let Some(origin) = modified(facts, instruction).and_then(|word| facts.origin(word)) else { return };
            let uniform = origin.op == Some(Op::Variable) && origin.operand(0) == Some(StorageClass::Uniform.word());
            let Some((_, Some(ty))) =
                origin.result_type().and_then(|word| facts.module.pointer(facts.module.type_declared(word)?))
            else {
                return;
            };
            let (element, _) = crate::reflect::elements(facts.module, ty);
            if uniform && facts.type_has(element, Decoration::Block) {
                found.at(instruction, "a write to a uniform buffer");
            }
        }),
    },
    Rule {
        name: "boolean-interface",
        id: "VUID-StandaloneSpirv-Input-07290",
        says: "Input and Output variables of booleans are built-ins",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if is_interface(variable)
                && facts.contents(variable.ty).any(Contents::BOOL)
                && facts.built_in(variable.word).is_none()
                && !is_struct(facts, variable.element)
            {
                variable.breaks(found, format!("{} is a boolean and no built-in", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "physical-pointer-interface",
        id: "VUID-StandaloneSpirv-Input-09557",
        says: "Input and Output variables hold no physical pointers",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if is_interface(variable) && facts.contents(variable.ty).any(Contents::PHYSICAL_POINTER) {
                variable.breaks(found, format!("{} holds a physical pointer", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "bfloat16-interface",
        id: "VUID-StandaloneSpirv-OpTypeFloat-10370",
        says: "Input and Output variables hold no bfloat16",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            narrow_float_interface(facts, variable, found, Contents::BFLOAT16);
        }),
    },
    Rule {
        name: "float8-interface",
        id: "VUID-StandaloneSpirv-OpTypeFloat-10823",
        says: "Input and Output variables hold no float8",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            narrow_float_interface(facts, variable, found, Contents::FLOAT8);
        }),
    },
    Rule {
        name: "byte-interface",
        id: "VUID-RuntimeSpirv-None-10980",
        says: "Input and Output variables hold no 8-bit integers",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if is_interface(variable) && facts.contents(variable.ty).any(Contents::BYTE) {
                variable.breaks(found, format!("{} holds 8-bit integers", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "input-attachment-array",
        id: "VUID-RuntimeSpirv-OpTypeImage-09644",
        says: "arrays of input attachments have InputAttachmentIndex",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let attachment =
                matches!(facts.module.ty(variable.element), Type::Image(image) if image.dim == Some(Dim::SubpassData));
            let sized = matches!(facts.module.ty(variable.ty), Type::Array { .. });
            if attachment && sized && !facts.has_decoration(variable.word, Decoration::InputAttachmentIndex) {
                let name = facts.name(variable.word);
                variable.breaks(found, format!("{name} is an array of input attachments without InputAttachmentIndex"));
            }
        }),
    },
    Rule {
        name: "runtime-array-place",
        id: "VUID-StandaloneSpirv-OpTypeRuntimeArray-04680",
        says: "a run-time array is the last member of a buffer's block, or the outermost dimension of descriptors",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            use StorageClass::{NodePayloadAMDX, StorageBuffer, Uniform, UniformConstant};
            let has_runtime_array = |ty: TypeId| facts.contents(ty).any(Contents::RUNTIME_ARRAY);
            // Most hold none at all.
            if !has_runtime_array(variable.ty) {
                return;
            }
            let inner = match (variable.class, facts.module.ty(variable.ty)) {
                (NodePayloadAMDX, _) => return,
                (StorageBuffer | Uniform | UniformConstant, Type::RuntimeArray { element }) => *element,
                _ => variable.ty,
            };
            let (block, _) = crate::reflect::elements(facts.module, inner);
            let holds = match facts.module.members(block) {
                [rest @ .., last] if matches!(variable.class, StorageBuffer | Uniform) && is_struct(facts, block) => {
                    let last = match facts.module.ty(*last) {
                        Type::RuntimeArray { element } => *element,
                        _ => *last,
                    };
                    rest.iter().chain([&last]).any(|member| has_runtime_array(*member))
                }
                _ => has_runtime_array(inner),
            };
            if holds {
                variable.breaks(
                    found,
                    format!("{} holds a run-time array that is not a buffer's last member", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "uniform-array-length",
        id: "VUID-StandaloneSpirv-OpArrayLength-11805",
        says: "OpArrayLength and OpUntypedArrayLengthKHR are not asked of uniform buffers",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ArrayLength, Op::UntypedArrayLengthKHR], |facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            // An untyped pointer comes behind the structure.
            let untyped = op == Op::UntypedArrayLengthKHR;
            let Some((class, ty)) = facts.pointer(instruction.operand(usize::from(untyped))) else { return };
            let named = instruction.operand(0).and_then(|word| facts.module.type_declared(word));
            let ty = if untyped { named } else { ty };
            let Some(ty) = ty else { return };
            if class == StorageClass::Uniform && facts.type_has(ty, Decoration::Block) {
                found.at(instruction, format!("{op} of a uniform buffer"));
            }
        }),
    },
    Rule {
        name: "specialized-array",
        id: "VUID-StandaloneSpirv-Function-04681",
        says: "arrays sized by a specialization constant stand only where no layout depends on their size",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            use StorageClass::{Private, Workgroup};
            let module = facts.module;
            let block = facts.type_has(variable.element, Decoration::Block);
            let free = variable.class == Private || (variable.class == Workgroup && !block);
            // The variable's own type may be such an array, and so may an interface's array of arrays.
            let inner = match module.ty(variable.ty) {
                Type::Array { element, .. } => *element,
                _ => variable.ty,
            };
            let inner = match module.ty(inner) {
                Type::Array { element, .. } if is_interface(variable) => *element,
                _ => inner,
            };
            if !free && facts.contents(inner).any(Contents::SPECIALIZED_ARRAY) {
                variable.breaks(
                    found,
                    format!("{} holds an array sized by a specialization constant", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "opaque-member",
        id: "VUID-StandaloneSpirv-None-04667",
        says: "structures hold no opaque types",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeStruct], |facts, instruction, found| {
            let opaque = |word: &u32| {
                let Some(ty) = facts.module.type_declared(*word) else { return false };
                let (element, _) = crate::reflect::elements(facts.module, ty);
                is_descriptor(facts.module.ty(element))
            };
            if !facts.has(Capability::DescriptorHeapEXT) && instruction.operands().iter().any(opaque) {
                found.at(instruction, "a structure that holds an image, a sampler or another opaque object");
            }
        }),
    },
    Rule {
        name: "opaque-undef",
        id: "VUID-StandaloneSpirv-OpUndef-12464",
        says: "opaque objects are not undefined",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Undef], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            if ty.is_some_and(|ty| is_descriptor(facts.module.ty(ty))) {
                found.at(instruction, "OpUndef of an opaque type");
            }
        }),
    },
    Rule {
        name: "untyped-variable-type",
        id: "VUID-StandaloneSpirv-OpUntypedVariableKHR-11167",
        says: "untyped variables outside UniformConstant state their data type",
        severity: Severity::Error,
        on: On::Instructions(&[Op::UntypedVariableKHR], |_, instruction, found| {
            if instruction.operand(0) != Some(StorageClass::UniformConstant.word()) && instruction.operand(1).is_none()
            {
                found.at(instruction, "an untyped variable without its data type");
            }
        }),
    },
];
