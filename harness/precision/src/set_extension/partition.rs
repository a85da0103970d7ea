//! Partition of operand sets.

use super::Operand;
use crate::{Scalar, rank_interval::RankInterval};
use assay_float::{Format, Rank, RankRange, Set};
use smallvec::{SmallVec, smallvec};

/// Members of an operand that are treated alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandPart {
    /// Any NaN.
    Nan,
    /// All ranks of an interval: finite values, one infinity, or integers with the same most
    /// significant bit.
    Range(RankInterval),
}

impl OperandPart {
    pub(super) fn is_single(&self) -> bool {
        match self {
            OperandPart::Nan => true,
            OperandPart::Range(interval) => interval.lo == interval.hi,
        }
    }

    /// Bits of the least member; for NaNs, the bits of one NaN.
    pub(super) fn low(&self, scalar: Scalar) -> u64 {
        match self {
            OperandPart::Nan => scalar.format().map_or(0, Format::nan),
            OperandPart::Range(interval) => bits(interval.lo, scalar),
        }
    }

    /// Returns true if members are NaNs or infinities.
    pub(super) fn is_special(&self, scalar: Scalar) -> bool {
        match (self, scalar.format()) {
            (OperandPart::Nan, _) => true,
            (OperandPart::Range(interval), Some(format)) => interval.has_infinity(format),
            (OperandPart::Range(_), None) => false,
        }
    }
}

/// Bits with that rank.
pub(super) fn bits(rank: Rank, scalar: Scalar) -> u64 {
    match scalar.format() {
        Some(format) => format.bits(rank),
        None => rank.cast_unsigned(),
    }
}

pub(super) fn has_infinity(set: &Set, format: Format) -> bool {
    format.has_infinity()
        && (set.meets(RankRange::point(format.infinity())) || set.meets(RankRange::point(format.neg_infinity())))
}

/// All ranks that the bits of a scalar may have.
fn all(scalar: Scalar) -> RankRange {
    match scalar {
        Scalar::Float(f) if f.has_infinity() => RankRange::new(f.neg_infinity(), f.infinity()),
        Scalar::Float(f) => RankRange::new(f.neg_infinity() + 1, f.max_finite()),
        Scalar::Int { width: 64.., .. } => RankRange::new(Rank::MIN, Rank::MAX),
        Scalar::Int { width, .. } => RankRange::new(0, (1 << width) - 1),
        Scalar::Bool => RankRange::new(0, 1),
    }
}

/// Members of an operand, with "anything" spelled out and without ranks that no bits have.
pub(super) fn members(operand: &Operand, scalar: Scalar) -> Set {
    let all = all(scalar);
    let mut found = Set::empty();
    match operand {
        Operand::Bits(bits) => match scalar.format() {
            Some(format) if format.is_nan(*bits) => found.insert_nan(),
            Some(format) => found.insert(RankRange::point(format.rank(*bits))),
            None => found.insert(RankRange::point(bits.cast_signed())),
        },
        Operand::Set(set) => {
            let ranges: &[RankRange] = if set.is_anything() { &[all] } else { set.ranges() };
            for r in ranges.iter().filter(|r| r.lo <= all.hi && all.lo <= r.hi) {
                found.insert(RankRange::new(r.lo.max(all.lo), r.hi.min(all.hi)));
            }
            if set.has_nan() && scalar.format().is_some() {
                found.insert_nan();
            }
        }
    }
    found
}

/// Number of combinations of members, where NaN counts as one; `None` if it overflows.
pub(super) fn combinations(sets: &[Set]) -> Option<u64> {
    sets.iter().try_fold(1u64, |product, set| {
        let ranks = set.ranges().iter().try_fold(0u64, |n, r| n.checked_add(r.hi.abs_diff(r.lo))?.checked_add(1))?;
        product.checked_mul(ranks.checked_add(set.has_nan().into())?)
    })
}

/// Every member as a part of its own.
pub(super) fn points(set: &Set, scalar: Scalar) -> SmallVec<[OperandPart; 8]> {
    let ranks = set.ranges().iter().flat_map(|r| r.lo..=r.hi).map(|rank| OperandPart::Range(RankInterval::point(rank)));
    ranks.chain(nan(set, scalar)).collect()
}

/// The members in parts: NaNs, infinities, and finite ranges. With `at_zero` no range crosses from
/// one sign to the other, and the zeros are parts of their own. Integers are always divided in two
/// halves, so that the order of ranks is the order of values.
pub(super) fn parts(set: &Set, scalar: Scalar, at_zero: bool) -> SmallVec<[OperandPart; 8]> {
    set.ranges().iter().flat_map(|&range| cut(range, scalar, at_zero)).chain(nan(set, scalar)).collect()
}

/// The members in fewer parts than [`parts`]: gaps between ranges of one sign are filled.
pub(super) fn joined(set: &Set, scalar: Scalar, at_zero: bool) -> SmallVec<[OperandPart; 8]> {
    let ranges = joined_ranges(set);
    ranges.into_iter().flat_map(|range| cut(range, scalar, at_zero)).chain(nan(set, scalar)).collect()
}

/// The hull of the negative ranks and that of the others; one hull if a range has both: a gap around zero
/// stays, as divisors may lie on either side of it.
pub(super) fn joined_ranges(set: &Set) -> SmallVec<[RankRange; 2]> {
    let hull = |ranges: &[RankRange]| Some(RankRange::new(ranges.first()?.lo, ranges.last()?.hi));
    let ranges = set.ranges();
    let (negative, others) = ranges.split_at(ranges.partition_point(|range| range.hi < 0));
    match others.first() {
        Some(first) if first.lo < 0 => set.hull().into_iter().collect(),
        _ => [negative, others].into_iter().filter_map(hull).collect(),
    }
}

fn nan(set: &Set, scalar: Scalar) -> Option<OperandPart> {
    (set.has_nan() && scalar.format().is_some()).then_some(OperandPart::Nan)
}

/// Cuts a range before each of the listed ranks.
fn cut(range: RankRange, scalar: Scalar, at_zero: bool) -> SmallVec<[OperandPart; 8]> {
    let before: SmallVec<[Rank; 6]> = match scalar {
        Scalar::Float(f) if at_zero => smallvec![f.neg_infinity() + 1, -1, 0, 1, f.infinity()],
        Scalar::Float(f) => smallvec![f.neg_infinity() + 1, f.infinity()],
        Scalar::Int { width: 64.., .. } => smallvec![0],
        Scalar::Int { width, .. } => smallvec![1 << (width - 1)],
        Scalar::Bool => smallvec![1],
    };
    let mut parts = SmallVec::new();
    let mut lo = range.lo;
    for next in before.into_iter().filter(|&b| range.lo < b && b <= range.hi) {
        parts.push(OperandPart::Range(RankInterval { lo, hi: next - 1 }));
        lo = next;
    }
    parts.push(OperandPart::Range(RankInterval { lo, hi: range.hi }));
    parts
}
