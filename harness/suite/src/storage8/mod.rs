//! `storage8.*`: SPV_KHR_8bit_storage.

mod adjacent_writes;
mod arrays;
mod byte_extension;
mod byte_storage;
mod device_addresses;
mod mixed_structs;
mod number_conversions;
mod offsets;
mod variable_pointers;

use crate::case::covering;
use crate::{Case, CaseSubject, Suite};

/// The suite.
#[derive(Debug)]
pub(crate) struct Storage8;

impl Suite for Storage8 {
    fn name(&self) -> &'static str {
        "storage8"
    }

    fn purpose(&self) -> &'static str {
        "bytes in buffers and push constants: loads and stores at the right place, correct extension, unchanged neighbours"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        cases.extend(byte_extension::cases());
        cases.extend(number_conversions::cases());
        cases.extend(offsets::cases());
        cases.extend(arrays::cases());
        cases.extend(mixed_structs::cases());
        cases.extend(variable_pointers::cases());
        cases.extend(device_addresses::cases());
        cases.extend(covering(adjacent_writes::cases(), &["SPV_KHR_8bit_storage/neighbours"]));
        cases
    }
}

/// The document that states the requirements.
const CLAUSE: &str = "SPV_KHR_8bit_storage";

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str) -> CaseSubject {
    CaseSubject { instruction, types: types.into(), rule, clause: CLAUSE }
}
