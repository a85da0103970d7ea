//! Types of operands and results.

use assay_float::{F16, F32, F64, Format, Rank};
use std::fmt;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A floating-point type.
    Float(Format),
    /// An integer type; values are right-aligned bit patterns.
    Int {
        /// Width in bits: 8, 16, 32 or 64.
        width: u32,
        /// Set if `OpTypeInt` has signedness 1.
        signed: bool,
    },
    /// `OpTypeBool`; values are 0 and 1.
    Bool,
}

impl Scalar {
    /// Parses `f16`, `f32`, `f64`, `bf16`, `f8e4m3`, `f8e5m2`, `i8` .. `i64`, `u8` .. `u64` or
    /// `bool`, ignoring case.
    pub fn from_name(name: &str) -> Option<Scalar> {
        if let Some(format) = Format::from_name(name) {
            return Some(Scalar::Float(format));
        }
        let lower = name.to_ascii_lowercase();
        if lower == "bool" {
            return Some(Scalar::Bool);
        }
        let signed = lower.starts_with('i');
        let width = lower.strip_prefix(['i', 'u'])?.parse().ok()?;
        [8, 16, 32, 64].contains(&width).then_some(Scalar::Int { width, signed })
    }

    /// Returns the bits of a rank: of a float by its order, of an integer or boolean the value itself.
    pub fn bits_of_rank(self, rank: Rank) -> u64 {
        match self {
            Scalar::Float(format) => format.bits(rank),
            Scalar::Int { .. } | Scalar::Bool => rank.cast_unsigned() & (u64::MAX >> (64 - self.width())),
        }
    }

    /// Format of a floating-point type.
    pub fn format(self) -> Option<Format> {
        match self {
            Scalar::Float(format) => Some(format),
            Scalar::Int { .. } | Scalar::Bool => None,
        }
    }

    /// Width in bits in memory (32 for a boolean).
    pub fn width(self) -> u32 {
        match self {
            Scalar::Float(format) => format.width,
            Scalar::Int { width, .. } => width,
            Scalar::Bool => 32,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Float(format) => f.write_str(format.name),
            Scalar::Int { width, signed } => write!(f, "{}{width}", if *signed { 'i' } else { 'u' }),
            Scalar::Bool => f.write_str("bool"),
        }
    }
}

/// A scalar, vector or matrix type. Values are flat: the components of a vector in order, and a
/// matrix column by column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Component type.
    pub scalar: Scalar,
    /// Components of a vector or of a matrix column; 1 for a scalar.
    pub rows: u32,
    /// Columns of a matrix; 1 for scalars and vectors.
    pub columns: u32,
}

impl Type {
    /// A scalar of binary16.
    pub const F16: Type = Type::scalar(Scalar::Float(F16));
    /// A scalar of binary32.
    pub const F32: Type = Type::scalar(Scalar::Float(F32));
    /// A scalar of binary64.
    pub const F64: Type = Type::scalar(Scalar::Float(F64));

    /// A scalar.
    pub const fn scalar(scalar: Scalar) -> Type {
        Type { scalar, rows: 1, columns: 1 }
    }

    /// A vector.
    pub const fn vector(scalar: Scalar, rows: u32) -> Type {
        Type { scalar, rows, columns: 1 }
    }

    /// A matrix of `columns` columns of `rows` components.
    pub const fn matrix(scalar: Scalar, columns: u32, rows: u32) -> Type {
        Type { scalar, rows, columns }
    }

    /// Number of scalars in a value.
    #[expect(clippy::len_without_is_empty, reason = "no type is empty")]
    pub const fn len(self) -> usize {
        (self.rows * self.columns) as usize
    }

    /// Returns true for a scalar type.
    pub const fn is_scalar(self) -> bool {
        self.rows == 1 && self.columns == 1
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rows, self.columns) {
            (1, 1) => write!(f, "{}", self.scalar),
            (rows, 1) => write!(f, "vec{rows}<{}>", self.scalar),
            (rows, columns) => write!(f, "mat{columns}x{rows}<{}>", self.scalar),
        }
    }
}
