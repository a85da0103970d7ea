//! WGSL's rows: the expression of WGSL that corresponds to an instruction, and its accuracy.

use crate::{
    Call, Modes, Op, Scalar, Specification, Type,
    accuracy::Accuracy,
    discrete_op::{DiscreteOp, Relation},
    formulas,
    real_op::RealOp,
};
use assay_float::{F16, F32};

/// Spelling of an operation in WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Built-in function of all operands: `atan2`.
    Function(&'static str),
    /// Built-in function whose result has members: `modf`, with `fract` and `whole`.
    Members(&'static str, [&'static str; 2]),
    /// Operator between two operands: `+`.
    Infix(&'static str),
    /// Operator before one operand: `-`.
    Prefix(&'static str),
    /// The result's type as a function: `f32(x)`.
    Conversion,
}

/// Error: the call has no counterpart in WGSL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op} cannot be expressed in WGSL: {why}")]
pub struct NotInWgsl {
    /// The instruction.
    pub op: Op,
    /// The feature that WGSL lacks.
    pub why: String,
}

/// Row of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) spelling: Spelling,
    pub(crate) accuracy: Accuracy,
    /// Rule in the words of WGSL's table; empty if it follows from a bound.
    pub(crate) words: &'static str,
    /// Absolute error that is permitted if it exceeds the inherited one, for f32 and for f16:
    /// `(digits, exponent)` for `digits * 10^-exponent`.
    pub(crate) absolute: Option<[(i64, u32); 2]>,
    /// Anchor of the clause.
    pub(crate) clause: &'static str,
}

/// Anchor of "Accuracy of Concrete Floating Point Expressions".
const TABLE: &str = "concrete-float-accuracy";
/// Anchor of "Floating Point Conversion".
const CONVERSION: &str = "floating-point-conversion";
/// Anchor of "Numeric Built-in Functions", which define integer functions exactly.
const INTEGER: &str = "numeric-builtin-functions";
/// Anchor of "Arithmetic Expressions", which defines products of matrices by `dot`.
const ARITHMETIC: &str = "arithmetic-expr";

const ROUNDED: &str = "correctly rounded";
const CORRECT: &str = "correct result";

const fn row(spelling: Spelling, accuracy: Accuracy, words: &'static str) -> Row {
    Row { spelling, accuracy, words, absolute: None, clause: TABLE }
}

