//! Arithmetic, bits, comparisons, conversions and derivatives.

use super::Ask::{Bits, Count, Differ, Holds, Is, Members, OtherWidth, Same, Width};
use super::{A, B, C, Class, D, Operands, R, Signature};
use crate::grammar::Version;
use crate::module::Type;
use crate::rules::{On, Rule, Severity};
use crate::tables::{Capability, Op};

/// What `OpBitcast` asks beyond numbers and pointers.
fn bitcast(operands: &Operands) -> Option<String> {
    let (result, value) = (operands.result_type()?, operands.type_at(0)?);
    let (to, from) = (operands.view(result), operands.view(value));
    if to.is_foreign() || from.is_foreign() {
        return None;
    }
    let is_pointer = |ty| matches!(operands.facts.module.ty(ty), Type::Pointer { .. });
    // Integers, and from 1.5 on vectors of 32-bit ones, stand for pointers.
    let vectors = operands.is_since(1, 5) || operands.facts.extensions.contains("SPV_KHR_physical_storage_buffer");
    let stands_for_pointer = |view: super::View| {
        let vector = vectors && view.is(Class::INT_VECTOR) && view.width == 32;
        view.is(Class::POINTER) || view.is(Class::INT) || vector
    };
    if is_pointer(result) || is_pointer(value) {
        let other = if is_pointer(result) { from } else { to };
        return (!stands_for_pointer(other))
            .then(|| "a pointer to or from something other than integers and pointers".to_owned());
    }
    let (to, from) = (u64::from(to.width) * u64::from(to.count), u64::from(from.width) * u64::from(from.count));
    (to != from).then(|| format!("from {from} bits to {to}"))
}

/// What `OpSelect` asks of its condition: as many components as the objects, or from 1.4 on one.
fn condition(operands: &Operands) -> Option<String> {
    let one_for_all = operands.is_since(1, 4);
    let (condition, result) = (operands.view(operands.type_at(0)?), operands.view(operands.result_type()?));
    if condition.is_foreign() || result.is_foreign() {
        return None;
    }
    if !one_for_all && !result.is(Class::SELECTED) {
        return Some("Result Type is a composite, which SPIR-V 1.4 brought".to_owned());
    }
    let components = if result.is(Class::VECTOR) { result.count } else { 1 };
    let allowed = condition.count == components || (one_for_all && condition.count == 1);
    (!allowed).then(|| format!("Condition has {} components, expected {components}", condition.count))
}

impl Operands<'_> {
    /// Whether the module's version has what that version brought.
    fn is_since(&self, major: u8, minor: u8) -> bool {
        self.facts.module.version() >= Version { major, minor }
    }
}

