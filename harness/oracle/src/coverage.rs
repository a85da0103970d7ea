//! Executed instructions of a program.

use crate::control_flow::{Block, Edge, End};
use crate::error::Place;
use crate::executed_blocks::{BlockNumber, ExecutedBlocks};
use crate::inst::Inst;
use crate::possible_values::PossibleValues;
use crate::program::Program;
use assay_spirv::module::InstructionIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Number of executed instructions of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Instructions that can be executed: those that no branch on a constant excludes, not even on one
    /// that is passed to a function.
    pub instructions: u64,
    /// Instructions among them that some invocation executed, or may have executed.
    pub executed: u64,
    /// Instructions among them that some invocation certainly executed.
    pub certain: u64,
}

/// Code to which a branch never leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedCode {
    /// The branch.
    pub branch: Place,
    /// First instruction of the code.
    pub first: Place,
    /// Instructions that only this branch and others in the code lead to, with those of the
    /// functions that they call.
    pub instructions: u64,
}

impl Program {
    /// Returns the number of executed instructions, given the executed blocks.
    pub fn coverage(&self, executed: &ExecutedBlocks) -> Coverage {
        let mut coverage = Coverage::default();
        for block in self.reachable_blocks(&self.possible) {
            let instructions = self.instructions(block);
            coverage.instructions += instructions;
            coverage.executed += if executed.contains(block) { instructions } else { 0 };
            coverage.certain += if executed.of(block).certain > 0 { instructions } else { 0 };
        }
        coverage
    }

    /// Returns the instructions of the module that invocations executed at least so many times, given the
    /// executed blocks.
    pub fn executed_at_least(&self, times: u64, executed: &ExecutedBlocks) -> BTreeSet<InstructionIndex> {
        let mut blocks = self.reachable_blocks(&self.possible);
        blocks.retain(|block| executed.of(*block).possible >= times);
        self.instructions_of(blocks)
    }

    /// Returns the instructions of the module that can be executed.
    pub fn reachable_instructions(&self) -> BTreeSet<InstructionIndex> {
        self.instructions_of(self.reachable_blocks(&self.possible))
    }

    /// Returns the executed instructions of the module, given the executed blocks.
    pub fn executed_instructions(&self, executed: &ExecutedBlocks) -> BTreeSet<InstructionIndex> {
        self.instructions_of(self.reachable(self.entry_block(), &self.possible, |block| executed.contains(block)))
    }

    fn instructions_of(&self, blocks: BTreeSet<BlockNumber>) -> BTreeSet<InstructionIndex> {
        blocks.into_iter().flat_map(|block| self.places(block)).map(|place| place.instruction).collect()
    }

    /// Returns the code that most instructions belong to among those to which an executed branch
    /// never led; `None` if there is none.
    pub fn skipped_code(&self, executed: &ExecutedBlocks) -> Option<SkippedCode> {
        let is_skipped = |block: BlockNumber| !executed.contains(block);
        let mut most: Option<SkippedCode> = None;
        for from in self.reachable(self.entry_block(), &self.possible, |block| executed.contains(block)) {
            for target in self.targets(from, &self.possible).into_iter().filter(|target| is_skipped(*target)) {
                let code = self.reachable(target, &self.possible, is_skipped);
                let instructions = code.iter().map(|block| self.instructions(*block)).sum();
                // The code of called functions is elsewhere.
                let own = code.iter().filter(|block| block.function == target.function);
                let places: Vec<Place> = own.chain(&code).flat_map(|block| self.places(*block)).copied().collect();
                // Code that a translator adds has no line, or the first one.
                let has_line = |place: &&Place| place.line.is_some_and(|line| line > 1);
                let first = places.iter().find(has_line).or(places.first()).copied();
                if let Some(first) = first
                    && most.is_none_or(|most| most.instructions < instructions)
                {
                    most = Some(SkippedCode { branch: self.block(from).at, first, instructions });
                }
            }
        }
        most
    }

