//! What one scalar of one invocation may be.

use crate::few::Few;
use crate::outcome::Expected;
use crate::ty::{Fmt, Kind};
use assay_float::{Rank, RankRange, Set};
use std::sync::Arc;

/// How many bit patterns are followed one by one.
pub(crate) const ALTERNATIVES: usize = 8;

/// What a scalar may be, beside the one bit pattern that its register holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    /// The bits of the register.
    #[default]
    Bits,
    /// One of at least two, at most [`ALTERNATIVES`] patterns.
    Few(Arc<Few>),
    /// A float of this set (or bits that are one).
    Float(Floats),
    /// Anything; the cause.
    Any(u32),
}

/// A set of floats: all ranks from `lo` to `hi`, and what the flags add, unless `holes` says it more exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Floats {
    pub(crate) fmt: Fmt,
    /// NaNs are members.
    pub(crate) nan: bool,
    /// Both zeros are members, wherever the range is.
    pub(crate) zeros: bool,
    pub(crate) lo: Rank,
    /// Less than `lo` if the range is empty.
    pub(crate) hi: Rank,
    /// The set itself, where range and flags only enclose it.
    pub(crate) holes: Option<Arc<Set>>,
}

impl Floats {
    /// The ranks from `lo` to `hi`.
    pub(crate) fn range(fmt: Fmt, lo: Rank, hi: Rank) -> Floats {
        Floats { fmt, nan: false, zeros: false, lo, hi, holes: None }
    }

    /// One bit pattern.
    pub(crate) fn point(fmt: Fmt, bits: u64) -> Floats {
        let format = fmt.format();
        if format.is_nan(bits) {
            return Floats { nan: true, ..Floats::range(fmt, 0, -1) };
        }
        let rank = format.rank(bits);
        Floats::range(fmt, rank, rank)
    }

    /// A set that is neither empty nor everything.
    pub(crate) fn from_set(fmt: Fmt, set: &Set) -> Floats {
        let nan = set.has_nan();
        match set.ranges() {
            [] => Floats { nan, ..Floats::range(fmt, 0, -1) },
            [one] => Floats { nan, ..Floats::range(fmt, one.lo, one.hi) },
            ranges => {
                let zero = RankRange::new(-1, 0);
                let rest: Vec<RankRange> = ranges.iter().copied().filter(|r| *r != zero).collect();
                if rest.len() == 1 && ranges.len() == 2 {
                    return Floats { nan, zeros: true, ..Floats::range(fmt, rest[0].lo, rest[0].hi) };
                }
                let (lo, hi) = (ranges[0].lo, ranges[ranges.len() - 1].hi);
                Floats { nan, holes: Some(Arc::new(set.clone())), ..Floats::range(fmt, lo, hi) }
            }
        }
    }

