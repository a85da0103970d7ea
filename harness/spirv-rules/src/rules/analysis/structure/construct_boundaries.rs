//! Entries and exits of structured control-flow constructs (SPIR-V specification, 2.11.3).

use super::{Clause, FunctionStructure};
use assay_spirv::module::{BlockIndex, Construct, ConstructKind, Merge};

impl FunctionStructure<'_, '_> {
    /// Returns whether a construct contains a block. A loop counts as containing its continue
    /// construct.
    fn contains(&self, construct: &Construct, block: BlockIndex) -> bool {
        let inside = self.flow.dominates(construct.header, block);
        inside && (construct.kind == ConstructKind::Continue || !self.flow.dominates(construct.merge, block))
    }

    /// Constructs that enclose a block, innermost first.
    fn enclosing(&self, block: BlockIndex) -> impl Iterator<Item = &Construct> {
        let constructs = self.flow.constructs();
        let mut at = self.flow.innermost_construct(block);
        std::iter::from_fn(move || {
            let construct = constructs.get(at?)?;
            at = construct.parent;
            Some(construct)
        })
    }

    /// Loop that a continue construct belongs to.
    fn loop_of(&self, continuing: &Construct) -> Option<&Construct> {
        continuing.parent.and_then(|parent| self.flow.constructs().get(parent))
    }

    pub(super) fn check_constructs(&mut self) {
        for from in self.reached() {
            for to in self.targets(from) {
                self.check_branch(from, to);
            }
        }
        for header in self.reached() {
            let Some(Merge::Loop { merge, continue_target }) = self.merge(header) else { continue };
            self.check_loop(header, merge, continue_target);
        }
    }

    fn check_branch(&mut self, from: BlockIndex, to: BlockIndex) {
        let left = self.enclosing(from).next().filter(|construct| !self.contains(construct, to)).copied();
        if let Some(construct) = left.filter(|_| !self.may_leave(from, to)) {
            let kind = match construct.kind {
                ConstructKind::Selection if self.is_switch(construct.header) => "switch",
                ConstructKind::Selection => "selection",
                ConstructKind::Loop => "loop",
                ConstructKind::Continue => "continue construct",
            };
            let (from_name, to, header) = (self.name(from), self.name(to), self.name(construct.header));
            let message = format!(
                "branch from {from_name} to {to} leaves the {kind} of {header} by an exit that is not permitted"
            );
            return self.report_branch(Clause::Exits, from, message);
        }
        if let Some(header) = self.entered_past_header(from, to) {
            let (from_name, to, header) = (self.name(from), self.name(to), self.name(header));
            let message = format!("branch from {from_name} to {to} enters the construct of {header} past its header");
            self.report_branch(Clause::Entries, from, message);
        }
    }

    /// Header of a construct that a branch enters elsewhere than at the header. Branches to
    /// continue targets are checked by `check_loop`.
    fn entered_past_header(&self, from: BlockIndex, to: BlockIndex) -> Option<BlockIndex> {
        let mut entered = self.enclosing(to).take_while(|construct| !self.contains(construct, from));
        entered
            .find(|construct| construct.header != to || construct.kind == ConstructKind::Continue)
            .filter(|construct| construct.kind != ConstructKind::Continue)
            .map(|construct| construct.header)
    }

    /// Returns whether a branch out of its innermost construct is one of the permitted exits.
    fn may_leave(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let mut innermost = true;
        for construct in self.enclosing(from) {
            match construct.kind {
                ConstructKind::Selection => {
                    let switch = self.is_switch(construct.header);
                    // Fall-through to another case. The order of cases is checked by switch-cases.
                    let falls = switch && self.targets(construct.header).contains(&to);
                    if falls || (construct.merge == to && (innermost || switch)) {
                        return true;
                    }
                    // Only the innermost switch may be exited to its merge block.
                    if switch {
                        return self.leaves_loop(from, to);
                    }
                }
                ConstructKind::Loop | ConstructKind::Continue => return self.leaves_loop(from, to),
            }
            innermost = false;
        }
        false
    }

    /// Returns whether a branch goes to the merge block or Continue Target of the innermost loop,
    /// or from a continue construct to its loop's header or merge block.
    fn leaves_loop(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let Some(construct) = self.enclosing(from).find(|c| c.kind != ConstructKind::Selection) else { return false };
        match construct.kind {
            ConstructKind::Continue => {
                self.loop_of(construct).is_some_and(|around| to == around.header || to == around.merge)
            }
            _ => {
                let Some(Merge::Loop { merge, continue_target }) = self.merge(construct.header) else { return false };
                // If the Continue Target is the header, there is no separate continue construct.
                to == merge || to == continue_target
            }
        }
    }

    fn check_loop(&mut self, header: BlockIndex, merge: BlockIndex, target: BlockIndex) {
        if let Some(latch) = self.latch(header)
            && let Some(to) = self.targets(latch).into_iter().find(|to| *to != header && *to != merge)
        {
            let (name, header, to) = (self.name(latch), self.name(header), self.name(to));
            let message =
                format!("branch from {name}, the back-edge block of {header}, to {to} leaves the continue construct");
            self.report_branch(Clause::Exits, latch, message);
        }
        if target == header {
            return;
        }
        for &(_, from) in self.branches.to(target) {
            let under = |by: BlockIndex| self.flow.dominates(by, from);
            let inside = under(header) && !under(merge) && !under(target);
            if self.flow.is_reachable(from) && !inside && !self.flow.is_back_edge(from, target) {
                let (name, header, target) = (self.name(from), self.name(header), self.name(target));
                let message = format!(
                    "branch from {name} to {target}, the Continue Target of {header}, comes from outside the loop"
                );
                self.report_branch(Clause::Continued, from, message);
            }
        }
    }
}
