//! Subgroup layout that the shader, or an instrumented variant of it, records on the device.

use crate::compare::Comparison;
use crate::instrument::SubgroupPlace;
use assay_events::{Mismatch, Status, class_names};
use assay_oracle::{Memory, SubgroupLayout, SubgroupPosition};

/// Bytes of an invocation's record: `SubgroupId`, `SubgroupLocalInvocationId` and `SubgroupSize`, a
/// word each.
const RECORD_BYTES: usize = 12;

/// Reads the first two words of each record, in the order of workgroups and local indices. The last
/// word is known ([`recorded_subgroup_size`]) and is compared like any other element.
fn read_seats(memory: &[u8], invocations: usize) -> impl Iterator<Item = SubgroupPosition> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    memory.chunks_exact(RECORD_BYTES).take(invocations).map(move |record| {
        let (subgroup, rest) = record.split_at(4);
        SubgroupPosition { subgroup: word(subgroup), place: word(&rest[..4]) }
    })
}

/// Reads the layout of workgroups with `lanes` invocations from the buffer of records. `full`
/// requires full subgroups.
///
/// # Errors
/// The reason why the layout is impossible.
pub(crate) fn recorded_layout(
    memory: &[u8],
    (groups, lanes): (usize, usize),
    size: u32,
    full: bool,
) -> Result<SubgroupLayout, String> {
    possible_layout(read_seats(memory, groups.saturating_mul(lanes)).collect(), lanes, size, full)
}

/// Returns the common subgroup size of places that workgroups with `lanes` invocations recorded.
///
/// # Errors
/// An invocation has a size that is not in `sizes`, or another one than the first invocation.
pub(crate) fn common_subgroup_size(places: &[SubgroupPlace], lanes: usize, sizes: &[u32]) -> Result<u32, String> {
    let first = places.first().map_or(0, |place| place.size);
    let says = |(invocation, place): (usize, &SubgroupPlace)| {
        let (lane, group) = (invocation % lanes.max(1), invocation / lanes.max(1));
        format!("invocation {lane} of workgroup {group} says that SubgroupSize is {}", place.size)
    };
    let mut all = places.iter().enumerate();
    match all.find(|(_, place)| !sizes.contains(&place.size) || place.size != first) {
        None => Ok(first),
        Some(wrong) if sizes.contains(&wrong.1.size) => {
            Err(format!("{}; the first invocation says that it is {first}", says(wrong)))
        }
        Some(wrong) => {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            Err(format!("{}; permitted: {}", says(wrong), sizes.join(", ")))
        }
    }
}

/// Checks the layout of workgroups with `lanes` invocations. `full` requires full subgroups.
///
/// # Errors
/// The reason why the layout is impossible.
pub(crate) fn possible_layout(
    seats: Vec<SubgroupPosition>,
    lanes: usize,
    size: u32,
    full: bool,
) -> Result<SubgroupLayout, String> {
    let layout = SubgroupLayout::recorded(seats, lanes, size)?;
    match layout.partial(lanes, size).filter(|_| full) {
        Some(what) => Err(what),
        None => Ok(layout),
    }
}

/// Returns the first invocation that does not record its place in the subgroup, as shown by the
/// oracle's buffer under [`SubgroupLayout::Linear`].
pub(crate) fn first_unrecorded(memory: &Memory, (groups, lanes): (usize, usize), size: u32) -> Option<usize> {
    let invocations = groups.saturating_mul(lanes);
    let seats = read_seats(memory.bytes(), invocations);
    let there = |(invocation, seat): (usize, SubgroupPosition)| {
        let linear = SubgroupLayout::Linear.seat(invocation / lanes, lanes, invocation % lanes, size);
        let words = (0..2).map(|word| (invocation * RECORD_BYTES + word * 4) as u64);
        let known = words.into_iter().all(|offset| memory.cell_at(offset).is_none());
        known && linear == Some(seat)
    };
    let recorded = seats.enumerate().take_while(|one| there(*one)).count();
    (recorded < invocations).then_some(recorded)
}

/// Returns the subgroup size that the first invocation recorded, if it is a valid one.
pub(crate) fn recorded_subgroup_size(memory: &[u8], sizes: &[u32]) -> Option<u32> {
    let word = memory.get(8..RECORD_BYTES)?;
    sizes.iter().copied().find(|size| size.to_le_bytes() == word)
}

/// Returns a failing comparison for an impossible layout. `records` names the buffer of the
/// records.
pub(crate) fn impossible_layout(what: &str, records: String, round: u32) -> Comparison {
    let mismatch = Mismatch {
        status: Status::Fail,
        round,
        buffer: records,
        element: String::new(),
        offset: 0,
        scalar: "u32".into(),
        invocation: None,
        before: String::new(),
        got: what.to_owned(),
        permitted: Vec::new(),
        class: class_names::IMPOSSIBLE_LAYOUT.into(),
        by: Mismatch::SPECIFICATION.into(),
    };
    Comparison::of_wrong(mismatch)
}
