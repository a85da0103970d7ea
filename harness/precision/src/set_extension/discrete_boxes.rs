//! Discrete instructions over boxes.

use super::{OperandPart, SetEvaluation, Tightness, partition};
use crate::{
    Scalar, Specification,
    discrete_op::{DiscreteOp, Relation},
    rank_interval::{RankInterval, Stop},
};
use assay_float::{Rank, RankRange, Set};
use smallvec::SmallVec;

/// Results between those at the corners of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// None: all results occur at the corners.
    Nothing,
    /// All ranks between, for floating-point results.
    Ranks,
    /// All integers between, in unsigned order.
    Unsigned,
    /// All integers between, in signed order.
    Signed,
}

/// Behaviour of an instruction over a box whose operands do not change sign.
enum Shape {
    /// Monotone in each operand, or constant: the corners suffice.
    Corners(Between),
    /// Equality of numbers; `true` if equality makes the result true.
    Equality(bool),
    CompareExchange,
    /// Monotone as long as the integral part is constant (the binade, for `true`); otherwise
    /// anything from zero (from one half) to one.
    Wrapping(bool),
    /// All values of the result's type, because no better bound is known.
    Free,
}

/// Returns true if the corners suffice only if the two sides of zero are separate parts.
pub(super) fn divides_at_zero(op: DiscreteOp) -> bool {
    match op {
        DiscreteOp::Abs
        | DiscreteOp::Sign
        | DiscreteOp::Fraction
        | DiscreteOp::Significand
        | DiscreteOp::Exponent
        | DiscreteOp::ToInt
        | DiscreteOp::PackSnorm => true,
        DiscreteOp::Negate
        | DiscreteOp::Round
        | DiscreteOp::RoundEven
        | DiscreteOp::Trunc
        | DiscreteOp::Floor
        | DiscreteOp::Ceil
        | DiscreteOp::Copy
        | DiscreteOp::Min
        | DiscreteOp::Max
        | DiscreteOp::Clamp
        | DiscreteOp::NMin
        | DiscreteOp::NMax
        | DiscreteOp::NClamp
        | DiscreteOp::AtomicMin
        | DiscreteOp::AtomicMax
        | DiscreteOp::GroupMin
        | DiscreteOp::GroupMax
        | DiscreteOp::AllEqual
        | DiscreteOp::CompareExchange
        | DiscreteOp::Step
        | DiscreteOp::IsNan
        | DiscreteOp::IsInf
        | DiscreteOp::Compare(..)
        | DiscreteOp::QuantizeToF16
        | DiscreteOp::SAbs
        | DiscreteOp::SSign
        | DiscreteOp::SMin
        | DiscreteOp::UMin
        | DiscreteOp::SMax
        | DiscreteOp::UMax
        | DiscreteOp::SClamp
        | DiscreteOp::UClamp
        | DiscreteOp::FindILsb
        | DiscreteOp::FindSMsb
        | DiscreteOp::FindUMsb
        | DiscreteOp::PackUnorm
        | DiscreteOp::PackDouble
        | DiscreteOp::UnpackDouble => false,
    }
}

