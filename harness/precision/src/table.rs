//! The precision table: one row for each instruction.
//!
//! A row has the types that the instruction takes ([`Signature`]), the rule for its result
//! ([`Accuracy`]) and the specification's lists that name it ([`Lists`]). The bounds are in
//! [`RealOp::bound`](crate::real_op::RealOp::bound), the formulas in [`formulas`](crate::formulas),
//! the discrete results in [`DiscreteOp`](crate::discrete_op::DiscreteOp).

use crate::{
    Call, Denormals, Flush, Op, Specification,
    discrete_op::{DiscreteOp, Relation},
    float8::OverflowPolicy,
    formula::Formula,
    formulas,
    real_op::{Bound, EITHER, RealOp},
    signature::Signature,
    wgsl,
};
use assay_float::{BF16, F16, Format};

const ROUNDED_STEPS: &str = "Vulkan demands correct rounding of every instruction on bfloat16, SPV_KHR_bfloat16 the accuracy of binary32 and \
     leaves it open whether intermediate values are rounded";

/// Row of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) signature: Signature,
    pub(crate) accuracy: Accuracy,
    pub(crate) lists: Lists,
}

/// Rule for the result of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accuracy {
    /// Discrete result: the correct one, or the few that the text names.
    Discrete(DiscreteOp),
    /// Real function with a bound.
    Real(RealOp),
    /// Inherited from the formula that the function builds for the operands' sizes.
    Formula(fn(&Inputs) -> Formula),
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

/// Sizes for which a formula is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs {
    /// Number of components of each vector operand (1 for scalars), or of products of a sum.
    pub(crate) components: usize,
    /// Index of the result component.
    pub(crate) component: usize,
}

/// Lists in "Precision and Operation of SPIR-V Instructions" that name the instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lists {
    /// Must respect `DenormFlushToZero`.
    pub(crate) flush: bool,
    /// Must respect `DenormPreserve`.
    pub(crate) preserve: bool,
    /// Must respect `SignedZeroInfNanPreserve`.
    pub(crate) special: bool,
}

impl Lists {
    const NONE: Lists = Lists { flush: false, preserve: false, special: false };
    const FLUSH: Lists = Lists { flush: true, ..Lists::NONE };
    const PRESERVE: Lists = Lists { preserve: true, ..Lists::NONE };
    const SPECIAL: Lists = Lists { special: true, ..Lists::NONE };
    const FLUSH_PRESERVE: Lists = Lists { flush: true, preserve: true, special: false };
    const FLUSH_SPECIAL: Lists = Lists { flush: true, preserve: false, special: true };
    const PRESERVE_SPECIAL: Lists = Lists { flush: false, preserve: true, special: true };
    const ALL: Lists = Lists { flush: true, preserve: true, special: true };

    /// Treatment of denormal results of a width with this declaration.
    pub(crate) fn flush_of_results(self, declared: Denormals) -> Flush {
        match declared {
            Denormals::FlushToZero if self.flush => Flush::Must,
            Denormals::Preserve if self.preserve => Flush::Never,
            Denormals::Undeclared | Denormals::FlushToZero | Denormals::Preserve => Flush::May,
        }
    }
}

const fn row(signature: Signature, accuracy: Accuracy, lists: Lists) -> Row {
    Row { signature, accuracy, lists }
}

