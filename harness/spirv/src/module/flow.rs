//! Control flow of one function: order, dominators and the constructs that the merge instructions declare.

use super::dominators::{Tree, postorder};
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
    /// By block of the function: its place in the order.
    places: Vec<u32>,
    /// Branches and merge declarations, by block of the function.
    edges: Vec<Vec<u32>>,
    tree: Tree,
    constructs: Vec<Construct>,
    innermost: Vec<Option<usize>>,
}

impl Flow {
    pub(super) fn new(module: &Module, function: &Function) -> Flow {
        let first = function.blocks.start;
        let count = function.blocks.len();
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| structural_edges(module, b, first)).collect();
        let postorder = postorder(&edges);
        let mut places = vec![u32::MAX; count];
        for (place, block) in (0..).zip(postorder.iter().rev()) {
            places[*block as usize] = place;
        }
        let mut flow = Flow {
            first,
            order: postorder.iter().rev().map(|b| BlockIndex(b + first)).collect(),
            places,
            tree: Tree::new(&edges, &postorder),
            edges,
            constructs: Vec::new(),
            innermost: vec![None; count],
        };
        flow.find_constructs(module);
        flow
    }

    /// The blocks in an order in which dominators come first.
    pub fn order(&self) -> &[BlockIndex] {
        &self.order
    }

    /// Whether some structural path leads to a block of the function.
    pub fn reaches(&self, block: BlockIndex) -> bool {
        self.tree.reaches(self.local(block))
    }

    /// The immediate structural dominator of a block; `None` for the entry and for blocks that nothing reaches.
    pub fn dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.tree.above(self.local(block)).map(|above| BlockIndex(above + self.first))
    }

    /// Whether every structural path to `block`, which one leads to, goes through `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        self.tree.dominates(self.local(by), self.local(block))
    }

    /// The blocks that a reachable block dominates, itself among them.
    pub fn dominated(&self, by: BlockIndex) -> impl Iterator<Item = BlockIndex> {
        self.tree.below(self.local(by)).iter().map(|block| BlockIndex(block + self.first))
    }

    /// Whether a branch between reachable blocks goes to an ancestor in a depth-first search: a back edge.
    pub fn is_back_edge(&self, from: BlockIndex, to: BlockIndex) -> bool {
        self.places[self.local(to)] <= self.places[self.local(from)]
    }

    /// Where a block's branches and its merge instruction lead to.
    pub fn structural_targets(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> {
        self.edges[self.local(block)].iter().map(|to| BlockIndex(to + self.first))
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

    fn find_constructs(&mut self, module: &Module) {
        // The construct that a continue target starts, by block.
        let mut continues: Vec<Option<usize>> = vec![None; self.innermost.len()];
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
    tree: Tree,
    /// A block with a branch to the function's first.
    to_first: Option<u32>,
}

impl Dominance {
    pub(super) fn new(module: &Module, function: &Function) -> Dominance {
        let first = function.blocks.start;
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| branches(module, b, first)).collect();
        let tree = Tree::new(&edges, &postorder(&edges));
        let to_first = edges.iter().position(|targets| targets.contains(&0)).map(|block| block as u32);
        Dominance { first, tree, to_first }
    }

    fn local(&self, block: BlockIndex) -> usize {
        (block.0 - self.first) as usize
    }

    /// Whether some way leads to a block of the function.
    pub fn reaches(&self, block: BlockIndex) -> bool {
        self.tree.reaches(self.local(block))
    }

    /// A block with a branch to the function's first, which there may not be.
    pub fn branches_to_first(&self) -> Option<BlockIndex> {
        self.to_first.map(|block| BlockIndex(block + self.first))
    }

    /// The immediate dominator of a block; `None` for the entry and for blocks that nothing reaches.
    pub fn immediate(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.tree.above(self.local(block)).map(|above| BlockIndex(above + self.first))
    }

    /// Whether every way to `block`, which some way leads to, goes through `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        self.tree.dominates(self.local(by), self.local(block))
    }
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
