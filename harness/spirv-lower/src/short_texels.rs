//! Completion of texels with too few components.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::reflect::image_type;
use assay_spirv::tables::Op;

/// Returns the module's words with zeros for the components that the texels of image writes lack;
/// `None` if they lack none. glslang declares an image of `float3` in HLSL with four components,
/// and writes three, which Vulkan forbids (VUID-RuntimeSpirv-OpImageWrite-07112).
pub fn with_whole_texels(module: &Module) -> Option<Vec<u32>> {
    let mut editor = Editor::new(module);
    let mut changed = false;
    for write in module.instructions().filter(|i| i.op == Some(Op::ImageWrite)) {
        changed |= complete(&mut editor, module, write).is_some();
    }
    changed.then(|| editor.finish())
}

/// Replaces a write whose texel is too short; returns `None` for another.
fn complete(editor: &mut Editor<'_>, module: &Module, write: Instruction<'_>) -> Option<()> {
    let [image, coordinate, texel, rest @ ..] = write.operands() else { return None };
    let needs = image_type(module, module.type_of(*image)?)?.format?.components();
    let ty = module.type_of(*texel)?;
    let (component, has) = match *module.ty(ty) {
        Type::Vector { component, count } => (component, count),
        _ => (ty, 1),
    };
    if has >= needs {
        return None;
    }
    let word = |ty: TypeId| module.type_definition(ty).result();
    let zero = editor.null(word(component)?);
    let (whole, id) = (editor.vector(word(component)?, needs), editor.id());
    let parts = [whole, id, *texel].into_iter().chain((has..needs).map(|_| zero));
    let mut words = instruction(Op::CompositeConstruct, &parts.collect::<Vec<_>>());
    words.extend(instruction(Op::ImageWrite, &[&[*image, *coordinate, id], rest].concat()));
    editor.replace(write.at, words);
    Some(())
}
