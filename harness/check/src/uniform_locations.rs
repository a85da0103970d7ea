//! Locations of OpenGL's uniforms. Vulkan has none for resources, and forbids the decoration.

use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::{Decoration, Op, StorageClass};

/// Returns the words of a module without the locations of its samplers and images.
pub(crate) fn without_uniform_locations(words: Vec<u32>) -> Vec<u32> {
    let Ok(module) = Module::parse(words.clone()) else { return words };
    let is_resource = |id: u32| {
        let definition = module.definition_of(id).filter(|definition| definition.op == Some(Op::Variable));
        definition.is_some_and(|variable| variable.operand(0) == Some(StorageClass::UniformConstant as u32))
    };
    let is_location = |i: &Instruction<'_>| {
        i.op == Some(Op::Decorate)
            && i.operand(1) == Some(Decoration::Location as u32)
            && i.operand(0).is_some_and(is_resource)
    };
    let instructions = module.instructions();
    let dropped = instructions.filter(is_location).map(|i| i.at..i.at + i.words.len());
    let mut kept = words.clone();
    dropped.rev().for_each(|range| drop(kept.drain(range)));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_have_no_location() {
        let text = |decorations: &str| {
            let text = format!(
                "OpCapability Shader
                OpMemoryModel Logical GLSL450
                {decorations}
                %float = OpTypeFloat 32
                %image = OpTypeImage %float 2D 0 0 0 1 Unknown
                %sampled = OpTypeSampledImage %image
                %ptr = OpTypePointer UniformConstant %sampled
                %in_ptr = OpTypePointer Input %float
                %a = OpVariable %ptr UniformConstant
                %b = OpVariable %in_ptr Input"
            );
            assay_spirv::assemble(&text).unwrap()
        };
        let located = text("OpDecorate %a Location 1\n OpDecorate %b Location 2\n OpDecorate %a Binding 3");
        let locations = |words: Vec<u32>| {
            let module = Module::parse(words).unwrap();
            let decorations = module.instructions().filter(|i| i.op == Some(Op::Decorate));
            decorations.map(|i| i.operands()[1..].to_vec()).collect::<Vec<_>>()
        };
        let (location, binding) = (Decoration::Location as u32, Decoration::Binding as u32);
        assert_eq!(locations(without_uniform_locations(located)), [[location, 2], [binding, 3]]);
    }
}
