//! Control flow of one function: order, dominators and the constructs that the merge instructions declare.

use super::{BlockIndex, Function, Merge, Module};

/// What a construct is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstructKind {
    /// From a header with `OpSelectionMerge` up to its merge block.
    Selection,
    /// From a header with `OpLoopMerge` up to its merge block, the continue construct included.
    Loop,
    /// From a loop's continue target back to its header.
    Continue,
}

/// A construct of structured control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Construct {
    /// What it is.
    pub kind: ConstructKind,
    /// Its first block: the header, or the continue target.
    pub header: BlockIndex,
    /// The block that follows it; of a continue construct: the loop's.
    pub merge: BlockIndex,
    /// The construct around it, as an index into [`Flow::constructs`].
    pub parent: Option<usize>,
}

/// Control flow of a function. Blocks that nothing reaches, not even as a merge block, are left out of everything.
#[derive(Clone, Debug)]
pub struct Flow {
    first: u32,
    order: Vec<BlockIndex>,
    /// Immediate dominator by block of the function, over branches and merge declarations; itself for the entry.
    dominators: Vec<Option<BlockIndex>>,
    constructs: Vec<Construct>,
    innermost: Vec<Option<usize>>,
}

impl Flow {
    pub(super) fn new(module: &Module, function: &Function) -> Flow {
        let first = function.blocks.start;
        let count = function.blocks.len();
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| structural_edges(module, b, first)).collect();
        let postorder = postorder(&edges);
        let mut flow = Flow {
            first,
            order: postorder.iter().rev().map(|b| BlockIndex(b + first)).collect(),
            dominators: vec![None; count],
            constructs: Vec::new(),
            innermost: vec![None; count],
        };
        flow.find_dominators(&edges, &postorder);
        flow.find_constructs(module);
        flow
    }

    /// The blocks in an order in which dominators come first.
    pub fn order(&self) -> &[BlockIndex] {
        &self.order
    }

    /// The immediate structural dominator of a block; `None` for the entry and for blocks that nothing reaches.
    pub fn dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.dominators[self.local(block)].filter(|d| *d != block)
    }

    /// Whether every structural path to `block` goes through `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        let mut at = Some(block);
        while let Some(current) = at {
            if current == by {
                return true;
            }
            at = self.dominator(current);
        }
        false
    }

    /// The constructs, outer ones before those inside them.
    pub fn constructs(&self) -> &[Construct] {
        &self.constructs
    }

    /// The innermost construct around a block, as an index into [`Flow::constructs`]; a header is inside its own.
    pub fn innermost(&self, block: BlockIndex) -> Option<usize> {
        self.innermost[self.local(block)]
    }

    fn local(&self, block: BlockIndex) -> usize {
        (block.0 - self.first) as usize
    }

    fn find_dominators(&mut self, edges: &[Vec<u32>], postorder: &[u32]) {
        let above = immediate_dominators(edges, postorder);
        self.dominators = above.iter().map(|d| d.map(|d| BlockIndex(d + self.first))).collect();
    }

    fn find_constructs(&mut self, module: &Module) {
        // The construct that a continue target starts, by block.
        let mut continues: Vec<Option<usize>> = vec![None; self.dominators.len()];
        for block in self.order.clone() {
            let mut inside = self.around(module, block, &continues);
            match module.block(block).merge {
                Some(Merge::Selection { merge }) => {
                    inside = Some(self.push(ConstructKind::Selection, block, merge, inside));
                }
                Some(Merge::Loop { merge, continue_target }) => {
                    let looping = self.push(ConstructKind::Loop, block, merge, inside);
                    inside = Some(looping);
                    if continue_target != block {
                        let continuing = self.push(ConstructKind::Continue, continue_target, merge, inside);
                        let target = self.local(continue_target);
                        continues[target] = Some(continuing);
                    }
                }
                None => {}
            }
            let local = self.local(block);
            self.innermost[local] = inside;
        }
    }

    /// The construct around a block, its own not counted.
    fn around(&self, module: &Module, block: BlockIndex, continues: &[Option<usize>]) -> Option<usize> {
        if let Some(continuing) = continues[self.local(block)] {
            return Some(continuing);
        }
        let dominator = self.dominator(block)?;
        let inside = self.innermost(dominator)?;
        let merges_here = module.block(dominator).merge.is_some_and(|merge| merge.merge_block() == block);
        if merges_here { self.constructs[inside].parent } else { Some(inside) }
    }

    fn push(&mut self, kind: ConstructKind, header: BlockIndex, merge: BlockIndex, parent: Option<usize>) -> usize {
        self.constructs.push(Construct { kind, header, merge, parent });
        self.constructs.len() - 1
    }
}

/// Which blocks of a function come before which others on every way along its branches. What merge instructions declare is no way:
/// see [`Flow`] for structural dominance.
#[derive(Clone, Debug)]
pub struct Dominance {
    first: u32,
    /// Immediate dominator by block of the function; itself for the entry, `None` for what nothing reaches.
    above: Vec<Option<u32>>,
    /// By block of the function: its number in a walk over the tree of dominators, and the end of the numbers below it.
    numbers: Vec<(u32, u32)>,
    /// A block with a branch to the function's first.
    to_first: Option<u32>,
}

