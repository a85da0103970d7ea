//! Position of a number among the values of a format.

use super::{
    big_enclosure::num::Num,
    interval::{End, Interval},
};
use crate::{Format, Rank, Undecided};

/// Residual of a magnitude above the value of the format below it, compared with half the distance
/// to the next value (guard and sticky bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Residual {
    Exact,
    BelowHalf,
    Half,
    AboveHalf,
}

/// Rank that all members of an interval have, by one of the roundings of [`FormatPosition`].
#[inline]
pub(crate) fn common_rank<T: PartialEq>(
    x: &Interval<T>,
    place: impl Fn(&T) -> FormatPosition,
    rank: fn(FormatPosition) -> Rank,
) -> Result<Rank, Undecided> {
    let low = place(&x.lo.value);
    if x.lo.value == x.hi.value {
        return Ok(rank(low));
    }
    let high = place(&x.hi.value);
    let low = rank(if x.lo.open { low.next_to(true) } else { low });
    let high = rank(if x.hi.open { high.next_to(false) } else { high });
    if low == high { Ok(low) } else { Err(Undecided) }
}

/// Least and greatest rank whose value may lie in an interval.
#[inline]
pub(crate) fn member_ranks<T>(x: &Interval<T>, place: impl Fn(&T) -> FormatPosition) -> (Rank, Rank) {
    let end = |end: &End<T>, above: bool| if end.open { place(&end.value).next_to(above) } else { place(&end.value) };
    (end(&x.lo, true).ceil(), end(&x.hi, false).floor())
}

/// Number relative to the values of a format: zero, or a sign and a magnitude.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatPosition {
    negative: bool,
    zero: bool,
    /// Rank of the greatest finite value that is not above the magnitude; `residual` is the
    /// residual.
    floor: Rank,
    residual: Residual,
    max: Rank,
}

impl FormatPosition {
    /// Position of an `f64`. An infinite one lies above every finite value.
    #[inline]
    pub(crate) fn of_f64(value: f64, format: Format) -> FormatPosition {
        let bits = value.abs().to_bits();
        let (field, fraction) = ((bits >> 52) as i64, bits & 0x000f_ffff_ffff_ffff);
        let (mantissa, top) = match field {
            0 if fraction == 0 => return FormatPosition::zero(format),
            0 => (fraction << fraction.leading_zeros(), -1010 - i64::from(fraction.leading_zeros())),
            0x7ff => (1 << 63, 1 << 40),
            _ => ((fraction | 1 << 52) << 11, field - 1022),
        };
        FormatPosition::new(value < 0.0, mantissa, top, false, format)
    }

    /// Position of an end of an arbitrary-precision interval.
    pub(crate) fn of_num(value: &Num, format: Format) -> FormatPosition {
        if value.is_zero() {
            return FormatPosition::zero(format);
        }
        let (mantissa, more) = value.leading();
        FormatPosition::new(value.negative, mantissa, value.top(), more, format)
    }

    fn zero(format: Format) -> FormatPosition {
        FormatPosition { negative: false, zero: true, floor: 0, residual: Residual::Exact, max: format.max_finite() }
    }

    /// Position of `±(mantissa + s) * 2^(top - 64)`, where the mantissa's first bit is set, and `0
    /// < s < 1` if there is `more`, otherwise `s = 0`.
    #[inline]
    fn new(negative: bool, mantissa: u64, top: i64, more: bool, format: Format) -> FormatPosition {
        let max = format.max_finite();
        let binade = top - 1;
        let (floor, residual) = if binade > i64::from(format.max_exponent()) {
            (max, Residual::AboveHalf)
        } else {
            // In the denormal range, the mantissa counts units of the smallest denormal. Above it
            // keeps its leading bits, the first of which adds one to the exponent field.
            let (shift, field) = if binade < i64::from(format.min_normal_exponent()) {
                (i64::from(format.quantum()) + 64 - top, 0)
            } else {
                let field = binade - i64::from(format.min_normal_exponent());
                (63 - i64::from(format.fraction_bits), field << format.fraction_bits)
            };
            let (kept, cut) = match shift {
                0..64 => (mantissa >> shift, mantissa << (63 - shift) << 1),
                64 => (0, mantissa),
                // Less than half of the smallest denormal.
                _ => (0, 1),
            };
            let residual = match (cut.cmp(&(1 << 63)), cut == 0, more) {
                (_, true, false) => Residual::Exact,
                (std::cmp::Ordering::Less, ..) => Residual::BelowHalf,
                (std::cmp::Ordering::Equal, _, false) => Residual::Half,
                _ => Residual::AboveHalf,
            };
            // In a format whose last binade is not full, encodings after the largest finite value
            // are not values.
            let floor = field + kept as i64;
            if floor > max { (max, Residual::AboveHalf) } else { (floor, residual) }
        };
        FormatPosition { negative, zero: false, floor, residual, max }
    }

    /// Position of a number just above or just below this one: that of the members next to an open
    /// end.
    #[inline]
    pub(crate) fn next_to(self, above: bool) -> FormatPosition {
        if self.zero {
            return FormatPosition { negative: !above, zero: false, residual: Residual::BelowHalf, ..self };
        }
        let (floor, residual) = match (self.residual, above == self.negative) {
            (Residual::Exact, true) => (self.floor - 1, Residual::AboveHalf),
            (Residual::Exact, false) | (Residual::Half, true) => (self.floor, Residual::BelowHalf),
            (Residual::Half, false) => (self.floor, Residual::AboveHalf),
            (residual, _) => (self.floor, residual),
        };
        FormatPosition { floor, residual, ..self }
    }

    fn up(self) -> Rank {
        if self.residual == Residual::Exact { self.floor } else { self.floor + 1 }
    }

    /// [`crate::Enclosure::ceil_rank`].
    #[inline]
    pub(crate) fn ceil(self) -> Rank {
        match (self.zero, self.negative) {
            (true, _) => -1,
            (_, true) => -1 - self.floor,
            (_, false) => self.up(),
        }
    }

    /// [`crate::Enclosure::floor_rank`].
    #[inline]
    pub(crate) fn floor(self) -> Rank {
        if self.negative { -1 - self.up() } else { self.floor }
    }

    /// [`crate::Enclosure::nearest_rank`].
    #[inline]
    pub(crate) fn nearest(self) -> Rank {
        let up = match self.residual {
            Residual::Exact | Residual::BelowHalf => false,
            // Infinity counts as the even one of the last pair even if its rank is odd (E4M3).
            Residual::Half => self.floor % 2 == 1 || self.floor == self.max,
            Residual::AboveHalf => true,
        };
        let magnitude = self.floor + Rank::from(up);
        if self.negative { -1 - magnitude } else { magnitude }
    }
}
