//! Abstract values: the possible values of one scalar of one invocation (abstract interpretation;
//! Cousot & Cousot, POPL 1977).
//!
//! From most to least precise, a value is one bit pattern, a correlated set of patterns, a set of
//! floats, or unknown with a cause.

use crate::correlated_set::CorrelatedSet;
use crate::outcome::Expected;
use crate::ty::{Fmt, Kind};
use assay_float::{Rank, RankRange, Set};
use std::sync::Arc;

/// Largest number of bit patterns that are tracked individually.
pub(crate) const ALTERNATIVES: usize = 8;

/// The abstract value of a scalar. The register holds one bit pattern besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum AbstractValue {
    /// Exactly the bits of the register.
    #[default]
    Bits,
    /// One of several patterns: at least two, at most [`ALTERNATIVES`].
    OneOf(Arc<CorrelatedSet>),
    /// A float of this set, or bits that represent one.
    Float(FloatSet),
    /// Unknown, with the number of its cause.
    Unknown(u32),
}

/// A set of floats: the ranks from `lo` to `hi`, and the members that the flags add. If `exact` is
/// present, it is the exact set, and range and flags only enclose it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FloatSet {
    pub(crate) fmt: Fmt,
    /// NaNs are members.
    pub(crate) nan: bool,
    /// Both zeros are members, wherever the range is.
    pub(crate) zeros: bool,
    pub(crate) lo: Rank,
    /// Less than `lo` if the range is empty.
    pub(crate) hi: Rank,
    /// The exact set, if range and flags only enclose it.
    pub(crate) exact: Option<Arc<Set>>,
}

impl FloatSet {
    /// The ranks from `lo` to `hi`.
    pub(crate) fn range(fmt: Fmt, lo: Rank, hi: Rank) -> FloatSet {
        FloatSet { fmt, nan: false, zeros: false, lo, hi, exact: None }
    }

    /// One bit pattern.
    pub(crate) fn point(fmt: Fmt, bits: u64) -> FloatSet {
        let format = fmt.format();
        if format.is_nan(bits) {
            return FloatSet { nan: true, ..FloatSet::range(fmt, 0, -1) };
        }
        let rank = format.rank(bits);
        FloatSet::range(fmt, rank, rank)
    }

    /// Converts a set that is neither empty nor everything.
    pub(crate) fn from_set(fmt: Fmt, set: &Set) -> FloatSet {
        let nan = set.has_nan();
        match set.ranges() {
            [] => FloatSet { nan, ..FloatSet::range(fmt, 0, -1) },
            [one] => FloatSet { nan, ..FloatSet::range(fmt, one.lo, one.hi) },
            ranges => {
                let zero = RankRange::new(-1, 0);
                let rest: Vec<RankRange> = ranges.iter().copied().filter(|r| *r != zero).collect();
                if rest.len() == 1 && ranges.len() == 2 {
                    return FloatSet { nan, zeros: true, ..FloatSet::range(fmt, rest[0].lo, rest[0].hi) };
                }
                let (lo, hi) = (ranges[0].lo, ranges[ranges.len() - 1].hi);
                FloatSet { nan, exact: Some(Arc::new(set.clone())), ..FloatSet::range(fmt, lo, hi) }
            }
        }
    }

    /// The exact set.
    pub(crate) fn set(&self) -> Set {
        if let Some(exact) = &self.exact {
            return (**exact).clone();
        }
        let mut set = Set::empty();
        if self.lo <= self.hi {
            set.insert(RankRange::new(self.lo, self.hi));
        }
        if self.zeros {
            set.insert(RankRange::new(-1, 0));
        }
        if self.nan {
            set.insert_nan();
        }
        set
    }

    /// Returns true if there are values between the members that are not members.
    pub(crate) fn has_gaps(&self) -> bool {
        self.exact.is_some() || (self.zeros && (self.lo > 1 || self.hi < -2))
    }

    /// The only member, unless it is a NaN.
    pub(crate) fn single(&self) -> Option<u64> {
        let alone = self.lo == self.hi && !self.nan && !self.zeros;
        alone.then(|| self.fmt.format().bits(self.lo))
    }

    /// The least range of ranks around all members but NaNs; `None` if there are only NaNs.
    pub(crate) fn hull(&self) -> Option<(Rank, Rank)> {
        match (self.lo <= self.hi, self.zeros) {
            (true, true) => Some((self.lo.min(-1), self.hi.max(0))),
            (true, false) => Some((self.lo, self.hi)),
            (false, true) => Some((-1, 0)),
            (false, false) => None,
        }
    }

    /// All members, ascending by bits; `None` if there are more than [`ALTERNATIVES`] or a NaN.
    pub(crate) fn few(&self) -> Option<Vec<u64>> {
        let (lo, hi) = self.hull()?;
        if self.nan || (self.exact.is_none() && !self.zeros && hi.abs_diff(lo) >= ALTERNATIVES as u64) {
            return None;
        }
        let set = self.set();
        if set.len()? > ALTERNATIVES as u64 {
            return None;
        }
        let format = self.fmt.format();
        let mut all: Vec<u64> = set.ranges().iter().flat_map(|r| (r.lo..=r.hi).map(|rank| format.bits(rank))).collect();
        all.sort_unstable();
        Some(all)
    }

