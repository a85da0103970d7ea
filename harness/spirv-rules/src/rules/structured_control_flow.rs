//! Structured control flow: declarations of merge instructions, and entries and exits of
//! constructs.

use super::analysis::structure::Clause;
use super::{Check, Facts, Findings, Rule, Severity};
use assay_spirv::module::InstructionIndex;
use assay_spirv::tables::Op;

/// Reports the violations of a clause.
fn report(facts: &Facts, clause: Clause, found: &mut Findings) {
    for violation in facts.structure().iter().filter(|violation| violation.clause == clause) {
        found.report(facts.module.instruction(violation.at), violation.message.as_str());
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "merge-position",
        id: "SPIR-V specification, OpSelectionMerge, OpLoopMerge: it must immediately precede the branch of its block",
        requirement: "OpLoopMerge must immediately precede OpBranch or OpBranchConditional, and OpSelectionMerge must immediately precede OpBranchConditional or OpSwitch",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::SelectionMerge, Op::LoopMerge], |facts, instruction, found| {
            let next = InstructionIndex(instruction.index.0 + 1);
            let next = facts.module.instructions_in(next.0..next.0 + 1).next().and_then(|next| next.op);
            let other = if instruction.op == Some(Op::LoopMerge) { Op::Branch } else { Op::Switch };
            if let Some(op) = next.filter(|op| *op != Op::BranchConditional && *op != other) {
                let name = instruction.name();
                found.report(instruction, format!("{name} before {op}, expected OpBranchConditional or {other}"));
            }
        }),
    },
    Rule {
        name: "selection-structured",
        id: "SPIR-V specification, 2.16.2 Validation Rules for Shader Capabilities: an OpSelectionMerge is required to precede an OpSwitch, and an OpBranchConditional with different labels of which neither is a declared merge block or Continue Target",
        requirement: "a conditional branch or switch that does not exit its construct must be preceded by OpSelectionMerge",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::Selection, found)),
    },
    Rule {
        name: "merge-once",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: a merge block must not be a merge block declared by any other header block",
        requirement: "a block must be the merge block of at most one header",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::MergeOnce, found)),
    },
    Rule {
        name: "header-dominates-merge",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: each header block must strictly structurally dominate its merge block",
        requirement: "a header must strictly structurally dominate its merge block",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::HeaderDominates, found)),
    },
    Rule {
        name: "back-edges",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: all back edges must branch to a loop header, each loop header having exactly one",
        requirement: "every back edge must branch to a loop header, and every loop header must have exactly one back edge",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::BackEdges, found)),
    },
    Rule {
        name: "continue-target",
        id: "SPIR-V specification, 2.11.1 Rules for Structured Control-flow Declarations: Continue Target and merge block differ; the loop header structurally dominates the Continue Target, this the back-edge block, which structurally post dominates it",
        requirement: "a loop header must dominate its Continue Target, which must dominate the back-edge block and be post dominated by it; the Continue Target must not be the merge block",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::ContinueTarget, found)),
    },
    Rule {
        name: "construct-exits",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: an exit must correspond to one of the following",
        requirement: "a branch must leave a construct only to its merge block, to the innermost loop's merge block or Continue Target, or to the innermost switch's merge block; a continue construct only to its loop's header or merge block",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::Exits, found)),
    },
    Rule {
        name: "construct-entries",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: all branches into a selection, loop or switch construct from outside must be to its header block",
        requirement: "a branch into a construct from outside must go to its header",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::Entries, found)),
    },
    Rule {
        name: "continued-from-loop",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: a block that branches to the loop's continue target without a back edge must belong to the loop construct",
        requirement: "only blocks of the loop construct may branch to its Continue Target, other than by a back edge",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::Continued, found)),
    },
    Rule {
        name: "switch-cases",
        id: "SPIR-V specification, 2.11.3 Rules for Structured Control-flow Constructs: for a switch construct",
        requirement: "the header of a switch must dominate its cases; each case must branch to at most one other case and be the target of at most one, and fall-through must be to the next Target operand",
        severity: Severity::Error,
        check: Check::Module(|facts, found| report(facts, Clause::Cases, found)),
    },
];
