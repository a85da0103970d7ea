//! Simplification of control flow: branches with one target, loops that run once, and removal of
//! unreachable blocks.
//!
//! Dominance of definitions over uses is preserved. Edges are only removed, except where the end of
//! a loop branches to the merge block instead of back. All paths to that block already came through
//! the blocks that led there before.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Block, Function, Instruction, InstructionIndex, Merge};
use assay_spirv::tables::{Kind, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Returns every pair of a block's label and one of its several targets.
pub(crate) fn branch_targets(module: &Module) -> Vec<(u32, u32)> {
    let mut choices = Vec::new();
    for block in module.blocks() {
        let next = successors(module, block);
        if next.len() > 1 {
            choices.extend(next.into_iter().map(|target| (block.label, target)));
        }
    }
    choices
}

/// Returns the labels that a block may branch to, without repetition.
fn successors(module: &Module, block: &Block) -> Vec<u32> {
    let end = module.instruction(block.terminator());
    let mut labels = Vec::new();
    let _newer = module.operands(end, |operand| {
        let word = end.words[operand.at];
        let is_label = module.definition_of(word).is_some_and(|d| d.op == Some(Op::Label));
        if operand.kind == Kind::IdRef && is_label && !labels.contains(&word) {
            labels.push(word);
        }
    });
    labels
}

/// Returns the module in which a block branches to `target` only; `None` if a phi or another use
/// prevents it.
pub(crate) fn take_branch(module: &Module, label: u32, target: u32) -> Option<Vec<u32>> {
    rewire(module, label, &BTreeMap::from([(label, target)]), None)
}

/// Returns the labels of loop headers.
pub(crate) fn loops(module: &Module) -> Vec<u32> {
    let is_loop = |block: &&Block| matches!(block.merge, Some(Merge::Loop { .. }));
    module.blocks().iter().filter(is_loop).map(|block| block.label).collect()
}

/// Returns the module in which a loop runs once, from its header to its merge block; `None` if a
/// phi or another use prevents it.
pub(crate) fn run_loop_once(module: &Module, header: u32) -> Option<Vec<u32>> {
    let block = module.block(module.block_of(header)?);
    let Some(Merge::Loop { merge, .. }) = block.merge else { return None };
    let merge = module.block(merge);
    let function = module.functions().iter().find(|f| f.instructions.contains(&block.instructions.start))?;
    if module.instructions_in(merge.instructions.clone()).any(|i| i.op == Some(Op::Phi)) {
        return None;
    }
    let inside =
        reachable(module, header, |b| if b.label == merge.label { Vec::new() } else { successors(module, b) })?;
    let leaves = |label: u32| {
        let alone = || {
            let block = module.block(module.block_of(label)?);
            Some(block.instructions.len() == 2 && successors(module, block) == [merge.label])
        };
        label == merge.label || alone() == Some(true)
    };
    let mut goes = BTreeMap::new();
    for block in blocks(module, function).filter(|b| b.label != merge.label && inside.contains(&b.label)) {
        let next = successors(module, block);
        let stays: Vec<u32> = next.iter().copied().filter(|label| !leaves(*label)).collect();
        if next.contains(&header) {
            goes.insert(block.label, merge.label);
        } else if let ([only], true) = (&stays[..], next.len() > 1) {
            goes.insert(block.label, *only);
        }
    }
    rewire(module, header, &goes, Some(header))
}

/// Returns the module in which the blocks in `goes` branch to one target only, and the loop
/// `unlooped` is not a loop. All are in the function of `label`.
fn rewire(module: &Module, label: u32, goes: &BTreeMap<u32, u32>, unlooped: Option<u32>) -> Option<Vec<u32>> {
    let place = module.block(module.block_of(label)?).instructions.start;
    let function = module.functions().iter().find(|f| f.instructions.contains(&place))?;
    let mut editor = Editor::new(module);
    let is_header = |block: &Block| match block.merge {
        Some(Merge::Selection { .. }) => !goes.contains_key(&block.label),
        Some(Merge::Loop { .. }) => unlooped != Some(block.label),
        None => false,
    };
    for block in blocks(module, function) {
        if block.merge.is_some() && !is_header(block) {
            editor.replace(module.instruction(InstructionIndex(block.instructions.end - 2)).at, Vec::new());
        }
        if let Some(target) = goes.get(&block.label) {
            editor.replace(module.instruction(block.terminator()).at, instruction(Op::Branch, &[*target]));
        }
    }
    let next = |block: &Block| goes.get(&block.label).map_or_else(|| successors(module, block), |target| vec![*target]);
    let reached = reachable(module, blocks(module, function).next()?.label, next)?;
    // Merge blocks and continue targets of remaining headers must exist, if only as empty blocks.
    let (mut merges, mut continues) = (BTreeSet::new(), Vec::new());
    for block in blocks(module, function).filter(|b| reached.contains(&b.label) && is_header(b)) {
        match block.merge {
            Some(Merge::Selection { merge }) => {
                merges.insert(module.block(merge).label);
            }
            Some(Merge::Loop { merge, continue_target, .. }) => {
                merges.insert(module.block(merge).label);
                continues.push((module.block(continue_target).label, block.label));
            }
            None => {}
        }
    }
    let mut gone = BTreeSet::new();
    for block in blocks(module, function).filter(|b| !reached.contains(&b.label)) {
        let continues_at = continues.iter().find(|(label, _)| *label == block.label);
        let shell = continues_at.is_some() || merges.contains(&block.label);
        for i in module.instructions_in(block.instructions.clone()) {
            let last = i.index == block.terminator();
            let words = match (i.op, continues_at) {
                (Some(Op::Label), _) if shell => continue,
                (_, Some((_, header))) if last => instruction(Op::Branch, &[*header]),
                (_, None) if last && shell => instruction(Op::Unreachable, &[]),
                _ => Vec::new(),
            };
            gone.extend(i.result());
            editor.replace(i.at, words);
        }
    }
    // A phi has exactly the predecessors of its block.
    for block in blocks(module, function).filter(|b| reached.contains(&b.label)) {
        for i in module.instructions_in(block.instructions.clone()).filter(|i| i.op == Some(Op::Phi)) {
            let there = |pair: &&[u32]| {
                let [_, parent] = **pair else { return false };
                let from = module.block_of(parent).map(|parent| module.block(parent));
                let shell = continues.iter().any(|(label, _)| *label == parent);
                shell || from.is_some_and(|from| reached.contains(&parent) && next(from).contains(&block.label))
            };
            let pairs: Vec<u32> = i.operands().chunks(2).filter(there).flatten().copied().collect();
            if pairs.is_empty() {
                return None;
            }
            if pairs.len() < i.operands().len() {
                let mut words = vec![i.words[0] & 0xffff | (pairs.len() as u32 + 3) << 16, i.words[1], i.words[2]];
                words.extend(pairs);
                editor.replace(i.at, words);
            }
        }
    }
    // Uses of removed definitions can occur in phis and in removed blocks only.
    let mut dangling = false;
    for block in blocks(module, function).filter(|b| reached.contains(&b.label)) {
        let phi = |i: &Instruction<'_>| i.op == Some(Op::Phi);
        for i in module.instructions_in(block.instructions.clone()).filter(|i| !is_branch(i.op) && !phi(i)) {
            let _newer =
                module.operands(i, |operand| dangling |= gone.contains(&i.words[operand.at]) && is_id(operand.kind));
        }
    }
    if dangling {
        return None;
    }
    editor.remove_references(&gone);
    Some(editor.finish())
}

/// Returns the module without loops that never repeat, and with blocks merged whose only reference
/// is the branch of the preceding block; `None` if there are none.
pub(crate) fn merge_blocks(module: &Module) -> Option<Vec<u32>> {
    let mut named: BTreeMap<u32, usize> = BTreeMap::new();
    for i in module.instructions() {
        module.id_operands(i).into_iter().for_each(|word| *named.entry(word).or_default() += 1);
    }
    let once = |label: u32| named.get(&label) == Some(&1);
    let instructions = |block: &Block| module.instructions_in(block.instructions.clone()).collect::<Vec<_>>();
    let mut editor = Editor::new(module);
    let mut gone = BTreeSet::new();
    for block in module.blocks() {
        let all = instructions(block);
        let Some((end, rest)) = all.split_last() else { continue };
        match block.merge {
            Some(Merge::Loop { continue_target, .. }) => {
                let back = module.block(continue_target);
                if let ([label, branch], true) = (&instructions(back)[..], once(back.label))
                    && branch.op == Some(Op::Branch)
                {
                    [label, branch].into_iter().chain(rest.last()).for_each(|i| editor.replace(i.at, Vec::new()));
                    gone.insert(back.label);
                }
            }
            Some(Merge::Selection { .. }) => {}
            None => {
                let next = end.operand(0).filter(|label| end.op == Some(Op::Branch) && once(*label));
                let Some(next) = next.and_then(|label| module.block_of(label)).map(|id| module.block(id)) else {
                    continue;
                };
                let follows = next.instructions.start == block.instructions.end;
                let [label, first, ..] = instructions(next)[..] else { continue };
                if follows && first.op != Some(Op::Phi) {
                    editor.replace(end.at, Vec::new());
                    editor.replace(label.at, Vec::new());
                    gone.insert(next.label);
                }
            }
        }
    }
    if gone.is_empty() {
        return None;
    }
    editor.remove_references(&gone);
    Some(editor.finish())
}

fn is_id(kind: Kind) -> bool {
    matches!(kind, Kind::IdRef | Kind::IdScope | Kind::IdMemorySemantics)
}

/// Returns whether an instruction refers to labels as a branch or merge.
fn is_branch(op: Option<Op>) -> bool {
    matches!(op, Some(Op::Branch | Op::BranchConditional | Op::Switch | Op::SelectionMerge | Op::LoopMerge))
}

fn blocks<'a>(module: &'a Module, function: &Function) -> impl Iterator<Item = &'a Block> {
    module.blocks().get(function.blocks.start as usize..function.blocks.end as usize).unwrap_or_default().iter()
}

/// Returns the labels of the blocks that can be reached from a block.
fn reachable(module: &Module, first: u32, next: impl Fn(&Block) -> Vec<u32>) -> Option<BTreeSet<u32>> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![first]);
    while let Some(label) = waiting.pop() {
        if reached.insert(label) {
            waiting.extend(next(module.block(module.block_of(label)?)));
        }
    }
    Some(reached)
}
