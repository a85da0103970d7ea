//! What merge instructions declare (2.11.1), and where they are required (2.16.2).

use super::{Clause, Structure};
use crate::hash::{FastMap, FastSet};
use crate::module::{BlockIndex, Merge};
use crate::tables::Op;

impl Structure<'_, '_> {
    /// Decisions have their merge instructions. What nothing reaches decides nothing.
    pub(super) fn selections(&mut self) {
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
                let message = format!("{op} at the end of {} without OpSelectionMerge before it", self.name(block));
                self.branch(Clause::Selection, block, message);
            }
        }
    }

    /// Merge blocks, Continue Targets and back edges.
    pub(super) fn declarations(&mut self) {
        let mut headers: FastMap<u32, BlockIndex> = FastMap::default();
        for header in self.function.blocks.clone().map(BlockIndex) {
            let Some(merge) = self.merge(header).map(Merge::merge_block) else { continue };
            if let Some(other) = headers.insert(merge.0, header) {
                let (merge, other) = (self.name(merge), self.name(other));
                self.header(Clause::MergeOnce, header, format!("{merge} is the merge block of {other} already"));
            }
        }
        self.back_edges();
        for header in self.reached() {
            let Some(declared) = self.merge(header) else { continue };
            let merge = declared.merge_block();
            if merge == header || !self.flow.dominates(header, merge) {
                let message =
                    format!("{} does not strictly dominate its merge block {}", self.name(header), self.name(merge));
                self.header(Clause::HeaderDominates, header, message);
            }
            if let Merge::Loop { continue_target, .. } = declared
                && let Some(problem) = self.continue_problem(header, continue_target, merge)
            {
                self.header(Clause::ContinueTarget, header, problem);
            }
        }
    }

    fn back_edges(&mut self) {
        let mut latches: FastMap<u32, BlockIndex> = FastMap::default();
        for from in self.reached() {
            for to in self.targets(from) {
                if !self.flow.is_back_edge(from, to) {
                    continue;
                }
                if !matches!(self.merge(to), Some(Merge::Loop { .. })) {
                    let message =
                        format!("{} leads back to {}, which is no loop header", self.name(from), self.name(to));
                    self.branch(Clause::BackEdges, from, message);
                } else if let Some(other) = latches.insert(to.0, from) {
                    let (from_name, to, other) = (self.name(from), self.name(to), self.name(other));
                    let message = format!("{from_name} leads back to {to}, and so does {other}");
                    self.branch(Clause::BackEdges, from, message);
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
                    let message = format!("no branch leads back to the loop header {}", self.name(header));
                    self.header(Clause::BackEdges, header, message);
                }
            }
        }
        self.latches.sort_unstable();
    }

    /// The block with the back edge to a loop's header.
    pub(super) fn latch(&self, header: BlockIndex) -> Option<BlockIndex> {
        let place = self.latches.binary_search_by_key(&header, |(header, _)| *header).ok()?;
        Some(self.latches[place].1)
    }

    fn continue_problem(&self, header: BlockIndex, target: BlockIndex, merge: BlockIndex) -> Option<String> {
        let name = self.name(target);
        if target == merge {
            return Some(format!("{name} is Merge Block and Continue Target"));
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
        let out = self.leads_past(target, latch)?;
        Some(format!(
            "{} leads from the Continue Target {name} past the back-edge block {}",
            self.name(out),
            self.name(latch)
        ))
    }

    /// A block by which paths from a Continue Target end, or leave what it dominates, without the back-edge block.
    fn leads_past(&self, target: BlockIndex, latch: BlockIndex) -> Option<BlockIndex> {
        let mut seen: FastSet<u32> = FastSet::default();
        let mut waiting = vec![target];
        while let Some(block) = waiting.pop() {
            if block == latch || !seen.insert(block.0) {
                continue;
            }
            let mut ends = true;
            for to in self.flow.structural_targets(block) {
                ends = false;
                if !self.flow.dominates(target, to) {
                    return Some(block);
                }
                waiting.push(to);
            }
            if ends {
                return Some(block);
            }
        }
        None
    }
}
