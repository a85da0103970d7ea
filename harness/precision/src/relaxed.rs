//! Results that `RelaxedPrecision` on 32-bit operations permits in addition to the ordinary rules
//! (SPIR-V, "Relaxed Precision").

use crate::{
    Scalar, Tightness,
    evaluate::{Kernel, Slot},
    exact::{Exact, Site},
    extremes::corners,
    pack,
    real::{Bound, Real, neighbours},
    span::{Span, Stop, convert_rank, rank_of_representable},
};
use assay_float::{Enclosure, F16, F32, Question, RankRange, Set, Undecided, decide};
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
pub(crate) fn set(slot: &Slot, x: &[u64]) -> Set {
    if matches!(slot.inputs[0].1, Scalar::Int { .. }) && matches!(slot.result, Scalar::Int { .. }) {
        return integers(slot, x);
    }
    let float = |i: usize| slot.inputs[i].1 == Scalar::Float(F32);
    if (0..x.len()).any(|i| float(i) && !is_in_range(F32.is_finite(x[i]).then(|| F32.rank(x[i])))) {
        return Set::anything();
    }
    let spans: SmallVec<[Span; 8]> =
        (0..x.len()).map(|i| if float(i) { relaxed_operand(x[i]) } else { Span::point(x[i] as i64) }).collect();
    match &slot.kernel {
        // A conversion or an exponent of another width: the text does not mention its operand.
        Kernel::Exact(_) if slot.inputs.iter().any(|(_, s)| s.format().is_some_and(|f| f != F32)) => Set::anything(),
        Kernel::Exact(Exact::PackSnorm | Exact::PackUnorm) => packed(slot, spans[0]),
        Kernel::Exact(exact) => exact_results(*exact, slot, &spans),
        // An inherited bound is not checked. Every intermediate is an operation of relaxed
        // precision too, for which the text states nothing below 2^-14 (denormal for a half) or
        // from 2^14 on, nor whether it is truncated again at its use. `1 - x * x`, `Exp(x) -
        // Exp(-x)` and every difference can have such intermediates.
        Kernel::Formula(_) | Kernel::Unpack { .. } | Kernel::UnpackHalf | Kernel::Measured => Set::anything(),
        Kernel::Real(real) => function(*real, slot, &spans),
    }
}

/// The rule of [`set`] in words.
pub(crate) fn words(slot: &Slot) -> String {
    match &slot.kernel {
        Kernel::Exact(_) if matches!(slot.result, Scalar::Int { .. }) && slot.inputs[0].1 == slot.result => {
            "computed in 16 to 32 bits".into()
        }
        Kernel::Exact(_) => "the same for operands of relaxed precision".into(),
        Kernel::Real(real) if has_relaxed_bound(*real) => {
            let bound = match real.bound(slot.env.rules, true) {
                Bound::Rounded | Bound::Either => "1 ULP".into(),
                _ => real.words(slot.env.rules, true),
            };
            format!("{bound} of binary16, for operands of relaxed precision")
        }
        Kernel::Real(_) | Kernel::Formula(_) | Kernel::Unpack { .. } | Kernel::UnpackHalf | Kernel::Measured => {
            "nothing is required".into()
        }
    }
}

/// Returns true if the half column states a bound of relaxed results.
fn has_relaxed_bound(real: Real) -> bool {
    !matches!(real, Real::FromInt | Real::Convert | Real::Ldexp | Real::Fract)
}

/// Normalised integers of an operand anywhere in the span. "The RelaxedPrecision Decoration only
/// affects the conversion step", of which only the product is rounded; a result above the range may
/// be anything.
fn packed(slot: &Slot, operand: Span) -> Set {
    let Scalar::Int { width, signed } = slot.result else { return Set::anything() };
    let clamped = |rank| pack::clamped(rank, F32, signed);
    let operand = Span { lo: clamped(operand.lo), hi: clamped(operand.hi) };
    if operand.is_zero() {
        return Set::point(0);
    }
    let k = Span::point(rank_of_representable(pack::largest(width, signed), F32));
    let products = function(Real::Mul, slot, &[operand, k]);
    products.hull().map_or_else(Set::anything, |r| pack::rounded(Span { lo: r.lo, hi: r.hi }, F32, width))
}

/// Permitted results of a function of operands anywhere in the spans.
fn function(real: Real, slot: &Slot, spans: &[Span]) -> Set {
    if !has_relaxed_bound(real) {
        return Set::anything();
    }
    let in_range = |rank| is_in_range(Some(convert_rank(rank, slot.env.format, F32)));
    match decide(&Cover { real, slot, spans }) {
        Ok(span) if in_range(span.lo) && in_range(span.hi) && !span.has_zero() => Set::range(span.lo, span.hi),
        // Nothing is required of results that may leave the range.
        Ok(_) | Err(_) => Set::anything(),
    }
}

