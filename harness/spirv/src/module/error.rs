//! Errors of reading a module.

use super::Section;
use crate::decode::GrammarViolation;
use crate::tables::Op;
use crate::words::{MAX_ID, WordsError};

/// An error of reading a module, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("word {at}: {kind}")]
pub struct ModuleError {
    /// Index of the first word of the instruction at fault.
    pub at: usize,
    /// The kind of error.
    #[source]
    pub kind: ModuleErrorKind,
}

/// A reason why words do not form a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleErrorKind {
    /// The words cannot be split into instructions.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// An instruction's operands do not conform to the grammar.
    #[error("{op}: {anomaly}")]
    Operands {
        /// The instruction.
        op: Op,
        /// The first problem with its operands.
        anomaly: GrammarViolation,
    },
    /// The header's id bound is 0 or too large.
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
    /// Two instructions define the same id.
    #[error("id {id} is defined twice")]
    Redefined {
        /// The id.
        id: u32,
    },
    /// An id is used, but no instruction defines it.
    #[error("id {id} is used but not defined")]
    Undefined {
        /// The id.
        id: u32,
    },
    /// A type declaration refers to an id that no earlier instruction declares as a type.
    #[error("{op} refers to id {id}, which is not a type declared before it")]
    UnknownType {
        /// The instruction.
        op: Op,
        /// The id.
        id: u32,
    },
    /// An instruction is in the wrong section.
    #[error("{op} belongs to section {belongs:?}, but follows the start of section {after:?}")]
    Section {
        /// The instruction.
        op: Op,
        /// Its section.
        belongs: Section,
        /// A later section that has begun.
        after: Section,
    },
    /// An instruction is outside a function, or outside a block.
    #[error("{op} is outside a {expected}")]
    MisplacedInstruction {
        /// The instruction.
        op: Op,
        /// The enclosing part that it requires.
        expected: &'static str,
    },
    /// A block or function has no end, or another one starts inside it.
    #[error("{found} inside an unfinished {unfinished}")]
    UnterminatedPart {
        /// The unexpected instruction, or the end of the module.
        found: &'static str,
        /// The unfinished part.
        unfinished: &'static str,
    },
    /// A branch or merge instruction refers to an id that is not a block of its function.
    #[error("{op} refers to id {id}, which is not a block of its function")]
    UnknownBlock {
        /// The instruction.
        op: Op,
        /// The id.
        id: u32,
    },
    /// A merge instruction does not immediately precede the last instruction of its block.
    #[error("{op} does not immediately precede the last instruction of its block")]
    MisplacedMerge {
        /// The instruction.
        op: Op,
    },
    /// A size exceeds a limit.
    #[error("{what} {found} exceeds the limit of {limit}")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The quantity found.
        found: usize,
        /// The limit.
        limit: usize,
    },
}
