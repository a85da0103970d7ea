//! Memory layouts of types, read from their decorations.

use std::sync::Arc;

use crate::hash::FastMap;
use crate::module::{DecorationRef, Module, Type, TypeId};
use crate::tables::{Decoration, FPEncoding, StorageClass};

/// A type with its layout. Structures are shared, so the tree is not larger than the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeLayout {
    /// `OpTypeBool`, which has no memory layout.
    Bool,
    /// An integer.
    Int {
        /// Width in bits.
        width: u32,
        /// Set for a signed integer.
        signed: bool,
    },
    /// A floating-point number.
    Float {
        /// Width in bits.
        width: u32,
        /// Its encoding, if not IEEE 754.
        encoding: Option<FPEncoding>,
    },
    /// A vector.
    Vector {
        /// Type of a component.
        component: Arc<TypeLayout>,
        /// Number of components.
        count: u32,
    },
    /// A matrix.
    Matrix {
        /// Type of a component.
        component: Arc<TypeLayout>,
        /// Number of columns.
        columns: u32,
        /// Number of rows.
        rows: u32,
        /// Bytes from one column (or row, if row-major) to the next, if decorated.
        stride: Option<u32>,
        /// Set if the elements of a row are contiguous, and not those of a column.
        row_major: bool,
    },
    /// An array.
    Array {
        /// Type of an element.
        element: Arc<TypeLayout>,
        /// Number of elements; `None` for a run-time array.
        count: Option<u64>,
        /// Bytes from one element to the next, if decorated.
        stride: Option<u32>,
    },
    /// A structure.
    Struct {
        /// Its debug name.
        name: Option<String>,
        /// Its members in order.
        members: Vec<Member>,
        /// Sizes and alignments, which [`TypeLayout::structure`] computes.
        measure: StructureExtent,
    },
    /// A pointer.
    Pointer {
        /// Its storage class.
        class: StorageClass,
        /// The type that it points to; `None` for an untyped pointer.
        pointee: Option<TypeId>,
    },
    /// A type without a memory layout, such as an image or a sampler.
    Opaque,
}

/// Sizes and alignments of a structure. They are stored, because structures share their members: a
/// walk over n levels could take 2^n steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructureExtent {
    size: u64,
    padded_size: u64,
    scalar_alignment: u64,
    base_alignment: u64,
    parts: u64,
}

impl StructureExtent {
    fn of(members: &[Member]) -> StructureExtent {
        let (mut size, mut padded_size) = (0u64, 0u64);
        for member in members {
            let shape = &*member.shape;
            let start = member.offset.map(u64::from);
            size = size.max(start.unwrap_or(size).saturating_add(shape.size()));
            let padded = match shape {
                TypeLayout::Struct { .. } => rounded_up(shape.padded_size(), shape.base_alignment()),
                shape => shape.size(),
            };
            padded_size = padded_size.max(start.unwrap_or(padded_size).saturating_add(padded));
        }
        let shapes = || members.iter().map(|member| &*member.shape);
        StructureExtent {
            size,
            padded_size,
            scalar_alignment: shapes().map(TypeLayout::scalar_alignment).max().unwrap_or(1),
            base_alignment: shapes().map(TypeLayout::base_alignment).max().unwrap_or(1),
            parts: shapes().fold(1, |parts, shape| parts.saturating_add(shape.parts())),
        }
    }
}

/// Rounds up to the next multiple; saturates at `u64::MAX`.
fn rounded_up(number: u64, to: u64) -> u64 {
    number.checked_next_multiple_of(to.max(1)).unwrap_or(u64::MAX)
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its debug name.
    pub name: Option<String>,
    /// Its offset in bytes, if decorated.
    pub offset: Option<u32>,
    /// Its type.
    pub shape: Arc<TypeLayout>,
}