    /// The union.
    pub(crate) fn union(&self, other: &FloatSet) -> FloatSet {
        let nan = self.nan | other.nan;
        let touching = self.lo <= self.hi
            && other.lo <= other.hi
            && self.lo <= other.hi.saturating_add(1)
            && other.lo <= self.hi.saturating_add(1);
        if touching && self.exact.is_none() && other.exact.is_none() {
            let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
            return FloatSet { nan, zeros: self.zeros | other.zeros, ..FloatSet::range(self.fmt, lo, hi) };
        }
        let mut set = self.set();
        set.union_with(&other.set());
        FloatSet::from_set(self.fmt, &set)
    }
}

impl AbstractValue {
    /// A set of floats as a value, with the bits of its register.
    pub(crate) fn of_floats(floats: FloatSet) -> (AbstractValue, u64) {
        match floats.single() {
            Some(bits) => (AbstractValue::Bits, bits),
            None => {
                let bits = floats.hull().map_or(floats.fmt.format().nan(), |(lo, _)| floats.fmt.format().bits(lo));
                (AbstractValue::Float(floats), bits)
            }
        }
    }

    /// Patterns, in any order and at least one, as a value with the bits of its register; `None` if
    /// they are too many. Duplicates count once.
    pub(crate) fn of_patterns(mut patterns: Vec<u64>) -> Option<(AbstractValue, u64)> {
        patterns.sort_unstable();
        patterns.dedup();
        match patterns[..] {
            [one] => Some((AbstractValue::Bits, one)),
            _ if patterns.len() <= ALTERNATIVES => {
                Some((AbstractValue::OneOf(Arc::new(CorrelatedSet::uncorrelated(&patterns))), patterns[0]))
            }
            _ => None,
        }
    }

    /// All possible patterns, if they are few; `bits` are those of the register. The error is the
    /// cause of an unknown value, or `None` for a set that is too large.
    pub(crate) fn patterns(&self, bits: u64) -> Result<Vec<u64>, Option<u32>> {
        match self {
            AbstractValue::Bits => Ok(vec![bits]),
            AbstractValue::OneOf(few) => Ok(few.distinct()),
            AbstractValue::Float(floats) => floats.few().ok_or(None),
            AbstractValue::Unknown(cause) => Err(Some(*cause)),
        }
    }

    /// The permitted set of the scalar, or `None` if it is exactly the bits of its register. The
    /// error is the cause of an unknown value.
    pub(crate) fn expected(&self) -> Result<Option<Expected>, u32> {
        match self {
            AbstractValue::Bits => Ok(None),
            AbstractValue::OneOf(few) => Ok(Some(Expected::OneOf(few.distinct()))),
            AbstractValue::Float(floats) => {
                Ok(Some(Expected::Float { format: floats.fmt.format(), set: floats.set() }))
            }
            AbstractValue::Unknown(cause) => Err(*cause),
        }
    }

    /// The value as a set of floats of a format. The error is the cause of an unknown value, or
    /// `u32::MAX` for a large set of another format.
    pub(crate) fn floats(&self, bits: u64, fmt: Fmt) -> Result<FloatSet, u32> {
        let from = |patterns: &[u64]| {
            let mut all = FloatSet::point(fmt, patterns[0]);
            for pattern in &patterns[1..] {
                all = all.union(&FloatSet::point(fmt, *pattern));
            }
            all
        };
        match self {
            AbstractValue::Bits => Ok(FloatSet::point(fmt, bits)),
            AbstractValue::OneOf(few) => Ok(from(&few.distinct())),
            AbstractValue::Float(floats) if floats.fmt == fmt => Ok(floats.clone()),
            // Bits of another format of the same width.
            AbstractValue::Float(floats) => floats.few().map(|all| from(&all)).ok_or(u32::MAX),
            AbstractValue::Unknown(cause) => Err(*cause),
        }
    }

    /// The union of two values of a kind, each with the bits of its register. `None` if there are
    /// too many alternatives.
    pub(crate) fn union(
        kind: Kind,
        a: (&AbstractValue, u64),
        b: (&AbstractValue, u64),
    ) -> Option<(AbstractValue, u64)> {
        match (a.0, b.0) {
            (AbstractValue::Bits, AbstractValue::Bits) if a.1 == b.1 => return Some((AbstractValue::Bits, a.1)),
            (AbstractValue::Unknown(cause), _) | (_, AbstractValue::Unknown(cause)) => {
                return Some((AbstractValue::Unknown(*cause), 0));
            }
            _ => {}
        }
        let fmt = match (kind, a.0, b.0) {
            (Kind::Float(fmt), ..) => Some(fmt),
            (_, AbstractValue::Float(floats), _) | (_, _, AbstractValue::Float(floats)) => Some(floats.fmt),
            _ => None,
        };
        if let Some(fmt) = fmt {
            let (x, y) = (a.0.floats(a.1, fmt).ok()?, b.0.floats(b.1, fmt).ok()?);
            return Some(AbstractValue::of_floats(x.union(&y)));
        }
        let mut all = a.0.patterns(a.1).ok()?;
        all.extend(b.0.patterns(b.1).ok()?);
        AbstractValue::of_patterns(all)
    }
}
