//! Subgroup instructions.

use super::{Decoder, Result};
use crate::inst::{Fold, Inst, Reach, SubgroupOp};
use assay_spirv::module::Instruction;
use assay_spirv::tables::{GroupOperation, Op, Scope};

impl Decoder<'_> {
    pub(super) fn subgroup(&mut self, i: Instruction, op: Op) -> Result {
        // Instructions of SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote have no scope operand.
        // Their scope is the subgroup.
        let scoped = !matches!(
            op,
            Op::SubgroupBallotKHR
                | Op::SubgroupFirstInvocationKHR
                | Op::SubgroupReadInvocationKHR
                | Op::SubgroupAllKHR
                | Op::SubgroupAnyKHR
                | Op::SubgroupAllEqualKHR
        );
        if scoped {
            let scope = self.word(i, 0)?;
            let scope = self.constant(scope)? as u32;
            if Scope::from_word(scope) != Some(Scope::Subgroup) {
                return self.unsupported(format!("{op} of another scope than Subgroup"));
            }
        }
        let dst = self.result(i)?;
        let folds = |fold| (SubgroupOp::Fold { fold, reach: Reach::All }, true);
        let (mut op, grouped) = match op {
            Op::GroupNonUniformElect => (SubgroupOp::Elect, false),
            Op::GroupNonUniformAll | Op::SubgroupAllKHR => (SubgroupOp::All, false),
            Op::GroupNonUniformAny | Op::SubgroupAnyKHR => (SubgroupOp::Any, false),
            Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => (SubgroupOp::AllEqual, false),
            Op::GroupNonUniformBroadcast => (SubgroupOp::Broadcast, false),
            Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR => (SubgroupOp::BroadcastFirst, false),
            Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => (SubgroupOp::Ballot, false),
            Op::GroupNonUniformInverseBallot => (SubgroupOp::InverseBallot, false),
            Op::GroupNonUniformBallotBitExtract => (SubgroupOp::BallotBitExtract, false),
            Op::GroupNonUniformBallotBitCount => (SubgroupOp::BallotBitCount { reach: Reach::All }, true),
            Op::GroupNonUniformBallotFindLSB => (SubgroupOp::BallotFindLsb, false),
            Op::GroupNonUniformBallotFindMSB => (SubgroupOp::BallotFindMsb, false),
            Op::GroupNonUniformShuffle => (SubgroupOp::Shuffle, false),
            Op::SubgroupReadInvocationKHR => (SubgroupOp::ReadInvocation, false),
            Op::GroupNonUniformShuffleXor => (SubgroupOp::ShuffleXor, false),
            Op::GroupNonUniformShuffleUp => (SubgroupOp::ShuffleUp, false),
            Op::GroupNonUniformShuffleDown => (SubgroupOp::ShuffleDown, false),
            Op::GroupNonUniformRotateKHR => {
                let cluster = match i.operand(3) {
                    Some(word) => Some(self.constant(word)? as u32),
                    None => None,
                };
                (SubgroupOp::Rotate { cluster }, false)
            }
            Op::GroupNonUniformQuadBroadcast => (SubgroupOp::QuadBroadcast, false),
            Op::GroupNonUniformQuadSwap => {
                let direction = self.word(i, 2)?;
                let direction = self.constant(direction)? as u32;
                if direction > 2 {
                    return self.invalid(format!("a Direction of {direction}"));
                }
                (SubgroupOp::QuadSwap { direction }, false)
            }
            Op::GroupNonUniformIAdd => folds(Fold::Add),
            Op::GroupNonUniformIMul => folds(Fold::Mul),
            Op::GroupNonUniformSMin => folds(Fold::SMin),
            Op::GroupNonUniformUMin => folds(Fold::UMin),
            Op::GroupNonUniformSMax => folds(Fold::SMax),
            Op::GroupNonUniformUMax => folds(Fold::UMax),
            Op::GroupNonUniformBitwiseAnd | Op::GroupNonUniformLogicalAnd => folds(Fold::And),
            Op::GroupNonUniformBitwiseOr | Op::GroupNonUniformLogicalOr => folds(Fold::Or),
            Op::GroupNonUniformBitwiseXor | Op::GroupNonUniformLogicalXor => folds(Fold::Xor),
            Op::GroupNonUniformFMin => folds(Fold::FMin),
            Op::GroupNonUniformFMax => folds(Fold::FMax),
            Op::GroupNonUniformFAdd | Op::GroupNonUniformFMul => folds(Fold::Measured),
            _ => return self.unsupported(op.name()),
        };
        let first = usize::from(scoped) + usize::from(grouped);
        if grouped {
            let operation = self.word(i, 1)?;
            let stated = match GroupOperation::from_word(operation) {
                Some(GroupOperation::Reduce) => Reach::All,
                Some(GroupOperation::InclusiveScan) => Reach::Before { own: true },
                Some(GroupOperation::ExclusiveScan) => Reach::Before { own: false },
                Some(GroupOperation::ClusteredReduce) => {
                    let size = self.word(i, 3)?;
                    Reach::Cluster(self.constant(size)? as u32)
                }
                _ => return self.unsupported("a group operation of another kind"),
            };
            if let SubgroupOp::Fold { reach, .. } | SubgroupOp::BallotBitCount { reach } = &mut op {
                *reach = stated;
            }
        }
        let value = match i.operand(first) {
            Some(word) => Some(self.val(word)?),
            None => None,
        };
        let second = match op {
            SubgroupOp::Broadcast
            | SubgroupOp::BallotBitExtract
            | SubgroupOp::Shuffle
            | SubgroupOp::ReadInvocation
            | SubgroupOp::ShuffleXor
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::Rotate { .. }
            | SubgroupOp::QuadBroadcast => self.operand(i, first + 1)?.reg,
            _ => 0,
        };
        let (value, n) = value.map_or((0, 0), |val| (val.reg, val.n));
        self.emit(Inst::Subgroup { op, dst: dst.reg, value, n, second });
        if op.is_copy() {
            self.pass(&dst, true);
        }
        Ok(())
    }
}
