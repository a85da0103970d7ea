//! Structured control flow: declarations of merge instructions, and entries and exits of
//! constructs. The rules apply to shaders, not to kernels.
//!
//! Each function is analysed once for all of the rules (`rules/structured_control_flow.rs`). Without
//! valid declarations the constructs are undefined, so the rules for constructs are checked only if
//! all declarations other than missing selection merges are valid. Proper nesting needs no rule of
//! its own: a merge block outside the construct that contains the header is not dominated by that
//! header.

mod construct_boundaries;
mod merge_declarations;
mod switch_cases;

use super::branches::Branches;
use assay_spirv::module::{BlockIndex, Flow, Function, InstructionIndex, Merge, Module};
use assay_spirv::tables::{Capability, Op};

/// Clause of the specification that a function violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
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

/// Violation of a clause: where, and a description.
pub(crate) struct StructureViolation {
    pub(crate) clause: Clause,
    pub(crate) at: InstructionIndex,
    pub(crate) message: String,
}

/// Analysis of one function.
struct FunctionStructure<'f, 'm> {
    branches: &'f Branches,
    module: &'m Module,
    function: &'m Function,
    flow: Flow,
    /// For each reachable loop header, the block with its back edge.
    latches: Vec<(BlockIndex, BlockIndex)>,
    violations: Vec<StructureViolation>,
}

impl FunctionStructure<'_, '_> {
    /// Blocks that are structurally reachable.
    fn reached(&self) -> impl Iterator<Item = BlockIndex> + use<> {
        self.flow.order().to_vec().into_iter()
    }

    fn merge(&self, block: BlockIndex) -> Option<Merge> {
        self.module.block(block).merge
    }

    /// Branch targets of a block, without duplicates.
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
        self.module.names().display(self.module.block(block).label)
    }

    /// Reports a violation at the terminator of a block.
    fn report_branch(&mut self, clause: Clause, block: BlockIndex, message: String) {
        let at = self.module.block(block).terminator();
        self.violations.push(StructureViolation { clause, at, message });
    }

    /// Reports a violation at the merge instruction of a header.
    fn report_header(&mut self, clause: Clause, header: BlockIndex, message: String) {
        let terminator = self.module.block(header).terminator();
        self.violations.push(StructureViolation { clause, at: InstructionIndex(terminator.0 - 1), message });
    }
}

/// Returns the violations of all functions of a shader.
pub(crate) fn violations(module: &Module, branches: &Branches) -> Vec<StructureViolation> {
    if !module.declares(Capability::Shader) {
        return Vec::new();
    }
    let functions = module.functions().iter();
    // A single block has no structure to check; block-order forbids branches to it.
    functions
        .filter(|function| function.blocks.len() > 1)
        .flat_map(|function| function_violations(module, branches, function))
        .collect()
}

fn function_violations(module: &Module, branches: &Branches, function: &Function) -> Vec<StructureViolation> {
    let flow = module.flow(function);
    let mut structure =
        FunctionStructure { branches, module, function, flow, latches: Vec::new(), violations: Vec::new() };
    structure.check_selections();
    structure.check_declarations();
    if structure.violations.iter().all(|violation| violation.clause == Clause::Selection) {
        structure.check_constructs();
        structure.check_switches();
    }
    structure.violations
}