/// Results that relaxed precision adds for operands that are any members of sets.
pub(crate) fn over(slot: &Slot, sets: &[Set]) -> (Set, Tightness) {
    let float = |i: usize| slot.inputs[i].1 == Scalar::Float(F32);
    // The hull must be of one sign, or zero alone: between zero and any other number there are
    // values below the range.
    let in_range = |set: &Set| {
        let hull = set.hull().filter(|_| !set.has_nan());
        hull.is_some_and(|h| {
            is_in_range(Some(h.lo)) && is_in_range(Some(h.hi)) && (h.lo > 0 || h.hi < -1 || (h.lo >= -1 && h.hi <= 0))
        })
    };
    match &slot.kernel {
        Kernel::Real(real) if (0..sets.len()).all(float) && sets.iter().all(in_range) => {
            let ends = sets.iter().filter_map(Set::hull).map(|h| [F32.bits(h.lo), F32.bits(h.hi)]);
            let spans: SmallVec<[Span; 8]> =
                ends.map(|[lo, hi]| relaxed_operand(lo).hull(relaxed_operand(hi))).collect();
            (function(*real, slot, &spans), Tightness::Enclosure)
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
        let span = lo.hull(hi);
        all.insert(RankRange::new(span.lo, span.hi));
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
fn relaxed_operand(bits: u64) -> Span {
    let value = F32.value(bits).unwrap_or(assay_float::Dyadic::ZERO);
    let halves = neighbours(value, F16);
    let wide = |rank| convert_rank(rank, F16, F32);
    Span { lo: wide(halves.lo), hi: wide(halves.hi) }.hull(Span::point(F32.rank(bits)))
}

/// Results of a discrete operation. These are monotone except comparisons, which may give either
/// result where the operands overlap.
fn exact_results(exact: Exact, slot: &Slot, spans: &[Span]) -> Set {
    let site =
        Site { operand: slot.inputs[0].1, result: slot.result, slot: slot.component, rounding: slot.env.rounding };
    // These jump where the integral part or the binade changes.
    if matches!(exact, Exact::Fraction | Exact::Significand | Exact::Exponent) && !spans[0].is_point() {
        return Set::anything();
    }
    if matches!(exact, Exact::Compare(..) | Exact::Step)
        && spans[0].lo.max(spans[1].lo) <= spans[0].hi.min(spans[1].hi)
        && !(spans[0].is_point() && spans[1].is_point())
    {
        return Set::anything();
    }
    let hull = corners(spans, |ranks| {
        let bits: SmallVec<[u64; 8]> = ranks.iter().map(|&r| F32.bits(r)).collect();
        let hull = exact.set(&bits, &site).hull().ok_or(Stop::Anything("not ordered"))?;
        Ok(Span { lo: hull.lo, hi: hull.hi })
    });
    hull.map_or_else(|_| Set::anything(), |span| Set::range(span.lo, span.hi))
}

/// Question for the range over relaxed operands.
struct Cover<'a> {
    real: Real,
    slot: &'a Slot,
    spans: &'a [Span],
}

impl Question for Cover<'_> {
    type Answer = Result<Span, Stop>;

    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided> {
        let env = self.slot.env.with_rule(F16);
        let x: SmallVec<[R; 8]> = self.spans.iter().map(|s| s.reals(F32, precision)).collect();
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
fn integers(slot: &Slot, x: &[u64]) -> Set {
    let (Kernel::Exact(exact), Scalar::Int { signed, .. }) = (&slot.kernel, slot.inputs[0].1) else {
        return Set::anything();
    };
    let mut found = Set::empty();
    for width in 16..=32u32 {
        let mask = u64::MAX >> (64 - width);
        let narrow = Scalar::Int { width, signed };
        let operands: SmallVec<[u64; 8]> = x.iter().map(|bits| bits & mask).collect();
        let site = Site { operand: narrow, result: narrow, slot: slot.component, rounding: slot.env.rounding };
        let narrow_result = exact.set(&operands, &site);
        let Some(hull) = narrow_result.hull() else { return Set::anything() };
        let bits = hull.lo as u64;
        let sign = signed && bits >> (width - 1) & 1 == 1;
        let extended = if sign { bits | (u64::from(u32::MAX) & !mask) } else { bits };
        found.insert(RankRange::point(extended as i64));
    }
    found
}
