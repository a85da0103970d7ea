//! Ranges of ranks inside a formula, and the reasons for which an evaluation stops early.

use assay_float::{Dyadic, Enclosure, Format, Rank, Undecided};

/// Non-empty range of values of one format, by rank: the hull of the results that an operation may
/// return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankInterval {
    pub(crate) lo: Rank,
    pub(crate) hi: Rank,
}

/// Reason for which there is no range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The precision does not suffice.
    Undecided,
    /// Nothing is required, for the stated reason.
    Anything(&'static str),
    /// Any value but a NaN is permitted, for the stated reason.
    AnyNumber(&'static str),
}

impl From<Undecided> for Stop {
    fn from(_: Undecided) -> Stop {
        Stop::Undecided
    }
}

impl RankInterval {
    pub(crate) fn point(rank: Rank) -> RankInterval {
        RankInterval { lo: rank, hi: rank }
    }

    /// Number of values after the first. In binary64 it can exceed the greatest [`Rank`].
    pub(crate) fn width(self) -> u64 {
        self.hi.abs_diff(self.lo)
    }

    /// Splits an interval of at least two values in the middle.
    pub(crate) fn halves(self) -> [RankInterval; 2] {
        let middle = self.lo.saturating_add_unsigned(self.width() / 2);
        [RankInterval { hi: middle, ..self }, RankInterval { lo: middle + 1, ..self }]
    }

    /// Both zeros.
    pub(crate) const ZERO: RankInterval = RankInterval { lo: -1, hi: 0 };

    pub(crate) fn is_point(self) -> bool {
        // The two zeros are one value.
        self.lo == self.hi || self == RankInterval::ZERO
    }

    /// Returns true if all members are zeros.
    pub(crate) fn is_zero(self) -> bool {
        self.lo >= -1 && self.hi <= 0
    }

    #[must_use]
    pub(crate) fn hull(self, other: RankInterval) -> RankInterval {
        RankInterval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub(crate) fn has_zero(self) -> bool {
        self.lo <= 0 && -1 <= self.hi
    }

    /// Returns true if a member is a denormal of the format.
    pub(crate) fn has_denormal(self, format: Format) -> bool {
        let edge = format.min_normal();
        (self.lo < edge && self.hi >= 1) || (self.lo <= -2 && self.hi > -1 - edge)
    }

    pub(crate) fn has_infinity(self, format: Format) -> bool {
        self.lo <= format.neg_infinity() || self.hi >= format.infinity()
    }

    /// All values but NaN.
    pub(crate) fn all(format: Format) -> RankInterval {
        RankInterval { lo: format.neg_infinity(), hi: format.infinity() }
    }

    /// Negated values.
    #[must_use]
    pub(crate) fn neg(self) -> RankInterval {
        RankInterval { lo: -1 - self.hi, hi: -1 - self.lo }
    }

    /// Real numbers from the least to the greatest member, which must be finite.
    pub(crate) fn reals<R: Enclosure>(self, format: Format, precision: R::Precision) -> R {
        let lo = R::exact(format.value_of_rank(self.lo), precision);
        if self.lo == self.hi { lo } else { lo.hull(&R::exact(format.value_of_rank(self.hi), precision)) }
    }
}

/// Rank in `to` of the value that `rank` has in `from`. `to` must contain all values of `from`.
/// Infinities map to infinities.
pub(crate) fn convert_rank(rank: Rank, from: Format, to: Format) -> Rank {
    if from == to {
        return rank;
    }
    if rank >= from.infinity() {
        return to.infinity();
    }
    if rank <= from.neg_infinity() {
        return to.neg_infinity();
    }
    let value = from.value_of_rank(rank);
    let magnitude = rank_of_representable(value.abs(), to);
    if rank < 0 { -1 - magnitude } else { magnitude }
}

/// Rank of a non-negative value that the format represents exactly.
pub(crate) fn rank_of_representable(value: Dyadic, format: Format) -> Rank {
    if value.is_zero() {
        return 0;
    }
    let length = 64 - value.mantissa().leading_zeros() as i32;
    let exponent = value.exponent() + length - 1;
    let quantum = format.quantum().max(exponent - format.fraction_bits as i32);
    let significand = (value.mantissa() as i64) << (value.exponent() - quantum);
    // A normal significand includes the implied one, which adds the missing one to the exponent
    // field.
    significand + (i64::from(quantum - format.quantum()) << format.fraction_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32, F64};

    #[test]
    fn narrow_ranks_convert_to_wide_ones() {
        for bits in 0..=0xffffu64 {
            if !F16.is_nan(bits) {
                let wide = convert_rank(F16.rank(bits), F16, F32);
                assert_eq!(F32.to_f64(F32.bits(wide)), F16.to_f64(bits));
                assert_eq!(F32.bits(wide) >> 31, bits >> 15);
                assert_eq!(convert_rank(wide, F32, F64), convert_rank(F16.rank(bits), F16, F64));
            }
        }
    }

    #[test]
    fn denormals_are_found_on_both_sides_of_zero() {
        assert!(!RankInterval::ZERO.has_denormal(F16));
        assert!(RankInterval::point(1).has_denormal(F16) && RankInterval::point(-2).has_denormal(F16));
        assert!(RankInterval::point(0x3ff).has_denormal(F16) && !RankInterval::point(0x400).has_denormal(F16));
        assert!(!RankInterval::point(-1 - 0x400).has_denormal(F16) && RankInterval::point(-0x400).has_denormal(F16));
    }
}
