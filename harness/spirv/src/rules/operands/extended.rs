//! The extended instructions of `GLSL.std.450`.

use std::sync::LazyLock;

use super::Ask::{Bits, Components, Count, Is, Members, Same, Width};
use super::{A, Ask, B, C, Class, Operands, Place, R};
use crate::grammar::ExtendedSet;
use crate::rules::{On, Rule, Severity};
use crate::tables::{GLSL_STD450, GlslStd450 as Glsl, Op};

/// Floats of any width, all of one type.
const FLOATS: &[Ask] = &[Is(R, Class::FLOATS), Same(A, R), Same(B, R), Same(C, R)];
/// Floats of at most 32 bits, all of one type.
const SHORT_FLOATS: &[Ask] = &[Is(R, Class::FLOATS), Bits(R, &[16, 32]), Same(A, R), Same(B, R)];
/// Integers of one shape, signed or not.
const INTEGERS: &[Ask] = &[
    Is(R, Class::INTS),
    Is(A, Class::INTS),
    Count(A, R),
    Width(A, R),
    Is(B, Class::INTS),
    Count(B, R),
    Width(B, R),
    Is(C, Class::INTS),
    Count(C, R),
    Width(C, R),
];
const HIGH_BIT: &[Ask] = &[Is(R, Class::INTS), Bits(R, &[32]), Is(A, Class::INTS), Count(A, R), Width(A, R)];

/// A vector of so many numbers of so many bits.
macro_rules! vector {
    ($place:expr, $class:expr, $count:literal, $bits:literal) => {
        [Is($place, $class), Components($place, $count), Bits($place, &[$bits])]
    };
}

const fn packed(integer: Place, vector: [Ask; 3]) -> [Ask; 5] {
    let [class, count, bits] = vector;
    [Is(integer, Class::INT), Bits(integer, &[32]), class, count, bits]
}

static PACK_4: [Ask; 5] = packed(R, vector!(A, Class::FLOAT_VECTOR, 4, 32));
static PACK_2: [Ask; 5] = packed(R, vector!(A, Class::FLOAT_VECTOR, 2, 32));
static UNPACK_4: [Ask; 5] = packed(A, vector!(R, Class::FLOAT_VECTOR, 4, 32));
static UNPACK_2: [Ask; 5] = packed(A, vector!(R, Class::FLOAT_VECTOR, 2, 32));