fn shape(op: DiscreteOp, result: Scalar) -> Shape {
    match op {
        DiscreteOp::ToInt if matches!(result, Scalar::Int { signed: false, .. }) => Shape::Corners(Between::Unsigned),
        DiscreteOp::Negate
        | DiscreteOp::Abs
        | DiscreteOp::Round
        | DiscreteOp::RoundEven
        | DiscreteOp::Trunc
        | DiscreteOp::Floor
        | DiscreteOp::Ceil
        | DiscreteOp::Copy
        | DiscreteOp::Min
        | DiscreteOp::Max
        | DiscreteOp::Clamp
        | DiscreteOp::NMin
        | DiscreteOp::NMax
        | DiscreteOp::NClamp
        | DiscreteOp::AtomicMin
        | DiscreteOp::AtomicMax
        | DiscreteOp::GroupMin
        | DiscreteOp::GroupMax
        | DiscreteOp::QuantizeToF16 => Shape::Corners(Between::Ranks),
        DiscreteOp::Sign | DiscreteOp::Step | DiscreteOp::IsNan | DiscreteOp::IsInf => Shape::Corners(Between::Nothing),
        DiscreteOp::Compare(Relation::Equal, _) | DiscreteOp::AllEqual => Shape::Equality(true),
        DiscreteOp::Compare(Relation::NotEqual, _) => Shape::Equality(false),
        DiscreteOp::Compare(Relation::Less | Relation::Greater | Relation::LessEqual | Relation::GreaterEqual, _) => {
            Shape::Corners(Between::Nothing)
        }
        DiscreteOp::CompareExchange => Shape::CompareExchange,
        DiscreteOp::Fraction => Shape::Wrapping(false),
        DiscreteOp::Significand => Shape::Wrapping(true),
        DiscreteOp::Exponent
        | DiscreteOp::ToInt
        | DiscreteOp::PackSnorm
        | DiscreteOp::SMin
        | DiscreteOp::SMax
        | DiscreteOp::SClamp => Shape::Corners(Between::Signed),
        DiscreteOp::PackUnorm | DiscreteOp::SAbs | DiscreteOp::UMin | DiscreteOp::UMax | DiscreteOp::UClamp => {
            Shape::Corners(Between::Unsigned)
        }
        DiscreteOp::SSign
        | DiscreteOp::FindILsb
        | DiscreteOp::FindSMsb
        | DiscreteOp::FindUMsb
        | DiscreteOp::PackDouble
        | DiscreteOp::UnpackDouble => Shape::Free,
    }
}

