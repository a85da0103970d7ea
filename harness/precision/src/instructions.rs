//! Instructions of the precision table: one row for each.
//!
//! A row states everything that Vulkan and the instruction sets say of an instruction: its name,
//! its types, the rule for its results, and the lists of execution modes that name it. [`Op`],
//! [`Op::ALL`] and all names derive from the rows. The bounds are in
//! [`RealOp::bound`](crate::real_op::RealOp::bound), the formulas in [`formulas`](crate::formulas),
//! the discrete results in [`DiscreteOp`](crate::discrete_op::DiscreteOp).

use crate::{
    Scalar,
    accuracy::Accuracy::{self, Atomic, Discrete, Formula, Frexp, Measured, Modf, Real, Unpack, UnpackHalf},
    discrete_op::{DiscreteOp, Relation},
    formulas,
    lists::Lists,
    real_op::RealOp,
    signature::Signature,
    types::int,
};
use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64};

/// Row of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Name in SPIR-V: `OpFDiv`, `Exp2`.
    pub(crate) name: &'static str,
    pub(crate) signature: Signature,
    /// Main scalar types (for conversions, the result types).
    pub(crate) scalars: &'static [Scalar],
    pub(crate) accuracy: Accuracy,
    pub(crate) lists: Lists,
    pub(crate) form: SpirvForm,
    /// Operands for which the instruction set leaves the value, or the behaviour, undefined.
    pub(crate) undefined: Option<UndefinedOperands>,
    /// Reason for which no compute shader can execute the instruction on values that a test chooses.
    pub(crate) not_in_compute: Option<&'static str>,
}

/// Form of an instruction in SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirvForm {
    /// The operands in order.
    Operands,
    /// The operands and a pointer to the second result.
    Pointer,
    /// The operands; the result is a structure of both results.
    Struct,
    /// The operands; the result is a word, whose parts are the results.
    Word,
    /// A comparison across a subgroup: a scope, and the operand of this invocation.
    Vote,
    /// A reduction over a subgroup: a scope, the group operation, and the operand of this invocation.
    Reduction,
    /// A read-modify-write: a pointer to the first operand, scope and semantics, and the others.
    Atomic,
}

impl SpirvForm {
    /// Returns true if the operands are values of several invocations of a subgroup.
    pub fn crosses_invocations(self) -> bool {
        matches!(self, SpirvForm::Vote | SpirvForm::Reduction)
    }
}

/// Operands for which the instruction set leaves the value, or the behaviour, undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UndefinedOperands {
    /// `edge0 >= edge1`.
    Edges,
    /// Exponents above the format's, and products that cannot be finitely represented.
    Exponents,
    /// Values that the integer type cannot represent: the behaviour is undefined.
    OutOfRange,
}

/// Types of binary16, binary32 and binary64.
const FLOATS: &[Scalar] = &[Scalar::Float(F16), Scalar::Float(F32), Scalar::Float(F64)];
const ALL_FLOATS: &[Scalar] = &[
    Scalar::Float(F16),
    Scalar::Float(BF16),
    Scalar::Float(F32),
    Scalar::Float(F64),
    Scalar::Float(F8_E4M3),
    Scalar::Float(F8_E5M2),
];
/// For bfloat16, the dot product is the only arithmetic instruction besides those of cooperative
/// matrices.
const DOT_FLOATS: &[Scalar] = &[Scalar::Float(F16), Scalar::Float(F32), Scalar::Float(F64), Scalar::Float(BF16)];
const HALF_AND_SINGLE: &[Scalar] = &[Scalar::Float(F16), Scalar::Float(F32)];
const SINGLE: &[Scalar] = &[Scalar::Float(F32)];
const DOUBLE: &[Scalar] = &[Scalar::Float(F64)];
const SIGNED: &[Scalar] = &[int(8, true), int(16, true), int(32, true), int(64, true)];
const UNSIGNED: &[Scalar] = &[int(8, false), int(16, false), int(32, false), int(64, false)];
const WORDS: &[Scalar] = &[int(32, true), int(32, false)];
const ATOMIC_INTS: &[Scalar] = &[int(32, true), int(32, false), int(64, true), int(64, false)];

const DERIVATIVE: &str =
    "derivatives exist in fragment shaders; in compute shaders only with VK_KHR_compute_shader_derivatives";
const INTERPOLATION: &str = "interpolation exists in fragment shaders only";
const KERNEL: &str = "it needs the capability Kernel, which Vulkan does not have";
const BOOLEAN: &str = "it takes a boolean, so that no floating-point value reaches it";

