//! Plain sets of values.

use crate::second_method::num::{Index, infinity};
use assay_float::{Format, RankRange, Set};

/// Set of values of a format (the two zeros are one value), with flags for NaN and for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    /// Disjoint, ascending.
    pub(crate) ranges: Vec<(Index, Index)>,
    pub(crate) nan: bool,
    pub(crate) any: bool,
}

impl Values {
    pub(crate) fn any() -> Values {
        Values { any: true, ..Values::default() }
    }

    pub(crate) fn nan() -> Values {
        Values { nan: true, ..Values::default() }
    }

    pub(crate) fn point(i: Index) -> Values {
        Values::range(i, i)
    }

    /// `lo ..= hi`, empty if `lo > hi`.
    pub(crate) fn range(lo: Index, hi: Index) -> Values {
        let mut v = Values::default();
        v.add(lo, hi);
        v
    }

    pub(crate) fn add(&mut self, lo: Index, hi: Index) {
        if lo > hi || self.ranges.iter().any(|&(l, h)| l <= lo && hi <= h) {
            return;
        }
        self.ranges.push((lo, hi));
        self.ranges = Values::of(std::mem::take(&mut self.ranges)).ranges;
    }

    /// Union of ranges.
    pub(crate) fn of(mut ranges: Vec<(Index, Index)>) -> Values {
        ranges.sort_unstable();
        let mut joined: Vec<(Index, Index)> = Vec::new();
        for (lo, hi) in ranges {
            match joined.last_mut() {
                Some(last) if lo <= last.1 + 1 => last.1 = last.1.max(hi),
                _ => joined.push((lo, hi)),
            }
        }
        Values { ranges: joined, ..Values::default() }
    }

    pub(crate) fn join(&mut self, o: &Values) {
        self.nan |= o.nan;
        self.any |= o.any;
        for &(lo, hi) in &o.ranges {
            self.add(lo, hi);
        }
    }

    pub(crate) fn meets(&self, lo: Index, hi: Index) -> bool {
        self.ranges.iter().any(|&(l, h)| l <= hi && lo <= h)
    }

    pub(crate) fn remove(&mut self, lo: Index, hi: Index) {
        let old = std::mem::take(&mut self.ranges);
        for (l, h) in old {
            self.add(l, h.min(lo - 1));
            self.add(l.max(hi + 1), h);
        }
    }

    /// Returns true if a denormal is a member.
    pub(crate) fn has_denormal(&self, f: Format) -> bool {
        let last = (1 << f.fraction_bits) - 1;
        self.meets(1, last) || self.meets(-last, -1)
    }

    pub(crate) fn ends(&self) -> Option<(Index, Index)> {
        Some((self.ranges.first()?.0, self.ranges.last()?.1))
    }

    /// All members if there are at most `limit`. Otherwise the ends of all ranges and their
    /// neighbours, the neighbours of powers of two near the ends, of zero and of the smallest
    /// normal, and a spread over the rest.
    pub(crate) fn members(&self, f: Format, limit: i64) -> Vec<Index> {
        let count: i64 = self.ranges.iter().map(|&(lo, hi)| hi - lo + 1).sum();
        if count <= limit {
            return self.ranges.iter().flat_map(|&(lo, hi)| lo..=hi).collect();
        }
        let mut some = Vec::new();
        for &(lo, hi) in &self.ranges {
            let around = |c: Index, by: i64| (c - by..=c + by).filter(move |i| lo <= *i && *i <= hi);
            let power = |i: Index| (i >> f.fraction_bits) << f.fraction_bits;
            let one = 1 << f.fraction_bits;
            for c in [lo, hi, 0] {
                some.extend(around(c, 3));
            }
            for c in [power(lo), power(lo) + one, power(hi), power(hi) - one, one, -one] {
                some.extend(around(c, 2));
            }
            some.extend((1..16).map(|k| lo + ((hi - lo) as i128 * k / 16) as i64));
        }
        some.sort_unstable();
        some.dedup();
        some
    }

    /// The reference's type of set, with the given zeros.
    pub(crate) fn set(&self, zeros: Zeros) -> Set {
        if self.any {
            return Set::anything();
        }
        let mut set = if self.nan { Set::nans() } else { Set::empty() };
        for &(lo, hi) in &self.ranges {
            if lo < 0 {
                set.insert(RankRange::new(-1 + lo, -1 + hi.min(-1)));
            }
            if hi > 0 {
                set.insert(RankRange::new(lo.max(1), hi));
            }
            if lo <= 0 && 0 <= hi {
                if zeros.negative {
                    set.insert(RankRange::point(-1));
                }
                if zeros.positive {
                    set.insert(RankRange::point(0));
                }
            }
        }
        set
    }

    /// Adds the values that overflow permits.
    pub(crate) fn add_overflow(&mut self, f: Format, negative: bool) {
        let (max, inf) = (infinity(f) - 1, infinity(f));
        if negative { self.add(-inf, -max) } else { self.add(max, inf) }
    }
}

/// Zeros that represent the value zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Zeros {
    pub(crate) negative: bool,
    pub(crate) positive: bool,
}

impl Zeros {
    pub(crate) const BOTH: Zeros = Zeros { negative: true, positive: true };

    pub(crate) fn one(negative: bool) -> Zeros {
        Zeros { negative, positive: !negative }
    }
}
