//! SPIR-V as data: grammar tables, words, text, modules and what they need and may not do.
//!
//! * [`grammar`]: instructions, operand kinds and enumerants, from the generated [`tables`].
//! * [`Module`]: words as sections, dense ids, interned types, functions, blocks and control flow.
//! * [`reflect`]: entry points, bindings, layouts, specialisation constants.
//! * [`need`]: what a module needs of a device, what a device has, and what is missing.
//! * [`rules`]: what a module may not do.
//! * [`edit`]: changes to a module's words.
//! * [`sampling`]: states of samplers and views, and which texels they pick.
//! * [`inspect`]: all of it about one file, as data and as text.
//! * [`kernel`]: what a kernel is called with, where no Vulkan device takes it.
//! * [`lower`]: extensions rewritten in core SPIR-V.
//! * [`assemble`] and [`disassemble`]: text as spirv-as and spirv-dis read and write it.

mod decode;
pub mod edit;
pub mod grammar;
mod hash;
mod id_table;
pub mod inspect;
pub mod kernel;
pub mod lower;
pub mod module;
pub mod need;
mod number;
pub mod reflect;
pub mod rules;
pub mod sampling;
pub mod tables;
mod text;
mod words;

pub use decode::Anomaly;
pub use module::{Module, ModuleError};
pub use text::{AssembleError, Spans, Style, TargetEnv, UnknownTargetEnv, assemble, assemble_with_spans, disassemble};
pub use words::{Header, MAGIC, MAX_ID, WordsError, words_from_bytes};
