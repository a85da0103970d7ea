//! Dominance of uses by definitions, and the order of declarations and blocks.

use crate::rules::{Check, Facts, Findings, Rule, Severity};
use assay_spirv::grammar::{ExtendedSet, InstructionClass};
use assay_spirv::module::{BlockIndex, Dominance, Function, Instruction, InstructionIndex, Section, Type};
use assay_spirv::tables::Op;

/// Returns whether the operands of an instruction must be defined before it. Debug information and
/// forward declarations may refer to later ids.
fn is_judged(facts: &Facts, instruction: Instruction) -> bool {
    match instruction.op {
        None | Some(Op::ExtInstWithForwardRefsKHR | Op::TypeForwardPointer) => false,
        Some(Op::ExtInst) => instruction
            .operand(0)
            .and_then(|set| facts.module.extended_set(set))
            .is_some_and(|set| set != ExtendedSet::Unknown),
        Some(op) => op.info().class != InstructionClass::Debug,
    }
}

/// Checks the uses in one function.
struct UseChecker<'f, 'm> {
    facts: &'f Facts<'m>,
    /// The function and its index.
    function: &'f Function,
    index: usize,
    /// First instruction of the first function. Every function may use the definitions before it.
    first: u32,
}

impl UseChecker<'_, '_> {
    fn dominance(&self) -> &Dominance {
        self.facts.dominance(self.index)
    }

    /// Describes why a use in `block` of the id `word`, defined at `made`, is invalid. Definitions
    /// that precede the use in the same block are not passed. For a phi, `block` is the parent.
    fn use_problem(&self, word: u32, made: InstructionIndex, block: BlockIndex) -> Option<String> {
        let module = self.facts.module;
        // Labels are checked with the branches, and a function may be called before its definition.
        if matches!(module.instruction(made).op, None | Some(Op::Label | Op::Function)) {
            return None;
        }
        let name = || self.facts.name(word);
        if !self.function.instructions.contains(&made.0) {
            return Some(format!("{} is defined in another function", name()));
        }
        // Function parameters belong to no block.
        let from = module.block_at(made)?;
        if from == block {
            return Some(format!("{} is used before its definition", name()));
        }
        let dominates = self.dominance().dominates(from, block);
        (!dominates).then(|| format!("{} is defined in a block that does not dominate its use", name()))
    }

    fn check_block(&self, block: BlockIndex, found: &mut Findings) {
        let module = self.facts.module;
        // Every definition dominates an unreachable block.
        let only = self.function.blocks.len() == 1;
        if !only && !self.dominance().is_reachable(block) {
            return;
        }
        let own = module.block(block).instructions.clone();
        for instruction in module.instructions_in(own.clone()) {
            if instruction.op == Some(Op::Phi) {
                self.check_phi(instruction, found);
                continue;
            }
            let here = instruction.index.0;
            let mut far = None;
            module.uses(instruction, |word| {
                // Nearly every use refers to a definition of its own block or of module scope.
                let made = module.definition_index(word).filter(|made| made.0 >= self.first);
                if let Some(made) = made.filter(|made| !(own.start..here).contains(&made.0)) {
                    far = far.take().or_else(|| self.use_problem(word, made, block));
                }
            });
            if let Some(problem) = far.filter(|_| is_judged(self.facts, instruction)) {
                found.report(instruction, problem);
            }
        }
    }

    fn check_phi(&self, instruction: Instruction, found: &mut Findings) {
        let module = self.facts.module;
        for pair in instruction.operands().chunks_exact(2) {
            let [word, parent] = *pair else { continue };
            let parent = module.block_of(parent).filter(|parent| self.function.blocks.contains(&parent.0));
            let Some(parent) = parent.filter(|parent| self.dominance().is_reachable(*parent)) else { continue };
            let parent_has = &module.block(parent).instructions;
            let made =
                module.definition_index(word).filter(|made| made.0 >= self.first && !parent_has.contains(&made.0));
            if let Some(problem) = made.and_then(|made| self.use_problem(word, made, parent)) {
                found.report(instruction, problem);
            }
        }
    }
}

fn check_function(facts: &Facts, index: usize, found: &mut Findings) {
    let function = &facts.module.functions()[index];
    let first = facts.module.functions().first().map_or(0, |function| function.instructions.start);
    let checker = UseChecker { facts, function, index, first };
    for block in function.blocks.clone().map(BlockIndex) {
        checker.check_block(block, found);
    }
}

/// Checks that a block follows its immediate dominator, and that no branch targets the first block.
fn check_block_order(facts: &Facts, index: usize, found: &mut Findings) {
    let module = facts.module;
    let function = &module.functions()[index];
    let first = BlockIndex(function.blocks.start);
    let to_first = match function.blocks.len() {
        0 => None,
        // A single block has no dominators to check.
        1 => Some(first).filter(|block| !module.targets(module.block(*block)).is_empty()),
        _ => facts.dominance(index).branches_to_first(),
    };
    if let Some(block) = to_first {
        let branch = module.instruction(module.block(block).terminator());
        found.report(branch, "branch to the first block of the function");
    }
    for block in function.blocks.clone().skip(1).map(BlockIndex) {
        if facts.dominance(index).immediate(block).is_some_and(|above| above > block) {
            let label = module.instruction(InstructionIndex(module.block(block).instructions.start));
            let name = facts.name(module.block(block).label);
            found.report(label, format!("{name} appears before its immediate dominator"));
        }
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "definition-first",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: types, constants and global variables are declared before their uses",
        requirement: "types, constants and module-scope variables must be declared before their uses",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            let module = facts.module;
            for instruction in module.section(Section::Globals).filter(|i| is_judged(facts, *i)) {
                let declares = instruction.op.is_some_and(|op| op.info().class == InstructionClass::TypeDeclaration);
                let late = |word: u32| {
                    let Some(made) = module.definition_of(word) else { return false };
                    let forward = declares
                        && module.type_declared(word).is_some_and(|ty| matches!(module.ty(ty), Type::Pointer { .. }));
                    made.index >= instruction.index && !forward && made.op != Some(Op::Function)
                };
                let mut first = instruction.result_type().filter(|word| late(*word));
                module.uses(instruction, |word| first = first.or(Some(word).filter(|word| late(*word))));
                if let Some(word) = first {
                    found.report(instruction, format!("{} is used before its definition", facts.name(word)));
                }
            }
        }),
    },
    Rule {
        name: "dominance",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a definition dominates its uses, and the parents of phis that use it",
        requirement: "a definition must dominate all of its uses; the definition of an OpPhi variable must dominate the parent block",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            (0..facts.module.functions().len()).for_each(|f| check_function(facts, f, found))
        }),
    },
    Rule {
        name: "block-order",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a block appears before all blocks that it dominates; OpFunction: no branch to the first block",
        requirement: "a block must appear after its immediate dominator, and no branch may go to the first block of a function",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            (0..facts.module.functions().len()).for_each(|f| check_block_order(facts, f, found))
        }),
    },
];
