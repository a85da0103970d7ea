//! The text form of modules, compatible with spirv-as and spirv-dis.

mod assemble;
mod disassemble;
mod lexer;
mod suggest;
mod target_env;

pub(crate) use assemble::states_version;
pub use assemble::{AssembleError, Spans, assemble, assemble_with_spans};
pub(crate) use disassemble::disassemble_instruction;
pub use disassemble::{Style, disassemble};
pub(crate) use lexer::position;
pub use target_env::{TargetEnv, UnknownTargetEnv};
