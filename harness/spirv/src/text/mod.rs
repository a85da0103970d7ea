//! The text form, as spirv-as reads it and spirv-dis writes it.

mod assemble;
mod disassemble;
mod lexer;
mod nearest;

pub use assemble::{AssembleError, assemble};
pub use disassemble::{Style, disassemble};
