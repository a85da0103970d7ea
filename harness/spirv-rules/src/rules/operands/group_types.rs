//! Types of group instructions. Unless noted, their first operand is a scope.

use super::Constraint::{Bits, Components, Custom, Is, Same};
use super::{A, B, C, Constraint, D, Operands, R, Signature, TypeClass};
use crate::rules::{Check, Rule, Severity};
use assay_spirv::tables::{GroupOperation, Op};

/// A ballot: four unsigned integers with one bit for each invocation.
const BALLOT_TYPE: Constraint = Is(B, TypeClass::UNSIGNED_VECTOR);
const BALLOT_SIZE: Constraint = Components(B, 4);

/// Checks the ClusterSize of a reduction.
fn cluster_size_problem(operands: &Operands) -> Option<String> {
    let operation = GroupOperation::from_word(operands.word(1)?)?;
    let Some(size) = operands.word(3) else {
        return (operation == GroupOperation::ClusteredReduce).then(|| "ClusterSize is missing".to_owned());
    };
    if operation != GroupOperation::ClusteredReduce {
        // Partitioned operations of an extension have a ballot as this operand.
        return None;
    }
    let constant = operands.facts.is_constant(size);
    (!constant)
        .then(|| "ClusterSize is not a constant".to_owned())
        .or_else(|| operands.violation(&Is(D, TypeClass::UNSIGNED)))
}

static GROUPS: &[Signature] = &[
    Signature { ops: &[Op::GroupNonUniformElect], constraints: &[Is(R, TypeClass::BOOL)] },
    Signature {
        ops: &[Op::GroupNonUniformAll, Op::GroupNonUniformAny],
        constraints: &[Is(R, TypeClass::BOOL), Is(B, TypeClass::BOOL)],
    },
    Signature {
        ops: &[Op::GroupNonUniformAllEqual],
        constraints: &[Is(R, TypeClass::BOOL), Is(B, TypeClass::SCALARS)],
    },
    Signature {
        ops: &[
            Op::GroupNonUniformBroadcast,
            Op::GroupNonUniformShuffle,
            Op::GroupNonUniformShuffleXor,
            Op::GroupNonUniformShuffleUp,
            Op::GroupNonUniformShuffleDown,
            Op::GroupNonUniformQuadBroadcast,
            Op::GroupNonUniformQuadSwap,
            Op::GroupNonUniformRotateKHR,
        ],
        constraints: &[Is(R, TypeClass::SCALARS), Same(B, R), Is(C, TypeClass::UNSIGNED)],
    },
    Signature { ops: &[Op::GroupNonUniformBroadcastFirst], constraints: &[Is(R, TypeClass::SCALARS), Same(B, R)] },
    Signature {
        ops: &[Op::GroupNonUniformBallot],
        constraints: &[Is(R, TypeClass::UNSIGNED_VECTOR), Components(R, 4), Is(B, TypeClass::BOOL)],
    },
    Signature {
        ops: &[Op::GroupNonUniformInverseBallot],
        constraints: &[Is(R, TypeClass::BOOL), BALLOT_TYPE, BALLOT_SIZE],
    },
    Signature {
        ops: &[Op::GroupNonUniformBallotBitExtract],
        constraints: &[Is(R, TypeClass::BOOL), BALLOT_TYPE, BALLOT_SIZE, Is(C, TypeClass::UNSIGNED)],
    },
    Signature {
        ops: &[Op::GroupNonUniformBallotBitCount],
        constraints: &[Is(R, TypeClass::UNSIGNED), Is(C, TypeClass::UNSIGNED_VECTOR), Components(C, 4)],
    },
    Signature {
        ops: &[Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB],
        constraints: &[Is(R, TypeClass::UNSIGNED), BALLOT_TYPE, BALLOT_SIZE],
    },
    Signature {
        ops: &[
            Op::GroupNonUniformIAdd,
            Op::GroupNonUniformIMul,
            Op::GroupNonUniformSMin,
            Op::GroupNonUniformSMax,
            Op::GroupNonUniformBitwiseAnd,
            Op::GroupNonUniformBitwiseOr,
            Op::GroupNonUniformBitwiseXor,
        ],
        constraints: &[Is(R, TypeClass::INTS), Same(C, R), Custom(cluster_size_problem)],
    },
    Signature {
        ops: &[Op::GroupNonUniformUMin, Op::GroupNonUniformUMax],
        constraints: &[Is(R, TypeClass::UNSIGNED_INTS), Same(C, R), Custom(cluster_size_problem)],
    },
    Signature {
        ops: &[Op::GroupNonUniformFAdd, Op::GroupNonUniformFMul, Op::GroupNonUniformFMin, Op::GroupNonUniformFMax],
        constraints: &[Is(R, TypeClass::FLOATS), Same(C, R), Custom(cluster_size_problem)],
    },
    Signature {
        ops: &[Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor],
        constraints: &[Is(R, TypeClass::BOOLS), Same(C, R), Custom(cluster_size_problem)],
    },
    Signature { ops: &[Op::ReadClockKHR], constraints: &[Is(R, TypeClass::UNSIGNED_INTS), Bits(R, &[32, 64])] },
    // Instructions without a scope.
    Signature {
        ops: &[
            Op::GroupNonUniformQuadAllKHR,
            Op::GroupNonUniformQuadAnyKHR,
            Op::SubgroupAllKHR,
            Op::SubgroupAnyKHR,
            Op::SubgroupAllEqualKHR,
        ],
        constraints: &[Is(R, TypeClass::BOOL), Is(A, TypeClass::BOOL)],
    },
    Signature {
        ops: &[Op::SubgroupBallotKHR],
        constraints: &[Is(R, TypeClass::UNSIGNED_VECTOR), Components(R, 4), Is(A, TypeClass::BOOL)],
    },
    Signature { ops: &[Op::SubgroupFirstInvocationKHR], constraints: &[Is(R, TypeClass::SCALARS), Same(A, R)] },
    Signature {
        ops: &[Op::SubgroupReadInvocationKHR],
        constraints: &[Is(R, TypeClass::SCALARS), Same(A, R), Is(B, TypeClass::INT)],
    },
];

/// Number of directions of a quad swap: horizontal, vertical and diagonal.
const DIRECTIONS: i64 = 3;

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "group-types",
        id: "SPIR-V specification, Group and Non-Uniform Instructions: Result Type and operands",
        requirement: "results and operands of group operations must have the required types: the type of Value, a boolean for votes, a vector of four unsigned integers for ballots",
        severity: Severity::Error,
        check: Check::Typed(GROUPS),
    },
    Rule {
        name: "quad-swap-direction",
        id: "SPIR-V specification, OpGroupNonUniformQuadSwap: Direction",
        requirement: "Direction of OpGroupNonUniformQuadSwap must be a constant of 0, 1 or 2",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::GroupNonUniformQuadSwap], |facts, instruction, found| {
            let Some(direction) = instruction.operand(2) else { return };
            if !facts.is_constant(direction) {
                found.report(instruction, "Direction is not a constant");
                return;
            }
            // The value of a specialization constant is unknown here.
            let plain = facts.module.definition_of(direction).and_then(|d| d.op) == Some(Op::Constant);
            let known = facts.module.constant_int(direction).filter(|_| plain);
            if let Some(known) = known.filter(|known| !(0..DIRECTIONS).contains(known)) {
                found.report(instruction, format!("Direction is {known}, expected 0, 1 or 2"));
            }
        }),
    },
];
