//! How constructs are entered and left (2.11.3).

use super::{Clause, Structure};
use crate::module::{BlockIndex, Construct, ConstructKind, Merge};

impl Structure<'_, '_> {
    /// Whether a construct contains a block; a loop's its continue construct too.
    fn contains(&self, construct: &Construct, block: BlockIndex) -> bool {
        let inside = self.flow.dominates(construct.header, block);
        inside && (construct.kind == ConstructKind::Continue || !self.flow.dominates(construct.merge, block))
    }

    /// The constructs around a block, inner ones first.
    fn around(&self, block: BlockIndex) -> impl Iterator<Item = &Construct> {
        let constructs = self.flow.constructs();
        let mut at = self.flow.innermost(block);
        std::iter::from_fn(move || {
            let construct = constructs.get(at?)?;
            at = construct.parent;
            Some(construct)
        })
    }

    /// The loop of a continue construct.
    fn loop_of(&self, continuing: &Construct) -> Option<&Construct> {
        continuing.parent.and_then(|parent| self.flow.constructs().get(parent))
    }

    pub(super) fn constructs(&mut self) {
        for from in self.reached() {
            for to in self.targets(from) {
                self.branch_between(from, to);
            }
        }
        for header in self.reached() {
            let Some(Merge::Loop { merge, continue_target }) = self.merge(header) else { continue };
            self.looping(header, merge, continue_target);
        }
    }

    fn branch_between(&mut self, from: BlockIndex, to: BlockIndex) {
        let left = self.around(from).next().filter(|construct| !self.contains(construct, to)).copied();
        if let Some(construct) = left.filter(|_| !self.may_leave(from, to)) {
            let kind = match construct.kind {
                ConstructKind::Selection if self.is_switch(construct.header) => "switch",
                ConstructKind::Selection => "selection",
                ConstructKind::Loop => "loop",
                ConstructKind::Continue => "continue construct",
            };
            let (from_name, to, header) = (self.name(from), self.name(to), self.name(construct.header));
            let message = format!("{from_name} leaves the {kind} of {header} for {to}, which is no exit of it");
            return self.branch(Clause::Exits, from, message);
        }
        if let Some(header) = self.entered_behind_header(from, to) {
            let (from_name, to, header) = (self.name(from), self.name(to), self.name(header));
            let message = format!("{from_name} enters the construct of {header} at {to}, not at its header");
            self.branch(Clause::Entries, from, message);
        }
    }

    /// The header of a construct that a branch from outside leads into, past the header. Whence continue targets are branched to is
    /// asked of the loop.
    fn entered_behind_header(&self, from: BlockIndex, to: BlockIndex) -> Option<BlockIndex> {
        let mut entered = self.around(to).take_while(|construct| !self.contains(construct, from));
        entered
            .find(|construct| construct.header != to || construct.kind == ConstructKind::Continue)
            .filter(|construct| construct.kind != ConstructKind::Continue)
            .map(|construct| construct.header)
    }

    /// Whether a branch out of the innermost construct around it is one of the exits that there are.
    fn may_leave(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let mut innermost = true;
        for construct in self.around(from) {
            match construct.kind {
                ConstructKind::Selection => {
                    let switch = self.is_switch(construct.header);
                    // From one case to the next; which that may be is asked of the switch.
                    let falls = switch && self.targets(construct.header).contains(&to);
                    if falls || (construct.merge == to && (innermost || switch)) {
                        return true;
                    }
                    // Only the innermost switch is left.
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

    /// Whether a branch goes to the merge block or Continue Target of the innermost loop, or from a continue construct to its
    /// loop's header or merge block.
    fn leaves_loop(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let Some(construct) = self.around(from).find(|c| c.kind != ConstructKind::Selection) else { return false };
        match construct.kind {
            ConstructKind::Continue => {
                self.loop_of(construct).is_some_and(|around| to == around.header || to == around.merge)
            }
            _ => {
                let Some(Merge::Loop { merge, continue_target }) = self.merge(construct.header) else { return false };
                // A loop whose Continue Target is its header has no other continue construct.
                to == merge || to == continue_target
            }
        }
    }

    fn looping(&mut self, header: BlockIndex, merge: BlockIndex, target: BlockIndex) {
        if let Some(latch) = self.latch(header)
            && let Some(to) = self.targets(latch).into_iter().find(|to| *to != header && *to != merge)
        {
            let (name, header, to) = (self.name(latch), self.name(header), self.name(to));
            let message = format!("{name}, the back-edge block of {header}, leaves the continue construct for {to}");
            self.branch(Clause::Exits, latch, message);
        }
        if target == header {
            return;
        }
        for &(_, from) in self.facts.parents(target) {
            let under = |by: BlockIndex| self.flow.dominates(by, from);
            let inside = under(header) && !under(merge) && !under(target);
            if self.flow.reaches(from) && !inside && !self.flow.is_back_edge(from, target) {
                let (name, header, target) = (self.name(from), self.name(header), self.name(target));
                let message =
                    format!("{name} branches to {target}, the Continue Target of {header}, from outside the loop");
                self.branch(Clause::Continued, from, message);
            }
        }
    }
}
