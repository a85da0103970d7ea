//! One instruction on concrete types in a concrete environment.

use crate::{Modes, Op, Scalar, Shape, Specification, Type, modes::SATURATED, signature::Signature};
use assay_float::{BF16, Format};

/// One instruction on concrete types, with the floating-point environment that its module declares.
///
/// Operands and results are flat lists of scalars ("slots"): the components of all operands in
/// order, with matrices column by column. For instructions with several results (`ModfStruct`:
/// fraction, whole; `FrexpStruct`: significand, exponent; atomics: value returned, value left in
/// memory) they are the components of all results in order. The parts of a packed word count as a
/// vector, low bits first (halves for `PackHalf2x16`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The instruction.
    pub op: Op,
    /// Types of the results: two for `Modf`, `ModfStruct`, `Frexp`, `FrexpStruct` and atomics,
    /// otherwise one.
    pub results: Vec<Type>,
    /// Types of the operands.
    pub operands: Vec<Type>,
    /// The declared environment.
    pub modes: Modes,
    /// Specification by which results are judged.
    pub specification: Specification,
}

/// Error: the instruction cannot be called in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The table does not have the instruction for this type.
    #[error("{op} of {scalar} is not in Assay's table; it takes {accepted}{}", not_of_bfloat16(*.scalar))]
    Scalar {
        /// The instruction.
        op: Op,
        /// The requested type.
        scalar: Scalar,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The instruction does not exist in this shape.
    #[error("{op} does not take the shape {shape}; it takes {accepted}")]
    Shape {
        /// The instruction.
        op: Op,
        /// The requested shape.
        shape: Shape,
        /// Accepted shapes, as a list.
        accepted: String,
    },
    /// The type that a conversion converts from is missing.
    #[error("{op} needs the type that it converts from; it takes {accepted}")]
    From {
        /// The instruction.
        op: Op,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The table does not have the conversion from this type.
    #[error("{op} of {from} to {to} is not in Assay's table; to another type it takes {accepted}")]
    Source {
        /// The instruction.
        op: Op,
        /// Type to convert from.
        from: Scalar,
        /// Type to convert to.
        to: Scalar,
        /// Accepted types, as a list.
        accepted: String,
    },
    /// The module decorates an instruction that may not have the decoration.
    #[error("{mode} decorates no {op} to {to}, only {accepted}")]
    Decorated {
        /// The instruction.
        op: Op,
        /// Type of its result.
        to: Scalar,
        /// The decoration.
        mode: &'static str,
        /// Instructions that may have the decoration.
        accepted: &'static str,
    },
    /// The number of operand scalars is wrong.
    #[error("{op} takes {expected} operand scalars here ({types}), not {given}")]
    Operands {
        /// The instruction.
        op: Op,
        /// Number of operand scalars that the instruction takes.
        expected: usize,
        /// Their types.
        types: String,
        /// Given number.
        given: usize,
    },
}

/// The reason why an instruction does not take bfloat16, if that is the type (SPV_KHR_bfloat16,
/// "Validation Rules").
fn not_of_bfloat16(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Float(BF16) => {
            "; SPV_KHR_bfloat16 permits no arithmetic but OpDot, cooperative matrices and conversions"
        }
        _ => "",
    }
}

impl Call {
    /// Call of an instruction with the main operand type `scalar`, in the given shape of its widest
    /// operand. For conversions `scalar` is the result type and `from` the operand type.
    ///
    /// # Errors
    /// Fails if the instruction does not take that type, shape or decoration.
    pub fn new(op: Op, scalar: Scalar, shape: Shape, from: Option<Scalar>, modes: Modes) -> Result<Call, CallError> {
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
        let (operands, results) = op.row().signature.types(scalar, shape, from);
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
        op.row().signature.shapes()
    }

    /// Main scalar types that the instruction takes (for conversions, the result types).
    pub fn scalars(op: Op) -> &'static [Scalar] {
        op.row().scalars
    }

    /// Types that a conversion converts from; empty for all other instructions.
    pub fn sources(op: Op) -> &'static [Scalar] {
        match op.row().signature {
            Signature::Convert(sources) => sources,
            _ => &[],
        }
    }

    /// Indices of the operand scalars that a result scalar depends on.
    pub(crate) fn inputs(&self, slot: usize) -> Vec<usize> {
        self.op.row().signature.inputs(&self.operands, slot)
    }

    /// Scalar type of every operand slot, in order.
    pub fn operand_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.operands.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

    /// Scalar type of every result slot, in order.
    pub fn result_slots(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.results.iter().flat_map(|t| std::iter::repeat_n(t.scalar, t.len()))
    }

    /// Execution modes that the instruction must respect, by the lists of "Precision and Operation of
    /// SPIR-V Instructions" that name it.
    pub fn lists(&self) -> Vec<&'static str> {
        let lists = self.op.row().lists;
        let named = [
            ("DenormFlushToZero", lists.flush),
            ("DenormPreserve", lists.preserve),
            ("SignedZeroInfNanPreserve", lists.special),
        ];
        named.into_iter().filter(|(_, is_named)| *is_named).map(|(mode, _)| mode).collect()
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
