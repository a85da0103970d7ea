//! Definitions come before their uses.

use crate::grammar::{Class, ExtendedSet};
use crate::module::{BlockIndex, Dominance, Function, Instruction, Section, Type};
use crate::rules::{Facts, Findings, On, Rule};
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
}

impl Scope<'_, '_> {
    fn dominance(&self) -> &Dominance {
        self.facts.dominance(self.place)
    }

    /// The block of the function that the instruction stands in; `None` in front of the first.
    fn block_at(&self, index: u32) -> Option<BlockIndex> {
        let blocks = &self.function.blocks;
        let all = self.facts.module.blocks().get(blocks.start as usize..blocks.end as usize)?;
        let after = all.partition_point(|block| block.instructions.start <= index);
        Some(BlockIndex(blocks.start + u32::try_from(after.checked_sub(1)?).ok()?))
    }

    /// What is wrong with a use at the instruction of that place in a block; of a phi's value at the parent's end.
    fn problem(&self, word: u32, index: u32, block: BlockIndex) -> Option<String> {
        let module = self.facts.module;
        let made = module.definition_of_word(word)?;
        let at = made.index.0;
        let own = &module.block(block).instructions;
        let first = module.functions().first()?.instructions.start;
        // Nearly every use is of what its own block or the module has made.
        if at < first || (own.contains(&at) && at < index) {
            return None;
        }
        // Labels are linked elsewhere, functions may be called before they are defined.
        if matches!(made.op, None | Some(Op::Label | Op::Function)) {
            return None;
        }
        let name = || self.facts.name(word);
        if !self.function.instructions.contains(&at) {
            return Some(format!("{} is made in another function", name()));
        }
        let from = self.block_at(at)?;
        if from == block {
            return Some(format!("{} is used before it is made", name()));
        }
        let dominates = self.dominance().dominates(from, block);
        (!dominates).then(|| format!("{} is made in a block that does not dominate its use", self.facts.name(word)))
    }

    fn block(&self, block: BlockIndex, found: &mut Findings) {
        let module = self.facts.module;
        // What nothing reaches is dominated by everything.
        let only = self.function.blocks.len() == 1;
        if !only && !self.dominance().reaches(block) {
            return;
        }
        let mut words = Vec::new();
        for instruction in module.instructions_in(module.block(block).instructions.clone()) {
            if !is_judged(self.facts, instruction) {
                continue;
            }
            if instruction.op == Some(Op::Phi) {
                self.phi(instruction, found);
                continue;
            }
            words.clear();
            module.uses(instruction, |word| words.push(word));
            let problem = words.iter().find_map(|word| self.problem(*word, instruction.index.0, block));
            if let Some(problem) = problem {
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
            let end = module.block(parent).instructions.end;
            if let Some(problem) = self.problem(word, end, parent) {
                found.at(instruction, problem);
            }
        }
    }
}

fn in_function(facts: &Facts, place: usize, found: &mut Findings) {
    let function = &facts.module.functions()[place];
    let scope = Scope { facts, function, place };
    for block in function.blocks.clone().map(BlockIndex) {
        scope.block(block, found);
    }
}

/// Blocks come after the blocks that dominate them, and nothing branches to the first.
fn order(facts: &Facts, place: usize, found: &mut Findings) {
    let module = facts.module;
    let function = &module.functions()[place];
    if function.blocks.len() < 2 {
        return;
    }
    let dominance = facts.dominance(place);
    for block in function.blocks.clone().map(BlockIndex) {
        let label = module.instruction(crate::module::Index(module.block(block).instructions.start));
        if dominance.immediate(block).is_some_and(|above| above > block) {
            found.at(
                label,
                format!("{} stands before the block that dominates it", facts.name(module.block(block).label)),
            );
        }
        let entry = BlockIndex(function.blocks.start);
        let targets = module.targets(module.block(block));
        if targets.into_iter().any(|word| module.block_of(word) == Some(entry)) {
            let branch = module.instruction(module.block(block).terminator());
            found.at(branch, "a branch to the first block of the function");
        }
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "definition-first",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: types, constants and global variables are declared before their uses",
        says: "types, constants and module-scope variables are made of what stands before them",
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
        on: On::Module(|facts, found| (0..facts.module.functions().len()).for_each(|f| in_function(facts, f, found))),
    },
    Rule {
        name: "block-order",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: a block appears before all blocks that it dominates; OpFunction: no branch to the first block",
        says: "a function's blocks come after those that dominate them, and nothing branches to the first",
        on: On::Module(|facts, found| (0..facts.module.functions().len()).for_each(|f| order(facts, f, found))),
    },
];
