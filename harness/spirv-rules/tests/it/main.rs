//! Tests of rules, requirements and reports.

mod agreement;
mod corpus;
mod device;
mod examples;
mod fuzz;
mod inspect;
mod memory;
mod rules;
mod sizes;
#[path = "../../../spirv/tests/it/spirv_tools.rs"]
mod spirv_tools;
#[expect(dead_code, reason = "the example `agreement` of assay-vulkan needs more of it")]
mod support;
