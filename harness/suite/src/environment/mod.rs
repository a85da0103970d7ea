//! `environment.*`: what the Vulkan environment for SPIR-V requires and a device can get wrong.

mod apply;
mod atomics;
mod bits;
mod capability;
mod convert;
mod formats;
mod indexing;
mod indexing_addresses;
mod integer;
mod robustness;
mod subgroup;
mod uniform;
mod workgroup;

use crate::{About, Case, Suite};

/// The suite.
#[derive(Debug)]
pub(crate) struct Environment;

impl Suite for Environment {
    fn name(&self) -> &'static str {
        "environment"
    }

    fn why(&self) -> &'static str {
        "what every device that takes a module has to compute exactly: integers, conversions, texels, atomics, memory, subgroups"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        cases.extend(integer::cases());
        cases.extend(convert::cases());
        cases.extend(bits::cases());
        cases.extend(formats::cases());
        cases.extend(atomics::cases());
        cases.extend(workgroup::cases());
        cases.extend(subgroup::cases());
        cases.extend(robustness::cases());
        cases.extend(uniform::cases());
        cases.extend(indexing::cases());
        cases.extend(indexing_addresses::cases());
        cases.extend(capability::cases());
        cases
    }
}

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str, clause: &'static str) -> About {
    About { instruction, types: types.into(), rule, clause }
}
