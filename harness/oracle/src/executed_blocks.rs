//! Executed blocks of a program.

/// Executions of each block, by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedBlocks(Vec<Vec<Executions>>);

/// Executions of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executions {
    /// Number of times that invocations executed it, or may have executed it.
    pub(crate) possible: u64,
    /// Number of times that invocations certainly executed it: no branch before it is undecided.
    pub(crate) certain: u64,
}

impl Executions {
    fn add(&mut self, other: Executions) {
        self.possible = self.possible.saturating_add(other.possible);
        self.certain = self.certain.saturating_add(other.certain);
    }
}

impl ExecutedBlocks {
    /// Adds the blocks of another run of the same program.
    pub fn add(&mut self, other: &ExecutedBlocks) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let pairs = self.0.iter_mut().flatten().zip(other.0.iter().flatten());
        pairs.for_each(|(here, there)| here.add(*there));
    }

    /// Returns no blocks of functions with these numbers of them.
    pub(crate) fn none_of(blocks: impl Iterator<Item = usize>) -> ExecutedBlocks {
        ExecutedBlocks(blocks.map(|blocks| vec![Executions::default(); blocks]).collect())
    }

    /// Adds executions of a block.
    pub(crate) fn insert(&mut self, BlockNumber { function, block }: BlockNumber, executions: Executions) {
        self.0[function as usize][block as usize].add(executions);
    }

    /// Returns the executions of a block.
    pub(crate) fn of(&self, BlockNumber { function, block }: BlockNumber) -> Executions {
        self.0.get(function as usize).map_or_else(Executions::default, |blocks| blocks[block as usize])
    }

    /// Returns true if some invocation executed a block, or may have executed it.
    pub(crate) fn contains(&self, block: BlockNumber) -> bool {
        self.of(block).possible > 0
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