impl SetEvaluation<'_> {
    /// Permitted results of a discrete instruction over one part of each operand.
    pub(super) fn discrete(&self, op: DiscreteOp, choice: &[OperandPart]) -> Set {
        let slot = self.slot;
        let set = match shape(op, slot.result) {
            Shape::Corners(between) => self.corners(op, choice, between),
            Shape::Equality(_) if choice.contains(&OperandPart::Nan) => self.corners(op, choice, Between::Nothing),
            Shape::Equality(meaning) => {
                // Some members are equal if the ranges overlap, and some differ unless both ranges
                // are one and the same value.
                let [OperandPart::Range(a), OperandPart::Range(b)] = choice else { return self.unknown() };
                let (a, b) = (with_both_zeros(*a), with_both_zeros(*b));
                truths(a.lo <= b.hi && b.lo <= a.hi, !(a == b && a.is_point()), meaning)
            }
            Shape::CompareExchange => {
                // The old value, or the new one if the comparator may be equal.
                let [OperandPart::Range(old), OperandPart::Range(new), OperandPart::Range(comparator)] = choice else {
                    return self.unknown();
                };
                self.loosen(Tightness::Enclosure);
                let mut set = Set::range(old.lo, old.hi);
                if old.lo <= comparator.hi && comparator.lo <= old.hi {
                    set.insert(RankRange::new(new.lo, new.hi));
                }
                set
            }
            Shape::Wrapping(binade) => self.wrapping(op, choice, binade),
            Shape::Free => {
                self.loosen(Tightness::Enclosure);
                let (Scalar::Int { .. }, Some(all)) = (slot.result, integers(0, -1, slot.result, Between::Unsigned))
                else {
                    return self.unknown();
                };
                all
            }
        };
        let set =
            if slot.env.specification == Specification::Wgsl { self.with_subnormals(op, choice, set) } else { set };
        let set = if self.evaluation.compares_as_zeros(op) { self.with_small(choice, set) } else { set };
        self.finished_hull(set, false)
    }

    /// Adds the results that WGSL also permits for subnormal operands: either of two of them as the
    /// minimum or maximum, and anything as the parts of one.
    fn with_subnormals(&self, op: DiscreteOp, choice: &[OperandPart], mut set: Set) -> Set {
        let Some(format) = self.slot.inputs[0].1.format() else { return set };
        let edge = format.min_normal();
        let (subnormal, holding) = inside(choice, &[RankRange::new(1, edge - 1), RankRange::new(-edge, -2)]);
        match op {
            DiscreteOp::Significand | DiscreteOp::Exponent if holding > 0 => Set::anything(),
            DiscreteOp::Min | DiscreteOp::Max | DiscreteOp::Clamp if holding > 1 => {
                self.loosen(Tightness::Enclosure);
                subnormal.into_iter().for_each(|range| set.insert(range));
                set
            }
            _ => set,
        }
    }

    /// Adds the results of the reading in which denormals compare as zeros but are returned
    /// unchanged: any denormal or zero, if two operands may be one.
    fn with_small(&self, choice: &[OperandPart], mut set: Set) -> Set {
        let Some(format) = self.slot.inputs[0].1.format() else { return set };
        let edge = format.min_normal();
        let (small, holding) = inside(choice, &[RankRange::new(-edge, edge - 1)]);
        let denormal = small.iter().any(|range| range.lo < -1 || range.hi > 0);
        let held =
            small.iter().all(|range| set.ranges().iter().any(|known| known.lo <= range.lo && range.hi <= known.hi));
        if holding > 1 && denormal && !held && !set.is_anything() {
            self.evaluation.doubt_comparison();
            if choice.len() > 2 {
                // The third operand may prevent one of them from being returned.
                self.loosen(Tightness::Enclosure);
            }
            small.into_iter().for_each(|range| set.insert(range));
        }
        set
    }

    /// Results at the corners, and those between them.
    fn corners(&self, op: DiscreteOp, choice: &[OperandPart], between: Between) -> Set {
        let slot = self.slot;
        let intervals = intervals(choice);
        let mut set = Set::empty();
        let mut ends: Option<(u64, u64)> = None;
        let visited = crate::range_bounds::corners(&intervals, |ranks| {
            let ranks = ranks.iter().zip(choice).zip(&slot.inputs);
            let x: SmallVec<[u64; 8]> = ranks
                .map(
                    |((&rank, part), &(_, s))| {
                        if *part == OperandPart::Nan { part.low(s) } else { partition::bits(rank, s) }
                    },
                )
                .collect();
            let at = self.evaluation.discrete_results(op, &x);
            set.union_with(&at);
            let results = at.ranges().iter().flat_map(|r| [r.lo, r.hi]).map(Rank::cast_unsigned);
            for bits in results {
                let key = |bits: u64| order(bits, slot.result, between);
                ends = Some(ends.map_or((bits, bits), |(lo, hi)| {
                    (if key(bits) < key(lo) { bits } else { lo }, if key(bits) > key(hi) { bits } else { hi })
                }));
            }
            if at.is_anything() { Err(Stop::Anything("undefined")) } else { Ok(RankInterval::ZERO) }
        });
        if visited.is_err() {
            return Set::anything();
        }
        match (between, ends) {
            (Between::Nothing, _) | (_, None) => {}
            (Between::Ranks, Some(_)) => {
                self.loosen(Tightness::Hull);
                if let Some(hull) = set.hull() {
                    set.insert(hull);
                }
            }
            (Between::Unsigned | Between::Signed, Some((lo, hi))) => {
                let Some(all) = integers(lo.cast_signed(), hi.cast_signed(), slot.result, between) else {
                    return self.unknown();
                };
                self.loosen(Tightness::Hull);
                set.union_with(&all);
            }
        }
        set
    }

    /// `x - trunc(x)`, and the significand of Frexp.
    fn wrapping(&self, op: DiscreteOp, choice: &[OperandPart], binade: bool) -> Set {
        let [OperandPart::Range(interval)] = choice else { return self.corners(op, choice, Between::Ranks) };
        let Some(format) = self.slot.inputs[0].1.format() else { return self.unknown() };
        if interval.has_infinity(format) {
            return self.corners(op, choice, Between::Ranks);
        }
        let whole = |rank: Rank| {
            let value = format.value_of_rank(rank);
            if binade { 64 - value.mantissa().leading_zeros().cast_signed() + value.exponent() } else { 0 }
        };
        let same = whole(interval.lo) == whole(interval.hi)
            && (binade || format.value_of_rank(interval.lo).trunc() == format.value_of_rank(interval.hi).trunc());
        if same {
            return self.corners(op, choice, Between::Ranks);
        }
        self.loosen(Tightness::Enclosure);
        let one = format.rank_of_one();
        let least = if binade { one - (1 << format.fraction_bits) } else { 0 };
        let magnitudes = RankInterval { lo: least, hi: one - 1 };
        let signed = if interval.lo < 0 { magnitudes.neg() } else { magnitudes };
        Set::range(signed.lo, signed.hi)
    }
}