/// Row of an instruction, or the reason for which there is none.
pub(crate) fn of(op: Op) -> Result<Row, &'static str> {
    use Accuracy::{Discrete as E, Formula as F, Frexp, Measured, Modf, Real as R, Unpack, UnpackHalf};
    use Spelling::{Conversion, Function, Infix, Members, Prefix};
    let inherited = |spelling, formula, words| row(spelling, F(formula), words);
    let integer = |name, exact| Row { clause: INTEGER, ..row(Function(name), E(exact), CORRECT) };
    let rounded = |name, exact| row(Function(name), E(exact), ROUNDED);
    let bound = |name, real| row(Function(name), R(real), "");
    let compare =
        |operator, relation, unordered| row(Infix(operator), E(DiscreteOp::Compare(relation, unordered)), CORRECT);
    let matrix = |formula| Row { clause: ARITHMETIC, ..row(Infix("*"), F(formula), "sum of `x[i] * y[i]`") };
    Ok(match op {
        Op::FNegate => row(Prefix("-"), E(DiscreteOp::Negate), ROUNDED),
        Op::FAdd => row(Infix("+"), R(RealOp::Add), ""),
        Op::FSub => row(Infix("-"), R(RealOp::Sub), ""),
        Op::FMul => row(Infix("*"), R(RealOp::Mul), ""),
        Op::FDiv => row(Infix("/"), R(RealOp::Div), ""),
        Op::FRem => inherited(Infix("%"), formulas::rem, "x - y * trunc(x/y)"),
        Op::VectorTimesScalar | Op::MatrixTimesScalar => {
            Row { clause: ARITHMETIC, ..row(Infix("*"), R(RealOp::Mul), "") }
        }
        Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix => matrix(formulas::sum_of_products),
        Op::Dot => inherited(Function("dot"), formulas::sum_of_products, "sum of `x[i] * y[i]`"),
        Op::FOrdEqual => compare("==", Relation::Equal, false),
        Op::FUnordNotEqual => compare("!=", Relation::NotEqual, true),
        Op::FOrdLessThan => compare("<", Relation::Less, false),
        Op::FOrdGreaterThan => compare(">", Relation::Greater, false),
        Op::FOrdLessThanEqual => compare("<=", Relation::LessEqual, false),
        Op::FOrdGreaterThanEqual => compare(">=", Relation::GreaterEqual, false),
        Op::ConvertFToU | Op::ConvertFToS => Row {
            clause: CONVERSION,
            ..row(
                Conversion,
                E(DiscreteOp::ToInt),
                "the value of the result's type closest to truncate(x) that is also representable in the operand's type",
            )
        },
        Op::ConvertSToF | Op::ConvertUToF => Row { clause: CONVERSION, ..row(Conversion, R(RealOp::FromInt), "") },
        Op::FConvert => Row { clause: CONVERSION, ..row(Conversion, R(RealOp::Convert), "") },
        Op::QuantizeToF16 => rounded("quantizeToF16", DiscreteOp::QuantizeToF16),
        Op::RoundEven => rounded("round", DiscreteOp::RoundEven),
        Op::Trunc => rounded("trunc", DiscreteOp::Trunc),
        Op::FAbs => rounded("abs", DiscreteOp::Abs),
        Op::SAbs => integer("abs", DiscreteOp::SAbs),
        Op::FSign => rounded("sign", DiscreteOp::Sign),
        Op::SSign => integer("sign", DiscreteOp::SSign),
        Op::Floor => rounded("floor", DiscreteOp::Floor),
        Op::Ceil => rounded("ceil", DiscreteOp::Ceil),
        Op::Fract => row(Function("fract"), R(RealOp::Fract), "inherited from x - floor(x)"),
        Op::Radians => inherited(Function("radians"), formulas::radians, "x * 0.017453292519943295474"),
        Op::Degrees => inherited(Function("degrees"), formulas::degrees, "x * 57.295779513082322865"),
        Op::Sin => bound("sin", RealOp::Sin),
        Op::Cos => bound("cos", RealOp::Cos),
        Op::Tan => inherited(Function("tan"), formulas::tan, "sin(x) / cos(x)"),
        Op::Asin => Row {
            absolute: Some([(681, 7), (391, 5)]),
            ..inherited(Function("asin"), formulas::asin, "atan2(x, sqrt(1.0 - x * x))")
        },
        Op::Acos => Row {
            absolute: Some([(677, 7), (391, 5)]),
            ..inherited(Function("acos"), formulas::acos, "atan2(sqrt(1.0 - x * x), x)")
        },
        Op::Atan => bound("atan", RealOp::Atan),
        Op::Sinh => inherited(Function("sinh"), formulas::sinh, "(exp(x) - exp(-x)) * 0.5"),
        Op::Cosh => inherited(Function("cosh"), formulas::cosh, "(exp(x) + exp(-x)) * 0.5"),
        Op::Tanh => {
            Row { absolute: Some([(1, 5), (1, 5)]), ..inherited(Function("tanh"), formulas::tanh, "sinh(x) / cosh(x)") }
        }
        Op::Asinh => inherited(Function("asinh"), formulas::asinh, "log(x + sqrt(x * x + 1.0))"),
        Op::Acosh => inherited(Function("acosh"), formulas::acosh, "log(x + sqrt(x * x - 1.0))"),
        Op::Atanh => inherited(Function("atanh"), formulas::atanh, "log( (1.0 + x) / (1.0 - x) ) * 0.5"),
        Op::Atan2 => bound("atan2", RealOp::Atan2),
        Op::Pow => inherited(Function("pow"), formulas::pow, "exp2(y * log2(x))"),
        Op::Exp => bound("exp", RealOp::Exp),
        Op::Log => bound("log", RealOp::Log),
        Op::Exp2 => bound("exp2", RealOp::Exp2),
        Op::Log2 => bound("log2", RealOp::Log2),
        Op::Sqrt => inherited(Function("sqrt"), formulas::sqrt, "1.0 / inverseSqrt(x)"),
        Op::InverseSqrt => bound("inverseSqrt", RealOp::InverseSqrt),
        Op::Determinant => row(Function("determinant"), Measured, "infinite ULP"),
        Op::ModfStruct => row(Members("modf", ["fract", "whole"]), Modf, ROUNDED),
        Op::FMin => row(Function("min"), E(DiscreteOp::Min), "correctly rounded; of two subnormal operands either"),
        Op::FMax => row(Function("max"), E(DiscreteOp::Max), "correctly rounded; of two subnormal operands either"),
        Op::UMin => integer("min", DiscreteOp::UMin),
        Op::SMin => integer("min", DiscreteOp::SMin),
        Op::UMax => integer("max", DiscreteOp::UMax),
        Op::SMax => integer("max", DiscreteOp::SMax),
        Op::FClamp => row(
            Function("clamp"),
            E(DiscreteOp::Clamp),
            "correctly rounded: min(max(x, low), high) or the median of the three; of two subnormal operands of min or max either",
        ),
        Op::UClamp => integer("clamp", DiscreteOp::UClamp),
        Op::SClamp => integer("clamp", DiscreteOp::SClamp),
        Op::FMix => inherited(Function("mix"), formulas::mix, "x * (1.0 - z) + y * z"),
        Op::Step => rounded("step", DiscreteOp::Step),
        Op::SmoothStep => inherited(
            Function("smoothstep"),
            formulas::smooth_step,
            "t * t * (3.0 - 2.0 * t), t = clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)",
        ),
        Op::Fma => inherited(Function("fma"), formulas::fma, "x * y + z"),
        Op::FrexpStruct => {
            row(Members("frexp", ["fract", "exp"]), Frexp, "correctly rounded, when x is zero or normal")
        }
        Op::Ldexp => bound("ldexp", RealOp::Ldexp),
        Op::PackSnorm4x8 => row(Function("pack4x8snorm"), E(DiscreteOp::PackSnorm), PACKED),
        Op::PackUnorm4x8 => row(Function("pack4x8unorm"), E(DiscreteOp::PackUnorm), PACKED),
        Op::PackSnorm2x16 => row(Function("pack2x16snorm"), E(DiscreteOp::PackSnorm), PACKED),
        Op::PackUnorm2x16 => row(Function("pack2x16unorm"), E(DiscreteOp::PackUnorm), PACKED),
        Op::PackHalf2x16 => row(Function("pack2x16float"), R(RealOp::PackHalf), PACKED),
        Op::UnpackSnorm2x16 => row(Function("unpack2x16snorm"), Unpack { signed: true }, ""),
        Op::UnpackUnorm2x16 => row(Function("unpack2x16unorm"), Unpack { signed: false }, ""),
        Op::UnpackHalf2x16 => row(Function("unpack2x16float"), UnpackHalf, ROUNDED),
        Op::UnpackSnorm4x8 => row(Function("unpack4x8snorm"), Unpack { signed: true }, ""),
        Op::UnpackUnorm4x8 => row(Function("unpack4x8unorm"), Unpack { signed: false }, ""),
        Op::Length => inherited(Function("length"), formulas::length, "sqrt(dot(x, x)), of a scalar sqrt(x*x)"),
        Op::Distance => inherited(Function("distance"), formulas::distance, "length(x - y)"),
        Op::Cross => inherited(Function("cross"), formulas::cross, "(x[i] * y[j] - x[j] * y[i])"),
        Op::Normalize => inherited(Function("normalize"), formulas::normalize_by_length, "x / length(x)"),
        Op::FaceForward => inherited(Function("faceForward"), formulas::face_forward, "select(-x, x, dot(z, y) < 0.0)"),
        Op::Reflect => inherited(Function("reflect"), formulas::reflect, "x - 2.0 * dot(x, y) * y"),
        Op::Refract => inherited(
            Function("refract"),
            formulas::refract,
            "z * x - (z * dot(y, x) + sqrt(k)) * y, k = 1.0 - z * z * (1.0 - dot(y, x) * dot(y, x)); 0.0 if k < 0.0",
        ),
        Op::FindILsb => integer("firstTrailingBit", DiscreteOp::FindILsb),
        Op::FindSMsb => integer("firstLeadingBit", DiscreteOp::FindSMsb),
        Op::FindUMsb => integer("firstLeadingBit", DiscreteOp::FindUMsb),
        Op::FMod => return Err("`%` is the remainder of OpFRem; there is none that rounds down"),
        Op::FmaKHR => return Err("its `fma` need not be fused"),
        Op::OuterProduct => return Err("it has no outer product"),
        Op::IsNan | Op::IsInf => {
            return Err("it has no classification: implementations may assume that there are no NaNs");
        }
        Op::FUnordEqual
        | Op::FOrdNotEqual
        | Op::FUnordLessThan
        | Op::FUnordGreaterThan
        | Op::FUnordLessThanEqual
        | Op::FUnordGreaterThanEqual => return Err("its comparisons have one form, which is another for NaNs"),
        Op::DPdx
        | Op::DPdy
        | Op::Fwidth
        | Op::DPdxFine
        | Op::DPdyFine
        | Op::FwidthFine
        | Op::DPdxCoarse
        | Op::DPdyCoarse
        | Op::FwidthCoarse => return Err("its derivatives are for fragment shaders"),
        Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => return Err("it has no comparison across a subgroup"),
        Op::GroupNonUniformFMin | Op::GroupNonUniformFMax | Op::GroupNonUniformFAdd | Op::GroupNonUniformFMul => {
            return Err("which invocations share a subgroup is not known there, so that there is no pair to reduce");
        }
        Op::AtomicFAddEXT
        | Op::AtomicFMinEXT
        | Op::AtomicFMaxEXT
        | Op::AtomicCompareExchange
        | Op::AtomicCompareExchangeWeak => return Err("its atomics are of integers"),
        Op::Round => return Err("its `round` is that of RoundEven"),
        Op::Modf | Op::Frexp => return Err("its function returns a structure, as ModfStruct and FrexpStruct do"),
        Op::MatrixInverse => return Err("it has no inverse of a matrix"),
        Op::PackDouble2x32 | Op::UnpackDouble2x32 => return Err("it has no f64"),
        Op::InterpolateAtCentroid | Op::InterpolateAtSample | Op::InterpolateAtOffset => {
            return Err("interpolation is for fragment shaders");
        }
        Op::NMin | Op::NMax | Op::NClamp => {
            return Err("its `min`, `max` and `clamp` are those of FMin, FMax and FClamp");
        }
    })
}

