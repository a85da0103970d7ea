//! Discrete results that WGSL defines differently from SPIR-V's instruction sets.

use crate::discrete_op::{DiscreteContext, DiscreteOp, nearest_halves};
use crate::{
    Scalar,
    rank_interval::rank_of_representable,
    real_range::{neighbours, rounded_sum},
};
use assay_float::{Dyadic, F16, Format, RankRange, Set};

/// Results that WGSL permits for these operand bits; `None` if they are those of the instruction
/// set.
pub(crate) fn discrete_results(op: DiscreteOp, x: &[u64], context: &DiscreteContext) -> Option<Set> {
    match (op, context.operand) {
        (DiscreteOp::Min | DiscreteOp::Max, Scalar::Float(f)) if x.iter().all(|&bits| f.is_denormal(bits)) => {
            // "If both x and y are subnormal, the result may be either input."
            Some(points(f, x))
        }
        (DiscreteOp::Clamp, Scalar::Float(f)) => Some(clamp(x, f)),
        // "If T is an integer type, then the result is min(max(e, low), high)", whatever the order
        // of the limits.
        (DiscreteOp::SClamp | DiscreteOp::UClamp, Scalar::Int { width, .. }) => {
            let key = |bits: u64| match op {
                DiscreteOp::SClamp => (bits << (64 - width)).cast_signed() >> (64 - width),
                _ => bits.cast_signed(),
            };
            let clamped = [x[0], x[1]].into_iter().max_by_key(|&bits| key(bits)).unwrap_or(x[0]);
            let clamped = [clamped, x[2]].into_iter().min_by_key(|&bits| key(bits)).unwrap_or(clamped);
            Some(Set::point(clamped.cast_signed()))
        }
        // "The result fraction and exponent are indeterminate values."
        (DiscreteOp::Significand | DiscreteOp::Exponent, Scalar::Float(f)) if f.is_denormal(x[0]) => {
            Some(Set::anything())
        }
        (DiscreteOp::QuantizeToF16, Scalar::Float(f)) => Some(quantized(x[0], f)),
        (DiscreteOp::ToInt, Scalar::Float(f)) => Some(to_integer(x[0], f, context.result)),
        (DiscreteOp::PackSnorm | DiscreteOp::PackUnorm, Scalar::Float(f)) => {
            let Scalar::Int { width, .. } = context.result else { return Some(Set::anything()) };
            Some(packed(x[0], f, width, op == DiscreteOp::PackSnorm))
        }
        _ => None,
    }
}

fn points(f: Format, bits: &[u64]) -> Set {
    let mut set = Set::empty();
    bits.iter().for_each(|&bits| set.insert(RankRange::point(f.rank(bits))));
    set
}

/// "Either min(max(e, low), high), or the median of the three values e, low, high"; of `min` and
/// `max`, "if both e1 and e2 are subnormal, then the result may be either value".
fn clamp(x: &[u64], f: Format) -> Set {
    if x.iter().any(|&bits| f.is_nan(bits)) {
        return Set::anything();
    }
    let extreme = |[a, b]: [u64; 2], least: bool| match f.is_denormal(a) && f.is_denormal(b) {
        true => [a, b],
        false => [if (f.rank(a) <= f.rank(b)) == least { a } else { b }; 2],
    };
    let raised = extreme([x[0], x[1]], false);
    let clamped = raised.map(|bits| extreme([bits, x[2]], true)).concat();
    let mut median = [x[0], x[1], x[2]];
    median.sort_unstable_by_key(|&bits| f.rank(bits));
    let mut set = points(f, &clamped);
    set.insert(RankRange::point(f.rank(median[1])));
    set
}

/// Either half neighbour; "the final result may be zero if the intermediate binary16 value is
/// subnormal"; outside the finite range of binary16 an indeterminate value.
fn quantized(bits: u64, f: Format) -> Set {
    let largest = rank_of_representable(F16.value_of_rank(F16.max_finite()), f);
    if f.rank(bits & f.magnitude_mask()) > largest {
        return Set::anything();
    }
    let mut halves = nearest_halves(bits, f);
    let edge = rank_of_representable(F16.value_of_rank(F16.min_normal()), f);
    if halves.meets(RankRange::new(1, edge - 1)) || halves.meets(RankRange::new(-edge, -2)) {
        halves.insert(RankRange::new(-1, 0));
    }
    halves
}

/// "The value in T closest to truncate(X) and also exactly representable in the original floating
/// point type"; an indeterminate value for a NaN.
fn to_integer(bits: u64, f: Format, result: Scalar) -> Set {
    let Scalar::Int { width, signed } = result else { return Set::anything() };
    if f.is_nan(bits) {
        return Set::anything();
    }
    if let Some(inside) = crate::discrete_op::to_integer(f, bits, width, signed) {
        return Set::point(inside.cast_signed());
    }
    if f.is_negative(bits) {
        // The least integer is zero or a power of two, which the format represents: every finite
        // half is inside.
        return Set::point(if signed { 1i64 << (width - 1) } else { 0 });
    }
    // Largest value of the format that is at most the largest integer.
    let greatest = (1u64 << (width - u32::from(signed))) - 1;
    let below = neighbours(Dyadic::new(false, greatest, 0), f).lo.min(f.max_finite());
    Set::point(magnitude_bits(f.value_of_rank(below)).cast_signed())
}

/// Bits of an integral magnitude of at most 64 bits.
fn magnitude_bits(value: Dyadic) -> u64 {
    let (mantissa, exponent) = (value.mantissa(), value.exponent());
    if exponent >= 0 { mantissa << exponent } else { mantissa >> -exponent }
}

/// `floor(0.5 + k * min(1, max(low, x)))`, where the operand of the floor is correctly rounded in
/// one step or two. A NaN permits anything.
fn packed(bits: u64, f: Format, width: u32, signed: bool) -> Set {
    if f.is_nan(bits) {
        return Set::anything();
    }
    let one = f.rank_of_one();
    let least = if signed { -1 - one } else { 0 };
    let value = f.value_of_rank(f.rank(bits).clamp(least, one));
    let k = Dyadic::int((1i64 << (width - u32::from(signed))) - 1);
    let half = Dyadic::pow2(-1);
    let products = rounded_sum(value, k, Dyadic::ZERO, f);
    let sums = [
        rounded_sum(value, k, half, f),
        rounded_sum(f.value_of_rank(products.lo), Dyadic::ONE, half, f),
        rounded_sum(f.value_of_rank(products.hi), Dyadic::ONE, half, f),
    ];
    let mask = u64::MAX >> (64 - width);
    let mut set = Set::empty();
    for rank in sums.into_iter().flat_map(|interval| [interval.lo, interval.hi]) {
        let floor = f.value_of_rank(rank).floor();
        let magnitude = magnitude_bits(floor.abs());
        let bits = if floor.is_negative() { magnitude.wrapping_neg() } else { magnitude };
        set.insert(RankRange::point((bits & mask).cast_signed()));
    }
    set
}
