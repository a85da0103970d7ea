//! Permitted sets.

use crate::{Format, Rank};
use smallvec::SmallVec;

/// Closed range of ranks, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RankRange {
    /// Least rank.
    pub lo: Rank,
    /// Greatest rank, at least `lo`.
    pub hi: Rank,
}

impl RankRange {
    /// The range `lo ..= hi`.
    pub const fn new(lo: Rank, hi: Rank) -> RankRange {
        debug_assert!(lo <= hi);
        RankRange { lo, hi }
    }

    /// The range of one rank.
    pub const fn point(rank: Rank) -> RankRange {
        RankRange { lo: rank, hi: rank }
    }

    /// Returns true if the range contains exactly one rank.
    pub const fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Returns true if the rank lies in the range.
    pub const fn contains(self, rank: Rank) -> bool {
        self.lo <= rank && rank <= self.hi
    }
}

/// Set of results that a rule permits, over one format's bit patterns: disjoint, ascending,
/// non-adjacent ranges of ranks, a flag for NaNs (all or none), and a flag for "anything" (poison,
/// an undefined value, or no requirement). A result for which anything is permitted is counted as
/// unchecked.
///
/// Integers and booleans use the same type with their bits as ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set {
    ranges: SmallVec<[RankRange; 3]>,
    nan: bool,
    any: bool,
}

impl Set {
    /// The empty set.
    pub fn empty() -> Set {
        Set::default()
    }

    /// Set of all results: nothing is required.
    pub fn anything() -> Set {
        Set { any: true, nan: true, ranges: SmallVec::new() }
    }

    /// Set of all NaNs.
    pub fn nans() -> Set {
        Set { nan: true, ..Set::default() }
    }

    /// Set of one range.
    pub fn range(lo: Rank, hi: Rank) -> Set {
        let mut set = Set::empty();
        set.insert(RankRange::new(lo, hi));
        set
    }

    /// Set of one rank.
    pub fn point(rank: Rank) -> Set {
        Set::range(rank, rank)
    }

    /// Members other than NaNs: ascending, disjoint, with a gap between each two. Empty if anything
    /// is permitted.
    pub fn ranges(&self) -> &[RankRange] {
        &self.ranges
    }

    /// Returns true if every NaN is a member.
    pub fn has_nan(&self) -> bool {
        self.nan
    }

    /// Returns true if anything is permitted.
    pub fn is_anything(&self) -> bool {
        self.any
    }

    /// Returns true if there are no members.
    pub fn is_empty(&self) -> bool {
        !self.any && !self.nan && self.ranges.is_empty()
    }

    /// Returns true if the rank is a member.
    pub fn contains_rank(&self, rank: Rank) -> bool {
        self.any || self.ranges.iter().any(|r| r.contains(rank))
    }

    /// Returns true if the bit pattern of the format is a member.
    pub fn contains(&self, format: Format, bits: u64) -> bool {
        if format.is_nan(bits) { self.nan || self.any } else { self.contains_rank(format.rank(bits)) }
    }

    /// Adds a range, joining it with the ranges that overlap it or are adjacent.
    pub fn insert(&mut self, range: RankRange) {
        if self.any {
            return;
        }
        let first = self.ranges.partition_point(|r| r.hi < range.lo.saturating_sub(1));
        let last = self.ranges.partition_point(|r| r.lo <= range.hi.saturating_add(1));
        let mut joined = range;
        if first < last {
            joined.lo = joined.lo.min(self.ranges[first].lo);
            joined.hi = joined.hi.max(self.ranges[last - 1].hi);
        }
        self.ranges.drain(first..last);
        self.ranges.insert(first, joined);
    }

    /// Adds every NaN.
    pub fn insert_nan(&mut self) {
        self.nan = true;
    }

    /// Adds all members of another set.
    pub fn union_with(&mut self, other: &Set) {
        if other.any {
            *self = Set::anything();
        }
        self.nan |= other.nan;
        for &range in &other.ranges {
            self.insert(range);
        }
    }

    /// Removes the ranks of a range.
    pub fn remove(&mut self, range: RankRange) {
        let mut kept = SmallVec::new();
        for &r in &self.ranges {
            if r.lo < range.lo {
                kept.push(RankRange::new(r.lo, r.hi.min(range.lo - 1)));
            }
            if r.hi > range.hi {
                kept.push(RankRange::new(r.lo.max(range.hi + 1), r.hi));
            }
        }
        self.ranges = kept;
    }

    /// Returns true if a member lies in the range.
    pub fn meets(&self, range: RankRange) -> bool {
        self.any || self.ranges.iter().any(|r| r.lo <= range.hi && range.lo <= r.hi)
    }

    /// Least range that contains all members other than NaNs. `None` if there are none, or if
    /// anything is permitted.
    pub fn hull(&self) -> Option<RankRange> {
        Some(RankRange::new(self.ranges.first()?.lo, self.ranges.last()?.hi))
    }

    /// Number of members without NaNs; `None` if anything is permitted.
    pub fn len(&self) -> Option<u64> {
        (!self.any).then(|| self.ranges.iter().map(|r| r.hi.abs_diff(r.lo) + 1).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_joins_neighbours_and_keeps_holes() {
        let mut set = Set::range(10, 12);
        set.insert(RankRange::new(-5, -1));
        set.insert(RankRange::point(0));
        set.insert(RankRange::new(14, 20));
        assert_eq!(set.ranges(), [RankRange::new(-5, 0), RankRange::new(10, 12), RankRange::new(14, 20)]);
        set.insert(RankRange::point(13));
        assert_eq!(set.ranges(), [RankRange::new(-5, 0), RankRange::new(10, 20)]);
        set.remove(RankRange::new(-2, 15));
        assert_eq!(set.ranges(), [RankRange::new(-5, -3), RankRange::new(16, 20)]);
        assert_eq!(set.len(), Some(8));
    }

    #[test]
    fn insert_agrees_with_a_bit_set() {
        let mut state = 1u64;
        for _ in 0..2_000 {
            let (mut set, mut model) = (Set::empty(), [false; 40]);
            for _ in 0..6 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let lo = (state >> 40) % 40;
                let hi = (lo + (state >> 50) % 6).min(39);
                let range = RankRange::new(lo as i64, hi as i64);
                let member = !(state >> 60).is_multiple_of(3);
                if member {
                    set.insert(range)
                } else {
                    set.remove(range)
                }
                model[lo as usize..=hi as usize].fill(member);
            }
            for (i, &member) in model.iter().enumerate() {
                assert_eq!(set.contains_rank(i as i64), member);
            }
            assert!(set.ranges().windows(2).all(|w| w[0].hi + 1 < w[1].lo));
        }
    }
}
