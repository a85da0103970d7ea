//! Functions and their blocks.

use std::ops::Range;

use super::{Instruction, Module, ModuleError, ModuleErrorKind};
use crate::tables::Op;

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its raw id.
    pub id: u32,
    /// From `OpFunction` to just after `OpFunctionEnd`.
    pub instructions: Range<u32>,
    /// Its `OpFunctionParameter`s.
    pub parameters: Range<u32>,
    /// Its blocks, the entry block first; empty for a declaration without a body.
    pub blocks: Range<u32>,
}

/// Index of a block among all blocks of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u32);

/// Merge instruction of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merge {
    /// `OpSelectionMerge`.
    Selection {
        /// The block at which the branches meet.
        merge: BlockIndex,
    },
    /// `OpLoopMerge`.
    Loop {
        /// The block at which control leaves the loop.
        merge: BlockIndex,
        /// The block that starts the continue construct.
        continue_target: BlockIndex,
    },
}

impl Merge {
    /// Returns the merge block.
    pub fn merge_block(self) -> BlockIndex {
        match self {
            Merge::Selection { merge } | Merge::Loop { merge, .. } => merge,
        }
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Raw id of its label.
    pub label: u32,
    /// From its label to just after its last instruction.
    pub instructions: Range<u32>,
    /// Its merge instruction, if it is a header.
    pub merge: Option<Merge>,
}

impl Block {
    /// Returns the instructions between the label and the last one.
    pub fn body(&self) -> Range<u32> {
        self.instructions.start + 1..self.instructions.end - 1
    }

    /// Returns the index of the instruction that ends the block.
    pub fn terminator(&self) -> super::InstructionIndex {
        super::InstructionIndex(self.instructions.end - 1)
    }
}

/// Returns true if the instruction terminates a block.
pub(super) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Kill
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::TerminateInvocation
            | Op::AbortKHR
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

impl Module {
    /// Returns the raw ids of the labels that the block's last instruction may branch to, in the
    /// order of its operands.
    pub fn targets(&self, block: &Block) -> Vec<u32> {
        let terminator = self.instruction(block.terminator());
        let operands = terminator.operands();
        match terminator.op {
            Some(Op::Branch) => operands.to_vec(),
            Some(Op::BranchConditional) => operands.get(1..3).unwrap_or_default().to_vec(),
            Some(Op::Switch) => {
                let step = 1 + self.switch_literal_words(terminator);
                let cases = operands.get(2..).unwrap_or_default().iter().skip(step - 1).step_by(step);
                operands.get(1).into_iter().chain(cases).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the number of words of each literal of an `OpSwitch`.
    pub fn switch_literal_words(&self, switch: Instruction) -> usize {
        let selector = switch.operand(0).and_then(|word| self.type_of(word));
        match selector.map(|ty| self.ty(ty)) {
            Some(super::Type::Int { width, .. }) if *width > 32 => 2,
            _ => 1,
        }
    }

    /// Records the merge instructions of all blocks, and checks that every label named is a block
    /// of the same function.
    pub(super) fn link_blocks(&mut self) -> Result<(), ModuleError> {
        for f in 0..self.functions.len() {
            let blocks = self.functions[f].blocks.clone();
            let block_of = |module: &Module, op: Op, at: usize, word: u32| {
                let found = module.block_of(word).filter(|b| blocks.contains(&b.0));
                found.ok_or(ModuleError { at, kind: ModuleErrorKind::UnknownBlock { op, id: word } })
            };
            for b in blocks.clone() {
                let block = self.blocks[b as usize].clone();
                for word in self.targets(&block) {
                    let terminator = self.instruction(block.terminator());
                    if let Some(op) = terminator.op {
                        block_of(self, op, terminator.at, word)?;
                    }
                }
                let Some(last) = block.body().next_back().map(|i| self.instruction(super::InstructionIndex(i))) else {
                    continue;
                };
                let merge = match (last.op, last.operands()) {
                    (Some(op @ Op::SelectionMerge), [merge, ..]) => {
                        Merge::Selection { merge: block_of(self, op, last.at, *merge)? }
                    }
                    (Some(op @ Op::LoopMerge), [merge, continue_target, ..]) => Merge::Loop {
                        merge: block_of(self, op, last.at, *merge)?,
                        continue_target: block_of(self, op, last.at, *continue_target)?,
                    },
                    _ => continue,
                };
                self.blocks[b as usize].merge = Some(merge);
            }
        }
        Ok(())
    }
}
