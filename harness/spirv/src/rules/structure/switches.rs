//! The case constructs of switches (2.11.3).

use super::{Clause, Structure};
use crate::module::{BlockIndex, Merge};

/// The cases of a switch, in the order of its operands, and how they go over into each other.
struct Cases {
    default: BlockIndex,
    /// Labels of the Target operands.
    targets: Vec<BlockIndex>,
    /// A case and another one that it branches to, each pair once.
    falls: Vec<(BlockIndex, BlockIndex)>,
}

impl Cases {
    fn falls_to(&self, case: BlockIndex) -> Option<BlockIndex> {
        self.falls.iter().find(|(from, _)| *from == case).map(|(_, to)| *to)
    }

    /// Whether the last target with one label immediately precedes the first with the other, where both are labels of targets.
    fn are_neighbours(&self, one: BlockIndex, other: BlockIndex) -> bool {
        let last = self.targets.iter().rposition(|target| *target == one);
        let first = self.targets.iter().position(|target| *target == other);
        last.zip(first).is_none_or(|(last, first)| last + 1 == first)
    }

    /// A case whose targets have another's between them.
    fn scattered(&self, merge: BlockIndex) -> Option<BlockIndex> {
        let mut runs = self.targets.clone();
        runs.dedup();
        runs.retain(|target| *target != merge);
        runs.sort_unstable();
        runs.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

impl Structure<'_, '_> {
    pub(super) fn switches(&mut self) {
        for header in self.reached().filter(|header| self.is_switch(*header)).collect::<Vec<_>>() {
            if let Some(Merge::Selection { merge }) = self.merge(header)
                && let Some((at, problem)) = self.switch_problem(header, merge)
            {
                self.branch(Clause::Cases, at, problem);
            }
        }
    }

    /// What is wrong with the cases of a switch, and which block's branch is at fault.
    fn switch_problem(&self, header: BlockIndex, merge: BlockIndex) -> Option<(BlockIndex, String)> {
        let words = self.module.targets(self.module.block(header));
        let mut blocks = words.into_iter().filter_map(|word| self.module.block_of(word));
        let mut cases = Cases { default: blocks.next()?, targets: blocks.collect(), falls: Vec::new() };
        let mut labels: Vec<BlockIndex> = cases.targets.iter().copied().chain([cases.default]).collect();
        labels.retain(|label| *label != merge);
        labels.sort_unstable();
        labels.dedup();
        if let Some(label) = labels.iter().find(|label| !self.flow.dominates(header, **label)) {
            return Some((header, format!("{} does not dominate its case {}", self.name(header), self.name(*label))));
        }
        for case in &labels {
            match self.falls_from(*case, &labels, header, merge) {
                Ok(others) => cases.falls.extend(others.into_iter().map(|other| (*case, other))),
                Err((at, to)) => {
                    let (at_name, case, to) = (self.name(at), self.name(*case), self.name(to));
                    return Some((at, format!("{at_name} leaves the case {case} for {to}, which is no case")));
                }
            }
        }
        self.order_problem(&cases, merge).map(|problem| (header, problem))
    }

    /// The other cases that a case branches to; in `Err` a branch of it to a part of the switch that is no case.
    fn falls_from(
        &self,
        case: BlockIndex,
        labels: &[BlockIndex],
        header: BlockIndex,
        merge: BlockIndex,
    ) -> Result<Vec<BlockIndex>, (BlockIndex, BlockIndex)> {
        let mut others = Vec::new();
        for block in self.flow.dominated(case).filter(|block| !self.flow.dominates(merge, *block)) {
            for to in self.targets(block) {
                let in_switch = self.flow.dominates(header, to) && !self.flow.dominates(merge, to) && to != header;
                if !in_switch || self.flow.dominates(case, to) {
                    continue;
                }
                if labels.binary_search(&to).is_err() {
                    return Err((block, to));
                }
                others.push(to);
            }
        }
        others.sort_unstable();
        others.dedup();
        Ok(others)
    }

    fn order_problem(&self, cases: &Cases, merge: BlockIndex) -> Option<String> {
        let name = |block: BlockIndex| self.name(block);
        let mut into: Vec<BlockIndex> = cases.falls.iter().map(|(_, to)| *to).collect();
        into.sort_unstable();
        if let Some(pair) = cases.falls.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Some(format!(
                "the case {} branches to {} and {}",
                name(pair[0].0),
                name(pair[0].1),
                name(pair[1].1)
            ));
        }
        if let Some(pair) = into.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two cases branch to the case {}", name(pair[0])));
        }
        let default_is_target = cases.targets.contains(&cases.default);
        for (from, to) in &cases.falls {
            let over = cases.falls_to(*to).filter(|_| *to == cases.default && !default_is_target);
            let next = over.unwrap_or(*to);
            if !cases.are_neighbours(*from, next) {
                return Some(format!("the case {} branches to {}, which is not the next", name(*from), name(next)));
            }
        }
        let scattered = cases.scattered(merge)?;
        Some(format!("the targets with label {} do not stand together", name(scattered)))
    }
}