const fn row(
    name: &'static str,
    signature: Signature,
    scalars: &'static [Scalar],
    accuracy: Accuracy,
    lists: Lists,
) -> Row {
    let form = SpirvForm::Operands;
    Row { name, signature, scalars, accuracy, lists, form, undefined: None, not_in_compute: None }
}

/// Name of an instruction in SPIR-V: those of the core begin with `Op`.
macro_rules! spirv_name {
    (core $name:ident) => {
        concat!("Op", stringify!($name))
    };
    (glsl $name:ident) => {
        stringify!($name)
    };
}

/// Declares the instructions. A row is
///
/// ```text
/// SET NAME: SIGNATURE, SCALARS, ACCURACY, LISTS [, FIELD: VALUE]..;
/// ```
///
/// with `core` or `glsl` as its set, and the fields of [`Row`] that differ from [`row`].
macro_rules! instructions {
    ($($set:ident $name:ident: $signature:ident $(($($argument:expr),*))?, $scalars:expr, $accuracy:expr, $lists:ident
       $(, $field:ident: $value:expr)*;)*) => {
        /// An instruction with a row in the precision table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are those of SPIR-V, without `Op`")]
        pub enum Op {
            $($name,)*
        }

        impl Op {
            /// All instructions, core ones first, in the order of the specification's tables.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];
        }

        static ROWS: &[Row] = &[$(
            Row {
                $($field: $value,)*
                ..row(
                    spirv_name!($set $name),
                    Signature::$signature $(($($argument),*))?,
                    $scalars,
                    $accuracy,
                    Lists::$lists,
                )
            },
        )*];
    };
}

