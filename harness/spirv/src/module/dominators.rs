//! Dominator tree of a control flow graph whose blocks are numbered from 0.

/// Dominator tree, with a preorder numbering that answers queries in constant time: a block
/// dominates the blocks whose numbers lie in its subtree's range.
#[derive(Clone, Debug)]
pub(super) struct DominatorTree {
    /// Immediate dominator of each block: itself for the entry, `None` for unreachable blocks.
    immediate: Vec<Option<u32>>,
    /// For each block, the range of preorder numbers of its subtree: its own number and the end.
    numbers: Vec<(u32, u32)>,
    /// The reachable blocks in preorder of the tree.
    preorder: Vec<u32>,
}

impl DominatorTree {
    /// Builds the tree from the successors of each block and a postorder of the graph.
    pub(super) fn new(edges: &[Vec<u32>], postorder: &[u32]) -> DominatorTree {
        let immediate = immediate_dominators(edges, postorder);
        let parent = |block: u32| immediate[block as usize].filter(|parent| *parent != block);
        // In postorder, a block's subtree precedes it; in reverse postorder, it follows.
        let mut sizes = vec![1u32; edges.len()];
        for &block in postorder {
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
        let mut preorder = vec![0; postorder.len()];
        for &block in postorder {
            preorder[numbers[block as usize].0 as usize] = block;
        }
        DominatorTree { immediate, numbers, preorder }
    }

    /// Returns true if a path leads from the entry to `block`.
    pub(super) fn is_reachable(&self, block: usize) -> bool {
        self.immediate[block].is_some()
    }

    /// Returns the immediate dominator of a block; `None` for the entry and for unreachable blocks.
    pub(super) fn immediate(&self, block: usize) -> Option<u32> {
        self.immediate[block].filter(|immediate| *immediate as usize != block)
    }

    /// Returns the blocks that a block dominates, starting with itself; empty if it is unreachable.
    pub(super) fn dominated(&self, block: usize) -> &[u32] {
        let (start, end) = self.numbers[block];
        &self.preorder[start as usize..end as usize]
    }

    /// Returns true if every path from the entry to `block`, which must be reachable, contains
    /// `by`.
    pub(super) fn dominates(&self, by: usize, block: usize) -> bool {
        let (start, end) = self.numbers[by];
        let (at, _) = self.numbers[block];
        self.is_reachable(by) && (start..end).contains(&at)
    }
}

/// Computes the immediate dominator of each reachable block, the entry's being itself, by the
/// iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001).
fn immediate_dominators(edges: &[Vec<u32>], postorder: &[u32]) -> Vec<Option<u32>> {
    let mut immediate: Vec<Option<u32>> = vec![None; edges.len()];
    let Some(&entry) = postorder.last() else { return immediate };
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
    immediate[entry as usize] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in postorder.iter().rev().skip(1) {
            let known = predecessors[block as usize].iter().copied().filter(|p| immediate[*p as usize].is_some());
            let meet = |mut a: u32, mut b: u32| {
                while a != b {
                    let lower = if number[a as usize] < number[b as usize] { &mut a } else { &mut b };
                    *lower = immediate[*lower as usize].unwrap_or(entry);
                }
                a
            };
            let new = known.reduce(meet);
            if new != immediate[block as usize] {
                immediate[block as usize] = new;
                changed = true;
            }
        }
    }
    immediate
}

/// Returns the blocks reachable from block 0 in the postorder of a depth-first search.
pub(super) fn postorder(edges: &[Vec<u32>]) -> Vec<u32> {
    let mut order = Vec::with_capacity(edges.len());
    if edges.is_empty() {
        return order;
    }
    let mut seen = vec![false; edges.len()];
    seen[0] = true;
    // Each block with the number of its edges that have been followed.
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
