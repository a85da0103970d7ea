//! Types of generated programs.

use super::Generator;
use std::rc::Rc;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scalar {
    Bool,
    Int { width: u32, signed: bool },
    Float(u32),
}

/// A type without explicit layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(Scalar),
    Vector(Scalar, u32),
    Matrix { width: u32, columns: u32, rows: u32 },
    Array(Rc<Type>, u32),
    Struct(Rc<[Type]>),
}

/// The 32-bit unsigned integer.
pub(super) const U32: Scalar = Scalar::Int { width: 32, signed: false };
/// The 32-bit signed integer.
pub(super) const I32: Scalar = Scalar::Int { width: 32, signed: true };

impl Scalar {
    /// Returns the width in bits; that of a boolean is 1.
    pub(super) fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { width, .. } | Scalar::Float(width) => width,
        }
    }

    /// Returns the type of `count` components.
    pub(super) fn times(self, count: u32) -> Type {
        if count == 1 { Type::Scalar(self) } else { Type::Vector(self, count) }
    }
}

impl Type {
    /// Returns the scalar and the number of components of a scalar or vector.
    pub(super) fn components(&self) -> Option<(Scalar, u32)> {
        match self {
            Type::Scalar(scalar) => Some((*scalar, 1)),
            Type::Vector(scalar, count) => Some((*scalar, *count)),
            Type::Matrix { .. } | Type::Array(..) | Type::Struct(_) => None,
        }
    }

    /// Returns the types of the constituents of a composite; none for a scalar.
    pub(super) fn constituents(&self) -> Vec<Type> {
        match self {
            Type::Scalar(_) => Vec::new(),
            Type::Vector(scalar, count) => vec![Type::Scalar(*scalar); *count as usize],
            Type::Matrix { width, columns, rows } => {
                vec![Type::Vector(Scalar::Float(*width), *rows); *columns as usize]
            }
            Type::Array(element, count) => vec![(**element).clone(); *count as usize],
            Type::Struct(members) => members.to_vec(),
        }
    }

    /// Returns true if some scalar of the type is one of these.
    pub(super) fn has(&self, is: &dyn Fn(Scalar) -> bool) -> bool {
        match self {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => is(*scalar),
            Type::Matrix { width, .. } => is(Scalar::Float(*width)),
            Type::Array(element, _) => element.has(is),
            Type::Struct(members) => members.iter().any(|member| member.has(is)),
        }
    }

    pub(super) fn has_float(&self) -> bool {
        self.has(&|scalar| matches!(scalar, Scalar::Float(_)))
    }

    /// Returns the number of scalars.
    pub(super) fn size(&self) -> usize {
        let parts = self.constituents();
        if parts.is_empty() { 1 } else { parts.iter().map(Type::size).sum() }
    }
}

/// A type with explicit layout: its id, size and alignment in bytes.
pub(super) struct LaidOut {
    pub(super) id: String,
    pub(super) size: u32,
    pub(super) align: u32,
}

