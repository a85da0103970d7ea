//! The text form of modules, compatible with spirv-as and spirv-dis.

mod assemble;
mod disassemble;
mod lexer;
mod suggest;
mod target_env;

pub use assemble::{AssembleError, Spans, assemble, assemble_with_spans, states_version};
pub use disassemble::{Style, disassemble, disassemble_instruction};
pub use lexer::line_and_column;
pub use target_env::{TargetEnv, UnknownTargetEnv};
