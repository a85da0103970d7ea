//! Branches between blocks, by their targets.

use assay_spirv::Module;
use assay_spirv::module::BlockIndex;

/// Branches of all functions as pairs (target, source), sorted and without duplicates.
pub(crate) struct Branches(Vec<(BlockIndex, BlockIndex)>);

impl Branches {
    /// Collects the branches of a module.
    pub(crate) fn new(module: &Module) -> Branches {
        let mut all = Vec::new();
        for (from, of) in (0..).map(BlockIndex).zip(module.blocks()) {
            all.extend(module.targets(of).into_iter().filter_map(|word| Some((module.block_of(word)?, from))));
        }
        all.sort_unstable();
        all.dedup();
        Branches(all)
    }

    /// Returns the branches to a block, as pairs (block, source).
    pub(crate) fn to(&self, block: BlockIndex) -> &[(BlockIndex, BlockIndex)] {
        let rest = &self.0[self.0.partition_point(|(to, _)| *to < block)..];
        &rest[..rest.partition_point(|(to, _)| *to == block)]
    }
}
