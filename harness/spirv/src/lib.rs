//! SPIR-V as data: grammar, binary and text form, parsed modules, device requirements and validity
//! rules.
//!
//! * [`grammar`]: instructions, operand kinds and enumerants, from the generated [`tables`].
//! * [`Module`]: words as sections, dense ids, interned types, functions, blocks and control flow.
//! * [`reflect`]: entry points, bindings, layouts, specialisation constants.
//! * [`requirements`]: device requirements of a module, device capabilities, and their comparison.
//! * [`rules`]: validity rules for modules.
//! * [`edit`]: edits of a module's words.
//! * [`texture_addressing`]: state of samplers and views, and the selection of texels.
//! * [`inspect`]: a report on one file, as data and as text.
//! * [`kernel_call`]: arguments of OpenCL kernels, which Vulkan devices do not run directly.
//! * [`lower`]: rewriting of extensions to core SPIR-V.
//! * [`assemble`] and [`disassemble`]: the text form of spirv-as and spirv-dis.

mod capability;
mod decode;
pub mod edit;
mod generator;
pub mod grammar;
mod hash;
mod id_table;
pub mod inspect;
pub mod kernel_call;
pub mod lower;
pub mod module;
mod number;
pub mod reflect;
pub mod requirements;
pub mod rules;
pub mod tables;
mod text;
pub mod texture_addressing;
mod words;

pub use decode::GrammarViolation;
pub use module::{Module, ModuleError};
pub use text::{AssembleError, Spans, Style, TargetEnv, UnknownTargetEnv, assemble, assemble_with_spans, disassemble};
pub use words::{Header, MAGIC, MAX_ID, WordsError, begins_with_magic, words_from_bytes};
