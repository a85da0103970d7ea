//! Definitions come before their uses.

use crate::grammar::{Class, ExtendedSet};
use crate::module::{BlockIndex, Dominance, Function, Index, Instruction, Section, Type};
use crate::rules::{Facts, Findings, On, Rule, Severity};
use crate::tables::Op;

/// Whether the uses of an instruction are looked at: debug information may name what comes later.
fn is_judged(facts: &Facts, instruction: Instruction) -> bool {
    match instruction.op {
        None | Some(Op::ExtInstWithForwardRefsKHR | Op::TypeForwardPointer) => false,
        Some(Op::ExtInst) => instruction
            .operand(0)
            .and_then(|set| facts.module.extended_set(set))
            .is_some_and(|set| set != ExtendedSet::Unknown),
        Some(op) => op.info().class != Class::Debug,
    }
}

/// Looks at the uses in one function.
struct Scope<'f, 'm> {
    facts: &'f Facts<'m>,
    /// The function, and its place.
    function: &'f Function,
    place: usize,
    /// The first instruction of the first function: what is made before it, everything may use.
    first: u32,
}

impl Scope<'_, '_> {
    fn dominance(&self) -> &Dominance {
        self.facts.dominance(self.place)
    }

    /// What is wrong with a use, in a block, of what is made at the instruction of that place, not before it in the same block; of a
    /// phi's value in the parent.
    fn problem(&self, word: u32, made: Index, block: BlockIndex) -> Option<String> {
        let module = self.facts.module;
        // Labels are linked elsewhere, functions may be called before they are defined.
        if matches!(module.instruction(made).op, None | Some(Op::Label | Op::Function)) {
            return None;
        }
        let name = || self.facts.name(word);
        if !self.function.instructions.contains(&made.0) {
            return Some(format!("{} is made in another function", name()));
        }
        // A parameter is made in no block.
        let from = module.block_at(made)?;
        if from == block {
            return Some(format!("{} is used before it is made", name()));
        }
        let dominates = self.dominance().dominates(from, block);
        (!dominates).then(|| format!("{} is made in a block that does not dominate its use", name()))
    }

    fn block(&self, block: BlockIndex, found: &mut Findings) {
        let module = self.facts.module;
        // What nothing reaches is dominated by everything.
        let only = self.function.blocks.len() == 1;
        if !only && !self.dominance().reaches(block) {
            return;
        }
        let own = module.block(block).instructions.clone();
        for instruction in module.instructions_in(own.clone()) {
            if instruction.op == Some(Op::Phi) {
                self.phi(instruction, found);
                continue;
            }
            let here = instruction.index.0;
            let mut far = None;
            module.uses(instruction, |word| {
                // Nearly every use is of what its own block or the module has made.
                let made = module.made_at(word).filter(|made| made.0 >= self.first);
                if let Some(made) = made.filter(|made| !(own.start..here).contains(&made.0)) {
                    far = far.take().or_else(|| self.problem(word, made, block));
                }
            });
            if let Some(problem) = far.filter(|_| is_judged(self.facts, instruction)) {
                found.at(instruction, problem);
            }
        }
    }

    fn phi(&self, instruction: Instruction, found: &mut Findings) {
        let module = self.facts.module;
        for pair in instruction.operands().chunks_exact(2) {
            let [word, parent] = *pair else { continue };
            let parent = module.block_of(parent).filter(|parent| self.function.blocks.contains(&parent.0));
            let Some(parent) = parent.filter(|parent| self.dominance().reaches(*parent)) else { continue };
            let parent_has = &module.block(parent).instructions;
            let made = module.made_at(word).filter(|made| made.0 >= self.first && !parent_has.contains(&made.0));
            if let Some(problem) = made.and_then(|made| self.problem(word, made, parent)) {
                found.at(instruction, problem);
            }
        }
    }
}

fn in_function(facts: &Facts, place: usize, found: &mut Findings) {
    let function = &facts.module.functions()[place];
    let first = facts.module.functions().first().map_or(0, |function| function.instructions.start);
    let scope = Scope { facts, function, place, first };
    for block in function.blocks.clone().map(BlockIndex) {
        scope.block(block, found);
    }
}

/// Blocks come after the blocks that dominate them, and nothing branches to the first.
fn order(facts: &Facts, place: usize, found: &mut Findings) {
    let module = facts.module;
    let function = &module.functions()[place];
    let first = BlockIndex(function.blocks.start);
    let to_first = match function.blocks.len() {
        0 => None,
        // Nothing else is asked of a block that is alone.
        1 => Some(first).filter(|block| !module.targets(module.block(*block)).is_empty()),
        _ => facts.dominance(place).branches_to_first(),
    };
    if let Some(block) = to_first {
        let branch = module.instruction(module.block(block).terminator());
        found.at(branch, "a branch to the first block of the function");
    }
    for block in function.blocks.clone().skip(1).map(BlockIndex) {
        if facts.dominance(place).immediate(block).is_some_and(|above| above > block) {
            let label = module.instruction(Index(module.block(block).instructions.start));
            let name = facts.name(module.block(block).label);
            found.at(label, format!("{name} stands before the block that dominates it"));
        }
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "definition-first",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: types, constants and global variables are declared before their uses",
        says: "types, constants and module-scope variables are made of what stands before them",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            let module = facts.module;
            for instruction in module.section(Section::Globals).filter(|i| is_judged(facts, *i)) {
                let declares = instruction.op.is_some_and(|op| op.info().class == Class::TypeDeclaration);
                let late = |word: u32| {
                    let Some(made) = module.definition_of_word(word) else { return false };
                    let forward = declares
                        && module.type_declared(word).is_some_and(|ty| matches!(module.ty(ty), Type::Pointer { .. }));
                    made.index >= instruction.index && !forward && made.op != Some(Op::Function)
                };
                let mut first = instruction.result_type().filter(|word| late(*word));
                module.uses(instruction, |word| first = first.or(Some(word).filter(|word| late(*word))));
                if let Some(word) = first {
                    found.at(instruction, format!("{} is used before it is made", facts.name(word)));
                }
            }
        }),
    },
    Rule {
        name: "dominance",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a definition dominates its uses, and the parents of phis that use it",
        says: "what an instruction uses is made before it on every way that leads there",
        severity: Severity::Error,
        on: On::Module(|facts, found| (0..facts.module.functions().len()).for_each(|f| in_function(facts, f, found))),
    },
    Rule {
        name: "block-order",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a block appears before all blocks that it dominates; OpFunction: no branch to the first block",
        says: "a function's blocks come after those that dominate them, and nothing branches to the first",
        severity: Severity::Error,
        on: On::Module(|facts, found| (0..facts.module.functions().len()).for_each(|f| order(facts, f, found))),
    },
];
