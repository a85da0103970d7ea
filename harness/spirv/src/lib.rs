//! SPIR-V as data: grammar, binary and text form, parsed modules, interfaces and edits.
//!
//! * [`grammar`]: instructions, operand kinds and enumerants, from the generated [`tables`].
//! * [`Module`]: words as sections, dense ids, interned types, functions, blocks and control flow.
//! * [`reflect`]: entry points, bindings, layouts, specialisation constants.
//! * [`edit`]: edits of a module's words.
//! * [`hash`]: maps and sets keyed by short names, numbers or ids.
//! * [`kernel_call`]: arguments of OpenCL kernels, which Vulkan devices do not run directly.
//! * [`assemble`] and [`disassemble`]: the text form of spirv-as and spirv-dis.

mod capability;
mod decode;
pub mod edit;
mod generator;
pub mod grammar;
pub mod hash;
mod id_table;
mod image_format;
pub mod kernel_call;
pub mod module;
mod number;
pub mod reflect;
pub mod tables;
mod text;
mod words;

pub use decode::{GrammarViolation, OperandLayout};
pub use image_format::SampledType;
pub use module::{Module, ModuleError};
pub use text::{
    AssembleError, Spans, Style, TargetEnv, UnknownTargetEnv, assemble, assemble_with_spans, disassemble,
    disassemble_instruction, line_and_column, states_version,
};
pub use words::{Header, MAGIC, MAX_ID, WordsError, begins_with_magic, words_from_bytes};
