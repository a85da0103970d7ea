//! Executed blocks of a program.

/// Number of times that invocations executed each block, or may have executed it, by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedBlocks(Vec<Vec<u64>>);

impl ExecutedBlocks {
    /// Adds the blocks of another run of the same program.
    pub fn add(&mut self, other: &ExecutedBlocks) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let pairs = self.0.iter_mut().flatten().zip(other.0.iter().flatten());
        pairs.for_each(|(here, there)| *here = here.saturating_add(*there));
    }

    /// Returns no blocks of functions with these numbers of them.
    pub(crate) fn none_of(blocks: impl Iterator<Item = usize>) -> ExecutedBlocks {
        ExecutedBlocks(blocks.map(|blocks| vec![0; blocks]).collect())
    }

    /// Adds the execution of a block by a number of invocations.
    pub(crate) fn insert(&mut self, BlockNumber { function, block }: BlockNumber, invocations: usize) {
        let times = &mut self.0[function as usize][block as usize];
        *times = times.saturating_add(invocations as u64);
    }

    /// Returns the number of times that invocations executed a block.
    pub(crate) fn times(&self, BlockNumber { function, block }: BlockNumber) -> u64 {
        self.0.get(function as usize).map_or(0, |blocks| blocks[block as usize])
    }

    pub(crate) fn contains(&self, block: BlockNumber) -> bool {
        self.times(block) > 0
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