impl TypeLayout {
    /// Returns its size in bytes, without padding at its end. A run-time array counts as empty.
    pub fn size(&self) -> u64 {
        match self {
            TypeLayout::Bool => 4,
            TypeLayout::Int { width, .. } | TypeLayout::Float { width, .. } => u64::from(width.div_ceil(8)),
            TypeLayout::Vector { component, count } => component.size().saturating_mul(u64::from(*count)),
            TypeLayout::Matrix { component, columns, rows, stride, row_major } => {
                let (lines, length) = if *row_major { (rows, columns) } else { (columns, rows) };
                let line = component.size().saturating_mul(u64::from(*length));
                let before = u64::from(lines.saturating_sub(1));
                stride.map_or(line, u64::from).saturating_mul(before).saturating_add(line)
            }
            TypeLayout::Array { element, count, stride } => {
                let (element, count) = (element.size(), count.unwrap_or(0));
                let before = count.saturating_sub(1);
                let last = if count == 0 { 0 } else { element };
                stride.map_or(element, u64::from).saturating_mul(before).saturating_add(last)
            }
            TypeLayout::Struct { measure, .. } => measure.size,
            TypeLayout::Pointer { .. } => 8,
            TypeLayout::Opaque => 0,
        }
    }

    /// Returns a structure of these members.
    pub fn structure(name: Option<String>, members: Vec<Member>) -> TypeLayout {
        TypeLayout::Struct { name, measure: StructureExtent::of(&members), members }
    }

    /// Returns its size in bytes in a host language that pads structures to a multiple of their
    /// alignment, as WGSL does ("Structure Layout": SizeOf(S) is "roundUp(AlignOf(S),
    /// justPastLastMember)").
    pub fn padded_size(&self) -> u64 {
        match self {
            TypeLayout::Struct { measure, .. } => measure.padded_size,
            other => other.size(),
        }
    }

    /// Returns its scalar alignment in bytes: the size of its widest scalar (Vulkan, "Offset and
    /// Stride Assignment").
    pub fn scalar_alignment(&self) -> u64 {
        match self {
            TypeLayout::Int { .. } | TypeLayout::Float { .. } => self.size().max(1),
            TypeLayout::Vector { component, .. } | TypeLayout::Matrix { component, .. } => component.scalar_alignment(),
            TypeLayout::Array { element, .. } => element.scalar_alignment(),
            TypeLayout::Struct { measure, .. } => measure.scalar_alignment,
            TypeLayout::Pointer { .. } => 8,
            TypeLayout::Bool | TypeLayout::Opaque => 1,
        }
    }

    /// Returns its base alignment in bytes: twice the size of a component for vectors of two, four
    /// times for longer ones (Vulkan, "Offset and Stride Assignment").
    pub fn base_alignment(&self) -> u64 {
        let vector =
            |component: &TypeLayout, count: u32| component.size().saturating_mul(if count == 2 { 2 } else { 4 });
        match self {
            TypeLayout::Vector { component, count } => vector(component, *count),
            TypeLayout::Matrix { component, columns, row_major: true, .. } => vector(component, *columns),
            TypeLayout::Matrix { component, rows, .. } => vector(component, *rows),
            TypeLayout::Array { element, .. } => element.base_alignment(),
            TypeLayout::Struct { measure, .. } => measure.base_alignment,
            other => other.scalar_alignment(),
        }
    }

    /// Returns the number of scalars and structures in it, which bounds the steps of a walk over
    /// them. A run-time array counts as one element.
    pub fn parts(&self) -> u64 {
        match self {
            TypeLayout::Vector { count, .. } => u64::from(*count),
            TypeLayout::Matrix { columns, rows, .. } => u64::from(*columns).saturating_mul(u64::from(*rows)),
            TypeLayout::Array { element, count, .. } => element.parts().saturating_mul(count.unwrap_or(1)),
            TypeLayout::Struct { measure, .. } => measure.parts,
            _ => 1,
        }
    }
}

/// Layouts of a module's types. Each is computed once, except for types that contain a matrix,
/// whose layout each structure member decorates on its own.
pub struct Layouts<'a> {
    module: &'a Module,
    known: FastMap<TypeId, Arc<TypeLayout>>,
}

