//! Tests of the SPIR-V crate: text, rules, requirements, lowering and reports.

mod agreement;
mod corpus;
mod device;
mod every_instruction;
mod examples;
mod fuzz;
mod inspect;
mod lower;
mod memory;
mod module;
mod rules;
mod sizes;
#[expect(dead_code, reason = "the example `agreement` of assay-vulkan needs more of it")]
mod support;
mod text;