impl Dominance {
    pub(super) fn new(module: &Module, function: &Function) -> Dominance {
        let first = function.blocks.start;
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| branches(module, b, first)).collect();
        let postorder = postorder(&edges);
        let above = immediate_dominators(&edges, &postorder);
        let parent = |block: u32| above[block as usize].filter(|parent| *parent != block);
        // In postorder what is below a block comes before it, in reverse after it.
        let mut sizes = vec![1u32; edges.len()];
        for &block in &postorder {
            if let Some(parent) = parent(block) {
                sizes[parent as usize] += sizes[block as usize];
            }
        }
        let mut next = vec![0u32; edges.len()];
        let mut numbers = vec![(0, 0); edges.len()];
        for &block in postorder.iter().rev() {
            let start = match parent(block) {
                Some(parent) => {
                    let start = next[parent as usize];
                    next[parent as usize] += sizes[block as usize];
                    start
                }
                None => 0,
            };
            numbers[block as usize] = (start, start + sizes[block as usize]);
            next[block as usize] = start + 1;
        }
        let to_first = edges.iter().position(|targets| targets.contains(&0)).map(|block| block as u32);
        Dominance { first, above, numbers, to_first }
    }

    fn local(&self, block: BlockIndex) -> usize {
        (block.0 - self.first) as usize
    }

    /// Whether some way leads to a block of the function.
    pub fn reaches(&self, block: BlockIndex) -> bool {
        self.above[self.local(block)].is_some()
    }

    /// A block with a branch to the function's first, which there may not be.
    pub fn branches_to_first(&self) -> Option<BlockIndex> {
        self.to_first.map(|block| BlockIndex(block + self.first))
    }

    /// The immediate dominator of a block; `None` for the entry and for blocks that nothing reaches.
    pub fn immediate(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.above[self.local(block)].map(|above| BlockIndex(above + self.first)).filter(|above| *above != block)
    }

    /// Whether every way to `block`, which some way leads to, goes through `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        let (start, end) = self.numbers[self.local(by)];
        let (at, _) = self.numbers[self.local(block)];
        self.reaches(by) && (start..end).contains(&at)
    }
}

/// The immediate dominator of each block, itself for the first, by the iterative algorithm of Cooper, Harvey and Kennedy.
fn immediate_dominators(edges: &[Vec<u32>], postorder: &[u32]) -> Vec<Option<u32>> {
    let mut above: Vec<Option<u32>> = vec![None; edges.len()];
    let Some(&entry) = postorder.last() else { return above };
    let mut number = vec![0usize; edges.len()];
    for (i, &block) in postorder.iter().enumerate() {
        number[block as usize] = i;
    }
    let mut predecessors = vec![Vec::new(); edges.len()];
    for &block in postorder {
        for &to in &edges[block as usize] {
            predecessors[to as usize].push(block);
        }
    }
    above[entry as usize] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in postorder.iter().rev().skip(1) {
            let known = predecessors[block as usize].iter().copied().filter(|p| above[*p as usize].is_some());
            let meet = |mut a: u32, mut b: u32| {
                while a != b {
                    let lower = if number[a as usize] < number[b as usize] { &mut a } else { &mut b };
                    *lower = above[*lower as usize].unwrap_or(entry);
                }
                a
            };
            let new = known.reduce(meet);
            if new != above[block as usize] {
                above[block as usize] = new;
                changed = true;
            }
        }
    }
    above
}

/// Branches, as block numbers of the function.
fn branches(module: &Module, block: u32, first: u32) -> Vec<u32> {
    let targets = module.targets(module.block(BlockIndex(block)));
    targets.into_iter().filter_map(|word| module.block_of(word)).map(|b| b.0 - first).collect()
}

/// Branches and merge declarations, as block numbers of the function.
fn structural_edges(module: &Module, block: u32, first: u32) -> Vec<u32> {
    let declared = match module.block(BlockIndex(block)).merge {
        Some(Merge::Selection { merge }) => vec![merge],
        Some(Merge::Loop { merge, continue_target }) => vec![merge, continue_target],
        None => Vec::new(),
    };
    declared.into_iter().map(|b| b.0 - first).chain(branches(module, block, first)).collect()
}

fn postorder(edges: &[Vec<u32>]) -> Vec<u32> {
    let mut order = Vec::with_capacity(edges.len());
    if edges.is_empty() {
        return order;
    }
    let mut seen = vec![false; edges.len()];
    seen[0] = true;
    // Block, and how many of its edges have been followed.
    let mut stack = vec![(0u32, 0usize)];
    while let Some((block, followed)) = stack.last_mut() {
        match edges[*block as usize].get(*followed) {
            Some(&next) => {
                *followed += 1;
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    stack.push((next, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}
