//! Why a module cannot be interpreted, or a dispatch not be run.

use crate::Slot;
use assay_spirv::module::Index;

/// Where something is in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The instruction, by its place in the module.
    pub instruction: Index,
    /// Its line in the source, where the module has lines.
    pub line: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "instruction {}", self.instruction.0)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// No entry point of that name.
    #[error("no compute entry point `{name}`; the module has {}", list(there))]
    NoEntryPoint {
        /// The name asked for.
        name: String,
        /// The compute entry points that there are.
        there: Vec<String>,
    },
    /// Something legal that this interpreter does not implement.
    #[error("unsupported: {what}, at {at}")]
    Unsupported {
        /// What, by the name that SPIR-V gives it.
        what: String,
        /// Where.
        at: Place,
    },
    /// Something that no valid module has.
    #[error("the module is not valid: {what}, at {at}")]
    Invalid {
        /// What is wrong.
        what: String,
        /// Where.
        at: Place,
    },
    /// The module is too large for the interpreter.
    #[error("{what}: {found}, of at most {limit}, at {at}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
        /// Where.
        at: Place,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Why a dispatch cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A descriptor that the program uses has nothing bound.
    #[error("{slot} is used by the shader but nothing is bound to it")]
    Unbound {
        /// The descriptor.
        slot: Slot,
    },
    /// The dispatch is too large.
    #[error("{what}: {found}, of at most {limit}; dispatch less, or raise the limit")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
    },
    /// The dispatch says something that no device can be asked for.
    #[error("{0}")]
    Dispatch(String),
}
