//! A reference interpreter of SPIR-V compute shaders over permitted sets.
//!
//! * [`Dispatch`]: what a shader is run with; [`Limits`]: what that may cost.
//! * [`Outcome`]: memory after the dispatch. Each value is exact bits, or a set of permitted ones, or not determined with
//!   its cause; and the undefined behaviour of the shader, which is no driver's fault.

mod decode;
mod dispatch;
mod error;
mod form;
mod inst;
mod integer;
mod memory;
mod outcome;
mod program;
mod run;
mod site;
mod ty;
mod value;

pub use dispatch::{Buffer, Dispatch, Limits, Resource, Robustness, Slot, SpecValues};
pub use error::{Place, ProgramError, RunError};
pub use outcome::{Cause, CauseKind, Cell, Expected, Fault, FaultKind, Memory, Outcome};
pub use program::Program;