const PACKED: &str = "correctly rounded intermediate value, correct result";

impl Row {
    /// Rule in words, for one column.
    pub(crate) fn rule(&self, half: bool) -> String {
        match self.accuracy {
            Accuracy::Formula(_) => {
                let inherited = format!("inherited from {}", self.words);
                match self.absolute {
                    Some(of) => {
                        let (digits, exponent) = of[usize::from(half)];
                        let shown = digits as f64 / 10f64.powi(exponent.cast_signed());
                        format!("the worse of an absolute error of {shown:e} and what is {inherited}")
                    }
                    None => inherited,
                }
            }
            Accuracy::Real(real) if self.words.is_empty() => real.words(Specification::Wgsl, half),
            Accuracy::Unpack { .. } => RealOp::Unpack.words(Specification::Wgsl, half),
            _ => self.words.to_owned(),
        }
    }
}

impl Spelling {
    /// Expression with these operands, as WGSL's table writes it: `atan2(x, y)`.
    pub fn expression(self, operands: &[&str]) -> String {
        match self {
            Spelling::Function(name) | Spelling::Members(name, _) => format!("{name}({})", operands.join(", ")),
            Spelling::Infix(operator) => operands.join(&format!(" {operator} ")),
            Spelling::Prefix(operator) => format!("{operator}{}", operands.join(", ")),
            Spelling::Conversion => format!("T({})", operands.join(", ")),
        }
    }
}

