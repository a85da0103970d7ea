//! Rules for results, as the rows of the tables state them.

use crate::{
    discrete_op::DiscreteOp,
    formula::{Formula, FormulaSize},
    real_op::RealOp,
};

/// Rule for the result of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accuracy {
    /// Discrete result: the correct one, or the few that the text names.
    Discrete(DiscreteOp),
    /// Real function with a bound.
    Real(RealOp),
    /// Inherited from the formula that the function builds for the operands' sizes.
    Formula(fn(&FormulaSize) -> Formula),
    /// Two results: the fraction and the whole part.
    Modf,
    /// Two results: the significand and the exponent.
    Frexp,
    /// Two results: the value returned (the old one) and the value left in memory.
    Atomic(&'static Accuracy),
    /// Normalised integers to floats: `f / k` with the precision of OpFDiv, clamped to [-1, 1] if
    /// signed.
    Unpack {
        /// Set if the integers are signed.
        signed: bool,
    },
    /// Binary16 to binary32, which is exact.
    UnpackHalf,
    /// No stated precision: results are reported as measured.
    Measured,
}