/// Row of an instruction.
pub(crate) fn of(op: Op) -> Row {
    use Accuracy::{Atomic, Discrete as E, Formula as F, Frexp, Measured, Modf, Real as R, Unpack, UnpackHalf};
    match op {
        Op::FNegate => row(Signature::Map(1), E(DiscreteOp::Negate), Lists::ALL),
        Op::FAdd => row(Signature::Map(2), R(RealOp::Add), Lists::ALL),
        Op::FSub => row(Signature::Map(2), R(RealOp::Sub), Lists::ALL),
        Op::FMul => row(Signature::Map(2), R(RealOp::Mul), Lists::ALL),
        Op::FDiv => row(Signature::Map(2), R(RealOp::Div), Lists::FLUSH_SPECIAL),
        Op::FRem => row(Signature::Map(2), F(formulas::rem), Lists::FLUSH),
        Op::FMod => row(Signature::Map(2), F(formulas::modulo), Lists::FLUSH),
        Op::FmaKHR => row(Signature::Map(3), R(RealOp::Fma), Lists::FLUSH_PRESERVE),
        Op::VectorTimesScalar => row(Signature::VectorTimesScalar, R(RealOp::Mul), Lists::ALL),
        Op::MatrixTimesScalar => row(Signature::MatrixTimesScalar, R(RealOp::Mul), Lists::ALL),
        Op::VectorTimesMatrix => row(Signature::VectorTimesMatrix, F(formulas::sum_of_products), Lists::ALL),
        Op::MatrixTimesVector => row(Signature::MatrixTimesVector, F(formulas::sum_of_products), Lists::ALL),
        Op::MatrixTimesMatrix => row(Signature::MatrixTimesMatrix, F(formulas::sum_of_products), Lists::ALL),
        Op::OuterProduct => row(Signature::OuterProduct, R(RealOp::Mul), Lists::ALL),
        Op::Dot => row(Signature::Dot, F(formulas::sum_of_products), Lists::ALL),
        Op::IsNan => row(Signature::Predicate, E(DiscreteOp::IsNan), Lists::SPECIAL),
        Op::IsInf => row(Signature::Predicate, E(DiscreteOp::IsInf), Lists::SPECIAL),
        Op::FOrdEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Equal, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Equal, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::FOrdNotEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::NotEqual, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordNotEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::NotEqual, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::FOrdLessThan => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Less, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordLessThan => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Less, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::FOrdGreaterThan => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Greater, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordGreaterThan => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::Greater, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::FOrdLessThanEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::LessEqual, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordLessThanEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::LessEqual, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::FOrdGreaterThanEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::GreaterEqual, false)), Lists::PRESERVE_SPECIAL)
        }
        Op::FUnordGreaterThanEqual => {
            row(Signature::Compare, E(DiscreteOp::Compare(Relation::GreaterEqual, true)), Lists::PRESERVE_SPECIAL)
        }
        Op::ConvertFToU => row(Signature::Convert, E(DiscreteOp::ToInt), Lists::NONE),
        Op::ConvertFToS => row(Signature::Convert, E(DiscreteOp::ToInt), Lists::NONE),
        Op::ConvertSToF => row(Signature::Convert, R(RealOp::FromInt), Lists::NONE),
        Op::ConvertUToF => row(Signature::Convert, R(RealOp::FromInt), Lists::NONE),
        Op::FConvert => row(Signature::Convert, R(RealOp::Convert), Lists::ALL),
        Op::QuantizeToF16 => row(Signature::Map(1), E(DiscreteOp::QuantizeToF16), Lists::NONE),
        Op::DPdx => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::DPdy => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::Fwidth => row(Signature::Derivative(3), R(RealOp::Width), Lists::ALL),
        Op::DPdxFine => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::DPdyFine => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::FwidthFine => row(Signature::Derivative(3), R(RealOp::Width), Lists::ALL),
        Op::DPdxCoarse => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::DPdyCoarse => row(Signature::Derivative(2), R(RealOp::Difference), Lists::ALL),
        Op::FwidthCoarse => row(Signature::Derivative(3), R(RealOp::Width), Lists::ALL),
        Op::GroupNonUniformAllEqual => row(Signature::Compare, E(DiscreteOp::AllEqual), Lists::PRESERVE_SPECIAL),
        Op::SubgroupAllEqualKHR => row(Signature::Vote, E(DiscreteOp::AllEqual), Lists::PRESERVE_SPECIAL),
        Op::GroupNonUniformFMin => row(Signature::Map(2), E(DiscreteOp::GroupMin), Lists::ALL),
        Op::GroupNonUniformFMax => row(Signature::Map(2), E(DiscreteOp::GroupMax), Lists::ALL),
        Op::GroupNonUniformFAdd => row(Signature::Map(2), Measured, Lists::NONE),
        Op::GroupNonUniformFMul => row(Signature::Map(2), Measured, Lists::NONE),
        Op::AtomicFAddEXT => row(Signature::Atomic(2), Atomic(&R(RealOp::Add)), Lists::ALL),
        Op::AtomicFMinEXT => row(Signature::Atomic(2), Atomic(&E(DiscreteOp::AtomicMin)), Lists::ALL),
        Op::AtomicFMaxEXT => row(Signature::Atomic(2), Atomic(&E(DiscreteOp::AtomicMax)), Lists::ALL),
        Op::AtomicCompareExchange => {
            row(Signature::Atomic(3), Atomic(&E(DiscreteOp::CompareExchange)), Lists::PRESERVE_SPECIAL)
        }
        Op::AtomicCompareExchangeWeak => {
            row(Signature::Atomic(3), Atomic(&E(DiscreteOp::CompareExchange)), Lists::PRESERVE_SPECIAL)
        }
        Op::Round => row(Signature::Map(1), E(DiscreteOp::Round), Lists::FLUSH),
        Op::RoundEven => row(Signature::Map(1), E(DiscreteOp::RoundEven), Lists::FLUSH),
        Op::Trunc => row(Signature::Map(1), E(DiscreteOp::Trunc), Lists::FLUSH),
        Op::FAbs => row(Signature::Map(1), E(DiscreteOp::Abs), Lists::FLUSH_PRESERVE),
        Op::SAbs => row(Signature::IntMap(1), E(DiscreteOp::SAbs), Lists::NONE),
        Op::FSign => row(Signature::Map(1), E(DiscreteOp::Sign), Lists::PRESERVE),
        Op::SSign => row(Signature::IntMap(1), E(DiscreteOp::SSign), Lists::NONE),
        Op::Floor => row(Signature::Map(1), E(DiscreteOp::Floor), Lists::FLUSH),
        Op::Ceil => row(Signature::Map(1), E(DiscreteOp::Ceil), Lists::FLUSH),
        Op::Fract => row(Signature::Map(1), R(RealOp::Fract), Lists::FLUSH),
        Op::Radians => row(Signature::Map(1), F(formulas::radians), Lists::FLUSH_PRESERVE),
        Op::Degrees => row(Signature::Map(1), F(formulas::degrees), Lists::FLUSH_PRESERVE),
        Op::Sin => row(Signature::Map(1), R(RealOp::Sin), Lists::FLUSH),
        Op::Cos => row(Signature::Map(1), R(RealOp::Cos), Lists::FLUSH),
        Op::Tan => row(Signature::Map(1), F(formulas::tan), Lists::FLUSH),
        Op::Asin => row(Signature::Map(1), F(formulas::asin), Lists::FLUSH),
        Op::Acos => row(Signature::Map(1), F(formulas::acos), Lists::FLUSH),
        Op::Atan => row(Signature::Map(1), R(RealOp::Atan), Lists::FLUSH),
        Op::Sinh => row(Signature::Map(1), F(formulas::sinh), Lists::FLUSH),
        Op::Cosh => row(Signature::Map(1), F(formulas::cosh), Lists::FLUSH),
        Op::Tanh => row(Signature::Map(1), F(formulas::tanh), Lists::FLUSH),
        Op::Asinh => row(Signature::Map(1), F(formulas::asinh), Lists::FLUSH),
        Op::Acosh => row(Signature::Map(1), F(formulas::acosh), Lists::FLUSH),
        Op::Atanh => row(Signature::Map(1), F(formulas::atanh), Lists::FLUSH),
        Op::Atan2 => row(Signature::Map(2), R(RealOp::Atan2), Lists::FLUSH),
        Op::Pow => row(Signature::Map(2), F(formulas::pow), Lists::FLUSH),
        Op::Exp => row(Signature::Map(1), R(RealOp::Exp), Lists::FLUSH),
        Op::Log => row(Signature::Map(1), R(RealOp::Log), Lists::FLUSH),
        Op::Exp2 => row(Signature::Map(1), R(RealOp::Exp2), Lists::FLUSH),
        Op::Log2 => row(Signature::Map(1), R(RealOp::Log2), Lists::FLUSH),
        Op::Sqrt => row(Signature::Map(1), F(formulas::sqrt), Lists::FLUSH),
        Op::InverseSqrt => row(Signature::Map(1), R(RealOp::InverseSqrt), Lists::FLUSH),
        Op::Determinant => row(Signature::Determinant, Measured, Lists::FLUSH),
        Op::MatrixInverse => row(Signature::MatrixInverse, Measured, Lists::FLUSH),
        Op::Modf => row(Signature::Modf, Modf, Lists::FLUSH),
        Op::ModfStruct => row(Signature::Modf, Modf, Lists::FLUSH),
        Op::FMin => row(Signature::Map(2), E(DiscreteOp::Min), Lists::FLUSH_PRESERVE),
        Op::UMin => row(Signature::IntMap(2), E(DiscreteOp::UMin), Lists::NONE),
        Op::SMin => row(Signature::IntMap(2), E(DiscreteOp::SMin), Lists::NONE),
        Op::FMax => row(Signature::Map(2), E(DiscreteOp::Max), Lists::FLUSH_PRESERVE),
        Op::UMax => row(Signature::IntMap(2), E(DiscreteOp::UMax), Lists::NONE),
        Op::SMax => row(Signature::IntMap(2), E(DiscreteOp::SMax), Lists::NONE),
        Op::FClamp => row(Signature::Map(3), E(DiscreteOp::Clamp), Lists::FLUSH_PRESERVE),
        Op::UClamp => row(Signature::IntMap(3), E(DiscreteOp::UClamp), Lists::NONE),
        Op::SClamp => row(Signature::IntMap(3), E(DiscreteOp::SClamp), Lists::NONE),
        Op::FMix => row(Signature::Map(3), F(formulas::mix), Lists::FLUSH_PRESERVE),
        Op::Step => row(Signature::Map(2), E(DiscreteOp::Step), Lists::FLUSH),
        Op::SmoothStep => row(Signature::Map(3), F(formulas::smooth_step), Lists::FLUSH),
        Op::Fma => row(Signature::Map(3), F(formulas::fma), Lists::FLUSH_PRESERVE),
        Op::Frexp => row(Signature::Frexp, Frexp, Lists::NONE),
        Op::FrexpStruct => row(Signature::Frexp, Frexp, Lists::NONE),
        Op::Ldexp => row(Signature::Ldexp, R(RealOp::Ldexp), Lists::NONE),
        Op::PackSnorm4x8 => row(Signature::Pack, E(DiscreteOp::PackSnorm), Lists::NONE),
        Op::PackUnorm4x8 => row(Signature::Pack, E(DiscreteOp::PackUnorm), Lists::NONE),
        Op::PackSnorm2x16 => row(Signature::Pack, E(DiscreteOp::PackSnorm), Lists::NONE),
        Op::PackUnorm2x16 => row(Signature::Pack, E(DiscreteOp::PackUnorm), Lists::NONE),
        Op::PackHalf2x16 => row(Signature::Pack, R(RealOp::PackHalf), Lists::PRESERVE),
        Op::PackDouble2x32 => row(Signature::PackDouble, E(DiscreteOp::PackDouble), Lists::PRESERVE),
        Op::UnpackSnorm2x16 => row(Signature::Unpack, Unpack { signed: true }, Lists::NONE),
        Op::UnpackUnorm2x16 => row(Signature::Unpack, Unpack { signed: false }, Lists::NONE),
        Op::UnpackHalf2x16 => row(Signature::Unpack, UnpackHalf, Lists::FLUSH_PRESERVE),
        Op::UnpackSnorm4x8 => row(Signature::Unpack, Unpack { signed: true }, Lists::NONE),
        Op::UnpackUnorm4x8 => row(Signature::Unpack, Unpack { signed: false }, Lists::NONE),
        Op::UnpackDouble2x32 => row(Signature::UnpackDouble, E(DiscreteOp::UnpackDouble), Lists::PRESERVE),
        Op::Length => row(Signature::Length, F(formulas::length), Lists::FLUSH),
        Op::Distance => row(Signature::Distance, F(formulas::distance), Lists::FLUSH),
        Op::Cross => row(Signature::Cross, F(formulas::cross), Lists::FLUSH),
        Op::Normalize => row(Signature::Map(1), F(formulas::normalize), Lists::FLUSH),
        Op::FaceForward => row(Signature::Map(3), F(formulas::face_forward), Lists::FLUSH),
        Op::Reflect => row(Signature::Map(2), F(formulas::reflect), Lists::FLUSH),
        Op::Refract => row(Signature::Refract, F(formulas::refract), Lists::FLUSH),
        Op::FindILsb => row(Signature::IntMap(1), E(DiscreteOp::FindILsb), Lists::NONE),
        Op::FindSMsb => row(Signature::IntMap(1), E(DiscreteOp::FindSMsb), Lists::NONE),
        Op::FindUMsb => row(Signature::IntMap(1), E(DiscreteOp::FindUMsb), Lists::NONE),
        Op::InterpolateAtCentroid => row(Signature::Map(1), Measured, Lists::NONE),
        Op::InterpolateAtSample => row(Signature::Map(1), Measured, Lists::NONE),
        Op::InterpolateAtOffset => row(Signature::Map(1), Measured, Lists::NONE),
        Op::NMin => row(Signature::Map(2), E(DiscreteOp::NMin), Lists::FLUSH_PRESERVE),
        Op::NMax => row(Signature::Map(2), E(DiscreteOp::NMax), Lists::FLUSH_PRESERVE),
        Op::NClamp => row(Signature::Map(3), E(DiscreteOp::NClamp), Lists::FLUSH_PRESERVE),
    }
}

