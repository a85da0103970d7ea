//! Where a device put invocations, as the shader itself records it.

use crate::setup::Descriptor;
use crate::verdict::Comparison;
use assay_oracle::{Layout, Seat};
use assay_runner::{Mismatch, Status};

/// Bytes of the record of an invocation: `SubgroupId`, `SubgroupLocalInvocationId`, `SubgroupSize`, a word each.
const RECORD: usize = 12;

/// The layout in the buffer of records, a record for each invocation in the order of workgroups and local indices. The last
/// word is not looked at: it is known, and compared like all else.
///
/// # Errors
/// What is impossible about it.
pub(crate) fn recorded(memory: &[u8], lanes: usize, size: u32) -> Result<Layout, String> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let seats = memory.chunks_exact(RECORD).map(|record| {
        let (subgroup, rest) = record.split_at(4);
        Seat { subgroup: word(subgroup), place: word(&rest[..4]) }
    });
    Layout::recorded(seats.collect(), lanes, size)
}

/// A layout that cannot be, as what a comparison came to.
pub(crate) fn impossible(what: &str, records: Option<&Descriptor>, round: u32) -> Comparison {
    let mismatch = Mismatch {
        status: Status::Fail,
        round,
        buffer: records.map_or_else(String::new, Descriptor::label),
        element: String::new(),
        offset: 0,
        scalar: "u32".into(),
        invocation: None,
        before: String::new(),
        got: what.to_owned(),
        permitted: Vec::new(),
        class: "ImpossibleLayout".into(),
        by: Mismatch::SPECIFICATION.into(),
    };
    Comparison { checked: 1, failing: 1, mismatches: vec![mismatch], ..Comparison::default() }
}
