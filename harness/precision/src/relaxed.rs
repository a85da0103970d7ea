//! Results that `RelaxedPrecision` on 32-bit operations permits in addition to the ordinary rules
//! (SPIR-V, "Relaxed Precision").

use crate::{
    Scalar,
    discrete_op::{DiscreteContext, DiscreteOp},
    pack,
    range_bounds::corners,
    rank_interval::{RankInterval, Stop, convert_rank, rank_of_representable},
    real_op::{Bound, RealOp},
    real_range::neighbours,
    result_slot::{ResultRule, ResultSlot},
    set_extension::tightness::Tightness,
};
use assay_float::{Enclosure, EnclosureQuery, F16, F32, RankRange, Set, Undecided, decide};
use smallvec::SmallVec;

/// Least non-zero magnitude with a stated precision, `2^-14`. Below it are the denormals of a half.
pub const LEAST: f64 = 1.0 / 16_384.0;

/// Greatest magnitude with a stated precision, `2^14 (1 - 2^-11)`: the range is `(-2^14, 2^14)`,
/// where "the largest required magnitude is half of the relative precision less than the value
/// given".
pub const GREATEST: f64 = 16_376.0;

/// Relative precision, at most one ulp of a half: of each operand that is truncated, and of a
/// result.
pub const PRECISION: f64 = 1.0 / 1_024.0;

/// Permitted results for relaxed operands and a relaxed result: anything outside the magnitudes `0`
/// and [`LEAST`] to [`GREATEST`], otherwise the bounds of the half column around the results for
/// operands of relaxed precision.
pub(crate) fn set(slot: &ResultSlot, x: &[u64]) -> Set {
    if matches!(slot.inputs[0].1, Scalar::Int { .. }) && matches!(slot.result, Scalar::Int { .. }) {
        return integers(slot, x);
    }
    let float = |i: usize| slot.inputs[i].1 == Scalar::Float(F32);
    if (0..x.len()).any(|i| float(i) && !is_in_range(F32.is_finite(x[i]).then(|| F32.rank(x[i])))) {
        return Set::anything();
    }
    let intervals: SmallVec<[RankInterval; 8]> =
        (0..x.len()).map(|i| if float(i) { relaxed_operand(x[i]) } else { RankInterval::point(x[i] as i64) }).collect();
    match &slot.rule {
        // A conversion or an exponent of another width: the text does not mention its operand.
        ResultRule::Discrete(_) if slot.inputs.iter().any(|(_, s)| s.format().is_some_and(|f| f != F32)) => {
            Set::anything()
        }
        ResultRule::Discrete(DiscreteOp::PackSnorm | DiscreteOp::PackUnorm) => packed(slot, intervals[0]),
        ResultRule::Discrete(op) => discrete_results(*op, slot, &intervals),
        // An inherited bound is not checked. Every intermediate is an operation of relaxed
        // precision too, for which the text states nothing below 2^-14 (denormal for a half) or
        // from 2^14 on, nor whether it is truncated again at its use. `1 - x * x`, `Exp(x) -
        // Exp(-x)` and every difference can have such intermediates.
        ResultRule::Formula(_) | ResultRule::Unpack { .. } | ResultRule::UnpackHalf | ResultRule::Measured => {
            Set::anything()
        }
        ResultRule::Real(real) => function(*real, slot, &intervals),
    }
}

/// The rule of [`set`] in words.
pub(crate) fn words(slot: &ResultSlot) -> String {
    match &slot.rule {
        ResultRule::Discrete(_) if matches!(slot.result, Scalar::Int { .. }) && slot.inputs[0].1 == slot.result => {
            "computed in 16 to 32 bits".into()
        }
        ResultRule::Discrete(_) => "operands may be rounded to the precision of f16".into(),
        ResultRule::Real(real) if has_relaxed_bound(*real) => {
            let bound = match real.bound(slot.env.specification, true) {
                Bound::Rounded | Bound::Either => "1 ULP".into(),
                _ => real.words(slot.env.specification, true),
            };
            format!("operands may be rounded to the precision of f16; then, as for f16, {bound}")
        }
        ResultRule::Real(_)
        | ResultRule::Formula(_)
        | ResultRule::Unpack { .. }
        | ResultRule::UnpackHalf
        | ResultRule::Measured => "nothing is required".into(),
    }
}

