//! The text form, as spirv-as reads it and spirv-dis writes it.

mod assemble;
mod disassemble;
mod lexer;
mod nearest;
mod target_env;

pub use assemble::{AssembleError, Spans, assemble, assemble_with_spans};
pub use disassemble::{Style, disassemble};
pub(crate) use lexer::position;
pub use target_env::{TargetEnv, UnknownTargetEnv};
