//! Rounding of floats to integers.

use crate::rank_interval::rank_of_representable;
use assay_float::{Dyadic, Format, RankRange, Set};

/// Direction of rounding to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegralRounding {
    /// To the nearest integer; a half goes either way.
    Nearest,
    /// To the nearest integer; a half goes to the even one.
    NearestEven,
    Down,
    Up,
    TowardZero,
}

/// A finite value rounded to an integer, which the format always represents. Zero keeps the
/// operand's sign.
pub(crate) fn integral(rounding: IntegralRounding, bits: u64, f: Format) -> Set {
    let value = f.value(bits).expect("a finite value").abs();
    let negative = f.is_negative(bits);
    let below = value.trunc();
    let rank = |magnitude: Dyadic| {
        let rank = rank_of_representable(magnitude, f);
        if negative { -1 - rank } else { rank }
    };
    if value.is_integer() {
        return Set::point(rank(value));
    }
    // Values that are not integers are below 2^fraction_bits, so that the arithmetic on u64 is
    // exact.
    let lower = below.to_f64() as u64;
    let upper = Dyadic::int(lower as i64 + 1);
    let half = value == Dyadic::new(false, 2 * lower + 1, -1);
    let nearest_is_upper = value.scale(1).trunc().to_f64() as u64 % 2 == 1;
    let mut set = Set::empty();
    let mut add = |magnitude: Dyadic| set.insert(RankRange::point(rank(magnitude)));
    match rounding {
        IntegralRounding::Nearest if half => {
            add(below);
            add(upper);
        }
        IntegralRounding::NearestEven if half => add(if lower.is_multiple_of(2) { below } else { upper }),
        IntegralRounding::Nearest | IntegralRounding::NearestEven => add(if nearest_is_upper { upper } else { below }),
        IntegralRounding::Down => add(if negative { upper } else { below }),
        IntegralRounding::Up => add(if negative { below } else { upper }),
        IntegralRounding::TowardZero => add(below),
    }
    set
}
