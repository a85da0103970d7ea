//! Functions as blocks, edges and constructs of structured control flow.

use crate::error::Place;
use crate::inst::Reg;
use std::sync::Arc;

/// A jump to a block of the function, with the phi values that it carries.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) block: u32,
    /// Destination, source, number of scalars.
    pub(crate) phis: Box<[(Reg, Reg, u32)]>,
}

/// The terminator of a block.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Jump(Edge),
    If { condition: Decider, then: Edge, other: Edge },
    Switch { selector: Decider, cases: Box<[(u64, u32)]>, edges: Box<[Edge]> },
    Return { value: Option<Reg> },
    Unreachable,
}

impl End {
    /// The edges to other blocks.
    pub(crate) fn edges(&self) -> Vec<&Edge> {
        match self {
            End::Jump(edge) => vec![edge],
            End::If { then, other, .. } => vec![then, other],
            End::Switch { edges, .. } => edges.iter().collect(),
            End::Return { .. } | End::Unreachable => Vec::new(),
        }
    }
}

/// The value that a branch depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decider {
    pub(crate) reg: Reg,
    /// The operand is an `OpUndef` itself, not an instruction that uses one: branching on it is
    /// undefined behaviour.
    pub(crate) is_undef: bool,
}

/// A block. The blocks of a function are in the order in which waiting lanes are scheduled.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) code: std::ops::Range<u32>,
    pub(crate) end: End,
    /// The place of the terminator.
    pub(crate) at: Place,
    /// The innermost enclosing construct, by its number in the function.
    pub(crate) construct: Option<u32>,
    pub(crate) live: LiveRegisters,
}

/// Registers of a function that may still be read, ascending. Registers that several functions use are
/// not among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveRegisters {
    /// Before the block, after its phis.
    pub(crate) entry: Arc<[Reg]>,
    /// After the branch at its end, before the phis of the target.
    pub(crate) exit: Arc<[Reg]>,
    /// After a call of the block.
    pub(crate) calls: Arc<[Reg]>,
}

/// A construct of structured control flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Construct {
    /// The block at which it ends, unless that is unreachable.
    pub(crate) merge: Option<u32>,
    /// The enclosing construct, by its number in the function.
    pub(crate) parent: Option<u32>,
    /// For a selection, the block whose terminator begins it. A loop begins with its whole header.
    pub(crate) header: Option<u32>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) blocks: Vec<Block>,
    /// The constructs, outer ones first.
    pub(crate) constructs: Vec<Construct>,
    /// First register of the result.
    pub(crate) result: Reg,
    pub(crate) result_scalars: u32,
}

impl Function {
    /// Returns true if a block is inside a construct.
    pub(crate) fn is_inside(&self, block: u32, construct: u32) -> bool {
        let parent = |inner: &u32| self.constructs.get(*inner as usize).and_then(|inner| inner.parent);
        let innermost = self.blocks.get(block as usize).and_then(|block| block.construct);
        std::iter::successors(innermost, parent).any(|around| around == construct)
    }

    /// The innermost construct that was entered before the block.
    pub(crate) fn entered_before(&self, block: u32) -> Option<u32> {
        let innermost = self.blocks.get(block as usize)?.construct?;
        match self.constructs.get(innermost as usize) {
            Some(construct) if construct.header == Some(block) => construct.parent,
            _ => Some(innermost),
        }
    }

    /// Returns true if a construct ends at a block.
    pub(crate) fn ends_at(&self, construct: u32, block: u32) -> bool {
        self.constructs.get(construct as usize).is_some_and(|construct| construct.merge == Some(block))
    }
}
