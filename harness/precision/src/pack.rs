//! Floats to normalised integers.

use crate::{
    Rounding, Scalar,
    exact::{Exact, Site},
    real::rounded_product,
};
use assay_float::{Dyadic, Format, RankRange, Set};

/// `round(clamp(c, -1, 1) * k)` (`clamp(c, 0, 1)` if not signed) as bits of `width`, `k` being the largest value: the product
/// correctly rounded, then halves either way. A NaN gives anything.
pub(crate) fn normalized(bits: u64, format: Format, width: u32, signed: bool, rounding: Rounding) -> Set {
    if format.is_nan(bits) {
        return Set::anything();
    }
    let k = Dyadic::int((1i64 << (width - u32::from(signed))) - 1);
    let mask = u64::MAX >> (64 - width);
    let (zero, one) = (0u64, (format.bias() as u64) << format.fraction_bits);
    let low = if signed { one | format.sign_mask() } else { zero };
    let clamped = match format.rank(bits) {
        rank if rank <= format.rank(low) => low,
        rank if rank >= format.rank(one) => one,
        _ => bits,
    };
    let Some(value) = format.value(clamped) else { return Set::anything() };
    let products = rounded_product(value, k, format, rounding);
    let float = Scalar::Float(format);
    let site = Site { operand: float, result: float, slot: 0, rounding };
    let mut set = Set::empty();
    for product in [products.lo, products.hi] {
        let product = format.bits(product);
        for r in Exact::Round.set(&[product], &site).ranges() {
            for rank in [r.lo, r.hi] {
                let integer = format.value_of_rank(rank);
                let magnitude = (integer.mantissa() << integer.exponent()) as i64;
                let value = if integer.is_negative() { -magnitude } else { magnitude };
                set.insert(RankRange::point((value as u64 & mask) as i64));
            }
        }
    }
    set
}
