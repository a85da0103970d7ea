//! Case constructs of switches (SPIR-V specification, 2.11.3).

use super::{Clause, FunctionStructure};
use assay_spirv::module::{BlockIndex, Merge};

/// Cases of a switch in operand order, and the fall-throughs between them.
struct SwitchCases {
    default: BlockIndex,
    /// Labels of the Target operands.
    targets: Vec<BlockIndex>,
    /// Pairs of a case and another case that it branches to, without duplicates.
    fallthroughs: Vec<(BlockIndex, BlockIndex)>,
}

impl SwitchCases {
    fn fallthrough_of(&self, case: BlockIndex) -> Option<BlockIndex> {
        self.fallthroughs.iter().find(|(from, _)| *from == case).map(|(_, to)| *to)
    }

    /// Returns whether the last Target with label `one` immediately precedes the first Target with
    /// label `other`. True if one of them is not the label of a Target.
    fn are_adjacent(&self, one: BlockIndex, other: BlockIndex) -> bool {
        let last = self.targets.iter().rposition(|target| *target == one);
        let first = self.targets.iter().position(|target| *target == other);
        last.zip(first).is_none_or(|(last, first)| last + 1 == first)
    }

    /// A case whose Target operands are not consecutive.
    fn scattered(&self, merge: BlockIndex) -> Option<BlockIndex> {
        let mut runs = self.targets.clone();
        runs.dedup();
        runs.retain(|target| *target != merge);
        runs.sort_unstable();
        runs.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

impl FunctionStructure<'_, '_> {
    pub(super) fn check_switches(&mut self) {
        for header in self.reached().filter(|header| self.is_switch(*header)).collect::<Vec<_>>() {
            if let Some(Merge::Selection { merge }) = self.merge(header)
                && let Some((at, problem)) = self.switch_problem(header, merge)
            {
                self.report_branch(Clause::Cases, at, problem);
            }
        }
    }

    /// Describes the first violation among the cases of a switch, with the block whose branch is at
    /// fault.
    fn switch_problem(&self, header: BlockIndex, merge: BlockIndex) -> Option<(BlockIndex, String)> {
        let words = self.module.targets(self.module.block(header));
        let mut blocks = words.into_iter().filter_map(|word| self.module.block_of(word));
        let mut cases = SwitchCases { default: blocks.next()?, targets: blocks.collect(), fallthroughs: Vec::new() };
        let mut labels: Vec<BlockIndex> = cases.targets.iter().copied().chain([cases.default]).collect();
        labels.retain(|label| *label != merge);
        labels.sort_unstable();
        labels.dedup();
        if let Some(label) = labels.iter().find(|label| !self.flow.dominates(header, **label)) {
            return Some((header, format!("{} does not dominate its case {}", self.name(header), self.name(*label))));
        }
        for case in &labels {
            match self.fallthroughs_from(*case, &labels, header, merge) {
                Ok(others) => cases.fallthroughs.extend(others.into_iter().map(|other| (*case, other))),
                Err((at, to)) => {
                    let (at_name, case, to) = (self.name(at), self.name(*case), self.name(to));
                    return Some((
                        at,
                        format!("branch from {at_name} to {to} leaves the case {case}, but its target is not a case"),
                    ));
                }
            }
        }
        self.order_problem(&cases, merge).map(|problem| (header, problem))
    }

    /// Other cases that a case branches to. `Err` holds a branch from the case to a block of the
    /// switch that is not a case.
    fn fallthroughs_from(
        &self,
        case: BlockIndex,
        labels: &[BlockIndex],
        header: BlockIndex,
        merge: BlockIndex,
    ) -> Result<Vec<BlockIndex>, (BlockIndex, BlockIndex)> {
        let mut others = Vec::new();
        for block in self.flow.dominated_blocks(case).filter(|block| !self.flow.dominates(merge, *block)) {
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

    fn order_problem(&self, cases: &SwitchCases, merge: BlockIndex) -> Option<String> {
        let name = |block: BlockIndex| self.name(block);
        let mut into: Vec<BlockIndex> = cases.fallthroughs.iter().map(|(_, to)| *to).collect();
        into.sort_unstable();
        if let Some(pair) = cases.fallthroughs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Some(format!(
                "the case {} branches to two other cases, {} and {}",
                name(pair[0].0),
                name(pair[0].1),
                name(pair[1].1)
            ));
        }
        if let Some(pair) = into.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two cases branch to the case {}", name(pair[0])));
        }
        let default_is_target = cases.targets.contains(&cases.default);
        for (from, to) in &cases.fallthroughs {
            let over = cases.fallthrough_of(*to).filter(|_| *to == cases.default && !default_is_target);
            let next = over.unwrap_or(*to);
            if !cases.are_adjacent(*from, next) {
                return Some(format!(
                    "the case {} branches to {}, which is not the next case",
                    name(*from),
                    name(next)
                ));
            }
        }
        let scattered = cases.scattered(merge)?;
        Some(format!("the Target operands with label {} are not consecutive", name(scattered)))
    }
}
