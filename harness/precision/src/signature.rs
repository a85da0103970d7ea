//! Signatures: the types that an instruction takes, and the operand scalars that a result scalar
//! depends on.

use crate::{Scalar, Shape, Type, types::int};

/// Relation of operand and result types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// This many operands of one floating-point type, component by component.
    Map(usize),
    /// As `Map`, but each component of the result depends on all components of the operands.
    Whole(usize),
    /// This many operands of one integer type, component by component.
    IntMap(usize),
    /// Two floating-point operands, a boolean result.
    Compare,
    /// One floating-point operand, a boolean result.
    Predicate,
    /// The booleans of two invocations, a boolean result.
    Vote,
    /// A conversion from one of these types, component by component.
    Convert(&'static [Scalar]),
    VectorTimesScalar,
    MatrixTimesScalar,
    VectorTimesMatrix,
    MatrixTimesVector,
    MatrixTimesMatrix,
    OuterProduct,
    Dot,
    Determinant,
    MatrixInverse,
    /// Value of this invocation and of one or both neighbours.
    Derivative(usize),
    /// Value in memory and the other operands, this many in all; results are the returned value and
    /// the one left in memory.
    Atomic(usize),
    Modf,
    Frexp,
    Ldexp,
    /// Vector of this many components packed into one word. The parts of the word, of this type, are
    /// the result scalars, low bits first.
    Pack(u32, Scalar),
    PackDouble,
    /// Word unpacked into a vector of this many components.
    Unpack(u32),
    UnpackDouble,
    Length,
    Distance,
    Cross,
    Refract,
}

const I32: Scalar = int(32, true);
const U32: Scalar = int(32, false);

const SCALAR: &[Shape] = &[Shape::Scalar];
const VECTORS: &[Shape] = &[Shape::Vector(2), Shape::Vector(3), Shape::Vector(4)];
const SCALAR_AND_VECTORS: &[Shape] = &[Shape::Scalar, Shape::Vector(2), Shape::Vector(3), Shape::Vector(4)];
const MATRICES: &[Shape] = &[
    matrix(2, 2),
    matrix(2, 3),
    matrix(2, 4),
    matrix(3, 2),
    matrix(3, 3),
    matrix(3, 4),
    matrix(4, 2),
    matrix(4, 3),
    matrix(4, 4),
];
const SQUARES: &[Shape] = &[matrix(2, 2), matrix(3, 3), matrix(4, 4)];

const fn matrix(columns: u32, rows: u32) -> Shape {
    Shape::Matrix { columns, rows }
}

impl Signature {
    /// Types of the operands and of the results for a main operand type (for conversions, the
    /// result type), in the given shape of the widest operand. `from` is the operand type of a
    /// conversion.
    pub(crate) fn types(self, scalar: Scalar, shape: Shape, from: Scalar) -> (Vec<Type>, Vec<Type>) {
        let (rows, columns) = match shape {
            Shape::Scalar => (1, 1),
            Shape::Vector(n) => (n, 1),
            Shape::Matrix { columns, rows } => (rows, columns),
        };
        let full = Type { scalar, rows, columns };
        let one = Type::scalar(scalar);
        let like = |scalar| Type { scalar, rows, columns };
        match self {
            Signature::Map(n) | Signature::Whole(n) | Signature::IntMap(n) | Signature::Derivative(n) => {
                (vec![full; n], vec![full])
            }
            Signature::Compare => (vec![full; 2], vec![like(Scalar::Bool)]),
            Signature::Predicate => (vec![full], vec![like(Scalar::Bool)]),
            Signature::Vote => (vec![one; 2], vec![one]),
            Signature::Convert(_) => (vec![like(from)], vec![full]),
            Signature::VectorTimesScalar | Signature::MatrixTimesScalar => (vec![full, one], vec![full]),
            Signature::VectorTimesMatrix => {
                (vec![Type::vector(scalar, rows), full], vec![Type::vector(scalar, columns)])
            }
            Signature::MatrixTimesVector => {
                (vec![full, Type::vector(scalar, columns)], vec![Type::vector(scalar, rows)])
            }
            Signature::MatrixTimesMatrix => {
                (vec![full, Type::matrix(scalar, rows, columns)], vec![Type::matrix(scalar, rows, rows)])
            }
            Signature::OuterProduct => (vec![Type::vector(scalar, rows), Type::vector(scalar, columns)], vec![full]),
            Signature::Dot | Signature::Distance => (vec![full; 2], vec![one]),
            Signature::Length | Signature::Determinant => (vec![full], vec![one]),
            Signature::MatrixInverse => (vec![full], vec![full]),
            Signature::Atomic(n) => (vec![one; n], vec![one; 2]),
            Signature::Modf => (vec![full], vec![full; 2]),
            Signature::Frexp => (vec![full], vec![full, like(I32)]),
            Signature::Ldexp => (vec![full, like(I32)], vec![full]),
            Signature::Pack(n, part) => (vec![Type::vector(scalar, n)], vec![Type::vector(part, n)]),
            Signature::PackDouble => (vec![Type::vector(U32, 2)], vec![one]),
            Signature::Unpack(n) => (vec![Type::scalar(U32)], vec![Type::vector(scalar, n)]),
            Signature::UnpackDouble => (vec![one], vec![Type::vector(U32, 2)]),
            Signature::Cross => (vec![full; 2], vec![full]),
            Signature::Refract => (vec![full, full, one], vec![full]),
        }
    }

