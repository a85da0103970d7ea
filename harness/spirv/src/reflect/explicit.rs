//! Explicit layouts: which storage classes have them, which may not, and the types that carry one.

use std::collections::BTreeSet;

use crate::grammar::Version;
use crate::module::{Decorated, Module, Type, TypeId};
use crate::rules::Facts;
use crate::tables::{Capability, Decoration, Op, StorageClass};

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
fn layout_of(module: &Module, ty: TypeId) -> impl Iterator<Item = (u32, Decorated<'_>)> {
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

/// The module's words without the layout decorations that its variables' storage classes forbid, for modules from a
/// translator that decorates every array; `None` where there is none to take away.
///
/// A type that something in another storage class points to as well keeps its decorations: that use may need them, and
/// the rule [`LAYOUT_NOT_ALLOWED`](crate::rules::LAYOUT_NOT_ALLOWED) still tells of the variable. So do decorations
/// that come through groups.
pub fn without_forbidden_layout(module: &Module) -> Option<Vec<u32>> {
    let facts = Facts::new(module);
    let variables = module.instructions().filter(|i| i.op == Some(Op::Variable)).filter_map(|i| {
        let (class, pointee) = module.pointer(module.type_declared(i.result_type()?)?)?;
        pointee.filter(|_| forbids_layout(&facts, class))
    });
    let mut forbidden = held(module, variables);
    // Private and Function permit a layout at most; they never need one.
    use StorageClass::{Function, Private, Workgroup};
    let other = |class| match class {
        Workgroup => !forbids_layout(&facts, class),
        Private | Function => false,
        _ => true,
    };
    for kept in held(module, pointees(module, other)) {
        forbidden.remove(&kept);
    }
    let useless: BTreeSet<usize> = forbidden
        .into_iter()
        .flat_map(|ty| layout_of(module, ty))
        .map(|(target, decorated)| (target, decorated.instruction))
        // Not what a group says: its instruction is about others too.
        .filter(|(target, i)| i.words.get(1) == Some(target))
        .map(|(_, i)| i.at)
        .collect();
    if useless.is_empty() {
        return None;
    }
    let first = module.instructions().next()?.at;
    let kept = module.instructions().filter(|i| !useless.contains(&i.at)).flat_map(|i| i.words.iter().copied());
    Some(module.words()[..first].iter().copied().chain(kept).collect())
}
