//! The tree of dominators of a graph of numbered blocks.

/// Which blocks come before which others on every way from the first block.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Immediate dominator by block; itself for the first, `None` for what nothing reaches.
    above: Vec<Option<u32>>,
    /// By block: its number in a walk over the tree, and the end of the numbers below it.
    numbers: Vec<(u32, u32)>,
    /// The blocks in the order of their numbers.
    walk: Vec<u32>,
}

impl Tree {
    /// The tree of the blocks with these edges, in a postorder of theirs.
    pub(super) fn new(edges: &[Vec<u32>], postorder: &[u32]) -> Tree {
        let above = immediate_dominators(edges, postorder);
        let parent = |block: u32| above[block as usize].filter(|parent| *parent != block);
        // In postorder what is below a block comes before it, in reverse after it.
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
        let mut walk = vec![0; postorder.len()];
        for &block in postorder {
            walk[numbers[block as usize].0 as usize] = block;
        }
        Tree { above, numbers, walk }
    }

    /// Whether some way leads to a block.
    pub(super) fn reaches(&self, block: usize) -> bool {
        self.above[block].is_some()
    }

    /// The immediate dominator of a block; `None` for the first and for what nothing reaches.
    pub(super) fn above(&self, block: usize) -> Option<u32> {
        self.above[block].filter(|above| *above as usize != block)
    }

    /// The blocks that a block dominates, itself first; none of what nothing reaches.
    pub(super) fn below(&self, block: usize) -> &[u32] {
        let (start, end) = self.numbers[block];
        &self.walk[start as usize..end as usize]
    }

    /// Whether every way to `block`, which some way leads to, goes through `by`.
    pub(super) fn dominates(&self, by: usize, block: usize) -> bool {
        let (start, end) = self.numbers[by];
        let (at, _) = self.numbers[block];
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

/// The blocks that the first leads to, each after those that it leads to first.
pub(super) fn postorder(edges: &[Vec<u32>]) -> Vec<u32> {
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