    /// Shapes that the instruction takes, for its widest operand. Pack and Unpack have only one
    /// shape, which counts as scalar. `OpMatrixTimesMatrix` multiplies a matrix of the shape by one
    /// of the transposed shape.
    pub(crate) fn shapes(self) -> &'static [Shape] {
        match self {
            Signature::Map(_)
            | Signature::Whole(_)
            | Signature::IntMap(_)
            | Signature::Compare
            | Signature::Predicate
            | Signature::Convert(_)
            | Signature::Derivative(_)
            | Signature::Modf
            | Signature::Frexp
            | Signature::Ldexp
            | Signature::Length
            | Signature::Distance
            | Signature::Refract => SCALAR_AND_VECTORS,
            Signature::VectorTimesScalar | Signature::Dot => VECTORS,
            Signature::MatrixTimesScalar
            | Signature::VectorTimesMatrix
            | Signature::MatrixTimesVector
            | Signature::MatrixTimesMatrix
            | Signature::OuterProduct => MATRICES,
            Signature::Determinant | Signature::MatrixInverse => SQUARES,
            Signature::Cross => &[Shape::Vector(3)],
            Signature::Vote
            | Signature::Atomic(_)
            | Signature::Pack(..)
            | Signature::PackDouble
            | Signature::Unpack(_)
            | Signature::UnpackDouble => SCALAR,
        }
    }

    /// Indices of the operand scalars that a result scalar depends on, for operands of these types.
    pub(crate) fn inputs(self, operands: &[Type], slot: usize) -> Vec<usize> {
        let len = |i: usize| operands[i].len();
        let rows = |i: usize| operands[i].rows as usize;
        let all = || (0..operands.iter().map(|ty| ty.len()).sum()).collect();
        match self {
            Signature::Map(n) | Signature::IntMap(n) | Signature::Derivative(n) => {
                (0..n).map(|i| i * len(0) + slot).collect()
            }
            Signature::Compare | Signature::Ldexp => vec![slot, len(0) + slot],
            Signature::Predicate | Signature::Convert(_) | Signature::Pack(..) => vec![slot],
            Signature::VectorTimesScalar | Signature::MatrixTimesScalar => vec![slot, len(0)],
            // Pairs of factors: first all factors of one side, then all of the other.
            Signature::VectorTimesMatrix => {
                let n = len(0);
                (0..n).chain((0..n).map(|i| n + slot * n + i)).collect()
            }
            Signature::MatrixTimesVector => {
                let (r, c) = (rows(0), len(1));
                (0..c).map(|j| j * r + slot).chain((0..c).map(|j| len(0) + j)).collect()
            }
            Signature::MatrixTimesMatrix => {
                let (r, n) = (rows(0), rows(1));
                let (column, row) = (slot / r, slot % r);
                (0..n).map(|k| k * r + row).chain((0..n).map(|k| len(0) + column * n + k)).collect()
            }
            Signature::OuterProduct => vec![slot % len(0), len(0) + slot / len(0)],
            Signature::Modf | Signature::Frexp => vec![slot % len(0)],
            Signature::Whole(_)
            | Signature::Vote
            | Signature::Dot
            | Signature::Determinant
            | Signature::MatrixInverse
            | Signature::Atomic(_)
            | Signature::PackDouble
            | Signature::Unpack(_)
            | Signature::UnpackDouble
            | Signature::Length
            | Signature::Distance
            | Signature::Cross
            | Signature::Refract => all(),
        }
    }
}
