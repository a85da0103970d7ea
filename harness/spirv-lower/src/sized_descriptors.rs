//! Arrays of descriptors of fixed length in place of run-time arrays.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{Capability, Op};
use std::collections::BTreeSet;

/// Returns the module's words with arrays of `count` descriptors in place of run-time arrays, which
/// need the feature `runtimeDescriptorArray`; `None` if it has none. An access within `count`
/// descriptors means the same.
pub fn with_sized_descriptors(module: &Module, count: u32) -> Option<Vec<u32>> {
    let arrays = runtime_descriptor_arrays(module);
    let first = arrays.first()?.at;
    let mut editor = Editor::new(module);
    let is_uint = |i: &Instruction<'_>| i.op == Some(Op::TypeInt) && i.words.get(2..) == Some(&[32, 0]);
    let declared = module.section(Section::Globals).find(is_uint);
    let uint = declared.and_then(|i| i.result()).unwrap_or_else(|| editor.id());
    let length = editor.id();
    let mut words = Vec::new();
    // The length precedes the first array, and its type the length.
    if declared.is_none_or(|i| i.at > first) {
        words.extend(instruction(Op::TypeInt, &[uint, 32, 0]));
        if let Some(late) = declared {
            editor.replace(late.at, Vec::new());
        }
    }
    words.extend(instruction(Op::Constant, &[uint, length, count]));
    for array in arrays {
        let &[_, id, element] = array.words else { return None };
        words.extend(instruction(Op::TypeArray, &[id, element, length]));
        editor.replace(array.at, std::mem::take(&mut words));
    }
    let capability = Some(Capability::RuntimeDescriptorArray.word());
    for i in module.section(Section::Capabilities).filter(|i| i.operand(0) == capability) {
        editor.replace(i.at, Vec::new());
    }
    Some(editor.finish())
}

/// Returns the declarations of run-time arrays to which variables point, in their order. Those of
/// buffers are members of structures.
fn runtime_descriptor_arrays(module: &Module) -> Vec<Instruction<'_>> {
    let variables = module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable));
    let pointees = variables.filter_map(|i| module.pointer(module.type_declared(i.result_type()?)?)?.1);
    let arrays = pointees.filter(|ty| matches!(module.ty(*ty), Type::RuntimeArray { .. }));
    let places: BTreeSet<usize> = arrays.map(|ty| module.type_definition(ty).at).collect();
    module.section(Section::Globals).filter(|i| places.contains(&i.at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::{Style, assemble, disassemble};

    /// A module with an array of images, and a buffer with a run-time array as its member.
    const TEXT: &str = "
        OpCapability Shader
        OpCapability RuntimeDescriptorArray
        OpExtension \"SPV_EXT_descriptor_indexing\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %images DescriptorSet 0
        OpDecorate %images Binding 0
        OpDecorate %data DescriptorSet 0
        OpDecorate %data Binding 1
        OpDecorate %floats ArrayStride 4
        OpDecorate %block BufferBlock
        OpMemberDecorate %block 0 Offset 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %float = OpTypeFloat 32
        %image = OpTypeImage %float 2D 0 0 0 1 Unknown
        %array = OpTypeRuntimeArray %image
        %to_array = OpTypePointer UniformConstant %array
        %images = OpVariable %to_array UniformConstant
        %floats = OpTypeRuntimeArray %float
        %block = OpTypeStruct %floats
        %to_block = OpTypePointer Uniform %block
        %data = OpVariable %to_block Uniform
        %uint = OpTypeInt 32 0
        %one = OpConstant %uint 1
        %main = OpFunction %void None %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd";

    fn sized(text: &str) -> Option<String> {
        let module = Module::parse(assemble(text).unwrap()).unwrap();
        Some(disassemble(&with_sized_descriptors(&module, 4)?, Style::default()).unwrap())
    }

    #[test]
    fn arrays_of_descriptors_get_a_length_and_buffers_stay() {
        for text in
            [TEXT.to_owned(), TEXT.replace("%one = OpConstant %uint 1", "").replace("%uint = OpTypeInt 32 0", "")]
        {
            let sized = sized(&text).unwrap();
            assert!(!sized.contains("OpCapability RuntimeDescriptorArray"), "{sized}");
            assert_eq!(sized.matches("OpTypeInt 32 0").count(), 1, "{sized}");
            assert_eq!(sized.matches("OpTypeRuntimeArray").count(), 1, "{sized}");
            let at = |what: &str| sized.find(what).unwrap_or_else(|| panic!("{what}: {sized}"));
            let order = ["OpTypeInt 32 0", "OpConstant", "OpTypeArray", "OpTypePointer UniformConstant"].map(at);
            assert!(order.is_sorted(), "{sized}");
        }
        let without = TEXT.replace("%array = OpTypeRuntimeArray %image", "%array = OpTypeStruct %image");
        assert_eq!(sized(&without), None);
    }
}