/// Decorations of a structure member that is or contains a matrix.
#[derive(Clone, Copy, Default, PartialEq)]
struct MatrixLayout {
    stride: Option<u32>,
    row_major: bool,
}

impl<'a> Layouts<'a> {
    /// Creates the layouts of a module's types.
    pub fn new(module: &'a Module) -> Self {
        Layouts { module, known: FastMap::default() }
    }

    /// Returns the layout of a type.
    pub fn type_layout(&mut self, ty: TypeId) -> Arc<TypeLayout> {
        self.within(ty, MatrixLayout::default())
    }

    fn within(&mut self, ty: TypeId, matrix: MatrixLayout) -> Arc<TypeLayout> {
        if matrix != MatrixLayout::default() {
            return self.made(ty, matrix);
        }
        if let Some(known) = self.known.get(&ty) {
            return known.clone();
        }
        let made = self.made(ty, matrix);
        self.known.insert(ty, made.clone());
        made
    }

    fn made(&mut self, ty: TypeId, matrix: MatrixLayout) -> Arc<TypeLayout> {
        let module = self.module;
        let declared = module.type_definition(ty).result().unwrap_or_default();
        let stride = || module.decorations(declared).find_map(|d| literal(&d, Decoration::ArrayStride));
        Arc::new(match *module.ty(ty) {
            Type::Bool => TypeLayout::Bool,
            Type::Int { width, signed } => TypeLayout::Int { width, signed },
            Type::Float { width, encoding } => TypeLayout::Float { width, encoding },
            Type::Vector { component, count } => TypeLayout::Vector { component: self.type_layout(component), count },
            Type::Matrix { column, count: columns } => {
                let Type::Vector { component, count: rows } = *module.ty(column) else {
                    return Arc::new(TypeLayout::Opaque);
                };
                let MatrixLayout { stride, row_major } = matrix;
                TypeLayout::Matrix { component: self.type_layout(component), columns, rows, stride, row_major }
            }
            Type::Array { element, length } => TypeLayout::Array {
                element: self.within(element, matrix),
                count: module.constant_int(length).and_then(|n| u64::try_from(n).ok()),
                stride: stride(),
            },
            Type::RuntimeArray { element } => {
                TypeLayout::Array { element: self.within(element, matrix), count: None, stride: stride() }
            }
            Type::Struct { .. } => self.structure(ty, declared),
            Type::Pointer { class, pointee } => TypeLayout::Pointer { class, pointee },
            Type::Void
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage { .. }
            | Type::Function { .. }
            | Type::Other(_) => TypeLayout::Opaque,
        })
    }

    fn structure(&mut self, ty: TypeId, declared: u32) -> TypeLayout {
        let module = self.module;
        let types = module.members(ty);
        let mut stated = vec![(None, MatrixLayout::default()); types.len()];
        for d in module.decorations(declared) {
            let Some((offset, matrix)) = d.member.and_then(|member| stated.get_mut(member as usize)) else { continue };
            match d.decoration {
                Some(Decoration::Offset) => *offset = d.operands.first().copied().or(*offset),
                Some(Decoration::MatrixStride) => matrix.stride = d.operands.first().copied(),
                Some(Decoration::RowMajor) => matrix.row_major = true,
                _ => {}
            }
        }
        let member = |(i, (&ty, (offset, matrix))): (u32, (&TypeId, (Option<u32>, MatrixLayout)))| Member {
            name: module.names().of_member(declared, i),
            offset,
            shape: self.within(ty, matrix),
        };
        let members = (0..).zip(types.iter().zip(stated)).map(member).collect();
        TypeLayout::structure(module.names().of(declared), members)
    }
}

fn literal(decorated: &DecorationRef, decoration: Decoration) -> Option<u32> {
    if decorated.decoration == Some(decoration) && decorated.member.is_none() {
        decorated.operands.first().copied()
    } else {
        None
    }
}