    /// Returns the loops that were entered and whose bodies then ran once at most, on average, given the
    /// executed blocks: the places of their headers. Loops that decide at their end whether to repeat are not
    /// among them.
    pub fn loops_without_repetition(&self, executed: &ExecutedBlocks) -> Vec<Place> {
        let blocks = self.reachable_blocks(&self.possible);
        // The blocks of a loop are in order, so that only its end leads back.
        let header = |end: &BlockNumber| match &self.block(*end).end {
            End::Jump(edge) if edge.block <= end.block => Some(BlockNumber { block: edge.block, ..*end }),
            _ => None,
        };
        let mut repetitions: BTreeMap<BlockNumber, u64> = BTreeMap::new();
        for end in &blocks {
            if let Some(header) = header(end) {
                *repetitions.entry(header).or_default() += executed.of(*end).possible;
            }
        }
        let is_short = |(header, repeated): &(BlockNumber, u64)| {
            let entered = executed.of(*header).possible.saturating_sub(*repeated);
            entered > 0 && *repeated <= entered
        };
        repetitions.into_iter().filter(is_short).map(|(header, _)| self.block(header).at).collect()
    }

    fn entry_block(&self) -> BlockNumber {
        BlockNumber { function: self.entry, block: 0 }
    }

    fn block(&self, BlockNumber { function, block }: BlockNumber) -> &Block {
        &self.functions[function as usize].blocks[block as usize]
    }

    /// Returns the places of the decoded instructions of a block.
    fn places(&self, block: BlockNumber) -> &[Place] {
        let code = &self.block(block).code;
        &self.at[code.start as usize..code.end as usize]
    }

    /// Returns the number of the module's instructions in a block. One may be decoded as several.
    fn instructions(&self, block: BlockNumber) -> u64 {
        self.places(block).chunk_by(|one, other| one.instruction == other.instruction).count() as u64
    }

    /// Returns the blocks to which a block can lead: those of the values that its selector may have.
    fn targets(&self, from: BlockNumber, possible: &PossibleValues) -> Vec<BlockNumber> {
        let edges: Vec<&Edge> = match &self.block(from).end {
            End::Jump(edge) => vec![edge],
            End::If { condition, then, other } => match possible.of(condition.reg) {
                Some(values) => values.iter().map(|bits| if *bits == 0 { other } else { then }).collect(),
                None => vec![then, other],
            },
            End::Switch { selector, cases, edges } => match possible.of(selector.reg) {
                Some(values) => {
                    let case = |bits| cases.iter().find(|(case, _)| case == bits).map_or(0, |(_, edge)| *edge as usize);
                    values.iter().map(|bits| &edges[case(bits)]).collect()
                }
                None => edges.iter().collect(),
            },
            End::Return { .. } | End::Unreachable => Vec::new(),
        };
        edges.into_iter().map(|edge| BlockNumber { block: edge.block, ..from }).collect()
    }

    /// Returns the blocks that can be executed if registers have these values only, in order.
    pub(crate) fn reachable_blocks(&self, possible: &PossibleValues) -> BTreeSet<BlockNumber> {
        self.reachable(self.entry_block(), possible, |_| true)
    }

    /// Returns the blocks that can be reached from a block through blocks with a property, and
    /// those of the functions that they call, in order.
    fn reachable(
        &self,
        from: BlockNumber,
        possible: &PossibleValues,
        passes: impl Fn(BlockNumber) -> bool,
    ) -> BTreeSet<BlockNumber> {
        let (mut open, mut reached) = (vec![from], BTreeSet::new());
        while let Some(block) = open.pop() {
            if !passes(block) || !reached.insert(block) {
                continue;
            }
            open.extend(self.targets(block, possible));
            let Range { start, end } = self.block(block).code;
            open.extend(self.code[start as usize..end as usize].iter().filter_map(|inst| match inst {
                Inst::Call { function, .. } => Some(BlockNumber { function: *function, block: 0 }),
                _ => None,
            }));
        }
        reached
    }
}
