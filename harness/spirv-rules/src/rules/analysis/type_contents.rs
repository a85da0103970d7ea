//! Contents of types: the kinds of types that a type is or contains, not through pointers. Computed
//! once in declaration order, because parts are declared first.

use assay_spirv::module::{Module, Type, TypeId};
use assay_spirv::reflect::{self, explicit_layout};
use assay_spirv::tables::{Decoration, FPEncoding, Op, StorageClass};

/// Kinds of types that a type is or contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeContents {
    bits: u16,
    /// Size in bytes of the largest number or physical pointer; 0 if the type contains neither.
    pub(crate) largest: u8,
}

impl TypeContents {
    pub(crate) const BOOL: u16 = 1 << 0;
    /// 8-bit integers.
    pub(crate) const BYTE: u16 = 1 << 1;
    /// Integers of any width and 64-bit floats, which cannot be interpolated.
    pub(crate) const NOT_INTERPOLATED: u16 = 1 << 2;
    pub(crate) const BFLOAT16: u16 = 1 << 3;
    pub(crate) const FLOAT8: u16 = 1 << 4;
    /// Encodings of the micro-scaling formats.
    pub(crate) const MICRO: u16 = 1 << 5;
    pub(crate) const RUNTIME_ARRAY: u16 = 1 << 6;
    pub(crate) const PHYSICAL_POINTER: u16 = 1 << 7;
    /// Vectors of more than four components.
    pub(crate) const LONG_VECTOR: u16 = 1 << 8;
    /// Arrays whose length is a specialization constant.
    pub(crate) const SPECIALIZED_ARRAY: u16 = 1 << 9;
    /// Layout decorations, such as Block, Offset and ArrayStride.
    pub(crate) const LAYOUT: u16 = 1 << 10;
    /// Structures decorated Block or BufferBlock.
    pub(crate) const BLOCK: u16 = 1 << 11;
    pub(crate) const MATRIX: u16 = 1 << 12;

    /// Returns whether the type contains any of these kinds.
    pub(crate) fn any(self, bits: u16) -> bool {
        self.bits & bits != 0
    }
}

/// Contents of every type, by its index.
pub(crate) fn contents(module: &Module) -> Vec<TypeContents> {
    let mut all: Vec<TypeContents> = Vec::new();
    for (id, ty) in module.types() {
        let mut own = TypeContents { bits: own_bits(module, id, ty), largest: largest(ty) };
        let mut holds = |inner: TypeId| {
            let inner = all.get(inner.0 as usize).copied().unwrap_or_default();
            own.bits |= inner.bits;
            own.largest = own.largest.max(inner.largest);
        };
        match *ty {
            Type::Vector { component: inner, .. }
            | Type::Matrix { column: inner, .. }
            | Type::Array { element: inner, .. }
            | Type::RuntimeArray { element: inner }
            | Type::SampledImage { image: inner } => holds(inner),
            Type::Struct { .. } => module.members(id).iter().copied().for_each(holds),
            _ => {}
        }
        all.push(own);
    }
    all
}

fn own_bits(module: &Module, id: TypeId, ty: &Type) -> u16 {
    let layout =
        || if explicit_layout::layout_decorations(module, id).next().is_some() { TypeContents::LAYOUT } else { 0 };
    match *ty {
        Type::Bool => TypeContents::BOOL,
        Type::Int { width: 8, .. } => TypeContents::BYTE | TypeContents::NOT_INTERPOLATED,
        Type::Int { .. } | Type::Float { width: 64, .. } => TypeContents::NOT_INTERPOLATED,
        Type::Float { encoding: Some(encoding), .. } => encoding_bits(encoding),
        Type::RuntimeArray { .. } => TypeContents::RUNTIME_ARRAY | layout(),
        Type::Array { length, .. } => {
            let length = module.definition_of(length).and_then(|d| d.op);
            let specialized = matches!(length, Some(Op::SpecConstant | Op::SpecConstantOp));
            layout() | if specialized { TypeContents::SPECIALIZED_ARRAY } else { 0 }
        }
        Type::Struct { .. } => {
            let declared = module.type_definition(id).result();
            let block = |decoration| declared.is_some_and(|word| reflect::has_decoration(module, word, decoration));
            let is_block = block(Decoration::Block) || block(Decoration::BufferBlock);
            layout() | if is_block { TypeContents::BLOCK } else { 0 }
        }
        Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => TypeContents::PHYSICAL_POINTER,
        Type::Matrix { .. } => TypeContents::MATRIX,
        Type::Vector { count, .. } if count > 4 => TypeContents::LONG_VECTOR,
        _ => 0,
    }
}

fn encoding_bits(encoding: FPEncoding) -> u16 {
    use FPEncoding as E;
    match encoding {
        E::BFloat16KHR => TypeContents::BFLOAT16,
        E::Float8E4M3EXT | E::Float8E5M2EXT => TypeContents::FLOAT8,
        E::Float6E2M3EXT | E::Float6E3M2EXT | E::Float4E2M1EXT | E::Float8UnsignedE8M0EXT | E::MXInt8EXT => {
            TypeContents::MICRO
        }
    }
}

fn largest(ty: &Type) -> u8 {
    match *ty {
        Type::Int { width: width @ (8 | 16 | 32 | 64), .. } | Type::Float { width: width @ (8 | 16 | 32 | 64), .. } => {
            (width / 8) as u8
        }
        Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => 8,
        _ => 0,
    }
}
