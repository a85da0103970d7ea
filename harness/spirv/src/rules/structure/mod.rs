//! Structured control flow: what merge instructions declare, and how the constructs are entered and left. It is asked of shaders;
//! kernels need none.
//!
//! A function is looked at once for all of its rules. Where its declarations are wrong there are no constructs to speak of, so that
//! what the constructs ask for is then left open. That constructs nest needs no rule: a merge block outside the construct around its
//! header is one that the header does not dominate.

mod constructs;
mod declarations;
mod switches;

use super::{Facts, Findings, On, Rule, Severity};
use crate::module::{BlockIndex, Flow, Function, Index, Merge, Module};
use crate::tables::{Capability, Op};

/// A sentence of the specification that a function breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clause {
    Selection,
    MergeOnce,
    HeaderDominates,
    BackEdges,
    ContinueTarget,
    Exits,
    Entries,
    Continued,
    Cases,
}

/// Where a function breaks a sentence, and what is there.
pub(super) struct Broken {
    clause: Clause,
    at: Index,
    message: String,
}

/// One function.
struct Structure<'f, 'm> {
    facts: &'f Facts<'m>,
    module: &'m Module,
    function: &'m Function,
    flow: Flow,
    /// For each loop that some path leads to, by its header: the block with its back edge.
    latches: Vec<(BlockIndex, BlockIndex)>,
    broken: Vec<Broken>,
}

impl Structure<'_, '_> {
    /// The blocks that some structural path leads to.
    fn reached(&self) -> impl Iterator<Item = BlockIndex> + use<> {
        self.flow.order().to_vec().into_iter()
    }

    fn merge(&self, block: BlockIndex) -> Option<Merge> {
        self.module.block(block).merge
    }

    /// Where the branches of a block lead to, each once.
    fn targets(&self, block: BlockIndex) -> Vec<BlockIndex> {
        let words = self.module.targets(self.module.block(block));
        let mut targets: Vec<_> = words.into_iter().filter_map(|word| self.module.block_of(word)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    fn terminator(&self, block: BlockIndex) -> Option<Op> {
        self.module.instruction(self.module.block(block).terminator()).op
    }

    fn is_switch(&self, header: BlockIndex) -> bool {
        self.terminator(header) == Some(Op::Switch)
    }

    fn name(&self, block: BlockIndex) -> String {
        self.facts.name(self.module.block(block).label)
    }

    /// Something is wrong with the branches of a block.
    fn branch(&mut self, clause: Clause, block: BlockIndex, message: String) {
        let at = self.module.block(block).terminator();
        self.broken.push(Broken { clause, at, message });
    }

    /// Something is wrong with the merge instruction of a header.
    fn header(&mut self, clause: Clause, header: BlockIndex, message: String) {
        let terminator = self.module.block(header).terminator();
        self.broken.push(Broken { clause, at: Index(terminator.0 - 1), message });
    }
}

/// What the functions of a shader break.
pub(super) fn broken(facts: &Facts) -> Vec<Broken> {
    if !facts.has(Capability::Shader) {
        return Vec::new();
    }
    let functions = facts.module.functions().iter();
    // A block that is alone decides nothing: nothing may branch to it.
    functions.filter(|function| function.blocks.len() > 1).flat_map(|function| of_function(facts, function)).collect()
}

fn of_function(facts: &Facts, function: &Function) -> Vec<Broken> {
    let module = facts.module;
    let flow = module.flow(function);
    let mut structure = Structure { facts, module, function, flow, latches: Vec::new(), broken: Vec::new() };
    structure.selections();
    structure.declarations();
    if structure.broken.iter().all(|broken| broken.clause == Clause::Selection) {
        structure.constructs();
        structure.switches();
    }
    structure.broken
}

fn tell(facts: &Facts, clause: Clause, found: &mut Findings) {
    for broken in facts.structure().iter().filter(|broken| broken.clause == clause) {
        found.at(facts.module.instruction(broken.at), broken.message.as_str());
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "merge-position",
        id: "SPIR-V specification, OpSelectionMerge, OpLoopMerge: it must immediately precede the branch of its block",
        says: "a merge instruction stands before the branch of its block: OpLoopMerge's OpBranch or OpBranchConditional, OpSelectionMerge's OpBranchConditional or OpSwitch",
        severity: Severity::Error,
        on: On::Instructions(&[Op::SelectionMerge, Op::LoopMerge], |facts, instruction, found| {
            let next = Index(instruction.index.0 + 1);
            let next = facts.module.instructions_in(next.0..next.0 + 1).next().and_then(|next| next.op);
            let other = if instruction.op == Some(Op::LoopMerge) { Op::Branch } else { Op::Switch };
            if let Some(op) = next.filter(|op| *op != Op::BranchConditional && *op != other) {
                let name = instruction.name();
                found.at(instruction, format!("{name} before {op}, expected OpBranchConditional or {other}"));
            }
        }),
    },
    Rule {
        name: "selection-structured",
        id: "SPIR-V specification, 2.16.2 Validation Rules for Shader Capabilities: an OpSelectionMerge is required to precede an OpSwitch, and an OpBranchConditional with different labels of which neither is a declared merge block or Continue Target",
        says: "what decides between ways that leave nothing declares where they meet",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::Selection, found)),
    },
    Rule {
        name: "merge-once",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: a merge block must not be a merge block declared by any other header block",
        says: "no block is the merge block of two headers",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::MergeOnce, found)),
    },
    Rule {
        name: "header-dominates-merge",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: each header block must strictly structurally dominate its merge block",
        says: "every structural path to a merge block goes through its header",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::HeaderDominates, found)),
    },
    Rule {
        name: "back-edges",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: all back edges must branch to a loop header, each loop header having exactly one",
        says: "branches that lead back lead to loop headers, one to each",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::BackEdges, found)),
    },
    Rule {
        name: "continue-target",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: Continue Target and merge block differ; the loop header structurally dominates the Continue Target, this the back-edge block, which structurally post dominates it",
        says: "a loop's Continue Target lies between its header and its back-edge block, and leads nowhere else",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::ContinueTarget, found)),
    },
    Rule {
        name: "construct-exits",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: an exit must correspond to one of the following",
        says: "a branch leaves a construct for its merge block, the innermost loop's merge block or Continue Target, or the innermost switch's merge block, and a continue construct for its loop's header or merge block",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::Exits, found)),
    },
    Rule {
        name: "construct-entries",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: all branches into a selection, loop or switch construct from outside must be to its header block",
        says: "a branch enters a construct at its header",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::Entries, found)),
    },
    Rule {
        name: "continued-from-loop",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: a block that branches to the loop's continue target without a back edge must belong to the loop construct",
        says: "only the loop's own blocks branch to its Continue Target",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::Continued, found)),
    },
    Rule {
        name: "switch-cases",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: for a switch construct",
        says: "a switch's header dominates its cases; each branches to one other at most, which one other at most branches to and which comes next",
        severity: Severity::Error,
        on: On::Module(|facts, found| tell(facts, Clause::Cases, found)),
    },
];
