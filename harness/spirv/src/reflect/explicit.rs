//! Explicit layouts: which storage classes have them, which may not, and the types that carry one.

use std::collections::BTreeSet;

use crate::grammar::Version;
use crate::module::{Decorated, Module, Type, TypeId};
use crate::rules::Facts;
use crate::tables::{Capability, Decoration, StorageClass};

/// The last version whose `Private` and `Function` variables may have types that carry a layout.
const LAST_LENIENT: Version = Version { major: 1, minor: 4 };

/// The decorations that the chapter Shader Interfaces allows on the types of certain storage classes only.
const LAYOUT: [Decoration; 5] =
    [Decoration::Block, Decoration::BufferBlock, Decoration::Offset, Decoration::ArrayStride, Decoration::MatrixStride];

/// Whether what is in a storage class is always laid out explicitly.
pub(crate) fn is_explicit(class: StorageClass) -> bool {
    use StorageClass::{PhysicalStorageBuffer, PushConstant, ShaderRecordBufferKHR, StorageBuffer, Uniform};
    matches!(class, PhysicalStorageBuffer | PushConstant | ShaderRecordBufferKHR | StorageBuffer | Uniform)
}

/// Whether the types of a storage class's variables may not carry a layout: those of `Workgroup` without
/// `WorkgroupMemoryExplicitLayoutKHR`, from SPIR-V 1.5 on also those of `Private` and `Function`. Other classes, where
/// the text is less plain, are let pass.
pub(crate) fn forbids_layout(facts: &Facts, class: StorageClass) -> bool {
    match class {
        StorageClass::Workgroup => !facts.has(Capability::WorkgroupMemoryExplicitLayoutKHR),
        StorageClass::Private | StorageClass::Function => facts.module.version() > LAST_LENIENT,
        _ => false,
    }
}

/// The types that some start from, and those that they hold (not through pointers), each once.
pub(crate) fn held(module: &Module, start: impl IntoIterator<Item = TypeId>) -> BTreeSet<TypeId> {
    let mut waiting: Vec<TypeId> = start.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(ty) = waiting.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match *module.ty(ty) {
            Type::Struct { .. } => waiting.extend(module.members(ty)),
            Type::Array { element, .. } | Type::RuntimeArray { element } => waiting.push(element),
            _ => {}
        }
    }
    seen
}

/// What pointers of the wanted storage classes point to.
pub(crate) fn pointees<'a>(
    module: &'a Module,
    wanted: impl Fn(StorageClass) -> bool + 'a,
) -> impl Iterator<Item = TypeId> + 'a {
    module.types().filter_map(move |(_, ty)| match ty {
        Type::Pointer { class, pointee: Some(pointee) } if wanted(*class) => Some(*pointee),
        _ => None,
    })
}

/// The layout decorations that a structure, its members, or an array carries, with the word of the type's id.
pub(crate) fn layout_of(module: &Module, ty: TypeId) -> impl Iterator<Item = (u32, Decorated<'_>)> {
    let composite = matches!(module.ty(ty), Type::Struct { .. } | Type::Array { .. } | Type::RuntimeArray { .. });
    let word = module.type_definition(ty).result().filter(|_| composite);
    word.into_iter().flat_map(move |word| {
        let layout = |d: &Decorated| d.decoration.is_some_and(|d| LAYOUT.contains(&d));
        module.decorations(word).filter(layout).map(move |decorated| (word, decorated))
    })
}

/// The first layout decoration on a type or on what it holds, with the word of the type that carries it.
pub(crate) fn first_layout(module: &Module, ty: TypeId) -> Option<(u32, Decorated<'_>)> {
    let mut types: Vec<TypeId> = held(module, [ty]).into_iter().collect();
    // An inner type is declared before what holds it; the outermost is what a reader looks for.
    types.sort_unstable_by(|a, b| b.cmp(a));
    types.into_iter().find_map(|ty| layout_of(module, ty).next())
}