static ARITHMETIC: &[Signature] = &[
    Signature {
        ops: &[Op::FNegate, Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FRem, Op::FMod],
        asks: &[Is(R, Class::FLOATS), Same(A, R), Same(B, R)],
    },
    Signature { ops: &[Op::UDiv, Op::UMod], asks: &[Is(R, Class::INTS), Same(A, R), Same(B, R)] },
    Signature { ops: &[Op::SNegate, Op::IAdd, Op::ISub, Op::IMul, Op::SDiv, Op::SRem, Op::SMod], asks: INTEGERS },
    Signature {
        ops: &[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended],
        asks: &[
            Is(R, Class::STRUCT),
            Members(R, 2),
            Is(R.member(0), Class::UNSIGNED_INTS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
            Same(B, R.member(0)),
        ],
    },
    Signature {
        ops: &[Op::SMulExtended],
        asks: &[
            Is(R, Class::STRUCT),
            Members(R, 2),
            Is(R.member(0), Class::INTS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
            Same(B, R.member(0)),
        ],
    },
    Signature {
        ops: &[Op::Dot],
        asks: &[Is(R, Class::FLOAT), Is(A, Class::FLOAT_VECTOR), Same(B, A), Same(R, A.inner())],
    },
    Signature { ops: &[Op::SDot], asks: &[Is(R, Class::INT), Is(A, Class::INTS), Same(B, A), Holds(dot)] },
    Signature {
        ops: &[Op::UDot],
        asks: &[Is(R, Class::UNSIGNED), Is(A, Class::INTS), Same(B, A), UNSIGNED_COMPONENTS, Holds(dot)],
    },
    Signature { ops: &[Op::SUDot], asks: MIXED_DOT },
    Signature {
        ops: &[Op::SDotAccSat],
        asks: &[Is(R, Class::INT), Is(A, Class::INTS), Same(B, A), Same(C, R), Holds(dot)],
    },
    Signature {
        ops: &[Op::UDotAccSat],
        asks: &[Is(R, Class::UNSIGNED), Is(A, Class::INTS), Same(B, A), Same(C, R), UNSIGNED_COMPONENTS, Holds(dot)],
    },
    Signature { ops: &[Op::SUDotAccSat], asks: MIXED_DOT_ADDED },
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
        // 16 bits are an extension's.
        asks: &[Is(R, Class::FLOATS), Bits(R, &[16, 32]), Same(A, R)],
    },
];

/// Integers whose signedness does not matter.
const INTEGERS: &[super::Ask] =
    &[Is(R, Class::INTS), Is(A, Class::INTS), Count(A, R), Width(A, R), Is(B, Class::INTS), Count(B, R), Width(B, R)];

const MIXED_DOT: &[super::Ask] = &[
    Is(R, Class::INT),
    Is(A, Class::INTS),
    Is(B, Class::INTS),
    Count(B, A),
    Width(B, A),
    UNSIGNED_COMPONENTS,
    Holds(dot),
];

const MIXED_DOT_ADDED: &[super::Ask] = &[
    Is(R, Class::INT),
    Is(A, Class::INTS),
    Is(B, Class::INTS),
    Count(B, A),
    Width(B, A),
    Same(C, R),
    UNSIGNED_COMPONENTS,
    Holds(dot),
];

/// Where Vector 2 is a vector, its components are unsigned. A scalar's Signedness says nothing of what is packed in it.
const UNSIGNED_COMPONENTS: super::Ask = Is(B, Class::INT_OR_UNSIGNED_VECTOR);

/// The width of the result, and the forms of the operands: scalars are packed in a named format, and each form is enabled by a
/// capability.
fn dot(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let (result, vector) = (operands.result_type()?, operands.type_at(0)?);
    let (made, of) = (operands.view(result), operands.view(vector));
    if made.is_foreign() || of.is_foreign() {
        return None;
    }
    let added = operands.name.contains("AccSat");
    let format = operands.words.get(if added { 3 } else { 2 });
    if !matches!(module.ty(vector), Type::Vector { .. }) {
        return match format {
            _ if of.width != 32 => {
                Some(format!("Vector 1 is {}, expected 32 bits to unpack", operands.show_type(vector)))
            }
            None => Some("Vector 1 is a scalar, but no Packed Vector Format is named".to_owned()),
            Some(_) if !operands.facts.has(Capability::DotProductInput4x8BitPacked) => {
                Some("Vector 1 is a scalar, without capability DotProductInput4x8BitPacked".to_owned())
            }
            Some(_) => None,
        };
    }
    if made.width < of.width {
        let (result, vector) = (operands.show_type(result), operands.show_type(vector));
        return Some(format!("Result Type is {result}, narrower than the components of Vector 1, which is {vector}"));
    }
    let bytes = (of.count, of.width) == (4, 8) && operands.facts.has(Capability::DotProductInput4x8Bit);
    let enabled = bytes || operands.facts.has(Capability::DotProductInputAll);
    (!enabled).then(|| format!("Vector 1 is {}, without capability DotProductInputAll", operands.show_type(vector)))
}

static MATRICES: &[Signature] = &[
    Signature { ops: &[Op::VectorTimesScalar], asks: &[Is(R, Class::FLOAT_VECTOR), Same(A, R), Same(B, R.inner())] },
    Signature { ops: &[Op::MatrixTimesScalar], asks: &[Is(R, Class::MATRIX), Same(A, R), Same(B, R.inner().inner())] },
    Signature {
        ops: &[Op::VectorTimesMatrix],
        asks: &[
            Is(R, Class::FLOAT_VECTOR),
            Is(B, Class::MATRIX),
            Same(A, B.inner()),
            Same(R.inner(), A.inner()),
            Count(R, B),
        ],
    },
    Signature {
        ops: &[Op::MatrixTimesVector],
        asks: &[
            Is(A, Class::MATRIX),
            Is(B, Class::FLOAT_VECTOR),
            Same(R, A.inner()),
            Same(B.inner(), R.inner()),
            Count(B, A),
        ],
    },
    Signature {
        ops: &[Op::MatrixTimesMatrix],
        asks: &[
            Is(R, Class::MATRIX),
            Is(A, Class::MATRIX),
            Is(B, Class::MATRIX),
            Same(A.inner(), R.inner()),
            Same(B.inner().inner(), R.inner().inner()),
            Count(B, R),
            Count(B.inner(), A),
        ],
    },
    Signature {
        ops: &[Op::OuterProduct],
        asks: &[
            Is(R, Class::MATRIX),
            Same(A, R.inner()),
            Is(B, Class::FLOAT_VECTOR),
            Same(B.inner(), A.inner()),
            Count(B, R),
        ],
    },
    Signature {
        ops: &[Op::Transpose],
        asks: &[
            Is(R, Class::MATRIX),
            Is(A, Class::MATRIX),
            Same(A.inner().inner(), R.inner().inner()),
            Count(A.inner(), R),
            Count(A, R.inner()),
        ],
    },
];

static BIT_INSTRUCTIONS: &[Signature] = &[
    Signature {
        ops: &[Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic],
        asks: &[Is(R, Class::INTS), Is(A, Class::INTS), Count(A, R), Width(A, R), Is(B, Class::INTS), Count(B, R)],
    },
    Signature { ops: &[Op::BitwiseOr, Op::BitwiseXor, Op::BitwiseAnd, Op::Not], asks: INTEGERS },
    Signature {
        ops: &[Op::BitFieldInsert],
        asks: &[Is(R, Class::INTS), Same(A, R), Same(B, R), Is(C, Class::INT), Is(D, Class::INT)],
    },
    Signature {
        ops: &[Op::BitFieldSExtract, Op::BitFieldUExtract],
        asks: &[Is(R, Class::INTS), Same(A, R), Is(B, Class::INT), Is(C, Class::INT)],
    },
    Signature { ops: &[Op::BitReverse], asks: &[Is(R, Class::INTS), Same(A, R)] },
    Signature { ops: &[Op::BitCount], asks: &[Is(R, Class::INTS), Is(A, Class::INTS), Count(A, R)] },
];

static RELATIONS: &[Signature] = &[
    Signature { ops: &[Op::Any, Op::All], asks: &[Is(R, Class::BOOL), Is(A, Class::BOOL_VECTOR)] },
    Signature {
        ops: &[Op::IsNan, Op::IsInf, Op::IsFinite, Op::IsNormal, Op::SignBitSet],
        asks: &[Is(R, Class::BOOLS), Is(A, Class::FLOATS), Count(A, R)],
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
        asks: &[Is(R, Class::BOOLS), Is(A, Class::FLOATS), Same(B, A), Count(A, R)],
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
        asks: &[Is(R, Class::BOOLS), Is(A, Class::INTS), Count(A, R), Is(B, Class::INTS), Count(B, R), Width(B, A)],
    },
    Signature {
        ops: &[Op::LogicalEqual, Op::LogicalNotEqual, Op::LogicalOr, Op::LogicalAnd, Op::LogicalNot],
        asks: &[Is(R, Class::BOOLS), Same(A, R), Same(B, R)],
    },
    Signature {
        ops: &[Op::Select],
        asks: &[Is(R, Class::OBJECT), Is(A, Class::BOOLS), Same(B, R), Same(C, R), Holds(condition)],
    },
    Signature { ops: &[Op::ExpectKHR], asks: &[Is(R, Class::INTS_OR_BOOLS), Same(A, R), Same(B, R)] },
    Signature { ops: &[Op::AssumeTrueKHR], asks: &[Is(A, Class::BOOL)] },
];

static CONVERSIONS: &[Signature] = &[
    Signature {
        ops: &[Op::ConvertFToU, Op::ConvertFToS],
        asks: &[Is(R, Class::INTS), Is(A, Class::FLOATS), Count(A, R)],
    },
    Signature {
        ops: &[Op::ConvertSToF, Op::ConvertUToF],
        asks: &[Is(R, Class::FLOATS), Is(A, Class::INTS), Count(A, R)],
    },
    Signature {
        ops: &[Op::UConvert, Op::SConvert],
        asks: &[Is(R, Class::INTS), Is(A, Class::INTS), Count(A, R), OtherWidth(A, R)],
    },
    Signature {
        ops: &[Op::FConvert],
        asks: &[Is(R, Class::FLOATS), Is(A, Class::FLOATS), Count(A, R), Differ(A.inner(), R.inner())],
    },
    Signature { ops: &[Op::QuantizeToF16], asks: &[Is(R, Class::FLOATS), Bits(R, &[32]), Same(A, R)] },
    Signature { ops: &[Op::ConvertPtrToU], asks: &[Is(R, Class::UNSIGNED_INTS), Is(A, Class::POINTER)] },
    Signature { ops: &[Op::ConvertUToPtr], asks: &[Is(R, Class::POINTER), Is(A, Class::INTS)] },
    Signature { ops: &[Op::Bitcast], asks: &[Is(R, Class::BITS), Is(A, Class::BITS), Holds(bitcast)] },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "arithmetic-types",
        id: "SPIR-V specification, Arithmetic and Derivative Instructions: Result Type and operands",
        says: "arithmetic is on numbers of one shape: floats of the result's type, integers of its width",
        severity: Severity::Error,
        on: On::Typed(ARITHMETIC),
    },
    Rule {
        name: "matrix-types",
        id: "SPIR-V specification, OpVectorTimesScalar to OpOuterProduct, OpTranspose: Result Type and operands",
        says: "products of vectors, matrices and scalars fit each other",
        severity: Severity::Error,
        on: On::Typed(MATRICES),
    },
    Rule {
        name: "bit-types",
        id: "SPIR-V specification, Bit Instructions: Result Type and operands",
        says: "shifts, bitwise operations and bit fields are on integers of the result's shape",
        severity: Severity::Error,
        on: On::Typed(BIT_INSTRUCTIONS),
    },
    Rule {
        name: "relational-types",
        id: "SPIR-V specification, Relational and Logical Instructions: Result Type and operands",
        says: "comparisons make booleans of two operands of one shape, logic is on booleans, a selection is between objects of the result's type",
        severity: Severity::Error,
        on: On::Typed(RELATIONS),
    },
    Rule {
        name: "conversion-types",
        id: "SPIR-V specification, Conversion Instructions: Result Type and operands",
        says: "conversions are between the types that they name, of as many components, and change something",
        severity: Severity::Error,
        on: On::Typed(CONVERSIONS),
    },
];
