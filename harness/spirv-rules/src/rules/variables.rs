//! Module-scope variables: types, initializers, interfaces and bindings.

use super::analysis::facts::{Facts, ModuleVariable};
use super::analysis::type_contents::TypeContents;
use super::opcode_groups::{ATOMIC_WRITES, joined};
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{BuiltIn, Capability, Decoration, Dim, Op, StorageClass};

fn is_descriptor(ty: &Type) -> bool {
    let other = matches!(ty, Type::Other(Op::TypeAccelerationStructureKHR | Op::TypeTensorARM));
    other || matches!(ty, Type::Image(_) | Type::Sampler | Type::SampledImage { .. })
}

fn is_struct(facts: &Facts, ty: TypeId) -> bool {
    matches!(facts.module.ty(ty), Type::Struct { .. })
}

/// Returns whether a variable has both DescriptorSet and Binding.
fn has_binding(facts: &Facts, variable: &ModuleVariable) -> bool {
    facts.has_decoration(variable.word, Decoration::DescriptorSet)
        && facts.has_decoration(variable.word, Decoration::Binding)
}

/// Pointer that an instruction may write through.
fn written_pointer(facts: &Facts, instruction: assay_spirv::module::Instruction) -> Option<u32> {
    match instruction.op? {
        Op::Store | Op::CopyMemory | Op::AtomicStore => instruction.operand(0),
        op if op.info().class == assay_spirv::grammar::InstructionClass::Atomic && op != Op::AtomicLoad => {
            instruction.operand(0)
        }
        _ => None,
    }
    .filter(|word| facts.module.dense_id(*word).is_some())
}

const WRITES: &[Op] = &joined::<{ 2 + ATOMIC_WRITES.len() }>(&[Op::Store, Op::CopyMemory], ATOMIC_WRITES);

/// Reports an input or output that contains floats of one of these encodings.
fn report_narrow_floats(facts: &Facts, variable: &ModuleVariable, found: &mut Findings, encodings: u16) {
    if is_interface(variable) && facts.contents(variable.ty).any(encodings) {
        variable.report(
            found,
            format!("{} contains floats of an encoding that interfaces do not permit", facts.name(variable.word)),
        );
    }
}