/// Returns true if the half column states a bound of relaxed results.
fn has_relaxed_bound(real: RealOp) -> bool {
    !matches!(real, RealOp::FromInt | RealOp::Convert | RealOp::Ldexp | RealOp::Fract)
}

/// Normalised integers of an operand anywhere in the interval. "The RelaxedPrecision Decoration
/// only affects the conversion step", of which only the product is rounded; a result above the
/// range may be anything.
fn packed(slot: &ResultSlot, operand: RankInterval) -> Set {
    let Scalar::Int { width, signed } = slot.result else { return Set::anything() };
    let clamped = |rank| pack::clamped(rank, F32, signed);
    let operand = RankInterval { lo: clamped(operand.lo), hi: clamped(operand.hi) };
    if operand.is_zero() {
        return Set::point(0);
    }
    let k = RankInterval::point(rank_of_representable(pack::largest(width, signed), F32));
    let products = function(RealOp::Mul, slot, &[operand, k]);
    products.hull().map_or_else(Set::anything, |r| pack::rounded(RankInterval { lo: r.lo, hi: r.hi }, F32, width))
}

/// Permitted results of a function of operands anywhere in the intervals.
fn function(real: RealOp, slot: &ResultSlot, intervals: &[RankInterval]) -> Set {
    if !has_relaxed_bound(real) {
        return Set::anything();
    }
    let in_range = |rank| is_in_range(Some(convert_rank(rank, slot.env.format, F32)));
    match decide(&CoverQuestion { real, slot, intervals }) {
        Ok(interval) if in_range(interval.lo) && in_range(interval.hi) && !interval.has_zero() => {
            Set::range(interval.lo, interval.hi)
        }
        // Nothing is required of results that may leave the range.
        Ok(_) | Err(_) => Set::anything(),
    }
}

/// Results that relaxed precision adds for operands that are any members of sets.
pub(crate) fn for_sets(slot: &ResultSlot, sets: &[Set]) -> (Set, Tightness) {
    let float = |i: usize| slot.inputs[i].1 == Scalar::Float(F32);
    // The hull must be of one sign, or zero alone: between zero and any other number there are
    // values below the range.
    let in_range = |set: &Set| {
        let hull = set.hull().filter(|_| !set.has_nan());
        hull.is_some_and(|h| {
            is_in_range(Some(h.lo)) && is_in_range(Some(h.hi)) && (h.lo > 0 || h.hi < -1 || (h.lo >= -1 && h.hi <= 0))
        })
    };
    match &slot.rule {
        ResultRule::Real(real) if (0..sets.len()).all(float) && sets.iter().all(in_range) => {
            let ends = sets.iter().filter_map(Set::hull).map(|h| [F32.bits(h.lo), F32.bits(h.hi)]);
            let intervals: SmallVec<[RankInterval; 8]> =
                ends.map(|[lo, hi]| relaxed_operand(lo).hull(relaxed_operand(hi))).collect();
            (function(*real, slot, &intervals), Tightness::Enclosure)
        }
        _ => (Set::anything(), Tightness::Enclosure),
    }
}

/// Values that 32-bit floats may take where `RelaxedPrecision` permits truncation without an
/// operation (loads, variables, selections): the values themselves, or their neighbours in the
/// format of half the width; anything outside the magnitudes `0` and [`LEAST`] to [`GREATEST`].
/// SPIR-V, "Relaxed Precision".
pub fn truncated(set: &Set) -> Set {
    let mut all = Set::empty();
    for range in set.ranges() {
        let in_range = is_in_range(Some(range.lo)) && is_in_range(Some(range.hi));
        // Between zero and any other number there are values below the range.
        if !in_range || !(range.lo > 0 || range.hi < -1 || (range.lo >= -1 && range.hi <= 0)) {
            return Set::anything();
        }
        let [lo, hi] = [range.lo, range.hi].map(|rank| relaxed_operand(F32.bits(rank)));
        let interval = lo.hull(hi);
        all.insert(RankRange::new(interval.lo, interval.hi));
    }
    // No range contains a NaN.
    if set.has_nan() { Set::anything() } else { all }
}