/// What extended instructions ask of their types. IMix, which was taken back before it was of use, asks nothing.
static SIGNATURES: &[(&[Glsl], &[Ask])] = &[
    (
        &[
            Glsl::Round,
            Glsl::RoundEven,
            Glsl::Trunc,
            Glsl::FAbs,
            Glsl::FSign,
            Glsl::Floor,
            Glsl::Ceil,
            Glsl::Fract,
            Glsl::Sqrt,
            Glsl::InverseSqrt,
            Glsl::FMin,
            Glsl::FMax,
            Glsl::FClamp,
            Glsl::FMix,
            Glsl::Step,
            Glsl::SmoothStep,
            Glsl::Fma,
            Glsl::Normalize,
            Glsl::FaceForward,
            Glsl::Reflect,
            Glsl::NMin,
            Glsl::NMax,
            Glsl::NClamp,
        ],
        FLOATS,
    ),
    (
        &[
            Glsl::Radians,
            Glsl::Degrees,
            Glsl::Sin,
            Glsl::Cos,
            Glsl::Tan,
            Glsl::Asin,
            Glsl::Acos,
            Glsl::Atan,
            Glsl::Sinh,
            Glsl::Cosh,
            Glsl::Tanh,
            Glsl::Asinh,
            Glsl::Acosh,
            Glsl::Atanh,
            Glsl::Atan2,
            Glsl::Pow,
            Glsl::Exp,
            Glsl::Log,
            Glsl::Exp2,
            Glsl::Log2,
        ],
        SHORT_FLOATS,
    ),
    (
        &[
            Glsl::SAbs,
            Glsl::SSign,
            Glsl::UMin,
            Glsl::SMin,
            Glsl::UMax,
            Glsl::SMax,
            Glsl::UClamp,
            Glsl::SClamp,
            Glsl::FindILsb,
        ],
        INTEGERS,
    ),
    (&[Glsl::FindSMsb, Glsl::FindUMsb], HIGH_BIT),
    (&[Glsl::Determinant], &[Is(A, Class::MATRIX), Count(A.inner(), A), Same(R, A.inner().inner())]),
    (&[Glsl::MatrixInverse], &[Is(R, Class::MATRIX), Count(R.inner(), R), Same(A, R)]),
    (&[Glsl::Modf], &[Is(R, Class::FLOATS), Same(A, R), Is(B, Class::POINTER), Same(B.pointee(), R)]),
    (
        &[Glsl::ModfStruct],
        &[
            Is(R, Class::STRUCT),
            Members(R, 2),
            Is(R.member(0), Class::FLOATS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
        ],
    ),
    (
        &[Glsl::Frexp],
        &[
            Is(R, Class::FLOATS),
            Same(A, R),
            Is(B, Class::POINTER),
            Is(B.pointee(), Class::INTS),
            Bits(B.pointee(), &[16, 32]),
            Count(B.pointee(), R),
        ],
    ),
    (
        &[Glsl::FrexpStruct],
        &[
            Is(R, Class::STRUCT),
            Members(R, 2),
            Is(R.member(0), Class::FLOATS),
            Is(R.member(1), Class::INTS),
            Bits(R.member(1), &[16, 32]),
            Count(R.member(1), R.member(0)),
            Same(A, R.member(0)),
        ],
    ),
    (&[Glsl::Ldexp], &[Is(R, Class::FLOATS), Same(A, R), Is(B, Class::INTS), Count(B, R)]),
    (&[Glsl::PackSnorm4x8, Glsl::PackUnorm4x8], &PACK_4),
    (&[Glsl::PackSnorm2x16, Glsl::PackUnorm2x16, Glsl::PackHalf2x16], &PACK_2),
    (&[Glsl::UnpackSnorm4x8, Glsl::UnpackUnorm4x8], &UNPACK_4),
    (&[Glsl::UnpackSnorm2x16, Glsl::UnpackUnorm2x16, Glsl::UnpackHalf2x16], &UNPACK_2),
    (
        &[Glsl::PackDouble2x32],
        &[Is(R, Class::FLOAT), Bits(R, &[64]), Is(A, Class::INT_VECTOR), Components(A, 2), Bits(A, &[32])],
    ),
    (
        &[Glsl::UnpackDouble2x32],
        &[Is(R, Class::INT_VECTOR), Components(R, 2), Bits(R, &[32]), Is(A, Class::FLOAT), Bits(A, &[64])],
    ),
    (&[Glsl::Length], &[Is(R, Class::FLOAT), Is(A, Class::FLOATS), Same(R, A.inner())]),
    (&[Glsl::Distance], &[Is(R, Class::FLOAT), Is(A, Class::FLOATS), Same(R, A.inner()), Same(B, A)]),
    (&[Glsl::Cross], &[Is(R, Class::FLOAT_VECTOR), Components(R, 3), Same(A, R), Same(B, R)]),
    // Eta may be of another width than the vectors.
    (&[Glsl::Refract], &[Is(R, Class::FLOATS), Same(A, R), Same(B, R), Is(C, Class::FLOAT)]),
    (&[Glsl::InterpolateAtCentroid], INTERPOLATED),
    (
        &[Glsl::InterpolateAtSample],
        &[Is(R, Class::FLOATS), Is(A, Class::POINTER), Same(A.pointee(), R), Is(B, Class::INT)],
    ),
    (
        &[Glsl::InterpolateAtOffset],
        &[
            Is(R, Class::FLOATS),
            Is(A, Class::POINTER),
            Same(A.pointee(), R),
            Is(B, Class::FLOAT_VECTOR),
            Components(B, 2),
        ],
    ),
];

/// By the instruction's number.
static BY_NUMBER: LazyLock<Vec<&'static [Ask]>> = LazyLock::new(|| {
    let count = GLSL_STD450.last().map_or(0, |row| row.number as usize + 1);
    let mut all: Vec<&'static [Ask]> = vec![&[]; count];
    for (instructions, asks) in SIGNATURES {
        instructions.iter().for_each(|instruction| all[instruction.word() as usize] = asks);
    }
    all
});

const INTERPOLATED: &[Ask] = &[Is(R, Class::FLOATS), Is(A, Class::POINTER), Same(A.pointee(), R)];

pub(in super::super) static RULES: &[Rule] = &[Rule {
    name: "extended-types",
    id: "SPIR-V Extended Instructions for GLSL: Result Type and operands",
    says: "the types of GLSL.std.450 instructions are those of their descriptions",
    severity: Severity::Error,
    on: On::Instructions(&[Op::ExtInst], |facts, instruction, found| {
        let [set, number, ..] = *instruction.operands() else { return };
        match facts.module.extended_set(set) {
            Some(ExtendedSet::Glsl) => {}
            None if facts.module.definition_of_word(set).is_some() => {
                return found.at(instruction, format!("Set {} is not made by OpExtInstImport", facts.name(set)));
            }
            _ => return,
        }
        let (Some(asks), Some(row)) = (BY_NUMBER.get(number as usize), ExtendedSet::Glsl.instruction(number)) else {
            return;
        };
        let problem = Operands::of(facts, instruction).and_then(|operands| operands.extended(row).problem(asks));
        if let Some(problem) = problem {
            found.at(instruction, problem);
        }
    }),
}];