fn is_interface(variable: &ModuleVariable) -> bool {
    matches!(variable.class, StorageClass::Input | StorageClass::Output)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "initializer-class",
        id: "VUID-StandaloneSpirv-OpVariable-04651",
        requirement: "only Output, Private, Function and Workgroup variables may have an initializer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable], |_, instruction, found| {
            use StorageClass::{Function, Output, Private, Workgroup};
            let class = instruction.operand(0).and_then(StorageClass::from_word);
            if instruction.operand(1).is_some()
                && !matches!(class, Some(Output | Private | Function | Workgroup) | None)
            {
                found.report(instruction, "initializer on a variable outside Output, Private, Function and Workgroup");
            }
        }),
    },
    Rule {
        name: "workgroup-initializer",
        id: "VUID-StandaloneSpirv-OpVariable-04734",
        requirement: "the initializer of a Workgroup variable must be OpConstantNull",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable], |facts, instruction, found| {
            let workgroup = instruction.operand(0) == Some(StorageClass::Workgroup.word());
            let Some(initializer) = instruction.operand(1).filter(|_| workgroup) else { return };
            if facts.module.definition_of(initializer).and_then(|d| d.op) != Some(Op::ConstantNull) {
                found.report(instruction, "initializer of a Workgroup variable is not OpConstantNull");
            }
        }),
    },
    Rule {
        name: "uniform-constant-type",
        id: "VUID-StandaloneSpirv-UniformConstant-04655",
        requirement: "UniformConstant variables must be images, samplers, sampled images, acceleration structures or tensors, or arrays of them",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if variable.class == StorageClass::UniformConstant && !is_descriptor(facts.module.ty(variable.element)) {
                variable.report(
                    found,
                    format!("{} in UniformConstant does not have an opaque type", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "buffer-type",
        id: "VUID-StandaloneSpirv-Uniform-06807",
        requirement: "Uniform and StorageBuffer variables must be structures or arrays of them",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let buffer = matches!(variable.class, StorageClass::Uniform | StorageClass::StorageBuffer);
            if buffer && !is_struct(facts, variable.element) {
                variable
                    .report(found, format!("{} in {} is not a structure", facts.name(variable.word), variable.class));
            }
        }),
    },
    Rule {
        name: "push-constant-type",
        id: "VUID-StandaloneSpirv-PushConstant-06808",
        requirement: "PushConstant variables must be structures",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if variable.class == StorageClass::PushConstant && !is_struct(facts, variable.ty) {
                variable.report(found, format!("{} in PushConstant is not a structure", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "block",
        id: "VUID-StandaloneSpirv-PushConstant-06675",
        requirement: "the structure types of PushConstant and StorageBuffer variables must be decorated Block",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let blocks = matches!(variable.class, StorageClass::PushConstant | StorageClass::StorageBuffer);
            if blocks && is_struct(facts, variable.element) && !facts.type_has(variable.element, Decoration::Block) {
                variable
                    .report(found, format!("the structure of {} is not decorated Block", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "uniform-block",
        id: "VUID-StandaloneSpirv-Uniform-06676",
        requirement: "the structure types of Uniform variables must be decorated Block or BufferBlock",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let decorated = facts.type_has(variable.element, Decoration::Block)
                || facts.type_has(variable.element, Decoration::BufferBlock);
            if variable.class == StorageClass::Uniform && is_struct(facts, variable.element) && !decorated {
                variable.report(
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
        requirement: "UniformConstant, StorageBuffer and Uniform variables must have DescriptorSet and Binding",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let bound = matches!(
                variable.class,
                StorageClass::UniformConstant | StorageClass::StorageBuffer | StorageClass::Uniform
            );
            let heap =
                matches!(facts.built_in(variable.word), Some(BuiltIn::ResourceHeapEXT | BuiltIn::SamplerHeapEXT));
            if bound && !heap && !has_binding(facts, variable) {
                variable.report(found, format!("{} has no DescriptorSet or no Binding", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "input-attachment-class",
        id: "VUID-StandaloneSpirv-InputAttachmentIndex-06678",
        requirement: "InputAttachmentIndex must decorate UniformConstant variables only",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let indexed = facts.has_decoration(variable.word, Decoration::InputAttachmentIndex);
            if indexed && variable.class != StorageClass::UniformConstant {
                variable.report(
                    found,
                    format!("InputAttachmentIndex on {} in {}", facts.name(variable.word), variable.class),
                );
            }
        }),
    },
    Rule {
        name: "binding-class",
        id: "VUID-StandaloneSpirv-DescriptorSet-06491",
        requirement: "DescriptorSet and Binding must decorate StorageBuffer, Uniform, UniformConstant and TileAttachmentQCOM variables only",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            use StorageClass::{StorageBuffer, TileAttachmentQCOM, Uniform, UniformConstant};
            let bound = facts.has_decoration(variable.word, Decoration::DescriptorSet)
                || facts.has_decoration(variable.word, Decoration::Binding);
            if bound && !matches!(variable.class, StorageBuffer | TileAttachmentQCOM | Uniform | UniformConstant) {
                variable.report(
                    found,
                    format!("DescriptorSet or Binding on {} in {}", facts.name(variable.word), variable.class),
                );
            }
        }),
    },
    Rule {
        name: "opaque-store",
        id: "VUID-StandaloneSpirv-OpTypeImage-06924",
        requirement: "images, samplers, acceleration structures and tensors must not be stored",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Store], |facts, instruction, found| {
            let Some(ty) = instruction.operand(1).and_then(|word| facts.module.type_of(word)) else { return };
            let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
            if is_descriptor(facts.module.ty(element)) {
                found.report(instruction, "store of an opaque object");
            }
        }),
    },
    Rule {
        name: "uniform-store",
        id: "VUID-StandaloneSpirv-Uniform-06925",
        requirement: "Uniform variables whose type is decorated Block must not be written",
        severity: Severity::Error,
        check: Check::Instructions(WRITES, |facts, instruction, found| {
            if !facts.has_class(StorageClass::Uniform) {
                return;
            }
            let Some(origin) = written_pointer(facts, instruction).and_then(|word| facts.origin(word)) else { return };
            let uniform = origin.op == Some(Op::Variable) && origin.operand(0) == Some(StorageClass::Uniform.word());
            let Some((_, Some(ty))) =
                origin.result_type().and_then(|word| facts.module.pointer(facts.module.type_declared(word)?))
            else {
                return;
            };
            let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
            if uniform && facts.type_has(element, Decoration::Block) {
                found.report(instruction, "write to a uniform buffer");
            }
        }),
    },
    Rule {
        name: "boolean-interface",
        id: "VUID-StandaloneSpirv-Input-07290",
        requirement: "Input and Output variables that contain booleans must be built-ins",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if is_interface(variable)
                && facts.contents(variable.ty).any(TypeContents::BOOL)
                && facts.built_in(variable.word).is_none()
                && !is_struct(facts, variable.element)
            {
                variable
                    .report(found, format!("{} contains booleans, but is not a built-in", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "physical-pointer-interface",
        id: "VUID-StandaloneSpirv-Input-09557",
        requirement: "Input and Output variables must not contain physical pointers",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if is_interface(variable) && facts.contents(variable.ty).any(TypeContents::PHYSICAL_POINTER) {
                variable.report(found, format!("{} contains a physical pointer", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "bfloat16-interface",
        id: "VUID-StandaloneSpirv-OpTypeFloat-10370",
        requirement: "Input and Output variables must not contain BFloat16KHR values",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            report_narrow_floats(facts, variable, found, TypeContents::BFLOAT16);
        }),
    },
    Rule {
        name: "float8-interface",
        id: "VUID-StandaloneSpirv-OpTypeFloat-10823",
        requirement: "Input and Output variables must not contain Float8E4M3EXT or Float8E5M2EXT values",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            report_narrow_floats(facts, variable, found, TypeContents::FLOAT8);
        }),
    },
    Rule {
        name: "byte-interface",
        id: "VUID-RuntimeSpirv-None-10980",
        requirement: "Input and Output variables must not contain 8-bit integers",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if is_interface(variable) && facts.contents(variable.ty).any(TypeContents::BYTE) {
                variable.report(found, format!("{} contains 8-bit integers", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "input-attachment-array",
        id: "VUID-RuntimeSpirv-OpTypeImage-09644",
        requirement: "arrays of input attachments must have InputAttachmentIndex",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let attachment =
                matches!(facts.module.ty(variable.element), Type::Image(image) if image.dim == Some(Dim::SubpassData));
            let sized = matches!(facts.module.ty(variable.ty), Type::Array { .. });
            if attachment && sized && !facts.has_decoration(variable.word, Decoration::InputAttachmentIndex) {
                let name = facts.name(variable.word);
                variable.report(found, format!("{name} is an array of input attachments without InputAttachmentIndex"));
            }
        }),
    },
    Rule {
        name: "runtime-array-place",
        id: "VUID-StandaloneSpirv-OpTypeRuntimeArray-04680",
        requirement: "a runtime array must be the last member of a StorageBuffer or Uniform block, or the outermost dimension of a descriptor array",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            use StorageClass::{NodePayloadAMDX, StorageBuffer, Uniform, UniformConstant};
            let has_runtime_array = |ty: TypeId| facts.contents(ty).any(TypeContents::RUNTIME_ARRAY);
            // Most variables contain no runtime array.
            if !has_runtime_array(variable.ty) {
                return;
            }
            let inner = match (variable.class, facts.module.ty(variable.ty)) {
                (NodePayloadAMDX, _) => return,
                (StorageBuffer | Uniform | UniformConstant, Type::RuntimeArray { element }) => *element,
                _ => variable.ty,
            };
            let (block, _) = assay_spirv::reflect::elements(facts.module, inner);
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
                variable.report(
                    found,
                    format!(
                        "{} contains a runtime array that is not the last member of a buffer block",
                        facts.name(variable.word)
                    ),
                );
            }
        }),
    },
    Rule {
        name: "uniform-array-length",
        id: "VUID-StandaloneSpirv-OpArrayLength-11805",
        requirement: "OpArrayLength and OpUntypedArrayLengthKHR must not be used on Uniform variables decorated Block",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ArrayLength, Op::UntypedArrayLengthKHR], |facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            // The pointer of OpUntypedArrayLengthKHR follows the structure type.
            let untyped = op == Op::UntypedArrayLengthKHR;
            let Some((class, ty)) = facts.pointer(instruction.operand(usize::from(untyped))) else { return };
            let named = instruction.operand(0).and_then(|word| facts.module.type_declared(word));
            let ty = if untyped { named } else { ty };
            let Some(ty) = ty else { return };
            if class == StorageClass::Uniform && facts.type_has(ty, Decoration::Block) {
                found.report(instruction, format!("{op} of a uniform buffer"));
            }
        }),
    },
    Rule {
        name: "specialized-array",
        id: "VUID-StandaloneSpirv-Function-04681",
        requirement: "an array whose length is a specialization constant must be in a Private or a non-block Workgroup variable, or be the outermost dimension of a variable (of Input and Output variables: one of the two outermost)",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            use StorageClass::{Private, Workgroup};
            let module = facts.module;
            let block = facts.type_has(variable.element, Decoration::Block);
            let free = variable.class == Private || (variable.class == Workgroup && !block);
            // The variable's type may itself be such an array, and for an input or output an array
            // of such arrays.
            let inner = match module.ty(variable.ty) {
                Type::Array { element, .. } => *element,
                _ => variable.ty,
            };
            let inner = match module.ty(inner) {
                Type::Array { element, .. } if is_interface(variable) => *element,
                _ => inner,
            };
            if !free && facts.contents(inner).any(TypeContents::SPECIALIZED_ARRAY) {
                variable.report(
                    found,
                    format!(
                        "{} contains an array whose length is a specialization constant",
                        facts.name(variable.word)
                    ),
                );
            }
        }),
    },
    Rule {
        name: "opaque-member",
        id: "VUID-StandaloneSpirv-None-04667",
        requirement: "structures must not contain opaque types, except with DescriptorHeapEXT",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeStruct], |facts, instruction, found| {
            let opaque = |word: &u32| {
                let Some(ty) = facts.module.type_declared(*word) else { return false };
                let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
                is_descriptor(facts.module.ty(element))
            };
            if !facts.has(Capability::DescriptorHeapEXT) && instruction.operands().iter().any(opaque) {
                found.report(instruction, "structure that contains an image, a sampler or another opaque object");
            }
        }),
    },
    Rule {
        name: "opaque-undef",
        id: "VUID-StandaloneSpirv-OpUndef-12464",
        requirement: "Result Type of OpUndef must not be an opaque type",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Undef], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            if ty.is_some_and(|ty| is_descriptor(facts.module.ty(ty))) {
                found.report(instruction, "OpUndef of an opaque type");
            }
        }),
    },
    Rule {
        name: "untyped-variable-type",
        id: "VUID-StandaloneSpirv-OpUntypedVariableKHR-11167",
        requirement: "OpUntypedVariableKHR must state Data Type unless its Storage Class is UniformConstant",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::UntypedVariableKHR], |_, instruction, found| {
            if instruction.operand(0) != Some(StorageClass::UniformConstant.word()) && instruction.operand(1).is_none()
            {
                found.report(instruction, "untyped variable without Data Type");
            }
        }),
    },
];
