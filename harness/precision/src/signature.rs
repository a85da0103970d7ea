//! Signatures: the types that an instruction takes, and the operand scalars that a result scalar
//! depends on.

use crate::{Call, CallError, Modes, Op, Scalar, Shape, Specification, Type, modes::SATURATED, table};
use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};

/// Relation of operand and result types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// This many operands of one floating-point type, component by component.
    Map(usize),
    /// This many operands of one integer type, component by component.
    IntMap(usize),
    /// Two floating-point operands, a boolean result.
    Compare,
    /// One floating-point operand, a boolean result.
    Predicate,
    /// The booleans of two invocations, a boolean result.
    Vote,
    /// A conversion, component by component.
    Convert,
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
    /// Vector packed into one word. The parts of the word are the result scalars, low bits first.
    Pack,
    PackDouble,
    /// Word unpacked into a vector.
    Unpack,
    UnpackDouble,
    Length,
    Distance,
    Cross,
    Refract,
}

const FLOATS: &[Scalar] = &[Scalar::Float(F16), Scalar::Float(F32), Scalar::Float(F64)];
const ALL_FLOATS: &[Scalar] = &[
    Scalar::Float(F16),
    Scalar::Float(BF16),
    Scalar::Float(F32),
    Scalar::Float(F64),
    Scalar::Float(F8_E4M3),
    Scalar::Float(F8_E5M2),
];
const HALF_AND_SINGLE: &[Scalar] = &[Scalar::Float(F16), Scalar::Float(F32)];
const SINGLE: &[Scalar] = &[Scalar::Float(F32)];
const DOUBLE: &[Scalar] = &[Scalar::Float(F64)];
const SIGNED: &[Scalar] = &[int(8, true), int(16, true), int(32, true), int(64, true)];
const UNSIGNED: &[Scalar] = &[int(8, false), int(16, false), int(32, false), int(64, false)];
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

const fn int(width: u32, signed: bool) -> Scalar {
    Scalar::Int { width, signed }
}

const fn matrix(columns: u32, rows: u32) -> Shape {
    Shape::Matrix { columns, rows }
}

impl Call {
    /// Call of an instruction with the main operand type `scalar`, in the given shape of its widest
    /// operand. For conversions `scalar` is the result type and `from` the operand type.
    ///
    /// # Errors
    /// Fails if the instruction does not take that type, shape or decoration.
    pub fn new(op: Op, scalar: Scalar, shape: Shape, from: Option<Scalar>, modes: Modes) -> Result<Call, CallError> {
        let signature = table::of(op).signature;
        if !Call::scalars(op).contains(&scalar) {
            return Err(CallError::Scalar { op, scalar, accepted: list(Call::scalars(op)) });
        }
        if !Call::shapes(op).contains(&shape) {
            return Err(CallError::Shape { op, shape, accepted: list(Call::shapes(op)) });
        }
        let sources = Call::sources(op);
        let from = match from {
            _ if sources.is_empty() => scalar,
            Some(from) if sources.contains(&from) && from != scalar => from,
            Some(from) => return Err(CallError::Source { op, from, to: scalar, accepted: list(sources) }),
            None => return Err(CallError::From { op, accepted: list(sources) }),
        };
        let (rows, columns) = match shape {
            Shape::Scalar => (1, 1),
            Shape::Vector(n) => (n, 1),
            Shape::Matrix { columns, rows } => (rows, columns),
        };
        let full = Type { scalar, rows, columns };
        let one = Type::scalar(scalar);
        let like = |scalar| Type { scalar, rows, columns };
        let (operands, results) = match signature {
            Signature::Map(n) | Signature::IntMap(n) | Signature::Derivative(n) => (vec![full; n], vec![full]),
            Signature::Compare => (vec![full; 2], vec![like(Scalar::Bool)]),
            Signature::Predicate => (vec![full], vec![like(Scalar::Bool)]),
            Signature::Vote => (vec![one; 2], vec![one]),
            Signature::Convert => (vec![like(from)], vec![full]),
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
            Signature::Pack => (vec![Type::vector(scalar, parts(op).0)], vec![Type::vector(parts(op).1, parts(op).0)]),
            Signature::PackDouble => (vec![Type::vector(U32, 2)], vec![one]),
            Signature::Unpack => (vec![Type::scalar(U32)], vec![Type::vector(scalar, parts(op).0)]),
            Signature::UnpackDouble => (vec![one], vec![Type::vector(U32, 2)]),
            Signature::Cross => (vec![full; 2], vec![full]),
            Signature::Refract => (vec![full, full, one], vec![full]),
        };
        let call = Call { op, results, operands, modes, specification: Specification::default() };
        if modes.saturated && !call.takes_saturation() {
            let accepted = "OpFConvert, OpConvertSToF and OpConvertUToF to f8e4m3 and f8e5m2";
            return Err(CallError::Decorated { op, to: scalar, mode: SATURATED, accepted });
        }
        Ok(call)
    }

    /// Returns true if `SaturatedToLargestFloat8NormalConversionEXT` may decorate the call: only
    /// conversions have results of float8.
    pub fn takes_saturation(&self) -> bool {
        self.results[0].scalar.format().is_some_and(Format::is_float8)
    }

