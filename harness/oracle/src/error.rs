//! Errors: modules that cannot be interpreted, and dispatches that cannot be run.

use crate::Slot;
use assay_spirv::module::InstructionIndex;

/// A place in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index of the instruction in the module.
    pub instruction: InstructionIndex,
    /// Line in the source, if the module has line information.
    pub line: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "instruction {}", self.instruction.0)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// A module that cannot be interpreted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// No entry point of that name.
    #[error("no compute entry point `{name}`; the module has {}", list(there))]
    NoEntryPoint {
        /// The requested name.
        name: String,
        /// The compute entry points of the module.
        there: Vec<String>,
    },
    /// A legal feature that the interpreter does not implement.
    #[error("unsupported: {what}, at {at}")]
    Unsupported {
        /// The feature, by its SPIR-V name.
        what: String,
        /// The place of its use.
        at: Place,
    },
    /// An error that no valid module has.
    #[error("the module is not valid: {what}, at {at}")]
    Invalid {
        /// The error.
        what: String,
        /// The place of the error.
        at: Place,
    },
    /// The module is too large for the interpreter.
    #[error("{what}: {found}, the limit is {limit}, at {at}")]
    TooLarge {
        /// The quantity that is too large.
        what: &'static str,
        /// Its value.
        found: u64,
        /// Its limit.
        limit: u64,
        /// The place where it is exceeded.
        at: Place,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A dispatch that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Nothing is bound to a descriptor that the program uses.
    #[error("{slot} is used by the shader but nothing is bound to it")]
    Unbound {
        /// The descriptor.
        slot: Slot,
    },
    /// The dispatch is too large.
    #[error("{what}: {found}, the limit is {limit}; dispatch fewer workgroups, or raise the limit")]
    TooLarge {
        /// The quantity that is too large.
        what: &'static str,
        /// Its value.
        found: u64,
        /// Its limit.
        limit: u64,
    },
    /// The dispatch takes more work than [`Limits::work`](crate::Limits::work).
    #[error("the dispatch takes more than {limit} units of work; dispatch fewer workgroups, or raise the limit")]
    TooMuchWork {
        /// The limit.
        limit: u64,
    },
    /// The dispatch is malformed: no device could run it.
    #[error("{0}")]
    Dispatch(String),
}