instructions! {
    // Core instructions.
    core FNegate: Map(1), FLOATS, Discrete(DiscreteOp::Negate), ALL;
    core FAdd: Map(2), FLOATS, Real(RealOp::Add), ALL;
    core FSub: Map(2), FLOATS, Real(RealOp::Sub), ALL;
    core FMul: Map(2), FLOATS, Real(RealOp::Mul), ALL;
    core FDiv: Map(2), FLOATS, Real(RealOp::Div), FLUSH_SPECIAL;
    core FRem: Map(2), FLOATS, Formula(formulas::rem), FLUSH;
    core FMod: Map(2), FLOATS, Formula(formulas::modulo), FLUSH;
    core FmaKHR: Map(3), FLOATS, Real(RealOp::Fma), FLUSH_PRESERVE;
    core VectorTimesScalar: VectorTimesScalar, FLOATS, Real(RealOp::Mul), ALL;
    core MatrixTimesScalar: MatrixTimesScalar, FLOATS, Real(RealOp::Mul), ALL;
    core VectorTimesMatrix: VectorTimesMatrix, FLOATS, Formula(formulas::sum_of_products), ALL;
    core MatrixTimesVector: MatrixTimesVector, FLOATS, Formula(formulas::sum_of_products), ALL;
    core MatrixTimesMatrix: MatrixTimesMatrix, FLOATS, Formula(formulas::sum_of_products), ALL;
    core OuterProduct: OuterProduct, FLOATS, Real(RealOp::Mul), ALL;
    core Dot: Dot, DOT_FLOATS, Formula(formulas::sum_of_products), ALL;
    core IsNan: Predicate, FLOATS, Discrete(DiscreteOp::IsNan), SPECIAL;
    core IsInf: Predicate, FLOATS, Discrete(DiscreteOp::IsInf), SPECIAL;
    core FOrdEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Equal, false)), PRESERVE_SPECIAL;
    core FUnordEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Equal, true)), PRESERVE_SPECIAL;
    core FOrdNotEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::NotEqual, false)), PRESERVE_SPECIAL;
    core FUnordNotEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::NotEqual, true)), PRESERVE_SPECIAL;
    core FOrdLessThan: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Less, false)), PRESERVE_SPECIAL;
    core FUnordLessThan: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Less, true)), PRESERVE_SPECIAL;
    core FOrdGreaterThan: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Greater, false)), PRESERVE_SPECIAL;
    core FUnordGreaterThan: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::Greater, true)), PRESERVE_SPECIAL;
    core FOrdLessThanEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::LessEqual, false)), PRESERVE_SPECIAL;
    core FUnordLessThanEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::LessEqual, true)), PRESERVE_SPECIAL;
    core FOrdGreaterThanEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::GreaterEqual, false)), PRESERVE_SPECIAL;
    core FUnordGreaterThanEqual: Compare, FLOATS, Discrete(DiscreteOp::Compare(Relation::GreaterEqual, true)), PRESERVE_SPECIAL;
    core ConvertFToU: Convert(ALL_FLOATS), UNSIGNED, Discrete(DiscreteOp::ToInt), NONE, undefined: Some(UndefinedOperands::OutOfRange);
    core ConvertFToS: Convert(ALL_FLOATS), SIGNED, Discrete(DiscreteOp::ToInt), NONE, undefined: Some(UndefinedOperands::OutOfRange);
    core ConvertSToF: Convert(SIGNED), ALL_FLOATS, Real(RealOp::FromInt), NONE;
    core ConvertUToF: Convert(UNSIGNED), ALL_FLOATS, Real(RealOp::FromInt), NONE;
    core FConvert: Convert(ALL_FLOATS), ALL_FLOATS, Real(RealOp::Convert), ALL;
    core QuantizeToF16: Map(1), SINGLE, Discrete(DiscreteOp::QuantizeToF16), NONE;
    core DPdx: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core DPdy: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core Fwidth: Derivative(3), SINGLE, Real(RealOp::Width), ALL, not_in_compute: Some(DERIVATIVE);
    core DPdxFine: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core DPdyFine: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core FwidthFine: Derivative(3), SINGLE, Real(RealOp::Width), ALL, not_in_compute: Some(DERIVATIVE);
    core DPdxCoarse: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core DPdyCoarse: Derivative(2), SINGLE, Real(RealOp::Difference), ALL, not_in_compute: Some(DERIVATIVE);
    core FwidthCoarse: Derivative(3), SINGLE, Real(RealOp::Width), ALL, not_in_compute: Some(DERIVATIVE);
    core GroupNonUniformAllEqual: Compare, FLOATS, Discrete(DiscreteOp::AllEqual), PRESERVE_SPECIAL, form: SpirvForm::Vote;
    core SubgroupAllEqualKHR: Vote, &[Scalar::Bool], Discrete(DiscreteOp::AllEqual), PRESERVE_SPECIAL, not_in_compute: Some(BOOLEAN);
    core GroupNonUniformFMin: Map(2), FLOATS, Discrete(DiscreteOp::GroupMin), ALL, form: SpirvForm::Reduction;
    core GroupNonUniformFMax: Map(2), FLOATS, Discrete(DiscreteOp::GroupMax), ALL, form: SpirvForm::Reduction;
    core GroupNonUniformFAdd: Map(2), FLOATS, Measured, NONE, form: SpirvForm::Reduction;
    core GroupNonUniformFMul: Map(2), FLOATS, Measured, NONE, form: SpirvForm::Reduction;
    core AtomicFAddEXT: Atomic(2), FLOATS, Atomic(&Real(RealOp::Add)), ALL, form: SpirvForm::Atomic;
    core AtomicFMinEXT: Atomic(2), FLOATS, Atomic(&Discrete(DiscreteOp::AtomicMin)), ALL, form: SpirvForm::Atomic;
    core AtomicFMaxEXT: Atomic(2), FLOATS, Atomic(&Discrete(DiscreteOp::AtomicMax)), ALL, form: SpirvForm::Atomic;
    core AtomicCompareExchange: Atomic(3), ATOMIC_INTS, Atomic(&Discrete(DiscreteOp::CompareExchange)), PRESERVE_SPECIAL, form: SpirvForm::Atomic;
    core AtomicCompareExchangeWeak: Atomic(3), ATOMIC_INTS, Atomic(&Discrete(DiscreteOp::CompareExchange)), PRESERVE_SPECIAL, form: SpirvForm::Atomic, not_in_compute: Some(KERNEL);

    // Instructions of GLSL.std.450.
    glsl Round: Map(1), FLOATS, Discrete(DiscreteOp::Round), FLUSH;
    glsl RoundEven: Map(1), FLOATS, Discrete(DiscreteOp::RoundEven), FLUSH;
    glsl Trunc: Map(1), FLOATS, Discrete(DiscreteOp::Trunc), FLUSH;
    glsl FAbs: Map(1), FLOATS, Discrete(DiscreteOp::Abs), FLUSH_PRESERVE;
    glsl SAbs: IntMap(1), SIGNED, Discrete(DiscreteOp::SAbs), NONE;
    glsl FSign: Map(1), FLOATS, Discrete(DiscreteOp::Sign), PRESERVE;
    glsl SSign: IntMap(1), SIGNED, Discrete(DiscreteOp::SSign), NONE;
    glsl Floor: Map(1), FLOATS, Discrete(DiscreteOp::Floor), FLUSH;
    glsl Ceil: Map(1), FLOATS, Discrete(DiscreteOp::Ceil), FLUSH;
    glsl Fract: Map(1), FLOATS, Real(RealOp::Fract), FLUSH;
    glsl Radians: Map(1), HALF_AND_SINGLE, Formula(formulas::radians), FLUSH_PRESERVE;
    glsl Degrees: Map(1), HALF_AND_SINGLE, Formula(formulas::degrees), FLUSH_PRESERVE;
    glsl Sin: Map(1), HALF_AND_SINGLE, Real(RealOp::Sin), FLUSH;
    glsl Cos: Map(1), HALF_AND_SINGLE, Real(RealOp::Cos), FLUSH;
    glsl Tan: Map(1), HALF_AND_SINGLE, Formula(formulas::tan), FLUSH;
    glsl Asin: Map(1), HALF_AND_SINGLE, Formula(formulas::asin), FLUSH;
    glsl Acos: Map(1), HALF_AND_SINGLE, Formula(formulas::acos), FLUSH;
    glsl Atan: Map(1), HALF_AND_SINGLE, Real(RealOp::Atan), FLUSH;
    glsl Sinh: Map(1), HALF_AND_SINGLE, Formula(formulas::sinh), FLUSH;
    glsl Cosh: Map(1), HALF_AND_SINGLE, Formula(formulas::cosh), FLUSH;
    glsl Tanh: Map(1), HALF_AND_SINGLE, Formula(formulas::tanh), FLUSH;
    glsl Asinh: Map(1), HALF_AND_SINGLE, Formula(formulas::asinh), FLUSH;
    glsl Acosh: Map(1), HALF_AND_SINGLE, Formula(formulas::acosh), FLUSH;
    glsl Atanh: Map(1), HALF_AND_SINGLE, Formula(formulas::atanh), FLUSH;
    glsl Atan2: Map(2), HALF_AND_SINGLE, Real(RealOp::Atan2), FLUSH;
    glsl Pow: Map(2), HALF_AND_SINGLE, Formula(formulas::pow), FLUSH;
    glsl Exp: Map(1), HALF_AND_SINGLE, Real(RealOp::Exp), FLUSH;
    glsl Log: Map(1), HALF_AND_SINGLE, Real(RealOp::Log), FLUSH;
    glsl Exp2: Map(1), HALF_AND_SINGLE, Real(RealOp::Exp2), FLUSH;
    glsl Log2: Map(1), HALF_AND_SINGLE, Real(RealOp::Log2), FLUSH;
    glsl Sqrt: Map(1), FLOATS, Formula(formulas::sqrt), FLUSH;
    glsl InverseSqrt: Map(1), FLOATS, Real(RealOp::InverseSqrt), FLUSH;
    glsl Determinant: Determinant, FLOATS, Measured, FLUSH;
    glsl MatrixInverse: MatrixInverse, FLOATS, Measured, FLUSH;
    glsl Modf: Modf, FLOATS, Modf, FLUSH, form: SpirvForm::Pointer;
    glsl ModfStruct: Modf, FLOATS, Modf, FLUSH, form: SpirvForm::Struct;
    glsl FMin: Map(2), FLOATS, Discrete(DiscreteOp::Min), FLUSH_PRESERVE;
    glsl UMin: IntMap(2), UNSIGNED, Discrete(DiscreteOp::UMin), NONE;
    glsl SMin: IntMap(2), SIGNED, Discrete(DiscreteOp::SMin), NONE;
    glsl FMax: Map(2), FLOATS, Discrete(DiscreteOp::Max), FLUSH_PRESERVE;
    glsl UMax: IntMap(2), UNSIGNED, Discrete(DiscreteOp::UMax), NONE;
    glsl SMax: IntMap(2), SIGNED, Discrete(DiscreteOp::SMax), NONE;
    glsl FClamp: Map(3), FLOATS, Discrete(DiscreteOp::Clamp), FLUSH_PRESERVE;
    glsl UClamp: IntMap(3), UNSIGNED, Discrete(DiscreteOp::UClamp), NONE;
    glsl SClamp: IntMap(3), SIGNED, Discrete(DiscreteOp::SClamp), NONE;
    glsl FMix: Map(3), FLOATS, Formula(formulas::mix), FLUSH_PRESERVE;
    glsl Step: Map(2), FLOATS, Discrete(DiscreteOp::Step), FLUSH;
    glsl SmoothStep: Map(3), FLOATS, Formula(formulas::smooth_step), FLUSH, undefined: Some(UndefinedOperands::Edges);
    glsl Fma: Map(3), FLOATS, Formula(formulas::fma), FLUSH_PRESERVE;
    glsl Frexp: Frexp, FLOATS, Frexp, NONE, form: SpirvForm::Pointer;
    glsl FrexpStruct: Frexp, FLOATS, Frexp, NONE, form: SpirvForm::Struct;
    glsl Ldexp: Ldexp, FLOATS, Real(RealOp::Ldexp), NONE, undefined: Some(UndefinedOperands::Exponents);
    glsl PackSnorm4x8: Pack(4, int(8, true)), SINGLE, Discrete(DiscreteOp::PackSnorm), NONE, form: SpirvForm::Word;
    glsl PackUnorm4x8: Pack(4, int(8, false)), SINGLE, Discrete(DiscreteOp::PackUnorm), NONE, form: SpirvForm::Word;
    glsl PackSnorm2x16: Pack(2, int(16, true)), SINGLE, Discrete(DiscreteOp::PackSnorm), NONE, form: SpirvForm::Word;
    glsl PackUnorm2x16: Pack(2, int(16, false)), SINGLE, Discrete(DiscreteOp::PackUnorm), NONE, form: SpirvForm::Word;
    glsl PackHalf2x16: Pack(2, Scalar::Float(F16)), SINGLE, Real(RealOp::PackHalf), PRESERVE, form: SpirvForm::Word;
    glsl PackDouble2x32: PackDouble, DOUBLE, Discrete(DiscreteOp::PackDouble), PRESERVE;
    glsl UnpackSnorm2x16: Unpack(2), SINGLE, Unpack { signed: true }, NONE;
    glsl UnpackUnorm2x16: Unpack(2), SINGLE, Unpack { signed: false }, NONE;
    glsl UnpackHalf2x16: Unpack(2), SINGLE, UnpackHalf, FLUSH_PRESERVE;
    glsl UnpackSnorm4x8: Unpack(4), SINGLE, Unpack { signed: true }, NONE;
    glsl UnpackUnorm4x8: Unpack(4), SINGLE, Unpack { signed: false }, NONE;
    glsl UnpackDouble2x32: UnpackDouble, DOUBLE, Discrete(DiscreteOp::UnpackDouble), PRESERVE;
    glsl Length: Length, FLOATS, Formula(formulas::length), FLUSH;
    glsl Distance: Distance, FLOATS, Formula(formulas::distance), FLUSH;
    glsl Cross: Cross, FLOATS, Formula(formulas::cross), FLUSH;
    glsl Normalize: Whole(1), FLOATS, Formula(formulas::normalize), FLUSH;
    glsl FaceForward: Whole(3), FLOATS, Formula(formulas::face_forward), FLUSH;
    glsl Reflect: Whole(2), FLOATS, Formula(formulas::reflect), FLUSH;
    glsl Refract: Refract, FLOATS, Formula(formulas::refract), FLUSH;
    glsl FindILsb: IntMap(1), WORDS, Discrete(DiscreteOp::FindILsb), NONE;
    glsl FindSMsb: IntMap(1), &[int(32, true)], Discrete(DiscreteOp::FindSMsb), NONE;
    glsl FindUMsb: IntMap(1), &[int(32, false)], Discrete(DiscreteOp::FindUMsb), NONE;
    glsl InterpolateAtCentroid: Map(1), SINGLE, Measured, NONE, not_in_compute: Some(INTERPOLATION);
    glsl InterpolateAtSample: Map(1), SINGLE, Measured, NONE, not_in_compute: Some(INTERPOLATION);
    glsl InterpolateAtOffset: Map(1), SINGLE, Measured, NONE, not_in_compute: Some(INTERPOLATION);
    glsl NMin: Map(2), FLOATS, Discrete(DiscreteOp::NMin), FLUSH_PRESERVE;
    glsl NMax: Map(2), FLOATS, Discrete(DiscreteOp::NMax), FLUSH_PRESERVE;
    glsl NClamp: Map(3), FLOATS, Discrete(DiscreteOp::NClamp), FLUSH_PRESERVE;
}

impl Op {
    /// Row of the instruction.
    pub(crate) fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Name in SPIR-V: `OpFDiv`, `Exp2`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Form of the instruction in SPIR-V.
    pub fn form(self) -> SpirvForm {
        self.row().form
    }

    /// Reason for which no compute shader can execute the instruction on values that a test
    /// chooses, if there is one.
    pub fn not_in_compute(self) -> Option<&'static str> {
        self.row().not_in_compute
    }
}