    /// Shapes that the instruction takes, for its widest operand. Pack and Unpack have only one
    /// shape, which counts as scalar. `OpMatrixTimesMatrix` multiplies a matrix of the shape by one
    /// of the transposed shape.
    pub fn shapes(op: Op) -> &'static [Shape] {
        match table::of(op).signature {
            Signature::Map(_)
            | Signature::IntMap(_)
            | Signature::Compare
            | Signature::Predicate
            | Signature::Convert
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
            | Signature::Pack
            | Signature::PackDouble
            | Signature::Unpack
            | Signature::UnpackDouble => SCALAR,
        }
    }

    /// Main scalar types that the instruction takes (for conversions, the result types).
    pub fn scalars(op: Op) -> &'static [Scalar] {
        const ATOMIC_INTS: &[Scalar] = &[I32, U32, int(64, true), int(64, false)];
        match op {
            Op::ConvertFToU => UNSIGNED,
            Op::ConvertFToS => SIGNED,
            Op::FConvert | Op::ConvertSToF | Op::ConvertUToF => ALL_FLOATS,
            // For bfloat16 this is the only arithmetic instruction besides those of cooperative
            // matrices.
            Op::Dot => &[Scalar::Float(F16), Scalar::Float(F32), Scalar::Float(F64), Scalar::Float(BF16)],
            Op::QuantizeToF16 => SINGLE,
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => ATOMIC_INTS,
            Op::Radians
            | Op::Degrees
            | Op::Sin
            | Op::Cos
            | Op::Tan
            | Op::Asin
            | Op::Acos
            | Op::Atan
            | Op::Sinh
            | Op::Cosh
            | Op::Tanh
            | Op::Asinh
            | Op::Acosh
            | Op::Atanh
            | Op::Atan2
            | Op::Pow
            | Op::Exp
            | Op::Log
            | Op::Exp2
            | Op::Log2 => HALF_AND_SINGLE,
            Op::SAbs | Op::SSign | Op::SMin | Op::SMax | Op::SClamp => SIGNED,
            Op::UMin | Op::UMax | Op::UClamp => UNSIGNED,
            Op::FindILsb => &[I32, U32],
            Op::FindSMsb => &[I32],
            Op::FindUMsb => &[U32],
            Op::PackDouble2x32 | Op::UnpackDouble2x32 => DOUBLE,
            Op::InterpolateAtCentroid | Op::InterpolateAtSample | Op::InterpolateAtOffset => SINGLE,
            Op::DPdx
            | Op::DPdy
            | Op::Fwidth
            | Op::DPdxFine
            | Op::DPdyFine
            | Op::FwidthFine
            | Op::DPdxCoarse
            | Op::DPdyCoarse
            | Op::FwidthCoarse => SINGLE,
            _ => match table::of(op).signature {
                Signature::Pack | Signature::Unpack => SINGLE,
                Signature::Vote => &[Scalar::Bool],
                _ => FLOATS,
            },
        }
    }

    /// Types that a conversion converts from; empty for all other instructions.
    pub fn sources(op: Op) -> &'static [Scalar] {
        match op {
            Op::ConvertFToU | Op::ConvertFToS | Op::FConvert => ALL_FLOATS,
            Op::ConvertSToF => SIGNED,
            Op::ConvertUToF => UNSIGNED,
            _ => &[],
        }
    }

    /// Indices of the operand scalars that a result scalar depends on.
    pub(crate) fn inputs(&self, slot: usize) -> Vec<usize> {
        let len = |i: usize| self.operands[i].len();
        let rows = |i: usize| self.operands[i].rows as usize;
        let all = || (0..self.operand_slots().count()).collect();
        match table::of(self.op).signature {
            Signature::Map(_) if matches!(self.op, Op::Normalize | Op::FaceForward | Op::Reflect) => all(),
            Signature::Map(n) | Signature::IntMap(n) | Signature::Derivative(n) => {
                (0..n).map(|i| i * len(0) + slot).collect()
            }
            Signature::Compare | Signature::Ldexp => vec![slot, len(0) + slot],
            Signature::Predicate | Signature::Convert | Signature::Pack => vec![slot],
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
            Signature::Vote
            | Signature::Dot
            | Signature::Determinant
            | Signature::MatrixInverse
            | Signature::Atomic(_)
            | Signature::PackDouble
            | Signature::Unpack
            | Signature::UnpackDouble
            | Signature::Length
            | Signature::Distance
            | Signature::Cross
            | Signature::Refract => all(),
        }
    }
}

/// Number of parts of a packed word, and their type.
fn parts(op: Op) -> (u32, Scalar) {
    match op {
        Op::PackSnorm4x8 | Op::UnpackSnorm4x8 => (4, int(8, true)),
        Op::PackUnorm4x8 | Op::UnpackUnorm4x8 => (4, int(8, false)),
        Op::PackSnorm2x16 | Op::UnpackSnorm2x16 => (2, int(16, true)),
        Op::PackUnorm2x16 | Op::UnpackUnorm2x16 => (2, int(16, false)),
        _ => (2, Scalar::Float(F16)),
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
