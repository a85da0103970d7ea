//! Conversion of floats to normalised integers.

use crate::{
    Rounding,
    integral::{IntegralRounding, integral},
    rank_interval::RankInterval,
    real_range::rounded_product,
};
use assay_float::{Dyadic, Format, Rank, RankRange, Set};

/// `round(clamp(c, -1, 1) * k)` (`clamp(c, 0, 1)` if unsigned) as bits of `width`, where `k` is the
/// largest value. The product is correctly rounded, and halves are then rounded either way. A NaN
/// permits anything.
pub(crate) fn normalized(bits: u64, format: Format, width: u32, signed: bool, rounding: Rounding) -> Set {
    if format.is_nan(bits) {
        return Set::anything();
    }
    let value = format.value_of_rank(clamped(format.rank(bits), format, signed));
    rounded(rounded_product(value, largest(width, signed), format, rounding), format, width)
}

/// `clamp(c, -1, 1)`, or `clamp(c, 0, 1)` if unsigned.
pub(crate) fn clamped(c: Rank, format: Format, signed: bool) -> Rank {
    let one = format.rank_of_one();
    c.clamp(if signed { -1 - one } else { 0 }, one)
}

/// `k`, the largest value of `width` bits.
pub(crate) fn largest(width: u32, signed: bool) -> Dyadic {
    Dyadic::int((1i64 << (width - u32::from(signed))) - 1)
}

/// Products in an interval, rounded to integers, as bits of `width`.
pub(crate) fn rounded(products: RankInterval, format: Format, width: u32) -> Set {
    let integers = |product: Rank| -> Option<[i64; 2]> {
        let hull = integral(IntegralRounding::Nearest, format.bits(product), format).hull()?;
        Some([hull.lo, hull.hi].map(|rank| {
            let integer = format.value_of_rank(rank);
            let magnitude = (integer.mantissa() << integer.exponent()) as i64;
            if integer.is_negative() { -magnitude } else { magnitude }
        }))
    };
    let (Some([lo, _]), Some([_, hi])) = (integers(products.lo), integers(products.hi)) else {
        return Set::anything();
    };
    let mask = u64::MAX >> (64 - width);
    let mut set = Set::empty();
    (lo..=hi).for_each(|value| set.insert(RankRange::point((value as u64 & mask) as i64)));
    set
}
