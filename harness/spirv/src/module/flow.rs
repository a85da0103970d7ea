//! Structured control flow of a function: block order, dominators, and the constructs that merge
//! instructions declare (SPIR-V, section 2.11).

use super::dominators::{DominatorTree, postorder};
use super::{BlockIndex, Function, Merge, Module};

/// The kind of a construct.
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
    /// Its kind.
    pub kind: ConstructKind,
    /// Its first block: the header, or the continue target.
    pub header: BlockIndex,
    /// The block that follows it; for a continue construct, the loop's merge block.
    pub merge: BlockIndex,
    /// The enclosing construct, as an index into [`Flow::constructs`].
    pub parent: Option<usize>,
}

/// Structural control flow of a function: its branches, and an edge from each header to the blocks
/// that its merge instruction names. Blocks that are structurally unreachable are left out.
#[derive(Clone, Debug)]
pub struct Flow {
    first: u32,
    order: Vec<BlockIndex>,
    /// Position of each block of the function in the order.
    positions: Vec<u32>,
    /// Successors of each block of the function: branch targets and blocks named by merge
    /// instructions.
    edges: Vec<Vec<u32>>,
    tree: DominatorTree,
    constructs: Vec<Construct>,
    innermost: Vec<Option<usize>>,
}

impl Flow {
    pub(super) fn new(module: &Module, function: &Function) -> Flow {
        let first = function.blocks.start;
        let count = function.blocks.len();
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| structural_edges(module, b, first)).collect();
        let postorder = postorder(&edges);
        let mut positions = vec![u32::MAX; count];
        for (position, block) in (0..).zip(postorder.iter().rev()) {
            positions[*block as usize] = position;
        }
        let mut flow = Flow {
            first,
            order: postorder.iter().rev().map(|b| BlockIndex(b + first)).collect(),
            positions,
            tree: DominatorTree::new(&edges, &postorder),
            edges,
            constructs: Vec::new(),
            innermost: vec![None; count],
        };
        flow.find_constructs(module);
        flow
    }

    /// Returns the blocks in reverse postorder, in which dominators precede the blocks they
    /// dominate.
    pub fn order(&self) -> &[BlockIndex] {
        &self.order
    }

    /// Returns true if a structural path leads from the entry to a block of the function.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.tree.is_reachable(self.local(block))
    }

    /// Returns the immediate structural dominator of a block; `None` for the entry and for
    /// unreachable blocks.
    pub fn dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.tree.immediate(self.local(block)).map(|dominator| BlockIndex(dominator + self.first))
    }

    /// Returns true if every structural path to `block`, which must be reachable, contains `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        self.tree.dominates(self.local(by), self.local(block))
    }

    /// Returns the blocks that a reachable block structurally dominates, including itself.
    pub fn dominated_blocks(&self, by: BlockIndex) -> impl Iterator<Item = BlockIndex> {
        self.tree.dominated(self.local(by)).iter().map(|block| BlockIndex(block + self.first))
    }

    /// Returns true if a branch between reachable blocks does not go forward in the order: the
    /// condition that holds for back edges, to an ancestor in the depth-first search.
    pub fn is_back_edge(&self, from: BlockIndex, to: BlockIndex) -> bool {
        self.positions[self.local(to)] <= self.positions[self.local(from)]
    }

    /// Returns the targets of a block's branches and of its merge instruction.
    pub fn structural_targets(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> {
        self.edges[self.local(block)].iter().map(|to| BlockIndex(to + self.first))
    }

    /// Returns the constructs, outer ones before those inside them.
    pub fn constructs(&self) -> &[Construct] {
        &self.constructs
    }

    /// Returns the innermost construct that contains a block, as an index into
    /// [`Flow::constructs`]. A header is in its own construct.
    pub fn innermost_construct(&self, block: BlockIndex) -> Option<usize> {
        self.innermost[self.local(block)]
    }

    fn local(&self, block: BlockIndex) -> usize {
        (block.0 - self.first) as usize
    }

    fn find_constructs(&mut self, module: &Module) {
        // The construct that starts at each block that is a continue target.
        let mut continues: Vec<Option<usize>> = vec![None; self.innermost.len()];
        for block in self.order.clone() {
            let mut inside = self.enclosing(module, block, &continues);
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

    /// Returns the innermost construct that contains a block, apart from the one that it heads.
    fn enclosing(&self, module: &Module, block: BlockIndex, continues: &[Option<usize>]) -> Option<usize> {
        if let Some(continuing) = continues[self.local(block)] {
            return Some(continuing);
        }
        let dominator = self.dominator(block)?;
        let inside = self.innermost_construct(dominator)?;
        let merges_here = module.block(dominator).merge.is_some_and(|merge| merge.merge_block() == block);
        if merges_here { self.constructs[inside].parent } else { Some(inside) }
    }

    fn push(&mut self, kind: ConstructKind, header: BlockIndex, merge: BlockIndex, parent: Option<usize>) -> usize {
        self.constructs.push(Construct { kind, header, merge, parent });
        self.constructs.len() - 1
    }
}

/// Dominance among the blocks of a function along its branches. Merge instructions add no edges
/// here; [`Flow`] has structural dominance.
#[derive(Clone, Debug)]
pub struct Dominance {
    first: u32,
    tree: DominatorTree,
    /// The first block that branches to the entry block.
    to_first: Option<u32>,
}

impl Dominance {
    pub(super) fn new(module: &Module, function: &Function) -> Dominance {
        let first = function.blocks.start;
        let edges: Vec<Vec<u32>> = function.blocks.clone().map(|b| branches(module, b, first)).collect();
        let tree = DominatorTree::new(&edges, &postorder(&edges));
        let to_first = edges.iter().position(|targets| targets.contains(&0)).map(|block| block as u32);
        Dominance { first, tree, to_first }
    }

    fn local(&self, block: BlockIndex) -> usize {
        (block.0 - self.first) as usize
    }

    /// Returns true if a path leads from the entry to a block of the function.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.tree.is_reachable(self.local(block))
    }

    /// Returns a block that branches to the entry block, which SPIR-V forbids.
    pub fn branches_to_first(&self) -> Option<BlockIndex> {
        self.to_first.map(|block| BlockIndex(block + self.first))
    }

    /// Returns the immediate dominator of a block; `None` for the entry and for unreachable blocks.
    pub fn immediate(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.tree.immediate(self.local(block)).map(|dominator| BlockIndex(dominator + self.first))
    }

    /// Returns true if every path to `block`, which must be reachable, contains `by`.
    pub fn dominates(&self, by: BlockIndex, block: BlockIndex) -> bool {
        self.tree.dominates(self.local(by), self.local(block))
    }
}

/// Returns the targets of a block's branches, numbered within the function.
fn branches(module: &Module, block: u32, first: u32) -> Vec<u32> {
    let targets = module.targets(module.block(BlockIndex(block)));
    targets.into_iter().filter_map(|word| module.block_of(word)).map(|b| b.0 - first).collect()
}

/// Returns the targets of a block's branches and of its merge instruction, numbered within the
/// function.
fn structural_edges(module: &Module, block: u32, first: u32) -> Vec<u32> {
    let declared = match module.block(BlockIndex(block)).merge {
        Some(Merge::Selection { merge }) => vec![merge],
        Some(Merge::Loop { merge, continue_target }) => vec![merge, continue_target],
        None => Vec::new(),
    };
    declared.into_iter().map(|b| b.0 - first).chain(branches(module, block, first)).collect()
}
