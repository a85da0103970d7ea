//! Executed blocks of a program.

/// Blocks that some invocation executed, or may have executed, by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedBlocks(Vec<Vec<bool>>);

impl ExecutedBlocks {
    /// Adds the blocks of another run of the same program.
    pub fn add(&mut self, other: &ExecutedBlocks) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
        }
        let pairs = self.0.iter_mut().flatten().zip(other.0.iter().flatten());
        pairs.for_each(|(here, there)| *here |= there);
    }

    /// Returns no blocks of functions with these numbers of them.
    pub(crate) fn none_of(blocks: impl Iterator<Item = usize>) -> ExecutedBlocks {
        ExecutedBlocks(blocks.map(|blocks| vec![false; blocks]).collect())
    }

    /// Adds a block.
    pub(crate) fn insert(&mut self, BlockNumber { function, block }: BlockNumber) {
        self.0[function as usize][block as usize] = true;
    }

    pub(crate) fn contains(&self, BlockNumber { function, block }: BlockNumber) -> bool {
        self.0.get(function as usize).is_some_and(|blocks| blocks[block as usize])
    }
}

/// A block of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockNumber {
    /// Function, by its number in the program.
    pub(crate) function: u32,
    /// Block, by its number in the function.
    pub(crate) block: u32,
}
