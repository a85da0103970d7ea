//! Where a device put invocations, as the shader itself records it.

use crate::setup::Descriptor;
use crate::verdict::Comparison;
use assay_oracle::{Layout, Memory, Seat};
use assay_runner::{Mismatch, Status, class};

/// Bytes of the record of an invocation: `SubgroupId`, `SubgroupLocalInvocationId`, `SubgroupSize`, a word each.
const RECORD: usize = 12;

/// The first two words of the records of so many invocations, in the order of workgroups and local indices. The last word is not
/// looked at: it is known ([`recorded_size`]), and compared like all else.
fn seats(memory: &[u8], invocations: usize) -> impl Iterator<Item = Seat> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    memory.chunks_exact(RECORD).take(invocations).map(move |record| {
        let (subgroup, rest) = record.split_at(4);
        Seat { subgroup: word(subgroup), place: word(&rest[..4]) }
    })
}

/// The layout in the buffer of records, of workgroups of `lanes` invocations. `full`: its subgroups must be.
///
/// # Errors
/// What is impossible about it.
pub(crate) fn recorded(
    memory: &[u8],
    (groups, lanes): (usize, usize),
    size: u32,
    full: bool,
) -> Result<Layout, String> {
    let layout = Layout::recorded(seats(memory, groups.saturating_mul(lanes)).collect(), lanes, size)?;
    match layout.partial(lanes, size).filter(|_| full) {
        Some(what) => Err(what),
        None => Ok(layout),
    }
}

/// The first invocation that does not record where it is, if one does not: what the oracle has in the buffer under [`Layout::Linear`].
pub(crate) fn unrecorded(memory: &Memory, (groups, lanes): (usize, usize), size: u32) -> Option<usize> {
    let invocations = groups.saturating_mul(lanes);
    let seats = seats(memory.bytes(), invocations);
    let there = |(invocation, seat): (usize, Seat)| {
        let linear = Layout::Linear.seat(invocation / lanes, lanes, invocation % lanes, size);
        let words = (0..2).map(|word| (invocation * RECORD + word * 4) as u64);
        let known = words.into_iter().all(|offset| memory.cell_at(offset).is_none());
        known && linear == Some(seat)
    };
    let recorded = seats.enumerate().take_while(|one| there(*one)).count();
    (recorded < invocations).then_some(recorded)
}

/// The size that the first invocation recorded, if subgroups may have it.
pub(crate) fn recorded_size(memory: &[u8], sizes: &[u32]) -> Option<u32> {
    let word = memory.get(8..RECORD)?;
    sizes.iter().copied().find(|size| size.to_le_bytes() == word)
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
        class: class::IMPOSSIBLE_LAYOUT.into(),
        by: Mismatch::SPECIFICATION.into(),
    };
    Comparison::of_wrong(mismatch)
}
