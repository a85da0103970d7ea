//! Tests of the SPIR-V crate: text, modules and interfaces.

mod agreement;
mod every_instruction;
mod instruction_forms;
mod module;
mod reflect;
mod spirv_tools;
mod text;