/// Returns true for the dot product of bfloat16: "the precision of all instructions on float values
/// with the BFloat16KHR encoding is required to be correctly rounded with implementation defined
/// rounding mode".
fn is_dot_of_bfloat16(call: &Call) -> bool {
    call.op == Op::Dot && call.results[0].scalar.format() == Some(BF16)
}

/// Rule of the lenient reading, if that has its own, and the doubt.
pub(crate) fn lenient_accuracy(call: &Call) -> Option<(Accuracy, &'static str)> {
    // "The accuracy .. is the same as operations on IEEE754 binary32 floating-point values, with
    // the result rounded using round-to-nearest-even or round-to-zero rounding. It is
    // implementation-defined whether intermediate values are rounded." The formula's range with
    // each step rounded to bfloat16 contains its range with each step rounded to binary32.
    is_dot_of_bfloat16(call).then_some((of(call.op).accuracy, ROUNDED_STEPS))
}

/// Rule for the result of a call. An instruction without a row in WGSL has no stated precision
/// there; [`Call::in_wgsl`] does not make such calls.
pub(crate) fn accuracy(call: &Call) -> Accuracy {
    match call.specification {
        Specification::Vulkan if is_dot_of_bfloat16(call) => Accuracy::Real(RealOp::Dot),
        Specification::Vulkan => of(call.op).accuracy,
        Specification::Wgsl => wgsl::of(call.op).map_or(Accuracy::Measured, |row| row.accuracy),
    }
}