/// Returns true if the text states a precision for the value.
fn is_in_range(rank: Option<i64>) -> bool {
    let magnitude = rank.map(|r| if r < 0 { -1 - r } else { r });
    let [least, greatest] = [LEAST, GREATEST].map(|value| i64::from((value as f32).to_bits()));
    magnitude.is_some_and(|m| m == 0 || (least..=greatest).contains(&m))
}

/// Values that an operand may be truncated to.
fn relaxed_operand(bits: u64) -> RankInterval {
    let value = F32.value(bits).unwrap_or(assay_float::Dyadic::ZERO);
    let halves = neighbours(value, F16);
    let wide = |rank| convert_rank(rank, F16, F32);
    RankInterval { lo: wide(halves.lo), hi: wide(halves.hi) }.hull(RankInterval::point(F32.rank(bits)))
}

/// Results of a discrete operation. These are monotone except comparisons, which may give either
/// result where the operands overlap.
fn discrete_results(op: DiscreteOp, slot: &ResultSlot, intervals: &[RankInterval]) -> Set {
    let context = DiscreteContext {
        operand: slot.inputs[0].1,
        result: slot.result,
        slot: slot.component,
        rounding: slot.env.rounding,
    };
    // These jump where the integral part or the binade changes.
    if matches!(op, DiscreteOp::Fraction | DiscreteOp::Significand | DiscreteOp::Exponent) && !intervals[0].is_point() {
        return Set::anything();
    }
    if matches!(op, DiscreteOp::Compare(..) | DiscreteOp::Step)
        && intervals[0].lo.max(intervals[1].lo) <= intervals[0].hi.min(intervals[1].hi)
        && !(intervals[0].is_point() && intervals[1].is_point())
    {
        return Set::anything();
    }
    let hull = corners(intervals, |ranks| {
        let bits: SmallVec<[u64; 8]> = ranks.iter().map(|&r| F32.bits(r)).collect();
        let hull = op.set(&bits, &context).hull().ok_or(Stop::Anything("not ordered"))?;
        Ok(RankInterval { lo: hull.lo, hi: hull.hi })
    });
    hull.map_or_else(|_| Set::anything(), |interval| Set::range(interval.lo, interval.hi))
}

/// Question for the range over relaxed operands.
struct CoverQuestion<'a> {
    real: RealOp,
    slot: &'a ResultSlot,
    intervals: &'a [RankInterval],
}

impl EnclosureQuery for CoverQuestion<'_> {
    type Answer = Result<RankInterval, Stop>;

    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided> {
        let env = self.slot.env.with_bound_format(F16);
        let x: SmallVec<[R; 8]> = self.intervals.iter().map(|s| s.reals(F32, precision)).collect();
        // Correctly rounded results may err by one ulp in either direction even if the exact result
        // is a half. The text does not say that values of relaxed precision lie on the grid of
        // binary16, only that they lie at most so far apart.
        match self.real.cover(&x, &env, precision) {
            Err(Stop::Undecided) => Err(Undecided),
            decided => Ok(decided),
        }
    }
}

/// Results of integer operations: computed in any width from 16 to 32 bits, then extended.
fn integers(slot: &ResultSlot, x: &[u64]) -> Set {
    let (ResultRule::Discrete(op), Scalar::Int { signed, .. }) = (&slot.rule, slot.inputs[0].1) else {
        return Set::anything();
    };
    let mut found = Set::empty();
    for width in 16..=32u32 {
        let mask = u64::MAX >> (64 - width);
        let narrow = Scalar::Int { width, signed };
        let operands: SmallVec<[u64; 8]> = x.iter().map(|bits| bits & mask).collect();
        let context =
            DiscreteContext { operand: narrow, result: narrow, slot: slot.component, rounding: slot.env.rounding };
        let narrow_result = op.set(&operands, &context);
        let Some(hull) = narrow_result.hull() else { return Set::anything() };
        let bits = hull.lo as u64;
        let sign = signed && bits >> (width - 1) & 1 == 1;
        let extended = if sign { bits | (u64::from(u32::MAX) & !mask) } else { bits };
        found.insert(RankRange::point(extended as i64));
    }
    found
}
