//! `environment.*`: requirements of the Vulkan environment for SPIR-V that a device can violate.

mod atomic_operations;
mod bit_preservation;
mod capabilities;
mod conversions;
mod image_formats;
mod indexing_addresses;
mod integer_arithmetic;
mod operand_rows;
mod robustness;
mod subgroup;
mod uniform_bounds;
mod wide_indices;
mod workgroup_memory;

use crate::{Case, CaseSubject, Suite};

/// The suite.
#[derive(Debug)]
pub(crate) struct Environment;

impl Suite for Environment {
    fn name(&self) -> &'static str {
        "environment"
    }

    fn purpose(&self) -> &'static str {
        "results that are exact on every device that accepts a module: integers, conversions, texels, atomics, memory, subgroups"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        cases.extend(integer_arithmetic::cases());
        cases.extend(conversions::cases());
        cases.extend(bit_preservation::cases());
        cases.extend(image_formats::cases());
        cases.extend(atomic_operations::cases());
        cases.extend(workgroup_memory::cases());
        cases.extend(subgroup::cases());
        cases.extend(robustness::cases());
        cases.extend(uniform_bounds::cases());
        cases.extend(wide_indices::cases());
        cases.extend(indexing_addresses::cases());
        cases.extend(capabilities::cases());
        cases
    }
}

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str, clause: &'static str) -> CaseSubject {
    CaseSubject { instruction, types: types.into(), rule, clause }
}
