//! `storage8.*`: SPV_KHR_8bit_storage.

mod convert;
mod storage;

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
        cases
    }
}

/// The document that all of it rests on.
const CLAUSE: &str = "SPV_KHR_8bit_storage";

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str) -> About {
    About { instruction, types: types.into(), rule, clause: CLAUSE }
}