    /// The set.
    pub(crate) fn set(&self) -> Set {
        if let Some(holes) = &self.holes {
            return (**holes).clone();
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

    /// Whether there is something between its parts that is no member.
    pub(crate) fn is_apart(&self) -> bool {
        self.holes.is_some() || (self.zeros && (self.lo > 1 || self.hi < -2))
    }

    /// The only member, if there is only one and it is no NaN.
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

    /// All members, if they are few and none is a NaN.
    pub(crate) fn few(&self) -> Option<Vec<u64>> {
        let (lo, hi) = self.hull()?;
        if self.nan || (self.holes.is_none() && !self.zeros && hi - lo >= ALTERNATIVES as i64) {
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
    pub(crate) fn union(&self, other: &Floats) -> Floats {
        let nan = self.nan | other.nan;
        let touching = self.lo <= self.hi
            && other.lo <= other.hi
            && self.lo <= other.hi.saturating_add(1)
            && other.lo <= self.hi.saturating_add(1);
        if touching && self.holes.is_none() && other.holes.is_none() {
            let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
            return Floats { nan, zeros: self.zeros | other.zeros, ..Floats::range(self.fmt, lo, hi) };
        }
        let mut set = self.set();
        set.union_with(&other.set());
        Floats::from_set(self.fmt, &set)
    }
}

impl Value {
    /// A set of floats as a value and its register's bits.
    pub(crate) fn of_floats(floats: Floats) -> (Value, u64) {
        match floats.single() {
            Some(bits) => (Value::Bits, bits),
            None => {
                let bits = floats.hull().map_or(floats.fmt.format().nan(), |(lo, _)| floats.fmt.format().bits(lo));
                (Value::Float(floats), bits)
            }
        }
    }

    /// Some patterns (any order, at least one) as a value and its register's bits; `None` if they are too many.
    pub(crate) fn of_patterns(mut patterns: Vec<u64>) -> Option<(Value, u64)> {
        patterns.sort_unstable();
        patterns.dedup();
        match patterns[..] {
            [one] => Some((Value::Bits, one)),
            _ if patterns.len() <= ALTERNATIVES => Some((Value::Few(Arc::new(Few::loose(&patterns))), patterns[0])),
            _ => None,
        }
    }

    /// All patterns that a scalar of that value may have, if they are few; `bits` are its register's.
    pub(crate) fn patterns(&self, bits: u64) -> Result<Vec<u64>, Option<u32>> {
        match self {
            Value::Bits => Ok(vec![bits]),
            Value::Few(few) => Ok(few.distinct()),
            Value::Float(floats) => floats.few().ok_or(None),
            Value::Any(cause) => Err(Some(*cause)),
        }
    }

    /// What a scalar of that value may be, if that is more than the one pattern of its register; `Err` is the cause of anything.
    pub(crate) fn expected(&self) -> Result<Option<Expected>, u32> {
        match self {
            Value::Bits => Ok(None),
            Value::Few(few) => Ok(Some(Expected::OneOf(few.distinct()))),
            Value::Float(floats) => Ok(Some(Expected::Float { format: floats.fmt.format(), set: floats.set() })),
            Value::Any(cause) => Err(*cause),
        }
    }

    /// As a set of floats of that format; `Err` is the cause of anything.
    pub(crate) fn floats(&self, bits: u64, fmt: Fmt) -> Result<Floats, u32> {
        let from = |patterns: &[u64]| {
            let mut all = Floats::point(fmt, patterns[0]);
            for pattern in &patterns[1..] {
                all = all.union(&Floats::point(fmt, *pattern));
            }
            all
        };
        match self {
            Value::Bits => Ok(Floats::point(fmt, bits)),
            Value::Few(few) => Ok(from(&few.distinct())),
            Value::Float(floats) if floats.fmt == fmt => Ok(floats.clone()),
            // Bits of another format of the same width.
            Value::Float(floats) => floats.few().map(|all| from(&all)).ok_or(u32::MAX),
            Value::Any(cause) => Err(*cause),
        }
    }

    /// The union of two values of that kind, each with its register's bits. `None` where it cannot be told: too many
    /// alternatives.
    pub(crate) fn union(kind: Kind, a: (&Value, u64), b: (&Value, u64)) -> Option<(Value, u64)> {
        match (a.0, b.0) {
            (Value::Bits, Value::Bits) if a.1 == b.1 => return Some((Value::Bits, a.1)),
            (Value::Any(cause), _) | (_, Value::Any(cause)) => return Some((Value::Any(*cause), 0)),
            _ => {}
        }
        let fmt = match (kind, a.0, b.0) {
            (Kind::Float(fmt), ..) => Some(fmt),
            (_, Value::Float(floats), _) | (_, _, Value::Float(floats)) => Some(floats.fmt),
            _ => None,
        };
        if let Some(fmt) = fmt {
            let (x, y) = (a.0.floats(a.1, fmt).ok()?, b.0.floats(b.1, fmt).ok()?);
            return Some(Value::of_floats(x.union(&y)));
        }
        let mut all = a.0.patterns(a.1).ok()?;
        all.extend(b.0.patterns(b.1).ok()?);
        Value::of_patterns(all)
    }
}