/// Rule of a call in words.
pub(crate) fn words(call: &Call) -> String {
    let half = call.results[0].scalar.format() == Some(F16);
    fn accuracy_words(accuracy: Accuracy, call: &Call, half: bool) -> String {
        match accuracy {
            Accuracy::Discrete(op) => op.words().into(),
            Accuracy::Real(real) => match (OverflowPolicy::of(call), real.bound(Specification::Vulkan, half)) {
                (Some(policy), _) => format!("{EITHER}; {}", policy.words()),
                (None, Bound::Rounded) if !follows_modes(call) => EITHER.into(),
                _ => real.words(Specification::Vulkan, half),
            },
            Accuracy::Formula(build) => {
                let components = call.operands[0].len();
                format!("inherited from {}", build(&Inputs { components, component: 0 }).words)
            }
            Accuracy::Modf => "correctly rounded".into(),
            Accuracy::Frexp => "correct result".into(),
            Accuracy::Atomic(inner) => {
                format!("value returned: correct result; value left in memory: {}", accuracy_words(*inner, call, half))
            }
            Accuracy::Unpack { signed } => {
                let clamp = if signed { ", clamped to [-1, 1]" } else { "" };
                format!("f / k by the rule of OpFDiv ({}){clamp}", RealOp::Unpack.words(Specification::Vulkan, half))
            }
            Accuracy::UnpackHalf => "correct result".into(),
            Accuracy::Measured => "no precision is stated: reported as measured".into(),
        }
    }
    match (call.specification, wgsl::of(call.op)) {
        (Specification::Wgsl, Ok(row)) => row.rule(half),
        _ => accuracy_words(accuracy(call), call, half),
    }
}

/// Returns true if rounding modes apply to the format of the call's result.
fn follows_modes(call: &Call) -> bool {
    call.results[0].scalar.format().is_none_or(Format::is_ieee_754)
}

/// Anchor of the clause of the specification that states the instruction's rule.
pub(crate) fn clause(call: &Call) -> &'static str {
    if let (Specification::Wgsl, Ok(row)) = (call.specification, wgsl::of(call.op)) {
        return row.clause;
    }
    if !follows_modes(call) {
        return "spirvenv-correctly-rounded-impl-defined";
    }
    if call.op.is_glsl() { "precision-of-glsl-std-450-instructions" } else { "spirvenv-precision-core-table" }
}
