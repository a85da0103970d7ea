//! Types of arithmetic, bit, relational, conversion and derivative instructions.

use super::Constraint::{Bits, Custom, Different, DifferentWidth, Is, Members, Same, SameCount, SameWidth};
use super::{A, B, C, D, Operands, R, Signature, TypeClass};
use crate::rules::{Check, Rule, Severity};
use assay_spirv::grammar::Version;
use assay_spirv::module::Type;
use assay_spirv::tables::{Capability, Op};

/// Checks the sizes and pointer conversions of `OpBitcast`.
fn bitcast_problem(operands: &Operands) -> Option<String> {
    let (result, value) = (operands.result_type()?, operands.type_at(0)?);
    let (to, from) = (operands.view(result), operands.view(value));
    if to.is_unconstrained() || from.is_unconstrained() {
        return None;
    }
    let is_pointer = |ty| matches!(operands.facts.module.ty(ty), Type::Pointer { .. });
    // Pointers convert from and to integers, and from SPIR-V 1.5 on vectors of 32-bit integers.
    let vectors = operands.is_since(1, 5) || operands.facts.extensions.contains("SPV_KHR_physical_storage_buffer");
    let stands_for_pointer = |view: super::TypeSummary| {
        let vector = vectors && view.is(TypeClass::INT_VECTOR) && view.width == 32;
        view.is(TypeClass::POINTER) || view.is(TypeClass::INT) || vector
    };
    if is_pointer(result) || is_pointer(value) {
        let other = if is_pointer(result) { from } else { to };
        return (!stands_for_pointer(other))
            .then(|| "a pointer can only be converted from and to integers and pointers".to_owned());
    }
    let (to, from) = (u64::from(to.width) * u64::from(to.count), u64::from(from.width) * u64::from(from.count));
    (to != from).then(|| format!("Operand has {from} bits, Result Type has {to}"))
}

/// Checks the condition of `OpSelect`: it has as many components as the objects, or from SPIR-V 1.4
/// on one.
fn select_problem(operands: &Operands) -> Option<String> {
    let one_for_all = operands.is_since(1, 4);
    let (condition, result) = (operands.view(operands.type_at(0)?), operands.view(operands.result_type()?));
    if condition.is_unconstrained() || result.is_unconstrained() {
        return None;
    }
    if !one_for_all && !result.is(TypeClass::SELECTED) {
        return Some("Result Type is a composite, which requires SPIR-V 1.4".to_owned());
    }
    let components = if result.is(TypeClass::VECTOR) { result.count } else { 1 };
    let allowed = condition.count == components || (one_for_all && condition.count == 1);
    (!allowed).then(|| format!("Condition has {} components, expected {components}", condition.count))
}

impl Operands<'_> {
    /// Returns whether the module's version is at least this version.
    fn is_since(&self, major: u8, minor: u8) -> bool {
        self.facts.module.version() >= Version { major, minor }
    }
}

