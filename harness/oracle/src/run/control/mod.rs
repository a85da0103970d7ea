//! Control: the blocks that lanes execute, lanes that take both sides of an undecided branch,
//! tangles, and operands that must be uniform.

pub(super) mod flow;
pub(super) mod fork;
pub(super) mod repetition;
pub(super) mod tangles;
mod uniformity;
