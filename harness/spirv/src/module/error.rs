//! Why words are no module.

use super::Section;
use crate::decode::Anomaly;
use crate::tables::Op;
use crate::words::{MAX_ID, WordsError};

/// Why words are no module, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("word {at}: {kind}")]
pub struct ModuleError {
    /// Index of the first word of the instruction at fault.
    pub at: usize,
    /// What is wrong.
    #[source]
    pub kind: ModuleErrorKind,
}

/// What makes words no module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleErrorKind {
    /// The words do not even split into instructions.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// An instruction's operands are not what the grammar says.
    #[error("{op}: {anomaly}")]
    Operands {
        /// The instruction.
        op: Op,
        /// What is wrong with its operands.
        anomaly: Anomaly,
    },
    /// The header's bound is too large.
    #[error("id bound {bound}, expected 1 to {}", MAX_ID + 1)]
    Bound {
        /// The bound.
        bound: u32,
    },
    /// An id is not below the header's bound.
    #[error("id {id} is not below the bound {bound}")]
    IdOutOfBound {
        /// The id.
        id: u32,
        /// The header's bound.
        bound: u32,
    },
    /// Two instructions make the same id.
    #[error("id {id} is made a second time")]
    Redefined {
        /// The id.
        id: u32,
    },
    /// No instruction makes an id that is used.
    #[error("id {id} is used, but no instruction makes it")]
    Undefined {
        /// The id.
        id: u32,
    },
    /// A type is built of an id that is no type declared before.
    #[error("{op} is built of id {id}, which is no type declared before it")]
    NotAType {
        /// The instruction.
        op: Op,
        /// The id.
        id: u32,
    },
    /// An instruction stands in the wrong section.
    #[error("{op} belongs to the section {belongs:?}, but stands after the section {after:?} began")]
    Section {
        /// The instruction.
        op: Op,
        /// Its section.
        belongs: Section,
        /// A later section that has begun.
        after: Section,
    },
    /// An instruction stands outside a function, or outside a block.
    #[error("{op} stands outside a {expected}")]
    Outside {
        /// The instruction.
        op: Op,
        /// What it must stand in.
        expected: &'static str,
    },
    /// A block or function has no end, or another starts inside it.
    #[error("{found} inside a {unfinished}, expected its end")]
    Unfinished {
        /// What was found.
        found: &'static str,
        /// What is not finished.
        unfinished: &'static str,
    },
    /// A branch or merge instruction names something that is no block of its function.
    #[error("{op} names id {id}, which is no block of its function")]
    NotABlock {
        /// The instruction.
        op: Op,
        /// The id.
        id: u32,
    },
    /// A merge instruction does not stand right before the end of its block.
    #[error("{op} does not stand right before the last instruction of its block")]
    MergePlace {
        /// The instruction.
        op: Op,
    },
    /// More than a limit allows.
    #[error("{what}: {found}, at most {limit} can be")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
}
