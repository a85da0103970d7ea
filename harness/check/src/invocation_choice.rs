//! Choice of some invocations of a dispatch.

use crate::dispatch_setup::DispatchSetup;
use assay_case::stable_hash;
use assay_oracle::{InvocationSubset, Program};

/// Number of invocations that are chosen in one workgroup, if not the whole workgroup is.
const IN_ONE_GROUP: u64 = 16;

/// A dispatch of which some invocations are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchShape {
    /// Number of workgroups.
    pub(crate) groups: u64,
    /// Number of invocations in a workgroup.
    pub(crate) local: u64,
    /// Set if a part of a workgroup can be interpreted
    /// ([`assay_oracle::Program::has_independent_invocations`]).
    pub(crate) is_divisible: bool,
}

impl DispatchShape {
    /// Returns the shape of a program's dispatch.
    pub(crate) fn new(setup: &DispatchSetup, program: &Program) -> DispatchShape {
        let is_divisible = program.has_independent_invocations();
        DispatchShape { groups: product(setup.groups), local: product(setup.local), is_divisible }
    }

    /// Returns the least number of invocations that can be chosen.
    pub(crate) fn least(&self) -> u64 {
        if self.is_divisible { self.local.min(IN_ONE_GROUP) } else { self.local }
    }

    /// Returns the number of invocations in a subset; of all for `None`.
    pub(crate) fn count(&self, subset: Option<&InvocationSubset>) -> u64 {
        let all = self.groups.saturating_mul(self.local);
        subset.map_or(all, |subset| subset.invocations(self.local))
    }

    /// Chooses at least a number of invocations, spread over the dispatch: whole workgroups, or for fewer
    /// invocations than a divisible workgroup has, parts of some. `None` if that would be all of them.
    pub(crate) fn choose(&self, invocations: u64, seed: u64) -> Option<InvocationSubset> {
        let wanted = invocations.max(self.least());
        if wanted >= self.local {
            let workgroups = spread(self.groups, wanted.div_ceil(self.local.max(1)).max(1), seed)?;
            return Some(InvocationSubset { workgroups, local: None });
        }
        let groups = (wanted / IN_ONE_GROUP).clamp(1, self.groups);
        let workgroups = spread(self.groups, groups, seed).unwrap_or_else(|| (0..self.groups).collect());
        let local = spread(self.local, wanted.div_ceil(groups), seed)?;
        Some(InvocationSubset { workgroups, local: Some(local.into_iter().map(|index| index as u32).collect()) })
    }
}

/// Returns the number of workgroups or invocations with these sides.
pub(crate) fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |n: u64, side| n.saturating_mul(u64::from(*side)))
}

/// Returns `wanted` numbers below `total`, ascending, with the first and the last; `None` if that would
/// be all of them.
fn spread(total: u64, wanted: u64, seed: u64) -> Option<Vec<u64>> {
    if wanted >= total {
        return None;
    }
    // One in each interval of equal length: even coverage without a period.
    let end = |i: u64| (u128::from(i) * u128::from(total) / u128::from(wanted)) as u64;
    let number = |i: u64| {
        let (from, to) = (end(i), end(i + 1));
        match i {
            0 => 0,
            _ if i + 1 == wanted => total - 1,
            _ => from + stable_hash(&(seed ^ i).to_le_bytes()) % (to - from),
        }
    };
    Some((0..wanted).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(groups: u64, local: u64, is_divisible: bool) -> DispatchShape {
        DispatchShape { groups, local, is_divisible }
    }

    #[test]
    fn a_workgroup_subset_is_spread_evenly_and_has_both_ends() {
        let many = shape(1 << 40, 64, false);
        let subset = many.choose(640, 1).unwrap().workgroups;
        assert_eq!((subset.len(), subset[0], subset[9]), (10, 0, (1 << 40) - 1));
        assert!(subset.windows(2).all(|pair| pair[0] < pair[1]), "{subset:?}");
        assert!(subset.windows(2).all(|pair| pair[1] - pair[0] < 1 << 38), "{subset:?}");
        assert_ne!(subset, many.choose(640, 2).unwrap().workgroups);
        assert_eq!(shape(10, 64, false).choose(640, 1), None);
        let workgroups = |numbers: &[u64]| Some(InvocationSubset::of_workgroups(numbers));
        assert_eq!(shape(10, 64, false).choose(1, 1), workgroups(&[0]));
        assert_eq!(shape(3, 64, false).choose(128, 1), workgroups(&[0, 2]));
        assert_eq!(shape(3, 64, true).choose(128, 1), workgroups(&[0, 2]));
    }

    #[test]
    fn a_part_of_a_workgroup_is_chosen_if_its_invocations_are_independent() {
        let part = shape(3, 64, true).choose(1, 1).unwrap();
        let local = part.local.as_deref().unwrap();
        assert_eq!((&part.workgroups[..], local.len(), local[0], local[15]), (&[0][..], 16, 0, 63));
        // Two workgroups, half of the invocations in each.
        let halves = shape(3, 64, true).choose(32, 1).unwrap();
        assert_eq!((&halves.workgroups[..], halves.invocations(64)), (&[0, 2][..], 32));
        assert_eq!(shape(1, 8, true).choose(1, 1), None, "a small workgroup is not divided");
        assert_eq!(shape(1, 64, false).choose(1, 1), None);
        assert_eq!(shape(1, 64, true).choose(17, 1).unwrap().invocations(64), 17);
        let all = shape(3, 64, true);
        assert_eq!(
            (all.count(None), all.count(Some(&halves)), all.least(), shape(3, 64, false).least()),
            (192, 32, 16, 64)
        );
    }
}
