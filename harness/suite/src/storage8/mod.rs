//! `storage8.*`: SPV_KHR_8bit_storage.

mod addresses;
mod arrays;
mod convert;
mod neighbours;
mod numbers;
mod place;
mod pointers;
mod storage;
mod structs;

use crate::case::covering;
use crate::{About, Case, Suite};

/// The suite.
#[derive(Debug)]
pub(crate) struct Storage8;

impl Suite for Storage8 {
    fn name(&self) -> &'static str {
        "storage8"
    }

    fn why(&self) -> &'static str {
        "bytes in buffers and push constants: read and written where they lie, extended as asked, neighbours untouched"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        cases.extend(convert::cases());
        cases.extend(numbers::cases());
        cases.extend(place::cases());
        cases.extend(arrays::cases());
        cases.extend(structs::cases());
        cases.extend(pointers::cases());
        cases.extend(addresses::cases());
        cases.extend(covering(neighbours::cases(), &["SPV_KHR_8bit_storage/neighbours"]));
        cases
    }
}

/// The document that all of it rests on.
const CLAUSE: &str = "SPV_KHR_8bit_storage";

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str) -> About {
    About { instruction, types: types.into(), rule, clause: CLAUSE }
}