static ARITHMETIC: &[Signature] = &[
    Signature {
        ops: &[Op::FNegate, Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FRem, Op::FMod],
        constraints: &[Is(R, TypeClass::FLOATS), Same(A, R), Same(B, R)],
    },
    Signature { ops: &[Op::UDiv, Op::UMod], constraints: &[Is(R, TypeClass::INTS), Same(A, R), Same(B, R)] },
    Signature {
        ops: &[Op::SNegate, Op::IAdd, Op::ISub, Op::IMul, Op::SDiv, Op::SRem, Op::SMod],
        constraints: INTEGERS,
    },
    Signature {
        ops: &[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended],
        constraints: &[
            Is(R, TypeClass::STRUCT),
            Members(R, 2),
            Is(R.member(0), TypeClass::UNSIGNED_INTS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
            Same(B, R.member(0)),
        ],
    },
    Signature {
        ops: &[Op::SMulExtended],
        constraints: &[
            Is(R, TypeClass::STRUCT),
            Members(R, 2),
            Is(R.member(0), TypeClass::INTS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
            Same(B, R.member(0)),
        ],
    },
    Signature {
        ops: &[Op::Dot],
        constraints: &[Is(R, TypeClass::FLOAT), Is(A, TypeClass::FLOAT_VECTOR), Same(B, A), Same(R, A.element())],
    },
    Signature {
        ops: &[Op::SDot],
        constraints: &[Is(R, TypeClass::INT), Is(A, TypeClass::INTS), Same(B, A), Custom(dot_problem)],
    },
    Signature {
        ops: &[Op::UDot],
        constraints: &[
            Is(R, TypeClass::UNSIGNED),
            Is(A, TypeClass::INTS),
            Same(B, A),
            UNSIGNED_COMPONENTS,
            Custom(dot_problem),
        ],
    },
    Signature { ops: &[Op::SUDot], constraints: MIXED_DOT },
    Signature {
        ops: &[Op::SDotAccSat],
        constraints: &[Is(R, TypeClass::INT), Is(A, TypeClass::INTS), Same(B, A), Same(C, R), Custom(dot_problem)],
    },
    Signature {
        ops: &[Op::UDotAccSat],
        constraints: &[
            Is(R, TypeClass::UNSIGNED),
            Is(A, TypeClass::INTS),
            Same(B, A),
            Same(C, R),
            UNSIGNED_COMPONENTS,
            Custom(dot_problem),
        ],
    },
    Signature { ops: &[Op::SUDotAccSat], constraints: MIXED_DOT_ADDED },
    Signature {
        ops: &[
            Op::DPdx,
            Op::DPdy,
            Op::Fwidth,
            Op::DPdxFine,
            Op::DPdyFine,
            Op::FwidthFine,
            Op::DPdxCoarse,
            Op::DPdyCoarse,
            Op::FwidthCoarse,
        ],
        // 16-bit derivatives belong to an extension.
        constraints: &[Is(R, TypeClass::FLOATS), Bits(R, &[16, 32]), Same(A, R)],
    },
];

/// Integers of equal width and component count, of any signedness.
const INTEGERS: &[super::Constraint] = &[
    Is(R, TypeClass::INTS),
    Is(A, TypeClass::INTS),
    SameCount(A, R),
    SameWidth(A, R),
    Is(B, TypeClass::INTS),
    SameCount(B, R),
    SameWidth(B, R),
];

const MIXED_DOT: &[super::Constraint] = &[
    Is(R, TypeClass::INT),
    Is(A, TypeClass::INTS),
    Is(B, TypeClass::INTS),
    SameCount(B, A),
    SameWidth(B, A),
    UNSIGNED_COMPONENTS,
    Custom(dot_problem),
];

const MIXED_DOT_ADDED: &[super::Constraint] = &[
    Is(R, TypeClass::INT),
    Is(A, TypeClass::INTS),
    Is(B, TypeClass::INTS),
    SameCount(B, A),
    SameWidth(B, A),
    Same(C, R),
    UNSIGNED_COMPONENTS,
    Custom(dot_problem),
];

/// If Vector 2 is a vector, its components are unsigned. The signedness of a packed scalar is
/// irrelevant.
const UNSIGNED_COMPONENTS: super::Constraint = Is(B, TypeClass::INT_OR_UNSIGNED_VECTOR);

/// Checks an integer dot product: the width of the result, the Packed Vector Format of scalars, and
/// the capability that the operand's type requires.
fn dot_problem(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let (result, vector) = (operands.result_type()?, operands.type_at(0)?);
    let (made, of) = (operands.view(result), operands.view(vector));
    if made.is_unconstrained() || of.is_unconstrained() {
        return None;
    }
    let added = operands.name.contains("AccSat");
    let format = operands.words.get(if added { 3 } else { 2 });
    if !matches!(module.ty(vector), Type::Vector { .. }) {
        return match format {
            _ if of.width != 32 => {
                Some(format!("Vector 1 is {}, expected a 32-bit integer", operands.show_type(vector)))
            }
            None => Some("Vector 1 is a scalar, but Packed Vector Format is missing".to_owned()),
            Some(_) if !operands.facts.has(Capability::DotProductInput4x8BitPacked) => {
                Some("Vector 1 is a scalar, which requires capability DotProductInput4x8BitPacked".to_owned())
            }
            Some(_) => None,
        };
    }
    if made.width < of.width {
        let (result, vector) = (operands.show_type(result), operands.show_type(vector));
        return Some(format!("Result Type {result} is narrower than the components of Vector 1, {vector}"));
    }
    let bytes = (of.count, of.width) == (4, 8) && operands.facts.has(Capability::DotProductInput4x8Bit);
    let enabled = bytes || operands.facts.has(Capability::DotProductInputAll);
    (!enabled)
        .then(|| format!("Vector 1 is {}, which requires capability DotProductInputAll", operands.show_type(vector)))
}

static MATRICES: &[Signature] = &[
    Signature {
        ops: &[Op::VectorTimesScalar],
        constraints: &[Is(R, TypeClass::FLOAT_VECTOR), Same(A, R), Same(B, R.element())],
    },
    Signature {
        ops: &[Op::MatrixTimesScalar],
        constraints: &[Is(R, TypeClass::MATRIX), Same(A, R), Same(B, R.element().element())],
    },
    Signature {
        ops: &[Op::VectorTimesMatrix],
        constraints: &[
            Is(R, TypeClass::FLOAT_VECTOR),
            Is(B, TypeClass::MATRIX),
            Same(A, B.element()),
            Same(R.element(), A.element()),
            SameCount(R, B),
        ],
    },
    Signature {
        ops: &[Op::MatrixTimesVector],
        constraints: &[
            Is(A, TypeClass::MATRIX),
            Is(B, TypeClass::FLOAT_VECTOR),
            Same(R, A.element()),
            Same(B.element(), R.element()),
            SameCount(B, A),
        ],
    },
    Signature {
        ops: &[Op::MatrixTimesMatrix],
        constraints: &[
            Is(R, TypeClass::MATRIX),
            Is(A, TypeClass::MATRIX),
            Is(B, TypeClass::MATRIX),
            Same(A.element(), R.element()),
            Same(B.element().element(), R.element().element()),
            SameCount(B, R),
            SameCount(B.element(), A),
        ],
    },
    Signature {
        ops: &[Op::OuterProduct],
        constraints: &[
            Is(R, TypeClass::MATRIX),
            Same(A, R.element()),
            Is(B, TypeClass::FLOAT_VECTOR),
            Same(B.element(), A.element()),
            SameCount(B, R),
        ],
    },
    Signature {
        ops: &[Op::Transpose],
        constraints: &[
            Is(R, TypeClass::MATRIX),
            Is(A, TypeClass::MATRIX),
            Same(A.element().element(), R.element().element()),
            SameCount(A.element(), R),
            SameCount(A, R.element()),
        ],
    },
];

static BIT_INSTRUCTIONS: &[Signature] = &[
    Signature {
        ops: &[Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic],
        constraints: &[
            Is(R, TypeClass::INTS),
            Is(A, TypeClass::INTS),
            SameCount(A, R),
            SameWidth(A, R),
            Is(B, TypeClass::INTS),
            SameCount(B, R),
        ],
    },
    Signature { ops: &[Op::BitwiseOr, Op::BitwiseXor, Op::BitwiseAnd, Op::Not], constraints: INTEGERS },
    Signature {
        ops: &[Op::BitFieldInsert],
        constraints: &[Is(R, TypeClass::INTS), Same(A, R), Same(B, R), Is(C, TypeClass::INT), Is(D, TypeClass::INT)],
    },
    Signature {
        ops: &[Op::BitFieldSExtract, Op::BitFieldUExtract],
        constraints: &[Is(R, TypeClass::INTS), Same(A, R), Is(B, TypeClass::INT), Is(C, TypeClass::INT)],
    },
    Signature { ops: &[Op::BitReverse], constraints: &[Is(R, TypeClass::INTS), Same(A, R)] },
    Signature { ops: &[Op::BitCount], constraints: &[Is(R, TypeClass::INTS), Is(A, TypeClass::INTS), SameCount(A, R)] },
];

static RELATIONS: &[Signature] = &[
    Signature { ops: &[Op::Any, Op::All], constraints: &[Is(R, TypeClass::BOOL), Is(A, TypeClass::BOOL_VECTOR)] },
    Signature {
        ops: &[Op::IsNan, Op::IsInf, Op::IsFinite, Op::IsNormal, Op::SignBitSet],
        constraints: &[Is(R, TypeClass::BOOLS), Is(A, TypeClass::FLOATS), SameCount(A, R)],
    },
    Signature {
        ops: &[
            Op::LessOrGreater,
            Op::Ordered,
            Op::Unordered,
            Op::FOrdEqual,
            Op::FUnordEqual,
            Op::FOrdNotEqual,
            Op::FUnordNotEqual,
            Op::FOrdLessThan,
            Op::FUnordLessThan,
            Op::FOrdGreaterThan,
            Op::FUnordGreaterThan,
            Op::FOrdLessThanEqual,
            Op::FUnordLessThanEqual,
            Op::FOrdGreaterThanEqual,
            Op::FUnordGreaterThanEqual,
        ],
        constraints: &[Is(R, TypeClass::BOOLS), Is(A, TypeClass::FLOATS), Same(B, A), SameCount(A, R)],
    },
    Signature {
        ops: &[
            Op::IEqual,
            Op::INotEqual,
            Op::UGreaterThan,
            Op::SGreaterThan,
            Op::UGreaterThanEqual,
            Op::SGreaterThanEqual,
            Op::ULessThan,
            Op::SLessThan,
            Op::ULessThanEqual,
            Op::SLessThanEqual,
        ],
        constraints: &[
            Is(R, TypeClass::BOOLS),
            Is(A, TypeClass::INTS),
            SameCount(A, R),
            Is(B, TypeClass::INTS),
            SameCount(B, R),
            SameWidth(B, A),
        ],
    },
    Signature {
        ops: &[Op::LogicalEqual, Op::LogicalNotEqual, Op::LogicalOr, Op::LogicalAnd, Op::LogicalNot],
        constraints: &[Is(R, TypeClass::BOOLS), Same(A, R), Same(B, R)],
    },
    Signature {
        ops: &[Op::Select],
        constraints: &[
            Is(R, TypeClass::OBJECT),
            Is(A, TypeClass::BOOLS),
            Same(B, R),
            Same(C, R),
            Custom(select_problem),
        ],
    },
    Signature { ops: &[Op::ExpectKHR], constraints: &[Is(R, TypeClass::INTS_OR_BOOLS), Same(A, R), Same(B, R)] },
    Signature { ops: &[Op::AssumeTrueKHR], constraints: &[Is(A, TypeClass::BOOL)] },
];

static CONVERSIONS: &[Signature] = &[
    Signature {
        ops: &[Op::ConvertFToU, Op::ConvertFToS],
        constraints: &[Is(R, TypeClass::INTS), Is(A, TypeClass::FLOATS), SameCount(A, R)],
    },
    Signature {
        ops: &[Op::ConvertSToF, Op::ConvertUToF],
        constraints: &[Is(R, TypeClass::FLOATS), Is(A, TypeClass::INTS), SameCount(A, R)],
    },
    Signature {
        ops: &[Op::UConvert, Op::SConvert],
        constraints: &[Is(R, TypeClass::INTS), Is(A, TypeClass::INTS), SameCount(A, R), DifferentWidth(A, R)],
    },
    Signature {
        ops: &[Op::FConvert],
        constraints: &[
            Is(R, TypeClass::FLOATS),
            Is(A, TypeClass::FLOATS),
            SameCount(A, R),
            Different(A.element(), R.element()),
        ],
    },
    Signature { ops: &[Op::QuantizeToF16], constraints: &[Is(R, TypeClass::FLOATS), Bits(R, &[32]), Same(A, R)] },
    Signature { ops: &[Op::ConvertPtrToU], constraints: &[Is(R, TypeClass::UNSIGNED_INTS), Is(A, TypeClass::POINTER)] },
    Signature { ops: &[Op::ConvertUToPtr], constraints: &[Is(R, TypeClass::POINTER), Is(A, TypeClass::INTS)] },
    Signature {
        ops: &[Op::Bitcast],
        constraints: &[Is(R, TypeClass::BITS), Is(A, TypeClass::BITS), Custom(bitcast_problem)],
    },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "arithmetic-types",
        id: "SPIR-V specification, Arithmetic and Derivative Instructions: Result Type and operands",
        requirement: "operands and results of arithmetic instructions must have the required type: the result's type for floats, its width and component count for integers",
        severity: Severity::Error,
        check: Check::Typed(ARITHMETIC),
    },
    Rule {
        name: "matrix-types",
        id: "SPIR-V specification, OpVectorTimesScalar to OpOuterProduct, OpTranspose: Result Type and operands",
        requirement: "operands and results of matrix products must have matching dimensions and component types",
        severity: Severity::Error,
        check: Check::Typed(MATRICES),
    },
    Rule {
        name: "bit-types",
        id: "SPIR-V specification, Bit Instructions: Result Type and operands",
        requirement: "operands of bit instructions must be integers with the width and component count of the result, as the instruction requires",
        severity: Severity::Error,
        check: Check::Typed(BIT_INSTRUCTIONS),
    },
    Rule {
        name: "relational-types",
        id: "SPIR-V specification, Relational and Logical Instructions: Result Type and operands",
        requirement: "comparisons must have boolean results and matching operands, logical instructions boolean operands, and OpSelect objects of the result's type",
        severity: Severity::Error,
        check: Check::Typed(RELATIONS),
    },
    Rule {
        name: "conversion-types",
        id: "SPIR-V specification, Conversion Instructions: Result Type and operands",
        requirement: "conversions must have operands and results of the named kinds, with equal component counts and different types",
        severity: Severity::Error,
        check: Check::Typed(CONVERSIONS),
    },
];
