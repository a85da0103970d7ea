//! Explicit memory layouts: the storage classes that require or forbid them, and the types that
//! have one.

use std::collections::BTreeSet;

use crate::grammar::Version;
use crate::module::{DecorationRef, Module, Type, TypeId};
use crate::tables::{Capability, Decoration, StorageClass};

/// The last version in which types of `Private` and `Function` variables may have a layout.
const LAST_LENIENT: Version = Version { major: 1, minor: 4 };

/// Layout decorations, which the specification permits on the types of certain storage classes only
/// (SPIR-V, "Shader Interfaces").
const LAYOUT: [Decoration; 5] =
    [Decoration::Block, Decoration::BufferBlock, Decoration::Offset, Decoration::ArrayStride, Decoration::MatrixStride];

/// Returns true if a storage class requires explicit layouts.
pub fn is_explicit(class: StorageClass) -> bool {
    use StorageClass::{PhysicalStorageBuffer, PushConstant, ShaderRecordBufferKHR, StorageBuffer, Uniform};
    matches!(class, PhysicalStorageBuffer | PushConstant | ShaderRecordBufferKHR | StorageBuffer | Uniform)
}

/// Returns true if the types of variables in a storage class may not have a layout: `Workgroup`
/// without `WorkgroupMemoryExplicitLayoutKHR`, and from SPIR-V 1.5 on `Private` and `Function`. For
/// other classes, whose wording is less clear, this returns false.
pub fn forbids_layout(module: &Module, class: StorageClass) -> bool {
    match class {
        StorageClass::Workgroup => !module.declares(Capability::WorkgroupMemoryExplicitLayoutKHR),
        StorageClass::Private | StorageClass::Function => module.version() > LAST_LENIENT,
        _ => false,
    }
}

/// Returns the types in `start` and all types that they contain, but not those behind pointers.
pub fn contained_types(module: &Module, start: impl IntoIterator<Item = TypeId>) -> BTreeSet<TypeId> {
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

/// Returns the pointees of pointer types whose storage class satisfies `wanted`.
pub fn pointees<'a>(
    module: &'a Module,
    wanted: impl Fn(StorageClass) -> bool + 'a,
) -> impl Iterator<Item = TypeId> + 'a {
    module.types().filter_map(move |(_, ty)| match ty {
        Type::Pointer { class, pointee: Some(pointee) } if wanted(*class) => Some(*pointee),
        _ => None,
    })
}

/// Returns the layout decorations of a structure and its members, or of an array, each with the raw
/// id of the type.
pub fn layout_decorations(module: &Module, ty: TypeId) -> impl Iterator<Item = (u32, DecorationRef<'_>)> {
    let composite = matches!(module.ty(ty), Type::Struct { .. } | Type::Array { .. } | Type::RuntimeArray { .. });
    let word = module.type_definition(ty).result().filter(|_| composite);
    word.into_iter().flat_map(move |word| {
        let layout = |d: &DecorationRef| d.decoration.is_some_and(|d| LAYOUT.contains(&d));
        module.decorations(word).filter(layout).map(move |decorated| (word, decorated))
    })
}

/// Returns the first layout decoration on a type or on a type that it contains, with the raw id of
/// the decorated type. Outer types come first.
pub fn outermost_layout_decoration(module: &Module, ty: TypeId) -> Option<(u32, DecorationRef<'_>)> {
    let mut types: Vec<TypeId> = contained_types(module, [ty]).into_iter().collect();
    // An inner type is declared before the type that contains it, so descending order visits outer
    // types first.
    types.sort_unstable_by(|a, b| b.cmp(a));
    types.into_iter().find_map(|ty| layout_decorations(module, ty).next())
}