impl Generator {
    /// Returns the id of a scalar type.
    pub(super) fn scalar_id(&mut self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => self.module.bool(),
            Scalar::Int { width, signed } => {
                if width == 8 {
                    self.module.capability("Int8");
                }
                self.module.int(width, signed)
            }
            Scalar::Float(width) => self.module.float(width),
        }
    }

    /// Returns the id of a type without explicit layout.
    pub(super) fn type_id(&mut self, ty: &Type) -> String {
        match ty {
            Type::Scalar(scalar) => self.scalar_id(*scalar),
            Type::Vector(scalar, count) => {
                let scalar = self.scalar_id(*scalar);
                self.module.vector(&scalar, *count)
            }
            Type::Matrix { width, columns, rows } => {
                let column = self.type_id(&Type::Vector(Scalar::Float(*width), *rows));
                self.module.declare(&format!("OpTypeMatrix {column} {columns}"))
            }
            Type::Array(element, count) => {
                let element = self.type_id(element);
                self.module.array(&element, *count, None)
            }
            Type::Struct(members) => {
                let members: Vec<String> = members.iter().map(|member| self.type_id(member)).collect();
                self.module.declare(&format!("OpTypeStruct {}", members.join(" ")))
            }
        }
    }

    /// Declares a type with explicit layout in a buffer. Matrices may only be members of structures,
    /// or elements of arrays that are.
    pub(super) fn laid_out(&mut self, ty: &Type, row_major: bool) -> LaidOut {
        match ty {
            Type::Scalar(scalar) => {
                let bytes = scalar.width() / 8;
                LaidOut { id: self.scalar_id(*scalar), size: bytes, align: bytes }
            }
            Type::Vector(scalar, count) => {
                let bytes = scalar.width() / 8;
                LaidOut { id: self.type_id(ty), size: bytes * count, align: bytes * count.next_power_of_two() }
            }
            Type::Matrix { width, columns, rows } => {
                let (vectors, length) = if row_major { (*rows, *columns) } else { (*columns, *rows) };
                let stride = matrix_stride(*width, length);
                LaidOut { id: self.type_id(ty), size: stride * vectors, align: stride }
            }
            Type::Array(element, count) => {
                let LaidOut { id, size, align } = self.laid_out(element, row_major);
                let stride = size.next_multiple_of(align);
                // Structures with equal members but other offsets are other types.
                let length = self.module.constant_u32(*count);
                let array = self.module.declare_new(&format!("OpTypeArray {id} {length}"));
                self.module.decorate(format!("{array} ArrayStride {stride}"));
                LaidOut { id: array, size: stride * count, align }
            }
            Type::Struct(members) => {
                let (mut parts, mut offset, mut align, mut matrices) = (Vec::new(), 0u32, 4, Vec::new());
                for (index, member) in members.iter().enumerate() {
                    let row_major = self.chance(2);
                    let of = self.laid_out(member, row_major);
                    offset = offset.next_multiple_of(of.align);
                    if self.chance(6) {
                        offset += of.align;
                    }
                    parts.push((of.id, offset));
                    (offset, align) = (offset + of.size, align.max(of.align));
                    if let Some((width, columns, rows)) = innermost_matrix(member) {
                        let stride = matrix_stride(width, if row_major { columns } else { rows });
                        matrices.push((index, if row_major { "RowMajor" } else { "ColMajor" }, stride));
                    }
                }
                let id = self.module.structure_new(&parts);
                for (index, major, stride) in matrices {
                    self.module.decorate_member(format!("{id} {index} {major}"));
                    self.module.decorate_member(format!("{id} {index} MatrixStride {stride}"));
                }
                LaidOut { id, size: offset.next_multiple_of(align), align }
            }
        }
    }

    /// Returns a random scalar that is not a boolean.
    pub(super) fn number(&mut self) -> Scalar {
        if self.features.floats && self.chance(2) { self.float() } else { self.int() }
    }

    /// Returns a random integer type.
    pub(super) fn int(&mut self) -> Scalar {
        let width = self.pick(&self.features.ints.clone());
        Scalar::Int { width, signed: self.chance(2) }
    }

    /// Returns a random floating-point type.
    pub(super) fn float(&mut self) -> Scalar {
        Scalar::Float(self.pick(&self.features.real_widths.clone()))
    }

    /// Returns a random number of components.
    pub(super) fn count(&mut self) -> u32 {
        if self.features.vectors && self.chance(3) { self.rng.u32(2..=4) } else { 1 }
    }

    /// Returns a random type that values have.
    pub(super) fn any_type(&mut self, booleans: bool) -> Type {
        self.type_of_depth(booleans, 2)
    }

    fn type_of_depth(&mut self, booleans: bool, depth: u32) -> Type {
        let composites = self.features.composites && depth > 0;
        match self.rng.u32(..12) {
            0 | 1 if self.features.matrices => {
                let width = self.pick(&self.features.real_widths.clone());
                Type::Matrix { width, columns: self.rng.u32(2..=4), rows: self.rng.u32(2..=4) }
            }
            2 | 3 if composites => {
                let count = self.pick(&[2, 3, 4]);
                Type::Array(Rc::new(self.type_of_depth(booleans, depth - 1)), count)
            }
            4 if composites => {
                let members = self.rng.usize(1..=3);
                Type::Struct((0..members).map(|_| self.type_of_depth(booleans, depth - 1)).collect())
            }
            5 if booleans => Scalar::Bool.times(self.count()),
            _ => self.number().times(self.count()),
        }
    }
}

/// Returns the dimensions of the matrices of a member: width, columns and rows.
fn innermost_matrix(member: &Type) -> Option<(u32, u32, u32)> {
    match member {
        Type::Matrix { width, columns, rows } => Some((*width, *columns, *rows)),
        Type::Array(element, _) => innermost_matrix(element),
        Type::Scalar(_) | Type::Vector(..) | Type::Struct(_) => None,
    }
}

/// Returns the distance between two vectors of a matrix in bytes.
fn matrix_stride(width: u32, length: u32) -> u32 {
    width / 8 * length.next_power_of_two()
}