impl Op {
    /// Spelling of the instruction in WGSL.
    ///
    /// # Errors
    /// Fails if WGSL has no counterpart.
    pub fn in_wgsl(self) -> Result<Spelling, NotInWgsl> {
        of(self).map(|row| row.spelling).map_err(|why| NotInWgsl { op: self, why: why.to_owned() })
    }
}

impl Call {
    /// Call of WGSL's counterpart, judged by WGSL's rules.
    ///
    /// # Errors
    /// Fails if WGSL has no such operation, type, shape or mode.
    pub fn in_wgsl(&self) -> Result<Call, NotInWgsl> {
        let refused = |why: String| NotInWgsl { op: self.op, why };
        of(self.op).map_err(|why| refused(why.to_owned()))?;
        if self.modes != Modes::default() {
            return Err(refused(format!("it declares no floating-point modes, and this is {}", self.modes)));
        }
        let types = self.operands.iter().chain(&self.results);
        if let Some(ty) = types.clone().find(|ty| !is_type(self.op, **ty)) {
            return Err(refused(format!("it has no {}", ty.scalar)));
        }
        let first = self.operands[0];
        let only_vectors = matches!(self.op, Op::Dot | Op::Normalize | Op::FaceForward | Op::Reflect | Op::Refract);
        if only_vectors && first.is_scalar() {
            return Err(refused("its function takes vectors".to_owned()));
        }
        Ok(Call { specification: Specification::Wgsl, ..self.clone() })
    }
}

/// Returns true if WGSL has values of that type, which excludes packed words.
fn is_type(op: Op, ty: Type) -> bool {
    let packs =
        matches!(op, Op::PackSnorm4x8 | Op::PackUnorm4x8 | Op::PackSnorm2x16 | Op::PackUnorm2x16 | Op::PackHalf2x16);
    match ty.scalar {
        Scalar::Bool => true,
        Scalar::Float(format) => [F16, F32].contains(&format),
        Scalar::Int { width, .. } => width == 32 || packs,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_ranges_of_wgsl_are_those_that_the_quick_evaluation_takes() {
        for half in [false, true] {
            assert_eq!(crate::wgsl::wgsl_bounds::range_exponent(half), crate::bound::divisor_exponent(half));
        }
    }
}
