//! Declarations of merge instructions (SPIR-V specification, 2.11.1) and the branches that require
//! them (2.16.2).

use super::{Clause, FunctionStructure};
use assay_spirv::hash::{FastMap, FastSet};
use assay_spirv::module::{BlockIndex, Merge};
use assay_spirv::tables::Op;

impl FunctionStructure<'_, '_> {
    /// Checks that selections have merge instructions. Unreachable blocks are exempt.
    pub(super) fn check_selections(&mut self) {
        let mut ends: FastSet<u32> = FastSet::default();
        for block in self.function.blocks.clone().map(BlockIndex) {
            match self.merge(block) {
                Some(Merge::Selection { merge }) => ends.extend([merge.0]),
                Some(Merge::Loop { merge, continue_target }) => ends.extend([merge.0, continue_target.0]),
                None => {}
            }
        }
        for block in self.reached() {
            if matches!(self.merge(block), Some(Merge::Selection { .. })) {
                continue;
            }
            let missing = match self.terminator(block) {
                Some(Op::Switch) => true,
                Some(Op::BranchConditional) => {
                    let targets = self.targets(block);
                    targets.len() == 2 && !targets.iter().any(|to| ends.contains(&to.0))
                }
                _ => false,
            };
            if missing {
                let op = self.terminator(block).map_or("", |op| op.name());
                let message = format!("{op} at the end of {} is not preceded by OpSelectionMerge", self.name(block));
                self.report_branch(Clause::Selection, block, message);
            }
        }
    }

    /// Checks merge blocks, Continue Targets and back edges.
    pub(super) fn check_declarations(&mut self) {
        let mut headers: FastMap<u32, BlockIndex> = FastMap::default();
        for header in self.function.blocks.clone().map(BlockIndex) {
            let Some(merge) = self.merge(header).map(Merge::merge_block) else { continue };
            if let Some(other) = headers.insert(merge.0, header) {
                let (merge, other) = (self.name(merge), self.name(other));
                self.report_header(Clause::MergeOnce, header, format!("{merge} is already the merge block of {other}"));
            }
        }
        self.check_back_edges();
        for header in self.reached() {
            let Some(declared) = self.merge(header) else { continue };
            let merge = declared.merge_block();
            if merge == header || !self.flow.dominates(header, merge) {
                let message =
                    format!("{} does not strictly dominate its merge block {}", self.name(header), self.name(merge));
                self.report_header(Clause::HeaderDominates, header, message);
            }
            if let Merge::Loop { continue_target, .. } = declared
                && let Some(problem) = self.continue_problem(header, continue_target, merge)
            {
                self.report_header(Clause::ContinueTarget, header, problem);
            }
        }
    }

    fn check_back_edges(&mut self) {
        let mut latches: FastMap<u32, BlockIndex> = FastMap::default();
        for from in self.reached() {
            for to in self.targets(from) {
                if !self.flow.is_back_edge(from, to) {
                    continue;
                }
                if !matches!(self.merge(to), Some(Merge::Loop { .. })) {
                    let message =
                        format!("back edge from {} to {}, which is not a loop header", self.name(from), self.name(to));
                    self.report_branch(Clause::BackEdges, from, message);
                } else if let Some(other) = latches.insert(to.0, from) {
                    let (from_name, to, other) = (self.name(from), self.name(to), self.name(other));
                    let message = format!("second back edge to {to}, from {from_name}; the first is from {other}");
                    self.report_branch(Clause::BackEdges, from, message);
                }
            }
        }
        for header in self.reached() {
            if !matches!(self.merge(header), Some(Merge::Loop { .. })) {
                continue;
            }
            match latches.get(&header.0) {
                Some(latch) => self.latches.push((header, *latch)),
                None => {
                    let message = format!("loop header {} has no back edge", self.name(header));
                    self.report_header(Clause::BackEdges, header, message);
                }
            }
        }
        self.latches.sort_unstable();
    }

    /// Block with the back edge to a loop header.
    pub(super) fn latch(&self, header: BlockIndex) -> Option<BlockIndex> {
        let place = self.latches.binary_search_by_key(&header, |(header, _)| *header).ok()?;
        Some(self.latches[place].1)
    }

    fn continue_problem(&self, header: BlockIndex, target: BlockIndex, merge: BlockIndex) -> Option<String> {
        let name = self.name(target);
        if target == merge {
            return Some(format!("{name} is both Merge Block and Continue Target"));
        }
        if !self.flow.dominates(header, target) {
            return Some(format!("{} does not dominate its Continue Target {name}", self.name(header)));
        }
        let latch = self.latch(header)?;
        if !self.flow.dominates(target, latch) {
            return Some(format!(
                "the Continue Target {name} does not dominate the back-edge block {}",
                self.name(latch)
            ));
        }
        let out = self.escape_from(target, latch)?;
        Some(format!(
            "the path from the Continue Target {name} through {} bypasses the back-edge block {}",
            self.name(out),
            self.name(latch)
        ))
    }

    /// A block at which a path from a Continue Target terminates, or leaves the blocks that the
    /// target dominates, without passing through the back-edge block.
    fn escape_from(&self, target: BlockIndex, latch: BlockIndex) -> Option<BlockIndex> {
        let mut seen: FastSet<u32> = FastSet::default();
        let mut pending = vec![target];
        while let Some(block) = pending.pop() {
            if block == latch || !seen.insert(block.0) {
                continue;
            }
            let mut ends = true;
            for to in self.flow.structural_targets(block) {
                ends = false;
                if !self.flow.dominates(target, to) {
                    return Some(block);
                }
                pending.push(to);
            }
            if ends {
                return Some(block);
            }
        }
        None
    }
}