/// Intersections of the operands with some ranges, and the number of operands with such an
/// intersection.
fn inside(choice: &[OperandPart], ranges: &[RankRange]) -> (SmallVec<[RankRange; 4]>, usize) {
    let mut found: SmallVec<[RankRange; 4]> = SmallVec::new();
    let mut holding = 0;
    for part in choice {
        let OperandPart::Range(interval) = part else { continue };
        let before = found.len();
        let both = ranges.iter().map(|range| (interval.lo.max(range.lo), interval.hi.min(range.hi)));
        found.extend(both.filter(|(lo, hi)| lo <= hi).map(|(lo, hi)| RankRange::new(lo, hi)));
        holding += usize::from(found.len() > before);
    }
    (found, holding)
}

/// Spans of the parts. A NaN has no rank: its span is one rank, and the caller takes the NaN itself.
fn intervals(choice: &[OperandPart]) -> SmallVec<[RankInterval; 8]> {
    let interval = |part: &OperandPart| match part {
        OperandPart::Nan => RankInterval::point(0),
        OperandPart::Range(interval) => *interval,
    };
    choice.iter().map(interval).collect()
}

/// The range with both zeros if it contains one of them: they compare equal.
fn with_both_zeros(interval: RankInterval) -> RankInterval {
    RankInterval {
        lo: if interval.lo == 0 { -1 } else { interval.lo },
        hi: if interval.hi == -1 { 0 } else { interval.hi },
    }
}

fn truths(met: bool, unmet: bool, meaning: bool) -> Set {
    let mut set = Set::empty();
    for (possible, value) in [(met, meaning), (unmet, !meaning)] {
        if possible {
            set.insert(RankRange::point(value.into()));
        }
    }
    set
}

/// Position of a result in the order of its instruction.
fn order(bits: u64, result: Scalar, between: Between) -> i128 {
    match (between, result) {
        (Between::Signed, Scalar::Int { width, .. }) => i128::from((bits << (64 - width)).cast_signed()),
        (Between::Unsigned, _) => i128::from(bits),
        _ => i128::from(bits.cast_signed()),
    }
}

/// All integers from `lo` to `hi` (bits of the result type, right-aligned) in the given order;
/// `None` for results that are not integers.
fn integers(lo: i64, hi: i64, result: Scalar, between: Between) -> Option<Set> {
    let Scalar::Int { width, .. } = result else { return None };
    let mask = u64::MAX >> (64 - width);
    let (lo, hi) = (lo.cast_unsigned() & mask, hi.cast_unsigned() & mask);
    let rank = |bits: u64| bits.cast_signed();
    let top = 1u64 << (width - 1);
    let mut set = Set::empty();
    let mut add = |lo: u64, hi: u64| set.insert(RankRange::new(rank(lo), rank(hi)));
    match between {
        // Ranks of 64 bits are in signed order, those of fewer bits in unsigned order.
        Between::Signed if lo >= top && hi < top => {
            add(lo, mask);
            add(0, hi);
        }
        Between::Unsigned if width == 64 && lo < top && hi >= top => {
            add(lo, top - 1);
            add(top, hi);
        }
        _ => add(lo, hi),
    }
    Some(set)
}
