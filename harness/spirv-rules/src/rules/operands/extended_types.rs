//! Types of the extended instructions of `GLSL.std.450`.

use std::sync::LazyLock;

use super::Constraint::{Bits, Components, Is, Members, Same, SameCount, SameWidth};
use super::{A, B, C, Constraint, Operands, R, TypeClass, TypePath};
use crate::rules::{Check, Rule, Severity};
use assay_spirv::grammar::ExtendedSet;
use assay_spirv::tables::{GLSL_STD450, GlslStd450 as Glsl, Op};

/// Floats of any width, all of one type.
const FLOATS: &[Constraint] = &[Is(R, TypeClass::FLOATS), Same(A, R), Same(B, R), Same(C, R)];
/// 16 or 32-bit floats, all of one type.
const SHORT_FLOATS: &[Constraint] = &[Is(R, TypeClass::FLOATS), Bits(R, &[16, 32]), Same(A, R), Same(B, R)];
/// Integers of equal width and component count, of any signedness.
const INTEGERS: &[Constraint] = &[
    Is(R, TypeClass::INTS),
    Is(A, TypeClass::INTS),
    SameCount(A, R),
    SameWidth(A, R),
    Is(B, TypeClass::INTS),
    SameCount(B, R),
    SameWidth(B, R),
    Is(C, TypeClass::INTS),
    SameCount(C, R),
    SameWidth(C, R),
];
const HIGH_BIT: &[Constraint] =
    &[Is(R, TypeClass::INTS), Bits(R, &[32]), Is(A, TypeClass::INTS), SameCount(A, R), SameWidth(A, R)];

/// Constraints for a vector of `$count` components of `$bits` bits.
macro_rules! vector {
    ($place:expr, $class:expr, $count:literal, $bits:literal) => {
        [Is($place, $class), Components($place, $count), Bits($place, &[$bits])]
    };
}

const fn packed(integer: TypePath, vector: [Constraint; 3]) -> [Constraint; 5] {
    let [class, count, bits] = vector;
    [Is(integer, TypeClass::INT), Bits(integer, &[32]), class, count, bits]
}

static PACK_4: [Constraint; 5] = packed(R, vector!(A, TypeClass::FLOAT_VECTOR, 4, 32));
static PACK_2: [Constraint; 5] = packed(R, vector!(A, TypeClass::FLOAT_VECTOR, 2, 32));
static UNPACK_4: [Constraint; 5] = packed(A, vector!(R, TypeClass::FLOAT_VECTOR, 4, 32));
static UNPACK_2: [Constraint; 5] = packed(A, vector!(R, TypeClass::FLOAT_VECTOR, 2, 32));

