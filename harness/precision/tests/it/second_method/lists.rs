//! The specification's lists of instructions, transcribed from its text.

use assay_precision::Op::{self, *};

/// Arithmetic that both denormal lists and the list of `SignedZeroInfNanPreserve` name. The published
/// form of the latter lacks the float atomics, which its source names under a misspelt condition.
const COMMON: &[Op] = &[
    FNegate,
    FAdd,
    FSub,
    FMul,
    VectorTimesScalar,
    MatrixTimesScalar,
    VectorTimesMatrix,
    MatrixTimesVector,
    MatrixTimesMatrix,
    OuterProduct,
    Dot,
    FConvert,
    GroupNonUniformFMin,
    GroupNonUniformFMax,
    AtomicFAddEXT,
    AtomicFMinEXT,
    AtomicFMaxEXT,
    DPdx,
    DPdy,
    Fwidth,
    DPdxFine,
    DPdyFine,
    FwidthFine,
    DPdxCoarse,
    DPdyCoarse,
    FwidthCoarse,
];

const COMPARISONS: &[Op] = &[
    FOrdEqual,
    FUnordEqual,
    FOrdNotEqual,
    FUnordNotEqual,
    FOrdLessThan,
    FUnordLessThan,
    FOrdGreaterThan,
    FUnordGreaterThan,
    FOrdLessThanEqual,
    FUnordLessThanEqual,
    FOrdGreaterThanEqual,
    FUnordGreaterThanEqual,
    GroupNonUniformAllEqual,
    SubgroupAllEqualKHR,
    AtomicCompareExchange,
    AtomicCompareExchangeWeak,
];

const FLUSHED: &[Op] = &[
    FmaKHR,
    FDiv,
    FRem,
    FMod,
    Round,
    RoundEven,
    Trunc,
    FAbs,
    Floor,
    Ceil,
    Fract,
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Atan2,
    Pow,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    Determinant,
    MatrixInverse,
    Modf,
    ModfStruct,
    FMin,
    FMax,
    FClamp,
    FMix,
    Step,
    SmoothStep,
    Fma,
    UnpackHalf2x16,
    Length,
    Distance,
    Cross,
    Normalize,
    FaceForward,
    Reflect,
    Refract,
    NMin,
    NMax,
    NClamp,
];

const PRESERVED: &[Op] = &[
    FmaKHR,
    FAbs,
    FSign,
    Radians,
    Degrees,
    FMin,
    FMax,
    FClamp,
    FMix,
    Fma,
    PackHalf2x16,
    PackDouble2x32,
    UnpackHalf2x16,
    UnpackDouble2x32,
    NMin,
    NMax,
    NClamp,
];

/// Returns true if `DenormFlushToZero` binds the instruction.
pub(crate) fn flush_binds(op: Op) -> bool {
    COMMON.contains(&op) || FLUSHED.contains(&op)
}

/// Returns true if `DenormPreserve` binds the instruction.
pub(crate) fn preserve_binds(op: Op) -> bool {
    COMMON.contains(&op) || COMPARISONS.contains(&op) || PRESERVED.contains(&op)
}

/// Returns true if `SignedZeroInfNanPreserve` binds the instruction.
pub(crate) fn specials_bind(op: Op) -> bool {
    COMMON.contains(&op) || COMPARISONS.contains(&op) || [FDiv, IsNan, IsInf].contains(&op)
}
