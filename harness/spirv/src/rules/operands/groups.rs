//! Instructions on the invocations of a subgroup. Their first operand is a scope.

use super::Ask::{Bits, Components, Holds, Is, Same};
use super::{A, Ask, B, C, Class, D, Operands, R, Signature};
use crate::rules::{On, Rule, Severity};
use crate::tables::{GroupOperation, Op};

/// A ballot: a bit of an unsigned integer for each invocation.
const BALLOT_TYPE: Ask = Is(B, Class::UNSIGNED_VECTOR);
const BALLOT_SIZE: Ask = Components(B, 4);

/// What a reduction asks of its last operand.
fn cluster(operands: &Operands) -> Option<String> {
    let operation = GroupOperation::from_word(operands.word(1)?)?;
    let Some(size) = operands.word(3) else {
        return (operation == GroupOperation::ClusteredReduce).then(|| "ClusterSize is missing".to_owned());
    };
    if operation != GroupOperation::ClusteredReduce {
        // The ballots of partitions are of an extension.
        return None;
    }
    let constant = operands.facts.is_constant(size);
    (!constant).then(|| "ClusterSize is no constant".to_owned()).or_else(|| operands.breaks(&Is(D, Class::UNSIGNED)))
}

static GROUPS: &[Signature] = &[
    Signature { ops: &[Op::GroupNonUniformElect], asks: &[Is(R, Class::BOOL)] },
    Signature {
        ops: &[Op::GroupNonUniformAll, Op::GroupNonUniformAny],
        asks: &[Is(R, Class::BOOL), Is(B, Class::BOOL)],
    },
    Signature { ops: &[Op::GroupNonUniformAllEqual], asks: &[Is(R, Class::BOOL), Is(B, Class::SCALARS)] },
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
        asks: &[Is(R, Class::SCALARS), Same(B, R), Is(C, Class::UNSIGNED)],
    },
    Signature { ops: &[Op::GroupNonUniformBroadcastFirst], asks: &[Is(R, Class::SCALARS), Same(B, R)] },
    Signature {
        ops: &[Op::GroupNonUniformBallot],
        asks: &[Is(R, Class::UNSIGNED_VECTOR), Components(R, 4), Is(B, Class::BOOL)],
    },
    Signature { ops: &[Op::GroupNonUniformInverseBallot], asks: &[Is(R, Class::BOOL), BALLOT_TYPE, BALLOT_SIZE] },
    Signature {
        ops: &[Op::GroupNonUniformBallotBitExtract],
        asks: &[Is(R, Class::BOOL), BALLOT_TYPE, BALLOT_SIZE, Is(C, Class::UNSIGNED)],
    },
    Signature {
        ops: &[Op::GroupNonUniformBallotBitCount],
        asks: &[Is(R, Class::UNSIGNED), Is(C, Class::UNSIGNED_VECTOR), Components(C, 4)],
    },
    Signature {
        ops: &[Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB],
        asks: &[Is(R, Class::UNSIGNED), BALLOT_TYPE, BALLOT_SIZE],
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
        asks: &[Is(R, Class::INTS), Same(C, R), Holds(cluster)],
    },
    Signature {
        ops: &[Op::GroupNonUniformUMin, Op::GroupNonUniformUMax],
        asks: &[Is(R, Class::UNSIGNED_INTS), Same(C, R), Holds(cluster)],
    },
    Signature {
        ops: &[Op::GroupNonUniformFAdd, Op::GroupNonUniformFMul, Op::GroupNonUniformFMin, Op::GroupNonUniformFMax],
        asks: &[Is(R, Class::FLOATS), Same(C, R), Holds(cluster)],
    },
    Signature {
        ops: &[Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor],
        asks: &[Is(R, Class::BOOLS), Same(C, R), Holds(cluster)],
    },
    Signature { ops: &[Op::ReadClockKHR], asks: &[Is(R, Class::UNSIGNED_INTS), Bits(R, &[32, 64])] },
    // These have no scope.
    Signature {
        ops: &[
            Op::GroupNonUniformQuadAllKHR,
            Op::GroupNonUniformQuadAnyKHR,
            Op::SubgroupAllKHR,
            Op::SubgroupAnyKHR,
            Op::SubgroupAllEqualKHR,
        ],
        asks: &[Is(R, Class::BOOL), Is(A, Class::BOOL)],
    },
    Signature {
        ops: &[Op::SubgroupBallotKHR],
        asks: &[Is(R, Class::UNSIGNED_VECTOR), Components(R, 4), Is(A, Class::BOOL)],
    },
    Signature { ops: &[Op::SubgroupFirstInvocationKHR], asks: &[Is(R, Class::SCALARS), Same(A, R)] },
    Signature { ops: &[Op::SubgroupReadInvocationKHR], asks: &[Is(R, Class::SCALARS), Same(A, R), Is(B, Class::INT)] },
];

/// Horizontal, vertical and diagonal.
const DIRECTIONS: i64 = 3;

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "group-types",
        id: "SPIR-V specification, Group and Non-Uniform Instructions: Result Type and operands",
        says: "what a group operation makes is of the type of its value, a vote is on booleans, a ballot has four unsigned words",
        severity: Severity::Error,
        on: On::Typed(GROUPS),
    },
    Rule {
        name: "quad-swap-direction",
        id: "SPIR-V specification, OpGroupNonUniformQuadSwap: Direction",
        says: "the direction of a swap in a quad is a constant: 0, 1 or 2",
        severity: Severity::Error,
        on: On::Instructions(&[Op::GroupNonUniformQuadSwap], |facts, instruction, found| {
            let Some(direction) = instruction.operand(2) else { return };
            if !facts.is_constant(direction) {
                found.at(instruction, "Direction is no constant");
                return;
            }
            // That of a specialization constant is known when it is specialized.
            let plain = facts.module.definition_of_word(direction).and_then(|d| d.op) == Some(Op::Constant);
            let known = facts.module.constant_int(direction).filter(|_| plain);
            if let Some(known) = known.filter(|known| !(0..DIRECTIONS).contains(known)) {
                found.at(instruction, format!("Direction is {known}, expected 0, 1 or 2"));
            }
        }),
    },
];