/// Constraints of the extended instructions. IMix, which is deprecated, has none.
static SIGNATURES: &[(&[Glsl], &[Constraint])] = &[
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
    (&[Glsl::Determinant], &[Is(A, TypeClass::MATRIX), SameCount(A.element(), A), Same(R, A.element().element())]),
    (&[Glsl::MatrixInverse], &[Is(R, TypeClass::MATRIX), SameCount(R.element(), R), Same(A, R)]),
    (&[Glsl::Modf], &[Is(R, TypeClass::FLOATS), Same(A, R), Is(B, TypeClass::POINTER), Same(B.pointee(), R)]),
    (
        &[Glsl::ModfStruct],
        &[
            Is(R, TypeClass::STRUCT),
            Members(R, 2),
            Is(R.member(0), TypeClass::FLOATS),
            Same(R.member(1), R.member(0)),
            Same(A, R.member(0)),
        ],
    ),
    (
        &[Glsl::Frexp],
        &[
            Is(R, TypeClass::FLOATS),
            Same(A, R),
            Is(B, TypeClass::POINTER),
            Is(B.pointee(), TypeClass::INTS),
            Bits(B.pointee(), &[16, 32]),
            SameCount(B.pointee(), R),
        ],
    ),
    (
        &[Glsl::FrexpStruct],
        &[
            Is(R, TypeClass::STRUCT),
            Members(R, 2),
            Is(R.member(0), TypeClass::FLOATS),
            Is(R.member(1), TypeClass::INTS),
            Bits(R.member(1), &[16, 32]),
            SameCount(R.member(1), R.member(0)),
            Same(A, R.member(0)),
        ],
    ),
    (&[Glsl::Ldexp], &[Is(R, TypeClass::FLOATS), Same(A, R), Is(B, TypeClass::INTS), SameCount(B, R)]),
    (&[Glsl::PackSnorm4x8, Glsl::PackUnorm4x8], &PACK_4),
    (&[Glsl::PackSnorm2x16, Glsl::PackUnorm2x16, Glsl::PackHalf2x16], &PACK_2),
    (&[Glsl::UnpackSnorm4x8, Glsl::UnpackUnorm4x8], &UNPACK_4),
    (&[Glsl::UnpackSnorm2x16, Glsl::UnpackUnorm2x16, Glsl::UnpackHalf2x16], &UNPACK_2),
    (
        &[Glsl::PackDouble2x32],
        &[Is(R, TypeClass::FLOAT), Bits(R, &[64]), Is(A, TypeClass::INT_VECTOR), Components(A, 2), Bits(A, &[32])],
    ),
    (
        &[Glsl::UnpackDouble2x32],
        &[Is(R, TypeClass::INT_VECTOR), Components(R, 2), Bits(R, &[32]), Is(A, TypeClass::FLOAT), Bits(A, &[64])],
    ),
    (&[Glsl::Length], &[Is(R, TypeClass::FLOAT), Is(A, TypeClass::FLOATS), Same(R, A.element())]),
    (&[Glsl::Distance], &[Is(R, TypeClass::FLOAT), Is(A, TypeClass::FLOATS), Same(R, A.element()), Same(B, A)]),
    (&[Glsl::Cross], &[Is(R, TypeClass::FLOAT_VECTOR), Components(R, 3), Same(A, R), Same(B, R)]),
    // Eta may differ in width from the vectors.
    (&[Glsl::Refract], &[Is(R, TypeClass::FLOATS), Same(A, R), Same(B, R), Is(C, TypeClass::FLOAT)]),
    (&[Glsl::InterpolateAtCentroid], INTERPOLATED),
    (
        &[Glsl::InterpolateAtSample],
        &[Is(R, TypeClass::FLOATS), Is(A, TypeClass::POINTER), Same(A.pointee(), R), Is(B, TypeClass::INT)],
    ),
    (
        &[Glsl::InterpolateAtOffset],
        &[
            Is(R, TypeClass::FLOATS),
            Is(A, TypeClass::POINTER),
            Same(A.pointee(), R),
            Is(B, TypeClass::FLOAT_VECTOR),
            Components(B, 2),
        ],
    ),
];

/// Constraints by instruction number.
static BY_NUMBER: LazyLock<Vec<&'static [Constraint]>> = LazyLock::new(|| {
    let count = GLSL_STD450.last().map_or(0, |row| row.number as usize + 1);
    let mut all: Vec<&'static [Constraint]> = vec![&[]; count];
    for (instructions, constraints) in SIGNATURES {
        instructions.iter().for_each(|instruction| all[instruction.word() as usize] = constraints);
    }
    all
});

const INTERPOLATED: &[Constraint] = &[Is(R, TypeClass::FLOATS), Is(A, TypeClass::POINTER), Same(A.pointee(), R)];

pub(in super::super) static RULES: &[Rule] = &[Rule {
    name: "extended-types",
    id: "SPIR-V Extended Instructions for GLSL: Result Type and operands",
    requirement: "results and operands of GLSL.std.450 instructions must have the types that their descriptions require",
    severity: Severity::Error,
    check: Check::Instructions(&[Op::ExtInst], |facts, instruction, found| {
        let [set, number, ..] = *instruction.operands() else { return };
        match facts.module.extended_set(set) {
            Some(ExtendedSet::Glsl) => {}
            None if facts.module.definition_of(set).is_some() => {
                return found
                    .report(instruction, format!("Set {} is not the result of OpExtInstImport", facts.name(set)));
            }
            _ => return,
        }
        let (Some(constraints), Some(row)) = (BY_NUMBER.get(number as usize), ExtendedSet::Glsl.instruction(number))
        else {
            return;
        };
        let problem = Operands::of(facts, instruction).and_then(|operands| operands.extended(row).problem(constraints));
        if let Some(problem) = problem {
            found.report(instruction, problem);
        }
    }),
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_of_the_set_has_constraints() {
        let without = GLSL_STD450.iter().filter(|row| BY_NUMBER[row.number as usize].is_empty());
        assert_eq!(without.map(|row| row.name).collect::<Vec<_>>(), ["IMix"], "add the operand types to SIGNATURES");
    }
}
