//! Blocks that an invocation may execute more than once.

use assay_spirv::Module;
use assay_spirv::module::{BlockIndex, ConstructKind, Instruction};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the blocks in an entry point's functions that an invocation may execute more than once:
/// those in loops, and those of functions that are called more than once or from such a block.
pub(crate) fn repeated_blocks(module: &Module, usage: &EntryPointUses) -> BTreeSet<BlockIndex> {
    let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let mut repeated: BTreeSet<BlockIndex> = BTreeSet::new();
    for function in functions() {
        let flow = module.flow(function);
        let in_loop = |block: &BlockIndex| {
            let mut around = flow.innermost_construct(*block);
            while let Some(construct) = around.and_then(|at| flow.constructs().get(at)) {
                if construct.kind == ConstructKind::Loop {
                    return true;
                }
                around = construct.parent;
            }
            false
        };
        repeated.extend(function.blocks.clone().map(BlockIndex).filter(in_loop));
    }
    // Fixed point over the call graph. A call in a repeated block counts twice.
    loop {
        let mut calls: BTreeMap<u32, usize> = BTreeMap::new();
        for block in functions().flat_map(|f| f.blocks.clone()).map(BlockIndex) {
            let calling = |i: &Instruction<'_>| i.op == Some(Op::FunctionCall);
            for i in module.instructions_in(module.block(block).instructions.clone()).filter(calling) {
                let count = calls.entry(i.operand(0).unwrap_or(0)).or_default();
                *count += if repeated.contains(&block) { 2 } else { 1 };
            }
        }
        let before = repeated.len();
        let often = functions().filter(|f| calls.get(&f.id).is_some_and(|count| *count > 1));
        repeated.extend(often.flat_map(|f| f.blocks.clone()).map(BlockIndex));
        if repeated.len() == before {
            return repeated;
        }
    }
}
