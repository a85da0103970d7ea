//! Layout of subgroups: the subgroup of each invocation of a dispatch.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The position of an invocation in the subgroups of its workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubgroupPosition {
    /// `SubgroupId`: number of the subgroup in the workgroup.
    pub subgroup: u32,
    /// `SubgroupLocalInvocationId`: number of the invocation in the subgroup.
    pub place: u32,
}

/// The layout of invocations in subgroups, which the specification leaves to the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SubgroupLayout {
    /// Unknown: results that depend on it are undetermined.
    #[default]
    Unknown,
    /// In order: invocation `i` of the workgroup (by its local index) is number `i % subgroup_size`
    /// of subgroup `i / subgroup_size`.
    Linear,
    /// As recorded by a dispatch: the seats of all its invocations, workgroup by workgroup, in the
    /// order of workgroups (x first) and of local indices.
    Recorded(Arc<[SubgroupPosition]>),
}

impl SubgroupLayout {
    /// Checks and returns a recorded layout, for workgroups of `lanes` invocations and subgroups of
    /// `size`.
    ///
    /// # Errors
    /// The defect, in words: a position beyond the subgroup, two invocations with one position, a
    /// missing subgroup, or a number of seats that does not make up whole workgroups.
    pub fn recorded(seats: Vec<SubgroupPosition>, lanes: usize, size: u32) -> Result<SubgroupLayout, String> {
        if lanes == 0 || seats.is_empty() || !seats.len().is_multiple_of(lanes) {
            return Err(format!("{} invocations, in workgroups of {lanes}", seats.len()));
        }
        for (group, seats) in seats.chunks(lanes).enumerate() {
            let mut taken = BTreeMap::new();
            for (lane, seat) in seats.iter().enumerate() {
                let SubgroupPosition { subgroup, place } = *seat;
                let who = format!(
                    "invocation {lane} of workgroup {group} says that it is number {place} of subgroup {subgroup}"
                );
                if place >= size {
                    return Err(format!("{who}; subgroups have {size}"));
                }
                if let Some(other) = taken.insert(*seat, lane) {
                    return Err(format!("{who}; so does invocation {other}"));
                }
            }
            // Subgroups are numbered from 0 without gaps.
            let mut numbers: Vec<u32> = taken.keys().map(|seat| seat.subgroup).collect();
            numbers.dedup();
            if let Some((missing, _)) = numbers.iter().enumerate().find(|(i, number)| *i as u32 != **number) {
                return Err(format!(
                    "no invocation of workgroup {group} is in subgroup {missing}, and some are in later ones"
                ));
            }
        }
        Ok(SubgroupLayout::Recorded(seats.into()))
    }

    /// The first recorded subgroup that is not full, in words, for workgroups of `lanes`
    /// invocations and subgroups of `size`. "When full subgroups are required, (..) there is an
    /// active invocation with SubgroupLocalInvocationId for each value in range [0,
    /// SubgroupSize-1]" (Vulkan, "Full Subgroups").
    pub fn partial(&self, lanes: usize, size: u32) -> Option<String> {
        let SubgroupLayout::Recorded(seats) = self else { return None };
        seats.chunks(lanes).enumerate().find_map(|(group, seats)| {
            let mut members: BTreeMap<u32, u32> = BTreeMap::new();
            seats.iter().for_each(|seat| *members.entry(seat.subgroup).or_default() += 1);
            let (subgroup, there) = members.into_iter().find(|(_, there)| *there != size)?;
            Some(format!(
                "subgroup {subgroup} of workgroup {group} has {there} of {size} invocations, and must be full"
            ))
        })
    }

    /// The position of an invocation; `None` if it is unknown. `group` is the number of the
    /// workgroup in the dispatch, `lanes` the size of a workgroup, `lane` the local index, `size`
    /// that of a subgroup.
    pub fn seat(&self, group: usize, lanes: usize, lane: usize, size: u32) -> Option<SubgroupPosition> {
        match self {
            SubgroupLayout::Unknown => None,
            SubgroupLayout::Linear => {
                let lane = lane as u32;
                Some(SubgroupPosition { subgroup: lane / size, place: lane % size })
            }
            SubgroupLayout::Recorded(seats) => seats.get(group * lanes + lane).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_layouts_without_distinct_positions_are_rejected() {
        let seats =
            |list: &[(u32, u32)]| list.iter().map(|&(subgroup, place)| SubgroupPosition { subgroup, place }).collect();
        let recorded = |list: &[(u32, u32)]| SubgroupLayout::recorded(seats(list), 4, 2);
        let layout = recorded(&[(1, 0), (0, 1), (1, 1), (0, 0), (0, 1), (1, 1), (0, 0), (1, 0)]).unwrap();
        assert_eq!(layout.seat(1, 4, 2, 2), Some(SubgroupPosition { subgroup: 0, place: 0 }));
        assert_eq!(layout.seat(2, 4, 0, 2), None);
        assert_eq!(layout.partial(4, 2), None);
        let alone = recorded(&[(0, 0), (0, 1), (1, 0), (1, 1), (0, 1), (0, 0), (1, 1), (2, 0)]).unwrap();
        assert!(alone.partial(4, 2).is_some_and(|what| what.starts_with("subgroup 1 of workgroup 1 has 1 of 2")));
        assert_eq!(SubgroupLayout::Linear.seat(7, 4, 3, 2), Some(SubgroupPosition { subgroup: 1, place: 1 }));
        for (list, says) in [
            (&[(0, 0), (0, 1), (1, 0), (1, 2)][..], "subgroups have 2"),
            (&[(0, 0), (0, 1), (1, 0), (0, 1)], "so does invocation 1"),
            (&[(0, 0), (0, 1), (2, 0), (2, 1)], "is in subgroup 1"),
            (&[(0, 0), (0, 1), (1, 0)], "in workgroups of 4"),
        ] {
            let refused = recorded(list).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }
}
