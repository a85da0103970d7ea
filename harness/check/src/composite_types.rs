//! Composite types and their parts.

use assay_spirv::Module;
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::Op;

/// Largest number of elements of an array that is split into parts.
const MOST_ELEMENTS: u32 = 256;

/// Returns the types of a vector's components, a matrix's columns, an array's elements or a
/// structure's members, in order. Returns `None` for other types, large arrays, and arrays with a
/// specialisation constant as length.
pub(crate) fn parts(module: &Module, ty: TypeId) -> Option<Vec<TypeId>> {
    let (part, count) = match *module.ty(ty) {
        Type::Struct { .. } => return Some(module.members(ty).to_vec()),
        Type::Vector { component, count } => (component, count),
        Type::Matrix { column, count } => (column, count),
        Type::Array { element, length } => (element, length_of(module, length)?),
        _ => return None,
    };
    (count <= MOST_ELEMENTS).then(|| vec![part; count as usize])
}

/// Returns the length of an array, unless it is a specialisation constant.
pub(crate) fn length_of(module: &Module, length: u32) -> Option<u32> {
    let constant = module.definition_of(length)?.op == Some(Op::Constant);
    module.constant_int(length).filter(|_| constant).and_then(|n| u32::try_from(n).ok())
}
